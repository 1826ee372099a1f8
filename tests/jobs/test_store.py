"""The store: databases of another age or in the way, lists of many jobs; and the command line over it."""

import asyncio
import sqlite3
import time
from contextlib import closing

import pytest
from typer.testing import CliRunner

from agents.cli.main import app
from agents.contracts.report import Actual, Commission, ReportDocument
from agents.core.budget import Limits
from agents.core.errors import ConfigError
from agents.core.events import Noted, Numbered
from agents.jobs.attempt import Fenced, StepRecord
from agents.jobs.database import Database, async_url
from agents.jobs.store import Store, StoredJob, WholeJob
from agents.jobs.writer import Writer
from agents.report.document import build
from agents.research.steering import Steering
from tests.jobs.conftest import Word, bench_of, opened
from tests.scripts import BRIEF
from tests.unit.report_world import outcome


async def word(text):
    return Word(text=text)


async def quick(ctx):
    await ctx.call("say", "1", word, "a", gives=Word)


@pytest.mark.parametrize("revision", ["0003", "9999"])
async def test_a_database_of_another_program_version_is_refused_in_one_sentence(tmp_path, revision):
    async with opened(tmp_path, bench_of(quick)):
        pass
    with closing(sqlite3.connect(tmp_path / "jobs.db")) as db, db:
        db.execute("UPDATE research_version SET version_num = ?", (revision,))
    with pytest.raises(ConfigError, match="another version of this program"):
        async with opened(tmp_path, bench_of(quick)):
            pass


async def test_a_file_that_is_no_database_is_refused_in_one_sentence(tmp_path):
    (tmp_path / "jobs.db").write_bytes(b"not a database at all, by no means" * 100)
    with pytest.raises(ConfigError, match="can't be used: file is not a database"):
        async with opened(tmp_path, bench_of(quick)):
            pass


async def test_ten_thousand_jobs_are_listed_at_once(tmp_path):
    base = Database(async_url("", tmp_path))
    await base.open()
    store = Store(base)
    text = Commission(brief=BRIEF).model_dump_json()
    async with base.begin() as connection:
        from agents.jobs.schema import jobs

        rows = [
            StoredJob(owner="ann", title=f"Question {n}", code_version="research-1").model_dump()
            | {"commission": text, "limits": "{}"}
            for n in range(10_000)
        ]
        await connection.execute(jobs.insert(), rows)
    await store.jobs("ann")
    took = []
    for _ in range(3):
        began = time.perf_counter()
        listed = await store.jobs("ann", limit=50)
        took.append(time.perf_counter() - began)
    assert len(listed) == 50
    assert await store.count("ann") == 10_000
    assert min(took) < 1  # 0.03 s on two idle cores; `make bench-pg` holds the figure
    await base.close()


async def test_adding_a_job_twice_is_adding_it_once(tmp_path):
    base = Database(async_url("", tmp_path))
    await base.open()
    store = Store(base)
    given = {"commission": Commission(brief=BRIEF), "limits": Limits(), "steering": Steering()}
    job = WholeJob(owner="ann", title="q", code_version="research-1", **given)
    for _ in range(2):
        assert await store.add(job) == job.id
    assert await store.count() == 1
    await base.close()


async def test_an_overtaken_attempt_writes_nothing_more(database):
    base = Database(async_url(database, None))
    await base.open()
    store = Store(base)
    given = {"commission": Commission(brief=BRIEF), "limits": Limits(), "steering": Steering()}
    job = WholeJob(owner="ann", title="q", code_version="research-1", **given)
    await store.add(job)
    told, writers = [], {1: Writer(store), 2: Writer(store)}

    def emit(attempt, seq, text):
        numbered = Numbered(seq=seq, seconds=0.0, key=text, event=Noted(text=text))
        writers[attempt].event(job.id, attempt, numbered, lambda: told.append((attempt, seq)))

    for writer in writers.values():
        writer.open()
    emit(1, 1, "begun")
    await writers[1].flush()
    await store.change(job.id, at_attempt=1, attempt=2, status="queued")
    emit(1, 2, "planned")
    writers[1].change(job.id, 1, status="running", note="by the first")
    with pytest.raises(Fenced):
        await writers[1].step(job.id, "job#planner:0", 1, StepRecord(value="{}"))
    for seq, text in enumerate(("taken up", "planned"), 2):
        emit(2, seq, text)
    await writers[2].flush()

    assert [one.key for one in await store.events(job.id)] == ["begun", "taken up", "planned"]
    assert told == [(1, 1), (2, 2), (2, 3)]
    assert not await store.steps(job.id)
    assert not await store.save_outcome(job.id, 1, {})
    whole = await store.job(job.id)
    assert (whole.status, whole.note) == ("queued", "")
    for writer in writers.values():
        await writer.close()
    await base.close()


async def test_of_a_job_that_came_to_no_end_the_draft_of_its_report_is_read(tmp_path):
    draft = build("a" * 32, outcome(), Actual(), engine="some/model", reasons=True)

    async def keeps(document):
        return document

    async def breaks(ctx):
        await ctx.call("keep", "draft", keeps, draft, gives=ReportDocument, pool="local")
        raise ValueError("afterwards")

    async with opened(tmp_path, bench_of(breaks)) as kept:
        job = await kept.ended(await kept.start())
        assert (job.status, job.report) == ("failed", None)
        assert await kept.jobs.report(job.id) == draft
        assert await kept.jobs.report("b" * 32) is None


async def command(folder, *args):
    """Run `agents jobs …` in a thread, as a process of its own would."""
    env = {"DOSSIER_DATA_DIR": str(folder)}
    return await asyncio.to_thread(CliRunner().invoke, app, ["jobs", *args], env=env)


async def test_the_command_line_lists_shows_replays_exports_and_deletes(tmp_path):
    async with opened(tmp_path, bench_of(quick)) as kept:
        job = await kept.ended(await kept.start(), 60)
    short = job.id[:8]

    listed = await command(tmp_path, "list")
    assert "done (partial)" in listed.stdout
    assert "attempt  1" in (await command(tmp_path, "show", short)).stdout
    assert "Report saved, 3 references." in (await command(tmp_path, "replay", short)).stdout
    exported = await command(tmp_path, "export", short, "--out", str(tmp_path / "r.md"))
    assert exported.exit_code == 0
    markdown = (tmp_path / "r.md").read_text()
    assert markdown.startswith("# Closures of the line\n\n**Question:** Why did the ice line close?\n")
    assert "\n\nIt closed on **twelve days**.[1]" in markdown
    printed = await command(tmp_path, "export", short, "--out", str(tmp_path / "r.pdf"))
    odd = await command(tmp_path, "export", short, "--out", str(tmp_path / "r.exe"))
    assert printed.exit_code == 0
    assert (tmp_path / "r.pdf").read_bytes().startswith(b"%PDF-")
    assert odd.exit_code == 2
    assert "Use one of .md, .html, .json, .pdf, .docx, .bib, .ris, .csl." in odd.stderr
    cancelled, unknown = await command(tmp_path, "cancel", short), await command(tmp_path, "show", "nothing")
    assert (cancelled.exit_code, unknown.exit_code) == (2, 2)
    assert "No process that runs jobs answers" in cancelled.stderr
    assert unknown.stderr == "There is no job nothing.\n"
    assert (await command(tmp_path, "delete", short)).stdout == "deleted\n"
    assert (await command(tmp_path, "list")).stdout == "There are no jobs.\n"
