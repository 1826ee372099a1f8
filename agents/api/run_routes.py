"""`/run`, `/run-simple` and `/search`: one task in, one answer out, at once, as a stream or by and by."""

import json
from collections.abc import AsyncIterator

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from agents.api.access import Here, Owner
from agents.api.app_state import Site
from agents.api.error_responses import ERRORS, ApiError, as_api_error
from agents.api.job_stream import STREAM_HEADERS, event_stream
from agents.api.payloads import Accepted, Key, RunRequest, SearchAnswer, SearchRequest, SimpleRunRequest
from agents.contracts.frozen import Tier
from agents.contracts.response import AgentResponse
from agents.contracts.sources import SearchQuery
from agents.core.errors import DossierError
from agents.core.paths import public
from agents.jobs.job import Job
from agents.run_answer import FlatRun, answer, planned_of
from agents.run_research import RunBounds, RunOptions, begin, begin_once, plan_run

SEARCH_S = 30.0
"""Seconds that one bare search may take."""
LOOKS_EVERY_S = 0.5
"""Seconds between two looks whether the caller is still there."""

runs = APIRouter(tags=["run"], responses=ERRORS)

ANSWERS: dict[int | str, dict[str, object]] = {
    200: {"model": AgentResponse, "description": "The answer; with `stream`, events and then the answer as `result`.",
          "content": {"text/event-stream": {"schema": {"type": "string"}}}},
    202: {"model": Accepted, "description": "With `async`: the run goes on by itself."},
}  # fmt: skip


def status_url(job_id: str) -> str:
    """Give the address at which a job is described."""
    return public(f"/research/jobs/{job_id}")


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
    found = await site.team.searcher.search(SearchQuery(text=sent.query, max_results=sent.max_results), SEARCH_S)
    first = found.hits[: sent.max_results]
    hits = [hit.model_copy(update={"provider": hit.provider or found.provider}) for hit in first]
    return SearchAnswer(query=sent.query, provider=found.provider, results=hits)


async def _run(
    sent: SimpleRunRequest, tier: Tier | None, owner: str, site: Site, request: Request, key: str | None
) -> Response:
    wish = RunOptions(tier=tier, **sent.model_dump(include=set(RunBounds.model_fields)))
    if key is None:
        planned, job = await start(site, owner, sent.task, wish)
    else:

        async def begun(fingerprint: str) -> Job:
            planned = await plan_run(site.team, sent.task, wish, owner)
            return await begin_once(site.team, planned, owner, key, fingerprint)

        job = await site.once(owner, key, f"{request.url.path}{sent.model_dump_json()}{tier}", begun)
        planned = planned_of(job)
    if sent.async_:
        accepted = Accepted(job_id=job.id, status_url=status_url(job.id))
        return JSONResponse(accepted.model_dump(), 202, {"Location": accepted.status_url})
    # Whoever gave a key will ask again: a connection that breaks costs them nothing.
    stop = key is None
    if sent.stream:
        stream = _streamed(site, planned, job, stop=stop)
        return StreamingResponse(stream, media_type="text/event-stream", headers=STREAM_HEADERS)
    await attended(site, job, request, stop=stop)
    return JSONResponse(answer(site.team, planned, job).model_dump(mode="json"))


async def start(site: Site, owner: str, task: str, wish: RunOptions) -> tuple[FlatRun, Job]:
    """Plan a task and start its run.

    Raises:
        DossierError: it is not feasible, or the planner gave nothing usable.
    """
    planned = await plan_run(site.team, task, wish, owner)
    return planned, begin(site.team, planned, owner)


async def attended(site: Site, job: Job, request: Request, *, stop: bool = True) -> None:
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


async def _streamed(site: Site, planned: FlatRun, job: Job, *, stop: bool = True) -> AsyncIterator[str]:
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
            yield _event("error", as_api_error(error).body)
    finally:
        if stop:
            site.team.jobs.leave(job)


def _event(name: str, data: dict[str, object]) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
