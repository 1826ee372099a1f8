"""Calls as those are told of them who trace: which, where, how long, and what came of it."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from agents.contracts.frozen import Frozen
from agents.core.port import Pool
from agents.core.trace_context import TraceContext, current_trace


@dataclass(frozen=True)
class CallMade:
    """An effect that was really done, not read back."""

    place: TraceContext
    pool: Pool
    seconds: float
    value: Frozen | None
    """What came of it; None where it failed."""
    error: str = ""
    """Name of the error it failed with."""


Watcher = Callable[[CallMade], None]


async def watched(
    watchers: Sequence[Watcher], pool: Pool, fn: Callable[..., Awaitable[Frozen]], args: tuple[Any, ...]
) -> Frozen:
    """Do an effect and tell of it, however it ends; being cut off is not told."""
    began = time.perf_counter()  # beside the job's own clock, which counts for what is recorded

    def tell(value: Frozen | None, error: str = "") -> None:
        for watcher in watchers:
            watcher(CallMade(current_trace(), pool, time.perf_counter() - began, value, error))

    try:
        done = await fn(*args)
    except Exception as error:
        tell(None, type(error).__name__)
        raise
    tell(done)
    return done
