"""What a message does to a run: while it goes, it is steered, narrowed, guided or asked after; when over, taken up again."""

from agents.api.tree import ROOT, STAGES, Tree, TreeNode, TreeView, rows, steer
from agents.chat.answers import short
from agents.chat.commands import Command, Edit, Part, Wish, asks_for_progress
from agents.chat.preferences import limits_words
from agents.chat.state import Effect, Refuse, Say, Stopping
from agents.chat.texts import ChatTexts, cut, minutes_and_seconds
from agents.contracts.contract import Brief, Narrowing
from agents.core.errors import BadRequest
from agents.core.events import Noted
from agents.jobs.changes import DELIVERED, GUIDANCE, reach_of
from agents.jobs.live_job import Job
from agents.research.scoping.authorization import ResearchCommand
from agents.search.scope_filter import in_both
from agents.team import Team

_GUIDANCE = 120
"""Characters of guidance that are said back."""


# ---- how it goes


def view_of(job: Job) -> TreeView:
    """Draw the tree of a job as it stands now."""
    return Tree(job.run.events).view(job.run.now())


_DOING = frozenset(("searching", "reading", "writing", "retrying"))


def progress_line(job: Job, words: ChatTexts) -> str:
    """Say how a run is going: parts, sources, money, and what it waits for longest."""
    view = view_of(job)
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
    doing = f"{words(slowest.state)} {slowest.doing if words.language == 'en' else ''}".strip()
    return f"{line} {words('slowest', name=name, doing=doing)}"


def stopped_line(view: TreeView, words: ChatTexts) -> str:
    """Say what a stopped run leaves behind."""
    left = words.counted(view.usage.sources, "kept") if view.usage.sources else words("nothing_read")
    return words("stopped_at", clock=minutes_and_seconds(view.seconds), left=left)


# ---- while it goes


class Running:
    """A run, and what its user may say to it. Nothing widens it here."""

    def __init__(self, team: Team, job: Job, words: ChatTexts) -> None:
        self.team, self.job, self.words = team, job, words

    async def hear(self, text: str, command: Command | None) -> Effect:
        """Answer one message.

        Raises:
            BadRequest: it names a part that is not there.
        """
        match command:
            case ResearchCommand():
                return Refuse(self.words("new_question_running"))
            case Wish():
                return await self._wish(command)
            case Part(loose=False):
                return self._part(command)
            case Edit():
                return self._edit(command)
        if not asks_for_progress(text):
            return self._guidance(text)
        ahead = await self.team.jobs.position(self.job)
        waits = f" {self.words('runs_ahead', ahead=ahead)}" if ahead else ""
        return Say(f"{progress_line(self.job, self.words)}{waits}")

    async def _wish(self, wish: Wish) -> Effect:
        words, jobs, progress = self.words, self.team.jobs, progress_line(self.job, self.words)
        paused = self.job.status == "blocked"
        match wish.name:
            case "stop" | "cancel":
                jobs.stop(self.job)
                return Stopping(self.job)
            case "finish":
                jobs.finish(self.job)
                return Say(words("finishing", sources=words.counted(view_of(self.job).usage.sources, "source")))
            case "pause":
                await jobs.pause(self.job)
                return Say(words("pausing"))
            case "resume" | "continue" | "begin" if paused:
                await jobs.resume(self.job)
                return Say(words("resumed"))
            case "undo" | "shorter" | "change" | "rework" | "draft_again":
                return self._wider("wider_parts")
            case _:
                return short(wish, "running", self.team, words, progress)

    # ---- parts

    def _part(self, order: Part) -> Effect:
        if order.op not in {"finish", "stop", "drop", "retry"} or not order.number:
            return self._wider("wider_parts")
        row, words = self._row(order.number), self.words
        change = steer(self.team.jobs, self.job, row, order.op)
        known = {"number": row.n, "title": row.title, "state": row.state}
        if change is None:
            return Refuse(words("part_not_failed" if order.op == "retry" else "part_is_already", **known))
        known |= {"change": str(change.number), "clock": minutes_and_seconds(change.seconds)}
        name = {"finish": "part_finishes", "retry": "part_again", "drop": "part_dropped", "stop": "part_stopped"}
        facts, sources = self.words.counted(row.facts, "fact"), self.words.counted(row.sources, "source")
        return Say(words(name[order.op], **known, facts=facts, sources=sources))

    def _row(self, number: str) -> TreeNode:
        known = rows(self.job)
        row = next((one for one in known if one.n == number), None)
        if row is None:
            listed = ", ".join(one.n for one in known if one.n)
            raise BadRequest(self.words("no_part_here", number=number, known=listed))
        return row

    # ---- the contract, after it was bound

    def _edit(self, edit: Edit) -> Effect:
        contract, words = self.job.contract, self.words
        if edit.drop:
            return self._part(Part(op="drop", number=str(edit.drop[0])))
        now = self.job.run.steering.limits
        if contract is None:
            return self._wider("wider_planning")
        if why := widening(contract.brief if not now else as_it_stands(contract.brief, now), edit, words):
            return Refuse(words("wider", why=why))
        change = self.team.jobs.narrow(self.job, limits_of(edit), narrowed(edit, words))
        effect = words("narrowed_holds")
        if edit.time_given:
            run = self.job.run
            ends = (change.limits.seconds or 0.0) - run.reserve_s
            over = ends <= run.now()
            effect = words("narrowed_now") if over else words("narrowed_until", clock=minutes_and_seconds(ends))
        return Say(words("narrowed", change=change.number, words=change.words, effect=effect))

    def _wider(self, why: str) -> Refuse:
        return Refuse(self.words("wider", why=self.words(why)))

    # ---- guidance

    def _guidance(self, text: str) -> Effect:
        said = " ".join(text.split()).rstrip(".")
        told = cut(said, _GUIDANCE)
        change = self.team.jobs.guide(self.job, said)
        applies = self._applies()
        self.job.run.emit(f"job#guidance:{change.number}", Noted(text=f"Your note “{told}”. {applies}", tag=GUIDANCE))
        return Say(self.words("guidance", change=change.number, words=told, applies=applies))

    def _applies(self) -> str:
        """Say what it still reaches, or honestly that everything is written."""
        words, contract = self.words, self.job.contract
        if not self.team.engine.reasons:
            return words("guidance_offline")
        reach = reach_of(self.job.run, rounds=contract.caps.rounds if contract else None)
        if reach.nothing:
            return words("guidance_late")
        said = [words("guidance_branches", branches=reach.branches)] if reach.branches else []
        said += [words("guidance_round", round=reach.round)] if reach.round is not None else []
        return " ".join((*said, *([words("guidance_summary")] if reach.summary else [])))


