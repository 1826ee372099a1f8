"""Several providers as one: the first that answers wins, a failing one rests, the library is searched beside them.

Nothing is hidden: who failed and why goes with each result.
"""

import asyncio
import copy
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from agents.contracts.sources import (
    CorpusSurvey,
    Hit,
    Place,
    RejectedSource,
    SearchFailure,
    SearchFault,
    SearchQuery,
    SearchResult,
    Source,
)
from agents.core.errors import SearchError, SourceError
from agents.search.library import Library, together
from agents.search.pages import WebPages
from agents.search.provider import Provider
from agents.search.scope_filter import FILES, LIBRARY, fuse
from agents.search.searcher import REST_S, CircuitBreaker, Probed, Searcher, SearchFailed, none_answered
from agents.search.web_providers import Firecrawl
from agents.web.walls import wall_of

SHARE = 0.6  # of the time left, what a provider may take while another could answer in its place
CRAWL_SHARE = 0.5  # of the time left, what a crawler may take while the page's own links could answer in its place
BESIDE_S = 12.0  # seconds that results of the web wait for what is asked beside it
PROBE = "news"  # the query of a probe: it says nothing about anybody
PROBE_S = 2.0
PROBE_REST_S = 300.0  # seconds for which a provider that a probe did not reach is left alone
LONG_REST_S: dict[SearchFault, float] = {"auth": 3600.0, "quota": 3600.0, "rate": 60.0, "nonsense": 300.0}
"""Seconds for which a provider rests after faults that do not pass soon."""
AT_ONCE = frozenset[SearchFault]({"auth", "quota"})
"""These open the breaker at the first failure: a key that is refused will be refused again."""


_Asked = tuple[SearchResult | None, tuple[SearchFailure, ...]]
"""Of one group of providers: the answer of the first that gave one, and the failures before it."""


