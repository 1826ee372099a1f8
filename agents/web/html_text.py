"""A web page as its reader sees it: what is hidden goes first, then the article is taken out and written down."""

import json
import re
from collections.abc import Iterator
from copy import deepcopy

from trafilatura import bare_extraction, extract_metadata

from agents.nlp.tokens import language_of, one_line
from agents.web.decoding import MAX_NAME, Document, name_of, title_of
from agents.web.html_tree import Element, drop, make_readable, parsed, written
from agents.web.url_key import host_of, link, links_of
from agents.web.walls import asks_consent

FRAME = ("nav", "header", "footer", "aside", "form", "head")

WEAK = 200  # an article shorter than this out of a large page was probably missed
_LARGE = 5_000  # characters of a page from which a short article is suspicious
_LEFT = 100  # characters that must remain beside a request for consent
_NAMED = 4  # people who are named

_LATIN_GUESSES = {"en", "de", "fr", "es", "it", "pt", "nl", "sv"}
_ISO_DATE = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?")


def read_html(html: str, url: str) -> Document:
    """Read the article of a page; its text is empty when there is nothing to read."""
    tree = parsed(html)
    if tree is None:
        return Document(title="", text="")
    # What its head declares is asked first: it is gone when the page is as its reader sees it.
    is_web = url.startswith(("http://", "https://"))
    dates = {"extensive_search": False, "original_date": True, "outputformat": "%Y-%m-%d"}
    facts = extract_metadata(deepcopy(tree), default_url=url if is_web else None, date_config=dates)
    base = link(url, _first(tree, "//base/@href")) or url
    people, declared_title = _people(tree), one_line(_first(tree, "//title/text()"))
    language = (tree.get("lang") or tree.get("xml:lang") or "").split("-")[0].strip().lower()
    canonical = _first(tree, "//link[translate(@rel, 'CANOIL', 'canoil')='canonical']/@href").strip()
    site = name_of(_first(tree, "//meta[@property='og:site_name']/@content"))
    make_readable(tree)
    text = _article(tree, size=len(html))
    spoken = language_of(text)
    # A declared language is often the template's; the script of the text is not mistaken.
    is_declared = spoken in _LATIN_GUESSES and re.fullmatch("[a-z]{2,3}", language)
    return Document(
        title=_title(tree, declared_title, f"{text} {url}"),
        text=text,
        author=name_of(facts.author if facts else None) if people is None else people or None,
        published=facts.date if facts and facts.date and _ISO_DATE.fullmatch(facts.date) else None,
        site=site or host_of(url) or None,
        language=language if is_declared else spoken if text else None,
        canonical=link(base, canonical) or None,
        links=links_of(tree, base) if is_web else (),
    )


def _first(tree: Element, path: str) -> str:
    return next(iter(_strings(tree, path)), "")


def _strings(tree: Element, path: str) -> list[str]:
    found = tree.xpath(path)
    return [str(one) for one in found] if isinstance(found, list) else []


def _people(tree: Element) -> str | None:
    """Name who wrote a page, in its order and spelling, the first of many; empty where what stands there is no name."""
    lowered = "translate(@name, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')"
    kinds = ("citation_author", "citation_authors", "dc.creator", "dcterms.creator", "author")
    said = [_strings(tree, f"//meta[{lowered}='{kind}']/@content") for kind in kinds]
    said += [list(_writers(script)) for script in _strings(tree, "//script[@type='application/ld+json']/text()")]
    if not any(said):
        return None
    kept = [name for one in next(filter(None, said)) if (name := name_of(one))]
    return "; ".join(kept[:_NAMED]) + (" et al." if len(kept) > _NAMED else "")


def _writers(script: str) -> Iterator[str]:
    """Give the names of authors out of what a page says of itself to search engines."""
    try:
        found = json.loads(script)
    except (ValueError, RecursionError):
        return
    graph = found.get("@graph", found) if isinstance(found, dict) else found
    for thing in graph if isinstance(graph, list) else [graph]:
        people = thing.get("author", []) if isinstance(thing, dict) else []
        for one in people if isinstance(people, list) else [people]:
            parts = [one[key] for key in ("givenName", "familyName") if one.get(key)] if isinstance(one, dict) else ()
            yield str(one.get("name") or " ".join(map(str, parts))) if isinstance(one, dict) else str(one)


def _article(tree: Element, size: int) -> str:
    found = bare_extraction(
        deepcopy(tree), favor_recall=True, include_comments=False, include_tables=True, include_formatting=False
    )
    body = None if found is None or isinstance(found, dict) else found.body
    text = written(body) if body is not None else ""
    wall = sum(len(paragraph) for paragraph in text.split("\n\n") if asks_consent(paragraph))
    is_wall = 2 * wall > len(text)
    if not is_wall and (len(text) >= WEAK or size < _LARGE):
        parts = (" ".join(part.text_content().split()) for part in tree.iter("p", "h1", "h2", "h3", "h4", "li", "dd"))
        ran_together = "\n" not in text and sum(bool(part) and part in text for part in parts) > 1
        whole = len(text) >= WEAK and not ran_together
        return text if whole else _everything(tree)
    other = "\n\n".join(part for part in _everything(tree).split("\n\n") if not asks_consent(part))
    return other if len(other) > max(len(text) - wall, _LEFT if is_wall else WEAK) else text


def _everything(tree: Element) -> str:
    """Write the text of the whole page but its frame: for pages in which no article was found."""
    within = tree.find(".//main")
    root = deepcopy(within if within is not None else tree)
    for element in list(root.iter(*(FRAME if within is None else ("nav", "form")))):
        if element is not root:
            drop(element)
    return written(root)


def _title(tree: Element, declared: str, said: str) -> str:
    """Choose the headline: few readers see the `title`, and it may say to machines what the page says to nobody."""
    heads = {level: [one_line(written(one)) for one in tree.iter(level)] for level in ("h1", "h2")}
    first, second = (
        [head for head in found if len(head) <= MAX_NAME and any(map(str.isalpha, head))] for found in heads.values()
    )
    shared = next((head for head in first if head.casefold() in declared.casefold()), None)
    if shared or len(first) == 1:
        return shared or first[0]
    return title_of(declared, said) or next(iter([*first, *second]), "")
