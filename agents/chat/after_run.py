"""What a message does to a run that is over: commands concern its report, questions are answered out of it.

What is known already: a question is answered at once from the knowledge base alone, with citations; no run is begun.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta

from agents.chat.commands import Command, Edit, Part, Wish, patterns
from agents.chat.drafting_talk import Drafting
from agents.chat.state import Button, Say, Started
from agents.chat.texts import minutes_and_seconds
from agents.contracts.fact import REUSABLE, Remembered, Selection
from agents.contracts.frozen import Frozen, QueryType
from agents.contracts.report import Quote, Reference, ReportDocument, ReportSentence
from agents.core.paths import public
from agents.jobs.job import Job
from agents.memory.knowledge import KnowledgeStore, forget_with, in_time
from agents.nlp.tokens import content_words
from agents.offline.questions import Question, parts_of
from agents.report.escaping import link
from agents.report.references import reference_of
from agents.research.reading.answering import answers
from agents.research.scoping.follow_up import ENOUGH
from agents.research.scoping.turn import checked

_MOMENT = timedelta(seconds=20)  # how long after its end a sentence may still have been meant for the run
_MAX_SUMMED = 12  # sentences of a report that are given for a summary, at most
_NUMBER = re.compile(r"(?<!\\)\[(\d+)\](?!\()")
PAGE = "/memory"
ASKED_S = 3.0  # seconds that the knowledge base may take for a person; a run waits for less
MOST, RAISED = 24, 3
LISTED = 6  # facts that are listed of a topic


class Afterwards(Drafting):
    """The run of a chat that has ended: commands concern its report, never a new draft."""

    async def ended(self) -> Job | None:
        """The last run of this chat; None where nothing is known of it any more."""
        return await self.team.jobs.find(self.state.job_id, self.owner)

    async def over(self, text: str, command: Command, document: ReportDocument | None) -> None:
        """Answer a command that concerns a run that is over."""
        match command:
            case Part(op="retry"):
                await self.say("restart_offer")
            case Part():
                raise self.no("over", next=self.words("over_next_report"))
            case Edit():
                label = self.words("button_draft_again", edit=" ".join(text.split()))
                await self.say("over_edit", Button(label, label))
            case Wish():
                await self._wish_of_report(command, document)

    async def _wish_of_report(self, wish: Wish, document: ReportDocument | None) -> None:
        words, job = self.words, await self.ended()
        match wish.name:
            case "restart" | "rework" | "finish" if document is None or wish.name != "finish":
                if job is None or job.commission.contract is None:
                    raise self.no("run_gone")
                again = await self.team.jobs.order(job, "rework" if wish.name == "rework" else "restart")
                if wish.name == "finish":
                    # Where no report was written: from what had been found, without another search.
                    self.team.jobs.steer(again, "finish")
                await self.show(Started(again, job.commission.contract))
            case "release":
                if job is None or not self.team.jobs.release(job):
                    raise self.no("not_held")
                await self.say("released")
            case "forget" if not wish.topic:
                await self.say(
                    "forget_ask", *[Button(words(name), words(name)) for name in ("button_forget", "button_keep")]
                )
            case "forget":
                gone = await forget_with(self.team.memory, self.memory_of, jobs=(self.state.job_id,))
                await self.say("forgotten", things=words.counted(gone, "thing"))
            case "summarise":
                await self.show(Say(self._summary(document, wish.topic) if document else words("nothing_to_summarise")))
            case "how_long" | "cost" | "sources" | "progress" | "refresh" | "show" if document is not None:
                actual, sources = document.methodology.actual, words.counted(len(document.references), "source")
                seconds = minutes_and_seconds(actual.seconds or 0.0)
                await self.say("took", seconds=seconds, sources=sources, money=words.money(actual.cost_usd))
            case _:
                broken = job.status if job and job.status in {"cancelled", "failed"} else ""
                resumes = bool(broken) or wish.name in {"resume", "continue"}
                follows = words("over_next_restart" if resumes else "over_next_report")
                await self.wished(wish, words(f"over_{broken}" if broken else "over", next=follows))

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
        return public(f"/research/jobs/{self.state.job_id}/quote/{fact_id}#quote")

    async def just_now(self) -> bool:
        """Tell whether the run ended a moment ago."""
        job = await self.ended()
        if job is None or not job.run.events:
            return False
        ended = datetime.fromisoformat(job.created) + timedelta(seconds=job.run.events[-1].seconds)
        return datetime.now(UTC) - ended < _MOMENT

    async def from_report(self, document: ReportDocument, question: str) -> str:
        """Answer a question out of the report, as Markdown whose citations open their quotes; empty where it holds no answer."""
        answer = await self.team.follow_up(document, question)
        text = linked(answer.markdown, document.references, answer.facts, self._quote)
        return f"{text}\n\n{self.words('from_report')}" if answer.enough else ""

    # ---- what is known already

    async def recall(self, question: str) -> None:
        """Answer a question from the knowledge base; without one, say what there is."""
        store = self.team.memory
        if store is None:
            raise self.no("known_off")
        if not question:
            return await self._what_there_is(store)
        where = Selection(kinds=("fact",), verdicts=tuple(REUSABLE))
        found = await in_time(store.search(self.memory_of, checked(question), where, MOST), ASKED_S)
        research = Button(self.words("button_research"), f"/research {question}")
        await self.show(Say(await self._known(question, found), (research,)))

    async def _what_there_is(self, store: KnowledgeStore) -> None:
        facts = (await in_time(store.stats(self.memory_of), ASKED_S)).by_kind.get("fact", 0)
        nothing = "" if facts else f" {self.words('known_samples')}"
        said = self.words("known_all", facts=self.words.counted(facts, "fact"), page=public(PAGE)) + nothing
        raised = await in_time(store.search(self.memory_of, "", Selection(kinds=("question",)), RAISED), ASKED_S)
        open_ones = tuple(Button(one.text, f"/research {one.text}") for one in raised)
        await self.show(Say(f"{said} {self.words('known_raised')}" if open_ones else said, open_ones))

    async def _known(self, question: str, found: tuple[Remembered, ...]) -> str:
        items = {item.fact.id: item for item in found if item.fact and item.source}
        if not question.endswith("?") and all(part.kind == "other" for part in parts_of(question)):
            # A topic, not a question: what is known of it is listed.
            items = {fact: item for fact, item in items.items() if _shared(question, item) >= ENOUGH}
            items = dict(list(items.items())[:LISTED])
            markdown = "\n".join(f"- {item.text} [{number}]" for number, item in enumerate(items.values(), start=1))
            facts, references = tuple(items), _references([[item] for item in items.values()])
        else:
            by_source: dict[str, list[Remembered]] = {}
            for item in items.values():
                by_source.setdefault(item.source.url if item.source else "", []).append(item)
            references = _references(by_source.values())
            answer = await self.team.follow_up(Known(references=references, language=self.words.language), question)
            markdown, facts = answer.markdown, answer.facts
        if not facts:
            samples = f" {self.words('known_samples')}" if self.team.sample else ""
            return self.words("known_nothing", question=question) + samples
        used = [items[fact] for fact in facts]
        text = linked(markdown, references, facts, lambda fact: place_of(items[fact]))
        open_parts = "; ".join(part.text.rstrip("?") for part in parts_of(question) if not _answered(part, used))
        missing = " " + self.words("known_missing", parts=open_parts) if open_parts else ""
        since = min(item.since[:10] for item in used)
        return f"{text}\n\n{self.words('known_from', since=since, page=public(PAGE))}{missing}"


class Known(Frozen):
    """What an answer may rest on, as a report offers it."""

    references: tuple[Reference, ...]
    language: str
    question: str = ""
    query_type: QueryType = "other"


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


def place_of(item: Remembered) -> str:
    """Give the address at which the words of a known fact open in their context."""
    return public(f"{PAGE}/quote/{item.id}#quote")


def _references(groups: Iterable[list[Remembered]]) -> tuple[Reference, ...]:
    """Number groups of facts of one source each, with the words that they were read for."""
    listed = []
    for number, group in enumerate(groups, start=1):
        facts = [item.fact for item in group if item.fact]
        quotes = tuple(Quote(text=one.quote, start=one.start, end=one.end, fact_id=one.id) for one in facts)
        if card := group[0].source:
            listed.append(reference_of(card, number, quotes))
    return tuple(listed)


def _shared(text: str, item: Remembered) -> float:
    """Give the share of a text's telling words that a fact or the title of its source holds."""
    wanted = set(content_words(text))
    held = set(content_words(f"{item.text} {item.source.title if item.source else ''}"))
    return len(wanted & held) / len(wanted) if wanted else 0.0


def _answered(part: Question, used: list[Remembered]) -> bool:
    """Tell whether anything used speaks to a part of a question."""
    return any(
        _shared(part.text, one) >= ENOUGH
        or (one.fact and one.source and answers(part, one.fact.quote, one.source.title, one.source.head))
        for one in used
    )
