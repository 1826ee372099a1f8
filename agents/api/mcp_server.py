"""The research manager as a tool of other programs (Model Context Protocol): over stdio, and over HTTP at `/mcp`.

`/research/memory`: what research has found out, over HTTP; each of its routes is a tool as well.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial, wraps
from inspect import signature
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import StreamingResponse
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from agents.api.app_state import Here, Owner, caller, site_of
from agents.api.error_responses import ApiError, kinds
from agents.api.payloads import MemoryFound, MemoryImport, SearchAnswer, searched
from agents.api.serve import LOCAL
from agents.api.tree import progress
from agents.contracts.fact import Day, MemoryKind, MemoryStats, Remembered, Selection, Standing
from agents.contracts.frozen import Tier
from agents.contracts.response import AgentResponse
from agents.core.errors import DossierError, NotFeasible
from agents.core.settings import Settings
from agents.memory.knowledge import KnowledgeStore, exported, imported
from agents.run_answer import RunPlan, answer
from agents.run_research import RunOptions, durable_team, taken_up
from agents.team import Team

if TYPE_CHECKING:
    from mcp.server.fastmcp import Context, FastMCP
    from mcp.server.session import ServerSession

    Calling = Context[ServerSession, object, object]

INSTRUCTIONS = (
    "`research` finds sources, reads them and writes a report in which every sentence cites its source; it takes up to "
    "two minutes and reports progress. `search` only lists documents. A question that is too broad is refused with "
    "narrower ones to choose from: ask again with one of those."
)


MOST = 200

memory_api = APIRouter(tags=["memory"])


def _store(site: Here) -> KnowledgeStore:
    if (store := site.team.memory) is None:
        raise ApiError(501, "not_implemented", "The knowledge base is switched off: DOSSIER_MEMORY is false.")
    return store


Known = Annotated[KnowledgeStore, Depends(_store)]


@memory_api.get("/research/memory")
async def search(
    owner: Owner,
    store: Known,
    q: Annotated[str, Query(max_length=2_000, description="Words or a question; none lists what was seen last.")] = "",
    kind: Annotated[list[MemoryKind] | None, Query()] = None,
    verdict: Annotated[list[Standing] | None, Query()] = None,
    url: str = "",
    domain: str = "",
    job: str = "",
    since: Annotated[Day, Query(description="Last seen on or after this ISO date.")] = "",
    until: Annotated[Day, Query(description="Last seen on or before it.")] = "",
    limit: Annotated[int, Query(ge=1, le=MOST)] = 20,
) -> MemoryFound:
    """Find what is known, by words and meaning, best first."""
    where = Selection(
        kinds=tuple(kind or ("fact",)), verdicts=tuple(verdict or ()), url=url, domain=domain, job=job, date_from=since,
        date_to=until,
    )  # fmt: skip
    return MemoryFound(items=list(await store.search(owner, q, where, limit)))


@memory_api.get("/research/memory/stats")
async def stats(owner: Owner, store: Known) -> MemoryStats:
    """Count what there is."""
    return await store.stats(owner)


@memory_api.get(
    "/research/memory/export.jsonl", response_class=StreamingResponse, responses=kinds("application/x-ndjson")
)
async def export(owner: Owner, store: Known) -> StreamingResponse:
    """Give everything as JSON Lines."""

    async def lines() -> AsyncIterator[str]:
        async for line in exported(store, owner):
            yield line + "\n"

    return StreamingResponse(lines(), media_type="application/x-ndjson")


@memory_api.post("/research/memory/import")
async def import_(sent: MemoryImport, owner: Owner, store: Known) -> dict[str, int]:
    """Take lines of an export in; they become the caller's, and what is known already stays as it is."""
    new, known, broken = await imported(store, owner, sent.lines)
    return {"new": new, "known": known, "unreadable": broken}


@memory_api.post("/research/memory/reembed")
async def reembed(owner: Owner, store: Known) -> MemoryStats:
    """Embed anew what another embedder left; broken off, it goes on from there when asked again."""
    await store.reembed(owner)
    return await store.stats(owner)


@memory_api.get("/research/memory/{item_id}")
async def show(item_id: str, owner: Owner, store: Known) -> Remembered:
    """Open one thing: quote, context, source, history."""
    found = await store.get(owner, Selection(ids=(item_id,)))
    if not found:
        raise ApiError(404, "not_found", "Nothing is known under this id.")
    return found[0]


