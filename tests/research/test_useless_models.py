"""Whatever a model gives, a run finds what the engine alone would have found: a model may add, and takes nothing away."""

import asyncio

import pytest

from agents.contracts.fact import Extraction, PointedFact
from agents.contracts.report import Commission
from agents.core.prompts import load
from agents.core.settings import Settings
from agents.jobs.blob_store import BlobStore
from agents.offline import OfflineModel
from agents.research.scoping.turn import ScopingState
from agents.roles import ROLES
from agents.search.choose_searcher import open_sources
from agents.team import Team
from tests.scripted_model import ScriptedModel

QUESTION = "Toad Hall is a residential hall in a university located in what Australian city?"
LIBRARY = {
    "toad": "# Toad Hall (ANU)\n\nToad Hall is a residential hall in Australian National University, it was opened in 1974. "
    "It is a home for students from some fifty countries.\n",
    "anu": "# Australian National University\n\nThe Australian National University (ANU) is a national research university "
    "located in Canberra, the capital of Australia. It has seven colleges.\n",
    "trades": "# Adelaide Trades Hall\n\nAdelaide Trades Hall is a hall of the unions in Adelaide. It was opened in 1896.\n",
    "otago": "# University College, Otago\n\nUniversity College is a residential college of the University of Otago in Dunedin.\n",
}  # fmt: skip


def apologies(request):
    return "I am sorry, but I cannot help with that."


def nothing(request):
    return Extraction(facts=()) if request.gives is Extraction else apologies(request)


def every_third(request):
    """Point at sentences that were not asked for, and be sure of it."""
    if request.gives is not Extraction:
        return apologies(request)
    numbers = [sentence.number for source in request.given.sources for sentence in source.sentences]
    return Extraction(facts=tuple(PointedFact(sentences=(number,), question=1, sure=0.9) for number in numbers[1::3]))


async def reported(folder, model):
    library = folder / "library"
    library.mkdir()
    for name, text in LIBRARY.items():
        (library / f"{name}.md").write_text(text, "utf-8")
    settings = Settings(data_dir=folder, model="offline", library=(library,), retriever=("library",))
    team = Team(
        settings, models={role.name: model or OfflineModel() for role in ROLES}, prompts=load(), sample=False,
        searcher=open_sources(settings)[0], blobs=BlobStore(folder), today=lambda: "2026-11-28",
    )  # fmt: skip
    scope, _ = await team.scope(ScopingState(), QUESTION)
    job = await team.commission(Commission(brief=scope.brief(team.today())))
    await asyncio.wait_for(job.wait(), 60)
    await team.close()
    return job.report


@pytest.mark.parametrize("says", [None, apologies, nothing, every_third])
async def test_a_question_of_two_steps_is_answered_whatever_the_model_says(says, tmp_path):
    model = says and ScriptedModel(by_role={role.name: says for role in ROLES})
    report = await reported(tmp_path, model)
    quoted = " ".join(quote.text for reference in report.references for quote in reference.quotes)
    assert "residential hall in Australian National University" in quoted
    assert "located in Canberra" in quoted
    assert "located in Canberra" in report.markdown.partition("## References")[0]
    if model:
        assert any("answered in the place of" in reason for reason in report.grade_reasons)
