"""The job port in memory: for tests, for scoping and drafting, and where nothing may be kept.

It keeps the rules of a durable engine: each step's result goes through JSON before it is used, is recorded under its
full key, and is read back from the record on a replay, which then makes no call at all.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from agents.budget import Budget, Limits
from agents.contracts.base import Frozen
from agents.errors import DossierError, StepFailed
from agents.jobs.port import Ctx, M, Pool
from agents.jobs.running import Clock, PortCtx, Run, StepRecord, stopped_record

__all__ = ["Clock", "JobRun", "MemoryCtx", "StepRecord"]


@dataclass
class JobRun(Run):
    """One run of one job, all of it in this process."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._branches: dict[str, asyncio.Task[Any]] = {}

    def stop_branch(self, path: str) -> bool:
        self.steering.drop(path)
        task = self._branches.get(path)
        return task is not None and task.cancel()

    def register(self, path: str, task: asyncio.Task[Any]) -> None:
        """Remember who works on a branch, so that it can be stopped."""
        self._branches[path] = task

    async def run(self, kind: str, given: Frozen, gives: type[M], path: str = "job") -> M:
        """Run the job's root handler to its end."""
        handler = self.handlers[kind]
        ctx: Ctx = MemoryCtx(self, path, self.budget, elapsed=0.0, depth=0)
        return gives.model_validate(await handler.run(ctx, given))


class MemoryCtx(PortCtx):
    """`Ctx` in memory (see `agents.jobs.port`)."""

    run: JobRun

    def __init__(self, run: JobRun, path: str, budget: Budget, *, elapsed: float, depth: int) -> None:
        super().__init__(run, path, budget, elapsed=elapsed, depth=depth)

    async def recorded(
        self, name: str, fn: Callable[..., Awaitable[Frozen]], args: tuple[Any, ...], pool: Pool
    ) -> StepRecord:
        full_key = f"{self.path}#{name}"
        step = self.run.record.get(full_key)
        if step is None:
            step = self.run.record[full_key] = await self.run.perform(self, fn, args, pool)
        return step

    async def branch(
        self, kind: str, key: str, given: Frozen, gives: type[M], limits: Limits, elapsed: float, finishing: bool
    ) -> M:
        path = f"{self.path}/{key}"
        self.run.claim(path)
        handler = self.run.handlers[kind]
        budget = self.budget.share(limits, name=path, elapsed_s=elapsed)
        ctx = MemoryCtx(self.run, path, budget, elapsed=elapsed, depth=self.depth + 1)
        ctx.reached(elapsed, finishing)
        try:
            out = gives.model_validate_json((await handler.run(ctx, given)).model_dump_json())
        except StepFailed:
            raise
        except DossierError as error:
            raise StepFailed(
                path, type_=type(error).__name__, message=str(error), notice=error.notice, retryable=error.retryable
            ) from error
        finally:
            self.reached(ctx.elapsed, ctx.finishing)
        return out

    async def one_of(
        self, kind: str, key: str, given: Frozen, gives: type[M], limits: Limits, elapsed: float, finishing: bool
    ) -> M | StepFailed:
        path = f"{self.path}/{key}"
        if stopped := self.run.record.get(f"{path}#stopped"):
            return stopped.failure(f"{path}#stopped")
        task = asyncio.current_task()
        if task is not None:
            self.run.register(path, task)
        try:
            return await super().one_of(kind, key, given, gives, limits, elapsed, finishing)
        except asyncio.CancelledError:
            if path not in self.run.steering.stopped or task is None:
                raise
            # This branch alone was stopped: its siblings and the job go on.
            task.uncancel()
            record = self.run.record[f"{path}#stopped"] = stopped_record(path, self.run.now())
            return record.failure(f"{path}#stopped")
