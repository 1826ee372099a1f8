"""The inside of a reading process: documents come in one after the other, and go out as JSON (see `workshop`)."""

import json
import os
import signal
import sys
from dataclasses import asdict
from typing import Any

from agents.core.errors import SourceError
from agents.web.reader import BROKEN, Elsewhere, read_here
from agents.web.workshop import receive, send

MAX_MEMORY = 1_500_000_000
"""Bytes of address space; the libraries alone take some 300 million."""

LAST_S = 120
"""Seconds for one document, should nobody be left to end the process earlier."""


def main() -> None:
    """Answer until the program that asks is gone."""
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
        send(answers, json.dumps(_answer(body, head["content_type"], head["url"])).encode())
        _limit_time(0)


def _answer(body: bytes, content_type: str, url: str) -> dict[str, Any]:
    try:
        return asdict(read_here(body, content_type, url))
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
