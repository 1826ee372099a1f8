"""A web page as its reader sees it: what is hidden goes first, then the article is taken out and written down."""

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

import lxml.html
from lxml import etree
from trafilatura import bare_extraction, extract_metadata

from agents.nlp.tokens import collapsed, language_of, one_line, seen
from agents.web.decoding import MAX_NAME, Document
from agents.web.formulas import formula, lowered, raised
from agents.web.hidden_text import WHITE, Colour, StyleSheet, background_of, hides
from agents.web.url_key import links_of

_Element = lxml.html.HtmlElement

WEAK = 200
"""An article shorter than this out of a large page was probably missed."""

_LARGE = 5_000  # characters of a page from which a short article is suspicious
_LEFT = 100  # characters that must remain for a notice on cookies to be an overlay and not the page itself
_MAX_NESTING = 60
_NAMED = 4  # people who are named

_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_NEVER_TEXT = (
    "script", "style", "template", "noscript", "iframe", "object", "svg", "canvas", "select", "textarea", "button",
    "del", "s", "strike",
)  # fmt: skip
_SAID_BY_ATTRIBUTE = ("alt", "title", "aria-label", "placeholder", "summary")
_ROOTS = {"html", "body", "head"}
_FRAME = {"nav", "header", "footer", "aside", "form", "head"}
_BLOCKS = {
    "address", "article", "aside", "blockquote", "body", "br", "caption", "dd", "details", "dialog", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li",
    "main", "nav", "ol", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
}  # fmt: skip
_PARTS = ("p", "h1", "h2", "h3", "h4", "li", "dd")
_OVERLAY = re.compile(
    r"(?:^|[\s_-])(?:cookies?|consent|gdpr|ccpa|cmp(?![\w-])|onetrust|didomi|usercentrics|cookiebot)|privacy[\s_-]?(?:banner|modal|notice)",
    re.I,
)
_CONSENT = (
    re.compile(r"\bcookies?\b|\bconsent\b|einwillig|consentement|consentimiento|consenso|toestemming|samtyck", re.I),
    re.compile(
        r"\bpartners?\b|personal data|your (?:privacy|choice|device)|accept|agree|reject|refuse|zustimm|akzeptier"
        r"|ablehn|datenschutz|vie privée|refuser|privacidad|aceptar|rechazar|rifiuta|accetta|weiger|godkänn",
        re.I,
    ),
    re.compile(
        r"\b(?:we|our|your?|wir|unsere?|ihre?|nous|nos|vous|votre|nosotros|usted|noi|nostri|wij|onze|vi|våra)\b", re.I
    ),
)
_NOTICE = re.compile(
    r"\b(?:us|verwend|utilis|usa|gebruik|använd)\w*\b.{0,60}\bcookies?\b|cookie\w*.(?:policy|settings|notice)", re.I
)
_ISO_DATE = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?")
_LINE = "\ue000"  # stands for a line break while white space is collapsed


def read_html(html: str, url: str) -> Document:
    """Read the article of a page; its text is empty when there is nothing to read.

    Args:
        html: the page, decoded.
        url: where the page was found; relative addresses in it are resolved against this.
    """
    try:
        tree = lxml.html.document_fromstring(_XML_DECLARATION.sub("", html).replace("\x00", ""))
    except (etree.ParserError, etree.XMLSyntaxError):
        return Document(title="", text="")
    _clean(tree)
    sheet = StyleSheet(tree)
    base = _joined(url, _first(tree, "//base/@href")) or url
    facts = _Facts.of(tree, url, base)
    _write_formulas(tree)
    _remove_hidden(tree, sheet)
    _write_scripts(tree)
    _remove_overlays(tree)
    text = _article(tree, size=len(html))
    title = _title(tree, facts.title)
    spoken = language_of(text)
    # A declared language is often the template's; the script of the text is not mistaken.
    declared = facts.language if facts.language and spoken in _LATIN_GUESSES else None
    return Document(
        title=title,
        text=text,
        author=facts.author,
        published=facts.published,
        site=facts.site,
        language=declared or (spoken if text else None),
        canonical=facts.canonical,
        links=links_of(tree, base) if _is_web(url) else (),
    )


