"""What the cards are given, and the same as Markdown: the chat is whole without them.

A card's props are a contract with its JSX file of the same name in `public/elements/`.
"""

from pathlib import Path
from typing import Literal

from agents.chat.answers import likely_cost, likely_time, note_of
from agents.chat.effects import ShowContract
from agents.chat.limits import LANGUAGES, dates_words, language_name, time_words
from agents.chat.state import splits_of
from agents.chat.texts import Words
from agents.contracts.contract import Contract, ForecastLine
from agents.contracts.frozen import Frozen, Mode
from agents.contracts.plan import Leaf, Node
from agents.contracts.report import Grade, ReportDocument
from agents.core.budget import synthesis_reserve_s
from agents.core.paths import RESOURCES
from agents.jobs.job import Job
from agents.research.scoping.authorization import PHRASE
from agents.research.scoping.turn import Scope

ELEMENTS = RESOURCES / "public" / "elements"
REPORT_ELEMENT = True
"""Show the report as an element; its Markdown stays the message's text, which the page hides while the element stands."""

PHRASE_LINE = f"Type **{PHRASE}** to begin. It binds exactly this draft."
STARTED_LINE = "Started. First sources should appear within half a minute. You can close this page."

Name = Literal["ScopeCard", "ContractCard", "ResearchRun", "ReportView"]

TYPE_WORDS = {
    "academic": "academic",
    "news": "recent news",
    "comparison": "comparison",
    "technical": "how-to or technical",
    "person_or_organisation": "person or organisation",
    "statistics": "statistics",
    "medical_legal_financial": "medical, legal or financial",
    "other": "general",
}
PRESET_WORDS = {
    "time": "time",
    "depth": "depth",
    "language": "language",
    "exclude": "domains left out",
    "places": "where to search",
    "models": "models",
}
SAMPLE_LINE = "Searched are the invented sample documents that ship with Dossier: nothing in them is real."
CAUTION = "This touches medical, legal or financial matters: the report says what sources say, it is no advice."


def drawn(name: Name, folder: Path = ELEMENTS) -> bool:
    """Tell whether there is a card of this name; without one the Markdown says it all."""
    return (folder / f"{name}.jsx").is_file()


class ScopeQuery(Frozen):
    """One query on the scope card."""

    n: int
    text: str
    feasible: bool
    reason: str
    depth: int
    splits: tuple[str, ...]


class ScopeCard(Frozen):
    """Verdicts, and narrower questions to pick."""

    queries: tuple[ScopeQuery, ...]
    query_type: str
    open_questions: tuple[str, ...]
    ready: bool
    active: bool = True
    """False once the talk has moved on."""

    @classmethod
    def of(cls, scope: Scope) -> "ScopeCard":
        """Describe how the talk stands."""
        return cls(
            queries=tuple(
                ScopeQuery(
                    n=number,
                    text=query.text,
                    feasible=query.feasible,
                    reason=query.reason,
                    depth=query.depth_estimate,
                    splits=query.suggested_split,
                )
                for number, query in enumerate(scope.queries, start=1)
            ),
            query_type=scope.query_type,
            open_questions=scope.open_questions,
            ready=scope.ready,
        )


class TreeItem(Frozen):
    """One branch of the draft tree."""

    n: str
    title: str
    kind: Literal["node", "leaf"]
    level: int
    note: str
    children: tuple["TreeItem", ...] = ()


class ForecastItem(Frozen):
    """One figure of the forecast, written out."""

    name: str
    value: str
    basis: str


class FileItem(Frozen):
    """One of the user's own files."""

    name: str
    note: str


class CapsItem(Frozen):
    """What the run may not exceed; None is no cap."""

    minutes: float | None
    rounds: int
    searches: int
    sources: int
    cost_usd: float | None
    depth: int


