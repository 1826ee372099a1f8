"""The job port in memory: the first implementation, and the test double of every later one.

It keeps the rules of a durable engine: each step's result goes through JSON before it is used, is recorded under its
full key, and is read back from the record on a replay, which then makes no call at all.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from agents.budget import Budget, Deadline, Limits, synthesis_reserve_s
from agents.contracts.base import Frozen
from agents.errors import BudgetExceeded, DossierError, StepFailed
from agents.events import Charged, Event, Numbered
from agents.jobs.limits import ProcessLimits, Slots
from agents.jobs.port import Ctx, Handlers, M, Pool
from agents.jobs.steering import Steering

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


class Clock(Protocol):
    """Seconds that only ever grow."""

    def __call__(self) -> float:
        """Say how late it is."""
        ...


Listener = Callable[[Numbered], None]


@dataclass
class JobRun:
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
    steering: Steering = field(default_factory=Steering)
    """What the user says from outside."""
    calls_made: int = 0
    """Effects really done, not read back."""

    def __post_init__(self) -> None:
        self.started = self.clock()
        self.slots = Slots(self.per_job)
        self._emitted = {numbered.key for numbered in self.events}
        self._used: set[str] = set()
        self._branches: dict[str, asyncio.Task[Any]] = {}

    def now(self) -> float:
        """Seconds since the job's clock started."""
        return max(0.0, self.clock() - self.started)

    def stop_branch(self, path: str) -> bool:
        """Stop one branch and all below it, at once; False when it does not run."""
        self.steering.drop(path)
        task = self._branches.get(path)
        return task is not None and task.cancel()

    @property
    def reserve_s(self) -> float:
        """Seconds kept for writing."""
        return synthesis_reserve_s(self.budget.limits.seconds)

    @property
    def margin_s(self) -> float:
        """Seconds kept for assembling and saving the report after the last call, so that it exists inside the total."""
        total = self.budget.limits.seconds
        return 0.0 if total is None else min(MARGIN_CAP_S, MARGIN_SHARE * total)

    def emit(self, key: str, event: Event) -> None:
        """Append an event, once per key."""
        if key in self._emitted:
            return
        self._emitted.add(key)
        numbered = Numbered(seq=len(self.events) + 1, seconds=round(self.now(), 3), key=key, event=event)
        self.events.append(numbered)
        for listener in self.listeners:
            listener(numbered)

    def register(self, path: str, task: asyncio.Task[Any]) -> None:
        """Remember who works on a branch, so that it can be stopped."""
        self._branches[path] = task

    def claim(self, full_key: str) -> None:
        """Take a step's or branch's key for this run; two of one name would share one record."""
        if full_key in self._used:
            raise RuntimeError(f"two steps of one job are named {full_key!r}")
        self._used.add(full_key)

    async def run(self, kind: str, given: Frozen, gives: type[M], path: str = "job") -> M:
        """Run the job's root handler to its end."""
        handler = self.handlers[kind]
        ctx: Ctx = MemoryCtx(self, path, self.budget, elapsed=0.0, depth=0)
        return gives.model_validate(await handler.run(ctx, given))


class _Left:
    """Time left of a budget, read at the moment of asking."""

    def __init__(self, run: JobRun, budget: Budget, keep_s: float) -> None:
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


