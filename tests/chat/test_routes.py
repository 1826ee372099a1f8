"""The routes beside the chat."""

import asyncio
import json
import re
from types import SimpleNamespace

import pytest

from agents.api.tree import live_tree
from agents.core.paths import RESOURCES as ROOT
from agents.offline import OfflineModel
from tests.chat.conftest import Page, make_team, until
from tests.unit.report_world import judged

QUESTION = "How often was the Orvane ferry closed, and what did it cost?"
PHRASE = "Authorized to execute"


async def run_job(chat):
    page = Page()
    await page.say(QUESTION)
    await page.say(PHRASE)
    (job,) = chat.team.jobs.of("local")
    await asyncio.wait_for(job.wait(), 30)
    await chat.outcomes.close()
    return job


def events_of(text):
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line and not line.startswith(":"))
        if "data" in lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


async def test_the_server_says_that_it_is_there(chat, http):
    assert (await http.get("/healthz")).json()["status"] == "ok"


async def test_jobs_are_listed_newest_first(chat, http):
    job = await run_job(chat)
    listed = (await http.get("/research/jobs")).json()
    assert listed["total"] == 1
    assert listed["jobs"][0]["tokens"] > 0
    assert listed["jobs"][0] | {"seconds": 0, "created": "", "tokens": 0} == {
        "job_id": job.id,
        "title": "Ferry winters",
        "status": "done",
        "stage": "completed",
        "grade": "complete",
        "created": "",
        "seconds": 0,
        "tokens": 0,
        "cost_usd": 0,
        "note": "",
    }


async def test_a_job_is_described_whole(chat, http):
    job = await run_job(chat)
    whole = (await http.get(f"/research/jobs/{job.id}")).json()
    assert set(whole) >= {
        "job_id",
        "status",
        "stage",
        "grade",
        "blocked_reason",
        "contract",
        "phase_state",
        "claims",
        "evidence",
        "metadata",
        "report",
    }
    assert whole["contract"]["hash"] == job.commission.contract.hash
    assert whole["report"]["job_id"] == job.id


async def test_the_events_fold_to_the_tree(chat, http):
    job = await run_job(chat)
    tree = (await http.get(f"/research/jobs/{job.id}/tree")).json()

    events = events_of((await http.get(f"/research/jobs/{job.id}/events")).text)

    assert [data["seq"] for _, data in events] == list(range(1, tree["seq"] + 1))
    rows = {}
    for _, data in events:
        for row in data["nodes"]:
            rows[row["id"]] = row
    last = {node["id"]: node for node in tree["nodes"]}
    assert {key: (row["state"], row["sources"], row["facts"]) for key, row in rows.items()} == {
        key: (node["state"], node["sources"], node["facts"]) for key, node in last.items()
    }
    assert events[-1][1]["status"] == "done"


async def test_the_stream_goes_on_behind_what_the_caller_has(chat, http):
    job = await run_job(chat)
    some = events_of((await http.get(f"/research/jobs/{job.id}/events?after=5")).text)
    same = events_of((await http.get(f"/research/jobs/{job.id}/events", headers={"Last-Event-ID": "5"})).text)
    assert some == same
    assert some[0][1]["seq"] == 6


async def test_a_stream_with_nothing_more_to_come_ends_the_reconnecting(chat, http):
    job = await run_job(chat)
    answer = await http.get(f"/research/jobs/{job.id}/events?after={len(job.run.events)}")
    assert answer.status_code == 204


