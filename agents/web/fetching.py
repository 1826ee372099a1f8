"""Pages and files from the web: guarded, polite, limited in size and time, with reasons that a reader understands.

Knows bytes and headers; what they say is `agents.web.reader`'s.
"""

import asyncio
import logging
import random
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpcore2
import httpx2

from agents.contracts.frozen import Said
from agents.core.errors import SourceError
from agents.core.transport import PROXY_WANTS_A_NAME, RetryPolicy, advice, retry_after_s
from agents.web.guard import AllowedHosts, Blocked, Guard, GuardedTransport, Resolver, system_resolver
from agents.web.politeness import ROBOTS_BYTES, Manners

MAX_BYTES = 5 * 2**20  # the largest body, as sent and as unpacked
TOTAL_S = 20.0
MAX_REDIRECTS = 5
MAX_PAUSE_S = 30.0  # a host that asks to be left alone for longer is passed over instead: a run has other pages to read
MAX_HEADERS = 300
MAX_VERSION = 200
ROBOTS_S = 5.0  # seconds for a robots.txt; a site that takes longer is read without
USER_AGENT = "Dossier/0.1 (research assistant; reads single pages that a person asked about)"
ACCEPT = "text/html,application/xhtml+xml,application/pdf,text/plain,text/markdown,application/json;q=0.9,*/*;q=0.5"

NO_HTTP = "its server does not keep to the rules of HTTP"
PAUSES = "its server asked to be left alone for a while"
TOO_LARGE = Said("it is too large (> {size})", size=f"{MAX_BYTES / 2**20:g} MiB")
CIRCLE = "it redirects in a circle"
ROBOTS_SAY_NO = "robots.txt asks not to read it"

_MEDIA = {
    "video": "a video",
    "audio": "a sound recording",
    "image": "a picture",
    "font": "a font",
    "model": "a 3-D model",
}
_STATUS = {
    401: "it asks for a log-in", 402: "it asks for payment", 403: "it refused access", 404: "there is no such page",
    407: PROXY_WANTS_A_NAME, 410: "the page was taken away", 429: "it takes no more requests for now",
    451: "it is not available here for legal reasons",
}  # fmt: skip
_PASSING = {408, 425, 429, 500, 502, 503, 504}
_REDIRECTS = {301, 302, 303, 307, 308}
_READABLE_ENCODINGS = {"gzip", "deflate", "identity"}

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class FetchedPage:
    """An answer that was read to its end."""

    url: str
    """As it was asked for."""
    final_url: str
    """Where the last redirect led; this address was really retrieved."""
    content_type: str
    """As sent, with its parameters; empty when none was sent."""
    body: bytes
    version: str = ""
    """By which it is known again: its ETag, else the day it changed last."""
    unchanged: bool = False
    """It still is the version that is known; nothing was sent."""


def _passing(url: str, reason: str, *, retry_after_s: float | None = None) -> SourceError:
    """Make a failure that may be gone at the next attempt, and that other pages of the site would meet as well."""
    return SourceError(url, reason, "site", retryable=True, retry_after_s=retry_after_s)


@contextmanager
def _standing_still(work: asyncio.Timeout) -> Iterator[None]:
    """Stop the time of work while a turn is waited for."""
    when, now = work.when(), asyncio.get_running_loop().time
    if when is None or work.expired():  # the task is about to be told
        yield
        return
    left = when - now()
    work.reschedule(None)
    yield
    work.reschedule(now() + left)


