"""Markdown made ready for the reader: slips of models put right, footnotes put in their place, made-up lists dropped."""

import re
from collections.abc import Mapping, Sequence

from markdown_it.tree import SyntaxTreeNode

from agents.report.cut_sentences import is_reference_heading, opens_reference_list

MAX_COLUMNS = 60
"""Columns from which a line is not read as a table: the parser takes seconds for thousands of them."""
_BULLET = re.compile(r"^(\s*)•\s+", re.MULTILINE)
_NOTE = re.compile(r"^ {0,3}\[\^([^\]\s]+)\]:[ \t]*(.+(?:\n(?: {2,}|\t).+)*)", re.MULTILINE)
_NOTE_MARK = re.compile(r"\[\^([^\]\s]+)\]")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:\s|$)")
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
    """Put right what models write otherwise than Markdown reads it: typed bullets, shallow indents, wide rows, made-up lists."""
    return _narrowed(_nested(without_reference_lists(_BULLET.sub(r"\1- ", text))))


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


def is_closed(fence: SyntaxTreeNode, lines: Sequence[str]) -> bool:
    """Tell whether a fence has an end of its own."""
    first, last = fence.map or (0, 0)
    return last - first > 1 and bool(re.fullmatch(rf"[\s>]*{re.escape(fence.markup[0])}{{3,}}\s*", lines[last - 1]))


def without_reference_lists(text: str) -> str:
    """Drop lists of references that a writer made up: all below such a heading, and the entries below a plain line."""
    lines, kept = text.split("\n"), list[str]()
    level, in_list = 0, False
    for number, line in enumerate(lines):
        if heading := _HEADING.match(line):
            in_list = False
            if not level or len(heading[1]) <= level:
                level = len(heading[1]) if is_reference_heading(line) else 0
        elif in_list:
            in_list = not line.strip() or line.startswith("  ") or bool(_ENTRY.match(line))
        else:
            entry = next(filter(str.strip, lines[number + 1 :]), "")
            named = is_reference_heading(line) and bool(_ENTRY.match(entry) or not entry)
            in_list = named or opens_reference_list(line)
        kept += [] if level or in_list else [line]
    return "\n".join(kept)
