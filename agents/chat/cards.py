"""What the cards are given. A card's props are a contract with its JSX file of the same name in `public/elements/`."""

from typing import Literal

from agents.chat.limits import LANGUAGES, dates_words, language_name
from agents.chat.short_answers import likely_cost, likely_time, note_of, searched, takes
from agents.chat.state import ShowContract
from agents.chat.texts import ChatTexts
from agents.contracts.contract import Contract, ForecastLine, Query
from agents.contracts.frozen import Frozen, Mode
from agents.contracts.plan import Leaf, Node
from agents.contracts.report import Grade, ReportDocument
from agents.core.model import shown_name
from agents.core.paths import public
from agents.core.time_policy import synthesis_reserve_s
from agents.jobs.live_job import Job
from agents.research.planning.forecast import PastRun
from agents.research.scoping.authorization import PHRASE
from agents.research.scoping.turn import ScopingState
from agents.search.searcher import SAMPLE_NAME

Name = Literal["ScopeCard", "ContractCard", "ResearchRun", "ReportView"]


class ScopeQuery(Frozen):
    """One query on the scope card."""

    n: int
    text: str
    feasible: bool
    reason: str
    splits: tuple[str, ...]


class ScopeCard(Frozen):
    """Verdicts, and narrower questions to pick. It repeats nothing of the manager's words above it."""

    lang: str
    queries: tuple[ScopeQuery, ...]
    points: tuple[str, ...]
    """What leaves the question open."""
    takes: str
    """What any of the narrower questions probably takes: `about 1 minute · free`."""
    ready: bool
    active: bool = True
    """False once the talk has moved on."""

    @classmethod
    def of(cls, scope: ScopingState, words: ChatTexts, usual: PastRun) -> "ScopeCard":
        """Describe how the talk stands."""
        said = scope.turns[-1].text if scope.turns else ""
        queries = shown_queries(scope.queries, said)
        told = {query.reason for query in queries} if len(queries) > 1 else set()
        return cls(
            lang=words.language,
            queries=queries,
            points=tuple(one for one in scope.open_questions if one not in said and one not in told),
            takes=takes(usual, words),
            ready=scope.ready,
        )


def shown_queries(queries: tuple[Query, ...], said: str = "") -> tuple[ScopeQuery, ...]:
    """Number queries; a reason that was said above, or only repeats the question, is left out."""
    return tuple(
        ScopeQuery(
            n=number,
            text=query.text,
            feasible=query.feasible,
            reason="" if query.reason in said or query.reason == query.text else query.reason,
            splits=() if query.feasible else query.suggested_split,
        )
        for number, query in enumerate(queries, start=1)
    )


class TreeItem(Frozen):
    """One branch of the draft tree."""

    n: str
    title: str
    kind: Literal["node", "leaf"]
    note: str
    children: tuple["TreeItem", ...] = ()


class ForecastItem(Frozen):
    """One figure of the forecast, written out."""

    name: str
    value: str
    basis: str
    """What it rests on, which is told in English; empty elsewhere."""


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


class ContractCard(Frozen):
    """The draft on one screen."""

    lang: str
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
    memory: bool
    """What earlier research found is asked first."""
    files: tuple[FileItem, ...] = ()
    """The user's own files, in the order of their numbers."""
    preset: tuple[str, ...] = ()
    """What comes from the user's settings: `time`, `depth`, `language`, `exclude`, `places`, `models`."""
    sample: str | None
    phrase: str = PHRASE

    @classmethod
    def of(cls, shown: ShowContract, words: ChatTexts) -> "ContractCard":
        """Describe exactly what the phrase binds."""
        contract, scope = shown.contract, shown.scope
        brief, caps = contract.brief, contract.caps
        several = len(contract.plans) > 1
        return cls(
            lang=words.language,
            hash=contract.hash,
            draft=shown.number,
            changed=shown.changed,
            undo=shown.undo,
            languages=tuple(dict.fromkeys(language_name(tag) for tag in LANGUAGES.values())),
            language=language_name(brief.language),
            caution=words("caution") if brief.query_type == "medical_legal_financial" else "",
            mode=brief.mode,
            queries=shown_queries(brief.queries),
            trees=tuple(
                _item(plan.root, str(number) if several else "", words)
                for number, plan in enumerate(contract.plans, start=1)
            ),
            forecast=tuple(
                ForecastItem(name=line.name, value=figure(line), basis=line.basis if words.language == "en" else "")
                for line in contract.forecast.lines
            ),
            likely_time=likely_time(contract, words).likely,
            likely_cost=likely_cost(contract).likely,
            caps=CapsItem(
                minutes=caps.minutes,
                rounds=caps.rounds,
                searches=caps.searches,
                sources=caps.sources,
                cost_usd=caps.cost_usd,
            ),
            domains=brief.domains,
            exclude_domains=brief.exclude_domains,
            dates=dates_words(brief.date_from, brief.date_to, words),
            models=tuple(map(shown_name, contract.models)),
            retrievers=searched(contract, words),
            memory=brief.memory is not None,
            files=tuple(FileItem(name=file.name, note=note_of(file, words)) for file in brief.files),
            preset=scope.preset,
            # Said only where nothing but the samples is searched.
            sample=words("sample_line") if set(contract.retrievers) == {SAMPLE_NAME} else None,
        )


