"""The document as one HTML file: no outside request, no script; citations jump to the quoted words in the same file."""

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

from agents.contracts.report import Quote, Reference, ReportDocument
from agents.report import maths
from agents.report.escaping import cleaned, is_route, is_safe
from agents.report.markdown_render import Linker, carrying, locate, quote_address, references_markdown
from agents.report.methodology import duration, money
from agents.report.style import STYLE
from agents.report.texts import Wording, direction, wording

MAX_CHARACTERS = 2_000_000
"""A longer document is cut before it is rendered: the renderer is slow on hostile input, and no report is that long."""

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
"""What the page may do: show itself."""

_CHIP = re.compile("\ue010(\\d+)\ue011")
_BLOCKS = frozenset({"paragraph_open", "heading_open", "list_item_open", "blockquote_open", "td_open", "th_open"})


def to_html(document: ReportDocument, link: Linker | None = None) -> str:
    """Write the document as one self-contained page.

    Args:
        document: a valid report document, of this program or read back from JSON.
        link: gives the address at which a quote opens in its source; by default web pages open by a text fragment, and
            documents that are not on the web have no link. The quotes themselves always stand in the page.
    """
    words = wording(document.language)
    chips: list[str] = []
    back: dict[str, str] = {}
    body = render_markdown(_with_chips(document, words, link or quote_address, chips, back))
    body = _CHIP.sub(lambda match: chips[int(match[1])], body)
    way = direction(document.language)
    return (
        f'<!doctype html>\n<html lang="{escape(document.language)}" dir="{way}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(cleaned(document.title))}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f'<article lang="{escape(document.language)}" dir="{way}">\n{_header(document, words)}\n{body}'
        f"{_quotes(document, words, link or quote_address, back)}\n</article>\n</body>\n</html>\n"
    )


def render_markdown(markdown: str) -> str:
    """Render Markdown to HTML: tables, formulas as MathML; no raw HTML, no pictures, safe links only."""
    return str(parser().render(markdown[:MAX_CHARACTERS]))


# ---- around the text


def _header(document: ReportDocument, words: Wording) -> str:
    actual = document.methodology.actual
    shown = [f"{words.figures['sources']}: {document.methodology.sources_read}"]
    if actual.seconds is not None:
        shown.append(f"{words.figures['time']}: {duration(actual.seconds)}")
    cost = words.unknown if actual.cost_usd is None else money(actual.cost_usd)
    shown.append(f"{words.figures['cost']}: {cost}")
    reasons = "".join(f'<li dir="auto">{escape(reason)}</li>' for reason in document.grade_reasons)
    return (
        f'<header>\n<h1 dir="auto">{escape(cleaned(document.title))}</h1>\n'
        f'<p class="question" dir="auto"><b>{escape(words.question)}:</b> {escape(cleaned(document.question))}</p>\n'
        f'<p class="meta"><span class="grade {document.grade}">{escape(words.grades[document.grade])}</span> '
        f"{escape(' · '.join(shown))}</p>\n"
        + (f'<ul class="reasons">{reasons}</ul>\n' if reasons else "")
        + "</header>"
    )


def _with_chips(document: ReportDocument, words: Wording, link: Linker, chips: list[str], back: dict[str, str]) -> str:
    """Put a private character pair where each citation stood.

    `chips` gets the HTML that takes its place, `back` the first chip of each quote.
    """
    out: list[str] = []
    last = 0
    for found in locate(document):
        out.append(document.markdown[last : found.end])
        for number in found.sentence.citations:
            reference, quotes = carrying(document, found.sentence, number)
            out.append(f"\ue010{len(chips)}\ue011")
            own = f"c{len(chips)}"
            for quote in quotes:
                back.setdefault(_place(reference, quote), own)
            chips.append(_chip(reference, quotes, words, own))
        verdict = found.sentence.verdict
        if verdict is not None and verdict in words.verdicts:
            out.append(f"\ue010{len(chips)}\ue011")
            chips.append(f'<span class="mk {verdict}">{escape(words.verdicts[verdict])}</span>')
        last = found.marks_end
    rest = document.markdown[last:]
    own = references_markdown(document.references, words)
    return "".join(out) + rest.replace(own, references_markdown(document.references, words, link), 1)


