"""Draws acts with Chainlit: in the tab that spoke, and in the user's other tabs on the same chat."""

import time
import uuid
from typing import Any

import chainlit as cl
from chainlit.session import WebsocketSession, ws_sessions_id

from agents.chat.cards import Props, contract_card, contract_line, run_card, scope_card, scope_line
from agents.chat.history import History
from agents.chat.state import (
    Ask,
    Effect,
    ManagerReply,
    Refuse,
    Say,
    ShowContract,
    ShownCard,
    ShowScope,
    Started,
    Stopping,
)
from agents.chat.texts import ChatTexts
from agents.jobs.live_job import Job

PIECE_S = 0.08
"""Seconds that the manager's words are gathered before they are sent on: each piece costs the browser 12 ms."""


def who(user: Any) -> str:
    """Name a user; empty when there is no log-in."""
    return str(user.identifier) if user else ""


def uid(job_id: str, what: str) -> str:
    """Name something of a job, the same every time: sending it again is an update."""
    return str(uuid.uuid5(uuid.UUID(job_id), what))


def tabs(thread_id: str, owner: str) -> list[WebsocketSession]:
    """List the open tabs of a user on a chat."""
    return [one for one in list(ws_sessions_id.values()) if one.thread_id == thread_id and who(one.user) == owner]


def other_tabs() -> list[WebsocketSession]:
    """List the user's other open tabs on this chat."""
    here = cl.context.session
    return [tab for tab in tabs(here.thread_id, who(here.user)) if tab is not here]


async def mirror(step: dict[str, Any], elements: tuple[dict[str, Any], ...] = ()) -> None:
    """Show a message in the other tabs; there it hangs at the root, since its parent is known here only."""
    for tab in other_tabs():
        await tab.emit("new_message", {**step, "parentId": None})
        for element in elements:
            await tab.emit("element", element)


def _element(name: str, props: Props) -> cl.CustomElement:
    return cl.CustomElement(name=name, props=props, display="inline")


async def _sent(message: cl.Message, element: cl.CustomElement | None = None) -> cl.Message:
    """Send a message, with its card, here and to the other tabs."""
    message.elements = [element] if element else []
    await message.send()
    await mirror(dict(message.to_dict()), (dict(element.to_dict()),) if element else ())
    return message


class Streamed:
    """The manager's words while they are written."""

    def __init__(self) -> None:
        self.message: cl.Message | None = None
        self._waiting, self._sent_at = "", 0.0

    async def on_text(self, piece: str) -> None:
        """Take the next piece."""
        self._waiting += piece
        if time.monotonic() - self._sent_at >= PIECE_S:
            await self._flush()

    async def _flush(self) -> None:
        if self.message is None:
            self.message = cl.Message(content="")
        piece, self._waiting, self._sent_at = self._waiting, "", time.monotonic()
        await self.message.stream_token(piece)

    async def whole(self, text: str, element: cl.CustomElement | None = None) -> cl.Message:
        """Put the whole reply, with its card, in the place of what was streamed; it is what is kept."""
        message = self.message or cl.Message(content="")
        self.message, self._waiting = None, ""
        message.content = text
        return await _sent(message, element)

    async def broken_off(self) -> None:
        """Keep what was said before it broke off."""
        if self.message is not None and (said := (self.message.content + self._waiting).strip()):
            await self.whole(f"{said} …")


def progress_name(job: Job) -> str:
    """Name the message that holds a run's live card: one for each time that it was taken up."""
    return uid(job.id, f"progress-{job.run.again}" if job.run.again else "progress")


class Renderer:
    """Draws the effects of one answer."""

    def __init__(self, history: History, cards: tuple[ShownCard, ...]) -> None:
        self.history, self.cards = history, cards
        self.words = ChatTexts()
        """In the language that the chat answers in."""
        self.streamed = Streamed()
        self._reply = ""
        """Words, until it is known whether a card belongs to them."""

    async def done(self) -> None:
        """Show what is still held back, also when something went wrong."""
        if self._reply:
            reply, self._reply = self._reply, ""
            await self.streamed.whole(reply)
        await self.streamed.broken_off()

    async def draw(self, effect: Effect) -> None:
        """Show one effect."""
        if self._reply and not isinstance(effect, ShowScope):
            await self.done()
        match effect:
            case ManagerReply() | Refuse():
                self._reply = effect.text
            case Say():
                await _sent(cl.Message(content=effect.text))
            case Ask():
                actions = [
                    cl.Action(id=f"answer-{uuid.uuid4()}", name="say", payload={"text": one.says}, label=one.label)
                    for one in effect.buttons
                ]
                await _sent(cl.Message(content=effect.text, actions=actions))
            case ShowScope():
                await self._retire("replaced")
                card = scope_card(effect.scope, self.words, effect.usual)
                if card["queries"] or card["points"]:
                    # The manager's words and the choices are one message.
                    reply, self._reply = self._reply, ""
                    await self._card("ScopeCard", card, reply or scope_line(effect.scope, self.words))
            case ShowContract():
                card = contract_card(effect, self.words)
                # The card says what changed; another line above it would move it away under the pointer.
                if effect.in_place and await self._redraw(card):
                    return
                await self._retire("replaced")
                await self._card("ContractCard", card, contract_line(effect.changed, self.words))
            case Started():
                await self._retire("bound")
                # It outlasts the talk about a draft.
                element = _element("ResearchRun", run_card(effect.job, effect.contract, self.words))
                await _sent(cl.Message(content=self.words("started_line"), id=progress_name(effect.job)), element)
            case Stopping():
                # How it ended is shown when it has (see outcome).
                pass

    async def _card(self, name: str, props: Props, line: str) -> None:
        """Show a card below its line, until a later one puts it out of use."""
        element = _element(name, props)
        message = await self.streamed.whole(line, element)
        self.cards = (*self.cards, ShownCard(element_id=element.id, message_id=message.id, name=name))

    async def _redraw(self, props: Props) -> bool:
        """Put another draft in the place of the card on the table; False without one."""
        shown = next((card for card in reversed(self.cards) if card.name == "ContractCard"), None)
        element = await self.history.get_element(cl.context.session.thread_id, shown.element_id) if shown else None
        if shown is None or element is None:
            return False
        step = await self.history.reword(shown.message_id, self.words("phrase_line"))
        if step is not None:
            await cl.context.emitter.update_step(step)
            for tab in other_tabs():
                await tab.emit("update_message", {**step, "parentId": None})
        await self._changed(element, props)
        return True

    async def _changed(self, element: Any, props: Props) -> None:
        """Put other props in the place of an element's, in the history and in every tab."""
        await self.history.put_props(element["id"], props)
        changed = {**element, "props": props}
        await cl.context.emitter.send_element(changed)
        for tab in other_tabs():
            await tab.emit("element", changed)

    async def _retire(self, state: str) -> None:
        """Put the cards before this one out of use, so that nobody acts on what no longer stands."""
        cards, self.cards = self.cards, ()
        for card in cards:
            props = {"active": False} if card.name == "ScopeCard" else {"state": state, "ready": False}
            element = await self.history.get_element(cl.context.session.thread_id, card.element_id)
            if element is not None:
                await self._changed(element, {**(element.get("props") or {}), **props})