class ResearchRun(Frozen):
    """The live card: it holds only a job id and reads the rest from our routes."""

    lang: str
    job_id: str
    title: str
    minutes: float | None
    reserve_s: float
    steer: bool = True
    """Branches can be finished and stopped one by one."""

    @classmethod
    def of(cls, job: Job, contract: Contract, words: ChatTexts) -> "ResearchRun":
        """Name a run."""
        minutes = contract.caps.minutes
        return cls(
            lang=words.language,
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


def _item(branch: Node | Leaf, number: str, words: ChatTexts) -> TreeItem:
    below: tuple[TreeItem, ...] = ()
    if isinstance(branch, Node):
        prefix = f"{number}." if number else ""
        below = tuple(
            _item(child, f"{prefix}{position}", words) for position, child in enumerate(branch.children, start=1)
        )
        note = ""
    else:
        searches = min(branch.budget.searches, len(branch.searches)) if branch.searches else 0
        note = words("one_search" if searches == 1 else "some_searches", n=searches, sources=branch.budget.sources)
        if branch.spec is not None:
            note = "; ".join(filter(None, (note, branch.spec.expected_format, *branch.spec.acceptance_criteria)))
    return TreeItem(n=number, title=branch.title, kind=branch.kind, note=note, children=below)


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


# ---- the words beside them


def line_safe(text: str) -> str:
    """Put text that others wrote on one line, its Markdown taken literally."""
    flat = " ".join(text.split())
    return "".join(f"\\{char}" if char in "\\`*_[]<>#|~$" else char for char in flat)


def scope_line(scope: ScopingState, words: ChatTexts) -> str:
    """Say the verdict in one or two sentences; the card shows the rest."""
    if not scope.queries:
        return ""
    too_broad = [number for number, query in enumerate(scope.queries, start=1) if not query.feasible]
    if not too_broad:
        return words("scope_ready" if scope.ready else "scope_open")
    if len(scope.queries) == 1:
        return words("scope_broad")
    return words("scope_broad_some", numbers=", ".join(str(number) for number in too_broad))


def contract_line(changed: tuple[str, ...], words: ChatTexts) -> str:
    """Say which words start the work, and what changed since the last draft."""
    line = words("phrase_line")
    return f"{words('changed', changes='; '.join(line_safe(one) for one in changed))}\n\n{line}" if changed else line


def grade_line(document: ReportDocument) -> str:
    """Say how complete a report is, and what is missing."""
    words = {"complete": "Complete", "partial": "Partial", "nothing_found": "Nothing found"}[document.grade]
    reasons = "; ".join(line_safe(reason.rstrip(".")) for reason in document.grade_reasons[:3])
    more = len(document.grade_reasons) - 3
    return f"*{words}{': ' + reasons if reasons else ''}{f'; {more} more' if more > 0 else ''}.*"


def downloads(document: ReportDocument) -> str:
    """Link to the report as files."""
    base = public(f"/research/jobs/{document.job_id}/report")
    files = {"PDF": "pdf", "Word": "docx", "HTML": "html", "Markdown": "md", "JSON": "json"}
    return "Download: " + " · ".join(f"[{name}]({base}.{ending})" for name, ending in files.items())


TreeItem.model_rebuild()
