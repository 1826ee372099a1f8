"""What a job leaves in the knowledge base: its facts with their verdicts, what was read for which question, claims, open ends.

The work of the last step of a job. Done twice it changes nothing; met again, a thing keeps its history and gets the last
verdict; what its page no longer says is never used again.
"""

from collections import defaultdict
from collections.abc import Mapping

from agents.contracts.contract import Contract
from agents.contracts.fact import REUSABLE, Contradiction, Fact, MemoryKind, Remembered, Selection, Sighting, Standing
from agents.contracts.finding import Finding
from agents.contracts.frozen import digest
from agents.contracts.report import Outcome
from agents.contracts.sources import SourceCard
from agents.contracts.verification import Claim
from agents.core.errors import SourceError
from agents.memory.knowledge import KnowledgeStore
from agents.nlp.similarity import fingerprint
from agents.research.challenge.claim_ledger import held_against
from agents.research.loop.topics import compare
from agents.search.searcher import Texts
from agents.web.url_key import canonical

AROUND = 240
"""Characters kept on either side of a quote: it opens in its context although the page's text is gone."""
HISTORY = 40


class Remembering:
    """Adds to one user's knowledge base."""

    def __init__(self, store: KnowledgeStore, owner: str, texts: Texts) -> None:
        self.store, self.owner, self.texts = store, owner, texts

    async def add(self, job: str, at: str, outcome: Outcome) -> tuple[int, tuple[Contradiction, ...]]:
        """Keep what a job has found out; says how many things are new, and what contradicts what was known.

        Args:
            job: its id.
            at: ISO date and time, UTC.
            outcome: what it came to.
        """
        made = _Made(job, at, outcome)
        findings = [part for top in outcome.findings for part in top.walk()]
        cards: dict[str, SourceCard] = {}
        for part in (*findings, *outcome.counter):
            cards |= {card.id: card for card in part.sources if card.kind != "sample"}
        texts = {card.id: text for card in cards.values() if (text := await self._text(card)) is not None}
        for part in (*findings, *outcome.counter):
            for fact in part.facts:
                if fact.source_id in texts:
                    made.fact(fact, cards[fact.source_id], texts[fact.source_id])
            for card in part.sources:
                if card.id in texts:
                    made.readings(part, card)
            made.insights(part)
        for question in outcome.frame.open_questions if outcome.frame else ():
            made.add("question", "", question)
        for plan in outcome.contract.plans:
            made.add("plan", "", plan.query, plan=plan)
        for claim in outcome.truth.claims:
            made.claim(await self._as_known(claim, made))
        before = {one.id: one for one in await self.store.get(self.owner, Selection(ids=tuple(made.items)), 10_000)}
        items = {key: merged(before.get(key), item) for key, item in made.items.items()}
        items |= await self._no_longer_there(cards, texts, items, made)
        conflicts = await self._contradicted(items, before, outcome.contract)
        learned = await self.store.put(self.owner, list(items.values()))
        return learned, conflicts

    async def _text(self, card: SourceCard) -> str | None:
        try:
            return await self.texts.get(card.text_hash)
        except SourceError:
            return None

    async def _as_known(self, claim: Claim, made: "_Made") -> Claim:
        """Give a claim the words in which it is known, where it is: a later verdict then is one of the same claim."""
        for one in await self.store.search(self.owner, claim.text, Selection(kinds=("claim",)), 4):
            if compare(claim.text, [one.text]).duplicate:
                return claim.model_copy(update={"text": one.text})
        return claim

    async def _no_longer_there(
        self, cards: Mapping[str, SourceCard], texts: Mapping[str, str], items: Mapping[str, Remembered], made: "_Made"
    ) -> dict[str, Remembered]:
        """Hold what was known of pages against what they say now: words that are gone are never used again."""
        changed: dict[str, Remembered] = {}
        for source_id, text in texts.items():
            card = cards[source_id]
            for one in await self.store.get(self.owner, Selection(url=card.url, kinds=("fact",))):
                if one.id in items or one.source is None or one.source.text_hash == card.text_hash or not one.fact:
                    continue
                start = text.find(one.fact.quote)
                if start < 0:
                    changed[one.id] = made.seen(one, "gone", None)
                else:
                    moved = {"start": start, "end": start + len(one.fact.quote), "source_id": card.id}
                    now = {"source": card, "fact": one.fact.model_copy(update=moved)}
                    changed[one.id] = made.seen(one, one.verdict, now)
        return changed

    async def _contradicted(
        self, items: dict[str, Remembered], before: Mapping[str, Remembered], contract: Contract
    ) -> tuple[Contradiction, ...]:
        """Hold new facts against those of other sources, and note both sides where code sees them contradict."""
        found: list[Contradiction] = []
        for new in list(items.values()):
            if new.kind != "fact" or new.id in before or new.fact is None or new.source is None:
                continue
            for old in await self.store.search(self.owner, new.text, Selection(kinds=("fact",)), 4):
                if (
                    old.fact is None
                    or old.source is None
                    or old.verdict not in REUSABLE
                    or old.source.url == new.source.url
                ):
                    continue
                held = held_against(new.text, old.fact, old.source, contract.brief.language)
                if held.stance == "contradicts":
                    items[new.id] = new.model_copy(update={"against": (*new.against, old.id)})
                    old = items.get(old.id, old)
                    items[old.id] = old.model_copy(update={"against": tuple(dict.fromkeys((*old.against, new.id)))})
                    if old.source is not None:
                        found.append(
                            Contradiction(
                                new=new.text, new_title=new.source.title, old=old.text, old_title=old.source.title,
                                since=old.since[:10],
                            )
                        )  # fmt: skip
        return tuple(found)