async def test_a_run_is_stopped_by_its_route(held_chat, http):
    page = Page()
    await page.say(QUESTION)
    await page.say(PHRASE)
    (job,) = held_chat.team.jobs.of("local")
    await until(lambda: sum(node.state == "reading" for node in live_tree(job).nodes) == 3)
    tree = (await http.get(f"/research/jobs/{job.id}/tree")).json()
    assert tree["minutes"] == 5.0
    assert tree["reserve_s"] == 90.0

    assert (await http.post(f"/research/jobs/{job.id}/finish")).json()["status"] == "finishing"
    assert job.run.steering.finishing("job")
    assert (await http.post(f"/research/jobs/{job.id}/cancel")).status_code == 202

    await asyncio.wait_for(job.wait(), 30)
    states = {node["state"] for node in (await http.get(f"/research/jobs/{job.id}/tree")).json()["nodes"]}
    assert states == {"stopped"}
    assert (await http.get(f"/research/jobs/{job.id}/report.md")).json()["error"]["type"] == "no_report"


@pytest.mark.parametrize(
    ("form", "kind"), [("md", "text/markdown"), ("html", "text/html"), ("json", "application/json")]
)
async def test_a_report_is_a_download_with_a_readable_name(chat, http, form, kind):
    job = await run_job(chat)
    answer = await http.get(f"/research/jobs/{job.id}/report.{form}")
    assert answer.headers["content-type"].startswith(kind)
    assert answer.headers["content-disposition"] == (
        f"attachment; filename=\"Ferry winters.{form}\"; filename*=UTF-8''Ferry%20winters.{form}"
    )
    assert "closed on 12 days" in answer.text


async def test_the_fragment_is_what_the_report_card_reads(chat, http):
    job = await run_job(chat)
    told = (await http.get(f"/research/jobs/{job.id}/report.fragment")).json()
    assert told["title"] == "Ferry winters"
    assert told["grade"] == "complete"
    assert told["counts"]["sources"] == 3
    texts = [heading["text"] for heading in told["headings"]]
    assert texts[0] == "Closures"
    assert "References" in texts
    assert all(f'id="{heading["id"]}"' in told["html"] for heading in told["headings"])
    assert f'href="/research/jobs/{job.id}/quote/' in told["html"]
    assert "<script" not in told["html"]


async def test_a_quote_opens_in_its_stored_copy(chat, http):
    job = await run_job(chat)
    quote = job.report.references[0].quotes[0]

    page = await http.get(f"/research/jobs/{job.id}/quote/{quote.fact_id}")

    assert 'id="quote"' in page.text
    assert quote.text in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    data = (await http.get(f"/research/jobs/{job.id}/quote/{quote.fact_id}?format=json")).json()
    assert data["quote"] == quote.text
    assert data["title"] == job.report.references[0].title
    shown = (ROOT / "public" / "dossier.js").read_text("utf-8").partition("function fill(")[2].partition("\n}\n")[0]
    fields = set(re.findall(r"\bq\.([a-z_]+)", shown))
    assert {"why", "language"} <= fields <= set(data), "its card shows no field that is never given"
    assert data["language"] == "en"


async def test_a_report_and_its_quotes_are_readable_after_a_restart(serve, http, tmp_path):
    def stored():
        return serve(make_team(tmp_path, stored=True))

    chat = stored()
    await chat.open()
    job = await run_job(chat)
    quote = job.report.references[0].quotes[0]
    await chat.close()
    await chat.history.engine.dispose()
    fresh = stored()
    await fresh.open()

    assert (await http.get("/research/jobs")).json()["jobs"][0]["grade"] == "complete"
    assert (await http.get(f"/research/jobs/{job.id}/report.md")).status_code == 200
    assert quote.text in (await http.get(f"/research/jobs/{job.id}/quote/{quote.fact_id}")).text
    tree = (await http.get(f"/research/jobs/{job.id}/tree")).json()
    assert tree["status"] == "done"
    assert {"job/0", "job/0/0", "job/0/1", "job/0/2"} <= {node["id"] for node in tree["nodes"]}
    told = events_of((await http.get(f"/research/jobs/{job.id}/events")).text)
    assert [data["seq"] for _, data in told] == list(range(1, tree["seq"] + 1))
    assert (await http.get(f"/research/jobs/{job.id}/events?after={tree['seq']}")).status_code == 204
    await fresh.close()
    await fresh.history.engine.dispose()


