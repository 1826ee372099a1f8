"""Measure what reading pages costs: CPU from page to text, and how long anything holds up the event loop meanwhile.

Run by `make bench`. Times are CPU times of the thread concerned, so that other load on the machine does not count.
"""

import asyncio
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from agents.core.budget import Deadline  # noqa: E402 - runs from a checkout
from agents.core.errors import SourceError  # noqa: E402
from agents.core.prompts import load  # noqa: E402
from agents.jobs.blob_store import BlobStore  # noqa: E402
from agents.offline import OfflineModel  # noqa: E402
from agents.research.reading.read_sources import extract  # noqa: E402
from agents.research.run_context import RunContext  # noqa: E402
from agents.search.pages import WebPages  # noqa: E402
from agents.web.fetching import Fetcher  # noqa: E402
from agents.web.guard import AllowedHosts  # noqa: E402
from agents.web.read_page import warm_up  # noqa: E402
from agents.web.reader import read_here  # noqa: E402
from tests.scripted_search import ScriptedSearcher  # noqa: E402
from tests.scripts import to_read  # noqa: E402

CASES = ROOT / "tests" / "data" / "cases"
PAGES = sorted([*CASES.glob("C2[567]/*.html"), *CASES.glob("C33/*.html"), *(ROOT / "examples/library").glob("*.html")])
FILES = sorted(CASES.glob("C2[89]/*.pdf")) + sorted(CASES.glob("C30/*.pdf"))
RUNS = 9
LONG_PAGE = 2_500_000
"""Characters of a made-up page, near the most that is looked at."""
QUESTIONS = ("On how many days was the ferry line closed?", "What did the winter service cost?")


def page_ms() -> tuple[float, float, str]:
    """Median CPU milliseconds from page to text over the case pages, the slowest page's, and its name."""
    found: dict[str, float] = {}
    for path in PAGES:
        body = path.read_bytes()
        times = []
        for _ in range(RUNS):
            began = time.thread_time()
            with suppress(SourceError):  # a wall: recognising it costs the same
                read_here(body, "text/html", f"https://{path.stem.replace('_', '-')}.example/page")
            times.append(1000 * (time.thread_time() - began))
        found[str(path.relative_to(ROOT))] = median(times)
    slowest = max(found, key=lambda name: found[name])
    return median(found.values()), found[slowest], slowest


@contextmanager
def longest_block() -> Iterator[list[tuple[float, str]]]:
    """Note the CPU milliseconds of each step of the event loop, longest first in the end."""
    steps: list[tuple[float, str]] = []
    plain = asyncio.Handle._run

    def timed(handle: asyncio.Handle) -> None:
        began = time.thread_time()
        plain(handle)
        callback = getattr(handle, "_callback", None)
        owner = getattr(callback, "__self__", None)
        what = repr(owner.get_coro()) if isinstance(owner, asyncio.Task) else repr(callback)
        steps.append((1000 * (time.thread_time() - began), what[:200]))

    asyncio.Handle._run = timed  # type: ignore[method-assign]
    try:
        yield steps
    finally:
        asyncio.Handle._run = plain  # type: ignore[method-assign]
        steps.sort(reverse=True)


def long_page() -> bytes:
    """A page of very many sentences."""
    told = (
        f"<p>In winter {n} the ferry line over the lake was closed on {n % 60} days, and it cost {n} crowns.</p>"
        for n in range(LONG_PAGE // 100)
    )
    return f"<html><head><title>Log</title></head><body><article>{''.join(told)}</article></body></html>".encode()


class _Site(ThreadingHTTPServer):
    """Serves the case files on loopback, each under a host of its own."""

    def __init__(self) -> None:
        self.files = {f"/{path.parent.name}/{path.name}": path.read_bytes() for path in (*PAGES, *FILES)}
        self.files["/long.html"] = long_page()
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Send a file, or say that there is none."""
        body = self.server.files.get(self.path)  # type: ignore[attr-defined]
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "application/pdf" if self.path.endswith(".pdf") else "text/html")
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


async def read_all(site: _Site, folder: Path) -> tuple[int, int]:
    """Fetch, read and extract from every file at once; how many gave a text, and how many did not."""
    fetcher = Fetcher(AllowedHosts.parse(f"*.example=127.0.0.1:{site.server_port}"))
    pages = WebPages(fetcher)
    blobs = BlobStore(folder)
    model = OfflineModel()
    context = RunContext(
        models={"extractor": model}, prompts=load(), searcher=ScriptedSearcher({}), texts=blobs, today="2026-11-28"
    )

    async def one(number: int, path: str) -> bool:
        from agents.contracts.sources import SourceCard

        url = f"http://site{number}.example{path}"
        try:
            source = await pages.read(url, 60.0)
        except SourceError:
            return False
        await blobs.put(source.text)
        await extract(context, (SourceCard.of(source),), to_read(url, *QUESTIONS), Deadline())
        return True

    try:
        done = await asyncio.gather(*(one(number, path) for number, path in enumerate(site.files)))
    finally:
        await fetcher.aclose()
        context.close()
    return sum(done), len(done) - sum(done)


async def block_ms() -> tuple[float, list[str], int, int]:
    """The longest step of the event loop while everything is read, what it was, and how many pages gave a text or not."""
    site = _Site()
    threading.Thread(target=site.serve_forever, daemon=True).start()
    await warm_up()
    with tempfile.TemporaryDirectory() as folder, longest_block() as steps:
        given, empty = await read_all(site, Path(folder))
    site.shutdown()
    return steps[0][0], [f"{took:.0f} ms {what}" for took, what in steps[:12]], given, empty


def main() -> None:
    """Print the rows that belong below the table of the offline engine."""
    mid, most, slowest = page_ms()
    print(
        f"| page to text, CPU, median of {len(PAGES)} case pages | {mid:.1f} ms (slowest {most:.1f}: {slowest}) | ≤ 5 ms |"
    )
    block, what, given, empty = asyncio.run(block_ms())
    print(f"| longest step of the event loop, {given + empty} files read at once | {block:.0f} ms | ≤ 100 ms |")
    print(f"| files without usable text, refused with a reason | {empty} of {given + empty} | |")
    if "--what" in sys.argv:
        print("\n".join(what))


if __name__ == "__main__":
    main()
