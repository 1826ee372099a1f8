"""A job's events as server-sent events, each with the rows of the tree that it changed."""

import json
import weakref
from collections import deque
from collections.abc import AsyncIterator, Sequence

from agents.api.tree import Tree
from agents.core.events import Numbered
from agents.jobs.job import Job
from agents.jobs.run import Run

KEPT = 500
"""Messages of a run that are kept for those who watch; who is further behind has its own made."""


def _message(tree: Tree, numbered: Numbered) -> str:
    changed = tree.take(numbered)
    rows = [tree.node(path).model_dump() for path in changed]
    data = {
        "seq": numbered.seq,
        "seconds": numbered.seconds,
        "kind": numbered.event.kind,
        "event": numbered.event.model_dump(mode="json"),
        # The row that the event is about, and that one with all above it, whose sums changed too.
        "node": rows[0] if rows else None,
        "nodes": rows,
        "status": tree.status,
        "stage": tree.stage,
        "now": tree.now,
        "note": tree.note,
        "feed_text": tree.line,
        "usage": tree.spent().model_dump(),
    }
    return f"id: {numbered.seq}\nevent: {numbered.event.kind}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"


class Told:
    """One run's messages, made once for all who watch it: a message depends on the events before it and on nothing else."""

    def __init__(self) -> None:
        self._tree, self._seq = Tree(), 0
        self._messages: deque[str] = deque(maxlen=KEPT)

    def message(self, events: Sequence[Numbered], numbered: Numbered) -> str | None:
        """Give the message of an event; None where it lies too far back."""
        while self._seq < numbered.seq - 1:
            # Nobody watched while these came; their rows count in those that follow.
            self._tree.take(events[self._seq])
            self._seq += 1
            self._messages.clear()
        if self._seq == numbered.seq - 1:
            self._messages.append(_message(self._tree, numbered))
            self._seq = numbered.seq
        back = self._seq - numbered.seq
        return self._messages[-1 - back] if back < len(self._messages) else None


_told: dict[int, Told] = {}
"""Of runs that were watched, by the identity of the run; gone with it."""


def told_of(run: Run) -> Told:
    """Give what is told of a run to all who watch it."""
    known = _told.get(id(run))
    if known is None:
        known = _told[id(run)] = Told()
        weakref.finalize(run, _told.pop, id(run), None)
    return known


async def event_stream(
    job: Job, after: int, *, heartbeat_s: float = 15.0, attended: bool = False
) -> AsyncIterator[str]:
    """Write the events after number `after`, then new ones as they come, until the last (see `Job.follow`)."""
    own: Tree | None = None
    yield "retry: 2000\n\n"
    async for numbered in job.follow(after, heartbeat_s=heartbeat_s, attended=attended):
        if numbered is None:
            yield ": still here\n\n"
            continue
        message = told_of(job.run).message(job.run.events, numbered)
        if message is None:
            # Rows are sums over all that went before: what the caller already has is folded, not sent.
            own = own or Tree(job.run.events[: numbered.seq - 1])
            message = _message(own, numbered)
        yield message
