"""The knowledge base over HTTP and MCP."""

import httpx
import pytest

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
async def asked(put, client, tmp_path):
    site = put()
    site.team.memory = SqlKnowledge(tmp_path / "memory", StaticEmbedder())
    await site.team.memory.put("local", ALL)
    await site.team.memory.put("eve", ALL)
    return client


async def test_it_is_searched_opened_and_forgotten(asked):
    found = (await asked.get("/research/memory", params={"q": "How long is the Ostrau tunnel?"})).json()["items"]
    opened = (await asked.get(f"/research/memory/{TUNNEL.id}")).json()

    assert found[0]["id"] == TUNNEL.id
    assert opened["fact"]["quote"] == TUNNEL.text
    assert (await asked.delete("/research/memory", params={"id": TUNNEL.id})).json() == {"forgotten": 1}
    assert (await asked.get(f"/research/memory/{TUNNEL.id}")).status_code == 404
    assert (await asked.get("/research/memory/stats")).json()["items"] == 2


async def test_nothing_is_forgotten_by_accident(asked):
    assert (await asked.delete("/research/memory")).status_code == 422


async def test_an_export_is_an_import(asked):
    lines = (await asked.get("/research/memory/export.jsonl")).text.splitlines()
    await asked.delete("/research/memory", params={"everything": "true"})

    taken = await asked.post("/research/memory/import", json={"lines": [*lines, "broken"]})

    assert taken.json() == {"new": 3, "known": 0, "unreadable": 1}


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
