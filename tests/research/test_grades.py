"""Over sixty labelled questions a report calls itself complete only where it holds the answer."""

import asyncio
from pathlib import Path

from agents.contracts.report import Actual, Commission, Outcome
from agents.core.budget import Budget, Limits
from agents.core.port import ProcessLimits
from agents.core.settings import Settings
from agents.jobs.attempt import Attempt
from agents.report.document import build
from agents.research.pipeline import handlers_of
from agents.research.scoping.turn import ScopingState
from agents.search.uploads import UploadedFile
from agents.team import Team, open_team
from tests.eval.citation_sets import Answered, graded, summed_grades
from tests.eval.labelled_sets import Row, load
from tests.virtual import virtually

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data" / "evaluation"


async def researched(team: Team, question: str, files: list[UploadedFile]) -> Answered:
    """Answer a question from given documents; without a store and challenge, which cost time and change no grade of these."""
    taken = await team.take_files(files, ())
    scope, _ = await team.scope(ScopingState(minutes=5.0, files=taken.files), question)
    brief = scope.brief(team.today())
    context = team.context(brief)
    job = Attempt(
        job_id="graded", handlers=handlers_of(context, team.means), steering=context.steering, record={}, per_job=6,
        budget=Budget(Limits(seconds=300.0), name="job"), clock=asyncio.get_running_loop().time, limits=ProcessLimits(),
    )  # fmt: skip
    outcome = await job.run("research", Commission(brief=brief, challenge=False), Outcome)
    return Answered(build("graded", outcome, Actual(), engine="", reasons=False), (), "")


async def all_graded(folder: Path) -> list[Row]:
    texts = {str(one["name"]): str(one["text"]) for one in load(DATA / "graded_documents.jsonl", ("name", "text"))}
    empty = folder / "library"
    empty.mkdir()
    team = open_team(Settings(model="offline", data_dir=folder, library=(empty,), retriever=("library",)))
    rows = []
    for row in load(DATA / "graded.jsonl", ("question", "answer", "gold", "given")):
        files = [
            UploadedFile(f"{name}.txt", texts[name].encode())
            if name in texts
            else UploadedFile(name, (ROOT / "examples" / "library" / name).read_bytes())
            for name in row["given"]
        ]
        rows.append(graded("given", row, await researched(team, row["question"], files), row.get("lost", ())))
    await team.close()
    return rows


def test_complete_is_right_and_never_stands_over_what_cannot_be_answered(tmp_path):
    """Forty questions have their answer in the documents that are given, twenty have none of it, or half."""
    said = summed_grades(virtually(lambda: all_graded(tmp_path)))

    assert (said["n"], said["answerable"]) == (60, 40)
    assert said["complete_is_right"] >= 0.95
    assert said["complete_without_what_is_needed"] == 0
    assert said["complete"] >= 15, "a grade that is hardly ever given says nothing"
