"""Our HTTP routes beside the chat: jobs, their events, their reports, and the quotes behind every citation."""

import asyncio
import time
from typing import Annotated

from chainlit.data import get_data_layer
from fastapi import APIRouter, Depends, Request
from fastapi.responses import FileResponse, JSONResponse, Response, StreamingResponse

from agents.api.about import about
from agents.api.access import caller
from agents.api.error_responses import OURS, body, not_found
from agents.api.lookup import Lookup, live_tree
from agents.api.payloads import ERRORS
from agents.api.reports import SHOWN, fragment, kinds, quoted_data, quoted_page, written
from agents.api.stream import event_stream
from agents.report.formats import FORMS

INLINE = ("text/plain", "text/markdown", "application/json", "application/pdf", "image/png", "image/jpeg")
"""Kinds of files that a browser may show; all others are downloads, HTML above all."""

STARTED = time.monotonic()

api = APIRouter(tags=["research"], responses=ERRORS)


def lookup_of(request: Request) -> Lookup:
    """Give a route the jobs of this server."""
    site = request.app.state.dossier_site
    return Lookup(site.team)


STREAM = kinds("text/event-stream") | {204: {"description": "Nothing more will come."}}
Owner = Annotated[str, Depends(caller)]
"""Who asks."""
Jobs = Annotated[Lookup, Depends(lookup_of)]
"""Where their jobs are found."""


@api.get("/healthz")
async def healthz() -> dict[str, object]:
    """Say that the server answers."""
    return {"status": "ok", "seconds": round(time.monotonic() - STARTED, 1)}


@api.get("/research/about")
async def configuration(owner: Owner, lookup: Jobs, request: Request) -> dict[str, object]:
    """Say which engine answers, which documents are searched, and what leaves this computer."""
    return about(lookup.team, request.app.state.dossier_site.reach.found).model_dump()


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
    """Show the stored copy of a source with the quote marked; as JSON, the quote with the words around it."""
    document = await lookup.report(job := await lookup.job(job_id, owner))
    quoted = await lookup.quote(job, document, fact_id)
    if format == "json" or request.headers.get("accept", "").startswith("application/json"):
        return JSONResponse(quoted_data(quoted, document))
    return quoted_page(quoted, document.language)


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