class Fetcher:
    """Reads addresses: one client for all, closed by `aclose`, for one event loop.

    Private hosts that the operator opened are `allowed`; a whole `guard` takes the place of one made of these and `resolver`.
    A fetch gets `total_s` seconds, without those spent waiting for a turn; a host gets `per_host_rate` requests a second.
    """

    def __init__(
        self, allowed: AllowedHosts | None = None, *, resolver: Resolver = system_resolver, guard: Guard | None = None,
        backend: httpcore2.AsyncNetworkBackend | None = None, total_s: float = TOTAL_S, per_host_rate: float = 2.0,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        now: Callable[[], datetime] = lambda: datetime.now(UTC), spread: Callable[[], float] = random.random,
    ) -> None:  # fmt: skip
        self._guard = guard or Guard(allowed, resolver)
        self._backend = backend
        self._total_s, self._now = total_s, now
        self._retry = RetryPolicy(longest_wait_s=total_s, sleep=sleep, spread=spread)
        self._manners = Manners(self._robots_txt, USER_AGENT.partition("/")[0], per_host_rate, sleep)

    async def fetch(self, url: str, *, known: str = "") -> FetchedPage:
        """Read one address, following its redirects; the version that is `known` of it need not be sent again.

        A `SourceError` says for the reader of the report why it can't or may not be read; `retryable` when that may pass.
        """
        work, now = asyncio.timeout(self._total_s), asyncio.get_running_loop().time
        retrying = self._retry.retrying(lambda: (work.when() or now()) - now())
        try:
            async with work:
                fetched: FetchedPage = await retrying(self._follow, url, work, known)
        except TimeoutError as error:
            raise _passing(url, Said("it took too long ({seconds} s)", seconds=f"{self._total_s:.3g}")) from error
        return fetched

    async def aclose(self) -> None:
        """Close every connection."""
        if "_client" in self.__dict__:
            await self._client.aclose()

    @cached_property
    def _client(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            transport=GuardedTransport(self._guard, self._backend),
            trust_env=False,
            follow_redirects=False,  # each hop is judged, waits for its turn and is asked for in robots.txt
            timeout=httpx2.Timeout(10.0, connect=5.0, pool=None),
            headers={"user-agent": USER_AGENT, "accept": ACCEPT, "accept-encoding": "gzip, deflate"},
            # No site may recognise us from one page to the next.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        )

    async def _follow(self, url: str, work: asyncio.Timeout | None = None, known: str = "") -> FetchedPage:
        """Make one attempt: the address, and where it redirects; robots.txt itself, which is no `work`, waits for no turn."""
        with _explained(url):
            at = self._guard.check(_written(url))
            visited: set[str] = set()
            for _ in range(MAX_REDIRECTS + 1):
                if str(at) in visited:
                    raise SourceError(url, CIRCLE)
                visited.add(str(at))
                await self._guard.admit(at)
                origin = f"{at.scheme}://{at.netloc.decode('ascii')}"
                async with AsyncExitStack() as turn:
                    if work is not None:
                        if not await self._manners.allow(origin, str(at)):
                            raise SourceError(url, ROBOTS_SAY_NO)
                        if self._manners.pause_s(origin) > MAX_PAUSE_S:
                            raise SourceError(url, PAUSES)
                        with _standing_still(work):
                            await turn.enter_async_context(self._manners.turn(origin))
                    answer = await self._get(url, at, origin, known)
                if isinstance(answer, FetchedPage):
                    return answer
                at, known = self._guard.check(at.join(_written(answer))), ""  # versions are those of one address
        raise SourceError(url, "it redirects too often")

    async def _get(self, url: str, at: httpx2.URL, origin: str, known: str) -> FetchedPage | str:
        """Ask for one address; give the answer, or where it redirects."""
        unless = {"if-none-match" if known.endswith('"') else "if-modified-since": known} if known else None
        async with self._client.stream("GET", at, headers=unless) as response:
            if response.status_code in _REDIRECTS and (where := response.headers.get("location")):
                return where
            if response.status_code == 304 and known:
                return FetchedPage(url, str(at), "", b"", known, unchanged=True)
            self._judge_status(url, origin, response)
            self._judge_headers(url, response)
            body = await self._body(url, response)
            kind = response.headers.get("content-type", "")
        version = (response.headers.get("etag") or response.headers.get("last-modified") or "")[:MAX_VERSION]
        return FetchedPage(url, str(at), kind, body, version)

    def _judge_status(self, url: str, origin: str, response: httpx2.Response) -> None:
        code = response.status_code
        if 200 <= code < 300:
            return
        reason = _STATUS.get(code) or ("its server failed" if code >= 500 else "its server did not hand it out")
        why = Said("{why} ({code})", why=reason, code=code)
        if code not in _PASSING:
            raise SourceError(url, why)
        if wait_s := retry_after_s(response.headers.get("retry-after", ""), self._now()):
            self._manners.pause(origin, wait_s)
        raise _passing(url, why, retry_after_s=wait_s or None)

    def _judge_headers(self, url: str, response: httpx2.Response) -> None:
        """Refuse, before the body comes, what it would be no use to read."""
        headers = response.headers
        if len(headers.raw) > MAX_HEADERS:
            raise SourceError(url, NO_HTTP)
        kind = headers.get("content-type", "").partition("/")[0].strip().lower()
        if kind in _MEDIA:
            raise SourceError(url, f"it is {_MEDIA[kind]}, not a text")
        encodings = [one.strip().lower() for one in headers.get("content-encoding", "identity").split(",")]
        # One inside another is no honest page: a few bytes could keep us unpacking for ever without giving any.
        if len(encodings) > 1 or not _READABLE_ENCODINGS.issuperset(encodings):
            raise SourceError(url, "it is compressed in a way that was not asked for")
        length = headers.get("content-length", "0").strip()
        if length.isdecimal() and int(length[:15]) > MAX_BYTES:
            raise SourceError(url, TOO_LARGE)

    async def _body(self, url: str, response: httpx2.Response) -> bytes:
        found = bytearray()
        async for part in response.aiter_bytes():  # unpacked in steps of 1 MiB, so that the limit holds within them
            found += part
            if max(len(found), response.num_bytes_downloaded) > MAX_BYTES:
                raise SourceError(url, TOO_LARGE)
        return bytes(found)

    async def _robots_txt(self, address: str) -> bytes | None:
        """Ask a site for its rules, under the same guard; None when it does not answer."""
        try:
            async with asyncio.timeout(ROBOTS_S):
                return (await self._follow(address)).body[:ROBOTS_BYTES]
        except (SourceError, TimeoutError) as error:
            log.info("no robots.txt: %s (%r)", address, error)
            return b"" if isinstance(error, SourceError) and error.fault == "document" and not error.retryable else None


@contextmanager
def _explained(url: str) -> Iterator[None]:
    """Turn the errors of network and guard into reasons."""
    try:
        yield
    except Blocked as error:
        log.info("not fetched: %s (%s)", url, error.reason)
        raise SourceError(url, error.reason) from error
    except httpx2.TimeoutException as error:
        raise _passing(url, "it did not answer in time") from error
    except httpx2.ProxyError as error:
        raise SourceError(url, advice(str(error)) or "the proxy on the way does not let it through", "site") from error
    except httpx2.ConnectError as error:
        if "CERTIFICATE_VERIFY_FAILED" in str(error):
            raise SourceError(url, advice(str(error)) or "its certificate is not valid", "site") from error
        raise _passing(url, "its server could not be reached") from error
    except (httpx2.NetworkError, httpx2.RemoteProtocolError) as error:
        raise _passing(url, "the connection broke off") from error
    except httpx2.DecodingError as error:
        raise SourceError(url, "its compressed data is broken") from error
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
        raise SourceError(url, NO_HTTP) from error
    except OSError as error:
        if isinstance(error, socket.gaierror) and error.errno != socket.EAI_AGAIN:
            raise SourceError(url, "there is no server of this name", "site") from error
        raise _passing(url, "its name could not be looked up") from error


def _written(url: str) -> str:
    """Write an address as links are often found: with space around, and unescaped spaces within."""
    return url.strip().replace(" ", "%20")
