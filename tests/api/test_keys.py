"""Idempotency keys: the same key gives the same run, whoever restarted what, and whose connection broke."""

import asyncio

import pytest

from agents.contracts.frozen import digest
from agents.contracts.report import Commission, KeyedRequest
from agents.contracts.response import FlatPlanInput
from agents.core.budget import Limits
from agents.core.settings import Settings
from agents.jobs.database import Database, async_url
from agents.jobs.store import Store, WholeJob
from agents.research.steering import Steering
from agents.run_research import RunOptions
from tests.api.conftest import TASK, FlatWorker, Gate, scripted
from tests.scripts import BRIEF

KEY = {"Idempotency-Key": "order 17"}


async def ended(site, job_id):
    job = await site.team.jobs.find(job_id, "local")
    await asyncio.wait_for(job.wait(), 60)
    return job


async def test_a_key_gives_the_same_run_after_a_restart(stored, http):
    asked = {"json": {"task": TASK, "async": True}, "headers": KEY}
    async with stored() as site:
        first = (await http.post("/run", **asked)).json()
        await ended(site, first["job_id"])
    async with stored() as site:
        again = await http.post("/run", **asked)
        assert (again.status_code, again.json()) == (202, first)
        assert await site.team.jobs.store.count() == 1


async def test_the_whole_answer_is_given_again_after_a_restart_without_asking_anybody(stored, http):
    asked = {"json": {"task": TASK}, "headers": KEY}
    async with stored():
        first = (await http.post("/run", **asked)).json()
    model = scripted()
    async with stored(model):
        again = (await http.post("/run", **asked)).json()
    assert not model.asked
    first["metadata"].pop("timestamp")
    again["metadata"].pop("timestamp")
    assert again == first


async def test_a_run_that_a_restart_broke_off_goes_on_and_answers_the_second_request(stored, http):
    gate = Gate(FlatWorker())
    asked = {"json": {"task": TASK, "async": True}, "headers": KEY}
    async with stored(gate) as site:
        first = (await http.post("/run", **asked)).json()
        job = await site.team.jobs.find(first["job_id"], "local")
        while not any(event.event.kind == "search" for event in job.run.events):  # noqa: ASYNC110 - any progress at all
            await asyncio.sleep(0.02)
    async with stored() as site:
        again = (await http.post("/run", **asked)).json()
        assert again == first
        assert (await ended(site, first["job_id"])).report is not None


@pytest.mark.parametrize(
    ("path", "other"),
    [("/run", {"task": "Something else?"}), ("/run-simple", {"task": TASK}), ("/research/jobs", {"query": TASK})],
)
async def test_the_key_of_another_request_is_refused_after_a_restart_too(stored, http, path, other):
    async with stored() as site:
        first = (await http.post("/run", json={"task": TASK, "async": True}, headers=KEY)).json()
        await ended(site, first["job_id"])
    async with stored() as site:
        answer = await http.post(path, json=other, headers=KEY)
        assert answer.status_code == 422
        error = answer.json()["error"]
        assert (error["type"], error["message"]) == (
            "idempotency_key_reused", "This Idempotency-Key was used for another request."
        )  # fmt: skip
        assert await site.team.jobs.store.count() == 1


async def test_a_posted_job_is_the_same_after_a_restart_and_says_what_its_planner_did(stored, http):
    asked = {"json": {"query": TASK}, "headers": KEY}
    async with stored() as site:
        first = (await http.post("/research/jobs", **asked)).json()
        await ended(site, first["job_id"])
    async with stored() as site:
        again = (await http.post("/research/jobs", **asked)).json()
        assert again["job_id"] == first["job_id"]
        assert again["planner"] == first["planner"]
        assert (again["status"], again["runtime"]["durable"]) == ("done", True)
        assert await site.team.jobs.store.count() == 1


async def test_of_two_processes_that_use_one_key_at_once_both_answer_with_the_job_of_the_first(stored, http, tmp_path):
    """The other process enters its job just before this one does."""
    model = scripted()
    body = {"query": TASK}
    async with stored(model) as site:
        from agents.api.payloads import JobRequest

        print_ = digest(f"jobs{JobRequest(**body).model_dump_json()}")
        request = KeyedRequest(key=KEY["Idempotency-Key"], fingerprint=print_)
        commission = site.team.commission

        async def meanwhile(*args, **kwargs):
            elsewhere = Database(f"sqlite+aiosqlite:///{tmp_path / 'jobs.db'}")
            await elsewhere.open()
            given = {"limits": Limits(), "steering": Steering(), "status": "cancelled", "code_version": ""}
            asked = Commission(brief=BRIEF, request=request)
            other = WholeJob(id="other", owner="local", title="t", commission=asked, **given)
            await Store(elsewhere).add(other, request.key)
            await elsewhere.close()
            return await commission(*args, **kwargs)

        site.team.commission = meanwhile
        answer = await http.post("/research/jobs", json=body, headers=KEY)
        assert answer.status_code == 202
        assert answer.json()["job_id"] == "other"
        assert await site.team.jobs.store.count() == 1


