"""Neighbours of the manners of model servers: marks of thoughts, forms of answers, streams, refusals, and waits.

Each is met by a scoping turn, or by extraction where the size of the question matters: an answer with every token in the
books, or the server's own words.
"""

import json
import math
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request as Asked
from werkzeug import Response

from agents.core.budget import Deadline, spent_by
from agents.core.errors import DossierError
from agents.core.prompts import load
from agents.core.role import AskContext, RoleAnswer
from agents.core.transport import RetryPolicy
from agents.llm.litellm_model import LiteLLMModel, close
from agents.research.fit_input import Rooms, ask_fitting
from tests.edge.test_model_capabilities import GIVEN, Call

DRAFT = 'A draft: {"reply": "WRONG", "queries": []} no, again.'
Manner = Callable[[Call], Response]


@pytest.fixture(autouse=True)
async def closed() -> Any:
    yield
    await close()


def sent(body: Any, status: int = 200, **headers: str) -> Response:
    return Response(json.dumps(body, ensure_ascii=False), status, headers, content_type="application/json")


def body(call: Call, content: Any, finish: str | None = "stop", usage: Any = None, **message: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}
    return {"id": "x", "object": "chat.completion", "choices": [choice], "usage": usage or call.usage()}


class Asking:
    """One question to a server with a manner, and what came of it."""

    def __init__(self, server: HTTPServer, manner: Manner, step: str = "scoping", base: str = "/v1") -> None:
        self.role, self.given, self.answer = GIVEN[step]
        self.calls: list[Call] = []
        self.tokens, self.naps, self.heard = 0, [], ""
        self.base, self.server, self.manner = base, server, manner
        server.expect_request(re.compile("/v1/chat/completions$")).respond_with_handler(self._handle)

    def _handle(self, asked: Asked) -> Response:
        call = Call(asked.get_json(), json.dumps(self.answer), len(self.calls) + 1)
        self.calls.append(call)
        response = self.manner(call)
        counts = re.findall(r'"(?:prompt|input)_tokens": "?(\d+)', response.get_data(as_text=True))
        if response.status_code == 200 and counts:
            self.tokens += max(map(int, counts)) + 50
        return response

    async def ask(self) -> RoleAnswer[Any]:
        async def sleep(seconds: float) -> None:
            self.naps.append(seconds)

        async def on_text(text: str) -> None:
            self.heard += text

        model = LiteLLMModel(
            "openai/sim", schema_note=lambda schema: f"Answer as JSON: {schema}", api_base=self.server.url_for(self.base),
            retry=RetryPolicy(longest_wait_s=math.inf, sleep=sleep, spread=lambda: 0.0),
        )  # fmt: skip
        run = AskContext({self.role.name: model}, load(), Deadline.within(200.0))
        return await ask_fitting(self.role, self.given, run, Rooms(), on_text)

    async def answered(self, most: int = 1) -> None:
        answer = await self.ask()
        said = answer.output.model_dump_json()
        assert said == type(answer.output).model_validate(self.answer).model_dump_json()
        assert "WRONG" not in self.heard
        assert len(self.calls) <= most
        assert (answer.usage.tokens, answer.usage.calls) == (self.tokens, len(self.calls))


# ---- thoughts

MARKS = [
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>"),
    ("analysis", "assistantfinal"),
    ("◁think▷", "◁/think▷"),
    ("<seed:think>", "</seed:think>"),
    ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
    ("<unused94>thought\n", "<unused95>"),
    ("<|begin_of_thought|>", "<|end_of_thought|><|begin_of_solution|>"),
    ("<|channel>thought\n", "<channel|>"),
    ("<antThinking>", "</antThinking>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<reflection>", "</reflection>"),
    ("<analysis>", "</analysis>"),
    ('<think time="3">', "</think>"),
    ("<|think|>", "<|/think|>"),
    ("<mm:think>", "</mm:think>"),
    ("<longcat_think>", "</longcat_think>"),
    ("", "</think>"),
    ("<think>", f"</think><think>{DRAFT}</think>"),
    ("<thinking><think>", "</think></thinking>"),
    ("<reasoning>", "</reasoning>\n<output>\n"),
    ("Here is my thought process: ", "\nHere is my response: "),
    ("<deepthink>", "</deepthink>\n"),
    ("&lt;think&gt;", "&lt;/think&gt;\n"),
    ("## Thinking\n", "\n## Answer\n"),
    ("[REASONING]\n", "\n[/REASONING]\n"),
    ("<|think|>", "<|end|><|begin|>assistant<|content|>"),
]


