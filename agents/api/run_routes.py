"""`/run`, `/run-simple` and `/search`: one task in, one answer out, at once, as a stream or by and by.

What starting takes, also of a job of `/research/jobs`: the brief of what was asked, answers by idempotency key, meters.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Header, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from agents.api.access import Here, Owner
from agents.api.error_responses import ApiError, as_api_error, body
from agents.api.metrics import Meter
from agents.api.payloads import (
    ERRORS,
    Accepted,
    BoundedRoute,
    JobRequest,
    RunRequest,
    SearchAnswer,
    SearchHit,
    SearchRequest,
    SimpleRunRequest,
)
from agents.api.routes import event_stream
from agents.contracts.contract import Brief, Query
from agents.contracts.frozen import Tier, digest
from agents.contracts.response import AgentResponse
from agents.contracts.sources import SearchQuery
from agents.core.errors import BadRequest, DossierError
from agents.core.paths import public
from agents.jobs.live_job import Job
from agents.jobs.runtime import JobRuntime
from agents.nlp.tokens import language_of
from agents.research.planning.freeze_contract import TIERS
from agents.research.scoping.authorization import minutes_of
from agents.research.scoping.inside_job import agreed
from agents.research.scoping.turn import ScopingState, checked, seeds_in
from agents.run_answer import FlatRun, answer, planned_of
from agents.run_research import RunOptions, begin, begin_once, plan_run
from agents.team import Team

if TYPE_CHECKING:
    from agents.api.app_state import Site
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


SEARCH_S = 30.0
"""Seconds that one bare search may take."""
LOOKS_EVERY_S = 0.5
"""Seconds between two looks whether the caller is still there."""
STREAM_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}

runs = APIRouter(tags=["run"], responses=ERRORS, route_class=BoundedRoute)


Key = Annotated[str | None, Header(alias="Idempotency-Key", description="The same key and body: the same run.")]

ANSWERS: dict[int | str, dict[str, object]] = {
    200: {"model": AgentResponse, "description": "The answer; with `stream`, events and then the answer as `result`.",
          "content": {"text/event-stream": {"schema": {"type": "string"}}}},
    202: {"model": Accepted, "description": "With `async`: the run goes on by itself."},
}  # fmt: skip


@runs.post("/run", responses=ANSWERS, response_model=None)
async def run(sent: RunRequest, owner: Owner, site: Here, request: Request, key: Key = None) -> Response:
    """Research a task: plan, search, reflect, go on until it suffices or a bound is reached, and write with citations."""
    return await _run(sent, sent.complexity_tier, owner, site, request, key)


@runs.post("/run-simple", responses=ANSWERS, response_model=None)
async def run_simple(sent: SimpleRunRequest, owner: Owner, site: Here, request: Request, key: Key = None) -> Response:
    """Research a task within the bounds of the simple tier."""
    return await _run(sent, "simple", owner, site, request, key)


@runs.post("/search")
async def search(sent: SearchRequest, owner: Owner, site: Here) -> SearchAnswer:
    """Search once, without any research."""
    team = site.team
    found = await team.searcher.search(SearchQuery(text=sent.query, max_results=sent.max_results), SEARCH_S)
    hits = [
        SearchHit(
            title=hit.title, url=hit.url, snippet=hit.snippet, published=hit.published, provider=hit.provider or found.provider
        )
        for hit in found.hits
    ]  # fmt: skip
    return SearchAnswer(query=sent.query, provider=found.provider, results=hits[: sent.max_results])


async def _run(
    sent: SimpleRunRequest, tier: Tier | None, owner: str, site: "Site", request: Request, key: str | None
) -> Response:
    wish = RunOptions(
        memory=sent.memory,
        tier=tier, max_iters=sent.max_iters, max_queries=sent.max_queries, max_sources=sent.max_sources,
        max_execution_time_s=sent.max_execution_time_s,
    )  # fmt: skip
    if key is None:
        planned, job = await start(site, owner, sent.task, wish)
    else:

        async def begun(fingerprint: str) -> Job:
            planned = await plan_run(site.team, sent.task, wish)
            job = await begin_once(site.team, planned, owner, key, fingerprint)
            site.state.run_started(site.team, planned, job)
            return job

        said = f"{request.url.path}{sent.model_dump_json()}{tier}"
        job = await site.state.once(site.team.jobs, owner, key, said, begun)
        planned = planned_of(job)
    if sent.async_:
        accepted = {"job_id": job.id, "status_url": status_url(job.id)}
        return JSONResponse(accepted, 202, {"Location": accepted["status_url"]})
    # Whoever gave a key will ask again: a connection that breaks costs them nothing.
    stop = key is None
    if sent.stream:
        stream = _streamed(site, planned, job, stop=stop)
        return StreamingResponse(stream, media_type="text/event-stream", headers=STREAM_HEADERS)
    await attended(site, job, request, stop=stop)
    return JSONResponse(answer(site.team, planned, job).model_dump(mode="json"))


async def start(site: "Site", owner: str, task: str, wish: RunOptions) -> tuple[FlatRun, Job]:
    """Plan a task and start its run.

    Raises:
        DossierError: it is not feasible, or the planner gave nothing usable.
    """
    planned = await plan_run(site.team, task, wish)
    job = begin(site.team, planned, owner)
    site.state.run_started(site.team, planned, job)
    return planned, job


async def attended(site: "Site", job: Job, request: Request, *, stop: bool = True) -> None:
    """Wait for the end of a run; with `stop`, one whose caller is gone is stopped.

    Raises:
        ApiError: 499; the caller is gone, so nobody reads this.
    """
    try:
        async for _ in job.follow(heartbeat_s=LOOKS_EVERY_S, attended=True):
            if await request.is_disconnected():
                raise ApiError(499, "gone", "The caller closed the connection.")
        await job.settled()
    finally:
        if stop:
            site.team.jobs.leave(job)


async def _streamed(site: "Site", planned: FlatRun, job: Job, *, stop: bool = True) -> AsyncIterator[str]:
    """Tell the plan, then every event of the run, then the answer; with `stop`, a caller who goes away ends the run."""
    try:
        yield _event("planned", {
            "job_id": job.id, "status_url": status_url(job.id), "complexity_tier": planned.tier,
            "limits": planned.limits.model_dump(), "queries": [query.model_dump() for query in planned.queries],
        })  # fmt: skip
        async for piece in event_stream(job, 0, attended=True):
            yield piece
        await job.settled()
        try:
            yield _event("result", answer(site.team, planned, job).model_dump(mode="json"))
        except DossierError as error:
            said = as_api_error(error)
            yield _event("error", body(said.type, said.message, retryable=said.retryable, details=said.details))
    finally:
        if stop:
            site.team.jobs.leave(job)


def _event(name: str, data: dict[str, object]) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
