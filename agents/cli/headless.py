"""One research run without the chat: the request is the authorization, but an infeasible question is still refused."""

import asyncio
import os
import sys
import threading
import time
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agents.api.tree import Tree
from agents.contracts.contract import Contract
from agents.contracts.frozen import Mode, Tier
from agents.contracts.report import ReportDocument
from agents.contracts.sources import SourceCard
from agents.core.errors import BadRequest, NotFeasible
from agents.core.events import Numbered
from agents.core.settings import Settings
from agents.core.time_policy import SCOPING_SHARE, left_for_research_s
from agents.jobs.job import Job, sources_read
from agents.report.earlier import earlier_of, known_lines
from agents.research.scoping.turn import NOTHING_ASKED, ScopingState, checked

if TYPE_CHECKING:
    from agents.team import Team

GRADE_CODES = {"complete": 0, "partial": 3, "nothing_found": 4}


async def research(
    settings: Settings,
    question: str,
    *,
    mode: Mode,
    tier: Tier | None,
    minutes: float | None,
    challenge: bool,
    json_file: Path | None,
    out: Path | None,
    refresh: str = "",
    goes_on: str = "",
    memory: str | None = None,
    opened: AbstractAsyncContextManager["Team"] | None = None,
) -> int:
    """Scope, plan, run and write; returns the exit code.

    With `refresh`, the contract of an earlier job is run on today's sources, and the question is empty; with `goes_on`
    the question is asked beginning with what the report of an earlier job cites. A team that is `opened` elsewhere works
    in the place of one made from the settings.

    Raises:
        BadRequest: the question is empty, too long or not feasible, or a file can't be written.
        ConfigError: the settings can't be used.
        DossierError: the run ended without a report.
    """
    from agents.run_research import SENT_S, durable_team

    # The clock starts with the command: setting up, taking up jobs and scoping all come out of its time.
    started = time.monotonic()
    if json_file is not None:
        _check_place(json_file)
    if out is not None:
        check_writable(out)
    text = "" if refresh else checked(question)
    async with opened or durable_team(settings, _say, at_once=True) as team:
        before = await _before(settings, refresh or goes_on) if refresh or goes_on else None
        if refresh and before is not None:
            earlier = earlier_of(before.document, before.sources, "refresh")
            await _say_what_is_asked(team)
            await team.ready()
            job = team.start(team.renewed(before.contract), challenge=challenge, earlier=earlier)
            return await _to_its_end(team, job, json_file, out)
        # A provider that hangs may not use up the time before anything was looked for.
        limit_s = None if minutes is None else SCOPING_SHARE * minutes * 60
        known = known_lines(before.document) if before is not None else ()
        state = ScopingState(mode=mode, minutes=minutes, known=known, memory=memory)
        if not team.engine.reasons:
            await _say_what_is_asked(team)  # nothing is gained by waiting for the network beside what computes here
        settling = asyncio.create_task(team.settle(state, text, tier=tier, challenge=challenge, limit_s=limit_s))
        await asyncio.wait({settling}, timeout=SENT_S)  # the question is on its way before anything else is loaded
        if team.engine.reasons:
            await _say_what_is_asked(team)
        threading.Thread(target=team.warm_up, name="warm-up", daemon=True).start()
        settled = await settling
        if not settled.scope.queries:
            raise BadRequest(settled.turn.reply or NOTHING_ASKED)
        if settled.contract is None:
            raise _not_feasible(settled.scope)
        if not team.engine.reasons:
            _say(" ".join(settled.turn.reply.split()))
        await team.ready()
        spent_s = time.monotonic() - started
        left_s = None if minutes is None else left_for_research_s(60 * minutes, spent_s)
        after = earlier_of(before.document, before.sources, "continue") if before is not None else None
        job = team.start(settled.contract, challenge=challenge, left_s=left_s, earlier=after)
        return await _to_its_end(team, job, json_file, out)


async def _say_what_is_asked(team: "Team") -> None:
    """Say which engine answers and where is searched; keyless search is tried for it."""
    if (probed := await team.probe()) is not None:
        reached = f"queries go to {probed.host}" if probed.reachable else "not reachable"
        _say(f"keyless web search: {reached}")
    _say(f"engine: {team.engine.name}; searching: {', '.join(team.context().searched)}")


