"""Everyday questions over a folder of everyday papers: is the answer shown, and is nothing called answered that is not?

A folder holds `docs` and `questions.jsonl`. Each question is `answered` by the papers, `partly` (of its two parts one), or
`not_found`; `answers` lists for each part that can be answered what must stand, verbatim but for case and signs, in what is
quoted: as an answer, or among the passages that come nearest.
"""

from pathlib import Path

from agents.core.settings import Settings
from tests.eval.citation_sets import Answered, plain_words, researched, team_over
from tests.eval.labelled_sets import Row, Variant, load, mean


async def run(path: Path, settings: Settings, variant: Variant) -> tuple[list[Row], Row]:
    """Research every question over the papers of its folder.

    Raises:
        BadRequest: there are no questions there.
        ConfigError: the settings can't be used.
    """
    questions = load(path / "questions.jsonl", ("id", "question", "kind", "answers"))[: variant.limit]
    async with team_over(variant.settings(settings), path / "docs") as team:
        answers = await researched(team, [str(row["question"]) for row in questions], variant)
    rows = [row_of(row, answer) for row, answer in zip(questions, answers, strict=True)]
    return rows, summed(rows)


def row_of(row: Row, answer: Answered) -> Row:
    """Hold what came of a question against what its papers say."""
    report = answer.report
    quotes = [quote.text for reference in report.references for quote in reference.quotes] if report else []
    quoted = [f" {plain_words(text)} " for text in quotes]
    shown = [*quoted, *(f" {plain_words(sentence.text)} " for sentence in report.sentences)] if report else []
    parts = row["answers"]
    return {
        "id": row["id"],
        "question": row["question"],
        "kind": row["kind"],
        "grade": report.grade if report else "refused",
        "quoted": bool(parts) and all(any(_stands(one, quoted) for one in part) for part in parts),
        "shown": bool(parts) and all(any(_stands(one, shown) for one in part) for part in parts),
        "quotes": len(quoted),
        "telling": sum(any(_stands(one, [text]) for part in parts for one in part) for text in quoted),
        "problem": answer.problem,
    }


def _stands(answer: str, texts: list[str]) -> bool:
    """Tell whether one of the texts holds an answer; of a row of a table its cells, also where each is named by its column."""
    cells = [f" {words} " for cell in answer.split("|") if (words := plain_words(cell).strip())]
    return any(all(cell in text for cell in cells) for text in texts)


def summed(rows: list[Row]) -> Row:
    """Give the figures of a set."""
    held = [row for row in rows if row["kind"] != "not_found"]
    complete = [row for row in rows if row["grade"] == "complete"]
    return {
        "n": len(rows),
        "answer_quoted": mean([row["quoted"] for row in held]),
        "answer_shown": mean([row["shown"] for row in held]),
        "complete": len(complete),
        "complete_without_the_answer": sum(not row["quoted"] or row["kind"] != "answered" for row in complete),
        "quotes": sum(row["quotes"] for row in rows),
        "quotes_that_answer": sum(row["telling"] for row in rows),
        "refused": sum(row["grade"] == "refused" for row in rows),
    }
