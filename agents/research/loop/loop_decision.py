"""The loop decision: whether a phase goes on for another round, derived by code from what the reflector said.

A reflector that always wants more, or finds new gaps for ever, is stopped by the figures it has no say in. Beside it the
arithmetic of a node's rounds: what is proposed, what counts as found, what a round changed. Pure.
"""

import math
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Literal

from agents.contracts.fact import Fact, Insights, LinkedSource
from agents.contracts.finding import Finding
from agents.contracts.frozen import Frozen, Said
from agents.contracts.plan import (
    MAX_ATTEMPTS,
    Leaf,
    LeafBudget,
    LoopDecision,
    Node,
    ReflectionResponse,
    RetryState,
    TaskSpec,
    added_up,
)
from agents.contracts.sources import SourceCard
from agents.offline.questions import asks_for_facts, parts_of
from agents.research.loop.success import Success, below, explain
from agents.research.loop.topics import repeated
from agents.research.reading.answering import answer_of, told_by

Cause = Literal[
    "continue", "sufficient", "no_gaps", "time", "iterations", "exhausted", "criteria", "novelty", "finishing",
    "no_reflection",
]  # fmt: skip
"""What decided, for code and for texts in other languages than English."""

MAX_GAPS = 50
"""Gaps and queries of one reflection that are looked at: more than this is noise, not judgement."""

_TAGS: dict[Cause, str] = {
    "time": "#TIME_LIMIT", "iterations": "#ITERATION_LIMIT", "exhausted": "#RETRY_EXHAUSTED", "novelty": "#EARLY_STOP",
}  # fmt: skip
_URL = re.compile(r"(?:https?://|library:|upload:)[^\s<>\"'“”]+")
_CLOSING = ".,;:!?)]}'"


@dataclass(frozen=True)
class Decided:
    """A decision with the reason that is recorded beside it."""

    decision: LoopDecision
    reason: str
    """One sentence."""
    tag: str
    """Response-awareness tag for Methodology; empty when there is nothing to tell the reader."""
    cause: Cause
    topics: tuple[str, ...] = ()
    """What the reflection wants searched and what may still be tried, the next topic first."""


def decide(
    *, iteration: int, max_iterations: int, reflection: ReflectionResponse | None, left_s: float | None, reserve_s: float,
    retries: Mapping[str, RetryState], criteria_met: bool, novelty: float | None, novelty_threshold: float, early_termination: bool,
    finishing: bool, summary: str,
) -> Decided:  # fmt: skip
    """Decide whether a phase goes on; the first reason that holds is the one recorded.

    `left_s` is None when unlimited, and below zero after a clock jump; no `reflection` (it failed, or nobody was asked) ends
    the phase; `novelty` is None where it was not measured. `max_iterations` is the smaller of the phase's limit and what
    is left of the node's cap, and `iteration` counts from 1.
    """
    left = None if left_s is None or left_s == math.inf else max(0.0, left_s)  # what the stored JSON can hold
    gaps = _clean(reflection.gaps) if reflection else ()
    out_of_time = left is not None and left < reserve_s
    dull = novelty is not None and below(novelty, novelty_threshold, early_termination)
    given_up = exhausted(retries)
    spent = bool(gaps) and all(_exhausted(gap, given_up) for gap in gaps)
    reasons: tuple[tuple[bool, Cause, str], ...] = (
        (reflection is not None and reflection.sufficient, "sufficient", "The reflection finds the answer sufficient."),
        (reflection is not None and not gaps, "no_gaps", "No gap is left." if criteria_met else NO_NEXT),
        (out_of_time, "time", f"{left or 0:.0f} seconds are left, less than the {reserve_s:.0f} kept for writing."),
        (iteration >= max_iterations, "iterations", f"Round {iteration} of at most {max_iterations} has ended."),
        (spent, "exhausted", "Every gap that is left has failed as often as it may be tried."),
        (criteria_met, "criteria", "The success criteria of the phase are met."),
        (dull, "novelty", explain(novelty or 0.0, novelty_threshold)),
        (finishing, "finishing", "The user asked to finish with what is there."),
        (reflection is None, "no_reflection", "There is no reflection to go on from; the facts are written up."),
    )
    said = ((cause, reason) for holds, cause, reason in reasons if holds)
    cause, reason = next(said, ("continue", "Gaps are open and budget is left."))
    queries = _clean(reflection.new_queries) if reflection else ()
    going_on = cause == "continue"
    tried = (*gaps, *queries) if going_on else ()
    # A reflector that gives no query is held to its first open gap.
    open_topics = (one for one in (*queries, *gaps) if going_on and not _url(one) and not _exhausted(one, given_up))
    decision = LoopDecision(
        iteration=iteration, summary=summary, gaps=gaps, shouldContinue=going_on, nextSearchTopic=next(open_topics, None),
        urlToSearch=next((url for one in tried if (url := _url(one)) and url not in given_up), None),
        timeRemainingMinutes=None if left is None else round(left / 60, 2),
    )  # fmt: skip
    topics = tuple(query for query in queries if not _url(query) and not _exhausted(query, given_up))
    return Decided(decision=decision, reason=reason, tag=_TAGS.get(cause, ""), cause=cause, topics=topics)


