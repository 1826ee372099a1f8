"""Our HTTP routes beside the chat: jobs, their events, their reports, and the quotes behind every citation."""

import asyncio
import time
from typing import Annotated

from chainlit.data import get_data_layer
from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.responses import FileResponse, JSONResponse, Response, StreamingResponse

from agents.api.about import about
from agents.api.access import caller
from agents.api.errors import OURS, answer_errors, body, not_found
from agents.api.lookup import Found, Lookup
from agents.api.reports import FORMATS, fragment, quoted_data, quoted_page, written
from agents.api.stream import event_stream

INLINE = ("text/plain", "text/markdown", "application/json", "application/pdf", "image/png", "image/jpeg")
"""Kinds of files that a browser may show; all others are downloads, HTML above all."""

PAGE = 50
"""Jobs listed at a time when no other number is asked for."""


STARTED = time.monotonic()

api = APIRouter(tags=["research"])


def lookup_of(request: Request) -> Lookup:
    """Give a route the jobs of this server."""
    site = request.app.state.dossier_site
    return Lookup(site.team, site.ledger)


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


@api.get("/research/jobs")
async def jobs(owner: Owner, lookup: Jobs, limit: int = PAGE, offset: int = 0) -> dict[str, object]:
    """List jobs, newest first."""
    found = await lookup.all(owner)
    first, many = max(0, offset), max(1, min(limit, 200))
    return {"jobs": [_row(one) for one in found[first : first + many]], "total": len(found)}


@api.get("/research/jobs/{job_id}")
async def job(job_id: str, owner: Owner, lookup: Jobs) -> dict[str, object]:
    """Describe a job whole: status, contract, claims, report."""
    found = await lookup.job(job_id, owner)
    document = found.job.report if found.job else await lookup.team.shelf.report(job_id)
    contract = found.entry.contract
    return _row(found) | {
        "blocked_reason": None,
        "contract": contract.model_dump(mode="json") | {"hash": contract.hash} if contract else None,
        "phase_state": document.phase_state.model_dump(mode="json") if document else None,
        "claims": [claim.model_dump(mode="json") for claim in document.claims] if document else [],
        "evidence": [
            one.model_dump(mode="json") | {"claim_id": claim.id}
            for claim in (document.claims if document else ())
            for one in claim.evidence
        ],
        "metadata": {"created": found.entry.created, "note": found.entry.note},
        "report": document.model_dump(mode="json") if document else None,
    }


@api.get("/research/jobs/{job_id}/tree")
async def tree(job_id: str, owner: Owner, lookup: Jobs) -> dict[str, object]:
    """Draw the tree as it stands now; `seq` says where the events go on."""
    return (await lookup.job(job_id, owner)).tree.model_dump(mode="json")


@api.get("/research/jobs/{job_id}/events")
async def events(job_id: str, owner: Owner, lookup: Jobs, request: Request, after: str = "0") -> Response:
    """Stream the events as they come. Nothing more to come is a 204, which ends a browser's reconnecting."""
    found = await lookup.job(job_id, owner)
    said = request.headers.get("last-event-id") or after
    seq = int(said) if said.isdecimal() else 0
    if found.job is None or (found.job.over and seq >= len(found.job.run.events)):
        return Response(status_code=204)
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    return StreamingResponse(event_stream(found.job, seq), media_type="text/event-stream", headers=headers)


@api.post("/research/jobs/{job_id}/cancel", status_code=202)
async def cancel(job_id: str, owner: Owner, lookup: Jobs) -> dict[str, object]:
    """Stop a job at once; stopping one that is over changes nothing."""
    found = await lookup.job(job_id, owner)
    if found.job is not None:
        lookup.team.jobs.stop(found.job)
    return {"job_id": job_id, "status": "cancelling" if found.job and not found.job.over else found.entry.status}


@api.post("/research/jobs/{job_id}/finish", status_code=202)
async def finish(job_id: str, owner: Owner, lookup: Jobs) -> dict[str, object]:
    """Have a job search no further and write from what it has."""
    found = await lookup.job(job_id, owner)
    if found.job is not None and not found.job.over:
        lookup.team.jobs.finish(found.job)
        return {"job_id": job_id, "status": "finishing"}
    return {"job_id": job_id, "status": found.entry.status}


@api.get("/research/jobs/{job_id}/report.{form}")
async def report(job_id: str, form: str, owner: Owner, lookup: Jobs) -> Response:
    """Download the report as Markdown, HTML or JSON; `fragment` is what the chat's card reads."""
    if form not in FORMATS and form != "fragment":
        raise not_found(f"There is no report.{form}; there are: {', '.join(FORMATS)}.")
    document = await lookup.report(await lookup.job(job_id, owner))
    return JSONResponse(fragment(document)) if form == "fragment" else written(document, form)


@api.get("/research/jobs/{job_id}/quote/{fact_id}")
async def quote(job_id: str, fact_id: str, owner: Owner, lookup: Jobs, request: Request, format: str = "") -> Response:
    """Show the stored copy of a source with the quote marked; as JSON, the quote with the words around it."""
    document = await lookup.report(found := await lookup.job(job_id, owner))
    quoted = await lookup.quote(found, document, fact_id)
    if format == "json" or request.headers.get("accept", "").startswith("application/json"):
        return JSONResponse(quoted_data(quoted, document))
    return quoted_page(quoted, document.language)


@api.get("/files/{element_id}/{name}")
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


def _row(found: Found) -> dict[str, object]:
    entry, tree = found.entry, found.tree
    return {
        "job_id": entry.id,
        "title": entry.title,
        "status": entry.status,
        "stage": tree.stage,
        "grade": entry.grade,
        "created": entry.created,
        "seconds": tree.seconds,
        "note": entry.note,
    }


def install(app: FastAPI) -> None:
    """Put our routes in front of Chainlit's catch-all, which would answer every GET with its page; once."""
    if getattr(app.state, "dossier_routes", False):
        return
    app.state.dossier_routes = True
    answer_errors(app)
    before = len(app.router.routes)
    app.include_router(api)
    ours = app.router.routes[before:]
    del app.router.routes[before:]
    app.router.routes[0:0] = ours
