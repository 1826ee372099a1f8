"""`serve`: everything before the first import of Chainlit, which reads its folder and secret while it is imported.

This module imports nothing that imports Chainlit: the folder it works in, the port, and who may use the server (the one
local user on loopback, else whoever has the key).
"""

import asyncio
import errno
import functools
import gc
import hmac
import importlib.util
import json
import os
import secrets
import shutil
import socket
import sys
import tomllib
import types
from pathlib import Path

from agents.core import paths
from agents.core.errors import ConfigError
from agents.core.paths import RESOURCES
from agents.core.settings import Settings
from agents.core.transport import LOOPBACK

LOCAL = "local"  # the one user of a server that only this machine can reach
REMOTE = "user"  # the one user of a server that others can reach; known by the key


def on_loopback(host: str) -> bool:
    """Tell whether only this machine can reach a server on `host`."""
    return host.strip("[]") in LOOPBACK


def check_exposure(settings: Settings) -> None:
    """Refuse to serve others without a key."""
    if not on_loopback(settings.host) and not settings.api_key.get_secret_value():
        raise ConfigError(
            f"DOSSIER_HOST={settings.host} lets other machines in, which needs a key: "
            "set DOSSIER_API_KEY, or use 127.0.0.1."
        )


def owner_name(settings: Settings) -> str:
    """Name the one user of a server."""
    return LOCAL if on_loopback(settings.host) else REMOTE


def is_the_key(settings: Settings, given: str) -> bool:
    """Compare a key in constant time; without a key set, none is right."""
    key = settings.api_key.get_secret_value()
    return bool(key) and hmac.compare_digest(key.encode(), given.encode())


def kept_secret(folder: Path) -> str:
    """Return the secret that sessions are signed with: made once, so that a restart logs nobody out."""
    path = folder / "auth_secret"
    folder.mkdir(parents=True, exist_ok=True)
    path.touch(0o600)
    if not (secret := path.read_text().strip()):
        path.write_text(secret := secrets.token_hex(32))
    return secret


def app_root(data_dir: Path, port: int) -> Path:
    """Lay out the folder, one per port.

    Chainlit writes translations and session files there and deletes them at its end: the checkout stays clean, and two
    servers do not delete each other's files.
    """
    folder = data_dir / "chainlit" / str(port)
    shutil.rmtree(folder, ignore_errors=True)
    translations = folder / ".chainlit" / "translations"
    translations.mkdir(parents=True)
    shutil.copy(RESOURCES / ".chainlit" / "config.toml", folder / ".chainlit" / "config.toml")
    shutil.copytree(RESOURCES / "public", folder / "public")
    shutil.copy(RESOURCES / "chainlit.md", folder / "chainlit.md")
    for name, words in _frame().items():
        (translations / f"{name}.json").write_text(words, encoding="utf-8")
        shutil.copy(RESOURCES / "chainlit.md", folder / f"chainlit_{name}.md")  # else Chainlit warns on every page
    return folder


def _frame() -> dict[str, str]:
    """Write the words of Chainlit's frame with ours over them, as JSON: German in German, all others in English.

    So the frame never speaks a language that the page inside it does not. Empty when Chainlit keeps its words elsewhere,
    which only costs ours.
    """

    def over(below: object, above: object) -> object:
        """Lay words over words, group by group."""
        if not isinstance(below, dict) or not isinstance(above, dict):
            return above
        return below | {name: over(below.get(name), one) for name, one in above.items()}

    spec = importlib.util.find_spec("chainlit")
    places = list(spec.submodule_search_locations or ()) if spec else []
    files = {path.stem: path for place in places for path in (Path(place) / "translations").glob("*.json")}
    spoken = {
        name: json.dumps(over(json.loads(files[name].read_text(encoding="utf-8")), words), ensure_ascii=False)
        for name, words in tomllib.loads(FRAME.read_text(encoding="utf-8")).items()
        if name in files
    }
    return {name: spoken.get(name, spoken.get("en-US", "{}")) for name in files}


