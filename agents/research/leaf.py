"""A leaf: search, read a handful of sources side by side, write one section."""

from typing import Literal, TypedDict

from agents.budget import Deadline
from agents.contracts.base import Frozen, QueryType, Text
from agents.contracts.decision import RetryEntry
from agents.contracts.fact import Fact
from agents.contracts.finding import Finding, NodeStatus, Problem, SearchRecord, Section, SectionInput
from agents.contracts.plan import Leaf
from agents.contracts.source import Hit, RejectedSource, SearchQuery, Source, SourceCard
from agents.errors import StepFailed
from agents.events import NodeChanged, Noted, SearchDone, SectionWritten
from agents.jobs.port import Ctx, Handler
from agents.research.desk import Desk, Searched
from agents.research.looping import LoopSettings
from agents.research.reading import LATE_FINDING_SHARE, SourceDone, SourceGiven
from agents.research.reformulating import reformulate
from agents.research.retries import MAX_ATTEMPTS
from agents.research.writing import Numbering, plain_section, spread
from agents.role import Asked
from agents.roles.synthesizer import SECTION_WRITER
from agents.web.addresses import canonical

HITS_PER_SEARCH = 8
SECTION_SHARE = 0.5
"""Part of the synthesis reserve that a section may use: summary and checks come after it."""
ENOUGH_HITS = 3
"""Fewer distinct hits than this are searched for again in other words (specification, section 11)."""

READ_FOR_NOTHING = "read; says nothing to the point"


class Setting(Frozen):
    """What every branch of one query shares."""

    query: Text
    language: Text = "en"
    query_type: QueryType = "other"
    today: str = ""
    domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    date_from: str | None = None
    date_to: str | None = None
    loop: LoopSettings = LoopSettings()


class LeafGiven(Frozen):
    """One leaf of the plan or of a later round, in its setting."""

    leaf: Leaf
    setting: Setting
    parent: str
    siblings: tuple[str, ...] = ()
    """Titles of the sections beside this one."""


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
            tell("stopped", "time is kept for writing")
            return Finding(
                path=ctx.path, title=leaf.title, role="leaf", status="stopped", note="not begun: time was up"
            )
        urls = list(dict.fromkeys(leaf.sources))
        records: tuple[SearchRecord, ...] = ()
        attempts: tuple[RetryEntry, ...] = ()
        if leaf.searches:
            tell("searching", leaf.searches[0])
            hits, records, attempts = await search_for(
                ctx, desk, given, ctx.writing(LATE_FINDING_SHARE) if late else ctx.deadline
            )
            urls += [hit.url for hit in hits if hit.url not in urls]
        urls = urls[: max(leaf.budget.sources, len(leaf.sources))]
        if urls:
            tell("reading", f"{len(urls)} {'source' if len(urls) == 1 else 'sources'}")
        done = await ctx.children(
            "source", [(Source.id_of(url), _to_read(url, given, late=late)) for url in urls], gives=SourceDone
        )
        facts, sources, rejected, problems = _gathered(done, urls, ctx.path)
        attempts += tuple(
            RetryEntry(key=url, attempts=0 if one.given_up else 1, status="exhausted" if one.given_up else "pending")
            for url, one in zip(urls, done, strict=True)
            if isinstance(one, SourceDone) and one.unread
        )
        problems += [
            Problem(where=f"{ctx.path}#search", type="SearchError", message=record.failed, retryable=True)
            for record in records
            if record.failed
        ]
        if not facts:
            note = _nothing(records, rejected)
            failed = bool(records) and all(record.failed for record in records)
            nothing: NodeStatus = "failed" if failed else "empty"
            tell(nothing, note)
            return Finding(
                path=ctx.path,
                title=leaf.title,
                role="leaf",
                status=nothing,
                note=note,
                rejected=rejected,
                searches=records,
                attempts=attempts,
                attempt_number=attempt_number(attempts, leaf),
                problems=tuple(problems),
                **spent(ctx, started),
            )
        tell("writing", f"from {len(facts)} facts of {len({fact.source_id for fact in facts})} sources")
        shown = spread(facts, desk.context_results)
        numbering = Numbering(shown, sources)
        stood_in = next((one.stood_in for one in done if isinstance(one, SourceDone) and one.stood_in), "")
        status: NodeStatus = "done"
        note = ""
        try:
            asked = await ctx.call(
                "section", "0", desk.ask, SECTION_WRITER, section_input(given, numbering), ctx.last_deadline,
                gives=Asked[Section],
            )  # fmt: skip
            markdown = numbering.to_ids(asked.output.markdown)
            stood_in = stood_in or asked.stood_in
        except StepFailed as failure:
            # The reader gets the words that were found, rather than nothing.
            markdown, status, note = (
                plain_section(facts),
                "partial",
                "the section could not be written; its quotes are listed",
            )
            problems.append(
                Problem(where=failure.key, type=failure.type, message=failure.notice, retryable=failure.retryable)
            )
        if broken := [problem for problem in problems if problem.type != "SearchError"]:
            status = "partial"
            note = note or f"{len(broken)} of {len(urls)} sources could not be worked through"
        elif problems:
            status, note = (
                "partial",
                f"{sum(1 for record in records if record.failed)} of {len(records)} searches failed",
            )
        ctx.emit("section", SectionWritten(node=ctx.path, title=leaf.title, words=len(markdown.split())))
        tell(status, note or f"kept {len(facts)} facts of {len(sources)} sources")
        return Finding(
            path=ctx.path,
            title=leaf.title,
            role="leaf",
            status=status,
            note=note,
            markdown=markdown,
            facts=facts,
            sources=sources,
            rejected=rejected,
            searches=records,
            attempts=attempts,
            attempt_number=attempt_number(attempts, leaf),
            engine_note=stood_in,
            problems=tuple(problems),
            **spent(ctx, started),
        )

    return Handler(run=run, takes=LeafGiven, gives=Finding)


