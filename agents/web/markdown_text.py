"""Markdown files as readable text: marks go, words stay as they are. Knows front matter of `key: value` lines."""

import re
from collections.abc import Mapping
from datetime import datetime
from urllib.parse import urlsplit

from markdown_it import MarkdownIt

from agents.nlp.tokens import language_of, one_line, seen
from agents.web.decoding import MAX_NAME, Document
from agents.web.html_tree import whole_text

MAX_COLUMNS = 60
"""Columns from which a line is not read as a table: the parser takes seconds for thousands of them."""

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.S)
_PAIR = re.compile(r"([A-Za-z][\w -]*?)\s*:(?:\s+(.*))?$")
_ENTRY = re.compile(r"\s*-\s+(.*)$")
_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?=$|[T\s])")
_DATE_FORMS = ("%d %B %Y", "%B %d, %Y", "%d.%m.%Y", "%Y/%m/%d", "%B %Y")
_FOOTNOTE = re.compile(r"^( {0,3})\[\^([\w-]+)\]:", re.M)
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
    body, heading = whole_text(_PARSER.render(_narrow(text[match.end() :] if match and facts else text)))
    address = _fact(facts, "url", "source", "canonical")
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
