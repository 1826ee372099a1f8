"""What a step leaves behind, and the recorded clock that research decides by.

How much time one call may take, read when it is asked for: of its budget, of a shortened run, of a part of it.
"""

from collections.abc import Callable
from typing import Protocol

from pydantic import AliasChoices, ConfigDict, Field

from agents.contracts.frozen import Frozen, digest
from agents.core.budget import Budget, Deadline, Spent, least
from agents.core.errors import DossierError, StepFailed
from agents.research.steering import DROPPED, STOPPED, Steering, SteeringSnapshot


class StepRecord(Frozen):
    """The result of a step: its value as JSON, or its failure; and the clock when it ended."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)  # earlier versions may have stored other fields

    value: str | None = None
    type: str = ""
    message: str = ""
    notice: str = ""
    retryable: bool = False
    fault: str = ""
    """The error's own word for what went wrong, where its class has a list of them."""
    elapsed: float
    """Seconds of the job's clock when the step ended."""
    steering: SteeringSnapshot = Field(SteeringSnapshot(), validation_alias=AliasChoices("steering", "said"))
    """The user's changes by then."""
    stopped: str = ""
    """The branch whose stopping or dropping cut this step off; empty when none did."""
    spent: Spent | None = None
    """What a model took in a step that failed."""
    asked: str = ""
    """Digest of the step's arguments: a later attempt reuses the record only for the same ones."""

    @classmethod
    def of(cls, error: DossierError, elapsed: float, steering: SteeringSnapshot = SteeringSnapshot()) -> "StepRecord":
        """Record how a step failed."""
        return cls(
            type=error.type if isinstance(error, StepFailed) else type(error).__name__,
            message=error.message if isinstance(error, StepFailed) else str(error),
            notice=error.notice,
            retryable=error.retryable,
            fault=error.fault,
            spent=error.spent,
            elapsed=elapsed,
            steering=steering,
        )

    def failure(self, key: str) -> StepFailed:
        return StepFailed(
            key, type_=self.type, message=self.message, notice=self.notice, retryable=self.retryable, fault=self.fault
        )


def stopped_record(path: str, elapsed: float, steering: SteeringSnapshot, *, dropped: bool = False) -> StepRecord:
    """Record that the user stopped or dropped a branch."""
    word = "dropped" if dropped else "stopped"
    return StepRecord(
        type=DROPPED if dropped else STOPPED, message=f"{word} by the user", notice=f"You {word} it.",
        elapsed=elapsed, steering=steering, stopped=path,
    )  # fmt: skip


def digest_of(args: tuple[object, ...]) -> str:
    """Digest those arguments of a step that are data."""

    def text(arg: object) -> str:
        if isinstance(arg, Frozen):
            return arg.model_dump_json()
        if isinstance(arg, str | int | float | tuple | list | None):
            return repr(arg)
        return str(getattr(arg, "name", ""))

    return digest("|".join(text(arg) for arg in args))


class Reached(Frozen):
    """Where a branch stands: the recorded clock and the user's changes. All that research decides by."""

    elapsed: float = 0.0
    steering: SteeringSnapshot = SteeringSnapshot()

    def later(self, other: "Reached | StepRecord") -> "Reached":
        """Take the later of both."""
        return Reached(elapsed=max(self.elapsed, other.elapsed), steering=self.steering.later(other.steering))


class BranchDropped(Exception):
    """A step was cut off because the user dropped a branch; goes up to that branch, and no further."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class Fenced(Exception):
    """A later attempt at the job has begun elsewhere: this one may write no more."""


class Timed(Protocol):
    """What a deadline asks of its run."""

    budget: Budget
    steering: Steering

    def now(self) -> float:
        """Seconds since the job's clock started."""


class TimeLeft:
    """Time left of a budget and of what the user shortened the run to, without a reserve."""

    def __init__(self, run: Timed, budget: Budget, reserve_s: Callable[[], float]) -> None:
        self._run, self._budget, self._reserve_s = run, budget, reserve_s

    def seconds(self) -> float | None:
        now, shortened = self._run.now(), self._run.steering.limits.seconds
        left = least(self._budget.seconds_left(now), None if shortened is None else shortened - now)
        return None if left is None else max(0.0, left - self._reserve_s())

    def tokens_share(self) -> float | None:
        whole, left = self._run.budget.limits.tokens, self._run.budget.tokens_left()
        return None if whole is None or left is None else left / max(1, whole)


class TimeSlice:
    """A share of some time, bounded by what is left."""

    def __init__(self, left: Deadline, whole_s: Callable[[], float | None], share: float) -> None:
        self._left, self._whole_s, self._share = left, whole_s, share

    def seconds(self) -> float | None:
        whole = self._whole_s()
        return least(self._left.seconds(), None if whole is None else whole * self._share)

    def tokens_share(self) -> float | None:
        return self._left.tokens_share()
