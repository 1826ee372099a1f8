"""Leaves of one round read each page once between them, and what it says goes to whom it concerns."""

import pytest

from agents.contracts.fact import ExtractionInput
from agents.contracts.finding import SectionInput
from agents.contracts.plan import ReflectionInput
from agents.core.events import NodeChanged
from agents.research.loop.loop_decision import LoopSettings
from agents.research.pipeline import Means
from agents.research.reading.leaf import grouped
from agents.research.reading.read_sources import _shares
from tests.scripts import QUERY, WORLD, Worker, leaf, tree, working_model

TOGETHER = Means(loop=LoopSettings(read_together=True))
TWO = tree(
    leaf("Closures", "On how many days was the Orvane ferry line closed?"),
    leaf("Costs", "What did the Orvane winter service cost?"),
    claims=("The Orvane line was closed on fewer than 10 days in 2022/23.",),
)


def pointing(request):
    """Point at every sentence, with the question that its words are about."""
    found = Worker()(request)
    about = {n: "cost" in s.text for one in request.given.sources for n, s in ((s.number, s) for s in one.sentences)}
    costs = next((n for n, q in enumerate(request.given.questions, start=1) if "cost" in q), 1)
    closed = next((n for n, q in enumerate(request.given.questions, start=1) if "closed" in q), 1)
    return found.model_copy(
        update={
            "facts": tuple(
                one.model_copy(update={"question": costs if about[one.sentences[0]] else closed}) for one in found.facts
            )
        }
    )


@pytest.mark.parametrize("wanted", ["", "a table"])
async def test_a_page_is_read_once_with_the_questions_of_all_leaves_and_its_facts_go_to_whom_they_answer(bench, wanted):
    leaves = tuple(one.model_copy(update={"expected_format": wanted}) for one in TWO.leaves)
    plan = TWO.model_copy(update={"leaves": leaves})
    work = bench(working_model({QUERY.text: plan}, extractor=pointing), means=TOGETHER)

    outcome = await work.run()

    read = [request.given for request in work.model.asked if isinstance(request.given, ExtractionInput)]
    shown = [source.title for one in read for source in one.sources]
    assert sorted(shown) == sorted(title for title, _ in WORLD.values())
    assert all(set(one.questions) == {q for planned in TWO.leaves for q in planned.questions} for one in read)
    closures, costs = outcome.findings[0].children
    assert {fact.topic for fact in costs.facts} == {"What did the Orvane winter service cost?"}
    assert costs.markdown
    assert costs.status == "done"
    assert not {fact.id for fact in costs.facts} & {fact.id for fact in closures.facts}
    assert await work.run(record=work.last.record) == outcome
    assert work.last.calls_made == 0


async def test_a_leaf_has_found_nothing_only_when_what_those_beside_it_read_says_nothing_either(bench):
    plan = tree(*TWO.leaves, leaf("Moon", "How many craters does the Tethys moon have?"))
    work = bench(working_model({QUERY.text: plan}, extractor=pointing), means=TOGETHER)

    await work.run()

    events = [numbered.event for numbered in work.last.events]
    told = {
        title: [one.state for one in events if isinstance(one, NodeChanged) and one.title == title]
        for title in ("Closures", "Costs", "Moon")
    }
    assert "empty" not in told["Closures"] + told["Costs"]
    assert told["Costs"][-2:] == ["writing", "done"]
    assert told["Moon"][-1] == "empty"
    assert told["Moon"].count("empty") == 1


async def test_a_reflection_is_asked_beside_the_sections(bench):
    work = bench(working_model({QUERY.text: TWO}), means=TOGETHER)
    await work.run()

    kinds = [type(request.given) for request in work.model.asked]
    first_section = kinds.index(SectionInput)
    assert ReflectionInput not in kinds or kinds.index(ReflectionInput) <= first_section + 2


async def test_a_section_is_told_at_once_what_the_facts_at_hand_make_of_a_claim_and_is_written_once(bench):
    work = bench(working_model({QUERY.text: TWO}), means=TOGETHER)
    outcome = await work.run()

    written = [request.given for request in work.model.asked if isinstance(request.given, SectionInput)]
    titles = [one.title for one in written]
    moved = [claim for claim in outcome.truth.claims if claim.verdict in {"qualified", "contested", "refuted"}]
    assert moved
    assert len(titles) == len(set(titles)), "a section was written twice"
    assert any(moved[0].text in line for one in written for line in one.verdicts)


def test_pages_make_as_many_groups_as_there_are_calls_for_each_leaf():
    pages = [f"https://x.example/{n}" for n in range(7)]

    assert grouped(pages, 2) == [pages[0::3], pages[1::3], pages[2::3]]
    assert grouped(pages, 8) == [pages]
    assert grouped([*pages[:2], "doc-a", "doc-b"], 1) == [pages[:2], ["doc-a", "doc-b"]]
    assert grouped([], 1) == []


def test_short_sources_are_shown_whole_and_long_ones_share_what_is_left():
    assert _shares([100, 9_000, 9_000], 10_100) == [100, 5_000, 5_000]
    assert _shares([100, 200], 10_000) == [100, 9_900]
