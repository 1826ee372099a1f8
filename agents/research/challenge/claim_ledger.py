"""The claims ledger: which claims a query rests on, and which facts may speak to them. Pure.

What a fact says to a claim, held word against word, and what all evidence of a claim comes to. Pure.

Code decides. A model is asked only about words on the claim's own subject that code can't place, and its answer alone
makes no claim supported: that takes words which carry the whole claim.

Quality gates: figures that code checks. What falls short is said, never hidden, and never withholds a report.
"""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from agents.contracts.fact import Fact
from agents.contracts.finding import Finding
from agents.contracts.frozen import Frozen
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
from agents.research.loop.topics import repeated
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
MAX_DISPUTED = 3
"""Claims on which the words that were read contradict each other, whatever the plan brought."""
SAME_WORDS = 0.6
"""Share of words in common, figures aside, from which statements are held against each other."""
SAME_CLAIM = 0.8
MAX_CLAIM_CHARS = 260


def planned_claims(plan: Plan) -> tuple[PlannedClaim, ...]:
    """List the claims that a plan brings, each said once."""
    found: list[PlannedClaim] = []
    spoken = language_of(plan.query, asked=True)
    texts = (text for leaf in plan.root.leaves() for text in (leaf.objective, *leaf.questions))
    asked = frozenset(word for text in (plan.query, *texts) for word in content_words(text))
    for planned in plan.claims:
        # A claim without one word of what is asked is about something else; across languages nobody can tell.
        if asked & frozenset(content_words(planned.text)) or language_of(planned.text) != spoken:
            _add(found, planned.text, planned.leaves)
    return tuple(found[:MAX_CLAIMS])


def claims_of(query: str, planned: Sequence[PlannedClaim], finding: Finding) -> tuple[PlannedClaim, ...]:
    """List the claims of one query, each said once: the plan's, what sources contradict each other on, what they state."""
    found: list[PlannedClaim] = []
    for claim in planned:
        _add(found, claim.text, claim.leaves)
    conflicts, most = disputed(query, finding), len(found) + MAX_DISPUTED
    for fact, _ in conflicts:
        if len(found) < most:
            _add(found, fact.statement, ())
    other_side = {fact.id for _, fact in conflicts}
    if len(found) < ENOUGH_PLANNED:
        rests_on, spoken, most = _answering(query, finding), language_of(query, asked=True), len(found) + MAX_DISCOVERED
        for branch in finding.children or (finding,):
            told = (fact for fact in branch.all_facts() if rests_on is None or fact.id in rests_on)
            told = (fact for fact in told if fact.id not in other_side and not fact.by_meaning)
            enough = min(most, len(found) + PER_BRANCH)
            for fact in sorted(told, key=lambda fact: (-_asked(query, fact), -_weight(fact), fact.id)):
                alone = stands_alone(fact.statement) and language_of(fact.statement) == spoken
                if len(found) < enough and _weight(fact) > 1 and alone:
                    _add(found, fact.statement, (branch.title,))
    return tuple(found[:MAX_CLAIMS])


def _answering(query: str, finding: Finding) -> frozenset[str] | None:
    """Name the facts that answer a query which asks for facts: no other statement is what its report rests on."""
    if not asks_for_facts(query):
        return None
    rows = told_by(finding.all_facts(), finding.all_sources())
    return frozenset(row.fact for part in parts_of(query) for row in answer_of(part, rows)[1])


def disputed(query: str, finding: Finding) -> list[tuple[Fact, Fact]]:
    """List statements on what is asked, the most asked first, each with one of another source that contradicts it.

    Of each two the shorter one comes first: it says what the other denies.
    """
    facts, cards = held_by(finding)
    alone = [fact for fact in facts if _asked(query, fact) and stands_alone(fact.statement) and not fact.by_meaning]
    words = {fact.id: frozenset(one for one in content_words(fact.quote) if not one.isdigit()) for fact in alone}
    found: list[tuple[Fact, Fact]] = []
    for one, other in combinations(sorted(alone, key=lambda fact: (len(fact.statement), fact.id)), 2):
        shared_words, all_words = words[one.id] & words[other.id], words[one.id] | words[other.id]
        if one.source_id == other.source_id or len(shared_words) < SAME_WORDS * len(all_words):
            continue
        when, then = years_in(one.quote), years_in(other.quote)
        if one.quote != other.quote and (when & then or not (when and then)):
            held = held_against(one.statement, other, cards[other.source_id], language_of(one.statement))
            found += [(one, other)] if held.stance == "contradicts" else []
    return sorted(found, key=lambda pair: -_asked(query, pair[0]))


