"""The words for the user, out of a JSON text that is still being written."""

import json
from typing import get_args, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.contracts.finding import Finding
from agents.core.role import Message, Request
from agents.llm.capabilities import Ways
from agents.llm.wire import messages_for, words_so_far
from tests.unit.report_world import CLOSURES


def streamed(text: str, sizes: list[int] | None = None) -> str:
    """Read `text` while it grows by pieces of the given sizes, over and over: what was said once is never taken back."""
    said, at, turn = "", 0, 0
    while at < len(text):
        at, turn = at + (sizes or [len(text)])[turn % len(sizes or [1])], turn + 1
        before, said = said, words_so_far(text[:at], "reply")
        assert said.startswith(before)
    return said


SPLITS = st.lists(st.integers(min_value=1, max_value=7), min_size=1, max_size=12)
BEFORE = st.sampled_from(
    [
        "",
        "\n  ",
        "```json\n",
        "```\n",
        '<think>\n{"reply": "WRONG"}\n</think>\n\n',
        "<THINKING>a `</think>` b</THINKING>```json\n",
        "<think></think>",
        '[THINK]x{"reply": "WRONG"}[/THINK]',
        'no opening tag, {"reply": "WRONG"}</think>',
    ]
)


@given(st.text(), BEFORE, st.booleans(), SPLITS)
def test_any_split_of_any_reply_gives_the_text_and_nothing_else(words, before, ascii_only, sizes):
    answer = {"ready": [{"reply": "WRONG"}, 'a \\"reply": "WRONG"'], "reply": words, "after": {"reply": "WRONG"}}
    text = before + json.dumps(answer, ensure_ascii=ascii_only) + "\n```"

    assert streamed(text, sizes) == words


@given(st.text(alphabet='{}[]":,\\ud83e0n reply<think/>`\n'), SPLITS)
def test_even_broken_text_gives_the_same_for_every_split(text, sizes):
    assert streamed(text, sizes) == streamed(text)


def grown(*chunks: str) -> list[str]:
    return [words_so_far("".join(chunks[: at + 1]), "reply") for at in range(len(chunks))]


def test_pieces_come_as_they_are_written():
    chunks = ('{"re', 'ply": "The li', "ne clo", "sed\\", 'n"', ', "x": 1}')

    assert grown(*chunks) == ["", "The li", "The line clo", "The line closed", "The line closed\n", "The line closed\n"]


def test_half_an_escape_is_never_shown():
    assert grown('{"reply": "', "\\ud8", "3e", "\\", "udd", '89"}') == ["", "", "", "", "", "\U0001f989"]


@pytest.mark.parametrize("text", [r"\ud83e", r"\ud83e!", r"\ude00", r"\ud83e\n"])
def test_half_a_character_is_shown_as_unknown(text):
    shown = streamed('{"reply": "' + text + '"}')

    assert "\N{REPLACEMENT CHARACTER}" in shown
    assert shown.encode("utf-8")


@pytest.mark.parametrize(
    "text",
    [
        '<think>\n{"reply": "WRONG"}',
        "Hello.",
        "",
        '["reply", "WRONG"]',
        '{"reply": 7, "x": "WRONG"}',
        '{"x": {"reply": "WRONG"}}',
        '{"x": "reply", "y": "WRONG"}',
    ],
)
def test_nothing_is_shown_where_there_is_no_reply(text):
    assert streamed(text) == ""


def test_a_reply_after_prose_waits_until_the_answer_was_read():
    assert streamed('I would say {"reply": "perhaps"}') == ""
    assert streamed('Sure.\n```json\n{"reply": "perhaps"}') == ""


def test_no_request_can_hold_a_call_of_a_tool_so_none_is_left_unanswered():
    """Case C06: a guard that cuts in between a call and its answer leaves a talk that strict servers refuse for ever."""
    told = (Message("system", "Work."), Message("user", "Say it."), Message("assistant", "{}"))
    request = Request(
        role="planner", messages=told, given=CLOSURES, gives=Finding, deadline_s=None, max_output_tokens=10
    )
    sent = messages_for(request, Ways(), str)
    assert {one["role"] for one in sent} == set(get_args(get_type_hints(Message)["role"]))
    assert all(set(one) == {"role", "content"} for one in sent)
