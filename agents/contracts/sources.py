"""Sources: documents that were really retrieved, and the hits that point at them.

The scout: candidates with their tags, the shortlist it makes of them, and what it is asked.
"""

from bisect import bisect_right
from collections import Counter
from typing import Literal

from pydantic import Field, model_validator

from agents.contracts.frozen import Frozen, QueryType, Reasoned, Said, Text, Told, digest

SourceKind = Literal["web", "library", "upload", "sample"]
"""Where a document came from; `sample` marks the invented documents that ship with the program."""

PROVIDER_COPY = "copy of the search provider {provider}, of unknown date"
"""Tag of a page that was not fetched: its text came with a hit, and may be days or months old."""
HEAD_CHARS = 240
"""Characters of a document's beginning that say what it is about."""


class Hit(Frozen):
    """One search result: an address worth reading, not yet a source."""

    url: Text
    """Canonical address; `library:` addresses name a document by folder and path."""
    title: str
    snippet: str = ""
    """The words that matched, as shown by the provider; never evidence."""
    score: float = 0.0
    """The provider's own ranking figure, higher is better; comparable within one result only."""
    published: str | None = None
    """ISO date, as precise as known."""
    provider: str = ""


class SourceLimits(Frozen):
    """What documents may be searched for and read; empty fields limit nothing. Domains are no matter of a user's files."""

    domains: tuple[str, ...] = ()
    """Nothing else is searched or read."""
    exclude_domains: tuple[str, ...] = ()
    date_from: str | None = None
    """ISO date, inclusive; a document of unknown date may be used."""
    date_to: str | None = None
    """ISO date, inclusive."""


class SearchQuery(SourceLimits):
    """What one search asks for."""

    text: Text
    max_results: int = Field(default=8, ge=1, le=50)


SearchFault = Literal["auth", "quota", "rate", "timeout", "connection", "server", "nonsense", "query", "resting"]
"""What went wrong at a search provider. `resting`: it failed a while ago and is not asked for now."""


class SearchFailure(Frozen):
    """One provider that was asked for a search and did not answer."""

    provider: Text
    fault: SearchFault
    reason: Text
    """For people, without keys: `tavily refused the key`."""


class SearchResult(Frozen):
    """The hits of one search, best first; empty when nothing matched, which is not a failure."""

    query: Text
    provider: str
    hits: tuple[Hit, ...] = ()
    failures: tuple[SearchFailure, ...] = ()
    """Providers that failed on the way. With any, the search was limited although it answered."""


class SentenceSpan(Frozen):
    """One sentence of a source: its number and where it stands in the text."""

    number: int = Field(ge=1)
    start: int = Field(ge=0)
    """First character, counted from 0 in the source text."""
    end: int
    """One past the last character."""


class SourceCard(Frozen):
    """A document that was really retrieved, without its text: for lists, references and findings."""

    id: Text
    """Stable in a job: a digest of the canonical address."""
    url: Text
    title: Text
    kind: SourceKind
    author: str | None = None
    site: str | None = None
    published: str | None = None
    """ISO date, as precise as the document says."""
    retrieved: str | None = None
    """ISO date and time of reading, UTC."""
    text_hash: Text
    language: str | None = None
    tags: tuple[Said, ...] = ()
    """What was not read of it: pages that are pictures, the rest behind a wall, all but the abstract."""
    pages: tuple[int, ...] = ()
    """Where each page begins in the text, first page first; nothing for a document without pages."""
    head: str = ""
    """Its first words: what it says that it is about."""
    chars: int = Field(default=0, ge=0)
    """Characters of its text; 0 where unknown."""
    version: str = ""
    """What its server called this version of the page, or its day: asked with it, an unchanged page is not sent again."""

    def page_of(self, start: int) -> int | None:
        """Give the number of the page, counted from 1, on which the character at `start` stands; None without pages."""
        return max(1, bisect_right(self.pages, start)) if self.pages else None

    @classmethod
    def of(cls, source: "Source") -> "SourceCard":
        """Describe `source` without its text."""
        head = " ".join(source.text[:HEAD_CHARS].split())
        return SourceCard(**{**source.model_dump(exclude={"text"}), "head": head, "chars": len(source.text)})


class Source(SourceCard):
    """A document that was really retrieved, with the text that quotes are held against."""

    text: str
    """The whole extracted text; spans and quotes refer to it, character by character."""

    @model_validator(mode="after")
    def _hash_is_of_the_text(self) -> "Source":
        if self.text_hash != digest(self.text):
            raise ValueError("text_hash is not the digest of text")
        return self

    @staticmethod
    def id_of(url: str) -> str:
        return "s" + digest(url, 12)


class OwnFile(Frozen):
    """A file that the user gave in the chat: a document of that chat's research, and of nobody else's."""

    name: Text
    """As the user's computer calls it, without anything that is no name."""
    card: SourceCard
    """Its text lies in the blob store, under the hash that the contract binds."""
    gaps: tuple[Said, ...] = ()
    """What of it could not be read."""


Place = Literal["library", "web"]
"""Where a search can go beside the user's own files."""


class RejectedSource(Reasoned):
    """A document that was found and not used, with the reason."""

    url: Text
    title: str = ""
    """As far as it is known."""
    read: bool = False
    """Whether its text was read before it was set aside."""


class DocumentNote(Frozen):
    """One line of a survey: what a document is about, without its text."""

    title: Text
    themes: tuple[str, ...] = ()
    """Its most telling words and phrases, most telling first."""
    published: str | None = None
    language: str | None = None


class CorpusSurvey(Frozen):
    """What the searchable documents talk about, for planning before anything is read."""

    documents: tuple[DocumentNote, ...] = ()
    """Documents that match the question, best first, when one was given; else all of them."""
    total: int = Field(default=0, ge=0)
    """Documents that can be searched in all."""
    matching: int = Field(default=0, ge=0)
    """Documents in which at least two telling words of the question (or its only one) occur."""
    themes: tuple[str, ...] = ()
    """Telling words and phrases of the corpus, most widespread first."""
    web: bool = False
    """True when the open web is searched, so that the documents listed are not all there is."""


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


class Candidate(Reasoned):
    """A document that a sweep found, with the reason why it was kept, or why it was not."""

    url: Text
    title: Text
    domain: Text
    """Registrable domain; for a document its publisher or author, else the document itself."""
    published: str | None = None
    tags: SourceTags
    excerpt: str = ""
    """A few of its sentences; for choosing, never evidence."""


class Shortlist(Frozen):
    """A curated list of sources, best first, and what was left out and why."""

    kept: tuple[Candidate, ...] = ()
    rejected: tuple[Candidate, ...] = ()
    balance: tuple[Said, ...] = ()
    """Tags on how well the list is balanced, for example `sites: 4/6` or `not answered: …`."""

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


class ScoutInput(Told):
    """What the scout is given: what is looked for, and what a sweep found."""

    query: Text
    objective: Text
    questions: tuple[Text, ...] = Field(min_length=1)
    candidates: tuple[CandidateView, ...] = Field(min_length=1)
    acceptance_criteria: tuple[str, ...] = ()
    query_type: QueryType = "other"


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
