"""Finding a job that a caller may see, its report, and the stored texts behind its quotes.

Texts of files that users gave: dropped once no report needs them, no run may read them, and no chat names them.
"""

import asyncio
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from agents.api.error_responses import ApiError, not_found
from agents.api.tree import Tree, TreeView
from agents.contracts.report import OVER, Quote, Reference, ReportDocument
from agents.contracts.sources import SourceCard
from agents.core.errors import SourceError
from agents.core.events import SourceRead
from agents.jobs.live_job import Job
from agents.jobs.runtime import JobRuntime
from agents.team import Team

NO_JOB = "There is no such job."


def live_tree(job: Job) -> TreeView:
    """Draw the tree of a job as it stands now, with what it may spend."""
    total_s = job.run.total_s(job.run.steering.limits.seconds)
    tree = Tree(job.run.events).view(job.run.now())
    return tree.model_copy(
        update={
            "minutes": None if total_s is None else total_s / 60,
            "reserve_s": job.run.reserve_s,
            "max_cost_usd": job.run.budget.limits.cost_usd,
        }
    )


def sources_of(job: Job) -> dict[str, SourceCard]:
    """List what a job has read, by id."""
    read = (one.event.source for one in job.run.events if isinstance(one.event, SourceRead))
    return {card.id: card for card in read}


@dataclass(frozen=True)
class Quoted:
    """A quote, the reference it stands in, and the stored text it was taken from."""

    reference: Reference
    quote: Quote
    text: str


class Lookup:
    """Jobs, reports and stored texts, owner checked."""

    def __init__(self, team: Team) -> None:
        self.team = team

    async def job(self, job_id: str, owner: str) -> Job:
        """Find a job.

        Raises:
            ApiError: 404; there is none, or it is somebody else's.
        """
        job = await self.team.jobs.find(job_id, owner)
        if job is None:
            raise not_found(NO_JOB)
        return job

    async def report(self, job: Job) -> ReportDocument:
        """Return the report of a job.

        Raises:
            ApiError: 404; there is none (yet).
        """
        document = job.report or await self.team.blobs.report(job.id)
        if document is None:
            over = job.status in OVER
            what = "This run left no report." if over else "The report is not written yet."
            raise ApiError(404, "no_report", what, retryable=not over)
        return document

    async def quote(self, job: Job, document: ReportDocument, fact_id: str) -> Quoted:
        """Return a quote with the stored copy it was taken from.

        Raises:
            ApiError: 404; the report has no such quote, or the copy is gone.
        """
        for reference in document.references:
            for quote in reference.quotes:
                if quote.fact_id == fact_id:
                    return Quoted(reference, quote, await self._text(job, reference.source_id))
        raise not_found("The report holds no such quote.")

    async def _text(self, job: Job, source_id: str) -> str:
        card = sources_of(job).get(source_id)
        if card is None:
            raise not_found("The stored copy of this source is gone.")
        try:
            return await self.team.blobs.get(card.text_hash)
        except SourceError as error:
            raise not_found("The stored copy of this source is gone.") from error


def given_to(jobs: Iterable[Job]) -> set[str]:
    """Name the texts of users' files that jobs were given."""
    contracts = (job.commission.contract for job in jobs)
    return {file.card.text_hash for contract in contracts if contract for file in contract.brief.files}


async def forget_texts(jobs: JobRuntime, chats: Path, hashes: Iterable[str]) -> tuple[str, ...]:
    """Drop those of these texts that nothing needs any more; names them.

    A text is needed by a report that quotes it, by a run that is not over, and by a chat that still names the file.

    Args:
        jobs: all jobs.
        chats: the file of the chats.
        hashes: names of texts.
    """
    dropped = []
    for name in sorted(set(hashes)):
        if not await _needed(jobs, chats, name) and await jobs.blobs.drop(name):
            dropped.append(name)
    return tuple(dropped)


async def _needed(jobs: JobRuntime, chats: Path, name: str) -> bool:
    if await asyncio.to_thread(_named_in_a_chat, chats, name):
        return True
    for job in await jobs.given_texts(name):
        if job.status not in OVER:
            return True
        sources = {card.id for card in sources_of(job).values() if card.text_hash == name}
        document = await jobs.blobs.report(job.id) if sources else None
        if document is not None and any(one.source_id in sources for one in document.references):
            return True
    return False


def _named_in_a_chat(chats: Path, name: str) -> bool:
    if not chats.exists():
        return False
    with closing(sqlite3.connect(chats, timeout=10)) as db:
        has_talks = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'dossier_talks'").fetchone()
        found = db.execute("SELECT 1 FROM dossier_talks WHERE talk LIKE ?", (f"%{name}%",)) if has_talks else None
        return found is not None and found.fetchone() is not None
