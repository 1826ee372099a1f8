"""Findings: what synthesizers write, with citations that cannot point at nothing."""

import re
from typing import Literal

from pydantic import Field, model_validator

from agents.contracts.fact import Fact, Insights
from agents.contracts.frozen import Frozen, Guided, QueryType, Said, Text
from agents.contracts.plan import MAX_ATTEMPTS, RetryEntry, RoundRecord, SkippedTopic
from agents.contracts.sources import RejectedSource, SearchFailure, Shortlist, SourceCard

NodeStatus = Literal["done", "partial", "failed", "stopped", "empty"]
"""`empty`: it searched and read, and found nothing to the point."""

FACT_MARK = re.compile(r"\[#(f[0-9a-f]+)\]")
"""How prose inside the program cites: the id of a fact. Readers only ever see source numbers."""


def cited_facts(markdown: str) -> tuple[str, ...]:
    """List the fact ids that `markdown` cites, in order of first use."""
    return tuple(dict.fromkeys(FACT_MARK.findall(markdown)))


class SearchRecord(Frozen):
    """One search that was made, and what came of it."""

    text: Text
    provider: str
    hits: int = Field(ge=0)
    failed: str = ""
    """Why it failed; empty when it answered."""
    failures: tuple[SearchFailure, ...] = ()
    """Providers that did not answer, each with the reason; also where another one answered in their place."""


class Problem(Frozen):
    """A failure that was survived: it shows in the error log and in the status of its node."""

    where: Text
    """Path of the node and step, for example `job/0/1#search:q1`."""
    type: Text
    message: Text
    retryable: bool = False


AnswerStatus = Literal["answered", "partly", "not_found"]


class NearPassage(Frozen):
    """Words that come near a question which nothing answers: a place to look, no evidence."""

    title: str
    url: Text
    words: Text


class Finding(Frozen):
    """A leaf's or node's answer. Every fact id that its prose cites is among its facts, or it cannot exist."""

    path: Text
    title: Text
    role: Literal["leaf", "node", "query", "challenge"]
    status: NodeStatus
    note: Said = Said()
    """What is missing and why, for a status other than done."""
    ended: Literal["", "stopped", "dropped"] = ""
    """By whose wish it ended early: `stopped` keeps what it had found, `dropped` leaves it out; empty when by nobody's."""
    tries: int = Field(default=1, ge=1)
    """How often it was tried: more than once when the user wanted it tried again."""
    markdown: str = ""
    """Own prose, citing facts by `[#id]`: a leaf's section, or a node's lead over its children."""
    asked: tuple[str, ...] = ()
    """The questions of a leaf."""
    verdicts: tuple[str, ...] = ()
    """Claims with their verdicts that its section was written to agree with."""
    facts: tuple[Fact, ...] = ()
    sources: tuple[SourceCard, ...] = ()
    rejected: tuple[RejectedSource, ...] = ()
    near: tuple[NearPassage, ...] = ()
    """Where nothing that was read answers: what comes nearest in it."""
    searches: tuple[SearchRecord, ...] = ()
    problems: tuple[Problem, ...] = ()
    open_questions: tuple[str, ...] = ()
    insights: tuple[Insights, ...] = ()
    """What its sources state of their limits, which questions they raise, and what they point at."""
    rounds: tuple[RoundRecord, ...] = ()
    """A node's rounds, in order."""
    dispatched: tuple[str, ...] = ()
    """Topics that this node dispatched, in order."""
    skipped: tuple[SkippedTopic, ...] = ()
    """Topics that it did not dispatch because another covers them."""
    attempts: tuple[RetryEntry, ...] = ()
    """A leaf's searches and fetches that failed at least once."""
    shortlist: Shortlist | None = None
    """What a scout chose, and what it left out; only of a discovery leaf."""
    engine_note: str = ""
    """Said when the offline engine stood in for the model here."""
    children: tuple["Finding", ...] = ()
    seconds: float | None = None
    tokens: int = 0
    cost_usd: float | None = None

    @model_validator(mode="after")
    def _cites_only_what_it_holds(self) -> "Finding":
        known = {fact.id for fact in self.all_facts()}
        unknown = [mark for mark in cited_facts(self.markdown) if mark not in known]
        if unknown:
            raise ValueError(f"finding {self.path!r} cites facts that it does not hold: {unknown}")
        sources = {card.id for card in self.all_sources()}
        loose = sorted({fact.source_id for fact in self.facts} - sources)
        if loose:
            raise ValueError(f"finding {self.path!r} has facts of sources that it does not hold: {loose}")
        return self

    def walk(self) -> tuple["Finding", ...]:
        """List this finding and all below it, parents first, in reading order."""
        return (self, *(below for child in self.children for below in child.walk()))

    @property
    def attempt_number(self) -> int:
        """Which attempt at its sub-question brought this result, from 1; of one that was given up, the last."""
        failed = sum(entry.attempts for entry in self.attempts if entry.key in self.asked[:1])
        return min(failed + 1, MAX_ATTEMPTS)

    @property
    def is_later(self) -> bool:
        """Whether it is of a later round: rounds name their children `r2-0`."""
        return self.path.rsplit("/", 1)[-1].startswith("r")

    @property
    def in_vain(self) -> bool:
        """Whether a later round followed something up and brought nothing that is used: no shortfall where all is answered."""
        return self.is_later and self.status in ("empty", "partial") and not self.markdown and not self.children

    def all_facts(self) -> tuple[Fact, ...]:
        """List the facts held here and below, each once, in reading order."""
        found = {fact.id: fact for finding in self.walk() for fact in finding.facts}
        return tuple(found.values())

    def all_sources(self) -> tuple[SourceCard, ...]:
        """List the sources held here and below, each once, in reading order."""
        found = {card.id: card for finding in self.walk() for card in finding.sources}
        return tuple(found.values())


