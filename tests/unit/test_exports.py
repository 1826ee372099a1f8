"""Reports as PDF and as Word files, read back: every reference, link, table, mark and formula is there."""

import io
import re
import zipfile
from datetime import date
from xml.etree import ElementTree

import docx
import pypdf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.contracts.body import Body, Heading, ReferenceList, Words
from agents.contracts.report import Quote, Reference, ReportDocument
from agents.report.docx_export import to_docx
from agents.report.escaping import nested
from agents.report.formats import FORMS
from agents.report.parse_body import parse
from agents.report.pdf_export import to_pdf
from agents.report.references import Citations
from agents.report.view import View, way_of
from agents.report.wording import wording
from tests.unit import report_world as world

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"


def written(body, language="en", title="A title", quote="The words.", **fields):
    """A report with one reference and any text."""
    reference = Reference(
        n=1, source_id="s1", url="https://x.example/a?b=1&c=2", title=title, site="x.example", published="2024-05-06",
        accessed="2026-11-27T10:00:00Z", quotes=(Quote(text=quote, start=0, end=5, fact_id="f1"),),
    )  # fmt: skip
    text = parse(f"{body}[1]", {"1": "f1"}).changed(
        lambda one: one.model_copy(update={"citations": (1,) if one.facts else ()})
    )
    heading = Heading(level=2, inline=(Words(text=wording(language).references),))
    sentences = [
        {"text": one.text.strip(), "citations": one.citations, "facts": one.facts}
        for one in text.sentences()
        if one.text.strip()
    ]
    base = world.document().model_dump()
    changed = {
        "markdown": body, "body": Body(blocks=(*text.blocks, heading, ReferenceList())), "language": language, "title": title, "references": (reference,), "grade_reasons": (),
        "sentences": sentences, **fields,
    }  # fmt: skip
    return ReportDocument.model_validate({**base, **changed})


def read_pdf(document):
    return pypdf.PdfReader(io.BytesIO(to_pdf(document)))


def text_of(reader):
    return " ".join(" ".join(page.extract_text() for page in reader.pages).split())


def links_of(reader):
    found = []
    for page in reader.pages:
        for annotation in page.get("/Annots", ()):
            one = annotation.get_object()
            action = one.get("/A")
            found.append(str(action["/URI"]) if action and "/URI" in action else None)
    return found


def xml_of(document, name="word/document.xml"):
    with zipfile.ZipFile(io.BytesIO(to_docx(document))) as file:
        return ElementTree.fromstring(file.read(name))


# ---- PDF


def test_a_pdf_holds_every_reference_with_its_quotes_and_address():
    document = world.document()
    reader = read_pdf(document)
    text, links = text_of(reader), links_of(reader)
    for reference in document.references:
        assert f"{reference.n}. {reference.title}" in text
        for quote in reference.quotes:
            assert quote.text in text
        if reference.url.startswith("http"):
            assert reference.url in text
            assert reference.url in links
    assert any(":~:text=" in link for link in links if link)


def test_every_citation_of_a_pdf_is_a_link_inside_it():
    document = world.document()
    cited = sum(len(sentence.citations) for sentence in document.sentences)
    back = sum(1 for reference in document.references for quote in reference.quotes)
    inside = [link for link in links_of(read_pdf(document)) if link is None]
    assert len(inside) == cited + back


def test_a_report_on_pages_that_were_read_long_ago_bears_the_day_on_which_it_was_made():
    document = world.document()
    actual = document.methodology.actual.model_copy(update={"started_at": "2027-02-03T10:00:00+00:00"})
    made = document.methodology.model_copy(update={"actual": actual})
    assert View(document.model_copy(update={"methodology": made})).day == date(2027, 2, 3)


def test_a_pdf_says_title_language_date_and_question_of_itself():
    reader = read_pdf(world.document())
    assert reader.metadata.title == "Closures of the line"
    assert reader.metadata.author == "Dossier"
    assert reader.metadata.subject == world.QUESTION
    assert reader.metadata.creation_date.date().isoformat() == "2026-11-27"
    root = reader.trailer["/Root"]
    assert root["/Lang"] == "en"
    assert root["/MarkInfo"]["/Marked"]
    assert [one.title for one in reader.outline if not isinstance(one, list)][:2] == ["Closures", "Other ways"]
    told = root["/Metadata"].get_object().get_data()
    assert b"pdfaid:part" in told
    assert b"pdfuaid:part" in told


