"""What earlier research knows, put to use: leaves ask it before the web, planners see it, and a job adds to it at its end.

All of it is wrapped around the handlers of a run, so that a run without a memory is not touched. A page behind a known
fact is fetched again before the fact is used: unchanged, its facts cost no search and no model call; changed, it is read.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial

from agents.contracts.contract import Brief, place
from agents.contracts.fact import REUSABLE, Contradiction, Fact, MemoryKind, MemoryNote, Remembered, Selection
from agents.contracts.finding import Finding
from agents.contracts.frozen import Frozen, Said
from agents.contracts.plan import Leaf, Plan
from agents.contracts.report import Commission, Outcome
from agents.contracts.sources import SourceCard
from agents.core.budget import Deadline
from agents.core.errors import SourceError
from agents.core.events import Noted, SourceRead
from agents.core.port import Ctx, Handler, Handlers, computed
from agents.memory.knowledge import KnowledgeStore, MemoryDown, in_time
from agents.nlp.tokens import content_words
from agents.offline.questions import LOOKUPS, Question, parts_of
from agents.research import remembering
from agents.research.loop.topics import beyond, repeated
from agents.research.planning.drafting import DraftGiven, plan_by, refreshed
from agents.research.planning.freeze_contract import bounds_of, with_leaves
from agents.research.reading.answering import answers, is_foreign
from agents.research.reading.leaf import SOURCES_OF_A_LOOKUP
from agents.research.reading.searching import LeafGiven, Setting, sub_questions
from agents.research.run_context import RunContext
from agents.research.writing.sections import spread
from agents.search.scope_filter import ruled_out
from agents.search.searcher import Texts

RECHECK_S = 3.0
"""Seconds that a page behind a known fact gets: within its time the fact would need no second look."""
MOST_PAGES = 8
"""Pages of known facts that one leaf has checked."""
MOST_FACTS = 16
"""Facts that one leaf takes over: as many as its writer would have of pages that were read anew."""
MOST_LINKS, LINK_PRIORITY, LINK_WORDS = 2, 0.6, 2
"""Linked sources that a leaf reads beside what it finds: how many, how much their source made of them, and words of the
question in what it said of them."""
MOST_TOLD = 12
"""Questions answered before that a planner is told of."""

KNOWN_BEFORE = (
    "{n} {n:fact|facts} of {sources} {sources:source|sources}, known since {since}, {n:is|are} used again; {then}."
)
ALL_KNOWN, SOME_KNOWN = Said("nothing is searched for"), Said("the rest is searched for")
"""What a leaf says of the facts of earlier research that it takes over."""


class Recalled(Frozen):
    """What is known about the questions of a leaf; each fact speaks to its topic."""

    facts: tuple[Fact, ...] = ()
    sources: tuple[SourceCard, ...] = ()
    links: tuple[str, ...] = ()
    """Addresses that earlier sources pointed at for what is asked, and nobody has read."""
    open: tuple[str, ...] = ()
    """Questions that still have to be searched for."""
    fault: str = ""


class Rechecked(Frozen):
    """A page behind known facts, fetched again."""

    card: SourceCard
    stands: bool
    """What it said of them is all that it says of them today."""


class KnownPlan(Frozen):
    """What is known before a query is planned."""

    plan: Plan | None = None
    """By which it was researched before, where everything in it is still answered."""
    counts: tuple[int, ...] = ()
    """Facts known for each leaf of a plan, 0 where they are not enough to spare it a search."""
    lines: tuple[str, ...] = ()
    """Else what a planner is told: questions answered before, and questions that earlier sources raised."""
    fault: str = ""


class Recollection(remembering.KeptAnswers):
    """One user's knowledge base in one run: the bodies of the steps that ask it and add to it."""

    def __init__(self, store: KnowledgeStore, owner: str, texts: Texts, now: Callable[[], datetime]) -> None:
        super().__init__(store, owner, now)
        self.texts = texts
        self._opening: asyncio.Task[object] | None = None
        self._here: dict[str, tuple[str, Fact, SourceCard]] = {}
        self._silent: set[str] = set()
        """Addresses whose site did not answer: whoever asks again is told that others have tried."""

    def met(self, finding: Finding) -> None:
        """Know what a leaf of this run has found: those after it need not search for it again."""
        cards = {card.id: card for card in finding.sources}
        for fact in finding.facts:
            self._here.setdefault(fact.id, (place(finding.path), fact, cards[fact.source_id]))

    async def _opened(self) -> None:
        """Open the knowledge base once in a run, for all branches that ask at the same time."""
        if self._opening is None:
            self._opening = asyncio.ensure_future(self.store.search(self.owner, "first words", limit=1))
        await in_time(asyncio.shield(self._opening), remembering.OPENING_S)

    async def _found(self, text: str, kinds: tuple[MemoryKind, ...], limit: int) -> tuple[Remembered, ...]:
        await self._opened()
        return await in_time(self.store.search(self.owner, text, Selection(kinds=kinds), limit), remembering.RECALL_S)

    async def _got(self, where: Selection) -> tuple[Remembered, ...]:
        await self._opened()
        return await in_time(self.store.get(self.owner, where), remembering.RECALL_S)

    async def recall(self, questions: tuple[str, ...], setting: Setting, leaf: str = "") -> Recalled:
        """Find the facts that answer questions, as far as they are fresh enough and within the limits of the run.

        What other leaves of this run than the one at `leaf` have found comes first.
        """
        try:
            known = await self._known(questions, setting, place(leaf))
            return known.model_copy(update={"links": await self._links(known.open, setting)})
        except MemoryDown as error:
            return Recalled(open=questions, fault=error.notice)

    async def answered(self, leaf: Leaf, setting: Setting) -> bool:
        """Tell whether a leaf needs no search; False also where nothing can be asked."""
        return not (await self.recall(sub_questions(leaf), setting)).open

    async def recheck(
        self, context: RunContext, card: SourceCard, quotes: tuple[str, ...], deadline: Deadline
    ) -> Rechecked:
        """Fetch a page again, and see whether its words stand as they did; they may be used while its site does not answer.

        Raises:
            SourceError: there is no such page any more, or it may not be used.
        """
        try:
            now = await context.fetch(card.url, Deadline.within(RECHECK_S, deadline), card)
        except SourceError as error:
            self._silent |= {card.url} if error.fault == "site" else set()
            if error.fault not in {"site", "repeated", "given_up"} or card.url not in self._silent:
                raise
            return Rechecked(card=card, stands=True)
        stands = now.text_hash == card.text_hash
        if not stands and now.id == card.id:
            with contextlib.suppress(SourceError):  # what it said then is not kept any more
                before, after = [await self.texts.get(one.text_hash) for one in (card, now)]
                stands = await computed(remembering.says_the_same, before, after, quotes)
        return Rechecked(card=card.model_copy(update={"retrieved": now.retrieved}), stands=stands)

    async def _known(self, questions: tuple[str, ...], setting: Setting, leaf: str = "") -> Recalled:
        keep = min(remembering.keeps(one, setting.query_type, setting.today) for one in questions)
        # What a leaf that asked just this came to, all of it and in its order: whoever writes over it is asked the same.
        for whole in await self._got(Selection(ids=(remembering.reading_key(*questions),))):
            items = {one.id: one for one in await self._got(Selection(ids=whole.facts))}
            usable = [items[key] for key in whole.facts if key in items and self._holds(items[key], keep, setting)]
            if whole.verdict == "supported" and len(usable) == len(whole.facts) and self._fresh(whole, keep):
                return _recalled_of(zip(usable, whole.topics, strict=True))
        found = [(item, question) for question in questions for item in await self._answering(question, setting)]
        known = _recalled_of(found)
        here = {
            fact.id: (fact.model_copy(update={"topic": question}), card)
            for question in questions
            for where, fact, card in self._here.values()
            if where != leaf and _is_answer(parts_of(question), fact, card)
        }
        pages = {card.id: card for card in (*(card for _, card in here.values()), *known.sources)}
        cards = tuple(pages.values())[:MOST_PAGES]
        every = (*(fact for fact, _ in here.values()), *(fact for fact in known.facts if fact.id not in here))
        facts = spread(tuple(one for one in every if any(one.source_id == card.id for card in cards)), MOST_FACTS)
        return Recalled(facts=facts, sources=cards, open=missing(questions, facts))

    async def _links(self, questions: Sequence[str], setting: Setting) -> tuple[str, ...]:
        urls: dict[str, None] = {}
        for question in questions:
            for one in await self._found(question, ("link",), 4):
                near = len(set(content_words(question)) & set(content_words(one.text))) >= LINK_WORDS
                if near and (one.confidence or 0) >= LINK_PRIORITY:
                    urls |= dict.fromkeys(url for url in one.topics if not ruled_out(url, None, setting))
        return tuple([url for url in urls if not await self._got(Selection(url=url, kinds=("fact",)))][:MOST_LINKS])

    async def _answering(self, question: str, setting: Setting) -> list[Remembered]:
        keep = remembering.keeps(question, setting.query_type, setting.today)
        same = [
            one
            for one in await self._found(question, ("reading",), 24)
            if self._fresh(one, keep) and repeated(question, [one.text]) and not beyond(question, one.text)
        ]
        ids = tuple(dict.fromkeys(fact for one in same for fact in one.facts))
        found = list(await self._got(Selection(ids=ids))) if ids else []
        parts = parts_of(question)
        if all(part.kind in LOOKUPS for part in parts):
            near = await self._found(question, ("fact",), 12)
            found += [one for one in near if one.fact and one.source and _is_answer(parts, one.fact, one.source)]
        found.sort(key=lambda one: (one.verdict == "quoted", -(one.confidence or 0)))
        return [one for one in found if self._holds(one, keep, setting)]

    def _fresh(self, item: Remembered, keep: timedelta) -> bool:
        return self.now() - datetime.fromisoformat(item.seen) <= keep

    def _holds(self, item: Remembered, keep: timedelta, setting: Setting) -> bool:
        """Tell whether a fact may be used: no verdict against it, not too old, and within the limits of the run."""
        if item.fact is None or item.source is None or item.verdict not in REUSABLE or not self._fresh(item, keep):
            return False
        return not ruled_out(item.source.url, item.source.published, setting)

    async def known(self, query: str, setting: Setting, drafted: Plan | None = None) -> KnownPlan:
        """Give the plan by which a query, or a neighbour of it, was researched before, where most of it is still answered.

        Else what a planner should know: what was answered before, in the words it was asked in, and what is open. Of a plan
        that is drafted already, how much is known for each leaf.
        """
        try:
            if drafted is not None:
                return KnownPlan(counts=await self._counts(drafted, setting))
            near = await self._found(query, ("plan",), 4)
            for one in sorted(near, key=lambda one: not repeated(query, [one.text])):
                if one.plan is not None and (plan := plan_by(one.plan, query)):
                    counts = await self._counts(plan, setting)
                    if 2 * sum(map(bool, counts)) >= len(counts):
                        return KnownPlan(plan=plan, counts=counts)
            readings = await self._found(query, ("reading",), 60)
            raised = await self._found(query, ("question", "gap"), 4)
        except MemoryDown as error:
            return KnownPlan(fault=error.notice)
        lines = [
            f"answered before, costs nothing in these words: {one.text} ({len(one.facts)} facts, read {one.seen[:10]})"
            for one in readings
            if one.verdict == "supported"
        ]
        return KnownPlan(lines=(*lines[:MOST_TOLD], *(f"raised before, still open: {one.text}" for one in raised)))

    async def _counts(self, plan: Plan, setting: Setting) -> tuple[int, ...]:
        known = [await self._known(sub_questions(leaf), setting) for leaf in plan.root.leaves()]
        return tuple(0 if one.open else len(one.facts) for one in known)

    # ---- adding to it

    async def remember(self, job: str, outcome: Outcome) -> MemoryNote:
        """Keep what a job has found out, with its verdicts: the body of a step, which done twice changes nothing."""
        reused = {one.id: one for top in outcome.findings for one in top.all_facts() if one.known_since}.values()
        conflicts = tuple[Contradiction, ...]()
        try:
            at = self.now().isoformat(timespec="seconds")
            adding = remembering.Remembering(self.store, self.owner, self.texts, job, at, outcome).put()
            conflicts = await in_time(adding, remembering.REMEMBER_S)
            await self.keep_answers()
        except MemoryDown as error:
            self.note(error.notice)
        since = min((fact.known_since for fact in reused), default="")
        return MemoryNote(
            reused=len(reused), sources=len({fact.source_id for fact in reused}), since=since, conflicts=conflicts,
            answers=self.same, fault=self.fault,
        )  # fmt: skip


