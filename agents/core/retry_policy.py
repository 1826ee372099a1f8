"""The one retry policy of transport: pages and search services alike (specification, section 11)."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

from agents.core.errors import DossierError

ATTEMPTS = 3
MAX_BACKOFF_S = 10.0


@dataclass(frozen=True)
class RetryPolicy:
    """Three attempts, min(2^attempt + U(0, 1), 10) seconds apart or as the other side asks, within the time left.

    Args:
        call_s: seconds for one request, where the caller does not say otherwise.
        longest_wait_s: whoever asks for a longer pause is not asked again.
        sleep: how to wait.
        spread: a number from 0 to 1, added to waits so that not all come back at once.
    """

    call_s: float = 15.0
    longest_wait_s: float = 30.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    spread: Callable[[], float] = random.random

    def retrying(self, left_s: Callable[[], float], attempts: int | None = None) -> AsyncRetrying:
        """Make the loop that calls again after errors that are `retryable`.

        Args:
            left_s: seconds that are left for everything.
            attempts: fewer or more than usual.
        """
        most = attempts or ATTEMPTS

        def is_over(state: RetryCallState) -> bool:
            wait = state.upcoming_sleep
            return state.attempt_number >= most or wait > self.longest_wait_s or wait >= left_s()

        return AsyncRetrying(
            sleep=self.sleep,
            wait=self._wait_s,
            stop=is_over,
            retry=retry_if_exception(lambda error: isinstance(error, DossierError) and error.retryable),
            reraise=True,
        )

    def _wait_s(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, DossierError) and error.retry_after_s:  # asked to wait 0 s, the usual wait is kept
            return error.retry_after_s + self.spread() / 2
        return float(min(2.0**state.attempt_number + self.spread(), MAX_BACKOFF_S))
