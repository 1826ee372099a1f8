"""Rich text (RTF) as plain text: without what is struck, deleted or hidden, its notes behind their paragraph."""

import re
from collections.abc import Iterator
from itertools import groupby

from agents.nlp.tokens import collapsed, seen
from agents.web.formulas import lowered, raised
from agents.web.table_rows import records

_TOKEN = re.compile(r"\\([a-zA-Z]+)(-?\d+)? ?|([{}])|\\'[0-9a-fA-F]{2}|\\[^a-zA-Z]|[^\\{}]+")
_HIDES = {"strike", "striked", "v", "deleted"}
_SPECK = 4  # half points of a letter that cannot be read
_UP, _DOWN, _NOTE, _END = "\ue001", "\ue002", "\ue003", "\ue004"
_MARKS = {"super": _UP, "up": _UP, "sub": _DOWN, "dn": _DOWN, "footnote": _NOTE}
_SHIFTED = re.compile(f"([{_UP}{_DOWN}])([^{_UP}-{_END}]*){_END}")
_NOTES = re.compile(f"{_NOTE}([^{_END}]*){_END}")


def rich_text(text: str) -> str:
    """Write an RTF file as plain text; the rows of its tables are records."""
    from striprtf.striprtf import rtf_to_text

    plain = str(rtf_to_text("".join(_marked(text)), errors="ignore"))  # type: ignore[no-untyped-call]
    plain = _SHIFTED.sub(lambda found: (raised if found[1] == _UP else lowered)(found[2]), plain)
    lines: list[str] = []
    for is_row, group in groupby(plain.split("\n"), lambda line: line.endswith("|")):
        if is_row:
            lines += records([cell.strip() for cell in line[:-1].split("|")] for line in group)
            continue
        for line in group:
            lines.append(_NOTES.sub("", line))
            lines += [f"Note: {' '.join(note.split())}" for note in _NOTES.findall(line) if note.strip()]
    return collapsed(seen("\n".join(lines)))


def _marked(text: str) -> Iterator[str]:
    """Give an RTF file without the words that no reader sees, and with signs around those that are raised or notes."""
    colours = re.search(r"\{\\colortbl([^{}]*)\}", text)
    shades = [re.findall(r"\\(?:red|green|blue)(\d+)", one) for one in colours[1].split(";")] if colours else []
    white = {number for number, parts in enumerate(shades) if parts and min(map(int, parts)) > 255 - 24}
    hidden, mark, is_cell = frozenset[str](), "", False  # what hides the words at hand, and what they are
    groups: list[tuple[frozenset[str], str]] = []
    for token in _TOKEN.finditer(re.sub(r"\\\*\s?\\footnote", r"\\footnote", text)):
        word, number, brace, before = token[1] or "", token[2], token[3] or "", mark
        in_note = mark == _NOTE
        is_cell = word == "intbl" if word in {"intbl", "pard"} and not in_note else is_cell
        if brace == "{":
            groups.append((hidden, mark))
        elif brace == "}":
            hidden, mark = groups.pop() if groups else (hidden, "")
        elif word in _HIDES:
            hidden = hidden - {word} if number == "0" else hidden | {word}
        elif word in {"cf", "fs"}:
            unseen = int(number or 0) in white if word == "cf" else int(number or 24) <= _SPECK
            hidden = hidden | {word} if unseen else hidden - {word}
        elif word in {"plain", "nosupersub"}:
            hidden, mark = frozenset() if word == "plain" else hidden, _NOTE if in_note else ""
        elif word in _MARKS and not in_note:
            mark = "" if number == "0" else _MARKS[word]
        if mark != before:
            yield (_code(_END) if before else "") + (_code(mark) if mark else "")
        if word == "par" and is_cell:
            yield " "
        elif brace or (word and not (in_note and word in {"par", "pard"})):
            yield token[0] if word not in _MARKS else ""
        elif not hidden and not word:
            yield token[0]


def _code(sign: str) -> str:
    """Write a sign as RTF does, in sixteen bits, whatever the file says of stand-ins."""
    return f"{{\\uc1\\u{ord(sign) - 0x10000}?}}"
