"""The command line of kept jobs: list, show, export, replay; stop, drop or retry a branch."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn

import typer

from agents.core.errors import BadRequest, ConfigError, DossierError

if TYPE_CHECKING:
    from agents.core.settings import Settings
    from agents.jobs.changes import Steered
    from agents.jobs.store import Store, StoredJob

app = typer.Typer(no_args_is_help=False, help="List, show and steer jobs, those of a running server too.")

Status = Literal["queued", "running", "blocked", "done", "failed", "cancelled"]
WAIT_S = 10.0  # seconds that the process which runs a job gets to answer
OUT = typer.Option(help="Write the report here: .md, .html, .json, .pdf, .docx, .bib, .ris or .csl.")
JobId = Annotated[str, typer.Argument(help="Id of the job; its first characters are enough.")]


@app.callback(invoke_without_command=True)
def jobs(context: typer.Context) -> None:
    """List, show and steer jobs, those of a running server too."""
    if context.invoked_subcommand is None:
        listed()


Opens = Callable[["Settings"], AbstractAsyncContextManager[object]]
Work = Callable[..., Awaitable[None]]


def command(
    group: typer.Typer, opened: Opens, name: str = "", about: str = ""
) -> Callable[[Work], Callable[..., None]]:
    """Make a command of work that takes a store, which is opened for it, and the `row` of a job where it names one."""

    async def done(work: Work, given: dict[str, object]) -> None:
        from agents.core.settings import load

        async with opened(load()) as store:
            if "job_id" in given:
                given["row"] = await row_of(store, str(given.pop("job_id")))  # type: ignore[arg-type]  # it is of jobs
            await work(store, **given)

    def made(work: Work) -> Callable[..., None]:
        @wraps(work)
        def run(**given: object) -> None:
            run_to_exit(done(work, given))

        _, *left = signature(work).parameters.values()
        left = [Parameter("job_id", one.kind, annotation=JobId) if one.name == "row" else one for one in left]
        run.__signature__ = Signature(left)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in left}
        group.command(name or None, help=about or None)(run)
        return run

    return made


@contextlib.asynccontextmanager
async def opened_store(settings: "Settings") -> "AsyncIterator[Store]":
    """Open the job store beside whatever process runs its jobs."""
    from agents.jobs.database import Database, async_url
    from agents.jobs.store import Store

    database = Database(async_url(settings.database_url.get_secret_value(), settings.data_dir))
    await database.open()
    try:
        yield Store(database)
    finally:
        await database.close()


@command(app, opened_store, "list")
async def listed(
    store: "Store",
    status: Annotated[Status | None, typer.Option(help="Only jobs of this status.")] = None,
    limit: Annotated[int, typer.Option(help="How many.", min=1)] = 30,
) -> None:
    """List jobs, newest first."""
    rows = await store.jobs(statuses=(status,) if status else (), limit=limit)
    for row in rows:
        say(f"{row.id[:12]}  {row.created:%Y-%m-%d %H:%M}  {_state(row):<22} {row.title[:70]}")
    if not rows:
        say("There are no jobs.")


@command(app, opened_store)
async def show(store: "Store", row: "StoredJob") -> None:
    """Say how a job stands."""
    for name, value in {
        "job": row.id, "title": row.title, "status": _state(row), "stage": row.stage, "note": row.note, "owner": row.owner,
        "created": f"{row.created:%Y-%m-%d %H:%M:%S} UTC", "changed": f"{row.updated:%Y-%m-%d %H:%M:%S} UTC",
        "attempt": str(row.attempt), "run by": row.executor,
    }.items():  # fmt: skip
        if value:
            say(f"{name:>8}  {value}")


def _plain(verb: str, said: str) -> None:
    """Add a command that needs nothing but the job."""

    @command(app, opened_store, verb, said)
    async def work(store: "Store", row: "StoredJob") -> None:
        await _done(store, row, verb)


for _verb, _said in {
    "cancel": "Stop a job and everything it has running.",
    "pause": "Let a job's calls finish and start no others.",
    "resume": "Let a job go on that is paused or waits for a key.",
    "rework": "Decide and write anew from what a job has read, and try again what failed.",
    "restart": "Do a job again from its last good steps.",
    "release": "Let a job pass that the judge held back.",
}.items():
    _plain(_verb, _said)


@command(app, opened_store)
async def finish(
    store: "Store",
    row: "StoredJob",
    branch: Annotated[str, typer.Option(help="Only this branch: 2, 1.2 or job/0/1.")] = "",
) -> None:
    """Have a job search no further and write from what it has."""
    await _steered(store, row, "finish", branch)


@command(app, opened_store)
async def guidance(
    store: "Store", row: "StoredJob", text: Annotated[str, typer.Argument(help="What the next rounds shall follow.")]
) -> None:
    """Tell a running job what to look at in the rounds that are still to come."""
    from agents.contracts.contract import Command
    from agents.core.settings import OFFLINE_ENGINE

    await _done(store, row, "change", Command(kind="guidance", words=text).model_dump_json(), "guidance")
    job = await store.job(row.id)
    if job and job.commission.contract and set(job.commission.contract.models) == {OFFLINE_ENGINE}:
        say("It is recorded with the run; the offline engine, which reasons about nothing, does not heed it.")


@command(app, opened_store)
async def export(
    store: "Store",
    row: "StoredJob",
    out: Annotated[Path, OUT],
) -> None:
    """Write the report of a job to a file."""
    from agents.cli.headless import check_writable, write_report

    check_writable(out)
    document = await store.report(row.id)
    if document is None:
        raise BadRequest(f"Job {row.id[:12]} is {row.status} and has no report.")
    write_report(document, None, out)


@command(app, opened_store)
async def replay(store: "Store", row: "StoredJob") -> None:
    """Tell once more what happened in a job, from what is kept, without any network."""
    from agents.api.tree import Tree
    from agents.cli.headless import told

    tree = Tree()
    for numbered in await store.events(row.id):
        tree.take(numbered)
        if tree.line:
            say(told(tree, tree.line))


@command(app, opened_store)
async def delete(
    store: "Store",
    row: "StoredJob",
    force: Annotated[bool, typer.Option("--force", help="Also when it is not over.")] = False,
    facts: Annotated[
        bool | None,
        typer.Option("--facts/--keep-facts", help="Whether what only it found out is forgotten too; else it is asked."),
    ] = None,
) -> None:
    """Delete a job with everything that belongs to it."""
    from agents.core.settings import load
    from agents.memory.knowledge import LOCAL_OWNER, forget_with, open_memory

    if not row.over and not force:
        raise BadRequest(f"Job {row.id[:12]} is {row.status}. Cancel it first, or use --force.")
    if not row.over:
        await _answered(store, row, "cancel", "")
    await store.delete([row.id])
    say("deleted")
    asked = facts is None and sys.stdin.isatty()
    if facts or (asked and typer.confirm("Forget what only this job found out too?")):
        memory = open_memory(load())
        say(f"forgotten: {await forget_with(memory, row.owner or LOCAL_OWNER, jobs=[row.id])}")
        if memory is not None:
            await memory.close()


# ---- parts


def _state(row: "StoredJob") -> str:
    return row.status + (f" ({row.blocked_reason or row.grade})" if row.blocked_reason or row.grade else "")


async def row_of(store: "Store", job_id: str) -> "StoredJob":
    """Find the job whose id begins so; a `BadRequest` where none or several do."""
    found = await store.beginning(job_id)
    if not found:
        raise BadRequest(f"There is no job {job_id}.")
    if len(found) > 1:
        raise BadRequest(f"{len(found)} jobs begin with {job_id}; give more characters.")
    return found[0]


async def _done(store: "Store", row: "StoredJob", verb: str, argument: str = "", called: str = "") -> None:
    """Have a command done, and say so; a `BadRequest` where it is refused or nobody answers."""
    if (said := await _answered(store, row, verb, argument)) != "done":
        raise BadRequest(said)
    say(f"{row.id[:12]}: {called or verb} done")


async def _answered(store: "Store", row: "StoredJob", verb: str, argument: str) -> str:
    """Leave a command for the process that runs jobs, and wait for its answer."""
    from agents.jobs.config import held_by

    number, file = await store.add_command(row.id, verb, argument), store.database.file
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(WAIT_S):
            while file is None or held_by(file.with_name("engine.db")):
                if said := await store.answered(number):
                    return said
                await asyncio.sleep(0.1)
    return (
        f"No process that runs jobs answers. The command ({verb}) is noted, and done when one does: "
        "`python -m agents serve` or `python -m agents worker`."
    )


def run_to_exit(work: "Coroutine[None, None, None]") -> None:
    """Do the work of a command; an error of ours ends the process with one sentence and its exit code."""
    with exits():
        asyncio.run(work)


@contextlib.contextmanager
def exits() -> Iterator[None]:
    """End the process at an error of ours with one sentence and a code: 2 for bad usage or settings, else 1."""
    try:
        yield
    except DossierError as error:
        fail(error.notice, 2 if isinstance(error, BadRequest | ConfigError) else 1)
    except OSError as error:
        fail(f"{error.filename or 'A file'}: {error.strerror}.", 1)
    except KeyboardInterrupt:
        fail("Stopped.", 1)


def fail(message: str, code: int) -> NoReturn:
    """Say what went wrong, and end with an exit code."""
    typer.echo(message, err=True)
    raise typer.Exit(code)


say = typer.echo
Branch = Annotated[
    str, typer.Argument(help="Number of the branch as the chat shows it (2, 1.2), or its path (job/0/1).")
]


def _steering(kind: "Steered", said: str) -> None:
    """Add a command that steers one branch."""

    @command(app, opened_store, kind, said)
    async def work(store: "Store", row: "StoredJob", branch: Branch) -> None:
        await _steered(store, row, kind, branch)


async def _steered(store: "Store", row: "StoredJob", kind: "Steered", branch: str) -> None:
    """Steer one branch; a `BadRequest` where there is none. To `finish` without one means the whole run."""
    from agents.api.tree import Tree
    from agents.jobs.changes import steered

    if kind == "finish" and not branch:
        return await _done(store, row, "change", steered(kind).model_dump_json(), kind)
    nodes = Tree(await store.events(row.id)).view().nodes
    node = next((one for one in nodes if branch in (one.n, one.id)), None)
    if node is None:
        numbers = ", ".join(one.n for one in nodes if one.n) or "none yet"
        raise BadRequest(f"There is no branch {branch} in this job; there are: {numbers}.")
    wanted = steered(kind, node.id, f"{node.n} “{node.title}”".strip())
    await _done(store, row, "change", wanted.model_dump_json(), kind)


_steering("stop", "Stop one branch of a running job; what it has found is kept.")
_steering("drop", "Stop one branch of a running job and leave out what it has found.")
_steering("retry", "Try a failed or stopped branch of a running job again.")
