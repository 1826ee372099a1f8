"""The brief: what manager and user agree on, and the manager's scoping contracts.

The contract: the frozen brief and plans that the user authorized, with hash, forecast and caps.

Changes of a running job after its authorization: the command, and the change that was recorded.
"""

import re
from typing import Literal

from pydantic import Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from agents.contracts.frozen import Frozen, Mode, QueryType, Role, Said, Spent, Text, Tier, digest
from agents.contracts.plan import Plan
from agents.contracts.sources import CorpusSurvey, OwnFile, Place, SourceLimits


class Query(Frozen):
    """One research question with the verdict on it."""

    text: Text
    feasible: bool
    reason: Text
    """Why it is, or is not, feasible: in the user's words and language."""
    depth_estimate: int = Field(ge=1, le=9)
    """Executors in a row that its tree would need; more than 3 is never feasible."""
    sub_topics: tuple[str, ...] = ()
    """Parts that its tree should have, where the talk settled them; the planner builds on them. Else empty."""
    scope_limits: SkipJsonSchema[tuple[str, ...]] = ()
    """What was agreed to leave out, or to stay within."""
    suggested_split: tuple[str, ...] = ()
    """Narrower questions to choose from when it is not feasible."""

    @model_validator(mode="after")
    def _deep_is_not_feasible(self) -> "Query":
        if self.feasible and self.depth_estimate > 3:
            raise ValueError("a query whose tree is deeper than 3 executors is not feasible")
        return self


class Turn(Frozen):
    """One utterance of the scoping talk."""

    speaker: Literal["user", "manager"]
    text: Text


class ScopingInput(Frozen):
    """What the manager is given for one turn of scoping."""

    message: Text
    """What the user just wrote."""
    turns: tuple[Turn, ...] = ()
    """The talk so far, oldest first."""
    agreed: tuple[Query, ...] = ()
    """The queries as they stood before this message."""
    survey: CorpusSurvey = CorpusSurvey()
    today: str
    """ISO date."""
    language: str
    """Language of the user's message, as a BCP 47 tag."""
    max_depth: int = Field(default=3, ge=1, le=3)
    max_leaves: int = Field(default=12, ge=1)
    """Leaves that one query's tree may have; more means that the query is too broad."""


class ScopingTurn(Frozen):
    """The manager's answer: words for the user first, then what code acts on."""

    reply: Text
    """Streamed to the user as it is written; code's verdict stands below it and wins."""
    queries: tuple[Query, ...]
    open_questions: tuple[str, ...]
    """One or two at a time."""
    query_type: QueryType
    tier: Tier
    language: Text
    ready: SkipJsonSchema[bool] = True
    """True when nothing is left to settle with the user: derived from what stands above."""


class UnheardQuery(Query):
    """A query without a talk that could have settled its parts."""

    sub_topics: SkipJsonSchema[tuple[str, ...]] = ()


class UnheardTurn(ScopingTurn):
    """The same where nobody reads the words or answers a question: they would only be waited for."""

    reply: SkipJsonSchema[str] = ""
    queries: tuple[UnheardQuery, ...]
    open_questions: SkipJsonSchema[tuple[str, ...]] = ()


DEFAULT_MINUTES = 5.0
"""Time budget of a run when none is given (specification, section 5)."""


class Agreement(SourceLimits):
    """How a question shall be researched: settled in the talk, and part of what is agreed."""

    language: Text = "en"
    query_type: QueryType = "other"
    mode: Mode = "standard"
    minutes: float | None = Field(default=DEFAULT_MINUTES, gt=0, le=1440)
    """Time budget; None is unlimited."""
    seed_urls: tuple[str, ...] = ()
    """Addresses the user named; read first, and whatever the limits are."""
    files: tuple[OwnFile, ...] = ()
    """The user's own files, in the order they were given; searched beside all else."""
    places: tuple[Place, ...] = ()
    """Where to search; empty for wherever the server can."""
    models: tuple[tuple[Role, Text], ...] = ()
    """Models the user chose for roles, in the place of the server's."""
    memory: str | None = None
    """Whose knowledge base is asked before anything is searched, and told what was found; None leaves it alone."""
    known: tuple[str, ...] = ()
    """What an earlier report has established and left open, which this run goes on from: the planner builds on it."""


