"""Small strict patterns for editing a draft by talking."""

import pytest

from agents.chat.edits import Edit, edited, picked, read_edit
from agents.chat.steer_words import asks_for_progress, steering
from agents.core.errors import BadRequest
from agents.research.scoping.turn import Scope
from tests.scripts import QUERY

READ = [
    ("drop query 2", Edit(drop=(2,))),
    ("Please remove question 1.", Edit(drop=(1,))),
    ("drop query 1 and drop query 3", Edit(drop=(1, 3))),
    ("deep", Edit(mode="deep")),
    ("Standard mode", Edit(mode="standard")),
    ("make it deep", Edit(mode="deep")),
    ("--deep --time 10", None),
    ("time 10", Edit(minutes=10.0, time_given=True)),
    ("--time 10", Edit(minutes=10.0, time_given=True)),
    ("take 2,5 minutes", Edit(minutes=2.5, time_given=True)),
    ("unlimited", Edit(minutes=None, time_given=True)),
    ("15 min please", Edit(minutes=15.0, time_given=True)),
    ("only domain who.int", Edit(domains=("who.int",))),
    ("only domains a.org, b.co.uk and c.net", Edit(domains=("a.org", "b.co.uk", "c.net"))),
    ("exclude domain example.com", Edit(exclude_domains=("example.com",))),
    ("without x.com, y.com", Edit(exclude_domains=("x.com", "y.com"))),
    ("language German", Edit(language="de")),
    ("write in French", Edit(language="fr")),
    ("2019 to 2024", Edit(date_from="2019-01-01", date_to="2024-12-31")),
    ("since 2020", Edit(date_from="2020-01-01")),
    ("deep, 10 minutes, in German", Edit(mode="deep", minutes=10.0, time_given=True, language="de")),
]


@pytest.mark.parametrize(("text", "edit"), READ)
def test_a_plain_edit_is_read(text, edit):
    assert read_edit(text) == edit


@pytest.mark.parametrize(
    "text",
    [
        "",
        "10",
        "2",
        "2020",
        "drop it",
        "how deep is the bay",
        "is it deep?",
        "deep water and its fish",
        "in Atlantis",
        "10 minutes is too long for me",
        "only the costs",
        "time",
        "the standard of living since 2020",
        "drop query",
        "a.org",
        "deep, and what about fish",
        "in German, and compare it with France",
        "without doubt",
    ],
)
def test_what_could_mean_something_else_is_left_to_the_manager(text):
    assert read_edit(text) is None


def test_a_time_out_of_bounds_is_said():
    with pytest.raises(BadRequest, match="at most 1440"):
        read_edit("2000 minutes")


def test_several_queries_are_dropped_by_the_numbers_they_had():
    queries = tuple(QUERY.model_copy(update={"text": f"{n}?"}) for n in (1, 2, 3))
    scope = edited(Scope(queries=queries), Edit(drop=(1, 2)))
    assert [query.text for query in scope.queries] == ["3?"]


@pytest.mark.parametrize("text", ["0", "3", "1 and 9", "1 or 2", "one", "1.5", "-1", ""])
def test_a_number_that_names_nothing_picks_nothing(text):
    assert picked(text, ("a?", "b?")) is None


def test_picking_the_same_twice_is_picking_it_once():
    assert picked("2, 2", ("a?", "b?")) == "b?"


@pytest.mark.parametrize("text", ["stop", "STOP", " Stop! ", "cancel the run", "abbrechen", "arrête", "detener"])
def test_a_short_word_stops(text):
    assert steering(text) == "stop"


@pytest.mark.parametrize("text", ["finish", "Finish now.", "write now", "jetzt schreiben", "terminar"])
def test_a_short_word_finishes(text):
    assert steering(text) == "finish"


@pytest.mark.parametrize("text", ["don't stop", "stop?", "stop the boats", "finish the sentence", "", "go on"])
def test_other_words_steer_nothing(text):
    assert steering(text) is None


@pytest.mark.parametrize("text", ["use newer sources", "thanks", "prefer gauges"])
def test_a_statement_asks_for_no_progress(text):
    assert not asks_for_progress(text)