def _asked(query: str, fact: Fact) -> float:
    """Give the share that a fact's words have of what a part of the query asks about its subject."""
    return max((share(part.matter, fact.quote) for part in parts_of(query) if part.matter), default=0.0)


def _add(found: list[PlannedClaim], text: str, leaves: tuple[str, ...]) -> None:
    """Add a claim, unless it is said already; a question states nothing that could be true or false."""
    clean = " ".join(text.split()).rstrip(".") + "."
    is_question = text.rstrip().endswith(("?", "？", "؟"))
    if not is_question and len(clean) >= 8 and not repeated(clean, [one.text for one in found], SAME_CLAIM):
        found.append(PlannedClaim(text=clean, leaves=leaves))


def stands_alone(statement: str) -> bool:
    """Tell whether a statement can be tested by itself: one sentence of moderate length that points at nothing before it."""
    text = " ".join(statement.split())
    return len(spans(text)) == 1 and 20 <= len(text) <= MAX_CLAIM_CHARS and not leans(text)


def _weight(fact: Fact) -> float:
    """A statement with a figure can be tested; one without rarely."""
    return fact.confidence + (1.0 if any(letter.isdigit() for letter in fact.quote) else 0.0)


def read_for(claim: PlannedClaim, finding: Finding) -> frozenset[str]:
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


_LABEL = re.compile(r"([^.:;“”]{3,60}):\s")
"""What a row of a list is about."""
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
    held = stems_of(quote, card.title, card.head)
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
        mine, theirs = ({one.measure for one in quantities(text) if one.measure} for text in (claim, fact.quote))
        # Crowns say nothing against grams; and of another figure of another thing both may be true.
        if (mine and theirs and mine.isdisjoint(theirs)) or not _same_measure(claim, fact.quote, card):
            return UNRELATED
        if same >= SAME_MATTER:  # another figure for a longer time, or for more of the same, limits what is claimed
            longer = differ(claim, fact.quote) and years_in(claim) and not years_in(claim) & years_in(fact.quote)
            return Held("qualifies" if longer else "contradicts", max(SPEAKS, said.strength))
    if said.stance == "qualifies" and same >= SAME_MATTER:
        return Held("qualifies", said.strength)
    may_ask = foreign or (same >= SAME_MATTER and not whole.binding)
    return Held("unrelated", 0.0, open=may_ask, raisable=foreign and not whole.binding)


def all_held_against(
    claim: str, facts: Iterable[Fact], cards: Mapping[str, SourceCard], language: str
) -> dict[str, Held]:
    """Judge the stance of each of some facts on a claim, by their ids."""
    return {fact.id: held_against(claim, fact, cards[fact.source_id], language) for fact in facts}


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
    rows = [_LABEL.match(text) for text in (claim, quote)]
    about = {frozenset((*content_words(row[1]), *re.findall(r"\d+", row[1]))) for row in rows if row}
    if all(rows) and len(about) > 1:
        return False  # `Adults: 2 tablets` and `Children: half a tablet` are two rows
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


def evidence_of(fact: Fact, card: SourceCard, held: Held) -> Evidence:
    """Put a fact's stance into the ledger; that a copy is of unknown age says nothing against its words."""
    damaged = any(tag.form != PROVIDER_COPY for tag in card.tags)
    return Evidence(
        fact_id=fact.id, source_id=fact.source_id, domain=publisher(card.url, card.site or card.author).casefold(),
        stance=held.stance, strength=round(held.strength * (DAMAGED if damaged else 1), 4),
        quote=fact.quote, start=fact.start, end=fact.end,
    )  # fmt: skip