def without_invented(reflection: ReflectionResponse, named: Container[str]) -> ReflectionResponse:
    """Take addresses out that no search, page or user has named: a model, or a page that it obeys, may not send us anywhere.

    What a model makes up may carry what it has read to whoever owns the address.
    """

    def plain(texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(
            _URL.sub(lambda found: found[0] if found[0].rstrip(_CLOSING) in named else "", one) for one in texts
        )

    return reflection.model_copy(update={"gaps": plain(reflection.gaps), "new_queries": plain(reflection.new_queries)})


def lacks_a_fact(query: str, findings: Sequence[Finding]) -> bool:
    """Tell whether a query that asks for facts has no answer yet that holds."""
    rows = told_by(facts_of(findings), sources_of(findings))
    return asks_for_facts(query) and any(answer_of(part, rows)[0] != "answered" for part in parts_of(query))


MOST_STEPS = 2
"""Next steps that code adds to those of a model."""


def with_steps(reflection: ReflectionResponse, seen: ReflectionResponse) -> ReflectionResponse:
    """Add the next steps that code sees to those that the model wants, where these don't name them."""
    asked = " ".join(reflection.new_queries).casefold()
    steps = [one for one in seen.new_queries if one.partition(":")[0].casefold() not in asked][:MOST_STEPS]
    if not steps:
        return reflection
    gaps = reflection.gaps or seen.gaps
    update = {"sufficient": False, "gaps": gaps, "new_queries": (*reflection.new_queries, *steps)}
    return reflection.model_copy(update=update)


def named_addresses(findings: Sequence[Finding]) -> frozenset[str]:
    """List the addresses that a search, a page's own words or the user gave."""
    found = [card.url for card in sources_of(findings)] + [fact.quote for fact in facts_of(findings)]
    for one in findings:
        found += [refused.url for refused in one.rejected]
        found += [candidate.url for candidate in (one.shortlist.kept if one.shortlist else ())]
    found += [linked.url for linked in linked_from(findings)]
    return frozenset(one.rstrip(_CLOSING) for text in found for one in _URL.findall(text))


def _clean(texts: Iterable[str]) -> tuple[str, ...]:
    """Drop empty texts, repetitions, and what no one will read."""
    found: dict[str, str] = {}
    for text in texts:
        if line := " ".join(text.split()):
            found.setdefault(line.casefold(), line)
    return tuple(found.values())[:MAX_GAPS]


def _exhausted(text: str, given_up: tuple[str, ...]) -> bool:
    """Tell whether a gap maps to an exhausted key: its own, that of its address, or one that it merely rewords."""
    url = _url(text)
    return text in given_up or (url in given_up if url else bool(repeated(text, given_up)))


def _url(text: str) -> str:
    found = _URL.search(text)
    return found[0].rstrip(_CLOSING) if found else ""


NO_NEXT = "No gap is named that a search could close, though the success criteria of the phase are not met."
LOWERED = 0.02
"""By how much confidence must fall, without more coverage, for a round not to be adopted."""
MAX_STATEMENTS = 40
"""Statements that the reflector is shown whole; of the others it is told where they are from."""
TITLE_CHARS = 160


class LoopSettings(Frozen):
    """What bounds the rounds of every node."""

    max_rounds: int = 3
    """Per node, over all its phases."""
    side_by_side: int = 5
    """Children of one round."""
    novelty_threshold: float = 0.15
    early_termination: bool = True
    searches_per_leaf: int = 5
    read_together: bool = False
    """A page is read once, with the questions of all leaves of a round: where a model reads. The offline engine chooses
    sentences for each question anew, and gains nothing by it."""


def topic_of(child: Leaf | Node) -> str:
    """Name what a child is about, for the ledger of dispatched topics and for failed attempts at it."""
    return (child.questions[0] if child.questions else child.objective) if isinstance(child, Leaf) else child.objective


def topics_of(children: tuple[Leaf | Node, ...]) -> dict[str, Leaf | Node]:
    """Name all children of a round; those that ask the same are told apart by their titles."""
    named: dict[str, Leaf | Node] = {}
    for child in children:
        topic = topic_of(child)
        named.setdefault(topic if topic not in named else f"{child.title}: {topic}", child)
    return named


def next_leaves(
    decision: LoopDecision, wanted: tuple[str, ...], gaps: tuple[str, ...], budget: LeafBudget, *, sweep: bool = False
) -> tuple[Leaf, ...]:
    """Turn what the reflection wants next into leaves of the same node; never into executors.

    With `sweep` the first topic is looked for from several sides, its sources chosen and their links followed.
    """
    topics = list(dict.fromkeys(q.strip() for q in (decision.nextSearchTopic or "", *wanted) if q.strip()))
    leaves = list(leaves_on(topics, budget))
    if sweep and leaves:
        task = TaskSpec(questions=leaves[0].questions, budget=budget, discovery_intense=True)
        leaves[0] = leaves[0].model_copy(update={"discovery": True, "spec": task})
    if url := decision.urlToSearch:
        about = topics[0] if topics else gaps[0]
        named = Leaf(title=_title(about), objective=about, questions=(about,), sources=(url,), budget=budget)
        leaves.insert(0, named)
    return tuple(leaves)


def came_to_nothing(findings: Sequence[Finding]) -> bool:
    """Tell whether a leaf found nothing to the point where no sweep for sources was made yet."""
    parts = parts_in(findings)
    return any(one.status == "empty" for one in parts) and not any(one.shortlist for one in parts)


def leaves_on(topics: Sequence[str], budget: LeafBudget) -> tuple[Leaf, ...]:
    """Make a leaf of each topic, which is its question and its search."""
    return tuple(
        Leaf(title=_title(topic), objective=topic, questions=(topic,), searches=(topic,), budget=budget)
        for topic in topics
    )


def _title(topic: str) -> str:
    """Make the title of a leaf out of its topic, as a rule all of it: a heading that is cut says nothing."""
    text = " ".join(topic.split()).rstrip("?.!")
    return shorten(text, TITLE_CHARS, placeholder="", break_on_hyphens=False).rstrip(",;:(")


def parts_in(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """List some findings and all below them."""
    return tuple(part for finding in findings for part in finding.walk())


def facts_of(findings: Sequence[Finding]) -> tuple[Fact, ...]:
    """List the facts of several findings, each once."""
    return tuple({fact.id: fact for finding in findings for fact in finding.all_facts()}.values())


def sources_of(findings: Sequence[Finding]) -> tuple[SourceCard, ...]:
    """List the sources of several findings, each once."""
    return tuple({card.id: card for finding in findings for card in finding.all_sources()}.values())


def statements_of(findings: Sequence[Finding]) -> tuple[str, ...]:
    """Put what was found into lines for the reflector, most certain first, with the source behind each."""
    titles = {card.id: card.title for card in sources_of(findings)}
    facts = sorted(facts_of(findings), key=lambda fact: -fact.confidence)
    said: dict[str, dict[str, None]] = {}
    for fact in facts:
        # What several sources say stands there once, with all of them behind it.
        said.setdefault(" ".join(fact.statement.split()), {}).setdefault(titles[fact.source_id])
    lines = [f"{statement} [{'; '.join(by)}]" for statement, by in said.items()]
    # What is not shown is named by its sources: the reflector knows that there is more, and where.
    left = dict.fromkeys(title for by in list(said.values())[MAX_STATEMENTS:] for title in by)
    more = [f"{len(lines) - MAX_STATEMENTS} more, not shown [{'; '.join(left)}]"] if left else []
    return (*lines[:MAX_STATEMENTS], *more)


def retries_of(findings: Sequence[Finding]) -> dict[str, RetryState]:
    """Add up the failures that leaves recorded."""
    return added_up(entry for part in parts_in(findings) for entry in part.attempts)


def exhausted(retries: Mapping[str, RetryState]) -> tuple[str, ...]:
    """List what was given up, sorted."""
    return tuple(sorted(key for key, one in retries.items() if one.status == "exhausted"))


MAX_RAISED = 6
"""Questions, gaps and addresses of sources that one reflection is shown, at most of each."""
FEW_HITS = 3
"""Fewer are next to nothing (specification, section 11)."""


def insights_of(findings: Sequence[Finding]) -> tuple[Insights, ...]:
    """List what the sources of several findings state beside their answers."""
    return tuple(one for part in parts_in(findings) for one in part.insights)


def raised_by(findings: Sequence[Finding]) -> tuple[str, ...]:
    """List the questions that sources raise, most telling first, and the limits that they state."""
    found = insights_of(findings)
    asked = sorted((one for each in found for one in each.follow_up_questions), key=lambda one: -one.confidence)
    questions = [f"{one.question} ({one.rationale})" for one in asked]
    gaps = [gap for each in found for gap in each.source_identified_gaps]
    return tuple(dict.fromkeys((*questions[:MAX_RAISED], *gaps[:MAX_RAISED])))


def linked_from(findings: Sequence[Finding]) -> tuple[LinkedSource, ...]:
    """List what sources point at and nobody has tried to read, most wanted first."""
    tried = {card.url for card in sources_of(findings)}
    for part in parts_in(findings):
        tried |= {one.url for one in part.rejected} | {one.key for one in part.attempts}
    links = {one.url: one for each in insights_of(findings) for one in each.linked_candidate_sources}
    fresh = sorted((one for url, one in links.items() if url not in tried), key=lambda one: -one.priority)
    return tuple(fresh[:MAX_RAISED])


def failed_queries(findings: Sequence[Finding]) -> tuple[str, ...]:
    """List the searches that failed or found next to nothing, each with the attempt that its sub-question is at."""
    records = [(record, part.attempt_number) for part in parts_in(findings) for record in part.searches]
    few = {record.text: number for record, number in records if record.failed or record.hits < FEW_HITS}
    return tuple(f"{text} (attempt {number} of {MAX_ATTEMPTS})" for text, number in few.items())


def lowered(before: Success | None, after: Success) -> bool:
    """Tell whether a round made things worse: less confidence and no more coverage."""
    return before is not None and after.confidence < before.confidence - LOWERED and after.coverage <= before.coverage


def delta(before: Success | None, after: Success, new_facts: int, new_sources: int, skipped: int) -> str:
    """Say in one sentence what a round changed."""
    coverage = f"coverage {before.coverage if before else 0:.0%} to {after.coverage:.0%}"
    confidence = f"confidence {before.confidence if before else 0:.2f} to {after.confidence:.2f}"
    skips = f", {skipped} repeated {'topic' if skipped == 1 else 'topics'} skipped" if skipped else ""
    return f"{new_facts} new facts from {new_sources} new sources: {coverage}, {confidence}{skips}."


def nothing_answers(findings: Sequence[Finding]) -> bool:
    """Tell whether all searches of these findings failed, so that nothing was found."""
    searches = [record for part in parts_in(findings) for record in part.searches]
    return bool(searches) and all(record.failed for record in searches) and not facts_of(findings)


def unused(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Keep a round's findings without their prose: flagged, and not used for the section."""
    why = Said("not used: it lowered the confidence of what was known")
    return tuple(
        one.model_copy(
            update={"markdown": "", "children": unused(one.children), "note": one.note or why,
                    "status": "partial" if one.status == "done" else one.status}
        )
        for one in findings
    )  # fmt: skip


LEARNED, MAX_LEARNED = 2, 240
"""Statements by which a round's summary says what was learned, and characters of each."""


def summary_of(new: tuple[Finding, ...], facts: Sequence[Fact]) -> str:
    """Say what a round brought, and what was learned from it first of all."""
    delivered = sum(1 for finding in new if finding.status == "done")
    said = f"{delivered} of {len(new)} branches delivered; {len(facts)} new facts."
    surest = sorted(facts, key=lambda fact: -fact.confidence)[:LEARNED]
    return " ".join((said, *(" ".join(fact.statement.split())[:MAX_LEARNED] for fact in surest)))
