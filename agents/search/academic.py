"""Indexes of papers, and Wikipedia: how each is asked, at which pace, and how its answers become results.

A parser is a pure function of a decoded answer, and gives None for one that has another shape than the service's.
"""

import html
import re
from collections.abc import Callable, Iterable
from xml.etree import ElementTree

from agents.contracts.sources import SearchQuery
from agents.nlp.tokens import language_of
from agents.search.provider import Call, ProviderHit, Service, dicts, dig, rows_of
from agents.search.scope_filter import ProviderQuery, keywords, whole_day

MOST_RESULTS = 25
PUBMED_FETCH = "/entrez/eutils/efetch.fcgi"
MOST_WORDS = 6  # telling words that are asked for: most of these indexes want all words of a query to occur
Hits = list[ProviderHit] | None
Params = dict[str, str]

_TAG = re.compile(r"<jats:title>[^<]*</jats:title>|<[^>]+>", re.I)
_VERSION = re.compile(r"v\d+$")
_ATOM = "{http://www.w3.org/2005/Atom}"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def _ask_arxiv(query: SearchQuery, words: list[str], most: int) -> Params:
    joint = " AND " if len(words) <= 3 else " OR "  # all of many words stand in no abstract
    asked = joint.join(f"all:{word}" for word in words)
    if query.date_from or query.date_to:
        first = (whole_day(query.date_from) or "1991-01-01").replace("-", "")
        last = (whole_day(query.date_to, last=True) or "2099-12-31").replace("-", "")
        asked = f"({asked}) AND submittedDate:[{first}0000 TO {last}2359]"
    return {"search_query": asked, "start": "0", "max_results": str(most), "sortBy": "relevance"}


def arxiv(root: object) -> Hits:
    """Read a feed of arXiv; versions of one paper are one address."""
    if not isinstance(root, ElementTree.Element) or root.tag != _ATOM + "feed":
        return None
    found = []
    for entry in root.findall(_ATOM + "entry"):
        number, title, summary, published = (
            _text(entry.find(_ATOM + name)) for name in ("id", "title", "summary", "published")
        )
        if "api/errors" in number:
            return None
        number = _VERSION.sub("", number.rpartition("/abs/")[2])
        people = _names(map(_text, entry.findall(f"{_ATOM}author/{_ATOM}name")))
        url = f"https://arxiv.org/abs/{number}" if number else None
        found.append(ProviderHit(url, title, summary, published, text=summary, authors=people))
    return found


def _reads(hit: Callable[[dict[str, object]], ProviderHit], *path: str) -> Callable[[object], Hits]:
    """Make a parser of what reads one row, and of where the rows stand."""

    def hits(data: object) -> Hits:
        rows = rows_of(data, *path)
        return None if rows is None else [hit(row) for row in dicts(rows)]

    return hits


def _ask_openalex(query: SearchQuery, words: list[str], most: int) -> Params:
    fields = "id,doi,display_name,publication_date,abstract_inverted_index,primary_location,authorships,is_retracted"
    first, last = whole_day(query.date_from), whole_day(query.date_to, last=True)
    dates = _filter(from_publication_date=first, to_publication_date=last)
    return {"search": " ".join(words), "per-page": str(most), "select": f"{fields},relevance_score"} | dates


def _of_openalex(row: dict[str, object]) -> ProviderHit:
    """Read a work; abstracts come as an index of words and are put together again."""
    title = _string(row.get("display_name") or row.get("title"))
    index = row.get("abstract_inverted_index")
    placed = [(at, word) for word, places in (index if isinstance(index, dict) else {}).items()
              for at in _list(places) if isinstance(at, int)]  # fmt: skip
    abstract = " ".join(word for _, word in sorted(placed))
    url = row.get("doi") or dig(row, "primary_location", "landing_page_url") or row.get("id")
    title = f"Retracted: {title}" if row.get("is_retracted") is True else title
    people = _names(dig(one, "author", "display_name") for one in _list(row.get("authorships")))
    told = row.get("publication_date"), row.get("relevance_score"), abstract
    return ProviderHit(url, title, abstract, *told, authors=people)


def _ask_crossref(query: SearchQuery, words: list[str], most: int) -> Params:
    dates = _filter(**{"from-pub-date": query.date_from, "until-pub-date": query.date_to})
    fields = "DOI,URL,title,abstract,issued,author,score"
    return {"query.bibliographic": " ".join(words), "rows": str(most), "select": fields} | dates


