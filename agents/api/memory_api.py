"""`/research/memory`: what research has found out, for whoever asks: search, open, ask, forget, export, import."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from agents.api.access import Here, Owner
from agents.api.app_state import Site
from agents.api.error_responses import ERRORS, ApiError
from agents.api.payloads import MemoryForgotten, MemoryFound, MemoryImport, MemoryImported
from agents.api.reports import kinds
from agents.contracts.memory import MemoryKind, MemoryStats, Remembered, Selection, Standing
from agents.memory.knowledge import KnowledgeStore, exported, imported

MOST = 200

memory_api = APIRouter(tags=["memory"], responses=ERRORS)


def _store(site: Site) -> KnowledgeStore:
    store: KnowledgeStore | None = site.team.memory
    if store is None:
        raise ApiError(501, "not_implemented", "The knowledge base is switched off: DOSSIER_MEMORY is false.")
    return store


@memory_api.get("/research/memory", response_model=MemoryFound)
async def search(
    owner: Owner,
    site: Here,
    q: Annotated[str, Query(max_length=2_000, description="Words or a question; none lists what was seen last.")] = "",
    kind: Annotated[list[MemoryKind] | None, Query()] = None,
    verdict: Annotated[list[Standing] | None, Query()] = None,
    url: str = "",
    domain: str = "",
    job: str = "",
    since: Annotated[str, Query(description="Last seen on or after this ISO date.")] = "",
    until: Annotated[str, Query(description="Last seen on or before it.")] = "",
    limit: Annotated[int, Query(ge=1, le=MOST)] = 20,
) -> MemoryFound:
    """Find what is known, by words and meaning, best first."""
    where = Selection(
        kinds=tuple(kind or ("fact",)), verdicts=tuple(verdict or ()), url=url, domain=domain, job=job, date_from=since,
        date_to=until,
    )  # fmt: skip
    return MemoryFound(items=list(await _store(site).search(owner, q, where, limit)))


@memory_api.get("/research/memory/stats", response_model=MemoryStats)
async def stats(owner: Owner, site: Here) -> MemoryStats:
    """Count what there is."""
    return await _store(site).stats(owner)


@memory_api.get(
    "/research/memory/export.jsonl", response_class=StreamingResponse, responses=kinds("application/x-ndjson")
)
async def export(owner: Owner, site: Here) -> StreamingResponse:
    """Give everything as JSON Lines."""
    store = _store(site)

    async def lines() -> AsyncIterator[str]:
        async for line in exported(store, owner):
            yield line + "\n"

    return StreamingResponse(lines(), media_type="application/x-ndjson")


@memory_api.post("/research/memory/import", response_model=MemoryImported)
async def take(sent: MemoryImport, owner: Owner, site: Here) -> MemoryImported:
    """Take lines of an export in; they become the caller's, and what is known already stays as it is."""
    new, known, broken = await imported(_store(site), owner, sent.lines)
    return MemoryImported(new=new, known=known, unreadable=broken)


@memory_api.get("/research/memory/{item_id}", response_model=Remembered)
async def show(item_id: str, owner: Owner, site: Here) -> Remembered:
    """Open one thing: quote, context, source, history."""
    found = await _store(site).get(owner, Selection(ids=(item_id,)))
    if not found:
        raise ApiError(404, "not_found", "Nothing is known under this id.")
    return found[0]


@memory_api.delete("/research/memory", response_model=MemoryForgotten)
async def forget(
    owner: Owner,
    site: Here,
    id: Annotated[list[str] | None, Query(description="Things to forget.")] = None,
    url: str = "",
    domain: str = "",
    job: str = "",
    everything: bool = False,
) -> MemoryForgotten:
    """Forget for good: things, a source, a domain, what a job met with, or everything."""
    where = Selection(ids=tuple(id or ()), url=url, domain=domain, job=job)
    if where.empty and not everything:
        raise ApiError(422, "bad_request", "Say what to forget: id, url, domain, job, or everything=true.")
    return MemoryForgotten(forgotten=await _store(site).forget(owner, where))
