"""Cancel, pause, resume, finish, restart, rework, delete; turns of users; wishes of other processes."""

import asyncio
import time
from contextlib import asynccontextmanager

import pytest

from agents.contracts.contract import Narrowing
from agents.contracts.report import Commission, KeyedRequest
from agents.core.budget import Limits
from agents.core.errors import BadRequest, SearchError, StepFailed
from agents.core.events import JobChanged
from agents.jobs.database import Database
from agents.jobs.store import now
from agents.research.steering import Steering
from tests.jobs.conftest import Given, Word, bench_of, opened, until
from tests.scripts import BRIEF


class World:
    """Calls that wait until they are let go, and some that fail at first."""

    def __init__(self):
        self.made, self.cut, self.go, self.fail = [], [], asyncio.Event(), set()

    async def held(self, text):
        self.made.append(text)
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cut.append(text)
            raise
        return Word(text=text)

    async def quick(self, text):
        self.made.append(text)
        if text in self.fail:
            self.fail.discard(text)
            raise SearchError("down", provider="web")
        return Word(text=text)


def branches(world, width=3, last=False):
    """A root with branches, each one quick call and one that is held; with `last`, there is something to do after them."""

    async def branch(ctx, given):
        one = await ctx.call("quick", "1", world.quick, f"q{given.n}", gives=Word)
        two = await ctx.call("hold", "1", world.held, f"h{given.n}", gives=Word)
        return Word(text=one.text + two.text)

    async def root(ctx):
        await ctx.children("branch", [(str(n), Given(n=n)) for n in range(width)], gives=Word)
        if last:
            await ctx.call("quick", "last", world.quick, "last", gives=Word)

    return bench_of(root, {"branch": branch})


async def test_a_cancelled_job_stops_its_calls_at_once_and_stays_cancelled_after_a_restart(tmp_path):
    world = World()
    bench = branches(world)
    async with opened(tmp_path, bench) as kept:
        job = await kept.start()
        await until(lambda: len(world.made) == 6)
        began = time.monotonic()
        kept.jobs.stop(job)
        await until(lambda: len(world.cut) == 3)
        assert time.monotonic() - began < 10
        await kept.ended(job)
        assert (job.status, job.over) == ("cancelled", True)
    async with opened(tmp_path, bench) as kept:
        await asyncio.sleep(0.3)
        assert kept.jobs.get(job.id) is None
        assert (await kept.jobs.find(job.id)).status == "cancelled"
    assert len(world.made) == 6


async def test_a_pause_lets_calls_finish_starts_none_and_a_resume_pays_nothing_again(tmp_path):
    world = World()
    bench = branches(world, last=True)
    async with opened(tmp_path, bench) as kept:
        job = await kept.start()
        await until(lambda: len(world.made) == 6)
        pausing = asyncio.create_task(kept.jobs.order(job, "pause"))
        await until(lambda: job.status == "blocked")
        assert job.blocked_reason == "paused"
        world.go.set()
        await pausing
        assert (world.cut, len(world.made)) == ([], 6)
    async with opened(tmp_path, bench) as kept:
        await asyncio.sleep(0.2)
        job = kept.jobs.get(job.id)
        assert (job.status, job.blocked_reason) == ("blocked", "paused")
        await kept.jobs.order(job, "resume")
        await kept.ended(job)
        assert job.status == "done"
    assert sorted(world.made) == ["h0", "h1", "h2", "last", "q0", "q1", "q2"]


async def test_whoever_watches_a_job_goes_on_watching_it_over_pause_and_resume(tmp_path):
    world = World()
    async with opened(tmp_path, branches(world, last=True)) as kept:
        job = await kept.start()
        seen = []

        async def watch():
            async for numbered in job.follow():
                seen.append(numbered.seq)

        watching = asyncio.create_task(watch())
        await until(lambda: len(world.made) == 6)
        pausing = asyncio.create_task(kept.jobs.order(job, "pause"))
        await until(lambda: job.status == "blocked")
        world.go.set()
        await pausing
        assert await kept.jobs.order(job, "resume") is job
        await kept.ended(job)
        await asyncio.wait_for(watching, 30)
        assert seen == list(range(1, len(job.run.events) + 1))


