"""Turning a setting changes what a user gets, wherever the question came from: chat and command line, jobs, `/run`."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from agents.contracts.plan import ReflectionResponse
from agents.core.prompts import load
from agents.core.settings import Settings
from agents.jobs.blob_store import BlobStore
from agents.research.scoping.turn import ScopingState
from agents.run_research import run_research
from agents.team import ROLES, Team
from tests.flat import FLAT, TASK, FlatWorker
from tests.scripted_model import ScriptedModel
from tests.scripts import BRIEF, world

MORE = ReflectionResponse(
    sufficient=False, confidence=0.2, gaps=("one more winter",),
    new_queries=("How thick was the Orvane ice in May?", "What did the Orvane winter service cost altogether?"),
)  # fmt: skip


def _tagged(tag):
    return lambda job: tag in {one.tag for one in job.report.methodology.tags}


def _rounds(job):
    return job.report.phase_state.research.iteration.max


def _enough(job):
    return next(one.passed for one in job.report.gates if one.name == "claims with enough evidence")


def _gate(name):
    return lambda job: next(one.wanted for one in job.report.gates if one.name == name)


def _blocked(job):
    return job.status == "blocked"


def _leaves(job):
    return sum(row.role == "leaf" and "/r" not in row.path for row in job.report.nodes)


@dataclass(frozen=True)
class Turned:
    """Settings, and by what a reader sees them."""

    name: str
    settings: dict
    seen: Callable
    expected: object
    beside: dict = field(default_factory=dict)
    """Settings that stand in both runs."""
    faces: tuple[str, ...] = ("job",)
    never_enough: bool = False


EVERYWHERE = ("chat", "job", "run")
"""Where the bounds of a run are made in different ways; all else is one and the same for all of them."""
NO_GATE = {"min_evidence_per_claim": 0, "min_distinct_domains_per_claim": 0, "require_counter_evidence": False}
NO_JUDGE = {"require_judge": True, "judge_min_evidence_per_claim": 0, "judge_min_distinct_domains_per_claim": 0,
            "judge_require_counter_evidence": False, "judge_min_report_confidence": 0, "judge_min_verifiable_ratio": 0}  # fmt: skip
TURNED = (
    Turned("rounds", {"max_iters": 1}, _rounds, 1, faces=EVERYWHERE),
    Turned("rounds by their other name", {"max_researcher_iterations": 1}, _rounds, 1),
    Turned("searches", {"max_queries": 1}, lambda job: job.report.methodology.searches, 1, faces=EVERYWHERE),
    Turned("sources", {"max_sources": 1}, lambda job: job.report.methodology.sources_read, 1),
    Turned("searches of a leaf", {"max_react_tool_calls": 1}, lambda job: job.contract.caps.searches_per_leaf, 1),
    Turned("time", {"max_execution_time_s": 30.0}, lambda job: job.report.phase_state.research.time_budget.total_minutes <= 0.5, True, faces=EVERYWHERE),
    Turned("tokens", {"token_budget": 1000}, _tagged("#TOKEN_LIMIT"), True),
    Turned("leaves", {"max_leaves": 1}, _leaves, 1, faces=("chat",)),
    Turned("early termination", {"enable_early_termination": False}, _tagged("#EARLY_STOP"), False, never_enough=True),
    Turned("novelty", {"min_novelty_threshold": 0.0}, _tagged("#EARLY_STOP"), False, never_enough=True),
    Turned("likeness of topics", {"duplicate_topic_similarity_threshold": 1.0}, lambda job: bool(job.report.methodology.skipped_topics), False, never_enough=True),
    *(Turned(name, {name: NO_GATE[name]}, _enough, True, {one: NO_GATE[one] for one in NO_GATE if one != name}) for name in NO_GATE),
    Turned("confidence", {"min_report_confidence": 100.0}, lambda job: job.report.grade, "partial", NO_GATE),
    Turned("verifiable ratio", {"min_verifiable_ratio": 0.5}, _gate("verifiable ratio"), 0.5),
    Turned("judge", {"require_judge": True, "judge_min_claims": 99}, _blocked, True),
    *(
        Turned(f"judge_{name}", {f"judge_{name}": value}, _blocked, True, NO_JUDGE)
        for name, value in (
            ("min_claims", 99), ("min_evidence_per_claim", 99), ("min_distinct_domains_per_claim", 99),
            ("require_counter_evidence", True), ("min_report_confidence", 100),
        )
    ),
)  # fmt: skip


async def asked(face, folder, settings, *, never_enough):
    """Ask the same question of a team with these settings; gives the job behind the answer."""
    said = {"ReflectionInput": MORE} if never_enough else {}
    model = ScriptedModel(by_role=dict.fromkeys([role.name for role in ROLES], FlatWorker(FLAT, **said)))
    team = Team(
        Settings(data_dir=folder, model="offline", memory=False, **settings), models=dict.fromkeys([role.name for role in ROLES], model),
        searcher=world(), prompts=load(), blobs=BlobStore(folder), sample=False, today=lambda: "2026-11-27",
    )  # fmt: skip
    try:
        match face:
            case "chat":  # the command line has the same way in
                settled = await team.settle(ScopingState(minutes=team.usual_minutes), TASK)
                job = team.start(settled.contract)
            case "job":
                job = team.commission(BRIEF.model_copy(update={"minutes": team.usual_minutes}))
            case _:
                await asyncio.wait_for(run_research(TASK, team=team, complexity_tier="standard"), 60)
                (job,) = team.jobs.of()
        await asyncio.wait_for(job.settled(), 60)
        return job
    finally:
        await team.close()


@pytest.mark.parametrize(
    ("one", "face"), [pytest.param(one, face, id=f"{one.name}-{face}") for one in TURNED for face in one.faces]
)
async def test_turning_a_setting_changes_what_a_user_gets(one, face, tmp_path):
    before = await asked(face, tmp_path / "a", one.beside, never_enough=one.never_enough)
    after = await asked(face, tmp_path / "b", one.beside | one.settings, never_enough=one.never_enough)
    assert one.seen(after) == one.expected
    assert one.seen(before) != one.expected
