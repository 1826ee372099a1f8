"""Firecrawl and the services of the table, against a server on loopback."""

import asyncio
import json
import re
from typing import Any

import pytest
from pydantic import SecretStr
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from agents.contracts.sources import SearchQuery
from agents.core.transport import RetryPolicy
from agents.search.provider import Access, Provider
from agents.search.searcher import SearchFailed
from agents.search.web_providers import WEB, Firecrawl

KEY = "fc-FAKE0123456789abcdefFAKE"


class Service:
    """A Firecrawl of our own: per path, answers by a script, the last for ever."""

    def __init__(self, server: HTTPServer) -> None:
        self.base = server.url_for("").rstrip("/")
        self.asked: list[tuple[str, str, Any, dict[str, str]]] = []
        self.answers: dict[str, list[Any]] = {}
        server.expect_request(re.compile(".*")).respond_with_handler(self._answer)

    def _answer(self, request: Request) -> Response:
        place = f"{request.method} {request.path}"
        body = json.loads(request.data) if request.data else None
        self.asked.append((place, request.query_string.decode(), body, dict(request.headers)))
        script = self.answers[place]
        answer = script.pop(0) if len(script) > 1 else script[0]
        return answer if isinstance(answer, Response) else Response(json.dumps(answer))


@pytest.fixture
def service(httpserver: HTTPServer) -> Service:
    return Service(httpserver)


async def no_wait(seconds: float) -> None:
    await asyncio.sleep(0)


@pytest.fixture
async def firecrawl(service: Service) -> Any:
    made = Firecrawl(
        WEB["firecrawl"],
        Access(key=SecretStr(KEY), base=service.base, retry=RetryPolicy(call_s=5, sleep=no_wait)),
    )
    yield made
    await made.close()


QUERY = SearchQuery(
    text="days closed by ice",
    max_results=3,
    domains=("board.example",),
    exclude_domains=("bad.board.example",),
    date_from="2019-01-01",
    date_to="2024-12-31",
)


async def test_a_search_carries_what_the_service_can_filter_and_code_holds_the_rest(service, firecrawl):
    rows = [
        {"url": f"https://{host}/", "title": "Ice", "description": "12 days"}
        for host in ("bad.board.example", "notboard.example", "board.example", "www.board.example", "a.board.example")
    ]
    service.answers["POST /v2/search"] = [{"success": True, "data": {"web": rows}}]

    result = await firecrawl.search(QUERY, 9)

    assert [hit.url for hit in result.hits] == ["https://board.example/", "https://a.board.example/"]
    [(_, _, body, headers)] = service.asked
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert (body["query"], body["limit"], body["sources"]) == ("days closed by ice", 3, ["web"])
    assert body["includeDomains"] == ["board.example"]
    assert "excludeDomains" not in body
    assert body["tbs"] == "cdr:1,cd_min:01/01/2019,cd_max:12/31/2024"
    assert 1_000 <= body["timeout"] <= 9_000


async def test_a_server_of_ones_own_needs_no_key(service):
    service.answers["POST /v2/search"] = [{"success": True, "data": [{"url": "https://a.example/"}]}]
    own = Firecrawl(WEB["firecrawl"], Access(base=service.base))

    assert (await own.search(SearchQuery(text="ice"))).hits
    await own.close()

    assert "Authorization" not in service.asked[0][3]


@pytest.mark.parametrize(
    ("answer", "kind", "requests"),
    [
        pytest.param(Response("{}", 401), "auth", 1, id="401"),
        pytest.param(Response("{}", 402), "quota", 1, id="402"),
        pytest.param(Response("{}", 400), "query", 1, id="400"),
        pytest.param(Response("{}", 429), "rate", 3, id="429"),
        pytest.param(Response("{}", 502), "server", 3, id="502"),
        pytest.param(Response("", 302, {"Location": "https://elsewhere.example"}), "nonsense", 1, id="302"),
        pytest.param(Response("<html>captcha</html>"), "nonsense", 1, id="html"),
        pytest.param({"success": True}, "nonsense", 1, id="no-data"),
        pytest.param({"success": True, "data": {"web": [{}, "oops"]}}, "nonsense", 1, id="no-usable-result"),
        pytest.param({"success": False, "error": f"key {KEY} failed"}, "server", 3, id="said-so"),
    ],
)
async def test_a_failure_is_sorted_and_retried_only_where_that_may_help(service, firecrawl, answer, kind, requests):
    service.answers["POST /v2/search"] = [answer]

    with pytest.raises(SearchFailed) as caught:
        await firecrawl.search(QUERY)

    assert (caught.value.fault, len(service.asked)) == (kind, requests)
    assert KEY not in str(caught.value) + caught.value.notice


@pytest.mark.parametrize("data", [{"web": []}, [], {}])
async def test_nothing_found_is_an_answer(service, firecrawl, data):
    service.answers["POST /v2/search"] = [{"success": True, "data": data}]

    assert (await firecrawl.search(QUERY)).hits == ()


