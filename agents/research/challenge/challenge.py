"""The challenge: for each claim the facts' stance is judged, and counter-evidence is deliberately searched for."""

from agents.contracts.claim import Claim, CounterSearch, Evidence
from agents.contracts.fact import Fact
from agents.contracts.finding import Finding, Problem, SearchRecord
from agents.contracts.frozen import Frozen
from agents.contracts.plan import Plan
from agents.contracts.source import SearchQuery, Source, SourceCard
from agents.contracts.verification import Attack, Challenge, ChallengeInput, ClaimNote, FactNote, StanceInput, Stances
from agents.core.errors import StepFailed
from agents.core.events import NodeChanged, SearchDone
from agents.core.port import Ctx, Handler
from agents.core.role import Asked
from agents.research.challenge.claim_ledger import LedgerClaim, claims_of, evidence_from, facts_for, held_by, settled
from agents.research.reading.given_facts import Setting
from agents.research.reading.leaf import spent
from agents.research.reading.source import SourceDone, SourceGiven
from agents.research.run_context import Desk, Searched
from agents.roles.challenger import CHALLENGER
from agents.roles.verifier import STANCE_JUDGE

NEW_SOURCES = 2
"""Sources read for the counter-evidence of one claim."""
CALL_SHARE = 0.12
"""Part of the whole time that one call of the challenge may take."""
LABEL = "Challenge"


class ChallengeGiven(Frozen):
    """One query whose claims are to be challenged."""

    plan: Plan
    finding: Finding
    setting: Setting
    parent: str
    min_evidence: int = 3
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


class ClaimDone(Frozen):
    """One claim, settled or not, with what the search against it brought."""

    claim: Claim
    origins: int
    merged: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    sources: tuple[SourceCard, ...] = ()
    searches: tuple[SearchRecord, ...] = ()
    problems: tuple[Problem, ...] = ()


class Challenged(Frozen):
    """One query's ledger, and the finding that holds the facts of the counter-search."""

    claims: tuple[ClaimDone, ...]
    finding: Finding | None = None


def challenge_handler(desk: Desk) -> Handler:
    """Challenge the claims of one query, side by side."""

    async def run(ctx: Ctx, given: ChallengeGiven) -> Challenged:
        started = ctx.elapsed
        facts, cards = held_by(given.finding)
        claims = claims_of(given.plan, given.finding) if facts else ()
        if not claims:
            return Challenged(claims=())

        def tell(state: str, doing: str) -> None:
            ctx.emit(
                f"state:{state}",
                NodeChanged.model_validate(
                    {
                        "node": ctx.path,
                        "parent": given.parent,
                        "role": "leaf",
                        "title": LABEL,
                        "state": state,
                        "doing": doing,
                    }
                ),
            )

        tell("searching", f"what speaks against {len(claims)} claims")
        attacks, problems = await _attacks(ctx, desk, given, claims, facts, cards)
        read = tuple(dict.fromkeys(card.url for card in cards.values()))
        items: list[tuple[str, Frozen]] = []
        for claim in claims:
            near = facts_for(claim.text, facts)
            sources = tuple(cards[source] for source in dict.fromkeys(fact.source_id for fact in near))
            items.append(
                (
                    claim.id,
                    ClaimGiven(
                        claim=claim,
                        facts=near,
                        cards=sources,
                        read=read,
                        attack=attacks.get(claim.id),
                        setting=given.setting,
                    ),
                )
            )
        results = await ctx.children("claim", items, gives=ClaimDone)
        done: list[ClaimDone] = []
        for claim, result in zip(claims, results, strict=True):
            if isinstance(result, StepFailed):
                problems += (_problem(result),)
                open_, count, _ = settled(claim, (), {}, {}, CounterSearch(), checked=False)
                done.append(ClaimDone(claim=open_, origins=count))
            else:
                done.append(result)
        finding = Finding(
            path=ctx.path,
            title=LABEL,
            role="challenge",
            status="done" if not problems else "partial",
            note="" if not problems else f"{len(problems)} steps of the challenge failed",
            facts=tuple({fact.id: fact for one in done for fact in one.facts}.values()),
            sources=tuple({card.id: card for one in done for card in one.sources}.values()),
            searches=tuple(record for one in done for record in one.searches),
            problems=(*problems, *(problem for one in done for problem in one.problems)),
            **spent(ctx, started),
        )
        checked = sum(1 for one in done if one.claim.verdict != "not_checked")
        tell(finding.status, f"{checked} of {len(done)} claims checked, {len(finding.searches)} counter-searches")
        return Challenged(claims=tuple(done), finding=finding)

    return Handler(run=run, takes=ChallengeGiven, gives=Challenged)


async def _attacks(
    ctx: Ctx,
    desk: Desk,
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
                f"{fact.statement} [{cards[fact.source_id].title}]" for fact in facts_for(claim.text, facts)[:3]
            ),
        )
        for number, claim in enumerate(claims, start=1)
    )
    asked_for = ChallengeInput(
        query=given.setting.query, claims=notes, language=given.setting.language, today=given.setting.today
    )
    try:
        asked = await ctx.call(
            "challenger", "0", desk.ask, CHALLENGER, asked_for, ctx.within(CALL_SHARE), gives=Asked[Challenge]
        )
    except StepFailed as failure:
        return {}, (_problem(failure),)
    return {
        claims[attack.claim_number - 1].id: attack
        for attack in asked.output.attacks
        if 1 <= attack.claim_number <= len(claims) and any(query.strip() for query in attack.queries)
    }, ()


