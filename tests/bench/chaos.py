"""Whole jobs under every kind of fault, seeded: each ends in a defined state, loses nothing, pays nothing twice, leaves nothing.

    python -m tests.bench.chaos [--runs N] [--kind KIND] [--quick]

Jobs are the real ones, in the store, of real roles and real code; models and searches are scripted, and fail as told.
"""

import argparse
import asyncio
import contextlib
import errno
import gc
import json
import logging
import os
import random
import signal
import sqlite3
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from sqlalchemy.exc import OperationalError  # noqa: E402

from agents.contracts.report import Commission  # noqa: E402
from agents.contracts.sources import SearchResult  # noqa: E402
from agents.core.errors import ModelError, SearchError, SourceError  # noqa: E402
from agents.core.events import SourceRead  # noqa: E402
from agents.core.prompts import load  # noqa: E402
from agents.core.role import Reply  # noqa: E402
from agents.core.settings import Settings  # noqa: E402
from agents.jobs.blob_store import BlobStore  # noqa: E402
from agents.jobs.client import Client  # noqa: E402
from agents.jobs.config import JobStoreConfig, MaintenancePolicy  # noqa: E402
from agents.team import ROLES, Team  # noqa: E402
from tests.scripts import BRIEF, working_model, world  # noqa: E402

LIMIT_S = 60.0
"""Seconds after which a job that has not come to rest is stuck; each takes about half a second."""
IN_FLIGHT = 6
"""Calls that may be under way when a process ends, and are made again."""
HELD_UP = {"disk full", "read-only folder", "database locked", "paused and resumed"}
"""Faults after which what was under way is done again."""
RESTING = {"done", "failed", "cancelled", "blocked"}


@dataclass
class Fault:
    """What goes wrong, and how often; draws from its own seed."""

    kind: str
    seed: int
    rate: float = 0.35
    paid: Counter[str] = field(default_factory=Counter)
    """Model calls that were answered, by what was asked."""
    searched: int = 0

    def __post_init__(self):
        self.dice = random.Random(f"{self.kind}:{self.seed}")
        self.rate = self.dice.choice((0.1, 0.35, 0.8))

    def strikes(self, *kinds):
        return self.kind in kinds and self.dice.random() < self.rate


