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


def test_another_figure_in_a_text_about_half_the_same_is_a_weak_sign():
    judged = stance("The old harbour of Telmar handled 400 ships.", "The harbour has 900 ships and a school.")

    assert (judged.stance, judged.strength < 0.5) == ("contradicts", True)


@pytest.mark.parametrize(
    "fact",
    [
        "No evidence shows that vitamin C cures colds.",
        "There is no evidence that vitamin C cures colds.",
        "It is unclear whether vitamin C cures colds.",
        "No study has shown that vitamin C cures colds.",
    ],
)
def test_a_lack_of_evidence_supports_nothing(fact):
    assert stance("Vitamin C cures colds.", fact).stance in {"qualifies", "contradicts"}


def test_nothing_to_compare_is_unrelated():
    assert stance("The line was closed.", "").stance == "unrelated"
