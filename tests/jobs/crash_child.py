"""A process of its own that runs one research job in a scripted world, and writes down every call it makes.

Usage: python -m tests.jobs.crash_child FOLDER [DATABASE_URL]
"""

import asyncio
import json
import os
import random
import sys
import time
from pathlib import Path

from agents.contracts.contract import Narrowing
from agents.contracts.report import Commission
from agents.core.prompts import load
from agents.core.settings import Settings
from agents.jobs.blob_store import BlobStore
from agents.jobs.config import JobStoreConfig
from agents.team import ROLES, Team
from tests.scripts import BRIEF, leaf, tree, under, working_model, world

DELAY_S = float(os.environ.get("CRASH_DELAY_S", "0.05"))
ABOUT = {
    "Closures": "On how many days was the Orvane ferry line closed in winter",
    "Costs": "What did the Orvane winter service cost",
    "Passengers": "How many passengers did the Orvane ferry carry",
}
"""Leaves and their questions; each is asked for several lines, so that no two are the same."""


def leaves(first):
    return tree(
        *(
            leaf(f"{what} {number}", f"{question} of line {number}, according to report {number * 7 % 100}?")
            for number in range(first, first + 2)
            for what, question in ABOUT.items()
        )
    )


WIDE = bool(os.environ.get("CRASH_WIDE"))
PLANS = {
    BRIEF.queries[0].text: tree(
        under("early years", *leaves(16).leaves),
        under("middle years", *leaves(18).leaves),
        under("late years", *leaves(22).leaves),
    )
    if WIDE
    else leaves(20),
}
"""Six leaves under the root; for the benchmark eighteen under three executors, and their claims challenged: 100 calls."""


class Counted:
    """A ledger of calls: who asked what, begun and ended."""

    def __init__(self, path: Path) -> None:
        self.file = path.open("a", buffering=1)

    def say(self, what, key):
        self.file.write(json.dumps([what, key, os.getpid(), time.time()]) + "\n")

    async def around(self, key, work):
        self.say("begun", key)
        await asyncio.sleep(DELAY_S * random.uniform(0.6, 1.4))
        out = await work
        self.say("ended", key)
        return out


class Model:
    reasons, name = True, "scripted"

    def __init__(self, counted):
        self.inner, self.counted = working_model(PLANS), counted

    async def reply(self, request, on_text=None):
        key = f"{request.role}:{request.given.model_dump_json()}"
        return await self.counted.around(key, self.inner.reply(request))


class Searcher:
    def __init__(self, counted):
        self.inner, self.counted, self.name = world(), counted, "scripted"

    async def search(self, query, deadline_s=None):
        return await self.counted.around(f"search:{query.text}", self.inner.search(query, deadline_s))

    async def read(self, url, deadline_s=None, known=None):
        return await self.counted.around(f"read:{url}", self.inner.read(url, deadline_s))

    async def survey(self, question):
        return await self.inner.survey(question)


def team_in(folder, url="", **where):
    counted = Counted(folder / "calls.jsonl")
    blobs = BlobStore(folder)
    from agents.jobs.client import Client

    jobs = Client(blobs, time.monotonic, JobStoreConfig(**{"poll_s": 0.05, **where}).at(folder, url), per_job=6)
    return Team(
        Settings(data_dir=folder, model="offline", max_leaves=24),
        models=dict.fromkeys([role.name for role in ROLES], Model(counted)),
        searcher=Searcher(counted), prompts=load(), blobs=blobs, sample=False, today=lambda: "2026-11-27", jobs=jobs,
    )  # fmt: skip


async def main(folder, url=""):
    team = team_in(folder, url)
    (folder / "opening").touch()
    await team.open()
    rows = await team.jobs.store.jobs()
    job = (
        team.jobs.get(rows[0].id, "ann")
        if rows
        else await team.commission(Commission(brief=BRIEF, challenge=WIDE), owner="ann")
    )
    if (gone := os.environ.get("CRASH_EXCLUDE")) and not rows:
        team.jobs.narrow(job, Narrowing(exclude_domains=(gone,)), f"without {gone}")
    if job is not None:
        await job.wait()
    await team.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:]))
