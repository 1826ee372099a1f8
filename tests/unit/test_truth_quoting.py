"""Whether a quote stands in a text: typography may differ, meaning may not."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.verify.quotes import find_quote, speaks_for_itself

CASES = Path(__file__).parents[1] / "data" / "cases"
PAIRS = [json.loads(line) for line in (CASES / "C23" / "pairs.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("pair", [pytest.param(pair, id=pair["why"]) for pair in PAIRS])
def test_a_quote_is_found_exactly_when_it_means_the_same(pair):
    found = find_quote(pair["quote"], pair["source"])

    assert bool(found) == pair["match"]
    if found:
        assert (found.via == "repair") == ("via" in pair)


def test_the_span_points_at_the_original_characters():
    source = "Once.  The\u00a0board\u2019s limit \u2014 18\u2009cm \u2014 is old."

    found = find_quote("The board's limit - 18 cm - is old.", source)

    assert source[found.start : found.end] == "The\u00a0board\u2019s limit \u2014 18\u2009cm \u2014 is old."


def test_a_repair_says_what_was_repaired_and_spans_the_words_of_the_source():
    source = "The line was closed on 12 days [3] in 2022/23. More."

    found = find_quote("The line was closed on 12 days in 2022/23.", source)

    assert (source[found.start : found.end], found.why) == (
        "The line was closed on 12 days [3] in 2022/23.",
        "a reference mark was left out",
    )


@pytest.mark.parametrize(
    ("quote", "source"),
    [
        pytest.param("The rule was … changed in 2021 by them.", "The rule was not changed in 2021 by them.", id="not"),
        pytest.param("closed on 2 days in all", "It was closed on 12 days in all.", id="half-a-number"),
        pytest.param("2 degrees on average", "It was 4.2 degrees on average.", id="half-a-decimal"),
        pytest.param("a total of 10 metres", "In a total of 10\u00b2 metres.", id="a-power"),
        pytest.param("the line was close", "Then the line was closed.", id="half-a-word"),
    ],
)
def test_an_omission_or_a_cut_that_changes_the_meaning_is_no_quote(quote, source):
    assert find_quote(quote, source) is None


@pytest.mark.parametrize("row", [
    ("本次调查共有四百一十二人参加。", "共有四百一十二人参加", True),
    ("本次调查共有四百一十二人参加。", "共有四百二十一人参加", False),
    ("渡し船は氷のため\n十二日間欠航した。", "渡し船は氷のため十二日間欠航した。", True),
    ("아버지가 방에 들어가신다고 했다.", "아버지 가방에 들어가신다고 했다.", False),
    ("توقفت العبّارة اثني عشر يومًا", "توقفت العبارة اثني عشر يوما", True),
    ("توقفت العبارة أحد عشر يوما", "توقفت العبارة اثني عشر يوما", False),
    ("השורה [3] נסגרה", "השורה נסגרה", True),
    ("השורה [3] לא נסגרה", "השורה נסגרה", False),
])  # fmt: skip
def test_scripts_without_spaces_are_quoted_by_the_character(row):
    """Among them the quotes of case C42."""
    source, quote, stands = row

    assert bool(find_quote(quote, source)) == stands


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_whatever_is_found_lies_inside_the_text(before, quote, after):
    text = before + quote + after

    found = find_quote(quote, text)

    assert found is None or 0 <= found.start < found.end <= len(text)


PAGE = (
    "The new cell gained 13.1 dB at full load. The bridge is unsafe in winter. It fell to −12.5 degrees at night. The effect "
    "was not significant in either group. No evidence shows that the drug lowers fever in children. The minis-\nter said that "
    "the dam holds."
)


@pytest.mark.parametrize(
    "cut",
    ["gained 3.1 dB at full load", "3.1 dB at full load", "The bridge is safe in winter", "safe in winter",
     "12.5 degrees at night", "fell to 12.5 degrees at night", "significant in either group",
     "The effect was significant in either group"],
)  # fmt: skip
def test_no_quote_is_cut_out_of_a_number_a_word_a_sign_or_its_negation(cut):
    assert find_quote(cut, PAGE) is None


def test_words_that_the_rest_of_their_sentence_denies_do_not_speak_for_themselves():
    assert not speaks_for_itself(
        "the drug lowers fever in children", "No evidence shows that the drug lowers fever in children."
    )


@pytest.mark.parametrize("honest", ["The minister said that the dam holds", "It fell to −12.5 degrees at night"])
def test_an_honest_quote_is_found_over_a_hyphen_and_with_its_sign(honest):
    assert find_quote(honest, PAGE)
