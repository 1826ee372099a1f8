"""Office files by what is in their archive: Word files, slides and OpenDocument are pages; workbooks and books.

Rows of workbooks are records that carry their heads; the chapters of a book are pages already.
"""

import io
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from posixpath import dirname, join, normpath
from typing import Any
from urllib.parse import unquote, urlsplit

from lxml import etree

from agents.contracts.frozen import Said
from agents.core.errors import SourceError
from agents.nlp.tokens import collapsed
from agents.web.decoding import Document
from agents.web.formulas import formula, runs_joined
from agents.web.html_tree import Element, drop, laid_out, put_text, renamed, styled, whole_text
from agents.web.office_pages import (
    OF_XML,
    OTHER_GROUND,
    WHITE_OF_A_THEME,
    css,
    document_of,
    facts_of,
    part,
    read_open_document,
    read_word,
)  # fmt: skip
from agents.web.table_rows import MAX_ROWS, records

MAX_UNPACKED = 60 * 2**20  # bytes of all parts of an archive together, unpacked
DIAGRAMS = "its diagrams were not read"
BOMB = "it is an archive that would unpack to far more than a document"
BROKEN = "it is a broken office file"
BROKEN_WORD = "it is a broken Word file"
NO_DOCUMENT = "it is an archive, not a document"

_WHEN_BROKEN = (
    KeyError, ValueError, TypeError, AttributeError, IndexError, EOFError, OSError, etree.LxmlError, zipfile.BadZipFile, zlib.error
)  # fmt: skip
_WITH_LOOKS = 8 * 2**20  # bytes of sheets, from which their cells are read one by one, without their looks
_NO_RESULT = re.compile(rb"<c\b[^>]*>\s*<f\b(?:[^>]*/>|[^>]*>[^<]*</f>)\s*(?:<v\s*/>|<v></v>)?\s*</c>")
_CLEAR = 5_000  # thousandths of a per cent of ink
_SLIT = 0.5  # the width of a column, in letters, or the height of a row, in points, that shows nothing
_LINKED_SHEET = re.compile(r"""<link\b[^>]*\bhref=["']([^"']+\.css)["']""")
_CURRENCY = re.compile(r"(?<!\[)[€$£¥]")


