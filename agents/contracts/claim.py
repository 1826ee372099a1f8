"""Claims and the evidence for and against them."""

from typing import Literal

from agents.contracts.frozen import Confidence, Frozen, Text

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


class CounterSearch(Frozen):
    """The deliberate search for what speaks against a claim; 'searched, none found' is a valid outcome."""

    queries: tuple[str, ...] = ()
    found: int = 0
    read: int = 0
    """Documents about the claim's subject that it read: without one, that none was found says nothing."""


class Claim(Frozen):
    """A testable statement that the report rests on."""

    id: Text
    text: Text
    verdict: Verdict = "not_checked"
    confidence: Confidence | None = None
    """None until evidence was weighed."""
    evidence: tuple[Evidence, ...] = ()
    counter_search: CounterSearch = CounterSearch()
