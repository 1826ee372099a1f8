"""Indexes of papers, and Wikipedia: small adapters on one client, with the pace that each of them asks for."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TypeVar

from aiolimiter import AsyncLimiter

from agents.contracts.sources import SearchQuery
from agents.core.retry_policy import RetryPolicy
from agents.nlp.tokens import language_of
from agents.search import academic_parsers as parsers
from agents.search.provider import Access, Provider, ProviderHit
from agents.search.scope_filter import ProviderQuery, keywords, whole_day

MOST_RESULTS = 25
CALL_S = 15.0
TURN_S = 60.0
"""Seconds for one search, waiting in line included: some indexes let one request pass in three seconds."""
PUBMED_FETCH = "/entrez/eutils/efetch.fcgi"

T = TypeVar("T")
MOST_WORDS = 6
"""Telling words that are asked for: most of these indexes want all words of a query to occur."""


@dataclass(frozen=True)
class PaperIndex:
    """One index: where it is, how fast it may be asked, and how.

    Args:
        name: as in RETRIEVER, and as shown to the user.
        base: its address; `{language}` in it is that of the query.
        rate: requests in `per_s` seconds.
        at_once: requests at the same time.
        key_variable: where a key of its own is set; it works without one.
        path: of the search.
        params: makes the parameters of the query, its telling words, the number of results.
        key_param: parameter that carries the key; empty when a header does.
        parse: reads the answer.
    """

    name: str
    base: str
    rate: float
    per_s: float
    at_once: int
    path: str
    params: Callable[[SearchQuery, list[str], int], dict[str, str]]
    parse: Callable[..., list[ProviderHit] | None]
    key_variable: str = ""
    key_param: str = ""
    key_header: str = ""
    is_xml: bool = False


def _arxiv(query: SearchQuery, words: list[str], most: int) -> dict[str, str]:
    joint = " AND " if len(words) <= 3 else " OR "  # all of many words stand in no abstract
    asked = joint.join(f"all:{word}" for word in words)
    if query.date_from or query.date_to:
        first = (whole_day(query.date_from) or "1991-01-01").replace("-", "")
        last = (whole_day(query.date_to, last=True) or "2099-12-31").replace("-", "")
        asked = f"({asked}) AND submittedDate:[{first}0000 TO {last}2359]"
    return {"search_query": asked, "start": "0", "max_results": str(most), "sortBy": "relevance"}


def _openalex(query: SearchQuery, words: list[str], most: int) -> dict[str, str]:
    dates = (
        ("from_publication_date", whole_day(query.date_from)),
        ("to_publication_date", whole_day(query.date_to, last=True)),
    )
    fields = (
        "id,doi,display_name,publication_date,abstract_inverted_index,primary_location,is_retracted,relevance_score"
        ",authorships"
    )
    asked = {"search": " ".join(words), "per-page": str(most), "select": fields}
    if chosen := ",".join(f"{name}:{value}" for name, value in dates if value):
        asked["filter"] = chosen
    return asked


def _crossref(query: SearchQuery, words: list[str], most: int) -> dict[str, str]:
    dates = (("from-pub-date", query.date_from), ("until-pub-date", query.date_to))
    asked = {
        "query.bibliographic": " ".join(words),
        "rows": str(most),
        "select": "DOI,URL,title,abstract,issued,author,score",
    }
    if chosen := ",".join(f"{name}:{value}" for name, value in dates if value):
        asked["filter"] = chosen
    return asked


def _semantic_scholar(query: SearchQuery, words: list[str], most: int) -> dict[str, str]:
    asked = {
        "query": " ".join(words),
        "limit": str(most),
        "fields": "title,abstract,url,year,publicationDate,externalIds,authors",
    }
    if query.date_from or query.date_to:
        asked["publicationDateOrYear"] = f"{query.date_from or ''}:{query.date_to or ''}"
    return asked


def _pubmed(query: SearchQuery, words: list[str], most: int) -> dict[str, str]:
    asked = {"db": "pubmed", "term": " ".join(words), "retmax": str(most), "retmode": "json", "sort": "relevance"}
    if query.date_from or query.date_to:  # it takes both or none
        first, last = query.date_from or "1800", query.date_to or "3000"
        asked |= {"datetype": "pdat", "mindate": first.replace("-", "/"), "maxdate": last.replace("-", "/")}
    return asked


def _wikipedia(query: SearchQuery, words: list[str], most: int) -> dict[str, str]:
    return {
        "action": "query",
        "format": "json",
        "formatversion": "2",
        "generator": "search",
        "gsrsearch": " ".join(words),
        "gsrlimit": str(min(most, 20)),
        "prop": "extracts|info",
        "exintro": "1",
        "explaintext": "1",
        "exlimit": "20",
        "inprop": "url",
        "maxlag": "5",
    }


INDEXES: dict[str, PaperIndex] = {
    index.name: index
    for index in (
        PaperIndex(
            name="openalex",
            base="https://api.openalex.org",
            rate=5,
            per_s=1,
            at_once=2,
            path="/works",
            params=_openalex,
            parse=parsers.openalex,
            key_variable="OPENALEX_API_KEY",
            key_param="api_key",
        ),
        PaperIndex(
            name="crossref",
            base="https://api.crossref.org",
            rate=3,
            per_s=1,
            at_once=1,
            path="/works",
            params=_crossref,
            parse=parsers.crossref,
        ),
        PaperIndex(
            name="arxiv",
            base="https://export.arxiv.org",
            rate=1,
            per_s=3,
            at_once=1,
            path="/api/query",
            params=_arxiv,
            parse=parsers.arxiv,
            is_xml=True,
        ),
        PaperIndex(
            name="pubmed",
            base="https://eutils.ncbi.nlm.nih.gov",
            rate=3,
            per_s=1,
            at_once=2,
            path="/entrez/eutils/esearch.fcgi",
            params=_pubmed,
            parse=parsers.pubmed,
            is_xml=True,
            key_variable="NCBI_API_KEY",
            key_param="api_key",
        ),
        PaperIndex(
            name="semanticscholar",
            base="https://api.semanticscholar.org",
            rate=1,
            per_s=1,
            at_once=1,
            path="/graph/v1/paper/search",
            params=_semantic_scholar,
            parse=parsers.semantic_scholar,
            key_variable="SEMANTIC_SCHOLAR_API_KEY",
            key_header="x-api-key",
        ),
        PaperIndex(
            name="wikipedia",
            base="https://{language}.wikipedia.org",
            rate=5,
            per_s=1,
            at_once=1,
            path="/w/api.php",
            params=_wikipedia,
            parse=parsers.wikipedia,
        ),
    )
}
"""By name. Rates are those that the services ask for, rounded down."""

ACADEMIC = ("openalex", "crossref", "arxiv", "pubmed")
"""What `academic` stands for."""


class HostPace:
    """Lets requests to one host pass at its pace."""

    def __init__(self, rate: float, per_s: float, at_once: int) -> None:
        self._limiter, self._places = AsyncLimiter(rate, per_s), asyncio.Semaphore(at_once)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        async with self._places, self._limiter:
            yield


class Academic(Provider):
    """One index of papers, or Wikipedia.

    Args:
        index: which one; see `INDEXES`.
        access: key and address.
        pace: how fast it may be asked; as it wants when not given.
    """

    def __init__(self, index: PaperIndex, access: Access = Access(), *, pace: HostPace | None = None) -> None:
        retry = access.retry or RetryPolicy(call_s=TURN_S)
        super().__init__(index.name, index.base, replace(access, retry=retry))
        self.host = self.host.removeprefix("{language}.")
        self.key_variable = index.key_variable
        self._index = index
        self._pace = pace or HostPace(index.rate, index.per_s, index.at_once)

    async def _ask(self, asked: ProviderQuery, seconds: float) -> list[ProviderHit]:
        query = asked.query
        words = keywords(query.text, MOST_WORDS) or query.text.split()[:MOST_WORDS]
        params = self._index.params(query, words, min(query.max_results, MOST_RESULTS))
        base = self.base.replace("{language}", language_of(query.text))
        content = await self._get(base, self._index.path, params, seconds)
        if self._index.name == "pubmed":
            numbers = self._usable(parsers.pubmed_ids(self._json(content)))
            if not numbers:
                return []
            fetch = {"db": "pubmed", "id": ",".join(numbers), "retmode": "xml"}
            content = await self._get(base, PUBMED_FETCH, fetch, seconds)
        if self._index.is_xml:
            return self._usable(self._index.parse(content))
        data = self._json(content)
        if self._index.name == "wikipedia" and isinstance(data, dict) and "error" in data:
            raise self._failure("rate", str(data["error"]))  # it is busy, and says so with status 200
        return self._usable(self._index.parse(data))

    async def _get(self, base: str, path: str, params: dict[str, str], seconds: float) -> bytes:
        index = self._index
        if index.key_param and self._secret:
            params = params | {index.key_param: self._secret}
        headers = {index.key_header: self._secret} if index.key_header and self._secret else {}
        async with self._pace.turn():
            return await self._send("GET", path, min(seconds, CALL_S), base=base, params=params, headers=headers)

    def _usable(self, found: list[T] | None) -> list[T]:
        if found is None:
            raise self._failure("nonsense", "the answer has another shape than the service's")
        return found
