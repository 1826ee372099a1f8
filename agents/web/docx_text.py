"""Word files as text: paragraphs, headings, lists and tables in their order. Reads no pictures, and no old `.doc`.

Texts, tables and slides of OpenDocument as blocks of text; knows the looks of its styles.
"""

import io
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from posixpath import normpath
from string import hexdigits
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lxml import etree

from agents.core.errors import SourceError
from agents.nlp.tokens import collapsed, language_of, one_line, seen
from agents.web.decoding import MAX_NAME, Document, file_name, title_of
from agents.web.formulas import formula, raised, runs_joined
from agents.web.hidden_text import WHITE, background_of, hides
from agents.web.table_rows import records

if TYPE_CHECKING:
    from docx.document import Document as WordDocument


BROKEN = "it is a broken Word file"
EMPTY = "it has no text"

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_NEVER = {f"{_W}del", f"{_W}moveFrom", f"{_W}instrText", f"{_W}delText", _FALLBACK, f"{_W}rPr", f"{_W}pPr"}
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_NOTES = {f"{_W}footnoteReference": "footnote", f"{_W}endnoteReference": "endnote"}
_SCRIPTS = {"superscript": "raised", "subscript": "lowered"}
_SPECK = 4  # half points of a letter that cannot be read
_NARROW = 10  # per cent of the width of letters that nobody can read
_SHIFTED = 4  # half points by which letters that are raised or lowered stand higher or lower
_NEAR = 24  # of 255, what parts a colour from the one that it lies on
_BREAKS = {f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}tab": "\t", f"{_W}noBreakHyphen": "-"}
# Signs of the font Symbol by the last two digits of their codes.
_SIGNS = dict(zip("61 62 67 64 65 68 6C 6D 70 72 73 74 66 77 44 53 57 A3 A5 B0 B1 B3 B4 B6 B7 B8 B9 BA BB D6 D7 E5 F2".split(),
    "αβγδεηλμπρστφωΔΣΩ≤∞°±≥×∂•÷≠≡≈√⋅∑∫", strict=True))  # fmt: skip
_TEMPLATE_AUTHOR, _TEMPLATE_DATE = "python-docx", "2013-12-23"  # of the library that wrote the file, not of the file


def read_docx(body: bytes, url: str) -> Document:
    """Read a Word file.

    Args:
        body: the whole file.
        url: where it was found; names it when it does not name itself.

    Raises:
        SourceError: it is broken or empty.
    """
    # Slow to import, and rarely needed.
    import docx
    from docx.opc.exceptions import PackageNotFoundError

    try:
        word = docx.Document(io.BytesIO(body))
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            styles = _Styles(word)
            reader = _Reader(_notes_of(archive, styles), styles)
        blocks = [block for block in reader.blocks(word.element.body) if block.strip()]
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
        title=heading or title_of(title, text) or _name(text.split("\n", 1)[0]) or file_name(url),
        text=text,
        author=author,
        site=(urlsplit(url).hostname or "").removeprefix("www.") or None,
        published=published,
        language=language_of(text),
    )


