"""Opening the database of the job store: engines with the right pragmas, tables made by one process, plain errors."""

import asyncio
import hashlib
import re
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from agents.core.errors import ConfigError
from agents.jobs import schema as tables

if TYPE_CHECKING:
    import asyncpg
    from sqlalchemy.dialects.sqlite.aiosqlite import AsyncAdapt_aiosqlite_connection
    from sqlalchemy.engine.interfaces import DBAPIConnection

REVISION = "0007"
"""That of the tables of `schema`, and of what is recorded in them; raised by hand when either changes."""
_version = sa.Table("research_version", sa.MetaData(), sa.Column("version_num", sa.String(32), primary_key=True))


def make_tables(connection: sa.Connection) -> None:
    """Make the tables where there are none; a `ConfigError` where another version of this program wrote them."""
    _version.create(connection, checkfirst=True)
    revision = connection.execute(sa.select(_version.c.version_num)).scalar()
    if revision is None:
        tables.metadata.create_all(connection)
        connection.execute(_version.insert().values(version_num=REVISION))
    elif revision != REVISION:
        raise ConfigError(
            f"The job store was written by another version of this program (revision {revision}, here {REVISION}). "
            "Nothing was changed: use that version, or set another DOSSIER_DATA_DIR or DOSSIER_DATABASE_URL."
        )


BUSY_MS = 10_000  # milliseconds that a writer of an SQLite file waits for another
FROZEN_S = 10
"""Seconds after which the server ends a transaction of a process that says nothing more, and frees its locks."""
PRAGMAS = ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON")
TABLES_LOCK = int.from_bytes(hashlib.sha256(b"dossier tables").digest()[:7], "big")
"""Number of PostgreSQL's advisory lock under which one process makes the tables."""


def async_url(url: str, data_dir: Path) -> str:
    """Give the address of the store: the file in the data folder by default, else what the operator set, with the driver."""
    if not url:
        return f"sqlite+aiosqlite:///{data_dir / 'jobs.db'}"
    url = re.sub(r"^postgres(ql)?://", "postgresql+asyncpg://", url)
    return re.sub(r"^sqlite://", "sqlite+aiosqlite://", url)


def plain_url(url: str) -> str:
    """Give it for the durable engine, which brings its own drivers."""
    return url.replace("+asyncpg", "").replace("+aiosqlite", "")


class Database:
    """Two ways into one database: writers one after the other, readers beside them."""

    def __init__(self, url: str, *, busy_ms: int = BUSY_MS, session: str = "dossier") -> None:
        self.url = url
        self.sqlite = url.startswith("sqlite")
        try:
            self.write = _engine(url, "IMMEDIATE", busy_ms, session, 1 if self.sqlite else 5)
            self.read = _engine(url, "DEFERRED", busy_ms, session) if self.sqlite else self.write
        except (ImportError, SQLAlchemyError) as error:
            raise ConfigError(f"The database can't be used: {_cause(error)}.") from error

    @property
    def file(self) -> Path | None:
        name = self.write.url.database
        return Path(name) if self.sqlite and name else None

    def written_at(self) -> int | None:
        """Give a number that changes when any process writes to the file: far cheaper than to look into it. None for a server."""
        if self.file is None:
            return None
        try:
            return self.file.with_name(f"{self.file.name}-wal").stat().st_mtime_ns
        except OSError:
            return 0

    async def open(self) -> None:
        """Make the tables where there are none; a `ConfigError` where that can't be done, or another version's are there."""
        try:
            if self.file is not None:
                self.file.parent.mkdir(parents=True, exist_ok=True)
            async with self.write.begin() as connection:
                if not self.sqlite:
                    await connection.execute(sa.select(sa.func.pg_advisory_xact_lock(TABLES_LOCK)))
                await connection.run_sync(make_tables)
        except (SQLAlchemyError, OSError) as error:
            shown = sa.make_url(self.url).render_as_string(hide_password=True)
            raise ConfigError(f"The database {shown} can't be used: {_cause(error)}.") from error

    def begin(self) -> AbstractAsyncContextManager[AsyncConnection]:
        return self.write.begin()

    def reading(self) -> AbstractAsyncContextManager[AsyncConnection]:
        return self.read.connect()

    async def listen(self, channel: str, heard: Callable[[str], object]) -> None:
        """Pass on what other processes notify through PostgreSQL, until the connection is lost."""
        async with self.write.connect() as connection:
            driver: asyncpg.Connection | None = (await connection.get_raw_connection()).driver_connection
            if driver is None:
                return
            lost = asyncio.Event()

            def hear(connection: object, process: int, channel: str, payload: object) -> None:
                heard(str(payload))

            driver.add_termination_listener(lambda _: lost.set())
            await driver.add_listener(channel, hear)
            try:
                await lost.wait()
            finally:
                await driver.remove_listener(channel, hear)

    async def close(self) -> None:
        await self.write.dispose()
        if self.read is not self.write:
            await self.read.dispose()


def _engine(url: str, begin: str, busy_ms: int, session: str, pool_size: int | None = None) -> AsyncEngine:
    bounds = {} if pool_size is None else {"pool_size": pool_size, "max_overflow": 0}
    engine = create_async_engine(url, **bounds)
    if engine.dialect.name == "sqlite":

        @event.listens_for(engine.sync_engine, "connect")
        def _set_up(connection: "AsyncAdapt_aiosqlite_connection", _: object) -> None:
            cursor = connection.cursor()
            for pragma in (*PRAGMAS, f"busy_timeout={busy_ms}"):
                cursor.execute(f"PRAGMA {pragma}")
            cursor.close()
            # We say BEGIN ourselves: the driver's own comes too late for a transaction that reads before it writes.
            connection.isolation_level = None

        @event.listens_for(engine.sync_engine, "begin")
        def _begin(connection: sa.Connection) -> None:
            connection.exec_driver_sql(f"BEGIN {begin}")

    elif engine.dialect.name == "postgresql":

        @event.listens_for(engine.sync_engine, "connect")
        def _bound(connection: "DBAPIConnection", _: object) -> None:
            # Said here and not when connecting: a pooler between refuses settings that it does not know.
            connection.cursor().execute(f"SET idle_in_transaction_session_timeout = '{FROZEN_S}s'")
            connection.cursor().execute(f"SET application_name = '{session}'")
            connection.commit()

    return engine


def _cause(error: Exception) -> str:
    cause = getattr(error, "orig", None) or error
    return " ".join(str(cause).split())[:200] or type(error).__name__