async def test_a_job_that_is_paused_while_its_report_is_put_away_goes_on_and_ends(tmp_path):
    world, away = World(), asyncio.Event()
    async with opened(tmp_path, branches(world)) as kept:
        save = kept.jobs.worker.save

        async def held_up(*given):
            await away.wait()
            await save(*given)

        kept.jobs.worker.save = held_up
        job = await kept.start()
        await until(lambda: len(world.made) == 6)
        pausing = asyncio.create_task(kept.jobs.order(job, "pause"))
        await until(lambda: job.status == "blocked")
        world.go.set()
        await pausing
        away.set()
        await until(lambda: not job.run.at_work)
        assert (job.status, job.blocked_reason, job.ended.is_set()) == ("blocked", "paused", False)
        assert await kept.jobs.order(job, "resume") is job
        await kept.ended(job)
        assert job.status == "done"


async def test_a_restart_does_only_what_failed_and_what_hangs_on_it(tmp_path):
    world = World()
    world.fail = {"b"}
    world.go.set()

    async def root(ctx):
        await ctx.call("quick", "a", world.quick, "a", gives=Word)
        said = await ctx.fan("quick", world.quick, [("b", "b"), ("c", "c")], gives=Word)
        good = "".join(one.text for one in said if isinstance(one, Word))
        await ctx.call("section", "0", world.quick, f"from {good}", gives=Word)
        if isinstance(said[0], StepFailed):
            raise said[0]

    async with opened(tmp_path, bench_of(root)) as kept:
        job = await kept.ended(await kept.start())
        assert job.status == "failed"
        again = await kept.jobs.order(job, "restart")
        await kept.ended(again)
        assert again.status == "done"
        assert sorted(world.made[:3]) == ["a", "b", "c"]
        assert world.made[3:] == ["from c", "b", "from bc"]


@pytest.mark.parametrize("order", ["restart", "rework"])
async def test_what_is_done_again_has_the_agreed_time_anew_in_its_branches_too_and_limits_hold(tmp_path, order):
    passed, given, left = [0.0], [], []

    async def write(deadline):
        given.append(deadline.seconds())
        if len(given) > 1:
            kept.jobs.narrow(job, Narrowing(seconds=50), "50 seconds")
            return Word(text="written")
        passed[0] += 57
        raise SearchError("down", provider="library")

    async def branch(ctx, one):
        return await ctx.call("section", "0", write, ctx.last_deadline, gives=Word)

    async def root(ctx):
        await ctx.children_of([("branch", "0", Given())], gives=Word, limits=Limits(seconds=ctx.left))
        left.append(ctx.left)

    async with opened(tmp_path, bench_of(root, {"branch": branch})) as kept:
        kept.jobs.register.clock = lambda: time.monotonic() + passed[0]
        job = await kept.start(budget=Limits(seconds=60))
        await kept.ended(job)
        again = await kept.jobs.order(job, order)
        await kept.ended(again)
        assert again.run.now() > 57  # the job's own clock goes on
    assert given == [pytest.approx(57, abs=5)] * 2
    assert left == [pytest.approx(3, abs=5), pytest.approx(50, abs=5)]


async def test_of_two_who_rework_at_once_one_is_told_so(tmp_path):
    world = World()

    async def root(ctx):
        await ctx.call("quick", "a", world.quick, "read", gives=Word)
        await ctx.call("section", "0", world.quick, "written", gives=Word)

    async with opened(tmp_path, bench_of(root)) as kept:
        job = await kept.ended(await kept.start())
        both = await asyncio.gather(
            kept.jobs.order(job, "rework"), kept.jobs.order(job, "rework"), return_exceptions=True
        )
        refused = [one for one in both if isinstance(one, BadRequest)]
        assert [one.notice for one in refused] == ["Somebody else has just taken this job up."]
        (again,) = [one for one in both if not isinstance(one, BadRequest)]
        await kept.ended(again)
        assert world.made == ["read", "written", "written"]


