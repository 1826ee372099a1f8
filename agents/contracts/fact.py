"""Facts: atomic statements with the words that carry them, and the extractor's contracts.

What research leaves behind for later research: remembered facts, claims and insights, and how they are chosen.
"""

from datetime import date
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator
from pydantic.json_schema import SkipJsonSchema

from agents.contracts.frozen import Confidence, Frozen, Guided, Said, Text, to_unit
from agents.contracts.plan import Plan
from agents.contracts.sources import SourceCard

InsightTrigger = Literal["low_confidence", "stated_limitation", "contradiction", "discovery_intense"]
"""The only reasons for which an extractor may add insights (specification, section 7)."""


class Fact(Frozen):
    """An atomic statement, the verbatim quote that carries it, and where the quote stands."""

    id: Text
    """`f` and a digest of source and span: the same words of the same source are the same fact."""
    source_id: Text
    statement: Text
    """What the words say, readable by itself: the words themselves, unless other words are carried by them."""
    quote: Text
    """Verbatim: `source.text[start:end]`."""
    start: int = Field(ge=0)
    end: int = Field(ge=1)
    confidence: Confidence
    topic: str = ""
    """The question or theme that it was read for."""
    heading: str = ""
    """The heading that the quote stands below: it says what the words are an answer to."""
    by_meaning: str = ""
    """The part of a question for which it was quoted because it comes nearest in meaning: whether it answers code can't tell."""
    known_since: str = ""
    """ISO date on which earlier research first read it; empty for what this run has read itself."""

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


class ShownSource(Frozen):
    """One source of an extraction: its passages that were chosen for the questions, in the order of its text."""

    title: Text
    published: str | None = None
    sentences: tuple[NumberedSentence, ...]
    """Numbers run on through all sources of one extraction, so that a number names its source too."""


class ExtractionInput(Guided):
    """What one extractor is given: one long source or several short ones, read for one leaf."""

    objective: Text
    questions: tuple[Text, ...] = Field(min_length=1)
    expected_format: str = ""
    acceptance_criteria: tuple[str, ...] = ()
    rubric: str = ""
    """Scope, sections to consider and target confidence, where the leaf has no task spec."""
    sources: tuple[ShownSource, ...] = Field(min_length=1)
    discovery_intense: bool = False
    max_facts: int = Field(default=12, ge=1, le=50)


def _from_digit(value: object) -> object:
    """Bring a digit to the scale from 0 to 1, and 85 of 100 as well; a fraction stays."""
    return 0.1 if value == 1 and type(value) is int else to_unit(value)


class PointedFact(Frozen):
    """A fact as a model gives it: numbers of the sentences that state it, not their words."""

    sentences: tuple[int, ...]
    """Numbers of neighbouring sentences of one source, ascending; the quote runs from the first to the last."""
    question: int
    """Which of the questions it answers, counted from 1; 0 when none."""
    sure: Annotated[
        float,
        BeforeValidator(_from_digit),
        Field(ge=0.0, le=1.0),
        WithJsonSchema({"type": "integer", "minimum": 0, "maximum": 9}),
    ]
    """One digit, 0 to 9: how plainly the sentences state it."""
    quote: SkipJsonSchema[str] = ""
    """Words in the place of numbers, from a model that gives them unasked. Held against the source, or dropped."""
    statement: SkipJsonSchema[str] = ""
    """What the sentences say, where somebody says it in other words. Kept only if they carry it."""


class Extraction(Frozen):
    """What an extractor found; no facts when the sources say nothing to the point."""

    facts: tuple[PointedFact, ...]
    limitations: tuple[int, ...] = ()
    """Numbers of sentences in which a source states its own limits or future work."""
    contradictions: tuple[int, ...] = ()
    """Numbers of sentences that contradict each other."""
    follow_up_questions: tuple[str, ...] = ()


