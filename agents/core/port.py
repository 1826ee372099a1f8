"""The job port: all that research code may lean on. Knows no engine, no database, no provider.

Rules for a handler (they make a run replayable from its record):

- one paid or slow effect is one `call`, with a key that is stable data (a digest, a round), never an index into a set;
- a branch that makes more than one call is one of the `children`, with its own stable path;
- no clock, random, environment or database read: `left` and `elapsed` are the recorded clock;
- parallel work goes through `fan` and `children`, which keep order; tasks are never raced.

Who may call when: process-wide limits per pool, longest path first, and a limit per job.

How fast a model provider may be asked: what an operator can set, one part or all.
"""

import asyncio
import heapq
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Literal, ParamSpec, Protocol, TypeVar, overload

from pydantic import Field

from agents.contracts.frozen import Frozen
from agents.core.budget import Budget, Deadline, Limits
from agents.core.errors import StepFailed
from agents.core.events import Event

M = TypeVar("M", bound=Frozen)
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
P = ParamSpec("P")

Pool = Literal["model", "web", "local"]
"""Whose limit a call counts against: model providers, the web, or this machine."""


class Ctx(Protocol):
    """What a handler has of its job."""

    job_id: str
    path: str
    """Stable name of this branch, for example `job/0/1`."""
    budget: Budget
    deadline: Deadline
    """Time left for collecting, the synthesis reserve kept out; to be read inside steps only."""
    last_deadline: Deadline
    """Time left for writing, the reserve included; to be read inside steps only."""
    # As the last step recorded it:
    elapsed: float
    """Seconds since the job's clock started."""
    left: float | None
    """Seconds left of the whole job; None when unlimited."""
    collecting_left: float | None
    """The same without the synthesis reserve; never negative."""
    finishing: bool
    """True once the user asked this branch to finish with what is there."""
    again: tuple[str, ...]
    """What the user wants tried again, each by the path of its new try (`job/0/1+2`)."""
    dropped: tuple[str, ...]
    """Paths of branches whose findings the user wants left out."""

    def within(self, share: float) -> Deadline:
        """Time for one call that may take `share` of the job's whole time, never more than is left for collecting."""

    def part(self, share: float) -> Deadline:
        """Time for one call that may take `share` of what is left for collecting now: others come after it."""

    def writing(self, share: float) -> Deadline:
        """Time for a writer that may use `share` of the reserve: whoever writes after it needs the rest."""

    async def call(
        self, kind: str, key: str, fn: Callable[..., Awaitable[M]], *args: object, gives: type[M], pool: Pool = "model"
    ) -> M:
        """Do one paid or slow effect, once: its result, or its `StepFailed`, is recorded under `path#kind:key` and read back."""

    async def fan(
        self, kind: str, fn: Callable[..., Awaitable[M]], items: Sequence[tuple[object, ...]], *, gives: type[M],
        pool: Pool = "model",
    ) -> list[M | StepFailed]:  # fmt: skip
        """Do single calls side by side, one per `(key, *args)`; same order, failures in place."""

    async def children(self, kind: str, items: Sequence[tuple[str, Frozen]], *, gives: type[M]) -> list[M | StepFailed]:
        """Run the handler of `kind` as branches side by side, one per `(key, given)`; same order, failures in place."""

    async def children_of(
        self, items: Sequence[tuple[str, str, Frozen]], *, gives: type[M], limits: Limits = Limits()
    ) -> list[M | StepFailed]:
        """Run branches of different kinds side by side, one per `(kind, key, given)`; same order, failures in place."""

    def emit(self, key: str, event: Event) -> None:
        """Tell what happened; the same key tells once, so that a replay adds nothing."""


@overload
async def together(first: Awaitable[A], second: Awaitable[B], /) -> tuple[A, B]: ...
@overload
async def together(first: Awaitable[A], second: Awaitable[B], third: Awaitable[C], /) -> tuple[A, B, C]: ...
@overload
async def together(*branches: Awaitable[A]) -> list[A]: ...


async def together(*branches: Awaitable[object]) -> Sequence[object]:
    """Do several things at once in a handler, results in their order; each is a call, or children, and nothing after it.

    Two calls in a row belong into a child of their own: a replay finds the first step of each branch by its order.
    """

    async def one(branch: Awaitable[object]) -> object:
        return await branch

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(branch)) for branch in branches]
    except BaseExceptionGroup as many:
        raise many.exceptions[0] from many
    return [task.result() for task in tasks]


_COMPUTING = ThreadPoolExecutor(1, "computing")


async def computed(function: Callable[P, A], *args: P.args, **given: P.kwargs) -> A:
    """Compute what takes processor time in a job: in a thread, one at a time in this process.

    Python works on one at a time anyway; side by side they would keep the loop, and whoever talks in a chat, waiting.
    """
    return await asyncio.get_running_loop().run_in_executor(_COMPUTING, partial(function, *args, **given))


Handler = Callable[..., Awaitable[Any]]
"""One kind of branch, `async (ctx, given) -> out`: contract in, contract out."""
Handlers = Mapping[str, Handler]  # kinds of branches by name; built once by the composition root


PROCESS_LIMITS: dict[Pool, int] = {"model": 256, "web": 64, "local": 4}
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

    What a process may do at once is its own affair. What a provider allows is divided among the processes that ask it.
    """

    def __init__(self) -> None:
        self.pools: dict[Pool, Slots] = {pool: Slots(n) for pool, n in PROCESS_LIMITS.items()}
        self.share = 1.0
        """The part of a provider's limits that this process may use, above 0 to 1."""

    def divide_among(self, workers: int) -> None:
        """Learn how many processes that run jobs are alive."""
        self.share = 1 / max(1, workers)


class Pace(Frozen):
    """Limits of one provider. A part that is left out keeps its default; 0 takes that limit away."""

    at_once: int | None = Field(default=None, ge=0)
    """Requests that are open at the same time."""
    most_at_once: int | None = Field(default=None, ge=0)
    """So many while the provider keeps up; no more than `at_once` where that was set and this was not."""
    calls_per_minute: int | None = Field(default=None, ge=0)
    """Requests in any 60 seconds."""
    tokens_per_minute: int | None = Field(default=None, ge=0)
    """Tokens, read and written, of the requests in any 60 seconds."""
