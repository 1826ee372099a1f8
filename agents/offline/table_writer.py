"""Tables of sources: rows as facts, readable by their labels, and tables again in the report."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.contracts.fact import NumberedSentence
from agents.contracts.finding import NumberedFact
from agents.offline.shape import cells, is_order, plain
from agents.offline.terms import distinct

MOST_ROWS = 8
_NARROW = 3
"""Columns of a table that is small enough to be shown whole."""
_LABELLED = re.compile(r"^(?P<first>[^:;]{0,80}): (?P<value>[^;]*)(?:; [^:;]{1,80}: [^;]*)+$")
_BETWEEN = "; "


@dataclass(frozen=True)
class Grid:
    """A table as it stands in a source: places of its rows among the sentences, and the labels above them."""

    labels: tuple[str, ...]
    rows: tuple[int, ...]


def grids(sentences: Sequence[NumberedSentence]) -> list[Grid]:
    """Find tables: runs of rows with the same number of cells, the first of which holds labels."""
    found: list[Grid] = []
    at = 0
    while at < len(sentences):
        head = cells(sentences[at].text)
        run = at + 1
        while head and run < len(sentences) and len(cells(sentences[run].text)) == len(head):
            run += 1
        if len(head) >= 2 and run - at >= 3 and not any(is_order(sentences[place].text) for place in range(at, run)):
            found.append(Grid(head, tuple(range(at + 1, run))[:MOST_ROWS]))
        at = max(run, at + 1) if head else at + 1
    return found


def labelled(labels: Sequence[str], row: str) -> str:
    """Write a row so that it can be read alone: `Method: sods; Result: 69 %`."""
    return _BETWEEN.join(
        f"{_safe(label) or '-'}: {_safe(cell) or '-'}" for label, cell in zip(labels, cells(row), strict=True)
    )


def _safe(text: str) -> str:
    return plain(text).replace(":", "").replace(";", ",").strip()


def is_row(fact: NumberedFact) -> bool:
    """Tell a fact that is a row of a table, with its labels."""
    return (
        bool(cells(fact.quote))
        and bool(_LABELLED.match(fact.statement))
        and len(_pairs(fact)) == len(cells(fact.quote))
    )


def _pairs(fact: NumberedFact) -> list[tuple[str, str]]:
    return [(part.partition(": ")[0], part.partition(": ")[2]) for part in fact.statement.split(_BETWEEN)]


def written(
    facts: Sequence[NumberedFact], wanted: frozenset[str], asked: frozenset[str]
) -> list[tuple[NumberedFact, str]]:
    """Write the rows of each table as Markdown, the mark behind each row; with a fact that names the source.

    Args:
        facts: rows of tables.
        wanted: terms that set this section apart; no table without a column that has one. Empty takes all.
        asked: terms of the section's questions; only columns that have one are shown.
    """
    groups: dict[tuple[int, tuple[str, ...]], list[NumberedFact]] = {}
    for fact in facts:
        groups.setdefault((fact.source_number, tuple(label for label, _ in _pairs(fact))), []).append(fact)
    tables: list[tuple[NumberedFact, str]] = []
    for (_, labels), rows in groups.items():
        if len(rows) < 2 or (wanted and not any(wanted & set(distinct(label)) for label in labels)):
            continue
        columns = [
            at for at, label in enumerate(labels) if at == 0 or not wanted or (wanted | asked) & set(distinct(label))
        ]
        if wanted and len(labels) <= _NARROW:
            columns = list(range(len(labels)))
        lines = [_line([labels[at] for at in columns]), "|" + " --- |" * len(columns)]
        for fact in rows:
            row = cells(fact.quote)
            lines.append(_line([row[at] for at in columns], f"[f{fact.number}]"))
        tables.append((rows[0], "\n".join(lines)))
    return tables


def _line(entries: Sequence[str], mark: str = "") -> str:
    return f"| {' | '.join(entries)}{mark} |"
