"""What a job's research comes to, before it is made into a report document.

Jobs: one execution of one contract.

The report document: what `--json` writes, what a job returns, what every export is made from.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import Field, model_validator

from agents.contracts.body import Body, SentenceVerdict
from agents.contracts.contract import Brief, Change, ChangeKind, Contract, Forecast
from agents.contracts.fact import Fact, MemoryNote
from agents.contracts.finding import Finding, Frame, NodeStatus, Problem, QuestionAnswer
from agents.contracts.frozen import Frozen, QueryType, Text, TierOrigin
from agents.contracts.plan import LoopDecision, RetryEntry, RetryState, RoundRecord, SkippedTopic, added_up
from agents.contracts.sources import RejectedSource, Shortlist, SourceCard, SourceKind
from agents.contracts.verification import Claim, Gate, Truth, Verdict


class KeyedRequest(Frozen):
    """What a caller asked for under a key of its own: asking again gives the same job and the same answer."""

    key: Text
    fingerprint: Text
    """Digest of the whole request; another request under the same key is refused."""


EarlierUse = Literal["refresh", "continue"]


class Earlier(Frozen):
    """What an earlier report rests on: a job runs it anew on today's sources, or goes on from it."""

    use: EarlierUse
    job_id: Text
    date: str
    """ISO date on which it was begun."""
    claims: tuple[Claim, ...] = ()
    facts: tuple[Fact, ...] = ()
    """Those that it cites."""
    sources: tuple[SourceCard, ...] = ()


class Commission(Frozen):
    """What a job is given: the contract that the user authorized, or a brief whose planners run inside the job."""

    contract: Contract | None = None
    brief: Brief | None = None
    """Of a caller whose request is the authorization (command line, HTTP)."""
    unjudged: bool = False
    """The brief's questions are as the caller sent them: the manager judges them inside the job."""
    challenge: bool = True
    request: KeyedRequest | None = None
    """Only of jobs that were started under a key."""
    earlier: Earlier | None = None
    """The report that this one is run after."""
    tier_origin: TierOrigin = "default"
    """Of a run that was planned before there was a job: where its tier is from, and how long that took."""
    planning_s: float = 0.0


class Outcome(Frozen):
    """Findings of all queries and the frame around them. Prose cites facts by `[#id]`."""

    contract: Contract
    findings: tuple[Finding, ...]
    """One per query, in the order of the contract."""
    frame: Frame | None
    """None when there was nothing to write about, or when it was written without a model."""
    problems: tuple[Problem, ...] = ()
    """Failures outside any node; each node holds its own."""
    tags: tuple[str, ...] = ()
    """Response-awareness tags that apply, for example `#TIME_LIMIT`."""
    truth: Truth = Truth()
    """Claims, sentence checks and gates; empty where nothing was challenged or checked."""
    counter: tuple[Finding, ...] = ()
    """One per query: the facts that the search for counter-evidence brought."""
    changes: tuple[Change, ...] = ()
    """What the user changed after the authorization, in order."""
    seed_failures: tuple[str, ...] = ()
    """Addresses the user named that could not be read."""
    memory: MemoryNote = MemoryNote()
    """What the knowledge base did for it."""


Grade = Literal["complete", "partial", "nothing_found"]


class Quote(Frozen):
    """The words in a source that carry a statement."""

    text: Text
    start: int = Field(ge=0)
    end: int = Field(ge=1)
    fact_id: Text
    page: int | None = Field(default=None, ge=1)
    """Page of the source on which it begins, counted from 1; None where the source has no pages."""


class Reference(Frozen):
    """One entry of the reference list."""

    n: int = Field(ge=1)
    source_id: Text
    url: Text
    title: Text
    author: str | None = None
    site: str | None = None
    published: str | None = None
    accessed: str | None = None
    kind: SourceKind = "web"
    language: str | None = None
    """Of its words, as an ISO 639-1 code; None where nobody can tell."""
    notes: tuple[str, ...] = ()
    """What was not read of it, for example `page 2 of 2 could not be read`."""
    known_since: str = ""
    """ISO date on which earlier research first read words of it that are used here; empty where none did."""
    quotes: tuple[Quote, ...]


JUDGED = frozenset({"supported", "partly", "unsupported", "contradicted", "uncited"})
"""Verdicts on a sentence that states a fact."""


def tally(verdicts: Iterable[str | None]) -> tuple[int, int]:
    """Count the sentences that their sources carry, and those that were judged: the one count of every screen."""
    counted = [verdict for verdict in verdicts if verdict in JUDGED]
    return counted.count("supported"), len(counted)


class ReportSentence(Frozen):
    """One sentence of the body, with what carries it."""

    text: Text
    """Its words, without markup."""
    citations: tuple[int, ...] = ()
    verdict: SentenceVerdict | None = None
    why: str = ""
    """What a check found against it, in the report's language."""
    facts: tuple[str, ...] = ()


