"""Reports as files, and quotes in their context."""

import asyncio
import re
import unicodedata
from html import escape, unescape
from typing import Any
from urllib.parse import quote as percent_encoded

from fastapi.responses import HTMLResponse, Response

from agents.api.lookup import Quoted
from agents.contracts.body import ReferenceList, Sentence
from agents.contracts.report import Quote, Reference, ReportDocument
from agents.contracts.sources import SourceKind
from agents.report.formats import FORMS
from agents.report.html_export import POLICY, blocks_html, quote_page
from agents.report.references import Citations, Linker, reference_list
from agents.report.view import body_of
from agents.report.wording import wording
from agents.report.write_markdown import UNVERIFIED, document_markdown

SHOWN = ("md", "html", "json")
"""Forms that the route of the chat writes; the others have routes of their own."""
_HEADING = re.compile(r"<h([2-4])([^>]*)>(.*?)</h\1>", re.DOTALL)
_TAG = re.compile(r"<[^>]+>")
_JUDGED = frozenset({"supported", "partly", "unsupported", "contradicted", "uncited"})
"""Verdicts on a sentence that states a fact."""
_MARKER = re.compile(r"[\s>#*+•|-]*(?:\d+[.)]\s*)?")
"""What begins a line of a stored copy and is no word of it."""
NOTES: dict[SourceKind, str] = {"sample": "Invented sample document", "upload": "From your files"}
"""What is said of a source beside the verdict."""
AROUND = 280
"""Characters shown before and after a quote, at most."""


def linker(job_id: str) -> Linker:
    """Give the addresses at which a report's quotes open in the stored copies."""

    def link(reference: Reference, quote: Quote) -> str:
        return f"/research/jobs/{job_id}/quote/{quote.fact_id}#quote"

    return link


def chat_markdown(document: ReportDocument) -> str:
    """Write a report as the chat shows it, every citation a link to its quote."""
    words = wording(document.language)
    return document_markdown(body_of(document), document.references, words, linker(document.job_id))


def fragment(document: ReportDocument) -> dict[str, object]:
    """Write a report as the chat's card takes it: its text as HTML, places to jump to, and what stands around it."""
    headings: list[dict[str, object]] = []

    def placed(match: re.Match[str]) -> str:
        place = f"part-{len(headings) + 1}"
        headings.append({"id": place, "level": int(match[1]), "text": unescape(_TAG.sub("", match[3])).strip()})
        return f'<h{match[1]} id="{place}"{match[2]}>{match[3]}</h{match[1]}>'

    html = _HEADING.sub(placed, _with_verdicts(document))
    actual = document.methodology.actual
    return {
        "html": html,
        "headings": headings,
        "title": document.title,
        "grade": document.grade,
        "grade_reasons": list(document.grade_reasons),
        "language": document.language,
        "seconds": actual.seconds,
        "cost_usd": actual.cost_usd,
        "tokens": actual.tokens_in + actual.tokens_out,
        "counts": {
            "sentences": len(document.sentences),
            "cited": sum(1 for sentence in document.sentences if sentence.citations),
            "sources": len(document.references),
            "judged": sum(1 for sentence in document.sentences if sentence.verdict in _JUDGED),
            "verified": sum(1 for sentence in document.sentences if sentence.verdict == "supported"),
        },
    }


def _with_verdicts(document: ReportDocument) -> str:
    """Render a report, every sentence that was judged in a span that names its verdict."""
    link = linker(document.job_id)
    citations = Citations(document.references)

    def written(sentence: Sentence, html: str) -> str:
        if sentence.verdict is not None and html:
            html = f'<span data-verdict="{sentence.verdict}">{html}</span>'
        for cite in citations.of(sentence):
            number, address = f"[{cite.reference.n}]", link(cite.reference, cite.quotes[0]) if cite.quotes else ""
            html += f'<a href="{escape(address)}">{number}</a>' if address else number
        if sentence.citations and sentence.verdict in {"unsupported", "contradicted"}:
            html += f" <code>{UNVERIFIED.strip(' `')}</code>"
        return html

    listed = reference_list(document.references, wording(document.language), link)
    blocks = [listed if isinstance(block, ReferenceList) else block for block in body_of(document).blocks]
    return blocks_html(blocks, written)


def kinds(*types: str) -> dict[int | str, dict[str, Any]]:
    """Document which kinds of files a route answers with."""
    return {200: {"description": "The file.", "content": {kind: {"schema": {"type": "string"}} for kind in types}}}


async def written(document: ReportDocument, form: str) -> Response:
    """Write a report as a download, beside the event loop.

    Raises:
        NotPrintable: as PDF its letters could not be shown.
    """
    data = await asyncio.to_thread(FORMS[form].write, document)
    mime = FORMS[form].mime
    return Response(
        data,
        media_type=f"{mime}; charset=utf-8" if FORMS[form].charset else mime,
        headers={
            "Content-Disposition": disposition(document.title, form),
            "Content-Security-Policy": POLICY,
            "X-Content-Type-Options": "nosniff",
        },
    )


def disposition(title: str, form: str) -> str:
    """Name a download after its title: readable, no path, no control characters; in ASCII too, for old clients."""
    name = re.sub(r"[^\w\s.-]", " ", unicodedata.normalize("NFKC", title))
    name = re.sub(r"[\s_]+", " ", name).strip(" .-")[:80].strip(" .-") or "report"
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    plain = re.sub(r"\s+", " ", plain).strip(" .-") or "report"
    return f"attachment; filename=\"{plain}.{form}\"; filename*=UTF-8''{percent_encoded(name, safe='')}.{form}"


def quoted_page(quoted: Quoted, reader: str = "en") -> HTMLResponse:
    """Show the stored copy with this quote in view and the source's other quotes marked too."""
    reference = quoted.reference
    page = quote_page(
        reference.title,
        quoted.text,
        [(one.start, one.end) for one in reference.quotes],
        reference.quotes.index(quoted.quote),
        url=reference.url,
        author=reference.author,
        site=reference.site,
        published=reference.published,
        retrieved=reference.accessed,
        sample=reference.kind == "sample",
        page=quoted.quote.page,
        reader=reader,
    )
    return HTMLResponse(page, headers={"Content-Security-Policy": POLICY})


def quoted_data(quoted: Quoted, document: ReportDocument) -> dict[str, object]:
    """Describe a quote for the card that a citation opens: the words, those around them, their source, the verdict."""
    reference, quote = quoted.reference, quoted.quote
    verdicts = [one.verdict for one in document.sentences if quote.fact_id in one.facts and one.verdict is not None]
    return {
        "fact_id": quote.fact_id,
        "n": reference.n,
        "quote": quote.text,
        "page": quote.page,
        "before": _before(quoted.text, quote.start),
        "after": _after(quoted.text, quote.end),
        "title": reference.title,
        "author": reference.author,
        "site": reference.site,
        "published": reference.published,
        "url": reference.url,
        "kind": reference.kind,
        "verdict": verdicts[0] if verdicts else None,
        "note": NOTES.get(reference.kind, ""),
    }


def _before(text: str, start: int) -> str:
    piece = text[max(0, start - AROUND) : start].rsplit("\n", 1)[-1]
    cut = start > AROUND and len(piece) == AROUND
    if not cut and _MARKER.fullmatch(piece):
        return ""
    return ("… " + piece.partition(" ")[2]) if cut else piece


def _after(text: str, end: int) -> str:
    piece = text[end : end + AROUND].split("\n", 1)[0]
    cut = len(piece) == AROUND and end + AROUND < len(text)
    return (piece.rpartition(" ")[0] + " …") if cut else piece
