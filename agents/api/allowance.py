"""How much one user, and one address, may ask of this server: so much a minute, all of it at once where nothing was asked.

Kept in memory: a restart forgets it, and each server of several counts for itself.
"""

import math
import time
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from agents.api.error_responses import as_api_error, is_ours
from agents.core.errors import TooMany

ASKING = 10
"""What a request costs that makes somebody work, a message in the chat and a try at logging in: reading costs 1."""
KNOWN = 10_000
"""Names that are remembered before those are dropped that have their whole allowance again."""
LOG_IN = "/login"


class RateLimit:
    """What is left to each name; no limit where `per_minute` is 0."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_minute, self._clock = per_minute, clock
        self._used: dict[str, tuple[float, float]] = {}

    def take(self, name: str, cost: int = 1) -> None:
        """Use some of it.

        Raises:
            TooMany: there is not so much left; carries the seconds until there is.
        """
        if not self.per_minute:
            return
        now, cost = self._clock(), min(cost, self.per_minute)
        used = self._still(name, now)
        if (over := used + cost - self.per_minute) > 0:
            wait_s = math.ceil(over * 60 / self.per_minute)
            raise TooMany("Too much at once. Try again in {seconds} seconds.", wait_s, seconds=wait_s)
        if len(self._used) >= KNOWN:
            self._used = {one: kept for one, kept in self._used.items() if self._still(one, now) > 0}
        self._used[name] = (used + cost, now)

    def _still(self, name: str, now: float) -> float:
        used, since = self._used.get(name, (0.0, now))
        return max(0.0, used - (now - since) * self.per_minute / 60)


def cost_of(method: str, path: str) -> int:
    """Tell what a request costs; nothing for the page and its files."""
    if method == "POST" and (is_ours(path) or path == LOG_IN):
        return ASKING
    return 1 if is_ours(path) or method not in {"GET", "HEAD"} else 0


class AddressLimit:
    """Refuses an address that asks too much with 429, before anything looks at who it is: guessing keys is slow too."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        cost = cost_of(scope["method"], scope["path"]) if scope["type"] == "http" else 0
        if cost and scope.get("client"):
            try:
                scope["app"].state.dossier_site.allowance.take(f"address {scope['client'][0]}", cost)
            except TooMany as error:
                await as_api_error(error).response()(scope, receive, send)
                return
        await self.app(scope, receive, send)