class Tag(Frozen):
    """A response-awareness tag with one plain sentence."""

    tag: Text
    text: Text


class StandIn(Frozen):
    """A model, or the offline engine, that answered in the place of the one that was bound."""

    model: Text
    stood_in_for: Text
    answers: int = Field(ge=1)
    because: str = ""
    """What was wrong with the one that was bound, in words for the user."""


class Actual(Frozen):
    """What the run took; None is unknown, not zero."""

    seconds: float | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None
    model_calls: int = 0
    searches: int = 0
    pages_fetched: int = 0
    pages_empty: int = 0
    """Those of them that gave no usable text: walls, shells of scripts, scans, broken or unreachable ones."""
    stand_ins: tuple[StandIn, ...] = ()
    started_at: str | None = None
    """When the job was started, as ISO 8601."""


class Methodology(Frozen):
    """How it was researched."""

    tags: tuple[Tag, ...] = ()
    engine: str = ""
    """Which model wrote, or that none did."""
    rounds: int = 0
    searches: int = 0
    sources_read: int = 0
    sources_rejected: tuple[RejectedSource, ...] = ()
    dispatched_topics: tuple[str, ...] = ()
    skipped_topics: tuple[SkippedTopic, ...] = ()
    retry_tracking: tuple[RetryEntry, ...] = ()
    assumptions: tuple[str, ...] = ()
    forecast: Forecast | None = None
    actual: Actual = Actual()


class NodeRow(Frozen):
    """One row of the executed tree."""

    path: Text
    parent: str
    role: str
    title: str
    status: NodeStatus
    seconds: float | None = None
    sources: int = 0
    claims: int = 0
    tokens: int = 0
    cost_usd: float | None = None
    note: str = ""


class RetryTracking(Frozen):
    """Attempts by sub-question and address, and how many were given up."""

    subquestions: dict[str, RetryState] = Field(default_factory=dict)
    total_exhausted: int = 0

    @classmethod
    def of(cls, entries: Iterable[RetryEntry]) -> "RetryTracking":
        """Add up what branches noted."""
        found = added_up(entries)
        return cls(subquestions=found, total_exhausted=sum(one.status == "exhausted" for one in found.values()))


class TimeBudget(Frozen):
    """Minutes in all and minutes kept for writing; null when unlimited."""

    total_minutes: float | None = None
    synthesis_reserve_minutes: float = 1.5
    started_at: str | None = None


class Iteration(Frozen):
    """The round that runs or ran last, and how many there may be."""

    current: int = 0
    max: int = 0


class GapAnalysis(Frozen):
    """The latest loop decision, and all before it."""

    loop_decision: LoopDecision | None = None
    history: tuple[LoopDecision, ...] = ()


class ResearchState(Frozen):
    """State of one loop, in the shape of S0 TR-4."""

    time_budget: TimeBudget = TimeBudget()
    iteration: Iteration = Iteration()
    retry_tracking: RetryTracking = RetryTracking()
    gap_analysis: GapAnalysis = GapAnalysis()


class NodePhase(Frozen):
    """State of one node's loop."""

    node: Text
    research: ResearchState


class PhaseState(Frozen):
    """The `phase_state` of a job: the root's loop with the retries of the whole job, and every node's own."""

    research: ResearchState = ResearchState()
    nodes: tuple[NodePhase, ...] = ()
    queries: tuple[NodePhase, ...] = ()
    """One per query when there are several; empty with one."""


class ReportChange(Frozen):
    """One change after the authorization."""

    number: int = Field(ge=1)
    seconds: float = Field(ge=0)
    """When, on the job's clock."""
    kind: ChangeKind
    words: Text
    """As it was said or noted during the run."""
    effect: Text
    """What it did, in the report's language."""


class ClaimMoved(Frozen):
    """A claim whose verdict is another than in the earlier report."""

    text: Text
    before: Verdict | None
    """None where the earlier report did not hold it."""
    after: Verdict


class SinceEarlier(Frozen):
    """What has changed since an earlier report."""

    use: EarlierUse
    job_id: Text
    date: str
    claims: tuple[ClaimMoved, ...] = ()
    new_sources: tuple[str, ...] = ()
    """Titles."""
    changed_sources: tuple[str, ...] = ()
    """Those that read otherwise now."""
    missing_sources: tuple[str, ...] = ()
    """Those that it cites and that were not read this time."""
    missing_facts: tuple[str, ...] = ()
    """What it quotes of sources that read otherwise now, and that was not found there again."""


class BoundContract(Frozen):
    """What was authorized, in short."""

    hash: Text
    question: Text
    queries: tuple[str, ...]
    minutes: float | None = None
    mode: str = ""


