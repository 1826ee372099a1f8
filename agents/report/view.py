"""What a reader meets around the text of a report, the same in every format: title, grade, figures, references."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Literal

from agents.contracts import body as b
from agents.contracts.report import ReportDocument
from agents.report.escaping import cleaned, escape_text
from agents.report.methodology import duration, money
from agents.report.references import (
    Citations,
    Part,
    first_citations,
    reference_list,
)
from agents.report.wording import direction, wording
from agents.report.write_markdown import document_markdown

Way = Literal["ltr", "rtl"]
_NARROW = 90
"""Characters of a table's longest cells that stand side by side on a page."""
_UNPRINTABLE = re.compile("[\\ud800-\\udfff\\ufffe\\uffff\\ufdd0-\\ufdef]")


class View:
    """A whole report, ready to be set: every text on one line and printable."""

    def __init__(self, document: ReportDocument) -> None:
        self.words = words = wording(document.language)
        self.title, self.question = line_of(document.title), line_of(document.question)
        self.grade, self.grade_label = document.grade, words.grades[document.grade]
        self.reasons = tuple(map(line_of, document.grade_reasons))
        self.language, self.job_id = document.language, document.job_id
        self.way: Way = "rtl" if direction(document.language) == "rtl" else "ltr"
        actual = document.methodology.actual
        days = (_day(text) for text in (actual.started_at, *(one.accessed for one in document.references)))
        self.day = max(filter(None, days), default=None)
        """On which it was written, as far as the document tells: the latest on which a source was read, or the job began."""
        figures = [*([self.day.isoformat()] if self.day else [])]
        figures.append(f"{words.figures['sources']}: {document.methodology.sources_read}")
        if actual.seconds is not None:
            figures.append(f"{words.figures['time']}: {duration(actual.seconds, words)}")
        cost = words.unknown if actual.cost_usd is None else money(actual.cost_usd, words)
        self.figures = " · ".join([*figures, f"{words.figures['cost']}: {cost}"])
        listed = reference_list(document.references, words, back=first_citations(document.body, document.references))
        blocks = (listed if isinstance(block, b.ReferenceList) else block for block in document.body.blocks)
        self.body = b.Body(blocks=tuple(blocks))
        self.citations = Citations(document.references)

    def parts(self, sentences: Sequence[b.Sentence]) -> Iterator[Part]:
        """Walk over a line: words, citations, and what a check found."""
        return self.citations.parts(sentences, self.words)


def _day(text: str | None) -> date | None:
    try:
        return date.fromisoformat((text or "")[:10])
    except ValueError:
        return None


def column_shares(table: b.Table) -> tuple[float, ...]:
    """Give each column the share of the width that its words need; empty for a table that is narrow anyway."""
    rows = ([cell.text for cell in row] for row in table.rows)
    columns = list(zip(map(b.plain, table.header), *rows, strict=True))
    longest = [max(map(len, column)) for column in columns]
    if sum(longest) <= _NARROW:
        return ()
    # Long cells wrap: their need grows with the root of their length. No word runs into the next column.
    words = [4 + max(len(word) for text in column for word in (text or "–").split()) for column in columns]
    needs = [max(2.5 * most**0.5, word) for most, word in zip(longest, words, strict=True)]
    return tuple(need / sum(needs) for need in needs)


def printable(text: str) -> str:
    """Drop what no file format of ours can hold: control characters, lone surrogates, non-characters."""
    return _UNPRINTABLE.sub("", cleaned(text))


def line_of(text: str) -> str:
    """Write a text on one line."""
    return " ".join(printable(text).split())


def way_of(text: str | b.Line, otherwise: Way = "ltr") -> Way:
    """Give the direction of the first letter that has one."""
    for char in text if isinstance(text, str) else b.plain(text):
        kind = unicodedata.bidirectional(char)
        if kind in {"R", "AL", "L"}:
            return "ltr" if kind == "L" else "rtl"
    return otherwise


def to_markdown(document: ReportDocument) -> str:
    """Write a report as a Markdown file: title, question, date and grade above the text."""
    seen = View(document)
    line = [f"**{escape_text(seen.words.question)}:** {escape_text(seen.question)}"]
    line.append(f"**{escape_text(seen.grade_label)}** · {escape_text(seen.figures)}")
    line += ["\n".join(f"- {escape_text(reason)}" for reason in seen.reasons)] if seen.reasons else []
    text = document_markdown(document.body, document.references, seen.words, marks=True)
    return "\n\n".join([f"# {escape_text(seen.title)}", *line, text]) + "\n"
