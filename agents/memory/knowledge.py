"""The knowledge base: what its stores share, and the guard that keeps whatever is wrong with one out of a run.

A store keeps things under their ids, finds them by words and by directions, and forgets. Batches, embedding, the change of
an embedder, export and import are the same for all of them, and stand here.
"""

import asyncio
import logging
import math
import zlib
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Protocol, TypeVar

from agents.contracts.fact import MemoryStats, Remembered, Selection
from agents.core.errors import DossierError
from agents.core.settings import Settings
from agents.nlp.tokens import segmented
from agents.search.index import NAMED, names
from agents.web.url_key import registrable_domain

T = TypeVar("T")
K = TypeVar("K")

log = logging.getLogger(__name__)

ANSWERS = "\x1fanswers"
"""Behind an owner: where the answers of models are kept, beside what is known, so that no search or export meets them."""
LOCAL_OWNER = "local"  # whose memory the command line and library calls use: the one user of a server on this machine
BATCH = 256  # things that are written, embedded or sent at a time
POOL = 60  # things that words find whose scores are raised by their directions
NEAR = 300  # directions that are compared exactly, those whose signs differ least
ASIDE = 0.3  # a word of title or question against one of the thing itself
_MEANT = 0.5  # what a thing gains that points the same way, as a share of the best score by words
_WEIGHED = 3  # times as many things as asked for are weighed by the titles of their sources
MAX_TERMS = 24  # words of a question that are looked for
SLICE_S = 0.01  # seconds between two looks whether an answer is there
MAX_LINE = 200_000  # characters of one line of an import


class MemoryDown(DossierError):
    """The knowledge base can't be used; research goes on without it."""

    retryable = True

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.notice = message


class Embedder(Protocol):
    """Gives texts directions. Those of two embedders, told apart by `id`, are never compared."""

    id: str
    dimensions: int
    """0 until a model has answered once."""

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Give each text its direction as signed bytes, empty where it has none; `MemoryDown` where it can't be asked."""


class KnowledgeStore(ABC):
    """Where things are kept. Every method may raise `MemoryDown`; no owner ever sees what is another's."""

    name: str

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder

    async def put(self, owner: str, items: Sequence[Remembered]) -> int:
        """Keep things under their ids, in the place of what is kept under the same; says how many are new."""
        new = 0
        for at in range(0, len(items), BATCH):
            part = list({one.id: one for one in items[at : at + BATCH]}.values())
            new += await self._put(owner, part, await self._directions(part))  # embedded outside any transaction
        return new

    async def search(
        self, owner: str, text: str, where: Selection = Selection(), limit: int = 10
    ) -> tuple[Remembered, ...]:
        """Find things by words and meaning, best first; with an empty text the last seen."""
        if not text.strip():
            return await self.get(owner, where, limit, newest=True)
        (vector,) = await self.embedder.embed([text])
        found = [
            (score * (NAMED if one.source and names(text, one.source.title) else 1.0), one)
            for score, one in await self._search(owner, text, vector, where, _WEIGHED * limit)
        ]
        return tuple(one for _, one in sorted(found, key=lambda each: -each[0])[:limit])

    async def reembed(self, owner: str, progress: Callable[[int, int], object] = lambda _done, _all: None) -> int:
        """Embed anew what another model embedded; what that left stays until all is done. Can be broken off at any time."""
        await self.embedder.embed(["a text"])  # its size is known from now on
        before, done = await self.stats(owner), 0
        async for part in self.pages(owner, stale=True):
            await self._put(owner, part, await self._directions(part))
            done += len(part)
            progress(before.embedded + done, before.items)
        await self._drop_stale(owner)
        return done

    async def _directions(self, items: Sequence[Remembered]) -> list[bytes]:
        """Embed the words of things under the titles of their sources."""
        return await self.embedder.embed(
            [f"{one.source.title}. {one.text}" if one.source else one.text for one in items]
        )

    @abstractmethod
    async def get(
        self, owner: str, where: Selection, limit: int = 1_000, *, newest: bool = False
    ) -> tuple[Remembered, ...]:
        """Give things as they are, oldest first, or the last seen first."""

    async def forget(self, owner: str, where: Selection) -> int:
        """Forget what is meant, for good, and every answer that may have been made of it; says how much it was."""
        gone = await self._forget(owner, where)
        if gone and not owner.endswith(ANSWERS):
            await self._forget(owner + ANSWERS, Selection())
        return gone

    @abstractmethod
    async def _forget(self, owner: str, where: Selection) -> int:
        """Forget what is meant."""

    @abstractmethod
    async def owners(self) -> tuple[str, ...]:
        """Name everybody who has a memory here."""

    async def stats(self, owner: str) -> MemoryStats:
        """Count what there is."""
        kinds, sources, embedded = await self._counted(owner)
        return MemoryStats(
            store=self.name, items=sum(kinds.values()), by_kind=kinds, sources=sources, embedded=embedded,
            embedder=self.embedder.id, dimensions=self.embedder.dimensions,
        )  # fmt: skip

    @abstractmethod
    async def _counted(self, owner: str) -> tuple[dict[str, int], int, int]:
        """Count things by their kind, sources, and what the present embedder has embedded."""

    @abstractmethod
    async def close(self) -> None:
        """Let go of files and connections."""

    @abstractmethod
    async def _put(self, owner: str, items: Sequence[Remembered], vectors: Sequence[bytes]) -> int:
        """Keep one batch, each thing once, with directions of the present embedder; says how many are new."""

    @abstractmethod
    async def _search(
        self, owner: str, text: str, vector: bytes, where: Selection, limit: int
    ) -> list[tuple[float, Remembered]]:
        """Find things by words and by a direction, scored as `fused` does, best first."""

    @abstractmethod
    def pages(self, owner: str, *, stale: bool = False) -> AsyncIterator[list[Remembered]]:
        """Give everything, oldest first, batch by batch; or what has directions of other embedders alone."""

    @abstractmethod
    async def _drop_stale(self, owner: str) -> None:
        """Drop the directions of other embedders."""


