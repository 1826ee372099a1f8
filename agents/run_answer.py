"""The answer of a run: what was planned, what came of it, as `/run`, the OpenAI-compatible face and MCP give it."""

import re
from datetime import UTC, datetime
from urllib.parse import quote as percent_encoded

from agents.contracts.frozen import Frozen, Tier
from agents.contracts.plan import RoundRecord
from agents.contracts.report import Reference
from agents.contracts.response import AgentResponse, AgentSource, Citation, PlanQuery, RunLimits, RunMetadata
from agents.core.errors import DossierError
from agents.core.events import RoundEnded
from agents.core.paths import public
from agents.jobs.job import Job
from agents.report.methodology import LIMITS
from agents.team import Team


class Stopped(DossierError):
    """The run was stopped before it had an answer."""

    notice = "The run was stopped before it had an answer."


class RunPlan(Frozen):
    """What a run was planned as, however long ago."""

    tier: Tier
    limits: RunLimits
    queries: tuple[PlanQuery, ...]

    @classmethod
    def of(cls, job: Job) -> "RunPlan":
        contract = job.commission.contract
        assert contract is not None  # a run is planned before it is started
        brief, caps, leaves = contract.brief, contract.caps, contract.plans[0].root.leaves()
        assert brief.tier is not None
        limits = RunLimits(
            max_iters=caps.rounds, max_queries=caps.searches, max_sources=caps.sources,
            max_execution_time_s=round(60 * (brief.minutes or 0), 3),
        )  # fmt: skip
        queries = tuple(PlanQuery(query=search, intent=leaf.title) for leaf in leaves for search in leaf.searches)
        return cls(tier=brief.tier, limits=limits, queries=queries)


def answer(team: Team, job: Job) -> AgentResponse:
    """Put the answer of a run that is over together.

    Raises:
        DossierError: it ended without a report.
    """
    document = job.report
    if document is None:
        raise job.error or Stopped("stopped")
    rounds = [
        one.event.record for one in job.run.events if isinstance(one.event, RoundEnded) and one.event.node == "job/0"
    ]
    adopted = [record for record in rounds if record.adopted]
    capped = bool(rounds) and rounds[-1].tag in LIMITS and rounds[-1].coverage < 1
    good = (one for one in document.sentences if one.verdict not in {"unsupported", "contradicted"})
    carrying = {number for sentence in good for number in sentence.citations}
    actual, references, plan = document.methodology.actual, document.references, RunPlan.of(job)
    sent_back = (job.summary().note or job.blocked_reason) if job.blocked_reason == "needs_rework" else ""
    metadata = RunMetadata(
        grade=document.grade, grade_reasons=document.grade_reasons, sent_back=sent_back, language=document.language,
        query_type=document.query_type, verifiable_ratio=document.verifiable_ratio,
        timestamp=datetime.now(UTC).isoformat(timespec="seconds"),
        model=team.engine.name, job_id=job.id,
        token_count=actual.tokens_in + actual.tokens_out, complexity_tier=plan.tier,
        tier_origin=job.commission.tier_origin, limits=plan.limits, queries=plan.queries,
        seconds=round(job.commission.planning_s + (actual.seconds or 0.0), 3),
        cost_usd=None if actual.cost_usd is None else round(actual.cost_usd, 6), searches=actual.searches,
        model_calls=actual.model_calls, tags=tuple(tag.tag for tag in document.methodology.tags),
        contract=document.contract.hash,
    )  # fmt: skip
    return AgentResponse(
        final_answer=document.markdown, summary=opening(document.markdown),
        # Those that carry anything: cited by a sentence that no check found wrong.
        sources=tuple(_source(one) for one in references if one.n in carrying),
        citations=tuple(
            Citation(id=f"[{one.n}]", title=one.title, type=one.kind, location=_location(one, document.job_id))
            for one in references
        ),
        confidence=_confidence(adopted[-1]) if adopted and references else 0.0, iterations=len(rounds),
        insufficient_termination=document.insufficient_termination or capped,
        degraded_mode=document.degraded_mode, error_log=document.error_log, metadata=metadata,
    )  # fmt: skip


def opening(markdown: str) -> str:
    """Give what stands before the first heading: a report opens with its short answer."""
    return re.split(r"(?m)^#{1,6} ", markdown, maxsplit=1)[0].strip()


def _source(reference: Reference) -> AgentSource:
    about = reference.model_dump(include={"title", "url", "author", "site", "published"})
    quotes = tuple(quote.text for quote in reference.quotes)
    return AgentSource(id=f"[{reference.n}]", type=reference.kind, quotes=quotes, **about)


def _location(reference: Reference, job_id: str) -> str:
    if reference.url.startswith(("http://", "https://")):
        return reference.url
    first = reference.quotes[0].fact_id if reference.quotes else ""
    return public(f"/research/jobs/{job_id}/quote/{percent_encoded(first)}#quote") if first else reference.url


def _confidence(last: RoundRecord) -> float:
    """Take the reflection's word; where none was asked, what code makes of the facts."""
    return last.confidence if last.judged is None else last.judged
