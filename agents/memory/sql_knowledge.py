"""The knowledge base in SQLite files, one for each user, so that nothing can cross: words in FTS5, directions as bytes.

Made for a million things in one file: a search looks at the rarest words of a question only, and compares 64 signs of
each direction before it looks at any direction itself.
"""

import asyncio
import sqlite3
import threading
import zlib
from array import array
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from agents.contracts.fact import MemoryKind, MemoryStats, Remembered, Selection
from agents.contracts.frozen import digest
from agents.memory.embedders import Embedder, signs
from agents.memory.knowledge import BATCH, MemoryDown
from agents.nlp.similarity import closeness
from agents.nlp.tokens import content_words, segmented
from agents.search.scope_filter import by_rank
from agents.web.url_key import registrable_domain

T = TypeVar("T")

APPLICATION = 0x446F734D
"""Written into each file, so that a database of something else is never taken for one."""
LAYOUT = 1
"""Raised when the tables change; a file of another layout is left alone."""
POOL = 60
"""Things of each of the two rankings that are fused."""
_NEAR = 120  # directions of a kind that are compared exactly, those whose signs differ least
_LOOKED_AT = 4_000  # rows whose words are weighed: the rarest words of a question until they come to so many
_RANKED = 400  # of them, those that are held against a wide filter
_MAX_TERMS = 24
_ASIDE = 0.4  # a word of title or question against one of the thing itself
_SCANNED = 5_000  # rows up to which a filter goes first and every direction behind it is compared
_BUSY_S = 10.0

_TABLES = f"""
create table item(n integer primary key autoincrement, id text unique not null, kind text not null, verdict text not null,
    url text not null, domain text not null, text_hash text not null, seen text not null, body blob not null);
create index item_url on item(url); create index item_domain on item(domain);
create index item_text on item(text_hash); create index item_kind on item(kind, seen); create index item_seen on item(seen);
create table met(job text not null, n integer not null, primary key(job, n)) without rowid;
create index met_n on met(n);
create table embedder(id integer primary key, name text not null, dimensions integer not null, unique(name, dimensions));
create table meaning(m integer primary key autoincrement, embedder integer not null, n integer not null, kind text not null,
    code blob not null, vector blob not null, unique(n, embedder));
create virtual table words using fts5(body, aside, tokenize='unicode61 remove_diacritics 2');
create virtual table vocabulary using fts5vocab(words, row);
create table info(owner text not null);
pragma application_id = {APPLICATION}; pragma user_version = {LAYOUT};
"""


