"""Near-duplicate topics: what counts as a repeat, what never does, and what is kept of both."""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.research.loop.topics import Dispatched, Topics, repeated
from tests.conftest import DATA

PAIRS = [
    json.loads(line)
    for line in (Path(__file__).parent.parent / "data" / "topic_pairs.jsonl").read_text("utf-8").splitlines()
]
DISTINCT = [pair for pair in PAIRS if not pair["same"]]
REPEATS = [pair for pair in PAIRS if pair["same"] and pair["kind"] in {"repeat", "C42"}]
TOPICS = st.text(alphabet="abé ß1中の,'A-", max_size=30)


def test_there_are_enough_labelled_pairs_of_every_kind():
    kinds = Counter(pair["kind"] for pair in PAIRS)

    assert len(PAIRS) >= 60
    assert {"repeat", "C42", "number", "letter", "name", "order", "polarity", "population", "compound"} <= set(kinds)


@pytest.mark.parametrize("pair", DISTINCT, ids=lambda pair: f"{pair['kind']}: {pair['a'][:40]}")
def test_no_distinct_topic_is_ever_dropped(pair):
    """S2 FR-02 and its risk of false positives; specification section 5."""
    assert not repeated(pair["a"], [pair["b"]])
    assert not repeated(pair["b"], [pair["a"]])


def test_at_least_four_in_five_word_level_repeats_are_caught():
    """S2 FR-02."""
    missed = [pair["a"] for pair in REPEATS if not repeated(pair["b"], [pair["a"]])]

    assert len(missed) <= 0.2 * len(REPEATS), missed


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair["kind"] == "C42"], ids=lambda pair: pair["b"])
def test_scripts_without_spaces_and_from_right_to_left_are_compared(pair):
    """Case C42, its rows on near-duplicate topics."""
    assert bool(repeated(pair["b"], [pair["a"]])) is pair["same"]


def test_eighty_per_cent_overlap_is_a_repeat_at_the_default_threshold():
    """S2 FR-10: 0.75 by default; two topics that share 80 % of their words."""
    assert "80% of their words" in repeated("solar panel recycling plant capacity", ["solar panel recycling plant"])


def test_overlap_at_the_threshold_itself_is_a_repeat():
    """S2 FR-10."""
    assert repeated("wind turbine noise limits", ["wind turbine noise"], threshold=0.75)
    assert not repeated("wind turbine noise limits", ["wind turbine noise"], threshold=0.76)


def test_shared_domain_vocabulary_is_no_repeat():
    """S2, its first-named risk: training data and training speed."""
    assert not repeated("machine learning training speed", ["machine learning training data"])


def test_the_explanation_of_a_repeat_names_both_topics_and_the_threshold():
    """S2 FR-02: the explanation of the duplication; FR-12 in its spirit."""
    assert repeated("recycling of batteries from cars", ["tidal power", "car battery recycling"]) == (
        "“recycling of batteries from cars” repeats “car battery recycling”: "
        "100% of their words are shared (threshold 75%)."
    )


def test_a_repeat_is_found_behind_a_closer_topic_that_differs_in_a_number():
    known = ["ferry closures winter 2023", "ferry closures winter 2022"]

    assert known[1] in repeated("closures of the ferry, winter 2022", known)


def test_writing_everything_large_or_small_makes_no_difference():
    assert repeated("ORVANE FERRY CLOSURE DAYS", ["orvane ferry closure days"])


def test_a_short_topic_is_read_in_the_likely_language_unless_its_own_words_tell_another():
    assert not repeated("kleine Batterie", ["kleinen Batterien"])
    assert repeated("kleine Batterie", ["kleinen Batterien"], language="de")
    assert repeated("the recycling of batteries", ["recycling of a battery"], language="de")


def test_empty_and_wordless_topics_are_survived():
    assert not repeated("", ["heat pumps"])
    assert not repeated("  ", [])
    assert repeated("???", ["???"])
    assert not repeated("???", ["!!!"])
    assert not repeated("heat pumps", [""])


def test_huge_topics_are_survived():
    assert repeated("wort " * 100_000, ["wort " * 100_000])
    assert repeated("中" * 100_000, ["中" * 100_000])
    assert len(repeated("word " * 100_000, ["word " * 100_000])) < 1_000


@given(TOPICS, TOPICS)
def test_comparing_is_symmetric_and_a_topic_repeats_itself(one, other):
    assert bool(repeated(one, [other])) == bool(repeated(other, [one])) or not (one.strip() and other.strip())
    if one.strip():
        assert repeated(one, [one])


def test_dispatched_topics_are_recorded_before_their_children_start_and_never_lost():
    """S2 FR-01: every dispatched topic is tracked; the ledger only grows."""
    first = Topics().add("heat pumps")
    second = first.add("boilers")

    assert first.dispatched == ("heat pumps",)
    assert second.dispatched == ("heat pumps", "boilers")


def test_repeats_are_skipped_before_the_bound_on_children_applies():
    """S2 FR-02, FR-11 and its constraint: filtering comes before the concurrency cap."""
    ledger = Topics().add("heat pumps in old houses")
    proposed = (
        "old houses: heat pumps",
        "tidal power",
        " ",
        "the tidal power",
        "wind noise",
        "bird song",
        "birds' song",
    )

    admitted = ledger.admit(proposed, at_most=2)

    assert admitted.chosen == ("tidal power", "wind noise")
    assert admitted.waiting == ("bird song",)
    assert admitted.known == ("heat pumps in old houses", "tidal power", "wind noise")
    assert [one.topic for one in admitted.skipped] == ["old houses: heat pumps", "the tidal power"]
    assert "tidal power" in admitted.skipped[1].explanation


def test_the_ledger_explains_what_it_skipped():
    """S2 FR-11: rejected topics are visible for inspection."""
    admitted = Topics().admit(("heat pumps", "the heat pump"))

    assert admitted.chosen == ("heat pumps",)
    assert "“the heat pump” repeats “heat pumps”" in admitted.skipped[0].explanation


def test_the_ledger_survives_being_stored():
    ledger = Topics(language="de").add("Wärmepumpen")
    admitted = ledger.admit(("die Wärmepumpe",))

    assert Topics.model_validate_json(ledger.model_dump_json()) == ledger
    assert Dispatched.model_validate_json(admitted.model_dump_json()) == admitted
    assert admitted.skipped


def test_endless_rewording_ends_in_repeats_and_never_in_an_error():
    """Case C34: the model words one question anew for ever."""
    ledger = Topics()
    for _ in range(40):
        for text in ("Orvane ferry closures", "closures of the Orvane ferry", "when the Orvane ferry closed"):
            ledger = ledger.add(*ledger.admit((text,), at_most=5).chosen)

    assert ledger.dispatched == ("Orvane ferry closures", "when the Orvane ferry closed")


C42 = [json.loads(line) for line in (DATA / "cases" / "C42" / "near_duplicates.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("row", C42, ids=lambda row: row["b"])
def test_c42_topics_in_scripts_without_spaces_and_from_right_to_left(row):
    """Case C42: its own rows."""
    assert bool(repeated(row["b"], [row["a"]])) is row["duplicate"]
    assert bool(repeated(row["a"], [row["b"]])) is row["duplicate"]
