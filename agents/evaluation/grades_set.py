"""Grades: is what a report calls complete, and each question that it calls answered, really so?

Every third question loses documents that it needs: all of them, or the one that holds its answer. Such a report may
never be complete. Of the others, a complete report is right when its answer stands in it, as whole words, or, where two
things are compared or the answer is yes or no, when it cites what is needed of both.
"""

from collections.abc import Sequence
from pathlib import Path

from agents.core.settings import Settings
from agents.evaluation.findcite_set import Answered, over, pairs, researched, row_of
from agents.evaluation.labelled_sets import Row, share
from agents.evaluation.variant import Variant

ONE_IN = 3
"""So many questions to one that loses documents."""


async def run(path: Path, settings: Settings, variant: Variant) -> tuple[list[Row], Row]:
    """Research every question, some of them without what they need.

    Raises:
        BadRequest: there are no questions with a corpus beside them.
        ConfigError: the settings can't be used.
    """
    rows: list[Row] = []
    for pair in pairs(path):
        texts = {
            str(one["doc_id"]): f"{one['title']} {one.get('text') or ' '.join(one['sentences'])}" for one in pair.corpus
        }
        asked = pair.questions[: variant.limit]
        lost = {
            at: taken_from(row, texts, whole=at % 2 == 1) for at, row in enumerate(asked) if at % ONE_IN == ONE_IN - 1
        }
        gone = {document for documents in lost.values() for document in documents}
        left = [one for one in pair.corpus if str(one["doc_id"]) not in gone]
        for corpus, places in (
            (pair.corpus, [at for at in range(len(asked)) if at not in lost]),
            (left, sorted(lost)),
        ):
            async with over(variant.settings(settings), corpus) as team:
                found = await researched(team, [str(asked[at]["question"]) for at in places], variant)
            rows += [graded(pair.name, asked[at], one, lost.get(at, ())) for at, one in zip(places, found, strict=True)]
    return rows, summed(rows)


def taken_from(row: Row, texts: dict[str, str], *, whole: bool) -> tuple[str, ...]:
    """Name the documents that a question loses: all it needs, or the last that holds its answer."""
    gold = list(dict.fromkeys(str(one["doc_id"] if isinstance(one, dict) else one) for one in row["gold"]))
    if whole or len(gold) < 2:
        return tuple(gold)
    if "steps" in row:
        return (str(row["steps"][-1]["doc_id"]),)
    answers = [str(one).casefold() for one in (row["answer"], *row.get("answer_aliases", ()))]
    holding = [one for one in gold if any(answer in texts.get(one, "").casefold() for answer in answers)]
    return (gold[-1],) if is_compared(row) or not holding else tuple(holding)


def is_compared(row: Row) -> bool:
    """Tell a question whose answer is chosen or judged rather than found: its words prove nothing."""
    return row.get("type") == "comparison" or str(row["answer"]).casefold() in {"yes", "no"}


def graded(name: str, row: Row, answer: Answered, lost: Sequence[str]) -> Row:
    """Hold the grade of a report against what can be known of it."""
    made, report = row_of(name, row, answer), answer.report
    holds = made["gold_cited"] == len(made["gold"]) if is_compared(row) else made["answer_found"]
    return {
        **made,
        "lost": list(lost),
        "grade": report.grade if report else "none",
        "answers": {one.question: one.status for one in report.answers} if report else {},
        "right": bool(holds and not lost),
        "summary": report.markdown.split("\n## ")[0] if report else "",
    }


def summed(rows: Sequence[Row]) -> Row:
    """Give the figures of the set."""
    complete = [row for row in rows if row["grade"] == "complete"]
    whole = [row for row in rows if not row["lost"]]
    held = [row for row in whole if row["right"] and row["gold_cited"] == len(row["gold"])]
    return {
        "n": len(rows),
        "answerable": len(whole),
        "complete": len(complete),
        "complete_is_right": share(sum(row["right"] for row in complete), len(complete)),
        "complete_without_what_is_needed": sum(bool(row["lost"]) for row in complete),
        "complete_of_those_that_hold_the_answer": share(sum(row["grade"] == "complete" for row in held), len(held)),
        "nothing_found_of_unanswerable": share(
            sum(row["grade"] == "nothing_found" for row in rows if row["lost"]), len(rows) - len(whole)
        ),
    }
