"""What a message does to a run that is over: commands concern its report, questions are answered out of it.

How a run ended, shown in its chat: kept once, sent to every open tab, and found again after a restart.
"""

import asyncio
import contextvars
import logging
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from chainlit.context import init_http_context
from chainlit.element import CustomElement
from chainlit.utils import utc_now

from agents.api.reports import chat_markdown, live_tree
from agents.chat import cards
from agents.chat.commands import Command, Part, Wish, WishName
from agents.chat.history import History
from agents.chat.limits import Edit
from agents.chat.renderer import tabs, uid, who
from agents.chat.runs import explained, stopped_line
from agents.chat.state import Ask, Button, Effect, Refuse, Say, Started
from agents.chat.texts import ChatTexts, counted, minutes_and_seconds, money
from agents.contracts.contract import Contract
from agents.contracts.report import OVER, ReportDocument, ReportSentence
from agents.core.errors import DossierError
from agents.jobs.live_job import Job
from agents.jobs.runtime import JobRuntime
from agents.report.escaping import link
from agents.team import Team

_MAX_SUMMED = 12
"""Sentences of a report that are given for a summary, at most."""
_NUMBER = re.compile(r"(?<!\\)\[(\d+)\](?!\()")
_COUNTS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "einem": 1, "zwei": 2, "drei": 3, "vier": 4,
           "fünf": 5, "deux": 2, "trois": 3, "dos": 2, "tres": 3}  # fmt: skip


class Over:
    """A run that has ended: commands concern its report, never a new draft."""

    def __init__(self, team: Team, job_id: str, owner: str, words: ChatTexts) -> None:
        self.team, self.job_id, self.owner, self.words = team, job_id, owner, words

    async def hear(self, text: str, command: Command) -> AsyncIterator[Effect]:
        """Answer a command; nothing where it is none that concerns a run that is over."""
        match command:
            case Part(op="retry"):
                yield Say(self.words("restart_offer"))
            case Part(loose=False):
                yield Refuse(self.words("over", next=self.words("over_next_report")))
            case Edit():
                label = self.words("button_draft_again", edit=" ".join(text.split()))
                yield Ask(self.words("over_edit"), (Button(label, label),))
            case Wish():
                async for effect in self._wish(command):
                    yield effect
            case _:
                return

    async def _wish(self, wish: Wish) -> AsyncIterator[Effect]:
        words = self.words
        match wish.name:
            case "restart" | "rework":
                yield await self._taken_up(wish.name)
            case "release":
                job = await self.team.jobs.find(self.job_id, self.owner)
                released = job is not None and self.team.jobs.release(job)
                yield Say(words("released")) if released else Refuse(words("not_held"))
            case "thanks" | "agree" | "hello" | "wait":
                yield Say(words("thanks_report"))
            case "term":
                yield Say(explained(words, wish.topic))
            case "help":
                yield Say(words("help"))
            case "next" | "new_question" | "change":
                yield Say(words("next_report"))
            case "summarise":
                document = await self.team.blobs.report(self.job_id)
                yield Say(self._summary(document, wish.topic) if document else words("nothing_to_summarise"))
            case "how_long" | "cost" | "sources" | "progress" | "refresh" | "show":
                document = await self.team.blobs.report(self.job_id)
                yield Say(await self._standing(wish.name) if document is None else self._took(document))
            case _:
                yield Say(await self._standing(wish.name))

    async def _standing(self, wish: WishName) -> str:
        """Say that it is over, and what can be done."""
        words = self.words
        job = await self.team.jobs.find(self.job_id, self.owner)
        status = job.status if job is not None else "done"
        again = words("over_next_restart")
        if status == "cancelled":
            return words("over_cancelled", next=again)
        if status == "failed":
            return words("over_failed", next=again)
        return words("over", next=again if wish in {"resume", "continue"} else words("over_next_report"))

    def _took(self, document: ReportDocument) -> str:
        actual = document.methodology.actual
        sources = counted(len(document.references), "source")
        seconds = minutes_and_seconds(actual.seconds or 0.0)
        return self.words("took", seconds=seconds, sources=sources, money=money(actual.cost_usd))

    def _summary(self, document: ReportDocument, wanted: str) -> str:
        count = int(wanted) if wanted.isdecimal() else _COUNTS.get(wanted, 3)
        distinct: dict[str, ReportSentence] = {}
        for sentence in document.sentences:
            if sentence.citations:
                distinct.setdefault(sentence.text.strip(), sentence)
        stated = list(distinct.values())[: max(1, min(count, _MAX_SUMMED))]
        text = " ".join(one.text.strip() + "".join(f"[{n}]" for n in one.citations) for one in stated)
        facts = tuple(fact for one in stated for fact in one.facts)
        return f"{linked(text, document, facts)}\n\n{self.words('summary_from_report')}"

    async def _taken_up(self, wish: WishName) -> Effect:
        """Take it up again under the contract that was authorized.

        Raises:
            BadRequest: it is at work, or somebody else was quicker.
        """
        jobs = self.team.jobs
        job = await jobs.find(self.job_id, self.owner)
        if not jobs.durable:
            return Refuse(self.words("not_kept"))
        if job is None or job.commission.contract is None:
            return Refuse(self.words("run_gone"))
        again = await (jobs.restart(job) if wish == "restart" else jobs.rework(job))
        return Started(again, job.commission.contract)

    async def contract(self) -> Contract | None:
        """What was authorized; None where nothing is known of the run any more."""
        job = await self.team.jobs.find(self.job_id, self.owner)
        return job.commission.contract if job is not None else None

    async def from_report(self, question: str) -> str | None:
        """Answer a question out of the report, as Markdown; empty where it holds no answer, None without a report.

        Every citation opens the quote that carries its sentence.

        Raises:
            BadRequest: the question is empty or far too long.
        """
        document = await self.team.blobs.report(self.job_id)
        if document is None or not document.references:
            return None
        answer = await self.team.follow_up(document, question)
        text = linked(answer.markdown, document, answer.facts)
        return f"{text}\n\n{self.words('from_report')}" if answer.enough else ""


