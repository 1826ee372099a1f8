"""Quantities in sentences, and when two of them contradict each other: the same thing, the same unit, other numbers."""

import re
from functools import lru_cache
from typing import NamedTuple

from agents.offline.terms import distinct, names, span_of_years
from agents.verify.figures import figures, units

_SAME_THING = 0.6
"""Share of the smaller sentence's telling words that both have."""
_ERROR_TERM = re.compile(
    r"\b(?:standard error|standard deviation|margin|error|uncertainty|±)[^.;,]{0,12}\d[\d.,]*\s?[^\W\d_]*", re.I
)
_DENIED = re.compile(r"\b(?:not|never|no longer|nicht|kein\w*|pas|jamais|no)\b[^.;,]{0,60}$", re.IGNORECASE)


class Quantity(NamedTuple):
    """A number with what it counts."""

    value: float
    unit: str
    shown: str


@lru_cache(maxsize=4_096)
def quantities(text: str) -> tuple[Quantity, ...]:
    """List the amounts of `text` with their units; dates are none."""
    return tuple(
        Quantity(one.low, one.unit or next(iter(one.nouns), "").rstrip("s"), one.shown)
        for one in figures(text)
        if one.kind != "ordinal" and not one.weak
    )


def has_figure(text: str) -> bool:
    """Tell whether `text` states a quantity, not just a year."""
    return bool(quantities(text))


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
        before, known = spoken[: spoken.find(quantity.shown)], units().get(quantity.unit)
        lasts = known is not None and known.dimension in {"time", "span"}
        if quantity.unit and not lasts and not _DENIED.search(before):
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
