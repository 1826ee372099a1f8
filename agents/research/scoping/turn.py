"""Scoping: one turn of the talk between manager and user, and code's verdict on what came out of it.

Questions that come without a talk (HTTP): judged and planned side by side inside the job, so that its start waits for nobody.

What the planner drafted ahead is thrown away where the manager made other questions of what was asked.
"""

import asyncio
import re
from collections.abc import Sequence

from agents.contracts.contract import Agreement, Brief, Query, ScopingInput, ScopingTurn, Turn
from agents.contracts.frozen import Spent, Tier, booked
from agents.contracts.plan import Plan
from agents.contracts.report import Commission
from agents.core.budget import Deadline
from agents.core.errors import BadRequest, ModelError, NotFeasible, StepFailed
from agents.core.events import Charged, Event, Noted, RoleAsked
from agents.core.port import Ctx, together
from agents.core.role import OnText, RoleAnswer
from agents.nlp.tokens import content_words, language_of
from agents.offline.questions import asks, asks_for_facts
from agents.offline.terms import names
from agents.report.wording import report_language
from agents.research.planning.drafting import draft_plans
from agents.research.planning.freeze_contract import CapOverrides, caps_of
from agents.research.run_context import NO_STAND_IN, RunContext
from agents.roles import MANAGER, UNHEARD_MANAGER
from agents.web.url_key import IN_TEXT

MAX_MESSAGE = 20_000
"""Characters of one message; longer ones are documents and belong into the library."""
MAX_TURNS = 24
"""Utterances of the talk that the manager is shown, newest kept."""
LANGUAGE_TAG = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
"""A BCP 47 tag in its usual form; a model that writes anything else is not asked again for it."""


class ScopingState(Agreement):
    """How the talk stands."""

    question: str = ""
    """What the user asked first, in the user's words; empty before that."""
    turns: tuple[Turn, ...] = ()
    queries: tuple[Query, ...] = ()
    open_questions: tuple[str, ...] = ()
    tier: Tier = "standard"
    ready: bool = False
    stood_in: str = ""
    """That another model answered the last message than the one bound, and why; empty when that one did."""
    spent: tuple[Spent, ...] = ()
    """What models took in this talk so far, drafts included: no job has it in its books yet."""

    @property
    def feasible(self) -> bool:
        """True when there is at least one query and all are feasible."""
        return bool(self.queries) and all(query.feasible for query in self.queries)

    def brief(self, today: str, *, max_cost_usd: float | None = None) -> Brief:
        """Freeze what was agreed."""
        same = {name: getattr(self, name) for name in Brief.model_fields.keys() & ScopingState.model_fields.keys()}
        same |= {"question": self.question or self.queries[0].text, "tier": None}
        return Brief.model_validate({**same, "max_cost_usd": max_cost_usd, "today": today})


def checked(message: str) -> str:
    """Refuse what is no message.

    Raises:
        BadRequest: empty, or longer than 20,000 characters.
    """
    text = message.replace("\x00", "").strip()
    if not text:
        raise BadRequest("There was nothing in that message. What would you like to find out?")
    if len(text) > MAX_MESSAGE:
        form = (
            "That message has {count:,} characters; I read up to {most:,}. Put long texts into your library folder and "
            "ask about them."
        )
        raise BadRequest(form, count=len(text), most=MAX_MESSAGE)
    return text


def seeds_in(text: str) -> tuple[str, ...]:
    """Find the addresses that the user named."""
    return tuple(dict.fromkeys(IN_TEXT.findall(text)))


async def take_turn(
    context: RunContext, scope: ScopingState, message: str, *, max_depth: int, max_leaves: int,
    on_text: OnText | None = None, deadline: Deadline | None = None,
) -> tuple[ScopingState, RoleAnswer[ScopingTurn]]:  # fmt: skip
    """Have the manager answer one message; code's verdict on depth wins over the model's.

    Raises:
        BadRequest: the message is empty or far too long.
        BadOutput, ModelError: the manager gave nothing usable.
    """
    text = checked(message)
    seeds = tuple(dict.fromkeys((*scope.seed_urls, *seeds_in(text))))
    # A short answer such as "the second" is about what was asked before.
    by_itself = len(text.split()) > 6 or not scope.question
    survey = await context.survey(text if by_itself else f"{scope.question} {text}")
    given = ScopingInput(
        message=text, turns=scope.turns[-MAX_TURNS:], agreed=scope.queries, survey=survey, today=context.today,
        language=language_of(text, asked=True), max_depth=max_depth, max_leaves=max_leaves,
    )  # fmt: skip
    role = MANAGER if on_text else UNHEARD_MANAGER
    if on_text and not scope.turns and asks_for_facts(text):
        on_text = _unheard  # what it says is shown once it is known to tell nothing that nobody has looked up
    asked: RoleAnswer[ScopingTurn] = await context.ask(role, given, deadline or Deadline(), on_text)
    turn = asked.output
    judged = (_code_verdict(query, max_depth, padded=context.models[role.name].reasons) for query in turn.queries)
    queries = tuple(_within(query, scope.queries, text) for query in judged)
    feasible = bool(queries) and all(query.feasible for query in queries)
    note = asked.as_event("talk").note()
    said = (Turn(speaker="manager", text=turn.reply),) if turn.reply else ()
    after = scope.model_copy(
        update={
            "question": scope.question if scope.question and queries and scope.queries else text,
            "turns": (*scope.turns, Turn(speaker="user", text=text), *said), "queries": queries,
            "open_questions": turn.open_questions, "query_type": turn.query_type, "tier": turn.tier,
            "language": report_language(
                f"{scope.question}\n{text}", turn.language if LANGUAGE_TAG.fullmatch(turn.language) else given.language
            ),
            "ready": turn.ready and feasible, "seed_urls": seeds, "stood_in": note.text if note else "",
            "spent": booked(*scope.spent, asked.as_spent()),
        }
    )  # fmt: skip
    return after, asked


