"""Fair shares: what a round, a phase and a leaf may take of what is left. Pure."""

from dataclasses import dataclass

from agents.contracts.plan import LeafBudget, Phase
from agents.core.budget import Limits
from agents.core.time_policy import ROUND_SHARE, synthesis_reserve_s


@dataclass(frozen=True)
class Left:
    """What is left at a moment; None is unlimited."""

    seconds: float | None
    """Of the whole time, what is kept for writing included."""
    collecting: float | None
    tokens: int | None

    @property
    def kept(self) -> float:
        """Seconds kept for writing, which every branch takes off its own limit."""
        unlimited = self.seconds is None or self.collecting is None
        return synthesis_reserve_s(None) if unlimited else (self.seconds or 0) - (self.collecting or 0)


class PhaseLeft:
    """What one phase still has of its own budget, as its plan gives it."""

    def __init__(self, phase: Phase, elapsed_s: float, tokens_spent: int) -> None:
        self.phase, self._began_s, self._spent = phase, elapsed_s, tokens_spent

    def seconds(self, elapsed_s: float) -> float | None:
        """Seconds left for collecting; never negative."""
        own = self.phase.seconds
        return None if own is None else max(0.0, own - (elapsed_s - self._began_s))

    def tokens(self, tokens_spent: int) -> int | None:
        """Tokens left; never negative."""
        own = self.phase.tokens
        return None if own is None else max(0, own - (tokens_spent - self._spent))


def least(*bounds: float | None) -> float | None:
    """Give the narrowest of several bounds; None when there is none."""
    known = [bound for bound in bounds if bound is not None]
    return min(known) if known else None


def round_limits(left: Left, phase_s: float | None, phase_tokens: int | None, children: int, *, last: bool) -> Limits:
    """Give each child of a round its share: equal tokens side by side, and a part of the time while rounds may follow.

    A limit of time holds what is kept for writing too, since a branch takes that off again.
    """
    collecting = left.collecting if last or left.collecting is None else ROUND_SHARE * left.collecting
    collecting = least(collecting, phase_s)
    tokens = least(left.tokens, phase_tokens)
    return Limits(
        seconds=None if collecting is None else left.kept + collecting,
        tokens=None if tokens is None else max(1, int(tokens) // max(1, children)),
    )


def leaf_limits(limits: Limits, budget: LeafBudget, kept_s: float) -> Limits:
    """Narrow a leaf's share to its own budget; a plan may promise a leaf less than its share, never more."""
    seconds = least(limits.seconds, None if budget.seconds is None else kept_s + budget.seconds)
    tokens = least(limits.tokens, budget.tokens)
    return Limits(seconds=seconds, tokens=None if tokens is None else int(tokens))
