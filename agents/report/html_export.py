"""The document as one HTML file: no outside request, no script; citations jump to the quoted words in the same file.

A stored source as a page of its own, with the quoted words marked: what a citation of a document opens.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from html import escape
from pathlib import Path

from jinja2 import Environment, StrictUndefined, Template

from agents.contracts import body as b
from agents.contracts.report import Quote, Reference, ReportDocument
from agents.report.escaping import is_route, is_safe
from agents.report.latex import mathml
from agents.report.references import Cite, about, marked
from agents.report.view import View, printable
from agents.report.wording import direction, wording

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
"""What the page may do: show itself."""
STYLE = Path(__file__).with_name("report.css").read_text("utf-8")
"""The look of pages that stand alone: it asks for nothing from outside."""
Written = Callable[[b.Sentence, str], str]
"""Writes a sentence, given its words as HTML: with its citations, and what a check found."""
_TAGS = {"bold": "strong", "italic": "em", "struck": "s", "code": "code", "sup": "sup", "sub": "sub"}


def to_html(document: ReportDocument) -> str:
    """Write a document, of this program or read back from JSON, as one self-contained page.

    Web pages open at the quoted words by a text fragment; the quotes themselves always stand in the page.
    """
    seen = View(document)

    def written(sentence: b.Sentence, html: str) -> str:
        chips = "".join(_chip(cite, seen) for cite in seen.citations.of(sentence))
        mark = marked(sentence, seen.words)
        return html + chips + (f'<span class="mk {sentence.verdict}">{escape(mark)}</span>' if mark else "")

    return _page(seen.title, document.language, seen.way, blocks_html(seen.body.blocks, written), seen=seen)


def _page(title: str, language: str, way: str, text: str, **shown: object) -> str:
    """Put a page around what it shows: no script, and no request to anywhere."""
    given = {"title": title, "language": language, "way": way, "text": text, "policy": POLICY, "style": STYLE}
    return _template().render({"seen": None, **given, **shown}) + "\n"


@cache
def _template() -> Template:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return environment.from_string(Path(__file__).with_name("page.html").read_text("utf-8"))


def blocks_html(blocks: Sequence[b.Block], written: Written = lambda _, html: html) -> str:
    """Write blocks; each finds its own direction, since a report in one script quotes sources in another."""
    return "".join(_block(block, written) for block in blocks)


def _block(block: b.Block, written: Written) -> str:
    match block:
        case b.Heading():
            return heading_html(block)
        case b.Paragraph(sentences=sentences):
            return f'<p dir="auto">{_sentences(sentences, written)}</p>\n'
        case b.Listing(items=items, ordered=ordered, start=start):
            inside = "".join(f'<li dir="auto">{_item(item, written)}</li>\n' for item in items)
            opening = f'<ol start="{start}">' if ordered and start != 1 else "<ol>" if ordered else "<ul>"
            return f"{opening}\n{inside}</{'ol' if ordered else 'ul'}>\n"
        case b.Table(header=header, align=align, rows=rows):
            head = _row("th", align, map(line_html, header))
            lines = "".join(_row("td", align, (_sentences([cell], written) for cell in row)) for row in rows)
            # Only a wide table scrolls, inside its own frame.
            inside = f"<thead>\n{head}</thead>\n<tbody>\n{lines}</tbody>\n"
            return f'<div class="wide"><table>\n{inside}</table></div>\n'
        case b.Quotation(blocks=inside):
            return f'<blockquote dir="auto">\n{blocks_html(inside, written)}</blockquote>\n'
        case b.Code(text=text):
            return f"<pre><code>{escape(text)}\n</code></pre>\n"
        case _:
            return ""


def _row(tag: str, align: Sequence[b.Align], cells: Iterable[str]) -> str:
    sides = (f' style="text-align:{side}"' if side else "" for side in align)
    inside = (f'<{tag}{side} dir="auto">{cell}</{tag}>' for side, cell in zip(sides, cells, strict=True))
    return f"<tr>{''.join(inside)}</tr>\n"


def heading_html(block: b.Heading, place: str = "") -> str:
    """Write a heading; one with a place can be jumped to."""
    opening = f'h{block.level} id="{place}"' if place else f"h{block.level}"
    return f'<{opening} dir="auto">{line_html(block.inline)}</h{block.level}>\n'


def _item(item: Sequence[b.Block], written: Written) -> str:
    """Write a list item; one that is a single paragraph needs no paragraph of its own."""
    first, rest = item[0], item[1:]
    if isinstance(first, b.Paragraph) and all(isinstance(block, b.Listing) for block in rest):
        return _sentences(first.sentences, written) + ("\n" if rest else "") + blocks_html(rest, written)
    return blocks_html(item, written)


def _sentences(sentences: Sequence[b.Sentence], written: Written) -> str:
    out = ""
    for number, one in enumerate(sentences):
        out += written(one, line_html(one.inline))
        if number + 1 < len(sentences):
            out += "<br>\n" if one.gap == "\n" else one.gap
    return out


def line_html(line: b.Line) -> str:
    """Write runs of text."""
    out = ""
    for part in line:
        if isinstance(part, b.Words):
            text = escape(printable(part.text), quote=False)
            for style in reversed(part.style):
                text = f"<{_TAGS[style]}>{text}</{_TAGS[style]}>"
            out += _anchor(part.address, text) if part.address else text
        elif isinstance(part, b.Formula):
            out += mathml(part.tex, display=part.display)
        else:
            out += f'<span id="{part.name}"></span>' if isinstance(part, b.Place) else "<br>\n"
    return out


def _anchor(address: str, html: str) -> str:
    if is_safe(address):
        return f'<a href="{escape(address)}" rel="noopener noreferrer" target="_blank">{html}</a>'
    return f'<a href="{escape(address)}">{html}</a>' if is_route(address) else html


# ---- around the text


def _chip(cite: Cite, seen: View) -> str:
    title = " … ".join(" ".join(quote.text.split()) for quote in cite.quotes)
    label = f"{seen.words.source} {cite.reference.n}: {cite.reference.title}"
    return (
        f'<a class="cit" id="{cite.own}" href="#{cite.place}" title="{escape(printable(title))}"'
        f' aria-label="{escape(printable(label))}">{cite.reference.n}</a>'
    )


_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def quote_page(reference: Reference, quote: Quote, text: str, reader: str = "en") -> str:
    """Show a source's stored text with a quote marked, as one page: it is `#quote`, and in view at once.

    Nothing of the text is taken as HTML; its lines become paragraphs. Labels are in the language of the reader.
    """
    words = wording(reader)
    told = about(reference, words) + (() if quote.page is None else (words.page.format(page=quote.page),))
    pieces = (text[: quote.start], text[quote.start : quote.end], text[quote.end :])
    before, marked, after = (escape(_CONTROL.sub(" ", piece)) for piece in pieces)
    marked = re.sub(r"[^\n]*\S[^\n]*", r"<mark>\g<0></mark>", marked)
    # The first line takes the focus, so that the page opens at the quote even without an anchor.
    marked = marked.replace("<mark>", '<mark id="quote" tabindex="-1" autofocus>', 1)
    lines = (line for line in f"{before}{marked}{after}".split("\n") if line.strip())
    return _page(
        reference.title, words.language, direction(words.language),
        "\n".join(f'<p dir="auto">{line}</p>' for line in lines),
        words=words, told=tuple(dict.fromkeys(told)), sample=reference.kind == "sample",
        address=reference.url if is_safe(reference.url) else "",
    )  # fmt: skip
