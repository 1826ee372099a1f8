"""What comparing a sentence with its quotes finds, each with a reason that a reader understands."""

from dataclasses import dataclass
from typing import Literal

from agents.nlp import lang

Severity = Literal["contradicted", "unsupported", "partly", "note"]


@dataclass(frozen=True)
class Finding:
    """Something that a comparison found."""

    severity: Severity
    key: str
    """Name of its reason in the word lists."""
    text: str
    """The reason as a sentence."""


def found(severity: Severity, key: str, language: str, *, ours: str = "", theirs: str = "") -> Finding:
    """Make a finding with its reason."""
    return Finding(severity, key, reason(key, language, ours=ours, theirs=theirs))


def reason(key: str, language: str = "en", *, ours: str = "", theirs: str = "") -> str:
    """Say a reason in `language`, in English where there is no wording."""
    wordings = lang.table("reasons", language) or lang.table("reasons", "en")
    return str(wordings[key]).format(ours=ours, theirs=theirs)
