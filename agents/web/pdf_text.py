"""PDF files as documents: columns in the order of reading, running heads dropped, cut words joined, pages known."""

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from agents.core.errors import SourceError
from agents.nlp.tokens import language_of
from agents.web.parsed_document import Document

SCAN = "it is a scan without text"
LOCKED = "it is locked with a password"
BROKEN = "it is a broken PDF file"
EMPTY = "it has no text"

_FAULTS = {"scan": SCAN, "password": LOCKED, "broken": BROKEN, "empty": EMPTY}


def is_pdf(body: bytes) -> bool:
    """Tell a PDF file by its beginning, which may stand after some stray bytes."""
    return b"%PDF-" in body[:1024]


def read_pdf(body: bytes, url: str) -> Document:
    """Read a PDF file. Hostile files make this loop, grow or crash: to be called in a process that can be ended.

    Args:
        body: the whole file.
        url: where it was found; names it when it does not name itself.

    Returns:
        The document; `gaps` tells which pages could not be read.

    Raises:
        SourceError: it is a scan, locked, broken or empty.
    """
    from agents.web.pdf_pages import read_pages  # loads a library of 8 MB

    found = read_pages(body)
    if isinstance(found, str):
        raise SourceError(url, _FAULTS[found])
    return Document(
        title=found.title or _file_name(url),
        text=found.text,
        author=found.author,
        site=(urlsplit(url).hostname or "").removeprefix("www.") or None,
        published=found.published,
        language=language_of(found.text),
        pages=found.spans,
        gaps=tuple(_gaps(found.unread, len(found.spans), found.total)),
    )


def _gaps(unread: Sequence[int], read: int, total: int) -> Iterator[str]:
    """Say which pages are missing."""
    runs: list[list[int]] = []
    for number in unread:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    named = ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)
    if named:
        yield f"page{'s' if len(unread) > 1 else ''} {named} of {total} could not be read"
    if read < total:
        yield f"only the first {read} of {total} pages were read"


def _file_name(url: str) -> str:
    name = PurePosixPath(unquote(urlsplit(url).path)).stem
    return " ".join(name.replace("_", " ").replace("-", " ").split()) or "Untitled"
