"""The format rules that code can mend (specification, section 8), so that no writer is asked twice for them.

All functions are pure, and mending what was mended changes nothing.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from agents.report.blocks import Block, Heading, Listing, Paragraph, Quotation, Table, Verbatim, parse, render
from agents.report.citation_marks import canonical_key
from agents.report.inline import mended_line
from agents.report.person_names import is_reference_heading
from agents.report.report_sentences import capped, placed

MAX_LEVEL = 6
_PASSES = 6  # one pass may uncover what the next one mends; text that takes more is machine-made

_DEFINITION = re.compile(r"^\s{0,3}\[(?!#)[^\[\]]+\]:\s*\S+.*$", re.MULTILINE)
_ENTRY = re.compile(r"^\s*(?:\\?[\[【［]\s*\^?\d+|\d+[.)]\s|https?://|<https?://|[-*]\s)", re.IGNORECASE)
_WRITERS_MARK = re.compile(r"[\[【［]\s*[fF]\s?\d+(?:\s*[,;–-]\s*[fF]?\s?\d+)*\s*[\]】］]")
_RUN_ON_LIST = re.compile(r"\s*[*_]*([^\W\d_]+(?: [^\W\d_]+)?)[*_]*:?[*_]*\s+(?=[\[【［]\d+[\]】］])")
_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_MAX_RANGE = 3  # [f3-f5]; a longer range is no citation of single facts


def mend(
    markdown: str,
    *,
    level: int | None = 3,
    addresses: Collection[str] = (),
    source_of: Callable[[str], str | None] | None = None,
) -> str:
    """Mend the prose of one part of a report: a summary, a section, a lead.

    Dropped: a heading at its beginning, a reference list, pictures (their alt text stays), placeholders, marks that
    cite no fact, links to addresses that were not retrieved (their text stays). Changed: headings nest from `level` on
    without gaps; a list of one becomes a paragraph; nested lists become flat; raw HTML becomes text; fact marks stand
    behind the closing mark of their sentence, each once, of at most three sources.

    Args:
        markdown: as the writer gave it, with `[#id]` marks.
        level: of the highest heading, 1 to 6; None where no heading may stand, as in a summary.
        addresses: those that were retrieved; only they stay links.
        source_of: names the source of a fact; None for a fact that does not exist, whose mark is dropped. Without it
            each fact counts as a source of its own.
    """
    known = frozenset(canonical_key(address) for address in addresses)
    text = markdown
    for _ in range(_PASSES):
        before = text
        text = render(_mended(text, level, known, source_of or str))
        if text == before:
            break
    return text


def _mended(
    markdown: str, level: int | None, known: Collection[str], source_of: Callable[[str], str | None]
) -> tuple[Block, ...]:
    blocks = _without_lists_of_references(parse(_DEFINITION.sub("", markdown)))
    while blocks and isinstance(blocks[0], Heading):
        blocks = blocks[1:]
    if level is None:
        level, blocks = MAX_LEVEL, tuple(block for block in blocks if not isinstance(block, Heading))
    mended = [new for block in blocks if (new := _with_lines(block, lambda text: mended_line(text, known))) is not None]
    placed_blocks = [new for block in mended if (new := _with_marks(block, source_of)) is not None]
    return _nested(_flat_lists(placed_blocks), level)


def _without_lists_of_references(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    out: list[Block] = []
    at = 0
    while at < len(blocks):
        block = blocks[at]
        if isinstance(block, Heading) and is_reference_heading(block.text):
            at += 1
            while at < len(blocks) and not _is_heading_above(blocks[at], block.level):
                at += 1
            continue
        if isinstance(block, Paragraph) and (kept := _before_list(block, blocks[at + 1 : at + 2])) is not None:
            if kept:
                out.append(Paragraph(kept))
            at += 1
            while at < len(blocks) and _is_entry(blocks[at]):
                at += 1
            continue
        out.append(block)
        at += 1
    return tuple(out)


def _is_heading_above(block: Block, level: int) -> bool:
    return isinstance(block, Heading) and block.level <= level


def _before_list(block: Paragraph, following: tuple[Block, ...]) -> tuple[str, ...] | None:
    """Give the lines before a list that begins inside or behind a paragraph; None when none does."""
    for number, line in enumerate(block.lines):
        if is_reference_heading(line) and (number + 1 < len(block.lines) or (following and _is_entry(following[0]))):
            return block.lines[:number]
        # "Sources [1] https://… [2] https://…": the list was written as one wrapped paragraph.
        name = _RUN_ON_LIST.match(line)
        if name and is_reference_heading(name[1]):
            return block.lines[:number]
    return None


def _is_entry(block: Block) -> bool:
    if isinstance(block, Listing):
        return True
    return isinstance(block, Paragraph) and bool(_ENTRY.match(block.lines[0]))


def _with_lines(block: Block, mend_text: Callable[[str], str]) -> Block | None:
    """Apply `mend_text` to every text of a block; None when nothing is left of it."""
    match block:
        case Heading(_, text):
            text = re.sub(r"\s*\[#f[0-9a-f]+\]", "", text)  # a heading states nothing
            text = mend_text(text).rstrip("#").strip()
            return replace(block, text=text) if _has_words(text) else None
        case Paragraph(lines):
            kept = tuple(new for line in lines if (new := _without_slash(mend_text(line))))
            return Paragraph(kept) if kept else None
        case Listing(items, _, _):
            kept = tuple(new for item in items if (new := _without_slash(mend_text(item))))
            return replace(block, items=kept) if kept else None
        case Quotation(paragraphs):
            kept = tuple(new for text in paragraphs if (new := _without_slash(mend_text(text))))
            return Quotation(kept) if kept else None
        case Table(header, _, rows):
            return replace(
                block,
                header=tuple(_cell(mend_text(cell)) for cell in header),
                rows=tuple(tuple(_cell(mend_text(cell)) for cell in row) for row in rows),
            )
        case Verbatim(_):
            return block


def _without_slash(text: str) -> str:
    slashes = len(text) - len(text.rstrip("\\"))
    return text[:-1].rstrip() if slashes % 2 else text


def _cell(text: str) -> str:
    return re.sub(r"(?<!\\)((?:\\\\)*)\|", r"\1\\|", _without_slash(text))


def _has_words(text: str) -> bool:
    return any(letter.isalnum() for letter in text)


def _with_marks(block: Block, source_of: Callable[[str], str | None]) -> Block | None:
    match block:
        case Paragraph(lines):
            kept = tuple(new for line in lines if (new := cited_line(line, source_of)))
            return Paragraph(kept) if kept else None
        case Listing(items, _, _):
            kept = tuple(new for item in items if (new := cited_line(item, source_of)))
            return replace(block, items=kept) if kept else None
        case Quotation(paragraphs):
            kept = tuple(new for text in paragraphs if _has_words(new := cited_line(text, source_of, whole=True)))
            return Quotation(kept) if kept else None
        case Table(_, _, rows):
            return replace(
                block, rows=tuple(tuple(cited_line(cell, source_of, whole=True) for cell in row) for row in rows)
            )
        case _:
            return block


def cited_line(line: str, source_of: Callable[[str], str | None], *, whole: bool = False) -> str:
    """Put the fact marks of a line behind the closing mark of the sentence that each belongs to.

    Args:
        line: inline Markdown, mended.
        source_of: names the source of a fact, None for one that does not exist.
        whole: the line is one sentence, as a quotation or a table cell is; a cell may hold nothing but marks.
    """
    out = ""
    for part in placed(line, whole=whole):
        facts = capped(part.facts, source_of)
        if out.endswith("]") and part.text.startswith(("(", "[")):
            out += " "  # "[1](2020)" would be a link
        if part.text or whole:
            out += _unpictured(part.text) if facts else part.text
            out += "".join(f"[#{fact}]" for fact in facts) + part.gap
    return out.strip()


def _unpictured(text: str) -> str:
    """Escape an exclamation mark at the end: with the link of a citation behind it, it would make a picture."""
    if not text.endswith("!"):
        return text
    slashes = len(text[:-1]) - len(text[:-1].rstrip("\\"))
    return text if slashes % 2 else f"{text[:-1]}\\!"


def _flat_lists(blocks: list[Block]) -> tuple[Block, ...]:
    """Join lists that nothing parts, then turn lists of one into paragraphs."""
    out: list[Block] = []
    for block in blocks:
        last = out[-1] if out else None
        if isinstance(block, Listing) and isinstance(last, Listing) and block.ordered == last.ordered:
            out[-1] = replace(last, items=last.items + block.items)
        else:
            out.append(block)
    return tuple(
        Paragraph(block.items) if isinstance(block, Listing) and len(block.items) == 1 else block for block in out
    )


def _nested(blocks: tuple[Block, ...], level: int) -> tuple[Block, ...]:
    """Shift headings so that the highest has `level`, each at most one deeper than the one before; drop empty ones."""
    while blocks and isinstance(blocks[-1], Heading):
        blocks = blocks[:-1]
    levels = [block.level for block in blocks if isinstance(block, Heading)]
    top = min(levels, default=level)
    out: list[Block] = []
    last = level - 1
    for block in blocks:
        if isinstance(block, Heading):
            last = min(level + block.level - top, last + 1, MAX_LEVEL)
            out.append(Heading(last, block.text))
        else:
            out.append(block)
    return tuple(out)


def to_fact_marks(markdown: str, numbered: Mapping[int, str]) -> tuple[str, int]:
    """Turn a writer's `[f3]`, `[F3, f4]`, `[f3-f5]` into marks of facts.

    Args:
        markdown: as the writer gave it.
        numbered: fact ids by the number that the writer was shown.

    Returns:
        The text with `[#id]` marks, and how many numbers named no fact; those are dropped.
    """
    unknown = 0
    code = [match.span() for match in _CODE.finditer(markdown)]

    def marked(match: re.Match[str]) -> str:
        nonlocal unknown
        if any(start <= match.start() < end for start, end in code):
            return match[0]
        numbers: dict[int, None] = {}
        for part in re.split(r"[,;]", match[0]):
            ends = [int(number) for number in re.findall(r"\d+", part)]
            is_range = len(ends) == 2 and 0 <= ends[1] - ends[0] <= _MAX_RANGE
            numbers.update(dict.fromkeys(range(ends[0], ends[1] + 1) if is_range else ends))
        unknown += sum(number not in numbered for number in numbers)
        return "".join(f"[#{numbered[number]}]" for number in numbers if number in numbered)

    return _WRITERS_MARK.sub(marked, markdown), unknown
