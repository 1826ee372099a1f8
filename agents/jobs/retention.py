"""How long things stay: which jobs are old, which texts nobody uses, and what is left over of deleted jobs."""

import logging
from collections.abc import Awaitable, Callable, Collection
from datetime import timedelta
from functools import partial

import sqlalchemy as sa

from agents.contracts.report import OVER
from agents.jobs import schema as tables
from agents.jobs.blob_store import BlobStore
from agents.jobs.store import Store, now

log = logging.getLogger(__name__)

MANY = 200  # jobs deleted in one transaction, and names asked for in one query
GRACE = timedelta(days=1)
"""Age from which an unused text is swept out: one is put a moment before the step that names it is written down."""


async def purge(store: Store, days: float, before: Callable[[str, int], Awaitable[None]] | None = None) -> int:
    """Delete jobs that have been over for some days, with events, reports and all; says how many there were.

    Id and attempt of each are told `before` it is deleted.
    """
    gone, jobs = 0, tables.jobs.c
    query = sa.select(jobs.id, jobs.attempt).where(jobs.status.in_(OVER), jobs.updated < now() - timedelta(days=days))
    while old := await store.rows(query.order_by(jobs.updated).limit(MANY)):
        for row in old:
            if before is not None:
                await before(row["id"], row["attempt"])
        gone += await store.delete([row["id"] for row in old])
    return gone


async def known_jobs(store: Store, job_ids: Collection[str]) -> set[str]:
    """Tell which of some jobs the store has."""
    return await _among(store, tables.jobs.c.id, job_ids)


async def sweep(store: Store, blobs: BlobStore) -> int:
    """Delete the texts that no job uses any more; says how many there were."""
    gone = await blobs.sweep(partial(_among, store, tables.text_uses.c.hash), now() - GRACE)
    if gone:
        log.info("%d texts that no job uses any more were deleted", gone)
    return gone


async def _among(store: Store, column: sa.Column[str], names: Collection[str]) -> set[str]:
    wanted, found = sorted(names), set[str]()
    for start in range(0, len(wanted), MANY):
        query = sa.select(column).where(column.in_(wanted[start : start + MANY])).distinct()
        found |= set(await store.texts(query))
    return found
