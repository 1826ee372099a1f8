"""Confidence as a number that can be recomputed by hand: of a claim from its evidence, of a report from its claims.

Who counts as a witness of its own: mirrors, syndicated copies and quotations of one origin count once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod, sqrt
from typing import NamedTuple

from agents.contracts.body import SentenceVerdict
from agents.contracts.finding import QuestionAnswer
from agents.contracts.verification import Evidence, Verdict
from agents.nlp.similarity import MIN_SHARED, containment, fingerprint, is_about_the_same, shingles

PER_ORIGIN = 0.8
"""What the best evidence of one origin can do for a claim: one source alone never makes it more certain than this."""
SETTLED = 0.5
"""Weight from which one side counts as having spoken."""
OPEN_DISPUTE = 0.5
"""Share of the stronger side's weight from which the weaker side makes a claim contested."""


class EvidenceWeight(NamedTuple):
    """What the evidence says about a claim."""

    verdict: Verdict
    confidence: float
    """0 to 1, in the verdict."""
    origins: int
    """Independent sources that take a stance."""


def weigh(evidence: Sequence[Evidence], origin_of: Mapping[str, str] | None = None) -> EvidenceWeight:
    """Weigh evidence into a verdict.

    Each side's weight is `1 - Π (1 - 0.8 · s)` over its independent origins, `s` being the strongest evidence of the
    origin: independent witnesses add up, copies do not, and no side reaches certainty. The verdict follows from the
    weights; confidence is the winner's weight times one minus what speaks against it. The shape is the noisy-or of
    Pearl (Probabilistic Reasoning in Intelligent Systems, 1988, section 4.3.2); 0.8 is a choice, not a measurement.

    Args:
        evidence: stances on one claim; unrelated ones do not count.
        origin_of: source id to the name of its origin, where sources were put together; else domains are origins.
    """
    names = origin_of or {}
    sides: dict[str, dict[str, float]] = {"supports": {}, "qualifies": {}, "contradicts": {}}
    for one in evidence:
        if one.stance in sides:
            origin = names.get(one.source_id, one.domain)
            sides[one.stance][origin] = max(sides[one.stance].get(origin, 0.0), one.strength)
    support, qualified, against = (
        round(1 - prod(1 - PER_ORIGIN * strength for strength in side.values()), 4) for side in sides.values()
    )
    origins = len({origin for side in sides.values() for origin in side})
    verdict, confidence = _verdict(support, qualified, against)
    return EvidenceWeight(verdict, round(confidence, 4), origins)


def _verdict(support: float, qualified: float, against: float) -> tuple[Verdict, float]:
    strongest = max(support, qualified, against)
    if strongest < SETTLED:
        return "insufficient", 1 - strongest
    pro = max(support, qualified)
    if against >= OPEN_DISPUTE * pro and pro >= OPEN_DISPUTE * against:
        return "contested", min(pro, against) / max(pro, against)
    if against > pro:
        return "refuted", against * (1 - pro)
    if qualified >= OPEN_DISPUTE * support:
        return "qualified", pro * (1 - against)
    return "supported", support * (1 - against)


def verifiable_ratio(verdicts: Sequence[SentenceVerdict | None]) -> float | None:
    """Give the share of supported sentences among those that state a fact, checked or not; None when none does."""
    stating = [verdict for verdict in verdicts if verdict != "no_fact"]
    return stating.count("supported") / len(stating) if stating else None


ANSWERED, PARTLY = 0.9, 0.5
"""What one source's words do for a question that they answer, whatever a model says of it; what an answer in part counts."""


def answered(origins: int) -> float:
    """Say how well a question is known to be answered, 0 to 1, by words of so many independent sources (see `weigh`)."""
    return round(1 - (1 - PER_ORIGIN * ANSWERED) ** origins, 4)


def questions_answered(answers: Sequence[QuestionAnswer]) -> tuple[float, int]:
    """Count of what was asked what is answered, an answer in part as half of one, and how much was asked."""
    asked = [one.status for one in answers if one.asked] or [one.status for one in answers]
    return asked.count("answered") + PARTLY * asked.count("partly"), len(asked)


