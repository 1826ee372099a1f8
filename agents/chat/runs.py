"""What a message does to a run. While it goes it is steered, narrowed, guided or asked after; nothing widens it here.

Once it is over, commands concern its report, and questions are answered out of it. What is known already is answered at
once from the knowledge base alone, with citations; no run is begun.
"""

import math
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import NoReturn

from agents.api.reports import linker
from agents.api.tree import ROOT, STAGES, TreeView, live_tree, steer
from agents.chat.commands import Command, Edit, Part, Wish, asks_for_progress, patterns
from agents.chat.drafting_talk import Drafting
from agents.chat.preferences import limits_words
from agents.chat.state import Button, Say, Started
from agents.chat.texts import ChatTexts, cut, minutes_and_seconds
from agents.contracts.contract import Narrowing
from agents.contracts.fact import REUSABLE, Remembered, Selection
from agents.contracts.frozen import Frozen, QueryType, Said
from agents.contracts.report import Quote, Reference, ReportDocument, ReportSentence
from agents.contracts.sources import SourceLimits
from agents.core.events import Noted
from agents.core.paths import public
from agents.jobs.changes import DELIVERED, GUIDANCE, reach_of
from agents.jobs.job import Job
from agents.memory.knowledge import KnowledgeStore, forget_with, in_time
from agents.nlp.tokens import content_words
from agents.offline.questions import Question, parts_of
from agents.report.escaping import link
from agents.report.references import Linker, reference_of
from agents.research.reading import answering
from agents.research.scoping.authorization import ResearchCommand
from agents.research.scoping.follow_up import ENOUGH
from agents.research.scoping.turn import checked
from agents.research.steering import bound_by, together
from agents.search.scope_filter import in_both

_GUIDANCE = 120  # characters of guidance that are said back
_MOMENT = timedelta(seconds=20)  # how long after its end a sentence may still have been meant for the run
_MAX_SUMMED = 12  # sentences of a report that are given for a summary, at most
_NUMBER = re.compile(r"(?<!\\)\[(\d+)\](?!\()")
PAGE = "/memory"
ASKED_S = 3.0  # seconds that the knowledge base may take for a person; a run waits for less
MOST, RAISED = 24, 3
LISTED = 6  # facts that are listed of a topic


def progress_line(job: Job, words: ChatTexts) -> str:
    """Say how a run is going: parts, sources, money, and what it does or waits for now."""
    view = live_tree(job)
    leaves, spent = view.leaves, words.money(view.usage.cost_usd)
    # The server tells in English what is done now; elsewhere the stage has to do.
    now = view.now if words.language == "en" else words.said(STAGES[view.stage])
    if view.status == "blocked":
        now = words.said(view.note)
    elif job.run.steering.finishing(ROOT):
        now = words("writing_now")
    if not leaves:
        return f"{now} {words('so_far', clock=minutes_and_seconds(view.seconds), money=spent)}".strip()
    delivered = sum(1 for leaf in leaves if leaf.state in DELIVERED)
    empty = words("empty_pages", empty=view.usage.empty, pages=view.usage.pages) if view.usage.empty else ""
    parts, sources = words.counted(len(leaves), "part"), words.counted(view.usage.sources, "source")
    return f"{words('delivered', delivered=delivered, parts=parts, sources=sources, empty=empty, money=spent)} {now}"


def broken_line(view: TreeView, words: ChatTexts) -> str:
    """Say that a run was stopped or failed, what it leaves behind, and what can be done."""
    clock, why = minutes_and_seconds(view.seconds), words.said(view.note)
    begun = words("run_failed", clock=clock, why=why) if view.ending == "failed" else words("stopped_at", clock=clock)
    found = words.counted(view.usage.sources, "kept") if view.kept else words("nothing_read")
    left = words("no_report", left=found) if view.grade is None else words("earlier_stays")  # it was taken up again
    return " ".join((begun, left, words("over_next_restart"), *([words("over_next_finish")] if view.kept else ())))


