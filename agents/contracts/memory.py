"""What research leaves behind for later research: remembered facts, claims and insights, and how they are chosen."""

from typing import Literal

from pydantic import Field

from agents.contracts.fact import Fact
from agents.contracts.frozen import Confidence, Frozen, Text
from agents.contracts.plan import Plan
from agents.contracts.sources import SourceCard

MemoryKind = Literal["fact", "reading", "claim", "plan", "question", "gap", "link"]
"""`reading`: a text was read for a question, and these are its facts. `plan`: how a question was researched. The last
three are what sources pointed at."""

Standing = Literal[
    "supported", "qualified", "contested", "quoted", "refuted", "unsupported", "gone", "insufficient", "not_checked"
]
"""The last verdict. Of facts: `quoted` stands in its source and was not cited; `gone` no longer stands there."""

REUSABLE: frozenset[Standing] = frozenset({"supported", "qualified", "contested", "quoted"})
"""Facts of other standings are kept for their history and never used again."""


class Sighting(Frozen):
    """One job that met with it."""

    job: Text
    at: Text
    """ISO date and time, UTC."""
    verdict: Standing


class Remembered(Frozen):
    """One thing that is known, with everything needed to cite it again."""

    id: Text
    """A digest of what it says and where: met again, it is the same."""
    kind: MemoryKind
    text: Text
    """Statement, claim or question: what is searched."""
    fact: Fact | None = None
    """Only of facts."""
    source: SourceCard | None = None
    """Where it was read; None for claims."""
    before: str = ""
    after: str = ""
    """The words around the quote."""
    topics: tuple[str, ...] = ()
    """Questions that it was read for."""
    plan: Plan | None = None
    """Only of plans."""
    facts: tuple[str, ...] = ()
    """Of a reading: its facts. Of a claim: the facts for and against it."""
    against: tuple[str, ...] = ()
    """Remembered facts that contradict it."""
    verdict: Standing = "quoted"
    confidence: Confidence | None = None
    language: str = ""
    since: Text
    """When it was first read, ISO date and time, UTC."""
    seen: Text
    """When it was last seen in its source."""
    history: tuple[Sighting, ...] = Field(default=(), max_length=40)
    """Oldest first."""

    @property
    def jobs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.job for one in self.history))


class Selection(Frozen):
    """Which things are meant: all that fit every field that is given."""

    ids: tuple[str, ...] = ()
    kinds: tuple[MemoryKind, ...] = ()
    verdicts: tuple[Standing, ...] = ()
    url: str = ""
    domain: str = ""
    """Registrable domain: `example.org` for all its hosts."""
    text_hash: str = ""
    job: str = ""
    date_from: str = ""
    """Last seen on or after this ISO date."""
    date_to: str = ""
    """Last seen on or before it."""

    @property
    def empty(self) -> bool:
        """True when nothing is given: everything is meant."""
        return self == Selection()


class Contradiction(Frozen):
    """A new fact and a remembered one of another source that can't both be right."""

    new: Text
    new_title: Text
    old: Text
    old_title: Text
    since: str


class MemoryNote(Frozen):
    """What the knowledge base did for a run, and what the run left in it."""

    reused: int = 0
    """Facts taken over, their pages unchanged."""
    sources: int = 0
    since: str = ""
    """ISO date on which the first of them was first read."""
    learned: int = 0
    conflicts: tuple[Contradiction, ...] = ()
    fault: str = ""
    """Why it was left out; empty when it was not."""


class MemoryStats(Frozen):
    """What there is."""

    store: str
    items: int
    by_kind: dict[str, int]
    sources: int
    embedder: str
    dimensions: int
    embedded: int
    """Items that can be found by meaning; the others by words until they are embedded anew."""
    bytes: int | None = None
    """On disk; None where the store does not say."""
