"""The knowledge base in SQLite files, one for each user, so that nothing can cross: words in FTS5, directions as bytes.

Made for a million things in one file: a search looks at the rarest words of a question only, and compares 64 signs of
each direction before it looks at any direction itself.
"""

import asyncio
import json
import sqlite3
import threading
import time
import zlib
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from agents.contracts.fact import MemoryKind, Remembered, Selection
from agents.contracts.frozen import digest
from agents.memory import knowledge
from agents.memory.embedders import signs
from agents.memory.knowledge import Embedder, MemoryDown, body_of, columns_of, words_of
from agents.memory.sql_knowledge import Rows, SqlKnowledge
from agents.nlp.tokens import content_words, segmented

T = TypeVar("T")
P = ParamSpec("P")

APPLICATION = 0x446F734D  # written into each file, so that a database of something else is never taken for one
LAYOUT = 1  # raised when the tables change; a file of another layout is left alone
_LOOKED_AT = 2_500  # rows whose words are weighed: the rarest words of a question until they come to so many
_RANKED = 300  # of them, those that are held against a wide filter
_SCANNED = 5_000  # rows up to which a filter goes first and every direction behind it is compared
_BUSY_S, _SWITCHES = 10.0, 20

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


class SqliteKnowledge(SqlKnowledge):
    """Files in a folder, opened when somebody first asks."""

    name = "embedded"
    items, meanings, own = "item", "meaning", "true"
    meant = "embedder = (select id from embedder where name || ' ' || dimensions = :embedder)"
    listed = "{0} in (select value from json_each(:{0}))"
    met = "item.n in (select n from met where job = :job)"

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        super().__init__(embedder)
        self.folder = folder
        self._open: dict[str, _OwnFile] = {}
        self._opening = threading.Lock()

    async def owners(self) -> tuple[str, ...]:
        def named() -> tuple[str, ...]:
            found = set(self._open)
            for path in self.folder.glob("*.db"):
                # What is not ours, or damaged: whoever owns it hears of it when they ask.
                with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db, suppress(sqlite3.Error):
                    found |= {str(row[0]) for row in db.execute("select owner from info")}
            return tuple(sorted(found))

        return await asyncio.to_thread(named)

    async def close(self) -> None:
        with self._opening:
            for file in self._open.values():
                file.close()
            self._open.clear()

    async def _put(self, owner: str, items: Sequence[Remembered], vectors: Sequence[bytes]) -> int:
        return await self._ask(owner, _OwnFile.put, items, vectors, (self.embedder.id, self.embedder.dimensions))

    async def _rows(self, owner: str, query: str, values: Mapping[str, object]) -> Rows:
        return await self._ask(owner, _OwnFile.rows, query, values)

    async def _dropped(self, owner: str, table: str, condition: str, values: Mapping[str, object]) -> int:
        return await self._ask(owner, _OwnFile.drop, table, condition, values)

    async def _by_words(self, owner: str, text: str, where: Selection) -> dict[int, float]:
        return await self._ask(owner, _OwnFile.by_words, text, *self.chosen(where), narrow=_is_narrow(where))

    async def _near(self, owner: str, vector: bytes, where: Selection) -> list[int]:
        if _is_narrow(where):  # the newest of what a filter leaves, where that is too much to be compared as it is
            condition, values = self.chosen(where)
            query = f"select n from item where {condition} order by n desc limit {_SCANNED}"
            return [n for (n,) in await self._asked(owner, query, **values)]
        embedder = f"select m, n, kind, code from meaning where m > :after and {self.meant} and code <> x''"
        return await self._ask(owner, _OwnFile.near, vector, where.kinds, embedder, self._with(owner, {}))

    async def _ask(
        self, owner: str, ask: Callable[Concatenate["_OwnFile", P], T], *given: P.args, **named: P.kwargs
    ) -> T:
        def asked() -> T:
            with self._opening:
                file = self._open.get(owner)
                if file is None:
                    file = self._open[owner] = _OwnFile(self.folder / f"{digest(owner, 24)}.db", owner)
            return ask(file, *given, **named)

        try:
            return await asyncio.to_thread(asked)
        except (sqlite3.Error, OSError, zlib.error, ValueError) as error:  # what is no thing of ours is a ValueError
            raise MemoryDown(f"the knowledge base can't be used: {error}") from error


