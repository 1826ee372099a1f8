"""What is known already: asked in the chat, looked through and forgotten on its page, left out of a run."""

import json

import pytest

from agents.chat.commands import Edit, Recall, read
from agents.chat.state import Refuse, Say, ShowContract, Started
from agents.chat.texts import ChatTexts
from agents.contracts.fact import Selection
from agents.memory.embedders import StaticEmbedder
from agents.memory.sql_knowledge import SqlKnowledge
from tests.chat.conftest import Page, until
from tests.memory.test_knowledge import ALL, BRIDGE, CHEESE, TUNNEL

WORDS = ChatTexts()
ASKED = "How often was the Orvane ferry closed, and what did it cost?"


@pytest.fixture
async def knowing(talker, tmp_path):
    """A conversation of somebody who knows of a bridge and of a tunnel."""
    talker.team.memory = store = SqlKnowledge(tmp_path / "memory", StaticEmbedder())
    await store.put("local", ALL)
    await store.put("eve", [TUNNEL])
    yield talker
    await store.close()


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("What do I know about seagrass?", "seagrass?"),
        ("what do you already know about the Velsmar bridge", "the Velsmar bridge"),
        ("Ask what I know: how long is the tunnel, and who built it?", "how long is the tunnel, and who built it?"),
        ("Was weiß ich schon über Seegras?", "Seegras"),
        ("/memory", ""),
        ("/memory carbon burial", "carbon burial"),
    ],
)
def test_words_that_ask_what_is_known_are_read(said, asked):
    assert read(said) == Recall(question=asked.removesuffix("?") if " " not in asked else asked)


@pytest.mark.parametrize("said", ["What is known about the causes of gout?", "What does recall mean?", "I know that."])
def test_ordinary_questions_are_not(said):
    assert not isinstance(read(said), Recall)


async def test_an_answer_comes_from_memory_alone_with_citations_and_what_is_missing(knowing):
    (said,) = await knowing("Ask what I know: How long is the Ostrau tunnel, and who painted the Velsmar lighthouse?")

    assert said.buttons
    assert "12.4 kilometres" in said.text
    assert f"/memory/quote/{TUNNEL.id}#quote" in said.text
    assert "known since 2026-11-01" in said.text
    assert "Missing: who painted the Velsmar lighthouse." in said.text
    assert not knowing.team.jobs.of()


async def test_of_a_topic_what_is_known_is_listed(knowing):
    (said,) = await knowing("what do I know about the Velsmar bridge")

    assert said.text.startswith(f"- {BRIDGE.text}")
    assert f"/memory/quote/{BRIDGE.id}#quote" in said.text
    assert TUNNEL.text not in said.text


async def test_what_was_refuted_or_is_somebody_elses_is_no_answer(knowing):
    (said,) = await knowing("What do I know about goat cheese in the caves?")

    assert "Earlier research says nothing of that" in said.text
    assert [button.says for button in said.buttons] == ["/research goat cheese in the caves?"]


async def test_where_nothing_is_known_it_says_that_samples_are_not_kept(knowing):
    await knowing.team.memory.forget("local", Selection())
    knowing.team.sample = True

    for asked in ("/memory", "What do I know about goat cheese?"):
        (said,) = await knowing(asked)
        assert "the invented samples are not" in said.text


async def test_without_a_question_it_says_what_there_is_and_each_open_question_is_a_button_that_researches_it(knowing):
    update = {"id": "q1", "kind": "question", "text": "Who paid for the Velsmar bridge?", "fact": None}
    await knowing.team.memory.put("local", [BRIDGE.model_copy(update=update)])

    (said,) = await knowing("/memory")
    (*_, shown) = await knowing(said.buttons[0].says)

    assert said.text.startswith("3 facts known from earlier research.")
    assert [button.label for button in said.buttons] == ["Who paid for the Velsmar bridge?"]
    assert isinstance(shown, ShowContract)
    assert shown.contract.brief.question == "Who paid for the Velsmar bridge?"


async def test_asking_leaves_the_draft_on_the_table(knowing):
    await knowing(ASKED)
    before = knowing.state.contract

    await knowing("What do I know about the Ostrau tunnel?")

    assert knowing.state.contract == before
    assert not knowing.state.pending


async def test_a_run_can_leave_out_what_is_known_and_the_contract_says_so(knowing):
    (*_, first) = await knowing(ASKED)
    (*_, second) = await knowing("without memory")
    (*_, third) = await knowing("use memory")

    assert all(isinstance(one, ShowContract) for one in (first, second, third))
    assert [one.contract.brief.memory for one in (first, second, third)] == ["local", None, "local"]
    assert "without what earlier research found" in second.changed
    assert read("don't use earlier research") == Edit(memory=False)


async def test_what_a_run_found_is_forgotten_once_it_is_clear_that_it_is_meant(knowing):
    await knowing(ASKED)
    (started,) = [one for one in await knowing("Authorized to execute") if isinstance(one, Started)]
    await started.job.wait()
    store = knowing.team.memory
    await store.put(
        "local",
        [TUNNEL.model_copy(update={"history": (TUNNEL.history[0].model_copy(update={"job": started.job.id}),)})],
    )

    (asked,) = await knowing("forget what this run found")
    assert asked.buttons
    assert await store.get("local", Selection(ids=(TUNNEL.id,)))
    assert await knowing(asked.buttons[1].says) == [Say(WORDS("forget_kept"))]
    assert await store.get("local", Selection(ids=(TUNNEL.id,)))
    (done,) = await knowing(asked.buttons[0].says)

    assert isinstance(done, Say)
    assert not await store.get("local", Selection(job=started.job.id))
    assert await store.get("local", Selection(ids=(BRIDGE.id,)))


