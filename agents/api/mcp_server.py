"""The research manager as a tool of other programs (Model Context Protocol): over stdio, and over HTTP at `/mcp`."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from agents.api.tree import progress
from agents.contracts.fact import REUSABLE, Selection
from agents.contracts.frozen import Tier
from agents.contracts.sources import SearchQuery
from agents.core.errors import DossierError, NotFeasible
from agents.core.settings import Settings
from agents.run_answer import answer
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


class ResearchResult(BaseModel):
    """A report with its sources."""

    report: str = Field(description="The report as Markdown; [n] cites source n.")
    summary: str = Field(description="Its opening.")
    grade: Literal["complete", "partial", "nothing_found"]
    confidence: float
    sources: list[dict[str, object]] = Field(description="Sources that passed verification, with the quoted words.")
    insufficient: bool = Field(description="A bound or the time ended it while the answer was not sufficient.")
    job_id: str


class SearchResults(BaseModel):
    """Hits of a search, best first."""

    provider: str
    results: list[dict[str, str]]


def mcp_server(team: Team, owner: str) -> "FastMCP[object]":
    """Make the server with its tools.

    Args:
        team: who does the work.
        owner: whose jobs they are.
    """
    # Seconds of import: only where it is used.
    from mcp.server.fastmcp import Context, FastMCP
    from mcp.server.fastmcp.exceptions import ToolError

    server: FastMCP[object] = FastMCP("dossier", instructions=INSTRUCTIONS, log_level="WARNING")

    @asynccontextmanager
    async def told() -> AsyncIterator[None]:
        try:
            yield
        except NotFeasible as error:
            splits = f" Narrower questions that would work: {' | '.join(error.splits)}" if error.splits else ""
            raise ToolError(f"{error}{splits}") from error
        except DossierError as error:
            raise ToolError(error.notice) from error

    async def research(question: str, ctx: "Calling", tier: Tier | None = None) -> ResearchResult:
        """Research a question and return a report in which every statement cites its source."""
        async with told():
            planned, job = await taken_up(team, question, RunOptions(tier=tier), owner)
            await ctx.report_progress(1, None, "Planned: " + "; ".join(query.intent for query in planned.queries))
            try:
                async for seq, line in progress(job, heartbeat_s=5.0):
                    if line:
                        await ctx.report_progress(seq + 1, None, line)
            finally:
                team.jobs.leave(job)
            made = answer(team, planned, job)
        return ResearchResult(
            report=made.final_answer,
            summary=made.summary,
            grade=made.metadata.grade,
            confidence=made.confidence,
            sources=[one.model_dump(mode="json", exclude_none=True) for one in made.sources],
            insufficient=made.insufficient_termination,
            job_id=made.metadata.job_id,
        )

    async def search(query: str, max_results: int = 8) -> SearchResults:
        """List documents that match, without reading them."""
        async with told():
            found = await team.searcher.search(SearchQuery(text=query, max_results=max(1, min(50, max_results))), 30.0)
        hits = [{"title": hit.title, "url": hit.url, "snippet": hit.snippet} for hit in found.hits]
        return SearchResults(provider=found.provider, results=hits)

    async def recall(question: str, max_results: int = 10) -> SearchResults:
        """Say what earlier research knows, without searching: statements with their sources and dates."""
        if team.memory is None:
            raise ToolError("The knowledge base is switched off.")
        async with told():
            known = await team.memory.search(owner, question, Selection(kinds=("fact",)), max(1, min(50, max_results)))
        facts = [(one, one.source) for one in known if one.source and one.verdict in REUSABLE]
        results = [
            {"title": f"{card.title} (known since {one.since[:10]})", "url": card.url, "snippet": one.text}
            for one, card in facts
        ]
        return SearchResults(provider="knowledge base", results=results)

    # Annotations are read at run time, by names that only stand in this function.
    research.__annotations__ |= {"ctx": Context, "tier": Tier | None, "return": ResearchResult}
    server.add_tool(research)
    server.add_tool(search)
    if team.memory is not None:
        server.add_tool(recall)
    return server


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")


def stdio(settings: Settings) -> None:
    """Serve one host over standard input and output until it closes them; everything else is said on standard error.

    Its jobs are kept where no server runs those of the data folder; what a former process left goes on meanwhile.
    """
    from agents.api.serve import LOCAL

    async def serving() -> None:
        async with durable_team(settings, _say) as team:
            await mcp_server(team, LOCAL).run_stdio_async()

    _say("Dossier speaks MCP on standard input and output.")
    asyncio.run(serving())


class _Mcp:
    """`/mcp`: stateless, so that every request stands by itself and nothing has to be kept between them."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Chainlit and seconds of import: not where a host only wants a tool over standard input and output.
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from agents.api.access import caller, site_of

        request = Request(scope, receive)
        owner, site = await caller(request), site_of(request)
        server = mcp_server(site.team, owner)
        manager = StreamableHTTPSessionManager(app=server._mcp_server, stateless=True)
        async with manager.run():
            await manager.handle_request(scope, receive, send)


mcp_route = Route("/mcp", endpoint=_Mcp(), methods=["GET", "POST", "DELETE"], include_in_schema=False)
"""The same over HTTP."""
