"""The queue of jobs on DBOS Transact: the only module that imports it.

DBOS decides which process runs which job and when: the queue with its order and its shares per user, claiming,
recovery after a crash under the same executor name, cancellation, and the owner token that keeps two processes off
one job. One attempt at a job is one workflow. It has no DBOS steps: what a step came to is in the job store under
its own key (see `Writer` for why), and a workflow that is run again reads it from there.
"""

import asyncio
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import sqlalchemy as sa
from dbos import DBOS, DBOSClient, DBOSConfig, DBOSPortableJSONSerializer, EnqueueOptions, _dbos
from dbos import error as dbos_error
from dbos._queue import queue_worker_thread
from dbos._sys_db import SystemDatabase
from filelock import FileLock
from sqlalchemy import event
from sqlalchemy.exc import SQLAlchemyError

from agents.core.errors import ConfigError
from agents.jobs.config import JobStoreConfig, locked
from agents.jobs.database import PRAGMAS, plain_url

QUEUE = "jobs"
EPOCH = 1_767_225_600
"""2026 in seconds: priorities are counted from there, since DBOS takes no number above 2 to the 31st."""
ENGINE_ERRORS = (dbos_error.DBOSException, SQLAlchemyError)
"""Errors that say nothing about the job: the engine is being closed, or a database is away."""

RUSH_S = 2.0
"""Seconds for which the queue is looked at every `poll_s` after something came into it or a place became free."""

RunAttempt = Callable[[str, int], Coroutine[None, None, None]]
"""Runs a job's attempt in this process; raises `CancelledError` where it shall not run (any more)."""

_run_attempt: RunAttempt | None = None  # set while an engine is open; DBOS itself is one per process too


class _Bell:
    """What DBOS' thread waits on between two looks at the queue: long while nothing happens, not at all when rung.

    DBOS itself only ever looks again after a fixed time, which costs an idle server 3 % of a core.
    """

    def __init__(self, idle_s: float) -> None:
        self.idle_s, self.stop = idle_s, threading.Event()
        self._rung, self._rush_ends = threading.Event(), time.monotonic() + 5 * RUSH_S

    def ring(self) -> None:
        """Have the queue looked at now, and often for a while."""
        self._rush_ends = time.monotonic() + RUSH_S
        self._rung.set()

    def is_set(self) -> bool:
        """Tell whether DBOS is being stopped."""
        return self.stop.is_set()

    def wait(self, timeout: float) -> bool:
        """Wait until it is rung, at most `timeout` seconds while there is something to expect."""
        self._rung.wait(timeout if time.monotonic() < self._rush_ends else max(timeout, self.idle_s))
        self._rung.clear()
        return self.is_set()

    def serve_queue(self, stop: threading.Event, dbos: DBOS) -> None:
        """Stand in for DBOS' own thread, which asks for queues and looks into its internal one every second."""
        self.stop = stop
        while not stop.is_set():
            try:
                if (queue := dbos._sys_db.get_queue(QUEUE)) is not None:
                    queue_worker_thread(self, dbos, queue)  # type: ignore[arg-type]  # waits and asks, nothing more
            except ENGINE_ERRORS as error:
                logging.getLogger("dbos").warning("the queue can't be read: %s", error)
            stop.wait(1.0)


def _name_of(job: str, attempt: int) -> str:
    return f"{job}~{attempt}"


@DBOS.workflow(name="node")  # the one registered workflow; never rename it: queued jobs are found by this name
async def _workflow(job: str, attempt: int) -> None:
    if _run_attempt is None:
        raise asyncio.CancelledError
    await _run_attempt(job, attempt)


