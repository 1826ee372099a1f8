"""The knowledge base in SQLite files, one for each user, so that nothing can cross: words in FTS5, directions as bytes.

Made for a million things in one file: a search looks at the rarest words of a question only, and compares 64 signs of
each direction before it looks at any direction itself.
"""

import asyncio
import json
import sqlite3
import threading
import zlib
from array import array
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from agents.contracts.fact import MemoryKind, Remembered, Selection
from agents.contracts.frozen import digest
from agents.memory.embedders import cosines, signs
from agents.memory.knowledge import (
    ASIDE,
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
from agents.nlp.tokens import content_words, segmented

T = TypeVar("T")

APPLICATION = 0x446F734D  # written into each file, so that a database of something else is never taken for one
LAYOUT = 1  # raised when the tables change; a file of another layout is left alone
_LOOKED_AT = 2_500  # rows whose words are weighed: the rarest words of a question until they come to so many
_RANKED = 300  # of them, those that are held against a wide filter
_SCANNED = 5_000  # rows up to which a filter goes first and every direction behind it is compared
_BUSY_S = 10.0

_TABLES = Path(__file__).with_name("embedded.sql").read_text("utf-8")
_PUT = """
insert into item(id, kind, verdict, url, domain, text_hash, seen, body)
values (:id, :kind, :verdict, :url, :domain, :text_hash, :seen, :body)
on conflict(id) do update set kind = excluded.kind, verdict = excluded.verdict, url = excluded.url,
    domain = excluded.domain, text_hash = excluded.text_hash, seen = excluded.seen, body = excluded.body
"""
_NUMBERED = "select id, n from item where id in (select value from json_each(?))"
_MEAN = """
insert or ignore into meaning(embedder, n, kind, code, vector) select ?, n, kind, ?, ? from item where id = ?
"""
_STALE = """
select n, body from item where exists (select 1 from meaning where meaning.n = item.n)
    and not exists (select 1 from meaning where meaning.n = item.n and embedder = ?) limit ?
"""


class SqlKnowledge(KnowledgeStore):
    """Files in a folder, opened when somebody first asks."""

    name = "embedded"

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        super().__init__(embedder)
        self.folder = folder
        self._open: dict[str, _OwnFile] = {}
        self._opening = threading.Lock()

    async def get(
        self, owner: str, where: Selection, limit: int = 1_000, *, newest: bool = False
    ) -> tuple[Remembered, ...]:
        condition, values = _condition(where)
        order = "seen desc, n desc" if newest else "n"
        query = f"select n, body from item where {condition} order by {order} limit :limit"
        rows = await self._ask(owner, _OwnFile.rows, query, {**values, "limit": limit})
        return tuple(item_of(body) for _, body in rows)

    async def _forget(self, owner: str, where: Selection) -> int:
        return await self._ask(owner, _OwnFile.forget, *_condition(where))

    async def owners(self) -> tuple[str, ...]:
        def named() -> tuple[str, ...]:
            found = set(self._open)
            for path in self.folder.glob("*.db"):
                # What is not ours, or damaged: whoever owns it hears of it when they ask.
                with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db, suppress(sqlite3.Error):
                    found |= {str(row[0]) for row in db.execute("select owner from info")}
            return tuple(sorted(found))

        return await asyncio.to_thread(named)

    async def _counted(self, owner: str) -> tuple[dict[str, int], int, int]:
        return await self._ask(owner, _OwnFile.counted)

    async def close(self) -> None:
        with self._opening:
            for file in self._open.values():
                file.close()
            self._open.clear()

    async def _put(self, owner: str, items: Sequence[Remembered], vectors: Sequence[bytes]) -> int:
        return await self._ask(owner, _OwnFile.put, items, vectors)

    async def _search(
        self, owner: str, text: str, vector: bytes, where: Selection, limit: int
    ) -> list[tuple[float, Remembered]]:
        return await self._ask(owner, _OwnFile.search, text, vector, where, limit)

    async def pages(self, owner: str) -> AsyncIterator[list[Remembered]]:
        query, last = "select n, body from item where n > ? order by n limit ?", 0
        while rows := await self._ask(owner, _OwnFile.rows, query, (last, BATCH)):
            last = rows[-1][0]
            yield [item_of(body) for _, body in rows]

    async def _stale(self, owner: str) -> AsyncIterator[list[Remembered]]:
        while rows := await self._ask(owner, lambda file: file.rows(_STALE, (file.number(), BATCH))):
            yield [item_of(body) for _, body in rows]

    async def _drop_stale(self, owner: str) -> None:
        await self._ask(owner, _OwnFile.drop_stale)

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


class _Signs:
    """The signs of all directions of one kind: 16 MB for a million."""

    def __init__(self) -> None:
        self.numbers, self._codes = array("q"), bytearray()

    def add(self, n: int, code: bytes) -> None:
        self.numbers.append(n)
        self._codes += _whole_words(code)

    def nearest(self, code: bytes, most: int) -> list[int]:
        import numpy as np  # not before somebody searches: it costs every start a tenth of a second, and 20 MB

        codes = np.frombuffer(self._codes, np.uint64).reshape(len(self.numbers), -1)
        far = np.bitwise_count(codes ^ np.frombuffer(_whole_words(code), np.uint64)).sum(axis=1, dtype=np.uint16)
        # Counting how many are how far is quicker than any sorting of a million.
        bound = np.bincount(far).cumsum().searchsorted(min(most, len(far)))
        near = np.flatnonzero(far <= bound)
        best = near[np.argsort(far[near], kind="stable")][:most]
        return [int(n) for n in np.frombuffer(self.numbers, np.int64)[best]]


def _whole_words(code: bytes) -> bytes:
    return code.ljust(-(-len(code) // 8) * 8, b"\0")


class _OwnFile:
    """The file of one user: a connection that writes, one that reads, and the signs of all directions in memory."""

    def __init__(self, path: Path, owner: str, embedder: Embedder) -> None:
        self.path, self.embedder = path, embedder
        path.parent.mkdir(parents=True, exist_ok=True)
        self._write, self._writing = _connected(path, owner), threading.Lock()
        self._read, self._reading = _connected(path, owner), threading.Lock()
        self._signs: dict[MemoryKind, _Signs] = {}
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
        ids, rows = json.dumps([one.id for one in items]), [{**columns_of(one), "body": body_of(one)} for one in items]
        with self._transaction() as db:
            known = dict(db.execute(_NUMBERED, (ids,)))
            db.executemany(_PUT, rows)
            numbers = dict(db.execute(_NUMBERED, (ids,)))
            new = [item for item in items if item.id not in known]
            worded = [(numbers[item.id], *words_of(item)) for item in new]
            db.executemany("insert into words(rowid, body, aside) values (?, ?, ?)", worded)
            met = [(job, numbers[item.id]) for item in items for job in item.jobs]
            db.executemany("insert or ignore into met values (?, ?)", met)
            key = (self.embedder.id, self.embedder.dimensions)
            db.execute("insert or ignore into embedder(name, dimensions) values (?, ?)", key)
            number = self._number(db)
            # An empty direction says that it was asked for.
            meant = [(number, signs(vector), vector, item.id) for item, vector in zip(items, vectors, strict=True)]
            db.executemany(_MEAN, meant)
        return len(new)

    def _number(self, db: sqlite3.Connection) -> int:
        """Give the number of the embedder in this file; -1 where it has embedded nothing yet."""
        key = (self.embedder.id, self.embedder.dimensions)
        row = db.execute("select id from embedder where name = ? and dimensions = ?", key).fetchone()
        return int(row[0]) if row else -1

    def drop_stale(self) -> None:
        with self._transaction() as db:
            db.execute("delete from meaning where embedder <> ?", (self._number(db),))

    def forget(self, condition: str, values: Mapping[str, object]) -> int:
        with self._transaction() as db:
            gone = db.execute(f"select n from item where {condition}", values).fetchall()
            for table in ("item where n", "met where n", "meaning where n", "words where rowid"):
                db.executemany(f"delete from {table} = ?", gone)
        return len(gone)

    # ---- reading

    def rows(self, query: str, values: Sequence[object] | Mapping[str, object]) -> list[tuple[int, bytes]]:
        """Give numbers and bodies."""
        with self._reading:
            return self._read.execute(query, values).fetchall()

    def number(self) -> int:
        with self._reading:
            return self._number(self._read)

    def search(self, text: str, vector: bytes, where: Selection, limit: int) -> list[tuple[float, Remembered]]:
        narrow = where.model_copy(update={"kinds": ()}) != Selection()
        with self._reading:
            worded = self._by_words(text, where, narrow=narrow)
            embedder = self._number(self._read)
            near = self._near(embedder, vector, where, narrow=narrow) if vector and embedder >= 0 else []
            query = "select n, vector from meaning where embedder = ? and n in (select value from json_each(?))"
            vectors = self._read.execute(query, (embedder, json.dumps([*near, *worded])))
            best = fused(worded, cosines(vector, vectors.fetchall()), limit)
            query = "select n, body from item where n in (select value from json_each(?))"
            found = dict(self._read.execute(query, (json.dumps([*best]),)).fetchall())
        return [(score, item_of(found[n])) for n, score in best.items() if n in found]

    def _by_words(self, text: str, where: Selection, *, narrow: bool) -> dict[int, float]:
        terms = list(dict.fromkeys(segmented(word) for word in content_words(text)))[:MAX_TERMS]
        spread = "select doc from vocabulary where term = ?"
        rows = [
            (row[0], term) for term in filter(None, terms) for row in self._read.execute(spread, (term.split()[0],))
        ]
        chosen: list[str] = []
        looked_at = 0
        for number, term in sorted(rows):
            if chosen and looked_at + number > _LOOKED_AT:
                break
            chosen.append(f'"{term}"')
            looked_at += number
        if not chosen:
            return {}
        newest = self._read.execute("select max(n) from item").fetchone()[0] or 0
        # Where even the rarest word is in too many, the newest of them are looked at.
        first = int(newest * (1 - _LOOKED_AT / looked_at)) if looked_at > _LOOKED_AT else 0
        condition, values = _condition(where)
        # A narrow filter goes first; of the usual ones it is enough that some of the best rows pass.
        found = self._read.execute(
            "select best.n, best.badness from (select rowid as n, rank as badness from words where words match :words"
            f" and rowid > :first and rank match 'bm25(1.0, {ASIDE})' order by rank limit :most) as best"
            f" join item on item.n = best.n where {condition} order by best.badness limit {POOL}",
            {**values, "words": " OR ".join(chosen), "first": first, "most": looked_at if narrow else _RANKED},
        )
        return {int(n): -float(badness) for n, badness in found}

    def _near(self, embedder: int, vector: bytes, where: Selection, *, narrow: bool) -> list[int]:
        if narrow:  # the newest of what a filter leaves, where that is too much to be compared as it is
            condition, values = _condition(where)
            rows = self._read.execute(f"select n from item where {condition} order by n desc limit {_SCANNED}", values)
            return [int(n) for (n,) in rows]
        self._load(embedder)
        kinds = [kind for kind in self._signs if not where.kinds or kind in where.kinds]
        return [n for kind in kinds for n in self._signs[kind].nearest(signs(vector), NEAR)]

    def _load(self, embedder: int) -> None:
        """Take the signs of what was added since, here or by another process; what was forgotten is left out later."""
        if embedder != self._loaded_of:
            self._signs, self._loaded_to, self._loaded_of = {}, 0, embedder
        query = "select m, n, kind, code from meaning where m > ? and embedder = ? and code <> x''"
        for m, n, kind, code in self._read.execute(query, (self._loaded_to, embedder)):
            self._signs.setdefault(kind, _Signs()).add(n, code)
            self._loaded_to = m

    def counted(self) -> tuple[dict[str, int], int, int]:
        with self._reading:
            kinds = dict(self._read.execute("select kind, count(*) from item group by kind").fetchall())
            (sources,) = self._read.execute("select count(distinct url) from item where kind = 'fact'").fetchone()
            query, number = "select count(*) from meaning where embedder = ? and code <> x''", self._number(self._read)
            (embedded,) = self._read.execute(query, (number,)).fetchone()
        return kinds, sources, embedded


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
            marks = f"pragma application_id = {APPLICATION}; pragma user_version = {LAYOUT};"
            for statement in f"{_TABLES}{marks}".split(";"):
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


def chosen_by(where: Selection, listed: str, met: str, seen: str) -> tuple[list[str], dict[str, object]]:
    """Write a selection as conditions, and their values by name."""
    lists = {"id": list(where.ids), "kind": list(where.kinds), "verdict": list(where.verdicts)}
    equal = {"url": where.url, "domain": where.domain, "text_hash": where.text_hash}
    until = where.date_to and f"{where.date_to}~"
    tests = {name: listed.format(name) for name in lists} | {name: f"{name} = :{name}" for name in equal}
    tests |= {"job": met, "since": f"{seen} >= :since", "until": f"{seen} <= :until"}
    values = {**lists, **equal, "job": where.job, "since": where.date_from, "until": until}
    given: dict[str, object] = {name: value for name, value in values.items() if value}
    return [tests[name] for name in given], given


def _condition(where: Selection) -> tuple[str, dict[str, object]]:
    met = "item.n in (select n from met where job = :job)"
    parts, values = chosen_by(where, "{0} in (select value from json_each(:{0}))", met, "seen")
    lists = {name: json.dumps(value) for name, value in values.items() if isinstance(value, list)}
    return " and ".join(parts) or "true", values | lists
