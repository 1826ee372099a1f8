"""Durable jobs, measured: overhead, crashes at seeded moments, restart, workers, events, a long list.

python tests/bench/durable.py [--all] [--crashes]   (--all: 20 crash points on each database; minutes)
"""

import asyncio
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import closing, suppress
from pathlib import Path
from statistics import quantiles

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import psycopg  # noqa: E402

from agents.contracts.report import Commission  # noqa: E402
from agents.jobs.blob_store import BlobStore  # noqa: E402
from agents.jobs.client import Client  # noqa: E402
from agents.jobs.config import JobStoreConfig, MaintenancePolicy  # noqa: E402
from agents.research.steering import Steering  # noqa: E402
from tests.jobs.conftest import Given, Word, bench_of, opened  # noqa: E402
from tests.jobs.postgres import database as database_fixture  # noqa: E402
from tests.jobs.postgres import server as server_fixture  # noqa: E402
from tests.jobs.test_crash import calls, child, cited, finished, killed_after  # noqa: E402
from tests.scripts import BRIEF  # noqa: E402

ALL = "--all" in sys.argv
os.environ["CRASH_WIDE"] = "1"


def shape(delay_s):
    """The job: 3 nodes with 4 leaves each; a leaf searches, reads 6, writes. 108 calls, six at a time."""
    rng = random.Random(1)

    async def work(text):
        await asyncio.sleep(delay_s * rng.uniform(0.8, 1.2))
        return Word(text=text * 20)

    async def leaf(ctx, given):
        await ctx.call("search", "0", work, "hit ", gives=Word)
        await ctx.fan("read", work, [(str(n), "page ") for n in range(6)], gives=Word)
        await ctx.call("section", "0", work, "text ", gives=Word)
        return await ctx.call("gate", "0", work, "good ", gives=Word)

    async def node(ctx, given):
        found = await ctx.children("leaf", [(str(n), Given(n=n)) for n in range(4)], gives=Word)
        return found[0]

    async def root(ctx):
        await ctx.children("node", [(str(n), Given(n=n)) for n in range(3)], gives=Word)

    return bench_of(root, {"leaf": leaf, "node": node})


async def in_memory(bench, jobs):
    service = Client(BlobStore(Path(tempfile.mkdtemp())), time.monotonic, JobStoreConfig())
    service.register.set_up = bench
    commission = Commission(brief=BRIEF)
    began = time.perf_counter()
    made = [await service.start(commission, bench(commission, Steering()), title="x") for _ in range(jobs)]
    for job in made:
        await job.wait()
    return time.perf_counter() - began


async def kept(bench, jobs, url=""):
    async with opened(Path(tempfile.mkdtemp()), bench, url=url, poll_s=0.2, workers=jobs, per_user=jobs) as service:
        await asyncio.sleep(1.2)  # the queue is listened to about a second after the first start
        began = time.perf_counter()
        made = [await service.start() for _ in range(jobs)]
        for job in made:
            await job.wait()
        assert all(job.status == "done" for job in made), [job.status for job in made]
        return time.perf_counter() - began


async def overhead(url):
    for delay_s in (2.0, 0.2):
        for jobs in (1, 5):
            plain = await in_memory(shape(delay_s), jobs)
            line = f"{jobs} jobs of 111 calls of {delay_s} s: plain {plain:.1f} s"
            took = await kept(shape(delay_s), jobs)
            line += f"; SQLite {took:.1f} s ({took / plain:.2f})"
            if url:
                took = await kept(shape(delay_s), jobs, url())
                line += f"; PostgreSQL {took:.1f} s ({took / plain:.2f})"
            print(line, flush=True)


async def events():
    """From `emit` to whoever follows."""
    from agents.core.events import Noted

    late, told = [], {}

    async def root(ctx):
        for n in range(200):
            told[f"job#n{n}"] = time.perf_counter()
            ctx.emit(f"n{n}", Noted(text="x"))
            await asyncio.sleep(0.01)

    async with opened(Path(tempfile.mkdtemp()), bench_of(root)) as service:
        job = await service.start()
        async for numbered in job.follow():
            if numbered and numbered.key in told:
                late.append(time.perf_counter() - told[numbered.key])
    print(f"event to a reader: p50 {quantiles(late)[1] * 1000:.0f} ms, p95 {quantiles(late, n=20)[-1] * 1000:.0f} ms")


