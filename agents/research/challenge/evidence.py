"""What a fact says to a claim, held word against word, and what all evidence of a claim comes to. Pure.

Code decides. A model is asked only about words on the claim's own subject that code can't place, and its answer alone
makes no claim supported: that takes words which carry the whole claim.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents.contracts.claim import Claim, CounterSearch, Evidence, Stance
from agents.contracts.fact import Fact
from agents.contracts.source import SourceCard
from agents.nlp.tokens import content_words, language_of
from agents.nlp.years import years_in
from agents.research.challenge.claim_ledger import LedgerClaim
from agents.research.reading.subject import Question, names_held, parts_of, stems_of
from agents.verify.checks import carried, stance
from agents.verify.confidence import weigh
from agents.verify.independence import Witness, origins
from agents.web.url_key import registrable_domain

SAME_MATTER = 0.45
"""Share of a claim's telling words that words must hold to speak of the same measure."""
SPEAKS = 0.5
"""Strength below which a contradiction is only a sign."""
BY_A_MODEL = 0.5
"""Strength of a limit that only a model sees: never enough to settle a claim by itself."""


@dataclass(frozen=True)
class Held:
    """One fact held against one claim."""

    stance: Stance
    strength: float
    open: bool = False
    """It speaks of the claim's subject and measure, and code can't tell what it says: a model may be asked."""
    raisable: bool = False
    """It is in another language than the claim and nothing speaks against it: a model may call it support."""


UNRELATED = Held("unrelated", 0.0)


def subject_of(claim: str) -> Question:
    """Read what a claim is about."""
    return parts_of(claim)[0]


def same_subject(subject: Question, quote: str, card: SourceCard) -> bool:
    """Tell whether words are about everybody and everything that a claim names."""
    held = stems_of(f"{quote} {card.title} {card.head}")
    return len(names_held(subject, held)) == len(subject.names)


def held_against(claim: str, fact: Fact, card: SourceCard, language: str = "en") -> Held:
    """Judge a fact's stance on a claim from the words alone."""
    short = language.split("-")[0]
    if not same_subject(subject_of(claim), fact.quote, card):
        return UNRELATED
    whole = carried(claim, [fact.quote], language=short, context=(card.title, card.head))
    if whole.verdict == "supported":
        return Held("supports", whole.score)
    foreign = language_of(fact.quote) != language_of(claim)
    said = stance(claim, fact.quote, language=short, context=(card.title, card.head))
    shared = _shared(claim, fact.quote)
    if said.stance == "contradicts" and said.strength >= SPEAKS and shared >= SAME_MATTER:
        # Another figure for another period sets a limit and contradicts nothing.
        return Held("qualifies" if _other_period(claim, fact.quote) else "contradicts", said.strength)
    if said.stance == "qualifies" and shared >= SAME_MATTER:
        return Held("qualifies", said.strength)
    may_ask = foreign or (shared >= SAME_MATTER and not whole.binding)
    return Held("unrelated", 0.0, open=may_ask, raisable=foreign and not whole.binding)


def with_a_models_word(held: Held, said: Stance) -> Held:
    """Take a model's stance on what code left open: a limit counts a little, support only where words can't be compared."""
    if said in {"qualifies", "contradicts"}:
        return Held("qualifies", BY_A_MODEL)
    return Held("supports", SPEAKS / 0.8) if said == "supports" and held.raisable else UNRELATED


def _shared(claim: str, quote: str) -> float:
    wanted = frozenset(content_words(claim))
    return len(wanted & frozenset(content_words(quote))) / len(wanted) if wanted else 0.0


def _other_period(claim: str, quote: str) -> bool:
    mine, theirs = years_in(claim), years_in(quote)
    return bool(mine and theirs and not mine & theirs)


def evidence_of(fact: Fact, card: SourceCard, held: Held) -> Evidence:
    """Put a fact's stance into the ledger."""
    return Evidence(
        fact_id=fact.id,
        source_id=fact.source_id,
        domain=domain_of(card),
        stance=held.stance,
        strength=round(held.strength, 4),
    )


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
    checked: bool = True,
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
    weighed = weigh(evidence, {source: group.ids[0] for group in groups for source in group.ids})
    done = Claim(
        id=claim.id,
        text=claim.text,
        verdict=weighed.verdict if checked else "not_checked",
        confidence=weighed.confidence if checked and evidence else None,
        evidence=tuple(evidence),
        counter_search=counter,
    )
    return done, len(groups), tuple(why for group in groups for why in group.why)


def speaking(claim: str, sentences: Sequence[str], card: SourceCard, at_most: int) -> list[int]:
    """Choose the sentences of a document that speak of a claim's subject and measure, those that share most of it first."""
    subject = subject_of(claim)
    scored = [
        (_shared(claim, sentence) + 0.2 * bool(re.search(r"\d", sentence)), -at)
        for at, sentence in enumerate(sentences)
        if same_subject(subject, sentence, card)
    ]
    return [-at for share, at in sorted(scored, reverse=True)[:at_most] if share >= SAME_MATTER]
