"""Jobs of this process: started outside any chat session, watched and steered from anywhere, their reports kept."""

import asyncio
import contextvars
import logging
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from agents.contracts.change import Change, Narrowing, Wish
from agents.contracts.job import OVER, BlockedReason, JobRecord, JobStatus, Stage
from agents.contracts.report import Actual, ReportDocument, StandIn
from agents.contracts.result import Commission, Outcome
from agents.core.budget import Budget, Limits
from agents.core.call_limits import ProcessLimits
from agents.core.errors import DossierError
from agents.core.events import JobChanged, Numbered, PageCount, ReportWritten, RoleAsked
from agents.core.port import Handlers
from agents.core.trace_context import TraceContext, traced
from agents.jobs.blob_store import Shelf
from agents.jobs.changing import allowed, applied
from agents.jobs.memory_port import JobRun
from agents.jobs.run_state import Clock, Run
from agents.research.steering import Steering

log = logging.getLogger(__name__)

Builder = Callable[[str, Outcome, Actual], ReportDocument]
"""Makes the report document of a job from its outcome and what it took."""


@dataclass
class Workbench:
    """What one job runs with: its handlers, and what to do when it is over."""

    handlers: Handlers
    build: Builder
    close: Callable[[], None] = lambda: None
    steering: Steering = field(default_factory=Steering)


@dataclass
class Job:
    """One job, live: its record so far, its events, its task."""

    id: str
    owner: str
    title: str
    commission: Commission
    run: Run
    created: str
    status: JobStatus = "queued"
    stage: Stage = "planning"
    blocked_reason: BlockedReason | None = None
    error: DossierError | None = None
    report: ReportDocument | None = None
    task: asyncio.Task[None] | None = None
    let_go: bool = False
    """True once this process has to do with it no more, though it goes on elsewhere or later."""
    _moved: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def over(self) -> bool:
        """True once nothing about it will change."""
        return self.status in OVER and (self.task is None or self.task.done())

    @property
    def notice(self) -> str:
        """One sentence for the user about what went wrong; empty when nothing did."""
        return self.error.notice if self.error else ""

    def moved(self) -> None:
        """Wake everybody who follows the events."""
        self._moved.set()
        self._moved = asyncio.Event()

    @property
    def awaits_key(self) -> bool:
        """True while it rests because a model's key is missing or refused; `error` says which."""
        return self.status == "blocked" and self.blocked_reason == "awaiting_key"

    async def follow(
        self, after: int = 0, *, heartbeat_s: float = 15.0, attended: bool = False
    ) -> AsyncIterator[Numbered | None]:
        """Give the events after number `after`, then new ones as they come, until the last; None as a heartbeat.

        With `attended`, for callers who do nothing but wait for it, also until it rests for want of a key.
        """
        seq = after
        while True:
            moved = self._moved
            for numbered in self.run.events[seq : self.run.visible]:
                seq = numbered.seq
                yield numbered
            if self.let_go or (self.status in OVER and seq >= len(self.run.events)) or (attended and self.awaits_key):
                return
            try:
                # Not `wait_for`, which makes a task of its own for every event of every watcher.
                async with asyncio.timeout(heartbeat_s):
                    await moved.wait()
            except TimeoutError:
                yield None

    async def wait(self) -> None:
        """Wait for the end, however it comes."""
        if self.task is not None:
            await asyncio.wait({self.task})

    async def settled(self) -> None:
        """Wait for the end, or until it rests for want of a key: for callers who do nothing but wait for it."""
        while not self.awaits_key and self.task is not None and not self.task.done():
            moved = asyncio.ensure_future(self._moved.wait())
            await asyncio.wait({self.task, moved}, return_when=asyncio.FIRST_COMPLETED)
            moved.cancel()

    def record(self) -> JobRecord | None:
        """Describe the job for stores and routes; None while its contract is still being planned."""
        if self.commission.contract is None:
            return None
        return JobRecord(
            id=self.id,
            owner=self.owner,
            contract=self.commission.contract,
            status=self.status,
            stage=self.stage,
            created=self.created,
            blocked_reason=self.blocked_reason,
            error=self.notice,
            report=self.report,
        )


Rebuild = Callable[[Commission, Steering], Workbench]
"""Sets up a commission's workbench anew, after a restart."""


