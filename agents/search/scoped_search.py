"""A searcher over the user's own files of one chat, and over what is searched beside them."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Sequence

from agents.contracts.source import CorpusSurvey, Hit, OwnFile, Place, SearchQuery, SearchResult, Source
from agents.core.errors import SearchError, SourceError
from agents.search.chain import Chain, joined
from agents.search.index import Entry, Index
from agents.search.searcher import FILES_NAME, SAMPLE_NAME, Crawler, Searcher, Texts
from agents.search.surveying import survey_of
from agents.search.uploads import SCHEME

log = logging.getLogger(__name__)

KEPT_READY = 8
"""Sets of files whose index is kept in memory, last used last."""


class Files:
    """The files of one chat, indexed in memory when first asked for: their texts lie on the shelf."""

    def __init__(self, files: Sequence[OwnFile], texts: Texts) -> None:
        self._by_url = {file.card.url: file for file in files}
        self._texts = texts
        self._index: Index | None = None
        self._lock = asyncio.Lock()  # one index, asked by one thread at a time

    async def search(self, query: SearchQuery) -> SearchResult:
        """Find files by the words of the query; domains do not apply, dates do where a file has one."""
        async with self._lock:
            index = await self._indexed()
            found = await asyncio.to_thread(index.search, query.text, query.max_results, query.date_from, query.date_to)
        hits = tuple(
            Hit(
                url=one.url,
                title=one.title,
                snippet=one.snippet,
                score=one.score,
                published=one.published,
                provider=FILES_NAME,
            )
            for one in found
        )
        return SearchResult(query=query.text, provider=FILES_NAME, hits=hits)

    async def read(self, url: str) -> Source:
        """Give a file's document.

        Raises:
            SourceError: it is none of these files, or its text is gone.
        """
        file = self._by_url.get(url)
        if file is None:
            raise SourceError(url, "it is none of the files of this chat")
        card = file.card.model_copy(update={"tags": tuple(dict.fromkeys((*file.card.tags, *file.gaps)))})
        return Source(text=await self._texts.get(card.text_hash), **card.model_dump())

    async def survey(self, question: str, limit: int) -> CorpusSurvey:
        """Tell what the files talk about."""
        async with self._lock:
            return await asyncio.to_thread(survey_of, await self._indexed(), question.strip(), limit)

    async def _indexed(self) -> Index:
        if self._index is None:
            entries = []
            for url in self._by_url:
                try:
                    entries.append(_entry(await self.read(url)))
                except SourceError as error:
                    log.warning("a file of a chat can't be searched any more: %s", error)

            def made() -> Index:
                index = Index(None)
                index.change((), entries)
                return index

            self._index = await asyncio.to_thread(made)
        return self._index


class WithFiles:
    """The user's own files, and beside them what else is searched.

    Args:
        files: the user's own.
        beside: what is searched as well; None where the files are all there is.
    """

    def __init__(self, files: Files, beside: Searcher | None) -> None:
        self._files, self._beside = files, beside
        self.name = FILES_NAME if beside is None else f"{FILES_NAME}, {beside.name}"

    async def search(self, query: SearchQuery, deadline_s: float | None = None) -> SearchResult:
        """Look for documents; fails only where the files hold nothing and what is beside them fails.

        Raises:
            SearchError: as said.
        """
        if self._beside is None:
            return await self._files.search(query)
        own, other = await asyncio.gather(
            self._files.search(query), self._beside.search(query, deadline_s), return_exceptions=True
        )
        answers = [one for one in (own, other) if isinstance(one, SearchResult)]
        with_hits = [one for one in answers if one.hits]
        for failure in (own, other):
            if isinstance(failure, BaseException) and not (isinstance(failure, SearchError) and with_hits):
                raise failure
        return SearchResult(
            query=query.text,
            provider=", ".join(one.provider for one in with_hits or answers[-1:]),
            hits=joined([one.hits for one in with_hits], query.max_results),
        )

    async def read(self, url: str, deadline_s: float | None = None) -> Source:
        """Read one of the files, or what is beside them.

        Raises:
            SourceError: it cannot be read or may not be used.
        """
        if url.startswith(SCHEME) or self._beside is None:
            return await self._files.read(url)
        return await self._beside.read(url, deadline_s)

    async def crawl(self, url: str, limit: int, deadline_s: float | None = None) -> tuple[Hit, ...]:
        """Give pages of the same site that a page leads to; files lead nowhere.

        Raises:
            SourceError: the page cannot be read or may not be used.
        """
        if url.startswith(SCHEME) or not isinstance(self._beside, Crawler):
            return ()
        return await self._beside.crawl(url, limit, deadline_s)

    async def survey(self, question: str = "", limit: int = 24) -> CorpusSurvey:
        """Tell what the files talk about, then what is beside them.

        Raises:
            SearchError: what is beside them cannot be read.
        """
        own = await self._files.survey(question, limit)
        if self._beside is None:
            return own
        return _together(own, await self._beside.survey(question, limit), limit)


class Searching:
    """Narrows what a server can search to what one research may, and puts the user's own files beside it."""

    def __init__(self, base: Searcher, texts: Texts) -> None:
        self._base, self._texts = base, texts
        self._ready: OrderedDict[tuple[tuple[str, str], ...], Files] = OrderedDict()

    def of(self, files: Sequence[OwnFile], places: Sequence[Place]) -> Searcher:
        """Give the searcher of one research.

        The invented sample steps aside for files of the user's own: it never joins real documents.
        """
        base = self._base
        if isinstance(base, Chain):
            base = base.narrowed(places, with_sample=not files)
        if not files:
            return base
        return WithFiles(self._files(files), None if base.name == SAMPLE_NAME else base)

    def _files(self, files: Sequence[OwnFile]) -> Files:
        key = tuple((file.card.url, file.card.text_hash) for file in files)
        made = self._ready.pop(key, None) or Files(files, self._texts)
        self._ready[key] = made
        if len(self._ready) > KEPT_READY:
            self._ready.popitem(last=False)
        return made


def places_of(searcher: Searcher) -> tuple[Place, ...]:
    """Say where a server can search."""
    return searcher.places if isinstance(searcher, Chain) else ("library",)


def _entry(source: Source) -> Entry:
    return Entry(
        url=source.url,
        folder="",
        stamp="",
        title=source.title,
        text=source.text,
        author=source.author,
        site=source.site,
        published=source.published,
        language=source.language,
        pages=source.pages,
        gaps=source.tags,
    )


def _together(own: CorpusSurvey, other: CorpusSurvey, limit: int) -> CorpusSurvey:
    starts = [date for date in (own.date_from, other.date_from) if date]
    ends = [date for date in (own.date_to, other.date_to) if date]
    return CorpusSurvey(
        documents=(*own.documents, *other.documents)[:limit],
        total=own.total + other.total,
        matching=own.matching + other.matching,
        themes=tuple(dict.fromkeys((*own.themes, *other.themes))),
        date_from=min(starts, default=None),
        date_to=max(ends, default=None),
        languages=tuple(dict.fromkeys((*own.languages, *other.languages))),
        web=other.web,
    )
