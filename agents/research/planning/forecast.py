"""The forecast of a run: collecting, challenge and rework, each figure with what it rests on.

Low is what the plan takes where little is found and all goes well; high is what it takes when every planned search and
page is used, one further round is wanted, and every claim has to be searched for twice. Pure arithmetic on the plan.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from agents.contracts.contract import Brief, Caps, Forecast, ForecastLine
from agents.contracts.plan import Leaf, Node, Plan
from agents.research.challenge.challenge import NEW_SOURCES
from agents.research.challenge.claim_ledger import ENOUGH_PLANNED, MAX_CLAIMS, MAX_DISCOVERED, PER_BRANCH
from agents.research.loop.loop_decision import LoopSettings
from agents.research.loop.retry_tracking import MAX_ATTEMPTS
from agents.research.writing.truthful import REWRITTEN
from agents.research.writing.verify_report import BATCH

SECONDS_PER_CALL = 4.0
"""One model call on the longest path: a first guess for a provider that writes 100 tokens a second."""
SLOW = 2.5
"""How much longer a slow provider takes."""
TOKENS_PER_SOURCE = 3_000
TOKENS_PER_SECTION = 2_500
TOKENS_PER_FRAME = 6_000
TOKENS_PER_STANCE = 1_500
TOKENS_PER_CHECK = 2_500
SENTENCES_PER_SECTION = 8
"""Sentences that state a fact, which a verifier looks at in batches."""
SEARCHES_PER_CLAIM = 2
"""One for what speaks against a claim, one more for itself where its evidence falls short."""
WRITING_IN_A_ROW = 4
"""Calls one after another beside those of the executors: reading, section, summary, checks. The challenge runs beside them."""


@dataclass(frozen=True)
class Range:
    """A figure between two bounds."""

    low: float
    high: float

    def __add__(self, other: "Range") -> "Range":
        return Range(self.low + other.low, self.high + other.high)

    def __mul__(self, each: float) -> "Range":
        return Range(self.low * each, self.high * each)


@dataclass(frozen=True)
class Work:
    """What collecting, challenge and writing come to, as counts."""

    leaves: int
    nodes: int
    collected: Range
    """Searches of the plan, of other wordings, of one further round."""
    counter: Range
    """Searches of the challenge."""
    claims: Range
    read: Range
    """Pages read while collecting."""
    checked: Range
    """Pages read for the claims."""
    sections: Range
    calls: Range


def work_of(plans: tuple[Plan, ...], caps: Caps, *, challenge: bool, searches_per_leaf: int) -> Work:
    """Count what plans take, from little found to every bound but the number of rounds used, never beyond the caps."""
    leaves = [leaf for plan in plans for leaf in plan.root.leaves()]
    nodes = sum(plan.root.nodes() for plan in plans)
    planned = sum(min(leaf.budget.searches, len(leaf.searches)) for leaf in leaves)
    reworded = sum(max(0, min(searches_per_leaf - len(leaf.searches), MAX_ATTEMPTS - 1)) for leaf in leaves)
    # A further round has a leaf for each gap, one search each: as many as there were branches, at most.
    further = len(leaves) if caps.rounds > 1 else 0
    claims = Range(0, 0)
    for plan in plans:
        claims += _claims(plan)
    counter = claims * SEARCHES_PER_CLAIM if challenge else Range(0, 0)
    counter = Range(claims.low if challenge else 0, counter.high)
    read = Range(1, sum(leaf.budget.sources for leaf in leaves) + further)
    read, checked = _within(read, caps.sources), _within(Range(0, counter.high * NEW_SOURCES), caps.sources)
    sections = Range(len(leaves), len(leaves) + further + (REWRITTEN if claims.high else 0))
    leads = sum(_leads(plan.root) for plan in plans)
    reflections = Range(nodes, nodes * min(caps.rounds, 2))
    stances = Range(claims.low, claims.high * (2 if challenge else 1))
    batches = Range(1, math.ceil(sections.high * SENTENCES_PER_SECTION / BATCH))
    challengers = len(plans) if challenge else 0
    calls = Range(len(leaves), read.high) + checked + sections + Range(leads, leads) + reflections + stances + batches
    return Work(
        leaves=len(leaves),
        nodes=nodes,
        collected=Range(len(leaves), planned + reworded + further),
        counter=counter,
        claims=claims,
        read=read,
        checked=checked,
        sections=sections,
        calls=calls + Range(1, 1 + challengers),
    )


def forecast_of(
    brief: Brief,
    plans: tuple[Plan, ...],
    caps: Caps,
    *,
    reasons: bool,
    challenge: bool = True,
    searches_per_leaf: int = LoopSettings().searches_per_leaf,
    call_s: float | None = None,
) -> Forecast:
    """Forecast nodes, searches, sources, model calls, tokens, minutes and cost, each with what it rests on.

    Args:
        brief: what was agreed.
        plans: one per query, fitted to the caps.
        caps: bounds of the run, which hold for challenge and collecting together.
        reasons: False when no language model is asked.
        challenge: False where the search for counter-evidence is switched off.
        searches_per_leaf: searches of one leaf, at most.
        call_s: seconds of one model call, as observed; a first guess where None.
    """
    each_s, slow_factor = (SECONDS_PER_CALL, SLOW) if call_s is None else (call_s, SLOW / 2)
    work = work_of(plans, caps, challenge=challenge, searches_per_leaf=searches_per_leaf)
    searches, read = (
        _within(work.collected + work.counter, caps.searches),
        _within(work.read + work.checked, caps.sources),
    )
    branches = (
        f"{work.nodes} executor{'s' * (work.nodes != 1)} and {work.leaves} {'leaf' if work.leaves == 1 else 'leaves'} "
        "of the plan"
    )
    lines = [
        _line("Parts", work.nodes + work.leaves, work.nodes + work.leaves, branches),
        _line("Searches", searches.low, searches.high, _searches_basis(work, caps, challenge)),
        _line("Sources read", read.low, read.high, _sources_basis(work, challenge)),
    ]
    if not reasons:
        lines += [
            _line("Model calls", 0, 0, "the offline engine quotes; no language model is asked"),
            _line("Time", 0, 0.5, "the offline engine works in seconds, challenge included", "min"),
            _line("Cost", 0.0, 0.0, "nothing is bought", "USD"),
        ]
        return Forecast(lines=tuple(lines))
    in_a_row = max(plan.root.depth() for plan in plans) + WRITING_IN_A_ROW
    seconds = in_a_row * each_s
    slow = slow_factor * seconds / 60
    slow = slow if caps.minutes is None else min(slow, caps.minutes)
    tokens = _tokens(work, challenge)
    stages = "collecting, challenge, rework and checks" if challenge else "collecting and checks"
    lines += [
        _line(
            "Model calls",
            math.floor(work.calls.low),
            math.ceil(work.calls.high),
            f"{stages}: one a page and a section, one or two a claim, one for each {BATCH} sentences that are checked",
        ),
        _line(
            "Tokens",
            math.floor(tokens.low),
            math.ceil(tokens.high),
            f"{stages}: about {TOKENS_PER_SOURCE:,} a page, {TOKENS_PER_SECTION:,} a section, {TOKENS_PER_STANCE:,} a claim"
            + ("" if caps.tokens is None else f"; {caps.tokens:,} is the bound"),
        ),
        _line(
            "Time",
            round(min(seconds / 60, slow), 1),
            round(slow, 1),
            f"{in_a_row} calls in a row at about {each_s:.3g} s"
            + ("" if call_s is None else ", as observed")
            + f", up to {slow_factor:g} times as long with a slow provider; the time budget is the bound",
            "min",
        ),
        _line(
            "Cost",
            None,
            None,
            "these tokens at the provider's prices; counted while it runs"
            + ("" if caps.cost_usd is None else f", and {caps.cost_usd:g} USD is the bound"),
            "USD",
        ),
    ]
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
    time, cost, tokens = _unit(forecast, "min"), _unit(forecast, "USD"), _named(forecast, "Tokens")
    shares = [run.seconds / 60 / was for run in runs if run.seconds and (was := _middle(_unit(run.forecast, "min")))]
    prices = [
        run.cost_usd / was
        for run in runs
        if run.cost_usd is not None and (was := _middle(_named(run.forecast, "Tokens")))
    ]
    found: dict[str, ForecastLine] = {}
    if time is not None and (middle := _middle(time)) is not None:
        likely = middle * median(shares) if shares else time.low if time.low else middle
        seen = (
            f"; {len(shares)} earlier run{'s' * (len(shares) != 1)} took {median(shares):.2g} times the middle"
            if shares
            else ""
        )
        likely = likely if minutes is None else min(likely or 0.0, minutes)
        found[time.name] = time.model_copy(update={"likely": likely, "basis": time.basis + seen})
    if cost is not None:
        priced = (_middle(tokens) or 0.0) * median(prices) if prices else None
        found[cost.name] = cost.model_copy(update={"likely": 0.0 if cost.high == 0 else priced})
    return Forecast(lines=tuple(found.get(line.name, line) for line in forecast.lines))


def _unit(forecast: Forecast | None, unit: str) -> ForecastLine | None:
    return next((line for line in (forecast.lines if forecast else ()) if line.unit == unit), None)


def _named(forecast: Forecast | None, name: str) -> ForecastLine | None:
    return next((line for line in (forecast.lines if forecast else ()) if line.name == name), None)


def _middle(line: ForecastLine | None) -> float | None:
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


def _tokens(work: Work, challenge: bool) -> Range:
    stances = Range(work.claims.low, work.claims.high * (2 if challenge else 1))
    pages = Range(work.leaves, work.read.high) + work.checked
    checks = Range(1, math.ceil(work.sections.high * SENTENCES_PER_SECTION / BATCH))
    return (
        pages * TOKENS_PER_SOURCE
        + work.sections * TOKENS_PER_SECTION
        + stances * TOKENS_PER_STANCE
        + checks * TOKENS_PER_CHECK
        + Range(TOKENS_PER_FRAME, TOKENS_PER_FRAME)
    )


def _within(figure: Range, bound: int) -> Range:
    return Range(min(figure.low, bound), min(figure.high, bound))


def _searches_basis(work: Work, caps: Caps, challenge: bool) -> str:
    said = [
        f"collecting {work.collected.low:.0f}–{work.collected.high:.0f}: those of the plan, other words where little "
        "is found, one further round"
    ]
    if challenge and work.counter.high:
        said.append(
            f"challenge up to {work.counter.high:.0f}: one or two for each of up to {work.claims.high:.0f} claims"
        )
    said.append(f"{caps.searches} in all is the bound")
    return "; ".join(said)


def _sources_basis(work: Work, challenge: bool) -> str:
    said = [f"up to {work.read.high:.0f} while collecting"]
    if challenge and work.checked.high:
        said.append(f"up to {work.checked.high:.0f} for the claims")
    return ", ".join(said) + ", each once, as far as they exist"


def _line(name: str, low: float | None, high: float | None, basis: str, unit: str = "") -> ForecastLine:
    return ForecastLine(name=name, low=low, high=high, unit=unit, basis=basis)
