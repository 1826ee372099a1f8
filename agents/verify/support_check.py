"""Is a sentence carried by its quotes? Numbers, dates, names and negation first, then what else it says."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from agents.nlp.tokens import language_of
from agents.verify.amounts import Finding
from agents.verify.comparing import Comparison, compare, named_words
from agents.verify.parsed_text import Reading, joined, read
from agents.verify.quoting import find_quote
from agents.verify.reasons import reason

Verdict = Literal["supported", "partly", "unsupported", "contradicted"]

SUPPORTED = 0.5
"""Score from which a sentence without a finding counts as carried."""
PARTLY = 0.25
"""Score from which part of it does."""
RAISABLE = 0.5
"""Share of its content that the quotes must have, in the same language, for a model to be asked whether they carry it."""
QUOTATION = 5
"""Words from which words in quotation marks are a quotation, which must be verbatim."""
_CEILING = {"contradicted": 0.1, "unsupported": 0.3, "partly": 0.45, "note": 1.0}
"""Highest score that a finding leaves."""

_ENDS = ".!?…。！？\n"
"""Signs that one sentence ends with and another begins after."""

_OPENING = re.compile(
    r"^\s*(?:according to (?:the|this) (?:source|authors?|report|study|paper|article|document|note|survey|text)s?,?\s|"
    r"as the (?:source|authors?|report|study|paper|article|document)s? (?:writes?|says?|states?|notes?|puts? it),?\s|"
    r"the (?:source|authors?|report|study|paper|article|document)s? (?:writes?|says?|states?|notes?|reports?|finds?|found) that\s|"
    r"(?:laut|nach) (?:der|dem|den) (?:quelle|bericht|studie|autor\w*|text)\s|"
    r"(?:selon|d['’]après) (?:la source|le rapport|l['’]étude|les auteurs),?\s|"
    r"según (?:la fuente|el informe|el estudio|los autores),?\s)",
    re.IGNORECASE,
)
"""Words that only say that there is a source."""

BIAS = 2.5
WEIGHTS = {"uncovered": -1.5, "strangers": -2.7, "grammar": -0.9, "personal": -2.3, "asks": -0.7, "order": -2.3}
"""Logistic regression by `tests/fit_support.py` on the development half of BEGIN (Dziri et al. 2022), rounded. What the
names mean is told at `features`. On passages it was not fitted to: balanced accuracy 0.91, area under the curve 0.96."""


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
    source = _source(tuple(quote for quote in quotes if quote.strip()), language)
    if not source.units:
        return Support("unsupported", 0.0, (reason("nothing", language),))
    mine = read(_OPENING.sub("", sentence), language)
    if not mine.units:
        return Support("supported", 1.0, (reason("covered", language),))
    if any(_stands_whole(_bare(sentence), quote) for quote in quotes):
        return Support("supported", 1.0, (reason("verbatim", language),))
    known = named_words(context, language) if context else frozenset()
    compared = [compare(unit, source, language, known) for unit in mine.units]
    invented = [one for one in mine.quotations if not _stands(one, quotes)]
    found = judged(compared, language, invented)
    foreign = _is_foreign(quotes, language)
    keys = {one.key for comparison in compared for one in comparison.findings if one.severity != "note"}
    told = keys - ({"pronoun", "name_missing"} if foreign else {"pronoun"})
    own_words = not foreign and _coverage(compared) < RAISABLE
    return replace(found, binding=found.verdict != "supported" and bool(told or invented or own_words))


def _coverage(compared: Sequence[Comparison]) -> float:
    content = sum(one.content for one in compared) or 1
    return sum(one.content * one.coverage for one in compared) / content


def _is_foreign(quotes: Sequence[str], language: str) -> bool:
    """Tell whether quotes are in another language than the sentence, so that few of its words can stand in them."""
    return language_of(" ".join(quotes)) != language


def _stands_whole(sentence: str, quote: str) -> bool:
    """Tell whether a sentence is one of the quote's, or several: part of one may lack what it depends on.

    “20 birds were seen” stands in “Between 10 and 20 birds were seen”, and “the mayor took money” in a denial of it.
    """
    place = find_quote(sentence, quote)
    if place is None:
        return False
    before, after = quote[: place.start].rstrip(" \"“”„«»'*_"), quote[place.end :].lstrip(" \"“”„«»'*_")
    return (not before or before[-1] in _ENDS) and (not after or after[0] in _ENDS or quote[place.end - 1] in _ENDS)


def _stands(quotation: str, quotes: Sequence[str]) -> bool:
    """Tell whether words in quotation marks stand in a quote; a title or a single term may be written as one likes."""
    words = quotation.replace("&", "and").strip(" .,;:!?")
    return len(words.split()) < QUOTATION or any(find_quote(words, one.replace("&", "and")) for one in quotes)


def judged(compared: Sequence[Comparison], language: str, invented: Sequence[str] = ()) -> Support:
    """Make one verdict of the comparisons of a sentence's parts; `invented` are quotations that stand nowhere."""
    findings = [one for comparison in compared for one in comparison.findings]
    worst = next(
        (kind for kind in ("contradicted", "unsupported", "partly") if any(f.severity == kind for f in findings)),
        "note",
    )
    if invented and worst != "contradicted":
        worst = "unsupported"
    score = min(_probability(features(compared)), _CEILING[worst])
    verdict: Verdict = "supported"
    if worst in {"contradicted", "unsupported"}:
        verdict = "contradicted" if worst == "contradicted" else "unsupported"
    elif score < PARTLY:
        verdict = "unsupported"
    elif score < SUPPORTED or worst == "partly":
        verdict = "partly"
    return Support(verdict, round(score, 4), _reasons(findings, compared, verdict, language, invented))


def features(compared: Sequence[Comparison]) -> dict[str, float]:
    """Give what the score is computed from, each 0 to 1."""
    content = sum(one.content for one in compared) or 1
    strangers = sum(len(one.uncovered) for one in compared)
    weighed = [(one.content / content, one) for one in compared]
    return {
        "uncovered": sum(share * (1 - one.coverage) for share, one in weighed),
        "strangers": min(strangers, 4) / 4,
        "grammar": sum(share * (1 - one.pairs) for share, one in weighed),
        "personal": float(any(one.personal for one in compared)),
        "asks": float(any(one.asks for one in compared)),
        "order": sum(share * (1 - one.alike) for share, one in weighed),
    }


def _probability(values: dict[str, float]) -> float:
    return 1 / (1 + math.exp(-(BIAS + sum(WEIGHTS[name] * value for name, value in values.items()))))


@lru_cache(maxsize=512)
def _source(quotes: tuple[str, ...], language: str) -> Reading:
    return joined([read(quote, language) for quote in quotes])


def _bare(sentence: str) -> str:
    return re.sub(r"\s*\[(?:\^|#)?\w{1,12}\]", "", sentence).strip().rstrip(".").strip('"“”„«»')


def _reasons(
    findings: Sequence[Finding],
    compared: Sequence[Comparison],
    verdict: Verdict,
    language: str,
    invented: Sequence[str],
) -> tuple[str, ...]:
    order = ("contradicted", "unsupported", "partly", "note")
    told = [one.text for kind in order for one in findings if one.severity == kind]
    told.extend(reason("uncovered", language, ours=f"“{one}”") for one in invented)
    strangers = [word for one in compared for word in one.uncovered]
    if verdict != "supported" and strangers:
        told.append(reason("uncovered", language, ours=", ".join(strangers[:5])))
    if verdict != "supported" and any(one.personal for one in compared):
        told.append(reason("personal", language))
    return tuple(dict.fromkeys(told)) or (reason("covered", language),)
