"""A team whose jobs outlive the process, for programs beside the server: a command, a function call, an MCP tool."""

import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from agents.core.settings import Settings
from agents.jobs.filelock import InUse
from agents.team import Team, open_team

_ENGINE = threading.Lock()
"""The engine of durable jobs is one per process: the jobs of teams beside the first live in memory."""


@asynccontextmanager
async def durable_team(settings: Settings, say: Callable[[str], None] = lambda _: None) -> AsyncIterator[Team]:
    """Open a team whose jobs outlive this process, and close it again.

    Jobs that a former process left go on. Where another process runs the jobs of the data folder, or another team of
    this one does, this team's jobs live in memory; their reports are saved all the same.

    Args:
        settings: where jobs are stored, among all else.
        say: told in one sentence when they live in memory because another process has the folder.

    Raises:
        ConfigError: a setting can't be used.
    """
    first = _ENGINE.acquire(blocking=False)
    try:
        team = open_team(settings, durable=first)
        try:
            await team.open()
        except InUse as error:
            say(f"{error.other} runs the jobs of this folder; this run ends with its own process.")
            await team.close()
            team = open_team(settings)
        try:
            yield team
        finally:
            await team.close()
    finally:
        if first:
            _ENGINE.release()
