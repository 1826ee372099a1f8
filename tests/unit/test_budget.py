"""Nested budgets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.core.budget import Budget, Limits, Usage
from agents.core.errors import BudgetExceeded
from agents.core.time_policy import synthesis_reserve_s


@pytest.mark.parametrize(("total", "reserve"), [(None, 90.0), (300.0, 90.0), (200.0, 60.0), (60.0, 18.0), (6.0, 1.8)])
def test_the_reserve_is_a_third_at_most_and_never_over_ninety_seconds(total, reserve):
    assert synthesis_reserve_s(total) == pytest.approx(reserve)


def test_what_a_leaf_spends_is_spent_by_all_above():
    job = Budget(Limits(tokens=100), name="job")
    leaf = job.share(Limits(), name="node", elapsed_s=0).share(Limits(tokens=90), name="leaf", elapsed_s=0)
    leaf.charge(Usage(tokens_in=30, tokens_out=10))
    assert (job.tokens_left(), leaf.tokens_left()) == (60, 50)


def test_a_child_never_has_more_than_its_parent():
    job = Budget(Limits(seconds=10, tokens=10), name="job")
    child = job.share(Limits(seconds=100, tokens=100), name="child", elapsed_s=4)
    assert child.seconds_left(4) == 6
    assert child.tokens_left() == 10


def test_time_left_is_never_negative_and_unlimited_is_none():
    assert Budget(Limits(seconds=5), name="job").seconds_left(9) == 0
    assert Budget(Limits(), name="job").seconds_left(9) is None


@pytest.mark.parametrize(
    ("limits", "usage", "what"),
    [
        (Limits(tokens=10), Usage(tokens_in=10), "token"),
        (Limits(cost_usd=1), Usage(cost_usd=1.2), "cost"),
        # What is known of a cost counts, whatever else it took.
        (Limits(cost_usd=1), Usage(cost_usd=0.6) + Usage(cost_usd=None) + Usage(cost_usd=0.6), "cost"),
        (Limits(cost_usd=1), Usage(cost_usd=None, partly_usd=0.6) + Usage(cost_usd=0.6), "cost"),
    ],
)
def test_a_limit_that_ran_out_is_named(limits, usage, what):
    job = Budget(limits, name="job")
    leaf = job.share(Limits(), name="leaf", elapsed_s=0)
    leaf.charge(usage)
    with pytest.raises(BudgetExceeded, match=what) as caught:
        leaf.check_spending()
    assert caught.value.what == what


def test_an_unknown_cost_makes_the_sum_unknown_rather_than_zero():
    assert (Usage(cost_usd=1.0) + Usage(cost_usd=None)).cost_usd is None


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 50)), max_size=30))
def test_a_parent_has_spent_the_sum_of_its_children(charges):
    job = Budget(Limits(), name="job")
    children = [job.share(Limits(), name=str(n), elapsed_s=0) for n in range(3)]
    for which, tokens in charges:
        children[which].charge(Usage(tokens_in=tokens))
    assert job.spent.tokens == sum(child.spent.tokens for child in children)
