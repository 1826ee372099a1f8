"""`run_research`: a task in, an answer with its sources out. What `/run`, the OpenAI-compatible face and MCP call.

The smallest run of the product: the flat planner says what to search for, one executor searches, reads, reflects and
goes on until it suffices or a bound is reached, and the report is written inside the time.

A team whose jobs outlive the process, for programs beside the server: a command, a function call, an MCP tool.
"""

import asyncio
import threading
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from weakref import WeakSet

from pydantic import Field, ValidationError

from agents.contracts.contract import Agreement, Brief, Query
from agents.contracts.frozen import Frozen, Tier, TierOrigin, booked, digest
from agents.contracts.plan import Leaf
from agents.contracts.report import Commission, KeyedRequest
from agents.contracts.response import AgentResponse, FlatPlan, FlatPlanInput, PlanQuery, RunLimits
from agents.core.budget import Deadline
from agents.core.errors import BadRequest, NotFeasible
from agents.core.role import RoleAnswer
from agents.core.settings import Settings, load
from agents.core.time_policy import FLAT_PLANNING_SHARE, LEAST_RUN_S
from agents.jobs.config import InUse
from agents.jobs.contract_drafts import Whose, whose
from agents.jobs.job import Job
from agents.memory.knowledge import LOCAL_OWNER
from agents.nlp.tokens import language_of
from agents.offline.questions import asks_for_facts
from agents.report.wording import report_language
from agents.research.planning.drafting import Begun
from agents.research.planning.flat_plan import flat_leaf, flat_plan
from agents.research.planning.freeze_contract import TIERS, make_contract
from agents.research.reading.searching import Setting
from agents.research.recollection import asked_first
from agents.research.run_context import RunContext
from agents.research.scoping.turn import checked, seeds_in
from agents.roles import FLAT_MAX_QUERIES as MAX_QUERIES
from agents.roles import FLAT_MIN_QUERIES, FLAT_PLANNER, only_given_years
from agents.run_answer import answer
from agents.team import Team, open_team


class RunBounds(Frozen):
    """Bounds that a request may set; None leaves them to the environment, then to the tier."""

    max_iters: int | None = Field(default=None, ge=1, le=20, strict=True)
    """Rounds, at most."""
    max_queries: int | None = Field(default=None, ge=1, le=100, strict=True)
    """Searches over all rounds, at most."""
    max_sources: int | None = Field(default=None, ge=1, le=100, strict=True)
    """Documents read over all rounds, at most."""
    max_execution_time_s: float | None = Field(default=None, gt=0, le=86_400, allow_inf_nan=False, strict=True)
    """Seconds until the answer, planning and writing included."""
    memory: bool = True
    """Ask the knowledge base before the web, and keep what is found there."""


class RunOptions(RunBounds):
    """What a request asks for."""

    tier: Tier | None = None
    """Detected while planning when it is not given."""


SENT_S = 0.5
"""Seconds in which manager and planner are asked, while nothing else that is loaded wants the processor."""


