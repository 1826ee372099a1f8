"""A leaf: search, read a handful of sources side by side, write one section."""

from typing import NamedTuple, TypedDict

from agents.contracts.fact import Fact
from agents.contracts.finding import Finding, NodeStatus, Problem, SearchRecord, Section, SectionInput
from agents.contracts.frozen import digest
from agents.contracts.plan import Leaf, RetryEntry
from agents.contracts.sources import RejectedSource, Source, SourceCard
from agents.core.errors import StepFailed
from agents.core.events import NodeChanged, SectionWritten
from agents.core.port import Ctx, Handler
from agents.core.role import RoleAnswer
from agents.research.loop.retry_tracking import MAX_ATTEMPTS
from agents.research.reading.answering import leads_to, settled_by
from agents.research.reading.read_sources import LATE_FINDING_SHARE, SourceDone, SourceGiven, SourcesDone
from agents.research.reading.searching import Found, LeafGiven, attempt_number, search_for
from agents.research.reading.subject import LOOKUPS, is_named, parts_of
from agents.research.run_context import Desk
from agents.research.steering import CUT, STOPPED
from agents.research.writing.writer_input import Numbering, plain_section, spread
from agents.roles import SECTION_WRITER

SECTION_SHARE = 0.5
"""Part of the synthesis reserve that a section may use: summary and checks come after it."""
FIRST_OF_A_LOOKUP = 4
"""Sources that a lookup reads first; the others only where these do not settle it."""
SOURCES_OF_A_LOOKUP = 2
"""Independent sources that settle a lookup."""

SHORTENED = "the run was shortened before all its sources were read"
NOTHING_YET = "you stopped it before it had found anything"
GIVEN_UP = f"given up after {MAX_ATTEMPTS} failed searches"
READ_FOR_NOTHING = "read; does not mention it"


def not_begun(ctx: Ctx) -> str:
    """Say why a leaf made no search at all."""
    return "not begun: time was up" if ctx.collecting_left == 0 else "not begun: you asked to write from what is there"


def composed_rubric(leaf: Leaf, siblings: tuple[str, ...]) -> str:
    """Compose the rubric of a leaf that has no task spec (specification, section 5)."""
    parts = [f"Scope: {leaf.objective}"]
    if siblings:
        parts.append(f"Out of scope, other readers have it: {'; '.join(siblings)}.")
    parts.append("Consider results, figures and stated limits before background. Target confidence 0.7.")
    return " ".join(parts)


