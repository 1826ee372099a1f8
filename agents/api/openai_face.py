"""An OpenAI-compatible face: a run is a model, progress its reasoning, the report its content, citations annotations."""

import json
import re
import time
from collections.abc import AsyncIterator
from typing import Annotated, Literal

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field, model_validator

from agents.api.access import Here, Owner
from agents.api.app_state import Site
from agents.api.error_responses import ERRORS, ApiError, as_api_error
from agents.api.job_stream import STREAM_HEADERS
from agents.api.payloads import MAX_LISTED
from agents.api.run_routes import attended, start
from agents.api.tree import progress
from agents.contracts.frozen import Tier
from agents.contracts.response import AgentResponse
from agents.core.errors import DossierError
from agents.core.model_answers import whole_signs
from agents.jobs.job import Job
from agents.run_answer import FlatRun, answer
from agents.run_research import RunOptions

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

openai_face = APIRouter(tags=["OpenAI-compatible"], responses=ERRORS)


class _Open(BaseModel):
    model_config = ConfigDict(extra="allow")


class ContentPart(_Open):
    """A piece of a message's content."""

    type: str
    text: str | None = None


class ChatMessage(_Open):
    """One message of the talk."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[ContentPart] | None = None

    @property
    def words(self) -> str:
        """What it says, pictures and sounds left out."""
        parts = [ContentPart(type="text", text=self.content)] if not isinstance(self.content, list) else self.content
        text = "\n".join(part.text for part in parts if part.type in {"text", "input_text"} and part.text)
        return str(whole_signs(text.strip()))


class StreamOptions(_Open):
    """What a stream holds beside its pieces."""

    include_usage: bool = False


class ChatRequest(_Open):
    """A chat completion. The last message of the user is the task; how models sample has no meaning here."""

    model_config = ConfigDict(
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
        }
    )

    model: Annotated[str, Field(max_length=200)]
    messages: list[ChatMessage] = Field(min_length=1, max_length=20 * MAX_LISTED)
    stream: bool = False
    stream_options: StreamOptions = StreamOptions()
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
    return _model(model)


@openai_face.post("/v1/chat/completions", responses={200: {"content": {"text/event-stream": {}}}}, response_model=None)
async def completions(sent: ChatRequest, owner: Owner, site: Here, request: Request) -> Response:
    """Research the last message of the user. Takes as long as a run takes: give clients a time-out of minutes."""
    _model(sent.model)
    last = next((message for message in reversed(sent.messages) if message.role == "user"), None)
    if last is None or not last.words:
        raise ApiError(422, "bad_request", "messages: the last message of the user holds no text")
    planned, job = await start(site, owner, last.words, RunOptions(tier=MODELS[sent.model]))
    if sent.stream:
        pieces = _streamed(site, planned, job, sent.model, usage=sent.stream_options.include_usage)
        return StreamingResponse(pieces, media_type="text/event-stream", headers=STREAM_HEADERS)
    await attended(site, job, request)
    made = answer(site.team, planned, job)
    message = {"role": "assistant", "content": made.final_answer, "refusal": None, "annotations": annotations(made)}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    ours = {
        "confidence": made.confidence,
        "grade": made.metadata.grade,
        "iterations": made.iterations,
        "degraded_mode": made.degraded_mode,
        "job_id": job.id,
    }
    whole = {"choices": [choice], "usage": _usage(job, made), "dossier": ours}
    return JSONResponse(_head(job, sent.model, "chat.completion") | whole)


def annotations(made: AgentResponse) -> list[dict[str, object]]:
    """Tie every citation in the text to its source, by the place where it stands."""
    known = {citation.id: citation for citation in made.citations}
    found = [(match, known[match[0]]) for match in MARK.finditer(made.final_answer) if match[0] in known]
    return [
        {
            "type": "url_citation",
            "url_citation": {
                "start_index": match.start(), "end_index": match.end(), "url": source.location, "title": source.title
            },
        }
        for match, source in found
    ]  # fmt: skip


def _model(name: str) -> dict[str, object]:
    if name not in MODELS:
        raise ApiError(404, "model_not_found", f"There is no model {name[:80]!r}; there are: {', '.join(MODELS)}.")
    return {"id": name, "object": "model", "created": CREATED, "owned_by": "dossier"}


def _head(job: Job, model: str, kind: str) -> dict[str, object]:
    return {"id": f"chatcmpl-{job.id}", "object": kind, "created": int(time.time()), "model": model}


def _usage(job: Job, made: AgentResponse) -> dict[str, int]:
    written, total = job.run.budget.spent.tokens_out, made.metadata.token_count
    return {"prompt_tokens": total - written, "completion_tokens": written, "total_tokens": total}


async def _streamed(site: Site, planned: FlatRun, job: Job, model: str, *, usage: bool) -> AsyncIterator[str]:
    """Tell the progress as reasoning, then the report; a client that goes away ends the run."""
    head = _head(job, model, "chat.completion.chunk")

    def chunk(delta: dict[str, object], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return f"data: {json.dumps(head | {'choices': [choice]}, ensure_ascii=False)}\n\n"

    try:
        plan = "; ".join(query.intent for query in planned.queries)
        yield chunk({"role": "assistant", "content": "", "reasoning_content": f"Plan ({planned.tier}): {plan}.\n"})
        async for _, line in progress(job):
            yield chunk({"reasoning_content": line + "\n"}) if line else ": still here\n\n"
        try:
            made = answer(site.team, planned, job)
        except DossierError as error:
            yield f"data: {json.dumps(as_api_error(error).body)}\n\n"
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
