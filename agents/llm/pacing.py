"""How fast each model provider is asked, by all jobs of this process together: places, rates, and pauses it asks for.

The limit that holds is computed in one place, `Pacing.limits`: defaults of the provider, what the operator set, and the
share of this process where several divide a provider's limits among them.
"""

import asyncio
import math
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from agents.core.port import Pace, ProcessLimits
from agents.llm.providers import PROVIDERS

WINDOW_S = 60.0  # rates count what was sent in the last so many seconds


class Places:
    """How many calls a provider is given at once: more with each that goes well, fewer where it can't keep up.

    While it always kept up each call that goes well makes one place more: where calls wait, else up to twice as many as it
    kept up with; later, part of one. It can't keep up where it says so (429), where a call runs out of time, or where
    answers come at less than 0.6 of the best pace seen: a server with one slot works on its queue, so that each further
    call only takes longer. Calls that were under way together take places away once.
    """

    def __init__(self) -> None:
        self._window: float | None = None
        self._narrowed_at = 0.0
        self._best_tokens_s = 0.0
        self._slow_in_a_row = 0

    def at_once(self, limit: int, most: int = 0) -> int:
        """Say how many calls may be open: `limit` to begin with, at `most` so many."""
        return limit if self._window is None else max(1, min(max(limit, most), int(self._window)))

    def went_well(self, tokens_s: float, busy: int, limit: int, most: int = 0, *, ended: float) -> None:
        """Note a call that was answered at a pace and was one of `busy`; `most` is 0 where no more places are wanted."""
        self._best_tokens_s = max(self._best_tokens_s * 0.995, tokens_s)
        slow = busy > 1 and tokens_s < SLOWED * self._best_tokens_s
        self._slow_in_a_row = self._slow_in_a_row + 1 if slow else 0
        window = self._window or float(limit)
        if self._slow_in_a_row > 1:  # one alone may be chance; so many at once it answers at its best pace
            self._window = max(1.0, min(window, busy * tokens_s / self._best_tokens_s))
            self._narrowed_at = self._narrowed_at or ended
        elif not slow and window < max(limit, most):
            self._window = min(float(max(limit, most)), window + (1.0 / window if self._narrowed_at else 1.0))

    def went_badly(self, busy: int, began: float, ended: float) -> None:
        """Note a call that ran out of time or was turned away, while `busy` calls were open."""
        if began >= self._narrowed_at:
            self._window = max(1.0, min(self._window or float(busy), float(busy)) / 2)
            self._narrowed_at = ended


SLOWED = 0.6  # part of the best pace below which a provider is taken to work on more than it can
QUICKEST_S = 0.05  # seconds of an answer below which its pace says nothing
READ_AS_WRITTEN = 1 / 20
"""A token that is read takes about this part of the time of one that is written, until it is seen; on a processor, a third."""
ASSUMED_TOKENS = 300.0  # tokens that this assumption weighs as much as
FADING = 0.7  # what an answer still counts for when the next one came


class ObservedPace:
    """How fast a provider answers, as seen: seconds for a token it reads and for one it writes, fitted to its answers."""

    def __init__(self) -> None:
        self._sums: tuple[float, ...] = (0.0,) * 5
        self._each: tuple[float, float] | None = None

    def note(self, seconds: float, tokens_in: int, tokens_out: int) -> float:
        """Take in one answer; give its own pace, in tokens written a second."""
        out = max(1, tokens_out)
        self._sums = self._with(seconds, tokens_in, out)
        self._each = self._fitted(self._sums)
        return (out + READ_AS_WRITTEN * tokens_in) / max(QUICKEST_S, seconds)

    def _with(self, seconds: float, tokens_in: int, out: int) -> tuple[float, ...]:
        seen = (tokens_in**2, tokens_in * out, out**2, tokens_in * seconds, out * seconds)
        return tuple(FADING * before + new for before, new in zip(self._sums, seen, strict=True))

    @staticmethod
    def _fitted(sums: tuple[float, ...]) -> tuple[float, float]:
        """Fit both rates by least squares, beside what is assumed of their ratio; neither is below nothing."""
        ins, both, outs, in_s, out_s = sums
        bound = ASSUMED_TOKENS**2
        ins, both, outs = ins + bound, both - bound * READ_AS_WRITTEN, outs + bound * READ_AS_WRITTEN**2
        determinant = ins * outs - both**2
        read_s, write_s = (in_s * outs - out_s * both) / determinant, (out_s * ins - in_s * both) / determinant
        if write_s <= 0:
            return in_s / ins, in_s / ins
        return max(0.0, read_s), write_s

    def ran_out(self, seconds: float, tokens_in: int, tokens_out: int) -> None:
        """Take in a call that had `seconds` for `tokens_out` and gave no answer: it takes twice what was known, at least.

        That holds until the next answer, which alone says how fast it is.
        """
        known = self.call_s(tokens_in, max(1, tokens_out))
        if self._each is None or known is None:
            self._each = self._fitted(self._with(2 * seconds, tokens_in, max(1, tokens_out)))
        else:
            slower = max(2.0, seconds / max(QUICKEST_S, known))
            self._each = slower * self._each[0], slower * self._each[1]

    def room(self, left_s: float, tokens_in: int) -> int | None:
        """Give the output tokens that fit into some seconds; None where no pace is known, or there is time without end."""
        if self._each is None or left_s == math.inf:
            return None
        read_s, write_s = self._each
        return int((0.8 * left_s - read_s * tokens_in) / write_s)

    def readable(self, seconds: float) -> int | None:
        """Give the tokens that are read in some seconds; None where no pace is known."""
        return None if self._each is None or not self._each[0] else int(seconds / self._each[0])

    def call_s(self, tokens_in: int, tokens_out: int) -> float | None:
        """Say how long a call of some size takes; None where no pace is known."""
        return None if self._each is None else self._each[0] * tokens_in + self._each[1] * tokens_out


