"""The checks that need no model, for every other room: what is carried, quoted, equal, named.

Texts go in, plain values come out; languages are ISO 639-1 codes.

    carried("The line was closed for 12 days.", ["It was closed for twelve days."]).verdict
    stance("All sites failed.", "Two of the three sites failed.").stance
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, pairwise
from typing import Literal

from agents.contracts.verification import Stance
from agents.nlp import lang
from agents.nlp.tokens import language_of
from agents.verify.compare import Comparison, compare, named_words
from agents.verify.parsed_text import Discrepancy, ParsedText, Severity, joined, names, read, reason
from agents.verify.quotes import find_quote

Verdict = Literal["supported", "partly", "unsupported", "contradicted"]

SUPPORTED = 0.5
"""Score from which a sentence without a finding counts as carried."""
PARTLY = 0.25
"""Score from which part of it does."""
RAISABLE = 0.5
"""Share of its content that the quotes must have, in the same language, for a model to be asked whether they carry it."""
QUOTATION = 5
"""Words from which words in quotation marks are a quotation, which must be verbatim."""
_CEILING: dict[Severity, float] = {"contradicted": 0.1, "unsupported": 0.3, "partly": 0.45, "note": 1.0}
"""Highest score that a finding leaves, the gravest first."""
_GRAVEST = tuple(_CEILING)

_ENDS = ".!?…。！？\n"
"""Signs that one sentence ends with and another begins after."""

BIAS = 2.4
WEIGHTS = {"uncovered": -1.7, "strangers": -3.0, "personal": -2.3, "order": -2.5}
"""Logistic regression by `tests/fit_support.py` on the development half of BEGIN (Dziri et al. 2022), rounded. What the
names mean is told at `features`. On passages it was not fitted to: balanced accuracy 0.91, area under the curve 0.97."""


@dataclass(frozen=True)
class Support:
    """What a sentence's quotes do for it."""

    verdict: Verdict
    score: float
    """0 to 1: how sure the check is that the quotes carry it. Calibrated on one data set only; good for ordering."""
    reasons: tuple[str, ...]
    """Plain sentences, the gravest first; at least one."""
    binding: bool = False
    """Whether no opinion may raise it: a figure, date, name, negation or quotation decides, or most of its words are its own."""


def carried(sentence: str, quotes: Sequence[str], *, language: str = "en", context: Sequence[str] = ()) -> Support:
    """Tell whether `quotes` carry `sentence`.

    A number, date or name of the sentence that is in no quote makes it unsupported; another one in its place, a negation
    that came or went, or the contrary word makes it contradicted; a reservation or limit that it leaves out makes it
    partly supported. Where nothing of this kind is found, the share of its words that the quotes have decides.

    Args:
        sentence: one sentence of a report, with or without citation marks.
        quotes: the words of the sources that it cites; passages of any length.
        language: of the sentence, as ISO 639-1 code; reasons are in it too, where there is wording.
        context: titles and headings of the sources, which say whom a quote's pronouns mean. They carry nothing.
    """
    return _carried(sentence, tuple(quotes), language, tuple(context))


@lru_cache(maxsize=4_096)  # a claim meets the same words when they are read, challenged, and written
def _carried(sentence: str, quotes: tuple[str, ...], language: str, context: tuple[str, ...]) -> Support:
    source = _source(tuple(quote for quote in quotes if quote.strip()), language)
    if not source.units:
        return Support("unsupported", 0.0, (reason("nothing", language),))
    # Words that only say that there is a source are not held against it.
    said = re.sub(rf"^\s*(?:{lang.alternatives('opening')})", "", sentence, flags=re.IGNORECASE)
    mine = read(said, language)
    if not mine.units:
        return Support("supported", 1.0, (reason("covered", language),))
    bare = re.sub(r"\s*\[(?:\^|#)?\w{1,12}\]", "", sentence).strip().rstrip(".").strip('"“”„«»')
    if any(_stands_whole(bare, quote) for quote in quotes):
        return Support("supported", 1.0, (reason("verbatim", language),))
    compared = _compared(said, quotes, language, context)
    invented = [one for one in mine.quotations if not _stands(one, quotes)]
    found = judged(compared, language, invented)
    foreign = language_of(" ".join(quotes)) != language  # few of its words can stand in them
    keys = {one.key for comparison in compared for one in comparison.findings if one.severity != "note"}
    told = keys - {"pronoun", "unlike", "name_missing" if foreign else ""}
    own_words = not foreign and features(compared)["uncovered"] > 1 - RAISABLE
    return replace(found, binding=found.verdict != "supported" and bool(told or invented or own_words))


@lru_cache(maxsize=512)  # what carries nothing is asked for its stance next
def _compared(text: str, quotes: tuple[str, ...], language: str, context: tuple[str, ...]) -> tuple[Comparison, ...]:
    known = named_words(context, language) if context else frozenset()
    source = _source(tuple(quote for quote in quotes if quote.strip()), language)
    return tuple(compare(unit, source, language, known) for unit in read(text, language).units)


