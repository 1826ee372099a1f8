"""Firecrawl: search, and the pages of a site, over its REST interface."""

from agents.contracts.sources import Hit, SearchQuery
from agents.search.provider import Access, Provider, ProviderHit, dicts, rows_of
from agents.search.scope_filter import ProviderQuery, bare_domain
from agents.web.url_key import canonical, same_site

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
