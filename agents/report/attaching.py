"""Marks that a writer forgot: a sentence that says word for word what a fact says gets that fact's number."""

import re
from collections.abc import Iterable

from agents.report.report_sentences import sentences

_MARKED = re.compile(r"\s*[\"'”’»)]*\s*\[[fF]\d")
_WORDS = re.compile(r"\w+")


def attach(markdown: str, facts: Iterable[tuple[int, str, str]]) -> str:
    """Put `[fN]` behind each unmarked sentence that is, word for word, a fact's statement or quote.

    Args:
        markdown: a writer's prose, citing by `[f3]`.
        facts: number, statement and quote of each fact that the writer was shown.

    Returns:
        The same words; idempotent. A sentence that merely resembles a fact gets nothing: code does not guess.
    """
    known: dict[tuple[str, ...], int] = {}
    for number, statement, quote in facts:
        for words in (_words(statement), _words(quote)):
            if len(words) >= 3:
                known.setdefault(words, number)
    return "\n".join(_line(line, known) for line in markdown.split("\n")) if known else markdown


def _line(line: str, known: dict[tuple[str, ...], int]) -> str:
    out, at = [], 0
    for start, end in sentences(line):
        number = known.get(_words(line[start:end]))
        if number is None or _MARKED.match(line, end):
            continue
        out.append(line[at:end] + f"[f{number}]")
        at = end
    return "".join(out) + line[at:]


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.casefold() for word in _WORDS.findall(text))
