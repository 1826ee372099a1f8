"""How fast a model provider may be asked: what an operator can set, one part or all."""

from pydantic import Field

from agents.contracts.frozen import Frozen


class Pace(Frozen):
    """Limits of one provider. A part that is left out keeps its default; 0 takes that limit away."""

    at_once: int | None = Field(default=None, ge=0)
    """Requests that are open at the same time."""
    calls_per_minute: int | None = Field(default=None, ge=0)
    """Requests in any 60 seconds."""
    tokens_per_minute: int | None = Field(default=None, ge=0)
    """Tokens, read and written, of the requests in any 60 seconds."""
