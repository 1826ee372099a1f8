"""From a page to others of its site: the links of its text, or a crawler where a key allows one."""

import pytest

from agents.contracts.sources import Hit
from agents.search.chain import Chain
from agents.search.searcher import SearchFailed
from agents.search.web_providers import Firecrawl
from agents.web.html_text import read_html
from tests.unit.test_chain import Fake, Pages

HUB = "https://board.example/reports/"
PAGE = """<html><body><nav><a href="/jobs">Jobs at the board</a></nav><main><h1>Reports</h1>
<p>See <a href="2023.html">the closures of 2023</a>, <a href="2023.html#table">its table</a>,
<a href="https://data.board.example/costs.pdf">the costs</a>, <a href="https://other.example/x">another site</a>,
<a href="/login">log in</a>, <a href="map.png">a map</a>, <a href="javascript:go()">go</a> and
<a href="https://board.example/reports/">this page</a>.</p></main><footer><a href="/imprint">Imprint</a></footer></body></html>"""


class Linked(Pages):
    def __init__(self):
        self.asked = []

    async def links(self, url, deadline_s=None):
        self.asked.append(url)
        return read_html(PAGE, url).links


class Crawling(Fake, Firecrawl):
    def __init__(self, *urls, fails=False):
        super().__init__("crawler")
        self.urls, self.fails = urls, fails

    async def crawl(self, url, limit, deadline_s=None):
        if self.fails:
            raise SearchFailed("server", self.name, "down")
        return tuple(Hit(url=url, title="T", provider=self.name) for url in self.urls)


def test_links_of_the_text_to_pages_of_the_site_are_kept_each_once():
    assert read_html(PAGE, HUB).links == (
        ("https://board.example/reports/2023.html", "the closures of 2023"),
        ("https://data.board.example/costs.pdf", "the costs"),
    )


def test_a_file_of_a_library_has_no_links():
    assert read_html(PAGE, "library:/docs/hub.html").links == ()


async def test_without_a_crawler_the_links_of_the_page_are_given():
    hits = await Chain([Fake("one")], Linked()).crawl(HUB, 1)

    assert [(hit.url, hit.title) for hit in hits] == [
        ("https://board.example/reports/2023.html", "the closures of 2023")
    ]


async def test_a_crawler_is_asked_first():
    pages = Linked()

    hits = await Chain([Crawling("https://board.example/a", "https://board.example/b")], pages).crawl(HUB, 5, 10.0)

    assert [hit.url for hit in hits] == ["https://board.example/a", "https://board.example/b"]
    assert pages.asked == []


async def test_a_crawler_that_fails_gives_way_to_the_links():
    assert len(await Chain([Crawling(fails=True)], Linked()).crawl(HUB, 5)) == 2


@pytest.mark.parametrize(("url", "found"), [(HUB, 2), ("library:/docs/hub.html", 0)])
async def test_a_chain_goes_on_from_pages_of_the_web_alone(url, found):
    assert len(await Chain([], Linked()).crawl(url, 5)) == found
