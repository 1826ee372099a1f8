"""From a hit to a source: pages read from a server on loopback, through the guard."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from agents.contracts.sources import Source
from agents.core.errors import SourceError
from agents.search.chain import Chain
from agents.search.pages import ABSTRACT, PageCache, WebPages
from agents.web.decoding import Document
from agents.web.fetching import Fetcher
from agents.web.guard import AllowedHosts
from agents.web.url_key import canonical

TEXT = "In the winter of 2021 the line between Telmar and Brindle was closed for twelve days because of ice. " * 6
PAGE = f"""<!doctype html><html lang="en"><head><title>Ice on the line</title>
<meta property="article:published_time" content="2022-03-04"></head>
<body><nav>Home</nav><article><h1>Ice on the line</h1><p>{TEXT}</p></article></body></html>"""
CAPTCHA = "<html><head><title>Just a moment...</title></head><body><p>Verify you are human. Captcha.</p></body></html>"


@pytest.fixture
async def pages(httpserver: HTTPServer) -> AsyncIterator[WebPages]:
    fetcher = Fetcher(AllowedHosts.parse(f"{httpserver.host}:{httpserver.port}"))
    httpserver.expect_request("/robots.txt").respond_with_data("", status=404)
    yield WebPages(fetcher, date=lambda: "2026-01-01T00:00:00+00:00")
    await fetcher.aclose()


async def test_a_page_becomes_a_source(httpserver, pages):
    httpserver.expect_request("/ice").respond_with_data(PAGE, content_type="text/html")
    url = httpserver.url_for("/ice")

    source = await pages.read(f"{url}?utm_source=letter", 10)

    assert (source.kind, source.title, source.published) == ("web", "Ice on the line", "2022-03-04")
    assert source.id == Source.id_of(canonical(url))
    assert source.retrieved == "2026-01-01T00:00:00+00:00"
    assert "twelve days" in source.text
    assert "Home" not in source.text


async def test_the_address_is_the_one_where_the_page_really_was(httpserver, pages):
    httpserver.expect_request("/ice").respond_with_data(PAGE, content_type="text/html")
    httpserver.expect_request("/old").respond_with_response(Response("", 302, {"Location": "/ice"}))

    old, new = await pages.read(httpserver.url_for("/old")), await pages.read(httpserver.url_for("/ice"))

    assert old.url == httpserver.url_for("/ice")
    assert old.id == new.id


@pytest.mark.parametrize(
    ("header", "value", "asks"),
    [
        ("ETag", '"v1"', "If-None-Match"),
        ("Last-Modified", "Mon, 02 Nov 2026 12:00:00 GMT", "If-Modified-Since"),
    ],
)
async def test_a_page_that_is_known_is_sent_again_only_where_it_changed(httpserver, pages, header, value, asks):
    now = [(PAGE, value)]

    def answer(request):
        page, version = now[-1]
        same = request.headers.get(asks) == version
        return Response("" if same else page, 304 if same else 200, {header: version}, content_type="text/html")

    httpserver.expect_request("/ice").respond_with_handler(answer)
    httpserver.expect_request("/moved").respond_with_response(Response("", 302, {"Location": "/ice"}))
    first = await pages.read(httpserver.url_for("/ice"), 10)
    card = first.model_copy(update={"retrieved": "2020-01-01T00:00:00+00:00"})

    assert await pages.read(first.url, 10, card) == first
    assert httpserver.log[-1][1].status_code == 304
    assert (await pages.read(httpserver.url_for("/moved"), 10, card)).text == first.text
    assert httpserver.log[-1][1].status_code == 200, "what a redirect leads to is another address"
    now.append((PAGE.replace("twelve", "nine"), '"v2"'))
    assert "nine days" in (await pages.read(first.url, 10, card)).text
    assert "nine days" in (await pages.read(first.url, 10)).text


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Response(CAPTCHA, content_type="text/html"), "a check against robots"),
        (Response("", 404), "no such page"),
        (Response("  ", content_type="text/plain"), "no text"),
    ],
)
async def test_what_is_no_text_is_refused_with_the_reason(httpserver, pages, answer, reason):
    httpserver.expect_request("/wall").respond_with_response(answer)

    with pytest.raises(SourceError, match=reason):
        await pages.read(httpserver.url_for("/wall"), 10)


async def test_a_private_address_is_not_read(pages):
    with pytest.raises(SourceError):
        await pages.read("http://127.0.0.1:1/", 5)


def test_a_wall_that_came_with_a_hit_is_not_kept():
    kept: Any = PageCache()
    wall = "Verify you are human. Please complete the captcha to continue. " * 8

    kept.put("https://a.example/", Document("Just a moment...", wall), provider="tavily", whole=True)

    assert kept.get("https://a.example/", whole=True) is None


def test_an_abstract_does_not_take_the_place_of_the_page():
    kept = PageCache()
    kept.put("https://a.example/", Document("A", TEXT), provider="tavily", whole=True)
    kept.put("https://a.example/", Document("A", "Short."), provider="tavily", whole=False)

    source = kept.get("https://a.example/", whole=True)

    assert source is not None
    assert source.text == TEXT.strip()


async def test_a_text_that_came_with_a_hit_is_taken_for_the_page_and_an_abstract_for_a_closed_one(httpserver, pages):
    httpserver.expect_request("/closed").respond_with_data("", status=402)
    sent, closed = "https://a.example/", httpserver.url_for("/closed")
    pages.sent.put(sent, Document("A", TEXT), provider="tavily", whole=True)
    pages.sent.put(closed, Document("B", "Ice grows."), provider="openalex", whole=False)

    assert (await pages.read(sent, 5)).text == TEXT.strip()
    abstract = await pages.read(closed, 5)
    assert (abstract.text, abstract.tags[0]) == ("Ice grows.", ABSTRACT)


async def test_the_chain_reads_a_page_that_no_provider_sent(httpserver, pages):
    httpserver.expect_request("/ice").respond_with_data(PAGE, content_type="text/html")

    source = await Chain([], pages).read(httpserver.url_for("/ice"), 10)

    assert source.title == "Ice on the line"
