"""A text as the checks see it: sentences with words, roots, figures, dates, names and what negations reach."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from agents.nlp import lang
from agents.nlp.normalize import ascii_digits
from agents.nlp.sentence_split import spans
from agents.nlp.tokens import UNSPACED, stop_words
from agents.verify.dates import When, dates
from agents.verify.figures import Figure, figures
from agents.verify.lexicon import classes, root
from agents.verify.names import Name, abbreviations, names, variants
from agents.verify.negation import Scope, scope

_TOKEN = re.compile(
    rf"(?P<elided>\b(?:[nldjmtsc]|qu)['’](?=\w))|(?P<run>[{UNSPACED}]+)|(?P<number>\d+(?:[.,]\d+)*%?)"
    rf"|(?P<word>(?:[^\W_{UNSPACED}]|[\u0300-\u036f\u0610-\u065f\u0900-\u0963])+(?:['’](?:[^\W\d_])+)*)|(?P<mark>[^\w\s])",
    re.IGNORECASE,
)
_CITATION = re.compile(r"\[(?:\^|#)?\w{1,12}(?:\s?[,–-]\s?\d{1,3})*\]|【\d+】")
_QUOTATION = re.compile(r"[“„«「『\"]([^“”„«»「」『』\"]{8,600})[”“»」』\"]")
_LIFE = re.compile(r"\([^()]*\b\d{3,4}\s?[-–—]\s?[^()]*\b\d{3,4}[^()]*\)")
"""`(1935 – 1977)` behind a name tells birth and death."""


@dataclass(frozen=True)
class Unit:
    """One sentence."""

    text: str
    words: tuple[str, ...]
    """Casefolded words and marks in order; scripts without spaces as pairs of neighbouring characters."""
    roots: tuple[str, ...]
    content: tuple[bool, ...]
    """For each word, whether it carries meaning; numbers and dates do not count, they are compared by themselves."""
    figures: tuple[Figure, ...]
    whens: tuple[When, ...]
    names: tuple[Name, ...]
    scope: Scope

    @property
    def content_roots(self) -> tuple[str, ...]:
        """Roots of the words that carry meaning, in order."""
        return tuple(one for one, counts in zip(self.roots, self.content, strict=True) if counts)

    @property
    def personal(self) -> bool:
        """Whether it speaks of the writer or the reader."""
        return any(word in lang.words("personal") for word in self.words)

    @property
    def asks(self) -> bool:
        """Whether it is a question."""
        return self.text.rstrip("\"”'’ )").endswith(("?", "？", "؟"))

    @property
    def opens_with_pronoun(self) -> bool:
        """Whether who it speaks of was named before it."""
        return bool(self.words) and self.words[0] in lang.words("pronouns")


@dataclass(frozen=True)
class Reading:
    """A text, read."""

    units: tuple[Unit, ...]
    words: frozenset[str]
    """All words, with the other forms of names among them."""
    roots: frozenset[str]
    classes: frozenset[int]
    quotations: tuple[str, ...]
    """What stands in quotation marks."""


@lru_cache(maxsize=2_048)
def read(text: str, language: str = "en") -> Reading:
    """Read `text`; marks of citations are not part of it."""
    plain = ascii_digits(_CITATION.sub("", text).strip())
    units = tuple(_unit(plain[span.start : span.end], language) for span in spans(plain)) if plain else ()
    every = {word for unit in units for word in unit.words}
    found_names = tuple(name for unit in units for name in unit.names)
    every |= variants({word for name in found_names for word in name.words}) | abbreviations(plain, found_names)
    roots = frozenset(one for unit in units for one in unit.roots)
    if _LIFE.search(plain):
        roots |= {root("born"), root("die")}
    kinds = frozenset(kind for one in roots for kind in classes(one))
    return Reading(units, frozenset(every), roots, kinds, tuple(_QUOTATION.findall(plain)))


def joined(readings: Sequence[Reading]) -> Reading:
    """Take several readings as one."""
    return Reading(
        tuple(unit for reading in readings for unit in reading.units),
        frozenset().union(*(reading.words for reading in readings)),
        frozenset().union(*(reading.roots for reading in readings)),
        frozenset().union(*(reading.classes for reading in readings)),
        tuple(one for reading in readings for one in reading.quotations),
    )


def _unit(text: str, language: str) -> Unit:
    stop, personal = stop_words(language) | lang.words("filler"), lang.words("personal")
    found_figures, whens = figures(text, language), dates(text, language)
    taken = [(one.start, one.end) for one in found_figures] + [(one.start, one.end) for one in whens]
    starts = {one.start: f"{one.low:g}" for one in found_figures if one.kind == "amount" and one.low == one.high}
    numbers: dict[int, str] = {}
    words: list[str] = []
    content: list[bool] = []
    for match in _TOKEN.finditer(text):
        word = match[0].casefold().replace("’", "'")
        if match.lastgroup == "run" and len(word) > 1:
            pairs = [word[at : at + 2] for at in range(len(word) - 1)]
            words.extend(pairs)
            content.extend([True] * len(pairs))
            continue
        word = word.removesuffix("'s")
        if value := starts.get(match.start()):
            numbers[len(words)] = value
        is_number = any(start <= match.start() < end for start, end in taken)
        carries = match.lastgroup in {"word", "run"} and not is_number and word not in stop
        words.append(word)
        content.append(carries and (len(word) > 1 or not word.isascii()) and word not in personal)
    reach = scope(words, content, text, language)
    if reach.no_effect:
        # "did not differ", "no effect": said of one matter, denied of it, in whatever words.
        more = {len(words)}
        reach = replace(reach, denied=reach.denied | more, nearest=reach.nearest | more)
        words.append("affect")
        content.append(True)
    roots = tuple(numbers.get(at) or (root(word) if word[:1].isalpha() else word) for at, word in enumerate(words))
    return Unit(text, tuple(words), roots, tuple(content), found_figures, whens, names(text, language), reach)
