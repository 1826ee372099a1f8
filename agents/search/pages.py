"""Pages as sources: read from the web, or made of a text that a provider sent with its hits."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from html import escape

from agents.contracts.frozen import Said, digest
from agents.contracts.sources import PROVIDER_COPY, Source, SourceKind
from agents.core.errors import SourceError
from agents.nlp.tokens import language_of, one_line, seen, unruffled
from agents.web.decoding import Document
from agents.web.fetching import Fetcher
from agents.web.read_page import read_page
from agents.web.url_key import Links, canonical, display, host_of, identity
from agents.web.walls import wall_of

MAX_TEXT = 2_000_000  # characters of one page, at most; what is beyond is not kept
MAX_KEPT = 20_000_000  # characters of all kept pages; the oldest go first
KEPT_S = 900.0  # seconds after which a kept page is read anew
ENOUGH = 400  # characters below which a text that came with a hit is taken for a remnant, and the page is fetched
MAX_LINKED = 300  # pages whose links are remembered; the oldest go first
ABSTRACT = "only its abstract was read"  # tag of a source of which only the abstract could be read


def now() -> str:
    """Give the present moment as an ISO date and time, UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def source_of(
    url: str,
    document: Document,
    retrieved: str | None,
    *,
    kind: SourceKind = "web",
    key: str = "",
    tags: tuple[Said, ...] = (),
    version: str = "",
) -> Source:
    """Make a source of a document that was `retrieved` then; None for a copy of unknown age.

    Addresses that name one page give one source, by its `key` where it declares an address of its own.
    """
    host = host_of(url)
    text = document.text
    return Source(
        id=Source.id_of(key or (canonical(url) if kind == "web" else url)), url=url,
        title=one_line(document.title) or host or url, kind=kind, text=text, text_hash=digest(text),
        author=document.author, site=document.site or host or None, published=document.published,
        retrieved=retrieved, language=document.language or (language_of(text) if text.strip() else None),
        tags=(*tags, *document.gaps), pages=tuple(start for start, _ in document.pages), version=version,
    )  # fmt: skip


@lru_cache(maxsize=64)  # many searches of one run find the same page
def source_sent(url: str, sent: Document, provider: str, whole: bool) -> Source | None:
    """Make a source of a text that came with a hit; None where it is a remnant, or a wall in front of the page."""
    text = unruffled(seen(sent.text[:MAX_TEXT]))
    wall = wall_of(f"<title>{escape(sent.title)}</title>", text, url)
    if not any(map(str.isalnum, text)) or (whole and (len(text) < ENOUGH or (wall and wall.kind != "partial"))):
        return None
    tags = (*(() if whole else (Said(ABSTRACT),)), Said(PROVIDER_COPY, provider=provider))
    return source_of(url, replace(sent, text=text), None, tags=tags)


class PageCache:
    """Texts that came with hits, for a while, so that reading the page needs no second request. Bounded."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic, max_chars: int = MAX_KEPT) -> None:
        self._clock, self._max_chars = clock, max_chars
        self._pages: OrderedDict[str, tuple[Source, bool, float]] = OrderedDict()
        """Each page, whether it is the whole one, and since when it is kept."""
        self._chars = 0

    def put(self, url: str, sent: Document, *, provider: str, whole: bool) -> None:
        """Keep a page as it was sent, if it is worth keeping; an abstract where it is not the whole."""
        source = source_sent(url, sent, provider, whole)
        if source is None or (not whole and self.get(url, whole=True)):
            return  # an abstract is less than what is there
        self._drop(canonical(url))
        self._pages[canonical(url)] = source, whole, self._clock()
        self._chars += len(source.text)
        while self._chars > self._max_chars:
            self._drop(next(iter(self._pages)))

    def get(self, url: str, *, whole: bool) -> Source | None:
        """Give a kept page; None when there is none, when it is old, or when it is less than asked for."""
        source, is_whole, since = self._pages.get(canonical(url), (None, False, 0.0))
        if source is None or (whole and not is_whole):
            return None
        if self._clock() - since > KEPT_S:
            self._drop(canonical(url))
            return None
        return source

    def _drop(self, key: str) -> None:
        if kept := self._pages.pop(key, None):
            self._chars -= len(kept[0].text)


class WebPages:
    """Reads pages from the web: guarded and polite by the fetcher, walls and empty shells refused by the reader."""

    def __init__(self, fetcher: Fetcher, *, date: Callable[[], str] = now) -> None:
        self._fetcher, self._date = fetcher, date
        self.sent = PageCache()
        """Texts that came with hits."""
        self._links: OrderedDict[str, Links] = OrderedDict()

    async def read(self, url: str, deadline_s: float | None = None, known: Source | None = None) -> Source:
        """Read the page, PDF, Word or text file at an address; a `SourceError` where it can't be read or may not be used.

        What came with a hit is taken for the page; of a paper that is closed to readers the abstract is given, tagged as one.
        """
        if source := self.sent.get(url, whole=True):
            return source
        try:
            return await self._fetched(url, deadline_s, known)
        except SourceError:
            if source := self.sent.get(url, whole=False):
                return source
            raise

    async def _fetched(self, url: str, deadline_s: float | None, known: Source | None) -> Source:
        """Fetch a page; addresses that lead to one, by redirect or because it says so, give sources of one id."""
        fetched, document = await read_page(self._fetcher, url, deadline_s, known=known.version if known else "")
        if known and fetched.unchanged:
            return known.model_copy(update={"retrieved": self._date()})
        self._links[canonical(url)] = document.links
        if len(self._links) > MAX_LINKED:
            self._links.popitem(last=False)
        key = identity(fetched.final_url, document.canonical)
        return source_of(display(fetched.final_url), document, self._date(), key=key, version=fetched.version)

    async def links(self, url: str, deadline_s: float | None = None) -> Links:
        """Give the links of a page's text to pages of its site; the page is read for it only where it was not lately."""
        if canonical(url) not in self._links:
            await self._fetched(url, deadline_s, None)
        return self._links.get(canonical(url), ())
