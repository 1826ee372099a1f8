"""What the report says about its own making: figures beside the forecast, searches, rejections, assumptions, tags.

The loop's state in the report: rounds as a log, and `phase_state` in the shape of S0 TR-4.
"""

import re
from collections.abc import Iterable
from urllib.parse import unquote

from agents.contracts.body import Align, Block, Line, Listing, Paragraph, Sentence, Table, Words
from agents.contracts.contract import Change, Contract, ForecastLine, place
from agents.contracts.fact import MemoryNote
from agents.contracts.finding import Finding, SearchRecord
from agents.contracts.plan import RetryEntry
from agents.contracts.report import (
    Actual,
    GapAnalysis,
    Iteration,
    Methodology,
    NodePhase,
    Outcome,
    PhaseState,
    ReportChange,
    ResearchState,
    RetryState,
    RetryTracking,
    RoundRow,
    Tag,
    TimeBudget,
)
from agents.contracts.sources import RejectedSource, SourceCard
from agents.core.budget import least
from agents.core.time_policy import synthesis_reserve_s
from agents.report.composer import paragraph
from agents.report.references import linked
from agents.report.wording import Texts, Wording

LIMITS = frozenset({"#TIME_LIMIT", "#ITERATION_LIMIT", "#TOKEN_LIMIT"})
"""Tags of a run that stopped at a cap."""

_OWN = re.compile(r"(?:library|upload):/[^/]*/")
"""How addresses of documents of the user's own begin: scheme and folder."""

_FORECAST = {
    "searches": "Searches", "sources": "Sources read", "calls": "Model calls", "tokens": "Tokens", "time": "Time",
    "cost": "Cost", "parts": "Parts",
}  # fmt: skip
"""Figures that have a forecast, and how its lines call them."""


def introduced(lead: str, items: Iterable[Line]) -> tuple[Block, ...]:
    """Put a line above a list; a single item joins the line, since a list of one is none."""
    found = tuple(dict.fromkeys(item for item in items if item))
    if not found:
        return ()
    if len(found) == 1:
        return (_said((Words(text=f"{lead} "), *found[0]) if lead else found[0]),)
    return (*((paragraph(lead),) if lead else ()), Listing(items=tuple((_said(item),) for item in found)))


def _said(line: Line) -> Paragraph:
    return Paragraph(sentences=(Sentence(inline=line),))


def _text(text: str) -> Line:
    line = " ".join(text.split())
    return (Words(text=line),) if line else ()


def search_lines(records: Iterable[SearchRecord], words: Wording) -> tuple[Line, ...]:
    """Write each search with what came of it."""
    opening, closing = words.quotes
    found = []
    for record in records:
        failed = words.search_failed.format(reason=record.failed)
        came = failed if record.failed else words.hits.format(count=record.hits)
        found.append(_text(f"{opening}{record.text}{closing} ({came})"))
    return tuple(found)


def rejected_lines(rejected: Iterable[RejectedSource], words: Wording) -> tuple[Line, ...]:
    """Write each document that was found and not used, with the reason."""
    return tuple(
        (
            linked(one.title if one.title and one.title != one.url else _shown(one.url), one.url),
            *_text(f": {words.reason(one.reason)}"),
        )
        for one in rejected
    )


def _shown(url: str) -> str:
    """Write an address for people: of a document of the user's own, its name in its folder."""
    own = _OWN.match(url)
    return unquote(url[own.end() :]) if own else url


def source_lines(cards: Iterable[SourceCard], words: Wording) -> tuple[Line, ...]:
    """Write each document that was read."""
    return tuple(
        (
            linked(" ".join(card.title.split()), card.url),
            *((Words(text=f" {words.sample}"),) if card.kind == "sample" else ()),
        )
        for card in cards
    )


def all_searches(findings: Iterable[Finding]) -> tuple[SearchRecord, ...]:
    """List the searches of all nodes in reading order, each text and provider once."""
    found = {
        (record.text, record.provider): record for top in findings for node in top.walk() for record in node.searches
    }
    return tuple(found.values())


