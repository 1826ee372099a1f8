"""A leaf: search, and read a handful of sources side by side, beside the facts of an earlier report that speak to it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import NamedTuple, TypedDict

from agents.contracts.contract import place
from agents.contracts.fact import Fact
from agents.contracts.finding import Finding, NodeStatus, Problem, SearchRecord
from agents.contracts.frozen import Said, digest
from agents.contracts.plan import MAX_ATTEMPTS, Leaf, RetryEntry
from agents.contracts.report import Earlier
from agents.contracts.sources import RejectedSource, Source, SourceCard
from agents.core.errors import StepFailed
from agents.core.port import Ctx, Handler, Handlers
from agents.core.time_policy import LATE_SEARCH_SHARE
from agents.offline.questions import asks_for_facts, asks_for_figures, is_named, parts_of
from agents.research.reading.answering import beside_the_point, is_about, leads_to, settled_by, told_by
from agents.research.reading.hold_extraction import SourceGiven
from agents.research.reading.nearest import MOST_LOOKED_THROUGH, Nearest, nearest
from agents.research.reading.read_sources import SourceDone, SourcesDone
from agents.research.reading.searching import LeafGiven, Searches, search_for, sub_questions, teller
from agents.research.run_context import Listed, RunContext
from agents.research.steering import STOPPED
from agents.roles import EXTRACTOR
from agents.search.scope_filter import ruled_out

CALLS_AT_ONCE = 6
"""Calls of one job that are made at once (specification, section 9)."""
FEWEST_TOGETHER = 2
"""Pages that share a call where there are more than one."""
FIRST_OF_A_LOOKUP = 4
"""Sources that a lookup reads first; the others only where these do not settle it."""
SOURCES_OF_A_LOOKUP = 2
"""Independent sources that settle a lookup."""

SHORTENED = "the run was shortened before all its sources were read"
NOT_WORKED = "{n} of {all} {all:source|sources} could not be worked through"
NOT_SEARCHED = "{n} of {all} {all:search|searches} failed"
SAME_TEXT = "the same text as another source ({source})"
FOUND = "{facts} {facts:fact|facts} of {sources} {sources:source|sources}"
NOTHING_YET = "you stopped it before it had found anything"
AWAITS = "what the sections beside it read may answer it"
GIVEN_UP = f"given up after {MAX_ATTEMPTS} failed searches"
READ_FOR_NOTHING = "read; says nothing to the point"


def not_begun(ctx: Ctx) -> str:
    """Say why a leaf made no search at all."""
    return "not begun: time was up" if ctx.collecting_left == 0 else "not begun: you asked to write from what is there"


async def run_leaf(context: RunContext, ctx: Ctx, given: LeafGiven) -> Finding:
    """Work through one leaf."""
    started, leaf = ctx.elapsed, given.leaf
    tell = teller(ctx, "leaf", leaf.title)
    late = ctx.collecting_left == 0 and not ctx.finishing
    if ctx.finishing or ctx.left == 0:
        tell("stopped", "you asked to finish" if ctx.finishing else "time is kept for writing")
        return Finding(path=ctx.path, title=leaf.title, role="leaf", status="stopped", note=not_begun(ctx))
    if given.failures >= MAX_ATTEMPTS and not leaf.sources:
        tell("failed", GIVEN_UP)
        return Finding(
            path=ctx.path, title=leaf.title, role="leaf", status="failed", note=GIVEN_UP, attempts=given.tried
        )
    urls = list(dict.fromkeys(leaf.sources))
    found = Searches()
    if leaf.searches:
        tell("searching", leaf.searches[0])
        found = await search_for(ctx, context, given, ctx.writing(LATE_SEARCH_SHARE) if late else ctx.deadline)
        urls += [hit.url for hit in found.hits if hit.url not in urls]
    urls = await _own(ctx, context, given, urls)
    if urls and STOPPED not in found.cut:
        tell("reading", Said("{n} {n:source|sources}", n=len(urls)))
    read = await _read(ctx, urls, given, late=late)
    # What a model points at for a fact is held against the others. The offline engine has ranked its sentences, by words:
    # of those for a figure some have none.
    query, together, asked = given.setting.query, given.setting.loop.read_together, sub_questions(leaf)
    looked_up = together and asks_for_facts(query)
    got = gathered(read, asked, given.beside, query=query if looked_up or asks_for_figures(query) else "")
    # What is looked up was quoted already, page by page, where the model left it open.
    unread = together and context.fallback is not None and not looked_up
    if unread and any(one.card for one in read.values()) and not (got.facts or ctx.finishing):
        read = await _read(ctx, urls, given, late=late, pointless=True)
        got = gathered(read, asked, given.beside)
    done, cut = read.values(), found.cut | {one.cut for one in read.values() if one.cut}
    near, facts = Nearest(), (*got.facts, *taken_over(given, got.cards))
    cards = got.cards[:MOST_LOOKED_THROUGH]
    if cards and not cut and (looked_up or not (facts and context.models[EXTRACTOR.name].reasons)):
        shows = leaf.priority != "low"  # background is no part of what was asked
        given_near = (context, cards, asked, facts, query, shows)
        near = await ctx.call("nearest", "0", nearest, *given_near, gives=Nearest, pool="local")
        facts = (*(fact for fact in facts if fact.id not in near.beaten), *near.facts)
    attempts = tuple(
        RetryEntry(key=url, attempts=0 if one.given_up else 1, status="exhausted" if one.given_up else "pending")
        for url, one in read.items()
        if one.unread
    )
    stood_in = next((one.stood_in for one in done if one.stood_in), "")
    return leaf_ended(
        ctx, given, started, got._replace(facts=facts), found._replace(cut=cut), tried=len(read), near=near.passages,
        attempts=found.attempts + attempts, engine_note=stood_in if facts else "",
        insights=tuple(one.reading.insights for one in done if one.reading.insights is not None),
    )  # fmt: skip


def leaf_ended(
    ctx: Ctx, given: LeafGiven, started: float, got: "Gathered", found: Searches, *, tried: int, doing: Said = Said(),
    **more: object,
) -> Finding:  # fmt: skip
    """Say how a leaf ended, with what it has found: sources are those that facts are of. `doing` is told of what is written on."""
    facts, cut = got.facts, found.cut
    used = {fact.source_id for fact in facts}
    sources = tuple({one.id: one for one in (*got.cards, *given.known_sources) if one.id in used}.values())
    rejected = (*got.rejected, *idle(card for card in got.cards if card.id not in used))
    status, note = graded(found.records, rejected, got.problems, tried, found_any=bool(facts))
    if STOPPED in cut:
        status, note = "stopped", stopped_with(facts, sources)
    elif cut:
        status, note = ("partial" if facts else "stopped"), (facts and note) or Said(SHORTENED)
    tell = teller(ctx, "leaf", given.title)
    if facts and not cut:
        tell("writing", doing or kept(facts, sources))  # as soon as those beside it were read
    elif status == "empty" and given.beside:
        tell("reading", AWAITS, "awaits")  # how it ended is said when the round has shared out what it read
    elif not facts:
        tell(status, note)
    held: dict[str, object] = {
        "path": ctx.path, "title": given.title, "role": "leaf", "status": status, "note": note, "facts": facts,
        "sources": sources, "rejected": rejected, "searches": found.records, "asked": sub_questions(given.leaf),
        "ended": "stopped" if STOPPED in cut else "", "attempts": found.attempts,
        "problems": (*got.problems, *failed_searches(ctx.path, found.records)),
    }  # fmt: skip
    return Finding.model_validate({**held, **spent(ctx, started), **more})


def idle(cards: Iterable[SourceCard]) -> tuple[RejectedSource, ...]:
    """Set sources aside that were read and from which nothing is used."""
    return tuple(RejectedSource(url=one.url, title=one.title, reason=READ_FOR_NOTHING, read=True) for one in cards)


async def _own(ctx: Ctx, context: RunContext, given: LeafGiven, urls: list[str]) -> list[str]:
    """Choose what this leaf reads: leaves beside one another never read the same, and ask for one another."""
    most = max(given.leaf.budget.sources, len(given.leaf.sources))
    if not given.beside or not urls:
        return urls[:most]
    # Leaves of one round have the same questions between them; one of a later round may read a page for others.
    among, path = digest("|".join(sorted({*sub_questions(given.leaf), *given.beside})), 12), place(ctx.path)
    taken = await ctx.call(
        "sources", "0", context.take_sources, among, path, tuple(urls), most, gives=Listed, pool="local"
    )
    context.note_taken(among, path, taken)
    return list(taken.urls)


def graded(
    records: tuple[SearchRecord, ...],
    rejected: tuple[RejectedSource, ...],
    problems: Sequence[Problem],
    tried: int,
    *,
    found_any: bool,
) -> tuple[NodeStatus, Said]:
    """Say how the reading of a leaf ended, and what is missing of it; failed searches are in `records` and no problems."""
    failed = sum(1 for record in records if record.failed)
    if not found_any:
        return "failed" if records and failed == len(records) else "empty", _nothing(records, rejected)
    if problems:
        return "partial", Said(NOT_WORKED, n=len(problems), all=tried)
    return ("partial", Said(NOT_SEARCHED, n=failed, all=len(records))) if failed else ("done", Said())


def failed_searches(path: str, records: tuple[SearchRecord, ...]) -> list[Problem]:
    """Say which searches failed, and which providers in whose place another answered."""
    said = (
        message for one in records for message in ([one.failed] if one.failed else [f.reason for f in one.failures])
    )
    return [Problem(where=f"{path}#search", type="SearchError", message=one, retryable=True) for one in said]


async def _read(
    ctx: Ctx, urls: list[str], given: LeafGiven, *, late: bool, pointless: bool = False
) -> dict[str, SourceDone]:
    """Read sources, a few in each call; a lookup stops when it is settled. Gives what came of each, by its address."""
    read: dict[str, SourceDone] = {}
    # Everything at once, except where one fact is looked up: there the best come first.
    looked_up = all(asks_for_facts(question) for question in sub_questions(given.leaf))
    first = max(FIRST_OF_A_LOOKUP, len(given.leaf.sources)) if looked_up else len(urls)
    for wave in (one for one in (urls[:first], urls[first:]) if one):
        groups = grouped(wave, 1 + len(given.siblings))
        together = given.setting.loop.read_together
        led = tuple(quote for one in read.values() for quote in one.quotes) if together else ()
        items = []
        for group in groups:
            key = Source.id_of(group[0]) if len(group) == 1 else "d" + digest("|".join(group), 12)
            below = SourceGiven(urls=tuple(group), of=given, late=late, led=led, pointless=pointless)
            items.append((f"{key}{'-quoted' * pointless}", below))
        for group, result in zip(groups, await ctx.children("source", items, gives=SourcesDone), strict=True):
            done = [SourceDone.broken(result)] * len(group) if isinstance(result, StepFailed) else result.sources
            read |= dict(zip(group, done, strict=True))
        if ctx.finishing or _is_settled(read, given.leaf):
            break
    return read


def grouped(urls: list[str], leaves: int) -> list[list[str]]:
    """Put pages into as many groups as there are calls at once for each of so many leaves, the best into different ones.

    More calls would only wait for one another, and each says once more what is asked. Documents at hand make one group.
    """
    web = ("http://", "https://")  # a page takes a while to come
    pages, at_hand = [url for url in urls if url.startswith(web)], [url for url in urls if not url.startswith(web)]
    groups = min(-(-len(pages) // FEWEST_TOGETHER), max(1, CALLS_AT_ONCE // max(1, leaves)))
    return [group for group in ([pages[at::groups] for at in range(groups)] + [at_hand]) if group]


def _is_settled(read: Mapping[str, SourceDone], leaf: Leaf) -> bool:
    """Tell whether every question has its answer from as many sources as are wanted of a lookup."""
    rows = [(quote, card.title, card.head, card.text_hash)
            for one in read.values() if (card := one.card) for quote in one.quotes]  # fmt: skip
    parts = [part for question in sub_questions(leaf) for part in parts_of(question)]
    return all(settled_by(part, rows) >= SOURCES_OF_A_LOOKUP for part in parts)


class Gathered(NamedTuple):
    """What a leaf has read, put together."""

    facts: tuple[Fact, ...]
    cards: tuple[SourceCard, ...]
    """Documents that were read, each once."""
    rejected: tuple[RejectedSource, ...] = ()
    """Those that could not be, or are one of these under another address."""
    problems: Sequence[Problem] = ()


def gathered(
    read: Mapping[str, SourceDone], asked: tuple[str, ...] = (), beside: tuple[str, ...] = (), *, query: str = ""
) -> Gathered:
    """Put together what was read: facts and documents each once, the rest with the reason.

    What does not speak of the question by itself counts where words to the point name its document, the next step of
    a question that takes several, and, where nothing else was found, where its document is called after what was asked
    about: the first step. Of a question for a fact, what only shares its name or its words goes where better is at hand.
    """
    facts: dict[tuple[str, str], Fact] = {}  # what a page says twice is one fact
    cards: dict[str, SourceCard] = {}  # by their texts: one document under two addresses is one source
    rejected: list[RejectedSource] = []
    problems: list[Problem] = []
    quotes = [quote for one in read.values() for quote in one.quotes]
    parts = [part for question in asked for part in parts_of(question)] if not quotes else []
    every = (*asked, *beside) or ("",)
    found = [fact for one in read.values() for fact in one.reading.facts]
    told = told_by(found, [one.card for one in read.values() if one.card])
    topics = [fact.topic if fact.topic in every else every[0] for fact in found]
    rows = [replace(row, topic=topic) for row, topic in zip(told, topics, strict=True)]
    left_out = beside_the_point((*every, query), rows) if query else frozenset[str]()
    for url, one in read.items():
        if one.cut:
            continue
        if one.problem is not None or one.card is None:
            problems += [one.problem] if one.problem else []
            reason = Said(NOT_WORKED, n=1, all=1) if one.problem else one.reading.rejected
            rejected.append(RejectedSource(url=url, reason=reason))
            continue
        title = one.card.title
        if (first := cards.setdefault(one.card.text_hash, one.card)) is not one.card:
            rejected.append(RejectedSource(url=url, title=title, reason=Said(SAME_TEXT, source=first.title), read=True))
            continue
        used = tuple(fact for fact in one.reading.facts if fact.id not in left_out)
        others = [quote for quote in quotes if quote not in {fact.quote for fact in used}]
        if leads_to(title, others) or any(is_named(part, title) for part in parts):
            used += one.reading.aside
        for fact in used:
            facts.setdefault((fact.source_id, fact.quote), fact)
    return Gathered(tuple(facts.values()), tuple(cards.values()), tuple(rejected), problems)


def taken_over(given: LeafGiven, read: Iterable[SourceCard]) -> tuple[Fact, ...]:
    """Give what was known before; of a source that was read again, what it says now counts."""
    again = {card.id for card in read}
    return tuple(fact for fact in given.known if fact.source_id not in again)


def kept(facts: tuple[Fact, ...], sources: tuple[SourceCard, ...], verb: str = "from") -> Said:
    """Say how much a leaf has found."""
    return Said(f"{verb} {FOUND}", facts=len(facts), sources=len(sources))


def stopped_with(facts: tuple[Fact, ...], sources: tuple[SourceCard, ...]) -> Said:
    """Say what a leaf had found when the user stopped it."""
    form = f"you stopped it; {FOUND} {{facts:was|were}} kept" if facts else NOTHING_YET
    return Said(form, facts=len(facts), sources=len(sources))


def _nothing(records: tuple[SearchRecord, ...], rejected: tuple[RejectedSource, ...]) -> Said:
    if records and all(record.failed for record in records):
        return Said("every search failed")
    read = sum(one.reason == READ_FOR_NOTHING for one in rejected)
    unread = len(rejected) - read
    if not unread:
        some = "none of the {n} documents mentions it" if read > 1 else "the one document found does not mention it"
        return Said(some, n=read) if read else Said("no document matches")
    parts = [Said("none of the {n} that were read mentions it", n=read)] if read else []
    return Said("{n} found: {parts}", n=len(rejected), parts=Said.row(*parts, Said("{n} could not be used", n=unread)))


class BranchCost(TypedDict):
    """What a branch took, as the fields of a finding."""

    seconds: float
    tokens: int
    cost_usd: float | None


def spent(ctx: Ctx, started: float) -> BranchCost:
    """Say what a branch took since `started`, on the recorded clock."""
    usage = ctx.budget.spent
    return BranchCost(seconds=round(max(0.0, ctx.elapsed - started), 3), tokens=usage.tokens, cost_usd=usage.cost_usd)


MOST_TAKEN_OVER = 12
"""Facts of an earlier report that one leaf gets, at most."""


def with_facts_of(handlers: Handlers, earlier: Earlier | None) -> Handlers:
    """Have leaves begin with what an earlier report found; without one, or where it is only run anew, nothing changes."""
    if earlier is None or earlier.use != "continue":
        return handlers
    return {**handlers, "leaf": partial(_begun, handlers["leaf"], earlier)}


async def _begun(leaf: Handler, earlier: Earlier, ctx: Ctx, given: LeafGiven) -> Finding:
    cards = {one.id: one for one in earlier.sources if not ruled_out(one.url, one.published, given.setting)}
    parts = [part for question in sub_questions(given.leaf) for part in parts_of(question)]
    speaks = (
        fact
        for fact in earlier.facts
        if (card := cards.get(fact.source_id)) and any(is_about(part, fact.quote, card.title) for part in parts)
    )
    known = tuple(islice(speaks, MOST_TAKEN_OVER))
    sources = {fact.source_id: cards[fact.source_id] for fact in known}
    found = tuple(fact.statement for fact in known[:3])
    update = {"known": known, "known_sources": tuple(sources.values()), "found": found}
    finding: Finding = await leaf(ctx, given.model_copy(update=update))
    return finding
