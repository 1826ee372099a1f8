"""The jobs of one store as faces see them: they are started, found, followed and steered here, whichever process runs them.

With a worker in this process steering is done at once; else it is left in the store as a command, and the job's events
are read from there. Without a folder of its own the store is a temporary one, and its jobs die with this process.
"""

import asyncio
import contextlib
import logging
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from agents.contracts.contract import Change, Command, Narrowing
from agents.contracts.report import Commission, JobStatus, JobSummary, JobTask, ReportDocument
from agents.core.budget import Limits
from agents.core.errors import BadRequest
from agents.core.port import ProcessLimits
from agents.jobs.attempt import Clock
from agents.jobs.blob_store import BlobStore
from agents.jobs.changes import Steered, changed, steered
from agents.jobs.config import InUse, JobStoreConfig, held_by
from agents.jobs.database import Database
from agents.jobs.job import Job, JobSetup, SetUp
from agents.jobs.register import OPEN, AtOnce, Register
from agents.jobs.store import COMMANDS, DONE, EVENTS, Store, StoredCommand, StoredJob, WholeJob, blobs_of
from agents.jobs.worker import PLAN_IS_BOUND, Worker
from agents.jobs.writer import Writer

if TYPE_CHECKING:
    from agents.jobs.engine import JobQueue

log = logging.getLogger(__name__)

BUNDLE_S = 0.02
"""Seconds in which notifications gather before they are looked at: many events come at once."""


