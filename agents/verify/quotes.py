"""Is a quote in a text? White space and typography may differ; a sign, a digit, a unit or a negation may not."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from agents.nlp.tokens import UNSPACED, language_of
from agents.verify.figures import Figure, figures
from agents.verify.negation import denies, is_cut_from_negation
from agents.verify.numerals import units

Span = tuple[int, int]
"""First character of the source's own words, and one past their last: of the text as it was given."""

MIN_WORDS = 3
"""Words that a quote must have: `is` stands in every text and proves nothing."""
MIN_LETTERS = 12
"""Or so many letters and digits, for a quote of two long words; scripts without spaces need `MIN_SIGNS`."""
MIN_SIGNS = 4
"""Characters of a script without spaces that a quote must have."""
MAX_OMITTED = 600
"""Characters that one omission mark may stand for; what is farther apart are two quotes."""

_FOLDED = {
    "\u2018": "'", "\u2019": "'", "\u201a": "'", "\u201b": "'", "\u2032": "'", "\u00b4": "'", "`": "'",
    "\u201c": '"', "\u201d": '"', "\u201e": '"', "\u201f": '"', "\u2033": '"', "\u00ab": '"', "\u00bb": '"',
    "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-", "\u2014": "-", "\u2015": "-", "\u2212": "-",
    "\u2026": "...", "ё": "е", "Ё": "Е",
}  # fmt: skip
_PLAIN = re.compile(r"[!-,./0-_a-~]+")  # ASCII without space, hyphen and back-tick: nothing there is ever folded
_OMISSION = re.compile(r"\s*(?:[\[(]\s*)?(?:\u2026|\.{3,})(?:\s*[\])])?\s*")
_CITATION = re.compile(
    r"\s?\[\d{1,3}(?:\s?[,–-]\s?\d{1,3})*\]|(?<=[.,;:!?)”\"’»])[¹²³⁰⁴-⁹]{1,3}(?:[,–][¹²³⁰⁴-⁹]{1,3})*(?=\s|$)"
)
_RUNNING_HEAD = re.compile(r"(?<=[\w,;])[^\S\n]*\n\s*\n(?=[^\n]*[^\W\d_]{2})[^\n.!?]{3,80}\n(?=\s*\n\s*[a-z0-9(])")
"""A title or page line by itself between two halves of a sentence."""
_SENTENCE_END = re.compile(r"[.!?。！？][\"'”’)\]]*\s")
_MARKS = "\"'\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb"
_SIGNS = re.compile(f"[{UNSPACED}]")
_PIECE = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")
_UNPARTED = re.compile(
    r"[\u3005\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff、。，！？；：「」『』（）]"
)
"""Chinese and Japanese signs: Korean parts words by spaces, Thai parts sentences."""
_COMPOUND = re.compile(r"[^\W_][-\u2010\u2011][^\W_]|[^\W\d_]/[^\W\d_]")
_JOINED_AND = re.compile(r"(?<!\w)(?:[وف](?=ال)|ו(?=ה))")
_AROUND = 24  # characters on each side of a cut in which a figure may lie
_VOWELLESS = re.compile(r"[\u05d0-\u05ea\u0621-\u064a]")
_VOWEL_MARKS = re.compile(r"[\u05b0-\u05bc\u05c1\u05c2\u05c7\u0640\u064b-\u0652\u0670]")
_LEFT_OUT = (_CITATION, _VOWEL_MARKS, _RUNNING_HEAD)
"""What is not among the source's words, or what a writer may leave out."""


@dataclass(frozen=True)
class _Folded:
    letters: str
    where: tuple[int, ...]
    """Place of each folded character in the original."""
    hyphens: dict[int, bool]
    """Before which folded characters a hyphen between letters was left out, and whether a line ended there."""


def find_quote(quote: str, text: str) -> Span | None:
    """Find `quote` in `text`.

    Returns:
        The first place where its words stand, or None: for an empty or meaningless quote, for other words, another
        order, another number, sign or unit, for two passages stitched together without an omission mark, and for words
        that were cut from the negation beside them.
    """
    wanted = quote.strip()
    if not _proves_something(wanted):
        return None
    at = text.find(wanted)
    found: Span | None = (at, at + len(wanted))
    if at < 0 or not _is_whole(text, at, at + len(wanted)):
        bare = wanted.strip(_MARKS).strip()  # quotation marks around the words are the writer's
        found = (
            _folded_place(wanted, text)
            or (_folded_place(bare, text) if bare != wanted and _proves_something(bare) else None)
            or next(filter(None, (_leaving_out(marks, wanted, text) for marks in _LEFT_OUT)), None)
            or _folded_place(wanted, text, any_case=True)
            or _with_omissions(wanted, text)
            or _with_other_spelling(wanted, text)
        )
    return None if found and is_cut_from_negation(text[: found[0]], text[found[1] :]) else found


