"""Finding a job that a caller may see, its report, and the stored texts behind its quotes."""

from dataclasses import dataclass

from agents.api.error_responses import ApiError, not_found
from agents.api.tree import Tree, TreeView
from agents.contracts.job import OVER
from agents.contracts.report import Quote, Reference, ReportDocument
from agents.contracts.source import SourceCard
from agents.core.errors import SourceError
from agents.core.events import SourceRead
from agents.jobs.job import Job
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
