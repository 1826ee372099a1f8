"""Jobs that are kept: started, run on the durable engine, and found again in a later process."""

import asyncio
import contextvars
import json
import logging
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from agents.contracts.job import OVER, JobStatus
from agents.contracts.report import ReportDocument
from agents.contracts.result import Commission, Outcome
from agents.core.budget import Budget, Limits
from agents.core.call_limits import ProcessLimits
from agents.core.errors import BadRequest, DossierError, ModelError
from agents.core.events import JobChanged, Numbered
from agents.jobs.blob_store import Shelf
from agents.jobs.database import Database
from agents.jobs.durable import CODE_VERSION, ENGINE_ERRORS, DurableCtx, Engine, Host
from agents.jobs.filelock import InUse, held_by
from agents.jobs.journal import Journal
from agents.jobs.live import DurableRun
from agents.jobs.orchestrator import orchestrator
from agents.jobs.outcome_rows import rows_of
from agents.jobs.run_state import Clock, Run
from agents.jobs.service import Job, Jobs, Rebuild, Workbench
from agents.jobs.sql_blob_store import DatabaseShelf
from agents.jobs.store import Spending, Store, StoredJob, WholeJob, Wishes
from agents.jobs.store_config import Where

log = logging.getLogger(__name__)

REMEMBERED = 50
"""Jobs that are over and stay in memory; all others are read from the store when somebody asks for them."""
OPEN: tuple[JobStatus, ...] = ("queued", "running", "blocked")
UNWIND_S, UNWIND_TRIES = 1.5, 75
"""Seconds that what was cut off gets to come to its end when the process is closed."""
GONE_VERSION = "It was begun by another version of this program. Restart it: what it had found is used again."


