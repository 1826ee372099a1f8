"""Our routes on Chainlit's app: all faces put up in front of its own, the few that are about the server itself, OpenAPI."""

import asyncio
from functools import cache

import chainlit.server as chainlit_server
from chainlit.config import config
from chainlit.data import get_data_layer
from fastapi import APIRouter, FastAPI, Request
from fastapi.openapi.utils import get_openapi
from fastapi.responses import FileResponse, JSONResponse, Response

from agents.api.access import harden
from agents.api.app_state import Here, Owner, Site, about
from agents.api.error_responses import ERRORS, OURS, ErrorBody, answer_errors, kinds, not_found
from agents.api.jobs_api import jobs_api
from agents.api.mcp_server import mcp_route, memory_api
from agents.api.metrics import CONTENT_TYPE, log_to_stderr
from agents.api.reports import job_stream
from agents.api.run_routes import openai_face, runs
from agents.api.serve import check_exposure
from agents.core.settings import Settings, load
from agents.team import Team, open_team

VERSION = "1"
SUMMARY = """Research over HTTP: a task in, a report out whose every sentence opens its quote.

Errors have one shape: `{"error": {"type", "message", "retryable", "details"?}}`. Unknown fields are refused by name.
From this machine no key is needed; from elsewhere send `Authorization: Bearer <DOSSIER_API_KEY>`."""

meta = APIRouter(tags=["operation"])


@meta.get("/healthz")
async def healthz() -> dict[str, str]:
    """Say that the server answers."""
    return {"status": "ok"}


@meta.get("/research/about")
async def configuration(owner: Owner, site: Here) -> dict[str, object]:
    """Say which engine answers, which documents are searched, and what leaves this computer."""
    return about(site.team, site.own_documents).model_dump()


@meta.get("/metrics", responses=kinds("text/plain"), response_class=Response)
async def metrics(owner: Owner, site: Here) -> Response:
    """Give the metrics as Prometheus reads them."""
    return Response(site.meter.text(site.team.taken()), headers={"Content-Type": CONTENT_TYPE})


@meta.get("/research/openapi.json", response_model=dict[str, object])
async def document() -> JSONResponse:
    """Describe these routes."""
    return JSONResponse(described())


@meta.get("/files/{element_id}/{name}", responses=kinds("application/octet-stream"), response_class=Response)
async def files(element_id: str, name: str, owner: Owner) -> Response:
    """Return a file of the chat, as a download, to the one whose chat it is."""
    layer = get_data_layer()
    row = await layer.element_owner(element_id) if layer else {}
    path = layer.storage_provider.path(row["key"]) if layer and row.get("key") and row["owner"] == owner else None
    if path is None or not await asyncio.to_thread(path.is_file):
        raise not_found("There is no such file.")
    return FileResponse(path, filename=row["name"], media_type="application/octet-stream")


async def unknown(request: Request) -> Response:
    """Answer for a path below ours that does not exist."""
    raise not_found(f"There is no {request.url.path} here.")


ANY = ["GET", "POST", "PUT", "PATCH", "DELETE"]
for _path in (path for prefix in OURS for path in (prefix, prefix + "/{rest:path}")):
    meta.add_api_route(_path, unknown, methods=ANY, include_in_schema=False)

# The last one answers for every unknown path below ours.
FACES = (runs, jobs_api, job_stream, memory_api, openai_face, meta)


@cache
def described() -> dict[str, object]:
    """Describe our routes and nobody else's: Chainlit's own are none of a caller's business."""
    routes = [route for router in FACES for route in router.routes]
    found = get_openapi(title="Dossier", version=VERSION, description=SUMMARY, routes=routes)
    body = {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorBody"}}}
    errors = {str(status): {"description": said, "content": body} for status, said in ERRORS.items()}
    for operation in (operation for operations in found["paths"].values() for operation in operations.values()):
        operation["responses"] |= errors
    shape = ErrorBody.model_json_schema(ref_template="#/components/schemas/{model}")
    found["components"]["schemas"] |= shape.pop("$defs") | {"ErrorBody": shape}
    key = {"type": "http", "scheme": "bearer", "description": "DOSSIER_API_KEY; none on loopback"}
    found["components"]["securitySchemes"], found["security"] = {"key": key}, [{}, {"key": []}]
    return found


NEEDED = frozenset(
    """/public/{filename:path} /assets/{filename:path} /favicon /logo /avatars/{avatar_id:str} /health / /{full_path:path}
    /login /logout /user /auth/config /auth/header /set-session-cookie /project/translations /project/settings
    /project/threads /project/thread /project/thread/{thread_id} /project/thread/{thread_id}/element/{element_id}
    /project/action /project/file /project/file/{file_id} /ws/socket.io""".split()
)
"""What the page asks of Chainlit. Nothing else of its stays up: it describes its routes to everybody, and some of them (ratings,
elements, sharing) take an id without asking whose it is."""
UNUSED = "edit_message message_favorite fetch_favorites window_message audio_start audio_chunk audio_end".split()
"""What a page could send over its socket for parts of Chainlit that are off here, and that it would do all the same."""


def in_front(app: FastAPI, *routers: APIRouter) -> None:
    """Put routes in front of Chainlit's catch-all, which would answer every GET with its page.

    As they are: `include_router` would analyze each of them once more at the first request, half a second in all.
    """
    app.router.routes[0:0] = [route for router in routers for route in router.routes]


def opened(settings: Settings | None = None, team: Team | None = None) -> Site:
    """Open this process's site, its routes put up and what nobody needs of Chainlit's taken down; later calls return it.

    It hangs on Chainlit's app, not on a module: Chainlit's development mode loads every module of ours anew.
    """
    app = chainlit_server.app
    site: Site | None = getattr(app.state, "dossier_site", None)
    if site is None:
        settings = settings or (team.settings if team else load())
        check_exposure(settings)
        log_to_stderr(settings.log_level)
        settings.data_dir.mkdir(parents=True, exist_ok=True)
        team = team or open_team(settings, durable=True)
        site = Site(settings, team)
        # Else Chainlit opens a browser window by itself.
        config.run.headless = True
        harden(settings.host, settings.port, settings.root_path)
        answer_errors(app)
        for router in (app.router, chainlit_server.router):
            router.routes[:] = [one for one in router.routes if (getattr(one, "path", None) or "/") in NEEDED]
        for event in UNUSED:
            chainlit_server.sio.handlers["/"].pop(event, None)
        in_front(app, *FACES)
        app.router.routes.insert(0, mcp_route)
        app.state.dossier_site = site
    return site