_LATIN_GUESSES = {"en", "de", "fr", "es", "it", "pt", "nl", "sv"}


@dataclass(frozen=True)
class _Facts:
    """What the head of a page declares."""

    title: str
    author: str | None
    published: str | None
    site: str | None
    language: str | None
    canonical: str | None

    @classmethod
    def of(cls, tree: _Element, url: str, base: str) -> "_Facts":
        found = extract_metadata(
            deepcopy(tree),
            default_url=url if _is_web(url) else None,
            date_config={"extensive_search": False, "original_date": True, "outputformat": "%Y-%m-%d"},
        )
        language = (tree.get("lang") or tree.get("xml:lang") or "").split("-")[0].strip().lower()
        canonical = _first(tree, "//link[translate(@rel, 'CANOIL', 'canoil')='canonical']/@href")
        date = found.date if found else None
        people = _people(tree)
        return cls(
            title=_first(tree, "//title/text()"),
            author=_name(found.author if found else None) if people is None else people or None,
            published=date if date and _ISO_DATE.fullmatch(date) else None,
            site=_name(_first(tree, "//meta[@property='og:site_name']/@content"))
            or (_host(url) or "").removeprefix("www.")
            or None,
            language=language if re.fullmatch("[a-z]{2,3}", language) else None,
            canonical=_joined(base, canonical.strip()) if canonical.strip() else None,
        )


def _is_web(url: str) -> bool:
    return url.startswith(("http://", "https://"))


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:  # a bracket without its partner
        return None


def _joined(base: str, url: str) -> str | None:
    try:
        joined = urljoin(base, url)
    except ValueError:
        return None
    return joined if _is_web(joined) and _host(joined) else None


def _first(tree: _Element, path: str) -> str:
    found = tree.xpath(path)
    return str(found[0]) if isinstance(found, list) and found else ""


def _people(tree: _Element) -> str | None:
    """Name who wrote a page, in its order and spelling, the first of many; empty where what stands there is no name."""
    lowered = "translate(@name, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')"
    said: list[list[str]] = []
    for kind in ("citation_author", "dc.creator", "dcterms.creator", "author"):
        found = tree.xpath(f"//meta[{lowered}='{kind}']/@content")
        said.append([str(one) for one in found] if isinstance(found, list) else [])
    said += [list(_writers(script)) for script in tree.xpath("//script[@type='application/ld+json']/text()")]
    names = next(filter(None, said), None)
    if names is None:
        return None
    kept = [name for one in names if (name := _name(one))]
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
            yield str(one.get("name", "")) if isinstance(one, dict) else str(one)


def _name(text: str | None) -> str | None:
    """Give a name of a person or site; None for addresses, and for sentences in the place of a name."""
    name = one_line(text or "")
    words = name.split()
    # Names of more than a few words are those of bodies, and have capitals.
    is_sentence = len(words) > 4 and 2 * sum(word[0].islower() for word in words) > len(words)
    is_name = 0 < len(name) <= MAX_NAME and "://" not in name and "@" not in name and len(words) <= 20
    return name if is_name and not is_sentence else None


def _clean(tree: _Element) -> None:
    """Drop text beside the text, and invisible characters. Comes first: joining texts fails on some of these."""
    etree.strip_elements(tree, etree.Comment, etree.ProcessingInstruction, with_tail=False)
    for element in tree.iter():
        for attribute in _SAID_BY_ATTRIBUTE:
            element.attrib.pop(attribute, None)
        element.text, element.tail = _seen(element.text), _seen(element.tail)


def _remove_hidden(tree: _Element, sheet: StyleSheet) -> None:
    """Drop the elements that no reader of the page sees."""
    for element in list(tree.iter()):
        if not isinstance(element.tag, str) or element.tag in _ROOTS:
            continue
        if element.tag in _NEVER_TEXT or _is_hidden(element, sheet):
            _drop(element)