class SqlKnowledge:
    """Files in a folder, opened when somebody first asks."""

    name = "embedded"

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        self.folder, self.embedder = folder, embedder
        self._open: dict[str, _OwnFile] = {}
        self._opening = threading.Lock()

    async def put(self, owner: str, items: Sequence[Remembered]) -> int:
        new = 0
        for at in range(0, len(items), BATCH):
            part = list({one.id: one for one in items[at : at + BATCH]}.values())
            vectors = await self.embedder.embed([embedded_text(one) for one in part])  # outside the transaction
            new += await self._ask(owner, _OwnFile.put, part, vectors)
        return new

    async def search(
        self, owner: str, text: str, where: Selection = Selection(), limit: int = 10
    ) -> tuple[Remembered, ...]:
        if not text.strip():
            return await self._ask(owner, _OwnFile.rows, where, limit, "seen desc, n desc")
        vector = (await self.embedder.embed([text]))[0]
        return await self._ask(owner, _OwnFile.search, text, vector, where, limit)

    async def get(self, owner: str, where: Selection, limit: int = 1_000) -> tuple[Remembered, ...]:
        return await self._ask(owner, _OwnFile.rows, where, limit, "n")

    async def forget(self, owner: str, where: Selection) -> int:
        return await self._ask(owner, _OwnFile.forget, where)

    async def every(self, owner: str) -> AsyncIterator[Remembered]:
        last = 0
        while found := await self._ask(owner, _OwnFile.after, last):
            for last, item in found:  # noqa: B007 - the last one is where the next page begins
                yield item

    async def reembed(self, owner: str, progress: Callable[[int, int], object] = lambda _done, _all: None) -> int:
        done = 0
        while batch := await self._ask(owner, _OwnFile.unembedded):
            vectors = await self.embedder.embed([embedded_text(item) for _, item in batch])
            await self._ask(owner, _OwnFile.embedded, batch, vectors)
            stats = await self.stats(owner)
            done += len(batch)
            progress(stats.embedded, stats.items)
        await self._ask(owner, _OwnFile.drop_other_directions)
        return done

    async def owners(self) -> tuple[str, ...]:
        def named() -> tuple[str, ...]:
            found = set(self._open)
            for path in self.folder.glob("*.db"):
                db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
                try:
                    found |= {str(row[0]) for row in db.execute("select owner from info")}
                except sqlite3.Error:  # not ours, or damaged: whoever owns it hears of it when they ask
                    continue
                finally:
                    db.close()
            return tuple(sorted(found))

        return await asyncio.to_thread(named)

    async def stats(self, owner: str) -> MemoryStats:
        return await self._ask(owner, _OwnFile.stats)

    async def close(self) -> None:
        with self._opening:
            for file in self._open.values():
                file.close()
            self._open.clear()

    async def _ask(self, owner: str, ask: Callable[..., T], *given: object) -> T:
        def asked() -> T:
            with self._opening:
                file = self._open.get(owner)
                if file is None:
                    file = self._open[owner] = _OwnFile(self.folder / f"{digest(owner, 24)}.db", owner, self.embedder)
            return ask(file, *given)

        try:
            return await asyncio.to_thread(asked)
        except (sqlite3.Error, OSError, zlib.error, ValueError) as error:  # what is no thing of ours is a ValueError
            raise MemoryDown(f"the knowledge base can't be used: {error}") from error


def embedded_text(item: Remembered) -> str:
    """Say what of a thing has a direction: its words under the title of their source."""
    return f"{item.source.title}. {item.text}" if item.source else item.text


def words_of(item: Remembered) -> tuple[str, str]:
    """Give the words by which a thing is found, and those that only add to them, segmented for an index."""
    quote = item.fact.quote if item.fact and item.fact.quote != item.text else ""
    title = item.source.title if item.source else ""
    return segmented(f"{item.text} {quote}".strip()), " ".join(_often_segmented(one) for one in (title, *item.topics))


_often_segmented = lru_cache(2_048)(segmented)
"""The facts of one page share its title and their questions."""


