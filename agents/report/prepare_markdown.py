"""Markdown made ready for the reader: slips of models put right, footnotes put in their place, made-up lists dropped."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

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


def is_closed(fence: SyntaxTreeNode, lines: Sequence[str]) -> bool:
    """Tell whether a fence has an end of its own."""
    first, last = fence.map or (0, 0)
    return last - first > 1 and bool(re.fullmatch(rf"[\s>]*{re.escape(fence.markup[0])}{{3,}}\s*", lines[last - 1]))


# ---- lists of references that a writer made up


def without_reference_lists(
    nodes: Sequence[SyntaxTreeNode], inline: Callable[[str], list[Token]]
) -> Iterator[SyntaxTreeNode]:
    """Drop what stands below the heading of a list of references, and lists that begin inside or behind a paragraph."""
    level, in_list = "", False
    for number, node in enumerate(nodes):
        if node.type == "heading" and (not level or node.tag <= level):
            level = node.tag if is_reference_heading(node.children[0].content) else ""
            in_list = False
        in_list = in_list and _is_entry(node)
        if level or in_list:
            continue
        if node.type == "paragraph":
            words = node.children[0]
            lines = words.content.split("\n")
            first = _first_of_list(lines, nodes[number + 1 : number + 2])
            in_list = first is not None
            if first == 0:
                continue
            if first and words.token:
                words.token.children = inline("\n".join(lines[:first]))[0].children
        yield node


def _first_of_list(lines: Sequence[str], following: Sequence[SyntaxTreeNode]) -> int | None:
    for number, line in enumerate(lines):
        named = is_reference_heading(line) and (number + 1 < len(lines) or any(map(_is_entry, following)))
        if named or opens_reference_list(line):
            return number
    return None


def _is_entry(node: SyntaxTreeNode) -> bool:
    if node.type == "paragraph":
        return bool(_ENTRY.match(node.children[0].content))
    return node.type in {"bullet_list", "ordered_list"}
