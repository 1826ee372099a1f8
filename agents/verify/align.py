"""Two sentences that are nearly the same, side by side: which words were put in the place of which."""

from collections.abc import Sequence
from difflib import SequenceMatcher

from agents.nlp import lang
from agents.verify.findings import Finding, found
from agents.verify.lexicon import alike, classes, opposites
from agents.verify.parsed_text import Unit

MAX_WORDS = 160
"""Longer sentences are not aligned: the time grows with the square."""
NEARLY_SAME = 0.6
"""Share of the sentence's words in the source's order from which single differences can be told."""
SURELY_SAME = 0.8
"""Share from which one word in the place of another one was surely put there for it."""
_MAX_SLOT = 4  # words in one place that were put for others


def substitutions(mine: Unit, theirs: Unit, language: str) -> tuple[float, list[Finding]]:
    """Align a sentence with a source sentence.

    Returns:
        The share of the sentence's words that stand in the source in the same order, and what was put for what: a name
        for another, a number for another, a negation that came or went, words that changed places.
    """
    ours, other = _letters(mine), _letters(theirs)
    if not ours or not other or len(ours) > MAX_WORDS or len(other) > MAX_WORDS:
        return 0.0, []
    codes = SequenceMatcher(
        None, [mine.roots[at] for at in ours], [theirs.roots[at] for at in other], autojunk=False
    ).get_opcodes()
    same = sum(stop - start for kind, start, stop, _, _ in codes if kind == "equal") / len(ours)
    if same < NEARLY_SAME:
        return same, []
    findings: list[Finding] = []
    put_in: list[tuple[str, int]] = []
    for place, (kind, one, one_end, two, two_end) in enumerate(codes):
        if kind == "equal":
            continue
        new, old = ours[one:one_end], other[two:two_end]
        inside = 0 < place < len(codes) - 1
        if inside or kind == "insert":
            findings.extend(_negation(mine, new, theirs, old, language, inside=inside))
        if kind == "replace" and len(new) <= _MAX_SLOT and len(old) <= _MAX_SLOT:
            findings.extend(_slot(mine, new, theirs, old, language, surely=same >= SURELY_SAME))
        put_in.extend((mine.roots[at], at) for at in new)
    if not findings:
        findings.extend(_moved(mine, theirs, put_in, language))
    return same, findings


def _letters(unit: Unit) -> list[int]:
    return [at for at, word in enumerate(unit.words) if any(sign.isalnum() for sign in word)]


def _negation(
    mine: Unit, new: Sequence[int], theirs: Unit, old: Sequence[int], language: str, *, inside: bool
) -> list[Finding]:
    added = [at for at in new if at in mine.scope.cues]
    gone = [at for at in old if at in theirs.scope.cues]
    if bool(added) == bool(gone):
        return []
    if added:
        return [found("contradicted", "denied", language, ours=_around(mine, added[0]))]
    if not inside or len(old) > _MAX_SLOT:
        return []  # a whole part of the source was left out, and its negation with it
    return [found("contradicted", "affirmed", language, ours=_around(theirs, gone[0]))]


def _around(unit: Unit, at: int) -> str:
    return " ".join(unit.words[max(0, at - 1) : at + 3])


