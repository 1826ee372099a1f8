"""Reading sources: fetch each, then extract from several in one call. A straggler is cut by its time-out.

Of long sources the passages that share words or meaning with the questions are shown. What the extractor points at is then
held against the texts (`hold_extraction.py`).
"""

from collections.abc import Sequence
from typing import Literal

from agents.contracts.fact import Extraction, ExtractionInput, NumberedSentence, ShownSource, SourceReading
from agents.contracts.finding import Problem
from agents.contracts.frozen import Frozen, Said
from agents.contracts.sources import Source, SourceCard
from agents.core.budget import Deadline, Usage
from agents.core.errors import SourceError, StepFailed
from agents.core.events import Charged, Event, SourceRead, SourceRejected
from agents.core.port import Ctx, computed
from agents.core.role import RoleAnswer
from agents.core.time_policy import LATE_READ_SHARE, LATE_SEARCH_SHARE
from agents.nlp.lang import spans
from agents.offline.extractor import extract as quoted
from agents.research.fit_input import MAX_CHARS, choose, is_worth_reading
from agents.research.reading.answering import leads_to
from agents.research.reading.hold_extraction import MAX_FACTS, SourceExcerpt, SourceGiven, held_against
from agents.research.reading.searching import LeafGiven
from agents.research.run_context import RunContext, fetched_by
from agents.research.steering import CUT
from agents.roles import EXTRACTOR

CALL_CHARS = MAX_CHARS
"""Characters of sources that are read in one call; of long ones each gets its share."""
LEAST_SHARE = 6_000
"""Characters of a long source that are shown at least: sources that would get less are read in further calls."""
POINTED_AT_NOTHING = "The model gave nothing that stands in any of the pages of a part."
QUICK_FACTS, QUICK_CHARS = 4, 6_000
"""Facts of a quick scan, and characters that it is shown."""


class SourceDone(Frozen):
    """One source, read or refused."""

    reading: SourceReading
    card: SourceCard | None = None
    problem: Problem | None = None
    """A failure on our side or the model's, as against a document that cannot be used."""
    stood_in: str = ""
    unread: bool = False
    """The fetch failed, or was not tried any more."""
    given_up: bool = False
    """It failed so often before that it was not tried any more."""
    cut: str = ""
    """How the user cut its reading off: that is no failure."""

    @property
    def quotes(self) -> tuple[str, ...]:
        return tuple(fact.quote for fact in self.reading.facts)

    @classmethod
    def broken(cls, failure: StepFailed) -> "SourceDone":
        """Say of a source that was read with others what became of it when all of that failed."""
        if failure.type in CUT:
            return cls(reading=SourceReading(), cut=failure.type)
        return cls(reading=SourceReading(rejected=failure.reason or Said(failure.notice)), problem=failure.problem())


class SourcesDone(Frozen):
    """What came of the sources that were read together, in their order."""

    sources: tuple[SourceDone, ...]


class Extracted(Charged):
    """One extraction: a reading of each source, and what it cost; nobody was asked where none was worth it."""

    readings: tuple[SourceReading, ...]
    asked: RoleAnswer[Extraction] | None = None