_JOINS = re.compile(r"[,;:–—]|\b(?:and|or|than|und|oder|als|et|ou|que|y|o)\b", re.IGNORECASE)
"""What parts two names that are only listed or compared."""
_EITHER = re.compile(r"\W*(?:or|oder|ou|o)\W*", re.IGNORECASE)


def mixes(sentence: str, sources: Sequence[tuple[str, str]], *, language: str = "en") -> bool:
    """Tell a sentence that gives to one what only the words about another say: `The Exies … in 2006 by Billy Morrison`.

    Quotes together hold all its words, and none of them says it. A figure must stand in one source with the name before
    it, and so must two names that no comma and no `and` parts.

    Args:
        sentence: one that several sources carry together, and none alone.
        sources: quote and title of each.
        language: of the sentence.
    """
    held = [_words_of(f"{quote} {title}") for quote, title in sources]
    titles = [_words_of(title) for _, title in sources]

    def apart(*said: Sequence[str]) -> bool:
        return not any(words.issuperset(chain(*said)) for words in held)

    known = [one for one in names(sentence, language) if not apart(one.words)]
    subjects = [one for one in known if any(words.issuperset(one.words) for words in titles)]
    for one, other in pairwise(known):
        if apart(one.words, other.words) and not _JOINS.search(sentence[one.end : other.start]):
            return True
        about = next((name for name in reversed(subjects) if name.end <= other.start), None)
        if about and other not in subjects and apart(about.words, other.words):
            return True  # `The Viewpoint was founded in Texas and is British`, where only the other one is
    # `The American one, Mark King or Nick Hexum, is Mark King.`: what is asked of the two must be true of the one.
    either = [_EITHER.fullmatch(sentence[one.end : other.start]) for one, other in pairwise(subjects)]
    is_chosen = len(subjects) > 2 and any(either) and subjects[-1].words in [one.words for one in subjects[:-1]]
    if is_chosen and apart(subjects[-1].words, *(one.words for one in known if one not in subjects)):
        return True
    for figure in re.finditer(r"\d+", sentence):
        before = next((one for one in reversed(known) if one.end <= figure.start()), None)
        if before and not apart([figure[0]]) and apart([figure[0]], before.words):
            return True
    return False


def misplaced(sentence: str, before: str, sources: Sequence[tuple[str, str]], *, language: str = "en") -> bool:
    """Tell a sentence that means, by its first words, what the one before it names, while its sources speak of something else.

    `Hull airport lies in the east. The airport is run by the town of Leeds.`, of which the source says the second of Leeds airport.

    Args:
        sentence: one that none of the sources of `before` carries.
        before: the sentence before it.
        sources: quote and title of each of its sources.
        language: of both.
    """
    first, second = [*re.findall(r"[^\W\d_]+", sentence.casefold())[:2], "", ""][:2]
    named = [one.words for one in names(before, language) if one.sure]
    if first not in lang.words("pronouns"):
        named = [one for one in named if first in lang.words("articles") and one[-1] == second]
    held = [one.words for quote, title in sources for one in names(f"{title}. {quote}", language)]
    # A name may be said in short, `Kelwick` for `Kelwick Power`; `Mark Dyer` is not short for `Mark King`.
    return bool(named) and not any(
        one[:2] == other[: len(one[:2])] or other == one[:1] for one in named for other in held
    )


def _words_of(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.casefold()))


def _stands_whole(sentence: str, quote: str) -> bool:
    """Tell whether a sentence is one of the quote's, or several: part of one may lack what it depends on.

    “20 birds were seen” stands in “Between 10 and 20 birds were seen”, and “the mayor took money” in a denial of it.
    """
    place = find_quote(sentence, quote)
    if place is None:
        return False
    before, after = quote[: place[0]].rstrip(" \"“”„«»'*_"), quote[place[1] :].lstrip(" \"“”„«»'*_")
    return (not before or before[-1] in _ENDS) and (not after or after[0] in _ENDS or quote[place[1] - 1] in _ENDS)


def _stands(quotation: str, quotes: Sequence[str]) -> bool:
    """Tell whether words in quotation marks stand in a quote; a title or a single term may be written as one likes."""
    words = quotation.replace("&", "and").strip(" .,;:!?")
    return len(words.split()) < QUOTATION or any(find_quote(words, one.replace("&", "and")) for one in quotes)


def judged(compared: Sequence[Comparison], language: str, invented: Sequence[str] = ()) -> Support:
    """Make one verdict of the comparisons of a sentence's parts; `invented` are quotations that stand nowhere."""
    findings = [one for comparison in compared for one in comparison.findings]
    kinds: set[Severity] = {one.severity for one in findings}
    worst = min(kinds, key=_GRAVEST.index, default=_GRAVEST[-1])
    if invented and worst != "contradicted":
        worst = "unsupported"
    against = sum(WEIGHTS[name] * value for name, value in features(compared).items())
    score = min(1 / (1 + math.exp(-BIAS - against)), _CEILING[worst])
    verdict: Verdict = "partly" if score < SUPPORTED or worst == "partly" else "supported"
    if worst == "contradicted":
        verdict = "contradicted"
    elif worst == "unsupported" or score < PARTLY:
        verdict = "unsupported"
    return Support(verdict, round(score, 4), _reasons(findings, compared, verdict, language, invented))


