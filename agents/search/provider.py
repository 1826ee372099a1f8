"""One search provider: what all of them share. Each adapter says only how to ask, and what it was given."""

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import ClassVar, TypeVar
from urllib.parse import urlsplit

import httpx2
from pydantic import SecretStr

from agents.contracts.sources import Hit, SearchFault, SearchQuery, SearchResult, Source
from agents.core.transport import RetryPolicy
from agents.nlp.tokens import one_line
from agents.search.pages import PageCache
from agents.search.scope_filter import MAX_QUERY, ProviderQuery, enforced, prepared
from agents.search.searcher import SearchFailed, refused
from agents.web.reader import iso_date
from agents.web.url_key import canonical, display, link

MAX_SNIPPET = 1_000
MAX_TITLE = 300
MAX_BYTES = 20 * 2**20
"""A longer answer of a search service is none."""

T = TypeVar("T")


@dataclass(frozen=True)
class ProviderHit:
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


@dataclass(frozen=True)
class Access:
    """What the operator set for a provider, and what providers share.

    Args:
        key: empty for none.
        base: address of the service, where it is not the usual one.
        retry: how often and how long to try; the provider's own when not given.
        cache: where the texts that come with hits are kept.
    """

    key: SecretStr | None = None
    base: str = ""
    retry: RetryPolicy | None = None
    cache: PageCache | None = None