class _Made:
    """The things that a job leaves behind, put together under their ids."""

    def __init__(self, job: str, at: str, outcome: Outcome) -> None:
        self.job, self.at, self.items = job, at, dict[str, Remembered]()
        self.language = outcome.contract.brief.language
        self._standing = standings(outcome)

    def add(self, kind: MemoryKind, where: str, text: str, verdict: Standing = "quoted", **fields: object) -> str:
        """Add a thing once; gives its id."""
        # By address, and by the words that count: the same said twice, or laid out otherwise, is one thing.
        key = digest(f"{kind}|{where}|{fingerprint(text)}")
        if key not in self.items:
            sighting = Sighting(job=self.job, at=self.at, verdict=verdict)
            self.items[key] = Remembered.model_validate(
                {
                    "id": key, "kind": kind, "text": text, "verdict": verdict, "since": self.at, "seen": self.at,
                    "history": (sighting,), "language": self.language, **fields,
                }
            )  # fmt: skip
        return key

    def fact(self, fact: Fact, card: SourceCard, text: str) -> None:
        if text[fact.start : fact.end] != fact.quote:
            return  # of another version of the page
        key = self.add(
            "fact", canonical(card.url), fact.quote, self._standing.get(fact.id, "quoted"),
            fact=fact.model_copy(update={"known_since": ""}), source=card, confidence=fact.confidence,
            before=text[max(0, fact.start - AROUND) : fact.start], after=text[fact.end : fact.end + AROUND],
        )  # fmt: skip
        if fact.topic and fact.topic not in self.items[key].topics:
            topics = (*self.items[key].topics, fact.topic)
            self.items[key] = self.items[key].model_copy(update={"topics": topics})

    def readings(self, part: Finding, card: SourceCard) -> None:
        """Note for which questions a text was read, and which facts that gave."""
        facts = [fact for fact in part.facts if fact.source_id == card.id]
        for question in part.asked:
            kept = tuple(
                digest(f"fact|{canonical(card.url)}|{fingerprint(fact.quote)}")
                for fact in facts
                if fact.topic == question or len(part.asked) == 1
            )
            self.add("reading", canonical(card.url), question, source=card, facts=kept)

    def claim(self, claim: Claim) -> None:
        self.add(
            "claim", "", claim.text, claim.verdict, confidence=claim.confidence,
            facts=tuple(one.fact_id for one in claim.evidence),
        )  # fmt: skip

    def insights(self, part: Finding) -> None:
        for question in part.open_questions:
            self.add("question", "", question)
        for one in part.insights:
            for raised in one.follow_up_questions:
                self.add("question", "", raised.question, confidence=raised.confidence)
            for gap in one.source_identified_gaps:
                self.add("gap", "", gap)
            for link in one.linked_candidate_sources:
                self.add("link", link.url, link.context or link.url, confidence=link.priority, topics=(link.url,))

    def seen(self, one: Remembered, verdict: Standing, now: Mapping[str, object] | None) -> Remembered:
        """Add a sighting to what is known; `now` holds what the page says of it now."""
        sighting = Sighting(job=self.job, at=self.at, verdict=verdict)
        update = {
            "verdict": verdict,
            "history": _longer(one.history, (sighting,)),
            "seen": self.at if now else one.seen,
        }
        return one.model_copy(update={**update, **(now or {})})


def _longer(history: tuple[Sighting, ...], more: tuple[Sighting, ...]) -> tuple[Sighting, ...]:
    """Add to a history; of a long one the first and the last stay. A job counts once, with its last verdict."""
    jobs = {one.job for one in more}
    kept = (*(one for one in history if one.job not in jobs), *more)
    return kept if len(kept) <= HISTORY else (kept[0], *kept[1 - HISTORY :])


def merged(old: Remembered | None, new: Remembered) -> Remembered:
    """Put a new sighting to what is known: the last verdict holds, the history stays."""
    if old is None:
        return new
    verdict = old.verdict if new.verdict in {"quoted", "not_checked"} and old.verdict != "gone" else new.verdict
    return new.model_copy(
        update={
            "since": old.since, "verdict": verdict, "history": _longer(old.history, new.history),
            "topics": tuple(dict.fromkeys((*old.topics, *new.topics))), "against": old.against,
        }
    )  # fmt: skip


def standings(outcome: Outcome) -> dict[str, Standing]:
    """Say what became of the facts of a job: by the claims they speak for first, then by the sentences that cite them."""
    found: dict[str, Standing] = {}
    cited: defaultdict[str, set[str]] = defaultdict(set)
    for check in outcome.truth.checks:
        for fact in check.facts:
            cited[fact].add(check.verdict)
    for fact, verdicts in cited.items():
        if verdicts & {"supported", "partly"}:
            found[fact] = "supported" if "supported" in verdicts else "qualified"
        elif verdicts & {"unsupported", "contradicted"}:
            found[fact] = "unsupported"
    for claim in outcome.truth.claims:
        for one in claim.evidence:
            if one.stance == "supports" and claim.verdict in {"supported", "qualified", "contested", "refuted"}:
                worse = found.get(one.fact_id) in {"contested", "refuted"} and claim.verdict in {
                    "supported",
                    "qualified",
                }
                if not worse:
                    found[one.fact_id] = claim.verdict
    return found
