"""A crowded server and an idle one, measured: chat turns, events, errors and memory; prints a table, asserts nothing.

    python -m tests.bench.load [--seconds N] [--sessions N] [--jobs N] [--soak N] [--idle]

A real server on the offline engine; every session is a socket that speaks as the page does, and thinks between messages.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import sys
import tempfile
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import httpx  # noqa: E402
import socketio  # noqa: E402

from tests.bench.chat import BenchServer, cpu_s  # noqa: E402

QUESTIONS = [
    one["message"] for one in json.loads((ROOT / "examples" / "starters.json").read_text("utf-8"))["starters"][:1]
]
QUESTIONS += ["How much carbon do the planted eelgrass meadows bury each year?"]
SMALL = "On how many days was the Orvane ferry closed by ice in the winter of 2022?"
"""Answered by three short documents: so many jobs of it are done in minutes."""
MARKS = 10
"""Times that memory is looked at while many jobs are done one after the other."""
THINKS_S = (8.0, 30.0)
"""Seconds between two messages of one session, at least and at most."""


def memory_mb(server):
    """Resident memory of the server's own process."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def p95(values):
    """The value that one in twenty exceeds."""
    return sorted(values)[int(0.95 * (len(values) - 1))] if values else float("nan")


class Session:
    """One page: connects, asks, and waits until the answer is whole."""

    def __init__(self, server, number):
        self.server, self.dice = server, random.Random(number)
        self.turns, self.errors = [], 0
        self.ready, self.idle = asyncio.Event(), asyncio.Event()

    async def talk(self, until):
        io = socketio.AsyncClient(reconnection=False)

        async def heard(event, *data):
            if event == "clear_call_fn":
                self.ready.set()
            if event == "task_end":
                self.idle.set()

        io.on("*", heard)
        async with httpx.AsyncClient(base_url=self.server.url, trust_env=False) as page:
            cookies = (await page.get("/", headers={"accept": "text/html"})).cookies
        try:
            await io.connect(
                self.server.url, headers={"Cookie": "; ".join(f"{k}={v}" for k, v in cookies.items())},
                socketio_path="/ws/socket.io", transports=["websocket"], wait_timeout=60,
                auth={"clientType": "webapp", "sessionId": str(uuid.uuid4()), "threadId": "", "userEnv": "{}", "chatProfile": ""},
            )  # fmt: skip
            await io.emit("connection_successful")
            await asyncio.wait_for(self.ready.wait(), 60)
            while time.monotonic() < until:
                await asyncio.sleep(self.dice.uniform(*THINKS_S))
                await self._turn(io)
        except (OSError, TimeoutError, socketio.exceptions.SocketIOError):
            self.errors += 1
        finally:
            await io.disconnect()

    async def _turn(self, io):
        self.idle.clear()
        began = time.perf_counter()
        message = {
            "id": str(uuid.uuid4()), "threadId": "", "name": "local", "type": "user_message", "metadata": {},
            "output": self.dice.choice(QUESTIONS), "createdAt": datetime.now(UTC).isoformat(), "command": None, "modes": None,
        }  # fmt: skip
        await io.emit("client_message", {"message": message, "fileReferences": []})
        await asyncio.wait_for(self.idle.wait(), 60)
        self.turns.append(time.perf_counter() - began)


async def job(client, question, seen):
    """Post a job, follow its events to the end; note how late they come, and whether it was told its place in the queue."""
    body = {"query": question}
    answer = await client.post("/research/jobs", json=body)
    if answer.status_code != 202:
        seen["errors"] += 1
        return
    job_id = answer.json()["job_id"]
    stands = (await client.get(f"/research/jobs/{job_id}")).json()
    seen["positions"].append(stands["metadata"]["jobs_ahead"])
    arrivals = []
    async with client.stream("GET", f"/research/jobs/{job_id}/events", timeout=None) as stream:
        async for line in stream.aiter_lines():
            if line.startswith("data: ") and (seconds := json.loads(line[6:]).get("seconds")) is not None:
                arrivals.append(time.monotonic() - seconds)
    if arrivals:
        seen["late"] += [at - min(arrivals) for at in arrivals]
    ended = (await client.get(f"/research/jobs/{job_id}")).json()
    seen["ended"].append(ended["status"])


