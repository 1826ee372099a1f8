"""What a job leaves in the knowledge base: its facts with their verdicts, what was read for which question, claims, open ends.

The work of the last step of a job. Done twice it changes nothing; met again, a thing keeps its history and gets the last
verdict; what its page no longer says is never used again.
"""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from agents.contracts.fact import REUSABLE, Contradiction, Fact, MemoryKind, Remembered, Selection, Sighting, Standing
from agents.contracts.finding import Finding
from agents.contracts.frozen import QueryType, digest
from agents.contracts.plan import LeafBudget, Plan
from agents.contracts.report import Outcome
from agents.contracts.sources import SourceCard
from agents.core.errors import SourceError
from agents.memory.knowledge import ANSWERS, KnowledgeStore, MemoryDown, in_time
from agents.nlp import lang
from agents.nlp.similarity import fingerprint
from agents.nlp.tokens import content_words, years_in
from agents.research.challenge.claim_ledger import held_against
from agents.research.loop.loop_decision import leaves_on
from agents.research.loop.topics import repeated
from agents.search.searcher import Texts
from agents.web.url_key import canonical

OPENING_S = 2.0
"""Seconds that the knowledge base gets before its first answer: its file is opened, and the table of meanings read."""
RECALL_S = 0.3
"""Seconds that a leaf or a planner waits for one answer of the knowledge base."""
REMEMBER_S = 20.0
"""Seconds that a job gives it at its end."""
AROUND = 240
"""Characters kept on either side of a quote: it opens in its context although the page's text is gone."""
HISTORY = 40


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


class KeptAnswers:
    """What models answered in earlier jobs of one user, under what they were asked."""

    def __init__(self, store: KnowledgeStore, owner: str, now: Callable[[], datetime]) -> None:
        self.store, self.owner, self.now = store, owner, now
        self.job, self.same, self._answers = "", 0, dict[str, Remembered]()
        self.fault = ""
        self._patience = OPENING_S

    def note(self, fault: str) -> None:
        """Note why something could not be asked or kept; the first reason is told."""
        self.fault = self.fault or fault

    async def answer(self, key: str) -> str | None:
        """Give what a role made of the very same in another job; None where nobody was asked, or nothing can be."""
        patience, self._patience = self._patience, RECALL_S
        try:
            got = await in_time(self.store.get(self.owner + ANSWERS, Selection(ids=(digest(key),))), patience)
        except MemoryDown:  # whoever asks for facts says so
            return None
        for one in got:
            if self.job not in one.jobs:
                self.same += 1
                self.keep(key, one.answer, one)
                return one.answer
        return None

    def keep(self, key: str, answer: str, before: Remembered | None = None) -> None:
        """Note an answer for later jobs."""
        at = self.now().isoformat(timespec="seconds")
        met = Sighting(job=self.job or "scoping", at=at, verdict="quoted")
        made = Remembered(
            id=digest(key), kind="answer", text=key.split("|")[0], answer=answer, since=at, seen=at, history=(met,)
        )
        self._answers[made.id] = merged(before, made)

    async def keep_answers(self) -> None:
        """Keep what was noted, when the job is at its end: one that failed asks anew."""
        try:
            await in_time(self.store.put(self.owner + ANSWERS, list(self._answers.values())), REMEMBER_S)
        except MemoryDown as error:
            self.note(error.notice)


