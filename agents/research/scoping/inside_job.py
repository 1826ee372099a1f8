"""Questions that come without a talk (HTTP): judged and planned side by side inside the job, so that its start waits for nobody.

What the planner drafted ahead is thrown away where the manager made other questions of what was asked.
"""

import asyncio
from collections.abc import Sequence

from agents.contracts.contract import Brief, ScopingTurn
from agents.contracts.plan import Plan
from agents.contracts.report import Commission
from agents.core.budget import Deadline, Within
from agents.core.errors import BadRequest, ModelError, StepFailed
from agents.core.events import Charged, Event, Noted, RoleAsked
from agents.core.port import Ctx, together
from agents.nlp.tokens import language_of
from agents.research.planning.drafting import draft_plans
from agents.research.planning.freeze_contract import CapOverrides, caps_of
from agents.research.reading.subject import asks_for_facts
from agents.research.run_context import NO_STAND_IN, RunContext
from agents.research.scoping.turn import ScopingState, refuse_broad, take_turn
from agents.roles import MANAGER

TAKEN_AS_ASKED = "#PATH_DECISION"
NO_ANSWER = "The manager did not answer within its window."


class JudgedQuestion(Charged):
    """The manager's verdict on one question, as a step leaves it."""

    scope: ScopingState
    turn: ScopingTurn
    asked: RoleAsked

    def as_event(self, node: str) -> Event:
        """Tell that the manager was asked."""
        return self.asked.model_copy(update={"node": node})


async def judge_question(context: RunContext, text: str, limits: CapOverrides, deadline: Deadline) -> JudgedQuestion:
    """Have the manager judge one question: the body of a step.

    Raises:
        ModelError: it gave no answer in time, or its provider failed.
        BadOutput: its answer can't be used.
    """
    if asks_for_facts(text):
        context = context.by_code(MANAGER.name)
    try:
        async with asyncio.timeout(deadline.seconds()):
            scope, asked = await take_turn(
                context, ScopingState(), text, max_depth=limits.depth, max_leaves=limits.leaves, deadline=deadline
            )
    except TimeoutError as error:
        raise ModelError("no verdict in time", fault="timeout", notice=NO_ANSWER) from error
    if context.ahead and scope.feasible and len(scope.queries) == 1:
        context.ahead.allow()
    event = asked.as_event("job")
    if not isinstance(event, RoleAsked):
        raise TypeError(f"the manager was asked, and {event!r} was told of it")
    return JudgedQuestion(scope=scope, turn=asked.output, asked=event, usage=asked.usage)


async def judged_and_planned(
    ctx: Ctx, context: RunContext, given: Commission, limits: CapOverrides, window_s: float
) -> tuple[Brief, tuple[Plan, ...], CapOverrides]:
    """Settle what a job without a contract works by: its brief, its plans, and what bounds them.

    Raises:
        NotFeasible: a question is too broad; carries reasons and narrower ones.
        BadRequest: there is no question.
        StepFailed: the planner gave nothing usable, or the operator has to mend something.
    """
    brief = given.brief
    if brief is None:
        raise BadRequest("There is nothing to research: neither a contract nor a question was given.")
    context.look_ahead()
    if not given.unjudged:
        if context.ahead is not None:
            context.ahead.allow()
        return brief, await draft_plans(ctx, brief), limits
    until = Within(window_s, ctx.within(1.0))
    asking = [(str(number), context, query.text, limits, until) for number, query in enumerate(brief.queries)]
    verdicts, plans = await together(
        ctx.fan("manager", judge_question, asking, gives=JudgedQuestion), draft_plans(ctx, brief)
    )
    for failed in (one for one in verdicts if isinstance(one, StepFailed)):
        if failed.fault in NO_STAND_IN:
            raise failed
        text = f"The question is taken as it was asked, and its plan decides. {failed.notice}"
        ctx.emit("taken as asked", Noted(text=text, tag=TAKEN_AS_ASKED))
        return brief, plans, limits
    settled = agreed(brief, [(one.scope, one.turn) for one in verdicts if not isinstance(one, StepFailed)])
    if len(settled.queries) == len(brief.queries):
        renamed = (plan.model_copy(update={"query": q.text}) for plan, q in zip(plans, settled.queries, strict=True))
        return settled, tuple(renamed), limits
    # More questions than were asked for have to make do with the caps of those.
    caps, several = caps_of(brief, limits), len(settled.queries)
    bounds = {"searches": max(1, caps.searches // several), "sources": max(1, caps.sources // several)}
    return settled, await draft_plans(ctx, settled, "drafted"), limits.model_copy(update=bounds)


def agreed(brief: Brief, verdicts: Sequence[tuple[ScopingState, ScopingTurn]]) -> Brief:
    """Put what the manager made of each question into the brief.

    Raises:
        NotFeasible: a question is too broad; carries reasons and narrower ones.
        BadRequest: the manager found no question in what was asked.
    """
    if empty := [turn.reply for scope, turn in verdicts if not scope.queries]:
        raise BadRequest(empty[0])
    queries = tuple(query for scope, _ in verdicts for query in scope.queries)
    refuse_broad(queries)
    first = verdicts[0][0]
    guessed = brief.language == language_of(brief.queries[0].text)
    language = first.language if guessed else brief.language
    return brief.model_copy(update={"queries": queries, "query_type": first.query_type, "language": language})
