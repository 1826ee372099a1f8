"""A circuit breaker: whoever keeps failing is left alone for a while, then tried once (specification, section 11)."""

import time
from collections import deque
from collections.abc import Callable
from typing import Literal

IN_A_ROW = 3
"""Failures in a row that open it."""
MIN_CALLS = 4
"""Calls from which the share of failures counts."""
SHARE = 0.5
REMEMBERED = 20
"""Calls of which the share is taken."""
REST_S = 30.0
TRIAL_S = 60.0
"""After these seconds without an end, the one trial no longer keeps others from trying."""

Admission = Literal["yes", "trial", "no"]


class CircuitBreaker:
    """Counts how calls end, of one provider or of one run. A search that finds nothing has not failed.

    Args:
        clock: seconds that only grow.
        rest_s: seconds for which it stays open; with 0 it admits one trial at a time from the start.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, rest_s: float = REST_S) -> None:
        self._clock, self._rest_s = clock, rest_s
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
        """Tell whether a call may be made: as usual, as the one trial after the time of rest, or not."""
        if self._open_until is None:
            return "yes"
        now = self._clock()
        if now < self._open_until or (self._trial_since is not None and now - self._trial_since < TRIAL_S):
            return "no"
        self._trial_since = now
        return "trial"

    def succeeded(self) -> None:
        """Count a success. Of an open breaker only the trial closes it: other answers were asked for before."""
        if self.is_open and self._trial_since is None:
            return
        if self.is_open:
            self.close()
        self._ends.append(True)

    def failed(self, reason: str, *, rest_s: float = 0.0, at_once: bool = False) -> None:
        """Count a failure.

        Args:
            reason: for people.
            rest_s: a longer rest than usual.
            at_once: open at this very failure, for example since the key is refused.
        """
        self._ends.append(False)
        row = list(self._ends)[-IN_A_ROW:]
        many = len(row) == IN_A_ROW and not any(row)
        half = len(self._ends) >= MIN_CALLS and self._ends.count(False) >= SHARE * len(self._ends)
        if many or half or at_once or self.is_open:
            self.rest(reason, max(self._rest_s, rest_s))

    def abandoned(self) -> None:
        """Note that a call ended without telling anything of the provider."""
        self._trial_since = None

    def close(self) -> None:
        """Close it and begin to count anew."""
        self._ends.clear()
        self._open_until, self._trial_since, self.reason = None, None, ""

    def rest(self, reason: str, seconds: float) -> None:
        """Open it for so many seconds."""
        self._open_until, self._trial_since, self.reason = self._clock() + seconds, None, reason
