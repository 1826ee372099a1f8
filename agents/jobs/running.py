"""What every implementation of the job port shares: a run's clock, events and limits, and the body of a step."""

import asyncio
import logging
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from agents.budget import Budget, Deadline, Limits, synthesis_reserve_s
from agents.contracts.base import Frozen
from agents.errors import BudgetExceeded, DossierError, StepFailed
from agents.events import Charged, Event, Numbered
from agents.jobs.limits import ProcessLimits, Slots
from agents.jobs.port import Handlers, M, Pool
from agents.jobs.steering import Steering
from agents.place import Place, at, here

log = logging.getLogger(__name__)

MARGIN_SHARE, MARGIN_CAP_S = 0.08, 3.0
"""Part of the total time, and seconds at most, between the last call's deadline and the end."""


class StepRecord(Frozen):
    """What a step left behind: its value as JSON, or its failure; and the clock when it ended."""

    value: str | None = None
    type: str = ""
    message: str = ""
    notice: str = ""
    retryable: bool = False
    elapsed: float
    """Seconds of the job's clock when the step ended."""
    finishing: bool = False
    stopped: str = ""
    """The branch whose stopping cut this step off; empty when none did."""
    asked: str = ""
    """Digest of what the step was asked for, where a later attempt may want to know."""

    def failure(self, key: str) -> StepFailed:
        """Say it as the error that research code knows."""
        return StepFailed(key, type_=self.type, message=self.message, notice=self.notice, retryable=self.retryable)


def stopped_record(path: str, elapsed: float) -> StepRecord:
    """Record that the user stopped a branch."""
    return StepRecord(
        type="Stopped", message="stopped by the user", notice="You stopped it.", elapsed=elapsed, stopped=path
    )


class Clock(Protocol):
    """Seconds that only ever grow."""

    def __call__(self) -> float:
        """Say how late it is."""
        ...


Listener = Callable[[Numbered], None]


@dataclass(frozen=True)
class CallMade:
    """An effect that was really done, not read back: told to whoever traces."""

    place: Place
    pool: Pool
    seconds: float
    value: Frozen | None
    """What came of it; None where it failed."""
    error: str = ""
    """Name of the error it failed with."""