def methodology(
    outcome: Outcome,
    actual: Actual,
    *,
    engine: str,
    reasons: bool,
    rejected: tuple[RejectedSource, ...],
    cards: tuple[SourceCard, ...],
    tags: tuple[str, ...],
    words: Wording,
    listed: bool = True,
) -> tuple[Methodology, tuple[Block, ...]]:
    """Say how it was researched, as data and as text.

    Args:
        outcome: findings, contract and what went wrong.
        actual: what the run took.
        engine: what wrote, as shown to the reader.
        reasons: False when no language model was used.
        rejected: all documents that were found and not used.
        cards: all documents that were read.
        tags: those that apply, in the order they are shown in.
        words: the report's language.
        listed: whether searches and rejected documents are listed; where nothing was found they stand in the text itself.
    """
    records = all_searches((*outcome.findings, *outcome.counter))
    plans = outcome.contract.plans
    assumptions = tuple(dict.fromkeys(text for plan in plans for text in plan.assumptions))
    data = Methodology(
        tags=tuple(Tag(tag=tag, text=words.tags.get(tag, tag)) for tag in tags),
        engine=engine,
        rounds=sum(len(node.rounds) for top in outcome.findings for node in top.walk()),
        searches=len(records) or actual.searches,
        sources_read=len(cards),
        sources_rejected=rejected,
        dispatched_topics=tuple(
            dict.fromkeys(topic for top in outcome.findings for node in top.walk() for topic in node.dispatched)
        ),
        skipped_topics=tuple(skip for top in outcome.findings for node in top.walk() for skip in node.skipped),
        retry_tracking=tuple(entry for top in outcome.findings for node in top.walk() for entry in node.attempts),
        assumptions=assumptions,
        forecast=outcome.contract.forecast,
        actual=actual,
    )
    made_by = words.engine_model.format(engine=engine) if reasons else words.engine_none
    blocks: list[Block] = [paragraph(made_by), *introduced("", stand_in_lines(actual, words))]
    if "#DEGRADED_SEARCH" in tags:
        blocks.append(paragraph(words.degraded))
    if any(card.kind == "sample" for card in cards):
        blocks.append(paragraph(words.sample_note))
    providers = ", ".join(dict.fromkeys(record.provider for record in records if record.provider))
    if records and listed:
        blocks += introduced(words.searched_with.format(providers=providers), search_lines(records, words))
    elif not records:
        blocks.append(paragraph(words.no_search))
    blocks += introduced("", memory_lines(outcome.memory, words))
    blocks += introduced(words.rejected, rejected_lines(rejected, words) if listed else ())
    blocks += introduced(words.assumptions, map(_text, assumptions))
    limits = (_text(limit) for query in outcome.contract.brief.queries for limit in query.scope_limits)
    blocks += introduced(words.scope, limits)
    if outcome.changes:
        blocks += introduced(words.changes.lead, change_lines(reported(outcome, words), words))
    nodes = sum(len(top.walk()) for top in outcome.findings)
    blocks.append(_figures(data, nodes, words))
    blocks += introduced("", ((Words(text=tag.tag, style=("code",)), Words(text=f" {tag.text}")) for tag in data.tags))
    return data, tuple(blocks)


def memory_lines(note: MemoryNote, words: Wording) -> tuple[Line, ...]:
    """Say what was taken over from earlier research, what contradicts it, and whether it was left out."""
    said = words.memory
    lines = [said.reused.format(facts=note.reused, sources=note.sources, date=note.since)] if note.reused else []
    lines += [
        said.contradicted.format(
            new=one.new, new_title=one.new_title, old=one.old, old_title=one.old_title, date=one.since
        )
        for one in note.conflicts
    ]
    lines += [said.fault.format(reason=note.fault)] if note.fault else []
    return tuple(map(_text, lines))


def table(header: Iterable[str], align: tuple[Align, ...], rows: Iterable[Iterable[str]]) -> Table:
    """Write figures and words of our own as a table."""
    return Table(
        header=tuple(map(_text, header)),
        align=align,
        rows=tuple(tuple(Sentence(inline=_text(cell)) for cell in row) for row in rows),
    )


