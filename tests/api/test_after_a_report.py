"""A report that exists: its contract is run anew on today's sources, and new questions go on from what it found."""

import asyncio

from agents.report.earlier import since, since_lines
from agents.report.wording import wording
from tests.api.conftest import TASK, FlatWorker, scripted
from tests.scripted_search import ScriptedSearcher
from tests.scripts import WORLD

COSTS = "https://b.example/costs"
REWRITTEN = (
    "Costs of the winter service",
    "The winter service of the Orvane ferry cost 4.7 million crowns in 2024. Most of it was fuel for the ice breaker.",
)


def changing():
    """A world whose pages may change, with what changes it."""
    searcher = ScriptedSearcher(WORLD)

    def become(pages):
        searcher._sources = ScriptedSearcher(pages)._sources

    return searcher, become


async def ended(site, http, answer):
    assert answer.status_code == 202, answer.text
    told = answer.json()
    job = await site.team.jobs.find(told["job_id"], "local")
    await asyncio.wait_for(job.wait(), 30)
    return (await http.get(told["status_url"])).json()


async def test_refresh_runs_the_same_contract_and_says_what_has_changed(put, http, over):
    searcher, become = changing()
    site = put(searcher=searcher)
    first = (await http.get(f"/research/jobs/{await over(site)}")).json()
    become({**WORLD, COSTS: REWRITTEN})
    again = await ended(site, http, await http.post(f"/research/jobs/{first['job_id']}/refresh"))
    assert again["job_id"] != first["job_id"]
    assert again["contract"]["plans"] == first["contract"]["plans"]
    changed = again["report"]["since"]
    assert (changed["use"], changed["job_id"]) == ("refresh", first["job_id"])
    assert changed["changed_sources"] == ["Costs of the winter service"]
    assert any("3.1 million" in words for words in changed["missing_facts"])
    text = again["report"]["markdown"]
    assert text.index("## What changed since") < text.index("## References")
    assert "Sources that read otherwise now (1)" in text


async def test_a_refresh_in_which_nothing_has_changed_says_so(site, http, over):
    again = await ended(site, http, await http.post(f"/research/jobs/{await over(site)}/refresh"))
    assert "Nothing that the report rests on has changed." in again["report"]["markdown"]


async def test_a_new_question_goes_on_from_facts_and_claims_of_the_report(put, http, over):
    seen = []

    def planned(request):
        seen.append(request.given)
        return FlatWorker.__mro__[1]()(request)

    searcher, become = changing()
    site = put(scripted(PlanningInput=planned), searcher=searcher)
    first = (await http.get(f"/research/jobs/{await over(site)}")).json()
    become({"https://d.example/new": ("New line", "The Orvane ferry got a second ship in 2026.")})
    asked = {"query": "What did the Orvane winter service cost, and what is new?"}
    again = await ended(site, http, await http.post(f"/research/jobs/{first['job_id']}/continue", json=asked))
    assert any("3.1 million crowns" in line for line in seen[-1].known)
    assert any(claim["text"] in line for claim in first["claims"] for line in seen[-1].known)
    # The page is gone by now; what the earlier report quotes of it is cited again, and opens.
    (costs,) = [one for one in again["report"]["references"] if one["url"] == COSTS]
    quote = costs["quotes"][0]
    opened = await http.get(f"/research/jobs/{again['job_id']}/quote/{quote['fact_id']}?format=json")
    assert opened.status_code == 200
    assert quote["text"] in opened.text
    assert "## What is new since" in again["report"]["markdown"]


async def test_what_a_report_took_over_opens_at_its_words_where_the_page_was_read_again_in_other_words(put, http, over):
    searcher, become = changing()
    site = put(searcher=searcher)
    first = (await http.get(f"/research/jobs/{await over(site)}")).json()
    title, text = WORLD[COSTS]
    become({COSTS: (title, f"The winter service of the Orvane ferry got a new breaker in 2026. {text}")})
    asked = {"query": "What did the Orvane winter service cost, and what is new?"}
    again = await ended(site, http, await http.post(f"/research/jobs/{first['job_id']}/continue", json=asked))
    further = await ended(site, http, await http.post(f"/research/jobs/{again['job_id']}/continue", json=asked))
    for job in (again, further):
        (costs,) = [one for one in job["report"]["references"] if one["url"] == COSTS]
        for quote in costs["quotes"]:
            path = f"/research/jobs/{job['job_id']}/quote/{quote['fact_id']}"
            opened = (await http.get(path, headers={"accept": "text/html"})).text
            focus = opened.partition('id="quote"')[2].partition(">")[2].partition("</mark>")[0]
            assert focus == quote["text"]


async def test_a_source_that_reads_as_it_did_is_not_said_to_say_something_no_longer(put, http, over):
    site = put()
    first = (await http.get(f"/research/jobs/{await over(site)}")).json()
    job = await site.team.jobs.find(first["job_id"], "local")
    earlier, _ = await site.team.earlier(job, "refresh")
    changed = since(earlier, (), (), earlier.sources)
    assert changed.missing_facts == ()
    many = changed.model_copy(update={"new_sources": tuple(f"Page {n}" for n in range(10))})
    assert any("New sources (10)" in line and "(+2)" in line for line in map(str, since_lines(many, wording("en"))))


async def test_what_has_no_report_can_be_neither_refreshed_nor_gone_on_from(put, http):
    model = scripted(PlanningInput=lambda request: "not json")
    site = put(model)
    failed = await ended(site, http, await http.post("/research/jobs", json={"query": TASK}))
    assert failed["status"] == "failed"
    assert (await http.post(f"/research/jobs/{failed['job_id']}/refresh")).status_code == 409
    refused = await http.post(f"/research/jobs/{failed['job_id']}/continue", json={"query": TASK})
    assert refused.status_code == 404


async def test_after_a_restart_a_finished_job_is_refreshed_and_challenged(stored, http):
    async with stored() as site:
        first = await ended(site, http, await http.post("/research/jobs", json={"query": TASK}))
    async with stored() as site:
        again = await ended(site, http, await http.post(f"/research/jobs/{first['job_id']}/refresh"))
        assert again["report"]["since"]["job_id"] == first["job_id"]
        path = f"/research/jobs/{first['job_id']}/tasks"
        assert (await http.post(path, json={"stage": "challenge"})).status_code == 202
        async with asyncio.timeout(30):
            while (await http.get(path)).json()["tasks"][0]["status"] != "done":  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        job = await site.team.jobs.find(first["job_id"], "local")
        await asyncio.wait_for(job.wait(), 30)
        assert (job.status, job.run.attempt) == ("done", 2)
