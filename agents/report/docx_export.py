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

from agents.contracts import body as b
from agents.contracts.report import ReportDocument
from agents.report.latex import office_math
from agents.report.references import Citations
from agents.report.view import QuoteEntry, View, Way, column_shares, levelled, printable, view, way_of

if TYPE_CHECKING:
    from docx.document import Document as WordDocument

Element = Any
"""An element of the format: the library types only those that it knows itself."""
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
    return _Writer(view(document), Citations(document.references)).written()


class _Writer:
    def __init__(self, seen: View, citations: Citations) -> None:
        self.seen, self.citations = seen, citations
        self.file: WordDocument = Document()
        self.bookmarks = self.headings = 0
        self._styles()
        self._properties()

    def written(self) -> bytes:
        """Write everything, in order."""
        seen = self.seen
        self._paragraph((b.Words(text=seen.title),), "Title", way_of(seen.title, seen.way))
        asked = (b.Words(text=f"{seen.words.question}: ", style=("bold",)), b.Words(text=seen.question))
        self._paragraph(asked, None, way_of(seen.question, seen.way))
        grade = (b.Words(text=seen.grade_label, style=("bold",)), b.Words(text=f" · {seen.figures}"))
        self._paragraph(grade, SMALL, seen.way)
        for reason in seen.reasons:
            self._paragraph((b.Words(text=reason),), "List Bullet", seen.way)
        blocks = levelled(seen.body.blocks)
        self._contents([block for block in blocks if isinstance(block, b.Heading)])
        self._blocks(blocks)
        made = io.BytesIO()
        self.file.save(made)
        return made.getvalue()

    def _contents(self, headings: "list[b.Heading]") -> None:
        """Put a table of contents: a field that the word processor fills with page numbers, with the headings in it."""
        if len(headings) < 3:
            return
        self._paragraph((b.Words(text=self.seen.words.contents, style=("bold",)),), SMALL, self.seen.way)
        for number, heading in enumerate(headings):
            made = self.file.add_paragraph(style="No Spacing")
            made.paragraph_format.left_indent = Pt(14 * (heading.level - 1))
            if number == 0:
                for kind, text in (("begin", ""), ("", ' TOC \\o "1-3" \\h \\z \\u '), ("separate", "")):
                    self._field(made, kind, text)
            self._linked(made, b.plain(heading.inline), anchor=f"d_h{number}")
            if number + 1 == len(headings):
                self._field(made, "end")

    @staticmethod
    def _field(made: WordParagraph, kind: str, text: str = "") -> None:
        run = made.add_run()
        if kind:
            run._r.append(_element("w:fldChar", fldCharType=kind))
        else:
            code: Element = OxmlElement("w:instrText")
            code.text = text
            run._r.append(code)

    # ---- the file as a whole

    def _properties(self) -> None:
        kept, seen = self.file.core_properties, self.seen
        kept.title, kept.subject, kept.author = seen.title[:255], seen.question[:255], "Dossier"
        kept.language, kept.comments, kept.keywords = seen.language, "", f"dossier {seen.job_id}"[:255]
        day = re.fullmatch(r"(\d{4})-(\d{2})-(\d{2})", seen.date)
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
            tag = self.seen.language
            places = ("val", "eastAsia", "bidi")
            defaults.append(_element("w:lang", **dict.fromkeys(places, tag)))

    def _numbering(self, start: int, style: str) -> int:
        """Give a list of its own the numbers that its style would go on with."""
        numbering = self.file.part.numbering_part.element
        known = self.file.styles[style].element.find(f".//{qn('w:numId')}").get(qn("w:val"))
        of = numbering.find(f"{qn('w:num')}[@{qn('w:numId')}='{known}']").find(qn("w:abstractNumId"))
        made = numbering.add_num(int(of.get(qn("w:val"))))
        made.add_lvlOverride(ilvl=0).add_startOverride(start)
        return int(made.numId)

    # ---- blocks

    def _blocks(self, blocks: Iterable[b.Block], style: str | None = None, level: int = 0) -> None:
        for block in blocks:
            match block:
                case b.Heading(level=depth, inline=line):
                    made = self.file.add_paragraph(style=f"Heading {min(depth, 9)}")
                    self._marked(made, f"h{self.headings}", line, way_of(line, self.seen.way))
                    self.headings += 1
                case b.Paragraph(sentences=sentences):
                    self._sentences(sentences, style)
                case b.Listing():
                    self._listing(block, level)
                case b.Table():
                    self._table(block)
                case b.Quotation(blocks=inside):
                    self._blocks(inside, "Quote")
                case b.Code(text=text):
                    for row in text.split("\n"):
                        self._paragraph((b.Words(text=row, style=("code",)),), "No Spacing", "ltr")
                case b.Display(tex=tex):
                    self._formula(self.file.add_paragraph(), tex)
                case b.ReferenceList():
                    self._references()

    def _sentences(self, sentences: Iterable[b.Sentence], style: str | None) -> WordParagraph:
        made = self.file.add_paragraph(style=style)
        self._filled(made, tuple(sentences))
        return made

    def _filled(self, made: WordParagraph, sentences: tuple[b.Sentence, ...]) -> None:
        """Write sentences, each with its citations and what a check found."""
        way = way_of(tuple(part for one in sentences for part in one.inline), self.seen.way)
        for number, one in enumerate(sentences):
            self._fill(made, one.inline, way)
            self._cites(made, one)
            mark = self.seen.words.verdicts.get(one.verdict) if one.verdict else None
            if mark:
                self._plain(made, " ")
                made.add_run(f"[{mark}]", style=MARK)
            if number + 1 < len(sentences) and one.gap:
                self._fill(made, (b.LineBreak() if one.gap == "\n" else b.Words(text=" "),), way)

    def _cites(self, made: WordParagraph, sentence: b.Sentence) -> None:
        styled = partial(_styled, style=self.file.styles[CITATION].style_id)
        for cite in self.citations.of(sentence):
            opening, closing = self._bookmarked(cite.own)
            made._p.append(opening)
            title = " ".join(cite.reference.title.split())
            self._linked(made, f"[{cite.reference.n}]", anchor=_bookmark(cite.place), tip=title, style=styled)
            made._p.append(closing)

    def _listing(self, block: b.Listing, level: int) -> None:
        deeper = "" if level == 0 else f" {min(level + 1, 3)}"
        name = "List Number" if block.ordered else "List Bullet"
        number = self._numbering(block.start, name + deeper) if block.ordered else None
        for item in block.items:
            for place, one in enumerate(item):
                if isinstance(one, b.Paragraph):
                    made = self._sentences(one.sentences, (name if place == 0 else "List Continue") + deeper)
                    if number is not None and place == 0:
                        self._numbered(made, number)
                else:
                    self._blocks((one,), level=level + 1)

    @staticmethod
    def _numbered(made: WordParagraph, number: int) -> None:
        places: Element = made._p.get_or_add_pPr()
        properties = places.get_or_add_numPr()
        properties.get_or_add_ilvl().val, properties.get_or_add_numId().val = 0, number

    def _table(self, block: b.Table) -> None:
        table = self.file.add_table(rows=1 + len(block.rows), cols=len(block.header), style="Light List Accent 1")
        if self.seen.way == "rtl":
            _put(table._tbl.tblPr, "w:bidiVisual", _AFTER_BIDI_VISUAL)
        repeated = table.rows[0]._tr.get_or_add_trPr()
        repeated.append(_element("w:tblHeader", val="true"))
        # Cells by one pass over the rows: asking the table for each is quadratic.
        section = self.file.sections[0]
        width = (section.page_width or 0) - (section.left_margin or 0) - (section.right_margin or 0)
        shares = column_shares(block)
        table.autofit = not shares
        header = tuple(b.Sentence(inline=line) for line in block.header)
        for row, cells in zip(table.rows, (header, *block.rows), strict=True):
            row._tr.get_or_add_trPr().insert(0, _element("w:cantSplit"))
            for at, (place, cell, side) in enumerate(zip(row.cells, cells, block.align, strict=True)):
                if shares:
                    place.width = int(width * shares[at])
                made = place.paragraphs[0]
                self._filled(made, (cell,))
                if side:
                    made.alignment = _SIDES[side]
        self.file.add_paragraph(style="No Spacing")

    def _references(self) -> None:
        for entry in self.seen.references:
            made = self.file.add_paragraph()
            made.paragraph_format.keep_with_next = bool(entry.quotes)
            head = b.Words(text=entry.title, style=("bold",), address=entry.address)
            about = (b.Words(text=f", {entry.about}"),) if entry.about else ()
            with_address = (b.LineBreak(), b.Words(text=entry.address, address=entry.address)) if entry.address else ()
            self._marked(
                made,
                entry.name,
                (b.Words(text=f"{entry.number}. ", style=("bold",)), head, *about, *with_address),
                entry.way,
            )
            for one in entry.quotes:
                self._quote(one)

    def _quote(self, one: QuoteEntry) -> None:
        made = self.file.add_paragraph(style="Quote")
        made.paragraph_format.left_indent = Pt(14)
        page = (b.Words(text=f" ({one.page})"),) if one.page else ()
        self._marked(made, one.name, (b.Words(text=one.text), *page), one.way)
        if one.back:
            self._plain(made, "  ")
            self._linked(made, "↑", anchor=_bookmark(one.back), tip=self.seen.words.back)
        if one.address:
            self._plain(made, "  ")
            self._linked(made, self.seen.words.open_source, address=one.address)

    def _paragraph(self, line: b.Line, style: str | None, way: Way) -> WordParagraph:
        made = self.file.add_paragraph(style=style)
        self._fill(made, line, way)
        return made

    def _marked(self, made: WordParagraph, name: str, line: b.Line, way: Way) -> None:
        """Fill a paragraph inside a bookmark, so that links find it."""
        opening, closing = self._bookmarked(name)
        made._p.append(opening)
        self._fill(made, line, way)
        made._p.append(closing)

    def _bookmarked(self, name: str) -> tuple[Element, Element]:
        self.bookmarks += 1
        number = str(self.bookmarks)
        return _element("w:bookmarkStart", id=number, name=_bookmark(name)), _element("w:bookmarkEnd", id=number)

    # ---- inside a paragraph

    def _fill(self, made: WordParagraph, line: b.Line, way: Way) -> None:
        if way == "rtl":
            _put(made._p.get_or_add_pPr(), "w:bidi", _AFTER_BIDI)
        for part in line:
            match part:
                case b.Words():
                    self._words(made, part)
                case b.LineBreak():
                    made.add_run().add_break()
                case b.Formula(tex=tex):
                    self._formula(made, tex)

    def _words(self, made: WordParagraph, part: b.Words) -> None:
        if part.address:
            self._linked(made, part.text, address=part.address, bold="bold" in part.style)
            return
        run = self._plain(made, part.text)
        run.bold, run.italic = "bold" in part.style or None, "italic" in part.style or None
        run.font.strike = "struck" in part.style or None
        run.font.superscript, run.font.subscript = "sup" in part.style or None, "sub" in part.style or None
        if "code" in part.style:
            run.font.name = "Consolas"

    def _plain(self, made: WordParagraph, text: str) -> Run:
        run = made.add_run(_fit(text))
        if way_of(text) == "rtl":
            _put(run._r.get_or_add_rPr(), "w:rtl", _AFTER_RTL)
        return run

    def _formula(self, made: WordParagraph, tex: str) -> None:
        formula = office_math(tex)
        if formula is None:
            self._words(made, b.Words(text=tex, style=("code",)))
        else:
            element: Element = parse_xml(formula)
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
    properties: Element = run._r.get_or_add_rPr()
    properties.insert(0, _element("w:rStyle", val=style))


def _put(properties: Element, tag: str, after: str) -> None:
    """Add a property in front of those that the format wants after it."""
    properties.insert_element_before(_element(tag), *(f"w:{name}" for name in after.split()))


def _fit(text: str) -> str:
    """Keep what XML can hold."""
    return printable(text)


def _bookmark(name: str) -> str:
    """Name a place as Word allows it: letters, figures and underscores, not beginning with a figure."""
    return "d_" + name.replace("-", "_")


def _element(tag: str, **attributes: str) -> Element:
    made: Element = OxmlElement(tag)
    for name, value in attributes.items():
        made.set(qn(f"w:{name}"), value)
    return made
