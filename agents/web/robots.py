"""What sites ask of robots, in their robots.txt: kept for a day, asked once however many pages are wanted."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from protego import Protego

KEPT_S = 86_400.0
"""Seconds for which the rules of a site hold: RFC 9309 §2.4."""

KEPT_UNANSWERED_S = 600.0
"""Seconds after which a site that gave no rules is asked again."""

MAX_BYTES = 512 * 1024
"""What is read of a robots.txt, a little more than RFC 9309 §2.5 asks for."""

MAX_SITES = 1_000
MAX_DELAY_S = 5.0
"""A longer pause between two pages than this is not kept: a run reads few pages of a site."""

_SLOW = 50_000  # characters from which parsing would hold up everything else

Get = Callable[[str], Awaitable[bytes | None]]
"""Address of a robots.txt to its bytes; empty when the site has none, None when it did not answer."""


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
            return _Rules(None, self._clock() + KEPT_UNANSWERED_S)
        text = raw[:MAX_BYTES].decode("utf-8", "replace")
        if len(text) > _SLOW:
            return _Rules(await asyncio.to_thread(Protego.parse, text), self._clock() + KEPT_S)
        return _Rules(Protego.parse(text) if text.strip() else None, self._clock() + KEPT_S)
