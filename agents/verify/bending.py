"""Ways to bend a source while keeping its words: the rank left out, the condition, the time, the cause, who did it to whom."""

import re
from collections.abc import Iterator, Sequence

from agents.verify import polarity
from agents.verify.amounts import Finding, found
from agents.verify.lexicon import classes
from agents.verify.parsed_text import Unit

SPOKEN_OF = 0.5
"""Share of the sentence that a source sentence must have before how it says it is held against how the sentence does."""

_RANK = re.compile(
    r"\b(?:second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\d+(?:st|nd|rd|th)|next|zweit|dritt|viert|fünft|"
    r"deuxième|troisième|quatrième|segund[oa]|tercer[oa]?|cuart[oa])[\s-]*(?:le\s|la\s|más\s|plus\s)*"
    r"(?P<what>most\b|least\b|best\b|worst\b|\w{3,}est\b|größte\w*|kleinste\w*|höchste\w*|älteste\w*|längste\w*)",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\b(?:if|unless|provided that|on condition that|in case|as long as|falls|sofern|vorausgesetzt|à condition que|pourvu que|"
    r"à moins que|siempre que|a menos que|con tal de que)\b|(?:^|[,;] )(?:wenn|si) ",
    re.IGNORECASE,
)
_WHETHER = re.compile(r"\b(?:as if|even if|see if|know if|tell if|asked if|wonder(?:s|ed)? if)\b", re.IGNORECASE)
_FUTURE = re.compile(
    r"\b(?:will|shall|going to|is to be|are to be|wird|werden|sera|seront|será|serán)\b", re.IGNORECASE
)
_PAST = re.compile(
    r"\b(?:was|were|has|have|had|did|became|\w{2,}ed|opened|built|wurde|wurden|war|waren|hat|hatte|était|a été|ont été|fue|"
    r"fueron|ha sido)\b",
    re.IGNORECASE,
)
_CAUSE = re.compile(
    r"\b(?:because of|because|due to|owing to|caused|as a result of|thanks to|led to|wegen|aufgrund|weil|à cause de|"
    r"en raison de|parce que|debido a|a causa de|porque)\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:because|due|owing|caus\w+|result\w*|thanks|led|leads?|lead|leading|since|reason\w*|therefore|thus|hence|so|"
    r"consequen\w+|after|following|following|when|as|made|forc\w+|prompt\w+|trigger\w*|wegen|aufgrund|weil|da|durch|daher|"
    r"deshalb|nach|folge|cause|raison|parce|car|donc|après|suite|entraîn\w+|debido|causa\w*|porque|tras|provoc\w+|by|from|"
    r"through|for|blam\w+|attribut\w+|account\w+|explain\w*|contribut\w+|driv\w+|drove)\b",
    re.IGNORECASE,
)
_MUTUAL = frozenset(
    "meet met marry married equal resemble border differ match adjoin touch cross join merge separate divorce differ vary "
    "correlate associated linked related connected similar".split()
)
_DOERS = frozenset("by von durch par por".split())
_PASSIVE = frozenset("was were is are be been being wurde wird werden".split())
_TURNS = frozenset(
    "than after before because until als nachdem bevor weil après avant que parce después antes porque".split()
)
"""Words that say what comes first, what is more or what is the cause, by what stands on which side."""
_FEW = re.compile(
    r"(?<!\ba )(?<!\bquite a )\b(?:few|hardly any|scarcely any|wenige|kaum jemand|peu de|pocos|pocas)\b", re.IGNORECASE
)
_MANY = re.compile(
    r"\b(?:many|most|all|nearly all|numerous|viele|die meisten|alle|beaucoup|la plupart|tous|muchos|muchas|la mayoría|"
    r"todos)\b",
    re.IGNORECASE,
)  # fmt: skip


def bent(mine: Unit, near: Sequence[Unit], best: float, language: str) -> Iterator[Finding]:
    """Find what a sentence does to the sense of the source sentences that have its words.

    Args:
        mine: the sentence.
        near: source sentences that say most of it, best first.
        best: share of the sentence that the first of them has.
        language: of the reasons.
    """
    if not near or best < SPOKEN_OF:
        return
    unit = near[0]
    yield from _unranked(mine, near, language)
    yield from _unconditional(mine, unit, language)
    yield from _too_early(mine, unit, language)
    yield from _caused(mine, near, language)
    yield from _counted_otherwise(mine, unit, language)
    yield from _turned_round(mine, unit, language)


def _unranked(mine: Unit, near: Sequence[Unit], language: str) -> Iterator[Finding]:
    """The largest, where the source says the second largest; and the other way round."""
    theirs = [match for unit in near for match in _RANK.finditer(unit.text)]
    ours = list(_RANK.finditer(mine.text))
    plain = set(polarity.superlatives(mine.text)) - {match["what"].casefold() for match in ours}
    for match in theirs:
        what = match["what"].casefold()
        said_plainly = any(what in polarity.superlatives(_RANK.sub(" ", unit.text)) for unit in near)
        if what in plain and not said_plainly:
            yield found("contradicted", "other", language, ours=what, theirs=match.group())
            return
    if ours and not theirs:
        what = ours[0]["what"].casefold()
        if any(what in polarity.superlatives(unit.text) for unit in near):
            yield found("contradicted", "other", language, ours=ours[0].group(), theirs=what)


def _unconditional(mine: Unit, unit: Unit, language: str) -> Iterator[Finding]:
    condition = _CONDITION.search(_WHETHER.sub(" ", unit.text))
    if condition and not _CONDITION.search(mine.text) and not mine.scope.hedges and not mine.scope.open:
        yield found("partly", "hedged", language, theirs=condition.group().strip(" ,;"))


def _too_early(mine: Unit, unit: Unit, language: str) -> Iterator[Finding]:
    """What will be, told as what was."""
    if _FUTURE.search(unit.text) and not _FUTURE.search(mine.text) and not _PAST.search(_FUTURE.sub(" ", unit.text)):
        told = _PAST.search(mine.text)
        if told and not mine.scope.open and not mine.scope.hedges:
            yield found("unsupported", "open", language)


def _caused(mine: Unit, near: Sequence[Unit], language: str) -> Iterator[Finding]:
    """A cause where the sources only tell of two things."""
    cause = _CAUSE.search(mine.text)
    if cause and not any(_REASON.search(unit.text) for unit in near):
        yield found("partly", "cause", language, ours=cause.group())


def _counted_otherwise(mine: Unit, unit: Unit, language: str) -> Iterator[Finding]:
    """Few for many, and many for few."""
    for ours, theirs in ((_FEW, _MANY), (_MANY, _FEW)):
        one, other = ours.search(mine.text), theirs.search(unit.text)
        if one and other and not ours.search(unit.text) and not mine.scope.cues and not unit.scope.cues:
            yield found("contradicted", "other", language, ours=one.group(), theirs=other.group())
            return


def _turned_round(mine: Unit, unit: Unit, language: str) -> Iterator[Finding]:
    """The same words with the two sides of one of them exchanged: stress causes smoking, smoking causes stress."""
    if set(mine.words) & _DOERS or set(unit.words) & _DOERS or mine.figures or unit.figures:
        return
    turns = [word for word in mine.words if word in _TURNS]
    if len(turns) == 1 and [word for word in unit.words if word in _TURNS] == turns:
        ours, theirs = _sides(mine, turns[0]), _sides(unit, turns[0])
        if _are_exchanged(ours, theirs):
            yield found("contradicted", "order", language, ours=_first(mine), theirs=_last(mine))
        return
    if (
        set(mine.words) & _PASSIVE
        or set(unit.words) & _PASSIVE
        or sorted(mine.content_roots) != sorted(unit.content_roots)
    ):
        return
    for at, (middle, counts) in enumerate(zip(mine.roots, mine.content, strict=True)):
        if not counts or middle in _MUTUAL or mine.words[at] in _MUTUAL or unit.roots.count(middle) != 1:
            continue
        word = mine.words[at]
        other = unit.words[unit.roots.index(middle)]
        if _are_exchanged(_sides(mine, word), _sides(unit, other)):
            yield found("contradicted", "order", language, ours=_first(mine), theirs=_last(mine))
            return


def _sides(unit: Unit, word: str) -> tuple[set[str], set[str]]:
    """Give the content roots before a word and after it."""
    at = unit.words.index(word)
    before = {one for one, counts in zip(unit.roots[:at], unit.content[:at], strict=True) if counts}
    after = {one for one, counts in zip(unit.roots[at + 1 :], unit.content[at + 1 :], strict=True) if counts}
    return before, after


def _are_exchanged(ours: tuple[set[str], set[str]], theirs: tuple[set[str], set[str]]) -> bool:
    """Tell whether what stands before in the one stands after in the other, whatever else follows in both."""
    (left, right), (their_left, their_right) = ours, theirs
    shared = left & their_left  # slower than: the word that compares stands on the same side in both
    left, their_left = left - shared, their_left - shared
    whole = left and their_left and left <= their_right and their_left <= right
    return bool(whole) and right - their_left == their_right - left


def _first(unit: Unit) -> str:
    return _shown(unit, next(word for word, counts in zip(unit.words, unit.content, strict=True) if counts))


def _last(unit: Unit) -> str:
    return _shown(unit, [word for word, counts in zip(unit.words, unit.content, strict=True) if counts][-1])


def scattered(mine: Unit, near: Sequence[Unit], units: Sequence[Unit], language: str) -> Iterator[Finding]:
    """Find a sentence that puts together what its source says of two things.

    The tower opened in 1912 and the bridge in 1950: “the bridge opened in 1912” has all its words in the source, and is
    false. Two signs: a source sentence that says more of the sentence gives another time or number; or what the sentence
    speaks of is the subject of another source sentence than the one that says the rest.
    """
    if len(units) < 2 or not near:
        return
    yield from _of_another(mine, units, language)
    yield from _by_another(mine, near[0], units, language)
    yield from _from_elsewhere(mine, near[0], units, language)


def _of_another(mine: Unit, units: Sequence[Unit], language: str) -> Iterator[Finding]:
    words = set(mine.content_roots)
    for when in mine.whens:
        giving = [unit for unit in units if any(when.same_year(one) and when.same_day(one) for one in unit.whens)]
        if not giving or not when.years:
            continue
        most = max(len(words & set(unit.content_roots)) for unit in giving)
        for unit in units:
            if unit in giving or unit.opens_with_pronoun:
                continue
            other = next((one for one in unit.whens if one.years), None)
            if other and words <= set(unit.content_roots) and most < len(words):
                yield found("contradicted", "other", language, ours=when.shown, theirs=other.shown)
                return


def _by_another(mine: Unit, unit: Unit, units: Sequence[Unit], language: str) -> Iterator[Finding]:
    ours, theirs = _subject(mine), _subject(unit)
    if not ours or not theirs or unit.opens_with_pronoun:
        return
    if (
        ours in unit.roots
        or theirs in mine.roots
        or classes(ours) & {kind for one in unit.roots for kind in classes(one)}
    ):
        return
    other = next((one for one in units if one is not unit and _subject(one) == ours), None)
    if other and not other.opens_with_pronoun:
        at = unit.roots.index(theirs)
        yield found("unsupported", "rival", language, ours=_word(mine, ours), theirs=unit.words[at])


def _from_elsewhere(mine: Unit, unit: Unit, units: Sequence[Unit], language: str) -> Iterator[Finding]:
    """A name that the source gives, but only in sentences that say nothing else of what the sentence says."""
    named = {word for name in mine.names for word in name.words}
    rest = {
        one
        for one, word, counts in zip(mine.roots, mine.words, mine.content, strict=True)
        if counts and word not in named
    }
    if not rest or not rest <= set(unit.roots):
        return
    for name in mine.names:
        words = set(name.words)
        if not name.sure or words & set(unit.words):
            continue
        holding = [one for one in units if words <= set(one.words)]
        other = next((one for one in unit.names if one.sure and not set(one.words) & named), None)
        if holding and other and not any(rest & set(one.roots) or one.opens_with_pronoun for one in holding):
            yield found("unsupported", "rival", language, ours=name.shown, theirs=other.shown)
            return


def _subject(unit: Unit) -> str:
    """Root of the word that a sentence most likely speaks of: behind an article at its very beginning; else empty."""
    words = [at for at, word in enumerate(unit.words) if word[:1].isalpha()]
    if len(words) < 2 or unit.words[words[0]] not in {"the", "a", "an", "der", "die", "das", "le", "la", "el"}:
        return ""
    at = words[1]
    following = unit.words[words[2]] if len(words) > 2 else ""
    # "The mill was": the word in front of the verb. With more words in between, the subject is not told this cheaply.
    is_verb = following in {
        "was",
        "were",
        "is",
        "are",
        "has",
        "had",
        "war",
        "wurde",
        "est",
        "fue",
    } or following.endswith("ed")
    return unit.roots[at] if unit.content[at] and is_verb else ""


def _shown(unit: Unit, word: str) -> str:
    """Give a casefolded word as the sentence writes it."""
    at = unit.text.casefold().find(word)
    return unit.text[at : at + len(word)] if at >= 0 else word


def _word(unit: Unit, one: str) -> str:
    return unit.words[unit.roots.index(one)]
