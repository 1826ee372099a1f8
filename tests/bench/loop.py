"""Measure what the research loop adds to every round, on the machine that runs this. Best of several runs each."""

import json
import random
import string
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from agents.research.novelty import novelty  # noqa: E402 - runs from a checkout
from agents.research.topics import Topics, compare  # noqa: E402

RUNS = 15
DISPATCHED = 200
NEW = "impact of irrigation subsidies on groundwater levels in Andalusia"


def best_ms(act: Callable[[int], object]) -> float:
    """Time `act`, which is given the number of the run."""
    best = float("inf")
    for run in range(RUNS):
        began = time.perf_counter()
        act(run)
        best = min(best, time.perf_counter() - began)
    return best * 1000


def topics() -> None:
    """Print how long a new topic takes against 200 dispatched ones, and how well labelled pairs are told apart."""
    lines = (ROOT / "tests" / "data" / "topic_pairs.jsonl").read_text("utf-8").splitlines()
    pairs = [json.loads(line) for line in lines]
    known = list(dict.fromkeys(topic for pair in pairs for topic in (pair["a"], pair["b"])))[:DISPATCHED]
    alike = [f"{NEW} since {1800 + number}" for number in range(DISPATCHED)]
    ledger = Topics(dispatched=tuple(known))
    near = f"{NEW} since 2010"
    ledger.judge(NEW)
    compare(near, alike)
    fresh = best_ms(lambda run: ledger.judge(f"{NEW}, part {run}"))
    print(f"duplicate check, new topic, {len(known)} dispatched  {fresh:7.3f} ms")
    print(f"duplicate check, topic judged before       {best_ms(lambda _: ledger.judge(NEW)):7.3f} ms")
    print(f"duplicate check, {DISPATCHED} that differ in a year  {best_ms(lambda _: compare(near, alike)):7.3f} ms")
    distinct = [pair for pair in pairs if not pair["same"]]
    repeats = [pair for pair in pairs if pair["same"] and pair["kind"] in {"repeat", "C42"}]
    others = [pair for pair in pairs if pair["same"] and pair not in repeats]

    def caught(some: list[dict[str, str]]) -> int:
        return sum(compare(pair["b"], [pair["a"]]).duplicate for pair in some)

    print(f"distinct topics dropped       {caught(distinct):3} of {len(distinct)}")
    print(f"word-level repeats caught     {caught(repeats):3} of {len(repeats)}")
    print(f"other repeats caught          {caught(others):3} of {len(others)}")


def novel() -> None:
    """Print how long novelty takes on texts of 100,000 characters."""
    dice = random.Random(1)
    letters = string.ascii_lowercase
    vocabulary = ["".join(dice.choices(letters, k=dice.randint(2, 11))) for _ in range(6_000)]
    weights = [1 / rank for rank in range(1, 6_001)]
    english = " ".join(dice.choices(vocabulary, weights, k=40_000))
    german = " ".join(dice.choices([f"{word}ü" for word in vocabulary], weights, k=40_000))
    chinese = "".join(
        chr(0x4E00 + int(dice.paretovariate(0.6)) % 3_000) + ("。" if dice.random() < 0.05 else "")
        for _ in range(200_000)
    )
    for name, text in (("Latin letters", english), ("accented letters", german), ("Chinese", chinese)):
        for findings, notes in ((10_000, 100_000), (50_000, 50_000), (100_000, 100_000)):
            took = best_ms(lambda _, text=text, f=findings, n=notes: novelty(text[:f], text[-n:]))
            print(f"novelty, {name:17} {findings:7,} new, {notes:7,} notes {took:8.2f} ms")


if __name__ == "__main__":
    topics()
    novel()
