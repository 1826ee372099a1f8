"""Retries of a search request: three at most, waiting as asked or longer each time, never beyond the time left."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, wait_exponential_jitter

from agents.search.search_errors import SearchFailed

ATTEMPTS = 3
"""Requests for one search, at most (specification, section 11)."""

CALL_S = 15.0
"""Seconds one request may take: a search that is slower is worth less than the next provider."""

LONGEST_WAIT_S = 30.0
"""A provider that asks to wait longer is left alone for that time instead; the next one is asked."""

_backoff = wait_exponential_jitter(initial=2, exp_base=2, jitter=1, max=10)
"""min(2^attempt + U(0, 1), 10) seconds (specification, section 11)."""

T = TypeVar("T")


@dataclass(frozen=True)
class Patience:
    """How long to bear with a provider.

    Args:
        call_s: seconds for one request.
        longest_wait_s: the longest wait between two.
        sleep: how to wait.
    """

    call_s: float = CALL_S
    longest_wait_s: float = LONGEST_WAIT_S
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def bear(
        self,
        send: Callable[[float], Awaitable[T]],
        *,
        provider: str,
        deadline_s: float | None,
        attempts: int = ATTEMPTS,
    ) -> T:
        """Call `send`, again where that may help. It is given the seconds that it may take, and is cut off after them.

        Raises:
            SearchFailed: of the last request.
        """
        loop = asyncio.get_running_loop()
        ends_at = None if deadline_s is None else loop.time() + deadline_s

        def left() -> float:
            return float("inf") if ends_at is None else ends_at - loop.time()

        def is_over(state: RetryCallState) -> bool:
            wait = state.upcoming_sleep
            return state.attempt_number >= attempts or wait > self.longest_wait_s or wait >= left()

        async def once() -> T:
            seconds = min(self.call_s, left())
            if seconds > 0:
                try:
                    async with asyncio.timeout(seconds):
                        return await send(seconds)
                except TimeoutError:  # raised below, so that nothing leads back to the request with the key in it
                    pass
            raise SearchFailed("timeout", provider, f"no answer within {max(0.0, seconds):.1f} s")

        retrying = AsyncRetrying(
            sleep=self.sleep,
            wait=_pause,
            stop=is_over,
            retry=retry_if_exception(lambda error: isinstance(error, SearchFailed) and error.retryable),
            reraise=True,
        )
        return await retrying(once)


def _pause(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, SearchFailed) and error.retry_after_s:  # asked to wait 0 s, the usual wait is kept
        return error.retry_after_s
    return _backoff(state)
