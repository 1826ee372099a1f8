"""What the indexes of papers and the encyclopedia answer, made into results. Pure functions of decoded answers.

Each gives None for an answer that has another shape than the service's.
"""

import html
import re
from collections.abc import Iterable
from xml.etree import ElementTree

from agents.search.provider import ProviderHit, dicts, rows_of

_TAG = re.compile(r"<[^>]+>")
_JATS_TITLE = re.compile(r"<jats:title>[^<]*</jats:title>", re.IGNORECASE)
_ARXIV_VERSION = re.compile(r"v\d+$")
_ATOM = "{http://www.w3.org/2005/Atom}"
_MONTHS = {name: f"{number:02}" for number, name in enumerate(
    ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
)}  # fmt: skip


def arxiv(content: bytes) -> list[ProviderHit] | None:
    """Read a feed of arXiv; versions of one paper are one address."""
    root = _xml(content)
    if root is None or root.tag != _ATOM + "feed":
        return None
    found = []
    for entry in root.findall(_ATOM + "entry"):
        number = _text(entry.find(_ATOM + "id")).rpartition("/abs/")[2]
        if "api/errors" in number:
            return None
        found.append(
            ProviderHit(
                url=f"https://arxiv.org/abs/{_ARXIV_VERSION.sub('', number)}" if number else None,
                title=_text(entry.find(_ATOM + "title")),
                snippet=_text(entry.find(_ATOM + "summary")),
                text=_text(entry.find(_ATOM + "summary")),
                published=_text(entry.find(_ATOM + "published")),
                authors=tuple(filter(None, (_text(name) for name in entry.findall(f"{_ATOM}author/{_ATOM}name")))),
            )
        )
    return found


def openalex(data: object) -> list[ProviderHit] | None:
    """Read works of OpenAlex; abstracts come as an index of words and are put together again."""
    rows = rows_of(data, "results")
    if rows is None:
        return None
    found = []
    for row in dicts(rows):
        place = row.get("primary_location")
        title = _string(row.get("display_name") or row.get("title"))
        abstract = _from_index(row.get("abstract_inverted_index"))
        people = (_inner(one, "author") for one in dicts(_list(row.get("authorships"))))
        found.append(
            ProviderHit(
                url=row.get("doi")
                or (place.get("landing_page_url") if isinstance(place, dict) else None)
                or row.get("id"),
                title=f"Retracted: {title}" if row.get("is_retracted") is True else title,
                snippet=abstract,
                text=abstract,
                published=row.get("publication_date"),
                score=row.get("relevance_score"),
                authors=_names(person.get("display_name") for person in people),
            )
        )
    return found


def crossref(data: object) -> list[ProviderHit] | None:
    """Read works of Crossref; dates may be a year alone, abstracts are marked up."""
    rows = rows_of(data, "message", "items")
    if rows is None:
        return None
    found = []
    for row in dicts(rows):
        number = _string(row.get("DOI"))
        titles = _list(row.get("title"))
        abstract = _plain(_JATS_TITLE.sub("", _string(row.get("abstract"))))
        people = dicts(_list(row.get("author")))
        found.append(
            ProviderHit(
                url=f"https://doi.org/{number.lower()}" if number else row.get("URL"),
                title=_plain(_string(titles[0])) if titles else "",
                snippet=abstract,
                text=abstract,
                published=_date_parts(row.get("issued")),
                score=row.get("score"),
                authors=_names(f"{_string(one.get('given'))} {_string(one.get('family'))}".strip() for one in people),
            )
        )
    return found


def semantic_scholar(data: object) -> list[ProviderHit] | None:
    """Read papers of Semantic Scholar; with none found, the answer holds no list."""
    rows = rows_of(data, "data")
    if rows is None:
        return [] if isinstance(data, dict) and data.get("total") == 0 else None
    found = []
    for row in dicts(rows):
        numbers = row.get("externalIds")
        doi = _string(numbers.get("DOI")) if isinstance(numbers, dict) else ""
        found.append(
            ProviderHit(
                url=f"https://doi.org/{doi.lower()}" if doi else row.get("url"),
                title=row.get("title"),
                snippet=row.get("abstract"),
                text=row.get("abstract"),
                published=row.get("publicationDate") or row.get("year"),
                authors=_names(one.get("name") for one in dicts(_list(row.get("authors")))),
            )
        )
    return found


