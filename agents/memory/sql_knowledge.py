"""The knowledge base in SQL: a file in the data folder, or the PostgreSQL that jobs live in, asked by the same code.

Full text is each database's own. A search looks at the rarest words of a question only, and compares the signs of all
directions, which lie in memory, before it compares those of the nearest exactly: so one file serves a million things.
"""

import asyncio
import threading
import zlib
from array import array
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import sqlalchemy as sa
from filelock import FileLock
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError

from agents.contracts.fact import MemoryKind, Remembered, Selection
from agents.core.errors import ConfigError
from agents.memory import knowledge
from agents.memory.embedders import cosines, signs
from agents.memory.knowledge import Embedder, KnowledgeStore, MemoryDown, body_of, columns_of, fused, item_of, words_of
from agents.nlp.tokens import content_words, segmented

T = TypeVar("T")
P = ParamSpec("P")
Tests = list[sa.ColumnElement[bool]]

LAYOUT = 2  # raised when the tables change; a file of another layout is left alone
LOCK = 0x446F734D  # of PostgreSQL: one process makes the tables, and one writes at a time
BUSY_S = 10.0  # seconds that a writer of a file waits for another
LOOKED_AT = 2_500  # rows whose words are weighed
SCANNED = 5_000  # rows behind a filter whose directions are all compared, the newest first

_TABLES = sa.MetaData()
_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
ITEMS = sa.Table(
    "memory_items", _TABLES,
    sa.Column("n", _NUMBER, primary_key=True),
    *(sa.Column(name, sa.Text, nullable=False) for name in "owner id kind verdict url domain text_hash seen".split()),
    sa.Column("body", sa.LargeBinary, nullable=False),
    sa.UniqueConstraint("owner", "id"),
    *(sa.Index(f"memory_items_{name}", "owner", name) for name in ("kind", "url", "domain", "text_hash", "seen")),
    sqlite_autoincrement=True,  # the number of what was forgotten is given to nothing else
)  # fmt: skip
MET = sa.Table(
    "memory_met", _TABLES,
    sa.Column("job", sa.Text, primary_key=True),
    sa.Column("n", _NUMBER, sa.ForeignKey("memory_items.n", ondelete="CASCADE"), primary_key=True, index=True),
)  # fmt: skip
MEANINGS = sa.Table(
    "memory_meanings", _TABLES,
    sa.Column("m", _NUMBER, primary_key=True),
    sa.Column("n", _NUMBER, sa.ForeignKey("memory_items.n", ondelete="CASCADE"), nullable=False),
    *(sa.Column(name, sa.Text, nullable=False) for name in "owner kind embedder".split()),
    sa.Column("code", sa.LargeBinary, nullable=False),
    sa.Column("vector", sa.LargeBinary, nullable=False),
    sa.UniqueConstraint("n", "embedder"), sqlite_autoincrement=True,
)  # fmt: skip
WORDS = sa.table("memory_words", sa.column("n"), sa.column("words"), sa.column("rowid"), sa.column("rank"))
_PUT_WORDS = {
    "sqlite": "insert or replace into memory_words(rowid, body, aside) values (:n, :words, :aside)",
    "postgresql": "insert into memory_words values (:n, setweight(to_tsvector('simple', :words), 'A')"
    " || setweight(to_tsvector('simple', :aside), 'C')) on conflict (n) do update set words = excluded.words",
}
VOCABULARY = sa.table("memory_vocabulary", sa.column("term"), sa.column("doc"))


