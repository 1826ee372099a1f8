"""What earlier research knows, put to use: leaves ask it before the web, planners see it, and a job adds to it at its end.

All of it is wrapped around the handlers of a run, so that a run without a memory is not touched. A page behind a known
fact is fetched again before the fact is used: unchanged, its facts cost no search and no model call; changed, it is read.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from agents.contracts.contract import Brief
from agents.contracts.fact import REUSABLE, Contradiction, Fact, MemoryKind, MemoryNote, Remembered, Selection
from agents.contracts.finding import Finding
from agents.contracts.frozen import Frozen, QueryType
from agents.contracts.plan import Leaf, Node, Plan
from agents.contracts.report import Commission, Outcome
from agents.contracts.sources import Hit, SearchQuery, Source, SourceCard
from agents.core.events import Noted, SourceRead
from agents.core.port import Ctx, Handler, Handlers
from agents.memory.knowledge import KnowledgeStore, MemoryDown, in_time
from agents.nlp import lang
from agents.nlp.tokens import content_words, years_in
from agents.offline.questions import LOOKUPS, parts_of
from agents.research.loop.topics import compare
from agents.research.planning.drafting import DraftGiven
from agents.research.reading.answering import answers
from agents.research.reading.leaf import SOURCES_OF_A_LOOKUP, sub_questions
from agents.research.reading.searching import LeafGiven, Setting
from agents.research.remembering import Remembering
from agents.research.run_context import RetrievedSource, RunContext
from agents.search.scope_filter import enforced
from agents.search.searcher import Texts

RECALL_S = 0.3
"""Seconds that a leaf or a planner waits for one answer of the knowledge base."""
OPENING_S = 2.0
"""Seconds that it gets before the first: its file is opened, and the table of meanings read."""
REMEMBER_S = 20.0
"""Seconds that a job gives it at its end."""
ENOUGH_SOURCES = SOURCES_OF_A_LOOKUP
"""Sources whose unchanged pages must answer a question for it not to be searched for again."""
MOST_PAGES = 8
"""Pages of known facts that one leaf has checked."""
MOST_FACTS = 16
"""Facts that one leaf takes over: as many as its writer would have of pages that were read anew."""
MOST_LINKS, LINK_PRIORITY, LINK_WORDS = 2, 0.6, 2
"""Linked sources that a leaf reads beside what it finds: how many, how much their source made of them, and words of the
question in what it said of them."""
MOST_TOLD = 12
"""Questions answered before that a planner is told of."""

_KEEPS: Mapping[QueryType, int] = {
    "news": 1, "technical": 30, "medical_legal_financial": 30, "person_or_organisation": 30, "statistics": 60,
    "comparison": 60, "academic": 365, "other": 90,
}  # fmt: skip
_VOLATILE_DAYS, _HISTORY_DAYS = 2, 3_650


def keeps(question: str, query_type: QueryType, today: str) -> timedelta:
    """Say how long an answer keeps: by the question's own time words first, then by its field.

    Prices, versions and whatever is asked as of now keep for days, what happened in years long past for years.
    """
    years, now = years_in(question), int(today[:4] or 0)
    if lang.cue("volatile").search(question) or (years and max(years) >= now):
        return timedelta(days=_VOLATILE_DAYS)
    return timedelta(days=_HISTORY_DAYS if years and max(years) < now - 1 else _KEEPS[query_type])


class Recalled(Frozen):
    """What is known about the questions of a leaf; each fact speaks to its topic."""

    facts: tuple[Fact, ...] = ()
    sources: tuple[SourceCard, ...] = ()
    links: tuple[str, ...] = ()
    """Addresses that earlier sources pointed at for what is asked, and nobody has read."""
    fault: str = ""


class KnownPlan(Frozen):
    """What is known before a query is planned."""

    plan: Plan | None = None
    """By which it was researched before, where everything in it is still answered."""
    counts: tuple[int, ...] = ()
    """Facts known for each leaf of a plan, 0 where they are not enough to spare it a search."""
    lines: tuple[str, ...] = ()
    """Else what a planner is told: questions answered before, and questions that earlier sources raised."""
    fault: str = ""


class Recollection:
    """One user's knowledge base in one run: the bodies of the steps that ask it and add to it."""

    def __init__(self, store: KnowledgeStore, owner: str, texts: Texts, now: Callable[[], datetime]) -> None:
        self.store, self.owner, self.texts, self.now = store, owner, texts, now
        self.faults: dict[str, None] = {}
        self._opening: asyncio.Task[object] | None = None

    async def _opened(self) -> None:
        """Open the knowledge base once in a run, for all branches that ask at the same time."""
        if self._opening is None:
            self._opening = asyncio.ensure_future(self.store.search(self.owner, "first words", limit=1))
        await in_time(asyncio.shield(self._opening), OPENING_S)

    async def _found(self, text: str, kinds: tuple[MemoryKind, ...], limit: int) -> tuple[Remembered, ...]:
        await self._opened()
        return await in_time(self.store.search(self.owner, text, Selection(kinds=kinds), limit), RECALL_S)

    async def _got(self, where: Selection) -> tuple[Remembered, ...]:
        return await in_time(self.store.get(self.owner, where), RECALL_S)

    async def recall(self, questions: tuple[str, ...], setting: Setting) -> Recalled:
        """Find the facts that answer questions, as far as they are fresh enough and within the limits of the run."""
        try:
            facts, sources = await self._facts(questions, setting)
            return Recalled(facts=facts, sources=sources, links=await self._links(questions, setting))
        except MemoryDown as error:
            return Recalled(fault=error.notice)

    async def answered(self, leaf: Leaf, setting: Setting) -> bool:
        """Tell whether a leaf needs no search; False also where nothing can be asked."""
        recalled = await self.recall(sub_questions(leaf), setting)
        return bool(recalled.facts) and not missing(sub_questions(leaf), recalled.facts)

    async def _facts(
        self, questions: Sequence[str], setting: Setting
    ) -> tuple[tuple[Fact, ...], tuple[SourceCard, ...]]:
        # The best of each source for each question first, then the second best: nobody is heard out alone.
        turns: list[tuple[int, Fact, SourceCard]] = []
        for question in questions:
            heard: Counter[str] = Counter()
            found = await self._answering(question, setting)
            for item in sorted(found, key=lambda one: (one.verdict == "quoted", -(one.confidence or 0))):
                if item.fact and item.source:
                    known = item.fact.model_copy(update={"topic": question, "known_since": item.since[:10]})
                    turns.append((heard[item.source.url], known, item.source))
                    heard[item.source.url] += 1
        facts: dict[str, tuple[Fact, SourceCard]] = {}
        for _, fact, source in sorted(turns, key=lambda turn: turn[0]):
            facts.setdefault(fact.id, (fact, source))
        taken = list(facts.values())[:MOST_FACTS]
        return tuple(fact for fact, _ in taken), tuple({card.id: card for _, card in reversed(taken)}.values())[::-1]

    async def _links(self, questions: Sequence[str], setting: Setting) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for question in questions:
            wanted = set(content_words(question))
            for one in await self._found(question, ("link",), 4):
                near = len(wanted & set(content_words(one.text))) >= LINK_WORDS
                hit = Hit(url=one.topics[0], title=one.text) if one.topics else None
                if near and hit and (one.confidence or 0) >= LINK_PRIORITY and _allowed(hit, setting):
                    found[hit.url] = None
        read = [await self._got(Selection(url=url, kinds=("reading",))) for url in found]
        return tuple(url for url, known in zip(found, read, strict=True) if not known)[:MOST_LINKS]

    async def _answering(self, question: str, setting: Setting) -> list[Remembered]:
        keep = keeps(question, setting.query_type, setting.today)

        def fresh(item: Remembered) -> bool:
            return self.now() - datetime.fromisoformat(item.seen) <= keep

        readings = await self._found(question, ("reading",), 24)
        same = [one for one in readings if fresh(one) and compare(question, [one.text]).duplicate]
        ids = tuple(dict.fromkeys(fact for one in same for fact in one.facts))
        found = list(await self._got(Selection(ids=ids))) if ids else []
        parts = parts_of(question)
        if all(part.kind in LOOKUPS for part in parts):
            near = await self._found(question, ("fact",), 12)
            found += [
                one
                for one in near
                if one.fact and one.source
                if any(answers(part, one.fact.quote, one.source.title, one.source.head) for part in parts)
            ]
        read_as = {one.source.url: one.source.text_hash for one in same if one.source}
        return [
            one
            for one in {one.id: one for one in found}.values()
            if one.source and one.verdict in REUSABLE and fresh(one)
            if _allowed(Hit(url=one.source.url, title=one.source.title, published=one.source.published), setting)
            if read_as.get(one.source.url, one.source.text_hash) == one.source.text_hash
        ]

    async def known(self, query: str, setting: Setting) -> KnownPlan:
        """Give the plan by which a query was researched before, where all of it is still answered.

        Else what a planner should know: what was answered before, in the words it was asked in, and what is open.
        """
        try:
            for one in await self._found(query, ("plan",), 4):
                if one.plan is not None and compare(query, [one.text]).duplicate:
                    counts = await self._counts(one.plan, setting)
                    if counts and all(counts):
                        return KnownPlan(plan=one.plan, counts=counts)
            readings = await self._found(query, ("reading",), 60)
            raised = await self._found(query, ("question", "gap"), 4)
        except MemoryDown as error:
            return KnownPlan(fault=error.notice)
        sources: Counter[str] = Counter()
        last: dict[str, str] = {}
        for one in readings:
            if one.facts:
                sources[one.text] += 1
                last[one.text] = max(last.get(one.text, ""), one.seen[:10])
        lines = [
            f"answered before, costs nothing in these words: {text} ({count} sources, read {last[text]})"
            for text, count in sources.items()
            if count >= ENOUGH_SOURCES
        ]
        return KnownPlan(lines=(*lines[:MOST_TOLD], *(f"raised before, still open: {one.text}" for one in raised)))

    async def covered(self, plan: Plan, setting: Setting) -> KnownPlan:
        """Count for each leaf of a new plan the facts that are known."""
        try:
            return KnownPlan(counts=await self._counts(plan, setting))
        except MemoryDown as error:
            return KnownPlan(fault=error.notice)

    async def _counts(self, plan: Plan, setting: Setting) -> tuple[int, ...]:
        counts: list[int] = []
        for leaf in plan.root.leaves():
            facts, _ = await self._facts(sub_questions(leaf), setting)
            counts.append(0 if missing(sub_questions(leaf), facts) else len(facts))
        return tuple(counts)

    # ---- adding to it

    async def remember(self, job: str, outcome: Outcome) -> MemoryNote:
        """Keep what a job has found out, with its verdicts: the body of a step, which done twice changes nothing."""
        reused = {
            fact.id: fact for top in outcome.findings for part in top.walk() for fact in part.facts if fact.known_since
        }.values()
        learned, conflicts = 0, tuple[Contradiction, ...]()
        try:
            at = self.now().isoformat(timespec="seconds")
            adding = Remembering(self.store, self.owner, self.texts).add(job, at, outcome)
            learned, conflicts = await in_time(adding, REMEMBER_S)
        except MemoryDown as error:
            self.faults[error.notice] = None
        return MemoryNote(
            reused=len(reused), sources=len({fact.source_id for fact in reused}),
            since=min((fact.known_since for fact in reused), default=""),
            learned=learned, conflicts=conflicts, fault=next(iter(self.faults), ""),
        )  # fmt: skip


