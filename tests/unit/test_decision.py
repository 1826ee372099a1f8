"""The loop decision: every reason to stop, their order, and what is stored."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.contracts.finding import Finding
from agents.contracts.plan import ReflectionResponse, RetryState
from agents.research.loop.loop_decision import MAX_GAPS, decide
from agents.research.loop.node import graded

URL = "https://orvane.example/ferry"


def reflected(sufficient=False, gaps=("closures before 1988",), queries=("Orvane closures 1987",)):
    return ReflectionResponse(sufficient=sufficient, confidence=0.4, gaps=gaps, new_queries=queries)


def decided(**given):
    usual = {
        "iteration": 1,
        "max_iterations": 3,
        "reflection": reflected(),
        "left_s": 200.0,
        "reserve_s": 90.0,
        "retries": {},
        "criteria_met": False,
        "novelty": 0.5,
        "novelty_threshold": 0.15,
        "early_termination": True,
        "finishing": False,
        "summary": "Twelve days were found.",
    }
    return decide(**(usual | given))


def exhausted(*keys):
    return {key: RetryState(attempts=3, status="exhausted") for key in keys}


STOPS = [
    pytest.param({"reflection": reflected(sufficient=True)}, "sufficient", "", id="sufficient"),
    pytest.param({"reflection": reflected(gaps=())}, "no_gaps", "", id="no gaps"),
    pytest.param({"left_s": 89.0}, "time", "#TIME_LIMIT", id="time"),
    pytest.param({"iteration": 3}, "iterations", "#ITERATION_LIMIT", id="iterations"),
    pytest.param({"retries": exhausted("closures before 1988")}, "exhausted", "#RETRY_EXHAUSTED", id="exhausted"),
    pytest.param({"criteria_met": True}, "criteria", "", id="criteria"),
    pytest.param({"novelty": 0.1}, "novelty", "#EARLY_STOP", id="novelty"),
    pytest.param({"finishing": True}, "finishing", "", id="finishing"),
]


def test_open_gaps_and_budget_left_mean_another_round():
    """S0 FR-3: the exact JSON, every key present."""
    found = decided(left_s=138.0, reflection=reflected(gaps=("closures before 1988", f"see {URL}.")))

    assert json.loads(found.decision.model_dump_json()) == {
        "iteration": 1,
        "summary": "Twelve days were found.",
        "gaps": ["closures before 1988", f"see {URL}."],
        "shouldContinue": True,
        "nextSearchTopic": "Orvane closures 1987",
        "urlToSearch": URL,
        "timeRemainingMinutes": 2.3,
    }
    assert (found.cause, found.tag) == ("continue", "")


@pytest.mark.parametrize(("given_", "cause", "tag"), STOPS)
def test_every_reason_stops_the_loop_with_its_tag(given_, cause, tag):
    """S0 FR-3, TR-2, acceptance criteria 6 and 7; S1 4.2: sufficiency is the primary stop; S2 FR-07."""
    found = decided(**given_)

    assert not found.decision.shouldContinue
    assert (found.cause, found.tag) == (cause, tag)
    assert (found.decision.nextSearchTopic, found.decision.urlToSearch) == (None, None)
    assert found.reason.endswith(".")


@pytest.mark.parametrize("first", range(len(STOPS)))
def test_of_several_reasons_the_first_in_the_specified_order_is_recorded(first):
    together = {}
    for stop in reversed(STOPS[max(first, 1) :]):
        together |= stop.values[0]
    if first == 0:
        together["reflection"] = reflected(sufficient=True)

    assert decided(**together).cause == STOPS[first].values[1]


def test_the_iteration_cap_holds_even_if_gaps_remain():
    """S0 FR-2: stop and synthesize when the cap is reached."""
    assert [decided(iteration=n, max_iterations=7).decision.shouldContinue for n in (6, 7, 8)] == [True, False, False]


def test_the_reserve_is_kept_for_writing():
    """S0 FR-1, FR-3: continue while at least the reserve is left."""
    assert decided(left_s=90.0).decision.shouldContinue
    assert decided(left_s=89.99).cause == "time"


def test_unlimited_time_is_null_and_leaves_the_cap_alone_to_bind():
    """S0 acceptance criterion 3: `--time unlimited` relies on the iteration cap only."""
    found = decided(left_s=None)

    assert found.decision.shouldContinue
    assert found.decision.timeRemainingMinutes is None
    assert decided(left_s=float("inf")).decision.timeRemainingMinutes is None
    assert decided(left_s=None, iteration=3).cause == "iterations"


@pytest.mark.parametrize("left", [-5.0, 0.0, float("nan"), float("-inf")])
def test_a_clock_that_jumped_leaves_no_time_and_no_negative_minutes(left):
    found = decided(left_s=left)

    assert (found.cause, found.decision.timeRemainingMinutes) == ("time", 0.0)


def test_a_gap_that_merely_rewords_an_exhausted_question_is_exhausted():
    """S0 TR-2: all remaining gaps are exhausted; case C34: reworded for ever."""
    found = decided(
        reflection=reflected(gaps=("closures of the Orvane ferry",)), retries=exhausted("Orvane ferry closures")
    )

    assert found.cause == "exhausted"


def test_one_open_gap_beside_exhausted_ones_goes_on_with_what_is_worth_trying():
    retries = exhausted("Orvane ferry closures", URL)
    asked = reflected(
        gaps=("Orvane ferry closures", "price of a ticket", URL),
        queries=("closures of the Orvane ferry", URL, "tickets"),
    )

    found = decided(reflection=asked, retries=retries).decision

    assert (found.shouldContinue, found.nextSearchTopic, found.urlToSearch) == (True, "tickets", None)


def test_a_reflector_without_queries_is_held_to_its_first_gap():
    assert decided(reflection=reflected(queries=())).decision.nextSearchTopic == "closures before 1988"


def test_a_gap_that_is_an_address_is_fetched_not_searched():
    found = decided(reflection=reflected(gaps=(URL,), queries=())).decision

    assert (found.nextSearchTopic, found.urlToSearch) == (None, URL)


def test_no_gap_is_left_only_where_the_phase_has_what_it_wanted():
    said = {met: decided(reflection=reflected(gaps=()), criteria_met=met).reason for met in (True, False)}

    assert said[True] == "No gap is left."
    assert "criteria of the phase are not met" in said[False]


def test_blank_and_repeated_gaps_are_no_gaps():
    assert decided(reflection=reflected(gaps=("", " \n"))).cause == "no_gaps"
    assert decided(reflection=reflected(gaps=("A gap", "a  GAP"))).decision.gaps == ("A gap",)


def test_low_novelty_is_ignored_where_early_termination_is_off_or_nothing_was_measured():
    """S2 FR-08."""
    assert decided(novelty=0.0, early_termination=False).decision.shouldContinue
    assert decided(novelty=None).decision.shouldContinue


def test_an_early_stop_says_score_and_threshold():
    """S2 FR-12."""
    reason = decided(novelty=0.1).reason

    assert "0.10" in reason
    assert "0.15" in reason


def test_a_failed_reflection_ends_the_loop_and_a_better_reason_wins():
    """Specification section 11: a failed reflection ends the loop."""
    found = decided(reflection=None)

    assert (found.decision.shouldContinue, found.cause, found.decision.gaps) == (False, "no_reflection", ())
    assert decided(reflection=None, left_s=1.0).tag == "#TIME_LIMIT"


def test_a_model_that_always_wants_more_is_stopped_by_the_cap():
    """S0 FR-2; case C34."""
    rounds = 0
    for iteration in range(1, 1_000):
        rounds = iteration
        asked = reflected(gaps=tuple(f"gap {iteration}.{n}" for n in range(3)), queries=(f"more {iteration}",))
        if not decided(iteration=iteration, max_iterations=7, left_s=None, reflection=asked).decision.shouldContinue:
            break

    assert rounds == 7


def test_a_flood_of_gaps_is_cut_to_what_can_be_judged():
    asked = reflected(gaps=tuple(f"gap {n} " + "x" * 5_000 for n in range(5_000)))

    assert len(decided(reflection=asked).decision.gaps) == MAX_GAPS


@given(
    st.booleans(),
    st.lists(st.text(max_size=8), max_size=3),
    st.one_of(st.none(), st.floats()),
    st.integers(1, 9),
    st.booleans(),
)
def test_a_decision_can_always_be_stored_and_only_continues_within_every_bound(sufficient, gaps, left, round_, finish):
    found = decided(
        reflection=reflected(sufficient, tuple(gaps), ("q",)), left_s=left, iteration=round_, finishing=finish
    )

    stored = json.loads(json.dumps(found.decision.model_dump(), allow_nan=False))
    assert set(stored) == {
        "iteration",
        "summary",
        "gaps",
        "shouldContinue",
        "nextSearchTopic",
        "urlToSearch",
        "timeRemainingMinutes",
    }
    if found.decision.shouldContinue:
        assert not sufficient
        assert not finish
        assert round_ < 3
        assert left is None or left >= 90.0


@pytest.mark.parametrize(
    ("below", "status"),
    [
        (("done", "done"), "done"), (("failed", "failed"), "failed"), (("empty", "failed"), "empty"),
        (("stopped", "failed"), "stopped"), (("done", "empty"), "partial"),
    ],
)  # fmt: skip
def test_an_executor_ends_as_its_branches_did(below, status):
    leaves = [Finding(path=f"job/0/{n}", title="A", role="leaf", status=one) for n, one in enumerate(below)]

    assert graded(tuple(leaves))[0] == status
