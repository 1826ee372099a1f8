"""`/research/jobs` where jobs are stored: pause, resume, restart, rework, release, tasks, deletion, long lists."""

import asyncio
import time

import pytest

from agents.contracts.finding import SectionInput
from agents.contracts.report import Commission
from agents.contracts.verification import Judgement
from agents.jobs import schema as tables
from agents.jobs.store import StoredJob
from tests.api.conftest import TASK, FlatWorker, Gate, scripted
from tests.scripts import BRIEF

SENDS_BACK = Judgement(verdict="request_changes", reasons=("One claim has a single source.",))


async def posted(http, site):
    answer = await http.post("/research/jobs", json={"query": TASK})
    assert answer.status_code == 202, answer.text
    return site.team.jobs.get(answer.json()["job_id"], "local")


async def searching(job):
    async for numbered in job.follow():
        if numbered and numbered.event.kind == "search":
            return


async def until(what, seconds=60):
    async with asyncio.timeout(seconds):
        while not (found := await what()):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    return found


async def test_a_job_is_paused_and_resumed_over_http(stored, http):
    model = Gate(FlatWorker())
    async with stored(model) as site:
        job = await posted(http, site)
        await searching(job)
        pausing = asyncio.create_task(http.post(f"/research/jobs/{job.id}/pause"))
        await asyncio.sleep(0.1)
        model.open.set()
        assert (await pausing).json()["status"] == "blocked"
        described = (await http.get(f"/research/jobs/{job.id}")).json()
        assert (described["status"], described["blocked_reason"]) == ("blocked", "paused")
        refused = await http.post(f"/research/jobs/{job.id}/pause")
        assert (refused.status_code, refused.json()["error"]["type"]) == (409, "not_allowed")

        assert (await http.post(f"/research/jobs/{job.id}/resume")).status_code == 202
        await asyncio.wait_for(job.wait(), 30)
        assert job.status == "done"


async def test_a_job_that_is_over_is_restarted_and_reworked_over_http(stored, http):
    async with stored() as site:
        job = await posted(http, site)
        await asyncio.wait_for(job.wait(), 30)
        for number, verb in enumerate(("restart", "rework"), 1):
            told = (await http.post(f"/research/jobs/{job.id}/{verb}")).json()
            assert told["status"] == "queued"
            await asyncio.wait_for(job.wait(), 30)
            assert (job.status, job.run.again) == ("done", number)


async def test_what_the_judge_sends_back_answers_run_and_is_released_over_http(stored, http):
    async with stored(scripted(JudgeInput=SENDS_BACK), require_judge=True):
        answer = await asyncio.wait_for(http.post("/run", json={"task": TASK}), 60)
        assert answer.status_code == 200, answer.text
        job_id = answer.json()["metadata"]["job_id"]
        assert answer.json()["final_answer"]
        asked = {"model": "research-simple", "messages": [{"role": "user", "content": TASK}]}
        completion = (await asyncio.wait_for(http.post("/v1/chat/completions", json=asked), 60)).json()
        described = (await http.get(f"/research/jobs/{job_id}")).json()
        # Whoever waits for the answer is told, too, and why.
        assert "claims were settled" in described["metadata"]["note"]
        assert answer.json()["metadata"]["sent_back"] == described["metadata"]["note"]
        assert completion["dossier"]["sent_back"] == described["metadata"]["note"]
        assert (described["status"], described["blocked_reason"]) == ("blocked", "needs_rework")
        assert described["report"] is not None

        assert (await http.post(f"/research/jobs/{job_id}/release")).status_code == 202

        async def done():
            return (await http.get(f"/research/jobs/{job_id}")).json()["status"] == "done"

        await until(done)
        assert (await http.post(f"/research/jobs/{job_id}/release")).status_code == 409


async def test_a_rework_is_told_what_the_judge_found_and_is_judged_again(stored, http):
    verdicts = iter((SENDS_BACK, Judgement(verdict="approve", reasons=())))
    model = scripted(JudgeInput=lambda request: next(verdicts))
    usual = {f"judge_{name}": 0 for name in ("min_claims", "min_report_confidence", "min_verifiable_ratio")}
    async with stored(model, require_judge=True, **usual) as site:
        job = await posted(http, site)
        await asyncio.wait_for(job.settled(), 30)
        assert (job.status, job.blocked_reason) == ("blocked", "needs_rework")
        first = len(model.asked)

        assert (await http.post(f"/research/jobs/{job.id}/rework")).status_code == 202

        async def done():
            return (await http.get(f"/research/jobs/{job.id}")).json()["status"] == "done"

        await until(done)
        anew = [request.given for request in model.asked[first:] if isinstance(request.given, SectionInput)]
        assert anew
        assert all(given.guidance == (SENDS_BACK.reasons[0],) for given in anew)
        assert not [request for request in model.asked[first:] if request.role == "extractor"]


