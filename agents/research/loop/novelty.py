"""Novelty of a round: the share of its content words that the notes do not hold yet. Words only, no meaning."""

import re
import sys
import unicodedata
from functools import lru_cache
from typing import Literal, NamedTuple

from agents.nlp import lang
from agents.nlp.tokens import LETTERED, MARKS, SYLLABIC, ascii_digits, language_of, stop_words

NOTES_KEPT = 50_000
"""Characters of the notes that count, the most recent ones (specification, section 5)."""

THRESHOLD = 0.15
"""Below this share of new words a phase stops early (specification, section 5)."""

EXACT = 3_000
"""Characters of a round up to which everything in scripts without spaces is looked at; beyond, a sample."""

_LONG = 20_000  # characters of a round beyond which the sample is a thin one
_SAMPLE = 1_000  # characters from which the language is guessed
_SYLLABLES = re.compile(f"[{SYLLABIC}]{{2,}}")
_LETTERS = re.compile(f"[{LETTERED}]{{4,}}")
_UNSPACED = re.compile(f"[{LETTERED}{SYLLABIC}]")
_WORD = re.compile(rf"[\w{MARKS}]+")
_SAMPLED_LETTERS = "\u0e01\u0e21\u0e81\u0ea1\u1000\u1019\u1780\u1798"  # k and m in Thai, Lao, Burmese, Khmer
_UNITS = f"utf-16-{sys.byteorder[0]}e"  # of this machine, since neighbours are read as its numbers
_NO_WORD = str.maketrans({chr(code): " " for code in range(128) if not chr(code).isalnum()})
_GROUP_MARK = re.compile(r"(?<=\d)[,.\u00a0\u202f\u2009](?=\d{3}(?!\d))")
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")
_SPACE = 0x20
_EMPTY = frozenset({_SPACE, *range(0x3041, 0x30A0), *map(ord, lang.words("particles", "zh"))})
"""Code units that make no content word: the space between runs, hiragana endings, Chinese particles."""


class _Parts(NamedTuple):
    """What a text holds."""

    words: set[str]
    """Casefolded words between spaces."""
    pairs: tuple[memoryview, ...] = ()
    """All neighbours in scripts that write syllables, as numbers."""
    fours: tuple[memoryview, ...] = ()
    """Every four letters in a row of scripts without spaces that write letters, as numbers."""
    sampled: frozenset[str] = frozenset()
    """Some of both, where not all are looked at."""


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
    rate = 1 if len(findings) <= EXACT else 4 if len(findings) <= _LONG else 16
    new = _parts(findings, rate)
    words, sampled = new.words - stop, {one for one in new.sampled if _EMPTY.isdisjoint(map(ord, one[:2]))} - stop
    pairs, fours = _telling(new.pairs, stop), _within_runs(new.fours)
    total = len(words) + len(pairs) + len(fours) + rate * len(sampled)
    if not total or not notes.strip():
        return 1.0 if total else 0.0
    old = _parts(notes[-NOTES_KEPT:], rate)
    words, sampled = words - old.words, sampled - old.sampled
    pairs, fours = pairs.difference(*old.pairs), fours.difference(*old.fours)
    return (len(words) + len(pairs) + len(fours) + rate * len(sampled)) / total


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


def _parts(text: str, rate: int) -> _Parts:
    """Give the casefolded words of `text`, and what its runs without spaces hold: all of it, or one in about `rate`.

    This runs over whole notes after every round: splitting at spaces first leaves few pieces to look at closely.
    """
    if not text.isascii() and _OTHER_DIGIT.search(text):
        text = ascii_digits(text)
    text = _GROUP_MARK.sub("", text)  # 2,000 and 2000 are one
    if text.isascii():
        return _Parts(set(text.lower().translate(_NO_WORD).split()))
    pieces = unicodedata.normalize("NFC", " ".join(set(text.casefold().split())))
    if not _UNSPACED.search(pieces):
        return _Parts(_words(pieces))
    words = _words(_LETTERS.sub(" ", _SYLLABLES.sub(" ", pieces)))
    if rate > 1 and (sampled := _sample(pieces, rate)):
        return _Parts(words, sampled=sampled)
    # Longer gaps than neighbours reach: what spans one shows it by a space.
    pairs = _numbers(" ".join(_SYLLABLES.findall(pieces)), 2, "I")
    return _Parts(words, pairs, _numbers("   ".join(_LETTERS.findall(pieces)), 4, "Q"))


def _words(text: str) -> set[str]:
    pieces = set(text.replace("_", " ").split())
    plain = set(filter(str.isalnum, pieces))
    return plain.union(_WORD.findall(" ".join(pieces - plain)))


def _numbers(text: str, size: int, kind: Literal["I", "Q"]) -> tuple[memoryview, ...]:
    """Lay numbers over all rows of `size` neighbours in memory: a string for each takes twice as long."""
    units, width = memoryview(text.encode(_UNITS, "surrogatepass")), 2 * size
    return tuple(
        units[start : start + (len(units) - start) // width * width].cast(kind) for start in range(0, width, 2)
    )


def _sample(text: str, rate: int) -> frozenset[str]:
    """Take the neighbours behind certain characters only, the same ones in every text."""
    behind = ((letter, text.split(letter)[1:]) for letter in _SAMPLED_LETTERS if letter in text)
    fours = (letter + piece[:3] for letter, pieces in behind for piece in pieces)
    return frozenset(_sampler(rate).findall(text)).union(four for four in fours if " " not in four)


@lru_cache(maxsize=4)
def _sampler(rate: int) -> re.Pattern[str]:
    """Find one of every `rate` characters with another behind it; pairs never overlap, so none hides the next."""
    kept = "".join(
        chr(code) for code in range(0x3005, 0xFB00) if (code * 40_503 >> 5) % rate == 0 and code not in _EMPTY
    )
    return re.compile(f"[{kept}](?:(?![{kept}])[{SYLLABIC}])")


def _telling(pairs: tuple[memoryview, ...], stop: frozenset[str]) -> set[int]:
    """Drop pairs that carry grammar only or reach over the end of a run."""
    dropped = {int.from_bytes(word.encode(_UNITS), sys.byteorder) for word in stop if len(word) == 2}
    found = set[int]().union(*pairs)
    return {pair for pair in found if pair & 0xFFFF not in _EMPTY and pair >> 16 not in _EMPTY} - dropped


def _within_runs(fours: tuple[memoryview, ...]) -> set[int]:
    """Drop what reaches over the end of a run."""
    found = set[int]().union(*fours)
    return {
        four for four in found if _SPACE not in (four & 0xFFFF, four >> 16 & 0xFFFF, four >> 32 & 0xFFFF, four >> 48)
    }