async def crowd(server, sessions, jobs, seconds):
    """All at once; gives what was seen."""
    until = time.monotonic() + seconds
    pages = [Session(server, number) for number in range(sessions)]
    seen = {"late": [], "ended": [], "errors": 0, "positions": []}
    async with httpx.AsyncClient(
        base_url=server.url, trust_env=False, timeout=60, limits=httpx.Limits(max_connections=None)
    ) as client:
        work = asyncio.gather(*(job(client, QUESTIONS[n % len(QUESTIONS)], seen) for n in range(jobs)))
        talks = asyncio.gather(*(page.talk(until) for page in pages))
        peak = memory_mb(server)
        while not talks.done():
            await asyncio.sleep(1.0)
            peak = max(peak, memory_mb(server))
        await talks
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(work, seconds)
    turns = [turn for page in pages for turn in page.turns]
    errors = seen["errors"] + sum(page.errors for page in pages)
    statuses = {status: seen["ended"].count(status) for status in set(seen["ended"])}
    return [
        ("chat turns", len(turns), ""), ("chat turn, p50 ms", 1000 * median(turns or [0]), ""),
        ("chat turn, p95 ms", 1000 * p95(turns), "≤ 300"), ("event delay, p95 ms", 1000 * p95(seen["late"]), "≤ 500"),
        ("errors", errors, "0"), ("jobs ended", str(statuses), f"{jobs} done"),
        ("told a place in the queue", sum(bool(one) for one in seen["positions"]), ""), ("peak memory, MB", peak, ""),
    ]  # fmt: skip


async def soak(server, jobs):
    """Jobs one after the other, a few at a time: how memory moves."""
    marks, room = [], asyncio.Semaphore(4)
    seen = {"late": [], "ended": [], "errors": 0, "positions": []}
    async with httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=60) as client:

        async def one():
            async with room:
                await job(client, SMALL, seen)

        for _ in range(MARKS):
            await asyncio.gather(*(one() for _ in range(jobs // MARKS)))
            await asyncio.sleep(7)  # a quiet moment, in which what is free is given back
            marks.append(memory_mb(server))
            print(f"{len(seen['ended'])} jobs: {marks[-1]:.0f} MB", file=sys.stderr, flush=True)
    grown = 100 * (marks[-1] / marks[1] - 1)
    return [
        (f"memory after each {jobs // MARKS} jobs, MB", " ".join(f"{mark:.0f}" for mark in marks), ""),
        ("growth after the first fifth, %", grown, "≤ 5"), ("jobs done", seen["ended"].count("done"), str(jobs)),
    ]  # fmt: skip


def small_library(folder):
    """Three documents of a few sentences."""
    folder.mkdir()
    for n in range(3):
        text = f"The Orvane ferry was closed by ice on 12 days in the winter of 2022, log {n} says. It cost {n + 3} crowns."
        (folder / f"log{n}.md").write_text(f"# Harbour log {n}\n\n{text}\n", "utf-8")
    return str(folder)


def idle(server, seconds=60):
    """What a server that nobody uses takes."""
    time.sleep(15)
    used, began = cpu_s(server.process.pid), time.monotonic()
    time.sleep(seconds)
    share = 100 * (cpu_s(server.process.pid) - used) / (time.monotonic() - began)
    return [("idle, % of a core", share, "≤ 0.5"), ("idle, MB", memory_mb(server), "≤ 200")]


def main():
    """Start a server, crowd it, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=50)
    parser.add_argument("--soak", type=int, default=0)
    parser.add_argument("--idle", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        of_soak = {"DOSSIER_LIBRARY": small_library(Path(folder) / "library")} if given.soak else {}
        server = BenchServer(Path(folder), LOG_LEVEL="ERROR", **of_soak).start()
        try:
            rows = idle(server) if given.idle else []
            if given.soak:
                rows += asyncio.run(soak(server, given.soak))
            elif not given.idle:
                rows += asyncio.run(crowd(server, given.sessions, given.jobs, given.seconds))
        finally:
            server.stop()
    print(
        f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n| figure | measured | must |\n| --- | ---: | ---: |"
    )
    for name, value, must in rows:
        print(f"| {name} | {value if isinstance(value, str) else f'{value:.3g}'} | {must} |")


if __name__ == "__main__":
    main()