async def extract(
    context: RunContext, cards: tuple[SourceCard, ...], given: SourceGiven, deadline: Deadline
) -> Extracted:
    """Show sources to the extractor and hold what it points at against their texts: the body of a step.

    Raises:
        SourceError: a limit that the user set since they were fetched rules all of them out.
    """
    allowed, refused = _allowed(context, cards)
    if not allowed:
        raise SourceError(cards[0].url, next(iter(refused.values())))
    sources = [await context.text_of(card) for card in allowed]
    # A long document takes a second of computing: in a thread, so that nobody's page stands still meanwhile.
    shown = await computed(_shown, sources, given)
    if not shown:
        return Extracted(readings=tuple(SourceReading(rejected=refused.get(card.url, "")) for card in cards))
    leaf, setting, spec = given.of.leaf, given.of.setting, given.of.leaf.spec
    wanted = ExtractionInput(
        objective=leaf.objective, questions=given.asked, language=setting.language, today=setting.today,
        expected_format=spec.expected_format if spec else "",
        acceptance_criteria=spec.acceptance_criteria if spec else (),
        rubric="" if spec or given.quick else composed_rubric(given.of),
        sources=tuple(
            ShownSource(title=one.source.title, published=one.source.published, sentences=one.sentences)
            for one in shown
        ),
        discovery_intense=bool(spec and spec.discovery_intense),
        max_facts=QUICK_FACTS if given.quick else MAX_FACTS,
    )  # fmt: skip
    if given.pointless and context.fallback is not None:
        asked = await context.stand_in(EXTRACTOR, wanted, POINTED_AT_NOTHING, context.fallback)
    else:
        asked = await context.ask(EXTRACTOR, wanted, deadline)
    _, since = _allowed(context, cards)  # some may have been ruled out while they were read
    if len(since) == len(cards):
        raise SourceError(cards[0].url, next(iter(since.values())))
    # What the model leaves open, the quoting engine is asked for; where that is the model, it was asked already.
    quoting = quoted if not (given.quick or given.pointless) and context.models[EXTRACTOR.name].reasons else None
    readings = await computed(held_against, asked.output, shown, given, wanted, quoting)
    of_cards = (
        SourceReading(rejected=since[card.url]) if card.url in since else readings.get(card.id, SourceReading())
        for card in cards
    )
    return Extracted(readings=tuple(of_cards), asked=asked, usage=asked.usage)


def composed_rubric(given: LeafGiven) -> str:
    """Compose the rubric of a leaf that has no task spec (specification, section 5), from what was found so far."""
    parts = [f"Scope: {given.leaf.objective}"]
    if given.siblings and not given.beside:
        parts.append(f"Out of scope, other readers have it: {'; '.join(given.siblings)}.")
    if given.found:
        parts.append(f"Known: {' '.join(given.found)} Give what adds to this or contradicts it.")
    parts.append("Consider results, figures and stated limits before background. Target confidence 0.7.")
    return " ".join(parts)


def _allowed(context: RunContext, cards: Sequence[SourceCard]) -> tuple[list[SourceCard], dict[str, str]]:
    """Tell the sources that may be used from those that a limit rules out, with the reason."""
    allowed: list[SourceCard] = []
    refused: dict[str, str] = {}
    for card in cards:
        try:
            context.allow(card.url, card.published)
        except SourceError as error:
            refused[card.url] = error.reason
        else:
            allowed.append(card)
    return allowed, refused


def _shown(sources: Sequence[Source], given: SourceGiven) -> list[SourceExcerpt]:
    """Choose the sources that are worth a call, and the passages of each."""
    shown: list[SourceExcerpt] = []
    first, asked = 0, (*given.asked, given.of.leaf.objective)
    worth = [
        source
        for source in sources
        if given.named
        or is_worth_reading(source.title, source.text, asked, by_meaning=not given.led)
        or leads_to(source.title, given.led)
    ]
    room = _shares([len(source.text) for source in worth], QUICK_CHARS if given.quick else CALL_CHARS)
    for source, chars in zip(worth, room, strict=True):
        own = spans(source.text)
        # Numbers count through all sources of a call, so that a pointer needs no translation.
        said = ((first + span.number, source.text[span.start : span.end]) for span in own)
        numbered = [NumberedSentence(number=number, text=text) for number, text in said if text.strip()]
        if numbered:
            shown.append(SourceExcerpt(source, own, choose(numbered, asked, chars), first))
            first += len(own)
    return shown


