"""The challenge: for each claim the facts at hand are held against it, and counter-evidence is deliberately searched for."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from agents.contracts.fact import Fact, PointedFact
from agents.contracts.finding import Finding, Problem, SearchRecord
from agents.contracts.frozen import Frozen, Said
from agents.contracts.plan import PlannedClaim
from agents.contracts.sources import Hit, RejectedSource, Source, SourceCard
from agents.contracts.verification import (
    Attack,
    Challenge,
    ChallengeInput,
    ClaimNote,
    CounterSearch,
    StanceInput,
    StanceNote,
)
from agents.core.errors import StepFailed
from agents.core.events import ClaimWeighed, SourceRead, SourceRejected
from agents.core.port import Ctx
from agents.nlp.lang import spans
from agents.offline.judgements import challenge as searches_against
from agents.offline.questions import asks_for_facts, names_held, stems_of
from agents.research.challenge import claim_ledger as ledger
from agents.research.reading.hold_extraction import fact_of
from agents.research.reading.leaf import READ_FOR_NOTHING, idle, spent
from agents.research.reading.searching import Setting, search_all, teller
from agents.research.run_context import RunContext, asked, fetched_by
from agents.roles import CHALLENGER, STANCE_JUDGE
from agents.web.url_key import publisher

SEARCHES_PER_CLAIM = 2
"""One for what speaks against a claim, one more for itself where its evidence falls short."""
NEW_SOURCES = 2
"""Sources read for the counter-evidence of one claim."""
SENTENCES = 4
"""Sentences taken from one of them, at most."""
MOST_PAIRS = 24
"""Facts and claims that the stance judge is asked about in its one call."""
CALL_SHARE = 0.12
"""Part of the whole time that one call of the challenge may take."""
LABEL = "Challenge"


class ChallengeGiven(Frozen):
    """One query whose claims are to be challenged."""

    finding: Finding
    setting: Setting
    wanted: ledger.Thresholds = ledger.Thresholds()
    search: bool = True
    """False where the search for counter-evidence is switched off."""


class ClaimGiven(Frozen):
    """One claim, and what to search for it."""

    claim: PlannedClaim
    queries: tuple[str, ...] = ()
    read: tuple[str, ...]
    """Addresses already read for this query: counter-evidence comes from others where there are any."""
    setting: Setting
    beside: int = 0
    """Other claims that are searched against, too."""
    searches: int = SEARCHES_PER_CLAIM


Choice = Callable[[tuple[str, ...]], Awaitable[Sequence[str]]]
"""Says which of the documents that the run has not read yet one claim may read; the others cost nothing."""


async def _the_first(new: tuple[str, ...]) -> Sequence[str]:
    return new[:NEW_SOURCES]


class ClaimFound(Frozen):
    """What was found for one claim."""

    facts: tuple[Fact, ...] = ()
    cards: tuple[SourceCard, ...] = ()
    counter: CounterSearch = CounterSearch()
    searches: tuple[SearchRecord, ...] = ()
    read: tuple[str, ...] = ()
    """Addresses that were fetched for it; those that the run had read already cost nothing of its sources."""
    rejected: tuple[RejectedSource, ...] = ()
    """Those of them that say nothing of its subject, or could not be read."""
    problems: tuple[Problem, ...] = ()
    checked: bool = True
    """False where looking into it failed."""


@dataclass
class _Case:
    """One claim while it is challenged."""

    claim: PlannedClaim
    facts: tuple[Fact, ...]
    held: dict[str, ledger.Held]
    """What each fact says to it."""
    queries: tuple[str, ...] = ()
    found: ClaimFound = field(default_factory=ClaimFound)


class Challenged(Frozen):
    """One query's ledger, and the finding that holds the facts of the counter-search."""

    claims: tuple[ledger.ClaimDone, ...] = ()
    finding: Finding | None = None


