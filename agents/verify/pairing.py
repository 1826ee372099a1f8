"""Lists in one source sentence: which number belongs to which name or year, where several stand side by side."""

import re
from collections.abc import Iterator, Sequence

from agents.verify.amounts import Finding, found
from agents.verify.figures import Figure, same_slot
from agents.verify.lexicon import root
from agents.verify.parsed_text import Unit

_OF_THEM = re.compile(
    r"\s(?:of (?:them|which|these|whom|those)|davon|von ihnen|"
    r"d['’]entre eux|de ellos|de l[ao]s cuales)\b(?P<part>[^.;,]{3,70})",
    re.IGNORECASE,
)


def mispaired(mine: Unit, near: Sequence[Unit], language: str) -> Iterator[Finding]:
    """Find a number that the source gives to another one of the things it lists.

    Telmar (12,000 residents) and Brindle (19,000): as many numbers of one kind as names, or as years, are told in turn.

    Args:
        mine: the sentence.
        near: source sentences that say most of it.
        language: of the reasons.
    """
    for unit in near[:2]:
        for figure in mine.figures:
            if figure.kind != "amount" or figure.weak:
                continue
            kind = [one for one in unit.figures if one.kind == "amount" and not one.weak and same_slot(one, figure)]
            yield from _of_a_part(mine, figure, kind, unit, language)
            at = next((at for at, one in enumerate(kind) if figure.equals(one)), -1)
            if at < 0 or len(kind) < 2 or len([one for one in mine.figures if same_slot(one, figure)]) != 1:
                continue
            place = _place(mine, unit, len(kind))
            if place >= 0 and place != at and not kind[place].equals(figure):
                yield found("contradicted", "other", language, ours=figure.shown, theirs=kind[place].shown)
                return


def _place(mine: Unit, unit: Unit, count: int) -> int:
    """Give which of the source's names or years the sentence speaks of, when it lists `count` of them; −1 when unknown."""
    years = [when for when in unit.whens if when.years]
    if len(years) == count:
        ours = [at for at, one in enumerate(years) if any(when.same_year(one) for when in mine.whens if when.years)]
        return ours[0] if len(ours) == 1 else -1
    named = [name for name in unit.names if name.sure or len(unit.names) == count]
    if len(named) == count:
        words = set(mine.words)
        ours = [at for at, name in enumerate(named) if set(name.words) <= words]
        return ours[0] if len(ours) == 1 else -1
    return -1


def _of_a_part(mine: Unit, figure: Figure, kind: Sequence[Figure], unit: Unit, language: str) -> Iterator[Finding]:
    """300 people, 20 of them in Norway: the 300 are not in Norway."""
    for one in unit.figures:
        part = _OF_THEM.match(unit.text, one.end)
        whole = [other for other in kind if other.end < one.start and other.equals(figure)]
        if not part or not whole or figure.equals(one):
            continue
        said = {root(word.casefold()) for word in re.findall(r"[^\W\d_]{4,}", part["part"])}
        before = {root(word.casefold()) for word in re.findall(r"[^\W\d_]{4,}", unit.text[: one.start])}
        if (said - before) & set(mine.roots):
            yield found("contradicted", "other", language, ours=figure.shown, theirs=one.shown)
            return
