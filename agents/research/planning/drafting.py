"""Drafting a plan: one planner call gives the leaves of the whole tree; code holds the bounds and fills in the rest.

What is too deep, too much or said twice is trimmed here, never asked for again: a plan that was cut says so among its
assumptions.
"""

import asyncio
import contextlib
import re
from collections.abc import Callable, Sequence
from functools import partial

from pydantic import ValidationError

from agents.contracts.contract import Brief, Query
from agents.contracts.frozen import Frozen
from agents.contracts.plan import (
    Leaf,
    LeafBudget,
    Node,
    Phase,
    Plan,
    PlannedClaim,
    PlannedLeaf,
    PlanningInput,
    PlanTree,
    TaskSpec,
)
from agents.contracts.plan import SuccessCriteria as Criteria
from agents.contracts.sources import CorpusSurvey
from agents.core.budget import Deadline
from agents.core.errors import StepFailed
from agents.core.port import Ctx
from agents.core.role import RoleAnswer
from agents.core.time_policy import PLANNING_SHARE
from agents.nlp.tokens import content_words, language_of, years_in
from agents.offline.planner import asks_for_a_list
from agents.offline.questions import asks_for_facts, is_no_thing, parts_of, read_alone, standalone, topic
from agents.offline.terms import listed
from agents.research.loop.loop_decision import leaves_on
from agents.research.loop.success import covered
from agents.research.loop.topics import beyond, repeated, stems
from agents.research.planning.freeze_contract import Bounds, CapOverrides, bounds_of, in_leaves, with_leaves
from agents.research.reading.answering import share
from agents.research.reading.searching import Setting, first_texts, query_of
from agents.research.run_context import LookAhead, RunContext
from agents.roles import EXTRACTOR, PLANNER, only_given_years

SEVERAL = 3
"""Questions from which a leaf may begin with five searches instead of three (specification, section 5)."""
MOST_SOURCES_PER_LEAF = 8
MAX_CLAIMS = 10
HARDLY = 0.3
"""Share of the words of a part of the query below which a plan does not ask it; reasons and doubts have words of their own."""
LONGEST_TITLE = 120
"""Characters of a leaf's title."""
CORROBORATION = 2
"""Independent sources wanted per answer; 1 for a plan of one question, which is a lookup unless it has high priority."""

Placed = tuple[tuple[str, ...], Leaf]
"""A leaf with the titles of the executors above it, outermost first."""
_JOINT = re.compile(r"\s*[>›»]\s*")


class DraftGiven(Frozen):
    """One query whose plan is wanted."""

    query: Query
    brief: Brief


async def run_draft(context: RunContext, limits: CapOverrides, ctx: Ctx, given: DraftGiven) -> Plan:
    """Draft the plan of one query."""
    survey = CorpusSurvey()
    with contextlib.suppress(StepFailed):  # a plan can do without
        survey = await ctx.call("survey", "0", context.survey, given.query.text, gives=CorpusSurvey, pool="local")
    query, brief = given.query, given.brief
    planning = PlanningInput(
        query=query.text, max_depth=limits.depth, max_leaves=limits.leaves, scope_limits=query.scope_limits,
        sub_topics=query.sub_topics, known=brief.known, survey=survey, language=brief.language, today=brief.today,
        seed_urls=brief.seed_urls,
    )  # fmt: skip
    # A query that only asks for facts about what it names, with nothing else to heed, is its own plan.
    own = not planning.known and asks_for_facts(query.text)
    planner = context.by_code(PLANNER.name) if own else context
    ahead = begun(context, brief, planning) if planner is context and context.ahead is not None else None
    asked = await ctx.call(
        "planner", "0", planner.ask, PLANNER, planning, ctx.within(PLANNING_SHARE), None, ahead and ahead.take,
        gives=RoleAnswer[PlanTree],
    )  # fmt: skip
    plan = plan_of(asked.output, planning, bounds_of(brief))
    # Facts that are asked for together stand in the same documents: one leaf reads them.
    return in_leaves(plan, 1, MOST_SOURCES_PER_LEAF) if own and context.models[EXTRACTOR.name].reasons else plan


