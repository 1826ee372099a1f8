"""A discovery leaf: the scout's sweep. It searches widely, reads quickly, and hands on a curated list of sources.

Search and crawl, addresses and copies put together, candidates judged and grouped, the best of each group scanned by
extractors, a shortlist made by code, one section written over it. It spawns no executor, and keeps to its time.
"""

from collections.abc import Sequence
from typing import Literal

from agents.contracts.fact import Fact, Insights
from agents.contracts.finding import Finding, Problem
from agents.contracts.frozen import Said
from agents.contracts.plan import Leaf
from agents.contracts.sources import (
    MIN_DOMAINS,
    Candidate,
    Hit,
    RejectedSource,
    ScoutInput,
    Shortlist,
    Source,
    SourceCard,
)
from agents.core.errors import StepFailed
from agents.core.events import SourceRead, SourceRejected
from agents.core.port import Ctx
from agents.core.time_policy import SCOUT_SHARE
from agents.nlp.tokens import content_words
from agents.offline.judgements import scout as judged_by_words
from agents.research.reading import shortlisting as choice
from agents.research.reading.hold_extraction import SourceGiven
from agents.research.reading.leaf import SAME_TEXT, Gathered, leaf_ended, not_begun, taken_over
from agents.research.reading.read_sources import Extracted, extract
from agents.research.reading.searching import LeafGiven, Searches, reformulate, search_for, sub_questions, teller
from agents.research.run_context import Listed, RunContext, asked, fetched_by
from agents.research.steering import CUT
from agents.roles import SCOUT
from agents.web.url_key import canonical, publisher, registrable_domain

KEPT = 2 / 3
"""Share of the documents that a sweep reads, by its leaf's budget, for which its shortlist has places."""
FOR_LINKS = 0.25
"""Share of these documents that is left for pages that others lead to."""
HUBS = 3
"""Pages from which a sweep goes on to others of their site."""
LINKS_SEEN = 40
NOT_REACHED = "skipped: stronger sources were enough"
OUT_OF_TIME = "not read: the sweep's time was up"


async def run_scout(context: RunContext, ctx: Ctx, given: LeafGiven) -> Finding:
    """Work through one discovery leaf."""
    return await _Sweep(ctx, context, given).run()


