"""Reading one source for one leaf: two steps, fetch and extract. A straggler is cut by the time-out in its fetch."""

import asyncio
from typing import Literal

from agents.contracts.fact import (
    Extraction,
    ExtractionInput,
    Fact,
    FollowUp,
    Insights,
    InsightTrigger,
    LinkedSource,
    NumberedSentence,
    SourceReading,
)
from agents.contracts.finding import Problem
from agents.contracts.frozen import Frozen, Text
from agents.contracts.plan import TaskSpec
from agents.contracts.source import SentenceSpan, Source, SourceCard
from agents.core.budget import Deadline
from agents.core.errors import StepFailed
from agents.core.events import Charged, SourceRead, SourceRejected
from agents.core.port import Ctx, Handler
from agents.core.role import Asked
from agents.nlp.sentence_split import spans
from agents.research.reading.passages import MAX_CHARS, choose
from agents.research.reading.quotes import fact_of
from agents.research.run_context import Desk, Fetched
from agents.research.steering import CUT
from agents.roles.extractor import EXTRACTOR

LOW_CONFIDENCE = 0.4
"""Below it, a fact that answers a question sets off the extractor's insights."""
MAX_FACTS = 10
"""Facts of one source for one leaf."""
LATE_SHARE = 0.3
"""Part of the time kept for writing in which a branch that came too late may still have a source read by the model."""
LATE_FINDING_SHARE = 0.6
"""The same for searching and fetching: without them there is nothing to write at all."""
QUICK_FACTS, QUICK_CHARS = 4, 6_000
"""The same for a quick scan, and characters that it is shown."""


class SourceGiven(Frozen):
    """One source that a leaf wants read."""

    url: Text
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


class Extracted(Charged):
    """The extractor's step: facts with verified quotes, and what it cost."""

    reading: SourceReading
    asked: Asked[Extraction]


async def extract(desk: Desk, card: SourceCard, given: SourceGiven, deadline: Deadline) -> Extracted:
    """Show a source to the extractor and hold what it points at against the text: the body of a step.

    Raises:
        SourceError: a limit that the user set since it was fetched rules it out.
    """
    desk.allow(card.url, card.published)
    source = await desk.text_of(card)
    questions = given.spec.questions if given.spec else given.questions
    # A long document takes a second of computing: in a thread, so that nobody's page stands still meanwhile.
    sentences, shown = await asyncio.to_thread(_shown, source.text, (*questions, given.objective), given.quick)
    asked = await desk.ask(
        EXTRACTOR,
        ExtractionInput(
            objective=given.objective,
            questions=questions,
            expected_format=given.spec.expected_format if given.spec else "",
            acceptance_criteria=given.spec.acceptance_criteria if given.spec else (),
            rubric="" if given.spec else given.rubric,
            title=source.title,
            published=source.published,
            language=given.language,
            today=given.today,
            sentences=shown,
            discovery_intense=bool(given.spec and given.spec.discovery_intense),
            max_facts=QUICK_FACTS if given.quick else MAX_FACTS,
        ),
        deadline,
    )
    desk.allow(card.url, card.published)  # it may have been ruled out while it was read
    reading = await asyncio.to_thread(_held_against, asked.output, source, sentences, given, questions)
    return Extracted(reading=reading, asked=asked, usage=asked.usage)


def _shown(
    text: str, asked_for: tuple[str, ...], quick: bool
) -> tuple[tuple[SentenceSpan, ...], tuple[NumberedSentence, ...]]:
    """Cut a text into sentences, and choose those that an extractor is shown."""
    sentences = spans(text)
    return sentences, choose(text, sentences, asked_for, QUICK_CHARS if quick else MAX_CHARS)


def _held_against(
    extraction: Extraction,
    source: Source,
    sentences: tuple[SentenceSpan, ...],
    given: SourceGiven,
    questions: tuple[str, ...],
) -> SourceReading:
    facts: dict[str, Fact] = {}
    dropped = 0
    for pointed in extraction.facts[:MAX_FACTS]:
        known = 1 <= pointed.question_number <= len(questions)
        fact = fact_of(pointed, source, sentences, questions[pointed.question_number - 1] if known else given.objective)
        if fact is None:
            dropped += 1
        else:
            facts.setdefault(fact.id, fact)
    return SourceReading(
        source_id=source.id,
        url=source.url,
        facts=tuple(facts.values()),
        insights=_insights(extraction, source, sentences, tuple(facts.values()), given),
        dropped=dropped,
    )