class Client:
    """Starts, finds and steers jobs. A job belongs to no chat session: closing the page does not touch it."""

    def __init__(
        self, blobs: BlobStore, clock: Clock, config: JobStoreConfig, *, per_job: int = 6,
        limits: ProcessLimits | None = None,
    ) -> None:  # fmt: skip
        self.temporary = not config.database_url
        self.engine: JobQueue | AtOnce = AtOnce() if self.temporary else _queue(config)
        if self.temporary:
            folder = Path(tempfile.mkdtemp(prefix="dossier-"))
            self._gone = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            config = config.at(folder)
        self.config, self.clock, self.limits = config, clock, limits or ProcessLimits()
        self.store = Store(Database(config.database_url, session=config.session))
        self.blobs = blobs_of(self.store, blobs.folder)
        self.writer = Writer(self.store, config.policy.write_again_s)
        self.register = Register(self.store, self.writer, config, clock, self.limits, per_job)
        # A temporary store knows nobody else's texts, and would take those of stored jobs for unused.
        cleans = not self.temporary
        self.worker = Worker(self.register, self.engine, self.blobs, cleans=cleans) if config.runs else None
        self.opened = False
        self._starting: set[asyncio.Future[Job]] = set()
        self._told: set[str] = set()
        self._rounds: tuple[asyncio.Task[None], ...] = ()
        self._next_share = float("-inf")
        self._entering, self._sending = asyncio.Lock(), asyncio.Lock()

    # ---- opening and closing

    async def check(self) -> None:
        """Find out before anything is started whether jobs can be stored; a `ConfigError` when they can't."""
        file = self.store.database.file
        if file is not None and (other := held_by(file.with_name("engine.db"))):
            raise InUse(file.parent, other)
        try:
            await self.store.database.open()
        finally:
            await self.store.database.close()

    async def open(self, set_up: SetUp) -> list[Job]:
        """Take up what a former process left; a `ConfigError` when the store can't be used."""
        self.register.set_up = set_up
        await self.store.database.open()
        self.writer.open()
        try:
            for row in reversed(await self.store.jobs(statuses=OPEN, limit=10_000)):
                # On one machine all jobs are this process's; a worker among many takes up what it ran itself.
                mine = self.store.database.sqlite or not self.config.runs or row.executor == self.config.executor
                if mine and (whole := await self.store.job(row.id)) is not None:
                    await self.register.load(whole)
            await (self.worker.open() if self.worker is not None else self.engine.open(None))
        except BaseException:
            await self._release()
            raise
        self.opened = True
        self._rounds = (asyncio.create_task(self._go_round()), asyncio.create_task(self._listen()))
        return self.live()

    async def close(self) -> None:
        """Stop everything here and wait until it has stopped; a stored job goes on at the next start."""
        if self._starting:  # cut off they would leave their connections open
            await asyncio.wait(self._starting)
        if not self.opened:
            return
        self.opened = False
        for task in self._rounds:
            task.cancel()
        await asyncio.wait(self._rounds)
        await self.register.finish_background()
        if self.worker is not None:
            await self.worker.halt()
        await self.engine.close()
        await self._release()

    async def _release(self) -> None:
        await self.writer.close()
        await self.store.database.close()
        self.register.release_all()
        if self.temporary:
            self._gone()

    async def _go_round(self) -> None:
        while True:
            await asyncio.sleep(min(5 * self.config.poll_s, self.config.policy.round_s))
            try:
                await (self.worker.round() if self.worker is not None else self._catch_up())
            except Exception:
                # The database may be away for a while; the next round tries again.
                log.exception("a round of the job service failed")

    async def _listen(self) -> None:
        """Do at once what a round would do a moment later; without notifications nothing is lost but that moment."""
        while not self.store.database.sqlite:
            try:
                await self.store.database.listen(COMMANDS if self.worker is not None else EVENTS, self._notified)
            except Exception as error:  # noqa: BLE001 - the driver's own errors too; nothing depends on it
                log.warning("no notifications from the database, it is asked again and again instead: %s", error)
            await asyncio.sleep(self.config.policy.alive_s)

    def _notified(self, job_id: str) -> None:
        self._told.add(job_id)
        if len(self._told) == 1:
            self.register.background(self._look())

    async def _look(self) -> None:
        await asyncio.sleep(BUNDLE_S)
        told, self._told = self._told, set()
        await (self.worker.do_commands() if self.worker is not None else self.register.catch_up(told))

    async def _catch_up(self) -> None:
        for row in await self.store.jobs(statuses=OPEN, limit=1000):
            if row.id not in self.register.jobs and (whole := await self.store.job(row.id)) is not None:
                await self.register.load(whole)
        await self.register.catch_up(list(self.register.jobs))
        if self.clock() >= self._next_share:
            # What a provider allows is divided among the workers, also for the calls of a process that only watches.
            self._next_share = self.clock() + self.config.policy.alive_s
            self.limits.divide_among(len(await self.store.living(self.config.policy.dead_s)))

    # ---- starting

    async def start(
        self, commission: Commission, setup: JobSetup, *, owner: str = "", title: str = "", budget: Limits = Limits()
    ) -> Job:
        """Start a job, which is in the store before this returns; where the key of its request has one, it is given instead."""
        whole = WholeJob(
            owner=owner, title=title, code_version=self.config.code_version, commission=commission, limits=budget,
            steering=setup.steering,
        )  # fmt: skip
        starting = asyncio.ensure_future(self._started(whole, setup))
        self._starting.add(starting)
        starting.add_done_callback(self._starting.discard)

        def left(done: asyncio.Future[Job]) -> None:
            if not done.cancelled() and done.exception() is None:
                self.stop(done.result())

        try:
            return await asyncio.shield(starting)  # a transaction that is cut off would hold the store's lock
        except asyncio.CancelledError:
            if commission.request is None:  # whoever asked is gone; with a key they ask again
                starting.add_done_callback(left)
            raise

    async def _started(self, whole: WholeJob, setup: JobSetup) -> Job:
        async with self._entering:  # a temporary store is opened with its first job: many a team never starts one
            if self.temporary and not self.opened and self.register.set_up is not None:
                await self.open(self.register.set_up)
        key = whole.commission.request.key if whole.commission.request else None
        stored = await self.store.add(whole, key)
        if stored != whole.id and (found := await self.find(stored, whole.owner)) is not None:
            setup.close()
            return found
        job = self.register.hold(whole, setup)
        await self.engine.enqueue(whole.id, 1, whole.owner)
        return job

    # ---- finding

    async def requested(self, owner: str, key: str) -> Job | None:
        """Find the job that a caller started under a key of its own."""
        return await self.find(await self.store.requested(owner, key) or "", owner) if self.opened else None

    def get(self, job_id: str, owner: str = "") -> Job | None:
        """Find a job of this process that `owner` may see."""
        job = self.register.jobs.get(job_id)
        return job if job and job.owner == owner else None

    def of(self, owner: str = "") -> list[Job]:
        """List the jobs of this process that `owner` may see, newest first."""
        return [job for job in reversed(self.register.jobs.values()) if job.owner == owner]

    async def find(self, job_id: str, owner: str = "") -> Job | None:
        """Find a job that `owner` may see, however long ago it ended."""
        job = self.register.jobs.get(job_id)
        if job is not None and job.over and self.opened and not await self.store.states([job_id]):
            self.register.forget(job_id)  # another process deleted it meanwhile
            return None
        if job is not None:
            return job if job.owner == owner else None
        whole = await self.store.job(job_id) if self.opened else None
        return None if whole is None or whole.owner != owner else await self.register.read(whole)

    async def report(self, job_id: str) -> ReportDocument | None:
        """Give a job's report; of one that came to no end the draft, where there is one."""
        return await self.store.report(job_id) or await self.store.draft(job_id) if self.opened else None

    async def listed(
        self, owner: str | None, *, statuses: Sequence[JobStatus] = (), limit: int = 50, offset: int = 0
    ) -> tuple[list[JobSummary], int]:
        """List a page of the jobs that `owner` may see (of everybody where None), newest first; and how many there are."""
        if not self.opened:
            return [], 0
        await self.writer.flush()
        stored = await self.store.summaries(owner, statuses=statuses, limit=limit, offset=offset)
        live = {one.id: one.summary() for one in self.live() if not one.over}
        rows = [live.get(row.id, row) for row in stored]
        return rows, await self.store.count(owner, statuses)

    def live(self) -> list[Job]:
        """List the jobs of this process, whoever's they are."""
        return list(self.register.jobs.values())

    def attach(self, job: Job, thread_id: str) -> None:
        job.thread_id = thread_id
        self.writer.change(job.id, thread_id=thread_id)

    async def in_thread(self, thread_id: str) -> list[Job]:
        """List the jobs of one chat, oldest first."""
        return await self._found(await self.store.in_thread(thread_id) if self.opened else [])

    async def given_texts(self, text_hash: str) -> list[Job]:
        """List the jobs, whoever's they are, that were given this text or have read it."""
        return await self._found(await self.store.using_text(text_hash) if self.opened else [])

    async def _found(self, rows: Sequence[StoredJob]) -> list[Job]:
        return [job for row in rows if (job := await self.find(row.id, row.owner)) is not None]

    async def position(self, job: Job) -> int:
        """Say how many jobs start before this one; users take turns, each user's own jobs in the order they came."""
        if job.status != "queued":
            return 0
        turns: dict[str, int] = {}
        order: list[tuple[int, int, str]] = []
        for arrival, row in enumerate(await self.store.queued()):
            turns[row.owner] = turns.get(row.owner, 0) + 1
            order.append((turns[row.owner], arrival, row.id))
        ahead = [job_id for _, _, job_id in sorted(order)]
        return ahead.index(job.id) if job.id in ahead else 0

    # ---- steering: the worker here does what is ordered; else it is left for that of the process that runs the job

    def _worker_of(self, job: Job) -> Worker | None:
        """Give the worker of this process, unless another process runs the job."""
        elsewhere = job.id in self.register.jobs and job.run.watched
        return None if elsewhere else self.worker

    def change(self, job: Job, command: Command) -> Change:
        """Change a running job: it holds from its next step on, is numbered, and stands in the report.

        A `BadRequest` where it would widen what was authorized, or comes too late: nothing was changed.
        """
        if worker := self._worker_of(job):
            return worker.change(job, command)
        # The process that runs it makes the change and emits the events; here it is only known until those are read.
        change = changed(job, command)
        self.register.background(self._leave_order(job, "change", command.model_dump_json()))
        return change

    def steer(self, job: Job, kind: Steered, path: str = "job", title: str = "") -> Change:
        """Have a branch, or the run, search no further and write; stop or drop it, its siblings go on; or try it again."""
        return self.change(job, steered(kind, path, title))

    def narrow(self, job: Job, limits: Narrowing, words: str) -> Change:
        """Narrow where, of when, or for how long a running job may search."""
        return self.change(job, Command(kind="limits", words=words, limits=limits))

    def guide(self, job: Job, text: str) -> Change:
        return self.change(job, Command(kind="guidance", words=text))

    def stop(self, job: Job) -> None:
        """Cancel a job and everything it has running, at once."""
        if not job.over:
            self._send(job, "cancel")

    def leave(self, job: Job) -> None:
        """Stop a job whose only caller waits no longer, unless it ended or the judge sent it back, report and all."""
        if job.blocked_reason != "needs_rework":
            self.stop(job)

    def release(self, job: Job) -> bool:
        """Let a job pass that the judge held back; False when it is not held."""
        held = job.blocked_reason == "needs_rework"
        if held:
            self._send(job, "release")
        return held

    def _send(self, job: Job, verb: str) -> None:
        async def send() -> None:
            with contextlib.suppress(BadRequest):  # it ended meanwhile
                await (worker.do(job, verb) if (worker := self._worker_of(job)) else self._leave_order(job, verb))

        self.register.background(send(), job)

    async def order(self, job: Job, verb: Literal["pause", "resume", "restart", "rework", "cancel"]) -> Job:
        """Have something done to a job, wait until it is, and give the job as it is then.

        `pause` lets the calls in flight finish and starts none. `resume` lets it go on, also once a key is there.
        `restart` tries anew what failed; `rework` also decides and writes anew. What succeeded is not paid again.
        A `BadRequest` where the state of the job leaves no place for it, or no worker answers.
        """
        if worker := self._worker_of(job):
            await worker.do(job, verb)
        else:
            number, began = await self._leave_order(job, verb), self.clock()
            while not (answer := await self.store.answered(number)):
                if self.clock() - began > self.config.policy.answer_s:
                    raise BadRequest("No worker answers now. It will be done when one does.")
                await asyncio.sleep(0.25)
            if answer != DONE:
                raise BadRequest(answer)
            await self._catch_up()
        return await self.find(job.id, job.owner) or job

    async def _leave_order(self, job: Job, verb: str, argument: str = "") -> int:
        async with self._sending:  # in the order they were given
            return await self.store.add_command(job.id, verb, argument)

    async def add_task(self, job: Job, task: JobTask) -> int:
        """Put an operator's task into a job; gives its number."""
        if task.stage == "plan" and job.commission.brief is None:
            raise BadRequest(PLAN_IS_BOUND)
        number = await self._leave_order(job, f"task:{task.stage}", task.model_dump_json())
        if self.worker is not None:
            await self.worker.do_commands()
        return number

    async def tasks(self, job: Job) -> list[StoredCommand]:
        """List the tasks that were put into a job, oldest first."""
        return await self.store.tasks(job.id)

    async def delete(self, owner: str, job_ids: Sequence[str]) -> int:
        """Delete jobs of a caller with everything that belongs to them, those that run too; says how many."""
        if not self.opened:
            return 0
        rows = [row for row in (await self.store.states(job_ids)).values() if row.owner == owner]
        for row in rows:
            job = None if row.over else await self.find(row.id, owner)
            if job is not None and (worker := self._worker_of(job)):
                await worker.cancel(job)
            elif job is not None:
                with contextlib.suppress(BadRequest):  # nobody runs it
                    await self.order(job, "cancel")
            self.register.forget(row.id)
        return await self.store.delete([row.id for row in rows])


def _queue(config: JobStoreConfig) -> "JobQueue":
    from agents.jobs.engine import JobQueue  # the engine takes a quarter of a second to load

    return JobQueue(config)
