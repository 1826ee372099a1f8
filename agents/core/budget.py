"""Nested budgets: tokens, money and time of a job, its nodes, phases and leaves.

Time is never read here: whoever asks passes the seconds elapsed as the job recorded them, so that a replay decides
alike.
"""

from collections.abc import Callable
from dataclasses import dataclass

from agents.contracts.frozen import NOTHING as NOTHING
from agents.contracts.frozen import Spent as Spent
from agents.contracts.frozen import Usage as Usage
from agents.core.errors import BudgetExceeded, DossierError


def spent_by(error: DossierError) -> Usage:
    """Give what a model took before it failed."""
    return error.spent.usage if error.spent else NOTHING


@dataclass(frozen=True)
class Deadline:
    """How long there is to go, read at the moment of asking: only inside a step, never in research code."""

    seconds: Callable[[], float | None] = lambda: None  # seconds left, never negative; None when unlimited
    tokens_share: Callable[[], float | None] = lambda: None
    """Share of the job's tokens that is left, 0 to 1; None when unlimited."""

    @classmethod
    def within(cls, limit_s: float, of: "Deadline | None" = None) -> "Deadline":
        """Give a number of seconds, never more than another deadline leaves."""
        of = of or cls()
        return cls(lambda: least(limit_s, of.seconds()), of.tokens_share)


@dataclass(frozen=True)
class Limits:
    """What may be spent; None is unlimited."""

    seconds: float | None = None
    tokens: int | None = None
    cost_usd: float | None = None


def least(*bounds: float | None) -> float | None:
    """Give the smallest of some limits; None, which is no limit, when none is set."""
    known = [bound for bound in bounds if bound is not None]
    return min(known) if known else None


class Budget:
    """One level of the nesting. What is charged here is charged to every level above."""

    def __init__(self, limits: Limits, *, name: str, parent: "Budget | None" = None, opened_at_s: float = 0.0) -> None:
        self.limits, self.name, self.parent = limits, name, parent
        self.opened_at_s = opened_at_s
        self.spent = NOTHING

    def share(self, limits: Limits, *, name: str, elapsed_s: float) -> "Budget":
        """Open a level below, bounded by `limits` and by whatever this and the levels above have left."""
        return Budget(limits, name=name, parent=self, opened_at_s=max(self.opened_at_s, elapsed_s))

    def charge(self, usage: Usage) -> None:
        """Book what was spent, here and on every level above; never refuses, since it is already spent."""
        self.spent += usage
        if self.parent:
            self.parent.charge(usage)

    def seconds_left(self, elapsed_s: float) -> float | None:
        """Seconds that this and all levels above still have; never negative; None when unlimited."""
        own = None if self.limits.seconds is None else self.limits.seconds - max(0.0, elapsed_s - self.opened_at_s)
        fewest = least(own, self.parent.seconds_left(elapsed_s) if self.parent else None)
        return None if fewest is None else max(0.0, fewest)

    def tokens_left(self) -> int | None:
        """Tokens that this and all levels above still have; never negative; None when unlimited."""
        own = None if self.limits.tokens is None else self.limits.tokens - self.spent.tokens
        fewest = least(own, self.parent.tokens_left() if self.parent else None)
        return None if fewest is None else max(0, int(fewest))

    def tokens_share(self) -> float | None:
        """Share of the tokens of this level that is left, 0 to 1; None when unlimited."""
        whole, left = self.limits.tokens, self.tokens_left()
        return None if whole is None or left is None else left / max(1, whole)

    def check_spending(self) -> None:
        """Raise `BudgetExceeded` when tokens or money are used up, here or above; time is not looked at."""
        used: tuple[tuple[str, float, float | None], ...] = (
            ("token", self.spent.tokens, self.limits.tokens),
            ("cost", self.spent.counted_usd, self.limits.cost_usd),
        )
        for what, amount, limit in used:
            if limit is not None and amount >= limit:
                raise BudgetExceeded(what, spent=amount, limit=limit, of=self.name)
        if self.parent:
            self.parent.check_spending()
