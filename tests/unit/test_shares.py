"""Fair shares of time and tokens: nothing beyond what is left, unused time flows on, a plan may only narrow."""

import asyncio

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


def asked_of(run, path, searches, sources, *, beside=0):
    return run.grant(path, searches, sources, 1, beside)


async def test_leaves_of_a_later_round_share_the_sources_that_are_left_and_planned_ones_come_in_their_order():
    run = Allowance(searches=20, sources=15, in_vain=lambda: 0)
    assert [(await asked_of(run, f"job/0/{n}", 1, 8, beside=1)).sources for n in range(2)] == [8, 7]

    for n in range(2):
        run.note(f"job/0/{n}", Grant(searches=1, sources=0), [f"https://a.example/{n}/{page}" for page in range(4)])
        run.end(f"job/0/{n}")

    assert [(await asked_of(run, f"job/0/r2-{n}", 1, 4, beside=2)).sources for n in range(3)] == [3, 2, 2]
    for n in range(3):
        run.end(f"job/0/r2-{n}")
    assert await asked_of(run, "job/0/r3-0", 1, 4) == Grant(searches=1, sources=0)


async def test_who_finds_all_reserved_waits_until_another_ends_and_is_refused_when_nobody_is_at_work():
    run = Allowance(searches=4, sources=6, in_vain=lambda: 0)
    await asked_of(run, "job/0/0", 4, 6)
    assert (await asked_of(run, "job/0/1", 1, 4)).waits
    waiting = asyncio.create_task(run.given_back())
    await asyncio.sleep(0)
    assert not waiting.done()

    run.note("job/0/0", Grant(searches=1, sources=0), ["https://a.example/1", "https://a.example/2"])
    run.end("job/0/0")
    await waiting

    assert await asked_of(run, "job/0/1", 1, 4) == Grant(searches=1, sources=4)
    assert (await asked_of(run, "job/0/2", 1, 4)).waits
    run.end("job/0/1")
    await run.given_back()
    assert not (await asked_of(run, "job/0/2", 1, 4)).waits


async def test_claims_share_the_searches_that_are_left_and_the_sources_when_it_is_known_who_found_any():
    run = Allowance(searches=5, sources=3, in_vain=lambda: 0)
    paths = [f"job/0/challenge-0/claim-c{n}" for n in range(4)]
    assert [(await run.grant(path, 2, 0, 0, 3)).searches for path in paths] == [2, 1, 1, 1]
    assert (await run.grant("job/0/challenge-0/claim-c4", 2, 0, 0, 3)).waits

    a, b, c, d = (f"https://{letter}.example/" for letter in "abcd")
    found = [(), (a, b), (a, c), (d, c, b)]

    # One that finds nothing new leaves its part to the others; what another took costs nothing more.
    assert [(await run.choose(path, urls, 3)).urls for path, urls in zip(paths, found, strict=True)] == [
        (), (a,), (a, c), (d, c),
    ]  # fmt: skip
