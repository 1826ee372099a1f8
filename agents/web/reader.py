"""Bytes as a document: what they are is taken from the bytes themselves, whatever the sender says.

Loaded where documents are read, in processes of their own for all but plain files; whoever only asks for one needs none of it.

Markdown files as readable text: marks go, words stay as they are. Knows front matter of `key: value` lines.
"""

import json
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import PurePosixPath
from urllib.parse import parse_qs, urlsplit

from lxml import etree
from markdown_it import MarkdownIt

from agents.contracts.frozen import Said
from agents.core.errors import SourceError
from agents.nlp.tokens import collapsed, language_of, one_line, seen, unruffled
from agents.web.decoding import MAX_NAME, NOT_TEXT, Document, decode, file_name, is_pdf, is_zip, iso_date, name_of
from agents.web.html_tree import parsed, whole_text
from agents.web.office_text import archive_of, read_archive
from agents.web.reader_pool import Elsewhere
from agents.web.rich_text import rich_text
from agents.web.table_rows import read_table
from agents.web.url_key import host_of, link
from agents.web.walls import EMPTY, wall_of, without_demands

MAX_COLUMNS = 60  # columns from which a line is not read as a table: the parser takes seconds for thousands of them
_FRONT_MATTER = re.compile(r"\A(?:---|\+\+\+)[ \t]*\n(.*?)\n(?:---|\.\.\.|\+\+\+)[ \t]*(?:\n|\Z)", re.S)
_FACT = re.compile(r"^([A-Za-z][\w -]*?)\s*[:=](?=\s|$)[ \t]*(.*(?:\n\s*-\s.*)*)", re.M)
_FOOTNOTE = re.compile(r"^( {0,3})\[\^([\w-]+)\]:", re.M)
_PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def read_markdown(text: str, fallback_title: str) -> Document:
    """Read a Markdown file."""
    text = seen(text)
    match = _FRONT_MATTER.match(text)
    facts = front_matter(match[1]) if match else {}
    # Absurdly wide lines are no tables, and notes are no targets of links.
    lines = _FOOTNOTE.sub(r"\1\\[^\2\\]:", text[match.end() :] if match and facts else text).split("\n")
    narrow = (line.replace("|", "\\|") if line.count("|") > MAX_COLUMNS else line for line in lines)
    body, heading = whole_text(_PARSER.render("\n".join(narrow)))

    def fact(*keys: str) -> str:
        return next((facts[key] for key in keys if facts.get(key)), "")

    address, language = fact("url", "source", "canonical"), fact("language", "lang").split("-")[0].lower()
    return Document(
        title=one_line(fact("title") or heading)[:MAX_NAME].strip() or fallback_title,
        text=body,
        author=name_of(fact("author", "authors", "by")),
        published=iso_date(fact("date", "published", "pubdate")),
        site=name_of(fact("publisher", "site", "organisation", "organization")),
        language=language if re.fullmatch("[a-z]{2,3}", language) else (language_of(body) if body else None),
        canonical=address if urlsplit(address).scheme in {"http", "https"} else None,
    )


def front_matter(block: str) -> dict[str, str]:
    """Read lines of `key: value`; lists, in brackets or as lines of `- entry`, become one text with commas."""
    facts: dict[str, str] = {}
    for key, value in _FACT.findall(re.sub(r"(?m) #.*$", "", block)):
        entries = (one.strip(" \t\"'") for one in re.split(r"(?:^|\n)\s*-\s+|,\s", value.strip().strip("[]")))
        facts[key.lower()] = ", ".join(filter(None, entries))
    return facts


MAX_MARKUP = 3_000_000
"""Characters of a document that are looked at: what comes after is cut, and said to be. All of them are worked on here."""

_BINARY = {
    b"\x89PNG": "a picture", b"\xff\xd8\xff": "a picture", b"GIF8": "a picture", b"ID3": "a sound recording",
    b"\x1f\x8b": "an archive", b"7z\xbc\xaf": "an archive", b"Rar!": "an archive",
    b"\xd0\xcf\x11\xe0": "an old or locked office file, which is not read", b"%!PS": "a PostScript file, which is not read",
}  # fmt: skip
_HTML = re.compile(
    r"\s*(?:<!--.{0,4000}?-->\s*|<\?xml[^>]{0,200}\?>\s*)*"
    r"<(?:!doctype\s+html|html|head|body|meta|title|div|p|table|h1|article|main|script|link)\b",
    re.I | re.S,
)
_MAIL = re.compile(rb"[A-Za-z][\w-]{1,40}:.{0,19000}?\nMIME-Version: 1", re.I | re.S)
_XML = re.compile(r"\s*(?:<\?xml|<(?:rss|feed|rdf|urlset|sitemapindex)\b)", re.I)
_DOCUMENT_LINK = re.compile(
    r"\.(?:pdf|docx|html?|txt)\b|pdf|download|bitstream|viewer|document|fulltext|content/", re.I
)
_REFRESH = re.compile(r"\s*(\d+)\s*[;,]\s*(?:url\s*=)?\s*[\"']?([^\"'>]+)", re.I)  # seconds, and where to then
_FRAME_TEXT = 300  # characters of its own that a page has at most, when it only frames a document


