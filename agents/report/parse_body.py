"""What a writer wrote, read once: Markdown with the numbers of facts becomes a tree of blocks and cited sentences.

Everything after this works on the tree. Raw HTML is read where it carries words (tables, lists, indices, line breaks),
and shown as text where it would do something.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from agents.contracts.body import (
    Align,
    Block,
    Body,
    Code,
    Display,
    Heading,
    Line,
    Listing,
    Paragraph,
    Quotation,
    Sentence,
    Table,
)
from agents.report.cut_sentences import (
    PARTING_TAGS,
    PLACEHOLDER,
    URL,
    Cut,
    Glyph,
    cut_out,
    find_marks,
    glyphs_of,
    host,
    joined,
    line_of,
    sentences,
    text_of,
    trimmed_url,
)
from agents.report.escaping import cleaned, is_safe
from agents.report.latex import read_formulas
from agents.report.prepare_markdown import closing, is_closed, prepared, without_notes, without_reference_lists
from agents.web.url_key import canonical

if TYPE_CHECKING:
    from lxml.html import HtmlElement

MAX_CHARACTERS = 2_000_000
"""A longer text is cut before it is read: no report is that long, and the reader is slow on hostile input."""
MAX_DEPTH = 6
"""Fences of Markdown and HTML inside one another, at most."""
_KEPT = 20_000
"""Characters of a text whose reading is kept: a section is read again at each step from its draft to the report."""

_TAG = re.compile(r"<(/?)([a-zA-Z][\w-]*)(?:\s[^<>]*)?/?>")
_TASK = re.compile(r"\A\[[ xX]\]\s+")
_BETWEEN_MARKS = re.compile(r"[\s,;]*(?:(?:and|und|et|y|see|siehe|vgl\.?|cf\.?)\s)?[\s,;]*", re.IGNORECASE)
_LEAD_IN = re.compile(r"[(（]\s*(?:see|siehe|vgl\.?|cf\.?|voir|véase)?\s*$", re.IGNORECASE)


def parse(
    markdown: str, known: Mapping[str, str] | Collection[str], *, addresses: Collection[str] | None = None
) -> Body:
    """Read what a writer wrote.

    Args:
        markdown: prose that cites by `[3]`, `[f3]`, `[3, 5]`, `[#id]` and their like. Marks that name nothing known
            are dropped, and so are placeholders (`[citation needed]`), lists of references and pictures, whose
            alternative text stays.
        known: what may be cited: ids of facts, by the labels under which the writer knows them; or ids alone.
        addresses: those that may be links; the words of other links stay, a bare address becomes its host. None for
            all that are safe.
    """
    labels = tuple(known.items()) if isinstance(known, Mapping) else tuple((one, one) for one in known)
    keys = None if addresses is None else frozenset(canonical(address) for address in addresses)
    return (_read if len(markdown) <= _KEPT else _read.__wrapped__)(markdown, labels, keys)


@lru_cache(maxsize=256)
def _read(markdown: str, labels: tuple[tuple[str, str], ...], keys: frozenset[str] | None) -> Body:
    text = without_notes(cleaned(markdown.replace("\r\n", "\n").replace("\r", "\n"))[:MAX_CHARACTERS])
    return Body(blocks=_BlockReader(dict(labels), keys).blocks(text))


@cache
def _parser() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    # Definitions of links are read as text and dropped; escaped characters stay told apart from written ones; what is
    # indented is prose, for models write code in fences.
    markdown.disable(["reference", "text_join", "code"])
    markdown.validateLink = lambda url: True  # type: ignore[method-assign]  # what may be a link is decided on reading
    read_formulas(markdown)
    markdown.inline.ruler.before("emphasis", "product", _product)
    return markdown


def _product(state: StateInline, silent: bool) -> bool:
    """Read the stars of `2*3*4` as stars."""
    at = state.pos
    if state.src[at] != "*" or not state.src[at - 1 : at].isdigit() or not state.src[at + 1 : at + 2].isdigit():
        return False
    if not silent:
        state.pending += "*"
    state.pos += 1
    return True


class _BlockReader:
    """Turns the parser's tokens into blocks."""

    def __init__(self, labels: Mapping[str, str], addresses: Collection[str] | None) -> None:
        self.labels, self.addresses = labels, addresses

    def blocks(self, text: str, depth: int = 0) -> tuple[Block, ...]:
        text = prepared(text)
        tokens = _parser().parse(text)
        lines = text.split("\n")
        for token in tokens:
            if token.type == "fence" and token.map and not is_closed(token, lines):
                lines[token.map[0]] = ""  # a fence that nothing closes would swallow the rest
                return self.blocks("\n".join(lines), depth)
        return _settled(self._blocks(without_reference_lists(tokens, _inline), depth))

    def _blocks(self, tokens: Sequence[Token], depth: int) -> Iterator[Block]:
        at = 0
        while at < len(tokens):
            token, end = tokens[at], closing(tokens, at)
            inside = tokens[at + 1 : end]
            match token.type:
                case "heading_open":
                    if line := line_of(self._line(inside)[0]):
                        yield Heading(level=int(token.tag[1]), inline=line)
                case "paragraph_open":
                    yield Paragraph(sentences=self._sentences(inside))
                case "bullet_list_open" | "ordered_list_open":
                    yield self._listing(token, inside, depth)
                case "blockquote_open":
                    yield Quotation(blocks=tuple(map(_whole, _settled(self._blocks(inside, depth)))))
                case "table_open":
                    yield self._table(inside)
                case "fence":
                    yield from self._code(token, depth)
                case "display":
                    yield Display(tex=token.content)
                case "html_block":
                    yield from self._html(token.content, depth)
                case _:
                    pass
            at = end + 1

    def _code(self, token: Token, depth: int) -> Iterator[Block]:
        """Give a fence; one that holds prose is read, for models wrap whole answers in one, and marks are no code."""
        info = token.info.strip().casefold()
        cites = any(label in self.labels for mark in find_marks(token.content) for label in mark.labels)
        if depth < MAX_DEPTH and (info in {"markdown", "md"} or (cites and not info)):
            yield from self.blocks(token.content, depth + 1)
        elif token.content.strip():
            yield Code(text=token.content.rstrip("\n"), language=info.split(" ")[0])

    def _listing(self, opening: Token, tokens: Sequence[Token], depth: int) -> Block:
        items: list[tuple[Block, ...]] = []
        at = 0
        while at < len(tokens):
            end = closing(tokens, at)
            if item := _settled(self._blocks(tokens[at + 1 : end], depth)):
                items.append(item)
            at = end + 1
        ordered = opening.type == "ordered_list_open"
        start = opening.attrGet("start")
        return Listing(items=tuple(items), ordered=ordered, start=1 if start is None else int(start))

    def _table(self, tokens: Sequence[Token]) -> Block:
        header: list[Line] = []
        align: list[Align] = []
        rows: list[list[Sentence]] = []
        for at, token in enumerate(tokens):
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "th_open":
                header.append(line_of(self._line(tokens[at + 1 : at + 2])[0]))
                align.append(_align(str(token.attrGet("style") or "")))
            elif token.type == "td_open":
                rows[-1].append(self._cell(tokens[at + 1 : at + 2]))
        return _table(header, align, rows[1:])

    # ---- raw HTML

    def _html(self, content: str, depth: int) -> Iterator[Block]:
        """Read the words of raw HTML: tables, lists and headings as such, all else as text."""
        names = {found[2].lower() for found in _TAG.finditer(content)}
        if depth >= MAX_DEPTH or not names & (PARTING_TAGS - {"p", "div"}):
            yield from self._prose(content)
            return
        from lxml import html as lxml_html

        yield from self._within(lxml_html.fragment_fromstring(content, create_parent="div"), depth)

    def _element(self, element: "HtmlElement", depth: int) -> Iterator[Block]:
        tag = element.tag if isinstance(element.tag, str) else ""
        if tag == "table":
            yield self._html_table(element)
        elif tag in {"ul", "ol"}:
            items = (_settled(self._within(item, depth)) for item in element.iterchildren("li"))
            yield Listing(items=tuple(item for item in items if item), ordered=tag == "ol")
        elif re.fullmatch("h[1-6]", tag):
            if line := line_of(self._line(_inline(_inner(element)))[0]):
                yield Heading(level=int(tag[1]), inline=line)
        elif tag == "blockquote":
            yield Quotation(blocks=tuple(map(_whole, _settled(self._within(element, depth)))))
        elif tag == "pre":
            yield Code(text=str(element.text_content()).strip("\n"))
        elif tag in PARTING_TAGS and depth < MAX_DEPTH:
            yield from self._within(element, depth)
        elif tag:
            yield from self._prose(_source(element))

    def _within(self, element: "HtmlElement", depth: int) -> Iterator[Block]:
        """Read the inside of an element: blocks as blocks, the words between them as paragraphs."""
        words = [element.text or ""]
        for child in element:
            if child.tag in PARTING_TAGS and depth < MAX_DEPTH:
                yield from self._prose("".join(words))
                words = [child.tail or ""]
                yield from self._element(child, depth + 1)
            else:
                words.append(_source(child, tail=True))
        yield from self._prose("".join(words))

    def _html_table(self, element: "HtmlElement") -> Block:
        rows = [[_inline(_inner(cell)) for cell in row.iterchildren("td", "th")] for row in element.iter("tr")]
        rows = [row for row in rows if row] or [[]]
        header = [line_of(self._line(cell)[0]) for cell in rows[0]]
        return _table(header, [], [[self._cell(cell) for cell in row] for row in rows[1:]])

    def _prose(self, content: str) -> Iterator[Block]:
        if content.strip():
            yield Paragraph(sentences=self._sentences(_inline(content)))

    # ---- inside a block

    def _sentences(self, tokens: Sequence[Token]) -> tuple[Sentence, ...]:
        glyphs, marks = self._line(tokens)
        return sentences(glyphs, marks) or sentences(glyphs, marks, whole=True)

    def _cell(self, tokens: Sequence[Token]) -> Sentence:
        glyphs, marks = self._line(tokens)
        return next(iter(sentences(glyphs, marks, whole=True)), Sentence(inline=()))

    def _line(self, tokens: Sequence[Token]) -> tuple[list[Glyph], list[tuple[int, str]]]:
        """Read one line: its characters, and the facts it cites with their places."""
        glyphs = [glyph for token in tokens for glyph in glyphs_of(token.children or (), self._may_link)]
        if task := _TASK.match(text_of(glyphs, masked=True)):
            glyphs = glyphs[task.end() :]
        glyphs = self._without_bare_addresses(glyphs)
        glyphs, marks = cut_out(glyphs, self._cuts(glyphs))
        while glyphs and glyphs[-1].char in " \n":
            glyphs.pop()
        return glyphs, [(min(place, len(glyphs)), fact) for place, fact in marks]

    def _may_link(self, address: str) -> bool:
        return is_safe(address) and (self.addresses is None or canonical(address) in self.addresses)

    def _without_bare_addresses(self, glyphs: list[Glyph]) -> list[Glyph]:
        """Link the bare addresses that are known; of others only the site stays, or nothing between brackets."""
        out: list[Glyph] = []
        last = 0
        text = text_of(glyphs, masked=True)
        for found in URL.finditer(text):
            url = trimmed_url(found[0])
            start, end = found.start(), found.start() + len(url)
            if not url or any(glyph.address for glyph in glyphs[start:end]):
                continue
            address = url if "://" in url else f"https://{url}"
            out += glyphs[last:start]
            if self._may_link(address):
                out += [replace(glyph, address=address) for glyph in glyphs[start:end]]
            elif text[:start].rstrip().endswith("(") and text[end:].lstrip().startswith(")"):
                while out and out[-1].char in " (":
                    out.pop()
                end += text[end:].index(")") + 1
            else:
                out += [replace(glyphs[start], char=char) for char in host(url)]
            last = end
        return out + glyphs[last:]

    def _cuts(self, glyphs: Sequence[Glyph]) -> list[Cut]:
        """Find what is taken out of a line: marks, with what they cite, and placeholders."""
        text = text_of(glyphs, masked=True)
        found = [
            Cut(mark.start, mark.end, tuple(self.labels[one] for one in mark.labels if one in self.labels))
            for mark in find_marks(text)
        ]
        found += [Cut(match.start(), match.end()) for match in PLACEHOLDER.finditer(text)]
        cuts: list[Cut] = []
        for cut in sorted(found, key=lambda one: one.start):
            if cuts and _BETWEEN_MARKS.fullmatch(text, cuts[-1].end, cut.start):
                cut = Cut(cuts[-1].start, cut.end, cuts.pop().facts + cut.facts)
            cuts.append(cut)
        return [_with_brackets(cut, text) for cut in cuts]


