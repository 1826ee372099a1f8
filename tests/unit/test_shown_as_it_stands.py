"""What is quoted is what stands there: raised figures, formulas, notes, forms, tables, and what no reader sees."""

import io
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Pt, RGBColor
from lxml import etree

from agents.core.errors import SourceError
from agents.web.formulas import formula, lowered, raised
from agents.web.html_text import read_html
from agents.web.reader import read_here

CASES = Path(__file__).resolve().parent.parent / "data" / "cases" / "second"


def text_of(body: bytes, name: str) -> str:
    return read_here(body, "", f"https://a.example/{name}").text


def case(name: str) -> str:
    return text_of((CASES / name).read_bytes(), name)


def pdf(stream: bytes) -> bytes:
    """Make a page of one font and the given drawing."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + b"xref\n0 6\n0000000000 65535 f \n%strailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (
        table,
        len(out),
    )


# ---- PDF


def test_raised_figures_of_a_pdf_stay_apart_from_the_number_before_them():
    text = case("raised.pdf")

    assert "holds 10⁶ litres" in text
    assert "fell to 412 [12,13] and in 2001 to 98³." in text


def test_letters_beyond_the_basic_plane_and_lone_exponents_of_a_pdf_are_kept():
    assert "is 8.2 × 10⁵ newton, and the safety factor is 𝑛 = 3 in all of the years." in case("formulas.pdf")


def test_what_was_typed_into_a_form_is_read_beside_its_label():
    text = case("form.pdf")

    assert "Depth measured at the wall of the Orvelle dam (metres): 84.5" in text
    assert "Finding of the inspector about the Orvelle dam: Crack in the east gate, closed on 3 May 2001." in text


def test_an_empty_cell_of_a_pdf_table_moves_no_value_under_another_head():
    rows = case("empty_cells.pdf").split("\n")

    assert "Year: 1987; Depth (m): 84; Inflow (m3/s): 12; Cost (crowns): 40." in rows
    assert "Year: 1994; Inflow (m3/s): 13." in rows
    assert "Year: 2001; Depth (m): 90; Cost (crowns): 44." in rows


def test_a_pdf_whose_font_says_something_else_than_it_shows_is_not_used():
    with pytest.raises(SourceError, match="its letters cannot be read"):
        case("broken_font.pdf")


PICTURE = b"q 100 0 0 20 70 695 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x60 EI Q "
WORDS = b"BT /F1 12 Tf 72 700 Td (WORDS) Tj ET "


@pytest.mark.parametrize(
    ("drawing", "is_seen"),
    [
        pytest.param(b"1 g " + WORDS, False, id="white on white"),
        pytest.param(b"0.97 g " + WORDS, False, id="nearly white"),
        pytest.param(b"0 0 0 0 k " + WORDS, False, id="white of print"),
        pytest.param(b"3 Tr " + WORDS, False, id="no ink"),
        pytest.param(b"7 Tr " + WORDS, False, id="a mask"),
        pytest.param(PICTURE + b"3 Tr " + WORDS, False, id="no ink over a small picture"),
        pytest.param(b"BT /F1 12 Tf 72 900 Td (WORDS) Tj ET", False, id="above the page"),
        pytest.param(b"BT /F1 12 Tf -300 700 Td (WORDS) Tj ET", False, id="left of the page"),
        pytest.param(b"BT /F1 0.8 Tf 72 700 Td (WORDS) Tj ET", False, id="a speck"),
        pytest.param(b"q 0.05 0 0 0.05 72 700 cm BT /F1 12 Tf 0 0 Td (WORDS) Tj ET Q", False, id="scaled to a speck"),
        pytest.param(WORDS + b"70 695 100 20 re f", False, id="under a bar"),
        pytest.param(WORDS + b"1 g 70 695 100 20 re f", False, id="under white"),
        pytest.param(WORDS + PICTURE, False, id="under a picture"),
        pytest.param(b"0 0 0.4 rg 70 695 200 20 re f 0 0 0.42 rg " + WORDS, False, id="blue on blue"),
        pytest.param(WORDS + b"0.5 w 72 704 m 118 704 l S", False, id="struck"),
        pytest.param(b"0 0 0.4 rg 70 695 200 20 re f 1 g " + WORDS, True, id="white on blue"),
        pytest.param(b"1 1 0 rg 70 695 100 20 re f 0 g " + WORDS, True, id="on yellow"),
        pytest.param(PICTURE + b"1 g " + WORDS, True, id="white on a picture"),
        pytest.param(WORDS + b"0.5 w 72 698 m 118 698 l S", True, id="underlined"),
        pytest.param(WORDS + b"0.5 w 70 695 100 20 re S", True, id="framed"),
        pytest.param(b"1 g 1 Tr " + WORDS, True, id="outlined in black"),
        pytest.param(b"0.9 g 0 0 595 842 re f 0 g " + WORDS, True, id="on a grey page"),
    ],
)
def test_words_of_a_pdf_are_read_where_a_reader_sees_them(drawing, is_seen):
    text = (
        b"BT /F1 12 Tf 72 760 Td (The dam of Orvelle was built in 1987 by the harbour office of the old town.) Tj ET "
    )

    assert ("WORDS" in text_of(pdf(text + drawing), "a.pdf")) is is_seen


@pytest.mark.parametrize(
    "box", ["0 0 595 842] /Rotate 90", "0 -19000 600 842]", "0 0 14400 14400]", "-50 -50 595 842]"]
)
def test_what_a_page_hides_is_left_out_however_large_it_is_and_whichever_way_it_is_turned(box):
    white = b"1 g BT /F1 12 Tf 72 700 Td (HIDDEN) Tj ET BT /F1 12 Tf 72 760 Td (OVERWRITTEN) Tj ET 0.4 g "
    drawn = pdf(white + b"BT /F1 12 Tf 72 760 Td (The dam was built in 1987.) Tj ET ")

    assert text_of(drawn.replace(b"0 0 595 842]", box.encode()), "a.pdf") == "The dam was built in 1987."


def test_a_key_figure_at_the_foot_of_a_page_is_no_page_number():
    stream = b"BT /F1 12 Tf 72 760 Td (Workers who died while the Orvelle dam was built:) Tj ET "
    figure = stream + b"BT /F1 40 Tf 72 60 Td (412) Tj ET"
    number = stream + b"BT /F1 12 Tf 300 40 Td (412) Tj ET"

    assert "412" in text_of(pdf(figure), "a.pdf")
    assert "412" not in text_of(pdf(number), "a.pdf")


# ---- HTML


def test_raised_marks_of_a_page_stay_apart_also_in_ranges():
    assert "fell to 412 [12,13] in 1994, to 98 [1,2] in 2001 and to 35 [4–6] in 2004." in case("raised.html")


def test_formulas_of_a_page_are_read_once_where_they_stand():
    text = case("formulas.html")

    assert "is 8.2 × 10⁵ newton when" in text
    assert text.count("8.2") == 1
    assert "The safety factor of the Orvelle wall is 3 in all" in text


@pytest.mark.parametrize(
    ("struck", "left"),
    [
        ("It cost <del>40</del> <ins>49</ins> crowns.", "It cost 49 crowns."),
        ("It cost <s>40</s> 49 crowns.", "It cost 49 crowns."),
        ('It cost <span style="text-decoration: line-through">40</span> 49 crowns.', "It cost 49 crowns."),
    ],
)
def test_struck_words_of_a_page_are_not_read(struck, left):
    assert left in read_html(f"<html><body><p>{struck}</p></body></html>", "https://a.example/").text


@pytest.mark.parametrize(
    "style",
    [
        "article > .x{display:none}", "[class=x]{opacity:0}", "@media screen{.x{visibility:hidden}}", "@layer a{.x{display:none}}",
        ".x:not(.y){display:none}", ".x{font-size:1%}", ".x{font:0/0 a}", ".x{color:#fff0}", ".x{color:hsl(0,0%,100%)}",
        ".x{color:whitesmoke}", ".x{-webkit-text-fill-color:transparent}", ":root{--c:#fff}.x{color:var(--c)}",
        "article{background:#123456}.x{color:#123457}", ".x{transform:translate(-200vw,0)}", ".x{letter-spacing:-99em}",
        ".x{clip-path:polygon(0 0,0 0,0 0)}", ".x{display:none !important}.x{display:block}", "p.x{zoom:0}",
    ],
)  # fmt: skip
def test_what_a_pages_own_style_hides_is_not_read(style):
    body = "<article><h1>Dam</h1><p>The dam of Orvelle was built in 1987.</p><p class=x>HIDDEN</p></article>"

    assert (
        "HIDDEN" not in read_html(f"<html><style>{style}</style><body>{body}</body></html>", "https://a.example/").text
    )


@pytest.mark.parametrize(
    "style", ["@media print{.x{display:none}}", "@media (max-width:600px){.x{display:none}}", ".w .x{display:none}",
              ".x{left:-10px}", ".x{background:#000;color:#fff}", "#x{display:none}"],
)  # fmt: skip
def test_what_it_shows_on_a_screen_of_usual_size_is_read(style):
    body = "<article><h1>Dam</h1><p>The dam of Orvelle was built in 1987.</p><p class=x>SHOWN</p></article>"

    assert "SHOWN" in read_html(f"<html><style>{style}</style><body>{body}</body></html>", "https://a.example/").text


def test_links_are_resolved_against_the_base_of_a_page():
    page = read_html(
        '<html><head><base href="https://a.example/reports/"></head><body><p>See <a href="2001.html">2001</a>.</p></body>',
        "https://a.example/x/y",
    )

    assert page.links == (("https://a.example/reports/2001.html", "2001"),)


@pytest.mark.parametrize(
    ("mark", "written"),
    [
        ("6", "⁶"),
        ("-3", "⁻³"),
        ("2+", "²⁺"),
        ("12,13", " [12,13]"),
        ("a", "[a]"),
        ("th", "th"),
        ("[7]", "[7]"),
        ("kt", "^kt"),
    ],
)
def test_raised_characters_are_written_by_what_they_are(mark, written):
    assert raised(mark) == written


def test_lowered_figures_are_written_as_such_and_words_as_they_are():
    assert (lowered("2"), lowered("max")) == ("₂", "max")


# ---- Word and other office files


def word(build) -> str:
    document = docx.Document()
    build(document)
    out = io.BytesIO()
    document.save(out)
    return text_of(out.getvalue(), "a.docx")


def test_a_footnote_of_a_word_file_follows_what_it_qualifies():
    assert case("notes.docx") == (
        "The dam cost 40 million crowns.¹ It has 3 gates.\n\n"
        "Note ¹: The 40 million leave out the access road, which cost another 9 million crowns."
    )


def test_hidden_struck_and_raised_runs_of_a_word_file():
    def build(document):
        paragraph = document.add_paragraph("The lake holds 10")
        paragraph.add_run("6").font.superscript = True
        paragraph.add_run(" litres of H")
        paragraph.add_run("2").font.subscript = True
        paragraph.add_run("O")
        paragraph.add_run(" STRUCK").font.strike = True
        paragraph.add_run(" WHITE").font.color.rgb = RGBColor(255, 255, 255)
        paragraph.add_run(" TINY").font.size = Pt(1)
        paragraph.add_run(".")

    assert word(build) == "The lake holds 10⁶ litres of H₂O."


def test_a_formula_of_a_word_file_is_read():
    def build(document):
        paragraph = document.add_paragraph("The load is ")
        formula, power = OxmlElement("m:oMath"), OxmlElement("m:sSup")
        for part, letters in (("m:e", "10"), ("m:sup", "5")):
            place, run, text = OxmlElement(part), OxmlElement("m:r"), OxmlElement("m:t")
            text.text = letters
            run.append(text)
            place.append(run)
            power.append(place)
        formula.append(power)
        paragraph._p.append(formula)
        paragraph.add_run(" newton.")

    assert word(build) == "The load is 10⁵ newton."


def test_signs_of_the_font_symbol_and_tables_in_cells_of_a_word_file_are_read_once():
    def build(document):
        run = document.add_paragraph("The load is ").add_run()
        sign = OxmlElement("w:sym")
        sign.set(qn("w:font"), "Symbol")
        sign.set(qn("w:char"), "F0A3")
        run._r.append(sign)
        document.paragraphs[0].add_run(" 5.")
        outer = document.add_table(1, 2)
        outer.cell(0, 0).text = "Depths"
        inner = outer.cell(0, 1).add_table(1, 2)
        inner.cell(0, 0).text, inner.cell(0, 1).text = "84", "91"

    assert word(build) == "The load is ≤ 5.\n\nDepths | 84, 91"


def test_rows_of_a_table_file_are_records_with_their_heads():
    assert "Station: Orvelle; Year: 1994; Deaths: 412; Depth (m): 84,5." in case("deaths.csv").split("\n")


def test_a_workbook_gives_records_and_no_hidden_sheets():
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (["Station", "Year", "Deaths"], ["Orvelle", 1994, 412], ["Orvelle", 2001, None]):
        sheet.append(row)
    hidden = book.create_sheet("Draft")
    hidden.append(["HIDDEN", "HIDDEN"])
    hidden.sheet_state = "hidden"
    out = io.BytesIO()
    book.save(out)

    text = text_of(out.getvalue(), "a.xlsx")

    assert "Station: Orvelle; Year: 1994; Deaths: 412.\nStation: Orvelle; Year: 2001." in text
    assert "HIDDEN" not in text


def test_slides_are_read_with_their_notes():
    shown = pptx.Presentation()
    slide = shown.slides.add_slide(shown.slide_layouts[1])
    slide.shapes.title.text = "The Orvelle dam"
    slide.placeholders[1].text = "It cost 412 million crowns."
    slide.notes_slide.notes_text_frame.text = "Without the road."
    out = io.BytesIO()
    shown.save(out)

    assert text_of(out.getvalue(), "a.pptx") == (
        "The Orvelle dam\n\nIt cost 412 million crowns.\n\nSpeaker notes: Without the road."
    )


def test_rich_text_keeps_raised_figures_and_drops_struck_words():
    body = rb"{\rtf1\ansi The lake holds 10{\super 6} litres{\strike  and more}.}"

    assert text_of(body, "a.rtf") == "The lake holds 10⁶ litres."


def word_run(text):
    return f"<m:r><m:t>{text}</m:t></m:r>"


FORMULAS = [
    ("<msqrt><mn>2</mn><mo>+</mo><mi>x</mi></msqrt>", "√(2 + x)"),
    ("<mroot><mn>8</mn><mn>3</mn></mroot>", "³√8"),
    (
        "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><mi>x</mi>",
        "∑_(i = 1)^n x",
    ),
    ("<mover><mi>x</mi><mo>¯</mo></mover>", "x̄"),
    ("<munder><mo>lim</mo><mi>n</mi></munder><mn>5</mn>", "lim_n 5"),
    ("<mfenced open='[' close=']'><mn>1</mn><mn>2</mn></mfenced>", "[1, 2]"),
    ("<mmultiscripts><mi>C</mi><mprescripts/><mn>6</mn><mn>14</mn></mmultiscripts>", "₆¹⁴C"),
    ("<mi>t</mi><mo>=</mo><mo>−</mo><mn>12.5</mn><mo>−</mo><mi>x</mi>", "t = −12.5 − x"),
    ("<mo>−</mo><mn>12.5</mn>", "−12.5"),
    ("<mn>2</mn><mfrac><mn>1</mn><mn>2</mn></mfrac>", "2 1/2"),
    ("<mn>0.5</mn><mspace width='1em'/><mtext>mm</mtext><mphantom><mn>7</mn></mphantom>", "0.5 mm"),
    ("<menclose notation='horizontalstrike'><mn>40</mn></menclose><mn>49</mn>", "49"),
]
WORD_FORMULAS = [
    (f"<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr><m:sub>{word_run('i=1')}</m:sub><m:sup>{word_run('n')}</m:sup><m:e>{word_run('x')}</m:e></m:nary>", "∑_(i=1)^n x"),
    (f"<m:nary><m:sub>{word_run('0')}</m:sub><m:sup>{word_run('1')}</m:sup><m:e>{word_run('f')}</m:e></m:nary>", "∫_0^1 f"),
    (f"<m:rad><m:deg>{word_run('3')}</m:deg><m:e>{word_run('8')}</m:e></m:rad>", "³√8"),
    (f"<m:rad><m:deg/><m:e>{word_run('2')}</m:e></m:rad>", "√2"),
    (f"<m:d><m:dPr><m:begChr m:val='['/><m:endChr m:val=']'/></m:dPr><m:e>{word_run('1')}</m:e></m:d>", "[1]"),
    (f"<m:func><m:fName>{word_run('sin')}</m:fName><m:e>{word_run('x')}</m:e></m:func>", "sin x"),
    (f"<m:sPre><m:sub>{word_run('6')}</m:sub><m:sup>{word_run('14')}</m:sup><m:e>{word_run('C')}</m:e></m:sPre>", "₆¹⁴C"),
    (f"<m:eqArr><m:e>{word_run('a=1')}</m:e><m:e>{word_run('b=2')}</m:e></m:eqArr>", "a=1; b=2"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("markup", "text"),
    [(f"<math>{one}</math>", text) for one, text in FORMULAS]
    + [
        (f"<m:oMath xmlns:m='http://schemas.openxmlformats.org/officeDocument/2006/math'>{one}</m:oMath>", text)
        for one, text in WORD_FORMULAS
    ],
)
def test_formulas_keep_their_figures_apart(markup, text):
    assert formula(etree.fromstring(markup)) == text
