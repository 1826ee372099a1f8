"""One server's parts, opened once per process: settings, team, and our routes on Chainlit's app.

All routers of ours are put up here, with `/metrics` and the OpenAPI document of our own routes.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

import chainlit.server as chainlit_server
from chainlit.config import config
from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse, Response

from agents.api.about import about
from agents.api.access import Here, Owner, harden
from agents.api.allowance import RateLimit
from agents.api.error_responses import answer_errors
from agents.api.jobs_api import jobs_api
from agents.api.mcp_server import mcp_route
from agents.api.memory_api import memory_api
from agents.api.metrics import CONTENT_TYPE, log_to_stderr
from agents.api.openai_face import openai_face
from agents.api.payloads import ERRORS
from agents.api.reports import kinds
from agents.api.routes import api, branches
from agents.api.run_routes import ApiState, runs
from agents.api.serve import check_exposure
from agents.core.settings import Settings, load
from agents.llm.model_names import find_servers
from agents.search.searcher import Probed
from agents.team import Team, open_team

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
    """Put up our routes, and the shape of their errors."""
    answer_errors(app)
    # The last one answers for every unknown path below ours.
    in_front(app, *FACES, api)
    app.router.routes.insert(0, mcp_route)


def in_front(app: FastAPI, *routers: APIRouter) -> None:
    """Put routes in front of Chainlit's catch-all, which would answer every GET with its page."""
    count = len(app.router.routes)
    for router in routers:
        app.include_router(router)
    ours = app.router.routes[count:]
    del app.router.routes[count:]
    app.router.routes[0:0] = ours


log = logging.getLogger(__name__)


@dataclass
class WebReach:
    """Whether keyless web search can be reached, once it was tried."""

    found: Probed | None = None
    """None where none would be asked, and before it was tried."""
    tell: Callable[[str], None] = field(default=lambda _lines: None)
    """Is given what the server is set up with, and what leaves this computer, once that is known."""

    async def ask(self, team: Team) -> None:
        """Try once; whatever goes wrong only means that nothing is known."""
        try:
            self.found = await team.probe()
        except Exception:
            log.exception("web search could not be tried")
        if self.found is not None:
            state = "reachable" if self.found.reachable else f"not reachable: {self.found.reason}"
            log.info("keyless web search (%s) is %s", self.found.host, state)
        said = about(team, self.found)
        servers = await asyncio.to_thread(find_servers, besides=team.settings.port) if said.offline else ()
        self.tell("\n".join(f"  {line}" for line in (*said.lines, *(one.line for one in servers))))


@dataclass(frozen=True)
class Site:
    """What the chat and the routes share."""

    settings: Settings
    team: Team
    reach: WebReach = field(default_factory=WebReach)
    state: ApiState = field(default_factory=ApiState)

    @cached_property
    def allowance(self) -> RateLimit:
        """What each user and each address may ask."""
        return RateLimit(self.settings.most_requests)

    @property
    def chats(self) -> Path:
        return self.settings.data_dir / "chat.db"

    def __post_init__(self) -> None:
        self.team.observers.append(self.state.meter.observe)


def opened(settings: Settings | None = None, team: Team | None = None) -> Site:
    """Open this process's site; later calls return the same one.

    It hangs on Chainlit's app, not on a module: Chainlit's development mode loads every module of ours anew.

    Raises:
        ConfigError: a setting can't be used.
    """
    state = chainlit_server.app.state
    site: Site | None = getattr(state, "dossier_site", None)
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
        install_routes(chainlit_server.app)
        state.dossier_site = site
    return site
