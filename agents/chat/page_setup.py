"""What a page gets beside its messages: starters, commands, the depth picker, and the settings dialog."""

import json
import logging
from collections.abc import Mapping
from typing import Any

import chainlit as cl
from chainlit.input_widget import Select, Tab, TextInput
from chainlit.mode import Mode, ModeOption
from pydantic import ValidationError

from agents.chat.history import History
from agents.chat.limits import LANGUAGES
from agents.chat.preferences import (
    DEPTHS,
    NAMED_LANGUAGES,
    NO_LIMIT,
    NO_MEMORY,
    PLACES,
    ROLES,
    TIMES,
    USUAL,
    Preferences,
    minutes_in,
)
from agents.chat.texts import ChatTexts
from agents.contracts.frozen import Frozen, Text
from agents.core.paths import RESOURCES
from agents.research.planning.freeze_contract import MODES
from agents.team import Team

log = logging.getLogger(__name__)


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
    icons = {"research": "search", "memory": "library"}
    commands: list[Any] = [
        {"id": name, "description": words(f"command_{name}"), "icon": icon, "button": False, "persistent": False}
        for name, icon in icons.items()
    ]
    await emitter.set_commands(commands[: 1 if team.memory is None else 2])
    await emitter.set_modes(_modes(given, words))
    await cl.ChatSettings(_dialog(team, given.offered(team.model_choices, team.places), words)).send()


def frame_words() -> ChatTexts:
    """The texts in the language of the frame around the chat: the browser's."""
    return ChatTexts(str(cl.context.session.language).partition("-")[0])


def _modes(given: Preferences, words: ChatTexts) -> list[Mode]:
    """Offer the two depths beside the composer."""
    options = [
        ModeOption(
            id=depth,
            name=words("depth_is", depth=words(depth)),
            description=words("rounds_up_to", rounds=MODES[depth].rounds),
            default=(given.mode or "standard") == depth,
        )
        for depth in MODES
    ]
    return [Mode(id="depth", name=words("depth_label"), options=options)]


def _dialog(team: Team, given: Preferences, words: ChatTexts) -> list[Any]:
    shown = given.shown

    def select(name: str, labels: Mapping[str, str]) -> Select:
        items = {label: value for value, label in {USUAL: words.said(USUAL), **labels}.items()}
        return Select(
            id=name, label=words(f"{name}_label"), items=items, initial_value=shown.get(name, USUAL),
            description=words(f"{name}_about"),
        )  # fmt: skip

    research = [
        select("time", {one: words.said(one) if one == NO_LIMIT else words.minutes(minutes_in(one)) for one in TIMES}),
        select("depth", {depth: words(depth) for depth in DEPTHS}),
        select("language", {name: words.language_name(LANGUAGES[name.casefold()]) for name in NAMED_LANGUAGES}),
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
    models = [
        Select(
            id=f"model_{role}", label=words(f"{role}_does"),
            items={words.said(USUAL): USUAL, **{name: name for name in team.model_choices}},
            initial_value=shown.get(f"model_{role}", USUAL),
        )
        for role in ROLES
    ]  # fmt: skip
    return [
        Tab(id="research", label=words("research_tab"), inputs=research),
        Tab(id="models", label=words("models_tab"), inputs=models),
    ]


class Starter(Frozen):
    """One question to begin with."""

    label: Text
    message: Text


FOR_THE_WEB = (
    Starter(label="Compare", message="How do heat pumps and gas boilers compare in running cost in cold winters?"),
    Starter(
        label="Check a claim",
        message="How often must a cotton bag be used before it does the climate less harm than plastic bags?",
    ),
    Starter(label="A question that is too broad", message="What is going on with the world's coral reefs?"),
)


def sample_starters() -> tuple[Starter, ...]:
    """Read the questions that the sample library answers."""
    listed = json.loads((RESOURCES / "examples" / "starters.json").read_text(encoding="utf-8"))
    return tuple(Starter.model_validate(one) for one in listed["starters"])