def fused(worded: Mapping[K, float], meant: Mapping[K, float], most: int) -> dict[K, float]:
    """Raise scores by words by how near the directions are; gives the best `most`, best first.

    Ranks alone found less: what shares many words with a question is not one rank better than what shares few.
    """
    unit = _MEANT * max(worded.values(), default=1.0)
    scores = {key: worded.get(key, 0.0) + unit * max(0.0, meant.get(key, 0.0)) for key in (*worded, *meant)}
    return dict(sorted(scores.items(), key=lambda one: -one[1])[:most])


# ---- a thing as stores write it


def words_of(item: Remembered) -> tuple[str, str]:
    """Give the words by which a thing is found, and those that only add to them, segmented for an index."""
    quote = item.fact.quote if item.fact and item.fact.quote != item.text else ""
    title = item.source.title if item.source else ""
    said, aside = (
        segmented(f"{item.text} {quote}".strip()),
        " ".join(_often_segmented(one) for one in (title, *item.topics)),
    )
    return said.replace("\0", " "), aside.replace("\0", " ")


_often_segmented, _often_domain = lru_cache(2_048)(segmented), lru_cache(2_048)(registrable_domain)
"""The facts of one page share its address, its title and their questions."""


def columns_of(item: Remembered) -> dict[str, str]:
    """Give what is filtered by."""
    url = item.source.url if item.source else "".join(item.topics) if item.kind == "link" else ""
    return {
        "id": item.id, "kind": item.kind, "verdict": item.verdict, "url": url,
        "domain": _often_domain(url) if url else "", "text_hash": item.source.text_hash if item.source else "",
        "seen": item.seen,
    }  # fmt: skip


def body_of(item: Remembered) -> bytes:
    """Write a thing for a database."""
    return zlib.compress(item.model_dump_json(exclude_none=True).encode(), 1)


def item_of(body: bytes) -> Remembered:
    """Read a thing from its stored body."""
    return Remembered.model_validate_json(zlib.decompress(body))


# ---- what is done with a store, whichever it is