class _OwnFile:
    """The file of one user: a connection that writes, one that reads, and the signs of all directions in memory."""

    def __init__(self, path: Path, owner: str, embedder: Embedder) -> None:
        self.path, self.embedder = path, embedder
        path.parent.mkdir(parents=True, exist_ok=True)
        self._write, self._writing = _connected(path, owner), threading.Lock()
        self._read, self._reading = _connected(path, owner), threading.Lock()
        self._signs: dict[MemoryKind, tuple[array[int], list[int]]] = {}
        self._loaded_to, self._loaded_of = 0, -1

    def close(self) -> None:
        for db in (self._write, self._read):
            db.close()

    # ---- writing

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._writing:
            self._write.execute("begin immediate")
            try:
                yield self._write
                self._write.execute("commit")
            except BaseException:
                if self._write.in_transaction:  # a full disk has ended it already
                    self._write.execute("rollback")
                raise

    def put(self, items: Sequence[Remembered], vectors: Sequence[bytes]) -> int:
        new = 0
        with self._transaction() as db:
            embedder = self._number(db, add=True)
            for item, vector in zip(items, vectors, strict=True):
                columns = columns_of(item)
                row = db.execute("select n from item where id = ?", (item.id,)).fetchone()
                if row is None:
                    new += 1
                    inserted = db.execute(
                        "insert into item(id, kind, verdict, url, domain, text_hash, seen, body) values (?,?,?,?,?,?,?,?)",
                        (item.id, *columns),
                    )
                    n = inserted.lastrowid
                    db.execute("insert into words(rowid, body, aside) values (?, ?, ?)", (n, *words_of(item)))
                    if vector:
                        self._add_direction(db, embedder, n, item.kind, vector)
                else:
                    n = row[0]
                    db.execute(
                        "update item set kind=?, verdict=?, url=?, domain=?, text_hash=?, seen=?, body=? where n=?",
                        (*columns, n),
                    )
                db.executemany("insert or ignore into met values (?, ?)", [(job, n) for job in item.jobs])
        return new

    def forget(self, where: Selection) -> int:
        condition, values = _condition(where)
        with self._transaction() as db:
            gone = [row[0] for row in db.execute(f"select n from item where {condition}", values)]
            for table in ("item where n", "met where n", "meaning where n", "words where rowid"):
                db.executemany(f"delete from {table} = ?", ((n,) for n in gone))
        return len(gone)

    @staticmethod
    def _add_direction(db: sqlite3.Connection, embedder: int, n: int | None, kind: MemoryKind, vector: bytes) -> None:
        code = signs(vector).to_bytes((len(vector) + 7) // 8, "big")
        db.execute(
            "insert or ignore into meaning(embedder, n, kind, code, vector) values (?, ?, ?, ?, ?)",
            (embedder, n, kind, code, vector),
        )

    def _number(self, db: sqlite3.Connection, *, add: bool = False) -> int:
        """Give the number of the embedder in this file; -1 where it has embedded nothing yet."""
        key = (self.embedder.id, self.embedder.dimensions)
        if add:
            db.execute("insert or ignore into embedder(name, dimensions) values (?, ?)", key)
        row = db.execute("select id from embedder where name = ? and dimensions = ?", key).fetchone()
        return int(row[0]) if row else -1

    def unembedded(self) -> list[tuple[int, Remembered]]:
        """Give some of the things whose directions stem from another embedder alone."""
        with self._reading:
            rows = self._read.execute(
                "select item.n, item.body from item where exists (select 1 from meaning where meaning.n = item.n)"
                " and not exists (select 1 from meaning where meaning.n = item.n and embedder = ?) limit ?",
                (self._number(self._read), BATCH),
            ).fetchall()
        return [(int(n), item_of(body)) for n, body in rows]

    def embedded(self, batch: Sequence[tuple[int, Remembered]], vectors: Sequence[bytes]) -> None:
        with self._transaction() as db:
            embedder = self._number(db, add=True)
            for (n, item), vector in zip(batch, vectors, strict=True):
                # What has no direction here keeps none: an empty one says that it was asked for.
                self._add_direction(db, embedder, n, item.kind, vector)

    def drop_other_directions(self) -> None:
        with self._transaction() as db:
            db.execute("delete from meaning where embedder <> ?", (self._number(db),))

    # ---- reading

    def rows(self, where: Selection, limit: int, order: str) -> tuple[Remembered, ...]:
        condition, values = _condition(where)
        with self._reading:
            found = self._read.execute(
                f"select body from item where {condition} order by {order} limit ?", (*values, limit)
            ).fetchall()
        return tuple(item_of(body) for (body,) in found)

    def after(self, last: int) -> list[tuple[int, Remembered]]:
        with self._reading:
            found = self._read.execute(
                "select n, body from item where n > ? order by n limit ?", (last, BATCH)
            ).fetchall()
        return [(int(n), item_of(body)) for n, body in found]

    def search(self, text: str, vector: bytes, where: Selection, limit: int) -> tuple[Remembered, ...]:
        condition, values = _condition(where)
        with self._reading:
            narrow = where.model_copy(update={"kinds": ()}) != Selection()
            by_words = self._by_words(text, condition, values, narrow=narrow)
            by_meaning = self._by_meaning(vector, where.kinds, condition, values, narrow=narrow)
            scores = by_rank((by_words, by_meaning))
            best = sorted(scores, key=lambda n: -scores[n])[:limit]
            marks = ",".join("?" * len(best))
            found = dict(self._read.execute(f"select n, body from item where n in ({marks})", best).fetchall())
        return tuple(item_of(found[n]) for n in best if n in found)

    def _by_words(self, text: str, condition: str, values: Sequence[object], *, narrow: bool) -> list[int]:
        terms = list(dict.fromkeys(segmented(word) for word in content_words(text)))[:_MAX_TERMS]
        spread = {
            term: self._read.execute("select doc from vocabulary where term = ?", (term.split()[0],)).fetchone()
            for term in terms
            if term
        }
        known = sorted((row[0], term) for term, row in spread.items() if row)
        chosen: list[str] = []
        looked_at = 0
        for rows, term in known:
            if chosen and looked_at + rows > _LOOKED_AT:
                break
            chosen.append(f'"{term}"')
            looked_at += rows
        if not chosen:
            return []
        newest = self._read.execute("select max(n) from item").fetchone()[0] or 0
        # Where even the rarest word is in too many, the newest of them are looked at.
        first = int(newest * (1 - _LOOKED_AT / looked_at)) if looked_at > _LOOKED_AT else 0
        # A narrow filter goes first; of the usual ones it is enough that some of the best rows pass.
        found = self._read.execute(
            "select best.n from (select rowid as n, rank as badness from words where words match ? and rowid > ?"
            f" and rank match 'bm25(1.0, {_ASIDE})' order by rank limit ?) as best"
            f" join item on item.n = best.n where {condition} order by best.badness limit ?",
            (" OR ".join(chosen), first, looked_at if narrow else _RANKED, *values, POOL),
        )
        return [int(row[0]) for row in found]

    def _by_meaning(
        self, vector: bytes, kinds: Sequence[MemoryKind], condition: str, values: Sequence[object], *, narrow: bool
    ) -> list[int]:
        embedder = self._number(self._read)
        if not vector or embedder < 0:
            return []
        near = self._filtered(condition, values) if narrow else self._nearest_signs(embedder, vector, kinds)
        rows: list[tuple[int, bytes]] = []
        for at in range(0, len(near), 500):
            part = near[at : at + 500]
            rows += self._read.execute(
                f"select n, vector from meaning where embedder = ? and n in ({','.join('?' * len(part))})",
                (embedder, *part),
            ).fetchall()
        ranked = sorted(rows, key=lambda row: -closeness(vector, row[1]))
        return [int(n) for n, _ in ranked[:POOL]]

    def _filtered(self, condition: str, values: Sequence[object]) -> list[int]:
        """Give what a filter leaves, the newest of it where that is too much to be compared as it is."""
        query = f"select n from item where {condition} order by n desc limit ?"
        return [int(row[0]) for row in self._read.execute(query, (*values, _SCANNED))]

    def _nearest_signs(self, embedder: int, vector: bytes, kinds: Sequence[MemoryKind]) -> list[int]:
        self._load(embedder)
        wanted, coarser = signs(vector), max(0, len(vector).bit_length() - 8)
        numbers: list[int] = []
        for kind, (own, codes) in self._signs.items():
            if kinds and kind not in kinds:
                continue
            # Distances as bytes: looking for one of them in a million takes no time, sorting them would.
            far = bytes([(wanted ^ code).bit_count() >> coarser for code in codes])
            near: list[int] = []
            for distance in range((len(vector) >> coarser) + 1):
                at = far.find(distance)
                while at >= 0 and len(near) < _NEAR:
                    near.append(own[at])
                    at = far.find(distance, at + 1)
                if len(near) >= _NEAR:
                    break
            numbers += near
        return numbers

    def _load(self, embedder: int) -> None:
        """Take the signs of what was added since, here or by another process; what was forgotten is left out later."""
        if embedder != self._loaded_of:
            self._signs, self._loaded_to, self._loaded_of = {}, 0, embedder
        rows = self._read.execute(
            "select m, n, kind, code from meaning where m > ? and embedder = ?", (self._loaded_to, embedder)
        )
        for m, n, kind, code in rows:
            numbers, codes = self._signs.setdefault(kind, (array("q"), []))
            numbers.append(n)
            codes.append(int.from_bytes(code, "big"))
            self._loaded_to = m

    def stats(self) -> MemoryStats:
        with self._reading:
            kinds = dict(self._read.execute("select kind, count(*) from item group by kind").fetchall())
            (sources,) = self._read.execute("select count(distinct url) from item where url <> ''").fetchone()
            (embedded,) = self._read.execute(
                "select count(*) from meaning where embedder = ?", (self._number(self._read),)
            ).fetchone()
        files = (self.path, self.path.with_name(self.path.name + "-wal"))
        return MemoryStats(
            store=SqlKnowledge.name,
            items=sum(kinds.values()),
            by_kind=kinds,
            sources=sources,
            embedder=self.embedder.id,
            dimensions=self.embedder.dimensions,
            embedded=embedded,
            bytes=sum(file.stat().st_size for file in files if file.exists()),
        )


def _connected(path: Path, owner: str) -> sqlite3.Connection:
    """Open a user's file, or begin it; one of another program, layout or user is left as it is."""
    db = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        for pragma in ("journal_mode = wal", "synchronous = normal", "mmap_size = 268435456"):
            db.execute(f"pragma {pragma}")
        db.execute("begin immediate")
        (application,), (layout,) = (
            db.execute(f"pragma {name}").fetchone() for name in ("application_id", "user_version")
        )
        if not application and not db.execute("select count(*) from sqlite_master").fetchone()[0]:
            for statement in _TABLES.split(";"):
                db.execute(statement)
            db.execute("insert into info values (?)", (owner,))
        elif (application, layout) != (APPLICATION, LAYOUT):
            raise MemoryDown(f"{path.name} was written by another version of this program, or by another program")
        elif db.execute("select owner from info").fetchone() != (owner,):
            raise MemoryDown(f"{path.name} belongs to somebody else")
        db.execute("commit")
    except BaseException:
        db.close()
        raise
    return db


def columns_of(item: Remembered) -> tuple[object, ...]:
    """Give kind, verdict, url, domain, text hash, time last seen and body, as they are stored."""
    url = item.source.url if item.source else ""
    body = zlib.compress(item.model_dump_json(exclude_none=True).encode(), 1)
    text_hash = item.source.text_hash if item.source else ""
    return item.kind, item.verdict, url, registrable_domain(url) if url else "", text_hash, item.seen, body


def item_of(body: bytes) -> Remembered:
    """Read a thing from its stored body."""
    return Remembered.model_validate_json(zlib.decompress(body))


def _condition(where: Selection) -> tuple[str, list[object]]:
    """Write a selection as a condition on `item`, and its values."""
    parts, values = ["1"], list[object]()
    for column, listed in (("item.id", where.ids), ("item.kind", where.kinds), ("item.verdict", where.verdicts)):
        if listed:
            parts.append(f"{column} in ({','.join('?' * len(listed))})")
            values += listed
    for column, value in (("url", where.url), ("domain", where.domain), ("text_hash", where.text_hash)):
        if value:
            parts.append(f"item.{column} = ?")
            values.append(value)
    if where.job:
        parts.append("item.n in (select n from met where job = ?)")
        values.append(where.job)
    for sign, date in ((">=", where.date_from), ("<=", where.date_to and f"{where.date_to}~")):
        if date:
            parts.append(f"item.seen {sign} ?")
            values.append(date)
    return " and ".join(parts), values
