"""What a job tells of itself: its events as they come, its tree, its report in every form, the quotes behind citations."""

import json
import weakref
from collections import deque
from collections.abc import AsyncIterator, Sequence

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from agents.api.access import Here
from agents.api.error_responses import ERRORS, kinds, not_found
from agents.api.reports import Found, fragment, quote_of, quoted_data, quoted_page, report_of, written
from agents.api.tree import FeedText, Tree, live_tree
from agents.core.events import Numbered
from agents.jobs.attempt import Attempt
from agents.jobs.job import Job
from agents.report.formats import FORMS

KEPT = 500  # messages of a run that are kept for those who watch; who is further behind has its own made


def _message(tree: Tree, numbered: Numbered) -> str:
    changed, event, line = tree.take(numbered), numbered.event, tree.line or FeedText(text="")
    rows = [tree.node(path).model_dump() for path in changed]
    state = {name: getattr(tree, name) for name in ("status", "stage", "now", "note", "ending", "kept")}
    data = {
        "seq": numbered.seq, "seconds": numbered.seconds, "kind": event.kind, "event": event.model_dump(mode="json"),
        # The row that the event is about, and that one with all above it, whose sums changed too.
        "node": rows[0] if rows else None, "nodes": rows, **state, "usage": tree.spent().model_dump(),
        "feed_text": line.text, "feed_form": line.form, "feed_values": line.values,
    }  # fmt: skip
    return f"id: {numbered.seq}\nevent: {event.kind}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"


class SharedMessages:
    """One run's messages, made once for all who watch it: a message depends on the events before it and on nothing else."""

    def __init__(self) -> None:
        self._tree = Tree()
        self._messages: deque[str] = deque(maxlen=KEPT)

    def message(self, events: Sequence[Numbered], numbered: Numbered) -> str | None:
        """Give the message of an event; None where it lies too far back."""
        for missed in events[self._tree.seq : numbered.seq - 1]:
            # Nobody watched while these came; their rows count in those that follow.
            self._tree.take(missed)
            self._messages.clear()
        if self._tree.seq == numbered.seq - 1:
            self._messages.append(_message(self._tree, numbered))
        back = self._tree.seq - numbered.seq
        return self._messages[-1 - back] if back < len(self._messages) else None


_told: dict[int, SharedMessages] = {}  # of runs that were watched, by the identity of the run; gone with it


def told_of(run: Attempt) -> SharedMessages:
    """Give what is told of a run to all who watch it."""
    if id(run) not in _told:
        _told[id(run)] = SharedMessages()
        weakref.finalize(run, _told.pop, id(run), None)
    return _told[id(run)]


async def event_stream(job: Job, after: int, *, attended: bool = False) -> AsyncIterator[str]:
    """Write the events after number `after`, then new ones as they come, until the last (see `Job.follow`)."""
    own: Tree | None = None
    yield "retry: 2000\n\n"
    async for numbered in job.follow(after, attended=attended):
        if numbered is None:
            yield ": still here\n\n"
            continue
        message = told_of(job.run).message(job.run.events, numbered)
        if message is None:
            # Rows are sums over all that went before: what the caller already has is folded, not sent.
            own = own or Tree(job.run.events[: numbered.seq - 1])
            message = _message(own, numbered)
        yield message


def streamed(pieces: AsyncIterator[str]) -> StreamingResponse:
    """Answer with server-sent events, past the buffers of a proxy."""
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    return StreamingResponse(pieces, media_type="text/event-stream", headers=headers)


job_stream = APIRouter(tags=["research"], responses=ERRORS)


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

    `fragment` is what the chat's card reads. A PDF is tagged and brings its fonts: 422 where these lack letters of its script.
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
