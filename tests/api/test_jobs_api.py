"""`/research/jobs`: the routes of S4 section 7, and the verbs beside them."""

import asyncio
import itertools
import threading
import time
from dataclasses import replace

import pytest

from agents.contracts.contract import ScopingTurn
from agents.contracts.plan import ReflectionResponse
from agents.contracts.report import Commission
from agents.core.errors import BadOutput, ModelError
from agents.offline import OfflineModel
from agents.report.formats import FORMS
from agents.report.parse_body import parse
from agents.research.scoping.turn import NO_ANSWER
from tests.api.conftest import NAMES, TASK, FlatWorker, Gate, scripted
from tests.chat.conftest import until
from tests.scripted_model import ScriptedModel
from tests.scripted_search import ScriptedSearcher
from tests.scripts import QUERY, leaf, tree

BROAD = ScopingTurn(
    reply="Too broad.", open_questions=(), query_type="other", tier="deep", language="en", ready=False,
    queries=(QUERY.model_copy(update={
        "feasible": False, "reason": "It names no period.", "suggested_split": ("Winter 2022/23?", "Winter 2020/21?")
    }),),
)  # fmt: skip


@pytest.fixture
async def running(put, http):
    """A job that does not end before it is let go."""
    model = Gate(FlatWorker())
    site = put(model)
    job_id = (await http.post("/research/jobs", json={"query": TASK})).json()["job_id"]
    job = site.team.jobs.get(job_id, "local")
    job.model = model
    async for numbered in job.follow():
        if numbered and numbered.event.kind == "search":
            break
    yield job


# ---- creation


async def test_a_posted_job_is_authorized_planned_and_run(site, http):
    answer = await http.post("/research/jobs", json={"query": TASK})
    assert answer.status_code == 202
    told = answer.json()
    assert (told["planner"]["started"], told["planner"]["error"]) == (True, None)
    assert (told["status"], told["stage"]) == ("queued", "planning")
    assert told["runtime"] == {
        "engine": "scripted",
        "models": ["scripted"],
        "retrievers": ["scripted"],
        "durable": False,
    }
    assert answer.headers["location"] == f"/research/jobs/{told['job_id']}"
    await asyncio.wait_for(site.team.jobs.get(told["job_id"], "local").wait(), 30)
    whole = (await http.get(told["status_url"])).json()
    assert (whole["status"], whole["stage"], whole["grade"]) == ("done", "completed", "complete")


async def test_a_job_is_described_whole(site, http, over):
    whole = (await http.get(f"/research/jobs/{await over(site)}")).json()
    assert {
        "job_id", "status", "stage", "grade", "blocked_reason", "contract", "phase_state", "claims", "evidence",
        "metadata", "report",
    } <= set(whole)  # fmt: skip
    planning = whole["metadata"]["orchestrator"]
    assert set(planning) == {"stage", "plannerPendingUntil", "plannedAt", "claimCount", "warnings"}
    assert planning["plannedAt"] < planning["plannerPendingUntil"]
    assert planning["claimCount"] >= 1
    assert whole["error"] is None


async def test_several_queries_make_one_report(site, http, over):
    job_id = await over(site, queries=[TASK, "How many passengers did the Orvane ferry carry?"])
    whole = (await http.get(f"/research/jobs/{job_id}")).json()
    assert len(whole["contract"]["plans"]) == 2
    assert len(whole["phase_state"]["queries"]) == 2


async def test_mode_time_language_domains_and_dates_reach_the_brief(site, http, over):
    job_id = await over(
        site, query=TASK, mode="deep", time="unlimited", language="de", domains=["a.example", "-b.example"],
        dates={"from": "2020", "to": "2024-06-30"},
    )  # fmt: skip
    brief = (await http.get(f"/research/jobs/{job_id}")).json()["contract"]["brief"]
    assert (brief["mode"], brief["minutes"], brief["language"]) == ("deep", None, "de")
    assert (brief["domains"], brief["exclude_domains"]) == (["a.example"], ["b.example"])
    assert (brief["date_from"], brief["date_to"]) == ("2020", "2024-06-30")


async def test_a_tier_sets_bounds_and_time(site, http, over):
    contract = (await http.get(f"/research/jobs/{await over(site, query=TASK, complexity_tier='simple')}")).json()[
        "contract"
    ]
    assert (contract["caps"]["rounds"], contract["caps"]["searches"], contract["caps"]["minutes"]) == (2, 3, 1.0)