def stand_in_lines(actual: Actual, words: Wording) -> tuple[Line, ...]:
    """Say which model answered in whose place, and why."""
    return tuple(
        _text(words.stood_in.format(model=one.model, bound=one.stood_in_for, count=one.answers, reason=one.because))
        for one in actual.stand_ins
    )


def _figures(data: Methodology, nodes: int, words: Wording) -> Table:
    actual = data.actual
    values = {
        "time": words.unknown if actual.seconds is None else duration(actual.seconds),
        "searches": str(data.searches),
        "sources": str(data.sources_read),
        "rejected": str(len(data.sources_rejected)),
        "empty": _share(actual.pages_empty, actual.pages_fetched),
        "rounds": str(data.rounds),
        "calls": str(actual.model_calls),
        "tokens": f"{actual.tokens_in:,}, {actual.tokens_out:,}".replace(",", "\u202f").replace("\u202f ", ", "),
        "cost": words.unknown if actual.cost_usd is None else money(actual.cost_usd),
        "parts": str(nodes),
    }
    expected = {line.name: line for line in data.forecast.lines} if data.forecast else {}
    rows = [
        (words.figures[key], _range(expected[name], words) if (name := _FORECAST.get(key)) in expected else "–", value)
        for key, value in values.items()
    ]
    return table((words.figure, words.forecast, words.actual), ("", "right", "right"), rows)


def _share(part: int, whole: int) -> str:
    return f"{part} / {whole} ({part / whole:.0%})" if whole else "–"


def _range(line: ForecastLine, words: Wording) -> str:
    if line.low is None or line.high is None:
        return words.unknown
    ends = dict.fromkeys((_figure(line.low), _figure(line.high)))
    unit = line.unit if line.unit.casefold() not in line.name.casefold() else ""
    return f"{'–'.join(ends)} {unit}".strip()


def _figure(value: float) -> str:
    return f"{value:.0f}" if value == int(value) else f"{value:.2f}".rstrip("0")


def duration(seconds: float) -> str:
    """Write a time: `0.4 s`, `38 s`, `4 min 05 s`."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    whole = round(seconds)
    return f"{whole // 60} min {whole % 60:02d} s"


def money(usd: float) -> str:
    """Write an amount in US dollars, without the sign that formulas use; small amounts with four places."""
    return f"{usd:.4f} USD" if 0 < usd < 0.1 else f"{usd:.2f} USD"


# ---- changes after the authorization


def reported(outcome: Outcome, words: Wording) -> tuple[ReportChange, ...]:
    """Say of every change when it was made, in which words, and what it did."""
    return tuple(
        ReportChange(
            number=change.number,
            seconds=change.seconds,
            kind=change.kind,
            words=change.words,
            effect=" ".join(_effect(change, outcome, words)),
        )
        for change in outcome.changes
    )


def change_lines(changes: Iterable[ReportChange], words: Wording) -> tuple[Line, ...]:
    """Write one line for each change."""
    return tuple(
        _text(words.changes.line.format(number=change.number, time=_clock(change.seconds), text=change.effect))
        for change in changes
    )


def ended_note(node: Finding, words: Wording) -> str:
    """Say by whose wish a branch ended early; empty where it was nobody's."""
    said = words.changes
    if node.ended == "dropped":
        return said.dropped_note
    if node.ended == "stopped":
        return said.stopped_note if node.all_facts() else words.statuses["stopped"]
    return ""


def _effect(change: Change, outcome: Outcome, words: Wording) -> list[str]:
    said, title = words.changes, change.title or change.node
    opening, closing = words.quotes
    parts = [part for top in outcome.findings for part in top.walk()]
    within = [part for part in parts if f"{place(part.path)}/".startswith(f"{change.node}/")]
    match change.kind:
        case "limits":
            return _limits(change, said)
        case "finish":
            return [said.finish if change.node in {"", "job"} else said.finish_branch.format(title=title)]
        case "stop":
            kept = sum(len(part.facts) for part in within if part.ended == "stopped")
            return [said.stop.format(title=title), *([said.kept.format(facts=kept)] if kept else [])]
        case "drop":
            return [(said.stop if any(part.facts for part in within) else said.drop).format(title=title)]
        case "retry":
            served = any(part.tries > 1 and place(part.path) == change.node for part in parts)
            return [(said.retry if served else said.too_late).format(title=title)]
        case "guidance":
            return [said.guidance.format(words=f"{opening}{change.words}{closing}")]
        case "restart":
            return [said.restart]


