"""The knowledge base on a Qdrant server: one collection for each embedder, users told apart by a filter on every request."""

import asyncio
import re
import threading
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING, TypeVar
from zlib import crc32

from agents.contracts.fact import MemoryStats, Remembered, Selection
from agents.core.errors import ConfigError
from agents.memory.embedders import Embedder
from agents.memory.knowledge import BATCH, MemoryDown
from agents.memory.sql_knowledge import POOL, embedded_text, words_of
from agents.nlp.tokens import content_words, segmented
from agents.search.scope_filter import by_rank
from agents.web.url_key import registrable_domain

if TYPE_CHECKING:
    from qdrant_client import models

T = TypeVar("T")

PREFIX = "dossier"
IN_MEMORY = ":memory:"
"""In the place of an address: a store that is gone with its process, for tests."""
TIMEOUT_S = 10
_K1, _B, _USUAL_WORDS = 1.2, 0.75, 40
"""BM25's own constants, and the words of a usual thing; how rare a word is, is counted by the server."""


class QdrantKnowledge:
    """Collections on a server, or in memory."""

    name = "qdrant"

    def __init__(self, url: str, embedder: Embedder, key: str = "") -> None:
        try:
            from qdrant_client import QdrantClient, models
        except ImportError as error:
            raise ConfigError(
                "DOSSIER_QDRANT_URL needs the package qdrant-client: install the extra `qdrant`."
            ) from error
        self.embedder, self.models = embedder, models
        self._local = threading.Lock() if url == IN_MEMORY else None
        try:
            self.client: QdrantClient = (
                QdrantClient(IN_MEMORY)
                if url == IN_MEMORY
                else QdrantClient(url=url, api_key=key or None, timeout=TIMEOUT_S, check_compatibility=False)
            )
        except ValueError as error:
            raise ConfigError(f"DOSSIER_QDRANT_URL can't be used: {error}") from error
        self._known: set[str] = set()

    async def put(self, owner: str, items: Sequence[Remembered]) -> int:
        new = 0
        for at in range(0, len(items), BATCH):
            part = list({one.id: one for one in items[at : at + BATCH]}.values())
            vectors = await self.embedder.embed([embedded_text(one) for one in part])
            new += await self._ask(self._put, owner, part, vectors)
        return new

    async def search(
        self, owner: str, text: str, where: Selection = Selection(), limit: int = 10
    ) -> tuple[Remembered, ...]:
        if not text.strip():
            found = await self.get(owner, where)
            return tuple(sorted(found, key=lambda one: one.seen, reverse=True)[:limit])
        vector = (await self.embedder.embed([text]))[0]
        return await self._ask(self._search, owner, text, vector, where, limit)

    async def get(self, owner: str, where: Selection, limit: int = 1_000) -> tuple[Remembered, ...]:
        def got() -> tuple[Remembered, ...]:
            found: list[Remembered] = []
            for name in self._collections():
                records, _ = self.client.scroll(name, self._filter(owner, where), limit=limit, with_payload=["body"])
                found += [_item(one.payload) for one in records]
            return tuple(sorted(found, key=lambda one: (one.since, one.id))[:limit])

        return await self._ask(got)

    async def forget(self, owner: str, where: Selection) -> int:
        def forgotten() -> int:
            chosen, gone = self._filter(owner, where), 0
            for name in self._collections():
                gone += self.client.count(name, chosen, exact=True).count
                self.client.delete(name, self.models.FilterSelector(filter=chosen), wait=True)
            return gone

        return await self._ask(forgotten)

    async def every(self, owner: str) -> AsyncIterator[Remembered]:
        for name in await self._ask(self._collections):
            async for page in self._pages(owner, name):
                for item in page:
                    yield item

    async def reembed(self, owner: str, progress: Callable[[int, int], object] = lambda _done, _all: None) -> int:
        await self.embedder.embed(["a text"])  # its size is known from now on
        here, done = self._collection(), 0
        everything = (await self.stats(owner)).items
        for name in await self._ask(self._collections):
            if name == here:
                continue
            async for page in self._pages(owner, name):
                await self.put(owner, page)
                done += len(page)
                progress(done, everything)
            chosen = self.models.FilterSelector(filter=self._filter(owner, Selection()))
            await self._ask(self.client.delete, name, chosen)
        return done

    async def owners(self) -> tuple[str, ...]:
        def named() -> tuple[str, ...]:
            found: set[str] = set()
            for name in self._collections():
                found |= {str(hit.value) for hit in self.client.facet(name, "owner", limit=10_000, exact=True).hits}
            return tuple(sorted(found))

        return await self._ask(named)

    async def stats(self, owner: str) -> MemoryStats:
        kinds: Counter[str] = Counter()
        sources: set[str] = set()
        embedded, here = 0, self._collection()
        for name in await self._ask(self._collections):
            async for page in self._pages(owner, name):
                kinds.update(one.kind for one in page)
                sources |= {one.source.url for one in page if one.source}
                embedded += len(page) * (name == here)
        return MemoryStats(
            store=self.name, items=sum(kinds.values()), by_kind=dict(kinds), sources=len(sources),
            embedder=self.embedder.id, dimensions=self.embedder.dimensions, embedded=embedded,
        )  # fmt: skip

    async def close(self) -> None:
        await asyncio.to_thread(self.client.close)

    # ---- in a thread

    async def _ask(self, ask: Callable[..., T], *given: object) -> T:
        """Ask in a thread.

        Raises:
            MemoryDown: the server can't be reached, refuses the key, or holds something else under the name.
        """
        from qdrant_client.http.exceptions import ApiException

        def asked() -> T:
            if self._local is None:
                return ask(*given)
            with self._local:
                return ask(*given)

        try:
            return await asyncio.to_thread(asked)
        except (ApiException, OSError, ValueError) as error:
            words = " ".join(str(error).split())[:200]
            raise MemoryDown(f"the knowledge base can't be used: {words or type(error).__name__}") from error

    def _collection(self) -> str:
        plain = re.sub("[^a-z0-9]+", "-", self.embedder.id.lower()).strip("-")
        return f"{PREFIX}-{plain}-{self.embedder.dimensions}"

    def _collections(self) -> list[str]:
        return sorted(
            one.name for one in self.client.get_collections().collections if one.name.startswith(f"{PREFIX}-")
        )

    def _ready(self) -> str:
        """Make the collection of the embedder where it is not there, and see that its vectors are of the right size."""
        name, m = self._collection(), self.models
        if name in self._known:
            return name
        if not self.client.collection_exists(name):
            self.client.create_collection(
                name,
                vectors_config={"dense": m.VectorParams(size=self.embedder.dimensions, distance=m.Distance.COSINE)},
                sparse_vectors_config={"words": m.SparseVectorParams(modifier=m.Modifier.IDF)},
            )
            if self._local is None:  # in memory they do nothing but warn
                tenant = m.KeywordIndexParams(type=m.KeywordIndexType.KEYWORD, is_tenant=True)
                self.client.create_payload_index(name, "owner", tenant)
                for field in ("id", "kind", "verdict", "url", "domain", "text_hash", "jobs"):
                    self.client.create_payload_index(name, field, m.PayloadSchemaType.KEYWORD)
                self.client.create_payload_index(name, "seen", m.PayloadSchemaType.DATETIME)
        vectors = self.client.get_collection(name).config.params.vectors
        size = vectors["dense"].size if isinstance(vectors, dict) and "dense" in vectors else 0
        if size != self.embedder.dimensions:
            raise MemoryDown(f"the collection {name} holds vectors of {size} parts, not {self.embedder.dimensions}")
        self._known.add(name)
        return name

    def _put(self, owner: str, items: Sequence[Remembered], vectors: Sequence[bytes]) -> int:
        m, name = self.models, self._ready()
        points = [
            m.PointStruct(id=_point(owner, item), vector=self._vectors(item, vector), payload=_payload(owner, item))
            for item, vector in zip(items, vectors, strict=True)
        ]
        there = self.client.retrieve(name, [one.id for one in points], with_payload=False)
        self.client.upsert(name, points, wait=True)
        return len(points) - len(there)

    def _vectors(self, item: Remembered, vector: bytes) -> "dict[str, list[float] | models.SparseVector]":
        counts = Counter(crc32(word.encode()) for part in words_of(item) for word in part.split())
        long = 1 - _B + _B * counts.total() / _USUAL_WORDS
        found: dict[str, list[float] | models.SparseVector] = {}
        if counts:
            weights = [count * (_K1 + 1) / (count + _K1 * long) for count in counts.values()]
            found["words"] = self.models.SparseVector(indices=list(counts), values=weights)
        if vector:
            found["dense"] = _floats(vector)
        return found

    def _search(self, owner: str, text: str, vector: bytes, where: Selection, limit: int) -> tuple[Remembered, ...]:
        m, chosen, here = self.models, self._filter(owner, where), self._collection()
        words = {crc32(part.encode()) for word in content_words(text) for part in segmented(word).split()}
        bodies: dict[str, Remembered] = {}
        lists: list[list[str]] = []
        for name in self._collections():
            asked: list[models.QueryRequest] = []
            if words:
                sparse = m.SparseVector(indices=list(words), values=[1.0] * len(words))
                asked.append(
                    m.QueryRequest(query=sparse, using="words", filter=chosen, limit=POOL, with_payload=["body"])
                )
            if vector and name == here:
                asked.append(
                    m.QueryRequest(
                        query=_floats(vector), using="dense", filter=chosen, limit=POOL, with_payload=["body"]
                    )
                )
            for answer in self.client.query_batch_points(name, asked) if asked else ():
                found = [_item(point.payload) for point in answer.points]
                bodies |= {one.id: one for one in found}
                lists.append([one.id for one in found])
        scores = by_rank(lists)
        return tuple(bodies[one] for one in sorted(scores, key=lambda one: -scores[one])[:limit])

    async def _pages(self, owner: str, name: str) -> AsyncIterator[list[Remembered]]:
        chosen, offset = self._filter(owner, Selection()), None
        while True:
            records, offset = await self._ask(self._page, name, chosen, offset)
            if records:
                yield [_item(one.payload) for one in records]
            if offset is None:
                return

    def _page(self, name: str, chosen: "models.Filter", offset: object) -> "tuple[list[models.Record], object]":
        return self.client.scroll(name, chosen, limit=BATCH, offset=offset, with_payload=["body"])  # type: ignore[arg-type]

    def _filter(self, owner: str, where: Selection) -> "models.Filter":
        """Write a selection as a filter; the owner always is part of it."""
        m = self.models
        must: list[models.Condition] = [m.FieldCondition(key="owner", match=m.MatchValue(value=owner))]
        for key, value in (
            ("url", where.url), ("domain", where.domain), ("text_hash", where.text_hash), ("jobs", where.job),
        ):  # fmt: skip
            if value:
                must.append(m.FieldCondition(key=key, match=m.MatchValue(value=value)))
        for key, listed in (("id", where.ids), ("kind", where.kinds), ("verdict", where.verdicts)):
            if listed:
                must.append(m.FieldCondition(key=key, match=m.MatchAny(any=[str(one) for one in listed])))
        if where.date_from or where.date_to:
            until = f"{where.date_to}T23:59:59Z" if where.date_to else None
            dates = m.DatetimeRange.model_validate({"gte": where.date_from or None, "lte": until})
            must.append(m.FieldCondition(key="seen", range=dates))
        chosen: models.Filter = m.Filter(must=must)
        return chosen


def _point(owner: str, item: Remembered) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{owner}\0{item.id}"))


def _payload(owner: str, item: Remembered) -> dict[str, object]:
    url = item.source.url if item.source else ""
    return {
        "owner": owner, "id": item.id, "kind": item.kind, "verdict": item.verdict, "url": url,
        "domain": registrable_domain(url) if url else "", "text_hash": item.source.text_hash if item.source else "",
        "seen": item.seen, "jobs": list(item.jobs), "body": item.model_dump_json(exclude_none=True),
    }  # fmt: skip


def _item(payload: dict[str, object] | None) -> Remembered:
    return Remembered.model_validate_json(str((payload or {}).get("body")))


def _floats(vector: bytes) -> list[float]:
    return [float(one) for one in memoryview(vector).cast("b")]
