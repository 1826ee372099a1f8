"""A chat over scripts: real conversation, routes and Chainlit sessions; only model, sources and socket are fake."""

import asyncio
import os
import sqlite3
import time
import uuid
from contextlib import closing
from pathlib import Path

import pytest

from agents.api.serve import app_root
from agents.chat.conversation import Conversation
from agents.chat.state import ChatState, Refuse
from agents.core.errors import DossierError
from agents.core.prompts import load as load_prompts
from agents.core.settings import Settings
from agents.jobs.blob_store import BlobStore
from agents.jobs.client import Client
from agents.team import ROLES, Team
from tests.jobs.stored_at import stored_at
from tests.scripted_model import ScriptedModel
from tests.scripts import Worker, world

# Before Chainlit is imported: it reads and writes this folder.
os.environ["CHAINLIT_APP_ROOT"] = str(app_root(Path(os.environ["DOSSIER_DATA_DIR"]), 8000))
os.environ["CHAINLIT_AUTH_SECRET"] = "x" * 40


class HeldModel(ScriptedModel):
    """Answers like a scripted model, but holds extractors back until they are let go."""

    def __init__(self, worker, held=("extractor",)):
        super().__init__(
            by_role=dict.fromkeys(
                ("manager", "planner", "extractor", "reflector", "challenger", "verifier", "judge", "synthesizer"),
                worker,
            )
        )
        self.held, self.go = held, asyncio.Event()

    async def reply(self, request, on_text=None):
        if request.role in self.held:
            await self.go.wait()
        return await super().reply(request, on_text)


def make_team(folder, model=None, *, sample=False, searcher=None, kind=Team, stored=False, **settings):
    model = model or ScriptedModel(
        by_role=dict.fromkeys(
            ("manager", "planner", "extractor", "reflector", "challenger", "verifier", "judge", "synthesizer"), Worker()
        )
    )
    blobs = BlobStore(folder)
    team = kind(
        Settings(data_dir=folder, model="offline", **settings),
        models=dict.fromkeys([role.name for role in ROLES], model),
        searcher=searcher or world(),
        prompts=load_prompts(),
        blobs=blobs,
        sample=sample,
        today=lambda: "2026-11-27",
        jobs=Client(blobs, time.monotonic, stored_at(folder)) if stored else None,
    )
    MADE.append(team)
    return team


MADE = []


@pytest.fixture(autouse=True)
async def no_team_is_left_open():
    """Close the teams of a test, each once more where it did so itself."""
    yield
    while MADE:
        await MADE.pop().close()


@pytest.fixture
def team(tmp_path):
    return make_team(tmp_path)


async def until(what, seconds=30.0):
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        if found := what():
            return found
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come about in time")


class Talker:
    """A conversation whose acts are gathered."""

    def __init__(self, team, state=None, owner=""):
        async def show(act):
            self.acts.append(act)

        async def on_text(piece):
            self.pieces.append(piece)

        self.conversation = Conversation(team, state or ChatState(), show=show, on_text=on_text, owner=owner)
        self.team, self.acts, self.pieces = team, [], []

    async def __call__(self, text, **kwargs):
        self.acts = []
        await self.conversation.hear(text, **kwargs)
        return self.acts

    async def on_card(self, **edit):
        from agents.chat.drafting_talk import CardEdit

        self.acts = []
        try:
            await self.conversation.on_card(CardEdit(**edit))
        except DossierError as error:
            self.acts.append(Refuse(self.conversation.words.said(error.notice)))
        return self.acts

    @property
    def state(self):
        return self.conversation.state

    async def reading(self):
        """Wait until all three branches of the run read, and the model holds them."""
        from agents.api.tree import live_tree

        def read():
            (job,) = self.team.jobs.live()
            return sum(node.state == "reading" for node in live_tree(job).nodes) == 3

        await until(read)


@pytest.fixture
async def talker(team):
    yield Talker(team)
    await team.close()


