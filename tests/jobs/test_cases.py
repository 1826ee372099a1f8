"""Reported cases as far as they concern jobs: C37 (a lost connection), C38 (two users), C39 (a server that grows)."""

import asyncio
import gc
import logging
import os
import threading
from pathlib import Path

import sqlalchemy as sa

from agents.contracts.report import Commission
from agents.core.budget import Limits
from agents.core.events import Noted
from agents.jobs import schema as tables
from agents.jobs.job import JobSetup
from agents.research.steering import Steering
from tests.jobs.conftest import Given, Word, bench_of, opened, until
from tests.scripts import BRIEF

PAIRS = 20


async def test_c37_a_reader_who_comes_back_misses_nothing_sees_nothing_twice_and_the_job_never_notices(tmp_path, url):
    calls = []

    async def say(text):
        calls.append(text)
        await asyncio.sleep(0.02)
        return Word(text=text)

    async def root(ctx):
        for n in range(20):
            await ctx.call("say", str(n), say, str(n), gives=Word)
            ctx.emit(f"said:{n}", Noted(text=f"said {n}"))

    async with opened(tmp_path, bench_of(root), url=url) as kept:
        job, seen = await kept.start(), []

        async def read(after, at_most):
            """One connection, cut after some events, in the middle of waiting for the next."""
            stream = job.follow(after)
            async for numbered in stream:
                if numbered is not None:
                    seen.append(numbered.seq)
                if len(seen) - len(before) >= at_most:
                    break
            await stream.aclose()

        async with asyncio.timeout(60):
            while not job.over or len(seen) < len(job.run.events):
                before = list(seen)
                await read(seen[-1] if seen else 0, 3)
                await asyncio.sleep(0.05)  # away for a while
        assert seen == list(range(1, len(job.run.events) + 1))
        assert calls == [str(n) for n in range(20)]
        assert job.status == "done"


class Users:
    """Jobs whose every text carries their user's canary; whatever they are given must carry no other."""

    def __init__(self):
        self.strays = []

    def bench(self, canary, go=None):
        async def say(text):
            if canary not in text:
                self.strays.append((canary, text))
            await asyncio.sleep(0.01)
            return Word(text=f"{text} answered to {canary}")

        async def leaf(ctx, given):
            one = await ctx.call("say", "1", say, f"{canary} asks {given.n}", gives=Word)
            return await ctx.call("say", "2", say, one.text, gives=Word)

        async def root(ctx):
            found = await ctx.children("leaf", [(str(n), Given(n=n)) for n in range(3)], gives=Word)
            for n, one in enumerate(found):
                ctx.emit(f"found:{n}", Noted(text=one.text))

        return bench_of(root, {"leaf": leaf})


async def test_c38_twenty_pairs_side_by_side_know_nothing_of_one_another(tmp_path, url, caplog):
    caplog.set_level(logging.DEBUG, logger="agents")
    users, canaries = Users(), {}
    async with opened(tmp_path, None, url=url, workers=8, per_user=4) as kept:
        benches = {}

        def rebuilt(commission, steering) -> JobSetup:
            return benches[commission.brief.question](commission, steering)

        kept.jobs.register.set_up = rebuilt
        jobs = []
        for n in range(PAIRS):
            for owner, tag, tokens in (("anna", f"ANNA-ORVANE-{n}-", 5000), ("bo", f"BO-SARN-{n}-", 2000)):
                brief = BRIEF.model_copy(
                    update={"question": f"{tag} asks", "language": "en" if owner == "anna" else "sv"}
                )
                benches[brief.question] = users.bench(tag)
                commission = Commission(brief=brief)
                job = await kept.jobs.start(
                    commission, rebuilt(commission, Steering()), owner=owner, title=brief.question,
                    budget=Limits(tokens=tokens),
                )  # fmt: skip
                canaries[job.id] = tag
                jobs.append((job, owner, tokens, brief.language))
        for job, owner, tokens, language in jobs:
            await kept.ended(job, 100)
            assert (job.status, job.owner) == ("done", owner)
            assert job.run.budget.limits.tokens == tokens
            assert job.commission.brief.language == language
            assert kept.jobs.get(job.id, "bo" if owner == "anna" else "anna") is None
        assert users.strays == []
        others = {"ANNA-ORVANE-", "BO-SARN-"}
        async with kept.jobs.store.database.reading() as connection:
            for table in (tables.events, tables.steps):
                for row in (await connection.execute(sa.select(table))).mappings():
                    mine, text = canaries[row["job_id"]], str(dict(row))
                    assert not any(tag in text.replace(mine, "") for tag in others)
        for record in caplog.records:
            told = [job_id for job_id in canaries if job_id in record.getMessage()]
            assert not any(tag in record.getMessage() for tag in others if not told)


