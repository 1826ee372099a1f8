"""Edits of a draft's branches, read from what is typed: strict patterns, every other sentence goes to the manager."""

import re
from typing import Literal

from agents.contracts.base import Frozen

Op = Literal["drop", "add", "rename", "up", "down"]

_NUMBER = r"(\d{1,2}(?:\.\d{1,2}){0,3})"
_BRANCH = rf"(?:the )?(?:branch|leaf|node|part|topic) ?{_NUMBER}"
_DROP = re.compile(rf"(?:drop|remove|delete|leave out|without|skip) {_BRANCH}", re.IGNORECASE)
_MOVE = re.compile(rf"(?:move|put) {_BRANCH} (up|down)", re.IGNORECASE)
_RENAME = re.compile(rf"(?:rename|call) {_BRANCH} ?(?:to|into|as|:)? +(.+)", re.IGNORECASE)
_ADD = re.compile(
    rf"add (?:a |another |one more )?(?:branch|leaf|topic)(?: (?:to|under|in) (?:branch |query )?{_NUMBER})?"
    r" ?(?:about|on|for|:|called)? +(.+)",
    re.IGNORECASE,
)
_UNDO = frozenset({"undo", "undo that", "undo it", "take that back", "rückgängig", "annule ça", "deshacer"})
_QUOTES = " \t\"'“”‘’„«»"


class TypedEdit(Frozen):
    """A branch edit as it was typed: the number is the one that is shown."""

    op: Op
    number: str = ""
    """Empty for a new branch at the top of the first query."""
    text: str = ""


def read_branch_edit(message: str) -> TypedEdit | None:
    """Read a message as an edit of one branch; None when it is anything else."""
    text = " ".join(message.split()).strip().rstrip(".!")
    if len(text) > 300:
        return None
    if found := _DROP.fullmatch(text):
        return TypedEdit(op="drop", number=found[1])
    if found := _MOVE.fullmatch(text):
        return TypedEdit(op="up" if found[2].casefold() == "up" else "down", number=found[1])
    if found := _RENAME.fullmatch(text):
        return TypedEdit(op="rename", number=found[1], text=found[2].strip(_QUOTES))
    if found := _ADD.fullmatch(text):
        return TypedEdit(op="add", number=found[1] or "", text=found[2].strip(_QUOTES))
    return None


def asks_to_undo(message: str) -> bool:
    """Tell whether a message takes the last edit back."""
    return " ".join(message.casefold().split()).strip(" .!") in _UNDO
