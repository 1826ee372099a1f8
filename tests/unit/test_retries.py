"""Retry tracking: three failures, siblings that fail alike, branches that are merged."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.contracts.plan import RetryEntry
from agents.research.loop.success import Retries

URL = "https://orvane.example/ferry"


def failed(*keys, signature="", branch=""):
    retries = Retries()
    for key in keys:
        retries = retries.failed(key, signature, branch)
    return retries


def test_three_failures_exhaust_a_key_and_not_two():
    """S0 FR-4, acceptance criterion 5: three failed attempts, then not again."""
    assert failed("sq-1", "sq-1").allows("sq-1")

    retries = failed("sq-1", "sq-1", "sq-1")

    assert retries.status("sq-1") == "exhausted"
    assert not retries.allows("sq-1")
    assert retries.exhausted() == ("sq-1",)


def test_addresses_are_tracked_like_sub_questions():
    """S0 FR-4: each sub-question and each URL."""
    assert failed(URL, URL, URL).status(URL) == "exhausted"


def test_success_outweighs_failures_before_and_after():
    retries = failed("q", "q").completed("q")

    assert (retries.status("q"), retries.attempts("q")) == ("complete", 2)
    assert not retries.allows("q")
    assert retries.failed("q").status("q") == "complete"


def test_all_keys_are_listed_with_their_attempts_and_status():
    """S0 FR-4 and TR-2: what the report's retry tracking is made of."""
    retries = failed("sq-1", "sq-1", "sq-2", "sq-2", "sq-2", "sq-3").completed("sq-1")

    assert retries.as_entries() == (
        RetryEntry(key="sq-1", attempts=2, status="complete"),
        RetryEntry(key="sq-2", attempts=3, status="exhausted"),
        RetryEntry(key="sq-3", attempts=1, status="pending"),
    )


def test_a_fourth_sibling_is_spared_the_failure_of_three():
    two = failed("a", "b", signature="HTTP 403 on orvane.example")
    three = two.failed("c", "HTTP 403 on orvane.example")

    assert not two.hopeless("HTTP 403 on orvane.example")
    assert three.hopeless("HTTP 403 on orvane.example")
    assert not three.hopeless("timeout")


def test_one_key_that_fails_alike_three_times_says_nothing_about_its_siblings():
    assert not failed("a", "a", "a", signature="timeout").hopeless("timeout")


def test_failures_without_a_signature_make_nothing_hopeless():
    assert not failed("a", "b", "c", "d").hopeless("")


def test_failures_of_parallel_branches_add_up():
    merged = failed("q", "q", branch="job/0").merge(failed("q", branch="job/1"))

    assert merged.status("q") == "exhausted"


def test_merging_what_is_known_already_counts_nothing_twice():
    base = failed("q", branch="job/0")

    assert base.merge(base.failed("r")).attempts("q") == 1


EVENTS = st.lists(st.tuples(st.sampled_from("fc"), st.sampled_from("pqr"), st.sampled_from(["", "s", "t"])), max_size=8)


def replay(events, branch):
    retries = Retries()
    for what, key, signature in events:
        if what == "f":
            retries = retries.failed(key, signature, branch)
        else:
            retries = retries.completed(key)
    return retries


@given(EVENTS, EVENTS, EVENTS)
@settings(max_examples=60, deadline=None)
def test_the_order_of_merging_makes_no_difference(left, middle, right):
    a, b, c = replay(left, "a"), replay(middle, "b"), replay(right, "c")

    assert a.merge(b) == b.merge(a)
    assert a.merge(b).merge(c) == a.merge(b.merge(c))
    assert a.merge(a) == a
    assert a.merge(b).as_entries() == b.merge(a).as_entries()


def test_retries_survive_being_stored():
    retries = failed("q", URL, signature="timeout").completed("q")

    assert Retries.model_validate_json(retries.model_dump_json()) == retries


@pytest.mark.parametrize("act", [Retries().failed, Retries().completed, Retries().status])
def test_an_empty_key_is_refused(act):
    with pytest.raises(ValueError, match="never empty"):
        act("  ")
