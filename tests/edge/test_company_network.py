"""A stranger behind a company's proxy, whose only model thinks aloud on a small window, asks once and gets a report."""

import json
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest

from agents.core import transport
from agents.core.settings import load
from agents.llm.litellm_model import close
from agents.research.scoping.turn import ScopingState
from agents.team import open_team
from tests.edge.test_web_world import KEY, QUESTION, SEARCH_KEY, served

WINDOW, THOUGHT = 8_192, 1_200
DRAFT = "Draft that nobody may read: 999 boats. "

__all__ = ["served"]


class Proxy(BaseHTTPRequestHandler):
    """The only way out: it knows names that nobody else does, and stands before a model that thinks on a small window."""

    hosts: dict[str, str]
    asked: set[str]
    refused: list[str]

    def do_GET(self):
        self.do_POST()

    def do_POST(self):
        target = urlsplit(self.path)
        host = target.hostname or ""
        self.asked.add(host)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if host == "models.example.org":
            status, said = self.thought(json.loads(body), target.path)
        else:
            status, said = self.told(self.hosts.get(host, self.hosts[""]), target, body, host)
        self.send_response(status)
        self.send_header("Content-Type", "application/json" if said[:1] == b"{" else "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def thought(self, asked, path):
        """Answer as a model that thinks first, in as much room as its window leaves."""
        read, room = (
            len(json.dumps(asked["messages"])) // 4,
            asked.get("max_tokens") or asked.get("max_completion_tokens") or 0,
        )
        if read + room > WINDOW:
            self.refused.append("window")
            said = (
                f"This model's maximum context length is {WINDOW} tokens. However, you requested {read + room} tokens."
            )
            return 400, json.dumps({"error": {"message": said, "code": "context_length_exceeded"}}).encode()
        asked |= {"stream": False}
        asked.pop("stream_options", None)
        status, said = self.told(self.hosts["models.example.org"], urlsplit(path), json.dumps(asked).encode(), "")
        if status != 200:
            return status, said
        answer = json.loads(said)
        choice, used = answer["choices"][0], answer["usage"]
        needed = THOUGHT + len(choice["message"]["content"] or "") // 4
        if needed > room:
            self.refused.append("room")
            choice["message"]["content"], choice["finish_reason"], needed = "<think>" + DRAFT * 20, "length", room
        else:
            choice["message"]["content"] = f"<think>{DRAFT * 20}</think>\n{choice['message']['content']}"
        used |= {"prompt_tokens": read, "completion_tokens": needed, "total_tokens": read + needed}
        return 200, json.dumps(answer).encode()

    def told(self, base, target, body, host):
        """Ask the mock world in the name of a host."""
        address = base + target.path + (f"?{target.query}" if target.query else "")
        kept = {name: self.headers[name] for name in ("Authorization", "Content-Type") if self.headers[name]}
        request = urllib.request.Request(address, data=body or None, headers=kept | ({"Host": host} if host else {}))
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=20) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def log_message(self, *said):
        """Be quiet."""


@pytest.fixture
def proxy(served):
    web = served.urls["web_url"]
    Proxy.hosts = {"": web, "search.example.org": web, "models.example.org": served.urls["llm_url"].removesuffix("/v1")}
    Proxy.asked, Proxy.refused = set(), []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


async def test_a_stranger_behind_a_proxy_with_a_thinking_model_on_a_small_window_gets_a_report(
    proxy, served, tmp_path, monkeypatch
):
    served.forget()
    for name in ("HTTPS_PROXY", "ALL_PROXY", "https_proxy", "all_proxy", "DOSSIER_ALLOW_PRIVATE_HOSTS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {
        "HTTP_PROXY": proxy, "http_proxy": proxy, "NO_PROXY": "", "no_proxy": "", "OPENAI_API_KEY": KEY,
        "OPENAI_API_BASE": "http://models.example.org/v1", "DOSSIER_MODEL": "openai/sim", "TAVILY_API_KEY": SEARCH_KEY,
        "RETRIEVER": "tavily", "TAVILY_API_BASE": "http://search.example.org", "DOSSIER_DATA_DIR": str(tmp_path / "data"),
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    transport.prepare()
    team = open_team(load())
    try:
        settled = await team.settle(ScopingState(minutes=1.0), QUESTION)
        job = await team.start(settled.contract)
        await job.wait()
    finally:
        await team.close()
        await close()

    assert job.report is not None, job.notice
    assert job.report.grade in ("complete", "partial")
    assert len(job.report.references) >= 2
    assert "room" in Proxy.refused
    assert {"models.example.org", "search.example.org"} < Proxy.asked  # and the hosts of pages
    assert "999 boats" not in job.report.markdown
