"""Where in which job the running code is, for whatever it says: logs, traces, the callbacks of a model library.

It travels with the context of a task, so that a line logged deep in an adapter names the call that it belongs to.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class TraceContext:
    """A job, a node of its tree, and the call that the node makes; empty where there is none."""

    job_id: str = ""
    node: str = ""
    """Path, for example `job/0/1`."""
    call: str = ""
    """Kind and key of the step, for example `extract:0`."""

    def named(self) -> dict[str, str]:
        """Give those parts that are known, by name."""
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
