"""What a page gets beside its messages: starters, commands, the depth picker, and the settings dialog."""

import json
import logging
from collections.abc import Mapping
from typing import Any, get_args

import chainlit as cl
from chainlit.input_widget import Select, Tab, TextInput
from chainlit.mode import Mode, ModeOption
from fastapi import APIRouter
from fastapi.responses import JSONResponse
from pydantic import ValidationError

from agents.chat.history import History
from agents.chat.preferences import NO_MEMORY, PLACES, ROLES, TIMES, USUAL, Preferences
from agents.chat.texts import ChatTexts
from agents.contracts import frozen
from agents.contracts.sources import CorpusSurvey
from agents.core.paths import RESOURCES
from agents.report.wording import wording
from agents.research.planning.freeze_contract import MODES
from agents.team import Team

log = logging.getLogger(__name__)
page_words = APIRouter(include_in_schema=False)


@page_words.get("/words/{language}/reasons")
async def reasons(language: str) -> JSONResponse:
    """Say in a language why documents were not used: the page has the list from the report's own texts."""
    return JSONResponse(dict(wording(language).reasons), headers={"Cache-Control": "max-age=3600"})


async def preferences_of(history: History, owner: str) -> Preferences:
    """Find what a user set; what can't be read any more counts as never set."""
    kept = await history.settings(owner)
    try:
        return Preferences.model_validate_json(kept) if kept else Preferences()
    except ValidationError as error:
        log.warning("the settings of a user can't be read and begin anew: %s", error)
        return Preferences()


async def furnish(team: Team, given: Preferences) -> None:
    """Set up the page at hand: commands and pickers belong to the page, so every page gets them."""
    emitter, words = cl.context.emitter, frame_words()
    icons = {"research": "search"} if team.memory is None else {"research": "search", "memory": "library"}
    commands: list[Any] = [
        {"id": name, "description": words(f"command_{name}"), "icon": icon, "button": False, "persistent": False}
        for name, icon in icons.items()
    ]
    depths = [
        ModeOption(
            id=depth,
            name=words("depth_is", depth=words(depth)),
            description=words("rounds_up_to", rounds=MODES[depth].rounds),
            default=(given.mode or "standard") == depth,
        )
        for depth in MODES
    ]
    await emitter.set_commands(commands)
    await emitter.set_modes([Mode(id="depth", name=words("depth_label"), options=depths)])
    await cl.ChatSettings(dialog(team, given, words)).send()


def frame_words() -> ChatTexts:
    """The texts in the language of the frame around the chat: the browser's."""
    return ChatTexts(str(cl.context.session.language).partition("-")[0])


def dialog(team: Team, given: Preferences, words: ChatTexts) -> list[Any]:
    """Lay out the settings dialog as they stand."""
    shown = given.offered(team.model_choices, team.places).shown

    def select(name: str, labels: Mapping[str, str], label: str = "", about: str | None = None) -> Select:
        items = {label: value for value, label in {USUAL: words.said(USUAL), **labels}.items()}
        return Select(
            id=name, label=label or words(f"{name}_label"), items=items, initial_value=shown.get(name, USUAL),
            description=about if label else words(f"{name}_about"),
        )  # fmt: skip

    english = ChatTexts("en").languages
    research = [
        select("time", {name: words.minutes(time) if time else words.said(name) for name, time in TIMES.items()}),
        select("depth", {depth: words(depth) for depth in get_args(frozen.Mode)}),
        select("language", dict(zip(english, words.languages, strict=True))),
        TextInput(
            id="exclude",
            label=words("exclude_label"),
            initial=shown["exclude"],
            placeholder="example.org, example.com",
            description=words("exclude_about"),
        ),
    ]
    if team.memory is not None:
        research.append(select("memory", {NO_MEMORY: words.said(NO_MEMORY)}))
    if len(team.places) > 1:
        research.append(select("places", {place: words.said(place) for place in PLACES}))
    if len(team.model_choices) < 2:
        return research
    names = {name: name for name in team.model_choices}
    models = [select(f"model_{role}", names, label=words(f"{role}_does")) for role in ROLES]
    return [
        Tab(id="research", label=words("research_tab"), inputs=research),
        Tab(id="models", label=words("models_tab"), inputs=models),
    ]


def own_starters(words: ChatTexts, survey: CorpusSurvey) -> list[cl.Starter]:
    """Ask what one's own documents speak of: the first theme of some of them, spread over all."""
    themes = list(dict.fromkeys(one.themes[0] for one in survey.documents if one.themes))
    label = words("starter_own_label", documents=words.counted(survey.total, "document"))
    asked = [words("starter_own", theme=theme) for theme in themes[:: max(1, len(themes) // 3)][:3]]
    return [cl.Starter(label=f"{label}\n{one}", message=one) for one in asked]


def starters(words: ChatTexts, *, web: bool) -> list[cl.Starter]:
    """Offer questions for the web, or such as the sample library answers."""
    listed = json.loads((RESOURCES / "examples" / "starters.json").read_text(encoding="utf-8"))
    # The page shows the first line of a label small (see public/dossier.css).
    # The samples are in English, and so is what they are asked.
    asked = [
        (words.said(one["label"]), words.said(one["message"]) if web else one["message"])
        for one in listed["web" if web else "starters"]
    ]
    return [cl.Starter(label=f"{label}\n{message}", message=message) for label, message in asked]
