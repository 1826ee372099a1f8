"""The command line of the knowledge base: search, show, forget, export, import, embed anew."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from agents.cli.jobs_commands import command, say
from agents.contracts.fact import Remembered, Selection, Standing
from agents.core.errors import BadRequest
from agents.memory.knowledge import LOCAL_OWNER, KnowledgeStore, exported, imported, open_memory

if TYPE_CHECKING:
    from agents.core.settings import Settings

app = typer.Typer(no_args_is_help=True, help="Search and keep in order what research has found out.")

User = Annotated[str, typer.Option("--user", help="Whose knowledge base: `user` on a server that others reach.")]
Kind = Literal["all", "fact", "claim", "question", "gap", "link", "reading", "plan"]
Id = Annotated[str, typer.Argument(help="Id of a thing, as the search shows it.")]


@asynccontextmanager
async def opened(settings: "Settings") -> AsyncIterator[KnowledgeStore]:
    """Open the knowledge base."""
    store = open_memory(settings)
    if store is None:
        raise BadRequest("The knowledge base is switched off: DOSSIER_MEMORY is false.")
    try:
        yield store
    finally:
        await store.close()


def line_of(item: Remembered) -> str:
    """Say a thing in one line."""
    source = f"  {item.source.title} <{item.source.url}>" if item.source else ""
    return f"{item.id}  {item.seen[:10]}  {item.kind}, {item.verdict}: {' '.join(item.text.split())[:160]}{source}"


@command(app, opened)
async def search(
    store: KnowledgeStore,
    text: Annotated[str, typer.Argument(help="Words or a question; none lists what was seen last.")] = "",
    kind: Kind = "fact",
    verdict: Annotated[Standing | None, typer.Option(help="Only with this last verdict.")] = None,
    url: Annotated[str, typer.Option(help="Only of this address.")] = "",
    domain: Annotated[str, typer.Option(help="Only of this domain.")] = "",
    job: Annotated[str, typer.Option(help="Only what this job met with.")] = "",
    since: Annotated[str, typer.Option(help="Last seen on or after this ISO date.")] = "",
    until: Annotated[str, typer.Option(help="Last seen on or before it.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=200)] = 10,
    user: User = LOCAL_OWNER,
) -> None:
    """Find what is known, by words and meaning."""
    try:
        where = Selection(
            kinds=() if kind == "all" else (kind,), verdicts=(verdict,) if verdict else (), url=url, domain=domain,
            job=job, date_from=since, date_to=until,
        )  # fmt: skip
    except ValueError as error:
        raise BadRequest("Days are given as 2026-11-28.") from error
    found = await store.search(user, text, where, limit)
    for item in found:
        say(line_of(item))
    if not found:
        say("Nothing is known of that.")


@command(app, opened)
async def show(store: KnowledgeStore, item_id: Id, user: User = LOCAL_OWNER) -> None:
    """Open a thing: its quote in context, its source, its history."""
    found = await store.get(user, Selection(ids=(item_id,)))
    if not found:
        raise BadRequest(f"Nothing is known under {item_id}.")
    item = found[0]
    say(line_of(item))
    if item.fact:
        say(f"\n…{item.before}«{item.fact.quote}»{item.after}…\n")
    if item.topics:
        say(f"read for: {'; '.join(item.topics)}")
    for one in item.history:
        say(f"{one.at[:16]}  {one.verdict}  job {one.job}")
    for other in await store.get(user, Selection(ids=item.against)) if item.against else ():
        say(f"contradicted by {line_of(other)}")


@command(app, opened)
async def forget(
    store: KnowledgeStore,
    item_id: Annotated[str, typer.Argument(help="Id of one thing.")] = "",
    url: Annotated[str, typer.Option(help="Everything of one address.")] = "",
    domain: Annotated[str, typer.Option(help="Everything of one domain.")] = "",
    job: Annotated[str, typer.Option(help="Everything that one job met with.")] = "",
    everything: Annotated[bool, typer.Option("--all", help="Everything there is.")] = False,
    user: User = LOCAL_OWNER,
) -> None:
    """Forget for good: one thing, a source, a domain, a job, or everything."""
    where = Selection(ids=(item_id,) if item_id else (), url=url, domain=domain, job=job)
    if where.empty and not everything:
        raise BadRequest("Say what to forget: an id, --url, --domain, --job, or --all.")
    say(f"forgotten: {await store.forget(user, where)}")


@command(app, opened)
async def export(
    store: KnowledgeStore,
    out: Annotated[Path, typer.Argument(help="File to write, JSON Lines.")],
    user: User = LOCAL_OWNER,
) -> None:
    """Write everything as JSON Lines."""
    count = 0
    with out.open("w", encoding="utf-8") as file:
        async for line in exported(store, user):
            file.write(line + "\n")
            count += 1
    say(f"written: {count}")


@command(app, opened, "import")
async def import_(
    store: KnowledgeStore,
    file: Annotated[Path, typer.Argument(help="JSON Lines of an export; they become this user's.")],
    user: User = LOCAL_OWNER,
) -> None:
    """Take an export in; what is known already stays as it is here."""
    new, known, broken = await imported(store, user, file.read_text("utf-8", errors="replace").splitlines())
    say(f"new: {new}, known already: {known}, not readable: {broken}")


@command(app, opened)
async def reembed(store: KnowledgeStore, user: User = LOCAL_OWNER) -> None:
    """Embed anew after DOSSIER_EMBEDDER was changed; can be broken off, and the old directions stay until all is done."""
    done = await store.reembed(user, lambda done, of: say(f"{done} of {of}"))
    stats = await store.stats(user)
    say(f"embedded anew: {done}; {stats.embedded} of {stats.items} by {stats.embedder} ({stats.dimensions} parts)")
