"""What verification adds to a standard run in the mock world: tokens and wall time with it and without; asserts nothing.

Run by `make eval`, and alone: `python -m tests.bench.overhead [FOLDER]`, where FOLDER holds `bench/worldsim` and `cases`
(`$DOSSIER_SHARED`, else `../shared`). The mock model answers after the time that its tokens take, divided by `SPEED`;
reported seconds are multiplied back. Of each pair of runs the order is changed, so that a warm start favours neither.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from agents.contracts.report import Commission
from agents.core.paths import RESOURCES as ROOT
from agents.core.settings import load
from agents.research.scoping.turn import ScopingState
from agents.team import open_team
from tests.eval.labelled_sets import variant

SPEED = 8
PAIRS = 3
QUESTIONS = (
    "How did the annual operating cost and the installed capacity of the Kelwick tidal power programme develop between 2015 and 2023?",
    "On how many days was the ferry line over the lake closed, and what did its winter service cost?",
)
ASKED_TOKENS, ASKED_TIME = 0.25, 0.15


@dataclass(frozen=True)
class Took:
    """What one run took; tokens of both directions."""

    tokens: int
    seconds: float
    calls: int


@contextmanager
def world(shared: Path) -> Iterator[dict[str, str]]:
    """Serve the mock model, search and web in a process of their own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "worldsim", "serve", "--hosts", "name", "--config", json.dumps({"speed": SPEED})],
        cwd=shared / "bench",
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())
    finally:
        process.terminate()
        process.wait(10)


async def run(urls: dict[str, str], question: str, without: str) -> Took:
    """Research a question once, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="dossier-bench-") as folder:
        os.environ.update(
            OPENAI_API_KEY="sk-mock",
            OPENAI_API_BASE=urls["llm_url"],
            DOSSIER_MODEL="openai/sim",
            DOSSIER_DATA_DIR=folder,
            RETRIEVER="tavily",
            TAVILY_API_KEY="tvly-mock",
            TAVILY_API_BASE=urls["web_url"],
            DOSSIER_ALLOW_PRIVATE_HOSTS=f"*.example=127.0.0.1:{urlsplit(urls['web_url']).port}",
        )
        left_out = variant(without)
        team = open_team(left_out.settings(load()))
        try:
            with left_out.applied():
                scope, _ = await team.scope(ScopingState(mode="standard", minutes=10.0), question)
                job = await team.commission(Commission(brief=scope.brief(team.today())))
                await job.wait()
        finally:
            await team.close()
    if job.report is None:
        raise RuntimeError(job.notice)
    actual = job.report.methodology.actual
    return Took(actual.tokens_in + actual.tokens_out, SPEED * (actual.seconds or 0.0), actual.model_calls)


def measured(shared: Path) -> str:
    """Give the table: medians over pairs of runs of each question."""
    lines = [
        "| Question | tokens without · with | added | seconds without · with | added | model calls |",
        "| --- | --- | ---: | --- | ---: | --- |",
    ]
    for number, question in enumerate(QUESTIONS, 1):
        took: dict[str, list[Took]] = {"verification": [], "": []}
        for pair in range(PAIRS):
            for without in ("verification", "") if pair % 2 else ("", "verification"):
                with world(shared) as urls:  # a new one each time: no cache of its own speaks for either
                    took[without].append(asyncio.run(run(urls, question, without)))
        off, on = (
            Took(
                *(
                    int(statistics.median(getattr(one, name) for one in took[key]))
                    for name in ("tokens", "seconds", "calls")
                )
            )
            for key in ("verification", "")
        )
        lines.append(
            f"| {number} | {off.tokens} · {on.tokens} | {on.tokens / off.tokens - 1:+.1%} | {off.seconds:.0f} · {on.seconds:.0f} "
            f"| {on.seconds / off.seconds - 1:+.1%} | {off.calls} · {on.calls} |"
        )
    lines.append(f"\nAsked: at most {ASKED_TOKENS:+.0%} tokens and {ASKED_TIME:+.0%} seconds.")
    return "\n".join(lines)


def overhead(shared: Path) -> str:
    """Measure it where the mock world is there, and leave the environment as it was."""
    if not (shared / "bench" / "worldsim").is_dir():
        return f"NO OVERHEAD WAS MEASURED: there is no mock world at {shared}/bench."
    before = dict(os.environ)
    try:
        return measured(shared)
    finally:
        os.environ.clear()
        os.environ.update(before)


def main() -> int:
    print(
        overhead(Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("DOSSIER_SHARED") or ROOT.parent / "shared"))
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
