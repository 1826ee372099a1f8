"""What may be done to a kept job: cancel, pause and resume, finish, guide, restart, rework, delete."""

import asyncio
import contextlib
import logging
from collections.abc import Iterable, Sequence

from agents.contracts.change import Change, Wish
from agents.contracts.job import OVER, BlockedReason, JobStatus
from agents.core.errors import BadRequest, DossierError, ModelError
from agents.core.events import JobChanged
from agents.jobs import retention
from agents.jobs.durable import CODE_VERSION
from agents.jobs.live import DurableRun
from agents.jobs.persisted import OPEN, Held, KeptJobs
from agents.jobs.service import Job
from agents.jobs.store import StoredJob, WholeJob, Wishes

log = logging.getLogger(__name__)

DRAIN_S = 120.0
"""Seconds that calls in flight get when a job is paused; what takes longer is cut off, and made anew on resuming."""
WRITING = ("section", "lead", "frame", "reflector")
"""Kinds of steps that a rework does anew; what was searched, read and extracted stays."""
CHANGES = frozenset({"change", "finish", "guidance"})
"""Wishes that are done at once; the others may take a while, and hold up nobody."""
RESUMED: tuple[BlockedReason, ...] = ("paused", "awaiting_key")
"""Why a job that can be resumed rests."""
TAKEN = "Somebody else has just taken this job up."
DONE, ANSWER_S = "done", 150.0
"""What a granted wish is answered with, and seconds that a worker gets to answer (pausing waits for calls in flight)."""
ROUND_S = 0.5
"""Seconds between two looks at what other processes wish, or have done."""


