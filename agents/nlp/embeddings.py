"""The direction of a text: the mean of its word pieces in a table distilled from all-MiniLM-L6-v2, without any model at run time.

The table (`minilm-64.i8`, one row of signed bytes for each line of `minilm-64.txt`) is made by `tests/make_meaning_table.py`.
It is English first: a text in letters it does not hold has no direction, and whoever asks goes by words alone. Two texts
about one thing point the same way; so do two that contradict each other, and many that only sound alike. Hence it may
put candidates in order and must never decide whether one supports the other, or whether anything was found at all.
"""

import math
import re
import threading
import unicodedata
from array import array
from functools import lru_cache
from operator import mul
from pathlib import Path

TABLE = "minilm-64"
"""Names the table and its layout; vectors of two tables must never be compared."""
DIMENSIONS = 64
MAX_PIECES = 400
"""Pieces of a text that count; a passage is shorter."""

_HERE = Path(__file__).parent
_WORD = re.compile(r"[^\W_]+|[^\w\s]|_")
_LONGEST = 40  # letters of a word that is looked for; what is longer is no word
_LARGEST = 127

_lock = threading.Lock()


class _Table:
    """The rows, read once and on first use: 1.8 MB."""

    def __init__(self) -> None:
        pieces = (_HERE / f"{TABLE}.txt").read_text("utf-8").splitlines()
        self.places = {piece: place for place, piece in enumerate(pieces)}
        self._rows = memoryview((_HERE / f"{TABLE}.i8").read_bytes()).cast("b")
        if len(self._rows) != len(pieces) * DIMENSIONS:
            raise ValueError(f"{TABLE}.i8 does not have one row for each piece of {TABLE}.txt")

    def row(self, place: int) -> memoryview:
        return self._rows[place * DIMENSIONS : (place + 1) * DIMENSIONS]


@lru_cache(maxsize=1)
def _loaded() -> _Table:
    return _Table()


def _table() -> _Table:
    with _lock:  # searches run in threads, and the cache alone would let two of them read the files
        return _loaded()


def direction(text: str) -> bytes:
    """Give the direction of a text.

    Returns:
        `DIMENSIONS` signed bytes, the largest of them ±127; empty when no piece of the text is in the table.
    """
    table = _table()
    rows = [table.row(place) for place in _pieces(text)[:MAX_PIECES]]
    if not rows:
        return b""
    sums = [sum(column) for column in zip(*rows, strict=True)]
    largest = max(map(abs, sums))
    return array("b", [round(_LARGEST * one / largest) for one in sums]).tobytes() if largest else b""


def closeness(one: bytes, other: bytes) -> float:
    """Give the cosine of two directions, −1 to 1; 0 when one of them has none."""
    if not one or not other:
        return 0.0
    mine, yours = memoryview(one).cast("b"), memoryview(other).cast("b")
    lengths = math.sqrt(sum(map(mul, mine, mine)) * sum(map(mul, yours, yours)))
    return sum(map(mul, mine, yours)) / lengths if lengths else 0.0


def _pieces(text: str) -> list[int]:
    found: list[int] = []
    for word in _WORD.findall(_plain(text)):
        found.extend(_pieces_of(word))
        if len(found) >= MAX_PIECES:
            break
    return found


def _plain(text: str) -> str:
    """Small letters without accents, as the table has them."""
    if text.isascii():
        return text.lower()
    return "".join(one for one in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(one) != "Mn")


@lru_cache(maxsize=32_768)
def _pieces_of(word: str) -> tuple[int, ...]:
    """Cut a word into the longest pieces that the table has, from its beginning; a word that leaves a rest has none."""
    if len(word) > _LONGEST:
        return ()
    places = _table().places
    found: list[int] = []
    start = 0
    while start < len(word):
        prefix = "##" if start else ""
        ends = range(len(word), start, -1)
        end = next((end for end in ends if prefix + word[start:end] in places), 0)
        if not end:
            return ()
        found.append(places[prefix + word[start:end]])
        start = end
    return tuple(found)
