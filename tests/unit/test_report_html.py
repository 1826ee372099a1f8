"""Renderings: links to the very quote, hostile titles and addresses, formulas beside money (C21, C43, C44)."""

import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agents.contracts.report import Quote, Reference
from agents.report.escaping import escape_text, is_route, is_safe, link
from agents.report.html_export import blocks_html, quote_page, to_html
from agents.report.parse_body import parse
from agents.report.references import quote_address, reference_list
from agents.report.wording import wording
from agents.report.write_markdown import blocks_markdown, by_number, document_markdown
from tests.unit import report_world as world

CASES = Path(__file__).parents[1] / "data" / "cases"
ADDRESSES = json.loads((CASES / "C21" / "urls.json").read_text("utf-8"))
PAYLOADS = json.loads((CASES / "C44" / "payloads.json").read_text("utf-8"))
MONEY = json.loads((CASES / "C43" / "expected.json").read_text("utf-8"))
CHIP = re.compile(r'<a class="cit" id="(\w+)" href="#([\w-]+)" title="([^"]*)" aria-label="[^"]*">(\d+)</a>')


def source_page(title, text, span, url="library:/a/b.txt", author=None, page=None):
    quote = Quote.model_construct(text="x", start=span[0], end=span[1], fact_id="f1", page=page)
    reference = Reference.model_construct(n=1, source_id="s1", url=url, title=title, author=author, quotes=(quote,))
    return quote_page(reference, quote, text)


def rendered(markdown):
    return blocks_html(parse(markdown, ()).blocks)


ALLOWED_TAGS = frozenset({
    "html", "head", "meta", "title", "style", "body", "article", "header", "h1", "h2", "h3", "p", "b", "span", "ul",
    "ol", "li", "a", "div", "table", "thead", "tbody", "tr", "th", "td", "blockquote", "section", "footer", "code", "br",
    "em", "strong",
})  # fmt: skip


