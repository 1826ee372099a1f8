"""Citation form of whole reports: numbers that are not in the list, entries that nothing cites, addresses listed twice.

Reports are rows with an `article` (a peer's), report documents as `--json` writes them, Markdown files, or a folder of
these. Rows with a `question` are researched first, so that our own reports are looked at. The summary counts reports in
which a fault occurs; the rows say how often.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from agents.contracts.report import ReportDocument
from agents.core.errors import BadRequest
from agents.core.settings import Settings
from agents.evaluation.findcite_set import over, pairs, researched
from agents.evaluation.labelled_sets import Row, Variant, load
from agents.report.cut_sentences import URL, find_marks, is_reference_heading, trimmed_url
from agents.team import open_team
from agents.web.url_key import canonical


def split_references(markdown: str) -> tuple[str, str]:
    """Part the text from a reference list at its end: from a line that is only the name of such a list, to the end."""
    lines = markdown.split("\n")
    for number, line in enumerate(lines):
        if is_reference_heading(line):
            return "\n".join(lines[:number]).rstrip(), "\n".join(lines[number:])
    return markdown, ""


ENTRY = re.compile(r"^\s*(?:[-*]\s+)?(?:\[(\d{1,4})\]|(\d{1,4})[.)])\s*:?\s*(.*)$")


FAULTS = ("unknown", "uncited", "duplicates")
FEWEST_ENTRIES = 3
"""Numbered lines with addresses at the end that make a list where no heading names one."""


async def run(path: Path, settings: Settings, variant: Variant) -> tuple[list[Row], Row]:
    """Look at every report.

    Raises:
        BadRequest: there are no reports and no questions.
        ConfigError: the settings can't be used.
    """
    rows: list[Row] = []
    for file in _files(path):
        rows += await _reports(file, settings, variant) if file.suffix == ".jsonl" else _single(file)
    rows = rows[: variant.limit]
    return rows, {"n": len(rows), **{fault: sum(bool(row[fault]) for row in rows) for fault in FAULTS}}


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(one for one in path.iterdir() if one.suffix in {".json", ".jsonl", ".md"})
    if not files:
        raise BadRequest(f"{path} holds no reports (.json, .jsonl, .md).")
    return files


def _single(file: Path) -> list[Row]:
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"{file} can't be read: {error}.") from error
    if file.suffix != ".json":
        return [{"report": file.name, **of_markdown(text)}]
    try:
        return [{"report": file.name, **of_document(ReportDocument.model_validate_json(text))}]
    except ValidationError as error:
        raise BadRequest(f"{file} is no report document: {error.errors()[0]['msg']}.") from error


async def _reports(file: Path, settings: Settings, variant: Variant) -> list[Row]:
    data = load(file, ())[: variant.limit]
    if "article" in data[0]:
        return [{"report": str(row.get("id", "")), **of_markdown(str(row.get("article", "")))} for row in data]
    if "question" not in data[0]:
        raise BadRequest(f"{file} holds neither reports (article) nor questions (question).")
    questions = [str(row["question"]) for row in data]
    if "gold" in data[0]:
        async with over(variant.settings(settings), pairs(file)[0].corpus) as team:
            answers = await researched(team, questions, variant)
    else:
        team = open_team(variant.settings(settings))
        try:
            answers = await researched(team, questions, variant)
        finally:
            await team.close()
    return [{"report": answer.report.job_id, **of_document(answer.report)} for answer in answers if answer.report]


def of_document(report: ReportDocument) -> Row:
    """Count the faults of one of our reports: its text against its own list."""
    body, _ = split_references(report.markdown)
    listed = [reference.n for reference in report.references]
    return _counted(_cited(body), listed, [reference.url for reference in report.references])


def of_markdown(markdown: str) -> Row:
    """Count the faults of a report that is only text."""
    body, section = split_references(markdown)
    if not section:
        body, section = _tail(markdown)
    lines = section.split("\n")[1:]
    end = next((at for at, line in enumerate(lines) if line.startswith("#")), len(lines))
    entries = [match for line in lines[:end] if (match := ENTRY.match(line))]
    urls = [trimmed_url(found[0]) for entry in entries for found in URL.finditer(entry[3])]
    return _counted(_cited(body), [int(entry[1] or entry[2]) for entry in entries], urls)


def _tail(markdown: str) -> tuple[str, str]:
    """Find a list without a heading: numbered lines with addresses that only blank lines part, at the end."""
    lines = markdown.rstrip().split("\n")
    first = len(lines)
    for at in range(len(lines) - 1, -1, -1):
        entry = ENTRY.match(lines[at])
        if entry and URL.search(entry[3]):
            first = at
        elif lines[at].strip(" -*_"):
            break
    entries = sum(bool(ENTRY.match(line)) for line in lines[first:])
    if entries < FEWEST_ENTRIES:
        return markdown, ""
    return "\n".join(lines[:first]), "\n".join(["", *lines[first:]])


def _cited(body: str) -> list[int]:
    return list(
        dict.fromkeys(number for line in body.split("\n") for mark in find_marks(line) for number in mark.numbers)
    )


def _counted(cited: Sequence[int], listed: Sequence[int], urls: Sequence[str]) -> Row:
    keys = [canonical(url) for url in urls]
    return {
        "cited": len(cited),
        "listed": len(listed),
        "unknown": len([number for number in cited if number not in listed]) if listed else 0,
        "uncited": len([number for number in dict.fromkeys(listed) if number not in cited]),
        "duplicates": len(keys) - len(set(keys)),
        "no_list": not listed and bool(cited),
    }
