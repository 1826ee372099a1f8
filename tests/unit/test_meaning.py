"""The table of meanings: what points the same way, and what it must not be asked."""

import subprocess
import sys

import pytest

from agents.nlp.similarity import DIMENSIONS, closeness, direction

SAYING = "The doctor treated her patients for free."


@pytest.mark.parametrize(
    ("near", "far"),
    [
        ("The physician cared for the ill without payment.", "The train to the coast was late again."),
        ("A medic gave treatment at no charge.", "Copper was mined in the hills until 1912."),
    ],
)
def test_other_words_for_the_same_point_nearer_than_another_matter(near, far):
    asked = direction(SAYING)
    assert closeness(asked, direction(near)) > closeness(asked, direction(far)) + 0.1


def test_a_direction_is_a_small_thing_of_one_size():
    assert len(direction(SAYING)) == DIMENSIONS
    assert closeness(direction(SAYING), direction(SAYING)) == pytest.approx(1.0)
    assert direction(SAYING) == direction("THE DOCTOR TREATED HER PATIENTS FOR FREE.")


@pytest.mark.parametrize("text", ["", "   ", "湖の水位は下がった", "x" * 5_000])
def test_what_the_table_does_not_hold_has_no_direction_and_is_near_to_nothing(text):
    assert direction(text) == b""
    assert closeness(direction(text), direction(SAYING)) == 0.0


def test_accents_and_odd_signs_do_no_harm():
    assert closeness(direction("café naïve"), direction("cafe naive")) == pytest.approx(1.0)
    assert direction("\x00\ud800 café \U0001f600")


def test_the_table_is_read_on_first_use_and_not_at_import():
    code = (
        "import agents.search.index, agents.nlp.similarity as m; assert m._loaded.cache_info().currsize == 0;"
        "m.direction('x'); assert m._loaded.cache_info().currsize == 1"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
