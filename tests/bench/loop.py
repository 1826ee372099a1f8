"""Measure what the research loop adds to every round, on the machine that runs this. Best of several runs each."""

import asyncio
import json
import random
import string
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from agents.contracts.frozen import Frozen  # noqa: E402 - runs from a checkout
from agents.core.role import Request  # noqa: E402
from agents.research.loop.success import novelty  # noqa: E402
from agents.research.loop.topics import Topics, repeated  # noqa: E402
from tests.scripted_model import ScriptedModel  # noqa: E402

RUNS = 40
DISPATCHED = 200
NEW = "impact of irrigation subsidies on groundwater levels in Andalusia"


def best_ms(act: Callable[[int], object]) -> float:
    """Measure the processor time of `act`, which is given the number of the run."""
    best = float("inf")
    for run in range(RUNS):
        began = time.thread_time()
        act(run)
        best = min(best, time.thread_time() - began)
    return best * 1000


def topics() -> None:
    """Print how long a new topic takes against 200 dispatched ones, and how well labelled pairs are told apart."""
    lines = (ROOT / "tests" / "data" / "topic_pairs.jsonl").read_text("utf-8").splitlines()
    pairs = [json.loads(line) for line in lines]
    known = list(dict.fromkeys(topic for pair in pairs for topic in (pair["a"], pair["b"])))[:DISPATCHED]
    alike = [f"{NEW} since {1800 + number}" for number in range(DISPATCHED)]
    ledger = Topics(dispatched=tuple(known))
    near = f"{NEW} since 2010"
    ledger.repeated(NEW)
    repeated(near, alike)
    fresh = best_ms(lambda run: ledger.repeated(f"{NEW}, part {run}"))
    print(f"duplicate check, new topic, {len(known)} dispatched  {fresh:7.3f} ms")
    print(f"duplicate check, topic judged before       {best_ms(lambda _: ledger.repeated(NEW)):7.3f} ms")
    print(f"duplicate check, {DISPATCHED} that differ in a year  {best_ms(lambda _: repeated(near, alike)):7.3f} ms")
    distinct = [pair for pair in pairs if not pair["same"]]
    repeats = [pair for pair in pairs if pair["same"] and pair["kind"] in {"repeat", "C42"}]
    others = [pair for pair in pairs if pair["same"] and pair not in repeats]

    def caught(some: list[dict[str, str]]) -> int:
        return sum(bool(repeated(pair["b"], [pair["a"]])) for pair in some)

    print(f"distinct topics dropped       {caught(distinct):3} of {len(distinct)}")
    print(f"word-level repeats caught     {caught(repeats):3} of {len(repeats)}")
    print(f"other repeats caught          {caught(others):3} of {len(others)}")


def novel() -> None:
    """Print how long novelty takes on texts of 100,000 characters."""
    dice = random.Random(1)
    weights = [1 / rank for rank in range(1, 6_001)]

    def written(letters: str, shortest: int, longest: int, between: str) -> str:
        words = ["".join(dice.choices(letters, k=dice.randint(shortest, longest))) for _ in range(6_000)]
        return between.join(dice.choices(words, weights, k=150_000))[:200_000]

    def letters(*ranges: tuple[int, int]) -> str:
        return "".join(chr(code) for first, last in ranges for code in range(first, last) if chr(code).isprintable())

    texts = {
        "Latin letters": written(string.ascii_lowercase, 2, 11, " "),
        "accented letters": written(string.ascii_lowercase + "üéåñç", 2, 11, " "),
        "Chinese": written(letters((0x4E00, 0x5A00)), 1, 3, ""),
        "Japanese": written(letters((0x3041, 0x3090), (0x4E00, 0x5800)), 1, 4, ""),
        "Korean": written(letters((0xAC00, 0xB800)), 2, 4, " "),
        "Thai": written(letters((0x0E01, 0x0E2E), (0x0E30, 0x0E39), (0x0E40, 0x0E45)), 3, 8, ""),
        "Arabic": written(letters((0x0621, 0x064A)), 2, 9, " "),
        "Hindi": written(letters((0x0905, 0x0939), (0x093E, 0x094C)), 2, 8, " "),
        "Russian": written(letters((0x0430, 0x044F)), 2, 11, " "),
    }
    for name, text in texts.items():
        took = [
            f"{best_ms(lambda _, text=text, f=findings, n=notes: novelty(text[:f], text[-n:])):5.2f}"
            for findings, notes in ((3_000, 100_000), (10_000, 100_000), (50_000, 50_000), (100_000, 100_000))
        ]
        print(
            f"novelty, {name:17} {' '.join(took)} ms  (3,000 10,000 50,000 100,000 characters against 50,000 of notes)"
        )


def overhead() -> None:
    """Print the processor time of a round: of a run on scripts whose model and searches take none of their own."""
    from agents.contracts.plan import ReflectionInput, ReflectionResponse
    from agents.contracts.report import Commission, Outcome
    from agents.core.budget import Limits
    from agents.research.loop.loop_decision import LoopSettings
    from agents.research.pipeline import Means
    from tests.research.conftest import Bench
    from tests.scripts import BRIEF, QUERY, ROLES, Worker, leaf, tree

    plan = {
        QUERY.text: tree(
            leaf("Closures", "On how many days was the Orvane ferry closed?", "How many volcanoes erupted?")
        )
    }

    def took(rounds: int) -> float:
        count = iter(range(1_000))

        def answer(request: Request) -> Frozen:
            if isinstance(request.given, ReflectionInput):
                query = f"How many passengers in winter {1900 + (n := next(count))} on line {chr(65 + n)}?"
                return ReflectionResponse(sufficient=False, confidence=0.2, gaps=("More.",), new_queries=(query,))
            return Worker(plan)(request)

        loop = LoopSettings(early_termination=False, max_rounds=rounds)
        bench = Bench(ScriptedModel(by_role=dict.fromkeys(ROLES, answer)), means=Means(loop=loop))
        bench.limits = Limits()
        mode = "standard" if rounds == 3 else "deep"
        brief = BRIEF.model_copy(update={"mode": mode, "minutes": None})
        began = time.process_time()
        outcome = asyncio.run(bench.job().run("research", Commission(brief=brief), Outcome))
        spent = time.process_time() - began
        assert len(outcome.findings[0].rounds) == rounds
        return spent

    took(3)
    few, many = min(took(3) for _ in range(7)), min(took(7) for _ in range(7))
    print(f"a round with one leaf, reading and writing scripted  {(many - few) / 4 * 1000:5.1f} ms of processor time")


if __name__ == "__main__":
    topics()
    novel()
    overhead()
