"""Reading sources: fetch each, then extract from several in one call. A straggler is cut by its time-out.

What the extractor points at is held against the text here: its words must stand there, other words must be carried by
them, and they must speak of what was asked. The rest is set aside, whatever the model says of it.

What an extractor noticed beside its answers: kept only on one of four triggers (specification, section 7).
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from agents.contracts.fact import (
    Extraction,
    ExtractionInput,
    Fact,
    FollowUp,
    Insights,
    InsightTrigger,
    LinkedSource,
    NumberedSentence,
    PointedFact,
    ShownSource,
    SourceReading,
)
from agents.contracts.finding import Problem
from agents.contracts.frozen import Frozen, Text
from agents.contracts.plan import TaskSpec
from agents.contracts.sources import HEAD_CHARS, SentenceSpan, Source, SourceCard
from agents.core.budget import Deadline, Usage
from agents.core.errors import SourceError, StepFailed
from agents.core.events import Charged, Event, SourceRead, SourceRejected
from agents.core.port import Ctx, Handler
from agents.core.role import RoleAnswer
from agents.nlp.sentence_split import spans
from agents.offline.extractor import extract as quoted
from agents.offline.ranking import orders_a_machine
from agents.research.reading.answering import answers, each_name, is_about
from agents.research.reading.locate_quotes import fact_of
from agents.research.reading.subject import MAX_CHARS, Question, asks_for_facts, choose, is_worth_reading, parts_of
from agents.research.run_context import RetrievedSource, RunContext
from agents.research.steering import CUT
from agents.roles import EXTRACTOR
from agents.web.url_key import IN_TEXT

LOW_CONFIDENCE = 0.4
"""Below it, a fact that answers a question sets off the extractor's insights."""
WANTED, UNWANTED = 0.8, 0.3
"""Priority of an address whose sentence speaks of what is asked, which alone is followed; and of any other."""


class SourceExcerpt(NamedTuple):
    """A source as one extraction sees it."""

    source: Source
    spans: tuple[SentenceSpan, ...]
    sentences: tuple[NumberedSentence, ...]
    first: int
    """What is added to its own sentence numbers."""


def insights(
    extraction: Extraction,
    one: SourceExcerpt,
    facts: tuple[Fact, ...],
    questions: tuple[str, ...],
    *,
    discovery_intense: bool,
) -> Insights | None:
    """Insights are kept only when one of four triggers fired (specification, section 7); each is recorded."""

    def words(numbers: tuple[int, ...]) -> tuple[str, ...]:
        real = [one.spans[at - 1] for number in numbers if 1 <= (at := number - one.first) <= len(one.spans)]
        return tuple(one.source.text[span.start : span.end] for span in real)

    limitations, contradictions = words(extraction.limitations), words(extraction.contradictions)
    fired: list[InsightTrigger] = []
    if any(fact.confidence < LOW_CONFIDENCE for fact in facts):
        fired.append("low_confidence")
    if limitations:
        fired.append("stated_limitation")
    if contradictions:
        fired.append("contradiction")
    if discovery_intense:
        fired.append("discovery_intense")
    if not fired:
        return None
    # The less sure the source is of what it was asked, the more its open questions are worth.
    open_ = round(1 - sum(fact.confidence for fact in facts) / len(facts), 2) if facts else 0.5
    because = ", ".join(trigger.replace("_", " ") for trigger in fired)
    # Addresses are read from the passages themselves: a model may not send us anywhere.
    linked: dict[str, float] = {}
    for sentence in one.sentences:
        # The sentence itself must speak of what is asked: all of a page is about the page's subject.
        wanted = any(is_about(part, sentence.text) for question in questions for part in parts_of(question))
        for address in IN_TEXT.findall(sentence.text):
            linked.setdefault(address, WANTED if wanted else UNWANTED)
    return Insights(
        triggers=tuple(fired),
        follow_up_questions=tuple(
            FollowUp(question=question, confidence=max(0.1, open_), rationale=f"“{one.source.title}”: {because}")
            for question in extraction.follow_up_questions[:5]
            if question.strip()
        ),
        source_identified_gaps=limitations[:5],
        linked_candidate_sources=tuple(
            LinkedSource(url=url, context=_around(one.source.text, url), priority=priority)
            for url, priority in list(linked.items())[:5]
        ),
    )


def _around(text: str, part: str, reach: int = 120) -> str:
    at = text.find(part)
    return " ".join(text[max(0, at - reach) : at + len(part) + reach].split())


