"""What a message does to a run while it goes: it is steered, narrowed, guided or asked after. Nothing widens it here."""

import math
from typing import NoReturn

from agents.api.tree import ROOT, STAGES, TreeView, live_tree, steer
from agents.chat.commands import Command, Edit, Part, Wish, asks_for_progress
from agents.chat.drafting_talk import Talk
from agents.chat.preferences import limits_words
from agents.chat.texts import ChatTexts, cut, minutes_and_seconds
from agents.contracts.contract import Narrowing
from agents.contracts.frozen import Said
from agents.core.events import Noted
from agents.jobs.changes import DELIVERED, GUIDANCE, reach_of
from agents.jobs.job import Job
from agents.research.scoping.authorization import ResearchCommand
from agents.research.scoping.turn import checked
from agents.research.steering import bound_by, together
from agents.search.scope_filter import in_both

_GUIDANCE = 120  # characters of guidance that are said back


# ---- how it goes


_DOING = frozenset(("searching", "reading", "writing", "retrying"))


def progress_line(job: Job, words: ChatTexts) -> str:
    """Say how a run is going: parts, sources, money, and what it waits for longest."""
    view = live_tree(job)
    leaves, spent = view.leaves, words.money(view.usage.cost_usd)
    # The server tells in English what is done now; elsewhere the stage has to do.
    now = view.now if words.language == "en" else words.said(STAGES[view.stage]) if view.now else ""
    if not leaves:
        so_far = words("so_far", clock=minutes_and_seconds(view.seconds), money=spent)
        return f"{now or words('just_started')} {so_far}"
    delivered = sum(1 for leaf in leaves if leaf.state in DELIVERED)
    empty = words("empty_pages", empty=view.usage.empty, pages=view.usage.pages) if view.usage.empty else ""
    parts, sources = words.counted(len(leaves), "part"), words.counted(view.usage.sources, "source")
    line = words("delivered", delivered=delivered, parts=parts, sources=sources, empty=empty, money=spent)
    if view.status == "blocked":
        return f"{line} {words.said(view.note)}"
    if job.run.steering.finishing(ROOT):
        return f"{line} {words('writing_now')}"
    at_work = [leaf for leaf in leaves if leaf.state in _DOING]
    if not at_work:
        return f"{line} {now}"
    slowest = max(at_work, key=lambda each: each.seconds)
    name = f"{slowest.n} “{slowest.title}”".strip()
    doing = f"{words(slowest.state)} {words.said(slowest.said)}".strip()
    return f"{line} {words('slowest', name=name, doing=doing)}"


def broken_line(view: TreeView, words: ChatTexts) -> str:
    """Say that a run was stopped or failed, what it leaves behind, and what can be done."""
    clock, why = minutes_and_seconds(view.seconds), words.said(view.note)
    begun = words("run_failed", clock=clock, why=why) if view.ending == "failed" else words("stopped_at", clock=clock)
    left = words("no_report", left=words.counted(view.usage.sources, "kept") if view.kept else words("nothing_read"))
    return " ".join((begun, left, words("over_next_restart"), *([words("over_next_finish")] if view.kept else ())))


# ---- while it goes


class Steering(Talk):
    """What its user may say to a run."""

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
        known = {row.n: row for row in live_tree(job).nodes if row.n}
        if (row := known.get(order.number)) is None:
            raise self.no("no_part_here", number=order.number, known=", ".join(known))
        change, shown = steer(self.team.jobs, job, row, order.op), {"number": row.n, "title": row.title}
        if change is None:
            already = "part_not_failed" if order.op == "retry" else "part_is_already"
            raise self.no(already, **shown, state=self.words(f"is_{row.state}"))
        found = {"facts": self.words.counted(row.facts, "fact"), "sources": self.words.counted(row.sources, "source")}
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
        same = {"domains", "exclude_domains", "date_from", "date_to"}
        new = Narrowing(**edit.model_dump(include=same), seconds=seconds)
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
        ends = (change.limits.seconds or 0.0) - run.reserve_s
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
        reach = reach_of(job.run, rounds=contract.caps.rounds if contract else None)
        if reach.nothing:
            return words("guidance_late")
        said = [words("guidance_branches", branches=reach.branches)] if reach.branches else []
        said += [words("guidance_round", round=reach.round)] if reach.round is not None else []
        return " ".join((*said, *([words("guidance_summary")] if reach.summary else [])))
