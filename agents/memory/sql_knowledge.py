"""The knowledge base in an SQL database: what SQLite and PostgreSQL are asked alike.

Full text, and the way to the nearest directions, are of each database. Users are told apart in every request.
"""

from abc import abstractmethod
from collections.abc import AsyncIterator, Mapping
from typing import Any, ClassVar

from agents.contracts.fact import Remembered, Selection
from agents.memory.embedders import cosines
from agents.memory.knowledge import BATCH, KnowledgeStore, fused, item_of

Rows = list[tuple[Any, ...]]


class SqlKnowledge(KnowledgeStore):
    """Rows of things, numbered as they come, and rows of directions beside them."""

    items: ClassVar[str]  # table of things
    meanings: ClassVar[str]  # table of directions
    own: ClassVar[str]  # condition: the row is the owner's
    meant: ClassVar[str]  # condition: the direction is of the present embedder
    listed: ClassVar[str]  # condition: a column is one of the values listed under its name
    met: ClassVar[str]  # condition: the job met with the thing
    seen: ClassVar[str] = "seen"  # column of days, as it compares with text

    @abstractmethod
    async def _rows(self, owner: str, query: str, values: Mapping[str, object]) -> Rows:
        """Ask for rows."""

    @abstractmethod
    async def _dropped(self, owner: str, table: str, condition: str, values: Mapping[str, object]) -> int:
        """Delete rows of one table, with what belongs to them; says how many."""

    @abstractmethod
    async def _by_words(self, owner: str, text: str, where: Selection) -> dict[int, float]:
        """Find things by their words, scored, at most `POOL`."""

    @abstractmethod
    async def _near(self, owner: str, vector: bytes, where: Selection) -> list[int]:
        """Find things whose directions are to be compared with one."""

    async def get(
        self, owner: str, where: Selection, limit: int = 1_000, *, newest: bool = False
    ) -> tuple[Remembered, ...]:
        condition, values = self.chosen(where)
        order = "seen desc, n desc" if newest else "n"
        query = f"select body from {self.items} where {condition} order by {order} limit :limit"
        return tuple(item_of(body) for (body,) in await self._asked(owner, query, **values, limit=limit))

    async def _forget(self, owner: str, where: Selection) -> int:
        condition, values = self.chosen(where)
        return await self._dropped(owner, self.items, condition, self._with(owner, values))

    async def _counted(self, owner: str) -> tuple[dict[str, int], int, int]:
        ours = f"from {self.items} where {self.own}"
        kinds = await self._asked(owner, f"select kind, count(*) {ours} group by kind")
        ((sources,),) = await self._asked(owner, f"select count(distinct url) {ours} and kind = 'fact'")
        meant = f"select count(*) from {self.meanings} where {self.own} and {self.meant} and length(vector) > 0"
        ((embedded,),) = await self._asked(owner, meant)
        return dict(kinds), sources, embedded

    async def _search(
        self, owner: str, text: str, vector: bytes, where: Selection, limit: int
    ) -> list[tuple[float, Remembered]]:
        worded, numbered = await self._by_words(owner, text, where), self.listed.format("n")
        near = await self._near(owner, vector, where) if vector else []
        query = f"select n, vector from {self.meanings} where {self.meant} and {numbered}"
        best = fused(worded, cosines(vector, await self._asked(owner, query, n=[*near, *worded])), limit)
        rows = await self._asked(owner, f"select n, body from {self.items} where {numbered}", n=[*best])
        found: dict[int, bytes] = dict(rows)
        return [(score, item_of(found[n])) for n, score in best.items() if n in found]

    async def pages(self, owner: str) -> AsyncIterator[list[Remembered]]:
        query, last = f"select n, body from {self.items} where {self.own} and n > :last order by n limit {BATCH}", 0
        while rows := await self._asked(owner, query, last=last):
            last = rows[-1][0]
            yield [item_of(body) for _, body in rows]

    async def _stale(self, owner: str) -> AsyncIterator[list[Remembered]]:
        of_it = f"select 1 from {self.meanings} as one where one.n = {self.items}.n"
        query = (
            f"select body from {self.items} where {self.own} and exists ({of_it})"
            f" and not exists ({of_it} and {self.meant}) limit {BATCH}"
        )
        while rows := await self._asked(owner, query):
            yield [item_of(body) for (body,) in rows]

    async def _drop_stale(self, owner: str) -> None:
        await self._dropped(owner, self.meanings, f"{self.own} and not {self.meant}", self._with(owner, {}))

    def chosen(self, where: Selection) -> tuple[str, dict[str, object]]:
        """Write a selection as a condition, and its values by name."""
        lists = {"id": list(where.ids), "kind": list(where.kinds), "verdict": list(where.verdicts)}
        equal = {"url": where.url, "domain": where.domain, "text_hash": where.text_hash}
        tests = {name: self.listed.format(name) for name in lists} | {name: f"{name} = :{name}" for name in equal}
        tests |= {"job": self.met, "since": f"{self.seen} >= :since", "until": f"{self.seen} <= :until"}
        until = where.date_to and f"{where.date_to}~"
        values = {**lists, **equal, "job": where.job, "since": where.date_from, "until": until}
        given: dict[str, object] = {name: value for name, value in values.items() if value}
        return " and ".join([self.own, *(tests[name] for name in given)]), given

    async def _asked(self, owner: str, query: str, **values: object) -> Rows:
        return await self._rows(owner, query, self._with(owner, values))

    def _with(self, owner: str, values: Mapping[str, object]) -> dict[str, object]:
        return {**values, "owner": owner, "embedder": f"{self.embedder.id} {self.embedder.dimensions}"}
