"""The knowledge base under load: how fast things go in, how long a search takes, how large the file is, what is found.

`python -m tests.bench.memory [--facts N] [--server URL] [--recall] [SHARED]`. With `--recall` the labelled corpora are kept sentence by
sentence and asked their questions, beside the index of the user's own files with the same texts. Else statements are made of the sentences of the labelled
corpora in SHARED (`$DOSSIER_SHARED`, else `../shared`) with names and figures put in, so that words are spread as in
real text. Asserts nothing; each figure stands beside what it must be.
"""

import argparse
import asyncio
import json
import os
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

from agents.contracts.fact import Fact, Remembered, Selection, Sighting
from agents.contracts.frozen import digest
from agents.contracts.sources import SearchQuery, Source, SourceCard
from agents.memory.embedders import StaticEmbedder
from agents.memory.knowledge import KnowledgeStore
from agents.memory.sql_knowledge import SqlKnowledge
from agents.nlp.lang import spans
from agents.search.index import FileOutcome, Index

ROOT = Path(__file__).resolve().parents[2]
SEARCHES = 200
NOW = "2026-11-28T12:00:00+00:00"


def sentences(shared: Path) -> list[str]:
    """Give sentences of real text; some of our own where there is none."""
    found: list[str] = []
    for path in sorted(shared.glob("data/**/*.json*")):
        for word in path.read_text("utf-8", "replace").split('"'):
            if 60 < len(word) < 260 and word[0].isupper() and word.count(" ") > 8 and "\\" not in word:
                found.append(word)
    return list(dict.fromkeys(found))[:20_000] or [
        f"Sentence {n} says that thing {n * 7} is {n} long." for n in range(500)
    ]


def made(number: int, texts: list[str], chance: random.Random) -> Remembered:
    """Make one fact as a run leaves it."""
    text = (
        f"{texts[number % len(texts)]} In {1900 + number % 120} it was {number} {chance.choice('kg m s km t'.split())}."
    )
    url = f"https://site{number % 997}.example/{number // 5}"
    card = SourceCard(
        id=Source.id_of(url), url=url, title=f"Page {number // 5} of {texts[number // 5 % len(texts)][:50]}", kind="web",
        text_hash=digest(url), retrieved=NOW, published="2024-05-01", language="en", head=text[:120], chars=4_000,
    )  # fmt: skip
    fact = Fact(
        id="f" + digest(f"{url}{number}", 12), source_id=card.id, statement=text, quote=text, start=100,
        end=100 + len(text), confidence=0.8, topic=f"What is known of page {number // 5}?",
    )  # fmt: skip
    job = f"job{number // 60}"
    return Remembered(
        id=digest(fact.id), kind="fact", text=text, fact=fact, source=card, before=text[:200], after=text[:200],
        topics=(fact.topic,), verdict="supported", confidence=0.8, language="en", since=NOW, seen=NOW,
        history=(Sighting(job=job, at=NOW, verdict="supported"),),
    )  # fmt: skip


async def measured(store: KnowledgeStore, count: int, texts: list[str]) -> dict[str, float]:
    """Fill a store and search it."""
    chance = random.Random(7)
    filled = filled_cpu = 0.0
    for at in range(0, count, 2_000):
        items = [made(number, texts, chance) for number in range(at, min(count, at + 2_000))]
        began, cpu = time.perf_counter(), time.process_time()
        await store.put("bench", items)
        filled, filled_cpu = filled + time.perf_counter() - began, filled_cpu + time.process_time() - cpu
    questions = [" ".join(chance.sample(chance.choice(texts).split(), 8)) for _ in range(SEARCHES)]
    await store.search("bench", "warm up")
    took, worked = list[float](), list[float]()
    for question in questions:
        began, cpu = time.perf_counter(), time.process_time()
        await store.search("bench", question, Selection(kinds=("fact",)), 10)
        took.append(1000 * (time.perf_counter() - began))
        worked.append(1000 * (time.process_time() - cpu))
    return {
        "facts": count,
        "inserted a second": count / filled,
        "inserted a second of CPU": count / filled_cpu,
        "search, median ms": statistics.median(took),
        "search, p95 ms": sorted(took)[int(0.95 * len(took))],
        "search, median CPU ms": statistics.median(worked),
        "search, p95 CPU ms": sorted(worked)[int(0.95 * len(worked))],
    }