class Remembering:
    """What a job leaves behind, put together under ids and added to one user's knowledge base."""

    def __init__(self, store: KnowledgeStore, owner: str, texts: Texts, job: str, at: str, outcome: Outcome) -> None:
        self.store, self.owner, self.texts, self.job, self.at, self.outcome = store, owner, texts, job, at, outcome
        self.items, self._kept, self._standing = dict[str, Remembered](), dict[str, str](), standings(outcome)
        self.language = outcome.contract.brief.language

    async def put(self) -> tuple[Contradiction, ...]:
        """Keep what the job has found out; says what contradicts what was known."""
        outcome = self.outcome
        parts = (*(part for top in outcome.findings for part in top.walk()), *outcome.counter)
        cards = {card.id: card for part in parts for card in part.sources if card.kind != "sample"}
        texts: dict[str, str] = {}
        for card in cards.values():
            with contextlib.suppress(SourceError):
                texts[card.id] = await self.texts.get(card.text_hash)
        # The address under which a text is known: a copy elsewhere is the same source.
        copies = [Selection(text_hash=card.text_hash, kinds=("fact",)) for card in cards.values()]
        known = await asyncio.gather(*(self.store.get(self.owner, one, 1) for one in copies))
        where = {
            card.id: canonical(next((one.source.url for one in same if one.source), card.url))
            for card, same in zip(cards.values(), known, strict=True)
        }
        for part in parts:
            for fact in part.facts:
                if fact.source_id in texts and not fact.by_meaning:
                    self._fact(fact, cards[fact.source_id], texts[fact.source_id], where[fact.source_id])
            self._readings(part)
        found = list(raised(outcome, parts))
        words = await asyncio.gather(*(self._as_known(kind, text) for kind, _, text, _ in found))
        for (kind, url, _, fields), said in zip(found, words, strict=True):
            self._add(kind, url, said, **fields)
        for plan, top in zip(outcome.contract.plans, outcome.findings, strict=False):
            self._add("plan", "", plan.query, plan=as_run(plan, top))
        before = {one.id: one for one in await self.store.get(self.owner, Selection(ids=tuple(self.items)), 10_000)}
        items = {key: merged(before.get(key), item) for key, item in self.items.items()}
        for source_id, text in texts.items():
            items |= await self._no_longer_there(cards[source_id], text)
        conflicts = await self._contradicted(items, before)
        await self.store.put(self.owner, list(items.values()))
        return conflicts

    async def _as_known(self, kind: MemoryKind, text: str) -> str:
        """Give the words in which a claim or question is known, where it is: what is said of it later is of the same."""
        if kind == "link":
            return text
        near = await self.store.search(self.owner, text, Selection(kinds=(kind,)), 4)
        return next((one.text for one in near if repeated(text, [one.text])), text)

    async def _no_longer_there(self, card: SourceCard, text: str) -> dict[str, Remembered]:
        """Hold what was known of a page against what it says now: words that are gone are never used again."""
        changed: dict[str, Remembered] = {}
        for one in await self.store.get(self.owner, Selection(url=card.url, kinds=("fact",))):
            if one.id in self.items or one.source is None or one.source.text_hash == card.text_hash or not one.fact:
                continue
            if (one.source.retrieved or "") > (card.retrieved or self.at):
                continue  # an earlier report is gone on from, and the page was read again since
            start = text.find(one.fact.quote)
            verdict: Standing = one.verdict if start >= 0 else "gone"
            now: dict[str, object] = {"history": _longer(one.history, (self._sighting(verdict),)), "verdict": verdict}
            if start >= 0:
                span = {"start": start, "end": start + len(one.fact.quote), "source_id": card.id}
                now |= {"source": card, "fact": one.fact.model_copy(update=span), "seen": self.at}
            changed[one.id] = one.model_copy(update=now)
        return changed

    async def _contradicted(
        self, items: dict[str, Remembered], before: Mapping[str, Remembered]
    ) -> tuple[Contradiction, ...]:
        """Hold new facts against those of other sources, and note both sides where code sees them contradict."""
        found: list[Contradiction] = []
        facts = [
            (one, one.source) for one in items.values() if one.kind == "fact" and one.id not in before and one.source
        ]
        among = Selection(kinds=("fact",))
        known = await asyncio.gather(*(self.store.search(self.owner, new.text, among, 4) for new, _ in facts))
        for (new, source), one in ((fact, one) for fact, near in zip(facts, known, strict=True) for one in near):
            old = items.get(one.id, one)
            if one.verdict not in REUSABLE or not old.fact or not old.source or old.source.url == source.url:
                continue
            if held_against(new.text, old.fact, old.source, self.language).stance != "contradicts":
                continue
            for side, other in ((new, old), (old, new)):
                side = items.get(side.id, side)
                against = tuple(dict.fromkeys((*side.against, other.id)))
                items[side.id] = side.model_copy(update={"against": against})
            titles = {"new_title": source.title, "old_title": old.source.title}
            found.append(Contradiction(new=new.text, old=old.text, since=old.since[:10], **titles))
        return tuple(found)

    def _add(self, kind: MemoryKind, where: str, text: str, **fields: object) -> str:
        """Add a thing once, by its address and the words that count; gives its id."""
        key = key_of(kind, where, text)
        if key not in self.items:
            said = {"id": key, "kind": kind, "text": text, "since": self.at, "seen": self.at, "language": self.language}
            item = Remembered.model_validate({**said, **fields})
            self.items[key] = item.model_copy(update={"history": (self._sighting(item.verdict),)})
        return key

    def _fact(self, fact: Fact, card: SourceCard, text: str, where: str) -> None:
        if text[fact.start : fact.end] != fact.quote:
            return  # of another version of the page
        key = self._kept[fact.id] = self._add(
            "fact", where, fact.quote, verdict=self._standing.get(fact.id, "quoted"),
            fact=fact.model_copy(update={"known_since": ""}), source=card, confidence=fact.confidence,
            # What is taken over from a page that could not be asked does not get younger by it.
            seen=(card.kind == "web" and card.retrieved) or (fact.known_since or self.at),
            before=text[max(0, fact.start - AROUND) : fact.start], after=text[fact.end : fact.end + AROUND],
        )  # fmt: skip
        if fact.topic and fact.topic not in self.items[key].topics:
            topics = (*self.items[key].topics, fact.topic)
            self.items[key] = self.items[key].model_copy(update={"topics": topics})

    def _readings(self, part: Finding) -> None:
        """Note what a leaf came to, as a whole and for each of its questions; `supported` where nothing failed.

        What was known before is no new reading: it must not seem as if somebody had searched again.
        """
        facts = [one for one in part.facts if one.id in self._kept and self._standing.get(one.id, "quoted") in REUSABLE]
        if part.asked and not all(fact.known_since for fact in facts):
            for asked in dict.fromkeys((part.asked, *((one,) for one in part.asked))):
                kept = {self._kept[one.id]: one.topic for one in facts if one.topic in asked or asked == part.asked}
                if kept:
                    done: Standing = "supported" if part.status == "done" else "qualified"
                    topics = tuple(kept.values())
                    self._add("reading", "", "\n".join(asked), verdict=done, facts=tuple(kept), topics=topics)

    def _sighting(self, verdict: Standing) -> Sighting:
        return Sighting(job=self.job, at=self.at, verdict=verdict)


