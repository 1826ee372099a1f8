"""The offline manager's verdicts on labelled questions over two libraries: at least four of five are right."""

import json
from collections import Counter
from pathlib import Path

import pytest

from agents.contracts.contract import ScopingInput, ScopingTurn
from agents.nlp.tokens import language_of
from agents.offline.manager import scope
from agents.search.library import Library

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDERS = {"sample": ROOT / "examples" / "library", "two": ROOT / "tests" / "data" / "library_two"}
ROWS = [
    json.loads(line) for line in (ROOT / "tests" / "data" / "scoping.jsonl").read_text("utf-8").splitlines() if line
]
ENOUGH = 0.8


def label(turn: ScopingTurn) -> str:
    """What a turn came to, in the words of the labels."""
    if any(not query.feasible for query in turn.queries):
        return "too_broad"
    if len(turn.queries) > 1:
        return "split"
    return "lookup" if turn.tier == "simple" else "feasible"


@pytest.fixture
async def turns(tmp_path: Path) -> list[tuple[dict[str, str], ScopingTurn]]:
    found = []
    for name, folder in FOLDERS.items():
        library = Library([folder], tmp_path / f"{name}.db")
        for row in ROWS:
            if row["library"] == name:
                given = ScopingInput(
                    message=row["question"],
                    survey=await library.survey(row["question"]),
                    today="2026-01-15",
                    language=language_of(row["question"]),
                )
                found.append((row, scope(given)))
        library.close()
    return found


async def test_four_of_five_labelled_questions_are_judged_right(
    turns: list[tuple[dict[str, str], ScopingTurn]],
) -> None:
    judged = Counter((row["expect"], label(turn)) for row, turn in turns)

    right = sum(count for (expected, given), count in judged.items() if expected == given)

    wrong = [(row["id"], row["expect"], label(turn)) for row, turn in turns if row["expect"] != label(turn)]
    assert right / len(ROWS) >= ENOUGH, wrong


async def test_every_suggestion_is_judged_feasible_when_it_is_asked(
    turns: list[tuple[dict[str, str], ScopingTurn]],
) -> None:
    for _, turn in turns:
        for query in turn.queries:
            if query.feasible:
                continue
            assert 3 <= len(query.suggested_split) <= 4
            for suggestion in query.suggested_split:
                given = ScopingInput(message=suggestion, today="2026-01-15", language=turn.language)
                again = scope(given)
                assert [q.feasible for q in again.queries] == [True], suggestion
