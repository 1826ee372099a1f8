"""Word files as text: paragraphs, headings, lists and tables in their order. Reads no pictures, and no old `.doc`."""

import io
import zipfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from lxml import etree

from agents.core.errors import SourceError
from agents.nlp.normalize import collapsed, one_line, seen
from agents.nlp.tokens import language_of
from agents.web.parsed_document import Document

if TYPE_CHECKING:
    from docx.document import Document as WordDocument

MAX_UNPACKED = 60 * 2**20
"""Bytes of all parts together, unpacked; a real report with its pictures stays below."""

MAX_PARTS = 3_000
MAX_RATIO = 300
"""Times that a part may grow when unpacked, from `_SMALL` bytes on; text in XML shrinks to a tenth or a twentieth."""

NO_DOCX = "it is an archive, not a document"
OTHER_OFFICE = "it is an office file of a kind that is not read"
BOMB = "it is an archive that would unpack to far more than a document"
BROKEN = "it is a broken Word file"
EMPTY = "it has no text"

_SMALL = 2**20
_MAX_NAME = 160
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_NEVER = {f"{_W}del", f"{_W}moveFrom", f"{_W}instrText", f"{_W}delText", _FALLBACK, f"{_W}rPr", f"{_W}pPr"}
_BREAKS = {f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}tab": "\t", f"{_W}noBreakHyphen": "-"}
_OFFICE_PARTS = ("xl/workbook.xml", "ppt/presentation.xml", "content.xml", "META-INF/container.xml")
_TEMPLATE_AUTHOR, _TEMPLATE_DATE = "python-docx", "2013-12-23"  # of the library that wrote the file, not of the file


def is_zip(body: bytes) -> bool:
    """Tell an archive, which Word files are, by its first bytes."""
    return body.startswith(b"PK\x03\x04")


def read_docx(body: bytes, url: str) -> Document:
    """Read a Word file.

    Args:
        body: the whole file.
        url: where it was found; names it when it does not name itself.

    Raises:
        SourceError: it is another kind of archive, broken, empty, or unpacks to far more than a document.
    """
    _judge(body, url)
    # Slow to import, and rarely needed.
    import docx
    from docx.opc.exceptions import PackageNotFoundError

    try:
        word = docx.Document(io.BytesIO(body))
        blocks = [block for block in _blocks(word.element.body) if block.strip()]
        title, author, published = _facts(word)
        heading = _heading(word)
    except (
        PackageNotFoundError,
        zipfile.BadZipFile,
        etree.LxmlError,
        KeyError,
        ValueError,
        AttributeError,
        EOFError,
    ) as error:
        raise SourceError(url, BROKEN) from error
    text = collapsed(seen("\n\n".join(blocks)).replace("\n\n- ", "\n- ")).strip()
    if not any(letter.isalnum() for letter in text):
        raise SourceError(url, EMPTY)
    return Document(
        title=title or heading or _name(text.split("\n", 1)[0]) or _file_name(url),
        text=text,
        author=author,
        site=(urlsplit(url).hostname or "").removeprefix("www.") or None,
        published=published,
        language=language_of(text),
    )


def _judge(body: bytes, url: str) -> None:
    """Refuse, by the archive's table of contents, what should not be unpacked."""
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        raise SourceError(url, BROKEN) from error
    names = {part.filename for part in parts}
    if "[Content_Types].xml" not in names or "word/document.xml" not in names:
        raise SourceError(url, OTHER_OFFICE if any(name in names for name in _OFFICE_PARTS) else NO_DOCX)
    grows = any(part.file_size > _SMALL and part.file_size > MAX_RATIO * part.compress_size for part in parts)
    if grows or len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > MAX_UNPACKED:
        raise SourceError(url, BOMB)


