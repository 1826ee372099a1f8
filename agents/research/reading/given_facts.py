"""What the branches of a run are given: an executor or a leaf of the plan, in its setting."""

from typing import Literal

from agents.contracts.frozen import Frozen, QueryType, Text
from agents.contracts.loop_decision import RetryEntry
from agents.contracts.plan import Leaf, Node
from agents.research.loop.loop_settings import LoopSettings


def sub_question(leaf: Leaf) -> str:
    """Name what a leaf's failed searches are counted under."""
    return leaf.questions[0] if leaf.questions else leaf.objective


class Setting(Frozen):
    """What every branch of one query shares."""

    query: Text
    language: Text = "en"
    query_type: QueryType = "other"
    today: str = ""
    domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    date_from: str | None = None
    date_to: str | None = None
    loop: LoopSettings = LoopSettings()


class LeafGiven(Frozen):
    """One leaf of the plan or of a later round, in its setting."""

    leaf: Leaf
    setting: Setting
    parent: str
    siblings: tuple[str, ...] = ()
    """Titles of the sections beside this one."""
    tried: tuple[RetryEntry, ...] = ()
    """What failed when it was tried before; counts on here."""

    @property
    def failures(self) -> int:
        """Searches for its sub-question that failed in earlier tries."""
        return sum(
            entry.attempts
            for entry in self.tried
            if entry.key == sub_question(self.leaf) and entry.status != "complete"
        )


class NodeGiven(Frozen):
    """One executor of the plan, in its setting."""

    node: Node
    setting: Setting
    parent: str
    role: Literal["query", "node"] = "node"
    """`query` for the root executor of a query."""
    lead: bool = True
    """False where a synthesizer above writes over these results anyway."""
    title: Text
    siblings: tuple[str, ...] = ()
    tried: tuple[RetryEntry, ...] = ()
    """What failed below it when it was tried before; counts on here."""
