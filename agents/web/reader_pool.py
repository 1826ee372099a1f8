"""Processes that read documents apart from the program: a document may make its reader loop, grow or crash.

Each process reads one document after another. One that takes too long is ended, and costs nothing but its own time;
the event loop never waits for a parser. Answers are JSON: a process that read a hostile file is not to be trusted.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from agents.core.errors import SourceError
from agents.core.paths import IMPORT_PATH
from agents.web.decoding import WRITTEN, Document

MAX_MEMORY = 1_500_000_000  # bytes of address space of a reading process; the libraries alone take some 300 million
LAST_S = 120  # seconds for one document, should nobody be left to end the process earlier
AT_ONCE = max(2, min(4, os.cpu_count() or 2))  # processes, at most; they are started when they are needed
READ_BY_ONE = 300  # documents after which a process is replaced, since what leaked in it has no other end
_CALL = f"import sys; sys.path.insert(0, {str(IMPORT_PATH)!r}); from agents.web.reader_pool import main; main()"
_MAX_ANSWER = 64 * 2**20

BROKEN = "it is broken, or made to be unreadable"
TOO_SLOW = "its text could not be taken out in time"


class Elsewhere(SourceError):
    """The page has no text of its own, and shows or opens another document."""

    def __init__(self, url: str, document_url: str) -> None:
        super().__init__(url, "it only frames another document")
        self.document_url = document_url


class ReaderPool:
    """A few processes that read documents."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        # One thread talks to one process, and waits where the event loop must not.
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="reading")
        self._processes: dict[int, _Process] = {}

    async def read(self, head: Mapping[str, str], body: bytes, limit_s: float) -> dict[str, Any]:
        """Have a document read, as its head says; may be called from any event loop."""
        dropped = threading.Event()
        line = json.dumps({**head, "size": len(body)}).encode() + b"\n"
        try:
            return await asyncio.wrap_future(self._threads.submit(self._do, line + body, limit_s, dropped))
        finally:
            dropped.set()
            for process in tuple(self._processes.values()):
                process.end(dropped)

    def _do(self, asked: bytes, limit_s: float, dropped: threading.Event) -> dict[str, Any]:
        thread = threading.get_ident()
        process = self._processes.get(thread)
        if process is None or not process.is_fresh():
            process = self._processes[thread] = _Process()
        return process.ask(asked, limit_s, dropped)


class _Process:
    def __init__(self) -> None:
        self._popen = subprocess.Popen(
            [sys.executable, "-I", "-c", _CALL],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=None if os.name == "nt" else {},  # no keys where hostile files are read; Windows starts nothing so
        )
        self._asked = 0
        self._lock = threading.Lock()
        self._work: threading.Event | None = None

    def is_fresh(self) -> bool:
        if self._asked >= READ_BY_ONE:
            self._kill()
        return self._popen.poll() is None

    def ask(self, asked: bytes, limit_s: float, dropped: threading.Event) -> dict[str, Any]:
        """Have a document read; `dropped` is set when nobody waits for it any more."""
        with self._lock:
            self._work = dropped
        ends_at = time.monotonic() + limit_s
        clock = threading.Timer(limit_s, self.end, (dropped,))
        clock.daemon = True
        clock.start()
        try:
            if dropped.is_set() or self._popen.stdin is None or self._popen.stdout is None:
                return {"reason": BROKEN}
            self._asked += 1
            self._popen.stdin.write(asked)
            self._popen.stdin.flush()
            answer: dict[str, Any] = json.loads(self._popen.stdout.readline(_MAX_ANSWER))
        except (OSError, ValueError):
            self._kill()
            return {"reason": BROKEN if time.monotonic() < ends_at else TOO_SLOW}
        else:
            return answer
        finally:
            clock.cancel()
            with self._lock:
                self._work = None

    def end(self, work: threading.Event) -> None:
        """End the process when it is at work on this very document."""
        with self._lock:
            if self._work is work:
                self._kill()

    def _kill(self) -> None:
        self._popen.kill()
        self._popen.wait()


# The inside of a reading process: documents come in one after the other, and go out as lines of JSON.


def main() -> None:
    """Answer until the program that asks is gone."""
    from agents.web.reader import read_here  # here, since reading goes through this module elsewhere

    with suppress(ImportError):  # not on Windows: the time limit is left
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    # Libraries that print must not write between the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    while line := sys.stdin.buffer.readline():
        head = json.loads(line)
        body = sys.stdin.buffer.read(head["size"])
        _limit_time(LAST_S)
        answers.write(json.dumps(_answer(read_here, body, head)).encode() + b"\n")
        answers.flush()
        _limit_time(0)


def _answer(read: Callable[[bytes, str, str], Document], body: bytes, head: Mapping[str, str]) -> object:
    try:
        return WRITTEN.dump_python(read(body, head["content_type"], head["url"]), mode="json")
    except Elsewhere as page:
        return {"elsewhere": page.document_url}
    except SourceError as error:
        return {"reason": error.reason.written()}
    except (MemoryError, RecursionError):
        return {"reason": BROKEN}


def _limit_time(seconds: int) -> None:
    """Come to an end even when the program that asks has gone meanwhile; zero takes the limit away."""
    if hasattr(signal, "alarm"):  # not on Windows
        signal.alarm(seconds)
