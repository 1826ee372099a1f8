"""Search without a key: a SearXNG server of one's own, and the package ddgs, which reads pages of search engines."""

import asyncio
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from agents.search.provider import Access, Provider, ProviderHit, dicts, rows_of
from agents.search.scope_filter import ProviderQuery, bare_domain
from agents.search.searcher import SearchFailed

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
        return [
            ProviderHit(
                url=row.get("url"),
                title=row.get("title"),
                snippet=row.get("content"),
                published=row.get("publishedDate"),
                score=row.get("score"),
            )
            for row in dicts(rows)
        ]

    def _refused(self, status: int, headers: Mapping[str, str], said: str) -> SearchFailed:
        if status == 403:
            return self._failure("auth", f"HTTP {status} {said}", advice=JSON_ADVICE)
        return super()._refused(status, headers, said)
