"""Texts that say the same: runs of four words, and which of many texts hold one another.

The direction of a text: the mean of its word pieces in a table distilled from all-MiniLM-L6-v2, without any model at run time.

The table (`minilm-64.i8`, one row of signed bytes for each piece of the model's vocabulary) is made by
`tests/make_meaning_table.py`; a text is cut into pieces as the model that ships cuts it.
It is English first: a text in letters it does not hold has no direction, and whoever asks goes by words alone. Two texts
about one thing point the same way; so do two that contradict each other, and many that only sound alike. Hence it may
put candidates in order and must never decide whether one supports the other, or whether anything was found at all.
"""

import math
import sys
from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from operator import mul
from zlib import crc32

from agents.nlp.meaning import SHIPPED, as_bytes
from agents.nlp.tokens import words

WIDTH = 4
"""Words in one run."""

SAME = 0.85
"""Share of the shorter text's runs from which it counts as a copy of the longer one."""

MIN_SHARED = 20
"""Runs that the shorter text must have: a notice of two lines is not a copy of whatever quotes it."""


def fingerprint(text: str) -> str:
    """Write `text` so that only its words count: equal for copies that differ in layout, case or punctuation."""
    return " ".join(words(text))


def shingles(text: str) -> frozenset[int]:
    """Give the runs of `WIDTH` words of `text` as 32-bit numbers that are the same in every process."""
    found = words(text)
    return frozenset(
        crc32(" ".join(found[at : at + WIDTH]).encode("utf-8", "surrogatepass"))
        for at in range(max(1, len(found) - WIDTH + 1))
    )


def containment(first: frozenset[int], second: frozenset[int]) -> float:
    """Give the share of the shorter text's runs that the longer one has too, 0 to 1."""
    shorter = min(len(first), len(second))
    return len(first & second) / shorter if shorter else 0.0


def is_about_the_same(title: str, text: str, other: str) -> bool:
    """Tell whether `other` names what the title of `text` names.

    Entries made from one template differ in little but the name of their subject, and are no copies of one another.
    Words of the title that `text` does not use beside its headline may be a new headline, and do not count.
    """
    own = set(words(text.replace(title, "", 1)))
    return own.intersection(words(title)) <= set(words(other))


def copies(texts: Mapping[int, frozenset[int]], accept: Callable[[int, int], bool] = lambda *_: True) -> dict[int, int]:
    """Find the texts that are copies, or long excerpts, of a longer one, given the runs of each by its number.

    Returns:
        Number of the copy to number of the text that it is held against. That one is never a copy itself, so two texts
        that merely share an excerpt are not put together by it.
    """
    copy_of: dict[int, int] = {}
    originals: list[int] = []
    for number in sorted(texts, key=lambda one: (-len(texts[one]), one)):
        runs = texts[number]
        if len(runs) >= MIN_SHARED:
            same = (one for one in originals if containment(runs, texts[one]) >= SAME and accept(number, one))
            if (original := next(same, None)) is None:
                originals.append(number)
            else:
                copy_of[number] = original
    return copy_of


TABLE = "minilm-64"
"""Names the table and its layout; vectors of two tables must never be compared."""
DIMENSIONS = 64
MAX_PIECES = 400
"""Pieces of a text that count; a passage is shorter."""

_LETTERS = 10 * MAX_PIECES  # of a text that are cut into pieces


class _Table:
    """The rows, read once and on first use: 1.8 MB."""

    def __init__(self) -> None:
        from tokenizers import Tokenizer  # not before a text is held against another one

        self._vocabulary = Tokenizer.from_file(str(SHIPPED / "tokenizer.json"))
        self._vocabulary.no_padding()
        self._vocabulary.enable_truncation(MAX_PIECES)
        self._raw = SHIPPED.with_name(f"{TABLE}.i8").read_bytes()
        self._rows = memoryview(self._raw).cast("b")
        self._wide: dict[int, int] = {}

    def held(self, text: str) -> list[int]:
        """Cut a text into pieces that have a row; none where most have none, for then it is written in other letters."""
        found = self._vocabulary.encode(text[:_LETTERS], add_special_tokens=False).ids
        held = [at for at in found if self._raw.count(0, at * DIMENSIONS, (at + 1) * DIMENSIONS) < DIMENSIONS]
        return held if 2 * len(held) >= len(found) else []

    def sums(self, places: Sequence[int]) -> list[int]:
        """Add rows up, each as one number of 64 lanes of four bytes: ten times as fast as lane by lane."""
        total = sum(self._wide.get(place) or self._widened(place) for place in places)
        lanes = memoryview(total.to_bytes(4 * DIMENSIONS, sys.byteorder)).cast("I")
        return [lane - 128 * len(places) for lane in lanes]

    def _widened(self, place: int) -> int:
        row = array("I", [one + 128 for one in self._rows[place * DIMENSIONS : (place + 1) * DIMENSIONS]])
        self._wide[place] = int.from_bytes(row.tobytes(), sys.byteorder)
        return self._wide[place]


_table = cache(_Table)


@lru_cache(maxsize=4_096)  # a question is held beside every passage
def direction(text: str) -> bytes:
    """Give the direction of a text.

    Returns:
        `DIMENSIONS` signed bytes, the largest of them ±127; empty when no piece of the text is in the table.
    """
    table = _table()
    return as_bytes(table.sums(table.held(text)))


def closeness(one: bytes, other: bytes) -> float:
    """Give the cosine of two directions, −1 to 1; 0 when one of them has none."""
    if not one or not other:
        return 0.0
    mine, yours = memoryview(one).cast("b"), memoryview(other).cast("b")
    lengths = math.sqrt(sum(map(mul, mine, mine)) * sum(map(mul, yours, yours)))
    return sum(map(mul, mine, yours)) / lengths if lengths else 0.0
