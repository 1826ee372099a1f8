"""How fast each model provider is asked, by all jobs of this process together: places, rates, and pauses it asks for.

The limit that holds is computed in one place, `limits_for`: defaults of the provider, what the operator set, and the
share of this process where several divide a provider's limits among them.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from agents.contracts.pace import Pace

WINDOW_S = 60.0
"""Rates count what was sent in the last so many seconds."""

LOCAL = frozenset({"ollama", "ollama_chat", "llamafile", "lm_studio", "hosted_vllm", "vllm", "xinference", "local"})
"""Providers, as litellm names them, that run on the user's own machines."""

OWN_SERVER = Pace(at_once=8, calls_per_minute=0, tokens_per_minute=0)
"""A server under an address that the user set: it queues by itself, but not without end."""

OTHERS = Pace(at_once=8, calls_per_minute=300, tokens_per_minute=0)
"""A provider of which nothing is known."""

DEFAULTS: Mapping[str, Pace] = {
    "openai": Pace(at_once=16, calls_per_minute=500, tokens_per_minute=0),
    "anthropic": Pace(at_once=8, calls_per_minute=50, tokens_per_minute=0),
    "gemini": Pace(at_once=8, calls_per_minute=150, tokens_per_minute=0),
    "mistral": Pace(at_once=4, calls_per_minute=60, tokens_per_minute=0),
    "deepseek": Pace(at_once=16, calls_per_minute=0, tokens_per_minute=0),
    "openrouter": Pace(at_once=8, calls_per_minute=0, tokens_per_minute=0),
    **dict.fromkeys(LOCAL, Pace(at_once=2, calls_per_minute=0, tokens_per_minute=0)),
}
"""About what the smallest paid plans allow. Tokens are not counted by default: plans differ by a factor of a hundred,
and a provider that has enough says so by itself, which is obeyed."""


@dataclass(frozen=True)
class Limits:
    """What holds for one provider in this process; None is no limit."""

    at_once: int | None
    calls_per_minute: float | None
    tokens_per_minute: float | None


def limits_for(provider: str, asked: Pace | None = None, *, own_server: bool = False, share: float = 1.0) -> Limits:
    """Compute the limits of a provider: the only place where this is done.

    Args:
        provider: as in front of the model's name.
        asked: what the operator set for it.
        own_server: it is reached under an address of the user's own.
        share: the part of the provider's limits that this process may use, above 0 to 1.
    """
    default = DEFAULTS.get(provider, OTHERS)
    if own_server and provider not in LOCAL:
        default = OWN_SERVER
    asked = asked or Pace()
    at_once = default.at_once if asked.at_once is None else asked.at_once
    calls = default.calls_per_minute if asked.calls_per_minute is None else asked.calls_per_minute
    tokens = default.tokens_per_minute if asked.tokens_per_minute is None else asked.tokens_per_minute
    return Limits(
        at_once=max(1, int(at_once * share)) if at_once else None,
        calls_per_minute=max(1.0, calls * share) if calls else None,
        tokens_per_minute=max(1.0, tokens * share) if tokens else None,
    )


WORTH_TELLING_S = 3.0
"""Seconds of a pause from which somebody should be told."""


class HeldBack(Exception):
    """The provider may not be asked before the time that the caller has is over."""

    def __init__(self, wait_s: float) -> None:
        super().__init__(f"the provider may not be asked for another {wait_s:.0f} s")
        self.wait_s = wait_s


@dataclass
class _Sent:
    at: float
    amount: float


class _Window:
    """What was sent in the last minute."""

    def __init__(self) -> None:
        self._sent: deque[_Sent] = deque()

    def wait_s(self, amount: float, limit: float | None, now: float) -> float:
        """Seconds until `amount` more fits; what is more than the limit fits once nothing else counts."""
        if limit is None:
            return 0.0
        while self._sent and self._sent[0].at <= now - WINDOW_S:
            self._sent.popleft()
        held, wait = sum(one.amount for one in self._sent), 0.0
        for one in self._sent:
            if held + amount <= limit:
                break
            held -= one.amount
            wait = one.at + WINDOW_S - now
        return wait

    def add(self, amount: float, now: float) -> _Sent:
        sent = _Sent(now, amount)
        self._sent.append(sent)
        return sent


