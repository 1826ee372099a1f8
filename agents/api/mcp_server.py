"""The research manager as a tool of other programs (Model Context Protocol): over stdio, and over HTTP at `/mcp`."""

import asyncio
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from agents.api.error_responses import ApiError, body
from agents.contracts.frozen import Tier
from agents.contracts.memory import REUSABLE, Selection
from agents.contracts.response import AgentResponse, AgentSource
from agents.contracts.sources import SearchQuery
from agents.core.errors import DossierError, NotFeasible
from agents.core.events import NodeChanged, RoundEnded, SearchDone, SectionWritten, SourceRead
from agents.core.settings import Settings
from agents.jobs.live_job import Job
from agents.run_answer import FlatRun, answer
from agents.run_research import RunOptions, taken_up
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


def _progress(job: Job) -> tuple[int, str]:
    """Say how many steps were done so far, and what the last one worth telling was."""
    said = ""
    for numbered in reversed(job.run.events):
        match numbered.event:
            case SearchDone() as event:
                said = f"Searched: {event.text}"
            case SourceRead() as event:
                said = f"Read: {event.source.title}"
            case SectionWritten() as event:
                said = f"Wrote: {event.title}"
            case RoundEnded() as event:
                said = f"Round {event.record.round}: {event.record.reason}"
            case NodeChanged() as event if event.doing:
                said = f"{event.title}: {event.doing}"
        if said:
            break
    return len(job.run.events), said


def _result(made: AgentResponse) -> ResearchResult:
    def source(one: AgentSource) -> dict[str, object]:
        return one.model_dump(mode="json", exclude_none=True)

    return ResearchResult(
        report=made.final_answer,
        summary=made.summary,
        grade=made.metadata.grade,
        confidence=made.confidence,
        sources=[source(one) for one in made.sources],
        insufficient=made.insufficient_termination,
        job_id=made.metadata.job_id,
    )


def _said(error: DossierError) -> str:
    if isinstance(error, NotFeasible) and error.splits:
        return f"{error} Narrower questions that would work: " + " | ".join(error.splits)
    return error.notice


def mcp_server(team: Team, owner: str, started: Callable[[FlatRun, Job], None] | None = None) -> "FastMCP[object]":
    """Make the server with its tools.

    Args:
        team: who does the work.
        owner: whose jobs they are.
        started: told of every run, for the metrics.
    """
    # Seconds of import: only where it is used.
    from mcp.server.fastmcp import Context, FastMCP
    from mcp.server.fastmcp.exceptions import ToolError

    server: FastMCP[object] = FastMCP("dossier", instructions=INSTRUCTIONS, log_level="WARNING")

    async def research(question: str, ctx: "Calling", tier: Tier | None = None) -> ResearchResult:
        """Research a question and return a report in which every statement cites its source."""
        try:
            planned, job = await taken_up(team, question, RunOptions(tier=tier), owner)
            await ctx.report_progress(1, None, "Planned: " + "; ".join(query.intent for query in planned.queries))
            if started is not None:
                started(planned, job)
            try:
                await _told(job, ctx)
            finally:
                team.jobs.leave(job)
            return _result(answer(team, planned, job))
        except DossierError as error:
            raise ToolError(_said(error)) from error

    async def search(query: str, max_results: int = 8) -> SearchResults:
        """List documents that match, without reading them."""
        try:
            found = await team.searcher.search(SearchQuery(text=query, max_results=max(1, min(50, max_results))), 30.0)
        except DossierError as error:
            raise ToolError(error.notice) from error
        hits = [{"title": hit.title, "url": hit.url, "snippet": hit.snippet} for hit in found.hits]
        return SearchResults(provider=found.provider, results=hits)

    async def recall(question: str, max_results: int = 10) -> SearchResults:
        """Say what earlier research knows, without searching: statements with their sources and dates."""
        if team.memory is None:
            raise ToolError("The knowledge base is switched off.")
        try:
            known = await team.memory.search(owner, question, Selection(kinds=("fact",)), max(1, min(50, max_results)))
        except DossierError as error:
            raise ToolError(error.notice) from error
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


async def _told(job: Job, ctx: "Calling") -> None:
    """Report progress until the job is over."""
    last = ""
    async for _ in job.follow(heartbeat_s=5.0, attended=True):
        count, said = _progress(job)
        if said != last:
            last = said
            await ctx.report_progress(count + 1, None, said)
    await job.settled()


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")


async def serve_stdio(settings: Settings) -> None:
    """Serve one host over standard input and output until it closes them.

    Its jobs are kept where no server runs those of the data folder; what a former process left goes on meanwhile.
    """
    from agents.api.serve import LOCAL
    from agents.run_research import durable_team

    async with durable_team(settings, _say) as team:
        await mcp_server(team, LOCAL).run_stdio_async()


def stdio(settings: Settings) -> None:
    """Run the server over standard input and output; everything else is said on standard error."""
    _say("Dossier speaks MCP on standard input and output.")
    asyncio.run(serve_stdio(settings))


class _Mcp:
    """`/mcp`: stateless, so that every request stands by itself and nothing has to be kept between them."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Chainlit and seconds of import: not where a host only wants a tool over standard input and output.
        from agents.api.access import caller

        request = Request(scope, receive)
        try:
            owner = await caller(request)
        except ApiError as error:
            await JSONResponse(body(error.type, error.message), error.status)(scope, receive, send)
            return
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        site = request.app.state.dossier_site
        server = mcp_server(site.team, owner, lambda planned, job: site.state.run_started(site.team, planned, job))
        manager = StreamableHTTPSessionManager(app=server._mcp_server, stateless=True)
        async with manager.run():
            await manager.handle_request(scope, receive, send)


mcp_route = Route("/mcp", endpoint=_Mcp(), methods=["GET", "POST", "DELETE"], include_in_schema=False)
"""The same over HTTP."""
