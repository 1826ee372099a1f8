"""A report that the judge sends back: readable meanwhile, released or reworked by hand, on both databases."""

import asyncio
import time

import pytest

from agents.contracts.finding import Problem
from agents.contracts.frozen import Usage
from agents.contracts.report import Commission
from agents.contracts.verification import Judgement, Truth
from agents.core.events import Charged, RoleAsked
from agents.jobs.blob_store import BlobStore
from agents.jobs.client import Client
from agents.jobs.config import JobStoreConfig
from agents.jobs.job import JobSetup
from agents.report.document import build
from agents.research.steering import Steering
from tests.jobs.conftest import Word, opened, until
from tests.scripts import BRIEF
from tests.unit.report_world import outcome


class Section(Charged):
    """What a writer gave."""

    stood_in_for: str = ""

    def as_event(self, node):
        names = {"role": "synthesizer", "model": "some/model", "prompt": "section"}
        return RoleAsked(node=node, usage=self.usage, stood_in_for=self.stood_in_for, **names)


def judged(verdicts, made, second=""):
    """A job that reads once, writes, and is judged; each writing gets the next verdict.

    The second one breaks off, fails to write, has another model write, or comes to no end, where that is said.
    """

    async def say(text):
        made.append(text)
        return Word(text=text)

    async def write():
        made.append("written")
        if second == "waits" and made.count("written") == 2:
            await asyncio.sleep(60)
        stands_in = second == "stands in" and made.count("written") == 2
        return Section(usage=Usage(calls=1, tokens_in=10), stood_in_for="big/model" if stands_in else "")

    async def research(ctx, given):
        await ctx.call("fetch", "0", say, "read", gives=Word, pool="web")
        await ctx.call("section", "0", write, gives=Section)
        if second == "breaks" and made.count("written") == 2:
            raise ZeroDivisionError
        verdict = verdicts[made.count("written") - 1]
        reasons = ("One claim has a single source.",) if verdict == "request_changes" else ()
        truth = Truth(judgement=Judgement(verdict=verdict, reasons=reasons))
        failed = Problem(where="job/0#section:0", type="ModelError", message="No answer.")
        problems = (failed,) if second == "fails" and made.count("written") == 2 else ()
        return outcome().model_copy(update={"truth": truth, "problems": problems})

    def bench(commission, steering):
        def document(job_id, out, actual):
            return build(job_id, out, actual, engine="some/model", reasons=True)

        table = {"research": research}
        return JobSetup(handlers=table, build=document, steering=steering)

    return bench


async def test_what_the_judge_sends_back_is_blocked_and_readable_until_it_is_released(tmp_path):
    made = []
    bench = judged(["request_changes"], made)
    async with opened(tmp_path, bench) as kept:
        job = await kept.start(owner="ann")
        await until(lambda: job.status == "blocked", 30)
        assert job.blocked_reason == "needs_rework"
        assert job.report is not None
        assert kept.jobs.release(job)
        await until(lambda: job.status == "done", 30)
        await kept.jobs.writer.flush()
        assert (await kept.jobs.store.job(job.id)).status == "done"
        assert not kept.jobs.release(job)
    assert made == ["read", "written"]


async def test_it_waits_for_its_release_over_a_restart_and_is_released_from_another_process(tmp_path, url):
    made = []
    bench = judged(["request_changes"], made)
    async with opened(tmp_path, bench, url=url) as kept:
        job = await kept.start(owner="ann")
        await until(lambda: job.status == "blocked", 30)
        await kept.jobs.writer.flush()
    async with opened(tmp_path, bench, url=url) as kept:
        again = await kept.jobs.find(job.id, "ann")
        assert (again.status, again.blocked_reason) == ("blocked", "needs_rework")
        assert again.report.job_id == job.id
        await kept.jobs.store.add_command(job.id, "release")
        await until(lambda: again.status == "done", 30)
        assert again.over
    assert made == ["read", "written"]


async def test_a_rework_writes_anew_from_what_was_read_and_is_judged_again(tmp_path):
    made = []
    async with opened(tmp_path, judged(["request_changes", "approve"], made)) as kept:
        job = await kept.start(owner="ann")
        await until(lambda: job.status == "blocked" and job.ended.is_set(), 30)
        again = await kept.jobs.order(job, "rework")
        await kept.ended(again, 30)
        assert (again.status, again.blocked_reason) == ("done", None)
    assert made == ["read", "written", "written"]


