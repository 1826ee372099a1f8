"""Looking after kept jobs, again and again: wishes, news, signs of life, lost workers, silence, what is kept too long."""

import asyncio
import contextlib
import logging
from datetime import timedelta

from agents.core.errors import BadRequest
from agents.core.events import Noted
from agents.jobs.lifecycle import ROUND_S, SteeredJobs
from agents.jobs.notifications import News
from agents.jobs.service import Job, Rebuild
from agents.jobs.store import EVENTS, WISHES, StoredJob, now

log = logging.getLogger(__name__)

SILENT_S = 600.0
"""Seconds without an event after which a running job is said to stand still."""
BUNDLE_S = 0.02
"""Seconds in which news gather before they are looked at again: many events come at once."""
KEEP_HOUSE_S = 3600.0
"""Seconds between two looks for jobs that have been kept long enough, and for what deleted ones left."""
ALIVE_S, DEAD_S = 5.0, 20.0
"""Seconds between a worker's signs of life, and without one until its jobs are taken up by others."""


class DurableJobs(SteeredJobs):
    """Kept jobs that look after themselves."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self._rounds: tuple[asyncio.Task[None], ...] = ()
        self._news = News(self.store.database, WISHES if self.where.runs else EVENTS)
        self._told_silent: dict[str, int] = {}
        self._kept_house: float | None = None

    async def open(self, rebuild: Rebuild) -> list[Job]:
        jobs = await super().open(rebuild)
        if self.where.runs:
            await self._try_keys_again()
        loop = asyncio.get_running_loop()
        self._rounds = (
            loop.create_task(self._go_round(), name="job-rounds"),
            loop.create_task(self._hear_news(), name="job-news"),
        )
        return jobs

    async def close(self) -> None:
        for task in self._rounds:
            task.cancel()
        if self._rounds:
            await asyncio.wait(self._rounds)
        await self._news.close()
        await super().close()

    async def _try_keys_again(self) -> None:
        """Let jobs go on that waited for a key: this process may have been started with a better one."""
        for row in reversed(await self.store.jobs(statuses=("blocked",), limit=10_000)):
            if row.blocked_reason == "awaiting_key":
                with contextlib.suppress(BadRequest):  # another process was quicker
                    await self._anew(row.id, "Tried again with the keys as they are now.", again=False)

    async def _hear_news(self) -> None:
        """Do at once what a round would do a moment later."""
        while True:
            said = await self._news.wait(ALIVE_S)
            if not said:
                continue
            try:
                if self.where.runs:
                    await self._grant_wishes()
                else:
                    await self._catch_up_with(said)
            except Exception:
                log.exception("news of jobs could not be followed")
            await asyncio.sleep(BUNDLE_S)

    async def _grant_wishes(self) -> None:
        for wish in await self.store.take_wishes(self.where.executor):
            self.errand(self._granted(wish["id"], wish["verb"], wish["job_id"], wish["argument"]))

    async def _go_round(self) -> None:
        """Look after things, again and again: wishes, news of other processes, signs of life, silence."""
        beat = 0.0
        while True:
            await asyncio.sleep(max(self.where.poll_s, 0.05) if self.where.poll_s < ROUND_S else ROUND_S)
            try:
                if self.where.runs:
                    await self._grant_wishes()
                if not self.store.database.sqlite:
                    await self._catch_up()
                if self.clock() - beat > ALIVE_S:
                    beat = self.clock()
                    await self._look_around()
            except Exception:
                # The database may be away for a while; the next round tries again.
                log.exception("a round of the job service failed")

    async def _keep_house(self) -> None:
        """Delete jobs that are older than they shall be, and what nobody uses any more."""
        if self.where.keep_days and (gone := await self.purge(self.where.keep_days)):
            log.info("%d jobs over for more than %g days were deleted", gone, self.where.keep_days)
        await self.sweep()

    async def _look_around(self) -> None:
        if self.where.runs and (self._kept_house is None or self.clock() - self._kept_house > KEEP_HOUSE_S):
            self._kept_house = self.clock()
            self.errand(self._keep_house())
        if not self.store.database.sqlite:
            since = now() - timedelta(seconds=DEAD_S)
            if self.where.runs:
                await self.store.seen(self.where.executor, self.engine.place)
                await self._take_over(await self.store.lost(since))
            self.limits.divide_among(len(await self.store.living(since)))
        for held in list(self.held.values()):
            if self.run_of(held.job).broken_off and held.job.status == "running":
                await self._anew(held.job.id, "It goes on where it broke off.", again=False, lost=True)
            self._note_silence(held.job)

    async def _take_over(self, lost: list[StoredJob]) -> None:
        """Take up the jobs of workers that are gone."""
        for row in lost:
            log.warning("worker %s is gone; job %s is taken up again", row.executor, row.id)
            with contextlib.suppress(BadRequest):
                await self._anew(row.id, "Its worker was lost; it goes on.", again=False, lost=True)
                self._leave(row.id)

    def _leave(self, job_id: str) -> None:
        """Any worker may run it, not only the one that noticed."""
        if (held := self.held.get(job_id)) is not None and held.job.status == "queued":
            self.held.pop(job_id)
            held.bench.close()
            if held.job.task is not None:
                held.job.task.cancel()

    def _note_silence(self, job: Job) -> None:
        run = job.run
        if job.status != "running" or not run.events or not self.where.runs:
            return
        last = run.events[-1]
        if run.now() - last.seconds > SILENT_S and self._told_silent.get(job.id) != last.seq:
            minutes = int((run.now() - last.seconds) / 60)
            log.warning("job %s has said nothing for %d minutes", job.id, minutes)
            run.emit(f"job#silent~{last.seq}", Noted(text=f"Nothing has happened for {minutes} minutes."))
            self._told_silent[job.id] = run.events[-1].seq
