"""The plan: a research tree for one query, validated so that an infeasible one cannot exist.

What ends or continues a round: the model's reflection, and the loop decision that code derives from it.
"""

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field, model_validator

from agents.contracts.frozen import MAX_EXECUTOR_DEPTH, Confidence, Frozen, Guided, Judged, QueryType, Text, digest
from agents.contracts.sources import CorpusSurvey

Priority = Literal["low", "normal", "high"]


class LeafBudget(Frozen):
    """What one leaf may spend; time and tokens are shared out anew in each round, by what is left."""

    sources: int = Field(default=6, ge=1, le=50)
    searches: int = Field(default=2, ge=1, le=5)


class TaskSpec(Frozen):
    """An extractor's task, passed on verbatim."""

    questions: tuple[Text, ...] = Field(min_length=1)
    expected_format: str = ""
    acceptance_criteria: tuple[str, ...] = ()
    priority: Priority = "normal"
    budget: LeafBudget = LeafBudget()
    discovery_intense: bool = False


class Leaf(Frozen):
    """n extractors and one synthesizer over n sources; a discovery leaf curates sources instead."""

    kind: Literal["leaf"] = "leaf"
    title: Text
    objective: Text
    questions: tuple[Text, ...]
    searches: tuple[Text, ...] = ()
    """What to search for; the first is dispatched at once."""
    sources: tuple[Text, ...] = ()
    """Addresses to read without searching."""
    discovery: bool = False
    priority: Priority = "normal"
    """How much of what the run may search and read it gets, beside the others."""
    spec: TaskSpec | None = None
    budget: LeafBudget = LeafBudget()
    known_facts: int = Field(default=0, ge=0)
    """Facts of earlier research that answer it, as far as is known before its pages are checked."""

    @property
    def urgency(self) -> Priority:
        """How soon it is worked on, beside the others."""
        return self.spec.priority if self.spec else self.priority

    @model_validator(mode="after")
    def _has_work(self) -> "Leaf":
        if not self.questions and not (self.spec and self.spec.questions):
            raise ValueError(f"leaf {self.title!r} asks nothing: give it at least one question")
        if not self.searches and not self.sources:
            raise ValueError(f"leaf {self.title!r} has neither a search objective nor named sources")
        return self


class SuccessCriteria(Frozen):
    """When a phase may stop: figures that code checks."""

    corroboration: int = Field(default=1, ge=1)
    """Independent sources per answered question."""
    themes: tuple[str, ...] = ()
    """Themes that must be covered."""
    contradictions_resolved: bool = False
    min_confidence: Confidence = 0.5


class Phase(Frozen):
    """One bounded loop of a node; it has the time and the tokens that its rounds are given (`core/time_policy.py`)."""

    title: Text
    criteria: SuccessCriteria = SuccessCriteria()
    sources: int | None = Field(default=None, gt=0)
    max_iterations: int = Field(default=3, ge=1, le=20)


class Node(Frozen):
    """An executor of the tree: phases, and children that are executors or leaves."""

    kind: Literal["node"] = "node"
    title: Text
    objective: Text
    phases: tuple[Phase, ...] = Field(default=(Phase(title="Collect"),), min_length=1)
    children: tuple[Annotated["Node | Leaf", Field(discriminator="kind")], ...] = Field(min_length=1)

    @property
    def urgency(self) -> Priority:
        """That of its most urgent leaf."""
        urgent = {leaf.urgency for leaf in self.leaves()}
        return "high" if "high" in urgent else "normal" if "normal" in urgent else "low"

    def depth(self) -> int:
        """Count the executors in a row from this one down."""
        return 1 + max((child.depth() for child in self.children if isinstance(child, Node)), default=0)

    def leaves(self) -> tuple[Leaf, ...]:
        """All leaves below this executor, in reading order."""
        found: list[Leaf] = []
        for child in self.children:
            found.extend((child,) if isinstance(child, Leaf) else child.leaves())
        return tuple(found)

    def nodes(self) -> int:
        """Count this executor and those below it."""
        return 1 + sum(child.nodes() for child in self.children if isinstance(child, Node))


class PlannedClaim(Frozen):
    """A testable statement that the report will rest on, tied to the leaves that should settle it."""

    text: Text
    leaves: tuple[str, ...] = ()
    """Titles of leaves; empty for the query as a whole."""

    @property
    def id(self) -> str:
        return "c" + digest(self.text.casefold(), 8)


class Plan(Frozen):
    """The research tree of one query. At most 3 executors deep, however it came about."""

    query: Text
    root: Node
    claims: tuple[PlannedClaim, ...] = Field(default=(), max_length=10)
    assumptions: tuple[str, ...] = ()
    """What was assumed to go on; shown in Methodology."""

    @model_validator(mode="after")
    def _is_feasible(self) -> "Plan":
        depth = self.root.depth()
        if depth > MAX_EXECUTOR_DEPTH:
            raise ValueError(
                f"the plan is {depth} executors deep; at most {MAX_EXECUTOR_DEPTH} are feasible. "
                "Narrow the query, or turn the deepest executors into leaves."
            )
        return self


# ---- what the planner is asked: the whole tree in one call


