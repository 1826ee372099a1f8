"""A job's events as server-sent events, each with the rows of the tree that it changed."""

import json
from collections.abc import AsyncIterator

from agents.api.tree import Tree
from agents.events import Numbered
from agents.jobs.service import Job


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


async def event_stream(
    job: Job, after: int, *, heartbeat_s: float = 15.0, attended: bool = False
) -> AsyncIterator[str]:
    """Write the events after number `after`, then new ones as they come, until the last (see `Job.follow`)."""
    # Rows are sums over all that went before: what the caller already has is folded, not sent.
    tree = Tree(job.run.events[:after])
    yield "retry: 2000\n\n"
    async for numbered in job.follow(after, heartbeat_s=heartbeat_s, attended=attended):
        yield ": still here\n\n" if numbered is None else _message(tree, numbered)