def _is_hidden(element: _Element, sheet: StyleSheet) -> bool:
    if element.get("hidden", "until-found").lower() != "until-found":
        return True
    if element.get("aria-hidden", "").strip().lower() == "true" or (
        element.tag == "dialog" and "open" not in element.attrib
    ):
        return True
    declared = sheet.of(element)
    return bool(declared) and hides(declared, _background(element, sheet) if "color" in declared else WHITE)


def _background(element: _Element, sheet: StyleSheet) -> Colour | None:
    """Give the colour that an element lies on, as far as the page itself says."""
    for above in element.iterancestors():
        filled = background_of(sheet.of(above))
        if filled is not False:
            return None if filled is True else filled
    return WHITE


def _seen(text: str | None) -> str | None:
    if not text:
        return text
    return seen(text)


def _write_scripts(tree: _Element) -> None:
    """Keep 10⁶ from becoming 106, and marks of notes from sticking to figures."""
    for element in list(tree.iter("sup", "sub")):
        text = element.text_content()
        above = element.getparent()
        is_link = element.find(".//a[@href]") is not None or (above is not None and above.tag == "a")
        for child in list(element):
            element.remove(child)
        element.text = raised(text, is_link=is_link) if element.tag == "sup" else lowered(text)
        element.drop_tag()


def _write_formulas(tree: _Element) -> None:
    """Put formulas as text in the place of their markup, also where it is hidden behind a picture of them."""
    for script in tree.iter("script"):
        if script.get("type", "").startswith("math/tex"):
            script.tag = "span"
    for element in list(tree.iter("math")):
        above = [one for one in element.iterancestors() if "mwe-math-element" in one.get("class", "").split()]
        whole = above[-1] if above else element
        written = formula(element)
        for child in list(whole):
            whole.remove(child)
        whole.tag, whole.text = "span", written
        whole.attrib.clear()


def _drop(element: _Element) -> None:
    if element.getparent() is not None:
        element.drop_tree()


def _remove_overlays(tree: _Element) -> None:
    """Drop requests for consent that lie over the page, unless the page consists of nothing else."""
    body = tree.find("body")
    if body is None:
        return
    for element in list(body.iterdescendants()):
        if element.tag in {"main", "article"} or element.getroottree().getroot() is not tree:
            continue
        named = _OVERLAY.search(f"{element.get('class', '')} {element.get('id', '')}")
        if not named and element.get("role") not in {"dialog", "alertdialog"}:
            continue
        text = element.text_content()
        is_notice = _asks_consent(text) or (named and len(text) < WEAK and _NOTICE.search(text))
        holds_article = element.find(".//article") is not None
        if is_notice and not holds_article and len(body.text_content()) - len(text) >= _LEFT:
            _drop(element)


def _asks_consent(text: str) -> bool:
    return all(pattern.search(text) for pattern in _CONSENT)


def _article(tree: _Element, size: int) -> str:
    found = bare_extraction(
        deepcopy(tree), favor_recall=True, include_comments=False, include_tables=True, include_formatting=False
    )
    body = None if found is None or isinstance(found, dict) else found.body
    text = _tidy("\n\n".join(_written(body))) if body is not None else ""
    paragraphs = text.split("\n\n")
    wall = sum(len(paragraph) for paragraph in paragraphs if _asks_consent(paragraph))
    is_wall = 2 * wall > len(text)
    if not is_wall and (len(text) >= WEAK or size < _LARGE):
        return text if text and not _ran_together(text, tree) else _tidy(_everything(tree))
    rest = [part for part in _tidy(_everything(tree)).split("\n\n") if not _asks_consent(part)]
    other = "\n\n".join(rest)
    return other if len(other) > max(len(text) - wall, _LEFT if is_wall else WEAK) else text


def _tidy(text: str) -> str:
    """Collapse white space outside of code, whose lines come marked by `_LINE` at their start."""
    blocks = (block if block.startswith(_LINE) else collapsed(block) for block in text.split("\n\n"))
    return "\n\n".join(block.replace(_LINE, "") for block in blocks if block.strip(_LINE + " \n"))


