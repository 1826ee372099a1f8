"""How a run ended, shown in its chat: kept once, sent to every open tab, and found again after a restart."""

import asyncio
import contextvars
import logging
from collections.abc import Coroutine
from typing import Any

from chainlit.context import init_http_context
from chainlit.element import CustomElement
from chainlit.utils import utc_now

from agents.api.reports import chat_markdown, live_tree
from agents.chat import cards
from agents.chat.history import History
from agents.chat.renderer import tabs, uid, who
from agents.chat.runs import stopped_line
from agents.chat.texts import ChatTexts
from agents.contracts.report import OVER, ReportDocument
from agents.core.errors import DossierError
from agents.jobs.live_job import Job
from agents.jobs.runtime import JobRuntime

log = logging.getLogger(__name__)

OPENING_S = 1.0
"""Seconds after which a page that opens a chat has surely been sent it."""
ENDING_S = 20.0
"""Seconds that a stopped run gets to come to its end."""
Step = dict[str, Any]
"""A step as Chainlit sends and keeps it."""


Shown = tuple[list[Step], list[Step]]
"""What an outcome puts into the chat: steps, and elements."""


class Outcomes:
    """Watches runs to their end and shows what came of them."""

    def __init__(self, jobs: JobRuntime, history: History) -> None:
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

    def again_soon(self, tab: Any, known: frozenset[str]) -> None:
        """Send once more what ended while a page was being opened.

        Chainlit reads a chat, and a little later puts it in the place of all that the page has been sent in between.
        """
        self._aside(self.again(tab, known, OPENING_S), "again")

    async def ended(self, job: Job) -> None:
        """Wait until a run that was stopped is over and entered; as long as that takes, but not for ever."""
        watching = [task for task in self._watching if task.get_name() == f"watch-{job.id}"]
        if watching:
            await asyncio.wait(watching, timeout=ENDING_S)

    async def close(self, timeout_s: float = 5.0) -> None:
        """Wait until what ended was shown and entered."""
        if self._watching:
            await asyncio.wait(set(self._watching), timeout=timeout_s)

    async def show(self, job: Job, user: Any) -> Shown:
        """Keep the outcome in the history and send it to the open tabs; doing it again changes nothing."""
        shown = outcome(job, await self._report(job))
        # Chainlit's data layer asks the context whether a browser has spoken yet: here there is none.
        init_http_context(thread_id=job.thread_id, user=user)
        steps, elements = shown
        for step in steps:
            await self.history.create_step(dict(step))
        for element in elements:
            kept = CustomElement(
                id=element["id"],
                name=element["name"],
                props=element["props"],
                thread_id=job.thread_id,
                for_id=element["forId"],
            )
            await self.history.create_element(kept)
        for tab in tabs(job.thread_id, job.owner):
            await _send(tab, shown)
        return shown

    async def _report(self, job: Job) -> ReportDocument | None:
        return job.report or (await self.jobs.blobs.report(job.id) if job.status == "done" else None)

    async def show_missing(self, thread_id: str, owner: str, user: Any, known: set[str]) -> Shown:
        """Show the outcomes of a chat that its history does not hold yet: the process ended in between."""
        steps: list[Step] = []
        elements: list[Step] = []
        for job in await self.jobs.in_thread(thread_id, owner):
            if job.over and _name(job, "report") not in known:
                shown = await self.show(job, user)
                steps += shown[0]
                elements += shown[1]
        return steps, elements

    async def again(self, tab: Any, known: frozenset[str] = frozenset(), delay_s: float = 0.0) -> None:
        """Send the outcomes of a chat to one tab once more, but for messages that it has."""
        await asyncio.sleep(delay_s)
        for job in await self.jobs.in_thread(tab.thread_id, who(tab.user)):
            if job.over and _name(job, "report") not in known:
                await _send(tab, outcome(job, await self._report(job)))


async def _send(tab: Any, shown: Shown) -> None:
    """Send to one tab, elements first: a report's text must not be seen before the card that takes its place."""
    steps, elements = shown
    for element in elements:
        await tab.emit("element", element)
    for step in steps:
        await tab.emit("new_message", step)


def outcome(job: Job, document: ReportDocument | None) -> Shown:
    """Make the messages that show how a run ended."""
    now = utc_now()
    # Copying and rating are offered on the last message of a finished run only: hence a run around the report.
    run = _step(job, "run", "run", now, parent=None, name="on_message", output="")
    text = outcome_text(job, document)
    elements: list[Step] = []
    if document is not None:
        # The Markdown stays the message's text: for copying, for searching the history, and for when the element
        # fails. The page hides it while the element stands (see public/dossier.css).
        elements = [
            {
                "id": _name(job, "report-element"),
                "threadId": job.thread_id,
                "type": "custom",
                "name": "ReportView",
                "display": "inline",
                "forId": _name(job, "report"),
                "mime": "application/json",
                "props": {"job_id": job.id, "grade": document.grade, "title": document.title},
                # The browser wants one of url and key before it shows an element; it reads neither of a custom one.
                "chainlitKey": _name(job, "report-element"),
                "url": None,
            }
        ]
    message = _step(job, "report", "assistant_message", now, parent=run["id"], name="Dossier", output=text)
    message["isError"] = job.status == "failed"
    return [run, message], elements


def outcome_text(job: Job, document: ReportDocument | None) -> str:
    """Say how a run ended: the report, or in one or two sentences why there is none."""
    contract = job.commission.contract
    words = ChatTexts(contract.brief.language if contract else "en")
    if document is not None:
        text = f"{chat_markdown(document)}\n\n{cards.downloads(document)}\n\n{cards.grade_line(document)}"
        if job.blocked_reason != "needs_rework":
            return text
        return f"{text}\n\n{words('sent_back', note=live_tree(job).note)}"
    if job.status == "cancelled":
        return stopped_line(live_tree(job), words)
    if job.status == "done":
        return words("report_lost")
    return words("run_failed", why=job.notice or DossierError.notice)


def _name(job: Job, what: str) -> str:
    """Name a message: a run that was taken up again ends in messages of its own."""
    return uid(job.id, f"{what}-{job.run.again}" if job.run.again else what)


def _step(job: Job, what: str, kind: str, now: str, *, parent: str | None, name: str, output: str) -> Step:
    return {
        "id": _name(job, what),
        "threadId": job.thread_id,
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
