"""The job port in memory: for tests, for scoping and drafting, and where nothing may be kept.

It keeps the rules of a durable engine: each step's result goes through JSON before it is used, is recorded under its
full key, and is read back from the record on a replay, which then makes no call at all.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from agents.contracts.frozen import Frozen
from agents.core.budget import Limits
from agents.core.errors import DossierError, StepFailed
from agents.core.port import Ctx, M, Pool
from agents.jobs.records import BranchDropped, Reached, StepRecord, stopped_record
from agents.jobs.run_state import Clock, PortCtx, Run
from agents.research.steering import DROPPED, STOPPED

__all__ = ["Clock", "JobRun", "MemoryCtx", "StepRecord"]


@dataclass
class JobRun(Run):
    """One run of one job, all of it in this process."""

    async def cuttable(self, path: str, work: Callable[[], Awaitable[StepRecord]], *, free: bool) -> StepRecord:
        # In the caller's own task, and not in one of its own: what a step cost is charged before the next one begins.
        if (record := self._stopped(path)) and not (free and record.type == STOPPED):
            return record
        task = asyncio.current_task()
        if task is None:
            return await work()
        self._cuttable[task] = path
        try:
            return await work()
        except asyncio.CancelledError:
            if (record := self._stopped(path)) is None or task.uncancel():
                raise
            return record
        finally:
            self._cuttable.pop(task, None)

    async def run(self, kind: str, given: Frozen, gives: type[M], path: str = "job") -> M:
        """Run the job's root handler to its end."""
        handler = self.handlers[kind]
        ctx: Ctx = MemoryCtx(self, path, self.budget, depth=0)
        return gives.model_validate(await handler.run(ctx, given))


class MemoryCtx(PortCtx):
    """`Ctx` in memory (see `agents.core.port`)."""

    run: JobRun

    async def recorded(
        self, name: str, fn: Callable[..., Awaitable[Frozen]], args: tuple[Any, ...], pool: Pool
    ) -> StepRecord:
        full_key = f"{self.path}#{name}"
        step = self.run.record.get(full_key)
        if step is None:
            free = pool == "local"
            step = await self.run.cuttable(self.path, lambda: self.run.perform(self, fn, args, pool), free=free)
            self.run.record[full_key] = step
        if step.type == DROPPED:
            self.reached(step)
            raise BranchDropped(step.stopped)
        return step

    async def branch(self, kind: str, key: str, given: Frozen, gives: type[M], limits: Limits, reached: Reached) -> M:
        path = f"{self.path}/{key}"
        self.run.claim(path)
        handler = self.run.handlers[kind]
        budget = self.budget.share(limits, name=path, elapsed_s=reached.elapsed)
        ctx = MemoryCtx(self.run, path, budget, depth=self.depth + 1, reached=reached)
        try:
            out = gives.model_validate_json((await handler.run(ctx, given)).model_dump_json())
        except StepFailed:
            raise
        except BranchDropped as dropped:
            if dropped.path != path:
                raise
            record = stopped_record(path, ctx.elapsed, ctx.so_far.said, dropped=True)
            raise record.failure(f"{path}#dropped") from dropped
        except DossierError as error:
            raise StepRecord.of(error, 0.0).failure(path) from error
        finally:
            self.reached(ctx.so_far)
        return out
