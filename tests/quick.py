"""What costs tests much processor time and holds nothing of what they look at: done once for all.

The tests of the jobs themselves ask SQLite in its own thread, and processes that tests start do everything as it is.
"""

import functools
import os
import socket
import ssl
from collections.abc import Callable
from typing import Any

import aiosqlite
import sqlalchemy as sa
from sqlalchemy.dialects.sqlite.base import SQLiteDialect

from agents.jobs import schema

IN_A_THREAD = aiosqlite.Connection._execute


async def at_once(
    connection: aiosqlite.Connection, work: Callable[..., object], *given: object, **named: object
) -> object:
    """Do in this thread what the driver of SQLite gives to a thread of its own, which costs three times as much."""
    if not connection._running or not connection._connection:
        raise ValueError("Connection closed")
    return work(*given, **named)


@functools.cache
def statements_of(dialect: str) -> list[str]:
    made: list[str] = []
    engine = sa.create_mock_engine(
        f"{dialect}://", lambda part, *_: made.append(str(part.compile(dialect=engine.dialect)))
    )
    sa.MetaData.create_all(schema.metadata, engine, checkfirst=False)
    return made


def create_all(connection: sa.Connection) -> None:
    """Make the tables of a store from statements that were compiled once."""
    for statement in statements_of(connection.dialect.name):
        connection.exec_driver_sql(statement)


def certificates() -> Callable[..., ssl.SSLContext]:
    """Read whose certificates are believed once for all clients, which none of them changes: a fiftieth of a second each time."""
    made = ssl.create_default_context
    kept = functools.cache(lambda surroundings, given: made(**dict(given)))

    def context(*purpose: Any, **given: Any) -> ssl.SSLContext:
        surroundings = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
        return made(*purpose, **given) if purpose else kept(surroundings, tuple(sorted(given.items())))

    return context


def only_loopback() -> None:
    """Fail any connection that leaves this machine."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if isinstance(address, tuple) and str(address[0]) not in {"127.0.0.1", "::1", "localhost"}:
            raise AssertionError(f"a test tried to reach {address}")
        return connect(self, address)

    socket.socket.connect = guarded  # type: ignore[method-assign,assignment]


def install() -> None:
    only_loopback()
    ssl.create_default_context = certificates()
    aiosqlite.Connection._execute = at_once  # type: ignore[method-assign]
    schema.metadata.create_all = create_all  # type: ignore[method-assign,assignment]
    # All SQLite files of all tests share what was compiled: each engine would compile each statement for itself.
    shared = sa.util.LRUCache[Any, Any](1000)
    sa.Engine._compiled_cache = property(lambda _: shared, lambda *_: None)  # type: ignore[assignment]
    SQLiteDialect.__hash__ = lambda self: hash(type(self))  # type: ignore[method-assign]
    SQLiteDialect.__eq__ = lambda self, other: type(self) is type(other)  # type: ignore[method-assign]