@pytest.fixture
async def held(tmp_path):
    """A conversation whose runs do not end before they are let go: `talker.model.go.set()`."""
    model = HeldModel(Worker())
    team = make_team(tmp_path, model)
    talker = Talker(team)
    talker.model = model
    yield talker
    await team.close()


# ---- Chainlit


class Page:
    """One browser page: a real session and a real emitter, only the socket is fake."""

    def __init__(self, user="local", thread_id=None):
        from chainlit.session import WebsocketSession
        from chainlit.user import PersistedUser

        self.sent = []

        async def emit(event, data):
            self.sent.append((event, data))

        async def call(event, data, timeout):  # noqa: ASYNC109 - Chainlit's signature
            self.sent.append((event, data))

        self.session = WebsocketSession(
            id=str(uuid.uuid4()),
            socket_id=uuid.uuid4().hex,
            emit=emit,
            emit_call=call,
            user_env={},
            client_type="webapp",
            user=PersistedUser(id=f"id-{user}", createdAt="2026-01-01T00:00:00Z", identifier=user),
            thread_id=thread_id,
        )

    async def say(self, text, command=None, modes=None, files=()):
        """Send a message the way a browser does; files as name, kind and bytes."""
        from chainlit.socket import process_message

        message = {
            "id": str(uuid.uuid4()),
            "name": "User",
            "type": "user_message",
            "output": text,
            "createdAt": "2026-01-01T00:00:00Z",
            "command": command,
            "modes": modes,
        }
        given = [await self.session.persist_file(name=name, mime=mime, content=body) for name, mime, body in files]
        await process_message(self.session, {"message": message, "fileReferences": given})
        await asyncio.sleep(0.05)

    async def act(self, name, **payload):
        """Press a button of a card."""
        import chainlit as cl
        from chainlit.config import config
        from chainlit.context import init_ws_context

        init_ws_context(self.session)
        await config.code.action_callbacks[name](cl.Action(name=name, payload=payload))
        await asyncio.sleep(0.05)

    def texts(self, kind="assistant_message"):
        """What stands on the page, the last version of each message."""
        last = {}
        for event, data in self.sent:
            if event in {"new_message", "update_message"} and data["type"] == kind:
                last[data["id"]] = data["output"]
        return list(last.values())

    def elements(self, name):
        return [data for event, data in self.sent if event == "element" and data["name"] == name]


@pytest.fixture(scope="session")
def app_module():
    import app

    return app


@pytest.fixture
def serve(app_module, tmp_path):
    """Put a team behind the handlers and routes of this process, for one test."""
    import chainlit.data as data
    from chainlit.server import app as server_app
    from chainlit.session import ws_sessions_id

    from agents.api.app_state import Site
    from agents.chat.handlers import Chat

    state = server_app.state
    before = app_module.chat, state.dossier_site

    def put(team):
        site = Site(team.settings, team)
        chat = Chat(site)
        with closing(sqlite3.connect(team.settings.data_dir / "chat.db")) as db, db:
            users = [(f"id-{name}", name) for name in ("local", "somebody", "mallory")]
            db.executemany("INSERT OR IGNORE INTO users VALUES (?, ?, '{}', '2026-01-01T00:00:00Z')", users)
        state.dossier_site = site
        app_module.handle(chat)
        data._data_layer, data._data_layer_initialized = chat.history, True
        return chat

    yield put
    state.dossier_site = before[1]
    app_module.handle(before[0])
    ws_sessions_id.clear()
    data._data_layer, data._data_layer_initialized = before[0].history, True


@pytest.fixture
async def chat(serve, team):
    made = serve(team)
    yield made
    await made.close()
    await asyncio.sleep(0.05)
    await made.history.engine.dispose()


@pytest.fixture
async def held_chat(serve, held):
    made = serve(held.team)
    made.model = held.model
    yield made
    await made.close()
    await asyncio.sleep(0.05)
    await made.history.engine.dispose()


@pytest.fixture
async def http(app_module):
    """A client of the routes. No lifespan runs, whose end would end the process."""
    import httpx
    from chainlit.server import app

    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
        yield client
