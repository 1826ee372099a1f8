"""Near-duplicate topics: words shared, and the differences that make two topics two although they share most words.

Semantic likeness in other words is not looked for: a search too many costs less than a topic lost.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import field_validator

from agents.contracts.frozen import Frozen
from agents.contracts.loop_decision import SkippedTopic
from agents.research.loop.novelty import within_unit
from agents.research.loop.topic_reading import Reading, read, topic_language

THRESHOLD = 0.75
"""Share of words in common from which a topic counts as dispatched already (specification, section 5)."""

_LONGEST = 2_000  # characters of a topic that are looked at
_SHOWN = 120  # characters of a topic in an explanation


@dataclass(frozen=True)
class Compared:
    """A topic held against those dispatched before."""

    duplicate: bool
    similarity: float
    """Jaccard likeness with `nearest`, 0 to 1. May be high for a topic that is another: `explanation` says why."""
    nearest: str
    """The topic that it repeats, else the one most like it; empty when there is none."""
    explanation: str


def compare(
    topic: str, dispatched: Sequence[str], threshold: float = THRESHOLD, language: str | None = None
) -> Compared:
    """Tell whether `topic` repeats one of `dispatched`.

    Args:
        topic: what is proposed.
        dispatched: topics in the order in which they were dispatched.
        threshold: share of words in common from which they are the same, unless they differ in what matters.
        language: the language they are likely in, for topics too short to tell.

    Raises:
        ValueError: the threshold is not between 0 and 1.
    """
    within_unit("the duplicate topic threshold", threshold)
    if not topic.strip():
        return Compared(False, 0.0, "", "The topic is empty; there is nothing to compare.")
    mine = read(topic[:_LONGEST], language)
    close: list[tuple[float, str, str]] = []
    nearest, most = "", -1.0
    for other in dispatched:
        ours, theirs = mine, read(other[:_LONGEST], language)
        if theirs.language != mine.language:  # too short to tell: both are read in the language of the two together
            both = topic_language(" ".join(sorted((topic[:_LONGEST], other[:_LONGEST]))), language)
            ours, theirs = read(topic[:_LONGEST], both, True), read(other[:_LONGEST], both, True)
        shared = len(ours.words & theirs.words)
        union = len(ours.words) + len(theirs.words) - shared
        similarity = shared / union if union else float(ours.plain == theirs.plain)
        if similarity > most:
            nearest, most = other, similarity
        if similarity >= threshold:
            close.append((similarity, other, _difference(ours, theirs)))
    close.sort(key=lambda one: -one[0])
    for similarity, other, different in close:
        if not different:
            return Compared(True, similarity, other, _repeats(topic, other, similarity, threshold))
    if not close:
        return Compared(False, max(most, 0.0), nearest, _new(nearest, most, threshold))
    why = f"It shares {close[0][0]:.0%} of its words with {_quoted(close[0][1])} but is another topic: {close[0][2]}."
    return Compared(False, close[0][0], close[0][1], why)


class Topics(Frozen):
    """What a job dispatched and what it skipped. Append-only: each change gives a longer ledger."""

    dispatched: tuple[str, ...] = ()
    skipped: tuple[SkippedTopic, ...] = ()
    threshold: float = THRESHOLD
    language: str | None = None
    """Language of the brief, for topics too short to tell their own."""

    @field_validator("threshold")
    @classmethod
    def _is_a_share(cls, value: float) -> float:
        return within_unit("the duplicate topic threshold", value)

    def judge(self, topic: str) -> Compared:
        """Hold `topic` against everything that was dispatched."""
        return compare(topic, self.dispatched, self.threshold, self.language)

    def add(self, topic: str) -> "Topics":
        """Record a topic; to be called before its child starts.

        Raises:
            ValueError: the topic is empty.
        """
        if not topic.strip():
            raise ValueError("an empty topic cannot be dispatched")
        return self.model_copy(update={"dispatched": (*self.dispatched, topic)})

    def skip(self, topic: str, compared: Compared) -> "Topics":
        """Record a topic that repeats another, with the reason."""
        entry = SkippedTopic(topic=topic, similar_to=compared.nearest, explanation=compared.explanation)
        return self.model_copy(update={"skipped": (*self.skipped, entry)})

    def admit(self, proposed: Sequence[str], at_most: int | None = None) -> "Admitted":
        """Choose which proposed topics to dispatch, and record them.

        Repeats go first, those of one another included; only then does the bound on children side by side apply. What
        it cuts off was neither dispatched nor skipped, so that it may be proposed again.
        """
        ledger, chosen, waiting = self, list[str](), list[str]()
        for topic in proposed:
            if not topic.strip():
                continue
            compared = ledger.judge(topic)
            if compared.duplicate:
                ledger = ledger.skip(topic, compared)
            elif at_most is not None and len(chosen) >= at_most:
                if not compare(topic, waiting, self.threshold, self.language).duplicate:
                    waiting.append(topic)
            else:
                ledger = ledger.add(topic)
                chosen.append(topic)
        return Admitted(ledger, tuple(chosen), tuple(waiting))

    def explain(self) -> str:
        """Say for the trace what was dispatched and what was skipped why, a line each; never empty."""
        lines = [f"{len(self.dispatched)} topics dispatched, {len(self.skipped)} skipped as repeats."]
        lines += [f"Skipped {_quoted(one.topic)}: {one.explanation}" for one in self.skipped]
        return "\n".join(lines)


@dataclass(frozen=True)
class Admitted:
    """The topics of a round, and the ledger that holds them."""

    topics: Topics
    chosen: tuple[str, ...]
    waiting: tuple[str, ...] = ()
    """New topics beyond the bound, in order."""


def _quoted(topic: str) -> str:
    line = " ".join(topic[:_LONGEST].split())
    return f"“{line if len(line) <= _SHOWN else line[: _SHOWN - 1] + '…'}”"


def _repeats(topic: str, other: str, similarity: float, threshold: float) -> str:
    shared = f"{similarity:.0%} of their words are shared (threshold {threshold:.0%})"
    return f"{_quoted(topic)} repeats {_quoted(other)}: {shared}."


def _new(nearest: str, most: float, threshold: float) -> str:
    if not nearest or most <= 0:
        return "No topic dispatched so far shares a word with it."
    return f"Closest is {_quoted(nearest)} with {most:.0%} of the words shared (threshold {threshold:.0%})."


def _difference(a: Reading, b: Reading) -> str:
    """Say what makes two topics two although they share most words; empty when nothing does."""
    mine, theirs = a.words - b.words, b.words - a.words
    for what, words in a.fixed.items():
        if words != b.fixed[what]:
            return _told(what, words ^ b.fixed[what])
    for row, words in a.opposed.items():
        if (others := b.opposed.get(row)) and words.isdisjoint(others):
            return _told("their question or comparison words differ", words | others)
    if named := (mine & a.names) | (theirs & b.names):
        return _told("names differ", named)
    if len({number for _, numbers in a.bound for number in numbers}) > 1 and a.bound != b.bound:
        return _told("the numbers belong to other words", {one for _, them in a.bound ^ b.bound for one in them})
    shared = [name for name in a.order if name in b.order and (name in a.sure or name in b.sure)]
    if [name for name in b.order if name in set(shared)] != shared:
        return _told("the same names stand in another order", set(shared))
    for role, words in a.roles.items():
        if (others := b.roles.get(role)) and words.isdisjoint(others):
            return _told("who does what to whom differs", words | others)
    if replaced := _replaced(a, b, mine, theirs):
        return _told("one wording replaces another in a script that shows no names", replaced)
    return ""


def _told(what: str, words: frozenset[str] | set[str]) -> str:
    return f"{what} ({', '.join(sorted(words))})"


def _replaced(a: Reading, b: Reading, mine: frozenset[str], theirs: frozenset[str]) -> frozenset[str]:
    """Find what was replaced, not merely added, where writing does not mark names; without spaces also what moved."""
    lone, other = mine & a.caseless, theirs & b.caseless
    if lone and other:
        return lone | other
    if not (a.runs and b.runs and mine | theirs):
        return frozenset()
    left, right = Counter(a.runs), Counter(b.runs)
    if left - right and right - left:
        return frozenset((left - right) + (right - left))
    return frozenset({a.runs, b.runs}) if left == right and a.runs != b.runs else frozenset()
