"""The one writer of what running jobs leave behind: whatever is waiting goes into one transaction.

Why steps are recorded here and not by DBOS: DBOS finds a step by its position in its workflow, and parallel branches
take positions as they finish, so on a replay answers would be handed to the wrong branch. Here a step has its own key.
It is also several times as fast, and a later attempt at a job can use what an earlier one found.
"""

import asyncio
import contextlib
import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection

from agents.core.events import JobChanged, Numbered
from agents.jobs import schema as tables
from agents.jobs.attempt import Fenced, StepRecord
from agents.jobs.blob_store import hashes_in
from agents.jobs.store import EVENTS, Store, insert_all, now

log = logging.getLogger(__name__)


@dataclass
class _Batch:
    rows: list[tuple[sa.Table, tables.Record]] = field(default_factory=list)
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
        row = {"job_id": job_id, "attempt": attempt, "seq": numbered.seq, "key": numbered.key, "at": now()}
        self._batch.rows.append((tables.events, row | {"body": numbered.model_dump_json()}))
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
        """Write a step's record; returns when it is stored, or `Fenced` where a later attempt has begun."""
        row = {"job_id": job_id, "attempt": attempt, "key": key, "record": record.model_dump_json()}
        used = [{"job_id": job_id, "attempt": attempt, "hash": name} for name in sorted(hashes_in(record.value))]
        self._batch.rows += [(tables.steps, row), *((tables.text_uses, one) for one in used)]
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
        while not (self._closing and self._batch == _Batch()):
            await self._wake.wait()
            self._wake.clear()
            batch, self._batch = self._batch, _Batch()
            if batch == _Batch():
                continue
            failure = await self._store(batch)
            for waiter in batch.done:
                if not waiter.done() and failure is None:
                    waiter.set_result(None)
                elif not waiter.done():
                    waiter.set_exception(failure or OSError())
            if failure is None:
                for job_id, attempt, stored in batch.stored:
                    if (job_id, attempt) not in self._fenced:
                        stored()
                await self._notify(batch)
            elif self._closing:
                return
            else:
                self._put_back(batch)

    async def _notify(self, batch: _Batch) -> None:
        """Have those who watch from elsewhere look at once; if it fails they look a moment later."""
        changed = {str(row["job_id"]) for of, row in batch.rows if of is tables.events} | {
            job for job, _ in batch.changes
        }
        with contextlib.suppress(SQLAlchemyError, OSError):
            await self.store.notify(EVENTS, sorted(changed))

    def _put_back(self, batch: _Batch) -> None:
        """Put what could not be written before what came since; writing a row twice changes nothing."""
        since = self._batch
        for of, values in since.changes.items():
            batch.changes[of] |= values
        self._batch = _Batch(batch.rows + since.rows, batch.changes, batch.stored + since.stored, since.done)
        self._wake.set()

    async def _drop_deleted(self, batch: _Batch) -> None:
        """Drop what belongs to jobs that were deleted meanwhile."""
        there = await self.store.states(tuple({str(row["job_id"]) for _, row in batch.rows}))
        batch.rows = [(of, row) for of, row in batch.rows if row["job_id"] in there]

    async def _fence(self, connection: AsyncConnection, batch: _Batch) -> None:
        """Drop the events and steps of attempts that were overtaken; on one machine none ever is.

        Two attempts that went on numbering the same events would each lose those whose number or key the other took.
        """
        if self.store.database.sqlite or not batch.rows:
            return
        query = sa.select(tables.jobs.c.id, tables.jobs.c.attempt)
        query = query.where(tables.jobs.c.id.in_({str(row["job_id"]) for _, row in batch.rows}))
        query = query.order_by(tables.jobs.c.id).with_for_update(key_share=True)
        latest = dict((await connection.execute(query)).tuples().all())
        given = {(row["job_id"], row["attempt"]) for _, row in batch.rows}
        self._fenced |= {(job_id, attempt) for job_id, attempt in given if attempt < latest.get(job_id, 0)}
        batch.rows = [(of, row) for of, row in batch.rows if (row["job_id"], row["attempt"]) not in self._fenced]

    async def _store(self, batch: _Batch) -> Exception | None:
        failure: Exception | None = None
        for wait_s in (*self._again_s, None):
            try:
                if isinstance(failure, IntegrityError):
                    await self._drop_deleted(batch)
                async with self.store.database.begin() as connection:
                    await self._fence(connection, batch)
                    for table in (tables.events, tables.steps, tables.text_uses):
                        rows = [row for of, row in batch.rows if of is table]
                        await insert_all(connection, self.store, table, rows)
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
