"""The table of services that search the web, and two that are more than a line in it: Firecrawl crawls, ddgs is a package."""

import asyncio
from collections.abc import Callable
from importlib.util import find_spec

from agents.contracts.sources import Hit
from agents.search.provider import Call, Provider, ProviderHit, Service, usual
from agents.search.scope_filter import ProviderQuery, bare_domain, whole_day
from agents.search.tavily import Tavily
from agents.web.url_key import canonical, same_site

MAX_RESULTS = 20
MAX_MAPPED = 50
MAX_DOMAINS = 150

ENGINES = "duckduckgo,brave,mojeek,startpage"  # named one by one: left to itself the package asks encyclopedias first
MISSING = "the package ddgs is not installed; install it with `pip install ddgs`"

JSON_ADVICE = "a SearXNG server has to allow JSON answers (`search.formats` in its settings)"

_NOTHING = "no results found"


def _domains(domains: tuple[str, ...]) -> list[str]:
    return [bare_domain(domain) for domain in domains][:MAX_DOMAINS]


def _posted(*, text: str = "query", most: str, domains: str = "", **more: object) -> Callable[..., Call]:
    """Say how a service is asked that takes a query, a number and domains, by what it calls them.

    Services that have no place for domains get them in the query.
    """

    def ask(asked: ProviderQuery, seconds: float) -> Call:
        body = {
            text: asked.query.text if domains else _with_sites(asked),
            most: min(asked.query.max_results, MAX_RESULTS),
        }
        named = _domains(asked.query.domains) if domains else []
        return Call("/search", body=body | more | ({domains: named} if named else {}))

    return ask


def _with_sites(asked: ProviderQuery) -> str:
    sites = " OR ".join(f"site:{domain}" for domain in _domains(asked.query.domains))
    return f"{asked.query.text} {sites}".strip()


def _ask_tavily(asked: ProviderQuery, seconds: float) -> Call:
    query = asked.query
    prefer = () if query.domains else asked.prefer
    body = {
        "query": query.text,
        "search_depth": "basic",
        "topic": "general",
        "max_results": min(query.max_results, MAX_RESULTS),
        "include_domains": _domains(prefer or query.domains),
        "include_domains_mode": "prefer" if prefer else "",
        "exclude_domains": _domains(query.exclude_domains),
        "start_date": whole_day(query.date_from),
        "end_date": whole_day(query.date_to, last=True),
        "include_raw_content": "text",  # with the hits, which saves fetching the pages
    }
    return Call("/search", body={name: value for name, value in body.items() if value})


def _ask_searxng(asked: ProviderQuery, seconds: float) -> Call:
    return Call("/search", {"q": _with_sites(asked), "format": "json"})


def _ask_brave(asked: ProviderQuery, seconds: float) -> Call:
    most = str(min(asked.query.max_results, MAX_RESULTS))
    return Call("/res/v1/web/search", {"q": _with_sites(asked), "count": most, "text_decorations": "false"})


def _ask_firecrawl(asked: ProviderQuery, seconds: float) -> Call:
    query = asked.query
    # Less precise dates are held by `enforced` alone.
    ends = (("cd_min", query.date_from), ("cd_max", query.date_to))
    days = [f"{name}:{day[5:7]}/{day[8:10]}/{day[:4]}" for name, day in ends if day and len(day) >= 10]
    body = {
        "query": query.text,
        "limit": min(query.max_results, MAX_MAPPED),
        "sources": ["web"],
        "timeout": max(1_000, int(seconds * 1_000)),
        "includeDomains": _domains(query.domains),
        # It takes one of the two; the other is held by `enforced`.
        "excludeDomains": [] if query.domains else _domains(query.exclude_domains),
        "tbs": ",".join(["cdr:1", *days]) if days else "",
    }
    return Call("/v2/search", body={name: value for name, value in body.items() if value})


def _keyed(name: str, base: str, ask: Callable[..., Call], hits: Callable[..., list[ProviderHit] | None], *, header: str,
           variable: str = "") -> Service:  # fmt: skip
    """Make the line of a service that wants a key."""
    variable = variable or f"{name.upper()}_API_KEY"
    return Service(name, base, ask, hits, role="service", key_variable=variable, key_header=header, needs=variable)


