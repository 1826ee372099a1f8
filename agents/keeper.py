"""A team whose jobs are kept, for programs beside the server: one command, one function call, one tool of a host."""

import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from agents.core.settings import Settings
from agents.jobs.filelock import InUse
from agents.team import Team, open_team

_KEEPER = threading.Lock()
"""The engine of kept jobs is one per process: teams beside the first end with their own task."""


@asynccontextmanager
async def keeping_team(settings: Settings, say: Callable[[str], None] = lambda _: None) -> AsyncIterator[Team]:
    """Open a team whose jobs outlive this process, and close it again.

    Jobs that a former process left go on. Where another process runs the jobs of the data folder, or another team of
    this one does, this team's jobs live in memory; their reports are kept all the same.

    Args:
        settings: where jobs are kept, among all else.
        say: told in one sentence when they live in memory because another process has the folder.

    Raises:
        ConfigError: a setting can't be used.
    """
    keeps = _KEEPER.acquire(blocking=False)
    try:
        team = open_team(settings, keep=keeps)
        try:
            await team.open()
        except InUse as error:
            say(f"{error.other} keeps the jobs of this folder; this run ends with its own process.")
            await team.close()
            team = open_team(settings)
        try:
            yield team
        finally:
            await team.close()
    finally:
        if keeps:
            _KEEPER.release()
