"""What the user changes in a kept job outlives the process, a pause and a restart, and reaches whoever runs it."""

import asyncio

import pytest

from agents.contracts.contract import Change, Narrowing
from agents.contracts.plan import Leaf, Node, Plan
from agents.contracts.report import Commission
from agents.contracts.sources import SearchQuery
from agents.core.budget import Limits
from agents.core.errors import BadRequest
from agents.core.events import NodeChanged, Noted
from agents.core.prompts import load
from agents.offline import OfflineModel
from agents.research.planning.freeze_contract import Means, make_contract
from agents.research.run_context import RunContext, Searched
from agents.research.steering import Steering
from tests.jobs.conftest import Given, Word, bench_of, opened
from tests.jobs.test_fleet import nothing, running, until
from tests.jobs.test_lifecycle import World
from tests.jobs.test_store import command
from tests.scripts import BRIEF, QUERY, world


def desk_of(ctx, searcher):
    return RunContext(models={}, prompts=load(), searcher=searcher, texts=None, today="", steering=ctx.run.steering)


async def test_limits_hold_after_the_process_is_gone(tmp_path):
    gate, searcher, seen = World(), world(), []

    async def root(ctx):
        context = desk_of(ctx, searcher)
        first = SearchQuery(text="Orvane costs passengers closures")
        before = await ctx.call("search", "1", context.search, first, ctx.deadline, gives=Searched, pool="web")
        await ctx.call("hold", "1", gate.held, "h", gives=Word)
        again = SearchQuery(text="Orvane ferry costs")
        after = await ctx.call("search", "2", context.search, again, ctx.deadline, gives=Searched, pool="web")
        seen.append([sorted(hit.url for hit in one.result.hits) for one in (before, after)])

    async with opened(tmp_path, bench_of(root)) as kept:
        job = await kept.start()
        await until(lambda: gate.made)
        kept.jobs.narrow(job, Narrowing(exclude_domains=("b.example",), domains=("a.example", "b.example")), "narrower")
        await kept.jobs.writer.flush()
    gate.go.set()
    async with opened(tmp_path, bench_of(root)) as kept:
        again = await kept.ended(kept.jobs.get(job.id))
        assert [one.words for one in again.run.steering.changes] == ["narrower"]

    (first, second) = seen[0]
    assert len(first) == 3  # what was found before stays as it is recorded
    assert second == ["https://a.example/closures"]
    assert searcher.asked[-1].exclude_domains == ("b.example",)
    assert len(searcher.asked) == 2
    assert [(one.number, one.words) for one in again.report.changes] == [(1, "narrower")]


async def test_an_earlier_end_is_kept_over_a_restart_of_the_process_and_decides_like_before(tmp_path):
    gate, seen = World(), []

    async def root(ctx):
        await ctx.call("quick", "1", gate.quick, "q", gives=Word)
        before = ctx.left
        await ctx.call("hold", "1", gate.held, "h", gives=Word)
        seen.append((before, ctx.left, ctx.collecting_left, ctx.run.reserve_s))

    async with opened(tmp_path, bench_of(root)) as kept:
        job = await kept.start(budget=Limits(seconds=300))
        await until(lambda: len(gate.made) == 2)
        kept.jobs.narrow(job, Narrowing(seconds=100), "100 seconds in all")
        await kept.jobs.writer.flush()
    gate.go.set()
    async with opened(tmp_path, bench_of(root)) as kept:
        await kept.ended(kept.jobs.get(job.id))

    (before, left, collecting, reserve_s) = seen[0]
    assert before > 200  # said after that step: a replay may not know it earlier
    assert left <= 100
    assert collecting == pytest.approx(left - 30)
    assert reserve_s == 30


async def test_a_restart_keeps_limits_and_guidance_and_begins_anew_what_was_stopped(tmp_path):
    gate, seen = World(), []

    async def branch(ctx, given):
        return await ctx.call("hold", "1", gate.held, f"b{given.n}", gives=Word)

    async def root(ctx):
        found = await ctx.children("branch", [(str(n), Given(n=n)) for n in range(2)], gives=Word)
        seen.append([one.text if isinstance(one, Word) else one.type for one in found])

    bench = bench_of(root, {"branch": branch})
    async with opened(tmp_path, bench) as kept:
        job = await kept.start()
        await until(lambda: len(gate.made) == 2)
        kept.jobs.narrow(job, Narrowing(exclude_domains=("b.example",)), "without b.example")
        kept.jobs.guide(job, "only winters")
        kept.jobs.steer(job, "stop", "job/0", "1 “Costs”")
        gate.go.set()
        await kept.ended(job)
        again = await kept.ended(await kept.jobs.order(job, "restart"))

    assert seen == [["Stopped", "b1"], ["b0", "b1"]]
    steering = again.run.steering
    assert steering.limits == Narrowing(exclude_domains=("b.example",))
    assert steering.guidance == ["only winters"]
    assert not steering.stopped
    assert [one.kind for one in again.report.changes] == ["limits", "guidance", "stop", "restart"]
    assert again.report.changes[3].effect.startswith("The run was taken up anew")


async def test_a_job_that_was_finished_early_searches_again_when_it_is_restarted(tmp_path):
    gate, seen = World(), []

    async def root(ctx):
        await ctx.call("hold", "1", gate.held, "h", gives=Word)
        seen.append(ctx.finishing)

    async with opened(tmp_path, bench_of(root)) as kept:
        job = await kept.start()
        await until(lambda: gate.made)
        first, twice = kept.jobs.steer(job, "finish"), kept.jobs.steer(job, "finish")
        gate.go.set()
        await kept.ended(job)
        await kept.ended(await kept.jobs.order(job, "restart"))

    assert first == twice
    assert seen == [True, False]
    assert gate.made == ["h"]  # what it had is not paid again