async def test_a_job_is_there_at_once_and_its_contract_is_readable_while_it_runs(running, http):
    whole = (await http.get(f"/research/jobs/{running.id}")).json()
    assert whole["status"] == "running"
    assert len(whole["contract"]["hash"]) == 12
    assert whole["contract"]["plans"][0]["claims"]
    assert whole["metadata"]["orchestrator"]["claimCount"] == 1
    assert whole["phase_state"]["research"]["iteration"]["max"] == whole["contract"]["caps"]["rounds"]


async def test_starting_a_job_waits_for_no_model(put, http):
    asked = asyncio.Event()

    class Slow(ScriptedModel):
        async def reply(self, request, on_text=None):
            await asked.wait()
            return await super().reply(request, on_text)

    site = put(Slow(by_role=dict.fromkeys(NAMES, FlatWorker())))
    # The processor's time, which other programs take nothing of; whoever waited for the model would wait for ever. The
    # first jobs open the store and load what jobs work with, which a server does before it is asked.
    took = []
    for _ in range(4):
        began = time.process_time()
        answer = await asyncio.wait_for(http.post("/research/jobs", json={"query": TASK}), 30)
        took.append(time.process_time() - began)
    assert min(took) < 0.2
    told = answer.json()
    assert told["planner"]["started"]
    assert told["planner"]["plannerPendingUntil"] > told_at(site, told)
    waiting = (await http.get(told["status_url"])).json()
    assert waiting["status"] in {"queued", "running"}
    assert (waiting["stage"], waiting["contract"]) == ("planning", None)
    asked.set()
    await asyncio.wait_for(site.team.jobs.get(told["job_id"], "local").wait(), 30)


def told_at(site, told):
    return site.team.jobs.get(told["job_id"], "local").created


async def ended(site, http, **body):
    told = (await http.post("/research/jobs", json=body or {"query": TASK})).json()
    await asyncio.wait_for(site.team.jobs.get(told["job_id"], "local").wait(), 30)
    return (await http.get(told["status_url"])).json()


async def test_a_question_that_the_manager_finds_too_broad_fails_with_reasons_and_splits(put, http):
    whole = await ended(put(scripted(ScopingInput=BROAD)), http)
    assert (whole["status"], whole["error"]["type"]) == ("failed", "not_feasible")
    assert whole["error"]["details"] == {
        "reasons": ["It names no period."], "suggested_splits": ["Winter 2022/23?", "Winter 2020/21?"]
    }  # fmt: skip


async def test_where_no_model_is_asked_an_infeasible_question_is_refused_at_once(put, http):
    site = put(OfflineModel())
    answer = await http.post("/research/jobs", json={"query": "Tell me everything about the history of the world"})
    assert answer.status_code == 422
    assert answer.json()["error"]["details"]["reasons"]
    assert not site.team.jobs.of("local")


async def test_what_the_manager_splits_is_researched_within_the_caps_of_what_was_asked(put, http):
    two = tuple(
        QUERY.model_copy(update={"text": text})
        for text in ("How often was the Orvane ferry closed?", "What did the Orvane ferry cost?")
    )
    split = BROAD.model_copy(update={"queries": two})
    whole = await ended(put(scripted(ScopingInput=split)), http)
    assert [plan["query"] for plan in whole["contract"]["plans"]] == [query.text for query in two]
    assert whole["contract"]["caps"]["searches"] == 10


def warned(whole):
    return " ".join(whole["metadata"]["orchestrator"]["warnings"])


async def test_a_manager_that_gives_nothing_usable_leaves_the_question_as_it_was_asked(put, http):
    model = ScriptedModel(by_role={**dict.fromkeys(NAMES, FlatWorker()), "manager": lambda request: "not json"})
    whole = await ended(put(model), http)
    assert whole["status"] == "done"
    assert BadOutput.notice in warned(whole)


async def test_a_manager_that_cannot_be_reached_is_stood_in_for(put, http):
    down = ModelError("down", fault="connection", notice="The provider did not answer.")
    model = ScriptedModel(by_role={**dict.fromkeys(NAMES, FlatWorker()), "manager": lambda request: down})
    whole = await ended(put(model), http)
    assert whole["status"] == "done"
    assert down.notice in warned(whole)


