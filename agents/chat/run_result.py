"""How a run ended, shown in its chat: kept once, sent to every open tab, and found again after a restart."""

import asyncio
import contextvars
import logging
from dataclasses import dataclass
from typing import Any

from chainlit.context import init_http_context
from chainlit.element import CustomElement
from chainlit.utils import utc_now

from agents.api.ledger import INTERRUPTED, Entry, Ledger
from agents.api.reports import chat_markdown
from agents.chat import views
from agents.chat.history import History
from agents.chat.renderer import tabs, uid, who
from agents.chat.runs import stopped_line
from agents.contracts.report import ReportDocument
from agents.core.errors import DossierError
from agents.jobs.blob_store import Shelf
from agents.jobs.service import Job

log = logging.getLogger(__name__)

SHUT_DOWN = "The server was shut down while this ran. What it had read is kept; start it again for a report."
OPENING_S = 1.0
"""Seconds after which a page that opens a chat has surely been sent it."""
ENDING_S = 20.0
"""Seconds that a stopped run gets to come to its end."""
Step = dict[str, Any]
"""A step as Chainlit sends and keeps it."""


@dataclass(frozen=True)
class Shown:
    """What an outcome puts into the chat."""

    steps: tuple[Step, ...]
    elements: tuple[Step, ...] = ()


class Outcomes:
    """Watches runs to their end and shows what came of them."""

    def __init__(self, ledger: Ledger, shelf: Shelf, history: History) -> None:
        self.ledger, self.shelf, self.history = ledger, shelf, history
        self.closing = False
        self._watching: set[asyncio.Task[None]] = set()

    def watch(self, job: Job, thread_id: str, user: Any) -> None:
        """Follow a run; belongs to no session, as the run itself."""
        task = asyncio.get_running_loop().create_task(
            self._watch(job, thread_id, user), context=contextvars.Context(), name=f"watch-{job.id}"
        )
        self._watching.add(task)
        task.add_done_callback(self._watching.discard)

    async def _watch(self, job: Job, thread_id: str, user: Any) -> None:
        try:
            entry = await self.ledger.follow(job, thread_id)
            if self.closing and entry.status == "cancelled":
                entry = entry.model_copy(update={"status": "failed", "note": SHUT_DOWN})
                await self.ledger.write(entry)
            if not entry.over and job.report is None:
                # The server ends and the run does not: it goes on, and is watched again, at the next start.
                return
            await self.show(entry, user, job.report)
        except Exception:
            # The report itself is saved; it is shown when the chat is opened again.
            log.exception("the outcome of job %s could not be shown", job.id)

    def again_soon(self, tab: Any, known: frozenset[str]) -> None:
        """Send once more what ended while a page was being opened.

        Chainlit reads a chat, and a little later puts it in the place of all that the page has been sent in between.
        """
        task = asyncio.get_running_loop().create_task(self.again(tab, known, OPENING_S), context=contextvars.Context())
        self._watching.add(task)
        task.add_done_callback(self._watching.discard)

    async def ended(self, job: Job) -> None:
        """Wait until a run that was stopped is over and entered; as long as that takes, but not for ever."""
        watching = [task for task in self._watching if task.get_name() == f"watch-{job.id}"]
        if watching:
            await asyncio.wait(watching, timeout=ENDING_S)

    async def close(self, timeout_s: float = 5.0) -> None:
        """Wait until what ended was shown and entered."""
        if self._watching:
            await asyncio.wait(set(self._watching), timeout=timeout_s)

    async def show(self, entry: Entry, user: Any, document: ReportDocument | None = None) -> Shown:
        """Keep the outcome in the history and send it to the open tabs; doing it again changes nothing."""
        if document is None and entry.status == "done":
            document = await self.shelf.report(entry.id)
        shown = outcome(entry, document)
        # Chainlit's data layer asks the context whether a browser has spoken yet: here there is none.
        init_http_context(thread_id=entry.thread_id, user=user)
        for step in shown.steps:
            await self.history.create_step(dict(step))
        for element in shown.elements:
            kept = CustomElement(
                id=element["id"],
                name=element["name"],
                props=element["props"],
                thread_id=entry.thread_id,
                for_id=element["forId"],
            )
            await self.history.create_element(kept)
        for tab in tabs(entry.thread_id, entry.owner):
            await _send(tab, shown)
        return shown

    async def show_missing(self, thread_id: str, owner: str, user: Any, known: set[str]) -> Shown:
        """Show the outcomes of a chat that its history does not hold yet: the process ended in between."""
        steps: list[Step] = []
        elements: list[Step] = []
        for entry in await self.ledger.in_thread(thread_id, owner):
            if entry.over and _name(entry, "report") not in known:
                shown = await self.show(entry, user)
                steps += shown.steps
                elements += shown.elements
        return Shown(tuple(steps), tuple(elements))

    async def again(self, tab: Any, known: frozenset[str] = frozenset(), delay_s: float = 0.0) -> None:
        """Send the outcomes of a chat to one tab once more, but for messages that it has."""
        await asyncio.sleep(delay_s)
        for entry in await self.ledger.in_thread(tab.thread_id, who(tab.user)):
            if entry.over and _name(entry, "report") not in known:
                document = await self.shelf.report(entry.id) if entry.status == "done" else None
                await _send(tab, outcome(entry, document))