MAX_FACTS = 10
"""Facts of one call, and of one source for one leaf."""
CALL_CHARS = MAX_CHARS
"""Characters of sources that are read in one call; of long ones each gets its share."""
LEAST_SHARE = 6_000
"""Characters of a long source that are shown at least: sources that would get less are read in further calls."""
LATE_SHARE = 0.3
"""Part of the time kept for writing in which a branch that came too late may still have a source read by the model."""
LATE_FINDING_SHARE = 0.6
"""The same for searching and fetching: without them there is nothing to write at all."""
QUICK_FACTS, QUICK_CHARS = 4, 6_000
"""The same for a quick scan, and characters that it is shown."""
FOUND_BY_CODE = 0.5
"""Confidence of a sentence that code found to answer a question for which the model pointed at nothing."""


class SourceGiven(Frozen):
    """Sources that a leaf wants read: a page by itself, or documents at hand together."""

    urls: tuple[Text, ...]
    objective: Text
    questions: tuple[Text, ...]
    spec: TaskSpec | None = None
    rubric: str = ""
    language: Text = "en"
    today: str = ""
    quick: bool = False
    """A look at whether it is worth reading, not the reading itself."""
    late: bool = False
    """Time for collecting is up, but nothing was read: a part of the time kept for writing may be used."""
    named: bool = False
    """Plan or user named them: they are read whatever they seem to be about."""

    @property
    def asked(self) -> tuple[str, ...]:
        """The questions that count: those of the task spec where there is one."""
        return self.spec.questions if self.spec else self.questions


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
    shown = await asyncio.to_thread(_shown, sources, given)
    if not shown:
        return Extracted(readings=tuple(_nothing(card, refused) for card in cards))
    spec = given.spec
    wanted = ExtractionInput(
        objective=given.objective,
        questions=given.asked,
        expected_format=spec.expected_format if spec else "",
        acceptance_criteria=spec.acceptance_criteria if spec else (),
        rubric="" if spec else given.rubric,
        language=given.language,
        today=given.today,
        sources=tuple(
            ShownSource(title=one.source.title, published=one.source.published, sentences=one.sentences)
            for one in shown
        ),
        discovery_intense=bool(spec and spec.discovery_intense),
        max_facts=QUICK_FACTS if given.quick else MAX_FACTS,
    )
    asked = await context.ask(EXTRACTOR, wanted, deadline)
    _, since = _allowed(context, cards)  # some may have been ruled out while they were read
    if len(since) == len(cards):
        raise SourceError(cards[0].url, next(iter(since.values())))
    # What the model leaves open, the quoting engine is asked for; where that is the model, it was asked already.
    quoting = quoted if not given.quick and context.models[EXTRACTOR.name].reasons else None
    readings = await asyncio.to_thread(_held_against, asked.output, shown, given, wanted, quoting)
    return Extracted(
        readings=tuple(
            _nothing(card, since) if card.url in since else readings.get(card.id, _nothing(card, {})) for card in cards
        ),
        asked=asked,
        usage=asked.usage,
    )


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


def _nothing(card: SourceCard, refused: dict[str, str]) -> SourceReading:
    return SourceReading(source_id=card.id, url=card.url, rejected=refused.get(card.url, ""))


def _shown(sources: Sequence[Source], given: SourceGiven) -> list[SourceExcerpt]:
    """Choose the sources that are worth a call, and the passages of each."""
    shown: list[SourceExcerpt] = []
    first, asked = 0, (*given.asked, given.objective)
    worth = [source for source in sources if given.named or is_worth_reading(source.title, source.text, asked)]
    room = _shares([len(source.text) for source in worth], QUICK_CHARS if given.quick else CALL_CHARS)
    for source, chars in zip(worth, room, strict=True):
        own = spans(source.text)
        chosen = choose(source.text, own, asked, chars)
        numbered = tuple(one.model_copy(update={"number": one.number + first}) for one in chosen)
        if numbered:
            shown.append(SourceExcerpt(source, own, numbered, first))
            first += len(own)
    return shown


