"""The job runtime as faces see it, and the one that keeps its jobs in this process's memory."""

import asyncio
import contextvars
import uuid
from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import UTC, datetime

from agents.contracts.contract import Change, Command, Narrowing
from agents.contracts.report import OVER, Commission, JobStatus, JobSummary, JobTask, Outcome, ReportDocument, TaskRow
from agents.core.budget import Budget, Limits
from agents.core.call_limits import ProcessLimits
from agents.core.errors import BadRequest
from agents.core.events import JobChanged, RoleAsked
from agents.jobs.blob_store import BlobStore
from agents.jobs.changes import Steered, allowed, applied, steered
from agents.jobs.live_job import Job, JobSetup, SetUp, carry_out
from agents.jobs.run import Clock, JobRun


class NotDurable(BadRequest):
    """It needs jobs that are stored, and these live in memory."""

    def __init__(self, what: str) -> None:
        super().__init__(f"Jobs live in this process's memory, which can't {what}.")


class JobRuntime(ABC):
    """Starts, finds and steers jobs. A job belongs to no chat session: closing the page does not touch it."""

    durable: bool
    """Whether a job outlives this process."""
    blobs: BlobStore
    """Texts and reports."""
    limits: ProcessLimits
    """How many calls this process makes at once."""

    # ---- opening

    @abstractmethod
    async def check(self) -> None:
        """Find out before anything is started whether jobs can be stored; a `ConfigError` when they can't."""

    @abstractmethod
    async def open(self, set_up: SetUp) -> list[Job]:
        """Take up what a former process left; a `ConfigError` when the store can't be used."""

    @abstractmethod
    async def close(self) -> None:
        """Stop everything here and wait until it has stopped; a stored job goes on at the next start."""

    # ---- starting and finding

    @abstractmethod
    def start(
        self, commission: Commission, setup: JobSetup, *, owner: str = "", title: str = "", budget: Limits = Limits()
    ) -> Job:
        """Start a job."""

    @abstractmethod
    async def start_once(
        self, commission: Commission, setup: JobSetup, *, owner: str = "", title: str = "", budget: Limits = Limits()
    ) -> Job:
        """Start a job under the key of its request; where that key has a job, it is given instead."""

    @abstractmethod
    async def requested(self, owner: str, key: str) -> Job | None:
        """Find the job that a caller started under a key of its own."""

    @abstractmethod
    def get(self, job_id: str, owner: str = "") -> Job | None:
        """Find a job of this process that `owner` may see."""

    @abstractmethod
    def of(self, owner: str = "") -> list[Job]:
        """List the jobs of this process that `owner` may see, newest first."""

    @abstractmethod
    async def find(self, job_id: str, owner: str = "") -> Job | None:
        """Find a job that `owner` may see, however long ago it ended."""

    @abstractmethod
    async def listed(
        self, owner: str | None, *, statuses: Sequence[JobStatus] = (), limit: int = 50, offset: int = 0
    ) -> tuple[list[JobSummary], int]:
        """List a page of the jobs that `owner` may see (of everybody where None), newest first; and how many there are."""

    @abstractmethod
    def live(self) -> list[Job]:
        """List the jobs of this process, whoever's they are."""

    @abstractmethod
    def attach(self, job: Job, thread_id: str) -> None:
        """Note in which chat a job was started."""

    @abstractmethod
    async def in_thread(self, thread_id: str, owner: str) -> list[Job]:
        """List the jobs of one chat, oldest first."""

    @abstractmethod
    async def given_texts(self, text_hash: str) -> list[Job]:
        """List the jobs, whoever's they are, that were given this text or have read it."""

    @abstractmethod
    async def waiting(self) -> bool:
        """Tell whether any job waits or runs, here or elsewhere."""

    @abstractmethod
    async def position(self, job: Job) -> int:
        """Say how many jobs start before this one; 0 when it need not wait."""

    # ---- steering: at once

    @abstractmethod
    def stop(self, job: Job) -> None:
        """Cancel a job and everything it has running, at once."""

    @abstractmethod
    def change(self, job: Job, command: Command) -> Change:
        """Change a running job: it holds from its next step on, is numbered, and stands in the report.

        Raises:
            BadRequest: it would widen what was authorized, or comes too late; nothing was changed.
        """

    @abstractmethod
    def release(self, job: Job) -> bool:
        """Let a job pass that the judge held back; False when it is not held."""

    def leave(self, job: Job) -> None:
        """Stop a job whose only caller waits no longer, unless it ended or the judge sent it back, report and all."""
        if not job.over and job.blocked_reason != "needs_rework":
            self.stop(job)

    def steer(self, job: Job, kind: Steered, path: str = "job", title: str = "") -> Change:
        """Have a branch, or the run, search no further and write; stop or drop it, its siblings go on; or try it again."""
        return self.change(job, steered(kind, path, title))

    def finish(self, job: Job) -> Change:
        """Ask a job to search no further and to write from what it has."""
        return self.steer(job, "finish")

    def narrow(self, job: Job, limits: Narrowing, words: str) -> Change:
        """Narrow where, of when, or for how long a running job may search."""
        return self.change(job, Command(kind="limits", words=words, limits=limits))

    def guide(self, job: Job, text: str) -> Change:
        """Add guidance that the next rounds follow."""
        return self.change(job, Command(kind="guidance", words=text))

    # ---- steering: what takes a moment, and a store

    async def pause(self, job: Job) -> None:
        """Let the calls in flight finish, start none, and give the slot to others; the job's clock stands still."""
        raise NotDurable("pause a job")

    async def resume(self, job: Job) -> Job:
        """Let a job that is paused, or waits for a key, go on from what is recorded."""
        raise NotDurable("resume a job")

    async def restart(self, job: Job) -> Job:
        """Do a job again from its last good steps: what failed is tried anew, what succeeded is not paid again."""
        raise NotDurable("restart a job")

    async def rework(self, job: Job) -> Job:
        """Decide and write anew from what was read, and try again what failed."""
        raise NotDurable("rework a job")

    @abstractmethod
    async def add_task(self, job: Job, task: JobTask) -> int:
        """Put an operator's task into a job; gives its number.

        Raises:
            BadRequest: the state of the job leaves no place for it.
        """

    @abstractmethod
    async def tasks(self, job: Job) -> list[TaskRow]:
        """List the tasks that were put into a job, oldest first."""

    @abstractmethod
    async def delete(self, owner: str, job_ids: Sequence[str]) -> int:
        """Delete jobs of a caller with everything that belongs to them, those that run too; says how many."""