class Begun:
    """A plan while it is written: the searches of a leaf begin when the leaf is closed, unless its answer is known.

    The run makes `most` searches for sure; `admit` turns a leaf as a line of JSON into the plan's own, None where it is left out.
    """

    def __init__(self, context: RunContext, setting: Setting, most: int, admit: Callable[[str], Leaf | None]) -> None:
        self._context, self._setting, self._left, self._admit = context, setting, most, admit
        self._rest = ""

    async def take(self, lines: str) -> None:
        """Take further leaves."""
        *whole, self._rest = (self._rest + lines).split("\n")
        ahead = self._context.ahead
        for line in whole if ahead else ():
            if "http" in line.casefold():
                continue  # an address may be made up: the whole answer is rid of those first
            with contextlib.suppress(ValidationError):  # the whole answer is validated, and repaired where need be
                leaf = self._admit(line)
                if ahead and leaf and not leaf.discovery:
                    texts = first_texts(leaf, self._setting.loop)[: self._left]
                    self._left -= len(texts)
                    ahead.want(partial(self._search, leaf, texts, ahead))

    async def _search(self, leaf: Leaf, texts: Sequence[str], ahead: LookAhead) -> None:
        """Ask what is known before the web; the planner goes on writing meanwhile."""
        if (earlier := self._context.earlier) is None or not await earlier.answered(leaf, self._setting):
            ahead.made.update(texts)
            asked = (self._context.search(query_of(self._setting, text), Deadline(), ahead=True) for text in texts)
            await asyncio.gather(*asked, return_exceptions=True)


def begun(context: RunContext, brief: Brief, planning: PlanningInput) -> Begun:
    """Begin with the leaves of a planner's answer, within the bounds that they will be held to."""
    builder, bounds = TreeBuilder(planning, bounds_of(brief)), bounds_of(brief)
    most = bounds.searches // max(1, len(brief.queries))

    def admit(line: str) -> Leaf | None:
        return builder.admit(only_given_years(planning, PlannedLeaf.model_validate_json(line)))

    return Begun(context, Setting.of(planning.query, brief), most, admit)


def plan_by(before: Plan, query: str) -> Plan | None:
    """Plan a question by the plan of one that was researched before: what it no longer asks goes, what it adds comes to it.

    None where the two differ in more than entries of a list, or where that is most of it: a planner has to be asked.
    """
    if (more := beyond(query, before.query)) is None:
        return before.model_copy(update={"query": query}) if repeated(query, [before.query]) else None
    names, others = ({one for part in parts_of(text) for one in part.names} for text in (query, before.query))
    if more and (names != others or not names or len(more) > len(before.root.leaves())):
        return None
    asked = stems(query)
    gone, shared = stems(before.query) - asked, stems(before.query) & asked
    words = {leaf.title: stems(" ".join((leaf.title, *leaf.questions))) for leaf in before.root.leaves()}
    kept = {title for title, held in words.items() if not gone & held}
    for title, held in words.items():  # what nobody else would answer stays, whatever it answers beside that
        if held & shared - frozenset().union(*(words[one] for one in kept)):
            kept.add(title)
    if not kept:
        return None
    named = " and ".join(dict.fromkeys(name for part in parts_of(query) for name in part.shown))
    years = [str(year) for year in sorted(years_in(query))]
    new = leaves_on([topic(named, (entry, *years)) for entry in more], before.root.leaves()[0].budget)
    root = with_leaves(before.root, lambda leaf: leaf if leaf.title in kept else None)
    update = {"title": query[:120], "objective": query, "children": (*root.children, *new)}
    claims = tuple(one for one in before.claims if kept.issuperset(one.leaves))
    return before.model_copy(update={"query": query, "root": root.model_copy(update=update), "claims": claims})


async def draft_plans(ctx: Ctx, brief: Brief, name: str = "draft") -> tuple[Plan, ...]:
    """Draft every query's plan side by side.

    Raises:
        StepFailed: a planner gave nothing usable.
    """
    items = [(f"{name}-{number}", DraftGiven(query=query, brief=brief)) for number, query in enumerate(brief.queries)]
    plans: list[Plan] = []
    for one in await ctx.children("draft", items, gives=Plan):
        if isinstance(one, StepFailed):
            raise one
        plans.append(one)
    return tuple(plans)


def plan_of(tree: PlanTree, planning: PlanningInput, bounds: Bounds) -> Plan:
    """Make the plan of a query out of the planner's leaves, within the bounds."""
    builder = TreeBuilder(planning, bounds)
    for planned in tree.leaves:
        builder.admit(planned)
    return builder.plan(tree.claims)