class _Reader:
    """Writes the paragraphs and tables of one file.

    Args:
        notes: text of footnotes and endnotes, by their kind and number.
        styles: those of the file.
    """

    def __init__(self, notes: Mapping[tuple[str, str], str], styles: "_Styles") -> None:
        self._notes, self._styles = notes, styles
        self._pending: list[str] = []  # notes and text boxes of the paragraph at hand

    def blocks(self, parent: etree._Element) -> Iterator[str]:
        """Give paragraphs and tables in their order; content controls and tracked insertions are part of the text.

        Notes and text boxes follow the paragraph that holds their mark.
        """
        for child in parent:
            if child.tag == f"{_W}p":
                text = self.text(child)
                yield f"- {' '.join(text.split())}" if text.strip() and _is_item(child) else text
                yield from self._taken()
            elif child.tag == f"{_W}tbl":
                yield self._table(child)
                yield from self._taken()
            elif child.tag in {f"{_W}sdt", f"{_W}sdtContent", f"{_W}ins", f"{_W}customXml", f"{_W}moveTo"}:
                yield from self.blocks(child)

    def text(self, element: etree._Element) -> str:
        """Give the text of a paragraph without what is deleted, struck or hidden; deep nesting is walked, not called."""
        runs: list[tuple[str, str]] = []
        skip: etree._Element | None = None
        kind = ""
        for event, node in etree.iterwalk(element, events=("start", "end")):
            if skip is not None:
                skip = None if event == "end" and node is skip else skip
                continue
            if event == "end":
                kind = "" if node.tag == f"{_W}r" else kind
            elif node.tag in _NEVER:
                skip = node
            elif node.tag == f"{_W}txbxContent":
                self._pending += [block for block in _Reader(self._notes, self._styles).blocks(node) if block.strip()]
                skip = node
            elif node.tag == f"{_M}oMath":
                runs.append(("", formula(node)))
                skip = node
            elif node.tag == f"{_W}r":
                look = self._styles.look(node)
                kind = self._styles.kind(look)
                skip = node if self._styles.hides(node, look) else None
            elif node.tag == f"{_W}sym":
                runs.append((kind, _SIGNS.get(node.get(f"{_W}char", "").upper()[-2:], "\ufffd")))
            elif node.tag == f"{_W}t":
                runs.append((kind, node.text or ""))
            elif node.tag in _NOTES and (note := self._notes.get((_NOTES[node.tag], node.get(f"{_W}id", "")))):
                number = raised(str(sum(1 for one in self._pending if one.startswith("Note ")) + 1))
                runs.append(("mark", number))
                self._pending.append(f"Note {number}: {note}")
            else:
                runs.append(("", _BREAKS.get(str(node.tag), "")))
        return runs_joined(runs)

    def _taken(self) -> Iterator[str]:
        taken, self._pending = self._pending, []
        yield from taken

    def _table(self, table: etree._Element) -> str:
        """Write rows as records; a cell over several rows stands in each."""
        rows: list[list[str | None]] = []
        heads = 0
        for row in table.iter(f"{_W}tr"):
            # Words of a table in a cell are the cell's.
            if next(row.iterancestors(f"{_W}tbl")) is not table or row.find(f"{_W}trPr/{_W}del") is not None:
                continue
            heads += heads == len(rows) and row.find(f"{_W}trPr/{_W}tblHeader") is not None
            above = rows[-1] if rows else []
            cells: list[str | None] = []
            for cell in row.iterchildren(f"{_W}tc"):
                inner = ", ".join(filter(None, (" ".join(self.text(one).split()) for one in cell.iter(f"{_W}p"))))
                merged = cell.find(f"{_W}tcPr/{_W}vMerge")
                if merged is not None and merged.get(f"{_W}val", "continue") == "continue" and len(cells) < len(above):
                    inner = above[len(cells)] or ""
                span = cell.find(f"{_W}tcPr/{_W}gridSpan")
                width = span.get(f"{_W}val", "1") if span is not None else "1"
                cells += [inner, *[None] * (min(int(width), 64) - 1 if width.isdigit() else 0)]
            rows.append(cells)
        return "\n".join(records(rows, heads=heads or None))


