"""The live jobs of this process, run or watched here: the one list of them, filled from the job store.

The queue of a temporary store, which needs no engine: each attempt runs as soon as it comes.
"""

import asyncio
import contextvars
import json
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agents.contracts.report import OVER, JobStatus
from agents.core.budget import Budget
from agents.core.errors import BadRequest, DossierError, ModelError
from agents.core.events import JobChanged, Numbered
from agents.core.port import Handlers, ProcessLimits
from agents.jobs.attempt import Attempt, Clock
from agents.jobs.config import JobStoreConfig
from agents.jobs.job import Job, JobSetup, SetUp, orchestrator
from agents.jobs.store import Store, StoredJob, WholeJob
from agents.jobs.writer import Writer
from agents.research.steering import Steering

if TYPE_CHECKING:
    from agents.jobs.engine import RunAttempt


log = logging.getLogger(__name__)

UNWIND_S = 1.5  # seconds that what was cut off gets to come to its end when the process is closed
OPEN: tuple[JobStatus, ...] = ("queued", "running", "blocked")


@dataclass
class Register:
    """Live jobs by id, and the background tasks about them."""

    store: Store
    writer: Writer
    config: JobStoreConfig
    clock: Clock
    limits: ProcessLimits
    per_job: int
    jobs: dict[str, Job] = field(default_factory=dict)
    set_up: SetUp | None = None
    on_key_missing: Callable[[Job, Attempt, ModelError], object] = lambda job, run, error: None
    _background: set[asyncio.Task[None]] = field(default_factory=set)
    _loading: asyncio.Lock = field(default_factory=asyncio.Lock)

    # ---- filling

    async def load(self, whole: WholeJob) -> Job:
        """Hold a job of the store, to be run or to wait."""
        job_id = whole.id
        async with self._loading:
            known = self.jobs.get(job_id)
            if known is not None and known.run.attempt >= whole.attempt:
                return known
            if self.set_up is None:
                raise DossierError("the jobs were not opened")
            events, steps = await self.store.events(job_id), await self.store.steps(job_id)
            job = self.hold(whole, self.set_up(whole.commission, whole.steering))
            job.run.take_up(events, steps)
            if whole.blocked_reason == "awaiting_key":
                job.error = BadRequest(whole.note)
            if whole.blocked_reason == "needs_rework":
                job.report = await self.store.report(job_id)
                job.ended.set()
            job.moved()
            return job

    def hold(self, whole: WholeJob, setup: JobSetup) -> Job:
        """Hold a job, to be run or watched here; who follows an earlier attempt goes on following the job."""
        run = self._attempt(whole, setup.handlers, setup.steering)
        run.span = setup.span
        if (known := self.jobs.get(whole.id)) is None:
            job = self.jobs[whole.id] = Job.of(whole, run)

            def store_progress(numbered: Numbered) -> None:
                """Write down how planning stands and what was taken, whenever the job enters a stage."""
                if isinstance(numbered.event, JobChanged):
                    stands = orchestrator(job, self.config.planner_window_s)
                    took = job.summary().model_dump(include={"seconds", "tokens", "cost_usd"})
                    self.writer.change(job.id, job.run.attempt, metadata=json.dumps({"orchestrator": stands}), **took)

            run.listeners += [job.hear, store_progress]
        else:
            job = known
            # Who observes the job goes on observing it.
            run.listeners += job.run.listeners
            job.run, job.status, job.stage, job.blocked_reason = run, whole.status, whole.stage, whole.blocked_reason
            job.report = job.error = None
            job.ended.clear()
        job.setup = setup
        run.on_key_missing = lambda error: self.on_key_missing(job, run, error)
        return job

    async def read(self, whole: WholeJob) -> Job:
        """Hold a job that goes on; one that is over is only read, to be looked at."""
        if not whole.over:
            return await self.load(whole)
        run = self._attempt(whole, {}, whole.steering)
        run.take_up(await self.store.events(whole.id), {})
        job = Job.of(whole, run)
        job.report = await self.store.report(whole.id)
        if whole.status == "failed":
            job.error = BadRequest(whole.note or DossierError.notice)
        job.ended.set()
        return job

    def _attempt(self, whole: WholeJob, handlers: Handlers, steering: Steering) -> Attempt:
        return Attempt(
            job_id=whole.id, handlers=handlers, budget=Budget(whole.limits, name="job", opened_at_s=steering.began_s),
            clock=self.clock, limits=self.limits, per_job=self.per_job, steering=steering, attempt=whole.attempt, again=whole.again,
            writer=self.writer, watched=not self.config.runs,
        )  # fmt: skip

    # ---- letting go

    def end(self, job: Job) -> None:
        """Let a job rest, and forget the oldest of those that are over."""
        job.end()
        over = [job_id for job_id, one in self.jobs.items() if one.over]
        for job_id in over[: -self.config.policy.remembered]:
            self.forget(job_id)

    def forget(self, job_id: str) -> None:
        self.jobs.pop(job_id, None)

    def release_all(self) -> None:
        """Let go of everything: the process is being closed."""
        for job in self.jobs.values():
            job.released = True
            job.end()

    # ---- background tasks

    def background(self, work: Awaitable[object], job: Job | None = None) -> None:
        """Do something about a job that nobody waits for; if it goes wrong the job fails and says so."""

        async def run() -> None:
            try:
                await work
            except Exception as error:
                log.exception("something about a job went wrong")
                if job is not None and job.status not in OVER and job.id in self.jobs:
                    job.error = error if isinstance(error, DossierError) else DossierError(str(error))
                    job.status = "failed"
                    self.end(job)

        task = asyncio.get_running_loop().create_task(run(), context=contextvars.Context())
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def finish_background(self) -> None:
        """Give the background tasks a moment to come to their end, then cut them off."""
        if tasks := set(self._background):
            _, late = await asyncio.wait(tasks, timeout=UNWIND_S)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=UNWIND_S)

    # ---- jobs that other processes run

    async def catch_up(self, job_ids: Iterable[str]) -> None:
        """Learn what other processes did to jobs that are held here."""
        mine = [(job_id, self.jobs[job_id]) for job_id in job_ids if job_id in self.jobs]
        live = [job_id for job_id, job in mine if not job.over]
        for job_id, row in (await self.store.states(live)).items():
            job = self.jobs.get(job_id)
            if job is None:
                continue
            if row.attempt > job.run.attempt:
                if job.run.at_work:
                    log.warning("job %s was taken up by another process", row.id)
                job.run.halt()
                if (whole := await self.store.job(job_id)) is None:
                    continue
                job = await self.load(whole)
            run = job.run
            run.watched = run.watched or (not run.at_work and row.executor not in {"", self.config.executor})
            if run.watched:
                await self._follow(job, run, row)

    async def _follow(self, job: Job, run: Attempt, row: StoredJob) -> None:
        if row.status == "running":
            whole = await self.store.job(row.id)
            if whole is not None and len(whole.steering.changes) >= len(run.steering.changes):
                run.steering.follow(whole.steering)
        fresh = await self.store.events(row.id, run.stored)
        changes = [one.event for one in fresh if isinstance(one.event, JobChanged)]
        rests = any(one.status in OVER or one.blocked_reason == "needs_rework" for one in changes)
        if rests:
            # Its report is here before anybody sees that it has ended.
            whole = await self.store.job(row.id)
            job.report = await self.store.report(row.id)
            job.commission = whole.commission if whole is not None else job.commission
        if changes:
            last = changes[-1]
            wrong = last.status == "failed" or last.blocked_reason == "awaiting_key"
            job.error = BadRequest(last.note or DossierError.notice) if wrong else None
        for numbered in fresh:
            if numbered.seq == len(run.events) + 1:
                run.events.append(numbered)
                run.base_s, run.stored = max(run.base_s, numbered.seconds), numbered.seq
                job.hear(numbered)
        if job.status in OVER or (rests and job.status == "blocked"):
            self.end(job)


class AtOnce:
    """Runs attempts as tasks of this process; has the methods of `JobQueue`."""

    def __init__(self) -> None:
        self._run: RunAttempt | None = None
        self._tasks: dict[tuple[str, int], asyncio.Task[None]] = {}

    async def open(self, run_attempt: "RunAttempt | None") -> None:
        self._run = run_attempt

    async def close(self) -> None:
        if tasks := list(self._tasks.values()):
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def enqueue(self, job: str, attempt: int, user: str) -> None:
        if self._run is None or (job, attempt) in self._tasks:
            return
        # An empty context: a job must not inherit the chat session that started it, whose emitter dies with the page.
        work = self._run(job, attempt)
        task = asyncio.get_running_loop().create_task(work, context=contextvars.Context())
        self._tasks[job, attempt] = task
        task.add_done_callback(lambda _: self._tasks.pop((job, attempt)))

    async def cancel(self, job: str, attempt: int) -> None:
        if task := self._tasks.get((job, attempt)):
            task.cancel()

    async def tidy(self) -> None:
        """Nothing is kept of an attempt."""
