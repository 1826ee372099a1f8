"""The knowledge base on the command line."""

import asyncio

import pytest
from typer.testing import CliRunner

from agents.cli.main import app
from agents.contracts.report import Commission
from agents.core.budget import Limits
from agents.jobs.database import Database, async_url
from agents.jobs.store import Store, WholeJob
from agents.memory.embedders import StaticEmbedder
from agents.memory.sql_knowledge import SqlKnowledge
from agents.research.steering import Steering
from tests.memory.test_knowledge import ALL, BRIDGE, TUNNEL
from tests.scripts import BRIEF


@pytest.fixture
def ask(tmp_path, monkeypatch):
    monkeypatch.setenv("DOSSIER_DATA_DIR", str(tmp_path))

    async def fill():
        store = SqlKnowledge(tmp_path / "memory", StaticEmbedder())
        await store.put("local", ALL)
        await store.close()

    asyncio.run(fill())
    return lambda *words: CliRunner().invoke(app, ["memory", *map(str, words)])


def test_a_thing_is_found_opened_and_forgotten(ask):
    found = ask("search", "How long is the Ostrau tunnel?").output.splitlines()[0]
    opened = ask("show", TUNNEL.id).output

    assert found.startswith(TUNNEL.id)
    assert ("«The Ostrau tunnel is 12.4 kilometres long.»" in opened, "job2" in opened) == (True, True)
    assert ask("forget", TUNNEL.id).output == "forgotten: 1\n"
    assert ask("show", TUNNEL.id).exit_code == 2


def test_a_domain_is_forgotten_as_a_whole_and_nothing_by_accident(ask):
    assert ask("forget").exit_code == 2
    assert ask("forget", "--domain", "b.example").output == "forgotten: 2\n"
    assert BRIDGE.text in ask("search").output


def test_a_search_is_narrowed_by_verdict_address_and_day(ask):
    here = ("search", "tunnel", "--url", TUNNEL.source.url)

    assert TUNNEL.text not in ask("search", "tunnel", "--verdict", "refuted").output
    assert TUNNEL.text in ask(*here, "--since", "2026-11-01", "--until", "2026-11-01").output
    assert TUNNEL.text not in ask(*here, "--since", "2026-11-02").output
    assert ask(*here, "--since", "yesterday").exit_code == 2


def test_an_export_goes_into_another_users_memory(ask, tmp_path):
    assert ask("export", tmp_path / "all.jsonl").output == "written: 3\n"
    assert (
        ask("import", tmp_path / "all.jsonl", "--user", "user").output == "new: 3, known already: 0, not readable: 0\n"
    )
    assert "embedded anew: 0; 3 of 3 by minilm-64" in ask("reembed", "--user", "user").output


def test_it_says_so_where_it_is_switched_off(ask, monkeypatch):
    monkeypatch.setenv("DOSSIER_MEMORY", "false")

    said = ask("search", "tunnel")

    assert (said.exit_code, "switched off" in said.output) == (2, True)


@pytest.mark.parametrize(("wish", "left"), [("--facts", 1), ("--keep-facts", 3)])
def test_deleting_a_job_takes_along_what_only_it_found_out_where_that_is_wished(ask, tmp_path, wish, left):
    given = {"commission": Commission(brief=BRIEF), "limits": Limits(), "steering": Steering()}
    job = WholeJob(id="job2", owner="", title="A job", status="done", code_version="research-2", **given)

    async def stored():
        store = Store(Database(async_url("", tmp_path)))
        await store.database.open()
        await store.add(job)
        await store.database.close()

    asyncio.run(stored())
    told = CliRunner().invoke(app, ["jobs", "delete", "job2", wish])

    assert (told.exit_code, told.output.splitlines()[0]) == (0, "deleted")
    assert ("forgotten: 2" in told.output) == (wish == "--facts")
    assert len(ask("search", "--kind", "all").output.splitlines()) == left