def missing(questions: Sequence[str], facts: Sequence[Fact]) -> tuple[str, ...]:
    """Give the questions that too few sources answer."""
    held: defaultdict[str, set[str]] = defaultdict(set)
    for fact in facts:
        held[fact.topic].add(fact.source_id)
    return tuple(one for one in questions if len(held[one]) < ENOUGH_SOURCES)


def _allowed(hit: Hit, setting: Setting) -> bool:
    query = SearchQuery(
        text=setting.query, include_domains=setting.domains, exclude_domains=setting.exclude_domains,
        date_from=setting.date_from, date_to=setting.date_to,
    )  # fmt: skip
    return bool(enforced([hit], query))


# ---- around the handlers of a run


def asked_first(
    context: RunContext, store: KnowledgeStore | None, owner: str | None, now: Callable[[], datetime]
) -> Recollection | None:
    """Have the knowledge base asked before a search begins while a plan is still written; None where it has no part in a run."""
    if store is None or owner is None:
        return None
    memory = Recollection(store, owner, context.texts, now)
    context.answered = memory.answered
    return memory


def with_memory(
    handlers: Handlers,
    context: RunContext,
    store: KnowledgeStore | None,
    brief: Brief | None,
    now: Callable[[], datetime],
) -> Handlers:
    """Have planners told, leaves ask, and the job add what it has found out; nothing changes where there is no memory."""
    if (memory := asked_first(context, store, brief.memory if brief else None, now)) is None:
        return handlers
    return {
        **handlers,
        "draft": _told(handlers["draft"], memory),
        "leaf": _asking(handlers["leaf"], handlers["leaf"], context, memory),
        "scout": _asking(handlers["scout"], handlers["leaf"], context, memory),
        "research": _adding(handlers["research"], memory),
    }


