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
from agents.memory.embedders import cosines, signs
from agents.memory.knowledge import (
    BATCH,
    MAX_TERMS,
    NEAR,
    POOL,
    Embedder,
    KnowledgeStore,
    MemoryDown,
    body_of,
    columns_of,
    fused,
    item_of,
    words_of,
)
from agents.memory.sql_knowledge import chosen_by
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
_STALE = """
select body from memory_items where owner = :owner
    and exists (select 1 from memory_meanings as one where one.n = memory_items.n)
    and not exists (select 1 from memory_meanings as one where one.n = memory_items.n and embedder = :embedder) limit :most
"""


class PostgresKnowledge(KnowledgeStore):
    """Two tables beside those of the jobs, made when somebody first asks; users are told apart in every request."""

    name = "postgresql"

    def __init__(self, url: str, embedder: Embedder) -> None:
        super().__init__(embedder)
        try:
            self._engine = create_async_engine(sa.make_url(url).set(drivername="postgresql+asyncpg"), pool_size=4)
        except (ImportError, SQLAlchemyError) as error:
            raise ConfigError(f"The knowledge base can't be kept in this database: {error}") from error
        self._made, self._making = False, asyncio.Lock()

    async def get(
        self, owner: str, where: Selection, limit: int = 1_000, *, newest: bool = False
    ) -> tuple[Remembered, ...]:
        condition, values = _condition(owner, where)
        order = "seen desc, n desc" if newest else "n"
        query = f"select body from memory_items where {condition} order by {order} limit :limit"
        return tuple(item_of(row["body"]) for row in await self._rows(query, {**values, "limit": limit}))

    async def _forget(self, owner: str, where: Selection) -> int:
        condition, values = _condition(owner, where)
        return len(await self._rows(f"delete from memory_items where {condition} returning n", values))

    async def owners(self) -> tuple[str, ...]:
        rows = await self._rows("select distinct owner from memory_items order by owner", {})
        return tuple(row["owner"] for row in rows)

    async def _counted(self, owner: str) -> tuple[dict[str, int], int, int]:
        count = "select kind, count(*) as found from memory_items where owner = :owner group by kind"
        pages = "select count(distinct url) as found from memory_items where owner = :owner and kind = 'fact'"
        meant = "select count(*) as found from memory_meanings where owner = :owner and embedder = :embedder and vector <> ''"
        kinds = {row["kind"]: row["found"] for row in await self._rows(count, {"owner": owner})}
        (sources,) = await self._rows(pages, {"owner": owner})
        (embedded,) = await self._rows(meant, {"owner": owner, "embedder": self._embedder})
        return kinds, sources["found"], embedded["found"]

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
                {"owner": owner, "id": item.id, "embedder": self._embedder, "code": _code(vector), "vector": vector}
                for item, vector in zip(items, vectors, strict=True)
            ]
            await connection.execute(sa.text(_MEAN), meant)
        return len(items) - there

    async def _search(
        self, owner: str, text: str, vector: bytes, where: Selection, limit: int
    ) -> list[tuple[float, Remembered]]:
        condition, values = _condition(owner, where)
        terms = [word for term in content_words(text) for word in segmented(term).replace("\0", " ").split()]
        any_of = " || ".join(f"plainto_tsquery('simple', :t{n})" for n in range(len(terms[:MAX_TERMS])))
        values |= {f"t{n}": term for n, term in enumerate(terms[:MAX_TERMS])}
        by_words = (
            f"select n, ts_rank(words, asked) as score from (select n, words, {any_of} as asked from memory_items where {condition}"
            f" and words @@ ({any_of}) order by n desc limit {_LOOKED_AT}) as looked_at"
            f" order by score desc limit {POOL}"
        )
        near = (
            f"select n, vector from memory_meanings join memory_items using (n) where {condition}"
            " and embedder = :embedder and length(code) = length(cast(cast(:code as text) as varbit))"
            f" order by bit_count(code # cast(cast(:code as text) as varbit)) limit {NEAR}"
        )
        rows = await self._rows(by_words, values) if terms else ()
        worded = {int(row["n"]): float(row["score"]) for row in rows}
        vectors: list[sa.RowMapping] = []
        if vector:
            of_words = "select n, vector from memory_meanings where embedder = :embedder and n = any(:worded)"
            vectors += await self._rows(near, {**values, "embedder": self._embedder, "code": _code(vector)})
            vectors += await self._rows(of_words, {"embedder": self._embedder, "worded": list(worded)})
        best = fused(worded, cosines(vector, [(row["n"], row["vector"]) for row in vectors]), limit)
        found = await self._rows("select n, body from memory_items where n = any(:best)", {"best": list(best)})
        items = {row["n"]: item_of(row["body"]) for row in found}
        return [(score, items[n]) for n, score in best.items() if n in items]

    async def pages(self, owner: str) -> AsyncIterator[list[Remembered]]:
        last, query = 0, "select n, body from memory_items where owner = :owner and n > :last order by n limit :most"
        while rows := await self._rows(query, {"owner": owner, "last": last, "most": BATCH}):
            last = rows[-1]["n"]
            yield [item_of(row["body"]) for row in rows]

    async def _stale(self, owner: str) -> AsyncIterator[list[Remembered]]:
        while rows := await self._rows(_STALE, {"owner": owner, "embedder": self._embedder, "most": BATCH}):
            yield [item_of(row["body"]) for row in rows]

    async def _drop_stale(self, owner: str) -> None:
        drop = "delete from memory_meanings where owner = :owner and embedder <> :embedder returning n"
        await self._rows(drop, {"owner": owner, "embedder": self._embedder})

    @property
    def _embedder(self) -> str:
        return f"{self.embedder.id} {self.embedder.dimensions}"

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

    async def _rows(self, query: str, values: Mapping[str, object]) -> Sequence[sa.RowMapping]:
        async with self._connected() as connection:
            return (await connection.execute(sa.text(query), values)).mappings().all()


def _code(vector: bytes) -> str:
    return f"{int.from_bytes(signs(vector), 'big'):0{len(vector)}b}" if vector else ""


def _row(owner: str, item: Remembered) -> dict[str, object]:
    words, aside = (text.replace("\0", " ") for text in words_of(item))
    return {
        **columns_of(item), "owner": owner, "jobs": list(item.jobs), "words": words, "aside": aside,
        "body": body_of(item),
    }  # fmt: skip


def _condition(owner: str, where: Selection) -> tuple[str, dict[str, object]]:
    parts, values = chosen_by(where, "{0} = any(:{0})", ":job = any(jobs)", 'seen collate "C"')
    return " and ".join(("memory_items.owner = :owner", *parts)), {**values, "owner": owner}
