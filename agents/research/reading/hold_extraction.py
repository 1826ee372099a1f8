"""What code makes of an extraction: words that stand in a source, carry what is said of them, and speak of what was asked.

The rest is set aside, whatever the model says of it. What an extractor noticed beside its answers is kept only on one of
four triggers (specification, section 7).

Quotes: from what an extractor pointed at to words that really stand in the source, or to nothing.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

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
    SourceReading,
)
from agents.contracts.frozen import Frozen, Text, digest
from agents.contracts.sources import HEAD_CHARS, SentenceSpan, Source
from agents.nlp.lang import spans
from agents.nlp.tokens import language_of
from agents.offline.questions import Question, asks_for_facts, each_name, is_called, is_named, parts_of
from agents.offline.ranking import is_heading, leans, orders_a_machine
from agents.research.reading.answering import answers, is_about, speaks_to
from agents.research.reading.searching import LeafGiven, sub_questions
from agents.verify.checks import carried
from agents.verify.quotes import find_quote
from agents.web.url_key import IN_TEXT

MAX_RUN = 4
"""Sentences that one quote may run over; a longer pointer is cut to its first sentences."""
LIST_MARKER = re.compile(r"\s*(?:[-*+\u2022\u2013\u25aa]|\d{1,3}[.)])\s+")
"""What stands before a list item is not among its words."""
SHORTEST = 12
"""Characters of words that are looked for in a source."""
FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
ALMOST = 0.92
"""Likeness from which differing words count as a slip of copying and are replaced by the source's own."""


def fact_of(
    pointed: PointedFact, source: Source, spans: tuple[SentenceSpan, ...], topic: str, language: str = "en"
) -> Fact | None:
    """Make a fact whose quote is verbatim in `source`, or None when what was pointed at does not stand there.

    Its statement is the quote itself, unless the model gave other words and the quote carries them.
    """
    # A heading that only says what the document is called states nothing.
    real = [(n, spans[n - 1]) for n in sorted(set(pointed.sentences)) if 1 <= n <= len(spans)]
    title = source.title.strip(" .")
    stating = [n for n, span in real if source.text[span.start : span.end].strip(" #*_.\n") != title]
    found = _by_number(stating, source.text, spans) or _by_words(pointed.quote, source.text, spans)
    if found is None:
        return None
    start, end = found
    if marker := LIST_MARKER.match(source.text, start, end):
        start = marker.end()
    quote = source.text[start:end]
    if not quote.strip():
        return None
    return Fact(
        id="f" + digest(f"{source.id}:{start}:{end}", 10), source_id=source.id,
        statement=_carried(pointed.statement.strip(), quote, source, language) or " ".join(quote.split()),
        quote=quote, start=start, end=end, confidence=pointed.sure, topic=topic, heading=_heading(source.text, spans, start),
    )  # fmt: skip


def _heading(text: str, spans: Sequence[SentenceSpan], at: int) -> str:
    """Give the heading that a place in a text stands below; empty before the first."""
    above = (
        text[span.start : span.end] for span in reversed(spans[: bisect_left(spans, at, key=lambda one: one.start)])
    )
    return next((line.strip("# \n") for line in above if is_heading(line) and not LIST_MARKER.match(line)), "")


def _carried(statement: str, quote: str, source: Source, language: str) -> str:
    """Give a statement that its own sentences carry; nothing in the place of any other."""
    if not statement or statement == quote:
        return ""
    found = carried(statement, [quote], language=language.split("-")[0], context=(source.title,))
    # In another language only figures, names and negations can be compared; nothing but those may decide.
    translated = language_of(quote) != language_of(statement) and not found.binding
    return statement if found.verdict == "supported" or translated else ""


def _by_number(numbers: Sequence[int], text: str, spans: tuple[SentenceSpan, ...]) -> tuple[int, int] | None:
    if not numbers:
        return None
    first = last = numbers[0]
    for number in numbers[1:]:
        # Words between two far-apart sentences were not pointed at: the quote ends before the gap.
        if number - last > 2 or number - first >= MAX_RUN:
            break
        last = number
    while (
        first > 1
        and last - first + 1 < MAX_RUN
        and leans(text[spans[first - 1].start : spans[first - 1].end])
        and "\n" not in text[spans[first - 2].end : spans[first - 1].start].strip(" ")
    ):
        first -= 1
    return spans[first - 1].start, spans[last - 1].end


