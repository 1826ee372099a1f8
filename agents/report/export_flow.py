"""A report as blocks of styled words, from which the files for paper and word processors are written.

Citations know which quote they open, marks which verdict they show; every word of strangers is plain text in here.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from markdown_it.token import Token

from agents.contracts.report import Grade, Quote, Reference, ReportDocument
from agents.report.escaping import cleaned, is_safe
from agents.report.export_blocks import (
    Align,
    Block,
    Break,
    Cite,
    Code,
    Formula,
    Heading,
    Inline,
    Line,
    Listing,
    Mark,
    Paragraph,
    Quotation,
    References,
    Table,
    Way,
    Words,
)
from agents.report.html_export import MAX_CHARACTERS, parser
from agents.report.markdown_render import carrying, locate, quote_address, references_markdown
from agents.report.methodology import duration, money
from agents.report.texts import Wording, wording

_CHIP = re.compile("\ue010(\\d+)\ue011")
_LIST = "\ue012"
"""Stands for the reference list while the Markdown is read."""
_UNPRINTABLE = re.compile("[\\ud800-\\udfff\\ufffe\\uffff\\ufdd0-\\ufdef]")


@dataclass(frozen=True)
class QuoteEntry:
    """Quoted words with the place where they stand."""

    name: str
    text: str
    address: str
    page: str
    back: str
    """Name of the first citation that opens it; empty where none does."""
    way: Way


@dataclass(frozen=True)
class Entry:
    """One reference."""

    number: int
    name: str
    title: str
    address: str
    """A link, empty for what is not on the web."""
    about: str
    """Author, site, dates, in one line."""
    quotes: tuple[QuoteEntry, ...]
    way: Way


@dataclass(frozen=True)
class Flow:
    """A whole report, ready to be set."""

    title: str
    question: str
    grade: Grade
    grade_label: str
    reasons: tuple[str, ...]
    figures: str
    language: str
    way: Way
    date: str
    """Day on which it was written, as far as the document tells: the latest on which a source was read; may be empty."""
    job_id: str
    blocks: tuple[Block, ...]
    references: tuple[Entry, ...]
    words: Wording


def printable(text: str) -> str:
    """Drop what no file format of ours can hold: control characters, lone surrogates, non-characters."""
    return _UNPRINTABLE.sub("", cleaned(text))


def way_of(text: str, otherwise: Way = "ltr") -> Way:
    """Give the direction of the first letter that has one."""
    for char in text:
        kind = unicodedata.bidirectional(char)
        if kind in {"R", "AL"}:
            return "rtl"
        if kind == "L":
            return "ltr"
    return otherwise


def flow(document: ReportDocument) -> Flow:
    """Read a report document into blocks.

    Args:
        document: a valid report document, of this program or read back from JSON.
    """
    words = wording(document.language)
    way: Way = "rtl" if words.direction == "rtl" or _is_rtl(document.language) else "ltr"
    chips: list[Cite | Mark] = []
    markdown = _with_chips(document, words, chips)
    blocks = _levelled(tuple(_Reader(parser().parse(markdown[:MAX_CHARACTERS]), chips, way).blocks()))
    if document.references and not any(isinstance(block, References) for block in blocks):
        heading = Heading(1, (Words(words.references),), way)
        blocks = (*blocks, heading, References())
    back: dict[str, str] = {}
    for chip in chips:
        if isinstance(chip, Cite):
            back.setdefault(chip.place, chip.own)
    dates = [reference.accessed[:10] for reference in document.references if reference.accessed]
    return Flow(
        title=_line(document.title),
        question=_line(document.question),
        grade=document.grade,
        grade_label=words.grades[document.grade],
        reasons=tuple(_line(reason) for reason in document.grade_reasons),
        figures=_figures(document, words),
        language=document.language,
        way=way,
        date=max(dates, default=""),
        job_id=document.job_id,
        blocks=blocks,
        references=tuple(_entry(reference, words, back, way) for reference in document.references),
        words=words,
    )


def _is_rtl(language: str) -> bool:
    from agents.report.texts import direction

    return direction(language) == "rtl"


def _line(text: str) -> str:
    return " ".join(printable(text).split())


def _figures(document: ReportDocument, words: Wording) -> str:
    actual = document.methodology.actual
    shown = [f"{words.figures['sources']}: {document.methodology.sources_read}"]
    if actual.seconds is not None:
        shown.append(f"{words.figures['time']}: {duration(actual.seconds)}")
    cost = words.unknown if actual.cost_usd is None else money(actual.cost_usd)
    return " · ".join([*shown, f"{words.figures['cost']}: {cost}"])


def _with_chips(document: ReportDocument, words: Wording, chips: list[Cite | Mark]) -> str:
    """Put a private character pair where each citation and mark stands, and one character for the reference list."""
    out: list[str] = []
    last = 0
    for found in locate(document):
        out.append(printable(document.markdown[last : found.end]))
        for number in found.sentence.citations:
            reference, quotes = carrying(document, found.sentence, number)
            place = _place(reference, quotes[0]) if quotes else f"r{reference.n}"
            out.append(f"\ue010{len(chips)}\ue011")
            chips.append(Cite(number, place, f"c{len(chips)}", _line(reference.title)))
        verdict = found.sentence.verdict
        if verdict is not None and verdict in words.verdicts:
            out.append(f"\ue010{len(chips)}\ue011")
            chips.append(Mark(verdict, words.verdicts[verdict]))
        last = found.marks_end
    rest = document.markdown[last:]
    own = references_markdown(document.references, words)
    before, found_it, after = rest.partition(own) if own else (rest, "", "")
    return "".join(out) + printable(before) + (_LIST if found_it else "") + printable(after)


def _place(reference: Reference, quote: Quote) -> str:
    return f"q{reference.n}-{reference.quotes.index(quote) + 1}"


def _entry(reference: Reference, words: Wording, back: dict[str, str], way: Way) -> Entry:
    author, site = reference.author or "", reference.site or ""
    about = [_line(part) for part in (author, site if site not in author else "", reference.published) if part]
    if reference.accessed:
        about.append(words.read.format(date=reference.accessed[:10]))
    sample = f" {words.sample}" if reference.kind == "sample" else ""
    return Entry(
        number=reference.n,
        name=f"r{reference.n}",
        title=_line(reference.title) + sample,
        address=reference.url.strip() if is_safe(reference.url) else "",
        about=", ".join(about),
        quotes=tuple(
            QuoteEntry(
                name=_place(reference, quote),
                text=_line(quote.text),
                address=quote_address(reference, quote),
                page="" if quote.page is None else words.page.format(page=quote.page),
                back=back.get(_place(reference, quote), ""),
                way=way_of(quote.text, way),
            )
            for quote in reference.quotes
        ),
        way=way_of(reference.title, way),
    )


def _levelled(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """Have headings begin with level 1 and skip none: a reader's outline, and the rules of accessible files."""
    found: list[Block] = []
    last = 0
    for block in blocks:
        if isinstance(block, Heading):
            # `##` is a section of the report, whose own heading is its title.
            last = max(1, min(block.level - 1, last + 1))
            block = replace(block, level=last)
        found.append(block)
    return tuple(found)