class Page(HTMLParser):
    """What a browser would see: tags, attributes, text outside style and formulas."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.text, self.hidden = set(), [], "", 0
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        self.hidden += tag in ("style", "math")

    def handle_endtag(self, tag):
        self.hidden -= tag in ("style", "math")

    def handle_data(self, data):
        self.text += "" if self.hidden else data


def hrefs(page):
    return [value for name, value in Page(page).attributes if name == "href"]


def visible(page):
    return Page(page).text


def route(reference, quote):
    return quote_address(reference, quote) or f"/sources/{reference.source_id}#{quote.fact_id}"


def linked_markdown(document, link):
    return document_markdown(document.body, document.references, wording(document.language), link)


def references_markdown(references, words, link):
    return "\n".join(blocks_markdown([reference_list(references, words, link)], by_number))


def mended_page(text):
    return blocks_html(parse(text, (), addresses=()).blocks)


def reference(url, title="T", quote="Words."):
    only = Quote(text=quote, start=0, end=len(quote), fact_id="f1")
    return Reference(n=1, source_id="s1", url=url, title=title, quotes=(only,))


# ---- Markdown with links


def test_each_citation_links_to_the_quote_of_its_own_sentence():
    text = linked_markdown(world.document(), route)

    first, second = re.findall(r"\[\\\[1\\\]\]\((\S+?)\)", text)[:3:2]
    assert "The%20line%20closed" in first
    assert "It%20rose%20from" in second
    assert f"The limit. Is 18.[\\[2\\]](/sources/s2#{world.F2.id})" in text


def test_no_plain_number_is_left_when_every_quote_has_an_address():
    text = linked_markdown(world.document(), route)

    assert not re.search(r"(?<![\\\[])\[\d+\](?!\()", text)


def test_a_quote_without_an_address_stays_a_plain_number():
    assert "Is 18.\\[2\\]" in linked_markdown(world.document(), quote_address)


def test_a_quote_of_a_source_with_pages_names_its_page_and_a_web_file_opens_there():
    paged = world.A.model_copy(update={"url": "https://site1.example/report.pdf", "pages": (0, 0, 150)})
    closures = world.CLOSURES.model_copy(update={"sources": (paged, world.B)})
    document = world.document(findings=(world.TOP.model_copy(update={"children": (closures, world.OTHERS)}),))

    (found,) = (reference for reference in document.references if reference.source_id == world.A.id)
    pages = {quote.text: quote.page for quote in found.quotes}
    assert pages == {world.F1.quote: 2, world.F3.quote: 3}
    assert "(p. 2)" in document.markdown
    assert "https://site1.example/report.pdf#page=3" in document.markdown
    assert "</a> (p. 3)  <a" in to_html(document)
    assert all(quote.page is None for one in document.references if one != found for quote in one.quotes)


def test_the_reference_list_links_titles_and_quotes():
    text = linked_markdown(world.document(), route)

    assert "1. [Title 1](https://site1.example/p), site1.example, 2023-05-01, read 2026-11-27: [“" in text
    assert f"2. [Title 2](/sources/s2#{world.F2.id}) (invented sample)" in text


@pytest.mark.parametrize(
    ("quote", "ending"),
    [
        ("Short-ish words, with & signs.", "#:~:text=Short%2Dish%20words%2C%20with%20%26%20signs."),
        ("one two three four five " * 6, "#:~:text=one%20two%20three%20four%20five,one%20two%20three%20four%20five"),
        ("氷" * 90, "#:~:text=" + "%E6%B0%B7" * 12 + "," + "%E6%B0%B7" * 12),
        ("over two\nlines", "#:~:text=over,lines"),
    ],
)
def test_a_quote_on_the_web_opens_by_a_text_fragment(quote, ending):
    entry = reference("https://a.example/p", quote=quote)

    assert quote_address(entry, entry.quotes[0]) == "https://a.example/p" + ending


@pytest.mark.parametrize("url", ["library:/a.md", "javascript:x", "mailto:a@b.example", "file:///etc/x"])
def test_what_is_not_on_the_web_has_no_text_fragment(url):
    entry = reference(url)

    assert quote_address(entry, entry.quotes[0]) == ""


# ---- C21: addresses


@pytest.mark.parametrize("url", ADDRESSES, ids=range(len(ADDRESSES)))
def test_an_address_survives_as_reference_and_in_a_table_cell(url):
    entry = references_markdown((reference(url, title=url),), wording("en"), lambda *_: "")
    page = rendered(f"{entry}\n\n| a | b |\n|---|---|\n| {link('x', url)} | c |")

    assert [unquote(address) for address in hrefs(page)] == [unquote(url)] * 2
    assert f"{url}: “Words.”" in visible(page)
    assert "<td" in page
    assert "c</td>" in page


# ---- C43: money and formulas


def test_amounts_of_money_stay_and_formulas_are_set():
    page = mended_page((CASES / "C43" / "report.md").read_text("utf-8"))

    assert [word for word in MONEY["money_visible"] + MONEY["literal"] if word not in visible(page)] == []
    assert page.count('<math display="block">') == MONEY["maths_count"]["display"]
    assert page.count("<math>") == MONEY["maths_count"]["inline"]
    assert "<em>" not in page
    assert "<s>" not in page


def test_a_formula_that_is_not_understood_stands_as_its_source():
    assert rendered("$\\weird{x} = 1$") == '<p dir="auto"><code class="tex">\\weird{x} = 1</code></p>\n'


# ---- C44: hostile text


def hostile(title, url):
    source = world.card(1, title=title, url=url)
    text = " ".join(PAYLOADS["model_text"])
    prose = f"{text} It closed.[#{world.F1.id}]\n\n> {text}"
    leaf = world.CLOSURES.model_copy(update={"sources": (source, world.B), "title": text, "markdown": prose})
    top = world.TOP.model_copy(update={"children": (leaf,)})
    frame = world.FRAME.model_copy(update={"title": title, "summary": f"{text} So.[#{world.F1.id}]"})
    return world.document(findings=(top,), frame=frame, seed_failures=(PAYLOADS["user_text"][0],))


@pytest.mark.parametrize("url", PAYLOADS["source_urls"])
@pytest.mark.parametrize("title", PAYLOADS["source_titles"] + PAYLOADS["file_names"])
def test_nothing_of_a_stranger_becomes_markup(title, url):
    document = hostile(title, url)
    page = to_html(document)

    assert Page(page).tags <= ALLOWED_TAGS
    assert not [name for name, _ in Page(page).attributes if name.startswith("on") or name in ("src", "srcset")]
    assert all(is_safe(address) or is_route(address) for address in hrefs(page))
    assert "collector.example" not in "".join(hrefs(page))
    assert title in visible(page)


@pytest.mark.parametrize("url", [url for url in PAYLOADS["source_urls"] if not url.startswith("https")])
def test_an_address_with_another_scheme_is_text(url):
    text = references_markdown((reference(url, title="T"),), wording("en"), lambda *_: url)

    assert text == "1. T: “Words.”"


@given(st.text(st.characters(exclude_categories=["Cs", "Co", "Cc"], exclude_characters="\u200e\u200f"), max_size=40))
@example("[<]")
@example("[=]")
@example("[\\A]")
def test_foreign_words_are_shown_letter_by_letter(text):
    line = " ".join(text.split())
    if not re.search("[\u202a-\u202e\u2066-\u2069\u2028\u2029]", line):
        assert visible(rendered(f"X{escape_text(f'.{line}.')}X")).strip() == f"X.{line}.X"


# ---- the page


def test_the_page_asks_for_nothing_and_runs_nothing():
    page = to_html(world.document())

    assert "<script" not in page
    assert "default-src 'none'" in page
    assert not re.search(r"(?:src|@import|url\()\s*=?", re.sub(r"<meta[^>]*>", "", page))


def test_every_chip_opens_the_words_in_the_same_page():
    page = to_html(world.document())

    chips = CHIP.findall(page)
    assert len(chips) == sum(len(sentence.citations) for sentence in world.document().sentences)
    for _, place, title, _ in chips:
        quoted = re.search(rf'<span id="{place}"></span>(?:<a [^>]*>)?“(.*?)”', page)
        assert quoted
        assert title.startswith(quoted[1])


def test_back_links_lead_to_a_chip():
    page = to_html(world.document())

    ids = set(re.findall(r'id="([\w-]+)"', page))
    assert {address[1:] for address in hrefs(page) if address.startswith("#")} <= ids


def test_the_page_says_its_language_direction_and_grade():
    page = to_html(world.document(contract=world.contract(language="ar")))

    assert '<article lang="ar" dir="rtl">' in page
    assert '<span class="grade partial">تقرير جزئي</span>' in page
    assert '<p dir="auto">' in page


def test_a_doubtful_verdict_shows_behind_its_sentence():
    page = to_html(world.judged(world.document(), 0, "unsupported"))

    assert '<span class="mk unsupported">unverified</span> Two sources agree' in page


# ---- the page of a source

TEXT = "First <b>line</b>.\n\nThe limit is\n18 centimetres & no more. End."


def test_a_source_page_marks_the_quote_across_lines_and_escapes_the_rest():
    start, end = TEXT.index("The limit"), TEXT.index(" End.")
    page = source_page("A & <i>B</i>", TEXT, (start, end))

    assert '<mark id="quote" tabindex="-1" autofocus>The limit is</mark></p>' in page
    assert '<p dir="auto"><mark>18 centimetres &amp; no more.</mark> End.</p>' in page
    assert '<p dir="auto">First &lt;b&gt;line&lt;/b&gt;.</p>' in page
    assert "<title>A &amp; &lt;i&gt;B&lt;/i&gt;</title>" in page
    assert page.count('id="quote"') == 1


def test_a_source_page_links_only_to_the_web():
    assert 'href="https://a.example/"' in source_page("T", "x", (0, 0), url="https://a.example/")
    assert "Port Office · p. 12" in source_page("T", "x", (0, 1), author="Port Office", page=12)
    assert "href" not in source_page("T", "x", (0, 0), url="javascript:x")


@given(st.text(max_size=120), st.lists(st.integers(0, 120), min_size=2, max_size=2).map(sorted))
def test_a_source_page_shows_every_word_once(text, span):
    page = source_page("T", text, span)
    shown = html.unescape(re.sub(r"<[^>]+>", "", page[page.index("<section") : page.index("</section>")]))
    # Control characters are shown as spaces; html.unescape maps a few of them itself.
    wanted = re.sub(r"[\x00-\x1f\x7f]", " ", text)

    assert shown.split() == wanted.split()


def test_a_long_source_page_is_quick():
    text = "\n".join(f"Line {number} of a long document that goes on." for number in range(20_000))

    page = source_page("T", text, (500_000, 500_050))

    assert page.count("<p dir") == 20_000
