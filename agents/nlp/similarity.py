"""Texts that say the same: runs of four words, and which of many texts hold one another.

The direction of a text: the mean of its word pieces in a table distilled from all-MiniLM-L6-v2, without any model at run time.

The table (`minilm-64.i8`, one row of signed bytes for each piece of the model's vocabulary) is made by
`tests/make_meaning_table.py`; a text is cut into pieces as the model that ships cuts it.
It is English first: a text in letters it does not hold has no direction, and whoever asks goes by words alone. Two texts
about one thing point the same way; so do two that contradict each other, and many that only sound alike. Hence it may
put candidates in order and must never decide whether one supports the other, or whether anything was found at all.
"""

import math
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from operator import mul
from typing import TYPE_CHECKING
from zlib import crc32

from agents.nlp.meaning import SHIPPED, as_bytes
from agents.nlp.tokens import words

if TYPE_CHECKING:
    import numpy
    from tokenizers import Tokenizer

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


@cache
def _table() -> "tuple[Tokenizer, numpy.ndarray]":
    """Read the pieces and their rows, once and on first use: 1.8 MB."""
    import numpy
    from tokenizers import Tokenizer

    vocabulary = Tokenizer.from_file(str(SHIPPED / "tokenizer.json"))
    vocabulary.no_padding()
    vocabulary.enable_truncation(MAX_PIECES)
    rows = numpy.frombuffer(SHIPPED.with_name(f"{TABLE}.i8").read_bytes(), dtype="int8")
    return vocabulary, rows.reshape(-1, DIMENSIONS)


@lru_cache(maxsize=4_096)  # a question is held beside every passage
def direction(text: str) -> bytes:
    """Give the direction of a text.

    Returns:
        `DIMENSIONS` signed bytes, the largest of them ±127; empty when most of its pieces have no row, for then it is
        written in other letters.
    """
    vocabulary, table = _table()
    found = vocabulary.encode(text[:_LETTERS], add_special_tokens=False).ids
    rows = table[found] if found else table[:0]
    rows = rows[rows.any(axis=1)]
    return as_bytes(rows.sum(axis=0, dtype=int).tolist()) if 2 * len(rows) >= len(found) else b""


def closeness(one: bytes, other: bytes) -> float:
    """Give the cosine of two directions, −1 to 1; 0 when one of them has none."""
    if not one or not other:
        return 0.0
    mine, yours = memoryview(one).cast("b"), memoryview(other).cast("b")
    lengths = math.sqrt(sum(map(mul, mine, mine)) * sum(map(mul, yours, yours)))
    return sum(map(mul, mine, yours)) / lengths if lengths else 0.0
