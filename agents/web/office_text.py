"""Workbooks, slides, books and rich text: XLSX, PPTX, OpenDocument, EPUB, RTF. Rows are records that carry their heads."""

import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from itertools import groupby
from posixpath import dirname, join, normpath
from typing import Any
from urllib.parse import unquote, urlsplit

from lxml import etree

from agents.core.errors import SourceError
from agents.nlp.tokens import collapsed, language_of, one_line, seen
from agents.web.decoding import MAX_NAME, Document, title_of
from agents.web.docx_text import opened
from agents.web.formulas import formula, lowered, raised, runs_joined
from agents.web.table_rows import MAX_ROWS, records

MAX_UNPACKED = 60 * 2**20
"""Bytes of all parts of an archive together, unpacked."""
MAX_PARTS = 3_000
MAX_RATIO = 300
"""Times that a part may grow when unpacked, from `_SMALL` bytes on; text in XML shrinks to a tenth or a twentieth."""

BOMB = "it is an archive that would unpack to far more than a document"
BROKEN = "it is a broken office file"
CHARTS = "its charts were not read"
NO_DOCUMENT = "it is an archive, not a document"

_SMALL = 2**20
_WITH_LOOKS = 8 * 2**20  # bytes of sheets, from which their cells are read one by one, without their looks
_SLIDE_SPECK = 200  # hundredths of a point
_NO_RESULT = re.compile(rb"<c\b[^>]*>\s*<f\b(?:[^>]*/>|[^>]*>[^<]*</f>)\s*(?:<v\s*/>|<v></v>)?\s*</c>")
_CURRENCY = re.compile(r"(?<!\[)[€$£¥]")
_RTF_TOKEN = re.compile(r"\\([a-zA-Z]+)(-?\d+)? ?|([{}])|\\'[0-9a-fA-F]{2}|\\[^a-zA-Z]|[^\\{}]+")
_RTF_HIDES = {"strike", "striked", "v", "deleted"}
_RTF_SPECK = 4  # half points of a letter that cannot be read
_UP, _DOWN, _NOTE, _END = "\ue001", "\ue002", "\ue003", "\ue004"
_RTF_RAISED = re.compile(f"([{_UP}{_DOWN}])([^{_UP}-{_END}]*){_END}")
_RTF_NOTE = re.compile(f"{_NOTE}([^{_END}]*){_END}")
_OPF = "{http://www.idpf.org/2007/opf}"
_DC = "{http://purl.org/dc/elements/1.1/}"


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


def rich_text(text: str) -> str:
    """Write an RTF file as plain text, without what is struck, deleted or hidden; notes follow their paragraph."""
    from striprtf.striprtf import rtf_to_text

    plain = str(rtf_to_text("".join(_rtf_marked(text)), errors="ignore"))  # type: ignore[no-untyped-call]
    lines: list[str] = []
    for is_row, group in groupby(_RTF_RAISED.sub(_rtf_script, plain).split("\n"), lambda line: line.endswith("|")):
        if is_row:
            lines += records(line[:-1].split("|") for line in group)
            continue
        for line in group:
            notes = [note for note in _RTF_NOTE.findall(line) if note.strip()]
            lines.append(_RTF_NOTE.sub("", line))
            lines += [f"Note: {' '.join(note.split())}" for note in notes]
    return collapsed(seen("\n".join(lines)))


def _rtf_script(found: re.Match[str]) -> str:
    return (raised if found[1] == _UP else lowered)(found[2])


def _rtf_marked(text: str) -> Iterator[str]:
    """Give an RTF file without the words that no reader sees, and with signs around those that are raised or notes."""
    white = {number for number, colour in enumerate(_rtf_colours(text)) if colour and min(colour) > 255 - 24}
    hidden, mark = frozenset[str](), ""  # what hides the words at hand, and what they are
    groups: list[tuple[frozenset[str], str]] = []
    notes = 0  # the depth of the note that is open
    for token in _RTF_TOKEN.finditer(text):
        word, number, brace = token[1] or "", token[2], token[3] or ""
        before = mark
        if brace == "{":
            groups.append((hidden, mark))
        elif brace == "}":
            hidden, mark = groups.pop() if groups else (hidden, "")
            if notes and len(groups) < notes:
                notes = 0
                yield f"\\u{_code(_END)}?"
        elif word in _RTF_HIDES:
            hidden = hidden - {word} if number == "0" else hidden | {word}
        elif word in {"cf", "fs"}:
            unseen = int(number or 0) in white if word == "cf" else int(number or 24) <= _RTF_SPECK
            hidden = hidden | {word} if unseen else hidden - {word}
        elif word == "plain":
            hidden, mark = frozenset(), ""
        elif word in {"super", "sub"}:
            mark = "" if number == "0" else _UP if word == "super" else _DOWN
        elif word == "nosupersub":
            mark = ""
        elif word == "footnote":
            notes = len(groups)
            yield f"\\u{_code(_NOTE)}?"
            continue
        if mark != before:
            yield (f"\\u{_code(_END)}?" if before else "") + (f"\\u{_code(mark)}?" if mark else "")
        if brace or (word and not (notes and word in {"par", "pard"})):
            yield token[0] if word not in {"super", "sub"} else ""
        elif not hidden and not word:
            yield token[0]


