"""One sentence against its quotes: what is covered, and what is said otherwise. No verdict yet."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from agents.nlp import lang
from agents.verify.compare_figures import SAME_CONTEXT, compare_amounts, compare_dates
from agents.verify.distortions import STEM, framed, same_turned, substitutions
from agents.verify.negation import alike, classes, negated, opposites, root
from agents.verify.parsed_text import Discrepancy, Pair, ParsedSentence, ParsedText, names, variants

NEAR = 0.6
"""A source sentence belongs to the near ones when it has this share of what the best one has."""
ENOUGH = 0.45
"""Share of a sentence that its best source sentence must have before their words are held against each other."""


@dataclass(frozen=True)
class Comparison:
    """What holding a sentence against its quotes has shown."""

    findings: tuple[Discrepancy, ...]
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
    alike: float
    """Share of the sentence's words, of every kind, that stand in a quote in the same order, 0 to 1."""
    personal: bool
    """Whether it speaks of its writer or reader and no quote does."""


def compare(mine: ParsedSentence, source: ParsedText, language: str, known: frozenset[str] = frozenset()) -> Comparison:
    """Hold one sentence against its quotes; words of their titles, which say whom a pronoun means, are `known`."""
    named = {word for name in mine.names if name.sure or language != "de" for word in name.words}
    content = [at for at, counts in enumerate(mine.content) if counts]
    near, best = _near(mine, source)
    told = zip(mine.roots, mine.words, mine.content, strict=True)
    wanted = {one for one, word, counts in told if counts and word not in named}
    context = _held(wanted, {one for unit in near for one in unit.roots}) / len(wanted) if wanted else 1.0
    pair = Pair(mine, source, near, best, context, language)
    findings = [
        *compare_amounts(pair),
        *compare_dates(pair),
        *_names(mine, source.words | known, near),
        *(_polarity(mine, near[0]) if best >= ENOUGH / 1.5 and context >= SAME_CONTEXT else ()),
        *(_quantifiers(pair) if best >= ENOUGH / 1.5 else ()),
        *framed(pair),
    ]
    same, swaps = substitutions(mine, near[0], language) if near and best >= ENOUGH else (0.0, [])
    turned = bool(near) and same_turned(mine, near[0])
    keys = {one.key for one in findings}
    explained = {"unlike"} if "computed" in keys else set()
    settled = explained | {one.key for one in findings if one.severity == "contradicted"}
    findings.extend(one for one in swaps if not turned and one.key not in settled)
    lost = [
        at
        for at in content
        if not (_covered(mine.roots[at], source) or mine.words[at] in known or mine.words[at] in source.words)
        and not ("pronoun" in keys and mine.words[at] in named)  # told already, as a name that could not be checked
    ]
    cues = mine.scope.cues or (near and near[0].scope.cues)
    for at in lost if near and not cues and not turned else ():
        one, word = mine.roots[at], mine.words[at]
        contrary = negated(one) | negated(word) | (opposites(one) if best >= ENOUGH else frozenset())
        beside = zip(near[0].roots, near[0].words, strict=True)
        if theirs := min(
            (its for root, its in beside if root in contrary or one in negated(root) | negated(its)), default=""
        ):
            findings.append(Discrepancy("contradicted", "other", mine.words[at], theirs))
    said = [unit for unit in near if unit.figures or not mine.figures]
    if said and all(_speaks_of_another(mine, unit, language) for unit in said):
        findings = [replace(one, severity="unsupported") if one.severity == "contradicted" else one for one in findings]
    missing = sum(one.key.endswith("_missing") and one.key != "name_missing" for one in findings)
    missing += sum(one.key == "other" and one.severity == "contradicted" for one in findings)
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
        alike=max(same, coverage * bool(explained)),
        personal=mine.personal and not any(unit.personal for unit in source.units),
    )


def _covered(one: str, source: ParsedText) -> bool:
    return (
        one in source.roots
        or bool(classes(one) & source.classes)
        or (len(one) >= 6 and any(len(other) >= 5 and alike(one, other) for other in source.roots))
    )


_IN_A_YEAR = re.compile(r"\b[12]\d{3}\b.*\b(?:was|were|is|are|has|had|war|waren|ist|était|est|era|es)\b")
"""What is said of something in a year, against the year in which something was done."""
_VERB_FIRST = frozenset({"ar"})
"""Languages whose sentences begin with what is done rather than with who does it."""


