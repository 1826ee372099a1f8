"""The root of a job: plan if need be, run every query side by side, frame what came of it."""

import asyncio
import logging

from agents.contracts.contract import Brief, Contract
from agents.contracts.finding import AnsweredBy, Finding, Frame, FrameInput, Problem
from agents.contracts.frozen import Frozen
from agents.contracts.plan import Plan, PlannedClaim
from agents.contracts.report import Commission, Outcome
from agents.core.budget import Limits as Spending
from agents.core.errors import DossierError, StepFailed
from agents.core.events import JobChanged, NodeChanged, Planned
from agents.core.port import Ctx, Handler, together
from agents.core.role import RoleAnswer
from agents.core.time_policy import FRAME_SHARE
from agents.research.challenge.claim_ledger import planned_claims
from agents.research.challenge.gates import Thresholds
from agents.research.loop.after_reading import at_hand, verdict_line
from agents.research.loop.branch_retry import Again, ended, without
from agents.research.loop.loop_decision import LoopSettings
from agents.research.planning.freeze_contract import CapOverrides, make_contract
from agents.research.reading.leaf import READ_FOR_NOTHING
from agents.research.reading.searching import NodeGiven, Setting
from agents.research.reading.shortlisting import UNANSWERING
from agents.research.run_context import RunContext
from agents.research.scoping.inside_job import judged_and_planned
from agents.research.writing.grading import answers_of
from agents.research.writing.truthful import ToCheck, challenge_all, checked, rewritten, surprises
from agents.research.writing.verify_report import Checks
from agents.research.writing.writer_input import Numbering, facts_behind, prose_of, sources_behind
from agents.roles import FRAME_WRITER
from agents.search.searcher import CircuitBreaker

log = logging.getLogger(__name__)

MOST_ANSWERING = 2
"""Facts for each answered part of the question that the last writer is shown in any case: the answer, and the step before."""
WAS_READ = (READ_FOR_NOTHING, UNANSWERING)
"""Reasons for not using a document that was read all the same."""


class Means(Frozen):
    """What the composition root tells the root handler of the run's surroundings."""

    limits: CapOverrides = CapOverrides()
    loop: LoopSettings = LoopSettings()
    thresholds: Thresholds = Thresholds()
    judge_thresholds: Thresholds = Thresholds(min_claims=1)
    require_judge: bool = False
    planner_window_s: float = 120.0
    """Seconds that manager and planner of a job are waited for."""
    reasons: bool = True
    """False when only the offline engine is bound."""
    models: tuple[str, ...] = ()
    retrievers: tuple[str, ...] = ()


def contract_of(brief: Brief, plans: tuple[Plan, ...], means: Means, *, challenge: bool = True) -> Contract:
    """Freeze brief and plans into the contract of a run."""
    return make_contract(
        brief,
        plans,
        means.limits,
        reasons=means.reasons,
        challenge=challenge,
        models=means.models,
        retrievers=means.retrievers,
    )


