"""Names by their form: runs of capitalised words, abbreviations; nationalities by a list.

A text as the checks see it: sentences with words, roots, figures, dates, names and what negations reach.

What comparing a sentence with its quotes finds, each with a reason that a reader understands.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Literal

from agents.nlp import lang
from agents.nlp.lang import spans
from agents.nlp.tokens import UNSPACED, ascii_digits, stop_words
from agents.verify.dates import When, dates, months
from agents.verify.figures import Figure, figures
from agents.verify.negation import NegationScope, classes, root, scope

_UPPER = "A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĚĘĢĞİŁŃŇŌŐŒŘŚŠŞŤŪŮŰŹŽŻΑ-ΩА-Я"
_CAPITAL = rf"(?:[{_UPPER}]\.(?:\s?[{_UPPER}]\.)*|[{_UPPER}][\w’'.&-]*[\w]|[{_UPPER}])"
_RUN = re.compile(
    rf"(?<![\w’'])(?:{_CAPITAL})(?:(?:\s+(?:of|the|of the|de|del|de la|van|von|der|van der|von der|du|des|di|al|el|la|bin|&|and)"
    rf"(?=\s+[{_UPPER}]))?\s+(?:{_CAPITAL}))*"
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)*")
_LINKS = frozenset("of the de del la van von der du des di al el bin and".split())
_OPENS = re.compile(r"(?:^|[.!?:;…¿¡]|[\"“„«(]|^\s*[-*•])\s*$")
_LEADING = re.compile(r"^[\s.’']*(?:(?:of|the|de|del|la|le|der|die|das|des|du|and|&)\s+)*")
_BARE_SUBJECT = re.compile(r"\s+(?:is|was|has|had|will|became|ist|war|hat|est|était|fue|es|'s)\b")


@dataclass(frozen=True)
class Name:
    """A name as it stands in a sentence."""

    words: tuple[str, ...]
    """Casefolded, without the small words between them."""
    shown: str
    start: int
    end: int
    sure: bool
    """False for a single capitalised word where a sentence begins, which may be any word."""


@lru_cache(maxsize=4_096)
def names(text: str, language: str = "en") -> tuple[Name, ...]:
    """Read the names of `text` in order.

    German writes every noun with a capital: there only runs of two words and abbreviations are sure. Texts without any
    small letters have no names by form.
    """
    if text.upper() == text or sum(letter.isupper() for letter in text) > len(text) / 2:
        return ()
    found: list[Name] = []
    for match in _RUN.finditer(text):
        start, end = match.span()
        shown = match.group()
        opens = bool(_OPENS.search(text[:start]))
        while (first := _WORD.match(shown)) and _only_opens(first[0], language, opens=opens):
            rest = _LEADING.sub("", shown[first.end() :])
            shown, opens = rest if rest[:1].isupper() else "", False
        start = end - len(shown)
        plain = (piece.casefold().removesuffix("'s").removesuffix("’s") for piece in _WORD.findall(shown))
        no_names = _LINKS | lang.words("no_names") | months(language).keys()
        words = tuple(word for word in plain if word not in no_names and not word.isdigit())
        if not words:
            continue
        found.append(Name(words, shown, start, end, _is_sure(text, words, shown, end, opens=opens, language=language)))
    return tuple(found)


def _only_opens(word: str, language: str, *, opens: bool) -> bool:
    """Tell whether a capitalised word is a function word that only begins the sentence."""
    low = word.casefold()
    return (
        (opens or word in {"I", "The", "A"})
        and (low in stop_words(language) or low in lang.words("no_names"))
        and not (word.isupper() and len(word) > 1)
    )


def _is_sure(text: str, words: tuple[str, ...], shown: str, end: int, *, opens: bool, language: str) -> bool:
    abbreviation = shown.replace(".", "").isupper() and len(shown) > 1
    if language == "de":
        return (len(words) > 1 and not opens) or abbreviation
    if len(words) > 1 or not opens or abbreviation:
        return True
    return bool(_BARE_SUBJECT.match(text, end)) and not words[0].endswith(("s", "ing", "ness", "ment", "tion"))


def variants(words: Collection[str]) -> set[str]:
    """Give other forms under which names among `words` are known: nationalities, abbreviations with stops."""
    bare = {word.replace(".", "") for word in words}
    return bare.union(*(_demonyms().get(word, ()) for word in bare))


@cache
def _demonyms() -> dict[str, set[str]]:
    """Map each country to its people's names, and each of these to the country."""
    forms: defaultdict[str, set[str]] = defaultdict(set)
    for country, *others in lang.rows("demonyms"):
        forms[country] |= {country, *others}
        for other in others:
            forms[other].add(country)
    return forms


def abbreviations(text: str, found: tuple[Name, ...]) -> set[str]:
    """Give the abbreviations that the names of a text may have: FDA for Food and Drug Administration."""
    low = text.casefold()
    short = {form for form, *long in lang.rows("long_names") if " ".join(long) in low}
    return short | {"".join(word[0] for word in name.words) for name in found if len(name.words) > 1}