class SqlKnowledge(KnowledgeStore):
    """Tables made when somebody first asks; users are told apart in every request."""

    def __init__(self, place: Path | str, embedder: Embedder) -> None:
        """Keep it in a folder, or in the PostgreSQL database at an address."""
        super().__init__(embedder)
        self._folder = place if isinstance(place, Path) else None
        self.name, self._dialect = ("embedded", sqlite) if self._folder else ("postgresql", postgresql)
        try:
            if self._folder:
                url = sa.URL.create("sqlite", database=str(self._folder / "knowledge.db"))
                # A transaction begins with its first change, and waits for that of another process.
                self._engine = sa.create_engine(url, connect_args={"timeout": BUSY_S, "isolation_level": "IMMEDIATE"})
            else:
                url = sa.make_url(str(place)).set(drivername="postgresql+psycopg")
                self._engine = sa.create_engine(url, connect_args={"connect_timeout": int(BUSY_S)})
        except (ImportError, SQLAlchemyError) as error:
            raise ConfigError(f"The knowledge base can't be kept in this database: {error}") from error
        self._made, self._alone = False, threading.Lock()
        self._signs: dict[tuple[str, MemoryKind], tuple[array[int], bytearray]] = {}
        """By user and kind: numbers of things, and the signs of their directions; 16 MB for a million."""
        self._read_to: dict[str, int] = {}

    async def get(
        self, owner: str, where: Selection, limit: int = 1_000, *, newest: bool = False
    ) -> tuple[Remembered, ...]:
        c = ITEMS.c
        order = (c.seen.desc(), c.n.desc()) if newest else (c.n,)
        query = sa.select(c.n, c.body).where(*_chosen(owner, where)).order_by(*order).limit(limit)
        return tuple((await self._ask(_read, query)).values())

    async def owners(self) -> tuple[str, ...]:
        query = sa.select(ITEMS.c.owner).distinct().order_by(ITEMS.c.owner)
        return tuple(await self._ask(lambda db: db.scalars(query).all()))

    async def close(self) -> None:
        await asyncio.to_thread(self._engine.dispose)

    async def pages(self, owner: str, *, stale: bool = False) -> AsyncIterator[list[Remembered]]:
        c, last = ITEMS.c, 0
        tests = [c.owner == owner]
        if stale:
            of_it = sa.select(MEANINGS.c.n).where(MEANINGS.c.n == c.n)
            tests += [of_it.exists(), ~of_it.where(self._present).exists()]
        while page := await self._ask(
            _read, sa.select(c.n, c.body).where(*tests, c.n > last).order_by(c.n).limit(knowledge.BATCH)
        ):
            last = max(page)
            yield list(page.values())

    async def _drop_stale(self, owner: str) -> None:
        gone = sa.delete(MEANINGS).where(MEANINGS.c.owner == owner, ~self._present)
        await self._ask(lambda db: db.execute(gone))

    async def _forget(self, owner: str, where: Selection) -> int:
        gone = sa.delete(ITEMS).where(*_chosen(owner, where))
        return await self._ask(lambda db: db.execute(gone).rowcount)

    async def _counted(self, owner: str) -> tuple[dict[str, int], int, int]:
        def counted(db: sa.Connection) -> tuple[dict[str, int], int, int]:
            ours = [ITEMS.c.owner == owner]
            kinds = db.execute(sa.select(ITEMS.c.kind, sa.func.count()).where(*ours).group_by(ITEMS.c.kind))
            sources = sa.select(sa.func.count(ITEMS.c.url.distinct())).where(*ours, ITEMS.c.kind == "fact")
            meant = (MEANINGS.c.owner == owner, self._present, MEANINGS.c.vector != b"")
            embedded = sa.select(sa.func.count()).select_from(MEANINGS).where(*meant)
            return dict(kinds.all()), db.scalar(sources) or 0, db.scalar(embedded) or 0

        return await self._ask(counted)

    async def _put(self, owner: str, items: Sequence[Remembered], vectors: Sequence[bytes]) -> int:
        return await self._ask(self._written, owner, items, vectors)

    def _written(self, db: sa.Connection, owner: str, items: Sequence[Remembered], vectors: Sequence[bytes]) -> int:
        rows = [{"owner": owner, **columns_of(one), "body": body_of(one)} for one in items]
        numbered = sa.select(ITEMS.c.id, ITEMS.c.n).where(
            ITEMS.c.owner == owner, ITEMS.c.id.in_([one.id for one in items])
        )
        if self._dialect is postgresql:  # what is numbered later is then seen later: signs are read in this order
            db.execute(sa.select(sa.func.pg_advisory_xact_lock(LOCK)))
        there = len(db.execute(numbered).all())
        put = self._dialect.insert(ITEMS)
        changed = {name: put.excluded[name] for name in rows[0].keys() - {"owner", "id"}}
        db.execute(put.on_conflict_do_update(index_elements=["owner", "id"], set_=changed), rows)
        n = dict(db.execute(numbered).all())
        words = [{"n": n[one.id], "words": body, "aside": aside} for one in items for body, aside in [words_of(one)]]
        db.execute(sa.text(_PUT_WORDS[self._engine.dialect.name]), words)
        if met := [{"job": job, "n": n[one.id]} for one in items for job in one.jobs]:
            db.execute(self._dialect.insert(MET).on_conflict_do_nothing(), met)
        meant = [  # an empty direction says that it was asked for
            {"n": n[one.id], "owner": owner, "kind": one.kind, "embedder": self._embedder, "code": signs(vector), "vector": vector}
            for one, vector in zip(items, vectors, strict=True)
        ]  # fmt: skip
        db.execute(self._dialect.insert(MEANINGS).on_conflict_do_nothing(), meant)
        return len(items) - there

    async def _search(
        self, owner: str, text: str, vector: bytes, where: Selection, limit: int
    ) -> list[tuple[float, Remembered]]:
        return await self._ask(self._found, owner, text, vector, where, limit)

    def _found(
        self, db: sa.Connection, owner: str, text: str, vector: bytes, where: Selection, limit: int
    ) -> list[tuple[float, Remembered]]:
        tests = _chosen(owner, where)
        worded = (_by_words if self._folder else _by_words_in_postgresql)(db, text, tests)
        near = self._near(db, owner, vector, where) if vector else []
        query = sa.select(MEANINGS.c.n, MEANINGS.c.vector).where(self._present, MEANINGS.c.n.in_([*near, *worded]))
        best = fused(worded, cosines(vector, [(n, one) for n, one in db.execute(query)]), limit)
        items = _read(db, sa.select(ITEMS.c.n, ITEMS.c.body).where(ITEMS.c.n.in_([*best])))
        return [(score, items[n]) for n, score in best.items() if n in items]

    def _near(self, db: sa.Connection, owner: str, vector: bytes, where: Selection) -> list[int]:
        """Find things whose directions are to be compared with one."""
        if where.model_copy(update={"kinds": ()}) != Selection():  # such a filter goes first
            query = sa.select(ITEMS.c.n).where(*_chosen(owner, where)).order_by(ITEMS.c.n.desc()).limit(SCANNED)
            return list(db.scalars(query))
        c = MEANINGS.c
        with self._alone:
            # What was added since, here or by another process; what was forgotten is left out later.
            later = (c.m > self._read_to.get(owner, 0), c.owner == owner, self._present, c.code != b"")
            for m, n, kind, code in db.execute(sa.select(c.m, c.n, c.kind, c.code).where(*later).order_by(c.m)):
                numbers, codes = self._signs.setdefault((owner, kind), (array("q"), bytearray()))
                numbers.append(n)
                codes += code
                self._read_to[owner] = m
            ours = {kind: known for (of, kind), known in self._signs.items() if of == owner}
            among = [known for kind, known in ours.items() if not where.kinds or kind in where.kinds]
            return [n for known in among for n in _nearest(*known, signs(vector), knowledge.NEAR)]

    @property
    def _embedder(self) -> str:
        return f"{self.embedder.id} {self.embedder.dimensions}"

    @property
    def _present(self) -> sa.ColumnElement[bool]:
        """The condition that a direction is of the present embedder."""
        return MEANINGS.c.embedder == self._embedder

    async def _ask(self, work: Callable[Concatenate[sa.Connection, P], T], *given: P.args, **named: P.kwargs) -> T:
        """Do something in one transaction, in a thread; `MemoryDown` where the database can't be used."""

        def asked() -> T:
            if not self._made:
                self._make()
            with self._engine.begin() as db:
                return work(db, *given, **named)

        try:
            return await asyncio.to_thread(asked)
        except (SQLAlchemyError, OSError, zlib.error, ValueError) as error:  # what is no thing of ours is a ValueError
            cause = " ".join(str(getattr(error, "orig", None) or error).split())[:200]
            raise MemoryDown(f"the knowledge base can't be used: {cause}") from error

    def _make(self) -> None:
        """Make the tables where there are none; a file of another version is left as it is."""
        if self._folder:
            self._folder.mkdir(parents=True, exist_ok=True)
        # SQLite does not wait for another process that switches a file to its log.
        with FileLock(self._folder / "knowledge.lock") if self._folder else nullcontext(), self._engine.begin() as db:
            if self._folder:
                db.exec_driver_sql("pragma journal_mode = wal")
                if db.exec_driver_sql("pragma user_version").scalar() not in {0, LAYOUT}:
                    raise MemoryDown("the knowledge base was written by another version of this program")
                db.exec_driver_sql(f"pragma user_version = {LAYOUT}")
            else:
                db.execute(sa.select(sa.func.pg_advisory_xact_lock(LOCK)))
            _TABLES.create_all(db)
            words = Path(__file__).with_name(f"{self.name}.sql").read_text("utf-8")
            for statement in words.split("\n\n"):
                db.exec_driver_sql(statement)
        self._made = True