async def test_a_manager_that_stays_silent_is_waited_for_no_longer_than_its_window(put, http):
    class Silent(ScriptedModel):
        async def reply(self, request, on_text=None):
            if request.role == "manager":
                await asyncio.Event().wait()
            return await super().reply(request, on_text)

    site = put(Silent(by_role=dict.fromkeys(NAMES, FlatWorker())), planner_pending_window_ms=50)
    whole = await ended(site, http)
    assert whole["status"] == "done"
    assert NO_ANSWER in warned(whole)


async def test_a_question_that_is_too_broad_is_refused_where_the_one_beside_it_could_not_be_judged(put, http):
    class Silent(ScriptedModel):
        async def reply(self, request, on_text=None):
            if request.role == "manager" and request.given.message != "Ferries?":
                await asyncio.Event().wait()
            return await super().reply(request, on_text)

    model = Silent(by_role=dict.fromkeys(NAMES, FlatWorker(ScopingInput=BROAD)))
    site = put(model, planner_pending_window_ms=200)
    whole = await ended(site, http, queries=["Why do ferries close in winter?", "Ferries?"])
    assert (whole["status"], (whole["error"] or {}).get("type")) == ("failed", "not_feasible")


async def test_two_identical_posts_with_one_key_are_one_job(site, http):
    sent = {"json": {"query": TASK}, "headers": {"Idempotency-Key": "k1"}}
    first, second = await asyncio.gather(http.post("/research/jobs", **sent), http.post("/research/jobs", **sent))
    assert first.json()["job_id"] == second.json()["job_id"]
    assert len(site.team.jobs.of("local")) == 1


async def test_a_refused_post_is_not_remembered_under_its_key(put, http):
    put(OfflineModel())
    headers = {"Idempotency-Key": "k1"}
    broad = {"query": "Tell me everything about the history of the world"}
    assert (await http.post("/research/jobs", json=broad, headers=headers)).status_code == 422
    assert (await http.post("/research/jobs", json={"query": TASK}, headers=headers)).status_code == 202


# ---- lists


async def test_jobs_are_listed_newest_first_page_by_page(site, http, over):
    ids = [await over(site) for _ in range(3)]
    listed = (await http.get("/research/jobs?limit=2")).json()
    assert [job["job_id"] for job in listed["jobs"]] == ids[:0:-1]
    assert (listed["total"], listed["limit"], listed["offset"]) == (3, 2, 0)
    assert [job["job_id"] for job in (await http.get("/research/jobs?limit=2&offset=2")).json()["jobs"]] == ids[:1]
    assert (await http.get("/research/jobs?status=running")).json()["total"] == 0


# ---- while it runs


async def test_the_state_of_the_loop_is_readable_while_it_runs(running, http):
    whole = (await http.get(f"/research/jobs/{running.id}")).json()
    assert whole["status"] == "running"
    assert whole["phase_state"]["research"]["time_budget"]["total_minutes"] == 5.0
    assert whole["report"] is None


DAYS = "The Orvane ferry line was closed on 12 days in the winter of 2022/23."
DISAGREEING = {
    "https://a.example/closures": ("Closures", DAYS),
    "https://b.example/closures": ("Closures again", DAYS.replace("12", "31")),
    "https://c.example/costs": ("Costs", "The winter service of the Orvane ferry cost 3.1 million crowns in 2023."),
}


async def test_a_deep_job_collects_fills_gaps_and_settles_what_its_sources_disagree_on(put, http, over):
    plan = tree(
        leaf("Closures", "On how many days was the Orvane ferry line closed in the winter of 2022/23?"),
        leaf("Costs", "What did the Orvane winter service cost?"),
        claims=(DAYS,),
    )
    winter = itertools.count(2000)

    def more(request):
        asked = f"How thick was the Orvane ice in {next(winter)}?"
        return ReflectionResponse(sufficient=False, confidence=0.4, gaps=("other winters",), new_queries=(asked,))

    worker = FlatWorker(PlanningInput=plan, ReflectionInput=more)
    site = put(ScriptedModel(by_role=dict.fromkeys((*NAMES, "scout"), worker)), ScriptedSearcher(DISAGREEING))
    question = "Why was the Orvane ferry line closed so often, and on how many days?"
    job_id = await over(site, query=question, mode="deep")

    report = (await http.get(f"/research/jobs/{job_id}/report.json")).json()
    assert [record["phase"] for record in report["rounds_log"]] == ["Collect", "Fill gaps", "Settle contradictions"]
    assert all(record["contradictions"] for record in report["rounds_log"])
    # The last round asks other sources about what those at hand differ on, and the reader is told of it.
    assert DAYS in report["methodology"]["dispatched_topics"]
    assert "#SOURCE_CONFLICT" in {tag["tag"] for tag in report["methodology"]["tags"]}
    assert "31 days" in report["markdown"].partition("## References")[0]


