"""The loop's state in the report: rounds as a log, and `phase_state` in the shape of S0 TR-4."""

from collections.abc import Iterable

from agents.contracts.change import Change
from agents.contracts.contract import Contract
from agents.contracts.finding import Finding
from agents.contracts.loop_decision import RetryEntry
from agents.contracts.report import (
    GapAnalysis,
    Iteration,
    NodePhase,
    PhaseState,
    ResearchState,
    RetryState,
    RetryTracking,
    RoundRow,
    TimeBudget,
)
from agents.core.budget import least
from agents.core.time_policy import synthesis_reserve_s

MAX_ATTEMPTS = 3
"""Failures after which a key is given up (specification, section 5)."""


def rounds_log(findings: Iterable[Finding]) -> tuple[RoundRow, ...]:
    """List every round of every node, in reading order."""
    return tuple(
        RoundRow(
            node=record.node,
            round=record.round,
            delta=record.delta,
            confidence=record.confidence,
            coverage=record.coverage,
            contradictions=record.contradictions,
            novelty=record.novelty,
            adopted=record.adopted,
            reason=record.reason,
            decision=record.decision,
        )
        for finding in findings
        for part in finding.walk()
        for record in part.rounds
    )


def phase_state(
    contract: Contract,
    findings: tuple[Finding, ...],
    started_at: str | None = None,
    changes: tuple[Change, ...] = (),
) -> PhaseState:
    """Describe every node's loop; the job's is the root's, with the retries of all of them.

    Args:
        contract: whose caps bound the rounds.
        findings: of the queries.
        started_at: when the job was started, as ISO 8601.
        changes: after the authorization; some may have shortened the time.
    """
    authorized_s = None if contract.caps.minutes is None else contract.caps.minutes * 60
    total_s = least(authorized_s, *(change.limits.seconds for change in changes))
    budget = TimeBudget(
        total_minutes=None if total_s is None else total_s / 60,
        synthesis_reserve_minutes=round(synthesis_reserve_s(total_s) / 60, 3),
        started_at=started_at,
    )
    loops = [part for finding in findings for part in finding.walk() if part.rounds]
    nodes = tuple(NodePhase(node=part.path, research=_state(contract, budget, part, (part,))) for part in loops)
    roots = tuple(NodePhase(node=part.path, research=_state(contract, budget, part, (part,))) for part in findings)
    job = _state(contract, budget, findings[0], findings) if findings else ResearchState()
    return PhaseState(research=job, nodes=nodes, queries=roots if len(findings) > 1 else ())


def _state(contract: Contract, budget: TimeBudget, node: Finding, over: tuple[Finding, ...]) -> ResearchState:
    history = tuple(record.decision for record in node.rounds)
    return ResearchState(
        time_budget=budget,
        iteration=Iteration(current=len(node.rounds), max=contract.caps.rounds),
        retry_tracking=_tracking(entry for top in over for part in top.walk() for entry in part.attempts),
        gap_analysis=GapAnalysis(loop_decision=history[-1] if history else None, history=history),
    )


def _tracking(entries: Iterable[RetryEntry]) -> RetryTracking:
    """Add up attempts by key; the gravest status wins."""
    grave = {"complete": 0, "pending": 1, "exhausted": 2}
    found: dict[str, RetryState] = {}
    for entry in entries:
        old = found.get(entry.key)
        status = entry.status if old is None or grave[entry.status] > grave[old.status] else old.status
        attempts = entry.attempts + (old.attempts if old else 0)
        if status == "pending" and attempts >= MAX_ATTEMPTS:
            status = "exhausted"  # branch by branch it was less
        found[entry.key] = RetryState(attempts=attempts, status=status)
    given_up = sum(1 for state in found.values() if state.status == "exhausted")
    return RetryTracking(subquestions=found, total_exhausted=given_up)
