"""Find and cite: questions with known gold documents, researched end to end in a corpus that is the only library.

A row counts as read when every gold document was read; as found when the answer stands, as whole words, in the report or
in the words that it cites. Of all documents cited, precision is the share that is gold; recall is the mean over questions
of the share of gold documents that are cited. A question that the manager refuses counts with nothing read and cited.
"""

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

from agents.contracts.report import ReportDocument
from agents.core.settings import Settings
from agents.evaluation.corpus import Answered, document, over, pairs, researched
from agents.evaluation.rows import Row, mean, share
from agents.evaluation.variant import Variant


async def run(path: Path, settings: Settings, variant: Variant) -> tuple[list[Row], Row]:
    """Research every question.

    Args:
        path: a file of questions beside its corpus, or a folder with such pairs.
        settings: which model answers.
        variant: what is left out.

    Raises:
        BadRequest: there are no questions with a corpus beside them.
        ConfigError: the settings can't be used.
    """
    rows: list[Row] = []
    for pair in pairs(path):
        questions = pair.questions[: variant.limit]
        async with over(variant.settings(settings), pair.corpus) as team:
            answers = await researched(team, [str(row["question"]) for row in questions], variant)
        rows += [row_of(pair.name, row, answer) for row, answer in zip(questions, answers, strict=True)]
    return rows, summed(rows)


def summed(rows: Sequence[Row]) -> Row:
    """Give the figures of a set."""
    cited = [(row["gold_cited"], len(row["cited"])) for row in rows]
    return {
        "n": len(rows),
        "all_gold_read": mean([row["all_gold_read"] for row in rows]),
        "cited_precision": share(sum(gold for gold, _ in cited), sum(number for _, number in cited)),
        "cited_recall": mean([row["cited_recall"] for row in rows]),
        "answer_found": mean([row["answer_found"] for row in rows]),
    }


def row_of(name: str, row: Row, answer: Answered) -> Row:
    """Hold what came of a question against its gold documents and its answer."""
    gold = sorted({str(one["doc_id"] if isinstance(one, dict) else one) for one in row["gold"]})
    report = answer.report
    read = [document(url) for url in answer.read]
    cited = list(dict.fromkeys(document(reference.url) for reference in report.references)) if report else []
    hits = len(set(cited) & set(gold))
    return {
        "set": name,
        "id": row.get("id", ""),
        "question": row["question"],
        "gold": gold,
        "read": read,
        "cited": cited,
        "gold_cited": hits,
        "all_gold_read": set(gold) <= set(read),
        "cited_precision": share(hits, len(cited)),
        "cited_recall": share(hits, len(gold)),
        "answer_found": _says(report, (row["answer"], *row.get("answer_aliases", ()))),
        "seconds": report.methodology.actual.seconds if report else None,
        "searches": report.methodology.actual.searches if report else 0,
        "problem": answer.problem,
    }


def _says(report: ReportDocument | None, answers: Sequence[object]) -> bool:
    """Tell whether the report, or the words it cites, hold an answer as whole words."""
    if report is None:
        return False
    quotes = (quote.text for reference in report.references for quote in reference.quotes)
    said = f" {_plain(' '.join((*(sentence.text for sentence in report.sentences), *quotes)))} "
    return any(f" {plain} " in said for answer in answers if (plain := _plain(str(answer))))


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKD", text.casefold())
    return " ".join(re.findall(r"\w+", "".join(one for one in folded if not unicodedata.combining(one))))
