"""How fast a provider is asked: places, rates, and pauses that hold for everybody."""

import asyncio
import math
from contextlib import AsyncExitStack

import pytest
from pydantic import ValidationError

from agents.core.port import Pace
from agents.core.settings import Settings
from agents.llm.pacing import HeldBack, ObservedPace, Pacing, Places, RateLimiter
from agents.llm.providers import PROVIDERS
from agents.team import open_team


class Clock:
    """Time that passes only where somebody sleeps."""

    def __init__(self):
        self.now = 1000.0
        self.naps = []

    def __call__(self):
        return self.now

    async def sleep(self, seconds):
        self.naps.append(round(seconds, 3))
        self.now += seconds
        await asyncio.sleep(0)


@pytest.fixture
def clock():
    return Clock()


def gate(clock, at_once=None, calls=None, tokens=None):
    return RateLimiter(
        lambda: Pace(at_once=at_once, calls_per_minute=calls, tokens_per_minute=tokens), clock, clock.sleep
    )


def limits_for(provider, asked=None, *, share=1.0, **server):
    pacing = Pacing({provider: asked} if asked else {})
    pacing.process.share = share
    return pacing.limits(provider, **server)


async def sent_at(gate, clock, *amounts):
    """Send one request for each amount of tokens, all at once; give when each had its turn."""
    times = []

    async def one(tokens):
        async with gate.turn(tokens):
            times.append(clock.now - 1000.0)

    await asyncio.gather(*(one(tokens) for tokens in amounts))
    return times


async def test_no_more_requests_are_open_than_may_be(clock):
    doors, released = gate(clock, at_once=3), asyncio.Event()

    async def one():
        async with doors.turn(1):
            await released.wait()

    tasks = [asyncio.create_task(one()) for _ in range(10)]
    for _ in range(20):
        await asyncio.sleep(0)
    assert doors.busy == 3
    released.set()
    await asyncio.gather(*tasks)
    assert doors.busy == 0


async def test_turns_come_in_the_order_in_which_they_were_asked_for(clock):
    doors, order = gate(clock, at_once=1), []

    async def one(name):
        async with doors.turn(1):
            await asyncio.sleep(0)
            order.append(name)

    await asyncio.gather(*(one(name) for name in range(5)))
    assert order == [0, 1, 2, 3, 4]


async def test_calls_wait_until_the_oldest_is_a_minute_old(clock):
    assert await sent_at(gate(clock, calls=2), clock, 1, 1, 1, 1, 1) == [0, 0, 60, 60, 120]


async def test_tokens_wait_and_more_than_the_limit_goes_alone(clock):
    assert await sent_at(gate(clock, tokens=100), clock, 60, 40, 10) == [0, 0, 60]
    clock.now += 600
    start = clock.now - 1000
    assert await sent_at(gate(clock, tokens=100), clock, 500, 10) == [start, start + 60]


async def test_what_a_request_really_took_counts_and_not_the_estimate(clock):
    doors = gate(clock, tokens=100)
    async with doors.turn(90) as turn:
        turn.used(10)
    assert await sent_at(doors, clock, 80) == [0]
    async with doors.turn(1) as turn:
        turn.used(400)
    assert await sent_at(doors, clock, 20) == [60]


async def test_a_pause_that_the_provider_asks_for_holds_for_all_of_its_callers(clock):
    doors = gate(clock, at_once=2)
    doors.hold(20)
    doors.hold(5)  # a shorter one takes nothing back
    assert await sent_at(doors, clock, 1, 1, 1) == [20, 20, 20]
    assert clock.naps == [20]


async def test_a_pause_longer_than_the_time_left_is_said_at_once_and_nothing_is_sent(clock):
    doors = gate(clock)
    doors.hold(20)
    with pytest.raises(HeldBack) as caught:
        async with doors.turn(1, patience_s=10):
            pytest.fail("it was sent")
    assert (caught.value.wait_s, clock.naps) == (20, [])
    async with doors.turn(1, patience_s=30):
        assert clock.now == 1020


async def test_whoever_gives_up_waiting_leaves_the_line_in_order(clock):
    doors, released = gate(clock, at_once=1), asyncio.Event()

    async def hold():
        async with doors.turn(1):
            await released.wait()

    async def wait(done):
        async with doors.turn(1):
            done.append(True)

    done: list[bool] = []
    first = asyncio.create_task(hold())
    await asyncio.sleep(0)
    head, second = asyncio.create_task(wait(done)), asyncio.create_task(wait(done))
    for _ in range(5):
        await asyncio.sleep(0)
    head.cancel()
    await asyncio.gather(head, return_exceptions=True)
    released.set()
    await asyncio.gather(first, second)
    assert done == [True]
    assert doors.busy == 0


def test_what_the_operator_leaves_out_keeps_its_default_and_zero_takes_it_away():
    default = PROVIDERS.paces["anthropic"]
    asked = limits_for("anthropic", Pace(tokens_per_minute=30_000))
    assert asked == default.model_copy(update={"tokens_per_minute": 30_000})
    assert limits_for("anthropic", Pace(at_once=0, calls_per_minute=0)) == Pace(at_once=0, calls_per_minute=0)


