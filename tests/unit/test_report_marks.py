"""Marks by number: cases C18 (invented references), C19 (merging), C20 (notations)."""

import json
from pathlib import Path

import pytest

from agents.report.citation_marks import (
    RegisteredSource,
    canonical_key,
    check_draft,
    merge_parts,
    parse_marks,
    trimmed_url,
)

CASES = Path(__file__).parents[1] / "data" / "cases"
NOTATIONS = [json.loads(line) for line in (CASES / "C20" / "marks.jsonl").read_text("utf-8").splitlines()]


def case(name, file):
    return json.loads((CASES / name / file).read_text("utf-8"))


def checked():
    registry = [RegisteredSource(**row) for row in case("C18", "registry.json")]
    return check_draft((CASES / "C18" / "draft.md").read_text("utf-8"), registry)


def merged():
    return merge_parts([(CASES / "C19" / f"sub_{part}.md").read_text("utf-8") for part in "abc"])


@pytest.mark.parametrize("row", NOTATIONS, ids=[row["text"][-24:] for row in NOTATIONS])
def test_every_notation_is_read_and_no_look_alike_is(row):
    found = parse_marks(row["text"], row["sources"])

    assert (list(found.cited), list(found.dangling)) == (row["cited"], row["dangling"])


def test_a_draft_keeps_only_what_was_retrieved():
    expected, found = case("C18", "expected.json"), checked()

    assert list(found.kept_ids) == expected["kept_ids"]
    assert list(found.unknown) == expected["unknown"]
    assert found.model_written_reference_section == expected["model_written_reference_section"]
    assert found.unsupported_sentences == expected["unsupported_sentences"]


def test_nothing_that_was_not_retrieved_is_left_in_a_checked_draft():
    found = checked()

    assert "http" not in found.markdown
    assert "References" not in found.markdown
    assert "placeholder" not in found.markdown
    assert [source.id for source in found.references] == [1, 2]


def test_a_sentence_with_a_known_and_an_unknown_mark_stays_with_the_known_one():
    found = check_draft("Ice held for a week [1][9].", [RegisteredSource(id=1, url="https://a.example/")])

    assert found.markdown == "Ice held for a week [1]."
    assert found.unknown == ("[9]",)


def test_parts_are_merged_with_one_list_and_every_statement_keeps_its_pages():
    expected, found = case("C19", "expected.json"), merged()

    assert list(found.references) == expected["references"]
    assert list(found.not_listed) == expected["not_listed"]
    for want, have in zip(expected["sentences"], found.statements, strict=True):
        assert have.text == want["text"]
        assert list(have.urls) == want["urls"]
        assert list(have.dangling) == want.get("dangling", [])
        assert list(have.ambiguous) == want.get("ambiguous", [])


def test_merged_numbers_run_without_a_gap_and_dangling_ones_are_gone():
    found = merged()

    assert list(parse_marks(found.markdown, 99).cited) == [1, 2, 3, 4]
    assert "[5]" not in found.markdown
    assert "confirms this." in found.markdown


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://www.a.example/x?utm_source=f", "http://a.example/x/", True),
        ("https://a.example:443/x#part", "https://A.example/./x", True),
        ("https://a.example/L_(x)", "https://a.example/L_%28x%29", True),
        ("https://a.example/x?id=1&fbclid=z", "https://a.example/x?id=1", True),
        ("https://a.example/x?id=1", "https://a.example/x?id=2", False),
        ("https://a.example/X", "https://a.example/x", False),
        ("https://a.example/#/r/1", "https://a.example/#/r/2", False),
        ("https://xn--mnchen-3ya.example/e", "https://münchen.example/e", True),
    ],
)
def test_addresses_of_one_page_have_one_key(one, other, same):
    assert (canonical_key(one) == canonical_key(other)) is same


def test_a_bracket_that_opened_inside_an_address_belongs_to_it():
    assert trimmed_url("https://a.example/L_(x)).") == "https://a.example/L_(x)"
