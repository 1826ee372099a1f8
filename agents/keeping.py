"""The part of the composition root that says where jobs are kept, and by whom they are run."""

import socket
import time

from agents.core.settings import Settings, reread_keys
from agents.jobs.blob_store import Shelf
from agents.jobs.service import Jobs


def kept_jobs(settings: Settings) -> Jobs:
    """Set up jobs that outlive this process.

    Raises:
        ConfigError: the database's driver is missing.
    """
    # Database and engine take half a second to import: only where jobs are kept.
    from agents.jobs.maintenance import DurableJobs
    from agents.jobs.store_config import Where

    where = Where.of(
        settings.data_dir,
        settings.database_url.get_secret_value(),
        executor=settings.worker_name or socket.gethostname(),
        workers=settings.worker_jobs,
        runs=settings.runs_jobs,
        keep_days=settings.keep_days,
        planner_window_s=settings.planner_pending_window_ms / 1000,
        reread_keys=reread_keys,
    )
    return DurableJobs(Shelf(settings.data_dir), time.monotonic, where, per_job=settings.max_concurrency)
