"""The job port on DBOS Transact: the only module that imports the engine.

One tree node is one child workflow with a stable id, one paid call is one step named `kind:key`. The engine keeps who
runs what, and the order of steps; what a step came to is kept in the job store under its full key, and the engine's own
record of the step holds only that key. So an answer is always found by its name and never by its position, a call that
was kept a moment before a crash is not made again, and a later attempt at a job can use what an earlier one found.
"""

import asyncio
import logging
import os
import socket
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import sqlalchemy as sa
from dbos import (
    DBOS,
    DBOSClient,
    DBOSConfig,
    DBOSPortableJSONSerializer,
    EnqueueOptions,
    SetEnqueueOptions,
    SetWorkflowID,
)
from dbos import error as engine_error
from sqlalchemy.exc import SQLAlchemyError

from agents.contracts.frozen import Frozen
from agents.core.budget import Budget, Limits
from agents.core.errors import ConfigError, DossierError, StepFailed
from agents.core.port import M, Pool
from agents.jobs.database import plain_url
from agents.jobs.enginefile import engine_file, no_cancelling
from agents.jobs.filelock import locked
from agents.jobs.live import (
    ROOT,
    BranchBroken,
    Done,
    DurableRun,
    Level,
    Task,
    asked_for,
    workflow_id,
)
from agents.jobs.records import BranchDropped, Reached, StepRecord, stopped_record
from agents.jobs.run_state import PortCtx
from agents.jobs.siblings import side_by_side
from agents.research.steering import DROPPED, Said

log = logging.getLogger(__name__)

CODE_VERSION = "research-1"
"""Raised by hand, and only when running jobs can no longer be replayed. The engine's own default, a hash of the sources,
would strand every running job at every change of a line."""
QUEUE = "jobs"
EPOCH = 1_767_225_600
"""2026 in seconds: turns are counted from there, since the engine takes no number above 2 to the 31st."""
ENGINE_ERRORS = (engine_error.DBOSException, SQLAlchemyError)
"""What says nothing about the job: the engine is being closed, or a database is away."""


class DurableCtx(PortCtx):
    """`Ctx` on the engine (see `agents.core.port`)."""

    run: DurableRun

    def __init__(self, run: DurableRun, task: Task, budget: Budget) -> None:
        super().__init__(run, task.path, budget, depth=task.path.count("/"), reached=task.reached)
        self.task = task

    async def recorded(
        self, name: str, fn: Callable[..., Awaitable[Frozen]], args: tuple[Any, ...], pool: Pool
    ) -> StepRecord:
        run, key, asked = self.run, f"{self.path}#{name}", asked_for(args)

        async def keep(record: StepRecord) -> None:
            await run.keep(key, record.model_copy(update={"asked": asked}))

        async def body() -> str:
            if not run.knows(key, asked):
                free, effect = pool == "local", run.heeding_keys(fn)
                record = await run.cuttable(
                    self.path, lambda: run.parked(run.perform(self, effect, args, pool, keep)), free=free
                )
                if record.stopped and not run.knows(key, asked):
                    await keep(record)
            return key

        noted = await DBOS.run_step_async({"name": name, "preemptible": True}, body)
        if noted != key:
            raise BranchBroken(f"the engine gave the record of {noted!r} for {key!r}")
        record = run.record.get(key) or (await run.find(key) if run.find else None)
        if record is None:
            raise BranchBroken(f"the record of {key!r} is gone")
        run.record[key] = record
        if run.again and key not in run.fresh:
            # Made before the job was restarted: what was finished, stopped or shortened then is begun anew.
            record = record.model_copy(update={"said": Said()})
        if record.type == DROPPED:
            self.reached(record)
            raise BranchDropped(record.stopped)
        return record

    async def branch(self, kind: str, key: str, given: Frozen, gives: type[M], limits: Limits, reached: Reached) -> M:
        path = f"{self.path}/{key}"
        self.run.claim(path)
        level = Level(
            name=path, seconds=limits.seconds, tokens=limits.tokens, cost_usd=limits.cost_usd, calls=limits.calls,
            opened_at_s=reached.elapsed,
        )  # fmt: skip
        task = self.task.model_copy(
            update={
                "path": path, "kind": kind, "given": given.model_dump_json(), "reached": reached,
                "levels": (*self.task.levels, level),
            }
        )  # fmt: skip
        with SetWorkflowID(workflow_id(task)):
            done = Done.model_validate(await _node(task.model_dump(mode="json")))
        self.reached(done.step)
        if path not in self.run.lived:
            # It ended before this process took the job up, or on another machine: what it spent is booked here.
            self.budget.charge(done.usage)
        if done.broken:
            raise BranchBroken(f"{path}: {done.step.message}")
        if done.step.type == DROPPED and done.step.stopped != path:
            raise BranchDropped(done.step.stopped)
        if done.step.value is None:
            raise done.step.failure(done.key)
        return gives.model_validate_json(done.step.value)

    async def children_of(
        self,
        items: Sequence[tuple[str, str, Frozen]],
        *,
        gives: type[M],
        limits: Limits = Limits(),
        own: Mapping[str, Limits] | None = None,
    ) -> list[M | StepFailed]:
        reached, escaped = self.so_far, list[Exception]()

        async def one(kind: str, key: str, given: Frozen) -> M | StepFailed:
            try:
                return await self.one_of(kind, key, given, gives, (own or {}).get(key, limits), reached)
            except (BranchDropped, BranchBroken) as error:
                # Held back until the others are done: a workflow that is cut off here would be left open for ever.
                escaped.append(error)
                return StepFailed(key, type_=type(error).__name__, message=str(error), notice="", retryable=False)

        results = await side_by_side([one(*item) for item in items])
        if escaped:
            raise escaped[0]
        return results