@dataclass
class Run:
    """One run of one job: its record, its events, its clock, its limits."""

    job_id: str
    handlers: Handlers
    budget: Budget
    clock: Clock
    limits: ProcessLimits
    per_job: int = 6
    record: dict[str, StepRecord] = field(default_factory=dict)
    """Steps by full key, `path#kind:key`; a run that starts with a full record is a replay."""
    events: list[Numbered] = field(default_factory=list)
    listeners: list[Listener] = field(default_factory=list)
    watchers: list[Callable[[CallMade], None]] = field(default_factory=list)
    steering: Steering = field(default_factory=Steering)
    """What the user says from outside."""
    calls_made: int = 0
    """Effects really done, not read back."""

    def __post_init__(self) -> None:
        self.started = self.clock()
        self.slots = Slots(self.per_job)
        self._emitted = {numbered.key for numbered in self.events}
        self._used: set[str] = set()

    def now(self) -> float:
        """Seconds since the job's clock started."""
        return max(0.0, self.clock() - self.started)

    @property
    def visible(self) -> int:
        """How many events may be told to others."""
        return len(self.events)

    @property
    def reserve_s(self) -> float:
        """Seconds kept for writing."""
        return synthesis_reserve_s(self.budget.limits.seconds)

    @property
    def margin_s(self) -> float:
        """Seconds kept for assembling and saving the report after the last call, so that it exists inside the total."""
        total = self.budget.limits.seconds
        return 0.0 if total is None else min(MARGIN_CAP_S, MARGIN_SHARE * total)

    def stop_branch(self, path: str) -> bool:
        """Stop one branch and all below it, at once; False when it does not run."""
        self.steering.drop(path)
        return False

    def emit(self, key: str, event: Event) -> None:
        """Append an event, once per key."""
        if key in self._emitted:
            return
        self._emitted.add(key)
        numbered = Numbered(seq=len(self.events) + 1, seconds=round(self.now(), 3), key=key, event=event)
        self.events.append(numbered)
        self.tell(numbered)

    def tell(self, numbered: Numbered) -> None:
        """Let the listeners know of an event."""
        for listener in self.listeners:
            listener(numbered)

    def claim(self, full_key: str) -> None:
        """Take a step's or branch's key for this run; two of one name would share one record."""
        if full_key in self._used:
            raise RuntimeError(f"two steps of one job are named {full_key!r}")
        self._used.add(full_key)

    @asynccontextmanager
    async def turn(self, pool: Pool, urgency: int) -> AsyncIterator[None]:
        """Wait for a place among this job's calls and among all calls of the pool."""
        async with self.slots.slot(urgency), self.limits.pools[pool].slot(urgency):
            yield

    async def perform(
        self,
        ctx: "PortCtx",
        fn: Callable[..., Awaitable[Frozen]],
        args: tuple[Any, ...],
        pool: Pool,
        keep: Callable[[StepRecord], Awaitable[None]] | None = None,
    ) -> StepRecord:
        """Do a step's effect when it is its turn, and keep what came of it before anybody else has theirs."""
        async with self.turn(pool, ctx.depth):
            record = await self._effect(ctx, fn, args, pool)
            if keep is not None:
                # What was paid for is written down, even while its branch is being cut off.
                await asyncio.shield(keep(record))
            return record

    async def _effect(
        self, ctx: "PortCtx", fn: Callable[..., Awaitable[Frozen]], args: tuple[Any, ...], pool: Pool
    ) -> StepRecord:
        finishing = self.steering.finishing
        if pool == "model" and (refusal := self._used_up(ctx)):
            return refusal
        self.calls_made += 1
        began = time.perf_counter()  # beside the job's own clock, which counts for what is recorded

        def tell(value: Frozen | None, error: str = "") -> None:
            made = CallMade(here(), pool, time.perf_counter() - began, value, error)
            for watcher in self.watchers:
                watcher(made)

        try:
            done = await fn(*args)
            value = done.model_dump_json()
            tell(done)
        except DossierError as error:
            tell(None, type(error).__name__)
            return _failed(error, self.now(), finishing(ctx.path))
        except Exception as error:  # the one place where a step's failure of any kind becomes data
            log.exception("step failed: %s", ctx.path)
            tell(None, type(error).__name__)
            return StepRecord(
                type=type(error).__name__,
                message=f"{type(error).__name__} in a step",
                notice=DossierError.notice,
                elapsed=self.now(),
                finishing=finishing(ctx.path),
            )
        return StepRecord(value=value, elapsed=self.now(), finishing=finishing(ctx.path))

    def _used_up(self, ctx: "PortCtx") -> StepRecord | None:
        """Refuse a call for which no tokens or money are left; time is each call's own time-out."""
        try:
            ctx.budget.check_spending()
        except BudgetExceeded as error:
            return _failed(error, self.now(), self.steering.finishing(ctx.path))
        return None


def _failed(error: DossierError, elapsed: float, finishing: bool) -> StepRecord:
    return StepRecord(
        type=type(error).__name__,
        message=str(error),
        notice=error.notice,
        retryable=error.retryable,
        elapsed=elapsed,
        finishing=finishing,
    )


class _Left:
    """Time left of a budget, read at the moment of asking."""

    def __init__(self, run: Run, budget: Budget, keep_s: float) -> None:
        self._run, self._budget, self._keep_s = run, budget, keep_s

    def seconds(self) -> float | None:
        left = self._budget.seconds_left(self._run.now())
        return None if left is None else max(0.0, left - self._keep_s)


class _Slice:
    """A part of the whole time, bounded by what is left."""

    def __init__(self, left: Deadline, total_s: float | None, share: float) -> None:
        self._left, self._slice_s = left, None if total_s is None else total_s * share

    def seconds(self) -> float | None:
        left = self._left.seconds()
        return self._slice_s if left is None else left if self._slice_s is None else min(left, self._slice_s)


