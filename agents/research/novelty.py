"""Novelty of a round: the share of its content words that the notes do not hold yet. Words only, no meaning."""

import re
from itertools import pairwise

from agents.text.words import PARTICLES, UNSPACED, language_of, stop_words

NOTES_KEPT = 50_000
"""Characters of the notes that count, the most recent ones (specification, section 5)."""

THRESHOLD = 0.15
"""Below this share of new words a phase stops early (specification, section 5)."""

_SAMPLE = 1_000  # characters from which the language is guessed
_RUN = re.compile(f"[{UNSPACED}]+")
_WORD = re.compile(r"[^\W_]+")
_GRAMMAR = re.compile("[\u3041-\u309f]")


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
    language = language_of(findings[:_SAMPLE])
    stop = stop_words(language)
    found = {word for word in _unique(findings) if word not in stop and not _is_grammar(word)}
    if not found:
        return 0.0
    # The cap is the specification's: what was noted long ago may be said again before a phase is cut short.
    return len(found - _unique(notes[-NOTES_KEPT:])) / len(found) if notes.strip() else 1.0


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


def _unique(text: str) -> set[str]:
    """Give the casefolded words of `text`, each once; scripts without spaces as pairs of neighbouring characters.

    Splitting at spaces first leaves few different pieces to look at closely, which is what makes it fast.
    """
    pieces = " ".join(set(text.casefold().split()))
    if not pieces.isascii():
        pairs = _pairs(pieces)
        if pairs:
            return pairs | set(_WORD.findall(_RUN.sub(" ", pieces)))
    return set(_WORD.findall(pieces))


def _pairs(text: str) -> set[str]:
    found: set[str] = set()
    for run in set(_RUN.findall(text)):
        found.update(map("".join, pairwise(run)) if len(run) > 1 else (run,))
    return found


def _is_grammar(word: str) -> bool:
    return len(word) <= 2 and (bool(_GRAMMAR.search(word)) or not PARTICLES.isdisjoint(word))