@memory_api.delete("/research/memory")
async def forget(
    owner: Owner, store: Known, id: Annotated[list[str] | None, Query(description="Things to forget.")] = None,
    url: str = "", domain: str = "", job: str = "", everything: bool = False
) -> dict[str, int]:  # fmt: skip
    """Forget for good: things, a source, a domain, what a job met with, or everything."""
    where = Selection(ids=tuple(id or ()), url=url, domain=domain, job=job)
    if where.empty and not everything:
        raise ApiError(422, "bad_request", "Say what to forget: id, url, domain, job, or everything=true.")
    return {"forgotten": await store.forget(owner, where)}


def mcp_server(team: Team, owner: str) -> "FastMCP[object]":
    """Make the server with its tools: the team does the work, the jobs are the owner's."""
    # Seconds of import: only where it is used.
    from mcp.server.fastmcp import Context, FastMCP
    from mcp.server.fastmcp.exceptions import ToolError

    server: FastMCP[object] = FastMCP("dossier", instructions=INSTRUCTIONS, log_level="WARNING")

    def tool_of(work: Callable[..., Awaitable[object]], **given: object) -> Callable[..., Awaitable[object]]:
        """Make a tool of work, or of a route, with these of its parameters given; what goes wrong is told to the host."""

        @wraps(work)
        async def tool(**asked: object) -> object:
            try:
                made = await work(**given, **asked)
                if isinstance(made, StreamingResponse):
                    return "".join([str(part) async for part in made.body_iterator])
                return made
            except NotFeasible as error:
                splits = f" Narrower questions that would work: {' | '.join(error.splits)}" if error.splits else ""
                raise ToolError(f"{error}{splits}") from error
            except (DossierError, ApiError) as error:
                raise ToolError(getattr(error, "notice", str(error))) from error

        whole = signature(work)
        left = [one for name, one in whole.parameters.items() if name not in given]
        tool.__signature__ = whole.replace(parameters=left)  # type: ignore[attr-defined]
        return tool

    async def research(question: str, ctx: "Calling", tier: Tier | None = None) -> AgentResponse:
        """Research a question; the final answer is a report as Markdown in which [n] cites source n."""
        job = await taken_up(team, question, RunOptions(tier=tier), owner)
        await ctx.report_progress(1, None, "Planned: " + "; ".join(one.intent for one in RunPlan.of(job).queries))
        try:
            async for tree, line in progress(job, heartbeat_s=5.0):
                if line:
                    await ctx.report_progress(tree.seq + 1, None, line)
        finally:
            team.jobs.leave(job)
        return answer(team, job)

    async def search(query: str, max_results: int = 8) -> SearchAnswer:
        """List documents that match, without reading them."""
        return await searched(team, query, max(1, min(50, max_results)))

    # Annotations are read at run time, by names that only stand in this function.
    research.__annotations__ |= {"ctx": Context}
    for work in (research, search):
        server.add_tool(tool_of(work))
    if team.memory is not None:
        for route in (one for one in memory_api.routes if isinstance(one, APIRoute)):
            tool = tool_of(route.endpoint, owner=owner, store=team.memory)
            server.add_tool(tool, f"memory_{route.name.strip('_')}", structured_output=False)
    return server


def stdio(settings: Settings) -> None:
    """Serve one host over standard input and output until it closes them; everything else is said on standard error.

    Its jobs are kept where no server runs those of the data folder; what a former process left goes on meanwhile.
    """
    say = partial(print, file=sys.stderr)

    async def serving() -> None:
        async with durable_team(settings, say) as team:
            await mcp_server(team, LOCAL).run_stdio_async()

    say("Dossier speaks MCP on standard input and output.")
    asyncio.run(serving())


class _Mcp:
    """`/mcp`: stateless, so that every request stands by itself and nothing has to be kept between them."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        request = Request(scope, receive)
        server = mcp_server(site_of(request).team, await caller(request))
        manager = StreamableHTTPSessionManager(app=server._mcp_server, stateless=True)
        async with manager.run():
            await manager.handle_request(scope, receive, send)


mcp_route = Route("/mcp", endpoint=_Mcp(), methods=["GET", "POST", "DELETE"], include_in_schema=False)
"""The same over HTTP."""
