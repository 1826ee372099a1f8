"""A report as a Word file: real headings, lists, tables and links, so that it can be worked on.

Every citation is a link to the words it rests on in the reference list, and these link back and to their source. Fonts
are those of the reader's computer, so that any script can be shown that the computer knows.
"""

import io
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from docx import Document
from docx.enum.style import WD_STYLE_TYPE
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import qn
from docx.shared import Pt, RGBColor
from docx.text.paragraph import Paragraph as WordParagraph
from docx.text.run import Run

from agents.contracts.report import ReportDocument
from agents.report import export_blocks as b
from agents.report.export_flow import Flow, QuoteEntry, flow, printable, way_of
from agents.report.omml import office_math

if TYPE_CHECKING:
    from docx.document import Document as WordDocument

MAX_ADDRESS = 2_000
"""Characters of a link, at most: word processors refuse files with longer ones."""
CITATION, MARK, SMALL = "Dossier Citation", "Dossier Mark", "Dossier Small"
_ACCENT, _SOFT, _BAD = RGBColor(0x2A, 0x4B, 0xA0), RGBColor(0x56, 0x52, 0x4B), RGBColor(0xA5, 0x2A, 0x2A)
_SIDES = {"left": WD_ALIGN_PARAGRAPH.LEFT, "center": WD_ALIGN_PARAGRAPH.CENTER, "right": WD_ALIGN_PARAGRAPH.RIGHT}
_AFTER_BIDI = "adjustRightInd snapToGrid spacing ind contextualSpacing mirrorIndents suppressOverlap jc textDirection \
textAlignment textboxTightWrap outlineLvl divId cnfStyle rPr sectPr pPrChange"
_AFTER_RTL = "cs em lang eastAsianLayout specVanish oMath"
_AFTER_BIDI_VISUAL = "tblStyleRowBandSize tblStyleColBandSize tblW jc tblCellSpacing tblInd tblBorders shd tblLayout \
tblCellMar tblLook"
_WRITTEN = datetime(2000, 1, 1, tzinfo=UTC)


def to_docx(document: ReportDocument) -> bytes:
    """Write a report as a Word file. Takes a tenth of a second or more: not for the event loop."""
    return _Writer(flow(document)).written()


