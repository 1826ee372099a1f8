# mypy: disable-error-code="untyped-decorator"
"""The chat's entry: Chainlit's handlers and nothing else. Also starts under `chainlit run app.py`, for development."""

import chainlit as cl
from chainlit.context import init_ws_context
from chainlit.data.base import BaseDataLayer
from chainlit.server import app as server_app
from chainlit.server import sio
from chainlit.session import WebsocketSession
from chainlit.types import MessagePayload, ThreadDict

from agents.api.routes import in_front, opened
from agents.api.serve import LOCAL, on_loopback, sign_sessions
from agents.chat.handlers import Chat, page_words, shielded
from agents.chat.memory_page import memory_page

site = opened()
chat = Chat(site)
in_front(server_app, memory_page, page_words)
sign_sessions(site.settings.data_dir)


if not hasattr(sio, "dossier_connected"):
    sio.dossier_connect = sio.handlers["/"]["connect"]
    sio.dossier_connected = sio.handlers["/"]["connection_successful"]
    sio.dossier_message = sio.handlers["/"]["client_message"]


@cl.on_app_startup
async def on_app_startup() -> None:
    """Settle what a former process left open."""
    await chat.open()


@cl.on_app_shutdown
async def on_app_shutdown() -> None:
    """Stop every run and tell its chat."""
    await chat.close()


@cl.data_layer
def data_layer() -> BaseDataLayer:
    """Keep the history in the data folder."""
    return chat.history


if on_loopback(site.settings.host):

    @cl.header_auth_callback
    async def header_auth(headers: object) -> cl.User | None:
        """Let the one local user in."""
        return cl.User(identifier=LOCAL)

else:

    @cl.password_auth_callback
    async def password_auth(name: str, key: str) -> cl.User | None:
        """Let in whoever has the key; the name is always `user`."""
        return chat.known_user(name, key)


@cl.set_starters
async def set_starters(user: cl.User | None, language: str | None) -> list[cl.Starter]:
    """Offer questions to begin with."""
    return await chat.starters(language or "en")


@cl.on_chat_start
async def on_chat_start() -> None:
    """Furnish a new page."""
    await shielded(chat.furnish)


@cl.on_chat_resume
async def on_chat_resume(thread: ThreadDict) -> None:
    """Furnish a page that opens an old chat."""
    await shielded(lambda: chat.resume(thread))


@cl.on_message
async def on_message(message: cl.Message) -> None:
    """Answer a message."""
    await shielded(lambda: chat.message(message))


@cl.on_settings_update
async def on_settings_update(settings: dict[str, object]) -> None:
    """Keep what was set in the dialog."""
    await shielded(lambda: chat.settle(settings))


@cl.action_callback("say")
async def say(action: cl.Action) -> None:
    """Take the answer of a button as if it had been typed."""
    await shielded(lambda: chat.typed(action.payload.get("text"), action.payload.get("job_id")))


@cl.action_callback("forget_found")
async def forget_found(action: cl.Action) -> None:
    """Forget, or keep, what the research of a deleted chat found."""
    await shielded(lambda: chat.forget_found(action.payload.get("jobs")))


@cl.action_callback("contract_edit")
async def contract_edit(action: cl.Action) -> str:
    """Take an edit of the draft made on its card; what could not be done is answered."""
    said: list[str] = []

    async def edit() -> None:
        said.append(await chat.edited(action.payload))

    await shielded(edit)
    return "".join(said)


@sio.on("client_message")
async def on_client_message(sid: str, payload: MessagePayload) -> None:
    """Hand a message on, with as many files as a page sends at most: each that is named would be read."""
    files = (payload.get("fileReferences") or [])[: chat.most_files]
    await sio.dossier_message(sid, {**payload, "fileReferences": files})


@sio.on("stop")
async def on_stop(sid: str) -> None:
    """Break off the answer at hand; in Chainlit's own handler's place, which would say it in fixed words first."""
    session = WebsocketSession.get(sid)
    if session is None:
        return
    init_ws_context(session)
    if session.current_task:
        session.current_task.cancel()
    await shielded(chat.stopped)


@sio.on("connect")
async def on_connect(sid: str, environ: dict[str, str], auth: dict[str, str]) -> bool:
    """Let Chainlit connect a page to the chat that its address names.

    A page opened at a chat's address connects twice, the first time before it has told itself which chat that is. On a
    busy machine either may come last, or both be served, and the page would wait for its chat for ever.
    """
    at = environ.get("HTTP_REFERER", "").partition("/thread/")[2]
    thread_id = auth.get("threadId") or at.partition("?")[0].strip("/")
    if not await sio.dossier_connect(sid, environ, {**auth, "threadId": thread_id}):
        return False
    session = WebsocketSession.get(sid)
    if thread_id and session is not None and not session.has_first_interaction:
        session.thread_id = session.thread_id_to_resume = thread_id
        session.restored = False  # else it would be taken for a page that has its chat already
    return True


@sio.on("connection_successful")
async def on_connection(sid: str) -> None:
    """Let Chainlit connect a page, then send what a cut connection made it miss."""
    await sio.dossier_connected(sid)
    session = WebsocketSession.get(sid)
    if session is not None and session.restored and session.has_first_interaction:
        await shielded(lambda: chat.outcomes.again(session))
