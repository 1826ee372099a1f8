"""`metadata.orchestrator` of a job: how its planning stands, folded from its events."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TypedDict

from agents.contracts.job import Stage
from agents.core.events import JobChanged, Noted, Numbered

PLANNER_WINDOW_S = 120.0
"""Seconds that a job's planner is waited for, where the settings say nothing else."""
WARNINGS = 20
"""Warnings that are kept, the last ones."""


class Orchestrator(TypedDict):
    """Names as in the interface's description."""

    stage: Stage
    plannerPendingUntil: str
    plannedAt: str | None
    claimCount: int
    warnings: list[str]


def orchestrator(
    events: Sequence[Numbered], created: datetime, *, stage: Stage, claims: int, window_s: float = PLANNER_WINDOW_S
) -> Orchestrator:
    """Say until when planning is waited for, when it was done, and what it came to."""
    planned = next(
        (one.seconds for one in events if isinstance(one.event, JobChanged) and one.event.stage == "collecting"), None
    )
    at = None if planned is None else created + timedelta(seconds=planned)
    return Orchestrator(
        stage=stage,
        plannerPendingUntil=(created + timedelta(seconds=window_s)).isoformat(),
        plannedAt=None if at is None else at.isoformat(timespec="seconds"),
        claimCount=claims,
        warnings=[one.event.text for one in events if isinstance(one.event, Noted) and one.event.tag][-WARNINGS:],
    )
