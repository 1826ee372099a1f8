"""What may be wrong with the store or with those who use it: each is said in one sentence, or waited out."""

import asyncio
import sqlite3
from contextlib import closing

import psycopg
import pytest

from agents.core.errors import BadRequest, ConfigError
from agents.jobs.database import Database, async_url
from tests.jobs.conftest import Word, bench_of, opened, until


async def word(text):
    return Word(text=text)


async def quick(ctx):
    await ctx.call("say", "1", word, "a", gives=Word)


class Gate:
    """A call that waits until it is let go."""

    def __init__(self):
        self.made, self.go = [], asyncio.Event()

    async def held(self, text):
        self.made.append(text)
        await self.go.wait()
        return Word(text=text)

    def job(self):
        async def root(ctx):
            await ctx.call("hold", "1", self.held, "first", gives=Word)
            await ctx.call("hold", "2", self.held, "second", gives=Word)

        return bench_of(root)


async def test_a_database_that_is_read_only_is_refused_in_one_sentence(tmp_path):
    (tmp_path / "jobs.db").touch()
    address = f"sqlite:///file:{tmp_path}/jobs.db?mode=ro&uri=true"
    with pytest.raises(ConfigError, match="can't be used: attempt to write a readonly database"):
        await Database(async_url(address, tmp_path)).open()


async def test_a_read_only_server_is_refused_in_one_sentence_that_shows_no_password(database, tmp_path):
    name = database.rsplit("/", 1)[1]
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    with pytest.raises(ConfigError, match="read-only") as refused:
        await Database(async_url(database.replace("dossier@", "dossier:hunter2@"), tmp_path)).open()
    assert "hunter2" not in str(refused.value)


async def test_a_server_that_is_not_there_is_said_in_one_sentence(tmp_path):
    with pytest.raises(ConfigError, match="can't be used"):
        await Database(async_url("postgresql://dossier@127.0.0.1:1/none", tmp_path)).open()


async def test_a_file_that_another_program_keeps_locked_is_said_at_start(tmp_path):
    with closing(sqlite3.connect(tmp_path / "jobs.db", isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode=WAL")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(ConfigError, match="can't be used: database is locked"):
            await Database(async_url("", tmp_path), busy_ms=100).open()
        other.execute("ROLLBACK")
    base = Database(async_url("", tmp_path))
    await base.open()
    await base.close()


async def test_a_lock_that_is_held_for_a_moment_is_waited_out(tmp_path, url):
    gate = Gate()
    async with opened(tmp_path, gate.job(), url=url) as kept:
        job = await kept.start()
        await until(lambda: gate.made == ["first"], 30)

        def lock():
            if url:
                other = psycopg.connect(url)
                other.execute("LOCK TABLE research_steps IN ACCESS EXCLUSIVE MODE")
                return other
            other = sqlite3.connect(tmp_path / "jobs.db", isolation_level=None, check_same_thread=False)
            other.execute("BEGIN IMMEDIATE")
            return other

        with closing(await asyncio.to_thread(lock)) as other:
            gate.go.set()
            await asyncio.sleep(0.5)
            assert gate.made == ["first"]  # what was paid for is not on the disk yet: nothing more is paid
            await asyncio.to_thread(other.rollback) if url else other.execute("ROLLBACK")
        await kept.ended(job, 30)
        assert job.status == "done"
        assert gate.made == ["first", "second"]


async def test_of_two_operators_who_rework_or_restart_at_once_one_is_told_so(tmp_path, url):
    async with opened(tmp_path, bench_of(quick), url=url) as kept:
        job = await kept.ended(await kept.start(), 30)
        both = await asyncio.gather(
            kept.jobs.order(job, "rework"), kept.jobs.order(job, "restart"), return_exceptions=True
        )
        refused = [one for one in both if isinstance(one, BadRequest)]
        assert [one.notice for one in refused] == ["Somebody else has just taken this job up."]
        (again,) = [one for one in both if not isinstance(one, BadRequest)]
        await kept.ended(again, 30)
        assert (await kept.jobs.store.job(job.id)).attempt == 2


async def test_a_running_job_that_is_deleted_stops(tmp_path, url):
    gate = Gate()
    async with opened(tmp_path, gate.job(), url=url) as kept:
        job = await kept.start(owner="ann")
        await until(lambda: gate.made, 30)
        assert await kept.jobs.delete("ann", [job.id]) == 1
        gate.go.set()
        await asyncio.sleep(0.2)
        assert gate.made == ["first"]
        assert await kept.jobs.store.job(job.id) is None


@pytest.mark.parametrize("after_s", [0, 0.001, 0.004])
async def test_a_start_that_is_cut_off_leaves_no_run_and_no_lock(tmp_path, url, after_s):
    async with opened(tmp_path, bench_of(quick), url=url) as kept:
        starting = asyncio.ensure_future(kept.start())
        await asyncio.sleep(after_s)
        if starting.cancel():
            with pytest.raises(asyncio.CancelledError):
                await starting
            second = await kept.ended(await kept.start(), 30)
            assert second.status == "done"
            (first,) = [job for job in kept.jobs.live() if job is not second]
            assert (await kept.ended(first, 30)).status in {"cancelled", "done"}


@pytest.mark.parametrize("verb", ["pause", "resume"])
async def test_what_a_job_that_is_over_cannot_do_is_said(tmp_path, verb):
    async with opened(tmp_path, bench_of(quick)) as kept:
        job = await kept.ended(await kept.start(), 30)
        with pytest.raises(BadRequest, match="Only a"):
            await kept.jobs.order(job, verb)


async def test_an_unknown_job_is_none_of_anybodys(tmp_path, url):
    async with opened(tmp_path, bench_of(quick), url=url) as kept:
        assert await kept.jobs.find("0" * 32) is None
        assert await kept.jobs.delete("", ["0" * 32]) == 0
