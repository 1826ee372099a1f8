"""Whole runs on scripts: no network, no model, no clock that moves by itself."""

import pytest

from agents.contracts.contract import PaceSeen
from agents.contracts.report import Commission, Outcome
from agents.core.budget import Budget, Limits
from agents.core.errors import SourceError
from agents.core.port import ProcessLimits
from agents.core.prompts import load
from agents.jobs.attempt import Attempt
from agents.research.pipeline import Means, handlers_of
from agents.research.planning.flat_plan import bounded
from agents.research.run_context import RunContext
from tests.scripts import BRIEF, ROLES, working_model, world


class MemoryTexts:
    """Texts by digest, in memory."""

    def __init__(self):
        self.texts = {}

    async def put(self, text):
        from agents.contracts.frozen import digest

        self.texts[digest(text)] = text
        return digest(text)

    async def get(self, text_hash):
        if text_hash not in self.texts:
            raise SourceError(text_hash, "its stored copy is gone")
        return self.texts[text_hash]


class Bench:
    """One job, ready to run and to run again from its record."""

    def __init__(
        self,
        model=None,
        searcher=None,
        means=None,
        seconds=300.0,
        clock=None,
        per_job=6,
        caps=None,
        pace=None,
        fallback=None,
        **limits,
    ):
        self.model, self.searcher = model or working_model(), searcher or world()
        self.means = means or Means()
        self.texts, self.brief = MemoryTexts(), BRIEF
        self.limits = Limits(seconds=seconds, **limits)
        self.clock = clock or (lambda: 0.0)
        self.per_job, self.caps, self.pace, self.fallback = per_job, caps, pace or PaceSeen(), fallback

    def handlers(self):
        self.context = context = RunContext(
            models=dict.fromkeys(ROLES, self.model), prompts=load(), searcher=self.searcher, texts=self.texts,
            today="2026-11-27", pace=lambda: self.pace, fallback=self.fallback, agreed=self.brief,
        )  # fmt: skip
        handlers = handlers_of(context, self.means)
        return bounded(handlers, self.caps) if self.caps else handlers

    def job(self, record=None):
        handlers = self.handlers()
        return Attempt(
            job_id="test", handlers=handlers, steering=self.context.steering, budget=Budget(self.limits, name="job"), clock=self.clock,
            limits=ProcessLimits(), per_job=self.per_job, record=dict(record or {}),
        )  # fmt: skip

    async def run(self, brief=BRIEF, record=None):
        self.brief = brief
        self.last = self.job(record)
        return await self.last.run("research", Commission(brief=brief), Outcome)


@pytest.fixture
def bench():
    return Bench


def team_on_scripts(folder, model=None, searcher=None, settings=None, clock=None):
    from agents.core.settings import Settings
    from agents.jobs.blob_store import BlobStore
    from agents.team import ROLES as ASKED_ROLES
    from agents.team import Team
    from tests.flat import scripted

    return Team(
        Settings(data_dir=folder, model="offline", **(settings or {})),
        models=dict.fromkeys([role.name for role in ASKED_ROLES], model or scripted()),
        searcher=searcher or world(),
        prompts=load(),
        blobs=BlobStore(folder),
        sample=False,
        today=lambda: "2026-11-27",
        **({"clock": clock} if clock else {}),
    )


@pytest.fixture
async def asking(tmp_path):
    """Ask `run_research` of a team on scripts; returns the answer and the team."""
    from agents.run_research import run_research
    from tests.flat import TASK

    teams = []

    async def ask(model=None, searcher=None, task=TASK, settings=None, clock=None, **bounds):
        team = team_on_scripts(tmp_path, model, searcher, settings, clock)
        teams.append(team)
        return await run_research(task, team=team, **bounds), team

    yield ask
    for team in teams:
        await team.close()
