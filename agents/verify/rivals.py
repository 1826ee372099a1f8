"""What stands in the place of what: words that exclude one another, places behind `in`, doers behind `by`, nationalities."""

import re
from collections.abc import Iterator, Sequence

from agents.verify.amounts import Finding, found
from agents.verify.lexicon import root
from agents.verify.names import Name, is_nationality
from agents.verify.parsed_text import Unit

_EXCLUSIVE = """
novel poem song film musical opera painting sculpture album symphony essay biography roman gedicht lied oper
gemälde poème chanson pièce poema canción|
father mother aunt uncle grandfather grandmother brother sister son daughter cousin nephew niece vater mutter
bruder schwester père mère frère sœur padre madre hermano hermana|
wood steel iron copper brass bronze stone brick concrete glass plastic gold silver holz stahl eisen kupfer stein
bois acier fer cuivre pierre madera acero hierro cobre piedra|
red blue green yellow white black brown purple orange pink grey rot blau grün gelb weiß schwarz rouge bleu vert
jaune blanc noir rojo azul verde amarillo blanco negro|
spring summer autumn winter frühling sommer herbst printemps été automne hiver primavera verano otoño invierno|
baseball basketball football soccer hockey tennis cricket rugby golf boxing swimming|
mayor governor senator president minister judge general king queen bishop|
professor student pupil teacher nurse doctor lawyer engineer farmer soldier|
catholic protestant orthodox jewish muslim buddhist hindu|
cod salmon trout tuna herring|
monday tuesday wednesday thursday friday saturday sunday|
solid liquid gas|
"""
_PLACE = re.compile(
    r"\b(?P<preposition>in|at|near|from|by|von|aus|par|à|por|en)\s+(?:the\s+|der\s+|la\s+)?$", re.IGNORECASE
)
_DOER = frozenset({"by", "von", "par", "por"})
_RELATED = 0.2
"""Share of the sentence that the source must have for what stands in the same place to be compared at all."""


def _tables() -> dict[str, int]:
    return {root(word): number for number, group in enumerate(_EXCLUSIVE.split("|")) for word in group.split()}


_CLASS = _tables()


def rivals(mine: Unit, near: Sequence[Unit], best: float, language: str) -> Iterator[Finding]:
    """Find what the sentence says in the place where the source says something that excludes it.

    A sign, not a proof: a novel may have become a film. Of such findings between claims and evidence of Fool Me Twice
    (development half) 33 of 44 were between a false claim and its refutation.

    Args:
        mine: the sentence.
        near: source sentences that say most of it, best first.
        best: share of the sentence that the first of them has.
        language: of the reasons.
    """
    if best < _RELATED or not near or mine.scope.cues:
        return
    have = {one for unit in near for one in unit.roots}
    yield from _excluded(mine, near[0], have, language)
    yield from _placed(mine, near[0], have, language)


def _excluded(mine: Unit, unit: Unit, have: set[str], language: str) -> Iterator[Finding]:
    ours = {one: at for at, one in enumerate(mine.roots) if mine.content[at]}
    for one, at in ours.items():
        number = _CLASS.get(one)
        if number is None or one in have:
            continue
        for place, other in enumerate(unit.roots):
            if _CLASS.get(other) == number and other not in ours and unit.content[place]:
                yield found("unsupported", "rival", language, ours=mine.words[at], theirs=unit.words[place])
                return


def _placed(mine: Unit, unit: Unit, have: set[str], language: str) -> Iterator[Finding]:
    ours = {word for name in mine.names for word in name.words}
    for name in mine.names:
        if any(root(word) in have for word in name.words):
            continue
        if len(name.words) == 1 and is_nationality(name.words[0]):
            other = next(
                (one for one in unit.names if is_nationality(one.words[0]) and not set(one.words) & ours), None
            )
        else:
            other = _same_place(mine, name.start, unit, ours)
        if other:
            yield found("unsupported", "rival", language, ours=name.shown, theirs=other.shown)
            return


def _same_place(mine: Unit, start: int, unit: Unit, ours: set[str]) -> Name | None:
    before = _PLACE.search(mine.text[:start])
    if not before:
        return None
    is_doer = before["preposition"].casefold() in _DOER
    for name in unit.names:
        other = _PLACE.search(unit.text[: name.start])
        if other and (other["preposition"].casefold() in _DOER) == is_doer and not set(name.words) & ours:
            return name
    return None
