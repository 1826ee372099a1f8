"""Kept jobs on a temporary SQLite file with fast polls; handlers are small functions, the outcome a fixed one."""

import asyncio
import time
from contextlib import asynccontextmanager

import aiosqlite
import pytest

from agents.contracts.contract import Brief
from agents.contracts.frozen import Frozen
from agents.contracts.report import Commission
from agents.core.budget import Limits
from agents.jobs.blob_store import BlobStore
from agents.jobs.client import Client
from agents.jobs.config import MaintenancePolicy
from agents.jobs.job import JobSetup
from agents.report.document import build
from agents.research.steering import Steering
from tests.jobs.postgres import database, server  # noqa: F401 - fixtures, one server for all
from tests.jobs.stored_at import stored_at
from tests.quick import IN_A_THREAD
from tests.scripts import BRIEF
from tests.unit.report_world import outcome


class Word(Frozen):
    text: str


class Given(Frozen):
    n: int = 0


def bench_of(root, handlers=None, closed=None):
    """Make a workbench whose root does `root(ctx)` and comes to a fixed outcome."""

    def bench(commission: Commission, steering: Steering) -> JobSetup:
        async def research(ctx, given):
            await root(ctx)
            return outcome()

        def document(job_id, out, actual):
            return build(job_id, out, actual, engine="some/model", reasons=True)

        table = {"research": research, **(handlers or {})}
        close = (lambda: closed.append(1)) if closed is not None else (lambda: None)
        return JobSetup(handlers=table, build=document, close=close, steering=steering)

    return bench


class Kept:
    """Jobs of one process, and what their handlers are."""

    def __init__(self, jobs, bench):
        self.jobs, self.bench = jobs, bench

    async def start(self, owner="", brief: Brief = BRIEF, **kwargs):
        commission = Commission(brief=brief)
        return await self.jobs.start(
            commission, self.bench(commission, Steering()), owner=owner, title=brief.question, **kwargs
        )

    async def ended(self, job, seconds=60.0):
        await asyncio.wait_for(job.wait(), seconds)
        return job


@asynccontextmanager
async def opened(folder, bench, *, url="", policy=None, **kwargs):
    """Open the jobs of a folder; `policy` gives those seconds of the maintenance policy that differ."""
    config = stored_at(folder, url, policy=MaintenancePolicy(**(policy or {})), **kwargs)
    jobs = Client(BlobStore(folder), time.monotonic, config, per_job=6)
    await jobs.open(bench)
    try:
        yield Kept(jobs, bench)
    finally:
        await jobs.close()


@pytest.fixture(autouse=True)
def as_in_production(monkeypatch):
    """Statements run in the thread of their connection, and two of a process may wait for one another."""
    monkeypatch.setattr(aiosqlite.Connection, "_execute", IN_A_THREAD)


@pytest.fixture
def limits():
    return Limits


async def until(what, seconds=60.0):
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        if found := what():
            return found
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come about in time")


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request):
    """Where jobs are kept: a file, or a database of a server."""
    return "" if request.param == "sqlite" else request.getfixturevalue("database")
