"""The 45 cases from the field: each input that code can judge is put through the part concerned and held against its right value.

Run by `make eval`, and alone: `python -m tests.bench.cases [FOLDER]`. A case that needs a browser, a clock, a network or a
whole job is held by tests; they are counted here by the tests that name it, and run by `make test`, not by this.
"""

import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agents.core.paths import RESOURCES as ROOT
from tests.bench import cases_citing, cases_reading, cases_replying

TESTS = ROOT / "tests"
JUDGES: dict[str, Callable[[Path], list[bool]]] = {
    **cases_replying.JUDGES,
    **cases_citing.JUDGES,
    **cases_reading.JUDGES,
}
"""By case: one truth value for each thing that can be right or wrong, from the folder of its inputs."""
CASES = tuple(f"C{number:02}" for number in range(1, 46))


@dataclass(frozen=True)
class Held:
    """What came of one case."""

    case: str
    right: int
    of: int
    """Zero when nothing of it can be judged here."""
    tests: tuple[str, ...]
    """Test files that name it."""
    problem: str = ""


def held(folder: Path) -> list[Held]:
    """Judge every case whose inputs are in `folder`."""
    naming = _naming()
    found = []
    for case in CASES:
        judge, inputs = JUDGES.get(case), folder / case
        results: list[bool] = []
        problem = ""
        if judge and inputs.is_dir():
            try:
                results = judge(inputs)
            except Exception as error:  # one case that breaks takes no other with it, and is told
                problem = f"{type(error).__name__}: {error}"
        found.append(Held(case, sum(results), len(results), naming.get(case, ()), problem))
    return found


def _naming() -> dict[str, tuple[str, ...]]:
    named: dict[str, set[str]] = {}
    for file in sorted(TESTS.rglob("test_*.py")):
        for case in re.findall(r"\bC[0-4]\d\b", file.read_text("utf-8")):
            named.setdefault(case, set()).add(file.stem.removeprefix("test_"))
    return {case: tuple(sorted(files)) for case, files in named.items()}


def table(rows: list[Held]) -> str:
    """Give the table of docs/benchmarks.md."""
    lines = ["| Case | Judged here | Tests that name it |", "| --- | --- | --- |"]
    for row in rows:
        judged = row.problem or (f"{row.right} of {row.of}" if row.of else "–")
        lines.append(f"| {row.case} | {judged} | {', '.join(row.tests) or 'NONE'} |")
    whole = [row for row in rows if row.of]
    right, of = sum(row.right for row in whole), sum(row.of for row in whole)
    full = sum(row.right == row.of for row in whole)
    lines.append(f"\n{right} of {of} right values in {len(whole)} cases judged here, {full} of them without a fault.")
    return "\n".join(lines)


def inputs_folder() -> Path:
    """Give where the inputs are: beside the shared data, else the copies that the tests use."""
    shared = os.environ.get("DOSSIER_SHARED")
    folder = (Path(shared) if shared else ROOT.parent / "shared") / "cases" / "inputs"
    return folder if folder.is_dir() else TESTS / "data" / "cases"


def main() -> int:
    print(table(held(Path(sys.argv[1]) if len(sys.argv) > 1 else inputs_folder())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