async def test_a_deleted_chat_asks_whether_what_its_research_found_goes_too(chat, tmp_path):
    chat.team.memory = store = SqlKnowledge(tmp_path / "memory", StaticEmbedder())
    page = Page()
    await page.say(ASKED)
    await page.say("Authorized to execute")
    await until(lambda: all(job.over for job in chat.team.jobs.of("local")))
    (job,) = chat.team.jobs.of("local")
    found = TUNNEL.model_copy(update={"history": (TUNNEL.history[0].model_copy(update={"job": job.id}),)})
    await store.put("local", [found])

    await chat.history.delete_thread(page.session.thread_id)
    await until(lambda: WORDS("forget_deleted_ask") in page.texts())
    yes, no = [data for event, data in page.sent if event == "action"][-2:]
    await page.act(no["name"], **no["payload"])
    assert await store.get("local", Selection(ids=(TUNNEL.id,)))
    await page.act(yes["name"], **yes["payload"])

    assert [yes["label"], no["label"]] == ["Yes, forget it", "No, keep it"]
    assert not await store.get("local", Selection(ids=(TUNNEL.id,)))
    await store.close()


async def test_it_says_so_where_nothing_is_kept(talker):
    assert await talker("/memory") == [Refuse("Nothing is kept here between runs: DOSSIER_MEMORY is false.")]


# ---- the page


@pytest.fixture
async def page(chat, http, tmp_path):
    """The page of the same somebody."""
    chat.team.memory = store = SqlKnowledge(tmp_path / "memory", StaticEmbedder())
    await store.put("local", ALL)
    await store.put("eve", [TUNNEL])
    http.store = store
    yield http
    await store.close()


async def test_facts_are_searched_filtered_and_open_in_their_context(page):
    everything = await page.get("/memory")
    found = (await page.get("/memory", params={"q": "How long is the tunnel?", "verdict": "supported"})).text
    opened = (await page.get(f"/memory/quote/{TUNNEL.id}")).text
    card = (await page.get(f"/memory/quote/{TUNNEL.id}", params={"format": "json"})).json()

    assert "script" not in everything.text
    assert "form-action 'self'" in everything.headers["content-security-policy"]
    assert (TUNNEL.text in everything.text, CHEESE.text in everything.text) == (True, True)
    assert (TUNNEL.text in found, CHEESE.text in found) == (True, False)
    assert BRIDGE.text not in (await page.get("/memory", params={"domain": "b.example"})).text
    assert BRIDGE.text not in (await page.get("/memory", params={"job": "job2"})).text
    assert TUNNEL.text not in (await page.get("/memory", params={"since": "2026-11-02"})).text
    assert 'id="quote"' in opened
    assert (card["quote"], card["verdict"], card["known_since"]) == (TUNNEL.text, "supported", "2026-11-01")


async def test_what_contradicts_a_fact_is_shown_with_it_and_opens(page):
    await page.store.put("local", [TUNNEL.model_copy(update={"against": (BRIDGE.id, "forgotten since")})])

    shown = (await page.get("/memory", params={"q": "How long is the tunnel?", "job": "job2"})).text

    assert f'against it: <a href="/memory/quote/{BRIDGE.id}#quote">“{BRIDGE.text}”</a> (A page)' in shown
    assert shown.count("against it") == 1


async def test_what_is_known_is_taken_away_and_taken_in_as_lines_on_its_page(page):
    export = (await page.get("/research/memory/export.jsonl")).text
    foreign = json.dumps({"owner": "eve", **json.loads(TUNNEL.model_dump_json())})
    await page.store.forget("local", Selection(ids=(BRIDGE.id,)))

    answer = await page.post("/memory/import", files={"file": ("known.jsonl", f"{export}{export}{foreign}\nno line\n")})
    shown = await page.get(answer.headers["location"])

    assert "/research/memory/export.jsonl" in shown.text
    assert "Imported: 1 new, 2 known already, 2 not readable." in shown.text
    assert set(await page.store.get("local", Selection())) == set(ALL)
    assert len(await page.store.get("eve", Selection())) == 1


@pytest.mark.parametrize(
    ("what", "left"),
    [
        ({"id": TUNNEL.id}, {BRIDGE.id, CHEESE.id}),
        ({"url": "https://b.example/two"}, {BRIDGE.id, CHEESE.id}),
        ({"domain": "b.example"}, {BRIDGE.id}),
        ({"job": "job1"}, {TUNNEL.id, CHEESE.id}),
    ],
    ids=["a fact", "a source", "a domain", "a job"],
)
async def test_a_fact_a_source_a_domain_or_a_job_is_forgotten_for_good(page, what, left):
    answer = await page.post("/memory/forget", data=what | {"back": "q=length"})

    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/memory?q=length&gone=")
    assert {item.id for item in await page.store.get("local", Selection())} == left
    assert len(await page.store.get("eve", Selection())) == 1


async def test_nothing_is_forgotten_by_accident_or_for_another_site(page):
    assert (await page.post("/memory/forget", data={})).status_code == 422
    assert len(await page.store.get("local", Selection())) == 3
    assert (await page.get("/memory/quote/none")).status_code == 404
    assert (await page.get("/memory/other")).status_code == 404


async def test_it_speaks_the_browsers_language_and_says_so_where_nothing_is_known(page):
    await page.store.forget("local", Selection())

    german = await page.get("/memory", headers={"accept-language": "de-AT,de;q=0.9"})

    assert '<html lang="de">' in german.text
    assert "Noch ist nichts bekannt." in german.text
