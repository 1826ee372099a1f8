"""Claims and the evidence for and against them.

What challenger, verifier and judge are given and give, and what checking leaves behind.
"""

from typing import Literal

from pydantic import Field

from agents.contracts.body import SentenceVerdict
from agents.contracts.finding import QuestionAnswer
from agents.contracts.frozen import Confidence, Frozen, Text, Told

Verdict = Literal["supported", "qualified", "contested", "refuted", "insufficient", "not_checked"]
Stance = Literal["supports", "qualifies", "contradicts", "unrelated"]


class Evidence(Frozen):
    """One fact's stance on one claim."""

    fact_id: Text
    source_id: Text
    domain: Text
    """Registrable domain; for a document its publisher or author, else the document itself."""
    stance: Stance
    strength: Confidence
    quote: str = ""
    """The words: `source.text[start:end]`."""
    start: int = Field(default=0, ge=0)
    end: int = Field(default=0, ge=0)


class CounterSearch(Frozen):
    """The deliberate search for what speaks against a claim; 'searched, none found' is a valid outcome."""

    queries: tuple[str, ...] = ()
    found: int = 0
    read: int = 0
    """Documents about the claim's subject that it read: without one, that none was found says nothing."""

    @property
    def was_made(self) -> bool:
        """Whether it was searched for and something was read: what gates, table and panel count alike."""
        return bool(self.queries and self.read)


class Claim(Frozen):
    """A testable statement that the report rests on."""

    id: Text
    text: Text
    verdict: Verdict = "not_checked"
    confidence: Confidence | None = None
    """None until evidence was weighed."""
    evidence: tuple[Evidence, ...] = ()
    counter_search: CounterSearch = CounterSearch()

    def said(self, *stances: Stance) -> tuple[Evidence, ...]:
        """Evidence of these stances as it is shown and counted everywhere: each quote once."""
        found = {one.quote or one.fact_id: one for one in reversed(self.evidence) if one.stance in stances}
        return tuple(reversed(found.values()))


class ClaimNote(Frozen):
    """A claim under a number, with what is known about it so far."""

    number: int = Field(ge=1)
    text: Text
    evidence: tuple[str, ...] = ()
    """Statements that speak to it, each with its source."""


class ChallengeInput(Told):
    """What the challenger is given: the claims of one query."""

    query: Text
    claims: tuple[ClaimNote, ...] = Field(min_length=1)


class Attack(Frozen):
    """How one claim could be shown to be wrong, or only partly right."""

    claim_number: int
    queries: tuple[str, ...]
    """Searches for counter-evidence, most promising first."""


class Challenge(Frozen):
    """One attack per claim."""

    attacks: tuple[Attack, ...]


class StanceNote(Frozen):
    """A claim and the words of a fact, under a number."""

    number: int = Field(ge=1)
    claim: Text
    quote: Text
    source: Text


class StanceInput(Frozen):
    """Facts whose stance on a claim is asked: those that code can't place."""

    pairs: tuple[StanceNote, ...] = Field(min_length=1)
    language: Text = "en"


class StanceRow(Frozen):
    """One fact's stance, judged from the text."""

    number: int
    stance: Stance


class Stances(Frozen):
    """One row a pair; a pair without a row counts as unrelated."""

    rows: tuple[StanceRow, ...]


class SentenceNote(Frozen):
    """A sentence of the report under a number, with the quotes that it cites."""

    number: int = Field(ge=1)
    text: Text
    quotes: tuple[str, ...]


class VerifyInput(Frozen):
    """Sentences whose support is asked."""

    sentences: tuple[SentenceNote, ...] = Field(min_length=1)
    language: Text = "en"


class VerifiedRow(Frozen):
    """What the quotes do for one sentence."""

    number: int
    verdict: Literal["supported", "partly", "unsupported", "contradicted"]


class Verified(Frozen):
    """One row per sentence; a sentence without a row counts as unchecked."""

    rows: tuple[VerifiedRow, ...]


class JudgeInput(Frozen):
    """What the judge is given: the report as the reader will meet it, and the figures of its gates."""

    question: Text
    report: Text
    """Down to its references, with the marks of what could not be verified."""
    claims: tuple[str, ...]
    """Claims with verdict and counts."""
    shortfalls: tuple[str, ...]
    unsupported: tuple[str, ...]
    """Sentences of it that could not be verified."""
    language: Text = "en"


class Judgement(Frozen):
    """The judge's decision, out of a closed set; anything else is no decision and never a pass."""

    verdict: Literal["approve", "request_changes"]
    reasons: tuple[str, ...]


# ---- what checking leaves behind


class SentenceCheck(Frozen):
    """The verdict on one sentence of the body, and what was done about it."""

    text: Text
    """As it was written, without citations."""
    facts: tuple[str, ...]
    verdict: SentenceVerdict
    reason: str = ""
    replaced_by: str | None = None
    """The words put in its place; empty when it was struck; None when it stays."""


CONFIDENCE_GATE, RATIO_GATE = "report confidence", "verifiable ratio"
"""Names of the gates that lower the grade of a report where they fail; what a claim lacks is said of the claim."""
EVIDENCE_GATE = "claims with enough evidence"


class Gate(Frozen):
    """One quality gate: its name, the figure reached and the figure asked for."""

    name: Text
    reached: float | None
    wanted: float
    passed: bool


class Truth(Frozen):
    """The claims ledger of a job, the sentence checks, the gates."""

    answers: tuple[QuestionAnswer, ...] = ()
    claims: tuple[Claim, ...] = ()
    checks: tuple[SentenceCheck, ...] = ()
    gates: tuple[Gate, ...] = ()
    shortfalls: tuple[str, ...] = ()
    """What fell short, a plain sentence each."""
    verifiable_ratio: float | None = None
    confidence: float | None = None
    """0 to 100."""
    judgement: Judgement | None = None