class Model:
    """Answers as the scripted worker does, or fails as the fault says."""

    reasons, name = True, "scripted"

    def __init__(self, fault):
        self.inner, self.fault = working_model(), fault

    async def reply(self, request, on_text=None):
        fault = self.fault
        await asyncio.sleep(fault.dice.uniform(0.0, 0.01))
        for kind, name in (("429", "rate"), ("500", "server"), ("hang", "timeout"), ("dropped", "connection")):
            if fault.strikes(kind):
                raise ModelError(f"scripted {kind}", fault=name, notice=f"The model failed ({kind}).")
        if fault.strikes("adapter crash"):
            raise ZeroDivisionError("nobody thought of this")
        answer = await self.inner.reply(request, on_text)
        fault.paid[f"{request.role}:{[message.content for message in request.messages]}"] += 1
        half = answer.text[: len(answer.text) // 2]
        if fault.strikes("malformed"):
            return Reply("{{ no json", answer.usage, "stop", self.name)
        if fault.strikes("truncated"):
            return Reply(half, answer.usage, "length", self.name)
        if fault.strikes("cut stream"):
            return Reply(half, answer.usage, "stop", self.name)
        if fault.strikes("empty answer"):
            return Reply("", answer.usage, "stop", self.name)
        if fault.strikes("refused"):
            return Reply("I can't help with that.", answer.usage, "refused", self.name)
        if fault.strikes("slow"):
            await asyncio.sleep(0.05)
        return answer


class Searcher:
    """Searches the scripted world, or fails as the fault says."""

    def __init__(self, fault):
        self.inner, self.fault, self.name = world(), fault, "scripted"

    async def search(self, query, deadline_s=None):
        self.fault.searched += 1
        if self.fault.strikes("search 429"):
            raise SearchError("scripted", provider=self.name)
        if self.fault.strikes("search crash"):
            raise ZeroDivisionError("nobody thought of this")
        if self.fault.strikes("search empty"):
            return SearchResult(query=query.text, provider=self.name, hits=())
        return await self.inner.search(query, deadline_s)

    async def read(self, url, deadline_s=None, known=None):
        if self.fault.strikes("dead host"):
            raise SourceError(url, "its server could not be reached", "site")
        if self.fault.strikes("broken page"):
            raise SourceError(url, "it is broken, or made to be unreadable")
        if self.fault.strikes("reader crash"):
            raise ZeroDivisionError("nobody thought of this")
        return await self.inner.read(url, deadline_s)

    async def survey(self, question="", limit=24):
        return await self.inner.survey(question, limit)


class Clock:
    """Monotonic seconds that may leap, as after a computer slept."""

    def __init__(self):
        self.leap = 0.0

    def __call__(self):
        return time.monotonic() + self.leap


def team_of(folder, fault, clock):
    """The whole program on scripts, its jobs in a store of their own."""
    policy = MaintenancePolicy(write_again_s=(0.02, 0.05, 0.1), alive_s=0.3, round_s=0.1)
    jobs = Client(BlobStore(folder), clock, JobStoreConfig(poll_s=0.02, policy=policy).at(folder), per_job=6)
    team = Team(
        Settings(data_dir=folder, model="offline", max_leaves=12),
        models=dict.fromkeys([role.name for role in ROLES], Model(fault)),
        searcher=Searcher(fault), prompts=load(), blobs=jobs.blobs, sample=False, clock=clock,
        today=lambda: "2026-11-27", jobs=jobs,
    )  # fmt: skip
    if fault.kind == "code crash":
        team._handlers = crashing(team._handlers, fault)
    return team


def crashing(handlers, fault):
    """Make one kind of branch raise what nobody foresaw, every time or now and then."""
    victim = fault.dice.choice(
        ("research", "node", "leaf", "source", "challenge", "claim", "check", "after the branches")
    )

    def some(context, brief):
        made = dict(handlers(context, brief))
        if victim == "after the branches":
            context.fallback = None
            made.pop("check")
            return made
        inner = made[victim]

        async def run(ctx, given):
            if fault.strikes("code crash"):
                raise ZeroDivisionError("nobody thought of this")
            return await inner(ctx, given)

        made[victim] = run
        return made

    return some


async def disturb(team, job, fault, clock, folder):
    """Do to a running job, or to its store, what the fault says; at a moment that its seed draws."""
    dice = fault.dice
    await asyncio.sleep(dice.uniform(0.0, 0.35))
    match fault.kind:
        case "clock jump":
            clock.leap += dice.choice((-3_600.0, 30.0, 7_200.0))
        case "stopped":
            team.jobs.stop(job)
        case "finish early" if not job.over:
            with contextlib.suppress(Exception):
                team.jobs.steer(job, "finish")
        case "paused and resumed" if job.status in {"queued", "running"}:
            with contextlib.suppress(Exception):
                await team.jobs.order(job, "pause")
                await asyncio.sleep(0.05)
                await team.jobs.order(job, "resume")
        case "disk full":
            with refusing(team, errno.ENOSPC, "database or disk is full"):
                await asyncio.sleep(dice.uniform(0.05, 0.6))
        case "read-only folder":
            with refusing(team, errno.EROFS, "attempt to write a readonly database"):
                await asyncio.sleep(dice.uniform(0.05, 0.6))
        case "corrupt store":
            for _ in range(20):  # whatever is kept is garbage as soon as it lies there
                for path in (one for one in folder.rglob("*.txt") if dice.random() < 0.5):
                    path.write_bytes(dice.randbytes(dice.randrange(300)))
                await asyncio.sleep(0.03)
        case "database locked":
            await asyncio.to_thread(hold, folder / "jobs.db", dice.uniform(0.05, 0.6))


@contextlib.contextmanager
def refusing(team, number, words):
    """Have the folder of a team take nothing for a while: neither its database nor its files."""

    def refused(*args):
        raise OperationalError("write", {}, Exception(words))

    async def unwritten(*args):
        raise OSError(number, os.strerror(number))

    database, blobs = team.jobs.store.database, team.blobs
    begin, put = database.begin, blobs.put
    database.begin, blobs.put = refused, unwritten
    try:
        yield
    finally:
        database.begin, blobs.put = begin, put


def hold(file, seconds):
    """Keep a store from being written, as another program would."""
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        time.sleep(seconds)
        other.execute("ROLLBACK")


KINDS = (
    "429", "500", "hang", "dropped", "malformed", "truncated", "cut stream", "empty answer", "refused", "slow", "adapter crash",
    "search 429", "search crash", "search empty", "dead host", "broken page", "reader crash", "code crash", "clock jump",
    "stopped", "finish early", "paused and resumed", "disk full", "read-only folder", "corrupt store", "database locked",
    "SIGTERM",
)  # fmt: skip


async def one(folder, fault):
    """Run one job under a fault; gives what was broken of the promises, empty when nothing."""
    clock, tasks = Clock(), asyncio.all_tasks()
    team = team_of(folder, fault, clock)
    await team.open()
    job = await team.commission(Commission(brief=BRIEF), owner="ann")
    attempts = 1
    disturbance = asyncio.create_task(disturb(team, job, fault, clock, folder))
    try:
        if fault.kind == "SIGTERM":
            await asyncio.sleep(fault.dice.uniform(0.0, 0.6))
            await disturbance
            await team.close()  # what the server does on SIGTERM
            team, attempts = team_of(folder, fault, clock), 2
            await team.open()
            job = await team.jobs.find(job.id, "ann") or job
        async with asyncio.timeout(LIMIT_S):
            while job.status not in RESTING or (job.status == "blocked" and not job.awaits_somebody):
                await asyncio.sleep(0.02)
                job = team.jobs.get(job.id, "ann") or job
            await disturbance
            await team.jobs.writer.flush()
        wrong = broken(job, fault, attempts)
    except TimeoutError:
        wrong = [f"stuck: {job.status}, {job.stage}"]
    finally:
        disturbance.cancel()
        await asyncio.gather(disturbance, return_exceptions=True)
        await team.close()
    left = [task.get_name() for task in asyncio.all_tasks() - tasks if not task.done()]
    return wrong + ([f"tasks left over: {left}"] if left else [])


def broken(job, fault, attempts):
    """Say which promises a job at rest has broken."""
    wrong = []
    read = {
        one.event.source.url
        for one in job.run.events
        if isinstance(one.event, SourceRead) and one.event.facts and "challenge" not in one.event.node
    }  # what a counter-search read counts only where it speaks of a claim
    if job.status == "failed" and read:
        wrong.append(f"lost: {len(read)} sources were read, and there is no report ({job.notice})")
    if job.status == "done":
        if job.report is None:
            wrong.append("done without a report")
        elif read and not job.report.references:
            wrong.append(f"lost: nothing is cited of {len(read)} sources that were read")
    twice = sum(count - 1 for count in fault.paid.values())
    bound = IN_FLIGHT if attempts > 1 or fault.kind in HELD_UP else 0
    if twice > bound:
        wrong.append(f"paid twice: {twice}")
    contract = job.commission.contract
    if contract is not None and fault.searched > contract.caps.searches + bound:
        wrong.append(f"over budget: {fault.searched} searches of {contract.caps.searches}")
    return wrong


def killed(number):
    """Kill a process of its own at a seeded moment; the next one must finish what it began, and pay little again."""
    from tests.jobs.test_crash import calls, finished, killed_after

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        folder = Path(place)
        if killed_after(folder, random.Random(number).randrange(2, 30)) != -signal.SIGKILL:
            return []  # it was done before
        done = {key for what, key, *_ in calls(folder) if what == "ended"}
        document = finished(folder)
        log = calls(folder)
        last = log[-1][2]
        again = [key for what, key, pid, _ in log if what == "begun" and pid == last and key in done]
        wrong = [] if document.references else ["lost: no reference after a kill"]
        return wrong + ([f"paid twice: {len(again)}"] if len(again) > IN_FLIGHT + 4 else [])


def state():
    """Threads and open files of this process."""
    gc.collect()
    return threading.active_count(), len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0  # noqa: PTH208


def run(kind, seed):
    """One seeded run in a folder and a loop of its own."""
    if kind == "kill -9":
        return killed(seed)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        return asyncio.run(one(Path(place), Fault(kind, seed)))


def main():
    """Run, print what was broken and a table, and fail when anything was."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--kind", default="")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    logging.disable(logging.CRITICAL)
    kinds = (given.kind,) if given.kind else KINDS
    plan = [(kinds[number % len(kinds)], given.seed + number // len(kinds)) for number in range(given.runs)]
    plan += [] if given.kind else [("kill -9", seed) for seed in range(given.kills)]
    run(kinds[0], -1)  # what is imported and opened once is no leftover
    before, began, faults = state(), time.monotonic(), []
    for number, (kind, seed) in enumerate(plan, start=1):
        if wrong := run(kind, seed):
            faults.append((kind, seed, wrong))
            print(f"{kind}, seed {seed}: {'; '.join(wrong)}", flush=True)
        if number % 50 == 0:
            print(f"{number} runs, {time.monotonic() - began:.0f} s", flush=True)
    after = state()
    print(json.dumps({
        "runs": len(plan), "kinds": len({kind for kind, _ in plan}), "broken": len(faults), "seconds": round(time.monotonic() - began),
        "threads": [before[0], after[0]], "files": [before[1], after[1]], "load": round(os.getloadavg()[0], 1),
    }))  # fmt: skip
    return int(bool(faults) or after[1] > before[1] + 8 or after[0] > before[0] + 8)


if __name__ == "__main__":
    sys.exit(main())
