"""Ways to bend a source while keeping its words: a frame, limit or condition left out.

Two sentences that are nearly the same, side by side: which words were put in the place of which.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from agents.nlp import lang
from agents.verify.negation import alike, classes, opposites, root
from agents.verify.parsed_text import Discrepancy, ParsedSentence, Severity, found

SPOKEN_OF = 0.5
"""Share of the sentence that a source sentence must have before how it says it is held against how the sentence does."""

_LEFT_OUT: tuple[tuple[str, Severity, str], ...] = (
    ("claimed", "partly", "hedged"),
    ("forecast", "partly", "hedged"),
    ("except", "partly", "restricted"),
    ("condition", "partly", "hedged"),
)
"""Cues of the source that a sentence may not leave out, how grave that is, and its reason."""
_OPPOSED = (("unlike", "like"), ("like", "unlike"), ("few", "many"), ("many", "few"))


def doubts(text: str) -> bool:
    """Tell whether words beside a quotation say that it is false, unproven, claimed, forecast or excepted."""
    return any(lang.cue(key).search(text) for key in ("false", "untrue", "unproven", "forecast", "except"))


def framed(mine: ParsedSentence, near: Sequence[ParsedSentence], best: float, language: str) -> Iterator[Discrepancy]:
    """Find what a sentence does to the sense of the source sentences that have its words.

    Args:
        mine: the sentence.
        near: source sentences that say most of it, best first.
        best: share of the sentence that the first of them has.
        language: of the reasons.
    """
    if not near or best < SPOKEN_OF:
        return
    yield from _reframed(mine, near[0], language)
    yield from _exchanged(mine, near[0], language)
    cause = lang.cue("cause").search(mine.text)
    if cause and not any(lang.cue("reason").search(unit.text) for unit in near):
        yield found("partly", "cause", language, ours=cause.group())


def _cued(key: str, unit: ParsedSentence) -> re.Match[str] | None:
    text = lang.cue("no_condition").sub(" ", unit.text) if key == "condition" else unit.text
    return lang.cue(key).search(text)


def _reframed(mine: ParsedSentence, unit: ParsedSentence, language: str) -> Iterator[Discrepancy]:
    soft = bool(mine.scope.hedges or mine.scope.open or mine.scope.not_yet)
    false, denied = _cued("false", unit), _cued("false", mine)
    if false and not denied and not mine.scope.cues:
        yield found("contradicted", "affirmed", language, ours=false.group())
    if denied and not false and not unit.scope.cues:
        yield found("contradicted", "denied", language, ours=denied.group())
    unproven = _cued("unproven", unit) and not _cued("unproven", mine) and not mine.scope.cues and not soft
    if (unit.asks and not mine.asks) or unproven:
        yield found("unsupported", "open", language)
    told = _cued("claimed", mine) or _cued("forecast", mine)
    for key, severity, why in _LEFT_OUT:
        excused = (mine.scope.cues if key == "except" else soft) or (told and key in {"claimed", "forecast"})
        if (theirs := _cued(key, unit)) and not _cued(key, mine) and not excused:
            yield found(severity, why, language, theirs=theirs.group().strip(" ,;"))
    nearly = re.finditer(
        rf"\b(?:{lang.alternatives('nearly')})\s+([^\W\d_]{{3,}}(?:\s[^\W\d_]{{3,}})?)", unit.text, re.I
    )
    for match in nearly:
        if {root(word) for word in match[1].casefold().split()} & set(mine.content_roots) and not _cued("nearly", mine):
            yield found("partly", "hedged", language, theirs=match.group())
            break
    for one, other in _OPPOSED:
        ours, opposed = _cued(one, mine), _cued(other, unit)
        if ours and opposed and not _cued(one, unit) and not _cued(other, mine) and not unit.scope.cues:
            yield found("contradicted", "other", language, ours=ours.group(), theirs=opposed.group())
            break


def _exchanged(mine: ParsedSentence, unit: ParsedSentence, language: str) -> Iterator[Discrepancy]:
    """The same words with the two sides of one of them exchanged: stress causes smoking, smoking causes stress."""
    both = {*mine.words, *unit.words}
    if both & lang.words("doers") or sorted(mine.content_roots) != sorted(unit.content_roots):
        return
    mutual, passive = {root(word) for word in lang.words("mutual", "en")}, bool(both & lang.words("passive"))
    for at, (one, word) in enumerate(zip(mine.roots, mine.words, strict=True)):
        turns = word in lang.words("turns") or (mine.content[at] and not passive and one not in mutual)
        if not turns or unit.roots.count(one) != 1:
            continue
        (left, right), (their_left, their_right) = _sides(mine, at), _sides(unit, unit.roots.index(one))
        shared = left & their_left  # slower than: the word that compares stands on the same side in both
        left, their_left = left - shared, their_left - shared
        changed = bool(left and their_left) and left <= their_right and their_left <= right
        if changed and right - their_left == their_right - left:
            told = [place for place, counts in enumerate(mine.content) if counts]
            first, last = _written(mine, told[:1]), _written(mine, told[-1:])
            yield found("contradicted", "order", language, ours=first, theirs=last)
            return


def _sides(unit: ParsedSentence, at: int) -> tuple[set[str], set[str]]:
    """Give the content roots before a place and after it."""
    told = [(place, one) for place, one in enumerate(unit.roots) if unit.content[place]]
    return {one for place, one in told if place < at}, {one for place, one in told if place > at}


MAX_WORDS = 160
"""Longer sentences are not aligned: the time grows with the square."""
NEARLY_SAME = 0.6
"""Share of the sentence's words in the source's order from which single differences can be told."""
SURELY_SAME = 0.8
"""Share from which one word in the place of another one was surely put there for it."""
_MAX_SLOT = 4  # words in one place that were put for others


def substitutions(mine: ParsedSentence, theirs: ParsedSentence, language: str) -> tuple[float, list[Discrepancy]]:
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
    findings: list[Discrepancy] = []
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


def _letters(unit: ParsedSentence) -> list[int]:
    return [at for at, word in enumerate(unit.words) if any(sign.isalnum() for sign in word)]


def _negation(
    mine: ParsedSentence, new: Sequence[int], theirs: ParsedSentence, old: Sequence[int], language: str, *, inside: bool
) -> list[Discrepancy]:
    added = [at for at in new if at in mine.scope.cues]
    gone = [at for at in old if at in theirs.scope.cues]
    if bool(added) == bool(gone):
        return []
    if added:
        return [found("contradicted", "denied", language, ours=_around(mine, added[0]))]
    if not inside or len(old) > _MAX_SLOT:
        return []  # a whole part of the source was left out, and its negation with it
    return [found("contradicted", "affirmed", language, ours=_around(theirs, gone[0]))]


def _around(unit: ParsedSentence, at: int) -> str:
    return " ".join(unit.words[max(0, at - 1) : at + 3])


def _slot(
    mine: ParsedSentence, new: Sequence[int], theirs: ParsedSentence, old: Sequence[int], language: str, *, surely: bool
) -> list[Discrepancy]:
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


def _same_figures(mine: ParsedSentence, theirs: ParsedSentence) -> bool:
    """Tell whether all figures of the sentence are in the source, and some of them in another unit or spelling."""
    equal = [(one, [other for other in theirs.figures if one.equals(other)]) for one in mine.figures]
    spelled = {theirs.text[one.start : one.end] for one in theirs.figures}
    changed = any(
        mine.text[one.start : one.end] not in spelled or any(one.unit != other.unit for other in others)
        for one, others in equal
    )
    return changed and all(others for _, others in equal)


def _telling(unit: ParsedSentence, places: Sequence[int]) -> set[str]:
    numbers = {unit.roots[at] for at in places if unit.roots[at][:1].isdigit()}
    return numbers | {unit.roots[at] for at in places if unit.content[at]}


def _kinds(unit: ParsedSentence, places: Sequence[int]) -> tuple[bool, bool]:
    named = {word for name in unit.names for word in name.words}
    return any(unit.words[at] in named for at in places), any(unit.roots[at][:1].isdigit() for at in places)


def _written(unit: ParsedSentence, places: Sequence[int]) -> str:
    shown = " ".join(unit.words[at] for at in places)
    at = unit.text.casefold().find(shown)
    return unit.text[at : at + len(shown)] if at >= 0 else shown


def _moved(
    mine: ParsedSentence, theirs: ParsedSentence, put_in: Sequence[tuple[str, int]], language: str
) -> list[Discrepancy]:
    """Two names or numbers that changed places, while all other words kept theirs: Chile beat China, China beat Chile."""
    named = {word for unit in (mine, theirs) for name in unit.names for word in name.words}
    ours, ours_telling = _masked(mine, named)
    other, other_telling = _masked(theirs, named)
    roots, other_roots = [mine.roots[at] for at in ours_telling], [theirs.roots[at] for at in other_telling]
    if not put_in or ours != other or sorted(roots) != sorted(other_roots):
        return []
    for at, place in zip(ours_telling, other_telling, strict=True):
        one, two = mine.roots[at], theirs.roots[place]
        if one != two and not classes(one) & classes(two):
            shown, shown_theirs = _written(mine, [at]), _written(theirs, [place])
            return [found("contradicted", "order", language, ours=shown, theirs=shown_theirs)]
    return []


def _masked(unit: ParsedSentence, named: set[str]) -> tuple[list[str], list[int]]:
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
