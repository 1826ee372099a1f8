"""From what a writer wrote to the tree of a report, and back to Markdown without losing a word or a citation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.contracts.body import Body, Heading, Listing, Paragraph, Quotation, Sentence, Table, Words
from agents.report.cut_sentences import Glyph, sentences
from agents.report.escaping import settled
from agents.report.parse_body import parse
from agents.report.write_markdown import markdown_of

KNOWN = {"1": "f1", "2": "f2", "3": "f3"} | {f"f{number}": f"f{number}" for number in (1, 2, 3, 4)}
ADDRESSES = ("https://ok.example/a_(b)",)


def read(markdown):
    return parse(markdown, KNOWN, addresses=ADDRESSES)


def again(markdown):
    return markdown_of(read(markdown))


@pytest.mark.parametrize(
    ("written", "mended"),
    [
        pytest.param("One [#f1]. Two [#f2].", "One.[#f1] Two.[#f2]", id="mark-before-the-stop"),
        pytest.param("[1][2]: Lilu was one.", "Lilu was one.[#f1][#f2]", id="marks-in-front"),
        pytest.param("One. [3] Two.", "One.[#f3] Two.", id="mark-after-a-space"),
        pytest.param("It rose to 20.[f1]Then it fell.", "It rose to 20.[#f1] Then it fell.", id="mark-for-a-space"),
        pytest.param("X.[f1][f2][f1]", "X.[#f1][#f2]", id="repeats"),
        pytest.param("X [f1], [F2; f3].", "X.[#f1][#f2][#f3]", id="lists-of-marks"),
        pytest.param("X [1-3] and 【2】.", "X.[#f1][#f2][#f3]", id="ranges-and-wide-brackets"),
        pytest.param("Costs ([f1]; see [2]) rose (see [9]).", "Costs rose.[#f1][#f2]", id="brackets-around-marks"),
        pytest.param("a[[3]](https://b.example/c), [1](https://b.example).", "a.[#f3][#f1]", id="linked-marks"),
        pytest.param("It held.<sup>[2]</sup> It went[^1].", "It held.[#f2] It went.[#f1]", id="raised-marks"),
        pytest.param("“A. B.”[#f1] C.[#f2]", "“A. B.”[#f1] C.[#f2]", id="a-quotation-is-one-sentence"),
        pytest.param("Im 19. Jahrhundert, ca. 1850.[#f1]", "Im 19. Jahrhundert, ca. 1850.[#f1]", id="ordinal"),
        pytest.param("氷は溶けた[#f1]。次。", "氷は溶けた。[#f1]次。", id="no-spaces"),
        pytest.param("a  b\nc", "a b c", id="white-space"),
        pytest.param("T:\n| a | b |\n|---|---|\n| 1 | 2 |", "T:\n\n| a | b |\n| --- | --- |\n| 1 | 2 |", id="table"),
        pytest.param("| a | b |\n|---|---|\n| 1 | 2 | 3 |", "| a | b |\n| --- | --- |\n| 1 | 2 \\| 3 |", id="wide-row"),
        pytest.param("x <script>y</script> <b>z</b>", "x \\<script>y\\</script> **z**", id="raw-html"),
        pytest.param("5×10<sup>6</sup> of CO<sub>2</sub>", "5×10⁶ of CO₂", id="indices"),
        pytest.param("the 20<sup>th</sup>", "the 20<sup>th</sup>", id="indices-without-signs-of-their-own"),
        pytest.param(
            "<table><tr><th>Year</th><th>Days</th></tr><tr><td>2019</td><td>410 [f1]</td></tr></table>",
            "| Year | Days |\n| --- | --- |\n| 2019 | 410[#f1] |",
            id="html-table",
        ),
        pytest.param("<ul><li>a</li><li>b <i>c</i></li></ul>", "- a\n- b *c*", id="html-list"),
        pytest.param("Words <td>2019</td><td>410</td>", "Words 2019 410", id="stray-cells"),
        pytest.param("![p](https://c.example/pixel?d=1)", "p", id="image"),
        pytest.param("[click](javascript:x) [t](https://no.example/)", "click t", id="unknown-links"),
        pytest.param("See [t](https://ok.example/a_(b)).", "See [t](https://ok.example/a_%28b%29).", id="known-link"),
        pytest.param(
            "By [x=y] and [R \\[24\\]](https://ok.example/a_(b)).",
            "By \\[x=y] and [R \\[24&#93;](https://ok.example/a_%28b%29).",
            id="brackets-that-are-no-formula",
        ),
        pytest.param("Said (https://no.example/r.pdf), it is.", "Said (no.example), it is.", id="bare-address"),
        pytest.param("At https://no.example/r.pdf.", "At no.example.", id="address-in-running-text"),
        pytest.param("By road [Insert reference to study].", "By road.", id="placeholder"),
        pytest.param("It is so [f9], [12] [F8, f7].", "It is so.", id="stray-marks"),
        pytest.param("In [2023] the rule changed.", "In \\[2023] the rule changed.", id="editorial-bracket"),
        pytest.param("The interval [0, 1] and `d[1]`.", "The interval \\[0, 1] and `d[1]`.", id="no-marks"),
        pytest.param("Is it \\[sic\\]? \\[T\\]he", "Is it \\[sic]? \\[T]he", id="escaped-brackets"),
        pytest.param("It cost $5 and $6.", "It cost \\$5 and \\$6.", id="money"),
        pytest.param("\\( a_1 < b_1 \\) and $d = 12$", "$a_1 < b_1$ and $d = 12$", id="formulas"),
        pytest.param("A\n$$\nx^2\n= y\n$$\nB", "A $$x^2 = y$$ B", id="formula-on-its-own-lines"),
        pytest.param("A.\n\n## References\n\n[1] x\n[2] y", "A.", id="reference-section"),
        pytest.param("A.\n\n**Sources:**\n\n- https://no.example/1\n- two", "A.", id="bold-reference-section"),
        pytest.param("A.\n\nSources [1] https://a.example [2] https://b.example", "A.", id="run-on-reference-list"),
        pytest.param("A.\n\n[1]: https://no.example/1", "A.", id="link-definitions"),
        pytest.param("A[^1].\n\n[^1]: Buses are left out.", "A (Buses are left out).", id="footnote"),
        pytest.param("A[^1].\n\n[^1]: https://no.example/1", "A.[#f1]", id="footnote-that-is-a-reference"),
        pytest.param("```markdown\nIce held.[#f1]\n```", "Ice held.[#f1]", id="answer-in-a-fence"),
        pytest.param("Ice held.\n```\nIt did.[#f1]", "Ice held.\n\nIt did.[#f1]", id="open-fence"),
        pytest.param("```py\na[1]\n```", "```py\na[1]\n```", id="code"),
        pytest.param("It held![#f1] (So.)", "It held\\![#f1] (So.)", id="no-picture"),
        pytest.param("氷。[#f1](一)", "氷。[#f1] (一)", id="no-link"),
        pytest.param("1. a\n  - b\n  - c\n2. d\n   1. e", "1. a\n   - b\n   - c\n2. d\n   1. e", id="lists-in-lists"),
        pytest.param("• a\n• b", "- a\n- b", id="typed-bullets"),
        pytest.param("> One. Two.[f1]\n\n[f2]", "> One. Two.[#f1][#f2]", id="mark-behind-a-quotation"),
        pytest.param("**bold** text, **bold**text", "**bold** text, boldtext", id="emphasis"),
        pytest.param("one  \ntwo", "one\\\ntwo", id="line-break"),
    ],
)
def test_what_a_writer_wrote_is_read_and_written_in_one_form(written, mended):
    assert again(written) == mended
    assert again(mended) == mended


def test_a_body_is_blocks_of_sentences_that_know_what_they_cite():
    body = read("# T\n\nIce *held*.[1] It [went][2].\n\n- a\n  - b [f3]\n\n> q\n\n| h |\n|---|\n| c [1] |")

    heading, paragraph, listing, quotation, table = body.blocks
    assert isinstance(heading, Heading)
    assert isinstance(paragraph, Paragraph)
    assert [(one.text, one.facts) for one in paragraph.sentences] == [("Ice held.", ("f1",)), ("It [went].", ("f2",))]
    assert paragraph.sentences[0].inline[1] == Words(text="held", style=("italic",))
    assert isinstance(listing, Listing)
    assert isinstance(listing.items[0][1], Listing)
    assert isinstance(quotation, Quotation)
    assert isinstance(table, Table)
    assert body.facts() == ("f1", "f2", "f3")


def test_a_row_with_one_citation_at_its_end_is_one_sentence():
    body = read("| a | b | c |\n|---|---|---|\n| 1 | 2 | [f1] |\n| 3 [f1] | 4 [f2] | |\n| 5 | 6 | |")

    assert [(one.text, one.facts) for one in body.sentences()] == [
        ("1 | 2", ("f1",)), ("3", ("f1",)), ("4", ("f2",)), ("5 | 6", ()),
    ]  # fmt: skip


def test_sentences_are_changed_and_struck_in_their_place():
    body = read("One.[1] Two.[2]\n\n- Two.[2]\n\n| a |\n|---|\n| Two. [2] |")

    def change(sentence):
        return None if sentence.text == "Two." else sentence.model_copy(update={"verdict": "supported"})

    assert body.changed(change) == Body(
        blocks=(Paragraph(sentences=(body.sentences()[0].model_copy(update={"verdict": "supported"}),)),)
    )


def test_other_words_for_a_whole_row_fill_its_first_cell():
    body = read("| a | b |\n|---|---|\n| 1 | 2 [f1] |")
    changed = body.changed(lambda one: Sentence(inline=(Words(text="12"),), facts=one.facts))

    assert markdown_of(changed).splitlines()[-1] == "| 12[#f1] |  |"


PIECES = st.sampled_from(
    [
        "Ice closed the line.", "It cost $3,500", "and $5,000.", "$d = 12$", "[#f1]", "[#f2]", "[#f3]", "[#f4]",
        "[f3]", "[12]", "[2023]", "**bold.**", "*it*", "`a[1]`", "\n", "\n\n", "- ", "  - ", "1. ", "3) ", "# ",
        "#### ", "> ", "| a | b |\n|---|---|\n| c | d |\n", "<b>x</b>", "<script>y</script>",
        "![alt](https://c.example/p)", "[t](https://ok.example/a_(b))", "[t](javascript:x)",
        "https://gone.example/x.", "(www.gone.example/y)", "[Insert reference to a study]", "References\n",
        "## Sources\n", "```\ncode\n```\n", "$$\nx^2\n$$\n", "|", "---\n", ":", "Costs:", "  \n", "a < b", "2*3*4",
        "“Quote one. Two.”", "氷は溶けた。", "。", "…", "\t", "\ue000", "[^4]", "<br>", "• ", "&lt;i&gt;", "\u200f",
        "<sup>2</sup>", "<table><tr><td>1</td><td>2</td></tr></table>\n",
    ]
)  # fmt: skip
MARKDOWN = st.lists(PIECES, max_size=14).map(" ".join) | st.lists(PIECES, max_size=14).map("".join)
HOSTILE = st.lists(PIECES | st.text("ab .*_-#>|`$[](){}<>\\\n!1f~=", max_size=8), max_size=14).map(" ".join)


@given(MARKDOWN)
def test_reading_what_was_written_gives_the_same_sentences(markdown):
    body = read(markdown)
    once = markdown_of(body)

    assert [(one.text.strip(), one.facts) for one in read(once).sentences()] == [
        (one.text.strip(), one.facts) for one in body.sentences()
    ]


@given(HOSTILE)
def test_no_stranger_becomes_a_link_and_no_unknown_fact_is_cited(markdown):
    body = read(markdown)

    links = {part.address for one in body.sentences() for part in one.inline if isinstance(part, Words)}
    assert links <= {"", "https://ok.example/a_%28b%29"}
    assert set(body.facts()) <= set(KNOWN.values())


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["Ice came.", "It went, they say.", "So (it) is?"]),
            st.lists(st.sampled_from("123"), max_size=4),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_every_mark_stays_with_its_sentence(rows):
    text = " ".join(words[:-1] + "".join(f" [{mark}]" for mark in marks) + words[-1] for words, marks in rows)

    assert [(one.text, one.facts) for one in read(text).sentences()] == [
        (words, tuple(dict.fromkeys(f"f{mark}" for mark in marks))) for words, marks in rows
    ]


@given(st.text(max_size=200))
def test_sentences_cover_a_line(text):
    line = " ".join(text.split())
    found = sentences([Glyph(char) for char in line])

    assert "".join("".join(one.text.split()) for one in found) == "".join(line.split())


# ---- format rules


def in_form(markdown, **rules):
    return markdown_of(settled(read(markdown), **rules))


def test_a_part_begins_with_no_heading_and_its_headings_nest():
    assert in_form("# A\n\nB.\n\n## C\n\nD.\n\n##### E\n\nF.\n\n## G") == "B.\n\n### C\n\nD.\n\n#### E\n\nF."
    assert in_form("# A\n\nB.\n\n## C\n\nD.", level=None) == "B.\n\nD."


def test_a_list_of_one_is_a_paragraph_and_lists_side_by_side_are_one():
    assert in_form("- only") == "only"
    assert in_form("- a\n\n* b") == "- a\n- b"
    assert in_form("- a\n  - one\n- b") == "- a\n\n  one\n- b"


def test_a_sentence_cites_three_sources_at_most_and_several_facts_of_one_count_once():
    source = {"f1": "a", "f2": "a", "f3": "b", "f4": "c"}.get

    assert in_form("X.[#f1][#f2][#f3][#f4]") == "X.[#f1][#f2][#f3]"
    assert in_form("X.[#f1][#f2][#f3][#f4]", source_of=source) == "X.[#f1][#f2][#f3][#f4]"
    assert in_form("X.[#f1][#f3]", source_of={"f1": "a"}.get) == "X.[#f1]"


@given(HOSTILE)
def test_what_is_in_form_stays_as_it_is(markdown):
    once = settled(read(markdown))

    assert settled(once) == once
    assert not markdown_of(once).startswith("# ")