class JobQueue:
    """DBOS in this process: a client of its queue and, in a worker, what runs the attempts that are in it."""

    def __init__(self, config: JobStoreConfig) -> None:
        self.config, self.url = config, plain_url(config.engine_url)
        if not self.url.startswith("sqlite"):
            named = sa.make_url(self.url).update_query_dict({"application_name": config.session})
            self.url = named.render_as_string(hide_password=False)
        self._client: DBOSClient | None = None
        self._file: sa.Engine | None = None  # that of a worker's SQLite file, which client and DBOS share
        self._last_priority = 0
        self._lock: FileLock | None = None
        self._bell = _Bell(config.idle_poll_s)

    async def open(self, run_attempt: RunAttempt | None) -> None:
        """Start DBOS inside the running loop; attempts that a former process left are run again by themselves.

        A process that only enqueues runs no attempt. A `ConfigError` where the database can't be used, or another process
        runs the jobs of this file.
        """
        if run_attempt is not None and self.url.startswith("sqlite:///"):
            self._lock = locked(Path(self.url.removeprefix("sqlite:///")))
            self._file = _sqlite_engine(self.url)
        try:
            # The queue is there before DBOS looks: it looks again only a second later.
            self._client = await asyncio.to_thread(self._connected, runs=run_attempt is not None)
            if run_attempt is not None:
                self._launch(run_attempt)
        except Exception as error:
            await self.close()
            raise ConfigError(f"The job queue can't be used: {' '.join(str(error).split())[:200]}") from error

    def _connected(self, *, runs: bool) -> DBOSClient:
        serializer = DBOSPortableJSONSerializer()
        DBOS.migrate(self.url)
        client = DBOSClient(system_database_url=self.url, system_database_engine=self._file, serializer=serializer)
        if runs:
            client.register_queue(
                QUEUE, worker_concurrency=self.config.workers, partition_concurrency=self.config.per_user,
                polling_interval_sec=self.config.poll_s, on_conflict="always_update", application_name="dossier",
            )  # fmt: skip
        return client

    def _launch(self, run_attempt: RunAttempt) -> None:
        global _run_attempt
        engine_log = logging.getLogger("dbos")
        engine_log.addFilter(_not_about_cancelling)
        if not engine_log.handlers:
            # Else DBOS writes to the stream that standard error was just then, which may be closed by the next run.
            engine_log.addHandler(logging.NullHandler())

        async def attempt(job: str, number: int) -> None:
            try:
                await run_attempt(job, number)
            finally:
                self._bell.ring()  # a place is free

        _run_attempt = attempt
        _dbos.queue_thread = self._bell.serve_queue  # type: ignore[attr-defined, assignment]
        # Messages, schedules and time-outs of workflows, of which there are none here: DBOS would look for them for ever.
        SystemDatabase.run_notification_listener = lambda _: None  # type: ignore[assignment, method-assign]
        _dbos.dynamic_scheduler_loop = _dbos.background_jobs_thread = lambda *_: None  # type: ignore[attr-defined, assignment]
        options: DBOSConfig = {
            "name": "dossier", "application_version": self.config.code_version, "executor_id": self.config.executor,
            "max_executor_threads": 32, "log_level": "ERROR", "serializer": DBOSPortableJSONSerializer(),
            "system_database_url": self.url, "system_database_engine": self._file,
        }  # fmt: skip
        DBOS(config=options)
        DBOS.launch()

    async def close(self) -> None:
        """Stop DBOS; what runs is cut off and taken up at the next start."""
        global _run_attempt
        if self.config.runs:
            _run_attempt = None
            self._bell.ring()
            # DBOS puts its threads in the place of the loop's own; others need some while those are being ended.
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor())
            await asyncio.to_thread(DBOS.destroy)
        if self._client is not None and self._file is None:
            await asyncio.to_thread(self._client.destroy)
        if self._lock is not None:
            self._lock.release()
        self._client = self._lock = self._file = None

    @property
    def _dbos(self) -> DBOSClient:
        if self._client is None:
            raise ConfigError("The job queue is not open.")
        return self._client

    async def enqueue(self, job: str, attempt: int, user: str) -> None:
        """Put a job's attempt into the queue; doing it again changes nothing."""
        # DBOS' clock on SQLite knows whole seconds only: jobs are numbered as they come.
        self._last_priority = max(self._last_priority + 1, int(time.time()) - EPOCH)
        options: EnqueueOptions = {
            "workflow_name": "node", "queue_name": QUEUE, "workflow_id": _name_of(job, attempt),
            "app_version": self.config.code_version, "queue_partition_key": user or "-", "priority": self._last_priority,
        }  # fmt: skip
        await self._dbos.enqueue_async(options, job, attempt)
        self._bell.ring()

    async def cancel(self, job: str, attempt: int) -> None:
        await self._dbos.cancel_workflow_async(_name_of(job, attempt))

    async def tidy(self) -> None:
        """Delete what DBOS knows of attempts that are over; the job store keeps all that matters."""
        over = ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]
        ended = await self._dbos.list_workflows_async(status=over, load_input=False, load_output=False)
        await self._dbos.delete_workflows_async([one.workflow_id for one in ended])


def _sqlite_engine(url: str) -> sa.Engine:
    """Open DBOS' file as DBOS itself does, but with a write-ahead log: 8 times the speed."""
    engine = sa.create_engine(url)

    @event.listens_for(engine, "connect")
    def _set_up(connection: sqlite3.Connection, _: object) -> None:
        connection.isolation_level = "IMMEDIATE"
        for pragma in ("busy_timeout=30000", *PRAGMAS):
            connection.execute(f"PRAGMA {pragma}")

    return engine


def _not_about_cancelling(record: logging.LogRecord) -> bool:
    """Drop what DBOS logs about cancelling: stopping a job is no error."""
    return not (
        "cancelled" in record.getMessage().casefold() or (record.exc_info and "Cancelled" in str(record.exc_info[0]))
    )
