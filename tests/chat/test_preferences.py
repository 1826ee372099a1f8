"""The settings dialog: kept, validated, and where a new question begins."""

import pytest

from agents.chat.preferences import NO_LIMIT, USUAL, Preferences
from agents.core.errors import BadRequest
from tests.chat.conftest import Page, Talker, make_team
from tests.scripted_model import ScriptedModel
from tests.scripts import ROLES, Worker, working_model

QUESTION = "How often was the Orvane ferry closed, and what did it cost?"
SET = {"time": "10 minutes", "depth": "deep", "language": "German", "exclude": "a.org, https://B.com/x"}


async def contract(talker, text=QUESTION, **kwargs):
    return (await talker(text, **kwargs))[-1]


def talker_with(team, **given):
    talker = Talker(team)
    talker.conversation.preferences = Preferences.read(given)
    return talker


def test_what_the_dialog_gives_is_read():
    read = Preferences.read(SET)

    assert (read.minutes, read.mode, read.language) == (10, "deep", "de")
    assert read.exclude_domains == ("a.org", "b.com")
    assert Preferences.read(read.entries) == read
    assert Preferences.read({"time": NO_LIMIT}).minutes is None


@pytest.mark.parametrize(
    "given",
    [
        {}, {"time": USUAL, "exclude": None}, {"time": 10, "depth": ["deep"]}, {"time": "99999 minutes"},
        {"language": "Klingon"}, {"depth": "bottomless"}, {"places": "The moon"},
    ],
)  # fmt: skip
def test_what_is_not_set_or_not_offered_sets_nothing(given):
    assert Preferences.read(given).model_copy(update={"entries": {}}) == Preferences()


def test_what_is_no_domain_is_refused():
    with pytest.raises(BadRequest, match="is no domain"):
        Preferences.read({"exclude": "not a domain!"})


async def test_a_question_begins_with_the_settings(team):
    talker = talker_with(team, **SET)

    shown = await contract(talker)

    brief = shown.contract.brief
    assert (brief.minutes, brief.mode, brief.language) == (10, "deep", "de")
    assert brief.exclude_domains == ("a.org", "b.com")


async def test_what_is_said_in_the_talk_wins(team):
    talker = talker_with(team, **SET)
    await contract(talker)

    shown = await contract(talker, "3 minutes, allow domain a.org")

    assert shown.contract.brief.minutes == 3
    assert shown.contract.brief.exclude_domains == ("b.com",)


async def test_a_language_that_the_talk_asks_for_stays_though_another_is_set(team):
    talker = talker_with(team, **SET)
    await contract(talker)
    assert (await contract(talker, "in English please")).contract.brief.language == "en"

    shown = await contract(talker, QUESTION.replace("?", " since 2020?"))

    assert shown.contract.brief.language == "en"


async def test_an_option_of_the_command_wins_even_where_it_is_the_usual(team):
    talker = talker_with(team, **SET)

    shown = await contract(talker, f"/research --time 5 {QUESTION}")

    assert shown.contract.brief.minutes == 5


async def test_the_picker_shows_the_setting_and_wins_when_it_is_moved(team):
    talker = talker_with(team, depth="deep")
    assert (await contract(talker, modes={"depth": "deep"})).contract.brief.mode == "deep"

    talker = talker_with(team, depth="deep")
    assert (await contract(talker, modes={"depth": "standard"})).contract.brief.mode == "standard"


async def test_a_place_that_is_not_there_is_refused_and_a_setting_of_it_passed_over(team):
    talker = talker_with(team)
    talker.conversation.preferences = Preferences.read({"places": "The web only"}).offered((), team.places)
    assert (await contract(talker)).contract.brief.places == ()

    (refused,) = await talker("web only")
    assert "isn't set up" in refused.text


async def test_a_model_is_chosen_for_a_role_and_asked_for_it(tmp_path):
    served, other = working_model(), ScriptedModel(by_role=dict.fromkeys(ROLES, Worker()), name="openai/other")
    team = make_team(tmp_path, served)
    team.made = {served.name: served, other.name: other}
    team.model_choices = tuple(team.made)
    talker = talker_with(team, model_planner=other.name, model_judge="openai/gone")
    talker.conversation.preferences = talker.conversation.preferences.offered(team.model_choices, team.places)

    shown = await contract(talker)

    assert shown.contract.brief.models == (("planner", "openai/other"),)
    assert "openai/other" in shown.contract.models
    assert [request.role for request in other.asked]
    assert {request.role for request in other.asked} == {"planner"}
    await team.close()


# ---- in the chat


async def confirm(chat, page, given):
    from chainlit.config import config
    from chainlit.context import init_ws_context

    init_ws_context(page.session)
    await config.code.on_settings_update(given)


def dialog(page):
    return [data for event, data in page.sent if event == "chat_settings"]


async def test_settings_survive_the_page_and_the_process(chat, serve):
    page = Page()
    await confirm(chat, page, SET)
    assert [data for event, data in page.sent if event == "toast"][-1]["type"] == "success"

    again = serve(chat.team)
    reopened = Page()
    from chainlit.context import init_ws_context

    init_ws_context(reopened.session)
    await again.furnish()
    assert {one["id"]: one["initial"] for one in dialog(reopened)[-1]}["time"] == "10 minutes"
    await reopened.say(QUESTION)

    card = reopened.elements("ContractCard")[-1]["props"]
    assert card["caps"]["minutes"] == 10
    assert (card["mode"], card["language"], card["exclude_domains"]) == ("deep", "German", ["a.org", "b.com"])
    await again.history.engine.dispose()


async def test_settings_are_their_users_alone(chat):
    await confirm(chat, Page(user="somebody"), SET)
    page = Page()
    await page.say(QUESTION)

    card = page.elements("ContractCard")[-1]["props"]
    assert (card["mode"], card["caps"]["minutes"], card["exclude_domains"]) == ("standard", 5, [])


async def test_an_entry_that_can_not_be_is_said_and_nothing_is_kept(chat):
    page = Page()
    await confirm(chat, page, {**SET, "exclude": "???"})

    toast = [data for event, data in page.sent if event == "toast"][-1]
    assert toast["type"] == "error"
    assert "is no domain" in toast["message"]
    assert await chat.history.kept(Preferences, "local") == Preferences()


async def test_the_picker_begins_where_the_setting_stands(chat):
    page = Page()
    await confirm(chat, page, {"depth": "deep"})

    modes = [data for event, data in page.sent if event == "set_modes"][-1]
    assert [option["id"] for option in modes[0]["options"] if option["default"]] == ["deep"]
