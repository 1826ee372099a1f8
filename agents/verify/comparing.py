"""One sentence against its quotes: what is covered, and what is said otherwise. No verdict yet."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from agents.verify import polarity
from agents.verify.aligning import substitutions
from agents.verify.amounts import SAME_CONTEXT, Finding, compare_amounts, compare_dates, found
from agents.verify.bending import bent, scattered
from agents.verify.framing import framed
from agents.verify.lexicon import alike, classes, opposites
from agents.verify.names import absent, names
from agents.verify.pairing import mispaired
from agents.verify.parsed_text import Reading, Unit
from agents.verify.rivals import rivals

NEAR = 0.6
"""A source sentence belongs to the near ones when it has this share of what the best one has."""
ENOUGH = 0.45
"""Share of a sentence that its best source sentence must have before their words are held against each other."""
_SUPERLATIVE_OF_TIME = frozenset({"first", "last", "only", "most", "least"})


@dataclass(frozen=True)
class Comparison:
    """What holding a sentence against its quotes has shown."""

    findings: tuple[Finding, ...]
    coverage: float
    """Share of the sentence's content that the quotes have, 0 to 1."""
    best: float
    """Share that one sentence of the quotes has."""
    context: float
    """Share of the content without names that the nearest sentences have."""
    uncovered: tuple[str, ...]
    """Content words that no quote has, as written."""
    content: int
    """Content words, numbers, dates and names of the sentence."""
    pairs: float
    """Share of neighbouring content words that are neighbours in a quote too, 0 to 1: word order and grammar."""
    alike: float
    """Share of the sentence's words, of every kind, that stand in a quote in the same order, 0 to 1."""
    personal: bool
    asks: bool
    extra: int
    """Function words that are not in the quotes."""


@dataclass(frozen=True)
class _Held:
    """A sentence and what it is held against."""

    mine: Unit
    source: Reading
    near: list[Unit]
    """Source sentences that say most of it, best first."""
    best: float
    context: float
    known: frozenset[str]
    language: str


def compare(mine: Unit, source: Reading, language: str, known: frozenset[str] = frozenset()) -> Comparison:
    """Hold one sentence against its quotes.

    Args:
        mine: the sentence.
        source: the quotes, read and joined.
        language: of the sentence; reasons are written in it.
        known: casefolded words of titles and headings, which say whom a quote's pronouns mean.
    """
    covered = [_covered(one, source) for one in mine.roots]
    named = {word for name in mine.names for word in name.words}
    content = [at for at, counts in enumerate(mine.content) if counts]
    held = [at for at in content if covered[at] or mine.words[at] in known or mine.words[at] in source.words]
    near, best = _near(mine, source)
    context = _context(mine, near, named)
    given = _Held(mine, source, near, best, context, known, language)
    findings = [
        *compare_amounts(mine, near, source.units, context, language),
        *compare_dates(mine, near, source.units, context, language),
        *_names(given),
        *_polarity(given),
        *_opposites(given),
        *_quantifiers(given),
        *rivals(mine, near, best, language),
        *bent(mine, near, best, language),
        *scattered(mine, near, source.units, language),
        *framed(mine, near, best, language),
        *mispaired(mine, near, language),
    ]
    same, swaps = substitutions(mine, near[0], language) if near and best >= ENOUGH else (0.0, [])
    told = {one.key for one in findings if one.severity == "contradicted"}
    findings.extend(one for one in swaps if one.key not in told)
    explained = any(one.key == "computed" for one in findings)
    lost = [at for at in content if at not in set(held) and not (explained and _tells_change(mine.roots[at]))]
    if any(one.key == "pronoun" for one in findings):
        lost = [at for at in lost if mine.words[at] not in named]  # told already, as a name that could not be checked
    missing = sum(one.key in {"number_missing", "date_missing", "other", "rival"} for one in findings)
    count = len(content) + len(mine.figures) + len(mine.whens)
    coverage = 1 - min(1.0, (len(lost) + missing) / count) if count else 1.0
    return Comparison(
        findings=tuple(dict.fromkeys(findings)),
        coverage=coverage,
        best=best,
        context=context,
        uncovered=tuple(dict.fromkeys(mine.words[at] for at in lost)),
        content=count,
        # What was computed from the source is by nature not in its words.
        pairs=max(_pairs(mine, source), coverage * explained),
        alike=max(same, coverage * explained),
        personal=mine.personal and not any(unit.personal for unit in source.units),
        asks=mine.asks,
        extra=sum(
            word.isalpha() and not counts and word not in source.words
            for word, counts in zip(mine.words, mine.content, strict=True)
        ),
    )


def _covered(one: str, source: Reading) -> bool:
    return (
        one in source.roots
        or bool(classes(one) & source.classes)
        or (len(one) >= 6 and any(len(other) >= 5 and alike(one, other) for other in source.roots))
    )


def _tells_change(one: str) -> bool:
    return bool(opposites(one) - {"un" + one, "dis" + one, "non" + one})


