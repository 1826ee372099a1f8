"""The claims ledger: which claims a query rests on, and which facts may speak to them. Pure."""

from collections.abc import Sequence

from agents.contracts.fact import Fact
from agents.contracts.finding import Finding
from agents.contracts.frozen import Frozen, Text, digest
from agents.contracts.plan import Plan
from agents.contracts.source import SourceCard
from agents.nlp.sentence_split import spans
from agents.nlp.tokens import content_words, language_of
from agents.research.loop.loop_settings import facts_of, sources_of
from agents.research.loop.topics import compare
from agents.research.reading.quotes import leans

MAX_CLAIMS = 10
"""Claims of one query (specification, section 4)."""
MAX_DISCOVERED = 4
"""Claims found while reading that are added where the plan brought few."""
PER_BRANCH = 2
ENOUGH_PLANNED = 4
MAX_FACTS_PER_CLAIM = 12
"""Facts whose stance on one claim is asked: those that share most telling words with it."""
SAME_CLAIM = 0.8
MAX_CLAIM_CHARS = 260


class LedgerClaim(Frozen):
    """A claim on its way through the challenge."""

    id: Text
    text: Text
    branch: str = ""
    """Path of the branch that should settle it; empty for the query as a whole."""
    discovered: bool = False


def claims_of(plan: Plan, finding: Finding) -> tuple[LedgerClaim, ...]:
    """List the claims of one query: the plan's, then what reading brought up, each said once."""
    found: list[LedgerClaim] = []
    spoken = language_of(plan.query)
    for planned in plan.claims:
        _add(found, planned.text, "", discovered=False)
    if len(found) < ENOUGH_PLANNED:
        for branch in finding.children or (finding,):
            facts = sorted(branch.all_facts(), key=lambda fact: (-_weight(fact), fact.id))
            added = 0
            for fact in facts:
                if sum(claim.discovered for claim in found) >= MAX_DISCOVERED:
                    break
                if _weight(fact) > 1 and stands_alone(fact.statement) and language_of(fact.statement) == spoken:
                    added += _add(found, " ".join(fact.statement.split()), branch.path, discovered=True)
                if added >= PER_BRANCH:
                    break
    return tuple(found[:MAX_CLAIMS])


def _add(found: list[LedgerClaim], text: str, branch: str, *, discovered: bool) -> bool:
    if text.rstrip().endswith(("?", "？", "؟")):
        return False  # a question states nothing that could be true or false
    clean = " ".join(text.split()).rstrip(".") + "."
    if len(clean) < 8 or compare(clean, [claim.text for claim in found], SAME_CLAIM).duplicate:
        return False
    found.append(LedgerClaim(id="c" + digest(clean.casefold(), 8), text=clean, branch=branch, discovered=discovered))
    return True


def stands_alone(statement: str) -> bool:
    """Tell whether a statement can be tested by itself: one sentence of moderate length that points at nothing before it."""
    text = " ".join(statement.split())
    return len(spans(text)) == 1 and 20 <= len(text) <= MAX_CLAIM_CHARS and not leans(text)


def _weight(fact: Fact) -> float:
    """A statement with a figure can be tested; one without rarely."""
    return fact.confidence + (1.0 if any(letter.isdigit() for letter in fact.quote) else 0.0)


def facts_for(claim: str, facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Choose the facts that may speak to a claim: those that share telling words with it, most first."""
    wanted = frozenset(content_words(claim))
    shared = [(len(wanted & frozenset(content_words(f"{fact.statement} {fact.quote}"))), fact) for fact in facts]
    near = [(count, fact) for count, fact in shared if count >= min(2, len(wanted))]
    near.sort(key=lambda pair: (-pair[0], -pair[1].confidence, pair[1].id))
    return tuple(fact for _, fact in near[:MAX_FACTS_PER_CLAIM])


def held_by(finding: Finding) -> tuple[tuple[Fact, ...], dict[str, SourceCard]]:
    """Give all facts of a query, and its sources by id."""
    return facts_of((finding,)), {card.id: card for card in sources_of((finding,))}
