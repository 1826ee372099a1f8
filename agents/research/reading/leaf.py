"""A leaf: search, read a handful of sources side by side, write one section."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypedDict

from agents.contracts.fact import Fact
from agents.contracts.finding import Finding, NodeStatus, PartAnswer, Problem, SearchRecord, Section, SectionInput
from agents.contracts.loop_decision import RetryEntry
from agents.contracts.plan import Leaf
from agents.contracts.source import Hit, RejectedSource, SearchQuery, Source, SourceCard
from agents.core.budget import Deadline
from agents.core.errors import StepFailed
from agents.core.events import NodeChanged, Noted, SearchDone, SectionWritten
from agents.core.port import Ctx, Handler
from agents.core.role import Asked
from agents.research.loop.reformulate import reformulate
from agents.research.loop.retry_tracking import MAX_ATTEMPTS
from agents.research.reading.given_facts import LeafGiven, Setting, sub_question
from agents.research.reading.source import LATE_FINDING_SHARE, SourceDone, SourceGiven
from agents.research.run_context import Desk, Searched
from agents.research.steering import CUT, STOPPED
from agents.research.writing.writer_input import Numbering, plain_section, spread
from agents.roles.synthesizer import SECTION_WRITER
from agents.search.scope_filter import fuse

HITS_PER_SEARCH = 8
SECTION_SHARE = 0.5
"""Part of the synthesis reserve that a section may use: summary and checks come after it."""
ENOUGH_HITS = 3
"""Fewer distinct hits than this are searched for again in other words (specification, section 11)."""

SHORTENED = "the run was shortened before all its sources were read"
NOTHING_YET = "you stopped it before it had found anything"
GIVEN_UP = f"given up after {MAX_ATTEMPTS} failed searches"
READ_FOR_NOTHING = "read; says nothing to the point"


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
        done = await ctx.children(
            "source", [(Source.id_of(url), _to_read(url, given, late=late)) for url in urls], gives=SourceDone
        )
        facts, sources, rejected, problems = _gathered(done, urls, ctx.path)
        attempts = found.attempts + tuple(
            RetryEntry(key=url, attempts=0 if one.given_up else 1, status="exhausted" if one.given_up else "pending")
            for url, one in zip(urls, done, strict=True)
            if isinstance(one, SourceDone) and one.unread
        )
        cut = found.cut | ({one.type for one in done if isinstance(one, StepFailed)} & CUT)
        asked_for = leaf.spec.questions if leaf.spec else leaf.questions
        written = Written(answers=tuple(PartAnswer(question=one, status="not_found") for one in asked_for))
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
            answers=written.answers,
            facts=facts,
            sources=sources,
            rejected=rejected,
            searches=found.records,
            attempts=attempts,
            attempt_number=attempt_number(attempts, leaf),
            engine_note=(stood_in or written.stood_in) if facts else "",
            problems=(*problems, *_failed_searches(ctx.path, found.records)),
            **spent(ctx, started),
        )

    return Handler(run=run, takes=LeafGiven, gives=Finding)


class Written(NamedTuple):
    """A leaf's section, or what stands in its place."""

    markdown: str = ""
    answers: tuple[PartAnswer, ...] = ()
    stood_in: str = ""
    problems: tuple[Problem, ...] = ()
    cut: frozenset[str] = frozenset()
    by_code: bool = False
    """The writer failed or was cut off: its quotes are listed."""


async def _section(
    ctx: Ctx, desk: Desk, given: LeafGiven, facts: tuple[Fact, ...], sources: tuple[SourceCard, ...]
) -> Written:
    numbering = Numbering(spread(facts, desk.context_results), sources)
    try:
        asked = await ctx.call(
            "section", "0", desk.ask, SECTION_WRITER, section_input(given, numbering), ctx.last_deadline,
            gives=Asked[Section],
        )  # fmt: skip
    except StepFailed as failure:
        # The reader gets the words that were found, rather than nothing.
        problem = Problem(where=failure.key, type=failure.type, message=failure.notice, retryable=failure.retryable)
        problems = () if failure.type in CUT else (problem,)
        return Written(plain_section(facts), problems=problems, cut=frozenset({failure.type} & CUT), by_code=True)
    return Written(numbering.to_ids(asked.output.markdown), asked.output.answers, asked.stood_in)


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


class Found(NamedTuple):
    """What a leaf's searches came to."""

    hits: Sequence[Hit] = ()
    records: tuple[SearchRecord, ...] = ()
    attempts: tuple[RetryEntry, ...] = ()
    cut: frozenset[str] = frozenset()
    """Ways in which the user cut searches off; those are no failures."""


