"""The plan: a research tree for one query, validated so that an infeasible one cannot exist."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from agents.contracts.frozen import MAX_EXECUTOR_DEPTH, Confidence, Frozen, Text
from agents.contracts.source import CorpusSurvey

Priority = Literal["low", "normal", "high"]


class LeafBudget(Frozen):
    """What one leaf may spend."""

    seconds: float | None = Field(default=None, gt=0)
    tokens: int | None = Field(default=None, gt=0)
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
    spec: TaskSpec | None = None
    budget: LeafBudget = LeafBudget()

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
    """One bounded loop of a node."""

    title: Text
    criteria: SuccessCriteria = SuccessCriteria()
    seconds: float | None = Field(default=None, gt=0)
    tokens: int | None = Field(default=None, gt=0)
    sources: int | None = Field(default=None, gt=0)
    max_iterations: int = Field(default=3, ge=1, le=20)


class Node(Frozen):
    """An executor of the tree: phases, and children that are executors or leaves."""

    kind: Literal["node"] = "node"
    title: Text
    objective: Text
    phases: tuple[Phase, ...] = Field(default=(Phase(title="Collect"),), min_length=1)
    children: tuple[Annotated["Node | Leaf", Field(discriminator="kind")], ...] = Field(min_length=1)

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
    """Titles of leaves."""


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


# ---- what the planner is asked, one level of the tree at a time


class PlanningInput(Frozen):
    """What a planner is given for one level of one query's tree."""

    query: Text
    objective: Text
    """What this level must settle: the query itself at the root, a branch's objective below it."""
    trail: tuple[str, ...] = ()
    """Titles of the executors above, root first."""
    siblings: tuple[str, ...] = ()
    """What the branches beside this one cover, so that it keeps out of them."""
    executors_left: int = Field(ge=1, le=3)
    """Executors in a row that may still stand, this one included; 1 means leaves only."""
    leaves_left: int = Field(ge=1)
    """Leaves that this level and all below it may have together."""
    scope_limits: tuple[str, ...] = ()
    sub_topics: tuple[str, ...] = ()
    suggested: tuple[str, ...] = ()
    """The manager's suggestion; to be implemented, refined or ignored."""
    known: tuple[str, ...] = ()
    """What earlier work already established."""
    survey: CorpusSurvey = CorpusSurvey()
    language: Text = "en"
    today: str = ""
    seed_urls: tuple[str, ...] = ()
    want_claims: bool = False


class Branch(Frozen):
    """One child as a planner gives it: an executor to be planned further, or a leaf."""

    kind: Literal["node", "leaf"]
    title: Text
    objective: Text
    questions: tuple[str, ...]
    """A leaf's questions; empty for an executor."""
    searches: tuple[str, ...]
    """A leaf's search texts, best first; empty for an executor."""
    discovery: bool


class PlanLevel(Frozen):
    """One level of the tree, with the claims of the query when they were asked for."""

    branches: tuple[Branch, ...] = Field(min_length=1, max_length=8)
    claims: tuple[str, ...]
    """4 to 10 testable statements where the scope allows; empty below the root."""
    themes: tuple[str, ...]
    """Themes that this level must cover to be done."""
    min_sources: int = Field(ge=1, le=10)
    """Independent sources wanted for each answer."""