@pytest.mark.parametrize(("opens", "closes"), MARKS)
async def test_thoughts_are_dropped_however_a_family_of_models_marks_them(
    httpserver: HTTPServer, opens: str, closes: str
) -> None:
    await Asking(httpserver, lambda call: call.whole(f"{opens}{DRAFT}{closes}{call.answer}")).answered()


@pytest.mark.parametrize("opens", ["<think>", "<|channel|>analysis<|message|>", "<|START_THINKING|>"])
async def test_a_draft_in_thoughts_that_never_end_is_no_answer(httpserver: HTTPServer, opens: str) -> None:
    asking = Asking(httpserver, lambda call: call.whole(f"{opens}{DRAFT}"))
    with pytest.raises(DossierError) as caught:
        await asking.ask()
    assert spent_by(caught.value).tokens == asking.tokens


async def test_the_last_whole_answer_in_words_without_marks_is_the_one(httpserver: HTTPServer) -> None:
    def manner(call: Call) -> Response:
        draft = call.answer.replace("One question, and a small one.", "WRONG")
        return call.whole(f"I might say {draft} but better: {call.answer} That is all.")

    await Asking(httpserver, manner).answered()


# ---- forms of an answer


def renamed(rename: Callable[[str], str]) -> Callable[[Call], str]:
    def walk(value: Any) -> Any:
        if isinstance(value, dict):
            return {rename(key): walk(one) for key, one in value.items()}
        return [walk(one) for one in value] if isinstance(value, list) else value

    return lambda call: json.dumps(walk(json.loads(call.answer)))


TEXTS: dict[str, Callable[[Call], str]] = {
    "prose around a fence": lambda call: f"Sure:\n```json\n{call.answer}\n```\nAsk me {{if}} you need [more].",
    "as Python writes it": lambda call: str(json.loads(call.answer)),
    "keys in camels": renamed(lambda key: re.sub("_(.)", lambda found: found[1].upper(), key)),
    "keys as titles": renamed(lambda key: key.replace("_", " ").title()),
    "keys in capitals": renamed(str.upper),
    "keys with dashes": renamed(lambda key: key.replace("_", "-")),
    "words of a closed list in capitals": lambda call: call.answer.replace('"simple"', '"Simple"'),
    "truth as text": lambda call: call.answer.replace("true", '"True"').replace(": 1", ': "1"'),
    "as a call's arguments": lambda call: f'{{"name": "Scoping", "arguments": {call.answer}}}',
    "as a tool call in words": lambda call: f'<tool_call>{{"name": "x", "arguments": {call.answer}}}</tool_call>',
    "as a call in a list": lambda call: f'[TOOL_CALLS] [{{"name": "x", "arguments": {call.answer}}}]',
    "within marks of a page": lambda call: f"<result><![CDATA[{call.answer}]]></result>",
    "below properties": lambda call: f'{{"type": "object", "properties": {call.answer}}}',
    "beside a confidence": lambda call: f'{{"answer": {call.answer}, "confidence": 0.9}}',
    "in a list": lambda call: f"[{call.answer}]",
    "JSON in a text": lambda call: json.dumps(call.answer),
    "JSON in a text in JSON": lambda call: json.dumps({"json": call.answer}),
    "twice": lambda call: f"{call.answer}\n{call.answer}",
    "behind its schema": lambda call: f'{{"properties": {{"reply": {{"type": "string"}}}}}}\n\n{call.answer}',
    "with a mark of the end": lambda call: f"<|assistant|>\n{call.answer}<|im_end|>",
    "with a mark of the beginning": lambda call: f"\ufeffjson\n{call.answer}",
    "in a fence that stays open": lambda call: f"```json\n{call.answer}",
    "beside a remark": lambda call: call.answer.replace('{"reply"', '{ # for the user\n"reply"', 1),
    "with entities": lambda call: call.answer.replace('"', "&quot;"),
    "escaped": lambda call: json.dumps(json.dumps(json.loads(call.answer), indent=1))[1:-1],
    "escaped for a page": lambda call: call.answer.replace("_", "\\_").replace("[", "\\["),
    "with wide signs": lambda call: call.answer.replace('": ', '"：').replace(', "', '，"'),
    "with signs of no width": lambda call: call.answer.replace('":', '"\u200b:'),
    "in three quotes": lambda call: f'"""{call.answer}"""',
    "in two wrappers": lambda call: f'{{"status": "ok", "result": {{"data": {call.answer}}}}}',
    "an item for a list": lambda call: call.answer.replace("[{", "{").replace("}]", "}"),
    "a list by numbers": lambda call: call.answer.replace("[{", '{"0": {').replace("}]", "}}"),
    "a list as a text": lambda call: json.dumps(
        (said := json.loads(call.answer)) | {"queries": json.dumps(said["queries"])}
    ),
    "nothing for a list": lambda call: call.answer.replace('"open_questions": []', '"open_questions": null'),
    "with curved quotes": lambda call: re.sub('"([^"]*)"', "“\\1”", call.answer),
}


