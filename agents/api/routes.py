"""Our HTTP routes beside the chat: jobs, their events, their reports, and the quotes behind every citation.

A job's events as server-sent events, each with the rows of the tree that it changed.

The routes that steer one branch of a run.

Steering one branch of a run that is going: finish it, stop it, drop it, try it again. Each is a numbered change.
"""

import asyncio
import json
import time
import weakref
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Annotated

from chainlit.data import get_data_layer
from fastapi import APIRouter, Depends, Request
from fastapi.responses import FileResponse, JSONResponse, Response, StreamingResponse

from agents.api.about import about
from agents.api.access import Here, Owner
from agents.api.error_responses import OURS, ApiError, body, not_found
from agents.api.payloads import ERRORS
from agents.api.reports import SHOWN, Lookup, fragment, kinds, live_tree, quoted_data, quoted_page, written
from agents.api.tree import Tree, rows, steer
from agents.core.errors import BadRequest
from agents.core.events import Numbered
from agents.jobs.changes import Steered
from agents.jobs.live_job import Job
from agents.jobs.run import JobRun
from agents.report.formats import FORMS

KEPT = 500
"""Messages of a run that are kept for those who watch; who is further behind has its own made."""


def _message(tree: Tree, numbered: Numbered) -> str:
    changed = tree.take(numbered)
    rows = [tree.node(path).model_dump() for path in changed]
    data = {
        "seq": numbered.seq,
        "seconds": numbered.seconds,
        "kind": numbered.event.kind,
        "event": numbered.event.model_dump(mode="json"),
        # The row that the event is about, and that one with all above it, whose sums changed too.
        "node": rows[0] if rows else None,
        "nodes": rows,
        "status": tree.status,
        "stage": tree.stage,
        "now": tree.now,
        "note": tree.note,
        "feed_text": tree.line.text if tree.line else "",
        "feed_form": tree.line.form if tree.line else "",
        "feed_values": tree.line.values if tree.line else {},
        "usage": tree.spent().model_dump(),
    }
    return f"id: {numbered.seq}\nevent: {numbered.event.kind}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"


class SharedMessages:
    """One run's messages, made once for all who watch it: a message depends on the events before it and on nothing else."""

    def __init__(self) -> None:
        self._tree, self._seq = Tree(), 0
        self._messages: deque[str] = deque(maxlen=KEPT)

    def message(self, events: Sequence[Numbered], numbered: Numbered) -> str | None:
        """Give the message of an event; None where it lies too far back."""
        while self._seq < numbered.seq - 1:
            # Nobody watched while these came; their rows count in those that follow.
            self._tree.take(events[self._seq])
            self._seq += 1
            self._messages.clear()
        if self._seq == numbered.seq - 1:
            self._messages.append(_message(self._tree, numbered))
            self._seq = numbered.seq
        back = self._seq - numbered.seq
        return self._messages[-1 - back] if back < len(self._messages) else None


_told: dict[int, SharedMessages] = {}
"""Of runs that were watched, by the identity of the run; gone with it."""


def told_of(run: JobRun) -> SharedMessages:
    """Give what is told of a run to all who watch it."""
    known = _told.get(id(run))
    if known is None:
        known = _told[id(run)] = SharedMessages()
        weakref.finalize(run, _told.pop, id(run), None)
    return known


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


INLINE = ("text/plain", "text/markdown", "application/json", "application/pdf", "image/png", "image/jpeg")
"""Kinds of files that a browser may show; all others are downloads, HTML above all."""

STARTED = time.monotonic()

api = APIRouter(tags=["research"], responses=ERRORS)


def lookup_of(site: Here) -> Lookup:
    """Give a route the jobs of this server."""
    return Lookup(site.team)


STREAM = kinds("text/event-stream") | {204: {"description": "Nothing more will come."}}
Jobs = Annotated[Lookup, Depends(lookup_of)]
"""Where their jobs are found."""


@api.get("/healthz")
async def healthz() -> dict[str, object]:
    """Say that the server answers."""
    return {"status": "ok", "seconds": round(time.monotonic() - STARTED, 1)}


@api.get("/research/about")
async def configuration(owner: Owner, site: Here) -> dict[str, object]:
    """Say which engine answers, which documents are searched, and what leaves this computer."""
    return about(site.team, site.reach.found).model_dump()


@api.get("/research/jobs/{job_id}/tree")
async def tree(job_id: str, owner: Owner, lookup: Jobs) -> dict[str, object]:
    """Draw the tree as it stands now; `seq` says where the events go on."""
    return live_tree(await lookup.job(job_id, owner)).model_dump(mode="json")