@pytest.mark.parametrize(
    "path",
    [
        "/research",
        "/research/nope",
        "/research/jobs/nope",
        "/research/jobs/nope/tree",
        "/research/jobs/nope/events",
        "/research/jobs/../jobs/nope",
        "/run",
        "/run-simple",
        "/search",
        "/files/x/y",
        "/files",
        "/healthz/deep",
        "/research/jobs/nope/report.md",
        "/research/jobs/nope/report.exe",
    ],
)
async def test_what_is_not_there_is_a_json_404(chat, http, path):
    answer = await http.get(path)
    assert answer.status_code == 404
    assert set(answer.json()["error"]) == {"type", "message", "retryable"}


async def test_an_unknown_path_of_ours_is_no_page_for_any_verb(chat, http):
    for verb in ("POST", "PUT", "PATCH", "DELETE"):
        assert (await http.request(verb, "/research/nope")).status_code == 404


async def test_a_parameter_that_cannot_be_read_is_said_in_our_shape(chat, http):
    answer = await http.get("/research/jobs?limit=many")
    assert answer.status_code == 422
    assert answer.json()["error"]["type"] == "bad_request"


async def test_a_run_of_another_owner_is_not_there(held_chat, http):
    page = Page("somebody")
    await page.say(QUESTION)
    await page.say(PHRASE)
    (job,) = held_chat.team.jobs.of("somebody")
    await asyncio.sleep(0.05)

    for path in ("", "/tree", "/events", "/report.md", "/quote/f1"):
        assert (await http.get(f"/research/jobs/{job.id}{path}")).status_code == 404
    assert (await http.post(f"/research/jobs/{job.id}/cancel")).status_code == 404
    assert not job.over


async def test_a_file_of_the_chat_is_for_its_owner_only(chat, http):
    page = Page()
    await page.say(QUESTION)
    other = Page("somebody")
    await other.say(QUESTION)
    (mine,), (theirs,) = (one.elements("ContractCard") for one in (page, other))
    await asyncio.sleep(0.1)

    answer = await http.get(f"/files/{mine['id']}/ContractCard")
    assert answer.status_code == 200
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert (await http.get(f"/files/{theirs['id']}/ContractCard")).status_code == 404


async def test_the_setup_is_told_honestly(chat, http, serve, tmp_path):
    told = (await http.get("/research/about")).json()
    assert told["engine"] == "scripted"
    assert "go to scripted" in told["leaves"]

    quoting = serve(make_team(tmp_path / "offline", OfflineModel(), sample=True))
    told = (await http.get("/research/about")).json()
    assert told["lines"][0].startswith("No language model is set up.")
    assert told["leaves"] == "Nothing leaves this computer."
    await quoting.history.engine.dispose()


# ---- who gets in


async def test_off_loopback_a_caller_needs_the_key_or_a_log_in(serve, tmp_path, http):
    import chainlit as cl
    from chainlit.auth import create_jwt

    chat = serve(make_team(tmp_path, host="0.0.0.0", api_key="k" * 20))

    refused = await http.get("/research/jobs")
    assert refused.status_code == 401
    assert refused.json()["error"]["type"] == "unauthorized"
    for token, status in (("k" * 20, 200), ("wrong", 401), (create_jwt(cl.User(identifier="user")), 200)):
        assert (await http.get("/research/jobs", headers={"Authorization": f"Bearer {token}"})).status_code == status
    assert (await http.get("/healthz")).status_code == 200
    await chat.history.engine.dispose()


# ---- what a browser may do


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://localhost:3000", "https://localhost:8000", "http://["]
)
@pytest.mark.parametrize("path", ["/research/jobs", "/", "/project/action", "/ws/socket.io/?EIO=4&transport=polling"])
async def test_a_foreign_page_is_refused(chat, http, origin, path):
    for verb in ("GET", "POST"):
        answer = await http.request(verb, path, headers={"Origin": origin})
        assert answer.status_code == 403
        assert answer.json()["error"]["type"] == "forbidden"