class ContractCard(Frozen):
    """The draft on one screen."""

    hash: str
    draft: int
    """Which draft of the question it is, counted from 1."""
    state: Literal["draft", "bound", "replaced"] = "draft"
    """`bound` once the phrase bound it, `replaced` once another draft took its place."""
    changed: tuple[str, ...]
    ready: bool = True
    editable: bool = True
    undo: bool = False
    """There is a draft before this one to go back to."""
    languages: tuple[str, ...] = ()
    """Languages that a report can be asked for in."""
    language: str
    query_type: str
    caution: str
    mode: Mode
    queries: tuple[ScopeQuery, ...]
    trees: tuple[TreeItem, ...]
    forecast: tuple[ForecastItem, ...]
    likely_time: str
    """One figure; empty where it is not known."""
    likely_cost: str
    """One figure, `free`, or empty where it is not known."""
    caps: CapsItem
    domains: tuple[str, ...]
    exclude_domains: tuple[str, ...]
    dates: str
    models: tuple[str, ...]
    retrievers: tuple[str, ...]
    files: tuple[FileItem, ...] = ()
    """The user's own files, in the order of their numbers."""
    preset: tuple[str, ...] = ()
    """What comes from the user's settings: `time`, `depth`, `language`, `exclude`, `places`, `models`."""
    sample: str | None
    phrase: str = PHRASE

    @classmethod
    def of(cls, shown: ShowContract, *, sample: bool) -> "ContractCard":
        """Describe exactly what the phrase binds."""
        contract, scope = shown.contract, shown.scope
        brief, caps = contract.brief, contract.caps
        several = len(contract.plans) > 1
        return cls(
            hash=contract.hash,
            draft=shown.number,
            changed=shown.changed,
            undo=shown.undo,
            languages=tuple(dict.fromkeys(language_name(tag) for tag in LANGUAGES.values())),
            language=language_name(brief.language),
            query_type=brief.query_type,
            caution=CAUTION if brief.query_type == "medical_legal_financial" else "",
            mode=brief.mode,
            queries=ScopeCard.of(scope.model_copy(update={"queries": brief.queries})).queries,
            trees=tuple(
                _item(plan.root, str(number) if several else "", 1)
                for number, plan in enumerate(contract.plans, start=1)
            ),
            forecast=tuple(
                ForecastItem(name=line.name, value=figure(line), basis=line.basis) for line in contract.forecast.lines
            ),
            likely_time=likely_time(contract, Words()).likely,
            likely_cost=likely_cost(contract).likely,
            caps=CapsItem(
                minutes=caps.minutes,
                rounds=caps.rounds,
                searches=caps.searches,
                sources=caps.sources,
                cost_usd=caps.cost_usd,
                depth=caps.depth,
            ),
            domains=brief.domains,
            exclude_domains=brief.exclude_domains,
            dates=dates_words(brief.date_from, brief.date_to),
            models=contract.models,
            retrievers=contract.retrievers,
            files=tuple(FileItem(name=file.name, note=note_of(file)) for file in brief.files),
            preset=scope.preset,
            sample=SAMPLE_LINE if sample and not brief.files else None,
        )


class ResearchRun(Frozen):
    """The live card: it holds only a job id and reads the rest from our routes."""

    job_id: str
    title: str
    minutes: float | None
    reserve_s: float
    steer: bool = True
    """Branches can be finished and stopped one by one."""

    @classmethod
    def of(cls, job: Job, contract: Contract) -> "ResearchRun":
        """Name a run."""
        minutes = contract.caps.minutes
        return cls(
            job_id=job.id,
            title=contract.plans[0].query if len(contract.plans) == 1 else job.title,
            minutes=minutes,
            reserve_s=synthesis_reserve_s(None if minutes is None else minutes * 60),
        )


class ReportView(Frozen):
    """The report as an element; it reads its text from our routes."""

    job_id: str
    grade: Grade
    title: str


def _item(branch: Node | Leaf, number: str, level: int) -> TreeItem:
    below: tuple[TreeItem, ...] = ()
    if isinstance(branch, Node):
        prefix = f"{number}." if number else ""
        below = tuple(
            _item(child, f"{prefix}{position}", level + 1) for position, child in enumerate(branch.children, start=1)
        )
        note = ""
    else:
        searches = min(branch.budget.searches, len(branch.searches)) if branch.searches else 0
        note = f"{searches} {'search' if searches == 1 else 'searches'}, reads up to {branch.budget.sources}"
    return TreeItem(n=number, title=branch.title, kind=branch.kind, level=level, note=note, children=below)


def figure(line: ForecastLine) -> str:
    """Write a figure of the forecast; what cannot be known is called so."""
    if line.low is None or line.high is None:
        return "unknown"
    low, high = _number(line.low), _number(line.high)
    span = low if low == high else f"{low}–{high}"
    if line.unit == "USD":
        return f"${span}"
    return f"{span} {line.unit}".strip()


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"


# ---- the same in Markdown


def line_safe(text: str) -> str:
    """Put text that others wrote on one line, its Markdown taken literally."""
    flat = " ".join(text.split())
    return "".join(f"\\{char}" if char in "\\`*_[]<>#|~$" else char for char in flat)


def scope_line(scope: Scope) -> str:
    """Say the verdict in one or two sentences; the card shows the rest."""
    if not scope.queries:
        return ""
    open_queries = [number for number, query in enumerate(scope.queries, start=1) if not query.feasible]
    if not open_queries:
        return "What is still open stands above." if not scope.ready else "That is small enough as it is."
    if len(scope.queries) == 1:
        return "Too broad as it stands. Pick a narrower one, or name your own."
    numbers = " and ".join(str(number) for number in open_queries)
    verb = "is" if len(open_queries) == 1 else "are"
    return f"Question {numbers} {verb} too broad as it stands. Pick a narrower one, or name your own."


