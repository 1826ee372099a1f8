"""The routes over scripts: real routing, jobs and reports; only the model and the sources are scripted."""

import asyncio
import json
import time
from contextlib import asynccontextmanager

import pytest

from agents.core.prompts import load as load_prompts
from agents.core.settings import Settings
from agents.jobs.blob_store import BlobStore
from agents.jobs.client import Client
from tests.chat import conftest as chat_conftest  # noqa: F401 - sets what Chainlit reads while it is imported
from tests.flat import FLAT, NAMES, TASK, TOO_BROAD, FlatWorker, Gate, scripted
from tests.jobs.stored_at import stored_at
from tests.scripts import world

__all__ = ["FLAT", "NAMES", "TASK", "TOO_BROAD", "FlatWorker", "Gate", "scripted"]


def events_of(text):
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line and not line.startswith(":"))
        if "data" in lines:
            found.append((lines.get("event", ""), json.loads(lines["data"])))
    return found


@pytest.fixture(scope="session")
def server_app():
    from chainlit.server import app as found

    import app  # noqa: F401 - opens this process's site and puts the routes up

    return found


@pytest.fixture(scope="session")
def prompts():
    return load_prompts()


@pytest.fixture
async def put(server_app, tmp_path, prompts):
    """Put a team behind the routes for one test."""

    from agents.api.app_state import Site
    from agents.team import ROLES, Team

    before, teams = server_app.state.dossier_site, []

    def place(model=None, searcher=None, jobs=None, **settings):
        team = Team(
            Settings(data_dir=tmp_path, model="offline", **settings),
            models=dict.fromkeys([role.name for role in ROLES], model or scripted()),
            searcher=searcher or world(),
            prompts=prompts,
            blobs=BlobStore(tmp_path),
            sample=False,
            today=lambda: "2026-11-27",
            jobs=jobs,
        )
        teams.append(team)
        site = Site(team.settings, team)
        server_app.state.dossier_site = site
        return site

    yield place
    for team in teams:
        await team.close()
    server_app.state.dossier_site = before


@pytest.fixture
def stored(server_app, tmp_path, prompts):
    """A server whose jobs are stored; closed and opened again it is a restarted one."""
    from agents.api.app_state import Site
    from agents.team import ROLES, Team

    @asynccontextmanager
    async def opened(model=None, **settings):
        before = server_app.state.dossier_site
        jobs = Client(BlobStore(tmp_path), time.monotonic, stored_at(tmp_path), per_job=6)
        model = model or scripted()
        team = Team(
            Settings(data_dir=tmp_path, model="offline", **settings), models=dict.fromkeys([role.name for role in ROLES], model),
            searcher=world(), prompts=prompts, blobs=BlobStore(tmp_path), sample=False, today=lambda: "2026-11-27", jobs=jobs,
        )  # fmt: skip
        site = Site(team.settings, team)
        server_app.state.dossier_site = site
        await team.open()
        try:
            yield site
        finally:
            await team.close()
            server_app.state.dossier_site = before

    return opened


@pytest.fixture
def site(put):
    return put()


@pytest.fixture
async def http(server_app):
    """A client without a lifespan, whose end would end the process."""
    import httpx

    transport = httpx.ASGITransport(app=server_app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
        yield client


@pytest.fixture
def over(http):
    """Start a job and wait for its end; returns its id."""

    async def start(site, **body):
        answer = await http.post("/research/jobs", json=body or {"query": TASK})
        assert answer.status_code == 202, answer.text
        job = site.team.jobs.get(answer.json()["job_id"], "local")
        await asyncio.wait_for(job.wait(), 30)
        return job.id

    return start