async def run_research(
    task: str, *, max_iters: int | None = None, max_queries: int | None = None, max_sources: int | None = None,
    max_execution_time_s: float | None = None, complexity_tier: Tier | None = None, team: Team | None = None,
    owner: str = "",
) -> AgentResponse:  # fmt: skip
    """Research a task; a bound that is not given comes from the environment, else from the tier.

    Args:
        task: what shall be found out.
        max_iters: rounds, at most.
        max_queries: searches over all rounds, at most.
        max_sources: documents read over all rounds, at most.
        max_execution_time_s: seconds until the answer, planning and writing included.
        complexity_tier: bounds by name; detected while planning when it is not given.
        team: who does the work; without one, a team is set up from the settings and closed again. Its jobs are kept
            where no other process runs those of the data folder: what a call whose process died has paid for is not
            paid for again by the next call that asks for the same.
        owner: who may see the job.

    Raises:
        NotFeasible: the task is too broad for one run; carries reasons and narrower tasks.
        BadRequest: the task is empty or far too long, or a bound is out of its range.
        DossierError: the run ended without an answer.
    """
    bounds = {
        "max_iters": max_iters, "max_queries": max_queries, "max_sources": max_sources,
        "max_execution_time_s": max_execution_time_s,
    }  # fmt: skip
    try:
        wish = RunOptions.model_validate({**bounds, "tier": complexity_tier})
    except ValidationError as error:
        faults = (f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
        raise BadRequest(f"This run can't be made: {'; '.join(faults)}.") from None
    if team is None:
        async with durable_team(load()) as team:
            return await _run(team, task, wish, owner)
    return await _run(team, task, wish, owner)


async def _run(team: Team, task: str, wish: RunOptions, owner: str) -> AgentResponse:
    job = await taken_up(team, task, wish, owner)
    try:
        await job.settled()
    finally:
        # Whoever asked is gone: nobody could read the answer.
        team.jobs.leave(job)
    return answer(team, job)


async def begin(team: Team, task: str, wish: RunOptions, owner: str, request: KeyedRequest | None = None) -> Job:
    """Plan a run, and start it; under the caller's own key, unless a run was started under it already.

    What its owner knows already is not searched for while it is planned.

    Raises:
        NotFeasible: the task is too broad for one run.
        BadRequest: the task is empty or far too long.
        ModelError, BadOutput: the planner gave nothing usable.
    """
    started = team.clock()
    text = checked(task)
    context = team.context()
    memory = (owner or LOCAL_OWNER) if wish.memory else None
    asked_first(context, team.memory, memory, lambda: datetime.now(UTC))
    total = wish.max_execution_time_s or team.settings.max_execution_time_s
    known = total or TIERS[wish.tier or "simple"].minutes * 60
    # What it began to search for is the job's: nothing is closed here.
    mine = whose(Agreement(memory=memory), text)
    asked = await _planned(team, context, text, wish, Deadline.within(FLAT_PLANNING_SHARE * known), mine)
    drafted = asked.output
    distinct = {one.query.casefold(): flat_leaf(one.query, one.intent) for one in reversed(drafted.queries)}
    leaves = drafted.leaves or tuple([*distinct.values()][::-1][:MAX_QUERIES])
    tier = wish.tier or drafted.tier
    limits = limits_of(tier, wish, team.settings)
    left = max(LEAST_RUN_S, limits.max_execution_time_s - (team.clock() - started))
    query = Query(text=text, feasible=True, reason="One short run settles it.", depth_estimate=1)
    brief = Brief(
        question=text, queries=(query,), query_type=drafted.query_type, tier=tier,
        language=report_language(text, language_of(text, asked=True) if drafted.leaves else ""),
        minutes=min(1440.0, limits.max_execution_time_s / 60), seed_urls=seeds_in(text),
        max_cost_usd=team.settings.max_cost_usd, memory=memory, today=team.today(),
    )  # fmt: skip
    plan = flat_plan(text, leaves, tier, limits, seed_urls=brief.seed_urls, claims=drafted.claims)
    bounds = team.means.limits.model_copy(
        update={"depth": 1, "leaves": MAX_QUERIES, "rounds": limits.max_iters, "searches": limits.max_queries,
                "sources": limits.max_sources}
    )  # fmt: skip
    means = team.means.model_copy(update={"limits": bounds})
    contract = make_contract(brief, (plan,), means, retrievers=context.searched, pace=context.pace())
    caps = contract.caps.model_copy(update={"minutes": left / 60})
    contract = contract.model_copy(update={"spent": booked(asked.as_spent()), "caps": caps})
    origin: TierOrigin = "request" if wish.tier else "detected"
    planning_s = team.clock() - started
    commission = Commission(contract=contract, request=request, tier_origin=origin, planning_s=planning_s)
    return await team.commission(commission, owner=owner)


def limits_of(tier: Tier, wish: RunOptions, settings: Settings) -> RunLimits:
    """Bound a run: the request's figures over the environment's over those of the tier."""
    bounds = TIERS[tier]
    return RunLimits(
        max_iters=wish.max_iters or settings.max_iters or settings.max_researcher_iterations or bounds.rounds,
        max_queries=wish.max_queries or settings.max_queries or bounds.searches,
        max_sources=wish.max_sources or settings.max_sources or bounds.sources,
        max_execution_time_s=wish.max_execution_time_s or settings.max_execution_time_s or bounds.minutes * 60,
    )


async def _planned(
    team: Team, context: RunContext, task: str, wish: RunOptions, until: Deadline, mine: Whose
) -> RoleAnswer[FlatPlan]:
    """Ask the flat planner; what asks for a few facts is planned without a model."""
    if asks_for_facts(task):
        context = context.by_code(FLAT_PLANNER.name)
    given = FlatPlanInput(
        task=task, tier=wish.tier, max_queries=wish.max_queries or team.settings.max_queries or MAX_QUERIES,
        survey=await context.survey(task), language=language_of(task, asked=True), today=context.today,
    )  # fmt: skip
    most = min(FLAT_MIN_QUERIES, given.max_queries)
    begun = Begun(context, Setting(query=task, today=context.today), most, partial(_leaf_of, given))
    if context.models[FLAT_PLANNER.name].reasons and (ahead := team.drafts.look_ahead(mine)) is not None:
        context.look_ahead(ahead).allow()
    asked: RoleAnswer[FlatPlan] = await context.ask(FLAT_PLANNER, given, until, draft=begun.take)
    if asked.output.leaves == ():
        raise BadRequest(asked.output.reasons[0])
    if not asked.output.feasible or not (asked.output.leaves or asked.output.queries):
        raise NotFeasible(asked.output.reasons, asked.output.suggested_splits)
    return asked


def _leaf_of(given: FlatPlanInput, line: str) -> Leaf:
    planned = only_given_years(given, PlanQuery.model_validate_json(line))
    return flat_leaf(planned.query, planned.intent)


async def taken_up(team: Team, task: str, wish: RunOptions, owner: str) -> Job:
    """Go on with a run of the same task that a former process left unfinished; else plan and start one.

    Raises:
        DossierError: as `begin`.
    """
    fingerprint = digest(f"run\n{task.strip()}\n{wish.model_dump_json()}")
    for job in team.jobs.of(owner):
        request = job.commission.request
        left = job.status in {"queued", "running"} and job not in _ATTENDED
        if request is not None and request.fingerprint == fingerprint and left:
            _ATTENDED.add(job)
            return job
    request = KeyedRequest(key=f"run/{uuid.uuid4().hex}", fingerprint=fingerprint)
    job = await begin(team, task, wish, owner, request)
    _ATTENDED.add(job)
    return job


_ATTENDED: WeakSet[Job] = WeakSet()
"""Runs that somebody in this process waits for: who asks for the same gets a run of their own."""


_ENGINE = threading.Lock()
"""The engine of durable jobs is one per process: the jobs of teams beside the first live in memory."""


@asynccontextmanager
async def durable_team(
    settings: Settings, say: Callable[[str], None] = lambda _: None, *, at_once: bool = False
) -> AsyncIterator[Team]:
    """Open a team whose jobs outlive this process, and close it again.

    Jobs that a former process left go on. Where another process runs the jobs of the data folder, or another team of
    this one does, this team's jobs live in memory; their reports are saved all the same.

    `say` is told in one sentence when they live in memory because another process has the folder. With `at_once` the team is
    given before its jobs can be started (`Team.ready`): a question can be judged meanwhile.

    Raises:
        ConfigError: a setting can't be used.
    """
    first = _ENGINE.acquire(blocking=False)
    try:
        # In a folder, texts are where they are whoever runs the jobs; in a database they need the store from the start.
        in_folder = not settings.database_url.get_secret_value()
        team = open_team(settings, durable=first and not in_folder)
        team.opening = asyncio.create_task(
            _open_store(team, say, kept=first and in_folder, after_s=SENT_S if at_once else 0)
        )
        try:
            if not at_once:
                await team.ready()
            yield team
        finally:
            await asyncio.wait({team.opening})
            await team.close()
    finally:
        if first:
            _ENGINE.release()


async def _open_store(team: Team, say: Callable[[str], None], *, kept: bool, after_s: float) -> None:
    await asyncio.sleep(after_s)
    try:
        await (team.keep_jobs() if kept else team.open())
    except InUse as error:
        say(f"{error.other} runs the jobs of this folder; this run ends with its own process.")