def claim_handler(desk: Desk) -> Handler:
    """Judge what speaks to one claim, search for what speaks against it, judge that too."""

    async def run(ctx: Ctx, given: ClaimGiven) -> ClaimDone:
        cards = {card.id: card for card in given.cards}
        facts = {fact.id: fact for fact in given.facts}
        evidence, checked, problems = await _judged(ctx, desk, given, given.facts, cards, "held")
        text = next((query for query in given.attack.queries if query.strip()), "") if given.attack else ""
        questions = (f"What contradicts, limits or corrects this: {given.claim.text}", given.claim.text)
        against = await _bring(ctx, desk, given, "against", text, questions)
        rework = Brought()
        if given.attack and checked and len(evidence) < given.min_evidence:
            # Targeted rework: a claim that falls short is searched for itself while there is time.
            rework = await _bring(ctx, desk, given, "rework", given.claim.text, (given.claim.text,))
        new = {fact.id: fact for fact in (*against.facts, *rework.facts)}
        if new:
            cards |= {card.id: card for card in (*against.cards, *rework.cards)}
            facts |= new
            more, judged, failed = await _judged(ctx, desk, given, tuple(new.values()), cards, "new")
            evidence, checked, problems = (*evidence, *more), checked or judged, (*problems, *failed)
        counter = CounterSearch(queries=(text,) if against.searched else (), found=len(against.facts))
        claim, count, merged = settled(given.claim, evidence, facts, cards, counter, checked=checked)
        used = {one.fact_id for one in evidence}
        kept = tuple(fact for fact in new.values() if fact.id in used)
        return ClaimDone(
            claim=claim,
            origins=count,
            merged=merged,
            facts=kept,
            sources=tuple(cards[source] for source in dict.fromkeys(fact.source_id for fact in kept)),
            searches=(*against.records, *rework.records),
            problems=(*problems, *against.problems, *rework.problems),
        )

    return Handler(run=run, takes=ClaimGiven, gives=ClaimDone)


async def _judged(
    ctx: Ctx, desk: Desk, given: ClaimGiven, facts: tuple[Fact, ...], cards: dict[str, SourceCard], key: str
) -> tuple[tuple[Evidence, ...], bool, tuple[Problem, ...]]:
    """Have the stance of facts on the claim judged from their text; False where nobody could judge."""
    if not facts:
        return (), True, ()
    notes = tuple(
        FactNote(
            number=number,
            statement=fact.statement,
            quote=fact.quote,
            source=cards[fact.source_id].title,
            published=cards[fact.source_id].published,
        )
        for number, fact in enumerate(facts, start=1)
    )
    asked_for = StanceInput(claim=given.claim.text, facts=notes, language=given.setting.language)
    try:
        asked = await ctx.call(
            "stance", key, desk.ask, STANCE_JUDGE, asked_for, ctx.within(CALL_SHARE), gives=Asked[Stances]
        )
    except StepFailed as failure:
        return (), False, (_problem(failure),)
    return evidence_from(asked.output.rows, facts, cards), True, ()


class Brought(Frozen):
    """What one targeted search for a claim brought."""

    searched: bool = False
    facts: tuple[Fact, ...] = ()
    cards: tuple[SourceCard, ...] = ()
    records: tuple[SearchRecord, ...] = ()
    problems: tuple[Problem, ...] = ()


async def _bring(ctx: Ctx, desk: Desk, given: ClaimGiven, key: str, text: str, questions: tuple[str, ...]) -> Brought:
    """Search once for a claim and read what is new; nothing found is an answer, a failed search is not."""
    if not text.strip() or ctx.finishing or ctx.collecting_left == 0:
        return Brought()
    setting = given.setting
    query = SearchQuery(
        text=text,
        include_domains=setting.domains,
        exclude_domains=setting.exclude_domains,
        date_from=setting.date_from,
        date_to=setting.date_to,
    )
    try:
        searched = await ctx.call("search", key, desk.search, query, ctx.deadline, gives=Searched, pool="web")
    except StepFailed as failure:
        ctx.emit(f"failed:{key}", SearchDone(node=ctx.path, text=text, provider="", hits=0, failed=failure.notice))
        return Brought(records=(SearchRecord(text=text, provider="", hits=0, failed=failure.notice),))
    hits = searched.result.hits
    record = SearchRecord(text=text, provider=searched.result.provider, hits=len(hits))
    # Independent sources first; where there are no others, the known ones are read for this question.
    urls = [hit.url for hit in hits if hit.url not in given.read] or [hit.url for hit in hits]
    reading = [
        (
            f"{key}-{Source.id_of(url)}",
            SourceGiven(
                url=url, objective=given.claim.text, questions=questions, language=setting.language, today=setting.today
            ),
        )
        for url in urls[:NEW_SOURCES]
    ]
    done = await ctx.children("source", reading, gives=SourceDone)
    known = {fact.id for fact in given.facts}
    facts: list[Fact] = []
    cards: list[SourceCard] = []
    problems: list[Problem] = []
    for one in done:
        if isinstance(one, StepFailed):
            problems.append(_problem(one))
        elif one.problem is not None:
            problems.append(one.problem)
        elif one.card is not None:
            new = [fact for fact in one.reading.facts if fact.id not in known]
            facts += new
            cards += [one.card] if new else []
    return Brought(searched=True, facts=tuple(facts), cards=tuple(cards), records=(record,), problems=tuple(problems))


def _problem(failure: StepFailed) -> Problem:
    return Problem(where=failure.key, type=failure.type, message=failure.notice, retryable=failure.retryable)
