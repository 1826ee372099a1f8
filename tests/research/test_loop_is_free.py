"""A long document is cut up and held against its quotes in a thread: nobody's page stands still meanwhile."""

import threading

from agents.contracts.frozen import digest
from agents.contracts.sources import Source, SourceCard
from agents.core.budget import Deadline
from agents.core.prompts import load
from agents.research.reading import read_sources as reading
from agents.research.reading.read_sources import extract
from agents.research.run_context import RunContext
from tests.research.conftest import MemoryTexts
from tests.scripts import to_read, working_model, world


async def test_the_heavy_parts_of_an_extraction_run_beside_the_event_loop(monkeypatch):
    where = []
    for name in ("_shown", "held_against"):
        plain = getattr(reading, name)

        def noted(*args, plain=plain, name=name):
            where.append((name, threading.current_thread() is threading.main_thread()))
            return plain(*args)

        monkeypatch.setattr(reading, name, noted)
    text = "The ferry line was closed on 12 days. " * 3
    texts = MemoryTexts()
    await texts.put(text)
    url = "https://a.example/"
    source = Source(id=Source.id_of(url), url=url, title="Log", kind="web", text=text, text_hash=digest(text))
    context = RunContext(
        models={"extractor": working_model()}, prompts=load(), searcher=world(), texts=texts, today="2026-11-28"
    )
    done = await extract(context, (SourceCard.of(source),), to_read(url, "How long?"), Deadline())

    assert done.readings[0].facts
    assert where == [("_shown", False), ("held_against", False)]
