"""A run that is steered from outside: limits hold from the next step on, nothing found is lost, a replay agrees."""

import asyncio

import pytest

from agents.contracts.contract import Narrowing
from agents.contracts.finding import FrameInput, SectionInput
from agents.contracts.verification import ChallengeInput
from agents.core.errors import BadRequest, SearchError
from agents.core.events import NodeChanged, Noted, SourceRead
from tests.scripted_model import ScriptedModel
from tests.scripted_search import ScriptedSearcher
from tests.scripts import BRIEF, QUERY, ROLES, WORLD, Worker, change, leaf, tree, working_model, world

TWO = {
    QUERY.text: tree(
        leaf("Closures", "On how many days was the Orvane ferry line closed?"),
        leaf("Costs", "What did the Orvane winter service cost?"),
        claims=("The Orvane line was closed on fewer than 10 days in 2022/23.",),
    )
}


class Gate:
    """A searcher that holds back, until it is opened, whatever has a word in its query or address."""

    def __init__(self, inner=None, *, search="", read=""):
        self.inner, self.words = inner or world(), {"search": search, "read": read}
        self.open, self.held = asyncio.Event(), asyncio.Event()
        self.name, self.searched, self.fetched = "world", [], []

    async def _wait(self, what, text):
        if self.words[what] and self.words[what] in text:
            self.held.set()
            await self.open.wait()

    async def search(self, query, deadline_s=None):
        self.searched.append(query)
        await self._wait("search", query.text)
        return await self.inner.search(query, deadline_s)

    async def read(self, url, deadline_s=None, known=None):
        self.fetched.append(url)
        await self._wait("read", url)
        return await self.inner.read(url, deadline_s)

    async def survey(self, question="", limit=24):
        return await self.inner.survey(question, limit)


class Dated(ScriptedSearcher):
    """Tells the date of a page only to whoever reads it, and finds pages whatever the limits are."""

    def __init__(self):
        super().__init__(WORLD)

    async def read(self, url, deadline_s=None, known=None):
        source = await super().read(url.replace("moved", "costs"), deadline_s)
        return source.model_copy(update={"published": "2012-05-01"}) if "b.example" in url else source


async def under_way(work, gate):
    """Start a run, and wait until it is held."""
    task = asyncio.create_task(work.run())
    await asyncio.wait_for(gate.held.wait(), 30)
    await asyncio.sleep(0.05)
    return task, work.last


def leaves(outcome):
    return {part.title: part for part in outcome.findings[0].walk() if part.role == "leaf"}


async def same_again(work, outcome, brief=BRIEF):
    """A replay from the record makes no call, and comes to the same."""
    assert await work.run(brief, record=work.last.record) == outcome
    assert work.last.calls_made == 0


# ---- limits


async def test_a_domain_excluded_meanwhile_is_neither_read_nor_extracted_from(bench):
    gate = Gate(read="b.example")
    work = bench(working_model(TWO), searcher=gate)
    task, run = await under_way(work, gate)

    change(run, "limits", limits=Narrowing(exclude_domains=("b.example",)), words="without b.example")
    gate.open.set()
    outcome = await asyncio.wait_for(task, 30)

    assert not any("b.example" in card.url for top in outcome.findings for card in top.all_sources())
    refused = {one.url: one.reason for part in outcome.findings[0].walk() for one in part.rejected}
    assert refused["https://b.example/costs"] == "left out by a change during the run"
    await same_again(work, outcome)


async def test_the_next_search_asks_within_the_new_limits_and_hits_of_one_in_flight_are_held_to_them(bench):
    gate = Gate(search="cost")
    work = bench(working_model(TWO), searcher=gate)
    task, run = await under_way(work, gate)

    change(run, "limits", limits=Narrowing(domains=("a.example",), date_from="2019"), words="only a.example")
    gate.open.set()
    outcome = await asyncio.wait_for(task, 30)

    assert {card.url for card in leaves(outcome)["Costs"].sources} == {"https://a.example/closures"}
    later = gate.searched[-1]
    assert (later.domains, later.date_from) == (("a.example",), "2019")
    await same_again(work, outcome)


