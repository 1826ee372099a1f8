"""Cases on what models reply (C01 to C05) and on what two tasks have in common (C42)."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from agents.contracts.frozen import Frozen, Text
from agents.core.model_answers import NoAnswer, drop_thoughts, read_answer
from agents.nlp.lang import spans
from agents.research.loop.topics import repeated
from agents.verify.quotes import find_quote

LONGEST_SENTENCE = 2_000
"""Characters; a script without spaces must not become one endless passage."""


class Queries(Frozen):
    queries: tuple[Text, ...] = Field(min_length=1)


class Turn(Frozen):
    queries: tuple[Text, ...]
    ready: bool


class Statement(Frozen):
    id: Text
    text: Text


class Claims(Frozen):
    claims: tuple[Statement, ...]


class Sloppy(Frozen):
    queries: tuple[str, ...] = ()
    ready: bool | None = None
    note: str | None = None
    text: str | None = None


class Topic(Frozen):
    research_topic: str
    queries: tuple[Text, ...]


def rows(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def answered(text: str, gives: type[Frozen], listed: str = "queries", *, cut: bool = False) -> Frozen | None:
    try:
        return read_answer(text, gives, listed=listed, cut=cut)
    except (NoAnswer, ValidationError):
        return None


def fenced(folder: Path) -> list[bool]:
    answer = answered((folder / "model_output.txt").read_text("utf-8"), Queries)
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    return [answer is not None and answer.model_dump(mode="json") == expected]


def visible_text(text: str) -> str:
    """Return what a user may see of a free text: no thoughts; prose about them stays."""
    return drop_thoughts(text)[0].strip()


def thoughts(folder: Path) -> list[bool]:
    told = answered((folder / "think_then_json.txt").read_text("utf-8"), Turn)
    never = answered((folder / "think_unclosed.txt").read_text("utf-8"), Queries)
    seen = [visible_text(row["reply"]) == row["visible"] for row in rows(folder / "think_variants.jsonl")]
    return [told is not None and "WRONG" not in told.model_dump_json(), never is None, *seen]


def cut_off(folder: Path) -> list[bool]:
    found = []
    for name in ("reply.json", "reply_cut_between_items.json"):
        reply = json.loads((folder / name).read_text("utf-8"))
        kept = answered(reply["content"], Claims, "claims", cut=True)
        found.append(isinstance(kept, Claims) and [claim.id for claim in kept.claims] == ["K1", "K2"])
    return found


def shapes(folder: Path) -> list[bool]:
    found = []
    for row in rows(folder / "shapes.jsonl"):
        answer = answered(row["reply"], Queries)
        is_right = isinstance(answer, Queries) and list(answer.queries) == row.get("queries")
        found.append(is_right or (answer is None and bool(row.get("error") or row.get("or_error"))))
    for row in rows(folder / "sloppy.jsonl"):
        answer = answered(row["reply"], Sloppy)
        wanted = row["value"] if isinstance(row["value"], dict) else {"queries": row["value"]}
        found.append(answer is not None and answer.model_dump(mode="json", exclude_unset=True) == wanted)
    return [*found, answered((folder / "plan_missing_fields.json").read_text("utf-8"), Topic) is None]


def tool_calls(folder: Path) -> list[bool]:
    return [answered(row["content"], Queries) is None for row in rows(folder / "leaks.jsonl")]


def other_scripts(folder: Path) -> list[bool]:
    twins = [bool(repeated(row["b"], [row["a"]])) is row["duplicate"] for row in rows(folder / "near_duplicates.jsonl")]
    quotes = [bool(find_quote(row["quote"], row["source"])) is row["match"] for row in rows(folder / "quotes.jsonl")]
    texts = [row["text"] for row in rows(folder / "texts.jsonl")]
    bounded = [all(span.end - span.start <= LONGEST_SENTENCE for span in spans(text)) for text in texts]
    return [*twins, *quotes, *bounded]


JUDGES: dict[str, Callable[[Path], list[bool]]] = {
    "C01": fenced,
    "C02": thoughts,
    "C03": cut_off,
    "C04": shapes,
    "C05": tool_calls,
    "C42": other_scripts,
}
