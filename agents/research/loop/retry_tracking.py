"""Retry tracking: how often each sub-question and each address failed, and when to let go of it.

A value that grows: failures are counted per branch, so that what parallel branches noted can be merged in any order,
and merged twice, without losing or doubling one.
"""

from collections import Counter
from typing import Literal, TypedDict

from agents.contracts.frozen import Frozen, Text
from agents.contracts.plan import RetryEntry

MAX_ATTEMPTS = 3
"""Failures after which a key is not tried again (specification, section 5)."""

MAX_SIBLINGS = 3
"""Keys that fail in the same way before no other is tried that would (specification, section 5)."""

TAG = "#RETRY_EXHAUSTED"

Status = Literal["pending", "complete", "exhausted"]


class KeyFailures(TypedDict):
    """Failures of one key as they are stored."""

    attempts: int
    status: Status


class FailureLog(TypedDict):
    """`phase_state.research.retry_tracking` as it is stored; addresses stand among the sub-questions."""

    subquestions: dict[str, KeyFailures]
    total_exhausted: int


class Failures(Frozen):
    """Failures of one key in one branch."""

    key: Text
    branch: str = ""
    count: int = 0
    signatures: frozenset[str] = frozenset()
    """What went wrong, in words that are equal when the cause is."""


class Retries(Frozen):
    """What failed, what succeeded, what was given up."""

    failures: tuple[Failures, ...] = ()
    """One entry per key and branch, sorted by both."""
    done: frozenset[str] = frozenset()
    given_up: frozenset[str] = frozenset()
    """Keys that were not tried, or not again, because they could only fail."""

    def failed(self, key: str, signature: str = "", branch: str = "") -> "Retries":
        """Note one failed attempt: a search or fetch, after its transport retries.

        Args:
            key: the sub-question or address.
            signature: what went wrong, free of what differs from key to key; empty when it says nothing about others.
            branch: who noted it, for branches that run side by side and are merged later.
        """
        key, signature = _clean(key), " ".join(signature.split()).casefold()
        old = next((one for one in self.failures if (one.key, one.branch) == (key, branch)), None)
        old = old or Failures(key=key, branch=branch)
        signatures = old.signatures | ({signature} if signature else frozenset())
        new = old.model_copy(update={"count": old.count + 1, "signatures": signatures})
        return self.model_copy(update={"failures": _sorted(*(one for one in self.failures if one != old), new)})

    def completed(self, key: str) -> "Retries":
        """Note that a key brought what was wanted; that outweighs every failure."""
        return self.model_copy(update={"done": self.done | {_clean(key)}})

    def abandoned(self, key: str) -> "Retries":
        """Note that a key is not tried, or not again, since what it needs has failed often enough elsewhere."""
        return self.model_copy(update={"given_up": self.given_up | {_clean(key)}})

    def attempts(self, key: str) -> int:
        """Count the failures of a key."""
        key = _clean(key)
        return sum(one.count for one in self.failures if one.key == key)

    def status(self, key: str) -> Status:
        """Say whether a key is still to be tried."""
        return self._status(_clean(key), self.attempts(key))

    def allows(self, key: str, signature: str = "") -> bool:
        """Tell whether a key may be tried, where `signature` is the way in which it would fail, if that is known."""
        return self.status(key) == "pending" and not self.hopeless(signature)

    def attempt_number(self, key: str) -> int:
        """Number the attempt that comes next, from 1; for a key that is complete or exhausted, its last one."""
        return min(self.attempts(key) + 1, MAX_ATTEMPTS)

    def hopeless(self, signature: str) -> bool:
        """Tell whether enough siblings failed in this very way to spare the next one the attempt."""
        signature = " ".join(signature.split()).casefold()
        siblings = {one.key for one in self.failures if signature in one.signatures}
        return bool(signature) and len(siblings) >= MAX_SIBLINGS

    def exhausted(self) -> tuple[str, ...]:
        """List the keys that were given up, sorted."""
        return tuple(one.key for one in self.as_entries() if one.status == "exhausted")

    def merge(self, other: "Retries") -> "Retries":
        """Take together what two branches noted; the same whichever comes first, and however often."""
        both: dict[tuple[str, str], Failures] = {}
        for one in (*self.failures, *other.failures):
            known = both.get((one.key, one.branch), one)
            both[one.key, one.branch] = Failures(
                key=one.key,
                branch=one.branch,
                count=max(known.count, one.count),
                signatures=known.signatures | one.signatures,
            )
        return Retries(
            failures=_sorted(*both.values()),
            done=self.done | other.done,
            given_up=self.given_up | other.given_up,
        )

    def as_entries(self) -> tuple[RetryEntry, ...]:
        """List all keys for the report, sorted."""
        attempts = Counter(dict.fromkeys(self.done | self.given_up, 0))
        for one in self.failures:
            attempts[one.key] += one.count
        return tuple(
            RetryEntry(key=key, attempts=count, status=self._status(key, count))
            for key, count in sorted(attempts.items())
        )

    def as_state(self) -> FailureLog:
        """Give the JSON of `phase_state.research.retry_tracking`."""
        entries = self.as_entries()
        return {
            "subquestions": {one.key: {"attempts": one.attempts, "status": one.status} for one in entries},
            "total_exhausted": sum(one.status == "exhausted" for one in entries),
        }

    def _status(self, key: str, attempts: int) -> Status:
        if key in self.done:
            return "complete"
        return "exhausted" if key in self.given_up or attempts >= MAX_ATTEMPTS else "pending"


def _clean(key: str) -> str:
    found = " ".join(key.split())
    if not found:
        raise ValueError("a retry key is a sub-question or an address, never empty")
    return found


def _sorted(*failures: Failures) -> tuple[Failures, ...]:
    return tuple(sorted(failures, key=lambda one: (one.key, one.branch)))
