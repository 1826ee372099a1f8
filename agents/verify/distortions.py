"""What a sentence does to a source sentence whose words it keeps: a frame left out, one word put for another, sides exchanged."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise

from agents.nlp import lang
from agents.nlp.tokens import UNSPACED
from agents.verify.negation import alike, classes, opposites, root
from agents.verify.parsed_text import Discrepancy, Pair, ParsedSentence

_UNSPACED = re.compile(f"[{UNSPACED}]")
SPOKEN_OF = 0.5
"""Share of the sentence that a source sentence must have before how it says it is held against how the sentence does."""
MAX_WORDS = 160
"""Longer sentences are not aligned: the time grows with the square."""
NEARLY_SAME = 0.6
"""Share of the sentence's words in the source's order from which single differences can be told."""
SURELY_SAME = 0.8
"""Share from which one word in the place of another one was surely put there for it."""
STEM = 4
"""Letters that the forms of a verb share: multó, multado."""
_MAX_SLOT = 4  # words in one place that were put for others

_LEFT_OUT = {"except": "restricted", "one_of": "restricted"} | dict.fromkeys(
    ("claimed", "forecast", "condition", "nearly", "will", "associated"), "hedged"
)
"""Cues of the source that a sentence may not leave out, each with its reason."""
_OPPOSED = (("unlike", "like"), ("like", "unlike"), ("few", "many"), ("many", "few"), ("majority", "minority"))


def doubts(text: str) -> bool:
    """Tell whether words beside a quotation say that it is false, unproven, claimed, forecast or excepted."""
    return any(lang.cue(key).search(text) for key in ("false", "untrue", "unproven", "forecast", "except"))


def framed(pair: Pair) -> Iterator[Discrepancy]:
    """Find what a sentence does to the sense of the source sentence that has most of its words."""
    mine, near = pair.mine, pair.near
    if not near or pair.best < SPOKEN_OF:
        return
    unit = near[0]
    denied_there = unit.scope.cues or lang.cue("denying").search(unit.text)
    if _UNSPACED.search(mine.text) and denied_there and not (mine.scope.cues or lang.cue("denying").search(mine.text)):
        yield Discrepancy("partly", "affirmed", mine.text)  # how far it reaches, no space tells
    soft = bool(mine.scope.hedges or mine.scope.open or mine.scope.not_yet)
    false, denied = _cued("false", unit.text), _cued("false", mine.text)
    if false and not denied and not mine.scope.cues:
        yield Discrepancy("contradicted", "affirmed", false.group())
    if denied and not false and not unit.scope.cues:
        yield Discrepancy("contradicted", "denied", denied.group())
    supposed = _cued("condition", mine.text)
    if supposed and not any(_cued("condition", one.text) for one in near):
        yield Discrepancy("partly", "supposed", supposed.group())
    unproven = _cued("unproven", unit.text) and not _cued("unproven", mine.text) and not soft
    if (unit.asks and not mine.asks) or unproven:
        yield Discrepancy("unsupported", "open")
    told = _cued("claimed", mine.text) or _cued("forecast", mine.text)
    for key, why in _LEFT_OUT.items():
        excused = (mine.scope.cues if key == "except" else soft) or (told and key in {"claimed", "forecast"})
        theirs = _cued(key, unit.text)
        if theirs and not excused and not _cued(key, mine.text) and _touches(key, theirs, mine):
            yield Discrepancy("partly", why, theirs=theirs.group().strip(" ,;"))
    for one, other in _OPPOSED:
        ours, opposed = _cued(one, mine.text), _cued(other, unit.text)
        if ours and opposed and not _cued(one, unit.text) and not _cued(other, mine.text) and not unit.scope.cues:
            yield Discrepancy("contradicted", "other", ours.group(), opposed.group())
            break
    cause = lang.cue("cause").search(mine.text)
    if cause and not any(lang.cue("reason").search(unit.text) for unit in near):
        yield Discrepancy("partly", "cause", cause.group())


@lru_cache(16_384)
def _cued(key: str, text: str) -> re.Match[str] | None:
    return lang.cue(key).search(lang.cue("no_condition").sub(" ", text) if key == "condition" else text)


def _touches(key: str, theirs: re.Match[str], mine: ParsedSentence) -> bool:
    """Tell whether a cue of the source limits what the sentence says, and not something beside it."""
    if key == "one_of":
        last = root(theirs.group().casefold().split()[-1])
        return any(last.endswith(one) or one[:STEM] == last[:STEM] for one in mine.content_roots) or (
            "最" in mine.text and bool(_UNSPACED.search(last))
        )
    # One of the next two words: `nearly extinct` said as `extinct`.
    rest = re.findall(r"[^\W\d_]{3,}", theirs.string[theirs.end() :].casefold())[:2]
    return key not in {"nearly", "will"} or not set(mine.content_roots).isdisjoint(map(root, rest))


def substitutions(mine: ParsedSentence, theirs: ParsedSentence, language: str) -> tuple[float, list[Discrepancy]]:
    """Align a sentence with a source sentence.

    Returns:
        The share of the sentence's words that stand in the source in the same order, and what was put for what: a name
        for another, a number for another, a negation that came or went, two stretches that changed places.
    """
    ours, other = ([at for at, word in enumerate(one.words) if any(map(str.isalnum, word))] for one in (mine, theirs))
    if not ours or not other or len(ours) > MAX_WORDS or len(other) > MAX_WORDS:
        return 0.0, []
    roots = [mine.roots[at] for at in ours], [theirs.roots[at] for at in other]
    codes = SequenceMatcher(None, *roots, autojunk=False).get_opcodes()
    same = sum(stop - start for kind, start, stop, _, _ in codes if kind == "equal") / len(ours)
    findings: list[Discrepancy] = []
    # Won no award, did not win any award: the same is denied by both, wherever the word for it stands.
    both_deny = {mine.roots[at] for at in mine.scope.denied} & {theirs.roots[at] for at in theirs.scope.denied}
    for place, (kind, one, one_end, two, two_end) in enumerate(codes if same >= NEARLY_SAME else ()):
        if kind == "equal":
            continue
        new, old = ours[one:one_end], other[two:two_end]
        inside = 0 < place < len(codes) - 1
        if not both_deny and (inside or kind == "insert"):
            findings.extend(_negation(mine, new, theirs, old, inside=inside))
        if kind == "replace" and len(new) <= _MAX_SLOT and len(old) <= _MAX_SLOT:
            findings.extend(_slot(mine, new, theirs, old, surely=same >= SURELY_SAME))
    return same, findings or _exchanged(mine, theirs) or _turned_round(mine, theirs, language)


def _negation(
    mine: ParsedSentence, new: Sequence[int], theirs: ParsedSentence, old: Sequence[int], *, inside: bool
) -> list[Discrepancy]:
    added = [at for at in new if at in mine.scope.cues]
    gone = [at for at in old if at in theirs.scope.cues]
    if bool(added) == bool(gone):
        return []
    if added:
        key, unit, at = "denied", mine, added[0]
    elif inside and len(old) <= _MAX_SLOT:
        key, unit, at = "affirmed", theirs, gone[0]
    else:
        return []  # a whole part of the source was left out, and its negation with it
    return [Discrepancy("contradicted", key, " ".join(unit.words[max(0, at - 1) : at + 3]))]


def _slot(
    mine: ParsedSentence, new: Sequence[int], theirs: ParsedSentence, old: Sequence[int], *, surely: bool
) -> list[Discrepancy]:
    """A name or a number that stands where the source has another one."""
    denied = bool(set(new) & set(mine.scope.cues)) != bool(set(old) & set(theirs.scope.cues))
    for at in () if denied else new:  # not open is closed
        for place in (place for place in old if theirs.roots[place] in opposites(mine.roots[at])):
            return [Discrepancy("contradicted", "other", mine.words[at], theirs.words[place])]
    ours, other = _telling(mine, new), _telling(theirs, old)
    if not ours or not other or ours & other or any(alike(one, two) for one in ours for two in other):
        return []
    (named, numbered), (their_named, their_numbered) = _kinds(mine, new), _kinds(theirs, old)
    if not (named and their_named) and not (numbered and their_numbered):
        unlike = surely and not denied and len(ours) == len(other) == 1 and not ours & set(theirs.roots)
        if unlike and not _UNSPACED.search(mine.text):
            return [Discrepancy("partly", "unlike", _written(mine, new), _written(theirs, old))]
        return []
    if numbered and _same_figures(mine, theirs):
        return []  # written in another unit
    # What stands elsewhere in the source too was put in another's place only if its own place was given away.
    one_for_one = surely and len(new) == len(old) == 1
    if ours <= set(theirs.roots) and not one_for_one and not other <= set(mine.roots):
        return []
    return [Discrepancy("contradicted", "other", _written(mine, new), _written(theirs, old))]


def _same_figures(mine: ParsedSentence, theirs: ParsedSentence) -> bool:
    """Tell whether the source has all figures of the sentence, some in another unit or spelling, or within its bounds."""
    equal = [
        (one, [other for other in theirs.figures if one.equals(other) or (one.allows(other) and not other.bound)])
        for one in mine.figures
    ]
    spelled = {theirs.text[one.start : one.end] for one in theirs.figures}
    changed = any(
        mine.text[one.start : one.end] not in spelled or any(one.unit != other.unit for other in others)
        for one, others in equal
    )
    return changed and all(others for _, others in equal)


def _telling(unit: ParsedSentence, places: Sequence[int]) -> set[str]:
    return {unit.roots[at] for at in places if unit.content[at] or unit.roots[at][:1].isdigit()}


def _kinds(unit: ParsedSentence, places: Sequence[int]) -> tuple[bool, bool]:
    named = {word for name in unit.names for word in name.words}
    return any(unit.words[at] in named for at in places), any(unit.roots[at][:1].isdigit() for at in places)


def _written(unit: ParsedSentence, places: Sequence[int]) -> str:
    shown = " ".join(unit.words[at] for at in places)
    at = unit.text.casefold().find(shown)
    return unit.text[at : at + len(shown)] if at >= 0 else shown


def _exchanged(mine: ParsedSentence, theirs: ParsedSentence) -> list[Discrepancy]:
    """The same words with two stretches of them in each other's place: smoking causes stress, stress causes smoking."""
    articles = lang.words("articles")
    ours, other = (
        [at for at, word in enumerate(unit.words) if word == "," or (word not in articles and word[:1].isalnum())]
        for unit in (mine, theirs)
    )
    one, two = [mine.roots[at] for at in ours], [theirs.roots[at] for at in other]
    if len(one) != len(two) or sorted(one) != sorted(two):
        return []
    first = next((at for at in range(len(one)) if one[at] != two[at]), len(one))
    last = next((at for at in range(len(one), first, -1) if one[at - 1] != two[at - 1]), first)
    one, two = one[first:last], two[first:last]
    both = lang.words("and") | lang.words("or") | {","}
    mutual = {root(word) for word in lang.words("mutual", "en")}
    for start in range(1, len(one) - 1):
        for end in range(start + 1, len(one)):
            between = one[start:end]
            if two != [*one[end:], *between, *one[:start]] or not {*one[:start], *one[end:]} - both:
                continue
            if (between[0] in both and between[-1] in both) or mutual & set(between):
                return []  # a list, or what both do to each other
            alike_ends = any(classes(a) & classes(b) for a in one[:start] for b in one[end:])
            told = [at for at in ours if mine.content[at] or mine.roots[at][:1].isdigit()]
            ends = (ours[first : first + start], ours[first + end : last])
            shown, swapped = (_written(mine, [at for at in part if at in told]) for part in ends)
            order = Discrepancy("contradicted", "order", shown, swapped)
            return [order] if shown and swapped and not alike_ends else []
    return []


