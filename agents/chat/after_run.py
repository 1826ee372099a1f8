"""What a message does to a run that is over: commands concern its report, questions are answered out of it.

What is known already: a question is answered at once from the knowledge base alone, with citations; no run is begun.
"""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from agents.chat.answers import short
from agents.chat.commands import Command, Edit, Part, Wish, patterns
from agents.chat.state import Ask, Button, Effect, Refuse, Say, Started
from agents.chat.texts import ChatTexts, minutes_and_seconds
from agents.contracts.contract import Contract
from agents.contracts.fact import REUSABLE, Remembered, Selection
from agents.contracts.frozen import Frozen, QueryType
from agents.contracts.report import Quote, Reference, ReportDocument, ReportSentence
from agents.core.paths import public
from agents.memory.knowledge import LOCAL_OWNER, MemoryDown, forget_with, in_time
from agents.nlp.tokens import content_words
from agents.report.escaping import link
from agents.report.references import reference_of
from agents.research.reading.answering import answers
from agents.research.reading.subject import parts_of
from agents.research.scoping.follow_up import ENOUGH
from agents.research.scoping.turn import checked
from agents.team import Team

_MOMENT = timedelta(seconds=20)
"""How long after its end a sentence may still have been meant for the run."""
_MAX_SUMMED = 12
"""Sentences of a report that are given for a summary, at most."""
_NUMBER = re.compile(r"(?<!\\)\[(\d+)\](?!\()")


