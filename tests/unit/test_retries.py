"""Retry tracking: three failures, and what several branches noted of the same keys."""

from agents.contracts.plan import RetryEntry, RetryState, added_up
from agents.contracts.report import RetryTracking

URL = "https://orvane.example/ferry"


def noted(*keys, status="pending"):
    """Note one attempt at each key, as branches do."""
    return [RetryEntry(key=key, attempts=int(status != "complete"), status=status) for key in keys]


def test_three_failures_exhaust_a_key_and_not_two():
    """S0 FR-4, acceptance criterion 5: three failed attempts, then not again."""
    assert added_up(noted("sq-1", "sq-1"))["sq-1"].status == "pending"

    tracked = RetryTracking.of(noted("sq-1", "sq-1", "sq-1"))

    assert tracked.subquestions == {"sq-1": RetryState(attempts=3, status="exhausted")}
    assert tracked.total_exhausted == 1


def test_addresses_are_tracked_like_sub_questions():
    """S0 FR-4: each sub-question and each URL."""
    assert added_up(noted(URL, URL, URL))[URL].status == "exhausted"


def test_success_outweighs_failures_before_and_after():
    done = noted("q", status="complete")

    for order in (noted("q", "q", "q") + done, done + noted("q", "q", "q")):
        assert added_up(order) == {"q": RetryState(attempts=3, status="complete")}


def test_all_keys_are_listed_with_their_attempts_and_status():
    """S0 FR-4 and TR-2: what the report's retry tracking is made of; what never failed is not part of it."""
    keys = noted("sq-1", "sq-1", "sq-2", "sq-2", "sq-2", "sq-3") + noted("sq-1", "sq-4", status="complete")

    assert added_up(keys) == {
        "sq-1": RetryState(attempts=2, status="complete"),
        "sq-2": RetryState(attempts=3, status="exhausted"),
        "sq-3": RetryState(attempts=1, status="pending"),
    }


def test_what_was_given_up_untried_is_listed():
    given_up = RetryEntry(key=URL, attempts=0, status="exhausted")

    assert added_up([given_up]) == {URL: RetryState(attempts=0, status="exhausted")}
