"""Questions after a report: answered from its own facts where they hold an answer, else the start of a new scoping."""

import re

from agents.contracts.report import ReportDocument
from agents.report.escaping import link
from agents.team import Team

MORE = (
    "*From the quotes of the report above; nothing was searched. For new research, send `/research` and the question.*"
)
NOTHING_THERE = "The report above holds no answer to that. This would be new research:"
_NUMBER = re.compile(r"(?<!\\)\[(\d+)\](?!\()")


async def from_report(team: Team, job_id: str, question: str) -> str | None:
    """Answer `question` as Markdown out of the report of `job_id`; empty where it holds no answer, None without report.

    Every citation opens the quote that carries its sentence.

    Raises:
        BadRequest: the question is empty or far too long.
    """
    document = await team.shelf.report(job_id)
    if document is None or not document.references:
        return None
    answer = await team.follow_up(document, question)
    return f"{_linked(answer.markdown, document, answer.facts)}\n\n{MORE}" if answer.enough else ""


def _linked(markdown: str, document: ReportDocument, facts: tuple[str, ...]) -> str:
    opens: dict[int, str] = {}
    for reference in document.references:
        for quote in reference.quotes:
            if quote.fact_id in facts:
                opens.setdefault(reference.n, quote.fact_id)

    def one(match: re.Match[str]) -> str:
        fact = opens.get(int(match[1]))
        if fact is None:
            return match[0]
        return link(rf"\[{match[1]}\]", f"/research/jobs/{document.job_id}/quote/{fact}#quote")

    return _NUMBER.sub(one, markdown)
