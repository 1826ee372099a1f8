"""The table of effects stays true: each stands where it says, and a few are taken away for real."""

import pytest

from tests.bench.mutations import DOCUMENT, HEADING, MUTATIONS, caught, copied, mutated
from tests.conftest import ROOT

REALLY = (
    "S0 FR-2: the cap on rounds ends the loop",
    "S2 FR-02: near-duplicates are dropped",
    "Spec 3: only the phrase starts work",
)


def test_there_are_sixty_effects_and_more_and_each_has_a_name_of_its_own():
    assert len(MUTATIONS) >= 60
    assert len({one.requirement for one in MUTATIONS}) == len(MUTATIONS)


@pytest.mark.parametrize("one", MUTATIONS, ids=lambda one: one.requirement)
def test_what_would_be_taken_away_stands_where_the_table_says(one):
    text = (ROOT / "agents" / one.file).read_text("utf-8")
    assert mutated(text, one) != text
    assert (ROOT / "tests" / one.test.partition("::")[0]).exists()
    assert f"| {one.requirement} | `{one.file}` |" in DOCUMENT.read_text("utf-8").partition(HEADING)[2]


def test_taking_an_effect_away_is_noticed(tmp_path):
    tree = copied(tmp_path)
    for one in MUTATIONS:
        if one.requirement in REALLY:
            assert caught(one, tree), one.requirement