class ClaimDone(Frozen):
    """One claim, settled or not, with what the search against it brought."""

    claim: Claim
    origins: int
    """Independent sources that take a stance."""
    facts: tuple[Fact, ...] = ()
    """Evidence that was not known before."""
    sources: tuple[SourceCard, ...] = ()


def settled(
    claim: PlannedClaim, held: Mapping[str, Held], facts: Sequence[Fact], cards: Mapping[str, SourceCard],
    counter: CounterSearch = CounterSearch(), known: Container[str] = (), *, checked: bool = True,
) -> ClaimDone:  # fmt: skip
    """Weigh by code what facts, held against a claim, say of it; `known` are those that no counter-search brought."""
    by_id = {fact.id: fact for fact in facts}
    evidence = tuple(
        evidence_of(by_id[key], cards[by_id[key].source_id], one)
        for key, one in held.items()
        if one.stance != UNRELATED.stance
    )
    witnesses = [
        Witness(
            id=one.source_id, domain=one.domain, text=one.quote, title=cards[one.source_id].title,
            url=cards[one.source_id].url, quote=one.quote,
        )
        for one in {item.source_id: item for item in evidence}.values()
    ]  # fmt: skip
    groups = origins(witnesses)
    weighed = weigh(evidence, {source: group[0] for group in groups for source in group})
    new = [one for one in evidence if one.fact_id not in known]
    counter = counter.model_copy(update={"found": sum(one.stance != "supports" for one in new)})
    done = Claim(
        id=claim.id, text=claim.text, verdict=weighed.verdict if checked else "not_checked",
        confidence=weighed.confidence if checked and evidence else None, evidence=evidence, counter_search=counter,
    )  # fmt: skip
    return ClaimDone(
        claim=done, origins=len(groups), facts=tuple(by_id[one.fact_id] for one in new),
        sources=tuple(cards[source] for source in dict.fromkeys(one.source_id for one in new)),
    )  # fmt: skip


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


def short_of(done: ClaimDone, wanted: Thresholds) -> tuple[str, ...]:
    """Say what one claim lacks; empty when it passes."""
    evidence, origins = len(done.claim.evidence), done.origins
    least, domains = wanted.min_evidence_per_claim, wanted.min_distinct_domains_per_claim
    counter = done.claim.counter_search
    unsought = wanted.require_counter_evidence and not counter.was_made
    lacks = {
        "it was not checked": done.claim.verdict == "not_checked",
        f"{evidence} of {least} pieces of evidence": evidence < least,
        f"{origins} of {domains} independent sources": origins < domains,
        "counter-evidence was not searched for": unsought and not counter.queries,
        "the search for counter-evidence found nothing to read": unsought and bool(counter.queries),
    }  # fmt: skip
    return tuple(text for text, holds in lacks.items() if holds)


def gates(
    claims: Sequence[ClaimDone], confidence: float | None, ratio: float | None, wanted: Thresholds
) -> tuple[tuple[Gate, ...], tuple[str, ...]]:
    """Hold the figures of a report against the thresholds; gives the gates, and what fell short as plain sentences.

    Confidence is 0 to 100, the verifiable ratio 0 to 1; None fails its gate.
    """
    lacking = {done.claim.text: lacks for done in claims if (lacks := short_of(done, wanted))}
    passed = len(claims) - len(lacking)
    said = [f"Claim “{text}”: {', '.join(lacks)}." for text, lacks in lacking.items()]
    if passed < wanted.min_claims:
        said.append(f"{passed} of {wanted.min_claims} claims were settled.")
    found = [
        Gate(name="claims", reached=passed, wanted=wanted.min_claims, passed=passed >= wanted.min_claims),
        Gate(name=EVIDENCE_GATE, reached=passed, wanted=len(claims), passed=not lacking),
    ]
    for name, reached, least in (
        (CONFIDENCE_GATE, confidence, wanted.min_report_confidence), (RATIO_GATE, ratio, wanted.min_verifiable_ratio)
    ):  # fmt: skip
        holds = reached is not None and reached >= least
        found.append(Gate(name=name, reached=reached, wanted=least, passed=holds))
        if not holds:
            said.append(
                f"The {name} could not be computed."
                if reached is None
                else f"The {name} is {reached:g}, below {least:g}."
            )
    return tuple(found), tuple(said)