class SteeredJobs(KeptJobs):
    """Kept jobs with everything that users and operators may do to them."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self._saying, self._heeding = asyncio.Lock(), asyncio.Lock()
        """Changes reach whoever runs a job, and are made there, in the order in which they were said."""

    # ---- what callers may do at once

    def stop(self, job: Job) -> None:
        if job.status not in OVER:
            self.errand(self._wish(job, "cancel") if not self.where.runs else self.cancel(job), job)

    def change(self, job: Job, wish: Wish) -> Change:
        if self.where.runs:
            change = super().change(job, wish)
            self.journal.change(job.id, steering=Wishes.of(job.run.steering).model_dump_json())
            return change
        # Whoever runs it does it and tells of it; here it is only known until that is read.
        change = job.run.steering.take(self._allowed(job, wish), job.run.now())
        self.errand(self._wish(job, "change", wish.model_dump_json()))
        return change

    def release(self, job: Job) -> bool:
        return job.blocked_reason == "needs_rework" and super().release(job)

    async def _wish(self, job: Job, verb: str, argument: str = "") -> None:
        async with self._saying:
            await self.store.wish(job.id, verb, argument)

    async def _asked(self, job: Job, verb: str) -> Job:
        """Have a worker do it, and wait for its answer."""
        wish, began = await self.store.wish(job.id, verb), self.clock()
        while not (said := await self.store.granted(wish)):
            if self.clock() - began > ANSWER_S:
                raise BadRequest("No worker answers now. It will be done when one does.")
            await asyncio.sleep(ROUND_S / 2)
        if said != DONE:
            raise BadRequest(said)
        await self._catch_up()
        return self.get(job.id, job.owner) or job

    # ---- what takes a moment

    async def cancel(self, job: Job) -> None:
        """Cut a job off with everything it has running."""
        held = self.held[job.id]
        await held.entered.wait()
        run = self.run_of(job)
        run.say(f"job#cancelled~{run.attempt}", JobChanged(status="cancelled", stage=job.stage, note="Stopped."))
        run.halt()
        held.bench.close()
        await self.journal.flush()
        await self.engine.cancel(job.id, run.attempt)
        self.over(held)

    async def pause(self, job: Job) -> None:
        """Let the calls in flight finish, start none, and give the place to others; the job's clock stands still.

        Raises:
            BadRequest: it is neither waiting nor running.
        """
        if not self.where.runs:
            await self._asked(job, "pause")
            return
        if job.status not in {"queued", "running"}:
            raise BadRequest(f"Only a waiting or running job can be paused; this one is {job.status}.")
        await self._rest(self.held[job.id], self.run_of(job), "paused", "Paused.")

    async def key_lacks(self, held: Held, run: DurableRun, error: ModelError) -> None:
        """Have a job rest until there is a key; what it has found stays, and going on pays nothing again."""
        log.warning("job %s waits for a key: %s", held.job.id, error)
        held.job.error = error
        note = f"{error.notice} It goes on at the next start, or when it is resumed; nothing is paid again."
        await self._rest(held, run, "awaiting_key", note)

    async def _rest(self, held: Held, run: DurableRun, reason: BlockedReason, note: str) -> None:
        """Let the calls in flight finish, start none, and give the place to others."""
        job = held.job
        await held.entered.wait()
        run.gate.clear()
        changed = JobChanged(status="blocked", stage=job.stage, blocked_reason=reason, note=note)
        run.emit(f"job#{reason}~{run.attempt}", changed)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(run.idle.wait(), DRAIN_S)
        await self.journal.flush()
        if run.halted:
            return
        run.halt()
        await self.engine.cancel(job.id, run.attempt)

    async def resume(self, job: Job) -> Job:
        """Let a job that is paused, or waits for a key, go on in every branch, from what is recorded.

        Raises:
            BadRequest: it does not rest for one of these reasons, or somebody else was quicker.
        """
        if not self.where.runs:
            return await self._asked(job, "resume")
        if job.status != "blocked" or job.blocked_reason not in RESUMED:
            raise BadRequest("Only a job that is paused, or waits for a key, can be resumed.")
        if job.blocked_reason == "awaiting_key":
            self.where.reread_keys()
        return await self._anew(job.id, "Resumed.", again=False)

    async def restart(self, job: Job) -> Job:
        """Do a job again from its last good steps: what failed is tried anew, what succeeded is not paid again.

        Raises:
            BadRequest: it is at work, or somebody else was quicker.
        """
        if not self.where.runs:
            return await self._asked(job, "restart")
        self._must_rest(job)
        failed = [key for key, (_, step) in (await self.store.steps(job.id)).items() if step.value is None]
        return await self._anew(job.id, "Restarted.", forget=failed)

    async def rework(self, job: Job) -> Job:
        """Decide and write anew from what was read, and try again what failed.

        Raises:
            BadRequest: it is at work, or somebody else was quicker.
        """
        if not self.where.runs:
            return await self._asked(job, "rework")
        self._must_rest(job)
        redone = [
            key
            for key, (_, step) in (await self.store.steps(job.id)).items()
            if step.value is None or key.partition("#")[2].partition(":")[0] in WRITING
        ]
        return await self._anew(job.id, "Reworked.", forget=redone)

    @staticmethod
    def _must_rest(job: Job) -> None:
        if job.status in {"queued", "running"}:
            raise BadRequest(f"This job is {job.status}; stop or pause it first.")

    async def _anew(
        self, job_id: str, note: str, *, again: bool = True, lost: bool = False, forget: Iterable[str] = ()
    ) -> Job:
        """Begin the next attempt at a job; of several who want to, one does."""
        whole = await self.store.job(job_id)
        if whole is None:
            raise BadRequest("There is no such job any more.")
        row = whole.row
        if row.status in {"queued", *(() if lost else ("running",))}:
            raise BadRequest(TAKEN)
        wishes = whole.wishes
        if again:
            told = self.held[job_id].job.run.events if job_id in self.held else await self.store.events(job_id)
            wishes = wishes.anew(told[-1].seconds if told else 0.0, note)
        following = row.model_copy(
            update={"attempt": row.attempt + 1, "again": row.again + again, "status": "queued", "blocked_reason": None}
        )
        taken = await self.store.change(
            job_id, at_attempt=row.attempt, attempt=following.attempt, again=following.again, status="queued",
            blocked_reason=None, steering=wishes.model_dump_json(), code_version=CODE_VERSION, executor="",
        )  # fmt: skip
        if not taken:
            raise BadRequest(TAKEN)
        if (former := self.held.get(job_id)) is not None:
            self.run_of(former.job).halt()
        await self.engine.cancel(job_id, row.attempt)
        await self.store.forget(job_id, forget)
        held = await self.load(
            WholeJob(row=following, commission=whole.commission, spending=whole.spending, wishes=wishes)
        )
        stage = "planning" if again else row.stage
        held.job.error = None
        held.job.run.emit(f"job#anew~{following.attempt}", JobChanged(status="queued", stage=stage, note=note))
        await self.journal.flush()
        await self.engine.enqueue(job_id, following.attempt, row.owner)
        return held.job

    async def delete(
        self, owner: str | None, *, job_ids: Sequence[str] = (), status: JobStatus | None = None, force: bool = False
    ) -> int:
        """Delete jobs of a caller with everything that belongs to them, at once.

        Raises:
            BadRequest: one of them is not over, and `force` was not given.
        """
        statuses = (status,) if status else ()
        rows = [
            row
            for row in await self.store.jobs(owner, statuses=statuses, limit=1_000_000)
            if not job_ids or row.id in job_ids
        ]
        alive = [row for row in rows if not row.over]
        if alive and not force:
            raise BadRequest(f"{len(alive)} of these jobs are not over: {alive[0].id}. Stop them first, or force it.")
        for row in alive:
            if (held := self.held.get(row.id)) is not None:
                await self.cancel(held.job)
        for row in rows:
            self.held.pop(row.id, None)
            await self.engine.forget(row.id, row.attempt)
            await self.shelf.forget_report(row.id)
        return await self.store.delete([row.id for row in rows])

    async def purge(self, days: float) -> int:
        """Delete jobs that have been over for some days, reports and all; says how many there were."""

        async def let_go(job_id: str, attempt: int) -> None:
            self.held.pop(job_id, None)
            await self.engine.forget(job_id, attempt)

        return await retention.purge(self.store, self.shelf, days, let_go)

    async def sweep(self) -> int:
        """Delete what deleted jobs left behind: texts that nobody uses, and what the engine still knows of them."""
        roots = await self.engine.roots()
        known = await retention.known_jobs(self.store, {job_id for job_id, _ in roots})
        for job_id, attempt in roots:
            if job_id not in known:
                await self.engine.forget(job_id, attempt)
        return await retention.sweep(self.store, self.shelf)

    # ---- what other processes wish

    async def grant(self, verb: str, job_id: str, argument: str) -> str:
        """Do what another process wishes; says what came of it."""
        whole = await self.store.job(job_id)
        if whole is None:
            return "There is no such job."
        job = await self.find(job_id, whole.row.owner)
        if job is None:
            return "There is no such job."
        try:
            match verb:
                case "cancel" if not job.over:
                    await self.cancel(job)
                case "pause":
                    await self.pause(job)
                case "resume":
                    await self.resume(job)
                case "restart":
                    await self.restart(job)
                case "rework":
                    await self.rework(job)
                case "finish" if not job.over:
                    self.finish(job, argument or "job")
                case "change" if not job.over:
                    self.change(job, Wish.model_validate_json(argument))
                case "guidance" if not job.over:
                    self.guide(job, argument)
                case "release" if job.status == "blocked":
                    self.release(job)
                case _:
                    return f"Nothing to do: this job is {job.status}."
        except DossierError as error:
            return error.notice
        return DONE

    async def _granted(self, wish_id: int, verb: str, job_id: str, argument: str) -> None:
        async with self._heeding if verb in CHANGES else contextlib.nullcontext():
            await self.store.grant(wish_id, await self.grant(verb, job_id, argument))

    # ---- what other processes did

    async def _catch_up(self) -> None:
        """Learn what other processes did to the jobs that are held here."""
        if not self.where.runs:
            for row in await self.store.jobs(statuses=OPEN, limit=1000):
                if row.id not in self.held and (whole := await self.store.job(row.id)) is not None:
                    await self.load(whole)
        await self._catch_up_with(list(self.held))

    async def _catch_up_with(self, job_ids: Iterable[str]) -> None:
        """The same for some jobs only, as far as they are held here and not over."""
        mine = [(job_id, self.held[job_id]) for job_id in job_ids if job_id in self.held]
        open_ones = [job_id for job_id, held in mine if not held.ended.is_set() and held.entered.is_set()]
        for job_id, row in (await self.store.states(open_ones)).items():
            held = self.held.get(job_id)
            if held is None:
                continue
            if self.where.runs:
                self._fence(held, row)
            else:
                if row.status == "running":
                    await self._learn_wishes(held)
                await self._watch(held, row)

    async def _learn_wishes(self, held: Held) -> None:
        """Know what was changed in a job that another process runs, once it has it."""
        whole, known = await self.store.job(held.job.id), held.job.run.steering
        if whole is not None and len(whole.wishes.changes) >= len(known.changes):
            known.follow(whole.wishes.steering())

    def _fence(self, held: Held, row: StoredJob) -> None:
        """Let go of a job that another process has taken up."""
        run = self.run_of(held.job)
        if row.attempt > run.attempt and not run.halted:
            log.warning("job %s was taken up by another process", row.id)
            run.halt()
            self.held.pop(row.id, None)
            held.bench.close()

    async def _watch(self, held: Held, row: StoredJob) -> None:
        """Follow a job that another process runs."""
        run, job = self.run_of(held.job), held.job
        news = await self.store.events(row.id, run.kept)
        changes = [one.event for one in news if isinstance(one.event, JobChanged)]
        rests = [one for one in changes if one.status in OVER or one.blocked_reason == "needs_rework"]
        if rests:
            # What it came to is here before anybody is told that it has come to an end.
            whole = await self.store.job(row.id)
            job.report = await self.store.report(row.id)
            job.commission = whole.commission if whole is not None else job.commission
        if changes:
            last = changes[-1]
            lacks = last.status == "failed" or last.blocked_reason == "awaiting_key"
            job.error = BadRequest(last.note or DossierError.notice) if lacks else None
        for numbered in news:
            if numbered.seq == len(run.events) + 1:
                run.events.append(numbered)
                run.base_s, run.kept = max(run.base_s, numbered.seconds), numbered.seq
                self._heard(job, numbered)
        if job.status in OVER:
            self.over(held)