class Turn:
    """One request's place at a provider."""

    def __init__(self, counted: _Sent) -> None:
        self._counted = counted

    def used(self, tokens: int) -> None:
        """Put what the request really took in the place of the estimate."""
        self._counted.amount = tokens


class Gate:
    """Gives out turns at one provider, in the order in which they are asked for.

    Args:
        limits: what holds now; asked for again at each turn, since it may change.
        clock: seconds, never running backwards.
        sleep: waits for seconds.
        on_pause: told of pauses that are worth telling, with their seconds.
    """

    def __init__(
        self,
        limits: Callable[[], Limits],
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        on_pause: Callable[[float], None] = lambda _: None,
    ) -> None:
        self._on_pause = on_pause
        self._limits, self._clock, self._sleep = limits, clock, sleep
        self._line = asyncio.Lock()
        self._freed = asyncio.Event()
        self._calls, self._tokens = _Window(), _Window()
        self._resumes_at = 0.0
        self.busy = 0
        """Requests that are open."""
        self.peak = 0

    @property
    def held_s(self) -> float:
        """Seconds for which the provider asked to be left alone."""
        return max(0.0, self._resumes_at - self._clock())

    def hold(self, seconds: float) -> None:
        """Let nobody ask the provider for some seconds."""
        if seconds - self.held_s >= WORTH_TELLING_S:
            self._on_pause(seconds)
        self._resumes_at = max(self._resumes_at, self._clock() + seconds)

    @asynccontextmanager
    async def turn(self, tokens: int, patience_s: float | None = None) -> AsyncIterator[Turn]:
        """Wait for a turn, and hold it.

        Args:
            tokens: what the request will take, as estimated.
            patience_s: the longest wait that makes sense; None is any.

        Raises:
            HeldBack: the wait would be longer; nothing was sent.
        """
        ends_at = None if patience_s is None else self._clock() + patience_s
        self._check(self.held_s, ends_at)
        async with self._line:
            await self._until_open(tokens, ends_at)
            self.busy += 1
            self.peak = max(self.peak, self.busy)
            self._calls.add(1, self._clock())
            turn = Turn(self._tokens.add(tokens, self._clock()))
        try:
            yield turn
        finally:
            self.busy -= 1
            self._freed.set()

    async def _until_open(self, tokens: int, ends_at: float | None) -> None:
        while True:
            limits, now = self._limits(), self._clock()
            wait = max(
                self.held_s,
                self._calls.wait_s(1, limits.calls_per_minute, now),
                self._tokens.wait_s(tokens, limits.tokens_per_minute, now),
            )
            if wait > 0:
                self._check(wait, ends_at)
                await self._sleep(wait)
            elif limits.at_once is not None and self.busy >= limits.at_once:
                self._freed.clear()
                await self._freed.wait()
            else:
                return

    def _check(self, wait_s: float, ends_at: float | None) -> None:
        if wait_s > 0 and ends_at is not None and self._clock() + wait_s >= ends_at:
            raise HeldBack(wait_s)


class Pacing:
    """The gates of all providers of this process.

    Args:
        asked: what the operator set, by provider.
        share: the part of each limit that this process may use; may be changed while calls run.
    """

    def __init__(self, asked: Mapping[str, Pace] | None = None, share: float = 1.0) -> None:
        self._asked = dict(asked or {})
        self._gates: dict[str, Gate] = {}
        self.share = share
        self.on_pause: Callable[[str, float], None] = lambda _provider, _seconds: None
        """Told of every pause that a provider asks for and that is worth telling."""

    def take_share(self, share: float) -> None:
        """Keep to a part of what each provider allows; the rest belongs to other processes that ask it."""
        self.share = share

    def limits(self, provider: str, *, own_server: bool = False) -> Limits:
        """Give what holds now for a provider."""
        return limits_for(provider, self._asked.get(provider), own_server=own_server, share=self.share)

    def gate(self, provider: str, *, own_server: bool = False) -> Gate:
        """Give the gate that all callers of a provider pass through."""
        if provider not in self._gates:
            self._gates[provider] = Gate(
                lambda: self.limits(provider, own_server=own_server),
                on_pause=lambda seconds: self.on_pause(provider, seconds),
            )
        return self._gates[provider]
