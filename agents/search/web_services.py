"""Web search services that differ in address, key and field names alone, as data; and the package ddgs."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from agents.contracts.sources import SearchQuery
from agents.search.provider import Access, Provider, ProviderHit, dicts, rows_of
from agents.search.scope_filter import ProviderQuery, bare_domain
from agents.search.searcher import SearchFailed

MAX_RESULTS = 20

ENGINES = "duckduckgo,brave,mojeek,startpage"
"""Named one by one: left to itself the package ddgs asks encyclopedias first."""

MISSING = "the package ddgs is not installed; install it with `pip install ddgs`"

_NOTHING = "no results found"


def _domains(query: SearchQuery) -> list[str]:
    return [bare_domain(domain) for domain in query.include_domains]


def _with_sites(query: SearchQuery) -> str:
    return " ".join([query.text, " OR ".join(f"site:{domain}" for domain in _domains(query))]).strip()


@dataclass(frozen=True)
class WebService:
    """A service that answers one request with one list of results."""

    name: str
    """As in RETRIEVER, and as shown to the user."""
    base: str
    """Its usual address; empty for a server of one's own."""
    path: str
    ask: Callable[[SearchQuery, int], dict[str, object]]
    """Makes the request of a query and a number of results."""
    rows: tuple[str, ...]
    """Where the list of results stands in the answer."""
    fields: Mapping[str, str]
    """What a field of `ProviderHit` is called there, where it is called otherwise."""
    key_variable: str = ""
    key_header: str = "Authorization"
    key_prefix: str = "Bearer "
    method: str = "POST"
    empty: str = ""
    """What an answer without a list of results holds all the same, when nothing was found."""
    advice: Mapping[int, str] = field(default_factory=dict)
    """What the operator can do about a refusal, by its status."""


SERVICES = (
    WebService(
        name="brave",
        base="https://api.search.brave.com",
        path="/res/v1/web/search",
        ask=lambda query, most: {"q": _with_sites(query), "count": str(most)},
        rows=("web", "results"),
        fields={"snippet": "description", "published": "page_age"},
        key_variable="BRAVE_API_KEY",
        key_header="X-Subscription-Token",
        key_prefix="",
        method="GET",
        empty="query",
    ),
    WebService(
        name="exa",
        base="https://api.exa.ai",
        path="/search",
        ask=lambda query, most: {
            "query": query.text,
            "numResults": most,
            "contents": {"text": True},
            **({"includeDomains": _domains(query)} if query.include_domains else {}),
        },
        rows=("results",),
        fields={"snippet": "text", "published": "publishedDate"},
        key_variable="EXA_API_KEY",
        key_header="x-api-key",
        key_prefix="",
    ),
    WebService(
        name="serper",
        base="https://google.serper.dev",
        path="/search",
        ask=lambda query, most: {"q": _with_sites(query), "num": most},
        rows=("organic",),
        fields={"url": "link", "published": "date"},
        key_variable="SERPER_API_KEY",
        key_header="X-API-KEY",
        key_prefix="",
    ),
    WebService(
        name="linkup",
        base="https://api.linkup.so/v1",
        path="/search",
        ask=lambda query, most: {
            "q": query.text,
            "depth": "standard",
            "outputType": "searchResults",
            "maxResults": most,
            **({"includeDomains": _domains(query)} if query.include_domains else {}),
        },
        rows=("results",),
        fields={"title": "name", "snippet": "content"},
        key_variable="LINKUP_API_KEY",
    ),
    WebService(
        name="perplexity",
        base="https://api.perplexity.ai",
        path="/search",
        ask=lambda query, most: {
            "query": query.text,
            "max_results": most,
            **({"search_domain_filter": _domains(query)} if query.include_domains else {}),
        },
        rows=("results",),
        fields={"published": "date"},
        key_variable="PERPLEXITYAI_API_KEY",
    ),
    WebService(
        name="searxng",
        base="",
        path="/search",
        ask=lambda query, most: {"q": _with_sites(query), "format": "json"},
        rows=("results",),
        fields={"snippet": "content", "published": "publishedDate"},
        method="GET",
        advice={403: "a SearXNG server has to allow JSON answers (`search.formats` in its settings)"},
    ),
)
"""In the order in which `web` takes the first that is set up."""


class Web(Provider):
    """Web search by one of the services.

    Args:
        service: which one.
        access: key and address.
    """

    def __init__(self, service: WebService, access: Access = Access()) -> None:
        super().__init__(service.name, service.base, access)
        self.key_variable, self._service = service.key_variable, service

    async def _ask(self, asked: ProviderQuery, seconds: float) -> list[ProviderHit]:
        service = self._service
        request = service.ask(asked.query, min(asked.query.max_results, MAX_RESULTS))
        in_address = service.method == "GET"
        data = self._json(
            await self._send(
                service.method,
                "" if self.base.endswith(service.path) else service.path,
                seconds,
                params={name: str(value) for name, value in request.items()} if in_address else None,
                body=None if in_address else request,
                headers={service.key_header: service.key_prefix + self._secret} if self._secret else {},
            )
        )
        rows = rows_of(data, *service.rows)
        if rows is None and not (service.empty and isinstance(data, dict) and service.empty in data):
            raise self._failure("nonsense", "the answer holds no list of results")
        return [self._found(row) for row in dicts(rows or ())]

    def _found(self, row: Mapping[str, object]) -> ProviderHit:
        def told(name: str) -> object:
            return row.get(self._service.fields.get(name, name))

        return ProviderHit(
            url=told("url"),
            title=told("title"),
            snippet=told("snippet"),
            published=told("published"),
            score=told("score"),
        )

    def _refused(self, status: int, headers: Mapping[str, str], said: str) -> SearchFailed:
        if advice := self._service.advice.get(status):
            return self._failure("auth", f"HTTP {status} {said}", advice=advice)
        return super()._refused(status, headers, said)


def installed() -> bool:
    """Tell whether the package ddgs is there."""
    return find_spec("ddgs") is not None


class Ddgs(Provider):
    """Keyless web search.

    Args:
        access: what providers share; there is no key.
        load: gives the package; imported with the first search when not given.
    """

    def __init__(self, access: Access = Access(), *, load: Callable[[], Any] = lambda: import_module("ddgs")) -> None:
        super().__init__("ddgs", "https://duckduckgo.com", access)
        self._load = load

    async def _ask(self, asked: ProviderQuery, seconds: float) -> list[ProviderHit]:
        try:
            package = await asyncio.to_thread(self._load)
        except ImportError:
            raise self._failure("nonsense", MISSING) from None
        # Every failure of its engines is this one class or below it, an empty list of results as well.
        base_error: type[Exception] = package.exceptions.DDGSException
        try:
            # Its own limit holds for each wait only; the thread that outlives ours ends soon after.
            rows = await asyncio.to_thread(
                lambda: package.DDGS(timeout=max(1, int(seconds))).text(
                    asked.query.text, max_results=asked.query.max_results, backend=ENGINES
                )
            )
        except base_error as error:
            said, name = str(error), type(error).__name__
        else:
            if not isinstance(rows, list):
                raise self._failure("nonsense", "the answer is no list")
            return [
                ProviderHit(url=row.get("href"), title=row.get("title"), snippet=row.get("body")) for row in dicts(rows)
            ]
        if _NOTHING in said.casefold():
            return []
        if "ratelimit" in (name + said).casefold():
            raise self._failure("rate", said)
        raise self._failure("timeout" if "timeout" in name.casefold() else "connection", said)