def _chip(reference: Reference, quotes: Sequence[Quote], words: Wording, own: str) -> str:
    place = _place(reference, quotes[0]) if quotes else f"r{reference.n}"
    title = " … ".join(" ".join(quote.text.split()) for quote in quotes)
    label = f"{words.source} {reference.n}: {reference.title}"
    return (
        f'<a class="cit" id="{own}" href="#{place}" title="{escape(cleaned(title))}"'
        f' aria-label="{escape(cleaned(label))}">{reference.n}</a>'
    )


def _place(reference: Reference, quote: Quote) -> str:
    return f"q{reference.n}-{reference.quotes.index(quote) + 1}"


def _quotes(document: ReportDocument, words: Wording, link: Linker, back: dict[str, str]) -> str:
    """Write every quoted passage, by reference, so that a citation opens its words without a network."""
    if not document.references:
        return ""
    out = [f'<section class="quotes">\n<h2>{escape(words.quoted_words)}</h2>']
    for reference in document.references:
        sample = f" {words.sample}" if reference.kind == "sample" else ""
        out.append(
            f'<h3 id="r{reference.n}" dir="auto"><span class="n">{reference.n}</span> '
            f"{escape(cleaned(reference.title))}{escape(sample)}</h3>"
        )
        for quote in reference.quotes:
            place = _place(reference, quote)
            address = link(reference, quote)
            source = _anchor(address, words.open_source) if address else ""
            text = f'<a href="#{back[place]}">{escape(words.back)}</a>' if place in back else ""
            page = "" if quote.page is None else f" {escape(words.page.format(page=quote.page))}"
            out.append(
                f'<blockquote id="{place}" dir="auto"><p>{escape(cleaned(quote.text))}</p>'
                f"<footer>{text}{source}{page}</footer></blockquote>"
            )
    return "\n".join([*out, "</section>"])


def _anchor(address: str, text: str) -> str:
    if not (is_safe(address) or is_route(address)):
        return ""
    return f' <a href="{escape(address)}" rel="noopener noreferrer" target="_blank">{escape(text)}</a>'


# ---- the Markdown renderer


def parser() -> MarkdownIt:
    """Set up the reader of a report's Markdown: tables and formulas; no raw HTML, no pictures, safe links only."""
    markdown = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])
    markdown.disable(["image", "html_block", "html_inline"])
    markdown.validateLink = lambda url: is_safe(url) or is_route(url)  # type: ignore[method-assign]
    markdown.inline.ruler.before("escape", "formula", _formula)
    markdown.core.ruler.push("directions", lambda state: _directed(state.tokens))
    markdown.add_render_rule("formula", _formula_html)
    markdown.add_render_rule("table_open", _framed)
    markdown.add_render_rule("table_close", _frame_closed)
    markdown.add_render_rule("link_open", _link_open)
    return markdown


def _formula(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] != "$":
        return False
    found = next((piece for piece in maths.pieces(state.src) if piece.start == state.pos), None)
    if not isinstance(found, maths.Formula) or found.end > state.posMax:
        return False
    if not silent:
        token = state.push("formula", "math", 0)
        token.content, token.meta = found.tex, {"display": found.display}
    state.pos = found.end
    return True


def _formula_html(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: dict[str, Any]
) -> str:
    return maths.mathml(tokens[index].content, display=bool(tokens[index].meta["display"]))


def _framed(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: dict[str, Any]
) -> str:
    return '<div class="wide"><table>\n'  # only a wide table scrolls, inside its own frame


def _frame_closed(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: dict[str, Any]
) -> str:
    return "</table></div>\n"


def _link_open(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: dict[str, Any]
) -> str:
    token = tokens[index]
    if is_safe(str(token.attrGet("href") or "")):
        token.attrSet("rel", "noopener noreferrer")
        token.attrSet("target", "_blank")
    return str(renderer.renderToken(tokens, index, options, env))


def _directed(tokens: Sequence[Token]) -> None:
    """Let each block find its own direction: a report in one script quotes sources in another."""
    for token in _walk(tokens):
        if token.type in _BLOCKS:
            token.attrSet("dir", "auto")


def _walk(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _walk(token.children or ())
