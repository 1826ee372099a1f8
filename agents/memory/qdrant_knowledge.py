"""The knowledge base on a Qdrant server: one collection for each embedder, users told apart by a filter on every request."""

import asyncio
import re
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from itertools import product
from typing import TYPE_CHECKING, TypeVar
from zlib import crc32

from agents.contracts.fact import Remembered, Selection
from agents.core.errors import ConfigError
from agents.memory.knowledge import BATCH, POOL, Embedder, KnowledgeStore, MemoryDown, columns_of, fused, words_of
from agents.nlp.tokens import content_words, segmented

if TYPE_CHECKING:
    from qdrant_client import models

T = TypeVar("T")

PREFIX = "dossier"
MOST_SOURCES = 100_000  # addresses that are counted
TIMEOUT_S = 10
_K1, _B, _USUAL_WORDS = 1.2, 0.75, 40
"""BM25's own constants, and the words of a usual thing; how rare a word is, is counted by the server."""
_BODY = ["body"]


class QdrantKnowledge(KnowledgeStore):
    """Collections on a server, or in memory."""

    name = "qdrant"

    def __init__(self, url: str, embedder: Embedder, key: str = "") -> None:
        super().__init__(embedder)
        try:
            from qdrant_client import QdrantClient, models

            self.models = models
            self.client = QdrantClient(url, api_key=key or None, timeout=TIMEOUT_S, check_compatibility=False)
        except ImportError as error:
            needs = "DOSSIER_QDRANT_URL needs the package qdrant-client: install the extra `qdrant`."
            raise ConfigError(needs) from error
        except ValueError as error:
            raise ConfigError(f"DOSSIER_QDRANT_URL can't be used: {error}") from error

    async def get(
        self, owner: str, where: Selection, limit: int = 1_000, *, newest: bool = False
    ) -> tuple[Remembered, ...]:
        def got() -> tuple[Remembered, ...]:
            found: list[Remembered] = []
            for name in self._collections():
                records, _ = self.client.scroll(name, self._filter(owner, where), limit=limit, with_payload=_BODY)
                found += [_item(one.payload) for one in records]
            found.sort(key=lambda one: (one.seen, "") if newest else (one.since, one.id), reverse=newest)
            return tuple(found[:limit])

        return await self._ask(got)

    async def _forget(self, owner: str, where: Selection) -> int:
        def forgotten() -> int:
            chosen, gone = self._filter(owner, where), 0
            for name in self._collections():
                gone += self.client.count(name, chosen, exact=True).count
                self.client.delete(name, self.models.FilterSelector(filter=chosen), wait=True)
            return gone

        return await self._ask(forgotten)

    async def owners(self) -> tuple[str, ...]:
        def named() -> tuple[str, ...]:
            facets = (self.client.facet(name, "owner", limit=10_000, exact=True) for name in self._collections())
            return tuple(sorted({str(hit.value) for found in facets for hit in found.hits}))

        return await self._ask(named)

    async def _counted(self, owner: str) -> tuple[dict[str, int], int, int]:
        def counted() -> tuple[dict[str, int], int, int]:
            kinds: Counter[str] = Counter()
            urls: set[str] = set()
            embedded, chosen = 0, self._filter(owner, Selection())
            facts = self._filter(owner, Selection(kinds=("fact",)))
            for name in self._collections():
                kinds.update({str(hit.value): hit.count for hit in self.client.facet(name, "kind", chosen).hits})
                found = self.client.facet(name, "url", facts, limit=MOST_SOURCES, exact=True)
                urls |= {str(hit.value) for hit in found.hits}
                embedded += self.client.count(name, chosen, exact=True).count if name == self._collection() else 0
            return dict(kinds), len(urls), embedded

        return await self._ask(counted)

    async def close(self) -> None:
        await asyncio.to_thread(self.client.close)

    async def _put(self, owner: str, items: Sequence[Remembered], vectors: Sequence[bytes]) -> int:
        def put() -> int:
            name = self._ready()
            points = []
            for item, vector in zip(items, vectors, strict=True):
                number = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{owner}\0{item.id}"))
                body = {"owner": owner, "jobs": list(item.jobs), "body": item.model_dump_json(exclude_none=True)}
                payload = {**columns_of(item), **body}
                points.append(self.models.PointStruct(id=number, vector=self._vectors(item, vector), payload=payload))
            there = self.client.retrieve(name, [one.id for one in points], with_payload=False)
            self.client.upsert(name, points, wait=True)
            return len(points) - len(there)

        return await self._ask(put)

    async def _search(
        self, owner: str, text: str, vector: bytes, where: Selection, limit: int
    ) -> list[tuple[float, Remembered]]:
        chosen = self._filter(owner, where)
        words = {crc32(part.encode()) for word in content_words(text) for part in segmented(word).split()}
        asked = self._both(dict.fromkeys(words, 1.0), vector)
        bodies: dict[str, Remembered] = {}
        scores: dict[str, dict[str, float]] = {"words": {}, "dense": {}}

        def find() -> None:
            for name, kind in product(self._collections(), asked):
                if kind == "dense" and name != self._collection():
                    continue
                found = self.client.query_points(
                    name, asked[kind], using=kind, query_filter=chosen, limit=POOL, with_payload=_BODY
                )
                for point in found.points:
                    item = _item(point.payload)
                    bodies[item.id], scores[kind][item.id] = item, point.score

        await self._ask(find)
        # What words find and the nearest do not hold is at most as near as the last of these.
        least = min(scores["dense"].values(), default=0.0)
        meant = {**dict.fromkeys(scores["words"], least), **scores["dense"]}
        return [(score, bodies[one]) for one, score in fused(scores["words"], meant, limit).items()]

    async def pages(self, owner: str, *, stale: bool = False) -> AsyncIterator[list[Remembered]]:
        def page(name: str, offset: object) -> "tuple[list[models.Record], object]":
            return self.client.scroll(name, chosen, limit=BATCH, offset=offset, with_payload=_BODY)  # type: ignore[arg-type]

        chosen = self._filter(owner, Selection())
        for name in await self._ask(self._collections):
            offset: object = ""
            while offset is not None and not (stale and name == self._collection()):
                records, offset = await self._ask(page, name, offset or None)
                if records:
                    yield [_item(one.payload) for one in records]

    async def _drop_stale(self, owner: str) -> None:
        chosen = self.models.FilterSelector(filter=self._filter(owner, Selection()))
        for name in await self._ask(self._collections):
            if name != self._collection():
                await self._ask(self.client.delete, name, chosen)

    # ---- in a thread

    async def _ask(self, ask: Callable[..., T], *given: object) -> T:
        """Ask in a thread; `MemoryDown` where the server can't be reached, refuses the key, or holds something else."""
        from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

        try:
            return await asyncio.to_thread(ask, *given)
        except UnexpectedResponse as error:
            said = " ".join(error.content.decode(errors="replace").split())[:160]
            if error.status_code in (401, 403):
                said = "check DOSSIER_QDRANT_KEY"
            raise MemoryDown(f"the knowledge base can't be used: Qdrant says {error.status_code}: {said}") from error
        except (ApiException, OSError, ValueError) as error:
            words = " ".join(str(error).split())[:160] or type(error).__name__
            raise MemoryDown(f"the knowledge base can't be used: no answer of Qdrant: {words}") from error

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
        if not self.client.collection_exists(name):
            self.client.create_collection(
                name,
                vectors_config={"dense": m.VectorParams(size=self.embedder.dimensions, distance=m.Distance.COSINE)},
                sparse_vectors_config={"words": m.SparseVectorParams(modifier=m.Modifier.IDF)},
            )
            tenant = m.KeywordIndexParams(type=m.KeywordIndexType.KEYWORD, is_tenant=True)
            self.client.create_payload_index(name, "owner", tenant)
            for field in ("id", "kind", "verdict", "url", "domain", "text_hash", "jobs"):
                self.client.create_payload_index(name, field, m.PayloadSchemaType.KEYWORD)
            self.client.create_payload_index(name, "seen", m.PayloadSchemaType.DATETIME)
        vectors = self.client.get_collection(name).config.params.vectors
        size = vectors["dense"].size if isinstance(vectors, dict) and "dense" in vectors else 0
        if size != self.embedder.dimensions:
            raise MemoryDown(f"the collection {name} holds vectors of {size} parts, not {self.embedder.dimensions}")
        return name

    def _vectors(self, item: Remembered, vector: bytes) -> "dict[str, list[float] | models.SparseVector]":
        counts = Counter(crc32(word.encode()) for part in words_of(item) for word in part.split())
        long = 1 - _B + _B * counts.total() / _USUAL_WORDS
        return self._both({word: count * (_K1 + 1) / (count + _K1 * long) for word, count in counts.items()}, vector)

    def _both(self, words: dict[int, float], vector: bytes) -> "dict[str, list[float] | models.SparseVector]":
        """Write weighed words and a direction, where there are any, under the names of their vectors."""
        sparse = self.models.SparseVector(indices=list(words), values=list(words.values()))
        dense = [float(one) for one in memoryview(vector).cast("b")]
        return ({"words": sparse} if words else {}) | ({"dense": dense} if vector else {})

    def _filter(self, owner: str, where: Selection) -> "models.Filter":
        """Write a selection as a filter; the owner always is part of it."""
        m = self.models
        one_of = {"id": where.ids, "kind": where.kinds, "verdict": where.verdicts, "owner": (owner,)}
        equal = {"url": where.url, "domain": where.domain, "text_hash": where.text_hash, "jobs": where.job}
        listed = {**one_of, **{key: (value,) for key, value in equal.items() if value}}
        matches = {key: m.MatchAny(any=list(map(str, values))) for key, values in listed.items() if values}
        must: list[models.Condition] = [m.FieldCondition(key=key, match=match) for key, match in matches.items()]
        if where.date_from or where.date_to:
            until = f"{where.date_to}T23:59:59Z" if where.date_to else None
            dates = m.DatetimeRange.model_validate({"gte": where.date_from or None, "lte": until})
            must.append(m.FieldCondition(key="seen", range=dates))
        chosen: models.Filter = m.Filter(must=must)
        return chosen


def _item(payload: dict[str, object] | None) -> Remembered:
    return Remembered.model_validate_json(str((payload or {}).get("body")))
