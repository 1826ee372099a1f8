"""One run of one job in this process: its clock, events, records and limits, and the body of a step.

`Run` keeps everything in memory: for tests, scoping and drafting, and where nothing may be stored. `DurableRun` writes
every step and event to the job store before anything is made of it, and can be paused and halted. Both replay: a step
whose record is there is read back and not done again.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from agents.contracts.frozen import Frozen
from agents.core.budget import Budget, Deadline, least
from agents.core.call_limits import ProcessLimits, Slots
from agents.core.errors import BudgetExceeded, DossierError, ModelError
from agents.core.events import Event, JobChanged, NodeChanged, Numbered
from agents.core.port import Handlers, M, Pool
from agents.core.time_policy import margin_s as margin_of
from agents.core.time_policy import synthesis_reserve_s
from agents.core.trace_context import TraceContext, current_trace
from agents.jobs.deadlines import TimeLeft, TimeSlice
from agents.jobs.records import Fenced, StepRecord, stopped_record
from agents.research.steering import STOPPED, TIME_UP, Steering

if TYPE_CHECKING:
    from agents.jobs.ctx import RunCtx
    from agents.jobs.writer import Writer

log = logging.getLogger(__name__)

ROOT = "job"


class Clock(Protocol):
    """Seconds that only ever grow."""

    def __call__(self) -> float:
        """Give the time."""


@dataclass(frozen=True)
class CallMade:
    """An effect that was really done, not read back: what traces are made of."""

    place: TraceContext
    pool: Pool
    seconds: float
    value: Frozen | None
    """Its result; None where it failed."""
    error: str = ""
    """Name of the error it failed with."""


Listener = Callable[[Numbered], None]
CallWatcher = Callable[[CallMade], None]
StepFn = Callable[..., Awaitable[Frozen]]
Persist = Callable[[StepRecord], Awaitable[None]]


class KeyMissing(asyncio.CancelledError):
    """A model's key is missing or refused: the call is cut off, so that nothing false is recorded of it."""