WAITING = 128  # connections that may wait while the server loads
FRAME = Path(__file__).parent / "frame.toml"  # the words of the frame around the chat that are ours
GRACE_S = 3  # seconds that open connections (event streams, above all) get when the server is stopped


def reserve(host: str, port: int) -> socket.socket:
    """Take the port before anything else: whoever opens the page while the rest loads waits for it and is not refused."""
    taken = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind((host.strip("[]"), port))
        taken.listen(WAITING)
    except OSError as error:
        taken.close()
        why = f"DOSSIER_HOST={host} is no address of this machine."
        if isinstance(error, PermissionError):
            why = f"Port {port} needs rights that this program does not have. Set PORT to another."
        elif error.errno == errno.EADDRINUSE:
            why = f"Port {port} is taken. Set PORT to another, or stop what runs there."
        raise ConfigError(why) from error
    return taken


def prepare(settings: Settings) -> None:
    """Set what Chainlit reads while it is imported."""
    try:
        os.environ["CHAINLIT_APP_ROOT"] = str(app_root(settings.data_dir, settings.port))
        sign_sessions(settings.data_dir)
    except OSError as error:
        raise ConfigError(f"The data folder {settings.data_dir} can't be written: {error.strerror}.") from error
    without_telemetry()
    paths.below = settings.root_path
    os.environ["CHAINLIT_PARENT_ROOT_PATH"] = settings.root_path  # put in front of what its pages load
    # Cookies know no ports: a second server on this machine would else log the first one's page out.
    os.environ.setdefault("CHAINLIT_AUTH_COOKIE_NAME", f"dossier_{settings.port}")


def without_telemetry() -> None:
    """Keep out the 60 packages of tracing that Chainlit's observability client would load, and never use: 20 MB, 1 s."""
    if "traceloop" in sys.modules:
        return

    class Traceloop:
        init = set_association_properties = staticmethod(lambda *args, **options: None)

    package, sdk = types.ModuleType("traceloop"), types.ModuleType("traceloop.sdk")
    package.__path__ = []
    vars(package)["sdk"], vars(sdk)["Traceloop"] = sdk, Traceloop
    sys.modules |= {"traceloop": package, "traceloop.sdk": sdk}


def sign_sessions(data_dir: Path) -> None:
    """Give Chainlit the secret that it signs log-ins with, unless the operator gave one."""
    os.environ.setdefault("CHAINLIT_AUTH_SECRET", kept_secret(data_dir))


def banner(settings: Settings) -> str:
    """Say where the server is; what is searched and what leaves the computer is said once that is known."""
    name = {"127.0.0.1": "localhost", "::1": "[::1]"}.get(settings.host, settings.host)
    return f"Dossier is at http://{name}:{settings.port} (Ctrl+C stops it)"


def serve(settings: Settings) -> None:
    """Run chat and routes until stopped."""
    check_exposure(settings)
    taken = reserve(settings.host, settings.port)
    prepare(settings)

    import uvicorn
    from chainlit.config import config, load_module
    from chainlit.server import app

    from agents.api.routes import opened

    config.run.headless = True
    config.run.host, config.run.port = settings.host, settings.port
    site = opened(settings)
    asyncio.run(site.team.jobs.check())
    config.run.module_name = str(RESOURCES / "app.py")
    load_module(config.run.module_name)
    gc.freeze()  # what is loaded now stays until the end: no chat waits for the collector to go through it
    print(banner(settings), flush=True)
    site.tell = functools.partial(print, flush=True)

    class Server(uvicorn.Server):
        async def main_loop(self) -> None:
            while not await self.on_tick(0):  # noqa: ASYNC110 - it is a signal that uvicorn waits for
                await asyncio.sleep(0.5)  # not ten times a second, which an idle server pays for

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            # Before the connections are waited for: event streams end with their runs, and open pages are told why.
            if config.code.on_app_shutdown:
                await config.code.on_app_shutdown()
            await super().shutdown(sockets)

    level = settings.log_level.lower()
    Server(
        uvicorn.Config(app, log_level=level, access_log=False, server_header=False, timeout_graceful_shutdown=GRACE_S)
    ).run([taken])