def scope_markdown(scope: Scope) -> str:
    """Show verdicts and narrower questions as text."""
    numbers = {split: number for number, split in enumerate(splits_of(scope), start=1)}
    parts = [f"**{scope_line(scope)}**"] if scope.queries else []
    for number, query in enumerate(scope.queries, start=1):
        name = f"Question {number}: " if len(scope.queries) > 1 else ""
        verdict = "ready" if query.feasible else "too broad"
        parts.append(f"{name}{line_safe(query.text)}\n\n*{verdict}*: {line_safe(query.reason)}")
        if not query.feasible and query.suggested_split:
            parts.append("\n".join(f"{numbers[split]}. {line_safe(split)}" for split in query.suggested_split))
    if numbers:
        parts.append("Answer with a number, with several (`1 and 3`), or in your own words.")
    if scope.open_questions:
        parts.append("Still open:\n\n" + "\n".join(f"- {line_safe(one)}" for one in scope.open_questions))
    return "\n\n".join(parts)


def contract_line(changed: tuple[str, ...]) -> str:
    """Say which words start the work, and what changed since the last draft."""
    return f"Changed: {'; '.join(line_safe(one) for one in changed)}.\n\n{PHRASE_LINE}" if changed else PHRASE_LINE


def contract_markdown(card: ContractCard) -> str:
    """Show the whole draft as text."""
    caps = card.caps
    kind = TYPE_WORDS.get(card.query_type, card.query_type)
    head = f"**Draft {card.draft}** `{card.hash}` · {kind} · report in {card.language} · {card.mode}"
    parts = [head] + ([card.caution] if card.caution else [])
    for query, tree in zip(card.queries, card.trees, strict=True):
        name = f"{query.n}. " if len(card.queries) > 1 else ""
        parts.append(f"**{name}{line_safe(query.text)}**\n\n{line_safe(query.reason)}")
        parts.append("\n".join(_lines(tree)))
    parts.append(
        f"Time: {f'about {card.likely_time}' if card.likely_time else 'unknown'}; "
        f"cost: {card.likely_cost or 'unknown'}.".replace("$", "\\$")
    )
    rows = "\n".join(f"| {line_safe(one.name)} | {one.value} | {line_safe(one.basis)} |" for one in card.forecast)
    parts.append(f"| Forecast | | Basis |\n| --- | --- | --- |\n{rows}".replace("$", "\\$"))
    limits = [
        time_words(caps.minutes),
        f"{caps.rounds} rounds of searching",
        f"{caps.searches} searches",
        f"{caps.sources} sources",
    ]
    limits += [f"${caps.cost_usd:.2f}"] if caps.cost_usd is not None else []
    parts.append(f"At most: {', '.join(limits)}.".replace("$", "\\$"))
    where = [f"Searched: {', '.join(card.retrievers)}"] + (["invented sample documents"] if card.sample else [])
    where += [f"your files: {', '.join(line_safe(file.name) for file in card.files)}"] if card.files else []
    where += [f"only {', '.join(card.domains)}"] if card.domains else []
    where += [f"without {', '.join(card.exclude_domains)}"] if card.exclude_domains else []
    where += [card.dates] if card.dates else []
    parts.append(f"{'; '.join(where)}. Model: {', '.join(card.models)}.")
    if card.preset:
        parts.append(f"From your settings: {', '.join(PRESET_WORDS[name] for name in card.preset)}.")
    return "\n\n".join(parts)


def _lines(item: TreeItem) -> list[str]:
    """The branches below the root, as a nested list."""
    lines: list[str] = []
    for child in item.children:
        note = f" *({line_safe(child.note)})*" if child.note else ""
        lines.append(f"{'  ' * (child.level - 2)}- {child.n} {line_safe(child.title)}{note}")
        lines += _lines(child)
    return lines


def grade_line(document: ReportDocument) -> str:
    """Say how complete a report is, and what is missing."""
    words = {"complete": "Complete", "partial": "Partial", "nothing_found": "Nothing found"}[document.grade]
    reasons = "; ".join(line_safe(reason.rstrip(".")) for reason in document.grade_reasons[:3])
    more = len(document.grade_reasons) - 3
    return f"*{words}{': ' + reasons if reasons else ''}{f'; {more} more' if more > 0 else ''}.*"


def downloads(document: ReportDocument) -> str:
    """Link to the report as files."""
    base = f"/research/jobs/{document.job_id}/report"
    files = {"PDF": "pdf", "Word": "docx", "HTML": "html", "Markdown": "md", "JSON": "json"}
    return "Download: " + " · ".join(f"[{name}]({base}.{ending})" for name, ending in files.items())


TreeItem.model_rebuild()
