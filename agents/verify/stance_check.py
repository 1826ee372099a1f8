"""What a fact says to a claim: supports, qualifies, contradicts, or speaks of something else."""

from collections.abc import Sequence
from dataclasses import dataclass

from agents.contracts.claim import Stance
from agents.verify.comparing import Comparison, compare, named_words
from agents.verify.parsed_text import read
from agents.verify.reasons import reason
from agents.verify.support_check import judged

RELATED = 0.3
"""Share of a claim's content that a fact must have to speak of it at all."""
_LIMITS = frozenset({"hedged", "open", "universal", "superlative", "not_yet"})
_SIGNS = frozenset({"rival"})


@dataclass(frozen=True)
class Judged:
    """A fact's stance on a claim."""

    stance: Stance
    strength: float
    """0 to 1, in the stance. Evidence by signs alone stays below 0.5, which is where one side has spoken."""
    reasons: tuple[str, ...]
    """Plain sentences; at least one."""


def stance(claim: str, fact: str, *, language: str = "en", context: Sequence[str] = ()) -> Judged:
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
    source, mine = read(fact, language), read(claim, language)
    if not source.units or not mine.units:
        return Judged("unrelated", 1.0, (reason("nothing", language),))
    known = named_words(context, language) if context else frozenset()
    compared = [compare(unit, source, language, known) for unit in mine.units]
    verdict = judged(compared, language)
    keys = {finding.key for one in compared for finding in one.findings}
    best = max(one.best for one in compared)
    if verdict.verdict == "contradicted":
        if "not_yet" in keys:
            return Judged("qualifies", _rounded(best), verdict.reasons)
        # The more of the claim the fact has, the surer it speaks of the same and not of something beside it.
        rest = max(one.context for one in compared)
        return Judged("contradicts", _rounded(0.1 + 0.4 * (best + rest)), verdict.reasons)
    if keys & _SIGNS:
        return Judged("contradicts", _rounded(min(0.45, 0.2 + best / 2)), verdict.reasons)
    if keys & _LIMITS and best >= RELATED and verdict.verdict != "supported":
        return Judged("qualifies", _rounded(best), verdict.reasons)
    if verdict.verdict in {"supported", "partly"}:
        return Judged("supports", verdict.score, verdict.reasons)
    return Judged("unrelated", _rounded(1 - _common(compared)), verdict.reasons)


def leans(claim: str, fact: str, *, language: str = "en") -> bool:
    """Tell to which side to lean when there must be one: a fact that speaks of the claim and says nothing against it.

    Hardly better than a guess (six in ten such claims are true in Fool Me Twice), hence no stance: nothing rests on it.
    """
    source, mine = read(fact, language), read(claim, language)
    compared = [compare(unit, source, language, frozenset()) for unit in mine.units]
    against = any(
        finding.severity == "contradicted" or (finding.severity == "unsupported" and finding.key != "name_missing")
        for one in compared
        for finding in one.findings
    )
    return bool(compared) and not against and max(one.best for one in compared) >= RELATED


def _common(compared: Sequence[Comparison]) -> float:
    return sum(one.coverage for one in compared) / len(compared)


def _rounded(value: float) -> float:
    return round(max(0.0, min(1.0, value)), 4)
