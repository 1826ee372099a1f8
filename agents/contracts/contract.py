"""The contract: the frozen brief and plans that the user authorized, with hash, forecast and caps."""

from pydantic import Field, model_validator

from agents.contracts.brief import Brief
from agents.contracts.frozen import Frozen, Text, digest
from agents.contracts.plan import Plan


class ForecastLine(Frozen):
    """One figure of the forecast, with what it rests on."""

    name: Text
    low: float | None
    high: float | None
    """Both None when it cannot be known, which is not zero."""
    unit: str = ""
    basis: Text


class Forecast(Frozen):
    """What the run is expected to take: nodes, searches, sources, model calls, minutes, cost."""

    lines: tuple[ForecastLine, ...]


class Caps(Frozen):
    """What the run may not exceed without a new authorization."""

    minutes: float | None = None
    rounds: int = Field(ge=1)
    searches: int = Field(ge=1)
    sources: int = Field(ge=1)
    leaves: int = Field(ge=1)
    depth: int = Field(ge=1, le=3)
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
