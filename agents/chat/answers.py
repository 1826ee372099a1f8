"""Answers out of what is known without asking anybody: the draft, the server's setup, the glossary, files that came."""

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from agents.api.app_state import asked_of, asked_web
from agents.chat.commands import Wish
from agents.chat.preferences import limits_words
from agents.chat.state import Button, Say, Stage
from agents.chat.texts import ChatTexts
from agents.contracts.contract import Contract
from agents.contracts.sources import OwnFile
from agents.core.errors import BadRequest
from agents.core.role import shown_name
from agents.nlp.tokens import content_words
from agents.report.escaping import escape_text
from agents.research.scoping.turn import ScopingState
from agents.search.searcher import FILES_NAME, LIBRARY_NAME, SAMPLE_NAME
from agents.search.uploads import UploadResult
from agents.team import Team

FOREIGN = 0.25
"""Share of a question's telling words that the titles and themes of the samples hold, at most, if it is not about them."""


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Mapping[str, str]]:
    """Give the name of the text that answers each wish, by how the talk stands."""
    listed = tomllib.loads(Path(__file__).with_name("wishes.toml").read_text("utf-8"))
    return {
        stage: {wish: name for name, wishes in texts.items() for wish in wishes.split()}
        for stage, texts in listed.items()
    }


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
    bound = words.minutes(contract.caps.minutes)
    match wish.name:
        case "how_long":
            name = "how_long_draft" if contract.caps.minutes else "how_long_open"
            return words(name, likely=likely_time(contract, words) or bound, bound=bound)
        case "shorter":
            return words("shorter_draft", bound=bound)
        case "cost":
            return _cost(contract, team, words)
        case "sources":
            return _sources(contract, words)
        case _:
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


def _cost(contract: Contract, team: Team, words: ChatTexts) -> str:
    if not team.engine.reasons:
        return words("cost_free")
    likely, cap = likely_cost(contract), contract.caps.cost_usd
    bound = words("cost_no_bound") if cap is None else words("cost_bound", bound=f"${cap:.2f}")
    if not likely:
        return words("cost_unknown", models=", ".join(map(shown_name, contract.models)), bound=bound)
    return words("cost_draft", likely=likely, bound=bound)


def _sources(contract: Contract, words: ChatTexts) -> str:
    brief = contract.brief
    limits = limits_words(brief, words)
    names = ", ".join(escape_text(file.name) for file in brief.files)
    files = words("sources_files", files=names) if names else ""
    plan = words("sources_plan", sources=contract.caps.sources, searches=contract.caps.searches)
    where = f" ({'; '.join(limits)})" if limits else ""
    return words("sources_draft", places=words.listed(searched(contract, words)), limits=where, files=files + plan)


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
    refused = [escape_text(words.notice(one)) for one in taken.refused]
    lines += refused if len(refused) == 1 else ["\n".join(f"- {one}" for one in refused)] if refused else []
    return "\n\n".join(lines)