def _limits(change: Change, said: Texts) -> list[str]:
    limits = change.limits
    start, end = limits.date_from or "", limits.date_to or ""
    dates = said.between if start and end else said.since if start else said.until
    lines = [
        *([said.domains.format(value=", ".join(limits.domains))] if limits.domains else []),
        *([said.exclude.format(value=", ".join(limits.exclude_domains))] if limits.exclude_domains else []),
        *([dates.format(start=start, end=end)] if start or end else []),
    ]
    if lines:
        lines.append(said.from_then_on)
    if limits.seconds is not None:
        lines.append(said.total.format(value=f"{limits.seconds / 60:.3g} min"))
    return lines


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


MAX_ATTEMPTS = 3
"""Failures after which a key is given up (specification, section 5)."""


def rounds_log(findings: Iterable[Finding]) -> tuple[RoundRow, ...]:
    """List every round of every node, in reading order."""
    return tuple(
        RoundRow.model_validate(record.model_dump(exclude={"phase", "tag", "judged"}))
        for finding in findings
        for part in finding.walk()
        for record in part.rounds
    )


def phase_state(
    contract: Contract,
    findings: tuple[Finding, ...],
    started_at: str | None = None,
    changes: tuple[Change, ...] = (),
) -> PhaseState:
    """Describe every node's loop; the job's is the root's, with the retries of all of them.

    Args:
        contract: whose caps bound the rounds.
        findings: of the queries.
        started_at: when the job was started, as ISO 8601.
        changes: after the authorization; some may have shortened the time.
    """
    authorized_s = None if contract.caps.minutes is None else contract.caps.minutes * 60
    total_s = least(authorized_s, *(change.limits.seconds for change in changes))
    budget = TimeBudget(
        total_minutes=None if total_s is None else total_s / 60,
        synthesis_reserve_minutes=round(synthesis_reserve_s(total_s) / 60, 3),
        started_at=started_at,
    )
    loops = [part for finding in findings for part in finding.walk() if part.rounds]
    nodes = tuple(NodePhase(node=part.path, research=_state(contract, budget, part, (part,))) for part in loops)
    roots = tuple(NodePhase(node=part.path, research=_state(contract, budget, part, (part,))) for part in findings)
    job = _state(contract, budget, findings[0], findings) if findings else ResearchState()
    return PhaseState(research=job, nodes=nodes, queries=roots if len(findings) > 1 else ())


def _state(contract: Contract, budget: TimeBudget, node: Finding, over: tuple[Finding, ...]) -> ResearchState:
    history = tuple(record.decision for record in node.rounds)
    return ResearchState(
        time_budget=budget,
        iteration=Iteration(current=len(node.rounds), max=contract.caps.rounds),
        retry_tracking=tracking(entry for top in over for part in top.walk() for entry in part.attempts),
        gap_analysis=GapAnalysis(loop_decision=history[-1] if history else None, history=history),
    )


def tracking(entries: Iterable[RetryEntry]) -> RetryTracking:
    """Add up attempts by key; the gravest status wins."""
    grave = {"complete": 0, "pending": 1, "exhausted": 2}
    found: dict[str, RetryState] = {}
    for entry in entries:
        old = found.get(entry.key)
        status = entry.status if old is None or grave[entry.status] > grave[old.status] else old.status
        attempts = entry.attempts + (old.attempts if old else 0)
        if status == "pending" and attempts >= MAX_ATTEMPTS:
            status = "exhausted"  # branch by branch it was less
        found[entry.key] = RetryState(attempts=attempts, status=status)
    given_up = sum(1 for state in found.values() if state.status == "exhausted")
    return RetryTracking(subquestions=found, total_exhausted=given_up)
