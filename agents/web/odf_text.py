"""Texts, tables and slides of OpenDocument as blocks of text; knows the looks of its styles."""

import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from posixpath import normpath

from lxml import etree

from agents.web.formulas import formula, raised, runs_joined
from agents.web.hidden_text import WHITE, background_of, hides
from agents.web.table_rows import records

_NAMES = "urn:oasis:names:tc:opendocument:xmlns:"
_TEXT, _STYLE, _TABLE = f"{{{_NAMES}text:1.0}}", f"{{{_NAMES}style:1.0}}", f"{{{_NAMES}table:1.0}}"
_DRAW, _OFFICE, _FO = f"{{{_NAMES}drawing:1.0}}", f"{{{_NAMES}office:1.0}}", f"{{{_NAMES}xsl-fo-compatible:1.0}}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_DC = "{http://purl.org/dc/elements/1.1/}"
_NEVER = {
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
    reader = _Reader(archive, {
        style.get(f"{_STYLE}name", ""): style for root in reversed(roots) for style in root.iter(f"{_STYLE}style")
    })  # fmt: skip
    body = roots[0].find(f"{_OFFICE}body")
    return facts["title"], facts["creator"], list(reader.blocks(body)) if body is not None else []


@dataclass
class _Reader:
    archive: zipfile.ZipFile
    styles: Mapping[str, etree._Element]

    def __post_init__(self) -> None:
        self._pending: list[str] = []  # notes and text boxes of the paragraph at hand
        self._notes = 0

    def blocks(self, parent: etree._Element) -> Iterator[str]:
        """Give paragraphs and tables in their order."""
        for child in parent:
            if child.tag in _NEVER or not isinstance(child.tag, str):
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
            if isinstance(child.tag, str) and child.tag not in _NEVER:
                yield from self._child(child, look)
            yield kind, child.tail or ""

    def _child(self, child: etree._Element, look: Look) -> Iterator[tuple[str, str]]:
        if child.tag in {f"{_TEXT}s", f"{_TEXT}tab", f"{_TEXT}line-break"}:
            yield "", "\n" if child.tag.endswith("line-break") else " "
        elif child.tag == f"{_TEXT}note":
            self._notes += 1
            number = raised(str(self._notes))
            body = child.find(f"{_TEXT}note-body")
            said = " ".join(_Reader(self.archive, self.styles).blocks(body)) if body is not None else ""
            self._pending.append(f"Note {number}: {said}")
            yield "mark", number
        elif child.tag == f"{_DRAW}text-box":
            self._pending += [block for block in _Reader(self.archive, self.styles).blocks(child) if block]
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
