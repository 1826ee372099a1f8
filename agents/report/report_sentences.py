"""Sentences of one paragraph, item or cell of a report, and the citations that belong to each."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agents.contracts.finding import FACT_MARK
from agents.nlp.sentence_split import spans
from agents.report import maths

MAX_CITATIONS = 3
"""Numbers behind one sentence, at most (specification, section 8)."""

_LINK = re.compile(r"\[[^\[\]]*\]\([^()\s]*\)|<https?://[^<>\s]*>")
_QUOTED = re.compile(
    r'“[^“”\n]{1,600}”|„[^„“”\n]{1,600}[“”]|«[^«»\n]{1,600}»|「[^「」\n]{1,600}」|(?<!\w)"[^"\n]{1,600}"(?!\w)'
)
_STOP = re.compile(r"[.!?…:。！？｡؟۔।॥][\"'”’“»)\]』」）】》〉*_~`]*$")
_SPACE_BEFORE = re.compile(r"\s*$")
_CLOSING = frozenset(".,;:!?…)]”’»。、，；：！？」』）")


@dataclass(frozen=True)
class Placed:
    """A sentence without its marks, the facts it cites (each once, in order), and the space behind it."""

    text: str
    facts: tuple[str, ...]
    gap: str


def sentences(text: str) -> tuple[tuple[int, int], ...]:
    """Find the sentences of one line of inline Markdown.

    Never cuts inside code, a formula, a link or a quotation, nor where a long sentence was only divided for its length.
    Every non-space character is in exactly one span.
    """
    masked = _masked(text)
    found: list[tuple[int, int]] = []
    for span in spans(masked):
        has_words = any(letter.isalnum() for letter in masked[span.start : span.end])
        if found and (not has_words or not _STOP.search(masked[: found[-1][1]])):
            found[-1] = (found[-1][0], span.end)
        elif found and (slip := re.match(r"[*_~`]+(?=\s|$)", text[span.start : span.end])):
            # Closing emphasis belongs to the sentence it closes.
            found[-1] = (found[-1][0], span.start + slip.end())
            rest = span.start + slip.end()
            rest += len(text[rest : span.end]) - len(text[rest : span.end].lstrip())
            found.append((rest, span.end))
        else:
            found.append((span.start, span.end))
    return tuple(found)


def _masked(text: str) -> str:
    # An escaped stop still ends a sentence.
    fixed = [(piece.start, piece.end - (text[piece.end - 1] in ".!?")) for piece in maths.pieces(text)]
    fixed += [match.span() for match in _LINK.finditer(text)]
    # The last character of a quotation and its closing mark stay: they may end the sentence around it.
    fixed += [(match.start() + 1, match.end() - 2) for match in _QUOTED.finditer(text)]
    letters = list(text.replace("\t", " ").replace("\n", " ").replace("|", "/"))
    for start, end in fixed:
        letters[start:end] = "x" * max(0, end - start)
    return "".join(letters)


def lifted(text: str) -> tuple[str, tuple[tuple[int, str], ...]]:
    """Take the fact marks out of a line.

    Returns:
        The line without them, and each mark's place in it (the number of characters before it) with its fact id.
    """
    out = ""
    marks: list[tuple[int, str]] = []
    last = 0
    for match in FACT_MARK.finditer(text):
        out = _appended(out, text[last : match.start()], after_mark=bool(marks) and last > 0)
        following = text[match.end() : match.end() + 1]
        if not following or following.isspace() or following in _CLOSING or following == "[":
            out = _SPACE_BEFORE.sub("", out)
        marks.append((len(out), match[1]))
        last = match.end()
    return _appended(out, text[last:], after_mark=bool(marks)), tuple(marks)


def _appended(before: str, piece: str, *, after_mark: bool) -> str:
    # "… 2020.[#f1]Then …": the mark stood where the space should.
    if after_mark and before[-1:] in {".", "!", "?", "…"} and piece[:1].isalpha() and piece[:1].isascii():
        return f"{before} {piece}"
    return before + (piece if before else piece.lstrip())


def placed(text: str, *, whole: bool = False) -> tuple[Placed, ...]:
    """Cut a line into sentences, each with the facts that were cited in it or right behind it.

    Args:
        text: inline Markdown with `[#id]` marks.
        whole: take the line as one sentence, as a block quote or a table cell is.
    """
    line, marks = lifted(text)
    found = sentences(line)
    if not found:
        return (Placed("", tuple(dict.fromkeys(fact for _, fact in marks)), ""),) if marks else ()
    if whole:
        found = ((found[0][0], found[-1][1]),)
    facts: list[dict[str, None]] = [{} for _ in found]
    for place, fact in marks:
        facts[max(0, sum(start < place for start, _ in found) - 1)][fact] = None
    out = []
    for number, (start, end) in enumerate(found):
        following = found[number + 1][0] if number + 1 < len(found) else end
        out.append(Placed(line[start:end], tuple(facts[number]), " " if following > end else ""))
    return tuple(out)


def capped(facts: Sequence[str], source_of: Callable[[str], str | None]) -> tuple[str, ...]:
    """Keep the facts of the first three sources; several facts of one source share its number."""
    kept: list[str] = []
    sources: set[str] = set()
    for fact in facts:
        source = source_of(fact)
        if source is not None and (source in sources or len(sources) < MAX_CITATIONS):
            sources.add(source)
            kept.append(fact)
    return tuple(dict.fromkeys(kept))
