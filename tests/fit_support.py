"""How the few weights of `agents.verify.checks` were made, and what they are worth on data they have not seen.

    python -m tests.fit_support BEGIN_WOW.jsonl

Logistic regression on the four features of `agents.verify.checks.features`, each with a plain meaning, on the development
half of BEGIN (Dziri et al. 2022), Wizard-of-Wikipedia part. Weights may only count against a sentence, and are held near
zero by a quadratic penalty, so that no feature of chat style is learnt as a virtue. Ten folds, cut by passage: rows that
share a passage are in one fold. Rows in which a finding has decided the verdict take no part in fitting.
"""

import hashlib
import json
import math
import sys
from pathlib import Path

from agents.verify import checks as module
from agents.verify.compare import compare
from agents.verify.parsed_text import joined, read

FOLDS, ROUNDS, RATE, PENALTY = 10, 3_000, 0.5, 0.004
Row = tuple[int, dict[str, float], str, int]


def load(path: Path) -> list[Row]:
    """Label, features, worst finding and fold of each row."""
    rows: list[Row] = []
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        source = joined([read(row["knowledge"])])
        compared = [compare(unit, source, "en") for unit in read(row["response"]).units]
        kinds = {finding.severity for one in compared for finding in one.findings}
        worst = next((kind for kind in ("contradicted", "unsupported", "partly") if kind in kinds), "note")
        fold = hashlib.sha256(row["knowledge"].lower().encode()).digest()[0] % FOLDS
        rows.append((int(row["begin_label"].startswith("Fully")), module.features(compared), worst, fold))
    return rows


def fit(rows: list[Row]) -> tuple[float, dict[str, float]]:
    """Bias and weights by plain gradient descent; both classes count alike."""
    used = [row for row in rows if row[2] in {"note", "partly"}]
    share = {label: sum(row[0] == label for row in used) for label in (0, 1)}
    bias, weights = 0.0, dict.fromkeys(used[0][1], 0.0)
    for _ in range(ROUNDS):
        slope, slopes = 0.0, dict.fromkeys(weights, 0.0)
        for label, values, _, _ in used:
            error = (probability(bias, weights, values) - label) / (2 * share[label])
            slope += error
            for name, value in values.items():
                slopes[name] += error * value
        bias -= RATE * slope
        for name in weights:
            weights[name] = min(0.0, weights[name] - RATE * (slopes[name] + PENALTY * weights[name]))
    return bias, weights


def probability(bias: float, weights: dict[str, float], values: dict[str, float]) -> float:
    return 1 / (1 + math.exp(-(bias + sum(weights[name] * values[name] for name in weights))))


def score(bias: float, weights: dict[str, float], row: Row) -> float:
    return min(probability(bias, weights, row[1]), module._CEILING[row[2]])


def told(scored: list[tuple[int, float]]) -> str:
    """Balanced accuracy at 0.5 and area under the curve."""
    good = [value for label, value in scored if label]
    bad = [value for label, value in scored if not label]
    accuracy = (sum(value >= 0.5 for value in good) / len(good) + sum(value < 0.5 for value in bad) / len(bad)) / 2
    area = sum((a > b) + 0.5 * (a == b) for a in good for b in bad) / len(good) / len(bad)
    return f"balanced accuracy {accuracy:.3f}, area {area:.3f}"


def main() -> None:
    rows = load(Path(sys.argv[1]))
    unseen: list[tuple[int, float]] = []
    for fold in range(FOLDS):
        bias, weights = fit([row for row in rows if row[3] != fold])
        unseen += [(row[0], score(bias, weights, row)) for row in rows if row[3] == fold]
    print("ten folds, unseen:     ", told(unseen))
    bias, weights = fit(rows)
    print("all rows, as fitted:   ", told([(row[0], score(bias, weights, row)) for row in rows]))
    print("weights in the code:   ", told([(row[0], score(module.BIAS, module.WEIGHTS, row)) for row in rows]))
    print("bias", round(bias, 2), {name: round(value, 2) for name, value in weights.items()})


if __name__ == "__main__":
    main()