class _Sweep:
    """One sweep: what it has found so far."""

    def __init__(self, ctx: Ctx, context: RunContext, given: LeafGiven) -> None:
        self.ctx, self.context, self.given = ctx, context, given
        self.leaf, self.setting, self.questions = given.leaf, given.setting, sub_questions(given.leaf)
        self.cards: dict[str, SourceCard] = {}  # by the address that was read
        self.facts: dict[str, tuple[Fact, ...]] = {}  # the same
        self.rejected: list[Candidate] = []
        self.empty: set[str] = set()
        """Addresses that were fetched and gave no usable text."""
        self.problems: list[Problem] = []
        self.insights: list[Insights] = []
        self.stood_in = ""
        self.cut: set[str] = set()
        """Ways in which the user cut it off."""
        self._tell = teller(ctx, "leaf", given.title)

    async def run(self) -> Finding:
        started = self.ctx.elapsed
        if self._late():
            self._tell("stopped", "time is kept for writing")
            note = not_begun(self.ctx)
            return Finding(path=self.ctx.path, title=self.leaf.title, role="leaf", status="stopped", note=note)
        wide = self._widened()
        self._tell("searching", Said("a sweep for sources: {search}", search=wide.searches[0]))
        searching = self.given.model_copy(update={"leaf": wide})
        found = await search_for(self.ctx, self.context, searching, self.ctx.deadline)
        hits: dict[str, Hit] = {}
        for hit in (*(Hit(url=url, title=url) for url in self.leaf.sources), *found.hits):
            hits.setdefault(canonical(hit.url), hit)
        await self._read(list(hits.values()))
        weighed = await self._weighed()
        places = max(MIN_DOMAINS, round(KEPT * self.leaf.budget.sources))
        chosen = choice.shortlist(weighed, self.questions, places, self.setting.today, tuple(self.rejected))
        return self._ended(chosen, found._replace(cut=found.cut | self.cut), started)

    def _widened(self) -> Leaf:
        """Add the questions and other wordings to the planned searches: a sweep looks from several sides."""
        texts = list(dict.fromkeys((*self.leaf.searches, *self.questions)))
        for attempt in (1, 2):
            if wording := reformulate(self.leaf.objective, attempt, earlier=texts):
                texts.append(wording)
        at_most = min(self.leaf.budget.searches, self.setting.loop.searches_per_leaf)
        return self.leaf.model_copy(update={"searches": tuple(texts[:at_most])})

    async def _read(self, hits: list[Hit]) -> None:
        """Fetch the best hits, no site before its turn, then what their pages lead to."""
        budget = self.leaf.budget.sources
        for_links = int(FOR_LINKS * budget)
        ordered = choice.turns(hits, lambda hit: publisher(hit.url, None))  # documents of a library are each a site
        first, later = ordered[: budget - for_links], ordered[budget - for_links :]
        self._tell("reading", Said("{n} {n:candidate|candidates}", n=len(first)))
        await self._fetch(first)
        linked = [] if self._late() else (await self._linked(hits))[:for_links]
        room = 0 if self._late() else for_links - len(linked)
        await self._fetch([*linked, *later[:room]])
        for hit in later[room:]:
            self._reject(hit, OUT_OF_TIME if self._late() else NOT_REACHED)

    async def _fetch(self, hits: Sequence[Hit]) -> None:
        fetched = await fetched_by(self.ctx, self.context, [hit.url for hit in hits], self.ctx.deadline)
        for hit, one in zip(hits, fetched, strict=True):
            if isinstance(one, SourceCard):
                self.cards[hit.url] = one
            elif one.type in CUT:
                self.cut.add(one.type)
            else:
                self.empty |= {hit.url} if one.is_unread else set()
                message = one.failure.message.removeprefix(f"{hit.url}: ")
                self._reject(hit, message if one.type == "SourceError" else one.notice)

    async def _linked(self, hits: Sequence[Hit]) -> list[Hit]:
        """Go on from the best pages of different sites to pages of theirs that speak of the questions."""
        hubs: dict[str, str] = {}
        for url in self.cards:
            if url.startswith(("http://", "https://")):
                hubs.setdefault(registrable_domain(url), url)
        items = [(Source.id_of(url), url, LINKS_SEEN, self.ctx.deadline) for url in list(hubs.values())[:HUBS]]
        crawled = await self.ctx.fan("crawl", self.context.crawl, items, gives=Listed, pool="web")
        known = {canonical(hit.url) for hit in hits}
        wanted = frozenset(content_words(" ".join((self.leaf.objective, *self.questions))))
        scored: dict[str, tuple[int, Hit]] = {}
        for hit in (hit for one in crawled if isinstance(one, Listed) for hit in one.hits):
            shared = len(wanted.intersection(content_words(f"{hit.title} {hit.snippet}")))
            if shared and canonical(hit.url) not in known:
                scored.setdefault(canonical(hit.url), (shared, hit))
        return [hit for _, hit in sorted(scored.values(), key=lambda one: -one[0])]

    async def _weighed(self) -> list[choice.WeighedCandidate]:
        """Put copies together, have the scout judge the others, and extractors look quickly into the best.

        What the scout leaves out is judged by code, as all is when it fails. The best of each theme and view come first.
        """
        if not self.cards:
            return []
        found, today = tuple(self.cards.items()), self.setting.today
        sifted = await self.ctx.call(
            "sift", "0", choice.sift, self.context, found, self.questions, gives=choice.Sifted, pool="local"
        )
        for url, of in sifted.copies.items():
            self._reject(Hit(url=url, title=self.cards[url].title), Said(SAME_TEXT, source=of))
        asked_for = ScoutInput(
            query=self.setting.query, objective=self.leaf.objective, questions=self.questions,
            candidates=tuple(choice.view_of(number, one) for number, one in enumerate(sifted.scanned, start=1)),
            acceptance_criteria=self.leaf.spec.acceptance_criteria if self.leaf.spec else (),
            language=self.setting.language, query_type=self.setting.query_type, today=today,
        )  # fmt: skip
        judged = {one.number: one for one in judged_by_words(asked_for).candidates}
        if not self._late():
            answer, problems = await asked(
                self.ctx, self.context, SCOUT, asked_for, self.ctx.part(SCOUT_SHARE), "scout"
            )
            self.problems += problems
            if answer is not None:
                judged |= {one.number: one for one in answer.output.candidates if one.number in judged}
                self.stood_in = answer.stood_in
        weighed = [
            choice.WeighedCandidate(**dict(one), judged=judged[number])
            for number, one in enumerate(sifted.scanned, start=1)
        ]
        weighed.sort(key=lambda one: -one.score(len(self.questions), today))
        ranked = choice.turns(weighed, lambda one: one.group)
        return ranked if self._late() else await self._scanned(ranked)

    async def _scanned(self, ranked: list[choice.WeighedCandidate]) -> list[choice.WeighedCandidate]:
        """Have extractors look quickly into as many candidates as the leaf may read."""
        chosen, left = ranked[: self.leaf.budget.sources], ranked[self.leaf.budget.sources :]
        given = SourceGiven(urls=tuple(one.url for one in chosen), of=self.given, quick=True)
        items = [(one.card.id, self.context, (one.card,), given, self.ctx.deadline) for one in chosen]
        extracted = await self.ctx.fan("extract", extract, items, gives=Extracted)
        done: list[choice.WeighedCandidate] = []
        for one, found in zip(chosen, extracted, strict=True):
            if isinstance(found, StepFailed):
                self.cut |= {found.type} & CUT
                self.problems += [] if found.type in CUT else [found.problem()]
                done.append(one)
                continue
            if found.asked is not None:
                self.ctx.emit(f"asked:{one.card.id}", found.asked.as_event(self.ctx.path))
                self.stood_in = self.stood_in or found.asked.stood_in
            (reading, *_), card = found.readings, one.card
            self.insights += [reading.insights] if reading.insights else []
            read = SourceRead(node=self.ctx.path, source=card, facts=len(reading.facts), usage=found.usage)
            self.ctx.emit(f"read:{card.id}", read)
            self.facts[one.url] = reading.facts
            topics = tuple(fact.topic for fact in reading.facts)
            done.append(one.model_copy(update={"facts": topics, "was_scanned": True}))
        return [*done, *left]

    def _ended(self, chosen: Shortlist, found: Searches, started: float) -> Finding:
        """Hand on the list, and what the chosen sources say for the section, with what was known before."""
        for one in chosen.rejected:
            page: Literal["", "empty", "read"] = (
                "empty" if one.url in self.empty else "read" if one.url in self.cards else ""
            )
            refused = SourceRejected(node=self.ctx.path, url=one.url, reason=one.why, page=page)
            self.ctx.emit(f"rejected:{Source.id_of(one.url)}", refused)
        cards = tuple({self.cards[one.url].id: self.cards[one.url] for one in chosen.kept}.values())
        facts = {fact.id: fact for one in chosen.kept for fact in self.facts.get(one.url, ())}
        unused = tuple(
            RejectedSource(url=one.url, title=one.title, reason=one.why, read=one.url in self.cards)
            for one in chosen.rejected
            if one.reason not in (NOT_REACHED, OUT_OF_TIME)
        )
        got = Gathered((*facts.values(), *taken_over(self.given, cards)), cards, unused, self.problems)
        n, tried = len(chosen.kept), len(chosen.kept) + len(chosen.rejected)
        return leaf_ended(
            self.ctx, self.given, started, got, found, tried=tried, shortlist=chosen, insights=tuple(self.insights),
            engine_note=self.stood_in, doing=Said("on {n} {n:source|sources} chosen from {all}", n=n, all=tried),
        )  # fmt: skip

    def _reject(self, hit: Hit, reason: str) -> None:
        card, today = self.cards.get(hit.url), self.setting.today
        domain = choice.domain_of(card) if card else publisher(hit.url, None)
        title, published = (card.title, card.published) if card else (hit.title or hit.url, hit.published)
        self.rejected.append(choice.not_read(hit.url, title, published, domain, today, reason))

    def _late(self) -> bool:
        return self.ctx.finishing or self.ctx.collecting_left == 0
