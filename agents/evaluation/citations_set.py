"""Citation form of whole reports: numbers that are not in the list, entries that nothing cites, addresses listed twice.

Reports are rows with an `article` (a peer's), report documents as `--json` writes them, Markdown files, or a folder of
these. Rows with a `question` are researched first, so that our own reports are looked at. The summary counts reports in
which a fault occurs; the rows say how often.

Reports of others that cite by number: their text and their list, and parts merged into one.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from agents.contracts.frozen import Frozen
from agents.contracts.report import ReportDocument
from agents.core.errors import BadRequest
from agents.core.settings import Settings
from agents.evaluation.findcite_set import over, pairs, researched
from agents.evaluation.labelled_sets import Row, load
from agents.evaluation.variant import Variant
from agents.report.cut_sentences import URL, Mark, find_marks, is_reference_heading, trimmed_url
from agents.team import open_team
from agents.web.url_key import canonical


class Statement(Frozen):
    """A stretch of text up to its marks, with what they came to."""

    text: str
    urls: tuple[int, ...] = ()
    """Places in `Merged.references`, counted from 0."""
    dangling: tuple[int, ...] = ()
    """Numbers as written that no entry of the part's list has."""
    ambiguous: tuple[int, ...] = ()
    """Numbers as written that more than one entry has."""


class Merged(Frozen):
    """Several parts as one text with one list."""

    markdown: str
    statements: tuple[Statement, ...]
    references: tuple[str, ...]
    """Addresses in order of first use; number n of the text is at place n - 1."""
    not_listed: tuple[str, ...]
    """Addresses that a part listed and no part cites."""


def split_references(markdown: str) -> tuple[str, str]:
    """Part the text from a reference list at its end: from a line that is only the name of such a list, to the end."""
    lines = markdown.split("\n")
    for number, line in enumerate(lines):
        if is_reference_heading(line):
            return "\n".join(lines[:number]).rstrip(), "\n".join(lines[number:])
    return markdown, ""


_CONJUNCTION = re.compile(r"^(?:and|but|while|whereas|und|aber|während|et|mais|y|pero)\s+", re.IGNORECASE)
_ENTRY = re.compile(r"^\s*(?:[-*]\s+)?(?:\[(\d{1,4})\]|(\d{1,4})[.)])\s*:?\s*(.*)$")


def merge_parts(parts: Sequence[str]) -> Merged:
    """Join parts that each cite by their own numbers and end with their own list.

    Every statement keeps its addresses; numbers run from 1 in order of first use. A number that the part's list does
    not have, or has twice for different pages, is reported and dropped: guessing would tie a statement to a page that
    it was not read on.
    """
    references: dict[str, int] = {}
    listed: dict[str, None] = {}
    ambiguous: set[str] = set()
    statements: list[Statement] = []
    texts: list[str] = []
    for part in parts:
        body, section = split_references(part)
        own = _own_list(section)
        listed.update(dict.fromkeys(url for urls in own.values() for url in urls))
        seen = len(statements)
        lines = []
        for line in body.split("\n"):
            merged, found = _merged_line(line, own, references)
            lines.append(merged)
            statements.extend(found)
        ambiguous.update(url for found in statements[seen:] for number in found.ambiguous for url in own[number])
        texts.append("\n".join(lines).strip())
    return Merged(
        markdown="\n\n".join(text for text in texts if text),
        statements=tuple(statements),
        references=tuple(references),
        not_listed=tuple(url for url in listed if url not in references and url not in ambiguous),
    )


def _own_list(section: str) -> dict[int, list[str]]:
    own: dict[int, list[str]] = {}
    for line in section.split("\n"):
        entry, url = _ENTRY.match(line), URL.search(line)
        if entry and url:
            key = canonical(trimmed_url(url[0]))
            urls = own.setdefault(int(entry[1] or entry[2]), [])
            if key not in urls:
                urls.append(key)
    return own


def _merged_line(line: str, own: dict[int, list[str]], references: dict[str, int]) -> tuple[str, list[Statement]]:
    found: list[Statement] = []
    out, last = "", 0
    for group in _runs(line):
        numbers = dict.fromkeys(number for mark in group for number in mark.numbers)
        places: dict[int, None] = {}
        for number in numbers:
            if len(own.get(number, ())) == 1:
                places[references.setdefault(own[number][0], len(references))] = None
        text = line[last : group[0].start]
        found.append(
            Statement(
                text=_CONJUNCTION.sub("", re.split(r"(?<=[.!?。])\s+", text.strip(" .,;:"))[-1].strip()),
                urls=tuple(sorted(places)),
                dangling=tuple(number for number in numbers if number not in own),
                ambiguous=tuple(number for number in numbers if len(own.get(number, ())) > 1),
            )
        )
        cited = "".join(f"[{place + 1}]" for place in sorted(places))
        out += text if cited else text.rstrip()
        out, last = out + cited, group[-1].end
    return out + line[last:], found


def _runs(line: str) -> list[list[Mark]]:
    """Group marks that stand side by side."""
    groups: list[list[Mark]] = []
    for mark in find_marks(line):
        if groups and not line[groups[-1][-1].end : mark.start].strip(" ,"):
            groups[-1].append(mark)
        else:
            groups.append([mark])
    return groups


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
    entries = [match for line in lines[:end] if (match := _ENTRY.match(line))]
    urls = [trimmed_url(found[0]) for entry in entries for found in URL.finditer(entry[3])]
    return _counted(_cited(body), [int(entry[1] or entry[2]) for entry in entries], urls)


def _tail(markdown: str) -> tuple[str, str]:
    """Find a list without a heading: numbered lines with addresses that only blank lines part, at the end."""
    lines = markdown.rstrip().split("\n")
    first = len(lines)
    for at in range(len(lines) - 1, -1, -1):
        entry = _ENTRY.match(lines[at])
        if entry and URL.search(entry[3]):
            first = at
        elif lines[at].strip(" -*_"):
            break
    entries = sum(bool(_ENTRY.match(line)) for line in lines[first:])
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
