"""PDF and office files of a folder: read apart from the program, some side by side, within bounds of size and time."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

from agents.core.errors import SourceError
from agents.web.parsed_document import Document
from agents.web.pdf_text import is_pdf
from agents.web.reader import is_zip, read_document
from agents.web.reader_pool import AT_ONCE

MAX_BYTES = 50_000_000
"""Larger files are skipped and named."""

FILE_S = 15.0
"""Seconds for one file; one that takes longer is skipped and named."""

SCAN_S = 60.0
"""Seconds of one look at the folders for files of these kinds; what is left is read at the next look."""

READ = {".pdf", ".docx", ".docm", ".dotx", ".xlsx", ".xlsm", ".pptx", ".odt", ".ods", ".odp", ".epub", ".rtf"}
"""Endings of the files that are read here."""

UNREAD = {".doc", ".dot", ".pages", ".xls", ".ppt", ".numbers", ".key"}
"""Endings of office files that are not read; they are named, with a way out."""

OTHER_OFFICE = (
    "office files of this kind are not read; saved as PDF or in a newer format (.docx, .xlsx, .pptx) it would be"
)
TOO_LARGE = "it is larger than 50 MB"
NO_PDF = "it is named like a PDF file, and is none"
NO_OFFICE = "it is named like an office file, and is none"
LATER = "it has not been read yet: there are many files, and the next look goes on with it"

_OTHER_STARTS = (
    b"{\\rtf",
    b"\xd0\xcf\x11\xe0",
)  # rich text; old and locked office files: the reader says what they are

File = TypeVar("File")


@dataclass(frozen=True)
class Outcome:
    """What came of a file: a document, or the reason why there is none."""

    document: Document | None = None
    reason: str = ""
    later: bool = False
    """Not looked at yet."""


def read_all(
    files: Iterable[File],
    body_of: Callable[[File], bytes],
    name_of: Callable[[File], tuple[Path, str]],
    *,
    scan_s: float = SCAN_S,
) -> Iterator[tuple[File, Outcome]]:
    """Read files a few at a time, in order. For a thread that runs no event loop.

    Args:
        files: in the order in which they are read.
        body_of: gives the bytes of a file, or raises OSError.
        name_of: gives path and address of a file.
        scan_s: seconds after which no further file is begun.
    """
    ends_at = time.monotonic() + scan_s
    left = iter(files)
    while batch := tuple(islice(left, AT_ONCE)):
        if time.monotonic() > ends_at:
            yield from ((file, Outcome(reason=LATER, later=True)) for file in (*batch, *left))
            return
        outcomes = asyncio.run(_side_by_side([_read(file, body_of, name_of) for file in batch]))
        yield from zip(batch, outcomes, strict=True)


async def _side_by_side(reading: Iterable[Awaitable[Outcome]]) -> list[Outcome]:
    return list(await asyncio.gather(*reading))


async def _read(file: File, body_of: Callable[[File], bytes], name_of: Callable[[File], tuple[Path, str]]) -> Outcome:
    path, url = name_of(file)
    try:
        body = await asyncio.to_thread(body_of, file)
    except OSError:
        return Outcome(reason="it cannot be opened")
    if len(body) > MAX_BYTES:
        return Outcome(reason=TOO_LARGE)
    is_named_pdf = path.suffix.lower() == ".pdf"
    if not (is_pdf(body) if is_named_pdf else is_zip(body) or body.startswith(_OTHER_STARTS)):
        return Outcome(reason=NO_PDF if is_named_pdf else NO_OFFICE)
    try:
        return Outcome(document=await read_document(body, "", url, FILE_S))
    except SourceError as error:
        return Outcome(reason=error.reason)