def test_a_sentence_that_was_not_verified_is_marked_in_every_form():
    document = world.judged(world.document(), 1, "unsupported")
    assert "unverified" not in text_of(read_pdf(world.document()))
    assert "unverified" in text_of(read_pdf(document))
    runs = [run for paragraph in docx.Document(io.BytesIO(to_docx(document))).paragraphs for run in paragraph.runs]
    assert [run.text for run in runs if run.style.name == "Dossier Mark"] == ["[unverified]"]


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("ja", "氷の路線は十二日間閉鎖された。"),
        ("zh-Hans", "这条冰上线路关闭了十二天。"),
        ("zh-TW", "這條冰上路線關閉了十二天。"),
        ("ko", "얼음 노선은 열이틀 동안 닫혔다."),
        ("ru", "Ледовая переправа была закрыта двенадцать дней."),
        ("el", "Η γραμμή έκλεισε για δώδεκα ημέρες."),
        ("vi", "Tuyến đường băng đã đóng cửa mười hai ngày."),
    ],
)
def test_scripts_of_the_world_are_set_and_can_be_read_back(language, said):
    document = written(said, language, title=said.rstrip("。."), quote=said)
    reader = read_pdf(document)
    assert text_of(reader).replace(" ", "").count(said.rstrip("。.").replace(" ", "")) >= 3
    assert reader.trailer["/Root"]["/Lang"].startswith(language.split("-")[0])
    assert "�" not in text_of(reader)


@pytest.mark.parametrize(("language", "said"), [("ar", "أغلق الخط اثني عشر يوما."), ("he", "הקו נסגר לשנים עשר ימים."), ("hi", "यह मार्ग बारह दिन बंद रहा।"), ("th", "เส้นทางปิดสิบสองวัน"), ("am", "መንገዱ ለአሥራ ሁለት ቀናት ተዘግቷል።")])  # fmt: skip
def test_scripts_that_are_shaped_find_all_their_letters(language, said):
    assert "�" not in text_of(read_pdf(written(said, language, title=said, quote=said)))


def test_a_letter_without_a_glyph_is_replaced_and_the_first_page_says_so():
    document = written("The stone reads 𓀀 and 𓀁, which nobody doubts; it was found in the winter of the year before.")
    text = text_of(read_pdf(document))
    assert "reads � and �" in text
    assert "U+13000, U+13001" in text
    assert "Word file" in text


def test_a_report_in_a_script_without_glyphs_says_what_works_instead():
    assert "Word file" in text_of(read_pdf(written("ꡏꡡꡃ ꡣꡡꡙ ꡏꡡꡃ ꡣꡡꡙ", quote="ꡏꡡꡃ")))
    assert "ꡏꡡꡃ ꡣꡡꡙ" in "".join(ElementTree.tostringlist(xml_of(written("ꡏꡡꡃ ꡣꡡꡙ", quote="ꡏꡡꡃ")), encoding="unicode"))


def test_words_of_strangers_are_never_read_as_markup():
    evil = 'A #eval("1+1") $x$ *b* @r1 <r1> #import "x" \\u{41} `c` {} [x]'
    text = text_of(read_pdf(written("Said.", title=evil, quote=evil)))
    assert text.count('#eval("1+1") $x$ *b* @r1 <r1> #import "x" \\u{41}') >= 3


def test_formulas_are_set_and_what_is_not_understood_keeps_its_source():
    document = written(r"The rate is $\frac{a_1}{\sqrt{b}} \le 2$ and $\unknown{x}$ beside \$5.")
    text = text_of(read_pdf(document))
    assert "≤" in text
    assert "frac" not in text
    assert r"\unknown{x}" in text
    xml = xml_of(document)
    assert [one.text for one in xml.findall(f".//{M}oMath/{M}r/{M}t")] == ["(a_1)/(√(b))≤2"]