async def test_a_page_whose_date_shows_only_when_it_is_read_is_held_to_the_dates(bench):
    gate = Gate(Dated(), search="cost")
    work = bench(working_model(TWO), searcher=gate)
    task, run = await under_way(work, gate)

    change(run, "limits", limits=Narrowing(date_from="2019-01-01"), words="dates since 2019-01-01")
    gate.open.set()
    outcome = await asyncio.wait_for(task, 30)

    costs = leaves(outcome)["Costs"]
    assert costs.sources
    assert not any("b.example" in card.url for card in costs.sources)
    refused = {one.url: one.reason for one in costs.rejected}
    assert refused["https://b.example/costs"] == "outside the dates set by a change during the run"


@pytest.mark.parametrize(
    ("agreed", "why"),
    [
        ({"exclude_domains": ("b.example",)}, "left out by the contract"),
        ({"domains": ("a.example",)}, "not of the domains of the contract"),
        ({"date_from": "2019-01-01"}, "outside the dates of the contract"),
    ],
)
async def test_what_the_contract_leaves_out_is_not_used_however_it_was_come_by(bench, agreed, why):
    work, brief = bench(working_model(TWO), searcher=Dated()), BRIEF.model_copy(update=agreed)
    outcome = await work.run(brief)

    assert not any("b.example" in card.url for top in outcome.findings for card in top.all_sources())
    refused = {one.url: one.reason for part in outcome.findings[0].walk() for one in part.rejected}
    assert refused["https://b.example/costs"] == why
    assert leaves(outcome)["Closures"].sources  # of no known date
    await same_again(work, outcome, brief)


@pytest.mark.parametrize("named", ["https://b.example/costs", "https://b.example/moved"])
async def test_a_page_that_the_user_named_is_read_wherever_it_lies_and_whatever_its_date(bench, named):
    limits = {"domains": ("a.example",), "exclude_domains": ("b.example",), "date_from": "2019-01-01"}
    work = bench(working_model(TWO), searcher=Dated())
    brief = BRIEF.model_copy(update={**limits, "seed_urls": (named,)})
    outcome = await work.run(brief)

    assert "https://b.example/costs" in {card.url for card in outcome.findings[0].all_sources()}
    await same_again(work, outcome, brief)


@pytest.mark.parametrize(
    ("first", "then", "why"),
    [
        (Narrowing(domains=("a.example",)), Narrowing(domains=("b.example",)), "that adds domains"),
        (Narrowing(date_from="2020"), Narrowing(date_from="2015"), "adds dates"),
        (Narrowing(seconds=60), Narrowing(seconds=120), "that adds time"),
        (Narrowing(domains=("a.example",)), Narrowing(exclude_domains=("a.example",)), "no domain to search"),
        (Narrowing(date_from="2020"), Narrowing(date_to="2019"), "leaves no dates"),
        (Narrowing(), Narrowing(seconds=3600), "that adds time"),
    ],
)
async def test_a_limit_only_ever_narrows(bench, first, then, why):
    run = bench().job()
    change(run, "limits", limits=first, words="first")
    with pytest.raises(BadRequest) as refused:
        change(run, "limits", limits=then, words="then")
    assert why in refused.value.notice
    assert run.steering.limits == first
    assert len(run.steering.changes) == 1


# ---- an earlier end


