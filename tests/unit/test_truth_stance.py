"""What a fact says to a claim."""

import pytest

from agents.verify.checks import stance


@pytest.mark.parametrize(
    ("claim", "fact", "expected"),
    [
        ("The line was closed on 12 days.", "The line was closed on twelve days in 2023.", "supports"),
        ("The line was closed on 12 days.", "The line was closed on 41 days.", "contradicts"),
        ("The rule lowers emissions.", "The rule does not lower emissions.", "contradicts"),
        ("The rule lowers emissions.", "The rule may lower emissions.", "qualifies"),
        ("The rule lowers emissions.", "One more winter is needed before the rule's effect on emissions can be told.", "qualifies"),
        ("The rule lowers emissions.", "The museum opened in May.", "unrelated"),
        ("All sites failed.", "Two of the three sites failed.", "contradicts"),
    ],
)  # fmt: skip
def test_a_stance_is_judged_from_the_words(claim, fact, expected):
    assert stance(claim, fact).stance == expected


def test_what_only_signs_tell_stays_weak():
    judged = stance("The company was founded in Amsterdam by two friends.", "The company was founded in Stockholm.")

    assert judged.stance == "contradicts"
    assert judged.strength < 0.5


def test_nothing_to_compare_is_unrelated():
    assert stance("The line was closed.", "").stance == "unrelated"
