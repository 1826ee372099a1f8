"""Neighbours of the answers of search services: hits in other shapes, refusals in the place of hits, and their words."""

import json
from typing import Any

import pytest
from pydantic import SecretStr
from pytest_httpserver import HTTPServer
from werkzeug import Response

from agents.contracts.sources import SearchQuery, SearchResult
from agents.core.transport import RetryPolicy
from agents.search.provider import Access, Provider
from agents.search.searcher import SearchFailed
from agents.search.web_providers import WEB

KEY = "tvly-SECRET12345"
ROW = {"url": "https://a.example/x", "title": "Ferry", "content": "It carried 2921 people."}


async def no_wait(seconds: float) -> None:
    """Wait no time."""


async def asked(server: HTTPServer, service: str, answer: Any, status: int = 200) -> SearchResult:
    headers = {"Location": "https://login.example/x"} if status == 302 else {}
    body = answer if isinstance(answer, str) else json.dumps(answer)
    server.expect_request("/search").respond_with_response(Response(body, status, headers))
    server.expect_request("/res/v1/web/search").respond_with_response(Response(body, status, headers))
    key = None if service == "searxng" else SecretStr(KEY)
    provider = Provider(
        WEB[service], Access(key=key, base=server.url_for("").rstrip("/"), retry=RetryPolicy(sleep=no_wait))
    )
    try:
        return await provider.search(SearchQuery(text="ferry of Orvelle"), 5.0)
    finally:
        await provider.close()


@pytest.mark.parametrize(
    ("service", "answer"),
    [
        ("searxng", {"results": [ROW], "unresponsive_engines": [["google", "CAPTCHA"]]}),
        ("searxng", [ROW]),
        ("tavily", {"data": {"results": [ROW]}}),
        ("tavily", {"results": [ROW, ROW | {"url": "https://a.example/x?utm_source=z"}, ROW | {"url": "http://www.a.example/x/#p"}]}),
        ("tavily", {"results": [{"link": ROW["url"], "name": "Ferry", "body": ROW["content"]}]}),
        ("searxng", {"results": [ROW | {"title": "<b>Ferry</b>", "content": "It <strong>carried</strong> 2921&nbsp;people."}]}),
        ("searxng", {"results": [None, 3, ROW, {"url": "javascript:1"}, {"url": "mailto:a@b"}]}),
        ("searxng", {"results": [ROW | {"url": "//a.example/x"}]}),
        ("searxng", {"results": [ROW | {"url": "https://duckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2Fx&rut=1"}]}),
        ("searxng", {"results": [ROW | {"url": "https://www.google.com/url?q=https://a.example/x&sa=U"}]}),
    ],
)  # fmt: skip
async def test_hits_are_found_in_each_shape(httpserver: HTTPServer, service: str, answer: Any) -> None:
    [hit] = (await asked(httpserver, service, answer)).hits
    assert (hit.url, hit.title, hit.snippet) == (ROW["url"], ROW["title"], ROW["content"])


@pytest.mark.parametrize(
    ("service", "answer"),
    [("tavily", {"results": []}), ("serper", {"searchParameters": {"q": "x"}, "credits": 1}),
     ("brave", {"type": "search", "query": {"original": "x"}}), ("tavily", {"results": [], "message": "No results found"})],
)  # fmt: skip
async def test_nothing_found_is_an_answer(httpserver: HTTPServer, service: str, answer: Any) -> None:
    assert (await asked(httpserver, service, answer)).hits == ()


def page(title: str) -> str:
    return f"<!doctype html><html><head><title>{title}</title></head><body>x</body></html>"


@pytest.mark.parametrize(
    ("service", "status", "answer", "fault", "said"),
    [
        ("searxng", 200, page("Sign in to the portal"), "nonsense", "Sign in to the portal"),
        ("searxng", 302, "", "nonsense", "https://login.example/x"),
        ("tavily", 200, {"results": [], "error": "Monthly quota exceeded"}, "quota", "Monthly quota exceeded"),
        ("searxng", 200, {"results": [], "unresponsive_engines": [["google", "CAPTCHA"]]}, "server", "google: CAPTCHA"),
        ("tavily", 401, {"detail": {"error": f"no such key {KEY}"}}, "auth", "no such key ***"),
        ("tavily", 200, {"detail": "Service is closed for you"}, "nonsense", "Service is closed for you"),
        ("brave", 200, {"message": "You have hit your plan"}, "nonsense", "hit your plan"),
        ("exa", 402, {"error": "Insufficient credits", "tag": "X"}, "quota", "Insufficient credits"),
        ("serper", 403, page("Just a moment..."), "connection", "Just a moment"),
        ("tavily", 429, {"detail": "Your plan allows 100 a minute"}, "rate", "100 a minute"),
        ("serper", 400, {"message": "Not enough credits"}, "quota", "Not enough credits"),
        ("searxng", 500, page("Internal error of uwsgi"), "server", "uwsgi"),
        ("tavily", 200, "upstream timed out", "nonsense", "upstream timed out"),
        ("tavily", 200, "<html><head><title>502 Bad Gateway</title></head></html>", "nonsense", "502 Bad Gateway"),
        ("brave", 422, {"error": {"code": "X", "detail": "The provided token is invalid"}}, "auth", "token is invalid"),
    ],
)
async def test_a_refusal_is_sorted_and_told_in_the_services_words(
    httpserver: HTTPServer, service: str, status: int, answer: Any, fault: str, said: str
) -> None:
    with pytest.raises(SearchFailed) as caught:
        await asked(httpserver, service, answer, status)
    [failure] = caught.value.failures
    assert failure.fault == fault
    assert said in failure.reason
    assert KEY not in failure.reason + str(caught.value)
