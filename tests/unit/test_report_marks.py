"""Marks by number: cases C18 (invented references), C19 (merging), C20 (notations)."""

import json
from pathlib import Path

import pytest

from agents.report.cut_sentences import trimmed_url
from agents.report.parse_body import parse
from agents.report.write_markdown import markdown_of
from tests.merged_parts import merge_parts

CASES = Path(__file__).parents[1] / "data" / "cases"
NOTATIONS = [json.loads(line) for line in (CASES / "C20" / "marks.jsonl").read_text("utf-8").splitlines()]


def case(name, file):
    return json.loads((CASES / name / file).read_text("utf-8"))


def numbered(text, sources):
    return parse(text, {str(number): str(number) for number in range(1, sources + 1)})


def checked():
    registry = case("C18", "registry.json")
    text = (CASES / "C18" / "draft.md").read_text("utf-8")
    return parse(text, {str(row["id"]): str(row["id"]) for row in registry}, addresses=[row["url"] for row in registry])


def merged():
    return merge_parts([(CASES / "C19" / f"sub_{part}.md").read_text("utf-8") for part in "abc"])


@pytest.mark.parametrize("row", NOTATIONS, ids=[row["text"][-24:] for row in NOTATIONS])
def test_every_notation_is_read_and_no_look_alike_is(row):
    found = numbered(row["text"], row["sources"])

    assert [int(fact) for fact in found.facts()] == row["cited"]
    assert not [number for number in row["dangling"] if f"[{number}]" in markdown_of(found, lambda _: "")]


def test_a_draft_keeps_only_what_was_retrieved():
    expected, found = case("C18", "expected.json"), checked()

    assert [int(fact) for fact in found.facts()] == expected["kept_ids"]
    assert sum(not one.facts for one in found.sentences()) == expected["unsupported_sentences"]
    assert not [unknown for unknown in expected["unknown"] if unknown in markdown_of(found)]


def test_nothing_that_was_not_retrieved_is_left_in_a_checked_draft():
    text = markdown_of(checked())

    assert "http" not in text
    assert "References" not in text
    assert "placeholder" not in text


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

    assert numbered(found.markdown, 99).facts() == ("1", "2", "3", "4")
    assert "[5]" not in found.markdown
    assert "confirms this." in found.markdown


def test_a_bracket_that_opened_inside_an_address_belongs_to_it():
    assert trimmed_url("https://a.example/L_(x)).") == "https://a.example/L_(x)"
