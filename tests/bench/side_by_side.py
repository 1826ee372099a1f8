"""Many runs at once in one process, against one alone, in the mock world: what each loses by the company of the others.

`python -m tests.bench.side_by_side [--runs N] [SHARED]`, where SHARED holds `bench/worldsim` (`$DOSSIER_SHARED`, else
`../shared`). Asserts nothing.
"""

import argparse
import asyncio
import gc
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

QUESTIONS = 5  # some take longer than others, so that each is compared with itself
ROOT = Path(__file__).resolve().parents[2]


async def one(team, question: str) -> float:
    """Ask a question as a command does; give the seconds until its report."""
    from agents.research.scoping.turn import ScopingState

    began = time.perf_counter()
    settled = await team.settle(ScopingState(), question)
    if settled.contract is None:
        raise SystemExit(f"refused: {settled.turn.reply}")
    job = await team.start(settled.contract)
    await job.wait()
    if job.report is None or not job.report.references:
        raise SystemExit(f"no report: {job.error or job.report.grade_reasons}")
    return time.perf_counter() - began


async def measured(settings, questions: list[str], runs: int) -> None:
    """Run each question alone, after one run that warms up; then all at once."""
    from agents.team import open_team

    team = open_team(settings)
    team.warm_up()
    try:
        await one(team, questions[0])
        alone = [await one(team, question) for question in questions]
        cpu = time.process_time()
        together = await asyncio.gather(*(one(team, questions[n % len(questions)]) for n in range(runs)))
    finally:
        await team.close()
    cpu = (time.process_time() - cpu) / runs
    slower = [took / alone[n % len(questions)] for n, took in enumerate(together)]
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; {cpu:.1f} s of processor time a run")
    print(
        f"alone {' '.join(f'{one:.1f}' for one in alone)} s; {runs} at once: {' '.join(f'{one:.1f}' for one in together)} s"
    )
    print(f"slowdown {statistics.median(slower):.2f} (must ≤ 1.25), the worst {max(slower):.2f}")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=16)
    parser.add_argument("shared", nargs="?", default=os.environ.get("DOSSIER_SHARED") or str(ROOT.parent / "shared"))
    given = parser.parse_args()
    sys.path.insert(0, str(Path(given.shared) / "bench"))
    from worldsim import driver  # type: ignore[import-not-found]  # lives outside the project

    from agents.core.settings import load

    gc.set_threshold(50_000, 20, 20)  # as every command does
    with driver.Servers({}) as servers, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.environ |= {
            "OPENAI_API_KEY": "sk-test-FAKE0000FAKE", "OPENAI_API_BASE": servers.llm_url, "RETRIEVER": "tavily",
            "DOSSIER_MODEL": "openai/sim-large", "TAVILY_API_KEY": "tvly-FAKE0000FAKE",
            "TAVILY_API_BASE": servers.web_url, "DOSSIER_DATA_DIR": folder, "DOSSIER_MEMORY": "false",
            "DOSSIER_ALLOW_PRIVATE_HOSTS": servers.web_url.split("//")[1], "NO_PROXY": "127.0.0.1,localhost",
            "no_proxy": "127.0.0.1,localhost",
        }  # fmt: skip
        settings = load()
        questions = [row["question"] for row in servers.get("/_sim/questions")][:QUESTIONS]
        asyncio.run(measured(settings, questions, given.runs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