@dataclass
class Run:
    """One run of one job, in memory."""

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
    watchers: list[CallWatcher] = field(default_factory=list)
    steering: Steering = field(default_factory=Steering)
    calls_made: int = 0
    """Effects really done, not read back."""
    again: int = 0
    """How often the job was restarted or reworked."""
    attempt: int = 1

    def __post_init__(self) -> None:
        self.started = self.clock()
        self.slots = Slots(self.per_job)
        self.halted = False
        self.fresh: set[str] = set(self.record)
        """Steps that this attempt made; the others stem from earlier attempts."""
        self._emitted = {numbered.key for numbered in self.events}
        self._used: set[str] = set()
        self._interruptible: dict[asyncio.Task[Any], str] = {}
        self._timed: dict[asyncio.Timeout, Deadline] = {}

    async def run(self, kind: str, given: Frozen, gives: type[M], path: str = ROOT) -> M:
        """Run the job's root handler to its end."""
        from agents.jobs.ctx import RunCtx

        return gives.model_validate(await self.handlers[kind].run(RunCtx(self, path, self.budget), given))

    # ---- time

    def now(self) -> float:
        """Seconds since the job's clock started."""
        return max(0.0, self.clock() - self.started)

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
        return margin_of(total)

    # ---- events

    @property
    def visible(self) -> int:
        """How many events may be shown to others."""
        return len(self.events)

    def emit(self, key: str, event: Event) -> None:
        """Append an event, once per key."""
        if key in self._emitted:
            return
        self._emitted.add(key)
        numbered = Numbered(seq=len(self.events) + 1, seconds=round(self.now(), 3), key=key, event=event)
        self.events.append(numbered)
        self.publish(numbered)

    def publish(self, numbered: Numbered) -> None:
        """Give an event to the listeners."""
        for listener in self.listeners:
            listener(numbered)

    # ---- steps

    def claim(self, full_key: str) -> None:
        """Take a step's or branch's key for this run; two of one name would share one record."""
        if full_key in self._used:
            raise RuntimeError(f"two steps of one job are named {full_key!r}")
        self._used.add(full_key)

    def knows(self, key: str, asked: str) -> bool:
        """Tell whether a step need not be done: this attempt did it, or an earlier one did for the same arguments."""
        record = self.record.get(key)
        return record is not None and (key in self.fresh or record.asked == asked)

    async def persist(self, key: str, record: StepRecord) -> None:
        """Record a step before anything is made of it."""
        self.record[key] = record
        self.fresh.add(key)

    async def perform(
        self, ctx: "RunCtx", fn: StepFn, args: tuple[Any, ...], pool: Pool, persist: Persist
    ) -> StepRecord:
        """Do a step's effect when it is its turn, and record it before the next call has its turn."""
        async with self.turn(pool, ctx.depth):
            record = await self._effect(ctx, fn, args, pool)
            await persist(record)
            return record

    @asynccontextmanager
    async def turn(self, pool: Pool, urgency: int) -> AsyncIterator[None]:
        """Wait for a slot among this job's calls and among all calls of the pool."""
        async with self.slots.slot(urgency), self.limits.pools[pool].slot(urgency):
            yield

    async def _effect(self, ctx: "RunCtx", fn: StepFn, args: tuple[Any, ...], pool: Pool) -> StepRecord:
        if pool == "model":
            try:
                ctx.budget.check_spending()  # time is each call's own time-out
            except BudgetExceeded as error:
                return self._failure(error)
        self.calls_made += 1
        cut = asyncio.timeout(None)
        try:
            async with cut:
                if deadline := next((arg for arg in args if isinstance(arg, TimeLeft | TimeSlice)), None):
                    self._timed[cut] = deadline
                    self.hasten()
                value = (await self._watched(pool, fn, args)).model_dump_json()
        except DossierError as error:
            return self._failure(error)
        except Exception as error:  # the one place where a step's failure of any kind becomes data
            if cut.expired():
                return self._failed(TIME_UP, "cut off: the user shortened the run", "You shortened the run.")
            log.exception("step failed: %s", ctx.path)
            name = type(error).__name__
            return self._failed(name, f"{name} in a step", DossierError.notice)
        finally:
            self._timed.pop(cut, None)
        return StepRecord(value=value, elapsed=self.now(), steering=self.steering.snapshot())

    async def _watched(self, pool: Pool, fn: StepFn, args: tuple[Any, ...]) -> Frozen:
        """Do an effect and tell the watchers, however it ends; being cut off is no call."""
        began = time.perf_counter()  # not the job's clock, which counts for what is recorded

        def report(value: Frozen | None, error: str = "") -> None:
            for watcher in self.watchers:
                watcher(CallMade(current_trace(), pool, time.perf_counter() - began, value, error))

        try:
            done = await fn(*args)
        except Exception as error:
            report(None, type(error).__name__)
            raise
        report(done)
        return done

    def _failure(self, error: DossierError) -> StepRecord:
        return StepRecord.of(error, self.now(), self.steering.snapshot())

    def _failed(self, kind: str, message: str, notice: str) -> StepRecord:
        return StepRecord(
            type=kind, message=message, notice=notice, elapsed=self.now(), steering=self.steering.snapshot()
        )

    # ---- cutting off

    def cut(self, above: str) -> None:
        """Cut off what runs at a path and below."""
        for task, path in self._interruptible.items():
            if path == above or path.startswith(above + "/"):
                task.cancel()

    def hasten(self) -> None:
        """Hold the calls in flight to the time that is left now that the user has shortened it."""
        if self.steering.limits.seconds is None:
            return
        for cut, deadline in self._timed.items():
            left = deadline.seconds()
            if left is not None and not cut.expired():
                # A call that heeds its own time-out gets half of the margin to say so, or to use a fallback.
                cut.reschedule(asyncio.get_running_loop().time() + left + self.margin_s / 2)

    async def interruptible(self, path: str, work: Callable[[], Awaitable[StepRecord]], *, free: bool) -> StepRecord:
        """Do a step's work so that stopping or dropping its branch cuts it off at once.

        What costs nothing (`free`) is still done in a branch that was stopped: it is needed to write up what is there.
        It runs in the caller's own task: what a step cost is charged before the next one begins.
        """
        if self.halted:
            raise asyncio.CancelledError
        if (record := self._stopped(path)) and not (free and record.type == STOPPED):
            return record
        task = asyncio.current_task()
        if task is None:
            return await work()
        self._interruptible[task] = path
        try:
            return await work()
        except asyncio.CancelledError:
            record = self._stopped(path)
            if self.halted or record is None or task.uncancel():
                raise
            return record
        finally:
            self._interruptible.pop(task, None)

    def _stopped(self, path: str) -> StepRecord | None:
        snapshot = self.steering.snapshot()
        if dropped := self.steering.dropped_above(path):
            return stopped_record(dropped, self.now(), snapshot, dropped=True)
        stopped = self.steering.stopped_above(path)
        return stopped_record(stopped, self.now(), snapshot) if stopped else None


