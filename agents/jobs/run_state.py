"""What every implementation of the job port shares: a run's clock, events and limits, and the body of a step."""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from agents.contracts.frozen import Frozen
from agents.core.budget import Budget, Deadline, Limits, least, synthesis_reserve_s
from agents.core.call_limits import ProcessLimits, Slots
from agents.core.errors import BudgetExceeded, DossierError, StepFailed
from agents.core.events import Charged, Event, Numbered, RoleAsked
from agents.core.port import Handlers, M, Pool
from agents.core.trace_context import TraceContext, traced
from agents.jobs.deadlines import Left, Slice
from agents.jobs.records import NOWHERE, Reached, StepRecord, stopped_record
from agents.jobs.siblings import side_by_side
from agents.jobs.watching import Watcher, watched
from agents.research.steering import STOPPED, TIME_UP, Steering

log = logging.getLogger(__name__)

MARGIN_SHARE, MARGIN_CAP_S = 0.08, 3.0
"""Part of the total time, and seconds at most, between the last call's deadline and the end."""


class Clock(Protocol):
    """Seconds that only ever grow."""

    def __call__(self) -> float:
        """Say how late it is."""


Listener = Callable[[Numbered], None]


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
    watchers: list[Watcher] = field(default_factory=list)
    steering: Steering = field(default_factory=Steering)
    """What the user says from outside."""
    calls_made: int = 0
    """Effects really done, not read back."""
    again: int = 0
    """How often the job was restarted or reworked."""

    def __post_init__(self) -> None:
        self.started = self.clock()
        self.slots = Slots(self.per_job)
        self.halted = False
        self._emitted = {numbered.key for numbered in self.events}
        self._used: set[str] = set()
        self._cuttable: dict[asyncio.Task[Any], str] = {}
        self._timed: dict[asyncio.Timeout, Deadline] = {}

    def now(self) -> float:
        """Seconds since the job's clock started."""
        return max(0.0, self.clock() - self.started)

    @property
    def visible(self) -> int:
        """How many events may be told to others."""
        return len(self.events)

    def total_s(self, shortened_s: float | None) -> float | None:
        """Seconds in all, where the user has shortened them to `shortened_s`; None when unlimited."""
        return least(self.budget.limits.seconds, shortened_s)

    @property
    def reserve_s(self) -> float:
        """Seconds kept for writing."""
        return synthesis_reserve_s(self.total_s(self.steering.limits.seconds))

    @property
    def margin_s(self) -> float:
        """Seconds kept for assembling and saving the report after the last call, so that it exists inside the total."""
        total = self.total_s(self.steering.limits.seconds)
        return 0.0 if total is None else min(MARGIN_CAP_S, MARGIN_SHARE * total)

    # ---- what is cut off

    def cut(self, above: str) -> bool:
        """Cut off what runs at a path and below; False when nothing does."""
        tasks = [task for task, path in self._cuttable.items() if path == above or path.startswith(above + "/")]
        return sum(task.cancel() for task in tasks) > 0

    def hasten(self) -> None:
        """Hold the calls in flight to the time that is left now that the user has shortened it."""
        if self.steering.limits.seconds is None:
            return
        for cut, deadline in self._timed.items():
            left = deadline.seconds()
            if left is not None and not cut.expired():
                # Whoever heeds its own time-out gets half of the margin to say so, or to stand in for a model.
                cut.reschedule(asyncio.get_running_loop().time() + left + self.margin_s / 2)

    async def cuttable(self, path: str, work: Callable[[], Awaitable[StepRecord]], *, free: bool) -> StepRecord:
        """Do a step's work so that stopping or dropping its branch, or the job, cuts it off at once.

        What costs nothing (`free`) is still done in a branch that was stopped: it is needed to write up what is there.
        """
        if self.halted:
            raise asyncio.CancelledError
        if (record := self._stopped(path)) and not (free and record.type == STOPPED):
            return record

        async def do() -> StepRecord:
            return await work()

        task = asyncio.get_running_loop().create_task(do())
        self._cuttable[task] = path
        try:
            return await task
        except asyncio.CancelledError:
            record, around = self._stopped(path), asyncio.current_task()
            if self.halted or record is None or (around is not None and around.cancelling()):
                raise
            return record
        finally:
            task.cancel()
            del self._cuttable[task]

    def _stopped(self, path: str) -> StepRecord | None:
        said = self.steering.said()
        if dropped := self.steering.dropped_above(path):
            return stopped_record(dropped, self.now(), said, dropped=True)
        stopped = self.steering.stopped_above(path)
        return stopped_record(stopped, self.now(), said) if stopped else None

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
        if pool == "model" and (refusal := self._used_up(ctx)):
            return refusal
        self.calls_made += 1
        cut = asyncio.timeout(None)
        try:
            async with cut:
                if deadline := next((arg for arg in args if isinstance(arg, Left | Slice)), None):
                    self._timed[cut] = deadline
                    self.hasten()
                value = (await watched(self.watchers, pool, fn, args)).model_dump_json()
        except DossierError as error:
            return self._failed(error)
        except Exception as error:  # the one place where a step's failure of any kind becomes data
            if cut.expired():
                return StepRecord(
                    type=TIME_UP, message="cut off: the user shortened the run", notice="You shortened the run.",
                    elapsed=self.now(), said=self.steering.said(),
                )  # fmt: skip
            log.exception("step failed: %s", ctx.path)
            return StepRecord(
                type=type(error).__name__,
                message=f"{type(error).__name__} in a step",
                notice=DossierError.notice,
                elapsed=self.now(),
                said=self.steering.said(),
            )
        finally:
            self._timed.pop(cut, None)
        return StepRecord(value=value, elapsed=self.now(), said=self.steering.said())

    def _used_up(self, ctx: "PortCtx") -> StepRecord | None:
        """Refuse a call for which no tokens or money are left; time is each call's own time-out."""
        try:
            ctx.budget.check_spending()
        except BudgetExceeded as error:
            return self._failed(error)
        return None

    def _failed(self, error: DossierError) -> StepRecord:
        return StepRecord.of(error, self.now(), self.steering.said())


