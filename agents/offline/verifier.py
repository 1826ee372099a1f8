"""Challenging, judging stance and support without a model: what code can compare, and nothing it would have to guess."""

import re

from agents.contracts.verification import (
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
from agents.nlp.tokens import content_words
from agents.offline.words import say
from agents.verify.checks import carried, stance

_TELLING = 8
SPEAKS = 0.5
"""Strength below which a contradiction is only a sign."""


def challenge(given: ChallengeInput) -> Challenge:
    """Search for each claim's subject together with the words of dissent."""
    against = say(given.language, "against")  # a document that disputes a claim is written with some of these
    return Challenge(
        attacks=tuple(
            Attack(claim_number=claim.number, queries=(f"{_subject(claim.text)} {against}",)) for claim in given.claims
        )
    )


def _subject(claim: str) -> str:
    """The claim's telling words as it writes them: search engines know no stems."""
    words = [word for word in re.findall(r"[^\W\d_][\w’'-]*", claim) if content_words(word)]
    return " ".join(list(dict.fromkeys(words))[:_TELLING])


def judge_stances(given: StanceInput) -> Stances:
    """Compare figures, dates, names, negations and words of claim and quote."""
    language = given.language.split("-")[0]
    rows = []
    for pair in given.pairs:
        judged = stance(pair.claim, pair.quote, language=language, context=(pair.source,))
        weak = judged.stance == "contradicts" and judged.strength < SPEAKS
        rows.append(StanceRow(number=pair.number, stance="unrelated" if weak else judged.stance))
    return Stances(rows=tuple(rows))


def verify(given: VerifyInput) -> Verified:
    """Compare each sentence with its quotes."""
    rows = []
    for sentence in given.sentences:
        found = carried(sentence.text, sentence.quotes, language=given.language.split("-")[0])
        rows.append(VerifiedRow(number=sentence.number, verdict=found.verdict))
    return Verified(rows=tuple(rows))


def judge(given: JudgeInput) -> Judgement:
    """Approve what holds by count; without a model nobody can judge more than that."""
    reasons = tuple(f"Not verified: {sentence}" for sentence in given.unsupported[:3])
    return Judgement(verdict="request_changes" if reasons else "approve", reasons=reasons)
