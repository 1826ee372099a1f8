"""The live tree of a job, folded from its events: what the card draws and what "how is it going" is answered from."""

import re
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import TYPE_CHECKING, Literal

from agents.contracts.contract import Change, place
from agents.contracts.frozen import Frozen, Said
from agents.contracts.report import OVER, BlockedReason, Grade, JobStatus, Stage
from agents.core import events
from agents.core.budget import NOTHING
from agents.core.events import NodeChanged, Numbered
from agents.jobs.changes import ACTIVE, AGAIN, DROPPABLE, Steered
from agents.jobs.job import Job

if TYPE_CHECKING:
    from agents.jobs.client import Client  # the database takes a third of a second to load

FEED = 40  # lines of the activity feed that are kept, newest last
AGAIN_WITHIN = 8  # lines within which the same one is not said twice (see public/run_state.js)
ROOT = "job"  # path of the whole run, which is no row of the tree

STAGES: dict[Stage, str] = {
    "planning": "Planning.", "collecting": "Searching and reading.",
    "challenging": "Looking for what speaks against the claims.",
    "composing": "Writing the summary and the conclusion.", "judging": "Being reviewed.",
    "reworking": "Mending what fell short.", "completed": "Done.",
}  # fmt: skip


class TreeNode(Frozen):
    """One row of the tree. Sources, facts, tokens and cost include those of the branches below."""

    id: str
    parent: str  # empty at the top of the tree
    n: str  # number as shown, for example `2.1`; empty for the root of a run's only query
    role: str
    title: str
    state: events.NodeState
    said: Said  # what it does, or why it ended
    sources: int
    facts: int
    tokens: int
    cost_usd: float | None  # None is unknown, not zero
    seconds: float  # from its first work to its end, or until now


class FeedLine(Frozen):
    """One line of the activity feed."""

    seq: int
    seconds: float
    said: Said


class RunTotals(Frozen):
    """Sums over a whole run."""

    sources: int = 0
    pages: int = 0  # pages that were fetched
    empty: int = 0  # those of them that gave no usable text
    searches: int = 0
    tokens: int = 0
    cost_usd: float | None = 0.0  # None is unknown, not zero


Ending = Literal["", Grade, "stopped", "failed"]
"""How a run ended, never better than the report that came of it; empty while it goes on."""


class TreeView(Frozen):
    """The tree at one moment."""

    status: JobStatus
    stage: Stage
    seq: int  # number of the last event in it; the next ones follow from there
    seconds: float
    now: str
    note: Said = Said()  # why it ended, when it did not end well; why it rests, when it does
    grade: Grade | None = None  # of its report, once there is one
    ending: Ending = ""
    kept: bool = False  # whether it found something of which no report was written
    limited: str = ""  # that search was limited, in the report's words
    blocked_reason: BlockedReason | None = None
    """Why it rests: paused, or waiting for a key, for somebody to release it, or for a restart."""
    usage: RunTotals = RunTotals()
    minutes: float | None = None  # time budget; None is unlimited
    reserve_s: float | None = None  # seconds of it that are kept for writing
    max_cost_usd: float | None = None
    nodes: tuple[TreeNode, ...] = ()
    feed: tuple[FeedLine, ...] = ()

    @property
    def leaves(self) -> tuple[TreeNode, ...]:
        """The branches that search and read."""
        return tuple(node for node in self.nodes if node.role == "leaf")


class _Row:
    def __init__(self, event: NodeChanged) -> None:
        self.told, self.facts, self.usage = event, 0, NOTHING
        self.started: float | None = None
        self.ended: float | None = None
        self.sources: set[str] = set()

    def change(self, event: NodeChanged, seconds: float) -> None:
        self.told = event
        if event.state != "queued" and self.started is None:
            self.started = seconds
        if event.state in ACTIVE:
            self.ended = None
        elif self.ended is None:
            self.ended = seconds