def _slot(
    mine: Unit, new: Sequence[int], theirs: Unit, old: Sequence[int], language: str, *, surely: bool
) -> list[Finding]:
    """A name or a number that stands where the source has another one."""
    for at in new:
        for place in old:
            denied = bool(set(new) & set(mine.scope.cues)) != bool(set(old) & set(theirs.scope.cues))
            if theirs.roots[place] in opposites(mine.roots[at]) and not denied:  # not open is closed
                return [found("contradicted", "other", language, ours=mine.words[at], theirs=theirs.words[place])]
    ours, other = _telling(mine, new), _telling(theirs, old)
    have = set(theirs.roots)
    if not ours or not other or ours & other:
        return []
    named, numbered = _kinds(mine, new)
    if numbered and _same_figures(mine, theirs):
        return []  # written in another unit
    their_named, their_numbered = _kinds(theirs, old)
    if (named and their_named) or (numbered and their_numbered):
        if any(alike(one, two) for one in ours for two in other):
            return []
        elsewhere = all(one in have for one in ours)
        # What stands elsewhere in the source too was put in another's place only if its own place was given away.
        one_for_one = surely and len(new) == len(old) == 1
        if elsewhere and not one_for_one and not all(one in set(mine.roots) for one in other):
            return []
        shown, shown_theirs = (_written(unit, places) for unit, places in ((mine, new), (theirs, old)))
        return [found("contradicted", "other", language, ours=shown, theirs=shown_theirs)]
    return []


def _same_figures(mine: Unit, theirs: Unit) -> bool:
    """Tell whether all figures of the sentence are in the source, and some of them in another unit or spelling."""
    equal = [(one, [other for other in theirs.figures if one.equals(other)]) for one in mine.figures]
    spelled = {theirs.text[one.start : one.end] for one in theirs.figures}
    changed = any(
        mine.text[one.start : one.end] not in spelled or any(one.unit != other.unit for other in others)
        for one, others in equal
    )
    return changed and all(others for _, others in equal)


def _telling(unit: Unit, places: Sequence[int]) -> set[str]:
    numbers = {unit.roots[at] for at in places if unit.roots[at][:1].isdigit()}
    return numbers | {unit.roots[at] for at in places if unit.content[at]}


def _kinds(unit: Unit, places: Sequence[int]) -> tuple[bool, bool]:
    named = {word for name in unit.names for word in name.words}
    return any(unit.words[at] in named for at in places), any(unit.roots[at][:1].isdigit() for at in places)


def _written(unit: Unit, places: Sequence[int]) -> str:
    shown = " ".join(unit.words[at] for at in places)
    at = unit.text.casefold().find(shown)
    return unit.text[at : at + len(shown)] if at >= 0 else shown


def _moved(mine: Unit, theirs: Unit, put_in: Sequence[tuple[str, int]], language: str) -> list[Finding]:
    """Two names or numbers that changed places, while all other words kept theirs: Chile beat China, China beat Chile."""
    named = {word for unit in (mine, theirs) for name in unit.names for word in name.words}
    ours, ours_telling = _masked(mine, named)
    other, other_telling = _masked(theirs, named)
    roots, other_roots = [mine.roots[at] for at in ours_telling], [theirs.roots[at] for at in other_telling]
    if not put_in or ours != other or sorted(roots) != sorted(other_roots):
        return []
    for at, place in zip(ours_telling, other_telling, strict=True):
        one, two = mine.roots[at], theirs.roots[place]
        if one != two and not _listed_together(mine, one, two) and not classes(one) & classes(two):
            shown, shown_theirs = _written(mine, [at]), _written(theirs, [place])
            return [found("contradicted", "order", language, ours=shown, theirs=shown_theirs)]
    return []


def _masked(unit: Unit, named: set[str]) -> tuple[list[str], list[int]]:
    """Give the words with one sign for each run of names and for each number; and the places where it stands."""
    words: list[str] = []
    telling: list[int] = []
    for at, (one, word) in enumerate(zip(unit.roots, unit.words, strict=True)):
        if one[:1].isdigit() or word in named:
            telling.append(at)
            if words[-1:] != ["*"]:
                words.append("*")
        elif word.isalnum():
            words.append(one)
    return words, telling


def _listed_together(unit: Unit, one: str, two: str) -> bool:
    """Tell whether only `and`, `or` or a comma stands between them: their order says nothing."""
    places = sorted((unit.roots.index(one), unit.roots.index(two))) if {one, two} <= set(unit.roots) else [0, 9]
    between = unit.words[places[0] + 1 : places[1]]
    return all(word == "," or word in lang.words("and") | lang.words("or") for word in between)
