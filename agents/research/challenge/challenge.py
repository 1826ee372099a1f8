"""The challenge: for each claim the facts at hand are held against it, and counter-evidence is deliberately searched for."""

from agents.contracts.fact import Fact, PointedFact
from agents.contracts.finding import Finding, Problem, SearchRecord
from agents.contracts.frozen import Frozen, Said
from agents.contracts.sources import Hit, SourceCard
from agents.contracts.verification import (
    Attack,
    Challenge,
    ChallengeInput,
    Claim,
    ClaimNote,
    CounterSearch,
    Evidence,
    StanceInput,
    StanceNote,
    Stances,
)
from agents.core.errors import StepFailed
from agents.core.events import ClaimWeighed, SourceRead
from agents.core.port import Ctx, Handler
from agents.core.role import RoleAnswer
from agents.nlp.lang import spans
from agents.offline.judgements import challenge as searches_against
from agents.offline.questions import asks_for_facts, names_held, stems_of
from agents.research.challenge.claim_ledger import (
    SAME_MATTER,
    UNRELATED,
    LedgerClaim,
    claims_of,
    evidence_of,
    facts_for,
    held_against,
    held_by,
    read_for,
    settled,
    shared,
    speaking,
    subject_of,
    with_a_models_word,
)
from agents.research.reading.hold_extraction import fact_of
from agents.research.reading.leaf import spent
from agents.research.reading.searching import Setting, search_all, teller
from agents.research.run_context import RunContext
from agents.roles import CHALLENGER, STANCE_JUDGE
from agents.web.url_key import publisher

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
    parent: str
    min_evidence: int = 3
    min_domains: int = 2
    search: bool = True
    """False where the search for counter-evidence is switched off."""


class ClaimGiven(Frozen):
    """One claim, with what may speak to it already."""

    claim: LedgerClaim
    facts: tuple[Fact, ...]
    cards: tuple[SourceCard, ...]
    read: tuple[str, ...]
    """Addresses already read for this query: counter-evidence comes from others where there are any."""
    attack: Attack | None
    setting: Setting
    min_evidence: int = 3
    min_domains: int = 2
    searches: int = 3
    """Searches that it may make, at most."""


class ClaimFound(Frozen):
    """What speaks to one claim: at hand, and found against it."""

    facts: tuple[Fact, ...] = ()
    cards: tuple[SourceCard, ...] = ()
    counter: CounterSearch = CounterSearch()
    searches: tuple[SearchRecord, ...] = ()
    problems: tuple[Problem, ...] = ()


class ClaimDone(Frozen):
    """One claim, settled or not, with what the search against it brought."""

    claim: Claim
    origins: int
    facts: tuple[Fact, ...] = ()
    sources: tuple[SourceCard, ...] = ()


class Challenged(Frozen):
    """One query's ledger, and the finding that holds the facts of the counter-search."""

    claims: tuple[ClaimDone, ...]
    finding: Finding | None = None


def challenge_handler(context: RunContext) -> Handler:
    """Challenge the claims of one query, side by side."""

    async def run(ctx: Ctx, given: ChallengeGiven) -> Challenged:
        started = ctx.elapsed
        facts, cards = held_by(given.finding)
        claims = claims_of(given.setting.query, given.setting.claims, given.finding) if facts else ()
        if not claims:
            return Challenged(claims=())

        tell = teller(ctx, given.parent, "leaf", LABEL)
        tell("searching", Said("what speaks against {n} {n:claim|claims}", n=len(claims)))
        attacks, problems = await _attacks(ctx, context, given, claims, facts, cards)
        read = tuple(dict.fromkeys(card.url for card in cards.values()))
        items: list[tuple[str, Frozen]] = []
        for claim in claims:
            near = facts_for(claim.text, facts, read_for(claim, given.finding))
            below = ClaimGiven(
                claim=claim, facts=near,
                cards=tuple(cards[source] for source in dict.fromkeys(fact.source_id for fact in near)), read=read,
                attack=attacks.get(claim.id), setting=given.setting, min_evidence=given.min_evidence,
                min_domains=given.min_domains,
            )  # fmt: skip
            items.append((claim.id, below))
        results = await ctx.children("claim", items, gives=ClaimFound)
        problems += tuple(one.problem() for one in results if isinstance(one, StepFailed))
        found = [one if isinstance(one, ClaimFound) else None for one in results]
        done, failed = await _settled(ctx, context, given, claims, found)
        problems += (*failed, *(problem for one in found if one for problem in one.problems))
        finding = Finding(
            path=ctx.path, title=LABEL, role="challenge", status="done" if not problems else "partial",
            note=Said("{n} of its steps failed", n=len(problems)) if problems else Said(),
            facts=tuple({fact.id: fact for one in done for fact in one.facts}.values()),
            sources=tuple({card.id: card for one in done for card in one.sources}.values()),
            searches=tuple(record for one in found if one for record in one.searches), problems=problems,
            **spent(ctx, started),
        )  # fmt: skip
        checked, form = (
            sum(one.claim.verdict != "not_checked" for one in done),
            "{n} of {all} claims checked, {searches} counter-searches",
        )
        tell("partial" if problems else "done", Said(form, n=checked, all=len(done), searches=len(finding.searches)))
        return Challenged(claims=done, finding=finding)

    return run


