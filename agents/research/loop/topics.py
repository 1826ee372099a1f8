"""Near-duplicate topics: words shared, and the differences that make two topics two although they share most words.

Semantic likeness in other words is not looked for: a search too many costs less than a topic lost.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from pydantic import field_validator

from agents.contracts.frozen import Frozen
from agents.contracts.loop_decision import SkippedTopic
from agents.research.loop.novelty import within_unit
from agents.research.loop.topic_parse import Reading, read

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
    mine = _reading(topic[:_LONGEST], language)
    words, size = mine.words, len(mine.words)
    close: list[tuple[float, str, Reading]] = []
    nearest, most = "", -1.0
    for other in dispatched:
        theirs = _reading(other[:_LONGEST], language)
        shared = len(words & theirs.words)
        union = size + len(theirs.words) - shared
        similarity = shared / union if union else float(mine.plain == theirs.plain)
        if similarity > most:
            nearest, most = other, similarity
        if similarity >= threshold:
            close.append((similarity, other, theirs))
    close.sort(key=lambda one: -one[0])
    differences = []
    for similarity, other, theirs in close:
        different = difference(mine, theirs)
        if not different:
            return Compared(True, similarity, other, _repeats(topic, other, similarity, threshold))
        differences.append(different)
    if not differences:
        return Compared(False, max(most, 0.0), nearest, _new(nearest, most, threshold))
    why = (
        f"It shares {close[0][0]:.0%} of its words with {_quoted(close[0][1])} but is another topic: {differences[0]}."
    )
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


def difference(a: Reading, b: Reading) -> str:
    """Say what makes two topics two although they share most words; empty when nothing does."""
    mine, theirs = a.words - b.words, b.words - a.words
    named = (mine & a.names) | (theirs & b.names)
    opposed = next((x | y for row, x in a.opposed.items() if (y := b.opposed.get(row)) and x.isdisjoint(y)), None)
    checks = (
        ("the numbers differ", a.numbers ^ b.numbers),
        ("single letters differ", a.letters ^ b.letters),
        ("words of polarity, time or population differ", a.poles ^ b.poles),
        ("their question or comparison words differ", opposed),
        ("names differ", named),
        ("names differ", a.own_names ^ b.own_names),
        ("the numbers belong to other words", _bound(a, b)),
        ("the same names stand in another order", _reordered(a, b)),
        ("who does what to whom differs", _roles(a, b)),
        ("one wording replaces another in a script that shows no names", _replaced(a, b, mine, theirs)),
    )
    for what, words in checks:
        if words:
            return f"{what} ({', '.join(sorted(words))})"
    return ""


def _bound(a: Reading, b: Reading) -> frozenset[str]:
    """Find numbers that stand behind other words: type 2 and stage 3 is not type 3 and stage 2."""
    several = len({number for _, numbers in a.bound for number in numbers}) > 1
    changed = a.bound ^ b.bound if several else frozenset()
    return frozenset(number for _, numbers in changed for number in numbers)


def _reordered(a: Reading, b: Reading) -> frozenset[str]:
    shared = [name for name in a.order if name in b.order and (name in a.sure or name in b.sure)]
    order = [name for name in b.order if name in set(shared)]
    return frozenset(shared) if order != shared else frozenset()


def _roles(a: Reading, b: Reading) -> frozenset[str]:
    """Find a preposition or part in the sentence that both have, with nothing in common behind it."""
    for role, words in a.roles.items():
        others = b.roles.get(role)
        if others and words.isdisjoint(others):
            return words | others
    return frozenset()


def _replaced(a: Reading, b: Reading, mine: frozenset[str], theirs: frozenset[str]) -> frozenset[str]:
    """Find what was replaced, not merely added, where writing does not mark names; without spaces also what moved."""
    lone, other = mine & a.caseless, theirs & b.caseless
    if lone and other:
        return lone | other
    if not (a.runs and b.runs and mine | theirs):
        return frozenset()
    left, right = Counter(a.runs), Counter(b.runs)
    gone, come = left - right, right - left
    if gone and come:
        return frozenset(gone | come)
    return frozenset({a.runs, b.runs}) if left == right and a.runs != b.runs else frozenset()


@lru_cache(maxsize=4096)
def _reading(topic: str, language: str | None) -> Reading:
    return read(topic, language)


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
