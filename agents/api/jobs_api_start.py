"""Starting a research job over HTTP: the answer is a row, and manager and planner work inside the job.

What the routes keep beside the jobs: answers by idempotency key, meters.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from agents.api.error_responses import ApiError
from agents.api.metrics import Meter
from agents.api.payloads import JobRequest
from agents.contracts.contract import Brief, Query
from agents.contracts.frozen import digest
from agents.core.errors import BadRequest
from agents.core.paths import public
from agents.jobs.live_job import Job
from agents.jobs.runtime import JobRuntime
from agents.nlp.tokens import language_of
from agents.research.planning.freeze_contract import TIERS
from agents.research.scoping.authorization import minutes_of
from agents.research.scoping.inside_job import agreed
from agents.research.scoping.turn import ScopingState, checked, seeds_in
from agents.team import Team

if TYPE_CHECKING:
    from agents.run_answer import FlatRun


def pending_window_s(team: Team) -> float:
    """Seconds that the planner is waited for before its question is taken as it was asked."""
    return team.settings.planner_pending_window_ms / 1000


async def brief_of(team: Team, sent: JobRequest) -> Brief:
    """Make the brief of what was asked, without waiting for a model: the manager judges it inside the job.

    Where no model is asked anyway, the questions are judged here, in milliseconds.

    Raises:
        NotFeasible: a question is too broad; carries reasons and narrower ones.
        BadRequest: a question or the time can't be used.
    """
    texts = [checked(text) for text in (sent.queries or [sent.query or ""])]
    if len({text.casefold() for text in texts}) < len(texts):
        raise BadRequest("Two of the queries are the same. Leave one out.")
    brief = _brief(team, sent, texts, _minutes(team, sent), _assumed(texts))
    if team.engine.reasons:
        return brief
    return agreed(brief, await asyncio.gather(*(team.scope(ScopingState(), text) for text in texts)))


def _assumed(texts: list[str]) -> tuple[Query, ...]:
    """Take questions as they are; the plan that the job drafts is held against the bounds by code."""
    return tuple(
        Query(text=text, feasible=True, reason="Not judged beforehand; its plan decides.", depth_estimate=1)
        for text in texts
    )


def _brief(team: Team, sent: JobRequest, texts: list[str], minutes: float | None, queries: tuple[Query, ...]) -> Brief:
    domains = sent.domains or []
    return Brief(
        question="\n".join(texts),
        queries=queries,
        language=sent.language or language_of(texts[0]),
        mode=sent.mode or "standard",
        tier=sent.complexity_tier,
        minutes=minutes,
        domains=tuple(domain for domain in domains if not domain.startswith("-")),
        exclude_domains=tuple(domain[1:] for domain in domains if domain.startswith("-")),
        date_from=sent.dates.from_ if sent.dates else None,
        date_to=sent.dates.to if sent.dates else None,
        seed_urls=tuple(url for text in texts for url in seeds_in(text)),
        max_cost_usd=team.settings.max_cost_usd,
        today=team.today(),
    )


def _minutes(team: Team, sent: JobRequest) -> float | None:
    if sent.time is not None:
        return minutes_of(str(sent.time))
    if sent.complexity_tier and team.settings.max_execution_time_s is None:
        return TIERS[sent.complexity_tier].minutes
    return team.usual_minutes


MAX_KEY = 255
PUBLIC = "/research/jobs"


class ApiState:
    """One per server."""

    def __init__(self) -> None:
        self.meter = Meter()
        self._starting: dict[str, tuple[str, asyncio.Future[Job]]] = {}

    def run_started(self, team: Team, planned: "FlatRun", job: Job) -> None:
        """Count what the planning of a run took."""
        self.meter.planned(job, len(planned.queries), team.models["planner"].name, planned.usage)

    async def once(
        self, jobs: JobRuntime, owner: str, key: str, sent: str, start: Callable[[str], Awaitable[Job]]
    ) -> Job:
        """Start a job once per key: a second request gets the first one's job, also after a restart of the server.

        Args:
            jobs: where started jobs are found again.
            owner: whose key it is.
            key: chosen by the caller.
            sent: the whole request; another one under the same key is refused.
            start: does what is asked for, given the request's fingerprint to keep.

        Raises:
            ApiError: 422; the key was used for another request, or is no key.
        """
        if not 0 < len(key) <= MAX_KEY:
            raise ApiError(422, "bad_request", f"Idempotency-Key: give 1 to {MAX_KEY} characters")
        name, fingerprint = f"{owner}\n{key}", digest(sent)
        # Planning takes seconds in which there is no job yet: whoever asks meanwhile waits for the same one.
        if (known := self._starting.get(name)) is not None:
            if known[0] != fingerprint:
                raise _reused()
            return await asyncio.shield(known[1])
        future: asyncio.Future[Job] = asyncio.get_running_loop().create_future()
        self._starting[name] = (fingerprint, future)
        try:
            job = await jobs.requested(owner, key) or await start(fingerprint)
            if job.commission.request is None or job.commission.request.fingerprint != fingerprint:
                raise _reused()
        except BaseException as error:
            # A refusal is not remembered: the same request may succeed the next time.
            if isinstance(error, Exception):
                future.set_exception(error)
                future.exception()
            else:
                future.cancel()
            raise
        finally:
            self._starting.pop(name, None)
        future.set_result(job)
        return job


def _reused() -> ApiError:
    return ApiError(422, "idempotency_key_reused", "This Idempotency-Key was used for another request.")


def status_url(job_id: str) -> str:
    """Give the address at which a job is described."""
    return public(f"{PUBLIC}/{job_id}")