class Over:
    """A run that has ended: commands concern its report, never a new draft."""

    def __init__(self, team: Team, job_id: str, owner: str, words: ChatTexts) -> None:
        self.team, self.job_id, self.owner, self.words = team, job_id, owner, words

    async def hear(self, text: str, command: Command) -> Effect | None:
        """Answer a command; None where it is none that concerns a run that is over."""
        match command:
            case Part(op="retry"):
                return Say(self.words("restart_offer"))
            case Part(loose=False):
                return Refuse(self.words("over", next=self.words("over_next_report")))
            case Edit():
                label = self.words("button_draft_again", edit=" ".join(text.split()))
                return Ask(self.words("over_edit"), (Button(label, label),))
            case Wish():
                return await self._wish(command)
            case _:
                return None

    async def _wish(self, wish: Wish) -> Effect:
        words = self.words
        match wish.name:
            case "restart" | "rework":
                return await self._taken_up(wish.name)
            case "release":
                job = await self.team.jobs.find(self.job_id, self.owner)
                released = job is not None and self.team.jobs.release(job)
                return Say(words("released")) if released else Refuse(words("not_held"))
            case "forget" if not wish.topic:
                label = words("button_forget")
                return Ask(words("forget_ask"), (Button(label, label),))
            case "forget":
                gone = await forget_with(self.team.memory, self.owner or LOCAL_OWNER, jobs=(self.job_id,))
                return Say(words("forgotten", things=words.counted(gone, "thing")))
            case "summarise":
                document = await self.team.blobs.report(self.job_id)
                return Say(self._summary(document, wish.topic) if document else words("nothing_to_summarise"))
            case "how_long" | "cost" | "sources" | "progress" | "refresh" | "show" if (
                document := await self.team.blobs.report(self.job_id)
            ) is not None:
                actual, sources = document.methodology.actual, words.counted(len(document.references), "source")
                seconds = minutes_and_seconds(actual.seconds or 0.0)
                return Say(words("took", seconds=seconds, sources=sources, money=words.money(actual.cost_usd)))
            case _:
                return short(wish, "report", self.team, words, await self._standing(wish.name))

    async def _standing(self, wish: str) -> str:
        """Say that it is over, and what can be done."""
        job = await self.team.jobs.find(self.job_id, self.owner)
        again, status = self.words("over_next_restart"), job.status if job is not None else "done"
        if status in {"cancelled", "failed"}:
            return self.words(f"over_{status}", next=again)
        return self.words("over", next=again if wish in {"resume", "continue"} else self.words("over_next_report"))

    def _summary(self, document: ReportDocument, wanted: str) -> str:
        count = int(wanted) if wanted.isdecimal() else patterns().numbers.get(wanted, 3)
        distinct: dict[str, ReportSentence] = {}
        for sentence in document.sentences:
            if sentence.citations:
                distinct.setdefault(sentence.text.strip(), sentence)
        stated = list(distinct.values())[: max(1, min(count, _MAX_SUMMED))]
        text = " ".join(one.text.strip() + "".join(f"[{n}]" for n in one.citations) for one in stated)
        facts = tuple(fact for one in stated for fact in one.facts)
        text = linked(text, document.references, facts, self._quote)
        return f"{text}\n\n{self.words('summary_from_report')}"

    def _quote(self, fact_id: str) -> str:
        return public(f"/research/jobs/{self.job_id}/quote/{fact_id}#quote")

    async def _taken_up(self, wish: str) -> Effect:
        """Take it up again under the contract that was authorized.

        Raises:
            BadRequest: it is at work, or somebody else was quicker.
        """
        jobs = self.team.jobs
        job = await jobs.find(self.job_id, self.owner)
        if job is None or job.commission.contract is None:
            return Refuse(self.words("run_gone"))
        again = await (jobs.restart(job) if wish == "restart" else jobs.rework(job))
        return Started(again, job.commission.contract)

    async def just_now(self) -> bool:
        """Tell whether the run ended a moment ago."""
        job = await self.team.jobs.find(self.job_id, self.owner)
        if job is None or not job.run.events:
            return False
        ended = datetime.fromisoformat(job.created) + timedelta(seconds=job.run.events[-1].seconds)
        return datetime.now(UTC) - ended < _MOMENT

    async def contract(self) -> Contract | None:
        """What was authorized; None where nothing is known of the run any more."""
        job = await self.team.jobs.find(self.job_id, self.owner)
        return job.commission.contract if job is not None else None

    async def from_report(self, document: ReportDocument, question: str) -> str:
        """Answer a question out of the report, as Markdown; empty where it holds no answer.

        Every citation opens the quote that carries its sentence.

        Raises:
            BadRequest: the question is empty or far too long.
        """
        answer = await self.team.follow_up(document, question)
        text = linked(answer.markdown, document.references, answer.facts, self._quote)
        return f"{text}\n\n{self.words('from_report')}" if answer.enough else ""


def linked(
    markdown: str, references: Sequence[Reference], facts: tuple[str, ...], opens_at: Callable[[str], str]
) -> str:
    """Make each citation open the quote behind it: `opens_at` gives the address for the id of a fact."""
    opens: dict[int, str] = {}
    for reference in references:
        for quote in reference.quotes:
            if quote.fact_id in facts:
                opens.setdefault(reference.n, quote.fact_id)

    def one(match: re.Match[str]) -> str:
        fact = opens.get(int(match[1]))
        return match[0] if fact is None else link(rf"\[{match[1]}\]", opens_at(fact))

    return _NUMBER.sub(one, markdown)


PAGE = "/memory"
ASKED_S = 3.0
"""Seconds that the knowledge base may take for a person; a run waits for less."""
MOST, RAISED = 24, 3
LISTED = 6
"""Facts that are listed of a topic."""


class Known(Frozen):
    """What an answer may rest on, as a report offers it."""

    references: tuple[Reference, ...]
    language: str
    question: str = ""
    query_type: QueryType = "other"


