"""The rounds of an executor: what they add, and everything that ends them."""

import asyncio
import json

import pytest

from agents.contracts.plan import ReflectionInput, ReflectionResponse
from agents.core.errors import ModelError
from agents.core.events import RoundEnded
from agents.offline import OfflineModel
from agents.research.loop.loop_decision import LoopSettings
from agents.research.pipeline import Means
from tests.scripted_search import ScriptedSearcher
from tests.scripts import QUERY, WORLD, Worker, change, leaf, tree, working_model, world

CLOSURES = leaf("Closures and their cost", "On how many days was the Orvane ferry line closed?")
ONE = {QUERY.text: tree(leaf("Closures and their cost", *CLOSURES.questions, "How many volcanoes erupted?"))}
"""A plan whose criteria are never met: nothing in the world answers its second question."""


def reflecting(*answers, forever=None):
    """A reflector that gives `answers` in turn, then `forever`."""
    script = list(answers)

    def reflector(request):
        if script:
            return script.pop(0)
        return forever(request) if callable(forever) else forever or wants()

    return reflector


def wants(*queries, gaps=None, sufficient=False):
    return ReflectionResponse(
        sufficient=sufficient, confidence=0.5, gaps=gaps if gaps is not None else tuple(f"no figure: {q}" for q in queries),
        new_queries=queries,
    )  # fmt: skip


def run_of(bench, reflector, plans=ONE, rounds=3, **kwargs):
    loop = kwargs.pop("loop", LoopSettings())
    work = bench(working_model(plans, reflector=reflector), means=Means(loop=loop), **kwargs)
    return work, rounds


async def outcome_of(bench, reflector, brief=None, **kwargs):
    from tests.scripts import BRIEF

    work, rounds = run_of(bench, reflector, **kwargs)
    mode = {3: "standard", 7: "deep"}[rounds]
    outcome = await work.run((brief or BRIEF).model_copy(update={"mode": mode}))
    return work, outcome


def rounds_of(outcome):
    return outcome.findings[0].rounds


async def test_s0_fr3_a_gap_becomes_a_new_leaf_of_the_same_node_and_never_depth(bench):
    reflector = reflecting(wants("What did the Orvane winter service cost in 2023?"), wants(sufficient=True))
    _, outcome = await outcome_of(bench, reflector)

    children = outcome.findings[0].children
    assert [child.role for child in children] == ["leaf", "leaf"]
    assert children[1].path == "job/0/r2-0"
    assert children[1].facts
    assert outcome.contract.plans[0].root.depth() == 1


async def test_s0_fr3_the_decision_is_the_exact_json_with_all_keys_every_round(bench):
    reflector = reflecting(wants("What did the Orvane winter service cost?"), wants(sufficient=True))
    work, outcome = await outcome_of(bench, reflector)

    first, last = (json.loads(record.decision.model_dump_json()) for record in rounds_of(outcome))
    keys = ["iteration", "summary", "gaps", "shouldContinue", "nextSearchTopic", "urlToSearch", "timeRemainingMinutes"]
    assert list(first) == list(last) == keys
    assert first["shouldContinue"] is True
    assert first["nextSearchTopic"] == "What did the Orvane winter service cost?"
    assert last["shouldContinue"] is False
    assert last["nextSearchTopic"] is None
    told = [event.event.record for event in work.last.events if isinstance(event.event, RoundEnded)]
    assert told == list(rounds_of(outcome))


@pytest.mark.parametrize(("rounds", "mode"), [(3, "standard"), (7, "deep")])
async def test_s0_fr2_a_reflector_that_never_has_enough_is_stopped_at_the_cap(bench, rounds, mode):
    counter = iter(range(100))

    def never(request):
        n = next(counter)
        return wants(f"How many passengers in winter {1990 + n} on line {chr(65 + n)}?")

    _, outcome = await outcome_of(
        bench, reflecting(forever=never), rounds=rounds, loop=LoopSettings(early_termination=False)
    )
    assert len(rounds_of(outcome)) == rounds
    assert rounds_of(outcome)[-1].tag == "#ITERATION_LIMIT"
    assert "#ITERATION_LIMIT" in outcome.tags


