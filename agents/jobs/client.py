"""The client of stored jobs: starts, finds, follows and steers them, whichever process runs them.

With a worker in this process steering is done at once; else it is left in the store as a command, and the job's events
are read from there.
"""

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Literal

from agents.contracts.contract import Change, Command
from agents.contracts.report import Commission, JobStatus, JobSummary, JobTask, TaskRow
from agents.core.budget import Limits
from agents.core.call_limits import ProcessLimits
from agents.core.errors import BadRequest
from agents.jobs.blob_store import BlobStore
from agents.jobs.config import InUse, JobStoreConfig, held_by
from agents.jobs.database import Database, Listener
from agents.jobs.engine import JobQueue
from agents.jobs.live_job import Job, JobSetup, SetUp
from agents.jobs.register import OPEN, Register
from agents.jobs.run import Clock
from agents.jobs.runtime import JobRuntime, checked
from agents.jobs.store import COMMANDS, EVENTS, DatabaseBlobStore, Store, StoredJob, WholeJob, now
from agents.jobs.worker import DONE, Worker
from agents.jobs.writer import Writer

log = logging.getLogger(__name__)

BUNDLE_S = 0.02
"""Seconds in which notifications gather before they are looked at again: many events come at once."""


class Client(JobRuntime):
    """All jobs of the store, for the faces of this process."""

    durable = True

    def __init__(
        self,
        blobs: BlobStore,
        clock: Clock,
        config: JobStoreConfig,
        *,
        per_job: int = 6,
        limits: ProcessLimits | None = None,
    ) -> None:
        self.config, self.clock, self.limits = config, clock, limits or ProcessLimits()
        self.store = Store(Database(config.database_url))
        self.blobs = blobs if self.store.database.sqlite else DatabaseBlobStore(blobs.folder, self.store)
        self.writer = Writer(self.store, config.policy.write_again_s)
        self.engine = JobQueue(config)
        self.register = Register(self.store, self.writer, config, clock=clock, limits=self.limits, per_job=per_job)
        self.worker = Worker(self.register, self.engine, self.blobs) if config.runs else None
        self.opened = False
        self._listener = Listener(self.store.database, COMMANDS if config.runs else EVENTS)
        self._rounds: tuple[asyncio.Task[None], ...] = ()
        self._next_share = float("-inf")
        self._entering, self._sending = asyncio.Lock(), asyncio.Lock()

    # ---- opening and closing

    async def check(self) -> None:
        file = self.store.database.file
        if file is not None and (other := held_by(file.with_name("engine.db"))):
            raise InUse(f"The jobs in {file.parent} are already run by {other}.", other)
        try:
            await self.store.database.open()
        finally:
            await self.store.database.close()

    async def open(self, set_up: SetUp) -> list[Job]:
        self.register.set_up = set_up
        await self.store.database.open()
        self.writer.open()
        try:
            for row in reversed(await self.store.jobs(statuses=OPEN, limit=10_000)):
                # On one machine all jobs are this process's; a worker among many takes up what it ran itself.
                mine = self.store.database.sqlite or not self.config.runs or row.executor == self.config.executor
                if mine and (whole := await self.store.job(row.id)) is not None:
                    await self.register.load(whole)
            if self.worker is not None:
                await self.worker.open()
            else:
                await self.engine.open(None)
        except BaseException:
            await self._release()
            raise
        self.opened = True
        loop = asyncio.get_running_loop()
        self._rounds = (
            loop.create_task(self._go_round(), name="job-rounds"),
            loop.create_task(self._listen(), name="job-listener"),
        )
        return list(self.register.jobs.values())

    async def close(self) -> None:
        if not self.opened:
            return
        self.opened = False
        for task in self._rounds:
            task.cancel()
        await asyncio.wait(self._rounds)
        await self._listener.close()
        if self.worker is not None:
            await self.worker.finish_commands()
        self.register.cancel_background()
        if self.worker is not None:
            await self.worker.halt()
        await self.engine.close()
        await self._release()

    async def _release(self) -> None:
        await self.writer.close()
        await self.store.database.close()
        self.register.release_all()

    async def _go_round(self) -> None:
        while True:
            await asyncio.sleep(min(5 * self.config.poll_s, self.config.policy.round_s))
            try:
                await (self.worker.round() if self.worker is not None else self._catch_up())
            except Exception:
                # The database may be away for a while; the next round tries again.
                log.exception("a round of the job service failed")

    async def _listen(self) -> None:
        """Do at once what a round would do a moment later."""
        while True:
            if not (jobs := await self._listener.wait(self.config.policy.alive_s)):
                continue
            try:
                await (self.worker.do_commands() if self.worker is not None else self.register.catch_up(jobs))
            except Exception:
                log.exception("notifications of jobs could not be followed")
            await asyncio.sleep(BUNDLE_S)

    async def _catch_up(self) -> None:
        for row in await self.store.jobs(statuses=OPEN, limit=1000):
            if row.id not in self.register.jobs and (whole := await self.store.job(row.id)) is not None:
                await self.register.load(whole)
        await self.register.catch_up(list(self.register.jobs))
        if self.clock() >= self._next_share:
            # What a provider allows is divided among the workers, also for the calls of a process that only watches.
            self._next_share = self.clock() + self.config.policy.alive_s
            since = now() - timedelta(seconds=self.config.policy.dead_s)
            self.limits.divide_among(len(await self.store.living(since)))

    # ---- starting

    def start(
        self, commission: Commission, setup: JobSetup, *, owner: str = "", title: str = "", budget: Limits = Limits()
    ) -> Job:
        row = StoredJob.new(owner, title, self.config.code_version)
        job = self._hold(row, commission, setup, budget)

        async def submit() -> None:
            async with self._entering:  # in the order they came
                await self.store.add(row, commission, budget)
                job.stored.set()
                await self.engine.enqueue(row.id, 1, owner)

        self.register.background(submit(), job)
        return job

    async def start_once(
        self, commission: Commission, setup: JobSetup, *, owner: str = "", title: str = "", budget: Limits = Limits()
    ) -> Job:
        row = StoredJob.new(owner, title, self.config.code_version)
        key = commission.request.key if commission.request else None
        stored = await self.store.add(row, commission, budget, key)
        if stored.id != row.id and (found := await self.find(stored.id, owner)) is not None:
            setup.close()
            return found
        job = self._hold(row, commission, setup, budget)
        job.stored.set()
        await self.engine.enqueue(row.id, 1, owner)
        return job

    def _hold(self, row: StoredJob, commission: Commission, setup: JobSetup, budget: Limits) -> Job:
        return self.register.hold(
            WholeJob(row=row, commission=commission, limits=budget, steering=setup.steering), setup
        )

    # ---- finding

    async def requested(self, owner: str, key: str) -> Job | None:
        return await self.find(await self.store.requested(owner, key) or "", owner) if self.opened else None

    def get(self, job_id: str, owner: str = "") -> Job | None:
        job = self.register.jobs.get(job_id)
        return job if job and job.owner == owner else None

    def of(self, owner: str = "") -> list[Job]:
        return [job for job in reversed(self.register.jobs.values()) if job.owner == owner]

    async def find(self, job_id: str, owner: str = "") -> Job | None:
        job = self.register.jobs.get(job_id)
        if job is not None and job.over and self.opened and not await self.store.states([job_id]):
            self.register.forget(job_id)  # another process deleted it meanwhile
            return None
        if job is not None:
            return job if job.owner == owner else None
        whole = await self.store.job(job_id) if self.opened else None
        if whole is None or whole.row.owner != owner:
            return None
        return await (self.register.shown(whole) if whole.row.over else self.register.load(whole))

    async def listed(
        self, owner: str | None, *, statuses: Sequence[JobStatus] = (), limit: int = 50, offset: int = 0
    ) -> tuple[list[JobSummary], int]:
        await self.writer.flush()
        rows = await self.store.summaries(owner, statuses=statuses, limit=limit, offset=offset)
        return rows, await self.store.count(owner, statuses)

    def live(self) -> list[Job]:
        return list(self.register.jobs.values())

    def attach(self, job: Job, thread_id: str) -> None:
        async def write() -> None:
            await job.stored.wait()
            self.writer.change(job.id, thread_id=thread_id)

        job.thread_id = thread_id
        self.register.background(write())

    async def in_thread(self, thread_id: str, owner: str) -> list[Job]:
        rows = await self.store.in_thread(thread_id, owner)
        return [job for row in rows if (job := await self.find(row.id, owner)) is not None]

    async def given_texts(self, text_hash: str) -> list[Job]:
        rows = await self.store.using_text(text_hash)
        return [job for row in rows if (job := await self.find(row.id, row.owner)) is not None]

    async def waiting(self) -> bool:
        return bool(await self.store.jobs(statuses=("queued", "running"), limit=1))

    async def position(self, job: Job) -> int:
        """Users take turns, each user's own jobs in the order they came."""
        if job.status != "queued":
            return 0
        turns: dict[str, int] = {}
        order: list[tuple[int, int, str]] = []
        for arrival, (job_id, user) in enumerate(await self.engine.queued()):
            turns[user] = turns.get(user, 0) + 1
            order.append((turns[user], arrival, job_id))
        ahead = [job_id for _, _, job_id in sorted(order)]
        return ahead.index(job.id) if job.id in ahead else 0

    # ---- steering

    def _worker_of(self, job: Job) -> Worker | None:
        """Give the worker of this process, unless another process runs the job."""
        elsewhere = job.id in self.register.jobs and self.register.run_of(job).watched
        return None if elsewhere else self.worker

    def stop(self, job: Job) -> None:
        if job.over:
            return
        worker = self._worker_of(job)
        self.register.background(worker.cancel(job) if worker else self._command(job, "cancel"), job)

    def change(self, job: Job, command: Command) -> Change:
        if worker := self._worker_of(job):
            return worker.change(job, command)
        # The process that runs it makes the change and emits the events; here it is only known until those are read.
        change = job.run.steering.take(checked(job, command), job.run.now())
        self.register.background(self._command(job, "change", command.model_dump_json()))
        return change

    def release(self, job: Job) -> bool:
        if job.blocked_reason != "needs_rework":
            return False
        if worker := self._worker_of(job):
            return worker.release(job)
        self.register.background(self._command(job, "release"))
        return True

    async def pause(self, job: Job) -> None:
        if worker := self._worker_of(job):
            await worker.pause(job)
        else:
            await self._ask(job, "pause")

    async def resume(self, job: Job) -> Job:
        worker = self._worker_of(job)
        return await (worker.attempts.resume(job) if worker else self._ask(job, "resume"))

    async def restart(self, job: Job) -> Job:
        worker = self._worker_of(job)
        return await (worker.attempts.restart(job) if worker else self._ask(job, "restart"))

    async def rework(self, job: Job) -> Job:
        worker = self._worker_of(job)
        return await (worker.attempts.rework(job) if worker else self._ask(job, "rework"))

    async def add_task(self, job: Job, task: JobTask) -> int:
        if task.stage == "plan" and job.commission.brief is None:
            raise BadRequest("The plan of this job was authorized as it is. Start a new job for another plan.")
        number = await self._command(job, f"task:{task.stage}", task.model_dump_json())
        if self.worker is not None:
            await self.worker.do_commands()
        return number

    async def tasks(self, job: Job) -> list[TaskRow]:
        rows = []
        for given in await self.store.tasks(job.id):
            outcome = given.outcome
            status: Literal["queued", "running", "done", "refused"] = "running" if given.taken_by else "queued"
            if outcome:
                status = "done" if outcome == DONE else "refused"
            task = JobTask.model_validate_json(given.argument)
            rows.append(TaskRow(id=given.id, task=task, status=status, outcome="" if outcome == DONE else outcome))
        return rows

    async def _command(self, job: Job, verb: str, argument: str = "") -> int:
        async with self._sending:  # in the order they were given
            return await self.store.add_command(job.id, verb, argument)

    async def _ask(self, job: Job, verb: str) -> Job:
        """Have a worker do it, and wait for its answer."""
        command, began = await self._command(job, verb), self.clock()
        while not (answer := await self.store.answered(command)):
            if self.clock() - began > self.config.policy.answer_s:
                raise BadRequest("No worker answers now. It will be done when one does.")
            await asyncio.sleep(0.25)
        if answer != DONE:
            raise BadRequest(answer)
        await self._catch_up()
        return await self.find(job.id, job.owner) or job

    async def delete(self, owner: str, job_ids: Sequence[str]) -> int:
        rows = [row for row in await self.store.jobs(owner, limit=1_000_000) if row.id in job_ids]
        alive = [row for row in rows if not row.over]
        for row in alive:
            job = await self.find(row.id, owner)
            if job is not None and (worker := self._worker_of(job)):
                await worker.cancel(job)
            elif job is not None:
                with contextlib.suppress(BadRequest):  # nobody runs it
                    await self._ask(job, "cancel")
        for row in rows:
            self.register.forget(row.id)
            await self.engine.forget(row.id, row.attempt)
            await self.blobs.forget_report(row.id)
        return await self.store.delete([row.id for row in rows])