def _told(draft: Handler, memory: Recollection) -> Handler:
    async def run(ctx: Ctx, given: DraftGiven) -> Plan:
        asked, brief = given.query.text, given.brief
        setting = Setting.of(asked, brief)
        known = await ctx.call("known", "0", memory.known, asked, setting, gives=KnownPlan, pool="local")
        if known.fault:
            memory.faults[known.fault] = None
        if known.plan is not None:
            return _marked_plan(known.plan.model_copy(update={"query": asked}), known.counts)
        brief = brief.model_copy(update={"known": (*brief.known, *known.lines)})
        plan: Plan = await draft.run(ctx, given.model_copy(update={"brief": brief}))
        if not known.lines:
            return plan
        covered = await ctx.call("covered", "0", memory.covered, plan, setting, gives=KnownPlan, pool="local")
        return _marked_plan(plan, covered.counts) if covered.counts else plan

    return Handler(run=run, takes=DraftGiven, gives=Plan)


def _marked_plan(plan: Plan, counts: Sequence[int]) -> Plan:
    """Note in the leaves of a plan how many facts are known for them."""
    known = dict(zip((leaf.title for leaf in plan.root.leaves()), counts, strict=True))

    def marked(node: Node) -> Node:
        children = tuple(
            one.model_copy(update={"known_facts": known.get(one.title, 0)}) if isinstance(one, Leaf) else marked(one)
            for one in node.children
        )
        return node.model_copy(update={"children": children})

    return plan.model_copy(update={"root": marked(plan.root)})