class RunTalk(Drafting):
    """What its user may say to a run, and of one that has ended: then commands concern its report, never a new draft."""

    # ---- while it goes

    async def on_run(self, job: Job, text: str, command: Command | None) -> None:
        """Answer one message."""
        match command:
            case ResearchCommand():
                raise self.no("new_question_running")
            case Wish():
                await self._wish_of_run(job, command)
            case Part(loose=False):
                await self._part_of_run(job, command)
            case Edit(drop=(number, *_)):
                await self._part_of_run(job, Part(op="drop", number=str(number)))
            case Edit():
                await self._narrow(job, command)
            case _ if asks_for_progress(checked(text)):
                ahead = await self.team.jobs.position(job)
                waits = self.words("runs_ahead", ahead=ahead) if ahead else ""
                await self.say("as_it_goes", progress=f"{progress_line(job, self.words)} {waits}".strip())
            case _:
                await self._guide(job, " ".join(checked(text).split()).rstrip("."))

    async def _wish_of_run(self, job: Job, wish: Wish) -> None:
        jobs = self.team.jobs
        match wish.name:
            case "stop" | "cancel":
                # How it ended is shown when it has.
                jobs.stop(job)
            case "finish":
                jobs.steer(job, "finish")
                await self.say("finishing", sources=self.words.counted(live_tree(job).usage.sources, "source"))
            case "pause":
                await jobs.order(job, "pause")
                await self.say("pausing")
            case "resume" | "continue" | "begin" if job.status == "blocked":
                await jobs.order(job, "resume")
                await self.say("resumed")
            case "undo" | "shorter" | "change" | "rework" | "draft_again":
                self._wider("wider_parts")
            case _:
                await self.wished(wish, progress_line(job, self.words))

    async def _part_of_run(self, job: Job, order: Part) -> None:
        names = {"finish": "part_finishes", "retry": "part_again", "drop": "part_dropped", "stop": "part_stopped"}
        if order.op not in {"finish", "stop", "drop", "retry"} or not order.number:
            self._wider("wider_parts")
        words, known = self.words, {row.n: row for row in live_tree(job).nodes if row.n}
        if (row := known.get(order.number)) is None:
            raise self.no("no_part_here", number=order.number, known=", ".join(known))
        change, shown = steer(self.team.jobs, job, row, order.op), {"number": row.n, "title": row.title}
        if change is None:
            already = "part_not_failed" if order.op == "retry" else "part_is_already"
            raise self.no(already, **shown, state=words(f"is_{row.state}"))
        found = {"facts": words.counted(row.facts, "fact"), "sources": words.counted(row.sources, "source")}
        clock = minutes_and_seconds(change.seconds)
        await self.say(names[order.op], **shown, **found, change=change.number, clock=clock)

    # ---- the contract, after it was bound

    def _wider(self, why: str, **values: object) -> NoReturn:
        raise self.no("wider", why=self.words(why, **values))

    async def _narrow(self, job: Job, edit: Edit) -> None:
        run, words = job.run, self.words
        if job.contract is None:
            self._wider("wider_planning")
        brief, old = job.contract.brief, together(bound_by(job.contract.brief), run.steering.limits)
        seconds = edit.minutes * 60 if edit.time_given and edit.minutes is not None else None
        new = Narrowing(**edit.model_dump(include=set(SourceLimits.model_fields)), seconds=seconds)
        bound = None if old.seconds is None else old.seconds / 60
        wanted = {"wanted": words.minutes(edit.minutes), "bound": words.minutes(bound)}
        for beyond, why, values in (
            (edit.mode not in {None, brief.mode}, "wider_depth", {}),
            (edit.language not in {None, brief.language}, "wider_language",
             {"language": words.language_name(edit.language or "")}),
            (edit.time_given and (seconds is None or seconds > (old.seconds or math.inf)), "wider_time", wanted),
            (edit.drop_files or edit.places is not None or edit.memory is not None, "wider_places", {}),
            (edit.lift or edit.all_domains or edit.any_date, "wider_more", {}),
            (any(not in_both(old.domains, (name,)) for name in new.domains), "wider_domains", {}),
            ((new.date_from or "9") < (old.date_from or "") or (new.date_to or "") > (old.date_to or "9"),
             "wider_years", {}),
        ):  # fmt: skip
            if beyond:
                self._wider(why, **values)
        said = limits_words(edit, words)
        said += [words("in_all", time=words.minutes(edit.minutes))] if edit.time_given else []
        change = self.team.jobs.narrow(job, new, "; ".join(said) or words("as_authorized"))
        ends = run.steering.began_s + (change.limits.seconds or 0.0) - run.reserve_s
        name = "narrowed_holds" if not edit.time_given else "narrowed_now" if ends <= run.now() else "narrowed_until"
        effect = words(name, clock=minutes_and_seconds(ends))
        await self.say("narrowed", change=change.number, words=change.words, effect=effect)

    # ---- guidance

    async def _guide(self, job: Job, said: str) -> None:
        told, applies = cut(said, _GUIDANCE), self._applies(job)
        change = self.team.jobs.guide(job, said)
        text = Said("Your note “{words}”. {applies}", words=told, applies=applies)
        job.run.emit(f"job#guidance:{change.number}", Noted(text=text, tag=GUIDANCE))
        await self.say("guidance", change=change.number, words=told, applies=applies)

    def _applies(self, job: Job) -> str:
        """Say what it still reaches, or honestly that everything is written."""
        words, contract = self.words, job.contract
        if not self.team.engine.reasons:
            return words("guidance_offline")
        reach = reach_of(job.run.events, rounds=contract.caps.rounds if contract else None)
        if not reach.summary:
            return words("guidance_late")
        said = [words("guidance_branches", branches=reach.branches)] if reach.branches else []
        said += [words("guidance_round", round=reach.round)] if reach.round is not None else []
        return " ".join((*said, words("guidance_summary")))

    # ---- when it is over

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
            case "restart" | "rework" | "finish" if wish.name != "finish" or job is None or job.status != "done":
                if job is None or job.commission.contract is None:
                    raise self.no("run_gone")
                again = await self.team.jobs.order(job, "rework" if wish.name == "rework" else "restart")
                if wish.name == "finish":
                    # Where the run came to no end: from what had been found, without another search.
                    self.team.jobs.steer(again, "finish")
                await self.show(Started(again, job.commission.contract))
            case "release":
                if job is None or not self.team.jobs.release(job):
                    raise self.no("not_held")
                await self.say("released")
            case "forget" if not wish.topic:
                answers = (Button(words(name), words(name)) for name in ("button_forget", "button_keep"))
                await self.say("forget_ask", *answers)
            case "forget":
                gone = await forget_with(self.team.memory, self.memory_of, jobs=(self.state.job_id,))
                await self.say("forgotten", things=words.counted(gone, "thing"))
            case "summarise":
                await self.show(Say(self._summary(document, wish.topic) if document else words("nothing_to_summarise")))
            case "how_long" | "cost" | "sources" | "progress" | "refresh" | "show" if document is not None:
                actual, read = document.methodology.actual, document.methodology.sources_read
                seconds = minutes_and_seconds(actual.seconds or 0.0)
                sources, money = words.counted(read, "source"), words.money(actual.cost_usd)
                await self.say("took", seconds=seconds, sources=sources, money=money)
            case _:
                broken = job.status if job and job.status in {"cancelled", "failed"} else ""
                resumes = bool(broken) or wish.name in {"resume", "continue"}
                follows = words("over_next_restart" if resumes else "over_next_report")
                await self.wished(wish, words(f"over_{broken}" if broken else "over", next=follows))

    def _summary(self, document: ReportDocument, wanted: str) -> str:
        count = int(wanted) if wanted.isdecimal() else patterns().numbers.get(wanted, 3)
        distinct: dict[str, ReportSentence] = {}
        for sentence in document.sentences:
            if sentence.citations and sentence.verdict not in {"unsupported", "contradicted"}:
                distinct.setdefault(sentence.text.strip(), sentence)
        stated = list(distinct.values())[: max(1, min(count, _MAX_SUMMED))]
        text = " ".join(one.text.strip() + "".join(f"[{n}]" for n in one.citations) for one in stated)
        facts = tuple(fact for one in stated for fact in one.facts)
        text = linked(text, document.references, facts, linker(self.state.job_id))
        return f"{text}\n\n{self.words('summary_from_report')}"

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
        text = linked(answer.markdown, document.references, answer.facts, linker(self.state.job_id))
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
        text = linked(markdown, references, facts, lambda _, quote: place_of(items[quote.fact_id]))
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


def linked(markdown: str, references: Sequence[Reference], facts: tuple[str, ...], opens_at: Linker) -> str:
    """Make each citation open the first of these facts that its source has."""
    opens: dict[str, str] = {}
    for reference in references:
        for quote in reference.quotes:
            if quote.fact_id in facts:
                opens.setdefault(str(reference.n), opens_at(reference, quote))
    return _NUMBER.sub(lambda one: link(rf"\[{one[1]}\]", opens[one[1]]) if one[1] in opens else one[0], markdown)


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
        or (one.fact and one.source and answering.answers(part, one.fact.quote, one.source.title, one.source.head))
        for one in used
    )
