"""The durable engine keeps the semantics of the port in memory, and survives being closed at any moment."""

import asyncio
import json
import sqlite3

import pytest
import sqlalchemy as sa

from agents.core.budget import Limits, Usage
from agents.core.errors import BudgetExceeded, SearchError, StepFailed
from agents.core.events import Charged, JobChanged, Noted
from agents.jobs import schema as tables
from agents.jobs.config import InUse
from tests.jobs.conftest import Given, Word, bench_of, opened, until


class Paid(Charged):
    text: str


class Calls:
    """Effects that are counted, and held back where they are told to be."""

    def __init__(self):
        self.made, self.go, self.waiting = [], asyncio.Event(), 0

    async def say(self, text, delay=0.0):
        self.made.append(text)
        await asyncio.sleep(delay)
        return Word(text=text)

    async def held(self, text):
        self.made.append(text)
        self.waiting += 1
        await self.go.wait()
        return Word(text=text)

    async def paid(self, text):
        self.made.append(text)
        return Paid(text=text, usage=Usage(calls=1, tokens_in=10, cost_usd=0.5))


@pytest.fixture
async def calls():
    return Calls()


async def test_a_job_runs_and_everything_about_it_is_in_the_store(tmp_path, calls):
    async def root(ctx):
        await ctx.call("say", "1", calls.paid, "a", gives=Paid)
        ctx.emit("note", Noted(text="said"))

    async with opened(tmp_path, bench_of(root)) as kept:
        job = await kept.ended(await kept.start(owner="ann"))
        store = kept.jobs.store
        assert (job.status, job.report.grade) == ("done", "partial")
        assert [row.id for row in await store.jobs("ann")] == [job.id]
        assert (await store.report(job.id)).job_id == job.id
        assert [one.seq for one in await store.events(job.id)] == list(range(1, len(job.run.events) + 1))
        assert list(await store.steps(job.id)) == ["job#say:1"]
        async with store.database.reading() as connection:
            for table in (tables.sources, tables.facts, tables.claims, tables.reports):
                origins = (await connection.execute(sa.select(table.c.origin_run_id))).scalars().all()
                assert all(origin.startswith(f"{job.id}~1/") for origin in origins)


async def test_how_planning_stands_is_in_the_jobs_row(tmp_path, url):
    async def root(ctx):
        ctx.emit("stage", JobChanged(status="running", stage="collecting"))
        ctx.emit("warned", Noted(text="two queries repeat one another", tag="plan"))

    async def orchestrator(job):
        async with kept.jobs.store.database.reading() as connection:
            query = sa.select(tables.jobs.c.metadata).where(tables.jobs.c.id == job.id)
            return json.loads((await connection.execute(query)).scalar_one()).get("orchestrator", {})

    async with opened(tmp_path, bench_of(root), url=url) as kept:
        job = await kept.ended(await kept.start(), 30)
        while (stands := await orchestrator(job)).get("stage") != "completed":  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        assert stands["plannedAt"] <= stands["plannerPendingUntil"]
        assert stands["warnings"] == ["two queries repeat one another"]
        assert stands["claimCount"] == len(job.report.claims)


async def test_after_a_restart_an_old_job_is_found_with_its_report_and_its_events(tmp_path, calls):
    async def root(ctx):
        await ctx.call("say", "1", calls.say, "a", gives=Word)

    async with opened(tmp_path, bench_of(root)) as kept:
        job = await kept.ended(await kept.start(owner="ann"))
    async with opened(tmp_path, bench_of(root)) as kept:
        found = await kept.jobs.find(job.id, "ann")
        assert found.over
        assert found.report == job.report
        assert [one async for one in found.follow()] == job.run.events
        assert await kept.jobs.find(job.id, "bob") is None


async def test_a_process_killed_between_the_end_of_a_job_and_that_of_its_attempt_holds_up_no_later_job(tmp_path, calls):
    async def root(ctx):
        await ctx.call("say", "1", calls.say, "a", gives=Word)

    async with opened(tmp_path, bench_of(root), per_user=2) as kept:
        for _ in range(3):
            await kept.ended(await kept.start())
    with sqlite3.connect(tmp_path / "engine.db") as engine:
        engine.execute("UPDATE workflow_status SET status = 'PENDING'")  # as the kill leaves it
    async with opened(tmp_path, bench_of(root), per_user=2) as kept:
        job = await kept.ended(await kept.start())
        assert job.status == "done"
    assert calls.made == ["a"] * 4


async def test_what_was_cut_off_goes_on_by_itself_and_pays_nothing_twice(tmp_path, calls):
    async def branch(ctx, given):
        one = await ctx.call("say", "1", calls.say, f"{given.n}a", 0.01 * (3 - given.n), gives=Word)
        if given.n == 2:
            await ctx.call("hold", "1", calls.held, "held", gives=Word)
        two = await ctx.call("say", "2", calls.say, f"{given.n}b", gives=Word)
        return Word(text=one.text + two.text)

    said = []

    async def root(ctx):
        found = await ctx.children("branch", [(str(n), Given(n=n)) for n in range(3)], gives=Word)
        said.append(" ".join(one.text for one in found))

    bench = bench_of(root, {"branch": branch})
    async with opened(tmp_path, bench) as kept:
        job = await kept.start()
        await until(lambda: calls.waiting and len(calls.made) == 6)
    assert not job.over
    calls.go.set()
    async with opened(tmp_path, bench) as kept:
        again = kept.jobs.get(job.id)
        await kept.ended(again)
        assert again.status == "done"
    assert said == ["0a0b 1a1b 2a2b"]
    assert sorted(calls.made) == sorted(["0a", "1a", "2a", "0b", "1b", "held", "held", "2b"])


