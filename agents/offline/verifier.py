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
from agents.offline.terms import years
from agents.offline.words import say
from agents.verify.checks import carried, stance

_TELLING = 8
SPEAKS = 0.5
"""Strength below which a contradiction is only a sign."""
SAME_SUBJECT = 0.45
"""Share of the claim's telling words that a quote must hold to speak of the same thing."""
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][\w’'-]+(?: [A-Z][\w’'-]+)*")


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
    rows = []
    for fact in given.facts:
        judged = stance(given.claim, fact.quote, language=given.language.split("-")[0], context=(fact.source,))
        taken = judged.stance
        if taken == "contradicts":
            # Another figure about something else contradicts nothing; one for another place or period sets a limit.
            if judged.strength < SPEAKS or _shared(given.claim, fact.quote) < SAME_SUBJECT:
                taken = "unrelated"
            elif _other_scope(given.claim, fact.quote):
                taken = "qualifies"
        rows.append(StanceRow(fact_number=fact.number, stance=taken, strength=judged.strength))
    return Stances(rows=tuple(rows))


def _shared(claim: str, quote: str) -> float:
    wanted = frozenset(content_words(claim))
    return len(wanted & frozenset(content_words(quote))) / len(wanted) if wanted else 0.0


def _other_scope(claim: str, quote: str) -> bool:
    """Tell whether the two name different years, or the claim a place or person that the quote does not."""
    mine, theirs = set(years(claim)), set(years(quote))
    if mine and theirs and mine != theirs:
        return True
    return any(name not in quote for name in _NAME.findall(claim))


def verify(given: VerifyInput) -> Verified:
    """Compare each sentence with its quotes."""
    rows = []
    for sentence in given.sentences:
        found = carried(sentence.text, sentence.quotes, language=given.language.split("-")[0])
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
