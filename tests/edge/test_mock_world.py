"""Whole jobs through the real model adapter over HTTP, against the mock model server, on documents of ours."""

import json
import os
import re
import subprocess
import sys
import urllib.request

import pytest

from agents.chat.conversation import Conversation
from agents.chat.state import ChatState
from agents.cli.headless import research
from agents.core.settings import load
from agents.team import open_team
from tests.forked import command


@pytest.fixture(scope="module")
def mock_server(shared):
    """The mock model server in a process of its own."""
    pytest.importorskip("aiohttp")
    process = subprocess.Popen(
        [sys.executable, "-m", "worldsim", "serve", "--config", json.dumps({"speed": 50, "answer": {"overrides": []}})], cwd=shared / "bench", stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    try:
        yield json.loads(process.stdout.readline())
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture
def sim(mock_server):
    """The server as it was when it was started; it forgets what a test asked of it."""
    before = configure(mock_server)
    yield mock_server
    assert configure(mock_server, **before) == before, "it can't be put back: start one for each test"
    request = urllib.request.Request(
        mock_server["llm_url"].removesuffix("/v1") + "/_sim/reset", data=b"", method="POST"
    )
    urllib.request.urlopen(request, timeout=5).close()


DECIDED = [
    {"field": "^feasible$", "values": [True]}, {"field": "^depth_estimate$", "values": [1]}, {"field": "^open_questions$", "values": [[]]},
]  # fmt: skip


async def test_no_ordinary_message_loses_a_draft_over_a_real_adapter(sim, tmp_path, monkeypatch):
    from tests.chat.test_draft_survives import ORDINARY, standing

    configure(sim, answer={"overrides": DECIDED})
    for name, value in {
        "OPENAI_API_KEY": KEY,
        "OPENAI_API_BASE": sim["llm_url"],
        "DOSSIER_MODEL": "openai/sim",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("DOSSIER_DATA_DIR", str(tmp_path / "data"))
    team = open_team(load().model_copy(update={"library": (library(tmp_path),)}))
    acts = []

    async def show(act):
        acts.append(act)

    talk = Conversation(team, ChatState(), show=show)
    await talk.hear(QUESTION)
    fresh, lost = talk.state, []
    for message in ORDINARY:
        talk.state, acts[:] = fresh, []
        await talk.hear(message)
        if not acts or talk.state.contract is None or standing(talk.state) != standing(fresh):
            lost.append(message)
    await team.close()
    assert lost == []


def configure(sim, **changes):
    base = sim["llm_url"].removesuffix("/v1")
    request = urllib.request.Request(
        f"{base}/_sim/config",
        data=json.dumps(changes).encode(),
        method="PATCH",
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=5) as answer:
        return json.load(answer)


def stats(sim):
    with urllib.request.urlopen(sim["llm_url"].removesuffix("/v1") + "/_sim/stats?detail=1", timeout=5) as answer:
        return json.load(answer)


def library(tmp_path):
    folder = tmp_path / "library"
    folder.mkdir()
    for number in range(6):
        (folder / f"doc{number}.md").write_text(
            f"# Report {number}\n\nIn 20{10 + number} the ferry line over the lake was closed on {12 + number} days. "
            f"The winter service cost {3 + number} million crowns in 20{10 + number}. "
            "The board closes the line when the ice is thicker than 18 centimetres.\n"
        )
    return folder


async def run_dossier(sim, tmp_path, monkeypatch):
    """One run in this process: the model library is slow to load, once is enough."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_BASE", sim["llm_url"])
    monkeypatch.setenv("DOSSIER_MODEL", "openai/sim")
    monkeypatch.setenv("DOSSIER_DATA_DIR", str(tmp_path / "data"))
    out = tmp_path / "out.json"
    settings = load().model_copy(update={"library": (library(tmp_path),)})
    code = await research(
        settings, QUESTION, mode="standard", tier=None, minutes=5.0, challenge=True, json_file=out, out=None
    )
    return code, json.loads(out.read_text("utf-8"))


KEY = "sk-mock-0123456789abcdef"
INVENTED = re.compile(
    r"(?:What do .+ show|On how many days .+ 2015): (?:nothing to the point was found|incomplete)(?:; .+)?\."
)
"""Parts that the mock planner words at random and the documents do not speak of; and a span of years, told a year a sentence."""
QUESTION = "On how many days was the ferry line closed between 2010 and 2015, and what did the winter service cost?"


def assert_only_parts_are_short(code, report):
    """Nothing failed: where the report is partial, it is for parts of the question alone."""
    assert code == (3 if report["grade_reasons"] else 0)
    assert [reason for reason in report["grade_reasons"] if not INVENTED.fullmatch(reason)] == []
    assert {node["status"] for node in report["nodes"]} == {"done"}


async def test_a_whole_job_over_real_http_gives_a_report_whose_quotes_stand_in_its_sources(
    sim, tmp_path, monkeypatch, capfd
):
    code, report = await run_dossier(sim, tmp_path, monkeypatch)

    assert_only_parts_are_short(code, report)
    assert report["references"]
    for reference in report["references"]:
        text = re.sub(r"\s+", " ", (tmp_path / "library" / reference["url"].rsplit("/", 1)[1]).read_text("utf-8"))
        for quote in reference["quotes"]:
            assert re.sub(r"\s+", " ", quote["text"]) in text
    shown = capfd.readouterr()
    assert KEY not in shown.out + shown.err + json.dumps(report)
    assert report["methodology"]["actual"]["model_calls"] > 0
    seen = stats(sim)
    assert seen["distinct_prompts"] == seen["llm_calls"], "a prompt was sent twice"


async def test_rate_limits_and_broken_answers_lose_no_branch_silently(sim, tmp_path, monkeypatch):
    configure(
        sim,
        faults=[
            {"on": "chat", "kind": "status", "status": 429, "retry_after": 0, "prob": 0.1},
            {"on": "chat", "kind": "malformed", "every": 5, "contains": "numbered sentence"},
        ],
    )
    code, report = await run_dossier(sim, tmp_path, monkeypatch)

    for node in report["nodes"]:
        assert node["status"] == "done" or node["note"], node
    if any(node["status"] != "done" for node in report["nodes"]):
        assert code == 3
        assert report["grade"] == "partial"


async def test_a_model_that_is_out_of_quota_hands_over_to_the_next_for_the_whole_job(sim, tmp_path, monkeypatch):
    quota = {"on": "chat", "kind": "status", "status": 402, "message": "You exceeded your current quota", "first": 1}
    # One refusal: a second one could meet the model that steps in, and then nobody of the two has anything left.
    configure(sim, faults=[quota])
    monkeypatch.setenv("DOSSIER_FALLBACKS", "openai/second")

    code, report = await run_dossier(sim, tmp_path, monkeypatch)

    assert code == 3
    assert report["grade"] == "partial"
    # Where both refusals fall into the drafting of manager and planner, the job itself has nobody stand in.
    for reason in [one for one in report["grade_reasons"] if not INVENTED.fullmatch(one)]:
        assert reason.startswith("openai/second answered in the place of openai/sim")
    for stood_in in report["methodology"]["actual"]["stand_ins"]:
        assert (stood_in["model"], stood_in["stood_in_for"]) == ("openai/second", "openai/sim")
        assert "openai/second answered in the place of openai/sim" in report["markdown"]
    # The plan is drafted while the question is judged: two calls may be under way before the first is refused.
    calls = [call for call in stats(sim)["calls"] if call.get("model")]
    asked = [call["status"] for call in calls if call["model"] != "second"]
    assert 402 in asked
    # One that was under way when the first was refused may still be answered.
    assert len(asked) <= 4, "a model without quota was asked again and again"
    answered = [call["hash"] for call in calls if call["status"] == 200]
    assert len(set(answered)) == len(answered), "an answered prompt was sent twice"


async def test_a_cap_on_requests_at_once_keeps_a_strict_provider_content(sim, tmp_path, monkeypatch):
    configure(sim, llm={"max_concurrency": 2})
    monkeypatch.setenv("DOSSIER_MODEL_LIMITS", '{"openai": {"at_once": 2}}')

    code, report = await run_dossier(sim, tmp_path, monkeypatch)

    assert_only_parts_are_short(code, report)
    assert [call for call in stats(sim)["calls"] if call.get("status") == 429] == []


def test_a_wrong_key_is_one_clear_sentence_and_the_key_is_nowhere(sim, tmp_path):
    configure(sim, faults=[{"on": "chat", "kind": "status", "status": 401}])
    environment = {
        **os.environ,
        "DOSSIER_MODEL": "openai/sim",
        "OPENAI_API_BASE": sim["llm_url"],
        "OPENAI_API_KEY": KEY,
        "DOSSIER_DATA_DIR": str(tmp_path / "data"),
    }
    done = command(tmp_path, "run", QUESTION, "--library", str(library(tmp_path)), env=environment)
    assert done.returncode == 1
    assert "OPENAI_API_KEY" in done.stderr
    assert KEY not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