def linked(markdown: str, document: ReportDocument, facts: tuple[str, ...]) -> str:
    """Make each citation open the quote behind it."""
    opens: dict[int, str] = {}
    for reference in document.references:
        for quote in reference.quotes:
            if quote.fact_id in facts:
                opens.setdefault(reference.n, quote.fact_id)

    def one(match: re.Match[str]) -> str:
        fact = opens.get(int(match[1]))
        if fact is None:
            return match[0]
        return link(rf"\[{match[1]}\]", f"/research/jobs/{document.job_id}/quote/{fact}#quote")

    return _NUMBER.sub(one, markdown)


log = logging.getLogger(__name__)

OPENING_S = 1.0
"""Seconds after which a page that opens a chat has surely been sent it."""
ENDING_S = 20.0
"""Seconds that a stopped run gets to come to its end."""
Step = dict[str, Any]
"""A step as Chainlit sends and keeps it."""


@dataclass(frozen=True)
class ShownOutcome:
    """What an outcome puts into the chat."""

    steps: tuple[Step, ...]
    elements: tuple[Step, ...] = ()


class Outcomes:
    """Watches runs to their end and shows what came of them."""

    def __init__(self, jobs: JobRuntime, history: History) -> None:
        self.jobs, self.history = jobs, history
        self._watching: set[asyncio.Task[None]] = set()

    def watch(self, job: Job, thread_id: str, user: Any) -> None:
        """Follow a run; belongs to no session, as the run itself."""
        if job.thread_id != thread_id:
            self.jobs.attach(job, thread_id)
        task = asyncio.get_running_loop().create_task(
            self._watch(job, user), context=contextvars.Context(), name=f"watch-{job.id}"
        )
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

    async def show(self, job: Job, user: Any) -> ShownOutcome:
        """Keep the outcome in the history and send it to the open tabs; doing it again changes nothing."""
        shown = outcome(job, await self._report(job))
        # Chainlit's data layer asks the context whether a browser has spoken yet: here there is none.
        init_http_context(thread_id=job.thread_id, user=user)
        for step in shown.steps:
            await self.history.create_step(dict(step))
        for element in shown.elements:
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

    async def show_missing(self, thread_id: str, owner: str, user: Any, known: set[str]) -> ShownOutcome:
        """Show the outcomes of a chat that its history does not hold yet: the process ended in between."""
        steps: list[Step] = []
        elements: list[Step] = []
        for job in await self.jobs.in_thread(thread_id, owner):
            if job.over and _name(job, "report") not in known:
                shown = await self.show(job, user)
                steps += shown.steps
                elements += shown.elements
        return ShownOutcome(tuple(steps), tuple(elements))

    async def again(self, tab: Any, known: frozenset[str] = frozenset(), delay_s: float = 0.0) -> None:
        """Send the outcomes of a chat to one tab once more, but for messages that it has."""
        await asyncio.sleep(delay_s)
        for job in await self.jobs.in_thread(tab.thread_id, who(tab.user)):
            if job.over and _name(job, "report") not in known:
                await _send(tab, outcome(job, await self._report(job)))


async def _send(tab: Any, shown: ShownOutcome) -> None:
    """Send to one tab, elements first: a report's text must not be seen before the card that takes its place."""
    for element in shown.elements:
        await tab.emit("element", element)
    for step in shown.steps:
        await tab.emit("new_message", step)


def outcome(job: Job, document: ReportDocument | None) -> ShownOutcome:
    """Make the messages that show how a run ended."""
    now = utc_now()
    # Copying and rating are offered on the last message of a finished run only: hence a run around the report.
    run = _step(job, "run", "run", now, parent=None, name="on_message", output="")
    text = outcome_text(job, document)
    elements: tuple[Step, ...] = ()
    if document is not None:
        # The Markdown stays the message's text: for copying, for searching the history, and for when the element
        # fails. The page hides it while the element stands (see public/dossier.css).
        elements = (_report_element(job, document),)
    message = _step(job, "report", "assistant_message", now, parent=run["id"], name="Dossier", output=text)
    message["isError"] = job.status == "failed"
    return ShownOutcome((run, message), elements)


def outcome_text(job: Job, document: ReportDocument | None) -> str:
    """Say how a run ended: the report, or in one or two sentences why there is none."""
    if document is not None:
        text = f"{chat_markdown(document)}\n\n{cards.downloads(document)}\n\n{cards.grade_line(document)}"
        if job.blocked_reason != "needs_rework":
            return text
        return f"{text}\n\nThe judge sent this report back: {live_tree(job).note} Say *rework* or *release*."
    if job.status == "cancelled":
        return stopped_line(live_tree(job))
    if job.status == "done":
        return "The run ended, but its report can't be read from disk any more."
    return f"The run failed. {job.notice or DossierError.notice}"


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


def _report_element(job: Job, document: ReportDocument) -> Step:
    props = cards.ReportView(job_id=job.id, grade=document.grade, title=document.title)
    return {
        "id": _name(job, "report-element"),
        "threadId": job.thread_id,
        "type": "custom",
        "name": "ReportView",
        "display": "inline",
        "forId": _name(job, "report"),
        "mime": "application/json",
        "props": props.model_dump(mode="json"),
        # The browser wants one of url and key before it shows an element; it reads neither of a custom one.
        "chainlitKey": _name(job, "report-element"),
        "url": None,
    }
