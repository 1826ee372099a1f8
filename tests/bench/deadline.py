"""Hold `--time` to its word: runs whose model hangs, ten at a time, and healthy ones, which end as soon as they can.

Run by `make bench`: `python -m tests.bench.deadline [BATCHES] [MINUTES]`, five batches of one minute without more. The mock
model server lies in `$DOSSIER_SHARED/bench`, else in `../shared/bench`.
"""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

SIDE_BY_SIDE = 10
BATCHES = 5
QUESTION = "On how many days was the ferry line closed between 2010 and 2015, and what did the winter service cost?"
HANG = {"on": "chat", "kind": "timeout", "delay": 600}
FAULTS: tuple[tuple[str, list[dict[str, Any]]], ...] = (
    ("every call hangs", [HANG]),
    ("half of all calls hang", [{**HANG, "prob": 0.5}]),
    ("every third call hangs", [{**HANG, "every": 3}]),
    ("the readers hang", [{**HANG, "contains": "numbered sentence"}]),
    ("the writers hang", [{**HANG, "contains": "You write one section"}]),
)
"""What goes wrong in a batch, in turn."""


def library(folder: Path) -> Path:
    """A few documents that answer the question."""
    folder.mkdir()
    for year in range(2010, 2016):
        (folder / f"{year}.md").write_text(
            f"# Report {year}\n\nIn {year} the ferry line over the lake was closed on {year - 1998} days. "
            f"The winter service cost {year - 2007} million crowns in {year}. "
            "The board closes the line when the ice is thicker than 18 centimetres.\n",
            "utf-8",
        )
    return folder


def configure(url: str, faults: list[dict[str, Any]]) -> None:
    """Set what goes wrong, and forget what was counted."""
    base = url.removesuffix("/v1")
    for path, verb, body in (("/_sim/reset", "POST", {}), ("/_sim/config", "PATCH", {"faults": faults})):
        request = urllib.request.Request(
            base + path, data=json.dumps(body).encode(), method=verb, headers={"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            answer.read()


async def batch(folder: Path, documents: Path, minutes: float) -> list[tuple[float, dict[str, Any]]]:
    """Ten runs at once: seconds that each took, and its report."""
    from agents.cli.headless import research
    from agents.core.errors import DossierError
    from agents.core.settings import load

    async def one(number: int) -> tuple[float, dict[str, Any]]:
        out = folder / f"{number}.json"
        settings = load().model_copy(update={"library": (documents,), "data_dir": folder / f"data{number}"})
        started = time.time()
        try:
            await research(
                settings, QUESTION, mode="standard", tier=None, minutes=minutes, challenge=True, json_file=out, out=None
            )
        except DossierError as error:
            print(f"no report: {error}", file=sys.__stderr__)
        if not out.is_file():
            return time.time() - started, {}
        # When the report was there; letting go of connections is no part of it.
        return out.stat().st_mtime - started, json.loads(out.read_text("utf-8"))

    return await asyncio.gather(*(one(number) for number in range(SIDE_BY_SIDE)))


def quietly(folder: Path, documents: Path, minutes: float) -> list[tuple[float, dict[str, Any]]]:
    """Run a batch; what its runs say goes nowhere."""
    with (
        Path(os.devnull).open("w") as nowhere,
        contextlib.redirect_stderr(nowhere),
        contextlib.redirect_stdout(nowhere),
    ):
        return asyncio.run(batch(folder, documents, minutes))


def main() -> int:
    """Print a line a batch, and how many reports stood inside the time."""
    batches = int(sys.argv[1]) if len(sys.argv) > 1 else BATCHES
    minutes = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
    shared = Path(os.environ.get("DOSSIER_SHARED") or ROOT.parent / "shared")
    if not (shared / "bench").is_dir():
        print(f"NOTHING WAS MEASURED: there is no mock model server at {shared / 'bench'}. Set DOSSIER_SHARED.")
        return 0
    server = subprocess.Popen(
        [sys.executable, "-m", "worldsim", "serve", "--config", json.dumps({"speed": 20})], cwd=shared / "bench",
        stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert server.stdout is not None
    url = json.loads(server.stdout.readline())["llm_url"]
    os.environ |= {
        "OPENAI_API_KEY": "sk-mock-0123456789abcdef", "OPENAI_API_BASE": url, "DOSSIER_MODEL": "openai/sim",
        "RETRIEVER": "library",
    }  # fmt: skip
    from agents.llm.litellm_model import warm_up

    warm_up()
    inside = all_runs = 0
    try:
        with tempfile.TemporaryDirectory() as place:
            documents = library(Path(place) / "documents")
            for number in range(batches):
                what, faults = FAULTS[number % len(FAULTS)]
                configure(url, faults)
                (folder := Path(place) / f"batch{number}").mkdir()
                done = quietly(folder, documents, minutes)
                good = [took for took, report in done if took <= minutes * 60 and report.get("references")]
                inside, all_runs = inside + len(good), all_runs + len(done)
                took = sorted(seconds for seconds, _ in done)
                print(
                    f"{what:32} {len(good)} of {len(done)} reports with references inside {minutes * 60:g} s, "
                    f"{sum(bool(report.get('references')) for _, report in done)} at all; "
                    f"seconds {took[0]:.1f} to {took[-1]:.1f}, median {median(took):.1f}",
                    flush=True,
                )
            configure(url, [])
            (folder := Path(place) / "healthy").mkdir()
            done = quietly(folder, documents, minutes)
            took = sorted(seconds for seconds, _ in done)
            grades = sorted({report.get("grade", "none") for _, report in done})
            print(
                f"{'nothing hangs':32} {len(done)} runs, {', '.join(grades)}; seconds {took[0]:.1f} to {took[-1]:.1f}"
            )
    finally:
        server.terminate()
        server.wait(20)
    print(f"\nreports inside the time: {inside} of {all_runs}")
    return int(inside < all_runs)


if __name__ == "__main__":
    raise SystemExit(main())