class Brief(Agreement):
    """What manager and user agreed."""

    question: Text
    """What the user asked, in the user's words."""
    queries: tuple[Query, ...] = Field(min_length=1)
    tier: Tier | None = None
    """Given for `/run`; None means the bounds of the mode."""
    max_cost_usd: float | None = Field(default=None, gt=0)
    today: str
    """ISO date on which it was agreed: what 'latest' means."""


class ForecastLine(Frozen):
    """One figure of the forecast, with what it rests on."""

    name: Text
    low: float | None
    high: float | None
    """Both None when it cannot be known, which is not zero."""
    likely: float | None = None
    """The one figure to reckon with, from what earlier runs really took where there were any; None is unknown."""
    unit: str = ""
    basis: Text


class Forecast(Frozen):
    """What the run is expected to take: nodes, searches, sources, model calls, minutes, cost."""

    lines: tuple[ForecastLine, ...]


class PaceSeen(Frozen):
    """How quickly the model that reads answers, as seen so far in this process."""

    call_s: float | None = None
    """Seconds of a usual call; None where none was seen."""
    at_once: int = 1
    """Calls that its provider works on at the same time."""


class Caps(Frozen):
    """What the run may not exceed without a new authorization."""

    minutes: float | None = None
    rounds: int = Field(ge=1)
    searches: int = Field(ge=1)
    sources: int = Field(ge=1)
    searches_per_leaf: int = Field(default=5, ge=1)
    tokens: int | None = None
    cost_usd: float | None = None


class Contract(Frozen):
    """Exactly what the phrase binds. One plan per query, in the order of the queries."""

    brief: Brief
    plans: tuple[Plan, ...] = Field(min_length=1)
    caps: Caps
    forecast: Forecast
    models: tuple[str, ...] = ()
    """Models that will be asked, for the reader of the contract."""
    retrievers: tuple[str, ...] = ()
    """Where queries will go."""
    spent: tuple[Spent, ...] = ()
    """What the talk about it and its drafts took: booked on the job that is started from it."""
    cost_unheld: Said = Said()
    """That the limit of cost can't be held, and why; empty where it can."""

    @model_validator(mode="after")
    def _one_feasible_plan_per_query(self) -> "Contract":
        if len(self.plans) != len(self.brief.queries):
            raise ValueError(f"{len(self.brief.queries)} queries need as many plans; got {len(self.plans)}")
        if infeasible := [query.text for query in self.brief.queries if not query.feasible]:
            raise ValueError(f"a contract may not hold an infeasible query: {infeasible}")
        return self

    @property
    def hash(self) -> str:
        """Name what is bound (brief, plans, caps; not the forecast) by 12 hex digits."""
        bound = self.model_dump_json(include={"brief", "plans", "caps"})
        return digest(bound, 12)


ChangeKind = Literal["limits", "finish", "stop", "drop", "retry", "guidance", "restart"]


_AGAIN = re.compile(r"\+\d+(?=/|$)")


def place(path: str) -> str:
    """Give a branch's place in the tree: a second try of `job/0/1` runs at `job/0/1+2` and has the same place."""
    return _AGAIN.sub("", path)


class Narrowing(SourceLimits):
    """Limits that were set after the authorization. They only ever take away; empty fields leave the contract's."""

    seconds: float | None = Field(default=None, gt=0)
    """Seconds in all, the report included; a restart or rework has them anew."""

    def __bool__(self) -> bool:
        return self != Narrowing()


class Command(Frozen):
    """What the user wants changed in a running job."""

    kind: ChangeKind
    node: str = ""
    """Path of the branch it is about; `job` or empty for the whole run."""
    title: str = ""
    """How the reader knows the branch, for example `2 “Costs”`."""
    words: str = ""
    """What was said, in plain words."""
    limits: Narrowing = Narrowing()


class Change(Command):
    """A command as it was recorded; the report lists all of them."""

    number: int = Field(ge=1)
    seconds: float = Field(ge=0)
    """On the job's clock."""
    words: Text
