"""A question that leans on the one before it is read with what that one is about, in brackets."""

import pytest

from agents.offline.planner import draft, understood
from agents.offline.questions import questions

RELIABLE = "How reliable are heat pumps?"


@pytest.mark.parametrize(
    ("message", "before", "alone"),
    [
        ("what do they cost?", RELIABLE, "What do they cost (heat pumps)?"),
        ("And the costs?", RELIABLE, "The costs (heat pumps)?"),
        ("What about noise?", RELIABLE, "What about noise (heat pumps)?"),
        ("When was it built?", "What did the Sydney Opera House cost?", "When was it built (Sydney Opera House)?"),
        (
            "How reliable are they?",
            "Do heat pumps in Norway save money?",
            "How reliable are they (heat pumps in Norway)?",
        ),
        ("Und was kosten sie?", "Wie zuverlässig sind Wärmepumpen?", "Was kosten sie (Wärmepumpen)?"),
        # These say by themselves what they are about.
        ("How many inhabitants has Oslo?", RELIABLE, ""),
        ("Is it true that cats can swim?", "How reliable is the night bus?", ""),
        ("And what is the capital of Peru?", RELIABLE, ""),
        ("Do boats save money and how reliable are they?", RELIABLE, ""),
        ("in German please", RELIABLE, ""),
    ],
)
def test_a_message_is_read_with_what_was_asked_before_it(message, before, alone):
    assert understood(message, [before]) == (alone or message)


def test_what_the_last_message_leaves_open_the_one_before_tells():
    assert understood("Who installs them?", [RELIABLE, "And what do they cost?"]) == "Who installs them (heat pumps)?"


def test_what_a_question_was_told_to_be_about_is_what_the_next_one_is_about():
    assert (
        understood("How long do they last?", ["What do they cost (heat pumps)?"])
        == "How long do they last (heat pumps)?"
    )


def test_each_part_of_one_message_says_what_it_is_about():
    (question,) = questions("How reliable are heat pumps? And what do they cost?")

    assert draft(question, "en", 4)[-1].questions == ("What do they cost (heat pumps)?",)
