"""The command line that changes running jobs: stop, drop or retry a branch, narrow what is searched."""

import re
from typing import TYPE_CHECKING, Annotated

import typer

from agents.cli.jobs_commands import JobId, answered, fail, row_of, say, with_store
from agents.core.errors import BadRequest

if TYPE_CHECKING:
    from agents.jobs.store import Store

Branch = Annotated[
    str, typer.Argument(help="Number of the branch as the chat shows it (2, 1.2), or its path (job/0/1).")
]


def register(app: typer.Typer) -> None:
    """Add the commands to those of jobs."""
    for command in (stop, drop, retry, narrow):
        app.command()(command)


def stop(job_id: JobId, branch: Branch) -> None:
    """Stop one branch of a running job; what it has found is kept."""
    _change(job_id, branch, kind="stop", words="was stopped")


def drop(job_id: JobId, branch: Branch) -> None:
    """Stop one branch of a running job and leave out what it has found."""
    _change(job_id, branch, kind="drop", words="was dropped")


def retry(job_id: JobId, branch: Branch) -> None:
    """Try a failed or stopped branch of a running job again."""
    _change(job_id, branch, kind="retry", words="is tried again")


def narrow(
    job_id: JobId,
    only: Annotated[list[str] | None, typer.Option(help="Search and read only this domain (repeatable).")] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="Leave this domain out (repeatable).")] = None,
    since: Annotated[str, typer.Option(help="Only documents since this date: 2019 or 2019-05-01.")] = "",
    until: Annotated[str, typer.Option(help="Only documents up to this date.")] = "",
    minutes: Annotated[float | None, typer.Option(help="A shorter time in all.", min=0.01)] = None,
) -> None:
    """Narrow what a running job may search, or for how long; it never widens anything."""
    given = {
        "only " + ", ".join(only or ()): only,
        "without " + ", ".join(exclude or ()): exclude,
        f"since {since}": since,
        f"until {until}": until,
        f"{minutes or 0:g} minutes in all": minutes,
    }
    words = "; ".join(said for said, there in given.items() if there)
    if not words:
        fail("Say what to narrow: --only, --exclude, --since, --until or --minutes.", 2)
    for date in filter(None, (since, until)):
        if not re.fullmatch(r"\d{4}(-\d{2}){0,2}", date):
            fail(f"{date!r} is no date; write 2019, 2019-05 or 2019-05-01.", 2)
    limits = {
        "domains": only or (), "exclude_domains": exclude or (), "date_from": since or None, "date_to": until or None,
        "seconds": None if minutes is None else minutes * 60,
    }  # fmt: skip
    _change(job_id, kind="limits", words=words, limits=limits)


def _change(job_id: str, branch: str = "", **wish: object) -> None:
    """Leave a change for the process that runs the job; a branch is found by its number or its path."""
    from agents.api.tree import Tree
    from agents.contracts.change import Command

    async def work(store: "Store") -> None:
        row = await row_of(store, job_id)
        if branch:
            nodes = Tree(await store.events(row.id)).view().nodes
            node = next((one for one in nodes if branch in (one.n, one.id)), None)
            if node is None:
                numbers = ", ".join(one.n for one in nodes if one.n) or "none yet"
                raise BadRequest(f"There is no branch {branch} in this job; there are: {numbers}.")
            title = f"{node.n} “{node.title}”".strip()
            wish.update(node=node.id, title=title, words=f"branch {title} {wish['words']}")
        said = await answered(store, row, "change", Command.model_validate(wish).model_dump_json())
        if said != "done":
            raise BadRequest(said)
        say(f"{row.id[:12]}: {wish['kind']} done")

    with_store(work)
