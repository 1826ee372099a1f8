"""The contract: caps from mode or tier, plans fitted to them, a forecast, and the freezing of all."""

from collections.abc import Callable, Iterable, Sequence
from itertools import count

from agents.contracts.contract import DEFAULT_MINUTES, Brief, Caps, Contract, PaceSeen
from agents.contracts.frozen import Frozen, Mode, Said, Tier
from agents.contracts.plan import Leaf, LeafBudget, Node, Plan
from agents.core.role import shown_name
from agents.report.wording import cannot_be_written
from agents.research.challenge.claim_ledger import Thresholds
from agents.research.loop.loop_decision import LoopSettings
from agents.research.planning.forecast import forecast_of
from agents.search.searcher import FILES_NAME


class Bounds(Frozen):
    """What a mode or tier allows (specification, section 5)."""

    rounds: int
    searches: int
    sources: int
    minutes: float


TIERS: dict[Tier, Bounds] = {
    "simple": Bounds(rounds=2, searches=3, sources=5, minutes=1.0),
    "standard": Bounds(rounds=5, searches=10, sources=15, minutes=1.5),
    "deep": Bounds(rounds=10, searches=15, sources=20, minutes=2.0),
}
MODES: dict[Mode, Bounds] = {
    "standard": Bounds(rounds=3, searches=10, sources=15, minutes=5.0),
    "deep": Bounds(rounds=7, searches=15, sources=20, minutes=5.0),
}


FREE_BREADTH = 3
"""How many times a mode's searches and sources a run may have that costs nothing: questions of several steps need them."""


class CapOverrides(Frozen):
    """What the operator or the request sets over the bounds of mode or tier; None leaves them."""

    rounds: int | None = None
    searches: int | None = None
    sources: int | None = None
    searches_per_leaf: int = 5
    tokens: int | None = None
    cost_usd: float | None = None
    depth: int = 3
    leaves: int = 12
    nothing_paid: bool = False
    """Own documents, searched and read without a model: bounds of a mode are for what somebody pays for."""


class Means(Frozen):
    """What the composition root tells the root handler of the run's surroundings."""

    limits: CapOverrides = CapOverrides()
    loop: LoopSettings = LoopSettings()
    thresholds: Thresholds = Thresholds()
    judge_thresholds: Thresholds = Thresholds(min_claims=1)
    require_judge: bool = False
    planner_window_s: float = 120.0
    """Seconds that manager and planner of a job are waited for."""
    reasons: bool = True
    """False when only the offline engine is bound."""
    models: tuple[str, ...] = ()
    free: tuple[str, ...] = ()
    """Models for which nothing is paid."""
    unpriced: tuple[tuple[str, str], ...] = ()
    """Models by the one that is bound, itself or a stand-in of it, whose price is not known: where cost is limited."""


def usual_minutes(set_s: float | None, tier: Tier | None = None) -> float:
    """Say how long a run takes that nobody asked to take otherwise: as long as the operator has set, else its tier's time."""
    usual = TIERS[tier].minutes if tier else DEFAULT_MINUTES
    return usual if set_s is None else set_s / 60


def bounds_of(brief: Brief) -> Bounds:
    """Find the bounds of a brief: those of its tier when one was given, else of its mode."""
    return TIERS[brief.tier] if brief.tier else MODES[brief.mode]


def caps_of(brief: Brief, limits: CapOverrides) -> Caps:
    """Say what the run may not exceed without a new authorization. A request's figure wins over the operator's."""
    bounds = bounds_of(brief)
    times = FREE_BREADTH if limits.nothing_paid and brief.tier is None else 1
    return Caps(
        minutes=brief.minutes, rounds=limits.rounds or bounds.rounds,
        searches=(limits.searches or times * bounds.searches) * len(brief.queries),
        sources=(limits.sources or times * bounds.sources) * len(brief.queries),
        searches_per_leaf=limits.searches_per_leaf, tokens=limits.tokens,
        cost_usd=brief.max_cost_usd or limits.cost_usd,
    )  # fmt: skip


