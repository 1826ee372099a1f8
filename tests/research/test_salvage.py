"""A fault of ours that nobody foresaw costs what it hits, and never the report."""

import pytest

from agents.contracts.report import Actual
from agents.core.port import Handler
from agents.report.document import build
from agents.research.pipeline import Means


async def broken(ctx, given):
    raise ZeroDivisionError("nobody thought of this")


@pytest.mark.parametrize("victim", ["leaf", "source", "claim", "challenge", "check"])
async def test_whatever_breaks_the_report_is_there_and_says_so(bench, victim):
    one = bench()
    made = one.handlers
    one.handlers = lambda: {
        **(all_ := made()),
        victim: Handler(run=broken, takes=all_[victim].takes, gives=all_[victim].gives),
    }

    outcome = await one.run()

    document = build("job", outcome, Actual(), engine="m", reasons=True)
    read = {card.url for finding in outcome.findings for card in finding.all_sources()}
    assert document.grade in ({"nothing_found"} if victim in {"leaf", "source"} else {"partial", "complete"})
    assert all(url in document.model_dump_json() for url in read)


async def test_a_fault_after_the_branches_leaves_what_they_found(bench, monkeypatch):
    from agents.research import pipeline

    monkeypatch.setattr(pipeline, "checked", broken)

    outcome = await bench(means=Means(require_judge=True)).run()

    document = build("job", outcome, Actual(), engine="m", reasons=True)
    assert document.references and document.grade == "partial"
    # Where a judge is required, what nobody has judged does not pass.
    assert outcome.truth.judgement.verdict == "request_changes"
    assert [problem.type for problem in outcome.problems] == ["TypeError"]
