"""An OpenAI-compatible face: a run is a model, progress its reasoning, the report its content, citations annotations."""

import json
import re
import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field, model_validator

from agents.api.access import Here, Owner
from agents.api.error_responses import ApiError, as_api_error, body
from agents.api.payloads import ERRORS, MAX_LISTED, BoundedRoute
from agents.api.routes import event_stream
from agents.api.run_routes import STREAM_HEADERS, attended, start
from agents.contracts.frozen import Tier
from agents.contracts.response import AgentResponse
from agents.core.errors import DossierError
from agents.core.model_answers import whole_signs
from agents.jobs.live_job import Job
from agents.run_answer import FlatRun, answer
from agents.run_research import RunOptions

if TYPE_CHECKING:
    from agents.api.app_state import Site

MODELS: dict[str, Tier | None] = {
    "research": None,
    "research-simple": "simple",
    "research-standard": "standard",
    "research-deep": "deep",
}
"""Names of models, and the tier that each stands for; None detects it."""
CREATED = 1_764_201_600
"""When these models came to be, as the listing wants it."""
PIECE = 400
"""Characters of the report in one piece of a stream."""
WITHOUT_EFFECT = frozenset(
    """temperature top_p frequency_penalty presence_penalty logit_bias logprobs top_logprobs max_tokens
    max_completion_tokens stop seed user metadata store service_tier reasoning_effort verbosity response_format tools
    tool_choice parallel_tool_calls functions function_call modalities prediction audio safety_identifier
    prompt_cache_key web_search_options top_k min_p repetition_penalty chat_id session_id id""".split()
)
"""Fields that chat clients send and that mean nothing to a research run. Others are refused by name."""
MARK = re.compile(r"\[(\d{1,4})\](?!\()")

openai_face = APIRouter(tags=["OpenAI-compatible"], responses=ERRORS, route_class=BoundedRoute)


class ContentPart(BaseModel):
    """A piece of a message's content."""

    model_config = ConfigDict(extra="allow")

    type: str
    text: str | None = None


class ChatMessage(BaseModel):
    """One message of the talk."""

    model_config = ConfigDict(extra="allow")

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[ContentPart] | None = None


class StreamOptions(BaseModel):
    """What a stream holds beside its pieces."""

    model_config = ConfigDict(extra="allow")

    include_usage: bool = False