async def test_s1_sufficient_is_the_first_reason_to_stop(bench):
    _, outcome = await outcome_of(bench, reflecting(wants(sufficient=True)))
    (record,) = rounds_of(outcome)
    assert "sufficient" in record.reason


async def test_met_criteria_end_the_phase_without_asking_the_reflector(bench):
    model = working_model({QUERY.text: tree(CLOSURES)}, reflector=reflecting(wants("More?")))
    work = bench(model)
    outcome = await work.run()
    assert len(rounds_of(outcome)) == 1
    assert not [request for request in model.asked if isinstance(request.given, ReflectionInput)]
    assert "criteria" in rounds_of(outcome)[0].reason


async def test_s2_fr01_the_same_topic_in_other_words_is_not_dispatched_again(bench):
    again = "How many days was the Orvane ferry line closed?"
    _, outcome = await outcome_of(bench, reflecting(forever=lambda request: wants(again)))
    finding = outcome.findings[0]
    assert again not in finding.dispatched
    assert finding.skipped[0].topic == again
    assert len(finding.children) == 1


async def test_s2_fr07_a_round_that_brings_nothing_new_stops_early_naming_score_and_threshold(bench):
    same = ScriptedSearcher({"https://a.example/one": WORLD["https://a.example/closures"]})
    counter = iter(range(100))

    def never(request):
        return wants(f"Orvane ferry winter closed ice {1990 + next(counter)}")

    _, outcome = await outcome_of(bench, reflecting(forever=never), rounds=7, searcher=same)
    records = rounds_of(outcome)
    assert len(records) == 2
    assert records[-1].tag == "#EARLY_STOP"
    assert "0.15" in records[-1].reason


async def test_s2_fr12_early_termination_can_be_turned_off(bench):
    same = ScriptedSearcher({"https://a.example/one": WORLD["https://a.example/closures"]})
    counter = iter(range(100))

    def never(request):
        return wants(f"Orvane ferry winter closed ice {1990 + next(counter)}")

    _, outcome = await outcome_of(
        bench, reflecting(forever=never), searcher=same, loop=LoopSettings(early_termination=False)
    )
    assert len(rounds_of(outcome)) == 3


async def test_a_failed_reflection_ends_the_loop_and_loses_nothing(bench):
    _, outcome = await outcome_of(bench, reflecting(forever=lambda request: "garbage"))
    finding = outcome.findings[0]
    assert len(finding.rounds) == 1
    assert finding.children[0].facts
    assert any(problem.type == "BadOutput" for problem in finding.problems)


async def test_little_found_is_searched_again_in_other_words(bench):
    searcher = ScriptedSearcher({"https://a.example/one": WORLD["https://a.example/closures"]})
    work = bench(working_model(ONE, reflector=reflecting(wants(sufficient=True))), searcher=searcher)
    outcome = await work.run()
    searches = outcome.findings[0].children[0].searches
    assert 1 < len(searches) <= 5
    assert len({record.text for record in searches}) == len(searches)


async def test_three_failed_searches_open_the_breaker_and_the_report_says_so(bench):
    questions = [f"What is known about line {chr(65 + n)}?" for n in range(6)]
    wide = {QUERY.text: tree(*(leaf(f"Line {n}", q) for n, q in enumerate(questions)))}

    class Down(ScriptedSearcher):
        async def search(self, query, deadline_s=None):
            from agents.core.errors import SearchError

            self.asked.append(query)
            raise SearchError("down", provider="scripted")

    searcher = Down(WORLD)
    outcome = await bench(working_model(wide), searcher=searcher).run()
    assert "#DEGRADED_SEARCH" in outcome.tags
    assert "#DEGRADED_SEARCH" in outcome.tags
    assert "#RETRY_EXHAUSTED" in outcome.tags
    from agents.contracts.report import Actual
    from agents.report.document import build

    document = build("a" * 32, outcome, Actual(), engine="scripted", reasons=True)
    assert document.degraded_mode
    assert "Search capabilities were limited; answer is based on partial information." in document.markdown
    assert document.phase_state.research.retry_tracking.total_exhausted > 0


