"""What users, models, providers and clocks get wrong, and what becomes of it (the HTTP side is in tests/api/test_bad_input.py)."""

import asyncio

import pytest
from typer.testing import CliRunner

from agents.cli.main import app
from agents.contracts.plan import Leaf, LeafBudget, Node, Phase, Plan, ReflectionInput, ReflectionResponse
from agents.core.errors import BadRequest, ConfigError, ModelError
from agents.core.settings import load
from tests.flat import scripted
from tests.scripted_model import ScriptedModel
from tests.scripted_search import ScriptedSearcher
from tests.scripts import BRIEF, QUERY, ROLES, Worker, leaf, tree, working_model
from tests.virtual import SlowModel, clock, virtually

NEVER_MET = {
    QUERY.text: tree(
        leaf(
            "Closures and their cost",
            "On how many days was the Orvane ferry line closed?",
            "How many volcanoes erupted?",
        )
    )
}


# ---- the command line


@pytest.mark.parametrize("time", ["0", "-3", "abc", "1e9", "nan"])
def test_a_wrong_time_on_the_command_line_is_one_sentence(time):
    """`--time 0`, `-3`, `abc`, `1e9`, `nan`: refused before anything is asked."""
    done = CliRunner().invoke(app, ["run", "How long is the ferry?", f"--time={time}"])
    assert done.exit_code != 0
    assert isinstance(done.exception, SystemExit)
    assert "at most 1440" in " ".join(done.stderr.replace("│", " ").split())
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("value", ["0", "-3", "abc", "1e9x", "nan", "inf"])
def test_a_wrong_time_in_the_environment_names_the_variable(value, monkeypatch):
    monkeypatch.setenv("RESEARCH_MAX_EXECUTION_TIME_S", value)
    with pytest.raises(ConfigError, match="RESEARCH_MAX_EXECUTION_TIME_S|max_execution_time_s"):
        load()


# ---- run_research


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_execution_time_s", 0),
        ("max_execution_time_s", -3.0),
        ("max_execution_time_s", 1e9),
        ("max_execution_time_s", float("nan")),
        ("max_execution_time_s", float("inf")),
        ("max_execution_time_s", "abc"),
        ("max_iters", 0),
        ("max_iters", -1),
        ("max_iters", 10**9),
        ("max_iters", True),
        ("max_queries", 0),
        ("max_sources", -1),
        ("complexity_tier", "huge"),
    ],
)
async def test_a_bound_out_of_its_range_is_refused_by_name(asking, name, value):
    with pytest.raises(BadRequest) as caught:
        await asking(**{name: value})
    assert name.removeprefix("complexity_") in caught.value.notice


@pytest.mark.parametrize("task", ["", "   ", "\n\t"])
async def test_an_empty_task_is_refused(asking, task):
    with pytest.raises(BadRequest):
        await asking(task=task)


# ---- plans


def greedy_plan():
    """A plan that promises itself far more than the job has."""
    budget = LeafBudget(sources=50, searches=5)
    children = tuple(
        Leaf(title=f"Part {n}", objective=question, questions=(question,), searches=(question,), budget=budget)
        for n, question in enumerate(("How often was the Orvane ferry closed?", "What did its winter service cost?"))
    )
    phase = Phase(title="Collect", sources=10**6, max_iterations=20)
    return Plan(query=QUERY.text, root=Node(title="Root", objective=QUERY.text, phases=(phase,), children=children))


def test_budgets_of_a_plan_beyond_those_of_the_job_change_nothing(bench):
    """The job's time, tokens and rounds hold, whatever its plan says."""
    from agents.contracts.report import Commission, Outcome
    from agents.research.planning.freeze_contract import Means, make_contract

    async def work():
        model = SlowModel(Worker(NEVER_MET), ROLES, call_s=15.0, tokens=9_000)
        place = bench(model, seconds=90.0, clock=clock, tokens=60_000)
        contract = make_contract(BRIEF, (greedy_plan(),), Means())
        job = place.job()
        began = clock()
        outcome = await job.run("research", Commission(contract=contract), Outcome)
        return outcome, clock() - began, job.budget.spent.tokens

    outcome, took, tokens = virtually(work)
    assert took <= 90
    assert tokens <= 60_000 + 6 * 9_000
    assert len(outcome.findings[0].rounds) <= 3
    assert outcome.findings[0].all_facts()


# ---- models


def always(make):
    """A worker that reflects as `make` says, by the number of the reflection."""
    count = iter(range(1000))

    def answer(request):
        return make(next(count)) if isinstance(request.given, ReflectionInput) else Worker(NEVER_MET)(request)

    return ScriptedModel(by_role=dict.fromkeys(ROLES, answer))


def wants(query, gap):
    return ReflectionResponse(sufficient=False, confidence=0.1, gaps=(gap,), new_queries=(query,))


async def test_a_model_that_always_wants_to_go_on_is_stopped(bench):
    """Also one that puts its wish into fields that do not exist."""
    raw = '{"sufficient": false, "confidence": 0.1, "gaps": ["More."], "new_queries": ["Ice on line %s in 19%d?"], "shouldContinue": true}'
    outcome = await bench(always(lambda n: raw % (chr(65 + n), 10 + n))).run(BRIEF.model_copy(update={"mode": "deep"}))
    assert len(outcome.findings[0].rounds) <= 7
    assert outcome.findings[0].rounds[-1].decision.shouldContinue is False