class PortCtx(ABC):
    """`Ctx` (see `agents.core.port`) but for how a step is recorded and how a branch is run."""

    def __init__(self, run: Run, path: str, budget: Budget, *, depth: int, reached: Reached = NOWHERE) -> None:
        self.run, self.depth = run, depth
        self.job_id, self.path, self.budget = run.job_id, path, budget
        self.so_far = reached
        self.deadline: Deadline = Left(run, budget, lambda: run.reserve_s)
        self.last_deadline: Deadline = Left(run, budget, lambda: run.margin_s)

    @property
    def elapsed(self) -> float:
        return self.so_far.elapsed

    @property
    def left(self) -> float | None:
        shortened = self.so_far.said.total_s
        left = least(self.budget.seconds_left(self.elapsed), None if shortened is None else shortened - self.elapsed)
        return None if left is None else max(0.0, left)

    @property
    def collecting_left(self) -> float | None:
        reserve_s = synthesis_reserve_s(self.run.total_s(self.so_far.said.total_s))
        return None if self.left is None else max(0.0, self.left - reserve_s)

    @property
    def finishing(self) -> bool:
        return self.so_far.said.finishing(self.path)

    @property
    def again(self) -> tuple[str, ...]:
        return self.so_far.said.again

    @property
    def dropped(self) -> tuple[str, ...]:
        return self.so_far.said.dropped

    def within(self, share: float) -> Deadline:
        """Time for one call that may take `share` of the whole time, and never more than is left for collecting."""
        run = self.run
        return Slice(self.deadline, lambda: run.total_s(run.steering.limits.seconds), share)

    def part(self, share: float) -> Deadline:
        """Time for one call that may take `share` of what is left for collecting now."""
        left = self.collecting_left
        return Slice(self.deadline, lambda: left, share)

    def writing(self, share: float) -> Deadline:
        """Time for a writer that may use `share` of the synthesis reserve beside what is left for collecting."""
        run = self.run
        return Left(run, self.budget, lambda: run.margin_s + (1 - share) * run.reserve_s)

    @abstractmethod
    async def recorded(
        self, name: str, fn: Callable[..., Awaitable[Frozen]], args: tuple[Any, ...], pool: Pool
    ) -> StepRecord:
        """Read a step's record, or do the step and record it; `name` is `kind:key`."""

    @abstractmethod
    async def branch(self, kind: str, key: str, given: Frozen, gives: type[M], limits: Limits, reached: Reached) -> M:
        """Run the handler of `kind` at `path/key`, from what was reached when it was called for."""

    async def call(
        self, kind: str, key: str, fn: Callable[..., Awaitable[M]], *args: Any, gives: type[M], pool: Pool = "model"
    ) -> M:
        name = f"{kind}:{key}"
        self.run.claim(full_key := f"{self.path}#{name}")
        with traced(TraceContext(self.job_id, self.path, name)):
            step = await self.recorded(name, fn, args, pool)
        self.reached(step)
        if step.value is None:
            raise step.failure(full_key)
        value = gives.model_validate_json(step.value)
        if isinstance(value, Charged):
            self.budget.charge(value.usage)
            if event := value.as_event(self.path):
                self.emit(f"{kind}:{key}", event)
                if isinstance(event, RoleAsked) and (note := event.note()):
                    # Once for the job, whichever branch meets it first.
                    self.run.emit(f"job#model:{event.model} for {event.stood_in_for}", note)
        return value

    def reached(self, by: Reached | StepRecord) -> None:
        """Move the recorded clock on, and know what the user had said by then."""
        self.so_far = self.so_far.later(by)

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
        return await self.branch(kind, key, given, gives, limits, self.so_far)

    async def children(
        self, kind: str, items: Sequence[tuple[str, Frozen]], *, gives: type[M], limits: Limits = Limits()
    ) -> list[M | StepFailed]:
        return await self.children_of([(kind, key, given) for key, given in items], gives=gives, limits=limits)

    async def children_of(
        self,
        items: Sequence[tuple[str, str, Frozen]],
        *,
        gives: type[M],
        limits: Limits = Limits(),
        own: Mapping[str, Limits] | None = None,
    ) -> list[M | StepFailed]:
        # All branches start from the clock as it stands now: on a replay the first would else move it for the second.
        reached = self.so_far
        return await side_by_side(
            [self.one_of(kind, key, given, gives, (own or {}).get(key, limits), reached) for kind, key, given in items]
        )

    async def one_of(
        self, kind: str, key: str, given: Frozen, gives: type[M], limits: Limits, reached: Reached
    ) -> M | StepFailed:
        """Run one of several branches; its failure stays in its place."""
        try:
            return await self.branch(kind, key, given, gives, limits, reached)
        except StepFailed as failure:
            return failure

    def emit(self, key: str, event: Event) -> None:
        self.run.emit(f"{self.path}#{key}", event)