async def test_searches_side_by_side_count_among_the_three_attempts_of_a_sub_question(bench):
    """S0 FR-4: one attempt is one search; five planned searches of one question are no five attempts."""

    class Down(ScriptedSearcher):
        async def search(self, query, deadline_s=None):
            from agents.core.errors import SearchError

            self.asked.append(query)
            raise SearchError("down", provider="scripted")

    question = "On how many days was the Orvane ferry line closed?"
    terms = ("Orvane closures", "Orvane ferry ice", "Orvane winter days", "Orvane board statistics")
    planned = leaf("Closures", question).model_copy(update={"search_terms": terms})
    searcher = Down(WORLD)
    outcome = await bench(working_model({QUERY.text: tree(planned)}), searcher=searcher).run()
    entry = next(one for part in outcome.findings[0].walk() for one in part.attempts if one.key == question)
    assert (entry.attempts, entry.status) == (3, "exhausted")
    assert len({query.text for query in searcher.asked if query.text in (question, *terms)}) == 3


async def test_a_replay_of_several_rounds_gives_the_same_and_calls_nothing(bench):
    reflector = reflecting(wants("What did the Orvane winter service cost?"), wants(sufficient=True))
    work, outcome = await outcome_of(bench, reflector)
    from tests.scripts import BRIEF

    again = await work.run(BRIEF, record=work.last.record)
    assert again == outcome
    assert work.last.calls_made == 0


async def test_a_provider_that_fails_for_good_is_stood_in_for_and_named(bench):
    broken = ModelError("down", fault="timeout", notice="The provider did not answer in time.")
    worker = Worker(ONE)
    work = bench(working_model(ONE, extractor=lambda request: broken, reflector=reflecting(wants(sufficient=True))))
    handlers = work.handlers

    def with_fallback():
        table = handlers()
        work.context.fallback = OfflineModel()
        return table

    work.handlers = with_fallback
    outcome = await work.run()
    assert worker
    assert outcome.findings[0].all_facts()
    assert "#PATH_DECISION" in outcome.tags


async def test_a_wrong_key_is_never_stood_in_for(bench):
    broken = ModelError("401", fault="key", notice="Check OPENAI_API_KEY.")
    work = bench(working_model(ONE, extractor=lambda request: broken, reflector=reflecting(wants(sufficient=True))))
    outcome = await work.run()
    assert not outcome.findings[0].all_facts()
    assert any("OPENAI_API_KEY" in problem.message for part in outcome.findings[0].walk() for problem in part.problems)


async def test_used_up_tokens_end_in_a_report_from_what_was_read(bench):
    work = bench(working_model(), tokens=5_000)
    outcome = await work.run()
    assert outcome.findings[0].all_facts()
    assert "#TOKEN_LIMIT" in outcome.tags


class Gate:
    """A searcher that waits until it is let through, so that a test can speak to a running job."""

    def __init__(self, inner):
        self.inner, self.open, self.held = inner, asyncio.Event(), asyncio.Event()
        self.name = inner.name

    async def search(self, query, deadline_s=None):
        if "cost" in query.text and not self.held.is_set():
            self.held.set()
            await self.open.wait()
        return await self.inner.search(query, deadline_s)

    async def read(self, url, deadline_s=None, known=None):
        return await self.inner.read(url, deadline_s)

    async def survey(self, question="", limit=24):
        return await self.inner.survey(question, limit)


async def test_one_branch_can_be_stopped_while_its_siblings_go_on(bench):
    gate = Gate(world())
    work = bench(searcher=gate)
    task = asyncio.create_task(work.run())
    await asyncio.wait_for(gate.held.wait(), 30)
    await asyncio.sleep(0.05)

    change(work.last, "stop", "job/0/1")
    outcome = await asyncio.wait_for(task, 30)

    statuses = {child.title: child.status for child in outcome.findings[0].children}
    assert statuses == {"Closures": "done", "Costs": "stopped", "Passengers": "done"}
    again = await work.run(record=work.last.record)
    assert again == outcome


async def test_claims_and_summary_wait_for_a_round_on_a_gap_that_no_query_was_named_for(bench):
    gap = wants(gaps=("What did the winter service cost?",))
    plans = {QUERY.text: tree(CLOSURES, leaf("Passengers", "How many passengers did the Orvane ferry carry?"))}
    work, outcome = await outcome_of(bench, reflecting(gap), plans=plans)
    assert len(rounds_of(outcome)) == 2
    assert sum(type(one.given).__name__ == "FrameInput" for one in work.model.asked) == 1


