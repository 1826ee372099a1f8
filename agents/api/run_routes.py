"""One task in, one answer out: `/run`, `/run-simple` and `/search`, at once, as a stream or by and by.

The same with an OpenAI-compatible face: a run is a model, progress its reasoning, the report its content, citations
annotations.
"""

import json
import re
import time
from collections.abc import AsyncIterator
from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from agents.api.app_state import Here, Owner, Site
from agents.api.error_responses import ApiError, as_api_error
from agents.api.payloads import (
    Accepted,
    ChatRequest,
    Key,
    RunRequest,
    SearchAnswer,
    SearchRequest,
    SimpleRunRequest,
    searched,
)  # fmt: skip
from agents.api.reports import event_stream, streamed
from agents.api.tree import progress
from agents.contracts.frozen import Tier
from agents.contracts.response import AgentResponse, Citation
from agents.core.errors import DossierError
from agents.core.paths import public
from agents.jobs.job import Job
from agents.run_answer import RunPlan, answer
from agents.run_research import RunBounds, RunOptions, begin

LOOKS_EVERY_S = 0.5  # seconds between two looks whether the caller is still there

runs = APIRouter(tags=["run"])

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
    return await searched(site.team, sent.query, sent.max_results)


async def _run(
    sent: SimpleRunRequest, tier: Tier | None, owner: str, site: Site, request: Request, key: str | None
) -> Response:
    wish = RunOptions(tier=tier, **sent.model_dump(include=set(RunBounds.model_fields)))
    start = partial(begin, site.team, sent.task, wish, owner)
    job = await site.once(owner, key, f"{request.url.path}{sent.model_dump_json()}{tier}", start)
    if sent.async_:
        accepted = Accepted(job_id=job.id, status_url=status_url(job.id))
        return JSONResponse(accepted.model_dump(), 202, {"Location": accepted.status_url})
    # Whoever gave a key will ask again: a connection that breaks costs them nothing.
    stop = key is None
    if sent.stream:
        return streamed(_streamed(site, job, stop=stop))
    await attended(site, job, request, stop=stop)
    return JSONResponse(answer(site.team, job).model_dump(mode="json"))


async def attended(site: Site, job: Job, request: Request, *, stop: bool = True) -> None:
    """Wait for the end of a run; with `stop`, one whose caller is gone is stopped: a 499 that nobody reads."""
    try:
        async for _ in job.follow(heartbeat_s=LOOKS_EVERY_S, attended=True):
            if await request.is_disconnected():
                raise ApiError(499, "gone", "The caller closed the connection.")
        await job.settled()
    finally:
        if stop:
            site.team.jobs.leave(job)


async def _streamed(site: Site, job: Job, *, stop: bool = True) -> AsyncIterator[str]:
    """Tell the plan, then every event of the run, then the answer; with `stop`, a caller who goes away ends the run."""

    def event(name: str, data: dict[str, object]) -> str:
        return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"

    try:
        plan = RunPlan.of(job).model_dump()
        yield event("planned", {
            "job_id": job.id, "status_url": status_url(job.id), "complexity_tier": plan["tier"],
            "limits": plan["limits"], "queries": plan["queries"],
        })  # fmt: skip
        async for piece in event_stream(job, 0, attended=True):
            yield piece
        await job.settled()
        try:
            yield event("result", answer(site.team, job).model_dump(mode="json"))
        except DossierError as error:
            yield event("error", as_api_error(error).body)
    finally:
        if stop:
            site.team.jobs.leave(job)


# ---- in OpenAI's shape

MODELS: dict[str, Tier | None] = {
    "research": None, "research-simple": "simple", "research-standard": "standard", "research-deep": "deep"
}  # fmt: skip
"""Names of models, and the tier that each stands for; None detects it."""
CREATED = 1_764_201_600  # when these models came to be, as the listing wants it
PIECE = 400  # characters of the report in one piece of a stream
MARK = re.compile(r"\[(\d{1,4})\](?!\()")

openai_face = APIRouter(tags=["OpenAI-compatible"])


@openai_face.get("/v1/models")
async def models(owner: Owner) -> dict[str, object]:
    """List the models: one per tier, and one that detects it."""
    return {"object": "list", "data": [_model(name) for name in MODELS]}


