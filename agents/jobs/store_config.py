"""Where jobs are kept, by which process they are run, and how long they stay."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agents.jobs.database import async_url
from agents.jobs.orchestrator import PLANNER_WINDOW_S


@dataclass(frozen=True)
class Where:
    """Where jobs are kept and how they are run."""

    database_url: str
    engine_url: str
    executor: str = "main"
    """Stable name of this process among those that run jobs."""
    workers: int = 4
    """Jobs at once in this process."""
    per_user: int = 2
    """Jobs of one user at once, over all processes."""
    poll_s: float = 0.2
    runs: bool = True
    """False for a process that only puts jobs into the queue and watches them."""
    keep_days: float = 0.0
    """Days that jobs which are over are kept; 0 is for ever."""

    planner_window_s: float = PLANNER_WINDOW_S
    """Seconds that a job's planner is waited for."""
    reread_keys: Callable[[], None] = lambda: None
    """Looks again for keys that were put where they are read from since this process started."""

    @classmethod
    def of(cls, folder: Path, url: str = "", **options: Any) -> "Where":
        """Keep jobs in two files of the data folder, or in the operator's database."""
        database = async_url(url, folder)
        if database.startswith("sqlite"):
            # One process, always the same one as far as the engine is concerned.
            options |= {"executor": "main", "runs": True}
            return replace(cls(database, f"sqlite:///{folder / 'engine.db'}"), **options)
        return replace(cls(database, database), **options)