class Tree:
    """Folds events in their order; every later state is a function of them alone."""

    def __init__(self, told: Iterable[Numbered] = ()) -> None:
        self.status: JobStatus = "queued"
        self.stage: Stage = "planning"
        self.blocked_reason: BlockedReason | None = None
        self.grade: Grade | None = None
        self.limited = ""
        self.seq, self.seconds, self.now, self.note, self.usage, self.searches = 0, 0.0, "", Said(), NOTHING, 0
        self.line: Said | None = None  # what the last event adds to the feed; None when nothing
        self._sources: set[str] = set()
        self._pages = events.PageCount()
        self._rows: dict[str, _Row] = {}
        self._feed: list[FeedLine] = []
        for numbered in told:
            self.take(numbered)

    def take(self, numbered: Numbered) -> tuple[str, ...]:
        """Fold one event in; says which rows it changed, the one it is about first."""
        event = numbered.event
        self.seq, self.seconds, self.line = numbered.seq, numbered.seconds, None
        node = place(getattr(event, "node", ""))
        if isinstance(event, NodeChanged):
            # A second try stands in the row of the first.
            event = event.model_copy(update={"node": node, "parent": place(event.parent)})
        if line := self._line(event, node):
            self.now = self.line = line
            # Searches of one part in other words say the same: once is enough.
            near = len(self._feed) - AGAIN_WITHIN
            before = [one for at, one in enumerate(self._feed) if at < near or one.said != line]
            self._feed = [*before, FeedLine(seq=numbered.seq, seconds=numbered.seconds, said=line)][-FEED:]
        self._pages.take(event)
        touched = self._line_of(node)
        match event:
            case events.JobChanged():
                return self._job(event, numbered.seconds)
            case NodeChanged():
                self._rows.setdefault(event.node, _Row(event)).change(event, numbered.seconds)
                return (event.node,)
            case events.RoleAsked():
                self.usage = self.usage + event.usage
                for path in touched:
                    self._rows[path].usage = self._rows[path].usage + event.usage
            case events.SourceRead():
                self._sources.add(event.source.id)
                for path in touched:
                    self._rows[path].sources.add(event.source.id)
                    self._rows[path].facts += event.facts
            case events.SearchDone():
                self.searches += 1
            case events.ReportWritten():
                self.grade, self.limited = event.grade, event.limited
                # A part that delivered is not done where the report leaves its question open.
                for path, row in self._rows.items():
                    if row.told.state == "done" and row.told.role == "leaf" and row.told.title in event.unanswered:
                        row.told = row.told.model_copy(update={"state": "partial"})
                        touched = (*touched, path)
        return touched

    def _line(self, event: object, node: str) -> Said | None:
        """One line for the feed, about the part and not about the words that it searches with."""
        if isinstance(event, NodeChanged):
            part = f"{self._number(event.node)} “{event.title}”".strip()
            return None if event.state == "queued" else Said(_PARTS[event.state], part=part, more=event.doing)
        if isinstance(event, events.SearchDone):
            row = self._rows.get(node)
            part = f"{self._number(node)} “{row.told.title}”".strip() if row else f"“{event.text}”"
            if event.failed:
                return Said("A search for {part} failed.", part=part, more=event.failed)
            return Said("Searched for {part}: {n} {n:document|documents}.", part=part, n=event.hits)
        return _told(event)

    def _job(self, event: events.JobChanged, seconds: float) -> tuple[str, ...]:
        self.status, self.stage, self.blocked_reason = event.status, event.stage, event.blocked_reason
        self.note = event.note if event.status in OVER or event.status == "blocked" else Said()
        if event.status not in OVER:
            return ()
        # What was still at work when the run ended will never say so itself.
        left = [path for path, row in self._rows.items() if row.told.state in ACTIVE]
        why = Said("the run was stopped" if event.status == "cancelled" else "the run ended")
        for path in left:
            row = self._rows[path]
            row.change(row.told.model_copy(update={"state": "stopped", "doing": why}), seconds)
        return tuple(left)

    def _line_of(self, node: str) -> tuple[str, ...]:
        """The rows that an event counts for: its own (or the nearest above it) and all above that."""
        parts = node.split("/")
        paths = ["/".join(parts[:length]) for length in range(len(parts), 0, -1)]
        return tuple(path for path in paths if path in self._rows)

    def _number(self, path: str) -> str:
        several = sum(1 for row in self._rows.values() if row.told.role == "query") > 1
        steps = path.split("/")[1:]
        numbers = [self._place_among("/".join(path.split("/")[: depth + 2]), step) for depth, step in enumerate(steps)]
        shown = numbers if several else numbers[1:]
        return "" if None in shown else ".".join(str(number) for number in shown)

    def _place_among(self, path: str, step: str) -> int | None:
        """Count a branch from 1: planned ones by the plan, those of later rounds behind them; None for other work."""
        if step.isdigit():
            return int(step) + 1
        if not _LATER.fullmatch(step):
            return None
        above = path.rpartition("/")[0] + "/"
        beside = {one[len(above) :].partition("/")[0] for one in self._rows if one.startswith(above)}
        planned = max((int(one) + 1 for one in beside if one.isdigit()), default=0)
        later = sorted((one for one in beside if _LATER.fullmatch(one)), key=_rank)
        return planned + later.index(step) + 1 if step in later else None

    def node(self, path: str, at: float | None = None) -> TreeNode:
        """Draw one row, as it stands at `at` seconds (default: at the last event)."""
        row = self._rows[path]
        told, until = row.told, max(self.seconds, at or 0.0) if row.ended is None else row.ended
        return TreeNode(
            id=path, parent=told.parent if told.parent in self._rows else "", n=self._number(path), role=told.role,
            title=told.title, state=told.state, said=told.doing, sources=len(row.sources),
            facts=row.facts, tokens=row.usage.tokens, cost_usd=row.usage.cost_usd,
            seconds=0.0 if row.started is None else round(max(0.0, until - row.started), 3),
        )  # fmt: skip

    @property
    def ending(self) -> Ending:
        """How it ended, as card and talk say it."""
        if self.status not in OVER:
            return ""
        if self.status != "done":
            return "stopped" if self.status == "cancelled" else "failed"
        whole = all(row.told.state == "done" for row in self._rows.values() if row.told.role == "leaf")
        return "partial" if self.grade is None or (self.grade == "complete" and not whole) else self.grade

    @property
    def kept(self) -> bool:
        """Whether it found something of which no report was written."""
        return self.grade is None and any(row.facts for row in self._rows.values())

    def spent(self) -> RunTotals:
        """Sum up over the whole run."""
        usage = self.usage
        return RunTotals(
            sources=len(self._sources), pages=self._pages.fetched, empty=self._pages.empty, searches=self.searches,
            tokens=usage.tokens, cost_usd=usage.cost_usd,
        )  # fmt: skip

    def view(self, at: float | None = None) -> TreeView:
        """Draw the whole tree, as it stands at `at` seconds (default: at the last event)."""
        over = self.status in OVER
        paths = sorted(self._rows, key=lambda path: [_rank(step) for step in path.split("/")])
        return TreeView(
            status=self.status, stage=self.stage, seq=self.seq, now=self.now, note=self.note, grade=self.grade,
            seconds=self.seconds if over or at is None else round(max(self.seconds, at), 3), ending=self.ending,
            kept=self.kept, limited=self.limited, blocked_reason=self.blocked_reason, usage=self.spent(), feed=tuple(self._feed),
            nodes=tuple(self.node(path, None if over else at) for path in paths),
        )  # fmt: skip


