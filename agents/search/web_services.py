"""Web search by Firecrawl, a SearXNG server of one's own, the package ddgs, and every service that litellm knows.

Each adapter says only how to ask, and what it was given; ddgs and SearXNG take no key. Tavily has a file of its own.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from agents.contracts.sources import Hit, SearchFault, SearchQuery
from agents.core.errors import ModelFault
from agents.llm.chat_completions import Wire
from agents.llm.litellm_errors import Failed, exceptions_of, failed
from agents.search.provider import Access, Provider, ProviderHit, dicts, rows_of, usual_hit
from agents.search.scope_filter import ProviderQuery, bare_domain
from agents.search.searcher import SearchFailed
from agents.web.url_key import canonical, same_site

ENGINES = "duckduckgo,brave,mojeek,startpage"
"""Named one by one: left to itself the package asks encyclopedias first."""

MISSING = "the package ddgs is not installed; install it with `pip install ddgs`"

JSON_ADVICE = "a SearXNG server has to allow JSON answers (`search.formats` in its settings)"

_NOTHING = "no results found"


def installed() -> bool:
    """Tell whether the package is there."""
    return find_spec("ddgs") is not None


class Ddgs(Provider):
    """Keyless web search.

    Args:
        access: what providers share; there is no key.
        load: gives the package; imported with the first search when not given.
    """

    def __init__(
        self, access: Access = Access(), *, load: Callable[[], ModuleType] = lambda: import_module("ddgs")
    ) -> None:
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


class Searxng(Provider):
    """Web search by a SearXNG server of one's own.

    Args:
        access: its address.
    """

    def __init__(self, access: Access = Access()) -> None:
        super().__init__("searxng", "", access)

    async def _ask(self, asked: ProviderQuery, seconds: float) -> list[ProviderHit]:
        domains = [f"site:{bare_domain(domain)}" for domain in asked.query.include_domains]
        params = {"q": " ".join([asked.query.text, " OR ".join(domains)]).strip(), "format": "json"}
        data = self._json(await self._send("GET", "/search", seconds, params=params))
        rows = rows_of(data, "results")
        if rows is None:
            raise self._failure("nonsense", "the answer holds no list of results")
        return [usual_hit(row, "content", "publishedDate") for row in dicts(rows)]

    def _refused(self, status: int, headers: Mapping[str, str], said: str) -> SearchFailed:
        if status == 403:
            return self._failure("auth", f"HTTP {status} {said}", advice=JSON_ADVICE)
        return super()._refused(status, headers, said)


BASE = "https://api.firecrawl.dev"
MAX_RESULTS = 50


class Firecrawl(Provider):
    """Web search, and the pages of a site, by Firecrawl or by a server of one's own that speaks like it.

    Args:
        access: key and address; a server of one's own may need no key.
    """

    key_variable = "FIRECRAWL_API_KEY"

    def __init__(self, access: Access = Access()) -> None:
        super().__init__("firecrawl", BASE, access)

    async def crawl(self, url: str, limit: int, deadline_s: float | None = None) -> tuple[Hit, ...]:
        """Give pages of the site of `url`, the page itself not among them.

        One request and one credit however many there are; each is read by whoever wants it, as any other page.

        Raises:
            SearchFailed: after every retry.
        """

        async def once(seconds: float) -> object:
            body = {"url": url, "limit": min(limit + 1, MAX_RESULTS), "timeout": max(1_000, int(seconds * 1_000))}
            return self._json(await self._send("POST", "/v2/map", seconds, body=body, headers=self._headers()))

        rows = rows_of(await self._tried(once, deadline_s), "links")
        if rows is None:
            raise self._failure("nonsense", "the answer holds no list of links")
        hits = (self._hit(_found(row)) for row in dicts(rows))
        others = {canonical(hit.url): hit for hit in hits if hit and same_site(hit.url, url)}
        others.pop(canonical(url), None)
        return tuple(others.values())[:limit]

    async def _ask(self, asked: ProviderQuery, seconds: float) -> list[ProviderHit]:
        data = self._json(
            await self._send("POST", "/v2/search", seconds, body=_search_body(asked, seconds), headers=self._headers())
        )
        if isinstance(data, dict) and data.get("success") is False:
            raise self._failure("server", str(data.get("error")))
        rows = rows_of(data, "data", "web")
        if rows is None:
            rows = rows_of(data, "data")  # as older servers answer
        if rows is None and isinstance(data, dict) and data.get("data") == {}:
            rows = []  # nothing of any kind was found
        if rows is None:
            raise self._failure("nonsense", "the answer holds no list of results")
        return [_found(row) for row in dicts(rows)]

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._secret}"} if self._secret else {}


def _search_body(asked: ProviderQuery, seconds: float) -> dict[str, object]:
    query = asked.query
    body: dict[str, object] = {
        "query": query.text,
        "limit": min(query.max_results, MAX_RESULTS),
        "sources": ["web"],
        "timeout": max(1_000, int(seconds * 1_000)),
    }
    # It takes one of the two; the other is held by `enforced`.
    if query.include_domains:
        body["includeDomains"] = [bare_domain(domain) for domain in query.include_domains]
    elif query.exclude_domains:
        body["excludeDomains"] = [bare_domain(domain) for domain in query.exclude_domains]
    if dates := _dates(query):
        body["tbs"] = dates
    return body


def _dates(query: SearchQuery) -> str:
    """Write a range of days as the service passes it on; less precise dates are held by `enforced` alone."""

    def american(date: str | None) -> str:
        return f"{date[5:7]}/{date[8:10]}/{date[:4]}" if date and len(date) >= 10 else ""

    first, last = american(query.date_from), american(query.date_to)
    return (
        ",".join(filter(None, ("cdr:1", first and f"cd_min:{first}", last and f"cd_max:{last}")))
        if first or last
        else ""
    )


def _found(row: dict[str, object]) -> ProviderHit:
    about = row.get("metadata")
    about = about if isinstance(about, dict) else {}
    return ProviderHit(
        url=row.get("url") or about.get("sourceURL"),
        title=row.get("title") or about.get("title"),
        snippet=row.get("description") or row.get("snippet") or about.get("description"),
        published=row.get("date") or row.get("publishedDate"),
        text=row.get("markdown"),
        whole=True,
    )


MAX_LITELLM_RESULTS = 20

Ask = Callable[..., Awaitable[list[dict[str, object]]]]
"""As `ask_litellm`."""


@dataclass(frozen=True)
class WebService:
    """A service behind litellm."""

    name: str
    """As in RETRIEVER, and as shown to the user."""
    litellm_name: str
    key_variable: str
    base: str
    """Its usual address."""


SERVICES = (
    WebService("brave", "brave", "BRAVE_API_KEY", "https://api.search.brave.com"),
    WebService("exa", "exa_ai", "EXA_API_KEY", "https://api.exa.ai"),
    WebService("serper", "serper", "SERPER_API_KEY", "https://google.serper.dev"),
    WebService("linkup", "linkup", "LINKUP_API_KEY", "https://api.linkup.so"),
    WebService("perplexity", "perplexity", "PERPLEXITYAI_API_KEY", "https://api.perplexity.ai"),
)
"""In the order in which `web` takes the first that is set up."""

_FAULTS: dict[ModelFault, SearchFault] = {
    "key": "auth",
    "quota": "quota",
    "rate": "rate",
    "timeout": "timeout",
    "connection": "connection",
    "server": "server",
    "request": "query",
    "overflow": "query",
    "refused": "query",
    "unknown_model": "nonsense",  # there is nothing that searches at that address
}

_NO_RESULTS = re.compile(r"Expecting value|JSONDecodeError|validation errors? for|KeyError|has no attribute")
"""How litellm says, as a failed connection, that it could not read an answer."""


class Web(Provider):
    """Web search by a service that litellm knows.

    Args:
        service: which one.
        access: key and address.
        ask: sends the search; litellm's when not given, imported with the first search.
    """

    def __init__(self, service: WebService, access: Access = Access(), *, ask: Ask | None = None) -> None:
        super().__init__(service.name, service.base, access)
        self.key_variable = service.key_variable
        self._service, self._own_base, self._ask_litellm = service, access.base, ask or ask_litellm

    async def _ask(self, asked: ProviderQuery, seconds: float) -> list[ProviderHit]:
        try:
            rows = await self._ask_litellm(
                self._service.litellm_name,
                asked.query.text,
                max_results=min(asked.query.max_results, MAX_LITELLM_RESULTS),
                timeout_s=seconds,
                domains=tuple(bare_domain(domain) for domain in asked.query.include_domains),
                api_key=self._secret,
                api_base=self._own_base,
                key_variable=self.key_variable,
            )
        except Failed as failure:
            said = str(failure.error).partition("Traceback")[0]
            fault = "nonsense" if _NO_RESULTS.search(said) else _FAULTS[failure.error.fault]
            raise self._failure(fault, said, retry_after_s=failure.wait_s) from None
        return [usual_hit(row, "snippet", "date") for row in rows]


async def ask_litellm(
    provider: str, text: str, *, max_results: int, timeout_s: float, domains: tuple[str, ...], api_key: str, api_base: str,
    key_variable: str,
) -> list[Wire]:  # fmt: skip
    """Send one search; results hold `title`, `url`, `snippet`, `date` and what else the provider gave.

    Raises:
        Failed: the provider refused or did not answer; its error carries no key.
    """
    from agents.llm.litellm_model import warm_up

    litellm = await asyncio.to_thread(warm_up)
    # litellm sends no key of the environment to an address that it does not know, so it is given here.
    given = {"search_domain_filter": list(domains), "api_key": api_key, "api_base": api_base}
    set_ones = {name: value for name, value in given.items() if value}
    try:
        response = await litellm.asearch(
            query=text, search_provider=provider, max_results=max_results, timeout=timeout_s, **set_ones
        )
    except exceptions_of(litellm) as error:
        failure: Failed = failed(error, model=provider, key_variable=key_variable, secrets=(api_key,))
    else:
        return [result.model_dump() for result in response.results]
    raise failure  # out here, so that no traceback leads to the provider's own text with a key in it