async def test_finish_now_ends_the_rounds_with_what_is_there(bench):
    work, _ = run_of(bench, reflecting(forever=lambda request: wants("What did the winter service cost?")))
    work.handlers()
    job = work.job()
    job.steering.finish.add("job")
    from agents.contracts.report import Commission, Outcome
    from tests.scripts import BRIEF

    outcome = await job.run("research", Commission(brief=BRIEF), Outcome)
    assert len(outcome.findings[0].rounds) <= 1
    assert "#EARLY_STOP" in outcome.tags


async def test_guidance_reaches_the_next_reflection(bench):
    reflector = reflecting(wants(sufficient=True))
    work, _ = run_of(bench, reflector)
    handlers = work.handlers

    def guided():
        table = handlers()
        work.context.steering.guidance.append("prefer official figures")
        return table

    work.handlers = guided
    await work.run()
    given = [request.given for request in work.model.asked if isinstance(request.given, ReflectionInput)]
    assert given[0].guidance == ("prefer official figures",)


async def carried_out(bench, model, *phases, budget=None, claims=(), **limits):
    """Run a plan of one leaf and these phases."""
    from agents.contracts.plan import Leaf, LeafBudget, Node, Plan, PlannedClaim
    from agents.contracts.report import Commission, Outcome
    from agents.research.planning.freeze_contract import Means, make_contract
    from tests.scripts import BRIEF

    question = "On how many days was the Orvane ferry line closed?"
    only = Leaf(
        title="Closures", objective=question, questions=(question,), searches=(question,), budget=budget or LeafBudget()
    )
    root = Node(title="Root", objective=QUERY.text, phases=phases, children=(only,))
    plan = Plan(
        query=QUERY.text, root=root, claims=tuple(PlannedClaim(text=text, leaves=("Closures",)) for text in claims)
    )
    contract = make_contract(BRIEF, (plan,), Means())
    work = bench(model, **limits)
    work.handlers()
    job = work.job()
    return await job.run("research", Commission(contract=contract), Outcome), job


DAYS = "The Orvane ferry line was closed on 12 days in the winter of 2022/23."
DISAGREEING = {
    "https://a.example/closures": ("Closures", DAYS),
    "https://b.example/closures": (
        "Closures again", "The Orvane ferry line was closed on 31 days in the winter of 2022/23."
    ),
}  # fmt: skip


async def test_what_sources_disagree_on_gets_a_phase_of_its_own(bench):
    """Collect, then settle: the last round asks other sources about the claim on which those at hand differ."""
    from agents.contracts.plan import Phase
    from agents.research.planning.drafting import phases_of

    outcome, _ = await carried_out(
        bench, working_model(reflector=reflecting(forever=wants())), *phases_of(Phase(title="Collect", max_iterations=5)),
        searcher=ScriptedSearcher(DISAGREEING), claims=(DAYS,),
    )  # fmt: skip
    records = outcome.findings[0].rounds
    assert [record.phase for record in records][-1] == "Settle contradictions"
    assert records[0].contradictions
    assert DAYS in outcome.findings[0].dispatched


async def test_where_a_leaf_of_a_wide_question_found_nothing_the_next_round_sweeps_for_sources(bench):
    from agents.contracts.plan import Phase
    from agents.research.planning.drafting import phases_of

    more = wants("How many volcanoes erupted near the Orvane ferry?", gaps=("volcanoes",))
    for rounds, sweeps in ((5, 1), (3, 0)):
        outcome, _ = await carried_out(
            bench, working_model(reflector=reflecting(forever=more)), *phases_of(Phase(title="Collect", max_iterations=rounds)),
            searcher=ScriptedSearcher({}),
        )  # fmt: skip
        swept = [part for part in outcome.findings[0].walk() if part.shortlist is not None]
        assert len(swept) == sweeps
        assert all("/r2-" in part.path for part in swept)


