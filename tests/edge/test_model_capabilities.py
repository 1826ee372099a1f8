"""Twenty manners of model servers, each met by scoping, extraction and writing: an answer, or the server's own reason."""

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request as Asked
from werkzeug import Response

from agents.contracts.contract import ScopingInput
from agents.contracts.fact import ExtractionInput, NumberedSentence, ShownSource
from agents.contracts.finding import NumberedFact, SectionInput
from agents.core.budget import Deadline, spent_by
from agents.core.errors import BadOutput, DossierError, ModelError
from agents.core.prompts import load
from agents.core.role import AskContext, Role
from agents.core.transport import RetryPolicy
from agents.llm.capabilities import KeptWays
from agents.llm.litellm_model import LiteLLMModel, close
from agents.research.fit_input import Rooms, ask_fitting
from agents.roles import EXTRACTOR, MANAGER, SECTION_WRITER

SENTENCES = tuple(
    NumberedSentence(number=at, text=f"In {1900 + at} the ferry of Orvelle carried {at * 31 + 7} people over the lake.")
    for at in range(1, 121)
)
GIVEN: dict[str, tuple[Role[Any, Any], Any, dict[str, Any]]] = {
    "scoping": (
        MANAGER,
        ScopingInput(message="How many people did the ferry of Orvelle carry in 1994?", today="2026-11-28", language="en"),
        {
            "reply": "One question, and a small one.", "open_questions": [], "query_type": "other", "tier": "simple",
            "language": "en",
            "queries": [{"text": "How many people did the ferry of Orvelle carry?", "feasible": True, "reason": "small",
                         "depth_estimate": 1, "suggested_split": []}],
        },
    ),
    "extraction": (
        EXTRACTOR,
        ExtractionInput(
            objective="Find the figure.", questions=("How many people did the ferry carry in 1994?",),
            sources=(ShownSource(title="The ferry", sentences=SENTENCES),),
        ),
        {"facts": [{"sentences": [94], "question": 1, "sure": 9}], "limitations": [], "contradictions": [],
         "follow_up_questions": []},
    ),
    "writing": (
        SECTION_WRITER,
        SectionInput(
            query="How many people?", title="The ferry", objective="Say how many.", questions=("How many people did the ferry carry?",), language="en",
            today="2026-11-28",
            facts=tuple(
                NumberedFact(number=one.number, statement=one.text, quote=one.text * 6, source="The ferry", source_number=1)
                for one in SENTENCES[85:100]
            ),
        ),
        {"markdown": "In 1994 the ferry carried 2921 people [f94]."},
    ),
}  # fmt: skip


@dataclass
class Call:
    """One request as the server gets it."""

    body: dict[str, Any]
    answer: str
    number: int

    @property
    def tokens(self) -> int:
        return sum(len(str(one["content"])) for one in self.body["messages"]) // 4

    @property
    def room(self) -> int:
        return int(self.body.get("max_tokens") or self.body.get("max_completion_tokens") or 0)

    @property
    def form(self) -> str:
        return str(self.body.get("response_format", {}).get("type", ""))

    def whole(self, content: Any, finish: str = "stop", tokens_in: int | None = None, **more: Any) -> Response:
        message = {"role": "assistant", "content": content, **more}
        body = {
            "id": "x", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": self.usage(tokens_in),
        }  # fmt: skip
        return self.stream(message, finish) if self.body.get("stream") else _json(body)

    def usage(self, tokens_in: int | None = None) -> dict[str, int]:
        read = tokens_in or self.tokens
        return {"prompt_tokens": read, "completion_tokens": 50, "total_tokens": read + 50}

    def stream(self, message: dict[str, Any], finish: str = "stop") -> Response:
        def piece(delta: dict[str, Any], end: str | None = None, **more: Any) -> bytes:
            choices = [{"index": 0, "delta": delta, "finish_reason": end}]
            chunk = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices}
            return f"data: {json.dumps(chunk | more)}\n\n".encode()

        def pieces() -> Iterator[bytes]:
            yield piece({"role": "assistant"})
            for name, value in message.items():
                if name == "tool_calls":
                    yield piece({name: [{"index": 0, **value[0]}]})
                elif isinstance(value, str) and name != "role":
                    yield from (piece({name: value[at : at + 40]}) for at in range(0, len(value), 40))
                elif value and name != "role":
                    yield piece({name: value})
            yield piece({}, finish)
            yield piece({}, None, choices=[], usage=self.usage())
            yield b"data: [DONE]\n\n"

        return Response(pieces(), content_type="text/event-stream")

    def refuse(self, message: str, status: int = 400, **more: Any) -> Response:
        return _json({"error": {"message": message, "code": status, **more}}, status)


def _json(body: Any, status: int = 200) -> Response:
    return Response(json.dumps(body), status, content_type="application/json")


Manner = Callable[[Call], Response]
MANNERS: dict[str, Manner] = {}
FAILS = {}
"""Manners with which no answer can come, and words of the server that the user must be shown."""


