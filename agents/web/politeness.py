"""How sites want to be asked: by their robots.txt, few requests at once, none while a host asked for a pause."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiolimiter import AsyncLimiter
from protego import Protego

RULES_S = 86_400.0
"""Seconds for which the rules of a site hold: RFC 9309 §2.4."""

UNANSWERED_S = 600.0
"""Seconds after which a site that gave no rules is asked again."""

ROBOTS_BYTES = 512 * 1024
"""What is read of a robots.txt, a little more than RFC 9309 §2.5 asks for."""

MAX_SITES = 1_000
MAX_DELAY_S = 5.0
"""A longer pause between two pages than this is not kept: a run reads few pages of a site."""

_SLOW = 50_000  # characters from which parsing would hold up everything else

Get = Callable[[str], Awaitable[bytes | None]]
"""Address of a robots.txt to its bytes; empty when the site has none, None when it did not answer."""
AT_ONCE = 2
"""Requests that one host serves us at the same time."""

MAX_HOSTS = 500
"""Hosts that are remembered; the ones visited longest ago are forgotten first."""

_BURST_S = 2.0  # what the rate allows in this time may be asked for at once


@dataclass(frozen=True)
class _Rules:
    parsed: Protego | None
    until: float


class Robots:
    """The rules of the sites that were visited last.

    Args:
        get: fetches a robots.txt; must not raise for a site that fails.
        agent: the name that rules may address.
        clock: seconds, never running backwards.
    """

    def __init__(self, get: Get, agent: str, clock: Callable[[], float]) -> None:
        self._get, self._agent, self._clock = get, agent, clock
        self._known: OrderedDict[str, _Rules] = OrderedDict()
        self._asking: dict[str, asyncio.Lock] = {}

    async def allows(self, origin: str, url: str) -> bool:
        """Tell whether the site lets a robot read `url`; true when it does not say, or does not answer.

        Args:
            origin: scheme, host and port of `url`, without a path.
            url: the whole address.
        """
        parsed = (await self._rules(origin)).parsed
        return parsed is None or bool(parsed.can_fetch(url, self._agent))

    def delay_s(self, origin: str) -> float:
        """Give the seconds between two pages that a site asks for, at most `MAX_DELAY_S`; zero when it does not."""
        known = self._known.get(origin)
        asked = known.parsed.crawl_delay(self._agent) if known and known.parsed else None
        return min(float(asked or 0.0), MAX_DELAY_S)

    async def _rules(self, origin: str) -> _Rules:
        lock = self._asking.setdefault(origin, asyncio.Lock())
        async with lock:
            known = self._known.get(origin)
            if known is None or known.until <= self._clock():
                known = await self._asked(origin)
                self._known[origin] = known
            self._known.move_to_end(origin)
        while len(self._known) > MAX_SITES:
            self._known.popitem(last=False)
        if not lock.locked():
            self._asking.pop(origin, None)
        return known

    async def _asked(self, origin: str) -> _Rules:
        raw = await self._get(f"{origin}/robots.txt")
        if raw is None:
            return _Rules(None, self._clock() + UNANSWERED_S)
        text = raw[:ROBOTS_BYTES].decode("utf-8", "replace")
        if len(text) > _SLOW:
            return _Rules(await asyncio.to_thread(Protego.parse, text), self._clock() + RULES_S)
        return _Rules(Protego.parse(text) if text.strip() else None, self._clock() + RULES_S)


class _Host:
    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.limiter = _limiter(rate)
        self.places = asyncio.Semaphore(AT_ONCE)
        self.busy = 0
        self.resumes_at = 0.0


class HostLimiter:
    """Gives out turns at hosts.

    Args:
        rate: requests a second at one host.
        clock: seconds, never running backwards.
        sleep: waits for seconds.
    """

    def __init__(self, rate: float, clock: Callable[[], float], sleep: Callable[[float], Awaitable[None]]) -> None:
        self._rate, self._clock, self._sleep = rate, clock, sleep
        self._hosts: OrderedDict[str, _Host] = OrderedDict()

    @asynccontextmanager
    async def turn(self, name: str, delay_s: float = 0.0) -> AsyncIterator[None]:
        """Wait for a turn at a host, and hold it.

        Args:
            name: the host.
            delay_s: seconds between two requests that the host asks for; zero when it does not.
        """
        host = self._host(name)
        rate = min(self._rate, 1 / delay_s) if delay_s else self._rate
        if rate != host.rate:
            host.rate, host.limiter = rate, _limiter(rate)
        host.busy += 1
        try:
            async with host.places:
                await host.limiter.acquire()
                if (pause := host.resumes_at - self._clock()) > 0:
                    await self._sleep(pause)
                yield
        finally:
            host.busy -= 1

    def pause(self, name: str, seconds: float) -> None:
        """Give a host no request for some seconds."""
        host = self._host(name)
        host.resumes_at = max(host.resumes_at, self._clock() + seconds)

    def pause_s(self, name: str) -> float:
        """Give the seconds for which a host is still to be left alone."""
        host = self._hosts.get(name)
        return max(0.0, host.resumes_at - self._clock()) if host else 0.0

    def _host(self, name: str) -> _Host:
        host = self._hosts.setdefault(name, _Host(self._rate))
        self._hosts.move_to_end(name)
        if len(self._hosts) > MAX_HOSTS:
            for idle in [key for key, one in self._hosts.items() if not one.busy and one is not host][
                : MAX_HOSTS // 10
            ]:
                del self._hosts[idle]
        return host


def _limiter(rate: float) -> AsyncLimiter:
    burst = max(1.0, rate * _BURST_S)
    return AsyncLimiter(burst, burst / rate)