def _is_narrow(where: Selection) -> bool:
    """Tell a filter by more than kinds: it goes first; of the others it is enough that some of the best rows pass."""
    return where.model_copy(update={"kinds": ()}) != Selection()


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

    def __init__(self, path: Path, owner: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._write, self._writing = _connected(path, owner), threading.Lock()
        self._read, self._reading = _connected(path, owner), threading.RLock()
        self._signs: dict[MemoryKind, _Signs] = {}
        self._loaded_to, self._loaded_of = 0, ""

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

    def put(self, items: Sequence[Remembered], vectors: Sequence[bytes], embedder: tuple[str, int]) -> int:
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
            db.execute("insert or ignore into embedder(name, dimensions) values (?, ?)", embedder)
            query = "select id from embedder where name = ? and dimensions = ?"
            (number,) = db.execute(query, embedder).fetchone()
            # An empty direction says that it was asked for.
            meant = [(number, signs(vector), vector, item.id) for item, vector in zip(items, vectors, strict=True)]
            db.executemany(_MEAN, meant)
        return len(new)

    def drop(self, table: str, condition: str, values: Mapping[str, object]) -> int:
        with self._transaction() as db:
            gone = db.execute(f"delete from {table} where {condition} returning n", _bound(values)).fetchall()
            for column in ("met where n", "meaning where n", "words where rowid") if table == "item" else ():
                db.executemany(f"delete from {column} = ?", gone)
        return len(gone)

    # ---- reading

    def rows(self, query: str, values: Mapping[str, object]) -> Rows:
        with self._reading:
            return self._read.execute(query, _bound(values)).fetchall()

    def by_words(self, text: str, condition: str, values: Mapping[str, object], *, narrow: bool) -> dict[int, float]:
        terms = list(dict.fromkeys(segmented(word) for word in content_words(text)))[: knowledge.MAX_TERMS]
        spread = "select doc from vocabulary where term = :term"
        rows = [(row[0], term) for term in filter(None, terms) for row in self.rows(spread, {"term": term.split()[0]})]
        chosen: list[str] = []
        looked_at = 0
        for number, term in sorted(rows):
            if chosen and looked_at + number > _LOOKED_AT:
                break
            chosen.append(f'"{term}"')
            looked_at += number
        if not chosen:
            return {}
        newest = self.rows("select max(n) from item", {})[0][0] or 0
        # Where even the rarest word is in too many, the newest of them are looked at.
        first = int(newest * (1 - _LOOKED_AT / looked_at)) if looked_at > _LOOKED_AT else 0
        found = self.rows(
            "select best.n, best.badness from (select rowid as n, rank as badness from words where words match :words"
            f" and rowid > :first and rank match 'bm25(1.0, {knowledge.ASIDE})' order by rank limit :most) as best"
            f" join item on item.n = best.n where {condition} order by best.badness limit {knowledge.POOL}",
            {**values, "words": " OR ".join(chosen), "first": first, "most": looked_at if narrow else _RANKED},
        )
        return {n: -badness for n, badness in found}

    def near(self, vector: bytes, kinds: Sequence[MemoryKind], codes: str, values: Mapping[str, object]) -> list[int]:
        """Find the directions whose signs differ least, of these kinds; `codes` asks for all that came after one."""
        with self._reading:
            # What was added since, here or by another process; what was forgotten is left out later.
            if (embedder := str(values["embedder"])) != self._loaded_of:
                self._signs, self._loaded_to, self._loaded_of = {}, 0, embedder
            for m, n, kind, code in self._read.execute(codes, {**values, "after": self._loaded_to}):
                self._signs.setdefault(kind, _Signs()).add(n, code)
                self._loaded_to = m
            of_kinds = [self._signs[kind] for kind in self._signs if not kinds or kind in kinds]
            return [n for one in of_kinds for n in one.nearest(signs(vector), knowledge.NEAR)]


def _bound(values: Mapping[str, object]) -> dict[str, object]:
    """Write lists as the JSON that a query takes them from."""
    return {name: json.dumps(value) if isinstance(value, list) else value for name, value in values.items()}


def _log_ahead(db: sqlite3.Connection) -> None:
    """Switch a file to its log; where two programs begin it at once, SQLite turns one of them away without waiting."""
    for tries_left in reversed(range(_SWITCHES)):
        try:
            db.execute("pragma journal_mode = wal")
            return
        except sqlite3.OperationalError:
            if not tries_left:
                raise
            time.sleep(0.05)


def _connected(path: Path, owner: str) -> sqlite3.Connection:
    """Open a user's file, or begin it; one of another program, layout or user is left as it is."""
    db = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        _log_ahead(db)
        for pragma in ("synchronous = normal", "mmap_size = 268435456"):
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
