"""Numbers and dates of a sentence held against those of its quotes: the same, rounded, computed, or another."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from agents.nlp import lang
from agents.verify.dates import missing
from agents.verify.figures import Figure, ends_with, same_slot
from agents.verify.negation import root
from agents.verify.parsed_text import Discrepancy, Pair, ParsedSentence

SAME_CONTEXT = 0.5
"""Share of the sentence's other content that a source sentence must have, for another number to be a contradiction
rather than a number about something else."""

_GROWTH_SIGNS = re.compile("[增减減升降涨漲跌]")
_OF = re.compile(r"\s+(?:out\s+)?(?:of|von|der|sur|des|de)\s+(?:the\s|its\s|den\s|las\s|los\s|les\s)?\s*", re.I)


def compare_amounts(pair: Pair) -> Iterator[Discrepancy]:
    """Hold the figures of a sentence against its quotes: those that say most of it, and all."""
    units = pair.source.units
    theirs = [figure for unit in units for figure in unit.figures]
    years = {year for unit in units for when in unit.whens for year in (when.first, when.last) if year}
    for figure in pair.mine.figures:
        if figure.weak or figure.low in years:
            continue
        if same := [other for other in theirs if figure.equals(other)]:
            yield from _same_value(figure, same, pair.mine)
        elif any(figure.rounds(other) or figure.allows(other) for other in theirs):
            continue
        elif sources := _computed(figure, pair.mine, units):
            yield Discrepancy("note", "computed", figure.shown, sources)
        elif (rival := _rival(figure, pair)) and pair.context >= SAME_CONTEXT:
            yield Discrepancy("contradicted", "other", figure.shown, rival.shown)
        else:
            is_small = figure.kind == "ordinal" and figure.low <= 2
            yield Discrepancy("partly" if is_small else "unsupported", "number_missing", figure.shown)
    for check in (_factors, _shares, _causes):
        yield from check(pair)


def _same_value(figure: Figure, same: Sequence[Figure], mine: ParsedSentence) -> Iterator[Discrepancy]:
    """The number is the same; what is said of it may be another thing: its bound or its rate."""
    one = same[0]
    if figure.role and all(other.role not in {"", figure.role} for other in same) and _tells_growth(mine.text):
        yield Discrepancy("contradicted", "other", f"{figure.role} {figure.shown}", f"{one.role} {one.shown}")
    elif figure.bound and all(other.bound not in {"", figure.bound} for other in same):
        yield Discrepancy("contradicted", "other", _with_bound(figure), _with_bound(one))
    elif figure.per and all(other.per not in {"", figure.per} for other in same):
        yield Discrepancy("contradicted", "other", f"{figure.shown} / {figure.per}", f"{one.shown} / {one.per}")
    elif not figure.bound and all(other.bound == "most" for other in same):
        yield Discrepancy("partly", "restricted", theirs=_with_bound(one))


def _with_bound(figure: Figure) -> str:
    return {"least": "> ", "most": "< ", "": ""}[figure.bound] + figure.shown


def _rival(figure: Figure, pair: Pair) -> Figure | None:
    """Another number for the same kind of thing that the sentence does not give too."""
    beside = [other for unit in pair.near for other in unit.figures]
    beside = [other for other in beside if not any(other.equals(one) for one in pair.mine.figures)]
    same_value = [other for other in beside if other.unit and figure.unit and other.low == figure.low]
    fitting = [other for other in beside if same_slot(figure, other)]
    order = sorted(fitting, key=lambda other: (other.unit != figure.unit, abs(other.low - figure.low)))
    return next(iter([*same_value, *order]), None)


def _tells_growth(text: str) -> bool:
    return bool(lang.cue("up").search(text) or lang.cue("down").search(text) or _GROWTH_SIGNS.search(text))


def _pairs(units: Sequence[ParsedSentence]) -> Iterator[tuple[Figure, Figure]]:
    """Earlier and later value, or part and whole, in the order in which a change is told."""
    for unit in units:
        amounts = [one for one in unit.figures if one.kind == "amount" and not one.weak]
        for at, one in enumerate(amounts):
            for other in amounts[at + 1 :]:
                if one.unit == other.unit or not one.unit or not other.unit:
                    yield (other, one) if other.role == "from" and one.role != "from" else (one, other)


def _computed(figure: Figure, mine: ParsedSentence, units: Sequence[ParsedSentence]) -> str:
    """Give the two values of the source from which a change, a share, a gap or a sum follows; empty when none do."""
    grows = _tells_growth(mine.text)
    up, down = bool(lang.cue("up").search(mine.text)), bool(lang.cue("down").search(mine.text))
    slack = max(0.5, 0.05 * figure.low) if figure.about else 0.5
    for early, late in _pairs(units):
        if not early.low or not late.low:
            continue
        right_way = up == down or (late.low > early.low) == up
        small, large = sorted((early.low, late.low))
        gap, total = large - small, early.low + late.low
        if figure.unit == "%":
            change = 100 * abs(late.low / early.low - 1)
            fits = (grows and right_way and abs(change - figure.low) <= slack) or (
                not grows and abs(100 * small / large - figure.low) <= slack
            )
        elif figure.unit == "point" and late.unit == "%" and early.unit in {"", "%"}:
            fits = right_way and abs(gap - figure.low) <= slack / 10
        elif same_slot(figure, early) or same_slot(figure, late):
            is_gap = grows or bool(lang.cue("gap").search(mine.text))
            fits = (is_gap and abs(gap - figure.low) < 1e-6 * total) or (
                bool(lang.cue("total").search(mine.text)) and total == figure.low
            )
        else:
            fits = False
        if fits:
            return f"{early.shown}, {late.shown}"
    return ""


def _factors(pair: Pair) -> Iterator[Discrepancy]:
    """Hold "doubled", "tripled" and "halved" against two values of the source."""
    mine, near = pair.mine, pair.near
    for value, words in lang.table("factors", "common").items():
        factor, pattern = float(value), re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
        match = pattern.search(mine.text)
        if not match or any(pattern.search(unit.text) for unit in near):
            continue
        before = mine.text[max(0, match.start() - 24) : match.start()]
        early, late = next((pair for pair in _pairs(near) if "from" in {one.role for one in pair}), (None, None))
        if not early or not late:
            continue
        ratio = late.low / early.low / factor if early.low else 0.0
        if ends_with("least", before):
            fits = ratio >= 1 if factor > 1 else ratio <= 1
        else:
            fits = 0.85 <= ratio <= 1 if ends_with("nearly", before) else 0.93 <= ratio <= 1.1
        shown = f"{early.shown}, {late.shown}"
        if fits:
            yield Discrepancy("note", "computed", match.group(), shown)
        elif pair.context > 0:
            yield Discrepancy("contradicted", "not_computed", match.group(), shown)


def _shares(pair: Pair) -> Iterator[Discrepancy]:
    """Hold "all" against "two of the three", and "a majority" against shares."""
    mine, near = pair.mine, pair.near
    every = [word for word in mine.words if word in lang.words("all")]
    for unit in near if every else ():
        for one, whole in pairwise(unit.figures):
            is_part = _OF.fullmatch(unit.text[one.end : whole.start]) and one.low < whole.low
            if is_part and {root(noun) for noun in whole.nouns} & set(mine.roots):
                part = unit.text[one.start : whole.end]
                yield Discrepancy("contradicted", "other", every[0], part)
                return
    shares = [one for unit in near for one in unit.figures if one.unit == "%"]
    for key in ("majority", "minority") if shares else ():
        match = lang.cue(key).search(mine.text)
        if not match or any(lang.cue(key).search(unit.text) for unit in near):
            continue
        right = next((one for one in shares if one.low != 50 and (one.low > 50) == (key == "majority")), None)
        if right:
            yield Discrepancy("note", "computed", match.group(), right.shown)
        else:
            yield Discrepancy("contradicted", "other", match.group(), shares[0].shown)


def _causes(pair: Pair) -> Iterator[Discrepancy]:
    """A number that the source divides by reasons, given one reason as a whole; or given as that of a part of it."""
    mine = pair.mine
    cause = re.search(rf"\b(?:{lang.alternatives('cause')})\s+(?P<cause>[^.,;]{{3,60}})", mine.text, re.IGNORECASE)
    for unit in pair.near:
        part = re.search(rf"(?:\b|\s)(?:{lang.alternatives('of_which')})\s(?P<part>[^.;]{{3,70}})", unit.text, re.I)
        whole = [one for one in unit.figures if part and one.end <= part.start()]
        whole = [one for one in whole if any(one.equals(other) for other in mine.figures)]
        if not part or not whole:
            continue
        said, before = _roots(part["part"]), _roots(unit.text[: part.start()])
        of_part = whole[0].end < part.start() and len(unit.figures) > 1 and whole[0] != unit.figures[-1]
        if cause and not _roots(cause["cause"]) & set(unit.roots):
            yield Discrepancy("contradicted", "other", cause.group(), part.group().strip())
        elif of_part and (said - before) & set(mine.roots) and len(mine.figures) == 1:
            yield Discrepancy("contradicted", "other", whole[0].shown, part.group().strip())


def _roots(text: str) -> set[str]:
    return {root(word.casefold()) for word in re.findall(r"[^\W\d_]{4,}", text)}


def compare_dates(pair: Pair) -> Iterator[Discrepancy]:
    """Hold the dates of a sentence against its quotes, as `compare_amounts` does its figures."""
    mine, units = pair.mine, pair.source.units
    theirs = tuple(when for unit in units for when in unit.whens)
    numbers = {value for unit in units for figure in unit.figures for value in (figure.low, figure.high)}
    for when in mine.whens:
        if not missing(when, theirs) or (when.month is None and {when.first, when.last} <= numbers):
            continue
        beside = [other for unit in pair.near for other in unit.whens]
        kind = [other for other in beside if (when.years and other.years) or (when.month and other.month)]
        told = (one for one in kind if not any(own.same_year(one) and own.same_day(one) for own in mine.whens))
        if (rival := next(told, None)) and pair.context >= SAME_CONTEXT:
            yield Discrepancy("contradicted", "other", when.shown, rival.shown)
        else:
            yield Discrepancy("unsupported", "date_missing", when.shown)
