"""What ends or continues a round: the model's reflection, and the loop decision that code derives from it."""

from typing import Literal

from pydantic import Field

from agents.contracts.frozen import Confidence, Frozen, Judged, QueryType, Text


class ReflectionResponse(Frozen):
    """The reflector's judgement of a round (names as the specification's section 5 gives them)."""

    sufficient: bool
    confidence: Judged
    gaps: tuple[str, ...]
    new_queries: tuple[str, ...]
    metadata: dict[str, str] = Field(default_factory=dict)


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
    similar_to: Text
    explanation: str = ""


class RetryEntry(Frozen):
    """Failures of one sub-question or address."""

    key: Text
    attempts: int = Field(ge=0)
    status: Literal["pending", "complete", "exhausted"]


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
    coverage: Confidence
    contradictions: int = Field(default=0, ge=0)
    novelty: Confidence | None = None
    adopted: bool = True
    """False for a round that lowered confidence without adding coverage: kept, flagged, not used for the section."""


# ---- what the reflector is asked


class ReflectionInput(Frozen):
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
    guidance: tuple[str, ...] = ()
    """What the user asked for meanwhile."""
    round: int = Field(ge=1)
    max_rounds: int = Field(ge=1)
    minutes_left: float | None = None
    language: Text = "en"
    query_type: QueryType = "other"
    today: str = ""
