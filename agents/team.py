"""The part of the composition root that says where documents come from.

The composition root: settings in, a wired team out. With `sourcing` the only importer of adapters.

What the faces (chat, routes, command line) may use of this module: `Team`, `open_team`.
"""

import asyncio
import contextlib
import gc
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from agents.contracts.contract import Agreement, Brief, Caps, Contract, ScopingTurn
from agents.contracts.frozen import Tier, build_contracts
from agents.contracts.report import Actual, Commission, Earlier, EarlierUse, Outcome, ReportDocument
from agents.contracts.sources import OwnFile
from agents.core.budget import Deadline, Usage
from agents.core.budget import Limits as Spending
from agents.core.errors import BadRequest, ConfigError, SourceError, TooMany
from agents.core.port import Handlers, ProcessLimits
from agents.core.prompts import PromptBook
from agents.core.prompts import load as load_prompts
from agents.core.role import Model, OnText, shown_name
from agents.core.settings import Settings, usable_models
from agents.jobs.attempt import Clock, untraced
from agents.jobs.blob_store import BlobStore
from agents.jobs.config import open_jobs
from agents.jobs.contract_drafts import REMEMBERED, ContractDrafts, Settled, whose
from agents.jobs.job import Job, JobSetup, Pauses
from agents.jobs.tracing import Tracing
from agents.llm.choose_models import bind, parts_of
from agents.llm.litellm_model import LiteLLMModel, warm_up
from agents.llm.pacing import Pacing
from agents.memory.knowledge import KnowledgeStore, open_memory, tended
from agents.nlp.similarity import direction
from agents.offline import OfflineModel
from agents.offline.planner import understood
from agents.offline.questions import asks_for_facts
from agents.report.document import build
from agents.report.earlier import earlier_of
from agents.research.challenge.claim_ledger import Thresholds
from agents.research.loop.loop_decision import LoopSettings
from agents.research.loop.topics import Topics
from agents.research.pipeline import handlers_of
from agents.research.planning.flat_plan import bounded
from agents.research.planning.forecast import PastRun
from agents.research.planning.freeze_contract import CapOverrides, Means, caps_of, usual_minutes
from agents.research.reading.leaf import with_facts_of
from agents.research.recollection import asked_first, with_memory
from agents.research.run_context import RunContext
from agents.research.scoping.follow_up import FollowUpAnswer, Quoting, follow_up
from agents.research.scoping.turn import ScopingState, checked, take_turn
from agents.research.steering import Steering
from agents.roles import MANAGER
from agents.roles import ROLES as ROLES
from agents.search.chain import Chain
from agents.search.choose_searcher import open_sources
from agents.search.searcher import Probed, Searcher
from agents.search.uploads import SearchScope, UploadedFile, UploadResult, take
from agents.web.fetching import Fetcher

if TYPE_CHECKING:
    from agents.jobs.client import Client

MAX_UNREAD = 20
"""Unreadable files of a library that a report names, at most; `doctor` names all."""


@dataclass(frozen=True)
class EngineNames:
    """Who answers, for banner, contract and Methodology."""

    names: tuple[str, ...]
    reasons: bool
    """False when only the offline engine is bound: it quotes and does not reason."""
    stand_ins: tuple[str, ...] = ()
    """Models that are asked when one of `names` fails."""

    @property
    def name(self) -> str:
        return ", ".join(self.names)


def wrote(engine: EngineNames, actual: Actual) -> str:
    """Name who really answered, as people call it: the models that are bound, or those that stood in for every answer."""
    none_answered = bool(actual.stand_ins) and not actual.tokens_out
    names = [one.model for one in actual.stand_ins] if none_answered else engine.names
    return ", ".join(dict.fromkeys(map(shown_name, names)))


def _thresholds(settings: Settings, whose: str = "") -> Thresholds:
    """Take the gates' thresholds, or the judge's, from the settings of the same names."""
    names = (name for name in Thresholds.model_fields if whose + name in Settings.model_fields)
    return Thresholds(**{name: getattr(settings, whose + name) for name in names})


