"""One search provider: what all of them share. A table says of each how it is asked, and where its hits stand."""

import asyncio
import html
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import Literal, TypeVar
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import httpx2
from aiolimiter import AsyncLimiter
from pydantic import SecretStr

from agents.contracts.sources import Hit, SearchFault, SearchQuery, SearchResult
from agents.core.transport import RetryPolicy
from agents.llm.litellm_errors import wait_asked, words_in
from agents.nlp.tokens import one_line
from agents.search.pages import PageCache
from agents.search.scope_filter import ProviderQuery, enforced, prepared
from agents.search.searcher import SearchFailed, fault_of
from agents.web.decoding import Document, iso_date
from agents.web.url_key import canonical, display, link

MAX_SNIPPET = 1_000
MAX_TITLE = 300
MAX_BYTES = 20 * 2**20  # a longer answer of a search service is none
CALL_S = 15.0
TURN_S = 60.0  # seconds for one search of a service that wants to be asked slowly, waiting in line included
SAID_MOST = 20_000  # bytes of a refusal that are looked at
Answer = tuple[int, Mapping[str, str], bytes]
"""Status, headers and body."""
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
    """What the operator set for a provider, and what providers share."""

    key: SecretStr | None = None
    base: str = ""
    retry: RetryPolicy | None = None
    cache: PageCache | None = None


@dataclass(frozen=True)
class Call:
    """One request to a service; with a body it is a POST."""

    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, object] | None = None
    language: str = ""
    """For an address that holds one."""


@dataclass(frozen=True)
class Service:
    """One line of the table of services."""

    name: str
    """As in RETRIEVER, and as shown to the user."""
    base: str
    """Its usual address, without a slash at its end; `{language}` in it is that of the call."""
    ask: Callable[[ProviderQuery, float], Call]
    """How it is asked, by the query and the seconds for the answer."""
    hits: Callable[[object], list[ProviderHit] | None]
    """Where the hits of a decoded answer stand; None for an answer of another shape."""
    role: Literal["web", "service", "papers"] = "web"
    """`service`: one of those that `web` takes the first of; `papers`: asked beside the web, not in its place."""
    key_variable: str = ""
    key_header: str = ""
    """Header and form of the key, such as `Authorization: Bearer {}`."""
    key_param: str = ""
    """Parameter that carries the key, where no header does."""
    needs: str = ""
    """The variable without which it cannot be asked, unless a server of one's own is named; empty when none is needed."""
    keyless: Mapping[str, str] = field(default_factory=dict)
    """Headers that say that there is no key."""
    then: Callable[[object], Call | None] | None = None
    """The request for the hits, by the answer to the first; None where nothing was found."""
    pace: tuple[float, float, int] | None = None
    """Requests, in so many seconds, and how many of them at the same time: what the service asks for, rounded down."""
    error_means: SearchFault = "nonsense"
    """What is wrong when a good answer holds an error."""
    advice: Mapping[int, str] = field(default_factory=dict)
    """What the operator can do about a status."""

    @property
    def base_variable(self) -> str:
        return f"{self.name.upper()}_API_BASE"

    def is_set_up(self, values: Mapping[str, str]) -> bool:
        own = values.get(self.needs, "").strip() or values.get(self.base_variable, "").strip()
        return not self.needs or bool(own)