def _asking(first: Handler, leaf: Handler, context: RunContext, memory: Recollection) -> Handler:
    """Have a leaf ask before it searches; one that would sweep for sources has no need to where all is known."""

    async def run(ctx: Ctx, given: LeafGiven) -> Finding:
        handler = first
        if given.leaf.searches and not ctx.finishing and ctx.left != 0:
            given = await _recalled(ctx, context, memory, given)
            handler = first if given.leaf.searches else leaf
        finding: Finding = await handler.run(ctx, given)
        return finding.model_copy(update={"asked": sub_questions(given.leaf)})

    return Handler(run=run, takes=LeafGiven, gives=Finding)


async def _recalled(ctx: Ctx, context: RunContext, memory: Recollection, given: LeafGiven) -> LeafGiven:
    """Give a leaf what is known, as far as its pages are unchanged, and leave to it what has to be searched for."""
    leaf, questions = given.leaf, sub_questions(given.leaf)
    recalled = await ctx.call("recall", "0", memory.recall, questions, given.setting, gives=Recalled, pool="local")
    if recalled.fault:
        memory.faults[recalled.fault] = None
    known = recalled.sources[:MOST_PAGES] if recalled.facts else ()
    fetched = await ctx.fan(
        "recheck", context.fetch, [(Source.id_of(card.url), card.url, ctx.deadline) for card in known],
        gives=RetrievedSource, pool="web",
    ) if known else ()  # fmt: skip
    now = [(card, one.card) for card, one in zip(known, fetched, strict=True) if isinstance(one, RetrievedSource)]
    unchanged = {old.id: new for old, new in now if old.text_hash == new.text_hash and old.id == new.id}
    facts = tuple(fact for fact in recalled.facts if fact.source_id in unchanged)
    open_ones = missing(questions, facts)
    if not open_ones:
        leaf = leaf.model_copy(update={"searches": ()})
    else:
        answered = [one for one in questions if one not in open_ones]
        left = tuple(text for text in leaf.searches if not (answered and compare(text, answered).duplicate))
        changed = (new.url for old, new in now if old.id not in unchanged)
        sources = tuple(dict.fromkeys((*leaf.sources, *recalled.links, *changed)))
        leaf = leaf.model_copy(update={"searches": left or open_ones, "sources": sources})
    if facts:
        for card in unchanged.values():
            count = sum(fact.source_id == card.id for fact in facts)
            ctx.emit(f"known:{card.id}", SourceRead(node=ctx.path, source=card, facts=count))
        since = min(fact.known_since for fact in facts)
        searching = "" if open_ones else "; nothing is searched again"
        said = (
            f"{len(facts)} facts of {len(unchanged)} sources are known since {since}, their pages unchanged{searching}."
        )
        ctx.emit("known", Noted(node=ctx.path, text=said))
    cards = {card.id: card for card in (*given.known_sources, *unchanged.values())}
    return given.model_copy(
        update={"leaf": leaf, "known": (*given.known, *facts), "known_sources": tuple(cards.values())}
    )


def _adding(research: Handler, memory: Recollection) -> Handler:
    async def run(ctx: Ctx, given: Commission) -> Outcome:
        outcome: Outcome = await research.run(ctx, given)
        note = await ctx.call("remember", "0", memory.remember, ctx.job_id, outcome, gives=MemoryNote, pool="local")
        return outcome.model_copy(update={"memory": note})

    return Handler(run=run, takes=Commission, gives=Outcome)
