"""What the chat tells without asking anybody: the draft, the server's setup, the glossary, files that came.

What its cards are given. A card's props are a contract with its JSX file of the same name in `public/elements/`.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from agents.api.app_state import asked_of, asked_web
from agents.chat.commands import Wish
from agents.chat.preferences import dates_words, limits_words
from agents.chat.state import Button, Say, ShowContract, Stage
from agents.chat.texts import ChatTexts
from agents.contracts.contract import Contract, ForecastLine, Query
from agents.contracts.plan import Leaf, Node
from agents.contracts.sources import CorpusSurvey, OwnFile
from agents.core.errors import BadRequest
from agents.core.role import shown_name
from agents.core.time_policy import synthesis_reserve_s
from agents.jobs.job import Job
from agents.nlp.tokens import content_words
from agents.report.escaping import escape_text
from agents.research.planning.forecast import PastRun
from agents.research.scoping.authorization import PHRASE
from agents.research.scoping.turn import ScopingState
from agents.search.searcher import FILES_NAME, LIBRARY_NAME, SAMPLE_NAME
from agents.search.uploads import UploadResult
from agents.team import Team

FOREIGN = 0.25
"""Share of a question's telling words that the titles and themes of the samples hold, at most, if it is not about them."""
STARTERS = 3
"""Questions of the first page."""
_NAME = re.compile(r"(?=.*\s[^\W\d_a-zß-ÿ]\S*[^\WA-ZÀ-Þ])(?:\S+\s){1,5}\S+")
"""A few words with a capital after the first."""


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Mapping[str, str]]:
    """Give the name of the text that answers each wish, by how the talk stands."""
    stages = tomllib.loads(Path(__file__).with_name("wishes.toml").read_text("utf-8")).items()
    return {stage: {wish: name for name, all_ in texts.items() for wish in all_.split()} for stage, texts in stages}


def short(wish: Wish, stage: Stage, team: Team, words: ChatTexts, progress: str = "") -> str:
    """Answer a short wish that nothing has to be worked out for; a `BadRequest` where it can't be done as the talk stands."""
    match wish.name:
        case "privacy":
            return _leaves(team, words)
        case "model":
            name = "model_draft" if team.engine.reasons else "model_offline"
            return words(name, models=", ".join(map(shown_name, team.engine.names)), leaves=_leaves(team, words))
        case "term" if wish.topic in words.terms:
            return f"*{wish.topic}*: {words.terms[wish.topic]}"
        case "term":
            return words("term_unknown", term=wish.topic, known=", ".join(words.terms))
        case "door_file" | "door_folder" | "door_key":
            return words(f"{wish.name}_how")
    name = _table()[stage].get(wish.name) or _table()[stage]["*"]
    if name.startswith("!"):
        raise BadRequest(words(name[1:]))
    return words(name, progress=progress)


def on_draft(wish: Wish, contract: Contract, team: Team, words: ChatTexts) -> str:
    """Answer a short wish from the card."""
    brief, caps, bound = contract.brief, contract.caps, words.minutes(contract.caps.minutes)
    match wish.name:
        case "how_long":
            name = "how_long_draft" if caps.minutes else "how_long_open"
            return words(name, likely=likely_time(contract, words) or bound, bound=bound)
        case "shorter":
            return words("shorter_draft", bound=bound)
        case "cost" if likely_cost(contract) == "free":
            return words("cost_free")
        case "cost":
            cap = caps.cost_usd
            bound = words("cost_no_bound") if cap is None else words("cost_bound", bound=f"${cap:.2f}")
            bound = words.said(contract.cost_unheld) or bound
            if likely := likely_cost(contract):
                return words("cost_draft", likely=likely, bound=bound)
            return words("cost_unknown", models=", ".join(map(shown_name, contract.models)), bound=bound)
        case "sources":
            limits, names = limits_words(brief, words), ", ".join(escape_text(file.name) for file in brief.files)
            files = words("sources_files", files=names) if names else ""
            plan = words("sources_plan", sources=_most_sources(contract), searches=caps.searches)
            where = f" ({'; '.join(limits)})" if limits else ""
            places = words.listed(searched(contract, words))
            return words("sources_draft", places=places, limits=where, files=files + plan)
    return short(wish, "draft", team, words)