def fitted(plan: Plan, searches: int, sources: int, exist: int) -> Plan:
    """Share out the searches and sources of one query over its leaves, so that the plan keeps to its caps.

    No leaf reads more sources than `exist`.

    A discovery leaf has two shares: it reads more than it keeps, and what it keeps is read again by nobody.
    """
    shares = sum(1 + leaf.discovery for leaf in plan.root.leaves())
    per_search, per_source, place = max(1, searches // shares), max(1, sources // shares), count()

    def fit(leaf: Leaf) -> Leaf:
        at, share = next(place), 1 + leaf.discovery
        budget = LeafBudget(
            searches=min(MOST_SEARCHES, share * per_search + (at < searches - per_search * shares)),
            sources=min(exist, share * MOST_SOURCES, share * per_source + (at < sources - per_source * shares)),
        )
        return leaf.model_copy(update={"budget": budget})

    return plan.model_copy(update={"root": with_leaves(plan.root, fit)})


def with_leaves(node: Node, change: Callable[[Leaf], Leaf | None]) -> Node:
    """Change the leaves of a tree, or leave them out."""
    children = tuple(with_leaves(one, change) if isinstance(one, Node) else change(one) for one in node.children)
    return node.model_copy(
        update={"children": tuple(one for one in children if one and (one.kind == "leaf" or one.children))}
    )


def make_contract(
    brief: Brief, plans: tuple[Plan, ...], means: Means, *, retrievers: tuple[str, ...] = (), pace: PaceSeen = PaceSeen(),
    challenge: bool = True, smaller: bool = True,
) -> Contract:  # fmt: skip
    """Freeze brief and plans into a contract, each plan fitted to its share of the caps and to the pace of the model.

    The forecast counts with that pace too. With `smaller` False the plans stay as they are, as a user edited them.
    """
    if brief.language == "en" and cannot_be_written(brief.question):
        plans = (plans[0].model_copy(update={"assumptions": (*plans[0].assumptions, IN_ENGLISH)}), *plans[1:])
    caps, queries = caps_of(brief, means.limits), len(brief.queries)
    # A tier's challenge gets what its leaves leave over; a mode's has a part of its own.
    kept_back = KEPT_BACK if challenge and brief.tier is None else (0, 0)
    pairs = zip((caps.searches, caps.sources), kept_back, strict=True)
    searches, sources = (max(1, cap // queries - kept) for cap, kept in pairs)
    exist = min(caps.sources, len(brief.files)) if set(retrievers) == {FILES_NAME} else caps.sources
    plans = tuple(fitted(plan, searches, sources, exist) for plan in plans)
    if pace.call_s is not None and caps.minutes is not None and smaller:
        calls = int(60 * caps.minutes / pace.call_s * pace.at_once) - FEW_CALLS
        plans = tuple(_smaller(plan, max(2, calls // len(plans))) for plan in plans)
    models = tuple(dict.fromkeys((*means.models, *(name for _, name in brief.models))))
    unheld = cost_unheld(means, models, caps.cost_usd)
    forecast = forecast_of(
        plans, caps, reasons=means.reasons, challenge=challenge, call_s=pace.call_s, exist=exist,
        paid=not (models and set(models) <= set(means.free)), unheld=unheld,
    )  # fmt: skip
    return Contract(
        brief=brief, plans=plans, caps=caps, retrievers=retrievers, forecast=forecast, models=models, cost_unheld=unheld
    )


def cost_unheld(means: Means, models: Iterable[str], usd: float | None) -> Said:
    """Say that a limit of cost can't be held with these models bound; empty where it can, or where there is none."""
    unpriced = dict.fromkeys(shown_name(part) for name, part in means.unpriced if name in models)
    if usd is None or not unpriced:
        return Said()
    form = "No price is known for {models}: what it costs can't be held to the limit of {bound}."
    return Said(form, models=", ".join(unpriced), bound=f"${usd:.2f}")


IN_ENGLISH = "The report is written in English: none can be written in the language of the question yet."
KEPT_BACK = (3, 2)
"""Searches and sources of a query that its first leaves leave to the search for counter-evidence."""
MOST_SOURCES = 8
"""Sources of one leaf: what it does not need is there for later rounds."""
FEW_CALLS = 6
"""Model calls of a run beside those of its leaves: manager, planner, challenge, frame, checks."""
MOST_SOURCES_AT_PACE = 4
"""Sources of a leaf where the pace leaves room for few calls."""
LONGEST_TITLE = 120
MOST_SEARCHES = 5
"""Searches of one leaf, at most."""


def _smaller(plan: Plan, calls: int) -> Plan:
    """Ask in as many leaves as there are calls for: those beside one another are read and written together.

    Pages are read two in a call, and each leaf writes once. Nothing that the plan asks is left out.
    """
    leaves = plan.root.leaves()
    needed = sum(-(-leaf.budget.sources // 2) + 1 for leaf in leaves)
    if needed <= calls:
        return plan
    room = max(1, calls // (-(-MOST_SOURCES_AT_PACE // 2) + 1))
    size = -(-len(leaves) // room)
    smaller = in_leaves(plan, -(-len(leaves) // size), MOST_SOURCES_AT_PACE)
    said = f"The model is slow: what {len(leaves)} branches were planned for is read in {len(smaller.root.leaves())}."
    return smaller if size == 1 else smaller.model_copy(update={"assumptions": (*plan.assumptions, said)})


def in_leaves(plan: Plan, number: int, sources: int) -> Plan:
    """Ask what a plan asks in so many leaves, each of at most so many sources, all under one executor."""
    leaves = plan.root.leaves()
    size = -(-len(leaves) // number)
    groups = [leaves[at : at + size] for at in range(0, len(leaves), size)]
    children = tuple(_together(group, sources, plan.query if len(groups) == 1 else "") for group in groups)
    titles = {leaf.title: child.title for group, child in zip(groups, children, strict=True) for leaf in group}
    claims = tuple(
        claim.model_copy(update={"leaves": tuple(dict.fromkeys(titles[one] for one in claim.leaves))})
        for claim in plan.claims
    )
    return plan.model_copy(update={"root": plan.root.model_copy(update={"children": children}), "claims": claims})


def _together(leaves: Sequence[Leaf], sources: int, title: str) -> Leaf:
    """Make one leaf of several: it asks what they ask, and is called after all of them."""
    first = leaves[0]
    budget = first.budget.model_copy(update={"sources": min(first.budget.sources, sources)})
    if len(leaves) == 1:
        return first.model_copy(update={"budget": budget})
    searches = tuple(dict.fromkeys(one for leaf in leaves for one in leaf.searches[:1]))[:MOST_SEARCHES]
    return Leaf(
        title=(title or "; ".join(leaf.title for leaf in leaves))[:LONGEST_TITLE],
        objective=" ".join(leaf.objective for leaf in leaves),
        questions=tuple(dict.fromkeys(one for leaf in leaves for one in leaf.questions)), searches=searches,
        sources=tuple(dict.fromkeys(one for leaf in leaves for one in leaf.sources)),
        priority=min((leaf.priority for leaf in leaves), key=("high", "normal", "low").index),
        budget=budget.model_copy(update={"searches": max(1, len(searches))}), known_facts=first.known_facts,
    )  # fmt: skip
