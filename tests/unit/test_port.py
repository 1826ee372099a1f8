"""The job port in memory: records, replays, failures as data, order, limits, stopping."""

import asyncio

import pytest

from agents.contracts.frozen import Frozen
from agents.core.budget import Budget, Limits, Usage
from agents.core.errors import BudgetExceeded, SearchError, StepFailed
from agents.core.events import Charged, Noted
from agents.core.port import ProcessLimits, Slots
from agents.jobs.attempt import Attempt


class Word(Frozen):
    text: str


class Paid(Charged):
    text: str


class Given(Frozen):
    n: int = 0


async def word(text, delay=0.0):
    await asyncio.sleep(delay)
    return Word(text=text)


async def paid(text):
    return Paid(text=text, usage=Usage(calls=1, tokens_in=10))


def run_with(root, record=None, handlers=None, clock=lambda: 0.0, seconds=None, **kwargs):
    table = {"root": root, **(handlers or {})}
    return Attempt(
        job_id="j", handlers=table, budget=Budget(Limits(seconds=seconds), name="job"), clock=clock, limits=ProcessLimits(),
        record=dict(record or {}), **kwargs,
    )  # fmt: skip


async def test_a_step_is_recorded_under_its_full_key_and_read_back():
    async def root(ctx, given):
        return await ctx.call("say", "hello", word, "hi", gives=Word)

    first = run_with(root)
    assert (await first.run("root", Given(), Word)).text == "hi"
    assert list(first.record) == ["job#say:hello"]

    again = run_with(root, first.record)
    assert (await again.run("root", Given(), Word)).text == "hi"
    assert again.calls_made == 0


async def test_a_replay_charges_what_the_run_charged():
    async def root(ctx, given):
        await ctx.call("say", "1", paid, "a", gives=Paid)
        return Word(text=str(ctx.budget.spent.tokens))

    first = run_with(root)
    await first.run("root", Given(), Word)
    again = run_with(root, first.record)
    assert (await again.run("root", Given(), Word)).text == "10"
    assert again.budget.spent == first.budget.spent


async def test_a_failure_is_data_and_is_the_same_on_replay():
    async def broken():
        raise SearchError("secret detail", provider="library")

    async def root(ctx, given):
        try:
            await ctx.call("search", "q", broken, gives=Word)
        except StepFailed as failure:
            return Word(text=f"{failure.type}|{failure.notice}|{failure.retryable}")
        raise AssertionError

    first = run_with(root)
    said = await first.run("root", Given(), Word)
    assert said.text == "SearchError|The search (library) did not answer.|True"
    assert await run_with(root, first.record).run("root", Given(), Word) == said


async def test_an_unexpected_error_becomes_data_without_its_text(caplog):
    async def broken():
        raise ValueError("key sk-12345 in here")

    async def root(ctx, given):
        with pytest.raises(StepFailed) as caught:
            await ctx.call("say", "1", broken, gives=Word)
        return Word(text=str(caught.value) + caught.value.notice)

    assert "sk-12345" not in (await run_with(root).run("root", Given(), Word)).text


async def test_a_fan_keeps_order_and_puts_failures_in_place():
    async def maybe(text, delay):
        await asyncio.sleep(delay)
        if text == "b":
            raise SearchError("no", provider="p")
        return Word(text=text)

    async def root(ctx, given):
        found = await ctx.fan("say", maybe, [("a", "a", 0.02), ("b", "b", 0.0), ("c", "c", 0.01)], gives=Word)
        return Word(text="".join(one.text if isinstance(one, Word) else "!" for one in found))

    assert (await run_with(root).run("root", Given(), Word)).text == "a!c"


