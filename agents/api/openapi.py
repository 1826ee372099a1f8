"""The OpenAPI document of our own routes, `/metrics`, and the one place where all routers of ours are put up."""

from functools import cache

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse, Response

from agents.api.error_responses import answer_errors
from agents.api.jobs_api import jobs_api
from agents.api.mcp_server import mcp_route
from agents.api.memory_api import memory_api
from agents.api.metrics import CONTENT_TYPE
from agents.api.openai_face import openai_face
from agents.api.payloads import ERRORS
from agents.api.reports import kinds
from agents.api.routes import api, branches
from agents.api.run_routes import Here, Owner, runs

VERSION = "1"
SUMMARY = """Research over HTTP: a task in, a report out whose every sentence opens its quote.

Errors have one shape: `{"error": {"type", "message", "retryable", "details"?}}`. Unknown fields are refused by name.
From this machine no key is needed; from elsewhere send `Authorization: Bearer <DOSSIER_API_KEY>`."""

meta = APIRouter(tags=["operation"], responses=ERRORS)


@meta.get("/metrics", responses=kinds("text/plain"), response_class=Response)
async def metrics(owner: Owner, site: Here) -> Response:
    """Give the metrics as Prometheus reads them."""
    return Response(site.state.meter.text(), headers={"Content-Type": CONTENT_TYPE})


@meta.get("/research/openapi.json", response_model=dict[str, object])
async def document() -> JSONResponse:
    """Describe these routes."""
    return JSONResponse(described())


FACES = (branches, runs, jobs_api, memory_api, openai_face, meta)


@cache
def described() -> dict[str, object]:
    """Describe our routes and nobody else's: Chainlit's own are none of a caller's business."""
    routes = [route for router in (*FACES, api) for route in router.routes]
    found = get_openapi(title="Dossier", version=VERSION, description=SUMMARY, routes=routes)
    for operations in found["paths"].values():
        for operation in operations.values():
            for status, said in ERRORS.items():
                operation["responses"].setdefault(str(status), {"description": said["description"]})
                # In our shape everywhere, also where the framework would document its own.
                operation["responses"][str(status)]["content"] = {
                    "application/json": {"schema": {"$ref": "#/components/schemas/ErrorBody"}}
                }
    found["components"] = found.get("components", {}) | {
        "securitySchemes": {
            "key": {"type": "http", "scheme": "bearer", "description": "DOSSIER_API_KEY; none on loopback"}
        }
    }
    found["security"] = [{}, {"key": []}]
    return found


def install_routes(app: FastAPI) -> None:
    """Put our routes in front of Chainlit's catch-all, which would answer every GET with its page."""
    answer_errors(app)
    count = len(app.router.routes)
    for router in FACES:
        app.include_router(router)
    app.router.routes.append(mcp_route)
    # Its last route answers for every unknown path below ours.
    app.include_router(api)
    ours = app.router.routes[count:]
    del app.router.routes[count:]
    app.router.routes[0:0] = ours
