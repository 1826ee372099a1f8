"""One attempt at one job in this process: its clock, events, records and limits, and the body of a step.

Every step and event is written to the store before anything is made of it, where there is a writer; a run can be paused,
halted and taken up. Without a writer it is all in memory: for drafting, and for tests of research. A step whose record
is there is read back and not done again.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agents.contracts.frozen import Frozen, digest
from agents.core.budget import Budget, Deadline, Spent, least
from agents.core.errors import DossierError, Failure, ModelError
from agents.core.events import Event, JobChanged, NodeChanged, Numbered, ReportWritten, TraceContext, current_trace
from agents.core.port import Handlers, M, Pool, ProcessLimits, Slots
from agents.core.time_policy import margin_s as margin_of
from agents.core.time_policy import synthesis_reserve_s
from agents.research.steering import DROPPED, STOPPED, TIME_UP, Steering, SteeringSnapshot

if TYPE_CHECKING:
    from agents.jobs.ctx import RunCtx
    from agents.jobs.writer import Writer

log = logging.getLogger(__name__)

ROOT = "job"
Clock = Callable[[], float]  # gives seconds that only ever grow


class Reached(Frozen):
    """Where a job or branch stands: the recorded clock and the user's changes. All that research decides by."""

    elapsed: float = 0.0
    steering: SteeringSnapshot = SteeringSnapshot()

    def later(self, other: "Reached") -> "Reached":
        return Reached(elapsed=max(self.elapsed, other.elapsed), steering=self.steering.later(other.steering))


class StepRecord(Reached):
    """The result of a step: its value as JSON, or its failure; and where the job stood when it ended."""

    value: str = ""
    failure: Failure | None = None
    stopped: str = ""
    """The branch whose stopping or dropping cut this step off; empty when none did."""
    spent: Spent | None = None
    """What a model took in a step that failed."""
    asked: str = ""
    """Digest of the step's arguments: a later attempt reuses the record only for the same ones."""


class Fenced(Exception):
    """A later attempt at the job has begun elsewhere: this one may write no more."""


Listener = Callable[[Numbered], None]
StepFn = Callable[..., Awaitable[Frozen]]
Span = AbstractContextManager[Callable[[Frozen], object]]
"""What runs inside is traced; a call tells it its result."""
Spans = Callable[["Attempt", TraceContext, str], Span]
"""Makes the span of a place: of a job for its user, of a node by the kind of its branch, of a call by its pool."""


def untraced(run: "Attempt", place: TraceContext, about: str) -> Span:
    """Make no span: traces are off."""
    return nullcontext(lambda value: None)