def features(compared: Sequence[Comparison]) -> dict[str, float]:
    """Give what the score is computed from, each 0 to 1."""
    content = sum(one.content for one in compared) or 1
    strangers = sum(len(one.uncovered) for one in compared)
    weighed = [(one.content / content, one) for one in compared]
    return {
        "uncovered": sum(share * (1 - one.coverage) for share, one in weighed),
        "strangers": min(strangers, 4) / 4,
        "personal": float(any(one.personal for one in compared)),
        "order": sum(share * (1 - one.alike) for share, one in weighed),
    }


@lru_cache(maxsize=512)
def _source(quotes: tuple[str, ...], language: str) -> ParsedText:
    return joined([read(quote, language) for quote in quotes])


def _reasons(
    findings: Sequence[Discrepancy], compared: Sequence[Comparison], verdict: Verdict, language: str, invented: Sequence[str]
) -> tuple[str, ...]:  # fmt: skip
    gravest = sorted(findings, key=lambda one: _GRAVEST.index(one.severity))
    told = [reason(one.key, language, ours=one.ours, theirs=one.theirs) for one in gravest]
    told.extend(reason("uncovered", language, ours=f"“{one}”") for one in invented)
    strangers = [word for one in compared for word in one.uncovered]
    if verdict != "supported" and strangers:
        told.append(reason("uncovered", language, ours=", ".join(strangers[:5])))
    if verdict != "supported" and any(one.personal for one in compared):
        told.append(reason("personal", language))
    return tuple(dict.fromkeys(told)) or (reason("covered", language),)


RELATED = 0.3
"""Share of a claim's content that a fact must have to speak of it at all."""
_LIMITS = frozenset({"hedged", "open", "universal", "not_yet", "restricted"})


@dataclass(frozen=True)
class StanceVerdict:
    """A fact's stance on a claim."""

    stance: Stance
    strength: float
    """0 to 1, in the stance. From 0.5 on one side has spoken."""
    reasons: tuple[str, ...]
    """Plain sentences; at least one."""


_ROW = re.compile(r"([^:;]{1,60}): ([^;]{1,80}); [^:;]{1,60}: ")
"""A row of a table, told with the heads of its cells: what it is about stands in the first."""


def stance(claim: str, fact: str, *, language: str = "en", context: Sequence[str] = ()) -> StanceVerdict:
    """Judge a fact's stance on a claim from the two texts alone.

    It is careful rather than complete: it decides where figures, dates, names, negations, opposites or the words
    themselves decide, and says `unrelated` where only knowledge of the world could tell. Between human-made false claims
    and their refutations (Fool Me Twice) it decides about a third of the cases, most of them rightly.

    Args:
        claim: a testable statement, one sentence or a few.
        fact: the statement or the quote of a source; passages of any length.
        language: of both, as ISO 639-1 code; reasons are in it too, where there is wording.
        context: titles and headings of the source, which say whom the pronouns of the fact mean.
    """
    return _stance(claim, fact, language, tuple(context))


@lru_cache(maxsize=4_096)
def _stance(claim: str, fact: str, language: str, context: tuple[str, ...]) -> StanceVerdict:
    source, mine = read(fact, language), read(claim, language)
    rows = [_ROW.match(text) for text in (claim, fact)]
    other_row = all(rows) and len({row[1] for row in rows if row}) == 1 < len({row[2] for row in rows if row})
    if other_row or not source.units or not mine.units:
        return StanceVerdict("unrelated", 1.0, (reason("nothing", language),))
    compared = _compared(claim, (fact,), language, context)
    verdict = judged(compared, language)
    keys = {finding.key for one in compared for finding in one.findings}
    best = max(one.best for one in compared)
    # A row of a table says neither `only` nor `perhaps`: that it lacks them limits nothing.
    limited = keys & _LIMITS and best >= RELATED and verdict.verdict != "supported" and not rows[1]
    denied = any(unit.scope.cues for unit in source.units) and not mine.units[0].scope.cues
    judgement: tuple[Stance, float]
    if verdict.verdict == "contradicted" and "not_yet" not in keys:
        # The more of the claim the fact has, the surer it speaks of the same and not of something beside it.
        judgement = "contradicts", 0.1 + 0.4 * (best + max(one.context for one in compared))
    elif verdict.verdict == "contradicted" or limited or (verdict.verdict == "partly" and denied):
        judgement = "qualifies", best
    elif verdict.verdict in {"supported", "partly"} and "unlike" not in keys:
        judgement = "supports", verdict.score
    else:
        judgement = "unrelated", 1 - sum(one.coverage for one in compared) / len(compared)
    return StanceVerdict(judgement[0], round(max(0.0, min(1.0, judgement[1])), 4), verdict.reasons)


def names_in(text: str, language: str) -> frozenset[str]:
    """Give the casefolded words of the names in `text`, as far as capitals and abbreviations tell."""
    return frozenset(word for name in names(text, language) if name.sure for word in name.words)