TRY_AGAIN_S = 5.0  # seconds after which a provider that seemed too slow for any call is tried with one
WORTH_TELLING_S = 3.0  # seconds of a pause from which somebody should be told


class HeldBack(Exception):
    """The provider may not be asked before the time that the caller has is over."""

    def __init__(self, wait_s: float) -> None:
        super().__init__(f"the provider may not be asked for another {wait_s:.0f} s")
        self.wait_s = wait_s


@dataclass(eq=False)
class Permit:
    """One request's place at a provider."""

    at: float = 0.0  # when it was given out
    tokens: float = 0.0  # what it takes: an estimate, until the answer is there
    tokens_out: int | None = None  # what the answer took; None until it is there
    ran_out: bool = False  # no answer came within the time there was
    asked_for: int = 1  # tokens that the answer might have had
    busy: int = 1  # requests that were open when it was sent, with it

    def used(self, tokens: int, tokens_out: int = 0) -> None:
        """Put what the request really took in the place of the estimate."""
        self.tokens, self.tokens_out = tokens, tokens_out


def _wait_s(sent: Iterable[tuple[float, float]], amount: float, limit: float | None, now: float) -> float:
    """Seconds until `amount` more fits beside what was sent when; what is more than the limit fits once nothing counts."""
    if not limit:
        return 0.0
    before = list(sent)
    held, wait = sum(one for _, one in before), 0.0
    for at, one in before:
        if held + amount <= limit:
            break
        held -= one
        wait = at + WINDOW_S - now
    return wait