def _shares(sizes: Sequence[int], room: int) -> list[int]:
    """Share a call out: short sources are shown whole, and what they leave is for the long ones, in equal parts."""
    shares = [0] * len(sizes)
    for done, at in enumerate(sorted(range(len(sizes)), key=lambda at: sizes[at])):
        shares[at] = min(sizes[at], room // (len(sizes) - done)) if len(sizes) - done > 1 else room
        room -= shares[at]
    return shares


def _held_against(
    extraction: Extraction,
    shown: Sequence[SourceExcerpt],
    given: SourceGiven,
    wanted: ExtractionInput,
    quoting: Callable[[ExtractionInput], Extraction] | None,
) -> dict[str, SourceReading]:
    """Keep of an extraction what stands in the sources and speaks of what was asked."""
    kept: dict[str, dict[str, Fact]] = {one.source.id: {} for one in shown}
    aside: dict[str, dict[str, Fact]] = {one.source.id: {} for one in shown}
    dropped = dict.fromkeys(kept, 0)

    def hold(pointed: PointedFact, asked: Sequence[str]) -> None:
        one = _pointed_into(pointed, shown)
        own = pointed.model_copy(update={"sentences": tuple(number - one.first for number in pointed.sentences)})
        topic = asked[pointed.question - 1] if 1 <= pointed.question <= len(asked) else given.objective
        fact = fact_of(own, one.source, one.spans, topic, given.language)
        if fact is None or any(orders_a_machine(fact.quote[at.start : at.end], topic) for at in spans(fact.quote)):
            dropped[one.source.id] += 1  # orders are words on a page, and no finding, whoever points at them
        elif _is_about(fact.quote, one.source, (topic,)):
            kept[one.source.id].setdefault(fact.id, fact)
        elif other := next((q for q in given.asked if _is_about(fact.quote, one.source, (q,))), ""):
            kept[one.source.id].setdefault(fact.id, fact.model_copy(update={"topic": other}))
        else:
            aside[one.source.id].setdefault(fact.id, fact)

    for pointed in extraction.facts[: 2 * MAX_FACTS]:
        hold(pointed, given.asked)
    if not given.quick:
        for source_id, fact in _found_by_code(given, shown, kept):
            kept[source_id].setdefault(fact.id, fact)
    left = tuple(
        question for question in given.asked if asks_for_facts(question) and not _is_answered(question, shown, kept)
    )
    if quoting is not None and left:
        for pointed in quoting(wanted.model_copy(update={"questions": left})).facts:
            hold(pointed.model_copy(update={"sure": min(pointed.sure, FOUND_BY_CODE)}), left)
    return {
        one.source.id: SourceReading(
            source_id=one.source.id,
            url=one.source.url,
            facts=(facts := tuple(kept[one.source.id].values())[:MAX_FACTS]),
            aside=tuple(fact for key, fact in aside[one.source.id].items() if key not in kept[one.source.id]),
            insights=insights(
                extraction, one, facts, given.asked, discovery_intense=bool(given.spec and given.spec.discovery_intense)
            ),
            dropped=dropped[one.source.id],
        )
        for one in shown
    }


def _pointed_into(pointed: PointedFact, shown: Sequence[SourceExcerpt]) -> SourceExcerpt:
    """Find the source that a fact points into by its first real number, else by its words; the first where neither does."""
    for number in pointed.sentences:
        for one in shown:
            if one.first < number <= one.first + len(one.spans):
                return one
    return next((one for one in shown if pointed.quote and pointed.quote in one.source.text), shown[0])


def _is_about(quote: str, source: Source, questions: tuple[str, ...]) -> bool:
    head = source.text[:HEAD_CHARS]
    return any(is_about(part, quote, source.title, head) for text in questions for part in parts_of(text))


def _answers_it(part: Question, shown: Sequence[SourceExcerpt], kept: Mapping[str, Mapping[str, Fact]]) -> bool:
    return any(
        answers(part, fact.quote, one.source.title, one.source.text[:HEAD_CHARS])
        for one in shown
        for fact in kept[one.source.id].values()
    )


def _is_answered(question: str, shown: Sequence[SourceExcerpt], kept: Mapping[str, Mapping[str, Fact]]) -> bool:
    return all(_answers_it(part, shown, kept) for whole in parts_of(question) for part in each_name(whole))


def _found_by_code(
    given: SourceGiven, shown: Sequence[SourceExcerpt], kept: Mapping[str, Mapping[str, Fact]]
) -> list[tuple[str, Fact]]:
    """Find sentences that answer what asks for a person, date, figure, place or one of two, and that nothing kept answers.

    Small models end a list too early; what code can see to be an answer is not lost for it.
    """
    found: list[tuple[str, Fact]] = []
    for question in given.asked:
        for part in (about for whole in parts_of(question) for about in each_name(whole)):
            if part.kind in {"other", "yes_no"} or not part.names or not part.matter:
                continue
            if _answers_it(part, shown, kept):
                continue
            for one in shown:
                head = one.source.text[:HEAD_CHARS]
                for sentence in one.sentences:
                    if answers(part, sentence.text, one.source.title, head):
                        pointed = PointedFact(sentences=(sentence.number - one.first,), question=0, sure=FOUND_BY_CODE)
                        fact = fact_of(pointed, one.source, one.spans, question, given.language)
                        found += [(one.source.id, fact)] if fact else []
                        break
    return found


def source_handler(context: RunContext) -> Handler:
    """Read sources: fetch them side by side, then extract from them, short ones together."""

    async def run(ctx: Ctx, given: SourceGiven) -> SourcesDone:
        leaf = ctx.path.rsplit("/", 1)[0]
        finding = ctx.writing(LATE_FINDING_SHARE) if given.late else ctx.deadline
        deadline = ctx.writing(LATE_SHARE) if given.late else ctx.deadline
        fetched = await _fetched(ctx, context, given.urls, finding)
        done: dict[str, SourceDone] = {}
        cards: list[SourceCard] = []
        for url, one in zip(given.urls, fetched, strict=True):
            if isinstance(one, RetrievedSource):
                cards.append(one.card)
            elif one.type in CUT:
                raise one
            else:
                unread = one.type == "SourceError" and one.fault != "ruled_out"
                done[url] = _refused(ctx, leaf, url, one, "empty" if unread else "").model_copy(
                    update={"unread": unread, "given_up": one.fault == "given_up"}
                )
        batches = batched(cards)
        keys = _keys([batch[0].url for batch in batches])
        read = await ctx.fan(
            "extract", extract, [(key, context, batch, given, deadline) for key, batch in zip(keys, batches, strict=True)],
            gives=Extracted,
        )  # fmt: skip
        by_card = {
            card.id: one
            for batch, extracted in zip(batches, read, strict=True)
            for card, one in zip(batch, _of_batch(ctx, leaf, batch, extracted), strict=True)
        }
        at = {
            url: by_card[one.card.id]
            for url, one in zip(given.urls, fetched, strict=True)
            if isinstance(one, RetrievedSource)
        }
        return SourcesDone(sources=tuple(done.get(url) or at[url] for url in given.urls))

    return Handler(run=run, takes=SourceGiven, gives=SourcesDone)


async def _fetched(
    ctx: Ctx, context: RunContext, urls: Sequence[str], deadline: Deadline
) -> list[RetrievedSource | StepFailed]:
    """Fetch sources side by side; a failure of one alone is counted before another branch goes on."""
    if len(urls) > 1:
        items = [(Source.id_of(url), url, deadline) for url in urls]
        fetched = await ctx.fan("fetch", context.fetch, items, gives=RetrievedSource, pool="web")
    else:
        try:
            fetched = [
                await ctx.call("fetch", "0", context.fetch, urls[0], deadline, gives=RetrievedSource, pool="web")
            ]
        except StepFailed as failure:
            fetched = [failure]
    for url, one in zip(urls, fetched, strict=True):
        if isinstance(one, StepFailed) and one.type not in CUT:
            context.note_unread(url, ctx.path, one)
    return fetched


def _keys(urls: Sequence[str]) -> list[str]:
    """Name the steps of several sources; of one alone the child's own path says which it is."""
    return ["0"] if len(urls) == 1 else [Source.id_of(url) for url in urls]


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


def _of_batch(ctx: Ctx, leaf: str, batch: Sequence[SourceCard], extracted: Extracted | StepFailed) -> list[SourceDone]:
    """Say of each source of one call what came of it, and tell it."""
    if isinstance(extracted, StepFailed):
        if extracted.type in CUT:
            raise extracted
        refused = [_refused(ctx, leaf, card.url, extracted, "read") for card in batch]
        if extracted.type == "SourceError":
            return refused
        problem = Problem(
            where=extracted.key, type=extracted.type, message=extracted.notice, retryable=extracted.retryable
        )
        return [
            one.model_copy(update={"card": card, "problem": problem}) for one, card in zip(refused, batch, strict=True)
        ]
    asked = extracted.asked
    if asked is not None:
        ctx.emit(f"asked:{batch[0].id}", asked.as_event(leaf))
    done = []
    for number, (card, reading) in enumerate(zip(batch, extracted.readings, strict=True)):
        event: Event = SourceRejected(node=leaf, url=card.url, reason=reading.rejected, page="read") if (
            reading.rejected
        ) else SourceRead(
            node=leaf, source=card, facts=len(reading.facts), dropped=reading.dropped,
            usage=extracted.usage if number == 0 else Usage(),
        )  # fmt: skip
        ctx.emit(f"read:{card.id}", event)
        known = None if reading.rejected else card
        done.append(SourceDone(reading=reading, card=known, stood_in=asked.stood_in if asked else ""))
    return done


def _refused(ctx: Ctx, leaf: str, url: str, failure: StepFailed, page: Literal["", "empty", "read"]) -> SourceDone:
    reason = failure.message.removeprefix(f"{url}: ") if failure.type == "SourceError" else failure.notice
    ctx.emit(f"rejected:{Source.id_of(url)}", SourceRejected(node=leaf, url=url, reason=reason, page=page))
    return SourceDone(reading=SourceReading(source_id=Source.id_of(url), url=url, rejected=reason))