@dataclass(eq=False)
class Attempt:
    """One attempt at one job."""

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
    span: Spans = untraced
    steering: Steering = field(default_factory=Steering)
    calls_made: int = 0  # effects really done, not read back
    again: int = 0  # how often the job was restarted or reworked
    attempt: int = 1
    writer: "Writer | None" = None
    watched: bool = False  # True where another process runs the job: its events are only read here
    on_key_missing: Callable[[ModelError], object] | None = None
    """Called once when a model's key is missing or refused."""

    base_s: float = 0.0  # where the job's clock stood when this process took it up
    gate: asyncio.Event = field(default_factory=asyncio.Event)  # shut while it is paused
    idle: asyncio.Event = field(default_factory=asyncio.Event)  # set while no call is in flight
    task: asyncio.Task[None] | None = None  # the job's work, while this process does it
    halted: bool = False
    broken_off: bool = False

    def __post_init__(self) -> None:
        self.slots = Slots(self.per_job)
        self.fresh: set[str] = set(self.record)
        """Steps that this attempt made; the others stem from earlier attempts."""
        self.stored = len(self.events)
        """How many events may be shown to others."""
        self.gate.set()
        self.idle.set()
        self._in_flight = 0
        # A stored job waits in the queue first, which takes none of its time.
        self._since = None if self.writer else self.clock()
        self._emitted = {numbered.key for numbered in self.events}
        self._used: set[str] = set()
        self._interruptible: dict[asyncio.Task[object], str] = {}
        self._timed: dict[asyncio.Timeout, Deadline] = {}

    async def run(self, kind: str, given: Frozen, gives: type[M], path: str = ROOT) -> M:
        from agents.jobs.ctx import RunCtx

        return gives.model_validate(await self.handlers[kind](RunCtx(self, path, self.budget), given))

    def take_up(self, events: list[Numbered], steps: Mapping[str, tuple[int, StepRecord]]) -> None:
        """Go on from the events and steps that are in the store."""
        self.events += events
        self.stored = len(self.events)
        self._emitted = {numbered.key for numbered in self.events}
        self.record |= {key: record for key, (_, record) in steps.items()}
        self.fresh |= {key for key, (attempt, _) in steps.items() if attempt == self.attempt}
        reached = [record.elapsed for record in self.record.values()] + [one.seconds for one in self.events[-1:]]
        self.base_s = max(self.steering.began_s, *reached, 0.0)

    async def work(self, research: Callable[[], Awaitable[None]]) -> None:
        """Do the job's work as a task that can be halted; the clock starts here."""
        self._since = self.clock()
        self.task = asyncio.ensure_future(research())
        await self.task

    @property
    def at_work(self) -> bool:
        return self.task is not None and not self.task.done()

    def let_go(self) -> None:
        """Give back what only work needs, the handlers with all they have read; events stay, and limits, for who looks."""
        if self.task is not None and not self.task.done():
            self.task.add_done_callback(lambda _: self.let_go())
            return
        # Whatever comes after is a run of its own, filled from the store.
        self.handlers, self.task, self.record, self.fresh = {}, None, {}, set()

    # ---- time

    def now(self) -> float:
        return self.base_s + (0.0 if self._since is None else max(0.0, self.clock() - self._since))

    def taken_s(self, at_s: float | None = None) -> float:
        """Seconds of the total that were taken when the clock stood at `at_s`, or are by now: a restart has it anew."""
        return max(0.0, (self.now() if at_s is None else at_s) - self.steering.began_s)

    @property
    def total_s(self) -> float | None:
        """Seconds in all, as far as the user has not shortened them; None when unlimited."""
        return least(self.budget.limits.seconds, self.steering.limits.seconds)

    @property
    def reserve_s(self) -> float:
        return synthesis_reserve_s(self.total_s)

    @property
    def margin_s(self) -> float:
        """Seconds kept for assembling and saving the report after the last call, so that it exists inside the total."""
        return margin_of(self.total_s)

    # ---- events

    def emit(self, key: str, event: Event) -> None:
        # Research that is being cut off may still emit on its way out: it must not undo "cancelled" or "paused".
        paused = not self.gate.is_set() and isinstance(event, JobChanged) and event.status == "running"
        if not (self.halted or self.watched or paused):
            self.announce(key, event)

    def announce(self, key: str, event: Event) -> None:
        """Append an event that was decided from outside, even where the job's own work was cut off."""
        # After a restart the states of the job and its nodes are new, and its report, even where they were emitted before.
        if self.again and isinstance(event, JobChanged | NodeChanged | ReportWritten):
            key = f"{key}~{self.again}"
        if key in self._emitted:
            return
        self._emitted.add(key)
        numbered = Numbered(seq=len(self.events) + 1, seconds=round(self.now(), 3), key=key, event=event)
        self.events.append(numbered)

        def stored() -> None:
            self.stored = max(self.stored, numbered.seq)
            for listener in self.listeners:
                listener(numbered)

        if self.writer is None:
            stored()
        else:
            self.writer.event(self.job_id, self.attempt, numbered, stored)

    # ---- steps

    def claim(self, full_key: str) -> None:
        """Take a step's or branch's key for this run; two of one name would share one record."""
        if full_key in self._used:
            raise RuntimeError(f"two steps of one job are named {full_key!r}")
        self._used.add(full_key)

    async def step(self, ctx: "RunCtx", key: str, fn: StepFn, args: tuple[object, ...], pool: Pool) -> StepRecord:
        """Read a step's record, or do the step so that stopping or dropping its branch cuts it off at once.

        What costs nothing is still done in a branch that was stopped: it is needed to write up what is there.
        It runs in the caller's own task: what a step cost is charged before the next one begins.
        """
        asked = digest_of(args)
        if not self._knows(key, asked):
            task = asyncio.current_task()
            if self.halted or task is None:
                raise asyncio.CancelledError
            if (cut_off := self._stopped(ctx.path, free=pool == "local")) is None:
                self._interruptible[task] = ctx.path
                try:
                    await self._perform(ctx, key, asked, fn, args, pool)
                except asyncio.CancelledError:
                    cut_off = self._stopped(ctx.path)
                    if self.halted or cut_off is None or task.uncancel():
                        raise
                finally:
                    self._interruptible.pop(task, None)
            if cut_off is not None and not self._knows(key, asked):
                await self._persist(key, asked, cut_off)
        record = self.record[key]
        if self.again and key not in self.fresh:
            # Recorded before the job was restarted: what was finished, stopped or shortened then begins anew.
            record = record.model_copy(update={"steering": SteeringSnapshot()})
        return record

    def _knows(self, key: str, asked: str) -> bool:
        """Tell whether a step need not be done: this attempt did it, or an earlier one did for the same arguments."""
        record = self.record.get(key)
        return record is not None and (key in self.fresh or record.asked == asked)

    async def _perform(
        self, ctx: "RunCtx", key: str, asked: str, fn: StepFn, args: tuple[object, ...], pool: Pool
    ) -> None:
        """Do a step's effect when it is its turn, and record it before the next call has its turn."""
        record = None
        while record is None:
            async with self._turn(pool, ctx.depth):
                if (record := await self._effect(ctx, fn, args, pool)) is not None:
                    await self._persist(key, asked, record)

    async def _persist(self, key: str, asked: str, record: StepRecord) -> None:
        record = record.model_copy(update={"asked": asked})
        if self.writer is not None:
            # What was paid for is written down, even while its branch is being cut off.
            await asyncio.shield(self._store(self.writer, key, record))
        self.record[key] = record
        self.fresh.add(key)

    async def _store(self, writer: "Writer", key: str, record: StepRecord) -> None:
        try:
            await writer.step(self.job_id, key, self.attempt, record)
        except Fenced:
            log.warning("job %s was taken up by another process", self.job_id)
            self.halt()
            raise asyncio.CancelledError from None
        except Exception as error:
            # What was paid for can't be written down: stop and pay for nothing more; the job is taken up again later.
            self.break_off(error)
            raise asyncio.CancelledError from error

    @asynccontextmanager
    async def _turn(self, pool: Pool, urgency: int) -> AsyncIterator[None]:
        """Wait for a slot among this job's calls and among all calls of the pool."""
        async with self.slots.slot(urgency):
            while True:
                await self.gate.wait()  # a paused job waits here, and holds none of the slots that others need
                async with self.limits.pools[pool].slot(urgency):
                    if not self.gate.is_set():
                        continue
                    self._in_flight += 1
                    self.idle.clear()
                    try:
                        yield
                        return
                    finally:
                        self._in_flight -= 1
                        if not self._in_flight:
                            self.idle.set()

    async def _effect(self, ctx: "RunCtx", fn: StepFn, args: tuple[object, ...], pool: Pool) -> StepRecord | None:
        """Do a step; None where a model's key is missing or refused, so that nothing false is recorded of it."""
        cut = asyncio.timeout(None)
        try:
            if pool == "model":
                ctx.budget.check_spending()  # time is each call's own time-out
            self.calls_made += 1
            async with cut:
                if deadline := next((arg for arg in args if isinstance(arg, Deadline)), None):
                    self._timed[cut] = deadline
                    self.hasten()
                with self.span(self, current_trace(), pool) as tell:
                    done = await fn(*args)
                    tell(done)
            return self._ended(done.model_dump_json())
        except DossierError as error:
            if isinstance(error, ModelError) and error.fault == "key" and self.on_key_missing is not None:
                if self.gate.is_set():
                    self.gate.clear()
                    self.on_key_missing(error)
                return None
            return self._ended(failure=Failure.of(error), spent=error.spent)
        except Exception as error:  # the one place where a step's failure of any kind becomes data
            if cut.expired():
                said, notice = "cut off: the user shortened the run", "You shortened the run."
                return self._ended(failure=Failure(type=TIME_UP, message=said, notice=notice))
            log.exception("step failed: %s", ctx.path)
            return self._ended(failure=Failure.of(error))
        finally:
            self._timed.pop(cut, None)

    def _ended(
        self, value: str = "", failure: Failure | None = None, *, spent: Spent | None = None, stopped: str = ""
    ) -> StepRecord:
        """Record what a step came to, and where the job stands."""
        return StepRecord(
            value=value, failure=failure, spent=spent, stopped=stopped, elapsed=self.now(), steering=self.steering.snapshot()
        )  # fmt: skip

    # ---- cutting off

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

    def cut(self, above: str) -> None:
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

    def _stopped(self, path: str, *, free: bool = False) -> StepRecord | None:
        """Record that the user dropped or stopped the branch, or one above it; None when not. The `free` heed dropping only."""
        dropped = self.steering.dropped_above(path)
        above = dropped or self.steering.stopped_above(path)
        if not above or (free and not dropped):
            return None
        kind, word = (DROPPED, "dropped") if dropped else (STOPPED, "stopped")
        failure = Failure(type=kind, message=f"{word} by the user", notice=f"You {word} it.")
        return self._ended(failure=failure, stopped=above)


def digest_of(args: tuple[object, ...]) -> str:
    """Digest those arguments of a step that are data."""

    def text(arg: object) -> str:
        if isinstance(arg, Frozen):
            return arg.model_dump_json(exclude={"minutes_left"})  # an attempt that has its time anew asks the same
        if isinstance(arg, str | int | float | tuple | list | None):
            return repr(arg)
        return str(getattr(arg, "name", ""))

    return digest("|".join(text(arg) for arg in args))