async def test_c38_one_users_slow_pages_do_not_hold_up_the_other(tmp_path):
    go = asyncio.Event()

    async def slow(text):
        await go.wait()
        return Word(text=text)

    async def quick(text):
        return Word(text=text)

    async def patient(ctx):
        await ctx.fan("fetch", slow, [(str(n), "page") for n in range(40)], gives=Word, pool="web")

    async def brisk(ctx):
        for n in range(10):
            await ctx.call("fetch", str(n), quick, "page", gives=Word, pool="web")

    async with opened(tmp_path, bench_of(patient)) as kept:
        anna = await kept.start(owner="anna")
        await until(lambda: kept.jobs.limits.pools["web"].peak >= 6, 30)
        kept.bench = bench_of(brisk)
        bo = await kept.ended(await kept.start(owner="bo"), 30)
        assert (bo.status, anna.status) == ("done", "running")
        assert bo.run.now() < 20
        go.set()
        await kept.ended(anna, 30)


def _level():
    gc.collect()
    files = [str(path.readlink()) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
    return {
        "files": len([name for name in files if not name.startswith("/dev")]),
        "threads": threading.active_count(),
        "tasks": len([task for task in asyncio.all_tasks() if not task.done()]),
    }


def _rss_mb():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


async def test_c39_a_process_does_not_grow_with_its_jobs(tmp_path):
    """The shorter form: 30 jobs; every fifth reader goes away in the middle, every seventh job is cancelled."""

    async def page(text):
        await asyncio.sleep(0)
        return Word(text=text * 2000)

    async def root(ctx):
        await ctx.fan("fetch", page, [(str(n), f"page {n} ") for n in range(8)], gives=Word, pool="web")

    levels, sizes = [], []
    async with opened(tmp_path, bench_of(root), workers=4, per_user=4, policy={"remembered": 10}) as kept:
        for batch in range(3):
            jobs = [await kept.start(owner=f"user{n}") for n in range(10)]
            readers = []
            for n, job in enumerate(jobs):
                if n % 5 == 0:
                    readers.append(asyncio.create_task(_some(job)))
                if (batch * 10 + n) % 7 == 6:
                    kept.jobs.stop(job)
            for job in jobs:
                await kept.ended(job, 60)
            await asyncio.gather(*readers)
            await until(lambda: not kept.jobs.register._background, 30)
            assert len(kept.jobs.register.jobs) <= 10
            del jobs, readers
            levels.append(_level())
            sizes.append(_rss_mb())
        # Back to the level after job 20, once the last one's workflow has ended too.
        await until(lambda: _level()["tasks"] <= levels[1]["tasks"], 30)
        first, last = levels[1], _level()
    # The engine's pool of threads, each with its connection, fills up to its bound; other tests left theirs open before.
    more = last["threads"] - first["threads"]
    assert more <= max(12, 50 - first["threads"]), levels
    assert last["files"] - first["files"] <= 3 * max(0, more) + 10, levels
    assert sizes[-1] - sizes[1] < 80, sizes


async def _some(job):
    async for _ in job.follow():
        return
