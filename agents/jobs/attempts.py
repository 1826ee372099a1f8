"""The next attempt at a stored job: resumed, restarted, reworked, challenged or planned anew, or taken up when lost.

An attempt uses what earlier ones recorded; what it shall do anew is forgotten first. Each is a workflow of its own.
"""

from collections.abc import Callable, Iterable

from agents.contracts.job import BlockedReason
from agents.core.errors import BadRequest
from agents.core.events import JobChanged
from agents.jobs.engine import Engine
from agents.jobs.job import Job
from agents.jobs.register import Register

WRITING = frozenset({"section", "lead", "frame", "reflector"})
"""Kinds of steps that a rework does anew; what was searched, read and extracted stays."""
PLANNING = frozenset({"planner", "survey"})
RESUMABLE: frozenset[BlockedReason] = frozenset({"paused", "awaiting_key"})
TAKEN = "Somebody else has just taken this job up."


class Attempts:
    """Begins attempts at the jobs of the store."""

    def __init__(self, register: Register, engine: Engine) -> None:
        self.register, self.engine = register, engine
        self.store, self.writer, self.config = register.store, register.writer, register.config

    async def resume(self, job: Job) -> Job:
        """Let a job go on that is paused or waits for a key, in every branch.

        Raises:
            BadRequest: it does not rest for one of these reasons, or somebody else was quicker.
        """
        if job.status != "blocked" or job.blocked_reason not in RESUMABLE:
            raise BadRequest("Only a job that is paused, or waits for a key, can be resumed.")
        if job.blocked_reason == "awaiting_key":
            self.config.reread_keys()
        return await self.begin(job.id, "Resumed.", again=False)

    async def restart(self, job: Job) -> Job:
        """Do a job again from its last good steps.

        Raises:
            BadRequest: it is at work, or somebody else was quicker.
        """
        return await self._done_again(job, "Restarted.", lambda path, kind: False)

    async def rework(self, job: Job) -> Job:
        """Decide and write anew from what was read, and try again what failed.

        Raises:
            BadRequest: it is at work, or somebody else was quicker.
        """
        return await self._done_again(job, "Reworked.", lambda path, kind: kind in WRITING)

    async def challenge(self, job: Job, claim_id: str) -> Job:
        """Look for what contradicts a claim, or all of them, once more; then decide and write anew.

        Raises:
            BadRequest: it is at work, or somebody else was quicker.
        """
        return await self._done_again(
            job, "Challenged anew.", lambda path, kind: kind in WRITING or _of_challenge(path, claim_id)
        )

    async def plan(self, job: Job) -> Job:
        """Plan anew, and do what the new plan asks for.

        Raises:
            BadRequest: its plan was authorized as it is, it is at work, or somebody else was quicker.
        """
        if job.commission.brief is None:
            raise BadRequest("The plan of this job was authorized as it is. Start a new job for another plan.")
        unplanned = job.commission.model_copy(update={"contract": None}).model_dump_json()
        return await self._done_again(
            job, "Planned anew.", lambda path, kind: kind in {*WRITING, *PLANNING}, commission=unplanned
        )

    async def _done_again(
        self, job: Job, note: str, anew: Callable[[str, str], bool], *, commission: str | None = None
    ) -> Job:
        """Begin another attempt: failed steps, and those that `anew` picks by path and kind, are done again."""
        if job.status in {"queued", "running"}:
            raise BadRequest(f"This job is {job.status}; stop or pause it first.")
        forget = []
        for key, (_, step) in (await self.store.steps(job.id)).items():
            path, _, name = key.partition("#")
            if step.value is None or anew(path, name.partition(":")[0]):
                forget.append(key)
        return await self.begin(job.id, note, forget=forget, commission=commission)

    async def begin(
        self, job_id: str, note: str, *, again: bool = True, lost: bool = False, forget: Iterable[str] = (),
        commission: str | None = None,
    ) -> Job:  # fmt: skip
        """Begin the next attempt at a job; of several who want to, one does."""
        whole = await self.store.job(job_id)
        if whole is None:
            raise BadRequest("There is no such job any more.")
        row, steering = whole.row, whole.steering
        if row.status in {"queued", *(() if lost else ("running",))}:
            raise BadRequest(TAKEN)
        if again:
            events = await self.store.events(job_id)
            steering = steering.for_next_attempt(events[-1].seconds if events else 0.0, note)
        changed = {"attempt": row.attempt + 1, "again": row.again + again, "status": "queued", "blocked_reason": None}
        taken = await self.store.change(
            job_id, at_attempt=row.attempt, forget=forget, **changed, steering=steering.model_dump_json(), executor="",
            code_version=self.config.code_version, **({} if commission is None else {"commission": commission}),
        )  # fmt: skip
        if not taken:
            raise BadRequest(TAKEN)
        held = self.register.jobs.get(job_id)
        if held is not None and held.run.attempt == row.attempt:  # a round may have loaded the new attempt already
            self.register.run_of(held).halt()
        await self.engine.cancel(job_id, row.attempt)
        whole = await self.store.job(job_id) or whole
        job = await self.register.load(whole)
        job.commission = whole.commission
        stage = "planning" if again else row.stage
        job.run.emit(f"job#anew~{job.run.attempt}", JobChanged(status="queued", stage=stage, note=note))
        await self.writer.flush()
        await self.engine.enqueue(job_id, job.run.attempt, row.owner)
        return job


def _of_challenge(path: str, claim_id: str) -> bool:
    parts = path.split("/")
    inside = any(part.startswith("challenge") for part in parts)
    return inside and (not claim_id or any(claim_id in part for part in parts))
