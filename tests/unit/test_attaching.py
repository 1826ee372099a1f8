"""Marks that a writer forgot."""

from hypothesis import given
from hypothesis import strategies as st

from agents.report.attaching import attach

FACTS = [
    (1, "The line closed on 12 days.", "The line closed on 12 days."),
    (2, "It cost 3 crowns.", "It cost 3 crowns."),
]


def test_a_sentence_that_is_a_fact_word_for_word_gets_its_number():
    assert attach("The line closed on 12 days. Odd.", FACTS) == "The line closed on 12 days.[f1] Odd."


def test_a_sentence_that_already_cites_is_left_alone():
    text = "The line closed on 12 days.[f2] It cost 3 crowns. [f1]"
    assert attach(text, FACTS) == text


def test_a_sentence_with_another_figure_gets_nothing():
    assert attach("The line closed on 13 days.", FACTS) == "The line closed on 13 days."


@given(
    st.lists(
        st.sampled_from(["The line closed on 12 days.", "It cost 3 crowns.[f2]", "Nothing new.", "- It cost 3 crowns."])
    )
)
def test_attaching_twice_changes_nothing_more(parts):
    once = attach("\n".join(parts), FACTS)
    assert attach(once, FACTS) == once