def _with_brackets(cut: Cut, text: str) -> Cut:
    """Take the round brackets that hold nothing but a mark, with "see" in them, out as well."""
    before, after = _LEAD_IN.search(text[: cut.start]), re.match(r"\s*[)）]", text[cut.end :])
    return Cut(before.start(), cut.end + after.end(), cut.facts) if before and after else cut


def _inline(content: str) -> list[Token]:
    return _parser().parseInline(content)


def _source(element: "HtmlElement", *, tail: bool = False) -> str:
    from lxml import html as lxml_html

    return str(lxml_html.tostring(element, encoding="unicode", with_tail=tail))


def _inner(element: "HtmlElement") -> str:
    inside = (_source(child, tail=True) for child in element)
    return " ".join(((element.text or "") + "".join(inside)).split())


def _align(style: str) -> Align:
    sides: tuple[Align, ...] = ("left", "center", "right")
    return next((side for side in sides if style.endswith(side)), "")


def _table(header: Sequence[Line], align: Sequence[Align], rows: Sequence[Sequence[Sentence]]) -> Table:
    """Make every row as long as the longest; rows without a word go."""
    width = max((len(row) for row in (header, *rows)), default=0)
    empty = Sentence(inline=())
    filled = [tuple(_settled_row((*row, *(empty,) * (width - len(row))))) for row in rows]
    return Table(
        header=(*header, *((),) * (width - len(header))),
        align=(*align, *("",) * (width - len(align))),
        rows=tuple(row for row in filled if any(cell.inline for cell in row)),
    )


