"""How a request is put to a provider: messages, and the answer's contract as a schema that strict modes take."""

import json
import re
from collections.abc import Callable
from typing import Any

from agents.contracts.frozen import Frozen
from agents.core.model import Request
from agents.llm.litellm_errors import Ways

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


def response_format(gives: type[Frozen], ways: Ways) -> dict[str, Any] | None:
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
    return messages


def wire_schema(gives: type[Frozen], *, bounds: bool = False) -> dict[str, Any]:
    """Give the JSON schema of a contract as strict modes take it; with its bounds for a model that reads it as text."""
    dropped = _REFUSED_WORDS - _BOUNDS if bounds else _REFUSED_WORDS
    plain = _plain(gives.model_json_schema(), dropped)
    assert isinstance(plain, dict)
    return plain


def _plain(node: Any, dropped: frozenset[str]) -> Any:
    if isinstance(node, list):
        return [_plain(item, dropped) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:  # strict modes take no word beside a reference
        return {"$ref": node["$ref"]}
    kept = {"anyOf" if key == "oneOf" else key: value for key, value in node.items() if key not in dropped}
    if "const" in kept:
        kept["enum"] = [kept.pop("const")]
    names = ("properties", "$defs")  # whose keys are names, not words of the schema
    plain = {
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


def _is_free(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "object" and "properties" not in schema
