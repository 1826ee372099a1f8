"""The job store: jobs and all that belongs to them, in SQL. Writing a row twice changes nothing.

Texts in the database: for several machines, which share no folder.
"""

import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import sqlalchemy as sa
from pydantic import Field, ValidationError, WrapValidator
from pydantic_core import from_json, to_json
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from agents.contracts.frozen import Frozen, digest
from agents.contracts.report import OVER, BlockedReason, Commission, Grade, JobStatus, JobSummary, ReportDocument, Stage
from agents.core.budget import Limits
from agents.core.errors import SourceError
from agents.core.events import Numbered
from agents.jobs import schema as tables
from agents.jobs.attempt import StepRecord
from agents.jobs.blob_store import BlobStore
from agents.jobs.config import session_of
from agents.jobs.database import Database
from agents.jobs.schema import Row
from agents.research.steering import Steering


def now() -> datetime:
    """Give the time, in UTC."""
    return datetime.now(UTC)


class StoredJob(Frozen):
    """One row of the list of jobs; a new one waits in the queue."""

    id: str = Field(default_factory=lambda: uuid.uuid4().hex)
    owner: str
    title: str
    status: JobStatus = "queued"
    stage: Stage = "planning"
    blocked_reason: BlockedReason | None = None
    grade: Grade | None = None
    note: str = ""
    thread_id: str = ""
    attempt: int = 1
    again: int = 0
    executor: str = ""
    code_version: str
    created: datetime = Field(default_factory=now)
    updated: datetime = Field(default_factory=now)

    @property
    def over(self) -> bool:
        return self.status in OVER


C = TypeVar("C", Commission, Limits, Steering)
InColumn = Annotated[
    C, WrapValidator(lambda given, known: known(from_json(given) if isinstance(given, str) else given))
]
"""A contract that stands in a column as JSON."""


class WholeJob(StoredJob):
    """One job with what it takes to run or to show it."""

    commission: InColumn[Commission]
    limits: InColumn[Limits]
    steering: InColumn[Steering]


class StoredCommand(Frozen):
    """One command for the process that runs a job."""

    id: int
    job_id: str
    verb: str
    argument: str
    at: datetime
    taken_by: str | None
    outcome: str

    @property
    def status(self) -> Literal["queued", "running", "done", "refused"]:
        if self.outcome:
            return "done" if self.outcome == DONE else "refused"
        return "running" if self.taken_by else "queued"


Insert = sqlite.Insert | postgresql.Insert
LISTED = tuple(tables.jobs.c[name] for name in StoredJob.model_fields)
WHOLE = tuple(tables.jobs.c[name] for name in WholeJob.model_fields)
EVENTS, COMMANDS = "dossier_events", "dossier_commands"
"""PostgreSQL channels that tell other processes at once of a job's events, or of a command for its worker."""
DONE = "done"  # the answer to a command that was done
WHEN_ENDED = ("task:plan", "task:challenge")
"""Commands that begin the next attempt: they wait until the present one has ended."""
MANY = 200  # jobs deleted in one transaction
BY_AGE = (tables.jobs.c.created.desc(), tables.jobs.c.id.desc())


