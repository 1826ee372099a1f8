"""What a writer wrote, read once: Markdown with the numbers of facts becomes a tree of blocks and cited sentences.

Everything after this works on the tree. Raw HTML is read where it carries words (tables, lists, indices, line breaks),
and shown as text where it would do something.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from agents.contracts import body as b
from agents.report import cut_sentences as cs
from agents.report.escaping import cleaned, is_safe
from agents.report.latex import read_formulas
from agents.report.prepare_markdown import is_closed, prepared, without_notes
from agents.web.url_key import canonical

if TYPE_CHECKING:
    from lxml.html import HtmlElement

MAX_CHARACTERS = 2_000_000
"""A longer text is cut before it is read: no report is that long, and the reader is slow on hostile input."""
MAX_DEPTH = 6
"""Fences of Markdown and HTML inside one another, at most."""

_ALIGN: dict[str, b.Align] = {"left": "left", "center": "center", "right": "right"}
_BETWEEN_MARKS = re.compile(r"[\s,;]*(?:(?:and|und|et|y|see|siehe|vgl\.?|cf\.?)\s)?[\s,;]*", re.IGNORECASE)
_LEAD_IN = re.compile(r"[(（]\s*(?:see|siehe|vgl\.?|cf\.?|voir|véase)?\s*$", re.IGNORECASE)


def parse(
    markdown: str, known: Mapping[str, str] | Collection[str], *, addresses: Collection[str] | None = None
) -> b.Body:
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
    return _read(markdown[:MAX_CHARACTERS], labels, keys)


@lru_cache(maxsize=512)  # a section is read again at each step from its draft to the report
def _read(markdown: str, labels: tuple[tuple[str, str], ...], keys: frozenset[str] | None) -> b.Body:
    text = without_notes(cleaned(markdown.replace("\r\n", "\n").replace("\r", "\n")))
    return b.Body(blocks=_BlockReader(dict(labels), keys).blocks(text))


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
    """Turns the parser's nodes into blocks."""

    def __init__(self, labels: Mapping[str, str], addresses: Collection[str] | None) -> None:
        self.labels, self.addresses = labels, addresses

    def blocks(self, text: str, depth: int = 0) -> tuple[b.Block, ...]:
        text = prepared(text)
        root, lines = SyntaxTreeNode(_parser().parse(text)), text.split("\n")
        for node in root.walk():
            if node.type == "fence" and node.map and not is_closed(node, lines):
                lines[node.map[0]] = ""  # a fence that nothing closes would swallow the rest
                return self.blocks("\n".join(lines), depth)
        return self._settled(root.children, depth)

    def _settled(self, nodes: Iterable[SyntaxTreeNode], depth: int) -> tuple[b.Block, ...]:
        """Read blocks; hand marks that stand alone to the one before them, and drop what holds nothing."""
        out: list[b.Block] = []
        for block in chain.from_iterable(self._blocks(node, depth) for node in nodes):
            if isinstance(block, b.Paragraph) and not any(one.inline for one in block.sentences):
                facts = tuple(fact for one in block.sentences for fact in one.facts)
                if out and facts:
                    out[-1] = _with_facts(out[-1], facts)
            elif not (isinstance(block, b.Listing) and not block.items) and not (
                isinstance(block, b.Quotation) and not block.blocks
            ):
                out.append(block)
        return tuple(out)

    def _blocks(self, node: SyntaxTreeNode, depth: int) -> Iterator[b.Block]:
        match node.type:
            case "heading":
                if line := cs.line_of(self._line(_tokens(node))):
                    yield b.Heading(level=int(node.tag[1]), inline=line)
            case "paragraph":
                quoted = node.parent is not None and node.parent.type == "blockquote"
                yield b.Paragraph(sentences=cs.sentences(self._line(_tokens(node)), whole=quoted))
            case "bullet_list" | "ordered_list":
                items = tuple(filter(None, (self._settled(item.children, depth) for item in node.children)))
                start = node.attrGet("start")
                ordered = node.type == "ordered_list"
                yield b.Listing(items=items, ordered=ordered, start=1 if start is None else int(start))
            case "blockquote":
                yield b.Quotation(blocks=self._settled(node.children, depth))
            case "table":
                yield self._table(node)
            case "fence":
                yield from self._code(node, depth)
            case "html_block":
                yield from self._html(node.content, depth)
            case _:
                pass

    def _code(self, fence: SyntaxTreeNode, depth: int) -> Iterator[b.Block]:
        """Give a fence; one that holds prose is read, for models wrap whole answers in one, and marks are no code."""
        info, text = fence.info.strip().casefold(), fence.content
        cites = any(label in self.labels for mark in cs.find_marks(text) for label in mark.cited)
        if depth < MAX_DEPTH and (info in {"markdown", "md"} or (cites and not info)):
            yield from self.blocks(text, depth + 1)
        elif text.strip():
            yield b.Code(text=text.rstrip("\n"), language=info.split(" ")[0])

    def _table(self, node: SyntaxTreeNode) -> b.Block:
        """Read a table, whose rows the parser makes as long as its header; rows without a word go."""
        head, *others = (row for part in node.children for row in part.children)
        rows = (_settled_row([self._cell(_tokens(cell)) for cell in row.children]) for row in others)
        return b.Table(
            header=tuple(cs.line_of(self._line(_tokens(cell))) for cell in head.children),
            align=tuple(_ALIGN.get(str(cell.attrGet("style") or "")[11:], "") for cell in head.children),
            rows=tuple(tuple(row) for row in rows if any(cell.inline for cell in row)),
        )

    def _html(self, content: str, depth: int) -> Iterator[b.Block]:
        """Read the words of raw HTML: tables and lists as such, all else as text."""
        names = {found[2].lower() for found in cs.TAG.finditer(content)}
        if depth < MAX_DEPTH and names & (cs.PARTING_TAGS - {"p", "div"}):
            from lxml import html as lxml_html

            yield from self.blocks(_within(lxml_html.fragment_fromstring(content, create_parent="div")), depth + 1)
        elif content.strip():
            yield b.Paragraph(sentences=cs.sentences(self._line(_inline(content))))

    # ---- inside a block

    def _cell(self, tokens: Sequence[Token]) -> b.Sentence:
        return next(iter(cs.sentences(self._line(tokens), whole=True)), b.Sentence(inline=()))

    def _line(self, tokens: Sequence[Token]) -> list[cs.Glyph]:
        """Read one line: its characters, with the facts that are cited behind them."""
        glyphs = [glyph for token in tokens for glyph in cs.glyphs_of(token.children or (), self._may_link)]
        glyphs = self._without_bare_addresses(glyphs)
        glyphs = cs.cut_out(glyphs, self._cuts(glyphs))
        while glyphs and glyphs[-1].char.isspace():
            glyphs.pop()
        return glyphs

    def _may_link(self, address: str) -> bool:
        return is_safe(address) and (self.addresses is None or canonical(address) in self.addresses)

    def _without_bare_addresses(self, glyphs: list[cs.Glyph]) -> list[cs.Glyph]:
        """Link the bare addresses that are known; of others only the site stays."""
        out: list[cs.Glyph] = []
        last = 0
        for found in cs.URL.finditer(cs.text_of(glyphs, masked=True)):
            url = cs.trimmed_url(found[0])
            start, end = found.start(), found.start() + len(url)
            if any(glyph.address for glyph in glyphs[start:end]):
                continue
            address = url if "://" in url else f"https://{url}"
            shown, address = (url, address) if self._may_link(address) else (cs.host(url), "")
            out += glyphs[last:start]
            out += [glyphs[start]._replace(char=char, address=address) for char in shown]
            last = end
        return out + glyphs[last:]

    def _cuts(self, glyphs: Sequence[cs.Glyph]) -> list[cs.Mark]:
        """Find what is taken out of a line: marks, with what they cite, and placeholders."""
        text = cs.text_of(glyphs, masked=True)
        found = [
            replace(mark, cited=tuple(self.labels[one] for one in mark.cited if one in self.labels))
            for mark in cs.find_marks(text)
        ]
        found += [cs.Mark(match.start(), match.end()) for match in cs.PLACEHOLDER.finditer(text)]
        cuts: list[cs.Mark] = []
        for cut in sorted(found, key=lambda one: one.start):
            if cuts and _BETWEEN_MARKS.fullmatch(text, cuts[-1].end, cut.start):
                cut = cs.Mark(cuts[-1].start, cut.end, cuts.pop().cited + cut.cited)
            cuts.append(cut)
        return [_with_brackets(cut, text) for cut in cuts]


