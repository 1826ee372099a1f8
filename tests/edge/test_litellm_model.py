"""The adapter of litellm against a provider on loopback: what goes over the wire, and what comes back."""

import asyncio
import inspect
import json
import logging
import math
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Literal

import pytest
from pydantic import Field
from pytest_httpserver import HTTPServer
from werkzeug import Request as Asked
from werkzeug import Response

from agents.contracts.frozen import Frozen, Text
from agents.core.errors import ModelError
from agents.core.events import TraceContext, traced
from agents.core.port import Pace
from agents.core.role import Message, Request
from agents.core.transport import RetryPolicy
from agents.llm.litellm_errors import WORDS, classify, redact, wait_asked
from agents.llm.litellm_model import LiteLLMModel, close, warm_up
from agents.llm.pacing import Pacing
from agents.llm.providers import key_variable
from agents.llm.wire import wire_schema

KEY = "sk-test-FAKE0000FAKE0000"
PATH = "/v1/chat/completions"
SPENT = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}


class Leaf(Frozen):
    kind: Literal["leaf"]
    title: Text
    weight: float | None = Field(default=None, ge=0, le=1)


class Answer(Frozen):
    """The words, and what code acts on."""

    reply: Text
    leaves: tuple[Leaf, ...] = Field(min_length=1, max_length=3)
    best: Leaf
    """Which one is best."""
    notes: dict[str, str] = Field(default_factory=dict)


class Silent(Frozen):
    ready: bool


GOOD = '{"reply": "The line closed.", "leaves": []}'


@pytest.fixture(scope="session", autouse=True)
def loaded() -> None:
    warm_up()


@pytest.fixture(autouse=True)
async def closed() -> AsyncIterator[None]:
    yield
    await close()


