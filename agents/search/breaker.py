"""A breaker: a provider that keeps failing is left alone for a while, then tried once."""

import time
from collections import deque
from collections.abc import Callable
from typing import Literal

from agents.search.search_errors import FailKind

IN_A_ROW = 3
"""Failures in a row that open it."""
FROM = 4
"""Searches from which the share of failures counts."""
SHARE = 0.5
REMEMBERED = 20
"""Searches of which the share is taken."""
TRIAL_S = 60.0
"""After these seconds without an end, the one trial no longer keeps others from trying."""

COOL_S: dict[FailKind, float] = {"auth": 3600.0, "quota": 3600.0, "rate": 60.0, "nonsense": 300.0}
"""Seconds for which it stays open, by what happened last."""
USUAL_S = 30.0

AT_ONCE = frozenset({"auth", "quota"})
"""These open it at the first failure: a key that is refused will be refused again."""

Admission = Literal["yes", "trial", "no"]


class Breaker:
    """Counts how searches end.

    Args:
        clock: seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ends: deque[bool] = deque(maxlen=REMEMBERED)
        self._open_until: float | None = None
        self._trial_since: float | None = None
        self.reason = ""
        """Why it opened, for people; empty while it is closed."""

    @property
    def is_open(self) -> bool:
        """True from the failure that opened it to the next success."""
        return self._open_until is not None

    def admit(self) -> Admission:
        """Tell whether a search may be made: as usual, as the one trial after the time of rest, or not."""
        if self._open_until is None:
            return "yes"
        now = self._clock()
        if now < self._open_until or (self._trial_since is not None and now - self._trial_since < TRIAL_S):
            return "no"
        self._trial_since = now
        return "trial"

    def succeeded(self) -> None:
        """Close it: an answer is a success, whatever is in it."""
        if self.is_open:
            self._ends.clear()
        self._ends.append(True)
        self._open_until, self._trial_since, self.reason = None, None, ""

    def failed(self, kind: FailKind, reason: str, retry_after_s: float | None = None) -> None:
        """Count a failure; a query that was not accepted says nothing about the provider."""
        if kind == "query":
            self._trial_since = None
            return
        self._ends.append(False)
        row = list(self._ends)[-IN_A_ROW:]
        many = len(row) == IN_A_ROW and not any(row)
        half = len(self._ends) >= FROM and self._ends.count(False) >= SHARE * len(self._ends)
        long = retry_after_s is not None and retry_after_s > USUAL_S
        if many or half or long or kind in AT_ONCE or self.is_open:
            self.rest(reason, max(COOL_S.get(kind, USUAL_S), retry_after_s or 0.0))

    def rest(self, reason: str, seconds: float) -> None:
        """Open it for so many seconds."""
        self._open_until, self._trial_since, self.reason = self._clock() + seconds, None, reason
