"""A search provider in memory, for tests and demonstrations. Ranks by shared words; fails where it is told to."""

from collections.abc import Collection, Mapping, Sequence

from agents.contracts.frozen import digest
from agents.contracts.sources import CorpusSurvey, DocumentNote, Hit, SearchQuery, SearchResult, Source
from agents.core.errors import SearchError, SourceError
from agents.nlp.tokens import content_words, language_of
from agents.search.telling_terms import phrases, telling, widespread

_SNIPPET = 300


class ScriptedSearcher:
    """Answers from the documents it is given; keeps what it was asked.

    Args:
        documents: sources, or address to title and text.
        fail: queries for which `search` fails, and addresses for which `read` fails.
        name: as shown to the user.
    """

    def __init__(
        self,
        documents: Mapping[str, tuple[str, str]] | Sequence[Source],
        *,
        fail: Collection[str] = (),
        name: str = "scripted",
    ) -> None:
        self.name = name
        self.asked: list[SearchQuery] = []
        self.read_urls: list[str] = []
        self._fail = frozenset(fail)
        sources = _sources(documents) if isinstance(documents, Mapping) else documents
        self._sources = {source.url: source for source in sources}

    async def search(self, query: SearchQuery, deadline_s: float | None = None) -> SearchResult:
        """Give the documents that share words with the query, most first.

        Raises:
            SearchError: the script says so.
        """
        self.asked.append(query)
        if query.text in self._fail:
            raise SearchError(f"scripted failure of {query.text!r}", provider=self.name)
        hits = tuple(
            Hit(
                url=source.url,
                title=source.title,
                snippet=source.text[:_SNIPPET],
                score=float(shared),
                published=source.published,
                provider=self.name,
            )
            for source, shared in self._ranked(query.text)[: query.max_results]
        )
        return SearchResult(query=query.text, provider=self.name, hits=hits)

    async def read(self, url: str, deadline_s: float | None = None, known: Source | None = None) -> Source:
        """Give the document at an address.

        Raises:
            SourceError: the script says so, or there is no such document.
        """
        self.read_urls.append(url)
        if url in self._fail:
            raise SourceError(url, "it could not be reached", "site")
        if url not in self._sources:
            raise SourceError(url, "there is no such document")
        return self._sources[url]

    async def survey(self, question: str = "", limit: int = 24) -> CorpusSurvey:
        """Tell what the documents talk about."""
        found = {source.url: phrases(source.text, source.title) for source in self._sources.values()}
        spread: dict[str, int] = {}
        for each in found.values():
            for phrase in each:
                spread[phrase.key] = spread.get(phrase.key, 0) + 1
        ranked = self._ranked(question) if question else [(source, 2) for source in self._sources.values()]
        needed = min(2, len(set(content_words(question)))) if question else 0
        return CorpusSurvey(
            documents=tuple(
                DocumentNote(
                    title=source.title,
                    themes=telling(found[source.url], spread, len(found), 6),
                    published=source.published,
                    language=source.language,
                )
                for source, _ in ranked[:limit]
            ),
            total=len(self._sources),
            matching=sum(shared >= needed for _, shared in ranked),
            themes=widespread(list(found.values()), 20),
        )

    def _ranked(self, text: str) -> list[tuple[Source, int]]:
        asked = set(content_words(text))
        shared = {
            source.url: len(asked.intersection(content_words(f"{source.title} {source.text}")))
            for source in self._sources.values()
        }
        ranked = sorted((url for url in shared if shared[url]), key=lambda url: -shared[url])
        return [(self._sources[url], shared[url]) for url in ranked]


def _sources(documents: Mapping[str, tuple[str, str]]) -> list[Source]:
    return [
        Source(
            id=Source.id_of(url),
            url=url,
            title=title,
            kind="sample",
            text=text,
            text_hash=digest(text),
            language=language_of(text),
        )
        for url, (title, text) in documents.items()
    ]
