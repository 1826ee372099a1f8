"""The root of a job: plan if need be, run every query side by side, frame what came of it."""

import logging
from functools import partial

from agents.contracts.contract import Brief, PaceSeen
from agents.contracts.finding import Finding, Problem
from agents.contracts.frozen import Spent
from agents.contracts.plan import Plan
from agents.contracts.report import Commission, Outcome
from agents.contracts.verification import Judgement, Truth
from agents.core.budget import Limits as Spending
from agents.core.budget import Usage
from agents.core.errors import DossierError, StepFailed
from agents.core.events import Charged, Event, JobChanged, Planned, RoleAsked
from agents.core.port import Ctx, Handler, computed, together
from agents.research.challenge.challenge import run_challenge, run_claim
from agents.research.challenge.claim_ledger import planned_claims
from agents.research.loop.after_reading import verdict_line
from agents.research.loop.branch_retry import Again, ended, without
from agents.research.loop.loop_decision import LoopSettings, parts_in
from agents.research.loop.node import run_node
from agents.research.planning.drafting import run_draft
from agents.research.planning.freeze_contract import Means, make_contract
from agents.research.reading.leaf import run_leaf
from agents.research.reading.read_sources import run_source
from agents.research.reading.scout_sweep import run_scout
from agents.research.reading.searching import ClosingTask, NodeGiven, Setting, teller
from agents.research.run_context import RunContext
from agents.research.scoping.turn import judged_and_planned
from agents.research.writing.closing import (
    RootFinding,
    close,
    is_degraded,
    only_section,
    run_end,
    surprises,
    write_frame,
)
from agents.research.writing.sections import run_section
from agents.research.writing.truthful import NO_VERDICT, ToCheck, checked, rewritten, run_check
from agents.research.writing.verify_report import Checks

log = logging.getLogger(__name__)


class PaidBefore(Charged):
    """What models took before there was a job: booked on it as a step, and told like every other call."""

    spent: Spent

    def as_event(self, node: str) -> Event:
        return RoleAsked(node=node, prompt="", **self.spent.model_dump())


async def paid_before(spent: Spent) -> PaidBefore:
    """Book what scoping and planning took: the body of a step."""
    return PaidBefore(spent=spent, usage=spent.usage)


async def searched_in_vain(context: RunContext, planned: frozenset[str]) -> Charged:
    """Book searches that were begun for a plan which then became another one: the body of a step."""
    made = context.ahead.made if context.ahead else set[str]()
    return Charged(usage=Usage(searches=len(made - planned)))


def handlers_of(context: RunContext, means: Means) -> dict[str, Handler]:
    """Give the handlers of all kinds of branches."""
    kinds: dict[str, Handler] = {
        "node": run_node, "leaf": run_leaf, "scout": run_scout, "source": run_source, "section": run_section,
        "end": run_end, "challenge": run_challenge, "claim": run_claim,
    }  # fmt: skip
    return {
        **{kind: partial(run, context) for kind, run in kinds.items()},
        "research": partial(carry_out, context, means), "draft": partial(run_draft, context, means.limits),
        "check": partial(run_check, context, reasons=means.reasons),
    }  # fmt: skip


async def carry_out(context: RunContext, means: Means, ctx: Ctx, given: Commission) -> Outcome:
    """Run a commission from plan to outcome."""
    contract = given.contract
    if contract is None:
        ctx.emit("stage:planning", JobChanged(status="running", stage="planning"))
        brief, plans, limits = await judged_and_planned(ctx, context, given, means.limits, means.planner_window_s)
        surroundings = means.model_copy(update={"limits": limits})
        pace = await ctx.call("pace", "0", computed, context.pace, gives=PaceSeen, pool="local")
        contract = make_contract(
            brief, plans, surroundings, retrievers=context.searched, pace=pace, challenge=given.challenge
        )
        ctx.emit(f"contract:{contract.hash}", Planned(contract=contract))
    paid = [(f"{one.role} {one.model} {one.stood_in_for}".strip(), one) for one in contract.spent]
    await ctx.fan("before", paid_before, paid, gives=PaidBefore, pool="local")
    planned = frozenset(text for plan in contract.plans for leaf in plan.root.leaves() for text in leaf.searches)
    ahead = await ctx.call("ahead", "0", searched_in_vain, context, planned, gives=Charged, pool="local")
    context.in_vain = ahead.usage.searches
    brief = contract.brief
    ctx.emit("stage:collecting", JobChanged(status="running", stage="collecting"))
    several = len(contract.plans) > 1
    caps = contract.caps
    bounds = {"max_rounds": caps.rounds, "searches_per_leaf": caps.searches_per_leaf}
    loop = means.loop.model_copy(update=bounds)
    # The offline engine writes its frame in no time, out of the sections.
    early = ClosingTask(contract=contract, challenge=given.challenge, wanted=means.thresholds)
    items = [
        (str(number), _root(plan, brief, loop, None if several or not means.reasons else early, several))
        for number, plan in enumerate(contract.plans)
    ]
    for key, root in items:
        teller(ctx, "query", root.title, f"{ctx.path}/{key}")("queued", "", f"queued:{key}")
    results = await ctx.children("node", items, gives=RootFinding)
    settings = tuple(root.setting for _, root in items)
    found: list[Finding] = [
        ended(f"{ctx.path}/{key}", root.title, "query", result) if isinstance(result, StepFailed) else result
        for (key, root), result in zip(items, results, strict=True)
    ]
    again = Again(ctx)
    for key, root in items:
        again.ran("node", key, root)
    await again.run(found, lambda _: Spending())
    findings = tuple(without(finding, ctx.dropped) for finding in found)
    try:
        return await _completed(context, means, ctx, early, findings, settings)
    except Exception as error:  # a fault of ours, anywhere below: what was found is still a report
        log.exception("salvaging what was found: %s", ctx.path)
        fault = Problem(where=ctx.path, type=type(error).__name__, message=DossierError.notice, retryable=True)
        held = Judgement(verdict="request_changes", reasons=(NO_VERDICT.format(why=fault.message),))
        return Outcome(
            contract=contract, findings=findings, frame=None, problems=(fault,),
            truth=Truth(judgement=held if means.require_judge else None),
            tags=_tags(ctx, findings, is_degraded(findings)),
        )  # fmt: skip


