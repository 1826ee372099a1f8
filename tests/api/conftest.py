"""The routes over scripts: real routing, jobs and reports; only the model and the sources are scripted."""

import asyncio
import json

import pytest

from agents.contracts.response import FlatPlan, FlatPlanInput, PlanQuery
from agents.jobs.shelf import Shelf
from agents.llm.scripted import ScriptedModel
from agents.prompts import load as load_prompts
from agents.settings import Settings
from tests.chat import conftest as chat_conftest  # noqa: F401 - sets what Chainlit reads while it is imported
from tests.scripts import Worker, world

TASK = "How often was the Orvane ferry closed, and what did it cost?"
QUERIES = (
    PlanQuery(query="On how many days was the Orvane ferry line closed in winter?", intent="Closures"),
    PlanQuery(query="What did the Orvane winter service cost?", intent="Costs"),
    PlanQuery(query="How many passengers did the Orvane ferry carry?", intent="Passengers"),
)
FLAT = FlatPlan(
    feasible=True, reasons=(), suggested_splits=(), tier="simple", query_type="statistics", queries=QUERIES,
    claims=("The Orvane line was closed on fewer than 20 days in 2022/23.",),
)  # fmt: skip
TOO_BROAD = FlatPlan(
    feasible=False, reasons=("It names no period.",), suggested_splits=("Winter 2022/23?", "Winter 2020/21?"),
    tier="deep", query_type="other", queries=(), claims=(),
)  # fmt: skip
NAMES = ("manager", "planner", "extractor", "reflector", "synthesizer", "challenger", "verifier", "judge")


class FlatWorker(Worker):
    """Plans flat runs too; what a script says about one input stands over what it would answer."""

    def __init__(self, flat=FLAT, **said):
        super().__init__()
        self.flat, self.said = flat, said

    def __call__(self, request):
        if isinstance(request.given, FlatPlanInput):
            return self.flat
        kind = type(request.given).__name__
        if kind in self.said:
            return self.said[kind](request) if callable(self.said[kind]) else self.said[kind]
        return super().__call__(request)


class Gate(ScriptedModel):
    """Holds extractors back until it is opened."""

    def __init__(self, worker):
        super().__init__(by_role=dict.fromkeys(NAMES, worker))
        self.open = asyncio.Event()

    async def reply(self, request, on_text=None):
        if request.role == "extractor":
            await self.open.wait()
        return await super().reply(request, on_text)


def scripted(flat=FLAT, **said):
    return ScriptedModel(by_role=dict.fromkeys(NAMES, FlatWorker(flat, **said)))


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
    from agents.api.ledger import Ledger
    from agents.api.site import Site
    from agents.team import ROLES, Team

    before, teams = server_app.state.dossier_site, []

    def place(model=None, searcher=None, jobs=None, **settings):
        team = Team(
            Settings(data_dir=tmp_path, model="offline", **settings),
            models=dict.fromkeys([role.name for role in ROLES], model or scripted()),
            searcher=searcher or world(),
            prompts=prompts,
            shelf=Shelf(tmp_path),
            sample=False,
            today=lambda: "2026-11-27",
            jobs=jobs,
        )
        teams.append(team)
        site = Site(team.settings, team, Ledger(team.settings.data_dir / "chat.db"))
        server_app.state.dossier_site = site
        return site

    yield place
    for team in teams:
        await team.close()
    server_app.state.dossier_site = before


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
        await site.state.entered(job.id)
        return job.id

    return start
