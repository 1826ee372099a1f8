"""Scoping: tasks marked vague or clear, and search topics of many facets; does the manager ask when it should?

A vague task is met by a question back or by the verdict that it is not feasible yet; a clear one by neither. Search topics
(Qulac) are vague by themselves. No documents are at hand, so that no library takes part in the verdict.
"""

import asyncio
import tempfile
from pathlib import Path

from agents.core.errors import BadRequest, DossierError
from agents.core.settings import Settings
from agents.evaluation.rows import Row, accuracy, load, macro_f1
from agents.evaluation.variant import Variant
from agents.research.scoping.turn import Scope
from agents.team import Team, open_team

AT_ONCE = 8
VAGUE, CLEAR = "vague", "clear"


async def run(path: Path, settings: Settings, variant: Variant) -> tuple[list[Row], Row]:
    """Put every task to the manager, one turn each.

    Raises:
        BadRequest: the file holds neither tasks nor topics.
        ConfigError: the settings can't be used.
    """
    data = load(path, ())[: variant.limit]
    wanted = [_wanted(row, path) for row in data]
    with tempfile.TemporaryDirectory(prefix="dossier-eval-") as folder:
        empty = Path(folder) / "empty"
        empty.mkdir()
        update = {"library": (empty,), "retriever": ("library",), "data_dir": Path(folder) / "data"}
        team = open_team(settings.model_copy(update=update))
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(text: str, label: str) -> Row:
            async with gate:
                return await _asked(team, text, label)

        try:
            rows = list(await asyncio.gather(*(one(text, label) for text, label in wanted)))
        finally:
            await team.close()
    told = [(row["label"], row["given"]) for row in rows]
    return rows, {"n": len(rows), "accuracy": accuracy(told), "macro_f1": macro_f1(told)}


def _wanted(row: Row, path: Path) -> tuple[str, str]:
    if "task" in row and "vague" in row:
        return str(row["task"]), VAGUE if row["vague"] else CLEAR
    if "topic" in row and "facets" in row:
        return str(row["topic"]), VAGUE
    raise BadRequest(f"{path} holds neither tasks (task, vague) nor topics (topic, facets).")


async def _asked(team: Team, text: str, label: str) -> Row:
    problem, given = "", CLEAR
    questions: tuple[str, ...] = ()
    try:
        scope, turn = await team.scope(Scope(), text)
        questions = turn.open_questions
        given = VAGUE if questions or not scope.feasible else CLEAR
    except DossierError as error:
        problem, given = error.notice, "none"
    return {"task": text, "label": label, "given": given, "questions": list(questions), "problem": problem}
