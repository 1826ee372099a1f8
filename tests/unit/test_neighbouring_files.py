"""Neighbours of the made files: what real files do in other words, each small, each against the text that stands in it."""

import datetime
import io
import zipfile

import openpyxl
import pptx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from docx.shared import RGBColor
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from pptx.util import Inches

from agents.core.errors import SourceError
from agents.web.reader import read_here
from agents.web.url_key import canonical
from tests.unit.test_made_files import DAM, HEADS, RECORDS, archive, drawn, open_document, page, saved, typeset, word


def deleted_in_a_table(d):
    n = nsdecls("w")
    t = d.add_table(2, 2)
    for at, v in enumerate(("Year", "Deaths", "1994", "")):
        t.cell(at // 2, at % 2).text = v
    p = t.cell(1, 1).paragraphs[0]._p
    p.append(parse_xml(f'<w:del {n} w:id="1" w:author="a"><w:r><w:delText>40</w:delText></w:r></w:del>'))
    p.append(parse_xml(f'<w:ins {n} w:id="2" w:author="a"><w:r><w:t>49</w:t></w:r></w:ins>'))
    gone = t.add_row()
    gone.cells[0].text = "1995"
    gone.cells[1].text = "DELETED"
    for c in gone.cells:
        c._tc.get_or_add_tcPr().append(parse_xml(f'<w:cellDel {n} w:id="5" w:author="a"/>'))


def merged_across(d):
    t = d.add_table(3, 3)
    for at, v in enumerate(("Year", "Deaths", "Note", "1994", "412", "closed", "1995", "no figures", "")):
        t.cell(at // 3, at % 3).text = v
    t.cell(2, 1).merge(t.cell(2, 2))


def fields(d):
    n = nsdecls("w")
    p = d.add_paragraph("See page ")
    for x in (
        '<w:r {}><w:fldChar w:fldCharType="begin"/></w:r>',
        "<w:r {}><w:instrText>PAGEREF ORDER</w:instrText></w:r>",
        '<w:r {}><w:fldChar w:fldCharType="separate"/></w:r>',
        "<w:r {}><w:t>12</w:t></w:r>",
        '<w:r {}><w:fldChar w:fldCharType="end"/></w:r>',
    ):
        p._p.append(parse_xml(x.format(n)))
    p.add_run(" on the dam")
    p._p.append(
        parse_xml(
            f'<w:r {n}><w:rPr><w:rPrChange w:id="1" w:author="a"><w:rPr><w:strike/></w:rPr></w:rPrChange></w:rPr><w:t xml:space="preserve"> of Orvelle</w:t></w:r>'
        )
    )
    p._p.append(parse_xml(f"<w:r {n}><w:t>, the har</w:t><w:softHyphen/><w:t>bour</w:t></w:r>"))
    p._p.append(parse_xml(f'<w:hyperlink {n}><w:r><w:t xml:space="preserve"> office.</w:t></w:r></w:hyperlink>'))
    p._p.append(
        parse_xml(f'<w:r {n}><w:rPr><w:webHidden/></w:rPr><w:t xml:space="preserve"> Seen in print.</w:t></w:r>')
    )


def nested_table(d):
    t = d.add_table(2, 2)
    for at, v in enumerate(("Year", "Parts", "1994", "")):
        t.cell(at // 2, at % 2).text = v
    inner = t.cell(1, 1).add_table(1, 2)
    inner.cell(0, 0).text = "men 4"
    inner.cell(0, 1).text = "women 12"


def rows_and_grounds(d):
    n = nsdecls("w")
    table = d.add_table(3, 2)
    for at, value in enumerate(("Year", "Deaths", "1994", "412", "1995", "HIDDEN")):
        table.cell(at // 2, at % 2).text = value
    table.rows[2]._tr.get_or_add_trPr().append(parse_xml(f"<w:hidden {n}/>"))
    control = "<w:sdt {}><w:sdtContent><w:r><w:t>In a control.</w:t></w:r></w:sdtContent></w:sdt>"
    d.add_paragraph("")._p.append(parse_xml(control.format(n)))
    cell = d.add_table(1, 1).cell(0, 0)
    cell.paragraphs[0].add_run("Boxed white.").font.color.rgb = RGBColor(255, 255, 255)
    cell._tc.get_or_add_tcPr().append(parse_xml(f'<w:shd {n} w:val="clear" w:fill="000000"/>'))


def deleted_paragraph_end(d):
    n = nsdecls("w")
    p = d.add_paragraph("It cost 49")
    p._p.get_or_add_pPr().append(parse_xml(f'<w:rPr {n}><w:del w:id="3" w:author="a"/></w:rPr>'))
    d.add_paragraph(" million crowns.")


def lists_and_head(d):
    d.sections[0].header.paragraphs[0].text = "Running head"
    d.add_paragraph("One", style="List Number")
    d.add_paragraph("Two", style="List Number")


def formats():
    b = openpyxl.Workbook()
    s = b.active
    s.title = "Figures"
    s.append(["Station", "Day", "Share", "Price", "Loss", "Open", "Hour", "Big", "Sci"])
    s.append(["Orvelle", datetime.date(1994, 5, 3), 0.5, 1234.5, -12, True, datetime.time(8, 30), 1234567.891, 0.00012])
    for c, f in (
        ("B2", "dd/mm/yyyy"),
        ("C2", "0%"),
        ("D2", '#,##0.00 "€"'),
        ("E2", "0;(0)"),
        ("G2", "hh:mm"),
        ("H2", "#,##0"),
        ("I2", "0.0E+00"),
    ):
        s[c].number_format = f
    return saved(b)


def saved_results():
    body = formats()
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(body)) as a, zipfile.ZipFile(out, "w") as o:
        for n in a.namelist():
            c = a.read(n)
            if n == "xl/worksheets/sheet1.xml":
                c = c.replace(b"<v>-12</v>", b"<f>C2*4</f><v>-12</v>")
            o.writestr(n, c)
    return out.getvalue()


def merged_rows():
    b = openpyxl.Workbook()
    s = b.active
    s.title = "Deaths"
    for r in (
        ["Region", "Year", "Deaths"],
        ["North", 1994, 4],
        [None, 1995, 5],
        ["no figures for the south", None, None],
    ):
        s.append(r)
    s.merge_cells("A2:A3")
    s.merge_cells("A4:C4")
    h = b.create_sheet("Hidden")
    h.append(["HIDDEN"])
    h.sheet_state = "veryHidden"
    return saved(b)


def rich_cells():
    b = openpyxl.Workbook()
    s = b.active
    s.title = "Rich"
    s.append(["Volume", "Cost"])
    s["A2"] = CellRichText("10", TextBlock(InlineFont(vertAlign="superscript"), "6"), " litres")
    s["B2"] = CellRichText(TextBlock(InlineFont(strike=True), "40"), " 49")
    return saved(b)


def merged_and_hidden_slides():
    sh = pptx.Presentation()
    for t, hid in (("Seen slide", False), ("HIDDEN", True)):
        s = sh.slides.add_slide(sh.slide_layouts[5])
        s.shapes.title.text = t
        if hid:
            s._element.set("show", "0")
            s.notes_slide.notes_text_frame.text = "HIDDEN"
        else:
            tb = s.shapes.add_table(3, 3, Inches(1), Inches(4), Inches(5), Inches(1)).table
            for at, v in enumerate(("Year", "Deaths", "", "", "men", "women", "1994", "4", "12")):
                tb.cell(at // 3, at % 3).text = v
            tb.cell(0, 1).merge(tb.cell(0, 2))
            tb.cell(0, 0).merge(tb.cell(1, 0))
            s.notes_slide.notes_text_frame.text = "Said aloud."
    return saved(sh)


BOOK2 = archive(
    mimetype="application/epub+zip",
    **{"META-INF__container_xml": '<container><rootfiles><rootfile full-path="a.opf"/></rootfiles></container>'},
    a_opf='<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>The Orvelle dam</dc:title></metadata><manifest><item id="b" href="b.xhtml"/></manifest><spine><itemref idref="b"/></spine></package>',
    b_xhtml='<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><body><p>The dam cost 412<a epub:type="noteref" href="#n1">1</a> crowns, <del>40</del> with <span style="display:none">HIDDEN</span>the road.</p><aside epub:type="footnote" id="n1"><p>1 Without the gates.</p></aside></body></html>',
)
ODT_NOTE = open_document(
    '<table:table><table:table-row><table:table-cell><text:p>Year</text:p></table:table-cell><table:table-cell><text:p>Deaths</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell><text:p>1994</text:p></table:table-cell><table:table-cell><text:p>412<text:note text:note-class="endnote"><text:note-citation>1</text:note-citation><text:note-body><text:p>Without the road.</text:p></text:note-body></text:note></text:p></table:table-cell></table:table-row></table:table><text:section text:display="none"><text:p>HIDDEN</text:p></text:section><text:section><text:p>Seen <text:a>link</text:a>.</text:p></text:section>'
)
ODS_MERGED = open_document(
    '<table:table><table:table-column/><table:table-column table:visibility="collapse"/><table:table-column/><table:table-column/><table:table-row><table:table-cell table:number-rows-spanned="2"><text:p>Year</text:p></table:table-cell><table:table-cell><text:p>HIDDEN</text:p></table:table-cell><table:table-cell table:number-columns-spanned="2"><text:p>Deaths</text:p></table:table-cell><table:covered-table-cell/></table:table-row><table:table-row><table:covered-table-cell/><table:table-cell><text:p>HIDDEN</text:p></table:table-cell><table:table-cell><text:p>men</text:p></table:table-cell><table:table-cell><text:p>women</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell><text:p>1994</text:p></table:table-cell><table:table-cell><text:p>HIDDEN</text:p></table:table-cell><table:table-cell><text:p>4</text:p></table:table-cell><table:table-cell office:value-type="percentage" office:value="0.125"><text:p>12.5%</text:p></table:table-cell></table:table-row></table:table><table:table table:style-name="HT"><table:table-row><table:table-cell><text:p>HIDDEN</text:p></table:table-cell></table:table-row></table:table>',
    "spreadsheet",
    styles='<style:style style:name="HT" style:family="table"><style:table-properties table:display="false"/></style:style>',
)
ODP2 = open_document(
    '<draw:page><draw:frame><draw:text-box><text:p>Seen.</text:p></draw:text-box></draw:frame><presentation:notes xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0"><draw:frame><draw:text-box><text:p>Said aloud.</text:p></draw:text-box></draw:frame></presentation:notes></draw:page><draw:page draw:style-name="HP"><draw:frame><draw:text-box><text:p>HIDDEN</text:p></draw:text-box></draw:frame></draw:page>',
    "presentation",
    styles='<style:style style:name="HP" style:family="drawing-page"><style:drawing-page-properties xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0" presentation:visibility="hidden"/></style:style>',
)

HEAD = f"Orvelle\n\n{DAM}\n\n"
FORMATS = "Figures\n\nStation: Orvelle; Day: 1994-05-03; Share: 50%; Price: 1234.5 €; Loss: -12; Open: TRUE; Hour: 08:30:00; Big: 1234567.891; Sci: 0.00012."
CASES = [
 ("html sup in cells", "a.html", page("<table><tr><th>Place<th>Litres<th>Deaths<tr><td>Orvelle<td>10<sup>6</sup><td>412<sup>a</sup><tr><td>Kelwick<td>H<sub>2</sub>O 5<td>98<sup>1,2</sup></table>"), HEAD + "Place: Orvelle; Litres: 10⁶; Deaths: 412[a].\nPlace: Kelwick; Litres: H₂O 5; Deaths: 98 [1,2]."),
 ("html css raised", "a.html", page('<p>It holds 10<span style="vertical-align:super">6</span> litres and <span class=h>2</span>.</p><p>CO<span class=u>2</span> fell to 412<span class=h>12</span> in 1994.</p>', ".h{vertical-align:super}.u{vertical-align:sub;font-size:70%}"), HEAD + "It holds 10⁶ litres and ².\n\nCO₂ fell to 412¹² in 1994."),
 ("html note link without sup", "a.html", page('<p>Deaths fell to 412<a href="#fn12" class="footnote-ref">12</a> in 1994.</p>'), HEAD + "Deaths fell to 412 [12] in 1994."),
 ("html note link brackets", "a.html", page('<p>Deaths fell to 412<sup><a href="#fn12">[12]</a></sup> in 1994.</p>'), HEAD + "Deaths fell to 412[12] in 1994."),
 ("html visibility inner", "a.html", page('<div style="visibility:hidden">HIDDEN<div>HIDDEN<p style="visibility:visible">It has 3 gates.</p>HIDDEN</div><div style="display:none"><p style="visibility:visible">HIDDEN</p></div></div>'), HEAD + "It has 3 gates."),
 ("html hidden kinds", "a.html", page('<p hidden>HIDDEN</p><dialog><p>HIDDEN</p></dialog><p style="height:0;overflow:hidden">HIDDEN</p><p style="position:absolute;left:-9999px">HIDDEN</p><p style="clip-path: inset(50%)">HIDDEN</p><template><p>HIDDEN</p></template><p>It has 3 gates.</p><details><summary>More</summary><p>It has 9 doors.</p></details><input type=hidden value=HIDDEN>'), HEAD + "It has 3 gates.\n\nMore\n\nIt has 9 doors."),
 ("html ins del blocks", "a.html", page('<del><p>DELETED</p></del><ins><p>It has 3 gates.</p></ins><p><s>40</s> <strike>41</strike> <span style="text-decoration-line: line-through">42</span> 49 crowns, <u>under</u>.</p>'), HEAD + "It has 3 gates.\n\n49 crowns, under."),
 ("html ruby", "a.html", page('<p><ruby>大坝<rp>(</rp><rt>HIDDEN</rt><rp>)</rp></ruby>建于1987年。</p>'), HEAD + "大坝建于1987年。"),
 ("html soft hyphens, ligatures, joiners", "a.html", page('<p>The har&shy;bour of&#xFB01;ce &#x200B;of<wbr>ten closed; the ﬂow is 12&#160;000&#8239;m.</p>'), HEAD + "The harbour office often closed; the flow is 12 000 m."),
 ("html nested sort keys", "a.html", page('<table><tr><th>Year<th>Deaths<tr><td>1994<td><span style="display:none">0412</span>412<tr><td>1995<td><span style="display:none">0098</span>98</table>'), HEAD + "Year: 1994; Deaths: 412.\nYear: 1995; Deaths: 98."),
 ("html row heads", "a.html", page('<table><thead><tr><td></td><th scope=col>1994</th><th scope=col>1995</th></tr></thead><tbody><tr><th scope=row>Men</th><td>4</td><td>5</td></tr><tr><th scope=row>Women</th><td></td><td>13</td></tr></tbody><tfoot><tr><th>Sum<td>4<td>18</tfoot></table>'), HEAD + "Men; 1994: 4; 1995: 5.\nWomen; 1995: 13.\nSum; 1994: 4; 1995: 18."),
 ("html pre table and br", "a.html", page("<p>Line one<br>line two</p><pre>a  b\n1  2</pre>"), HEAD + "Line one\nline two\n\na  b\n1  2"),
 ("html katex mathjax", "a.html", page('<p>It is <script type="math/tex">x^2 \\le 4</script> here, <span class="katex"><span class="katex-mathml"><math><semantics><mrow><msup><mi>x</mi><mn>2</mn></msup></mrow><annotation encoding="application/x-tex">x^2</annotation></semantics></math></span><span class="katex-html" aria-hidden="true">x2</span></span> there.</p>'), HEAD + "It is x^2 \\le 4 here, x² there."),
 ("html fractions in style", "a.html", page('<p>It is 3<sup>1</sup>&frasl;<sub>2</sub> m high, or 1&frac12;.</p>'), HEAD + "It is 3¹⁄₂ m high, or 1½."),
 ("docx del in table", "a.docx", word(deleted_in_a_table), "Year: 1994; Deaths: 49."),
 ("docx merged across", "a.docx", word(merged_across), "Year: 1994; Deaths: 412; Note: closed.\nYear: 1995; Deaths: no figures."),
 ("docx fields, format changes, soft hyphen", "a.docx", word(fields), "See page 12 on the dam of Orvelle, the harbour office. Seen in print."),
 ("docx nested table", "a.docx", word(nested_table), "Year: 1994; Parts: men 4, women 12."),
 ("docx deleted paragraph mark", "a.docx", word(deleted_paragraph_end), "It cost 49 million crowns."),
 ("docx lists, header", "a.docx", word(lists_and_head), "- One\n- Two"),
 ("odt note in table, hidden section", "a.odt", ODT_NOTE, "Year: 1994; Deaths: 412¹.\n\nNote ¹: Without the road.\n\nSeen link."),
 ("ods merged, hidden column and sheet", "a.ods", ODS_MERGED, "Year: 1994; Deaths – men: 4; Deaths – women: 12.5%."),
 ("odp notes, hidden page", "a.odp", ODP2, "Seen.\n\nSpeaker notes: Said aloud."),
 ("xlsx formats", "a.xlsx", formats, FORMATS),
 ("xlsx cached", "a.xlsx", saved_results, FORMATS),
 ("xlsx merged rows", "a.xlsx", merged_rows, "Deaths\n\nRegion: North; Year: 1994; Deaths: 4.\nRegion: North; Year: 1995; Deaths: 5.\nno figures for the south"),
 ("xlsx rich", "a.xlsx", rich_cells, "Rich\n\nVolume: 10⁶ litres; Cost: 49."),
 ("pptx merged, hidden", "a.pptx", merged_and_hidden_slides, "Seen slide\n\nYear: 1994; Deaths – men: 4; Deaths – women: 12.\n\nSpeaker notes: Said aloud."),
 ("epub notes", "a.epub", BOOK2, "The dam cost 412 [1] crowns, with the road.\n\n1 Without the gates."),
 ("rtf more", "a.rtf", rb"{\rtf1\ansi\ansicpg1251{\fonttbl{\f0\fcharset204 Arial;}}\f0 It cost \'cf\'ee{\strike 40} 49 crowns.\par{\b Second} line\line third \endash  \ldblquote quoted\rdblquote .\par{\*\generator ORDER;}{\header ORDER\par}{\pict\wmetafile8 0102ORDER}{\*\annotation ORDER}\trowd\cellx1\clmgf\cellx2\clmrg\cellx3 Year\cell Deaths\cell\cell\row\trowd 1994\cell 4\cell 12\cell\row}", "It cost По 49 crowns.\nSecond line\nthird – “quoted”.\nYear: 1994; Deaths: 4; 12."),
 ("csv decimal commas preamble", "a.csv", "Bericht über die Talsperre\nStand: 3. Mai 1994\n\nJahr;Tiefe (m);Zufluss\n1994;84,5;1.234,5\n2001;;12,0\n".encode("cp1252"), "Bericht über die Talsperre\nStand: 3. Mai 1994\nJahr: 1994; Tiefe (m): 84,5; Zufluss: 1.234,5.\nJahr: 2001; Zufluss: 12,0."),
 ("csv comma preamble w commas", "a.csv", b"Source: dam office, Orvelle\nYear,Deaths\n1994,412\n1995,98\n", "Source: dam office, Orvelle\nYear: 1994; Deaths: 412.\nYear: 1995; Deaths: 98."),
 ("csv totals and footer", "a.csv", b"Year,Deaths\n1994,412\n1995,98\nSource: dam office\n", "Year: 1994; Deaths: 412.\nYear: 1995; Deaths: 98.\nSource: dam office"),
 ("tsv utf16", "a.tsv", "Year\tDepth\tInflow\n1994\t\t13\n2001\t90\t\n".encode("utf-16"), RECORDS),
 ("md html table colspans", "a.md", f"# Orvelle\n\n{DAM}\n\n<table><tr><th rowspan=2>Year<th colspan=2>Deaths<tr><th>men<th>women<tr><td>1994<td>4<td>12</table>\n\nIt <del>40</del> cost <b>49</b> crowns.\n\n<!-- HIDDEN -->\n\n<details><summary>More</summary>\n\nInner.\n\n</details>\n".encode(), f"Orvelle\n\n{DAM}\n\n{HEADS}\n\nIt cost 49 crowns.\n\nMore\n\nInner."),
 ("md fences, pipes", "a.md", f"{DAM}\n\n| Year | Depth |\n|--|--|\n| 1994 | 10<sup>6</sup> \\| x |\n| ~~1995~~ | **9** |\n\n```\ncode  | x\n```\n".encode(), DAM + "\n\nYear: 1994; Depth: 10⁶ | x.\nDepth: 9.\n\ncode  | x"),
 ("pdf white on white box", "a.pdf", drawn(b"0.9 g 60 600 300 60 re f 1 g 70 610 200 20 re f BT /F1 12 Tf 72 615 Td (ORDER) Tj ET 0 g BT /F1 12 Tf 72 640 Td (Seen on grey.) Tj ET"), f"{DAM} Seen on grey."),
 ("pdf right aligned", "a.pdf", typeset(f"{DAM}\n\n#table(columns: 3, align: (left, right, right), stroke: none, [Place], [Deaths], [Cost], [Orvelle], [1,412], [9.5], [Kelwick], [8], [12,000.25], [Marrick], [], [3])"), f"{DAM}\n\nPlace: Orvelle; Deaths: 1,412; Cost: 9.5.\nPlace: Kelwick; Deaths: 8; Cost: 12,000.25.\nPlace: Marrick; Cost: 3."),
 ("pdf heads over columns", "a.pdf", typeset("#set page(width: 15cm)\nBoats of the weir are counted by the keeper each month.\n\n#table(columns: 4, stroke: none, align: right, [], table.cell(colspan: 3, align: center)[Boats], [Month], [sail], [steam], [oar], [May], [3], [4], [5], [June], [6], [], [8])\n\nFish of the weir are counted by nobody.\n\n#table(columns: 5, column-gutter: 12pt, stroke: none, align: right, [], table.cell(colspan: 2, align: center)[Salmon], table.cell(colspan: 2, align: center)[Eel], [Year], [spring], [autumn], [spring], [autumn], [1971], [12], [34], [5], [6], [1972], [15], [31], [7], [8])"),
     "Boats of the weir are counted by the keeper each month.\n\nBoats\n\nMonth: May; sail: 3; steam: 4; oar: 5.\nMonth: June; sail: 6; oar: 8.\n\nFish of the weir are counted by nobody.\n\nYear: 1971; Salmon – spring: 12; Salmon – autumn: 34; Eel – spring: 5; Eel – autumn: 6.\nYear: 1972; Salmon – spring: 15; Salmon – autumn: 31; Eel – spring: 7; Eel – autumn: 8."),
 ("pdf ligatures, hyphens", "a.pdf", typeset("#set page(width: 8cm)\n#set par(justify: true)\n#set text(hyphenate: true, lang: \"en\")\nThe office of the harbour officially affirmed the difficult configuration of efficient floodgates, offering sufficient reflection and classification of significant administrative responsibilities."), "The office of the harbour officially affirmed the difficult configuration of efficient floodgates, offering sufficient reflection and classification of significant administrative responsibilities."),
]  # fmt: skip

BOX = b"<< /Type /Annot /Subtype /Widget /FT /Btn /T (%s) /Rect [200 %d 212 %d] /AS /%s /V /%s /AP << /N << /Yes 8 0 R >> >> >>"
BOXES = {
    "catalog": b"/AcroForm << /Fields [6 0 R 7 0 R] >>",
    "more": (
        BOX % (b"a", 700, 712, b"Yes", b"Yes"),
        BOX % (b"b", 680, 692, b"Off", b"Off"),
        b"<< /Type /XObject /Subtype /Form /BBox [0 0 12 12] /Length 0 >>\nstream\n\nendstream",
    ),
}
TICKED = drawn(
    b"BT /F1 12 Tf 72 702 Td (The gate is closed) Tj ET BT /F1 12 Tf 72 682 Td (The gate is open) Tj ET", **BOXES
)
TICKED = TICKED.replace(b"/Contents 4 0 R", b"/Contents 4 0 R /Annots [6 0 R 7 0 R]")
CASES += [
    ("html: quotes, an index, marks of letters", "a.html", page("<p>He said <q>it is safe</q>, x<sub>i+1</sub> of 412<sup>a,b</sup>, n<sup>o</sup> 5.</p><footer><p><sup>a</sup> Estimated.</p></footer>"), HEAD + "He said “it is safe”, x_(i+1) of 412 [a,b], no 5.\n\n[a] Estimated."),
    ("docx: a hidden row, letters on dark ground", "a.docx", word(rows_and_grounds), "Year: 1994; Deaths: 412.\n\nIn a control.\n\nBoxed white."),
    ("csv: bars and decimal commas", "a.csv", b"Jahr|Tiefe\n1994|84,5\n1995|90,1\n", "Jahr: 1994; Tiefe: 84,5.\nJahr: 1995; Tiefe: 90,1."),
    ("markdown: facts between plus signs", "a.md", f'+++\ntitle = "The dam"\n+++\n\n{DAM}\n'.encode(), DAM),
    ("pdf: ticked boxes", "a.pdf", TICKED, f"{DAM}\n\nThe gate is closed [x]\nThe gate is open"),
    ("pdf: decimals, a sum, a minus", "a.pdf", typeset("#table(columns: 3, stroke: none, align: (left, right, right), [Item], [2019], [Change (%)], [Road], [1,204], [−17.1], [Wall], [12], [+8250.0], table.hline(), [Total], [1,216], [64.5])"), "Item: Road; 2019: 1,204; Change (%): −17.1.\nItem: Wall; 2019: 12; Change (%): +8250.0.\nItem: Total; 2019: 1,216; Change (%): 64.5."),
    ("pdf: a cell over two columns", "a.pdf", typeset("#table(columns: 3, [Year], [Deaths], [Note], [1994], table.cell(colspan: 2)[no figures], [1995], [98], [closed])"), "Year: 1994; Deaths: no figures.\nYear: 1995; Deaths: 98; Note: closed."),
]  # fmt: skip


@pytest.mark.parametrize(("name", "body", "text"), [pytest.param(*row[1:], id=row[0]) for row in CASES])
def test_a_neighbour_reads_as_it_stands(name, body, text):
    found = read_here(body() if callable(body) else body, "", f"https://a.example/{name}")

    assert found.text == text
    assert not {"ORDER", "HIDDEN", "DELETED"} & set(f"{found.title} {found.text}".split())


CLOSED = (
    "Tato doména je na prodej", "Dette domæne er til salg", "Tämä verkkotunnus on myytävänä", "Ez a domain eladó",
    "Цей домен продається", "Το όνομα χώρου πωλείται", "Acest domeniu este de vânzare", "यह डोमेन बिक्री के लिए है",
    "Domain ini dijual", "Tên miền này đang được rao bán", "Trwają prace konserwacyjne. Zapraszamy później.",
    "Sitemiz şu anda bakım çalışması nedeniyle kapalıdır.",
    "My i nasi partnerzy używamy plików cookie. Klikając Akceptuję, wyrażasz zgodę na używanie plików cookie.",
    "Wij gebruiken cookies. Door op akkoord te klikken geef je toestemming voor cookies.",
    "My a naši partneři používáme soubory cookie. Kliknutím na Přijmout souhlasíte s používáním souborů cookie.",
)  # fmt: skip


@pytest.mark.parametrize("said", CLOSED)
def test_a_notice_in_any_language_is_no_text(said):
    with pytest.raises(SourceError, match="for sale or parked|maintenance|cookies"):
        read_here(f"<title>orvelle</title><h1>{said}</h1>".encode(), "", "https://orvelle.example/")


PAPER = "https://arxiv.org/abs/2401.00001"
ARTICLE = "https://doi.org/10.1000/xyz.12"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (PAPER, "https://ar5iv.labs.arxiv.org/html/2401.00001"),
        (PAPER, "https://doi.org/10.48550/arXiv.2401.00001v2"),
        (ARTICLE, "https://onlinelibrary.wiley.com/doi/10.1000/XYZ.12?af=R"),
        ("https://doi.org/10.1038/s41586-020-1", "https://www.nature.com/articles/s41586-020-1"),
        ("https://doi.org/10.1371/journal.pone.0001", "https://journals.plos.org/plosone/article?id=10.1371/journal.pone.0001"),
        ("https://doi.org/10.1101/2020.01.01.1", "https://www.biorxiv.org/content/10.1101/2020.01.01.1v2.full.pdf"),
        ("https://pmc.ncbi.nlm.nih.gov/articles/PMC123/", "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC123"),
        ("https://pubmed.ncbi.nlm.nih.gov/123/", "https://www.ncbi.nlm.nih.gov/pubmed/123"),
        ("https://a.example/x", "https://a.example/x;jsessionid=AB.node1?sessionId=9F&__hstc=1&osCsid=abcdef0123456789abcdef"),
    ],
)  # fmt: skip
def test_one_work_under_two_addresses_is_one(one, other):
    assert canonical(one) == canonical(other)