def research_handler(context: RunContext, means: Means) -> Handler:
    """Run a commission from plan to outcome."""

    async def run(ctx: Ctx, given: Commission) -> Outcome:
        contract = given.contract
        if contract is None:
            ctx.emit("stage:planning", JobChanged(status="running", stage="planning"))
            brief, plans, limits = await judged_and_planned(ctx, context, given, means.limits, means.planner_window_s)
            surroundings = means.model_copy(update={"limits": limits})
            contract = contract_of(brief, plans, surroundings, challenge=given.challenge)
            ctx.emit(f"contract:{contract.hash}", Planned(contract=contract))
        brief = contract.brief
        ctx.emit("stage:collecting", JobChanged(status="running", stage="collecting"))
        several = len(contract.plans) > 1
        loop = means.loop.model_copy(update={"max_rounds": contract.caps.rounds})
        items = [(str(number), _root(plan, brief, several, loop)) for number, plan in enumerate(contract.plans)]
        for key, root in items:
            ctx.emit(
                f"queued:{key}",
                NodeChanged(
                    node=f"{ctx.path}/{key}", parent=ctx.path, role="query", title=root.title, state="queued", doing=""
                ),
            )
        results = await ctx.children("node", items, gives=Finding)
        settings = tuple(root.setting for _, root in items)
        found = [
            ended(f"{ctx.path}/{key}", root.title, "query", result) if isinstance(result, StepFailed) else result
            for (key, root), result in zip(items, results, strict=True)
        ]
        again = Again(ctx)
        for key, root in items:
            again.ran("node", key, root)
        await again.run(found, lambda _: Spending())
        findings = tuple(without(finding, ctx.dropped) for finding in found)
        try:
            return await completed(ctx, given, contract, findings, settings)
        except Exception as error:  # a fault of ours, anywhere below: what was found is still a report
            log.exception("salvaging what was found: %s", ctx.path)
            fault = Problem(where=ctx.path, type=type(error).__name__, message=DossierError.notice, retryable=True)
            return Outcome(
                contract=contract, findings=findings, frame=None, problems=(fault,), degraded=_degraded(findings),
                reasons=(*_reasons(findings, (fault,)), DossierError.notice), tags=_tags(ctx, findings, contract, False),
            )  # fmt: skip

    async def completed(
        ctx: Ctx, given: Commission, contract: Contract, findings: tuple[Finding, ...], settings: tuple[Setting, ...]
    ) -> Outcome:
        brief = contract.brief
        # Claims are challenged, sections checked and the frame is written at once. Writers are told what code makes of
        # the claims by the facts at hand; only where the challenge finds otherwise is anything written again.
        known_claims = [
            verdict_line(claim)
            for one, setting in zip(findings, settings, strict=True)
            for claim in await asyncio.to_thread(at_hand, setting, one)
        ]
        challenging = challenge_all(
            ctx,
            findings,
            settings,
            search=given.challenge,
            minimum=means.thresholds.min_evidence_per_claim,
        )
        checking = ctx.children("check", [("check", ToCheck(contract=contract, findings=findings))], gives=Checks)
        framing = _frame(ctx, context, contract, (findings, ()), tuple(known_claims), _degraded(findings), key="0")
        challenged, known, (frame, problems) = await together(challenging, checking, framing)
        counter = tuple(one.finding for one in challenged if one.finding is not None)
        degraded = _degraded((*findings, *counter))
        if surprises(challenged, known_claims):
            claims = tuple(verdict_line(done.claim) for one in challenged for done in one.claims)
            rewriting = rewritten(ctx, context, findings, challenged, contract)
            framing = _frame(ctx, context, contract, (findings, counter), claims, degraded, key="again")
            findings, (anew, failed) = await together(rewriting, framing)
            frame, problems = _only_section(findings, brief) or anew or frame, (*problems, *failed)
        ctx.emit("stage:composing", JobChanged(status="running", stage="composing"))
        outcome = Outcome(
            counter=counter,
            contract=contract,
            findings=findings,
            frame=frame,
            problems=problems,
            reasons=_reasons(findings, problems),
            tags=_tags(ctx, findings, contract, degraded),
            degraded=degraded,
            seed_failures=tuple(
                f"{rejected.url}: {rejected.reason}"
                for rejected in {
                    rejected.url: rejected
                    for finding in findings
                    for part in finding.walk()
                    for rejected in part.rejected
                    if rejected.url in brief.seed_urls and rejected.reason not in WAS_READ
                }.values()
            ),
        )
        judge = means.judge_thresholds if means.require_judge else None
        checks = known[0].checks if isinstance(known[0], Checks) else ()
        return await checked(ctx, context, outcome, challenged, means.thresholds, judge, checks, reasons=means.reasons)

    return Handler(run=run, takes=Commission, gives=Outcome)


def _root(plan: Plan, brief: Brief, several: bool, loop: LoopSettings) -> NodeGiven:
    return NodeGiven(
        node=plan.root,
        setting=Setting(
            query=plan.query,
            language=brief.language,
            query_type=brief.query_type,
            today=brief.today,
            domains=brief.domains,
            exclude_domains=brief.exclude_domains,
            date_from=brief.date_from,
            date_to=brief.date_to,
            loop=loop,
            claims=tuple(PlannedClaim(text=claim.text, leaves=claim.leaves) for claim in planned_claims(plan)),
        ),
        parent="job",
        role="query",
        # With one query the frame is written over these very sections: a lead would say the same twice.
        lead=several,
        title=plan.query,
    )