def _share(mine: Unit, unit: Unit) -> float:
    """Share of the content, figures and dates of `mine` that `unit` has; content words by root or meaning."""
    wanted = set(mine.content_roots)
    have = set(unit.roots)
    kinds = {kind for one in have for kind in classes(one)}
    got = sum(one in have or bool(classes(one) & kinds) for one in wanted)
    got += sum(any(one.equals(other) for other in unit.figures) for one in mine.figures)
    got += sum(any(one.same_year(other) and one.same_day(other) for other in unit.whens) for one in mine.whens)
    total = len(wanted) + len(mine.figures) + len(mine.whens)
    return got / total if total else 0.0


def _near(mine: Unit, source: Reading) -> tuple[list[Unit], float]:
    """Sentences of the quotes that say most of it, best first, and the share that the best one has."""
    if len(source.units) == 1:
        return list(source.units), _share(mine, source.units[0])
    ranked = sorted(((_share(mine, unit), -at) for at, unit in enumerate(source.units)), reverse=True)
    if not ranked or ranked[0][0] == 0:
        return [], 0.0
    best = ranked[0][0]
    return [source.units[-at] for share, at in ranked[:4] if share >= NEAR * best], best


def _context(mine: Unit, near: Sequence[Unit], named: set[str]) -> float:
    """Share of the content words, without names, that the near sentences have."""
    have = {one for unit in near for one in unit.roots}
    kinds = {kind for one in have for kind in classes(one)}
    wanted = {
        one
        for one, word, counts in zip(mine.roots, mine.words, mine.content, strict=True)
        if counts and word not in named
    }
    if not wanted:
        return 1.0
    return sum(one in have or bool(classes(one) & kinds) for one in wanted) / len(wanted)


def _names(held: _Held) -> Iterator[Finding]:
    mine, source, near, known, context, language = (
        held.mine,
        held.source,
        held.near,
        held.known,
        held.context,
        held.language,
    )
    spoken = source.words | known
    pronoun = bool(near) and near[0].opens_with_pronoun
    theirs = [name for unit in near for name in unit.names]
    ours = {word for name in mine.names for word in name.words}
    for name in mine.names:
        lost = absent(name, spoken)
        if not lost or not name.sure:
            continue
        if len(lost) == 1 < len(name.words) and name.words[-1] not in lost and len(name.words[-1]) > 2:
            # A first name more than the quote gives is no fault, another first name is.
            rival = next(
                (other for other in theirs if other.words[-1] == name.words[-1] and len(other.words) > 1), None
            )
            if rival is None or set(rival.words) <= set(name.words):
                continue
            yield found("contradicted", "other", language, ours=name.shown, theirs=rival.shown)
        elif pronoun and name.start <= 4:
            yield found("partly", "pronoun", language, ours=name.shown)
        else:
            rival = next(
                (other for other in theirs if set(other.words) & set(name.words) and not set(other.words) <= ours), None
            )
            if rival and context >= SAME_CONTEXT:
                yield found("contradicted", "other", language, ours=name.shown, theirs=rival.shown)
            else:
                yield found("unsupported", "name_missing", language, ours=name.shown)


def _polarity(held: _Held) -> Iterator[Finding]:
    """A word that one side denies and the other does not."""
    mine, near, best, context, language = held.mine, held.near, held.best, held.context, held.language
    if best < ENOUGH / 1.5 or not near or context < SAME_CONTEXT:
        return
    named = {word for one in (mine, near[0]) for name in one.names if name.sure for word in name.words}
    ours = {mine.roots[at]: mine.words[at] for at in mine.scope.nearest if mine.words[at] not in named}
    plain = {one for at, one in enumerate(mine.roots) if mine.content[at] and at not in mine.scope.denied}
    ours_all = {mine.roots[at] for at in mine.scope.denied}
    unit = near[0]
    if len(near) > 1 and mine.scope.cues and not any(_means(one, other) for one in ours for other in unit.roots):
        unit = near[1]
    theirs = {unit.roots[at]: unit.words[at] for at in unit.scope.nearest if unit.words[at] not in named}
    theirs_all = {unit.roots[at] for at in unit.scope.denied}
    affirmed = {one for at, one in enumerate(unit.roots) if unit.content[at] and at not in unit.scope.denied}
    if unit.scope.not_yet and not mine.scope.not_yet and not mine.scope.cues and len(plain & set(unit.roots)) >= 2:
        yield found("contradicted", "not_yet", language, ours=_shared(mine, unit))
        return
    if _is_open(mine, unit):
        yield found("unsupported", "open", language)
        return
    contrary = any(opposites(one) & affirmed for one in ours)  # not approved is rejected
    if not unit.scope.not_yet and not contrary and (word := _turned(ours, affirmed, theirs_all)):
        yield found("contradicted", "denied", language, ours=word)
        return
    if word := _turned(theirs, plain, ours_all | affirmed):
        yield found("contradicted", "affirmed", language, ours=word)
        return
    if (hedge := _left_out_hedge(mine, unit)) and best >= ENOUGH:
        yield found("partly", "hedged", language, theirs=hedge)