async def test_guidance_reaches_the_next_rounds(running, http):
    answer = await http.post(f"/research/jobs/{running.id}/guidance", json={"text": "Leave out press releases."})
    assert answer.status_code == 202
    assert running.run.steering.guidance == ["Leave out press releases."]
    assert answer.json()["reaches"]["summary"]


async def test_guidance_is_said_to_reach_nothing_where_the_engine_cannot_weigh_it(running, http, server_app):
    team = server_app.state.dossier_site.team
    team.engine = replace(team.engine, reasons=False)
    answer = await http.post(f"/research/jobs/{running.id}/guidance", json={"text": "Leave out press releases."})
    assert answer.json()["guidance"] == ["Leave out press releases."]
    assert answer.json()["reaches"] == {"round": None, "branches": 0, "summary": False}


async def test_an_operator_puts_tasks_into_a_running_job(running, http):
    path = f"/research/jobs/{running.id}/tasks"
    claim = await until(lambda: next(iter(running.claims), None))
    told = (await http.post(path, json={"stage": "collect", "note": "The 2024 recount", "claim_id": claim.id})).json()
    assert told["task"]["context"]["research"] == {"jobId": running.id, "stage": "collect", "claimId": claim.id}
    # A model knows no ids: it is told what the claim says.
    await until(lambda: running.run.steering.guidance == [f"The claim “{claim.text}”: The 2024 recount"])
    unknown = await http.post(path, json={"stage": "challenge", "claim_id": "c1"})
    assert (unknown.status_code, unknown.json()["error"]["type"]) == (404, "not_found")
    assert (await http.post(path, json={"stage": "write"})).status_code == 202
    await until(lambda: running.run.steering.finishing("job"))
    assert (await http.post(path, json={"stage": "challenge"})).status_code == 202
    assert (await http.post(path, json={"stage": "collect"})).status_code == 422
    assert (await http.post(path, json={"stage": "sing"})).status_code == 422


@pytest.mark.parametrize("verb", ["resume", "rework", "restart"])
async def test_verbs_that_a_running_job_cannot_do_are_said_so(running, http, verb):
    answer = await http.post(f"/research/jobs/{running.id}/{verb}")
    assert answer.status_code == 409
    assert set(answer.json()["error"]) == {"type", "message", "retryable"}


async def test_a_job_that_is_over_takes_no_more_orders(site, http, over):
    job_id = await over(site)
    for verb, body in (("guidance", {"text": "x"}), ("pause", None), ("resume", None)):
        answer = await http.post(f"/research/jobs/{job_id}/{verb}", json=body)
        assert answer.status_code == 409
        assert answer.json()["error"]["type"] == "over"
    assert (await http.post(f"/research/jobs/{job_id}/cancel")).json()["status"] == "done"


@pytest.mark.parametrize("verb", ["cancel", "finish", "pause", "resume", "rework", "restart", "release"])
async def test_an_unknown_job_is_a_404_for_every_verb(site, http, verb):
    assert (await http.post(f"/research/jobs/{'0' * 32}/{verb}")).status_code == 404


# ---- deletion


async def test_a_job_is_deleted_with_everything_that_hangs_on_it(site, http, over):
    keep, gone = await over(site), await over(site)
    told = (await http.delete(f"/research/jobs?id={gone}")).json()
    assert told == {"deleted": [gone], "count": 1}
    assert (await http.get(f"/research/jobs/{gone}")).status_code == 404
    assert await site.team.jobs.report(gone) is None
    assert [job["job_id"] for job in (await http.get("/research/jobs")).json()["jobs"]] == [keep]


async def test_jobs_are_deleted_by_status(site, http, over):
    await over(site)
    assert (await http.delete("/research/jobs?status=failed&status=cancelled")).json()["count"] == 0
    assert (await http.delete("/research/jobs?status=done")).json()["count"] == 1


