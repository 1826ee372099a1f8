"""A report as a Word file: real headings, lists, tables and links, so that it can be worked on.

Every citation is a link to the words it rests on in the reference list, and these link back and to their source. Fonts
are those of the reader's computer, so that any script can be shown that the computer knows.
"""

import io
from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING, Any

from docx import Document
from docx.enum.style import WD_STYLE_TYPE
from docx.enum.text import WD_PARAGRAPH_ALIGNMENT
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import qn
from docx.shared import Pt, RGBColor
from docx.text.paragraph import Paragraph as WordParagraph
from docx.text.run import Run

from agents.contracts import body as b
from agents.contracts.report import ReportDocument
from agents.report.escaping import nested
from agents.report.latex import office_math
from agents.report.references import Cite, Mark, Part
from agents.report.view import View, Way, column_shares, printable, way_of

if TYPE_CHECKING:
    from docx.document import Document as WordDocument

Element = Any
"""An element of the format: the library types only those that it knows itself."""
MAX_ADDRESS = 2_000
"""Characters of a link, at most: word processors refuse files with longer ones."""
CITATION, MARK, SMALL = "Dossier Citation", "Dossier Mark", "Dossier Small"
_ACCENT, _SOFT, _BAD = RGBColor(0x2A, 0x4B, 0xA0), RGBColor(0x56, 0x52, 0x4B), RGBColor(0xA5, 0x2A, 0x2A)


def to_docx(document: ReportDocument) -> bytes:
    """Write a report as a Word file. Takes a tenth of a second or more: not for the event loop."""
    return _Writer(View(document)).written()


