"""The forecast of a run: collecting, challenge and rework, each figure with what it rests on.

Low is what the plan takes where little is found and all goes well; high is what it takes when every planned search and
page is used, one further round is wanted, and every claim has to be searched for twice. Pure arithmetic on the plan.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from agents.contracts.contract import Brief, Caps, Forecast, ForecastLine
from agents.contracts.plan import Leaf, Node, Plan
from agents.core.budget import least
from agents.research.challenge.challenge import NEW_SOURCES
from agents.research.challenge.claim_ledger import ENOUGH_PLANNED, MAX_CLAIMS, MAX_DISCOVERED, PER_BRANCH
from agents.research.loop.success import MAX_ATTEMPTS
from agents.research.writing.truthful import REWRITTEN
from agents.research.writing.verify_report import BATCH

SECONDS_PER_CALL = 4.0
"""One model call on the longest path: a first guess for a provider that writes 100 tokens a second."""
SLOW = 2.5
"""How much longer a slow provider takes."""
TOKENS_PER_CALL = 3_000
"""Of the longest inputs and outputs; half of it where little is found."""
SENTENCES_PER_SECTION = 8
"""Sentences that state a fact, which a verifier looks at in batches."""
SEARCHES_PER_CLAIM = 2
"""One for what speaks against a claim, one more for itself where its evidence falls short."""
WRITING_IN_A_ROW = 4
"""Calls one after another beside those of the executors: reading, section, summary, checks. The challenge runs beside them."""


class Range(NamedTuple):
    """A figure between two bounds."""

    low: float = 0.0
    high: float = 0.0

    def plus(self, *others: "Range") -> "Range":
        """Add others to it."""
        return Range(self.low + sum(one.low for one in others), self.high + sum(one.high for one in others))

    def within(self, bound: int) -> "Range":
        """Give it cut off at a bound."""
        return Range(min(self.low, bound), min(self.high, bound))


NONE = Range()


def forecast_of(
    brief: Brief,
    plans: tuple[Plan, ...],
    caps: Caps,
    *,
    reasons: bool,
    challenge: bool = True,
    call_s: float | None = None,
) -> Forecast:
    """Forecast nodes, searches, sources, model calls, tokens, minutes and cost, each with what it rests on.

    Args:
        brief: what was agreed.
        plans: one per query, fitted to the caps.
        caps: bounds of the run, which hold for challenge and collecting together.
        reasons: False when no language model is asked.
        challenge: False where the search for counter-evidence is switched off.
        call_s: seconds of one model call, as observed; a first guess where None.
    """
    leaves = [leaf for plan in plans for leaf in plan.root.leaves()]
    searched = [leaf for leaf in leaves if not leaf.known_facts]  # the others are answered by earlier research
    nodes = sum(plan.root.nodes() for plan in plans)
    # A further round has a leaf for each gap, one search each: as many as there were branches, at most.
    further = len(searched) if caps.rounds > 1 else 0
    most = caps.searches_per_leaf
    planned = sum(min(leaf.budget.searches, len(leaf.searches), most) for leaf in searched)
    reworded = sum(max(0, min(most - len(leaf.searches), MAX_ATTEMPTS - 1)) for leaf in searched)
    claims = NONE.plus(*map(_claims, plans))
    collected = Range(len(searched), planned + reworded + further)
    counter = Range(claims.low, claims.high * SEARCHES_PER_CLAIM) if challenge else NONE
    behind = sum(min(leaf.known_facts, leaf.budget.sources) for leaf in leaves)  # pages of what is known are looked at
    read = Range(min(1, len(leaves)), sum(leaf.budget.sources for leaf in searched) + further + behind)
    read = read.within(caps.sources)
    checked = Range(0, counter.high * NEW_SOURCES).within(caps.sources)
    attack, look, again = "", "", f" ({behind} of them behind what is known)" if behind else ""
    if counter.high:
        attack = f"; challenge up to {counter.high:.0f}: one or two for each of up to {claims.high:.0f} claims"
        look = f", up to {checked.high:.0f} for the claims"
    known = len(leaves) - len(searched)
    parts = f"{len(leaves)} {'part' if len(leaves) == 1 else 'parts'} of the plan"
    parts += f"; {known} of them answered by earlier research, as far as its pages are unchanged" if known else ""
    lines = [
        _line("Parts", Range(len(leaves), len(leaves)), parts),
        _line(
            "Searches",
            collected.plus(counter).within(caps.searches),
            f"collecting {collected.low:.0f}–{collected.high:.0f}: those of the plan, other words where little is found, "
            f"one further round{attack}; {caps.searches} in all is the bound",
        ),
        _line(
            "Sources read",
            read.plus(checked).within(caps.sources),
            f"up to {read.high:.0f} while collecting{again}{look}, each once, as far as they exist",
        ),
    ]
    if not reasons:
        lines += [
            _line("Model calls", NONE, "the offline engine quotes; no language model is asked"),
            _line("Time", Range(0, 0.5), "the offline engine works in seconds, challenge included", "min"),
            _line("Cost", NONE, "nothing is bought", "USD"),
        ]
        return Forecast(lines=tuple(lines))
    sections = Range(len(leaves), len(leaves) + further + (REWRITTEN if claims.high else 0))
    leads = sum(_leads(plan.root) for plan in plans)
    batches = math.ceil(sections.high * SENTENCES_PER_SECTION / BATCH)
    calls = Range(len(searched), read.high).plus(
        checked,
        sections,
        Range(leads + nodes, leads + nodes * min(caps.rounds, 2)),
        Range(claims.low, claims.high * (2 if challenge else 1)),
        Range(2, 2 + batches + len(plans) * challenge),
    )
    stages = "collecting, challenge, rework and checks" if challenge else "collecting and checks"
    each_s, slow_factor = (SECONDS_PER_CALL, SLOW) if call_s is None else (call_s, SLOW / 2)
    in_a_row = max(plan.root.depth() for plan in plans) + WRITING_IN_A_ROW
    slow = least(slow_factor * in_a_row * each_s / 60, caps.minutes) or 0.0
    seen = "" if call_s is None else ", as observed"
    bound = "" if caps.tokens is None else f"; {caps.tokens:,} is the bound"
    money = "" if caps.cost_usd is None else f", and {caps.cost_usd:g} USD is the bound"
    lines += [
        _line(
            "Model calls",
            calls,
            f"{stages}: one a page and a section, one or two a claim, one for each {BATCH} sentences that are checked",
        ),
        _line(
            "Tokens",
            Range(calls.low * TOKENS_PER_CALL / 2, calls.high * TOKENS_PER_CALL),
            f"{stages}: up to {TOKENS_PER_CALL:,} a call{bound}",
        ),
        _line(
            "Time",
            Range(round(min(in_a_row * each_s / 60, slow), 1), round(slow, 1)),
            f"{in_a_row} calls in a row at about {each_s:.3g} s{seen}, "
            f"up to {slow_factor:g} times as long with a slow provider; the time budget is the bound",
            "min",
        ),
        ForecastLine(
            name="Cost", low=None, high=None, unit="USD",
            basis=f"these tokens at the provider's prices; counted while it runs{money}",
        ),
    ]  # fmt: skip
    return Forecast(lines=tuple(lines))


@dataclass(frozen=True)
class PastRun:
    """What an earlier run was expected to take, and what it took; None is unknown."""

    seconds: float | None
    cost_usd: float | None
    forecast: Forecast | None = None


def with_likely(forecast: Forecast, past: Iterable[PastRun], minutes: float | None) -> Forecast:
    """Add one likely figure for time and cost: as earlier runs of the same models took, measured by their forecasts.

    Args:
        forecast: of a new run.
        past: runs of the same models.
        minutes: time budget of the new run, which no figure exceeds.
    """
    runs = tuple(past)
    lines = _by_name(forecast)
    shares = [run.seconds / 60 / was for run in runs if run.seconds and (was := _middle(run.forecast, "Time"))]
    priced = [(run.cost_usd, _middle(run.forecast, "Tokens")) for run in runs if run.cost_usd is not None]
    prices = [cost / was for cost, was in priced if was]
    time, cost = lines.get("Time"), lines.get("Cost")
    middle = _middle(forecast, "Time")
    if time is not None and middle is not None:
        many = f"{len(shares)} earlier run{'s' * (len(shares) != 1)}"
        seen = f"; {many} took {median(shares):.2g} times the middle" if shares else ""
        likely = least(middle * median(shares) if shares else time.low or middle, minutes)
        lines["Time"] = time.model_copy(update={"likely": likely, "basis": time.basis + seen})
    if cost is not None:
        dear = (_middle(forecast, "Tokens") or 0.0) * median(prices) if prices else None
        lines["Cost"] = cost.model_copy(update={"likely": 0.0 if cost.high == 0 else dear})
    return Forecast(lines=tuple(lines.values()))


def _by_name(forecast: Forecast | None) -> dict[str, ForecastLine]:
    return {line.name: line for line in (forecast.lines if forecast else ())}


def _middle(forecast: Forecast | None, name: str) -> float | None:
    line = _by_name(forecast).get(name)
    return None if line is None or line.low is None or line.high is None else (line.low + line.high) / 2


def _claims(plan: Plan) -> Range:
    """Count the claims of one query: the plan's, and where those are few, what reading brings up."""
    planned = min(MAX_CLAIMS, len(plan.claims))
    if planned >= ENOUGH_PLANNED:
        return Range(planned, planned)
    brought = min(MAX_DISCOVERED, PER_BRANCH * max(1, len(plan.root.children)))
    return Range(planned, min(MAX_CLAIMS, planned + brought))


def _leads(node: Node) -> int:
    below = sum(_leads(child) for child in node.children if not isinstance(child, Leaf))
    return below + (len(node.children) > 2)


def _line(name: str, figure: Range, basis: str, unit: str = "") -> ForecastLine:
    low, high = (figure.low, figure.high) if unit else (math.floor(figure.low), math.ceil(figure.high))
    return ForecastLine(name=name, low=low, high=high, unit=unit, basis=basis)