Home = Callable[[str, int], Awaitable["Host | None"]]
"""Finds or sets up the run of a job's attempt in this process; None when it shall not run (any more)."""


@dataclass
class Host:
    """A run, and what its root does from start to end."""

    run: DurableRun
    work: Callable[[DurableCtx], Awaitable[None]]


_home: Home | None = None
"""Set while an engine is open; the engine itself is one per process too."""


@DBOS.workflow(name="node")  # the one registered workflow; never rename it
async def _node(given: dict[str, Any]) -> dict[str, Any]:
    task = Task.model_validate(given)
    host = await _home(task.job, task.attempt) if _home else None
    if host is None or host.run.halted:
        raise asyncio.CancelledError
    run = host.run
    with run.alive(task.path):
        ctx = DurableCtx(run, task, run.open_budget(task.levels))
        try:
            if task.path == ROOT:
                await host.work(ctx)
                return {}
            done = await _branch(ctx, task)
            if run.journal is not None:
                await run.journal.flush()  # a branch that is done never tells its events again
        except Exception as error:
            if not (run.halted or isinstance(error, ENGINE_ERRORS)):
                raise
            # Not the job's fault: the engine or the database is away. Nothing is recorded, so it can be taken up again.
            run.break_off(error)
            raise asyncio.CancelledError from error
        return done.model_dump(mode="json")


async def _branch(ctx: DurableCtx, task: Task) -> Done:
    """Run a branch's handler; however it ends, its end is data."""
    handler = ctx.run.handlers[task.kind]
    value, key, broken, failure = None, task.path, False, StepRecord(elapsed=0.0)
    try:
        out = await handler.run(ctx, handler.takes.model_validate_json(task.given))
        value = out.model_dump_json()
    except BranchDropped as dropped:
        failure = stopped_record(dropped.path, ctx.elapsed, ctx.so_far.said, dropped=True)
        key = f"{dropped.path}#dropped"
    except StepFailed as error:
        failure, key = StepRecord.of(error, 0.0), error.key
    except DossierError as error:
        failure = StepRecord.of(error, 0.0)
    except Exception as error:
        if ctx.run.halted or isinstance(error, ENGINE_ERRORS):
            raise
        log.exception("branch %s of job %s broke", task.path, task.job)
        failure, broken = StepRecord(type=type(error).__name__, message=type(error).__name__, elapsed=0.0), True
    step = failure.model_copy(update={"value": value, "elapsed": ctx.elapsed, "said": ctx.so_far.said})
    return Done(step=step, key=key, broken=broken, usage=ctx.budget.spent)


