"""The loop decision: whether a phase goes on for another round, derived by code from what the reflector said.

A reflector that always wants more, or finds new gaps for ever, is stopped by the figures it has no say in.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from agents.contracts.loop_decision import LoopDecision, ReflectionResponse
from agents.research.loop.novelty import below, explain, within_unit
from agents.research.loop.retry_tracking import Retries
from agents.research.loop.topics import compare

Cause = Literal[
    "continue",
    "sufficient",
    "no_gaps",
    "time",
    "iterations",
    "exhausted",
    "criteria",
    "novelty",
    "finishing",
    "no_reflection",
]
"""What decided, for code and for texts in other languages than English."""

MAX_GAPS = 50
"""Gaps and queries of one reflection that are looked at: more than this is noise, not judgement."""

_TAGS: dict[Cause, str] = {
    "time": "#TIME_LIMIT",
    "iterations": "#ITERATION_LIMIT",
    "exhausted": "#RETRY_EXHAUSTED",
    "novelty": "#EARLY_STOP",
}
_URL = re.compile(r"(?:https?://|library:|upload:)[^\s<>\"'“”]+")
_CLOSING = ".,;:!?)]}'"


@dataclass(frozen=True)
class Decided:
    """A decision with the reason that is recorded beside it."""

    decision: LoopDecision
    reason: str
    """One sentence."""
    tag: str
    """Response-awareness tag for Methodology; empty when there is nothing to tell the reader."""
    cause: Cause
    topics: tuple[str, ...] = ()
    """What the reflection wants searched and what may still be tried, the next topic first."""


def decide(
    *,
    iteration: int,
    max_iterations: int,
    reflection: ReflectionResponse | None,
    left_s: float | None,
    reserve_s: float,
    retries: Retries,
    criteria_met: bool,
    novelty: float | None,
    novelty_threshold: float,
    early_termination: bool,
    finishing: bool,
    summary: str,
) -> Decided:
    """Decide whether a phase goes on; the first reason that holds is the one recorded.

    Args:
        iteration: the round that just ended, counted from 1.
        max_iterations: the smaller of the phase's limit and what is left of the node's cap.
        reflection: the reflector's judgement; None when it failed or was not asked, which ends the phase.
        left_s: seconds until the deadline; None when unlimited. Below zero after a clock jump counts as none left.
        reserve_s: seconds kept for writing.
        retries: what failed so far.
        criteria_met: the phase's success criteria hold.
        novelty: the round's novelty; None when it was not measured.
        novelty_threshold: below it the phase stops early.
        early_termination: False turns stopping for lack of novelty off.
        finishing: the user asked to finish with what is there.
        summary: what the round brought.

    Raises:
        ValueError: a figure is outside its range; names the range.
    """
    if iteration < 1 or max_iterations < 1:
        raise ValueError(f"rounds count from 1; got round {iteration} of at most {max_iterations}")
    if not reserve_s >= 0:
        raise ValueError(f"the reserve must be 0 seconds or more; it is {reserve_s!r}")
    within_unit("the novelty threshold", novelty_threshold)
    left = _left(left_s)
    gaps = _clean(reflection.gaps) if reflection else ()
    given_up = retries.exhausted()
    cause, reason = _first_reason(
        (reflection is not None and reflection.sufficient, "sufficient", "The reflection finds the answer sufficient."),
        (reflection is not None and not gaps, "no_gaps", "No gap is left."),
        (
            left is not None and left < reserve_s,
            "time",
            f"{left or 0:.0f} seconds are left, less than the {reserve_s:.0f} kept for writing.",
        ),
        (iteration >= max_iterations, "iterations", f"Round {iteration} of at most {max_iterations} has ended."),
        (
            bool(gaps) and all(_exhausted(gap, given_up) for gap in gaps),
            "exhausted",
            "Every gap that is left has failed as often as it may be tried.",
        ),
        (criteria_met, "criteria", "The success criteria of the phase are met."),
        (
            novelty is not None and below(novelty, novelty_threshold, early_termination),
            "novelty",
            explain(novelty or 0.0, novelty_threshold),
        ),
        (finishing, "finishing", "The user asked to finish with what is there."),
        (reflection is None, "no_reflection", "There is no reflection to go on from; the facts are written up."),
    )
    going_on = cause == "continue"
    queries = _clean(reflection.new_queries) if reflection else ()
    return Decided(
        decision=LoopDecision(
            iteration=iteration,
            summary=summary,
            gaps=gaps,
            shouldContinue=going_on,
            nextSearchTopic=_next_topic((*queries, *gaps), given_up) if going_on else None,
            urlToSearch=_next_url((*gaps, *queries), retries) if going_on else None,
            timeRemainingMinutes=None if left is None else round(left / 60, 2),
        ),
        reason=reason,
        tag=_TAGS.get(cause, ""),
        cause=cause,
        topics=tuple(query for query in queries if not _url(query) and not _exhausted(query, given_up)),
    )


def _first_reason(*reasons: tuple[bool, Cause, str]) -> tuple[Cause, str]:
    found = ((cause, reason) for holds, cause, reason in reasons if holds)
    return next(found, ("continue", "Gaps are open and budget is left."))


def _left(left_s: float | None) -> float | None:
    """Give the seconds left as the stored JSON can hold them: no infinity, nothing below zero, nothing unknown."""
    if left_s is None or left_s == math.inf:
        return None
    return max(0.0, left_s) if left_s == left_s else 0.0


def _clean(texts: Iterable[str]) -> tuple[str, ...]:
    """Drop empty texts, repetitions, and what no one will read."""
    found: dict[str, str] = {}
    for text in texts:
        if line := " ".join(text.split()):
            found.setdefault(line.casefold(), line)
    return tuple(found.values())[:MAX_GAPS]


def _exhausted(text: str, given_up: tuple[str, ...]) -> bool:
    """Tell whether a gap maps to an exhausted key: its own, that of its address, or one that it merely rewords."""
    url = _url(text)
    return text in given_up or (url in given_up if url else compare(text, given_up).duplicate)


def _url(text: str) -> str:
    found = _URL.search(text)
    return found[0].rstrip(_CLOSING) if found else ""


def _next_url(texts: Sequence[str], retries: Retries) -> str | None:
    urls = (_url(text) for text in texts)
    return next((url for url in urls if url and retries.allows(url)), None)


def _next_topic(texts: Sequence[str], given_up: tuple[str, ...]) -> str | None:
    """Take the first query that is worth a search; a reflector that gives none is held to its first open gap."""
    return next((text for text in texts if not _url(text) and not _exhausted(text, given_up)), None)
