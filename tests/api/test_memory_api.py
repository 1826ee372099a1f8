"""The knowledge base over HTTP and MCP."""

import json

import httpx
import pytest

from agents.api.mcp_server import mcp_server
from agents.contracts.fact import Selection
from agents.memory.embedders import StaticEmbedder
from agents.memory.knowledge import forget_with
from agents.memory.sql_knowledge import SqlKnowledge
from tests.memory.test_knowledge import ALL, BRIDGE, TUNNEL


@pytest.fixture
async def client(server_app):
    transport = httpx.ASGITransport(app=server_app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as http:
        yield http


@pytest.fixture
async def asked(site_of_two, client):
    return client


@pytest.fixture
async def site_of_two(put, tmp_path):
    site = put()
    site.team.memory = SqlKnowledge(tmp_path / "memory", StaticEmbedder())
    await site.team.memory.put("local", ALL)
    await site.team.memory.put("eve", ALL)
    return site


async def test_it_is_searched_opened_and_forgotten(asked):
    found = (await asked.get("/research/memory", params={"q": "How long is the Ostrau tunnel?"})).json()["items"]
    opened = (await asked.get(f"/research/memory/{TUNNEL.id}")).json()

    assert found[0]["id"] == TUNNEL.id
    assert opened["fact"]["quote"] == TUNNEL.text
    assert (await asked.delete("/research/memory", params={"id": TUNNEL.id})).json() == {"forgotten": 1}
    assert (await asked.get(f"/research/memory/{TUNNEL.id}")).status_code == 404
    assert (await asked.get("/research/memory/stats")).json()["items"] == 2


async def test_what_is_no_day_is_refused_in_the_api_and_on_the_page(asked):
    for path in ("/research/memory", "/memory"):
        assert (await asked.get(path, params={"since": "yesterday"})).status_code == 422
        assert (await asked.get(path, params={"since": "2026-11-31"})).status_code == 422
        assert (await asked.get(path, params={"since": "", "until": "2026-11-30"})).status_code == 200


async def test_nothing_is_forgotten_by_accident(asked):
    assert (await asked.delete("/research/memory")).status_code == 422


async def test_an_export_is_an_import(asked):
    lines = (await asked.get("/research/memory/export.jsonl")).text.splitlines()
    await asked.delete("/research/memory", params={"everything": "true"})

    taken = await asked.post("/research/memory/import", json={"lines": [*lines, "broken"]})

    assert taken.json() == {"new": 3, "known": 0, "unreadable": 1}


async def test_what_is_given_as_lines_of_others_broken_or_twice_becomes_ones_own_once(asked):
    lines = (await asked.get("/research/memory/export.jsonl")).text.splitlines()
    await asked.delete("/research/memory", params={"id": TUNNEL.id})
    foreign = json.dumps({"owner": "eve", **json.loads(lines[0])})

    taken = await asked.post("/research/memory/import", json={"lines": [*lines, *lines, foreign, "[" * 50_000, "{}"]})

    assert taken.json() == {"new": 1, "known": 2, "unreadable": 3}
    assert (await asked.post("/research/memory/import", json={"lines": ["x"] * 5_001})).status_code == 422


async def test_it_is_embedded_anew_on_demand(asked):
    said = (await asked.post("/research/memory/reembed")).json()

    assert (said["items"], said["embedded"]) == (3, 3)


async def test_every_route_is_a_tool_of_the_same_user(site_of_two):
    from mcp.shared.memory import create_connected_server_and_client_session as connect

    team = site_of_two.team
    async with connect(mcp_server(team, "local")._mcp_server) as client:

        async def call(name, **given):
            told = await client.call_tool(f"memory_{name}", given)
            return told.isError, "".join(part.text for part in told.content)

        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        names = ("search", "show", "forget", "export", "import", "reembed", "stats")
        assert {f"memory_{name}" for name in names} == tools.keys() - {"research", "search"}
        assert not {"owner", "store"} & set(tools["memory_search"].inputSchema["properties"])
        assert TUNNEL.id in (await call("search", q="tunnel", verdict=["supported"]))[1]
        assert "12.4" in (await call("show", item_id=TUNNEL.id))[1]
        _, lines = await call("export")
        failed, why = await call("forget")
        assert (failed, why.partition(": ")[2]) == (
            True,
            "Say what to forget: id, url, domain, job, or everything=true.",
        )
        assert '"forgotten": 2' in (await call("forget", domain="b.example"))[1]
        assert (await call("show", item_id=TUNNEL.id))[0]
        assert '"new": 2' in (await call("import", sent={"lines": lines.splitlines()}))[1]
        assert '"embedded": 3' in (await call("reembed"))[1]
    assert len(await team.memory.get("eve", Selection())) == 3


async def test_where_it_is_switched_off_the_routes_say_so(put, client):
    put()

    assert (await client.get("/research/memory")).status_code == 501


async def test_with_a_job_goes_only_what_no_other_job_met(tmp_path):
    store = SqlKnowledge(tmp_path, StaticEmbedder())
    shared = TUNNEL.model_copy(update={"history": (*TUNNEL.history, *BRIDGE.history)})
    await store.put("ada", [*ALL[:1], shared, ALL[2]])

    assert await forget_with(store, "ada", jobs=("job2",)) == 1
    assert await forget_with(store, "ada", texts=(TUNNEL.source.text_hash,)) == 1
    assert await forget_with(None, "ada", jobs=("job2",)) == 0
    await store.close()