def test_a_share_divides_every_limit_and_leaves_at_least_one_request():
    pace = Pace(at_once=5, calls_per_minute=90, tokens_per_minute=9000)
    assert limits_for("openai", pace, share=1 / 3) == Pace(at_once=1, calls_per_minute=30, tokens_per_minute=3000)
    assert limits_for("openai", Pace(at_once=1, calls_per_minute=1), share=0.1).at_once == 1


async def test_a_share_that_changes_counts_from_the_next_turn_on(clock):
    pacing = Pacing({"openai": Pace(at_once=4)})
    doors = pacing.gate("openai")
    assert pacing.gate("openai") is doors
    pacing.process.divide_among(2)
    assert pacing.limits("openai").at_once == 2


def test_a_teams_pacing_keeps_to_its_share_among_the_live_workers(tmp_path):
    team = open_team(Settings(data_dir=tmp_path, model="offline", retriever="library"))
    whole = team.pacing.limits("openai").at_once

    team.jobs.limits.divide_among(2)

    assert team.pacing.limits("openai").at_once == whole // 2


def test_every_provider_has_a_cap_on_requests_at_once_by_default():
    assert all(
        limits_for(provider).at_once for provider in [*PROVIDERS.paces, *PROVIDERS.local, "a provider nobody knows"]
    )
    assert limits_for("openai", own_server=True).calls_per_minute is None


def test_a_limit_that_is_none_is_refused():
    with pytest.raises(ValidationError):
        Pace.model_validate({"at_once": -1})
    with pytest.raises(ValidationError):
        Pace.model_validate({"per_minute": 3})


def test_a_pause_worth_telling_is_told_once_and_a_short_one_never():
    pacing, told = Pacing(), []
    pacing.on_pause = lambda provider, seconds: told.append((provider, seconds))
    doors = pacing.gate("openai")
    for seconds in (1, 20, 20, 5):
        doors.hold(seconds)
    assert told == [("openai", 20)]


def test_c10_running_jobs_are_told_of_a_pause_and_others_are_not():
    from types import SimpleNamespace

    from agents.jobs.job import Pauses

    def job(status, *, over=False):
        events = []
        run = SimpleNamespace(events=events, emit=lambda key, event: events.append((key, event)))
        return SimpleNamespace(status=status, over=over, run=run)

    pacing = Pacing()
    pauses, running, waiting = Pauses(pacing), job("running"), job("queued")
    for one in (running, waiting):
        pauses.observe(one)
    pacing.gate("openai").hold(20)
    [(_, note)] = running.run.events
    assert note.text == "The model provider (openai) wants us to wait: it is asked again in 20 s."
    assert waiting.run.events == []


async def asked(doors, clock, count, answer_s, tokens_out=100):
    """Ask at once; a server with one slot answers one after the other, each in `answer_s`. Gives the most in flight."""
    slot, most = asyncio.Lock(), 0

    async def one():
        nonlocal most
        async with doors.turn(400) as turn:
            most = max(most, doors.busy)
            async with slot:
                await clock.sleep(answer_s)
            turn.used(400 + tokens_out, tokens_out)

    await asyncio.gather(*(one() for _ in range(count)))
    return most


async def test_a_server_with_one_slot_gets_one_call_at_a_time_once_its_pace_is_known(clock):
    doors = gate(clock, at_once=16)
    assert await asked(doors, clock, 16, 4.0) > 1
    assert await asked(doors, clock, 16, 4.0) <= 3
    await asked(doors, clock, 4, 4.0)
    assert doors.places.at_once(16) <= 3


async def test_a_provider_that_keeps_its_pace_keeps_all_its_places(clock):
    doors = gate(clock, at_once=16)
    async with doors.turn(400) as turn:
        await clock.sleep(1.0)
        turn.used(500, 100)
    assert doors.places.at_once(16) == 16


async def test_a_provider_that_keeps_up_is_asked_for_more_until_it_says_no(clock):
    doors = RateLimiter(lambda: Pace(at_once=4, most_at_once=20), clock, clock.sleep)
    answered = asyncio.Event()

    async def one():
        async with doors.turn(400) as turn:
            await answered.wait()
            turn.used(500, 100)

    calls = [asyncio.ensure_future(one()) for _ in range(80)]
    open_at_once = []
    while not all(call.done() for call in calls):
        await asyncio.sleep(0.01)
        open_at_once.append(doors.busy)
        clock.now += 1.0
        answered.set()
        await asyncio.sleep(0)
        answered.clear()
    assert open_at_once[:4] == [4, 8, 16, 20]
    doors.hold(0.1)
    assert doors.places.at_once(4, 20) < 10


async def test_a_provider_that_keeps_up_with_several_has_places_ready_before_anybody_waits(clock):
    doors = RateLimiter(lambda: Pace(at_once=4, most_at_once=20), clock, clock.sleep)
    for several, ready in ((1, 4), (3, 8)):
        for _ in range(5):
            async with AsyncExitStack() as open_ones:
                turns = [await open_ones.enter_async_context(doors.turn(400)) for _ in range(several)]
                clock.now += 1.0
                for turn in turns:
                    turn.used(500, 100)
        assert doors.places.at_once(4, 20) == ready


