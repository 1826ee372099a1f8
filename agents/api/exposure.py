"""Who may use a server: the one local user on loopback, else whoever has the key. Imports no Chainlit."""

import hmac
import os
import secrets
from pathlib import Path

from agents.core.errors import ConfigError
from agents.core.settings import Settings

LOCAL = "local"
"""The one user of a server that only this machine can reach."""
REMOTE = "user"
"""The one user of a server that others can reach; known by the key."""

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


def on_loopback(host: str) -> bool:
    """Tell whether only this machine can reach a server on `host`."""
    return host.strip("[]") in LOOPBACK


def check_exposure(settings: Settings) -> None:
    """Refuse to serve others without a key.

    Raises:
        ConfigError: the host is not loopback and no key is set.
    """
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
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        if kept := path.read_text().strip():
            return kept
        handle = os.open(path, os.O_WRONLY | os.O_TRUNC)
    secret = secrets.token_hex(32)
    with os.fdopen(handle, "w") as file:
        file.write(secret)
    return secret
