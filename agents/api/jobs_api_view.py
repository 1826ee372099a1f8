"""How a job is described to callers: in a list, whole, and while it still runs."""

from datetime import datetime
from typing import Any

from agents.api.error_responses import as_api_error
from agents.api.lookup import Found
from agents.contracts.report import (
    GapAnalysis,
    Iteration,
    NodePhase,
    PhaseState,
    ReportDocument,
    ResearchState,
    TimeBudget,
)
from agents.core.events import RoundEnded
from agents.jobs.orchestrator import Orchestrator, orchestrator
from agents.jobs.service import Job


def row_of(found: Found) -> dict[str, Any]:
    """Describe a job for a list."""
    entry, tree = found.entry, found.tree
    return {
        "job_id": entry.id,
        "title": entry.title,
        "status": entry.status,
        "stage": tree.stage,
        "grade": entry.grade,
        "created": entry.created,
        "seconds": tree.seconds,
        "tokens": tree.usage.tokens,
        "cost_usd": tree.usage.cost_usd,
        "note": entry.note,
    }


def whole(found: Found, document: ReportDocument | None, window_s: float) -> dict[str, Any]:
    """Describe a job whole."""
    contract = found.entry.contract
    claims = document.claims if document else ()
    job = found.job
    phase = document.phase_state if document else running_phase(job) if job else None
    return row_of(found) | {
        "blocked_reason": getattr(job, "blocked_reason", None),
        "contract": contract.model_dump(mode="json") | {"hash": contract.hash} if contract else None,
        "phase_state": phase.model_dump(mode="json") if phase else None,
        "claims": [claim.model_dump(mode="json") for claim in claims],
        "evidence": [
            one.model_dump(mode="json") | {"claim_id": claim.id} for claim in claims for one in claim.evidence
        ],
        "error": _error(job),
        "metadata": {
            "created": found.entry.created,
            "note": found.entry.note,
            "orchestrator": _orchestrator(found, document, window_s),
        },
        "report": document.model_dump(mode="json") if document else None,
    }


def _error(job: Job | None) -> dict[str, Any] | None:
    if job is None or job.error is None:
        return None
    said = as_api_error(job.error)
    return {"type": said.type, "message": said.message, "retryable": said.retryable, "details": said.details}


def _orchestrator(found: Found, document: ReportDocument | None, window_s: float) -> Orchestrator:
    contract = found.entry.contract
    count = len(document.claims) if document and document.claims else 0
    return orchestrator(
        found.job.run.events if found.job else [],
        datetime.fromisoformat(found.entry.created),
        stage=found.tree.stage,
        claims=count or (sum(len(plan.claims) for plan in contract.plans) if contract else 0),
        window_s=window_s,
    )


def running_phase(job: Job) -> PhaseState:
    """Fold `phase_state` from the rounds told so far."""
    contract, total_s = job.commission.contract, job.run.total_s(job.run.steering.limits.seconds)
    total = None if total_s is None else total_s / 60
    rounds = contract.caps.rounds if contract else 0
    history: dict[str, list[RoundEnded]] = {}
    for numbered in job.run.events:
        if isinstance(numbered.event, RoundEnded):
            history.setdefault(numbered.event.node, []).append(numbered.event)

    def state(ended: list[RoundEnded]) -> ResearchState:
        decisions = tuple(one.record.decision for one in ended)
        return ResearchState(
            time_budget=TimeBudget(
                total_minutes=total, synthesis_reserve_minutes=round(job.run.reserve_s / 60, 3), started_at=job.created
            ),
            iteration=Iteration(current=len(ended), max=rounds),
            gap_analysis=GapAnalysis(loop_decision=decisions[-1] if decisions else None, history=decisions),
        )

    nodes = tuple(NodePhase(node=node, research=state(ended)) for node, ended in history.items())
    roots = tuple(one for one in nodes if one.node.count("/") == 1)
    return PhaseState(research=state(history.get("job/0", [])), nodes=nodes, queries=roots if len(roots) > 1 else ())
