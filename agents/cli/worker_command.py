"""The command `worker`: runs kept jobs without a chat."""

import asyncio
import contextlib
import signal
from typing import Annotated

import typer

from agents.cli.jobs_commands import run_to_exit


def worker(
    name: Annotated[str, typer.Option(help="Distinct, and the same after a restart. Default: the host's name.")] = "",
    until_idle: Annotated[bool, typer.Option("--until-idle", help="End when no job waits or runs.")] = False,
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
            while not stopping.is_set():
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(stopping.wait(), 1.0)
                if until_idle and not await team.jobs.waiting():
                    break
        finally:
            await team.close()

    run_to_exit(work())
