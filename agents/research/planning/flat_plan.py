"""The smallest tree: one executor, one phase, a leaf per query; and caps that hold over all its rounds together."""

import asyncio
import contextlib
import itertools
import math
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from functools import partial

from agents.contracts.contract import Caps
from agents.contracts.finding import Finding
from agents.contracts.frozen import Frozen, Said, Tier
from agents.contracts.plan import Leaf, Node, Phase, Plan, PlannedClaim, SuccessCriteria
from agents.contracts.response import RunLimits
from agents.core.port import Ctx, Handler, Handlers
from agents.research.challenge.challenge import (
    NEW_SOURCES,
    SEARCHES_PER_CLAIM,
    Challenged,
    ChallengeGiven,
    ClaimFound,
    ClaimGiven,
)
from agents.research.reading.searching import LeafGiven, teller
from agents.research.run_context import Listed
from agents.web.url_key import canonical

MAX_ROUNDS = 20
CORROBORATION: dict[Tier, int] = {"simple": 1, "standard": 2, "deep": 2}
"""Independent sources wanted per answer: below them it is the reflection that ends the loop."""


def flat_leaf(query: str, intent: str) -> Leaf:
    """Make the leaf of one query, which is its own question."""
    return Leaf(title=intent, objective=intent, questions=(query,), searches=(query,))


def flat_plan(
    task: str, leaves: Sequence[Leaf], tier: Tier, limits: RunLimits, *, seed_urls: tuple[str, ...], claims: Sequence[str]
) -> Plan:  # fmt: skip
    """Make the plan of a run. Rounds for which no search would be left are not promised."""
    first, *others = leaves[: limits.max_queries]
    children = (first.model_copy(update={"sources": seed_urls}), *others)
    rounds = min(limits.max_iters, 1 + max(0, limits.max_queries - len(children)), MAX_ROUNDS)
    criteria = SuccessCriteria(corroboration=CORROBORATION[tier])
    phase = Phase(title="Collect", criteria=criteria, max_iterations=max(1, rounds))
    said = dict.fromkeys(claim.strip() for claim in claims if claim.strip())
    titles = tuple(child.title for child in children)
    return Plan(
        query=task,
        root=Node(title=task[:120], objective=task, phases=(phase,), children=children),
        claims=tuple(PlannedClaim(text=claim, leaves=titles) for claim in said)[:10],
    )


# ---- caps over a whole run


class Grant(Frozen):
    """What one leaf may spend of what the run has left."""

    searches: int
    sources: int
    waits: bool = False
    """Others only reserve what is left, and may give some back."""

    def enough(self, searches: int, least: int = 1) -> bool:
        """Tell whether a branch can begin that wants so many searches, and at least so many sources."""
        return self.sources >= least and (self.searches > 0 or not searches)


NOTHING = Grant(searches=0, sources=0)


class Allowance:
    """Searches and sources of a run: handed out branch by branch, what a branch did not use comes back."""

    def __init__(self, searches: int, sources: int, in_vain: Callable[[], int]) -> None:
        self.searches, self.sources, self._in_vain = searches, sources, in_vain
        self._granted: dict[str, Grant] = {}
        self._read: set[str] = set()
        self._working: set[str] = set()
        """Branches that may still give back."""
        self._chose: set[str] = set()
        self._given_back = asyncio.Event()

    async def grant(self, path: str, searches: int, sources: int, least: int, beside: int) -> Grant:
        """Reserve for a branch: the body of a step. What is `beside` it is left its share: leaves of a later round, claims."""
        grant = self._left(path, searches, sources, beside)
        if self._working and not grant.enough(searches, least):
            return Grant(searches=0, sources=0, waits=True)
        self.begin(path, grant)
        return grant

    async def given_back(self) -> None:
        """Wait until one of those at work ends."""
        if self._working:
            self._given_back.clear()
            await self._given_back.wait()

    def _left(self, path: str, searches: int, sources: int, beside: int) -> Grant:
        left_searches = self.searches - self._in_vain() - sum(grant.searches for grant in self._granted.values())
        left_sources = self.sources - len(self._read) - sum(grant.sources for grant in self._granted.values())
        if later := path.rpartition("-")[0]:  # planned leaves come in the order of their urgency; these are all alike
            waiting = max(1, beside + 1 - sum(one.startswith(f"{later}-") for one in self._granted))
            searches = min(searches, math.ceil(left_searches / waiting))
            sources = min(sources, math.ceil(left_sources / waiting))
        return Grant(searches=max(0, min(searches, left_searches)), sources=max(0, min(sources, left_sources)))

    async def choose(self, path: str, found: tuple[str, ...], beside: int) -> Listed:
        """Take what a claim may read of documents that it has found, the best first: the body of a step.

        What another claim has taken costs nothing more; the rest is shared with those `beside` it that have not chosen yet,
        so that who finds nothing new leaves its part to the others.
        """
        left = self._left("", 0, self.sources, 0).sources
        waiting = beside + 1 - sum(one.startswith(path.rpartition("-")[0]) for one in self._chose)
        most, chosen = math.ceil(left / max(1, waiting)), list[str]()
        for url in found:
            if len(chosen) < NEW_SOURCES and (canonical(url) in self._read or most > 0):
                most -= canonical(url) not in self._read
                chosen.append(url)
        self.chose(path, done := Listed(urls=tuple(chosen)))
        return done

    def chose(self, path: str, chosen: Listed) -> None:
        """Bring the books up to what a step recorded."""
        self._chose.add(path)
        self._read.update(map(canonical, chosen.urls))

    def note(self, path: str, grant: Grant, read: Iterable[str] = ()) -> None:
        """Bring the books up to what a step recorded, or to what a branch really used; a page that two read is one source."""
        self._granted[path] = grant
        self._read.update(map(canonical, read))

    def begin(self, path: str, grant: Grant) -> None:
        """Book what a branch may use, as a step recorded it; others wait for what it gives back."""
        self.note(path, grant)
        self._working.add(path)

    def end(self, path: str) -> None:
        """Let those go on that wait for what a branch, however it ended, did not use."""
        self._working.discard(path)
        self._given_back.set()


