"""One research run without the chat: the request is the authorization, but an infeasible question is still refused."""

import asyncio
import os
import sys
import threading
import time
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from agents.api.tree import Tree, progress
from agents.contracts.contract import Contract
from agents.contracts.frozen import Mode, Tier
from agents.contracts.report import Earlier, ReportDocument
from agents.core.errors import BadRequest, NotFeasible
from agents.core.settings import Settings
from agents.core.time_policy import SCOPING_SHARE, left_for_research_s
from agents.jobs.job import Job, sources_read
from agents.report.earlier import earlier_of, known_lines
from agents.research.scoping.turn import NOTHING_ASKED, ScopingState, checked

if TYPE_CHECKING:
    from agents.team import Team

GRADE_CODES = {"complete": 0, "partial": 3, "nothing_found": 4}


async def research(
    settings: Settings, question: str, *, mode: Mode, tier: Tier | None, minutes: float | None, challenge: bool,
    json_file: Path | None, out: Path | None, refresh: str = "", goes_on: str = "", memory: str | None = None,
    opened: AbstractAsyncContextManager["Team"] | None = None
) -> int:  # fmt: skip
    """Scope, plan, run and write; returns the exit code.

    With `refresh`, the contract of an earlier job is run on today's sources, and the question is empty; with `goes_on`
    the question is asked beginning with what the report of an earlier job cites. A team that is `opened` elsewhere works
    in the place of one made from the settings.
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
        contract, known, earlier = await _before(settings, refresh, goes_on)
        if contract is not None:
            await _say_what_is_asked(team)
            await team.ready()
            job = await team.start(team.renewed(contract), challenge=challenge, earlier=earlier)
            return await _to_its_end(team, job, json_file, out)
        # A provider that hangs may not use up the time before anything was looked for.
        limit_s = None if minutes is None else SCOPING_SHARE * minutes * 60
        state = ScopingState(mode=mode, minutes=minutes, known=known, memory=memory)
        if not team.engine.reasons:
            await _say_what_is_asked(team)  # what is searched stands in the contract, which is drafted at once
        settling = asyncio.create_task(team.settle(state, text, tier=tier, challenge=challenge, limit_s=limit_s))
        await asyncio.wait({settling}, timeout=SENT_S)  # the question is on its way before anything else is loaded
        if team.engine.reasons:
            await _say_what_is_asked(team)
        threading.Thread(target=team.warm_up, name="warm-up", daemon=True).start()
        settled = await settling
        if not settled.scope.queries:
            raise BadRequest(settled.turn.reply or NOTHING_ASKED)
        if settled.contract is None:
            broad = [query for query in settled.scope.queries if not query.feasible]
            splits = tuple(split for query in broad for split in query.suggested_split)
            error = NotFeasible(tuple(query.reason for query in broad), splits)
            if splits:
                error.notice += "\nNarrower questions that would work:\n" + "\n".join(f"  - {one}" for one in splits)
            raise error
        if not team.engine.reasons:
            _say(" ".join(settled.turn.reply.split()))
        await team.ready()
        spent_s = time.monotonic() - started
        left_s = None if minutes is None else left_for_research_s(60 * minutes, spent_s)
        job = await team.start(settled.contract, challenge=challenge, left_s=left_s, earlier=earlier)
        return await _to_its_end(team, job, json_file, out)


async def _say_what_is_asked(team: "Team") -> None:
    """Say which engine answers and where is searched; keyless search is tried for it."""
    if (probed := await team.probe()) is not None:
        reached = f"queries go to {probed.host}" if probed.reachable else "not reachable"
        _say(f"keyless web search: {reached}")
    _say(f"engine: {team.engine.name}; searching: {', '.join(team.context().searched)}")


async def _to_its_end(team: "Team", job: Job, json_file: Path | None, out: Path | None) -> int:
    """Watch a job, and write and print its report; returns the exit code. An interrupt stops it and all it has running."""
    try:
        async for tree, line in progress(job):
            if line:
                _say(told(tree, line))
    except asyncio.CancelledError:
        team.jobs.stop(job)
        await job.wait()
        raise
    if job.blocked_reason == "awaiting_key":
        # Its caller is the terminal, and is told; nobody is left to whom it could go on.
        team.jobs.stop(job)
        await job.wait()
    if job.report is None:
        if job.error is not None:
            raise job.error
        return 1
    write_report(job.report, json_file, out)
    _say(job.report.markdown, sys.stdout)
    return 3 if job.status == "blocked" else GRADE_CODES[job.report.grade]


async def _before(
    settings: Settings, refresh: str, goes_on: str
) -> tuple[Contract | None, tuple[str, ...], Earlier | None]:
    """Find the contract to run again, or what is known to a question that goes on, and the report of an earlier job.

    A job is named by the first characters of its id, whichever process runs jobs now.
    """
    from agents.cli.jobs_commands import opened_store, row_of

    if not refresh and not goes_on:
        return None, (), None
    async with opened_store(settings) as store:
        row = await row_of(store, refresh or goes_on)
        document, whole = await store.report(row.id), await store.job(row.id)
        if document is None or whole is None or whole.commission.contract is None:
            raise BadRequest(f"Job {row.id[:12]} is {row.status} and has no report to go on from.")
        sources = sources_read(await store.events(row.id), whole.commission)
        if refresh:
            return whole.commission.contract, (), earlier_of(document, sources, "refresh")
        return None, known_lines(document), earlier_of(document, sources, "continue")


def told(tree: Tree, line: str) -> str:
    """Say in one line what happened and when."""
    return f"{tree.seconds:6.1f}s  {line}"


def check_writable(path: Path) -> None:
    """Find out before any work whether a report can be written to a file of that name."""
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
    """Write a report into files, each as its ending says; those before one that can't be printed are written."""
    from agents.report.formats import FORMS

    targets = [(json_file, "json")] if json_file else []
    targets += [(out, out.suffix.casefold().removeprefix("."))] if out else []
    for path, form in targets:
        data = FORMS[form].write(document)
        path.write_bytes(data + b"\n" if form in {"md", "html", "json"} else data)
        _say(f"wrote {path}")


def _say(line: str, stream: TextIO | None = None) -> None:
    """Tell of progress, or print the report: as UTF-8, whatever the terminal says of itself.

    A reader who stopped reading (`2>&1 | head`) does not stop the research.
    """
    stream = stream or sys.stderr
    try:
        stream.buffer.write((line + "\n").encode("utf-8", "replace"))
        stream.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