def _turned(denied: Mapping[str, str], plain: set[str], also_denied: set[str]) -> str:
    """Give a word that one side denies and the other affirms; empty when there is none.

    Args:
        denied: roots that the one side denies, with the words as written.
        plain: roots that the other side affirms.
        also_denied: roots that excuse a denial, since the other side denies them somewhere too.
    """
    for one, word in denied.items():
        said = any(_means(one, other) for other in plain)
        # Denying the contrary affirms: "not open" beside "closed".
        if said and not any(_means(one, other) for other in also_denied) and not opposites(one) & plain:
            return word
    return ""


def _left_out_hedge(mine: Unit, unit: Unit) -> str:
    """Give a reservation of the source about a word that the sentence states without any."""
    if mine.scope.hedges:
        return ""
    ours = set(mine.content_roots)
    for at in unit.scope.hedges:
        after = next((place for place in range(at + 1, len(unit.words)) if unit.content[place]), None)
        if after is not None and unit.roots[after] in ours:
            return unit.words[at]
    return ""


def _is_open(mine: Unit, unit: Unit) -> bool:
    """Tell whether most of what both speak of is left open by the source and stated by the sentence."""
    if mine.scope.open or mine.scope.hedges or not unit.scope.open:
        return False
    left = {unit.roots[at] for at in unit.scope.open}
    named = {word for name in unit.names for word in name.words}  # who decides is known before it is decided
    settled = {one for at, one in enumerate(unit.roots) if unit.content[at] and unit.words[at] not in named} - left
    shared = set(mine.content_roots)
    dates = sum(any(when.same_year(other) for other in unit.whens) for when in mine.whens)
    return len(shared & left) >= 2 and len(shared & left) > len(shared & settled) + dates


def _means(one: str, other: str) -> bool:
    return one == other or bool(classes(one) & classes(other))


def _shared(mine: Unit, unit: Unit) -> str:
    have = set(unit.roots)
    return " ".join(
        word for word, one, counts in zip(mine.words, mine.roots, mine.content, strict=True) if counts and one in have
    )


def _opposites(held: _Held) -> Iterator[Finding]:
    """The sentence says `rose` and the source `fell`, both plainly, and the source nowhere says `rose`."""
    mine, near, best, language = held.mine, held.near, held.best, held.language
    if best < ENOUGH or not near:
        return
    unit = near[0]
    have = {one: at for at, one in enumerate(unit.roots)}
    kinds = {kind for one in have for kind in classes(one)}
    ours = set(mine.roots)
    for at, one in enumerate(mine.roots):
        if one in have or classes(one) & kinds or at in mine.scope.denied:
            continue
        for other in opposites(one) & have.keys():
            if other not in ours and have[other] not in unit.scope.denied:
                yield found("contradicted", "other", language, ours=mine.words[at], theirs=unit.words[have[other]])
                return


def _quantifiers(held: _Held) -> Iterator[Finding]:
    """Words for all of them, for the most of them and for some of them."""
    mine, source, near, best, language = held.mine, held.source, held.near, held.best, held.language
    if not near or best < ENOUGH / 1.5:
        return
    unit = near[0]
    every = [word for word in polarity.universals(mine.words) if word not in source.words]
    theirs = polarity.universals(unit.words)
    some = polarity.partials(unit.words)
    if every and not theirs and some and held.context >= SAME_CONTEXT and not polarity.partials(mine.words):
        yield found("contradicted", "other", language, ours=every[0], theirs=some[0])
    elif every and not theirs:
        limited = any(polarity.restricts(one.words) for one in near)
        yield found("unsupported" if limited else "partly", "universal", language, ours=every[0])
    if polarity.restricts(mine.words) and not any(polarity.restricts(one.words) for one in near):
        yield found("partly", "universal", language, ours="only")
    for word in polarity.superlatives(mine.text):
        if (
            word not in source.words
            and word not in _SUPERLATIVE_OF_TIME
            and not any(polarity.superlatives(one.text) for one in near)
        ):
            yield found("partly", "superlative", language, ours=word)


def _pairs(mine: Unit, source: Reading) -> float:
    """Neighbouring content words of the sentence that are at most three words apart in a quote."""
    ours = [one for one, counts in zip(mine.roots, mine.content, strict=True) if counts]
    wanted = list(pairwise(ours))
    if not wanted:
        return 1.0
    have: set[tuple[str, str]] = set()
    for unit in source.units:
        theirs = unit.content_roots
        for step in (1, 2, 3):
            have |= set(zip(theirs, theirs[step:], strict=False))
    return sum(pair in have for pair in wanted) / len(wanted)


def named_words(texts: Sequence[str], language: str) -> frozenset[str]:
    """Give the casefolded words of titles and headings that say what quotes are about."""
    words = {word for text in texts for word in re.findall(r"[^\W_]+", text.casefold())}
    return frozenset(words | {word for text in texts for name in names(text, language) for word in name.words})
