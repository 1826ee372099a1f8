"""What the report says about its own making: figures beside the forecast, searches, rejections, assumptions, tags."""

import re
from collections.abc import Iterable
from urllib.parse import unquote

from agents.contracts.contract import Forecast, ForecastLine
from agents.contracts.finding import Finding, SearchRecord
from agents.contracts.report import Actual, Methodology, Tag
from agents.contracts.result import Outcome
from agents.contracts.source import RejectedSource, SourceCard
from agents.report.blocks import Block, Listing, Paragraph, Table
from agents.report.escaping import escape_text, link
from agents.report.run_changes import change_lines, reported
from agents.report.texts import Wording

LIMITS = frozenset({"#TIME_LIMIT", "#ITERATION_LIMIT", "#TOKEN_LIMIT"})
"""Tags of a run that stopped at a cap."""

_OWN = re.compile(r"(?:library|upload):/[^/]*/")
"""How addresses of documents of the user's own begin: scheme and folder."""

# Words by which a line of the forecast is recognised, in its name or unit; the order decides where several fit.
_RECOGNISED: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("cost", ("cost", "usd", "$", "kosten", "coût", "coste", "费用", "費用")),
    ("time", ("minute", "min", "time", "second", "zeit", "temps", "tiempo", "时间", "時間")),
    ("searches", ("search", "such", "recherche", "búsqueda")),
    ("calls", ("call", "aufruf", "appel", "llamada")),
    ("sources", ("source", "document", "quelle", "fuente")),
    ("tokens", ("token", "jeton")),
)


def introduced(lead: str, items: Iterable[str]) -> tuple[Block, ...]:
    """Put a line above a list; a single item joins the line, since a list of one is none."""
    found = tuple(dict.fromkeys(item for item in items if item))
    if not found:
        return ()
    if len(found) == 1:
        return (Paragraph((f"{lead} {found[0]}".strip(),)),)
    return (*((Paragraph((lead,)),) if lead else ()), Listing(found))


def search_lines(records: Iterable[SearchRecord], words: Wording) -> tuple[str, ...]:
    """Write each search with what came of it."""
    opening, closing = words.quotes
    found = []
    for record in records:
        failed = words.search_failed.format(reason=escape_text(record.failed))
        came = failed if record.failed else words.hits.format(count=record.hits)
        found.append(f"{opening}{escape_text(record.text)}{closing} ({came})")
    return tuple(found)


def rejected_lines(rejected: Iterable[RejectedSource]) -> tuple[str, ...]:
    """Write each document that was found and not used, with the reason."""
    return tuple(
        f"{link(escape_text(_shown(source.url)), source.url)}: {escape_text(source.reason)}" for source in rejected
    )


def _shown(url: str) -> str:
    """Write an address for people: of a document of the user's own, its name in its folder."""
    own = _OWN.match(url)
    return unquote(url[own.end() :]) if own else url


def source_lines(cards: Iterable[SourceCard], words: Wording) -> tuple[str, ...]:
    """Write each document that was read."""
    return tuple(
        link(escape_text(card.title), card.url) + (f" {words.sample}" if card.kind == "sample" else "")
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
    """
    records = all_searches(outcome.findings)
    plans = outcome.contract.plans
    assumptions = tuple(dict.fromkeys(text for plan in plans for text in plan.assumptions))
    data = Methodology(
        tags=tuple(Tag(tag=tag, text=words.tags.get(tag, tag)) for tag in tags),
        engine=engine,
        rounds=sum(len(node.rounds) for top in outcome.findings for node in top.walk()),
        searches=max(len(records), actual.searches),
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
    made_by = words.engine_model.format(engine=escape_text(engine)) if reasons else words.engine_none
    blocks: list[Block] = [Paragraph((made_by,)), *introduced("", _stand_in_lines(actual, words))]
    if "#DEGRADED_SEARCH" in tags:
        blocks.append(Paragraph((words.degraded,)))
    if any(card.kind == "sample" for card in cards):
        blocks.append(Paragraph((words.sample_note,)))
    providers = ", ".join(dict.fromkeys(escape_text(record.provider) for record in records if record.provider))
    if records:
        blocks += introduced(words.searched_with.format(providers=providers), search_lines(records, words))
    else:
        blocks.append(Paragraph((words.no_search,)))
    blocks += introduced(words.rejected, rejected_lines(rejected))
    blocks += introduced(words.assumptions, (escape_text(text) for text in assumptions))
    limits = (escape_text(limit) for query in outcome.contract.brief.queries for limit in query.scope_limits)
    blocks += introduced(words.scope, limits)
    if outcome.changes:
        blocks += introduced(*change_lines(reported(outcome, words), words))
    nodes = sum(len(top.walk()) for top in outcome.findings)
    blocks.append(_figures(data, nodes, words))
    blocks += introduced("", (f"`{tag.tag}` {tag.text}" for tag in data.tags))
    return data, tuple(blocks)


def _stand_in_lines(actual: Actual, words: Wording) -> tuple[str, ...]:
    return tuple(
        words.stood_in.format(
            model=escape_text(one.model),
            bound=escape_text(one.stood_in_for),
            count=one.answers,
            reason=escape_text(one.because),
        )
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
    }
    expected, others = _expected(data.forecast)
    rows = [
        (words.figures[key], _range(expected[key], words) if key in expected else "–", value)
        for key, value in values.items()
    ]
    for line in others:
        is_tree = any(
            sign in line.name.casefold() for sign in ("node", "branch", "knoten", "zweig", "nœud", "nodo", "rama")
        )
        rows.append((escape_text(line.name), _range(line, words), str(nodes) if is_tree else "–"))
    return Table((words.figure, words.forecast, words.actual), ("", "right", "right"), tuple(rows))


def _share(part: int, whole: int) -> str:
    return f"{part} / {whole} ({part / whole:.0%})" if whole else "–"


def _expected(forecast: Forecast | None) -> tuple[dict[str, ForecastLine], list[ForecastLine]]:
    found: dict[str, ForecastLine] = {}
    others: list[ForecastLine] = []
    for line in forecast.lines if forecast else ():
        text = f"{line.name} {line.unit}".casefold()
        key = next(
            (key for key, signs in _RECOGNISED if key not in found and any(sign in text for sign in signs)), None
        )
        if key is None:
            others.append(line)
        else:
            found[key] = line
    return found, others


def _range(line: ForecastLine, words: Wording) -> str:
    if line.low is None or line.high is None:
        return words.unknown
    ends = dict.fromkeys((_figure(line.low), _figure(line.high)))
    unit = line.unit if line.unit.casefold() not in line.name.casefold() else ""
    return f"{'–'.join(ends)} {escape_text(unit)}".strip()


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
