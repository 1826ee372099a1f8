"""The arithmetic of a node's rounds: what is proposed, what counts as found, what a round changed. Pure."""

from collections import Counter

from agents.contracts.fact import Fact
from agents.contracts.finding import Finding
from agents.contracts.frozen import Frozen
from agents.contracts.loop_decision import LoopDecision
from agents.contracts.plan import Leaf, LeafBudget, Node
from agents.contracts.source import SourceCard
from agents.research.loop.retry_tracking import Retries
from agents.research.loop.success import Success
from agents.research.loop.topics import THRESHOLD

LOWERED = 0.02
"""By how much confidence must fall, without more coverage, for a round not to be adopted."""
MAX_STATEMENTS = 60
"""Statements that the reflector is shown whole; of the others it is told where they are from."""
TITLE_CHARS = 90


class LoopSettings(Frozen):
    """What bounds the rounds of every node."""

    max_rounds: int = 3
    """Per node, over all its phases."""
    side_by_side: int = 5
    """Children of one round."""
    novelty_threshold: float = 0.15
    early_termination: bool = True
    topic_threshold: float = THRESHOLD
    searches_per_leaf: int = 5


def topic_of(child: Leaf | Node) -> str:
    """Name what a child is about, for the ledger of dispatched topics."""
    return (child.questions[0] if child.questions else child.objective) if isinstance(child, Leaf) else child.objective


def topics_of(children: tuple[Leaf | Node, ...]) -> dict[str, Leaf | Node]:
    """Name all children of a round; those that ask the same are told apart by their titles."""
    named: dict[str, Leaf | Node] = {}
    for child in children:
        topic = topic_of(child)
        named.setdefault(topic if topic not in named else f"{child.title}: {topic}", child)
    return named


def next_leaves(
    decision: LoopDecision, wanted: tuple[str, ...], gaps: tuple[str, ...], budget: LeafBudget
) -> tuple[Leaf, ...]:
    """Turn what the reflection wants next into leaves of the same node; never into executors.

    Args:
        decision: of the round that ended.
        wanted: topics that may still be tried.
        gaps: what is open.
        budget: of each leaf.
    """
    topics = list(dict.fromkeys(q.strip() for q in (decision.nextSearchTopic or "", *wanted) if q.strip()))
    leaves = [
        Leaf(title=_title(topic), objective=topic, questions=(topic,), searches=(topic,), budget=budget)
        for topic in topics
    ]
    if decision.urlToSearch:
        about = topics[0] if topics else gaps[0]
        leaves.insert(
            0,
            Leaf(
                title=_title(about), objective=about, questions=(about,), sources=(decision.urlToSearch,), budget=budget
            ),
        )
    return tuple(leaves)


def _title(topic: str) -> str:
    words = topic.strip().rstrip("?.!").split()
    title = ""
    for word in words:
        if len(title) + len(word) > TITLE_CHARS:
            return title.rstrip(",;:") + " …"
        title = f"{title} {word}".strip()
    return title


def facts_of(findings: tuple[Finding, ...]) -> tuple[Fact, ...]:
    """List the facts of several findings, each once."""
    return tuple({fact.id: fact for finding in findings for fact in finding.all_facts()}.values())


def sources_of(findings: tuple[Finding, ...]) -> tuple[SourceCard, ...]:
    """List the sources of several findings, each once."""
    return tuple({card.id: card for finding in findings for card in finding.all_sources()}.values())


def statements_of(findings: tuple[Finding, ...]) -> tuple[str, ...]:
    """Put what was found into lines for the reflector, most certain first, with the source behind each."""
    titles = {card.id: card.title for card in sources_of(findings)}
    facts = sorted(facts_of(findings), key=lambda fact: -fact.confidence)
    # What is not shown is named by its source: the reflector knows that there is more, and where.
    more = Counter(titles[fact.source_id] for fact in facts[MAX_STATEMENTS:])
    return (
        *(f"{fact.statement} [{titles[fact.source_id]}]" for fact in facts[:MAX_STATEMENTS]),
        *(f"{count} more, not shown [{title}]" for title, count in more.items()),
    )


def retries_of(findings: tuple[Finding, ...]) -> Retries:
    """Add up the failures that leaves recorded."""
    retries = Retries()
    for finding in findings:
        for part in finding.walk():
            for entry in part.attempts:
                for _ in range(entry.attempts):
                    retries = retries.failed(entry.key, branch=part.path)
                if entry.status == "complete":
                    retries = retries.completed(entry.key)
    return retries


def lowered(before: Success | None, after: Success) -> bool:
    """Tell whether a round made things worse: less confidence and no more coverage."""
    return before is not None and after.confidence < before.confidence - LOWERED and after.coverage <= before.coverage


def delta(before: Success | None, after: Success, new_facts: int, new_sources: int, skipped: int) -> str:
    """Say in one sentence what a round changed."""
    coverage = f"coverage {before.coverage if before else 0:.0%} to {after.coverage:.0%}"
    confidence = f"confidence {before.confidence if before else 0:.2f} to {after.confidence:.2f}"
    skips = f", {skipped} repeated {'topic' if skipped == 1 else 'topics'} skipped" if skipped else ""
    return f"{new_facts} new facts from {new_sources} new sources: {coverage}, {confidence}{skips}."


def nothing_answers(findings: tuple[Finding, ...]) -> bool:
    """Tell whether all searches of these findings failed, so that nothing was found."""
    searches = [record for finding in findings for part in finding.walk() for record in part.searches]
    return bool(searches) and all(record.failed for record in searches) and not facts_of(findings)


def unused(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Keep a round's findings without their prose: flagged, and not used for the section."""
    return tuple(
        finding.model_copy(
            update={
                "markdown": "",
                "children": unused(finding.children),
                "status": "partial" if finding.status == "done" else finding.status,
                "note": finding.note or "not used: it lowered the confidence of what was known",
            }
        )
        for finding in findings
    )