class Naps(list[float]):
    """A way to wait that takes no time and remembers how long it should have taken."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


@pytest.fixture
def naps() -> Naps:
    return Naps()


@pytest.fixture
def model(httpserver: HTTPServer, naps: Naps, monkeypatch: pytest.MonkeyPatch) -> Callable[..., LiteLLMModel]:
    def build(name: str = "openai/m-x", *, key: str = KEY, **settings: Any) -> LiteLLMModel:
        monkeypatch.setenv(key_variable(name), key)
        settings = {
            "api_base": httpserver.url_for("/v1"),
            "retry": RetryPolicy(longest_wait_s=math.inf, sleep=naps, spread=lambda: 0.0),
        } | settings
        return LiteLLMModel(name, schema_note=lambda schema: f"Answer as JSON: {schema}", **settings)

    return build


def request(gives: type[Frozen] = Answer, deadline_s: float | None = 20.0) -> Request:
    messages = (Message("system", "You plan."), Message("user", "When did the line close?"))
    return Request("planner", messages, Silent(ready=True), gives, deadline_s, 500)


def body(
    content: str | None = GOOD, finish: str = "stop", usage: dict[str, int] | None = SPENT, **message: Any
) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
    whole = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return whole | ({"usage": usage} if usage else {})


def answers(server: HTTPServer, *given: tuple[int, dict[str, Any], dict[str, str]] | dict[str, Any]) -> None:
    """Let the server give these in order; the last one for ever."""
    left = [one if isinstance(one, tuple) else (200, one, {}) for one in given]

    def handle(_: Asked) -> Response:
        status, content, headers = left.pop(0) if len(left) > 1 else left[0]
        return Response(json.dumps(content), status, headers, content_type="application/json")

    server.expect_request(PATH).respond_with_handler(handle)


def error(
    status: int, message: str = "no", headers: dict[str, str] | None = None, **more: Any
) -> tuple[int, dict[str, Any], dict[str, str]]:
    return status, {"error": {"message": message, **more}}, headers or {}


def sent(server: HTTPServer) -> list[dict[str, Any]]:
    return [asked.get_json() for asked, _ in server.log]


# ---- asking and answering


async def test_a_contract_is_asked_for_by_a_schema_that_strict_modes_take(httpserver, model):
    answers(httpserver, body())

    reply = await model().reply(request())

    assert (reply.text, reply.finish_reason, reply.model) == (GOOD, "stop", "openai/m-x")
    [asked] = sent(httpserver)
    assert asked["max_tokens"] == 500
    assert asked["response_format"]["json_schema"]["strict"] is True
    assert asked["response_format"]["json_schema"]["schema"] == wire_schema(Answer)
    assert asked["messages"][0] == {"role": "system", "content": "You plan."}
    assert httpserver.log[0][0].headers["Authorization"] == f"Bearer {KEY}"


def test_the_wire_schema_has_no_bounds_no_defaults_and_no_words_beside_a_reference():
    schema = wire_schema(Answer)

    assert schema["required"] == ["reply", "leaves", "best"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["best"] == {"$ref": "#/$defs/Leaf"}
    leaf = schema["$defs"]["Leaf"]
    assert leaf["required"] == ["kind", "title", "weight"]
    assert leaf["properties"]["kind"]["enum"] == ["leaf"]
    assert set(leaf["properties"]["title"]) == {"type"}
    assert leaf["properties"]["weight"]["anyOf"] == [{"type": "number"}, {"type": "null"}]
    assert "minItems" not in json.dumps(schema)


@pytest.mark.parametrize(("content", "usage"), [(GOOD, SPENT), (None, SPENT), ("", SPENT)])
async def test_an_answer_without_words_is_an_empty_text(httpserver, model, content, usage):
    answers(httpserver, body(content, usage=usage))

    assert (await model().reply(request())).text == (content or "")


async def test_an_answer_without_choices_is_an_empty_text(httpserver, model):
    answers(httpserver, body() | {"choices": []})

    assert (await model().reply(request())).text == ""


async def test_a_cut_answer_says_so(httpserver, model):
    answers(httpserver, body('{"reply": "The li', "length"))

    assert (await model().reply(request())).finish_reason == "length"


async def test_figures_are_the_providers_and_an_unknown_cost_is_not_zero(httpserver, model):
    answers(httpserver, body())

    usage = (await model().reply(request())).usage

    assert (usage.calls, usage.tokens_in, usage.tokens_out, usage.cost_usd) == (1, 11, 5, None)


async def test_a_known_model_has_a_cost(httpserver, model):
    answers(httpserver, body())

    assert (await model("openai/gpt-4o").reply(request())).usage.cost_usd == pytest.approx(11 * 2.5e-6 + 5 * 1e-5)


@pytest.mark.parametrize("usage", [{"prompt_tokens": 11, "completion_tokens": 5}, None])
async def test_a_model_that_is_not_paid_for_costs_nothing(httpserver, model, usage):
    answers(httpserver, body(usage=usage))

    assert (await model(free=True).reply(request())).usage.cost_usd == 0


async def test_tokens_are_estimated_where_the_provider_gives_none(httpserver, model):
    answers(httpserver, body(usage=None))

    usage = (await model("openai/gpt-4o").reply(request())).usage

    assert usage.tokens_in > 5
    assert usage.tokens_out > 5
    assert usage.cost_usd is None
    assert usage.partly_usd == pytest.approx(usage.tokens_in * 2.5e-6 + usage.tokens_out * 1e-5)  # a limit counts it


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(body(None, "content_filter"), id="filtered-empty"),
        pytest.param(body("Between 1950 and 1972 the plant", "content_filter"), id="filtered-partial"),
        pytest.param(body(None, refusal="I can't help with that."), id="refusal-field"),
        pytest.param(error(400, "The prompt was filtered.", code="content_filter"), id="prompt-blocked"),
    ],
)
async def test_a_refusal_is_told_apart_and_not_repeated(httpserver, model, given):
    answers(httpserver, given)

    with pytest.raises(ModelError) as caught:
        await model().reply(request())

    assert caught.value.fault == "refused"
    assert not caught.value.retryable
    assert "declined" in caught.value.notice
    assert len(httpserver.log) == 1


# ---- retries


@pytest.mark.parametrize(
    ("headers", "message", "nap"),
    [
        ({"Retry-After": "7"}, "no", 7),
        ({"Retry-After": "0"}, "no", 0),
        ({"retry-after-ms": "1500"}, "no", 1.5),
        ({}, "Rate limit reached. Please try again in 5.289s.", 5.289),
    ],
)
async def test_a_rate_limit_is_waited_out_as_long_as_the_provider_asks(httpserver, model, naps, headers, message, nap):
    answers(httpserver, error(429, message, headers), body())

    reply = await model().reply(request())

    assert naps == [nap]
    assert reply.usage.calls == 2


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "Thu, 14 Mar 2031 10:00:09 GMT", "date": "Thu, 14 Mar 2031 10:00:00 GMT"}, 9),
        ({"retry-after": "Thu, 14 Mar 2031 09:00:00 GMT", "date": "Thu, 14 Mar 2031 10:00:00 GMT"}, 0),
        ({"retry-after": "Thu, 14 Mar 2031 10:00:09 -0000", "date": "Thu, 14 Mar 2031 10:00:00 GMT"}, 9),
        ({"retry-after": "Fri, 14 Mar 2199 10:00:09 GMT", "date": "nonsense"}, 120),
    ],
)
def test_a_wait_may_be_given_as_a_date_by_the_providers_clock(headers, wait):
    assert wait_asked(headers, "") == wait


@pytest.mark.parametrize("value", ["soon", "-3", "nan", "inf"])
async def test_a_senseless_wait_falls_back_to_the_usual_one(httpserver, model, naps, value):
    answers(httpserver, error(429, headers={"Retry-After": value}), body())

    await model().reply(request())

    assert 2 <= naps[0] <= 3


async def test_a_wait_beyond_the_time_left_is_not_begun(httpserver, model, naps):
    answers(httpserver, error(429, headers={"Retry-After": "86400"}))

    with pytest.raises(ModelError) as caught:
        await model().reply(request(deadline_s=20))

    assert caught.value.fault == "rate"
    assert naps == []
    assert len(httpserver.log) == 1


async def test_without_a_deadline_an_absurd_wait_is_cut_down(httpserver, model, naps):
    answers(httpserver, error(429, headers={"Retry-After": "86400"}), body())

    await model().reply(request(deadline_s=None))

    assert naps == [120]


@pytest.mark.parametrize("status", [500, 502, 503, 504, 529])
async def test_a_failing_provider_is_asked_three_times(httpserver, model, naps, status):
    answers(httpserver, error(status))

    with pytest.raises(ModelError) as caught:
        await model().reply(request())

    assert caught.value.retryable
    assert len(httpserver.log) == 3
    assert 2 <= naps[0] <= 3
    assert 4 <= naps[1] <= 5


@pytest.mark.parametrize(
    ("status", "message", "fault"),
    [
        (400, "bad", "request"),
        (401, "bad", "key"),
        (402, "bad", "quota"),
        (403, "bad", "key"),
        (404, "bad", "unknown_model"),
        (413, "bad", "overflow"),
        (422, "bad", "request"),
        (429, "insufficient_quota: you exceeded your current quota", "quota"),
        (400, "maximum context length is 65536 tokens but 66056 were requested", "overflow"),
        (400, "API key not valid. Please pass a valid API key.", "key"),
    ],
)
async def test_what_waiting_does_not_mend_is_not_retried(httpserver, model, naps, status, message, fault):
    answers(httpserver, error(status, message))

    with pytest.raises(ModelError) as caught:
        await model().reply(request())

    assert caught.value.fault == fault
    plainer = (
        2 if fault == "request" else 0
    )  # nobody knows what is meant: once without a schema, once without a system role
    assert len(httpserver.log) == 1 + plainer
    assert naps == []


async def test_a_server_that_is_not_there_is_a_connection_error(model, naps):
    with pytest.raises(ModelError) as caught:
        await model(api_base="http://127.0.0.1:9/v1").reply(request())

    assert caught.value.fault == "connection"
    assert len(naps) == 2


# ---- what a provider refuses is left out


@pytest.mark.parametrize(
    ("form", "refusal", "then"),
    [
        ("schema", "response_format type json_schema is not available for this model", "object"),
        ("object", "the word json must occur in the messages to use json_object", "prompt"),
    ],
)
async def test_a_refused_response_format_is_replaced_for_good(httpserver, model, form, refusal, then):
    answers(httpserver, error(400, refusal, type="invalid_request_error"), body())
    asked = model()
    asked.ways = replace(asked.ways, structured=form)

    await asked.reply(request())
    await asked.reply(request())

    first, *later = sent(httpserver)
    assert len(later) == 2
    for call in later:
        assert call.get("response_format") == ({"type": "json_object"} if then == "object" else None)
        assert 'Answer as JSON: {"$defs"' in call["messages"][0]["content"]
        assert call["messages"][0]["content"].startswith("You plan.")
    assert "response_format" in first


@pytest.mark.parametrize(
    ("message", "param", "kept"),
    [
        (
            "max_tokens is not supported here, use max_completion_tokens",
            "max_tokens",
            {"max_completion_tokens": 500},
        ),
    ],
)
async def test_a_refused_parameter_is_not_sent_again(httpserver, model, message, param, kept):
    answers(httpserver, error(400, message, param=param, code="unsupported_parameter"), body())
    asked = model()

    await asked.reply(request())
    await asked.reply(request())

    first, *later = sent(httpserver)
    assert param in first
    for call in later:
        assert {key: call[key] for key in call if key.startswith("max_")} == kept


async def test_a_provider_that_refuses_everything_ends_the_call(httpserver, model):
    answers(
        httpserver, error(400, "temperature, max_tokens, response_format, stream_options and stream are not supported")
    )

    with pytest.raises(ModelError) as caught:
        await model().reply(request())

    assert caught.value.fault == "request"
    assert len(httpserver.log) < 10


# ---- keys


async def test_a_refused_key_names_its_variable_and_is_itself_nowhere(httpserver, model, caplog):
    answers(httpserver, error(401, f"Incorrect API key provided: {KEY}; 'Authorization': 'Bearer {KEY}'"))

    with caplog.at_level(logging.DEBUG), pytest.raises(ModelError) as caught:
        await model().reply(request())
    logging.getLogger("test").error("failed", exc_info=caught.value)

    first = (
        "The model provider refused the key. Check OPENAI_API_KEY in `.env`. It said: “Incorrect API key provided: ***;"
    )
    assert caught.value.notice.startswith(first)
    assert "Refused 401" in str(caught.value)
    for text in (str(caught.value), caught.value.notice, caplog.text, repr(caught.value.__context__)):
        assert KEY not in text
        assert "FAKE" not in text


async def test_a_missing_key_names_its_variable(monkeypatch, model, naps):
    with pytest.raises(ModelError) as caught:
        await model(key="", api_base=None).reply(request())

    assert caught.value.notice == "There is no key for the model provider. Put one into OPENAI_API_KEY in `.env`."
    assert naps == []


async def test_a_server_of_ones_own_needs_no_key(monkeypatch, httpserver, model):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    answers(httpserver, body())

    assert (await model(key="").reply(request())).text == GOOD


@pytest.mark.parametrize(
    ("text", "secret", "kept"),
    [
        ("AuthenticationError: 401 for key sk-proj-FAKEFAKEFAKEFAKE0000", "sk-proj-FAKEFAKEFAKEFAKE0000", "401"),
        ("{'Authorization': 'Bearer tvly-dev-FAKE0123456789FAKE'}", "tvly-dev-FAKE0123456789FAKE", "Authorization"),
        ("x-api-key: sk-ant-api03-FAKE-FAKE-0000 rejected", "sk-ant-api03-FAKE-FAKE-0000", "rejected"),
        ("GET https://search.example/v1?key=FAKEKEY1234567890&q=ice", "FAKEKEY1234567890", "&q=ice"),
        ("proxy error for https://bob:hunter2@proxy.corp.example:8080", "hunter2", "proxy.corp.example:8080"),
        ("invalid key: 'c0ffee00c0ffee00' (SEARCH_API_KEY)", "c0ffee00c0ffee00", "SEARCH_API_KEY"),
        ("said plainword to us", "plainword", "said"),
    ],
)
def test_secrets_are_hidden_and_the_rest_is_kept(text, secret, kept):
    hidden = redact(text, ["plainword", ""])

    assert secret not in hidden
    assert kept in hidden


@pytest.mark.parametrize(
    "text", ["temperature key: not known here", "at most 1048576 tokens: 2800010 given", "no secrets here"]
)
def test_text_without_secrets_is_left_alone(text):
    assert redact(text, ["x"]) == text


@pytest.mark.parametrize(
    ("name", "variable"),
    [("gemini/x", "GEMINI_API_KEY"), ("together_ai/a/b", "TOGETHERAI_API_KEY"), ("gpt-x", "OPENAI_API_KEY")],
)
def test_the_key_variable_is_the_providers(name, variable):
    assert key_variable(name) == variable


# ---- sorting errors


def test_exceptions_of_litellm_are_sorted():
    import litellm.exceptions

    classes = [cls for cls in vars(litellm.exceptions).values() if inspect.isclass(cls) and issubclass(cls, Exception)]

    sorted_ = {cls.__name__: classify([one.__name__ for one in cls.__mro__], None, "") for cls in classes}

    assert WORDS.classes.items() >= {name: fault for name, fault in sorted_.items() if name in WORDS.classes}.items()
    assert {name for name, fault in sorted_.items() if fault == "server"} & {"Timeout", "NotFoundError"} == set()
    assert sorted_["UnsupportedParamsError"] == "request", "a class means what the one above it means"


@pytest.mark.parametrize(
    ("status", "said", "fault"),
    [
        (400, "maximum context length is 65536 tokens but 66056 were requested", "overflow"),
        (400, "Input tokens exceed the limit of 272000; the messages resulted in 509178 tokens", "overflow"),
        (400, "the input token count (2800010) is above the maximum number of tokens allowed (1048575)", "overflow"),
        (400, "prompt is too long: 209303 tokens > 200000 maximum", "overflow"),
        (400, "The input (41000 tokens) is longer than the model's context length (32768 tokens)", "overflow"),
        (
            413,
            "Request too large for model in organization on tokens per minute: limit 6000, requested 9120",
            "overflow",
        ),
        (
            429,
            "Request too large for model in organization on tokens per minute: limit 6000, requested 9120",
            "overflow",
        ),
        (400, "messages[0].content: string too long, expected at most 1048576 characters", "overflow"),
        (400, "context overflows: the model is loaded with 45217 tokens, the first 50785 were to be kept", "overflow"),
        (400, "total length of all messages is too long", "overflow"),
        (400, "invalid value for parameter context_window_label", "request"),
        (400, "tool name is too long: at most 64 characters", "request"),
        (429, "rate limit reached on tokens per minute, try again in 5 s", "rate"),
    ],
)
def test_an_overflow_is_known_by_its_words(status, said, fault):
    name = {400: "BadRequestError", 413: "APIError", 429: "RateLimitError"}[status]

    assert classify([name], status, said) == fault


def test_quota_words_with_a_wait_mean_a_rate_limit():
    said = "You exceeded your current quota, please check your plan. Please retry in 51.2s."

    assert wait_asked({}, said) == 51.2
    assert classify(["RateLimitError"], 429, said, asks_to_wait=True) == "rate"
    assert classify(["RateLimitError"], 429, said) == "quota"


# ---- streams


def event(delta: dict[str, Any] | None = None, finish: str | None = None, usage: dict[str, int] | None = None) -> bytes:
    choices = [] if usage else [{"index": 0, "delta": delta or {}, "finish_reason": finish}]
    chunk = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices}
    return f"data: {json.dumps(chunk | ({'usage': usage} if usage else {}))}\n\n".encode()


def stream_of(text: str, *end: bytes) -> Response:
    def events() -> Iterator[bytes]:
        yield from (event({"role": "assistant", "content": text[at : at + 3]}) for at in range(0, len(text), 3))
        yield from end

    return Response(events(), content_type="text/event-stream")


class Heard(list[str]):
    async def __call__(self, piece: str) -> None:
        self.append(piece)


END = (event(finish="stop"), event(usage=SPENT), b"data: [DONE]\n\n")


async def test_a_reply_is_streamed_as_words(httpserver, model):
    text = '```json\n{"reply": "Stängt på \\"tolv\\" dagar.", "leaves": []}\n```'
    httpserver.expect_request(PATH).respond_with_handler(lambda _: stream_of(text, *END))
    heard = Heard()

    reply = await model("openai/gpt-4o").reply(request(), heard)

    assert "".join(heard) == 'Stängt på "tolv" dagar.'
    assert (reply.text, reply.usage.tokens_in, reply.usage.tokens_out) == (text, 11, 5)
    assert reply.usage.cost_usd == pytest.approx(11 * 2.5e-6 + 5 * 1e-5)
    assert sent(httpserver)[0]["stream_options"] == {"include_usage": True}


async def test_a_contract_without_a_reply_is_not_streamed(httpserver, model):
    answers(httpserver, body('{"ready": true}'))
    heard = Heard()

    await model().reply(request(Silent), heard)

    assert heard == []
    assert "stream" not in sent(httpserver)[0]


async def test_a_cut_stream_says_so(httpserver, model):
    httpserver.expect_request(PATH).respond_with_handler(
        lambda _: stream_of('{"reply": "The li', event(finish="length"))
    )

    assert (await model().reply(request(), Heard())).finish_reason == "length"


async def test_words_are_not_shown_twice_when_a_stream_breaks(httpserver, model, naps):
    httpserver.expect_ordered_request(PATH).respond_with_handler(lambda _: stream_of('{"reply": "The line clo'))
    httpserver.expect_ordered_request(PATH).respond_with_json(body())
    heard = Heard()

    reply = await model().reply(request(), heard)

    assert reply.text == GOOD
    assert len(naps) == 1
    assert "The line closed.".startswith("".join(heard))


async def test_a_stream_may_be_refused_too(httpserver, model):
    answers(httpserver, error(400, "streaming is not supported for this model"), body())
    heard = Heard()

    assert (await model().reply(request(), heard)).text == GOOD
    assert "stream" not in sent(httpserver)[1]


# ---- time


@asynccontextmanager
async def silent_server(*first: bytes) -> AsyncIterator[tuple[str, asyncio.Event, asyncio.Event]]:
    """A provider that takes the request, says `first` and then nothing; tells when it was asked and when left alone."""
    asked, left = asyncio.Event(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        if first:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            writer.write(b"".join(b"%x\r\n%b\r\n" % (len(one), one) for one in first))
        while await reader.read(1000):
            pass
        left.set()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", asked, left


@pytest.mark.parametrize(
    "first", [(), (event({"role": "assistant", "content": '{"reply": "The li'}),)], ids=["plain", "stream"]
)
async def test_a_stalled_provider_is_left_at_the_deadline(model, first):
    async with silent_server(*first) as (address, _, left):
        began = time.monotonic()

        with pytest.raises(ModelError) as caught:
            await model(api_base=address).reply(request(deadline_s=1.5), Heard() if first else None)

        assert caught.value.fault == "timeout"
        assert caught.value.notice == "The model did not answer in time."
        assert time.monotonic() - began < 20
        await asyncio.wait_for(left.wait(), 30)


async def test_pieces_that_came_already_are_read_without_a_pause(model):
    async with silent_server(*[event({"content": " "})] * 600, event({"content": GOOD}), *END) as (address, *_):
        began = time.monotonic()

        reply = await model(api_base=address).reply(request(), Heard())

        assert reply.text.strip() == GOOD
        assert time.monotonic() - began < 9  # a pause for each would take twice as long


async def test_no_time_left_means_no_request(httpserver, model):
    asked = model()
    answers(httpserver, body())
    await asked.reply(request())

    with pytest.raises(ModelError) as caught:
        await asked.reply(request(deadline_s=0))

    assert caught.value.fault == "timeout"
    assert len(httpserver.log) == 1


async def test_a_cancelled_call_is_dropped_at_once(model):
    async with silent_server() as (address, asked, left):
        task = asyncio.create_task(model(api_base=address).reply(request()))
        await asyncio.wait_for(asked.wait(), 30)

        task.cancel()

        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(left.wait(), 30)


async def test_a_cancelled_wait_ends_at_once(httpserver, model):
    answers(httpserver, error(429, headers={"Retry-After": "15"}))
    waiting = asyncio.Event()

    async def sleep(seconds: float) -> None:
        waiting.set()
        await asyncio.sleep(seconds)

    task = asyncio.create_task(
        model(retry=RetryPolicy(longest_wait_s=math.inf, sleep=sleep, spread=lambda: 0.0)).reply(request())
    )
    await asyncio.wait_for(waiting.wait(), 30)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(httpserver.log) == 1


# ---- one provider, many callers


async def test_a_pause_that_the_provider_asks_one_caller_for_holds_for_all(httpserver, model):
    """Case C10: not every caller finds out for itself."""
    arrived: list[float] = []
    told = [False]

    def handle(_: Asked) -> Response:
        arrived.append(time.monotonic())
        if not told[0]:
            told[0] = True
            return Response(json.dumps({"error": {"message": "slow down"}}), 429, {"Retry-After": "1"})
        return Response(json.dumps(body()), content_type="application/json")

    httpserver.expect_request(PATH).respond_with_handler(handle)
    gate = Pacing({"openai": Pace(at_once=1)}).gate("openai")
    callers = [model(gate=gate, retry=RetryPolicy(longest_wait_s=math.inf, spread=lambda: 0.0)) for _ in range(4)]

    replies = await asyncio.gather(*(caller.reply(request()) for caller in callers))

    assert [reply.text for reply in replies] == [GOOD] * 4
    assert sum(reply.usage.calls for reply in replies) == len(arrived) == 5
    assert min(arrived[1:]) - arrived[0] >= 0.95


async def test_a_caller_without_the_time_for_a_pause_is_told_so_and_sends_nothing(httpserver, model):
    answers(httpserver, body())
    gate = Pacing().gate("openai")
    gate.hold(30)

    with pytest.raises(ModelError) as caught:
        await model(gate=gate).reply(request(deadline_s=5.0))

    assert caught.value.fault == "rate"
    assert httpserver.log == []


async def test_no_more_requests_are_open_at_a_provider_than_its_cap_over_all_callers(httpserver, model):
    open_now, most = [0], [0]

    def handle(_: Asked) -> Response:
        open_now[0] += 1
        most[0] = max(most[0], open_now[0])
        time.sleep(0.05)
        open_now[0] -= 1
        return Response(json.dumps(body()), content_type="application/json")

    httpserver.expect_request(PATH).respond_with_handler(handle)
    gate = Pacing({"openai": Pace(at_once=2)}).gate("openai")
    callers = [model(gate=gate), model(gate=gate)]

    await asyncio.gather(*(caller.reply(request()) for caller in callers for _ in range(5)))

    assert len(httpserver.log) == 10
    assert most[0] <= 2


async def test_a_slow_spell_keeps_a_model_out_for_seconds_and_not_for_good(httpserver, model):
    """Else one call that ran out of time would leave every later run of a server without its model."""
    answers(httpserver, body())
    gate = Pacing().gate("openai")
    for _ in range(5):
        gate.pace.ran_out(60.0, 400, 300)
    assert gate.pace.room(30.0, 100) == 0 or gate.pace.room(30.0, 100) < 12

    first = await model(gate=gate).reply(request(deadline_s=30.0))

    assert first.text == GOOD
    assert (await model(gate=gate).reply(request(deadline_s=30.0))).text == GOOD
    assert gate.pace.room(30.0, 100) > 100


async def test_an_answer_that_is_cut_off_at_the_pace_of_the_server_is_told_from_one_cut_at_the_roles_own_limit(
    httpserver, model
):
    answers(httpserver, body(content='{"leaves": [{"ti', finish="length"))
    gate = Pacing().gate("openai")
    gate.pace.ran_out(20.0, 100, 100)

    slow = await model(gate=gate).reply(request(deadline_s=40.0))
    quick = await model().reply(request(deadline_s=40.0))

    assert (slow.hurried, quick.hurried) == (True, False)


# ---- callbacks


async def test_callbacks_of_the_library_are_told_the_place_of_a_call_and_the_provider_is_not(
    httpserver, model, monkeypatch
):
    import litellm
    from litellm.integrations.custom_logger import CustomLogger

    told: list[dict[str, Any]] = []
    done = asyncio.Event()

    class Kept(CustomLogger):
        async def async_log_success_event(self, kwargs, response_obj, start_time, end_time):
            told.append(kwargs["litellm_params"]["metadata"])
            done.set()

    answers(httpserver, body())
    monkeypatch.setattr(litellm, "callbacks", [Kept()])
    with traced(TraceContext("job-1", "job/0/1", "extract:0")):
        await model(callbacks=("prometheus_of_nobody",)).reply(request())
    await asyncio.wait_for(done.wait(), 60)
    expected = {"job_id": "job-1", "node": "job/0/1", "call": "extract:0", "role": "planner"}
    assert expected.items() <= told[0].items()
    assert "metadata" not in sent(httpserver)[0]


async def test_callbacks_that_are_named_are_set_once(httpserver, model, monkeypatch):
    import litellm

    monkeypatch.setattr(litellm, "callbacks", [])
    answers(httpserver, body())
    for _ in range(2):
        await model(callbacks=("prometheus_of_nobody",)).reply(request())
    assert litellm.callbacks == ["prometheus_of_nobody"]


# ---- without the library


async def test_openai_and_servers_of_ones_own_are_asked_without_loading_the_library(httpserver):
    answers(httpserver, body())
    script = f"""
import asyncio, sys
from agents.llm.litellm_model import LiteLLMModel
from tests.edge.test_litellm_model import request
model = LiteLLMModel("openai/m-x", schema_note=str, api_base={httpserver.url_for("/v1")!r})
print(asyncio.run(model.reply(request())).text, "litellm" in sys.modules)
"""
    ran = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE)

    assert (await ran.communicate())[0].decode().strip() == f"{GOOD} False"


async def test_a_model_that_speaks_another_protocol_is_asked_through_the_library(httpserver, model):
    answers(httpserver, error(404, "This is not a chat model; use v1/responses"), body())

    assert (await model().reply(request())).text == GOOD
    assert len(httpserver.log) == 2
