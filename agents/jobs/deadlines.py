"""How much time one call may take, read when it is asked for: of its budget, of a shortened run, of a part of it."""

from collections.abc import Callable
from typing import Protocol

from agents.core.budget import Budget, Deadline, least
from agents.research.steering import Steering


class Timed(Protocol):
    """What a deadline asks of its run."""

    budget: Budget
    steering: Steering

    def now(self) -> float:
        """Seconds since the job's clock started."""
        ...


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
