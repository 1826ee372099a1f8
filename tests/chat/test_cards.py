"""What the cards are given, and the same as Markdown."""

import pytest

from agents.chat.answers import (
    _item,
    contract_card,
    figure,
    on_draft,
    run_card,
    scope_card,
    scope_line,
    subjects,
)
from agents.chat.commands import Wish, read
from agents.chat.state import ShowContract
from agents.chat.texts import ChatTexts
from agents.contracts.contract import ForecastLine, Query, Turn
from agents.contracts.plan import Leaf, TaskSpec
from agents.contracts.sources import CorpusSurvey, DocumentNote
from agents.research.planning.forecast import PastRun
from agents.research.planning.freeze_contract import IN_ENGLISH, Means, cost_unheld
from agents.research.scoping.turn import ScopingState
from agents.search.searcher import SAMPLE_NAME
from tests.scripts import QUERY


def broad(text, *splits):
    return Query(text=text, feasible=False, reason="No period.", depth_estimate=4, suggested_split=splits)


SCOPE = ScopingState(
    queries=(broad("All of it?", "A?", "B?"), broad("More?", "C?", "A?")), open_questions=("Which years?",)
)


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ((6, 12, ""), "6–12"),
        ((3, 3, ""), "3"),
        ((0.02, 0.3, "min"), "0.02–0.3 min"),
        ((0.0, 0.0, "USD"), "$0"),
        ((0.1, 0.4, "USD"), "$0.1–0.4"),
        ((None, None, "USD"), "unknown"),
        ((12000, 45000, ""), "12,000–45,000"),
    ],
)
def test_a_figure_is_written_out(line, written):
    low, high, unit = line
    fields = {"name": "n", "low": low, "high": high, "basis": "b"}
    assert figure(ForecastLine.model_construct(unit=unit, **fields)) == written


def test_the_scope_card_holds_verdicts_and_splits():
    card = scope_card(SCOPE, ChatTexts(), PastRun(seconds=130, cost_usd=None))
    assert card["queries"][0] == {
        "n": 1,
        "text": "All of it?",
        "feasible": False,
        "reason": "No period.",
        "splits": ["A?", "B?"],
    }
    assert card["takes"] == "about 2 minutes · cost unknown"
    assert card["active"] is True
    assert card["as_it_stands"] == ""


def test_what_is_feasible_but_open_can_be_planned_as_it_stands_by_a_button_in_the_language_of_the_chat():
    open_ = ScopingState(queries=(QUERY,), open_questions=("Which years?",))
    german = scope_card(open_, ChatTexts("de"), PastRun(seconds=None, cost_usd=0.0))
    assert german["as_it_stands"] == ChatTexts("de")("button_as_it_stands")
    assert isinstance(read(german["as_it_stands"]), Wish)


def test_the_scope_card_repeats_nothing_of_the_managers_words():
    turns = (Turn(speaker="manager", text="Too open. Which years? No period."),)
    card = scope_card(SCOPE.model_copy(update={"turns": turns}), ChatTexts(), PastRun(seconds=None, cost_usd=0.0))
    assert card["points"] == []
    assert {query["reason"] for query in card["queries"]} == {""}
    assert card["takes"] == "unknown · free"


def test_the_verdict_is_said_in_the_language_of_the_chat():
    assert scope_line(SCOPE, ChatTexts("de")) == ChatTexts("de")("scope_broad_some", numbers="1, 2")
    assert "Tippen Sie **Authorized to execute**" in ChatTexts("de")("phrase_line")


async def test_the_contract_card_says_what_the_phrase_binds(talker):
    acts = await talker("How often was the Orvane ferry closed, and what did it cost?")
    shown = acts[-1]
    assert isinstance(shown, ShowContract)

    contract = shown.contract.model_copy(update={"retrievers": (SAMPLE_NAME,)})
    card = contract_card(shown._replace(contract=contract), ChatTexts())

    assert card["hash"] == shown.contract.hash
    assert [child["title"] for child in card["trees"][0]["children"]] == ["Closures", "Costs", "Passengers"]
    assert [child["n"] for child in card["trees"][0]["children"]] == ["1", "2", "3"]
    assert card["caps"]["rounds"] == 3
    assert "invented" in card["sample"]
    assert (card["kind"], card["agreed"], card["assumed"]) == ("statistics", [], [])

    query = contract.brief.queries[0].model_copy(update={"scope_limits": ("only since 2015",)})
    limited = contract.brief.model_copy(update={"queries": (query,)})
    plan = contract.plans[0].model_copy(update={"assumptions": (IN_ENGLISH,)})
    bound = contract.model_copy(update={"brief": limited, "plans": (plan,)})
    card = contract_card(shown._replace(contract=bound), ChatTexts("de"))
    assert (card["kind"], card["agreed"]) == ("Statistik", ["only since 2015"])
    assert len(card["assumed"]) == 1
    assert contract_card(shown, ChatTexts())["sample"] is None
    assert card["likely_time"]
    assert card["likely_cost"] == ""  # not known, and so not zero
    await talker.team.close()


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "what it costs can't be held to the limit of $2.00."), ("de", "lässt sich nicht auf $2.00 begrenzen.")],
)
async def test_card_and_answer_promise_no_limit_of_cost_that_cannot_be_held(talker, language, said):
    (*_, shown), words = (
        await talker("How often was the Orvane ferry closed, and what did it cost?"),
        ChatTexts(language),
    )
    unheld = cost_unheld(Means(unpriced=(("m", "m"),)), ("m",), 2.0)
    caps = shown.contract.caps.model_copy(update={"cost_usd": 2.0})
    contract = shown.contract.model_copy(update={"cost_unheld": unheld, "caps": caps})
    card = contract_card(shown._replace(contract=contract), words)
    assert card["cost_unheld"].endswith(said)
    assert on_draft(Wish(name="cost"), contract, talker.team, words).endswith(card["cost_unheld"])
    assert contract_card(shown, words)["cost_unheld"] == ""
    await talker.team.close()


def test_what_readers_are_told_is_no_part_of_the_line_of_a_plan():
    spec = TaskSpec(
        questions=("How many?",), expected_format="A table.", acceptance_criteria=("Every year is named. " * 9,)
    )
    leaf = Leaf(title="Closures", objective="Closures", questions=("How many?",), searches=("closures",), spec=spec)
    row = _item(leaf, "1", ChatTexts())
    assert row["note"] == f"1 search, reads up to {leaf.budget.sources}"
    assert row["detail"].startswith("A table.; Every year")


async def test_a_run_without_a_time_limit_keeps_a_minute_and_a_half_for_writing(held):
    await held("/research --time unlimited How often was the Orvane ferry closed?")
    (started,) = await held("Authorized to execute")
    card = run_card(started.job, started.contract, ChatTexts())
    assert (card["minutes"], card["reserve_s"]) == (None, 90.0)


def test_starters_are_about_names_that_differ_and_that_the_documents_speak_of():
    documents = [
        ("Tolven Bay: a report", ("plots", "Tolven Bay")),
        ("Moorings of Tolven Bay", ("moorings", "chain")),
        ("The Creel, autumn 2022", ("brown crab", "Orm Shallows")),
        ("cost audit", ("expenditure", "hectare")),
        ("Kell Point (harbour)", ("Kell Point", "anchoring")),
    ]
    survey = CorpusSurvey(documents=[DocumentNote(title=title, themes=themes) for title, themes in documents], total=5)

    assert subjects(survey) == ["Tolven Bay", "Orm Shallows", "Kell Point"]
    assert subjects(CorpusSurvey(documents=survey.documents[3:4])) == ["cost audit"]
