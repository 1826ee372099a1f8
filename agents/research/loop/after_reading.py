"""Between reading and writing: what each leaf of a round read for the others goes to them, and what code sees of the claims.

Pure.
"""

from collections.abc import Container, Mapping, Sequence

from agents.contracts.fact import Fact
from agents.contracts.finding import Finding
from agents.contracts.frozen import Said
from agents.contracts.plan import Leaf, Node
from agents.contracts.sources import Candidate, SourceCard
from agents.contracts.verification import Claim
from agents.offline.questions import about
from agents.research.challenge import claim_ledger as ledger
from agents.research.reading.answering import is_about, speaks_to, told_by, wanted_by
from agents.research.reading.leaf import idle
from agents.research.reading.searching import Setting
from agents.research.reading.shortlisting import fed

MOVED = frozenset({"qualified", "contested", "refuted"})
"""Verdicts that a section has to agree with."""
LEADS_NOWHERE = "what it read answers nothing that was asked"
FOR_OTHERS = "what it read answers questions of the sections beside it"


def shared_out(findings: Sequence[Finding], questions: Mapping[str, tuple[str, ...]]) -> list[Finding]:
    """Give each leaf the facts that answer its questions, whichever of them has read the source.

    A leaf that would be left with none gets those that code sees to be about its questions, though they answer others too.
    """
    asked_by: dict[str, list[str]] = {}
    for path, own in questions.items():
        for question in own:
            asked_by.setdefault(question, []).append(path)
    facts: dict[str, dict[str, Fact]] = {one.path: {} for one in findings}
    for one in findings:
        for fact in one.facts:
            wanted = asked_by.get(fact.topic, []) if one.path in questions and not one.ended else []
            for path in [one.path] if not wanted or one.path in wanted else wanted:
                facts.get(path, facts[one.path]).setdefault(fact.id, fact)
    cards = {card.id: card for one in findings for card in one.sources}
    read = {fact.id: fact for one in findings if one.path in questions and not one.ended for fact in one.facts}
    for path, own in questions.items():
        if not facts[path]:
            facts[path] = {
                fact.id: fact
                for fact in read.values()
                if speaks_to(fact, (card := cards[fact.source_id]).title, card.head, own)
            }
    return [_with(one, tuple(facts[one.path].values()), cards) for one in findings]


def brought_home(findings: Sequence[Finding], before: int) -> list[Finding]:
    """Give the planned leaves of a lookup what later rounds found, so far as it answers their questions or leads there.

    A further step has no section of its own: nobody asked for what it is called.
    """
    planned = [one for one in findings if one.role == "leaf" and not one.is_later]
    steps = [one for one in findings[before:] if one.role == "leaf" and one.is_later and not one.ended]
    if not planned:
        return list(findings)
    cards = {card.id: card for one in findings for card in one.sources}
    facts = {fact.id: fact for one in (*planned, *steps) for fact in one.facts}
    found = {fact.id for one in steps for fact in one.facts}
    named = {fact.id for one in steps for fact in one.facts if _follows(fact, cards[fact.source_id], one.asked)}
    told, home = told_by(facts.values(), cards.values()), dict[str, Finding]()
    for one in planned:
        own = {fact.id for fact in one.facts}
        wanted = named | wanted_by(one.asked, [row for row in told if row.fact in own | found])
        more = tuple(facts[name] for name in facts if name in found & wanted and name not in own)
        home[one.path] = _with(one, (*one.facts, *more), cards)
    at_home = {fact.id for one in home.values() for fact in one.facts}
    return [home.get(one.path, _left(one, at_home) if one in steps else one) for one in findings]


def _follows(fact: Fact, card: SourceCard, asked: Sequence[str]) -> bool:
    """Tell words that speak of the name which a further step follows, and of what is still to be said of it."""
    steps = [step for question in asked if (step := about(question))]
    return any(is_about(step, f"{fact.heading} {fact.quote}", card.title) for step in steps)


def _left(step: Finding, at_home: Container[str]) -> Finding:
    """Give a further step without its facts; one that brought nothing that is used says so, and what it read."""
    used = {fact.source_id for fact in step.facts if fact.id in at_home}
    unused = idle(one for one in step.sources if one.id not in used)
    update: dict[str, object] = {"facts": (), "sources": (), "rejected": (*step.rejected, *unused)}
    if step.facts and not any(fact.id in at_home for fact in step.facts):
        update |= {"status": "empty", "note": Said(LEADS_NOWHERE)}
    return step.model_copy(update=update)


MOST_TOLD = 3
"""Statements that the readers of a leaf are told of what is known already."""


def known_of(questions: Sequence[str], findings: Sequence[Finding]) -> tuple[str, ...]:
    """Give what was found about questions, most certain first: who reads on holds what it reads against that."""
    cards = {card.id: card for one in findings for card in one.all_sources()}
    facts = {fact.statement: fact for one in findings for fact in one.all_facts()}.values()
    near = [fact for fact in facts if speaks_to(fact, (card := cards[fact.source_id]).title, card.head, questions)]
    return tuple(one.statement for one in sorted(near, key=lambda one: -one.confidence))[:MOST_TOLD]


def _with(finding: Finding, facts: tuple[Fact, ...], cards: Mapping[str, SourceCard]) -> Finding:
    if facts == finding.facts:
        return finding
    sources = tuple(cards[source] for source in dict.fromkeys(fact.source_id for fact in facts))
    update: dict[str, object] = {"facts": facts, "sources": sources}
    if not facts:
        update |= {"status": "empty", "note": Said(FOR_OTHERS)}
    return finding.model_copy(update=update)


def starved(node: Node, findings: Sequence[Finding], chosen: Sequence[Candidate]) -> dict[str, Leaf]:
    """Give the planned leaves that found nothing by themselves, once and by title, with what the sweeps chose for them."""
    planned = [child for child in node.children if isinstance(child, Leaf) and not child.discovery]
    done = {one.title for one in findings if one.all_facts() or one.is_later}
    filled = {leaf.title: (leaf, fed(leaf, [one for one in planned if one is not leaf], chosen)) for leaf in planned}
    return {
        title: more.model_copy(update={"searches": ()})
        for title, (leaf, more) in filled.items()
        if title not in done and more.sources != leaf.sources
    }


def at_hand(setting: Setting, finding: Finding) -> tuple[Claim, ...]:
    """Settle the claims of a query by what was read, before anything was searched for against them."""
    (facts, cards), done = ledger.held_by(finding), list[Claim]()
    for claim in ledger.claims_of(setting.query, setting.claims, finding) if facts else ():
        near = ledger.facts_for(claim.text, facts, ledger.read_for(claim, finding))
        held = ledger.all_held_against(claim.text, near, cards, setting.language)
        done.append(ledger.settled(claim, held, near, cards).claim)
    return tuple(done)


def contested(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """List the claims on which the sources do not agree."""
    return tuple(claim for claim in claims if claim.verdict == "contested")


def verdict_line(claim: Claim) -> str:
    """Put a claim and its verdict into a line for a writer."""
    return f"{claim.text} [{claim.verdict.replace('_', ' ')}]"


def touching(claims: Sequence[Claim], finding: Finding) -> tuple[str, ...]:
    """Give the lines of those claims that a section has to agree with, because its facts speak to them."""
    return tuple(verdict_line(claim) for claim in claims if claim.verdict in MOVED and touches(claim, finding))


def touches(claim: Claim, finding: Finding) -> bool:
    """Tell whether facts of a section speak to a claim."""
    return not {fact.id for fact in finding.facts}.isdisjoint(one.fact_id for one in claim.evidence)