def not_checked(given: ChallengeGiven, path: str, failure: StepFailed) -> Challenged:
    """Give the claims of a query whose challenge failed as a whole: each is listed as not checked."""
    claims = ledger.claims_of(given.setting.query, given.setting.claims, given.finding)
    failed = Finding(path=path, title=LABEL, role="challenge", status="failed", problems=(failure.problem(),))
    return Challenged(
        claims=tuple(ledger.settled(claim, {}, (), {}, checked=False) for claim in claims), finding=failed
    )


async def run_challenge(context: RunContext, ctx: Ctx, given: ChallengeGiven) -> Challenged:
    """Challenge the claims of one query, side by side."""
    started = ctx.elapsed
    facts, cards = ledger.held_by(given.finding)
    claims = ledger.claims_of(given.setting.query, given.setting.claims, given.finding) if facts else ()
    if not claims:
        return Challenged()

    tell = teller(ctx, "leaf", LABEL, parent=given.finding.path)
    tell("searching", Said("what speaks against {n} {n:claim|claims}", n=len(claims)))
    attacks, problems = await _attacks(ctx, context, given, claims, facts, cards)
    read = tuple(dict.fromkeys(card.url for card in cards.values()))
    language = given.setting.language
    cases = [
        _Case(claim, near := ledger.facts_for(claim.text, facts, ledger.read_for(claim, given.finding)),
              ledger.all_held_against(claim.text, near, cards, language))
        for claim in claims
    ]  # fmt: skip
    for case in cases:
        speaks = [cards[fact.source_id] for fact in case.facts if case.held[fact.id] != ledger.UNRELATED]
        case.queries = _queries(case.claim.text, attacks.get(case.claim.id), speaks, given.wanted)
    await _search(ctx, given.setting, cases, read)
    cards |= {card.id: card for case in cases for card in case.found.cards}
    for case in cases:
        case.facts = tuple({fact.id: fact for fact in (*case.facts, *case.found.facts)}.values())
        case.held |= ledger.all_held_against(case.claim.text, case.found.facts, cards, language)
    failed = await _second_opinion(ctx, context, cases, cards, language)
    known, done, found = {fact.id for fact in facts}, list[ledger.ClaimDone](), [case.found for case in cases]
    for case in cases:
        of = case.found
        done.append(ledger.settled(case.claim, case.held, case.facts, cards, of.counter, known, checked=of.checked))
        ctx.emit(f"claim:{case.claim.id}", ClaimWeighed(node=given.finding.path, claim=done[-1].claim))
    problems += (*failed, *(problem for one in found for problem in one.problems))
    sources = {card.id: card for one in done for card in one.sources}
    of_none = idle(card for one in found for card in one.cards if card.id not in sources)
    rejected = {one.url: one for one in (*of_none, *(source for one in found for source in one.rejected))}
    finding = Finding(
        path=ctx.path, title=LABEL, role="challenge", status="done" if not problems else "partial",
        note=Said("{n} of its steps failed", n=len(problems)) if problems else Said(),
        facts=tuple({fact.id: fact for one in done for fact in one.facts}.values()),
        sources=tuple(sources.values()), rejected=tuple(rejected.values()),
        searches=tuple(record for one in found for record in one.searches), problems=problems,
        **spent(ctx, started),
    )  # fmt: skip
    form, checked = "{n} of {all} claims checked, {searches} counter-searches", sum(one.checked for one in found)
    tell("partial" if problems else "done", Said(form, n=checked, all=len(done), searches=len(finding.searches)))
    return Challenged(claims=tuple(done), finding=finding)