@dataclass
class DurableRun(Run):
    """One attempt at one job, every step and event of it in the job store."""

    writer: "Writer | None" = None
    watched: bool = False
    """True where another process runs the job: its events are only read here."""
    on_key_missing: Callable[[ModelError], None] | None = None
    """Called once when a model's key is missing or refused."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.base_s = 0.0
        """Where the job's clock stood when this process took it up."""
        self.stored = len(self.events)
        """How many events are in the store."""
        self.gate, self.idle, self.in_flight = asyncio.Event(), asyncio.Event(), 0
        self.gate.set()
        self.idle.set()
        self.task: asyncio.Task[None] | None = None
        """The job's work, while this process does it."""
        self.broken_off = self._key_missing = False
        self._since: float | None = None

    def take_up(self, events: list[Numbered], steps: dict[str, tuple[int, StepRecord]]) -> None:
        """Go on from the events and steps that are in the store."""
        self.events += events
        self.stored = len(self.events)
        self._emitted = {numbered.key for numbered in self.events}
        self.record |= {key: record for key, (_, record) in steps.items()}
        self.fresh |= {key for key, (attempt, _) in steps.items() if attempt == self.attempt}
        reached = [record.elapsed for record in self.record.values()] + [one.seconds for one in self.events[-1:]]
        self.base_s = max(reached, default=0.0)

    async def work(self, research: Callable[[], Awaitable[None]]) -> None:
        """Do the job's work as a task that can be halted. The clock starts here: the queue takes none of its time."""
        self._since = self.clock()
        self.task = asyncio.ensure_future(research())
        await self.task

    @property
    def at_work(self) -> bool:
        """True while this process works on it."""
        return self.task is not None and not self.task.done()

    def now(self) -> float:
        return self.base_s + (0.0 if self._since is None else max(0.0, self.clock() - self._since))

    @property
    def visible(self) -> int:
        return self.stored

    def emit(self, key: str, event: Event) -> None:
        # Research that is being cut off may still emit on its way out: it must not undo "cancelled" or "paused".
        paused = not self.gate.is_set() and isinstance(event, JobChanged) and event.status == "running"
        if not (self.halted or self.watched or paused):
            self.announce(key, event)

    def announce(self, key: str, event: Event) -> None:
        """Append an event that was decided from outside, even where the job's own work was cut off."""
        # After a restart the job's and its nodes' states are new, even where they were emitted before.
        emitted_anew = self.again and isinstance(event, JobChanged | NodeChanged)
        super().emit(f"{key}~{self.again}" if emitted_anew else key, event)

    def publish(self, numbered: Numbered) -> None:
        def stored() -> None:
            self.stored = max(self.stored, numbered.seq)
            super(DurableRun, self).publish(numbered)

        if self.writer is not None:
            self.writer.event(self.job_id, numbered, stored)

    @asynccontextmanager
    async def turn(self, pool: Pool, urgency: int) -> AsyncIterator[None]:
        async with self.slots.slot(urgency):
            while True:
                await self.gate.wait()  # a paused job waits here, and holds none of the slots that others need
                async with self.limits.pools[pool].slot(urgency):
                    if not self.gate.is_set():
                        continue
                    self.in_flight += 1
                    self.idle.clear()
                    try:
                        yield
                        return
                    finally:
                        self.in_flight -= 1
                        if not self.in_flight:
                            self.idle.set()

    async def persist(self, key: str, record: StepRecord) -> None:
        # What was paid for is written down, even while its branch is being cut off.
        await asyncio.shield(self._persist(key, record))

    async def _persist(self, key: str, record: StepRecord) -> None:
        try:
            if self.writer is not None:
                await self.writer.step(self.job_id, key, self.attempt, record)
        except Fenced:
            log.warning("job %s was taken up by another process", self.job_id)
            self.halt()
            raise asyncio.CancelledError from None
        except Exception as error:
            # What was paid for can't be written down: stop and pay for nothing more; the job is taken up again later.
            self.break_off(error)
            raise asyncio.CancelledError from error
        await super().persist(key, record)

    async def perform(
        self, ctx: "RunCtx", fn: StepFn, args: tuple[Any, ...], pool: Pool, persist: Persist
    ) -> StepRecord:
        async def effect(*given: Any) -> Frozen:
            try:
                return await fn(*given)
            except ModelError as error:
                if error.fault != "key" or self.on_key_missing is None:
                    raise
                if not self._key_missing:
                    self._key_missing = True
                    self.on_key_missing(error)
                raise KeyMissing from error

        try:
            return await super().perform(ctx, effect, args, pool, persist)
        except KeyMissing:
            await asyncio.Event().wait()  # without a slot, until the job is halted
            raise

    def halt(self) -> None:
        """Cut everything off; nothing more is recorded."""
        self.halted = True
        if self.task is not None:
            self.task.cancel()

    def break_off(self, error: Exception) -> None:
        """Stop because nothing can be recorded; the job is taken up again later."""
        if not self.halted:
            log.error("job %s breaks off: %s", self.job_id, error)
            self.broken_off = True
            self.halt()