class Team:
    """Everything a face needs: scoping, drafting, jobs, kept sources and reports."""

    def __init__(
        self, settings: Settings, *, models: Mapping[str, Model], searcher: Searcher, prompts: PromptBook,
        blobs: BlobStore, sample: bool, clock: Clock = time.monotonic,
        today: Callable[[], str] = lambda: datetime.now(UTC).date().isoformat(), jobs: "Client | None" = None,
        made: Mapping[str, Model] | None = None, memory: KnowledgeStore | None = None, fetcher: Fetcher | None = None,
        pacing: Pacing | None = None,
    ) -> None:  # fmt: skip
        self.settings, self.models, self.searcher = settings, models, searcher
        self.prompts, self.blobs, self.sample = prompts, blobs, sample
        self.clock, self.today, self.memory = clock, today, memory
        self._jobs = jobs
        self.limits = jobs.limits if jobs else ProcessLimits()
        """How many calls this process makes at once."""
        distinct = tuple(dict.fromkeys(model.name for model in models.values()))
        parts = dict.fromkeys(part.name for model in models.values() for part in parts_of(model))
        self.engine = EngineNames(
            names=distinct,
            reasons=any(model.reasons for model in models.values()),
            stand_ins=tuple(name for name in parts if name not in distinct),
        )
        self.searching = SearchScope(searcher, blobs)
        self.places = self.searching.places
        """Where this server can search; a user chooses among them where there are several."""
        self.made = made or {model.name: model for model in models.values()}
        self.model_choices: tuple[str, ...] = tuple(self.made) if self.engine.reasons else ()
        """Models that a user may choose from, by name; none where only the offline engine answers."""
        self._recalled = False
        self.opening: asyncio.Task[None] | None = None
        """Set while the store of the jobs is being opened beside the first work."""
        self.fetcher, self.pacing = fetcher, pacing or Pacing(settings.model_limits)
        self.pacing.process, self.pauses = self.limits, Pauses(self.pacing)
        """How fast each model provider is asked, by all jobs of this process."""
        self.tracing = Tracing() if settings.otel else None
        self.observers: list[Callable[[Job], None]] = []
        """Told of every job before its first event: what metrics and logs are fed from."""
        self.means = Means(
            limits=CapOverrides(
                rounds=settings.max_iters or settings.max_researcher_iterations, searches=settings.max_queries,
                sources=settings.max_sources, searches_per_leaf=settings.max_react_tool_calls, tokens=settings.token_budget,
                cost_usd=settings.max_cost_usd,
                depth=settings.max_depth, leaves=settings.max_leaves,
                nothing_paid=not self.engine.reasons and not getattr(searcher, "destinations", ()),
            ),
            loop=LoopSettings(
                side_by_side=settings.max_concurrent_research_units, novelty_threshold=settings.min_novelty_threshold,
                early_termination=settings.enable_early_termination, read_together=self.engine.reasons,
            ),
            thresholds=_thresholds(settings),
            judge_thresholds=_thresholds(settings, "judge_"),
            require_judge=settings.require_judge,
            planner_window_s=settings.planner_pending_window_ms / 1000,
            reasons=self.engine.reasons,
            models=self.engine.names,
            free=tuple(name for name, model in self.made.items() if all(getattr(one, "free", False) for one in parts_of(model))),
            unpriced=() if settings.max_cost_usd is None else tuple(
                (name, one.name) for name, model in self.made.items() for one in parts_of(model)
                if isinstance(one, LiteLLMModel) and not one.priced
            ),
        )  # fmt: skip
        self.drafts = ContractDrafts(
            context=self.context, handlers=self._handlers, models=models, means=self.means, today=self.today,
            clock=clock, limits=self.limits, at_once=settings.max_concurrency,
            max_cost_usd=settings.max_cost_usd,
        )  # fmt: skip

    @property
    def jobs(self) -> "Client":
        """The jobs of this team; they die with this process until they are kept (`keep_jobs`)."""
        if self._jobs is None:
            self._jobs = self._opened_jobs(kept=False)
            self._jobs.register.set_up = self._set_up
        return self._jobs

    @property
    def usual_minutes(self) -> float:
        """Minutes of a run for which nobody asked for others: the operator's, else the mode's."""
        return usual_minutes(self.settings.max_execution_time_s)

    def context(
        self, of: Brief | ScopingState | None = None, steering: Steering | None = None, searched: tuple[str, ...] = ()
    ) -> RunContext:
        """Set up one run's means, its brief's files and places, what its contract said is `searched`, and caches of its own."""
        # Each role is bound to the user's choice where there is one that this server can ask, else to the server's.
        chosen = {str(role): self.made[name] for role, name in of.models if name in self.made} if of else {}
        language = of.language if isinstance(of, Brief) else None
        return RunContext(
            models={**self.models, **chosen}, prompts=self.prompts, texts=self.blobs, today=self.today(),
            searcher=self.searching.of(of.files, of.places, searched) if of else self.searching.of((), ()),
            context_results=self.settings.context_results,
            # Stands in when a provider fails for good, so that what was found is still written up.
            fallback=OfflineModel() if self.engine.reasons else None,
            agreed=of or Agreement(), steering=steering or Steering(), pace=lambda: self.drafts.pace(),
            topics=Topics(threshold=self.settings.duplicate_topic_similarity_threshold, language=language),
        )  # fmt: skip

    def taken(self) -> dict[str, Usage]:
        """Give what each model took since the start, whatever came of it."""
        single = {part.name: part for model in self.made.values() for part in parts_of(model)}
        return {name: part.taken for name, part in single.items() if isinstance(part, LiteLLMModel)}

    def _now(self) -> datetime:
        return datetime.now(UTC)

    def _handlers(self, context: RunContext, brief: Brief | None) -> Handlers:
        return with_memory(handlers_of(context, self.means), context, self.memory, brief, self._now)

    async def scope(
        self, scope: ScopingState, message: str, on_text: OnText | None = None, *, limit_s: float | None = None,
        tier: Tier | None = None,
    ) -> tuple[ScopingState, ScopingTurn]:  # fmt: skip
        """Have the manager answer one message of the scoping talk, within `limit_s` seconds where that is given.

        Raises:
            DossierError: with a notice for the user; the talk stands as it was before.
        """
        context = self.context(scope)
        memory = asked_first(context, self.memory, scope.memory if on_text is None else None, self._now)
        if on_text is None and not scope.turns and asks_for_facts(checked(message)):
            context = context.by_code(MANAGER.name)  # nobody reads its words, and what is asked for is no research tree
        elif self.engine.reasons and not scope.turns:
            self.drafts.begin(scope, checked(message), tier, limit_s, authorized=on_text is None)
        after, asked = await take_turn(
            context, scope, message, max_depth=self.settings.max_depth, max_leaves=self.settings.max_leaves,
            on_text=on_text, deadline=None if limit_s is None else Deadline.within(limit_s),
        )  # fmt: skip
        if memory is not None:
            await memory.keep_answers()
        return after, asked.output

    async def settle(
        self, scope: ScopingState, message: str, *, tier: Tier | None = None, challenge: bool = True,
        limit_s: float | None = None,
    ) -> Settled:  # fmt: skip
        """Have the manager judge a question while the planner already plans it (see `Drafts.draft`).

        Raises:
            DossierError: the manager gave no answer, or the planner none that could be used.
        """
        after, turn = await self.scope(scope, message, limit_s=limit_s, tier=tier)
        if (
            after.feasible
            and len(after.queries) == 1
            and (ahead := self.drafts.looking.get(whose(after, after.question)))
        ):
            ahead.allow()
        contract = await self.draft(after, tier=tier, challenge=challenge, limit_s=limit_s) if after.feasible else None
        return Settled(after, turn, contract)

    async def draft(
        self, scope: ScopingState, *, tier: Tier | None = None, challenge: bool = True, limit_s: float | None = None
    ) -> Contract:
        """Draft the contract of a talk that is ready.

        Raises:
            DossierError: a planner gave nothing usable.
        """
        await self._recall()
        return await self.drafts.draft(scope, tier, challenge=challenge, limit_s=limit_s)

    async def _recall(self) -> None:
        """Look once what the last runs of these models took: forecasts are measured by them."""
        first, self._recalled = not self._recalled, True
        if not first or self._jobs is None:  # they are being opened yet
            return
        rows, _ = await self.jobs.listed(None, statuses=("done",), limit=REMEMBERED)
        for document in await asyncio.gather(*(self.jobs.report(row.id) for row in reversed(rows))):
            if document is not None:
                self._remember(document)

    def _remember(self, document: ReportDocument) -> None:
        made = document.methodology
        if made.engine == wrote(self.engine, Actual()) and made.forecast is not None and document.references:
            self.drafts.past.append(PastRun(made.actual.seconds, made.actual.cost_usd, made.forecast))

    async def follow_up(self, document: Quoting, question: str) -> FollowUpAnswer:
        """Answer a question from a finished report's own facts, or known ones; `enough` is False where that needs new research.

        Raises:
            BadRequest: the question is empty or far too long.
        """
        return await follow_up(self.context(), document, question)

    @staticmethod
    def read_alone(message: str, before: Sequence[str]) -> str:
        """Word a message that leans on what was asked before it so that it can be read alone, where grammar tells how."""
        return understood(message, before)

    async def take_files(self, given: Sequence[UploadedFile], known: Sequence[OwnFile]) -> UploadResult:
        """Read files that a user gives, and keep their texts."""
        return await take(given, known, self.blobs, datetime.now(UTC).isoformat(timespec="seconds"))

    async def start(
        self, contract: Contract, *, owner: str = "", challenge: bool = True, left_s: float | None = None,
        earlier: Earlier | None = None,
    ) -> Job:  # fmt: skip
        """Start the job of an authorized contract.

        `left_s` is what scoping and planning have left of its time; `earlier` the report that it is run after.
        """
        if left_s is not None and contract.caps.minutes is not None:
            caps = contract.caps.model_copy(update={"minutes": min(contract.caps.minutes, left_s / 60)})
            contract = contract.model_copy(update={"caps": caps})
        return await self.commission(Commission(contract=contract, challenge=challenge, earlier=earlier), owner=owner)

    async def earlier(self, job: Job, use: EarlierUse) -> tuple[Earlier, ReportDocument]:
        """Take over what the report of a job rests on, for a job that runs it anew or goes on from it.

        Raises:
            BadRequest: it has no report.
        """
        document = job.report or await self.jobs.report(job.id)
        if document is None:
            raise BadRequest("That run has no report to go on from.")
        return earlier_of(document, job.sources, use), document

    def renewed(self, contract: Contract) -> Contract:
        """Give an authorized contract as it is run today: the same questions, plans and caps, as of today and all read anew."""
        brief = contract.brief.model_copy(update={"today": self.today(), "memory": None})
        caps = contract.caps.model_copy(update={"minutes": brief.minutes})
        return contract.model_copy(update={"brief": brief, "caps": caps, "spent": ()})

    async def commission(self, commission: Commission, *, owner: str = "") -> Job:
        """Start a job, kept before this returns; the same key of a request gives the same job.

        A brief is that of a caller whose request is the authorization: its planners run inside the job.
        """
        if 0 < (most := self.settings.most_jobs) <= sum(not job.over for job in self.jobs.of(owner)):
            raise TooMany("You have {most} runs waiting or at work, the most there may be.", 60, most=most)
        if commission.earlier is not None:
            commission = commission.model_copy(update={"earlier": await self._as_read_last(commission.earlier)})
        brief, caps = self._agreed(commission)
        budget = Spending(seconds=caps.minutes and caps.minutes * 60, tokens=caps.tokens, cost_usd=caps.cost_usd)
        setup, title = self._set_up(commission, Steering()), brief.question[:120]
        job = await self.jobs.start(commission, setup, owner=owner, title=title, budget=budget)
        # One that somebody else started is observed where it was started.
        return self._observed(job) if job.commission is commission else job

    async def _as_read_last(self, earlier: Earlier) -> Earlier:
        """Leave out what a page said before it was read again in other words: its copy at hand does not open at it."""
        copies: dict[str, str] = {}
        for card in earlier.sources:
            with contextlib.suppress(SourceError):
                copies[card.id] = await self.blobs.get(card.text_hash)
        facts = tuple(
            one
            for one in earlier.facts
            if one.source_id not in copies or copies[one.source_id][one.start : one.end] == one.quote
        )
        return earlier.model_copy(update={"facts": facts})

    def _agreed(self, commission: Commission) -> tuple[Brief, Caps]:
        if commission.contract is not None:
            return commission.contract.brief, commission.contract.caps
        if commission.brief is None:
            raise ValueError("a commission holds a contract or a brief")
        return commission.brief, caps_of(commission.brief, self.means.limits)

    def _observed(self, job: Job) -> Job:
        for observe in self.observers:
            observe(job)
        return job

    def _set_up(self, commission: Commission, steering: Steering) -> JobSetup:
        """Set up what a job works with; after a restart anew."""
        brief, caps = self._agreed(commission)
        context = self.context(brief, steering, commission.contract.retrievers if commission.contract else ())
        if (ahead := self.drafts.looking.pop(whose(brief, brief.question), None)) is not None:
            context.look_ahead(ahead)
        # Caps bound the searches and sources of the whole run, not those of each leaf and round.
        handlers = bounded(self._handlers(context, brief), caps, lambda: context.in_vain)
        handlers = with_facts_of(handlers, commission.earlier)

        def document(job_id: str, outcome: Outcome, actual: Actual) -> ReportDocument:
            unread, engine = tuple(getattr(self.searcher, "unread", ()))[:MAX_UNREAD], self.engine
            written = build(
                job_id, outcome, actual, engine=wrote(engine, actual), reasons=engine.reasons, rejected=unread,
                earlier=commission.earlier,
            )  # fmt: skip
            self._remember(written)
            return written

        span = self.tracing.span if self.tracing else untraced
        return JobSetup(handlers=handlers, build=document, close=context.close, steering=steering, span=span)

    def warm_up(self) -> None:
        """Load what answers and reports would else wait for; slow, so for a thread of its own beside the first work."""
        bound = [part for model in self.models.values() for part in parts_of(model)]
        if any(isinstance(model, LiteLLMModel) and not model.ways.direct for model in bound):
            warm_up()
        self.prompts.compile()
        if isinstance(self.searcher, Chain):
            self.searcher.warm_up()
        import agents.report.formats  # noqa: F401

        build_contracts()
        direction("warm")
        asks_for_facts("How many were closed in May 2020?")  # word lists and the names of months
        gc.freeze()  # what is loaded stays until the end: nothing waits for the collector to go through it

    async def probe(self) -> Probed | None:
        """Try keyless web search once, briefly; None where none would be asked."""
        return await self.searcher.probe() if isinstance(self.searcher, Chain) else None

    async def keep_jobs(self) -> None:
        """Have jobs outlive this process from now on; database and engine are loaded beside what is done meanwhile.

        Raises:
            ConfigError: the store can't be used; jobs die with this process.
        """
        self._jobs = await asyncio.to_thread(self._opened_jobs, kept=True)
        try:
            await self.open()
        except ConfigError:
            self._jobs = None
            raise

    def _opened_jobs(self, *, kept: bool) -> "Client":
        return open_jobs(self.settings, self.blobs, self.clock, kept=kept, limits=self.limits)

    async def ready(self) -> None:
        if self.opening is not None:
            await self.opening

    async def open(self) -> None:
        """Take up the jobs that a former process left; a `ConfigError` when the store can't be used."""
        if self.jobs.worker is not None and (memory := self.memory) is not None:
            self.jobs.worker.chores.append(lambda: tended(memory, self.settings.keep_days))
        for job in await self.jobs.open(self._set_up):
            self._observed(job)

    async def close(self) -> None:
        """Stop all jobs (kept ones go on at the next start) and let go of connections."""
        self.drafts.close()
        if self._jobs is not None:
            await self._jobs.close()
        if self.memory is not None:
            await self.memory.close()
        if self.tracing is not None:
            await asyncio.to_thread(self.tracing.close)
        if isinstance(self.searcher, Chain):
            await self.searcher.close()
        if self.fetcher is not None:
            await self.fetcher.aclose()


def open_team(settings: Settings, *, durable: bool = False) -> Team:
    """Wire a team from settings; with `durable`, its jobs outlive this process: `Team.open` takes them up.

    Raises:
        ConfigError: a setting can't be used; the message says which and why.
    """
    prompts = load_prompts()
    for role in ROLES:
        if missing := prompts[role.prompt_name].inputs - set(role.takes.model_fields):
            raise ConfigError(f"prompt {role.prompt_name!r} wants {sorted(missing)}, which its contract does not hold")
    searcher, sample, fetcher = open_sources(settings)
    blobs = BlobStore(settings.data_dir)
    jobs = open_jobs(settings, blobs, time.monotonic, kept=True) if durable else None
    pacing = Pacing(settings.model_limits)
    models, made = bind([role.name for role in ROLES], settings, prompts, pacing, also=usable_models())
    team = Team(
        settings, models=models, made=made, searcher=searcher, prompts=prompts, sample=sample,
        blobs=jobs.blobs if jobs else blobs, jobs=jobs, memory=open_memory(settings), fetcher=fetcher,
        pacing=pacing,
    )  # fmt: skip
    team.observers.append(team.pauses.observe)
    return team
