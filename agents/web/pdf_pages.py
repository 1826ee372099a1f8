"""The pages of a PDF file as text, by way of PDFium. To be called in a process that can be ended: see `workshop`."""

import ctypes
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import pypdfium2  # type: ignore[import-untyped]
import pypdfium2.raw as raw  # type: ignore[import-untyped]

from agents.nlp.normalize import one_line, visible
from agents.web.pdf_layout import Flow, Line, Word, lines_of, without_heads

MAX_PAGES = 1_000
MAX_CHARS = 3_000_000
READING_S = 12.0
"""Seconds after which no further page is begun."""

SCAN = 50
"""A page with fewer letters than this holds no text to speak of."""

_WORD = re.compile(r"[^\s\ufffe]+")
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
_MAX_NAME = 160
_HYPHENATED = re.compile(r"\w+(?:-\w+)+")


Fault = Literal["password", "broken", "scan", "empty"]


@dataclass(frozen=True)
class Pages:
    """What a file holds and says about itself."""

    text: str
    spans: tuple[tuple[int, int], ...]
    """Start and end of each page that was read, in order."""
    title: str
    """Empty when the file has none that means something."""
    author: str | None
    published: str | None
    unread: tuple[int, ...]
    """Numbers of the pages that hold no text but a picture, or are broken."""
    total: int
    """All pages, of which the last ones may not have been read."""


def read_pages(data: bytes) -> Pages | Fault:
    """Read a file, for at most about `READING_S` seconds; or tell why it cannot be read.

    PDFium is not made for threads: only one call at a time in a process.
    """
    deadline = time.monotonic() + READING_S
    try:
        pdf = pypdfium2.PdfDocument(data)
        total = len(pdf)
    except pypdfium2.PdfiumError as error:
        return "password" if "password" in str(error).lower() else "broken"
    pages: list[list[Line]] = []
    widths: list[float] = []
    unread: list[int] = []
    pictures = most = failed = size = 0
    for number in range(1, min(total, MAX_PAGES) + 1):
        if time.monotonic() > deadline or size > MAX_CHARS:
            break
        try:
            page = pdf[number - 1]
            words = list(_words(page))
            letters = sum(len(word.text) for word in words)
            has_picture = letters < SCAN and _has_picture(page)
            widths.append(page.get_width())
        except pypdfium2.PdfiumError:
            words, letters, has_picture, failed = [], 0, False, failed + 1
            widths.append(0.0)
        pages.append(lines_of(words))
        pictures += has_picture
        if letters < SCAN / 5 and (has_picture or widths[-1] == 0):
            unread.append(number)
        most, size = max(most, letters), size + letters
    if most < SCAN and pictures:
        return "scan"
    if not size:
        return "broken" if failed else "empty"
    first = pages[0]
    body = without_heads(pages)
    flow = Flow(frozenset(_hyphenated(body)))
    for lines, width in zip(body, widths, strict=True):
        flow.add(lines, width)
    facts = pdf.get_metadata_dict()
    return Pages(
        text=flow.text,
        spans=tuple(flow.pages),
        title=_title(facts.get("Title", "")) or _headline(first),
        author=_author(facts.get("Author", "")),
        published=_date(facts.get("CreationDate", "")),
        unread=tuple(unread),
        total=total,
    )


def _words(page: pypdfium2.PdfPage) -> Iterator[Word]:
    """Give the words of a page in the order in which it draws them."""
    text_page = page.get_textpage()
    count = text_page.count_chars()
    text = text_page.get_text_range() if count else ""
    if len(text) != count:  # characters that are no text, or beyond the basic plane: one by one then
        text = "".join(chr(raw.FPDFText_GetUnicode(text_page, at) or 0x20) for at in range(count))
    box = raw.FS_RECTF()
    found = list(_WORD.finditer(text))
    for at, match in enumerate(found):
        between = text[match.end() : found[at + 1].start()] if at + 1 < len(found) else "\n"
        left, bottom, _, top = _box(text_page, match.start(), box)
        _, _, right, _ = _box(text_page, match.end() - 1, box)
        if written := visible(match[0]):
            yield Word(written, left, max(right, left), bottom, top, "\n" in between, "\ufffe" in between)


def _box(text_page: pypdfium2.PdfTextPage, at: int, box: raw.FS_RECTF) -> tuple[float, float, float, float]:
    """Give the edges of a character: left, bottom, right, top, as high as its font."""
    raw.FPDFText_GetLooseCharBox(text_page, at, ctypes.byref(box))
    return box.left, box.bottom, box.right, box.top


def _has_picture(page: pypdfium2.PdfPage) -> bool:
    return any(True for _ in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=3))


def _hyphenated(pages: Sequence[Sequence[Line]]) -> Iterator[str]:
    for page in pages:
        for line in page:
            for word in line.words[:-1]:
                if "-" in word.text and (match := _HYPHENATED.search(word.text)):
                    yield match[0].casefold()


def _headline(lines: Sequence[Line]) -> str:
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
    return one_line(" ".join(line.text() for line in same))[:_MAX_NAME].strip()


def _title(written: str) -> str:
    title = _BY_PROGRAM.sub("", one_line(written))
    letters = sum(letter.isalpha() for letter in title)
    return title[:_MAX_NAME].strip() if letters >= 3 and not _NO_TITLE.fullmatch(title) else ""


def _author(written: str) -> str | None:
    name = one_line(written)
    sane = 2 <= len(name) <= _MAX_NAME and name.casefold() not in _NO_AUTHOR and "@" not in name and "://" not in name
    return name if sane and any(letter.isalpha() for letter in name) else None


def _date(written: str) -> str | None:
    match = _DATE.match(written)
    if not match or written.startswith(_MADE_UP_DATE):
        return None
    year, month, day = match[1], match[2] or "01", match[3] or "01"
    if not ("1985" <= year <= "2100" and "01" <= month <= "12" and "01" <= day <= "31"):
        return None
    return "-".join(filter(None, match.groups()))
