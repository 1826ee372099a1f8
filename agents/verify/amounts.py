"""Numbers and dates of a sentence held against those of its quotes: the same, rounded, computed, or another."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from agents.verify import polarity
from agents.verify.dates import When, missing
from agents.verify.figures import Figure, same_slot
from agents.verify.lexicon import root
from agents.verify.parsed_text import Unit
from agents.verify.reasons import reason

Severity = Literal["contradicted", "unsupported", "partly", "note"]

SAME_CONTEXT = 0.5
"""Share of the sentence's other content that a source sentence must have, for another number to be a contradiction
rather than a number about something else."""
RELATED = 0.25
"""Share from which another number in the same place is a sign of one, and told as such."""
ABOUT = 0.05
"""Relative error that "about" allows."""

_UP_WORDS = (
    r"rise|rises|rose|risen|rising|grew|grow\w*|increas\w+|gain\w*|climb\w*|up|higher|more|gestiegen|stieg\w*|zugenommen|"
    r"mehr|augment\w+|hausse|plus|aument\w+|más|subi\w+"
)
_DOWN_WORDS = (
    r"fell|fall\w*|drop\w*|declin\w+|decreas\w+|reduc\w+|lower|less|fewer|down|cut|shrank|gesunken|sank\w*|weniger|"
    r"baiss\w+|diminu\w+|moins|disminu\w+|menos|baj\w+"
)
_UP = re.compile(rf"\b(?:{_UP_WORDS})\b", re.IGNORECASE)
_DOWN = re.compile(rf"\b(?:{_DOWN_WORDS})\b", re.IGNORECASE)
_GROWTH = re.compile(rf"\b(?:{_UP_WORDS}|{_DOWN_WORDS})\b|[增减減升降涨漲跌]", re.IGNORECASE)
_DIFFERENCE = re.compile(
    r"\b(?:difference|gap|between|apart|unterschied|differenz|écart|différence|diferencia|brecha)\b", re.IGNORECASE
)
_TOTAL = re.compile(
    r"\b(?:total|together|combined|altogether|in all|sum|insgesamt|zusammen|au total|ensemble|en total|juntos)\b",
    re.IGNORECASE,
)
_TIMES = tuple(
    (re.compile(rf"\b(?:{words})\b", re.IGNORECASE), factor)
    for words, factor in (
        (r"doubl(?:ed|es|ing)|twice|two-?fold|verdoppel\w+|doppelt|doublé\w*|double|duplic\w+|doble", 2.0),
        (r"tripl(?:ed|es|ing)|trebled|three-?fold|verdreifach\w+|triplé\w*|triplic\w+|triple", 3.0),
        (r"quadrupl(?:ed|es|ing)|four-?fold|vervierfach\w+|quadruplé\w*|cuadruplic\w+", 4.0),
        (r"halved|halv(?:es|ing)|fell by half|halbiert\w*|réduit\w* de moitié|redujo a la mitad", 0.5),
    )
)
_MAJORITY = re.compile(
    r"\b(?:(?:a|the) majority|most|more than half|over half|(?:die )?mehrheit|die meisten|mehr als die hälfte|la plupart|"
    r"la majorité|plus de la moitié|la mayoría|más de la mitad)\b",
    re.IGNORECASE,
)
_MINORITY = re.compile(r"\b(?:a minority|less than half|fewer than half|minderheit|minorité|minoría)\b", re.IGNORECASE)
_CAUSE = re.compile(
    r"\b(?:because of|due to|owing to|caused by|as a result of|wegen|aufgrund|durch|à cause de|en raison de|"
    r"debido a|a causa de)\s+(?P<cause>[^.,;]{3,60})",
    re.IGNORECASE,
)
_STRICTLY = re.compile(
    r"\b(?:more than|over|above|in excess of|less than|fewer than|under|below|mehr als|über|weniger als|unter|plus de|"
    r"moins de|más de|menos de)\s*$",
    re.IGNORECASE,
)
_OF = re.compile(
    r"\s+(?:out\s+)?(?:of|von|der|sur|des|de)\s+(?:the\s|its\s|den\s|las\s|los\s|les\s)?\s*", re.IGNORECASE
)
_OF_WHICH = re.compile(
    r"\b(?:of which|of these|of them|including|davon|darunter|dont|parmi lesquels|de los cuales|de ellos|incluidos)\s"
    r"(?P<part>[^.;]{3,70})",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Finding:
    """Something that a comparison found."""

    severity: Severity
    key: str
    """Name of the reason in `agents.verify.reasons`."""
    text: str
    """The reason as a sentence."""


def found(severity: Severity, key: str, language: str, *, ours: str = "", theirs: str = "") -> Finding:
    """Make a finding with its reason."""
    return Finding(severity, key, reason(key, language, ours=ours, theirs=theirs))


def compare_amounts(
    mine: Unit, near: Sequence[Unit], every: Sequence[Unit], context: float, language: str
) -> Iterator[Finding]:
    """Hold the figures of a sentence against its quotes.

    Args:
        mine: the sentence.
        near: source sentences that say most of it.
        every: all sentences of the quotes.
        context: share of the sentence's content that `near` has.
        language: of the reasons.
    """
    theirs = [figure for unit in every for figure in unit.figures]
    beside = [figure for unit in near for figure in unit.figures]
    years = {year for unit in every for when in unit.whens for year in (when.first, when.last) if year}
    for figure in mine.figures:
        if figure.weak or figure.low in years:
            continue
        same = [other for other in theirs if figure.equals(other)]
        if same:
            yield from _same_value(figure, same, theirs, mine, language)
            continue
        if any(figure.rounds(other) or figure.allows(other) for other in theirs):
            continue
        if sources := _computed(figure, mine, every):
            yield found("note", "computed", language, ours=figure.shown, theirs=sources)
            continue
        rival = _rival(figure, mine, beside)
        if rival and context >= SAME_CONTEXT:
            yield found("contradicted", "other", language, ours=figure.shown, theirs=rival.shown)
        elif rival and context >= RELATED:
            yield found("unsupported", "rival", language, ours=figure.shown, theirs=rival.shown)
        elif figure.kind == "ordinal" and figure.low <= 2:
            yield found("partly", "number_missing", language, ours=figure.shown)
        else:
            yield found("unsupported", "number_missing", language, ours=figure.shown)
    yield from _factors(mine, near, context, language)
    yield from _shares(mine, near, language)
    yield from _causes(mine, near, language)


def _same_value(
    figure: Figure, same: Sequence[Figure], theirs: Sequence[Figure], mine: Unit, language: str
) -> Iterator[Finding]:
    if figure.role and all(other.role and other.role != figure.role for other in same) and _GROWTH.search(mine.text):
        shown, shown_theirs = f"{figure.role} {figure.shown}", f"{same[0].role} {same[0].shown}"
        yield found("contradicted", "other", language, ours=shown, theirs=shown_theirs)
    elif figure.bound and all(other.bound and other.bound != figure.bound for other in same):
        shown, shown_theirs = _with_bound(figure), _with_bound(same[0])
        yield found("contradicted", "other", language, ours=shown, theirs=shown_theirs)
    elif figure.per and all(other.per and other.per != figure.per for other in same):
        shown, shown_theirs = f"{figure.shown} / {figure.per}", f"{same[0].shown} / {same[0].per}"
        yield found("contradicted", "other", language, ours=shown, theirs=shown_theirs)
    elif (
        figure.bound
        and _STRICTLY.search(mine.text[: figure.start])
        and not any(other.bound or other.is_range for other in same)
    ):
        yield found("partly", "other", language, ours=_with_bound(figure), theirs=same[0].shown)
    elif not figure.bound and all(other.bound == "most" for other in same):
        yield found("partly", "restricted", language, theirs=_with_bound(same[0]))
    elif not figure.unit and figure.nouns and all(other.nouns and not _count_the_same(figure, other) for other in same):
        # Five gold and two platinum albums: the same numbers, each of the other thing.
        rival = next((one for one in theirs if one.nouns and _count_the_same(figure, one) and not one.unit), None)
        if rival and not any(rival.equals(one) and _count_the_same(rival, one) for one in mine.figures):
            yield found("contradicted", "other", language, ours=figure.shown, theirs=rival.shown)


def _count_the_same(one: Figure, other: Figure) -> bool:
    return bool(one.nouns and other.nouns) and root(one.nouns[0]) == root(other.nouns[0])


def _with_bound(figure: Figure) -> str:
    return {"least": "> ", "most": "< ", "": ""}[figure.bound] + figure.shown


def _rival(figure: Figure, mine: Unit, beside: Sequence[Figure]) -> Figure | None:
    """Another number for the same kind of thing that the sentence does not give too."""
    open_ones = [other for other in beside if not any(other.equals(one) for one in mine.figures)]
    same_value = [other for other in beside if other.unit and figure.unit and other.low == figure.low]
    fitting = [other for other in open_ones if same_slot(figure, other)]
    order = sorted(fitting, key=lambda other: (other.unit != figure.unit, abs(other.low - figure.low)))
    return next(iter([*same_value, *order]), None)


def _pairs(units: Sequence[Unit]) -> Iterator[tuple[Figure, Figure]]:
    """Earlier and later value, or part and whole, in the order in which a change is told."""
    for unit in units:
        amounts = [one for one in unit.figures if one.kind == "amount" and not one.weak]
        for at, one in enumerate(amounts):
            for other in amounts[at + 1 :]:
                if one.unit == other.unit or not one.unit or not other.unit:
                    yield (other, one) if other.role == "from" and one.role != "from" else (one, other)


def _computed(figure: Figure, mine: Unit, units: Sequence[Unit]) -> str:
    for early, late in _pairs(units):
        if not early.low or not late.low:
            continue
        slack = max(0.5, ABOUT * figure.low) if figure.about else 0.5
        shown = f"{early.shown}, {late.shown}"
        if figure.unit == "%":
            change = 100 * abs(late.low / early.low - 1)
            if _GROWTH.search(mine.text) and _right_way(mine, early, late) and abs(change - figure.low) <= slack:
                return shown
            small, large = sorted((early.low, late.low))
            if abs(100 * small / large - figure.low) <= slack and not _GROWTH.search(mine.text):
                return shown
        elif figure.unit == "point" and late.unit == "%" and early.unit in {"", "%"}:
            if _right_way(mine, early, late) and abs(abs(late.low - early.low) - figure.low) <= slack / 10:
                return shown
        elif same_slot(figure, early) or same_slot(figure, late):
            gap, total = abs(early.low - late.low), early.low + late.low
            is_gap = bool(_GROWTH.search(mine.text) or _DIFFERENCE.search(mine.text))
            if (is_gap and abs(gap - figure.low) < 1e-6 * total) or (_TOTAL.search(mine.text) and total == figure.low):
                return shown
    return ""


def _right_way(mine: Unit, early: Figure, late: Figure) -> bool:
    up, down = bool(_UP.search(mine.text)), bool(_DOWN.search(mine.text))
    return up == down or (late.low > early.low) == up


def _factors(mine: Unit, near: Sequence[Unit], context: float, language: str) -> Iterator[Finding]:
    """Hold "doubled", "tripled" and "halved" against two values of the source."""
    for pattern, factor in _TIMES:
        match = pattern.search(mine.text)
        if not match or any(pattern.search(unit.text) for unit in near):
            continue
        before = mine.text[max(0, match.start() - 24) : match.start()]
        for early, late in _pairs(near):
            if late.role != "from" and early.role != "from":
                continue
            ratio = late.low / early.low if early.low else 0.0
            shown = f"{early.shown}, {late.shown}"
            if re.search(r"\b(?:more than|over|mehr als|plus que|más que)\s*$", before, re.IGNORECASE):
                fits = ratio >= factor if factor > 1 else ratio <= factor
            elif re.search(r"\b(?:nearly|almost|close to|fast|beinahe|presque|casi)\s*$", before, re.IGNORECASE):
                fits = 0.85 <= ratio / factor <= 1
            else:
                fits = 0.93 <= ratio / factor <= 1.1
            if fits:
                yield found("note", "computed", language, ours=match.group(), theirs=shown)
            elif context > 0:
                yield found("contradicted", "not_computed", language, ours=match.group(), theirs=shown)
            break


def _shares(mine: Unit, near: Sequence[Unit], language: str) -> Iterator[Finding]:
    """Hold "all", "a majority" and "half" against shares and against "two of the three"."""
    every = polarity.universals(mine.words)
    part = next(_parts(mine, near), "") if every else ""
    if part:
        yield found("contradicted", "other", language, ours=every[0], theirs=part)
    shares = [one for unit in near for one in unit.figures if one.unit == "%"]
    for pattern, is_majority in ((_MAJORITY, True), (_MINORITY, False)):
        match = pattern.search(mine.text)
        if not match or not shares or any(pattern.search(unit.text) for unit in near):
            continue
        right = next((one for one in shares if one.low != 50 and (one.low > 50) == is_majority), None)
        if right:
            yield found("note", "computed", language, ours=match.group(), theirs=right.shown)
        else:
            yield found("contradicted", "other", language, ours=match.group(), theirs=shares[0].shown)


def _parts(mine: Unit, near: Sequence[Unit]) -> Iterator[str]:
    """Find "two of the three" about what the sentence says of all."""
    for unit in near:
        for one, whole in pairwise(unit.figures):
            if not _OF.fullmatch(unit.text[one.end : whole.start]) or one.low >= whole.low:
                continue
            if {root(noun) for noun in whole.nouns} & set(mine.roots):
                yield unit.text[one.start : whole.end]


def _causes(mine: Unit, near: Sequence[Unit], language: str) -> Iterator[Finding]:
    """A number that the source divides by reasons must not be given one reason as a whole."""
    cause = _CAUSE.search(mine.text)
    if not cause:
        return
    named = {root(word.casefold()) for word in re.findall(r"[^\W\d_]{4,}", cause["cause"])}
    for unit in near:
        parts = _OF_WHICH.search(unit.text)
        if (
            parts
            and not named & set(unit.roots)
            and any(one.equals(other) for one in mine.figures for other in unit.figures)
        ):
            yield found("contradicted", "other", language, ours=cause.group(), theirs=parts.group())


def compare_dates(
    mine: Unit, near: Sequence[Unit], every: Sequence[Unit], context: float, language: str
) -> Iterator[Finding]:
    """Hold the dates of a sentence against its quotes; arguments as for `compare_amounts`."""
    theirs = tuple(when for unit in every for when in unit.whens)
    beside = tuple(when for unit in near for when in unit.whens)
    numbers = {value for unit in every for figure in unit.figures for value in (figure.low, figure.high)}
    for when in mine.whens:
        if not missing(when, theirs):
            continue
        if when.month is None and {when.first, when.last} <= numbers:
            continue
        rival = _other_time(when, mine.whens, beside)
        if rival and context >= SAME_CONTEXT:
            yield found("contradicted", "other", language, ours=when.shown, theirs=rival.shown)
        elif rival and context >= RELATED:
            yield found("unsupported", "rival", language, ours=when.shown, theirs=rival.shown)
        else:
            yield found("unsupported", "date_missing", language, ours=when.shown)


def _other_time(when: When, mine: Sequence[When], beside: Sequence[When]) -> When | None:
    kind = [other for other in beside if (when.years and other.years) or (when.month and other.month)]
    return next(
        (other for other in kind if not any(one.same_year(other) and one.same_day(other) for one in mine)), None
    )
