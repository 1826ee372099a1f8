"""Rows of tables as records that carry their heads: `Year: 1994; Deaths: 412`."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations_with_replacement, groupby, islice, zip_longest

MAX_ROWS = 20_000  # rows of one table that are read
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d(?:\s*[/–-]\s*\d{2,4})?")
_FIGURE = re.compile(r"(?<![^\W\d_])\d")  # m3/s is none
_TOLD_MARK = re.compile(r"\ufeff?sep=(.)\r?\n", re.I)
_QUOTED = re.compile(r'"[^"]*"')
_MOST_COLUMNS = 200
_ENDS = 2.0  # points within which a head ends where its column does
_NAME = 80  # characters of a line over all columns, at most, that names the rows below it
_HEAD_WITHIN = 12  # rows at the top in which the head is looked for: titles and remarks stand above it


def read_table(text: str, *, tabs: bool = False) -> str | None:
    """Write a CSV or TSV file as records; None when its lines are no rows of one table."""
    told = _TOLD_MARK.match(text)
    text = text[told.end() :] if told else text
    parted = [_parted(text, mark) for mark in (told[1] if told else "\t" if tabs else "\t;,|")]
    even = [rows for rows in parted if _is_even(rows)]  # a decimal comma parts no heads
    rows = max(even, key=lambda rows: (sum(len(row) > 1 for row in rows), max(map(len, rows))), default=None)
    return "\n".join(records(rows, is_data=True)) if rows else None


def _parted(text: str, mark: str) -> list[list[str]]:
    lines = text.split("\n")
    # A line of prose above the rows has the mark with a space behind, as none of the rows has.
    bare = [_QUOTED.sub("", line) for line in lines[: _HEAD_WITHIN + 50]]
    first = next((at for at, line in enumerate(bare[:_HEAD_WITHIN]) if mark in line and f"{mark} " not in line), 0)
    first = first if not any(f"{mark} " in line for line in bare[first : first + 50]) else 0
    found = islice(
        csv.reader(io.StringIO("\n".join(lines[first:])), delimiter=mark, skipinitialspace=True), MAX_ROWS + 1
    )
    try:
        return [[line.strip()] for line in lines[:first]] + [[" ".join(cell.split()) for cell in row] for row in found]
    except csv.Error:  # a field without an end
        return []


def _is_even(rows: Sequence[Sequence[str]]) -> bool:
    """Tell rows of one table: two or more, nearly all with the same number of cells."""
    full = [at for at, row in enumerate(rows) if sum(map(bool, row)) > 1]  # remarks stand above and below
    end = full[-1] + 1 if full else 0
    bare = (at for at, row in enumerate(rows[:_HEAD_WITHIN]) if not any(row) and at < end - 2)  # pairs stand above it
    widths = Counter(len(row) for row in rows[max(_first_row(rows), *bare, 0) : end] if any(row))
    usual, times = widths.most_common(1)[0] if widths else (0, 0)
    return usual > 1 and times > 1 and times >= 0.9 * widths.total()


Row = Sequence[str | None]
"""Cells of one row; None where a cell to the left goes on."""


def grid(rows: Sequence[Iterable[tuple[str, int, int]]]) -> list[list[str | None]]:
    """Give the cells of a table by column: text and how many columns and rows each fills. What goes down is repeated."""
    filled: dict[tuple[int, int], str | None] = {}
    for at, row in enumerate(rows):
        column = 0
        for text, wide, high in row:
            while (at, column) in filled:
                column += 1
            for below in range(at, min(len(rows), at + high) if high else len(rows)):
                for beside in range(max(1, min(wide, _MOST_COLUMNS))):
                    filled.setdefault((below, column + beside), None if beside else text)
    widths = Counter(at for at, _ in filled)
    return [[filled.get((at, column), "") for column in range(widths[at])] for at in range(len(rows))]


def records(
    rows: Iterable[Row], *, heads: int | None = None, named: bool = False, is_data: bool = False
) -> Iterator[str]:
    """Write each row of a table with the heads of its cells. Empty cells are left out; lines above the heads stay lines.

    So many rows hold `heads`, None where nothing says so; `named` rows have their name in the first cell; in a file of data
    (`is_data`) the first row holds heads whenever it could.
    """
    parts = list(_parts(list(rows))) if heads is None else [list(rows)]
    for part in parts[:-1]:
        yield from records(part, is_data=is_data)
    rows = [row for row in parts[-1] if any(row)]
    first = _first_row(rows) if heads is None else 0
    yield from (" ".join(filter(None, row)) for row in rows[:first])
    rows = rows[first:]
    if heads is None:
        heads = _count_heads(rows, is_data=is_data)
    head = _joined_heads(rows[:heads])
    group = ""
    for at, row in enumerate(rows[heads:], start=heads + 1):
        is_over_all = len(row) > 1 and all(cell is None for cell in row[1:])
        if row[0] and (is_over_all or len(row) == 1 < len(head)):
            # A line over all columns names the rows below it, or remarks on those above.
            is_short = len(row[0]) <= _NAME and row[0][-1:] not in {".", ":"}
            group = row[0] if is_short and is_over_all and any(head) and at < len(rows) else ""
            if not group:
                yield row[0]
        elif any(head):
            told = [f"{name}: {cell}" if name else cell for name, cell in zip_longest(head, row, fillvalue="") if cell]
            yield "; ".join(filter(None, (group, *told))).removesuffix(".") + "."
        else:
            cells = [cell or "" for cell in row]
            cells = cells[: max((place for place, cell in enumerate(cells, start=1) if cell), default=0)]
            yield f"{cells[0]}: {cells[1]}." if named and len(cells) == 2 else " | ".join(cells)


def _parts(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Part the tables of a sheet: behind an empty row, another one begins with heads of its own."""
    part: list[Row] = []
    for is_full, group in groupby(rows, any):
        block = list(group)
        has_figures = len(block) > 1 and any(_FIGURE.search(cell or "") for cell in block[1])
        is_headed = has_figures and sum(map(bool, block[0])) > 1 and _count_heads(block, is_data=True) > 0
        if is_full and is_headed and any(sum(map(bool, row)) > 1 for row in part):
            yield part
            part = []
        part += block if is_full else []
    yield part