def live_tree(job: Job) -> TreeView:
    """Draw the tree of a job as it stands now, with what it may spend."""
    run, held = job.run, job.contract is None or not job.contract.cost_unheld
    limit = run.budget.limits.cost_usd if held else None
    minutes = None if run.total_s is None else round((run.steering.began_s + run.total_s) / 60, 2)
    given = {"minutes": minutes, "reserve_s": run.reserve_s, "max_cost_usd": limit}
    return Tree(run.events).view(run.now()).model_copy(update=given)


async def progress(job: Job, heartbeat_s: float = 15.0) -> AsyncIterator[tuple[Tree, str]]:
    """Tell the progress of a job to whoever waits for it, a line with the tree it comes of; an empty one as a heartbeat."""
    tree = Tree()
    async for numbered in job.follow(heartbeat_s=heartbeat_s, attended=True):
        if numbered is None:
            yield tree, ""
        elif tree.take(numbered) is not None and tree.line:
            yield tree, tree.line
    await job.settled()


_LATER = re.compile(r"r(\d+)-(\d+)")  # how branches of later rounds are named: `r2-0`


def _rank(step: str) -> tuple[int, int, int, str]:
    """Reading order: planned branches, 10 after 9, then those of later rounds, then other work."""
    if step.isdigit():
        return (0, int(step), 0, "")
    later = _LATER.fullmatch(step)
    return (1, int(later[1]), int(later[2]), "") if later else (2, 0, 0, step)


_PARTS: dict[events.NodeState, str] = {
    "planning": "Planning {part}.", "searching": "Searching for {part}.", "reading": "Reading for {part}.",
    "writing": "Writing {part}.", "retrying": "Trying {part} again.", "done": "{part} done.",
    "partial": "{part} partial.", "empty": "{part} found nothing.", "failed": "{part} failed.",
    "stopped": "{part} stopped.",
}  # fmt: skip


def _told(event: object) -> Said | None:
    """One line for the feed; None for what no reader needs to hear."""
    match event:
        case events.JobChanged():
            rests = event.status in OVER or event.status == "blocked"
            stage = STAGES["completed" if event.status in OVER else event.stage]
            return event.note if rests and event.note else Said(stage)
        case events.SourceRead():
            return Said("Read “{title}”: {n} {n:fact|facts}.", title=event.source.title, n=event.facts)
        case events.SourceRejected():
            return Said("Left out {url}: {reason}.", url=event.url, reason=event.why)
        case events.RoundEnded(record=record):
            topic = record.decision.nextSearchTopic or ""
            goes_on = "now {topic}" if record.decision.shouldContinue and topic else "it was the last"
            form = f"Round {{n}}: {{covered}} % of what is asked is answered by enough sources; {goes_on}."
            return Said(form, n=record.round, covered=round(100 * record.coverage), topic=topic.rstrip(" .?"))
        case events.SectionDraft():
            return Said("Writing “{title}”: {sentence}", title=event.title, sentence=event.text)
        case events.SectionWritten():
            return Said("Wrote “{title}”, {n} {n:word|words}.", title=event.title, n=event.words)
        case events.ReportWritten():
            return Said("Report saved, {n} {n:reference|references}.", n=event.references)
        case events.Noted():
            return event.text
    return None


STATES: Mapping[Steered, frozenset[events.NodeState]] = {"retry": AGAIN, "drop": DROPPABLE}
"""States of a branch in which it can be done; the others only while it is at work."""


def steer(jobs: "Client", job: Job, node: TreeNode, what: Steered) -> Change | None:
    """Do one of them; gives the recorded change, None when the state of the branch leaves nothing to do.

    A `BadRequest` says that the branch was given up, its part of the run searches no further, or it is written over by now.
    """
    if job.over or node.state not in STATES.get(what, ACTIVE):
        return None
    return jobs.steer(job, what, node.id, f"{node.n} “{node.title}”".strip())
