"""PDF files as documents: columns in the order of reading, running heads dropped, cut words joined, pages known."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agents.core.errors import SourceError
from agents.nlp.tokens import language_of, one_line
from agents.web.decoding import MAX_NAME, Document, file_name, title_of

if TYPE_CHECKING:
    from agents.web.pdf_layout import Line
    from agents.web.pdf_pages import PdfText

SCAN = "it is a scan without text"
LOCKED = "it is locked with a password"
BROKEN = "it is a broken PDF file"
EMPTY = "it has no text"
GARBLED = "its letters cannot be read: a font says something else than it shows"

_DATE = re.compile(r"D:(\d{4})(\d{2})?(\d{2})?")
_MADE_UP_DATE = "D:20000101000000"  # written by a library that is told to make equal files
_NO_TITLE = re.compile(
    r"untitled.*|document\d*|slide \d+|powerpoint presentation|title"
    r"|.*\.(?:docx?|pdf|indd|tex|dvi|qxd|rtf|odt|pptx?|xlsx?|txt)",
    re.I,
)
_BY_PROGRAM = re.compile(r"^(?:microsoft (?:word|powerpoint|excel)|openoffice)\s*-\s*", re.I)
_NO_AUTHOR = {
    "anonymous", "unknown", "user", "admin", "administrator", "owner", "author", "default", "unspecified", "pc", "none",
}  # fmt: skip
_FAULTS = {"scan": SCAN, "password": LOCKED, "broken": BROKEN, "empty": EMPTY, "garbled": GARBLED}


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
        title=title_of(_title(found.facts.get("Title", "")), found.text) or _headline(found.first) or file_name(url),
        text=found.text,
        author=_author(found.facts.get("Author", "")),
        site=(urlsplit(url).hostname or "").removeprefix("www.") or None,
        published=_date(found.facts.get("CreationDate", "")),
        language=language_of(found.text),
        pages=found.spans,
        gaps=tuple(_gaps(found)),
    )


def _gaps(found: "PdfText") -> Iterator[str]:
    """Say which pages are missing."""
    if found.unread:
        yield f"{_named(found.unread)} of {found.total} could not be read"
    if found.garbled:
        yield f"the letters of {_named(found.garbled)} of {found.total} could not be read"
    if len(found.spans) < found.total:
        yield f"only the first {len(found.spans)} of {found.total} pages were read"


def _named(numbers: Sequence[int]) -> str:
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    named = ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)
    return f"page{'s' if len(numbers) > 1 else ''} {named}"


def _headline(lines: Sequence["Line"]) -> str:
    """Give the line in the largest letters near the top of the first page, with the lines that go on with it."""
    upper = [line for line in lines[:12] if any(letter.isalpha() for letter in line.text())]
    if not upper:
        return ""
    largest = max(upper, key=lambda line: line.height)
    at = upper.index(largest)
    same = [largest]
    for line in upper[at + 1 : at + 4]:
        if abs(line.height - largest.height) > 0.5 or largest.height < 1.15 * upper[-1].height:
            break
        same.append(line)
    return one_line(" ".join(line.text() for line in same))[:MAX_NAME].strip()


def _title(written: str) -> str:
    title = _BY_PROGRAM.sub("", one_line(written))
    letters = sum(letter.isalpha() for letter in title)
    return title[:MAX_NAME].strip() if letters >= 3 and not _NO_TITLE.fullmatch(title) else ""


def _author(written: str) -> str | None:
    name = one_line(written)
    sane = 2 <= len(name) <= MAX_NAME and name.casefold() not in _NO_AUTHOR and "@" not in name and "://" not in name
    return name if sane and any(letter.isalpha() for letter in name) else None


def _date(written: str) -> str | None:
    match = _DATE.match(written)
    if not match or written.startswith(_MADE_UP_DATE):
        return None
    year, month, day = match[1], match[2] or "01", match[3] or "01"
    if not ("1985" <= year <= "2100" and "01" <= month <= "12" and "01" <= day <= "31"):
        return None
    return "-".join(filter(None, match.groups()))