class _Styles:
    """How the runs of a file look: by their own properties, and by those of their styles and of the styles above these."""

    def __init__(self, word: "WordDocument | None" = None) -> None:
        found = word.styles.element.iter(f"{_W}style") if word is not None else ()
        self._by_id = {style.get(f"{_W}styleId", ""): style for style in found}

    def look(self, run: etree._Element) -> dict[str, etree._Element]:
        """Give the properties of a run by their names; the nearest hold."""
        own = run.find(f"{_W}rPr")
        look = {str(part.tag): part for part in own} if own is not None else {}
        paragraph = next(run.iterancestors(f"{_W}p"), None)
        named = (own, f"{_W}rStyle"), (paragraph.find(f"{_W}pPr") if paragraph is not None else None, f"{_W}pStyle")
        for properties, kind in named:
            style = properties.find(kind) if properties is not None else None
            for _ in range(8):
                style = self._by_id.get(style.get(f"{_W}val", "")) if style is not None else None
                if style is None:
                    break
                look = {str(part.tag): part for part in style.iterfind(f"{_W}rPr/*")} | look
                style = style.find(f"{_W}basedOn")
        return look

    def kind(self, look: Mapping[str, etree._Element]) -> str:
        """Tell raised and lowered runs; some are so by their place alone."""
        place = _value(look, "position")
        high = int(place) if place.lstrip("-").isdigit() else 0
        shifted = "raised" if high >= _SHIFTED else "lowered" if high <= -_SHIFTED else ""
        return _SCRIPTS.get(_value(look, "vertAlign"), shifted)

    def hides(self, run: etree._Element, look: Mapping[str, etree._Element]) -> bool:
        """Tell a run that no reader sees, or that is struck: switched off, in its ground's colour, or small as a speck."""
        for name in ("vanish", "strike", "dstrike"):
            found = look.get(f"{_W}{name}")
            if found is not None and found.get(f"{_W}val", "1") not in {"0", "false", "off"}:
                return True
        size, width = _value(look, "sz"), _value(look, "w")
        if (size.isdigit() and int(size) <= _SPECK) or (width.isdigit() and int(width) < _NARROW):
            return True
        written, ground = look.get(f"{_W}color"), look.get(f"{_W}shd")
        for part in ("pPr", "tcPr"):
            above = (one.find(f"{_W}{part}/{_W}shd") for one in run.iterancestors())
            ground = ground if ground is not None else next((one for one in above if one is not None), None)
        if written is None or f"{_W}highlight" in look:
            return False
        colour = _colour(written, "val", "themeColor")
        under: tuple[int, ...] = (255, 255, 255)
        if ground is not None and ground.get(f"{_W}fill", "auto") != "auto":
            under = _colour(ground, "fill", "themeFill")
        return bool(colour and under) and all(abs(a - b) < _NEAR for a, b in zip(colour, under, strict=False))


def _notes_of(archive: zipfile.ZipFile, styles: _Styles) -> dict[tuple[str, str], str]:
    """Read footnotes and endnotes; the separators that Word keeps among them have a type."""
    notes: dict[tuple[str, str], str] = {}
    reader = _Reader({}, styles)
    for kind in ("footnote", "endnote"):
        name = f"word/{kind}s.xml"
        if name not in archive.namelist():
            continue
        root = etree.fromstring(archive.read(name), etree.XMLParser(resolve_entities=False))
        for note in root.iter(f"{_W}{kind}"):
            text = " ".join(" ".join(reader.text(one).split()) for one in note.iter(f"{_W}p")).strip()
            if text and note.get(f"{_W}type") in {None, "normal"}:
                notes[kind, note.get(f"{_W}id", "")] = text
    return notes


def _colour(part: etree._Element, name: str, theme: str) -> tuple[int, ...]:
    """Give a colour in three parts; of the colours of a theme only its white ground is known."""
    if part.get(f"{_W}{theme}"):
        known = part.get(f"{_W}{theme}") in {"background1", "light1"} and not part.get(f"{_W}{theme}Shade")
        return (255, 255, 255) if known else ()
    digits = part.get(f"{_W}{name}", "")
    is_hex = len(digits) == 6 and all(digit in hexdigits for digit in digits)
    return tuple(bytes.fromhex(digits)) if is_hex else ()


def _value(look: Mapping[str, etree._Element], name: str) -> str:
    found = look.get(f"{_W}{name}")
    return found.get(f"{_W}val", "") if found is not None else ""


