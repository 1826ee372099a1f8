"""Facts: atomic statements with the words that carry them, and the extractor's contracts."""

from typing import Literal

from pydantic import Field, model_validator

from agents.contracts.frozen import Confidence, Frozen, Judged, Text

InsightTrigger = Literal["low_confidence", "stated_limitation", "contradiction", "discovery_intense"]
"""The only reasons for which an extractor may add insights (specification, section 7)."""


class Fact(Frozen):
    """An atomic statement, the verbatim quote that carries it, and where the quote stands."""

    id: Text
    """`f` and a digest of source and span: the same words of the same source are the same fact."""
    source_id: Text
    statement: Text
    """What the words say, readable by itself; offline it is the quote."""
    quote: Text
    """Verbatim: `source.text[start:end]`."""
    start: int = Field(ge=0)
    end: int = Field(ge=1)
    confidence: Confidence
    topic: str = ""
    """The question or theme that it was read for."""

    @model_validator(mode="after")
    def _span_fits_the_quote(self) -> "Fact":
        if self.end - self.start != len(self.quote):
            raise ValueError("the span is not as long as the quote")
        return self


class FollowUp(Frozen):
    """A question that a source raises."""

    question: Text
    confidence: Confidence
    rationale: Text


class LinkedSource(Frozen):
    """A source that a source points at."""

    url: Text
    context: str
    """The words around the reference."""
    priority: Confidence


class Insights(Frozen):
    """What an extractor noticed beside its answers; present only when a trigger fired."""

    triggers: tuple[InsightTrigger, ...] = Field(min_length=1)
    follow_up_questions: tuple[FollowUp, ...] = ()
    source_identified_gaps: tuple[Text, ...] = ()
    linked_candidate_sources: tuple[LinkedSource, ...] = ()


class NumberedSentence(Frozen):
    """A sentence as the extractor is shown it: by number."""

    number: int = Field(ge=1)
    text: Text


class ExtractionInput(Frozen):
    """What one extractor is given: one source, read for one leaf."""

    objective: Text
    questions: tuple[Text, ...] = Field(min_length=1)
    expected_format: str = ""
    acceptance_criteria: tuple[str, ...] = ()
    rubric: str = ""
    """Scope, sections to consider and target confidence, where the leaf has no task spec."""
    title: Text
    published: str | None = None
    language: str = "en"
    """Language of the report, for statements; quotes stay as they are."""
    today: str = ""
    """ISO date that 'latest' refers to."""
    sentences: tuple[NumberedSentence, ...]
    """Passages chosen for the questions, in the order of the source; numbers count through the whole source."""
    discovery_intense: bool = False
    max_facts: int = Field(default=12, ge=1, le=50)


class PointedFact(Frozen):
    """A fact as a model gives it: numbers of the sentences that state it, not their words."""

    sentence_numbers: tuple[int, ...]
    """Neighbouring sentences, ascending; the quote runs from the first to the last."""
    quote: str
    """The words themselves, only where no number can be given; else empty. Held against the source, or dropped."""
    statement: str
    question_number: int
    """Which of the questions it answers, counted from 1; 0 when none."""
    confidence: Judged


class Extraction(Frozen):
    """What an extractor found in one source; no facts when the source says nothing to the point."""

    facts: tuple[PointedFact, ...]
    limitations: tuple[int, ...]
    """Numbers of sentences in which the source states its own limits or future work."""
    contradictions: tuple[int, ...]
    """Numbers of sentences that contradict each other or the supplied context."""
    follow_up_questions: tuple[str, ...]
    linked_urls: tuple[str, ...]


class SourceReading(Frozen):
    """The result of reading one source: facts with verified quotes, or the reason why there are none."""

    source_id: Text
    url: Text
    facts: tuple[Fact, ...] = ()
    insights: Insights | None = None
    dropped: int = Field(default=0, ge=0)
    """Facts dropped because their words do not stand in the source."""
    rejected: str = ""
    """Why the source could not be read or used; empty when it was read."""
