"""Drafting a plan: the planner is asked level by level, the levels of one depth side by side."""

import re
from urllib.parse import unquote, urlsplit

from agents.contracts.frozen import Frozen, Text
from agents.contracts.plan import Branch, Leaf, LeafBudget, Node, Phase, Plan, PlanLevel, PlannedClaim, PlanningInput
from agents.contracts.plan import SuccessCriteria as Criteria
from agents.contracts.source import CorpusSurvey
from agents.core.errors import StepFailed
from agents.core.port import Ctx, Handler
from agents.core.role import Asked
from agents.nlp.tokens import content_words
from agents.research.run_context import Desk
from agents.roles.planner import PLANNER

PLANNING_SHARE = 0.15
"""Part of the whole time that planning the first level may take; each below it half of the one above: 0.26 for three."""

SEVERAL = 3
"""Sub-questions from which a leaf may begin with five searches instead of three (specification, section 5)."""

_NOT_A_WORD = re.compile(r"[\W_]+|\.\w{2,5}$")


class LevelGiven(Frozen):
    """One executor that is to be planned."""

    title: Text
    planning: PlanningInput
    sources_per_leaf: int = 6
    max_iterations: int = 3


class Drafted(Frozen):
    """One planned executor with all below it, and what was noted on the way."""

    node: Node
    claims: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()


class SurveyTaken(Frozen):
    """A survey, as a step leaves it."""

    survey: CorpusSurvey


async def take_survey(desk: Desk, question: str) -> SurveyTaken:
    """Survey the searchable documents: the body of a step."""
    return SurveyTaken(survey=await desk.survey(question))


def plan_level_handler(desk: Desk) -> Handler:
    """Plan one executor and, side by side, those below it."""

    async def run(ctx: Ctx, given: LevelGiven) -> Drafted:
        planning = given.planning
        taken = await ctx.call("survey", "0", take_survey, desk, planning.objective, gives=SurveyTaken, pool="local")
        planning = planning.model_copy(update={"survey": taken.survey})
        asked = await ctx.call(
            "planner",
            "0",
            desk.ask,
            PLANNER,
            planning,
            ctx.within(PLANNING_SHARE / 2 ** len(planning.trail)),
            gives=Asked[PlanLevel],
        )
        level = asked.output
        nodes = [branch for branch in level.branches if branch.kind == "node"]
        seeds = seeds_for(planning.seed_urls, level.branches)
        share = max(1, (planning.leaves_left - (len(level.branches) - len(nodes))) // max(1, len(nodes)))
        titles = tuple(branch.title for branch in level.branches)
        below = await ctx.children(
            "plan",
            [
                (str(number), _below(given, branch, titles, share, seeds[branch.title]))
                for number, branch in enumerate(nodes)
            ],
            gives=Drafted,
        )
        drafted = dict(zip((branch.title for branch in nodes), below, strict=True))
        children: list[Node | Leaf] = []
        assumptions: list[str] = []
        for branch in level.branches:
            grown = drafted.get(branch.title)
            if isinstance(grown, Drafted):
                assumptions += grown.assumptions
                # An executor with a single child adds a level and no work.
                children.append(grown.node.children[0] if len(grown.node.children) == 1 else grown.node)
            else:
                if isinstance(grown, StepFailed):
                    assumptions.append(
                        f"The branch “{branch.title}” could not be planned further; it is read as one leaf."
                    )
                children.append(_leaf(branch, given, seeds[branch.title]))
        node = Node(
            title=given.title,
            objective=planning.objective,
            phases=(
                Phase(
                    title="Collect",
                    criteria=Criteria(corroboration=level.min_sources, themes=level.themes),
                    max_iterations=given.max_iterations,
                ),
            ),
            children=tuple(children),
        )
        return Drafted(node=node, claims=level.claims, assumptions=tuple(assumptions))

    return Handler(run=run, takes=LevelGiven, gives=Drafted)


def seeds_for(urls: tuple[str, ...], branches: tuple[Branch, ...]) -> dict[str, tuple[str, ...]]:
    """Give each address that the user named to the branch that it concerns, by the words of both; else to the first."""
    found: dict[str, tuple[str, ...]] = {branch.title: () for branch in branches}
    words = {
        branch.title: frozenset(content_words(" ".join((branch.title, branch.objective, *branch.questions))))
        for branch in branches
    }
    for url in urls:
        own = frozenset(content_words(_NOT_A_WORD.sub(" ", unquote(urlsplit(url).path))))
        best = max(words, key=lambda title: len(own & words[title]))  # of equals the first
        found[best] = (*found[best], url)
    return found


def _below(
    given: LevelGiven, branch: Branch, titles: tuple[str, ...], leaves: int, seeds: tuple[str, ...]
) -> LevelGiven:
    planning = given.planning
    return given.model_copy(
        update={
            "title": branch.title,
            "planning": planning.model_copy(
                update={
                    "objective": branch.objective,
                    "trail": (*planning.trail, given.title),
                    "siblings": tuple(title for title in titles if title != branch.title),
                    "executors_left": planning.executors_left - 1,
                    "leaves_left": leaves,
                    "seed_urls": seeds,
                    "want_claims": False,
                    "suggested": (),
                    "survey": CorpusSurvey(),
                }
            ),
        }
    )


def _leaf(branch: Branch, given: LevelGiven, seeds: tuple[str, ...]) -> Leaf:
    questions = tuple(q for q in branch.questions if q.strip()) or (branch.objective,)
    searches = tuple(dict.fromkeys(s.strip() for s in (questions[0], *branch.searches) if s.strip()))
    return Leaf(
        title=branch.title,
        objective=branch.objective,
        questions=questions,
        searches=searches[:5],
        sources=seeds,
        discovery=branch.discovery,
        budget=LeafBudget(
            sources=given.sources_per_leaf, searches=min(5 if len(questions) >= SEVERAL else 3, max(1, len(searches)))
        ),
    )


def infeasible(node: Node, *, max_depth: int, max_leaves: int) -> tuple[str, ...]:
    """Say why a drafted tree is not feasible; empty when it is."""
    depth, leaves = node.depth(), len(node.leaves())
    reasons = []
    if depth > max_depth:
        reasons.append(f"Its plan is {depth} executors deep; {max_depth} is the bound.")
    if leaves > max_leaves:
        reasons.append(f"Its plan has {leaves} leaves; {max_leaves} is the bound.")
    return tuple(reasons)


def as_plan(query: str, drafted: Drafted) -> Plan:
    """Make the plan of a query out of its drafted tree; claims are deduplicated and tied to its leaves."""
    titles = tuple(leaf.title for leaf in drafted.node.leaves())
    claims = tuple(dict.fromkeys(claim.strip() for claim in drafted.claims if claim.strip()))[:10]
    return Plan(
        query=query,
        root=drafted.node,
        claims=tuple(PlannedClaim(text=claim, leaves=titles) for claim in claims),
        assumptions=drafted.assumptions,
    )