@api.get("/research/jobs/{job_id}/events", responses=STREAM, response_class=Response)
async def events(job_id: str, owner: Owner, lookup: Jobs, request: Request, after: str = "0") -> Response:
    """Stream the events as they come. Nothing more to come is a 204, which ends a browser's reconnecting."""
    job = await lookup.job(job_id, owner)
    said = request.headers.get("last-event-id") or after
    seq = int(said) if said.isdecimal() else 0
    if job.over and seq >= len(job.run.events):
        return Response(status_code=204)
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    return StreamingResponse(event_stream(job, seq), media_type="text/event-stream", headers=headers)


@api.get(
    "/research/jobs/{job_id}/report.{form}",
    responses=kinds(*(FORMS[form].mime for form in SHOWN)),
    response_class=Response,
)
async def report(job_id: str, form: str, owner: Owner, lookup: Jobs) -> Response:
    """Download the report as Markdown, HTML or JSON; `fragment` is what the chat's card reads."""
    if form not in SHOWN and form != "fragment":
        raise not_found(f"There is no report.{form}; there are: {', '.join(FORMS)}.")
    document = await lookup.report(await lookup.job(job_id, owner))
    return JSONResponse(fragment(document)) if form == "fragment" else await written(document, form)


@api.get(
    "/research/jobs/{job_id}/quote/{fact_id}", responses=kinds("text/html", "application/json"), response_class=Response
)
async def quote(job_id: str, fact_id: str, owner: Owner, lookup: Jobs, request: Request, format: str = "") -> Response:
    """Show the stored copy of a source with the quote marked; as JSON, the quote with the words around it.

    Of a job that still runs, the words of its claims' evidence.
    """
    job = await lookup.job(job_id, owner)
    document = job.report or await lookup.team.blobs.report(job_id)
    quoted = await lookup.quote(job, document, fact_id)
    if format == "json" or request.headers.get("accept", "").startswith("application/json"):
        return JSONResponse(quoted_data(quoted, document))
    return quoted_page(quoted, document.language if document else "en")


@api.get("/files/{element_id}/{name}", responses=kinds("application/octet-stream"), response_class=Response)
async def files(element_id: str, name: str, owner: Owner, lookup: Jobs) -> Response:
    """Return a file of the chat to the one whose chat it is."""
    layer = get_data_layer()
    row = await layer.element_owner(element_id) if layer else None
    if layer is None or row is None or not row["key"] or row["owner"] != owner:
        raise not_found("There is no such file.")
    path = layer.storage_provider.path(row["key"])
    if not await asyncio.to_thread(path.is_file):
        raise not_found("There is no such file.")
    mime = (row["mime"] or "").split(";")[0]
    shown = mime in INLINE
    return FileResponse(
        path,
        media_type=mime if shown else "application/octet-stream",
        filename=row["name"],
        content_disposition_type="inline" if shown else "attachment",
    )


async def unknown(request: Request) -> JSONResponse:
    """Answer for a path below ours that does not exist."""
    return JSONResponse(body("not_found", f"There is no {request.url.path} here."), 404)


for _path in (path for prefix in OURS for path in (prefix, prefix + "/{rest:path}")):
    api.add_api_route(_path, unknown, methods=["GET", "POST", "PUT", "PATCH", "DELETE"], include_in_schema=False)


branches = APIRouter(tags=["research"])

DOING: Mapping[Steered, str] = {"finish": "finishing", "stop": "stopping", "drop": "stopping", "retry": "retrying"}


@branches.post("/research/jobs/{job_id}/nodes/{node:path}/{what}", status_code=202)
async def steer_branch(
    job_id: str,
    node: str,
    what: Steered,
    owner: Owner,
    lookup: Jobs,
) -> dict[str, object]:
    """Have one branch write from what it has, stop it, drop it, or try it again; the other branches go on."""
    job = await lookup.job(job_id, owner)
    row = next((one for one in rows(job) if one.id == node), None)
    if row is None:
        raise not_found("There is no such branch in this run.")
    try:
        change = steer(lookup.team.jobs, job, row, what)
    except BadRequest as error:
        raise ApiError(409, "not_allowed", error.notice) from error
    if change is None:
        raise ApiError(
            409, "over", f"This branch is {row.state}{'' if what == 'retry' else ' already'}. Nothing was changed."
        )
    return {"job_id": job_id, "node": node, "status": DOING[what], "change": change.number}