def _code(sign: str) -> int:
    """Give a sign's number as RTF writes it, in sixteen bits with a sign of its own."""
    return ord(sign) - 0x10000


def _rtf_colours(text: str) -> Iterator[tuple[int, ...]]:
    table = re.search(r"\{\\colortbl([^{}]*)\}", text)
    for entry in table[1].split(";") if table else ():
        yield tuple(int(part) for part in re.findall(r"\\(?:red|green|blue)(\d+)", entry))


def _page(
    title: str,
    blocks: Iterable[str],
    *,
    author: str = "",
    published: str = "",
    kept: bool = False,
    gaps: Iterable[str] = (),
    headed: bool = False,
) -> Document:
    text = seen("\n\n".join(block for block in blocks if block.strip()))
    text = text if kept else collapsed(text)
    first = one_line(text.split("\n", 1)[0]) if headed else ""
    return Document(
        title=title_of(title, text) or (first if len(first) <= MAX_NAME and not first.endswith(".") else ""),
        text=text,
        author=author or None,
        published=published[:10] or None,
        language=language_of(text) if text.strip() else None,
        gaps=tuple(gaps),
    )


def _workbook(archive: zipfile.ZipFile) -> Document:
    from openpyxl import load_workbook

    assert archive.fp is not None
    sheets = [part for part in archive.infolist() if part.filename.startswith("xl/worksheets/sheet")]
    # The looks of cells and rows are known only where the whole is in memory.
    is_small = sum(part.file_size for part in sheets) < _WITH_LOOKS
    book = load_workbook(archive.fp, read_only=not is_small, data_only=True)
    blocks = []
    for sheet in book.worksheets:
        if sheet.sheet_state == "visible":
            blocks += [sheet.title, "\n".join(records(_sheet_rows(sheet, with_looks=is_small), is_data=True))]
    gaps = [] if is_small else ["it is very large; which of its rows are hidden or struck could not be told"]
    if is_small and any(_NO_RESULT.search(archive.read(part)) for part in sheets):
        gaps.append("results of some of its formulas are not saved in it, and were not read")
    facts = book.properties
    author = str(facts.creator or "").replace("openpyxl", "")
    return _page(str(facts.title or ""), blocks, author=author, gaps=gaps)


def _sheet_rows(sheet: Any, *, with_looks: bool) -> Iterator[list[str | None]]:
    """Give what is seen of a sheet; a merged cell fills its columns, and stands in each of its rows."""
    hidden = {name for name, column in sheet.column_dimensions.items() if column.hidden} if with_looks else set()
    merged = {(row, column): (cells.min_row, cells.min_col) for cells in (sheet.merged_cells.ranges if with_looks else ())
              for row, column in cells.cells}  # fmt: skip
    for at, row in enumerate(sheet.iter_rows(max_row=MAX_ROWS), start=1):
        if with_looks and sheet.row_dimensions[at].hidden:
            continue
        told: list[str | None] = []
        for cell in row:
            if hidden and cell.column_letter in hidden:
                continue
            first = merged.get((at, cell.column)) if merged else None
            if first and first[1] != cell.column:
                told.append(None)
                continue
            shown = sheet.cell(*first) if first else cell
            told.append("" if with_looks and _is_unseen(shown) else _cell(shown))
        yield told


def _is_unseen(cell: Any) -> bool:
    """Tell a cell that is struck, or written in white on white."""
    font, fill = cell.font, cell.fill
    if font is None or cell.value is None:
        return False
    is_white = font.color is not None and (font.color.rgb == "FFFFFFFF" or font.color.theme == 0)
    return bool(font.strike) or cell.number_format == ";;;" or (is_white and fill.fill_type is None)


def _cell(cell: Any) -> str:
    """Write what a cell holds: shares as a reader sees them, other figures as exactly as they are kept."""
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        shape = str(cell.number_format or "")
        if "%" in shape:
            return f"{float(f'{100 * value:.12g}'):g}%"
        sign = _CURRENCY.search(shape)
        number = str(int(value)) if float(value).is_integer() else str(value)
        return f"{number} {sign[0]}" if sign else number
    return " ".join(str(value).removesuffix(" 00:00:00").split())