class Engine:
    """The engine of this process: who runs, who waits, who is cut off."""

    def __init__(
        self,
        url: str,
        *,
        executor: str = "main",
        workers: int = 4,
        per_user: int = 2,
        poll_s: float = 0.2,
        runs: bool = True,
    ) -> None:
        self.url, self.executor, self.runs = plain_url(url), executor, runs
        self.workers, self.per_user, self.poll_s = workers, per_user, poll_s
        self._client: DBOSClient | None = None
        self._last = 0
        self._lock: IO[str] | None = None

    @property
    def place(self) -> str:
        """Name this process, for people."""
        return f"process {os.getpid()} on {socket.gethostname()}"

    async def open(self, home: Home) -> None:
        """Start the engine inside the running loop; jobs that a former process left are taken up by themselves.

        Raises:
            ConfigError: another process runs the jobs of this file, or the database can't be used.
        """
        global _home
        if not self.runs:
            try:
                # It may be here before any worker is.
                await asyncio.to_thread(DBOS.migrate, self.url)
                self._client = DBOSClient(system_database_url=self.url, serializer=DBOSPortableJSONSerializer())
            except ENGINE_ERRORS as error:
                raise ConfigError(f"The job queue can't be used: {' '.join(str(error).split())[:200]}") from error
            return
        config: DBOSConfig = {
            "name": "dossier", "application_version": CODE_VERSION, "executor_id": self.executor,
            "max_executor_threads": 32, "log_level": "ERROR", "serializer": DBOSPortableJSONSerializer(),
            "notification_listener_polling_interval_sec": self.poll_s, "run_admin_server": False,
        }  # type: ignore[typeddict-unknown-key]  # fmt: skip
        if self.url.startswith("sqlite:///"):
            self._lock = locked(Path(self.url.removeprefix("sqlite:///")), self.place)
            config["system_database_engine"] = engine_file(self.url)
        config["system_database_url"] = self.url
        engine_log = logging.getLogger("dbos")
        engine_log.addFilter(no_cancelling)
        if not engine_log.handlers:
            # Else the engine writes to the stream that standard error was just then, which may be closed by the next run.
            engine_log.addHandler(logging.NullHandler())
        _home = home
        try:
            # The queue is there before the engine looks: it looks again only a second later.
            await asyncio.to_thread(self._register, config.get("system_database_engine"))
            DBOS(config=config)
            DBOS.launch()
        except Exception as error:
            await self.close()
            raise ConfigError(f"The job engine can't start: {' '.join(str(error).split())[:200]}") from error

    def _register(self, engine: sa.Engine | None) -> None:
        client = DBOSClient(
            system_database_url=self.url, system_database_engine=engine, serializer=DBOSPortableJSONSerializer()
        )

        def register() -> None:
            client.register_queue(
                QUEUE, worker_concurrency=self.workers, partition_concurrency=self.per_user,
                polling_interval_sec=self.poll_s, on_conflict="always_update", application_name="dossier",
            )  # fmt: skip

        try:
            register()
        except SQLAlchemyError:
            # The engine's tables are not there, or of an older version of it: only then is it worth the time.
            DBOS.migrate(self.url)
            register()
        finally:
            if engine is None:
                client.destroy()

    async def close(self) -> None:
        """Stop the engine; what runs is cut off and taken up at the next start."""
        global _home
        if self._client is not None:
            await asyncio.to_thread(self._client.destroy)
            self._client = None
            return
        _home = None
        # The engine puts its threads in the place of the loop's own; others need some while those are being ended.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor())
        await asyncio.to_thread(DBOS.destroy)
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    async def enqueue(self, job: str, attempt: int, user: str) -> None:
        """Put a job's attempt into the queue; doing it again changes nothing."""
        task = Task(job=job, attempt=attempt)
        if self._client is not None:
            options: EnqueueOptions = {
                "workflow_name": "node", "queue_name": QUEUE, "workflow_id": workflow_id(task),
                "app_version": CODE_VERSION, "queue_partition_key": user or "-", "priority": self._turn(),
            }  # fmt: skip
            await self._client.enqueue_async(options, task.model_dump(mode="json"))
            return
        with (
            SetWorkflowID(workflow_id(task)),
            SetEnqueueOptions(queue_partition_key=user or "-", priority=self._turn()),
        ):
            await DBOS.enqueue_workflow_async(QUEUE, _node, task.model_dump(mode="json"))

    def _turn(self) -> int:
        """Number a job by when it came: the engine's clock on SQLite knows whole seconds only."""
        self._last = max(self._last + 1, int(time.time()) - EPOCH)
        return self._last

    async def cancel(self, job: str, attempt: int) -> None:
        """Cancel an attempt with all its branches."""
        await (self._client or DBOS).cancel_workflow_async(
            workflow_id(Task(job=job, attempt=attempt)), cancel_children=True
        )

    async def known(self, job: str, attempt: int) -> str | None:
        """Say how the engine sees an attempt; None when it does not know it."""
        name = workflow_id(Task(job=job, attempt=attempt))
        found = await (self._client or DBOS).list_workflows_async(
            workflow_ids=[name], load_input=False, load_output=False
        )
        return found[0].status if found else None

    async def queued(self) -> list[tuple[str, str]]:
        """List job and user of what waits, in the order it came."""
        waiting = await (self._client or DBOS).list_queued_workflows_async(
            queue_name=QUEUE, status="ENQUEUED", load_input=False
        )
        return [(one.workflow_id.split("~")[0], one.queue_partition_key or "") for one in waiting]

    async def stranded(self) -> list[tuple[str, int]]:
        """List job and attempt of what only another version of this program could run."""
        roots = await DBOS.list_workflows_async(
            status=["PENDING", "ENQUEUED"], has_parent=False, load_input=False, load_output=False
        )
        found = [one.workflow_id.split("~") for one in roots if one.app_version not in (CODE_VERSION, None)]
        return [(parts[0], int(parts[1])) for parts in found if len(parts) == 2]

    async def roots(self) -> list[tuple[str, int]]:
        """List job and attempt of all that is over."""
        ended = ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]
        roots = await (self._client or DBOS).list_workflows_async(
            status=ended, has_parent=False, load_input=False, load_output=False
        )
        found = [one.workflow_id.split("~") for one in roots]
        return [(parts[0], int(parts[1])) for parts in found if len(parts) == 2]

    async def forget(self, job: str, attempt: int) -> None:
        """Delete what the engine knows of an attempt and those before it; the job store keeps all that matters."""
        names = [workflow_id(Task(job=job, attempt=one)) for one in range(1, attempt + 1)]
        there = await (self._client or DBOS).list_workflows_async(
            workflow_ids=names, load_input=False, load_output=False
        )
        if there:
            await (self._client or DBOS).delete_workflows_async(
                [one.workflow_id for one in there], delete_children=True
            )