def key_of(kind: MemoryKind, where: str, text: str) -> str:
    """Give the id of a thing."""
    return digest(f"{kind}|{where}|{fingerprint(text)}")


def reading_key(*questions: str) -> str:
    """Give the id of what a leaf with these questions came to."""
    return key_of("reading", "", "\n".join(questions))


def as_run(plan: Plan, top: Finding) -> Plan:
    """Add to a plan what later rounds asked and found: whoever asks the same again gets all of it at once."""
    later = [one for part in top.walk() if part.is_later and part.facts and not part.children for one in part.asked]
    known = {question for leaf in plan.root.leaves() for question in leaf.questions}
    more = leaves_on([one for one in dict.fromkeys(later) if one not in known], LeafBudget())
    root = plan.root.model_copy(update={"children": (*plan.root.children, *more)})
    return plan.model_copy(update={"root": root})


def says_the_same(before: str, now: str, quotes: Sequence[str]) -> bool:
    """Tell whether a page that changed still has the words of some quotes, and says nothing new of their matter.

    Most pages change with every visit, in what stands around their text; and who reads them for us lays them out otherwise.
    """
    before, now, *words = (" ".join(text.split()) for text in (before, now, *quotes))
    said = {fingerprint(before[one.start : one.end]) for one in lang.spans(before)}
    new = (text for one in lang.spans(now) if fingerprint(text := now[one.start : one.end]) not in said)
    more = [set(content_words(text)) for text in new if not any(one in text or text in one for one in words)]
    matters = [set(content_words(one)) for one in words]
    return all(one in now for one in words) and not any(
        2 * len(one & held) >= len(one) for one in matters for held in more
    )


