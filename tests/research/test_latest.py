"""Case C41: the model lives in the past, the program does not."""

import json

import pytest

from agents.contracts.contract import Brief, Query
from agents.contracts.frozen import digest
from agents.contracts.plan import PlanningInput
from agents.contracts.sources import Source
from agents.research.reading.shortlisting import RECENCY, recency_of
from agents.search.provider import day
from tests.conftest import DATA
from tests.scripted_search import ScriptedSearcher
from tests.scripts import Worker, leaf, tree, working_model

CASE = DATA / "cases" / "C41"
CLOCK = json.loads((CASE / "clock.json").read_text("utf-8"))
TODAY, BELIEVED = CLOCK["now"][:10], str(CLOCK["model_believes"])
PAGES = [json.loads(line) for line in (CASE / "pages.jsonl").read_text("utf-8").splitlines()]
QUESTIONS = [json.loads(line)["q"] for line in (CASE / "questions.jsonl").read_text("utf-8").splitlines()]


def sources():
    return [
        Source(
            id=Source.id_of(page["url"]), url=page["url"], title=page["text"], kind="web", text=page["text"],
            text_hash=digest(page["text"]), published=day(page["published"]), language="en",
        )
        for page in PAGES
    ]  # fmt: skip


def dated_planner(request):
    """Plan as a model does that takes the year of its training for now."""
    given = request.given
    if isinstance(given, PlanningInput):
        return tree(leaf(f"State of {BELIEVED}", f"{given.query.rstrip('?')} in {BELIEVED}?", f"latest {BELIEVED}"))
    return Worker()(request)


@pytest.mark.parametrize("question", QUESTIONS)
async def test_no_query_holds_a_year_that_neither_the_question_nor_today_gives(bench, question):
    work = bench(working_model(planner=dated_planner), ScriptedSearcher(sources()))
    query = Query(text=question, feasible=True, reason="small", depth_estimate=1)

    await work.run(Brief(question=question, queries=(query,), today=TODAY))

    assert work.searcher.asked
    assert not [asked.text for asked in work.searcher.asked if BELIEVED in asked.text]
    for asked in work.model.asked:
        if asked.role in ("planner", "extractor", "reflector", "challenger", "scout", "synthesizer"):
            assert TODAY in " ".join(message.content for message in asked.messages), asked.role


def test_a_date_that_can_be_read_two_ways_is_not_guessed():
    assert day("03/04/2031") is None
    assert day("2031-03-13") == "2031-03-13"


def test_a_page_without_a_date_never_stands_before_one_with_a_date_for_its_recency():
    assert recency_of(None, TODAY) == "undated"
    assert RECENCY["undated"] < min(RECENCY[known] for known in ("current", "recent", "older"))