@pytest.mark.parametrize("origin", ["http://localhost:8000", "http://127.0.0.1:8000", "http://[::1]:8000"])
async def test_our_own_page_is_served(chat, http, origin):
    assert (await http.get("/research/jobs", headers={"Origin": origin})).status_code == 200


async def test_a_name_that_only_resolves_to_this_machine_is_refused(chat, http):
    for name in ("rebound.example:8000", "[::1", "127.0.0.1.evil.example", "localhost@evil.example", ""):
        assert (await http.get("/research/jobs", headers={"Host": name})).status_code == 403, name
    assert (await http.get("/research/jobs", headers={"Host": "localhost:9000"})).status_code == 200


async def test_a_foreign_page_gets_no_socket(app_module):
    from chainlit.server import app

    sent = []

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "websocket.connect"}

    headers = [(b"host", b"localhost:8000"), (b"origin", b"http://evil.example")]
    scope = {"type": "websocket", "path": "/ws/socket.io/", "headers": headers, "query_string": b"", "subprotocols": []}
    await app(scope, receive, send)
    assert [message["type"] for message in sent] == ["websocket.close"]


async def test_the_page_loads_nothing_from_elsewhere(chat, http):
    page = await http.get("/")
    assert page.status_code == 200
    assert "https://" not in page.text.replace("https://github.com/Chainlit", "")
    assert "http://" not in page.text.replace("http://www.w3.org", "")
    policy = page.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "connect-src 'self'" in policy
    assert page.headers["x-content-type-options"] == "nosniff"


async def test_a_page_opened_on_this_machine_is_logged_in_with_itself(chat, http):
    page = await http.get("/thread/some-chat", headers={"Accept": "text/html"})
    assert "HttpOnly" in page.headers["set-cookie"]
    assert (await http.get("/user")).json()["identifier"] == "local"
    assert "set-cookie" not in (await http.get("/", headers={"Accept": "text/html"})).headers
    http.cookies.clear()
    assert "set-cookie" not in (await http.get("/research/jobs")).headers


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/docs/oauth2-redirect", "/openapi.json"])
async def test_nothing_describes_chainlits_own_routes(chat, http, path):
    told = await http.get(path)
    assert not told.headers["content-type"].startswith("application/json")
    assert not any(word in told.text for word in ("swagger", "redoc.standalone", "openapi"))


@pytest.mark.parametrize(
    ("verb", "path"),
    [
        ("PUT", "/feedback"), ("DELETE", "/feedback"), ("PUT", "/project/element"), ("DELETE", "/project/element"),
        ("PUT", "/project/thread/share"), ("POST", "/auth/jwt"), ("POST", "/auth/oauth/azure-ad-hybrid/callback"),
    ],
)  # fmt: skip
async def test_what_no_page_needs_of_chainlits_routes_is_taken_down(chat, http, verb, path):
    """Several of them take the id of a message, an element or a chat, and do not ask whose it is."""
    assert (await http.request(verb, path, json={})).status_code in {404, 405}


async def test_all_that_is_up_is_ours_or_needed(app_module):
    from chainlit.server import app, router, sio

    from agents.api.routes import NEEDED, UNUSED

    up = [one for one in (*app.router.routes, *router.routes) if hasattr(one, "endpoint")]
    theirs = {one.path for one in up if not getattr(one.endpoint, "__module__", "").startswith("agents.")} - {"/mcp"}
    assert theirs <= NEEDED
    assert not set(UNUSED) & sio.handlers["/"].keys()
    events = {"connect", "connection_successful", "disconnect", "clear_session", "stop", "client_message"}
    assert sio.handlers["/"].keys() <= events | {"chat_settings_change", "chat_settings_edit", "ask_reply", "call_fn"}


