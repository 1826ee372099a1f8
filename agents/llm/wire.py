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
from functools import cache

from agents.contracts.frozen import Frozen
from agents.core import model_answers as answers
from agents.core.role import OnText, Request
from agents.llm.capabilities import Ways
from agents.llm.chat_completions import BROKEN_OFF, ProviderAnswer, Wire

_BOUNDS = frozenset("minLength maxLength minItems maxItems minimum maximum exclusiveMinimum exclusiveMaximum".split())
"""What a model can keep to when the schema is only text to it; the contract checks it in any case."""
_REFUSED_WORDS = _BOUNDS | {*"title default examples format pattern uniqueItems multipleOf discriminator".split()}
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


@cache
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


_FENCED = re.compile(r"```[\w+-]*\s*\{")
_OBJECT = re.compile(r'\{(?=\s*")')
_AT_ONCE = re.compile(r"(?:```[\w+-]*\s*)?(?=\{)")
"""The beginning of a text that is an object, and nothing in front of it."""


class ReplyStream:
    """Fed pieces of an answer, gives what is complete of its JSON so far; how the text is split makes no difference."""

    def __init__(self, field: str = "reply") -> None:
        self._field, self._text, self._shown = field, "", ""

    def feed(self, chunk: str) -> str:
        """Take the next piece of the reply; return what it adds to the text for the user."""
        self._text += chunk
        return self._news()

    def finish(self) -> str:
        """Say that the reply is complete; return what was held back in doubt."""
        return self._news(whole=True)

    def value(self, *, whole: bool = False) -> dict[str, object]:
        """Give the complete fields of the answer, and a text as far as it is written."""
        written = _object_in(self._text, whole=whole)
        found = answers.complete_part(written, 0, words=True) if written else None
        return found if isinstance(found, dict) else {}

    def _news(self, *, whole: bool = False) -> str:
        """Give what is new of the field: more of a text; of a list each further item, as a line of JSON."""
        said = answers.each_text(self.value(whole=whole).get(self._field), answers.whole_signs)
        if isinstance(said, list):
            said = "".join(f"{json.dumps(item)}\n" for item in said)
        if not isinstance(said, str) or not said.startswith(self._shown):
            return ""
        news, self._shown = said[len(self._shown) :], said
        return news


def _object_in(text: str, *, whole: bool) -> str:
    """Give the object of an answer from its beginning on; empty as long as it is in doubt which one it is."""
    end: int | None = 0
    while end is not None:
        text = text[end:].lstrip("\ufeff \t\r\n")
        if begins := _AT_ONCE.match(text):
            return text[begins.end() :]
        thoughts = answers.OPENING.match(text)
        end = answers.closing_tag(text, thoughts.end() if thoughts else 0, final=False)
    if thoughts or not whole:
        return ""
    seen, all_closed = answers.drop_thoughts(text)
    start, end = _FENCED.search(seen), 0
    for found in () if start else _OBJECT.finditer(seen):  # what is drafted on the way goes before the answer
        if found.start() >= end and ((value := answers.strict_json(seen, found.start())) or not start):
            start, end = found, value[1] if value else 0
    return seen[start.end() - 1 :] if all_closed and start else ""


BATCH_S = 0.1
"""Pieces of a streamed text are passed on no more often than this: each costs the interface more than the model."""


async def gather(pieces: AsyncGenerator[Wire], answer: ProviderAnswer, on_text: OnText | None, field: str) -> None:
    """Put an answer together that comes in pieces, and show its words meanwhile."""
    reader, waiting, sent_at = ReplyStream(field), "", 0.0
    loop = asyncio.get_running_loop()
    try:
        async with aclosing(pieces):
            async for chunk in pieces:
                waiting += answer.take(chunk)
                if on_text is not None and waiting and loop.time() - sent_at >= BATCH_S:
                    sent_at = loop.time()  # also where nothing is new: all of it is read from its beginning each time
                    news, waiting = reader.feed(waiting), ""
                    if news:
                        await on_text(news)
    except BROKEN_OFF:  # some servers close without a word that this is the end
        if not answer.is_whole:
            raise
    if on_text is not None and (news := reader.feed(waiting) + reader.finish()):
        await on_text(news)