def _written(body: etree._Element, nesting: int = 0) -> Iterator[str]:
    """Write the blocks of an extracted article."""
    for child in body:
        if child.tag == "table":
            yield "\n".join(row for row in map(_row, child.iter("row")) if row.strip(" |"))
        elif child.tag == "list":
            yield "\n".join(_items(child))
        elif child.tag == "code":
            # A blank line in code would end its block.
            lines = "".join(child.itertext()).strip("\n").split("\n")
            yield "\n".join(_LINE + line.rstrip() for line in lines)
        elif child.tag in {"quote", "div"} and nesting < _MAX_NESTING and child.find("p") is not None:
            yield from _written(child, nesting + 1)
        else:
            yield _inline(child)


def _inline(element: etree._Element) -> str:
    parts: list[str] = []
    for event, node in etree.iterwalk(element, events=("start", "end")):
        if event == "start":
            parts.append((_LINE if node.tag == "lb" else "") + (node.text or ""))
        elif node is not element:
            parts.append(node.tail or "")
    return " ".join("".join(parts).split()).replace(f" {_LINE}", _LINE).replace(_LINE, "\n")


def _row(row: etree._Element) -> str:
    cells = [_inline(cell).replace("\n", "; ").replace("|", "/") for cell in row.iter("cell")]
    while cells and not cells[-1]:
        cells.pop()
    return " | ".join(cells)


def _items(found: etree._Element) -> Iterator[str]:
    numbered = found.get("rend") == "ol"
    for number, item in enumerate(found.iterchildren("item"), start=1):
        nested = list(item.iterchildren("list"))
        inner = [line for one in nested for line in (_items(one) if _depth(one) < _MAX_NESTING else ())]
        for one in nested:
            item.remove(one)
        mark = f"{number}." if numbered else "-"
        yield f"{mark} {_inline(item)}"
        yield from inner


def _depth(element: etree._Element) -> int:
    return sum(1 for _ in element.iterancestors())


def _ran_together(text: str, tree: _Element) -> bool:
    """Tell a text in which paragraphs or rows of a table were run together into one line."""
    if "\n" in text:
        return False
    parts = (" ".join(part.text_content().split()) for part in tree.iter(*_PARTS))
    return sum(bool(part) and part in text for part in parts) > 1 or any(
        sum(1 for row in table.iter("tr") if len(row.findall("td")) > 1) > 1 for table in tree.iter("table")
    )


def _everything(tree: _Element) -> str:
    """Write the text of the whole page but its frame: for pages in which no article was found."""
    within = tree.find(".//main")
    root = deepcopy(within if within is not None else tree)
    for table in list(root.iter("table")):
        rows = [[" ".join(cell.text_content().split()) for cell in row.iter("td", "th")] for row in table.iter("tr")]
        if sum(1 for row in rows if len(row) > 1) > 1 and table.find(".//table") is None:
            lines = _LINE.join(" | ".join(cell.replace("|", "/") for cell in row) for row in rows)
            for child in list(table):
                table.remove(child)
            table.text = lines
    parts: list[str] = []
    skipped = 0
    for event, node in etree.iterwalk(root, events=("start", "end")):
        if not isinstance(node.tag, str):
            continue
        is_frame = node.tag in _FRAME and (within is None or node.tag in {"nav", "form"})
        if node.tag in _BLOCKS:
            parts.append("\n\n")
        if event == "start":
            skipped += is_frame
            parts.append("" if skipped else " ".join((node.text or "").split("\n")))
        else:
            skipped -= is_frame
            parts.append("" if skipped or node is root else " ".join((node.tail or "").split("\n")))
    return "".join(parts).replace(_LINE, "\n")


def _title(tree: _Element, declared: str) -> str:
    """Choose the headline: few readers see the `title`, and it may say to machines what the page says to nobody."""
    declared = one_line(declared)
    heads = [one_line(head.text_content()) for head in tree.iter("h1")]
    heads = [head for head in heads if len(head) <= MAX_NAME and any(letter.isalpha() for letter in head)]
    shared = next((head for head in heads if head.casefold() in declared.casefold()), None)
    if shared or len(heads) == 1:
        return shared or heads[0]
    return declared[:MAX_NAME].strip()
