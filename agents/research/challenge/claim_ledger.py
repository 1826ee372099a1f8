"""The claims ledger: which claims a query rests on, and which facts may speak to them. Pure.

What a fact says to a claim, held word against word, and what all evidence of a claim comes to. Pure.

Code decides. A model is asked only about words on the claim's own subject that code can't place, and its answer alone
makes no claim supported: that takes words which carry the whole claim.

Quality gates: figures that code checks. What falls short is said, never hidden, and never withholds a report.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents.contracts.fact import Fact
from agents.contracts.finding import Finding
from agents.contracts.frozen import Frozen, Text, digest
from agents.contracts.plan import Plan, PlannedClaim
from agents.contracts.sources import PROVIDER_COPY, SourceCard
from agents.contracts.verification import (
    CONFIDENCE_GATE,
    EVIDENCE_GATE,
    RATIO_GATE,
    Claim,
    CounterSearch,
    Evidence,
    Gate,
    Stance,
)
from agents.nlp.lang import spans
from agents.nlp.tokens import content_words, language_of, stem, years_in
from agents.offline.questions import Question, asks_for_facts, names_held, parts_of, plain_words, stems_of
from agents.offline.ranking import leans
from agents.offline.terms import differ, quantities
from agents.research.loop.loop_decision import facts_of, sources_of
from agents.research.loop.topics import compare
from agents.research.reading.answering import answer_of, share, told_by
from agents.verify.checks import carried, stance
from agents.verify.confidence import Witness, origins, weigh
from agents.verify.figures import figures
from agents.verify.negation import opposites, root
from agents.web.url_key import publisher

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
    leaves: tuple[str, ...] = ()
    """Titles of the leaves that should settle it; empty for the query as a whole."""
    discovered: bool = False


def planned_claims(plan: Plan) -> tuple[LedgerClaim, ...]:
    """List the claims that a plan brings, each said once."""
    found: list[LedgerClaim] = []
    spoken = language_of(plan.query)
    texts = (text for leaf in plan.root.leaves() for text in (leaf.objective, *leaf.questions))
    asked = frozenset(word for text in (plan.query, *texts) for word in content_words(text))
    for planned in plan.claims:
        # A claim without one word of what is asked is about something else; across languages nobody can tell.
        if asked & frozenset(content_words(planned.text)) or language_of(planned.text) != spoken:
            _add(found, planned.text, planned.leaves, discovered=False)
    return tuple(found[:MAX_CLAIMS])


def claims_of(query: str, planned: Sequence[PlannedClaim], finding: Finding) -> tuple[LedgerClaim, ...]:
    """List the claims of one query: the plan's, then what reading brought up, each said once."""
    found: list[LedgerClaim] = []
    spoken = language_of(query)
    for claim in planned:
        _add(found, claim.text, claim.leaves, discovered=False)
    if len(found) < ENOUGH_PLANNED:
        rests_on = _answering(query, finding)
        for branch in finding.children or (finding,):
            told = (fact for fact in branch.all_facts() if rests_on is None or fact.id in rests_on)
            facts = sorted(told, key=lambda fact: (-_weight(fact), fact.id))
            added = 0
            for fact in facts:
                if sum(one.discovered for one in found) >= MAX_DISCOVERED:
                    break
                if _weight(fact) > 1 and stands_alone(fact.statement) and language_of(fact.statement) == spoken:
                    added += _add(found, " ".join(fact.statement.split()), (branch.title,), discovered=True)
                if added >= PER_BRANCH:
                    break
    return tuple(found[:MAX_CLAIMS])


def _answering(query: str, finding: Finding) -> frozenset[str] | None:
    """Name the facts that answer a query which asks for facts: no other statement is what its report rests on."""
    if not asks_for_facts(query):
        return None
    rows = told_by(*held_by(finding))
    return frozenset(row.fact for part in parts_of(query) for row in answer_of(part, rows)[1])


def _add(found: list[LedgerClaim], text: str, leaves: tuple[str, ...], *, discovered: bool) -> bool:
    if text.rstrip().endswith(("?", "？", "؟")):
        return False  # a question states nothing that could be true or false
    clean = " ".join(text.split()).rstrip(".") + "."
    if len(clean) < 8 or compare(clean, [claim.text for claim in found], SAME_CLAIM).duplicate:
        return False
    found.append(LedgerClaim(id="c" + digest(clean.casefold(), 8), text=clean, leaves=leaves, discovered=discovered))
    return True


def stands_alone(statement: str) -> bool:
    """Tell whether a statement can be tested by itself: one sentence of moderate length that points at nothing before it."""
    text = " ".join(statement.split())
    return len(spans(text)) == 1 and 20 <= len(text) <= MAX_CLAIM_CHARS and not leans(text)


def _weight(fact: Fact) -> float:
    """A statement with a figure can be tested; one without rarely."""
    return fact.confidence + (1.0 if any(letter.isdigit() for letter in fact.quote) else 0.0)