async def test_branches_that_make_several_calls_keep_their_own_answers_on_replay():
    async def branch(ctx, given):
        one = await ctx.call("say", "1", word, f"{given.n}a", 0.01 * (3 - given.n), gives=Word)
        two = await ctx.call("say", "2", word, f"{given.n}b", gives=Word)
        return Word(text=one.text + two.text)

    async def root(ctx, given):
        found = await ctx.children("branch", [(str(n), Given(n=n)) for n in range(3)], gives=Word)
        return Word(text=" ".join(one.text for one in found))

    table = {"branch": branch}
    first = run_with(root, handlers=table)
    assert (await first.run("root", Given(), Word)).text == "0a0b 1a1b 2a2b"
    again = run_with(root, first.record, handlers=table)
    assert (await again.run("root", Given(), Word)).text == "0a0b 1a1b 2a2b"
    assert again.calls_made == 0


async def test_a_failed_branch_stays_in_its_place():
    async def branch(ctx, given):
        if given.n == 1:
            raise BudgetExceeded("token", spent=2, limit=1, of="branch")
        return Word(text=str(given.n))

    async def root(ctx, given):
        found = await ctx.children("branch", [(str(n), Given(n=n)) for n in range(3)], gives=Word)
        return Word(text=" ".join(one.text if isinstance(one, Word) else one.type for one in found))

    table = {"branch": branch}
    assert (await run_with(root, handlers=table).run("root", Given(), Word)).text == "0 BudgetExceeded 2"


async def test_two_steps_of_one_name_are_refused():
    async def root(ctx, given):
        await ctx.call("say", "1", word, "a", gives=Word)
        return await ctx.call("say", "1", word, "b", gives=Word)

    with pytest.raises(RuntimeError, match="two steps"):
        await run_with(root).run("root", Given(), Word)


async def test_an_event_of_one_key_is_told_once():
    async def root(ctx, given):
        ctx.emit("note", Noted(text="once"))
        ctx.emit("note", Noted(text="once"))
        return Word(text="x")

    run = run_with(root)
    await run.run("root", Given(), Word)
    assert len(run.events) == 1


async def test_time_left_is_the_recorded_clock():
    now = iter([0.0, 30.0, 30.0, 500.0, 500.0, 500.0])

    async def root(ctx, given):
        before = ctx.left
        await ctx.call("say", "1", word, "a", gives=Word)
        return Word(text=f"{before}|{ctx.left}|{ctx.collecting_left}")

    first = run_with(root, clock=lambda: next(now), seconds=300)
    said = await first.run("root", Given(), Word)
    assert said.text == "300.0|270.0|180.0"
    again = run_with(root, first.record, clock=lambda: 9_999.0, seconds=300)
    assert await again.run("root", Given(), Word) == said


async def test_stopping_a_job_stops_its_branches_at_once():
    started, ended = [], []

    async def slow(n):
        started.append(n)
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(n)
        return Word(text="late")

    async def branch(ctx, given):
        return await ctx.call("say", "1", slow, given.n, gives=Word)

    async def root(ctx, given):
        await ctx.children("branch", [(str(n), Given(n=n)) for n in range(4)], gives=Word)
        return Word(text="never")

    run = run_with(root, handlers={"branch": branch})
    task = asyncio.create_task(run.run("root", Given(), Word))
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sorted(started) == sorted(ended) == [0, 1, 2, 3]


async def test_the_longest_path_is_served_first():
    slots, order = Slots(1), []

    async def one(name, urgency):
        async with slots.slot(urgency):
            order.append(name)
            await asyncio.sleep(0)

    async with slots.slot():
        tasks = [asyncio.create_task(one(name, urgency)) for name, urgency in [("short", 1), ("long", 3), ("later", 3)]]
        await asyncio.sleep(0)
    await asyncio.gather(*tasks)
    assert order == ["long", "later", "short"]


async def test_a_cancelled_waiter_gives_its_slot_to_the_next():
    slots = Slots(1)

    async def hold():
        async with slots.slot():
            return "held"

    async with slots.slot():
        first, second = asyncio.create_task(hold()), asyncio.create_task(hold())
        await asyncio.sleep(0)
        first.cancel()
    assert await second == "held"
    assert slots.peak == 1
