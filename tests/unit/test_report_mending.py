"""Format rules that code mends, and that mending twice changes nothing."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.contracts.finding import FACT_MARK
from agents.report.blocks import Verbatim, parse, render
from agents.report.mending import mend, to_fact_marks
from agents.report.report_sentences import sentences

PIECES = st.sampled_from(
    [
        "Ice closed the line.", "It cost $3,500", "and $5,000.", "$d = 12$", "[#f1]", "[#f2]", "[#f3]", "[#f4]",
        "[f3]", "[12]", "[2023]", "**bold.**", "*it*", "`a[1]`", "\n", "\n\n", "- ", "  - ", "1. ", "3) ", "# ",
        "#### ", "> ", "| a | b |\n|---|---|\n| c | d |\n", "<b>x</b>", "<script>y</script>",
        "![alt](https://c.example/p)", "[t](https://ok.example/a_(b))", "[t](javascript:x)",
        "https://gone.example/x.", "(www.gone.example/y)", "[Insert reference to a study]", "References\n",
        "## Sources\n", "```\ncode\n```\n", "$$\nx^2\n$$\n", "\\", "\\\\", "|", "~", "$", "[", "]", "](", "---\n",
        "===\n", ":", "Costs:", "  \n", "a < b", "2*3*4", "“Quote one. Two.”", "氷は溶けた。", "。", "…",
        "\t", "\ue000",
        "[^4]", "<br>", "• ", "&lt;i&gt;", "\u200f",
    ]
)  # fmt: skip
MARKDOWN = st.lists(PIECES | st.text("ab .*_-#>|`$[](){}<>\\\n!1f", max_size=8), max_size=14).map(" ".join) | st.lists(
    PIECES, max_size=14
).map("".join)


@given(MARKDOWN)
@settings(max_examples=150, deadline=None)
def test_mending_what_was_mended_changes_nothing(markdown):
    once = mend(markdown, addresses=("https://ok.example/a_(b)",))

    assert mend(once, addresses=("https://ok.example/a_(b)",)) == once


@given(MARKDOWN)
@settings(max_examples=100, deadline=None)
def test_mended_text_begins_with_no_heading_and_holds_no_stranger(markdown):
    text = render(block for block in parse(mend(markdown)) if not isinstance(block, Verbatim))

    assert not text.startswith("#")
    assert "](" not in re.sub(r"\\\]\(|(`+)(?!`).*?(?<!`)\1(?!`)", "·", text)
    assert "gone.example/" not in re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)


CITED = st.tuples(
    st.sampled_from(["Ice came.", "It went, they say.", "So (it) is?"]), st.lists(st.sampled_from("abc"), max_size=4)
)


@given(st.lists(CITED, min_size=1, max_size=5))
@settings(max_examples=60, deadline=None)
def test_every_mark_stays_with_its_sentence(rows):
    text = " ".join(words[:-1] + "".join(f" [#f{mark}]" for mark in marks) + words[-1] for words, marks in rows)

    found = re.findall(r"(.+?[.?])((?:\[#f[abc]\])*)(?: |$)", mend(text))

    assert [(words, list(dict.fromkeys(FACT_MARK.findall(marks)))) for words, marks in found] == [
        (words, list(dict.fromkeys(f"f{mark}" for mark in marks))) for words, marks in rows
    ]


@given(st.text(max_size=200))
@settings(max_examples=60, deadline=None)
def test_sentences_cover_a_line_without_overlap(text):
    line = " ".join(text.split())
    covered, last = "", 0
    for start, end in sentences(line):
        assert last <= start < end
        covered += line[start:end]
        last = end

    assert covered.replace(" ", "") == line.replace(" ", "")


@pytest.mark.parametrize(
    ("written", "mended"),
    [
        pytest.param("# Title\n\nText.", "Text.", id="leading-heading"),
        pytest.param("A.\n\n# B\n\nC.\n\n### D\n\nE.", "A.\n\n### B\n\nC.\n\n#### D\n\nE.", id="levels"),
        pytest.param("- only one.", "only one.", id="list-of-one"),
        pytest.param("- a\n  - b\n- c", "- a\n- b\n- c", id="nested-list"),
        pytest.param("- A:\n  - 3 m\n  - 4 m\n- B", "- A: 3 m\n- A: 4 m\n- B", id="nested-under-a-label"),
        pytest.param("It closed [#f1] on 12 days.", "It closed on 12 days.[#f1]", id="mark-within"),
        pytest.param("One [#f1]. Two [#f2].", "One.[#f1] Two.[#f2]", id="mark-before-the-stop"),
        pytest.param("One. [#f1] Two.", "One.[#f1] Two.", id="mark-after-a-space"),
        pytest.param("X.[#f1][#f2][#f1][#f3][#f4]", "X.[#f1][#f2][#f3]", id="cap-and-repeats"),
        pytest.param("“A. B.”[#f1] C.[#f2]", "“A. B.”[#f1] C.[#f2]", id="a-quotation-is-one-sentence"),
        pytest.param("Im 19. Jahrhundert, ca. 1850.[#f1]", "Im 19. Jahrhundert, ca. 1850.[#f1]", id="ordinal"),
        pytest.param("氷は溶けた[#f1]。次。", "氷は溶けた。[#f1]次。", id="no-spaces"),
        pytest.param("a  b\nc", "a b c", id="white-space"),
        pytest.param("T:\n| a | b |\n|---|---|\n| 1 | 2 |", "T:\n\n| a | b |\n| --- | --- |\n| 1 | 2 |", id="table"),
        pytest.param("x <script>y</script> <b>z</b>", "x \\<script>y\\</script> z", id="raw-html"),
        pytest.param("![p](https://c.example/pixel?d=1)", "p", id="image"),
        pytest.param("[click](javascript:x) [t](https://no.example/)", "click t", id="unknown-links"),
        pytest.param("See [t](https://ok.example/a_(b)).", "See [t](https://ok.example/a_%28b%29).", id="known-link"),
        pytest.param("Said (https://no.example/r.pdf), it is.", "Said, it is.", id="bare-address"),
        pytest.param("By road [Insert reference to study].", "By road.", id="placeholder"),
        pytest.param("It is so [f3], [12] [F1, f2].", "It is so.", id="stray-marks"),
        pytest.param("It is so [f3][12].", "It is so.", id="stray-marks-behind"),
        pytest.param("In [2023] the rule changed.", "In \\[2023\\] the rule changed.", id="editorial-bracket"),
        pytest.param("A.\n\n## References\n\n[1] x\n[2] y", "A.", id="reference-section"),
        pytest.param("A.\n\n**Sources:**\n\n- https://no.example/1\n- two", "A.", id="bold-reference-section"),
        pytest.param("A.\n\n[1]: https://no.example/1", "A.", id="link-definitions"),
        pytest.param("```markdown\nIce held.[#f1]\n```", "Ice held.[#f1]", id="answer-in-a-fence"),
        pytest.param("Ice held.\n```\nIt did.[#f1]", "Ice held.\n\nIt did.[#f1]", id="open-fence"),
        pytest.param("It held![#f1] (So.)", "It held\\![#f1] (So.)", id="no-picture"),
        pytest.param("氷。[#f1](一)", "氷。[#f1] (一)", id="no-link"),
        pytest.param("\\( a_1 < b_1 \\)", "$a_1 < b_1$", id="old-delimiters"),
    ],
)
def test_a_format_rule_is_mended(written, mended):
    assert mend(written, addresses=("https://ok.example/a_(b)",)) == mended


def test_several_facts_of_one_source_count_once_against_the_cap():
    source = {"f1": "a", "f2": "a", "f3": "b", "f4": "c", "f5": "d"}.get

    assert mend("X.[#f1][#f2][#f3][#f4][#f5][#f6]", source_of=source) == "X.[#f1][#f2][#f3][#f4]"


def test_a_summary_has_no_headings_at_all():
    assert mend("# A\n\nB.\n\n## C\n\nD.", level=None) == "B.\n\nD."


@pytest.mark.parametrize(
    ("written", "marked", "unknown"),
    [
        ("A.[f3] B [F3, f4].", "A.[#fa3] B [#fa3][#fa4].", 0),
        ("A.[f3][f4] C [f3-f4].", "A.[#fa3][#fa4] C [#fa3][#fa4].", 0),
        ("A.[f9] B.[f3, f8]", "A. B.[#fa3]", 2),
        ("`[f3]` stays.", "`[f3]` stays.", 0),
        ("A.【f3】", "A.[#fa3]", 0),
    ],
)
def test_writers_numbers_become_marks_of_facts(written, marked, unknown):
    assert to_fact_marks(written, {3: "fa3", 4: "fa4"}) == (marked, unknown)
