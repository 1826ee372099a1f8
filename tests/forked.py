"""Real processes that have their modules already: forked from one that imported them once, and can be killed at any moment.

A fresh interpreter takes three seconds for its imports alone, of which a test that kills ten of them holds nothing.
"""

import asyncio
import multiprocessing
import os

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.jobs.worker_child", "agents.team", "asyncpg", "psycopg"])


def forked(log, main, *arguments):
    """Start a process that runs the coroutine `main` of an importable module, and writes what it says to `log`."""
    process = _CONTEXT.Process(target=_run, args=(str(log), dict(os.environ), main, arguments), daemon=True)
    process.start()
    return process


def _run(log, environment, main, arguments):
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.environ.clear()
    os.environ.update(environment)
    asyncio.run(main(*arguments))
