"""Jobs: one execution of one contract."""

from typing import Literal

from agents.contracts.frozen import Frozen, Text
from agents.contracts.report import Grade

JobStatus = Literal["queued", "running", "blocked", "done", "failed", "cancelled"]
BlockedReason = Literal["paused", "needs_rework", "awaiting_key", "version"]
Stage = Literal["planning", "collecting", "challenging", "composing", "judging", "reworking", "completed"]

OVER: frozenset[JobStatus] = frozenset({"done", "failed", "cancelled"})
"""Statuses after which a job never changes."""


class JobSummary(Frozen):
    """One row of a list of jobs."""

    id: Text
    title: str
    status: JobStatus
    stage: Stage
    grade: Grade | None = None
    created: str
    """ISO date and time, UTC."""
    seconds: float = 0.0
    """On the job's clock."""
    tokens: int = 0
    cost_usd: float | None = 0.0
    """None is unknown, not zero."""
    note: str = ""
    """Why it ended, when it did not end well; why it rests, when it does."""


TaskStage = Literal["plan", "collect", "challenge", "write"]


class JobTask(Frozen):
    """A task that an operator puts into a job, and what came of it."""

    stage: TaskStage
    claim_id: str = ""
    """The claim it is about; empty for all."""
    note: str = ""
    """What to look at."""

    @property
    def guidance(self) -> str:
        """The task in words that the rounds of a job can follow."""
        about = f"claim {self.claim_id}: " if self.claim_id else ""
        return f"{about}{self.note or 'look for more evidence'}"


class TaskRow(Frozen):
    """A task as it stands in the store."""

    id: int
    task: JobTask
    status: Literal["queued", "running", "done", "refused"] = "queued"
    outcome: str = ""
    """Why it was refused."""