async def test_a_change_that_widens_is_refused_and_not_kept(tmp_path):
    gate = World()

    async def root(ctx):
        await ctx.call("hold", "1", gate.held, "h", gives=Word)

    async with opened(tmp_path, bench_of(root)) as kept:
        job = await kept.start(budget=Limits(seconds=300))
        await until(lambda: gate.made)
        with pytest.raises(BadRequest, match="adds time"):
            kept.jobs.narrow(job, Narrowing(seconds=100_000), "longer")
        await kept.jobs.writer.flush()
        whole = await kept.jobs.store.job(job.id)
        assert whole.steering == Steering()
        gate.go.set()
        await kept.ended(job)


def test_steering_of_before_there_were_limits_are_still_read():
    kept = '{"finish": ["job/0"], "stopped": [], "guidance": ["g"]}'
    steering = Steering.model_validate_json(kept)
    assert (steering.finish, steering.guidance, steering.limits) == ({"job/0"}, ["g"], Narrowing())


def test_what_is_kept_of_steering_comes_back_whole():
    change = Change(number=1, seconds=2.0, kind="stop", node="job/0", words="stopped")
    steering = Steering(
        finish=("job/1",), stopped=("job/0",), dropped=("job/2",), again=("job/0+2",), guidance=("g",),
        limits=Narrowing(seconds=9), changes=(change,),
    )  # fmt: skip
    assert Steering.model_validate_json(steering.model_dump_json()) == steering


async def test_a_watcher_narrows_a_job_that_runs_elsewhere(tmp_path, database):
    with running(tmp_path, database, "one"):
        async with opened(tmp_path, bench_of(nothing), url=database, runs=False) as kept:
            job = await kept.start(owner="ann")
            await until(lambda: job.status == "running")
            said = kept.jobs.narrow(job, Narrowing(exclude_domains=("b.example",)), "without b.example")
            kept.jobs.guide(job, "prefer the log")
            assert said.number == 1
            await asyncio.wait_for(job.wait(), 60)

            assert job.status == "done"
            assert [one.seq for one in job.run.events] == list(range(1, len(job.run.events) + 1))
            notes = [
                one.event.text for one in job.run.events if isinstance(one.event, Noted) and one.event.tag == "change"
            ]
            assert notes == ["Change 1 to the contract: without b.example."]
            assert [one.kind for one in job.report.changes] == ["limits", "guidance"]


async def test_the_command_line_says_that_the_offline_engine_heeds_no_guidance(tmp_path):
    gate = World()

    async def root(ctx):
        await ctx.call("hold", "1", gate.held, "h", gives=Word)

    async with opened(tmp_path, bench_of(root)) as kept:
        leaf = Leaf(title="Closures", objective="o", questions=("q",), searches=("s",))
        plan = Plan(query=QUERY.text, root=Node(title="r", objective="o", children=(leaf,)))
        contract = make_contract(BRIEF, (plan,), Means(models=(OfflineModel.name,)))
        commission = Commission(contract=contract)
        job = await kept.jobs.start(commission, kept.bench(commission, Steering()), owner="", title="t")
        await until(lambda: gate.made)
        await kept.jobs.writer.flush()
        guided = await command(tmp_path, "guidance", job.id[:8], "look at the costs")
        gate.go.set()
        await kept.ended(job)

    nothing = "It is recorded with the run; the offline engine, which reasons about nothing, does not heed it."
    assert guided.stdout == f"{job.id[:12]}: guidance done\n{nothing}\n", guided.stderr


async def test_the_command_line_steers_a_job_that_a_server_runs(tmp_path):
    gate = World()

    async def branch(ctx, given):
        for path, role, title in (("job/0", "query", "Why"), ("job/0/0", "leaf", "Costs")):
            parent = path.rpartition("/")[0]
            ctx.emit(path, NodeChanged(node=path, parent=parent, role=role, title=title, state="searching"))
        return await ctx.call("hold", "1", gate.held, "h", gives=Word)

    async def root(ctx):
        await ctx.children("branch", [("0", Given())], gives=Word)

    async with opened(tmp_path, bench_of(root, {"branch": branch})) as kept:
        job = await kept.start()
        await until(lambda: gate.made)
        await kept.jobs.writer.flush()
        short = job.id[:8]

        guided = await command(tmp_path, "guidance", short, "look at the costs")
        unknown = await command(tmp_path, "stop", short, "9")
        no_such = await command(tmp_path, "finish", short, "--branch", "job/9")
        stopped = await command(tmp_path, "stop", short, "1")
        twice = await command(tmp_path, "stop", short, "1")
        late = await command(tmp_path, "retry", short, "1")
        gate.go.set()
        await kept.ended(job)

    assert guided.stdout == f"{job.id[:12]}: guidance done\n", guided.stderr
    assert unknown.exit_code == 2
    assert unknown.stderr == "There is no branch 9 in this job; there are: 1.\n"
    assert (no_such.exit_code, no_such.stderr) == (2, "There is no branch job/9 in this job; there are: 1.\n")
    assert stopped.stdout == f"{job.id[:12]}: stop done\n"
    # What has ended already is not stopped, and the report does not say that it was.
    assert (twice.exit_code, twice.stderr) == (2, "“Costs” is stopped already. Nothing was changed.\n")
    assert late.exit_code == 0
    assert [(one.kind, one.words) for one in job.report.changes] == [
        ("guidance", "look at the costs"),
        ("stop", "branch 1 “Costs” was stopped"),
        ("retry", "branch 1 “Costs” is tried again"),
    ]
    assert job.report.changes[2].effect == "Branch 1 “Costs” was to be tried again, but that came too late."