class _Reader:
    """Turns the parser's tokens into blocks."""

    def __init__(self, tokens: Sequence[Token], chips: Sequence[Cite | Mark], way: Way) -> None:
        self.tokens, self.chips, self.way = tokens, chips, way
        self.at = 0

    def blocks(self, closing: str = "") -> Iterator[Block]:
        """Read up to the token `closing`, or to the end."""
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            if token.type == closing:
                return
            match token.type:
                case "heading_open":
                    line = self._inline("heading_close")
                    yield Heading(int(token.tag[1]), line, self._way(line))
                case "paragraph_open":
                    line = self._inline("paragraph_close")
                    listed = len(line) == 1 and isinstance(line[0], Words) and line[0].text.strip() == _LIST
                    yield References() if listed else Paragraph(line, self._way(line))
                case "bullet_list_open" | "ordered_list_open":
                    yield self._listing(token)
                case "blockquote_open":
                    yield Quotation(tuple(self.blocks("blockquote_close")))
                case "table_open":
                    yield self._table()
                case "fence" | "code_block":
                    yield Code(token.content.rstrip("\n"))

    def _listing(self, opening: Token) -> Listing:
        items: list[tuple[Block, ...]] = []
        closing = opening.type.replace("_open", "_close")
        while self.tokens[self.at].type != closing:
            self.at += 1  # list_item_open
            items.append(tuple(self.blocks("list_item_close")))
        self.at += 1
        ordered = opening.type == "ordered_list_open"
        return Listing(tuple(items), ordered, int(opening.attrGet("start") or 1) if ordered else 1)

    def _table(self) -> Table:
        rows: list[list[Line]] = []
        align: list[Align] = []
        while (token := self.tokens[self.at]).type != "table_close":
            self.at += 1
            if token.type == "tr_open":
                rows.append([])
            elif token.type in {"th_open", "td_open"}:
                if token.type == "th_open":
                    align.append(_align(str(token.attrGet("style") or "")))
                rows[-1].append(self._inline(token.type.replace("_open", "_close")))
        self.at += 1
        return Table(tuple(rows[0]), tuple(align), tuple(tuple(row) for row in rows[1:]))

    def _inline(self, closing: str) -> Line:
        found: list[Inline] = []
        while (token := self.tokens[self.at]).type != closing:
            self.at += 1
            if token.type == "inline":
                found += self._line(token.children or [])
        self.at += 1
        return tuple(found)

    def _line(self, children: Sequence[Token]) -> Iterator[Inline]:
        style = Words("")
        for token in children:
            match token.type:
                case "text":
                    yield from self._text(token.content, style)
                case "softbreak":
                    yield replace(style, text=" ")
                case "hardbreak":
                    yield Break()
                case "code_inline":
                    yield replace(style, text=token.content, code=True)
                case "formula":
                    yield Formula(token.content, bool(token.meta["display"]))
                case "strong_open" | "strong_close":
                    style = replace(style, bold=token.nesting > 0)
                case "em_open" | "em_close":
                    style = replace(style, italic=token.nesting > 0)
                case "s_open" | "s_close":
                    style = replace(style, struck=token.nesting > 0)
                case "link_open":
                    address = str(token.attrGet("href") or "")
                    style = replace(style, address=address if is_safe(address) else "")
                case "link_close":
                    style = replace(style, address="")

    def _text(self, text: str, style: Words) -> Iterator[Inline]:
        last = 0
        for match in _CHIP.finditer(text):
            if text[last : match.start()]:
                yield replace(style, text=text[last : match.start()])
            yield self.chips[int(match[1])]
            last = match.end()
        if text[last:]:
            yield replace(style, text=text[last:])

    def _way(self, line: Line) -> Way:
        return way_of("".join(part.text for part in line if isinstance(part, Words)), self.way)


def _align(style: str) -> Align:
    sides: tuple[Align, ...] = ("left", "center", "right")
    return next((side for side in sides if style.endswith(side)), "")
