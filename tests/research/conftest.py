"""Whole runs on scripts: no network, no model, no clock that moves by itself."""

import pytest

from agents.budget import Budget, Limits
from agents.contracts.outcome import Commission, Outcome
from agents.jobs.limits import ProcessLimits
from agents.jobs.memory import JobRun
from agents.prompts import load
from agents.research.challenging import challenge_handler, claim_handler
from agents.research.desk import Desk
from agents.research.drafting import plan_level_handler
from agents.research.job import Means, draft_handler, research_handler
from agents.research.leaf import leaf_handler
from agents.research.node import node_handler
from agents.research.reading import source_handler
from agents.research.scouting import scout_handler
from tests.scripts import BRIEF, ROLES, working_model, world


class MemoryTexts:
    """Texts by digest, in memory."""

    def __init__(self):
        self.texts = {}

    async def put(self, text):
        from agents.contracts.base import digest

        self.texts[digest(text)] = text
        return digest(text)

    async def get(self, text_hash):
        return self.texts[text_hash]


class Bench:
    """One job, ready to run and to run again from its record."""

    def __init__(self, model=None, searcher=None, means=None, seconds=300.0, clock=None, per_job=6, **limits):
        self.model, self.searcher = model or working_model(), searcher or world()
        self.means = means or Means()
        self.texts = MemoryTexts()
        self.limits = Limits(seconds=seconds, **limits)
        self.clock = clock or (lambda: 0.0)
        self.per_job = per_job

    def handlers(self):
        self.desk = desk = Desk(
            models=dict.fromkeys(ROLES, self.model), prompts=load(), searcher=self.searcher, texts=self.texts,
            today="2026-11-27",
        )  # fmt: skip
        return {
            "research": research_handler(desk, self.means),
            "draft": draft_handler(desk, self.means),
            "plan": plan_level_handler(desk),
            "node": node_handler(desk),
            "leaf": leaf_handler(desk),
            "scout": scout_handler(desk),
            "source": source_handler(desk),
            "challenge": challenge_handler(desk),
            "claim": claim_handler(desk),
        }

    def job(self, record=None):
        handlers = self.handlers()
        return JobRun(
            job_id="test", handlers=handlers, steering=self.desk.steering, budget=Budget(self.limits, name="job"), clock=self.clock,
            limits=ProcessLimits(), per_job=self.per_job, record=dict(record or {}),
        )  # fmt: skip

    async def run(self, brief=BRIEF, record=None):
        self.last = self.job(record)
        return await self.last.run("research", Commission(brief=brief), Outcome)


@pytest.fixture
def bench():
    return Bench


@pytest.fixture
async def asking(tmp_path):
    """Ask `run_research` of a team on scripts; returns the answer and the team."""
    from agents.jobs.shelf import Shelf
    from agents.run_research import run_research
    from agents.settings import Settings
    from agents.team import ROLES as ASKED_ROLES
    from agents.team import Team
    from tests.flat import TASK, scripted

    teams = []

    async def ask(model=None, searcher=None, task=TASK, settings=None, clock=None, **bounds):
        team = Team(
            Settings(data_dir=tmp_path, model="offline", **(settings or {})),
            models=dict.fromkeys([role.name for role in ASKED_ROLES], model or scripted()),
            searcher=searcher or world(),
            prompts=load(),
            shelf=Shelf(tmp_path),
            sample=False,
            today=lambda: "2026-11-27",
            **({"clock": clock} if clock else {}),
        )
        teams.append(team)
        return await run_research(task, team=team, **bounds), team

    yield ask
    for team in teams:
        await team.close()