def speaks_for_itself(part: str, quote: str) -> bool:
    """Tell whether words of a quote mean outside of it what they mean in it: nothing before them in their sentence denies them.

    “The mayor took money” stands in “it is not true that the mayor took money”, and says the contrary of it.
    """
    place = find_quote(part, quote)
    if place is None:
        return False
    ends = [match.end() for match in _SENTENCE_END.finditer(quote, 0, place[0])]
    return not denies(quote[ends[-1] if ends else 0 : place[0]])


def _proves_something(quote: str) -> bool:
    signs = len(_SIGNS.findall(quote))
    # Arabic and Hebrew leave their vowels out, so that ten letters say what fifteen do elsewhere.
    letters = sum(letter.isalnum() for letter in quote) + len(_VOWELLESS.findall(quote)) // 2
    return signs >= MIN_SIGNS or letters >= MIN_LETTERS or (len(quote.split()) >= MIN_WORDS and letters > MIN_WORDS)


def _folded_place(quote: str, text: str, *, any_case: bool = False) -> Span | None:
    source, target = _fold(text), _fold(quote)
    hay, needle = (one.letters.casefold() if any_case else one.letters for one in (source, target))
    if not needle or len(hay) != len(source.where) or len(needle) != len(target.where):
        return None  # folding case changed the length (ß): the places would be wrong
    at = hay.find(needle)
    while at >= 0:
        stop = at + len(needle)
        start, end = source.where[at], _end(source, stop, text)
        if _hyphens_agree(source, target, at, stop) and _is_whole(text, start, end):
            return start, end
        at = hay.find(needle, at + 1)
    return None


def _end(source: _Folded, stop: int, text: str) -> int:
    end = source.where[stop - 1] + 1
    while end < len(text) and unicodedata.combining(text[end]):
        end += 1
    return end


def _leaving_out(marks: re.Pattern[str], quote: str, text: str) -> Span | None:
    """Find a quote that differs from the text in such marks only."""
    kept: list[int] = []
    last = 0
    for match in marks.finditer(text):
        if denies(match[0]):
            continue
        kept.extend(range(last, match.start()))
        last = match.end()
    if not last:
        return None
    kept.extend(range(last, len(text)))
    bare = "".join(text[place] for place in kept)
    found = _folded_place(marks.sub("", quote), bare)
    return found and (kept[found[0]], kept[found[1] - 1] + 1)


def _with_omissions(quote: str, text: str) -> Span | None:
    """Every part must stand in the source, in order, near the one before, and no negation may be among the omitted."""
    parts = [part for part in _OMISSION.split(quote.strip(_MARKS)) if part.strip()]
    if not parts or (len(parts) == 1 and parts[0] == quote) or not all(_proves_something(part) for part in parts):
        return None
    begin = start = end = -1
    for number, part in enumerate(parts):
        window = text[: end + MAX_OMITTED + len(part) + 50] if number else text
        offset = max(end, 0)
        found = find_quote(part, window[offset:]) if not _OMISSION.search(part) else None
        if found is None:
            return None
        start, stop = offset + found[0], offset + found[1]
        if number and not _SENTENCE_END.search(text[end:start]) and denies(text[end:start]):
            return None
        begin = start if begin < 0 else begin
        end = stop
    return begin, end


def _with_other_spelling(quote: str, text: str) -> Span | None:
    """Find the same words where a figure is written in another way: 2,000 and 2000, 5 % and 5 per cent, 352万 and 三百五十二万."""
    language = language_of(text)
    mine = _spelled(quote, language)
    low = text.casefold()
    if not any(figure for _, figure, _, _ in mine) or not all(figure or word in low for word, figure, _, _ in mine):
        return None
    theirs = _spelled(text, language)
    for at in range(len(theirs) - len(mine) + 1):
        if all(_same_piece(one, other) for one, other in zip(mine, theirs[at:], strict=False)):
            start, end = theirs[at][2], theirs[at + len(mine) - 1][3]
            if _is_whole(text, start, end):
                return start, end
    return None


_Piece = tuple[str, Figure | None, int, int]


