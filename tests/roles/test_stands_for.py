"""A question that leans on the one before it is read with what it leans on; no guess where grammar does not tell."""

import pytest

from agents.offline.planner import draft
from agents.offline.questions import questions
from agents.offline.stands_for import understood

RELIABLE = "How reliable are heat pumps?"


@pytest.mark.parametrize(
    ("message", "before", "alone"),
    [
        ("what do they cost?", RELIABLE, "What do heat pumps cost?"),
        ("And what do they cost?", "Do the heat pumps save money?", "What do the heat pumps cost?"),
        ("And the costs?", RELIABLE, "The costs (heat pumps)?"),
        ("What about noise?", RELIABLE, "What about noise (heat pumps)?"),
        ("how long does it last?", "What does a heat pump cost?", "How long does the heat pump last?"),
        ("Is it loud?", "How does a heat pump work?", "Is the heat pump loud?"),
        ("When was it built?", "Who designed the Sydney Opera House?", "When was the Sydney Opera House built?"),
        ("Und was kosten sie?", "Wie zuverlässig sind Wärmepumpen?", "Was kosten Wärmepumpen?"),
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
    assert understood("Who installs them?", [RELIABLE, "And what do they cost?"]) == "Who installs heat pumps?"


@pytest.mark.parametrize(
    ("message", "last"),
    [
        ("How reliable are heat pumps? And what do they cost?", "What do heat pumps cost?"),
        ("What does a heat pump cost? How long does it last?", "How long does the heat pump last?"),
    ],
)
def test_each_part_of_one_message_says_what_it_is_about(message, last):
    (question,) = questions(message)

    assert draft(question, "en", 4)[-1].questions == (last,)