def leaf_handler(desk: Desk) -> Handler:
    """Work through one leaf."""

    async def run(ctx: Ctx, given: LeafGiven) -> Finding:
        started, leaf = ctx.elapsed, given.leaf

        def tell(state: str, doing: str) -> None:
            ctx.emit(
                f"state:{state}",
                NodeChanged.model_validate(
                    {
                        "node": ctx.path,
                        "parent": given.parent,
                        "role": "leaf",
                        "title": leaf.title,
                        "state": state,
                        "doing": doing,
                    }
                ),
            )

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
        found = Found()
        if leaf.searches:
            tell("searching", leaf.searches[0])
            found = await search_for(ctx, desk, given, ctx.writing(LATE_FINDING_SHARE) if late else ctx.deadline)
            urls += [hit.url for hit in found.hits if hit.url not in urls]
        urls = urls[: max(leaf.budget.sources, len(leaf.sources))]
        if urls and STOPPED not in found.cut:
            tell("reading", f"{len(urls)} {'source' if len(urls) == 1 else 'sources'}")
        urls, done = await _read(ctx, urls, given, late=late)
        facts, sources, rejected, problems = gathered(done, urls, sub_questions(leaf))
        read_again = frozenset(one.card.id for one in done if isinstance(one, SourceDone) and one.card)
        facts, sources = joined(given, facts, sources, read_again)
        attempts = found.attempts + tuple(
            RetryEntry(key=url, attempts=0 if one.given_up else 1, status="exhausted" if one.given_up else "pending")
            for url, one in zip(urls, done, strict=True)
            if isinstance(one, SourceDone) and one.unread
        )
        cut = found.cut | ({one.type for one in done if isinstance(one, StepFailed)} & CUT)
        written = Written()
        if facts:
            if STOPPED not in cut:
                tell("writing", _kept(len(facts), len({fact.source_id for fact in facts}), "from"))
            written = await _section(ctx, desk, given, facts, sources)
            cut |= written.cut
            problems += written.problems
            ctx.emit("section", SectionWritten(node=ctx.path, title=leaf.title, words=len(written.markdown.split())))
        status, note = _graded(found.records, rejected, problems, written if facts else None, len(urls))
        if STOPPED in cut:
            status = "stopped"
            note = f"you stopped it; {len(facts)} facts of {len(sources)} sources were kept" if facts else NOTHING_YET
        elif cut:
            status, note = ("partial", note or SHORTENED) if facts else ("stopped", SHORTENED)
        tell(status, note or _kept(len(facts), len(sources), "kept"))
        stood_in = next((one.stood_in for one in done if isinstance(one, SourceDone) and one.stood_in), "")
        return Finding(
            path=ctx.path,
            title=leaf.title,
            role="leaf",
            status=status,
            note=note,
            ended="stopped" if STOPPED in cut else "",
            markdown=written.markdown,
            asked=sub_questions(leaf),
            facts=facts,
            sources=sources,
            rejected=rejected,
            searches=found.records,
            attempts=attempts,
            attempt_number=attempt_number(attempts, leaf),
            engine_note=(stood_in or written.stood_in) if facts else "",
            insights=tuple(
                one.reading.insights for one in done if isinstance(one, SourceDone) and one.reading.insights is not None
            ),
            problems=(*problems, *_failed_searches(ctx.path, found.records)),
            **spent(ctx, started),
        )

    return Handler(run=run, takes=LeafGiven, gives=Finding)


class Written(NamedTuple):
    """A leaf's section, or what stands in its place."""

    markdown: str = ""
    stood_in: str = ""
    problems: tuple[Problem, ...] = ()
    cut: frozenset[str] = frozenset()
    by_code: bool = False
    """The writer failed or was cut off: its quotes are listed."""


async def _section(
    ctx: Ctx, desk: Desk, given: LeafGiven, facts: tuple[Fact, ...], sources: tuple[SourceCard, ...]
) -> Written:
    numbering = Numbering(spread(facts, desk.context_results), sources, given.setting.language)
    try:
        asked = await ctx.call(
            "section", "0", desk.ask, SECTION_WRITER, section_input(given, numbering), ctx.last_deadline,
            gives=RoleAnswer[Section],
        )  # fmt: skip
    except StepFailed as failure:
        # The reader gets the words that were found, rather than nothing.
        problem = Problem(where=failure.key, type=failure.type, message=failure.notice, retryable=failure.retryable)
        problems = () if failure.type in CUT else (problem,)
        return Written(plain_section(facts), problems=problems, cut=frozenset({failure.type} & CUT), by_code=True)
    return Written(numbering.to_ids(asked.output.markdown), asked.stood_in)


def _graded(
    records: tuple[SearchRecord, ...],
    rejected: tuple[RejectedSource, ...],
    problems: list[Problem],
    written: Written | None,
    tried: int,
) -> tuple[NodeStatus, str]:
    """Say how a leaf ended, and what is missing of it."""
    failed = sum(1 for record in records if record.failed)
    if written is None:
        return "failed" if records and failed == len(records) else "empty", _nothing(records, rejected)
    if written.by_code:
        return "partial", "the section could not be written; its quotes are listed"
    if problems:
        return "partial", f"{len(problems)} of {tried} sources could not be worked through"
    return ("partial", f"{failed} of {len(records)} searches failed") if failed else ("done", "")


