"""Lines of printed pages in the order of reading, and their paragraphs. Pure geometry, in points, up and to the right."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, groupby, pairwise
from statistics import median

from agents.nlp.tokens import UNSPACED
from agents.web.table_rows import placed, records, stripes

_MIN_ROWS = 4  # rows with text on both sides of a gap, from which it parts columns
_MIN_WORDS = 4  # words in the middling row of a column; cells of tables have fewer
_PROSE_WORDS = 7  # words in the middling line of a text that fills its column
_CROSSING = 0.15  # share of rows that may run across the gap: titles, wide tables
_CELL_GAP = 1.5  # heights of a line that part two cells of a table
_TIGHT_GAP = 0.7  # that part them where the cells of the rows above and below stand in the same columns
_WRAPPED = 1.7  # heights of a line from one line of a cell to the next
_NEXT_ROW = 2.6  # heights of a line from one row of a table to the next, at most
_PARAGRAPH_GAP = 1.35  # usual steps between lines, from which a paragraph ends
_KEY_FIGURE = 1.4  # of the usual height of letters, from which a lone number is no page number
_HEAD_ROWS = 2
_HEAD_PAGES = 3
_SAME_HEIGHT = 3.0  # points within which a running head stays at its place

_PAGE_NUMBER = re.compile(
    r"\W*(?:(?:page|p\.?|seite|s\.|página|pagina|sida|стр\.?|第)\s*)?(?:\d{1,4}|[ivxlc]{1,7})(?:\s*(?:/|of|von|de|av|из)\s*\d{1,4})?\W*",
    re.I,
)
FIGURE = re.compile(r"[-−–+(]?\d[\d.,]*[%)]?|[-−–]")
_DIGITS = re.compile(r"\d+")
_ITEM = re.compile(r"[•‣▪◦·●○■*–—-]\s+\S|\(?(?:\d{1,3}|[a-z])[.)]\s+\S")
_MARK = re.compile(r"[•‣▪◦·●○■*–—-]|\(?(?:\d{1,3}|[a-z])[.)]")  # of an item, far from its words
_BULLET = re.compile(r"^[•‣▪◦·●○■*–—-]\s+")
_ENDS = re.compile(r"[.!?:;…。！？؟।][\"'”’»)\]]*$")
_NOT_SPACED = re.compile(f"[{UNSPACED}\u3000-\u303f\uff00-\uffef]")
_NEVER_FIRST = frozenset("°%‰€£$)]”’»,;:/")
_HYPHEN = "-\u2010\u00ad"
_DASH = _HYPHEN + "–"
_OF_COMPOUNDS = {"well", "self", "half", "ill"}


@dataclass(frozen=True)
class Word:
    """Letters without a space between, and their place on the page."""

    text: str
    left: float
    right: float
    bottom: float
    top: float
    ends_line: bool = False
    hyphen: bool = False
    """It is cut by a hyphen at the end of its line, which `text` does not hold."""
    size: float = 0.0
    """Of its letters, in points."""
    baseline: float = 0.0
    after_script: bool = False
    """It ends with raised or lowered characters."""
    font: int = 0
    """Tells words of one font from those of others."""


@dataclass(frozen=True)
class Line:
    """Words side by side in one column; one or more."""

    words: tuple[Word, ...]

    @cached_property
    def left(self) -> float:
        """Give where it begins."""
        return self.words[0].left

    @cached_property
    def right(self) -> float:
        """Give where it ends."""
        return max(word.right for word in self.words)

    @cached_property
    def bottom(self) -> float:
        """Give its lower edge, of the most usual word."""
        return median(word.bottom for word in self.words)

    @cached_property
    def height(self) -> float:
        """Give the height of its letters, at least one point."""
        return max(1.0, median(word.top - word.bottom for word in self.words))

    @cached_property
    def cells(self) -> tuple["Line", ...]:
        """Give its words, parted where the space between them is as wide as between columns of a table."""
        return self.parted(_CELL_GAP)

    def parted(self, gap: float) -> tuple["Line", ...]:
        """Give its words, parted at spaces that are wider than so many heights of its letters."""
        wide = (
            at
            for at, (one, other) in enumerate(pairwise(self.words), start=1)
            if other.left - one.right > gap * self.height
        )
        return tuple(Line(self.words[start:end]) for start, end in pairwise([0, *wide, len(self.words)]))

    def text(self) -> str:
        """Give its words with single spaces."""
        return " ".join(word.text for word in self.words)


def lines_of(words: Sequence[Word]) -> list[Line]:
    """Give the lines of a page in the order of reading: columns one after the other, where there are columns."""
    breaks = [at for at, word in enumerate(words, start=1) if word.ends_line or word.hyphen or at == len(words)]
    return _joined_rows(_in_columns([Line(tuple(words[start:end])) for start, end in pairwise([0, *breaks])]))


def _joined_rows(lines: list[Line]) -> list[Line]:
    """Join cells of one row that are drawn one after the other, as tables are whose cells hold several lines."""
    joined: list[Line] = []
    for line in lines:
        for at in range(len(joined) - 1, max(-1, len(joined) - 2 * _MIN_ROWS), -1):
            other = joined[at]
            is_figures = all(map(FIGURE.fullmatch, (word.text for word in line.words)))
            is_other_short = len(other.words) < _MIN_WORDS or len(other.cells) > 1
            is_short = len(line.words) < _MIN_WORDS and (is_other_short or is_figures)
            is_beside = other.right < line.left and abs(other.bottom - line.bottom) < 0.3 * line.height
            if is_short and is_beside:
                joined[at] = Line(other.words + line.words)
                break
        else:
            # Heads at half the height of those beside them are drawn first.
            before = joined[-1] if joined else line
            rise, gap = (line.bottom - before.bottom) / line.height, (line.left - before.right) / line.height
            joined.insert(len(joined) - (0.3 < rise < 1.5 and gap > _CELL_GAP), line)
    return joined


def without_heads(pages: Sequence[list[Line]]) -> list[list[Line]]:
    """Drop running heads and page numbers, but never all of a page.

    Heads stand at the same edge of three pages or more with the same words, whatever their figures.
    """
    by_height = [sorted(page, key=lambda line: -line.bottom) for page in pages]
    edges = [[*page[:_HEAD_ROWS], *page[_HEAD_ROWS:][-_HEAD_ROWS:]] for page in by_height]
    seen = Counter(key for page in edges for key in {_key(line) for line in page})
    kept = []
    for page, edge in zip(pages, edges, strict=True):
        usual = median(line.height for line in page) if page else 0.0
        heads = set[int]()
        for line in edge:
            text, height = _key(line)
            is_outer = any(abs(line.bottom - one.bottom) < _SAME_HEIGHT for one in (edge[0], edge[-1]))
            is_number = is_outer and _PAGE_NUMBER.fullmatch(line.text()) and line.height <= _KEY_FIGURE * usual
            is_repeated = sum(seen[text, height + off] for off in (-1, 0, 1)) >= _HEAD_PAGES
            if is_number or is_repeated:
                heads.add(id(line))
        kept.append([line for line in page if id(line) not in heads - _tabled(page)] or page)
    return kept


def _tabled(page: Sequence[Line]) -> set[int]:
    """Give the lines that have a row of as many cells right below or above them: the head of a table on every page."""
    rows = [(line, len(line.parted(_TIGHT_GAP))) for line in sorted(page, key=lambda line: -line.bottom)]
    return {
        id(one)
        for (above, cells), (below, others) in pairwise(rows)
        if cells == others > 1 and above.bottom - below.bottom < _NEXT_ROW * above.height
        for one in (above, below)
    }


def _key(line: Line) -> tuple[str, int]:
    return _DIGITS.sub("#", line.text()).casefold(), round(line.bottom / _SAME_HEIGHT)


def _in_columns(lines: list[Line], depth: int = 2) -> list[Line]:
    gap = _gap(lines) if depth else None
    if gap is None:
        return lines
    ordered, left, right = list[Line](), list[Line](), list[Line]()
    for line in sorted(_split(lines, gap), key=lambda one: -one.bottom):
        if line.right <= gap:
            left.append(line)
        elif line.left >= gap:
            right.append(line)
        else:
            ordered += [*_in_columns(left, depth - 1), *_in_columns(right, depth - 1), line]
            left, right = [], []
    return [*ordered, *_in_columns(left, depth - 1), *_in_columns(right, depth - 1)]


def _gap(lines: Sequence[Line]) -> float | None:
    """Find the middle of an upright stripe without text that parts two columns of prose; None when there is none."""
    runs = [run for line in lines for run in _runs(line)]
    if len(runs) < 2 * _MIN_ROWS:
        return None
    left, right = min(run[0] for run in runs), max(run[1] for run in runs)
    height = median(line.height for line in lines)
    changes = [0] * (int(right) - int(left) + 3)
    for begin, end, _ in runs:
        changes[int(begin) - int(left)] += 1
        changes[int(end) - int(left) + 1] -= 1
    crossing = list(accumulate(changes))
    inner = range(int(0.2 * (right - left)), int(0.8 * (right - left)) + 1)
    free = groupby(inner, lambda at: crossing[at] <= _CROSSING * len(runs))
    stretches = [list(found) for is_free, found in free if is_free]
    best = max(stretches, key=len, default=[0])
    if best[-1] - best[0] < 0.7 * height:
        return None
    middle = int(left) + (best[0] + best[-1]) / 2
    before = [words for begin, end, words in runs if end <= middle]
    after = [words for begin, end, words in runs if begin >= middle]
    if min(len(before), len(after)) < _MIN_ROWS or min(median(before), median(after)) < _MIN_WORDS:
        return None
    return middle


def _runs(line: Line) -> Iterator[tuple[float, float, int]]:
    """Give the stretches of a line between wide spaces: where they begin and end, and how many words they hold."""
    begin, end, words = line.words[0].left, line.words[0].right, 1
    for word in line.words[1:]:
        if word.left - end > 0.7 * line.height or word.left < begin:
            yield begin, end, words
            begin, words = word.left, 0
        end, words = word.right, words + 1
    yield begin, end, words


def _split(lines: Sequence[Line], gap: float) -> Iterator[Line]:
    """Cut lines at the gap, unless a word stands in it or the space there is an ordinary one."""
    for line in lines:
        at = next((at for at, word in enumerate(line.words) if word.left >= gap), 0)
        if at and all(word.right <= gap for word in line.words[:at]):
            yield Line(line.words[:at])
            yield Line(line.words[at:])
        else:
            yield line


class Flow:
    """Paragraphs made of lines, page after page, with the place of each page in the text."""

    def __init__(self, hyphenated: frozenset[str] = frozenset()) -> None:
        self._hyphenated = hyphenated
        self._parts: list[str] = []
        self._tail = ""  # the last letters of what was written
        self.size = 0
        """Characters written so far."""
        self.pages: list[tuple[int, int]] = []
        """Where each page stands: start and end."""

    @property
    def text(self) -> str:
        """Give what was written so far."""
        return "".join(self._parts)

    def add(self, lines: Sequence[Line], width: float) -> None:
        """Write a page."""
        places: list[int] = []
        steps = [step for above, below in pairwise(lines) if (step := above.bottom - below.bottom) > 0]
        usual = median(steps) if steps else 0.0
        edges = _right_edges(lines, width)
        rows = _rows(lines)
        before: Line | None = None
        was_row = False
        for at, line in enumerate(lines):
            is_row = at in rows
            if not is_row or rows[at]:
                joint = self._joint(before, line, usual, edges[at])
                if is_row or was_row:
                    joint = "\n" if is_row and was_row else "\n\n" * bool(self.size)
                written = rows[at] if is_row else _BULLET.sub("- ", line.text())
                places.append(self._put(joint, written + "-" * line.words[-1].hyphen))
            before, was_row = line, is_row
        self.pages.append((places[0] if places else self.size, self.size))

    def _joint(self, before: Line | None, line: Line, usual: float, edge: float) -> str:
        """Choose what stands between two lines; a backspace takes the hyphen at the end of the text away."""
        if not self.size:
            return ""
        text = line.text()
        ended = bool(_ENDS.search(self._tail))
        is_cut = self._tail[-1:] in _DASH and self._tail[-2:-1].isalnum()
        runs_on = not ended and (is_cut or text[:1].islower() or text[:1] in _NEVER_FIRST)
        if before is None:
            return self._seam(line) if runs_on else "\n\n"
        step = before.bottom - line.bottom
        if before.words[-1].hyphen or (abs(step) < 0.3 * line.height and line.left >= before.right):
            return self._seam(line)
        if step <= 0:  # the next column
            return self._seam(line) if runs_on else "\n\n"
        if abs(before.height - line.height) > 0.15 * before.height or step > max(_PARAGRAPH_GAP * usual, 2):
            return self._seam(line) if runs_on and step < 2 * usual else "\n\n"
        if _ITEM.match(text):
            return "\n"
        if ended and line.left > before.left + line.height:
            return "\n\n"
        first = line.words[0]
        fits = edge - before.right > first.right - first.left + line.height  # the line was ended before it was full
        if fits and not runs_on and not text[:1].islower():
            return "\n\n" if ended else "\n"
        return self._seam(line)

    def _seam(self, line: Line) -> str:
        """Choose what joins a line to the one before it in a paragraph."""
        if self._tail[-1:] in _DASH and self._tail[-2:-1].isalnum():
            return "\b" if self._is_cut(line) else ""
        if _NOT_SPACED.match(self._tail[-1]) and _NOT_SPACED.match(line.text()):
            return ""
        return " "

    def _is_cut(self, line: Line) -> bool:
        """Tell whether the hyphen at the end of the text was put there by the end of the line."""
        first, last = line.words[0].text, self._tail.rsplit(None, 1)[-1][:-1]
        if not first[:1].islower() or not last[-1:].islower() or self._tail[-1] == "–":
            return False
        if last.casefold() in _OF_COMPOUNDS and len(first.strip(".,;:()")) > 4:
            return False  # well-known, not wellness
        return f"{last}-{first}".strip(".,;:()").casefold() not in self._hyphenated

    def _put(self, joint: str, written: str) -> int:
        if joint == "\b":
            self._parts[-1] = self._parts[-1][:-1]
            self.size -= 1
            joint = ""
        start = self.size + len(joint)
        self._parts.append(joint + written)
        self.size = start + len(written)
        self._tail = (self._tail + joint + written)[-80:]
        return start


def _rows(lines: Sequence[Line]) -> dict[int, str]:
    """Write tables as records, each in the place of its first line; its other lines are empty.

    A table is two rows or more, one below the other, in which wide spaces part the words. Cells stand in the columns of
    their whole table, so that an empty one moves no value under another head.
    """
    written: dict[int, str] = {}
    for rows in (one for one in _tables(lines) if one and not _is_prose(lines, one)):
        tight = {row[0]: lines[row[0]].parted(_TIGHT_GAP) for row in rows}
        first, *others = tight.values()
        whole = others if len(first) < max(map(len, others), default=0) else [first, *others]
        wrapped = (lines[at] for row in rows for at in row[1:])
        columns = stripes((cell.left, cell.right) for cell in (*_without_spanning(whole), *wrapped))
        is_wide = any(len(lines[at].cells) > 1 for at in tight)
        if len(rows) >= (2 if is_wide else 3) and len(columns) >= max(map(len, tight.values())):
            cells = [[*tight[at], *(lines[one] for one in more)] for at, *more in rows]
            edged = ([(one.left, one.right, one.text()) for one in row] for row in cells)
            table = [placed(row, columns, heads=not at) for at, row in enumerate(edged)]
            written |= dict.fromkeys(chain(*rows), "") | {rows[0][0]: "\n".join(records(table))}
    return written


def _is_prose(lines: Sequence[Line], rows: Sequence[Sequence[int]]) -> bool:
    """Tell a narrow column with wide spaces and no figures: the line beside it reaches from edge to edge as well."""
    first, last = rows[0][0], rows[-1][-1]
    near = [pair for pair in (lines[max(0, first - 1) : first + 1], lines[last : last + 2]) if len(pair) == 2]
    is_wide = any(
        abs(a.left - b.left) + abs(a.right - b.right) < 1 and a.bottom - b.bottom < _WRAPPED * a.height for a, b in near
    )
    return is_wide and not any(_DIGITS.search(line.text()) for line in lines[first : last + 1])


def _without_spanning(table: Sequence[Sequence[Line]]) -> list[Line]:
    """Leave out cells that stand over several cells of another row, such as a head over several columns."""
    return [
        cell
        for cell in chain(*table)
        if all(sum(cell.left <= one.right and cell.right >= one.left for one in row) < 2 for row in table)
    ]


def _tables(lines: Sequence[Line]) -> Iterator[list[list[int]]]:
    """Give lines that may be rows of one table, each with those that go on with one of its cells."""
    rows: list[list[int]] = []
    for at, line in enumerate(lines):
        cells = line.parted(_TIGHT_GAP)
        if len(cells) > (2 if _MARK.fullmatch(cells[0].text()) else 1):
            rows.append([at])
        elif rows and _is_wrapped(lines, rows[-1][0], at):
            rows[-1].append(at)
        elif rows and _names_rows(lines, rows[-1][0], at):
            rows.append([at])
        else:
            yield rows
            rows = []
    yield rows


def _is_wrapped(lines: Sequence[Line], row: int, at: int) -> bool:
    """Tell a line that goes on with a cell of a row: under its left edge, and nearer to it than rows are to one another."""
    line, cells = lines[at], lines[row].parted(_TIGHT_GAP)
    step = lines[at - 1].bottom - line.bottom
    under = next((n for n, cell in enumerate(cells) if abs(cell.left - line.left) < line.height / 2), None)
    if under is None and 0 < cells[0].left - line.left < 1.5 * line.height:
        under = 0  # the first line of the cell is indented
    if under is None or not 0 < step <= _WRAPPED * line.height:
        return False
    row_below = next((n for n, one in enumerate(lines[at + 1 : at + 5], at + 1) if len(one.parted(_TIGHT_GAP)) > 1), 0)
    return step < 0.95 * (lines[row_below - 1].bottom - lines[row_below].bottom) if row_below else under > 0


def _names_rows(lines: Sequence[Line], row: int, at: int) -> bool:
    """Tell a line that names the rows below it: where their first cells begin, and between rows of figures."""
    above, line, below = lines[row], lines[at], lines[at + 1] if at + 1 < len(lines) else lines[at]
    is_first = line.right < above.right and max(abs(line.left - one.left) for one in (above, below)) < 2 * line.height
    steps = [one.bottom - other.bottom for one, other in pairwise((above, line, below))]
    is_near = all(0 < step < _NEXT_ROW * line.height for step in steps)
    return is_first and is_near and len(below.cells) > 1 and any(FIGURE.fullmatch(word.text) for word in below.words)


def _right_edges(lines: Sequence[Line], width: float) -> list[float]:
    """Give for each line how far a full line of its column reaches.

    Short lines in a single column could go on to the mirror image of their left margin.
    """
    columns: list[list[Line]] = [[]]
    for line in lines:
        if columns[-1] and line.bottom >= columns[-1][-1].bottom + line.height:
            columns.append([])
        columns[-1].append(line)
    edges = [max((line.right for line in column), default=0.0) for column in columns]
    if len(columns) == 1 and lines and median(len(line.words) for line in lines) < _PROSE_WORDS:
        edges = [max(edges[0], width - min(line.left for line in lines))]
    return [edge for edge, column in zip(edges, columns, strict=True) for _ in column]
