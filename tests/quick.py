"""What costs tests much processor time and holds nothing of what they look at: done once for all.

The tests of the jobs themselves ask SQLite in its own thread, and processes that tests start do everything as it is.
"""

import functools
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


def install() -> None:
    aiosqlite.Connection._execute = at_once  # type: ignore[method-assign]
    schema.metadata.create_all = create_all  # type: ignore[method-assign,assignment]
    # All SQLite files of all tests share what was compiled: each engine would compile each statement for itself.
    shared = sa.util.LRUCache[Any, Any](1000)
    sa.Engine._compiled_cache = property(lambda _: shared, lambda *_: None)  # type: ignore[assignment]
    SQLiteDialect.__hash__ = lambda self: hash(type(self))  # type: ignore[method-assign]
    SQLiteDialect.__eq__ = lambda self, other: type(self) is type(other)  # type: ignore[method-assign]
