"""The model protocol: a request goes in, a text comes out. Knows no provider."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from agents.contracts.frozen import Frozen
from agents.core.budget import Usage

FinishReason = Literal["stop", "length", "refused"]

OnText = Callable[[str], Awaitable[None]]
"""Called with each new piece of the text meant for the user, while it is written."""


@dataclass(frozen=True)
class Message:
    """One message to a model."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Request:
    """One question to a model, for one role."""

    role: str
    messages: tuple[Message, ...]
    given: Frozen
    """What the messages were rendered from: engines without a language model work on this."""
    gives: type[Frozen]
    """The contract of the answer."""
    deadline_s: float | None
    """Seconds the whole call may take, retries included; None is unlimited."""
    max_output_tokens: int
    streams: str = "reply"
    """The field of the answer that is told while it is written, to whoever listens: a text piece by piece, a list by its
    items, each as a line of JSON."""
    may_shrink: bool = False
    """It can be asked again with less of what was found: a model that reads slowly may refuse it as too long."""


@dataclass(frozen=True)
class Reply:
    """What a model answered, over all transport retries."""

    text: str
    usage: Usage
    finish_reason: FinishReason
    model: str
    stood_in_for: str = ""
    """The model that was bound and did not answer; empty when `model` is the one."""
    because: str = ""
    """Why it did not, in words for the user."""


def shown_name(model: str) -> str:
    """Name a model as people call it: without provider, folder and file ending."""
    return model.rstrip("/").rpartition("/")[2].removesuffix(".gguf") or model


def estimated_tokens(text: str) -> int:
    """Estimate the tokens of a text in any script: four bytes each."""
    return len(text.encode("utf-8", "surrogatepass")) // 4 + 1


class Model(Protocol):
    """Anything that answers requests."""

    name: str
    """As the reader of a report should see it."""
    reasons: bool
    """False for an engine that only quotes: it is said so in the chat and in Methodology."""

    async def reply(self, request: Request, on_text: OnText | None = None) -> Reply:
        """Answer `request`; stream the text field that it names to `on_text`, where the answer has it.

        Raises:
            ModelError: the provider failed after every retry, or time ran out.
        """
