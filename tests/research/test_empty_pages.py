"""Pages that gave no usable text are counted, live and in the report: whoever reads knows how much was behind walls."""

from agents.api.tree import Tree
from agents.contracts.report import Actual
from agents.core.events import PageCount
from agents.report.document import build
from tests.scripts import leaf as planned_leaf
from tests.scripts import tree, working_model, world

WALLED = "https://b.example/costs"


async def counted(work):
    outcome = await work.run()
    pages = PageCount()
    for numbered in work.last.events:
        pages.take(numbered.event)
    return outcome, pages


async def test_a_page_that_gave_nothing_counts_once_however_many_branches_asked_for_it(bench):
    work = bench(searcher=world(fail=[WALLED]))

    outcome, pages = await counted(work)

    assert (pages.empty, pages.fetched) == (1, 3)
    spent = Tree(work.last.events).spent()
    assert (spent.empty, spent.pages) == (1, 3)
    actual = Actual(pages_fetched=pages.fetched, pages_empty=pages.empty)
    report = build("a" * 32, outcome, actual, engine="scripted", reasons=True)
    assert "| Pages without usable text | – | 1 / 3 (33%) |" in report.markdown


async def test_a_sweep_counts_too_and_what_was_not_fetched_does_not(bench):
    branch = planned_leaf("Closures", "On how many days was the Orvane ferry line closed in winter?")
    sweep = tree(branch.model_copy(update={"discovery": True}))
    work = bench(working_model({}, planner=lambda _: sweep), world(fail=[WALLED]))

    _, pages = await counted(work)

    assert pages.empty == 1
    assert pages.fetched == len(set(work.searcher.read_urls))
