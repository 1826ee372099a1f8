"""The command line: run, serve, worker, doctor. Heavy imports stand inside the commands, so that `--help` answers at once."""

import asyncio
import contextlib
import gc
import logging
import os
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from agents.cli import jobs_commands, memory_commands
from agents.cli.jobs_commands import OUT, exits, fail, run_to_exit
from agents.contracts.frozen import Tier

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Dossier: from a broad question to a report whose every sentence opens its quote.",
    pretty_exceptions_enable=False,
)

app.add_typer(jobs_commands.app, name="jobs")
app.add_typer(memory_commands.app, name="memory")


@app.command()
def run(
    question: Annotated[str, typer.Argument(help="What you want to know; one feasible question.")] = "",
    tier: Annotated[Tier | None, typer.Option(help="Bounds of one run; excludes --deep.")] = None,
    deep: Annotated[bool, typer.Option("--deep", help="Up to 7 rounds instead of 3.")] = False,
    time: Annotated[
        str, typer.Option(help="Minutes, more than 0 and at most 1440, or `unlimited`; 5 by default.")
    ] = "",
    library: Annotated[list[Path] | None, typer.Option(help="Folder with documents to search; repeatable.")] = None,
    retriever: Annotated[str, typer.Option(help="Where to search, as a comma list.")] = "",
    model: Annotated[str, typer.Option(help="Model for every role, as provider/model, or `offline`.")] = "",
    refresh: Annotated[
        str, typer.Option(help="Run the contract of this earlier job on today's sources, and say what has changed.")
    ] = "",
    goes_on: Annotated[
        str, typer.Option("--continue", help="Ask beginning with what the report of this earlier job cites.")
    ] = "",
    no_challenge: Annotated[bool, typer.Option("--no-challenge", help="Skip the search for counter-evidence.")] = False,
    no_memory: Annotated[
        bool, typer.Option("--no-memory", help="Neither ask the knowledge base nor add to it.")
    ] = False,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the whole report document here.")] = None,
    out: Annotated[Path | None, OUT] = None,
) -> None:
    """Research a question without the chat: progress on standard error, the report on standard output."""
    from agents.core.settings import load
    from agents.research.planning.freeze_contract import usual_minutes
    from agents.research.scoping.authorization import minutes_of

    if deep and tier:
        fail("--tier and --deep exclude each other: a tier has its own bounds.", 2)
    if refresh and (question or goes_on):
        fail("--refresh asks what was asked before: it takes neither a question nor --continue.", 2)
    if refresh and (time or tier or deep):
        fail("--refresh runs the contract as it was authorized: it takes no --time, --tier or --deep.", 2)
    with exits():
        settings = load()
        minutes = minutes_of(time) if time else usual_minutes(settings.max_execution_time_s, tier)
        update: dict[str, object] = {}
        if model:
            update |= {"model": model, "models": {}}
        if library:
            update["library"] = tuple(library)
        if retriever:
            update["retriever"] = tuple(part.strip() for part in retriever.split(",") if part.strip())
        settings = settings.model_copy(update=update)
        logging.basicConfig(level=settings.log_level, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
        from agents.cli.headless import research

        work = research(
            settings, question, mode="deep" if deep else "standard", tier=tier, minutes=minutes,
            challenge=not no_challenge, json_file=json_file, out=out, refresh=refresh, goes_on=goes_on,
            memory=None if no_memory else "local",
        )  # fmt: skip
        code = asyncio.run(work)
    raise typer.Exit(code)


@app.command()
def serve() -> None:
    """Start the chat and the routes beside it (PORT, DOSSIER_HOST)."""
    from agents.api.serve import serve as start
    from agents.core.settings import load

    with exits():
        start(load())


@app.command()
def mcp() -> None:
    """Offer research as a tool to an MCP host, over standard input and output."""
    from agents.api.mcp_server import stdio
    from agents.core.settings import load

    with exits():
        stdio(load())


@app.command(name="eval", add_help_option=False, context_settings={"ignore_unknown_options": True})
def evaluate(arguments: Annotated[list[str] | None, typer.Argument()] = None) -> None:
    """Measure quality on labelled data; for development, in a checkout."""
    try:
        measuring = import_module("tests.eval.command")
    except ModuleNotFoundError:
        fail("`eval` is for development: run `python -m agents eval` in the folder of a checkout.", 2)
    measuring.app(arguments or [])


@app.command()
def doctor(
    really: Annotated[
        bool, typer.Option("--try", help="Ask every model and search provider once: sends a word, may cost a fraction.")
    ] = False,
) -> None:
    """Say what models, searchers, documents and folders are usable, and what is missing, without any secret."""
    from agents.cli.doctor import report

    with exits():
        lines, usable = asyncio.run(report(really=really))
    for line in lines:
        typer.echo(line)
    raise typer.Exit(0 if usable else 1)


@app.command()
def worker(
    name: Annotated[str, typer.Option(help="Distinct, and the same after a restart. Default: the host's name.")] = "",
) -> None:
    """Run jobs without a chat: those that a server left, or those that chat servers put into PostgreSQL."""
    from agents.api.metrics import log_to_stderr
    from agents.core.settings import load
    from agents.team import open_team

    async def work() -> None:
        settings = load().model_copy(update={"runs_jobs": True})
        log_to_stderr(settings.log_level)
        team = open_team(settings.model_copy(update={"worker_name": name}) if name else settings, durable=True)
        stopping = asyncio.Event()
        for sign in (signal.SIGTERM, signal.SIGINT):
            with contextlib.suppress(NotImplementedError):
                asyncio.get_running_loop().add_signal_handler(sign, stopping.set)
        try:
            await team.open()
            typer.echo(f"worker {name or settings.worker_name or 'of this host'} runs jobs; Ctrl+C stops it")
            await stopping.wait()
        finally:
            await team.close()

    run_to_exit(work())


def main() -> None:
    """Run the command line."""
    # While modules load nothing is garbage, and the collector would go through all of it again and again: half a second.
    gc.set_threshold(50_000, 20, 20)
    try:
        app()
    except SystemExit as left:
        if sys.argv[1:2] == ["run"] and isinstance(left.code, int):
            # Everything is written and closed: to take half a million objects apart would cost the caller a second.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(left.code)
        raise