@openai_face.get("/v1/models/{model}")
async def model(model: str, owner: Owner) -> dict[str, object]:
    """Describe one model."""
    return _model(model)


def _model(name: str) -> dict[str, object]:
    if name not in MODELS:
        raise ApiError(404, "model_not_found", f"There is no model {name[:80]!r}; there are: {', '.join(MODELS)}.")
    return {"id": name, "object": "model", "created": CREATED, "owned_by": "dossier"}


@openai_face.post("/v1/chat/completions", responses={200: {"content": {"text/event-stream": {}}}}, response_model=None)
async def completions(sent: ChatRequest, owner: Owner, site: Here, request: Request) -> Response:
    """Research the last message of the user, understood with those before it.

    Takes as long as a run takes: give clients a time-out of minutes.
    """
    _model(sent.model)
    *before, last = [message.words for message in sent.messages if message.role == "user"] or [""]
    if not last:
        raise ApiError(422, "bad_request", "messages: the last message of the user holds no text")
    job = await begin(site.team, site.team.read_alone(last, before), RunOptions(tier=MODELS[sent.model]), owner)
    if sent.stream:
        return streamed(_chunks(site, job, sent.model, usage=sent.stream_options.include_usage))
    await attended(site, job, request)
    made = answer(site.team, job)
    message = {"role": "assistant", "content": made.final_answer, "refusal": None, "annotations": _annotations(made)}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    ours = {
        "confidence": made.confidence, "grade": made.metadata.grade, "iterations": made.iterations,
        "degraded_mode": made.degraded_mode, "sent_back": made.metadata.sent_back, "job_id": job.id,
    }  # fmt: skip
    whole = {"choices": [choice], "usage": _usage(job, made), "dossier": ours}
    return JSONResponse(_head(job, sent.model, "chat.completion") | whole)


def _annotations(made: AgentResponse) -> list[dict[str, object]]:
    """Tie every citation in the text to its source, by the place where it stands."""
    known = {citation.id: citation for citation in made.citations}
    found = [(match, known[match[0]]) for match in MARK.finditer(made.final_answer) if match[0] in known]

    def cited(match: re.Match[str], source: Citation) -> dict[str, object]:
        place = {"start_index": match.start(), "end_index": match.end()}
        return {"type": "url_citation", "url_citation": {**place, "url": source.location, "title": source.title}}

    return [cited(*one) for one in found]


def _head(job: Job, model: str, kind: str) -> dict[str, object]:
    return {"id": f"chatcmpl-{job.id}", "object": kind, "created": int(time.time()), "model": model}


def _usage(job: Job, made: AgentResponse) -> dict[str, int]:
    written, total = job.run.budget.spent.tokens_out, made.metadata.token_count
    return {"prompt_tokens": total - written, "completion_tokens": written, "total_tokens": total}


async def _chunks(site: Site, job: Job, model: str, *, usage: bool) -> AsyncIterator[str]:
    """Tell the progress as reasoning, then the report; a client that goes away ends the run."""
    head = _head(job, model, "chat.completion.chunk")

    def chunk(delta: dict[str, object], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return f"data: {json.dumps(head | {'choices': [choice]}, ensure_ascii=False)}\n\n"

    try:
        plan = RunPlan.of(job)
        said = f"Plan ({plan.tier}): {'; '.join(query.intent for query in plan.queries)}.\n"
        yield chunk({"role": "assistant", "content": "", "reasoning_content": said})
        async for _, line in progress(job):
            yield chunk({"reasoning_content": line + "\n"}) if line else ": still here\n\n"
        try:
            made = answer(site.team, job)
        except DossierError as error:
            yield f"data: {json.dumps(as_api_error(error).body)}\n\n"
            return
        text = made.final_answer
        for place in range(0, len(text), PIECE):
            yield chunk({"content": text[place : place + PIECE]})
        yield chunk({"annotations": _annotations(made)}, "stop")
        if usage:
            yield f"data: {json.dumps(head | {'choices': [], 'usage': _usage(job, made)})}\n\n"
        yield "data: [DONE]\n\n"
    finally:
        site.team.jobs.leave(job)
