"""What happens in a job, as typed events. Chat, command line, logs and replay read this one stream.

Where in which job the running code is, for whatever it says: logs, traces, the callbacks of a model library.

It travels with the context of a task, so that a line logged deep in an adapter names the call that it belongs to.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from agents.contracts.contract import Contract
from agents.contracts.finding import SearchRecord
from agents.contracts.frozen import Frozen, Reasoned, Said, Spent, Text
from agents.contracts.plan import RoundRecord
from agents.contracts.report import BlockedReason, Grade, JobStatus, Stage
from agents.contracts.sources import SourceCard
from agents.contracts.verification import Claim
from agents.core.budget import Usage

NodeState = Literal[
    "queued", "planning", "searching", "reading", "writing", "retrying", "done", "partial", "empty", "failed", "stopped"
]  # fmt: skip
STOOD_IN = "#PATH_DECISION"
"""Tag of a note that another model answered than the one bound."""


class JobChanged(Frozen):
    """The job entered a status or a stage."""

    kind: Literal["job"] = "job"
    status: JobStatus
    stage: Stage
    blocked_reason: BlockedReason | None = None
    note: Said = Said()


class Planned(Frozen):
    """What the job works by is settled: its contract, also of a job that was begun with a question only."""

    kind: Literal["planned"] = "planned"
    contract: Contract


class NodeChanged(Frozen):
    """A node of the tree entered a state: what it does now, and why."""

    kind: Literal["node"] = "node"
    node: Text
    """Path in the job, for example `job/0/1`."""
    parent: str
    role: Literal["job", "query", "node", "leaf"]
    title: str
    state: NodeState
    doing: Said = Said()
    """One line: what it does now and why, or what is missing."""


class Asked(Spent):
    """How an answer of a role came about, and what it cost."""

    prompt: str
    """Reference of the prompt: name, version, digest."""
    repaired: bool = False
    cut: bool = False
    """The answer stayed cut off at the output limit; what was complete was kept."""
    compacted: str = ""
    """Why it was given less than there was; empty when it was given all."""

    def as_spent(self) -> Spent:
        """Say what it took, to be booked on a job that is yet to come."""
        return Spent(**{name: getattr(self, name) for name in Spent.model_fields})


class RoleAsked(Asked):
    """A role was asked and answered."""

    kind: Literal["asked"] = "asked"
    node: Text
    failed: bool = False
    """No usable answer came; what it took counts all the same."""

    def note(self) -> "Noted | None":
        """Say in words that another model answered; None when the one bound did."""
        if not self.stood_in_for:
            return None
        form = "{model} answers in the place of {bound}. {why}"
        return Noted(text=Said(form, model=self.model, bound=self.stood_in_for, why=self.stood_in), tag=STOOD_IN)


class SearchDone(SearchRecord):
    """A search was made."""

    kind: Literal["search"] = "search"
    node: Text


class SourceRead(Frozen):
    """A source was read."""

    kind: Literal["source"] = "source"
    node: Text
    source: SourceCard
    facts: int
    dropped: int = 0
    usage: Usage = Usage()


class SourceRejected(Reasoned):
    """A document was found and not used."""

    kind: Literal["rejected"] = "rejected"
    node: Text
    url: Text
    page: Literal["", "empty", "read"] = ""
    """What came of fetching it: no usable text, or text that was not used; empty when it was not fetched."""


class RoundEnded(Frozen):
    """A round of a node ended, with the loop decision and its reason."""

    kind: Literal["round"] = "round"
    node: Text
    record: RoundRecord


class ClaimWeighed(Frozen):
    """A claim was held against its evidence, also what was searched against it."""

    kind: Literal["claim"] = "claim"
    node: Text
    claim: Claim


class SectionDraft(Frozen):
    """A sentence of a section while it is written: code found it carried by what it cites; all else is provisional."""

    kind: Literal["draft"] = "draft"
    node: Text
    title: str
    text: Text


class SectionWritten(Frozen):
    """A section of the report exists; provisional until the report is done."""

    kind: Literal["section"] = "section"
    node: Text
    title: str
    words: int


class Noted(Frozen):
    """Something worth saying that changes no state."""

    kind: Literal["note"] = "note"
    node: str = ""
    text: Said
    tag: str = ""


class ReportWritten(Frozen):
    """The report exists and is saved."""

    kind: Literal["report"] = "report"
    grade: Grade
    title: str
    references: int
    unanswered: tuple[str, ...] = ()
    """Titles of parts whose question it leaves open, or answers in part."""
    limited: str = ""
    """That search was limited and by what, as its head says it."""


Event = Annotated[
    JobChanged | Planned | NodeChanged | RoleAsked | SearchDone | SourceRead | SourceRejected | RoundEnded | ClaimWeighed
    | SectionDraft | SectionWritten | Noted | ReportWritten,
    Field(discriminator="kind"),
]  # fmt: skip


class Numbered(Frozen):
    """An event in its place: numbered from 1 without gaps in each job."""

    seq: int = Field(ge=1)
    seconds: float = Field(ge=0)
    """Seconds since the job started."""
    key: Text
    """Path and name; the same key is stored once, so that a replay adds nothing."""
    event: Event


class PageCount:
    """Counts the pages of a job that were fetched, and those of them that gave no usable text."""

    def __init__(self) -> None:
        self._read: set[str] = set()
        self._empty: set[str] = set()

    def take(self, event: object) -> None:
        """Fold one event in; a page that one branch could read is none that gave nothing."""
        if isinstance(event, SourceRead):
            self._read.add(event.source.url)
        elif isinstance(event, SourceRejected) and event.page:
            (self._empty if event.page == "empty" else self._read).add(event.url)

    @property
    def empty(self) -> int:
        """Pages without usable text: walls, shells of scripts, scans, broken or unreachable ones."""
        return len(self._empty - self._read)

    @property
    def fetched(self) -> int:
        return len(self._empty | self._read)


class Charged(Frozen):
    """A step's result that cost something: the port charges it and tells of it from the record."""

    usage: Usage = Usage()

    def as_event(self, node: str) -> Event | None:
        """Say what happened, for `node`; None when the handler tells it itself."""
        return None


@dataclass(frozen=True)
class TraceContext:
    """A job, a node of its tree, and the call that the node makes; empty where there is none."""

    job_id: str = ""
    node: str = ""  # path, for example `job/0/1`
    call: str = ""  # kind and key of the step, for example `extract:0`

    def named(self) -> dict[str, str]:
        parts = {"job_id": self.job_id, "node": self.node, "call": self.call}
        return {name: value for name, value in parts.items() if value}


NO_TRACE = TraceContext()
_current: ContextVar[TraceContext] = ContextVar("trace", default=NO_TRACE)


def current_trace() -> TraceContext:
    """Give the job, node and call that the running code belongs to."""
    return _current.get()


@contextmanager
def traced(context: TraceContext) -> Iterator[None]:
    """Run the inside as part of a job, node and call."""
    token = _current.set(context)
    try:
        yield
    finally:
        _current.reset(token)
