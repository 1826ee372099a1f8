"""Indexes of papers and Wikipedia: reading what they answer, and asking them on loopback."""

import asyncio
import json
import time
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from pydantic import SecretStr
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from agents.contracts.sources import PROVIDER_COPY, SearchQuery
from agents.core.transport import RetryPolicy
from agents.search import academic as parsers
from agents.search.academic import PAPERS
from agents.search.pages import ABSTRACT
from agents.search.provider import Access, Provider, decoded
from agents.search.searcher import SearchFailed

KEY = "FAKE-0123456789abcdef"

ARXIV = b"""<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <title>ArXiv Query</title>
  <entry>
    <id>http://arxiv.org/abs/2401.00001v3</id>
    <updated>2024-05-01T00:00:00Z</updated>
    <published>2024-01-02T08:00:00Z</published>
    <title>Ice on
      small lakes</title>
    <summary> We measure  ice. </summary>
    <author><name>Ada Frost</name></author><author><name>Bo Rime</name></author>
  </entry>
  <entry><id></id><title>nothing</title></entry>
</feed>"""
ARXIV_ERROR = ARXIV.replace(b"http://arxiv.org/abs/2401.00001v3", b"http://arxiv.org/api/errors#incorrect_id")
OPENALEX: dict[str, Any] = {
    "results": [
        {
            "id": "https://openalex.org/W1",
            "doi": "https://doi.org/10.5555/ice.1",
            "display_name": "Ice on small lakes",
            "publication_date": "2021-03-04",
            "abstract_inverted_index": {"ice": [1, 4], "We": [0], "measure": [2], "the": [3], "thickness": [5]},
            "primary_location": {"landing_page_url": "https://journal.example/1"},
            "is_retracted": True,
            "relevance_score": 12.5,
            "authorships": [{"author": {"display_name": "Ada Frost"}}, None],
        },
        {
            "id": "https://openalex.org/W2",
            "doi": None,
            "display_name": None,
            "primary_location": {"landing_page_url": "https://journal.example/2"},
        },
        "oops",
    ]
}
CROSSREF: dict[str, Any] = {
    "message": {
        "items": [
            {
                "DOI": "10.5555/ICE.2",
                "title": ["Ice &amp; <i>snow</i>"],
                "abstract": "<jats:title>Abstract</jats:title><jats:p>Ice grows &lt; 1 m.</jats:p>",
                "issued": {"date-parts": [[2020]]},
                "author": [{"given": "Ada", "family": "Frost"}],
                "score": 9.0,
            },
            {"URL": "https://journal.example/3", "title": [], "issued": {"date-parts": [[None]]}},
        ]
    }
}
SEMANTIC: dict[str, Any] = {
    "total": 1,
    "data": [
        {
            "title": "Ice on small lakes",
            "abstract": None,
            "url": "https://www.semanticscholar.org/paper/a",
            "year": 2019,
            "publicationDate": None,
            "externalIds": {"DOI": "10.5555/Ice.4"},
            "authors": [{"name": "Ada Frost"}],
        }
    ],
}
PUBMED = b"""<?xml version="1.0" ?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN" "https://x.example/pubmed.dtd">
<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>123</PMID><Article>
<Journal><JournalIssue><PubDate><Year>2022</Year><Month>Mar</Month></PubDate></JournalIssue></Journal>
<ArticleTitle>Falls on <i>ice</i></ArticleTitle>
<Abstract><AbstractText Label="METHODS">We counted.</AbstractText><AbstractText>Twelve.</AbstractText></Abstract>
<AuthorList><Author><LastName>Frost</LastName><ForeName>Ada</ForeName></Author></AuthorList>
</Article></MedlineCitation></PubmedArticle></PubmedArticleSet>"""
WIKIPEDIA: dict[str, Any] = {
    "batchcomplete": True,
    "query": {
        "pages": [
            {"title": "Second", "index": 2, "fullurl": "https://en.wikipedia.org/wiki/Second", "extract": "b"},
            {"title": "First", "index": 1, "fullurl": "https://en.wikipedia.org/wiki/First", "extract": "a"},
        ]
    },
}


# ---- reading


def test_versions_of_a_preprint_are_one_address():
    first, second = parsers.arxiv(decoded(ARXIV))

    assert first.url == "https://arxiv.org/abs/2401.00001"
    assert (first.title, first.snippet) == ("Ice on small lakes", "We measure ice.")
    assert first.authors == ("Ada Frost", "Bo Rime")
    assert first.published == "2024-01-02T08:00:00Z"
    assert second.url is None


