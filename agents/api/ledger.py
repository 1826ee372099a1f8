"""Which jobs there were, whose they are and how they ended: what outlives the process, in one small table.

The report itself lies on the shelf; here lies what the shelf does not know: owner, thread, last tree, sources' texts.
"""

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Collection
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from agents.api.tree import Tree, TreeView
from agents.contracts.contract import Contract
from agents.contracts.frozen import Frozen
from agents.contracts.job import OVER, JobStatus
from agents.contracts.report import Grade
from agents.contracts.source import SourceCard
from agents.core.events import SourceRead
from agents.jobs.blob_store import Shelf
from agents.jobs.service import Job

log = logging.getLogger(__name__)
T = TypeVar("T")

EVERY_S = 5.0
"""Seconds between two entries of a running job."""
INTERRUPTED = "The server was restarted while this ran. What it had read is kept; start it again for a report."

_DDL = """
CREATE TABLE IF NOT EXISTS dossier_jobs(
  id TEXT PRIMARY KEY, owner TEXT NOT NULL, thread_id TEXT NOT NULL, created TEXT NOT NULL, status TEXT NOT NULL,
  entry TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS ix_dossier_jobs_owner ON dossier_jobs(owner, created);
"""


class Entry(Frozen):
    """One job as it stands in the ledger."""

    id: str
    owner: str
    thread_id: str = ""
    """The chat it was started in; empty for other callers."""
    title: str
    created: str
    """ISO date and time, UTC."""
    again: int = 0
    """How often it was taken up again after it was over."""
    status: JobStatus
    grade: Grade | None = None
    note: str = ""
    """Why it ended, when it did not end well."""
    contract: Contract | None = None
    tree: TreeView | None = None
    """As it last stood; of a running job the live one is folded from its events."""
    sources: tuple[SourceCard, ...] = ()
    """What was read, with the digest of each stored text."""

    @property
    def over(self) -> bool:
        """True once nothing about it will change."""
        return self.status in OVER


def live_tree(job: Job) -> TreeView:
    """Draw the tree of a job of this process as it stands now, with what it may spend."""
    total_s = job.run.total_s(job.run.steering.limits.seconds)
    tree = Tree(job.run.events).view(job.run.now())
    return tree.model_copy(
        update={
            "minutes": None if total_s is None else total_s / 60,
            "reserve_s": job.run.reserve_s,
            "max_cost_usd": job.run.budget.limits.cost_usd,
        }
    )


def entry_of(job: Job, thread_id: str = "") -> Entry:
    """Describe a job of this process as it stands now."""
    tree = live_tree(job)
    cards = {
        numbered.event.source.id: numbered.event.source
        for numbered in job.run.events
        if isinstance(numbered.event, SourceRead)
    }
    return Entry(
        id=job.id,
        owner=job.owner,
        thread_id=thread_id,
        title=job.report.title if job.report else job.title,
        created=job.created,
        again=job.run.again,
        status=job.status,
        grade=job.report.grade if job.report else None,
        note=tree.note,
        contract=job.commission.contract,
        tree=tree,
        sources=tuple(cards.values()),
    )


class Ledger:
    """The table, in a file of its own or beside other tables."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._forgotten: set[str] = set()
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(self._open()) as db, db:
            db.executescript(_DDL)

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=10)

    async def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        def run() -> T:
            with closing(self._open()) as db, db:
                return work(db)

        return await asyncio.to_thread(run)

    async def write(self, entry: Entry) -> None:
        """Keep an entry; a later one of the same job takes its place. One that was deleted does not come back."""
        if entry.id in self._forgotten:
            return
        row = (entry.id, entry.owner, entry.thread_id, entry.created, entry.status, entry.model_dump_json())
        await self._do(lambda db: db.execute("INSERT OR REPLACE INTO dossier_jobs VALUES (?,?,?,?,?,?)", row))

    async def get(self, job_id: str, owner: str) -> Entry | None:
        """Find a job that `owner` may see."""
        found = await self._read("WHERE id = ? AND owner = ?", (job_id, owner))
        return found[0] if found else None

    async def of(self, owner: str, limit: int = 200) -> list[Entry]:
        """List the jobs that `owner` may see, newest first."""
        return await self._read("WHERE owner = ? ORDER BY created DESC, rowid DESC LIMIT ?", (owner, limit))

    async def in_thread(self, thread_id: str, owner: str) -> list[Entry]:
        """List the jobs of one chat, oldest first."""
        return await self._read("WHERE thread_id = ? AND owner = ? ORDER BY created, rowid", (thread_id, owner))

    async def mentioning(self, words: str) -> list[Entry]:
        """List the jobs of everybody whose entry holds these words."""
        return await self._read("WHERE entry LIKE ?", (f"%{words}%",))

    def forget(self, job_ids: Collection[str]) -> None:
        """Enter these jobs no more: whoever follows them to their end would write them anew after they were deleted."""
        self._forgotten.update(job_ids)

    async def _read(self, where: str, values: tuple[str | int, ...]) -> list[Entry]:
        rows = await self._do(lambda db: db.execute(f"SELECT entry FROM dossier_jobs {where}", values).fetchall())
        entries = []
        for (text,) in rows:
            try:
                entries.append(Entry.model_validate_json(text))
            except ValidationError as error:
                log.warning("an entry of the job ledger can't be read: %s", error)
        return entries

    async def follow(self, job: Job, thread_id: str = "") -> Entry:
        """Enter a job, wait for its end, and enter how it ended.

        On the way its tree is entered now and then: all that is left of a run whose process is killed.
        """
        while job.task is not None and not job.task.done():
            entry = entry_of(job, thread_id)
            await self.write(entry if entry.status == "blocked" else entry.model_copy(update={"status": "running"}))
            await asyncio.wait({job.task}, timeout=EVERY_S)
        ended = entry_of(job, thread_id)
        await self.write(ended)
        return ended

    async def open_entries(self) -> list[Entry]:
        """List what is not over as far as the ledger knows."""
        return await self._read("WHERE status NOT IN ('done', 'failed', 'cancelled')", ())

    async def settle(self, shelf: Shelf, alive: Collection[str] = ()) -> list[Entry]:
        """Close what a former process left open and nobody goes on with: with its report, else as interrupted."""
        settled = []
        for entry in await self.open_entries():
            if entry.id in alive:
                continue
            report = await shelf.report(entry.id)
            if report is not None:
                closed = entry.model_copy(update={"status": "done", "grade": report.grade, "title": report.title})
            else:
                tree = entry.tree.interrupted() if entry.tree else None
                closed = entry.model_copy(update={"status": "failed", "note": INTERRUPTED, "tree": tree})
            await self.write(closed)
            settled.append(closed)
        return settled
