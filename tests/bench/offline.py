"""Measure the figures of the offline engine on this machine; prints a table, asserts nothing.

Run by `make bench`. Everything is timed as a user meets it: whole processes, a real port, the sample library.
"""

import asyncio
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import urllib.request
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
RUNS = 3


def environment(folder: str, **extra: str) -> dict[str, str]:
    """A clean environment: offline, sample library, a data folder of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DOSSIER_", "RESEARCH_"))}
    return {**kept, "DOSSIER_MODEL": "offline", "RETRIEVER": "library", "DOSSIER_DATA_DIR": folder, **extra}


def timed(command: list[str], folder: str) -> float:
    """Seconds that a command takes from start to end."""
    started = time.perf_counter()
    subprocess.run(command, cwd=ROOT, env=environment(folder), capture_output=True, check=False)
    return time.perf_counter() - started


def first_page(folder: str, port: int) -> float:
    """Seconds from start to the first served chat page."""
    process = subprocess.Popen(
        [sys.executable, "-m", "agents", "serve"], cwd=ROOT, env=environment(folder, PORT=str(port)),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    started = time.perf_counter()
    try:
        while time.perf_counter() - started < 60:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as page:
                    page.read()
                return time.perf_counter() - started
            except OSError:
                time.sleep(0.05)
        return float("nan")
    finally:
        process.terminate()
        process.wait(20)


async def phrase_to_report(folder: str) -> tuple[float, float, int, int, int]:
    """Seconds from the accepted phrase to first progress and to the report; leaves; quotes, and those verbatim."""
    os.environ |= environment(folder)
    from agents.core.settings import load
    from agents.research.scoping.turn import ScopingState
    from agents.team import open_team

    team = open_team(load())
    question = json.loads((ROOT / "examples" / "starters.json").read_text("utf-8"))["starters"][0]["message"]
    scope, _ = await team.scope(ScopingState(), question)
    contract = await team.draft(scope)
    started = time.perf_counter()
    job = await team.start(contract)
    first = 0.0
    async for numbered in job.follow():
        if numbered is not None and not first:
            first = time.perf_counter() - started
    await job.wait()
    took = time.perf_counter() - started
    quotes = verbatim = 0
    assert job.report is not None
    for reference in job.report.references:
        source = await team.searcher.read(reference.url)
        for quote in reference.quotes:
            quotes += 1
            verbatim += source.text[quote.start : quote.end] == quote.text
    leaves = len(contract.plans[0].root.leaves())
    await team.close()
    return first, took, leaves, quotes, verbatim


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        rows: list[tuple[str, str, str]] = []
        python = sys.executable
        help_s = median(timed([python, "-m", "agents", "--help"], folder) for _ in range(RUNS))
        rows.append(("`python -m agents --help`", f"{help_s:.2f} s", "≤ 0.5 s"))
        pages = [first_page(folder, 18_471 + n) for n in range(RUNS)]
        rows.append(("first chat page after start", f"{median(pages):.1f} s", "≤ 5 s"))
        runs = [asyncio.run(phrase_to_report(folder)) for _ in range(RUNS)]
        rows.append(("phrase to first progress", f"{median(run[0] for run in runs):.3f} s", "≤ 1 s"))
        rows.append((f"phrase to report, {runs[0][2]} leaves", f"{median(run[1] for run in runs):.2f} s", "≤ 10 s"))
        rows.append(("quotes verbatim in their source", f"{runs[0][4]} of {runs[0][3]}", "100 %"))
        question = json.loads((ROOT / "examples" / "starters.json").read_text("utf-8"))["starters"][0]["message"]
        whole = median(timed([python, "-m", "agents", "run", question], folder) for _ in range(RUNS))
        rows.append(("`python -m agents run`, whole process", f"{whole:.1f} s", ""))
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    cores = os.cpu_count()
    print(f"{datetime.now(UTC).date()}, commit {commit.stdout.strip()}, {platform.machine()}, {cores} cores, ", end="")
    print(f"Python {platform.python_version()}, median of {RUNS}\n")
    print("| figure | measured | goal |\n| --- | --- | --- |")
    for name, value, goal in rows:
        print(f"| {name} | {value} | {goal} |")


if __name__ == "__main__":
    main()
