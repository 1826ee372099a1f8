"""What a job tells of itself: its events as they come, its tree, its report in every form, the quotes behind citations.

Texts of files that users gave: dropped once no report needs them, no run may read them, and no chat names them.
"""

import asyncio
import json
import re
import sqlite3
import unicodedata
from collections.abc import AsyncIterator, Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from html import escape
from pathlib import Path, PureWindowsPath
from typing import Annotated
from urllib.parse import quote as percent_encoded
from weakref import WeakKeyDictionary

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response, StreamingResponse

from agents.api.app_state import Here, Owner, Site
from agents.api.error_responses import ApiError, kinds, not_found
from agents.api.tree import Tree, live_tree
from agents.contracts.body import Heading, ReferenceList, Sentence, plain
from agents.contracts.report import OVER, Quote, Reference, ReportDocument, tally
from agents.contracts.sources import SourceKind
from agents.core.errors import SourceError
from agents.core.events import Numbered
from agents.core.paths import public
from agents.jobs.attempt import Attempt
from agents.jobs.client import Client
from agents.jobs.job import Job, copies_read
from agents.report.formats import FORMS
from agents.report.html_export import POLICY, blocks_html, heading_html, quote_page
from agents.report.references import Citations, Linker, reference_list, reference_of
from agents.report.wording import wording
from agents.report.write_markdown import UNVERIFIED, document_markdown


@dataclass(frozen=True)
class Quoted:
    """A quote, the reference it stands in, and the stored text it was taken from."""

    reference: Reference
    quote: Quote
    text: str


async def found_job(job_id: str, owner: Owner, site: Here) -> Job:
    """Find the job of a path: a 404 where there is none, or it is somebody else's."""
    job = await site.team.jobs.find(job_id, owner)
    if job is None:
        raise not_found("There is no such job.")
    return job


Found = Annotated[Job, Depends(found_job)]  # the caller's job that a path names


async def report_of(site: Site, job: Job) -> ReportDocument:
    """Return the report of a job: a 404 where there is none (yet)."""
    document = job.report or await site.team.jobs.report(job.id)
    if document is None:
        what = "This run left no report." if job.status in OVER else "The report is not written yet."
        raise ApiError(404, "no_report", what, retryable=job.status not in OVER)
    return document


async def quote_of(site: Site, job: Job, document: ReportDocument | None, fact_id: str) -> Quoted:
    """Return a quote of the report, or the words of a claim's evidence, with the stored copy it was taken from; else a 404."""
    reference = quote = None
    for reference in document.references if document else ():
        if quote := next((one for one in reference.quotes if one.fact_id == fact_id), None):
            break
    if reference is None or quote is None:
        claims = document.claims if document else job.claims
        found = next((one for claim in claims for one in claim.evidence if one.fact_id == fact_id and one.quote), None)
        if found is None or (card := job.sources.get(found.source_id)) is None:
            raise not_found("The report holds no such quote.")
        page = card.page_of(found.start)
        quote = Quote(text=found.quote, start=found.start, end=found.end, fact_id=fact_id, page=page)
        reference = reference_of(card, len(document.references) + 1 if document else 1, (quote,))
    for name in copies_read(job.run.events, job.commission, reference.source_id):
        with suppress(SourceError):
            text = await site.team.blobs.get(name)
            if text[quote.start : quote.end] == quote.text:
                return Quoted(reference, quote, text)
    raise not_found("The stored copy of this source is gone.")


def given_to(jobs: Iterable[Job]) -> set[str]:
    """Name the texts of users' files that jobs were given."""
    contracts = (job.commission.contract for job in jobs)
    return {file.card.text_hash for contract in contracts if contract for file in contract.brief.files}


async def forget_texts(jobs: Client, chats: Path, hashes: Iterable[str]) -> tuple[str, ...]:
    """Drop those of these texts that nothing needs any more; names them.

    A text is needed by a report that quotes it, by a run that is not over, and by a chat that still names the file.
    """

    async def needed(name: str) -> bool:
        if await asyncio.to_thread(_named_in_a_chat, chats, name):
            return True
        for job in await jobs.given_texts(name):
            if job.status not in OVER:
                return True
            sources = {card.id for card in job.sources.values() if card.text_hash == name}
            document = await jobs.report(job.id) if sources else None
            if document is not None and any(one.source_id in sources for one in document.references):
                return True
        return False

    return tuple([name for name in sorted(set(hashes)) if not await needed(name) and await jobs.blobs.drop(name)])


def _named_in_a_chat(chats: Path, name: str) -> bool:
    if not chats.exists():
        return False
    with closing(sqlite3.connect(chats, timeout=10)) as db:
        found = db.execute("SELECT 1 FROM dossier_kept WHERE value LIKE ?", (f"%{name}%",))
        return found.fetchone() is not None