def _settled_row(row: Sequence[Sentence]) -> list[Sentence]:
    """Have a cell that holds nothing but citations carry the words before it, where other cells cite for themselves."""
    cells = list(row)
    citing = [at for at, cell in enumerate(cells) if cell.facts]
    filled = [at for at, cell in enumerate(cells) if cell.inline]
    if not filled or len(citing) < 2:
        return cells
    for at in citing:
        if not cells[at].inline:
            left = max((one for one in filled if one < at), default=filled[0])
            facts = tuple(dict.fromkeys(cells[left].facts + cells[at].facts))
            cells[left] = cells[left].model_copy(update={"facts": facts})
            cells[at] = Sentence(inline=())
    return cells


def _settled(blocks: Iterator[Block]) -> tuple[Block, ...]:
    """Hand marks that stand alone to the block before them, and drop what holds nothing."""
    out: list[Block] = []
    for block in blocks:
        if isinstance(block, Paragraph) and not any(one.inline for one in block.sentences):
            facts = tuple(fact for one in block.sentences for fact in one.facts)
            if out and facts:
                out[-1] = _with_facts(out[-1], facts)
        elif not (isinstance(block, Listing) and not block.items) and not (
            isinstance(block, Quotation) and not block.blocks
        ):
            out.append(block)
    return tuple(out)


def _with_facts(block: Block, facts: tuple[str, ...]) -> Block:
    match block:
        case Paragraph(sentences=(*before, last)):
            cited = tuple(dict.fromkeys(last.facts + facts))
            return Paragraph(sentences=(*before, last.model_copy(update={"facts": cited})))
        case Quotation(blocks=(*first, end)):
            return Quotation(blocks=(*first, _with_facts(end, facts)))
        case _:
            return block


def _whole(block: Block) -> Block:
    """Read each paragraph of a quotation as one sentence."""
    if not isinstance(block, Paragraph) or len(block.sentences) < 2:
        return block
    line = joined([(one.inline, one.gap) for one in block.sentences])
    facts = tuple(dict.fromkeys(fact for one in block.sentences for fact in one.facts))
    return Paragraph(sentences=(Sentence(inline=line, facts=facts),))
