"""Texts that say the same: runs of four words, and which of many texts hold one another."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from zlib import crc32

from agents.nlp.tokens import words

WIDTH = 4
"""Words in one run."""

SAME = 0.85
"""Share of the shorter text's runs from which it counts as a copy of the longer one."""

MIN_SHARED = 20
"""Runs that the shorter text must have: a notice of two lines is not a copy of whatever quotes it."""

_SPARSE = 8  # of long texts every eighth run is looked up to find partners; the comparison itself uses all of them
_LONG = 160


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
    """Find the texts that are copies, or long excerpts, of a longer one.

    Args:
        texts: the runs of each text by its number.
        accept: asked for the numbers of copy and original, whether they may be put together.

    Returns:
        Number of the copy to number of the text that it is held against. That one is never a copy itself, so two texts
        that merely share an excerpt are not put together by it.
    """
    by_run: defaultdict[int, list[int]] = defaultdict(list)
    copy_of: dict[int, int] = {}
    for number in sorted(texts, key=lambda one: (-len(texts[one]), one)):
        runs = texts[number]
        if len(runs) < MIN_SHARED:
            continue
        looked_up = _looked_up(runs)
        seen = Counter(other for run in looked_up for other in by_run.get(run, ()))
        original = next(
            (
                other
                for other, _ in seen.most_common(5)
                if containment(runs, texts[other]) >= SAME and accept(number, other)
            ),
            None,
        )
        if original is not None:
            copy_of[number] = original
            continue
        for run in looked_up:
            by_run[run].append(number)
    return copy_of


def _looked_up(runs: frozenset[int]) -> Sequence[int]:
    return list(runs) if len(runs) < _LONG else [run for run in runs if run % _SPARSE == 0]