# ---- what the card says


def _likely(contract: Contract, unit: str) -> float | None:
    return next((line.likely for line in contract.forecast.lines if line.unit == unit), None)


def likely_time(contract: Contract, words: ChatTexts) -> str:
    """Say how long a run probably takes; empty where it is not known."""
    minutes = _likely(contract, "min")
    return "" if minutes is None else words.rough_minutes(minutes)


def likely_cost(contract: Contract) -> str:
    """Say what a run probably costs; unknown, which is empty, is not zero."""
    cost = _likely(contract, "USD")
    return "" if cost is None else f"${max(cost, 0.01):.2f}" if cost else "free"


def searched(contract: Contract, words: ChatTexts) -> tuple[str, ...]:
    """Name what is searched as people call it: the web, their library, their files, the samples."""
    own = {FILES_NAME: "place_files", LIBRARY_NAME: "place_library", SAMPLE_NAME: "place_sample"}
    return tuple(dict.fromkeys(words(own.get(name, "place_web")) for name in contract.retrievers))


def _leaves(team: Team, words: ChatTexts) -> str:
    """Say what leaves the computer, as the first page does."""
    hosts, receivers = asked_web(team), asked_of(team)
    said = [words("leaves_search", hosts=words.listed(hosts))] if hosts else []
    said += [words("leaves_text", receivers=words.listed(receivers))] if receivers else []
    return " ".join([*said, words("leaves_else")]) if said else words("leaves_nothing")


# ---- before a question, and with files


async def three_doors(question: str, scope: ScopingState, team: Team, words: ChatTexts) -> Say | None:
    """Say that only the sample library is searched, where that is so and a question is about something else."""
    if not team.sample or scope.files:
        return None
    survey = await team.context(scope).survey("")
    asked = set(content_words(question))
    if survey.web or not survey.documents or not asked:
        return None
    about = {word for one in survey.documents for word in content_words(f"{one.title} {' '.join(one.themes)}")}
    place = set(content_words(survey.themes[0])[:1]) if survey.themes else set()
    if asked & place or len(asked & about) > FOREIGN * len(asked):
        return None
    doors = (words(name) for name in ("door_file", "door_folder", "door_key"))
    return Say(words("sample_only", count=survey.total), tuple(Button(door, door) for door in doors))


def subjects(survey: CorpusSurvey) -> list[str]:
    """Name what three documents are about that have no word in common: asked about it, they answer.

    That is a document's title, up to a bracket or colon, or its most telling phrase, if it is a name; any title where
    there are too few.
    """
    step, chosen = max(1, len(survey.documents) // STARTERS), list[str]()
    told = [(re.split(r"[:;,(|]|\s[–—-]\s", one.title)[0].strip(" .?!"), one.themes) for one in survey.documents]
    spoken = [(title, *themes) if _shares(title, " ".join(themes[:3])) else themes for title, themes in told]
    named = [next(filter(_NAME.fullmatch, some), "") for some in spoken]
    for one in (*named[::step], *named, *(title for title, _ in told)):
        if one and not any(_shares(one, other) for other in chosen):
            chosen.append(one)
    return chosen[:STARTERS]


def _shares(one: str, other: str) -> bool:
    return bool({*content_words(one)} & {*content_words(other)})


def note_of(file: OwnFile, words: ChatTexts) -> str:
    """Say how long a file is, and what of it could not be read."""
    pages = len(file.card.pages)
    return "; ".join([*([words.counted(pages, "page")] if pages else []), *map(words.said, file.gaps)])


def filed(taken: UploadResult, stage: Stage, words: ChatTexts, *, with_text: bool) -> str:
    """Name what was added, what was not and why, and what becomes of it, as Markdown."""
    lines = []
    if taken.files:
        notes = [(escape_text(file.name), escape_text(note_of(file, words))) for file in taken.files]
        names = ", ".join(f"**{name}**" + (f" ({note})" if note else "") for name, note in notes)
        what = "files_running" if stage == "running" else "" if with_text or stage == "draft" else "files_next"
        after = words(what, them=words("it" if len(taken.files) == 1 else "them")) if what else ""
        lines.append(words("added_files", names=names, next=after).strip())
    refused = [escape_text(words.said(one.notice)) for one in taken.refused]
    lines += refused if len(refused) == 1 else ["\n".join(f"- {one}" for one in refused)] if refused else []
    return "\n\n".join(lines)


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
        # Said by a button where nothing is too broad, but the manager would still like to know something.
        "as_it_stands": words("button_as_it_stands") if scope.feasible and not scope.ready else "",
        # Until the talk has moved on.
        "active": True,
    }