class Store:
    """Jobs in a database."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.insert = partial(_insert, database.sqlite)

    async def rows(self, query: sa.Executable) -> Sequence[sa.RowMapping]:
        async with self.database.reading() as connection:
            return (await connection.execute(query)).mappings().all()

    async def texts(self, query: sa.Executable) -> Sequence[str]:
        return [value for row in await self.rows(query) for value in row.values()]

    async def text(self, query: sa.Executable) -> str | None:
        """Read the only value that a query gives; None where there is none."""
        return next(iter(await self.texts(query)), None)

    async def write(self, query: sa.Executable) -> int:
        """Write in a transaction of its own; says how many rows there were."""
        async with self.database.begin() as connection:
            return int((await connection.execute(query)).rowcount)

    async def _jobs(
        self, *which: sa.ColumnElement[bool], order: Sequence[sa.ColumnElement[object]] = (), limit: int | None = None
    ) -> list[StoredJob]:
        query = sa.select(*LISTED).where(*which).order_by(*order).limit(limit)
        return [StoredJob.model_validate(dict(row)) for row in await self.rows(query)]

    # ---- jobs

    async def add(self, job: WholeJob, request_key: str | None = None) -> str:
        """Enter a job, or find the one that the same caller entered under the same key; gives its id."""
        contracts = {name: to_json(getattr(job, name)).decode() for name in ("commission", "limits")}
        values = job.model_dump(include=set(StoredJob.model_fields)) | contracts | {"request_key": request_key}
        async with self.database.begin() as connection:
            await connection.execute(self.insert(tables.jobs), [values])
            same = (tables.jobs.c.owner == job.owner) & (tables.jobs.c.request_key == request_key)
            which = tables.jobs.c.id == job.id if request_key is None else same
            return str((await connection.execute(sa.select(tables.jobs.c.id).where(which))).scalar_one())

    async def job(self, job_id: str) -> WholeJob | None:
        rows = await self.rows(sa.select(*WHOLE).where(tables.jobs.c.id == job_id))
        return WholeJob.model_validate(dict(rows[0])) if rows else None

    async def requested(self, owner: str, key: str) -> str | None:
        which = (tables.jobs.c.owner == owner) & (tables.jobs.c.request_key == key)
        return await self.text(sa.select(tables.jobs.c.id).where(which))

    async def jobs(
        self, owner: str | None = None, *, statuses: Sequence[JobStatus] = (), limit: int = 50
    ) -> list[StoredJob]:
        return await self._jobs(_of(owner, statuses), order=BY_AGE, limit=limit)

    async def beginning(self, start: str) -> list[StoredJob]:
        return await self._jobs(tables.jobs.c.id.startswith(start, autoescape=True), order=BY_AGE, limit=5)

    async def count(self, owner: str | None = None, statuses: Sequence[JobStatus] = ()) -> int:
        query = sa.select(sa.func.count()).select_from(tables.jobs).where(_of(owner, statuses))
        return int((await self.texts(query))[0])

    async def summaries(
        self, owner: str | None, *, statuses: Sequence[JobStatus] = (), limit: int = 50, offset: int = 0
    ) -> list[JobSummary]:
        """List jobs of an owner with what they had taken when they entered their stage, newest first."""
        columns = [tables.jobs.c[name] for name in JobSummary.model_fields]
        rows = await self.rows(
            sa.select(*columns).where(_of(owner, statuses)).order_by(*BY_AGE).limit(limit).offset(offset)
        )
        return [
            JobSummary.model_validate({**row, "created": row["created"].isoformat(timespec="seconds")}) for row in rows
        ]

    async def queued(self) -> list[StoredJob]:
        """List the jobs that wait, in the order they came into the queue."""
        return await self._jobs(tables.jobs.c.status == "queued", order=(tables.jobs.c.updated, tables.jobs.c.id))

    async def in_thread(self, thread_id: str) -> list[StoredJob]:
        oldest_first = (tables.jobs.c.created, tables.jobs.c.id)
        return await self._jobs(tables.jobs.c.thread_id == thread_id, order=oldest_first)

    async def using_text(self, text_hash: str) -> list[StoredJob]:
        used = sa.select(tables.text_uses.c.job_id).where(tables.text_uses.c.hash == text_hash)
        given = tables.jobs.c.commission.contains(text_hash, autoescape=True)
        return await self._jobs(tables.jobs.c.id.in_(used) | given)

    async def states(self, job_ids: Sequence[str]) -> dict[str, StoredJob]:
        return {row.id: row for row in await self._jobs(tables.jobs.c.id.in_(job_ids))}

    async def change(
        self, job_id: str, *, at_attempt: int | None = None, forget: Iterable[str] = (), **values: object
    ) -> bool:
        """Change a job's row; with `at_attempt`, only while it still is at that one. False when it was not.

        The steps of the keys `forget` go in the same transaction: whoever sees the change does not see them.
        """
        query = sa.update(tables.jobs).where(tables.jobs.c.id == job_id)
        query = query if at_attempt is None else query.where(tables.jobs.c.attempt == at_attempt)
        async with self.database.begin() as connection:
            done = await connection.execute(query.values(updated=now(), **values))
            for key in forget if done.rowcount else ():
                step = (tables.steps.c.job_id == job_id) & (tables.steps.c.key == key)
                await connection.execute(sa.delete(tables.steps).where(step))
        return bool(done.rowcount)

    async def delete(self, job_ids: Sequence[str]) -> int:
        return await self.write(sa.delete(tables.jobs).where(tables.jobs.c.id.in_(job_ids)))

    # ---- what a run leaves

    async def events(self, job_id: str, after: int = 0) -> list[Numbered]:
        query = sa.select(tables.events.c.body).where(tables.events.c.job_id == job_id, tables.events.c.seq > after)
        return [Numbered.model_validate_json(body) for body in await self.texts(query.order_by(tables.events.c.seq))]

    async def steps(self, job_id: str) -> dict[str, tuple[int, StepRecord]]:
        steps = tables.steps
        rows = await self.rows(sa.select(steps.c.key, steps.c.attempt, steps.c.record).where(steps.c.job_id == job_id))
        return {row["key"]: (row["attempt"], StepRecord.model_validate_json(row["record"])) for row in rows}

    async def report(self, job_id: str) -> ReportDocument | None:
        query = sa.select(tables.reports.c.body).where(tables.reports.c.job_id == job_id)
        return _document(await self.text(query))

    async def draft(self, job_id: str) -> ReportDocument | None:
        """Give the report of a job that came to no end, as it was recorded before it was checked."""
        steps = tables.steps.c
        query = sa.select(steps.record).where(steps.job_id == job_id, steps.key.endswith("#keep:draft"))
        record = await self.text(query)
        return None if record is None else _document(StepRecord.model_validate_json(record).value)

    async def save_outcome(self, job_id: str, attempt: int, rows: Mapping[sa.Table, Sequence[Row]]) -> bool:
        """Write what a job came to, in the place of what an earlier attempt came to; False where a later one has begun."""
        mine = (tables.jobs.c.id == job_id) & (tables.jobs.c.attempt == attempt)
        async with self.database.begin() as connection:
            if not (await connection.execute(sa.update(tables.jobs).where(mine).values(updated=now()))).rowcount:
                return False
            for table in tables.OUTCOME_TABLES:
                await connection.execute(sa.delete(table).where(table.c.job_id == job_id))
                await insert_all(connection, self, table, rows.get(table, ()))
        return True

    # ---- commands of other processes

    async def notify(self, channel: str, job_ids: Sequence[str]) -> None:
        """Tell other processes to look at some jobs; nothing where there are no others."""
        if self.database.sqlite or not job_ids:
            return
        async with self.database.begin() as connection:
            # Notifying transactions commit one after the other; this one writes nothing that must be on the disk.
            await connection.execute(sa.text("SET LOCAL synchronous_commit = off"))
            for job_id in job_ids:
                await connection.execute(sa.select(sa.func.pg_notify(channel, job_id)))

    async def add_command(self, job_id: str, verb: str, argument: str = "") -> int:
        """Leave a command for the process that runs the job; gives its number."""
        insert = sa.insert(tables.commands).values(job_id=job_id, verb=verb, argument=argument, at=now())
        async with self.database.begin() as connection:
            number = int((await connection.execute(insert.returning(tables.commands.c.id))).scalar_one())
        await self.notify(COMMANDS, [job_id])
        return number

    async def tasks(self, job_id: str) -> list[StoredCommand]:
        mine, is_task = tables.commands.c.job_id == job_id, tables.commands.c.verb.startswith("task:")
        rows = await self.rows(sa.select(tables.commands).where(mine, is_task).order_by(tables.commands.c.id))
        return [StoredCommand.model_validate(dict(row)) for row in rows]

    async def take_commands(self, executor: str) -> list[StoredCommand]:
        """Take the commands that nobody has taken, oldest first; of jobs that run elsewhere, or begin to, none."""
        commands, jobs = tables.commands, tables.jobs
        untaken = commands.c.taken_by.is_(None)
        if not await self.texts(sa.select(commands.c.id).where(untaken).limit(1)):
            return []  # nearly always
        elsewhere = jobs.c.status.in_(("queued", "running")) & jobs.c.executor.not_in((executor, ""))
        mine, ended = sa.select(jobs.c.id).where(~elsewhere), jobs.c.status.not_in(("queued", "running"))
        due = commands.c.verb.not_in(WHEN_ENDED) | commands.c.job_id.in_(sa.select(jobs.c.id).where(ended))
        open_ones = untaken & commands.c.job_id.in_(mine) & due
        query = sa.update(commands).where(open_ones).values(taken_by=executor).returning(commands)
        async with self.database.begin() as connection:
            rows = (await connection.execute(query)).mappings().all()
        return sorted((StoredCommand.model_validate(dict(row)) for row in rows), key=lambda command: command.id)

    async def return_commands(self, living: Sequence[str]) -> None:
        """Let commands be taken again that a worker took which is gone, and did not answer."""
        commands = tables.commands
        lost = (commands.c.outcome == "") & commands.c.taken_by.is_not(None) & commands.c.taken_by.not_in(living)
        await self.write(sa.update(commands).where(lost).values(taken_by=None))

    async def answer(self, command_id: int, outcome: str) -> None:
        await self.write(sa.update(tables.commands).where(tables.commands.c.id == command_id).values(outcome=outcome))

    async def answered(self, command_id: int) -> str:
        command = tables.commands.c
        return await self.text(sa.select(command.outcome).where(command.id == command_id)) or ""

    # ---- how long things stay

    async def over_since(self, when: datetime) -> Sequence[str]:
        """Name some of the jobs that were over at a time."""
        jobs = tables.jobs.c
        return await self.texts(sa.select(jobs.id).where(jobs.status.in_(OVER), jobs.updated < when).limit(MANY))

    async def used_texts(self) -> set[str]:
        """Name the texts that any job has read."""
        return set(await self.texts(sa.select(tables.text_uses.c.hash).distinct()))

    # ---- workers

    async def seen(self, executor: str) -> None:
        await self.write(self.insert(tables.workers, ("executor",), "seen").values(executor=executor, seen=now()))

    async def living(self, dead_s: float) -> list[str]:
        """Name the workers that gave a sign of life within so many seconds."""
        since = now() - timedelta(seconds=dead_s)
        query = sa.select(tables.workers.c.executor).where(tables.workers.c.seen >= since)
        return list(await self.texts(query.order_by(tables.workers.c.executor)))

    async def end_connections(self, executor: str) -> None:
        """End the connections of a worker that is lost: one that only froze holds locks, and is cut off from what it holds."""
        running = sa.text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = :session")
        await self.write(running.bindparams(session=session_of(executor)))

    async def lost(self, living: Sequence[str]) -> list[StoredJob]:
        """List the jobs that run nowhere: their workers are none of the living."""
        jobs = tables.jobs.c
        begun = (jobs.status == "running") | ((jobs.status == "queued") & (jobs.executor != ""))
        return await self._jobs(begun, jobs.executor.not_in(living))


def _document(written: str | None) -> ReportDocument | None:
    """Read a report; None where there is none, or one that another version of this program wrote."""
    with suppress(ValidationError):
        return None if written is None else ReportDocument.model_validate_json(written)
    return None


async def insert_all(connection: AsyncConnection, store: Store, table: sa.Table, rows: Sequence[Row]) -> None:
    """Insert rows, those that are there already left alone; a step that was done anew takes the former one's place."""
    if rows:
        changing = ("attempt", "record") if table is tables.steps else ()
        held = [{name: value for name, value in row.items() if name in table.c} for row in rows]
        await connection.execute(store.insert(table, ("job_id", "key"), *changing), held)