def _by_words(quote: str, text: str, spans: tuple[SentenceSpan, ...]) -> tuple[int, int] | None:
    wanted = quote.strip()
    if len(wanted) < SHORTEST:
        return None
    if place := find_quote(wanted, text):
        return place
    best, best_span = ALMOST, None
    for span in spans:
        matcher = SequenceMatcher(None, " ".join(text[span.start : span.end].split()), wanted, autojunk=False)
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best and (ratio := matcher.ratio()) > best:
            best, best_span = ratio, span
    # Figures are never a slip of copying.
    if best_span is None or FIGURE.findall(text[best_span.start : best_span.end]) != FIGURE.findall(wanted):
        return None
    return best_span.start, best_span.end


LOW_CONFIDENCE = 0.4
"""Below it, a fact that answers a question sets off the extractor's insights."""
WANTED, UNWANTED = 0.8, 0.3
"""Priority of an address whose sentence speaks of what is asked, which alone is followed; and of any other."""
MAX_FACTS = 10
"""Facts of one call, and of one source for one leaf."""
FOUND_BY_CODE = 0.5
"""Confidence of words that code sees to answer a question, whatever the model says of them."""


class SourceExcerpt(NamedTuple):
    """A source as one extraction sees it."""

    source: Source
    spans: tuple[SentenceSpan, ...]
    sentences: tuple[NumberedSentence, ...]
    first: int
    """What is added to its own sentence numbers."""

    @property
    def head(self) -> str:
        return self.source.text[:HEAD_CHARS]


class SourceGiven(Frozen):
    """Sources that a leaf wants read: a page by itself, or documents at hand together."""

    urls: tuple[Text, ...]
    of: LeafGiven
    quick: bool = False
    """A look at whether it is worth reading, not the reading itself."""
    late: bool = False
    """Time for collecting is up, but nothing was read: a part of the time kept for writing may be used."""
    led: tuple[str, ...] = ()
    """Words read before these, where a model reads: of what names nothing that is asked about, only what they name is shown."""
    pointless: bool = False
    """The model pointed at nothing in any of a leaf's pages: the quoting engine reads them."""

    @property
    def asked(self) -> tuple[str, ...]:
        """The questions that count: a page is read once, for all leaves that might want it."""
        return tuple(dict.fromkeys((*sub_questions(self.of.leaf), *self.of.beside)))

    @property
    def named(self) -> bool:
        """Whether plan or user named them: they are read whatever they seem to be about."""
        return not self.quick and any(url in self.of.leaf.sources for url in self.urls)


def insights(
    extraction: Extraction, one: SourceExcerpt, facts: tuple[Fact, ...], wanted: ExtractionInput
) -> Insights | None:
    """Insights are kept only when one of four triggers fired (specification, section 7); each is recorded."""

    def words(numbers: tuple[int, ...]) -> tuple[str, ...]:
        real = [one.spans[at - 1] for number in numbers if 1 <= (at := number - one.first) <= len(one.spans)]
        return tuple(one.source.text[span.start : span.end] for span in real)

    limitations, contradictions = words(extraction.limitations), words(extraction.contradictions)
    triggers: dict[InsightTrigger, bool] = {
        "low_confidence": any(fact.confidence < LOW_CONFIDENCE for fact in facts), "stated_limitation": bool(limitations),
        "contradiction": bool(contradictions), "discovery_intense": wanted.discovery_intense,
    }  # fmt: skip
    fired = tuple(trigger for trigger, holds in triggers.items() if holds)
    if not fired:
        return None
    # The less sure the source is of what it was asked, the more its open questions are worth.
    open_ = round(1 - sum(fact.confidence for fact in facts) / len(facts), 2) if facts else 0.5
    because = ", ".join(trigger.replace("_", " ") for trigger in fired)
    # Addresses are read from the passages themselves: a model may not send us anywhere.
    linked: dict[str, float] = {}
    for sentence in one.sentences:
        if not (addresses := IN_TEXT.findall(sentence.text)):
            continue
        # The sentence itself must speak of what is asked: all of a page is about the page's subject.
        asked = any(is_about(part, sentence.text) for question in wanted.questions for part in parts_of(question))
        for address in addresses:
            linked.setdefault(address, WANTED if asked else UNWANTED)
    rationale, text = f"“{one.source.title}”: {because}", one.source.text
    return Insights(
        triggers=fired, source_identified_gaps=limitations[:5],
        follow_up_questions=tuple(
            FollowUp(question=question, confidence=max(0.1, open_), rationale=rationale)
            for question in extraction.follow_up_questions[:5]
            if question.strip()
        ),
        linked_candidate_sources=tuple(
            LinkedSource(url=url, context=_around(text, url), priority=priority)
            for url, priority in list(linked.items())[:5]
        ),
    )  # fmt: skip


def _around(text: str, part: str, reach: int = 120) -> str:
    at = text.find(part)
    return " ".join(text[max(0, at - reach) : at + len(part) + reach].split())