async def test_a_burst_that_is_turned_away_halves_the_places_once(clock):
    doors = gate(clock, at_once=16)
    async with doors.turn(400), doors.turn(400), doors.turn(400), doors.turn(400):
        for _ in range(4):
            doors.hold(1.0)
    assert doors.places.at_once(16) == 2


def test_answers_at_half_the_pace_leave_half_the_places_however_many_come_together():
    places = Places()
    for n in range(3):
        places.went_well(100.0, 1, 16, ended=float(n))
    for n in range(30):
        places.went_well(50.0, 40, 16, 64, ended=5.0 + n / 10)
    assert places.at_once(16, 64) == 16
    for n in range(30):
        places.went_well(50.0, 16, 16, 64, ended=9.0 + n / 10)
    assert 8 <= places.at_once(16, 64) <= 11  # the best pace fades


async def test_answers_that_came_slowly_because_this_machine_was_busy_cost_no_places(clock):
    doors = RateLimiter(lambda: Pace(at_once=4), clock, clock.sleep, worked_s=lambda: clock.now)
    await asked(doors, clock, 16, 4.0)
    assert doors.places.at_once(4) == 4


def test_a_number_of_calls_at_once_that_was_set_is_kept_to():
    assert limits_for("openai").most_at_once > limits_for("openai").at_once
    assert limits_for("openai", Pace(at_once=3)).most_at_once is None
    assert limits_for("openai", own_server=True, slots=1).most_at_once is None


async def test_a_call_that_runs_out_of_time_halves_the_places_and_the_pace(clock):
    doors = gate(clock, at_once=8)
    async with doors.turn(400) as turn:
        await clock.sleep(1.0)
        turn.used(500, 100)
    before = doors.pace.room(10.0, 400)
    async with doors.turn(400) as turn:
        await clock.sleep(10.0)
        turn.ran_out = True
    assert doors.pace.room(10.0, 400) < before / 2
    assert doors.places.at_once(8) == 1


def test_a_call_that_ran_out_of_time_is_taken_to_be_twice_as_slow_and_not_sixty_times():
    pace = ObservedPace()
    pace.note(10.0, 0, 100)  # ten tokens a second
    pace.ran_out(60.0, 0, 480)
    assert 0.4 < pace.room(100.0, 0) / 800 <= 0.55


def test_a_first_call_that_ran_out_of_time_says_little_of_the_next():
    pace = ObservedPace()
    pace.ran_out(30.0, 400, 300)
    assert pace.room(60.0, 400) > 100


def test_an_answer_wipes_out_what_calls_without_one_made_believe():
    pace = ObservedPace()
    pace.note(1.0, 100, 50)
    before = pace.room(30.0, 100)
    for _ in range(6):
        pace.ran_out(30.0, 100, 50)
    assert pace.room(30.0, 100) < 12
    pace.note(1.0, 100, 50)
    assert pace.room(30.0, 100) == pytest.approx(before, rel=0.1)


async def test_a_provider_that_seemed_too_slow_is_tried_again_after_a_while(clock):
    doors = gate(clock, at_once=1)
    async with doors.turn(400) as turn:
        await clock.sleep(30.0)
        turn.ran_out = True
    assert not doors.may_try()
    await clock.sleep(6.0)
    assert doors.may_try()
    assert not doors.may_try()


def test_what_fits_into_the_time_left_follows_from_the_pace():
    pace = ObservedPace()
    assert pace.room(10.0, 0) is None
    pace.note(10.0, 0, 100)
    assert pace.room(10.0, 0) == 80
    assert pace.room(math.inf, 0) is None
    assert pace.call_s(0, 50) == 5.0


def test_reading_and_writing_are_told_apart_once_both_were_seen():
    pace = ObservedPace()
    for read, written in ((2_000, 250), (300, 400), (1_500, 60)):
        pace.note(read / 65 + written / 20, read, written)

    assert pace.call_s(4_000, 20) == pytest.approx(4_000 / 65 + 1, rel=0.2)
    assert pace.call_s(100, 400) == pytest.approx(100 / 65 + 20, rel=0.2)
    assert pace.readable(30.0) == pytest.approx(30 * 65, rel=0.2)


def test_a_server_that_says_how_many_calls_it_works_on_gets_so_many():
    assert limits_for("openai", own_server=True, slots=1).at_once == 1
    assert limits_for("openai", own_server=True).at_once == 16
    assert limits_for("openai", Pace(at_once=4), own_server=True, slots=1).at_once == 4, "the operator's word counts"


async def test_a_wait_for_our_own_limits_is_told_too_and_once(clock):
    told = []
    doors = gate(clock, calls=1)
    doors._on_pause = told.append

    assert await sent_at(doors, clock, 1, 1) == [0, 60]
    doors.tell(2)

    assert told == [60]