_BEARER = "Authorization: Bearer {}"
WEB: dict[str, Service] = {
    service.name: service
    for service in (
        Service("tavily", "https://api.tavily.com", _ask_tavily, usual("results"),
                key_variable="TAVILY_API_KEY", key_header=_BEARER, keyless={"X-Tavily-Access-Mode": "keyless"}),
        Service("firecrawl", "https://api.firecrawl.dev", _ask_firecrawl, usual("web"), key_variable="FIRECRAWL_API_KEY",
                key_header=_BEARER, needs="FIRECRAWL_API_KEY", error_means="server"),
        Service("ddgs", "https://duckduckgo.com", _ask_searxng, usual()),
        _keyed("brave", "https://api.search.brave.com", _ask_brave,
               usual("web", "results"), header="X-Subscription-Token: {}"),
        _keyed("exa", "https://api.exa.ai",
               _posted(most="numResults", domains="includeDomains", contents={"text": True}),
               usual("results"), header="x-api-key: {}"),
        _keyed("serper", "https://google.serper.dev", _posted(text="q", most="num"), usual("organic"),
               header="X-API-KEY: {}"),
        _keyed("linkup", "https://api.linkup.so/v1",
               _posted(text="q", most="maxResults", domains="includeDomains", depth="standard",
                       outputType="searchResults"),
               usual("results"), header=_BEARER),
        _keyed("perplexity", "https://api.perplexity.ai", _posted(most="max_results", domains="search_domain_filter"),
               usual("results"), header=_BEARER, variable="PERPLEXITYAI_API_KEY"),
        Service("searxng", "", _ask_searxng, usual("results"), role="service", needs="SEARXNG_API_BASE", advice={403: JSON_ADVICE}),
    )
}  # fmt: skip
"""In the order in which `web` takes the first that is set up."""


class Firecrawl(Provider):
    """Web search, and the pages of a site, by Firecrawl or by a server of one's own that speaks like it."""

    async def crawl(self, url: str, limit: int, deadline_s: float | None = None) -> tuple[Hit, ...]:
        """Give pages of the site of `url`, the page itself not among them; `SearchFailed` after every retry.

        One request and one credit however many there are; each is read by whoever wants it, as any other page.
        """

        async def once(seconds: float) -> object:
            body = {"url": url, "limit": min(limit + 1, MAX_MAPPED), "timeout": max(1_000, int(seconds * 1_000))}
            return await self._called(Call("/v2/map", body=body), seconds)

        data = await self._tried(once, deadline_s)
        hits = (self._hit(found) for found in self._usable(usual("links")(data), data))
        others = {canonical(hit.url): hit for hit in hits if hit and same_site(hit.url, url)}
        return tuple(hit for key, hit in others.items() if key != canonical(url))[:limit]


def installed() -> bool:
    """Tell whether the package is there."""
    return find_spec("ddgs") is not None


class Ddgs(Provider):
    """Keyless web search by a package."""

    async def _ask(self, asked: ProviderQuery, seconds: float) -> list[ProviderHit]:
        try:
            from ddgs import DDGS  # type: ignore[import-not-found]
            from ddgs.exceptions import DDGSException  # type: ignore[import-not-found]
        except ImportError:
            raise self._failure("nonsense", MISSING) from None
        try:
            # Its own limit holds for each wait only; the thread that outlives ours ends soon after.
            rows = await asyncio.to_thread(
                lambda: DDGS(timeout=max(1, int(seconds))).text(
                    asked.query.text, max_results=asked.query.max_results, backend=ENGINES
                )
            )
        except DDGSException as error:  # every failure of its engines, an empty list of results as well
            said, name = str(error), type(error).__name__
        else:
            return self._usable(usual()(rows), rows)
        if _NOTHING in said.casefold():
            return []
        if "ratelimit" in (name + said).casefold():
            raise self._failure("rate", said)
        raise self._failure("timeout" if "timeout" in name.casefold() else "connection", said)


KINDS: dict[str, type[Provider]] = {"tavily": Tavily, "firecrawl": Firecrawl, "ddgs": Ddgs}
"""Services that are more than a line of the table."""