def missing(questions: Sequence[str], facts: Sequence[Fact]) -> tuple[str, ...]:
    """Give the questions that too few sources answer: they are searched for again."""
    return tuple(one for one in questions if len({f.source_id for f in facts if f.topic == one}) < SOURCES_OF_A_LOOKUP)


def _recalled_of(found: Iterable[tuple[Remembered, str]]) -> Recalled:
    """Put remembered facts, each with its question, together with their sources."""
    held = {one.fact.id: (one, one.fact, one.source, said) for one, said in found if one.fact and one.source}
    facts = (
        fact.model_copy(update={"topic": said, "known_since": one.since[:10]}) for one, fact, _, said in held.values()
    )
    cards = {card.id: card for _, _, card, _ in held.values()}
    return Recalled(facts=tuple(facts), sources=tuple(cards.values()))


def _is_answer(parts: Sequence[Question], fact: Fact, card: SourceCard) -> bool:
    """Tell whether a fact answers what is looked up; words of another language are read anew, and judged."""
    if not all(part.kind in LOOKUPS for part in parts) or is_foreign(parts[0], fact.quote, card.head):
        return False
    return any(answers(part, fact.quote, card.title, card.head) for part in parts)


# ---- around the handlers of a run


def asked_first(
    context: RunContext, store: KnowledgeStore | None, owner: str | None, now: Callable[[], datetime]
) -> Recollection | None:
    """Have the knowledge base asked before a search begins while a plan is still written; None where it has no part in a run."""
    if store is None or owner is None:
        return None
    memory = Recollection(store, owner, context.texts, now)
    context.earlier = memory
    return memory


