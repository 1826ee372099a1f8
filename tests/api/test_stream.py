"""Server-sent events: whoever watches, from wherever, is told the same."""

import asyncio
import gc
import json
import weakref

from agents.api import reports
from agents.api.reports import _message, event_stream
from agents.api.tree import Tree
from agents.core.events import Noted, Numbered
from tests.api.conftest import TASK, FlatWorker, Gate


async def finished(site, http):
    told = (await http.post("/run", json={"task": TASK, "async": True})).json()
    job = site.team.jobs.get(told["job_id"], "local")
    await asyncio.wait_for(job.wait(), 60)
    return job


async def text_of(job, after=0):
    return [piece async for piece in event_stream(job, after)][1:]


def alone(job, after=0):
    """What a watcher would be told for whom everything is made anew."""
    tree = Tree(job.run.events[:after])
    return [_message(tree, numbered) for numbered in job.run.events[after:]]


async def test_all_watchers_are_told_what_one_alone_would_be(site, http):
    job = await finished(site, http)
    whole = alone(job)
    assert await asyncio.gather(*(text_of(job) for _ in range(3))) == [whole] * 3
    for after in (1, len(whole) // 2, len(whole) - 1):
        assert await text_of(job, after) == whole[after:] == alone(job, after)


async def test_who_joins_late_is_told_from_there_and_who_comes_then_from_the_beginning_too(site, http):
    job = await finished(site, http)
    whole, middle = alone(job), len(job.run.events) // 2
    assert await text_of(job, middle) == whole[middle:]
    assert await text_of(job) == whole


async def test_each_message_is_made_once_for_many(put, http, monkeypatch):
    made = []
    real = reports._message
    monkeypatch.setattr(reports, "_message", lambda tree, numbered: made.append(numbered.seq) or real(tree, numbered))
    gate = Gate(FlatWorker())
    site = put(gate)
    told = (await http.post("/run", json={"task": TASK, "async": True})).json()
    job = site.team.jobs.get(told["job_id"], "local")
    watchers = [asyncio.create_task(text_of(job)) for _ in range(10)]
    await asyncio.sleep(0)
    gate.open.set()
    told = await asyncio.wait_for(asyncio.gather(*watchers), 60)
    assert made == list(range(1, len(job.run.events) + 1))
    assert all(one == told[0] for one in told)
    assert json.loads(told[0][-1].split("data: ")[1])["status"] == "done"


async def test_what_was_told_of_a_run_goes_with_the_run():
    class Over:
        """A run that tells one thing and is forgotten."""

        events = (Numbered(seq=1, seconds=0.0, key="job", event=Noted(text="said")),)

        async def follow(self, after, attended):
            yield self.run.events[0]

    job = Over()
    job.run = Over()
    assert len(await text_of(job)) == 1
    run = weakref.ref(job.run)
    del job
    gc.collect()
    assert run() is None
