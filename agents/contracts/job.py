"""Jobs: one execution of one contract."""

from typing import Literal

from agents.contracts.contract import Contract
from agents.contracts.frozen import Frozen, Text
from agents.contracts.report import ReportDocument

JobStatus = Literal["queued", "running", "blocked", "done", "failed", "cancelled"]
BlockedReason = Literal["paused", "needs_rework", "awaiting_key", "version"]
Stage = Literal["planning", "collecting", "challenging", "composing", "judging", "reworking", "completed"]

OVER: frozenset[JobStatus] = frozenset({"done", "failed", "cancelled"})
"""Statuses after which a job never changes."""


class JobRecord(Frozen):
    """What a job is and how it stands."""

    id: Text
    owner: str
    """Who may see it; empty when there is only the local user."""
    contract: Contract
    status: JobStatus
    stage: Stage
    created: str
    """ISO date and time, UTC."""
    blocked_reason: BlockedReason | None = None
    error: str = ""
    """One sentence for the user when it failed."""
    report: ReportDocument | None = None
