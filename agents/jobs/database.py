"""Opening the database of the job store: engines with the right pragmas, one process migrating at a time, plain errors."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from agents.core.errors import ConfigError
from agents.jobs.upgrades import upgrade

BUSY_MS = 10_000
"""Milliseconds that a writer of an SQLite file waits for another."""
PRAGMAS = ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON")
UPGRADE_LOCK = int.from_bytes(hashlib.sha256(b"dossier upgrade").digest()[:7], "big")
"""Number of PostgreSQL's advisory lock under which one process migrates."""


def async_url(url: str, data_dir: Path) -> str:
    """Give the address of the store: the file in the data folder by default, else what the operator set, with the driver."""
    if not url:
        return f"sqlite+aiosqlite:///{data_dir / 'jobs.db'}"
    for prefix, driver in (
        ("postgresql://", "postgresql+asyncpg://"),
        ("postgres://", "postgresql+asyncpg://"),
        ("sqlite://", "sqlite+aiosqlite://"),
    ):
        if url.startswith(prefix):
            return driver + url.removeprefix(prefix)
    return url


def plain_url(url: str) -> str:
    """Give it for the durable engine, which brings its own drivers."""
    return url.replace("+asyncpg", "").replace("+aiosqlite", "")


class Database:
    """Two ways into one database: writers one after the other, readers beside them."""

    def __init__(self, url: str, *, busy_ms: int = BUSY_MS) -> None:
        self.url = url
        self.sqlite = url.startswith("sqlite")
        try:
            self.write = _engine(url, "IMMEDIATE", busy_ms, pool_size=1 if self.sqlite else 4, max_overflow=0)
            self.read = _engine(url, "DEFERRED", busy_ms) if self.sqlite else self.write
        except (ImportError, SQLAlchemyError) as error:
            raise ConfigError(f"The database can't be used: {_cause(error)}.") from error

    @property
    def file(self) -> Path | None:
        """Its path, when it is a file."""
        name = self.write.url.database
        return Path(name) if self.sqlite and name else None

    async def open(self) -> None:
        """Bring the tables up to what this program knows.

        Raises:
            ConfigError: the database can't be read or written, or it is newer than this program.
        """
        try:
            if self.file is not None:
                self.file.parent.mkdir(parents=True, exist_ok=True)
            async with self.write.begin() as connection:
                if not self.sqlite:
                    await connection.execute(sa.select(sa.func.pg_advisory_xact_lock(UPGRADE_LOCK)))
                await connection.run_sync(upgrade)
        except (SQLAlchemyError, OSError) as error:
            raise ConfigError(f"The database {_masked(self.url)} can't be used: {_cause(error)}.") from error

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[AsyncConnection]:
        """Open a transaction that writes."""
        async with self.write.begin() as connection:
            yield connection

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        """Open a connection that reads."""
        async with self.read.connect() as connection:
            yield connection

    async def close(self) -> None:
        """Let go of all connections."""
        await self.write.dispose()
        if self.read is not self.write:
            await self.read.dispose()


def _engine(url: str, begin: str, busy_ms: int, **options: Any) -> AsyncEngine:
    engine = create_async_engine(url, **options)
    if engine.dialect.name == "sqlite":

        @event.listens_for(engine.sync_engine, "connect")
        def _set_up(connection: Any, _: Any) -> None:
            cursor = connection.cursor()
            for pragma in (*PRAGMAS, f"busy_timeout={busy_ms}"):
                cursor.execute(f"PRAGMA {pragma}")
            cursor.close()
            # We say BEGIN ourselves: the driver's own comes too late for a transaction that reads before it writes.
            connection.isolation_level = None

        @event.listens_for(engine.sync_engine, "begin")
        def _begin(connection: sa.Connection) -> None:
            connection.exec_driver_sql(f"BEGIN {begin}")

    return engine


def _cause(error: Exception) -> str:
    cause = getattr(error, "orig", None) or error
    return " ".join(str(cause).split())[:200] or type(error).__name__


def _masked(url: str) -> str:
    """Give the address without its password."""
    return sa.make_url(url).render_as_string(hide_password=True)
