"""A durable job's attempt in this process: clock, gate, budgets, and what can be cut off. Knows no engine."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from pydantic import ConfigDict

from agents.contracts.frozen import Frozen, digest
from agents.core.budget import Budget, Limits, Usage
from agents.core.errors import ModelError
from agents.core.events import Event, JobChanged, NodeChanged, Numbered
from agents.core.port import Pool
from agents.jobs.journal import Journal
from agents.jobs.records import Reached, StepRecord
from agents.jobs.run_state import Run

log = logging.getLogger(__name__)

ROOT = "job"


class KeyLacks(asyncio.CancelledError):
    """A call could not be made for want of a key that is accepted: cut off, so that nothing false is recorded of it."""


class BranchBroken(Exception):
    """A branch ended on an error that nobody foresaw; its trace is in the log."""


def asked_for(args: tuple[Any, ...]) -> str:
    """Name what a step was asked for by its arguments that are data."""
    return digest("|".join(_said(arg) for arg in args))


def _said(arg: object) -> str:
    if isinstance(arg, Frozen):
        return arg.model_dump_json()
    if isinstance(arg, str | int | float | tuple | list | None):
        return repr(arg)
    return str(getattr(arg, "name", ""))


class Level(Frozen):
    """One level of the nested budgets."""

    name: str
    seconds: float | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    calls: int | None = None
    opened_at_s: float = 0.0


class Task(Frozen):
    """What a workflow is given: which branch of which job, from where on the clock, with which budgets."""

    model_config = ConfigDict(extra="ignore")  # what earlier versions put into the queue may hold fields that are gone

    job: str
    attempt: int
    path: str = ROOT
    kind: str = ""
    given: str = ""
    reached: Reached = Reached()
    levels: tuple[Level, ...] = ()


class Done(Frozen):
    """What a branch came to, as its workflow's result."""

    step: StepRecord
    key: str = ""
    """Where it failed."""
    broken: bool = False
    usage: Usage = Usage()


