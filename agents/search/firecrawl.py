"""Firecrawl: search, one page, or a part of a site, over its REST interface."""

import asyncio
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from agents.contracts.sources import SearchQuery, Source
from agents.core.errors import SourceError
from agents.nlp.tokens import seen, unruffled
from agents.search.library import now
from agents.search.pages import MAX_TEXT, page_source, refusal_of
from agents.search.provider import Access, Provider, ProviderHit, day, dicts, rows_of, web_address, words
from agents.search.scope_filter import ProviderQuery, bare_domain
from agents.search.searcher import SearchFailed

BASE = "https://api.firecrawl.dev"
MAX_RESULTS = 50
POLL_S = 2.0
"""Seconds between two looks at a crawl that is still running."""
CRAWL_S = 120.0
"""Seconds for a crawl when nothing else is said."""
MAX_PAGES = 50


class Firecrawl(Provider):
    """Web search, and reading a part of a site, by Firecrawl or by a server of one's own that speaks like it.

    Args:
        access: key and address; a server of one's own may need no key.
        sleep: how to wait between looks at a crawl.
        date: gives the time of reading as ISO date and time.
    """

    key_variable = "FIRECRAWL_API_KEY"

    def __init__(
        self,
        access: Access = Access(),
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        date: Callable[[], str] = now,
    ) -> None:
        super().__init__("firecrawl", BASE, access)
        self._sleep, self._date = sleep, date

    async def crawl(
        self, url: str, *, limit: int = 10, depth: int = 1, deadline_s: float | None = None
    ) -> tuple[Source, ...]:
        """Read a page and those of the same site that it leads to. At the deadline, what is there is given.

        Raises:
            SearchFailed: the crawl could not be begun, or failed before it gave a page.
        """
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + (CRAWL_S if deadline_s is None else deadline_s)
        started = await self._call(
            "POST",
            "/v2/crawl",
            {
                "url": url,
                "limit": max(1, min(limit, MAX_PAGES)),
                "maxDiscoveryDepth": depth,
                "scrapeOptions": {"formats": ["markdown"], "onlyMainContent": True},
            },
            ends_at - loop.time(),
            attempts=1,  # a start that was not answered may have begun all the same: a second one would be paid twice
        )
        number = started.get("id") if isinstance(started, dict) else None
        if not isinstance(number, str) or not number.replace("-", "").isalnum():
            raise self._failure("nonsense", "the crawl has no number")
        path, state, rows = f"/v2/crawl/{number}", "scraping", []
        try:
            while True:
                data = await self._call("GET", path, None, ends_at - loop.time())
                state = str(data.get("status")) if isinstance(data, dict) else ""
                if state != "scraping":
                    rows = await self._all_rows(data, ends_at)
                    break
                rows = dicts(rows_of(data, "data") or ())
                if loop.time() + POLL_S >= ends_at:
                    break
                await self._sleep(POLL_S)
        except SearchFailed:
            if not rows:
                raise
        finally:
            if state == "scraping":
                await self._stop(path)
        if state not in ("scraping", "completed") and not rows:
            raise self._failure("server", f"the crawl ended as {state!r}")
        return self._sources(rows, limit)

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

    async def _call(
        self,
        method: str,
        path: str,
        body: dict[str, object] | None,
        deadline_s: float | None,
        attempts: int | None = None,
    ) -> object:
        async def once(seconds: float) -> object:
            return self._json(await self._send(method, path, seconds, body=body, headers=self._headers()))

        return await self._tried(once, deadline_s, attempts)

    async def _all_rows(self, data: object, ends_at: float) -> list[dict[str, object]]:
        """Gather the pages of a crawl; long answers come in parts."""
        rows: list[dict[str, object]] = dicts(rows_of(data, "data") or ())
        while isinstance(data, dict) and isinstance(data.get("next"), str) and len(rows) < MAX_PAGES:
            split = urlsplit(data["next"])  # asked of our own base: the address comes from the answer, the key is ours
            path = split.path[split.path.find("/v2/") :] + (f"?{split.query}" if split.query else "")
            try:
                data = await self._call("GET", path, None, ends_at - asyncio.get_running_loop().time(), attempts=1)
            except SearchFailed:
                break
            more = dicts(rows_of(data, "data") or ())
            if not more:
                break
            rows += more
        return rows

    async def _stop(self, path: str) -> None:
        """Tell the service to end a crawl: what it reads from now on would be paid for nothing."""
        try:
            await self._send("DELETE", path, 2.0, headers=self._headers())
        except SearchFailed:
            return

    def _sources(self, rows: list[dict[str, object]], limit: int) -> tuple[Source, ...]:
        found: dict[str, Source] = {}
        for row in rows:
            try:
                source = self._source(row, "")
            except SourceError:
                continue
            found.setdefault(source.url, source)
            # So that reading one of them needs no second request.
            self._cache.put(
                source.url,
                provider=self.name,
                title=source.title,
                text=source.text,
                published=source.published,
                whole=True,
            )
        return tuple(found.values())[:limit]

    def _source(self, document: dict[str, object], asked: str) -> Source:
        about = document.get("metadata")
        about = about if isinstance(about, dict) else {}
        url = web_address(about.get("url")) or web_address(about.get("sourceURL")) or web_address(asked)
        if url is None:
            raise SourceError(asked or "unknown", "it has no usable address")
        status = about.get("statusCode")
        if isinstance(status, int) and status >= 400:
            raise SourceError(url, f"the site answered with status {status}")
        written = document.get("markdown")
        text = unruffled(seen(written[:MAX_TEXT])) if isinstance(written, str) else ""
        if not any(letter.isalnum() for letter in text):
            raise SourceError(url, "it holds no text")
        title = words(about.get("title"))
        if reason := refusal_of(title, text, url):
            raise SourceError(url, reason)
        language = about.get("language")
        return page_source(
            url,
            title=title,
            text=text,
            retrieved=self._date(),
            published=day(about.get("publishedTime")),
            language=language[:2].lower() if isinstance(language, str) and len(language) >= 2 else None,
        )

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