def _of_crossref(row: dict[str, object]) -> ProviderHit:
    """Read a work; dates may be a year alone, titles and abstracts are marked up."""
    number = _string(row.get("DOI"))
    url = f"https://doi.org/{number.lower()}" if number else row.get("URL")
    title, abstract = _plain(dig(row, "title", 0)), _plain(row.get("abstract"))
    date = [f"{part:02}" for part in _list(dig(row, "issued", "date-parts", 0))[:3] if isinstance(part, int)]
    authors = dicts(_list(row.get("author")))
    people = _names(f"{_string(one.get('given'))} {_string(one.get('family'))}" for one in authors)
    told = "-".join(date) or None, row.get("score"), abstract
    return ProviderHit(url, title, abstract, *told, authors=people)


def _ask_semantic_scholar(query: SearchQuery, words: list[str], most: int) -> Params:
    asked = {"query": " ".join(words), "limit": str(most)}
    asked["fields"] = "title,abstract,url,year,publicationDate,externalIds,authors"
    if query.date_from or query.date_to:
        asked["publicationDateOrYear"] = f"{query.date_from or ''}:{query.date_to or ''}"
    return asked


def _of_semantic_scholar(row: dict[str, object]) -> ProviderHit:
    """Read a paper, known by its DOI where it has one."""
    doi = _string(dig(row, "externalIds", "DOI")).lower()
    url, abstract = f"https://doi.org/{doi}" if doi else row.get("url"), row.get("abstract")
    people = _names(dig(one, "name") for one in _list(row.get("authors")))
    date = row.get("publicationDate") or row.get("year")
    return ProviderHit(url, row.get("title"), abstract, date, text=abstract, authors=people)


def semantic_scholar(data: object) -> Hits:
    """Read papers of Semantic Scholar; with none found, the answer holds no list."""
    nothing = isinstance(data, dict) and data.get("total") == 0 and "data" not in data
    return [] if nothing else _reads(_of_semantic_scholar, "data")(data)


def _ask_pubmed(query: SearchQuery, words: list[str], most: int) -> Params:
    asked = {"db": "pubmed", "term": " ".join(words), "retmax": str(most), "retmode": "json", "sort": "relevance"}
    if query.date_from or query.date_to:  # it takes both or none
        first, last = query.date_from or "1800", query.date_to or "3000"
        asked |= {"datetype": "pdat", "mindate": first.replace("-", "/"), "maxdate": last.replace("-", "/")}
    return asked


def _fetch_pubmed(data: object) -> Call | None:
    """Ask for the articles whose numbers a search gives."""
    rows = rows_of(data, "esearchresult", "idlist")
    numbers = [str(row) for row in rows or () if str(row).isdigit()]
    fetch = {"db": "pubmed", "id": ",".join(numbers), "retmode": "xml"}
    return Call(PUBMED_FETCH, fetch) if numbers or rows is None else None


def pubmed(root: object) -> Hits:
    """Read articles of PubMed."""
    if not isinstance(root, ElementTree.Element) or root.tag != "PubmedArticleSet":
        return None
    found = []
    for entry in root.findall("PubmedArticle/MedlineCitation"):
        number, title = _text(entry.find("PMID")), _text(entry.find("Article/ArticleTitle"))
        url = f"https://pubmed.ncbi.nlm.nih.gov/{number}/" if number.isdigit() else None
        parts = (
            (one.get("Label", "").capitalize(), _text(one)) for one in entry.findall("Article/Abstract/AbstractText")
        )
        abstract = "\n\n".join(f"{label}: {text}" if label else text for label, text in parts if label or text)
        authors = entry.findall("Article/AuthorList/Author")
        people = _names(f"{_text(one.find('ForeName'))} {_text(one.find('LastName'))}" for one in authors)
        found.append(ProviderHit(url, title, abstract, _pubmed_date(entry), text=abstract, authors=people))
    return found