async def test_finish_and_guidance_are_remembered_over_a_restart(tmp_path):
    world = World()
    seen = []

    async def root(ctx):
        await ctx.call("hold", "1", world.held, "h", gives=Word)
        seen.append((ctx.finishing, tuple(ctx.run.steering.guidance)))

    async with opened(tmp_path, bench_of(root)) as kept:
        job = await kept.start()
        await until(lambda: world.made)
        kept.jobs.steer(job, "finish")
        kept.jobs.guide(job, "only winters")
        await kept.jobs.writer.flush()
    world.go.set()
    async with opened(tmp_path, bench_of(root)) as kept:
        await kept.ended(kept.jobs.get(job.id))
    assert seen == [(True, ("only winters",))]


async def test_users_take_turns_and_a_waiting_job_knows_its_place(tmp_path):
    world = World()
    bench = branches(world, width=1)
    async with opened(tmp_path, bench, workers=2, per_user=1) as kept:
        first = [await kept.start(owner="ann") for _ in range(3)]
        await until(lambda: first[0].status == "running")
        other = await kept.start(owner="bob")
        await until(lambda: other.status == "running")
        await asyncio.sleep(0.1)
        assert [job.status for job in first] == ["running", "queued", "queued"]
        assert [await kept.jobs.position(job) for job in first] == [0, 0, 1]
        world.go.set()
        for job in [*first, other]:
            await kept.ended(job)
            assert job.status == "done"


async def test_the_same_request_key_gives_the_same_job(tmp_path):
    world = World()
    bench = branches(world, width=1)
    commission = Commission(brief=BRIEF, request=KeyedRequest(key="k1", fingerprint="f"))
    async with opened(tmp_path, bench) as kept:
        one = await kept.jobs.start(commission, bench(commission, Steering()), owner="ann")
        two = await kept.jobs.start(commission, bench(commission, Steering()), owner="ann")
        three = await kept.jobs.start(commission, bench(commission, Steering()), owner="bob")
        assert one is two
        assert await kept.jobs.requested("ann", "k1") is one
        assert await kept.jobs.requested("ann", "k2") is None
        assert three.id != one.id
        kept.jobs.stop(one)
        kept.jobs.stop(three)
        await kept.ended(one)
        await kept.ended(three)


async def test_deleting_spares_another_owners_job_and_leaves_nothing_of_a_running_one(tmp_path):
    world = World()
    async with opened(tmp_path, branches(world)) as kept:
        job = await kept.start(owner="ann")
        await until(lambda: len(world.made) == 6)
        assert await kept.jobs.delete("bob", [job.id]) == 0
        assert await kept.jobs.delete("ann", [job.id]) == 1
        assert await kept.jobs.find(job.id, "ann") is None
        assert await kept.jobs.store.events(job.id) == []
        later = await kept.start(owner="ann")
        world.go.set()
        await kept.ended(later)
        assert later.status == "done"


async def test_a_command_of_another_process_is_done_and_answered(tmp_path):
    world = World()
    async with opened(tmp_path, branches(world)) as kept:
        job = await kept.start()
        await until(lambda: len(world.made) == 6)
        store = kept.jobs.store
        bad = await store.add_command(job.id, "resume")
        cancel = await store.add_command(job.id, "cancel")
        await kept.ended(job)
        assert job.status == "cancelled"

        async def answered(number):
            for _ in range(200):
                if said := await store.answered(number):
                    return said
                await asyncio.sleep(0.01)
            return ""

        assert await answered(cancel) == "done"
        assert await answered(bad) == "Only a job that is paused, or waits for a key, can be resumed."


