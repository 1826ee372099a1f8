"""The scout: candidates with their tags, the shortlist it makes of them, and what it is asked."""

from collections import Counter
from typing import Literal

from pydantic import Field, model_validator

from agents.contracts.frozen import Confidence, Frozen, QueryType, Text

Authority = Literal["primary", "secondary", "tertiary", "interested", "unknown"]
"""primary: measured, decided or recorded it itself. secondary: reports on named others. tertiary: repeats without
saying whom. interested: sells or campaigns for what it writes about."""

Recency = Literal["current", "recent", "older", "undated"]

MIN_DOMAINS = 3
"""Domains that useful candidates must span for the bound of one domain's share to hold (specification, section 6)."""


class SourceTags(Frozen):
    """What every candidate is tagged with."""

    authority: Authority
    recency: Recency
    coverage: tuple[str, ...]
    """The questions it answers, as far as it was looked at; empty for none."""
    diversity: str
    """Theme and perspective, for telling how it differs from the others; empty when it was not looked at."""
    rationale: Text
    """Why it is worth reading, or not, in one sentence."""


class Candidate(Frozen):
    """A document that a sweep found, kept or rejected, with the reason either way."""

    url: Text
    title: Text
    domain: Text
    """Registrable domain; for a document its publisher or author, else the document itself."""
    published: str | None = None
    tags: SourceTags
    score: Confidence = 0.0
    facts: int = Field(default=0, ge=0)
    """Statements that the quick scan found in it."""
    excerpt: str = ""
    """A few of its sentences; for choosing, never evidence."""
    reason: Text
    """Why it was kept, or why it was not."""


class Cluster(Frozen):
    """Candidates that are about one theme from one perspective."""

    theme: Text
    perspective: str = ""
    urls: tuple[Text, ...] = Field(min_length=1)


class Shortlist(Frozen):
    """A curated list of sources, best first, and what was left out and why."""

    kept: tuple[Candidate, ...] = ()
    rejected: tuple[Candidate, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    balance: tuple[Text, ...] = ()
    """Tags on how well the list is balanced, for example `domains: 4` or `not covered: …`."""

    @model_validator(mode="after")
    def _no_domain_rules(self) -> "Shortlist":
        # Domains that have nothing to say on the questions cannot share the list.
        domains = {candidate.domain for candidate in (*self.kept, *self.rejected) if candidate.tags.coverage}
        most = max(Counter(candidate.domain for candidate in self.kept).values(), default=0)
        if len(domains) >= MIN_DOMAINS and 3 * most > len(self.kept):
            raise ValueError(f"one domain has {most} of {len(self.kept)} places of the shortlist; a third is the bound")
        return self


# ---- what the scout is asked


class CandidateView(Frozen):
    """A candidate as the scout sees it: under a number."""

    number: int = Field(ge=1)
    title: Text
    domain: Text
    author: str | None = None
    published: str | None = None
    themes: tuple[str, ...] = ()
    excerpt: str = ""


class ScoutInput(Frozen):
    """What the scout is given: what is looked for, and what a sweep found."""

    query: Text
    objective: Text
    questions: tuple[Text, ...] = Field(min_length=1)
    candidates: tuple[CandidateView, ...] = Field(min_length=1)
    language: Text = "en"
    query_type: QueryType = "other"
    today: str = ""


class Judged(Frozen):
    """What the scout makes of one candidate."""

    number: int
    authority: Authority
    theme: str
    """What it is about, in a few words; the same words for candidates about the same."""
    perspective: str
    """Whose view it gives, in a few words; the same words for the same view."""
    answers: tuple[int, ...]
    """Numbers of the questions that it seems to answer."""
    rationale: str
    """Why it is worth reading, or not, in one sentence."""


class ScoutJudgement(Frozen):
    """One judgement for each candidate."""

    candidates: tuple[Judged, ...]
