"""Every path that opens an address, against every way of writing one that leads inside, with a server that must stay unread."""

import asyncio
import contextlib
import socket

import httpcore2
import pytest

from agents.contracts.sources import Hit, SearchQuery, SearchResult
from agents.core.errors import SourceError
from agents.report.formats import FORMS
from agents.search.chain import Chain
from agents.search.pages import WebPages
from agents.web.fetching import Fetcher
from agents.web.guard import AllowedHosts, Guard
from tests.edge.test_guard import MORE_NAMES, MORE_REFUSED, NAMES, ROWS, STAND_IN, StubNames, no_wait
from tests.unit import report_world

HERE = (
    "127.0.0.1", "localhost", "LOCALHOST.", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "017700000001", "0.0.0.0", "0",
    "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "１２７.０.０.１", "①②⑦.0.0.1",
    "127。0。0。1", "%31%32%37.0.0.1", "user@127.0.0.1", "loop.rebind.example", "flip.rebind.example", "mapped.rebind.example",
)  # fmt: skip
"""Ways to write this machine; with the port of the server that must stay unread they are real attacks."""
TABLE = [row["url"] for row in ROWS if row["expect"] == "refuse"] + MORE_REFUSED


class Wire(httpcore2.AsyncNetworkBackend):
    """Opens real sockets, to this machine only, and notes all that were asked for."""

    def __init__(self):
        self.inner, self.dialled = httpcore2.AnyIOBackend(), []

    async def connect_tcp(self, host, port, *rest, **options):
        self.dialled.append((host, port))
        if host != "127.0.0.1":
            raise httpcore2.ConnectError("not from here")
        return await self.inner.connect_tcp(host, port, *rest, **options)


class World:
    """A server on loopback that the honest names of `.honest.example` lead to, and one beside it that none may reach."""

    def __init__(self):
        self.reached, self.pages, self.wire = [], {}, Wire()

    async def honest(self, reader, writer):
        path = (await reader.readline()).decode().split()[1]
        while (await reader.readline()).strip():
            pass
        status, headers, body = self.pages.get(path, ("404 Not Found", "", ""))
        writer.write(
            f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nConnection: close\r\n{headers}\r\n{body}".encode()
        )
        await writer.drain()
        writer.close()

    async def inside(self, reader, writer):
        self.reached.append(await reader.readline())
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nsecret")
        await writer.drain()
        writer.close()

    def leads_to(self, url):
        self.pages |= {"/moved": ("302 Found", f"Location: {url}\r\n", "")}
        self.pages["/framing"] = ("200 OK", "", f'<title>x</title><iframe src="{url}"></iframe>')
        self.pages["/opening"] = ("200 OK", "", f'<meta http-equiv="refresh" content="0; url={url}">')

    @property
    def strays(self):
        """Where sockets were opened to that are neither the honest server nor the stand-in for the open Internet."""
        open_net = STAND_IN.rpartition(".")[0] + "."
        return [to for to in self.wire.dialled if to != ("127.0.0.1", self.port) and not to[0].startswith(open_net)]


@pytest.fixture
async def world():
    world = World()
    honest = await asyncio.start_server(world.honest, "127.0.0.1", 0)
    inside = await asyncio.start_server(world.inside, "127.0.0.1", 0)
    world.port, secret = (one.sockets[0].getsockname()[1] for one in (honest, inside))
    guard = Guard(
        AllowedHosts.parse(f"*.honest.example=127.0.0.1:{world.port}"),
        StubNames(NAMES | MORE_NAMES),
        open_networks=[STAND_IN],
    )
    world.fetcher = Fetcher(guard=guard, backend=world.wire, sleep=no_wait, per_host_rate=1_000)
    world.attacks = [*TABLE, *(f"http://{host}:{secret}/secret" for host in HERE)]
    yield world
    await world.fetcher.aclose()
    honest.close()
    inside.close()


class Provider:
    """A search provider whose hits are what an attacker put into its index."""

    name, host, keyless = "poisoned", "poisoned.example", True

    def __init__(self, url):
        self.url = url

    async def search(self, query, deadline_s=None, *, attempts=None):
        hit = Hit.model_construct(
            url=self.url, title="Ferry days", snippet="Twelve days.", score=1.0, provider=self.name
        )
        return SearchResult.model_construct(query=query.text, provider=self.name, hits=(hit,), failures=())

    def page(self, url, *, whole=True):
        return None


def pages(world):
    return WebPages(world.fetcher)


PATHS = {
    "a page": lambda world, url: pages(world).read(url),
    "the links of a page": lambda world, url: pages(world).links(url),
    "a crawl from a page": lambda world, url: Chain((), pages(world)).crawl(url, 5),
    "a redirect": lambda world, url: pages(world).read("http://a.honest.example/moved"),
    "a document that a page frames": lambda world, url: pages(world).read("http://a.honest.example/framing"),
    "a page that opens another": lambda world, url: pages(world).read("http://a.honest.example/opening"),
}


@pytest.mark.parametrize("path", PATHS)
async def test_no_path_opens_a_socket_to_an_address_inside(path, world):
    for url in world.attacks:
        world.leads_to(url.replace("\r\n", "%0d%0a") if "\r" in url else url)
        with contextlib.suppress(SourceError):  # a page that only leads there is refused, or read without
            await PATHS[path](world, url)
        assert world.strays == [], url

    assert world.reached == []


async def test_what_a_search_provider_names_is_judged_like_any_other_address(world):
    for url in world.attacks:
        chain = Chain((Provider(url),), pages(world))
        found = await chain.search(SearchQuery(text="ferry days"))
        with pytest.raises(SourceError):
            await chain.read(found.hits[0].url)

    assert (world.strays, world.reached) == ([], [])


async def test_rules_of_a_site_that_lead_inside_are_not_followed(world):
    world.pages["/page"] = ("200 OK", "", f"<p>{'The ferry was closed on twelve days. ' * 20}</p>")
    for number, url in enumerate(world.attacks):
        if "\r" not in url:
            world.pages["/robots.txt"] = ("302 Found", f"Location: {url}\r\n", "")
            assert "twelve days" in (await pages(world).read(f"http://s{number}.honest.example/page")).text

    assert (world.strays, world.reached) == ([], [])


@pytest.mark.parametrize("form", FORMS)
def test_no_export_fetches_or_offers_an_address_inside(form, monkeypatch):
    opened = []
    monkeypatch.setattr(socket.socket, "connect", lambda self, address: opened.append(address))
    urls = ["http://127.0.0.1:9/secret", "file:///etc/passwd", "http://169.254.169.254/latest/", "javascript:alert(1)"]
    images = " ".join(f"![x]({url}) [y]({url}) <img src='{url}'>" for url in urls)
    finding = report_world.CLOSURES.model_copy(
        update={"markdown": f"It closed on twelve days {images} [#{report_world.F1.id}]."}
    )
    top = report_world.TOP.model_copy(update={"children": (finding, report_world.OTHERS)})

    written = FORMS[form].write(report_world.document(findings=(top,)))

    assert opened == []
    for trap in (b'src="file:', b'href="file:', b'href="javascript:', b"/URI (file:", b"/URI (javascript:", b"![x]("):
        assert trap not in written
