"""Whole runs: planner, executors, leaves, readers and writers, on scripts."""

import asyncio
from types import SimpleNamespace

from agents.contracts.contract import Brief, Query
from agents.contracts.fact import ExtractionInput, Fact
from agents.contracts.finding import FrameInput, LeadInput, SectionInput, cited_facts
from agents.contracts.frozen import digest
from agents.contracts.plan import TaskSpec
from agents.contracts.sources import Source, SourceCard
from agents.core.errors import NotFeasible
from agents.core.events import NodeChanged, SearchDone, SourceRead
from agents.research.pipeline import Means
from agents.research.planning.freeze_contract import CapOverrides
from agents.research.writing.sections import Draft
from tests.scripted_search import ScriptedSearcher
from tests.scripts import BRIEF, FLAT, QUERY, WORLD, Worker, leaf, tree, under, working_model, world

DEEP = {
    QUERY.text: tree(
        under(
            "North",
            under("Winters", leaf("W1", "On how many days was the line closed?"), leaf("W2", "How thick was the ice?")),
            leaf("Passengers", "How many passengers did the Orvane ferry carry?"),
        ),
        under(
            "South",
            leaf("S1", "What did the ferry cost?"),
            leaf("S2", "When was the line closed?"),
            leaf("S3", "Who was carried?"),
        ),
        leaf("Costs", "What did the Orvane winter service cost?"),
    )
}


def built(outcome):
    from agents.contracts.report import Actual
    from agents.report.document import build

    return build("a" * 32, outcome, Actual(), engine="scripted", reasons=True)


async def test_a_question_becomes_sections_whose_facts_stand_in_their_sources(bench):
    work = bench()

    outcome = await work.run()

    (finding,) = outcome.findings
    assert [part.title for part in finding.children] == ["Closures", "Costs", "Passengers"]
    assert finding.status == "done"
    for fact in finding.all_facts():
        card = next(card for card in finding.all_sources() if card.id == fact.source_id)
        assert WORLD[card.url][1][fact.start : fact.end] == fact.quote
    assert set(cited_facts(outcome.frame.summary)) <= {fact.id for fact in finding.all_facts()}


async def test_a_run_from_its_record_gives_the_same_result_and_makes_no_call(bench):
    work = bench(working_model(DEEP))
    first = await work.run()
    record, asked = work.last.record, len(work.model.asked)
    events = [e.key for e in work.last.events if e.event.kind != "draft"]  # told while it is written, and then no more

    again = await work.run(record=record)

    assert again == first
    assert len(work.model.asked) == asked
    assert work.last.calls_made == 0
    assert sorted(e.key for e in work.last.events) == sorted(events)
    assert work.last.budget.spent == (await _spent(work, record))


async def _spent(work, record):
    await work.run(record=record)
    return work.last.budget.spent


