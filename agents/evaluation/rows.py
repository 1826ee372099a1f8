"""Reading labelled rows, and the figures that are made of them."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from agents.core.errors import BadRequest

Row = dict[str, Any]
"""One line of a data file, or one row of a result: JSON, whatever the set holds."""


def load(path: Path, needed: Sequence[str]) -> list[Row]:
    """Read a file of JSON lines.

    Args:
        path: the file.
        needed: keys that every row must have.

    Raises:
        BadRequest: it cannot be read, is not JSON lines, holds nothing, or its rows are of another set.
    """
    try:
        rows = list(_rows(path))
    except OSError as error:
        raise BadRequest(f"{path} can't be read: {error.strerror or error}.") from error
    except ValueError as error:
        raise BadRequest(f"{path} is not a file of JSON lines: {error}.") from error
    if not rows:
        raise BadRequest(f"{path} holds no rows.")
    for number, row in enumerate(rows, start=1):
        if lacking := [key for key in needed if key not in row]:
            raise BadRequest(f"Row {number} of {path} has no {lacking[0]!r}: it is not of this set.")
    return rows


def _rows(path: Path) -> Iterator[Row]:
    for number, line in enumerate(path.read_text("utf-8").split("\n"), start=1):
        if line.strip():
            row = json.loads(line)
            if not isinstance(row, dict):
                raise ValueError(f"line {number} is no object")
            yield row


def share(hits: float, of: int) -> float:
    """Give a share with four decimals; 0 of nothing."""
    return round(hits / of, 4) if of else 0.0


def mean(values: Sequence[float]) -> float:
    """Give a mean with four decimals; 0 of nothing."""
    return share(sum(values), len(values))


def accuracy(pairs: Sequence[tuple[str, str]]) -> float:
    """Share of rows whose answer is the wanted one; pairs are wanted, given."""
    return share(sum(wanted == given for wanted, given in pairs), len(pairs))


def macro_f1(pairs: Sequence[tuple[str, str]]) -> float:
    """Mean over the wanted labels of the harmonic mean of precision and recall."""
    scores = []
    for label in sorted({wanted for wanted, _ in pairs}):
        right = sum(wanted == given == label for wanted, given in pairs)
        named = sum(wanted == label for wanted, _ in pairs) + sum(given == label for _, given in pairs)
        scores.append(2 * right / named if named else 0.0)
    return mean(scores)


def balanced_accuracy(scored: Sequence[tuple[bool, float]], threshold: float) -> float:
    """Mean of the shares of good rows at or above the threshold and of bad ones below it."""
    good = [score for label, score in scored if label]
    bad = [score for label, score in scored if not label]
    sides = [share(sum(score >= threshold for score in good), len(good))] if good else []
    sides += [share(sum(score < threshold for score in bad), len(bad))] if bad else []
    return mean(sides)


def auc(scored: Sequence[tuple[bool, float]]) -> float:
    """Chance that a good row scores above a bad one, ties counting half; 0 where one side is missing."""
    good = [score for label, score in scored if label]
    bad = [score for label, score in scored if not label]
    wins = sum((a > b) + 0.5 * (a == b) for a in good for b in bad)
    return share(wins, len(good) * len(bad))