def _insights(
    extraction: Extraction,
    source: Source,
    sentences: tuple[SentenceSpan, ...],
    facts: tuple[Fact, ...],
    given: SourceGiven,
) -> Insights | None:
    """Insights are kept only when one of four triggers fired (specification, section 7); each is recorded."""

    def words(numbers: tuple[int, ...]) -> tuple[str, ...]:
        real = [sentences[number - 1] for number in numbers if 1 <= number <= len(sentences)]
        return tuple(source.text[span.start : span.end] for span in real)

    limitations, contradictions = words(extraction.limitations), words(extraction.contradictions)
    fired: list[InsightTrigger] = []
    if any(fact.confidence < LOW_CONFIDENCE for fact in facts):
        fired.append("low_confidence")
    if limitations:
        fired.append("stated_limitation")
    if contradictions:
        fired.append("contradiction")
    if given.spec and given.spec.discovery_intense:
        fired.append("discovery_intense")
    if not fired:
        return None
    # An address counts only when it really stands in the source: a model may not send us anywhere.
    linked = [url for url in extraction.linked_urls if url.strip() and url in source.text]
    return Insights(
        triggers=tuple(fired),
        follow_up_questions=tuple(
            FollowUp(question=question, confidence=0.5, rationale=f"raised while reading “{source.title}”")
            for question in extraction.follow_up_questions[:5]
            if question.strip()
        ),
        source_identified_gaps=limitations[:5],
        linked_candidate_sources=tuple(
            LinkedSource(url=url, context=_around(source.text, url), priority=0.5) for url in linked[:5]
        ),
    )


def _around(text: str, part: str, reach: int = 120) -> str:
    at = text.find(part)
    return " ".join(text[max(0, at - reach) : at + len(part) + reach].split())


def source_handler(desk: Desk) -> Handler:
    """Read one source: fetch it, then extract from it."""

    async def run(ctx: Ctx, given: SourceGiven) -> SourceDone:
        leaf = ctx.path.rsplit("/", 1)[0]
        finding = ctx.writing(LATE_FINDING_SHARE) if given.late else ctx.deadline
        deadline = ctx.writing(LATE_SHARE) if given.late else ctx.deadline
        try:
            fetched = await ctx.call("fetch", "0", desk.fetch, given.url, finding, gives=Fetched, pool="web")
        except StepFailed as failure:
            if failure.type in CUT:
                raise
            desk.note_unread(given.url, ctx.path, failure)
            unread = failure.type == "SourceError" and failure.fault != "ruled_out"
            return _refused(ctx, leaf, given, failure, "empty" if unread else "").model_copy(
                update={"unread": unread, "given_up": failure.fault == "given_up"}
            )
        try:
            done = await ctx.call("extract", "0", extract, desk, fetched.card, given, deadline, gives=Extracted)
        except StepFailed as failure:
            if failure.type in CUT:
                raise
            refused = _refused(ctx, leaf, given, failure, "read")
            if failure.type == "SourceError":
                return refused
            problem = Problem(where=failure.key, type=failure.type, message=failure.notice, retryable=failure.retryable)
            return refused.model_copy(update={"card": fetched.card, "problem": problem})
        if event := done.asked.as_event(leaf):
            ctx.emit("asked", event)
        reading = done.reading
        ctx.emit(
            "read",
            SourceRead(
                node=leaf, source=fetched.card, facts=len(reading.facts), dropped=reading.dropped, usage=done.usage
            ),
        )
        return SourceDone(reading=reading, card=fetched.card, stood_in=done.asked.stood_in)

    return Handler(run=run, takes=SourceGiven, gives=SourceDone)


def _refused(
    ctx: Ctx, leaf: str, given: SourceGiven, failure: StepFailed, page: Literal["", "empty", "read"]
) -> SourceDone:
    reason = failure.message.removeprefix(f"{given.url}: ") if failure.type == "SourceError" else failure.notice
    ctx.emit("rejected", SourceRejected(node=leaf, url=given.url, reason=reason, page=page))
    return SourceDone(reading=SourceReading(source_id=Source.id_of(given.url), url=given.url, rejected=reason))
