"""The claims ledger: which claims a query rests on, which facts speak to them, what the evidence comes to. Pure."""

import re
from collections.abc import Mapping, Sequence

from agents.contracts.claim import Claim, CounterSearch, Evidence
from agents.contracts.fact import Fact
from agents.contracts.finding import Finding
from agents.contracts.frozen import Frozen, Text, digest
from agents.contracts.plan import Plan
from agents.contracts.source import SourceCard
from agents.contracts.verification import StanceRow
from agents.nlp.sentence_split import spans
from agents.nlp.tokens import content_words
from agents.research.loop.loop_settings import facts_of, sources_of
from agents.research.loop.topics import compare
from agents.verify.confidence import weigh
from agents.verify.independence import Witness, origins
from agents.web.url_key import registrable_domain

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
_LEANS = re.compile(
    r"^(it|this|that|these|those|they|he|she|here|there|such|however|but|and)\b|\bthis (figure|number|rate)\b", re.I
)


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
    for planned in plan.claims:
        _add(found, planned.text, "", discovered=False)
    if len(found) < ENOUGH_PLANNED:
        for branch in finding.children or (finding,):
            facts = sorted(branch.all_facts(), key=lambda fact: (-_weight(fact), fact.id))
            added = 0
            for fact in facts:
                if sum(claim.discovered for claim in found) >= MAX_DISCOVERED:
                    break
                if _weight(fact) > 1 and stands_alone(fact.statement):
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
    return len(spans(text)) == 1 and 20 <= len(text) <= MAX_CLAIM_CHARS and not _LEANS.search(text)


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


def evidence_from(
    rows: Sequence[StanceRow], facts: Sequence[Fact], cards: Mapping[str, SourceCard]
) -> tuple[Evidence, ...]:
    """Turn judged stances into evidence; rows about facts that do not exist are dropped, one row counts per fact."""
    found: dict[str, Evidence] = {}
    for row in rows:
        if not 1 <= row.fact_number <= len(facts) or row.stance == "unrelated":
            continue
        fact = facts[row.fact_number - 1]
        found.setdefault(
            fact.id,
            Evidence(
                fact_id=fact.id,
                source_id=fact.source_id,
                domain=domain_of(cards[fact.source_id]),
                stance=row.stance,
                strength=row.strength,
            ),
        )
    return tuple(found.values())


def domain_of(card: SourceCard) -> str:
    """Name who speaks: the registrable domain; for a document its publisher or author, else the document itself."""
    if card.url.startswith(("http://", "https://")):
        return registrable_domain(card.url) or card.url
    return (card.site or card.author or card.url).casefold()


def settled(
    claim: LedgerClaim,
    evidence: Sequence[Evidence],
    facts: Mapping[str, Fact],
    cards: Mapping[str, SourceCard],
    counter: CounterSearch,
    *,
    checked: bool,
) -> tuple[Claim, int, tuple[str, ...]]:
    """Weigh the evidence of a claim by code.

    Returns:
        The claim with its verdict, the number of independent origins behind it, and which copies were counted as one.
    """
    witnesses = [
        Witness(
            id=one.source_id,
            domain=one.domain,
            text=facts[one.fact_id].quote,
            title=cards[one.source_id].title,
            url=cards[one.source_id].url,
            publisher=cards[one.source_id].site or "",
            quote=facts[one.fact_id].quote,
        )
        for one in {item.source_id: item for item in evidence}.values()
    ]
    groups = origins(witnesses)
    origin_of = {source: group.ids[0] for group in groups for source in group.ids}
    weighed = weigh(evidence, origin_of)
    merged = tuple(why for group in groups for why in group.why)
    done = Claim(
        id=claim.id,
        text=claim.text,
        verdict=weighed.verdict if checked else "not_checked",
        confidence=weighed.confidence if checked and evidence else None,
        evidence=tuple(evidence),
        counter_search=counter,
    )
    return done, len(groups), merged


def held_by(finding: Finding) -> tuple[tuple[Fact, ...], dict[str, SourceCard]]:
    """Give all facts of a query, and its sources by id."""
    return facts_of((finding,)), {card.id: card for card in sources_of((finding,))}
