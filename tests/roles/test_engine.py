"""The engine that asks every role."""

from dataclasses import replace

import pytest

from agents.contracts.fact import Extraction, ExtractionInput, NumberedSentence, PointedFact, ShownSource
from agents.contracts.plan import PlanningInput, PlanTree
from agents.core.budget import Usage
from agents.core.errors import BadOutput, ModelError, Reject
from agents.core.prompts import load
from agents.core.role import AskContext, Reply, ask
from agents.roles import EXTRACTOR
from agents.roles import PLANNER as PLAIN
from tests.scripted_model import ScriptedModel
from tests.scripts import FLAT, leaf, tree

GIVEN = PlanningInput(query="Why?", max_leaves=5)
TWICE = tree(leaf("Same", "a?"), leaf("same", "b?"))


def no_twins(given, plan):
    if len({one.title.casefold() for one in plan.leaves}) < len(plan.leaves):
        raise Reject("Merge the leaves that share a title.")


PLANNER = replace(PLAIN, checks=(no_twins,))


def run_with(*lines):
    model = ScriptedModel(*lines)
    return model, AskContext(models={"planner": model}, prompts=load())


async def test_an_answer_that_holds_is_returned_with_what_it_cost():
    model, run = run_with(FLAT)

    asked = await ask(PLANNER, GIVEN, run)

    assert asked.output == FLAT
    assert asked.usage.calls == 1
    assert asked.prompt.startswith("planner@")
    assert not asked.repaired


async def test_a_rejected_answer_is_repaired_once_and_told_why():
    model, run = run_with(TWICE, FLAT)

    asked = await ask(PLANNER, GIVEN, run)

    assert asked.output == FLAT
    assert asked.repaired
    assert asked.usage.calls == 2
    assert "Merge the leaves that share a title" in model.asked[1].messages[-1].content
    model.assert_spent()


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("I am not sure what you mean.", id="prose"),
        pytest.param("", id="empty"),
        pytest.param('{"leaves": []}', id="too few"),
        pytest.param("<think>let me see", id="thoughts without end"),
        pytest.param(TWICE, id="rejected by a check"),
    ],
)
async def test_an_answer_that_stays_bad_ends_in_a_typed_error_after_one_repair(line):
    model, run = run_with(line, line)

    with pytest.raises(BadOutput, match="no usable output in 2 attempts"):
        await ask(PLANNER, GIVEN, run)

    model.assert_spent()


async def test_the_reason_quotes_the_validation_problem():
    model, run = run_with('{"leaves": [], "claims": []}', FLAT)
    await ask(PLANNER, GIVEN, run)
    assert "leaves" in model.asked[1].messages[-1].content


WHOLE_PLANNER = replace(PLANNER, partial=False)
"""A role whose answer counts only as a whole."""


async def test_a_cut_answer_gets_more_room_even_when_it_parses():
    cut = Reply(text=FLAT.model_dump_json(), usage=Usage(calls=1), finish_reason="length", model="m")
    model, run = run_with(cut, FLAT)

    asked = await ask(WHOLE_PLANNER, GIVEN, run)

    assert asked.output == FLAT
    assert model.asked[1].max_output_tokens == 2 * model.asked[0].max_output_tokens
    assert not asked.cut


async def test_an_answer_that_stays_cut_keeps_what_was_complete_and_says_so():
    whole = tree(leaf("One", "a?"), leaf("Two", "b?")).model_dump_json()
    head = Reply(text=whole, usage=Usage(calls=1), finish_reason="length", model="m")
    _, run = run_with(head, head)

    asked = await ask(WHOLE_PLANNER, GIVEN, run)

    assert asked.cut
    assert isinstance(asked.output, PlanTree)


async def test_what_was_cut_off_for_want_of_time_is_no_bad_answer_but_a_late_one():
    head = Reply(
        text='{"leaves": [{"title": "Co', usage=Usage(calls=1), finish_reason="length", model="m", hurried=True
    )
    _, run = run_with(head, head)

    with pytest.raises(ModelError) as caught:
        await ask(PLANNER, GIVEN, run)

    assert caught.value.fault == "timeout"
    assert caught.value.spent.usage.calls == 2


async def test_of_a_list_that_code_completes_a_cut_answer_counts_at_once():
    whole = Extraction(
        facts=(PointedFact(sentences=(1,), question=1, sure=0.9), PointedFact(sentences=(2,), question=1, sure=0.9))
    )
    text = whole.model_dump_json()
    head = Reply(text=text[: text.rindex("{")], usage=Usage(calls=1), finish_reason="length", model="m")
    model = ScriptedModel(head)
    read = ExtractionInput(
        objective="Why?",
        questions=("Why?",),
        language="en",
        sources=(ShownSource(title="A", sentences=(NumberedSentence(number=1, text="So."),)),),
    )

    asked = await ask(EXTRACTOR, read, AskContext(models={"extractor": model}, prompts=load()))

    assert asked.cut
    assert [fact.sentences for fact in asked.output.facts] == [(1,)]
    model.assert_spent()


async def test_tags_around_data_never_come_back_in_an_answer():
    _, run = run_with(
        tree(
            leaf("<query-4ebe5cd8>", "a?").model_copy(
                update={
                    "title": "One <title-4ebe5cd8>",
                    "search_terms": ("<query-4ebe5cd8>", "</query-4ebe5cd8> ferries"),
                }
            )
        )
    )

    asked = await ask(PLANNER, GIVEN, run)

    assert asked.output.leaves[0].title == "One"
    assert asked.output.leaves[0].search_terms == ("ferries",)


async def test_a_providers_failure_is_not_repaired():
    error = ModelError("down", fault="server", notice="The provider is down.")
    model, run = run_with(error, FLAT)
    with pytest.raises(ModelError):
        await ask(PLANNER, GIVEN, run)
    assert len(model.asked) == 1