async def test_pages_of_a_site_are_given_each_once_and_the_page_itself_and_other_sites_are_not(service, firecrawl):
    urls = ("https://board.example", "https://board.example/a", "https://board.example/a#top", "https://other.example/")
    links = [{"url": url, "title": "Ice", "description": "12 days"} for url in (*urls, "https://data.board.example/b")]
    service.answers = {"POST /v2/map": [{"success": True, "links": [*links, {}]}]}

    hits = await firecrawl.crawl("https://board.example/", 5, 9)

    assert [hit.url for hit in hits] == ["https://board.example/a", "https://data.board.example/b"]
    assert (hits[0].title, hits[0].snippet, hits[0].provider) == ("Ice", "12 days", "firecrawl")
    [(_, _, body, headers)] = service.asked
    assert (body["url"], body["limit"], headers["Authorization"]) == ("https://board.example/", 6, f"Bearer {KEY}")


@pytest.mark.parametrize("answer", [{"success": True}, [], Response("{}", 402)])
async def test_an_answer_without_links_is_a_failure(service, firecrawl, answer):
    service.answers["POST /v2/map"] = [answer]

    with pytest.raises(SearchFailed):
        await firecrawl.crawl("https://board.example/", 5)
    assert len(service.asked) == 1


# ---- a SearXNG server of one's own


@pytest.fixture
async def searxng(service: Service) -> Any:
    made = Provider(WEB["searxng"], Access(base=service.base, retry=RetryPolicy(sleep=no_wait)))
    yield made
    await made.close()


async def test_a_searxng_server_gives_the_same_hits(service, searxng):
    rows = [{"url": "https://a.example/", "title": "Ice", "content": "12 days", "publishedDate": "2024-05-06"}]
    service.answers = {"GET /search": [{"results": rows}]}

    result = await searxng.search(SearchQuery(text="ice", domains=("a.example",)), 10)

    [hit] = result.hits
    assert (hit.url, hit.snippet, hit.published, hit.provider) == (
        "https://a.example/", "12 days", "2024-05-06", "searxng",
    )  # fmt: skip
    assert service.asked[0][1] == "q=ice+site%3Aa.example&format=json"


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Response("slow down", 429), "rate"),
        (Response("no", 403), "auth"),
        (Response("oh", 500), "server"),
        (Response("<html>captcha</html>"), "nonsense"),
        ([], "nonsense"),
    ],
)
async def test_its_failures_are_sorted(service, searxng, answer, fault):
    service.answers = {"GET /search": [answer]}

    with pytest.raises(SearchFailed) as caught:
        await searxng.search(SearchQuery(text="ice"), 10)

    assert caught.value.fault == fault


async def test_a_server_that_gives_no_json_says_what_to_do(service, searxng):
    service.answers = {"GET /search": [Response("<h1>Forbidden</h1>", 403)]}

    with pytest.raises(SearchFailed) as caught:
        await searxng.search(SearchQuery(text="ice"), 10)

    assert caught.value.reason == (
        "searxng refused access: a SearXNG server has to allow JSON answers (`search.formats` in its settings)"
    )


# ---- services that are a line of the table


HIT = {"url": "https://a.example/", "link": "https://a.example/", "title": "Ice", "name": "Ice", "date": "2024-05-06"}
HIT |= {"snippet": "12 days", "description": "12 days", "text": "12 days", "content": "12 days"}
HIT |= {"page_age": "2024-05-06T10:00:00", "publishedDate": "2024-05-06T10:00:00.000Z"}


@pytest.mark.parametrize(
    ("name", "place", "rows", "header", "sent"),
    [
        ("brave", "GET /res/v1/web/search", {"web": {"results": [HIT]}}, "X-Subscription-Token", "q=ice+site%3Aa.example&count=3"),
        ("exa", "POST /search", {"results": [HIT]}, "X-Api-Key", {"query": "ice", "numResults": 3, "includeDomains": ["a.example"]}),
        ("serper", "POST /search", {"organic": [HIT]}, "X-Api-Key", {"q": "ice site:a.example", "num": 3}),
        ("linkup", "POST /search", {"results": [HIT]}, "Authorization", {"q": "ice", "maxResults": 3, "includeDomains": ["a.example"]}),
        ("perplexity", "POST /search", {"results": [HIT]}, "Authorization", {"query": "ice", "search_domain_filter": ["a.example"]}),
    ],
)  # fmt: skip
async def test_each_service_of_the_table_is_asked_and_understood(service, name, place, rows, header, sent):
    service.answers = {place: [rows]}
    made = Provider(WEB[name], Access(key=SecretStr(KEY), base=service.base, retry=RetryPolicy(sleep=no_wait)))

    result = await made.search(SearchQuery(text="ice", max_results=3, domains=("https://a.example",)), 10)
    await made.close()

    [hit] = result.hits
    assert (hit.url, hit.title, hit.snippet, hit.provider) == ("https://a.example/", "Ice", "12 days", name)
    assert hit.published == "2024-05-06"
    [(_, params, body, headers)] = service.asked
    assert headers[header].endswith(KEY)
    assert params.startswith(sent) if isinstance(sent, str) else sent.items() <= body.items()


@pytest.mark.parametrize(
    ("status", "fault", "requests"), [(401, "auth", 1), (402, "quota", 1), (429, "rate", 3), (422, "query", 1)]
)
async def test_their_failures_are_sorted_as_those_of_others(service, status, fault, requests):
    service.answers = {"POST /search": [Response("said", status)]}
    made = Provider(WEB["exa"], Access(key=SecretStr(KEY), base=service.base, retry=RetryPolicy(sleep=no_wait)))

    with pytest.raises(SearchFailed) as caught:
        await made.search(SearchQuery(text="ice"), 10)
    await made.close()

    assert (caught.value.fault, len(service.asked)) == (fault, requests)