async def _unheard(_: str) -> None:
    """Show nothing of a reply while it is written."""


def _code_verdict(query: Query, max_depth: int, *, padded: bool) -> Query:
    """Judge the depth; why a query is feasible is told by its plan, and by a model in words that say nothing."""
    if query.feasible and query.depth_estimate > max_depth:
        reason = f"That is more than one run can do. {query.reason}"
        return query.model_copy(update={"feasible": False, "reason": reason})
    return query.model_copy(update={"reason": query.text}) if padded and query.feasible else query


def _within(query: Query, before: Sequence[Query], said: str) -> Query:
    """Keep limits and parts of a query, which no model is shown: what the user answered where it was too broad is a limit.

    A mere yes, or words of nothing that the question is about, limit nothing.
    """
    if same := [one for one in before if one.text == query.text]:
        kept = {name: getattr(query, name) or getattr(same[0], name) for name in ("scope_limits", "sub_topics")}
        return query.model_copy(update=kept)
    broad = [one for one in before if not one.feasible]
    if query.scope_limits or not broad or asks(said) or len(said.split()) > MAX_LIMIT:
        return query
    talked = (query.text, *(part for one in broad for part in (one.text, one.reason, *one.suggested_split)))
    if not (names(said) or set(content_words(said)) & set(content_words(" ".join(talked)))):
        return query.model_copy(update={"scope_limits": broad[0].scope_limits})
    return query.model_copy(update={"scope_limits": (*broad[0].scope_limits, said.strip(" .!,;"))})


def refuse_broad(queries: Sequence[Query]) -> None:
    """Let feasible queries pass.

    Raises:
        NotFeasible: one is too broad; carries reasons and narrower ones.
    """
    if broad := [query for query in queries if not query.feasible]:
        splits = tuple(split for query in broad for split in query.suggested_split)
        raise NotFeasible(tuple(query.reason for query in broad), splits)


def refused(scope: ScopingState, query_text: str, reasons: tuple[str, ...], splits: tuple[str, ...]) -> ScopingState:
    """Take a query's feasibility back after its plan turned out too deep or too wide."""
    queries = tuple(
        one.model_copy(update={"feasible": False, "reason": " ".join(reasons),
                               "suggested_split": splits or one.suggested_split}) if one.text == query_text else one
        for one in scope.queries
    )  # fmt: skip
    return scope.model_copy(update={"queries": queries, "ready": False})


MAX_LIMIT = 14
"""Words of an answer that is taken for a limit."""
NOTHING_ASKED = "There is no question in that. What would you like to find out?"
TAKEN_AS_ASKED = "#PATH_DECISION"
NO_ANSWER = "The manager did not answer within its window."


class JudgedQuestion(Charged):
    """The manager's verdict on one question, as a step leaves it."""

    scope: ScopingState
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
    return JudgedQuestion(scope=scope, asked=asked.as_event("job"), usage=asked.usage)


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
    until = Deadline.within(window_s, ctx.within(1.0))
    asking = [(str(number), context, query.text, limits, until) for number, query in enumerate(brief.queries)]
    verdicts, plans = await together(
        ctx.fan("manager", judge_question, asking, gives=JudgedQuestion), draft_plans(ctx, brief)
    )
    judged = [one.scope for one in verdicts if not isinstance(one, StepFailed)]
    for failed in (one for one in verdicts if isinstance(one, StepFailed)):
        if failed.fault in NO_STAND_IN:
            raise failed
        refuse_broad([query for scope in judged for query in scope.queries])  # what was judged is heeded all the same
        text = f"The question is taken as it was asked, and its plan decides. {failed.notice}"
        ctx.emit("taken as asked", Noted(text=text, tag=TAKEN_AS_ASKED))
        return brief, plans, limits
    settled = agreed(brief, judged)
    if len(settled.queries) == len(brief.queries):
        named = zip(plans, settled.queries, strict=True)
        return settled, tuple(plan.model_copy(update={"query": query.text}) for plan, query in named), limits
    # More questions than were asked for have to make do with the caps of those.
    caps, several = caps_of(brief, limits), len(settled.queries)
    bounds = {"searches": max(1, caps.searches // several), "sources": max(1, caps.sources // several)}
    return settled, await draft_plans(ctx, settled, "drafted"), limits.model_copy(update=bounds)


def agreed(brief: Brief, verdicts: Sequence[ScopingState]) -> Brief:
    """Put what the manager made of each question into the brief.

    Raises:
        NotFeasible: a question is too broad; carries reasons and narrower ones.
        BadRequest: the manager found no question in what was asked.
    """
    if empty := next((scope for scope in verdicts if not scope.queries), None):
        said = empty.turns[-1]
        raise BadRequest(said.text if said.speaker == "manager" else NOTHING_ASKED)
    queries = tuple(query for scope in verdicts for query in scope.queries)
    refuse_broad(queries)
    first = verdicts[0]
    guessed = brief.language == report_language(brief.queries[0].text)
    language = first.language if guessed else brief.language
    return brief.model_copy(update={"queries": queries, "query_type": first.query_type, "language": language})
