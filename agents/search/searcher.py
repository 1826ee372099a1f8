"""The search protocol: queries to hits, addresses to sources, a corpus to a survey. Knows no provider."""

from typing import Protocol, runtime_checkable

from agents.contracts.source import CorpusSurvey, Hit, SearchQuery, SearchResult, Source

LIBRARY_NAME = "library"
SAMPLE_NAME = "sample library"
FILES_NAME = "your files"
"""What the user's folders, the invented sample and the files of one chat are called, wherever they are named."""


class Searcher(Protocol):
    """Somewhere to look for documents, and to read them."""

    name: str
    """As shown to the user and kept with each search, for example `library`."""

    async def search(self, query: SearchQuery, deadline_s: float | None = None) -> SearchResult:
        """Look for documents; no hits is an answer, not a failure.

        Raises:
            SearchError: the provider failed after every retry.
        """
        ...

    async def read(self, url: str, deadline_s: float | None = None) -> Source:
        """Read the whole document at an address that a search gave, or that the user named.

        Raises:
            SourceError: it cannot be read or may not be used; the reason is for the reader of the report.
        """
        ...

    async def survey(self, question: str = "", limit: int = 24) -> CorpusSurvey:
        """Tell what the documents that match `question` (all of them when empty) talk about."""
        ...


@runtime_checkable
class Crawler(Protocol):
    """A searcher that can go on from a page to others of its site."""

    async def crawl(self, url: str, limit: int, deadline_s: float | None = None) -> tuple[Hit, ...]:
        """Give pages of the same site that the page at `url` leads to, one step away; none is an answer.

        Raises:
            SourceError: the page cannot be read or may not be used.
        """
        ...


class Engine(Protocol):
    """What the chain needs of a provider; see `agents.search.provider.Provider`."""

    name: str
    host: str
    keyless: bool

    async def search(
        self, query: SearchQuery, deadline_s: float | None = None, *, attempts: int | None = None
    ) -> SearchResult:
        """Look for documents, or raise SearchFailed."""
        ...

    def page(self, url: str, *, whole: bool = True) -> Source | None:
        """Give a page whose text came with a hit."""
        ...

    async def close(self) -> None:
        """Let go of the connections."""
        ...


class Texts(Protocol):
    """Texts kept by their digest, so that steps and events carry only the digest."""

    async def put(self, text: str) -> str:
        """Keep `text` and return its digest (`agents.contracts.frozen.digest`)."""
        ...

    async def get(self, text_hash: str) -> str:
        """Return the text of a digest.

        Raises:
            SourceError: no such text is kept.
        """
        ...
