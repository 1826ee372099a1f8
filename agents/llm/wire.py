"""How a request is put to a provider: messages, and the answer's contract as a schema that strict modes take.

The words for the user out of a growing JSON text: the `reply` field, while the model still writes it.

What is shown early cannot be taken back, so nothing is shown on a guess: a reply that begins with prose may turn out to
be thoughts without their opening tag. What it says is shown when the whole answer was read.
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


_AT_ONCE = re.compile(r"(?:```[\w+-]*\s*)?(?=\{)")
"""The beginning of a text that is an object, and nothing in front of it."""


def words_so_far(text: str, field: str) -> str:
    """Give what is written of a field of an answer: a text as far as it goes, of a list each complete item as a line of JSON."""
    while not (begins := _AT_ONCE.match(text := text.lstrip("\ufeff \t\r\n"))):
        thoughts = answers.OPENING.match(text)
        end = answers.closing_tag(text, thoughts.end() if thoughts else 0, final=False)
        if end is None:
            return ""
        text = text[end:]
    found = answers.complete_part(text, begins.end(), words=True)
    said = answers.each_text(found.get(field) if isinstance(found, dict) else None, answers.whole_signs)
    if isinstance(said, list):
        return "".join(f"{json.dumps(item)}\n" for item in said)
    return said if isinstance(said, str) else ""


BATCH_S = 0.1
"""Pieces of a streamed text are passed on no more often than this: each costs the interface more than the model."""


async def gather(pieces: AsyncGenerator[Wire], answer: ProviderAnswer, on_text: OnText | None, field: str) -> None:
    """Put an answer together that comes in pieces, and show its words meanwhile."""
    shown, looked_at = "", 0.0
    now = asyncio.get_running_loop().time

    async def show() -> None:
        nonlocal shown, looked_at
        if on_text is None:
            return
        said, looked_at = words_so_far(answer.content, field), now()
        if said != shown and said.startswith(shown):
            news, shown = said[len(shown) :], said
            await on_text(news)

    try:
        async with aclosing(pieces):
            async for chunk in pieces:
                if answer.take(chunk) and now() - looked_at >= BATCH_S:
                    await show()
    except BROKEN_OFF:  # some servers close without a word that this is the end
        if not answer.is_whole:
            raise
    await show()
