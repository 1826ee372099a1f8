"""Challenging, judging stance and support without a model: what code can compare, and nothing it would have to guess."""

from agents.contracts.truth import (
    Attack,
    Challenge,
    ChallengeInput,
    JudgeInput,
    Judgement,
    StanceInput,
    StanceRow,
    Stances,
    Verified,
    VerifiedRow,
    VerifyInput,
)
from agents.text.words import content_words
from agents.truth.stance import stance
from agents.truth.support import support

_AGAINST = {
    "en": "but however not contrary lower higher revised corrected",
    "de": "aber jedoch nicht entgegen geringer höher revidiert korrigiert",
    "fr": "mais cependant pas contraire inférieur supérieur révisé corrigé",
    "es": "pero sin embargo no contrario inferior superior revisado corregido",
}
"""Words that dissent is written with: a document that disputes a claim shares its subject and holds some of them."""
_TELLING = 8


def challenge(given: ChallengeInput) -> Challenge:
    """Search for each claim's subject together with the words of dissent."""
    against = _AGAINST.get(given.language.split("-")[0], _AGAINST["en"])
    return Challenge(
        attacks=tuple(
            Attack(claim_number=claim.number, queries=(f"{_subject(claim.text)} {against}",)) for claim in given.claims
        )
    )


def _subject(claim: str) -> str:
    words = [word for word in dict.fromkeys(content_words(claim)) if not word[:1].isdigit()]
    return " ".join(words[:_TELLING])


def judge_stances(given: StanceInput) -> Stances:
    """Compare figures, dates, names, negations and words of claim and quote."""
    rows = []
    for fact in given.facts:
        judged = stance(given.claim, fact.quote, language=given.language.split("-")[0], context=(fact.source,))
        rows.append(StanceRow(fact_number=fact.number, stance=judged.stance, strength=judged.strength))
    return Stances(rows=tuple(rows))


def verify(given: VerifyInput) -> Verified:
    """Compare each sentence with its quotes."""
    rows = []
    for sentence in given.sentences:
        found = support(sentence.text, sentence.quotes, language=given.language.split("-")[0])
        rows.append(
            VerifiedRow(
                sentence_number=sentence.number, verdict=found.verdict, reason=found.reasons[0] if found.reasons else ""
            )
        )
    return Verified(rows=tuple(rows))


def judge(given: JudgeInput) -> Judgement:
    """Approve what holds by count; without a model nobody can judge more than that."""
    reasons = tuple(f"Not verified: {sentence}" for sentence in given.unsupported[:3])
    return Judgement(verdict="request_changes" if reasons else "approve", reasons=reasons)
