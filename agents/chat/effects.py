"""What the chat does in answer to a message, as values: the renderer draws them, tests read them."""

from dataclasses import dataclass

from agents.contracts.contract import Contract
from agents.jobs.live_job import Job
from agents.research.scoping.turn import Scope


@dataclass(frozen=True)
class Say:
    """Plain words, as Markdown."""

    text: str


@dataclass(frozen=True)
class Refuse:
    """Plain words that say why something was not done."""

    text: str


@dataclass(frozen=True)
class Button:
    """An answer to choose; pressing it is the same as typing what it says."""

    label: str
    says: str


@dataclass(frozen=True)
class Ask:
    """A question with buttons; it can be answered by typing, too."""

    text: str
    buttons: tuple[Button, ...]


@dataclass(frozen=True)
class Reply:
    """The manager's words; they may have been streamed already."""

    text: str


@dataclass(frozen=True)
class ShowScope:
    """The verdict on the queries, with narrower ones to choose from."""

    scope: Scope


@dataclass(frozen=True)
class ShowContract:
    """The draft that the phrase would bind."""

    contract: Contract
    scope: Scope
    changed: tuple[str, ...] = ()
    """What differs from the draft before, in plain words; empty for a first draft."""
    number: int = 1
    """Which draft of this question it is, counted from 1."""
    undo: bool = False
    """There is a draft before this one to go back to."""
    in_place: bool = False
    """It takes the place of the card it was edited on; else it is a message of its own."""


@dataclass(frozen=True)
class Started:
    """A run was authorized and has begun."""

    job: Job
    contract: Contract


@dataclass(frozen=True)
class Stopping:
    """A run was told to stop; how it ended is shown when it has."""

    job: Job


Effect = Say | Refuse | Ask | Reply | ShowScope | ShowContract | Started | Stopping
