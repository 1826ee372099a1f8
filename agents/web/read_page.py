"""Addresses as documents: each is fetched here, and read in a process of its own."""

import asyncio
from functools import cache

from agents.contracts.frozen import Said
from agents.core.errors import SourceError
from agents.web.decoding import WRITTEN, Document
from agents.web.fetching import FetchedPage, Fetcher
from agents.web.reader_pool import Elsewhere, ReaderPool

LIMIT_S = 20.0  # seconds for taking the text out of a page


async def read_page(
    fetcher: Fetcher, url: str, deadline_s: float | None = None, *, known: str = ""
) -> tuple[FetchedPage, Document]:
    """Fetch an address and read it; a page that only frames a document is followed to it once, as if it were a link.

    Where it still is the `known` version, the document is empty. A `SourceError` says for the reader of the report why it
    can't be read or may not be used.
    """
    try:
        async with asyncio.timeout(deadline_s):
            fetched = await fetcher.fetch(url, known=known)
            try:
                if fetched.unchanged:
                    return fetched, Document("", "")
                return fetched, await read_document(fetched.body, fetched.content_type, fetched.final_url)
            except Elsewhere as page:
                fetched = await fetcher.fetch(page.document_url)
                return fetched, await read_document(fetched.body, fetched.content_type, fetched.final_url)
    except TimeoutError as error:
        raise SourceError(url, Said("it took too long ({seconds} s)", seconds=f"{deadline_s:.3g}"), "site") from error
    except SourceError as error:
        if error.url == url:
            raise
        raise SourceError(url, error.reason, error.fault, retryable=error.retryable) from error


async def read_document(body: bytes, content_type: str, url: str, limit_s: float = LIMIT_S) -> Document:
    """Read a document of any kind, in a process of its own that is ended when it takes too long.

    A `SourceError` says for the reader of the report that it is no text, stands behind a wall, or is broken; `Elsewhere`,
    that it only frames another document.
    """
    found = await _pool().read({"content_type": content_type, "url": url}, body, limit_s)
    if "elsewhere" in found:
        raise Elsewhere(url, str(found["elsewhere"]))
    if "reason" in found:
        raise SourceError(url, Said.read(found["reason"]))
    return WRITTEN.validate_python(found)


_pool = cache(ReaderPool)  # the processes of this program; they end with it
