"""Making a shortlist: what a sweep found is scored, balanced and cut, each choice with its reason. Pure.

A step of a sweep: copies put together, and what is known of the other texts before anybody judges them.
"""

import re
from collections import Counter
from collections.abc import Callable, Container, Hashable, Mapping, Sequence
from typing import TypeVar

from pydantic import Field

from agents.contracts.frozen import Frozen, Said, Text
from agents.contracts.plan import Leaf
from agents.contracts.sources import (
    MIN_DOMAINS,
    Authority,
    Candidate,
    CandidateView,
    Judged,
    Recency,
    Shortlist,
    SourceCard,
    SourceTags,
)
from agents.core.port import computed
from agents.nlp.similarity import copies, is_about_the_same, shingles
from agents.nlp.tokens import content_words
from agents.research.fit_input import summarised
from agents.research.run_context import RunContext
from agents.search.telling_terms import phrases, telling
from agents.web.url_key import publisher

AUTHORITY: Mapping[Authority, float] = {
    "primary": 1.0, "secondary": 0.6, "unknown": 0.4, "interested": 0.3, "tertiary": 0.2,
}  # fmt: skip
RECENCY: Mapping[Recency, float] = {"current": 1.0, "recent": 0.8, "older": 0.4, "undated": 0.3}
CURRENT_YEARS, RECENT_YEARS = 1, 5
ENOUGH_FACTS = 4
"""Statements of the quick scan from which more say nothing further of a source's worth."""
UNANSWERING = "it answers none of the questions"
NEW_QUESTION, NEW_GROUP = 0.35, 0.15
"""What it is worth that a source answers a question, or shows a theme and perspective, that none chosen before does."""

_T = TypeVar("_T")
_YEAR = re.compile(r"\d{4}")


class Scanned(Frozen):
    """A candidate that was read, as far as choosing needs it."""

    url: Text
    card: SourceCard
    themes: tuple[str, ...] = ()
    excerpt: str = ""


class WeighedCandidate(Scanned):
    """A candidate with all that is known of it."""

    judged: Judged
    facts: tuple[str, ...] = ()
    """The question that each statement of the quick scan answers."""
    was_scanned: bool = False

    @property
    def domain(self) -> str:
        return domain_of(self.card)

    @property
    def group(self) -> tuple[str, ...]:
        """Its theme and perspective."""
        return tuple(" ".join(text.casefold().split()) for text in (self.judged.theme, self.judged.perspective))

    def coverage(self, questions: tuple[str, ...]) -> tuple[str, ...]:
        """Give the questions that it answers: those that the quick scan answered, where there was one with an answer."""
        found = tuple(question for question in questions if question in self.facts)
        named = tuple(questions[number - 1] for number in self.judged.answers if 1 <= number <= len(questions))
        return found or named or tuple(dict.fromkeys(self.facts))

    def score(self, questions: int, today: str) -> float:
        """Say what it is worth by itself, 0 to 1."""
        answered = len(set(self.facts or self.judged.answers))
        recency = RECENCY[recency_of(self.card.published, today)]
        facts = min(1.0, len(self.facts) / ENOUGH_FACTS)
        covers = min(1.0, answered / max(1, questions))
        return round(0.4 * covers + 0.3 * AUTHORITY[self.judged.authority] + 0.15 * recency + 0.15 * facts, 4)


def domain_of(card: SourceCard) -> str:
    """Name who speaks."""
    return publisher(card.url, card.site or card.author)


def recency_of(published: str | None, today: str) -> Recency:
    """Tag a date as against today's; without one of the two there is nothing to tell."""
    then, now = _YEAR.match(published or ""), _YEAR.match(today)
    if then is None or now is None:
        return "undated"
    years = int(now[0]) - int(then[0])
    return "current" if years <= CURRENT_YEARS else "recent" if years <= RECENT_YEARS else "older"


def view_of(number: int, one: Scanned) -> CandidateView:
    """Show a candidate to the scout."""
    return CandidateView(
        number=number, title=one.card.title, domain=domain_of(one.card), author=one.card.author,
        published=one.card.published, themes=one.themes, excerpt=one.excerpt,
    )  # fmt: skip


def turns(ranked: Sequence[_T], group_of: Callable[[_T], Hashable]) -> list[_T]:
    """Order things so that each group has its turn before any has a second one; within a group the order stays."""
    place: Counter[Hashable] = Counter()
    turn: list[int] = []
    for one in ranked:
        turn.append(place[group_of(one)])
        place[group_of(one)] += 1
    return [ranked[at] for at in sorted(range(len(ranked)), key=turn.__getitem__)]