class TreeBuilder:
    """A tree that grows leaf by leaf, in reading order."""

    def __init__(self, planning: PlanningInput, bounds: Bounds) -> None:
        self.planning, self.bounds = planning, bounds
        self._leaves: list[Placed] = []
        self._taken: set[str] = set()
        self._dropped = 0

    def admit(self, planned: PlannedLeaf) -> Leaf | None:
        """Add a leaf; None when it says what another said, asks nothing, or is one too many."""
        asked = (standalone(q.strip(), self.planning.query) for q in planned.questions if q.strip())
        questions = tuple(dict.fromkeys(asked)) or (planned.title,)
        names = {planned.title.casefold(), *(question.casefold() for question in questions[:1])}
        if names & self._taken:
            return None
        if len(self._leaves) >= self.planning.max_leaves:
            self._dropped += 1
            return None
        self._taken |= names
        searches = tuple(dict.fromkeys(one.strip() for one in (questions[0], *planned.search_terms) if one.strip()))[:5]
        most = 5 if len(questions) >= SEVERAL else 3
        sources = min(MOST_SOURCES_PER_LEAF, self.bounds.sources)
        budget = LeafBudget(sources=sources, searches=min(most, len(searches)))
        leaf = Leaf(
            title=planned.title, objective=_objective(planned, questions), questions=questions, searches=searches,
            discovery=planned.discovery, priority=planned.priority, budget=budget,
            spec=_spec(planned, questions, budget),
        )  # fmt: skip
        parts = (part.strip() for part in _JOINT.split(planned.heading))
        above = [part for part in parts if part and part.casefold() != self.planning.query.casefold()]
        self._leaves.append((tuple(above[: self.planning.max_depth - 1]), leaf))
        return leaf

    def plan(self, claims: tuple[str, ...] = ()) -> Plan:
        """Give the plan of all leaves so far; claims are deduplicated and tied to the leaves that speak of them."""
        self._cover()
        had, kept = len(self._leaves) + self._dropped, len(self._leaves)
        said = (f"The plan had {had} branches; the first {kept} are researched.",) if self._dropped else ()
        (above, first), *others = _few_sweeps(self._leaves)
        # The addresses that the user named: who reads them asks for all of its round.
        first = first.model_copy(update={"sources": self.planning.seed_urls})
        leaves = [(above, first), *others]
        # Parts agreed with the user that no leaf asks about have to be covered all the same.
        asked = [_words_of(leaf) for _, leaf in leaves]
        unasked = tuple(part for part in self.planning.sub_topics if not any(covered(part, words) for words in asked))
        query = self.planning.query
        lookup = len(leaves) == 1 and len(first.questions) == 1 and first.priority != "high" and not unasked
        phase, children = self._phase(lookup, unasked), self._grown(leaves, lookup)
        phases = (phase,) if lookup else phases_of(phase)
        root = Node(title=query[:120], objective=query, phases=phases, children=children)
        texts: dict[str, str] = {}
        for claim in (one.strip() for one in claims if one.strip()):
            texts.setdefault(claim.casefold(), claim)
        planned = (
            PlannedClaim(text=one, leaves=leaves_for(one, root.leaves())) for one in [*texts.values()][:MAX_CLAIMS]
        )
        return Plan(query=query, root=root, claims=tuple(planned), assumptions=said)

    def _cover(self) -> None:
        """Have what the plan speaks of nowhere asked in the query's own words: small models plan around the question."""
        asked = " ".join(f"{leaf.title} {leaf.objective} {' '.join(leaf.questions)}" for _, leaf in self._leaves)
        gap = ("reason", "differ_asked", "doubt_asked")
        missing = [
            part
            for part in parts_of(self.planning.query)
            if share(frozenset(word for word in part.matter if not is_no_thing(word)), asked) < HARDLY
            and not any(listed(words).search(part.text) for words in gap)
        ]
        if not missing or language_of(asked) != language_of(self.planning.query):
            return
        self._leaves = self._leaves[: self.planning.max_leaves - 1]
        questions = tuple(map(read_alone, missing))
        title = questions[0].rstrip("?")[:LONGEST_TITLE]
        self.admit(
            PlannedLeaf(heading="", title=title, questions=questions, search_terms=(), priority="high", discovery=False)
        )
        self._leaves.insert(0, self._leaves.pop())

    def _phase(self, lookup: bool, themes: tuple[str, ...] = ()) -> Phase:
        criteria = Criteria(corroboration=1 if lookup else CORROBORATION, themes=themes)
        return Phase(title="Collect", criteria=criteria, max_iterations=self.bounds.rounds)

    def _grown(self, leaves: list[Placed], lookup: bool) -> tuple[Node | Leaf, ...]:
        """Put leaves under their headings, in reading order; an executor with a single child is that child."""
        children: list[Node | Leaf] = []
        below: dict[str, list[Placed]] = {}
        for headings, leaf in leaves:
            if headings:
                below.setdefault(headings[0], []).append((headings[1:], leaf))
        for headings, leaf in leaves:
            if not headings:
                children.append(leaf)
            elif group := below.pop(title := headings[0], None):
                inner, objective = self._grown(group, lookup), f"{title}: {self.planning.query}"
                node = Node(title=title, objective=objective, phases=(self._phase(lookup),), children=inner)
                children.append(inner[0] if len(inner) == 1 else node)
        return tuple(children)


