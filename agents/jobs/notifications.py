"""Word from other processes at once, by PostgreSQL's notifications.

They only save waiting: whoever hears nothing (SQLite, a connection pooler between, a lost connection) finds out in the
next of the rounds that are made anyway.
"""

import asyncio
import logging
import time
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from agents.jobs.database import Database

log = logging.getLogger(__name__)

AGAIN_S = 5.0
"""Seconds between two attempts to listen."""


class News:
    """What is said on one channel, gathered until somebody asks."""

    def __init__(self, database: Database, channel: str) -> None:
        self.database, self.channel = database, channel
        self._said: set[str] = set()
        self._rung = asyncio.Event()
        self._engine: AsyncEngine | None = None
        self._connection: AsyncConnection | None = None
        self._driver: Any = None
        self._tried = -AGAIN_S

    async def wait(self, seconds: float) -> set[str]:
        """Wait until something is said, at most so long; gives it all, each once."""
        if not self.database.sqlite:
            await self._listen()
        try:
            await asyncio.wait_for(self._rung.wait(), seconds)
        except TimeoutError:
            return set()
        said, self._said = self._said, set()
        self._rung.clear()
        return said

    async def close(self) -> None:
        """Listen no more."""
        connection, engine = self._connection, self._engine
        self._driver = self._connection = self._engine = None
        if connection is not None:
            await connection.invalidate()  # closed, not put back: nobody else shall hear what this one asked for
            await connection.close()
        if engine is not None:
            await engine.dispose()

    async def _listen(self) -> None:
        if (self._driver is not None and not self._driver.is_closed()) or time.monotonic() - self._tried < AGAIN_S:
            return
        self._tried = time.monotonic()
        try:
            await self.close()
            # A connection of its own: those of the store are few, and this one is held all the time.
            self._engine = create_async_engine(self.database.url, poolclass=NullPool)
            self._connection = await self._engine.connect()
            driver: Any = (await self._connection.get_raw_connection()).driver_connection
            await driver.add_listener(self.channel, self._hear)
            self._driver = driver
        except Exception as error:  # noqa: BLE001 - the driver's own errors too; nothing depends on it
            log.warning("no notifications from the database, it is asked again and again instead: %s", error)

    def _hear(self, connection: object, process: int, channel: str, payload: object) -> None:
        self._said.add(str(payload))
        self._rung.set()
