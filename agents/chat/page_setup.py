"""What a page gets beside its messages: starters, commands, the depth picker, and the settings dialog."""

import json
import logging
from collections.abc import Mapping

import chainlit as cl
from chainlit.input_widget import Select, Tab, TextInput
from chainlit.mode import Mode, ModeOption
from pydantic import ValidationError

from agents.chat.history import History
from agents.chat.preferences import DEPTHS, NAMED_LANGUAGES, PLACES, ROLES, TIMES, USUAL, Preferences
from agents.contracts.frozen import Frozen, Text
from agents.core.paths import RESOURCES
from agents.team import Team

log = logging.getLogger(__name__)

COMMANDS: list[object] = [
    {
        "id": "research",
        "description": "Narrow a question: [--deep] [--time N|unlimited] question",
        "icon": "search",
        "button": False,
        "persistent": False,
    }
]
KEPT = "Kept. It holds from your next question on; a draft on the table stays as it is."
ROLE_WORDS: Mapping[str, str] = {
    "manager": "Narrows questions with you",
    "planner": "Drafts the plan",
    "scout": "Picks sources",
    "extractor": "Reads sources",
    "reflector": "Decides whether to go on",
    "challenger": "Looks for counter-evidence",
    "synthesizer": "Writes",
    "verifier": "Checks citations",
    "judge": "Reviews the report",
}


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
    emitter = cl.context.emitter
    await emitter.set_commands(COMMANDS)
    await emitter.set_modes(_modes(given))
    await cl.ChatSettings(_dialog(team, given.offered(team.model_choices, team.places))).send()


def _modes(given: Preferences) -> list[Mode]:
    deep = given.mode == "deep"
    return [
        Mode(
            id="depth",
            name="Depth",
            options=[
                ModeOption(id="standard", name="Depth: standard", description="Up to 3 rounds", default=not deep),
                ModeOption(id="deep", name="Depth: deep", description="Up to 7 rounds", default=deep),
            ],
        )
    ]


def _dialog(team: Team, given: Preferences) -> list[object]:
    shown = given.shown

    def select(name: str, label: str, values: tuple[str, ...], description: str = "") -> Select:
        return Select(
            id=name, label=label, values=list(values), initial_value=shown.get(name, USUAL), description=description
        )

    research = [
        select("time", "Time", TIMES, "How long a run may take. Default: 5 minutes."),
        select("depth", "Depth", DEPTHS, "Rounds of searching: standard up to 3, deep up to 7."),
        select("language", "Language of the report", (USUAL, *NAMED_LANGUAGES), "Default: that of your question."),
        TextInput(
            id="exclude",
            label="Never use these domains",
            initial=shown["exclude"],
            placeholder="example.org, example.com",
            description="Separate with commas.",
        ),
    ]
    if len(team.places) > 1:
        research.append(
            select(
                "places",
                "Where to search",
                (USUAL, *PLACES),
                "Default: everywhere that is set up. Your files are always searched.",
            )
        )
    if len(team.model_choices) < 2:
        return research
    models = [select(f"model_{role}", ROLE_WORDS[role], (USUAL, *team.model_choices)) for role in ROLES]
    return [Tab(id="research", label="Research", inputs=research), Tab(id="models", label="Models", inputs=models)]


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
