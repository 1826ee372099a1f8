"""A few seeded runs of every kind of fault; `make chaos` makes hundreds."""

import asyncio

import pytest

from tests.bench.chaos import Fault, one

SEED = 1
KINDS = (
    "429", "hang", "malformed", "cut stream", "adapter crash", "search crash", "dead host", "code crash", "clock jump",
    "paused and resumed", "disk full", "read-only folder", "corrupt store", "database locked",
    "SIGTERM",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
async def test_a_job_under_a_fault_keeps_its_promises(kind, tmp_path):
    assert await asyncio.wait_for(one(tmp_path, Fault(kind, SEED)), 60) == []