async def search_for(ctx: Ctx, desk: Desk, given: LeafGiven, deadline: Deadline) -> Found:
    """Search with the planned texts side by side; too little found is searched again in other words (tier 2)."""
    leaf = given.leaf
    at_most = min(leaf.budget.searches, given.setting.loop.searches_per_leaf)
    texts = list(leaf.searches[:at_most])
    lists: list[tuple[Hit, ...]] = []
    records: list[SearchRecord] = []
    cut: set[str] = set()
    before = given.failures
    if before and (wording := reformulate(texts[0], before, earlier=texts)):
        texts = [wording, *texts[1:]]  # a further try uses other words
    texts = texts[: max(0, MAX_ATTEMPTS - before)] if before else texts

    async def make(batch: list[str], first: int) -> None:
        results = await ctx.fan(
            "search",
            desk.search,
            [(f"q{first + n}", _query(given.setting, text), deadline) for n, text in enumerate(batch)],
            gives=Searched,
            pool="web",
        )
        for number, (text, result) in enumerate(zip(batch, results, strict=True), start=first):
            if isinstance(result, StepFailed) and result.type in CUT:
                cut.add(result.type)
            elif isinstance(result, StepFailed):
                ctx.emit(
                    f"failed:q{number}", SearchDone(node=ctx.path, text=text, provider="", hits=0, failed=result.notice)
                )
                records.append(SearchRecord(text=text, provider="", hits=0, failed=result.notice))
            else:
                lists.append(result.result.hits)
                found = result.result
                records.append(
                    SearchRecord(text=text, provider=found.provider, hits=len(found.hits), failures=found.failures)
                )

    await make(texts, 0)
    attempt = 1 + before
    while texts and len(texts) < given.setting.loop.searches_per_leaf and attempt < MAX_ATTEMPTS and not cut:
        if len({hit.url for hits in lists for hit in hits}) >= ENOUGH_HITS or ctx.finishing or ctx.collecting_left == 0:
            break
        wording = reformulate(texts[0], attempt, earlier=texts)
        attempt += 1
        if wording is None:
            continue
        ctx.emit(f"again:{attempt}", Noted(node=ctx.path, text=f"Little found; searching again as “{wording}”."))
        await make([wording], len(texts))
        texts.append(wording)
    failed = before + sum(1 for record in records if record.failed)
    answered = any(not record.failed for record in records)
    entries: tuple[RetryEntry, ...] = ()
    if failed:
        status: Literal["pending", "complete", "exhausted"] = (
            "complete" if answered else "exhausted" if failed >= MAX_ATTEMPTS else "pending"
        )
        entries = (RetryEntry(key=sub_question(leaf), attempts=failed, status=status),)
    if records and not any(record.failed or record.hits for record in records):
        ctx.emit("none", Noted(node=ctx.path, text=f"No document matches “{texts[0]}”."))
    return Found(fuse(lists), tuple(records), entries, frozenset(cut))


def attempt_number(attempts: tuple[RetryEntry, ...], leaf: Leaf) -> int:
    """Number the attempt that a leaf's searches came to."""
    failed = sum(entry.attempts for entry in attempts if entry.key == sub_question(leaf))
    return min(failed + 1, MAX_ATTEMPTS)


def _query(setting: Setting, text: str) -> SearchQuery:
    return SearchQuery(
        text=text,
        max_results=HITS_PER_SEARCH,
        include_domains=setting.domains,
        exclude_domains=setting.exclude_domains,
        date_from=setting.date_from,
        date_to=setting.date_to,
    )


def _to_read(url: str, given: LeafGiven, *, late: bool) -> SourceGiven:
    leaf, setting = given.leaf, given.setting
    return SourceGiven(
        url=url,
        objective=leaf.objective,
        questions=leaf.questions or (leaf.objective,),
        spec=leaf.spec,
        rubric=composed_rubric(leaf, given.siblings),
        language=setting.language,
        today=setting.today,
        late=late,
    )


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


def _gathered(
    done: list[SourceDone | StepFailed], urls: list[str], path: str
) -> tuple[tuple[Fact, ...], tuple[SourceCard, ...], tuple[RejectedSource, ...], list[Problem]]:
    """Put together what was read: facts each once, sources with facts, the rest with the reason."""
    facts: dict[str, Fact] = {}
    sources: dict[str, SourceCard] = {}
    rejected: list[RejectedSource] = []
    problems: list[Problem] = []
    texts: dict[str, str] = {}
    for url, one in zip(urls, done, strict=True):
        if isinstance(one, StepFailed) and one.type in CUT:
            continue
        if isinstance(one, StepFailed):
            problems.append(Problem(where=one.key, type=one.type, message=one.notice, retryable=one.retryable))
        elif one.problem is not None:
            problems.append(one.problem)
        elif one.card is None:
            rejected.append(RejectedSource(url=url, reason=one.reading.rejected))
        elif twin := texts.get(one.card.text_hash):
            # One document under two addresses is one source.
            rejected.append(RejectedSource(url=url, reason=f"the same text as {twin}"))
        elif not one.reading.facts:
            texts[one.card.text_hash] = url
            rejected.append(RejectedSource(url=url, reason=READ_FOR_NOTHING))
        else:
            texts[one.card.text_hash] = url
            sources[one.card.id] = one.card
            facts.update({fact.id: fact for fact in one.reading.facts})
    return tuple(facts.values()), tuple(sources.values()), tuple(rejected), problems


def _kept(facts: int, sources: int, verb: str) -> str:
    return f"{verb} {facts} fact{'s' * (facts != 1)} of {sources} source{'s' * (sources != 1)}"


def _nothing(records: tuple[SearchRecord, ...], rejected: tuple[RejectedSource, ...]) -> str:
    if records and all(record.failed for record in records):
        return "every search failed"
    if not rejected:
        return "no document matches"
    read = sum(1 for one in rejected if one.reason == READ_FOR_NOTHING)
    if read == len(rejected):
        return (
            f"{read} documents read, none says anything to the point"
            if read > 1
            else "the one document found says nothing to the point"
        )
    unread = len(rejected) - read
    parts = [f"{read} read, none says anything to the point"] if read else []
    parts += [f"{unread} could not be used"] if unread else []
    return f"{len(rejected)} found: " + "; ".join(parts)


class Spent(TypedDict):
    """What a branch took, as the fields of a finding."""

    seconds: float
    tokens: int
    cost_usd: float | None


def spent(ctx: Ctx, started: float) -> Spent:
    """Say what a branch took since `started`, on the recorded clock."""
    usage = ctx.budget.spent
    return Spent(seconds=round(max(0.0, ctx.elapsed - started), 3), tokens=usage.tokens, cost_usd=usage.cost_usd)
