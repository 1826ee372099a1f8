"""The knowledge base as its users see it: one interface, and a guard that keeps whatever is wrong with it out of a run."""

import asyncio
import json
import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from datetime import UTC, datetime, timedelta
from typing import Protocol, TypeVar

from pydantic import ValidationError

from agents.contracts.fact import MemoryStats, Remembered, Selection
from agents.core.errors import DossierError
from agents.core.settings import Settings

T = TypeVar("T")

log = logging.getLogger(__name__)

LOCAL_OWNER = "local"
"""Whose memory the command line and library calls use: the one user of a server on this machine."""
BATCH = 256
"""Things that are written, embedded or sent at a time."""
SLICE_S = 0.01
"""Seconds between two looks whether an answer is there."""
MAX_LINE = 200_000
"""Characters of one line of an import."""


class MemoryDown(DossierError):
    """The knowledge base can't be used; research goes on without it."""

    retryable = True

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.notice = message


class KnowledgeStore(Protocol):
    """Where things are kept. Every method may raise `MemoryDown`; no owner ever sees what is another's."""

    name: str

    async def put(self, owner: str, items: Sequence[Remembered]) -> int:
        """Keep things under their ids, in the place of what is kept under the same; says how many are new."""
        ...

    async def search(
        self, owner: str, text: str, where: Selection = Selection(), limit: int = 10
    ) -> tuple[Remembered, ...]:
        """Find things by words and meaning, best first; with an empty text the last seen."""
        ...

    async def get(self, owner: str, where: Selection, limit: int = 1_000) -> tuple[Remembered, ...]:
        """Give things as they are, oldest first."""
        ...

    async def forget(self, owner: str, where: Selection) -> int:
        """Forget what is meant, for good; says how much it was."""
        ...

    def every(self, owner: str) -> AsyncIterator[Remembered]:
        """Give everything, oldest first."""
        ...

    async def reembed(self, owner: str, progress: Callable[[int, int], object] = lambda _done, _all: None) -> int:
        """Embed anew what another model embedded; what that left stays until all is done. Can be broken off at any time.

        Args:
            owner: whose memory.
            progress: told how many are done, of how many.
        """
        ...

    async def owners(self) -> tuple[str, ...]:
        """Name everybody who has a memory here."""
        ...

    async def stats(self, owner: str) -> MemoryStats:
        """Count what there is."""
        ...

    async def close(self) -> None:
        """Let go of files and connections."""
        ...


async def in_time(work: Awaitable[T], seconds: float) -> T:
    """Wait for the knowledge base no longer than a run can afford.

    Raises:
        MemoryDown: it took too long, or it can't be used.
    """
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
    async for item in store.every(owner):
        yield item.model_dump_json()


async def imported(store: KnowledgeStore, owner: str, lines: Sequence[str]) -> tuple[int, int, int]:
    """Take JSON Lines into the memory of `owner`, whoever's they were; says how many are new, known and unreadable.

    A thing that is known already stays as it is here: an import must not undo a later verdict.
    """
    items: dict[str, Remembered] = {}
    broken = 0
    for line in lines:
        if not line.strip():
            continue
        try:
            if len(line) > MAX_LINE:
                raise ValueError("the line is too long")
            one = Remembered.model_validate(json.loads(line))
            if one.id != one.id.strip("/") or (one.kind == "fact" and (one.fact is None or one.source is None)):
                raise ValueError("a fact needs its words and its source")
        except (ValueError, ValidationError, RecursionError):
            broken += 1
        else:
            items[one.id] = one
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


async def forget_old(store: KnowledgeStore, before: str) -> int:
    """Forget, for everybody, what was last seen before a day (ISO date); says how much it was."""
    gone = 0
    try:
        for owner in await store.owners():
            gone += await store.forget(owner, Selection(date_to=before))
    except MemoryDown as error:
        log.warning("what is old could not be forgotten: %s", error)
    return gone


async def reembed_all(store: KnowledgeStore) -> int:
    """Embed anew, for everybody, what another embedder than the present one has embedded; says how much it was.

    Until one's memory is through, the directions of the former embedder stay: whoever sets that again loses nothing.
    """
    done = 0
    try:
        for owner in await store.owners():
            done += await store.reembed(owner, lambda ready, of: log.info("embedded anew: %d of %d", ready, of))
    except MemoryDown as error:
        log.warning("the knowledge base could not be embedded anew: %s", error)
    return done


async def tended(store: KnowledgeStore, keep_days: float) -> None:
    """Embed anew where the embedder changed, and forget what was last seen longer ago than it is kept (0 is for ever)."""
    await reembed_all(store)
    if keep_days:
        await forget_old(store, (datetime.now(UTC) - timedelta(days=keep_days)).date().isoformat())


def open_memory(settings: Settings) -> KnowledgeStore | None:
    """Open the knowledge base: in files, in the database of the jobs, or on a Qdrant server; None where it is switched off.

    Raises:
        ConfigError: the server's address can't be used, or a package is missing.
    """
    if not settings.memory:
        return None
    from agents.memory.embedders import embedder_of  # they all know this module
    from agents.memory.sql_knowledge import SqlKnowledge

    embedder = embedder_of(settings.embedder)
    if settings.qdrant_url:
        from agents.memory.qdrant_knowledge import QdrantKnowledge  # half a second to import

        return QdrantKnowledge(settings.qdrant_url, embedder, settings.qdrant_key.get_secret_value())
    if (url := settings.database_url.get_secret_value()).startswith("postgres"):
        from agents.memory.postgres_knowledge import PostgresKnowledge

        return PostgresKnowledge(url, embedder)
    return SqlKnowledge(settings.data_dir / "memory", embedder)
