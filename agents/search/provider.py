"""One search provider: what all of them share. Each adapter says only how to ask, and what it was given."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, ClassVar
from urllib.parse import urlsplit

from pydantic import SecretStr

from agents.contracts.source import Hit, SearchQuery, SearchResult, Source
from agents.nlp.normalize import one_line
from agents.search.pages import KeptPages
from agents.search.query_text import MAX_QUERY, Asked, prepared
from agents.search.request_retry import ATTEMPTS, Patience
from agents.search.scope_filter import enforced
from agents.search.search_errors import SearchFailed, refused
from agents.web.markdown_text import iso_date
from agents.web.url_key import canonical, display, link

MAX_SNIPPET = 1_000
MAX_TITLE = 300


@dataclass(frozen=True)
class Found:
    """One result as a provider gave it; an unusable address makes it no result."""

    url: object
    title: object = ""
    snippet: object = ""
    published: object = None
    score: object = None
    text: object = None
    """The page's text, or an abstract, where the provider sent it."""
    whole: bool = False
    """True when `text` is the whole page, so that the page need not be fetched."""
    authors: tuple[str, ...] = ()


class Provider(ABC):
    """Somewhere on the web to search.

    Args:
        base: address of the service, without a slash at its end.
        key: empty for none.
        patience: how long to bear with it.
        kept: where the texts that come with hits are kept.
    """

    keyless: ClassVar[bool] = False
    """Works without a key."""
    key_variable: str = ""
    """Where its key is set."""
    max_query: ClassVar[int] = MAX_QUERY

    def __init__(
        self,
        *,
        name: str,
        base: str,
        key: SecretStr | None = None,
        patience: Patience | None = None,
        kept: KeptPages | None = None,
    ) -> None:
        self.name = name
        """As shown to the user."""
        self.base = base.rstrip("/")
        self.host = urlsplit(base).netloc.rpartition("@")[2]
        """Where queries go."""
        self._secret = key.get_secret_value() if key else ""
        self._patience = patience or Patience()
        self._kept = kept or KeptPages()

    async def search(
        self, query: SearchQuery, deadline_s: float | None = None, *, attempts: int = ATTEMPTS
    ) -> SearchResult:
        """Look for documents.

        Raises:
            SearchFailed: after every retry.
        """
        asked = prepared(query, self.max_query)
        found = await self._patience.bear(
            lambda seconds: self._ask(asked, seconds), provider=self.name, deadline_s=deadline_s, attempts=attempts
        )
        hits = [hit for hit in map(self._hit, found) if hit]
        if found and not hits:
            raise self._failure("nonsense", "no result has a usable address")
        return SearchResult(query=query.text, provider=self.name, hits=enforced(hits, asked.query, asked.prefer))

    def page(self, url: str, *, whole: bool = True) -> Source | None:
        """Give a page whose text came with a hit; with `whole` false, an abstract will do."""
        return self._kept.get(url, whole=whole)

    async def close(self) -> None:  # noqa: B027 - not every provider holds connections
        """Let go of the connections."""

    @abstractmethod
    async def _ask(self, asked: Asked, seconds: float) -> list[Found]:
        """Send one request, which is cut off after so many seconds.

        Raises:
            SearchFailed: it was not answered with results.
        """

    def _failure(self, kind: Any, said: str = "", *, retry_after_s: float | None = None) -> SearchFailed:
        return SearchFailed(
            kind,
            self.name,
            said,
            retry_after_s=retry_after_s,
            secrets=(self._secret,),
            key_variable=self.key_variable,
        )

    def _refused(self, status: int, headers: Mapping[str, str], said: str) -> SearchFailed:
        return refused(self.name, status, headers, said, secrets=(self._secret,), key_variable=self.key_variable)

    def _hit(self, found: Found) -> Hit | None:
        url = web_address(found.url)
        if url is None:
            return None
        title = words(found.title)[:MAX_TITLE] or urlsplit(url).netloc
        published = day(found.published)
        if text := found.text if isinstance(found.text, str) else "":
            self._kept.put(url, title=title, text=text, published=published, whole=found.whole, authors=found.authors)
        score = found.score if isinstance(found.score, int | float) and not isinstance(found.score, bool) else 0.0
        return Hit(
            url=url,
            title=title,
            snippet=words(found.snippet)[:MAX_SNIPPET],
            score=float(score),
            published=published,
            provider=self.name,
        )


def web_address(value: object) -> str | None:
    """Give a web address as it is shown and fetched, without user name and fragment; None when it is none."""
    if not isinstance(value, str) or not value.strip().lower().startswith(("http://", "https://")):
        return None
    try:
        url = link(value, display(value))
        return url if urlsplit(canonical(url)).hostname else None
    except ValueError:  # brackets or a port that are none
        return None


def words(value: object) -> str:
    """Give a text of a provider in one line; nothing for what is no text."""
    return one_line(value) if isinstance(value, str) else ""


def day(value: object) -> str | None:
    """Give a date as ISO 8601, as precise as it is written: ISO, a year, or as mails and feeds write it."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        return None
    if found := iso_date(value):
        return found
    try:
        return parsedate_to_datetime(value).date().isoformat()
    except ValueError:
        return None


def rows_of(data: object, *path: str) -> list[Any] | None:
    """Give the list at a path of a decoded JSON answer; None when the answer has another shape."""
    for name in path:
        if not isinstance(data, dict) or name not in data:
            return None
        data = data[name]
    return data if isinstance(data, list) else None


def dicts(rows: Iterable[object]) -> list[dict[str, Any]]:
    """Give each row as an object, an empty one in place of what is none."""
    return [row if isinstance(row, dict) else {} for row in rows]
