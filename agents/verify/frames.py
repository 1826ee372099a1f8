"""Ways to bend a source while keeping its words: a frame, limit or condition left out, sides exchanged, things mixed up."""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from agents.nlp import lang
from agents.verify.findings import Finding, Severity, found
from agents.verify.lexicon import classes, root
from agents.verify.negation import superlatives
from agents.verify.parsed_text import Unit

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


def framed(mine: Unit, near: Sequence[Unit], every: Sequence[Unit], best: float, language: str) -> Iterator[Finding]:
    """Find what a sentence does to the sense of the source sentences that have its words.

    Args:
        mine: the sentence.
        near: source sentences that say most of it, best first.
        every: all sentences of the quotes.
        best: share of the sentence that the first of them has.
        language: of the reasons.
    """
    if not near:
        return
    yield from _mixed_up(mine, near[0], every, language)
    if best < SPOKEN_OF:
        return
    yield from _reframed(mine, near[0], language)
    yield from _ranked(mine, near, language)
    yield from _exchanged(mine, near[0], language)
    cause = lang.cue("cause").search(mine.text)
    if cause and not any(lang.cue("reason").search(unit.text) for unit in near):
        yield found("partly", "cause", language, ours=cause.group())


def _cued(key: str, unit: Unit) -> re.Match[str] | None:
    text = lang.cue("no_condition").sub(" ", unit.text) if key == "condition" else unit.text
    return lang.cue(key).search(text)


def _reframed(mine: Unit, unit: Unit, language: str) -> Iterator[Finding]:
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


@cache
def _rank() -> re.Pattern[str]:
    return re.compile(
        rf"\b(?:{lang.alternatives('rank')})[\s-]*(?:le\s|la\s|más\s|plus\s)*(?P<what>(?:{lang.alternatives('superlative')}))\b",
        re.IGNORECASE,
    )


def _ranked(mine: Unit, near: Sequence[Unit], language: str) -> Iterator[Finding]:
    """The largest, where the source says the second largest; and the other way round."""
    for ours, theirs in ((mine.text, near[0].text), (near[0].text, mine.text)):
        match = _rank().search(theirs)
        what = match["what"].casefold() if match else ""
        if match and what in superlatives(_rank().sub(" ", ours)) and not _rank().search(ours):
            said, other = (what, match.group()) if ours == mine.text else (match.group(), what)
            yield found("contradicted", "other", language, ours=said, theirs=other)
            return


def _exchanged(mine: Unit, unit: Unit, language: str) -> Iterator[Finding]:
    """The same words with the two sides of one of them exchanged: stress causes smoking, smoking causes stress."""
    both = {*mine.words, *unit.words}
    if both & lang.words("doers") or mine.figures or unit.figures:
        return
    turns = [word for word in mine.words if word in lang.words("turns")]
    if len(turns) == 1 and [word for word in unit.words if word in lang.words("turns")] == turns:
        pivots = [(mine.words.index(turns[0]), unit.words.index(turns[0]))]
    elif both & lang.words("passive") or sorted(mine.content_roots) != sorted(unit.content_roots):
        return
    else:
        mutual = {root(word) for word in lang.words("mutual", "en")}
        pivots = [
            (at, unit.roots.index(one))
            for at, (one, counts) in enumerate(zip(mine.roots, mine.content, strict=True))
            if counts and one not in mutual and unit.roots.count(one) == 1
        ]
    content = [word for word, counts in zip(mine.words, mine.content, strict=True) if counts]
    for at, place in pivots:
        (left, right), (their_left, their_right) = _sides(mine, at), _sides(unit, place)
        shared = left & their_left  # slower than: the word that compares stands on the same side in both
        left, their_left = left - shared, their_left - shared
        if (
            left
            and their_left
            and left <= their_right
            and their_left <= right
            and right - their_left == their_right - left
        ):
            yield found(
                "contradicted", "order", language, ours=_shown(mine, content[0]), theirs=_shown(mine, content[-1])
            )
            return


def _sides(unit: Unit, at: int) -> tuple[set[str], set[str]]:
    """Give the content roots before a place and after it."""
    told = [(place, one) for place, one in enumerate(unit.roots) if unit.content[place]]
    return {one for place, one in told if place < at}, {one for place, one in told if place > at}


def _shown(unit: Unit, word: str) -> str:
    """Give a casefolded word as the sentence writes it."""
    at = unit.text.casefold().find(word)
    return unit.text[at : at + len(word)] if at >= 0 else word


def _mixed_up(mine: Unit, unit: Unit, units: Sequence[Unit], language: str) -> Iterator[Finding]:
    """A sentence that puts together what its source says of two things.

    The tower opened in 1912 and the bridge in 1950: “the bridge opened in 1912” has all its words in the source, and is
    false. The sign: a source sentence says all the rest and gives another time, name or subject in that place.
    """
    if len(units) < 2:
        return
    words = set(mine.content_roots)
    for when in mine.whens:
        giving = [one for one in units if any(when.same_year(it) and when.same_day(it) for it in one.whens)]
        if not giving or not when.years or any(words <= set(one.roots) for one in giving):
            continue
        for one in units:
            other = next((it for it in one.whens if it.years), None)
            if other and one not in giving and not one.opens_with_pronoun and words <= set(one.content_roots):
                yield found("contradicted", "other", language, ours=when.shown, theirs=other.shown)
                return
    named = {word for name in mine.names for word in name.words}
    rest = {
        one
        for one, word, counts in zip(mine.roots, mine.words, mine.content, strict=True)
        if counts and word not in named
    }
    for name in mine.names if rest and rest <= set(unit.roots) else ():
        holding = [one for one in units if set(name.words) <= set(one.words)]
        other_name = next((one for one in unit.names if one.sure and not set(one.words) & named), None)
        if not name.sure or unit in holding or not holding or not other_name:
            continue
        if not any(rest & set(one.roots) or one.opens_with_pronoun for one in holding):
            yield found("unsupported", "rival", language, ours=name.shown, theirs=other_name.shown)
            return
    ours, theirs = _subject(mine), _subject(unit)
    if not ours or not theirs or ours in unit.roots or theirs in mine.roots or unit.opens_with_pronoun:
        return
    known = {kind for one in unit.roots for kind in classes(one)}
    if not classes(ours) & known and any(_subject(one) == ours for one in units if one is not unit):
        shown = [one.words[one.roots.index(it)] for one, it in ((mine, ours), (unit, theirs))]
        yield found("unsupported", "rival", language, ours=shown[0], theirs=shown[1])


def _subject(unit: Unit) -> str:
    """Root of the word that a sentence most likely speaks of: between an opening article and a verb; else empty."""
    words = [at for at, word in enumerate(unit.words) if word[:1].isalpha()][:3]
    if len(words) < 3 or unit.words[words[0]] not in lang.words("articles"):
        return ""
    verb = unit.words[words[2]]
    is_verb = verb in lang.words("be") or verb.endswith("ed")
    return unit.roots[words[1]] if unit.content[words[1]] and is_verb else ""
