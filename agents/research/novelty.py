"""Novelty of a round: the share of its content words that the notes do not hold yet. Words only, no meaning."""

import re
import sys
import unicodedata

from agents.research.topic_words import HAN_PARTICLES
from agents.text.words import UNSPACED, language_of, stop_words

NOTES_KEPT = 50_000
"""Characters of the notes that count, the most recent ones (specification, section 5)."""

THRESHOLD = 0.15
"""Below this share of new words a phase stops early (specification, section 5)."""

_SAMPLE = 1_000  # characters from which the language is guessed
_RUN = re.compile(f"[{UNSPACED}]+")
_WORD = re.compile(r"[^\W_]+")
_UNITS = f"utf-16-{sys.byteorder[0]}e"  # of this machine, since pairs are read as its numbers
_NO_WORD = str.maketrans({chr(code): " " for code in range(128) if not chr(code).isalnum()})
_EMPTY = frozenset({0x20, *range(0x3041, 0x30A0), *map(ord, HAN_PARTICLES)})
"""Code units that make no content word: the space between runs, hiragana endings, Chinese particles."""


def within_unit(name: str, value: float) -> float:
    """Give `value` back when it is a share.

    Raises:
        ValueError: it is not between 0 and 1; names the range.
    """
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{name} must be between 0 and 1, both included; it is {value!r}")
    return value


def novelty(findings: str, notes: str) -> float:
    """Say which share of the content words of `findings` is new to `notes`, 0 to 1.

    Args:
        findings: what the round brought. Nothing in it, or only function words, is nothing new: 0.
        notes: all that was noted before, oldest first; without any, all is new: 1.
    """
    stop = stop_words(language_of(findings[:_SAMPLE]))
    words, pairs = _parts(findings)
    words, pairs = words - stop, _telling(pairs, stop) if pairs else pairs
    total = len(words) + len(pairs)
    if not total or not notes.strip():
        return 1.0 if total else 0.0
    old_words, old_pairs = _parts(notes[-NOTES_KEPT:])
    return (len(words - old_words) + len(pairs - old_pairs)) / total


def below(score: float, threshold: float = THRESHOLD, enabled: bool = True) -> bool:
    """Tell whether a round with this novelty ends its phase.

    Raises:
        ValueError: score or threshold is not between 0 and 1.
    """
    score, threshold = within_unit("the novelty score", score), within_unit("the novelty threshold", threshold)
    return enabled and score < threshold


def explain(score: float, threshold: float = THRESHOLD) -> str:
    """Say in a sentence for the trace what the score means for the phase.

    Raises:
        ValueError: score or threshold is not between 0 and 1.
    """
    stops = below(score, threshold)
    side, then = ("below", "stops early") if stops else ("not below", "may go on")
    return (
        f"Novelty {_figure(score)} is {side} the threshold {_figure(threshold)}: {score:.0%} of the round's "
        f"content words are new, so the phase {then}."
    )


def _figure(share: float) -> str:
    """Write a share with two decimals, or with as many as it takes not to round it to something else."""
    return f"{share:.2f}" if abs(round(share, 2) - share) < 1e-9 else f"{share:.4f}"


def _parts(text: str) -> tuple[set[str], set[int]]:
    """Give the casefolded words of `text`, and the pairs of neighbours in scripts without spaces, each once.

    This runs over whole notes after every round: splitting at spaces first leaves few pieces to look at closely. Pairs
    are numbers of two code units read from memory, since a string for each takes twice as long.
    """
    if text.isascii():
        return set(text.lower().translate(_NO_WORD).split()), set()
    pieces = unicodedata.normalize("NFC", " ".join(set(text.casefold().split())))
    runs, pairs = _RUN.findall(pieces), set[int]()
    if runs:
        pieces = _RUN.sub(" ", pieces)
        units = memoryview(" ".join(runs).encode(_UNITS, "surrogatepass"))
        for start in (0, 2):
            pairs.update(units[start : start + (len(units) - start) // 4 * 4].cast("I"))
    return set(_WORD.findall(pieces)), pairs


def _telling(pairs: set[int], stop: frozenset[str]) -> set[int]:
    """Drop the pairs that carry grammar only or reach over the end of a run."""
    dropped = {_pair(word) for word in stop if len(word) == 2}
    return {pair for pair in pairs if pair & 0xFFFF not in _EMPTY and pair >> 16 not in _EMPTY} - dropped


def _pair(two: str) -> int:
    return int.from_bytes(two.encode(_UNITS), sys.byteorder)