def shortlist(
    weighed: Sequence[WeighedCandidate], questions: tuple[str, ...], size: int, today: str,
    rejected: tuple[Candidate, ...] = (),
) -> Shortlist:  # fmt: skip
    """Choose at most `size` sources: worth first, each new question and view counting extra, no domain above a third.

    A list shorter than three places could not keep that bound. `rejected` were not read, or are copies of others.
    """
    useful = [one for one in weighed if one.coverage(questions)]
    bounded = len({one.domain for one in useful}) >= MIN_DOMAINS
    why: dict[str, str] = {}
    for places in range(min(max(size, MIN_DOMAINS), len(useful)), 0, -1):
        why = _chosen(useful, places, places // 3 if bounded else places, questions, today)
        if len(why) == places:
            break
    found = {one.url: one for one in weighed}
    kept = tuple(_candidate(found[url], questions, today, reason) for url, reason in why.items())
    taken = Counter(candidate.domain for candidate in kept)
    full = {domain for domain, count in taken.items() if bounded and count >= max(1, len(why) // 3)}
    left = tuple(
        _candidate(one, questions, today, _exclusion(one, full) if one in useful else UNANSWERING)
        for one in weighed
        if one.url not in why
    )
    return Shortlist(kept=kept, rejected=(*left, *rejected), balance=_balance(kept, (*kept, *left), questions))


def not_read(url: str, title: str, published: str | None, domain: str, today: str, reason: str) -> Candidate:
    """Describe a candidate that could not be read, was not reached, or repeats another."""
    tags = SourceTags(
        authority="unknown", recency=recency_of(published, today), coverage=(), diversity="", rationale=reason
    )
    return Candidate(url=url, title=title, domain=domain, published=published, tags=tags, reason=reason)


def fed(leaf: Leaf, siblings: Sequence[Leaf], found: Sequence[Candidate]) -> Leaf:
    """Add the sources of a shortlist that concern a leaf to its own, within its budget and leaving room for searches.

    A source concerns a leaf when it holds a word of its questions that does not stand in those of every sibling.
    """
    words = {one.title: _words_of(one) for one in (leaf, *siblings)}
    everywhere = frozenset.intersection(*words.values()) if len(words) > 1 else frozenset()
    own = words[leaf.title] - everywhere or words[leaf.title]
    scored: list[tuple[int, int, str]] = []
    for place, candidate in enumerate(found):
        held = content_words(f"{candidate.title} {candidate.tags.diversity} {candidate.excerpt}")
        if shared := len(own.intersection(held)):
            scored.append((-shared, place, candidate.url))
    room = min(leaf.budget.sources - len(leaf.sources), -(-leaf.budget.sources // 2))
    added = [url for _, _, url in sorted(scored) if url not in leaf.sources][: max(0, room)]
    return leaf.model_copy(update={"sources": (*leaf.sources, *added)})


def _words_of(leaf: Leaf) -> frozenset[str]:
    return frozenset(content_words(" ".join((leaf.objective, *leaf.questions))))


def _chosen(
    useful: Sequence[WeighedCandidate], places: int, bound: int, questions: tuple[str, ...], today: str
) -> dict[str, str]:
    """Take the most worthy first; the worth of the rest falls as what they bring is already there.

    Gives for each address what it brings that those before it do not, best first.
    """
    why: dict[str, str] = {}
    answered: set[str] = set()
    groups: set[tuple[str, ...]] = set()
    taken: Counter[str] = Counter()

    def worth(one: WeighedCandidate) -> float:
        new = not answered.issuperset(one.coverage(questions))
        return one.score(len(questions), today) + NEW_QUESTION * new + NEW_GROUP * (one.group not in groups)

    while len(why) < places:
        free = [one for one in useful if one.url not in why and taken[one.domain] < bound]
        if not free:
            break
        best = max(free, key=worth)
        coverage = best.coverage(questions)
        parts = ["a primary source"] if best.judged.authority == "primary" else []
        if new := len(set(coverage) - answered):
            parts.append(f"answers {new} {'question' if new == 1 else 'questions'} that no source before it does")
        elif coverage:
            parts.append(f"a further witness for {len(coverage)} {'question' if len(coverage) == 1 else 'questions'}")
        if groups and best.group not in groups:
            parts.append("another theme or view")
        why[best.url] = "kept: " + (", ".join(parts) or "the next best")
        answered.update(coverage)
        groups.add(best.group)
        taken[best.domain] += 1
    return why


def _candidate(one: WeighedCandidate, questions: tuple[str, ...], today: str, reason: str) -> Candidate:
    card, judged = one.card, one.judged
    said = " · ".join(part for part in (judged.theme.strip(), judged.perspective.strip()) if part)
    tags = SourceTags(
        authority=judged.authority, recency=recency_of(card.published, today), coverage=one.coverage(questions),
        diversity=said or card.title, rationale=judged.rationale.strip() or "no rationale was given",
    )  # fmt: skip
    return Candidate(
        url=one.url, title=card.title, domain=one.domain, published=card.published, tags=tags, excerpt=one.excerpt,
        reason=reason,
    )  # fmt: skip


def _exclusion(one: WeighedCandidate, full: Container[str]) -> str:
    if one.domain in full:
        return Said("its site already has its share of the list ({domain})", domain=one.domain)
    return "ranked below those kept" if one.was_scanned else "others of its theme and view were ahead of it"


def _balance(
    kept: Sequence[Candidate], everything: Sequence[Candidate], questions: tuple[str, ...]
) -> tuple[Said, ...]:
    """Tag how well the list is balanced: domains, authority, views, dates, and the questions that nothing answers."""
    if not kept:
        return (Said("nothing kept"),)
    covered = {question for candidate in kept for question in candidate.tags.coverage}
    years = sorted(match[0] for candidate in kept if (match := _YEAR.match(candidate.published or "")))
    primary = sum(candidate.tags.authority == "primary" for candidate in kept)
    views = len({candidate.tags.diversity for candidate in kept})
    tags = [
        Said("sites: {n}/{all}", n=len({one.domain for one in kept}), all=len({one.domain for one in everything})),
        Said("primary sources: {n}/{all}", n=primary, all=len(kept)),
        Said("themes and views: {n}", n=views),
        Said("questions answered: {n}/{all}", n=len(covered), all=len(questions)),
        *([Said("dates: {first}–{last}", first=years[0], last=years[-1])] if years else []),
    ]
    left = (question for question in questions if question not in covered)
    return (*tags, *(Said("not answered: {question}", question=question) for question in left))


MAX_CHARS = 60_000
"""Characters of a text from which themes and sentences are taken."""
MAX_COMPARED = 300_000
"""Characters that are held against other texts to find copies."""
THEMES = 5
EXCERPT = 900
"""Characters of the sentences that the scout is shown of a candidate: those that say most of what is asked."""


class Sifted(Frozen):
    """Candidates without copies, and the copies."""

    scanned: tuple[Scanned, ...] = ()
    copies: dict[str, str] = Field(default_factory=dict)
    """Addresses of texts that others say as well, each with the other's."""


async def sift(context: RunContext, found: tuple[tuple[str, SourceCard], ...], questions: tuple[str, ...]) -> Sifted:
    """Put copies of one text together, and say of the others what they are about."""
    texts = [await context.texts.get(card.text_hash) for _, card in found]
    return await computed(_sifted, found, texts, questions)


def _sifted(found: tuple[tuple[str, SourceCard], ...], texts: list[str], questions: tuple[str, ...]) -> Sifted:
    first: dict[str, int] = {}
    same: dict[int, int] = {}
    for number, (_, card) in enumerate(found):
        for key in (f"id {card.id}", f"text {card.text_hash}"):
            if first.setdefault(key, number) != number:
                same.setdefault(number, first[key])
    apart = {number: shingles(texts[number][:MAX_COMPARED]) for number in range(len(found)) if number not in same}
    same |= copies(apart, lambda copy, of: is_about_the_same(found[copy][1].title, texts[copy], texts[of]))
    own = [number for number in range(len(found)) if number not in same]
    told = {number: phrases(texts[number][:MAX_CHARS], found[number][1].title) for number in own}
    spread = Counter(phrase.key for each in told.values() for phrase in each)
    wanted = frozenset(word for question in questions for word in content_words(question))
    scanned = (
        Scanned(
            url=url, card=card, themes=telling(told[number], spread, len(own), THEMES),
            excerpt=summarised(texts[number][:MAX_CHARS], EXCERPT, wanted),
        )
        for number in own
        for url, card in (found[number],)
    )  # fmt: skip
    copied = {found[number][0]: found[of][0] for number, of in sorted(same.items())}
    return Sifted(scanned=tuple(scanned), copies=copied)
