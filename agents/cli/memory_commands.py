"""The command line of the knowledge base: search, show, forget, export, import, embed anew."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Literal

import typer

from agents.cli.jobs_commands import run_to_exit, say
from agents.contracts.fact import Remembered, Selection, Standing
from agents.core.errors import BadRequest
from agents.memory.knowledge import LOCAL_OWNER, KnowledgeStore, exported, imported, open_memory

app = typer.Typer(no_args_is_help=True, help="Search and keep in order what research has found out.")

User = Annotated[str, typer.Option("--user", help="Whose knowledge base: `user` on a server that others reach.")]
Kind = Literal["all", "fact", "claim", "question", "gap", "link", "reading", "plan"]
Id = Annotated[str, typer.Argument(help="Id of a thing, as the search shows it.")]


def with_memory_of(work: Callable[[KnowledgeStore], Awaitable[None]]) -> None:
    """Do something with the knowledge base; what goes wrong is said and ends the program."""
    from agents.core.settings import load

    async def opened() -> None:
        store = open_memory(load())
        if store is None:
            raise BadRequest("The knowledge base is switched off: DOSSIER_MEMORY is false.")
        try:
            await work(store)
        finally:
            await store.close()

    run_to_exit(opened())


def line_of(item: Remembered) -> str:
    """Say a thing in one line."""
    source = f"  {item.source.title} <{item.source.url}>" if item.source else ""
    return f"{item.id}  {item.seen[:10]}  {item.kind}, {item.verdict}: {' '.join(item.text.split())[:160]}{source}"


@app.command()
def search(
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

    async def work(store: KnowledgeStore) -> None:
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

    with_memory_of(work)


@app.command()
def show(item_id: Id, user: User = LOCAL_OWNER) -> None:
    """Open a thing: its quote in context, its source, its history."""

    async def work(store: KnowledgeStore) -> None:
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
            say(f"{one.at[:16]}  {one.verdict}  job {one.job[:12]}")
        for other in await store.get(user, Selection(ids=item.against)) if item.against else ():
            say(f"contradicted by {line_of(other)}")

    with_memory_of(work)


@app.command()
def forget(
    item_id: Annotated[str, typer.Argument(help="Id of one thing.")] = "",
    url: Annotated[str, typer.Option(help="Everything of one address.")] = "",
    domain: Annotated[str, typer.Option(help="Everything of one domain.")] = "",
    job: Annotated[str, typer.Option(help="Everything that one job met with.")] = "",
    everything: Annotated[bool, typer.Option("--all", help="Everything there is.")] = False,
    user: User = LOCAL_OWNER,
) -> None:
    """Forget for good: one thing, a source, a domain, a job, or everything."""

    async def work(store: KnowledgeStore) -> None:
        where = Selection(ids=(item_id,) if item_id else (), url=url, domain=domain, job=job)
        if where.empty and not everything:
            raise BadRequest("Say what to forget: an id, --url, --domain, --job, or --all.")
        say(f"forgotten: {await store.forget(user, where)}")

    with_memory_of(work)


@app.command()
def export(out: Annotated[Path, typer.Argument(help="File to write, JSON Lines.")], user: User = LOCAL_OWNER) -> None:
    """Write everything as JSON Lines."""

    async def work(store: KnowledgeStore) -> None:
        count = 0
        with out.open("w", encoding="utf-8") as file:
            async for line in exported(store, user):
                file.write(line + "\n")
                count += 1
        say(f"written: {count}")

    with_memory_of(work)


@app.command(name="import")
def import_(
    file: Annotated[Path, typer.Argument(help="JSON Lines of an export; they become this user's.")],
    user: User = LOCAL_OWNER,
) -> None:
    """Take an export in; what is known already stays as it is here."""

    async def work(store: KnowledgeStore) -> None:
        new, known, broken = await imported(store, user, file.read_text("utf-8", errors="replace").splitlines())
        say(f"new: {new}, known already: {known}, not readable: {broken}")

    with_memory_of(work)


@app.command()
def reembed(user: User = LOCAL_OWNER) -> None:
    """Embed anew after DOSSIER_EMBEDDER was changed; can be broken off, and the old directions stay until all is done."""

    async def work(store: KnowledgeStore) -> None:
        done = await store.reembed(user, lambda done, of: say(f"{done} of {of}"))
        stats = await store.stats(user)
        say(f"embedded anew: {done}; {stats.embedded} of {stats.items} by {stats.embedder} ({stats.dimensions} parts)")

    with_memory_of(work)
