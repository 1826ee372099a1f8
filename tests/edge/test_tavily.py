"""The adapter of Tavily against a server on loopback: what goes over the wire, what comes back, how it fails."""

import asyncio
import json
import logging
import socket
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from agents.contracts.sources import SearchQuery
from agents.core.errors import SearchError
from agents.core.transport import RetryPolicy
from agents.search.chain import Chain
from agents.search.pages import KEPT_S, PageCache
from agents.search.provider import Access
from agents.search.searcher import SearchFailed
from agents.search.tavily import Tavily
from agents.search.web_providers import WEB
from agents.web.decoding import Document

CASES = Path(__file__).resolve().parent.parent / "data" / "cases"
KEY = "tvly-dev-FAKE0123456789abcdefFAKE"
GOOD = {"results": [{"url": "https://board.orvane.example/ice", "title": "Ice", "content": "12 days", "score": 0.9}]}
RATE_LIMITS = json.loads((CASES / "C10" / "responses.json").read_text("utf-8"))
SCRIPT = json.loads((CASES / "C15" / "provider_script.json").read_text("utf-8"))
LONG = "The line was closed for twelve days because of ice. " * 20


class Waits:
    """Waits for nothing, and remembers for how long."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
        await asyncio.sleep(0)


class Service:
    """A Tavily of our own: answers by a script, the last answer for ever; keeps what it was asked."""

    def __init__(self, server: HTTPServer, path: str = "") -> None:
        self.base = server.url_for(path).rstrip("/")
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.answers: list[Any] = [GOOD]
        server.expect_request(f"{path}/search", method="POST").respond_with_handler(self._answer)

    def _answer(self, request: Request) -> Response:
        self.asked.append(json.loads(request.data))
        self.headers.append(dict(request.headers))
        answer = self.answers[min(len(self.asked), len(self.answers)) - 1]
        if isinstance(answer, Response):
            return answer
        if callable(answer):
            return answer(request)
        return Response(json.dumps(answer), content_type="application/json")


@pytest.fixture
def service(httpserver: HTTPServer) -> Service:
    return Service(httpserver)


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
async def tavily(service: Service, waits: Waits) -> Any:
    made = Tavily(
        WEB["tavily"], Access(key=SecretStr(KEY), base=service.base, retry=RetryPolicy(call_s=5, sleep=waits))
    )
    yield made
    await made.close()


def status(code: int, body: Any = "", **headers: str) -> Response:
    text = body if isinstance(body, str) else json.dumps(body)
    return Response(text, status=code, headers={name.replace("_", "-"): value for name, value in headers.items()})


def query(text: str = "days closed by ice", **more: Any) -> SearchQuery:
    return SearchQuery(text=text, **more)


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def test_a_hit_is_normalised(service, tavily):
    service.answers = [
        {
            "results": [
                {
                    "url": " https://user:secret@www.Ice.example/a?utm_source=x#part ",
                    "title": " Ice\n on the\u200b lake ",
                    "content": "12  days",
                    "score": 0.5,
                    "published_date": "Tue, 05 Mar 2024 10:00:00 GMT",
                },
                {"url": "https://ice.example/a/", "title": "the same page again"},
            ]
        }
    ]

    result = await tavily.search(query())

    assert result.provider == "tavily"
    [hit] = result.hits
    assert hit.url == "https://www.Ice.example/a"
    assert (hit.title, hit.snippet, hit.score) == ("Ice on the lake", "12 days", 0.5)
    assert (hit.published, hit.provider) == ("2024-03-05", "tavily")


async def test_what_the_query_restricts_goes_to_the_service(service, tavily):
    await tavily.search(
        query(
            max_results=5,
            domains=("https://www.board.example/ice",),
            exclude_domains=("*.blog.example",),
            date_from="2019",
            date_to="2024-02",
        )
    )

    [body] = service.asked
    assert body["include_domains"] == ["board.example"]
    assert body["exclude_domains"] == ["blog.example"]
    assert (body["start_date"], body["end_date"]) == ("2019-01-01", "2024-02-29")
    assert (body["max_results"], body["topic"], body["include_raw_content"]) == (5, "general", "text")


async def test_what_the_service_ignores_is_held_by_code(service, tavily):
    service.answers = [
        {
            "results": [
                {"url": "https://notexample.com/a"},
                {"url": "https://example.com.evil.test/a"},
                {"url": "https://sub.example.com/b", "published_date": "2018-12-31"},
                {"url": "https://bad.example.com/c"},
                {"url": "https://sub.example.com/d", "published_date": "2019-01-01"},
                {"url": "https://example.com/e"},
                {"url": "https://example.com/f"},
            ]
        }
    ]

    result = await tavily.search(
        query(
            domains=("example.com",),
            exclude_domains=("bad.example.com",),
            date_from="2019-01-01",
            max_results=2,
        )
    )

    assert [hit.url for hit in result.hits] == ["https://sub.example.com/d", "https://example.com/e"]


async def test_with_a_key_the_key_is_sent(service, tavily):
    await tavily.search(query())

    [headers] = service.headers
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert "X-Tavily-Access-Mode" not in headers


async def test_without_a_key_the_keyless_mode_is_asked_for(service, waits, monkeypatch):
    monkeypatch.setenv("TAVILY_API_KEY", "a key that nobody gave to the adapter")
    tavily = Tavily(WEB["tavily"], Access(base=service.base, retry=RetryPolicy(sleep=waits)))

    result = await tavily.search(query())
    await tavily.close()

    [headers] = service.headers
    assert headers["X-Tavily-Access-Mode"] == "keyless"
    assert "Authorization" not in headers
    assert result.provider == "tavily-keyless"


async def test_a_long_question_is_never_sent_as_it_is(service, tavily):
    question = (CASES / "C13" / "question.txt").read_text("utf-8")

    def picky(request: Request) -> Response:
        text = json.loads(request.data)["query"]
        return status(400, {"detail": {"error": "no"}}) if len(text) > 400 or "site:" in text else status(200, GOOD)

    service.answers = [picky]

    result = await tavily.search(query(question))

    [body] = service.asked
    sent = body["query"]
    assert result.hits
    assert all(word in sent for word in ("Telmar", "Brindle", "ice", "closure rule", "2019", "2024", "Sarn"))
    assert not any(word in sent for word in ("consultant", "German", "Thank"))
    assert sent != question[:400]
    assert body["include_domains"] == ["board.orvane.example", "telmar-observatory.example"]
    assert body["include_domains_mode"] == "prefer"


async def test_a_site_in_a_short_query_becomes_a_filter(service, tavily):
    await tavily.search(query("ice closure site:board.orvane.example -site:blog.example"))

    [body] = service.asked
    assert body["query"] == "ice closure"
    assert body["include_domains"] == ["board.orvane.example"]
    assert body["exclude_domains"] == ["blog.example"]
    assert "include_domains_mode" not in body


async def test_a_page_that_came_with_its_hit_is_not_fetched(service, tavily):
    service.answers = [{"results": [GOOD["results"][0] | {"raw_content": LONG}]}]

    result = await tavily.search(query())
    source = tavily.cache.get(result.hits[0].url, whole=True)

    assert source is not None
    assert source.text == LONG.strip()
    assert (source.kind, source.title, source.site, source.language) == ("web", "Ice", "board.orvane.example", "en")
    assert tavily.cache.get("https://board.orvane.example/ice/#top", whole=True) == source


async def test_a_remnant_of_a_page_is_not_taken_for_it(service, tavily):
    service.answers = [{"results": [GOOD["results"][0] | {"raw_content": "Loading…"}]}]

    result = await tavily.search(query())

    assert tavily.cache.get(result.hits[0].url, whole=True) is None


def test_kept_pages_are_bounded_and_grow_old():
    now = [0.0]
    kept = PageCache(clock=lambda: now[0], max_chars=2 * len(LONG))
    for number in range(3):
        kept.put(f"https://a.example/{number}", Document("A", LONG + str(number)), provider="tavily", whole=True)

    assert kept.get("https://a.example/0", whole=True) is None
    assert kept.get("https://a.example/2", whole=True) is not None
    now[0] += KEPT_S + 1
    assert kept.get("https://a.example/2", whole=True) is None


@pytest.mark.parametrize(
    ("answer", "kind", "requests"),
    [
        pytest.param(status(400, {"detail": {"error": "bad"}}), "query", 1, id="400"),
        pytest.param(status(401, {"detail": {"error": "bad key"}}), "auth", 1, id="401"),
        pytest.param(status(403), "auth", 1, id="403"),
        pytest.param(status(404, "not here"), "nonsense", 1, id="404"),
        pytest.param(status(302, Location="https://elsewhere.example"), "nonsense", 1, id="302"),
        pytest.param(status(422, "{}"), "query", 1, id="422"),
        pytest.param(status(429), "rate", 3, id="429"),
        pytest.param(status(429, "insufficient_quota: you exceeded your current quota"), "quota", 1, id="429-quota"),
        pytest.param(status(432, {"detail": {"error": "plan limit exceeded"}}), "quota", 1, id="432"),
        pytest.param(status(433), "quota", 1, id="433"),
        pytest.param(status(500), "server", 3, id="500"),
        pytest.param(status(502, "<html>"), "server", 3, id="502"),
        pytest.param(status(504), "timeout", 3, id="504"),
        pytest.param(status(202), "rate", 3, id="202"),
        pytest.param(status(200, "<html>captcha</html>"), "nonsense", 1, id="html"),
        pytest.param([], "nonsense", 1, id="a-list"),
        pytest.param({"results": None}, "nonsense", 1, id="null"),
        pytest.param({"results": {"url": "https://a.example"}}, "nonsense", 1, id="object"),
        pytest.param({"answer": "hello"}, "nonsense", 1, id="no-results"),
        pytest.param({"results": ["oops", {}, {"url": "javascript:x"}]}, "nonsense", 1, id="no-usable-result"),
    ],
)
async def test_a_failure_is_sorted_and_retried_only_where_that_may_help(service, tavily, answer, kind, requests):
    service.answers = [answer]

    with pytest.raises(SearchFailed) as caught:
        await tavily.search(query())

    assert caught.value.fault == kind
    assert len(service.asked) == requests
    assert caught.value.provider == "tavily"


async def test_nothing_found_is_an_answer(service, tavily):
    service.answers = [{"results": []}]

    assert (await tavily.search(query())).hits == ()


async def test_after_failures_an_answer_is_an_answer(service, tavily, waits):
    service.answers = [status(500), status(503), GOOD]

    assert (await tavily.search(query())).hits

    first, second = waits.seconds
    assert 2 <= first <= 3
    assert 4 <= second <= 5


@pytest.mark.parametrize("row", RATE_LIMITS, ids=lambda row: row["name"])
async def test_the_wait_is_the_one_that_was_asked_for(service, tavily, waits, row):
    headers = row["headers"]
    if headers.pop("Date", None):  # the server on loopback writes a date of its own
        headers = {"Retry-After": format_datetime(datetime.now(UTC) + timedelta(seconds=10), usegmt=True)}
    service.answers = [Response(row.get("body", ""), status=row["status"], headers=headers), GOOD]

    try:
        await tavily.search(query(), 20)
        failed = None
    except SearchFailed as failure:
        failed = failure

    if at_least := row.get("wait_at_least"):
        assert failed is None
        assert at_least <= waits.seconds[0] <= at_least + 2
    elif row["name"] == "quota_gone":
        assert failed is not None
        assert (failed.fault, waits.seconds) == ("quota", [])
    elif row["name"] == "tomorrow":
        assert failed is not None
        assert (failed.fault, waits.seconds) == ("rate", [])
        assert failed.retry_after_s >= 60
    else:
        assert failed is None
        assert 2 <= waits.seconds[0] <= 3


async def test_no_wait_goes_beyond_the_time_left(service, tavily, waits):
    service.answers = [status(429, Retry_After="7"), GOOD]

    with pytest.raises(SearchFailed) as caught:
        await tavily.search(query(), 5)

    assert caught.value.fault == "rate"
    assert (waits.seconds, caught.value.retry_after_s) == ([], 7)


async def test_a_keyless_limit_says_in_its_body_how_long_to_wait(service, waits):
    limit = {"error": {"code": "rate_limited", "message": "slow down", "window": "minute", "retry_after_seconds": 9}}
    service.answers = [status(429, limit), GOOD]
    tavily = Tavily(WEB["tavily"], Access(base=service.base, retry=RetryPolicy(sleep=waits, spread=lambda: 0.0)))

    assert (await tavily.search(query())).hits
    await tavily.close()

    assert waits.seconds == [9]


async def test_a_service_that_drips_is_cut_off(service, waits):
    def dripping(request: Request) -> Response:
        def body() -> Iterator[bytes]:
            for _ in range(200):
                time.sleep(0.1)
                yield b" "

        return Response(body(), content_type="application/json")

    service.answers = [dripping]
    tavily = Tavily(
        WEB["tavily"], Access(key=SecretStr(KEY), base=service.base, retry=RetryPolicy(call_s=0.3, sleep=waits))
    )

    began = time.monotonic()
    with pytest.raises(SearchFailed) as caught:
        await tavily.search(query(), attempts=1)
    await tavily.close()

    assert caught.value.fault == "timeout"
    assert time.monotonic() - began < 15  # the whole answer would take twenty


async def test_a_service_that_is_not_there_is_said_to_be_unreachable(waits):
    tavily = Tavily(
        WEB["tavily"],
        Access(key=SecretStr(KEY), base=f"http://127.0.0.1:{closed_port()}", retry=RetryPolicy(sleep=waits)),
    )

    with pytest.raises(SearchFailed) as caught:
        await tavily.search(query())
    await tavily.close()

    assert caught.value.fault == "connection"
    assert len(waits.seconds) == 2
    assert caught.value.notice == "The search provider tavily could not be reached."


async def test_searches_side_by_side_do_not_take_each_others_answers(service, tavily):
    def by_query(request: Request) -> Response:
        text = json.loads(request.data)["query"]
        if text.startswith("bad"):
            return status(432)
        return status(200, {"results": [{"url": f"https://a.example/{text}"}]})

    service.answers = [by_query]

    results = await asyncio.gather(
        *(tavily.search(query(f"{'bad' if number % 2 else 'good'}{number}")) for number in range(10)),
        return_exceptions=True,
    )

    assert [getattr(result, "fault", "") for result in results] == ["", "quota"] * 5
    assert all(result.hits[0].url.endswith(f"/good{2 * at}") for at, result in enumerate(results[::2]))


def leaks(text: str) -> Response:
    return status(500, {"detail": {"error": text}})


@pytest.mark.parametrize(
    "row", [json.loads(line) for line in (CASES / "C12" / "errors.jsonl").read_text("utf-8").splitlines()]
)
async def test_a_key_in_an_error_is_in_no_text_of_ours(service, waits, caplog, row):
    caplog.set_level(logging.DEBUG)
    service.answers = [leaks(row["text"]), status(400, row["text"])]
    tavily = Tavily(
        WEB["tavily"], Access(key=SecretStr(row["secret"]), base=service.base, retry=RetryPolicy(sleep=waits))
    )
    chain = Chain([tavily], pages=None)

    with pytest.raises(SearchError) as caught:
        await chain.search(query())
    with pytest.raises(SearchFailed) as direct:
        await tavily.search(query())
    await chain.close()

    said = [str(direct.value), direct.value.notice, direct.value.reason, str(caught.value), caught.value.notice]
    assert row["secret"] not in " ".join((*said, caplog.text))
    assert direct.value.__cause__ is None
    assert len(str(direct.value)) > 30


def played(sequence: Sequence[dict[str, Any]]) -> list[Response]:
    return [
        Response(
            json.dumps(step["json"]) if "json" in step else step["body"],
            status=step["status"],
            content_type=step.get("content_type", "application/json"),
        )
        for step in sequence
    ]


@pytest.mark.parametrize("row", [row for row in SCRIPT if "status" in row["sequence"][0]], ids=lambda row: row["name"])
async def test_a_world_of_failures_is_survived(service, waits, row, httpserver):
    service.answers = played(row["sequence"])
    other = Service(httpserver, "/other")
    key = None if row["provider"] == "keyless" else SecretStr(KEY)
    first = Tavily(WEB["tavily"], Access(key=key, base=service.base, retry=RetryPolicy(sleep=waits)))
    reserve = Tavily(
        WEB["tavily"], Access(key=None if key else SecretStr(KEY), base=other.base, retry=RetryPolicy(sleep=waits))
    )
    chain = Chain([first, reserve], pages=None)

    looked = [await chain.search(query(f"ice {number}"), 30) for number in range(4)]
    await chain.close()

    assert all(one.hits for one in looked)
    if row["name"] == "null_fields":
        assert [hit.url for hit in looked[0].hits] == ["https://board.orvane.example/ice"]
        assert looked[0].failures == looked[3].failures == ()
        return
    assert {one.provider for one in looked} == {reserve.name}
    assert looked[3].failures[0].fault == "resting"
    expected = {"202_without_body": (9, "rate"), "html_instead_of_json": (3, "nonsense")}
    assert (len(service.asked), looked[0].failures[0].fault) == expected.get(
        row["name"], (1, "quota" if row["name"] == "plan_used_up" else "auth")
    )
    assert KEY not in str(looked)


async def test_a_world_without_a_network_ends_soon_with_a_clear_message(waits):
    providers = [
        Tavily(WEB["tavily"], Access(key=key, base=f"http://127.0.0.1:{closed_port()}", retry=RetryPolicy(sleep=waits)))
        for key in (SecretStr(KEY), None)
    ]
    chain = Chain(providers, pages=None)

    began = time.monotonic()
    for number in range(20):
        with pytest.raises(SearchError) as caught:
            await chain.search(query(f"ice {number}"), 60)
    await chain.close()

    assert time.monotonic() - began < 30
    assert [one.fault for one in caught.value.failures] == ["resting", "resting"]
    assert caught.value.notice == (
        "No search provider answered: tavily could not be reached; tavily-keyless could not be reached."
    )


async def test_a_probe_says_where_queries_go_and_asks_nothing_of_the_user(service, waits):
    tavily = Tavily(WEB["tavily"], Access(base=service.base, retry=RetryPolicy(sleep=waits)))
    chain = Chain([tavily], pages=None)

    probed = await chain.probe()
    await chain.close()

    assert probed is not None
    assert (probed.provider, probed.reachable) == ("tavily-keyless", True)
    assert service.base.endswith(probed.host)
    assert chain.destinations == (probed.host,)
    assert (len(service.asked), service.asked[0]["max_results"]) == (1, 1)
