"""From every piece of evidence to the stored words and their source: in the rows of the store, and over HTTP while a job runs."""

import asyncio

from agents.contracts.fact import Fact
from agents.contracts.sources import SourceCard
from agents.jobs import schema as tables
from tests.api.conftest import NAMES, TASK, FlatWorker
from tests.scripted_model import ScriptedModel

SEARCHED = "https://z.example/recount"
RECOUNT = (
    "A recount of the Orvane ferry",
    "The Orvane ferry line was closed on 14 days in the winter of 2022/23, a recount of the Orvane board says.",
)


async def test_every_row_of_evidence_points_at_stored_words_of_a_stored_source_and_opens(stored, http):
    async with stored() as site:
        site.team.searcher._sources |= _recount()
        told = (await http.post("/research/jobs", json={"query": TASK})).json()
        job = site.team.jobs.get(told["job_id"], "local")
        await asyncio.wait_for(job.wait(), 30)
        whole = (await http.get(told["status_url"])).json()
        rows = {}
        async with site.team.jobs.store.database.begin() as connection:
            for table in (tables.evidence, tables.facts, tables.sources):
                found = await connection.execute(table.select().where(table.c.job_id == job.id))
                rows[table.name] = [row._mapping for row in found]
        facts = {row["id"]: Fact.model_validate_json(row["body"]) for row in rows[tables.facts.name]}
        cards = {row["id"]: SourceCard.model_validate_json(row["body"]) for row in rows[tables.sources.name]}
        assert rows[tables.evidence.name]
        assert len(whole["evidence"]) == len(rows[tables.evidence.name])
        for one in whole["evidence"]:
            fact = facts[one["fact_id"]]
            text = await site.team.blobs.get(cards[one["source_id"]].text_hash)
            assert text[fact.start : fact.end] == fact.quote == one["quote"]
            opened = await http.get(f"{one['opens']}?format=json")
            assert opened.status_code == 200
            assert opened.json()["quote"] == one["quote"]
            assert (await http.get(one["opens"])).status_code == 200
        assert all(row["origin_run_id"].startswith(f"{job.id}~1/job") for row in rows[tables.evidence.name])


def _recount():
    from tests.scripted_search import ScriptedSearcher

    return ScriptedSearcher({SEARCHED: RECOUNT})._sources


async def test_claims_and_evidence_are_there_while_the_job_runs(put, http):
    """The writer of the frame is held back: by then the claims are weighed."""
    gate = asyncio.Event()

    class Held(ScriptedModel):
        async def reply(self, request, on_text=None):
            if type(request.given).__name__ == "FrameInput":
                await gate.wait()
            return await super().reply(request, on_text)

    site = put(Held(by_role=dict.fromkeys(NAMES, FlatWorker())))
    told = (await http.post("/research/jobs", json={"query": TASK})).json()
    job = site.team.jobs.get(told["job_id"], "local")
    verdicts = []
    async for numbered in job.follow():
        if numbered and numbered.event.kind == "planned":
            verdicts += [one["verdict"] for one in (await http.get(told["status_url"])).json()["claims"]]
        if numbered and numbered.event.kind == "claim":
            break
    assert verdicts == ["not_checked"]
    whole = (await http.get(told["status_url"])).json()
    assert whole["status"] == "running"
    assert whole["claims"][0]["verdict"] != "not_checked"
    assert whole["evidence"]
    assert (await http.get(whole["evidence"][0]["opens"])).status_code == 200
    gate.set()
    await asyncio.wait_for(job.wait(), 30)
    after = (await http.get(told["status_url"])).json()
    assert [one["id"] for one in after["claims"]] == [one["id"] for one in whole["claims"]]
    # How many claims each branch speaks to.
    counted = {row["title"]: row["claims"] for row in after["report"]["nodes"]}
    assert counted["Closures"] >= 1
    assert counted["Passengers"] < counted["Closures"]