@cache  # made anew for each row, it would take a fifth of the time of writing it
def _insert(in_file: bool, table: sa.Table, keys: tuple[str, ...] = (), *names: str) -> Insert:
    """Make an insert that leaves rows alone which are there already, but for these columns of rows with such keys."""
    insert = sqlite.insert(table) if in_file else postgresql.insert(table)
    if not names:
        return insert.on_conflict_do_nothing()
    return insert.on_conflict_do_update(index_elements=keys, set_={name: insert.excluded[name] for name in names})


def _of(owner: str | None, statuses: Sequence[JobStatus]) -> sa.ColumnElement[bool]:
    """Choose jobs of an owner, or everybody's, in some states, or any."""
    mine = sa.true() if owner is None else tables.jobs.c.owner == owner
    return mine & tables.jobs.c.status.in_(statuses) if statuses else mine


def blobs_of(store: Store, folder: Path) -> BlobStore:
    """Give where the texts of a store's jobs lie: in the data folder, else with the jobs."""
    return BlobStore(folder) if store.database.sqlite else DatabaseBlobStore(folder, store)


class DatabaseBlobStore(BlobStore):
    """The blob store of jobs that run on more than one machine."""

    def __init__(self, folder: Path, store: Store) -> None:
        super().__init__(folder)
        self.store = store

    async def put(self, text: str) -> str:
        name = digest(text)
        row = {"hash": name, "body": text.encode("utf-8", "surrogatepass"), "at": now()}
        async with self.store.database.begin() as connection:
            await connection.execute(self.store.insert(tables.texts, ("hash",), "at"), [row])
        return name

    async def get(self, text_hash: str) -> str:
        query = sa.select(tables.texts.c.body).where(tables.texts.c.hash == text_hash)
        rows = await self.store.rows(query)
        if not rows:
            raise SourceError(text_hash, "its stored copy is gone")
        return bytes(rows[0]["body"]).decode("utf-8", "surrogatepass")

    async def drop(self, text_hash: str) -> bool:
        # Other machines share these texts, and their chats are not known here.
        return False

    async def sweep(self, in_use: Callable[[], Awaitable[set[str]]], before: datetime) -> int:
        texts, uses = tables.texts, tables.text_uses
        unused = ~sa.exists().where(uses.c.hash == texts.c.hash)
        return await self.store.write(sa.delete(texts).where(texts.c.at < before, unused))
