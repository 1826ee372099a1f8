"""What a step leaves behind, and what research may decide by: the recorded clock, and what the user had said by then."""

from pydantic import ConfigDict

from agents.contracts.frozen import Frozen
from agents.core.errors import DossierError, StepFailed
from agents.research.steering import DROPPED, STOPPED, Said


class StepRecord(Frozen):
    """What a step left behind: its value as JSON, or its failure; and the clock when it ended."""

    model_config = ConfigDict(extra="ignore")  # records of earlier versions may hold fields that are gone

    value: str | None = None
    type: str = ""
    message: str = ""
    notice: str = ""
    retryable: bool = False
    fault: str = ""
    """The error's own word for what went wrong, where its class has a list of them."""
    elapsed: float
    """Seconds of the job's clock when the step ended."""
    said: Said = Said()
    """What the user had said by then."""
    stopped: str = ""
    """The branch whose stopping or dropping cut this step off; empty when none did."""
    asked: str = ""
    """Digest of what the step was asked for, where a later attempt may want to know."""

    @classmethod
    def of(cls, error: DossierError, elapsed: float, said: Said = Said()) -> "StepRecord":
        """Record how a step failed."""
        return cls(
            type=error.type if isinstance(error, StepFailed) else type(error).__name__,
            message=error.message if isinstance(error, StepFailed) else str(error),
            notice=error.notice,
            retryable=error.retryable,
            fault=error.fault,
            elapsed=elapsed,
            said=said,
        )

    def failure(self, key: str) -> StepFailed:
        """Say it as the error that research code knows."""
        return StepFailed(
            key,
            type_=self.type,
            message=self.message,
            notice=self.notice,
            retryable=self.retryable,
            fault=self.fault,
        )


def stopped_record(path: str, elapsed: float, said: Said, *, dropped: bool = False) -> StepRecord:
    """Record that the user stopped or dropped a branch."""
    word = "dropped" if dropped else "stopped"
    return StepRecord(
        type=DROPPED if dropped else STOPPED, message=f"{word} by the user", notice=f"You {word} it.",
        elapsed=elapsed, said=said, stopped=path,
    )  # fmt: skip


class BranchDropped(Exception):
    """A step was cut off because the user dropped a branch; goes up to that branch's place, and no further."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class Reached(Frozen):
    """Where a branch stands: the recorded clock, and what the user had said by then. All that research decides by."""

    elapsed: float = 0.0
    said: Said = Said()

    def later(self, other: "Reached | StepRecord") -> "Reached":
        """Take what is known here and there together."""
        return Reached(elapsed=max(self.elapsed, other.elapsed), said=self.said.later(other.said))


NOWHERE = Reached()
