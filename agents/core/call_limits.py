"""Who may call when: process-wide limits per pool, longest path first, and a limit per job.

How fast a model provider may be asked: what an operator can set, one part or all.
"""

import asyncio
import heapq
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from pydantic import Field

from agents.contracts.frozen import Frozen
from agents.core.port import Pool

PROCESS_LIMITS: dict[Pool, int] = {"model": 32, "web": 24, "local": 4}
"""Calls at once in this process, over all jobs."""


class Slots:
    """A semaphore that serves the most urgent waiter first, then the one that waited longest."""

    def __init__(self, size: int) -> None:
        self._free = size
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._arrivals = 0
        self.peak = 0
        self._size = size

    @asynccontextmanager
    async def slot(self, urgency: int = 0) -> AsyncIterator[None]:
        """Hold one slot; higher `urgency` is served first."""
        await self._take(urgency)
        try:
            yield
        finally:
            self._give()

    async def _take(self, urgency: int) -> None:
        if self._free > 0 and not self._waiting:
            self._free -= 1
        else:
            ticket = asyncio.get_running_loop().create_future()
            self._arrivals += 1
            heapq.heappush(self._waiting, (-urgency, self._arrivals, ticket))
            try:
                await ticket
            except asyncio.CancelledError:
                # The slot may have been handed over in the very moment of cancelling: pass it on.
                if ticket.done() and not ticket.cancelled():
                    self._give()
                raise
        self.peak = max(self.peak, self._size - self._free)

    def _give(self) -> None:
        while self._waiting:
            _, _, ticket = heapq.heappop(self._waiting)
            if not ticket.done():
                ticket.set_result(None)
                return
        self._free += 1


class ProcessLimits:
    """The limits that all jobs of this process share, and this process's part of what a provider allows all of them.

    What a process may do at once is its own affair. What a provider allows is divided among the processes that ask it:
    an adapter with such a limit adds a function to `on_share`, and multiplies its limit by the share it is given.
    """

    def __init__(self) -> None:
        self.pools: dict[Pool, Slots] = {pool: Slots(n) for pool, n in PROCESS_LIMITS.items()}
        self.live_workers = 1
        self.on_share: list[Callable[[float], None]] = []
        """Called with this process's share, above 0 to 1, at each change."""

    @property
    def share(self) -> float:
        """The part of a provider's limits that this process may use."""
        return 1 / self.live_workers

    def divide_among(self, workers: int) -> None:
        """Learn how many processes that run jobs are alive."""
        if (workers := max(1, workers)) != self.live_workers:
            self.live_workers = workers
            for use in self.on_share:
                use(self.share)


class Pace(Frozen):
    """Limits of one provider. A part that is left out keeps its default; 0 takes that limit away."""

    at_once: int | None = Field(default=None, ge=0)
    """Requests that are open at the same time."""
    calls_per_minute: int | None = Field(default=None, ge=0)
    """Requests in any 60 seconds."""
    tokens_per_minute: int | None = Field(default=None, ge=0)
    """Tokens, read and written, of the requests in any 60 seconds."""
