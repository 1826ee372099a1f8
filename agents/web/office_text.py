"""Tables, slides and books as text: CSV, XLSX, PPTX, ODT, EPUB, RTF. Rows are records that carry their heads."""

import csv
import io
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from posixpath import dirname, join, normpath
from typing import Any
from urllib.parse import unquote, urlsplit

from lxml import etree

from agents.core.errors import SourceError
from agents.nlp.tokens import collapsed, language_of, seen
from agents.web.decoding import Document
from agents.web.formulas import lowered, raised, runs_joined

MAX_ROWS = 20_000
"""Rows of one table that are read."""
MAX_UNPACKED = 60 * 2**20
"""Bytes of all parts of an archive together, unpacked."""
MAX_PARTS = 3_000
MAX_RATIO = 300
"""Times that a part may grow when unpacked, from `_SMALL` bytes on; text in XML shrinks to a tenth or a twentieth."""

BOMB = "it is an archive that would unpack to far more than a document"
BROKEN = "it is a broken office file"
NO_DOCUMENT = "it is an archive, not a document"

_SMALL = 2**20
_RTF_GROUP = re.compile(r"\{\\(super|sub|strike|v)\b ?([^{}\\]*)\}")
_RTF_WRITE: dict[str, Callable[[str], str]] = {
    "super": raised,
    "sub": lowered,
    "strike": lambda _: "",
    "v": lambda _: "",
}
_OPF = "{http://www.idpf.org/2007/opf}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"


def archive_of(body: bytes, url: str) -> zipfile.ZipFile:
    """Open an archive, unless by its table of contents it should not be unpacked.

    Raises:
        SourceError: it is broken, or would unpack to far more than a document.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(body))
        parts = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        raise SourceError(url, BROKEN) from error
    grows = any(part.file_size > _SMALL and part.file_size > MAX_RATIO * part.compress_size for part in parts)
    if grows or len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > MAX_UNPACKED:
        raise SourceError(url, BOMB)
    return archive


def read_archive(archive: zipfile.ZipFile, url: str) -> Document:
    """Read an office file that is no Word file.

    Raises:
        SourceError: it is another kind of archive, or broken.
    """
    names = set(archive.namelist())
    try:
        if "xl/workbook.xml" in names:
            return _workbook(archive)
        if "ppt/presentation.xml" in names:
            return _slides(archive)
        if "META-INF/container.xml" in names and "mimetype" in names and b"epub" in archive.read("mimetype"):
            return _book(archive)
        if "content.xml" in names:
            return _open_document(archive)
    except (KeyError, ValueError, TypeError, AttributeError, IndexError, EOFError, OSError) as error:
        raise SourceError(url, BROKEN) from error
    except (etree.LxmlError, zipfile.BadZipFile) as error:
        raise SourceError(url, BROKEN) from error
    raise SourceError(url, NO_DOCUMENT)


def read_table(text: str, *, tabs: bool = False) -> str | None:
    """Write a CSV or TSV file as records; None when its lines are no rows of one table."""
    sample = text[:20_000]
    try:
        dialect = csv.Sniffer().sniff(sample, "\t" if tabs else ",;\t|")
    except csv.Error:
        return None
    rows = []
    for row in csv.reader(io.StringIO(text), dialect):
        rows.append([" ".join(cell.split()) for cell in row])
        if len(rows) > MAX_ROWS:
            break
    widths = [len(row) for row in rows if any(row)]
    if len(widths) < 2 or widths[0] < 2 or sum(width == widths[0] for width in widths) < 0.9 * len(widths):
        return None
    return "\n".join(records(rows))


def is_table(text: str) -> bool:
    """Tell lines that are rows of one table with a head, whatever the file is called: three or more, all alike."""
    lines = [line for line in text[:20_000].split("\n")[:-1] if line.strip()][:50]
    if len(lines) < 3 or max(map(len, lines)) > 2_000:
        return False
    return any(
        (count := lines[0].count(mark)) >= 2 and all(line.count(mark) == count for line in lines) for mark in "\t;|"
    )


def records(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Write each row with the heads of its cells: `Year: 1994; Deaths: 412`. Empty cells are left out."""
    rows = [list(row) for row in rows if any(row)]
    if not rows:
        return
    head = rows[0]
    if len(rows) < 2 or not all(any(letter.isalpha() for letter in cell) for cell in head if cell):
        yield from (" | ".join(row) for row in rows)  # without heads
        return
    for row in rows[1:]:
        named = [f"{head[at]}: {cell}" if at < len(head) and head[at] else cell for at, cell in enumerate(row) if cell]
        yield "; ".join(named) + "."


def rich_text(text: str) -> str:
    """Write an RTF file as plain text, without what is struck or hidden."""
    from striprtf.striprtf import rtf_to_text

    text = _RTF_GROUP.sub(lambda match: _RTF_WRITE[match[1]](match[2]), text)
    return collapsed(seen(str(rtf_to_text(text, errors="ignore"))))  # type: ignore[no-untyped-call]


def _page(title: str, blocks: Iterable[str], *, author: str = "", published: str = "", kept: bool = False) -> Document:
    text = seen("\n\n".join(block for block in blocks if block.strip()))
    text = text if kept else collapsed(text)
    return Document(
        title=title,
        text=text,
        author=author or None,
        published=published[:10] or None,
        language=language_of(text) if text.strip() else None,
    )


