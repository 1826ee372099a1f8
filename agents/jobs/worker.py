"""The worker of stored jobs: runs attempts, does what is commanded, and looks after the store.

What stands here beside DBOS, and why:

- **Attempts.** A job that is resumed, restarted, reworked or lost goes on as its next attempt, a new workflow. DBOS can
  resume a cancelled workflow, but not do one again that is over, nor leave out single steps of it.
- **Pause.** DBOS can only cancel, which throws away the calls in flight. The run's gate lets them finish first.
- **Lost workers.** DBOS takes up the work of a worker only under the same name; taking over for one that never comes
  back is a paid product. Signs of life in a table do it here.
- **Commands.** A DBOS message reaches a workflow, and only while it runs. Most commands are for jobs that do not run.
- **Version.** DBOS leaves the workflows of another version of the program waiting for ever; here they are shown as blocked.
"""

import asyncio
import contextlib
import ctypes
import gc
import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from sqlalchemy.exc import SQLAlchemyError

from agents.contracts.contract import Change, Command
from agents.contracts.frozen import Said
from agents.contracts.report import OVER, BlockedReason, JobTask, Outcome, ReportDocument
from agents.core.errors import BadRequest, DossierError, ModelError
from agents.core.events import JobChanged, Noted, ReportWritten, TraceContext, traced
from agents.core.settings import reread_keys
from agents.jobs import schema as tables
from agents.jobs.attempt import ROOT, Attempt
from agents.jobs.blob_store import BlobStore
from agents.jobs.changes import applied, changed
from agents.jobs.job import WRITING, Job, poorer
from agents.jobs.register import OPEN, UNWIND_S, Register
from agents.jobs.store import DONE, StoredCommand, now

if TYPE_CHECKING:
    from agents.jobs.engine import JobQueue
    from agents.jobs.register import AtOnce

log = logging.getLogger(__name__)

PLAN_IS_BOUND = "The plan of this job was authorized as it is. Start a new job for another plan."
TAKEN = "Somebody else has just taken this job up."
AGAIN: Mapping[str, tuple[str, frozenset[str]]] = {
    "restart": ("Restarted.", frozenset()),
    "rework": ("Reworked.", WRITING),
    "write": ("Reworked.", WRITING),
    "collect": ("Reworked.", WRITING),
    "challenge": ("Challenged anew.", WRITING),
    "plan": ("Planned anew.", WRITING | {"planner", "survey"}),
}
"""Ways to do a job again: what is noted, and which kinds of steps are done anew beside those that failed."""
_STOOD_IN = re.compile('"stood_in_for":"[^"]')
"""What another model wrote is as good as failed."""
NOT_ANEW = "The model could not write it anew."
QUIET_BEATS = 2
"""Signs of life without a job at work after which memory is given back: a third of a second of work, never before a job."""
GRACE = timedelta(days=1)
"""Age from which an unused text is swept out: one is put a moment before the step that names it is written down."""
OTHER_VERSION = "It was begun by another version of this program. Restart it: what it had found is used again."


def give_back_memory() -> None:
    """Return what is free to the system, which the C library would keep: half of what a server holds after a few jobs."""
    gc.collect()
    with contextlib.suppress(AttributeError, OSError):  # only the GNU library has it
        ctypes.CDLL(None).malloc_trim(0)