class Provider:
    """Somewhere on the web to search."""

    def __init__(self, service: Service, access: Access = Access()) -> None:
        self.service = service
        self._secret = access.key.get_secret_value().strip() if access.key else ""
        self.keyless = not self._secret
        """It is asked without a key."""
        self.name = f"{service.name}-keyless" if service.keyless and self.keyless else service.name
        self.base = (access.base or service.base).rstrip("/")
        self.host = urlsplit(self.base).netloc.rpartition("@")[2].removeprefix("{language}.")
        """Where queries go."""
        self._turn: tuple[AbstractAsyncContextManager[object], AbstractAsyncContextManager[object]]
        self._turn = nullcontext(), nullcontext()
        if service.pace:
            rate, per_s, at_once = service.pace
            self._turn = asyncio.Semaphore(at_once), AsyncLimiter(rate, per_s)
        self._retry = access.retry or (RetryPolicy(call_s=TURN_S) if service.pace else RetryPolicy())
        self.cache = access.cache or PageCache()

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
        """Look for documents; `SearchFailed` after every retry."""
        asked = prepared(query)
        found = await self._tried(lambda seconds: self._ask(asked, seconds), deadline_s, attempts)
        hits = [hit for hit in map(self._hit, found) if hit]
        if found and not hits:
            raise self._failure("nonsense", "no result has a usable address")
        return SearchResult(query=query.text, provider=self.name, hits=enforced(hits, asked.query, asked.prefer))

    def warm_up(self) -> None:
        """Load what the first search would else wait for; slow, so for a thread of its own."""

    async def close(self) -> None:
        if "_http" in self.__dict__:
            await self._http.aclose()

    async def _ask(self, asked: ProviderQuery, seconds: float) -> list[ProviderHit]:
        """Ask once, cut off after so many seconds; `SearchFailed` where it is not answered with results."""
        data = await self._called(self.service.ask(asked, seconds), seconds)
        if self.service.then:
            if (following := self.service.then(data)) is None:
                return []
            data = await self._called(following, seconds)
        found = self._usable(self.service.hits(data), data)
        if not found and (said := _beside_nothing(data)):
            raise self._failure(fault_of(400, said) if fault_of(400, said) != "query" else "server", said, answer=said)
        return found

    async def _called(self, call: Call, seconds: float) -> object:
        """Send a request when it is its turn, and give what was answered."""
        base = self.base.replace("{language}", call.language)
        places, limiter = self._turn
        async with places, limiter:
            status, headers, content = await self._send(
                call, min(seconds, CALL_S) if self.service.pace else seconds, base
            )
        if status != 200:
            raise self._refused(status, headers, content[:SAID_MOST])
        if (data := decoded(content)) is None and not content.strip().startswith((b"null", b"<?xml")):
            raise self._failure("nonsense", "it is no JSON", answer=content[:2_000].decode("utf-8", "replace"))
        return data

    def _usable(self, found: list[T] | None, data: object) -> list[T]:
        if found is None:
            said = words_in(data)
            fault = self.service.error_means if dig(data, "error") else "nonsense"
            raise self._failure(fault, said or "the answer has another shape than the service's", answer=said)
        return found

    async def _tried(
        self, send: Callable[[float], Awaitable[T]], deadline_s: float | None, attempts: int | None = None
    ) -> T:
        """Call `send`, again where that may help; `SearchFailed` is that of the last request.

        It is given the seconds that it may take, and is cut off after them.
        """
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + (float("inf") if deadline_s is None else deadline_s)

        def left_s() -> float:
            return ends_at - loop.time()

        async def once() -> T:
            seconds = max(0.0, min(self._retry.call_s, left_s()))
            if seconds:
                with suppress(TimeoutError):  # raised below, so that nothing leads to the request with the key in it
                    async with asyncio.timeout(seconds):
                        return await send(seconds)
            raise self._failure("timeout", f"no answer within {seconds:.1f} s")

        return await self._retry.retrying(left_s, attempts)(once)

    async def _send(self, call: Call, seconds: float, base: str) -> Answer:
        """Send one request and give what came back; `SearchFailed` where nothing did."""
        fault: SearchFault
        params, headers = dict(call.params), dict(self.service.keyless if self.keyless else {})
        if self._secret and self.service.key_param:
            params[self.service.key_param] = self._secret
        elif self._secret:
            name, _, form = self.service.key_header.partition(": ")
            headers[name] = form.format(self._secret)
        url, method = base if base.endswith(call.path) else base + call.path, "GET" if call.body is None else "POST"
        try:
            async with self._http.stream(
                method, url, params=params, json=call.body, headers=headers, timeout=seconds
            ) as response:
                received = bytearray()
                async for part in response.aiter_bytes():
                    received += part
                    if len(received) > MAX_BYTES:
                        raise self._failure("nonsense", "the answer is too long")
                return response.status_code, dict(response.headers), bytes(received)
        except httpx2.TimeoutException as error:
            fault, said = "timeout", str(error)
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
            fault, said = "connection", f"{type(error).__name__}: {error}"
        raise self._failure(fault, said)  # out here, so that no traceback leads to an address with a key in it

    def _failure(
        self, fault: SearchFault, said: str = "", *, advice: str = "", answer: str = "", retry_after_s: float | None = None
    ) -> SearchFailed:  # fmt: skip
        return SearchFailed(
            fault, self.name, said, retry_after_s=retry_after_s, secrets=(self._secret,),
            key_variable=self.service.key_variable, advice=advice, answer=answer,
        )  # fmt: skip

    def _refused(self, status: int, headers: Mapping[str, str], content: bytes) -> SearchFailed:
        """Make a failure of an HTTP answer: its status, how long it asks to wait, its words."""
        told = {name.lower(): value for name, value in headers.items()}
        where = told.get("location")
        said = f"it leads to {where} instead" if where else content.decode("utf-8", "replace")
        if advice := self.service.advice.get(status):
            return self._failure("auth", f"HTTP {status} {said}", advice=advice)
        wait = dig(decoded(content), "error", "retry_after_seconds")  # some say so in the body
        wait_s = wait_asked({"retry-after": str(wait), **told} if isinstance(wait, int | float) else told, said)
        fault = fault_of(status, said, asks_to_wait=wait_s is not None)
        return self._failure(fault, f"HTTP {status} {said}", answer=said, retry_after_s=wait_s or None)

    def _hit(self, found: ProviderHit) -> Hit | None:
        url = web_address(found.url)
        if url is None:
            return None
        title = words(found.title)[:MAX_TITLE] or urlsplit(url).netloc
        published = day(found.published)
        if isinstance(found.text, str) and found.text:
            author = "; ".join(found.authors[:3]) + (" et al." if len(found.authors) > 3 else "")
            document = Document(title, found.text, author=author or None, published=published)
            self.cache.put(url, document, provider=self.name, whole=found.whole)
        score = found.score if isinstance(found.score, int | float) and not isinstance(found.score, bool) else 0.0
        return Hit(
            url=url, title=title, snippet=words(found.snippet)[:MAX_SNIPPET], score=float(score), published=published,
            provider=self.name,
        )  # fmt: skip


