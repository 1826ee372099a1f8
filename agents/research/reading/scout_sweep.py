"""A discovery leaf: the scout's sweep. It searches widely, reads quickly, and hands on a curated list of sources.

Search and crawl, addresses and copies put together, candidates judged and grouped, the best of each group scanned by
extractors, a shortlist made by code, one section written over it. It spawns no executor, and keeps to its time.
"""

from collections.abc import Sequence
from typing import Literal

from agents.contracts.fact import Fact, Insights
from agents.contracts.finding import Finding, NodeStatus, Problem, SearchRecord
from agents.contracts.frozen import Said
from agents.contracts.plan import Leaf, RetryEntry
from agents.contracts.sources import (
    MIN_DOMAINS,
    Candidate,
    Hit,
    RejectedSource,
    ScoutInput,
    ScoutJudgement,
    Shortlist,
    Source,
    SourceCard,
)
from agents.core.errors import StepFailed
from agents.core.events import SourceRead, SourceRejected
from agents.core.port import Ctx
from agents.core.role import RoleAnswer
from agents.core.time_policy import SCOUT_SHARE
from agents.nlp.tokens import content_words
from agents.offline.judgements import scout as judged_by_words
from agents.research.reading import shortlisting as choice
from agents.research.reading.hold_extraction import SourceGiven
from agents.research.reading.leaf import (
    NOTHING_YET,
    SAME_TEXT,
    Gathered,
    failed_searches,
    joined,
    not_begun,
    spent,
)
from agents.research.reading.read_sources import Extracted, extract
from agents.research.reading.searching import LeafGiven, reformulate, search_for, sub_questions, teller
from agents.research.run_context import Listed, RunContext
from agents.research.steering import CUT, STOPPED
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
        self.leaf, self.setting, self.started = given.leaf, given.setting, ctx.elapsed
        self.places = max(MIN_DOMAINS, round(KEPT * self.leaf.budget.sources))
        self.questions = sub_questions(self.leaf)
        self.cards: dict[str, SourceCard] = {}  # by the address that was read
        self.facts: dict[str, tuple[Fact, ...]] = {}  # the same
        self.rejected: list[Candidate] = []
        self.empty: set[str] = set()
        """Addresses that were fetched and gave no usable text."""
        self.problems: list[Problem] = []
        self.insights: list[Insights] = []
        self._tell = teller(ctx, "leaf", given.title)
        self.stood_in = ""
        self.cut: set[str] = set()
        """Ways in which the user cut it off."""

    async def run(self) -> Finding:
        if self._late():
            self._tell("stopped", "time is kept for writing")
            return self._finding("stopped", not_begun(self.ctx))
        wide = self._widened()
        self._tell("searching", Said("a sweep for sources: {search}", search=wide.searches[0]))
        found = await search_for(
            self.ctx, self.context, self.given.model_copy(update={"leaf": wide}), self.ctx.deadline
        )
        self.cut |= found.cut
        hits: dict[str, Hit] = {}
        for hit in (*(Hit(url=url, title=url) for url in self.leaf.sources), *found.hits):
            hits.setdefault(canonical(hit.url), hit)
        await self._read(list(hits.values()))
        sifted = await self._sifted()
        weighed = await self._scanned(await self._judged(sifted.scanned))
        for url, of in sifted.copies.items():
            self._reject(Hit(url=url, title=self.cards[url].title), Said(SAME_TEXT, source=of))
        chosen = choice.shortlist(weighed, self.questions, self.places, self.setting.today, tuple(self.rejected))
        return self._written(chosen, found.records, found.attempts)

    def _widened(self) -> Leaf:
        """Add the questions and other wordings to the planned searches: a sweep looks from several sides."""
        texts = list(dict.fromkeys((*self.leaf.searches, *self.questions)))
        for attempt in (1, 3, 2):
            if wording := reformulate(self.leaf.objective, attempt, earlier=texts):
                texts.append(wording)
        at_most = min(self.leaf.budget.searches, self.setting.loop.searches_per_leaf)
        return self.leaf.model_copy(update={"searches": tuple(texts[:at_most])})

    async def _read(self, hits: list[Hit]) -> None:
        """Fetch the best hits, no site before its turn, then what their pages lead to."""
        budget = self.leaf.budget.sources
        kept_back = int(FOR_LINKS * budget)
        ordered = choice.turns(hits, lambda hit: publisher(hit.url, None))  # documents of a library are each a site
        first, later = ordered[: budget - kept_back], ordered[budget - kept_back :]
        self._tell("reading", Said("{n} {n:candidate|candidates}", n=len(first)))
        await self._fetch(first)
        linked = [] if self._late() else await self._linked(hits)
        more = [*linked[:kept_back], *later[: max(0, kept_back - len(linked))]]
        rest = [hit for hit in later if hit not in more]
        if self._late():
            rest, more = [*more, *rest], []
        await self._fetch(more)
        for hit in rest:
            self._reject(hit, OUT_OF_TIME if self._late() else NOT_REACHED)

    async def _fetch(self, hits: Sequence[Hit]) -> None:
        items = [(Source.id_of(hit.url), hit.url, self.ctx.deadline) for hit in hits]
        fetched = await self.ctx.fan("fetch", self.context.fetch, items, gives=SourceCard, pool="web")
        for hit, one in zip(hits, fetched, strict=True):
            await self.context.note_fetched(hit.url, self.ctx.path, one)
            if isinstance(one, StepFailed) and one.type in CUT:
                self.cut.add(one.type)
            elif isinstance(one, StepFailed):
                self.empty |= {hit.url} if one.is_unread else set()
                message = one.failure.message.removeprefix(f"{hit.url}: ")
                self._reject(hit, message if one.type == "SourceError" else one.notice)
            else:
                self.cards[hit.url] = one

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
        for one in crawled:
            for hit in one.hits if isinstance(one, Listed) else ():
                shared = len(wanted.intersection(content_words(f"{hit.title} {hit.snippet}")))
                if shared and canonical(hit.url) not in known:
                    scored.setdefault(canonical(hit.url), (shared, hit))
        return [hit for _, hit in sorted(scored.values(), key=lambda one: -one[0])]

    async def _sifted(self) -> choice.Sifted:
        if not self.cards:
            return choice.Sifted()
        found = tuple(self.cards.items())
        try:
            return await self.ctx.call(
                "sift", "0", choice.sift, self.context, found, self.questions, gives=choice.Sifted, pool="local"
            )
        except StepFailed as failure:
            self._failed(failure)
            return choice.Sifted(scanned=tuple(choice.Scanned(url=url, card=card) for url, card in found))

    async def _judged(self, scanned: tuple[choice.Scanned, ...]) -> list[choice.WeighedCandidate]:
        """Have the scout judge the candidates; those that it leaves out are judged by code, as all are when it fails."""
        if not scanned:
            return []
        given = ScoutInput(
            query=self.setting.query, objective=self.leaf.objective, questions=self.questions,
            candidates=tuple(choice.view_of(number, one) for number, one in enumerate(scanned, start=1)),
            acceptance_criteria=self.leaf.spec.acceptance_criteria if self.leaf.spec else (),
            language=self.setting.language, query_type=self.setting.query_type, today=self.setting.today,
        )  # fmt: skip
        judged = {one.number: one for one in judged_by_words(given).candidates}
        if not self._late():
            try:
                asked = await self.ctx.call(
                    "scout", "0", self.context.ask, SCOUT, given, self.ctx.part(SCOUT_SHARE),
                    gives=RoleAnswer[ScoutJudgement],
                )  # fmt: skip
                judged |= {one.number: one for one in asked.output.candidates if one.number in judged}
                self.stood_in = asked.stood_in
            except StepFailed as failure:
                self._failed(failure)
        return [
            choice.WeighedCandidate(**dict(one), judged=judged[number]) for number, one in enumerate(scanned, start=1)
        ]

    async def _scanned(self, weighed: list[choice.WeighedCandidate]) -> list[choice.WeighedCandidate]:
        """Have extractors look quickly into the best of each theme and view first, then the second best."""
        if self._late():
            return weighed
        ranked = choice.turns(
            sorted(weighed, key=lambda one: -one.score(len(self.questions), self.setting.today)), lambda one: one.group
        )
        chosen = ranked[: self.leaf.budget.sources]
        given = SourceGiven(urls=tuple(one.url for one in chosen), of=self.given, quick=True)
        items = [(one.card.id, self.context, (one.card,), given, self.ctx.deadline) for one in chosen]
        extracted = await self.ctx.fan("extract", extract, items, gives=Extracted)
        done: list[choice.WeighedCandidate] = []
        for one, found in zip(chosen, extracted, strict=True):
            if isinstance(found, StepFailed):
                self._failed(found)
                done.append(one)
                continue
            if found.asked is not None:
                self.ctx.emit(f"asked:{one.card.id}", found.asked.as_event(self.ctx.path))
                self.stood_in = self.stood_in or found.asked.stood_in
            card, facts, insights = one.card, found.readings[0].facts, found.readings[0].insights
            self.insights += [insights] if insights else []
            read = SourceRead(node=self.ctx.path, source=card, facts=len(facts), usage=found.usage)
            self.ctx.emit(f"read:{card.id}", read)
            self.facts[one.url] = facts
            done.append(one.model_copy(update={"facts": tuple(fact.topic for fact in facts), "was_scanned": True}))
        return [*done, *(one for one in ranked if one not in chosen)]

    def _written(
        self, chosen: Shortlist, records: tuple[SearchRecord, ...], attempts: tuple[RetryEntry, ...]
    ) -> Finding:
        """Hand on the list, and what the chosen sources say for the section, with what was known before."""
        facts = tuple({fact.id: fact for one in chosen.kept for fact in self.facts.get(one.url, ())}.values())
        sources = tuple({self.cards[one.url].id: self.cards[one.url] for one in chosen.kept}.values())
        facts, sources = joined(self.given, Gathered(facts, sources, (), []), frozenset())
        for one in chosen.rejected:
            page: Literal["", "empty", "read"] = (
                "empty" if one.url in self.empty else "read" if one.url in self.cards else ""
            )
            refused = SourceRejected(node=self.ctx.path, url=one.url, reason=one.why, page=page)
            self.ctx.emit(f"rejected:{Source.id_of(one.url)}", refused)
        found = len(chosen.kept) + len(chosen.rejected)
        if facts:
            self._tell("writing", Said("on {n} {n:source|sources} chosen from {all}", n=len(chosen.kept), all=found))
        failed = [record for record in records if record.failed]
        note = Said("{n} {n:source|sources} chosen from {all}", n=len(chosen.kept), all=found)
        status: NodeStatus = "done" if facts else "empty"
        if not chosen.kept and records and len(failed) == len(records):
            status, note = "partial" if facts else "failed", Said("every search failed")
        elif not chosen.kept:
            note = Said(
                "none of {n} {n:candidate|candidates} is to the point" if found else "no document matches", n=found
            )
        elif facts and (self.problems or failed):
            missing = Said("{n} of its steps failed", n=len(self.problems) + len(failed))
            status, note = "partial", Said.row(note, missing)
        if STOPPED in self.cut:
            status, note = "stopped", Said.row("you stopped it", note) if facts else Said(NOTHING_YET)
        elif self.cut and facts:
            status, note = "partial", Said.row(note, "the run was shortened before it was done")
        self.problems += failed_searches(self.ctx.path, records)
        if not facts:
            self._tell(status, note)
        unused = tuple(
            RejectedSource(url=one.url, title=one.title, reason=one.why, read=one.url in self.cards)
            for one in chosen.rejected
            if one.reason not in (NOT_REACHED, OUT_OF_TIME)
        )
        update: dict[str, object] = {
            "ended": "stopped" if STOPPED in self.cut else "", "facts": facts, "sources": sources, "rejected": unused,
            "searches": records, "attempts": attempts,
            "shortlist": chosen, "insights": tuple(self.insights),
        }  # fmt: skip
        return self._finding(status, "" if status == "done" else note).model_copy(update=update)

    def _finding(self, status: NodeStatus, note: str) -> Finding:
        return Finding(
            path=self.ctx.path, title=self.leaf.title, role="leaf", status=status, note=note,
            asked=sub_questions(self.leaf), engine_note=self.stood_in, problems=tuple(self.problems),
            **spent(self.ctx, self.started),
        )  # fmt: skip

    def _reject(self, hit: Hit, reason: str) -> None:
        card = self.cards.get(hit.url)
        domain = choice.domain_of(card) if card else publisher(hit.url, None)
        title = (card.title if card else hit.title) or hit.url
        published = card.published if card else hit.published
        self.rejected.append(choice.not_read(hit.url, title, published, domain, self.setting.today, reason))

    def _failed(self, failure: StepFailed) -> None:
        if failure.type in CUT:
            self.cut.add(failure.type)
            return
        self.problems.append(failure.problem())

    def _late(self) -> bool:
        return self.ctx.finishing or self.ctx.collecting_left == 0