MUST = {
    "inserted a second": "≥ 2,000",
    "search, p95 ms": "≤ 20 at 100,000; ≤ 120 at 1,000,000",
    "on disk, MB": "≤ 400 at 100,000",
}


def size_mb(folder: Path) -> float:
    """Say how large the files of a folder are."""
    return sum(one.stat().st_size for one in folder.iterdir()) / 1e6


async def run(count: int, url: str, texts: list[str]) -> dict[str, float]:
    """Measure the embedded store, a PostgreSQL database, or a Qdrant server."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        store: KnowledgeStore = SqlKnowledge(url if url.startswith("postgres") else Path(folder), StaticEmbedder())
        if url and not url.startswith("postgres"):
            from agents.memory.qdrant_knowledge import QdrantKnowledge

            store = QdrantKnowledge(url, StaticEmbedder())
        try:
            return await measured(store, count, texts) | {"on disk, MB": size_mb(Path(folder))}
        finally:
            await store.forget("bench", Selection())
            await store.close()


async def recall(shared: Path, store: KnowledgeStore) -> list[tuple[str, float, float]]:
    """Give for each corpus the share of the documents a question rests on that are among the first five, here and in the index."""
    table: list[tuple[str, float, float]] = []
    for name in ("hotpotqa", "musique"):
        read = (shared / f"data/multihop/{name}_{part}.jsonl" for part in ("corpus", "questions"))
        documents, questions = ([json.loads(line) for line in path.read_text("utf-8").splitlines()] for path in read)
        index, items = Index(None), list[Remembered]()
        for document in documents:
            url = f"https://{name}.example/{document['doc_id']}"
            text = document.get("text") or "".join(document["sentences"])
            source = Source(
                id=Source.id_of(url), url=url, title=document["title"], kind="web", text=text, text_hash=digest(text)
            )
            index.change((), [FileOutcome(url, "", source)])
            items += [kept(SourceCard.of(source), text[span.start : span.end]) for span in spans(text)]
        await store.put(name, items)
        hits: list[tuple[float, float]] = []
        for question in questions:
            resting = (one if isinstance(one, str) else one["doc_id"] for one in question["gold"])
            gold = {f"https://{name}.example/{one}" for one in resting}
            found = await store.search(name, question["question"], limit=60)
            ours = list(dict.fromkeys(one.source.url for one in found if one.source))[:5]
            asked = index.search(SearchQuery(text=question["question"], max_results=5), "index")
            theirs = [hit.url for hit in asked.hits]
            hits.append((len(gold & set(ours)) / len(gold), len(gold & set(theirs)) / len(gold)))
        table.append((name, *(statistics.mean(share) for share in zip(*hits, strict=True))))
    return table


def kept(card: SourceCard, text: str) -> Remembered:
    """Keep one sentence of a document."""
    fact = Fact(
        id="f" + digest(card.url + text, 12), source_id=card.id, statement=text, quote=text, start=0, end=len(text),
        confidence=0.8,
    )  # fmt: skip
    return Remembered(id=digest(fact.id), kind="fact", text=text, fact=fact, source=card, since=NOW, seen=NOW)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--server", default="", help="address of a PostgreSQL database or a Qdrant server, or :memory:")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("shared", nargs="?", default=os.environ.get("DOSSIER_SHARED") or str(ROOT.parent / "shared"))
    parser.add_argument(
        "--recall", action="store_true", help="what is found of the labelled corpora, instead of how fast"
    )
    given = parser.parse_args()
    if given.recall:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            found = asyncio.run(recall(Path(given.shared), SqlKnowledge(Path(folder), StaticEmbedder())))
        print("| recall@5 of documents | knowledge base | index of the user's own files |\n| --- | ---: | ---: |")
        for name, ours, theirs in found:
            print(f"| {name} | {ours:.3f} | {theirs:.3f} |")
        return 0
    table = asyncio.run(run(given.facts, given.server, sentences(Path(given.shared))))
    if given.json:
        print(json.dumps(table))
        return 0
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print("| figure | measured | must |\n| --- | ---: | ---: |")
    for name, value in table.items():
        print(f"| {name} | {value:,.4g} | {MUST.get(name, '')} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
