"""Word files as text: paragraphs, headings, lists and tables in their order. Reads no pictures, and no old `.doc`."""

import io
import zipfile
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from lxml import etree

from agents.core.errors import SourceError
from agents.nlp.tokens import collapsed, language_of, one_line, seen
from agents.web.decoding import MAX_NAME, Document
from agents.web.formulas import formula, raised, runs_joined

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
_BREAKS = {f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}tab": "\t", f"{_W}noBreakHyphen": "-"}
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
            reader = _Reader(_notes_of(archive))
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
        title=title or heading or _name(text.split("\n", 1)[0]) or _file_name(url),
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
    """

    def __init__(self, notes: Mapping[tuple[str, str], str]) -> None:
        self._notes = notes
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
                yield "\n".join(row for row in map(self._row, child.iter(f"{_W}tr")) if row.strip(" |"))
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
            elif node.tag in _NEVER or (node.tag == f"{_W}r" and _is_hidden(node)):
                skip = node
            elif node.tag == f"{_W}txbxContent":
                self._pending += [block for block in _Reader(self._notes).blocks(node) if block.strip()]
                skip = node
            elif node.tag == f"{_M}oMath":
                runs.append(("", formula(node)))
                skip = node
            elif node.tag == f"{_W}r":
                kind = _SCRIPTS.get(_value(node, "vertAlign"), "")
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

    def _row(self, row: etree._Element) -> str:
        """Write a row; a cell over several columns is followed by empty ones, so that columns stay columns."""
        cells: list[str] = []
        for cell in row.iterchildren(f"{_W}tc"):
            inner = "; ".join(" ".join(self.text(one).split()) for one in cell.iter(f"{_W}p"))
            cells.append(inner.strip("; ").replace("|", "/"))
            span = cell.find(f"{_W}tcPr/{_W}gridSpan")
            width = span.get(f"{_W}val", "1") if span is not None else "1"
            cells += [""] * (min(int(width), 64) - 1 if width.isdigit() else 0)
        while cells and not cells[-1]:
            cells.pop()
        return " | ".join(cells)


def _notes_of(archive: zipfile.ZipFile) -> dict[tuple[str, str], str]:
    """Read footnotes and endnotes; the separators that Word keeps among them have a type."""
    notes: dict[tuple[str, str], str] = {}
    for kind in ("footnote", "endnote"):
        name = f"word/{kind}s.xml"
        if name not in archive.namelist():
            continue
        root = etree.fromstring(archive.read(name), etree.XMLParser(resolve_entities=False))
        for note in root.iter(f"{_W}{kind}"):
            text = " ".join(" ".join(_Reader({}).text(one).split()) for one in note.iter(f"{_W}p")).strip()
            if text and note.get(f"{_W}type") in {None, "normal"}:
                notes[kind, note.get(f"{_W}id", "")] = text
    return notes


def _is_hidden(run: etree._Element) -> bool:
    """Tell a run that no reader sees, or that is struck: switched off, white on white, or as small as a speck."""
    properties = run.find(f"{_W}rPr")
    if properties is None:
        return False
    for name in ("vanish", "strike", "dstrike"):
        found = properties.find(f"{_W}{name}")
        if found is not None and found.get(f"{_W}val", "1") not in {"0", "false", "off"}:
            return True
    filled = any(properties.find(f"{_W}{name}") is not None for name in ("shd", "highlight"))
    white = _value(run, "color").upper() in {"FFFFFF", "FEFEFE", "FFFFFE"} and not filled
    size = _value(run, "sz")
    return (white and not _is_shaded(run)) or (size.isdigit() and int(size) <= _SPECK)


def _is_shaded(run: etree._Element) -> bool:
    """Tell a run that lies in a filled cell or paragraph, where white letters are seen."""
    return any(
        above.find(f"{_W}{part}/{_W}shd") is not None for above in run.iterancestors() for part in ("tcPr", "pPr")
    )


def _value(run: etree._Element, name: str) -> str:
    found = run.find(f"{_W}rPr/{_W}{name}")
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
        if kind.startswith(("title", "heading")) and (name := _name(_Reader({}).text(paragraph))):
            return name
    return ""


def _name(text: str) -> str | None:
    name = one_line(text)
    return name if 0 < len(name) <= MAX_NAME and any(letter.isalnum() for letter in name) else None


def _file_name(url: str) -> str:
    name = PurePosixPath(unquote(urlsplit(url).path)).stem
    return " ".join(name.replace("_", " ").replace("-", " ").split()) or "Untitled"