async def test_tasks_are_rows_and_what_begins_another_attempt_waits_for_the_present_one(stored, http):
    model = Gate(FlatWorker())
    async with stored(model) as site:
        job = await posted(http, site)
        await searching(job)
        path = f"/research/jobs/{job.id}/tasks"
        for body in ({"stage": "challenge"}, {"stage": "collect", "note": "The 2024 recount"}):
            assert (await http.post(path, json=body)).status_code == 202

        async def collected():
            rows = (await http.get(path)).json()["tasks"]
            return {row["stage"]: row["status"] for row in rows} == {"challenge": "queued", "collect": "done"}

        await until(collected)
        assert job.run.steering.guidance == ["The 2024 recount"]
        assert job.run.attempt == 1

        model.open.set()

        async def challenged():
            rows = {row["stage"]: row["status"] for row in (await http.get(path)).json()["tasks"]}
            return rows["challenge"] == "done" and job.run.attempt == 2 and job.over

        await until(challenged, 60)
        assert job.status == "done"


async def test_a_task_that_was_put_before_a_restart_is_done_after_it(stored, http):
    async with stored() as site:
        job = await posted(http, site)
        await asyncio.wait_for(job.wait(), 30)
        site.team.jobs._rounds[0].cancel()  # nobody looks for commands any more
        site.team.jobs._rounds[1].cancel()
        path = f"/research/jobs/{job.id}/tasks"
        assert (await http.post(path, json={"stage": "write"})).json()["task"]["status"] == "queued"
    async with stored() as site:

        async def written():
            (row,) = (await http.get(path)).json()["tasks"]
            return row["status"] == "done"

        await until(written)
        again = await site.team.jobs.find(job.id, "local")
        await asyncio.wait_for(again.wait(), 30)
        assert (again.status, again.run.attempt) == ("done", 2)


async def test_a_job_is_deleted_with_all_its_rows(stored, http):
    async with stored() as site:
        keep, gone = await posted(http, site), await posted(http, site)
        for job in (keep, gone):
            await asyncio.wait_for(job.wait(), 30)
        assert (await http.delete(f"/research/jobs?id={gone.id}")).json() == {"deleted": [gone.id], "count": 1}
        assert [row["job_id"] for row in (await http.get("/research/jobs")).json()["jobs"]] == [keep.id]
        assert await site.team.jobs.store.events(gone.id) == []
        assert await site.team.jobs.report(gone.id) is None


async def test_ten_thousand_jobs_are_listed_in_a_tenth_of_a_second(stored, http):
    async with stored() as site:
        job = await posted(http, site)
        await asyncio.wait_for(job.wait(), 30)
        text = Commission(brief=BRIEF).model_dump_json()
        rows = [
            StoredJob(owner="local", title=f"Question {n}", code_version="research-1").model_dump()
            | {"commission": text, "limits": "{}"}
            for n in range(10_000)
        ]
        async with site.team.jobs.store.database.begin() as connection:
            await connection.execute(tables.jobs.insert(), rows)
        took = []
        for _ in range(5):
            began = time.perf_counter()
            listed = (await http.get("/research/jobs")).json()
            took.append(time.perf_counter() - began)
        assert (listed["total"], len(listed["jobs"])) == (10_001, 50)
        assert min(took) < 0.3  # 0.1 s on a machine that does nothing else
        last = (await http.get("/research/jobs?status=done")).json()["jobs"][0]
        assert (last["job_id"], last["grade"]) == (job.id, job.report.grade)
        assert last["seconds"] > 0


@pytest.mark.parametrize("verb", ["pause", "resume", "rework", "restart", "release"])
async def test_an_unknown_job_is_a_404(stored, http, verb):
    async with stored():
        assert (await http.post(f"/research/jobs/{'0' * 32}/{verb}")).status_code == 404


async def test_what_the_judge_sent_back_is_released_after_a_restart(stored, http):
    async with stored(scripted(JudgeInput=SENDS_BACK), require_judge=True) as site:
        job = await posted(http, site)
        await asyncio.wait_for(job.settled(), 30)
        assert job.blocked_reason == "needs_rework"
    async with stored(scripted(JudgeInput=SENDS_BACK), require_judge=True):
        assert (await http.get(f"/research/jobs/{job.id}")).json()["blocked_reason"] == "needs_rework"
        assert (await http.post(f"/research/jobs/{job.id}/release")).status_code == 202

        async def done():
            return (await http.get(f"/research/jobs/{job.id}")).json()["status"] == "done"

        await until(done)


async def test_a_job_that_is_over_is_planned_anew_after_a_restart(stored, http):
    async with stored() as site:
        job = await posted(http, site)
        await asyncio.wait_for(job.wait(), 30)
    async with stored() as site:
        path = f"/research/jobs/{job.id}/tasks"
        assert (await http.post(path, json={"stage": "plan"})).status_code == 202

        async def planned():
            return (await http.get(path)).json()["tasks"][0]["status"] == "done"

        await until(planned)
        again = await site.team.jobs.find(job.id, "local")
        await asyncio.wait_for(again.wait(), 30)
        assert (again.status, again.run.attempt) == ("done", 2)
        assert again.contract is not None