def _slides(archive: zipfile.ZipFile) -> Document:
    from pptx import Presentation

    assert archive.fp is not None
    shown = Presentation(archive.fp)
    blocks = []
    for slide in shown.slides:
        if slide._element.get("show") == "0":
            continue
        blocks += list(_shapes(slide.shapes, shown.slide_width, _is_white(slide)))
        if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame) and notes.text.strip():
            blocks.append(f"Speaker notes: {notes.text}")
    facts = shown.core_properties
    drawn = any(name.startswith("ppt/diagrams/data") for name in archive.namelist())
    gaps = ["its diagrams were not read"] if drawn else []
    return _page(facts.title or "", blocks, author=facts.author or "", gaps=gaps, headed=True)


def _shapes(shapes: Any, width: int, on_white: bool) -> Iterator[str]:
    """Write texts, tables and charts, those in groups too; not what lies beside the slide."""
    for shape in shapes:
        left = shape.left or 0
        if left >= width or left + (shape.width or 0) < 0 or shape._element.xpath(".//p:cNvPr[@hidden='1']"):
            continue
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes, 1 << 60, on_white)  # within a group other measures hold
        elif shape.has_text_frame:
            plain = on_white and not shape._element.xpath("./p:spPr/a:solidFill | ./p:spPr/a:gradFill | ./p:style")
            yield "\n".join(_slide_line(one, on_white=plain) for one in shape.text_frame.paragraphs)
        elif getattr(shape, "has_table", False):
            rows = [[" ".join(_slide_text(cell).split()) for cell in row.cells] for row in shape.table.rows]
            yield "\n".join(records(rows))
        elif getattr(shape, "has_chart", False):
            plot = shape.chart.plots[0]
            for at, name in enumerate(plot.categories):
                values = [(one.name, one.values[at]) for one in plot.series if one.values[at] is not None]
                yield f"{name}; " + "; ".join(f"{label}: {value:g}" for label, value in values) + "."


def _slide_text(cell: Any) -> str:
    return " ".join(_slide_line(one, on_white=False) for one in cell.text_frame.paragraphs)


def _is_white(slide: Any) -> bool:
    """Tell a slide without a ground of its own, on a master whose ground is the theme's first, which is white."""
    layout = slide.slide_layout
    if slide._element.xpath("./p:cSld/p:bg") or layout._element.xpath("./p:cSld/p:bg"):
        return False
    master = layout.slide_master._element
    return bool(master.xpath("./p:cSld/p:bg//a:schemeClr[@val='bg1']")) or not master.xpath("./p:cSld/p:bg")


def _slide_line(paragraph: Any, *, on_white: bool) -> str:
    """Write a paragraph of a slide, without words that are struck, white on white, or as small as specks."""
    runs: list[tuple[str, str]] = []
    for run in paragraph._p.xpath("./a:r | ./a:fld | ./a:br | .//*[local-name()='oMath']"):
        name = etree.QName(run).localname
        if name in {"br", "oMath"}:
            runs.append(("", formula(run) if name == "oMath" else "\n"))
            continue
        found = run.xpath("./a:rPr")
        look = found[0].attrib if found else {}
        white = on_white and bool(run.xpath("./a:rPr/a:solidFill/*[@val='FFFFFF' or @val='bg1']"))
        if look.get("strike", "noStrike") == "noStrike" and not white and int(look.get("sz", "1800")) > _SLIDE_SPECK:
            baseline = int(look.get("baseline", "0").rstrip("%") or 0)
            kind = "raised" if baseline > 0 else "lowered" if baseline < 0 else ""
            runs.append((kind, "".join(run.xpath("./a:t/text()"))))
    return runs_joined(runs)


def _open_document(archive: zipfile.ZipFile) -> Document:
    title, author, blocks = opened(archive)
    gaps = [CHARTS] if any("chart" in archive.read(name)[:2_000].decode("utf-8", "replace")
                           for name in archive.namelist() if name.endswith("/content.xml")) else []  # fmt: skip
    return _page(title, blocks, author=author, gaps=gaps, headed=True)


def _book(archive: zipfile.ZipFile) -> Document:
    """Read the chapters of an EPUB in their order."""
    from agents.web.html_text import read_html

    parser = etree.XMLParser(resolve_entities=False)
    container = etree.fromstring(archive.read("META-INF/container.xml"), parser)
    path = next(str(node.get("full-path")) for node in container.iter() if node.get("full-path"))
    package = etree.fromstring(archive.read(path), parser)
    items = {item.get("id"): item.get("href") or "" for item in package.iter(f"{_OPF}item")}
    chapters, missing = [], 0
    for reference in package.iter(f"{_OPF}itemref"):
        name = normpath(join(dirname(path), unquote(urlsplit(items.get(reference.get("idref"), "")).path)))
        if name in archive.namelist():
            chapters.append(read_html(archive.read(name).decode("utf-8", "replace"), "").text)
        missing += name not in archive.namelist()
    gaps = [f"some of its chapters are missing ({missing})"] if missing else []

    def fact(name: str) -> str:
        return next((node.text or "" for node in package.iter(f"{_DC}{name}")), "")

    return _page(fact("title"), chapters, author=fact("creator"), published=fact("date"), kept=True, gaps=gaps)