class MemoryRuntime(JobRuntime):
    """All jobs of this process, in memory: what is over or cut off is gone with it; its reports stay."""

    durable = False

    def __init__(
        self, blobs: BlobStore, clock: Clock, *, per_job: int = 6, limits: ProcessLimits | None = None
    ) -> None:
        self.blobs, self.clock, self.per_job = blobs, clock, per_job
        self.limits = limits or ProcessLimits()
        self._jobs: dict[str, Job] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def check(self) -> None:
        """Nothing is stored, so nothing can be in the way."""

    async def open(self, set_up: SetUp) -> list[Job]:
        return []

    async def close(self) -> None:
        tasks = [task for task in self._tasks.values() if not task.done()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def start(
        self, commission: Commission, setup: JobSetup, *, owner: str = "", title: str = "", budget: Limits = Limits()
    ) -> Job:
        run = JobRun(
            job_id=uuid.uuid4().hex, handlers=setup.handlers, budget=Budget(budget, name="job"), clock=self.clock,
            limits=self.limits, per_job=self.per_job, steering=setup.steering,
        )  # fmt: skip
        job = Job(
            id=run.job_id, owner=owner, title=title, commission=commission, run=run,
            created=datetime.now(UTC).isoformat(timespec="seconds"), setup=setup,
        )  # fmt: skip
        run.listeners.append(job.hear)
        self._jobs[job.id] = job
        # An empty context: a job must not inherit the chat session that started it, whose emitter dies with the page.
        task = asyncio.get_running_loop().create_task(
            self._work(job, setup), context=contextvars.Context(), name=f"job-{job.id}"
        )
        self._tasks[job.id] = task
        task.add_done_callback(lambda _: self._ended(job))
        return job

    async def _work(self, job: Job, setup: JobSetup) -> None:
        async def save(_: Outcome, document: ReportDocument) -> None:
            await self.blobs.save_report(document)

        await carry_out(job, setup.build, lambda: job.run.run("research", job.commission, Outcome), save)

    def _ended(self, job: Job) -> None:
        if job.status in {"queued", "running"}:  # it was cut off, perhaps before it began
            job.run.emit("job#ended", JobChanged(status="cancelled", stage=job.stage, note="Stopped."))
        self._tasks.pop(job.id, None)
        job.end()

    async def start_once(
        self, commission: Commission, setup: JobSetup, *, owner: str = "", title: str = "", budget: Limits = Limits()
    ) -> Job:
        known = await self.requested(owner, commission.request.key) if commission.request else None
        if known is not None:
            setup.close()
            return known
        return self.start(commission, setup, owner=owner, title=title, budget=budget)

    async def requested(self, owner: str, key: str) -> Job | None:
        same = (job for job in self.of(owner) if job.commission.request and job.commission.request.key == key)
        return next(same, None)

    def get(self, job_id: str, owner: str = "") -> Job | None:
        job = self._jobs.get(job_id)
        return job if job and job.owner == owner else None

    def of(self, owner: str = "") -> list[Job]:
        return [job for job in reversed(self._jobs.values()) if job.owner == owner]

    async def find(self, job_id: str, owner: str = "") -> Job | None:
        return self.get(job_id, owner)

    async def listed(
        self, owner: str | None, *, statuses: Sequence[JobStatus] = (), limit: int = 50, offset: int = 0
    ) -> tuple[list[JobSummary], int]:
        seen = self.of(owner) if owner is not None else list(reversed(self._jobs.values()))
        found = [job for job in seen if not statuses or job.status in statuses]
        return [summary(job) for job in found[offset : offset + limit]], len(found)

    def live(self) -> list[Job]:
        return list(self._jobs.values())

    def attach(self, job: Job, thread_id: str) -> None:
        job.thread_id = thread_id

    async def in_thread(self, thread_id: str, owner: str) -> list[Job]:
        return [job for job in reversed(self.of(owner)) if job.thread_id == thread_id]

    async def given_texts(self, text_hash: str) -> list[Job]:
        return [job for job in self._jobs.values() if text_hash in job.commission.model_dump_json()]

    async def waiting(self) -> bool:
        return any(job.status in {"queued", "running"} for job in self._jobs.values())

    async def position(self, job: Job) -> int:
        return 0

    def stop(self, job: Job) -> None:
        if (task := self._tasks.get(job.id)) is not None:
            task.cancel()

    def change(self, job: Job, command: Command) -> Change:
        change = job.run.steering.take(checked(job, command), job.run.now())
        applied(change, job.run)
        return change

    def release(self, job: Job) -> bool:
        if job.blocked_reason != "needs_rework":
            return False
        job.run.emit("job#released", JobChanged(status="done", stage="completed", note="Released as it is."))
        return True

    async def add_task(self, job: Job, task: JobTask) -> int:
        if job.status in OVER:
            raise NotDurable(f"put a {task.stage} task into a job that is over")
        if task.stage == "collect":
            return self.guide(job, task.guidance).number
        if task.stage == "write":
            return self.finish(job).number
        raise NotDurable(f"put a {task.stage} task into a job")

    async def tasks(self, job: Job) -> list[TaskRow]:
        return []

    async def delete(self, owner: str, job_ids: Sequence[str]) -> int:
        chosen = [job for job in self.of(owner) if job.id in job_ids]
        for job in chosen:
            self.stop(job)
            await job.wait()
            self._jobs.pop(job.id, None)
            await self.blobs.forget_report(job.id)
        return len(chosen)


def checked(job: Job, command: Command) -> Command:
    """Check a command against the job's contract; a `BadRequest` when it may not be done."""
    return allowed(command, job.run, job.contract.brief if job.contract else job.commission.brief)


def summary(job: Job) -> JobSummary:
    """Describe a job of this process for a list."""
    usages = [one.event.usage for one in job.run.events if isinstance(one.event, RoleAsked)]
    notes = [one.event.note for one in job.run.events if isinstance(one.event, JobChanged)]
    costs = [usage.cost_usd for usage in usages]
    return JobSummary(
        id=job.id,
        title=job.report.title if job.report else job.title,
        status=job.status,
        stage=job.stage,
        grade=job.report.grade if job.report else None,
        created=job.created,
        seconds=job.run.events[-1].seconds if job.over and job.run.events else round(job.run.now(), 3),
        tokens=sum(usage.tokens for usage in usages),
        cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
        note=notes[-1] if notes and job.status not in {"queued", "running"} else "",
    )
