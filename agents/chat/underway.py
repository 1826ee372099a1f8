"""What a message does while a run is going: steer it, narrow it, guide it, or ask how it goes. Nothing widens it here."""

from agents.api.steer_branch import What, rows, steer
from agents.api.tree import TreeNode
from agents.chat.branch_commands import read_branch_edit, read_branch_order
from agents.chat.edits import Edit, dates_words, language_name, read_edit, time_words
from agents.chat.effects import Act, Refuse, Say, Stopping
from agents.chat.progress import progress_line, view_of
from agents.chat.steer_words import asks_for_progress, counted, minutes_and_seconds, steering
from agents.contracts.brief import Brief
from agents.contracts.change import Narrowing
from agents.core.errors import BadRequest
from agents.core.events import Noted, RoundEnded
from agents.jobs.changing import GUIDANCE
from agents.jobs.service import Job
from agents.search.scope_filter import in_both
from agents.team import Team

NEW_QUESTION = (
    "The run goes on as authorized. A new question was not applied to it. "
    "Type *stop* to end it, *finish* to write from what is there, or ask in a new chat."
)
_GUIDANCE = 120
"""Characters of guidance that are said back."""


class Underway:
    """A run, and what its user may say to it."""

    def __init__(self, team: Team, job: Job) -> None:
        self.team, self.job = team, job

    def hear(self, text: str, *, is_command: bool) -> Act:
        """Answer one message.

        Raises:
            BadRequest: it names a branch that is not there.
        """
        if is_command:
            return Refuse(NEW_QUESTION)
        word = steering(text)
        if word == "stop":
            self.team.jobs.stop(self.job)
            return Stopping(self.job)
        if word == "finish":
            self.team.jobs.finish(self.job)
            return Say(f"No new searches. Writing from {counted(view_of(self.job).usage.sources, 'source')}.")
        if named := read_branch_order(text):
            return self._branch(*named)
        if read_branch_edit(text) is not None:
            return Refuse(self._wider("that changes what is looked for"))
        if (edit := read_edit(text)) is not None:
            return self._edit(edit)
        if asks_for_progress(text):
            return Say(progress_line(self.job))
        return self._guidance(text)

    # ---- branches

    def _branch(self, what: What, number: str) -> Act:
        row = self._row(number)
        change = steer(self.team.jobs, self.job, row, what)
        if change is None and what == "retry":
            return Refuse(f"Branch {number} is {row.state}: only a failed or stopped one is tried again.")
        if change is None:
            return Refuse(f"Branch {number} is {row.state} already. Nothing was changed.")
        noted = f"Noted as change {change.number} to the contract: "
        if what == "finish":
            return Say(
                f"{noted}no new searches in branch {number}. It writes from "
                f"{counted(row.sources, 'source')}; the other branches go on."
            )
        if what == "retry":
            return Say(
                f"{noted}branch {number} “{row.title}” is tried again. "
                "It begins anew when the branches beside it have ended."
            )
        kept = "What it had found is left out" if what == "drop" else f"It keeps {counted(row.facts, 'fact')}"
        return Say(
            f"{noted}branch {number} “{row.title}” was "
            f"{'dropped' if what == 'drop' else 'stopped'} at {minutes_and_seconds(change.seconds)}. "
            f"{kept}; the other branches go on, and the report will say so."
        )

    def _row(self, number: str) -> TreeNode:
        known = rows(self.job)
        row = next((one for one in known if one.n == number), None)
        if row is None:
            numbers = ", ".join(one.n for one in known if one.n)
            raise BadRequest(f"There is no branch {number} in this run; there are: {numbers}. Nothing was changed.")
        return row

    # ---- the contract, after it was bound

    def _edit(self, edit: Edit) -> Act:
        contract = self.job.commission.contract
        if edit.drop:
            return self._branch("drop", str(edit.drop[0]))
        now = self.job.run.steering.limits
        if contract is None or (why := wider(contract.brief if not now else as_it_stands(contract.brief, now), edit)):
            return Refuse(self._wider(why if contract else "its plan is still being made"))
        change = self.team.jobs.narrow(self.job, limits_of(edit), narrowed(edit))
        noted = f"Noted as change {change.number} to the contract: {change.words}."
        if not edit.time_given:
            return Say(f"{noted} It holds for every search and page from now on; what was read before stays.")
        run = self.job.run
        ends = (change.limits.seconds or 0.0) - run.reserve_s
        if ends <= run.now():
            return Say(f"{noted} That time is up: no new searches, I write now.")
        return Say(f"{noted} I stop searching at {minutes_and_seconds(ends)} and write from what is there.")

    @staticmethod
    def _wider(why: str) -> str:
        return (
            f"The run goes on as authorized: {why}, and a contract that was bound may only be narrowed. "
            "When this run has ended, say it again: you get a new draft, and the phrase binds it."
        )

    # ---- guidance

    def _guidance(self, text: str) -> Act:
        said = " ".join(text.split()).rstrip(".")
        short = said if len(said) <= _GUIDANCE else said[: _GUIDANCE - 1].rstrip() + "…"
        change = self.team.jobs.guide(self.job, said)
        applies = self._applies()
        noted = Noted(text=f"Your note “{short}”. {applies}", tag=GUIDANCE)
        self.job.run.emit(f"job#guidance:{change.number}", noted)
        return Say(f"Noted as change {change.number}: {short}. {applies}")

    def _applies(self) -> str:
        """Say from which round on it counts: the one at hand was dispatched before it was said."""
        ended = max(
            (one.event.record.round for one in self.job.run.events if isinstance(one.event, RoundEnded)), default=0
        )
        contract = self.job.commission.contract
        if not self.team.engine.reasons:
            return "The offline engine matches words and cannot weigh it; it is kept with the run."
        if contract is not None and ended + 2 > contract.caps.rounds:
            return "The last round is under way, so it may come too late; it is kept with the run."
        return f"It applies from round {ended + 2}."


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


def wider(brief: Brief, edit: Edit) -> str:
    """Say what in an edit goes beyond what a run may do; empty when it only narrows."""
    if edit.mode is not None and edit.mode != brief.mode:
        return "the depth is part of what you authorized"
    if edit.language is not None and edit.language != brief.language:
        return f"a report in {language_name(edit.language)} needs other sections than the planned ones"
    if edit.time_given and (edit.minutes is None or (brief.minutes is not None and edit.minutes > brief.minutes)):
        return f"{time_words(edit.minutes)} is more than the {time_words(brief.minutes)} you authorized"
    if edit.drop_files or edit.places is not None:
        return "what it searches is part of what you authorized"
    if edit.lift or edit.all_domains or edit.any_date:
        return "that would search more than you authorized"
    if any(not in_both(brief.domains, (name,)) for name in edit.domains):
        return "that adds domains"
    if (edit.date_from and brief.date_from and edit.date_from < brief.date_from) or (
        edit.date_to and brief.date_to and edit.date_to > brief.date_to
    ):
        return "that adds years"
    return ""


def narrowed(edit: Edit) -> str:
    """Write a narrowing edit in plain words."""
    said = []
    if edit.domains:
        said.append("only " + ", ".join(edit.domains))
    if edit.exclude_domains:
        said.append("without " + ", ".join(edit.exclude_domains))
    if dates := dates_words(edit.date_from, edit.date_to):
        said.append(f"dates {dates}")
    if edit.time_given:
        said.append(f"{time_words(edit.minutes)} in all")
    return "; ".join(said) or "as it was authorized"
