"""The server with a run that is nothing but events: many branches, many events a second. For measuring the chat."""

import asyncio
import os
import time
from functools import partial

import agents.team
from agents.api.serve import serve
from agents.core.events import NodeChanged
from agents.core.settings import load
from agents.research.pipeline import carry_out

NODES = int(os.environ.get("BENCH_NODES", "0"))
EVENTS_A_SECOND = int(os.environ.get("BENCH_EVENTS", "20"))
STATES = ("searching", "reading", "writing", "reading", "searching")


def storm(context, means):
    """Tell of as many branches as wished, then of changes to them for ever; as usual when none is wished."""
    if not NODES:
        return partial(carry_out, context, means)

    def changed(number, state, key, ctx):
        child, parent = f"{ctx.path}/0/{number // 10}/{number % 10}", f"{ctx.path}/0/{number // 10}"
        # When it was said, for those who measure how long it takes to be heard.
        doing = (
            f"{time.time():.4f} document {key} of many, looking for what the harbour log says about winter {key % 90}"
        )
        ctx.emit(
            f"{number}:{key}",
            NodeChanged(node=child, parent=parent, role="leaf", title=f"Branch {number}", state=state, doing=doing),
        )

    async def run(ctx, given):
        ctx.emit(
            "root", NodeChanged(node=f"{ctx.path}/0", parent=ctx.path, role="query", title="All", state="searching")
        )
        for number in range(NODES // 10):
            path = f"{ctx.path}/0/{number}"
            ctx.emit(
                f"n{number}",
                NodeChanged(node=path, parent=f"{ctx.path}/0", role="node", title=f"Part {number}", state="searching"),
            )
        for number in range(NODES - NODES // 10 - 1):
            changed(number, "queued", 0, ctx)
        key = 0
        while True:
            for _ in range(max(1, EVENTS_A_SECOND // 10)):
                key += 1
                changed(key * 7 % (NODES - NODES // 10 - 1), STATES[key % len(STATES)], key, ctx)
            await asyncio.sleep(0.1)

    return run


if __name__ == "__main__":
    agents.team.research_handler = storm
    serve(load())
