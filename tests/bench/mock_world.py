"""A run in the mock world against the bare fast floor, in one session: the table of what a run waits for and pays.

`python -m tests.bench.mock_world [--runs N] [--deep] [--timeline] [--again] [SHARED]`, where SHARED holds `bench/worldsim` and
`bench/peers/floor.py` (`$DOSSIER_SHARED`, else `../shared`). Seconds depend on the machine and on who else is on it;
ratios, counts and tokens travel. Asserts nothing; each figure stands beside what it must be.
"""

import argparse
import json
import os
import sqlite3
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agents.contracts.report import JUDGED

ROOT = Path(__file__).resolve().parents[2]
KNOWN = (
    "How did the measured carbon intensity, the average availability and the {} of the Kelwick tidal power programme "
    "change between 2015 and 2024, and what explains the difference?"
)
MUST = {
    "wall ÷ floor": "≤ 2.0", "wall ÷ chain": "≤ 1.10", "first section, s": "≤ 10", "nothing in flight, s": "≤ 3",
    "tokens sent ÷ new": "≤ 1.5", "CPU after import, s": "≤ 3", "pages read": "≥ 15", "sources cited": "≥ 8",
    "median tokens, extractor": "≤ 200", "median tokens, planner": "≤ 500", "median tokens, manager": "≤ 250",
    "median tokens, reflector": "≤ 120",
}  # fmt: skip


def measured(
    worldsim: Any, servers: Any, question: str, shared: Path, *, deep: bool, timeline: bool
) -> dict[str, float]:
    """Run the floor, then the product, against the same servers."""
    floor = worldsim.measure(
        [sys.executable, str(shared / "bench/peers/floor.py"), "1", "raw", json.dumps([question])],
        servers, env={"FLOOR_FAST": "1"}, cwd=shared / "bench/peers",
    )  # fmt: skip
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        run, report = ran(worldsim, servers, question, Path(folder), deep=deep, timeline=timeline)
        return figures(run, floor, report, events_of(Path(folder)))


def ran(worldsim: Any, servers: Any, question: str, folder: Path, *, deep: bool, timeline: bool) -> tuple[Any, Any]:
    """Run the product on a question, with what earlier runs in the same folder left; gives its figures and its report."""
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    env = {
        "DOSSIER_MODEL": "openai/sim-large", "RETRIEVER": "tavily", "TAVILY_API_BASE": servers.web_url,
        "DOSSIER_ALLOW_PRIVATE_HOSTS": servers.web_url.split("//")[1], "DOSSIER_DATA_DIR": str(folder),
        "PYTHONDONTWRITEBYTECODE": "",
    }  # fmt: skip
    command = [sys.executable, "-m", "agents", "run", question, "--json", str(report), *(["--deep"] if deep else [])]
    run = worldsim.measure(command, servers, env=env, cwd=ROOT, detail=True)
    if not report.exists():
        raise SystemExit(f"the run gave no report: {run.get('tail', '')}")
    if timeline:
        print_timeline(run["call_log"], events_of(folder))
    return run, json.loads(report.read_text("utf-8"))