@dataclass
class DurableRun(Run):
    """One attempt at one job, in this process."""

    attempt: int = 1
    journal: Journal | None = None
    base_s: float = 0.0
    """Where the job's clock stood when this process took it up."""
    fresh: set[str] = field(default_factory=set)
    """Steps of the record that this attempt made; the others stem from earlier attempts."""
    find: Callable[[str], Awaitable[StepRecord | None]] | None = None
    """Looks a step up in the store, where another machine may have put it."""
    budgets: dict[str, Budget] = field(default_factory=dict)
    watched: bool = False
    """True where another process runs the job: what happens is told there, and here only read."""
    on_key_lacking: Callable[[ModelError], None] | None = None
    """Told once when a model's key is missing or refused; without it such a call is a failed step."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.key_lacks = False
        self.kept = len(self.events)
        self.gate, self.in_flight, self.idle = asyncio.Event(), 0, asyncio.Event()
        self.gate.set()
        self.idle.set()
        self.budgets[ROOT] = self.budget
        self.lived: set[str] = set()
        self.at_work, self.broken_off = 0, False
        self._since: float | None = None

    def take_up(self, steps: dict[str, tuple[int, StepRecord]]) -> None:
        """Go on from events and steps that were kept before."""
        self.kept = len(self.events)
        self._emitted = {numbered.key for numbered in self.events}
        self.record |= {key: record for key, (_, record) in steps.items()}
        self.fresh |= {key for key, (attempt, _) in steps.items() if attempt == self.attempt}
        reached = [record.elapsed for record in self.record.values()] + [one.seconds for one in self.events[-1:]]
        self.base_s = max(reached, default=0.0)

    @contextmanager
    def alive(self, path: str) -> Iterator[None]:
        """Work on a branch here. The first starts the clock: waiting in the queue takes none of the job's time."""
        self._since = self.clock() if self._since is None else self._since
        self.lived.add(path)
        self.at_work += 1
        try:
            yield
        finally:
            self.at_work -= 1

    def break_off(self, error: Exception) -> None:
        """Stop because nothing can be recorded; the job is taken up again later."""
        if not self.halted:
            log.error("job %s breaks off: %s", self.job_id, error)
            self.broken_off = True
            self.halt()

    def now(self) -> float:
        return self.base_s + (0.0 if self._since is None else max(0.0, self.clock() - self._since))

    @property
    def visible(self) -> int:
        return self.kept

    def emit(self, key: str, event: Event) -> None:
        # Research that is being cut off may still speak on its way out: it must not unsay "cancelled" or "paused".
        if (
            self.halted
            or self.watched
            or (not self.gate.is_set() and isinstance(event, JobChanged) and event.status == "running")
        ):
            return
        self.say(key, event)

    def say(self, key: str, event: Event) -> None:
        """Tell what was decided about the job from outside: that holds also where its work was cut off."""
        # From a restart on, what the job says of itself is new even where it said it before.
        told_anew = isinstance(event, JobChanged | NodeChanged)
        super().emit(f"{key}~{self.again}" if self.again and told_anew else key, event)

    def tell(self, numbered: Numbered) -> None:
        def kept() -> None:
            self.kept = max(self.kept, numbered.seq)
            super(DurableRun, self).tell(numbered)

        if self.journal is not None:
            self.journal.event(self.job_id, numbered, kept)

    @asynccontextmanager
    async def turn(self, pool: Pool, urgency: int) -> AsyncIterator[None]:
        async with self.slots.slot(urgency):
            while True:
                await self.gate.wait()  # a paused job waits here, and holds none of the places that others need
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

    def knows(self, key: str, asked: str) -> bool:
        """Tell whether a step need not be done: it was, or an earlier attempt did it and was asked for the same."""
        record = self.record.get(key)
        return record is not None and (key in self.fresh or record.asked == asked)

    async def keep(self, key: str, record: StepRecord) -> None:
        """Keep a step's record before anything is made of it."""
        try:
            if self.journal is not None:
                await self.journal.step(self.job_id, key, self.attempt, record)
        except Exception as error:
            # What was paid for can't be written down: stop here and pay for nothing more; a restart goes on from here.
            self.break_off(error)
            raise asyncio.CancelledError from error
        self.record[key] = record
        self.fresh.add(key)

    def heeding_keys(self, fn: Callable[..., Awaitable[Frozen]]) -> Callable[..., Awaitable[Frozen]]:
        """Make a step's effect such that a key which is missing or refused stops the job instead of failing the step."""

        async def effect(*args: Any) -> Frozen:
            try:
                return await fn(*args)
            except ModelError as error:
                if error.fault != "key" or self.on_key_lacking is None:
                    raise
                if not self.key_lacks:
                    self.key_lacks = True
                    self.on_key_lacking(error)
                raise KeyLacks from error

        return effect

    async def parked(self, work: Awaitable[StepRecord]) -> StepRecord:
        """Do a step's work; for want of a key it waits here, holding nobody's place, until the job is halted."""
        try:
            return await work
        except KeyLacks:
            await asyncio.Event().wait()
            raise

    def halt(self) -> None:
        """Cut everything off; nothing more is recorded."""
        self.halted = True
        self.cut(ROOT)

    def open_budget(self, levels: Sequence[Level]) -> Budget:
        """Open the innermost of these budgets, or find it open: branches of one run share what is above them."""
        budget = self.budget
        for level in levels:
            found = self.budgets.get(level.name)
            if found is None:
                limits = Limits(level.seconds, level.tokens, level.cost_usd, level.calls)
                found = budget.share(limits, name=level.name, elapsed_s=level.opened_at_s)
                self.budgets[level.name] = found
            budget = found
        return budget


def workflow_id(task: Task) -> str:
    """Name the workflow of a branch: job, attempt, path."""
    return f"{task.job}~{task.attempt}{task.path.removeprefix(ROOT)}"