@lru_cache(maxsize=32)
def _spelled(text: str, language: str) -> tuple[_Piece, ...]:
    """Cut a text into words and figures, with their places."""
    found: list[_Piece] = [("", one, one.start, one.end) for one in figures(text, language, False) if not one.weak]
    spans = [(start, end) for _, _, start, end in found]
    for match in _PIECE.finditer(text):
        if not any(start < match.end() and match.start() < end for start, end in spans):
            found.append((match[0].casefold(), None, match.start(), match.end()))
    return tuple(sorted(found, key=lambda one: one[2]))


def _same_piece(one: _Piece, other: _Piece) -> bool:
    mine, theirs = one[1], other[1]
    if mine and theirs:
        return mine.equals(theirs) and (mine.unit, mine.kind) == (theirs.unit, theirs.kind)
    return mine is theirs and one[0] == other[0]


def _is_whole(text: str, start: int, end: int) -> bool:
    """Tell whether the place begins and ends between words, and within no number with its sign, scale, range and unit."""
    return not any(_cuts_word(text, at) or _cuts_figure(text, at) for at in (start, end))


def _cuts_word(text: str, at: int) -> bool:
    """Tell whether a word goes on across a place; the Arabic and Hebrew `and` is a word, though written with the next."""
    if any(_COMPOUND.match(text, first) for first in (at - 2, at - 1) if first >= 0):
        return True
    one, other = text[at - 1 : at], text[at : at + 1]
    if not (one.isalnum() and other.isalnum()) or _JOINED_AND.match(text, at - 1):
        return False
    return not (_SIGNS.match(one) or _SIGNS.match(other)) or (one.isdigit() and other.isdigit())


def _cuts_figure(text: str, at: int) -> bool:
    """Tell whether a place lies within a figure; only the word for its unit may stand behind the cut."""
    first = max(0, at - _AROUND)
    for one in figures(text[first : at + _AROUND], "en", False):
        if one.start < at - first < one.end and not one.weak:
            unit = units().get(text[at : first + one.end].strip(" -").casefold())
            if unit is None or unit.dimension == "share":
                return True
    return False


def _hyphens_agree(source: _Folded, target: _Folded, at: int, stop: int) -> bool:
    """A hyphen at a line end may be the printer's; everywhere else both or neither must have it."""
    pairs = ({source.hyphens.get(place), target.hyphens.get(place - at)} for place in range(at + 1, stop))
    return all(pair != {None, False} for pair in pairs)


@lru_cache(maxsize=32)
def _fold(text: str) -> _Folded:
    letters: list[str] = []
    where: list[int] = []
    hyphens: dict[int, bool] = {}
    place, length = 0, len(text)
    while place < length:
        if plain := _PLAIN.match(text, place):
            letters.extend(plain[0])
            where.extend(range(place, plain.end()))
            place = plain.end()
            continue
        one = text[place]
        if one.isspace():
            if letters and letters[-1] != " " and not _between_signs(text, place):
                letters.append(" ")
                where.append(place)
        elif unicodedata.category(one) != "Cf":
            folded = _FOLDED.get(one) or _decomposed(one, letters[-1] if letters else "")
            if folded == "-" and letters and letters[-1].isalpha() and (after := _joined(text, place)):
                hyphens[len(letters)] = after > place + 1
                place = after
                continue
            letters.extend(folded)
            where.extend([place] * len(folded))
        place += 1
    if letters and letters[-1] == " ":
        letters.pop()
        where.pop()
    return _Folded("".join(letters), tuple(where), hyphens)


def _between_signs(text: str, place: int) -> bool:
    """Tell whether white space parts two signs of a script without spaces: it is the printer's, not the writer's."""
    after = re.compile(r"\s*").match(text, place)
    following = text[after.end() : after.end() + 1] if after else ""
    return bool(_UNPARTED.match(text[place - 1 : place]) and _UNPARTED.match(following))


def _joined(text: str, hyphen: int) -> int:
    """Give the place of the letter that a hyphen joins, past a line end; 0 when it joins none."""
    after = hyphen + 1
    if text[after : after + 1].isspace():
        rest = re.match(r"[^\S\n]*\n[^\S\n]*", text[after : after + 80])
        after += rest.end() if rest else 0
    return after if text[after : after + 1].isalpha() else 0


def _decomposed(one: str, before: str) -> str:
    """Write H₂O as H2O and m² as m2; elsewhere raised and lowered digits keep a mark, since 10² is not 102."""
    kind = unicodedata.decomposition(one)
    mark = "^" if kind.startswith("<super>") else "_" if kind.startswith("<sub>") else ""
    if (mark == "_" and before.isalpha()) or (mark == "^" and before == "m"):
        mark = ""
    return mark + unicodedata.normalize("NFKD", one)
