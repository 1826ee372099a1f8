"""Turning a setting changes what a user gets, wherever the question came from: chat and command line, jobs, `/run`."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from agents.contracts.finding import Section
from agents.contracts.plan import ReflectionResponse
from agents.contracts.report import Commission
from agents.contracts.verification import Judgement, Verified, VerifiedRow
from agents.core.prompts import load
from agents.core.settings import Settings
from agents.jobs.blob_store import BlobStore
from agents.research.scoping.turn import ScopingState
from agents.run_research import run_research
from agents.team import ROLES, Team
from tests.flat import FLAT, TASK, FlatWorker, Gate
from tests.scripted_model import ScriptedModel
from tests.scripts import BRIEF, leaf, tree, under, world

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


def _says_confidence(job):
    """Tell whether the judge's answer names the confidence."""
    notes = [one.event.note for one in job.run.events if one.event.kind == "job" and one.event.status == "blocked"]
    return any("The report confidence is" in note for note in notes)


def _blocked(job):
    return job.status == "blocked"


def _branches_at_once(job):
    """Count how many leaves of the plan are between searching and what ends it, at most."""
    at_work, most = set(), 0
    for event in (one.event for one in job.run.events):
        if event.kind == "node" and event.role == "leaf" and event.node.startswith("job/0/"):
            (at_work.add if event.state == "searching" else at_work.discard)(event.node)
            most = max(most, len(at_work))
    return most


class Metered(ScriptedModel):
    """Charges each call, and knows how many were made at once."""

    at_once = most = 0

    async def reply(self, request, on_text=None):
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        await asyncio.sleep(0.01)
        self.at_once -= 1
        made = await super().reply(request, on_text)
        return replace(made, usage=made.usage.model_copy(update={"cost_usd": 0.01}))


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
    said: dict = field(default_factory=dict)
    """What the model answers by kind of input."""


WORDY = {
    "SectionInput": lambda request: Section(
        markdown=" ".join(f"Sadly, {one.statement}[f{one.number}]" for one in request.given.facts)
    ),
    "VerifyInput": lambda request: Verified(
        rows=tuple(VerifiedRow(number=one.number, verdict="partly") for one in request.given.sentences)
    ),
    "JudgeInput": Judgement(verdict="approve", reasons=()),
}
NEVER = {"ReflectionInput": MORE}
DEEP = tree(
    *under("Winters", leaf("Closures", "On how many days was the Orvane ferry line closed in winter?"),
           leaf("Costs", "What did the Orvane winter service cost?")),
    leaf("Passengers", "How many passengers did the Orvane ferry carry?"),
)  # fmt: skip
EVERYWHERE = ("chat", "job", "run")
"""Where the bounds of a run are made in different ways; all else is one and the same for all of them."""
# Three searches are those of the plan: none is left for what speaks against a claim.
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
    Turned("depth", {"max_depth": 1}, lambda job: job.contract.plans[0].root.depth(), 1, said={"PlanningInput": DEEP}),
    Turned("results that a writer is shown", {"context_results": 1}, lambda job: len(set(job.report.body.facts())) <= 3, True),
    Turned("money", {"max_cost_usd": 0.02}, lambda job: job.report.methodology.actual.model_calls < 9, True),
    Turned("calls at once", {"max_concurrency": 1}, lambda job: job.most_at_once, 1),
    Turned("branches at once", {"max_concurrent_research_units": 1}, _branches_at_once, 1),
    Turned("early termination", {"enable_early_termination": False}, _tagged("#EARLY_STOP"), False, said=NEVER),
    Turned("novelty", {"min_novelty_threshold": 0.0}, _tagged("#EARLY_STOP"), False, said=NEVER),
    Turned("likeness of topics", {"duplicate_topic_similarity_threshold": 1.0}, lambda job: bool(job.report.methodology.skipped_topics), False, said=NEVER),
    *(Turned(name, {name: NO_GATE[name]}, _enough, True, {"max_queries": 3} | {one: NO_GATE[one] for one in NO_GATE if one != name}) for name in NO_GATE),
    Turned("confidence", {"min_report_confidence": 100.0}, lambda job: job.report.grade, "partial", NO_GATE),
    Turned("verifiable ratio", {"min_verifiable_ratio": 0.5}, _gate("verifiable ratio"), 0.5),
    Turned("judge", {"require_judge": True, "judge_min_claims": 99}, _blocked, True),
    Turned("judge_min_report_confidence", {"judge_min_report_confidence": 100}, _says_confidence, True, NO_JUDGE),
    Turned("judge_require_counter_evidence", {"judge_require_counter_evidence": True}, _blocked, True, NO_JUDGE | {"max_queries": 3}),
    Turned("judge_min_verifiable_ratio", {"judge_min_verifiable_ratio": 1.0}, _blocked, True, NO_JUDGE, said=WORDY),
    *(
        Turned(f"judge_{name}", {f"judge_{name}": value}, _blocked, True, NO_JUDGE)
        for name, value in (
            ("min_claims", 99), ("min_evidence_per_claim", 99), ("min_distinct_domains_per_claim", 99),
        )
    ),
)  # fmt: skip


