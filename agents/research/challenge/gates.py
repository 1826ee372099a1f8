"""Quality gates: figures that code checks. What falls short is said, never hidden, and never withholds a report."""

from collections.abc import Sequence

from agents.contracts.frozen import Frozen
from agents.contracts.verification import CONFIDENCE_GATE, EVIDENCE_GATE, RATIO_GATE, Gate


class Thresholds(Frozen):
    """What the gates ask for (names and defaults of the specification, section 9)."""

    min_claims: int = 0
    min_evidence_per_claim: int = 3
    min_distinct_domains_per_claim: int = 2
    require_counter_evidence: bool = True
    min_report_confidence: float = 70.0
    min_verifiable_ratio: float = 0.9


class Ledger(Frozen):
    """How one claim stands, in figures."""

    text: str
    verdict: str
    evidence: int
    origins: int
    """Independent sources that take a stance."""
    counter_searched: bool


def short_of(claim: Ledger, wanted: Thresholds) -> tuple[str, ...]:
    """Say what one claim lacks; empty when it passes."""
    lacks = []
    if claim.verdict == "not_checked":
        lacks.append("it was not checked")
    if claim.evidence < wanted.min_evidence_per_claim:
        lacks.append(f"{claim.evidence} of {wanted.min_evidence_per_claim} pieces of evidence")
    if claim.origins < wanted.min_distinct_domains_per_claim:
        lacks.append(f"{claim.origins} of {wanted.min_distinct_domains_per_claim} independent sources")
    if wanted.require_counter_evidence and not claim.counter_searched:
        lacks.append("counter-evidence was not searched for")
    return tuple(lacks)


def gates(
    claims: Sequence[Ledger], confidence: float | None, ratio: float | None, wanted: Thresholds
) -> tuple[tuple[Gate, ...], tuple[str, ...]]:
    """Hold the figures of a report against the thresholds.

    Args:
        claims: the ledger, one row a claim.
        confidence: of the report, 0 to 100; None fails the gate.
        ratio: verifiable ratio, 0 to 1; None fails the gate.
        wanted: the thresholds.

    Returns:
        The gates, and what fell short as plain sentences.
    """
    passed = sum(1 for claim in claims if not short_of(claim, wanted))
    found = [
        Gate(name="claims", reached=len(claims), wanted=wanted.min_claims, passed=len(claims) >= wanted.min_claims),
        Gate(name=EVIDENCE_GATE, reached=passed, wanted=len(claims), passed=passed == len(claims)),
        Gate(
            name=CONFIDENCE_GATE,
            reached=confidence,
            wanted=wanted.min_report_confidence,
            passed=confidence is not None and confidence >= wanted.min_report_confidence,
        ),
        Gate(
            name=RATIO_GATE,
            reached=ratio,
            wanted=wanted.min_verifiable_ratio,
            passed=ratio is not None and ratio >= wanted.min_verifiable_ratio,
        ),
    ]
    said = [f"Claim “{claim.text}”: {', '.join(lacks)}." for claim in claims if (lacks := short_of(claim, wanted))]
    if not found[0].passed:
        said.append(f"{len(claims)} of {wanted.min_claims} claims were settled.")
    # Figures that fall short are told with the grade (agents/report/view.py); here only that there are none.
    if confidence is None:
        said.append("The report's confidence could not be computed.")
    if ratio is None:
        said.append("The share of verified sentences could not be computed.")
    return tuple(found), tuple(said)