class _Writer:
    def __init__(self, read: Flow) -> None:
        self.read = read
        self.file: WordDocument = Document()
        self.bookmarks = 0
        self._styles()
        self._properties()

    def written(self) -> bytes:
        """Write everything, in order."""
        read = self.read
        self._paragraph((b.Words(read.title),), "Title", way_of(read.title, read.way))
        asked = (b.Words(f"{read.words.question}: ", bold=True), b.Words(read.question))
        self._paragraph(asked, None, way_of(read.question, read.way))
        self._paragraph((b.Words(read.grade_label, bold=True), b.Words(f" · {read.figures}")), SMALL, read.way)
        for reason in read.reasons:
            self._paragraph((b.Words(reason),), "List Bullet", read.way)
        self._blocks(read.blocks)
        made = io.BytesIO()
        self.file.save(made)
        return made.getvalue()

    # ---- the file as a whole

    def _properties(self) -> None:
        kept, read = self.file.core_properties, self.read
        kept.title, kept.subject, kept.author = read.title[:255], read.question[:255], "Dossier"
        kept.language, kept.comments, kept.keywords = read.language, "", f"dossier {read.job_id}"[:255]
        day = re.fullmatch(r"(\d{4})-(\d{2})-(\d{2})", read.date)
        at = datetime(int(day[1]), int(day[2]), int(day[3]), tzinfo=UTC) if day else _WRITTEN
        kept.created = kept.modified = at
        kept.last_modified_by = "Dossier"

    def _styles(self) -> None:
        styles = self.file.styles
        for name, size, colour in ((CITATION, 0, _ACCENT), (MARK, 8.5, _BAD)):
            style = styles.add_style(name, WD_STYLE_TYPE.CHARACTER)
            style.font.color.rgb = colour
            style.font.superscript = True if name == CITATION else None
            if size:
                style.font.size = Pt(size)
        small = styles.add_style(SMALL, WD_STYLE_TYPE.PARAGRAPH)
        small.base_style, small.font.size, small.font.color.rgb = styles["Normal"], Pt(9), _SOFT
        # The language of everything, by which words are divided and checked, and glyphs of East Asia are chosen.
        defaults = styles.element.find(f".//{qn('w:rPrDefault')}/{qn('w:rPr')}")
        if defaults is not None:
            for known in defaults.findall(qn("w:lang")):
                defaults.remove(known)
            tag = self.read.language
            places = ("val", "eastAsia", "bidi")
            defaults.append(_element("w:lang", **dict.fromkeys(places, tag)))

    def _numbering(self, start: int) -> int:
        """Give a list of its own the numbers that "List Number" would go on with."""
        numbering = self.file.part.numbering_part.element
        style = self.file.styles["List Number"].element
        known = style.find(f".//{qn('w:numId')}").get(qn("w:val"))
        of = numbering.find(f"{qn('w:num')}[@{qn('w:numId')}='{known}']").find(qn("w:abstractNumId"))
        made = numbering.add_num(int(of.get(qn("w:val"))))
        made.add_lvlOverride(ilvl=0).add_startOverride(start)
        return int(made.numId)

    # ---- blocks

    def _blocks(self, blocks: Iterable[b.Block], style: str | None = None) -> None:
        for block in blocks:
            match block:
                case b.Heading(level, line, way):
                    self._paragraph(line, f"Heading {min(level, 9)}", way)
                case b.Paragraph(line, way):
                    self._paragraph(line, style, way)
                case b.Listing():
                    self._listing(block)
                case b.Table():
                    self._table(block)
                case b.Quotation(inside):
                    self._blocks(inside, "Quote")
                case b.Code(text):
                    for row in text.split("\n"):
                        self._paragraph((b.Words(row, code=True),), "No Spacing", "ltr")
                case b.References():
                    self._references()

    def _listing(self, block: b.Listing) -> None:
        name = "List Number" if block.ordered else "List Bullet"
        number = self._numbering(block.start) if block.ordered else None
        for item in block.items:
            for place, one in enumerate(item):
                if not isinstance(one, b.Paragraph):
                    self._blocks((one,))
                    continue
                made = self._paragraph(one.line, name if place == 0 else "List Continue", one.way)
                if number is not None and place == 0:
                    self._numbered(made, number)

    @staticmethod
    def _numbered(made: WordParagraph, number: int) -> None:
        places: Any = made._p.get_or_add_pPr()
        properties = places.get_or_add_numPr()
        properties.get_or_add_ilvl().val, properties.get_or_add_numId().val = 0, number

    def _table(self, block: b.Table) -> None:
        table = self.file.add_table(rows=1 + len(block.rows), cols=len(block.header), style="Light List Accent 1")
        if self.read.way == "rtl":
            _put(table._tbl.tblPr, "w:bidiVisual", _AFTER_BIDI_VISUAL)
        repeated = table.rows[0]._tr.get_or_add_trPr()
        repeated.append(_element("w:tblHeader", val="true"))
        # Cells by one pass over the rows: asking the table for each is quadratic.
        for row, lines in zip(table.rows, (block.header, *block.rows), strict=True):
            for cell, line, side in zip(row.cells, lines, block.align, strict=True):
                made = cell.paragraphs[0]
                self._fill(made, line, self.read.way)
                if side:
                    made.alignment = _SIDES[side]
        self.file.add_paragraph(style="No Spacing")

    def _references(self) -> None:
        for entry in self.read.references:
            made = self.file.add_paragraph()
            made.paragraph_format.keep_with_next = bool(entry.quotes)
            head = b.Words(entry.title, bold=True, address=entry.address)
            about = (b.Words(f", {entry.about}"),) if entry.about else ()
            with_address = (b.Break(), b.Words(entry.address, address=entry.address)) if entry.address else ()
            self._marked(
                made, entry.name, (b.Words(f"{entry.number}. ", bold=True), head, *about, *with_address), entry.way
            )
            for one in entry.quotes:
                self._quote(one)

    def _quote(self, one: QuoteEntry) -> None:
        made = self.file.add_paragraph(style="Quote")
        made.paragraph_format.left_indent = Pt(14)
        page = (b.Words(f" ({one.page})"),) if one.page else ()
        self._marked(made, one.name, (b.Words(one.text), *page), one.way)
        if one.back:
            self._plain(made, "  ")
            self._linked(made, self.read.words.back, anchor=_bookmark(one.back))
        if one.address:
            self._plain(made, "  ")
            self._linked(made, self.read.words.open_source, address=one.address)

    def _paragraph(self, line: b.Line, style: str | None, way: b.Way) -> WordParagraph:
        made = self.file.add_paragraph(style=style)
        self._fill(made, line, way)
        return made

    def _marked(self, made: WordParagraph, name: str, line: b.Line, way: b.Way) -> None:
        """Fill a paragraph inside a bookmark, so that links find it."""
        opening, closing = self._bookmarked(name)
        made._p.append(opening)
        self._fill(made, line, way)
        made._p.append(closing)

    def _bookmarked(self, name: str) -> tuple[Any, Any]:
        self.bookmarks += 1
        number = str(self.bookmarks)
        return _element("w:bookmarkStart", id=number, name=_bookmark(name)), _element("w:bookmarkEnd", id=number)

    # ---- inside a paragraph

    def _fill(self, made: WordParagraph, line: b.Line, way: b.Way) -> None:
        if way == "rtl":
            _put(made._p.get_or_add_pPr(), "w:bidi", _AFTER_BIDI)
        for part in line:
            match part:
                case b.Words():
                    self._words(made, part)
                case b.Break():
                    made.add_run().add_break()
                case b.Formula(tex, _):
                    self._formula(made, tex)
                case b.Cite():
                    opening, closing = self._bookmarked(part.own)
                    made._p.append(opening)
                    styled = partial(_styled, style=self.file.styles[CITATION].style_id)
                    self._linked(made, f"[{part.number}]", anchor=_bookmark(part.place), tip=part.title, style=styled)
                    made._p.append(closing)
                case b.Mark(_, text):
                    self._plain(made, " ")
                    made.add_run(f"[{text}]", style=MARK)

    def _words(self, made: WordParagraph, part: b.Words) -> None:
        if part.address:
            self._linked(made, part.text, address=part.address, bold=part.bold)
            return
        run = self._plain(made, part.text)
        run.bold, run.italic, run.font.strike = part.bold or None, part.italic or None, part.struck or None
        if part.code:
            run.font.name = "Consolas"

    def _plain(self, made: WordParagraph, text: str) -> Run:
        run = made.add_run(_fit(text))
        if way_of(text) == "rtl":
            _put(run._r.get_or_add_rPr(), "w:rtl", _AFTER_RTL)
        return run

    def _formula(self, made: WordParagraph, tex: str) -> None:
        formula = office_math(tex)
        if formula is None:
            self._words(made, b.Words(tex, code=True))
        else:
            element: Any = parse_xml(formula)
            made._p.append(element)

    def _linked(
        self, made: WordParagraph, text: str, *, address: str = "", anchor: str = "", tip: str = "", bold: bool = False,
        style: "partial[None] | None" = None,
    ) -> None:  # fmt: skip
        """Append a link: to a place in this file, or to an address."""
        link = _element("w:hyperlink")
        if anchor:
            link.set(qn("w:anchor"), anchor)
        elif len(address) <= MAX_ADDRESS:
            place = made.part.relate_to(_fit(address), RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
            link.set(qn("r:id"), place)
        if tip:
            link.set(qn("w:tooltip"), _fit(tip)[:250])
        run = Run(_element("w:r"), made)
        run.text, run.bold = _fit(text), bold or None
        if style is None:
            run.font.color.rgb, run.font.underline = _ACCENT, True
        else:
            style(run)
        link.append(run._r)
        made._p.append(link)


def _styled(run: Run, style: str) -> None:
    properties: Any = run._r.get_or_add_rPr()
    properties.insert(0, _element("w:rStyle", val=style))


def _put(properties: Any, tag: str, after: str) -> None:
    """Add a property in front of those that the format wants after it."""
    properties.insert_element_before(_element(tag), *(f"w:{name}" for name in after.split()))


def _fit(text: str) -> str:
    """Keep what XML can hold."""
    return printable(text)


def _bookmark(name: str) -> str:
    """Name a place as Word allows it: letters, figures and underscores, not beginning with a figure."""
    return "d_" + name.replace("-", "_")


def _element(tag: str, **attributes: str) -> Any:
    """Make an element of the format; the library types only those that it knows itself."""
    made: Any = OxmlElement(tag)
    for name, value in attributes.items():
        made.set(qn(f"w:{name}"), value)
    return made
