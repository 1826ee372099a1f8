"""Words brought to a common form, names, numbers and dates: what questions and sentences are compared by."""

import re
from functools import lru_cache

from agents.nlp.tokens import content_words

_ENDINGS = (
    "isation", "ization", "ations", "ation", "ement", "ments", "ment", "ance", "ence", "ions", "ness", "ally", "ity",
    "ion", "ical",
    "anc", "enc", "ungen", "ung", "ers", "er", "al", "ly", "ic", "or", "en",
)  # fmt: skip
_SHORTEST = 4
"""Letters that a term keeps at least when an ending is cut."""
_SHORTEST_BEFORE_TWO = 5
"""The same for endings of two letters, which many short words end in by accident."""
_LONGEST = 9
"""Letters that words are compared by: inflection stands at the end, whatever the language."""

YEAR = re.compile(r"(?<![\d.,])(1[5-9]\d\d|20\d\d)(?!\d|[.,]\d)")
_NAME = re.compile(
    r"[^\W\d_a-zà-öø-ÿ\u3040-\u9fff][\w’'-]*"
    r"(?: (?:(?:of|the|de|du|von|van|da|del|la|le|and|&) ){0,2}[^\W\d_a-zà-öø-ÿ\u3040-\u9fff][\w’'-]*)*"
)
_OPENS_SENTENCE = re.compile(r"(?:^|[.?!:;“\"(¿¡]\s*|\n)\W*$")
_DATES = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
    "Januar",
    "Februar",
    "März",
    "Mai",
    "Juni",
    "Juli",
    "Oktober",
    "Dezember",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
    "janvier",
    "février",
    "mars",
    "avril",
    "juin",
    "juillet",
    "août",
    "septembre",
    "octobre",
    "novembre",
    "décembre",
    "enero",
    "febrero",
    "marzo",
    "abril",
    "mayo",
    "junio",
    "julio",
    "agosto",
    "septiembre",
    "octubre",
    "noviembre",
    "diciembre",
]
_NO_NAMES = frozenset((*_DATES, *["I", "EUR", "USD", "GBP", "CHF"]))
"""Capitalised words that name nobody."""


_STRONG = {
    form: forms[0]
    for forms in (
        tuple(entry.split("/"))
        for entry in [
            "sell/sold",
            "pay/paid",
            "fall/fell/fallen",
            "grow/grew/grown",
            "rise/rose/risen",
            "build/built",
            "spend/spent",
            "buy/bought",
            "win/won",
            "lose/los/lost",
            "leav/left",
            "lead/led",
            "hold/held",
            "keep/kept",
            "begin/began/begun",
            "run/ran",
            "writ/wrote/written",
            "driv/drove/driven",
            "tak/took/taken",
            "giv/gave/given",
            "choos/chose/chosen/chos",
            "fly/flew/flown",
            "tell/told",
            "catch/caught",
            "know/knew/known",
            "meet/met",
            "think/thought",
            "bring/brought",
            "send/sent",
            "teach/taught",
            "shrink/shrank/shrunk",
            "sink/sank/sunk",
            "see/saw/seen",
            "eat/ate/eaten",
            "becom/became",
        ]
    )
    for form in forms[1:]
}
"""Strong verbs of English, as the stemmer leaves their forms."""


@lru_cache(maxsize=16_384)
def _common(stem: str) -> str:
    """Cut what derives one word from another, (`survival`, `survive`), and bring strong verbs to one form."""
    stem = _STRONG.get(stem, stem)
    if stem.isalpha():
        for ending in _ENDINGS:
            # `restor` is not `rest`: a short ending may only be cut from a long word.
            least = _SHORTEST if len(ending) > 2 else _SHORTEST_BEFORE_TWO
            if stem.endswith(ending) and len(stem) - len(ending) >= least:
                stem = stem[: -len(ending)]
                break
    return stem[:_LONGEST]


@lru_cache(maxsize=8_192)
def terms(text: str, language: str | None = None) -> tuple[str, ...]:
    """List the terms of the content words of `text`, in order, repeats kept."""
    return tuple(_common(word) for word in content_words(text, language))


def distinct(text: str, language: str | None = None) -> tuple[str, ...]:
    """List the terms of `text`, each once, in order of first use."""
    return tuple(dict.fromkeys(terms(text, language)))


@lru_cache(maxsize=4_096)
def names(text: str, language: str | None = None) -> tuple[str, ...]:
    """List proper names: capitalised words that do not open a sentence, with those joined to them.

    German writes every noun with a capital; there only names with a hyphen can be told apart.
    """
    found: list[str] = []
    for match in _NAME.finditer(text):
        name = match.group().rstrip("'’-")
        if _OPENS_SENTENCE.search(text[: match.start()]):
            first, _, rest = name.partition(" ")
            rest = re.sub(r"^(?:of|the|de|du|von|van|da|del|la|le|and|&) ", "", rest)
            if not rest[:1].isupper():
                if "-" not in name or language == "de":
                    continue
            elif first.casefold() in _ARTICLES or len(rest.split()) > 1:
                name = rest
        if name in _NO_NAMES or len(name) < 2:
            continue
        if language == "de" and "-" not in name and not name.isupper():
            continue
        found.append(name)
    return tuple(dict.fromkeys(found))


_ARTICLES = frozenset(
    [
        "the",
        "a",
        "an",
        "did",
        "does",
        "is",
        "are",
        "was",
        "were",
        "has",
        "in",
        "on",
        "at",
        "by",
        "for",
        "how",
        "what",
        "which",
        "when",
        "who",
        "why",
        "will",
        "can",
        "do",
        "der",
        "die",
        "das",
        "ein",
        "eine",
        "le",
        "la",
        "les",
        "un",
        "une",
        "el",
        "los",
        "las",
        "compare",
        "between",
        "from",
        "of",
        "and",
        "since",
    ]
)


def years(text: str) -> tuple[int, ...]:
    """List the years named in `text`, in order."""
    return tuple(int(year) for year in YEAR.findall(text))


@lru_cache(maxsize=1)
def date_terms() -> frozenset[str]:
    """Terms of months and weekdays."""
    return frozenset(term for word in _DATES for term in terms(word, "en"))


def overlap(left: tuple[str, ...], right: tuple[str, ...]) -> float:
    """Share of the smaller side's terms that the other has too; 0 when one is empty."""
    few, many = sorted((frozenset(left), frozenset(right)), key=len)
    return len(few & many) / len(few) if few else 0.0
