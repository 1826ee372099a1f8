"""Notifications of other processes through PostgreSQL.

They only save waiting: without them (SQLite, a connection pooler between, a lost connection) a process finds out in the
next of the rounds that it makes anyway.
"""

import asyncio
import logging
import time
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from agents.jobs.database import Database

log = logging.getLogger(__name__)

RETRY_S = 5.0
"""Seconds between two attempts to listen."""


class Listener:
    """Notifications of one channel, gathered until somebody asks."""

    def __init__(self, database: Database, channel: str) -> None:
        self.database, self.channel = database, channel
        self._jobs: set[str] = set()
        self._came = asyncio.Event()
        self._engine: AsyncEngine | None = None
        self._connection: AsyncConnection | None = None
        self._driver: Any = None
        self._tried = -RETRY_S

    async def wait(self, seconds: float) -> set[str]:
        """Wait for a notification, at most so long; gives the ids of the jobs, each once."""
        if not self.database.sqlite:
            await self._listen()
        try:
            await asyncio.wait_for(self._came.wait(), seconds)
        except TimeoutError:
            return set()
        jobs, self._jobs = self._jobs, set()
        self._came.clear()
        return jobs

    async def close(self) -> None:
        """Stop listening."""
        connection, engine = self._connection, self._engine
        self._driver = self._connection = self._engine = None
        if connection is not None:
            await connection.invalidate()  # closed, not put back into the pool
            await connection.close()
        if engine is not None:
            await engine.dispose()

    async def _listen(self) -> None:
        if (self._driver is not None and not self._driver.is_closed()) or time.monotonic() - self._tried < RETRY_S:
            return
        self._tried = time.monotonic()
        try:
            await self.close()
            # A connection of its own: those of the store are few, and this one is held all the time.
            self._engine = create_async_engine(self.database.url, poolclass=NullPool)
            self._connection = await self._engine.connect()
            driver: Any = (await self._connection.get_raw_connection()).driver_connection
            await driver.add_listener(self.channel, self._notified)
            self._driver = driver
        except Exception as error:  # noqa: BLE001 - the driver's own errors too; nothing depends on it
            log.warning("no notifications from the database, it is asked again and again instead: %s", error)

    def _notified(self, connection: object, process: int, channel: str, payload: object) -> None:
        self._jobs.add(str(payload))
        self._came.set()