def _is_item(paragraph: etree._Element) -> bool:
    style = paragraph.find(f"{_W}pPr/{_W}pStyle")
    if style is not None and style.get(f"{_W}val", "").lower().startswith("heading"):
        return False  # headings are often numbered
    named = style is not None and style.get(f"{_W}val", "").lower().startswith("list")
    number = paragraph.find(f"{_W}pPr/{_W}numPr/{_W}numId")
    return named or (number is not None and number.get(f"{_W}val") != "0")


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
        if kind.startswith(("title", "heading")) and (name := _name(_Reader({}, _Styles()).text(paragraph))):
            return name
    return ""


def _name(text: str) -> str | None:
    name = one_line(text)
    return name if 0 < len(name) <= MAX_NAME and any(letter.isalnum() for letter in name) else None


_NAMES = "urn:oasis:names:tc:opendocument:xmlns:"
_TEXT, _STYLE, _TABLE = f"{{{_NAMES}text:1.0}}", f"{{{_NAMES}style:1.0}}", f"{{{_NAMES}table:1.0}}"
_DRAW, _OFFICE, _FO = f"{{{_NAMES}drawing:1.0}}", f"{{{_NAMES}office:1.0}}", f"{{{_NAMES}xsl-fo-compatible:1.0}}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_DC = "{http://purl.org/dc/elements/1.1/}"
_NEVER_IN_ODF = {
    f"{_TEXT}tracked-changes", f"{_OFFICE}annotation", f"{_TEXT}hidden-text", f"{_TEXT}ruby-text", f"{_DRAW}image",
    f"{_TEXT}note-citation", f"{_OFFICE}forms", f"{_TABLE}shapes",
}  # fmt: skip
_MOST_CELLS = 200  # that one repeated cell stands for: the empty rest of a sheet is one of a million

Look = dict[str, str]


def opened(archive: zipfile.ZipFile) -> tuple[str, str, list[str]]:
    """Give title, author and blocks of a file; tracked deletions are left out, notes follow their paragraph."""
    parser = etree.XMLParser(resolve_entities=False)
    roots = [etree.fromstring(archive.read("content.xml"), parser)]
    for name in ("styles.xml", "meta.xml"):
        if name in archive.namelist():
            roots.append(etree.fromstring(archive.read(name), parser))
    facts = {name: next((str(one.text) for root in roots for one in root.iter(f"{_DC}{name}")), "")
             for name in ("title", "creator")}  # fmt: skip
    reader = _OdfReader(archive, {
        style.get(f"{_STYLE}name", ""): style for root in reversed(roots) for style in root.iter(f"{_STYLE}style")
    })  # fmt: skip
    body = roots[0].find(f"{_OFFICE}body")
    return facts["title"], facts["creator"], list(reader.blocks(body)) if body is not None else []


@dataclass
class _OdfReader:
    archive: zipfile.ZipFile
    styles: Mapping[str, etree._Element]

    def __post_init__(self) -> None:
        self._pending: list[str] = []  # notes and text boxes of the paragraph at hand
        self._notes = 0

    def blocks(self, parent: etree._Element) -> Iterator[str]:
        """Give paragraphs and tables in their order."""
        for child in parent:
            if child.tag in _NEVER_IN_ODF or not isinstance(child.tag, str):
                continue
            if child.tag in {f"{_TEXT}p", f"{_TEXT}h"}:
                written = self.paragraph(child)
                is_item = any(above.tag == f"{_TEXT}list-item" for above in child.iterancestors())
                yield f"- {written}" if is_item and written else written
                taken, self._pending = self._pending, []
                yield from taken
            elif child.tag == f"{_TABLE}table":
                yield "\n".join(records(self._rows(child), is_data=parent.tag == f"{_OFFICE}spreadsheet"))
            else:
                yield from self.blocks(child)

    def paragraph(self, block: etree._Element) -> str:
        """Write a paragraph without what is struck or hidden in it."""
        look = self._look(block.get(f"{_TEXT}style-name", ""))
        if _is_unseen(look):
            return ""
        return "\n".join(" ".join(line.split()) for line in runs_joined(self._runs(block, look)).split("\n"))

    def _runs(self, parent: etree._Element, look: Look) -> Iterator[tuple[str, str]]:
        position = look.get("text-position", "")
        share = position.split()[0] if position else ""
        is_high = share == "super" or (share.endswith("%") and share[:1] not in {"-", "0"})
        kind = "raised" if is_high else "lowered" if share == "sub" or share.startswith("-") else ""
        yield kind, parent.text or ""
        for child in parent:
            if isinstance(child.tag, str) and child.tag not in _NEVER_IN_ODF:
                yield from self._child(child, look)
            yield kind, child.tail or ""

    def _child(self, child: etree._Element, look: Look) -> Iterator[tuple[str, str]]:
        if child.tag in {f"{_TEXT}s", f"{_TEXT}tab", f"{_TEXT}line-break"}:
            yield "", "\n" if child.tag.endswith("line-break") else " "
        elif child.tag == f"{_TEXT}note":
            self._notes += 1
            number = raised(str(self._notes))
            body = child.find(f"{_TEXT}note-body")
            said = " ".join(_OdfReader(self.archive, self.styles).blocks(body)) if body is not None else ""
            self._pending.append(f"Note {number}: {said}")
            yield "mark", number
        elif child.tag == f"{_DRAW}text-box":
            self._pending += [block for block in _OdfReader(self.archive, self.styles).blocks(child) if block]
        elif child.tag == f"{_DRAW}object":
            yield "", self._formula(child)
        elif not _is_unseen(own := look | self._look(child.get(f"{_TEXT}style-name", ""))):
            yield from self._runs(child, own)

    def _formula(self, thing: etree._Element) -> str:
        """Write a formula, which is a file of its own in the archive; other things in frames are no text."""
        inner = next(thing.iter("{*}math"), None)
        name = normpath(f"{thing.get(_HREF, '')}/content.xml")
        if inner is None and name in self.archive.namelist():
            root = etree.fromstring(self.archive.read(name), etree.XMLParser(resolve_entities=False))
            inner = next(root.iter("{*}math"), None)
        return formula(inner) if inner is not None else ""

    def _rows(self, table: etree._Element) -> Iterator[list[str]]:
        for row in table.iter(f"{_TABLE}table-row"):
            if row.get(f"{_TABLE}visibility", "visible") != "visible":
                continue
            cells: list[str] = []
            for cell in row.iterchildren(f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
                times = cell.get(f"{_TABLE}number-columns-repeated", "1")
                text = " ".join(" ".join(self.blocks(cell)).split())
                cells += [text] * min(int(times) if times.isdigit() else 1, _MOST_CELLS)
            yield cells

    def _look(self, name: str) -> Look:
        """Give what a style and those above it say of letters."""
        look: Look = {}
        for _ in range(8):
            style = self.styles.get(name)
            if style is None:
                break
            for part in style.iterchildren(f"{_STYLE}text-properties", f"{_STYLE}paragraph-properties"):
                look = {str(etree.QName(key).localname): str(value) for key, value in part.attrib.items()} | look
            name = style.get(f"{_STYLE}parent-style-name", "")
        return look


def _is_unseen(look: Look) -> bool:
    if look.get("text-line-through-style", "none") != "none" or look.get("text-line-through-type", "none") != "none":
        return True
    declared = {"color": look.get("color", "").lower(), "background-color": look.get("background-color", "").lower()}
    if look.get("font-size", "").endswith("pt"):
        declared["font-size"] = look["font-size"].lower()
    return look.get("display") == "none" or hides(declared, None if background_of(declared) is True else WHITE)
