"""From a page to others of its site, one step: by a crawler where a key allows one, else by the page's own links."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from agents.contracts.source import Hit, Source
from agents.search.pages import Pages
from agents.search.search_errors import SearchFailed
from agents.web.url_key import canonical

SNIPPET = 300
"""Characters of a crawled page that stand for it in a list."""

SHARE = 0.5
"""Of the time left, what a crawler may take while the page's links could answer in its place."""


@runtime_checkable
class CrawlService(Protocol):
    """A provider that crawls; see `agents.search.firecrawl.Firecrawl`."""

    name: str

    async def crawl(
        self, url: str, *, limit: int = 10, depth: int = 1, deadline_s: float | None = None
    ) -> tuple[Source, ...]:
        """Read a page and those of the same site that it leads to."""
        ...


async def crawled(
    engines: Sequence[Any], pages: Pages, url: str, limit: int, deadline_s: float | None
) -> tuple[Hit, ...]:
    """Give pages of the same site that a page leads to, at most `limit`; the page itself is not among them.

    Args:
        engines: providers that may be asked now; those that cannot crawl are passed over.
        pages: reads the page, where no provider can crawl or the one that can has failed.
        url: a page of the web.
        limit: pages, at most.
        deadline_s: seconds for everything.

    Raises:
        SourceError: the page cannot be read or may not be used.
    """
    itself = canonical(url)
    for engine in engines:
        if not isinstance(engine, CrawlService):
            continue
        try:
            sources = await engine.crawl(
                url, limit=limit + 1, deadline_s=None if deadline_s is None else deadline_s * SHARE
            )
        except SearchFailed:
            break
        return tuple(_hit(source, engine.name) for source in sources if canonical(source.url) != itself)[:limit]
    links = await pages.links(url, deadline_s)
    return tuple(Hit(url=address, title=label, provider="links") for address, label in links)[:limit]


def _hit(source: Source, provider: str) -> Hit:
    return Hit(
        url=source.url,
        title=source.title,
        snippet=source.text[:SNIPPET],
        published=source.published,
        provider=provider,
    )
