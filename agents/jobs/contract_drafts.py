"""Contracts in the making: the plan of a question is drafted while the manager's words about it still stream."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median

from agents.contracts.contract import Agreement, Brief, Contract, PaceSeen, Query, ScopingTurn
from agents.contracts.frozen import Spent, Tier, booked
from agents.contracts.plan import Plan
from agents.core.budget import Budget
from agents.core.budget import Limits as Spending
from agents.core.events import RoleAsked
from agents.core.port import Handlers, ProcessLimits
from agents.core.role import Model
from agents.core.time_policy import PLANNING_SHARE
from agents.jobs.attempt import Attempt, Clock
from agents.jobs.ctx import RunCtx
from agents.llm.choose_models import parts_of
from agents.llm.litellm_model import LiteLLMModel
from agents.llm.pacing import RateLimiter
from agents.report.wording import report_language
from agents.research.planning.drafting import draft_plans
from agents.research.planning.forecast import SECONDS_PER_CALL, WRITING_IN_A_ROW, PastRun, with_likely
from agents.research.planning.freeze_contract import Means, make_contract
from agents.research.run_context import LookAhead, RunContext
from agents.research.scoping.turn import ScopingState, seeds_in
from agents.roles import EXTRACTOR

LONGEST_AHEAD = 600  # characters of a question that is planned ahead; a longer text is talked about first
MOST_AHEAD = 16  # questions that are planned ahead at once, over all talks
USUAL_CALL = (2_000, 250)  # tokens that a usual call reads and writes
REMEMBERED = 12  # earlier runs that forecasts are measured by
OFFLINE_S = 15.0  # seconds of a run without a language model: a first guess


Whose = tuple[object, ...]


def whose(agreed: Agreement, question: str) -> Whose:
    """Name a question and what it is planned with: what one user's files and memory gave to a plan is no other user's."""
    return question, agreed.files, agreed.places, agreed.models, agreed.memory, agreed.known


@dataclass(frozen=True)
class Settled:
    """What came of a question: how the talk stands, and the contract where it is feasible."""

    scope: ScopingState
    turn: ScopingTurn
    contract: Contract | None = None


@dataclass
class ContractDrafts:
    """Drafts contracts outside any job, in memory."""

    context: Callable[[Brief], RunContext]
    handlers: Callable[[RunContext, Brief], Handlers]
    models: Mapping[str, Model]
    means: Means
    today: Callable[[], str]
    clock: Clock
    limits: ProcessLimits
    at_once: int  # calls of one job at once
    max_cost_usd: float | None = None
    past: deque[PastRun] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    """What earlier runs of this server's models took, newest last."""

    def __post_init__(self) -> None:
        self._ahead: list[tuple[Whose, asyncio.Task[Contract]]] = []
        self.looking: dict[Whose, LookAhead] = {}
        """Searches begun for questions whose plan is being written."""

    def begin(
        self, scope: ScopingState, text: str, tier: Tier | None, limit_s: float | None, *, authorized: bool = False
    ) -> None:
        """Begin to plan a new question as it stands; thrown away where the manager makes something else of it.

        Where the request is the authorization, its searches may begin when the manager has called it feasible.
        """
        gate = self._gate()
        if len(text) > LONGEST_AHEAD or (gate is not None and gate.places_now() == 1):
            return  # where one call waits for the other, the manager's comes first and has its whole time
        query = Query(text=text, feasible=True, reason="taken as it stands", depth_estimate=1)
        as_asked = {
            "question": text,
            "queries": (query,),
            "language": report_language(text),
            "seed_urls": seeds_in(text),
        }
        while len(self._ahead) >= MOST_AHEAD:
            self._ahead.pop(0)[1].cancel()
        ahead = self.look_ahead(whose(scope, text)) if authorized else None
        drafting = self.of_brief(self._brief(scope.model_copy(update=as_asked), tier), limit_s=limit_s, ahead=ahead)
        planning = asyncio.ensure_future(drafting)
        self._ahead.append((whose(scope, text), planning))  # the same question may be asked several times at once
        planning.add_done_callback(lambda done: done.cancelled() or done.exception())

    def look_ahead(self, question: Whose) -> LookAhead | None:
        """Let the searches of a question begin while its plan is written, for the job that is started for it.

        None while another plan of the same question is: its job could not be told from this one's.
        """
        if question in self.looking:
            return None
        while len(self.looking) >= MOST_AHEAD:
            self.looking.pop(next(iter(self.looking))).stop()
        self.looking[question] = ahead = LookAhead()
        return ahead

    def _brief(self, scope: ScopingState, tier: Tier | None) -> Brief:
        return scope.brief(self.today(), max_cost_usd=self.max_cost_usd).model_copy(update={"tier": tier})

    async def draft(
        self, scope: ScopingState, tier: Tier | None, *, challenge: bool, limit_s: float | None
    ) -> Contract:
        """Draft the contract of a talk that is ready: one plan per query, each held against the bounds by code."""
        brief, begun, mine = self._brief(scope, tier), [one for one, _ in self._ahead], whose(scope, scope.question)
        ahead = self._ahead.pop(begun.index(mine))[1] if mine in begun else None
        unused: tuple[Spent, ...] = ()
        # What the talk has changed since is another question.
        first = sum(turn.speaker == "user" for turn in scope.turns) == 1
        as_asked = first and len(scope.queries) == 1 and report_language(scope.question) == scope.language
        if ahead is not None and as_asked:
            drafted = await ahead
            renamed = tuple(plan.model_copy(update={"query": scope.queries[0].text}) for plan in drafted.plans)
            contract = self._frozen(brief, renamed, challenge=challenge).model_copy(update={"spent": drafted.spent})
        else:
            if ahead is not None and not ahead.cancel() and ahead.exception() is None:
                unused = ahead.result().spent  # planned for nothing, and paid for
            contract = await self.of_brief(brief, challenge=challenge, limit_s=limit_s)
        return contract.model_copy(update={"spent": booked(*scope.spent, *unused, *contract.spent)})

    async def of_brief(
        self, brief: Brief, *, challenge: bool = True, limit_s: float | None = None, ahead: LookAhead | None = None
    ) -> Contract:
        """Draft the contract of a brief, within `limit_s` seconds where that is given."""
        context = self.context(brief)
        if ahead is not None:
            context.look_ahead(ahead)
        budget = Budget(Spending(seconds=limit_s and limit_s / PLANNING_SHARE), name="draft")
        handlers = self.handlers(context, brief)
        run = Attempt("draft", handlers, budget, self.clock, self.limits, per_job=self.at_once)
        try:
            ctx = RunCtx(run, "draft", run.budget, depth=0)
            plans = await draft_plans(ctx, brief)
            spent = booked(*(one.event.as_spent() for one in run.events if isinstance(one.event, RoleAsked)))
            return self._frozen(brief, plans, challenge=challenge).model_copy(update={"spent": spent})
        finally:
            if ahead is None:  # else the job takes over what was begun
                context.close()

    def _frozen(
        self, brief: Brief, plans: tuple[Plan, ...], *, challenge: bool = True, smaller: bool = True
    ) -> Contract:
        retrievers, pace = self.context(brief).searched, self.pace()
        contract = make_contract(
            brief, plans, self.means, retrievers=retrievers, pace=pace, challenge=challenge, smaller=smaller
        )
        forecast = with_likely(contract.forecast, self.past, contract.caps.minutes)
        return contract.model_copy(update={"forecast": forecast})

    def of_plans(self, brief: Brief, plans: tuple[Plan, ...]) -> Contract:
        """Freeze plans as they are: those that a user edited are not cut to the pace of a slow model."""
        return self._frozen(brief, plans, smaller=False)

    def usual(self) -> PastRun:
        """Say what a question of the usual size takes here: as earlier runs did, or a first guess from the pace seen."""
        call_s, reasons = self.pace().call_s or SECONDS_PER_CALL, self.means.reasons
        seconds = [run.seconds for run in self.past if run.seconds]
        costs = [run.cost_usd for run in self.past if run.cost_usd is not None]
        guess = call_s * (1 + WRITING_IN_A_ROW) if reasons else OFFLINE_S
        paid = reasons and not set(self.means.models) <= set(self.means.free)
        cost = (median(costs) if costs else None) if paid else 0.0
        return PastRun(median(seconds) if seconds else guess, cost)

    def pace(self) -> PaceSeen:
        """Say how long a usual call takes, and how many are worked on at once, as seen so far of the model that reads."""
        gate = self._gate()
        if gate is None:
            return PaceSeen(at_once=self.at_once)
        return PaceSeen(call_s=gate.pace.call_s(*USUAL_CALL), at_once=min(gate.places.at_once(16), self.at_once))

    def _gate(self) -> RateLimiter | None:
        models = parts_of(self.models[EXTRACTOR.name])
        return next((one.gate for one in models if isinstance(one, LiteLLMModel)), None)

    def close(self) -> None:
        for _, planning in self._ahead:
            planning.cancel()
        for looking in self.looking.values():
            looking.stop()
        self._ahead.clear()
