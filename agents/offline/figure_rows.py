"""Quantities in sentences, and when two of them contradict each other: the same thing, the same unit, other numbers."""

import re
from dataclasses import dataclass
from functools import lru_cache

from agents.offline.terms import YEAR, distinct, names

_NUMBER = r"\d{1,3}(?:[.,\u00a0\u202f]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?"
_CURRENCY = r"€|\$|£|¥|EUR|USD|GBP|CHF|JPY|euros?|dollars?|pounds?"
_SCALE = {
    "million": 1e6,
    "millions": 1e6,
    "millionen": 1e6,
    "billion": 1e9,
    "milliarden": 1e9,
    "thousand": 1e3,
    "万": 1e4,
    "億": 1e8,
    "亿": 1e8,
}
_QUANTITY = re.compile(
    rf"(?P<before>{_CURRENCY})?\s?(?<![\w.,–-])(?P<number>{_NUMBER})(?![\d])\s?(?P<scale>million|millions|thousand|"
    rf"billion|Millionen|Milliarden|万|億|亿)?\s?"
    rf"(?P<unit>%|‰|{_CURRENCY}|(?:per ?cent|percent|Prozent)\b|[^\W\d_]+)?",
)
_NO_UNIT = frozenset(
    [
        "and",
        "or",
        "to",
        "of",
        "in",
        "on",
        "at",
        "by",
        "for",
        "from",
        "with",
        "the",
        "a",
        "per",
        "is",
        "are",
        "was",
        "were",
        "und",
        "oder",
        "bis",
        "von",
        "et",
        "ou",
        "de",
        "à",
        "y",
        "o",
        "a",
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "januar",
        "februar",
        "märz",
        "mai",
        "juni",
        "juli",
        "oktober",
        "dezember",
        "as",
        "than",
        "more",
        "less",
        "but",
        "which",
        "that",
        "who",
        "only",
    ]
)
_SAME_THING = 0.6
"""Share of the smaller sentence's telling words that both have."""
_REPLACES = re.compile(
    r"\b(?:supersed\w+|withdrawn|corrected|outdated|no longer (?:valid|used|uses)|ersetzt|zurückgezogen|"
    r"berichtigt|überholt|remplac\w+|retiré\w*|corrigé\w*|sustituy\w+|retirad\w+|corregid\w+)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Quantity:
    """A number with what it counts."""

    value: float
    unit: str
    shown: str


def _value(number: str, scale: str | None) -> float:
    grouped = re.fullmatch(r"\d{1,3}(?:[.,\u00a0\u202f]\d{3})+", number)
    plain = (
        re.sub(r"[.,\u00a0\u202f]", "", number) if grouped else re.sub(r"[\u00a0\u202f]", "", number).replace(",", ".")
    )
    if plain.count(".") > 1:
        plain = plain.replace(".", "", plain.count(".") - 1)
    return float(plain) * _SCALE.get((scale or "").casefold(), 1.0)


@lru_cache(maxsize=4_096)
def quantities(text: str) -> tuple[Quantity, ...]:
    """List the numbers of `text` with their units; years are dates, not quantities."""
    found: list[Quantity] = []
    for match in _QUANTITY.finditer(text):
        number = match["number"]
        if YEAR.fullmatch(number) and not match["before"] and match["unit"] not in {"%", "EUR", "USD"}:
            continue
        unit = (match["before"] or match["unit"] or "").casefold()
        unit = {"per cent": "%", "percent": "%", "prozent": "%", "euro": "€", "euros": "€", "eur": "€", "usd": "$"}.get(
            unit, unit
        )
        if unit in _NO_UNIT:
            unit = ""
        found.append(Quantity(_value(number, match["scale"]), unit.rstrip("s"), match.group().strip()))
    return tuple(found)


def has_figure(text: str) -> bool:
    """Tell whether `text` states a quantity, not just a year."""
    return bool(quantities(text)) or bool(
        re.search(
            r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|twice|third|doubled)\b",
            text,
            re.IGNORECASE,
        )
    )


def span_of_years(text: str) -> tuple[int, int] | None:
    """The years that `text` speaks of, from the first to the last."""
    found = [int(year) for year in YEAR.findall(text)]
    return (min(found), max(found)) if found else None


def subject_terms(text: str) -> tuple[str, ...]:
    """Telling words of `text` without its numbers and what they are counted in."""
    units = {term for quantity in quantities(text) for term in distinct(quantity.shown)}
    return tuple(term for term in distinct(text) if not any(char.isdigit() for char in term) and term not in units)


_ERROR_TERM = re.compile(
    r"\b(?:standard error|standard deviation|margin|error|uncertainty|plus or minus|"
    r"±)[^.;,]{0,12}\d[\d.,]*\s?[^\W\d_]*",
    re.IGNORECASE,
)
_DENIED = re.compile(r"\b(?:not|never|no longer|nicht|kein\w*|pas|jamais|no)\b[^.;,]{0,60}$", re.IGNORECASE)


@lru_cache(maxsize=4_096)
def main_figures(text: str) -> dict[str, float]:
    """The one value that `text` states in each unit; without units of several values, errors and denied figures."""
    stated: dict[str, set[float]] = {}
    spoken = _ERROR_TERM.sub(" ", text)
    for quantity in quantities(spoken):
        before = spoken[: spoken.find(quantity.shown)]
        if quantity.unit and quantity.unit not in _DURATIONS and not _DENIED.search(before):
            stated.setdefault(quantity.unit, set()).add(quantity.value)
    return {unit: next(iter(values)) for unit, values in stated.items() if len(values) == 1}


def differ(one: str, other: str) -> bool:
    """Tell whether two sentences give different numbers in one unit for the same thing and an overlapping time."""
    left, right = main_figures(one), main_figures(other)
    shared = [unit for unit in left if unit in right]
    if not shared or any(left[unit] == right[unit] for unit in shared):
        return False
    first, second = span_of_years(one), span_of_years(other)
    if first and second and (first[1] < second[0] or second[1] < first[0]):
        return False
    mine_terms, your_terms = frozenset(subject_terms(one)), frozenset(subject_terms(other))
    few = min(len(mine_terms), len(your_terms))
    if few < 3 or len(mine_terms & your_terms) / few < _SAME_THING:
        return False
    return not _of_different_things(one, other)


_DURATIONS = frozenset({"month", "year", "day", "hour", "minute", "plot", "monat", "jahr", "mois", "an", "me", "año"})


def _of_different_things(one: str, other: str) -> bool:
    """Tell two sentences that name nothing in common, while one of them does name something."""
    mine, yours = frozenset(names(one)), frozenset(names(other))
    return bool(mine or yours) and not mine & yours


def replaces(newer: str, older: str) -> bool:
    """Tell whether one sentence says that the other's figure no longer holds."""
    if not _REPLACES.search(newer):
        return False
    old = {(quantity.value, quantity.unit) for quantity in quantities(older)}
    return any((quantity.value, quantity.unit) in old for quantity in quantities(newer))