@pytest.mark.parametrize("name", TEXTS)
async def test_an_answer_is_read_in_each_form_that_models_give_it(httpserver: HTTPServer, name: str) -> None:
    await Asking(httpserver, lambda call: call.whole(TEXTS[name](call))).answered()


async def test_numbers_may_come_as_texts(httpserver: HTTPServer) -> None:
    def manner(call: Call) -> Response:
        return call.whole(re.sub(r"(?<![\w\"])(\d+)(?!\w)", r'"\1"', call.answer))

    await Asking(httpserver, manner, "extraction").answered()


BODIES: dict[str, Callable[[Call], Any]] = {
    "in a field for thoughts of another name": lambda call: body(call, "", thinking=call.answer),
    "in details of thoughts": lambda call: body(call, "", reasoning_details=[{"type": "reasoning.text", "text": call.answer}]),
    "thoughts as an object": lambda call: body(call, call.answer, reasoning={"content": "WRONG"}),
    "thoughts as a list": lambda call: body(call, call.answer, reasoning_content=[{"type": "text", "text": "WRONG"}]),
    "one part": lambda call: body(call, {"type": "text", "text": call.answer, "annotations": []}),
    "a part with a value": lambda call: body(call, [{"type": "text", "text": {"value": call.answer}}]),
    "an object": lambda call: body(call, json.loads(call.answer)),
    "a text beside no message": lambda call: body(call, "") | {"choices": [{"text": call.answer, "finish_reason": "stop"}]},
    "arguments as an object": lambda call: body(
        call, None, tool_calls=[{"function": {"name": "x", "arguments": json.loads(call.answer)}}]
    ),
    "nothing beside it": lambda call: body(call, call.answer, tool_calls=None, function_call=None, refusal=None),
    "wrapped by a gateway": lambda call: {"code": 0, "msg": "success", "data": body(call, call.answer)},
    "an error that is none": lambda call: body(call, call.answer) | {"error": {"code": 0, "message": ""}},
    "by another protocol": lambda call: {
        "type": "message", "content": [{"type": "text", "text": call.answer}], "usage": {"input_tokens": call.tokens, "output_tokens": 50},
    },
    "by the responses protocol": lambda call: {
        "output": [{"type": "reasoning", "summary": []}, {"type": "message", "role": "assistant", "content": [
            {"type": "output_text", "text": call.answer}]}], "usage": call.usage(),
    },
    "a message in a list": lambda call: body(call, "") | {
        "choices": [{"message": [{"role": "assistant", "content": call.answer}], "finish_reason": "stop"}]
    },
    "an end of its own": lambda call: body(call, call.answer, "eos"),
    "no end": lambda call: body(call, call.answer, None),
    "counts as texts": lambda call: body(call, call.answer, usage={k: f"{v}.0" for k, v in call.usage().items()}),
    "counts of other names": lambda call: body(
        call, call.answer, usage={"input_tokens": call.usage()["prompt_tokens"], "output_tokens": 50}
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
async def test_an_answer_is_found_wherever_a_server_puts_it(httpserver: HTTPServer, name: str) -> None:
    await Asking(httpserver, lambda call: sent(BODIES[name](call))).answered()


@pytest.mark.parametrize("usage", [[1, 2], {"prompt_tokens": -1}, "many", {"prompt_tokens": {}}])
async def test_counts_that_are_none_are_estimated(httpserver: HTTPServer, usage: Any) -> None:
    asking = Asking(httpserver, lambda call: sent(body(call, call.answer, usage=usage)))
    assert (await asking.ask()).usage.tokens > 500


@pytest.mark.parametrize(
    ("message", "finish"),
    [({"content": [{"type": "refusal", "refusal": "I will not"}]}, "stop"), ({"refusal": "I will not"}, "stop"),
     ({"content": "I will not"}, "SAFETY"), ({"content": ""}, "guardrail_intervened")],
)  # fmt: skip
async def test_a_refusal_is_known_by_whatever_name_and_asked_once(
    httpserver: HTTPServer, message: dict[str, Any], finish: str
) -> None:
    asking = Asking(
        httpserver, lambda call: sent(body(call, message.get("content"), finish, refusal=message.get("refusal")))
    )
    with pytest.raises(DossierError) as caught:
        await asking.ask()
    assert (caught.value.fault, len(asking.calls)) == ("refused", 1)
    assert "I will not" in caught.value.notice or "content" in message


@pytest.mark.parametrize("end", ["length", "MAX_TOKENS", "model_length", None])
async def test_half_an_answer_is_asked_for_again(httpserver: HTTPServer, end: str | None) -> None:
    def manner(call: Call) -> Response:
        half = call.answer[: len(call.answer) // 2] if call.number == 1 else call.answer
        return sent(body(call, half, end if call.number == 1 else "stop"))

    await Asking(httpserver, manner).answered(2)


# ---- streams


def chunk(call: Call, text: str = "", finish: str | None = None, **more: Any) -> str:
    return json.dumps({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}]} | more, ensure_ascii=False)  # fmt: skip


def chunks(call: Call) -> list[str]:
    pieces = [chunk(call, call.answer[at : at + 40]) for at in range(0, len(call.answer), 40)]
    return [*pieces, chunk(call, finish="stop", usage=call.usage())]


def stream(lines: Iterable[str], kind: str = "text/event-stream") -> Response:
    return Response([line.encode() for line in lines], content_type=kind)


STREAMS: dict[str, Manner] = {
    "comments": lambda call: stream([": ping\n\n", *(f": keep\ndata: {one}\n\n" for one in chunks(call)), "data: [DONE]\n\n"]),
    "no space, CRLF": lambda call: stream([*(f"data:{one}\r\n\r\n" for one in chunks(call)), "data:[DONE]\r\n\r\n"]),
    "a mark of the beginning": lambda call: stream(["\ufeff", *(f"data: {one}\n\n" for one in chunks(call))]),
    "an object on lines of an event": lambda call: stream(
        "".join(f"data: {line}\n" for line in json.dumps(json.loads(one), indent=1).split("\n")) + "\n" for one in chunks(call)
    ),
    "no mark of the end": lambda call: stream(f"data: {one}\n\n" for one in chunks(call)),
    "no end at all": lambda call: stream(f"data: {chunk(call, one, usage=call.usage())}\n\n" for one in (call.answer[:40], call.answer[40:])),
    "counts as the end": lambda call: stream(
        [f"data: {chunk(call, call.answer)}\n\n", f"data: {json.dumps({'choices': [], 'usage': call.usage()})}\n\n"]
    ),
    "empty events": lambda call: stream(["data: \n\n", "data:\n\n", *(f"data: {one}\n\n" for one in chunks(call))]),
    "named events": lambda call: stream(
        ['event: ping\ndata: {"type": "ping"}\n\n', *(f"event: x\nid: 3\ndata: {one}\n\n" for one in chunks(call))]
    ),
    "no choices": lambda call: stream(['data: {"choices": null}\n\n', *(f"data: {one}\n\n" for one in chunks(call))]),
    "said to be JSON": lambda call: stream([f"data: {one}\n\n" for one in chunks(call)], "application/json"),
    "said to be text": lambda call: stream([f"data: {one}\n\n" for one in chunks(call)], "text/plain"),
    "an object a line": lambda call: stream([f"{one}\n" for one in chunks(call)], "application/x-ndjson"),
    "one object on many lines": lambda call: Response(json.dumps(body(call, call.answer), indent=2)),
}  # fmt: skip


@pytest.mark.parametrize("name", STREAMS)
async def test_a_stream_is_read_in_each_form(httpserver: HTTPServer, name: str) -> None:
    asking = Asking(httpserver, STREAMS[name])
    await asking.answered()
    assert asking.heard


async def test_a_line_of_a_stream_ends_where_json_lets_it_end(httpserver: HTTPServer) -> None:
    words = "One\u2028question,\u0085and a small one."

    def manner(call: Call) -> Response:
        answer = call.answer.replace("One question, and a small one.", words)
        return stream([f"data: {chunk(call, answer, 'stop', usage=call.usage())}\n\n"])

    assert (await Asking(httpserver, manner).ask()).output.reply == words


@pytest.mark.parametrize(
    "line",
    ['data: {"error": {"message": "Engine died"}}', 'event: error\ndata: {"message": "Engine died"}',
     'error: {"code": 500, "message": "Engine died"}',
     'data: {"choices": [{"delta": {}, "finish_reason": "error", "error": {"message": "Engine died"}}]}'],
)  # fmt: skip
async def test_an_error_in_a_stream_is_told_in_its_words(httpserver: HTTPServer, line: str) -> None:
    asking = Asking(httpserver, lambda call: stream([f"data: {chunk(call)}\n\n", f"{line}\n\n"]))
    with pytest.raises(DossierError) as caught:
        await asking.ask()
    assert "Engine died" in caught.value.notice
    assert spent_by(caught.value).calls == len(asking.calls) == 3


# ---- refusals of a way to ask

ANSWERED_IN: list[tuple[str, int, str]] = [
    *(("system", status, said) for status, said in (
        (500, "Jinja Exception: System role not supported"),
        (422, "Input should be 'user', 'assistant' or 'tool' (messages[0].role)"),
        (400, "Message role 'system' is not allowed. Use 'developer' instead."),
        (400, "unexpected role: system"),
    )),
    *(("form", status, said) for status, said in (
        (400, "This model does not support response_format"), (422, "response_format: Extra inputs are not permitted"),
        (400, "Failed to compile json schema: unsupported keyword $defs"), (500, "Internal Server Error"),
        (400, "Function calling with response mime type 'application/json' is unsupported"), (501, "Not Implemented"),
        (404, "No endpoints found that can handle the requested parameters."), (500, "llguidance: grammar error"),
        (400, "constrained decoding backend is disabled"),
    )),
    *(("room", status, said) for status, said in (
        (400, "max_tokens is too large: {room}. This model supports at most 1024 completion tokens."),
        (400, "max_tokens: {room} > 1024, which is the maximum allowed number of output tokens"),
        (400, "Range of max_tokens should be [1, 1024]"), (422, "max_tokens: ensure this value is less than or equal to 1024"),
        (400, "The maximum tokens you requested exceeds the model limit of 1024."),
        (400, "too many tokens: max tokens must be between 1 and 1024, got {room}"),
        (400, "The value of max_tokens exceeds the maximum output length 1024"),
        (400, "The requested max_tokens exceeds this deployment's output token limit (1024)."),
    )),
    *(("window", status, said) for status, said in (
        (400, "prompt is too long: {read} tokens > 1500 maximum"), (400, "Input is too long for requested model."),
        (422, "Input validation error: `inputs` must have less than 1500 tokens. Given: {read}"),
        (400, "Range of input length should be [1, 1500]"), (400, "Prompt exceeds max length"),
        (400, "This model's maximum prompt length is 1500 but the request contains {read} tokens."),
        (400, "输入长度超过模型最大上下文长度限制 (1500)"), (400, "Context length {read} is greater than max_seq_len 1500"),
        (400, "Input tokens ({read}) exceed the configured limit of 1500 tokens."),
        (400, "Trying to keep the first {read} tokens when context the overflows. However, the model is loaded with context "
              "length of only 1500 tokens"),
    )),
]  # fmt: skip
REFUSES: dict[str, Callable[[Call], bool]] = {
    "system": lambda call: any(one["role"] == "system" for one in call.body["messages"]),
    "form": lambda call: bool(call.form),
    "room": lambda call: call.room > 1024,
    "window": lambda call: call.tokens > 1500,
}


@pytest.mark.parametrize(("about", "status", "said"), ANSWERED_IN)
async def test_what_a_server_refuses_is_left_out_in_whatever_words_it_does(
    httpserver: HTTPServer, about: str, status: int, said: str
) -> None:
    def manner(call: Call) -> Response:
        if REFUSES[about](call):
            return call.refuse(said.format(room=call.room, read=call.tokens), status)
        return call.whole(call.answer)

    await Asking(httpserver, manner, "extraction" if about == "window" else "scoping").answered(6)


async def test_a_form_that_is_answered_by_nothing_is_given_up_and_so_at_once_the_next_time(
    httpserver: HTTPServer,
) -> None:
    asking = Asking(httpserver, lambda call: call.whole("" if call.form else call.answer))
    await asking.answered(2)


async def test_an_address_without_its_version_is_completed(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/chat/completions").respond_with_data("404 page not found", 404)
    await Asking(httpserver, lambda call: call.whole(call.answer), base="/").answered()


async def test_an_address_may_be_that_of_the_call(httpserver: HTTPServer) -> None:
    await Asking(httpserver, lambda call: call.whole(call.answer), base="/v1/chat/completions/").answered()


# ---- refusals for good

SAID: list[tuple[int, Any, str, str]] = [
    (500, {"error": "the engine is warming"}, "the engine is warming", "server"),
    (403, "<html><head><title>Just a moment...</title></head></html>", "Just a moment", "connection"),
    (502, "<html>\n<head><title>502 Bad Gateway</title></head></html>", "502 Bad Gateway", "server"),
    (200, "<html><head><title>Welcome to nginx!</title></head></html>", "Welcome to nginx", "connection"),
    (200, {"code": 1113, "msg": "in arrears", "success": False}, "in arrears", "quota"),
    (200, {"choices": None, "base_resp": {"status_code": 1004, "status_msg": "login fail"}}, "login fail", ""),
    (200, {"success": False, "errors": [{"message": "Could not route"}], "result": None}, "Could not route", ""),
    (200, {"detail": "Method not served here"}, "Method not served here", ""),
    (200, "upstream connect error or disconnect", "upstream connect error", ""),
    (400, {"Response": {"Error": {"Code": "x", "Message": "id of nobody"}}}, "id of nobody", "request"),
    (500, {"fault": {"faultstring": "Spikes arrested"}}, "Spikes arrested", "server"),
    (401, {"statusCode": 401, "message": "wrong API endpoint"}, "wrong API endpoint", "key"),
    (400, {"error": {"message": "Invalid model 'sim'. Available models: a-1, b-2"}}, "a-1, b-2", "unknown_model"),
    (404, {"error": {"message": "No models loaded. Please use 'lms load'"}}, "lms load", "unknown_model"),
    (403, {"error": {"message": "Project x does not have access to model `sim`"}}, "access to model", "unknown_model"),
    (403, {"error": {"message": "Country, region, or territory not supported"}}, "not supported", "refused"),
    (400, {"error": {"message": "User location is not supported for the API use."}}, "User location", "refused"),
    (403, {"error": {"message": "Key limit exceeded (monthly limit)."}}, "monthly limit", "quota"),
    (402, {"error": "You have exceeded your monthly included credits"}, "monthly included", "quota"),
    (400, {"error": {"message": "please make sure your account is in good standing."}}, "good standing", "quota"),
    (429, {"error": {"message": "余额不足或无可用资源包,请充值。"}}, "余额不足", "quota"),
    (403, {"error": {"message": "user quota is not enough"}}, "quota is not enough", "quota"),
    (
        429,
        {"error": {"message": "Rate limit reached on tokens per day (TPD). Try again in 7h30m."}},
        "per day",
        "quota",
    ),
    (400, [{"error": {"code": 400, "message": "API key not valid."}}], "API key not valid", "key"),
    (302, "", "https://login.example/", "connection"),
    (410, {"error": {"message": "Model sim was retired."}}, "was retired", "unknown_model"),
    (400, {"error": {"message": "The model `sim` has been decommissioned."}}, "decommissioned", "unknown_model"),
    (429, {"error": {"message": "Quota exceeded, limit: 0. Please retry in 12s."}}, "limit: 0", "quota"),
    (429, "<html><title>429 Too Many Requests</title></html>", "429 Too Many", "rate"),
    (451, {"error": {"message": "Unavailable for legal reasons"}}, "legal reasons", "refused"),
    (409, {"error": {"message": "The model is being loaded"}}, "being loaded", "server"),
    (200, {"err": "The engine is shy"}, "The engine is shy", ""),
    (422, {"errors": {"prompt": ["The engine is shy"]}}, "The engine is shy", "request"),
    (401, "", "status 401", "key"),
]


@pytest.mark.parametrize(("status", "answer", "said", "fault"), SAID)
async def test_every_refusal_is_shown_in_the_servers_words_and_sorted(
    httpserver: HTTPServer, status: int, answer: Any, said: str, fault: str
) -> None:
    def manner(call: Call) -> Response:
        if not isinstance(answer, str):
            return sent(answer, status)
        headers = {"Location": "https://login.example/"} if status == 302 else {}
        return Response(answer, status, headers, content_type="text/html" if "<" in answer else "text/plain")

    asking = Asking(httpserver, manner)
    with pytest.raises(DossierError) as caught:
        await asking.ask()
    assert said in caught.value.notice
    assert caught.value.fault == (fault or "server")
    assert len(asking.calls) == (3 if caught.value.retryable else len(asking.calls))
    assert caught.value.fault in ("server", "request", "rate") or len(asking.calls) == 1


async def test_what_a_model_took_is_counted_whatever_came_of_it(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A talk that leads to no run is on no run's books: the metrics show it."""
    from agents.api.metrics import Meter
    from agents.core.settings import load as settings
    from agents.team import open_team

    asking = Asking(httpserver, lambda call: call.whole(call.answer if call.number == 1 else ""))
    for name, value in {
        "DOSSIER_MODEL": "openai/sim", "OPENAI_API_KEY": "sk-test-FAKE0000FAKE", "OPENAI_API_BASE": httpserver.url_for("/v1"),
        "DOSSIER_DATA_DIR": str(tmp_path),
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    team = open_team(settings(tmp_path / "none"))
    run = AskContext({asking.role.name: team.models[asking.role.name]}, load(), Deadline.within(30.0))
    await ask_fitting(asking.role, asking.given, run, Rooms())
    with pytest.raises(DossierError):
        await ask_fitting(asking.role, asking.given, run, Rooms())
    told = Meter().text(team.taken()).decode()
    assert f'llm_tokens_taken{{model="openai/sim"}} {float(asking.tokens)}' in told
    await team.close()


# ---- waits

WAITS: list[tuple[int, Any, dict[str, str], float]] = [
    (429, "slow", {"Retry-After": "7.5"}, 7.5),
    (429, "slow", {"retry-after-ms": "3500"}, 3.5),
    (429, "slow", {"Retry-After": "DATE"}, 15),
    (429, "slow", {"x-ratelimit-reset-requests": "9s", "x-ratelimit-remaining-requests": "0"}, 9),
    (429, "slow", {"x-ratelimit-reset-tokens": "1m5s", "x-ratelimit-remaining-tokens": "0"}, 65),
    (429, "Please wait 12 seconds before the next request", {}, 12),
    (429, "Please try again in 1m3.5s.", {}, 63.5),
    (429, "Please retry after 14 seconds.", {}, 14),
    (429, {"message": "Resource exhausted.", "details": [{"retryDelay": "21s"}]}, {}, 21),
    (503, {"message": "Model x is currently loading", "estimated_time": 20.0}, {}, 20),
]


@pytest.mark.parametrize(("status", "said", "headers", "seconds"), WAITS)
async def test_a_wait_is_kept_in_whatever_way_it_is_asked_for(
    httpserver: HTTPServer, status: int, said: Any, headers: dict[str, str], seconds: float
) -> None:
    def manner(call: Call) -> Response:
        if call.number > 1:
            return call.whole(call.answer)
        later = format_datetime(datetime.now(UTC) + timedelta(seconds=16), usegmt=True)
        return sent({"error": said}, status, **{name: value.replace("DATE", later) for name, value in headers.items()})

    asking = Asking(httpserver, manner)
    await asking.answered(2)
    assert seconds - 1 <= asking.naps[0] <= seconds + 2
