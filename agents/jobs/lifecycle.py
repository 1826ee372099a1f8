"""Jobs that survive: queued fairly, run on the durable engine, paused, resumed, restarted, and found again later."""

import asyncio
import contextlib
import contextvars
import logging
import uuid
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

from agents.budget import Budget, Limits
from agents.contracts.job import OVER, JobStatus
from agents.contracts.outcome import Commission, Outcome
from agents.contracts.report import ReportDocument
from agents.errors import BadRequest, DossierError
from agents.events import JobChanged
from agents.jobs.database import Database, async_url
from agents.jobs.durable import CODE_VERSION, DurableCtx, Engine, Host
from agents.jobs.journal import Journal
from agents.jobs.limits import ProcessLimits
from agents.jobs.live import DurableRun
from agents.jobs.outcome_rows import rows_of
from agents.jobs.running import Clock, Run
from agents.jobs.service import Job, Jobs, Rebuild, Workbench
from agents.jobs.shelf import Shelf
from agents.jobs.steering import Steering
from agents.jobs.store import Spending, Store, StoredJob, WholeJob, Wishes, now

log = logging.getLogger(__name__)

DRAIN_S = 120.0
"""Seconds that calls in flight get when a job is paused; what takes longer is cut off, and made anew on resuming."""
REMEMBERED = 50
"""Jobs that are over and stay in memory; all others are read from the store when somebody asks for them."""
OPEN: tuple[JobStatus, ...] = ("queued", "running", "blocked")
WRITING = ("section", "lead", "frame", "reflector")
"""Kinds of steps that a rework does anew; what was searched, read and extracted stays."""
GONE_VERSION = "It was begun by another version of this program. Restart it: what it had found is used again."


@dataclass(frozen=True)
class Where:
    """Where jobs are kept and how they are run."""

    database_url: str
    engine_url: str
    executor: str = "main"
    workers: int = 4
    """Jobs at once in this process."""
    per_user: int = 2
    poll_s: float = 0.2
    runs: bool = True
    """False for a process that only puts jobs into the queue and watches them."""


