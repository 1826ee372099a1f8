"""Two users of one server: whatever route there is, neither reads, finds nor moves what is the other's; nobody else anything."""

import asyncio

import pytest
from chainlit.auth import create_jwt
from chainlit.user import User

from agents.contracts.contract import Brief
from agents.contracts.report import Commission
from agents.memory.embedders import StaticEmbedder
from agents.memory.sql_knowledge import SqlKnowledge
from tests.memory.test_knowledge import ALL, TUNNEL
from tests.scripts import QUERY

TITLE = "Bob's secret question about the Orvane ferry?"
KEY = "k" * 40
OPEN_TO_ALL = {"/healthz", "/research/openapi.json", "/words/{language}/reasons"}
"""Routes that tell nothing of anybody."""
BODIES = {
    "guidance": {"text": "leave out the costs"},
    "tasks": {"stage": "write"},
    "continue": {"query": "And since?"},
    "import": {"lines": []},
}


def routes_of(app):
    """All routes of ours, with their methods; Chainlit's own are tested by what it keeps."""
    found = [
        (method, route.path)
        for included in app.router.routes
        for route in getattr(getattr(included, "original_router", None), "routes", [included])
        if getattr(getattr(route, "endpoint", None), "__module__", "").startswith("agents.")
        and "{rest" not in route.path
        for method in sorted((route.methods or {"GET", "POST"}) - {"HEAD"})
        if getattr(route.endpoint, "__name__", "") != "unknown"
    ]
    assert len(found) > 30
    return found


@pytest.fixture
def remote(put, tmp_path):
    site = put(host="0.0.0.0", api_key=KEY, requests_per_minute=0)  # every route is asked many times over
    site.team.memory = SqlKnowledge(tmp_path / "memory", StaticEmbedder())
    return site


@pytest.fixture
async def bobs(remote):
    """A finished job of Bob's, and what in a path stands for it."""
    brief = Brief(question=TITLE, queries=(QUERY.model_copy(update={"text": TITLE}),), today="2026-11-27")
    await remote.team.memory.put("bob", ALL)
    job = await remote.team.commission(Commission(brief=brief), owner="bob")
    await asyncio.wait_for(job.wait(), 30)
    document = await remote.team.jobs.report(job.id)
    (fact, *_), reference = document.references[0].quotes, document.references[0]
    stands = {
        "job_id": job.id, "node": "job/0", "what": "stop", "form": "json", "fact_id": fact.fact_id, "model": "dossier",
        "source_id": reference.source_id, "element_id": reference.source_id, "name": "bob.txt", "file_id": reference.source_id,
        "item_id": TUNNEL.id, "language": "de",
    }  # fmt: skip
    return job, document, stands


def session(name):
    from chainlit.auth.cookie import _auth_cookie_name

    return {"cookie": f"{_auth_cookie_name}={create_jwt(User(identifier=name))}"}


def filled(path, stands):
    """Fill a path; a parameter that nobody knows fails the test, so that a new route is not forgotten."""
    import re

    return re.sub(r"{(\w+)(?::\w+)?}", lambda found: str(stands[found[1]]), path)


async def asked(http, method, path, **options):
    last = path.rsplit("/", 1)[-1]
    body = {"json": BODIES.get(last, {})} if method in {"POST", "PUT", "PATCH"} else {}
    return await http.request(method, path, **body, **options)


async def test_no_route_shows_or_moves_the_job_of_another_user(server_app, bobs, http):
    job, document, stands = bobs
    before = (job.status, len(job.run.events), document.model_dump_json())
    seen = []
    for method, path in routes_of(server_app):
        if "{" not in path:
            continue
        answer = await asked(http, method, filled(path, stands), headers=session("eve"))
        if answer.status_code < 400 and "{model}" not in path and "{language}" not in path:
            seen.append((method, path, answer.status_code))
        assert TITLE not in answer.text and document.references[0].quotes[0].text not in answer.text, (method, path)
    known = await http.get("/research/memory/export.jsonl", headers=session("eve"))
    found = await http.get("/research/jobs", headers=session("eve"))
    deleted = await http.delete(f"/research/jobs?id={job.id}&force=true", headers=session("eve"))
    mine = await http.get(f"/research/jobs/{job.id}", headers=session("bob"))

    assert seen == []
    assert known.text == ""
    assert job.id not in found.text and deleted.json().get("deleted", 0) == 0
    assert mine.status_code == 200
    assert (await http.get(f"/research/memory/{TUNNEL.id}", headers=session("bob"))).status_code == 200
    kept = await document_of(job, bobs)
    assert (job.status, len(job.run.events), kept.model_dump_json()) == before


async def document_of(job, bobs):
    return job.report or bobs[1]


async def test_nothing_but_health_is_open_without_a_key_or_a_session(server_app, bobs, http):
    _, _, stands = bobs
    for method, path in routes_of(server_app):
        answer = await asked(http, method, filled(path, stands), headers={})
        wrong = await asked(http, method, filled(path, stands), headers={"authorization": "Bearer " + "x" * 40})
        forged = await asked(
            http, method, filled(path, stands), headers=session("bob") | {"cookie": "access_token=e30.e30."}
        )
        if path not in OPEN_TO_ALL:
            assert {answer.status_code, wrong.status_code, forged.status_code} == {401}, (
                method,
                path,
                answer.text[:200],
            )


async def test_the_key_is_in_no_answer(server_app, bobs, http):
    _, _, stands = bobs
    for method, path in routes_of(server_app):
        if method == "GET" and "events" not in path:
            answer = await asked(http, method, filled(path, stands), headers=session("bob"))
            assert KEY not in answer.text, path
