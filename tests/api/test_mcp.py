"""The research tool, called by a real MCP client: in memory and over HTTP (over standard input and output: tests/api/test_examples.py)."""

import httpx
import pytest

from agents.api.mcp_server import mcp_server
from tests.api.conftest import TASK, TOO_BROAD, scripted


@pytest.fixture
def connected():
    from mcp.shared.memory import create_connected_server_and_client_session as connect

    return lambda team: connect(mcp_server(team, "local")._mcp_server)


async def test_a_client_finds_the_tools_with_their_schemas(site, connected):
    async with connected(site.team) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == {"research", "search"}
    assert tools["research"].inputSchema["required"] == ["question"]
    assert {"final_answer", "sources", "metadata"} <= set(tools["research"].outputSchema["properties"])


async def test_research_reports_progress_and_gives_a_report_with_sources(site, connected):
    steps = []

    async def heard(progress, total, message):
        steps.append((progress, message))

    async with connected(site.team) as client:
        told = await client.call_tool("research", {"question": TASK, "tier": "simple"}, progress_callback=heard)
    assert not told.isError
    assert told.structuredContent["metadata"]["grade"] == "complete"
    assert "closed on 12 days" in told.structuredContent["final_answer"]
    assert len(told.structuredContent["sources"]) == 3
    assert steps[0][1] == "Planned: Closures; Costs; Passengers"
    assert len(steps) > 2
    assert [place for place, _ in steps] == sorted({place for place, _ in steps})


async def test_a_question_that_is_too_broad_offers_narrower_ones(put, connected):
    site = put(scripted(TOO_BROAD))
    async with connected(site.team) as client:
        told = await client.call_tool("research", {"question": TASK})
    assert told.isError
    assert "Winter 2022/23? | Winter 2020/21?" in told.content[0].text


async def test_a_wrong_tier_is_an_error_for_the_model_to_read(site, connected):
    async with connected(site.team) as client:
        told = await client.call_tool("research", {"question": TASK, "tier": "huge"})
    assert told.isError
    assert "tier" in told.content[0].text


async def test_search_lists_documents(site, connected):
    async with connected(site.team) as client:
        told = await client.call_tool("search", {"query": "Orvane ferry cost", "max_results": 1})
    assert len(told.structuredContent["results"]) == 1


async def test_the_same_tools_are_there_over_http(site, server_app):
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    def through_the_app(headers=None, timeout=None, auth=None):
        transport = httpx.ASGITransport(app=server_app)
        return httpx.AsyncClient(transport=transport, headers=headers, timeout=timeout, auth=auth)

    address = "http://127.0.0.1:8000/mcp"
    async with (
        streamablehttp_client(address, httpx_client_factory=through_the_app) as (reading, writing, _),
        ClientSession(reading, writing) as client,
    ):
        await client.initialize()
        told = await client.call_tool("research", {"question": TASK, "tier": "simple"})
    assert told.structuredContent["metadata"]["grade"] == "complete"
    assert site.team.jobs.get(told.structuredContent["metadata"]["job_id"], "local").status == "done"
