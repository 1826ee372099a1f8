"""Measure quality on the labelled data and print the tables of docs/benchmarks.md; asserts nothing.

Run by `make eval`: `python -m tests.bench.quality [FOLDER] [--ablations]`. Without a folder, `$DOSSIER_SHARED/data`, else `../shared/data`.
The model is the one that is configured.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

from agents.core.errors import DossierError
from agents.core.paths import RESOURCES as ROOT
from agents.core.settings import load
from tests.bench.cases import held, inputs_folder, table
from tests.bench.overhead import overhead
from tests.eval import evaluate
from tests.eval.labelled_sets import variant

SETS = (
    ("findcite", "multihop/hotpotqa_questions.jsonl"),
    ("findcite", "multihop/musique_questions.jsonl"),
    ("grades", "multihop/hotpotqa_questions.jsonl"),
    ("grades", "multihop/musique_questions.jsonl"),
    ("support", "claims/begin_wow.jsonl"),
    ("stance", "claims/fm2_claims.jsonl"),
    ("scoping", "ambiguity/in3_test_half.jsonl"),
    ("scoping", "ambiguity/in3_train_sample.jsonl"),
    ("scoping", "ambiguity/qulac_topics.jsonl"),
    ("citations", "reports/peer_reports.jsonl"),
    ("citations", "multihop/hotpotqa_questions.jsonl"),
    ("citations", "multihop/musique_questions.jsonl"),
)
ABLATIONS = (
    ("as it is", "", ""),
    ("no challenge", "challenge", ""),
    ("no verification", "verification", ""),
    ("no novelty", "novelty", ""),
    ("no rerank", "rerank", ""),
    ("no meaning", "meaning", ""),
    ("limits 6/10", "", "6/10"),
    ("limits 3/5", "", "3/5"),
)


def measured(name: str, file: Path, without: str = "", limits: str = "") -> tuple[dict[str, Any], float]:
    """One set over one file: its summary and the seconds it took."""
    started = time.perf_counter()
    summary = evaluate(name, file, None, load(), variant(without, limits))
    return summary, time.perf_counter() - started


def told(summary: dict[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in summary.items() if key != "n")


def main() -> int:
    arguments = [one for one in sys.argv[1:] if not one.startswith("--")]
    shared = os.environ.get("DOSSIER_SHARED")
    folder = Path(arguments[0]) if arguments else (Path(shared) if shared else ROOT.parent / "shared") / "data"
    if not folder.is_dir():
        print(f"NOTHING WAS MEASURED: there is no labelled data at {folder}.\nSet DOSSIER_SHARED, or give the folder.")
        return 0
    print("| Set | File | Rows | Figures | Seconds |\n| --- | --- | ---: | --- | ---: |")
    for name, file in SETS:
        if not (folder / file).is_file():
            print(f"| {name} | {Path(file).name} | 0 | NOT MEASURED: no such file | – |")
            continue
        try:
            summary, seconds = measured(name, folder / file)
        except DossierError as error:
            print(f"| {name} | {Path(file).name} | 0 | NOT MEASURED: {error.notice} | – |")
            continue
        print(f"| {name} | {Path(file).name} | {summary['n']} | {told(summary)} | {seconds:.0f} |", flush=True)
    cases = folder.parent / "cases" / "inputs"
    print(f"\n{table(held(cases if cases.is_dir() else inputs_folder()))}", flush=True)
    print(f"\n{overhead(folder.parent)}", flush=True)
    if "--ablations" in sys.argv:
        print("\n| Run | File | Figures | Seconds |\n| --- | --- | --- | ---: |")
        for label, without, limits in ABLATIONS:
            for name, file in SETS[:2]:
                summary, seconds = measured(name, folder / file, without, limits)
                print(f"| {label} | {Path(file).name} | {told(summary)} | {seconds:.0f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
