"""Keyless search through the package ddgs, where it is installed. It reads the result pages of search engines."""

import asyncio
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from agents.search.provider import Access, Provider, ProviderHit, dicts
from agents.search.query_text import Asked

ENGINES = "duckduckgo,brave,mojeek,startpage"
"""Named one by one: left to itself the package asks encyclopedias first."""

MISSING = "the package ddgs is not installed; install it with `pip install ddgs`"

_NOTHING = "no results found"


def installed() -> bool:
    """Tell whether the package is there."""
    return find_spec("ddgs") is not None


class Ddgs(Provider):
    """Keyless web search.

    Args:
        access: what providers share; there is no key.
        load: gives the package; imported with the first search when not given.
    """

    def __init__(self, access: Access = Access(), *, load: Callable[[], Any] = lambda: import_module("ddgs")) -> None:
        super().__init__("ddgs", "https://duckduckgo.com", access)
        self._load = load

    async def _ask(self, asked: Asked, seconds: float) -> list[ProviderHit]:
        try:
            package = await asyncio.to_thread(self._load)
        except ImportError:
            raise self._failure("nonsense", MISSING) from None
        # Every failure of its engines is this one class or below it, an empty list of results as well.
        base_error: type[Exception] = package.exceptions.DDGSException
        try:
            # Its own limit holds for each wait only; the thread that outlives ours ends soon after.
            rows = await asyncio.to_thread(
                lambda: package.DDGS(timeout=max(1, int(seconds))).text(
                    asked.query.text, max_results=asked.query.max_results, backend=ENGINES
                )
            )
        except base_error as error:
            said, name = str(error), type(error).__name__
        else:
            if not isinstance(rows, list):
                raise self._failure("nonsense", "the answer is no list")
            return [
                ProviderHit(url=row.get("href"), title=row.get("title"), snippet=row.get("body")) for row in dicts(rows)
            ]
        if _NOTHING in said.casefold():
            return []
        if "ratelimit" in (name + said).casefold():
            raise self._failure("rate", said)
        raise self._failure("timeout" if "timeout" in name.casefold() else "connection", said)