class Provider(ABC):
    """Somewhere on the web to search.

    Args:
        name: as shown to the user.
        base: the service's usual address, without a slash at its end.
        access: what the operator set.
    """

    key_variable: str = ""
    """Where its key is set."""
    max_query: ClassVar[int] = MAX_QUERY

    def __init__(self, name: str, base: str, access: Access) -> None:
        self.name = name
        self.base = (access.base or base).rstrip("/")
        self.host = urlsplit(self.base).netloc.rpartition("@")[2]
        """Where queries go."""
        self._secret = access.key.get_secret_value().strip() if access.key else ""
        self.keyless = not self._secret
        """It is asked without a key."""
        self._retry = access.retry or RetryPolicy()
        self._cache = access.cache or PageCache()

    @cached_property
    def _http(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            headers={"user-agent": "Dossier/0.1 (research assistant)", "accept-encoding": "gzip, deflate"},
            follow_redirects=False,  # a redirect would carry the key away
            limits=httpx2.Limits(max_connections=20, max_keepalive_connections=10),
        )

    async def search(
        self, query: SearchQuery, deadline_s: float | None = None, *, attempts: int | None = None
    ) -> SearchResult:
        """Look for documents.

        Raises:
            SearchFailed: after every retry.
        """
        asked = prepared(query, self.max_query)
        found = await self._tried(lambda seconds: self._ask(asked, seconds), deadline_s, attempts)
        hits = [hit for hit in map(self._hit, found) if hit]
        if found and not hits:
            raise self._failure("nonsense", "no result has a usable address")
        return SearchResult(query=query.text, provider=self.name, hits=enforced(hits, asked.query, asked.prefer))

    def page(self, url: str, *, whole: bool = True) -> Source | None:
        """Give a page whose text came with a hit; with `whole` false, an abstract will do."""
        return self._cache.get(url, whole=whole)

    async def close(self) -> None:
        if "_http" in self.__dict__:
            await self._http.aclose()

    @abstractmethod
    async def _ask(self, asked: ProviderQuery, seconds: float) -> list[ProviderHit]:
        """Send one request, which is cut off after so many seconds.

        Raises:
            SearchFailed: it was not answered with results.
        """

    async def _tried(
        self, send: Callable[[float], Awaitable[T]], deadline_s: float | None, attempts: int | None = None
    ) -> T:
        """Call `send`, again where that may help. It is given the seconds that it may take, and is cut off after them.

        Raises:
            SearchFailed: of the last request.
        """
        loop = asyncio.get_running_loop()
        ends_at = None if deadline_s is None else loop.time() + deadline_s

        def left_s() -> float:
            return float("inf") if ends_at is None else ends_at - loop.time()

        async def once() -> T:
            seconds = min(self._retry.call_s, left_s())
            if seconds > 0:
                try:
                    async with asyncio.timeout(seconds):
                        return await send(seconds)
                except TimeoutError:  # raised below, so that nothing leads back to the request with the key in it
                    pass
            raise self._failure("timeout", f"no answer within {max(0.0, seconds):.1f} s")

        return await self._retry.retrying(left_s, attempts)(once)

    async def _send(
        self,
        method: str,
        path: str,
        seconds: float,
        *,
        base: str = "",
        params: Mapping[str, str] | None = None,
        body: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        """Send one request and give the answer's body.

        Raises:
            SearchFailed: no answer, or one with another status than 200.
        """
        fault: SearchFault
        try:
            async with self._http.stream(
                method, (base or self.base) + path, params=params, json=body, headers=headers, timeout=seconds
            ) as response:
                received = bytearray()
                async for part in response.aiter_bytes():
                    received += part
                    if len(received) > MAX_BYTES:
                        break
                content = bytes(received)
        except httpx2.TimeoutException as error:
            fault, said = "timeout", str(error)
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
            fault, said = "connection", f"{type(error).__name__}: {error}"
        else:
            if len(content) > MAX_BYTES:
                raise self._failure("nonsense", "the answer is too long")
            if response.status_code != 200:
                words = content[:2_000].decode("utf-8", "replace")
                raise self._refused(response.status_code, dict(response.headers), words)
            return content
        raise self._failure(fault, said)  # out here, so that no traceback leads to an address with a key in it

    def _json(self, content: bytes) -> object:
        """Decode JSON.

        Raises:
            SearchFailed: it is none.
        """
        try:
            return json.loads(content)
        except ValueError:
            pass
        raise self._failure("nonsense", "no JSON: " + content[:200].decode("utf-8", "replace"))

    def _failure(
        self, fault: SearchFault, said: str = "", *, retry_after_s: float | None = None, advice: str = ""
    ) -> SearchFailed:
        return SearchFailed(
            fault,
            self.name,
            said,
            retry_after_s=retry_after_s,
            secrets=(self._secret,),
            key_variable=self.key_variable,
            advice=advice,
        )

    def _refused(self, status: int, headers: Mapping[str, str], said: str) -> SearchFailed:
        return refused(self.name, status, headers, said, secrets=(self._secret,), key_variable=self.key_variable)

    def _hit(self, found: ProviderHit) -> Hit | None:
        url = web_address(found.url)
        if url is None:
            return None
        title = words(found.title)[:MAX_TITLE] or urlsplit(url).netloc
        published = day(found.published)
        if isinstance(found.text, str) and found.text:
            self._cache.put(
                url,
                provider=self.name,
                title=title,
                text=found.text,
                published=published,
                whole=found.whole,
                authors=found.authors,
            )
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


def dig(data: object, *path: str | int) -> object:
    """Give what stands at a path of a decoded JSON answer; None when the answer has another shape."""
    for name in path:
        if isinstance(data, dict):
            data = data.get(name)
        elif isinstance(data, list) and isinstance(name, int) and name < len(data):
            data = data[name]
        else:
            return None
    return data


def rows_of(data: object, *path: str) -> list[object] | None:
    """Give the list at a path; None when there is none."""
    found = dig(data, *path)
    return found if isinstance(found, list) else None


def dicts(rows: Iterable[object]) -> list[dict[str, object]]:
    """Give each row as an object, an empty one in place of what is none."""
    return [row if isinstance(row, dict) else {} for row in rows]


def usual_hit(row: Mapping[str, object], snippet: str, published: str) -> ProviderHit:
    """Make a result of a row in the shape that most services use, with the names of what differs."""
    found = row.get
    return ProviderHit(
        found("url"), found("title"), found(snippet), found(published), found("score"), found("raw_content"), whole=True
    )