class ChatRequest(BaseModel):
    """A chat completion. The last message of the user is the task; how models sample has no meaning here."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "examples": [
                {
                    "model": "research-simple",
                    "messages": [
                        {"role": "user", "content": "In which year was the first weather satellite launched?"}
                    ],
                    "stream": False,
                }
            ]
        },
    )

    model: Annotated[str, Field(max_length=200)]
    messages: list[ChatMessage] = Field(min_length=1, max_length=20 * MAX_LISTED)
    stream: bool = False
    stream_options: StreamOptions | None = None
    n: Annotated[int, Field(ge=1, le=1)] | None = None
    """One answer; there is no other."""

    @model_validator(mode="after")
    def _known(self) -> "ChatRequest":
        if unknown := sorted(set(self.model_extra or ()) - WITHOUT_EFFECT):
            raise ValueError(f"there is no such field: {', '.join(name[:80] for name in unknown)}")
        return self


@openai_face.get("/v1/models")
async def models(owner: Owner) -> dict[str, object]:
    """List the models: one per tier, and one that detects it."""
    return {"object": "list", "data": [_model(name) for name in MODELS]}


@openai_face.get("/v1/models/{model}")
async def model(model: str, owner: Owner) -> dict[str, object]:
    """Describe one model."""
    if model not in MODELS:
        raise _no_model(model)
    return _model(model)


@openai_face.post("/v1/chat/completions", responses={200: {"content": {"text/event-stream": {}}}}, response_model=None)
async def completions(sent: ChatRequest, owner: Owner, site: Here, request: Request) -> Response:
    """Research the last message of the user. Takes as long as a run takes: give clients a time-out of minutes."""
    if sent.model not in MODELS:
        raise _no_model(sent.model)
    task = task_of(sent.messages)
    planned, job = await start(site, owner, task, RunOptions(tier=MODELS[sent.model]))
    if sent.stream:
        options = sent.stream_options or StreamOptions()
        pieces = _streamed(site, planned, job, sent.model, usage=options.include_usage)
        return StreamingResponse(pieces, media_type="text/event-stream", headers=STREAM_HEADERS)
    await attended(site, job, request)
    made = answer(site.team, planned, job)
    message = {"role": "assistant", "content": made.final_answer, "refusal": None, "annotations": annotations(made)}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    whole = _head(job, sent.model, "chat.completion") | {"choices": [choice], "usage": _usage(job, made)}
    return JSONResponse(whole | {"dossier": _extra(made)})


def task_of(messages: list[ChatMessage]) -> str:
    """Take the last words of the user.

    Raises:
        ApiError: 422; the user says nothing, or far too much.
    """
    for message in reversed(messages):
        if message.role == "user":
            parts = (
                message.content
                if isinstance(message.content, list)
                else [ContentPart(type="text", text=message.content)]
            )
            text = "\n".join(part.text for part in parts if part.type in {"text", "input_text"} and part.text).strip()
            text = str(whole_signs(text))
            if text:
                return text
            break
    raise ApiError(422, "bad_request", "messages: the last message of the user holds no text")


def annotations(made: AgentResponse) -> list[dict[str, object]]:
    """Tie every citation in the text to its source, by the place where it stands."""
    known = {citation.id: citation for citation in made.citations}
    return [
        {
            "type": "url_citation",
            "url_citation": {
                "start_index": match.start(),
                "end_index": match.end(),
                "url": known[match[0]].location,
                "title": known[match[0]].title,
            },
        }
        for match in MARK.finditer(made.final_answer)
        if match[0] in known
    ]


def _model(name: str) -> dict[str, object]:
    return {"id": name, "object": "model", "created": CREATED, "owned_by": "dossier"}


def _no_model(name: str) -> ApiError:
    return ApiError(404, "model_not_found", f"There is no model {name[:80]!r}; there are: {', '.join(MODELS)}.")


def _head(job: Job, model: str, kind: str) -> dict[str, object]:
    return {"id": f"chatcmpl-{job.id}", "object": kind, "created": int(time.time()), "model": model}


def _usage(job: Job, made: AgentResponse) -> dict[str, int]:
    spent = job.run.budget.spent
    total = made.metadata.token_count
    return {
        "prompt_tokens": total - spent.tokens_out,
        "completion_tokens": spent.tokens_out,
        "total_tokens": total,
    }


def _extra(made: AgentResponse) -> dict[str, object]:
    return {
        "confidence": made.confidence,
        "grade": made.metadata.grade,
        "iterations": made.iterations,
        "degraded_mode": made.degraded_mode,
        "job_id": made.metadata.job_id,
    }


async def _streamed(site: "Site", planned: FlatRun, job: Job, model: str, *, usage: bool) -> AsyncIterator[str]:
    """Tell the progress as reasoning, then the report; a client that goes away ends the run."""
    head = _head(job, model, "chat.completion.chunk")

    def chunk(delta: dict[str, object], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return f"data: {json.dumps(head | {'choices': [choice]}, ensure_ascii=False)}\n\n"

    try:
        plan = "; ".join(query.intent for query in planned.queries)
        yield chunk({"role": "assistant", "content": "", "reasoning_content": f"Plan ({planned.tier}): {plan}.\n"})
        async for message in event_stream(job, 0, attended=True):
            data = next((line[6:] for line in message.split("\n") if line.startswith("data: ")), "")
            if not data:
                yield ": still here\n\n"
            elif line := json.loads(data)["feed_text"]:
                yield chunk({"reasoning_content": line + "\n"})
        await job.settled()
        try:
            made = answer(site.team, planned, job)
        except DossierError as error:
            said = as_api_error(error)
            yield f"data: {json.dumps(body(said.type, said.message, retryable=said.retryable))}\n\n"
            return
        text = made.final_answer
        for place in range(0, len(text), PIECE):
            yield chunk({"content": text[place : place + PIECE]})
        yield chunk({"annotations": annotations(made)}, "stop")
        if usage:
            yield f"data: {json.dumps(head | {'choices': [], 'usage': _usage(job, made)})}\n\n"
        yield "data: [DONE]\n\n"
    finally:
        site.team.jobs.leave(job)
