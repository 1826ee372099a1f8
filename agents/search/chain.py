"""Several providers as one: the first that answers wins, a failing one rests, the library is searched beside them.

Nothing is hidden: who failed and why goes with the result, and to whoever listens.
"""

import asyncio
import copy
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from agents.contracts.frozen import Frozen, Text
from agents.contracts.source import CorpusSurvey, Hit, Place, RejectedSource, SearchQuery, SearchResult, Source
from agents.core.errors import SearchError, SourceError
from agents.search.breaker import Breaker
from agents.search.crawling import crawled
from agents.search.pages import Pages
from agents.search.request_retry import ATTEMPTS
from agents.search.search_errors import Attempt, NoneAnswered, SearchFailed
from agents.search.searcher import Searcher
from agents.web.url_key import canonical

LIBRARY = "library:"
"""How addresses of the user's own documents begin."""

SHARE = 0.6
"""Of the time left, what a provider may take while another could answer in its place."""

BESIDE_S = 12.0
"""Seconds that results of the web wait for what is asked beside it."""

PROBE = "news"
"""The query of a probe: it says nothing about anybody."""
PROBE_REST_S = 300.0
"""Seconds for which a provider that a probe did not reach is left alone."""


class Engine(Protocol):
    """What the chain needs of a provider; see `agents.search.provider.Provider`."""

    name: str
    host: str

    @property
    def keyless(self) -> bool:
        """Works without a key."""
        ...

    async def search(
        self, query: SearchQuery, deadline_s: float | None = None, *, attempts: int = ATTEMPTS
    ) -> SearchResult:
        """Look for documents, or raise SearchFailed."""
        ...

    def page(self, url: str, *, whole: bool = True) -> Source | None:
        """Give a page whose text came with a hit."""
        ...

    async def close(self) -> None:
        """Let go of the connections."""
        ...


OnSwitch = Callable[[Attempt, str], None]
"""Told of each failure, with the name of the provider that is asked next; empty when there is none."""


class Looked(Frozen):
    """A search with the failures on its way."""

    result: SearchResult
    attempts: tuple[Attempt, ...] = ()


class Probed(Frozen):
    """Whether keyless web search can be reached."""

    provider: Text
    host: Text
    """Where queries go."""
    reachable: bool
    reason: str = ""
    """Why not, for people."""


@dataclass
class _Asked:
    """One source of results: its answer, or none, and the failures before."""

    result: SearchResult | None
    attempts: tuple[Attempt, ...] = ()