class PortCtx(ABC):
    """`Ctx` (see `agents.jobs.port`) but for how a step is recorded and how a branch is run."""

    def __init__(self, run: Run, path: str, budget: Budget, *, elapsed: float, depth: int) -> None:
        self.run, self.depth = run, depth
        self.job_id, self.path, self.budget = run.job_id, path, budget
        self._elapsed, self._finishing = elapsed, False
        self.deadline: Deadline = _Left(run, budget, run.reserve_s)
        self.last_deadline: Deadline = _Left(run, budget, run.margin_s)

    @property
    def elapsed(self) -> float:
        return self._elapsed

    @property
    def left(self) -> float | None:
        return self.budget.seconds_left(self._elapsed)

    @property
    def collecting_left(self) -> float | None:
        return None if self.left is None else max(0.0, self.left - self.run.reserve_s)

    @property
    def finishing(self) -> bool:
        return self._finishing

    def within(self, share: float) -> Deadline:
        """Time for one call that may take `share` of the whole time, and never more than is left for collecting."""
        return _Slice(self.deadline, self.run.budget.limits.seconds, share)

    def writing(self, share: float) -> Deadline:
        """Time for a writer that may use `share` of the synthesis reserve beside what is left for collecting."""
        return _Left(self.run, self.budget, self.run.margin_s + (1 - share) * self.run.reserve_s)

    @abstractmethod
    async def recorded(
        self, name: str, fn: Callable[..., Awaitable[Frozen]], args: tuple[Any, ...], pool: Pool
    ) -> StepRecord:
        """Read a step's record, or do the step and record it; `name` is `kind:key`."""

    @abstractmethod
    async def branch(
        self, kind: str, key: str, given: Frozen, gives: type[M], limits: Limits, elapsed: float, finishing: bool
    ) -> M:
        """Run the handler of `kind` at `path/key` with the clock at `elapsed`."""

    async def call(
        self, kind: str, key: str, fn: Callable[..., Awaitable[M]], *args: Any, gives: type[M], pool: Pool = "model"
    ) -> M:
        full_key = f"{self.path}#{kind}:{key}"
        self.run.claim(full_key)
        with at(Place(self.job_id, self.path, f"{kind}:{key}")):
            step = await self.recorded(f"{kind}:{key}", fn, args, pool)
        self.reached(step.elapsed, step.finishing)
        if step.value is None:
            raise step.failure(full_key)
        value = gives.model_validate_json(step.value)
        if isinstance(value, Charged):
            self.budget.charge(value.usage)
            if event := value.as_event(self.path):
                self.emit(f"{kind}:{key}", event)
        return value

    def reached(self, elapsed: float, finishing: bool) -> None:
        """Move the recorded clock on."""
        self._elapsed = max(self._elapsed, elapsed)
        self._finishing = self._finishing or finishing

    async def fan(
        self,
        kind: str,
        fn: Callable[..., Awaitable[M]],
        items: Sequence[tuple[Any, ...]],
        *,
        gives: type[M],
        pool: Pool = "model",
    ) -> list[M | StepFailed]:
        async def one(item: tuple[Any, ...]) -> M | StepFailed:
            try:
                return await self.call(kind, str(item[0]), fn, *item[1:], gives=gives, pool=pool)
            except StepFailed as failure:
                return failure

        return await side_by_side([one(item) for item in items])

    async def child(self, kind: str, key: str, given: Frozen, *, gives: type[M], limits: Limits = Limits()) -> M:
        return await self.branch(kind, key, given, gives, limits, self._elapsed, self._finishing)

    async def children(
        self, kind: str, items: Sequence[tuple[str, Frozen]], *, gives: type[M], limits: Limits = Limits()
    ) -> list[M | StepFailed]:
        return await self.children_of([(kind, key, given) for key, given in items], gives=gives, limits=limits)

    async def children_of(
        self, items: Sequence[tuple[str, str, Frozen]], *, gives: type[M], limits: Limits = Limits()
    ) -> list[M | StepFailed]:
        # All branches start from the clock as it stands now: on a replay the first would else move it for the second.
        elapsed, finishing = self._elapsed, self._finishing
        return await side_by_side(
            [self.one_of(kind, key, given, gives, limits, elapsed, finishing) for kind, key, given in items]
        )

    async def one_of(
        self, kind: str, key: str, given: Frozen, gives: type[M], limits: Limits, elapsed: float, finishing: bool
    ) -> M | StepFailed:
        """Run one of several branches; its failure stays in its place."""
        try:
            return await self.branch(kind, key, given, gives, limits, elapsed, finishing)
        except StepFailed as failure:
            return failure

    def emit(self, key: str, event: Event) -> None:
        self.run.emit(f"{self.path}#{key}", event)


async def side_by_side(branches: Sequence[Awaitable[M | StepFailed]]) -> list[M | StepFailed]:
    """Run branches at once and keep their order; an error that is no recorded failure cancels the others."""

    async def as_coroutine(branch: Awaitable[M | StepFailed]) -> M | StepFailed:
        return await branch

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(as_coroutine(branch)) for branch in branches]
    except BaseExceptionGroup as many:
        raise many.exceptions[0] from many
    return [task.result() for task in tasks]