def held_against(
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
        topic = asked[pointed.question - 1] if 1 <= pointed.question <= len(asked) else given.of.leaf.objective
        numbers = _to_the_point(tuple(number - one.first for number in pointed.sentences), one, topic)
        own = pointed.model_copy(update={"sentences": numbers})
        fact, about = (
            fact_of(own, one.source, one.spans, topic, given.of.setting.language),
            (one.source.title, one.head),
        )
        if fact is None or any(orders_a_machine(fact.quote[at.start : at.end], topic) for at in spans(fact.quote)):
            dropped[one.source.id] += 1  # orders are words on a page, and no finding, whoever points at them
        elif speaks_to(fact, *about, (topic,)):
            # Words are seen to answer what asks for a person, date, figure, place or one of two; of any other nobody can tell.
            telling = [part for part in parts_of(topic) if part.kind != "other"]
            if any(_answers_it(part, (one,), {one.source.id: {fact.id: fact}}) for part in telling):
                fact = fact.model_copy(update={"confidence": max(fact.confidence, FOUND_BY_CODE)})
            kept[one.source.id].setdefault(fact.id, fact)
        elif other := next((q for q in given.asked if speaks_to(fact, *about, (q,))), ""):
            kept[one.source.id].setdefault(fact.id, fact.model_copy(update={"topic": other}))
        else:
            aside[one.source.id].setdefault(fact.id, fact)

    for pointed in extraction.facts[: 2 * MAX_FACTS]:
        hold(pointed, given.asked)
    sure = {key: {fact.id: fact for fact in facts.values() if fact.confidence >= LOW_CONFIDENCE}
            for key, facts in kept.items()}  # fmt: skip
    looked_up = asks_for_facts(given.of.setting.query)  # so are the steps that lead to a fact, whatever their form
    left = tuple(
        question
        for question in given.asked
        if (looked_up or asks_for_facts(question))
        and not all(_answers_it(one, shown, sure) for part in parts_of(question) for one in each_name(part))
    )
    if quoting is not None:
        asked, sources = left, wanted.sources
        if not left:  # a document that is called what is asked about says what that is: it is not passed over
            asked = tuple(question for question in given.asked if asks_for_facts(question))
            parts = [part for question in asked for part in parts_of(question)]
            passed = {one.source.title for one in shown if not kept[one.source.id]}
            sources = tuple(
                one for one in sources if one.title in passed and any(is_called(part, one.title) for part in parts)
            )
        again = wanted.model_copy(update={"questions": asked, "sources": sources})
        for pointed in quoting(again).facts if asked else ():
            hold(pointed.model_copy(update={"sure": min(pointed.sure, FOUND_BY_CODE)}), asked)
    return {
        one.source.id: SourceReading(
            facts=(facts := tuple(kept[one.source.id].values())[:MAX_FACTS]),
            aside=tuple(fact for key, fact in aside[one.source.id].items() if key not in kept[one.source.id]),
            insights=insights(extraction, one, facts, wanted),
            dropped=dropped[one.source.id],
        )
        for one in shown
    }


def _to_the_point(numbers: tuple[int, ...], one: SourceExcerpt, topic: str) -> tuple[int, ...]:
    """Leave out what stands before and after the sentences that name what is asked about, in a document on something else.

    Small models point at whole passages, and what these say of another thing would be said of the one that is asked about.
    """
    said = {number: one.source.text[one.spans[number - 1].start : one.spans[number - 1].end] for number in sorted(numbers)
            if 1 <= number <= len(one.spans)}  # fmt: skip
    parts, title, head = parts_of(topic), one.source.title, one.head
    if len(said) < 2 or any(is_named(part, title) for part in parts):
        return numbers
    good = [number for number, text in said.items() if any(is_about(part, text) for part in parts)]
    narrow = {number: text for number, text in said.items() if good and good[0] <= number <= good[-1]}
    whole, less = " ".join(said.values()), " ".join(narrow.values())
    lost = any(answers(part, whole, title, head) and not answers(part, less, title, head) for part in parts)
    return tuple(narrow) if narrow and not lost else numbers


def _pointed_into(pointed: PointedFact, shown: Sequence[SourceExcerpt]) -> SourceExcerpt:
    """Find the source that a fact points into by its first real number, else by its words; the first where neither does."""
    for number in pointed.sentences:
        for one in shown:
            if one.first < number <= one.first + len(one.spans):
                return one
    return next((one for one in shown if pointed.quote and pointed.quote in one.source.text), shown[0])


def _answers_it(part: Question, shown: Sequence[SourceExcerpt], kept: Mapping[str, Mapping[str, Fact]]) -> bool:
    return any(
        answers(part, fact.quote, one.source.title, one.head, above=fact.heading)
        for one in shown
        for fact in kept[one.source.id].values()
    )
