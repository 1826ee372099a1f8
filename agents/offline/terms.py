"""Words brought to a common form, names and years: what questions and sentences are compared by.

The engine's own sentences, and closed lists of words that tell the grammar of a question: one data file a language.

Quantities in sentences, and when two of them contradict each other: the same thing, the same unit, other numbers.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files

from agents.contracts.frozen import filled
from agents.nlp.tokens import content_words, language_of, years_in
from agents.verify.checks import stance
from agents.verify.figures import Figure, figures
from agents.verify.negation import root
from agents.verify.parsed_text import names as names_by_form

LANGUAGES = ("en", "de", "fr", "es")
SPACELESS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
"""Scripts that are written without spaces between words."""


@cache
def _locale(language: str) -> Mapping[str, Mapping[str, str]]:
    text = files("agents.offline").joinpath("locales", f"{language}.toml").read_text("utf-8")
    return tomllib.loads(text)


def known(language: str) -> str:
    """Give the language that the engine writes for a BCP 47 tag: English where it has no sentences."""
    short = re.split("[-_]", language.casefold())[0]
    return short if short in LANGUAGES else "en"


def knows(language: str) -> bool:
    """Tell whether the engine knows the grammar of a language, and has sentences in it."""
    return known(language) == re.split("[-_]", language.casefold())[0]


def say(language: str, name: str, **values: object) -> str:
    """Fill the sentence `name`, in English where `language` has none."""
    return filled(_locale(known(language))["says"][name], values, known(language))


@cache
def listed(name: str) -> re.Pattern[str]:
    """Compile the closed list `name` of all languages, as whole words: short texts are often taken for another one."""
    return re.compile(rf"(?<!\w)(?:{_all(name)})(?!\w)", re.IGNORECASE)


@cache
def opening(name: str, language: str = "") -> re.Pattern[str]:
    """Compile the closed list `name` for the beginning of a text, of all languages or of one of `LANGUAGES`."""
    listed = _locale(language)["words"][name] if language else _all(name)
    return re.compile(rf"^\W*(?:{listed})(?!\w)", re.IGNORECASE)


@cache
def frame() -> frozenset[str]:
    """Give the terms of the words of asking, which no answer repeats."""
    return frozenset(term for one in LANGUAGES for term in distinct(_locale(one)["words"]["frame"]))


@cache
def _all(name: str) -> str:
    return "|".join(words for language in LANGUAGES if (words := _locale(language)["words"].get(name)))


@lru_cache(maxsize=8_192)
def terms(text: str, language: str | None = None) -> tuple[str, ...]:
    """List the terms of the content words of `text`, in order, repeats kept."""
    return tuple(root(word) for word in content_words(text, language))


@lru_cache(maxsize=8_192)
def distinct(text: str, language: str | None = None) -> tuple[str, ...]:
    """List the terms of `text`, each once, in order of first use."""
    return tuple(dict.fromkeys(terms(text, language)))


@lru_cache(maxsize=4_096)
def names(text: str, language: str | None = None) -> tuple[str, ...]:
    """List proper names, as far as capitals tell."""
    return tuple(dict.fromkeys(one.shown for one in names_by_form(text, language or language_of(text)) if one.sure))


def overlap(left: str, right: str) -> float:
    """Share of the shorter text's terms that the other has too; 0 when one has none."""
    few, many = sorted((frozenset(distinct(left)), frozenset(distinct(right))), key=len)
    return len(few & many) / len(few) if few else 0.0


SAME, _FEWEST = 0.8, 3
"""Share of the shorter sentence's telling words, and how many at least, from which two sentences say the same."""
_SAME_THING = 0.6
"""Share of the smaller sentence's telling words that both have, where they may speak of one thing."""


@lru_cache(maxsize=4_096)
def quantities(text: str) -> tuple[Figure, ...]:
    """List the amounts of `text`; dates are none."""
    return tuple(one for one in figures(text) if one.kind != "ordinal" and not one.weak)


def repeats(one: str, other: str) -> bool:
    """Tell whether the shorter of two sentences says what the other says: its telling words, numbers and years."""
    short, long = sorted((frozenset(distinct(one)), frozenset(distinct(other))), key=len)
    if len(short) < _FEWEST or len(short & long) < SAME * len(short):
        return False
    few, many = sorted(({(item.low, item.measure) for item in quantities(text)} for text in (one, other)), key=len)
    first, second = years_in(one), years_in(other)
    same_years = not first or not second or (min(first), max(first)) == (min(second), max(second))
    return few <= many and (bool(few) or not many) and same_years


def differ(one: str, other: str) -> bool:
    """Tell whether two sentences give different numbers for the same thing."""
    if overlap(one, other) < _SAME_THING or not (quantities(one) and quantities(other)):
        return False
    return any(stance(a, b, language=language_of(a)).stance == "contradicts" for a, b in ((one, other), (other, one)))
