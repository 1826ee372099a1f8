"""Turns at a host: few requests at once, not too many in a second, and none while the host asked for a pause."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiolimiter import AsyncLimiter

AT_ONCE = 2
"""Requests that one host serves us at the same time."""

MAX_HOSTS = 500
"""Hosts that are remembered; the ones visited longest ago are forgotten first."""

_BURST_S = 2.0  # what the rate allows in this time may be asked for at once


class _Host:
    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.limiter = _limiter(rate)
        self.places = asyncio.Semaphore(AT_ONCE)
        self.busy = 0
        self.resumes_at = 0.0


class Courtesy:
    """Gives out turns.

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
