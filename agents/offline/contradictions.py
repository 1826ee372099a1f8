"""Quantities in sentences, and when two of them contradict each other: the same thing, the same unit, other numbers."""

import re
from dataclasses import dataclass
from functools import lru_cache

from agents.offline.terms import distinct, listed, names, span_of_years, years

_NUMBER = r"\d{1,3}(?:[.,\u00a0\u202f]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?"
_CURRENCY = r"€|\$|£|¥|EUR|USD|GBP|CHF|JPY|euros?|dollars?|pounds?"
_SCALE = {"million": 1e6, "millionen": 1e6, "millones": 1e6, "billion": 1e9, "milliarden": 1e9, "thousand": 1e3}
_QUANTITY = re.compile(
    rf"(?P<before>{_CURRENCY})?\s?(?<![\w.,–-])(?P<number>{_NUMBER})(?!\d)\s?"
    rf"(?P<scale>millions?|billions?|thousand|Millionen|Milliarden|millones)?\s?"
    rf"(?P<unit>%|‰|{_CURRENCY}|(?:per ?cent|Prozent)\b|[^\W\d_]+)?"
)
_UNITS = {"per cent": "%", "percent": "%", "prozent": "%", "euro": "€", "euros": "€", "eur": "€", "usd": "$"}
_NO_UNIT = frozenset(
    "and or to of in on at by for from with the a per is are was were as than more less but which that who only und "
    "oder bis von et ou de à y o january february march april may june july august september october november december "
    "januar februar märz mai juni juli oktober dezember".split()
)
_DURATIONS = frozenset({"month", "year", "day", "hour", "minute", "plot", "monat", "jahr", "mois", "an", "me", "año"})
_SAME_THING = 0.6
"""Share of the smaller sentence's telling words that both have."""
_ERROR_TERM = re.compile(
    r"\b(?:standard error|standard deviation|margin|error|uncertainty|±)[^.;,]{0,12}\d[\d.,]*\s?[^\W\d_]*", re.I
)
_DENIED = re.compile(r"\b(?:not|never|no longer|nicht|kein\w*|pas|jamais|no)\b[^.;,]{0,60}$", re.IGNORECASE)
_IN_WORDS = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|half|twice|third|doubled)\b", re.I
)


@dataclass(frozen=True)
class Quantity:
    """A number with what it counts."""

    value: float
    unit: str
    shown: str


def _value(number: str, scale: str | None) -> float:
    if re.fullmatch(r"\d{1,3}(?:[.,\u00a0\u202f]\d{3})+", number):
        plain = re.sub(r"\D", "", number)
    else:
        plain = re.sub(r"[\u00a0\u202f]", "", number).replace(",", ".")
        plain = plain.replace(".", "", plain.count(".") - 1) if plain.count(".") > 1 else plain
    return float(plain) * _SCALE.get((scale or "").casefold().removesuffix("s"), 1.0)


@lru_cache(maxsize=4_096)
def quantities(text: str) -> tuple[Quantity, ...]:
    """List the numbers of `text` with their units; years are dates, not quantities."""
    found: list[Quantity] = []
    for match in _QUANTITY.finditer(text):
        if years(match["number"]) and not match["before"] and match["unit"] not in {"%", "EUR", "USD"}:
            continue
        unit = (match["before"] or match["unit"] or "").casefold()
        unit = _UNITS.get(unit, "" if unit in _NO_UNIT else unit)
        found.append(Quantity(_value(match["number"], match["scale"]), unit.rstrip("s"), match.group().strip()))
    return tuple(found)


def has_figure(text: str) -> bool:
    """Tell whether `text` states a quantity, not just a year."""
    return bool(quantities(text)) or bool(_IN_WORDS.search(text))


def subject_terms(text: str) -> frozenset[str]:
    """Telling words of `text` without its numbers and what they are counted in."""
    units = {term for quantity in quantities(text) for term in distinct(quantity.shown)}
    return frozenset(term for term in distinct(text) if not any(map(str.isdigit, term)) and term not in units)


@lru_cache(maxsize=4_096)
def _main_figures(text: str) -> dict[str, float]:
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
    left, right = _main_figures(one), _main_figures(other)
    shared = left.keys() & right.keys()
    if not shared or any(left[unit] == right[unit] for unit in shared):
        return False
    first, second = span_of_years(one), span_of_years(other)
    if first and second and (first[1] < second[0] or second[1] < first[0]):
        return False
    mine, yours = subject_terms(one), subject_terms(other)
    few = min(len(mine), len(yours))
    if few < 3 or len(mine & yours) / few < _SAME_THING:
        return False
    named, named_there = frozenset(names(one)), frozenset(names(other))
    return not (named or named_there) or bool(named & named_there)


def replaces(newer: str, older: str) -> bool:
    """Tell whether one sentence says that the other's figure no longer holds."""
    old = {(quantity.value, quantity.unit) for quantity in quantities(older)}
    return bool(listed("replaced").search(newer)) and any((q.value, q.unit) in old for q in quantities(newer))
