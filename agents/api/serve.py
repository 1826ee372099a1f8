"""`serve`: everything before the first import of Chainlit, which reads its folder and secret while it is imported.

This module imports nothing that imports Chainlit.
"""

import asyncio
import functools
import os
import socket
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from agents.api.approot import app_root
from agents.api.exposure import check_exposure, kept_secret
from agents.core.errors import ConfigError
from agents.core.paths import RESOURCES
from agents.core.settings import Settings

if TYPE_CHECKING:
    from agents.api.app_state import Site

GRACE_S = 3
"""Seconds that open connections (event streams, above all) get when the server is stopped."""


def check_port(host: str, port: int) -> None:
    """Find out before anything else whether the port is free.

    Raises:
        ConfigError: it is taken, or the host is none of this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host.strip("[]"), port))
        except PermissionError as error:
            raise ConfigError(
                f"Port {port} needs rights that this program does not have. Set PORT to another."
            ) from error
        except OSError as error:
            if isinstance(error, socket.gaierror) or error.errno not in _TAKEN:
                raise ConfigError(f"DOSSIER_HOST={host} is no address of this machine.") from error
            raise ConfigError(f"Port {port} is taken. Set PORT to another, or stop what runs there.") from error


_TAKEN = {48, 98, 10048}  # EADDRINUSE on macOS, Linux, Windows


def prepare(settings: Settings) -> None:
    """Set what Chainlit reads while it is imported.

    Raises:
        ConfigError: the data folder can't be written.
    """
    try:
        os.environ["CHAINLIT_APP_ROOT"] = str(app_root(settings.data_dir, settings.port))
        sign_sessions(settings.data_dir)
    except OSError as error:
        raise ConfigError(f"The data folder {settings.data_dir} can't be written: {error.strerror}.") from error
    # Cookies know no ports: a second server on this machine would else log the first one's page out.
    os.environ.setdefault("CHAINLIT_AUTH_COOKIE_NAME", f"dossier_{settings.port}")


def sign_sessions(data_dir: Path) -> None:
    """Give Chainlit the secret that it signs log-ins with, unless the operator gave one."""
    os.environ.setdefault("CHAINLIT_AUTH_SECRET", kept_secret(data_dir))


def banner(site: "Site") -> str:
    """Say where the server is, what it is set up with, and what leaves this computer."""
    from agents.api.about import about
    from agents.llm.local_servers import find_servers

    settings = site.settings
    name = {"127.0.0.1": "localhost", "::1": "[::1]"}.get(settings.host, settings.host)
    said = about(site.team)
    found = find_servers(besides=settings.port) if said.offline else ()
    lines = "\n".join(f"  {line}" for line in (*said.lines, *(one.line for one in found)))
    return f"Dossier is at http://{name}:{settings.port} (Ctrl+C stops it)\n{lines}"


def serve(settings: Settings) -> None:
    """Run chat and routes until stopped.

    Raises:
        ConfigError: the port is taken, the data folder can't be written, a key is missing, or a setting can't be used.
    """
    check_exposure(settings)
    check_port(settings.host, settings.port)
    prepare(settings)

    import uvicorn
    from chainlit.config import config, load_module
    from chainlit.server import app

    from agents.api.app_state import opened

    config.run.headless = True
    config.run.host, config.run.port = settings.host, settings.port
    site = opened(settings)
    asyncio.run(site.team.jobs.check())
    config.run.module_name = str(RESOURCES / "app.py")
    load_module(config.run.module_name)
    if callable(warm_up := getattr(site.team, "warm_up", None)):
        # The model library takes seconds to import: while the user reads the first page, not in the first answer.
        threading.Thread(target=warm_up, name="warm-up", daemon=True).start()
    print(banner(site), flush=True)
    site.reach.tell = functools.partial(print, flush=True)

    class Server(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            # Before the connections are waited for: event streams end with their runs, and open pages are told why.
            if config.code.on_app_shutdown:
                await config.code.on_app_shutdown()
            await super().shutdown(sockets)

    Server(
        uvicorn.Config(
            app,
            host=settings.host.strip("[]"),
            port=settings.port,
            log_level=settings.log_level.lower(),
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=GRACE_S,
        )
    ).run()
