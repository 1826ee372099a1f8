"""Many processes on one PostgreSQL: workers share the queue, a lost worker's job goes on, a chat server only watches."""

import asyncio
import os
import signal
import time
from collections import Counter
from contextlib import contextmanager

import pytest

from agents.core.errors import BadRequest
from tests.forked import forked
from tests.jobs import worker_child
from tests.jobs.conftest import bench_of, opened
from tests.jobs.postgres import new_database
from tests.jobs.test_crash import calls

pytestmark = pytest.mark.timeout(400)
"""Whole processes are started here, on machines that may be busy."""


@contextmanager
def running(folder, url, *names, dead_s=3.0, delay_s=0.05):
    """Worker processes; killed at the end."""
    processes = {}
    for name in names:
        processes[name] = forked(folder / f"{name}.log", worker_child.main, folder, url, name, 4, dead_s, delay_s)
    try:
        yield processes
    finally:
        for process in processes.values():
            process.kill()
            process.join(10)


async def until(what, seconds=90.0):
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        if found := what():
            return found
        await asyncio.sleep(0.05)
    raise AssertionError("it did not come about in time")


QUICK = {"alive_s": 0.5, "dead_s": 3.0}
"""Quick to notice, as the workers are (see `worker_child`)."""


async def nothing(ctx):
    """The watcher runs no job: its handlers are never asked."""
    raise AssertionError


async def test_a_frozen_workers_job_goes_on_elsewhere_and_what_it_writes_on_waking_is_not_mixed_in(tmp_path, database):
    with running(tmp_path, database, "one", "two") as processes:
        await _lost(tmp_path, database, processes)


async def _lost(tmp_path, database, processes):
    async with opened(tmp_path, bench_of(nothing), url=database, runs=False, policy=QUICK) as kept:
        jobs = [await kept.start(owner=owner) for owner in ("ann", "bob")]
        await until(lambda: all(job.status == "running" for job in jobs))
        await until(lambda: len([1 for what, *_ in calls(tmp_path) if what == "ended"]) > 8)
        await until(lambda: kept.jobs.limits.share == 0.5)
        rows = {row.id: row.executor for row in await kept.jobs.store.jobs()}
        lost = rows[jobs[0].id]
        os.kill(processes[lost].pid, signal.SIGSTOP)
        await until(lambda: jobs[0].run.attempt > 1)
        os.kill(processes[lost].pid, signal.SIGCONT)

        for job in jobs:
            await asyncio.wait_for(job.wait(), 100)

        assert [job.status for job in jobs] == ["done", "done"]
        assert all(job.report.references for job in jobs)
        for job in jobs:
            assert [one.seq for one in job.run.events] == list(range(1, len(job.run.events) + 1))
            assert await kept.jobs.store.events(job.id) == job.run.events
        done = [key for what, key, *_ in calls(tmp_path) if what == "ended"]
        # Both jobs ask the same. Paid once more is what was in flight: six calls of a job, were both taken for lost.
        assert sum(max(0, times - len(jobs)) for times in Counter(done).values()) <= 12
        processes[lost].kill()
        await until(lambda: kept.jobs.limits.share == 1)  # what a provider allows is the other's alone now


@pytest.fixture(scope="module")
def fleet(server, tmp_path_factory):
    """Two workers that several tests give their jobs to, neither taken for lost when it is slow: folder and address."""
    folder = tmp_path_factory.mktemp("fleet")
    with new_database(server) as url, running(folder, url, "one", "two", dead_s=60.0, delay_s=0.4):
        yield folder, url


class Since:
    """The calls that were made from now on."""

    def __init__(self, folder):
        self.folder, self.before = folder, len(calls(folder))

    def __call__(self):
        return calls(self.folder)[self.before :]

    def ended(self):
        return [key for what, key, *_ in self() if what == "ended"]


async def test_a_watcher_stops_a_job_that_runs_elsewhere(fleet):
    folder, url = fleet
    since = Since(folder)
    async with opened(folder, bench_of(nothing), url=url, runs=False, policy=QUICK) as kept:
        job = await kept.start(owner="ann")
        await until(since.ended)
        kept.jobs.stop(job)
        await asyncio.wait_for(job.wait(), 40)
        assert job.status == "cancelled"
        await asyncio.sleep(0.5)  # what the worker was told of
        before = len(since())
        await asyncio.sleep(0.5)
        assert len(since()) == before


async def test_a_watcher_pauses_and_resumes_a_job_that_runs_elsewhere(fleet):
    folder, url = fleet
    since = Since(folder)
    async with opened(folder, bench_of(nothing), url=url, runs=False, policy=QUICK) as kept:
        job = await kept.start(owner="ann")
        await until(since.ended)
        await kept.jobs.order(job, "pause")
        await until(lambda: job.blocked_reason == "paused")
        before = len(since())
        await asyncio.sleep(0.5)
        assert len(since()) == before
        with pytest.raises(BadRequest, match="Only a waiting or running job"):
            await kept.jobs.order(job, "pause")
        await kept.jobs.order(job, "resume")
        await asyncio.wait_for(job.wait(), 100)
        assert job.status == "done"
        assert len(since.ended()) == len(set(since.ended()))


async def test_a_watcher_hears_of_events_at_once_and_waits_for_no_round(fleet):
    folder, url = fleet
    quiet = {**QUICK, "round_s": 300.0}
    async with opened(folder, bench_of(nothing), url=url, runs=False, poll_s=300.0, policy=quiet) as kept:
        job = await kept.start(owner="ann")
        seen = []
        async with asyncio.timeout(100):
            async for numbered in job.follow():
                seen.append(numbered and numbered.seq)
        assert [seq for seq in seen if seq] == list(range(1, len(job.run.events) + 1))
        # Whoever was told that it is done finds the report there.
        assert job.status == "done"
        assert job.report.references


async def test_the_full_text_of_a_source_is_in_the_database(tmp_path, database):
    from agents.jobs.database import Database, async_url
    from agents.jobs.store import DatabaseBlobStore, Store

    base = Database(async_url(database, tmp_path))
    await base.open()
    blobs = DatabaseBlobStore(tmp_path, Store(base))
    name = await blobs.put("zwölf\r\nTage \ud800")
    assert await blobs.put("zwölf\r\nTage \ud800") == name
    assert await blobs.get(name) == "zwölf\r\nTage \ud800"
    await base.close()