async def test_a_job_of_another_version_is_blocked_and_can_be_restarted(tmp_path):
    world = World()
    bench = branches(world, width=1)
    async with opened(tmp_path, bench, code_version="research-0") as kept:
        job = await kept.start()
        await until(lambda: len(world.made) == 2)
    world.go.set()
    async with opened(tmp_path, bench) as kept:
        job = kept.jobs.get(job.id)
        await until(lambda: job.blocked_reason == "version")
        again = await kept.jobs.order(job, "restart")
        await kept.ended(again)
        assert again.status == "done"
    assert world.made == ["q0", "h0", "h0"]


async def test_a_running_job_that_says_nothing_is_noticed(tmp_path):
    world = World()
    async with opened(tmp_path, branches(world), policy={"silent_s": 0.1, "alive_s": 0.1}) as kept:
        job = await kept.start()
        await until(lambda: any("Nothing has happened" in getattr(one.event, "text", "") for one in job.run.events))
        world.go.set()
        await kept.ended(job)


async def test_what_has_been_over_for_long_is_purged(tmp_path):
    world = World()
    world.go.set()
    async with opened(tmp_path, branches(world)) as kept:
        job = await kept.ended(await kept.start())
        assert await kept.jobs.worker.purge(days=1) == 0
        assert await kept.jobs.worker.purge(days=-1) == 1
        assert await kept.jobs.store.job(job.id) is None
        assert now().tzinfo is not None


async def test_with_a_full_disk_a_job_breaks_off_pays_nothing_more_and_is_taken_up_again(tmp_path, monkeypatch):
    policy = {"write_again_s": (0.01,), "alive_s": 0.1}
    world, full, begin = World(), [], Database.begin

    @asynccontextmanager
    async def begin_if_there_is_room(self):
        if full:
            raise OSError(28, "No space left on device")
        async with begin(self) as connection:
            yield connection

    monkeypatch.setattr(Database, "begin", begin_if_there_is_room)

    async def root(ctx):
        await ctx.call("quick", "1", world.quick, "a", gives=Word)
        await ctx.call("hold", "1", world.held, "b", gives=Word)
        await ctx.call("quick", "2", world.quick, "c", gives=Word)

    async with opened(tmp_path, bench_of(root), policy=policy) as kept:
        job = await kept.start()
        await until(lambda: world.made == ["a", "b"])
        full.append(1)
        world.go.set()
        await until(lambda: job.run.broken_off)
        await asyncio.sleep(0.3)
        assert world.made == ["a", "b"]
        full.clear()
        await kept.ended(job)
        assert job.status == "done"
        assert world.made == ["a", "b", "c"]


async def test_what_research_says_on_its_way_out_unsays_neither_cancelled_nor_paused(tmp_path):
    world, spoken = World(), []

    async def root(ctx):
        await ctx.call("quick", "1", world.quick, "q", gives=Word)
        ctx.emit("stage", JobChanged(status="running", stage="collecting"))
        try:
            await asyncio.sleep(60)  # between two steps
        finally:
            ctx.emit("late", JobChanged(status="running", stage="challenging"))
            spoken.append(1)

    bench = bench_of(root)
    async with opened(tmp_path, bench) as kept:
        paused, cancelled = await kept.start(owner="ann"), await kept.start(owner="bob")
        await until(lambda: paused.stage == cancelled.stage == "collecting")
        kept.jobs.stop(cancelled)
        await kept.jobs.order(paused, "pause")
        await until(lambda: len(spoken) == 2)
        assert (cancelled.status, paused.status, paused.blocked_reason) == ("cancelled", "blocked", "paused")
        kept.jobs.stop(paused)
        await kept.ended(cancelled)
        await kept.ended(paused)
        assert paused.status == "cancelled"
    async with opened(tmp_path, bench) as kept:
        assert (await kept.jobs.find(cancelled.id, "bob")).status == "cancelled"