def across(url_of):
    """From `emit` in a worker to a reader of the chat server's event stream: three processes, as in compose.yaml."""
    url, folder = url_of(), Path(tempfile.mkdtemp())
    base = {**os.environ, "DOSSIER_DATABASE_URL": url, "DOSSIER_MODEL": "offline", "RETRIEVER": "library"}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    quiet = {"cwd": ROOT, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    agents = [sys.executable, "-m", "agents"]
    processes = [
        subprocess.Popen([*agents, "worker", "--name", "one"], env=base | {"DOSSIER_DATA_DIR": f"{folder}/w"}, **quiet),
        subprocess.Popen(
            [*agents, "serve"], **quiet,
            env=base | {"DOSSIER_DATA_DIR": f"{folder}/c", "DOSSIER_RUNS_JOBS": "false", "PORT": port},
        ),
    ]  # fmt: skip
    site = f"http://127.0.0.1:{port}"
    late = []
    try:
        began = time.monotonic()
        while time.monotonic() - began < 60:
            with suppress(OSError):
                urllib.request.urlopen(f"{site}/healthz", timeout=2).close()
                break
            time.sleep(0.2)
        time.sleep(8)
        starters = json.loads((ROOT / "examples" / "starters.json").read_text("utf-8"))["starters"]
        for one in starters[:3]:
            body = json.dumps({"query": one["message"]}).encode()
            asked = urllib.request.Request(
                f"{site}/research/jobs", data=body, headers={"content-type": "application/json"}, method="POST"
            )
            try:
                with urllib.request.urlopen(asked) as answer:
                    job = json.load(answer)["job_id"]
            except urllib.error.HTTPError:
                continue  # a starter that is too broad for a job as it is
            read = {}
            with urllib.request.urlopen(f"{site}/research/jobs/{job}/events", timeout=60) as stream:
                for line in stream:
                    if line.startswith(b"id:"):
                        read[int(line[3:])] = time.time()
            with psycopg.connect(url) as connection:
                rows = connection.execute("SELECT seq, at FROM research_events WHERE job_id = %s", (job,)).fetchall()
            late += [read[seq] - at.timestamp() for seq, at in rows if seq in read]
    finally:
        for process in processes:
            process.terminate()
            process.wait(30)
    p50, p95 = quantiles(late)[1] * 1000, quantiles(late, n=20)[-1] * 1000
    print(
        f"event in a worker to a reader of the chat server's stream ({len(late)}): p50 {p50:.0f} ms, p95 {p95:.0f} ms"
    )


def crashes(url_of, points, name):
    with tempfile.TemporaryDirectory() as folder:
        document = finished(Path(folder))
        log = calls(Path(folder))
    total, gap, repeats, same, done = sum(1 for what, *_ in log if what == "ended"), [], [], 0, 0
    for seed in range(points):
        with tempfile.TemporaryDirectory() as place:
            folder, url = Path(place), url_of()
            killed_after(folder, random.Random(seed).randrange(2, total - 2), url)
            before = {key for what, key, *_ in calls(folder) if what == "ended"}
            again = finished(folder, url)
            log = calls(folder)
            last = log[-1][2]
            mine = [one for one in log if one[2] == last]
            repeats.append(sum(1 for what, key, *_ in mine if what == "begun" and key in before))
            done += 1
            same += cited(again) == cited(document)
            if mine:
                gap.append(mine[0][3] - (folder / "opening").stat().st_mtime if (folder / "opening").exists() else 0)
    print(
        f"kill -9 at {points} moments of a job of {total} calls, {name}: {done} finished, {same} with the same citations, "
        f"finished calls repeated: {sum(repeats)} in all, at most {max(repeats)}; "
        f"from opening to the first new call at most {max(gap or [0]):.1f} s",
        flush=True,
    )


def fleet(url_of):
    """Eight jobs on one worker and on two; each worker runs two at once."""
    took = {}
    for names in (("one",), ("one", "two")):
        url, folder = url_of(), Path(tempfile.mkdtemp())
        env = {**os.environ, "CRASH_DELAY_S": "2"}  # the processor shall not be the bound
        workers = [
            subprocess.Popen(
                [sys.executable, "-m", "tests.jobs.worker_child", str(folder), url, name, "2"], cwd=ROOT, env=env,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )
            for name in names
        ]  # fmt: skip

        async def eight(folder=folder, url=url, names=names):
            async with opened(folder, bench_of(None), url=url, runs=False) as service:
                dead_s = MaintenancePolicy().dead_s
                while len(await service.jobs.store.living(dead_s)) < len(names):  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
                await asyncio.sleep(3)  # each listens to the queue about a second after its start
                began = time.perf_counter()
                jobs = [await service.start(owner=f"user{n}") for n in range(8)]
                for job in jobs:
                    await job.wait()
                return time.perf_counter() - began

        took[len(names)] = asyncio.run(eight())
        for worker in workers:
            worker.kill()
    print(f"8 jobs: one worker {took[1]:.1f} s, two workers {took[2]:.1f} s ({took[1] / took[2]:.2f} times)")


async def listing():
    from agents.jobs.database import Database, async_url
    from agents.jobs.schema import jobs
    from agents.jobs.store import Store, StoredJob

    base = Database(async_url("", Path(tempfile.mkdtemp())))
    await base.open()
    text = Commission(brief=BRIEF).model_dump_json()
    async with base.begin() as connection:
        rows = [
            StoredJob(owner="ann", title=f"Question {n}", code_version="research-1").model_dump()
            | {"commission": text, "limits": "{}"}
            for n in range(10_000)
        ]
        await connection.execute(jobs.insert(), rows)
    store = Store(base)
    await store.jobs("ann")
    began = time.perf_counter()
    await store.jobs("ann", limit=50)
    page = time.perf_counter() - began
    began = time.perf_counter()
    await store.jobs("ann", limit=200, offset=9_000)
    print(f"10,000 jobs: first page {page * 1000:.0f} ms, a late one {(time.perf_counter() - began) * 1000:.0f} ms")
    await base.close()


def main():
    servers = server_fixture.__wrapped__() if hasattr(server_fixture, "__wrapped__") else None
    address = None
    try:
        address = next(servers) if servers else None
    except BaseException as error:  # a skip of pytest's
        print(f"PostgreSQL: {error}")
    made = []

    def url_of():
        made.append(database_fixture.__wrapped__(address))
        return next(made[-1])

    try:
        asyncio.run(listing())
        asyncio.run(events())
        if "--crashes" not in sys.argv:
            asyncio.run(overhead(url_of if address else None))
        crashes(lambda: "", 20 if ALL else 3, "SQLite")
        if address:
            across(url_of)
            crashes(url_of, 20 if ALL else 3, "PostgreSQL")
            fleet(url_of)
    finally:
        for one in made:
            with closing(one):
                next(one, None)
        if servers:
            next(servers, None)


if __name__ == "__main__":
    _ = child
    main()