async def _to_its_end(team: "Team", job: Job, json_file: Path | None, out: Path | None) -> int:
    """Watch a job, and write and print its report; returns the exit code."""
    await _watch(team, job)
    await job.settled()
    if job.awaits_key:
        # Its caller is the terminal, and is told; nobody is left to whom it could go on.
        team.jobs.stop(job)
        await job.wait()
    if job.report is None:
        if job.error is not None:
            raise job.error
        return 1
    write_report(job.report, json_file, out)
    _print(job.report)
    return 3 if job.status == "blocked" else GRADE_CODES[job.report.grade]


class ReportedJob(NamedTuple):
    """An earlier job as the store holds it."""

    contract: Contract
    document: ReportDocument
    sources: dict[str, SourceCard]


async def _before(settings: Settings, beginning: str) -> ReportedJob:
    """Find an earlier job by the first characters of its id, whichever process runs jobs now.

    Raises:
        BadRequest: there is none, or it has no report.
    """
    from agents.cli.jobs_commands import opened_store, row_of

    async with opened_store(settings) as store:
        row = await row_of(store, beginning)
        document, whole = await store.report(row.id), await store.job(row.id)
        if document is None or whole is None or whole.commission.contract is None:
            raise BadRequest(f"Job {row.id[:12]} is {row.status} and has no report to go on from.")
        sources = sources_read(await store.events(row.id), whole.commission)
        return ReportedJob(whole.commission.contract, document, sources)


def _not_feasible(scope: ScopingState) -> NotFeasible:
    broad = [query for query in scope.queries if not query.feasible]
    splits = tuple(split for query in broad for split in query.suggested_split)
    error = NotFeasible(tuple(query.reason for query in broad), splits)
    if splits:
        error.notice += "\nNarrower questions that would work:\n" + "\n".join(f"  - {split}" for split in splits)
    return error


async def _watch(team: "Team", job: Job) -> None:
    """Show progress until the job is over; an interrupt stops the job and all it has running."""
    tree = Tree()
    try:
        async for numbered in job.follow(attended=True):
            if numbered is not None and (line := told(tree, numbered)):
                _say(line)
    except asyncio.CancelledError:
        team.jobs.stop(job)
        await job.wait()
        raise


def told(tree: Tree, numbered: Numbered) -> str:
    """Say in one line what happened and when; empty for what no reader needs to hear."""
    tree.take(numbered)
    return f"{numbered.seconds:6.1f}s  {tree.line.text}" if tree.line else ""


def check_writable(path: Path) -> None:
    """Find out before any work whether a report can be written to a file of that name.

    Raises:
        BadRequest: its ending says nothing, it is a folder, or its folder does not exist.
    """
    from agents.report.formats import FORMS

    if path.suffix.casefold().removeprefix(".") not in FORMS:
        known = ", ".join(f".{form}" for form in FORMS)
        raise BadRequest(f"{path.name!r} has no ending that says what to write. Use one of {known}.")
    _check_place(path)


def _check_place(path: Path) -> None:
    if path.is_dir():
        raise BadRequest(f"{path} is a folder; give a file name.")
    if not path.parent.exists():
        raise BadRequest(f"The folder {path.parent} does not exist.")


def write_report(document: ReportDocument, json_file: Path | None, out: Path | None) -> None:
    """Write a report into files, each as its ending says.

    Raises:
        NotPrintable: as PDF its letters could not be shown; files before it are written.
    """
    from agents.report.formats import FORMS

    targets = [(json_file, "json")] if json_file else []
    targets += [(out, out.suffix.casefold().removeprefix("."))] if out else []
    for path, form in targets:
        data = FORMS[form].write(document)
        path.write_bytes(data + b"\n" if form in {"md", "html", "json"} else data)
        _say(f"wrote {path}")


def _print(document: ReportDocument) -> None:
    """Print the report as UTF-8, whatever the terminal says of itself."""
    data = (document.markdown + "\n").encode("utf-8", "replace")
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # The reader closed the pipe; the report is written elsewhere or was not wanted any further.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(line: str) -> None:
    """Tell of progress; a reader who stopped reading (`2>&1 | head`) does not stop the research."""
    try:
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
