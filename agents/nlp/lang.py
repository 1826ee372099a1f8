"""Word lists and cues, one file a language: `lang/*.toml`, read once. `common.toml` holds what spans languages.

A list is words with spaces between; a cue is a regular expression's alternatives, joined over all languages, since a
report in one language quotes sources in another.

Sentences with exact places in the original text. Knows layout (lists, tables, headings) and any script.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from nupunkt import sent_spans

from agents.contracts.sources import SentenceSpan

CUED = ("en", "de", "fr", "es")
"""Languages whose grammar the checks know: negation, reservations, bounds, comparisons."""


_UNPARTED = ("zh", "ja", "th")
"""Languages whose writers put no spaces between words."""


@cache
def _files() -> Mapping[str, Mapping[str, Any]]:
    folder = Path(__file__).parent / "lang"
    return {path.stem: tomllib.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.toml"))}


def text(key: str, language: str) -> str:
    """Give a list as it is written; empty when the language has none."""
    return str(_files().get(language, {}).get(key, ""))


@cache
def words(key: str, language: str | None = None) -> frozenset[str]:
    """Give the words of a list; without a language those of all languages together."""
    chosen = [language] if language else list(_files())
    return frozenset(word for one in chosen for word in text(key, one).split())


@cache
def table(key: str, language: str) -> Mapping[str, Any]:
    """Give a table of a language; empty when it has none."""
    return dict(_files().get(language, {}).get(key, {}))


@cache
def rows(key: str, language: str = "common") -> tuple[tuple[str, ...], ...]:
    """Give the lines of a list, each as its words."""
    return tuple(tuple(line.split()) for line in text(key, language).splitlines() if line.strip())


@cache
def alternatives(key: str, *, unparted: bool = False) -> str:
    """Give the alternatives of a cue in all languages that part words by spaces, or that do not, for use inside a pattern."""
    chosen = [language for language in _files() if (language in _UNPARTED) == unparted]
    parts = (re.sub(r"\s*\n\s*", "", text(key, language)).strip("|") for language in chosen)
    return "|".join(part for part in parts if part)


@cache
def cue(key: str) -> re.Pattern[str]:
    """Give the pattern that finds a cue as whole words, in any language and case; anywhere in scripts without spaces."""
    unparted = alternatives(key, unparted=True)
    return re.compile(rf"\b(?:{alternatives(key)})\b" + (f"|{unparted}" if unparted else ""), re.IGNORECASE)


MAX_UNIT = 600
"""Characters of one unit, at most; longer ones are cut at a semicolon, a comma or a space."""

_MIN_CUT = 200  # a cut is sought after this many characters, so that no crumbs are left behind
_WRAP = 60  # a line shorter than this share (in percent) of the longest one of its paragraph was not wrapped by width
_WRAP_WIDTH = 50  # the longest line of a wrapped paragraph has at least this many characters

Span = tuple[int, int]
"""First character and one past the last."""


Block = tuple[int, int, bool]
"""The same of a piece of layout, and whether it is one unit whatever full stops it holds."""


_is_heading = re.compile(r"\s{0,3}#{1,6}\s").match
_is_item = re.compile(r"\s*(?:[-*+•‣·–]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s+\S").match
# Columns are told by bars, tabs or wide gaps.
_is_row = re.compile(r"\s*\||.*?[^\s.!?](?: \| |\t| {3,})\S").match
_STOPS = re.compile(r"[.!?…]")
# Full stops of scripts that nupunkt does not cut at, with the closing marks that belong to them. A quotation that runs
# on with と is one sentence.
_MARK = r"\[(?:\d{1,3}(?:[,–-]\s?\d{1,3})*|[a-z]|[^\W\d_][^\[\]\n]{0,30})\](?::\s?\d[\d–-]*)?"
"""The mark of a note, with the page that Wikipedia writes behind it: `[12]`, `[a]`, `[citation needed]`, `[1]:23`."""
_OTHER_STOPS = re.compile(
    rf"[。！？｡؟۔।॥]+(?:(?:{_MARK})+|[”’」』）】》〉\"')\]]*(?![と”’」』）】》〉\"')\]])(?:{_MARK})*)"
)
_ORDINAL = re.compile(r"(?:^|\D)\d{1,2}\.\s*$")
# "am 3. Mai", "im 19. Jahrhundert": a day or century with its full stop goes on.
_AFTER_ORDINAL = re.compile(
    r"(?:Jan|Jän|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|Jahrhundert|jan|feb|mar|mai|jun|jul|aug|sep|okt|nov|des|århund)"
)
# Abbreviations that nupunkt does not know and that hardly ever end a sentence.
_GOES_ON = re.compile(
    r"(?:\b(?:bzw|gem|vgl|evtl|ggf|inkl|zzgl|sog|abs|art|nr|mme|mlle|sr|sra|srta|núm|pág|sig|dott|dhr|mevr|blz|bl\.a|t\.ex)"
    r"|(?<=[–(])ca?)\.\s*$",
    re.I,
)
_NEXT_WORD = re.compile(r"\s*(?:\(\d{4}\)\s)?(\w)")
_NOTE = re.compile(rf"[)”\"’»]*(?:\s?{_MARK})+")
_AFTER_NOTE = re.compile(rf"(?<=[\w)”\"’][.!?]|[.!?][)”\"’])(?:(?:{_MARK})+|[¹²³⁰⁴-⁹][¹²³⁰⁴-⁹,]*)(?=\s+[^\W\d_a-z])")
"""Marks of notes behind a full stop, after which the next sentence begins: `… crowns.[12] It …`, `… crowns.¹² It …`."""
_BREAKS = ((";", "；"), (",", "，", "、"), (" ", "\n", "\t"))


@lru_cache(maxsize=512)  # a page is cut when it is read and when it is held against claims, a question ten times over
def spans(text: str) -> tuple[SentenceSpan, ...]:
    """Find the sentences of `text`.

    Returns:
        Spans in order, numbered from 1, not overlapping; every non-space character of `text` is in exactly one, and
        `text[start:end]` neither begins nor ends with white space.
    """
    found = (unit for block in _blocks(text) for unit in _units(text, block))
    return tuple(
        SentenceSpan(number=number, start=start, end=end) for number, (start, end) in enumerate(found, start=1)
    )


def _blocks(text: str) -> Iterator[Block]:
    """Paragraphs, and headings, list items and table rows by themselves."""
    paragraph: list[Span] = []
    start = 0
    while start < len(text):
        stop = text.find("\n", start)
        stop = len(text) if stop < 0 else stop + 1
        line = text[start:stop].rstrip()
        whole = bool(_is_heading(line) or _is_row(line))
        if not line or whole:
            yield from _paragraph(text, paragraph)
            paragraph = []
            if line:
                yield start, stop, True
        elif _is_item(line):
            yield from _paragraph(text, paragraph)
            paragraph = [(start, stop)]
        else:
            paragraph.append((start, stop))
        start = stop
    yield from _paragraph(text, paragraph)


def _paragraph(text: str, lines: list[Span]) -> Iterator[Block]:
    """Cut where a line ended before the margin: it is a title or an address, not wrapped prose."""
    if not lines:
        return
    widest = max(stop - start for start, stop in lines)
    begin = lines[0][0]
    for (start, stop), (after, _) in pairwise(lines):
        was_wrapped = widest >= _WRAP_WIDTH and (stop - start) * 100 >= _WRAP * widest
        if not was_wrapped and not text[after : after + 1].islower():
            yield begin, stop, False
            begin = after
    yield begin, lines[-1][1], False


def _units(text: str, block: Block) -> Iterator[Span]:
    begin, stop, whole = block
    part = text[begin:stop]
    cuts: set[int] = set()
    if not whole:
        cuts.update(match.end() for match in _OTHER_STOPS.finditer(part))
        if _STOPS.search(part):
            cuts.update(_cuts(part))
            cuts.update(match.end() for match in _AFTER_NOTE.finditer(part))
    last = 0
    for cut in (*sorted(cuts), len(part)):
        start, end = _stripped(part, last, cut)
        if start < end:
            yield from ((begin + a, begin + b) for a, b in _short(part, start, end))
        last = max(last, cut)


def _cuts(part: str) -> Iterable[int]:
    """Ends of the sentences that nupunkt finds in one block, mended where it cuts dates and notes apart."""
    found = sent_spans(part)
    for (start, end), (_, after) in pairwise(found):
        tail = part[max(start, end - 8) : end]
        rest = part[end:after]
        if (_ORDINAL.search(tail) and _AFTER_ORDINAL.match(rest.lstrip())) or _GOES_ON.search(tail):
            continue
        goes_on = _NEXT_WORD.match(rest)
        if goes_on and goes_on[1].islower() and tail.rstrip()[-1:] in "!?":
            continue  # a name that ends so ("Yahoo! was"), or words that somebody says ("Stop!" he said)
        if not any(letter.isalnum() for letter in rest):
            continue  # a closing bracket or quotation mark belongs to the sentence before it
        note = _NOTE.match(rest)
        yield end + note.end() if note and not tail[-1:].isspace() else end


def _stripped(part: str, start: int, end: int) -> Span:
    held = part[start:end]
    return end - len(held.lstrip()), start + len(held.rstrip())


def _short(part: str, start: int, end: int) -> Iterator[Span]:
    """Cut what is longer than `MAX_UNIT`."""
    while end - start > MAX_UNIT:
        cut = _cut_before(part, start + _MIN_CUT, start + MAX_UNIT)
        first = _stripped(part, start, cut)
        yield first
        start, _ = _stripped(part, cut, end)
    if start < end:
        yield start, end


def _cut_before(part: str, low: int, high: int) -> int:
    for marks in _BREAKS:
        at = max(part.rfind(mark, low, high) for mark in marks)
        if at >= 0:
            return at + 1
    return high
