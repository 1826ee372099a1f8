"""Draws acts with Chainlit: in the tab that spoke, and in the user's other tabs on the same chat.

How a run ended, shown in its chat: kept once, sent to every open tab, and found again after a restart.
"""

import asyncio
import contextvars
import logging
import time
import uuid
from collections.abc import Collection, Coroutine, Mapping
from typing import Any

import chainlit as cl
from chainlit.context import init_http_context
from chainlit.element import CustomElement
from chainlit.session import WebsocketSession, ws_sessions_id
from chainlit.step import StepDict
from chainlit.utils import utc_now

from agents.api.reports import chat_markdown
from agents.api.tree import live_tree
from agents.chat.answers import Props, contract_card, run_card, scope_card, scope_line
from agents.chat.history import History
from agents.chat.runs import broken_line
from agents.chat.state import Effect, ManagerReply, Refuse, Say, ShowContract, ShownCard, ShowScope, Started
from agents.chat.texts import ChatTexts
from agents.contracts.report import OVER, ReportDocument
from agents.jobs.client import Client
from agents.jobs.job import Job
from agents.report.escaping import own_links

PIECE_S = 0.08
"""Seconds that the manager's words are gathered before they are sent on: each piece costs the browser 12 ms."""


def who(user: Any) -> str:
    """Name a user; empty when there is no log-in."""
    return str(user.identifier) if user else ""


def uid(job_id: str, what: str) -> str:
    """Name something of a job, the same every time: sending it again is an update."""
    return str(uuid.uuid5(uuid.UUID(job_id), what))


def tabs(owner: str, thread_id: str | None = None) -> list[WebsocketSession]:
    """List the open tabs of a user, on one chat or on any."""
    mine = [one for one in list(ws_sessions_id.values()) if who(one.user) == owner]
    return [one for one in mine if thread_id in {None, one.thread_id}]


async def to_others(event: str, data: Mapping[str, Any]) -> None:
    """Show something in the user's other open tabs on this chat."""
    here = cl.context.session
    for tab in tabs(who(here.user), here.thread_id):
        if tab is not here:
            await tab.emit(event, data)


async def mirror(step: Mapping[str, Any]) -> None:
    """Show a message in the other tabs; there it hangs at the root, since its parent is known here only."""
    await to_others("new_message", {**step, "parentId": None})


def _element(name: str, props: Props, **known: str) -> cl.CustomElement:
    return cl.CustomElement(name=name, props=props, display="inline", **known)


async def _sent(message: cl.Message, element: cl.CustomElement | None = None) -> None:
    """Send a message, with its card, here and to the other tabs."""
    message.elements = [element] if element else []
    await message.send()
    await mirror(message.to_dict())
    if element:
        await to_others("element", element.to_dict())