def read_for(claim: LedgerClaim, finding: Finding) -> frozenset[str]:
    """Name the facts of the leaves that should settle a claim."""
    own = (part for part in finding.walk() if part.title in claim.leaves)
    return frozenset(fact.id for part in own for fact in part.all_facts())


def facts_for(claim: str, facts: Sequence[Fact], own: frozenset[str] = frozenset()) -> tuple[Fact, ...]:
    """Choose the facts that may speak to a claim: those that share telling words with it, most first.

    Of equals those that were read to settle it (`own`) come first.
    """
    wanted = frozenset(content_words(claim))
    shared = [(len(wanted & frozenset(content_words(f"{fact.statement} {fact.quote}"))), fact) for fact in facts]
    near = [(count, fact) for count, fact in shared if count >= min(2, len(wanted))]
    near.sort(key=lambda pair: (-pair[0], pair[1].id not in own, -pair[1].confidence, pair[1].id))
    return tuple(fact for _, fact in near[:MAX_FACTS_PER_CLAIM])


def held_by(finding: Finding) -> tuple[tuple[Fact, ...], dict[str, SourceCard]]:
    """Give all facts of a query, and its sources by id."""
    return facts_of((finding,)), {card.id: card for card in sources_of((finding,))}


SAME_MATTER = 0.45
"""Share of a claim's telling words that words must hold to speak of the same measure."""
SPEAKS = 0.5
"""Strength below which a contradiction is only a sign."""
DAMAGED = 0.8
"""Share of its strength that a quote keeps whose source could be read in part only."""
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
    same = shared(claim, fact.quote)
    if said.stance == "contradicts":
        if _other_unit(claim, fact.quote) or not _same_measure(claim, fact.quote, card):
            return UNRELATED  # another figure of another thing: both may be true
        if same >= SAME_MATTER:  # another figure for a longer time, or for more of the same, limits what is claimed
            longer = differ(claim, fact.quote) and years_in(claim) and not years_in(claim) & years_in(fact.quote)
            return Held("qualifies" if longer else "contradicts", max(SPEAKS, said.strength))
    if said.stance == "qualifies" and same >= SAME_MATTER:
        return Held("qualifies", said.strength)
    may_ask = foreign or (same >= SAME_MATTER and not whole.binding)
    return Held("unrelated", 0.0, open=may_ask, raisable=foreign and not whole.binding)


def with_a_models_word(held: Held, said: Stance) -> Held:
    """Take a model's stance on what code left open: a limit counts a little, support only where words can't be compared."""
    if said in {"qualifies", "contradicts"}:
        return Held("qualifies", BY_A_MODEL)
    return Held("supports", SPEAKS / 0.8) if said == "supports" and held.raisable else UNRELATED


def shared(claim: str, quote: str) -> float:
    """Give the share of a claim's telling words that words hold."""
    wanted = frozenset(content_words(claim))
    return len(wanted & frozenset(content_words(quote))) / len(wanted) if wanted else 0.0


def _same_measure(claim: str, quote: str, card: SourceCard) -> bool:
    """Tell whether words say of a claim's subject what it says: "bare sand buried 14 g" says nothing of the meadows."""
    subject = frozenset[str]().union(*subject_of(claim).names)
    mine, theirs = map(_before_figures, (claim, quote))
    said = _telling(mine or claim, subject | stems_of(card.title))
    return not (_lost(said, theirs or quote) and _lost(_telling(theirs or quote, subject), claim))


def _before_figures(text: str) -> str:
    """Give what a sentence says before its first figure, without the words of its bound: fewer than 10."""
    first = next(iter(figures(text)), None)
    parts = text[: first.start].rsplit(maxsplit=2 if first.bound else 0) if first else []
    return parts[0] if parts else ""


def _telling(text: str, subject: frozenset[str]) -> frozenset[str]:
    words = frozenset(content_words(text)) - subject
    return frozenset(root(one) for one in plain_words(text) if one.isalpha() and len(one) > 1 and stem(one) in words)


def _lost(words: frozenset[str], text: str) -> frozenset[str]:
    """Give the words that a text has neither in like words nor in their contrary."""
    held = frozenset(root(word) for word in plain_words(text))
    return frozenset(one for one in words if not opposites(one) & held and not share(frozenset({one}), text))


def _other_unit(claim: str, quote: str) -> bool:
    """Tell figures that are counted in nothing common: crowns say nothing against grams."""
    mine, theirs = ({one.unit for one in quantities(text) if one.unit} for text in (claim, quote))
    return bool(mine and theirs) and mine.isdisjoint(theirs)


def _is_damaged(card: SourceCard) -> bool:
    """Tell a source of which part could not be read; that its copy is of unknown age says nothing against its words."""
    return any(tag.form != PROVIDER_COPY for tag in card.tags)