async def _completed(
    context: RunContext, means: Means, ctx: Ctx, closing: ClosingTask, findings: tuple[Finding, ...],
    settings: tuple[Setting, ...],
) -> Outcome:  # fmt: skip
    """Challenge and check what was found, frame it, and write anew where the challenge moves a verdict."""
    contract, brief = closing.contract, closing.contract.brief
    # The frame and the search against the claims need no section, the check of the sections no frame. Only where the
    # challenge moves a verdict that no writer was told of is anything written again.
    closed_early = findings[0].closed if isinstance(findings[0], RootFinding) and not ctx.dropped else None
    checking = ctx.children("check", [("check", ToCheck(contract=contract, findings=findings))], gives=Checks)
    if closed_early is not None:
        closed, known = closed_early, await checking
    else:
        closed_now = close(ctx, context, closing, findings, settings)
        closed, known = await together(closed_now, checking)
    challenged, frame, problems = closed.challenged, closed.frame, closed.problems
    frame = only_section(findings, brief) or frame
    counter = tuple(one.finding for one in challenged if one.finding is not None)
    degraded = is_degraded((*findings, *counter))
    if surprises(challenged, closed.told):
        claims = tuple(verdict_line(done.claim) for one in challenged for done in one.claims)
        rewriting = rewritten(ctx, context, findings, challenged, contract)
        framing = write_frame(ctx, context, contract, (findings, counter), claims, degraded, key="again")
        findings, (anew, failed) = await together(rewriting, framing)
        frame, problems = only_section(findings, brief) or anew or frame, (*problems, *failed)
    outcome = Outcome(
        counter=counter, contract=contract, findings=findings, frame=frame, problems=problems,
        tags=_tags(ctx, findings, degraded),
        seed_failures=tuple({
            one.url: f"{one.url}: {one.reason}"
            for part in parts_in(findings)
            for one in part.rejected
            if one.url in brief.seed_urls and not one.read
        }.values()),
    )  # fmt: skip
    judge = means.judge_thresholds if means.require_judge else None
    checks = known[0].checks if isinstance(known[0], Checks) else ()
    return await checked(ctx, context, outcome, challenged, means.thresholds, judge, checks, reasons=means.reasons)


def _root(plan: Plan, brief: Brief, loop: LoopSettings, closing: ClosingTask | None, several: bool) -> NodeGiven:
    setting = Setting.of(plan.query, brief).model_copy(update={"loop": loop, "claims": planned_claims(plan)})
    # With one query the frame is written over these very sections: a lead would say the same twice.
    return NodeGiven(node=plan.root, setting=setting, role="query", lead=several, closing=closing, title=plan.query)


def _tags(ctx: Ctx, findings: tuple[Finding, ...], degraded: bool) -> tuple[str, ...]:
    """Collect the response-awareness tags that the run raises; others follow from its report (see `report/document.py`)."""
    parts = parts_in(findings)
    problems = {problem.type for part in parts for problem in part.problems}
    raised = {record.tag for part in parts for record in part.rounds}
    stopped = any(part.status == "stopped" and not part.ended and not part.children for part in parts)
    applies = {
        "#RETRY_EXHAUSTED": any(entry.status == "exhausted" for part in parts for entry in part.attempts),
        "#TIME_LIMIT": "#TIME_LIMIT" in raised or (stopped and ctx.collecting_left == 0),
        "#ITERATION_LIMIT": "#ITERATION_LIMIT" in raised and any(part.open_questions for part in parts if part.rounds),
        "#TOKEN_LIMIT": "BudgetExceeded" in problems,
        "#EARLY_STOP": "#EARLY_STOP" in raised or ctx.finishing,
        "#DEGRADED_SEARCH": degraded,
        "#PATH_DECISION": any(part.engine_note for part in parts),
    }
    return tuple(tag for tag, holds in applies.items() if holds)