@dataclass
class Held:
    """A job in this process, and what comes with it."""

    job: Job
    bench: Workbench
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    entered: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the store knows the job."""


class KeptJobs(Jobs):
    """All jobs of this process, and of those before it."""

    def __init__(
        self, shelf: Shelf, clock: Clock, where: Where, *, per_job: int = 6, limits: ProcessLimits | None = None
    ) -> None:
        super().__init__(shelf, clock, per_job=per_job, limits=limits)
        self.where = where
        self.engine = Engine(
            where.engine_url, executor=where.executor, workers=where.workers, per_user=where.per_user,
            poll_s=where.poll_s, runs=where.runs,
        )  # fmt: skip
        self.store = Store(Database(where.database_url))
        if not self.store.database.sqlite:
            self.shelf = DatabaseShelf(shelf.folder, self.store)
        self.journal = Journal(self.store)
        self.held: dict[str, Held] = {}
        self.opened = False
        self._entering = asyncio.Lock()
        self._errands: set[asyncio.Task[None]] = set()
        self._loading: dict[str, asyncio.Lock] = {}
        self._rebuild: Rebuild | None = None

    # ---- opening and closing

    async def check(self) -> None:
        """Find out before anything is started whether jobs can be kept.

        Raises:
            ConfigError: the store can't be used, or another process runs its jobs.
        """
        file = self.store.database.file
        if file is not None and (other := held_by(file.with_name("engine.db"))):
            raise InUse(f"The jobs in {file.parent} are already run by {other}.", other)
        try:
            await self.store.database.open()
        finally:
            await self.store.database.close()

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
                if self.mine(row) and (whole := await self.store.job(row.id)) is not None:
                    await self.load(whole)
            await self.engine.open(self._host)
        except BaseException:
            await self._let_go()
            raise
        self.opened = True
        if self.where.runs:
            await self._settle()
        return [held.job for held in self.held.values()]

    def mine(self, row: StoredJob) -> bool:
        """Tell whether this process has to do with a job: on one machine with all, among many with what it ran."""
        return self.store.database.sqlite or not self.where.runs or row.executor == self.where.executor

    async def _settle(self) -> None:
        """Put right what the former process had no time for."""
        for job_id, attempt in await self.engine.stranded():
            held = self.held.get(job_id)
            if held is not None and attempt == self.run_of(held.job).attempt and not held.job.over:
                changed = JobChanged(
                    status="blocked", stage=held.job.stage, blocked_reason="version", note=GONE_VERSION
                )
                held.job.run.emit(f"job#version~{attempt}", changed)
                held.job.status = "blocked"
        for held in list(self.held.values()):
            job, run = held.job, self.run_of(held.job)
            if job.status in {"queued", "running"} and await self.engine.known(job.id, run.attempt) is None:
                await self.engine.enqueue(job.id, run.attempt, job.owner)

    async def close(self) -> None:
        """Let go of everything; what runs is cut off here and goes on at the next start."""
        if not self.opened:
            return
        self.opened = False
        for errand in list(self._errands):
            errand.cancel()
        for held in self.held.values():
            self.run_of(held.job).halt()
        for _ in range(UNWIND_TRIES):
            if not any(self.run_of(held.job).at_work for held in self.held.values()):
                break
            await asyncio.sleep(UNWIND_S / UNWIND_TRIES)
        await self.engine.close()
        await self._let_go()

    async def _let_go(self) -> None:
        await self.journal.close()
        await self.store.database.close()
        for held in self.held.values():
            held.bench.close()
            held.job.let_go = True
            held.job.moved()
            if held.job.task is not None:
                held.job.task.cancel()

    # ---- starting and finding

    def get(self, job_id: str, owner: str = "") -> Job | None:
        held = self.held.get(job_id)
        return held.job if held and held.job.owner == owner else None

    def of(self, owner: str = "") -> list[Job]:
        return [held.job for held in reversed(self.held.values()) if held.job.owner == owner]

    def start(
        self, commission: Commission, bench: Workbench, *, owner: str = "", title: str = "", budget: Limits = Limits()
    ) -> Job:
        """Put a job into the queue. It belongs to nobody's session, and to no process either."""
        row, spending = StoredJob.new(owner, title, CODE_VERSION), Spending.of(budget)
        held = self.hold(WholeJob(row=row, commission=commission, spending=spending, wishes=Wishes()), bench)

        async def submit() -> None:
            async with self._entering:  # in the order they came
                await self.store.add(row, commission, spending)
                held.entered.set()
                await self.engine.enqueue(row.id, 1, owner)

        self.errand(submit(), held.job)
        return held.job

    async def requested(self, owner: str, key: str) -> Job | None:
        return await self.find(await self.store.requested(owner, key) or "", owner) if self.opened else None

    async def start_once(
        self, commission: Commission, bench: Workbench, *, owner: str = "", title: str = "", budget: Limits = Limits()
    ) -> Job:
        """Start a job under the caller's own key, kept before this returns; the same key gives the same job."""
        row, spending = StoredJob.new(owner, title, CODE_VERSION), Spending.of(budget)
        kept = await self.store.add(row, commission, spending, commission.request.key if commission.request else None)
        if kept.id != row.id and (found := await self.find(kept.id, owner)) is not None:
            bench.close()
            return found
        held = self.hold(WholeJob(row=row, commission=commission, spending=spending, wishes=Wishes()), bench)
        held.entered.set()
        await self.engine.enqueue(row.id, 1, owner)
        return held.job

    async def find(self, job_id: str, owner: str = "") -> Job | None:
        held = self.held.get(job_id)
        if held is not None and held.job.over and self.opened and not await self.store.states([job_id]):
            self.held.pop(job_id, None)  # another process deleted it meanwhile
            return None
        if held is not None:
            return held.job if held.job.owner == owner else None
        whole = await self.store.job(job_id) if self.opened else None
        if whole is None or whole.row.owner != owner:
            return None
        return await self.shown(whole) if whole.row.over else (await self.load(whole)).job

    async def waiting(self) -> bool:
        return bool(await self.store.jobs(statuses=("queued", "running"), limit=1))

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

    async def load(self, whole: WholeJob) -> Held:
        """Set up a job from the store, to be run or to wait."""
        job_id = whole.row.id
        async with self._loading.setdefault(job_id, asyncio.Lock()):
            known = self.held.get(job_id)
            if known is not None and self.run_of(known.job).attempt >= whole.row.attempt:
                return known
            if self._rebuild is None:
                raise DossierError("the jobs were not opened")
            events, steps = await self.store.events(job_id), await self.store.steps(job_id)
            held = self.hold(whole, self._rebuild(whole.commission, whole.wishes.steering()), known)
            held.entered.set()
            run = self.run_of(held.job)
            run.events += events
            run.take_up(steps)
            if whole.row.blocked_reason == "awaiting_key":
                held.job.error = BadRequest(whole.row.note)
            if whole.row.blocked_reason == "needs_rework":
                held.job.report = await self.store.report(job_id)
                held.ended.set()
            return held

    def hold(self, whole: WholeJob, bench: Workbench, former: Held | None = None) -> Held:
        """Set up a job to be run or watched here; who watches a former attempt goes on watching the job."""
        row = whole.row
        run = DurableRun(
            job_id=row.id, handlers=bench.handlers, budget=Budget(whole.spending.limits(), name="job"),
            clock=self.clock, limits=self.limits, per_job=self.per_job, steering=bench.steering, attempt=row.attempt,
            again=row.again, journal=self.journal, find=lambda key: self.store.step(row.id, key),
            watched=not self.where.runs,
        )  # fmt: skip
        if former is not None and not former.ended.is_set():
            job = former.job
            job.run, job.status, job.stage, job.blocked_reason = run, row.status, row.stage, row.blocked_reason
            held = self.held[row.id] = Held(job, bench, former.ended, former.entered)
        else:
            job = Job(
                id=row.id, owner=row.owner, title=row.title, commission=whole.commission, run=run,
                created=row.created.isoformat(timespec="seconds"), status=row.status, stage=row.stage,
                blocked_reason=row.blocked_reason,
            )  # fmt: skip
            held = self.held[row.id] = Held(job, bench)
            waits, loop = _until(held.ended), asyncio.get_running_loop()
            job.task = loop.create_task(waits, context=contextvars.Context(), name=f"job-{row.id}")
        run.listeners.append(lambda numbered: self._heard(job, numbered))
        run.listeners.append(lambda numbered: self._planning(job, numbered))
        run.on_key_lacking = lambda error: self.errand(self.key_lacks(held, run, error), job)
        return held

    def _planning(self, job: Job, numbered: Numbered) -> None:
        """Write down how planning stands, whenever the job enters a stage."""
        if not isinstance(numbered.event, JobChanged):
            return
        contract = job.commission.contract
        planned = sum(len(plan.claims) for plan in contract.plans) if contract else 0
        stands = orchestrator(
            job.run.events, datetime.fromisoformat(job.created), stage=numbered.event.stage,
            claims=len(job.report.claims) if job.report and job.report.claims else planned,
            window_s=self.where.planner_window_s,
        )  # fmt: skip
        self.journal.change(job.id, metadata=json.dumps({"orchestrator": stands}))

    async def key_lacks(self, held: Held, run: DurableRun, error: ModelError) -> None:
        """Have a job rest until there is a key that its model accepts."""
        raise error

    async def shown(self, whole: WholeJob) -> Job:
        """Set up a job that is over, to be looked at."""
        row = whole.row
        run = Run(
            job_id=row.id, handlers={}, budget=Budget(whole.spending.limits(), name="job"), clock=lambda: 0.0,
            limits=self.limits, events=await self.store.events(row.id), again=row.again,
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
        held = self.held.get(job_id)
        if held is None or self.run_of(held.job).attempt < attempt:
            whole = await self.store.job(job_id)
            if whole is None or whole.row.attempt != attempt or whole.row.status not in OPEN:
                return None
            held = await self.load(whole)
        run = self.run_of(held.job)
        if run.attempt != attempt or held.job.status in {*OVER, "blocked"}:
            self.errand(self.engine.cancel(job_id, attempt))
            return None
        return Host(run=run, work=lambda ctx: self._carried(held, ctx))

    async def _carried(self, held: Held, ctx: DurableCtx) -> None:
        job, research = held.job, ctx.run.handlers["research"]

        async def work() -> Outcome:
            try:
                return Outcome.model_validate(await research.run(ctx, job.commission))
            except Exception as error:
                if not (ctx.run.halted or isinstance(error, ENGINE_ERRORS)):
                    raise
                ctx.run.break_off(error)
                raise asyncio.CancelledError from error

        self.journal.change(job.id, executor=self.where.executor)
        if job.status == "queued" and ctx.run.attempt > 1:
            ctx.run.emit(f"job#running~{ctx.run.attempt}", JobChanged(status="running", stage=job.stage))
        await self._carry_out(job, held.bench, work)
        await self.journal.flush()
        # Paused when only its end was left to be told: the next attempt tells it, from what is recorded.
        if not ctx.run.halted or job.status in OVER:
            self.over(held)

    async def _keep(self, job: Job, outcome: Outcome, document: ReportDocument) -> None:
        await super()._keep(job, outcome, document)
        await self.store.keep_outcome(job.id, rows_of(job.id, self.run_of(job).attempt, outcome, document))
        self.journal.change(
            job.id, grade=document.grade, title=document.title, commission=job.commission.model_dump_json()
        )

    def over(self, held: Held) -> None:
        """Let a job rest, and forget the oldest of those that rest."""
        held.ended.set()
        held.bench.close()
        held.job.moved()
        rest = [job_id for job_id, one in self.held.items() if one.ended.is_set() and one.job.status in OVER]
        for job_id in rest[:-REMEMBERED]:
            self.held.pop(job_id, None)
            self._loading.pop(job_id, None)

    @staticmethod
    def run_of(job: Job) -> DurableRun:
        """Give the run of a job that is held here."""
        if not isinstance(job.run, DurableRun):
            raise BadRequest("This job is over.")
        return job.run

    def errand(self, work: Coroutine[Any, Any, Any], job: Job | None = None) -> None:
        """Do something about a job that nobody waits for; if it goes wrong the job says so."""

        async def run() -> None:
            try:
                await work
            except Exception as error:
                log.exception("something about a job went wrong")
                if job is not None and job.status not in OVER and (held := self.held.get(job.id)):
                    job.error = error if isinstance(error, DossierError) else DossierError(str(error))
                    job.status = "failed"
                    self.over(held)

        task = asyncio.get_running_loop().create_task(run(), context=contextvars.Context())
        self._errands.add(task)
        task.add_done_callback(self._errands.discard)


async def _until(ended: asyncio.Event) -> None:
    await ended.wait()
