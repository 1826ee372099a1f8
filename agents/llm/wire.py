"""How a request is put to a provider: messages, and the answer's contract as a schema that strict modes take.

The words for the user out of a growing JSON text: the `reply` field, while the model still writes it.

What is shown early cannot be taken back, so nothing is shown on a guess: a reply that begins with prose may turn out to
be thoughts without their opening tag, and waits for `finish`.
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Literal

from agents.contracts.frozen import Frozen
from agents.core.model import OnText, Request
from agents.core.model_answers import OPENING, closing_tag, drop_thoughts
from agents.llm.chat_completions import ProviderAnswer, Wire
from agents.llm.manners import Ways

_BOUNDS = frozenset(
    {"minLength", "maxLength", "minItems", "maxItems"} | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
)
"""What a model can keep to when the schema is only text to it; the contract checks it in any case."""
_REFUSED_WORDS = _BOUNDS | {
    "title",
    "default",
    "examples",
    "format",
    "pattern",
    "uniqueItems",
    "multipleOf",
    "discriminator",
}
"""Words of a schema that strict modes refuse."""


def response_format(gives: type[Frozen], ways: Ways) -> dict[str, object] | None:
    """Give the `response_format` for a contract; None where it is asked for in words."""
    if ways.structured == "prompt":
        return None
    if ways.structured == "object":
        return {"type": "json_object"}
    name = re.sub(r"[^\w-]", "_", gives.__name__)[:64]
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": wire_schema(gives)}}


def messages_for(request: Request, ways: Ways, schema_note: Callable[[str], str]) -> list[dict[str, str]]:
    """Give the messages as providers take them, with the schema in words where no other way is open."""
    messages = [{"role": message.role, "content": message.content} for message in request.messages]
    if ways.structured != "schema":
        schema = wire_schema(request.gives, bounds=True)
        note = schema_note(json.dumps(schema, ensure_ascii=False, separators=(",", ":")))
        if not messages or messages[0]["role"] != "system":
            messages.insert(0, {"role": "system", "content": ""})
        messages[0]["content"] = f"{messages[0]['content']}\n\n{note}".strip()
    if not ways.system and len(messages) > 1 and messages[0]["role"] == "system":
        first, second, *others = messages
        messages = [second | {"content": f"{first['content']}\n\n{second['content']}"}, *others]
    return messages


def wire_schema(gives: type[Frozen], *, bounds: bool = False) -> dict[str, object]:
    """Give the JSON schema of a contract as strict modes take it; with its bounds for a model that reads it as text."""
    dropped = _REFUSED_WORDS - _BOUNDS if bounds else _REFUSED_WORDS
    plain = _plain(gives.model_json_schema(), dropped)
    assert isinstance(plain, dict)
    return plain


def _plain(node: object, dropped: frozenset[str]) -> object:
    if isinstance(node, list):
        return [_plain(item, dropped) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:  # strict modes take no word beside a reference
        return {"$ref": node["$ref"]}
    kept: Wire = {"anyOf" if key == "oneOf" else key: value for key, value in node.items() if key not in dropped}
    if "const" in kept:
        kept["enum"] = [kept.pop("const")]
    names = ("properties", "$defs")  # whose keys are names, not words of the schema
    plain: Wire = {
        key: {name: _plain(item, dropped) for name, item in value.items()} if key in names else _plain(value, dropped)
        for key, value in kept.items()
    }
    if "properties" in plain:
        free = {name for name, item in plain["properties"].items() if _is_free(item)}
        for name in free - set(node.get("required", ())):  # a map of any keys has no place in strict modes
            del plain["properties"][name]
        plain["required"] = list(plain["properties"])
        plain["additionalProperties"] = False
    return plain


def _is_free(schema: object) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "object" and "properties" not in schema


FIELD = "reply"

_FENCED = re.compile(r"```[\w+-]*\s*\{")
_OBJECT = re.compile(r'\{(?=\s*")')
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_FENCE = re.compile(r"```[\w+-]*\s*")
_MAY_BE_TAG = re.compile(r"[<\[]\w{0,9}")
_UNKNOWN = "\N{REPLACEMENT CHARACTER}"


class ReplyStream:
    """Fed pieces of text, gives new pieces of its decoded `reply` field; how the text is split makes no difference."""

    def __init__(self) -> None:
        self._head = ""
        """Text not yet decided on: what comes before the JSON object."""
        self._at: Literal["head", "thoughts", "prose"] = "head"
        self._reached = False
        self._field = _FieldReader()

    def feed(self, chunk: str) -> str:
        """Take the next piece of the reply; return what it adds to the text for the user."""
        if self._reached:
            return self._field.feed(chunk)
        self._head += chunk
        while (then := self._step()) == "on":
            pass
        if then == "wait":
            return ""
        self._reached = True
        return self._field.feed(self._head)

    def finish(self) -> str:
        """Say that the reply is complete; return what was held back in doubt."""
        if self._reached or self._at != "prose":
            return ""
        seen, closed = drop_thoughts(self._head)
        start = _FENCED.search(seen) or _OBJECT.search(seen)
        return self._field.feed(seen[start.end() - 1 :]) if closed and start else ""

    def _step(self) -> Literal["on", "wait", "object"]:
        """Take one decision about the head: go on with what is left of it, wait for more text, or read the object."""
        if self._at != "head":
            end = closing_tag(self._head, 0, final=False)
            if end is None:
                return "wait"
            self._head, self._at = self._head[end:], "head"
            return "on"
        text = self._head = self._head.lstrip("\ufeff \t\r\n")
        if text.startswith("{"):
            return "object"
        if tag := OPENING.match(text):
            self._head, self._at = text[tag.end() :], "thoughts"
            return "on"
        if fence := _FENCE.match(text):
            if text[fence.end() :].startswith("{"):
                self._head = text[fence.end() :]
                return "object"
            if fence.end() == len(text):
                return "wait"
        if not text or "```".startswith(text) or (text[0] in "<[" and _MAY_BE_TAG.fullmatch(text)):
            return "wait"
        self._at = "prose"
        return "on"


class _FieldReader:
    """Reads an object character by character and decodes one string field of its first level."""

    def __init__(self) -> None:
        self._depth = 0
        self._key = ""
        self._is_value = False
        """The next string of the first level is a value, not a key."""
        self._where: Literal["between", "string", "field", "done"] = "between"
        self._escape = ""
        """An escape that is not complete yet, from its back-slash on."""
        self._high = ""
        """The first half of a surrogate pair."""

    def feed(self, chunk: str) -> str:
        out = []
        for char in chunk:
            if self._where == "done":
                break
            if self._where == "between":
                self._structure(char)
            elif self._where == "string":
                self._other_string(char)
            else:
                out.append(self._decode(char))
        return "".join(out)

    def _structure(self, char: str) -> None:
        if char == '"':
            wanted = self._depth == 1 and self._is_value and self._key == FIELD
            self._where = "field" if wanted else "string"
            if self._depth == 1 and not self._is_value:
                self._key = ""
        elif char in "{[":
            self._depth += 1
        elif char in "}]":
            self._depth -= 1
            if self._depth == 0:
                self._where = "done"
        elif self._depth == 1 and char in ":,":
            self._is_value = char == ":"

    def _other_string(self, char: str) -> None:
        if self._escape:
            self._escape = ""
        elif char == "\\":
            self._escape = char
        elif char == '"':
            self._where = "between"
        elif self._depth == 1 and not self._is_value:
            self._key += char

    def _decode(self, char: str) -> str:
        if self._escape:
            self._escape += char
            return self._whole_escape()
        if char == "\\":
            self._escape = char
            return ""
        alone, self._high = self._high and _UNKNOWN, ""
        if char == '"':
            self._where = "done"
            return alone
        return alone + char

    def _whole_escape(self) -> str:
        escape = self._escape
        if escape[1] != "u":
            self._escape = ""
            alone, self._high = self._high and _UNKNOWN, ""
            return alone + _SIMPLE.get(escape[1], escape[1])
        if len(escape) < 6:
            return ""
        self._escape = ""
        return self._code_unit(escape[2:])

    def _code_unit(self, digits: str) -> str:
        high, self._high = self._high, ""
        if not re.fullmatch(r"[0-9a-fA-F]{4}", digits):
            return (high and _UNKNOWN) + _UNKNOWN
        unit = chr(int(digits, 16))
        if high and "\udc00" <= unit <= "\udfff":
            return (high + unit).encode("utf-16", "surrogatepass").decode("utf-16")
        alone = high and _UNKNOWN
        if "\ud800" <= unit <= "\udbff":
            self._high = unit
            return alone
        return alone + (_UNKNOWN if "\udc00" <= unit <= "\udfff" else unit)


BATCH_S = 0.03
"""Pieces of a streamed text are passed on no more often than this: each costs the interface more than the model."""


async def gather(pieces: AsyncGenerator[Wire], answer: ProviderAnswer, on_text: OnText | None) -> None:
    """Put an answer together that comes in pieces, and show its words meanwhile."""
    reader, waiting, sent_at = ReplyStream(), "", 0.0
    loop = asyncio.get_running_loop()
    async with aclosing(pieces):
        async for chunk in pieces:
            waiting += reader.feed(answer.take(chunk))
            if on_text is not None and waiting and loop.time() - sent_at >= BATCH_S:
                await on_text(waiting)
                waiting, sent_at = "", loop.time()
    if on_text is not None and (waiting := waiting + reader.finish()):
        await on_text(waiting)