async def test_a_model_that_invents_gaps_for_ever_is_stopped_by_what_it_brings(bench):
    outcome = await bench(always(lambda n: wants(f"Glacier {n} of Mars in {1900 + n}?", f"Gap {n}"))).run(
        BRIEF.model_copy(update={"mode": "deep"})
    )
    rounds = outcome.findings[0].rounds
    assert len(rounds) < 7
    assert rounds[-1].tag == "#EARLY_STOP"


async def test_the_same_topic_in_other_words_is_searched_once(bench):
    words = (
        "The Orvane ferry line: closed on how many days?", "How many days closed was the Orvane ferry line?",
        "Orvane ferry line closed: on how many days?",
    )  # fmt: skip
    outcome = await bench(always(lambda n: wants(words[n % 3], "Days."))).run(BRIEF.model_copy(update={"mode": "deep"}))
    finding = outcome.findings[0]
    assert len(finding.dispatched) == 1
    assert finding.skipped


# ---- searches


async def test_a_search_that_returns_the_same_ten_pages_reads_them_once(bench):
    pages = {
        f"https://p{n}.example/": (f"Page {n}", f"The Orvane ferry was closed on {n + 3} days.") for n in range(10)
    }

    class Same(ScriptedSearcher):
        def _ranked(self, text):
            return [(source, 1) for source in self._sources.values()]

    searcher = Same(pages)
    outcome = await bench(
        always(lambda n: wants(f"Closures on line {chr(65 + n)} in {1950 + n}?", "G")), searcher=searcher
    ).run(BRIEF.model_copy(update={"mode": "deep"}))
    assert len(searcher.read_urls) == len(set(searcher.read_urls)) <= 10
    assert len(outcome.findings[0].rounds) < 7


# ---- providers and clocks


def test_an_answer_after_the_deadline_is_not_waited_for(bench):
    """The provider answers, but too late: each call is cut, the report is written in time from what there is."""

    async def work():
        # Every call would take longer than any call may: only the stand-in gets anything done.
        model = SlowModel(Worker(), ROLES, call_s=500.0)
        place = bench(model, seconds=60.0, clock=clock)
        handlers = place.handlers

        def with_stand_in():
            table = handlers()
            place.context.fallback = working_model()
            return table

        place.handlers = with_stand_in
        began = clock()
        outcome = await place.run(BRIEF.model_copy(update={"minutes": 1.0}))
        return outcome, clock() - began, max(model.ended)

    outcome, took, last = virtually(work)
    assert took <= 60
    assert last <= 60
    assert outcome.findings[0].all_facts()
    assert "#PATH_DECISION" in outcome.tags


@pytest.mark.parametrize("jump", [-1e6, 1e6])
async def test_a_clock_that_jumps_neither_hangs_nor_breaks_a_run(bench, jump):
    """Backwards: nothing is negative. Forwards: time is up, which is said."""
    ticks = iter(range(10**9))

    def jumping():
        n = next(ticks)
        return n * 0.001 + (jump if n > 40 else 0.0)

    outcome = await asyncio.wait_for(bench(clock=jumping, seconds=300.0).run(), 60)
    for record in outcome.findings[0].rounds:
        assert record.decision.timeRemainingMinutes is not None
        assert 0 <= record.decision.timeRemainingMinutes <= 5
    assert all(part.seconds is None or part.seconds >= 0 for part in outcome.findings[0].walk())
    assert outcome.findings[0].all_facts() or "#TIME_LIMIT" in outcome.tags


async def test_a_provider_that_fails_in_every_way_in_turn_still_gives_a_report(asking):
    faults = iter(["timeout", "server", "rate", "connection", "refused", "request"] * 50)
    fine = scripted()

    def sometimes(request):
        if request.role in {"extractor", "planner"}:
            return fine._next(request)(request)
        fault = next(faults)
        return ModelError(fault, fault=fault, notice=fault)

    told, _ = await asking(ScriptedModel(by_role=dict.fromkeys((*ROLES,), sometimes)))
    assert told.final_answer
    assert told.sources or told.citations


def test_a_branch_that_comes_when_collecting_is_over_still_reads(bench):
    """Never a total loss: planning used up all the time for collecting; what is kept for writing is enough to look once."""

    async def work():
        model = SlowModel(Worker(), ROLES, call_s=1.0)
        place = bench(model, seconds=60.0, clock=clock)
        handlers = place.handlers

        def slow_to_plan():
            table = handlers()
            place.context.fallback = working_model()
            survey = place.searcher.survey

            async def slowly(question="", limit=24):
                await asyncio.sleep(45)
                return await survey(question, limit)

            place.searcher.survey = slowly
            return table

        place.handlers = slow_to_plan
        began = clock()
        outcome = await place.run(BRIEF.model_copy(update={"minutes": 1.0}))
        return outcome, clock() - began

    outcome, took = virtually(work)
    assert took <= 60
    assert outcome.findings[0].all_facts()
    assert "#TIME_LIMIT" in outcome.tags