@pytest.mark.parametrize("path", ["/login", "/project/action", "/project/threads", "/memory/forget"])
async def test_a_body_is_bounded_before_it_is_known_who_sends_it(chat, http, path):
    http.cookies.clear()
    assert (await http.post(path, content=b"[" * 1_000_001)).status_code == 413


async def test_routes_are_put_in_front_once(app_module):
    from chainlit.server import app

    from agents.api.routes import opened

    before = len(app.router.routes)
    opened()
    assert len(app.router.routes) == before


async def test_a_closed_session_leaves_no_messages_in_memory(chat):
    from chainlit.chat_context import chat_contexts

    page = Page()
    await page.say(QUESTION)
    assert page.session.id in chat_contexts
    await page.session.delete()
    assert page.session.id not in chat_contexts


async def test_a_stopped_branch_is_tried_again_by_its_route_and_one_at_work_is_not(held_chat, http):
    page = Page()
    await page.say(QUESTION)
    await page.say("Authorized to execute")
    (job,) = held_chat.team.jobs.of("local")
    await until(lambda: sum(node.state == "reading" for node in live_tree(job).nodes) == 3)
    route = f"/research/jobs/{job.id}/nodes/job/0"

    early = await http.post(f"{route}/1/retry")
    assert (early.status_code, early.json()["error"]["type"]) == (409, "over")
    dropped = await http.post(f"{route}/1/drop")
    assert dropped.json() == {"job_id": job.id, "node": "job/0/1", "status": "stopping", "change": 1}
    again = await http.post(f"{route}/1/retry")
    assert again.status_code == 202
    assert again.json() == {"job_id": job.id, "node": "job/0/1", "status": "retrying", "change": 2}
    rows = {node["id"]: node["state"] for node in (await http.get(f"/research/jobs/{job.id}/tree")).json()["nodes"]}
    assert rows["job/0/1"] == "retrying"

    await http.post(f"{route}/2/stop")
    await http.post(f"/research/jobs/{job.id}/finish")
    late = await http.post(f"{route}/2/retry")
    assert (late.status_code, late.json()["error"]["type"]) == (409, "not_allowed")
    assert "searches no further" in late.json()["error"]["message"]


async def test_a_branch_is_stopped_by_its_route_and_a_stranger_stops_none(held_chat, http):
    page = Page()
    await page.say(QUESTION)
    await page.say("Authorized to execute")
    (job,) = held_chat.team.jobs.of("local")
    await until(lambda: sum(node.state == "reading" for node in live_tree(job).nodes) == 3)

    answer = await http.post(f"/research/jobs/{job.id}/nodes/job/0/1/stop")

    assert answer.status_code == 202
    assert answer.json() == {"job_id": job.id, "node": "job/0/1", "status": "stopping", "change": 1}
    states = {node["id"]: node["state"] for node in (await http.get(f"/research/jobs/{job.id}/tree")).json()["nodes"]}
    assert states["job/0/1"] == "stopped"
    again = await http.post(f"/research/jobs/{job.id}/nodes/job/0/1/finish")
    assert (again.status_code, again.json()["error"]["type"]) == (409, "over")
    assert (await http.post(f"/research/jobs/{job.id}/nodes/job/7/stop")).status_code == 404
    assert (await http.post(f"/research/jobs/{job.id}/nodes/job/0/1/explode")).status_code == 422
    assert (await http.post("/research/jobs/none/nodes/job/0/stop")).status_code == 404


