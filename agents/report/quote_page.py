"""A stored source as a page of its own, with the quoted words marked: what a citation of a document opens."""

import itertools
import re
from collections.abc import Iterator, Sequence
from html import escape

from agents.report.escaping import is_safe
from agents.report.html_export import POLICY, STYLE
from agents.report.wording import direction, wording

Span = tuple[int, int]
"""First character of a quote in the text, and one past its last."""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def quote_page(
    source_title: str,
    text: str,
    quotes: Sequence[Span],
    focus: int = 0,
    *,
    url: str = "",
    author: str | None = None,
    site: str | None = None,
    published: str | None = None,
    retrieved: str | None = None,
    sample: bool = False,
    page: int | None = None,
    language: str | None = None,
    reader: str = "en",
) -> str:
    """Show a source's stored text with quotes marked; the one in focus is `#quote` and in view when the page opens.

    Args:
        source_title: shown as text, whatever it holds.
        text: as it was stored; nothing of it is taken as HTML. Its lines become paragraphs.
        quotes: spans in `text`, in any order; they may overlap, and what lies outside the text is left out.
        focus: place in `quotes` of the one to show, counted from 0; others are marked too.
        url: where the source was read; a link only if it is on the web.
        author: shown with `site` and `published` where known.
        site: publisher or host.
        published: ISO date.
        retrieved: ISO date and time of reading.
        sample: the document is invented and ships with the program.
        page: of the source, where the quote in focus begins; None where it has no pages.
        language: of the source, as a BCP 47 tag.
        reader: language of the labels.

    Returns:
        One self-contained HTML page without any script.
    """
    words = wording(reader)
    spans = [(max(0, start), min(end, len(text))) for start, end in quotes]
    shown = spans[focus] if 0 <= focus < len(spans) and spans[focus][0] < spans[focus][1] else None
    about = [author, site, published, words.read.format(date=retrieved[:10]) if retrieved else None]
    about.append(words.page.format(page=page) if page is not None else None)
    meta = " · ".join(escape(part) for part in dict.fromkeys(about) if part)
    opened = (
        f' · <a href="{escape(url)}" rel="noopener noreferrer" target="_blank">{escape(words.open_source)}</a>'
        if is_safe(url)
        else ""
    )
    note = f' <span class="grade partial">{escape(words.sample)}</span>' if sample else ""
    lang = f' lang="{escape(language)}" dir="{direction(language)}"' if language else ""
    body = "\n".join(_paragraphs(text, _merged(spans), shown))
    return (
        f'<!doctype html>\n<html lang="{words.language}" dir="{words.direction}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(source_title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<article>\n<header>\n"
        f'<h1 dir="auto">{escape(source_title)}{note}</h1>\n<p class="meta" dir="auto">{meta}{opened}</p>\n'
        f'<p class="meta">{escape(words.stored_copy)}</p>\n</header>\n<section{lang}>\n{body}\n</section>\n'
        "</article>\n</body>\n</html>\n"
    )


def _merged(spans: Sequence[Span]) -> list[Span]:
    found: list[Span] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def _paragraphs(text: str, marked: list[Span], focus: Span | None) -> Iterator[str]:
    """Write one paragraph a line; a quote that runs over several lines is marked in each."""
    begun = False
    for line in re.finditer(r"[^\n]+", text):
        start, end = line.span()
        if not line[0].strip():
            continue
        cuts = {start, end}
        for span in (*marked, *((focus,) if focus else ())):
            cuts.update(cut for cut in span if start < cut < end)
        places = sorted(cuts)
        out = ""
        for left, right in itertools.pairwise(places):
            piece = escape(_CONTROL.sub(" ", text[left:right]))
            if focus and focus[0] <= left and right <= focus[1]:
                # The first piece takes the focus, so that the page opens at the quote even without an anchor.
                first = "" if begun else ' id="quote" tabindex="-1" autofocus'
                out += f'<mark class="focus"{first}>{piece}</mark>'
                begun = True
            elif any(a <= left and right <= b for a, b in marked):
                out += f"<mark>{piece}</mark>"
            else:
                out += piece
        yield f'<p dir="auto">{out}</p>'
