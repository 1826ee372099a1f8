"""One process runs the jobs of one SQLite file: a lock that dies with its process, and says whose it is."""

import fcntl
from pathlib import Path
from typing import IO

from agents.core.errors import ConfigError


class InUse(ConfigError):
    """Another process runs the jobs of this file."""

    def __init__(self, message: str, other: str) -> None:
        super().__init__(f"{message} Stop it, or set another DOSSIER_DATA_DIR.")
        self.other = other


def locked(database: Path, place: str) -> IO[str]:
    """Take the lock of a database file, or say who has it.

    Raises:
        ConfigError: another process has it.
    """
    path = database.with_name(database.name + ".lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = path.open("a+", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.seek(0)
        other = lock.read().strip() or "another process"
        lock.close()
        raise InUse(f"The jobs in {database.parent} are already run by {other}.", other) from error
    lock.seek(0)
    lock.truncate()
    lock.write(place)
    lock.flush()
    return lock


def held_by(database: Path) -> str:
    """Say which process runs the jobs of a database file; empty when none does."""
    path = database.with_name(database.name + ".lock")
    try:
        with path.open("r", encoding="utf-8") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                return lock.read().strip() or "another process"
    except FileNotFoundError:
        return ""
    return ""
