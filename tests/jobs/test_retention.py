"""How long things are kept: old jobs, the texts they read, their reports, and what the engine knows of them."""

import asyncio
import os
import time
from datetime import timedelta

from agents.contracts.frozen import Frozen
from agents.jobs import schema as tables
from agents.jobs.blob_store import BlobStore
from agents.jobs.client import Client
from agents.jobs.config import JobStoreConfig
from agents.jobs.store import now
from tests.jobs.conftest import bench_of, opened, until

BY_HAND = {"policy": {"alive_s": float("inf")}}
"""Nothing is swept out by itself but once at the start, however slow the machine."""


async def swept_at_the_start(jobs):
    """Wait until the first round has swept; none after it does."""
    await jobs.worker.round()
    await asyncio.gather(*jobs.register._background)


class Page(Frozen):
    """A step's value that names a stored text, as a fetched page does."""

    card: "Card"


class Card(Frozen):
    text_hash: str


def reading(kept_by, *texts):
    """A job that puts texts in the blob store of the service that runs it."""

    async def fetch(text):
        return Page(card=Card(text_hash=await kept_by[0].blobs.put(text)))

    async def root(ctx):
        for n, text in enumerate(texts):
            await ctx.call("fetch", str(n), fetch, text, gives=Page, pool="web")

    return bench_of(root)


async def aged(jobs, days=3.0):
    """Make all jobs older, once all that was to be written about them is."""
    await jobs.writer.flush()
    async with jobs.store.database.begin() as connection:
        await connection.execute(tables.jobs.update().values(updated=now() - timedelta(days=days)))


async def aged_texts(jobs):
    """Make all texts older."""
    then = now() - timedelta(days=3)
    for path in (jobs.blobs.folder / "texts").rglob("*.txt"):
        os.utime(path, (then.timestamp(), then.timestamp()))
    async with jobs.store.database.begin() as connection:
        await connection.execute(tables.texts.update().values(at=then))


async def there(blobs, name):
    try:
        return await blobs.get(name)
    except Exception:
        return None


async def in_engine(jobs):
    """Name the attempts that the engine knows of."""
    return [one.workflow_id for one in await jobs.engine._dbos.list_workflows_async()]


async def test_a_purge_takes_the_job_its_report_its_engines_record_and_the_texts_that_only_it_read(tmp_path, url):
    service = []
    async with opened(tmp_path, reading(service, "shared", "its own"), url=url, **BY_HAND) as kept:
        service.append(kept.jobs)
        await swept_at_the_start(kept.jobs)
        old = await kept.ended(await kept.start(owner="ann"))
        kept.bench = reading(service, "shared")
        kept.jobs.register.set_up = kept.bench
        await aged(kept.jobs)
        young = await kept.ended(await kept.start(owner="bob"))
        blobs, store = kept.jobs.blobs, kept.jobs.store
        own, shared = await blobs.put("its own"), await blobs.put("shared")
        await aged_texts(kept.jobs)

        assert await kept.jobs.worker.purge(days=2) == 1
        assert await kept.jobs.worker.sweep() == 1

        assert await store.job(old.id) is None
        assert await store.report(old.id) is None
        assert await kept.jobs.find(old.id, "ann") is None
        assert await in_engine(kept.jobs) == []
        assert await there(blobs, own) is None
        assert await there(blobs, shared) == "shared"
        assert (await kept.jobs.find(young.id, "bob")).report is not None


async def test_a_text_that_was_just_put_is_not_swept_out_and_putting_it_again_makes_it_young(tmp_path, url):
    async with opened(tmp_path, bench_of(None), url=url, **BY_HAND) as kept:
        await swept_at_the_start(kept.jobs)
        name = await kept.jobs.blobs.put("a page on its way")
        assert await kept.jobs.worker.sweep() == 0
        await aged_texts(kept.jobs)
        assert await kept.jobs.blobs.put("a page on its way") == name
        assert await kept.jobs.worker.sweep() == 0
        await aged_texts(kept.jobs)
        assert await kept.jobs.worker.sweep() == 1


async def test_jobs_that_die_with_their_process_leave_the_texts_of_stored_jobs_alone(tmp_path):
    blobs = BlobStore(tmp_path)
    name = await blobs.put("read by a stored job, long ago")
    (path,) = (tmp_path / "texts").rglob("*.txt")
    os.utime(path, (0, 0))
    jobs = Client(blobs, time.monotonic, JobStoreConfig())
    await jobs.open(bench_of(None))
    for _ in range(3):
        await swept_at_the_start(jobs)
    await jobs.close()
    assert await there(blobs, name) is not None


async def test_the_process_that_runs_jobs_purges_by_itself(tmp_path):
    policy = {"alive_s": 0.05, "clean_s": 0.05}

    async def quick(ctx):
        pass

    async with opened(tmp_path, bench_of(quick), keep_days=2, policy=policy) as kept:
        job = await kept.ended(await kept.start())
        for _ in range(5):
            await asyncio.sleep(0.06)
        assert await kept.jobs.store.job(job.id) is not None
        await aged(kept.jobs)
        began = time.monotonic()
        while await kept.jobs.store.job(job.id) is not None:
            assert time.monotonic() - began < 30
            await asyncio.sleep(0.05)
        assert await kept.jobs.find(job.id) is None


async def test_without_a_number_of_days_everything_is_kept(tmp_path):

    async def quick(ctx):
        pass

    async with opened(tmp_path, bench_of(quick), policy={"alive_s": 0.05}) as kept:
        job = await kept.ended(await kept.start())
        await aged(kept.jobs, days=10_000)
        await until(lambda: kept.jobs.worker._next_clean > 0, 30)
        await asyncio.sleep(0.2)
        assert await kept.jobs.store.job(job.id) is not None


async def test_deleting_a_job_that_had_several_attempts_leaves_nothing_of_any(tmp_path):
    async def quick(ctx):
        pass

    async with opened(tmp_path, bench_of(quick), **BY_HAND) as kept:
        job = await kept.ended(await kept.start())
        job = await kept.ended(await kept.jobs.order(job, "restart"))
        assert (await kept.jobs.store.job(job.id)).attempt == 2
        assert await kept.jobs.delete("", [job.id]) == 1
        await kept.jobs.worker.sweep()
        assert await in_engine(kept.jobs) == []
        assert await kept.jobs.report(job.id) is None


async def test_the_engine_forgets_what_is_over_and_not_what_waits_or_runs(tmp_path):
    go = asyncio.Event()

    async def held(ctx):
        await go.wait()

    async def quick(ctx):
        pass

    async with opened(tmp_path, bench_of(quick), **BY_HAND) as kept:
        await swept_at_the_start(kept.jobs)
        gone, over = await kept.ended(await kept.start()), await kept.ended(await kept.start())
        kept.bench = bench_of(held)
        runs = await kept.start()
        await until(lambda: runs.status == "running")
        await kept.jobs.store.delete([gone.id])
        assert await kept.jobs.find(gone.id) is None
        await kept.jobs.worker.sweep()
        assert await in_engine(kept.jobs) == [f"{runs.id}~1"]
        go.set()
        await kept.ended(runs)
        again = await kept.ended(await kept.jobs.order(over, "restart"))
        assert again.status == "done"
