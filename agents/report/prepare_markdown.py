"""Markdown made ready for the reader: slips of models put right, footnotes put in their place, made-up lists dropped."""

import re
from collections.abc import Callable, Mapping, Sequence

from markdown_it.token import Token

from agents.report.cut_sentences import is_reference_heading, opens_reference_list

MAX_COLUMNS = 60
"""Columns from which a line is not read as a table: the parser takes seconds for thousands of them."""
_BULLET = re.compile(r"^(\s*)•\s+", re.MULTILINE)
_NOTE = re.compile(r"^ {0,3}\[\^([^\]\s]+)\]:[ \t]*(.+(?:\n(?: {2,}|\t).+)*)", re.MULTILINE)
_NOTE_MARK = re.compile(r"\[\^([^\]\s]+)\]")
_ENTRY = re.compile(r"^\s*(?:\\?[\[【［]\s*\^?\d+|\d+[.)]\s|https?://|<https?://|[-*]\s)", re.IGNORECASE)
_DELIMITER = re.compile(r"\s{0,3}\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_BAR = re.compile(r"(?<!\\)\|")
_ORDERED = re.compile(r"( {0,3})\d{1,9}[.)] +")
_DEFINITION = re.compile(
    r"^ {0,3}\[(?!#)[^\[\]]+\]:\s*<?(?:https?:|www\.|mailto:|/|#)\S*.*$", re.MULTILINE | re.IGNORECASE
)


def without_notes(text: str) -> str:
    """Read footnotes where they are called, and drop definitions of links; a note with an address is a reference."""
    if "[^" in text:
        notes = {found[1]: " ".join(found[2].split()).rstrip(".") for found in _NOTE.finditer(text)}
        text = _NOTE_MARK.sub(lambda mark: _note(mark, notes), _NOTE.sub("", text))
    return _DEFINITION.sub("", text)


def _note(mark: re.Match[str], notes: Mapping[str, str]) -> str:
    words = notes.get(mark[1])
    if words is None or ("://" in words and mark[1].isdecimal()):
        return mark[0]
    return "" if "://" in words else f" ({words})"


def prepared(text: str) -> str:
    """Put right what models write otherwise than Markdown reads it: typed bullets, shallow indents, wide rows."""
    return _narrowed(_nested(_BULLET.sub(r"\1- ", text)))


def _nested(text: str) -> str:
    """Indent what was meant to stand inside a numbered item as far as the reader wants it: models indent by two."""
    lines = text.split("\n")
    base = offset = shift = 0
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip(" "))
        if item := _ORDERED.match(line):
            base, offset, shift = len(item[1]), len(item[0]), 0
        elif line.strip() and indent <= base:
            offset = shift = 0
        elif offset and not shift and base < indent < offset and re.match(r"[-*+] ", line.lstrip()):
            shift = offset - indent
        if shift and line.strip():
            lines[number] = " " * shift + line
    return "\n".join(lines)


def _narrowed(text: str) -> str:
    """Keep bars that would begin a column of their own beyond the header in the last one, and absurdly wide lines flat."""
    lines = text.split("\n")
    width = 0
    for number, line in enumerate(lines):
        if line.count("|") > MAX_COLUMNS:
            lines[number] = line.replace("|", "\\|")
        elif number and "|" in lines[number - 1] and _DELIMITER.match(line) and "-" in line:
            width = len(_BAR.findall(line.strip().strip("|"))) + 1
        elif "|" not in line:
            width = 0
        elif width and "`" not in line:
            body = line.strip().removeprefix("|")
            bars = [found.start() for found in _BAR.finditer(body.rstrip().removesuffix("|"))]
            for at in reversed(bars[width - 1 :]):
                body = body[:at] + "\\|" + body[at + 1 :]
            lines[number] = f"| {body}" if len(bars) >= width else line
    return "\n".join(lines)


def closing(tokens: Sequence[Token], at: int) -> int:
    """Find the token that closes the one at `at`; a token without inside closes itself."""
    depth = 0
    for place in range(at, len(tokens)):
        depth += tokens[place].nesting
        if depth == 0:
            return place
    return len(tokens)


def is_closed(token: Token, lines: Sequence[str]) -> bool:
    """Tell whether a fence has an end of its own."""
    first, last = (token.map or [0, 0])[0], (token.map or [0, 0])[1]
    return last - first > 1 and bool(re.fullmatch(rf"[\s>]*{re.escape(token.markup[0])}{{3,}}\s*", lines[last - 1]))


# ---- lists of references that a writer made up


def without_reference_lists(tokens: Sequence[Token], inline: Callable[[str], list[Token]]) -> list[Token]:
    """Drop what stands below the heading of a list of references, and lists that begin inside or behind a paragraph."""
    out: list[Token] = []
    at = 0
    while at < len(tokens):
        token, end = tokens[at], closing(tokens, at)
        content = tokens[at + 1].content if token.type in {"heading_open", "paragraph_open"} else ""
        if token.type == "heading_open" and is_reference_heading(content):
            at = end + 1
            while at < len(tokens) and not (tokens[at].type == "heading_open" and tokens[at].tag <= token.tag):
                at = closing(tokens, at) + 1
            continue
        lines = content.split("\n")
        first = _first_of_list(lines, tokens[end + 1 :]) if token.type == "paragraph_open" else None
        if first is None:
            out += tokens[at : end + 1]
        else:
            if first:
                out += [token, *inline("\n".join(lines[:first])), tokens[end]]
            while end + 1 < len(tokens) and _is_entry(tokens[end + 1 :]):
                end = closing(tokens, end + 1)
        at = end + 1
    return out


def _first_of_list(lines: Sequence[str], following: Sequence[Token]) -> int | None:
    for number, line in enumerate(lines):
        named = is_reference_heading(line) and (number + 1 < len(lines) or _is_entry(following))
        if named or opens_reference_list(line):
            return number
    return None


def _is_entry(tokens: Sequence[Token]) -> bool:
    if not tokens:
        return False
    if tokens[0].type == "paragraph_open":
        return bool(_ENTRY.match(tokens[1].content))
    return tokens[0].type in {"bullet_list_open", "ordered_list_open"}