def manner(fails: str = "") -> Callable[[Manner], Manner]:
    def keep(one: Manner) -> Manner:
        MANNERS[one.__name__] = one
        if fails:
            FAILS[one.__name__] = fails
        return one

    return keep


@manner()
def plain(call: Call) -> Response:
    return call.whole(call.answer)


@manner()
def thinks_in_tags(call: Call) -> Response:
    draft = '<think>A draft: {"facts": [], "markdown": "WRONG", "reply": "WRONG"} no, again.</think>\n'
    return call.whole(draft + call.answer)


@manner()
def thinks_before_the_room_is_up(call: Call) -> Response:
    if call.room < 3_000:
        return call.whole("", "length", reasoning_content="Let me think. " * 200)
    return call.whole(call.answer, reasoning_content="Let me think. " * 500)


@manner()
def thinks_in_open_tags_until_it_is_cut(call: Call) -> Response:
    return (
        call.whole("<think>Hm. " * 100, "length")
        if call.room < 3_000
        else call.whole(f"<think>Hm.</think>{call.answer}")
    )


@manner()
def answers_in_the_field_for_thoughts(call: Call) -> Response:
    return call.whole("", reasoning_content=call.answer)


@manner()
def answers_behind_its_thoughts_unless_asked_in_words(call: Call) -> Response:
    if call.form:
        return call.whole(None, reasoning='First {"reply": "WRONG"}, then better.')
    return call.whole(call.answer, reasoning="Thinking.")


@manner()
def knows_no_system_role(call: Call) -> Response:
    if any(one["role"] == "system" for one in call.body["messages"]):
        return _json(
            {"object": "error", "message": "Conversation roles must alternate user/assistant/...", "code": 400}, 400
        )
    return call.whole(call.answer)


@manner()
def refuses_what_it_does_not_name(call: Call) -> Response:
    system = any(one["role"] == "system" for one in call.body["messages"])
    return call.refuse("Invalid request.") if call.form or system else call.whole(call.answer)


@manner()
def knows_no_schema_and_says_so_in_a_list(call: Call) -> Response:
    if call.form == "json_schema":
        said = "Invalid JSON payload received. Unknown name \"additionalProperties\" at 'generation_config.response_schema'"
        return _json([{"error": {"code": 400, "message": said, "status": "INVALID_ARGUMENT"}}], 400)
    return call.whole(call.answer)


@manner()
def fails_to_parse_a_grammar(call: Call) -> Response:
    if call.form:
        return call.refuse("JSON schema conversion failed: Unrecognized schema", 500)
    return call.whole(call.answer)


@manner()
def fails_to_write_json_now_and_then(call: Call) -> Response:
    if call.form and call.number % 2:
        return call.refuse("Failed to generate JSON. Please adjust your prompt.", code="json_validate_failed")
    return call.whole(call.answer)


@manner()
def sends_content_in_parts(call: Call) -> Response:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "WRONG"}]}
    return call.whole([thinking, {"type": "text", "text": call.answer}])


@manner()
def answers_by_a_tool_call(call: Call) -> Response:
    calls = [{"id": "c", "type": "function", "function": {"name": "json_tool_call", "arguments": call.answer}}]
    return call.whole(None, "tool_calls", tool_calls=calls)


@manner()
def answers_only_as_a_stream(call: Call) -> Response:
    if not call.body.get("stream"):
        return call.refuse("parameter.enable_thinking must be set to false for non-streaming calls")
    return call.whole(call.answer)


@manner()
def streams_unasked(call: Call) -> Response:
    return call.stream({"role": "assistant", "content": call.answer})


@manner()
def never_streams(call: Call) -> Response:
    call.body.pop("stream", None)
    return call.whole(call.answer)


@manner()
def has_a_window_of_4096(call: Call) -> Response:
    if call.tokens + call.room > 4096:
        return call.refuse(
            f"This model's maximum context length is 4096 tokens. However, you requested {call.tokens + call.room} tokens "
            f"({call.tokens} in the messages, {call.room} in the completion). Please reduce the length of the messages."
        )
    return call.whole(call.answer)


@manner()
def has_a_window_of_4096_and_thinks(call: Call) -> Response:
    if call.tokens + call.room > 4096:
        return call.refuse("the request exceeds the available context size (4096 tokens), try increasing it")
    return call.whole("", "length", reasoning_content="Hm. " * 50) if call.room < 900 else call.whole(call.answer)


@manner()
def cuts_the_front_of_what_is_too_long_unsaid(call: Call) -> Response:
    return call.whole(call.answer, tokens_in=min(call.tokens, 1_600))


@manner()
def can_afford_little(call: Call) -> Response:
    if call.room > 400:
        said = f"This request requires more credits, or fewer max_tokens. You requested up to {call.room} tokens, but can only afford 400."
        return call.refuse(said, 402)
    return call.whole(call.answer)


@manner()
def writes_half_a_sign(call: Call) -> Response:
    return call.whole(call.answer.replace("small", "small \\ud83d").replace("people", "people \\ud83d", 1))


