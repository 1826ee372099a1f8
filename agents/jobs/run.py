"""One run of one job in this process: its clock, events, records and limits, and the body of a step.

`JobRun` keeps everything in memory: for tests, scoping and drafting, and where nothing may be stored. It replays: a step
whose record is there is read back and not done again. `durable_run` has the one whose records are stored.

What a step leaves behind, the recorded clock that research decides by, and how much time one call may take.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import AliasChoices, ConfigDict, Field

from agents.contracts.frozen import Frozen, digest
from agents.core.budget import Budget, Deadline, Spent, least
from agents.core.call_limits import ProcessLimits, Slots
from agents.core.errors import BudgetExceeded, DossierError, StepFailed
from agents.core.events import Event, Numbered, TraceContext, current_trace
from agents.core.port import Handlers, M, Pool
from agents.core.time_policy import margin_s as margin_of
from agents.core.time_policy import synthesis_reserve_s
from agents.research.steering import DROPPED, STOPPED, TIME_UP, Steering, SteeringSnapshot

if TYPE_CHECKING:
    from agents.jobs.ctx import RunCtx


class StepRecord(Frozen):
    """The result of a step: its value as JSON, or its failure; and the clock when it ended."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)  # earlier versions may have stored other fields

    value: str | None = None
    type: str = ""
    message: str = ""
    notice: str = ""
    retryable: bool = False
    fault: str = ""
    """The error's own word for what went wrong, where its class has a list of them."""
    elapsed: float
    """Seconds of the job's clock when the step ended."""
    steering: SteeringSnapshot = Field(SteeringSnapshot(), validation_alias=AliasChoices("steering", "said"))
    """The user's changes by then."""
    stopped: str = ""
    """The branch whose stopping or dropping cut this step off; empty when none did."""
    spent: Spent | None = None
    """What a model took in a step that failed."""
    asked: str = ""
    """Digest of the step's arguments: a later attempt reuses the record only for the same ones."""

    @classmethod
    def of(cls, error: DossierError, elapsed: float, steering: SteeringSnapshot = SteeringSnapshot()) -> "StepRecord":
        """Record how a step failed."""
        return cls(
            type=error.type if isinstance(error, StepFailed) else type(error).__name__,
            message=error.message if isinstance(error, StepFailed) else str(error),
            notice=error.notice,
            retryable=error.retryable,
            fault=error.fault,
            spent=error.spent,
            elapsed=elapsed,
            steering=steering,
        )

    def failure(self, key: str) -> StepFailed:
        return StepFailed(
            key, type_=self.type, message=self.message, notice=self.notice, retryable=self.retryable, fault=self.fault
        )


def stopped_record(path: str, elapsed: float, steering: SteeringSnapshot, *, dropped: bool = False) -> StepRecord:
    """Record that the user stopped or dropped a branch."""
    word = "dropped" if dropped else "stopped"
    return StepRecord(
        type=DROPPED if dropped else STOPPED, message=f"{word} by the user", notice=f"You {word} it.",
        elapsed=elapsed, steering=steering, stopped=path,
    )  # fmt: skip


def digest_of(args: tuple[object, ...]) -> str:
    """Digest those arguments of a step that are data."""

    def text(arg: object) -> str:
        if isinstance(arg, Frozen):
            return arg.model_dump_json()
        if isinstance(arg, str | int | float | tuple | list | None):
            return repr(arg)
        return str(getattr(arg, "name", ""))

    return digest("|".join(text(arg) for arg in args))


class Reached(Frozen):
    """Where a branch stands: the recorded clock and the user's changes. All that research decides by."""

    elapsed: float = 0.0
    steering: SteeringSnapshot = SteeringSnapshot()

    def later(self, other: "Reached | StepRecord") -> "Reached":
        """Take the later of both."""
        return Reached(elapsed=max(self.elapsed, other.elapsed), steering=self.steering.later(other.steering))


class BranchDropped(Exception):
    """A step was cut off because the user dropped a branch; goes up to that branch, and no further."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class Fenced(Exception):
    """A later attempt at the job has begun elsewhere: this one may write no more."""


class TimeLeft:
    """Time left of a budget and of what the user shortened the run to, without a reserve."""

    def __init__(self, run: "JobRun", budget: Budget, reserve_s: Callable[[], float]) -> None:
        self._run, self._budget, self._reserve_s = run, budget, reserve_s

    def seconds(self) -> float | None:
        now, shortened = self._run.now(), self._run.steering.limits.seconds
        left = least(self._budget.seconds_left(now), None if shortened is None else shortened - now)
        return None if left is None else max(0.0, left - self._reserve_s())

    def tokens_share(self) -> float | None:
        whole, left = self._run.budget.limits.tokens, self._run.budget.tokens_left()
        return None if whole is None or left is None else left / max(1, whole)


class TimeSlice:
    """A share of some time, bounded by what is left."""

    def __init__(self, left: Deadline, whole_s: Callable[[], float | None], share: float) -> None:
        self._left, self._whole_s, self._share = left, whole_s, share

    def seconds(self) -> float | None:
        whole = self._whole_s()
        return least(self._left.seconds(), None if whole is None else whole * self._share)

    def tokens_share(self) -> float | None:
        return self._left.tokens_share()


log = logging.getLogger(__name__)

ROOT = "job"


Clock = Callable[[], float]
"""Gives seconds that only ever grow."""


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


@dataclass
class JobRun:
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
        self._interruptible: dict[asyncio.Task[object], str] = {}
        self._timed: dict[asyncio.Timeout, Deadline] = {}

    async def run(self, kind: str, given: Frozen, gives: type[M], path: str = ROOT) -> M:
        from agents.jobs.ctx import RunCtx

        return gives.model_validate(await self.handlers[kind].run(RunCtx(self, path, self.budget), given))

    # ---- time

    def now(self) -> float:
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
        if key in self._emitted:
            return
        self._emitted.add(key)
        numbered = Numbered(seq=len(self.events) + 1, seconds=round(self.now(), 3), key=key, event=event)
        self.events.append(numbered)
        self.publish(numbered)

    def publish(self, numbered: Numbered) -> None:
        for listener in self.listeners:
            listener(numbered)

    def let_go(self) -> None:
        """Give back what only work needs, the handlers with all they have read; events stay, and limits, for who looks."""

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
        self, ctx: "RunCtx", fn: StepFn, args: tuple[object, ...], pool: Pool, persist: Persist
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

    async def _effect(self, ctx: "RunCtx", fn: StepFn, args: tuple[object, ...], pool: Pool) -> StepRecord:
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

    async def _watched(self, pool: Pool, fn: StepFn, args: tuple[object, ...]) -> Frozen:
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
