"""Replies as models really write them, and the contracts that come out."""

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, ValidationError

from agents.contracts.frozen import Frozen, Text
from agents.core.model_answers import NoAnswer, read_answer
from tests.bench.cases_replying import visible_text

CASES = Path(__file__).parent.parent / "data" / "cases"


class Queries(Frozen):
    queries: tuple[Text, ...] = Field(min_length=1)


class Turn(Frozen):
    queries: tuple[Text, ...]
    ready: bool


class Statement(Frozen):
    id: Text
    text: Text


class Claims(Frozen):
    claims: tuple[Statement, ...]


class Sloppy(Frozen):
    queries: tuple[str, ...] = ()
    ready: bool | None = None
    note: str | None = None
    text: str | None = None


class Topic(Frozen):
    research_topic: str
    queries: tuple[Text, ...]


class Circle(Frozen):
    radius: int


class Drawing(Frozen):
    shapes: tuple[Circle, ...]
    confidence: float = Field(ge=0, le=1)


def text_of(name: str) -> str:
    return (CASES / name).read_text("utf-8")


def rows(name: str) -> list[Any]:
    return [pytest.param(json.loads(line), id=f"row{n}") for n, line in enumerate(text_of(name).splitlines(), 1)]


# ---- where the answer is


def test_the_fenced_answer_wins_over_braces_in_prose_and_a_later_example():
    answer = read_answer(text_of("C01/model_output.txt"), Queries, listed="queries")

    assert answer.model_dump(mode="json") == json.loads(text_of("C01/expected.json"))


def test_an_object_is_taken_before_a_list_in_the_middle_of_prose():
    text = 'In the shape ["question one"] that you gave: {"queries": ["a one"]}'

    assert read_answer(text, Queries, listed="queries").queries == ("a one",)


def test_a_bare_list_after_chatter_is_the_answer_when_there_is_no_object():
    assert read_answer('Sure [1]! ["a one", "b two"] Good luck.', Queries, listed="queries").queries == (
        "a one",
        "b two",
    )


def test_words_in_square_brackets_are_no_list():
    with pytest.raises(NoAnswer):
        read_answer("As the board says [see above], nothing is known [sic].", Queries, listed="queries")


def test_an_answer_in_an_object_of_its_own_is_unwrapped():
    assert read_answer('{"answer": {"queries": ["a one"]}}', Queries).queries == ("a one",)


def test_json_that_stops_in_the_middle_is_no_answer_even_when_nobody_says_that_it_was_cut():
    with pytest.raises(NoAnswer, match="not closed"):
        read_answer('{"claims": [{"id": "K1", "text": "whole"}, {"id": "K2", "te', Claims, listed="claims")


# ---- thoughts


def test_only_the_text_after_the_thoughts_is_read():
    answer = read_answer(text_of("C02/think_then_json.txt"), Turn)

    assert answer.queries == ("Orvane ferry winter timetable 2023", "Orvane ice closure days 2023")
    assert answer.ready is False


def test_thoughts_that_never_end_are_no_answer():
    with pytest.raises(NoAnswer, match="thoughts"):
        read_answer(text_of("C02/think_unclosed.txt"), Queries, listed="queries")


def test_thoughts_without_an_opening_tag_are_dropped_from_json_too():
    text = 'hidden, ["WRONG"], {"queries": ["WRONG"]}\n</think>\n{"queries": ["kept"]}'

    assert read_answer(text, Queries, listed="queries").queries == ("kept",)


def test_thoughts_that_begin_with_a_draft_are_dropped():
    assert read_answer('{"queries": ["WRONG"]} no.</think>{"queries": ["kept"]}', Queries).queries == ("kept",)


def test_a_tag_inside_a_json_string_is_data():
    text = '<think>hm</think>```json\n{"queries": ["what does <think> mean?"]}\n```'

    assert read_answer(text, Queries).queries == ("what does <think> mean?",)


@pytest.mark.parametrize("row", rows("C02/think_variants.jsonl"))
def test_the_user_sees_no_thoughts(row):
    assert visible_text(row["reply"]) == row["visible"]


# ---- cut replies


@pytest.mark.parametrize("name", ["C03/reply.json", "C03/reply_cut_between_items.json"])
def test_of_a_cut_reply_only_complete_items_are_kept(name):
    case = json.loads(text_of(name))

    answer = read_answer(case["content"], Claims, listed="claims", cut=True)

    assert [claim.id for claim in answer.claims] == ["K1", "K2"]