async def _attacks(
    ctx: Ctx,
    context: RunContext,
    given: ChallengeGiven,
    claims: tuple[LedgerClaim, ...],
    facts: tuple[Fact, ...],
    cards: dict[str, SourceCard],
) -> tuple[dict[str, Attack], tuple[Problem, ...]]:
    """Have the challenger write the searches, where there is time and wish to search."""
    if not given.search or ctx.finishing or ctx.collecting_left == 0:
        return {}, ()
    notes = tuple(
        ClaimNote(
            number=number,
            text=claim.text,
            evidence=tuple(
                f"{fact.statement} [{cards[fact.source_id].title}]" for fact in facts_for(claim.text, facts)[:2]
            ),
        )
        for number, claim in enumerate(claims, start=1)
    )
    asked_for = ChallengeInput(
        query=given.setting.query, claims=notes, language=given.setting.language, today=given.setting.today
    )
    # Of a fact that is looked up code knows as well what to search for; of any claim that the challenger leaves out, too.
    challenger = context.by_code(CHALLENGER.name) if asks_for_facts(given.setting.query) else context
    wanted = searches_against(asked_for)
    problems: tuple[Problem, ...] = ()
    try:
        asked = await ctx.call(
            "challenger", "0", challenger.ask, CHALLENGER, asked_for, ctx.within(CALL_SHARE), gives=RoleAnswer[Challenge]
        )  # fmt: skip
    except StepFailed as failure:
        problems = (failure.problem(),)
    else:
        if any(attack.queries for attack in asked.output.attacks):
            wanted = Challenge(attacks=(*wanted.attacks, *asked.output.attacks))
    by_number = {attack.claim_number: attack for attack in wanted.attacks}
    return {
        claim.id: by_number[number]
        for number, claim in enumerate(claims, start=1)
        if number in by_number and any(query.strip() for query in by_number[number].queries)
    }, problems


async def _settled(
    ctx: Ctx,
    context: RunContext,
    given: ChallengeGiven,
    claims: tuple[LedgerClaim, ...],
    found: list[ClaimFound | None],
) -> tuple[tuple[ClaimDone, ...], tuple[Problem, ...]]:
    """Hold facts against claims by code, ask a model once about what code left open, and weigh."""
    language = given.setting.language
    held = [
        {
            fact.id: held_against(claim.text, fact, cards[fact.source_id], language)
            for cards in ({card.id: card for card in one.cards},)
            for fact in one.facts
        }
        if one
        else {}
        for claim, one in zip(claims, found, strict=True)
    ]
    pairs = [(at, fact) for at, one in enumerate(found) if one for fact in one.facts if held[at][fact.id].open]
    problems: tuple[Problem, ...] = ()
    if pairs := pairs[:MOST_PAIRS]:
        titles = {card.id: card.title for one in found if one for card in one.cards}
        notes = tuple(
            StanceNote(number=number, claim=claims[at].text, quote=fact.quote, source=titles[fact.source_id])
            for number, (at, fact) in enumerate(pairs, start=1)
        )
        asked_for = StanceInput(pairs=notes, language=language)
        try:
            asked = await ctx.call(
                "stance", "0", context.ask, STANCE_JUDGE, asked_for, ctx.within(CALL_SHARE), gives=RoleAnswer[Stances]
            )
        except StepFailed as failure:
            problems = (failure.problem(),)
        else:
            for row in asked.output.rows:
                if 1 <= row.number <= len(pairs):
                    at, fact = pairs[row.number - 1]
                    held[at][fact.id] = with_a_models_word(held[at][fact.id], row.stance)
    done: list[ClaimDone] = []
    for claim, one, stances in zip(claims, found, held, strict=True):
        facts = {fact.id: fact for fact in one.facts} if one else {}
        cards = {card.id: card for card in one.cards} if one else {}
        evidence: list[Evidence] = [
            evidence_of(facts[key], cards[facts[key].source_id], stance)
            for key, stance in stances.items()
            if stance.stance != UNRELATED.stance
        ]
        counter = one.counter if one else CounterSearch()
        known = {fact.id for fact in held_by(given.finding)[0]}
        against = sum(item.stance != "supports" and item.fact_id not in known for item in evidence)
        counter = counter.model_copy(update={"found": against})
        settled_claim, origins = settled(claim, evidence, facts, cards, counter, checked=one is not None)
        ctx.emit(f"claim:{claim.id}", ClaimWeighed(node=given.finding.path, claim=settled_claim))
        kept = tuple(facts[item.fact_id] for item in evidence if item.fact_id not in known)
        done.append(
            ClaimDone(
                claim=settled_claim,
                origins=origins,
                facts=kept,
                sources=tuple(cards[source] for source in dict.fromkeys(fact.source_id for fact in kept)),
            )
        )
    return tuple(done), problems


