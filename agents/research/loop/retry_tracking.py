"""Retry tracking: how often each sub-question and each address failed, and when to let go of it.

A value that grows: each failure is an entry of its own, named by its branch, so that what parallel branches noted is
taken together in any order, and twice, without losing or doubling one.
"""

from collections import Counter
from typing import Literal

from agents.contracts.frozen import Frozen
from agents.contracts.plan import RetryEntry

MAX_ATTEMPTS = 3
"""Failures after which a key is not tried again (specification, section 5)."""

MAX_SIBLINGS = 3
"""Keys that fail in the same way before no other is tried that would (specification, section 5)."""

TAG = "#RETRY_EXHAUSTED"

Status = Literal["pending", "complete", "exhausted"]


class Retries(Frozen):
    """What failed and what succeeded."""

    failures: frozenset[tuple[str, str, int]] = frozenset()
    """Key, branch, and the how manieth failure of the two it is."""
    alike: frozenset[tuple[str, str]] = frozenset()
    """What went wrong, in words that are equal when the cause is, and a key that failed so."""
    done: frozenset[str] = frozenset()

    def failed(self, key: str, signature: str = "", branch: str = "") -> "Retries":
        """Note one failed attempt: a search or fetch, after its transport retries.

        Args:
            key: the sub-question or address.
            signature: what went wrong, free of what differs from key to key; empty when it says nothing about others.
            branch: who noted it, for branches that run side by side and are merged later.
        """
        key = _clean(key)
        number = 1 + sum(1 for one in self.failures if one[:2] == (key, branch))
        alike = frozenset({(signature, key)} if signature else ())
        return self.merge(Retries(failures=frozenset({(key, branch, number)}), alike=alike))

    def completed(self, key: str) -> "Retries":
        """Note that a key brought what was wanted; that outweighs every failure."""
        return self.merge(Retries(done=frozenset({_clean(key)})))

    def attempts(self, key: str) -> int:
        """Count the failures of a key."""
        key = _clean(key)
        return sum(1 for one in self.failures if one[0] == key)

    def status(self, key: str) -> Status:
        """Say whether a key is still to be tried."""
        if _clean(key) in self.done:
            return "complete"
        return "exhausted" if self.attempts(key) >= MAX_ATTEMPTS else "pending"

    def allows(self, key: str) -> bool:
        """Tell whether a key may be tried."""
        return self.status(key) == "pending"

    def hopeless(self, signature: str) -> bool:
        """Tell whether enough siblings failed in this very way to spare the next one the attempt."""
        return sum(1 for one, _ in self.alike if one == signature) >= MAX_SIBLINGS

    def exhausted(self) -> tuple[str, ...]:
        """List the keys that were given up, sorted."""
        return tuple(one.key for one in self.as_entries() if one.status == "exhausted")

    def merge(self, other: "Retries") -> "Retries":
        """Take together what two branches noted; the same whichever comes first, and however often."""
        return Retries(
            failures=self.failures | other.failures, alike=self.alike | other.alike, done=self.done | other.done
        )

    def as_entries(self) -> tuple[RetryEntry, ...]:
        """List all keys for the report, sorted."""
        attempts = Counter(key for key, _, _ in self.failures)
        return tuple(
            RetryEntry(key=key, attempts=attempts[key], status=self.status(key))
            for key in sorted({*attempts, *self.done})
        )


def _clean(key: str) -> str:
    found = " ".join(key.split())
    if not found:
        raise ValueError("a retry key is a sub-question or an address, never empty")
    return found