@pytest.mark.parametrize(
    ("hosts", "tried", "leaves", "searches"),
    [
        ((), None, "Nothing leaves this computer.", "Your library"),
        (
            ("search.example", "papers.example"),
            None,
            "Search words go to search.example and papers.example, and pages that are found are fetched from their "
            "sites. Nothing else leaves this computer.",
            "The web",
        ),
        (("search.example",), (False, "no network"), "Nothing leaves this computer.", "Your library"),
    ],
)
def test_what_leaves_the_computer_is_said_as_it_is(tmp_path, hosts, tried, leaves, searches):
    from agents.api.app_state import about

    team = make_team(tmp_path, OfflineModel(), library=(tmp_path,))
    team.searcher.destinations = hosts
    team.searcher.probed = SimpleNamespace(host=hosts[0], reachable=tried[0], reason=tried[1]) if tried else None

    told = about(team)

    assert told.leaves == leaves
    assert told.cells[1].value == searches
    assert ("could not be reached" in told.documents) == bool(tried)


def test_a_model_provider_is_named_beside_the_search(tmp_path):
    from agents.api.app_state import about

    team = make_team(tmp_path, library=(tmp_path,))
    team.searcher.destinations = ("search.example",)
    told = about(team)
    assert told.leaves.startswith("Search words go to search.example")
    assert told.cells[2].value == "Search words, questions and passages"


@pytest.mark.parametrize(
    ("model", "variable", "address", "leaves"),
    [
        ("openai/qwen", "OPENAI_API_BASE", "http://127.0.0.1:8080/v1", False),
        ("openai/qwen", "OPENAI_API_BASE", "http://[::1]:8080/v1", False),
        ("openai/gpt-4o", "OPENAI_API_BASE", "http://127.0.0.1:4000/v1", False),
        ("openai/qwen", "OPENAI_API_BASE", "http://models.example/v1", True),
        ("ollama/llama3", "", "", False),
        ("ollama/llama3", "OLLAMA_API_BASE", "http://models.example:11434", True),
        ("anthropic/claude-sonnet-4-5", "", "", True),
    ],
)
def test_nothing_leaves_for_a_model_on_this_computer(tmp_path, monkeypatch, model, variable, address, leaves):
    from agents.api.app_state import about
    from agents.core.settings import load
    from agents.team import open_team

    for name, value in {
        "DOSSIER_MODEL": model,
        "RETRIEVER": "library",
        "ANTHROPIC_API_KEY": "k" * 30,
        "OPENAI_API_KEY": "none",
    }.items():
        monkeypatch.setenv(name, value)
    if variable:
        monkeypatch.setenv(variable, address)
    team = open_team(load(tmp_path / "none"))
    told = about(team)
    assert ("Nothing leaves" not in told.leaves) == leaves
    assert told.cells[2].value == ("Questions and passages" if leaves else "Nothing")
    # What is called like a model with a price may be a way to that model.
    here = "On this computer" if model == "openai/gpt-4o" else "Free, on this computer"
    assert told.cells[0].note == (f"Asked at {address or 'Anthropic'}" if leaves else here)
    assert (team.drafts.usual().cost_usd == 0) == told.cells[0].note.startswith("Free")


def test_who_is_asked_when_a_model_fails_is_named_beforehand(tmp_path, monkeypatch):
    from agents.api.app_state import about
    from agents.core.settings import Settings
    from agents.team import open_team

    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "k-0123456789abcdef")
    monkeypatch.setenv("DOSSIER_MODEL", "openai/gpt-5.2")
    team = open_team(Settings(data_dir=tmp_path))

    assert team.engine.names == ("openai/gpt-5.2",)
    assert "go to OpenAI. Where that fails, they go to Anthropic." in about(team).leaves


async def test_sentences_are_marked_with_their_verdicts(chat, http):
    from agents.api.reports import fragment

    job = await run_job(chat)
    told = fragment(judged(job.report, 0, "partly"))

    assert '<span data-verdict="partly">' in told["html"]
    assert told["html"].count("<span data-verdict") == told["html"].count("</span>")
    assert not any(0xE01F <= ord(char) <= 0xE02F for char in told["html"])
    assert told["counts"]["judged"] >= 1
