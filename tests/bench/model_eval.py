"""A named model over the first questions of a labelled set: the offline engine's figures, and what they cost.

    python -m tests.bench.model_eval DATA --rows FILE [--limit 20] [--model NAME] [--base URL] [--tokens N] [--offline]

Each question is a run of its own, one after the other; its row is kept in FILE at once, and a row that is there is not
paid again. The local model of the evaluation machine (`http://127.0.0.1:18080/v1`) is the default.
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from agents.contracts.report import ReportDocument
from agents.core.errors import ConfigError, DossierError
from agents.core.settings import Settings, load
from agents.verify.checks import carried
from tests.eval.citation_sets import Answered, over, researched, row_of, summed
from tests.eval.labelled_sets import Row, Variant, mean, pairs

LOCAL = "http://127.0.0.1:18080/v1"
MINUTES = 5.0
"""Minutes that one question may take: as many as anybody's question has by default."""


def unsupported_claims(report: ReportDocument) -> list[str]:
    """List the claims that are called supported although no quote of theirs carries the whole of them."""
    quotes = {
        quote.fact_id: (quote.text, reference.title) for reference in report.references for quote in reference.quotes
    }
    short = report.language.split("-")[0]
    found = []
    for claim in report.claims:
        if claim.verdict != "supported":
            continue
        held = [quotes[one.fact_id] for one in claim.evidence if one.stance == "supports" and one.fact_id in quotes]
        # A fact that supports a claim and is cited nowhere has no quote in the report: it is looked up by nobody else.
        if held and not any(
            carried(claim.text, [quote], language=short, context=[title]).verdict == "supported"
            for quote, title in held
        ):
            found.append(claim.text)
    return found


def cost_of(answer: Answered, seconds: float) -> Row:
    """Say what a question took, and what went wrong on the way."""
    report = answer.report
    if report is None:
        return {"seconds": round(seconds, 1), "calls": 0, "tokens_in": 0, "tokens_out": 0, "fallbacks": 0}
    actual = report.methodology.actual
    return {
        "seconds": round(seconds, 1),
        "calls": actual.model_calls,
        "tokens_in": actual.tokens_in,
        "tokens_out": actual.tokens_out,
        "fallbacks": sum(one.answers for one in actual.stand_ins),
        "failures": len(report.error_log),
        "grade": report.grade,
        "answers": {one.question: one.status for one in report.answers},
        "claims": {claim.text: claim.verdict for claim in report.claims},
        "unsupported_claims": unsupported_claims(report),
    }


def table(rows: Sequence[Row]) -> Row:
    """Sum rows up: the table of the offline engine, and calls, tokens, seconds, fallbacks and false claims."""
    asked = [row for row in rows if row["calls"]]
    return {
        **summed(rows),
        "calls": mean([row["calls"] for row in asked]),
        "tokens_in": mean([row["tokens_in"] for row in asked]),
        "tokens_out": mean([row["tokens_out"] for row in asked]),
        "seconds": mean([row["seconds"] for row in rows]),
        "fallbacks": sum(row["fallbacks"] for row in rows),
        "complete": sum(row.get("grade") == "complete" for row in rows),
        "complete_without_the_answer": sum(row.get("grade") == "complete" and not row["answer_found"] for row in rows),
        "claims_called_supported": sum(
            verdict == "supported" for row in rows for verdict in row.get("claims", {}).values()
        ),
        "of_them_not_carried": sum(len(row.get("unsupported_claims", ())) for row in rows),
    }


async def run(
    data: Path, kept: Path, settings: Settings, *, limit: int, budget: int | None = None, minutes: float = MINUTES
) -> Row:
    """Research the first questions of a set, those with a row in `kept` aside.

    Raises:
        BadRequest: there are no questions with a corpus beside them.
        ConfigError: the settings can't be used.
    """
    (pair,) = pairs(data)
    rows = _kept(kept)
    done = {row["id"] for row in rows}
    open_ = [row for row in pair.questions[:limit] if row["id"] not in done]
    async with over(settings, pair.corpus) as team:
        for number, row in enumerate(open_, start=1):
            if budget is not None and sum(one["tokens_in"] + one["tokens_out"] for one in rows) >= budget:
                sys.stderr.write(f"the token budget is used up before question {number} of {len(open_)}\n")
                break
            began = time.perf_counter()
            (answer,) = await researched(team, [str(row["question"])], Variant(), minutes=minutes)
            report = answer.report
            made = {**row_of(pair.name, row, answer), **cost_of(answer, time.perf_counter() - began)}
            rows.append({**made, "markdown": report.markdown if report else ""})
            _keep(kept, rows[-1])
            sys.stderr.write(
                f"{number}/{len(open_)} {made['seconds']} s, {made['calls']} calls, cited {made['gold_cited']} of "
                f"{len(made['gold'])} in {len(made['cited'])}, {made.get('grade', made['problem'])}: {row['question']}\n"
            )
    return table(rows)


def _kept(file: Path) -> list[Row]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.exists() else []


def _keep(file: Path, row: Row) -> None:
    with file.open("a", encoding="utf-8") as out:
        out.write(json.dumps(row, ensure_ascii=False) + "\n")


def main() -> int:
    """Read the command line, run, print the table."""
    parser = argparse.ArgumentParser(description="A named model over the first questions of a labelled set.")
    parser.add_argument("data", type=Path)
    parser.add_argument(
        "--rows", type=Path, required=True, help="JSON lines, one a question; what is there is not paid again"
    )
    parser.add_argument("--limit", type=int, default=20)
    parser.add_argument("--model", default="openai/local")
    parser.add_argument("--base", default=LOCAL)
    parser.add_argument("--tokens", type=int, default=None, help="stop once so many tokens are used")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="time of one question")
    parser.add_argument("--offline", action="store_true", help="the offline engine, for the figures beside it")
    given = parser.parse_args()
    settings = load()
    if not given.offline:
        settings = settings.model_copy(update={"model": given.model, "api_base": given.base})
    try:
        figures = asyncio.run(
            run(given.data, given.rows, settings, limit=given.limit, budget=given.tokens, minutes=given.minutes)
        )
    except (DossierError, ConfigError) as error:
        sys.stderr.write(f"{error.notice}\n")
        return 1
    sys.stdout.write(f"{json.dumps(figures)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
