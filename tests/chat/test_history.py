"""The history layer: what the stock one loses on SQLite."""

import asyncio
import logging

import pytest

from agents.chat.history import History, Uploads
from agents.chat.state import ChatState


@pytest.fixture
async def history(tmp_path, app_module):
    from chainlit.context import init_http_context

    made = History(tmp_path / "chat.db", Uploads(tmp_path / "uploads"))
    init_http_context(thread_id="t1")
    yield made
    await made.engine.dispose()


def step(output, id_="s1", **more):
    return {
        "id": id_,
        "threadId": "t1",
        "parentId": None,
        "name": "Dossier",
        "type": "assistant_message",
        "output": output,
        "createdAt": "2026-01-01T00:00:00Z",
        "start": None,
        "end": None,
        "streaming": True,
        "isError": False,
        "waitForAnswer": False,
        "metadata": {},
        "input": "",
        **more,
    }


async def test_the_newest_version_of_a_step_stays(history, caplog):
    with caplog.at_level(logging.WARNING):
        await asyncio.gather(*(history.create_step(step(str(n))) for n in range(60)))

    (kept,) = (await history.get_thread("t1"))["steps"]
    assert kept["output"] == "59"
    assert kept["streaming"] is False
    assert not caplog.records


async def test_lists_and_dicts_survive(history, caplog):
    with caplog.at_level(logging.WARNING):
        await history.create_step(step("x", modes={"depth": "deep"}, tags=["a"], metadata={"markdown": "## T"}))
        await history.update_thread("t1", metadata={"k": [1]}, tags=["b"])

    thread = await history.get_thread("t1")
    assert thread["steps"][0]["modes"] == {"depth": "deep"}
    assert thread["steps"][0]["metadata"] == {"markdown": "## T"}
    assert (thread["metadata"], thread["tags"]) == ({"k": [1]}, ["b"])
    assert not caplog.records


async def test_a_thread_is_named_by_the_beginning_of_its_first_message(history):
    await history.update_thread("t1", name="a\nlong  question " * 20)
    name = (await history.get_thread("t1"))["name"]
    assert name.startswith("a long question a long")
    assert len(name) == 80


async def test_the_same_question_asked_twice_is_two_names(history):
    for number in (1, 2, 3):
        await history.update_thread(f"t{number}", name="How often was the ferry closed?")
    names = [await history.thread_name(f"t{number}") for number in (1, 2, 3)]
    assert names == [f"How often was the ferry closed?{mark}" for mark in ("", " (2)", " (3)")]
    await history.update_thread("t2", name="How often was the ferry closed?")
    assert await history.thread_name("t2") == names[1]


async def test_a_name_does_not_tell_what_somebody_else_asked(history):
    for user in ("ann", "eve"):
        await history.execute_sql("INSERT INTO users VALUES (:u, :u, '{}', '')", {"u": user})
    for number, user in enumerate(("ann", "eve", "ann"), start=1):
        await history.update_thread(f"t{number}", name="Which clinic is discreet?", user_id=user)

    names = [await history.thread_name(f"t{number}") for number in (1, 2, 3)]
    assert names == ["Which clinic is discreet?", "Which clinic is discreet?", "Which clinic is discreet? (2)"]


async def test_what_a_chat_holds_stays_in_it_and_it_with_its_user_whatever_ids_a_browser_names(history, caplog):
    from chainlit.element import CustomElement

    for user in ("ann", "eve"):
        await history.execute_sql("INSERT INTO users VALUES (:u, :u, '{}', '')", {"u": user})
        await history.update_thread(user, user_id=user)
    await history.create_step(step("Ann's question", threadId="ann"))
    await history.create_element(CustomElement(id="e1", name="Card", props={"of": "ann"}, thread_id="ann", for_id="s1"))

    await history.create_step(step("taken over", threadId="eve"))
    await history.create_element(CustomElement(id="e1", name="Card", props={"of": "eve"}, thread_id="eve", for_id="s1"))
    await history.update_thread("ann", user_id="eve")

    kept = await history.get_thread("ann")
    assert kept["userIdentifier"] == "ann"
    assert [one["output"] for one in kept["steps"]] == ["Ann's question"]
    assert [one["props"] for one in kept["elements"]] == [{"of": "ann"}]
    assert (await history.get_thread("eve"))["steps"] == []
    assert caplog.text.count("stays") == 3


async def test_threads_are_listed_last_used_first_in_pages_and_searched_by_name(history):
    from chainlit.types import Pagination, ThreadFilter
    from chainlit.user import User

    user = await history.create_user(User(identifier="local"))
    for n in range(5):
        await history.update_thread(f"t{n}", name=f"thread {n}", user_id=user.id)
        await history.create_step(step("x", f"s{n}", threadId=f"t{n}", createdAt=f"2026-01-0{n + 1}T00:00:00Z"))
    await history.create_step(step("100% sure", "s9", threadId="t2", createdAt="2026-02-01T00:00:00Z"))

    first = await history.list_threads(Pagination(first=3), ThreadFilter(userId=user.id))
    rest = await history.list_threads(
        Pagination(first=3, cursor=first.pageInfo.endCursor), ThreadFilter(userId=user.id)
    )

    assert [row["id"] for row in first.data] == ["t2", "t4", "t3"]
    assert [row["id"] for row in rest.data] == ["t1", "t0"]
    assert first.pageInfo.hasNextPage
    assert not rest.pageInfo.hasNextPage
    found = await history.list_threads(Pagination(first=9), ThreadFilter(userId=user.id, search="THREAD 3"))
    assert [row["id"] for row in found.data] == ["t3"]
    found = await history.list_threads(Pagination(first=9), ThreadFilter(userId=user.id, search="0%"))
    assert [row["id"] for row in found.data] == ["t2"]


async def test_a_deleted_thread_takes_its_talk_with_it(history):
    await history.update_thread("t1", name="x")
    await history.keep("t1", ChatState())
    await history.keep("t1", ChatState(job_id="a"))
    assert (await history.kept(ChatState, "t1")).job_id == "a"

    await history.delete_thread("t1")

    assert await history.kept(ChatState, "t1") == ChatState()
    assert await history.get_thread("t1") is None


async def test_an_uploaders_file_name_is_no_path(tmp_path):
    uploads = Uploads(tmp_path / "uploads")
    kept = await uploads.upload_file("user/../../etc/../passwd", b"x")
    assert kept["url"].startswith("/files/__/")
    assert (tmp_path / "uploads" / "__").read_bytes() == b"x"
    assert [path.name for path in tmp_path.iterdir()] == ["uploads"]


async def test_an_element_is_never_fetched_from_an_address(history):
    from chainlit.element import File

    element = File(name="x", url="http://127.0.0.1:1/secret", thread_id="t1", for_id="s1")
    await history.create_element(element)
    assert await history.get_element("t1", element.id) is None
