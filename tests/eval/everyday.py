"""Everyday questions over a folder of everyday papers: is the answer shown, and is nothing called answered that is not?

A folder holds `docs` and `questions.jsonl`. Each question is `answered` by the papers, `partly` (of its two parts one), or
`not_found`; `answers` lists for each part that can be answered what must stand, verbatim but for case and signs, in what is
quoted: as an answer, or among the passages that come nearest.
"""

from pathlib import Path

from agents.contracts.report import ReportDocument
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
    shown, quoted = _texts(report) if report else ("", "")
    parts = [[f" {plain_words(text)} " for text in alternatives] for alternatives in row["answers"]]
    return {
        "id": row["id"],
        "question": row["question"],
        "kind": row["kind"],
        "grade": report.grade if report else "refused",
        "quoted": bool(parts) and all(any(one in quoted for one in part) for part in parts),
        "shown": bool(parts) and all(any(one in shown for one in part) for part in parts),
        "problem": answer.problem,
    }


def _texts(report: ReportDocument) -> tuple[str, str]:
    """Give all words of a report, and those that it quotes as evidence."""
    quoted = " ".join(quote.text for reference in report.references for quote in reference.quotes)
    shown = " ".join((quoted, *(sentence.text for sentence in report.sentences)))
    return f" {plain_words(shown)} ", f" {plain_words(quoted)} "


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
        "refused": sum(row["grade"] == "refused" for row in rows),
    }