async def search_for(
    ctx: Ctx, desk: Desk, given: LeafGiven, deadline: Deadline
) -> tuple[list[Hit], tuple[SearchRecord, ...], tuple[RetryEntry, ...]]:
    """Search with the planned texts side by side; too little found is searched again in other words (tier 2)."""
    leaf = given.leaf
    at_most = min(leaf.budget.searches, given.setting.loop.searches_per_leaf)
    texts = list(leaf.searches[:at_most])
    lists: list[tuple[Hit, ...]] = []
    records: list[SearchRecord] = []

    async def make(batch: list[str], first: int) -> None:
        results = await ctx.fan(
            "search",
            desk.search,
            [(f"q{first + n}", _query(given.setting, text), deadline) for n, text in enumerate(batch)],
            gives=Searched,
            pool="web",
        )
        for number, (text, result) in enumerate(zip(batch, results, strict=True), start=first):
            if isinstance(result, StepFailed):
                ctx.emit(
                    f"failed:q{number}", SearchDone(node=ctx.path, text=text, provider="", hits=0, failed=result.notice)
                )
                records.append(SearchRecord(text=text, provider="", hits=0, failed=result.notice))
            else:
                lists.append(result.result.hits)
                records.append(SearchRecord(text=text, provider=result.result.provider, hits=len(result.result.hits)))

    await make(texts, 0)
    attempt = 1
    while len(texts) < given.setting.loop.searches_per_leaf and attempt < MAX_ATTEMPTS:
        if len({hit.url for hits in lists for hit in hits}) >= ENOUGH_HITS or ctx.finishing or ctx.collecting_left == 0:
            break
        wording = reformulate(texts[0], attempt, earlier=texts)
        attempt += 1
        if wording is None:
            continue
        ctx.emit(f"again:{attempt}", Noted(node=ctx.path, text=f"Little found; searching again as “{wording}”."))
        await make([wording], len(texts))
        texts.append(wording)
    failed = sum(1 for record in records if record.failed)
    answered = any(not record.failed for record in records)
    entries: tuple[RetryEntry, ...] = ()
    if failed:
        status: Literal["pending", "complete", "exhausted"] = (
            "complete" if answered else "exhausted" if failed >= MAX_ATTEMPTS else "pending"
        )
        entries = (RetryEntry(key=sub_question(leaf), attempts=failed, status=status),)
    if records and not any(record.failed or record.hits for record in records):
        ctx.emit("none", Noted(node=ctx.path, text=f"No document matches “{texts[0]}”."))
    return fused(lists), tuple(records), entries


def sub_question(leaf: Leaf) -> str:
    """Name what a leaf's failed searches are counted under."""
    return leaf.questions[0] if leaf.questions else leaf.objective


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


def fused(lists: list[tuple[Hit, ...]], k: int = 60) -> list[Hit]:
    """Merge ranked lists by reciprocal rank fusion (Cormack, Clarke and Büttcher 2009), each document once."""
    score: dict[str, float] = {}
    first: dict[str, Hit] = {}
    for hits in lists:
        for rank, hit in enumerate(hits):
            key = canonical(hit.url)
            score[key] = score.get(key, 0.0) + 1 / (k + rank + 1)
            first.setdefault(key, hit)
    return [first[key] for key in sorted(first, key=lambda key: -score[key])]


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


def _nothing(records: tuple[SearchRecord, ...], rejected: tuple[RejectedSource, ...]) -> str:
    if records and all(record.failed for record in records):
        return "every search failed"
    if not rejected:
        return "no document matches"
    read = sum(1 for one in rejected if one.reason == READ_FOR_NOTHING)
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