class Renderer:
    """Draws the effects of one answer, and the manager's words while they are written."""

    def __init__(self, history: History, cards: tuple[ShownCard, ...]) -> None:
        self.history, self.cards = history, cards
        self.words = ChatTexts()  # in the language that the chat answers in
        self._reply = ""  # words, until it is known whether a card belongs to them
        self._message: cl.Message | None = None
        self._said, self._sent_at = "", 0.0

    async def on_text(self, piece: str) -> None:
        """Take the next piece of the manager's words."""
        self._said += piece
        if time.monotonic() - self._sent_at >= PIECE_S:
            await self._stream(self._said)

    async def aside(self, text: str) -> None:
        """Say meanwhile what is waited for, until there are other words to say."""
        await self._stream(f"{self._said}\n\n{text}".strip())

    async def _stream(self, whole: str) -> None:
        if own_links(whole) != whole:
            return  # what leads elsewhere is never shown, also not until the whole is there
        self._message, self._sent_at = self._message or cl.Message(content=""), time.monotonic()
        await self._message.stream_token(whole, is_sequence=True)

    async def _whole(self, text: str, element: cl.CustomElement | None = None) -> None:
        """Put the whole reply, with its card, in the place of what was streamed; it is what is kept."""
        message = self._message or cl.Message(content="")
        self._message, self._said = None, ""
        message.content = own_links(text)
        await _sent(message, element)

    async def done(self) -> None:
        """Show what is still held back, also when something went wrong, and keep what was said before it broke off."""
        if self._reply:
            reply, self._reply = self._reply, ""
            await self._whole(reply)
        if self._message is not None and (said := self._said.strip()):
            await self._whole(f"{said} …")

    async def draw(self, effect: Effect) -> None:
        """Show one effect."""
        if self._reply and not isinstance(effect, ShowScope):
            await self.done()
        match effect:
            case ManagerReply() | Refuse():
                self._reply = effect.text
            case Say():
                actions = [
                    cl.Action(id=f"answer-{uuid.uuid4()}", name="say", payload={"text": one.says}, label=one.label)
                    for one in effect.buttons
                ]
                await _sent(cl.Message(content=own_links(effect.text), actions=actions))
            case ShowScope():
                await self._retire("replaced")
                card = scope_card(effect.scope, self.words, effect.usual)
                if card["queries"] or card["points"]:
                    # The manager's words and the choices are one message.
                    reply, self._reply = self._reply, ""
                    await self._card("ScopeCard", card, reply or scope_line(effect.scope, self.words))
            case ShowContract():
                card = contract_card(effect, self.words)
                shown = next((one for one in reversed(self.cards) if one.name == "ContractCard"), None)
                if effect.in_place and shown and await self._change(shown.element_id, card):
                    return
                await self._retire("replaced")
                await self._card("ContractCard", card, self.words("phrase_line"))
            case Started():
                await self._retire("bound")
                job, message = effect.job, _name(effect.job, "progress")
                for again in range(job.run.again):
                    # The run goes on in the card below: the one before it only points there.
                    await self._change(_name(job, "card", again), {"moved": message})
                # It outlasts the talk about a draft.
                element = _element("ResearchRun", run_card(job, effect.contract, self.words), id=_name(job, "card"))
                await _sent(cl.Message(content=self.words("started_line"), id=message), element)

    async def _card(self, name: str, props: Props, line: str) -> None:
        """Show a card below its line, until a later one puts it out of use."""
        element = _element(name, props)
        await self._whole(line, element)
        self.cards = (*self.cards, ShownCard(element_id=element.id, name=name))

    async def _retire(self, state: str) -> None:
        """Put the cards before this one out of use, so that nobody acts on what no longer stands."""
        cards, self.cards = self.cards, ()
        for card in cards:
            props: Props = {"active": False} if card.name == "ScopeCard" else {"state": state, "ready": False}
            await self._change(card.element_id, props)

    async def _change(self, element_id: str, props: Props) -> bool:
        """Put other props into an element, in the history and in every tab; False where the history holds none."""
        element = await self.history.get_element(cl.context.session.thread_id, element_id)
        if element is None:
            return False
        changed = {**element, "props": {**(element.get("props") or {}), **props}}
        await self.history.put_props(element_id, changed["props"])
        await cl.context.emitter.send_element(changed)
        await to_others("element", changed)
        return True


log = logging.getLogger(__name__)

OPENING_S = 1.0  # seconds after which a page that opens a chat has surely been sent it
ENDING_S = 20.0  # seconds that a stopped run gets to come to its end