def raised(outcome: Outcome, parts: Sequence[Finding]) -> Iterator[tuple[MemoryKind, str, str, dict[str, object]]]:
    """Give claims, and what a job leaves open: questions, gaps, and addresses with what was said of them."""
    for claim in outcome.truth.claims:
        facts = tuple(one.fact_id for one in claim.evidence)
        yield "claim", "", claim.text, {"verdict": claim.verdict, "confidence": claim.confidence, "facts": facts}
    framed = outcome.frame.open_questions if outcome.frame else ()
    yield from (("question", "", text, {}) for text in (*framed, *(q for part in parts for q in part.open_questions)))
    for one in (insights for part in parts for insights in part.insights):
        yield from (("gap", "", text, {}) for text in one.source_identified_gaps)
        for q in one.follow_up_questions:
            yield "question", "", q.question, {"confidence": q.confidence}
        for to in one.linked_candidate_sources:
            yield "link", to.url, to.context or to.url, {"confidence": to.priority, "topics": (to.url,)}


def _longer(history: tuple[Sighting, ...], more: tuple[Sighting, ...]) -> tuple[Sighting, ...]:
    """Add to a history; of a long one the first and the last stay. A job counts once, with its last verdict."""
    jobs = {one.job for one in more}
    kept = (*(one for one in history if one.job not in jobs), *more)
    return kept if len(kept) <= HISTORY else (kept[0], *kept[1 - HISTORY :])


def merged(old: Remembered | None, new: Remembered) -> Remembered:
    """Put a new sighting to what is known: the last verdict holds, the history stays."""
    if old is None:
        return new
    # A copy elsewhere is no other source: its text stays known under the address where it was first read.
    copied = (
        old.source and new.source and old.source.id != new.source.id and old.source.text_hash == new.source.text_hash
    )
    verdict = old.verdict if new.verdict in {"quoted", "not_checked"} and old.verdict != "gone" else new.verdict
    topics = new.topics if new.kind == "reading" else tuple(dict.fromkeys((*old.topics, *new.topics)))
    held = {"source": old.source, "fact": old.fact} if copied else {}
    update = {
        "since": old.since,
        "seen": max(old.seen, new.seen),
        "verdict": verdict,
        "topics": topics,
        "against": old.against,
        **held,
    }
    return new.model_copy(update={**update, "history": _longer(old.history, new.history)})


def standings(outcome: Outcome) -> dict[str, Standing]:
    """Say what became of the facts of a job: by the claims they speak for first, then by the sentences that cite them."""
    found: dict[str, Standing] = {}
    cited: defaultdict[str, set[str]] = defaultdict(set)
    for check in outcome.truth.checks:
        for fact in check.facts:
            cited[fact].add(check.verdict)
    said: dict[str, Standing] = {
        "supported": "supported", "partly": "qualified", "unsupported": "unsupported", "contradicted": "unsupported",
    }  # fmt: skip
    for fact, verdicts in cited.items():
        if best := next((standing for verdict, standing in said.items() if verdict in verdicts), None):
            found[fact] = best
    good, bad = {"supported", "qualified"}, {"contested", "refuted"}
    for claim in outcome.truth.claims:
        for one in claim.evidence:
            better = found.get(one.fact_id) in bad and claim.verdict in good
            if one.stance == "supports" and claim.verdict in good | bad and not better:
                found[one.fact_id] = claim.verdict
    return found
