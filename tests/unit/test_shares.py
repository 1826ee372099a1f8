"""Fair shares of time and tokens: nothing beyond what is left, unused time flows on, a plan may only narrow."""

from hypothesis import given
from hypothesis import strategies as st

from agents.core.budget import Limits
from agents.core.time_policy import round_limits
from agents.research.planning.flat_plan import Allowance, Grant

seconds = st.floats(0, 5_000)
tokens = st.integers(0, 10**6)


def test_a_round_leaves_time_for_those_after_it_and_the_last_takes_all():
    left = (300.0, 210.0, 1000)
    assert round_limits(*left, 4, last=False) == Limits(seconds=90 + 126.0, tokens=250)
    assert round_limits(*left, 4, last=True).seconds == 300


def test_what_a_round_did_not_use_goes_to_the_next():
    quick, slow = (290.0, 200.0, None), (170.0, 80.0, None)
    assert round_limits(*quick, 1, last=False).seconds > round_limits(*slow, 1, last=False).seconds


def test_late_rounds_still_have_time_for_collecting():
    """What is kept for writing is not shared: with little left, a round gets a part of that little, not nothing."""
    left = (100.0, 10.0, None)
    assert round_limits(*left, 3, last=False).seconds == 96.0


def test_without_limits_there_are_none():
    assert round_limits(None, None, None, 3, last=False) == Limits()


@given(seconds, seconds, tokens, st.integers(1, 20), st.booleans())
def test_shares_never_exceed_what_is_left(whole, reserve, left_tokens, children, last):
    left = (whole, max(0.0, whole - reserve), left_tokens)
    share = round_limits(*left, children, last=last)
    assert share.seconds is not None
    assert share.seconds <= whole + 1e-6
    assert share.tokens is not None
    assert share.tokens <= max(1, left_tokens)


async def test_leaves_of_a_later_round_share_the_sources_that_are_left_and_planned_ones_come_in_their_order():
    run = Allowance(searches=20, sources=15)
    assert [(await run.grant(f"job/0/{n}", 1, 8, 1)).sources for n in range(2)] == [8, 7]

    for n in range(2):
        run.note(f"job/0/{n}", Grant(searches=1, sources=0), [f"https://a.example/{n}/{page}" for page in range(4)])

    assert [(await run.grant(f"job/0/r2-{n}", 1, 4, 2)).sources for n in range(3)] == [3, 2, 2]
    assert await run.grant("job/0/r3-0", 1, 4, 0) == Grant(searches=1, sources=0)


async def test_what_a_branch_did_not_use_is_there_for_the_next():
    run = Allowance(searches=4, sources=6)
    await run.grant("job/0/0", 4, 6, 0)
    assert not (await run.grant("job/0/1", 1, 4, 0)).enough(1)

    run.note("job/0/0", Grant(searches=1, sources=0), ["https://a.example/1", "https://a.example/2"])

    assert await run.grant("job/0/2", 1, 4, 0) == Grant(searches=1, sources=4)


async def test_claims_share_the_searches_that_are_left_and_the_sources_when_it_is_known_who_found_any():
    run = Allowance(searches=5, sources=3)
    paths = [f"job/0/challenge-0/claim-c{n}" for n in range(4)]
    assert [(await run.grant(path, 2, 0, 3)).searches for path in paths] == [2, 1, 1, 1]
    assert (await run.grant("job/0/challenge-0/claim-c4", 2, 0, 3)).searches == 0

    a, b, c, d = (f"https://{letter}.example/" for letter in "abcd")
    found = [(), (a, b), (a, c), (d, c, b)]

    # One that finds nothing new leaves its part to the others; what another took costs nothing more.
    assert [(await run.choose(path, urls, 3)).urls for path, urls in zip(paths, found, strict=True)] == [
        (), (a,), (a, c), (d, c),
    ]  # fmt: skip