class Outcomes:
    """Watches runs to their end and shows what came of them."""

    def __init__(self, jobs: Client, history: History) -> None:
        self.jobs, self.history = jobs, history
        self._watching: set[asyncio.Task[None]] = set()

    def watch(self, job: Job, thread_id: str, user: Any) -> None:
        """Follow a run; belongs to no session, as the run itself."""
        if job.thread_id != thread_id:
            self.jobs.attach(job, thread_id)
        self._aside(self._watch(job, user), f"watch-{job.id}")

    def _aside(self, work: Coroutine[Any, Any, None], name: str) -> None:
        # In a context of its own: that of a page ends with it.
        task = asyncio.get_running_loop().create_task(work, context=contextvars.Context(), name=name)
        self._watching.add(task)
        task.add_done_callback(self._watching.discard)

    async def _watch(self, job: Job, user: Any) -> None:
        try:
            await job.wait()
            if job.released or (job.status not in OVER and job.report is None):
                # The server ends and the run does not: it goes on, and is watched again, at the next start.
                return
            await self.show(job, user)
        except Exception:
            # The report itself is saved; it is shown when the chat is opened again.
            log.exception("the outcome of job %s could not be shown", job.id)

    def ask_soon(self, owner: str, name: str, answers: Mapping[str, cl.Action]) -> None:
        """Ask something in all pages of a user, in a moment: a page that has deleted its chat first turns to a new one.

        Both the question and the labels of its buttons are given as names of texts.
        """

        async def asked() -> None:
            await asyncio.sleep(OPENING_S)
            for tab in tabs(owner):
                words, id = ChatTexts(str(tab.language).partition("-")[0]), str(uuid.uuid4())
                step = _step(id, tab.thread_id, "assistant_message", None, "Dossier", words(name))
                await tab.emit("new_message", step)
                for label, action in answers.items():
                    told = {"id": str(uuid.uuid4()), "forId": id, "label": words(label)}
                    await tab.emit("action", {**action.to_dict(), **told})

        self._aside(asked(), "ask")

    async def ended(self, job: Job) -> None:
        """Wait until a run that was stopped is over and entered; as long as that takes, but not for ever."""
        watching = [task for task in self._watching if task.get_name() == f"watch-{job.id}"]
        if watching:
            await asyncio.wait(watching, timeout=ENDING_S)

    async def close(self, timeout_s: float = 5.0) -> None:
        """Wait until what ended was shown and entered."""
        if self._watching:
            await asyncio.wait(set(self._watching), timeout=timeout_s)

    async def show(self, job: Job, user: Any, *, keep: bool = True) -> None:
        """Send the outcome to the open tabs, and keep it in the history: it stands where it was kept last."""
        steps, elements = outcome(job, job.report or (await self.jobs.report(job.id) if job.status == "done" else None))
        if keep:
            # Chainlit's data layer asks the context whether a browser has spoken yet: here there is none.
            init_http_context(thread_id=job.thread_id, user=user)
            for step in steps:
                await self.history.create_step({**step})
            for element in elements:
                await self.history.create_element(element)
        for tab in tabs(job.owner, job.thread_id):
            # Elements first: a report's text must not be seen before the card that takes its place.
            for element in elements:
                await tab.emit("element", element.to_dict())
            for step in steps:
                await tab.emit("new_message", step)

    def again(self, tab: Any, known: Collection[str] = (), delay_s: float = 0.0) -> None:
        """Show the outcomes of a chat once more, but for messages that a tab has: what it missed, or no history holds.

        Chainlit reads a chat, and a little later puts it in the place of all that the page has been sent in between: a
        page that opens one is shown them in a moment.
        """

        async def shown() -> None:
            await asyncio.sleep(delay_s)
            jobs = [job for job in await self.jobs.in_thread(tab.thread_id) if job.owner == who(tab.user) and job.over]
            for job in jobs:
                if (name := _name(job, "report")) not in known:
                    await self.show(job, tab.user, keep=not await self.history.holds(name))

        self._aside(shown(), "again")


def outcome(job: Job, document: ReportDocument | None) -> tuple[list[StepDict], list[CustomElement]]:
    """Make the messages and elements that show how a run ended."""
    elements, report, name = [], _name(job, "report"), _name(job, "report-element")
    if document is not None:
        # The Markdown stays the message's text: for copying, for searching the history, and for when the element
        # fails. The page hides it while the element stands (see public/dossier.css).
        props: Props = {"job_id": job.id, "grade": document.grade, "title": document.title}
        # The browser wants one of address and key before it shows an element; it reads neither of a custom one.
        known = {"id": name, "chainlit_key": name, "thread_id": job.thread_id, "for_id": report}
        elements.append(_element("ReportView", props, **known))

    # Copying and rating are offered on the last message of a finished run only: hence a run around the report.
    run = _step(_name(job, "run"), job.thread_id, "run", None, "on_message", "")
    message = _step(report, job.thread_id, "assistant_message", run["id"], "Dossier", outcome_text(job, document))
    message["isError"] = job.status == "failed"
    return [run, message], elements


def _step(id: str, thread_id: str, kind: str, parent: str | None, name: str, output: str) -> StepDict:
    now = utc_now()
    return {
        "id": id, "threadId": thread_id, "parentId": parent, "createdAt": now, "start": now, "end": now,
        "name": name, "type": kind, "input": "", "output": output, "streaming": False, "waitForAnswer": False,
        "isError": False, "metadata": {},
    }  # fmt: skip


def outcome_text(job: Job, document: ReportDocument | None) -> str:
    """Say how a run ended: the report, or in one or two sentences why there is none."""
    contract = job.commission.contract
    words = ChatTexts(contract.brief.language if contract else "en")
    if document is not None:
        sent_back = words("sent_back", note=live_tree(job).note) if job.blocked_reason == "needs_rework" else ""
        return f"{chat_markdown(document)}\n\n{sent_back}".strip()
    if job.status == "done":
        return words("report_lost")
    return broken_line(live_tree(job), words)


def _name(job: Job, what: str, again: int | None = None) -> str:
    """Name a message: a run that was taken up again ends in messages of its own."""
    again = job.run.again if again is None else again
    return uid(job.id, f"{what}-{again}" if again else what)