@dataclass
class _Reach:
    """Whether web search that nobody set up can be reached, as the last probe showed: for all research alike."""

    found: Probed | None = None
    """None before anything was tried."""
    again_at: float = 0.0
    """Until then one that was not reached is not tried again."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def cut_off(self) -> bool:
        """Whether none was reached."""
        return self.found is not None and not self.found.reachable


class Chain:
    """Searches the web and, beside it, indexes of papers and the user's documents; reads what they give.

    Args:
        providers: asked in this order; the first that answers wins.
        pages: reads web pages; None where only documents are searched.
        library: the user's documents, searched beside the web.
        beside: providers that are asked as well, their results joined.
        sample: the invented documents. One research searches either these, when no provider could be reached before it
            began, or the web: they never stand in for a search that failed.
        by_default: nobody set up the providers. Where none can be reached before a research begins, it searches documents
            alone, as its contract says; nothing has failed then.
    """

    def __init__(
        self,
        providers: Sequence[Provider],
        pages: WebPages | None,
        library: Searcher | None = None,
        *,
        beside: Sequence[Provider] = (),
        sample: Searcher | None = None,
        by_default: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._providers, self._beside, self._pages = tuple(providers), tuple(beside), pages
        self._library, self._sample = library, sample
        self._files: Searcher | None = None
        self._reach = _Reach()
        self._by_default = by_default or sample is not None
        self._alone: bool | None = None if self._by_default else False
        self._clock = clock
        self._breakers = {engine.name: CircuitBreaker(clock) for engine in self._engines}
        self.destinations = tuple(dict.fromkeys(engine.host for engine in self._engines))
        """Hosts that queries are sent to, for the banner."""

    @property
    def _engines(self) -> tuple[Provider, ...]:
        return (*self._providers, *self._beside)

    @property
    def names(self) -> tuple[str, ...]:
        """All retrievers, for banner, contract and Methodology; documents alone where they are known to be all there is."""
        alone = not self._engines or (self._reach.cut_off if self._alone is None else self._alone)
        own = self._documents(alone=alone)
        return (*(() if alone and own else (engine.name for engine in self._engines)), *(one.name for one in own))

    @property
    def name(self) -> str:
        return ", ".join(self.names)

    @property
    def places(self) -> tuple[Place, ...]:
        web: tuple[Place, ...] = ("web",) if self._engines else ()
        return (*web, "library") if self._library or self._sample else web

    @property
    def skipped(self) -> tuple[RejectedSource, ...]:
        """Files of the library that are not used."""
        return self._library.skipped if isinstance(self._library, Library) else ()

    @property
    def unread(self) -> tuple[RejectedSource, ...]:
        """Of these, documents that could not be read, which a report names."""
        return self._library.unread if isinstance(self._library, Library) else ()

    @property
    def probed(self) -> Probed | None:
        """What the last probe came to; None before it, and where none is made."""
        return self._reach.found

    def _documents(self, *, alone: bool) -> tuple[Searcher, ...]:
        own = tuple(one for one in (self._files, self._library) if one is not None)
        return own or ((self._sample,) if alone and self._sample else ())

    def scoped(
        self, places: Sequence[Place] = (), searched: Sequence[str] = (), files: Searcher | None = None
    ) -> "Chain":
        """Give what one research searches: these places only, all where none is named, and the files of its chat.

        Providers and what is known of their health are shared. Names that a contract settled on are `searched`, none while
        that is open. The invented sample steps aside for files of the user's own: it never joins real documents.
        """
        part = copy.copy(self)
        part._files, only = files, set(places)
        part._alone = None if self._by_default else False
        if searched and self._by_default:
            part._alone = not any(engine.name in searched for engine in self._engines)
        if only == {"library"} and (self._library or self._sample):
            part._providers, part._beside, part._pages = (), (), None
        if only == {"web"}:
            part._alone, part._library = False, None if self._engines else self._library
        if files or only == {"web"}:
            part._sample = None
        return part

    async def search(self, query: SearchQuery, deadline_s: float | None = None) -> SearchResult:
        """Look for documents; the result names who answered, and who failed."""
        alone = await self._is_alone()
        documents = self._documents(alone=alone)
        web, beside = ((), ()) if alone else (self._providers, self._beside)
        if len(documents) == 1 and not web and not beside:
            return await documents[0].search(query, deadline_s)
        beside_s = deadline_s if not web else BESIDE_S if deadline_s is None else min(BESIDE_S, deadline_s)
        asked = await asyncio.gather(
            *([self._in_turn(web, query, deadline_s)] if web else []),
            *(self._in_turn((engine,), query, beside_s) for engine in beside),
            *(self._of_documents(one, query, deadline_s) for one in documents),
        )
        failures = tuple(failure for _, failed in asked for failure in failed)
        results = [result for result, _ in asked if result is not None]
        with_hits = [result for result in results if result.hits]
        decisive = asked[: 1 if web else len(beside)]
        answered = any(result for result, _ in decisive) if decisive else len(results) == len(asked)
        if not with_hits and not answered:
            raise none_answered(failures)
        return SearchResult(
            query=query.text,
            provider=", ".join(result.provider for result in with_hits or results[:1]),
            hits=fuse([result.hits for result in with_hits], query.max_results),
            failures=failures,
        )

    async def read(self, url: str, deadline_s: float | None = None, known: Source | None = None) -> Source:
        """Read a document of the library, a file of the chat, or a page of the web."""
        own = self._files if url.startswith(FILES) else self._library or self._sample
        reader = own if url.startswith((FILES, LIBRARY)) or self._pages is None else self._pages
        if reader is None:
            raise SourceError(url, "there is no library")
        return await reader.read(url, deadline_s, known)

    async def crawl(self, url: str, limit: int, deadline_s: float | None = None) -> tuple[Hit, ...]:
        """Give pages of the same site that a page leads to, one step away; documents of the library lead nowhere.

        A crawler is asked where a key allows one, else the page's own links are given.
        """
        if url.startswith((LIBRARY, FILES)) or self._pages is None:
            return ()
        crawlers = (
            one for one in self._providers if isinstance(one, Firecrawl) and not self._breakers[one.name].is_open
        )
        if crawler := next(crawlers, None):
            with suppress(SearchFailed):
                return await crawler.crawl(url, limit, None if deadline_s is None else deadline_s * CRAWL_SHARE)
        links = await self._pages.links(url, deadline_s)
        return tuple(Hit(url=address, title=label, provider="links") for address, label in links)[:limit]

    async def survey(self, question: str = "", limit: int = 24) -> CorpusSurvey:
        """Tell what the documents talk about, files first; beside them there is the web, which nobody can survey."""
        alone = await self._is_alone()
        told = CorpusSurvey(web=bool(self._engines) and not alone)
        for documents in self._documents(alone=alone):
            told = together(told, await documents.survey(question, limit), limit)
        return told

    async def probe(self, deadline_s: float = PROBE_S) -> Probed | None:
        """Try keyless web search once, briefly; one that is not reached is left alone for a while.

        Gives the first that is reachable, else the first; None when a provider with a key is asked before them.
        """
        keyless = [engine for engine in self._providers if engine.keyless]
        if not keyless or not self._providers[0].keyless:
            return None
        results = await asyncio.gather(*(self._try(engine, deadline_s) for engine in keyless))
        for result in results:
            if result.reachable:
                self._breakers[result.provider].succeeded()
            else:
                self._breakers[result.provider].rest(result.reason, PROBE_REST_S)
        self._reach.found = next((result for result in results if result.reachable), results[0])
        self._reach.again_at = self._clock() + PROBE_REST_S
        return self._reach.found

    async def trial(self, deadline_s: float = 10.0) -> tuple[Probed, ...]:
        """Ask every provider once, side by side, whatever is known of it: for an operator who wants to know."""
        return tuple(await asyncio.gather(*(self._try(engine, deadline_s) for engine in self._engines)))

    def warm_up(self) -> None:
        """Load what the first search would else wait for; slow, so for a thread of its own."""
        for engine in self._engines:
            engine.warm_up()
        wall_of("", "", "")

    async def close(self) -> None:
        for engine in self._engines:
            await engine.close()
        for documents in (self._library, self._sample):
            if isinstance(documents, Library):
                documents.close()

    async def _is_alone(self) -> bool:
        """Tell whether this research searches documents alone: decided once, before its first search."""
        if self._alone is None and self._engines and self._documents(alone=True):
            reach = self._reach
            async with reach.lock:
                if reach.found is None or (reach.cut_off and self._clock() >= reach.again_at):
                    await self.probe()
            self._alone = reach.cut_off
        return not self._engines or bool(self._alone)

    async def _try(self, engine: Provider, deadline_s: float) -> Probed:
        reason = ""
        await asyncio.to_thread(engine.warm_up)  # outside its time
        try:
            await engine.search(SearchQuery(text=PROBE, max_results=1), deadline_s, attempts=1)
        except SearchError as error:
            reason = error.failures[0].reason if error.failures else error.notice
        return Probed(provider=engine.name, host=engine.host, reachable=not reason, reason=reason)

    async def _in_turn(self, engines: Sequence[Provider], query: SearchQuery, deadline_s: float | None) -> _Asked:
        """Ask one after the other until one answers."""
        failures: list[SearchFailure] = []
        now = asyncio.get_running_loop().time
        ends_at = None if deadline_s is None else now() + deadline_s
        for number, engine in enumerate(engines, start=1):
            breaker = self._breakers[engine.name]
            if not breaker.admit():
                failures.append(SearchFailure(provider=engine.name, fault="resting", reason=breaker.reason))
                continue
            share = SHARE if any(not self._breakers[other.name].is_open for other in engines[number:]) else 1.0
            left = None if ends_at is None else share * max(0.0, ends_at - now())
            try:
                result = await engine.search(query, left, attempts=1 if breaker.is_open else None)
            except SearchFailed as failure:
                failures += failure.failures
                _note(breaker, failure)
            except asyncio.CancelledError:
                breaker.abandoned()
                raise
            else:
                breaker.succeeded()
                return result, tuple(failures)
        return None, tuple(failures)

    async def _of_documents(self, documents: Searcher, query: SearchQuery, deadline_s: float | None) -> _Asked:
        try:
            return await documents.search(query, deadline_s), ()
        except SearchError as error:
            reason = f"{documents.name} could not be read"
            return None, error.failures or (SearchFailure(provider=documents.name, fault="server", reason=reason),)


def _note(breaker: CircuitBreaker, failure: SearchFailed) -> None:
    """Count a failure; a query that was not accepted says nothing about the provider."""
    if failure.fault == "query":
        breaker.abandoned()
        return
    asked_s = failure.retry_after_s or 0.0
    breaker.failed(
        failure.reason,
        rest_s=max(LONG_REST_S.get(failure.fault, 0.0), asked_s),
        at_once=failure.fault in AT_ONCE or asked_s > REST_S,
    )
