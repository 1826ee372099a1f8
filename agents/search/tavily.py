"""Tavily: web search over its REST interface, with a key or without one."""

import json
from collections.abc import Mapping

from agents.search.provider import Access, Provider, ProviderHit, dicts, rows_of
from agents.search.scope_filter import ProviderQuery, bare_domain, whole_day
from agents.search.searcher import SearchFailed

BASE = "https://api.tavily.com"
MAX_RESULTS = 20
"""As many as the service gives."""
MAX_DOMAINS = 150


class Tavily(Provider):
    """Web search by Tavily, with a key or without one, which allows fewer searches.

    Args:
        access: key and address.
        raw: ask for the texts of the pages with the hits, which saves fetching them.
    """

    key_variable = "TAVILY_API_KEY"

    def __init__(self, access: Access = Access(), *, raw: bool = True) -> None:
        super().__init__("tavily", BASE, access)
        if self.keyless:
            self.name = "tavily-keyless"
        self._raw = raw

    async def _ask(self, asked: ProviderQuery, seconds: float) -> list[ProviderHit]:
        headers = {"X-Tavily-Access-Mode": "keyless"} if self.keyless else {"Authorization": f"Bearer {self._secret}"}
        content = await self._send("POST", "/search", seconds, body=self._body(asked), headers=headers)
        rows = rows_of(self._json(content), "results")
        if rows is None:
            said = content[:2_000].decode("utf-8", "replace")
            raise self._failure("nonsense", f"the answer holds no list of results: {said}")
        return [_found(row) for row in dicts(rows)]

    def _body(self, asked: ProviderQuery) -> dict[str, object]:
        query = asked.query
        prefer = [] if query.include_domains else [bare_domain(domain) for domain in asked.prefer]
        include = prefer or [bare_domain(domain) for domain in query.include_domains]
        exclude = [bare_domain(domain) for domain in query.exclude_domains]
        body = {
            "query": query.text,
            "search_depth": "basic",
            "topic": "general",
            "max_results": min(query.max_results, MAX_RESULTS),
            "include_domains": include[:MAX_DOMAINS],
            "include_domains_mode": "prefer" if prefer else None,
            "exclude_domains": exclude[:MAX_DOMAINS],
            "start_date": whole_day(query.date_from),
            "end_date": whole_day(query.date_to, last=True),
            "include_raw_content": "text" if self._raw else None,
        }
        return {name: value for name, value in body.items() if value}

    def _refused(self, status: int, headers: Mapping[str, str], said: str) -> SearchFailed:
        """Say in words how long a keyless answer asks to wait: it does so in its body."""
        try:
            data = json.loads(said)
        except ValueError:
            data = None
        error = data.get("error") if isinstance(data, dict) else None
        wait = error.get("retry_after_seconds") if isinstance(error, dict) else None
        return super()._refused(
            status, headers, f"{said} try again in {wait}s" if isinstance(wait, int | float) else said
        )


def _found(row: dict[str, object]) -> ProviderHit:
    return ProviderHit(
        url=row.get("url"),
        title=row.get("title"),
        snippet=row.get("content"),
        published=row.get("published_date"),
        score=row.get("score"),
        text=row.get("raw_content"),
        whole=True,
    )