def evidence_of(fact: Fact, card: SourceCard, held: Held) -> Evidence:
    """Put a fact's stance into the ledger."""
    return Evidence(
        fact_id=fact.id, source_id=fact.source_id, domain=publisher(card.url, card.site or card.author).casefold(),
        stance=held.stance, strength=round(held.strength * (DAMAGED if _is_damaged(card) else 1), 4),
        quote=fact.quote, start=fact.start, end=fact.end,
    )  # fmt: skip


def settled(
    claim: LedgerClaim,
    evidence: Sequence[Evidence],
    facts: Mapping[str, Fact],
    cards: Mapping[str, SourceCard],
    counter: CounterSearch,
    *,
    checked: bool = True,
) -> tuple[Claim, int]:
    """Weigh the evidence of a claim by code; gives it with its verdict, and the number of independent origins behind it."""
    witnesses = [
        Witness(
            id=one.source_id,
            domain=one.domain,
            text=facts[one.fact_id].quote,
            title=cards[one.source_id].title,
            url=cards[one.source_id].url,
            quote=facts[one.fact_id].quote,
        )
        for one in {item.source_id: item for item in evidence}.values()
    ]
    groups = origins(witnesses)
    weighed = weigh(evidence, {source: group[0] for group in groups for source in group})
    done = Claim(
        id=claim.id, text=claim.text, verdict=weighed.verdict if checked else "not_checked",
        confidence=weighed.confidence if checked and evidence else None, evidence=tuple(evidence),
        counter_search=counter,
    )  # fmt: skip
    return done, len(groups)


def speaking(claim: str, sentences: Sequence[str], card: SourceCard, at_most: int) -> list[int]:
    """Choose the sentences of a document that speak of a claim's subject and measure, those that share most of it first."""
    subject = subject_of(claim)
    scored = [
        (shared(claim, sentence) + 0.2 * bool(re.search(r"\d", sentence)), -at)
        for at, sentence in enumerate(sentences)
        if same_subject(subject, sentence, card)
    ]
    return [-at for share, at in sorted(scored, reverse=True)[:at_most] if share >= SAME_MATTER]


class Thresholds(Frozen):
    """What the gates ask for (names and defaults of the specification, section 9)."""

    min_claims: int = 0
    min_evidence_per_claim: int = 3
    min_distinct_domains_per_claim: int = 2
    require_counter_evidence: bool = True
    min_report_confidence: float = 70.0
    min_verifiable_ratio: float = 0.9


class Ledger(Frozen):
    """How one claim stands, in figures."""

    text: str
    verdict: str
    evidence: int
    origins: int
    """Independent sources that take a stance."""
    counter_searched: bool


def short_of(claim: Ledger, wanted: Thresholds) -> tuple[str, ...]:
    """Say what one claim lacks; empty when it passes."""
    lacks = []
    if claim.verdict == "not_checked":
        lacks.append("it was not checked")
    if claim.evidence < wanted.min_evidence_per_claim:
        lacks.append(f"{claim.evidence} of {wanted.min_evidence_per_claim} pieces of evidence")
    if claim.origins < wanted.min_distinct_domains_per_claim:
        lacks.append(f"{claim.origins} of {wanted.min_distinct_domains_per_claim} independent sources")
    if wanted.require_counter_evidence and not claim.counter_searched:
        lacks.append("counter-evidence was not searched for")
    return tuple(lacks)


def gates(
    claims: Sequence[Ledger], confidence: float | None, ratio: float | None, wanted: Thresholds
) -> tuple[tuple[Gate, ...], tuple[str, ...]]:
    """Hold the figures of a report against the thresholds.

    Args:
        claims: the ledger, one row a claim.
        confidence: of the report, 0 to 100; None fails the gate.
        ratio: verifiable ratio, 0 to 1; None fails the gate.
        wanted: the thresholds.

    Returns:
        The gates, and what fell short as plain sentences.
    """
    passed = sum(1 for claim in claims if not short_of(claim, wanted))
    found = [
        Gate(name="claims", reached=passed, wanted=wanted.min_claims, passed=passed >= wanted.min_claims),
        Gate(name=EVIDENCE_GATE, reached=passed, wanted=len(claims), passed=passed == len(claims)),
        Gate(
            name=CONFIDENCE_GATE,
            reached=confidence,
            wanted=wanted.min_report_confidence,
            passed=confidence is not None and confidence >= wanted.min_report_confidence,
        ),
        Gate(
            name=RATIO_GATE,
            reached=ratio,
            wanted=wanted.min_verifiable_ratio,
            passed=ratio is not None and ratio >= wanted.min_verifiable_ratio,
        ),
    ]
    said = [f"Claim “{claim.text}”: {', '.join(lacks)}." for claim in claims if (lacks := short_of(claim, wanted))]
    if not found[0].passed:
        said.append(f"{passed} of {wanted.min_claims} claims were settled.")
    for gate in found[2:]:
        if gate.reached is None:
            said.append(f"The {gate.name} could not be computed.")
        elif not gate.passed:
            said.append(f"The {gate.name} is {gate.reached:g}, below {gate.wanted:g}.")
    return tuple(found), tuple(said)