@manner(fails="Network sign-in")
def is_a_web_page(call: Call) -> Response:
    return Response("<!DOCTYPE html><html><head><title>Network sign-in</title></head></html>", content_type="text/html")


@manner(fails="Provider returned error: Upstream fell over")
def fails_behind_a_router(call: Call) -> Response:
    return call.refuse(
        "Provider returned error", metadata={"raw": json.dumps({"error": {"message": "Upstream fell over"}})}
    )


@manner(fails="no such deployment as sim")
def knows_no_such_model(call: Call) -> Response:
    return _json({"detail": "The model was not found: no such deployment as sim"}, 404)


@manner(fails="Your key is for another region")
def refuses_the_key(call: Call) -> Response:
    return call.refuse("Your key is for another region", 401)


@manner(fails="no usable answer")
def says_nothing(call: Call) -> Response:
    return call.whole("")


@pytest.fixture(autouse=True)
async def closed() -> Any:
    yield
    await close()


async def no_wait(seconds: float) -> None:
    """Wait no time."""


@dataclass
class Served:
    """The server, and what it counted of what it answered."""

    calls: list[Call] = field(default_factory=list)
    tokens: int = 0


def serve(server: HTTPServer, one: Manner, answer: dict[str, Any]) -> Served:
    served = Served()

    def handle(asked: Asked) -> Response:
        call = Call(asked.get_json(), json.dumps(answer), len(served.calls) + 1)
        served.calls.append(call)
        response = one(call)
        if response.status_code == 200 and "html" not in response.content_type:
            read = re.search(r'"prompt_tokens": (\d+)', response.get_data(as_text=True))
            served.tokens += (int(read[1]) if read else 0) + 50
        return response

    server.expect_request("/v1/chat/completions").respond_with_handler(handle)
    return served


@pytest.mark.parametrize("step", GIVEN)
@pytest.mark.parametrize("name", MANNERS)
async def test_each_manner_ends_in_an_answer_or_in_the_servers_own_words_and_every_token_is_counted(
    httpserver: HTTPServer, name: str, step: str
) -> None:
    role, given, answer = GIVEN[step]
    served = serve(httpserver, MANNERS[name], answer)
    model = LiteLLMModel(
        "openai/sim", schema_note=lambda schema: f"Answer as JSON: {schema}", api_base=httpserver.url_for("/v1"),
        retry=RetryPolicy(longest_wait_s=math.inf, sleep=no_wait, spread=lambda: 0.0),
    )  # fmt: skip
    heard: list[str] = []

    async def on_text(text: str) -> None:
        heard.append(text)

    async def ask() -> Any:
        run = AskContext({role.name: model}, load(), Deadline.within(30.0))
        return await ask_fitting(role, given, run, Rooms(), on_text if step == "scoping" else None)

    if name in FAILS:
        with pytest.raises(DossierError) as caught:
            await ask()
        assert isinstance(caught.value, ModelError | BadOutput)
        assert FAILS[name] in caught.value.notice
        assert spent_by(caught.value).tokens == served.tokens
        assert spent_by(caught.value).calls == len(served.calls)
        return
    asked = await ask()
    assert "WRONG" not in asked.output.model_dump_json() + "".join(heard)
    assert (
        asked.output.model_dump_json() == type(asked.output).model_validate(answer).model_dump_json()
        or name == "writes_half_a_sign"
    )
    unread = name in (
        "streams_unasked",
        "sends_content_in_parts",
        "never_streams",
    )  # counted as estimated, by its question
    assert asked.usage.tokens == served.tokens or (unread and asked.usage.tokens > 0.9 * served.tokens)
    assert asked.usage.calls == len(served.calls)
    # what was found out is kept: the next call is asked rightly at once
    before = len(served.calls)
    await ask()
    assert len(served.calls) - before <= (3 if "cuts" in name else 2 if "json" in name else 1)


async def test_what_a_model_needs_is_known_at_the_next_start_and_found_out_anew_after_a_week(
    httpserver: HTTPServer, tmp_path: Path
) -> None:
    role, given, answer = GIVEN["extraction"]
    served = serve(httpserver, MANNERS["knows_no_system_role"], answer)
    clock = [1_000.0]

    async def calls_of_a_start() -> int:
        model = LiteLLMModel(
            "openai/sim", schema_note=str, api_base=httpserver.url_for("/v1"),
            retry=RetryPolicy(longest_wait_s=math.inf, sleep=no_wait, spread=lambda: 0.0), kept=KeptWays(tmp_path / "ways.json", lambda: clock[0]),
        )  # fmt: skip
        before = len(served.calls)
        await ask_fitting(role, given, AskContext({role.name: model}, load(), Deadline.within(30.0)), Rooms(), None)
        return len(served.calls) - before

    assert [await calls_of_a_start() for _ in range(2)] == [2, 1]
    clock[0] += 8 * 24 * 3_600
    assert await calls_of_a_start() == 2
    (tmp_path / "ways.json").write_text('{"openai/sim": {"since": 1e9, "window": "many"', "utf-8")
    assert await calls_of_a_start() == 2