class Worker:
    """Runs the jobs of the store in this process."""

    def __init__(self, register: Register, engine: "JobQueue | AtOnce", blobs: BlobStore, *, cleans: bool) -> None:
        self.register, self.engine, self.blobs, self.cleans = register, engine, blobs, cleans
        self.store, self.writer = register.store, register.writer
        self.config, self.policy, self.clock = register.config, register.config.policy, register.clock
        register.on_key_missing = lambda job, run, error: register.background(self._key_missing(job, run, error), job)
        self.chores: list[Callable[[], Awaitable[object]]] = []
        """What else is done whenever old jobs are looked for."""
        self._ordered = asyncio.Lock()
        self._silent_at: dict[str, int] = {}
        self._next_beat = self._next_clean = float("-inf")
        self._looked_at: int | None = None
        self._beats_to_give_back = QUIET_BEATS

    # ---- opening and closing

    async def open(self) -> None:
        """Start the engine, which runs what a former process left, and put right what that had no time for."""
        others = [one for one in await self.store.living(self.policy.dead_s) if one != self.config.executor]
        await self.store.return_commands([] if self.store.database.sqlite else others)
        await self.engine.open(self.run_attempt)
        for row in (await self.store.states(list(self.register.jobs))).values():
            if row.status not in {"queued", "running"}:
                continue
            if row.code_version == self.config.code_version:
                await self.engine.enqueue(
                    row.id, row.attempt, row.owner
                )  # nothing new, unless the process had died before
                continue
            version = JobChanged(status="blocked", stage=row.stage, blocked_reason="version", note=OTHER_VERSION)
            self.register.jobs[row.id].run.emit(f"job#version~{row.attempt}", version)
            self.register.jobs[row.id].status = "blocked"
            if self.store.database.sqlite:  # nobody else runs it, and it would hold a place of its user's for ever
                await self.engine.cancel(row.id, row.attempt)
        for row in reversed(await self.store.jobs(statuses=("blocked",), limit=10_000)):
            if row.blocked_reason == "awaiting_key":  # this process may have been started with a better one
                with contextlib.suppress(BadRequest):  # another process was quicker
                    await self.begin(row.id, "Tried again with the keys as they are now.")

    async def halt(self) -> None:
        """Cut off what runs here; it goes on at the next start."""
        runs = [job.run for job in self.register.jobs.values()]
        tasks = [run.task for run in runs if run.task is not None and not run.task.done()]
        for run in runs:
            run.halt()
        if tasks:
            await asyncio.wait(tasks, timeout=UNWIND_S)

    # ---- running

    async def run_attempt(self, job_id: str, attempt: int) -> None:
        """Run an attempt, unless it is over, paused, or a later one has taken its place."""
        job = self.register.jobs.get(job_id)
        if job is None or job.run.attempt < attempt:
            whole = await self.store.job(job_id)
            if whole is None or whole.attempt != attempt or whole.status not in OPEN:
                return  # over: an attempt that was left without its end would hold a place of its user's for ever
            job = await self.register.load(whole)
        run = job.run
        if run.attempt != attempt or job.status in {*OVER, "blocked"}:
            self.register.background(self.engine.cancel(job_id, attempt))
            raise asyncio.CancelledError
        if run.halted:
            raise asyncio.CancelledError
        if not self.store.database.sqlite:
            # From here on orders find who runs it; one that another worker took before that is heeded.
            self.writer.change(job_id, attempt, executor=self.config.executor)
            await self.writer.flush()
            whole = await self.store.job(job_id)
            if whole is None or whole.attempt != attempt or whole.status not in OPEN:
                return
        run.watched, self._beats_to_give_back = False, QUIET_BEATS
        await run.work(lambda: self._work(job, run))

    async def _work(self, job: Job, run: Attempt) -> None:
        self.writer.change(job.id, run.attempt, executor=self.config.executor)
        if job.status == "queued" and run.attempt > 1:
            run.emit(f"job#running~{run.attempt}", JobChanged(status="running", stage=job.stage))
        with traced(place := TraceContext(job.id, ROOT)), run.span(run, place, job.owner):
            try:
                run.emit("job#started", JobChanged(status="running", stage="planning"))
                outcome = await self._research(job, run)
                await run.gate.wait()
                await self._deliver(job, outcome)
            except Exception as error:
                log.warning("job %s failed: %s", job.id, error, exc_info=not isinstance(error, DossierError))
                failure = error if isinstance(error, DossierError) else DossierError("unexpected error; see the log")
                earlier = None
                with contextlib.suppress(SQLAlchemyError):
                    earlier = await self.store.report(job.id) if run.again else None
                if earlier is not None:
                    self._stay(job, earlier, failure.notice)
                else:
                    job.error = failure
                    run.emit("job#ended", JobChanged(status="failed", stage=job.stage, note=failure.notice))
        await self.writer.flush()
        # Paused when only its end was left to be emitted: the next attempt does it, from what is recorded.
        if not run.halted or job.status in OVER:
            self.register.end(job)

    async def _research(self, job: Job, run: Attempt) -> Outcome:
        try:
            done = await run.run("research", job.commission, Outcome)
        except SQLAlchemyError as error:
            # Not the job's fault: a database is away. Nothing is recorded, so that it can be taken up again.
            run.break_off(error)
            raise asyncio.CancelledError from error
        return done.model_copy(update={"changes": tuple(run.steering.changes)})

    async def _deliver(self, job: Job, outcome: Outcome) -> None:
        """Make and store the report, before any check of the job's end, so that it can't be lost by what comes after."""
        if job.setup is None:
            raise DossierError("the job was not set up")
        job.commission = job.commission.model_copy(update={"contract": outcome.contract})
        document = job.setup.build(job.id, outcome, job.actual())
        earlier = await self.store.report(job.id) if job.run.again else None
        if earlier is not None and poorer(document, earlier, job.run):
            self._stay(job, earlier, NOT_ANEW)
            return
        await self.save(job, outcome, document)
        job.report = document
        unanswered = tuple(one.section for one in document.answers if one.section and one.status != "answered")
        written = ReportWritten(
            grade=document.grade, title=document.title, references=len(document.references), unanswered=unanswered,
            limited=document.limited,
        )  # fmt: skip
        job.run.emit("job#report", written)
        judgement = outcome.truth.judgement
        if judgement is not None and judgement.verdict == "request_changes":
            # Readable meanwhile: only its status waits for somebody to release or rework it.
            note = " ".join(judgement.reasons)
            blocked = JobChanged(status="blocked", stage="judging", blocked_reason="needs_rework", note=note)
            job.run.emit("job#blocked", blocked)
        else:
            job.run.emit("job#ended", JobChanged(status="done", stage="completed"))

    def _stay(self, job: Job, earlier: ReportDocument, why: str, *, outside: bool = False) -> None:
        """End as it ended before, with the report that there was: what was gathered is not lost by a later failure.

        `outside` where somebody else than the job ends it.
        """
        job.report = earlier
        tell = job.run.announce if outside else job.run.emit
        tell(f"job#stays~{job.run.attempt}", Noted(text=Said("{why} The earlier report stays.", why=why)))
        done = JobChanged(status="done", stage="completed")
        changes = (one.event for one in reversed(job.run.events) if isinstance(one.event, JobChanged))
        last = next((one for one in changes if one.status in OVER or one.blocked_reason == "needs_rework"), done)
        tell("job#ended", last if last.status == "blocked" else done)

    async def save(self, job: Job, outcome: Outcome, document: ReportDocument) -> None:
        rows = tables.rows_of(job.id, job.run.attempt, outcome, document)
        if not await self.store.save_outcome(job.id, job.run.attempt, rows):
            job.run.halt()
            raise asyncio.CancelledError
        commission = job.commission.model_dump_json()
        self.writer.change(job.id, job.run.attempt, grade=document.grade, title=document.title, commission=commission)

    # ---- steering

    def change(self, job: Job, command: Command) -> Change:
        change = changed(job, command)
        applied(change, job.run)
        self.writer.change(job.id, job.run.attempt, steering=job.run.steering.model_dump_json())
        return change

    async def do(self, job: Job, verb: str, argument: str = "") -> None:
        """Do what is ordered, here or by another process; a `BadRequest` where the state of the job leaves no place for it."""
        match verb:
            case "pause" if job.status in {"queued", "running"}:
                await self._rest(job, job.run, "paused", "Paused.")
            case "pause":
                raise BadRequest(f"Only a waiting or running job can be paused; this one is {job.status}.")
            case "resume" if job.status == "blocked" and job.blocked_reason in {"paused", "awaiting_key"}:
                if job.blocked_reason == "awaiting_key":
                    reread_keys()  # one may have been put into `.env` meanwhile
                await self.begin(job.id, "Resumed.")
            case "resume":
                raise BadRequest("Only a job that is paused, or waits for a key, can be resumed.")
            case "restart" | "rework":
                await self.again(job, verb)
            case "cancel" if not job.over:
                await self.cancel(job)
            case "change" if not job.over:
                self.change(job, Command.model_validate_json(argument))
            case "release" if job.status == "blocked":
                if job.blocked_reason == "needs_rework":
                    note = JobChanged(status="done", stage="completed", note="Released as it is.")
                    job.run.emit(f"job#released~{job.run.attempt}", note)
            case _ if verb.startswith("task:"):
                await self.do_task(job, JobTask.model_validate_json(argument))
            case _:
                raise BadRequest("Nothing to do: this job is {status}.", status=job.status)

    async def cancel(self, job: Job) -> None:
        """Cut a job off with everything it has running; one that is done anew keeps the report that it has."""
        run, note = job.run, "Stopped."
        earlier = await self.store.report(job.id) if run.again else None
        if earlier is not None:
            self._stay(job, earlier, note, outside=True)
        else:
            stopped = JobChanged(status="cancelled", stage=job.stage, note=note)
            run.announce(f"job#cancelled~{run.attempt}", stopped)
        run.halt()
        await self.writer.flush()
        await self.engine.cancel(job.id, run.attempt)
        self.register.end(job)

    async def _key_missing(self, job: Job, run: Attempt, error: ModelError) -> None:
        log.warning("job %s waits for a key: %s", job.id, error)
        job.error = error
        form = "{why} It goes on at the next start, or when it is resumed; nothing is paid again."
        await self._rest(job, run, "awaiting_key", Said(form, why=error.notice))

    async def _rest(self, job: Job, run: Attempt, reason: BlockedReason, note: str) -> None:
        run.gate.clear()
        blocked = JobChanged(status="blocked", stage=job.stage, blocked_reason=reason, note=note)
        run.emit(f"job#{reason}~{run.attempt}", blocked)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.policy.drain_s):
                await run.idle.wait()
        await self.writer.flush()
        if not run.halted:
            run.halt()
            await self.engine.cancel(job.id, run.attempt)

    async def do_task(self, job: Job, task: JobTask) -> None:
        """Do an operator's task: in a running job at once, else as the job's next attempt."""
        at_work = not job.over and job.status != "blocked"
        if task.guidance:
            self.change(job, Command(kind="guidance", words=task.guidance))
        if task.stage == "write" and at_work:
            self.change(job, Command(kind="finish", node=ROOT, words="the run writes from what it has"))
        if task.stage not in {"collect", "write"} or not at_work:
            await self.writer.flush()
            await self.again(job, task.stage, task.claim_id)

    # ---- the next attempt: it uses what earlier ones recorded; what it shall do anew is forgotten first

    async def again(self, job: Job, what: str, claim_id: str = "") -> None:
        """Do a job again from its last good steps: what failed, and the steps that `what`, one of `AGAIN`, is about."""
        if job.status in {"queued", "running"}:
            raise BadRequest(f"This job is {job.status}; stop or pause it first.")
        note, kinds = AGAIN[what]
        commission = None
        if what == "plan":
            if job.commission.brief is None:
                raise BadRequest(PLAN_IS_BOUND)
            commission = job.commission.model_copy(update={"contract": None}).model_dump_json()
        forget, reached = [], 0.0
        for key, (_, step) in (await self.store.steps(job.id)).items():
            reached = max(reached, step.elapsed)
            path, _, name = key.partition("#")
            parts = path.split("/")
            challenged = what == "challenge" and any(part.startswith("challenge") for part in parts)
            challenged = challenged and (not claim_id or any(claim_id in part for part in parts))
            kind = name.partition(":")[0]
            if step.failure or challenged or kind in kinds or (kind in WRITING and _STOOD_IN.search(step.value)):
                forget.append(key)
        await self.begin(job.id, note, again_at_s=reached, forget=forget, commission=commission)

    async def begin(
        self, job_id: str, note: str, *, again_at_s: float | None = None, lost: bool = False, forget: Iterable[str] = (),
        commission: str | None = None,
    ) -> None:  # fmt: skip
        """Begin the next attempt at a job; of several who want to, one does: the others get a `BadRequest`.

        One that shall do something again has the time that was agreed anew, from where the clock stands (`again_at_s`).
        """
        await self.writer.flush()  # a call that ended just when it was cut off is paid: the next attempt reads it
        row = await self.store.job(job_id)
        if row is None:
            raise BadRequest("There is no such job any more.")
        steering, again = row.steering, again_at_s is not None
        if row.status in {"queued", "running"} and not (lost and (row.executor or row.status == "running")):
            raise BadRequest(TAKEN)
        if again_at_s is not None:
            events = await self.store.events(job_id)
            steering = steering.for_next_attempt(max([again_at_s, *(one.seconds for one in events[-1:])]), note)
            if row.blocked_reason == "needs_rework":  # what the judge found is heeded by all that is still to come
                ends = (one.event for one in reversed(events) if isinstance(one.event, JobChanged))
                found = next(one.note for one in ends if one.blocked_reason == "needs_rework")
                steering.guidance += [] if found in steering.guidance else [found]
        changed = {"attempt": row.attempt + 1, "again": row.again + again, "status": "queued", "blocked_reason": None}
        taken = await self.store.change(
            job_id, at_attempt=row.attempt, forget=forget, **changed, steering=steering.model_dump_json(), executor="",
            code_version=self.config.code_version, **({} if commission is None else {"commission": commission}),
        )  # fmt: skip
        if not taken:
            raise BadRequest(TAKEN)
        held = self.register.jobs.get(job_id)
        if held is not None and held.run.attempt == row.attempt:  # a round may have loaded the new attempt already
            held.run.halt()
        await self.engine.cancel(job_id, row.attempt)
        job = await self.register.load(whole := await self.store.job(job_id) or row)
        job.commission = whole.commission
        stage = "planning" if again else row.stage
        job.run.emit(f"job#anew~{job.run.attempt}", JobChanged(status="queued", stage=stage, note=note))
        await self.writer.flush()
        await self.engine.enqueue(job_id, job.run.attempt, row.owner)

    # ---- commands of other processes

    async def do_commands(self) -> None:
        for command in await self.store.take_commands(self.config.executor):
            self.register.background(self._answer(command))

    async def _answer(self, command: StoredCommand) -> None:
        # Changes are made in the order they came; other commands may take a while, and hold up nobody.
        async with self._ordered if command.verb == "change" else contextlib.nullcontext():
            await self.store.answer(command.id, await self._outcome(command))

    async def _outcome(self, command: StoredCommand) -> str:
        if (whole := await self.store.job(command.job_id)) is None:
            return "There is no such job."
        job = self.register.jobs.get(command.job_id) or await self.register.read(whole)
        try:
            await self.do(job, command.verb, command.argument)
        except DossierError as error:
            return error.notice
        return DONE

    # ---- looking after the store

    async def round(self) -> None:
        """Look after things: commands, what other processes did, signs of life, silence, old jobs."""
        written = self.store.database.written_at()
        if written is None or written != self._looked_at or self.clock() >= self._next_beat:
            self._looked_at = written  # noted before the look: what is written meanwhile is looked for again
            await self.do_commands()
        if not self.store.database.sqlite:
            await self.register.catch_up(list(self.register.jobs))
        if self.clock() < self._next_beat:
            return
        self._next_beat = self.clock() + self.policy.alive_s
        if self.clock() >= self._next_clean and self.cleans:
            self._next_clean = self.clock() + self.policy.clean_s
            self.register.background(self._clean())
        if not self.store.database.sqlite:
            await self.store.seen(self.config.executor)
            living = await self.store.living(self.policy.dead_s)
            for row in await self.store.lost(living):
                log.warning("worker %s is gone; job %s is taken up again", row.executor, row.id)
                if row.executor:
                    await self.store.end_connections(row.executor)
                with contextlib.suppress(BadRequest):
                    await self.begin(row.id, "Its worker was lost; it goes on.", lost=True)
            await self.store.return_commands(living)
            self.register.limits.divide_among(len(living))
        for job in list(self.register.jobs.values()):
            if job.run.broken_off and job.status == "running":
                await self.begin(job.id, "It goes on where it broke off.", lost=True)
            self._note_silence(job)
        if self._beats_to_give_back and not any(job.run.at_work for job in self.register.jobs.values()):
            self._beats_to_give_back -= 1
            if not self._beats_to_give_back:
                give_back_memory()

    def _note_silence(self, job: Job) -> None:
        run = job.run
        if job.status != "running" or not run.events:
            return
        last, quiet_s = run.events[-1], run.now() - run.events[-1].seconds
        if quiet_s > self.policy.silent_s and self._silent_at.get(job.id) != last.seq:
            minutes = int(quiet_s / 60)
            log.warning("job %s has had no event for %d minutes", job.id, minutes)
            run.emit(f"job#silent~{last.seq}", Noted(text=f"Nothing has happened for {minutes} minutes."))
            self._silent_at[job.id] = run.events[-1].seq

    async def _clean(self) -> None:
        """Delete jobs that are older than they shall be, and what nobody uses any more."""
        if self.config.keep_days and (gone := await self.purge(self.config.keep_days)):
            log.info("%d jobs over for more than %g days were deleted", gone, self.config.keep_days)
        for chore in self.chores:
            await chore()
        await self.sweep()

    async def purge(self, days: float) -> int:
        """Delete jobs that have been over for some days, events, reports and all; says how many there were."""
        gone, until = 0, now() - timedelta(days=days)
        while old := await self.store.over_since(until):
            for job_id in old:
                self.register.forget(job_id)
            gone += await self.store.delete(old)
        return gone

    async def sweep(self) -> int:
        """Delete what is left behind: texts that no job uses any more, and what the engine knows of attempts that are over."""
        await self.engine.tidy()
        gone = await self.blobs.sweep(self.store.used_texts, now() - GRACE)
        if gone:
            log.info("%d texts that no job uses any more were deleted", gone)
        return gone
