"""Processes that read documents apart from the program: a document may make its reader loop, grow or crash.

Each process reads one document after another. One that takes too long is ended, and costs nothing but its own time;
the event loop never waits for a parser. Answers are JSON: a process that read a hostile file is not to be trusted.
"""

import asyncio
import json
import os
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import IO, Any

from agents.core.errors import SourceError
from agents.core.paths import IMPORT_PATH
from agents.web.decoding import Document

MAX_MEMORY = 1_500_000_000
"""Bytes of address space of a reading process; the libraries alone take some 300 million."""

LAST_S = 120
"""Seconds for one document, should nobody be left to end the process earlier."""

AT_ONCE = max(2, min(4, os.cpu_count() or 2))
"""Processes, at most; they are started when they are needed."""

READ_BY_ONE = 300
"""Documents after which a process is replaced, since what leaked in it has no other end."""

_CALL = f"import sys; sys.path.insert(0, {str(IMPORT_PATH)!r}); from agents.web.reader_pool import main; main()"
_SIZE = struct.Struct(">Q")
_MAX_ANSWER = 64 * 2**20


BROKEN = "it is broken, or made to be unreadable"
FRAME = "it only frames another document"


class Elsewhere(SourceError):
    """The page has no text of its own, and shows or opens another document."""

    def __init__(self, url: str, document_url: str) -> None:
        super().__init__(url, FRAME)
        self.document_url = document_url


class ReaderEnded(Exception):
    """The process did not answer: it ran out of time, or came to a bad end."""

    def __init__(self, *, in_time: bool) -> None:
        super().__init__("the reading process ended")
        self.in_time = in_time


def send(stream: IO[bytes], *parts: bytes) -> None:
    """Write some bytes so that `receive` on the other side gets the same parts.

    Raises:
        OSError: the other side is gone.
    """
    for part in parts:
        stream.write(_SIZE.pack(len(part)))
        stream.write(part)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes:
    """Read one part.

    Raises:
        EOFError: the other side is gone, or wrote nonsense.
    """
    head = stream.read(_SIZE.size)
    size = _SIZE.unpack(head)[0] if len(head) == _SIZE.size else -1
    part = stream.read(size) if 0 <= size <= _MAX_ANSWER else b""
    if len(part) != size:
        raise EOFError
    return part


class ReaderPool:
    """A few processes that read documents.

    Args:
        at_once: processes, at most.
    """

    def __init__(self, at_once: int = AT_ONCE) -> None:
        # One thread talks to one process, and waits where the event loop must not.
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="reading")
        self._own = threading.local()

    async def read(self, head: Mapping[str, str], body: bytes, limit_s: float) -> dict[str, Any]:
        """Have a document read; may be called from any event loop.

        Args:
            head: its content type and address.
            body: its bytes.
            limit_s: seconds for the reading, beside waiting for a free process.

        Raises:
            Ended: the process did not answer.
        """
        job = _Job(head, body, limit_s)
        try:
            return await asyncio.wrap_future(self._threads.submit(self._do, job))
        finally:
            job.drop()

    def _do(self, job: "_Job") -> dict[str, Any]:
        process: _Process | None = getattr(self._own, "process", None)
        if process is None or not process.is_fresh():
            process = self._own.process = _Process()
        return job.done_by(process)


class _Job:
    """One document on its way through a process; can be dropped by whoever waits for it."""

    def __init__(self, head: Mapping[str, str], body: bytes, limit_s: float) -> None:
        self._head, self._body, self._limit_s = json.dumps(dict(head)).encode(), body, limit_s
        self._lock = threading.Lock()
        self._process: _Process | None = None
        self._over = False

    def done_by(self, process: "_Process") -> dict[str, Any]:
        with self._lock:
            if self._over:
                raise ReaderEnded(in_time=True)
            self._process = process
        clock = threading.Timer(self._limit_s, process.kill)
        clock.daemon = True
        clock.start()
        try:
            return process.ask(self._head, self._body)
        except (OSError, EOFError, ValueError) as error:
            process.kill()
            raise ReaderEnded(in_time=clock.is_alive()) from error
        finally:
            clock.cancel()
            with self._lock:
                self._over = True

    def drop(self) -> None:
        """End the process when it is still at work on this document: nobody waits for it any more."""
        with self._lock:
            if not self._over and self._process is not None:
                self._process.kill()
            self._over = True


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

    def is_fresh(self) -> bool:
        if self._asked >= READ_BY_ONE:
            self.kill()
        return self._popen.poll() is None

    def ask(self, head: bytes, body: bytes) -> dict[str, Any]:
        self._asked += 1
        if self._popen.stdin is None or self._popen.stdout is None:
            raise EOFError
        send(self._popen.stdin, head, body)
        answer: dict[str, Any] = json.loads(receive(self._popen.stdout))
        return answer

    def kill(self) -> None:
        self._popen.kill()
        self._popen.wait()


# The inside of a reading process: documents come in one after the other, and go out as JSON.


def main() -> None:
    """Answer until the program that asks is gone."""
    from agents.web.reader import read_here  # here, since reading goes through this module elsewhere

    _limit_memory()
    # Libraries that print must not write between the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    while True:
        try:
            head, body = json.loads(receive(sys.stdin.buffer)), receive(sys.stdin.buffer)
        except EOFError:
            return
        _limit_time(LAST_S)
        send(answers, json.dumps(_answer(read_here, body, head)).encode())
        _limit_time(0)


def _answer(read: Callable[[bytes, str, str], Document], body: bytes, head: Mapping[str, str]) -> dict[str, Any]:
    try:
        return asdict(read(body, head["content_type"], head["url"]))
    except Elsewhere as page:
        return {"elsewhere": page.document_url}
    except SourceError as error:
        return {"reason": error.reason}
    except (MemoryError, RecursionError):
        return {"reason": BROKEN}


def _limit_time(seconds: int) -> None:
    """Come to an end even when the program that asks has gone meanwhile; zero takes the limit away."""
    if hasattr(signal, "alarm"):  # not on Windows
        signal.alarm(seconds)


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # not on Windows: the time limit is left
        return
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