def archive_of(body: bytes, url: str) -> zipfile.ZipFile:
    """Open an archive; a `SourceError` where it is broken, or by its table of contents far more than a document."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(body))
        parts = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        raise SourceError(url, BROKEN) from error
    if sum(part.file_size for part in parts) > MAX_UNPACKED:
        raise SourceError(url, BOMB)
    return archive


def read_archive(archive: zipfile.ZipFile, url: str) -> Document:
    """Read an office file; a `SourceError` where it is another kind of archive, or broken."""
    kinds = {
        "word/document.xml": read_word, "xl/workbook.xml": _workbook, "ppt/presentation.xml": _slides,
        "META-INF/container.xml": _book, "content.xml": read_open_document,
    }  # fmt: skip
    by_folder = {dirname(name): read for name, read in kinds.items()}
    names = (_related(archive, "").get("officeDocument", ""), *kinds)
    found = next((name for name in names if name in archive.namelist() and dirname(name) in by_folder), None)
    if found is None:
        raise SourceError(url, NO_DOCUMENT)
    try:
        return by_folder[dirname(found)](archive, found)
    except _WHEN_BROKEN as error:
        raise SourceError(url, BROKEN_WORD if found.startswith("word/") else BROKEN) from error


def _related(archive: zipfile.ZipFile, name: str) -> dict[str, str]:
    """Give the parts that a part names: by the id that it calls them, and by their kind."""
    found: dict[str, str] = {}
    rels = f"{dirname(name)}/_rels/{name.rpartition('/')[2]}.rels".lstrip("/")
    for one in part(archive, rels).iter("Relationship"):
        path = normpath(join(dirname(name), one.get("Target", ""))).lstrip("/")
        found |= {one.get("Id", ""): path, one.get("Type", "").rpartition("/")[2]: path}
    return found


# ---- Slides


def _slides(archive: zipfile.ZipFile, main: str) -> Document:
    """Read slides in their order, each with what is said to it."""
    body = part(archive, "")
    shown, parts = part(archive, main), _related(archive, main)
    width = next(int(one.get("cx", "0")) for one in shown.iter("sldSz"))
    for one in shown.iter("sldId"):
        name = parts[one.get("rid", "")]
        slide = part(archive, name)
        if slide.get("show") == "0":
            continue
        near = _related(archive, name)
        body.append(_slide(archive, slide, near, width))
        notes = part(archive, near.get("notesSlide", "")).xpath(".//sp[.//ph[@type='body']]//t")
        if said := " ".join(str(part.text or "") for part in notes).strip():
            etree.SubElement(body, "p").text = f"Speaker notes: {said}"
    text, _ = laid_out(body)
    drawn = any(name.startswith("ppt/diagrams/data") for name in archive.namelist())
    facts = facts_of(part(archive, "docProps/core.xml"))
    return document_of(text, facts, heading="", gaps=[DIAGRAMS] * drawn)


def _slide(archive: zipfile.ZipFile, slide: Element, near: Mapping[str, str], width: int) -> Element:
    """Make a slide a part of a page, without what is hidden on it or lies beside it."""
    tree = next(slide.iter("spTree"))
    for gone in [*tree.iter("Fallback", "tcPr"), *tree.xpath(".//fld[@type='slidenum']")]:
        drop(gone)
    for hidden in tree.xpath(".//cNvPr[@hidden='1']"):
        drop(hidden.getparent().getparent())
    for shape in list(tree):
        left, wide = (int(shape.xpath(f"string(.//xfrm/{what})") or 0) for what in ("off/@x", "ext/@cx"))
        if left >= width or left + wide < 0:
            drop(shape)
    layout = near.get("slideLayout", "")
    master = _related(archive, layout).get("slideMaster", "")
    grounds = [one.find("cSld/bg") for one in (slide, part(archive, layout), part(archive, master))]
    if not all(one is None or one.xpath(".//schemeClr[@val='bg1']") for one in grounds):
        styled(tree, OTHER_GROUND)
    for filled in tree.xpath(".//sp[spPr/solidFill or spPr/gradFill or style] | .//tbl"):
        styled(filled, _slide_colour("background-color", filled.find("spPr/solidFill")) or OTHER_GROUND)
    for run in tree.iter("r", "fld"):
        styled(run, _run_style(run))
    for cell in list(tree.iter("tc")):
        cell.set("colspan", cell.get("gridSpan", "1"))
        cell.set("rowspan", cell.get("rowSpan", "1"))
        if "1" in {cell.get("hMerge"), cell.get("vMerge")}:
            drop(cell)
    for node in list(tree.iter("oMath")):
        put_text(node, formula(node))
    charts = [(chart, part(archive, near.get(chart.get("rid", ""), ""))) for chart in tree.iter("chart")]
    renamed(tree, OF_XML, texts="t")
    for chart, drawing in charts:
        for line in _chart(drawing):
            etree.SubElement(chart, "p").text = line
    return tree


def _run_style(run: Element) -> str:
    look = run.find("rPr")
    if look is None:
        return ""
    ink = [*look.iterfind("noFill"), *look.iterfind("solidFill/*/alpha")]
    is_clear = any(int(one.get("val", "0").rstrip("%")) < _CLEAR for one in ink)
    size, rise = f"font-size:{int(look.get('sz', '1800')) / 100}px", int(look.get("baseline", "0").rstrip("%") or 0)
    colour = _slide_colour("color", look.find("solidFill"))
    return css(size, colour, hidden=is_clear, struck=look.get("strike", "noStrike") != "noStrike", rise=rise)


def _slide_colour(name: str, fill: Element | None) -> str:
    """Write a colour as style; of the colours of a theme only its white ground is known."""
    colour = next(iter(fill), None) if fill is not None else None
    digits = "" if colour is None or len(colour) else colour.get("val", "")
    digits = "ffffff" if digits in WHITE_OF_A_THEME else digits
    return f"{name}:#{digits}" if re.fullmatch("[0-9a-fA-F]{6}", digits) else ""


def _chart(drawing: Element) -> Iterator[str]:
    """Write the figures of a chart, those of one category a line."""
    rows: dict[str, list[str]] = {}
    for series in drawing.iter("ser"):
        label = " ".join(str(one.text) for one in series.iterfind("tx//v"))
        names, points = ([*series.iterfind(f"{one}//pt"), *series.iterfind(f"{other}//pt")]
                         for one, other in (("cat", "xVal"), ("val", "yVal")))  # fmt: skip
        named = {one.get("idx"): one.findtext("v") for one in names}
        for point in points:
            name = named.get(point.get("idx")) or point.get("idx") or ""
            rows.setdefault(name, []).append(f"{label}: {float(point.findtext('v') or 0):g}")
    return (f"{name}; {'; '.join(values)}." for name, values in rows.items())


# ---- Workbooks


def _workbook(archive: zipfile.ZipFile, main: str) -> Document:
    from openpyxl import load_workbook

    assert archive.fp is not None
    sheets = [part for part in archive.infolist() if part.filename.startswith("xl/worksheets/sheet")]
    # The looks of cells and rows are known only where the whole is in memory.
    is_small = sum(part.file_size for part in sheets) < _WITH_LOOKS
    book = load_workbook(archive.fp, read_only=not is_small, data_only=True, rich_text=is_small)
    blocks = []
    for sheet in book.worksheets:
        if sheet.sheet_state == "visible":
            blocks += [sheet.title, "\n".join(records(_sheet_rows(sheet, with_looks=is_small), is_data=True))]
    gaps = [] if is_small else ["it is very large; which of its rows are hidden or struck could not be told"]
    if is_small and any(_NO_RESULT.search(archive.read(part)) for part in sheets):
        gaps.append("results of some of its formulas are not saved in it, and were not read")
    text = collapsed("\n\n".join(block for block in blocks if block.strip()))
    return document_of(text, facts_of(part(archive, "docProps/core.xml")), gaps=gaps)


def _sheet_rows(sheet: Any, *, with_looks: bool) -> Iterator[list[str | None]]:
    """Give what is seen of a sheet; a merged cell fills its columns, and stands in each of its rows."""
    hidden: set[int] = set()
    merged: dict[tuple[int, int], tuple[int, int]] = {}
    if with_looks:
        for column in sheet.column_dimensions.values():
            if column.hidden or column.width < _SLIT:
                hidden.update(range(column.min or 0, (column.max or 0) + 1))
        for cells in sheet.merged_cells.ranges:
            merged |= dict.fromkeys(cells.cells, (cells.min_row, cells.min_col))

    def told(at: int, number: int, cell: Any) -> str | None:
        first = merged.get((at, number), (at, number))
        if first[1] != number:
            return None
        shown = cell if first == (at, number) else sheet.cell(*first)
        return "" if with_looks and _is_unseen(shown) else _cell(shown)

    # Rows are given up to the number that is asked for, also where there are none; what a sheet that is streamed says of its
    # own size may be wrong.
    last = min(sheet.max_row, MAX_ROWS) if with_looks else MAX_ROWS
    for at, row in enumerate(sheet.iter_rows(max_row=last), start=1):
        look = sheet.row_dimensions[at] if with_looks else None
        if look is None or not (look.hidden or (look.height is not None and look.height < _SLIT)):
            yield [told(at, number, cell) for number, cell in enumerate(row, start=1) if number not in hidden]


def _is_unseen(cell: Any) -> bool:
    """Tell a cell that is struck, or written in the colour of its ground or in specks."""
    # Most of a sheet holds nothing, and looks take long to ask for.
    if cell.value is None or (font := cell.font) is None:
        return False
    ink, is_speck = font.color, font.sz is not None and font.sz <= 2  # points
    is_white = ink is not None and (ink.rgb == "FFFFFFFF" or ink.theme == 0) and cell.fill.fill_type is None
    is_same = ink is not None and cell.fill.fill_type == "solid" and ink == cell.fill.fgColor
    return bool(font.strike) or cell.number_format == ";;;" or is_white or is_same or is_speck


def _cell(cell: Any) -> str:
    """Write what a cell holds: shares as a reader sees them, other figures as exactly as they are kept."""
    value = "" if cell.value is None else cell.value
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        shape = str(cell.number_format or "")
        if "%" in shape:
            return f"{float(f'{100 * value:.12g}'):g}%"
        sign = _CURRENCY.search(shape)
        number = str(int(value)) if float(value).is_integer() else str(value)
        return f"{number} {sign[0]}" if sign else number
    if isinstance(value, list):  # runs of letters, some with looks of their own
        kinds = {"superscript": "raised", "subscript": "lowered"}
        looks = [(getattr(run, "font", None), getattr(run, "text", run)) for run in value]
        value = runs_joined(
            (kinds.get(getattr(font, "vertAlign", None) or "", ""), str(text))
            for font, text in looks if not getattr(font, "strike", None)
        )  # fmt: skip
    return " ".join(str(value).removesuffix(" 00:00:00").split())


# ---- Books


def _book(archive: zipfile.ZipFile, main: str) -> Document:
    """Read the chapters of an EPUB in their order."""
    container = part(archive, main)
    path = next(one.get("full-path", "") for one in container.iter("rootfile"))
    package = part(archive, path)
    items = {item.get("id"): item.get("href") or "" for item in package.iter("item")}
    chapters, missing = [], 0
    contents = {item.get("id") for item in package.iter("item") if "nav" in item.get("properties", "").split()}
    for reference in (one for one in package.iter("itemref") if one.get("idref") not in contents):
        name = normpath(join(dirname(path), unquote(urlsplit(items.get(reference.get("idref"), "")).path)))
        if name in archive.namelist():
            chapter = archive.read(name).decode("utf-8", "replace")
            linked = (normpath(join(dirname(name), unquote(sheet))) for sheet in _LINKED_SHEET.findall(chapter))
            sheets = [archive.read(sheet).decode("utf-8", "replace") for sheet in linked if sheet in archive.namelist()]
            chapters.append(whole_text(chapter.replace("</head>", f"<style>{' '.join(sheets)}</style></head>", 1))[0])
        missing += name not in archive.namelist()
    gaps = [Said("some of its chapters are missing ({n})", n=missing)] if missing else []
    facts = facts_of(package)
    return document_of("\n\n".join(filter(None, chapters)), facts, date=facts.get("date", ""), gaps=gaps)
