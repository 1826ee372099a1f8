"""The one writer of what running jobs leave behind: whatever is waiting goes into one transaction.

Why steps are recorded here and not by DBOS: DBOS finds a step by its position in its workflow, and parallel branches
take positions as they finish, so on a replay answers would be handed to the wrong branch. Here a step has its own key.
It is also several times as fast, and a later attempt at a job can use what an earlier one found.
"""

import asyncio
import contextlib
import json
import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection

from agents.core.budget import NOTHING
from agents.core.events import Charged, JobChanged, Numbered
from agents.jobs import schema as tables
from agents.jobs.attempt import Fenced, StepRecord
from agents.jobs.blob_store import hashes_in
from agents.jobs.store import EVENTS, Store, insert_all, now

log = logging.getLogger(__name__)


@dataclass
class _Batch:
    rows: dict[sa.Table, list[tables.Record]] = field(default_factory=lambda: defaultdict(list))
    changes: dict[tuple[str, int | None], tables.Record] = field(default_factory=lambda: defaultdict(dict))
    stored: list[tuple[str, int, Callable[[], None]]] = field(default_factory=list)
    done: list[asyncio.Future[None]] = field(default_factory=list)


class Writer:
    """Writes events, steps and changes of jobs in the order they came, many at a time."""

    def __init__(self, store: Store, again_s: Sequence[float] = ()) -> None:
        self.store, self._again_s = store, again_s
        self._batch = _Batch()
        self._fenced: set[tuple[object, object]] = set()
        self._wake = asyncio.Event()
        self._writer: asyncio.Task[None] | None = None
        self._closing = False

    def open(self) -> None:
        self._closing = False
        self._writer = asyncio.get_running_loop().create_task(self._write(), name="job-writer")

    async def close(self) -> None:
        self._closing = True
        self._wake.set()
        if self._writer is not None:
            await asyncio.wait({self._writer})

    def event(self, job_id: str, attempt: int, numbered: Numbered, stored: Callable[[], None]) -> None:
        """Write an event; `stored` is called once it is in the store, never where a later attempt has begun."""
        row = {"job_id": job_id, "kind": numbered.event.kind, "body": numbered.model_dump_json(), "at": now()}
        row |= {"attempt": attempt, **numbered.model_dump(include={"seq", "key", "seconds"})}
        self._batch.rows[tables.events].append(row)
        if isinstance(numbered.event, JobChanged):
            # What was found is on its way while the status says so: stages go with the status.
            told = numbered.event.model_dump(exclude={"kind", "note"})
            self._batch.changes[job_id, attempt] |= {**told, "note": str(numbered.event.note)}
        self._batch.stored.append((job_id, attempt, stored))
        self._wake.set()

    def change(self, job_id: str, attempt: int | None = None, **values: object) -> None:
        """Change a job's row with the next writing; with `attempt`, unless a later one has begun."""
        self._batch.changes[job_id, attempt] |= values
        self._wake.set()

    async def step(self, job_id: str, key: str, attempt: int, record: StepRecord) -> None:
        """Write a step's record and what it cost; returns when it is stored, or `Fenced` where a later attempt has begun."""
        batch = self._batch
        batch.rows[tables.steps].append(
            {"job_id": job_id, "key": key, "attempt": attempt, "record": record.model_dump_json(), "at": now()}
        )
        usage = record.spent.usage if record.spent else NOTHING
        if record.failure is None:
            batch.rows[tables.text_uses].extend(
                {"job_id": job_id, "hash": name} for name in sorted(hashes_in(record.value))
            )
            usage = Charged.model_validate({"usage": json.loads(record.value).get("usage") or {}}).usage
        if usage.calls or usage.searches:
            batch.rows[tables.costs].append({"job_id": job_id, "key": key, "attempt": attempt, **usage.model_dump()})
        await self.flush()
        if (job_id, attempt) in self._fenced:
            raise Fenced(job_id)

    async def flush(self) -> None:
        """Wait until everything given so far is stored."""
        stored = asyncio.get_running_loop().create_future()
        self._batch.done.append(stored)
        self._wake.set()
        await stored

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
            failure = await self._store(batch)
            if failure is None:
                for job_id, attempt, stored in batch.stored:
                    if (job_id, attempt) not in self._fenced:
                        stored()
            else:
                self._put_back(batch)
            for waiter in waiting:
                if waiter.done():
                    continue
                if failure is None:
                    waiter.set_result(None)
                else:
                    waiter.set_exception(failure)
            if failure is None:
                await self._notify(batch)
            elif self._closing:
                return

    async def _notify(self, batch: _Batch) -> None:
        """Have those who watch from elsewhere look at once; if it fails they look a moment later."""
        changed = {str(row["job_id"]) for row in batch.rows.get(tables.events, ())} | {job for job, _ in batch.changes}
        with contextlib.suppress(SQLAlchemyError, OSError):
            await self.store.notify(EVENTS, sorted(changed))

    def _put_back(self, batch: _Batch) -> None:
        """Put what could not be written back for the next time; writing a row twice changes nothing."""
        later, self._batch = self._batch, batch
        for table, rows in later.rows.items():
            batch.rows[table] += rows
        for of, values in later.changes.items():
            batch.changes[of] |= values
        batch.stored += later.stored
        batch.done = later.done

    async def _drop_deleted(self, batch: _Batch) -> None:
        """Drop what belongs to jobs that were deleted meanwhile."""
        wanted = {str(row["job_id"]) for rows in batch.rows.values() for row in rows}
        there = await self.store.states(tuple(wanted))
        for rows in batch.rows.values():
            rows[:] = [row for row in rows if row["job_id"] in there]

    async def _fence(self, connection: AsyncConnection, batch: _Batch) -> None:
        """Drop the events and steps of attempts that were overtaken; on one machine none ever is.

        Two attempts that went on numbering the same events would each lose those whose number or key the other took.
        """
        fenced = [rows for table in (tables.events, tables.steps) if (rows := batch.rows.get(table))]
        if self.store.database.sqlite or not fenced:
            return
        query = sa.select(tables.jobs.c.id, tables.jobs.c.attempt)
        query = query.where(tables.jobs.c.id.in_({str(row["job_id"]) for rows in fenced for row in rows}))
        query = query.order_by(tables.jobs.c.id).with_for_update(key_share=True)
        latest = dict((await connection.execute(query)).tuples().all())
        for rows in fenced:  # what they cost was paid all the same
            late = {(row["job_id"], row["attempt"]) for row in rows if row["attempt"] < latest.get(row["job_id"], 0)}
            rows[:] = [row for row in rows if (row["job_id"], row["attempt"]) not in late]
            self._fenced |= late

    async def _store(self, batch: _Batch) -> Exception | None:
        failure: Exception | None = None
        for wait_s in (*self._again_s, None):
            try:
                if isinstance(failure, IntegrityError):
                    await self._drop_deleted(batch)
                async with self.store.database.begin() as connection:
                    await self._fence(connection, batch)
                    for table in (tables.events, tables.steps, tables.text_uses, tables.costs):
                        await insert_all(connection, self.store, table, batch.rows.get(table, []))
                    for (job_id, attempt), values in batch.changes.items():
                        query = sa.update(tables.jobs).where(tables.jobs.c.id == job_id)
                        query = query if attempt is None else query.where(tables.jobs.c.attempt == attempt)
                        await connection.execute(query.values(updated=now(), **values))
                return None
            except (SQLAlchemyError, OSError) as error:
                # A full disk or a locked database: no event is shown, and what waits for it fails loudly.
                log.error("the job store can't be written: %s", error)  # noqa: TRY400 - the trace says nothing more
                failure = error
                if wait_s is not None:
                    await asyncio.sleep(wait_s)
        return failure