NOTES: dict[SourceKind, str] = {"sample": "Invented sample document", "upload": "From your files"}
"""What is said of a source beside the verdict."""
AROUND = 280  # characters shown before and after a quote, at most


def linker(job_id: str) -> Linker:
    """Give the addresses at which a report's quotes open in the stored copies."""

    def link(reference: Reference, quote: Quote) -> str:
        return public(f"/research/jobs/{job_id}/quote/{quote.fact_id}#quote")

    return link


def chat_markdown(document: ReportDocument) -> str:
    """Write a report as the chat shows it, every citation a link to its quote."""
    words = wording(document.language)
    return document_markdown(document.body, document.references, words, linker(document.job_id))


def fragment(document: ReportDocument) -> dict[str, object]:
    """Write a report as the chat's card takes it: its text as HTML, places to jump to, and what stands around it."""
    link, citations = linker(document.job_id), Citations(document.references)

    def written(sentence: Sentence, html: str) -> str:
        """Put every sentence that was judged in a span that names its verdict, and its citations behind it."""
        if sentence.verdict is not None and html:
            why = f' title="{escape(sentence.why)}"' if sentence.why else ""
            html = f'<span data-verdict="{sentence.verdict}"{why}>{html}</span>'
        for cite in citations.of(sentence):
            number, address = f"[{cite.reference.n}]", link(cite.reference, cite.quotes[0]) if cite.quotes else ""
            html += f'<a href="{escape(address)}">{number}</a>' if address else number
        if sentence.citations and sentence.verdict in {"unsupported", "contradicted"}:
            html += f" <code>{UNVERIFIED.strip(' `')}</code>"
        return html

    headings: list[dict[str, object]] = []
    html = ""
    for block in document.body.blocks:
        if isinstance(block, Heading) and 2 <= block.level <= 4:
            place = f"part-{len(headings) + 1}"
            headings.append({"id": place, "level": block.level, "text": plain(block.inline).strip()})
            html += heading_html(block, place)
        else:
            is_list = isinstance(block, ReferenceList)
            listed = reference_list(document.references, wording(document.language), link) if is_list else block
            html += blocks_html([listed], written)
    actual, references = document.methodology.actual, document.references
    verified, judged = tally(one.verdict for one in document.sentences)
    cited = sum(1 for sentence in document.sentences if sentence.citations)
    return {
        "html": html,
        "headings": headings,
        "seconds": actual.seconds,
        "cost_usd": actual.cost_usd,
        "tokens": actual.tokens_in + actual.tokens_out,
        "counts": {
            "sentences": len(document.sentences), "cited": cited, "sources": len(references), "judged": judged,
            "verified": verified,
        },
        **document.model_dump(mode="json", include={"title", "grade", "grade_reasons", "language"}),
    }  # fmt: skip


async def written(document: ReportDocument, form: str) -> Response:
    """Write a report as a download, beside the event loop."""
    how = FORMS[form]
    headers = {
        "Content-Disposition": disposition(document.title, form, document.job_id), "Content-Security-Policy": POLICY,
        "X-Content-Type-Options": "nosniff",
    }  # fmt: skip
    return Response(await asyncio.to_thread(how.write, document), media_type=how.mime, headers=headers)


NAME_BYTES = 110


def disposition(title: str, form: str, job_id: str = "") -> str:
    """Name a download after its title, as every system takes it; in ASCII too, for old clients."""
    name = re.sub(r"[^\w\s.-]", " ", unicodedata.normalize("NFKC", title))
    name = re.sub(r"[\s_]+", " ", name).strip(" .-")[:80].encode()[:NAME_BYTES].decode(errors="ignore").strip(" .-")
    if not name or PureWindowsPath(name).is_reserved():  # `CON` and its like
        name = " ".join(filter(None, ("report", job_id[:8], name)))
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    plain = re.sub(r"\s+", " ", plain).strip(" .-") or "report"
    return f"attachment; filename=\"{plain}.{form}\"; filename*=UTF-8''{percent_encoded(name, safe='')}.{form}"


def quoted_page(quoted: Quoted, reader: str = "en") -> HTMLResponse:
    """Show the stored copy with this quote marked and in view."""
    page = quote_page(quoted.reference, quoted.quote, quoted.text, reader)
    return HTMLResponse(page, headers={"Content-Security-Policy": POLICY})