async def _send(tab: Any, shown: Shown) -> None:
    """Send to one tab, elements first: a report's text must not be seen before the card that takes its place."""
    for element in shown.elements:
        await tab.emit("element", element)
    for step in shown.steps:
        await tab.emit("new_message", step)


def outcome(entry: Entry, document: ReportDocument | None) -> Shown:
    """Make the messages that show how a run ended."""
    now = utc_now()
    # Copying and rating are offered on the last message of a finished run only: hence a run around the report.
    run = _step(entry, "run", "run", now, parent=None, name="on_message", output="")
    text = outcome_text(entry, document)
    elements: tuple[Step, ...] = ()
    if document is not None and views.REPORT_ELEMENT and views.drawn("ReportView"):
        # The Markdown stays the message's text: for copying, for searching the history, and for when the element
        # fails. The page hides it while the element stands (see public/dossier.css).
        elements = (_report_element(entry, document),)
    message = _step(entry, "report", "assistant_message", now, parent=run["id"], name="Dossier", output=text)
    message["isError"] = entry.status == "failed"
    return Shown((run, message), elements)


def outcome_text(entry: Entry, document: ReportDocument | None) -> str:
    """Say how a run ended: the report, or in one or two sentences why there is none."""
    if document is not None:
        return f"{chat_markdown(document)}\n\n{views.downloads(document)}\n\n{views.grade_line(document)}"
    if entry.status == "cancelled" and entry.tree is not None:
        return stopped_line(entry.tree)
    if entry.status == "done":
        return "The run ended, but its report can't be read from disk any more."
    if entry.note in {INTERRUPTED, SHUT_DOWN}:
        return entry.note
    return f"The run failed. {entry.note or DossierError.notice}"


def _name(entry: Entry, what: str) -> str:
    """Name a message: a run that was taken up again ends in messages of its own."""
    return uid(entry.id, f"{what}-{entry.again}" if entry.again else what)


def _step(entry: Entry, what: str, kind: str, now: str, *, parent: str | None, name: str, output: str) -> Step:
    return {
        "id": _name(entry, what),
        "threadId": entry.thread_id,
        "parentId": parent,
        "createdAt": now,
        "start": now,
        "end": now,
        "name": name,
        "type": kind,
        "input": "",
        "output": output,
        "streaming": False,
        "isError": False,
        "waitForAnswer": False,
        "metadata": {},
    }


def _report_element(entry: Entry, document: ReportDocument) -> Step:
    props = views.ReportView(job_id=entry.id, grade=document.grade, title=document.title)
    return {
        "id": _name(entry, "report-element"),
        "threadId": entry.thread_id,
        "type": "custom",
        "name": "ReportView",
        "display": "inline",
        "forId": _name(entry, "report"),
        "mime": "application/json",
        "props": props.model_dump(mode="json"),
        # The browser wants one of url and key before it shows an element; it reads neither of a custom one.
        "chainlitKey": _name(entry, "report-element"),
        "url": None,
    }