async def test_a_key_is_free_again_once_its_job_is_deleted(stored, http):
    asked = {"json": {"task": TASK, "async": True}, "headers": KEY}
    async with stored() as site:
        first = (await http.post("/run", **asked)).json()
        await ended(site, first["job_id"])
        assert (await http.delete(f"/research/jobs?id={first['job_id']}")).status_code == 200
        second = (await http.post("/run", **asked)).json()
        assert second["job_id"] != first["job_id"]
        await ended(site, second["job_id"])


async def test_a_connection_that_breaks_does_not_end_a_run_that_has_a_key(put):
    from agents.api.run_routes import _streamed
    from agents.run_research import begin

    gate = Gate(FlatWorker())
    site = put(gate)
    request = KeyedRequest(key="k", fingerprint="f")
    job = await begin(site.team, TASK, RunOptions(), "local", request)
    stream = _streamed(site, job, stop=False)
    await anext(stream)
    await stream.aclose()
    gate.open.set()
    await asyncio.wait_for(job.wait(), 60)
    assert job.status == "done"


async def test_a_stream_under_a_key_tells_the_same_run_from_its_beginning(site, http):
    from tests.api.conftest import events_of

    asked = {"json": {"task": TASK, "stream": True}, "headers": KEY}
    first, second = [events_of((await http.post("/run", **asked)).text) for _ in range(2)]
    assert [name for name, _ in first] == [name for name, _ in second]
    assert first[-1][1]["metadata"]["job_id"] == second[-1][1]["metadata"]["job_id"]
    assert len(site.team.jobs.of("local")) == 1


# ---- runs without a key of the caller's: a function call, a tool of a host


async def test_what_a_process_that_died_has_paid_for_is_taken_up_by_the_next_call(stored):
    from agents.run_research import run_research, taken_up

    gate = Gate(FlatWorker())
    async with stored(gate) as site:
        job = await taken_up(site.team, TASK, RunOptions(), "local")
        async for numbered in job.follow():
            if numbered is not None and numbered.event.kind == "search":
                break
    model = scripted()
    async with stored(model) as site:
        told = await run_research(TASK, team=site.team, owner="local")
        assert told.metadata.job_id == job.id
        assert told.metadata.grade == "complete"
        assert await site.team.jobs.store.count() == 1
    assert not any(isinstance(request.given, FlatPlanInput) for request in model.asked)


async def test_another_question_or_other_bounds_are_no_reason_to_take_a_run_up(stored):
    from agents.run_research import taken_up

    async with stored(Gate(FlatWorker())) as site:
        job = await taken_up(site.team, TASK, RunOptions(), "local")
        async for numbered in job.follow():
            if numbered is not None and numbered.event.kind == "search":
                break
    async with stored() as site:
        other = await taken_up(site.team, TASK, RunOptions(max_iters=1), "local")
        strange = await taken_up(site.team, TASK, RunOptions(), "somebody")
        assert len({job.id, other.id, strange.id}) == 3
        for one in (other, strange):
            await asyncio.wait_for(one.wait(), 60)


async def test_two_who_ask_the_same_at_once_get_a_run_each(stored):
    from agents.run_research import taken_up

    async with stored() as site:
        one, two = [await taken_up(site.team, TASK, RunOptions(), "local") for _ in range(2)]
        assert one.id != two.id
        for job in (one, two):
            await asyncio.wait_for(job.wait(), 60)


async def test_a_call_from_python_keeps_its_job_in_the_data_folder(tmp_path, monkeypatch):
    from agents.run_research import run_research

    for name, value in {"DOSSIER_DATA_DIR": str(tmp_path), "DOSSIER_MODEL": "offline", "RETRIEVER": "library"}.items():
        monkeypatch.setenv(name, value)
    told = await run_research("In which year was Eelgrass Watch founded?", max_iters=1)
    database = Database(async_url("", tmp_path))
    await database.open()
    (row,) = await Store(database).jobs()
    assert (row.id, row.status) == (told.metadata.job_id, "done")
    assert (await Store(database).report(row.id)).markdown == told.final_answer
    await database.close()


async def test_beside_a_running_server_a_call_runs_in_memory_and_says_so(tmp_path):
    from agents.jobs.config import locked, this_process
    from agents.run_research import durable_team

    said = []
    with locked(tmp_path / "engine.db"):
        async with durable_team(Settings(data_dir=tmp_path, model="offline"), said.append) as team:
            assert team.jobs.temporary
    assert said == [f"{this_process()} runs the jobs of this folder; this run ends with its own process."]
    async with durable_team(Settings(data_dir=tmp_path, model="offline"), said.append) as team:
        assert not team.jobs.temporary
        async with durable_team(Settings(data_dir=tmp_path, model="offline"), said.append) as beside:
            assert beside.jobs.temporary
    assert len(said) == 1
