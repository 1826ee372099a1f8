"""One writer for all that running jobs leave behind: whatever is waiting goes into one transaction."""

import asyncio
import contextlib
import json
import logging
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from agents.core.events import Charged, JobChanged, Numbered
from agents.jobs import schema as tables
from agents.jobs.blob_store import hashes_in
from agents.jobs.records import StepRecord
from agents.jobs.store import EVENTS, Store, insert_all, now

log = logging.getLogger(__name__)

AGAIN_S = (0.1, 0.3, 1.0, 3.0)
"""Seconds between attempts to write; then the jobs that wait are told."""


@dataclass
class _Batch:
    rows: dict[sa.Table, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    changes: dict[str, dict[str, Any]] = field(default_factory=lambda: defaultdict(dict))
    told: list[Callable[[], None]] = field(default_factory=list)
    done: list[asyncio.Future[None]] = field(default_factory=list)


class Journal:
    """Writes events, steps and changes of jobs in the order they came, many at a time."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._batch = _Batch()
        self._wake = asyncio.Event()
        self._writer: asyncio.Task[None] | None = None
        self._closing = False

    def open(self) -> None:
        """Start to write."""
        self._closing = False
        self._writer = asyncio.get_running_loop().create_task(self._write(), name="job-journal")

    async def close(self) -> None:
        """Write what is waiting, then stop."""
        self._closing = True
        self._wake.set()
        if self._writer is not None:
            await asyncio.wait({self._writer})

    def event(self, job_id: str, numbered: Numbered, told: Callable[[], None]) -> None:
        """Write an event; `told` is called once it is kept."""
        self._batch.rows[tables.events].append(
            {
                "job_id": job_id,
                "seq": numbered.seq,
                "key": numbered.key,
                "seconds": numbered.seconds,
                "kind": numbered.event.kind,
                "body": numbered.model_dump_json(),
                "at": now(),
            }
        )
        if isinstance(numbered.event, JobChanged):
            event = numbered.event
            # What was found is on its way while the status says so: stages go with the status.
            self._batch.changes[job_id] |= {
                "status": event.status,
                "stage": event.stage,
                "blocked_reason": event.blocked_reason,
                "note": event.note,
            }
        self._batch.told.append(told)
        self._wake.set()

    def change(self, job_id: str, **values: Any) -> None:
        """Change a job's row with the next writing."""
        self._batch.changes[job_id] |= values
        self._wake.set()

    async def step(self, job_id: str, key: str, attempt: int, record: StepRecord) -> None:
        """Write a step's record and what it cost; returns when it is kept."""
        batch = self._batch
        batch.rows[tables.steps].append(
            {"job_id": job_id, "key": key, "attempt": attempt, "record": record.model_dump_json(), "at": now()}
        )
        if record.value is not None:
            uses = [{"job_id": job_id, "hash": name} for name in sorted(hashes_in(record.value))]
            batch.rows[tables.text_uses] += uses
            usage = Charged.model_validate({"usage": json.loads(record.value).get("usage") or {}}).usage
            if usage.calls or usage.searches:
                batch.rows[tables.costs].append(
                    {
                        "job_id": job_id,
                        "key": key,
                        "attempt": attempt,
                        "calls": usage.calls,
                        "tokens_in": usage.tokens_in,
                        "tokens_out": usage.tokens_out,
                        "searches": usage.searches,
                        "cost_usd": usage.cost_usd,
                    }
                )
        await self.flush()

    async def flush(self) -> None:
        """Wait until everything given so far is kept."""
        kept = asyncio.get_running_loop().create_future()
        self._batch.done.append(kept)
        self._wake.set()
        await kept

    async def _write(self) -> None:
        while True:
            if not (self._batch.rows or self._batch.changes or self._batch.done):
                if self._closing:
                    return
                self._wake.clear()
                await self._wake.wait()
                continue
            batch, self._batch = self._batch, _Batch()
            waiting = batch.done
            failure = await self._keep(batch)
            if failure is None:
                for tell in batch.told:
                    tell()
            else:
                self._put_back(batch)
            for kept in waiting:
                if kept.done():
                    continue
                if failure is None:
                    kept.set_result(None)
                else:
                    kept.set_exception(failure)
            if failure is None:
                await self._ring(batch)
            elif self._closing:
                return

    async def _ring(self, batch: _Batch) -> None:
        """Have those who watch from elsewhere look at once; if it fails they look a moment later."""
        told = {str(row["job_id"]) for row in batch.rows.get(tables.events, ())} | set(batch.changes)
        with contextlib.suppress(SQLAlchemyError, OSError):
            await self.store.ring(EVENTS, sorted(told))

    def _put_back(self, batch: _Batch) -> None:
        """Keep what could not be written for the next time; it may be there already by then, which changes nothing."""
        later, self._batch = self._batch, batch
        for table, rows in later.rows.items():
            batch.rows[table] += rows
        for job_id, values in later.changes.items():
            batch.changes[job_id] |= values
        batch.told += later.told
        batch.done = later.done

    async def _drop_deleted(self, batch: _Batch) -> None:
        """Let go of what belongs to jobs that were deleted meanwhile."""
        wanted = {str(row["job_id"]) for rows in batch.rows.values() for row in rows}
        there = await self.store.states(tuple(wanted))
        for rows in batch.rows.values():
            rows[:] = [row for row in rows if row["job_id"] in there]

    async def _keep(self, batch: _Batch) -> Exception | None:
        failure: Exception | None = None
        for wait_s in (*AGAIN_S, None):
            try:
                if isinstance(failure, IntegrityError):
                    await self._drop_deleted(batch)
                async with self.store.database.begin() as connection:
                    for table in (tables.events, tables.steps, tables.text_uses, tables.costs):
                        await insert_all(connection, self.store, table, batch.rows.get(table, []))
                    for job_id, values in batch.changes.items():
                        query = sa.update(tables.jobs).where(tables.jobs.c.id == job_id)
                        await connection.execute(query.values(updated=now(), **values))
                return None
            except (SQLAlchemyError, OSError) as error:
                # A full disk or a locked database: nothing is told, and what waits for it fails loudly.
                log.error("the job store can't be written: %s", error)  # noqa: TRY400 - the trace says nothing more
                failure = error
                if wait_s is not None:
                    await asyncio.sleep(wait_s)
        return failure