async def _attacks(
    ctx: Ctx, context: RunContext, given: ChallengeGiven, claims: Sequence[PlannedClaim], facts: tuple[Fact, ...],
    cards: dict[str, SourceCard],
) -> tuple[dict[str, Attack], tuple[Problem, ...]]:  # fmt: skip
    """Have the challenger write the searches, where there is time and wish to search."""
    if not given.search or ctx.finishing or ctx.collecting_left == 0:
        return {}, ()
    said = [[f"{fact.statement} [{cards[fact.source_id].title}]" for fact in ledger.facts_for(claim.text, facts)[:2]]
            for claim in claims]  # fmt: skip
    notes = tuple(
        ClaimNote(number=number, text=claim.text, evidence=tuple(evidence))
        for number, (claim, evidence) in enumerate(zip(claims, said, strict=True), start=1)
    )
    setting = given.setting
    asked_for = ChallengeInput(
        query=setting.query, claims=notes, language=setting.language, today=setting.today
    )  # fmt: skip
    # Of a fact that is looked up code knows as well what to search for; of any claim that the challenger leaves out, too.
    challenger = context.by_code(CHALLENGER.name) if asks_for_facts(setting.query) else context
    answer, problems = await asked(ctx, challenger, CHALLENGER, asked_for, ctx.within(CALL_SHARE), "challenger")
    wanted: Challenge = searches_against(asked_for)
    if answer is not None and any(attack.queries for attack in answer.output.attacks):
        wanted = Challenge(attacks=(*wanted.attacks, *answer.output.attacks))
    by_number = {attack.claim_number: attack for attack in wanted.attacks}
    attacks = {claim.id: by_number[number] for number, claim in enumerate(claims, start=1) if number in by_number}
    return {key: one for key, one in attacks.items() if any(query.strip() for query in one.queries)}, problems


def _queries(
    claim: str, attack: Attack | None, speaks: Sequence[SourceCard], wanted: ledger.Thresholds
) -> tuple[str, ...]:
    """Say what to search for a claim to which the sources `speaks` speak already."""
    queries = [query for query in attack.queries if query.strip()][:2] if attack else []
    domains = {publisher(card.url, card.site or card.author) for card in speaks}
    short = len(speaks) < wanted.min_evidence_per_claim or len(domains) < wanted.min_distinct_domains_per_claim
    if queries and short:
        # Targeted rework: a claim that falls short is searched for itself while there is time, before a second attack.
        queries.insert(1, claim)
    return tuple(dict.fromkeys(queries))


async def _search(ctx: Ctx, setting: Setting, cases: Sequence[_Case], read: tuple[str, ...]) -> None:
    """Search against all claims side by side. One claim of each branch comes first, so that no topic is starved."""
    before = Counter[tuple[str, ...]]()
    turn: dict[str, int] = {}
    for case in cases:
        turn[case.claim.id] = before[case.claim.leaves[:1]]
        before[case.claim.leaves[:1]] += 1
    beside = max(0, sum(bool(case.queries) for case in cases) - 1)
    ordered = sorted(cases, key=lambda case: turn[case.claim.id])
    items = [
        (
            f"claim-{case.claim.id}",
            ClaimGiven(claim=case.claim, queries=case.queries, read=read, setting=setting, beside=beside),
        )
        for case in ordered
    ]
    for case, one in zip(ordered, await ctx.children("claim", items, gives=ClaimFound), strict=True):
        case.found = ClaimFound(problems=(one.problem(),), checked=False) if isinstance(one, StepFailed) else one


async def _second_opinion(
    ctx: Ctx, context: RunContext, cases: Sequence[_Case], cards: Mapping[str, SourceCard], language: str
) -> tuple[Problem, ...]:
    """Ask the stance judge about the facts that code could not place; where it fails, code's word stands."""
    pairs = [(case, fact) for case in cases for fact in case.facts if case.held[fact.id].open][:MOST_PAIRS]
    if not pairs:
        return ()
    notes = tuple(
        StanceNote(number=number, claim=case.claim.text, quote=fact.quote, source=cards[fact.source_id].title)
        for number, (case, fact) in enumerate(pairs, start=1)
    )
    asked_for = StanceInput(pairs=notes, language=language)
    answer, problems = await asked(ctx, context, STANCE_JUDGE, asked_for, ctx.within(CALL_SHARE), "stance")
    for row in answer.output.rows if answer is not None else ():
        if 1 <= row.number <= len(pairs):
            case, fact = pairs[row.number - 1]
            case.held[fact.id] = ledger.with_a_models_word(case.held[fact.id], row.stance)
    return problems


