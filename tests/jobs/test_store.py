"""The store: migrations, databases of another age or in the way, lists of many jobs; and the command line over it."""

import asyncio
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from agents.contracts.outcome import Commission
from agents.errors import ConfigError
from agents.jobs.database import Database, async_url
from agents.jobs.store import Spending, Store
from tests.jobs.conftest import Word, bench_of, opened
from tests.scripts import BRIEF

ROOT = Path(__file__).resolve().parents[2]


async def word(text):
    return Word(text=text)


async def quick(ctx):
    await ctx.call("say", "1", word, "a", gives=Word)


async def test_a_database_of_a_newer_program_is_refused_in_one_sentence(tmp_path):
    async with opened(tmp_path, bench_of(quick)):
        pass
    with closing(sqlite3.connect(tmp_path / "jobs.db")) as db, db:
        db.execute("UPDATE research_version SET version_num = '9999'")
    with pytest.raises(ConfigError, match="newer version of this program"):
        async with opened(tmp_path, bench_of(quick)):
            pass


async def test_a_file_that_is_no_database_is_refused_in_one_sentence(tmp_path):
    (tmp_path / "jobs.db").write_bytes(b"not a database at all, by no means" * 100)
    with pytest.raises(ConfigError, match="can't be used: file is not a database"):
        async with opened(tmp_path, bench_of(quick)):
            pass


async def test_the_tables_are_those_of_the_migrations(tmp_path):
    from alembic.autogenerate import compare_metadata
    from alembic.runtime.migration import MigrationContext

    from agents.jobs.tables import metadata

    base = Database(async_url("", tmp_path))
    await base.open()

    def compare(connection):
        context = MigrationContext.configure(
            connection,
            opts={"include_name": lambda name, kind, _: kind != "table" or name != "research_version"},
        )
        return compare_metadata(context, metadata)

    async with base.write.begin() as connection:
        assert await connection.run_sync(compare) == []
    await base.close()


async def test_ten_thousand_jobs_are_listed_at_once(tmp_path):
    from agents.jobs.kept import _row

    base = Database(async_url("", tmp_path))
    await base.open()
    store = Store(base)
    text = Commission(brief=BRIEF).model_dump_json()
    async with base.begin() as connection:
        from agents.jobs.tables import jobs

        rows = [_row("ann", f"Question {n}").model_dump() | {"commission": text, "limits": "{}"} for n in range(10_000)]
        await connection.execute(jobs.insert(), rows)
    await store.jobs("ann")
    took = []
    for _ in range(3):
        began = time.perf_counter()
        listed = await store.jobs("ann", limit=50)
        took.append(time.perf_counter() - began)
    assert len(listed) == 50
    assert await store.count("ann") == 10_000
    assert min(took) < 0.1
    await base.close()


async def test_adding_a_job_twice_is_adding_it_once(tmp_path):
    from agents.jobs.kept import _row

    base = Database(async_url("", tmp_path))
    await base.open()
    store = Store(base)
    row = _row("ann", "q")
    for _ in range(2):
        await store.add(row, Commission(brief=BRIEF), Spending())
    assert await store.count() == 1
    await base.close()


def command(folder, *args):
    env = {**os.environ, "DOSSIER_DATA_DIR": str(folder)}
    return subprocess.run(
        [sys.executable, "-m", "agents", "jobs", *args], cwd=ROOT, env=env, capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip


async def test_the_command_line_lists_shows_replays_exports_and_deletes(tmp_path):
    async with opened(tmp_path, bench_of(quick)) as kept:
        job = await kept.ended(kept.start())
    short = job.id[:8]

    def work():
        return [
            command(tmp_path, *args)
            for args in (
                ["list"], ["show", short], ["replay", short], ["export", short, "--out", str(tmp_path / "r.md")],
                ["export", short, "--out", str(tmp_path / "r.pdf")], ["export", short, "--out", str(tmp_path / "r.exe")],
                ["cancel", short], ["show", "nothing"], ["delete", short], ["list"],
            )
        ]  # fmt: skip

    listed, shown, replayed, exported, printed, odd, cancelled, unknown, deleted, empty = await asyncio.to_thread(work)
    assert "done (partial)" in listed.stdout
    assert "1 recorded, 0 of them failures" in shown.stdout
    assert "report: partial" in replayed.stdout
    assert exported.returncode == 0
    assert (tmp_path / "r.md").read_text().startswith("It closed on **twelve days**.[1]")
    assert printed.returncode == 0
    assert (tmp_path / "r.pdf").read_bytes().startswith(b"%PDF-")
    assert (odd.returncode, odd.stderr) == (
        2, "'r.exe' has no ending that says what to write. Use one of .md, .html, .json, .pdf, .docx, .bib, .ris.\n"
    )  # fmt: skip
    assert (cancelled.returncode, unknown.returncode) == (2, 2)
    assert "No process that runs jobs answers" in cancelled.stderr
    assert unknown.stderr == "There is no job nothing.\n"
    assert (deleted.stdout, empty.stdout) == ("deleted\n", "There are no jobs.\n")