def bounded(handlers: Handlers, caps: Caps, in_vain: Callable[[], int] = lambda: 0) -> Handlers:
    """Keep everything that searches and reads in a run together within its caps: leaves first, then the challenge.

    `in_vain` tells how many searches were begun for a plan which then became another one.
    """
    allowance = Allowance(caps.searches, caps.sources, in_vain)
    return {
        **handlers,
        "leaf": partial(_bounded_leaf, handlers["leaf"], allowance),
        "scout": partial(_bounded_leaf, handlers["scout"], allowance),
        "challenge": partial(_bounded_challenge, handlers["challenge"], allowance),
        "claim": partial(_bounded_claim, handlers["claim"], allowance),
    }


@contextlib.asynccontextmanager
async def _granted(ctx: Ctx, allowance: Allowance, *wanted: int) -> AsyncIterator[Grant]:
    """Hold what a branch may use until it ends. It waits for others between steps: one that waits takes no call's place."""
    for asked in itertools.count():
        grant = await ctx.call("allowance", str(asked), allowance.grant, ctx.path, *wanted, gives=Grant, pool="local")
        if not grant.waits:
            break
        await allowance.given_back()
    allowance.begin(ctx.path, grant)
    try:
        yield grant
    finally:
        allowance.end(ctx.path)


async def _bounded_leaf(leaf: Handler, allowance: Allowance, ctx: Ctx, given: LeafGiven) -> Finding:
    wanted, searching = given.leaf.budget, bool(given.leaf.searches)
    searches = wanted.searches if searching else 0
    async with _granted(ctx, allowance, searches, wanted.sources, 1, len(given.siblings)) as grant:
        if not grant.enough(searches):
            what = "searches" if grant.sources else "sources"
            allowance.note(ctx.path, NOTHING)
            return _not_begun(ctx, given, Said(f"not begun: other parts have taken all {what} that this run may use"))
        at_most, loop = max(1, grant.searches), given.setting.loop
        loop = loop.model_copy(update={"searches_per_leaf": min(at_most, loop.searches_per_leaf)})
        budget = wanted.model_copy(update={"searches": at_most, "sources": grant.sources})
        less = given.leaf.model_copy(update={"budget": budget, "sources": given.leaf.sources[: grant.sources]})
        setting = given.setting.model_copy(update={"loop": loop})
        finding: Finding = await leaf(ctx, given.model_copy(update={"leaf": less, "setting": setting}))
        read = [card.url for card in finding.sources] + [refused.url for refused in finding.rejected]
        broken = sum(1 for problem in finding.problems if problem.type != "SearchError")
        used = Grant(searches=min(grant.searches, len(finding.searches)), sources=min(grant.sources, broken))
        allowance.note(ctx.path, used, read)
        return finding


async def _bounded_challenge(challenge: Handler, allowance: Allowance, ctx: Ctx, given: ChallengeGiven) -> Challenged:
    """Ask for counter-searches only where one could still be made."""
    async with _granted(ctx, allowance, 1, 1, 1, 0) as grant:
        allowance.note(ctx.path, NOTHING)
    done: Challenged = await challenge(ctx, given.model_copy(update={"search": given.search and grant.enough(1)}))
    return done


async def _bounded_claim(claim: Handler, allowance: Allowance, ctx: Ctx, given: ClaimGiven) -> ClaimFound:
    """Let a claim be searched against where a search is left; the claims share what there is."""
    if not given.queries:
        return ClaimFound()

    async def choose(found: tuple[str, ...]) -> Sequence[str]:
        chosen = await ctx.call(
            "chosen", "0", allowance.choose, ctx.path, found, given.beside, gives=Listed, pool="local"
        )
        allowance.chose(ctx.path, chosen)
        return chosen.urls

    async with _granted(ctx, allowance, SEARCHES_PER_CLAIM, 0, 0, given.beside) as grant:
        done: ClaimFound = await claim(ctx, given.model_copy(update={"searches": grant.searches}), choose)
        allowance.note(ctx.path, Grant(searches=min(grant.searches, len(done.searches)), sources=0), done.read)
        return done


def _not_begun(ctx: Ctx, given: LeafGiven, why: Said) -> Finding:
    teller(ctx, "leaf", given.title)("stopped", why)
    return Finding(path=ctx.path, title=given.title, role="leaf", status="stopped", note=why)
