"""What is typed about single branches, of a draft or of a run: strict patterns, every other sentence goes to the manager."""

import re
from typing import Literal

from agents.contracts.frozen import Frozen

Order = Literal["finish", "stop", "drop", "retry"]
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
_NOUN = (
    r"(?:the |den |die |das |la |le |l['’]|el )?"
    r"(?:branch|leaf|node|part|query|question|zweig|teil|frage|branche|partie|rama|parte)? ?"
)
_STOP = r"stop|cancel|end|stoppe?|halte|beende|brich|arrête|arrete|arrêter|stopper|detén|deten|detener|para|parar"
_DROP_IT = (
    r"drop|remove|skip|leave out|verwirf|verwerfe|streiche?|entferne|abandonne|abandonner|supprime|supprimer|"
    r"descarta|descartar|elimina|eliminar|quita"
)
_FINISH = r"finish|wrap up|write|schreibe?|termine|terminer|écris|termina|terminar|escribe"
_RETRY = r"retry|redo|wiederhole|réessaie|reessaie|réessayer|relance|reintenta|reintentar|repite"
_ORDERS: tuple[tuple[Order, re.Pattern[str]], ...] = (
    ("retry", re.compile(rf"(?:{_RETRY}|try) {_NOUN}{_NUMBER}(?: again| once more)?", re.IGNORECASE)),
    (
        "retry",
        re.compile(rf"(?:versuche?|probiere?) {_NOUN}{_NUMBER} (?:noch ?mals?|noch einmal|erneut)", re.IGNORECASE),
    ),
    ("retry", re.compile(rf"(?:essaie|essaye) (?:encore|de nouveau|à nouveau) {_NOUN}{_NUMBER}", re.IGNORECASE)),
    ("retry", re.compile(rf"(?:intenta|prueba) (?:de nuevo|otra vez) {_NOUN}{_NUMBER}", re.IGNORECASE)),
    ("finish", re.compile(rf"(?:{_FINISH}) {_NOUN}{_NUMBER} (?:jetzt|maintenant|ahora|ya|now|early)", re.IGNORECASE)),
    ("stop", re.compile(rf"(?:{_STOP}) {_NOUN}{_NUMBER}(?: now| early| ab| an| sofort)?", re.IGNORECASE)),
    ("drop", re.compile(rf"(?:{_DROP_IT}) {_NOUN}{_NUMBER}(?: now)?", re.IGNORECASE)),
    ("drop", re.compile(rf"lass(?:e)? {_NOUN}{_NUMBER} weg", re.IGNORECASE)),
    ("finish", re.compile(rf"(?:{_FINISH}) {_NOUN}{_NUMBER}", re.IGNORECASE)),
)
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


def read_branch_order(message: str) -> tuple[Order, str] | None:
    """Read `drop branch 2`, `stop 1.2`, `finish branch 2 now`, `retry 2`, also in German, French and Spanish.

    Returns None when it is anything else.
    """
    text = " ".join(message.split()).strip(" .!¡")
    for order, pattern in _ORDERS:
        if found := pattern.fullmatch(text):
            return order, found[1]
    return None


def asks_to_undo(message: str) -> bool:
    """Tell whether a message takes the last edit back."""
    return " ".join(message.casefold().split()).strip(" .!") in _UNDO
