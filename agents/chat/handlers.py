"""What app.py's handlers do: load the talk, have the conversation answer, draw its acts, keep the talk.

What a page gets beside its messages: starters, commands, the depth picker, and the settings dialog.
"""

import asyncio
import contextvars
import json
import logging
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, get_args
from weakref import WeakValueDictionary

import chainlit as cl
from chainlit import mode as modes
from chainlit.input_widget import Select, Tab, TextInput
from fastapi import APIRouter
from fastapi.responses import JSONResponse
from pydantic import ValidationError

from agents.api.app_state import ASKING, Site, asked_web, try_web
from agents.api.reports import forget_texts, given_to
from agents.api.serve import REMOTE, is_the_key
from agents.chat.answers import subjects
from agents.chat.conversation import Conversation
from agents.chat.drafting_talk import CardEdit
from agents.chat.history import THREAD_NAME, History, Uploads
from agents.chat.preferences import NO_MEMORY, PLACES, ROLES, TIMES, USUAL, Preferences
from agents.chat.renderer import OPENING_S, Outcomes, Renderer, mirror, who
from agents.chat.state import ChatState, Effect, Started
from agents.chat.texts import ChatTexts
from agents.contracts import frozen
from agents.contracts.fact import Selection
from agents.contracts.frozen import Said
from agents.contracts.sources import CorpusSurvey
from agents.core.errors import DossierError
from agents.core.paths import RESOURCES
from agents.memory.knowledge import forget_with
from agents.report.wording import wording
from agents.research.planning.freeze_contract import MODES
from agents.search.uploads import AT_ONCE, MAX_BYTES, MAX_FILES, UploadedFile, UploadResult, plain_name
from agents.team import Team

log = logging.getLogger(__name__)
page_words = APIRouter(include_in_schema=False)


@page_words.get("/words/{language}/reasons")
async def reasons(language: str) -> JSONResponse:
    """Say in a language what a run tells in English: the page has the list from the report's own texts and the chat's."""
    said = {**ChatTexts(language).spoken, **wording(language).reasons}
    return JSONResponse(said, headers={"Cache-Control": "max-age=3600"})


P = ParamSpec("P")
T = TypeVar("T")


def frame_words() -> ChatTexts:
    """The texts in the language of the frame around the chat: the browser's."""
    return ChatTexts(str(cl.context.session.language).partition("-")[0])


def shielded(work: Callable[P, Awaitable[T]]) -> Callable[P, Coroutine[None, None, T | None]]:
    """Have what goes wrong in a handler said in the chat, since Chainlit swallows it or shows its inner text."""

    @wraps(work)
    async def run(*args: P.args, **given: P.kwargs) -> T | None:
        try:
            return await work(*args, **given)
        except DossierError as error:
            log.warning("a message could not be answered: %s", error)
            await cl.ErrorMessage(content=frame_words().said(error.notice)).send()
        except Exception:
            log.exception("a message could not be answered")
            await cl.ErrorMessage(content=frame_words().said(DossierError.notice)).send()
        return None

    return run