def _workbook(archive: zipfile.ZipFile) -> Document:
    from openpyxl import load_workbook

    assert archive.fp is not None
    book = load_workbook(archive.fp, read_only=True, data_only=True)
    blocks = []
    for sheet in book.worksheets:
        if sheet.sheet_state != "visible":
            continue
        rows = [[_cell(value) for value in row] for row in sheet.iter_rows(max_row=MAX_ROWS, values_only=True)]
        blocks += [sheet.title, "\n".join(records(rows))]
    facts = book.properties
    return _page(str(facts.title or ""), blocks, author=str(facts.creator or "").replace("openpyxl", ""))


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return " ".join(str(value).removesuffix(" 00:00:00").split())


def _slides(archive: zipfile.ZipFile) -> Document:
    from pptx import Presentation

    assert archive.fp is not None
    shown = Presentation(archive.fp)
    blocks = []
    for slide in shown.slides:
        if slide._element.get("show") == "0":
            continue
        for shape in slide.shapes:
            if shape.has_text_frame:
                blocks.append("\n".join(_slide_line(paragraph) for paragraph in shape.text_frame.paragraphs))
            elif shape.has_table:
                rows = [[" ".join(cell.text.split()) for cell in row.cells] for row in shape.table.rows]
                blocks.append("\n".join(records(rows)))
        if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame) and notes.text.strip():
            blocks.append(f"Speaker notes: {notes.text}")
    facts = shown.core_properties
    return _page(facts.title or "", blocks, author=facts.author or "")


def _slide_line(paragraph: Any) -> str:
    """Write a paragraph of a slide, without struck words."""
    runs = []
    for run in paragraph.runs:
        properties = run._r.rPr
        look = properties.attrib if properties is not None else {}
        if look.get("strike", "noStrike") == "noStrike":
            baseline = int(look.get("baseline", "0").rstrip("%") or 0)
            runs.append(("raised" if baseline > 0 else "lowered" if baseline < 0 else "", run.text))
    return runs_joined(runs)


def _open_document(archive: zipfile.ZipFile) -> Document:
    """Read a text or a table of OpenDocument; tracked deletions are left out, notes follow their paragraph."""
    root = etree.fromstring(archive.read("content.xml"), etree.XMLParser(resolve_entities=False))
    etree.strip_elements(root, f"{_TEXT}tracked-changes", f"{_OFFICE}annotation", with_tail=False)
    _write_styles(root)
    blocks = []
    for block in root.iter(f"{_TEXT}p", f"{_TEXT}h", f"{_TABLE}table"):
        if any(above.tag in {f"{_TABLE}table", f"{_TEXT}note-body"} for above in block.iterancestors()):
            continue
        if block.tag == f"{_TABLE}table":
            rows = [
                [" ".join("".join(cell.itertext()).split()) for cell in row.iterchildren(f"{_TABLE}table-cell")]
                for row in block.iter(f"{_TABLE}table-row")
            ]
            blocks.append("\n".join(records(rows)))
            continue
        notes = [" ".join("".join(note.itertext()).split()) for note in block.iter(f"{_TEXT}note-body")]
        etree.strip_elements(block, f"{_TEXT}note-body", with_tail=False)
        blocks += ["".join(block.itertext()), *(f"Note: {note}" for note in notes)]
    return _page("", blocks)


def _write_styles(root: etree._Element) -> None:
    """Write raised and lowered spans as such, and drop those that are struck or hidden."""
    styles = {style.get(f"{_STYLE}name"): style for style in root.iter(f"{_STYLE}style")}
    for span in root.iter(f"{_TEXT}span"):
        style = styles.get(span.get(f"{_TEXT}style-name"))
        look = style.find(f"{_STYLE}text-properties") if style is not None else None
        if look is None or len(span):
            continue
        position = look.get(f"{_STYLE}text-position", "")
        if look.get(f"{_STYLE}text-line-through-style", "none") != "none" or look.get(f"{_TEXT}display") == "none":
            span.text = ""
        elif position.startswith(("super", "sub")):
            span.text = (raised if position.startswith("super") else lowered)(span.text or "")


def _book(archive: zipfile.ZipFile) -> Document:
    """Read the chapters of an EPUB in their order."""
    from agents.web.html_text import read_html

    parser = etree.XMLParser(resolve_entities=False)
    container = etree.fromstring(archive.read("META-INF/container.xml"), parser)
    path = next(str(node.get("full-path")) for node in container.iter() if node.get("full-path"))
    package = etree.fromstring(archive.read(path), parser)
    items = {item.get("id"): item.get("href") or "" for item in package.iter(f"{_OPF}item")}
    chapters = []
    for reference in package.iter(f"{_OPF}itemref"):
        name = normpath(join(dirname(path), unquote(urlsplit(items.get(reference.get("idref"), "")).path)))
        if name in archive.namelist():
            chapters.append(read_html(archive.read(name).decode("utf-8", "replace"), "").text)

    def fact(name: str) -> str:
        return next((node.text or "" for node in package.iter(f"{_DC}{name}")), "")

    return _page(fact("title"), chapters, author=fact("creator"), published=fact("date"), kept=True)