class ReportDocument(Frozen):
    """The whole report. Every citation is in the reference list and the list holds only what is cited."""

    schema_version: Literal[1] = 1
    job_id: Text
    grade: Grade
    grade_reasons: tuple[str, ...] = ()
    queries_tried: tuple[str, ...] = ()
    answers: tuple[QuestionAnswer, ...] = ()
    """How far each question of the contract is answered; a report is complete only if all are."""
    title: Text
    language: Text
    question: Text
    query_type: QueryType
    markdown: Text
    body: Body = Body()
    """The same text as a tree, from which every format is written."""
    sentences: tuple[ReportSentence, ...] = ()
    references: tuple[Reference, ...] = ()
    claims: tuple[Claim, ...] = ()
    gates: tuple[Gate, ...] = ()
    """Figures reached and figures asked for; confidence and verifiable ratio lower the grade where they fall short."""
    shortlists: tuple[Shortlist, ...] = ()
    """What scouts chose for reading: tags, themes and balance of the chosen, and why the others were left out."""
    methodology: Methodology = Methodology()
    verifiable_ratio: float | None = Field(default=None, ge=0, le=1)
    confidence: float | None = Field(default=None, ge=0, le=100)
    """0 to 100; None until evidence was weighed."""
    limitations: tuple[str, ...] = ()
    degraded_mode: bool = False
    insufficient_termination: bool = False
    error_log: tuple[Problem, ...] = ()
    nodes: tuple[NodeRow, ...] = ()
    rounds_log: tuple[RoundRecord, ...] = ()
    phase_state: PhaseState = PhaseState()
    changes: tuple[ReportChange, ...] = ()
    """What the user changed after the authorization, in order."""
    since: SinceEarlier | None = None
    """What has changed since the report that this one was run after; None where there is none."""
    contract: BoundContract

    @model_validator(mode="after")
    def _citations_and_references_agree(self) -> "ReportDocument":
        listed = [reference.n for reference in self.references]
        if listed != list(range(1, len(listed) + 1)):
            raise ValueError(f"references are not numbered 1 to {len(listed)} in order: {listed}")
        cited = {n for sentence in self.sentences for n in sentence.citations}
        if unknown := sorted(cited - set(listed)):
            raise ValueError(f"sentences cite references that do not exist: {unknown}")
        if unused := sorted(set(listed) - cited):
            raise ValueError(f"the reference list holds entries that nothing cites: {unused}")
        quoted = {quote.fact_id for reference in self.references for quote in reference.quotes}
        loose = sorted({fact for sentence in self.sentences for fact in sentence.facts} - quoted)
        if loose:
            raise ValueError(f"sentences rest on facts that no reference quotes: {loose}")
        if self.grade == "nothing_found" and listed:
            raise ValueError("a report that found nothing cites nothing")
        return self

    @property
    def limited(self) -> str:
        """That search was limited or that another model stood in, and why, as its head says it; empty where neither was so."""
        told = [tag.text.rstrip(".。") for tag in self.methodology.tags if tag.tag == "#DEGRADED_SEARCH"]
        told += [one.because for one in self.methodology.actual.stand_ins if one.because]
        return " ".join(one for one in self.grade_reasons if any(text in one for text in told))


JobStatus = Literal["queued", "running", "blocked", "done", "failed", "cancelled"]
BlockedReason = Literal["paused", "needs_rework", "awaiting_key", "version"]
Stage = Literal["planning", "collecting", "challenging", "composing", "judging", "reworking", "completed"]

OVER: frozenset[JobStatus] = frozenset({"done", "failed", "cancelled"})
"""Statuses after which a job never changes."""


class JobSummary(Frozen):
    """One row of a list of jobs."""

    id: Text
    title: str
    status: JobStatus
    stage: Stage
    grade: Grade | None = None
    created: str
    """ISO date and time, UTC."""
    seconds: float = 0.0
    """On the job's clock."""
    tokens: int = 0
    cost_usd: float | None = 0.0
    """None is unknown, not zero."""
    note: str = ""
    """Why it ended, when it did not end well; why it rests, when it does."""


TaskStage = Literal["plan", "collect", "challenge", "write"]


_ABOUT_A_CLAIM: Mapping[TaskStage, str] = {
    "plan": "plan what settles it",
    "collect": "look for more evidence",
    "challenge": "look for what speaks against it",
    "write": "say how it stands",
}


class JobTask(Frozen):
    """A task that an operator puts into a job, and what came of it."""

    stage: TaskStage
    claim_id: str = ""
    """The claim it is about; empty for all."""
    claim: str = ""
    """Its text: what a model can act on."""
    note: str = ""
    """What to look at."""

    @property
    def guidance(self) -> str:
        """The task in words that whatever is still to come can follow; empty where it says no more than its stage."""
        note = self.note or (self.claim and _ABOUT_A_CLAIM[self.stage])
        return f"The claim “{self.claim}”: {note}" if self.claim else note