async def test_a_half_finished_run_pays_only_for_what_is_missing(bench):
    work = bench()
    first = await work.run()
    whole = len(work.last.record)
    kept = dict(list(work.last.record.items())[: whole // 2])

    again = await work.run(record=kept)

    assert again == first
    assert work.last.calls_made == whole - len(kept)


async def test_the_tree_recurses_to_three_executors_and_no_further(bench):
    work = bench(working_model(DEEP))

    outcome = await work.run()

    plan = outcome.contract.plans[0]
    assert plan.root.depth() == 3
    paths = {part.path: part.role for part in outcome.findings[0].walk()}
    assert paths["job/0/0/0/1"] == "leaf"
    assert paths["job/0/0/0"] == "node"


async def test_a_fourth_executor_in_a_row_is_trimmed_without_asking_again(bench):
    deep = {QUERY.text: tree(under("A", under("B", under("C", *FLAT.leaves))))}
    work = bench(working_model(deep))

    outcome = await work.run()

    assert outcome.contract.plans[0].root.depth() <= 3
    assert len([request for request in work.model.asked if request.role == "planner"]) == 1


async def test_a_plan_with_thirty_leaves_is_cut_to_the_bound_and_says_so(bench):
    wide = tree(*(leaf(f"L{n}", f"How often was line {n} closed, and what did it cost?") for n in range(30)))
    work = bench(working_model({QUERY.text: wide}), means=Means(limits=CapOverrides(leaves=4)))

    outcome = await work.run()

    plan = outcome.contract.plans[0]
    assert [part.title for part in plan.root.leaves()] == ["L0", "L1", "L2", "L3"]
    assert any("30 branches" in assumption for assumption in plan.assumptions)
    assert "#COMPLETION_DRIVE" in {tag.tag for tag in built(outcome).methodology.tags}


async def test_leaves_that_say_the_same_are_one(bench):
    twice = tree(*FLAT.leaves, *(one.model_copy(update={"title": one.title.upper()}) for one in FLAT.leaves))

    outcome = await bench(working_model({QUERY.text: twice})).run()

    assert [part.title for part in outcome.contract.plans[0].root.leaves()] == ["Closures", "Costs", "Passengers"]


async def test_siblings_run_side_by_side_under_the_jobs_limit(bench):
    running, peak = 0, 0
    worker = Worker()

    class Slow:
        name, reasons = "slow", True

        async def reply(self, request, on_text=None):
            nonlocal running, peak
            running += 1
            peak = max(peak, running)
            await asyncio.sleep(0.005)
            running -= 1
            return await working_model().reply(request)

    assert worker
    work = bench(Slow(), per_job=3)
    await work.run()
    assert peak == 3


async def test_no_page_and_no_search_is_paid_for_twice_in_one_run(bench):
    same = tree(
        leaf("A", "What did the Orvane winter service cost?"), leaf("B", "What did the Orvane winter service cost?")
    )
    searcher = world()
    await bench(working_model({QUERY.text: same}), searcher=searcher).run()

    assert len(searcher.read_urls) == len(set(searcher.read_urls))
    assert len({query.text for query in searcher.asked}) == len(searcher.asked)


async def test_task_specs_reach_the_extractor_word_for_word(bench):
    work = bench()
    await work.run()
    contract = (await work.run()).contract
    spec = TaskSpec(
        questions=("Exactly   this?",),
        expected_format="a table",
        acceptance_criteria=("named year",),
        discovery_intense=True,
    )
    root = contract.plans[0].root
    specced = root.model_copy(
        update={"children": tuple(child.model_copy(update={"spec": spec}) for child in root.children)}
    )
    contract = contract.model_copy(update={"plans": (contract.plans[0].model_copy(update={"root": specced}),)})
    work.model.asked.clear()

    from agents.contracts.report import Commission, Outcome

    await work.job().run("research", Commission(contract=contract), Outcome)

    objectives = {child.objective for child in root.children}
    given = [request.given for request in work.model.asked if isinstance(request.given, ExtractionInput)]
    given = [one for one in given if one.objective in objectives]
    assert given
    assert all(
        (g.questions, g.expected_format, g.acceptance_criteria, g.discovery_intense)
        == (spec.questions, spec.expected_format, spec.acceptance_criteria, True)
        for g in given
    )


async def test_two_results_pass_up_unmerged_and_three_get_a_lead(bench):
    work = bench(working_model(DEEP))
    outcome = await work.run()

    nodes = {part.title: part for part in outcome.findings[0].walk() if part.role == "node"}
    assert nodes["Winters"].markdown == ""
    assert nodes["South"].markdown != ""
    leads = [request.given.title for request in work.model.asked if isinstance(request.given, LeadInput)]
    assert leads == ["South"]


async def test_two_queries_run_side_by_side_and_get_one_synthesizer_over_all(bench):
    queries = (
        QUERY,
        Query(text="How many passengers were carried in 2021?", feasible=True, reason="small", depth_estimate=1),
    )
    brief = Brief(question="Both", queries=queries, today="2026-11-27")
    other = tree(leaf("Carried", "How many passengers did the Orvane ferry carry in 2021?"))
    work = bench(working_model({queries[1].text: other}))

    outcome = await work.run(brief)

    assert [finding.path for finding in outcome.findings] == ["job/0", "job/1"]
    frames = [request.given for request in work.model.asked if isinstance(request.given, FrameInput)]
    assert {frame.titles for frame in frames} == {tuple(query.text for query in queries)}
    assert len(frames) <= 2, "written once more only where a verdict moved"


async def test_a_failed_search_leaves_its_mark_and_takes_nobody_with_it(bench):
    searcher = world(fail=["What did the Orvane winter service cost?"])
    outcome = await bench(searcher=searcher).run()

    costs = outcome.findings[0].children[1]
    assert (costs.status, costs.note) == ("partial", "1 of 2 searches failed")
    assert costs.searches[1].hits, "it searched again in other words"
    assert outcome.findings[0].status == "partial"
    assert any("Costs" in reason for reason in built(outcome).grade_reasons)


async def test_a_page_that_cannot_be_read_is_named_with_its_reason(bench):
    searcher = world(fail=["https://b.example/costs"])
    outcome = await bench(searcher=searcher).run()

    rejected = {r.url: r.reason for part in outcome.findings[0].walk() for r in part.rejected}
    assert "https://b.example/costs" in rejected


async def test_a_writer_that_gives_nothing_usable_loses_no_quote(bench):
    model = working_model(synthesizer=lambda request: "I would rather not.")
    outcome = await bench(model).run()

    assert outcome.frame is None
    assert all(part.status == "partial" and cited_facts(part.markdown) for part in outcome.findings[0].children)
    document = built(outcome)
    assert document.grade == "partial"
    assert document.references


async def test_an_extractor_that_points_nowhere_gives_no_facts(bench):
    def nowhere(request):
        answer = Worker()(request)
        return answer.model_copy(
            update={"facts": tuple(f.model_copy(update={"sentences": (99,)}) for f in answer.facts)}
        )

    plan = tree(leaf("Causes", "Why was the Orvane ferry line closed?"))
    outcome = await bench(working_model({QUERY.text: plan}, extractor=nowhere)).run()
    assert not outcome.findings[0].all_facts()
    assert "#LOW_EVIDENCE" in {tag.tag for tag in built(outcome).methodology.tags}


async def test_nothing_found_is_an_honest_report_and_never_the_models_memory(bench):
    prior = "The Orvane ferry moved 41,000 passengers in 2023 [1]. https://www.orvane-yearbook.example/2023"
    model = working_model(synthesizer=lambda request: prior)
    outcome = await bench(model, searcher=type(world())({})).run()
    document = built(outcome)

    assert document.grade == "nothing_found"
    assert "41,000" not in document.model_dump_json()
    assert "orvane-yearbook" not in document.model_dump_json()
    assert document.queries_tried
    assert not [request for request in model.asked if isinstance(request.given, SectionInput | FrameInput)]


async def test_everything_blocked_is_said_with_what_was_tried(bench):
    searcher = world(fail=list(WORLD))
    outcome = await bench(searcher=searcher).run()
    document = built(outcome)

    assert document.grade == "nothing_found"
    assert document.methodology.sources_rejected
    assert document.references == ()


async def test_when_time_is_up_before_the_first_search_it_says_so(bench):
    times = iter([0.0] + [1000.0] * 10_000)
    outcome = await bench(seconds=10.0, clock=lambda: next(times)).run()

    assert all(part.status == "stopped" for part in outcome.findings[0].children)
    assert "#TIME_LIMIT" in outcome.tags


async def test_events_tell_the_whole_story_in_order_without_gaps(bench):
    work = bench()
    await work.run()

    events = work.last.events
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    states = [e.event.state for e in events if isinstance(e.event, NodeChanged) and e.event.node == "job/0/0"]
    assert states == ["queued", "searching", "reading", "writing", "done"]
    assert any(isinstance(e.event, SearchDone) for e in events)
    assert any(isinstance(e.event, SourceRead) for e in events)


async def test_a_query_without_branches_to_speak_of_still_has_one_leaf(bench):
    one = leaf("Closures", "How often was the Orvane ferry closed?", "What did the closures cost?")
    outcome = await bench(working_model({QUERY.text: tree(one)})).run()
    assert [part.title for part in outcome.findings[0].children] == ["Closures"]


async def test_named_addresses_are_read_first_and_listed_when_unreadable(bench):
    brief = BRIEF.model_copy(update={"seed_urls": ("https://nowhere.example/x",)})
    outcome = await bench().run(brief)
    assert any("https://nowhere.example/x" in failure for failure in outcome.seed_failures)


async def test_an_address_that_the_user_named_is_read_first_and_only_by_the_leaf_that_it_concerns(bench):
    seeds = ("https://b.example/costs", "https://c.example/zzz")
    documents = {**WORLD, "https://c.example/zzz": ("Z", "Nothing to the point stands here.")}
    worker = Worker()

    def picky(request):
        found = worker(request)
        return found.model_copy(update={"facts": ()}) if request.given.sources[0].title == "Z" else found

    work = bench(working_model(extractor=picky), searcher=ScriptedSearcher(documents))
    outcome = await work.run(BRIEF.model_copy(update={"seed_urls": seeds}))

    sources = {leaf.title: leaf.sources for leaf in outcome.contract.plans[0].root.leaves()}
    assert sources == {"Closures": seeds, "Costs": (), "Passengers": ()}
    assert outcome.seed_failures == ()


def test_not_feasible_carries_reasons_and_splits():
    error = NotFeasible(("It is broad.",), ("Narrower?",))
    assert (error.reasons, error.splits) == (("It is broad.",), ("Narrower?",))


async def test_sentences_of_a_section_are_shown_while_it_is_written_where_their_facts_carry_them():
    from agents.research.writing.sections import Draft, Numbering

    said, shown = "The ferry line was closed on 12 days in 2022.", []
    source = {"id": "s1", "url": "https://a.example/", "title": "Yearbook", "kind": "web", "language": "en"}
    card = SourceCard.of(Source(**source, text=said, text_hash=digest(said)))
    fact = Fact(id="x", source_id="s1", statement=said, quote=said, start=0, end=len(said), confidence=0.9, topic="t")
    draft = Draft(lambda number, sentence: shown.append((number, sentence)), Numbering((fact,), (card,)))
    for piece in (
        "The ferry line was closed on 12 da",
        "ys in 2022.[f1] It was",
        " closed on 40 days in 2023.[f1] So",
        "me say.",
    ):
        await draft.take(piece)

    assert shown == [(1, "The ferry line was closed on 12 days in 2022.")]


async def test_searches_of_a_plan_begin_when_its_leaves_are_closed_and_are_made_once(asking):
    """A request that is its own authorization: what the job needs for sure is under way before its plan is whole."""
    searcher = world()
    asked = []
    real = searcher.search

    async def search(query, left):
        asked.append(query.text)
        return await real(query, left)

    searcher.search = search
    answer, _ = await asking(searcher=searcher)

    first = [query.query for query in answer.metadata.queries]
    assert set(first) <= set(asked)
    assert max(asked.count(one) for one in first) == 1


async def test_a_search_that_was_begun_waits_until_the_question_is_known_to_be_feasible():
    from agents.research.run_context import LookAhead

    ahead, made = LookAhead(), []

    async def search():
        made.append(1)

    ahead.want(search)
    await asyncio.sleep(0)
    assert made == []
    ahead.allow()
    ahead.want(search)
    await asyncio.sleep(0)
    assert made == [1, 1]


async def test_a_section_is_shown_sentence_by_sentence_and_each_once():
    shown = []
    numbering = SimpleNamespace(marks=lambda: {"1": "f1"}, carries=lambda text, facts: True)
    draft = Draft(lambda number, text: shown.append((number, text)), numbering)
    text = "The line was closed [1]. It reopened in 3.5 days [1].\n\n- One ferry sails.\n- Two lie idle.\n\nNobody was hurt."
    for at in range(0, len(text), 3):
        await draft.take(text[at : at + 3])
    assert shown == list(
        enumerate(["The line was closed.", "It reopened in 3.5 days.", "One ferry sails.", "Two lie idle."], 1)
    )
