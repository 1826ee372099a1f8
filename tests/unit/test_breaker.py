"""The circuit breaker of searches."""

import pytest

from agents.research.loop.search_breaker import Breaker


def after(results, breaker=None):
    breaker = breaker or Breaker()
    for result in results:
        breaker = breaker.record(result == "+")
    return breaker


@pytest.mark.parametrize(
    ("results", "state"),
    [
        ("", "closed"),
        ("--", "closed"),
        ("---", "open"),
        ("+--", "closed"),
        ("+-+-", "open"),
        ("++-+-", "closed"),
        ("++---", "open"),
        ("++--+", "open"),
        ("+++++--", "closed"),
        ("++++++++---", "open"),
    ],
)
def test_three_in_a_row_or_half_of_at_least_four_open_it(results, state):
    """S1 10.3: three consecutive failures, or half of all failing; from four searches on."""
    breaker = after(results)

    assert (breaker.state, breaker.degraded, breaker.allows) == (state, state == "open", state == "closed")


def test_it_recovers_when_the_search_let_through_succeeds():
    breaker = after("---").probe()

    assert breaker.allows
    assert breaker.record(True).state == "closed"


def test_a_recovered_run_still_tells_that_it_was_degraded_and_starts_counting_anew():
    """S1 10.3: degraded_mode stays set for the synthesis."""
    breaker = after("---").probe().record(True)

    assert breaker.degraded
    assert after("--", breaker).state == "closed"
    assert after("---", breaker).state == "open"


def test_it_opens_again_when_the_search_let_through_fails():
    assert after("---").probe().record(False).state == "open"


def test_a_success_that_arrives_late_does_not_close_it():
    assert after("---+").state == "open"


def test_only_an_open_breaker_is_probed():
    assert Breaker().probe() == Breaker()


def test_it_says_how_the_searches_stand():
    assert after("---").explain() == "Searching is suspended: 3 of 3 searches failed, 3 of them in a row."
    assert after("---").probe().explain().startswith("Searching is being tried again")
    assert after("+").explain() == "Searching works: 0 of 1 searches failed."
    assert after("---").probe().record(True).explain().startswith("Searching works, after an interruption")


def test_it_survives_being_stored():
    breaker = after("+--")

    assert Breaker.model_validate_json(breaker.model_dump_json()) == breaker
