"""Rows of tables as records that carry their heads: `Year: 1994; Deaths: 412`."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

MAX_ROWS = 20_000
"""Rows of one table that are read."""

_TOLD_MARK = re.compile(r"\ufeff?sep=(.)\r?\n", re.I)
_HEAD_WITHIN = 12  # rows at the top in which the head is looked for: titles and remarks stand above it


def read_table(text: str, *, tabs: bool = False) -> str | None:
    """Write a CSV or TSV file as records; None when its lines are no rows of one table."""
    told = _TOLD_MARK.match(text)
    text = text[told.end() :] if told else text
    parted = [_parted(text, mark) for mark in (told[1] if told else "\t" if tabs else "\t;,|")]
    rows = max((rows for rows in parted if _is_even(rows)), key=lambda rows: max(map(len, rows)), default=None)
    return "\n".join(records(rows)) if rows else None


def _parted(text: str, mark: str) -> list[list[str]]:
    found = islice(csv.reader(io.StringIO(text), delimiter=mark), MAX_ROWS + 1)
    try:
        return [[" ".join(cell.split()) for cell in row] for row in found]
    except csv.Error:  # a field without an end
        return []


def _is_even(rows: Sequence[Sequence[str]]) -> bool:
    """Tell rows of one table: two or more, nearly all with the same number of cells."""
    widths = Counter(len(row) for row in rows[_first_row(rows) :] if any(row))
    usual, times = widths.most_common(1)[0] if widths else (0, 0)
    return usual > 1 and times > 1 and times >= 0.9 * widths.total()


def is_table(text: str) -> bool:
    """Tell lines that are rows of one table with a head, whatever the file is called: three or more, all alike."""
    lines = [line for line in text[:20_000].split("\n")[:-1] if line.strip()][:50]
    if len(lines) < 3 or max(map(len, lines)) > 2_000:
        return False
    return any(
        (count := lines[0].count(mark)) >= 2 and all(line.count(mark) == count for line in lines) for mark in "\t;|"
    )


def records(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Write each row with the heads of its cells. Empty cells are left out; lines above the heads stay lines."""
    rows = [list(row) for row in rows if any(row)]
    first = _first_row(rows)
    yield from (" ".join(filter(None, row)) for row in rows[:first])
    rows = rows[first:]
    if not rows:
        return
    head = rows[0]
    if len(rows) < 2 or not all(any(letter.isalpha() for letter in cell) for cell in head if cell):
        yield from (" | ".join(row) for row in rows)  # without heads
        return
    for row in rows[1:]:
        named = [f"{head[at]}: {cell}" if at < len(head) and head[at] else cell for at, cell in enumerate(row) if cell]
        yield "; ".join(named) + "."


def _first_row(rows: Sequence[Sequence[str]]) -> int:
    """Give the place of the row with which a table begins: the first that is as full as most of those below it."""
    filled = [sum(map(bool, row)) for row in rows[: 4 * _HEAD_WITHIN]]
    if max(filled, default=0) < 2:
        return 0
    return next((at for at, count in enumerate(filled[:_HEAD_WITHIN]) if count > 1), 0)
