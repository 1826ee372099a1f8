"""Where jobs are stored, which process runs them, and how the store is looked after.

One process runs the jobs of one SQLite file: a lock that dies with its process, and says whose it is.
"""

import os
import socket
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from agents.contracts.frozen import digest
from agents.core.errors import ConfigError
from agents.core.port import ProcessLimits
from agents.core.settings import Settings
from agents.jobs.attempt import Clock
from agents.jobs.blob_store import BlobStore
from agents.jobs.job import PLANNER_WINDOW_S

if TYPE_CHECKING:
    from agents.jobs.client import Client

CODE_VERSION = "research-2"
"""Raised by hand, and only when the recorded steps of running jobs can no longer be used. DBOS' own default, a hash of
the sources, would strand every running job at every change of a line."""


@dataclass(frozen=True)
class MaintenancePolicy:
    """How often a process looks after stored jobs, and what it calls too long. All in seconds."""

    round_s: float = 0.5  # between two looks for commands of other processes, or for what they did
    alive_s: float = 5.0  # between two signs of life of a worker
    dead_s: float = 20.0  # without a sign of life until a worker's jobs are taken up by others
    silent_s: float = 600.0  # without an event until a running job is said to stand still
    clean_s: float = 3600.0  # between two looks for old jobs, and for what deleted ones left
    drain_s: float = 120.0
    """That calls in flight get when a job is paused; what takes longer is cut off, and made anew on resuming."""
    answer_s: float = 150.0  # that a worker gets to answer a command (pausing waits for calls in flight)
    write_again_s: tuple[float, ...] = (0.1, 0.3, 1.0, 3.0)
    """Between attempts to write to the store; then the jobs that wait for it break off."""
    remembered: int = 20
    """Jobs that are over and stay in memory (a number); others are read from the store when asked for."""


@dataclass(frozen=True)
class JobStoreConfig:
    """Where jobs are stored and how they are run."""

    database_url: str = ""
    engine_url: str = ""
    executor: str = "main"  # stable name of this process among those that run jobs
    workers: int = 4  # jobs at once in this process
    per_user: int = 2  # jobs of one user at once, over all processes
    poll_s: float = 0.2  # between two looks at the queue while something may be in it
    idle_poll_s: float = 1.0
    """Between two looks when nothing is expected: what other workers put there or make room for is found so."""
    runs: bool = True  # False for a process that only puts jobs into the queue and watches them
    keep_days: float = 0.0  # days that jobs which are over are kept; 0 is for ever
    planner_window_s: float = PLANNER_WINDOW_S  # seconds that a job's planner is waited for
    code_version: str = CODE_VERSION
    policy: MaintenancePolicy = field(default_factory=MaintenancePolicy)

    @property
    def session(self) -> str:
        """Name the connections of this process to a database server: those of a lost one are ended, and its locks with them."""
        return session_of(self.executor)

    def at(self, folder: Path, url: str = "") -> "JobStoreConfig":
        """Store jobs in two files of the data folder, or in the operator's database."""
        from agents.jobs.database import async_url  # the database takes a third of a second to load

        database = async_url(url, folder)
        if not database.startswith("sqlite"):
            return replace(self, database_url=database, engine_url=database)
        # One process, always the same one as far as the engine is concerned.
        engine = f"sqlite:///{folder / 'engine.db'}"
        return replace(self, database_url=database, engine_url=engine, executor="main", runs=True, idle_poll_s=10.0)


def session_of(executor: str) -> str:
    """Name the connections of a worker, in what servers take for a name."""
    return f"dossier-{digest(executor)[:16]}"


def open_jobs(
    settings: Settings, blobs: BlobStore, clock: Clock, *, kept: bool, limits: ProcessLimits | None = None
) -> "Client":
    """Set up jobs: such as outlive this process, or such as die with it and need nothing of the data folder."""
    from agents.jobs.client import Client  # the database takes a third of a second to load

    config = JobStoreConfig(
        executor=settings.worker_name or socket.gethostname(), workers=settings.worker_jobs,
        runs=settings.runs_jobs or not kept, keep_days=settings.keep_days,
        planner_window_s=settings.planner_pending_window_ms / 1000,
    )  # fmt: skip
    if kept:
        config = config.at(settings.data_dir, settings.database_url.get_secret_value())
    return Client(blobs, clock, config, per_job=settings.max_concurrency, limits=limits)


class InUse(ConfigError):
    """Another process runs the jobs of this file."""

    def __init__(self, folder: Path, other: str) -> None:
        super().__init__(f"The jobs in {folder} are already run by {other}. Stop it, or set another DOSSIER_DATA_DIR.")
        self.other = other


def this_process() -> str:
    """Name this process, for people."""
    return f"process {os.getpid()} on {socket.gethostname()}"


def locked(database: Path) -> FileLock:
    """Take the lock of a database file; `InUse` where another process has it."""
    lock = _lock_of(database)
    holder = lock.with_suffix(".holder")  # a file of its own: Windows lets nobody read a locked one
    lock.parent.mkdir(parents=True, exist_ok=True)
    taken = FileLock(lock, timeout=0, thread_local=False)
    try:
        taken.acquire()
    except Timeout as error:
        named = holder.read_text(encoding="utf-8").strip() if holder.exists() else ""
        raise InUse(database.parent, named or "another process") from error
    holder.write_text(this_process(), encoding="utf-8")
    return taken


def held_by(database: Path) -> str:
    """Say which process runs the jobs of a database file; empty when none does."""
    try:
        if _lock_of(database).exists():
            locked(database).release()
    except InUse as error:
        return error.other
    return ""


def _lock_of(database: Path) -> Path:
    return database.with_name(f"{database.name}.lock")