def _failed_searches(path: str, records: tuple[SearchRecord, ...]) -> list[Problem]:
    return [
        Problem(where=f"{path}#search", type="SearchError", message=message, retryable=True)
        for record in records
        for message in ([record.failed] if record.failed else [failure.reason for failure in record.failures])
    ]


async def _read(
    ctx: Ctx, urls: list[str], given: LeafGiven, *, late: bool
) -> tuple[list[str], list[SourceDone | StepFailed]]:
    """Read sources: pages each by itself, documents at hand together; a lookup stops when it is settled.

    Returns:
        The addresses that were read, and what came of each.
    """
    read: list[str] = []
    done: list[SourceDone | StepFailed] = []
    for wave in _waves(urls, given.leaf):
        groups = [[url] for url in wave if _is_page(url)]
        if at_hand := [url for url in wave if not _is_page(url)]:
            groups.append(at_hand)
        items = [(_key(group), _to_read(group, given, late=late)) for group in groups]
        for group, result in zip(groups, await ctx.children("source", items, gives=SourcesDone), strict=True):
            read += group
            done += result.sources if isinstance(result, SourcesDone) else [result] * len(group)
        if ctx.finishing or _is_settled(done, given.leaf):
            break
    return read, done


def _key(group: list[str]) -> str:
    """Name the branch that reads a page, or documents together, by their addresses."""
    return Source.id_of(group[0]) if len(group) == 1 else "d" + digest("|".join(group), 12)


def _is_page(url: str) -> bool:
    """Tell a page, which takes a while to come, from a document that is at hand."""
    return url.startswith(("http://", "https://"))


def _waves(urls: list[str], leaf: Leaf) -> list[list[str]]:
    """Read everything at once, except where one fact is looked up: there the best come first."""
    looked_up = all(part.kind in LOOKUPS for question in sub_questions(leaf) for part in parts_of(question))
    first = max(FIRST_OF_A_LOOKUP, len(leaf.sources)) if looked_up else len(urls)
    return [wave for wave in (urls[:first], urls[first:]) if wave]


def _is_settled(done: list[SourceDone | StepFailed], leaf: Leaf) -> bool:
    """Tell whether every question has its answer from as many sources as are wanted of a lookup."""
    rows = [
        (fact.quote, one.card.title, one.card.head, one.card.text_hash)
        for one in done
        if isinstance(one, SourceDone) and one.card
        for fact in one.reading.facts
    ]
    parts = [part for question in sub_questions(leaf) for part in parts_of(question)]
    return all(settled_by(part, rows) >= SOURCES_OF_A_LOOKUP for part in parts)


def _to_read(urls: list[str], given: LeafGiven, *, late: bool) -> SourceGiven:
    leaf, setting = given.leaf, given.setting
    return SourceGiven(
        urls=tuple(urls),
        objective=leaf.objective,
        questions=leaf.questions or (leaf.objective,),
        spec=leaf.spec,
        rubric=composed_rubric(leaf, given.siblings),
        language=setting.language,
        today=setting.today,
        late=late,
        named=any(url in leaf.sources for url in urls),
    )


def sub_questions(leaf: Leaf) -> tuple[str, ...]:
    """Give the questions that a leaf has to answer."""
    return leaf.spec.questions if leaf.spec else leaf.questions or (leaf.objective,)


def section_input(given: LeafGiven, numbering: Numbering) -> SectionInput:
    """Put together what the writer of a leaf's section is given."""
    leaf, setting = given.leaf, given.setting
    return SectionInput(
        query=setting.query,
        title=leaf.title,
        objective=leaf.objective,
        questions=leaf.spec.questions if leaf.spec else leaf.questions,
        facts=numbering.numbered,
        siblings=given.siblings,
        language=setting.language,
        query_type=setting.query_type,
        today=setting.today,
    )