def _speaks_of_another(mine: ParsedSentence, unit: ParsedSentence, language: str) -> bool:
    """Tell whether a source sentence is about another subject, place or time of a change: neither for nor against.

    The subject is what stands before the first word that both have, where it is a name on both sides or on neither.
    """
    (ours, named), (theirs, also_named) = _subject(mine, unit), _subject(unit, mine)
    if ours and theirs and named == also_named and not unit.opens_with_pronoun and language not in _VERB_FIRST:
        return True
    if _elsewhere(mine, unit, language) and _elsewhere(unit, mine, language):
        return True
    of_a_time = any(alike(one, root(other)) for one in mine.content_roots for other in ("rise", "fall"))
    amounts = [one for one in mine.figures if one.kind == "amount" and not one.weak]
    of_a_time |= any(not any(map(one.equals, unit.figures)) for one in amounts) or bool(_IN_A_YEAR.search(mine.text))
    times, their_times = _times(mine), _times(unit)
    overlap = any(one <= late and early <= other for one, other in times for early, late in their_times)
    return of_a_time and bool(times and their_times) and not overlap


def _subject(unit: ParsedSentence, other: ParsedSentence) -> tuple[bool, bool]:
    """Tell whether something stands before the first word that another sentence has too, and whether it is a name."""
    kinds = {kind for one in other.roots for kind in classes(one)}
    how_many = lang.words("all") | lang.words("some")
    before: set[str] = set()
    for word, one, counts in zip(unit.words, unit.roots, unit.content, strict=True):
        if counts and (word in other.words or one in other.roots or classes(one) & kinds):
            return bool(before), any(name.sure and before & set(name.words) for name in unit.names)
        before |= {word} - how_many if counts else set()
    return False, False


def _elsewhere(unit: ParsedSentence, other: ParsedSentence, language: str) -> bool:
    """Tell whether it speaks of a place, or of a subject of a place, that the other does not name.

    What lies in Europe does not lie in Asia; what is sold there may be sold here, and the mayor of Oslo is not Bergen's.
    """
    named = {word for name in unit.names for word in name.words} - set(other.words)
    placed = lang.words("placed")
    words = [word for word in unit.words if word not in lang.words("articles")]
    return any(
        word in named
        and verb not in placed
        and before in (lang.words("places", language) | (lang.words("of", language) if at < 2 else set()))
        for at, (verb, before, word) in enumerate(zip(words, words[1:], words[2:], strict=False))
    )


def _times(unit: ParsedSentence) -> set[tuple[float, float]]:
    """Give the spans of years, or the ordinals of quarters and trials, that a sentence speaks of."""
    years: set[tuple[float, float]] = {(one.first, one.last) for one in unit.whens if one.first and one.last}
    return years or {(one.low, one.high) for one in unit.figures if one.kind == "ordinal"}


def _share(mine: ParsedSentence, unit: ParsedSentence) -> float:
    """Share of the content, figures and dates of `mine` that `unit` has; content words by root or meaning."""
    wanted = set(mine.content_roots)
    got = _held(wanted, set(unit.roots))
    got += sum(any(one.equals(other) for other in unit.figures) for one in mine.figures)
    got += sum(any(one.same_year(other) and one.same_day(other) for other in unit.whens) for one in mine.whens)
    total = len(wanted) + len(mine.figures) + len(mine.whens)
    return got / total if total else 0.0


def _held(wanted: set[str], have: set[str]) -> int:
    kinds = {kind for one in have for kind in classes(one)}
    return sum(one in have or bool(classes(one) & kinds) for one in wanted)


def _near(mine: ParsedSentence, source: ParsedText) -> tuple[tuple[ParsedSentence, ...], float]:
    """Sentences of the quotes that say most of it, best first, and the share that the best one has."""
    if len(source.units) == 1:
        return source.units, _share(mine, source.units[0])
    ranked = sorted(((_share(mine, unit), -at) for at, unit in enumerate(source.units)), reverse=True)
    if not ranked or ranked[0][0] == 0:
        return (), 0.0
    best = ranked[0][0]
    return tuple(source.units[-at] for share, at in ranked[:4] if share >= NEAR * best), best


def _names(mine: ParsedSentence, spoken: frozenset[str], near: Sequence[ParsedSentence]) -> Iterator[Discrepancy]:
    """Names that no quote has; one that stands in another's place shows where the sentences are aligned."""
    pronoun = bool(near) and near[0].opens_with_pronoun
    for name in mine.names:
        lost = [word for word in name.words if len(word) > 1 and not {word, *variants((word,))} & spoken]
        first_name = len(lost) == 1 < len(name.words) and name.words[-1] not in lost and len(name.words[-1]) > 2
        if not lost or not name.sure or first_name:
            continue  # a first name more than the quote gives is no fault
        if pronoun and name.start <= 4:
            yield Discrepancy("partly", "pronoun", name.shown)
        else:
            yield Discrepancy("unsupported", "name_missing", name.shown)


