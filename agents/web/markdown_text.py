"""Markdown files as readable text: marks go, words stay as they are. Knows front matter of `key: value` lines."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from html import unescape
from itertools import pairwise
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

from agents.nlp.tokens import language_of, one_line, seen, unruffled
from agents.web.decoding import MAX_NAME, Document
from agents.web.formulas import lowered, raised
from agents.web.hidden_text import WHITE, declarations, hides

MAX_COLUMNS = 60
"""Columns from which a line is not read as a table: the parser takes seconds for thousands of them."""

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.S)
_PAIR = re.compile(r"([A-Za-z][\w -]*?)\s*:(?:\s+(.*))?$")
_ENTRY = re.compile(r"\s*-\s+(.*)$")
_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?=$|[T\s])")
_DATE_FORMS = ("%d %B %Y", "%B %d, %Y", "%d.%m.%Y", "%Y/%m/%d", "%B %Y")
_TAG = re.compile(r"<(?P<close>/)?(?P<name>[a-zA-Z][\w-]*)(?P<rest>[^>]*)>", re.S)
_STYLE = re.compile(r"style\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))", re.I)
_HIDDEN = re.compile(r"(?:^|\s)hidden(?:\s|=|/|$)|aria-hidden\s*=\s*[\"']?true", re.I)
_NEVER_SHOWN = set("script style template noscript iframe title textarea select del s strike".split())
_EMPTY = {"br", "hr", "img", "input", "meta", "link", "wbr", "source", "col", "area", "base", "embed", "track"}
_PARTING = set(
    "address article aside blockquote br caption dd details div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header hr li main"
    " ol p pre section summary table tbody td tfoot th thead tr ul".split()
)
"""Tags that part words from words."""
_INDICES = {"sup": raised, "sub": lowered}
_INDEX = re.compile(r"<(sup|sub)\b[^>]*>([^<]*)</\1>", re.I)
_COMMENT = re.compile(r"<!--.*?-->", re.S)
_STRAY_BAR = re.compile(r"^\| ?|(?: ?\|)+$")
_FOOTNOTE = re.compile(r"^( {0,3})\[\^([\w-]+)\]:", re.M)
_SOFT_BREAK = "\ue000"  # a line of the file ended here; words go on after a space, scripts without spaces without one
_CELL_END = "\ue001"
_CELLS_MEET = re.compile(f"{_CELL_END}[ \\t]*\\|")
_UNSPACED_BREAK = re.compile(
    f"(?<=[\u3000-\u30ff\u3400-\u9fff\uff01-\uff60]){_SOFT_BREAK}(?=[\u3000-\u30ff\u3400-\u9fff\uff01-\uff60])"
)
_QUOTED = re.compile(r"([\"'])(.*)\1\s*(?:#.*)?$")

_PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def read_markdown(text: str, fallback_title: str) -> Document:
    """Read a Markdown file.

    Args:
        text: the file, decoded.
        fallback_title: used when neither the front matter nor a heading names the document.

    Returns:
        The page; its `site` is what the front matter calls `publisher` or `site`.
    """
    text = seen(text)
    match = _FRONT_MATTER.match(text)
    facts = front_matter(match[1]) if match else {}
    match = match if facts else None  # words between two rules
    tokens = _PARSER.parse(_narrow(text[match.end() :] if match else text))
    body = unruffled("\n\n".join(block for block in _blocks(tokens) if block.strip()))
    address = _fact(facts, "url", "source", "canonical")
    heading = next((_inline(after) for token, after in pairwise(tokens) if token.type == "heading_open"), "")
    language = _fact(facts, "language", "lang").split("-")[0].lower()
    return Document(
        title=_name(_fact(facts, "title")) or _name(heading) or fallback_title,
        text=body,
        author=_name(_fact(facts, "author", "authors", "by")),
        published=iso_date(_fact(facts, "date", "published", "pubdate")),
        site=_name(_fact(facts, "publisher", "site", "organisation", "organization")),
        language=language if re.fullmatch("[a-z]{2,3}", language) else (language_of(body) if body else None),
        canonical=address if urlsplit(address).scheme in {"http", "https"} else None,
    )


def front_matter(block: str) -> dict[str, str]:
    """Read lines of `key: value`; lists, in brackets or as lines of `- entry`, become one text with commas."""
    facts: dict[str, str] = {}
    key = ""
    for line in block.split("\n"):
        entry = _ENTRY.match(line)
        if entry and key:
            facts[key] = ", ".join(filter(None, (facts[key], _unquoted(entry[1]))))
        elif pair := _PAIR.match(line):
            key = pair[1].strip().lower()
            value = (pair[2] or "").strip()
            if value.startswith("[") and value.endswith("]"):
                value = ", ".join(_unquoted(one) for one in value[1:-1].split(","))
            facts[key] = _unquoted(value)
    return facts


def iso_date(written: str) -> str | None:
    """Give a date as ISO 8601, as precise as it is written; None when it is none."""
    written = written.strip()
    if match := _DATE.match(written):
        year, month, day = match[1], match[2], match[3]
        try:
            datetime(int(year), int(month or 1), int(day or 1))  # noqa: DTZ001 - a check that the day exists
        except ValueError:
            return None
        return "-".join(filter(None, (year, month, day)))
    for form in _DATE_FORMS:
        try:
            found = datetime.strptime(written, form)  # noqa: DTZ007 - a day, not a moment
        except ValueError:
            continue
        return found.strftime("%Y-%m-%d" if "%d" in form else "%Y-%m")
    return None


def _unquoted(value: str) -> str:
    value = value.strip()
    if match := _QUOTED.fullmatch(value):
        return match[2].replace('\\"', '"')
    return value.split(" #")[0].strip()


def _fact(facts: Mapping[str, str], *keys: str) -> str:
    return next((facts[key] for key in keys if facts.get(key)), "")


def _name(text: str) -> str | None:
    return one_line(text)[:MAX_NAME].strip() or None


def _narrow(text: str) -> str:
    """Keep absurdly wide lines from being read as tables, and notes from being read as link targets."""
    text = _FOOTNOTE.sub(r"\1\\[^\2\\]:", text)
    return "\n".join(line.replace("|", "\\|") if line.count("|") > MAX_COLUMNS else line for line in text.split("\n"))


def _blocks(tokens: Sequence[Token]) -> Iterator[str]:
    """Write headings, paragraphs, code, whole lists and whole tables, one after the other."""
    marks: list[str] = []  # what stands before the next item of each open list: "-", or the last number
    lines: list[str] = []  # of the list or table that is open
    hidden: list[str] = []  # open elements of raw HTML, from the first that hides what is in it
    table = False
    pending = ""
    for token in tokens:
        if token.type == "html_block":
            lines += [pending + words] if (words := _words(token.content, hidden)) else []
            pending = "" if lines else pending
        elif token.type in {"bullet_list_open", "ordered_list_open"}:
            marks.append("-" if token.type == "bullet_list_open" else str(int(token.attrGet("start") or 1) - 1))
        elif token.type == "list_item_open":
            marks[-1] = marks[-1] if marks[-1] == "-" else str(int(marks[-1]) + 1)
            pending = "- " if marks[-1] == "-" else f"{marks[-1]}. "
        elif token.type in {"bullet_list_close", "ordered_list_close"}:
            marks.pop()
        elif token.type in {"table_open", "table_close"}:
            table = token.type == "table_open"
        elif token.type == "tr_open":
            row: list[str] = []
        elif token.type == "tr_close" and not hidden:
            lines.append(" | ".join(row))
        elif token.type == "inline" and table:
            row.append(_inline(token).replace("\n", " ").replace("|", "/"))
        elif token.type in {"inline", "fence", "code_block"} and not hidden:
            written = _inline(token) if token.type == "inline" else token.content.rstrip("\n")
            if not marks:
                yield written
                continue
            lines.append(pending + written)
            pending = ""
        if lines and not marks and not table:
            yield "\n".join(lines)
            lines = []


def _inline(token: Token) -> str:
    """Write the words of one paragraph: link texts, not addresses; no pictures, no raw HTML, nothing that it hides."""
    parts: list[str] = []
    hidden: list[str] = []
    index = ""  # the open <sup> or <sub>
    for child in token.children or ():
        if child.type == "html_inline":
            name = tag[0].strip("</>").lower() if (tag := re.match(r"</?\w+", child.content)) else ""
            if name in _INDICES:
                index = "" if child.content.startswith("</") else name
            else:
                parts.append(_between(child.content, hidden))
        elif child.type in {"s_open", "s_close"}:
            hidden += ["s"] if child.type == "s_open" else []
            hidden[:] = hidden if child.type == "s_open" else hidden[: hidden.index("s")] if "s" in hidden else hidden
        elif hidden:
            continue
        elif child.type in {"text", "code_inline", "text_special"}:
            parts.append(_INDICES[index](child.content) if index else child.content)
        elif child.type == "softbreak":
            parts.append(_SOFT_BREAK)
        elif child.type == "hardbreak":
            parts.append("\n")
    return _lines("".join(parts))


def _lines(text: str) -> str:
    text = _UNSPACED_BREAK.sub("", text).replace(_SOFT_BREAK, " ")
    text = _CELLS_MEET.sub(" |", text).replace(_CELL_END, " | ")
    lines = (_STRAY_BAR.sub("", " ".join(line.split())) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def _words(html: str, hidden: list[str]) -> str:
    """Write the words of a block of raw HTML: a line for each block and row, bars between cells."""
    html = _COMMENT.sub("", html)
    html = _INDEX.sub(lambda found: _INDICES[found[1].lower()](found[2]), html)
    parts: list[str] = []
    last = 0
    for tag in _TAG.finditer(html):
        parts += [] if hidden else [unescape(" ".join(html[last : tag.start()].split("\n")))]
        parts.append(_between(tag[0], hidden))
        last = tag.end()
    parts += [] if hidden else [unescape(" ".join(html[last:].split("\n")))]
    return _lines("".join(parts))


def _between(tag: str, hidden: list[str]) -> str:
    """Give what stands for a tag between words, and follow what it hides."""
    _follow(tag, hidden)
    found = _TAG.match(tag)
    name = found["name"].lower() if found else ""
    if hidden or name not in _PARTING:
        return ""
    if name in {"td", "th"}:
        return _CELL_END if found and found["close"] else " | "
    return "\n"


def _follow(html: str, hidden: list[str]) -> None:
    """Keep `hidden` as the elements that are open inside the outermost one that hides its content."""
    for tag in _TAG.finditer(html):
        name = tag["name"].lower()
        if tag["close"]:
            if name in hidden:
                del hidden[len(hidden) - 1 - hidden[::-1].index(name) :]
        elif name not in _EMPTY and not tag["rest"].endswith("/") and (hidden or _hides(name, tag["rest"])):
            hidden.append(name)


def _hides(name: str, attributes: str) -> bool:
    style = _STYLE.search(attributes)
    written = next(filter(None, style.groups()), "") if style else ""
    outside = _STYLE.sub("", attributes)
    return (
        name in _NEVER_SHOWN or bool(_HIDDEN.search(outside)) or bool(written and hides(declarations(written), WHITE))
    )