@pytest.mark.parametrize("second", ["breaks", "fails", "stands in"])
async def test_a_rework_whose_writing_fails_leaves_the_report_and_its_hold_and_a_restart_writes_it(tmp_path, second):
    made = []
    async with opened(tmp_path, judged(["request_changes", "approve", "approve"], made, second)) as kept:
        job = await kept.start(owner="ann")
        await until(lambda: job.status == "blocked" and job.ended.is_set(), 30)
        earlier = await kept.jobs.report(job.id)
        again = await kept.jobs.order(job, "rework")
        await until(lambda: again.status == "blocked" and again.ended.is_set(), 30)
        assert again.blocked_reason == "needs_rework"
        assert earlier == again.report == await kept.jobs.report(job.id)
        assert str(again.run.events[-2].event.text).endswith(" The earlier report stays.")
        assert again.summary().tokens == 20  # what was paid anew is told, too
        again = await kept.jobs.order(job, "restart" if second == "stands in" else "rework")
        await kept.ended(again, 30)
        assert (again.status, made.count("written"), again.summary().tokens) == ("done", 3, 30)
        assert await kept.jobs.report(job.id) != earlier


@pytest.mark.parametrize("verdict", ["approve", "request_changes"])
async def test_a_restart_that_is_stopped_leaves_the_report_that_there_was_and_its_end(tmp_path, verdict):
    made = []
    async with opened(tmp_path, judged([verdict, "approve"], made, "waits")) as kept:
        job = await kept.start(owner="ann")
        await until(lambda: job.status in {"done", "blocked"} and job.ended.is_set(), 30)
        status, earlier = job.status, await kept.jobs.report(job.id)
        again = await kept.jobs.order(job, "rework")
        await until(lambda: made.count("written") == 2, 30)
        kept.jobs.stop(again)
        await until(lambda: again.ended.is_set(), 30)
        assert (again.status, again.report) == (status, earlier)
        assert "Stopped. The earlier report stays." in [str(getattr(one.event, "text", "")) for one in again.run.events]
    async with opened(tmp_path, judged([verdict, "approve"], made, "waits")) as kept:
        assert (await kept.jobs.find(job.id, "ann")).status == status
    assert made.count("written") == 2


async def test_a_rework_that_a_round_sees_before_it_is_entered_is_still_done_anew(tmp_path, url):
    made = []
    async with opened(tmp_path, judged(["request_changes", "approve"], made), url=url) as kept:
        job = await kept.start(owner="ann")
        await until(lambda: job.status == "blocked" and job.ended.is_set(), 30)
        change = kept.jobs.store.change

        async def before_a_round(job_id, **values):
            changed = await change(job_id, **values)
            await kept.jobs.register.catch_up([job_id])  # loads the new attempt, which stands in the store by now
            return changed

        kept.jobs.store.change = before_a_round
        again = await kept.jobs.order(job, "rework")
        await kept.ended(again, 30)
        assert (again.status, again.run.attempt) == ("done", 2)
    assert made == ["read", "written", "written"]


async def test_a_command_whose_process_died_before_it_was_done_is_done_by_the_next(tmp_path, url):
    made = []
    bench = judged(["request_changes"], made)
    async with opened(tmp_path, bench, url=url) as kept:
        job = await kept.start(owner="ann")
        await until(lambda: job.status == "blocked" and job.ended.is_set(), 30)
        for task in kept.jobs._rounds:
            task.cancel()
        number = await kept.jobs.store.add_command(job.id, "release")
        assert [one.id for one in await kept.jobs.store.take_commands(kept.jobs.config.executor)] == [number]
    async with opened(tmp_path, bench, url=url) as kept:
        again = await kept.jobs.find(job.id, "ann")
        await until(lambda: again.status == "done", 30)
        assert await kept.jobs.store.answered(number) == "done"


async def test_whoever_only_waits_for_the_end_gets_the_report_and_does_not_wait_for_the_release(tmp_path):
    made, seen = [], []
    async with opened(tmp_path, judged(["request_changes"], made)) as kept:
        job = await kept.start(owner="ann")
        async with asyncio.timeout(30):
            async for numbered in job.follow(attended=True):
                seen.append(numbered and numbered.event)
            await job.settled()
        assert (seen[-1].blocked_reason, job.report is not None) == ("needs_rework", True)
        kept.jobs.leave(job)  # its caller is gone; the report waits for somebody all the same
        await asyncio.sleep(0.2)
        assert (job.status, job.blocked_reason) == ("blocked", "needs_rework")


async def test_in_a_temporary_store_too_nobody_hangs_and_it_can_be_released(tmp_path):
    made = []
    bench = judged(["request_changes"], made)
    jobs = Client(BlobStore(tmp_path), time.monotonic, JobStoreConfig())
    jobs.register.set_up = bench
    commission = Commission(brief=BRIEF)
    job = await jobs.start(commission, bench(commission, Steering()))
    async with asyncio.timeout(30):
        assert [one async for one in job.follow(attended=True)]
        await job.settled()
    assert (job.status, job.blocked_reason) == ("blocked", "needs_rework")
    await job.wait()
    assert jobs.release(job)
    await until(lambda: job.over)
    await jobs.close()
