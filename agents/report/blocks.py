"""The Markdown that reports are made of: blocks in, canonical Markdown out. Lists are flat by construction."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from agents.report.maths import NO_FORMULA

Align = str
"""`left`, `center`, `right`, or empty."""


@dataclass(frozen=True)
class Heading:
    """A heading of level 1 to 6."""

    level: int
    text: str


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; more than one line where the writer broke it on purpose."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Listing:
    """A flat list of at least one item."""

    items: tuple[str, ...]
    ordered: bool = False
    start: int = 1


@dataclass(frozen=True)
class Table:
    """A table whose rows are all as long as its header."""

    header: tuple[str, ...]
    align: tuple[Align, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Quotation:
    """A block quote, by paragraphs."""

    paragraphs: tuple[str, ...]


@dataclass(frozen=True)
class Verbatim:
    """Fenced code, or a display formula between double dollars: taken as it is, never a sentence."""

    text: str


Block = Heading | Paragraph | Listing | Table | Quotation | Verbatim

_FENCE = re.compile(r"\s{0,8}(`{3,}|~{3,})([^`]*)$")
_HEADING = re.compile(r"\s{0,3}(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*$")
_UNDERLINE = re.compile(r"\s{0,3}=+\s*$")
_RULE = re.compile(r"\s{0,3}([-*_])\s*(?:\1\s*){2,}$")
_QUOTE = re.compile(r"\s{0,3}>\s?")
_ITEM = re.compile(r"(\s*)([-*+•]|\d{1,9}[.)])(?:\s+(.*))?$")
_TASK = re.compile(r"\[[ xX]\]\s+")
_DELIMITER = re.compile(r"\s{0,3}\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_UNSPACED = re.compile(r"[\u3000-\u9fff\uf900-\ufaff\uff00-\uffef]")
# What would start another block if it stood at the beginning of a line; the group is the character to escape.
_OPENS = re.compile(r"(?:(#)|(>)|([-+*•])(?:\s|$)|\d{1,9}([.)])(?:\s|$)|(`)``|(~)~~|(=)=*$|([-*_])\s*(?:\8\s*){2,}$)")


def parse(markdown: str) -> tuple[Block, ...]:
    """Read Markdown into blocks. Horizontal rules are dropped; raw HTML is text; nested lists come out flat."""
    lines = markdown.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4).split("\n")
    return tuple(_blocks(lines))


def render(blocks: Iterable[Block]) -> str:
    """Write blocks as Markdown, one blank line between them; `parse` reads the same blocks back."""
    return "\n\n".join(_written(block) for block in blocks)


def guarded(text: str) -> str:
    """Escape what would make a line of prose into another kind of block."""
    if _DELIMITER.match(text) and "-" in text:
        return "\\" + text.lstrip()
    if match := _OPENS.match(text):
        at = match.start(match.lastindex or 0)
        return text[:at] + "\\" + text[at:]
    return text


def cells(line: str) -> tuple[str, ...]:
    """Split a table row at the bars that are neither escaped nor inside code."""
    found, cell, ticks, at = [], "", "", 0
    line = line.strip()
    line = line.removeprefix("|")
    while at < len(line):
        if line[at] == "\\" and at + 1 < len(line):
            cell, at = cell + line[at : at + 2], at + 2
            continue
        if run := re.match(r"`+", line[at:]):
            ticks = "" if ticks == run[0] else ticks or (run[0] if run[0] in line[at + len(run[0]) :] else "")
            cell, at = cell + run[0], at + len(run[0])
            continue
        if line[at] == "|" and not ticks:
            found.append(cell.strip())
            cell = ""
        else:
            cell += line[at]
        at += 1
    if cell.strip():
        found.append(cell.strip())
    return tuple(found)


def joined(first: str, second: str) -> str:
    """Put two lines of one paragraph together: no space between characters of scripts that use none."""
    if first and second and _UNSPACED.match(first[-1]) and _UNSPACED.match(second[0]):
        return first + second
    return f"{first} {second}".strip()


def _written(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f"{'#' * level} {text}"
        case Paragraph(lines):
            return "\\\n".join(guarded(line) for line in lines)
        case Listing(items, ordered, start):
            marks = (f"{number}." if ordered else "-" for number in range(start, start + len(items)))
            return "\n".join(f"{mark} {guarded(item)}" for mark, item in zip(marks, items, strict=True))
        case Table(header, align, rows):
            dashes = {"left": ":---", "center": ":---:", "right": "---:"}
            written = [header, tuple(dashes.get(side, "---") for side in align), *rows]
            return "\n".join("| " + " | ".join(row) + " |" for row in written)
        case Quotation(paragraphs):
            return "\n>\n".join(f"> {guarded(text)}" for text in paragraphs)
        case Verbatim(text):
            return text


def _blocks(lines: list[str]) -> list[Block]:
    found: list[Block] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip() or _RULE.match(line):
            at += 1
        elif taken := _verbatim(lines, at):
            prose = _fenced_prose(taken[0])
            found.extend(_blocks(prose) if prose else [Verbatim(taken[0])])
            at = taken[1]
        elif _FENCE.match(line):
            at += 1  # a fence that nothing closes would swallow the rest
        elif heading := _HEADING.match(line):
            if text := (heading[2] or "").strip():
                found.append(Heading(len(heading[1]), text))
            at += 1
        elif _is_table(lines, at):
            table, at = _table(lines, at)
            found.append(table)
        elif _QUOTE.match(line):
            inside = []
            while at < len(lines) and _QUOTE.match(lines[at]):
                inside.append(_QUOTE.sub("", lines[at], count=1))
                at += 1
            if texts := tuple(text for block in _blocks(inside) for text in _texts(block)):
                found.append(Quotation(texts))
        elif _ITEM.match(line):
            listing, at = _listing(lines, at)
            if listing:
                found.append(listing)
        else:
            block, at = _paragraph(lines, at)
            if block:
                found.append(block)
    return found


def _verbatim(lines: list[str], at: int) -> tuple[str, int] | None:
    """Fenced code and display formulas; None where neither begins here, or a formula never ends."""
    if fence := _FENCE.match(lines[at]):
        end = at + 1
        while end < len(lines) and not re.fullmatch(rf"\s*{fence[1][0]}{{{len(fence[1])},}}\s*", lines[end]):
            end += 1
        body = lines[at + 1 : end]
        if end == len(lines):
            return None
        mark = fence[1]
        return "\n".join([mark + fence[2].strip(), *body, mark]), end + 1
    first = lines[at].strip()
    if not first.startswith("$$") or first.startswith("$$$"):
        return None
    for end in range(at, min(at + 30, len(lines))):
        text = "\n".join(line.strip() for line in lines[at : end + 1])
        if not lines[end].strip():
            return None
        if len(text) > 4 and text.endswith("$$") and not text.endswith("\\$$"):
            inside = text[2:-2].strip()
            return (
                (f"$$\n{inside}\n$$", end + 1)
                if inside and "$" not in inside and not NO_FORMULA.search(inside)
                else None
            )
    return None


def _fenced_prose(text: str) -> list[str] | None:
    """Give the lines of a fence that holds prose: models wrap whole answers in one, and citations are no code."""
    first, *body = text.split("\n")
    info = first.lstrip("`~ ").casefold()
    return body[:-1] if info in ("markdown", "md") or (first[0] in "`~" and "[#f" in text) else None


def _is_table(lines: list[str], at: int) -> bool:
    if at + 1 >= len(lines) or "|" not in lines[at] or not _DELIMITER.match(lines[at + 1]):
        return False
    return len(cells(lines[at])) == len(cells(lines[at + 1])) > 0


def _table(lines: list[str], at: int) -> tuple[Table, int]:
    header = cells(lines[at])
    align = tuple(
        "center" if dash.startswith(":") and dash.endswith(":")
        else "right" if dash.endswith(":")
        else "left" if dash.startswith(":")
        else ""
        for dash in cells(lines[at + 1])
    )  # fmt: skip
    rows = []
    at += 2
    while at < len(lines) and lines[at].strip() and "|" in lines[at]:
        row = cells(lines[at])
        last = len(header) - 1
        # Cells beyond the header would not be shown; their words move into the last column.
        row = (*row[:last], " ".join(row[last:])) if len(row) > last else row
        rows.append((*row, *("",) * (len(header) - len(row))))
        at += 1
    return Table(header, align, tuple(row for row in rows if any(row))), at


def _listing(lines: list[str], at: int) -> tuple[Listing | None, int]:
    first = _ITEM.match(lines[at])
    ordered = bool(first and first[2][0].isdigit())
    start = int(first[2][:-1]) if first and ordered else 1
    base = len(first[1]) if first else 0
    items: list[tuple[int, str]] = []
    after_blank = False
    while at < len(lines):
        line = lines[at]
        item = _ITEM.match(line)
        if not line.strip():
            after_blank = True
        elif _FENCE.match(line) or _RULE.match(line):
            break
        elif item:
            if len(item[1]) <= base and item[2][0].isdigit() != ordered:
                break
            items.append((len(item[1]), _TASK.sub("", (item[3] or "").strip(), count=1)))
            after_blank = False
        elif line.startswith("  ") or not (after_blank or _starts_block(lines, at)):
            indent, text = items[-1]
            items[-1] = (indent, joined(text, line.strip().rstrip("\\").strip()))
            after_blank = False
        else:
            break
        at += 1
    flat = tuple(_flat(items))
    return (Listing(flat, ordered, start) if flat else None), at


def _flat(items: list[tuple[int, str]]) -> list[str]:
    """Bring nested items up. Under "Costs:" each of them begins with "Costs:", so that it can stand alone."""
    found: list[str] = []
    above: list[tuple[int, str]] = []
    for number, (indent, text) in enumerate(items):
        while above and above[-1][0] >= indent:
            above.pop()
        label = above[-1][1] if above else ""
        whole = f"{label} {text}" if _is_label(label) and text else text
        has_children = number + 1 < len(items) and items[number + 1][0] > indent
        if whole and not (has_children and _is_label(whole)):
            found.append(whole)
        above.append((indent, whole))
    return found


def _is_label(text: str) -> bool:
    return text.rstrip("*_ ").endswith((":", "："))


def _starts_block(lines: list[str], at: int) -> bool:
    line = lines[at]
    item = _ITEM.match(line)
    interrupts = item is not None and (not item[2][0].isdigit() or item[2][:-1] == "1") and bool(item[3])
    return bool(
        interrupts
        or _HEADING.match(line)
        or _QUOTE.match(line)
        or _RULE.match(line)
        or _is_table(lines, at)
        or _FENCE.match(line)
        or _verbatim(lines, at)
    )


def _paragraph(lines: list[str], at: int) -> tuple[Block | None, int]:
    found = [""]
    begin = at
    while at < len(lines) and lines[at].strip() and (at == begin or not _starts_block(lines, at)):
        line = lines[at]
        if at > begin and _UNDERLINE.match(line):
            text = " ".join(part for part in found if part)
            return (Heading(1, text) if text else None), at + 1
        text = line.strip()
        slashes = len(text) - len(text.rstrip("\\"))
        hard = line.endswith("  ") or slashes % 2 == 1
        found[-1] = joined(found[-1], text[:-1].rstrip() if slashes % 2 else text)
        if hard:
            found.append("")
        at += 1
    texts = tuple(text for text in found if text)
    return (Paragraph(texts) if texts else None), at


def _texts(block: Block) -> tuple[str, ...]:
    """What a block says, for a place that holds paragraphs only."""
    match block:
        case Heading(_, text):
            return (text,)
        case Paragraph(lines):
            return (" ".join(lines),)
        case Listing(items, _, _):
            return items
        case Table(header, _, rows):
            return tuple("; ".join(cell for cell in row if cell) for row in (header, *rows))
        case Quotation(paragraphs):
            return paragraphs
        case Verbatim(_):
            return ()