def test_what_stands_inside_lists_and_on_lines_of_its_own_is_in_every_file():
    body = "1. First\n   - sub a\n   - sub b\n     1. deep\n2. Second\n\n$$\n\\bar{x} = \\sum_{i=1}^{n} x_i \\le 7\n$$\n\nThe end."
    document = written(body)
    text = text_of(read_pdf(document))
    assert re.search(r"1\. First • sub a • sub b 1\. deep 2\. Second", text)
    assert "≤" in text
    assert "∑" in text
    file = docx.Document(io.BytesIO(to_docx(document)))
    styles = {paragraph.text: paragraph.style.name for paragraph in file.paragraphs}
    assert [styles[name] for name in ("First", "sub a", "deep")] == ["List Number", "List Bullet 2", "List Number 3"]
    assert len(xml_of(document).findall(f".//{M}oMath")) == 1
    assert '<ol>\n<li dir="auto">First\n<ul>' in FORMS["html"].write(document).decode()


def test_a_markdown_file_says_title_question_and_date():
    text = FORMS["md"].write(world.document()).decode()
    assert text.startswith(
        "# Closures of the line\n\n**Question:** Why did the ice line close?\n\n**Partial report** · 2026-11-27 · Sources"
    )
    assert "\n\n- Freight: the archive refused access.\n\nIt closed" in text


# ---- Word


def test_a_word_file_has_a_table_of_contents_whose_lines_lead_to_the_headings():
    xml = xml_of(world.document())
    code = "".join(one.text or "" for one in xml.iter(f"{W}instrText"))
    assert "TOC" in code
    links = [one for one in xml.iter(f"{W}hyperlink") if (one.get(f"{W}anchor") or "").startswith("h")]
    assert ["".join(text.text for text in one.iter(f"{W}t")) for one in links][:3] == [
        "Closures",
        "Other ways",
        "Freight",
    ]
    assert "Back to the text" not in "".join(text.text or "" for text in xml.iter(f"{W}t"))


def test_a_word_file_holds_every_reference_with_its_quotes_and_address():
    document = world.document()
    file = docx.Document(io.BytesIO(to_docx(document)))
    text = "\n".join(paragraph.text for paragraph in file.paragraphs)
    addresses = {one.target_ref for one in file.part.rels.values() if one.is_external}
    for reference in document.references:
        assert reference.title in text
        assert all(quote.text in text for quote in reference.quotes)
        if reference.url.startswith("http"):
            assert reference.url in addresses


def test_every_link_inside_a_word_file_finds_its_place():
    document = world.document()
    xml = xml_of(document)
    names = [one.get(f"{W}name") for one in xml.iter(f"{W}bookmarkStart")]
    anchors = [one.get(f"{W}anchor") for one in xml.iter(f"{W}hyperlink") if one.get(f"{W}anchor")]
    assert len(names) == len(set(names))
    assert set(anchors) <= set(names)
    cited = [str(n) for sentence in document.sentences for n in sentence.citations]
    shown = [
        "".join(text.text for text in link.iter(f"{W}t"))
        for link in xml.iter(f"{W}hyperlink")
        if link.find(f"{W}r/{W}rPr/{W}rStyle") is not None
    ]
    assert shown == [f"[{n}]" for n in cited]
    numbers = [one.get(f"{W}id") for one in xml.iter(f"{W}bookmarkStart")]
    assert sorted(numbers) == sorted(one.get(f"{W}id") for one in xml.iter(f"{W}bookmarkEnd"))


def test_headings_lists_and_tables_of_a_word_file_are_real_ones():
    file = docx.Document(io.BytesIO(to_docx(world.document())))
    styles = {paragraph.text: paragraph.style.name for paragraph in file.paragraphs}
    assert styles["Closures of the line"] == "Title"
    assert styles["Closures"] == "Heading 1"
    assert styles["Freight"] == "Heading 2"
    assert styles["one"] == "List Bullet"
    assert styles["The limit. Is 18.[2]"] == "Quote"
    assert [cell.text for cell in file.tables[0].rows[0].cells] == ["Year", "Days", "Source"]
    assert [cell.text for cell in file.tables[0].rows[2].cells] == ["2021", "3[2]", "4[1]"]
    assert file.tables[0].rows[0]._tr.trPr.find(f"{W}tblHeader") is not None