def _chosen(owner: str, where: Selection) -> Tests:
    """Write a selection as conditions; the owner always is one of them."""
    c = ITEMS.c
    lists = {c.id: where.ids, c.kind: where.kinds, c.verdict: where.verdicts}
    equal = {c.url: where.url, c.domain: where.domain, c.text_hash: where.text_hash}
    tests = [c.owner == owner, *(column.in_(values) for column, values in lists.items() if values)]
    tests += [column == value for column, value in equal.items() if value]
    if where.job:
        tests.append(c.n.in_(sa.select(MET.c.n).where(MET.c.job == where.job)))
    if where.date_from:
        tests.append(c.seen >= where.date_from)
    if where.date_to:
        tests.append(c.seen <= f"{where.date_to}T99")  # all of that day
    return tests


def _read(db: sa.Connection, query: sa.Select[int, bytes]) -> dict[int, Remembered]:
    """Read things by their numbers, in the order of a query."""
    return {n: item_of(body) for n, body in db.execute(query)}


def _by_words(db: sa.Connection, text: str, tests: Tests) -> dict[int, float]:
    """Find things in a file by the rarest words of a text, scored, at most `POOL`."""
    terms = list(dict.fromkeys(filter(None, (segmented(word) for word in content_words(text)))))[: knowledge.MAX_TERMS]
    c = VOCABULARY.c
    counts = sa.select(c.term, c.doc).where(c.term.in_([one.split()[0] for one in terms]))
    spread: dict[str, int] = dict(db.execute(counts).all())
    chosen, looked_at = list[str](), 0
    for number, term in sorted((spread.get(one.split()[0], 0), one) for one in terms):
        if chosen and looked_at + number > LOOKED_AT:
            break
        chosen.append(f'"{term}"')
        looked_at += number
    if not chosen:
        return {}
    # Where even the rarest word is in too many, the newest of them are looked at.
    newest = db.scalar(sa.select(sa.func.max(ITEMS.c.n))) or 0
    after = int(newest * (1 - LOOKED_AT / looked_at)) if looked_at > LOOKED_AT else 0
    matched = sa.text(f"memory_words match :asked and rank match 'bm25(1.0, {knowledge.ASIDE})'")
    query = sa.select(ITEMS.c.n, -WORDS.c.rank).join(WORDS, WORDS.c.rowid == ITEMS.c.n).order_by(WORDS.c.rank)
    query = query.where(matched, WORDS.c.rowid > after, *tests).limit(knowledge.POOL)
    return dict(db.execute(query, {"asked": " OR ".join(chosen)}).all())