def test_an_abstract_in_pieces_is_put_together_and_a_retraction_is_said():
    first, second, third = parsers.openalex(OPENALEX)

    assert first.snippet == "We ice measure the ice thickness"
    assert (first.url, first.title) == ("https://doi.org/10.5555/ice.1", "Retracted: Ice on small lakes")
    assert (second.url, second.title) == ("https://journal.example/2", "")
    assert third.url is None


def test_marked_up_titles_and_abstracts_are_plain_and_a_year_is_a_date():
    first, second = parsers.crossref(CROSSREF)

    assert (first.url, first.title) == ("https://doi.org/10.5555/ice.2", "Ice & snow")
    assert (first.snippet, first.published) == ("Ice grows < 1 m.", "2020")
    assert (second.url, second.title, second.published) == ("https://journal.example/3", "", None)


def test_a_paper_is_known_by_its_doi():
    [first] = parsers.semantic_scholar(SEMANTIC)

    assert (first.url, first.published) == ("https://doi.org/10.5555/ice.4", 2019)
    assert parsers.semantic_scholar({"total": 0, "offset": 0}) == []


def test_an_article_of_pubmed_has_its_parts_and_month():
    [first] = parsers.pubmed(decoded(PUBMED))

    assert first.url == "https://pubmed.ncbi.nlm.nih.gov/123/"
    assert (first.title, first.snippet) == ("Falls on ice", "Methods: We counted.\n\nTwelve.")
    assert (first.published, first.authors) == ("2022-03", ("Ada Frost",))


def test_pages_of_the_encyclopedia_come_in_the_order_of_its_search():
    assert [found.title for found in parsers.wikipedia(WIKIPEDIA)] == ["First", "Second"]
    assert parsers.wikipedia({"batchcomplete": True}) == []


BOMB = b'<!DOCTYPE a [<!ENTITY b "c"><!ENTITY d "&b;&b;">]><PubmedArticleSet>&d;</PubmedArticleSet>'


@pytest.mark.parametrize("data", [None, [], "text", {}, {"results": {}}, {"message": None}, {"data": 3}, {"error": {}}])
def test_answers_of_another_shape_are_not_read_as_nothing_found(data):
    assert parsers.openalex(data) is None
    assert parsers.crossref(data) is None
    assert parsers.semantic_scholar(data) is None
    assert data == {} or parsers.wikipedia(data) is None


@pytest.mark.parametrize("content", [b"", b"<html>captcha</html>", b"{}", BOMB, ARXIV_ERROR])
def test_what_is_no_feed_is_not_read_as_one(content):
    assert parsers.arxiv(decoded(content)) is None
    assert parsers.pubmed(decoded(content)) is None


# ---- asking


async def no_wait(seconds: float) -> None:
    await asyncio.sleep(0)


class Asked:
    """What the service on loopback was asked, and what it answers."""

    def __init__(self, server: HTTPServer) -> None:
        self.base = server.url_for("").rstrip("/")
        self.requests: list[tuple[str, dict[str, str], dict[str, str]]] = []
        self.answers: dict[str, Any] = {
            "/works": OPENALEX,
            "/api/query": ARXIV,
            "/graph/v1/paper/search": SEMANTIC,
            "/entrez/eutils/esearch.fcgi": {"esearchresult": {"idlist": ["123", "x"]}},
            "/entrez/eutils/efetch.fcgi": PUBMED,
            "/w/api.php": WIKIPEDIA,
        }
        server.expect_request("/works").respond_with_handler(self._answer)
        for path in self.answers:
            if path != "/works":
                server.expect_request(path).respond_with_handler(self._answer)

    def _answer(self, request: Request) -> Response:
        params = {name: values[0] for name, values in parse_qs(urlsplit(request.url).query).items()}
        self.requests.append((request.path, params, dict(request.headers)))
        answer = self.answers[request.path]
        if isinstance(answer, Response):
            return answer
        return Response(answer if isinstance(answer, bytes) else json.dumps(answer))


@pytest.fixture
def asked(httpserver: HTTPServer) -> Asked:
    return Asked(httpserver)


@pytest.fixture
async def index(asked: Asked) -> Any:
    opened: list[Provider] = []

    def made(name: str, *, pace: tuple[float, float, int] = (100, 1, 10), **more: Any) -> Provider:
        access = Access(**({"base": asked.base, "retry": RetryPolicy(sleep=no_wait)} | more))
        opened.append(Provider(replace(PAPERS[name], pace=pace), access))
        return opened[-1]

    yield made
    for one in opened:
        await one.close()