async def test_a_running_job_is_deleted_only_by_force(running, http):
    refused = await http.delete(f"/research/jobs?id={running.id}")
    assert refused.status_code == 409
    assert refused.json()["error"]["details"] == {"running": [running.id]}
    assert not running.over
    assert (await http.delete(f"/research/jobs?id={running.id}&force=true")).json()["count"] == 1
    assert running.over
    assert (await http.get("/research/jobs")).json()["total"] == 0


async def test_deleting_what_is_not_there_deletes_nothing(site, http, over):
    job_id = await over(site)
    answer = await http.delete(f"/research/jobs?id={job_id}&id=nope")
    assert answer.status_code == 404
    assert answer.json()["error"]["details"] == {"unknown": ["nope"]}
    assert (await http.get(f"/research/jobs/{job_id}")).status_code == 200


async def test_nobody_deletes_or_sees_the_jobs_of_others(site, http):
    from agents.contracts.contract import Brief

    job = await site.team.commission(
        Commission(brief=Brief(question=TASK, queries=(QUERY,), today="2026-11-27")), owner="somebody"
    )
    assert (await http.delete("/research/jobs?force=true")).json()["count"] == 0
    assert (await http.get(f"/research/jobs/{job.id}")).status_code == 404
    assert (await http.delete(f"/research/jobs?id={job.id}")).status_code == 404


# ---- a run that fails


async def test_a_job_whose_plan_stays_unreadable_fails_and_says_why(put, http):
    site = put(ScriptedModel(by_role={**dict.fromkeys(NAMES, FlatWorker()), "planner": lambda request: "not json"}))
    job_id = (await http.post("/research/jobs", json={"query": TASK})).json()["job_id"]
    await asyncio.wait_for(site.team.jobs.get(job_id, "local").wait(), 30)
    whole = (await http.get(f"/research/jobs/{job_id}")).json()
    assert whole["status"] == "failed"
    assert whole["error"]["retryable"]
    assert (await http.get(f"/research/jobs/{job_id}/report.bib")).status_code == 404


# ---- exports


async def test_references_are_downloads_for_reference_managers(site, http, over):
    job_id = await over(site)
    bib, ris = [await http.get(f"/research/jobs/{job_id}/report.{form}") for form in ("bib", "ris")]
    assert bib.headers["content-type"] == "application/x-bibtex"
    assert bib.headers["content-disposition"].startswith('attachment; filename="Ferry winters.bib"')
    assert bib.text.count("@misc{") == ris.text.count("ER  - ") == 3
    assert "url = {https://a.example/closures}" in bib.text
    assert "UR  - https://a.example/closures\r\n" in ris.text


@pytest.mark.parametrize(("form", "begins"), [("pdf", b"%PDF-"), ("docx", b"PK")])
async def test_a_report_is_taken_away_as_pdf_and_for_a_word_processor(site, http, over, form, begins):
    answer = await http.get(f"/research/jobs/{await over(site)}/report.{form}")
    assert answer.status_code == 200
    assert answer.content.startswith(begins)
    assert answer.headers["content-type"] == FORMS[form].mime
    assert answer.headers["content-disposition"].startswith(f'attachment; filename="Ferry winters.{form}"')


async def test_writing_a_pdf_leaves_the_server_free_to_answer(site, http, over, monkeypatch):
    started, go_on = threading.Event(), threading.Event()

    def slow(document):
        started.set()
        assert go_on.wait(10)
        return b"%PDF-"

    job_id = await over(site)
    monkeypatch.setitem(FORMS, "pdf", replace(FORMS["pdf"], write=slow))
    asked = asyncio.create_task(http.get(f"/research/jobs/{job_id}/report.pdf"))
    await asyncio.to_thread(started.wait, 10)
    assert (await http.get("/healthz")).status_code == 200
    assert not asked.done()
    go_on.set()
    assert (await asked).status_code == 200


async def test_a_report_whose_letters_no_font_holds_is_a_pdf_all_the_same(site, http, over):
    job_id = await over(site)
    job = site.team.jobs.get(job_id, "local")
    job.report = job.report.model_copy(update={"body": parse("\ua84f\ua861\ua843 " * 40, ())})
    answer = await http.get(f"/research/jobs/{job_id}/report.pdf")
    assert answer.status_code == 200
    assert answer.content.startswith(b"%PDF")