def with_memory(
    handlers: Handlers, context: RunContext, store: KnowledgeStore | None, brief: Brief | None,
    now: Callable[[], datetime],
) -> Handlers:  # fmt: skip
    """Have planners told, leaves ask, and the job add what it has found out; nothing changes where there is no memory."""
    if (memory := asked_first(context, store, brief.memory if brief else None, now)) is None:
        return handlers
    return {
        **handlers,
        "draft": partial(_told, handlers["draft"], memory),
        "leaf": partial(_asking, handlers["leaf"], handlers["leaf"], context, memory),
        "scout": partial(_asking, handlers["scout"], handlers["leaf"], context, memory),
        "research": partial(_adding, handlers["research"], memory),
    }


async def _told(draft: Handler, memory: Recollection, ctx: Ctx, given: DraftGiven) -> Plan:
    asked, brief = given.query.text, given.brief
    setting = Setting.of(asked, brief)
    known = await ctx.call("known", "0", memory.known, asked, setting, gives=KnownPlan, pool="local")
    memory.note(known.fault)
    plan = known.plan and refreshed(known.plan, bounds_of(brief).rounds)
    if plan is None:
        brief = brief.model_copy(update={"known": (*brief.known, *known.lines)})
        plan = await draft(ctx, given.model_copy(update={"brief": brief}))
        if known.lines:
            known = await ctx.call("covered", "0", memory.known, asked, setting, plan, gives=KnownPlan, pool="local")
    if not known.counts:
        return plan
    counts = dict(zip((leaf.title for leaf in plan.root.leaves()), known.counts, strict=True))
    root = with_leaves(plan.root, lambda leaf: leaf.model_copy(update={"known_facts": counts.get(leaf.title, 0)}))
    return plan.model_copy(update={"root": root})


