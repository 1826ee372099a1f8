"""One attempt at one job in this process that the job store can go on from.

Every step and event is written to the store before anything is made of it; the run can be paused, halted and taken up.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agents.contracts.frozen import Frozen
from agents.core.errors import ModelError
from agents.core.events import Event, JobChanged, NodeChanged, Numbered
from agents.core.port import Pool
from agents.jobs.run import Fenced, JobRun, Persist, StepFn, StepRecord

if TYPE_CHECKING:
    from agents.jobs.ctx import RunCtx
    from agents.jobs.writer import Writer

log = logging.getLogger(__name__)


class KeyMissing(asyncio.CancelledError):
    """A model's key is missing or refused: the call is cut off, so that nothing false is recorded of it."""


@dataclass
class DurableRun(JobRun):
    """One attempt at one job, every step and event of it in the job store."""

    writer: "Writer | None" = None
    watched: bool = False
    """True where another process runs the job: its events are only read here."""
    on_key_missing: Callable[[ModelError], object] | None = None
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

    def let_go(self) -> None:
        if self.task is not None and not self.task.done():
            self.task.add_done_callback(lambda _: self.let_go())
            return
        # Whatever comes after is a run of its own, filled from the store.
        self.handlers, self.task = {}, None
        self.record.clear()
        self.fresh.clear()

    @property
    def at_work(self) -> bool:
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
        self, ctx: "RunCtx", fn: StepFn, args: tuple[object, ...], pool: Pool, persist: Persist
    ) -> StepRecord:
        async def effect(*given: object) -> Frozen:
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