_TOKEN = re.compile(
    rf"(?P<elided>\b(?:[nldjmtsc]|qu)['’](?=\w))|(?P<run>[{UNSPACED}]+)|(?P<number>\d+(?:[.,]\d+)*%?)"
    rf"|(?P<word>(?:[^\W_{UNSPACED}]|[\u0300-\u036f\u0610-\u065f\u0900-\u0963])+(?:['’](?:[^\W\d_])+)*)|(?P<mark>[^\w\s])",
    re.IGNORECASE,
)
_HIRAGANA = re.compile("[\u3041-\u309f]+")
"""Endings and particles of Japanese carry no meaning of their own."""
_CITATION = re.compile(r"\[(?:\^|#)?\w{1,12}(?:\s?[,–-]\s?\d{1,3})*\]|【\d+】")
_QUOTATION = re.compile(r"[“„«「『\"]([^“”„«»「」『』\"]{8,600})[”“»」』\"]")
_LIFE = re.compile(r"\([^()]*\b\d{3,4}\s?[-–—]\s?[^()]*\b\d{3,4}[^()]*\)")
"""`(1935 – 1977)` behind a name tells birth and death."""


@dataclass(frozen=True)
class ParsedSentence:
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
    scope: NegationScope

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
class ParsedText:
    """A text, read."""

    units: tuple[ParsedSentence, ...]
    words: frozenset[str]
    """All words, with the other forms of names among them."""
    roots: frozenset[str]
    classes: frozenset[int]
    quotations: tuple[str, ...]
    """What stands in quotation marks."""


@lru_cache(maxsize=2_048)
def read(text: str, language: str = "en") -> ParsedText:
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
    return ParsedText(units, frozenset(every), roots, kinds, tuple(_QUOTATION.findall(plain)))


def joined(readings: Sequence[ParsedText]) -> ParsedText:
    """Take several readings as one."""
    return ParsedText(
        tuple(unit for reading in readings for unit in reading.units),
        frozenset().union(*(reading.words for reading in readings)),
        frozenset().union(*(reading.roots for reading in readings)),
        frozenset().union(*(reading.classes for reading in readings)),
        tuple(one for reading in readings for one in reading.quotations),
    )


def _pairs(run: str) -> Iterator[str]:
    """Cut a run of a script without spaces into pairs of neighbours; words that turn a sentence round stay whole."""
    for part in filter(None, _turning().split(run)):
        whole = len(part) == 1 or _turning().fullmatch(part)
        yield from (part,) if whole else (part[at : at + 2] for at in range(len(part) - 1))


@cache
def _turning() -> re.Pattern[str]:
    known = frozenset[str]().union(*map(lang.words, ("opposites", "synonyms", "all", "some", "hedges")))
    signs = "|".join(
        sorted((re.escape(one) for one in known if re.fullmatch(f"[{UNSPACED}]{{2,}}", one)), key=len, reverse=True)
    )
    return re.compile(f"(?<![{''.join(lang.words('denying_signs'))}])({signs})")


def _unit(text: str, language: str) -> ParsedSentence:
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
            pairs = list(_pairs(word))
            words.extend(pairs)
            content.extend(not _HIRAGANA.fullmatch(pair) and pair not in stop for pair in pairs)
            continue
        word = word.removesuffix("'s")
        if value := starts.get(match.start()):
            numbers[len(words)] = value
        is_number = any(start <= match.start() < end for start, end in taken)
        carries = match.lastgroup in {"word", "run"} and not is_number and word not in stop
        words.append(word)
        content.append(carries and (len(word) > 1 or not word.isascii()) and word not in personal)
    reach = scope(words, content, text, language)
    if lang.cue("no_effect").search(text):
        # "did not differ", "no effect": said of one matter, denied of it, in whatever words.
        more = {len(words)}
        reach = replace(reach, denied=reach.denied | more, nearest=reach.nearest | more)
        words.append("affect")
        content.append(True)
    roots = tuple(numbers.get(at) or (root(word) if word[:1].isalpha() else word) for at, word in enumerate(words))
    return ParsedSentence(text, tuple(words), roots, tuple(content), found_figures, whens, names(text, language), reach)


Severity = Literal["contradicted", "unsupported", "partly", "note"]


@dataclass(frozen=True)
class Discrepancy:
    """Something that a comparison found."""

    severity: Severity
    key: str
    """Name of its reason in the word lists."""
    ours: str = ""
    """Words of the sentence, and of the source, that the reason tells."""
    theirs: str = ""


@dataclass(frozen=True)
class Pair:
    """A sentence beside its quotes."""

    mine: ParsedSentence
    source: ParsedText
    near: tuple[ParsedSentence, ...]
    """Sentences of the quotes that say most of it, best first."""
    best: float
    """Share of it that the first of them has."""
    context: float
    """Share of its content without names that the nearest have."""
    language: str


def reason(key: str, language: str = "en", *, ours: str = "", theirs: str = "") -> str:
    """Say a reason in `language`, in English where there is no wording."""
    wordings = {**lang.table("reasons", "en"), **lang.table("reasons", language)}
    return str(wordings[key]).format(ours=ours, theirs=theirs)