def web_address(value: object) -> str | None:
    """Give a web address as it is shown and fetched, without user name and fragment; None when it is none."""
    value = f"https:{value}" if isinstance(value, str) and value.startswith("//") else value
    if not isinstance(value, str) or not value.strip().lower().startswith(("http://", "https://")):
        return None
    try:
        parts = urlsplit(value)
        if parts.path in _REDIRECTORS:  # a search service counts who follows its links
            inner = (one for name in ("uddg", "q", "url") for one in parse_qs(parts.query).get(name, ()))
            value = next((one for one in inner if one.startswith(("http://", "https://"))), value)
        url = link(value, display(value))
        return url if urlsplit(canonical(url)).hostname else None
    except ValueError:  # brackets or a port that are none
        return None


def words(value: object) -> str:
    """Give a text of a provider in one line and without markup; nothing for what is no text."""
    return one_line(html.unescape(_EMPHASIS.sub("", value))) if isinstance(value, str) else ""


def day(value: object) -> str | None:
    """Give a date as ISO 8601, as precise as it is written: ISO, a year, or as mails and feeds write it."""
    value = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(value, str) or not value.strip():
        return None
    with suppress(ValueError):
        return iso_date(value) or parsedate_to_datetime(value).date().isoformat()
    return None


def decoded(content: bytes) -> object:
    """Decode an answer, JSON or XML; None for what is neither."""
    try:
        if not content.lstrip().startswith(b"<"):
            found: object = json.loads(content)
            return found
        if content.lstrip()[:9].lower().startswith((b"<!doctype", b"<html")):
            return None
        # An entity that refers to itself many times over would fill the memory.
        return ElementTree.fromstring(content) if b"<!ENTITY" not in content else None
    except (ValueError, ElementTree.ParseError):
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


def usual(*path: str) -> Callable[[object], list[ProviderHit] | None]:
    """Say where the hits of a service stand; what it calls their parts is found out."""

    def hits(data: object) -> list[ProviderHit] | None:
        inner = dig(data, "data")
        places = (rows_of(data, *path), rows_of(inner, *path), inner, data)
        rows = next((found for found in places if isinstance(found, list) and (found or found is not data)), None)
        if rows is None:  # nothing at the place is no hit, where the rest is an answer to a query
            is_answer = isinstance(data, dict) and (inner == {} or bool({"query", "searchParameters"} & data.keys()))
            return [] if is_answer and not words_in(data) else None
        rows = [{"url": row} if isinstance(row, str) else row for row in rows]
        return [
            ProviderHit(
                _first_of(row, "url", "link", "href", "sourceURL"), _first_of(row, "title", "name"),
                _first_of(row, "content", "snippet", "description", "body", "text"),
                _first_of(row, "published_date", "publishedDate", "page_age", "date"),
                row.get("score"), _first_of(row, "raw_content", "markdown"), whole=True,
            )
            for row in dicts(rows)
        ]  # fmt: skip

    return hits


_REDIRECTORS = ("/l/", "/url")
_EMPHASIS = re.compile(r"</?(?:b|strong|em|i|mark|span|br)\b[^<>]*>", re.IGNORECASE)


def _first_of(row: dict[str, object], *names: str) -> object:
    about = row.get("metadata")
    places = (row, about) if isinstance(about, dict) else (row,)
    return next((value for place in places for name in names if (value := place.get(name))), None)


def _beside_nothing(data: object) -> str:
    """Give why an answer holds no hits, where it says so: that nothing was found is no reason."""
    engines = rows_of(data, "unresponsive_engines") or []
    mute = "; ".join(": ".join(map(str, one)) for one in engines if isinstance(one, list))
    said = words_in(data) or (f"no engine answers: {mute}" if mute else "")
    return "" if re.search(r"no (?:\w+ )?results|nothing|not found", said, re.IGNORECASE) else said
