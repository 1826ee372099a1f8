"""An outage of searching is visible: a provider that stepped in for another, and one that never answered."""

from agents.contracts.report import Actual
from agents.contracts.sources import SearchFailure
from agents.core.errors import SearchError
from agents.report.document import build
from tests.scripted_search import ScriptedSearcher
from tests.scripts import WORLD

REFUSED = SearchFailure(provider="first", fault="auth", reason="first refused the key")


class SecondChoice(ScriptedSearcher):
    """Answers in the place of a provider that refused."""

    async def search(self, query, deadline_s=None):
        found = await super().search(query, deadline_s)
        return found.model_copy(update={"failures": (REFUSED,)})


async def test_a_switch_of_the_provider_is_tagged_recorded_and_told(bench):
    work = bench(searcher=SecondChoice(WORLD))

    outcome = await work.run()

    document = build("a" * 32, outcome, Actual(), engine="scripted", reasons=True)
    parts = [part for finding in outcome.findings for part in finding.walk()]
    assert "#DEGRADED_SEARCH" in outcome.tags
    assert document.degraded_mode
    assert document.grade == "partial"
    assert "Search capabilities were limited; answer is based on partial information" in document.limited
    assert "first refused the key" in document.limited
    assert document.limited in document.grade_reasons  # in the head; the text says it in Methodology, and nowhere else
    assert document.markdown.count("Search capabilities were limited") == 1
    assert any(problem.message == REFUSED.reason for part in parts for problem in part.problems)
    assert all(record.failures == (REFUSED,) for part in parts for record in part.searches)


async def test_searches_that_answer_as_usual_are_not_called_degraded(bench):
    outcome = await bench(searcher=ScriptedSearcher(WORLD)).run()

    assert "#DEGRADED_SEARCH" not in outcome.tags


async def test_one_search_of_many_that_fails_is_no_outage(bench):
    class Once(ScriptedSearcher):
        async def search(self, query, deadline_s=None):
            if not self.asked:
                self.asked.append(query)
                raise SearchError("down", provider="scripted")
            return await super().search(query, deadline_s)

    outcome = await bench(searcher=Once(WORLD)).run()

    assert "#DEGRADED_SEARCH" not in outcome.tags
