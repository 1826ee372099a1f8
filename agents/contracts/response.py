"""What `/run` gives: the answer of one flat run, and the contracts of its planner (names as S1 section 5 gives them)."""

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from agents.contracts.finding import Problem
from agents.contracts.frozen import Confidence, Frozen, QueryType, Text, Tier, TierOrigin, Told
from agents.contracts.plan import Leaf
from agents.contracts.report import Grade
from agents.contracts.sources import CorpusSurvey, SourceKind


class PlanQuery(Frozen):
    """One search of a flat plan."""

    query: Text
    """What is searched for."""
    intent: Text
    """What it must settle, as a short noun phrase that can stand as a heading."""


class FlatPlanInput(Told):
    """What the flat planner is given."""

    task: Text
    tier: Tier | None = None
    """Given by the request; None asks the planner to detect it."""
    max_queries: int = Field(default=6, ge=1)
    """Searches that the run may make in all."""
    survey: CorpusSurvey = CorpusSurvey()


class FlatPlan(Frozen):
    """A flat plan: 3 to 6 queries side by side, or the verdict that the task is too broad for that."""

    feasible: bool
    reasons: tuple[str, ...]
    """Why it is not feasible; empty when it is."""
    suggested_splits: tuple[str, ...]
    """Narrower tasks to choose from when it is not feasible; else empty."""
    tier: Tier
    query_type: QueryType
    queries: tuple[PlanQuery, ...]
    """Most telling first; empty when it is not feasible."""
    claims: tuple[str, ...]
    """Testable statements that the answer will have to confirm, qualify or refute."""
    leaves: SkipJsonSchema[tuple[Leaf, ...] | None] = None
    """From the offline engine, in the place of queries: the parts of the task with their own questions. None from a model."""


class AgentSource(Frozen):
    """A source that passed verification: it was retrieved, and its quotes stand in the stored text."""

    id: Text
    """As cited, for example `[1]`."""
    title: Text
    url: Text
    type: SourceKind
    author: str | None = None
    site: str | None = None
    published: str | None = None
    quotes: tuple[str, ...] = ()
    """The words that carry what is cited."""


class Citation(Frozen):
    """One entry of the reference list."""

    id: Text
    title: Text
    type: SourceKind
    location: Text
    """Address on the web; for a document of one's own, the route that shows the quote in its stored copy."""


class RunLimits(Frozen):
    """What bounded a run."""

    max_iters: int
    max_queries: int
    max_sources: int
    max_execution_time_s: float


class RunMetadata(Frozen):
    """What a run was made with, and what it took."""

    timestamp: str
    """ISO date and time of the answer, UTC."""
    model: str
    token_count: int
    job_id: str
    complexity_tier: Tier
    tier_origin: TierOrigin
    """Who chose the tier: the request, the planner, or nobody."""
    limits: RunLimits
    queries: tuple[PlanQuery, ...]
    """The plan as it was carried out."""
    grade: Grade
    grade_reasons: tuple[str, ...] = ()
    sent_back: str = ""
    """Why the judge sent the report back, where one is required; empty where it did not."""
    language: str
    query_type: QueryType
    seconds: float
    """From the request to the answer, planning included."""
    cost_usd: float | None
    """None is unknown, not zero."""
    searches: int
    model_calls: int
    tags: tuple[str, ...] = ()
    contract: str
    """Hash of what was carried out."""
    verifiable_ratio: float | None = None


class AgentResponse(Frozen):
    """The answer of `/run`."""

    final_answer: Text
    """The whole report, as Markdown."""
    summary: str
    """Its opening."""
    sources: tuple[AgentSource, ...]
    citations: tuple[Citation, ...]
    confidence: Confidence
    iterations: int = Field(ge=0)
    insufficient_termination: bool
    """True when a cap or the time ended it while the answer was not sufficient yet."""
    degraded_mode: bool
    error_log: tuple[Problem, ...]
    metadata: RunMetadata
