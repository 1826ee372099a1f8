# mypy: disable-error-code="untyped-decorator"
"""The chat's entry: Chainlit's handlers and nothing else. Also starts under `chainlit run app.py`, for development."""

import chainlit as cl
from chainlit.context import init_ws_context
from chainlit.server import app as server_app
from chainlit.server import sio
from chainlit.session import WebsocketSession
from chainlit.types import MessagePayload

from agents.api.routes import in_front, opened
from agents.api.serve import LOCAL, on_loopback, sign_sessions
from agents.chat.handlers import Chat, page_words
from agents.chat.memory_page import memory_page

site = opened()
in_front(server_app, memory_page, page_words)
sign_sessions(site.settings.data_dir)


async def local_user(headers: object) -> cl.User | None:
    """Let the one local user in."""
    return cl.User(identifier=LOCAL)


def handle(chat: Chat) -> None:
    """Have a chat answer for what happens on its pages."""
    if on_loopback(site.settings.host):
        cl.header_auth_callback(local_user)
    else:
        cl.password_auth_callback(chat.known_user)
    cl.on_app_startup(chat.open)
    cl.on_app_shutdown(chat.close)
    cl.data_layer(lambda: chat.history)
    cl.set_starters(chat.starters)
    cl.on_chat_start(chat.furnish)
    cl.on_chat_resume(chat.resume)
    cl.on_message(chat.message)
    cl.on_settings_update(chat.settle)
    for name, answer in {"say": chat.typed, "forget_found": chat.forget_found, "contract_edit": chat.edited}.items():
        cl.action_callback(name)(answer)

    @sio.on("client_message")
    async def on_client_message(sid: str, payload: MessagePayload) -> None:
        """Hand a message on, with as many files as a page sends at most: each that is named would be read."""
        files = (payload.get("fileReferences") or [])[: chat.most_files]
        await sio.dossier_handlers["client_message"](sid, {**payload, "fileReferences": files})

    @sio.on("stop")
    async def on_stop(sid: str) -> None:
        """Break off the answer at hand; in Chainlit's own handler's place, which would say it in fixed words first."""
        if (session := WebsocketSession.get(sid)) is not None:
            init_ws_context(session)
            if session.current_task:
                session.current_task.cancel()
            await chat.stopped()

    @sio.on("connect")
    async def on_connect(sid: str, environ: dict[str, str], auth: dict[str, str]) -> bool:
        """Let Chainlit connect a page to the chat that its address names.

        A page opened at a chat's address connects twice, the first time before it has told itself which chat that is. On
        a busy machine either may come last, or both be served, and the page would wait for its chat for ever.
        """
        at = environ.get("HTTP_REFERER", "").partition("/thread/")[2]
        thread_id = auth.get("threadId") or at.partition("?")[0].strip("/")
        if not await sio.dossier_handlers["connect"](sid, environ, {**auth, "threadId": thread_id}):
            return False
        session = WebsocketSession.get(sid)
        if thread_id and session is not None and not session.has_first_interaction:
            session.thread_id = session.thread_id_to_resume = thread_id
            session.restored = False  # else it would be taken for a page that has its chat already
        return True

    @sio.on("connection_successful")
    async def on_connection(sid: str) -> None:
        """Let Chainlit connect a page, then send what a cut connection made it miss."""
        await sio.dossier_handlers["connection_successful"](sid)
        session = WebsocketSession.get(sid)
        if session is not None and session.restored and session.has_first_interaction:
            await chat.missed(session)


if not hasattr(sio, "dossier_handlers"):
    sio.dossier_handlers = dict(sio.handlers["/"])  # Chainlit's own
chat = Chat(site)
handle(chat)