class Recalling:
    """One user's knowledge base, asked in the chat."""

    def __init__(self, team: Team, owner: str, words: ChatTexts) -> None:
        self.team, self.owner, self.words = team, owner or LOCAL_OWNER, words

    async def hear(self, question: str) -> Effect:
        """Answer a question; without one, say what there is.

        Raises:
            BadRequest: the question is far too long.
        """
        store = self.team.memory
        if store is None:
            return Refuse(self.words("known_off"))
        try:
            if not question:
                facts = (await in_time(store.stats(self.owner), ASKED_S)).by_kind.get("fact", 0)
                said = self.words("known_all", facts=self.words.counted(facts, "fact"), page=public(PAGE))
                raised = await in_time(store.search(self.owner, "", Selection(kinds=("question",)), RAISED), ASKED_S)
                open_ones = tuple(Button(one.text, f"/research {one.text}") for one in raised)
                return Ask(f"{said} {self.words('known_raised')}", open_ones) if open_ones else Say(said)
            where = Selection(kinds=("fact",), verdicts=tuple(REUSABLE))
            found = await in_time(store.search(self.owner, checked(question), where, MOST), ASKED_S)
        except MemoryDown as error:
            return Refuse(self.words.notice(error))
        research = Button(self.words("button_research"), f"/research {question}")
        return Ask(await self._answer(question, found), (research,))

    async def _answer(self, question: str, found: tuple[Remembered, ...]) -> str:
        items = {item.fact.id: item for item in found if item.fact and item.source}
        if not question.endswith("?") and all(part.kind == "other" for part in parts_of(question)):
            # A topic, not a question: what is known of it is listed.
            items = {fact: item for fact, item in items.items() if _shared(question, item) >= ENOUGH}
            items = dict(list(items.items())[:LISTED])
            markdown = "\n".join(f"- {item.text} [{number}]" for number, item in enumerate(items.values(), start=1))
            facts = tuple(items)
            references = _references(items, each=True)
        else:
            known = Known(references=_references(items), language=self.words.language)
            answer = await self.team.follow_up(known, question)
            markdown, facts, references = answer.markdown, answer.facts, known.references
        if not facts:
            return self.words("known_nothing", question=question)
        used = [items[fact] for fact in facts]
        text = linked(markdown, references, facts, lambda fact: place_of(items[fact]))
        open_parts = "; ".join(part.rstrip("?") for part in _unanswered(question, used))
        missing = " " + self.words("known_missing", parts=open_parts) if open_parts else ""
        since = min(item.since[:10] for item in used)
        return f"{text}\n\n{self.words('known_from', since=since, page=public(PAGE))}{missing}"


def place_of(item: Remembered) -> str:
    """Give the address at which the words of a known fact open in their context."""
    return public(f"{PAGE}/quote/{item.id}#quote")


def _references(items: dict[str, Remembered], *, each: bool = False) -> tuple[Reference, ...]:
    """List the sources of facts, each with the words it was read for; or each fact with a number of its own."""
    by_source: dict[str, list[Remembered]] = {}
    for item in items.values():
        if item.source:
            by_source.setdefault(item.id if each else item.source.url, []).append(item)
    listed = []
    for number, of_source in enumerate(by_source.values(), start=1):
        quotes = tuple(
            Quote(text=one.fact.quote, start=one.fact.start, end=one.fact.end, fact_id=one.fact.id)
            for one in of_source
            if one.fact
        )
        if card := of_source[0].source:
            listed.append(reference_of(card, number, quotes))
    return tuple(listed)


def _shared(text: str, item: Remembered) -> float:
    """Give the share of a text's telling words that a fact or the title of its source holds."""
    wanted = set(content_words(text))
    held = set(content_words(f"{item.text} {item.source.title if item.source else ''}"))
    return len(wanted & held) / len(wanted) if wanted else 0.0


def _unanswered(question: str, used: list[Remembered]) -> list[str]:
    """Name the parts of a question that nothing used speaks to."""
    return [
        part.text
        for part in parts_of(question)
        if not any(_shared(part.text, one) >= ENOUGH for one in used)
        and not any(
            answers(part, one.fact.quote, one.source.title, one.source.head) for one in used if one.fact and one.source
        )
    ]
