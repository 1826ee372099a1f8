"""Case C08 in a whole job: a model declines one branch; the others go on, and the report says what is missing."""

import pytest

from agents.contracts.fact import ExtractionInput
from agents.contracts.finding import FrameInput, SectionInput
from agents.contracts.report import Actual
from agents.core.errors import ModelError
from agents.report.document import build
from tests.scripts import Worker, working_model

COSTS = "What did the Orvane winter service cost?"
NOTICE = "The model provider declined to answer this request."


def declining(about, role_input):
    """Work as usual, and decline what is about something."""
    worker = Worker()

    def answer(request):
        given = request.given
        if isinstance(given, role_input) and about in given.model_dump_json():
            return ModelError("m: declined: content_filter", fault="refused", notice=NOTICE, model="m")
        return worker(request)

    return answer


@pytest.mark.parametrize(
    ("role", "kind", "about"),
    [("extractor", ExtractionInput, COSTS), ("synthesizer", SectionInput, COSTS)],
)
async def test_c08_one_declined_branch_takes_no_other_with_it(bench, role, kind, about):
    work = bench(working_model(**{role: declining(about, kind)}))

    outcome = await work.run()

    report = build("a" * 32, outcome, Actual(), engine="scripted", reasons=True)
    (finding,) = outcome.findings
    statuses = {part.title: part.status for part in finding.children}
    assert [statuses["Closures"], statuses["Passengers"]] == ["done", "done"]
    assert statuses["Costs"] in ("partial", "failed", "empty")
    assert report.grade == "partial"
    assert any(reason.startswith("Costs: ") for reason in report.grade_reasons)
    assert NOTICE in {problem.message for problem in report.error_log}
    for word in ("None", "null", "content_filter"):
        assert word not in report.markdown
    asked = [
        request
        for request in work.model.asked
        if isinstance(request.given, kind) and about in request.given.model_dump_json()
    ]
    assert len({request.messages for request in asked}) == len(asked), "a refused step was repeated word for word"


async def test_c08_a_declined_frame_leaves_the_sections_and_says_so(bench):
    work = bench(working_model(synthesizer=declining("", FrameInput)))

    outcome = await work.run()

    report = build("a" * 32, outcome, Actual(), engine="scripted", reasons=True)
    assert report.references
    assert any(NOTICE.rstrip(".") in reason for reason in report.grade_reasons)
    assert any("frame" in problem.where for problem in report.error_log)