def test_each_numbered_list_counts_for_itself():
    document = written("1. first\n2. second\n\nBetween.\n\n4. fourth\n5. fifth\n\nThe end.")
    xml = xml_of(document)
    used = [one.get(f"{W}val") for one in xml.iter(f"{W}numId")]
    assert used[0] == used[1] != used[2] == used[3]
    numbering = xml_of(document, "word/numbering.xml")
    starts = {
        one.get(f"{W}numId"): one.find(f"{W}lvlOverride/{W}startOverride").get(f"{W}val")
        for one in numbering.iter(f"{W}num")
        if one.find(f"{W}lvlOverride") is not None
    }
    assert (starts[used[0]], starts[used[2]]) == ("1", "4")


def test_a_word_file_says_title_language_and_date_of_itself():
    told = docx.Document(io.BytesIO(to_docx(world.document()))).core_properties
    assert (told.title, told.author, told.subject) == ("Closures of the line", "Dossier", world.QUESTION)
    assert told.language == "en"
    assert told.created.date().isoformat() == "2026-11-27"
    styles = xml_of(written("他说。", "zh-Hans"), "word/styles.xml")
    assert styles.find(f".//{W}rPrDefault/{W}rPr/{W}lang").get(f"{W}eastAsia") == "zh-Hans"


def test_a_report_from_right_to_left_runs_that_way_and_a_foreign_quote_the_other():
    xml = xml_of(written("أغلق الخط اثني عشر يوما.", "ar", title="الخط", quote="It closed on twelve days."))
    ways = {
        "".join(text.text or "" for text in one.iter(f"{W}t")): one.find(f"{W}pPr/{W}bidi") is not None
        for one in xml.iter(f"{W}p")
    }
    assert any(way for text, way in ways.items() if text.startswith("أغلق"))
    assert not any(way for text, way in ways.items() if text.startswith("It closed"))


# ---- both


def test_headings_skip_no_level():
    document = written("Lead.\n\n#### Deep\n\nText.\n\n## Top\n\n##### Deeper\n\nThe end.")
    levels = [block.level for block in nested(View(document).body.blocks, 1) if isinstance(block, Heading)]
    assert levels == [1, 1, 2, 1]
    assert "Deeper" in text_of(read_pdf(document))


def test_a_long_report_is_set_in_seconds():
    rows = "\n".join(f"| {n} | word and word | {n * n} |" for n in range(300))
    many = "\n\n".join(
        f"Paragraph {n} says something that is long enough to be worth a line or two." for n in range(800)
    )
    document = written(f"{many}\n\n| a | b | c |\n|---|---|---|\n{rows}\n\nThe end.")
    reader = read_pdf(document)
    assert len(reader.pages) > 20
    assert any("Paragraph 799" in page.extract_text() for page in reversed(reader.pages))
    assert len(docx.Document(io.BytesIO(to_docx(document))).tables[0].rows) == 301


@settings(max_examples=12, deadline=None, database=None)
@given(st.text(min_size=1, max_size=60), st.text(min_size=1, max_size=60))
def test_no_text_breaks_a_word_file(title, quote):
    document = written("Said.", title="T" + title, quote="Q" + quote)
    assert docx.Document(io.BytesIO(to_docx(document))).paragraphs


@settings(max_examples=10, deadline=None, database=None)
@given(st.text(alphabet=st.characters(codec="utf-8"), min_size=1, max_size=30))
def test_no_text_breaks_a_pdf(title):
    # Enough words beside it that a few letters without a glyph are no reason to refuse.
    document = written("It was said again and again that the line was closed. " * 20 + "Said.", title="T" + title)
    assert to_pdf(document).startswith(b"%PDF")


def test_every_form_has_a_type_and_is_written():
    for form, one in FORMS.items():
        assert re.fullmatch(r"[\w.+-]+/[\w.+-]+", one.mime), form
        assert one.write(world.document()), form


@pytest.mark.parametrize(("text", "way"), [("abc", "ltr"), ("١٢ عربي", "rtl"), ("(שלום)", "rtl"), ("123", "ltr")])
def test_the_first_letter_with_a_direction_decides(text, way):
    assert way_of(text) == way


def test_the_same_report_gives_the_same_pdf():
    assert to_pdf(world.document()) == to_pdf(world.document())


def test_citations_open_the_quote_that_carries_their_sentence():
    document = world.document()
    citations = Citations(document.references)
    places = [cite.place for sentence in document.body.sentences() for cite in citations.of(sentence)]
    assert places[:4] == ["q1_1", "q1_1", "q1_2", "q2_1"]
