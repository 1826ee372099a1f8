"""Runs of text become sentences; each takes the marks that stand in it or right behind it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from agents.contracts.body import Formula, Inline, Line, LineBreak, Sentence, Style, Words
from agents.nlp.sentence_split import spans

_QUOTED = re.compile(
    r'“[^“”\n]{1,600}”|„[^„“”\n]{1,600}[“”]|«[^«»\n]{1,600}»|「[^「」\n]{1,600}」|(?<!\w)"[^"\n]{1,600}"(?!\w)'
)
_STOP = re.compile(r"[.!?…:。！？｡؟۔।॥][\"'”’“»)\]』」）】》〉]*$")
_CLOSING = frozenset(".,;:!?…)]”’»。、，；：！？」』）")


@dataclass(frozen=True)
class Glyph:
    """One character with its look; a formula or a break counts as one."""

    char: str
    style: tuple[Style, ...] = ()
    address: str = ""
    fixed: bool = False
    """Code, an escaped character or a formula: never read as a mark, an address or the end of a sentence."""
    formula: str = ""
    display: bool = False


@dataclass(frozen=True)
class Cut:
    """A stretch of a line that is taken out: the mark of a citation, or what names nothing."""

    start: int
    end: int
    facts: tuple[str, ...] = ()


def text_of(glyphs: Sequence[Glyph], *, masked: bool = False) -> str:
    """Give the characters; with `masked` those that stand for themselves only are covered."""
    return "".join("\ufffc" if masked and glyph.fixed else glyph.char for glyph in glyphs)


def line_of(glyphs: Sequence[Glyph]) -> Line:
    """Join characters of one look into runs."""
    runs: list[Inline] = []
    for (style, address, formula, display, is_break), group in groupby(
        glyphs, key=lambda one: (one.style, one.address, one.formula, one.display, one.char == "\n")
    ):
        text = text_of(list(group))
        if formula:
            runs += [Formula(tex=formula, display=display)] * len(text)
        elif is_break:
            runs.append(LineBreak())
        else:
            runs.append(Words(text=text, style=style, address=address))
    return tuple(runs)


def cut_out(glyphs: Sequence[Glyph], cuts: Sequence[Cut]) -> tuple[list[Glyph], list[tuple[int, str]]]:
    """Take stretches out of a line, with the space that they leave.

    Returns:
        What stays, and each cited fact with its place: the number of characters before it.
    """
    out: list[Glyph] = []
    marks: list[tuple[int, str]] = []
    last = 0
    for cut in cuts:
        _append(out, glyphs[last : cut.start], after_mark=last > 0)
        following = "".join(glyph.char for glyph in glyphs[cut.end : cut.end + 1])
        if not following or following.isspace() or following in _CLOSING:
            while out and out[-1].char == " ":
                out.pop()
            if not cut.facts and following in {"", *".!?…。"} and out and out[-1].char in ",;":
                out.pop()
        marks += [(len(out), fact) for fact in cut.facts]
        last = cut.end
    _append(out, glyphs[last:], after_mark=bool(cuts))
    return out, marks


def _append(out: list[Glyph], glyphs: Sequence[Glyph], *, after_mark: bool) -> None:
    first = glyphs[0].char if glyphs else ""
    # "… 2020.[3]Then …": the mark stood where the space should.
    if after_mark and out and out[-1].char in ".!?…" and first.isalpha() and first.isascii():
        out.append(Glyph(" "))
    for glyph in glyphs:
        if glyph.char == " " and not glyph.formula and (not out or out[-1].char in " \n"):
            continue
        if glyph.char == "\n":
            if not out or out[-1].char == "\n":
                continue
            while out and out[-1].char == " ":
                out.pop()
        out.append(glyph)


def sentences(
    glyphs: Sequence[Glyph], marks: Sequence[tuple[int, str]], *, whole: bool = False
) -> tuple[Sentence, ...]:
    """Cut a line into sentences, each with the facts that were cited in it or right behind it.

    Args:
        glyphs: the line, without its marks.
        marks: facts with the place at which each was cited.
        whole: take it as one sentence, as a table cell or a paragraph of a quotation is.
    """
    found = list(_spans(glyphs))
    if whole and found:
        found = [(found[0][0], found[-1][1])]
    facts: list[dict[str, None]] = [{} for _ in found]
    for place, fact in marks:
        if found:
            facts[max(0, sum(start < place for start, _ in found) - 1)][fact] = None
    if not found:
        cited = tuple(dict.fromkeys(fact for _, fact in marks))
        return (Sentence(inline=(), facts=cited),) if cited and whole else ()
    out: list[Sentence] = []
    for number, (start, end) in enumerate(found):
        between = text_of(glyphs[end : found[number + 1][0]]) if number + 1 < len(found) else " "
        gap = "\n" if "\n" in between else " " if between else ""
        out.append(Sentence(inline=line_of(glyphs[start:end]), facts=tuple(facts[number]), gap=gap))
    return tuple(out)


def _spans(glyphs: Sequence[Glyph]) -> Iterator[tuple[int, int]]:
    """Find the sentences; never cut inside code, a formula, a link or a quotation, and always at a forced line break."""
    start = 0
    for broken, group in groupby(glyphs, key=lambda glyph: glyph.char == "\n"):
        size = len(list(group))
        if not broken:
            yield from _of_line(glyphs[start : start + size], start)
        start += size


def _of_line(glyphs: Sequence[Glyph], offset: int) -> list[tuple[int, int]]:
    text = text_of(glyphs)
    letters = ["/" if char == "|" else " " if char == "\t" else char for char in text]
    for at, glyph in enumerate(glyphs):
        if glyph.address or glyph.formula or "code" in glyph.style:
            letters[at] = "x"
    for match in _QUOTED.finditer(text):
        # The last character of a quotation and its closing mark stay: they may end the sentence around it.
        letters[match.start() + 1 : match.end() - 2] = "x" * max(0, len(match[0]) - 3)
    masked = "".join(letters)
    found: list[tuple[int, int]] = []
    for span in spans(masked):
        has_words = any(letter.isalnum() for letter in masked[span.start : span.end])
        if found and (not has_words or not _STOP.search(masked[: found[-1][1] - offset])):
            found[-1] = (found[-1][0], span.end + offset)
        else:
            found.append((span.start + offset, span.end + offset))
    return found


def joined(parts: Sequence[tuple[Line, str]]) -> Line:
    """Put lines together, each with the gap behind it; runs of one look become one."""
    line: list[Inline] = []
    for number, (inline, gap) in enumerate(parts):
        between: tuple[Inline, ...] = (LineBreak(),) if gap == "\n" else (Words(text=gap),) if gap else ()
        for part in (*inline, *(between if number + 1 < len(parts) else ())):
            last = line[-1] if line else None
            if (
                isinstance(part, Words)
                and isinstance(last, Words)
                and (last.style, last.address) == (part.style, part.address)
            ):
                line[-1] = last.model_copy(update={"text": last.text + part.text})
            else:
                line.append(part)
    return tuple(line)