def _pubmed_date(entry: ElementTree.Element) -> str | None:
    """Give the date of the article, or of the issue; months are words or numbers."""
    for path in ("Article/ArticleDate", "Article/Journal/JournalIssue/PubDate"):
        date = entry.find(path)
        if date is None:
            continue
        year, month, day = (_text(date.find(name)) for name in ("Year", "Month", "Day"))
        if not year:
            return _text(date.find("MedlineDate"))[:4] or None
        named = month[:3].lower()
        month = f"{_MONTHS.index(named) + 1:02}" if named in _MONTHS else month.zfill(2) if month.isdigit() else ""
        return "-".join(filter(None, (year, month, day.zfill(2) if month and day.isdigit() else "")))
    return None


def _ask_wikipedia(query: SearchQuery, words: list[str], most: int) -> Params:
    return {
        "action": "query", "format": "json", "formatversion": "2", "generator": "search", "gsrsearch": " ".join(words),
        "gsrlimit": str(min(most, 20)), "prop": "extracts|info", "exintro": "1", "explaintext": "1", "exlimit": "20",
        "inprop": "url", "maxlag": "5",
    }  # fmt: skip


def wikipedia(data: object) -> Hits:
    """Read pages of Wikipedia, in the order of its search."""
    if not isinstance(data, dict) or "error" in data:
        return None
    rows = rows_of(data, "query", "pages")
    if rows is None:
        return [] if "query" not in data and ("batchcomplete" in data or not data) else None
    pages = sorted(dicts(rows), key=lambda row: at if isinstance(at := row.get("index"), int) else len(rows))
    return [
        ProviderHit(row.get("fullurl"), row.get("title"), row.get("extract"), text=row.get("extract")) for row in pages
    ]


def _index(
    name: str, base: str, path: str, pace: tuple[float, float, int], params: Callable[[SearchQuery, list[str], int], Params],
    hits: Callable[[object], Hits], *, variable: str = "", then: Callable[[object], Call | None] | None = None,
) -> Service:  # fmt: skip
    """Make the line of an index: it is asked for the telling words of a query, and works without its key."""

    def ask(asked: ProviderQuery, seconds: float) -> Call:
        words = keywords(asked.query.text, MOST_WORDS) or asked.query.text.split()[:MOST_WORDS]
        sent = params(asked.query, words, min(asked.query.max_results, MOST_RESULTS))
        return Call(path, sent, language=language_of(asked.query.text))

    by_header = name == "semanticscholar"
    return Service(
        name, base, ask, hits, role="papers", pace=pace, then=then, key_variable=variable, error_means="rate",
        key_param="" if by_header else "api_key", key_header="x-api-key: {}" if by_header else "",
    )  # fmt: skip


openalex, crossref = _reads(_of_openalex, "results"), _reads(_of_crossref, "message", "items")
PAPERS: dict[str, Service] = {
    service.name: service
    for service in (
        _index("openalex", "https://api.openalex.org", "/works", (5, 1, 2), _ask_openalex, openalex, variable="OPENALEX_API_KEY"),
        _index("crossref", "https://api.crossref.org", "/works", (3, 1, 1), _ask_crossref, crossref),
        _index("arxiv", "https://export.arxiv.org", "/api/query", (1, 3, 1), _ask_arxiv, arxiv),
        _index("pubmed", "https://eutils.ncbi.nlm.nih.gov", "/entrez/eutils/esearch.fcgi", (3, 1, 2), _ask_pubmed, pubmed,
               variable="NCBI_API_KEY", then=_fetch_pubmed),
        _index("semanticscholar", "https://api.semanticscholar.org", "/graph/v1/paper/search", (1, 1, 1),
               _ask_semantic_scholar, semantic_scholar, variable="SEMANTIC_SCHOLAR_API_KEY"),
        _index("wikipedia", "https://{language}.wikipedia.org", "/w/api.php", (5, 1, 1), _ask_wikipedia, wikipedia),
    )
}  # fmt: skip

ACADEMIC = ("openalex", "crossref", "arxiv", "pubmed")  # what `academic` stands for


def _filter(**dates: str | None) -> Params:
    chosen = ",".join(f"{name}:{value}" for name, value in dates.items() if value)
    return {"filter": chosen} if chosen else {}


def _text(element: ElementTree.Element | None) -> str:
    return "" if element is None else " ".join("".join(element.itertext()).split())


def _plain(marked_up: object) -> str:
    return " ".join(html.unescape(_TAG.sub(" ", _string(marked_up))).split())


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _names(values: Iterable[object]) -> tuple[str, ...]:
    return tuple(name for value in values if (name := _string(value).strip()))