def read_here(body: bytes, content_type: str, url: str) -> Document:
    """Read a document in this very thread, without a limit of time: what `read_document` has done elsewhere."""
    if is_pdf(body):
        from agents.web.pdf_text import read_pdf  # loads a library of 8 MB

        return read_pdf(body, url)
    if is_zip(body):
        with archive_of(body, url) as archive:
            page = read_archive(archive, url)
        return _bounded(_document(page, page.text, url))
    kind = "a film" if body[4:8] == b"ftyp" else next((_BINARY[one] for one in _BINARY if body.startswith(one)), "")
    if kind:
        raise SourceError(url, f"it is {kind}" if "read" in kind else f"it is {kind}, not a text")
    if _MAIL.match(body[:20_000]):
        raise SourceError(url, "it is an e-mail, which is not read")
    declared = content_type.partition(";")[0].strip().lower()
    suffix = PurePosixPath(urlsplit(url).path).suffix.lower()
    whole = decode(body, content_type).replace("\r\n", "\n").replace("\r", "\n")
    if body.startswith(b"{\\rtf"):
        return _bounded(_plain(rich_text(whole), url))  # most of it may be pictures
    text = whole[:MAX_MARKUP]
    return _bounded(_written(text, declared, suffix, url), cut=len(whole) > len(text))


def _written(text: str, declared: str, suffix: str, url: str) -> Document:
    """Read what is written in letters, by its first ones, what it is said to be, and the end of its name."""
    sample = text[:4_000]
    strange = sum(letter < " " and letter not in "\t\n\v\r\f\x1b" for letter in sample)
    if "\x00" in sample or strange > 0.02 * len(sample):  # bytes that are no text although each has a letter somewhere
        raise SourceError(url, NOT_TEXT)
    if _HTML.match(text) or ("html" in declared and "<" in text and not _XML.match(text)):
        return _page(text, url)
    if "<office:document" in sample:
        raise SourceError(url, "it is an OpenDocument file of one part, which is not read")
    if _XML.match(text):
        return _plain(_xml_text(text), url)
    if declared in {"text/markdown", "text/x-markdown"} or suffix in {".md", ".markdown"}:
        page = read_markdown(text, file_name(url))
        return _document(page, page.text, url)
    if (declared.endswith("json") or suffix == ".json") and "\n" not in text.strip():
        with suppress(ValueError, RecursionError):  # written for machines, on one line: a line for each value
            text = json.dumps(json.loads(text), ensure_ascii=False, indent=1)
    if suffix in {".csv", ".tsv"} or declared in {"text/csv", "text/tab-separated-values"}:
        table = read_table(text, tabs=suffix == ".tsv")
        return _plain(unruffled(seen(table or text)), url, is_data=True)
    return _plain(unruffled(seen(text)), url)


def _page(html: str, url: str) -> Document:
    """Read a page, unless a wall stands before its text."""
    # The library behind it takes a moment to load, which a run of documents or ready texts need not wait for.
    from agents.web.html_text import read_html

    page = read_html(html, url)
    if len(page.text) < _FRAME_TEXT and (framed := _framed(html, url)):
        raise Elsewhere(url, framed)
    # A document that the user gave is what it is; only the web puts other pages in the place of a text.
    wall = wall_of(html, page.text, url) if url.startswith("http") else None
    if wall and wall.kind != "partial":
        raise SourceError(url, wall.reason)
    text = without_demands(page.text) if wall else page.text
    return replace(_document(page, text, url), gaps=(Said(wall.reason),) if wall else ())


def _bounded(page: Document, *, cut: bool = False) -> Document:
    """Cut what is longer than is looked at, and say so of what was cut here or before."""
    if not cut and len(page.text) <= MAX_MARKUP:
        return page
    gaps = (*page.gaps, Said("it is very long; only its beginning was read"))
    return replace(page, text=page.text[:MAX_MARKUP], gaps=gaps)


def _framed(html: str, url: str) -> str:
    """Give the document that a page without text of its own shows in a frame, or opens by itself; empty for none."""
    tree = parsed(html)
    for one in tree.iter("meta", "iframe", "embed", "object", "frame") if tree is not None else ():
        if one.tag == "meta":
            to = _REFRESH.match(one.get("content", "")) if one.get("http-equiv", "").lower() == "refresh" else None
            shown = link(url, to[2].strip()) if to and int(to[1][:4]) <= 10 else ""
            is_document = True
        else:
            address = one.get("src") or one.get("data") or ""
            viewed = parse_qs(urlsplit(address).query).get("file", [""])[0] if "viewer" in address else ""
            shown = link(url, viewed or address)
            is_document = bool(viewed or one.get("type") == "application/pdf" or _DOCUMENT_LINK.search(address))
        if shown and shown != url and is_document:
            return shown
    return ""


def _plain(text: str, url: str, *, is_data: bool = False) -> Document:
    first = one_line(text.lstrip().split("\n", 1)[0])
    title = first if len(first) <= MAX_NAME and not is_data and first[:1] not in {"{", "[", "<"} else ""
    return _document(Document(title=title, text=text, language=language_of(text)), text, url)


def _document(page: Document, text: str, url: str) -> Document:
    """Complete a document by its address; one without a letter is none."""
    if not any(letter.isalnum() for letter in text):
        raise SourceError(url, EMPTY)
    return replace(page, title=page.title or file_name(url), text=text, site=page.site or host_of(url) or None)


def _xml_text(text: str) -> str:
    """Give the texts of an XML file, such as a feed, one element a line."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, huge_tree=False)
    root = etree.fromstring(re.sub(r"^\s*<\?xml[^>]*\?>", "", text), parser)
    parts = (part.strip() for part in (root.itertext() if root is not None else ()) if isinstance(part, str))
    return collapsed(seen("\n".join(filter(None, parts))))
