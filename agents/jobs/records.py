"""What a step leaves behind, and the recorded clock that research decides by."""

from pydantic import AliasChoices, ConfigDict, Field

from agents.contracts.frozen import Frozen, digest
from agents.core.errors import DossierError, StepFailed
from agents.research.steering import DROPPED, STOPPED, SteeringSnapshot


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
            elapsed=elapsed,
            steering=steering,
        )

    def failure(self, key: str) -> StepFailed:
        """Give the error that research code knows."""
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