def print_again(worldsim: Any, servers: Any, *, deep: bool, timeline: bool) -> None:
    """Ask a question, the same again, and a neighbour that shares two of its three aspects, with one memory."""
    texts = (KNOWN.format("number of reportable incidents"),) * 2 + (KNOWN.format("annual operating cost"),)
    print("| run | wall, s | tokens | model calls | searches | statements that their sources carry | load |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for name, text in zip(("first", "the same again", "a neighbour"), texts, strict=True):
            run, report = ran(worldsim, servers, text, Path(folder), deep=deep, timeline=timeline)
            tokens = run["prompt_tokens"] + run["completion_tokens"]
            verdicts = [one["verdict"] for one in report["sentences"] if one["verdict"] in JUDGED]
            right = f"{verdicts.count('supported')} of {len(verdicts)}"
            counts = f"{tokens:,} | {run['llm_calls']} | {run['searches']} | {right} | {os.getloadavg()[0]:.1f}"
            print(f"| {name} | {run['wall_s']:.1f} | {counts} |")


def print_timeline(calls: list[dict[str, Any]], events: list[tuple[float, dict[str, Any]]]) -> None:
    """Print every call as a bar, so that it is seen what waits for what; who asked is told by the answer's length."""
    by_size = {
        (event["usage"]["tokens_in"], event["usage"]["tokens_out"]): f"{event['role']} {event['node']}"
        for _, event in events
        if event["kind"] == "asked"
    }
    zero = min(call["start"] for call in calls)
    for call in sorted(calls, key=lambda call: call["start"]):
        began, ended = call["start"] - zero, call["end"] - zero
        asked, wrote = call.get("prompt_tokens") or 0, call.get("completion_tokens") or 0
        who = by_size.get((asked, wrote), call.get("url") or call.get("query") or call.get("form") or "")
        bar = " " * int(2 * began) + "█" * max(1, round(2 * (ended - began)))
        print(f"{began:6.2f} {ended:6.2f} {call['kind']:7.7} {asked:6} {wrote:5} {who[-44:]:44} {bar}")


def figures(
    run: Mapping[str, Any],
    floor: Mapping[str, Any],
    report: Mapping[str, Any],
    events: list[tuple[float, dict[str, Any]]],
) -> dict[str, float]:
    """Compute the table of one run."""
    calls = run["call_log"]
    begins = min((call["start"] for call in calls), default=0.0)
    ends = max((call["end"] for call in calls), default=0.0)
    of_role: dict[str, list[int]] = defaultdict(list)
    for _, event in events:
        if event["kind"] == "asked" and event["usage"]["calls"]:
            of_role[event["role"]].append(event["usage"]["tokens_out"])
    chats = sorted((call for call in calls if call["kind"] == "chat"), key=lambda call: call["start"])
    scoping = [call.get("completion_tokens") or 0 for call in chats[:2]]
    section = next((seconds for seconds, event in events if event["kind"] in ("draft", "section")), 0.0)
    table = {
        "wall, s": run["wall_s"], "floor, s": floor["wall_s"], "wall ÷ floor": run["wall_s"] / floor["wall_s"],
        "from the first call to the last, s": ends - begins, "model chain, s": run["llm_chain_s"],
        "chain ÷ floor": run["llm_chain_s"] / floor["wall_s"], "wall ÷ chain": run["wall_s"] / run["llm_chain_s"],
        "first section, s": section, "nothing in flight, s": run["idle_s"],
        "model calls": run["llm_calls"], "tokens written": run["completion_tokens"],
        "tokens sent ÷ new": run["prompt_tokens"] / max(1, run["new_prompt_tokens"]),
        "CPU in all, s": run["cpu_total_s"], "connections": run["llm_connections"], "searches": run["searches"],
        "pages read": len({event["source"]["id"] for _, event in events if event["kind"] == "source"}),
        "sources cited": len(report["references"]),
        "median tokens, manager and planner": max(scoping, default=0),
    }  # fmt: skip
    for role, tokens in sorted(of_role.items()):
        table[f"median tokens, {role}"] = statistics.median(tokens)
    return table


def events_of(folder: Path) -> list[tuple[float, dict[str, Any]]]:
    """Read what happened from the run's own store."""
    store = sqlite3.connect(f"file:{folder / 'jobs.db'}?mode=ro", uri=True)
    rows = store.execute("SELECT body FROM research_events ORDER BY seq").fetchall()
    store.close()
    told = [json.loads(body) for (body,) in rows]
    return [(one["seconds"], one["event"]) for one in told]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--deep", action="store_true")
    parser.add_argument("--timeline", action="store_true", help="print every call with its start, end and tokens")
    parser.add_argument(
        "--again", action="store_true", help="one question twice and a neighbour of it, with one memory"
    )
    parser.add_argument("--question", type=int, default=0)
    parser.add_argument("shared", nargs="?", default=os.environ.get("DOSSIER_SHARED") or str(ROOT.parent / "shared"))
    given = parser.parse_args()
    shared = Path(given.shared)
    if not (shared / "bench" / "worldsim").is_dir():
        print(f"The mock world is not at {shared / 'bench'}: nothing is measured.")
        return 0
    sys.path.insert(0, str(shared / "bench"))
    from worldsim import driver  # type: ignore[import-not-found]  # lives outside the project

    # Whether a leaf is a sweep is a coin of the mock planner's, thrown by the words of the prompt: it is not ours to measure.
    pinned = {"answer": {"overrides": [{"field": "^discovery$", "values": [False]}]}}
    with driver.Servers(pinned) as servers:
        if given.again:
            print_again(driver, servers, deep=given.deep, timeline=given.timeline)
            return 0
        question = servers.get("/_sim/questions")[given.question]["question"]
        tables = [
            measured(driver, servers, question, shared, deep=given.deep, timeline=given.timeline)
            for _ in range(given.runs)
        ]
    names = dict.fromkeys(name for table in tables for name in table)
    print(f"median of {given.runs}; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print("| figure | measured | must |\n| --- | ---: | ---: |")
    for name in names:
        print(f"| {name} | {statistics.median(table.get(name, 0) for table in tables):.3g} | {MUST.get(name, '')} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
