"""A live job: what faces see of it, how they follow it, and how its work is carried out to a report.

Tells running jobs when a model provider asks to be left alone: a wait that nobody sees looks like a fault.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from agents.contracts import report as reports
from agents.contracts.contract import Contract
from agents.contracts.frozen import Said
from agents.contracts.sources import SourceCard
from agents.contracts.verification import Claim
from agents.core import events as told
from agents.core.errors import DossierError
from agents.core.events import JobChanged, Numbered, RoleAsked
from agents.core.port import Handlers
from agents.jobs.attempt import Attempt, Spans, untraced
from agents.llm.pacing import Pacing
from agents.research.challenge.claim_ledger import planned_claims
from agents.research.steering import Steering

if TYPE_CHECKING:
    from agents.jobs.store import WholeJob

PLANNER_WINDOW_S = 120.0  # seconds that a job's planner is waited for, where the settings say nothing else
WRITING = frozenset({"section", "lead", "frame", "reflector", "judge"})
"""Kinds of steps that a rework does anew; what was searched, read and extracted stays."""
WARNINGS = 20  # warnings that are kept in a job's metadata, the last ones

BuildReport = Callable[[str, reports.Outcome, reports.Actual], reports.ReportDocument]
"""Makes the report document of a job from its outcome and what it took."""


@dataclass
class JobSetup:
    """What one job runs with: its handlers, and what to do when it is over."""

    handlers: Handlers
    build: BuildReport
    close: Callable[[], None] = lambda: None
    steering: Steering = field(default_factory=Steering)
    span: Spans = untraced


SetUp = Callable[[reports.Commission, Steering], JobSetup]  # sets a commission's job up anew, after a restart


@dataclass(eq=False)
class Job:
    """One job of this process, run or watched here."""

    id: str
    owner: str
    title: str
    commission: reports.Commission
    run: Attempt
    created: str  # ISO date and time, UTC
    thread_id: str = ""  # the chat it was started in; empty for other callers
    status: reports.JobStatus = "queued"
    stage: reports.Stage = "planning"
    blocked_reason: reports.BlockedReason | None = None
    error: DossierError | None = None
    report: reports.ReportDocument | None = None
    setup: JobSetup | None = None  # what it runs with; None where it is only looked at
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once this process has nothing to do about it any more."""
    released: bool = False  # True once this process lets go of it, though it goes on elsewhere or later
    _moved: asyncio.Event = field(default_factory=asyncio.Event)

    @classmethod
    def of(cls, whole: "WholeJob", run: Attempt) -> "Job":
        return cls(
            id=whole.id, owner=whole.owner, title=whole.title, commission=whole.commission, run=run,
            created=whole.created.isoformat(timespec="seconds"), thread_id=whole.thread_id, status=whole.status,
            stage=whole.stage, blocked_reason=whole.blocked_reason,
        )  # fmt: skip

    @property
    def contract(self) -> Contract | None:
        """What it works by: the authorized contract, or the one that its own planners drafted; None before that."""
        planned = (one.event.contract for one in reversed(self.run.events) if isinstance(one.event, told.Planned))
        return self.commission.contract or next(planned, None)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Its claims as they stand: those of the report, else those of its plans, weighed as far as they are."""
        if self.report is not None and self.report.claims:
            return self.report.claims
        plans = self.contract.plans if self.contract else ()
        planned = (Claim(id=one.id, text=one.text) for plan in plans for one in planned_claims(plan))
        weighed = (one.event.claim for one in self.run.events if isinstance(one.event, told.ClaimWeighed))
        return tuple({claim.id: claim for claim in (*planned, *weighed)}.values())

    @property
    def sources(self) -> dict[str, SourceCard]:
        """What it has read, and what it took over from an earlier report, by id."""
        return sources_read(self.run.events, self.commission)

    @property
    def over(self) -> bool:
        """True once nothing about it will change."""
        return self.status in reports.OVER and self.ended.is_set()

    @property
    def notice(self) -> str:
        """One sentence for the user about what went wrong; empty when nothing did."""
        return self.error.notice if self.error else ""

    @property
    def awaits_somebody(self) -> bool:
        """True while it rests until somebody acts: sets a key, releases or reworks it, or restarts it."""
        return self.status == "blocked" and self.blocked_reason != "paused"

    def end(self) -> None:
        """Let it rest: its setup is closed, and whoever waits or follows wakes."""
        self.ended.set()
        if self.setup is not None:
            self.setup.close()
        if self.status in reports.OVER:
            self.setup = None
            self.run.let_go()
        self.moved()

    def moved(self) -> None:
        self._moved.set()
        self._moved = asyncio.Event()

    def hear(self, numbered: Numbered) -> None:
        """Follow an event of the run: status and stage are those of the last one."""
        if isinstance(event := numbered.event, JobChanged):
            self.status, self.stage, self.blocked_reason = event.status, event.stage, event.blocked_reason
        self.moved()

    async def follow(
        self, after: int = 0, *, heartbeat_s: float = 15.0, attended: bool = False
    ) -> AsyncIterator[Numbered | None]:
        """Give the events after number `after`, then new ones as they come, until the last; None as a heartbeat.

        With `attended`, for callers who do nothing but wait for it, also until it rests and waits for somebody.
        """
        seq = after
        while True:
            moved = self._moved
            for numbered in self.run.events[seq : self.run.stored]:
                seq = numbered.seq
                yield numbered
            last = self.status in reports.OVER or (attended and self.awaits_somebody)
            if self.released or (last and seq >= len(self.run.events)):
                return
            try:
                # Not `wait_for`, which makes a task of its own for every event of every watcher.
                async with asyncio.timeout(heartbeat_s):
                    await moved.wait()
            except TimeoutError:
                yield None

    async def wait(self) -> None:
        await self.ended.wait()

    async def settled(self) -> None:
        """Wait for the end, or until it rests and waits for somebody: for callers who do nothing but wait."""
        while not self.ended.is_set() and not self.awaits_somebody:
            moved = self._moved
            await moved.wait()

    def summary(self) -> reports.JobSummary:
        asked = [one.event.usage for one in self.run.events if isinstance(one.event, RoleAsked)]
        notes = [one.event.note for one in self.run.events if isinstance(one.event, JobChanged)]
        costs = [usage.cost_usd for usage in asked if usage.cost_usd is not None]
        report = self.report
        return reports.JobSummary(
            id=self.id, title=report.title if report else self.title, status=self.status, stage=self.stage,
            grade=report.grade if report else None, created=self.created,
            seconds=self.run.events[-1].seconds if self.over and self.run.events else round(self.run.now(), 3),
            tokens=sum(usage.tokens for usage in asked), cost_usd=sum(costs) if len(costs) == len(asked) else None,
            note=notes[-1] if notes and self.status not in {"queued", "running"} else "",
        )  # fmt: skip

    def actual(self) -> reports.Actual:
        run, pages = self.run, told.PageCount()
        spent = run.budget.spent
        for numbered in run.events:
            pages.take(numbered.event)
        return reports.Actual(
            seconds=round(run.now(), 3), tokens_in=spent.tokens_in, tokens_out=spent.tokens_out,
            cost_usd=spent.cost_usd, model_calls=spent.calls, searches=spent.searches, pages_fetched=pages.fetched,
            pages_empty=pages.empty, stand_ins=stand_ins(run.events), started_at=self.created,
        )  # fmt: skip


def sources_read(events: Iterable[Numbered], commission: reports.Commission) -> dict[str, SourceCard]:
    """List what a job has read, and what it took over from an earlier report, by id."""
    return {card.id: card for card in _read(events, commission)}


def copies_read(events: Iterable[Numbered], commission: reports.Commission, source_id: str) -> tuple[str, ...]:
    """Name the texts of a source, the last one first: a page that changed is quoted as it read each time."""
    cards = _read(events, commission)
    return tuple(dict.fromkeys(card.text_hash for card in reversed(cards) if card.id == source_id))


def _read(events: Iterable[Numbered], commission: reports.Commission) -> tuple[SourceCard, ...]:
    earlier = commission.earlier
    taken = earlier.sources if earlier and earlier.use == "continue" else ()
    return (*taken, *(one.event.source for one in events if isinstance(one.event, told.SourceRead)))


def stand_ins(events: Iterable[Numbered]) -> tuple[reports.StandIn, ...]:
    """Count which models answered in the place of others, from the events of a job."""
    asked = [one.event for one in events if isinstance(one.event, RoleAsked) and one.event.stood_in_for]
    because = {(one.model, one.stood_in_for): one.stood_in for one in asked}
    times = Counter((one.model, one.stood_in_for) for one in asked)
    return tuple(
        reports.StandIn(model=pair[0], stood_in_for=pair[1], answers=number, because=because[pair])
        for pair, number in times.items()
    )


def poorer(document: reports.ReportDocument, earlier: reports.ReportDocument, run: Attempt) -> bool:
    """Tell whether more of a report failed to be written by the model bound for it than of the earlier one."""

    def written(key: str) -> bool:
        return key.partition("#")[2].partition(":")[0] in WRITING

    restarts = run.steering.restarts_before
    asked = [one for one in run.events if isinstance(one.event, RoleAsked) and one.event.stood_in_for]
    stood_in = Counter(restarts(one.seconds) for one in asked if written(one.key))
    wrote = next((one.seconds for one in reversed(run.events) if isinstance(one.event, told.ReportWritten)), 0.0)
    now, before = (sum(written(problem.where) for problem in one.error_log) for one in (document, earlier))
    return now + stood_in[restarts(run.now())] > before + stood_in[restarts(wrote)]


def orchestrator(job: Job, window_s: float = PLANNER_WINDOW_S) -> dict[str, object]:
    """Say until when planning is waited for, when it was done, and what it came to: `metadata.orchestrator` of a job."""
    created, events = datetime.fromisoformat(job.created), [one.event for one in job.run.events]
    staged = ((one.event, one.seconds) for one in job.run.events if isinstance(one.event, JobChanged))
    planned_s = next((seconds for event, seconds in staged if event.stage == "collecting"), None)
    planned_at = None if planned_s is None else (created + timedelta(seconds=planned_s)).isoformat(timespec="seconds")
    warnings = [str(one.text) for one in events if isinstance(one, told.Noted) and one.tag]
    return {
        "stage": job.stage,
        "plannerPendingUntil": (created + timedelta(seconds=window_s)).isoformat(),
        "plannedAt": planned_at,
        "claimCount": len(job.claims),
        "warnings": warnings[-WARNINGS:],
    }


class Pauses:
    """Passes pauses that providers ask for on to the jobs of this process, and to who else waits for answers."""

    def __init__(self, pacing: Pacing) -> None:
        pacing.on_pause = self._tell
        self._jobs: list[Job] = []
        self.others: list[Callable[[Said], None]] = []

    def observe(self, job: Job) -> None:
        """Tell a job from now on, until it is over."""
        self._jobs = [one for one in self._jobs if not one.over]
        self._jobs.append(job)

    def _tell(self, provider: str, seconds: float) -> None:
        form = "The model provider ({provider}) wants us to wait: it is asked again in {seconds} s."
        text = Said(form, provider=provider, seconds=round(seconds))
        for hear in self.others:
            hear(text)
        for job in self._jobs:
            if job.status == "running":
                job.run.emit(f"job#pause:{provider}~{len(job.run.events)}", told.Noted(text=text))
