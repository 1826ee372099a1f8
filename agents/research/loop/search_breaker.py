"""The circuit breaker of a run's searches: when searching counts as broken, and when it has recovered."""

from typing import Literal

from pydantic import Field

from agents.contracts.frozen import Frozen

MAX_CONSECUTIVE = 3
"""Failed searches in a row that open the breaker (specification, section 11)."""

MIN_SEARCHES = 4
"""Searches from which the share of failures counts (specification, section 11)."""

MAX_SHARE = 0.5
"""Share of failures that opens the breaker (specification, section 11)."""

TAG = "#DEGRADED_SEARCH"

State = Literal["closed", "open", "half_open"]


class Breaker(Frozen):
    """State of the searches of one run or one provider. A search that finds nothing has not failed.

    There is no clock in it: whoever decides that it is time for another try, calls `probe`.
    """

    state: State = "closed"
    searches: int = Field(default=0, ge=0)
    """Since the breaker last closed."""
    failures: int = Field(default=0, ge=0)
    consecutive: int = Field(default=0, ge=0)
    degraded: bool = False
    """It was open at some time: the report rests on partial information, even if searching recovered."""

    @property
    def allows(self) -> bool:
        """Tell whether a search may start."""
        return self.state != "open"

    def record(self, ok: bool) -> "Breaker":
        """Note how a search ended, after its transport retries.

        A success that began before the breaker opened does not close it; only the try after `probe` does.
        """
        if self.state == "half_open":
            return Breaker(searches=1, degraded=self.degraded) if ok else self._noted(ok, "open")
        noted = self._noted(ok, self.state)
        broken = noted.consecutive >= MAX_CONSECUTIVE or (
            noted.searches >= MIN_SEARCHES and noted.failures >= MAX_SHARE * noted.searches
        )
        return noted.model_copy(update={"state": "open", "degraded": True}) if broken else noted

    def probe(self) -> "Breaker":
        """Let one search through after the breaker opened, to see whether searching works again."""
        return self.model_copy(update={"state": "half_open"}) if self.state == "open" else self

    def explain(self) -> str:
        """Say in a sentence for the trace how the searches stand."""
        if self.state == "closed":
            again = ", after an interruption" if self.degraded else ""
            return f"Searching works{again}: {self.failures} of {self.searches} searches failed."
        now = "is being tried again" if self.state == "half_open" else "is suspended"
        return (
            f"Searching {now}: {self.failures} of {self.searches} searches failed, {self.consecutive} of them in a row."
        )

    def _noted(self, ok: bool, state: State) -> "Breaker":
        return self.model_copy(
            update={
                "state": state,
                "searches": self.searches + 1,
                "failures": self.failures + (not ok),
                "consecutive": 0 if ok else self.consecutive + 1,
            }
        )