def quoted_data(quoted: Quoted, document: ReportDocument | None) -> dict[str, object]:
    """Describe a quote for the card that a citation opens: the words, those around them, their source, the verdict."""
    reference, quote, text = quoted.reference, quoted.quote, quoted.text
    sentences = document.sentences if document else ()
    judged = next((one for one in sentences if quote.fact_id in one.facts and one.verdict is not None), None)
    before = text[max(0, quote.start - AROUND) : quote.start].rsplit("\n", 1)[-1]
    if quote.start > AROUND and len(before) == AROUND:
        before = "… " + before.partition(" ")[2]
    after = text[quote.end : quote.end + AROUND].split("\n", 1)[0]
    if len(after) == AROUND and quote.end + AROUND < len(text):
        after = after.rpartition(" ")[0] + " …"
    about = {"n", "title", "author", "site", "published", "url", "kind", "language", "known_since"}
    return reference.model_dump(mode="json", include=about) | {
        "fact_id": quote.fact_id, "quote": quote.text, "page": quote.page, "before": before, "after": after,
        "verdict": judged.verdict if judged else None, "why": judged.why if judged else "",
        "note": NOTES.get(reference.kind, ""),
    }  # fmt: skip


def _message(tree: Tree, numbered: Numbered) -> str:
    changed, event, line = tree.take(numbered), numbered.event, tree.line
    rows = [tree.node(path).model_dump() for path in changed]
    state = {name: getattr(tree, name) for name in ("status", "stage", "now", "note", "ending", "kept", "limited")}
    data = {
        "seq": numbered.seq, "seconds": numbered.seconds, "kind": event.kind, "event": event.model_dump(mode="json"),
        # The row that the event is about, and that one with all above it, whose sums changed too.
        "node": rows[0] if rows else None, "nodes": rows, **state, "usage": tree.spent().model_dump(),
        "feed": line.written() if line else None,
    }  # fmt: skip
    return f"id: {numbered.seq}\nevent: {event.kind}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"


_messages: WeakKeyDictionary[Attempt, tuple[Tree, list[str]]] = WeakKeyDictionary()
"""Messages of each run, made once for all who watch it: one depends on the events before it and on nothing else."""


async def event_stream(job: Job, after: int, *, attended: bool = False) -> AsyncIterator[str]:
    """Write the events after number `after`, then new ones as they come, until the last (see `Job.follow`)."""
    yield "retry: 2000\n\n"
    async for numbered in job.follow(after, attended=attended):
        if numbered is None:
            yield ": still here\n\n"
            continue
        tree, made = _messages.setdefault(job.run, (Tree(), []))
        made += [_message(tree, one) for one in job.run.events[len(made) : numbered.seq]]
        yield made[numbered.seq - 1]


def streamed(pieces: AsyncIterator[str]) -> StreamingResponse:
    """Answer with server-sent events, past the buffers of a proxy."""
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    return StreamingResponse(pieces, media_type="text/event-stream", headers=headers)


job_stream = APIRouter(tags=["research"])


@job_stream.get("/research/jobs/{job_id}/tree")
async def tree(job: Found) -> dict[str, object]:
    """Draw the tree as it stands now; `seq` says where the events go on."""
    return live_tree(job).model_dump(mode="json")


@job_stream.get(
    "/research/jobs/{job_id}/events",
    responses=kinds("text/event-stream") | {204: {"description": "Nothing more will come."}},
    response_class=Response,
)
async def events(job: Found, request: Request, after: str = "0") -> Response:
    """Stream the events as they come. Nothing more to come is a 204, which ends a browser's reconnecting."""
    said = request.headers.get("last-event-id") or after
    seq = int(said) if said.isdecimal() else 0
    if job.over and seq >= len(job.run.events):
        return Response(status_code=204)
    return streamed(event_stream(job, seq))


@job_stream.get(
    "/research/jobs/{job_id}/report.{form}", responses=kinds(*(one.mime for one in FORMS.values())), response_class=Response
)  # fmt: skip
async def report(form: str, job: Found, site: Here) -> Response:
    """Download the report: md, html, json, pdf, docx, bib, ris or csl.

    `fragment` is what the chat's card reads. A PDF is tagged and brings its fonts.
    """
    if form not in FORMS and form != "fragment":
        raise not_found(f"There is no report.{form}; there are: {', '.join(FORMS)}.")
    document = await report_of(site, job)
    return JSONResponse(fragment(document)) if form == "fragment" else await written(document, form)


@job_stream.get(
    "/research/jobs/{job_id}/quote/{fact_id}", responses=kinds("text/html", "application/json"), response_class=Response
)
async def quote(fact_id: str, job: Found, site: Here, request: Request, format: str = "") -> Response:
    """Show the stored copy of a source with the quote marked; as JSON, the quote with the words around it.

    Of a job that still runs, the words of its claims' evidence.
    """
    document = job.report or await site.team.jobs.report(job.id)
    quoted = await quote_of(site, job, document, fact_id)
    if format == "json" or request.headers.get("accept", "").startswith("application/json"):
        return JSONResponse(quoted_data(quoted, document))
    return quoted_page(quoted, document.language if document else "en")
