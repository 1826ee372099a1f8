"""Behind a company's proxy: models, search and pages go through it, the guard against addresses inside stays, and what
is in the way is explained."""

import asyncio
import json
import ssl
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from pydantic import SecretStr

from agents.contracts.frozen import Frozen, Text
from agents.contracts.sources import SearchQuery
from agents.core import transport
from agents.core.errors import ConfigError, ModelError, SearchError, SourceError
from agents.core.role import Message, Request
from agents.core.settings import load
from agents.llm.litellm_model import LiteLLMModel, close
from agents.search.provider import Access
from agents.search.tavily import Tavily
from agents.search.web_providers import WEB
from agents.web.fetching import Fetcher

PAGE = "<html><head><title>The ferry</title></head><body><p>The ferry of Orvelle runs each day.</p></body></html>"
ANSWER = {
    "id": "x", "object": "chat.completion", "created": 1, "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": '{"reply": "Yes."}'}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
}  # fmt: skip


class Reply(Frozen):
    reply: Text


@dataclass
class Proxy:
    """A proxy on loopback that answers for all hosts itself, and keeps what it was asked."""

    port: int = 0
    wants: str = ""
    asked: list[str] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if head := (await reader.readuntil(b"\r\n\r\n")).decode():
            method, target, _ = head.split(" ", 2)
            self.asked.append(f"{method} {target}")
            length = [line.partition(":")[2] for line in head.splitlines() if line.lower().startswith("content-length")]
            await reader.readexactly(int(length[0]) if length else 0)
            if self.wants and self.wants not in head:
                body, status = b"", "407 Proxy Authentication Required"
            elif target.endswith("/chat/completions"):
                body, status = json.dumps(ANSWER).encode(), "200 OK"
            elif target.endswith("/search"):
                body, status = (
                    json.dumps({"results": [{"url": "https://a.example/", "title": "A", "content": "x"}]}).encode(),
                    "200 OK",
                )
            elif target.endswith("robots.txt"):
                body, status = b"", "404 Not Found"
            else:
                body, status = PAGE.encode(), "200 OK"
            kind = "application/json" if body[:1] == b"{" else "text/html"
            writer.write(
                f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
                + body
            )
            await writer.drain()