def _with_brackets(cut: cs.Mark, text: str) -> cs.Mark:
    """Take the round brackets that hold nothing but a mark, with "see" in them, out as well."""
    before, after = _LEAD_IN.search(text[: cut.start]), re.match(r"\s*[)）]", text[cut.end :])
    return replace(cut, start=before.start(), end=cut.end + after.end()) if before and after else cut


def _inline(content: str) -> list[Token]:
    return _parser().parseInline(content)


def _tokens(node: SyntaxTreeNode) -> list[Token]:
    return [child.token for child in node.children if child.token]


def _within(element: "HtmlElement") -> str:
    """Write the inside of an HTML element as Markdown: blocks as blocks, tags inside a line as they are."""
    from lxml import html as lxml_html

    out = element.text or ""
    for child in element:
        if child.tag in cs.PARTING_TAGS:
            out += f"\n\n{_as_markdown(child)}\n\n{child.tail or ''}"
        else:
            out += str(lxml_html.tostring(child, encoding="unicode"))
    return out


def _as_markdown(element: "HtmlElement") -> str:
    tag, inside = str(element.tag), _within(element).strip()
    match tag:
        case "table":
            rows = [[" ".join(_within(cell).split()).replace("|", "\\|") for cell in row.iterchildren("td", "th")]
                    for row in element.iter("tr")]  # fmt: skip
            width = max(map(len, rows), default=0)
            rows = [[*row, *[""] * (width - len(row))] for row in rows if row]
            lines = [f"| {' | '.join(row)} |" for row in rows]
            return "\n".join([*lines[:1], "|" + "---|" * width, *lines[1:]])
        case "ul" | "ol":
            mark = "- " if tag == "ul" else "1. "
            items = (_within(item).strip() for item in element.iterchildren("li"))
            return "\n".join(mark + item.replace("\n", "\n" + " " * len(mark)) for item in items)
        case _:
            return inside


def _settled_row(row: Sequence[b.Sentence]) -> list[b.Sentence]:
    """Have a cell that holds nothing but citations carry the words before it, where other cells cite for themselves."""
    cells, left = list(row), 0
    for at, cell in enumerate(row if sum(bool(cell.facts) for cell in row) > 1 else ()):
        if cell.inline:
            left = at
        elif cell.facts and at:
            facts = tuple(dict.fromkeys(cells[left].facts + cell.facts))
            cells[left], cells[at] = cells[left].model_copy(update={"facts": facts}), b.Sentence(inline=())
    return cells


def _with_facts(block: b.Block, facts: tuple[str, ...]) -> b.Block:
    match block:
        case b.Paragraph(sentences=(*before, last)):
            cited = tuple(dict.fromkeys(last.facts + facts))
            return b.Paragraph(sentences=(*before, last.model_copy(update={"facts": cited})))
        case b.Quotation(blocks=(*first, end)):
            return b.Quotation(blocks=(*first, _with_facts(end, facts)))
        case _:
            return block
