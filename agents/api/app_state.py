"""One server's parts, opened once per process: settings, team, and our routes on Chainlit's app."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import chainlit.server as chainlit_server
from chainlit.config import config

from agents.api.about import Tried, about
from agents.api.exposure import check_exposure
from agents.api.hardening import harden
from agents.api.jobs_api_start import ApiState
from agents.api.metrics import log_to_stderr
from agents.api.openapi import install_routes
from agents.core.settings import Settings, load
from agents.llm.model_names import find_servers
from agents.team import Team, open_team

log = logging.getLogger(__name__)


@dataclass
class Reach:
    """Whether keyless web search can be reached, once it was tried."""

    found: Tried | None = None
    """None where none would be asked, and before it was tried."""
    tell: Callable[[str], None] = field(default=lambda _lines: None)
    """Is given what the server is set up with, and what leaves this computer, once that is known."""

    async def ask(self, team: Team) -> None:
        """Try once; whatever goes wrong only means that nothing is known."""
        try:
            self.found = await team.probe()
        except Exception:
            log.exception("web search could not be tried")
        if self.found is not None:
            state = "reachable" if self.found.reachable else f"not reachable: {self.found.reason}"
            log.info("keyless web search (%s) is %s", self.found.host, state)
        said = about(team, self.found)
        servers = await asyncio.to_thread(find_servers, besides=team.settings.port) if said.offline else ()
        self.tell("\n".join(f"  {line}" for line in (*said.lines, *(one.line for one in servers))))


@dataclass(frozen=True)
class Site:
    """What the chat and the routes share."""

    settings: Settings
    team: Team
    reach: Reach = field(default_factory=Reach)
    state: ApiState = field(default_factory=ApiState)

    @property
    def chats(self) -> Path:
        """The file of the chats."""
        return self.settings.data_dir / "chat.db"

    def __post_init__(self) -> None:
        self.team.observers.append(self.state.meter.observe)


def opened(settings: Settings | None = None, team: Team | None = None) -> Site:
    """Open this process's site; later calls return the same one.

    It hangs on Chainlit's app, not on a module: Chainlit's development mode loads every module of ours anew.

    Raises:
        ConfigError: a setting can't be used.
    """
    state = chainlit_server.app.state
    site: Site | None = getattr(state, "dossier_site", None)
    if site is None:
        settings = settings or (team.settings if team else load())
        check_exposure(settings)
        log_to_stderr(settings.log_level)
        settings.data_dir.mkdir(parents=True, exist_ok=True)
        team = team or open_team(settings, durable=True)
        site = Site(settings, team)
        # Else Chainlit opens a browser window by itself.
        config.run.headless = True
        harden(settings.host, settings.port, settings.root_path)
        install_routes(chainlit_server.app)
        state.dossier_site = site
    return site
