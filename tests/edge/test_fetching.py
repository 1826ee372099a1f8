"""Fetching against servers that are slow, broken, hostile, or polite and asking for the same."""

import asyncio
import gzip
import json
import time
import tracemalloc
import zlib
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agents.core.errors import SourceError
from agents.core.transport import retry_after_s
from agents.web.fetching import Fetcher
from agents.web.guard import AllowedHosts
from agents.web.read_page import read_page

CASE = Path(__file__).parent.parent / "data" / "cases" / "C31"
BEHAVIOURS = [one["name"] for one in json.loads((CASE / "server_behaviours.json").read_text("utf-8"))]
PAGE = b"<p>The ferry line was closed on twelve days.</p>"
NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)


class Site:
    """A server on loopback that answers each path as a test says; all names of `.example` lead to it."""

    def __init__(self):
        self.behaviours, self.asked, self.at_once, self.most_at_once = {}, [], 0, 0

    async def serve(self, reader, writer):
        try:
            while line := (await reader.readline()).decode():
                headers = {}
                while (header := (await reader.readline()).decode().strip()) != "":
                    name, _, value = header.partition(":")
                    headers[name.lower()] = value.strip()
                path = line.split()[1]
                self.asked.append((time.monotonic(), headers["host"].partition(":")[0], path, headers))
                self.at_once += 1
                self.most_at_once = max(self.most_at_once, self.at_once)
                try:
                    await self.behaviours.get(path, not_found)(writer)
                    await writer.drain()
                finally:
                    self.at_once -= 1
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    def paths(self):
        return [path for _, _, path, _ in self.asked if path != "/robots.txt"]


def answering(body=PAGE, status="200 OK", kind="text/html", **headers):
    async def behave(writer):
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", f"Content-Type: {kind}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    return behave


not_found = answering(b"", "404 Not Found")


def one_after_another(*behaviours):
    left = list(behaviours)

    async def behave(writer):
        await (left.pop(0) if len(left) > 1 else left[0])(writer)

    return behave


def starting(head, each, pause_s):
    async def behave(writer):
        writer.write(head)
        while not writer.is_closing():
            writer.write(each)
            await writer.drain()
            await asyncio.sleep(pause_s)

    return behave


async def silent(writer):
    await asyncio.sleep(30)


async def reset(writer):
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nThe ferry")
    await writer.drain()
    writer.transport.abort()