def report_confidence(
    claims: Sequence[EvidenceWeight | None], ratio: float | None, wanted_origins: int = 1,
    answers: Sequence[float] = (), asked: float = 1.0,
) -> float | None:  # fmt: skip
    """Give the confidence of a report, 0 to 100, or None when nothing was weighed.

    `100 · a · √(c · r)`: `a` is the share of what was asked that is answered, `c` the mean over the claims of what is known
    about each, `r` the verifiable ratio. The geometric mean keeps a well-cited report without settled claims, or the reverse,
    from looking sound; sound words about half of a question are half an answer. A claim counts
    with its confidence when the evidence settled it, whichever way; with half of it when the sources disagree; with
    nothing when evidence is insufficient or nobody looked. Where fewer independent sources speak to it than are wanted, it
    counts with the root of their share: one of two makes 0.71. A lookup makes no claims: there `c` is the mean over the
    questions that have answers of how well they are. One half alone is taken where the other does not exist.

    Args:
        claims: one for each claim of the report; None where it was not checked.
        ratio: the verifiable one of its body.
        wanted_origins: independent sources that each claim is wanted to have.
        answers: how well each question that has an answer is answered, 0 to 1 (see `answered`).
        asked: the share of what was asked that is answered (see `questions_answered`).
    """
    known = [_known(claim, wanted_origins) for claim in claims] or answers
    settled = sum(known) / len(known) if known else None
    halves = [half for half in (settled, ratio) if half is not None]
    return round(100 * asked * prod(halves) ** (1 / len(halves)), 1) if halves else None


def _known(claim: EvidenceWeight | None, wanted_origins: int) -> float:
    if claim is None or claim.verdict in {"insufficient", "not_checked"}:
        return 0.0
    enough = sqrt(min(1.0, claim.origins / wanted_origins)) if wanted_origins else 1.0
    return enough * (claim.confidence / 2 if claim.verdict == "contested" else claim.confidence)


COPY = 0.7
"""Share of the shorter text's runs of four words from which it is a copy: an agency text loses a sentence or two and
gets a new headline on its way, while two reporters at one event share hardly a tenth."""
QUOTED_WORDS = 8
"""Words that two pieces of evidence must share verbatim to be one statement told twice."""


@dataclass(frozen=True)
class Witness:
    """A source that speaks to one claim."""

    id: str
    domain: str
    """Registrable domain; for a document the publisher or author it names, else the document itself."""
    text: str
    title: str = ""
    url: str = ""
    """Canonical address, where the page declares one."""
    quote: str = ""
    """The words that speak to the claim."""


def origins(witnesses: Sequence[Witness]) -> tuple[tuple[str, ...], ...]:
    """Put the ids of sources together that have one origin, in the order of their first members.

    Two are together when they have one domain or one canonical address, when the text of one is a copy or a long
    excerpt of the other's, or when both rest on the very same words.
    """
    of = list(range(len(witnesses)))
    runs = [shingles(witness.text) for witness in witnesses]
    for one, other in combinations(range(len(witnesses)), 2):
        low, high = sorted((of[one], of[other]))
        if low != high and _one_origin(witnesses[one], witnesses[other], runs[one], runs[other]):
            of = [low if group == high else group for group in of]
    return tuple(
        tuple(one.id for one, group in zip(witnesses, of, strict=True) if group == at) for at in dict.fromkeys(of)
    )


def _one_origin(one: Witness, other: Witness, left: frozenset[int], right: frozenset[int]) -> bool:
    if (one.url and one.url == other.url) or (one.domain and one.domain.casefold() == other.domain.casefold()):
        return True
    if min(len(left), len(right)) >= MIN_SHARED and containment(left, right) >= COPY:
        shorter, longer = (one, other) if len(left) <= len(right) else (other, one)
        if is_about_the_same(shorter.title, shorter.text, longer.text):
            return True
    mine, yours = fingerprint(one.quote), fingerprint(other.quote)
    short = min(mine, yours, key=len)
    return len(short.split()) >= QUOTED_WORDS and short in max(mine, yours, key=len)