def _shares(sizes: Sequence[int], room: int) -> list[int]:
    """Share a call out: short sources are shown whole, and what they leave is for the long ones, in equal parts."""
    shares = [0] * len(sizes)
    for done, at in enumerate(sorted(range(len(sizes)), key=lambda at: sizes[at])):
        shares[at] = min(sizes[at], room // (len(sizes) - done)) if len(sizes) - done > 1 else room
        room -= shares[at]
    return shares


async def run_source(context: RunContext, ctx: Ctx, given: SourceGiven) -> SourcesDone:
    """Read sources: fetch them side by side, then extract from them, short ones together."""
    leaf = ctx.path.rsplit("/", 1)[0]
    finding = ctx.writing(LATE_SEARCH_SHARE) if given.late else ctx.deadline
    deadline = ctx.writing(LATE_READ_SHARE) if given.late else ctx.deadline
    fetched = await fetched_by(ctx, context, given.urls, finding)
    done: dict[str, SourceDone] = {}
    cards: dict[str, SourceCard] = {}
    for url, one in zip(given.urls, fetched, strict=True):
        if isinstance(one, SourceCard):
            cards[url] = one
        elif one.type in CUT:
            raise one
        else:
            refused = _refused(ctx, leaf, url, one, "empty" if one.is_unread else "")
            done[url] = refused.model_copy(update={"unread": one.is_unread, "given_up": one.fault == "given_up"})
    batches = batched(list(cards.values()))
    extracting = [(batch[0].id, context, batch, given, deadline) for batch in batches]
    extracted = await ctx.fan("extract", extract, extracting, gives=Extracted)
    by_card: dict[str, SourceDone] = {}
    for batch, result in zip(batches, extracted, strict=True):
        by_card |= _of_batch(ctx, leaf, batch, result)
    return SourcesDone(sources=tuple(done.get(url) or by_card[cards[url].id] for url in given.urls))


def batched(cards: Sequence[SourceCard]) -> list[tuple[SourceCard, ...]]:
    """Put as many sources into one call as can be shown in it, in their order; each text once."""
    batches: list[list[SourceCard]] = []
    room = 0
    for card in {card.id: card for card in cards}.values():
        size = min(card.chars or CALL_CHARS, LEAST_SHARE)
        if not batches or size > room:
            batches.append([])
            room = CALL_CHARS
        batches[-1].append(card)
        room -= size
    return [tuple(batch) for batch in batches]


def _of_batch(
    ctx: Ctx, leaf: str, batch: Sequence[SourceCard], extracted: Extracted | StepFailed
) -> dict[str, SourceDone]:
    """Say of each source of one call, by its id, what came of it, and tell it."""
    if isinstance(extracted, StepFailed):
        if extracted.type in CUT:
            raise extracted
        refused = {card.id: _refused(ctx, leaf, card.url, extracted, "read") for card in batch}
        if extracted.type == "SourceError":
            return refused
        problem = extracted.problem()
        return {
            card.id: refused[card.id].model_copy(update={"card": card, "problem": problem}) for card in batch
        }  # fmt: skip
    asked, usage, done = extracted.asked, extracted.usage, dict[str, SourceDone]()
    if asked is not None:
        ctx.emit(f"asked:{batch[0].id}", asked.as_event(leaf))
    for card, reading in zip(batch, extracted.readings, strict=True):
        event: Event
        if reading.rejected:
            event = SourceRejected(node=leaf, url=card.url, reason=reading.rejected, page="read")
        else:
            facts, dropped = len(reading.facts), reading.dropped
            event = SourceRead(node=leaf, source=card, facts=facts, dropped=dropped, usage=usage)
        ctx.emit(f"read:{card.id}", event)
        usage = Usage()  # told with the first of them
        known, stood_in = None if reading.rejected else card, asked.stood_in if asked else ""
        done[card.id] = SourceDone(reading=reading, card=known, stood_in=stood_in)
    return done


def _refused(ctx: Ctx, leaf: str, url: str, failure: StepFailed, page: Literal["", "empty", "read"]) -> SourceDone:
    reason = failure.reason or Said(failure.notice)
    ctx.emit(f"rejected:{Source.id_of(url)}", SourceRejected(node=leaf, url=url, reason=reason, page=page))
    return SourceDone(reading=SourceReading(rejected=reason))
