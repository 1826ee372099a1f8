"""The forecast of a run: collecting, challenge and rework, each figure with what it rests on.

Low is what the plan takes where little is found and all goes well; high is what it takes when every planned search and
page is used, one further round is wanted, and every claim has to be searched for twice. Pure arithmetic on the plan.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from agents.contracts.contract import Caps, Forecast, ForecastLine
from agents.contracts.plan import MAX_ATTEMPTS, Node, Plan
from agents.core.budget import least
from agents.research.challenge.challenge import NEW_SOURCES, SEARCHES_PER_CLAIM
from agents.research.challenge.claim_ledger import ENOUGH_PLANNED, MAX_CLAIMS, MAX_DISCOVERED, PER_BRANCH
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
WRITING_IN_A_ROW = 4
"""Calls one after another beside those of the executors: reading, section, summary, checks. The challenge runs beside them."""


@dataclass(frozen=True)
class Range:
    """A figure between two bounds."""

    low: float = 0.0
    high: float = 0.0

    def __add__(self, other: "Range") -> "Range":
        return Range(self.low + other.low, self.high + other.high)

    def within(self, bound: int) -> "Range":
        """Give it cut off at a bound."""
        return Range(min(self.low, bound), min(self.high, bound))


NONE = Range()


def forecast_of(
    plans: tuple[Plan, ...], caps: Caps, *, reasons: bool, challenge: bool = True, call_s: float | None = None, exist: int,
    paid: bool = True, unheld: str = "",
) -> Forecast:  # fmt: skip
    """Forecast nodes, searches, sources, model calls, tokens, minutes and cost, each with what it rests on.

    The caps hold for challenge and collecting together. `call_s` are the seconds of one model call as observed; without them
    a first guess is made. Nothing is `paid` where all models run on this computer. No more than `exist`
    sources are read.
    """
    leaves = [leaf for plan in plans for leaf in plan.root.leaves()]
    searched = [leaf for leaf in leaves if not leaf.known_facts]  # the others are answered by earlier research
    # A further round has a leaf for each gap, one search each: as many as there were branches, at most.
    further, most = (len(searched) if caps.rounds > 1 else 0), caps.searches_per_leaf
    in_words = sum(min(most, len(leaf.searches) + MAX_ATTEMPTS - 1) for leaf in searched)
    claims = sum(map(_claims, plans), NONE)
    collected = Range(len(searched), in_words + further)
    counter = Range(claims.low, claims.high * SEARCHES_PER_CLAIM) if challenge else NONE
    behind = sum(min(leaf.known_facts, leaf.budget.sources) for leaf in leaves)  # pages of what is known are looked at
    read = Range(min(1, len(leaves)), sum(leaf.budget.sources for leaf in searched) + further + behind)
    read, checked = read.within(exist), Range(0, counter.high * NEW_SOURCES).within(exist)
    attack, look, again = "", "", f" ({behind} of them behind what is known)" if behind else ""
    if counter.high:
        attack = f"; challenge up to {counter.high:.0f}: one or two for each of up to {claims.high:.0f} claims"
        look = f", up to {checked.high:.0f} for the claims"
    known = len(leaves) - len(searched)
    parts = f"{len(leaves)} {'part' if len(leaves) == 1 else 'parts'} of the plan"
    parts += f"; {known} of them answered by earlier research, as far as its pages are unchanged" if known else ""
    searches = (
        f"collecting {collected.low:.0f}–{collected.high:.0f}: those of the plan, other words where little is found, "
        f"one further round{attack}; {caps.searches} in all is the bound"
    )
    sources = f"up to {read.high:.0f} while collecting{again}{look}, each once, as far as they exist"
    lines = [
        _line("Parts", Range(len(leaves), len(leaves)), parts),
        _line("Searches", (collected + counter).within(caps.searches), searches),
        _line("Sources read", (read + checked).within(exist), sources),
    ]
    if not reasons:
        return Forecast(lines=(
            *lines,
            _line("Model calls", NONE, "the offline engine quotes; no language model is asked"),
            _line("Time", Range(0, 0.5), "the offline engine works in seconds, challenge included", "min"),
            _line("Cost", NONE, "nothing is bought", "USD"),
        ))  # fmt: skip
    sections = Range(len(leaves), len(leaves) + further + (REWRITTEN if claims.high else 0))
    nodes, leads = sum(plan.root.nodes() for plan in plans), sum(_leads(plan.root) for plan in plans)
    batches = math.ceil(sections.high * SENTENCES_PER_SECTION / BATCH)
    reading = Range(len(searched), read.high) + checked
    steering = Range(leads + nodes, leads + nodes * min(caps.rounds, 2))
    weighing = Range(claims.low, claims.high * (2 if challenge else 1))
    closing = Range(2, 2 + batches + len(plans) * challenge)
    calls = reading + sections + steering + weighing + closing
    stages = "collecting, challenge, rework and checks" if challenge else "collecting and checks"
    each_s, slow_factor = (SECONDS_PER_CALL, SLOW) if call_s is None else (call_s, SLOW / 2)
    in_a_row = max(plan.root.depth() for plan in plans) + WRITING_IN_A_ROW
    slow = least(slow_factor * in_a_row * each_s / 60, caps.minutes) or 0.0
    bound = "" if caps.tokens is None else f"; {caps.tokens:,} is the bound"
    money = "" if caps.cost_usd is None else f", and {caps.cost_usd:g} USD is the bound"
    each = f"one a page and a section, one or two a claim, one for each {BATCH} sentences that are checked"
    in_time = (
        f"{in_a_row} calls in a row at about {each_s:.3g} s{'' if call_s is None else ', as observed'}, "
        f"up to {slow_factor:g} times as long with a slow provider; the time budget is the bound"
    )
    tokens = Range(calls.low * TOKENS_PER_CALL / 2, calls.high * TOKENS_PER_CALL)
    priced = unheld or f"these tokens at the provider's prices; counted while it runs{money}"
    return Forecast(lines=(
        *lines,
        _line("Model calls", calls, f"{stages}: {each}"),
        _line("Tokens", tokens, f"{stages}: up to {TOKENS_PER_CALL:,} a call{bound}"),
        _line("Time", Range(round(min(in_a_row * each_s / 60, slow), 1), round(slow, 1)), in_time, "min"),
        ForecastLine(name="Cost", low=None, high=None, unit="USD", basis=priced)
        if paid
        else _line("Cost", NONE, "the model runs on this computer", "USD"),
    ))  # fmt: skip


@dataclass(frozen=True)
class PastRun:
    """What an earlier run was expected to take, and what it took; None is unknown."""

    seconds: float | None
    cost_usd: float | None
    forecast: Forecast | None = None


def with_likely(forecast: Forecast, past: Iterable[PastRun], minutes: float | None) -> Forecast:
    """Add one likely figure for time and cost: as earlier runs of the same models took, measured by their forecasts.

    No figure exceeds `minutes`, the time budget of the new run.
    """
    runs = tuple(past)
    shares = [run.seconds / 60 / was for run in runs if run.seconds and (was := _middle(run.forecast, "Time"))]
    prices = [
        run.cost_usd / was for run in runs if run.cost_usd is not None and (was := _middle(run.forecast, "Tokens"))
    ]

    def likely(line: ForecastLine) -> ForecastLine:
        middle = _middle(forecast, line.name)
        if line.name == "Time" and middle is not None:
            many = f"{len(shares)} earlier run{'s' * (len(shares) != 1)}"
            seen = f"; {many} took {median(shares):.2g} times the middle" if shares else ""
            figure = least(middle * median(shares) if shares else line.low or middle, minutes)
            return line.model_copy(update={"likely": figure, "basis": line.basis + seen})
        if line.name == "Cost":
            dear = (_middle(forecast, "Tokens") or 0.0) * median(prices) if prices else None
            return line.model_copy(update={"likely": 0.0 if line.high == 0 else dear})
        return line

    return Forecast(lines=tuple(map(likely, forecast.lines)))


def _middle(forecast: Forecast | None, name: str) -> float | None:
    lines = (line for line in (forecast.lines if forecast else ()) if line.name == name)
    return next(((one.low + one.high) / 2 for one in lines if one.low is not None and one.high is not None), None)


def _claims(plan: Plan) -> Range:
    """Count the claims of one query: the plan's, and where those are few, what reading brings up."""
    planned = min(MAX_CLAIMS, len(plan.claims))
    brought = 0 if planned >= ENOUGH_PLANNED else min(MAX_DISCOVERED, PER_BRANCH * len(plan.root.children))
    return Range(planned, min(MAX_CLAIMS, planned + brought))


def _leads(node: Node) -> int:
    below = sum(_leads(child) for child in node.children if isinstance(child, Node))
    return below + (len(node.children) > 2)


def _line(name: str, figure: Range, basis: str, unit: str = "") -> ForecastLine:
    low, high = (figure.low, figure.high) if unit else (math.floor(figure.low), math.ceil(figure.high))
    return ForecastLine(name=name, low=low, high=high, unit=unit, basis=basis)