CHUNK = b"100000\r\n" + b"x" * 1_048_576 + b"\r\n"
HOSTILE = {
    "inflates": answering((CASE / "bomb_64MiB.html.gz").read_bytes(), Content_Encoding="gzip"),
    "endless": starting(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", CHUNK, 0.002),
    "drip": starting(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", b"x", 0.1),
    "silent": silent,
    "huge_length": starting(b"HTTP/1.1 200 OK\r\nContent-Length: 5000000000\r\n\r\n", b"x" * 1_024, 30),
    "big_headers": answering(**{f"X-{number}": "y" for number in range(2_000)}),
    "reset": reset,
    "redirect_loop": answering(b"", "302 Found", Location="/redirect_loop_b"),
    "video": starting(b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n", b"x" * 65_536, 0.01),
}
REASONS = {
    "inflates": "it is too large (> 5 MiB)",
    "endless": "it is too large (> 5 MiB)",
    "drip": "it took too long (1.5 s)",
    "silent": "it took too long (1.5 s)",
    "huge_length": "it is too large (> 5 MiB)",
    "big_headers": "its server does not keep to the rules of HTTP",
    "reset": "the connection broke off",
    "redirect_loop": "it redirects in a circle",
    "video": "it is a video, not a text",
}


@pytest.fixture
async def site():
    site = Site()
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0)
    site.port = server.sockets[0].getsockname()[1]
    yield site
    server.close()


@pytest.fixture
def fetcher_for(site):
    @asynccontextmanager
    async def build(**options):
        waits = options.pop("waits", [])

        async def sleep(seconds):
            waits.append(seconds)

        allowed = AllowedHosts.parse(f"*.example=127.0.0.1:{site.port}")
        usual = {"sleep": sleep, "now": lambda: NOON, "spread": lambda: 0.5, "per_host_rate": 1_000}
        fetcher = Fetcher(allowed, **(usual | options))
        yield fetcher
        await fetcher.aclose()

    return build


async def reason(fetcher, url):
    with pytest.raises(SourceError) as caught:
        await fetcher.fetch(url)
    assert caught.value.url == url
    return caught.value.reason


async def test_hostile_servers_cost_their_own_limit_and_nothing_else(site, fetcher_for):
    site.behaviours = {f"/{name}": behave for name, behave in HOSTILE.items()} | {"/page": answering()}
    site.behaviours["/redirect_loop_b"] = answering(b"", "302 Found", Location="/redirect_loop")
    lag = []

    async def watch():
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.01)
            lag.append(time.perf_counter() - before - 0.01)

    async with fetcher_for(total_s=1.5) as fetcher:
        started = time.perf_counter()
        watcher = asyncio.create_task(watch())
        bad = asyncio.gather(
            *(reason(fetcher, f"http://{name.replace('_', '-')}.example/{name}") for name in BEHAVIOURS)
        )
        good = asyncio.gather(*(fetcher.fetch(f"http://good{number}.example/page") for number in range(5)))
        pages = await good
        read_s = time.perf_counter() - started
        reasons = dict(zip(BEHAVIOURS, await bad, strict=True))
        took = time.perf_counter() - started
        watcher.cancel()

    assert reasons == REASONS
    assert [page.body for page in pages] == [PAGE] * 5
    assert read_s < took, "pages that answer are not held up by those that do not"
    assert took < 1.5 * len(BEHAVIOURS) / 2, "hostile servers are waited for side by side"
    assert max(lag) < 1.5, "no answer holds up the loop"


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_what_inflates_is_stopped_while_it_is_unpacked(site, fetcher_for, encoding):
    pack = {"gzip": gzip, "deflate": zlib}[encoding].compress
    site.behaviours["/"] = answering(pack(b"0" * (64 * 2**20), 1), Content_Encoding=encoding)

    async with fetcher_for() as fetcher:
        await reason(fetcher, "http://warm.example/nothing")
        tracemalloc.start()
        assert await reason(fetcher, "http://a.example/") == "it is too large (> 5 MiB)"
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()

    assert peak < 10 * 2**20


async def test_a_page_is_read_with_what_its_server_says_of_it(site, fetcher_for):
    site.behaviours["/old page"] = site.behaviours["/old%20page"] = answering(b"", "301 Moved", Location="new?a=ü")
    site.behaviours["/new?a=%C3%BC"] = answering(
        gzip.compress(PAGE), Content_Encoding="gzip", ETag="x", Set_Cookie="a=1"
    )

    async with fetcher_for() as fetcher:
        found = await fetcher.fetch(" http://a.example/old page#part")
        await fetcher.fetch("http://a.example/new?a=%C3%BC")

    assert found.body == PAGE
    assert found.final_url == "http://a.example/new?a=%C3%BC"
    assert found.content_type == "text/html"
    assert "cookie" not in site.asked[-1][3]
    assert site.asked[-1][3]["user-agent"].startswith("Dossier/")


@pytest.mark.parametrize(
    ("behave", "said"),
    [
        (answering(b"", "403 Forbidden"), "it refused access (403)"),
        (answering(b"", "404 Not Found"), "there is no such page (404)"),
        (answering(b"", "451 No"), "it is not available here for legal reasons (451)"),
        (answering(b"", "418 Teapot"), "its server did not hand it out (418)"),
        (answering(b"", "302 Found"), "its server did not hand it out (302)"),
        (answering(b"x" * 6_000_000), "it is too large (> 5 MiB)"),
        (answering(kind="image/png"), "it is a picture, not a text"),
        (answering(Content_Encoding="br"), "it is compressed in a way that was not asked for"),
        (answering(b"nonsense", Content_Encoding="gzip"), "its compressed data is broken"),
        (answering(b"", "302 Found", Location="http://127.0.0.1/"), "its address leads into a private network"),
    ],
)
async def test_the_reason_is_for_a_reader(site, fetcher_for, behave, said):
    site.behaviours["/"] = behave

    async with fetcher_for() as fetcher:
        assert await reason(fetcher, "http://a.example/") == said

    assert site.paths() == ["/"]


@pytest.mark.parametrize(
    ("headers", "waited"),
    [
        ({}, [2.5, 4.5]),
        ({"Retry_After": "3"}, [3.25, 3.25]),
        ({"Retry_After": "Mon, 02 Nov 2026 12:00:07 GMT"}, [7.25, 7.25]),
        ({"Retry_After": "soon"}, [2.5, 4.5]),
    ],
)
async def test_passing_failures_are_tried_three_times_when_the_server_says(site, fetcher_for, headers, waited):
    site.behaviours["/"] = one_after_another(*[answering(b"", "503 Busy", **headers)] * 2, answering())
    waits = []

    async with fetcher_for(waits=waits) as fetcher:
        assert (await fetcher.fetch("http://a.example/")).body == PAGE

    assert [wait for wait in waits if wait in waited] == waited


async def test_a_connection_that_breaks_off_is_tried_again(site, fetcher_for):
    site.behaviours |= {"/": reset, "/once": one_after_another(reset, answering())}

    async with fetcher_for() as fetcher:
        assert await reason(fetcher, "http://a.example/") == "the connection broke off"
        assert (await fetcher.fetch("http://a.example/once")).body == PAGE

    assert site.paths() == ["/", "/", "/", "/once", "/once"]


async def test_three_attempts_are_all(site, fetcher_for):
    site.behaviours["/"] = answering(b"", "429 Slow down")

    async with fetcher_for() as fetcher:
        with pytest.raises(SourceError, match=r"no more requests for now \(429\)") as caught:
            await fetcher.fetch("http://a.example/")

    assert caught.value.retryable
    assert site.paths() == ["/"] * 3


async def test_nothing_waits_beyond_the_time_that_is_left(site, fetcher_for):
    site.behaviours["/"] = answering(b"", "503 Busy", Retry_After="3600")

    async with fetcher_for() as fetcher:
        assert await reason(fetcher, "http://a.example/") == "its server failed (503)"

    assert site.paths() == ["/"]


async def test_a_host_that_asks_for_a_long_pause_is_passed_over_and_holds_nobody_up(site, fetcher_for):
    site.behaviours |= {"/": answering(b"", "429 Slow down", Retry_After="86400"), "/other": answering()}

    async with fetcher_for() as fetcher:
        assert await reason(fetcher, "http://a.example/") == "it takes no more requests for now (429)"
        assert await reason(fetcher, "http://a.example/other") == "its server asked to be left alone for a while"
        assert (await fetcher.fetch("http://b.example/other")).body == PAGE

    assert site.paths() == ["/", "/other"]


async def test_a_packing_inside_a_packing_is_not_unpacked(site, fetcher_for):
    """Empty blocks of deflate, packed: the outer packing gives gigabytes, the inner one nothing that a limit could see."""
    inner = zlib.compressobj(9, zlib.DEFLATED, -15)
    empty = b"\x00\x00\x00\xff\xff" * 2_000_000
    inner_bytes = inner.compress(b"x") + inner.flush(zlib.Z_SYNC_FLUSH) + empty
    site.behaviours["/"] = answering(gzip.compress(inner_bytes), Content_Encoding="deflate, gzip")

    async with fetcher_for() as fetcher:
        started = time.thread_time()
        assert await reason(fetcher, "http://a.example/") == "it is compressed in a way that was not asked for"
    assert time.thread_time() - started < 0.5


async def test_a_deadline_ends_everything(site, fetcher_for):
    site.behaviours["/"] = silent

    async with fetcher_for() as fetcher:
        with pytest.raises(SourceError, match=r"it took too long \(0.2 s\)"):
            await read_page(fetcher, "http://a.example/", 0.2)


async def test_at_most_two_requests_are_at_a_host_and_waiting_in_line_costs_no_time(site, fetcher_for):
    async def slow(writer):
        await asyncio.sleep(0.2)
        await answering()(writer)

    site.behaviours["/"] = slow

    async with fetcher_for(total_s=1.5) as fetcher:
        pages = await asyncio.gather(*(fetcher.fetch("http://a.example/") for _ in range(20)))

    assert len(pages) == 20
    assert site.most_at_once == 2


async def test_a_host_is_asked_no_faster_than_its_rate(site, fetcher_for):
    site.behaviours["/"] = answering()

    async with fetcher_for(per_host_rate=10) as fetcher:
        for _ in range(25):  # two seconds' worth may come at once
            await fetcher.fetch("http://a.example/")

    times = [at for at, *_ in site.asked]
    assert times[-1] - times[0] >= 0.35


async def test_robots_txt_is_obeyed_and_asked_once(site, fetcher_for):
    rules = b"User-agent: *\nDisallow: /private/\nAllow: /private/open\n\nUser-agent: Other\nDisallow: /"
    site.behaviours |= {"/robots.txt": answering(rules), "/private/a": answering(), "/private/open": answering()}

    async with fetcher_for() as fetcher:
        said = await asyncio.gather(*(reason(fetcher, "http://a.example/private/a") for _ in range(5)))
        await fetcher.fetch("http://a.example/private/open")

    assert set(said) == {"robots.txt asks not to read it"}
    assert site.paths() == ["/private/open"]
    assert len(site.asked) == 2


@pytest.mark.parametrize("rules", [answering(b"", "500 No"), answering(b"", "403 No"), reset, answering(b"<html>")])
async def test_a_site_without_readable_rules_is_read(site, fetcher_for, rules):
    site.behaviours |= {"/robots.txt": rules, "/": answering()}

    async with fetcher_for() as fetcher:
        assert (await fetcher.fetch("http://a.example/")).body == PAGE


async def test_a_redirect_to_another_site_asks_for_its_rules(site, fetcher_for):
    site.behaviours["/"] = answering(b"", "302 Found", Location="http://b.example/closed")
    site.behaviours["/closed"] = answering()
    site.behaviours["/robots.txt"] = one_after_another(answering(b""), answering(b"User-agent: *\nDisallow: /closed"))

    async with fetcher_for() as fetcher:
        assert await reason(fetcher, "http://a.example/") == "robots.txt asks not to read it"

    assert site.paths() == ["/"]


async def test_a_cancelled_fetch_leaves_the_host_free(site, fetcher_for):
    site.behaviours |= {"/slow": silent, "/": answering()}

    async with fetcher_for() as fetcher:
        stuck = [asyncio.create_task(fetcher.fetch("http://a.example/slow")) for _ in range(2)]
        await asyncio.sleep(0.1)
        for task in stuck:
            task.cancel()
        await asyncio.gather(*stuck, return_exceptions=True)
        async with asyncio.timeout(30):
            assert (await fetcher.fetch("http://a.example/")).body == PAGE


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120), ("0", 0), ("Mon, 02 Nov 2026 12:01:00 GMT", 60), ("Mon, 02 Nov 2026 11:00:00 GMT", 0),
        ("", None), ("soon", None), ("-5", None), ("1.5", 1.5), ("Mon, 99 Nov 2026 12:00:00 GMT", None),
        ("9" * 40, 999_999_999),
    ],
)  # fmt: skip
def test_retry_after_is_seconds_or_a_date_or_nothing(value, seconds):
    assert retry_after_s(value, NOON) == seconds