USUAL = {}
"""What is got before a setting is turned: the same job for all settings that begin with the same ones."""


async def asked(face, folder, settings, said):
    """Ask the same question of a team with these settings; gives the job behind the answer."""
    model = Metered(by_role=dict.fromkeys([role.name for role in ROLES], FlatWorker(FLAT, **said)))
    team = Team(
        Settings(data_dir=folder, model="offline", memory=False, **settings), models=dict.fromkeys([role.name for role in ROLES], model),
        searcher=world(), prompts=load(), blobs=BlobStore(folder), sample=False, today=lambda: "2026-11-27",
    )  # fmt: skip
    try:
        match face:
            case "chat":  # the command line has the same way in
                settled = await team.settle(ScopingState(minutes=team.usual_minutes), TASK)
                job = await team.start(settled.contract)
            case "job":
                job = await team.commission(Commission(brief=BRIEF.model_copy(update={"minutes": team.usual_minutes})))
            case _:
                await asyncio.wait_for(run_research(TASK, team=team, complexity_tier="standard"), 60)
                (job,) = team.jobs.of()
        await asyncio.wait_for(job.settled(), 60)
        job.most_at_once = model.most
        return job
    finally:
        await team.close()


@pytest.mark.parametrize(
    ("one", "face"), [pytest.param(one, face, id=f"{one.name}-{face}") for one in TURNED for face in one.faces]
)
async def test_turning_a_setting_changes_what_a_user_gets(one, face, tmp_path):
    usual = (face, str(one.beside), *map(id, one.said.values()))
    before = USUAL[usual] = USUAL.get(usual) or await asked(face, tmp_path / "a", one.beside, one.said)
    after = await asked(face, tmp_path / "b", one.beside | one.settings, one.said)
    assert one.seen(after) == one.expected
    assert one.seen(before) != one.expected


@pytest.mark.parametrize("most", [1, 2])
async def test_a_process_runs_as_many_jobs_at_once_as_its_setting_says(most, tmp_path):
    model = Gate(FlatWorker())
    team = Team(
        Settings(data_dir=tmp_path, model="offline", memory=False, worker_jobs=most),
        models=dict.fromkeys([role.name for role in ROLES], model), searcher=world(), prompts=load(),
        blobs=BlobStore(tmp_path), sample=False, today=lambda: "2026-11-27",
    )  # fmt: skip
    await team.keep_jobs()
    jobs = [await team.commission(Commission(brief=BRIEF)) for _ in range(2)]
    async with asyncio.timeout(30):
        while not model.asked:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.5)
    assert sum(job.status == "running" for job in jobs) == most
    model.open.set()
    for job in jobs:
        await asyncio.wait_for(job.wait(), 60)
    await team.close()
