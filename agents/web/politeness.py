"""How sites want to be asked: by their robots.txt, few requests at once, none while a site asked for a pause."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiolimiter import AsyncLimiter
from protego import Protego

RULES_S = 86_400.0  # seconds for which the rules of a site hold: RFC 9309 §2.4
UNANSWERED_S = 600.0  # seconds after which a site that gave no rules is asked again
ROBOTS_BYTES = 512 * 1024  # what is read of a robots.txt, a little more than RFC 9309 §2.5 asks for
MAX_SITES = 1_000  # sites that are remembered; the ones visited longest ago are forgotten first
MAX_DELAY_S = 5.0  # a longer pause between two pages than this is not kept: a run reads few pages of a site
AT_ONCE = 2  # requests that one site serves us at the same time
_BURST_S = 2.0  # what the rate allows in this time may be asked for at once

Get = Callable[[str], Awaitable[bytes | None]]
"""Address of a robots.txt to its bytes; empty when the site has none, None when it did not answer."""


class _Site:
    """What is known of one site: its rules, its pace, and until when it is left alone."""

    def __init__(self, rate: float) -> None:
        self.rules: Protego | None = None
        self.rules_until = float("-inf")
        self.asking = asyncio.Lock()
        self.places = asyncio.Semaphore(AT_ONCE)
        self.busy = 0
        self.resumes_at = 0.0
        self.keep_to(rate)

    def keep_to(self, rate: float) -> None:
        burst = max(1.0, rate * _BURST_S)
        self.limiter = AsyncLimiter(burst, burst / rate)


class Manners:
    """The rules of the sites that were visited last, and turns at them. A site is a scheme, a host and a port."""

    def __init__(self, get: Get, agent: str, rate: float, sleep: Callable[[float], Awaitable[None]]) -> None:
        self._get, self._agent, self._rate, self._sleep = get, agent, rate, sleep
        self._sites: OrderedDict[str, _Site] = OrderedDict()

    async def allow(self, origin: str, url: str) -> bool:
        """Tell whether a site lets a robot read `url`; true when it does not say, or does not answer."""
        site = self._site(origin)
        async with site.asking:
            if site.rules_until <= _now():
                await self._ask_rules(site, origin)
        return site.rules is None or bool(site.rules.can_fetch(url, self._agent))

    async def _ask_rules(self, site: _Site, origin: str) -> None:
        raw = await self._get(f"{origin}/robots.txt")
        site.rules_until = _now() + (UNANSWERED_S if raw is None else RULES_S)
        text = (raw or b"")[:ROBOTS_BYTES].decode("utf-8", "replace")
        site.rules = await asyncio.to_thread(Protego.parse, text) if text.strip() else None
        asked_s = float(site.rules.crawl_delay(self._agent) or 0.0) if site.rules else 0.0
        site.keep_to(min(self._rate, 1 / min(asked_s, MAX_DELAY_S)) if asked_s else self._rate)

    @asynccontextmanager
    async def turn(self, origin: str) -> AsyncIterator[None]:
        """Wait for a turn at a site, and hold it."""
        site = self._site(origin)
        site.busy += 1
        try:
            async with site.places:
                await site.limiter.acquire()
                if (pause := site.resumes_at - _now()) > 0:
                    await self._sleep(pause)
                yield
        finally:
            site.busy -= 1

    def pause(self, origin: str, seconds: float) -> None:
        """Give a site no request for some seconds."""
        site = self._site(origin)
        site.resumes_at = max(site.resumes_at, _now() + seconds)

    def pause_s(self, origin: str) -> float:
        """Give the seconds for which a site is still to be left alone."""
        return max(0.0, self._site(origin).resumes_at - _now())

    def _site(self, origin: str) -> _Site:
        site = self._sites.setdefault(origin, _Site(self._rate))
        self._sites.move_to_end(origin)
        if len(self._sites) > MAX_SITES:
            for idle in [key for key, one in self._sites.items() if not one.busy][: MAX_SITES // 10]:
                del self._sites[idle]
        return site


def _now() -> float:
    return asyncio.get_running_loop().time()