async def in_time(work: Awaitable[T], seconds: float) -> T:
    """Wait for the knowledge base no longer than a run can afford; `MemoryDown` where it takes longer, or can't be used."""
    asked = asyncio.ensure_future(work)
    # In slices, each of which counts as long as it was meant to take: a machine that is busy with something else
    # wakes this up late, and answers late to the same degree.
    slice_s = max(SLICE_S, seconds / 100)
    for _ in range(math.ceil(seconds / slice_s)):
        await asyncio.wait({asked}, timeout=slice_s)
        if asked.done():
            return asked.result()
    asked.cancel()
    raise MemoryDown(f"the knowledge base gave no answer within {1000 * seconds:g} ms")


async def exported(store: KnowledgeStore, owner: str) -> AsyncIterator[str]:
    """Write everything as JSON Lines, without line ends."""
    async for page in store.pages(owner):
        for item in page:
            yield item.model_dump_json()


async def imported(store: KnowledgeStore, owner: str, lines: Sequence[str]) -> tuple[int, int, int]:
    """Take JSON Lines into the memory of `owner`, whoever's they were; says how many are new, known and unreadable.

    A thing that is known already stays as it is here: an import must not undo a later verdict.
    """
    items: dict[str, Remembered] = {}
    broken = 0
    for line in filter(str.strip, lines):
        try:
            one = Remembered.model_validate_json(line if len(line) <= MAX_LINE else "")
            is_whole = one.kind != "fact" or (one.fact is not None and one.source is not None)
            # What a model said is nobody else's.
            is_ours = is_whole and one.kind != "answer" and one.id == one.id.strip("/")
        except ValueError:
            is_ours = False
        if is_ours:
            items[one.id] = one
        broken += not is_ours
    new = known = 0
    ids = list(items)
    for at in range(0, len(ids), BATCH):
        part = ids[at : at + BATCH]
        there = {one.id for one in await store.get(owner, Selection(ids=tuple(part)))}
        known += len(there)
        new += await store.put(owner, [items[one] for one in part if one not in there])
    return new, known, broken


async def forget_with(
    store: KnowledgeStore | None, owner: str, *, jobs: Collection[str] = (), texts: Collection[str] = ()
) -> int:
    """Forget what only these jobs met with, and what these texts say; says how much it was, 0 where nothing can be asked."""
    if store is None:
        return 0
    gone = 0
    try:
        for text_hash in texts:
            gone += await store.forget(owner, Selection(text_hash=text_hash))
        for job in jobs:
            met = await store.get(owner, Selection(job=job), 100_000)
            alone = [one.id for one in met if set(one.jobs) <= set(jobs)]
            for at in range(0, len(alone), BATCH):
                gone += await store.forget(owner, Selection(ids=tuple(alone[at : at + BATCH])))
    except MemoryDown as error:
        log.warning("nothing could be forgotten: %s", error)
    return gone


async def tended(store: KnowledgeStore, keep_days: float) -> tuple[int, int]:
    """Embed anew, for everybody, where the embedder changed, and forget what was last seen longer ago than it is kept.

    Until one's memory is through, the directions of the former embedder stay: whoever sets that again loses nothing.
    """
    done = gone = 0
    before = (datetime.now(UTC) - timedelta(days=keep_days)).date().isoformat()
    try:
        for owner in await store.owners():
            done += await store.reembed(owner, lambda ready, of: log.info("embedded anew: %d of %d", ready, of))
            gone += await store.forget(owner, Selection(date_to=before)) if keep_days else 0
    except MemoryDown as error:
        log.warning("the knowledge base could not be tended: %s", error)
    return done, gone


def open_memory(settings: Settings) -> KnowledgeStore | None:
    """Open the knowledge base: in files, in the database of the jobs, or on a Qdrant server; None where it is switched off."""
    if not settings.memory:
        return None
    from agents.memory.embedders import embedder_of  # they all know this module
    from agents.memory.sql_knowledge import SqlKnowledge

    embedder = embedder_of(settings.embedder)
    if settings.qdrant_url:
        from agents.memory.qdrant_knowledge import QdrantKnowledge  # half a second to import

        return QdrantKnowledge(settings.qdrant_url, embedder, settings.qdrant_key.get_secret_value())
    url = settings.database_url.get_secret_value()
    return SqlKnowledge(url if url.startswith("postgres") else settings.data_dir / "memory", embedder)