@asynccontextmanager
async def proxy(wants: str = "") -> AsyncIterator[Proxy]:
    one = Proxy(wants=wants)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await one.serve(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    one.port = server.sockets[0].getsockname()[1]
    try:
        yield one
    finally:
        server.close()


@pytest.fixture
def through(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Set the variables of a network, and read them as the program does when it starts."""

    def put(**values: str) -> None:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE"):
            monkeypatch.delenv(name, raising=False)
            monkeypatch.setenv(name.lower(), "")
            monkeypatch.delenv(name.lower())
        for name, value in values.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("NO_PROXY", values.get("NO_PROXY", ""))
        monkeypatch.setenv("no_proxy", values.get("NO_PROXY", ""))
        transport.prepare()

    return put


@pytest.fixture(autouse=True)
async def closed() -> AsyncIterator[None]:
    yield
    await close()


@pytest.fixture
def own_certificate(tmp_path: Path) -> tuple[Path, Path]:
    key, certificate = tmp_path / "key.pem", tmp_path / "own.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(certificate),
         "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
        check=True, capture_output=True,
    )  # fmt: skip
    return key, certificate


def resolving(**names: str) -> Callable[[str, int], object]:
    async def resolve(host: str, port: int) -> list[str]:
        if host not in names:
            raise OSError("no such name here")
        return [names[host]]

    return resolve


def model(base: str) -> LiteLLMModel:
    return LiteLLMModel("openai/m", schema_note=str, api_base=base, retries=1)


def question() -> Request:
    return Request("manager", (Message("user", "Hello?"),), Reply(reply="x"), Reply, 10.0, 100)


async def test_models_search_and_pages_go_through_the_proxy_and_names_that_only_it_knows_are_left_to_it(through):
    async with proxy() as way:
        through(HTTP_PROXY=f"http://127.0.0.1:{way.port}")
        fetcher = Fetcher(resolver=resolving())
        page = await fetcher.fetch("http://ferry.example.org/day")
        reply = await model("http://models.example.org/v1").reply(question())
        search = Tavily(WEB["tavily"], Access(base="http://search.example.org", key=SecretStr("tvly-FAKE0000FAKE")))
        found = await search.search(SearchQuery(text="ferry"))
        await fetcher.aclose()
        await search.close()
    assert page.body.decode() == PAGE
    assert reply.text == '{"reply": "Yes."}'
    assert found.hits
    assert {line.partition(" ")[2] for line in way.asked} >= {
        "http://ferry.example.org/day", "http://models.example.org/v1/chat/completions", "http://search.example.org/search",
    }  # fmt: skip


@pytest.mark.parametrize(
    "address",
    [
        "http://169.254.169.254/latest",
        "http://10.0.0.7/",
        "http://intranet/",
        "http://localhost:8080/",
        "http://sly.example.org/",
    ],
)
async def test_no_address_inside_is_asked_of_the_proxy(through, address):
    async with proxy() as way:
        through(HTTP_PROXY=f"http://127.0.0.1:{way.port}", ALL_PROXY=f"http://127.0.0.1:{way.port}")
        fetcher = Fetcher(resolver=resolving(**{"sly.example.org": "10.0.0.7"}))
        with pytest.raises(SourceError, match="private network"):
            await fetcher.fetch(address)
        await fetcher.aclose()
    assert not way.asked


async def test_what_no_proxy_names_and_this_machine_itself_are_reached_directly(through, httpserver):
    httpserver.expect_request("/v1/chat/completions").respond_with_json(ANSWER)
    async with proxy() as way:
        through(HTTP_PROXY=f"http://127.0.0.1:{way.port}", NO_PROXY="example.net")
        assert (await model(httpserver.url_for("/v1").replace("localhost", "127.0.0.1")).reply(question())).text
        fetcher = Fetcher(resolver=resolving())
        with pytest.raises(SourceError, match="looked up"):
            await fetcher.fetch("http://page.example.net/")
        await fetcher.aclose()
    assert not way.asked


async def test_a_proxy_that_wants_a_name_is_explained_for_models_search_and_pages(through):
    async with proxy(wants="Proxy-Authorization: Basic") as way:
        through(HTTP_PROXY=f"http://127.0.0.1:{way.port}")
        fetcher = Fetcher(resolver=resolving())
        with pytest.raises(SourceError, match="the proxy on the way wants a name and a password"):
            await fetcher.fetch("http://ferry.example.org/day")
        with pytest.raises(ModelError) as of_model:
            await model("http://models.example.org/v1").reply(question())
        with pytest.raises(ModelError, match="407") as of_other:
            await LiteLLMModel("anthropic/m", schema_note=str, api_base="http://other.example.org", retries=0).reply(
                replace(question(), deadline_s=None)
            )  # the library behind it may take long to load
        assert "HTTPS_PROXY" in of_other.value.notice and "status" not in of_other.value.notice
        search = Tavily(WEB["tavily"], Access(base="http://search.example.org", key=SecretStr("tvly-FAKE0000FAKE")))
        with pytest.raises(SearchError) as of_search:
            await search.search(SearchQuery(text="ferry"))
        assert "HTTPS_PROXY as http://name:password@host:port" in of_model.value.notice
        assert "HTTPS_PROXY as http://name:password@host:port" in of_search.value.notice
        assert sum(one.endswith("/search") for one in way.asked) == 1, "what the user must mend was tried again"
        through(HTTP_PROXY=f"http://me:secret@127.0.0.1:{way.port}")
        fetcher = Fetcher(resolver=resolving())
        assert (await fetcher.fetch("http://ferry.example.org/day")).body
        assert "secret" not in "\n".join(transport.lines())


async def test_a_socks_proxy_is_used_where_its_package_is_installed_and_explained_where_it_is_not(through, monkeypatch):
    asked: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(3)
        writer.write(b"\x05\x00")
        head = await reader.readexactly(5)
        asked.append(await reader.readexactly(head[4] + 2))
        writer.write(b"\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00")
        await reader.readuntil(b"\r\n\r\n")
        writer.write(
            f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(PAGE)}\r\n\r\n{PAGE}".encode()
        )
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    address = f"socks://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    through(ALL_PROXY=address)
    fetcher = Fetcher(resolver=resolving())
    assert (await fetcher.fetch("http://ferry.example.org/day")).body.decode() == PAGE
    await fetcher.aclose()
    server.close()
    assert asked[0].startswith(b"ferry.example.org")

    monkeypatch.setattr("agents.core.transport.importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pip install 'dossier\[socks\]'"):
        transport.prepare()


def test_what_is_no_proxy_or_no_file_is_refused_in_one_line_without_its_password(through, monkeypatch, tmp_path):
    with pytest.raises(ConfigError, match="'ftp://host:1' is no proxy") as caught:
        through(ALL_PROXY="ftp://me:secret@host:1")
    assert "secret" not in str(caught.value)
    with pytest.raises(ConfigError, match="'http://host:x' is no proxy"):
        through(ALL_PROXY="http://me:secret@host:x")
    monkeypatch.delenv("ALL_PROXY")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    with pytest.raises(ConfigError, match="there is no file"):
        load(tmp_path / "no.env")


async def test_a_companys_own_certificate_is_explained_and_believed_once_it_is_named(
    through, monkeypatch, own_certificate
):
    key, certificate = own_certificate
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = json.dumps(ANSWER).encode()
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        )
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    base = f"https://localhost:{server.sockets[0].getsockname()[1]}/v1"
    through()
    with pytest.raises(ModelError) as caught:
        await model(base).reply(question())
    assert "set SSL_CERT_FILE to the company's certificates" in caught.value.notice
    await close()
    through(REQUESTS_CA_BUNDLE=str(certificate))
    try:
        assert (await model(base).reply(question())).text
    finally:
        monkeypatch.setenv("SSL_CERT_FILE", "")
        server.close()


@pytest.mark.parametrize(
    ("beside", "host"),
    [("10.0.0.0/8", "10.1.2.3"), ("fd00::/8", "fd00::5"), ("*.corp.example", "wiki.corp.example"), ("*", "a.example"),
     (".corp.example", "wiki.corp.example"), ("a.example:443", "a.example"), ("a.example;b.example", "b.example"),
     ("a.example b.example", "b.example"), ("<local>", "intranet"), ("10.*", "10.1.2.3"), ("A.Example", "a.example"),
     (".пример.рф:443", "www.xn--e1afmkfd.xn--p1ai"), ("xn--e1afmkfd.xn--p1ai", "Пример.рф"), ("a.example.", "a.example")],
)  # fmt: skip
def test_what_is_reached_without_a_proxy_is_read_in_each_way_that_people_write_it(through, beside, host):
    through(HTTPS_PROXY="http://px.example:3128", NO_PROXY=beside)
    assert transport.proxy_for("https", host) == ""
    assert transport.proxy_for("https", "other.org") == ("" if beside == "*" else "http://px.example:3128")


@pytest.mark.parametrize("proxy", ["http://u:p@ss@px:3128", "http://u:p#ss@px:3128", "http://u:p/ss@px:3128"])
def test_no_password_of_a_proxy_is_shown_whatever_signs_it_holds(proxy):
    assert transport.shown(proxy) == "http://px:3128"


@pytest.mark.parametrize("content", [b"", b"\x30\x82junk", b"<html>Sign in</html>"])
def test_a_file_without_certificates_is_told_in_one_line(through, monkeypatch, tmp_path, content):
    (tmp_path / "own.pem").write_bytes(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "own.pem"))
    with pytest.raises(ConfigError, match="no certificates in PEM form"):
        transport.prepare()