class RateLimiter:
    """Gives out turns at one provider, in the order in which they are asked for, by the limits that hold at each turn."""

    def __init__(
        self, limits: Callable[[], Pace], clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep, on_pause: Callable[[float], None] = lambda _: None,
        worked_s: Callable[[], float] = time.process_time,
    ) -> None:  # fmt: skip
        self._on_pause, self._worked_s = on_pause, worked_s
        self._limits, self._clock, self._sleep = limits, clock, sleep
        self._line = asyncio.Lock()
        self._freed = asyncio.Event()
        self._sent: deque[Permit] = deque()
        """What was sent in the last minute."""
        self._resumes_at = self._told_until = 0.0
        self._full_at = -math.inf  # when somebody last waited for a place
        self.pace, self.places = ObservedPace(), Places()
        self._seen_at = 0.0
        self.busy = 0
        """Requests that are open."""

    @property
    def held_s(self) -> float:
        """Seconds for which the provider asked to be left alone."""
        return max(0.0, self._resumes_at - self._clock())

    def places_now(self) -> int:
        """Say how many requests may be open; 0 is any number."""
        limits = self._limits()
        return self.places.at_once(limits.at_once, limits.most_at_once or 0) if limits.at_once else 0

    def may_try(self) -> bool:
        """Whether a call may find out if the provider is still as slow as it was: else a slow spell would keep it out for good."""
        now = self._clock()
        if now - self._seen_at < TRY_AGAIN_S:
            return False
        self._seen_at = now
        return True

    def tell(self, seconds: float) -> None:
        """Say that somebody waits so long, unless a wait that lasts about as long was told."""
        if (until := self._clock() + seconds) - max(self._told_until, self._clock()) >= WORTH_TELLING_S:
            self._told_until = until
            self._on_pause(seconds)

    def hold(self, seconds: float) -> None:
        self.tell(seconds)
        if not self.held_s:  # calls that were under way together are turned away together
            self.places.went_badly(max(1, self.busy), self._clock(), self._clock())
        self._resumes_at = max(self._resumes_at, self._clock() + seconds)

    @asynccontextmanager
    async def turn(self, tokens: int, patience_s: float = math.inf) -> AsyncIterator[Permit]:
        """Wait for a turn for a request of so many tokens, and hold it; `HeldBack` where the wait would be longer."""
        ends_at = self._clock() + patience_s
        self._check(self.held_s, ends_at)
        async with self._line:
            await self._until_open(tokens, ends_at)
            self.busy += 1
            turn, worked_s = Permit(self._clock(), tokens, busy=self.busy), self._worked_s()
            self._sent.append(turn)
        try:
            yield turn
        finally:
            took_s = self._clock() - turn.at
            if turn.tokens_out is not None:
                own = self.pace.note(took_s, int(turn.tokens) - turn.tokens_out or tokens, turn.tokens_out)
                if self._worked_s() - worked_s <= took_s / 2:  # else it is this machine that was slow to listen
                    limits = self._limits()
                    limit, most = limits.at_once or self.busy, limits.most_at_once or 0
                    if self._full_at < turn.at:  # nobody waits: some more are kept ready for who comes next
                        most = min(most, 2 * max(limit, turn.busy)) if turn.busy > 1 else 0
                    self.places.went_well(own, max(turn.busy, self.busy), limit, most, ended=turn.at + took_s)
            elif turn.ran_out:
                self.pace.ran_out(took_s, tokens, turn.asked_for)
                self.places.went_badly(self.busy, turn.at, turn.at + took_s)
            if turn.tokens_out is not None or turn.ran_out:
                self._seen_at = self._clock()
            self.busy -= 1
            self._freed.set()

    async def _until_open(self, tokens: int, ends_at: float) -> None:
        while True:
            limits, now = self._limits(), self._clock()
            while self._sent and self._sent[0].at <= now - WINDOW_S:
                self._sent.popleft()
            wait = max(
                self.held_s,
                _wait_s(((one.at, 1) for one in self._sent), 1, limits.calls_per_minute, now),
                _wait_s(((one.at, one.tokens) for one in self._sent), tokens, limits.tokens_per_minute, now),
            )
            if wait > 0:
                self._check(wait, ends_at)
                self.tell(wait)
                await self._sleep(wait)
            elif limits.at_once and self.busy >= self.places_now():
                self._full_at = now
                self._freed.clear()
                await self._freed.wait()
            else:
                return

    def _check(self, wait_s: float, ends_at: float) -> None:
        if wait_s > 0 and self._clock() + wait_s >= ends_at:
            raise HeldBack(wait_s)


class OpenGate(RateLimiter):
    """Lets every request pass, and learns nothing of the provider."""

    def __init__(self) -> None:
        super().__init__(Pace)

    def hold(self, seconds: float) -> None: ...

    @asynccontextmanager
    async def turn(self, tokens: int, patience_s: float = math.inf) -> AsyncIterator[Permit]:
        yield Permit()


class Pacing:
    """The gates of all providers of this process, with the limits that the operator set."""

    def __init__(self, asked: Mapping[str, Pace] | None = None) -> None:
        self._asked = dict(asked or {})
        self._gates: dict[str, RateLimiter] = {}
        self.process = ProcessLimits()
        """Whose part of what each provider allows is kept to; the rest belongs to other processes that ask it."""
        self.on_pause: Callable[[str, float], None] = lambda _provider, _seconds: None
        """Told of every pause that a provider asks for and that is worth telling."""

    def limits(self, provider: str, *, own_server: bool = False, slots: int | None = None) -> Pace:
        """Compute the limits of a provider, None or 0 for no limit: the only place where this is done.

        What the operator asked for goes before the `slots` that a server of the user's own says it has, and both before the
        defaults; of all of it this process has a share.
        """
        paces, asked = PROVIDERS.paces, self._asked.get(provider, Pace())
        known = paces["own"] if own_server or provider in PROVIDERS.local else paces.get(provider, paces["others"])
        holds = known.model_dump() | ({"at_once": slots} if slots else {})
        if slots or asked.at_once is not None:
            holds["most_at_once"] = None
        holds |= asked.model_dump(exclude_none=True)
        return Pace(**{name: value and max(1, int(value * self.process.share)) for name, value in holds.items()})

    def gate(self, provider: str, *, own_server: bool = False, slots: int | None = None) -> RateLimiter:
        """Give the gate that all callers of a provider pass through."""
        if provider not in self._gates:
            self._gates[provider] = RateLimiter(
                lambda: self.limits(provider, own_server=own_server, slots=slots),
                on_pause=lambda seconds: self.on_pause(provider, seconds),
            )
        return self._gates[provider]