def _by_words_in_postgresql(db: sa.Connection, text: str, tests: Tests) -> dict[int, float]:
    """Find things in PostgreSQL by the words of a text, scored, at most `POOL`; the newest that hold one are looked at."""
    words = [word for term in content_words(text) for word in segmented(term).replace("\0", " ").split()]
    if not words:
        return {}
    asked = sa.func.websearch_to_tsquery(sa.literal_column("'simple'"), " or ".join(words[: knowledge.MAX_TERMS]))
    newest = sa.select(ITEMS.c.n, WORDS.c.words).join(WORDS, WORDS.c.n == ITEMS.c.n).order_by(ITEMS.c.n.desc())
    found = newest.where(WORDS.c.words.op("@@")(asked), *tests).limit(LOOKED_AT).subquery()
    score = sa.func.ts_rank(found.c.words, asked)
    return dict(db.execute(sa.select(found.c.n, score).order_by(score.desc()).limit(knowledge.POOL)).all())


def _nearest(numbers: Sequence[int], codes: bytearray, code: bytes, most: int) -> list[int]:
    """Give the numbers whose codes differ from one in the fewest bits, of about a million."""
    import numpy as np  # not before somebody searches: it costs every start a tenth of a second, and 20 MB

    rows = np.frombuffer(codes, np.uint64).reshape(len(numbers), -1)
    far = np.bitwise_count(rows ^ np.frombuffer(code, np.uint64)).sum(axis=1, dtype=np.uint16)
    # Counting how many are how far is quicker than any sorting of a million.
    near = np.flatnonzero(far <= np.bincount(far).cumsum().searchsorted(min(most, len(far))))
    return [numbers[at] for at in near[np.argsort(far[near], kind="stable")][:most]]