def _turned_round(mine: ParsedSentence, theirs: ParsedSentence, language: str) -> list[Discrepancy]:
    """Who was fined by the court, said to have fined the court; or the other way about."""
    by, was, articles = (lang.words(key, language) for key in ("agent", "passive", "articles"))
    for one, other in ((mine, theirs), (theirs, mine)):
        at = next((at for at, word in enumerate(one.words) if word in by and was & {*one.words[:at]}), len(one.words))
        agent = [place for place in _heads(one) if place > at][:1]
        if not agent or by & {*other.words}:
            continue
        patient, done = one.roots[_heads(one)[0]], {root[:STEM] for root in one.content_roots}
        for who, does, whom in zip(_heads(other), _heads(other)[1:], _heads(other)[2:], strict=False):
            between = {*other.words[does + 1 : whom]} - articles - {word for name in other.names for word in name.words}
            turned = (other.roots[who], other.roots[whom]) == (patient, one.roots[agent[0]])
            if turned and not between and other.roots[does][:STEM] in done:
                ours, swapped = _written(other, [who]), _written(other, [whom])
                return [Discrepancy("contradicted", "order", ours, swapped)]
    return []


def same_turned(mine: ParsedSentence, theirs: ParsedSentence) -> bool:
    """Tell a comparison said from its other side: slower than the train, and the train is faster."""
    (more, than), (less, other) = _sides(mine), _sides(theirs)
    than, other = than - other, other - than
    return bool(than and other) and than <= less and other <= more and any(opposites(one) & less for one in more)


def _sides(unit: ParsedSentence) -> tuple[set[str], set[str]]:
    """Give the content before and behind its `than`."""
    than = next((at for at, word in enumerate(unit.words) if word in lang.words("than")), len(unit.words))
    places = [at for at, counts in enumerate(unit.content) if counts]
    return {unit.roots[at] for at in places if at < than}, {unit.roots[at] for at in places if at > than}


def _heads(unit: ParsedSentence) -> list[int]:
    """Places of its content words, of a name the last one only."""
    ahead = {(one, other) for name in unit.names for one, other in pairwise(name.words)}
    pairs = zip(unit.words, (*unit.words[1:], ""), strict=True)
    return [at for at, pair in enumerate(pairs) if unit.content[at] and pair not in ahead]