def _joined_heads(rows: Sequence[Row]) -> list[str]:
    """Give the head of each column: those above it from top to bottom, each once."""
    parts: list[dict[str, None]] = [{} for _ in range(max(map(len, rows), default=0))]
    for row in rows:
        last = ""
        for at, cell in enumerate(row):
            last = last if cell is None else cell
            parts[at][last.rstrip(" :")] = None
    return [" – ".join(filter(None, part)) for part in parts]


def _count_heads(rows: Sequence[Row], *, is_data: bool) -> int:
    """Count the rows of heads: of words only, above a column of figures where the table is no file of data.

    A second one stands below heads over several columns, or has nothing of its own in the first column.
    """
    words = [cell for cell in rows[0] if cell and not _YEAR.fullmatch(cell)] if len(rows) > 1 else []
    if len(rows) > 1 and not (words or rows[0][0]) and sum(map(bool, rows[0])) > 1:
        return 1  # years beside an empty corner
    if not words or not all(any(map(str.isalpha, cell)) for cell in words):
        return 0
    first, second = rows[0], rows[1]
    is_below = None in first or second[0] in {"", None, first[0]}
    has_figures = [
        any(_FIGURE.search(cell or "") and not _YEAR.fullmatch(cell or "") for cell in row) for row in rows[1:3]
    ]
    heads = 2 if is_below and has_figures == [False, True] else 1
    if is_data:
        return heads
    below = rows[heads:]
    columns = []
    for at, head in enumerate(first):
        cells = [cell for row in below if at < len(row) and (cell := row[at])]
        is_year = bool(head and _YEAR.fullmatch(head)) and not all(map(_YEAR.fullmatch, cells))
        figures = cells and all(any(map(str.isdigit, cell)) for cell in cells)
        columns.append(bool(figures and (is_year or not any(map(str.isdigit, head or "")))))
    # Of two columns the first row may be as good a pair as those below it.
    return heads if any(columns) and (len(columns) > 2 or columns[0]) else 0


def _first_row(rows: Sequence[Row]) -> int:
    """Give the place of the row with which a table begins: the first of several cells, or with all heads but the first."""
    full = (sum(map(bool, row)) > 1 or 1 < len(row) == 1 + sum(map(bool, row[1:])) for row in rows[:_HEAD_WITHIN])
    return next((at for at, is_full in enumerate(full) if is_full), 0)


def stripes(cells: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Give the upright stripes that cells of one table, each from its left to its right edge, fill together."""
    columns: list[tuple[float, float]] = []
    for left, right in sorted(cells):
        if columns and left <= columns[-1][1]:
            columns[-1] = columns[-1][0], max(columns[-1][1], right)
        else:
            columns.append((left, right))
    return columns


def placed(
    cells: Sequence[tuple[float, float, str]], columns: Sequence[tuple[float, float]], *, heads: bool = False
) -> list[str | None]:
    """Give the words of a row by column, each told with the edges of its cell; None where one stands over this column as well.

    A head that ends nowhere where a column does stands over those whose middle is nearest to its own.
    """
    others = None if len(cells) == 1 and not heads else ""  # one alone names the rows below it
    texts: list[str | None] = [others for _ in columns]
    for begin, end, text in cells:
        over = [n for n, (left, right) in enumerate(columns) if begin <= right and end >= left]
        ends = [min(abs(begin - left), abs(end - right)) for left, right in columns]
        if heads and len(cells) < len(columns) and min(ends) > _ENDS:
            spans = combinations_with_replacement(range(len(columns)), 2)
            a, b = min(spans, key=lambda span: abs(columns[span[0]][0] + columns[span[1]][1] - begin - end))
            over = [*range(a, b + 1)]
        first, *more = over or [len(columns) - 1]
        texts[first] = f"{texts[first] or ''} {text}".strip()
        for n in more:
            texts[n] = texts[n] or None
    return texts