async def run_claim(context: RunContext, ctx: Ctx, given: ClaimGiven, choose: Choice = _the_first) -> ClaimFound:
    """Search for a claim and read what is about its subject; nothing found is an answer, a failed search is not."""
    queries, claim = given.queries[: given.searches], given.claim.text
    if not queries or ctx.finishing or ctx.collecting_left == 0:
        return ClaimFound()
    made = await search_all(ctx, context, given.setting, queries, ctx.deadline)
    hits = {hit.url: hit for found_by in made.lists for hit in reversed(found_by)}
    shown = to_read(claim, tuple(hits.values()))
    chosen = await choose(tuple(url for url in shown if url not in given.read))
    urls = [*chosen, *(url for url in shown if url in given.read)][:NEW_SOURCES]
    fetched = await fetched_by(ctx, context, urls, ctx.deadline)
    cards = tuple(one for one in fetched if isinstance(one, SourceCard))
    found = ClaimFound()
    if cards:
        found = await ctx.call("picked", "0", _picked, context, cards, claim, gives=ClaimFound, pool="local")
    node, about, rejected = ctx.path.rsplit("/", 1)[0], {card.id for card in found.cards}, list[RejectedSource]()
    for card in found.cards:
        count = sum(fact.source_id == card.id for fact in found.facts)
        ctx.emit(f"read:{card.id}", SourceRead(node=node, source=card, facts=count))
    for url, one in zip(urls, fetched, strict=True):
        if isinstance(one, SourceCard) and one.id not in about:
            rejected.append(RejectedSource(url=url, title=one.title, reason=READ_FOR_NOTHING, read=True))
            ctx.emit(f"rejected:{one.id}", SourceRejected(node=node, url=url, reason=READ_FOR_NOTHING, page="read"))
        elif isinstance(one, StepFailed) and one.type == "SourceError":
            why = one.reason or Said(one.notice)
            rejected.append(RejectedSource(url=url, reason=why))
            # No page of a sub-question: those are asked for again, and told as retries.
            ctx.emit(f"rejected:{Source.id_of(url)}", SourceRejected(node=node, url=url, reason=why))
    searched = tuple(record.text for record in made.records if not record.failed and record.text != claim)
    failed = (one for one in fetched if isinstance(one, StepFailed) and one.type != "SourceError")
    return found.model_copy(
        update={"counter": CounterSearch(queries=searched, read=len(found.cards)), "searches": made.records,
                "read": tuple(urls), "rejected": tuple(rejected),
                "problems": tuple(one.problem() for one in failed)}
    )  # fmt: skip


def to_read(claim: str, hits: tuple[Hit, ...]) -> list[str]:
    """Choose what a counter-search may read: what its hits show to be about the claim's subject."""
    subject = ledger.subject_of(claim)
    return [
        hit.url
        for hit in hits
        for shown in (f"{hit.title} {hit.snippet}",)
        if (
            names_held(subject, stems_of(shown)) if subject.names else ledger.shared(claim, shown) >= ledger.SAME_MATTER
        )
    ]


async def _picked(context: RunContext, cards: tuple[SourceCard, ...], claim: str) -> ClaimFound:
    """Take the sentences of documents that speak of a claim's subject and measure: the body of a step, without a model."""
    facts: dict[str, Fact] = {}
    about: list[SourceCard] = []
    subject = ledger.subject_of(claim)
    for card in cards:
        source = await context.text_of(card)
        if len(names_held(subject, stems_of(f"{source.title} {source.text}"))) < len(subject.names):
            continue
        about.append(card)
        own = spans(source.text)
        for at in ledger.speaking(claim, [source.text[one.start : one.end] for one in own], card, SENTENCES):
            if fact := fact_of(PointedFact(sentences=(at + 1,), question=0, sure=0.7), source, own, claim):
                facts.setdefault(fact.id, fact)
    return ClaimFound(facts=tuple(facts.values()), cards=tuple(about))