class _Writer:
    def __init__(self, seen: View) -> None:
        self.seen = seen
        self.file: WordDocument = Document()
        self.bookmarks = self.headings = 0
        self._styles()
        about = self.file.core_properties
        about.title, about.subject, about.author = seen.title[:255], seen.question[:255], "Dossier"
        about.language, about.comments, about.keywords = seen.language, "", f"dossier {seen.job_id}"[:255]
        about.created = about.modified = datetime.combine(seen.day or date(2000, 1, 1), time(), tzinfo=UTC)
        about.last_modified_by = "Dossier"

    def written(self) -> bytes:
        """Write everything, in order."""
        seen = self.seen
        self._add([b.Words(text=seen.title)], "Title")
        self._add([b.Words(text=f"{seen.words.question}: ", style=("bold",)), b.Words(text=seen.question)])
        grade = b.Words(text=seen.grade_label, style=("bold",))
        self._add([grade, b.Words(text=f" · {seen.figures}")], SMALL, way=seen.way)
        for reason in seen.reasons:
            self._add([b.Words(text=reason)], "List Bullet", way=seen.way)
        blocks = nested(seen.body.blocks, 1)
        self._contents([block for block in blocks if isinstance(block, b.Heading)])
        self._blocks(blocks)
        made = io.BytesIO()
        self.file.save(made)
        return made.getvalue()

    def _contents(self, headings: "list[b.Heading]") -> None:
        """Put a table of contents: a field that the word processor fills with page numbers, with the headings in it."""
        if len(headings) < 3:
            return
        self._add([b.Words(text=self.seen.words.contents, style=("bold",))], SMALL, way=self.seen.way)
        for number, heading in enumerate(headings):
            made = self.file.add_paragraph(style="No Spacing")
            made.paragraph_format.left_indent = Pt(14 * (heading.level - 1))
            if number == 0:
                made.add_run()._r.append(_element("w:fldChar", fldCharType="begin"))
                code: Element = OxmlElement("w:instrText")
                code.text = ' TOC \\o "1-3" \\h \\z \\u '
                made.add_run()._r.append(code)
                made.add_run()._r.append(_element("w:fldChar", fldCharType="separate"))
            self._linked(made, b.plain(heading.inline), anchor=f"h{number}")
            if number + 1 == len(headings):
                made.add_run()._r.append(_element("w:fldChar", fldCharType="end"))

    # ---- the file as a whole

    def _styles(self) -> None:
        styles = self.file.styles
        for name, size, colour in ((CITATION, None, _ACCENT), (MARK, Pt(8.5), _BAD)):
            style = styles.add_style(name, WD_STYLE_TYPE.CHARACTER)
            style.font.color.rgb, style.font.size = colour, size
            style.font.superscript = True if name == CITATION else None
        small = styles.add_style(SMALL, WD_STYLE_TYPE.PARAGRAPH)
        small.base_style, small.font.size, small.font.color.rgb = styles["Normal"], Pt(9), _SOFT
        # The language of everything, by which words are divided and checked, and glyphs of East Asia are chosen.
        defaults: Element = styles.element.find(f".//{qn('w:rPrDefault')}/{qn('w:rPr')}")
        for known in defaults.findall(qn("w:lang")):
            defaults.remove(known)
        defaults.append(_element("w:lang", **dict.fromkeys(("val", "eastAsia", "bidi"), self.seen.language)))

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
                    self._add((b.Place(name=f"h{self.headings}"), *line), f"Heading {min(depth, 9)}")
                    self.headings += 1
                case b.Paragraph(sentences=sentences):
                    self._add(self.seen.parts(sentences), style)
                case b.Listing():
                    self._listing(block, level)
                case b.Table():
                    self._table(block)
                case b.Quotation(blocks=inside):
                    self._blocks(inside, "Quote")
                case b.Code(text=text):
                    for row in text.split("\n"):
                        self._add([b.Words(text=row, style=("code",))], "No Spacing", way="ltr")

    def _listing(self, block: b.Listing, level: int) -> None:
        deeper = f" {min(level + 1, 3)}" if level else ""
        name = "List Number" if block.ordered else "List Bullet"
        number = self._numbering(block.start, name + deeper) if block.ordered else None
        for item in block.items:
            for place, one in enumerate(item):
                if not isinstance(one, b.Paragraph):
                    self._blocks((one,), level=level + 1)
                    continue
                style = (name if place == 0 else "List Continue") + deeper
                made = self._add(self.seen.parts(one.sentences), style)
                if number is not None and place == 0:
                    paragraph: Element = made._p
                    properties = paragraph.get_or_add_pPr().get_or_add_numPr()
                    properties.get_or_add_ilvl().val, properties.get_or_add_numId().val = 0, number

    def _table(self, block: b.Table) -> None:
        table = self.file.add_table(rows=1 + len(block.rows), cols=len(block.header), style="Light List Accent 1")
        if self.seen.way == "rtl":
            table._tbl.tblPr.insert(1, _element("w:bidiVisual"))  # behind the style
        table.rows[0]._tr.get_or_add_trPr().append(_element("w:tblHeader", val="true"))
        section = self.file.sections[0]
        width = (section.page_width or 0) - (section.left_margin or 0) - (section.right_margin or 0)
        shares = column_shares(block)
        table.autofit = not shares
        header = tuple(b.Sentence(inline=line) for line in block.header)
        # Cells by one pass over the rows: asking the table for each is quadratic.
        for row, cells in zip(table.rows, (header, *block.rows), strict=True):
            row._tr.get_or_add_trPr().insert(0, _element("w:cantSplit"))
            for at, (place, cell, side) in enumerate(zip(row.cells, cells, block.align, strict=True)):
                if shares:
                    place.width = int(width * shares[at])
                made = place.paragraphs[0]
                self._fill(made, self.seen.parts((cell,)))
                if side:
                    made.alignment = WD_PARAGRAPH_ALIGNMENT[side.upper()]
        self.file.add_paragraph(style="No Spacing")

    # ---- inside a paragraph

    def _add(self, parts: Iterable[Part], style: str | None = None, *, way: Way | None = None) -> WordParagraph:
        made = self.file.add_paragraph(style=style)
        self._fill(made, parts, way)
        return made

    def _fill(self, made: WordParagraph, parts: Iterable[Part], way: Way | None = None) -> None:
        parts = tuple(parts)
        line = tuple(part for part in parts if not isinstance(part, Cite | Mark))
        if (way or way_of(line, self.seen.way)) == "rtl":
            made._p.get_or_add_pPr().append(_element("w:bidi"))
        for part in parts:
            match part:
                case b.Words():
                    self._words(made, part)
                case b.LineBreak():
                    made.add_run().add_break()
                case b.Formula(tex=tex) if formula := office_math(tex):
                    element: Element = parse_xml(formula)
                    made._p.append(element)
                case b.Formula(tex=tex):
                    self._words(made, b.Words(text=tex, style=("code",)))
                case b.Place(name=name):
                    self._bookmark(made, name)
                case Cite():
                    self._bookmark(made, part.own)
                    title = " ".join(part.reference.title.split())
                    self._linked(made, f"[{part.reference.n}]", anchor=part.place, tip=title, style=CITATION)
                case Mark(text=text):
                    self._plain(made, " ")
                    made.add_run(f"[{text}]", style=MARK)

    def _bookmark(self, made: WordParagraph, name: str) -> None:
        self.bookmarks += 1
        made._p.append(_element("w:bookmarkStart", id=str(self.bookmarks), name=name))
        made._p.append(_element("w:bookmarkEnd", id=str(self.bookmarks)))

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
        run = made.add_run(printable(text))
        if way_of(text) == "rtl":
            run._r.get_or_add_rPr().append(_element("w:rtl"))
        return run

    def _linked(
        self, made: WordParagraph, text: str, *, address: str = "", anchor: str = "", tip: str = "", bold: bool = False,
        style: str = "",
    ) -> None:  # fmt: skip
        """Append a link: to a place in this file, or to an address."""
        link = _element("w:hyperlink")
        if anchor or address.startswith("#"):
            link.set(qn("w:anchor"), anchor or address[1:])
        elif len(address) <= MAX_ADDRESS:
            place = made.part.relate_to(printable(address), RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
            link.set(qn("r:id"), place)
        if tip:
            link.set(qn("w:tooltip"), printable(tip)[:250])
        run = Run(_element("w:r"), made)
        run.text, run.bold = printable(text), bold or None
        if style:
            run.style = self.file.styles[style]
        else:
            run.font.color.rgb, run.font.underline = _ACCENT, True
        link.append(run._r)
        made._p.append(link)


def _element(tag: str, **attributes: str) -> Element:
    return OxmlElement(tag, {qn(f"w:{name}"): value for name, value in attributes.items()})