class Chain:
    """Searches the web and, beside it, indexes of papers and the user's documents; reads what they give.

    Args:
        providers: asked in this order; the first that answers wins.
        pages: reads web pages.
        library: the user's documents, searched beside the web.
        on_switch: told of each failure.
        beside: providers that are asked as well, their results joined.
        sample: the library is the invented sample: searched only when no web search answers, never joined to the web's.
        notes: what the operator should know of this choice, for the banner.
        clock: seconds that only grow.
    """

    def __init__(
        self,
        providers: Sequence[Engine],
        pages: Pages,
        library: Searcher | None = None,
        on_switch: OnSwitch | None = None,
        *,
        beside: Sequence[Engine] = (),
        sample: bool = False,
        notes: tuple[str, ...] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._providers, self._beside, self._pages = tuple(providers), tuple(beside), pages
        self._library, self._sample, self._on_switch = library, sample, on_switch
        self._breakers = {engine.name: Breaker(clock) for engine in self._engines}
        self.notes = notes
        self.names: tuple[str, ...] = (
            *(engine.name for engine in self._engines),
            *((library.name,) if library and not sample else ()),
        )
        """All retrievers, for banner and Methodology."""
        self.name = ", ".join(self.names)
        self.destinations = tuple(dict.fromkeys(engine.host for engine in self._engines))
        """Hosts that queries are sent to, for the banner."""

    @property
    def _engines(self) -> tuple[Engine, ...]:
        return (*self._providers, *self._beside)

    @property
    def places(self) -> tuple[Place, ...]:
        """Where this chain can search."""
        web: tuple[Place, ...] = ("web",) if self._engines else ()
        return (*web, "library") if self._library else web

    @property
    def degraded(self) -> tuple[str, ...]:
        """Why search is limited now, provider by provider; empty when it is not."""
        return tuple(breaker.reason for breaker in self._breakers.values() if breaker.is_open)

    @property
    def skipped(self) -> tuple[RejectedSource, ...]:
        """Files of the library that are not used."""
        return tuple(getattr(self._library, "skipped", ()))

    @property
    def unread(self) -> tuple[RejectedSource, ...]:
        """Of these, documents that could not be read, which a report names."""
        return tuple(getattr(self._library, "unread", ()))

    def narrowed(self, places: Sequence[Place], *, with_sample: bool = True) -> Searcher:
        """Give the part of this chain that searches these places only; all of it where none is named.

        Providers and what is known of their health are shared.

        Args:
            places: as the user chose them; one that is not there is passed over.
            with_sample: the invented sample may answer when no web search does.
        """
        if set(places) == {"library"} and self._library is not None:
            return self._library
        dropped = set(places) == {"web"} or (self._sample and not with_sample)
        if not dropped or not self._engines:
            return self
        part = copy.copy(self)
        part._library = None
        part.names = tuple(engine.name for engine in self._engines)
        part.name = ", ".join(part.names)
        return part

    async def search(self, query: SearchQuery, deadline_s: float | None = None) -> SearchResult:
        """Look for documents; the result names who answered.

        Raises:
            NoneAnswered: no provider did, and the library has nothing either.
        """
        return (await self.look(query, deadline_s)).result

    async def look(self, query: SearchQuery, deadline_s: float | None = None) -> Looked:
        """Look for documents, and keep who failed on the way.

        Raises:
            NoneAnswered: no provider did, and the library has nothing either.
        """
        loop = asyncio.get_running_loop()
        ends_at = None if deadline_s is None else loop.time() + deadline_s
        beside_ends_at = ends_at
        if self._providers:
            beside_ends_at = loop.time() + (BESIDE_S if deadline_s is None else min(BESIDE_S, deadline_s))
        asked = await asyncio.gather(
            *([self._in_turn(self._providers, query, ends_at)] if self._providers else []),
            *(self._in_turn((engine,), query, beside_ends_at) for engine in self._beside),
            *([self._of_library(query, ends_at)] if self._library and not self._sample else []),
        )
        attempts = tuple(attempt for one in asked for attempt in one.attempts)
        web = asked[: bool(self._providers) + len(self._beside)]
        answered = web[0].result is not None if self._providers else any(one.result for one in web)
        results = [one.result for one in asked if one.result is not None]
        if self._library and self._sample and not any(one.result for one in web):
            fallback = await self._of_library(query, ends_at)
            attempts += fallback.attempts
            results = [fallback.result] if fallback.result else []
        with_hits = [result for result in results if result.hits]
        if not with_hits and not (answered or (not web and results)):
            raise NoneAnswered(attempts)
        named = with_hits or results[:1]
        return Looked(
            result=SearchResult(
                query=query.text,
                provider=", ".join(result.provider for result in named),
                hits=joined([result.hits for result in with_hits], query.max_results),
            ),
            attempts=attempts,
        )

    async def read(self, url: str, deadline_s: float | None = None) -> Source:
        """Read a document: of the library, of the texts that came with hits, or from the web.

        Of a paper that is closed to readers, the abstract is given, tagged as one.

        Raises:
            SourceError: it cannot be read or may not be used.
        """
        if url.startswith(LIBRARY):
            if self._library is None:
                raise SourceError(url, "there is no library")
            return await self._library.read(url, deadline_s)
        if source := self._kept(url, whole=True):
            return source
        try:
            return await self._pages.read(url, deadline_s)
        except SourceError:
            if source := self._kept(url, whole=False):
                return source
            raise

    async def crawl(self, url: str, limit: int, deadline_s: float | None = None) -> tuple[Hit, ...]:
        """Give pages of the same site that a page leads to, one step away; documents of the library lead nowhere.

        Raises:
            SourceError: the page cannot be read or may not be used.
        """
        if url.startswith(LIBRARY):
            return ()
        awake = [engine for engine in self._providers if not self._breakers[engine.name].is_open]
        return await crawled(awake, self._pages, url, limit, deadline_s)

    async def survey(self, question: str = "", limit: int = 24) -> CorpusSurvey:
        """Tell what the library talks about; beside it there is the web, which nobody can survey.

        Raises:
            SearchError: the library cannot be read.
        """
        web = any(not breaker.is_open for breaker in self._breakers.values())
        if self._library is None or (self._sample and web):
            return CorpusSurvey(web=True)
        survey = await self._library.survey(question, limit)
        return survey if self._sample else survey.model_copy(update={"web": True})

    async def probe(self, deadline_s: float = 2.0) -> Probed | None:
        """Try keyless web search once, briefly; one that is not reached is left alone for a while.

        Returns:
            The first that is reachable, else the first; None when a provider with a key is asked before them.
        """
        keyless = [engine for engine in self._providers if engine.keyless]
        if not keyless or not self._providers[0].keyless:
            return None
        results = await asyncio.gather(*(self._probe(engine, deadline_s) for engine in keyless))
        return next((result for result in results if result.reachable), results[0])

    async def trial(self, deadline_s: float = 10.0) -> tuple[Probed, ...]:
        """Ask every provider once, side by side, whatever is known of it: for an operator who wants to know."""
        return tuple(await asyncio.gather(*(self._trial(engine, deadline_s) for engine in self._engines)))

    async def _trial(self, engine: Engine, deadline_s: float) -> Probed:
        reason = ""
        try:
            await engine.search(SearchQuery(text=PROBE, max_results=1), deadline_s, attempts=1)
        except SearchError as error:
            reason = getattr(error, "reason", "") or error.notice
        return Probed(provider=engine.name, host=engine.host, reachable=not reason, reason=reason)

    async def close(self) -> None:
        """Let go of connections, and of the library."""
        for engine in self._engines:
            await engine.close()
        if close := getattr(self._library, "close", None):
            close()

    async def _in_turn(self, engines: Sequence[Engine], query: SearchQuery, ends_at: float | None) -> _Asked:
        """Ask one after the other until one answers."""
        attempts: list[Attempt] = []
        for number, engine in enumerate(engines):
            breaker = self._breakers[engine.name]
            admission = breaker.admit()
            if admission == "no":
                attempts.append(Attempt(provider=engine.name, kind="resting", reason=breaker.reason))
                continue
            others = [other for other in engines[number + 1 :] if not self._breakers[other.name].is_open]
            left = _left(ends_at)
            try:
                result = await engine.search(
                    query,
                    left if left is None or not others else left * SHARE,
                    attempts=1 if admission == "trial" else ATTEMPTS,
                )
            except SearchFailed as failure:
                breaker.failed(failure.kind, failure.reason, failure.retry_after_s)
                attempts.append(failure.attempt)
                self._tell(failure.attempt, next((other.name for other in others), ""))
            else:
                breaker.succeeded()
                return _Asked(result, tuple(attempts))
        return _Asked(None, tuple(attempts))

    async def _of_library(self, query: SearchQuery, ends_at: float | None) -> _Asked:
        assert self._library is not None
        try:
            return _Asked(await self._library.search(query, _left(ends_at)))
        except SearchError:
            attempt = Attempt(
                provider=self._library.name, kind="server", reason=f"{self._library.name} could not be read"
            )
            self._tell(attempt, "")
            return _Asked(None, (attempt,))

    async def _probe(self, engine: Engine, deadline_s: float) -> Probed:
        try:
            await engine.search(SearchQuery(text=PROBE, max_results=1), deadline_s, attempts=1)
        except SearchFailed as failure:
            self._breakers[engine.name].rest(failure.reason, PROBE_REST_S)
            return Probed(provider=engine.name, host=engine.host, reachable=False, reason=failure.reason)
        return Probed(provider=engine.name, host=engine.host, reachable=True)

    def _kept(self, url: str, *, whole: bool) -> Source | None:
        return next((source for engine in self._engines if (source := engine.page(url, whole=whole))), None)

    def _tell(self, attempt: Attempt, following: str) -> None:
        if self._on_switch:
            self._on_switch(attempt, following)


def joined(lists: Sequence[Iterable[Hit]], most: int, k: int = 60) -> tuple[Hit, ...]:
    """Merge ranked lists by reciprocal rank (Cormack, Clarke and Büttcher 2009).

    Scores of two providers never compare.
    """
    lists = [tuple(hits) for hits in lists]
    if len(lists) < 2:
        return tuple(lists[0])[:most] if lists else ()
    score: dict[str, float] = {}
    first: dict[str, Hit] = {}
    for hits in lists:
        for rank, hit in enumerate(hits):
            key = canonical(hit.url)
            score[key] = score.get(key, 0.0) + 1 / (k + rank + 1)
            first.setdefault(key, hit)
    ranked = sorted(first, key=lambda key: -score[key])[:most]
    return tuple(first[key].model_copy(update={"score": score[key]}) for key in ranked)


def _left(ends_at: float | None) -> float | None:
    return None if ends_at is None else max(0.0, ends_at - asyncio.get_running_loop().time())