def _queries(queries: tuple[Query, ...], said: str = "") -> list[Props]:
    """Number queries; a reason that was said above, or only repeats the question, is left out."""
    return [
        {
            "n": number, "text": query.text, "feasible": query.feasible,
            "reason": "" if query.reason in said or query.reason == query.text else query.reason,
            "splits": [] if query.feasible else list(query.suggested_split),
        }
        for number, query in enumerate(queries, start=1)
    ]  # fmt: skip


def contract_card(shown: ShowContract, words: ChatTexts) -> Props:
    """Give exactly what the phrase binds, on one screen."""
    contract, english = shown.contract, ChatTexts("en")
    brief, caps, plans = contract.brief, contract.caps, enumerate(contract.plans, start=1)
    several, in_english = len(contract.plans) > 1, words.language == "en"
    lines = contract.forecast.lines
    return {
        "lang": words.language, "hash": contract.hash, "draft": shown.number, "changed": list(shown.changed),
        # `bound` once the phrase bound it, `replaced` once another draft took its place.
        "state": "draft", "undo": shown.undo, "phrase": PHRASE, "mode": brief.mode,
        # Languages that a report can be asked for in; edits are read by their English names.
        "languages": english.languages, "language": english.language_name(brief.language),
        "caution": words("caution") if brief.query_type == "medical_legal_financial" else "",
        "queries": _queries(brief.queries), "kind": words(f"kind_{brief.query_type}"),
        "agreed": [limit for query in brief.queries for limit in query.scope_limits],
        "assumed": [words.said(one) for plan in contract.plans for one in plan.assumptions],
        "trees": [_item(plan.root, str(number) if several else "", words) for number, plan in plans],
        # What figures rest on is told in English.
        "forecast": [{"name": one.name, "value": figure(one), "basis": one.basis if in_english else ""} for one in lines],
        "likely_time": likely_time(contract, words), "likely_cost": likely_cost(contract),
        "cost_unheld": words.said(contract.cost_unheld),
        "caps": caps.model_dump(include={"minutes", "rounds", "searches", "cost_usd"}) | {"sources": _most_sources(contract)},
        "domains": list(brief.domains), "exclude_domains": list(brief.exclude_domains),
        "dates": dates_words(brief.date_from, brief.date_to, words),
        "models": [shown_name(name) for name in contract.models], "retrievers": list(searched(contract, words)),
        "memory": brief.memory is not None,
        "files": [{"name": file.name, "note": note_of(file, words)} for file in brief.files],
        # Said only where nothing but the samples is searched.
        "sample": words("sample_line") if set(contract.retrievers) == {SAMPLE_NAME} else None,
    }  # fmt: skip


def _most_sources(contract: Contract) -> int:
    """Say how many sources may be read: no more than there are, where only the user's files are searched."""
    most, files = contract.caps.sources, len(contract.brief.files)
    return min(most, files) if set(contract.retrievers) == {FILES_NAME} else most


def run_card(job: Job, contract: Contract, words: ChatTexts) -> Props:
    """Name a run: the live card holds only a job id and reads the rest from our routes."""
    minutes = contract.caps.minutes
    return {
        "lang": words.language, "job_id": job.id, "minutes": minutes,
        "title": contract.plans[0].query if len(contract.plans) == 1 else job.title,
        "reserve_s": synthesis_reserve_s(None if minutes is None else minutes * 60),
    }  # fmt: skip


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
