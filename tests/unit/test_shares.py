"""Fair shares of time and tokens: nothing beyond what is left, unused time flows on, a plan may only narrow."""

from hypothesis import given
from hypothesis import strategies as st

from agents.contracts.plan import LeafBudget, Phase
from agents.core.budget import Limits
from agents.core.time_policy import PhaseLeft, Remaining, leaf_limits, round_limits

seconds = st.floats(0, 5_000)
tokens = st.integers(0, 10**6)


def test_a_round_leaves_time_for_those_after_it_and_the_last_takes_all():
    left = Remaining(seconds=300.0, collecting=210.0, tokens=1000)
    assert round_limits(left, None, None, 4, last=False) == Limits(seconds=90 + 126.0, tokens=250)
    assert round_limits(left, None, None, 4, last=True).seconds == 300


def test_what_a_round_did_not_use_goes_to_the_next():
    quick, slow = Remaining(290.0, 200.0, None), Remaining(170.0, 80.0, None)
    assert (
        round_limits(quick, None, None, 1, last=False).seconds > round_limits(slow, None, None, 1, last=False).seconds
    )


def test_late_rounds_still_have_time_for_collecting():
    """What is kept for writing is not shared: with little left, a round gets a part of that little, not nothing."""
    left = Remaining(seconds=100.0, collecting=10.0, tokens=None)
    assert round_limits(left, None, None, 3, last=False).seconds == 96.0


def test_a_phase_keeps_to_its_own_budget():
    phase = PhaseLeft(Phase(title="p", seconds=30, tokens=500), elapsed_s=100.0, tokens_spent=1_000)
    assert phase.seconds(110.0) == 20
    assert phase.seconds(200.0) == 0
    assert phase.tokens(1_200) == 300
    left = Remaining(300.0, 210.0, 10_000)
    assert round_limits(left, 20, 300, 3, last=False) == Limits(seconds=110.0, tokens=100)


def test_without_limits_there_are_none():
    assert round_limits(Remaining(None, None, None), None, None, 3, last=False) == Limits()
    assert leaf_limits(Limits(), LeafBudget(), 90.0) == Limits()


def test_a_leafs_seconds_are_for_collecting_also_where_the_job_has_no_limit():
    """A branch takes what is kept for writing off its limit: its own seconds must not vanish in that."""
    kept = Remaining(None, None, None).kept
    assert leaf_limits(Limits(), LeafBudget(seconds=20), kept).seconds == kept + 20


@given(seconds, seconds, tokens, st.integers(1, 20), st.booleans())
def test_shares_never_exceed_what_is_left(whole, reserve, left_tokens, children, last):
    left = Remaining(whole, max(0.0, whole - reserve), left_tokens)
    share = round_limits(left, None, None, children, last=last)
    assert share.seconds is not None
    assert share.seconds <= whole + 1e-6
    assert share.tokens is not None
    assert share.tokens <= max(1, left_tokens)


@given(seconds, seconds, tokens, st.integers(1, 10**9), st.floats(0.1, 1e6))
def test_a_plan_that_promises_more_than_there_is_changes_nothing(whole, reserve, left_tokens, own_tokens, own_seconds):
    left = Remaining(whole, max(0.0, whole - reserve), left_tokens)
    share = round_limits(left, None, None, 2, last=False)
    narrowed = leaf_limits(share, LeafBudget(seconds=own_seconds, tokens=own_tokens), left.kept)
    assert narrowed.seconds <= share.seconds
    assert narrowed.tokens <= share.tokens