class SourceReading(Frozen):
    """The result of reading one source: facts with verified quotes, or the reason why there are none."""

    facts: tuple[Fact, ...] = ()
    insights: Insights | None = None
    aside: tuple[Fact, ...] = ()
    """Facts that do not speak of what was asked by themselves: used only where others to the point name their document."""
    dropped: int = Field(default=0, ge=0)
    """Facts dropped because their words do not stand in the source, or have nothing to do with the question."""
    rejected: Said = Said()
    """Why the source could not be read or used; empty when it was read."""


MemoryKind = Literal["fact", "reading", "claim", "plan", "question", "gap", "link", "answer"]
"""`reading`: a text was read for a question, and these are its facts; without a source, all that a leaf came to. `plan`: how
a question was researched. The next three are what sources pointed at. `answer`: what a model made of the very same input."""

Standing = Literal[
    "supported", "qualified", "contested", "quoted", "refuted", "unsupported", "gone", "insufficient", "not_checked"
]
"""The last verdict. Of facts: `quoted` stands in its source and was not cited; `gone` no longer stands there."""

REUSABLE: frozenset[Standing] = frozenset({"supported", "qualified", "contested", "quoted"})
"""Facts of other standings are kept for their history and never used again."""


class Sighting(Frozen):
    """One job that met with it."""

    job: Text
    at: Text
    """ISO date and time, UTC."""
    verdict: Standing


class Remembered(Frozen):
    """One thing that is known, with everything needed to cite it again."""

    id: Text
    """A digest of what it says and where: met again, it is the same."""
    kind: MemoryKind
    text: Text
    """Statement, claim or question: what is searched."""
    fact: Fact | None = None
    """Only of facts."""
    source: SourceCard | None = None
    """Where it was read; None for claims."""
    before: str = ""
    after: str = ""
    """The words around the quote."""
    topics: tuple[str, ...] = ()
    """Questions that it was read for; of what a leaf came to, the question of each of its facts."""
    plan: Plan | None = None
    """Only of plans."""
    answer: str = ""
    """Only of answers: as JSON."""
    facts: tuple[str, ...] = ()
    """Of a reading: its facts. Of a claim: the facts for and against it."""
    against: tuple[str, ...] = ()
    """Remembered facts that contradict it."""
    verdict: Standing = "quoted"
    confidence: Confidence | None = None
    language: str = ""
    since: Text
    """When it was first read, ISO date and time, UTC."""
    seen: Text
    """When it was last seen in its source."""
    history: tuple[Sighting, ...] = Field(default=(), max_length=40)
    """Oldest first."""

    @property
    def jobs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.job for one in self.history))


def _day(text: str) -> str:
    return text and date.fromisoformat(text).isoformat()


Day = Annotated[str, AfterValidator(_day)]
"""An ISO date; empty where none is given."""


class Selection(Frozen):
    """Which things are meant: all that fit every field that is given."""

    ids: tuple[str, ...] = ()
    kinds: tuple[MemoryKind, ...] = ()
    verdicts: tuple[Standing, ...] = ()
    url: str = ""
    domain: str = ""
    """Registrable domain: `example.org` for all its hosts."""
    text_hash: str = ""
    job: str = ""
    date_from: Day = ""
    """Last seen on or after this ISO date."""
    date_to: Day = ""
    """Last seen on or before it."""

    @property
    def empty(self) -> bool:
        """True when nothing is given: everything is meant."""
        return self == Selection()


class Contradiction(Frozen):
    """A new fact and a remembered one of another source that can't both be right."""

    new: Text
    new_title: Text
    old: Text
    old_title: Text
    since: str


class MemoryNote(Frozen):
    """What the knowledge base did for a run."""

    reused: int = 0
    """Facts taken over, their pages unchanged."""
    sources: int = 0
    since: str = ""
    """ISO date on which the first of them was first read."""
    answers: int = 0
    """Answers of models taken over, because they were asked the very same again."""
    conflicts: tuple[Contradiction, ...] = ()
    fault: str = ""
    """Why it was left out; empty when it was not."""


class MemoryStats(Frozen):
    """What there is."""

    store: str
    items: int
    by_kind: dict[str, int]
    sources: int
    embedder: str
    dimensions: int
    embedded: int
    """Items that can be found by meaning; the others by words until they are embedded anew."""