MANY_ROUNDS = 5
"""Rounds from which every question is answered once before any is answered a second time."""
SETTLING_SOURCES = 6
"""Sources that may be read to settle what others disagree on."""


def phases_of(collect: Phase) -> tuple[Phase, ...]:
    """Give the phases of a wide question: collect; and, where there are rounds for it, fill gaps and settle contradictions.

    With few rounds what sources disagree on is left to the challenge, which searches beside the writing. A phase whose
    gate is open already is passed over, so that who finds all at once has one.
    """
    gate = Criteria(contradictions_resolved=True, min_confidence=0)
    settle = Phase(title="Settle contradictions", criteria=gate, sources=SETTLING_SOURCES, max_iterations=1)
    if collect.max_iterations < MANY_ROUNDS:
        return (collect,)
    once = collect.criteria.model_copy(update={"corroboration": 1})
    return collect.model_copy(update={"criteria": once}), collect.model_copy(update={"title": "Fill gaps"}), settle


def refreshed(plan: Plan, rounds: int) -> Plan:
    """Give a plan with its phases as if drafted now, for the rounds of the mode at hand."""

    def fresh(node: Node) -> Node:
        several = node is plan.root and (len(node.phases) > 1 or node.phases[0].criteria.corroboration > 1)
        last = node.phases[-2 if len(node.phases) > 1 else 0]
        collect = last.model_copy(update={"title": "Collect", "max_iterations": rounds})
        children = tuple(fresh(child) if isinstance(child, Node) else child for child in node.children)
        return node.model_copy(update={"phases": phases_of(collect) if several else (collect,), "children": children})

    return plan.model_copy(update={"root": fresh(plan.root)})


def _few_sweeps(leaves: list[Placed]) -> list[Placed]:
    """Keep one leaf that only gathers sources, beside others that read: a plan of sweeps alone answers nothing."""
    sweeps, question = [leaf for _, leaf in leaves if leaf.discovery], leaves[0][1].questions[0]
    is_list = len(leaves) == 1 and asks_for_a_list(question) and not asks_for_facts(question)
    kept = sweeps[0] if sweeps and (is_list or len(sweeps) < len(leaves)) else None
    return [
        (headings, leaf if leaf is kept else leaf.model_copy(update={"discovery": False})) for headings, leaf in leaves
    ]


def _spec(planned: PlannedLeaf, questions: tuple[str, ...], budget: LeafBudget) -> TaskSpec | None:
    """Make the extractors' task of a leaf whose planner says more of it than its questions; else the executor composes it.

    Readers of a sweep are told so: what its sources leave open, and what they point at, is wanted.
    """
    criteria = tuple(one.strip() for one in planned.acceptance_criteria if one.strip())
    if not (planned.expected_format.strip() or criteria or planned.discovery):
        return None
    return TaskSpec(
        questions=questions, expected_format=planned.expected_format.strip(), acceptance_criteria=criteria,
        priority=planned.priority, budget=budget, discovery_intense=planned.discovery,
    )  # fmt: skip


def _objective(planned: PlannedLeaf, questions: tuple[str, ...]) -> str:
    """Say what a leaf must settle: its questions; or the search text that holds its question and what that leans on."""
    asked = questions[0].casefold()
    whole = next((text for text in planned.search_terms if len(text) > len(asked) and asked in text.casefold()), "")
    if whole:
        return whole
    return questions[0] if len(questions) == 1 else f"{planned.title}: {' '.join(questions)}"


def leaves_for(claim: str, leaves: tuple[Leaf, ...]) -> tuple[str, ...]:
    """Name the leaves that should settle a claim: those that share most of its words; all when none does."""
    words = frozenset(content_words(claim))
    shared = {leaf.title: len(words & _words_of(leaf)) for leaf in leaves}
    return tuple(title for title, count in shared.items() if count == max(shared.values()))


def _words_of(leaf: Leaf) -> frozenset[str]:
    return frozenset(content_words(" ".join((leaf.title, *leaf.questions))))