def _blocks(parent: etree._Element) -> Iterator[str]:
    """Give paragraphs and tables in their order; content controls and tracked insertions are part of the text."""
    for child in parent:
        if child.tag == f"{_W}p":
            text = _text(child)
            yield f"- {' '.join(text.split())}" if text.strip() and _is_item(child) else text
        elif child.tag == f"{_W}tbl":
            yield "\n".join(row for row in map(_row, child.iter(f"{_W}tr")) if row.strip(" |"))
        elif child.tag in {f"{_W}sdt", f"{_W}sdtContent", f"{_W}ins", f"{_W}customXml", f"{_W}moveTo"}:
            yield from _blocks(child)


def _text(element: etree._Element) -> str:
    """Give the text of a paragraph without what is deleted or hidden; deep nesting is walked, not called."""
    parts: list[str] = []
    skip: etree._Element | None = None
    for event, node in etree.iterwalk(element, events=("start", "end")):
        if skip is not None:
            if event == "end" and node is skip:
                skip = None
        elif event == "start":
            if node.tag in _NEVER or (node.tag == f"{_W}r" and _is_hidden(node)):
                skip = node
            elif node.tag == f"{_W}t":
                parts.append(node.text or "")
            else:
                parts.append(_BREAKS.get(str(node.tag), ""))
    return "".join(parts)


def _is_hidden(run: etree._Element) -> bool:
    found = run.find(f"{_W}rPr/{_W}vanish")
    return found is not None and found.get(f"{_W}val", "1") not in {"0", "false", "off"}


def _is_item(paragraph: etree._Element) -> bool:
    style = paragraph.find(f"{_W}pPr/{_W}pStyle")
    if style is not None and style.get(f"{_W}val", "").lower().startswith("heading"):
        return False  # headings are often numbered
    named = style is not None and style.get(f"{_W}val", "").lower().startswith("list")
    number = paragraph.find(f"{_W}pPr/{_W}numPr/{_W}numId")
    return named or (number is not None and number.get(f"{_W}val") != "0")


def _row(row: etree._Element) -> str:
    """Write a row; a cell over several columns is followed by empty ones, so that columns stay columns."""
    cells: list[str] = []
    for cell in row.iterchildren(f"{_W}tc"):
        inner = "; ".join(" ".join(_text(one).split()) for one in cell.iter(f"{_W}p"))
        cells.append(inner.strip("; ").replace("|", "/"))
        span = cell.find(f"{_W}tcPr/{_W}gridSpan")
        width = span.get(f"{_W}val", "1") if span is not None else "1"
        cells += [""] * (min(int(width), 64) - 1 if width.isdigit() else 0)
    while cells and not cells[-1]:
        cells.pop()
    return " | ".join(cells)


def _facts(word: "WordDocument") -> tuple[str, str | None, str | None]:
    """Give title, author and date as the file states them, unless they are those of a template."""
    facts = word.core_properties
    author = _name(facts.author or "")
    if author == _TEMPLATE_AUTHOR:
        return _name(facts.title or "") or "", None, None
    date = facts.created or facts.modified
    published = date.strftime("%Y-%m-%d") if isinstance(date, datetime) and date.year >= 1985 else None
    return _name(facts.title or "") or "", author, None if published == _TEMPLATE_DATE else published


def _heading(word: "WordDocument") -> str:
    """Give the first paragraph that is set as a title or a heading."""
    for paragraph in word.element.body.iterchildren(f"{_W}p"):
        style = paragraph.find(f"{_W}pPr/{_W}pStyle")
        kind = style.get(f"{_W}val", "").lower() if style is not None else ""
        if kind.startswith(("title", "heading")) and (name := _name(_text(paragraph))):
            return name
    return ""


def _name(text: str) -> str | None:
    name = one_line(text)
    return name if 0 < len(name) <= _MAX_NAME and any(letter.isalnum() for letter in name) else None


def _file_name(url: str) -> str:
    name = PurePosixPath(unquote(urlsplit(url).path)).stem
    return " ".join(name.replace("_", " ").replace("-", " ").split()) or "Untitled"