def _polarity(mine: ParsedSentence, unit: ParsedSentence) -> Iterator[Discrepancy]:
    """A word that one side denies and the other does not; what the source leaves open or says with reservation."""
    named = {word for one in (mine, unit) for name in one.names if name.sure for word in name.words}
    ours = {mine.roots[at]: mine.words[at] for at in mine.scope.nearest if mine.words[at] not in named}
    plain = {one for at, one in enumerate(mine.roots) if mine.content[at] and at not in mine.scope.denied}
    ours_all = {mine.roots[at] for at in mine.scope.denied}
    theirs = {unit.roots[at]: unit.words[at] for at in unit.scope.nearest if unit.words[at] not in named}
    theirs_all = {unit.roots[at] for at in unit.scope.denied}
    affirmed = {one for at, one in enumerate(unit.roots) if unit.content[at] and at not in unit.scope.denied}
    contrary = any(opposites(one) & affirmed for one in ours)  # not approved is rejected
    both = (ours_all & theirs_all) - plain - affirmed  # won no award, did not win any award
    if unit.scope.not_yet and not mine.scope.not_yet and not mine.scope.cues and len(plain & set(unit.roots)) >= 2:
        shared = (word for word, one in zip(mine.words, mine.roots, strict=True) if one in plain & set(unit.roots))
        yield Discrepancy("contradicted", "not_yet", " ".join(shared))
    elif _is_open(mine, unit):
        yield Discrepancy("unsupported", "open")
    elif not unit.scope.not_yet and not contrary and not both and (word := _turned(ours, affirmed, theirs_all)):
        yield Discrepancy("contradicted", "denied", word)
    elif not both and (word := _turned(theirs, plain, ours_all | affirmed)):
        yield Discrepancy("contradicted", "affirmed", word)
    elif hedge := _left_out_hedge(mine, unit):
        yield Discrepancy("partly", "hedged", theirs=hedge)


def _turned(denied: Mapping[str, str], plain: set[str], also_denied: set[str]) -> str:
    """Give a word that one side denies and the other affirms and does not deny too; empty when there is none."""
    for one, word in denied.items():
        said = any(alike(one, other) for other in plain)
        # Denying the contrary affirms: "not open" beside "closed".
        if said and not any(alike(one, other) for other in also_denied) and not opposites(one) & plain:
            return word
    return ""


def _left_out_hedge(mine: ParsedSentence, unit: ParsedSentence) -> str:
    """Give a reservation of the source about a word that the sentence states without any."""
    for at in unit.scope.hedges if not mine.scope.hedges else ():
        after = [unit.roots[place] for place in range(at + 1, len(unit.words)) if unit.content[place]][:2]
        if {one[:STEM] for one in after} & {one[:STEM] for one in mine.content_roots}:
            return unit.words[at]
    return ""


def _is_open(mine: ParsedSentence, unit: ParsedSentence) -> bool:
    """Tell whether most of what both speak of is left open by the source and stated by the sentence."""
    if mine.scope.open or mine.scope.hedges or not unit.scope.open:
        return False
    left = {unit.roots[at] for at in unit.scope.open}
    named = {word for name in unit.names for word in name.words}  # who decides is known before it is decided
    settled = {one for at, one in enumerate(unit.roots) if unit.content[at] and unit.words[at] not in named} - left
    shared = set(mine.content_roots)
    dates = sum(any(when.same_year(other) for other in unit.whens) for when in mine.whens)
    return len(shared & left) >= 2 and len(shared & left) > len(shared & settled) + dates


def _quantifiers(pair: Pair) -> Iterator[Discrepancy]:
    """Words for all of them and for some of them."""
    said_all, some, only = lang.words("all"), lang.words("some"), lang.words("only")
    mine, theirs = pair.mine, pair.near[0].words
    limited = any(word in only for unit in pair.near for word in unit.words)
    every = [word for word in mine.words if word in said_all and word not in pair.source.words]
    if every and not any(word in said_all for word in theirs):
        part = next((word for word in theirs if word in some), "")
        if part and pair.context >= SAME_CONTEXT and not any(word in some for word in mine.words):
            yield Discrepancy("contradicted", "other", every[0], part)
        else:
            yield Discrepancy("unsupported" if limited else "partly", "universal", every[0])
    if any(word in only for word in mine.words) and not limited:
        yield Discrepancy("partly", "universal", "only")


def named_words(texts: Sequence[str], language: str) -> frozenset[str]:
    """Give the casefolded words of titles and headings that say what quotes are about."""
    words = {word for text in texts for word in re.findall(r"[^\W_]+", text.casefold())}
    return frozenset(words | {word for text in texts for name in names(text, language) for word in name.words})
