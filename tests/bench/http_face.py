"""Measure the HTTP face's figures on this machine; prints a table, asserts nothing.

A real server with kept jobs, and clients in a process of their own: 50 watchers of one job, how long an event takes to
reach them, `/healthz`, and a list of 10,000 jobs.

    python -m tests.bench.http_face
"""

import asyncio
import json
import os
import platform
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import closing
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.browser.conftest import Server  # noqa: E402

WATCHERS, SECONDS = 50, 10


class BenchServer(Server):
    """The server whose jobs are nothing but events."""

    module = "tests.bench.chat_server"


def cpu_s(pid):
    """Seconds of processor time a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def asked(url, body=None):
    """Ask once and read the answer."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read()


async def watch(port, job_id, after, seconds, late):
    """Read the stream of one job and note how old each event is when it arrives."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET /research/jobs/{job_id}/events?after={after} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    count = 0
    try:
        async with asyncio.timeout(seconds):
            while line := await reader.readline():
                if line.startswith(b"data: ") and b'"doing": "1' in line:
                    at = line.index(b'"doing": "') + 10
                    late.append(time.time() - float(line[at : at + 15]))
                    count += 1
    except TimeoutError:
        pass
    finally:
        writer.close()
    return count


async def watched(port, job_id, seconds):
    """Watch with all watchers at once; prints counts and ages as JSON for the process that measures."""
    late = []
    tree = json.loads(asked(f"http://127.0.0.1:{port}/research/jobs/{job_id}/tree"))
    counts = await asyncio.gather(*(watch(port, job_id, tree["seq"], seconds, late) for _ in range(WATCHERS)))
    late.sort()
    print(json.dumps({"events": sum(counts), "p50": median(late), "p95": late[int(0.95 * len(late))]}))


def streams(events_a_second):
    """Share of a core that the watchers cost, and how old events are when they arrive."""
    with tempfile.TemporaryDirectory() as folder:
        server = BenchServer(Path(folder), BENCH_NODES="300", BENCH_EVENTS=str(events_a_second)).start()
        try:
            query = {"query": "In which year was Eelgrass Watch founded?", "time": "unlimited"}
            job_id = json.loads(asked(f"{server.url}/research/jobs", query))["job_id"]
            time.sleep(4)

            def share(seconds):
                used, began = cpu_s(server.process.pid), time.perf_counter()
                time.sleep(seconds)
                return (cpu_s(server.process.pid) - used) / (time.perf_counter() - began)

            alone = share(SECONDS)
            command = [
                sys.executable,
                "-m",
                "tests.bench.http_face",
                "--watch",
                str(server.port),
                job_id,
                str(SECONDS + 4),
            ]
            with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as watchers:
                time.sleep(2)
                together = share(SECONDS)
                told = json.loads(watchers.communicate(timeout=60)[0])
            return max(0.0, together - alone), told
        finally:
            server.stop()


def answers():
    """Seconds of `/healthz` and of the first page of 10,000 jobs, over one connection that stays open."""
    import http.client

    with tempfile.TemporaryDirectory() as folder:
        server = BenchServer(Path(folder)).start()
        try:
            question = {"query": "In which year was Eelgrass Watch founded?"}
            job_id = json.loads(asked(f"{server.url}/research/jobs", question))["job_id"]
            while json.loads(asked(f"{server.url}/research/jobs/{job_id}/tree"))["status"] not in {"done", "failed"}:
                time.sleep(0.2)
            time.sleep(1)
            with closing(sqlite3.connect(Path(folder) / "data" / "chat.db", timeout=30)) as db, db:
                (entry,) = db.execute("SELECT entry FROM dossier_jobs WHERE id = ?", (job_id,)).fetchone()
                rows = [
                    (f"{n:032x}", "local", "", f"2025-01-01T00:00:{n % 60:02}+00:00", "done",
                     entry.replace(job_id, f"{n:032x}"))
                    for n in range(10_000)
                ]  # fmt: skip
                db.executemany("INSERT INTO dossier_jobs VALUES (?,?,?,?,?,?)", rows)
            connection = http.client.HTTPConnection("127.0.0.1", server.port)

            def took(path, times):
                found = []
                for _ in range(times):
                    began = time.perf_counter()
                    connection.request("GET", path)
                    connection.getresponse().read()
                    found.append(time.perf_counter() - began)
                return sorted(found)

            took("/healthz", 20)
            return took("/healthz", 300), took("/research/jobs", 20), took("/research/jobs?offset=9000", 20)
        finally:
            server.stop()


def main():
    """Measure everything and print it."""
    if sys.argv[1:2] == ["--watch"]:
        asyncio.run(watched(int(sys.argv[2]), sys.argv[3], float(sys.argv[4])))
        return
    rows = []
    for rate in (10, 20):
        cost, told = streams(rate)
        rows.append((f"{WATCHERS} watchers of one job, {rate} events/s", f"{cost:.1%} of a core", "10 %"))
        rows.append(
            ("event to each of them, p50, p95", f"{told['p50'] * 1e3:.0f} ms, {told['p95'] * 1e3:.0f} ms", "100 ms")
        )
    health, first, late = answers()
    rows.append(("`/healthz`, p50, p95", f"{median(health) * 1e3:.1f} ms, {health[285] * 1e3:.1f} ms", "5 ms"))
    rows.append(
        ("first page of 10,000 jobs, p50, p95", f"{median(first) * 1e3:.0f} ms, {first[18] * 1e3:.0f} ms", "100 ms")
    )
    rows.append(("a late page", f"{median(late) * 1e3:.0f} ms, {late[18] * 1e3:.0f} ms", "100 ms"))
    print(
        f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {platform.python_version()}\n"
    )
    print("| what | measured | bound |\n| --- | --- | --- |")
    for name, value, bound in rows:
        print(f"| {name} | {value} | {bound} |")


if __name__ == "__main__":
    main()
