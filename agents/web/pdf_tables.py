"""Ruled tables of PDF pages: what stands between lines is one cell, also where it goes over several columns or rows."""

from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby, pairwise, product

from agents.web.pdf_layout import FIGURE, Word
from agents.web.table_rows import grid, records

Rule = tuple[float, float, float]
"""A straight line: its place, and from where to where it goes."""

_NEAR = 4.0  # points within which lines are one line, or meet
_MOST_LINES = 300  # of a page; drawings have more
_MOST_CELLS = 3_000
_GAP = 2.0  # heights of a line between words that stand in cells of their own
_LONG = 60  # words in a cell, from which boxes only place text on the page


def with_tables(words: list[Word], levels: Iterable[Rule], posts: Iterable[Rule]) -> list[Word]:
    """Put the records of each ruled table of a page in the place of its words, by level and by upright lines."""
    posts = list(posts)
    level, upright = _lines(levels), _lines(posts)
    if max(len(level), len(upright)) > _MOST_LINES:
        return words
    for across, up in _tables(level, upright):
        # Where all upright lines end and go on, a line was left out between rows.
        ends = ({round(end) for at, *piece in posts if abs(at - line[0]) <= _NEAR for end in piece} for line in up)
        told = [end for end in set.intersection(*ends) if all(abs(end - place) > _NEAR for place, *_ in across)]
        across += [(float(end), up[0][0], up[-1][0]) for end in told]
        xs, ys = sorted({place for place, *_ in up}), sorted({place for place, *_ in across}, reverse=True)
        if min(len(xs), len(ys)) < 3 or len(xs) * len(ys) > _MOST_CELLS:
            continue
        within = [word for word in words if _is_within(word, xs, ys)]
        cells = list(_cells(within, xs, ys, across, up))
        filled = [inside for row in cells for inside, *_ in row if inside]
        is_table = sum(any(inside for inside, *_ in row) for row in cells) > 1 and len(filled) > 2
        if not is_table or not all(map(_is_one, filled)):
            continue
        at = words.index(within[0])
        written = "\n".join(
            records(grid([[(_text(inside), wide, high) for inside, wide, high in row] for row in cells]))
        )
        table = replace(within[0], text=written, left=xs[0], right=xs[-1], ends_line=True, hyphen=False, is_table=True)
        before = [replace(words[at - 1], ends_line=True)] if at else []
        words = [*words[: max(0, at - 1)], *before, table, *(word for word in words[at:] if word not in within)]
    return words


def _is_within(word: Word, xs: Sequence[float], ys: Sequence[float]) -> bool:
    return xs[0] < (word.left + word.right) / 2 < xs[-1] and ys[-1] < (word.bottom + word.top) / 2 < ys[0]


def _is_one(cell: Sequence[Word]) -> bool:
    """Tell the words of one cell from those of several that no line parts: figures below one another, or wide gaps."""
    lines = [list(line) for _, line in groupby(cell, lambda word: round(word.bottom))]
    figures = [all(FIGURE.fullmatch(word.text) for word in line) for line in lines]
    gaps = (
        after.left - word.right > _GAP * (word.top - word.bottom) for line in lines for word, after in pairwise(line)
    )
    return len(cell) <= _LONG and not any(gaps) and not (len(lines) > 1 and all(figures))


def _text(cell: Sequence[Word]) -> str:
    return "".join(word.text + " " * (not word.hyphen) for word in cell).strip()


def _lines(pieces: Iterable[Rule]) -> list[Rule]:
    """Join the pieces of each line."""
    lines: dict[float, list[Rule]] = {}
    place = float("-inf")
    for at, start, end in sorted(pieces):
        place = at if at - place > _NEAR else place
        lines.setdefault(place, []).append((place, start, end))
    joined: list[Rule] = []
    for at, start, end in (piece for line in lines.values() for piece in sorted(line)):
        if joined and joined[-1][0] == at and start <= joined[-1][2] + _NEAR:
            joined[-1] = at, joined[-1][1], max(end, joined[-1][2])
        else:
            joined.append((at, start, end))
    return joined


def _crosses(line: Rule, place: float, at: float) -> bool:
    """Tell a line at this place that goes through a point of it."""
    return abs(line[0] - place) < 0.1 and line[1] - _NEAR <= at <= line[2] + _NEAR


def _tables(levels: Sequence[Rule], posts: Sequence[Rule]) -> Iterator[tuple[list[Rule], list[Rule]]]:
    """Give the lines that meet one another."""
    while posts:
        up, across = [posts[0]], list[Rule]()
        while True:
            met = [one for one in levels if any(_meet(one, post) for post in up)]
            more = [one for one in posts if one in up or any(_meet(line, one) for line in met)]
            if len(met) == len(across) and len(more) == len(up):
                break
            across, up = met, more
        yield across, up
        posts = [one for one in posts if one not in up]


def _meet(level: Rule, post: Rule) -> bool:
    return _crosses(level, level[0], post[0]) and _crosses(post, post[0], level[0])


def _cells(
    words: Sequence[Word], xs: Sequence[float], ys: Sequence[float], levels: Sequence[Rule], posts: Sequence[Rule]
) -> Iterator[list[tuple[list[Word], int, int]]]:
    """Give the cells of each row: the words in them, and how many columns and rows they fill."""
    places = defaultdict[tuple[int, int], list[tuple[int, Word]]](list)
    for at, word in enumerate(words):
        across, up = (word.left + word.right) / 2, (word.bottom + word.top) / 2
        places[sum(y > up for y in ys) - 1, bisect(xs, across) - 1].append((at, word))
    taken: set[tuple[int, int]] = set()
    for row in range(len(ys) - 1):
        cells = []
        for column in range(len(xs) - 1):
            if (row, column) in taken:
                continue
            across, up = (xs[column] + xs[column + 1]) / 2, (ys[row] + ys[row + 1]) / 2
            walls = (n for n in range(column + 1, len(xs)) if any(_crosses(one, xs[n], up) for one in posts))
            floors = (n for n in range(row + 1, len(ys)) if any(_crosses(one, ys[n], across) for one in levels))
            right, low = next(walls, len(xs) - 1), next(floors, len(ys) - 1)
            own = set(product(range(row, low), range(column, right)))
            taken |= own
            inside = [word for _, word in sorted(chain.from_iterable(places[place] for place in own))]
            cells.append((inside, right - column, low - row))
        yield cells