@pytest.mark.parametrize(
    "text", ['{"claims": [{"id": "K1", "text": "The harbour mas', '{"claims": []}', '{"cla', "Well, "]
)
def test_a_cut_reply_with_nothing_complete_is_no_answer(text):
    with pytest.raises(NoAnswer):
        read_answer(text, Claims, listed="claims", cut=True)


def test_of_a_cut_list_only_complete_texts_are_kept():
    assert read_answer('["a one", "b two", "c th', Queries, listed="queries", cut=True).queries == ("a one", "b two")


def test_a_cut_reply_is_never_given_a_flag_that_it_did_not_reach():
    with pytest.raises(ValidationError, match="ready"):
        read_answer('{"queries": ["a one", "b tw', Turn, cut=True)


def test_half_a_number_is_not_kept():
    with pytest.raises(ValidationError, match="confidence"):
        read_answer('{"shapes": [{"radius": 3}], "confidence": 0.', Drawing, cut=True)


@given(st.lists(st.text(min_size=1), min_size=1, max_size=6, unique=True), st.integers(min_value=0))
def test_a_cut_at_any_place_keeps_a_beginning_of_the_list(ids, place):
    whole = json.dumps({"claims": [{"id": f"({id_})", "text": "[{t}]"} for id_ in ids]})
    kept = read_cut(whole[: place % len(whole)])

    assert kept == tuple(f"({id_})" for id_ in ids)[: len(kept)]


def read_cut(text: str) -> tuple[str, ...]:
    try:
        return tuple(claim.id for claim in read_answer(text, Claims, listed="claims", cut=True).claims)
    except NoAnswer:
        return ()


# ---- shapes


@pytest.mark.parametrize("row", rows("C04/shapes.jsonl"))
def test_a_list_of_queries_in_the_wrong_shape(row):
    try:
        queries: list[str] | str = list(read_answer(row["reply"], Queries, listed="queries").queries)
    except (NoAnswer, ValidationError):
        queries = "an error"
    wanted = [row["queries"]] if "queries" in row else []
    wanted += ["an error"] if row.get("error") or row.get("or_error") else []

    assert queries in wanted


@pytest.mark.parametrize("row", rows("C04/sloppy.jsonl"))
def test_near_json_is_mended(row):
    answer = read_answer(row["reply"], Sloppy, listed="queries").model_dump(mode="json", exclude_unset=True)

    assert answer == (row["value"] if isinstance(row["value"], dict) else {"queries": row["value"]})


def test_a_missing_field_is_named_and_never_made_up():
    with pytest.raises(ValidationError, match="queries"):
        read_answer(text_of("C04/plan_missing_fields.json"), Topic, listed="queries")


@pytest.mark.parametrize("text", ['{"queries": "only one"}', '{"queries": {"first": "a", "second": "b"}}'])
def test_neither_letters_nor_keys_become_queries(text):
    with pytest.raises(ValidationError):
        read_answer(text, Queries, listed="queries")


def test_keys_that_the_contract_does_not_know_are_dropped_at_every_depth():
    text = json.dumps({"thoughts": "…", "shapes": [{"radius": 3, "side": 1, "why": "round"}], "confidence": 0.5})

    answer = read_answer(text, Drawing)

    assert answer.shapes == (Circle(radius=3),)


# ---- tool calls as text


@pytest.mark.parametrize("row", rows("C05/leaks.jsonl")[:4])
def test_a_tool_call_in_the_text_is_no_answer(row):
    with pytest.raises(NoAnswer, match="tool"):
        read_answer(row["content"], Sloppy, listed="queries")


@pytest.mark.parametrize("row", rows("C05/leaks.jsonl")[4:])
def test_prose_beside_a_tool_call_or_about_one_is_no_answer_either(row):
    with pytest.raises(NoAnswer):
        read_answer(row["content"], Sloppy, listed="queries")


def test_an_answer_about_tool_markup_is_an_answer():
    assert read_answer('{"queries": ["what is <tool_call>?"]}', Queries).queries == ("what is <tool_call>?",)


# ---- anything at all


@given(st.text(alphabet=st.sampled_from("[]{}\"'`,:\\ \nab1<>/think“”")), st.booleans())
def test_whatever_comes_the_only_errors_are_those_the_engine_repairs(text, cut):
    with contextlib.suppress(NoAnswer, ValidationError):
        read_answer(text, Sloppy, listed="queries", cut=cut)


@pytest.mark.parametrize("text", ["[" * 50_000, '{"a":' * 50_000, "[{" * 20_000 + '"'])
def test_a_reply_of_nothing_but_brackets_is_no_answer(text):
    for cut in (False, True):
        with pytest.raises(NoAnswer):
            read_answer(text, Queries, listed="queries", cut=cut)