QUERY = SearchQuery(text="How thick is the ice on small lakes?", date_from="2019", date_to="2024-02")


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("openalex", "https://doi.org/10.5555/ice.1"),
        ("arxiv", "https://arxiv.org/abs/2401.00001"),
        ("semanticscholar", "https://doi.org/10.5555/ice.4"),
        ("pubmed", "https://pubmed.ncbi.nlm.nih.gov/123/"),
        ("wikipedia", "https://en.wikipedia.org/wiki/First"),
    ],
)
async def test_each_index_is_asked_and_understood(asked, index, name, url):
    result = await index(name).search(QUERY, 5)

    assert (result.hits[0].url, result.hits[0].provider, result.provider) == (url, name, name)


async def test_crossref_is_asked_and_understood(asked, index):
    asked.answers["/works"] = CROSSREF

    result = await index("crossref").search(QUERY)

    assert [hit.published for hit in result.hits] == ["2020", None]
    [(_, params, _)] = asked.requests
    assert params["filter"] == "from-pub-date:2019,until-pub-date:2024-02"


@pytest.mark.parametrize(
    ("name", "param", "value"),
    [
        ("openalex", "filter", "from_publication_date:2019-01-01,to_publication_date:2024-02-29"),
        ("arxiv", "search_query", "(all:thick AND all:ice AND all:small AND all:lakes)"),
        ("semanticscholar", "publicationDateOrYear", "2019:2024-02"),
        ("pubmed", "maxdate", "2024/02"),
        ("wikipedia", "gsrsearch", "thick ice small lakes"),
    ],
)
async def test_dates_and_telling_words_go_to_the_index(asked, index, name, param, value):
    await index(name).search(QUERY)

    sent = asked.requests[0][1][param]
    if name == "arxiv":
        assert sent == (
            "(all:thick OR all:ice OR all:small OR all:lakes) AND submittedDate:[201901010000 TO 202402292359]"
        )
    else:
        assert sent == value


async def test_what_the_index_gives_outside_the_range_is_dropped(asked, index):
    result = await index("openalex").search(SearchQuery(text="ice", date_from="2022"))

    assert [hit.url for hit in result.hits] == ["https://journal.example/2"]


async def test_an_abstract_is_kept_for_papers_that_are_closed(index):
    papers = index("openalex")
    await papers.search(QUERY)

    abstract = papers.cache.get("https://doi.org/10.5555/ice.1", whole=False)

    assert papers.cache.get("https://doi.org/10.5555/ice.1", whole=True) is None
    assert abstract is not None
    assert (abstract.tags, abstract.author) == ((ABSTRACT, PROVIDER_COPY.format(provider="openalex")), "Ada Frost")
    assert abstract.retrieved is None, "nobody read the page"


async def test_a_key_goes_where_the_index_wants_it_and_is_in_no_message(asked, index):
    asked.answers |= {"/works": Response(f"bad api_key={KEY}", status=403), "/graph/v1/paper/search": Response("", 403)}

    for name in ("openalex", "semanticscholar"):
        with pytest.raises(SearchFailed) as caught:
            await index(name, key=SecretStr(KEY)).search(QUERY)
        assert caught.value.fault == "auth"
        assert KEY not in str(caught.value) + caught.value.notice

    assert asked.requests[0][1]["api_key"] == KEY
    assert asked.requests[1][2]["X-Api-Key"] == KEY


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        pytest.param(Response("<html>captcha</html>"), "nonsense", id="html"),
        pytest.param({"error": {"code": "maxlag", "info": "busy"}}, "rate", id="busy"),
        pytest.param(Response("", 503), "server", id="503"),
        pytest.param({"query": {"pages": [{"title": "no address"}]}}, "nonsense", id="no-address"),
    ],
)
async def test_an_index_that_fails_says_how(asked, index, answer, kind):
    asked.answers["/w/api.php"] = answer

    with pytest.raises(SearchFailed) as caught:
        await index("wikipedia").search(QUERY)

    assert caught.value.fault == kind


async def test_nothing_found_in_pubmed_needs_no_second_request(asked, index):
    asked.answers["/entrez/eutils/esearch.fcgi"] = {"esearchresult": {"idlist": []}}

    assert (await index("pubmed").search(QUERY)).hits == ()
    assert len(asked.requests) == 1


async def test_requests_to_one_index_keep_its_pace(asked, index):
    arxiv = index("arxiv", pace=(1, 0.1, 1))
    began = time.monotonic()

    await asyncio.gather(*(arxiv.search(QUERY) for _ in range(3)))

    assert time.monotonic() - began >= 0.2


def test_the_paces_are_those_that_the_services_ask_for():
    assert PAPERS["arxiv"].pace == (1, 3, 1)
    assert PAPERS["pubmed"].pace[0] <= 3
    assert PAPERS["semanticscholar"].pace[0] <= 1
    assert PAPERS["wikipedia"].pace[2] == 1
