"""How a job is described to callers: in a list, whole, and while it still runs."""

from typing import Any

from agents.api.error_responses import as_api_error
from agents.contracts.job import JobSummary
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
from agents.jobs.job import Job, orchestrator
from agents.jobs.runtime import summary


def whole(job: Job, document: ReportDocument | None, window_s: float) -> dict[str, Any]:
    """Describe a job whole."""
    contract, row = job.commission.contract, summary(job)
    claims = document.claims if document else ()
    phase = document.phase_state if document else running_phase(job)
    stands = orchestrator(job, stage=job.stage, window_s=window_s, report=document)
    return as_row(row) | {
        "blocked_reason": job.blocked_reason,
        "contract": contract.model_dump(mode="json") | {"hash": contract.hash} if contract else None,
        "phase_state": phase.model_dump(mode="json"),
        "claims": [claim.model_dump(mode="json") for claim in claims],
        "evidence": [
            one.model_dump(mode="json") | {"claim_id": claim.id} for claim in claims for one in claim.evidence
        ],
        "error": _error(job),
        "metadata": {"created": job.created, "note": row.note, "orchestrator": stands},
        "report": document.model_dump(mode="json") if document else None,
    }


def as_row(row: JobSummary) -> dict[str, Any]:
    """Describe a job for a list."""
    return {"job_id": row.id} | row.model_dump(mode="json", exclude={"id"})


def _error(job: Job) -> dict[str, Any] | None:
    if job.error is None:
        return None
    said = as_api_error(job.error)
    return {"type": said.type, "message": said.message, "retryable": said.retryable, "details": said.details}


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