class DurableJobs(Jobs):
    """All jobs of this process, and of those before it."""

    def __init__(
        self, shelf: Shelf, clock: Clock, where: Where, *, per_job: int = 6, limits: ProcessLimits | None = None
    ) -> None:
        super().__init__(shelf, clock, per_job=per_job, limits=limits)
        self.where = where
        self.engine = Engine(
            where.engine_url, executor=where.executor, workers=where.workers, per_user=where.per_user,
            poll_s=where.poll_s,
        )  # fmt: skip
        self.store, self.journal = Store(database := Database(where.database_url)), Journal(Store(database))
        self._ended: dict[str, asyncio.Event] = {}
        self._entered: dict[str, asyncio.Event] = {}
        self._benches: dict[str, Workbench] = {}
        self._errands: set[asyncio.Task[None]] = set()
        self._loading: dict[str, asyncio.Lock] = {}
        self._rebuild: Rebuild | None = None
        self.opened = False

    # ---- opening and closing

    async def open(self, rebuild: Rebuild) -> list[Job]:
        """Take up what a former process left: running jobs go on by themselves.

        Raises:
            ConfigError: the store can't be used, or another process runs its jobs.
        """
        self._rebuild = rebuild
        await self.store.database.open()
        self.journal.open()
        try:
            for row in reversed(await self.store.jobs(statuses=OPEN, limit=10_000)):
                if (whole := await self.store.job(row.id)) is not None:
                    await self._load(whole)
            await self.engine.open(self._host)
        except BaseException:
            await self.journal.close()
            await self.store.database.close()
            raise
        self.opened = True
        await self._settle()
        return list(self._jobs.values())

    async def _settle(self) -> None:
        """Put right what the former process had no time for."""
        for job_id, attempt in await self.engine.stranded():
            job = self._jobs.get(job_id)
            if job is not None and attempt == self._run(job).attempt and not job.over:
                changed = JobChanged(status="blocked", stage=job.stage, blocked_reason="version", note=GONE_VERSION)
                job.run.emit(f"job#version~{attempt}", changed)
        for job in list(self._jobs.values()):
            run = self._run(job)
            if job.status in {"queued", "running"} and await self.engine.known(job.id, run.attempt) is None:
                await self.engine.enqueue(job.id, run.attempt, job.owner)

    async def close(self) -> None:
        """Let go of everything; what runs is cut off here and goes on at the next start."""
        if not self.opened:
            return
        self.opened = False
        for errand in list(self._errands):
            errand.cancel()
        for job in self._jobs.values():
            self._run(job).halt()
        await asyncio.sleep(0)
        await self.journal.close()
        await self.engine.close()
        for bench in self._benches.values():
            bench.close()
        for job in self._jobs.values():
            if job.task is not None:
                job.task.cancel()
        await self.store.database.close()

    # ---- starting and finding

    def start(
        self, commission: Commission, bench: Workbench, *, owner: str = "", title: str = "", budget: Limits = Limits()
    ) -> Job:
        """Put a job into the queue. It belongs to nobody's session, and to no process either."""
        row = self._row(owner, title)
        job = self._live(WholeJob(row=row, commission=commission, spending=Spending.of(budget), wishes=Wishes()), bench)

        async def submit() -> None:
            await self.store.add(row, commission, Spending.of(budget))
            self._entered[job.id].set()
            await self.engine.enqueue(job.id, 1, owner)

        self._errand(submit(), job)
        return job

    async def start_once(
        self, request_key: str, commission: Commission, bench: Workbench, *, owner: str = "", title: str = "",
        budget: Limits = Limits(),
    ) -> Job:  # fmt: skip
        """Start a job under the caller's own key, kept before this returns; the same key gives the same job."""
        row, spending = self._row(owner, title), Spending.of(budget)
        kept = await self.store.add(row, commission, spending, request_key)
        if kept.id != row.id and (found := await self.find(kept.id, owner)) is not None:
            bench.close()
            return found
        job = self._live(WholeJob(row=row, commission=commission, spending=spending, wishes=Wishes()), bench)
        self._entered[job.id].set()
        await self.engine.enqueue(job.id, 1, owner)
        return job

    async def find(self, job_id: str, owner: str = "") -> Job | None:
        live = self._jobs.get(job_id)
        if live is not None:
            return live if live.owner == owner else None
        whole = await self.store.job(job_id) if self.opened else None
        if whole is None or whole.row.owner != owner:
            return None
        return await self._load(whole) if not whole.row.over else await self._shown(whole)

    async def position(self, job: Job) -> int:
        """Say how many jobs start before this one: users take turns, each user's own jobs in the order they came."""
        if job.status != "queued":
            return 0
        turns: dict[str, int] = {}
        order: list[tuple[int, int, str]] = []
        for arrival, (job_id, user) in enumerate(await self.engine.queued()):
            turns[user] = turns.get(user, 0) + 1
            order.append((turns[user], arrival, job_id))
        ahead = [job_id for _, _, job_id in sorted(order)]
        return ahead.index(job.id) if job.id in ahead else 0

    def _row(self, owner: str, title: str) -> StoredJob:
        at = now()
        return StoredJob(
            id=uuid.uuid4().hex, owner=owner, title=title, status="queued", stage="planning", blocked_reason=None,
            grade=None, note="", attempt=1, again=0, executor="", code_version=CODE_VERSION, created=at, updated=at,
        )  # fmt: skip

    async def _load(self, whole: WholeJob) -> Job:
        """Set up a job from the store, to be run or to wait."""
        async with self._loading.setdefault(whole.row.id, asyncio.Lock()):
            known = self._jobs.get(whole.row.id)
            if known is not None and self._run(known).attempt >= whole.row.attempt:
                return known
            bench = self._bench(whole)
            job = self._live(whole, bench)
            self._entered[job.id].set()
            if whole.row.blocked_reason == "needs_rework":
                job.report = await self.store.report(job.id)
                self._ended[job.id].set()
            run = self._run(job)
            run.events += await self.store.events(job.id)
            run.take_up(await self.store.steps(job.id))
            return job

    def _bench(self, whole: WholeJob) -> Workbench:
        if self._rebuild is None:
            raise DossierError("the jobs were not opened")
        return self._rebuild(whole.commission, whole.wishes.steering())

    def _live(self, whole: WholeJob, bench: Workbench) -> Job:
        row = whole.row
        run = DurableRun(
            job_id=row.id, handlers=bench.handlers, budget=Budget(whole.spending.limits(), name="job"),
            clock=self.clock, limits=self.limits, per_job=self.per_job, steering=bench.steering, attempt=row.attempt,
            again=row.again, journal=self.journal, find=lambda key: self.store.step(row.id, key),
        )  # fmt: skip
        job = Job(
            id=row.id, owner=row.owner, title=row.title, commission=whole.commission, run=run,
            created=row.created.isoformat(timespec="seconds"), status=row.status, stage=row.stage,
            blocked_reason=row.blocked_reason,
        )  # fmt: skip
        run.listeners.append(lambda numbered: self._heard(job, numbered))
        self._jobs[row.id], self._benches[row.id] = job, bench
        ended = self._ended[row.id] = asyncio.Event()
        self._entered[row.id] = asyncio.Event()
        job.task = asyncio.get_running_loop().create_task(
            _until(ended), context=contextvars.Context(), name=f"job-{row.id}"
        )
        return job

    async def _shown(self, whole: WholeJob) -> Job:
        """Set up a job that is over, to be looked at."""
        row = whole.row
        run = Run(
            job_id=row.id, handlers={}, budget=Budget(whole.spending.limits(), name="job"), clock=lambda: 0.0,
            limits=self.limits, events=await self.store.events(row.id),
        )  # fmt: skip
        run.started = -run.events[-1].seconds if run.events else 0.0
        job = Job(
            id=row.id, owner=row.owner, title=row.title, commission=whole.commission, run=run,
            created=row.created.isoformat(timespec="seconds"), status=row.status, stage=row.stage,
            blocked_reason=row.blocked_reason, report=await self.store.report(row.id),
        )  # fmt: skip
        if row.status == "failed":
            job.error = BadRequest(row.note or DossierError.notice)
        return job

    # ---- running

    async def _host(self, job_id: str, attempt: int) -> Host | None:
        """Let the engine run an attempt, unless it is over, paused, or a later attempt has taken its place."""
        job = self._jobs.get(job_id)
        if job is None or self._run(job).attempt < attempt:
            whole = await self.store.job(job_id)
            if whole is None or whole.row.attempt != attempt or whole.row.status not in OPEN:
                return None
            job = await self._load(whole)
        run = self._run(job)
        if run.attempt != attempt or job.status in {*OVER, "blocked"}:
            self._errand(self.engine.cancel(job_id, attempt))
            return None
        return Host(run=run, work=lambda ctx: self._carried(job, ctx))

    async def _carried(self, job: Job, ctx: DurableCtx) -> None:
        research = ctx.run.handlers["research"]

        async def work() -> Outcome:
            return Outcome.model_validate(await research.run(ctx, job.commission))

        self.journal.change(job.id, executor=self.where.executor)
        if job.status == "queued" and ctx.run.attempt > 1:
            ctx.run.emit(f"job#running~{ctx.run.attempt}", JobChanged(status="running", stage=job.stage))
        await self._carry_out(job, self._benches[job.id], work)
        await self.journal.flush()
        self._over(job)

    def release(self, job: Job) -> bool:
        return job.blocked_reason == "needs_rework" and super().release(job)

    async def _keep(self, job: Job, outcome: Outcome, document: ReportDocument) -> None:
        await super()._keep(job, outcome, document)
        await self.store.keep_outcome(job.id, rows_of(job.id, self._run(job).attempt, outcome, document))
        self.journal.change(
            job.id, grade=document.grade, title=document.title, commission=job.commission.model_dump_json()
        )

    def _over(self, job: Job) -> None:
        self._ended[job.id].set()
        self._benches[job.id].close()
        job.moved()
        over = [one.id for one in self._jobs.values() if one.status in OVER]
        for job_id in over[:-REMEMBERED]:
            for memory in (self._jobs, self._ended, self._entered, self._benches, self._loading):
                memory.pop(job_id, None)

    # ---- steering

    def stop(self, job: Job) -> None:
        if job.status not in OVER:
            self._errand(self._cancel(job), job)

    def finish(self, job: Job, path: str = "job") -> None:
        super().finish(job, path)
        self._keep_steering(job)

    def stop_branch(self, job: Job, path: str) -> bool:
        job.run.steering.drop(path)
        self._keep_steering(job)
        return super().stop_branch(job, path)

    def guide(self, job: Job, text: str) -> None:
        super().guide(job, text)
        self._keep_steering(job)

    def _keep_steering(self, job: Job) -> None:
        self.journal.change(job.id, steering=Wishes.of(job.run.steering).model_dump_json())

    async def _cancel(self, job: Job) -> None:
        await self._entered[job.id].wait()
        run = self._run(job)
        run.halt()
        self._benches[job.id].close()
        run.emit(f"job#cancelled~{run.attempt}", JobChanged(status="cancelled", stage=job.stage, note="Stopped."))
        await self.journal.flush()
        await self.engine.cancel(job.id, run.attempt)
        self._over(job)

    async def pause(self, job: Job) -> None:
        """Let the calls in flight finish, start none, and give the place to others; the job's clock stands still.

        Raises:
            BadRequest: it is neither waiting nor running.
        """
        run = self._run(job)
        if job.status not in {"queued", "running"}:
            raise BadRequest(f"Only a waiting or running job can be paused; this one is {job.status}.")
        run.gate.clear()
        changed = JobChanged(status="blocked", stage=job.stage, blocked_reason="paused", note="Paused.")
        run.emit(f"job#paused~{run.attempt}", changed)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(run.idle.wait(), DRAIN_S)
        await self.journal.flush()
        if run.halted:
            return
        run.halt()
        await self.engine.cancel(job.id, run.attempt)

    async def resume(self, job: Job) -> None:
        """Let a paused job go on, every branch of it, from what is recorded.

        Raises:
            BadRequest: it is not paused, or somebody else was quicker.
        """
        if job.status != "blocked" or job.blocked_reason != "paused":
            raise BadRequest("Only a paused job can be resumed.")
        await self._anew(job, "resumed", again=False)

    async def restart(self, job: Job) -> None:
        """Do a job again from its last good steps: what failed is tried anew, what succeeded is not paid again.

        Raises:
            BadRequest: it is at work, or somebody else was quicker.
        """
        failed = [key for key, (_, step) in (await self.store.steps(job.id)).items() if step.value is None]
        await self._anew(job, "restarted", forget=failed)

    async def rework(self, job: Job) -> None:
        """Decide and write anew from what was read, and try again what failed.

        Raises:
            BadRequest: it is at work, or somebody else was quicker.
        """
        redone = [
            key
            for key, (_, step) in (await self.store.steps(job.id)).items()
            if step.value is None or key.partition("#")[2].partition(":")[0] in WRITING
        ]
        await self._anew(job, "reworked", forget=redone)

    async def _anew(self, job: Job, what: str, *, again: bool = True, forget: list[str] | None = None) -> None:
        """Begin the next attempt at a job; of several who want to, one does."""
        if again and job.status in {"queued", "running"}:
            raise BadRequest(f"This job is {job.status}; stop or pause it first.")
        whole = await self.store.job(job.id)
        row = whole.row if whole else None
        if whole is None or row is None:
            raise BadRequest("There is no such job any more.")
        wishes = Wishes(guidance=whole.wishes.guidance) if again else whole.wishes
        next_row = row.model_copy(update={"attempt": row.attempt + 1, "again": row.again + again, "status": "queued"})
        taken = await self.store.change(
            job.id, at_attempt=row.attempt, attempt=next_row.attempt, again=next_row.again, status="queued",
            blocked_reason=None, steering=wishes.model_dump_json(), code_version=CODE_VERSION,
        )  # fmt: skip
        if not taken:
            raise BadRequest("Somebody else has just taken this job up.")
        await self.engine.cancel(job.id, row.attempt)
        await self.engine.forget(job.id, row.attempt)
        await self.store.forget(job.id, forget or ())
        former, task = self._jobs.pop(job.id, None), job.task
        fresh = await self._load(whole.model_copy(update={"row": next_row, "wishes": wishes}))
        if former is not None and not task_done(task):
            # Whoever watches the former attempt goes on watching the job.
            self._follow_on(former, fresh)
        changed = JobChanged(status="queued", stage="planning" if again else job.stage, note=f"{what.capitalize()}.")
        fresh.run.emit(f"job#{what}~{next_row.attempt}", changed)
        await self.engine.enqueue(job.id, next_row.attempt, job.owner)

    def _follow_on(self, former: Job, fresh: Job) -> None:
        """Have the object that others hold stand for the new attempt."""
        if fresh.task is not None:
            fresh.task.cancel()
        former.run, former.status, former.blocked_reason = fresh.run, fresh.status, fresh.blocked_reason
        fresh.run.listeners[:] = [lambda numbered: self._heard(former, numbered)]
        self._jobs[former.id] = former

    # ---- small things

    @staticmethod
    def _run(job: Job) -> DurableRun:
        if not isinstance(job.run, DurableRun):
            raise BadRequest("This job is over.")
        return job.run

    def _errand(self, work: Coroutine[Any, Any, None], job: Job | None = None) -> None:
        async def run() -> None:
            try:
                await work
            except Exception as error:
                log.exception("something about a job went wrong")
                if job is not None and job.status not in OVER:
                    job.error = error if isinstance(error, DossierError) else DossierError(str(error))
                    job.status = "failed"
                    self._over(job)

        task = asyncio.get_running_loop().create_task(run(), context=contextvars.Context())
        self._errands.add(task)
        task.add_done_callback(self._errands.discard)


async def _until(ended: asyncio.Event) -> None:
    await ended.wait()


def task_done(task: asyncio.Task[None] | None) -> bool:
    """Tell whether nobody waits for a job any more."""
    return task is None or task.done()


def kept_jobs(shelf: Shelf, clock: Clock, where: Where, *, per_job: int) -> DurableJobs:
    """Set up jobs that are kept."""
    return DurableJobs(shelf, clock, where, per_job=per_job)


def in_folder(folder: Any, url: str = "", *, executor: str = "main", runs: bool = True, workers: int = 4) -> Where:
    """Say where jobs are kept: two files in the data folder, or the operator's database for both."""
    database = async_url(url, folder)
    engine = f"sqlite:///{folder / 'engine.db'}" if database.startswith("sqlite") else database
    return Where(database_url=database, engine_url=engine, executor=executor, runs=runs, workers=workers)


__all__ = ["DurableJobs", "Steering", "Where", "in_folder", "kept_jobs"]
