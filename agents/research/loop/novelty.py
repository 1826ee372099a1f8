"""Novelty of a round: the share of its content words that the notes do not hold yet. Words only, no meaning."""

import re
import unicodedata

from agents.nlp import lang
from agents.nlp.tokens import LETTERED, MARKS, SYLLABIC, ascii_digits, language_of, stop_words

NOTES_KEPT = 50_000
"""Characters of the notes that count, the most recent ones (specification, section 5)."""

THRESHOLD = 0.15
"""Below this share of new words a phase stops early (specification, section 5)."""

_SAMPLE = 1_000  # characters from which the language is guessed
_WORD = re.compile(rf"[\w{MARKS}]+")
_SYLLABLES = re.compile(f"[{SYLLABIC}]{{2,}}")
_LETTERS = re.compile(f"[{LETTERED}]{{4,}}")
_RUN = re.compile(f"{_SYLLABLES.pattern}|{_LETTERS.pattern}")
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")
_GROUP_MARK = re.compile(r"(?<=\d)[,.\u00a0\u202f\u2009](?=\d{3}(?!\d))")
_SPACE = 0x20
_EMPTY = frozenset({_SPACE, *range(0x3041, 0x30A0), *map(ord, lang.words("particles", "zh"))})
"""What makes no content word: the space between runs, hiragana endings, Chinese particles."""


def novelty(findings: str, notes: str) -> float:
    """Say which share of the content words of `findings` is new to `notes`, 0 to 1.

    Args:
        findings: what the round brought. Nothing in it, or only function words, is nothing new: 0.
        notes: all that was noted before, oldest first; without any, all is new: 1.
    """
    text, old = _plain(findings), _plain(notes[-NOTES_KEPT:])
    stop = stop_words(language_of(findings[:_SAMPLE]))
    # Longer gaps than neighbours reach: what spans one shows it by a space.
    pairs = _rows(" ".join(_SYLLABLES.findall(text)), 2).difference(
        *(_rows(word, 2) for word in stop if len(word) == 2)
    )
    fours = _rows("   ".join(_LETTERS.findall(text)), 4)
    new: tuple[set[str], set[int], set[int]] = (
        _words(text) - stop,
        {row for row in pairs if row & 0xFFFF not in _EMPTY and row >> 16 not in _EMPTY},
        {row for row in fours if _SPACE not in (row & 0xFFFF, row >> 16 & 0xFFFF, row >> 32 & 0xFFFF, row >> 48)},
    )
    total = len(new[0]) + len(new[1]) + len(new[2])
    if not total or not notes.strip():
        return 1.0 if total else 0.0
    left = len(new[0] - _words(old))
    left += sum(len(rows - _rows(old, length)) for rows, length in ((new[1], 2), (new[2], 4)) if rows)
    return left / total


def below(score: float, threshold: float = THRESHOLD, enabled: bool = True) -> bool:
    """Tell whether a round with this novelty ends its phase."""
    return enabled and score < threshold


def explain(score: float, threshold: float = THRESHOLD) -> str:
    """Say in a sentence for the trace what the score means for the phase."""
    side, then = ("below", "stops early") if below(score, threshold) else ("not below", "may go on")
    return (
        f"Novelty {_figure(score)} is {side} the threshold {_figure(threshold)}: {score:.0%} of the round's "
        f"content words are new, so the phase {then}."
    )


def _figure(share: float) -> str:
    """Write a share with two decimals, or with as many as it takes not to round it to something else."""
    return f"{share:.2f}" if abs(round(share, 2) - share) < 1e-9 else f"{share:.4f}"


def _plain(text: str) -> str:
    if not text.isascii() and _OTHER_DIGIT.search(text):
        text = ascii_digits(text)
    text = _GROUP_MARK.sub("", text).casefold()  # 2,000 and 2000 are one
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _words(text: str) -> set[str]:
    """Give the words between spaces; most pieces are words as they stand, which is quickly seen."""
    text = text if text.isascii() else _RUN.sub(" ", text)
    pieces = set(text.replace("_", " ").split())
    plain = set(filter(str.isalnum, pieces))
    return plain.union(_WORD.findall(" ".join(pieces - plain)))


def _rows(text: str, length: int) -> set[int]:
    """Give all rows of two or four neighbouring characters, as numbers laid over them in memory: strings take longer."""
    units, width = memoryview(text.encode("utf-16-le", "surrogatepass")), 2 * length
    whole = (units[start : start + (len(units) - start) // width * width] for start in range(0, width, 2))
    return set[int]().union(*(part.cast("I" if length == 2 else "Q") for part in whole))