async def _asking(
    first: Handler, leaf: Handler, context: RunContext, memory: Recollection, ctx: Ctx, given: LeafGiven
) -> Finding:
    """Have a leaf ask before it searches; one that would sweep for sources has no need to where all is known."""
    handler = first
    if given.leaf.searches and not ctx.finishing and ctx.left != 0:
        given = await _recalled(ctx, context, memory, given)
        handler = first if given.leaf.searches else leaf
    finding: Finding = await handler(ctx, given)
    memory.met(finding)
    return finding


async def _recalled(ctx: Ctx, context: RunContext, memory: Recollection, given: LeafGiven) -> LeafGiven:
    """Give a leaf what is known, as far as its pages are unchanged, and leave to it what has to be searched for."""
    leaf, questions = given.leaf, sub_questions(given.leaf)
    recalled = await ctx.call(
        "recall", "0", memory.recall, questions, given.setting, ctx.path, gives=Recalled, pool="local"
    )
    memory.note(recalled.fault)
    quotes = {
        card.id: tuple(one.quote for one in recalled.facts if one.source_id == card.id) for card in recalled.sources
    }
    pages = [(card.id, context, card, quotes[card.id], ctx.deadline) for card in recalled.sources]
    fetched = await ctx.fan("recheck", memory.recheck, pages, gives=Rechecked, pool="web")
    now = [one for one in fetched if isinstance(one, Rechecked)]
    unchanged = {one.card.id: one.card for one in now if one.stands}
    facts = tuple(fact for fact in recalled.facts if fact.source_id in unchanged)
    open_ones = recalled.open if facts == recalled.facts else missing(questions, facts)
    changed = (one.card.url for one in now if not one.stands)
    sources = tuple(dict.fromkeys((*leaf.sources, *recalled.links, *changed)))
    answered = [one for one in questions if one not in open_ones]
    left = tuple(text for text in leaf.searches if not (answered and repeated(text, answered)))
    leaf = leaf.model_copy(update={"searches": (left or open_ones) if open_ones else (), "sources": sources})
    for card in unchanged.values() if facts else ():
        count = sum(fact.source_id == card.id for fact in facts)
        ctx.emit(f"known:{card.id}", SourceRead(node=ctx.path, source=card, facts=count))
    if before := [fact for fact in facts if fact.known_since]:
        text = Said(
            KNOWN_BEFORE, n=len(before), sources=len({fact.source_id for fact in before}),
            since=min(fact.known_since for fact in before), then=SOME_KNOWN if open_ones else ALL_KNOWN,
        )  # fmt: skip
        ctx.emit("known", Noted(node=ctx.path, text=text))
    cards = {card.id: card for card in (*given.known_sources, *unchanged.values())}
    return given.model_copy(
        update={"leaf": leaf, "known": (*given.known, *facts), "known_sources": tuple(cards.values())}
    )


async def _adding(research: Handler, memory: Recollection, ctx: Ctx, given: Commission) -> Outcome:
    memory.job = ctx.job_id
    outcome: Outcome = await research(ctx, given)
    note = await ctx.call("remember", "0", memory.remember, ctx.job_id, outcome, gives=MemoryNote, pool="local")
    return outcome.model_copy(update={"memory": note})
