"""What ends or continues a round: the model's reflection, and the loop decision that code derives from it."""

from pydantic import Field

from agents.contracts.base import Confidence, Frozen


class ReflectionResponse(Frozen):
    """The reflector's judgement of a round (names as the specification's section 5 gives them)."""

    sufficient: bool
    confidence: Confidence
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