def claim_handler(context: RunContext) -> Handler:
    """Search for what speaks against one claim, and read what is about its subject."""

    async def run(ctx: Ctx, given: ClaimGiven) -> ClaimFound:
        cards = {card.id: card for card in given.cards}
        speaks = [
            fact
            for fact in given.facts
            if held_against(given.claim.text, fact, cards[fact.source_id], given.setting.language) != UNRELATED
        ]
        queries = [query for query in given.attack.queries if query.strip()][:2] if given.attack else []
        domains = {publisher(card.url, card.site or card.author) for card in (cards[one.source_id] for one in speaks)}
        if given.attack and (len(speaks) < given.min_evidence or len(domains) < given.min_domains):
            # Targeted rework: a claim that falls short is searched for itself while there is time, before a second attack.
            queries.insert(1, given.claim.text)
        return await _brought(ctx, context, given, list(dict.fromkeys(queries))[: given.searches])

    return run


async def _brought(ctx: Ctx, context: RunContext, given: ClaimGiven, queries: list[str]) -> ClaimFound:
    """Search for a claim and read what is about its subject; nothing found is an answer, a failed search is not."""
    if not queries or ctx.finishing or ctx.collecting_left == 0:
        return ClaimFound(facts=given.facts, cards=given.cards)
    made = await search_all(ctx, context, given.setting, queries, ctx.deadline)
    hits = {hit.url: hit for found_by in made.lists for hit in reversed(found_by)}
    urls = to_read(given.claim.text, tuple(hits.values()), given.read)
    fetched = await ctx.fan(
        "fetch", context.fetch, [(url, url, ctx.deadline) for url in urls], gives=SourceCard, pool="web"
    )
    for url, read in zip(urls, fetched, strict=True):
        await context.note_fetched(url, ctx.path, read)
    cards = tuple(one for one in fetched if isinstance(one, SourceCard))
    found = ClaimFound()
    if cards:
        found = await ctx.call("picked", "0", _picked, context, cards, given.claim.text, gives=ClaimFound, pool="local")
    for card in found.cards:
        count = sum(fact.source_id == card.id for fact in found.facts)
        ctx.emit(f"read:{card.id}", SourceRead(node=ctx.path.rsplit("/", 1)[0], source=card, facts=count))
    searched = tuple(record.text for record in made.records if not record.failed and record.text != given.claim.text)
    return ClaimFound(
        facts=tuple({fact.id: fact for fact in (*given.facts, *found.facts)}.values()),
        cards=tuple({card.id: card for card in (*given.cards, *found.cards)}.values()),
        counter=CounterSearch(queries=searched, read=len(found.cards)),
        searches=made.records,
        problems=tuple(
            one.problem() for one in fetched if isinstance(one, StepFailed) and one.type not in {"SourceError"}
        ),
    )


def to_read(claim: str, hits: tuple[Hit, ...], read: tuple[str, ...]) -> list[str]:
    """Choose what a counter-search reads: what its hits show to be about the claim's subject, independent sources first."""
    subject = subject_of(claim)
    about = [
        hit.url
        for hit in hits
        for shown in (f"{hit.title} {hit.snippet}",)
        if (names_held(subject, stems_of(shown)) if subject.names else shared(claim, shown) >= SAME_MATTER)
    ]
    return [*(url for url in about if url not in read), *(url for url in about if url in read)][:NEW_SOURCES]


async def _picked(context: RunContext, cards: tuple[SourceCard, ...], claim: str) -> ClaimFound:
    """Take the sentences of documents that speak of a claim's subject and measure: the body of a step, without a model."""
    facts: list[Fact] = []
    about: list[SourceCard] = []
    subject = subject_of(claim)
    for card in cards:
        source = await context.text_of(card)
        if len(names_held(subject, stems_of(f"{source.title} {source.text}"))) < len(subject.names):
            continue
        about.append(card)
        own = spans(source.text)
        chosen = speaking(claim, [source.text[one.start : one.end] for one in own], card, SENTENCES)
        made = (fact_of(PointedFact(sentences=(at + 1,), question=0, sure=0.7), source, own, claim) for at in chosen)
        facts += [fact for fact in made if fact]
    return ClaimFound(facts=tuple({fact.id: fact for fact in facts}.values()), cards=tuple(about))