def pubmed_ids(data: object) -> list[str] | None:
    """Read the numbers that a search of PubMed gives."""
    rows = rows_of(data, "esearchresult", "idlist")
    return None if rows is None else [str(row) for row in rows if str(row).isdigit()]


def pubmed(content: bytes) -> list[ProviderHit] | None:
    """Read articles of PubMed."""
    root = _xml(content)
    if root is None or root.tag != "PubmedArticleSet":
        return None
    found = []
    for entry in root.findall("PubmedArticle"):
        number = _text(entry.find("MedlineCitation/PMID"))
        parts = []
        for part in entry.findall("MedlineCitation/Article/Abstract/AbstractText"):
            label = part.get("Label")
            parts.append((f"{label.capitalize()}: " if label else "") + _text(part))
        abstract = "\n\n".join(filter(None, parts))
        people = entry.findall("MedlineCitation/Article/AuthorList/Author")
        found.append(
            ProviderHit(
                url=f"https://pubmed.ncbi.nlm.nih.gov/{number}/" if number.isdigit() else None,
                title=_text(entry.find("MedlineCitation/Article/ArticleTitle")),
                snippet=abstract,
                text=abstract,
                published=_pubmed_date(entry),
                authors=_names(
                    f"{_text(one.find('ForeName'))} {_text(one.find('LastName'))}".strip() for one in people
                ),
            )
        )
    return found


def wikipedia(data: object) -> list[ProviderHit] | None:
    """Read pages of Wikipedia, in the order of its search."""
    if not isinstance(data, dict) or "error" in data:
        return None
    rows = rows_of(data, "query", "pages")
    if rows is None:
        return [] if "query" not in data and ("batchcomplete" in data or not data) else None
    pages = sorted(dicts(rows), key=lambda row: at if isinstance(at := row.get("index"), int) else len(rows))
    return [
        ProviderHit(
            url=row.get("fullurl"),
            title=row.get("title"),
            snippet=row.get("extract"),
            text=row.get("extract"),
        )
        for row in pages
    ]


def _xml(content: bytes) -> ElementTree.Element | None:
    if b"<!ENTITY" in content:  # one that refers to itself many times over would fill the memory
        return None
    try:
        return ElementTree.fromstring(content)
    except ElementTree.ParseError:
        return None


def _text(element: ElementTree.Element | None) -> str:
    return "" if element is None else " ".join("".join(element.itertext()).split())


def _plain(marked_up: str) -> str:
    return " ".join(html.unescape(_TAG.sub(" ", marked_up)).split())


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _inner(row: dict[str, object], name: str) -> dict[str, object]:
    inner = row.get(name)
    return inner if isinstance(inner, dict) else {}


def _names(values: Iterable[object]) -> tuple[str, ...]:
    return tuple(value for value in values if isinstance(value, str) and value)


def _from_index(index: object) -> str:
    if not isinstance(index, dict):
        return ""
    placed = [(place, word) for word, places in index.items() for place in _list(places) if isinstance(place, int)]
    return " ".join(word for _, word in sorted(placed))


def _date_parts(issued: object) -> str | None:
    rows = rows_of(issued, "date-parts")
    parts = rows[0] if rows and isinstance(rows[0], list) else []
    numbers = [part for part in parts[:3] if isinstance(part, int)]
    return "-".join(f"{part:02}" for part in numbers) or None


def _pubmed_date(entry: ElementTree.Element) -> str | None:
    """Give the date of the article, or of the issue; months are words or numbers."""
    for path in ("MedlineCitation/Article/ArticleDate", "MedlineCitation/Article/Journal/JournalIssue/PubDate"):
        date = entry.find(path)
        if date is None:
            continue
        year, month, day = (_text(date.find(name)) for name in ("Year", "Month", "Day"))
        if not year:
            return _text(date.find("MedlineDate"))[:4] or None
        month = _MONTHS.get(month[:3].lower(), month.zfill(2) if month.isdigit() else "")
        return "-".join(filter(None, (year, month, day.zfill(2) if month and day.isdigit() else "")))
    return None
