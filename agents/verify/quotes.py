"""Is a quote in a text? White space and typography may differ; a sign, a digit, a unit or a negation may not."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from agents.nlp.tokens import LETTERED, MARKS, UNSPACED, language_of
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

_FOLDED = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | {"ё": "е", "Ё": "е"}
)
_OMISSION = re.compile(r"\s*(?:[\[(]\s*)?(?:\u2026|\.{3,})(?:\s*[\])])?\s*")
_CITATION = re.compile(
    r"\s?\[\d{1,3}(?:\s?[,–-]\s?\d{1,3})*\]|(?<=[.,;:!?)”\"’»])[¹²³⁰⁴-⁹]{1,3}(?:[,–][¹²³⁰⁴-⁹]{1,3})*(?=\s|$)"
)
_RUNNING_HEAD = re.compile(r"(?<=[\w,;])[^\S\n]*\n\s*\n(?=[^\n]*[^\W\d_]{2})[^\n.!?]{3,80}\n(?=\s*\n\s*[a-z0-9(])")
"""A title or page line by itself between two halves of a sentence."""
_SENTENCE_END = re.compile(r"[.!?。！？][\"'”’)\]]*\s")
_MARKS = "\"'\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb"
_SIGNS = re.compile(f"[{UNSPACED}]")
_PARTED = f"{LETTERED}\uac00-\ud7a3"
"""Signs between which white space tells something: Korean parts words by it, Thai parts sentences."""
_UNSEEN = "\u05b0-\u05bc\u05c1\u05c2\u05c7\u0640\u064b-\u0652\u0670\u00ad\u200b-\u200f\u2060\ufeff"
"""Vowels of Arabic and Hebrew, which a writer may leave out, and signs of no width."""
_INDEX = "\u00b2\u00b3\u00b9\u2070-\u208e"
_LETTERS = rf"(?:(?![\d_{_INDEX}{UNSPACED}])[\w{MARKS}{_UNSEEN}])+"
_HYPHEN = re.compile(r"([-\u2010\u2011](?:[^\S\n]*\n[^\S\n]*)?)")
_TOKEN = re.compile(rf"(?<=[{_PARTED}])\s+(?=[{_PARTED}])|{_LETTERS}(?:{_HYPHEN.pattern}{_LETTERS})*|\d+|\.\.\.|\S")
_COMPOUND = re.compile(r"[^\W_][-\u2010\u2011][^\W_]|[^\W\d_]/[^\W\d_]")
_JOINED_AND = re.compile(r"(?<!\w)(?:[وف](?=ال)|ו(?=ה))")
_AROUND = 24  # characters on each side of a cut in which a figure may lie
_UNSEEN_SIGN = re.compile(f"[{_UNSEEN}]")
_VOWELLESS = re.compile(r"[\u05d0-\u05ea\u0621-\u064a]")


@dataclass(frozen=True)
class _Token:
    key: str
    """What it says, whatever its spelling."""
    start: int
    end: int
    hyphens: tuple[tuple[int, bool], ...] = ()
    """Before which letters of it a hyphen stands, and whether a line ends there: such a one may be the printer's."""
    figure: Figure | None = None

    def says(self, other: "_Token") -> bool:
        """Tell whether another one says the same; a hyphen within a line both must have."""
        if self.figure and other.figure:
            one, two = self.figure, other.figure
            return one.equals(two) and (one.unit, one.kind) == (two.unit, two.kind)
        if self.key != other.key or self.hyphens == other.hyphens:
            return self.key == other.key
        mine, theirs = dict(self.hyphens), dict(other.hyphens)
        return all({mine.get(at), theirs.get(at)} != {None, False} for at in mine | theirs)


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
        found = (
            _place(_without_marks(wanted), _without_marks(text), text)
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


def _place(mine: Sequence[_Token], theirs: Sequence[_Token], text: str) -> Span | None:
    """Find a run of tokens that begins and ends between the words and figures of a text."""
    for at in range(len(theirs) - len(mine) + 1 if mine else 0):
        if mine[0].says(theirs[at]) and all(map(_Token.says, mine, theirs[at : at + len(mine)])):
            start, end = theirs[at].start, theirs[at + len(mine) - 1].end
            if _is_whole(text, start, end):
                return start, end
    return None


@lru_cache(maxsize=32)
def _tokens(text: str) -> tuple[_Token, ...]:
    """Cut a text into words, numbers and signs; white space between them is none, but within Korean and Thai."""
    found: list[_Token] = []
    for match in _TOKEN.finditer(text):
        key, hyphens = "", []
        for at, part in enumerate(_HYPHEN.split(match[0]) if len(match[0]) > 1 else [match[0]]):
            if at % 2:
                hyphens.append((len(key), "\n" in part))
            else:
                key += _key(part, found[-1].key if found else "")
        if key:
            found.append(_Token(key, *match.span(), tuple(hyphens)))
    return tuple(found)


def _key(written: str, before: str) -> str:
    """Give what a token says: H₂O as H2O and m² as m2; elsewhere raised and lowered digits keep a mark, since 10² is not 102."""
    if written.isascii() or written.isspace():
        return written.strip().casefold().translate(_FOLDED) or " "
    kind = unicodedata.decomposition(written) if len(written) == 1 else ""
    mark = "^" if kind.startswith("<super>") else "_" if kind.startswith("<sub>") else ""
    if (mark == "_" and before.isalpha()) or (mark == "^" and before == "m"):
        mark = ""
    seen = "".join(one for one in written if not _UNSEEN_SIGN.match(one))
    return mark + unicodedata.normalize("NFKD", seen.translate(_FOLDED)).casefold()


@lru_cache(maxsize=32)
def _without_marks(text: str) -> tuple[_Token, ...]:
    """Leave out marks of notes and running heads: they are not among the source's words, or a writer leaves them out."""
    marks = [match.span() for one in (_CITATION, _RUNNING_HEAD) for match in one.finditer(text) if not denies(match[0])]
    return tuple(one for one in _tokens(text) if not any(start <= one.start < end for start, end in marks))


def _with_omissions(quote: str, text: str) -> Span | None:
    """Every part must stand in the source, in order, near the one before, and no negation may be among the omitted."""
    parts = [part for part in _OMISSION.split(quote.strip(_MARKS)) if part.strip()]
    if not parts or parts == [quote]:
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
    mine, known = _spelled(quote, language), {one.key for one in _tokens(text)}
    if not any(one.figure for one in mine) or not all(one.figure or one.key in known for one in mine):
        return None
    return _place(mine, _spelled(text, language), text)


@lru_cache(maxsize=32)
def _spelled(text: str, language: str) -> tuple[_Token, ...]:
    """Cut a text into words and figures."""
    found = [_Token("", one.start, one.end, (), one) for one in figures(text, language, False) if not one.weak]
    spans = [(one.start, one.end) for one in found]
    for one in _tokens(text):
        if any(map(str.isalnum, one.key)) and not any(start < one.end and one.start < end for start, end in spans):
            found.append(one)
    return tuple(sorted(found, key=lambda one: one.start))


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
