"""What the cards are given. A card's props are a contract with its JSX file of the same name in `public/elements/`."""

from agents.chat.answers import likely_cost, likely_time, note_of, searched
from agents.chat.preferences import dates_words
from agents.chat.state import ShowContract
from agents.chat.texts import ChatTexts
from agents.contracts.contract import Contract, ForecastLine, Query
from agents.contracts.plan import Leaf, Node
from agents.contracts.report import ReportDocument
from agents.core.paths import public
from agents.core.role import shown_name
from agents.core.time_policy import synthesis_reserve_s
from agents.jobs.job import Job
from agents.report.escaping import escape_text
from agents.research.planning.forecast import PastRun
from agents.research.scoping.authorization import PHRASE
from agents.research.scoping.turn import ScopingState
from agents.search.searcher import SAMPLE_NAME

Props = dict[str, object]  # what an element is given, as the browser gets it


def scope_card(scope: ScopingState, words: ChatTexts, usual: PastRun) -> Props:
    """Give verdicts, and narrower questions to pick. It repeats nothing of the manager's words above it."""
    said = scope.turns[-1].text if scope.turns else ""
    queries = _queries(scope.queries, said)
    told = {query["reason"] for query in queries} if len(queries) > 1 else set()
    time = words.rough_minutes(usual.seconds / 60) if usual.seconds else words("unknown")
    return {
        "lang": words.language,
        "queries": queries,
        # What leaves the question open.
        "points": [one for one in scope.open_questions if one not in said and one not in told],
        # What any of the narrower questions probably takes: `about 1 minute · free`.
        "takes": f"{words('about', figure=time) if time[:1].isdecimal() else time} · {words.price(usual.cost_usd)}",
        "ready": scope.ready,
        # Until the talk has moved on.
        "active": True,
    }


def _queries(queries: tuple[Query, ...], said: str = "") -> list[Props]:
    """Number queries; a reason that was said above, or only repeats the question, is left out."""
    return [
        {
            "n": number,
            "text": query.text,
            "feasible": query.feasible,
            "reason": "" if query.reason in said or query.reason == query.text else query.reason,
            "splits": [] if query.feasible else list(query.suggested_split),
        }
        for number, query in enumerate(queries, start=1)
    ]


def contract_card(shown: ShowContract, words: ChatTexts) -> Props:
    """Give exactly what the phrase binds, on one screen."""
    contract, english = shown.contract, ChatTexts("en")
    brief, caps, several = contract.brief, contract.caps, len(contract.plans) > 1
    return {
        "lang": words.language,
        "hash": contract.hash,
        "draft": shown.number,
        # `bound` once the phrase bound it, `replaced` once another draft took its place.
        "state": "draft",
        "changed": list(shown.changed),
        "undo": shown.undo,
        # Languages that a report can be asked for in; edits are read by their English names.
        "languages": english.languages,
        "language": english.language_name(brief.language),
        "caution": words("caution") if brief.query_type == "medical_legal_financial" else "",
        "mode": brief.mode,
        "queries": _queries(brief.queries),
        "trees": [
            _item(plan.root, str(number) if several else "", words)
            for number, plan in enumerate(contract.plans, start=1)
        ],
        # What figures rest on is told in English.
        "forecast": [
            {"name": line.name, "value": figure(line), "basis": line.basis if words.language == "en" else ""}
            for line in contract.forecast.lines
        ],
        "likely_time": likely_time(contract, words),
        "likely_cost": likely_cost(contract),
        "caps": caps.model_dump(include={"minutes", "rounds", "searches", "sources", "cost_usd"}),
        "domains": list(brief.domains),
        "exclude_domains": list(brief.exclude_domains),
        "dates": dates_words(brief.date_from, brief.date_to, words),
        "models": [shown_name(name) for name in contract.models],
        "retrievers": list(searched(contract, words)),
        "memory": brief.memory is not None,
        "files": [{"name": file.name, "note": note_of(file, words)} for file in brief.files],
        # What comes from the user's settings: `time`, `depth`, `language`, `exclude`, `places`, `models`.
        "preset": list(shown.scope.preset),
        # Said only where nothing but the samples is searched.
        "sample": words("sample_line") if set(contract.retrievers) == {SAMPLE_NAME} else None,
        "phrase": PHRASE,
    }


def run_card(job: Job, contract: Contract, words: ChatTexts) -> Props:
    """Name a run: the live card holds only a job id and reads the rest from our routes."""
    minutes = contract.caps.minutes
    return {
        "lang": words.language,
        "job_id": job.id,
        "title": contract.plans[0].query if len(contract.plans) == 1 else job.title,
        "minutes": minutes,
        "reserve_s": synthesis_reserve_s(None if minutes is None else minutes * 60),
    }


def _item(branch: Node | Leaf, number: str, words: ChatTexts) -> Props:
    """Give one branch of the draft tree."""
    below, note, detail = [], "", ""
    if isinstance(branch, Node):
        prefix = f"{number}." if number else ""
        below = [_item(child, f"{prefix}{at}", words) for at, child in enumerate(branch.children, start=1)]
    else:
        searches = min(branch.budget.searches, len(branch.searches))
        note = words("some_known" if branch.known_facts else "some_searches", n=searches, sources=branch.budget.sources)
        if branch.spec is not None:
            # What its readers are told can be long: it is shown on demand.
            detail = "; ".join(filter(None, (branch.spec.expected_format, *branch.spec.acceptance_criteria)))
    return {
        "n": number, "title": branch.title, "kind": branch.kind, "note": note, "detail": detail, "children": below,
    }  # fmt: skip


def figure(line: ForecastLine) -> str:
    """Write a figure of the forecast; what cannot be known is called so."""
    if line.low is None or line.high is None:
        return "unknown"
    span = "–".join(dict.fromkeys(f"{one:,.0f}" if one == int(one) else f"{one:g}" for one in (line.low, line.high)))
    return f"${span}" if line.unit == "USD" else f"{span} {line.unit}".strip()


# ---- the words beside them


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
    return f"{words('changed', changes='; '.join(escape_text(one) for one in changed))}\n\n{line}" if changed else line


def downloads(document: ReportDocument) -> str:
    """Link to the report as files."""
    base = public(f"/research/jobs/{document.job_id}/report")
    files = {"PDF": "pdf", "Word": "docx", "HTML": "html", "Markdown": "md", "JSON": "json"}
    return "Download: " + " · ".join(f"[{name}]({base}.{ending})" for name, ending in files.items())