class QuestionAnswer(Frozen):
    """How far one question of the contract is answered: by words that speak of its subject and hold what it asks for."""

    question: Text
    status: AnswerStatus
    facts: tuple[str, ...] = ()
    """Facts whose words answer it; where none do, those that are about its subject."""
    section: str = ""
    """Title of the leaf that asks it; empty where none does."""
    asked: bool = False
    """It is a part of what the user asked."""
    by_meaning: bool = False
    """Only that words come nearest to it in meaning speaks for them."""
    absent: tuple[str, ...] = ()
    """Words by which it says what it asks about that stand nowhere in what was found, though something near it was."""


# ---- what a synthesizer is asked


class NumberedFact(Frozen):
    """A fact as a writer sees it: under a number that it cites as `[f7]`."""

    number: int = Field(ge=1)
    statement: Text
    quote: Text
    source: Text
    """Title of the source, with publisher and date where known."""
    source_number: int = Field(ge=1)
    """Which facts share a source."""
    published: str | None = None
    topic: str = ""
    heading: str = ""


class SectionInput(Guided):
    """What the writer of one section is given."""

    query: Text
    title: Text
    objective: Text
    questions: tuple[str, ...]
    facts: tuple[NumberedFact, ...] = Field(min_length=1)
    siblings: tuple[str, ...] = ()
    """Titles of the other sections, which this one must not repeat."""
    verdicts: tuple[str, ...] = ()
    """Claims of this section that the challenge qualified, contested or refuted: it is written anew for them."""
    query_type: QueryType = "other"


class Section(Frozen):
    """One section's prose."""

    markdown: Text
    """Body without a heading, citing `[f1]`, `[f1][f2]` behind the sentences they carry."""


class LeadInput(Guided):
    """What the synthesizer of an inner node with more than two results is given: its children's sections."""

    query: Text
    title: Text
    objective: Text
    sections: tuple[Text, ...]
    """Children's prose, citing the numbers of `facts`."""
    facts: tuple[NumberedFact, ...] = Field(min_length=1)


class AnsweredBy(Frozen):
    """One part of what was asked, with the facts that answer it; without any, nothing to the point was found."""

    part: Text
    facts: tuple[int, ...] = ()


class FrameInput(Guided):
    """What the last synthesizer is given, for the parts that stand around the sections."""

    question: Text
    queries: tuple[str, ...]
    titles: tuple[str, ...]
    sections: tuple[Text, ...]
    """One per title, same order, citing the numbers of `facts`; empty while they are still being written."""
    facts: tuple[NumberedFact, ...] = Field(min_length=1)
    missing: tuple[str, ...] = ()
    """What failed or stayed open, in plain words."""
    parts: tuple[AnsweredBy, ...] = ()
    """What was asked, part by part, in order."""
    query_type: QueryType = "other"
    degraded: bool = False
    claims: tuple[str, ...] = ()
    """Claims with their verdicts: the frame says nothing firmer than they are."""


class Frame(Frozen):
    """What stands around the sections of a report."""

    title: Text
    """Title of the report; no citation, no full stop."""
    summary: Text
    """Opens the report: a short answer with citations, never a heading."""
    insight: str
    """Connections, contradictions, outliers across sections; empty when there is nothing to say."""
    conclusion: str
    """What follows, and how sure it is; empty when the summary says it all."""
    open_questions: tuple[str, ...]