async def _frame(
    ctx: Ctx,
    context: RunContext,
    contract: Contract,
    held: tuple[tuple[Finding, ...], tuple[Finding, ...]],
    claims: tuple[str, ...],
    degraded: bool,
    *,
    key: str,
) -> tuple[Frame | None, tuple[Problem, ...]]:
    """Have the last synthesizer write around the sections; a report is made without it when it fails."""
    findings, counter = held
    if (alone := _only_section(findings, contract.brief)) is not None:
        return alone, ()
    parts = _parts(findings)
    facts = facts_behind(tuple(parts), context.context_results)
    if not facts:
        return None, ()
    # What speaks against a claim is shown to the last writer too, although no section cites it yet.
    against = tuple(fact for finding in counter for fact in finding.facts)
    # So are the facts that answer a part of the question, wherever they were found.
    parts_asked = [one for one in answers_of(contract, findings) if one.asked]
    answering = {fact for one in parts_asked if one.status == "answered" for fact in one.facts[:MOST_ANSWERING]}
    found = tuple(fact for finding in findings for fact in finding.all_facts() if fact.id in answering)
    facts = tuple({fact.id: fact for fact in (*facts, *found, *against)}.values())
    numbering = Numbering(facts, sources_behind((*findings, *counter)))
    brief = contract.brief
    given = FrameInput(
        question=brief.question,
        queries=tuple(query.text for query in brief.queries),
        titles=tuple(part.title for part in parts),
        sections=tuple(numbering.to_numbers(prose_of(part)) for part in parts),
        facts=numbering.numbered,
        parts=tuple(
            AnsweredBy(part=one.question, facts=numbering.numbers(one.facts))
            for one in parts_asked
        ),
        missing=tuple(f"{part.title}: {part.note}" for part in _leaves(findings) if part.status != "done"),
        language=brief.language,
        query_type=brief.query_type,
        degraded=degraded,
        claims=claims,
        today=brief.today,
    )  # fmt: skip
    try:
        asked = await ctx.call(
            "frame", key, context.ask, FRAME_WRITER, given, ctx.writing(FRAME_SHARE), gives=RoleAnswer[Frame]
        )
    except StepFailed as failure:
        problem = Problem(where=failure.key, type=failure.type, message=failure.notice, retryable=failure.retryable)
        return None, (problem,)
    frame = asked.output
    return Frame(
        title=frame.title,
        summary=numbering.to_ids(frame.summary),
        insight=numbering.to_ids(frame.insight),
        conclusion=numbering.to_ids(frame.conclusion),
        open_questions=frame.open_questions,
    ), ()


SHORT_SECTION = 80
"""Words up to which the only section of a report is its summary: nobody is asked to say the same again."""


def _only_section(findings: tuple[Finding, ...], brief: Brief) -> Frame | None:
    """Make the frame of a report that is one short section; None for any other."""
    written = [part for finding in findings for part in finding.walk() if part.markdown]
    if len(written) != 1 or len(written[0].markdown.split()) > SHORT_SECTION:
        return None
    title = brief.queries[0].text if len(brief.queries) == 1 else brief.question
    return Frame(title=title.rstrip(" ?？"), summary=written[0].markdown, insight="", conclusion="", open_questions=())


def _parts(findings: tuple[Finding, ...]) -> list[Finding]:
    """The main branches that have something to say: a query's branches, or the queries when there are several."""
    branches = findings if len(findings) > 1 else tuple(child for finding in findings for child in finding.children)
    return [branch for branch in branches if prose_of(branch)]


def _leaves(findings: tuple[Finding, ...]) -> list[Finding]:
    return [part for finding in findings for part in finding.walk() if not part.children]


def _reasons(findings: tuple[Finding, ...], problems: tuple[Problem, ...]) -> tuple[str, ...]:
    """Say why the report is only partial, branch by branch."""
    # What the user stopped or dropped is said by the report itself, in its own language.
    weak = [
        f"{part.title.rstrip('.?!')}: {part.note or part.status}"
        for part in _leaves(findings)
        if part.status != "done" and not part.ended and not part.in_vain
    ]
    return (*weak, *(f"Summary and conclusion: {problem.message}" for problem in problems))


def _tags(ctx: Ctx, findings: tuple[Finding, ...], contract: Contract, degraded: bool) -> tuple[str, ...]:
    """Collect the response-awareness tags that apply, in the order of the specification."""
    parts = [part for finding in findings for part in finding.walk()]
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
        "#LOW_EVIDENCE": not any(part.facts for part in parts),
        "#PATH_DECISION": any(part.engine_note for part in parts),
        "#COMPLETION_DRIVE": any(plan.assumptions for plan in contract.plans),
    }
    return tuple(tag for tag, holds in applies.items() if holds)


def _degraded(findings: tuple[Finding, ...]) -> bool:
    """Tell whether searching was limited: a provider stepped in for another, or too many searches failed."""
    breaker = CircuitBreaker(rest_s=0.0)
    records = [record for finding in findings for part in finding.walk() for record in part.searches]
    for record in records:
        if record.failed:
            breaker.failed(record.failed)
        else:
            breaker.succeeded()
        if breaker.is_open or (record.failures and not record.failed):
            return True
    return False
