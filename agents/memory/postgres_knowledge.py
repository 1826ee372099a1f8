"""The knowledge base in the PostgreSQL that jobs live in: its own full text, and directions as bytes, without an extension.

A search weighs some thousand rows that hold a word of the question, and compares the signs of all directions in the
server before it looks at any direction itself.
"""

import asyncio
import zlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from agents.contracts.fact import Remembered, Selection
from agents.core.errors import ConfigError
from agents.memory import knowledge
from agents.memory.embedders import signs
from agents.memory.knowledge import Embedder, MemoryDown, body_of, columns_of, words_of
from agents.memory.sql_knowledge import Rows, SqlKnowledge
from agents.nlp.tokens import content_words, segmented

_LOOKED_AT = 4_000  # rows whose words are weighed
_LOCK = 0x446F734D  # one process makes the tables at a time
_TABLES = Path(__file__).with_name("postgresql.sql").read_text("utf-8").split(";")
_PUT = """
insert into memory_items as old (owner, id, kind, verdict, url, domain, text_hash, seen, jobs, body, words)
values (:owner, :id, :kind, :verdict, :url, :domain, :text_hash, :seen, :jobs, :body,
    setweight(to_tsvector('simple', :words), 'A') || setweight(to_tsvector('simple', :aside), 'C'))
on conflict (owner, id) do update set kind = excluded.kind, verdict = excluded.verdict, url = excluded.url,
    domain = excluded.domain, text_hash = excluded.text_hash, seen = excluded.seen, body = excluded.body,
    jobs = array(select distinct unnest(old.jobs || excluded.jobs))
"""
_MEAN = """
insert into memory_meanings (n, embedder, owner, code, vector)
select n, :embedder, owner, cast(cast(:code as text) as varbit), :vector from memory_items
where owner = :owner and id = :id on conflict do nothing
"""


class PostgresKnowledge(SqlKnowledge):
    """Two tables beside those of the jobs, made when somebody first asks; users are told apart in every request."""

    name = "postgresql"
    items, meanings, own, meant = "memory_items", "memory_meanings", "owner = :owner", "embedder = :embedder"
    listed, met, seen = "{0} = any(:{0})", ":job = any(jobs)", 'seen collate "C"'

    def __init__(self, url: str, embedder: Embedder) -> None:
        super().__init__(embedder)
        try:
            self._engine = create_async_engine(sa.make_url(url).set(drivername="postgresql+asyncpg"), pool_size=4)
        except (ImportError, SQLAlchemyError) as error:
            raise ConfigError(f"The knowledge base can't be kept in this database: {error}") from error
        self._made, self._making = False, asyncio.Lock()

    async def owners(self) -> tuple[str, ...]:
        rows = await self._rows("", "select distinct owner from memory_items order by owner", {})
        return tuple(owner for (owner,) in rows)

    async def close(self) -> None:
        await self._engine.dispose()

    async def _put(self, owner: str, items: Sequence[Remembered], vectors: Sequence[bytes]) -> int:
        rows = [_row(owner, one) for one in items]
        async with self._connected() as connection:
            known = "select count(*) from memory_items where owner = :owner and id = any(:ids)"
            values = {"owner": owner, "ids": [one.id for one in items]}
            there = int((await connection.execute(sa.text(known), values)).scalar_one())
            await connection.execute(sa.text(_PUT), rows)
            meant = [
                self._with(owner, {"id": item.id, "code": _code(vector), "vector": vector})
                for item, vector in zip(items, vectors, strict=True)
            ]
            await connection.execute(sa.text(_MEAN), meant)
        return len(items) - there

    async def _by_words(self, owner: str, text: str, where: Selection) -> dict[int, float]:
        words = [word for term in content_words(text) for word in segmented(term).replace("\0", " ").split()]
        terms = {f"t{n}": word for n, word in enumerate(words[: knowledge.MAX_TERMS])}
        if not terms:
            return {}
        any_of = " || ".join(f"plainto_tsquery('simple', :{name})" for name in terms)
        condition, values = self.chosen(where)
        query = (
            f"select n, ts_rank(words, asked) as score from (select n, words, {any_of} as asked from memory_items where {condition}"
            f" and words @@ ({any_of}) order by n desc limit {_LOOKED_AT}) as looked_at"
            f" order by score desc limit {knowledge.POOL}"
        )
        return dict(await self._asked(owner, query, **values, **terms))

    async def _near(self, owner: str, vector: bytes, where: Selection) -> list[int]:
        condition, values = self.chosen(where)
        query = (
            f"select n from memory_meanings join (select n from memory_items where {condition}) as chosen using (n)"
            f" where {self.meant} and length(code) = length(cast(cast(:code as text) as varbit))"
            f" order by bit_count(code # cast(cast(:code as text) as varbit)) limit {knowledge.NEAR}"
        )
        return [n for (n,) in await self._asked(owner, query, **values, code=_code(vector))]

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[AsyncConnection]:
        try:
            async with self._making:
                if not self._made:
                    async with self._engine.begin() as connection:
                        await connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
                        for statement in _TABLES:
                            await connection.execute(sa.text(statement))
                    self._made = True
            async with self._engine.begin() as connection:
                yield connection
        except (SQLAlchemyError, OSError, zlib.error, ValueError) as error:
            cause = " ".join(str(getattr(error, "orig", None) or error).split())[:200]
            raise MemoryDown(f"the knowledge base can't be used: {cause}") from error

    async def _rows(self, owner: str, query: str, values: Mapping[str, object]) -> Rows:
        async with self._connected() as connection:
            return [tuple(row) for row in await connection.execute(sa.text(query), values)]

    async def _dropped(self, owner: str, table: str, condition: str, values: Mapping[str, object]) -> int:
        return len(await self._rows(owner, f"delete from {table} where {condition} returning n", values))


def _code(vector: bytes) -> str:
    return f"{int.from_bytes(signs(vector), 'big'):0{len(vector)}b}" if vector else ""


def _row(owner: str, item: Remembered) -> dict[str, object]:
    words, aside = (text.replace("\0", " ") for text in words_of(item))
    return {
        **columns_of(item), "owner": owner, "jobs": list(item.jobs), "words": words, "aside": aside,
        "body": body_of(item),
    }  # fmt: skip
