"""Finding a job that a caller may see: among the kept ones, or in the ledger of those that were."""

from dataclasses import dataclass

from agents.api.error_responses import ApiError, not_found
from agents.api.ledger import Entry, Ledger, entry_of, live_tree
from agents.api.tree import TreeView
from agents.contracts.report import Quote, Reference, ReportDocument
from agents.contracts.source import SourceCard
from agents.core.errors import SourceError
from agents.jobs.service import Job
from agents.team import Team

NO_JOB = "There is no such job."


@dataclass(frozen=True)
class Found:
    """A job, and what is known of it."""

    entry: Entry
    job: Job | None
    """None when it is kept nowhere but in the ledger."""

    @property
    def tree(self) -> TreeView:
        """The tree as it stands now, or as it stood at the end."""
        if self.job is not None:
            return live_tree(self.job)
        status = self.entry.status
        empty = TreeView(status=status, stage="completed", seq=0, seconds=0.0, now=self.entry.note)
        tree = self.entry.tree or empty
        return tree.model_copy(update={"status": status, "note": tree.note or self.entry.note})


@dataclass(frozen=True)
class Quoted:
    """A quote, the reference it stands in, and the stored text it was taken from."""

    reference: Reference
    quote: Quote
    text: str


class Lookup:
    """Jobs, reports and stored texts, owner checked."""

    def __init__(self, team: Team, ledger: Ledger) -> None:
        self.team, self.ledger = team, ledger

    async def job(self, job_id: str, owner: str) -> Found:
        """Find a job.

        Raises:
            ApiError: 404; there is none, or it is somebody else's.
        """
        job = await self.team.jobs.find(job_id, owner)
        if job is not None:
            return Found(entry_of(job), job)
        entry = await self.ledger.get(job_id, owner)
        if entry is None:
            raise not_found(NO_JOB)
        return Found(entry, None)

    async def all(self, owner: str) -> list[Found]:
        """List the jobs of a caller, newest first."""
        live = {job.id: Found(entry_of(job), job) for job in self.team.jobs.of(owner)}
        past = [Found(entry, None) for entry in await self.ledger.of(owner) if entry.id not in live]
        return sorted([*live.values(), *past], key=lambda found: found.entry.created, reverse=True)

    async def report(self, found: Found) -> ReportDocument:
        """Return the report of a job.

        Raises:
            ApiError: 404; there is none (yet).
        """
        document = found.job.report if found.job is not None else None
        document = document or await self.team.shelf.report(found.entry.id)
        if document is None:
            what = "This run left no report." if found.entry.over else "The report is not written yet."
            raise ApiError(404, "no_report", what, retryable=not found.entry.over)
        return document

    async def quote(self, found: Found, document: ReportDocument, fact_id: str) -> Quoted:
        """Return a quote with the stored copy it was taken from.

        Raises:
            ApiError: 404; the report has no such quote, or the copy is gone.
        """
        for reference in document.references:
            for quote in reference.quotes:
                if quote.fact_id == fact_id:
                    return Quoted(reference, quote, await self._text(found, reference.source_id))
        raise not_found("The report holds no such quote.")

    async def _text(self, found: Found, source_id: str) -> str:
        cards: dict[str, SourceCard] = {card.id: card for card in found.entry.sources}
        card = cards.get(source_id)
        if card is None:
            raise not_found("The stored copy of this source is gone.")
        try:
            return await self.team.shelf.get(card.text_hash)
        except SourceError as error:
            raise not_found("The stored copy of this source is gone.") from error