def gathered(
    done: list[SourceDone | StepFailed], urls: list[str], asked: tuple[str, ...] = ()
) -> tuple[tuple[Fact, ...], tuple[SourceCard, ...], tuple[RejectedSource, ...], list[Problem]]:
    """Put together what was read: facts each once, sources with facts, the rest with the reason.

    What does not speak of the question by itself counts where words to the point name its document, the next step of
    a question that takes several, and, where nothing else was found, where its document is called after what was asked
    about: the first step.
    """
    facts: dict[str, Fact] = {}
    sources: dict[str, SourceCard] = {}
    rejected: list[RejectedSource] = []
    problems: list[Problem] = []
    texts: dict[str, str] = {}
    quotes = [fact.quote for one in done if isinstance(one, SourceDone) for fact in one.reading.facts]
    parts = [part for question in asked for part in parts_of(question)] if not quotes else []
    for url, one in zip(urls, done, strict=True):
        if isinstance(one, StepFailed):
            if one.type not in CUT:
                problems.append(Problem(where=one.key, type=one.type, message=one.notice, retryable=one.retryable))
            continue
        if one.problem is not None:
            problems.append(one.problem)
            continue
        if one.card is None:
            rejected.append(RejectedSource(url=url, reason=one.reading.rejected))
            continue
        if twin := texts.get(one.card.text_hash):
            # One document under two addresses is one source.
            rejected.append(RejectedSource(url=url, reason=f"the same text as {twin}"))
            continue
        texts[one.card.text_hash] = url
        used = one.reading.facts
        title = one.card.title
        others = [quote for quote in quotes if quote not in {fact.quote for fact in used}]
        if leads_to(title, others) or any(is_named(part, title) for part in parts):
            used += one.reading.aside
        if used:
            sources[one.card.id] = one.card
            facts.update({fact.id: fact for fact in used})
        else:
            rejected.append(RejectedSource(url=url, reason=READ_FOR_NOTHING))
    return tuple(facts.values()), tuple(sources.values()), tuple(rejected), problems


def joined(
    given: LeafGiven, facts: tuple[Fact, ...], sources: tuple[SourceCard, ...], read: frozenset[str]
) -> tuple[tuple[Fact, ...], tuple[SourceCard, ...]]:
    """Put what was taken over behind what was read; of a source that was read again, what it says now counts."""
    held = {card.id for card in sources}
    known = tuple(fact for fact in given.known if fact.source_id not in held | read)
    wanted = {fact.source_id for fact in known}
    return (*facts, *known), (*sources, *(card for card in given.known_sources if card.id in wanted))


def _kept(facts: int, sources: int, verb: str) -> str:
    return f"{verb} {facts} fact{'s' * (facts != 1)} of {sources} source{'s' * (sources != 1)}"


def _nothing(records: tuple[SearchRecord, ...], rejected: tuple[RejectedSource, ...]) -> str:
    if records and all(record.failed for record in records):
        return "every search failed"
    if not rejected:
        return "no document matches"
    read = sum(1 for one in rejected if one.reason == READ_FOR_NOTHING)
    if read == len(rejected):
        return f"none of the {read} documents mentions it" if read > 1 else "the one document found does not mention it"
    unread = len(rejected) - read
    parts = [f"none of the {read} that were read mentions it"] if read else []
    parts += [f"{unread} could not be used"] if unread else []
    return f"{len(rejected)} found: " + "; ".join(parts)


class BranchCost(TypedDict):
    """What a branch took, as the fields of a finding."""

    seconds: float
    tokens: int
    cost_usd: float | None


def spent(ctx: Ctx, started: float) -> BranchCost:
    """Say what a branch took since `started`, on the recorded clock."""
    usage = ctx.budget.spent
    return BranchCost(seconds=round(max(0.0, ctx.elapsed - started), 3), tokens=usage.tokens, cost_usd=usage.cost_usd)
