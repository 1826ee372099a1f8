"""One server's parts, opened once per process: settings, team, ledger, and our routes on Chainlit's app."""

from dataclasses import dataclass

import chainlit.server as chainlit_server
from chainlit.config import config

from agents.api.exposure import check_exposure
from agents.api.hardening import harden
from agents.api.ledger import Ledger
from agents.api.routes import install
from agents.settings import Settings, load
from agents.team import Team, open_team


@dataclass(frozen=True)
class Site:
    """What the chat and the routes share."""

    settings: Settings
    team: Team
    ledger: Ledger


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
        settings.data_dir.mkdir(parents=True, exist_ok=True)
        team = team or open_team(settings)
        site = Site(settings, team, Ledger(settings.data_dir / "chat.db"))
        # Else Chainlit opens a browser window by itself.
        config.run.headless = True
        harden(settings.host, settings.port)
        install(chainlit_server.app)
        state.dossier_site = site
    return site