class MemoryCtx:
    """`Ctx` in memory (see `agents.jobs.port`)."""

    def __init__(self, run: JobRun, path: str, budget: Budget, *, elapsed: float, depth: int) -> None:
        self._run, self._depth = run, depth
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
        return None if self.left is None else max(0.0, self.left - self._run.reserve_s)

    @property
    def finishing(self) -> bool:
        return self._finishing

    async def call(
        self, kind: str, key: str, fn: Callable[..., Awaitable[M]], *args: Any, gives: type[M], pool: Pool = "model"
    ) -> M:
        full_key = f"{self.path}#{kind}:{key}"
        self._run.claim(full_key)
        step = self._run.record.get(full_key)
        if step is None:
            step = await self._do(fn, args, pool)
            self._run.record[full_key] = step
        self._elapsed = max(self._elapsed, step.elapsed)
        self._finishing = self._finishing or step.finishing
        if step.value is None:
            raise self._failure(full_key, step)
        value = gives.model_validate_json(step.value)
        if isinstance(value, Charged):
            self.budget.charge(value.usage)
            if event := value.as_event(self.path):
                self.emit(f"{kind}:{key}", event)
        return value

    @staticmethod
    def _failure(key: str, step: StepRecord) -> StepFailed:
        return StepFailed(key, type_=step.type, message=step.message, notice=step.notice, retryable=step.retryable)

    async def _do(self, fn: Callable[..., Awaitable[Frozen]], args: tuple[Any, ...], pool: Pool) -> StepRecord:
        run = self._run
        async with run.slots.slot(self._depth), run.limits.pools[pool].slot(self._depth):
            if pool == "model" and (refusal := self._used_up()):
                return refusal
            run.calls_made += 1
            try:
                value = (await fn(*args)).model_dump_json()
            except DossierError as error:
                return StepRecord(
                    type=type(error).__name__,
                    message=str(error),
                    notice=error.notice,
                    retryable=error.retryable,
                    elapsed=run.now(),
                    finishing=run.steering.finishing(self.path),
                )
            except Exception as error:  # the one place where a step's failure of any kind becomes data
                log.exception("step failed: %s", self.path)
                return StepRecord(
                    type=type(error).__name__,
                    message=f"{type(error).__name__} in a step",
                    notice=DossierError.notice,
                    elapsed=run.now(),
                    finishing=run.steering.finishing(self.path),
                )
            return StepRecord(value=value, elapsed=run.now(), finishing=run.steering.finishing(self.path))

    def _used_up(self) -> StepRecord | None:
        """Refuse a call for which no tokens or money are left; time is each call's own time-out."""
        try:
            self.budget.check_spending()
        except BudgetExceeded as error:
            return StepRecord(
                type="BudgetExceeded", message=str(error), notice=error.notice, elapsed=self._run.now(),
                finishing=self._run.steering.finishing(self.path),
            )  # fmt: skip
        return None

    def within(self, share: float) -> Deadline:
        """Time for one call that may take `share` of the whole time, and never more than is left for collecting."""
        return _Slice(self.deadline, self._run.budget.limits.seconds, share)

    def writing(self, share: float) -> Deadline:
        """Time for a writer that may use `share` of the synthesis reserve beside what is left for collecting."""
        return _Left(self._run, self.budget, self._run.margin_s + (1 - share) * self._run.reserve_s)

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

        return await _side_by_side([one(item) for item in items])

    async def child(self, kind: str, key: str, given: Frozen, *, gives: type[M], limits: Limits = Limits()) -> M:
        return await self._branch(kind, key, given, gives, limits, self._elapsed, self._finishing)

    async def _branch(
        self, kind: str, key: str, given: Frozen, gives: type[M], limits: Limits, elapsed: float, finishing: bool
    ) -> M:
        path = f"{self.path}/{key}"
        self._run.claim(path)
        handler = self._run.handlers[kind]
        budget = self.budget.share(limits, name=path, elapsed_s=elapsed)
        ctx = MemoryCtx(self._run, path, budget, elapsed=elapsed, depth=self._depth + 1)
        ctx._finishing = finishing
        try:
            out = gives.model_validate_json((await handler.run(ctx, given)).model_dump_json())
        except StepFailed:
            raise
        except DossierError as error:
            raise StepFailed(
                path, type_=type(error).__name__, message=str(error), notice=error.notice, retryable=error.retryable
            ) from error
        finally:
            self._elapsed = max(self._elapsed, ctx.elapsed)
            self._finishing = self._finishing or ctx.finishing
        return out

    async def children(
        self, kind: str, items: Sequence[tuple[str, Frozen]], *, gives: type[M], limits: Limits = Limits()
    ) -> list[M | StepFailed]:
        return await self.children_of([(kind, key, given) for key, given in items], gives=gives, limits=limits)

    async def children_of(
        self, items: Sequence[tuple[str, str, Frozen]], *, gives: type[M], limits: Limits = Limits()
    ) -> list[M | StepFailed]:
        # All branches start from the clock as it stands now: on a replay the first would else move it for the second.
        elapsed, finishing = self._elapsed, self._finishing

        async def one(kind: str, key: str, given: Frozen) -> M | StepFailed:
            path = f"{self.path}/{key}"
            if stopped := self._run.record.get(f"{path}#stopped"):
                return self._failure(f"{path}#stopped", stopped)
            task = asyncio.current_task()
            if task is not None:
                self._run.register(path, task)
            try:
                return await self._branch(kind, key, given, gives, limits, elapsed, finishing)
            except StepFailed as failure:
                return failure
            except asyncio.CancelledError:
                if path not in self._run.steering.stopped or task is None:
                    raise
                # This branch alone was stopped: its siblings and the job go on.
                task.uncancel()
                record = StepRecord(
                    type="Stopped", message="stopped by the user", notice="You stopped it.", elapsed=self._run.now()
                )
                self._run.record[f"{path}#stopped"] = record
                return self._failure(f"{path}#stopped", record)

        return await _side_by_side([one(*item) for item in items])

    def emit(self, key: str, event: Event) -> None:
        self._run.emit(f"{self.path}#{key}", event)


async def _side_by_side(branches: Sequence[Awaitable[M | StepFailed]]) -> list[M | StepFailed]:
    """Run branches at once and keep their order; an error that is no recorded failure cancels the others."""

    async def as_coroutine(branch: Awaitable[M | StepFailed]) -> M | StepFailed:
        return await branch

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(as_coroutine(branch)) for branch in branches]
    except BaseExceptionGroup as many:
        raise many.exceptions[0] from many
    return [task.result() for task in tasks]