async def test_a_failure_is_data_in_its_place_a_broken_branch_too_and_a_broken_root_fails_the_job(tmp_path, calls):
    async def broken():
        raise SearchError("secret detail", provider="library")

    async def branch(ctx, given):
        if given.n == 1:
            raise BudgetExceeded("token", spent=2, limit=1, of="branch")
        if given.n == 2:
            raise ZeroDivisionError
        await asyncio.sleep(0.05)
        return Word(text=str(given.n))

    seen = []

    async def root(ctx):
        with pytest.raises(StepFailed) as caught:
            await ctx.call("search", "q", broken, gives=Word)
        seen.append((caught.value.type, caught.value.notice, caught.value.retryable))
        found = await ctx.children("branch", [(str(n), Given(n=n)) for n in range(2)], gives=Word)
        seen.append(" ".join(one.text if isinstance(one, Word) else one.type for one in found))
        found = await ctx.children("branch", [(str(n), Given(n=n)) for n in (2, 3)], gives=Word)
        seen.append(" ".join(one.text if isinstance(one, Word) else one.type for one in found))
        raise ZeroDivisionError

    async with opened(tmp_path, bench_of(root, {"branch": branch})) as kept:
        job = await kept.ended(await kept.start())
        assert job.status == "failed"
        assert "ZeroDivision" not in job.notice
    search = ("SearchError", "The search (library) did not answer.", True)
    assert seen == [search, "0 BudgetExceeded", "ZeroDivisionError 3"]


async def test_budgets_are_charged_alike_before_and_after_a_restart(tmp_path, calls):
    async def branch(ctx, given):
        await ctx.call("say", "1", calls.paid, str(given.n), gives=Paid)
        if given.n == 1:
            await ctx.call("hold", "1", calls.held, "held", gives=Word)
        return Word(text=str(ctx.budget.spent.tokens))

    spent = []

    async def root(ctx):
        await ctx.call("say", "1", calls.paid, "root", gives=Paid)
        found = await ctx.children("branch", [(str(n), Given(n=n)) for n in range(3)], gives=Word)
        spent.append((ctx.budget.spent.tokens, ctx.budget.spent.cost_usd, [one.text for one in found]))

    bench = bench_of(root, {"branch": branch})
    async with opened(tmp_path, bench) as kept:
        job = await kept.start(budget=Limits(tokens=1000))
        await until(lambda: calls.waiting and len(calls.made) == 5)
        await asyncio.sleep(0.1)
    calls.go.set()
    async with opened(tmp_path, bench) as kept:
        await kept.ended(kept.jobs.get(job.id))
    assert spent == [(40, 2.0, ["10", "10", "10"])]


async def test_the_jobs_clock_stands_still_while_no_process_runs_it(tmp_path, calls):
    async def root(ctx):
        await ctx.call("hold", "1", calls.held, "held", gives=Word)

    async with opened(tmp_path, bench_of(root)) as kept:
        job = await kept.start(budget=Limits(seconds=300))
        await until(lambda: calls.waiting)
    await asyncio.sleep(0.5)
    calls.go.set()
    async with opened(tmp_path, bench_of(root)) as kept:
        again = kept.jobs.get(job.id)
        assert again.run.now() < 0.4
        await kept.ended(again)


@pytest.mark.parametrize(("verb", "said"), [("stop", "Stopped"), ("drop", "Dropped")])
async def test_a_stopped_or_dropped_branch_ends_at_once_and_its_siblings_go_on(tmp_path, calls, verb, said):
    async def leaf(ctx, given):
        return await ctx.call("hold", "1", calls.held, f"leaf{given.n}", gives=Word)

    async def branch(ctx, given):
        if given.n == 0:
            found = await ctx.children("leaf", [(str(n), Given(n=n)) for n in range(2)], gives=Word)
            # A stopped branch is told so at its next call and may hand on what it has; a dropped one is left at once.
            raise found[0]
        return await ctx.call("say", "1", calls.say, "sibling", gives=Word)

    seen = []

    async def root(ctx):
        found = await ctx.children("branch", [(str(n), Given(n=n)) for n in range(2)], gives=Word)
        seen.append([one.text if isinstance(one, Word) else (one.key, one.type, one.notice) for one in found])
        await ctx.call("hold", "last", calls.held, "last", gives=Word)

    bench = bench_of(root, {"branch": branch, "leaf": leaf})
    async with opened(tmp_path, bench) as kept:
        job = await kept.start()
        await until(lambda: calls.waiting == 2)
        assert kept.jobs.steer(job, verb, "job/0").number == 1
        await until(lambda: calls.waiting == 3)
    calls.go.set()
    async with opened(tmp_path, bench) as kept:
        await kept.ended(kept.jobs.get(job.id))
    key = "job/0/0#hold:1" if verb == "stop" else "job/0#dropped"
    assert seen == [[(key, said, f"You {said.lower()} it."), "sibling"]] * 2
    assert calls.made.count("leaf0") == 1


async def test_a_second_process_on_the_same_file_is_told_who_has_it(tmp_path):
    async def root(ctx):
        pass

    async with opened(tmp_path, bench_of(root)):
        with pytest.raises(InUse, match=r"already run by process \d+ on "):
            async with opened(tmp_path, bench_of(root)):
                pass