class PlanningInput(Guided):
    """What the planner is given for the tree of one query."""

    query: Text
    max_depth: int = Field(default=MAX_EXECUTOR_DEPTH, ge=1, le=MAX_EXECUTOR_DEPTH)
    """Executors in a row, the root included: with 1, every leaf stands directly under the root."""
    max_leaves: int = Field(default=12, ge=1)
    scope_limits: tuple[str, ...] = ()
    sub_topics: tuple[str, ...] = ()
    """The manager's suggestion; to be implemented, refined or ignored."""
    known: tuple[str, ...] = ()
    """What earlier work already established."""
    survey: CorpusSurvey = CorpusSurvey()
    seed_urls: tuple[str, ...] = ()


class PlannedLeaf(Frozen):
    """One leaf as the planner gives it; what it leaves open (objective, budgets, criteria) is filled in by code."""

    heading: str
    """Titles of the executors it stands under, joined by ` > `; empty directly under the root."""
    title: Text
    questions: tuple[str, ...]
    search_terms: tuple[str, ...]
    """Search texts beside the questions, best first."""
    priority: Priority
    discovery: bool
    """True when its whole purpose is a curated list of sources."""
    expected_format: str = ""
    """What an answer has to look like, where that is not plain: `a figure in euros with its year`."""
    acceptance_criteria: tuple[str, ...] = ()
    """What a source must be or hold to count here, where not every one does."""


class PlanTree(Frozen):
    """The whole tree of one query: its leaves in reading order, and what the report will have to confirm."""

    leaves: tuple[PlannedLeaf, ...] = Field(min_length=1)
    claims: tuple[str, ...]
    """Testable statements, each with subject, measure and scope."""


class ReflectionResponse(Frozen):
    """The reflector's judgement of a round (names as the specification's section 5 gives them).

    Model, tokens and time of it stand in `RoleAnswer` and in its event.
    """

    sufficient: bool
    confidence: Judged
    gaps: tuple[str, ...]
    new_queries: tuple[str, ...]


class LoopDecision(Frozen):
    """The decision stored for every round: this exact JSON, all keys always present, null where unused."""

    iteration: int = Field(ge=1)
    summary: str
    gaps: tuple[str, ...]
    shouldContinue: bool  # noqa: N815 - the stored key, fixed by the specification
    nextSearchTopic: str | None  # noqa: N815
    urlToSearch: str | None  # noqa: N815
    timeRemainingMinutes: float | None  # noqa: N815
    """Minutes; null when unlimited."""


class SkippedTopic(Frozen):
    """A topic that was not dispatched because another already covers it."""

    topic: Text
    explanation: str = ""


MAX_ATTEMPTS = 3
"""Failures after which a sub-question or address is not tried again (specification, section 5)."""
RetryStatus = Literal["pending", "complete", "exhausted"]


class RetryState(Frozen):
    """Failures of one sub-question or address."""

    attempts: int = Field(ge=0)
    status: RetryStatus


class RetryEntry(RetryState):
    """The same with its name."""

    key: Text


def added_up(entries: Iterable[RetryEntry]) -> dict[str, RetryState]:
    """Add up by their keys what branches noted; a success outweighs every failure. What never failed is left out."""
    found: dict[str, RetryState] = {}
    for one in entries:
        old = found.get(one.key, RetryState(attempts=0, status="pending"))
        attempts, statuses = old.attempts + one.attempts, {old.status, one.status}
        status: RetryStatus = "exhausted" if "exhausted" in statuses or attempts >= MAX_ATTEMPTS else "pending"
        found[one.key] = RetryState(attempts=attempts, status="complete" if "complete" in statuses else status)
    return {key: one for key, one in found.items() if one.attempts or one.status != "complete"}


class RoundRecord(Frozen):
    """One round of one node: the decision that ended it, why, and what the round changed."""

    node: Text
    round: int = Field(ge=1)
    phase: str = ""
    decision: LoopDecision
    reason: str
    """One sentence beside the decision."""
    tag: str = ""
    delta: str
    """What changed and why, in one sentence."""
    confidence: Confidence
    """By code."""
    judged: Confidence | None = None
    """How sure the reflection is that the findings answer the objective; None where no model was asked."""
    coverage: Confidence
    contradictions: int = Field(default=0, ge=0)
    novelty: Confidence | None = None
    adopted: bool = True
    """False for a round that lowered confidence without adding coverage: kept, flagged, not used for the section."""


# ---- what the reflector is asked


class ReflectionInput(Guided):
    """What the reflector is given: how a node stands after a round."""

    query: Text
    objective: Text
    questions: tuple[str, ...]
    """What the node's leaves had to answer."""
    statements: tuple[str, ...]
    """What was found, most certain first, each with its source in brackets."""
    missing: tuple[str, ...]
    """What code finds lacking against the phase's success criteria."""
    dispatched: tuple[str, ...]
    """All topics searched so far in the job: none of them may be repeated."""
    exhausted: tuple[str, ...] = ()
    """What failed as often as it may be tried."""
    failed_queries: tuple[str, ...] = ()
    """Searches that failed or found next to nothing: they want other words, or broader ones."""
    raised: tuple[str, ...] = ()
    """Questions that the sources raise and gaps that they state, most telling first."""
    linked: tuple[str, ...] = ()
    """Addresses that the sources point at and that were not read, each with the words around it."""
    round: int = Field(ge=1)
    max_rounds: int = Field(ge=1)
    minutes_left: float | None = None
    query_type: QueryType = "other"