def dialog(team: Team, given: Preferences, words: ChatTexts) -> list[Any]:
    """Lay out the settings dialog as they stand."""
    shown = given.entries

    def select(name: str, labels: Mapping[str, str], label: str = "") -> Select:
        values = {USUAL: words.said(USUAL), **labels}
        about = {"label": label} if label else {"label": words(f"{name}_label"), "description": words(f"{name}_about")}
        stands = shown[name] if shown.get(name) in values else USUAL
        return Select(id=name, items={label: value for value, label in values.items()}, initial_value=stands, **about)

    english, example = ChatTexts("en").languages, "example.org, example.com"
    about = {"label": words("exclude_label"), "description": words("exclude_about")}
    research = [
        select("time", {name: words.minutes(time) if time else words.said(name) for name, time in TIMES.items()}),
        select("depth", {depth: words(depth) for depth in get_args(frozen.Mode)}),
        select("language", dict(zip(english, words.languages, strict=True))),
        TextInput(id="exclude", initial=shown.get("exclude", ""), placeholder=example, **about),
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


MAX_SAID = 5_000  # characters of what a button says, at most; the browser may send anything


class Chat:
    """The chat over a team: one per process."""

    most_files = MAX_FILES  # files that one message may name

    def __init__(self, site: Site) -> None:
        self.site, self.team = site, site.team
        data = site.settings.data_dir
        self.history = History(data / "chat.db", Uploads(data / "uploads"))
        self.outcomes = Outcomes(self.team.jobs, self.history)
        self.history.on_deleted = self._deleted
        self._background: list[asyncio.Task[None]] = []
        self._survey = CorpusSurvey()
        """Of the user's library, once it is read: no first page waits for thousands of documents."""
        self._warm = False
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    # ---- life of the server

    async def open(self) -> None:
        """Go on with what a former process left open."""
        await self.team.open()
        for job in self.team.jobs.live():
            if job.thread_id:
                self.outcomes.watch(job, job.thread_id, await self.history.get_user(job.owner))
        # In the background: the first page must not wait for a network that may not be there.
        looking = [try_web(self.team, self.site.tell), *([] if self.team.sample else [self._surveyed()])]
        self._background = [asyncio.create_task(work) for work in looking]

    async def _surveyed(self) -> None:
        try:
            self._survey = await self.team.context().survey("")
        except DossierError as error:
            log.warning("the library could not be looked through: %s", error)
        self.site.own_documents = self._survey.total

    async def close(self) -> None:
        """Stop all runs, and let their chats know."""
        for task in self._background:
            task.cancel()
        await self.team.close()
        await self.outcomes.close()

    # ---- who and with what

    @property
    def owner(self) -> str:
        """Who sits before the page at hand."""
        return who(cl.context.session.user)

    def known_user(self, name: str, key: str) -> cl.User | None:
        """Log in with the key; the name is always `user`."""
        return cl.User(identifier=REMOTE) if name == REMOTE and is_the_key(self.site.settings, key) else None

    async def starters(self, user: cl.User | None = None, language: str | None = None) -> list[cl.Starter]:
        """Offer questions for the web, such as the sample library answers, or what documents of one's own are about.

        The page shows the first line of a label small (see public/dossier.css).
        """
        words, survey = ChatTexts((language or "en").partition("-")[0]), self._survey
        if self.team.sample:
            where = "web" if asked_web(self.team) else "starters"
            listed = json.loads((RESOURCES / "examples" / "starters.json").read_text(encoding="utf-8"))[where]
            # The samples are in English, and so is what they are asked.
            say = words.said if where == "web" else str
            asked = [(words.said(one["label"]), say(one["message"])) for one in listed]
        else:
            label = words("starter_own_label", documents=words.counted(survey.total, "document"))
            asked = [(label, words("starter_own", theme=one)) for one in subjects(survey)]
        return [cl.Starter(label=f"{label}\n{message}", message=message) for label, message in asked]

    @shielded
    async def furnish(self) -> None:
        """Set up the page at hand: commands, pickers and settings belong to the page, so every page gets them."""
        emitter, words = cl.context.emitter, frame_words()
        given = await self.history.kept(Preferences, self.owner)
        icons = {"research": "search"} | ({} if self.team.memory is None else {"memory": "library"})
        plain = {"button": False, "persistent": False}
        commands: list[Any] = [
            {"id": name, "description": words(f"command_{name}"), "icon": icon, **plain} for name, icon in icons.items()
        ]
        depths = [
            modes.ModeOption(
                id=depth, name=words("depth_is", depth=words(depth)), default=(given.mode or "standard") == depth,
                description=words("rounds_up_to", rounds=bounds.rounds),
            )
            for depth, bounds in MODES.items()
        ]  # fmt: skip
        await emitter.set_commands(commands)
        await emitter.set_modes([modes.Mode(id="depth", name=words("depth_label"), options=depths)])
        await cl.ChatSettings(dialog(self.team, given, words)).send()
        if not self._warm:
            # The model library takes seconds to import, and 130 MB: not before somebody comes, nor in the first answer.
            self._warm = True
            threading.Thread(target=self.team.warm_up, name="warm-up", daemon=True).start()

    @shielded
    async def settle(self, settings: dict[str, object]) -> None:
        """Keep what was set in the dialog; an entry that can't be read is said, and nothing is kept."""
        try:
            read = Preferences.read(settings)
        except DossierError as error:
            await cl.context.emitter.send_toast(frame_words().said(error.notice), "error")
        else:
            await self.history.keep(self.owner, read)
            await cl.context.emitter.send_toast(frame_words()("kept"), "success")
        # The page shows what is kept, whatever was typed.
        await self.furnish()

    @shielded
    async def resume(self, thread: Any) -> None:
        """Furnish a page that opens an old chat, and show what its history does not hold yet."""
        await self.furnish()
        known = {step["id"] for step in thread.get("steps") or []}
        self.outcomes.again(cl.context.session, known, OPENING_S)

    @shielded
    async def missed(self, session: Any) -> None:
        """Send a page what a cut connection made it miss."""
        self.outcomes.again(session)

    # ---- talking

    @shielded
    async def message(self, message: cl.Message) -> None:
        """Answer a message. Its text alone counts as said: what was attached is searched, never obeyed."""
        await mirror(dict(message.to_dict()))
        given = await asyncio.to_thread(given_files, message)
        if given and not message.content.strip() and not await self.history.thread_name(cl.context.session.thread_id):
            await self._name(cl.context.session.thread_id, plain_name(given[0].name))  # else it would have none

        async def hear(conversation: Conversation) -> None:
            taken = await self.team.take_files(given, conversation.state.scope.files) if given else UploadResult()
            await conversation.hear(message.content, message.command, message.modes or {}, taken)

        await self._conversed(hear)

    @shielded
    async def typed(self, action: cl.Action) -> None:
        """Take the answer of a button as if it had been typed; one of a run's card says about which run."""
        text, about = (action.payload.get(name) for name in ("text", "job_id"))
        if not isinstance(text, str) or not text.strip():
            return
        said = cl.Message(content=text[:MAX_SAID], type="user_message", author="You")
        await said.send()
        await mirror(dict(said.to_dict()))
        await cl.context.emitter.task_start()
        run = about if isinstance(about, str) else ""
        try:
            async with cl.Step(name="on_message", type="run", parent_id=said.id):
                await self._conversed(lambda conversation: conversation.hear(said.content, about=run))
        finally:
            await cl.context.emitter.task_end()

    @shielded
    async def edited(self, action: cl.Action) -> str:
        """Take an edit made on the contract's card; what could not be done is answered, for the card to show."""
        try:
            edit = CardEdit.model_validate(action.payload)
        except ValidationError as error:
            log.warning("an edit of a card can't be read: %s", error)
            return frame_words()("edit_unread")
        refused = ""

        async def change(conversation: Conversation) -> None:
            nonlocal refused
            try:
                await conversation.on_card(edit)
            except DossierError as error:
                refused = conversation.words.said(error.notice)

        await self._conversed(change)
        return refused

    async def _conversed(self, talk: Callable[[Conversation], Awaitable[None]]) -> None:
        """Draw what the conversation does; how the talk stands is kept whatever happens."""
        session, owner = cl.context.session, self.owner
        self.site.allowance.take(f"user {owner}", ASKING)
        # One message of a chat at a time, from whichever tab: the phrase sent twice must find a run at the second.
        async with self._locks.setdefault(session.thread_id, asyncio.Lock()):
            before = await self.history.kept(ChatState, session.thread_id)
            if not before.language:
                # Until something is said that tells, the talk is in the language of the frame around it.
                before = before.model_copy(update={"language": frame_words().language})
            renderer = Renderer(self.history, before.cards)

            async def show(effect: Effect) -> None:
                if isinstance(effect, Started):
                    self.outcomes.watch(effect.job, session.thread_id, session.user)
                renderer.words = conversation.words
                await renderer.draw(effect)

            conversation = Conversation(
                self.team, before, show=show, on_text=renderer.on_text, owner=owner,
                preferences=await self.history.kept(Preferences, owner),
            )  # fmt: skip
            here, waits = contextvars.copy_context(), set[asyncio.Task[None]]()

            def wait(said: Said) -> None:
                # It is told by whoever asks the provider, which may be a run, or another chat.
                aside = renderer.aside(conversation.words.said(said))
                waits.add(asyncio.get_running_loop().create_task(aside, context=here))

            self.team.pauses.others.append(wait)
            try:
                await talk(conversation)
            finally:
                self.team.pauses.others.remove(wait)
                for telling in waits:
                    telling.cancel()
                await renderer.done()
                after = conversation.state.model_copy(update={"cards": renderer.cards})
                if after != before:
                    await self.history.keep(session.thread_id, after)
                    await self._renamed(session.thread_id, before, after)

    async def _renamed(self, thread_id: str, before: ChatState, after: ChatState) -> None:
        """Name a chat by the first question that was agreed, in the place of the broad one, or the file, that it began with."""
        if before.contract is not None or after.contract is None or before.job_id:
            return
        began = (after.scope.question[:THREAD_NAME], *(file.name for file in after.scope.files))
        if (await self.history.thread_name(thread_id)).startswith(tuple(filter(None, began))):
            await self._name(thread_id, after.contract.brief.queries[0].text)

    async def _name(self, thread_id: str, name: str) -> None:
        """Name a chat, in the history and in the side bar of the page at hand."""
        await self.history.update_thread(thread_id, name=name)
        await cl.context.emitter.emit("first_interaction", {"interaction": name, "thread_id": thread_id})

    # ---- interruptions

    @shielded
    async def stopped(self) -> None:
        """Say that the answer was broken off; a run of this chat is stopped too."""
        talk = await self.history.kept(ChatState, cl.context.session.thread_id)
        job = self.team.jobs.get(talk.job_id, self.owner) if talk.job_id else None
        if job is not None and not job.over:
            self.team.jobs.stop(job)
        else:
            await cl.Message(content=ChatTexts(talk.language)("stop_answering")).send()

    async def _deleted(self, thread_id: str, owner: str, texts: set[str]) -> None:
        """A chat was deleted: stop its runs, and forget the texts of its files that no report needs.

        Nobody would see what a run costs that goes on, nor its report. Reports that are written stay with their jobs.
        """
        jobs = await self.team.jobs.in_thread(thread_id)
        owner = owner or next((job.owner for job in jobs), "")  # Chainlit writes whose a chat is a little later
        for job in jobs:
            if not job.over:
                self.team.jobs.stop(job)
                await self.outcomes.ended(job)
        dropped = await forget_texts(self.team.jobs, self.site.chats, texts | given_to(jobs))
        await forget_with(self.team.memory, owner, texts=dropped)
        if (store := self.team.memory) is not None and jobs:
            known = [job.id for job in jobs if await store.get(owner, Selection(job=job.id), 1)]
            yes, no = (cl.Action(name="forget_found", payload={"jobs": found}) for found in (known, []))
            if known:
                self.outcomes.ask_soon(owner, "forget_deleted_ask", {"button_forget_it": yes, "button_keep": no})

    @shielded
    async def forget_found(self, action: cl.Action) -> None:
        """Forget what only some research found, once its chat is deleted; without any, nothing is forgotten."""
        jobs, words = action.payload.get("jobs"), frame_words()
        ids = [job for job in jobs if isinstance(job, str)] if isinstance(jobs, list) else []
        gone = await forget_with(self.team.memory, self.owner, jobs=ids)
        said = words("forgotten", things=words.counted(gone, "thing")) if ids else words("forget_kept")
        await cl.Message(content=said).send()


def given_files(message: cl.Message) -> list[UploadedFile]:
    """Read the files that came with a message: as many as are taken, none further than shows that it is too large."""
    given: list[UploadedFile] = []
    for element in (one for one in message.elements or () if one.path):
        with Path(str(element.path)).open("rb") as file:
            given.append(UploadedFile(element.name or "", file.read(MAX_BYTES + 1 if len(given) < AT_ONCE else 0)))
    return given