def as_it_stands(brief: Brief, limits: Narrowing) -> Brief:
    """Write what was authorized with the changes since then: an edit may only narrow that."""
    seconds = limits.seconds
    return brief.model_copy(
        update={
            "minutes": brief.minutes if seconds is None else seconds / 60,
            "domains": limits.domains or brief.domains,
            "date_from": limits.date_from or brief.date_from,
            "date_to": limits.date_to or brief.date_to,
        }
    )


def limits_of(edit: Edit) -> Narrowing:
    """Write a narrowing edit as limits."""
    return Narrowing(
        domains=edit.domains,
        exclude_domains=edit.exclude_domains,
        date_from=edit.date_from,
        date_to=edit.date_to,
        seconds=edit.minutes * 60 if edit.time_given and edit.minutes is not None else None,
    )


def widening(brief: Brief, edit: Edit, words: ChatTexts) -> str:
    """Say what in an edit goes beyond what a run may do; empty when it only narrows."""
    if edit.mode is not None and edit.mode != brief.mode:
        return words("wider_depth")
    if edit.language is not None and edit.language != brief.language:
        return words("wider_language", language=words.language_name(edit.language))
    if edit.time_given and (edit.minutes is None or (brief.minutes is not None and edit.minutes > brief.minutes)):
        return words("wider_time", wanted=words.minutes(edit.minutes), bound=words.minutes(brief.minutes))
    if edit.drop_files or edit.places is not None or edit.memory is not None:
        return words("wider_places")
    if edit.lift or edit.all_domains or edit.any_date:
        return words("wider_more")
    if any(not in_both(brief.domains, (name,)) for name in edit.domains):
        return words("wider_domains")
    if (edit.date_from and brief.date_from and edit.date_from < brief.date_from) or (
        edit.date_to and brief.date_to and edit.date_to > brief.date_to
    ):
        return words("wider_years")
    return ""


def narrowed(edit: Edit, words: ChatTexts) -> str:
    """Write a narrowing edit in plain words, as the report lists it."""
    said = limits_words(edit, words)
    said += [words("in_all", time=words.minutes(edit.minutes))] if edit.time_given else []
    return "; ".join(said) or words("as_authorized")