class Jobs:
    """All jobs of this process, in memory: what is over or cut off is gone with it."""

    def __init__(self, shelf: Shelf, clock: Clock, *, per_job: int = 6, limits: ProcessLimits | None = None) -> None:
        self.shelf, self.clock, self.per_job = shelf, clock, per_job
        self.limits = limits or ProcessLimits()
        self._jobs: dict[str, Job] = {}

    async def check(self) -> None:
        """Find out before anything is started whether jobs can be kept; here none are."""

    async def open(self, rebuild: Rebuild) -> list[Job]:
        """Take up what a former process left; here it left nothing."""
        return []

    async def find(self, job_id: str, owner: str = "") -> Job | None:
        """Find a job that `owner` may see, however long ago it ended."""
        return self.get(job_id, owner)

    async def waiting(self) -> bool:
        """Tell whether any job waits or runs, here or elsewhere."""
        return any(job.status in {"queued", "running"} for job in self._jobs.values())

    async def position(self, job: Job) -> int:
        """Say how many jobs start before this one; 0 when it need not wait."""
        return 0

    def start(
        self, commission: Commission, bench: Workbench, *, owner: str = "", title: str = "", budget: Limits = Limits()
    ) -> Job:
        """Start a job. It belongs to nobody's session: closing the page does not touch it."""
        job_id = uuid.uuid4().hex
        run = JobRun(
            job_id=job_id,
            handlers=bench.handlers,
            budget=Budget(budget, name="job"),
            clock=self.clock,
            limits=self.limits,
            per_job=self.per_job,
            steering=bench.steering,
        )
        job = Job(
            id=job_id,
            owner=owner,
            title=title,
            commission=commission,
            run=run,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        run.listeners.append(lambda numbered: self._heard(job, numbered))
        self._jobs[job_id] = job
        # An empty context: a job must not inherit the chat session that started it, whose emitter dies with the page.
        job.task = asyncio.get_running_loop().create_task(
            self._work(job, bench, run), context=contextvars.Context(), name=f"job-{job_id}"
        )
        return job

    async def requested(self, owner: str, key: str) -> Job | None:
        """Find the job that a caller started under a key of its own."""
        wanted = (job for job in self.of(owner) if job.commission.request and job.commission.request.key == key)
        return next(wanted, None)

    async def start_once(
        self, commission: Commission, bench: Workbench, *, owner: str = "", title: str = "", budget: Limits = Limits()
    ) -> Job:
        """Start a job under the key of its request; where that key has a job, it is given instead."""
        known = await self.requested(owner, commission.request.key) if commission.request else None
        if known is not None:
            bench.close()
            return known
        return self.start(commission, bench, owner=owner, title=title, budget=budget)

    def get(self, job_id: str, owner: str = "") -> Job | None:
        """Find a job that `owner` may see."""
        job = self._jobs.get(job_id)
        return job if job and job.owner == owner else None

    def of(self, owner: str = "") -> list[Job]:
        """List the jobs that `owner` may see, newest first."""
        return [job for job in reversed(self._jobs.values()) if job.owner == owner]

    def stop(self, job: Job) -> None:
        """Cancel a job and everything it has running, at once."""
        if job.task and not job.task.done():
            job.task.cancel()
            if job.status == "queued":
                # Its task never ran, so it will not tell of its own end.
                job.run.emit("job#ended", JobChanged(status="cancelled", stage=job.stage, note="Stopped."))

    def change(self, job: Job, wish: Wish) -> Change:
        """Change a running job: it holds from its next step on, is numbered, and stands in the report.

        Raises:
            BadRequest: it would widen what was authorized, or comes too late; nothing was changed.
        """
        change = job.run.steering.take(self._allowed(job, wish), job.run.now())
        applied(change, job.run)
        return change

    @staticmethod
    def _allowed(job: Job, wish: Wish) -> Wish:
        commission = job.commission
        return allowed(wish, job.run, commission.contract.brief if commission.contract else commission.brief)

    def finish(self, job: Job, path: str = "job", title: str = "") -> Change:
        """Ask a job, or one of its branches, to search no further and to write from what it has."""
        what = f"branch {title or path}" if path != "job" else "the run"
        words = f"{what} searches no further and writes from what it has"
        return self.change(job, Wish(kind="finish", node=path, title=title, words=words))

    def release(self, job: Job) -> bool:
        """Let a job pass that the judge held back; False when it is not held."""
        if job.status != "blocked":
            return False
        job.run.emit("job#released", JobChanged(status="done", stage="completed", note="Released as it is."))
        return True

    def stop_branch(self, job: Job, path: str, title: str = "") -> Change:
        """Stop one branch at once; its siblings go on, and what it has found is kept."""
        return self.change(job, Wish(kind="stop", node=path, title=title, words=f"branch {title or path} was stopped"))

    def drop_branch(self, job: Job, path: str, title: str = "") -> Change:
        """Stop one branch at once and leave out what it has found; its siblings go on."""
        return self.change(job, Wish(kind="drop", node=path, title=title, words=f"branch {title or path} was dropped"))

    def try_again(self, job: Job, path: str, title: str = "") -> Change:
        """Have a failed or stopped branch tried again, within what the contract leaves.

        Raises:
            BadRequest: it is neither, was given up after three failures, or no time or money is left.
        """
        words = f"branch {title or path} is tried again"
        return self.change(job, Wish(kind="retry", node=path, title=title, words=words))

    def narrow(self, job: Job, limits: Narrowing, words: str) -> Change:
        """Narrow where, of when, or for how long a running job may search.

        Raises:
            BadRequest: that would widen it, or leave nothing to search.
        """
        return self.change(job, Wish(kind="limits", words=words, limits=limits))

    def guide(self, job: Job, text: str) -> Change:
        """Add guidance that the next rounds follow."""
        return self.change(job, Wish(kind="guidance", words=text))

    async def close(self) -> None:
        """Stop everything and wait until it has stopped."""
        tasks = [job.task for job in self._jobs.values() if job.task and not job.task.done()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _heard(self, job: Job, numbered: Numbered) -> None:
        if isinstance(numbered.event, JobChanged):
            job.status, job.stage = numbered.event.status, numbered.event.stage
            job.blocked_reason = numbered.event.blocked_reason
        job.moved()

    async def _work(self, job: Job, bench: Workbench, run: JobRun) -> None:
        try:
            await self._carry_out(job, bench, lambda: run.run("research", job.commission, Outcome))
        except asyncio.CancelledError:
            run.emit("job#ended", JobChanged(status="cancelled", stage=job.stage, note="Stopped."))
        finally:
            bench.close()
            job.moved()

    async def _carry_out(self, job: Job, bench: Workbench, research: Callable[[], Awaitable[Outcome]]) -> None:
        """Do a job's work and tell how it ended; being cut off is the caller's to tell."""
        with traced(TraceContext(job.id, "job")):
            await self._carried_out(job, bench, research)

    async def _carried_out(self, job: Job, bench: Workbench, research: Callable[[], Awaitable[Outcome]]) -> None:
        run = job.run
        try:
            run.emit("job#started", JobChanged(status="running", stage="planning"))
            outcome = (await research()).model_copy(update={"changes": tuple(run.steering.changes)})
            job.commission = job.commission.model_copy(update={"contract": outcome.contract})
            document = bench.build(job.id, outcome, self._actual(job))
            # Saved before anything else is done with it: what was written can't be lost by what comes after.
            await self._keep(job, outcome, document)
            job.report = document
            run.emit(
                "job#report",
                ReportWritten(grade=document.grade, title=document.title, references=len(document.references)),
            )
            judgement = outcome.truth.judgement
            if judgement is not None and judgement.verdict == "request_changes":
                # Readable meanwhile: only its status waits for somebody to release or rework it.
                note = " ".join(judgement.reasons)
                run.emit(
                    "job#blocked",
                    JobChanged(status="blocked", stage="judging", blocked_reason="needs_rework", note=note),
                )
            else:
                run.emit("job#ended", JobChanged(status="done", stage="completed"))
        except DossierError as error:
            self._failed(job, error)
        except Exception:
            log.exception("job %s failed", job.id)
            self._failed(job, DossierError("unexpected error; see the log"))

    async def _keep(self, job: Job, outcome: Outcome, document: ReportDocument) -> None:
        await self.shelf.keep_report(document)

    def _failed(self, job: Job, error: DossierError) -> None:
        log.warning("job %s failed: %s", job.id, error)
        job.error = error
        job.run.emit("job#ended", JobChanged(status="failed", stage=job.stage, note=error.notice))

    @staticmethod
    def _actual(job: Job) -> Actual:
        run = job.run
        spent, pages = run.budget.spent, PageCount()
        for numbered in run.events:
            pages.take(numbered.event)
        return Actual(
            seconds=round(run.now(), 3),
            tokens_in=spent.tokens_in,
            tokens_out=spent.tokens_out,
            cost_usd=spent.cost_usd,
            model_calls=spent.calls,
            searches=spent.searches,
            pages_fetched=pages.fetched,
            pages_empty=pages.empty,
            stand_ins=stand_ins(run.events),
            started_at=job.created,
        )


def stand_ins(events: Iterable[Numbered]) -> tuple[StandIn, ...]:
    """Count which models answered in the place of others, from the events of a job."""
    found: dict[tuple[str, str], StandIn] = {}
    for numbered in events:
        asked = numbered.event
        if isinstance(asked, RoleAsked) and asked.stood_in_for:
            pair = (asked.model, asked.stood_in_for)
            before = found[pair].answers if pair in found else 0
            found[pair] = StandIn(
                model=asked.model, stood_in_for=asked.stood_in_for, answers=before + 1, because=asked.stood_in
            )
    return tuple(found.values())