class Ticking:
    """A clock that a test moves."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


async def test_an_earlier_end_keeps_its_own_reserve_and_makes_no_search_after_it(bench):
    clock = Ticking()
    gate = Gate(search="cost")
    work = bench(working_model(TWO), searcher=gate, clock=clock)
    task, run = await under_way(work, gate)
    clock.now = 10.0

    change(run, "limits", limits=Narrowing(seconds=60), words="1 minute in all")
    assert run.reserve_s == 18.0
    clock.now = 43.0  # later than 60 s less what is kept for writing
    gate.open.set()
    outcome = await asyncio.wait_for(task, 30)

    assert "#TIME_LIMIT" in outcome.tags
    assert len(gate.searched) == 2  # no counter-search, no second round
    assert leaves(outcome)["Closures"].facts
    await same_again(work, outcome)


async def test_a_call_in_flight_is_cut_off_when_the_earlier_end_comes(bench):
    gate = Gate(read="b.example")
    work = bench(working_model(TWO), searcher=gate, clock=asyncio.get_running_loop().time)
    task, run = await under_way(work, gate)

    # All but the held page and what is read in one call with it.
    await until(lambda: sum(isinstance(one.event, SourceRead) for one in run.events) >= 2)
    change(run, "limits", limits=Narrowing(seconds=run.now() + 0.5), words="half a second more")
    outcome = await asyncio.wait_for(task, 60)  # the gate stays shut

    costs = leaves(outcome)["Costs"]
    assert (costs.status, costs.note) == ("partial", "the run was shortened before all its sources were read")
    assert costs.facts
    assert not any("b.example" in card.url for top in outcome.findings for card in top.all_sources())
    await same_again(work, outcome)


async def test_an_end_that_is_past_leaves_only_what_its_writing_takes(bench):
    clock = Ticking()
    run = bench(clock=clock).job()
    clock.now = 100.0
    told = change(run, "limits", limits=Narrowing(seconds=60), words="1 minute in all")
    assert told.limits.seconds == 118.0


# ---- stopping and dropping


async def test_a_stopped_branch_keeps_what_it_had_found_and_makes_no_further_call(bench):
    model = Held(TWO)
    work = bench(model)
    task = asyncio.create_task(work.run())
    await asyncio.wait_for(model.writing.wait(), 30)
    await asyncio.sleep(0.05)

    change(work.last, "stop", "job/0/1")
    outcome = await asyncio.wait_for(task, 30)

    costs = leaves(outcome)["Costs"]
    assert (costs.status, costs.ended) == ("stopped", "stopped")
    assert costs.facts
    assert costs.note == f"you stopped it; {len(costs.facts)} facts of {len(costs.sources)} sources were kept"
    assert costs.facts[0].quote in costs.markdown
    assert leaves(outcome)["Closures"].status == "done"
    assert outcome.findings[0].status == "partial"
    assert "#EARLY_STOP" not in outcome.tags
    assert outcome.counter  # the other branches' work goes on to the end: its claims were challenged
    await same_again(work, outcome)


async def test_a_branch_can_not_be_dropped_once_claims_and_summary_rest_on_it_though_sections_are_still_written(bench):
    model = Held(TWO)
    work = bench(model)
    task = asyncio.create_task(work.run())
    await asyncio.wait_for(model.writing.wait(), 30)
    await until(lambda: told(work.last, "job/0/0")[-1:] == ["done"])

    for branch in ("job/0/0", "job/0/1"):
        with pytest.raises(BadRequest, match="rest on all branches"):
            change(work.last, "drop", branch)
    model.open.set()
    outcome = await asyncio.wait_for(task, 30)

    assert leaves(outcome)["Closures"].facts and leaves(outcome)["Costs"].facts
    await same_again(work, outcome)


async def test_claims_and_summary_are_made_once_though_a_branch_was_dropped_before(bench):
    gate = Gate(search="passengers")
    work = bench(searcher=gate)
    task, run = await under_way(work, gate)

    change(run, "drop", "job/0/2")
    gate.open.set()
    outcome = await asyncio.wait_for(task, 30)

    assert outcome.counter
    assert len([one for one in work.model.asked if isinstance(one.given, ChallengeInput | FrameInput)]) == 2
    await same_again(work, outcome)


async def test_a_stopped_executor_keeps_what_its_leaves_had_found(bench):
    model = Held(TWO)
    work = bench(model)
    task = asyncio.create_task(work.run())
    await asyncio.wait_for(model.writing.wait(), 30)
    await until(lambda: told(work.last, "job/0/0")[-1:] == ["done"])

    change(work.last, "stop", "job/0")
    outcome = await asyncio.wait_for(task, 30)

    assert {one.ended for one in leaves(outcome).values()} <= {"", "stopped"}
    assert all(one.facts for one in leaves(outcome).values())
    assert len(outcome.findings[0].rounds) == 1
    await same_again(work, outcome)


async def test_finishing_one_branch_does_not_finish_those_beside_and_above_it(bench):
    gate = Gate(search="cost")
    work = bench(working_model(TWO), searcher=gate)
    task, run = await under_way(work, gate)

    change(run, "finish", "job/0/1")
    gate.open.set()
    outcome = await asyncio.wait_for(task, 30)

    assert "#EARLY_STOP" not in outcome.tags
    assert outcome.counter
    await same_again(work, outcome)


class Held(ScriptedModel):
    """A working model whose first writers of the named sections wait until they are let go on."""

    def __init__(self, plans, *titles):
        super().__init__(by_role=dict.fromkeys(ROLES, Worker(plans)))
        self.titles = set(titles or ("Costs",))
        self.writing, self.open = asyncio.Event(), asyncio.Event()

    async def reply(self, request, on_text=None):
        if isinstance(request.given, SectionInput) and request.given.title in self.titles:
            self.titles.remove(request.given.title)
            if not self.titles:
                self.writing.set()
            await self.open.wait()
        return await super().reply(request, on_text)


# ---- trying again


class Failing(Gate):
    """Searches that are not about closures fail; others are held."""

    async def search(self, query, deadline_s=None):
        if "closed" not in query.text:
            raise SearchError("no answer", provider="world")
        return await super().search(query, deadline_s)


def told(run, node):
    return [one.event.state for one in run.events if isinstance(one.event, NodeChanged) and one.event.node == node]


async def until(what, seconds=30.0):
    for _ in range(int(seconds / 0.01)):
        if what():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come about in time")


async def test_a_stopped_branch_that_is_tried_again_takes_its_own_place(bench):
    gate = Gate(read="a.example", search="cost")
    work = bench(working_model(TWO), searcher=gate)
    task, run = await under_way(work, gate)
    await until(lambda: "reading" in told(run, "job/0/0"))
    change(run, "stop", "job/0/1")
    await until(lambda: told(run, "job/0/1").count("stopped") == 2)

    number = change(run, "retry", "job/0/1").number
    assert number == 2
    assert told(run, "job/0/1")[-1] == "retrying"
    gate.open.set()
    outcome = await asyncio.wait_for(task, 30)

    assert list(leaves(outcome)) == ["Closures", "Costs"]
    costs = leaves(outcome)["Costs"]
    assert (costs.path, costs.status, costs.tries, costs.ended) == ("job/0/1+2", "done", 2, "")
    assert costs.facts
    await same_again(work, outcome)


async def test_a_branch_given_up_after_three_failures_is_not_tried_again(bench):
    gate = Failing(read="a.example")
    work = bench(working_model(TWO), searcher=gate)
    task, run = await under_way(work, gate)
    await until(lambda: told(run, "job/0/1")[-1:] == ["failed"])

    with pytest.raises(BadRequest, match="failed") as refused:
        change(run, "retry", "job/0/1")
    assert "#RETRY_EXHAUSTED" in refused.value.notice
    gate.open.set()
    outcome = await asyncio.wait_for(task, 30)
    assert leaves(outcome)["Costs"].status == "failed"


async def test_only_what_failed_or_was_stopped_is_tried_again_and_only_while_it_can(bench):
    gate = Gate(search="cost")
    work = bench(working_model(TWO), searcher=gate)
    task, run = await under_way(work, gate)
    with pytest.raises(BadRequest, match="only a failed or stopped branch"):
        change(run, "retry", "job/0/1")
    with pytest.raises(BadRequest, match="no such branch"):
        change(run, "retry", "job/0/7")
    change(run, "stop", "job/0/1")
    change(run, "finish", "job")
    with pytest.raises(BadRequest, match="searches no further"):
        change(run, "retry", "job/0/1")
    gate.open.set()
    await asyncio.wait_for(task, 30)


async def test_a_failed_try_does_not_lose_what_the_one_before_had_found(bench):
    gate = Gate()
    model = Held(TWO, "Costs", "Closures")
    work = bench(model, searcher=gate)
    task = asyncio.create_task(work.run())
    await asyncio.wait_for(model.writing.wait(), 30)
    run = work.last
    change(run, "stop", "job/0/1")
    await until(lambda: told(run, "job/0/1").count("stopped") == 2)
    change(run, "retry", "job/0/1")
    gate.inner = ScriptedSearcher({})  # nothing is found any more
    work.context.searches._running.clear()
    model.open.set()
    outcome = await asyncio.wait_for(task, 30)

    costs = leaves(outcome)["Costs"]
    assert costs.facts
    assert costs.tries == 2
    assert "tried again: no document matches" in costs.note


async def test_every_change_is_told_once_and_numbered(bench):
    gate = Gate(search="cost")
    work = bench(working_model(TWO), searcher=gate)
    task, run = await under_way(work, gate)
    change(run, "limits", limits=Narrowing(exclude_domains=("z.example",)), words="without z.example")
    change(run, "stop", "job/0/1", words="branch 2 was stopped")
    gate.open.set()
    await asyncio.wait_for(task, 30)
    notes = [one.event.text for one in run.events if isinstance(one.event, Noted) and one.event.tag == "change"]
    assert notes == [
        "Change 1 to the contract: without z.example.",
        "Change 2 to the contract: branch 2 was stopped.",
    ]
    assert [one.number for one in run.steering.changes] == [1, 2]