def test_a_deep_run_answers_every_question_once_before_any_a_second_time_and_a_change_of_depth_keeps_the_goals():
    from agents.contracts.plan import Leaf, Node, Phase, Plan, SuccessCriteria
    from agents.research.planning.drafting import phases_of, refreshed

    wanted = Phase(title="Collect", criteria=SuccessCriteria(corroboration=2), max_iterations=7)
    deep = phases_of(wanted)
    assert [(one.title, one.criteria.corroboration) for one in deep[:2]] == [("Collect", 1), ("Fill gaps", 2)]

    only = Leaf(title="Closures", objective="o", questions=("q?",), searches=("q",))
    plan = Plan(query="q", root=Node(title="Root", objective="o", phases=deep, children=(only,)))
    standard = refreshed(plan, 3).root.phases
    assert [(one.title, one.max_iterations) for one in standard] == [("Collect", 3)]
    assert standard[0].criteria.corroboration == 2
    assert refreshed(refreshed(plan, 3), 7).root.phases == deep


async def test_a_phase_whose_gate_is_open_is_passed_over(bench):
    from agents.contracts.plan import Phase
    from agents.research.planning.drafting import phases_of

    # One never has enough, and still nothing contradicts anything.
    for reflector in (Worker(), reflecting(forever=wants("What did the line cost?"))):
        model = working_model(reflector=reflector)
        outcome, _ = await carried_out(bench, model, *phases_of(Phase(title="Collect", max_iterations=5)))
        assert {record.phase for record in outcome.findings[0].rounds} == {"Collect"}


@pytest.mark.parametrize(("titles", "tag"), [(("Collect", "Fill gaps"), ""), (("Collect",), "#ITERATION_LIMIT")])
async def test_a_phase_that_had_its_rounds_is_no_limit_of_the_run_while_another_follows(bench, titles, tag):
    from agents.contracts.plan import Phase, SuccessCriteria

    phases = [Phase(title=one, max_iterations=1, criteria=SuccessCriteria(corroboration=9)) for one in titles]
    more = reflecting(forever=wants("What did the Orvane winter service cost?"))
    outcome, _ = await carried_out(bench, working_model(reflector=more), *phases)
    assert (outcome.findings[0].rounds[0].reason, outcome.findings[0].rounds[0].tag) == (
        "Round 1 of at most 1 has ended.", tag,
    )  # fmt: skip


async def test_a_phase_reads_no_more_sources_than_its_plan_gives_it(bench):
    from agents.contracts.plan import LeafBudget, Phase

    outcome, _ = await carried_out(
        bench, working_model(), Phase(title="Collect", sources=1, max_iterations=1), budget=LeafBudget(sources=4)
    )
    assert len(outcome.findings[0].all_sources()) == 1


async def test_a_phase_whose_criteria_are_met_is_followed_by_the_next(bench):
    """The next phase works on what the reflection asks for; its rounds count against the same cap."""
    from agents.contracts.plan import Phase, SuccessCriteria

    first = Phase(title="Collect", criteria=SuccessCriteria(corroboration=1), max_iterations=2)
    second = Phase(title="Widen", criteria=SuccessCriteria(themes=("volcanic eruptions",)), max_iterations=1)
    reflector = reflecting(wants("What did the Orvane winter service cost?"), wants(sufficient=True))
    outcome, _ = await carried_out(bench, working_model(reflector=reflector), first, second)
    records = outcome.findings[0].rounds
    assert [record.phase for record in records] == ["Collect", "Widen"]
    assert "criteria" in records[0].reason
    assert [record.round for record in records] == [1, 2]
    assert outcome.findings[0].children[1].facts


async def test_a_phase_ends_at_its_own_rounds_and_the_next_begins(bench):
    from agents.contracts.plan import Phase, SuccessCriteria

    never = SuccessCriteria(themes=("volcanic eruptions",))
    phases = (Phase(title="A", criteria=never, max_iterations=1), Phase(title="B", criteria=never, max_iterations=9))
    count = iter(range(100))

    def more(request):
        n = next(count)
        return wants(f"How many passengers in winter {1990 + n} on line {chr(65 + n)}?")

    outcome, _ = await carried_out(bench, working_model(reflector=reflecting(forever=more)), *phases)
    assert [record.phase for record in outcome.findings[0].rounds] == ["A", "B", "B"][: len(outcome.findings[0].rounds)]
    assert len(outcome.findings[0].rounds) >= 2
