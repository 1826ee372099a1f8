"""`/run`: one task in, one answer with its sources out (the smoke tests of S1 section 15 by name)."""

import asyncio

import pytest

from agents.contracts.plan import ReflectionResponse
from agents.contracts.report import Quote, Reference
from agents.contracts.response import AgentResponse, FlatPlanInput
from agents.core.errors import BadOutput, ModelError
from agents.run_answer import _location
from tests.api.conftest import FLAT, NAMES, TASK, TOO_BROAD, FlatWorker, Gate, events_of, scripted
from tests.scripted_model import ScriptedModel
from tests.scripted_search import ScriptedSearcher
from tests.scripts import WORLD, world

OPEN = ReflectionResponse(
    sufficient=False, confidence=0.3, gaps=("Which winter was the worst?",),
    new_queries=("Which winter of the Orvane ferry was the worst?", "Ice thickness on the Orvane in 2021"),
)  # fmt: skip


async def ask(http, path="/run", **body):
    answer = await http.post(path, json={"task": TASK, **body})
    assert answer.status_code == 200, answer.text
    return answer.json()


# ---- S1 section 15


async def test_run_with_a_simple_task_gives_the_response_schema(site, http):
    told = AgentResponse.model_validate_json((await http.post("/run", json={"task": TASK})).content)

    assert told.final_answer.startswith(told.summary)
    assert [source.id for source in told.sources] == ["[1]", "[2]", "[3]"]
    assert {citation.location for citation in told.citations} == set(WORLD)
    assert 0 < told.confidence <= 1
    assert told.metadata.token_count > 0
    assert told.metadata.model == "scripted"
    assert told.metadata.complexity_tier == "simple"
    assert told.metadata.tier_origin == "detected"
    assert (told.metadata.grade, told.degraded_mode) == ("complete", False)


async def test_max_iters_of_one_ends_the_loop_after_one_round(put, http):
    put(scripted(ReflectionInput=OPEN))
    told = await ask(http, max_iters=1, complexity_tier="standard")
    assert told["iterations"] == 1
    assert told["insufficient_termination"]


async def test_empty_search_results_end_in_an_honest_answer(put, http):
    put(searcher=ScriptedSearcher({}))
    told = await ask(http)
    assert told["metadata"]["grade"] == "nothing_found"
    assert told["sources"] == told["citations"] == []
    assert told["confidence"] == 0
    assert not told["degraded_mode"]


async def test_citation_ids_resolve_to_verified_sources(site, http):
    told = await ask(http)
    listed = {citation["id"] for citation in told["citations"]}
    assert all(source["id"] in listed for source in told["sources"])
    for source in told["sources"]:
        assert all(quote in WORLD[source["url"]][1] for quote in source["quotes"])
    assert all(f"[{n}]" in told["final_answer"] for n in range(1, len(listed) + 1))


# ---- S1 section 15.1


async def test_three_failing_searches_degrade_the_run_and_say_so(put, http):
    put(searcher=world(fail={query.query for query in FLAT.queries}))
    told = await ask(http, max_queries=3)
    assert told["degraded_mode"]
    assert told["error_log"]
    assert told["metadata"]["grade"] == "nothing_found"


async def test_empty_results_are_searched_again_in_other_words(put, http):
    site = put(searcher=ScriptedSearcher({}))
    await ask(http, complexity_tier="standard")
    assert len(site.team.searcher.asked) > len(FLAT.queries)


async def test_a_timeout_degrades_gracefully_inside_the_time(put, http):
    put(Gate(FlatWorker()))
    told = await ask(http, max_execution_time_s=1)
    assert told["insufficient_termination"] or told["metadata"]["grade"] != "complete"
    assert told["metadata"]["limits"]["max_execution_time_s"] == 1


async def test_a_hallucinated_citation_never_reaches_the_answer(put, http):
    from agents.contracts.finding import Section

    def invents(request):
        facts = request.given.facts
        return Section(markdown=f"{facts[0].statement}[f{facts[0].number}] An invention.[f99] And [99] too.")

    put(scripted(SectionInput=invents))
    told = await ask(http)
    assert "[99]" not in told["final_answer"]
    assert "[f99]" not in told["final_answer"]
    assert "[99]" not in {citation["id"] for citation in told["citations"]}


async def test_a_spent_token_budget_still_gives_an_answer(put, http):
    put(token_budget=1000)
    told = await ask(http)
    assert told["final_answer"]
    assert "#TOKEN_LIMIT" in told["metadata"]["tags"]


# ---- tiers and bounds


async def test_run_simple_has_the_bounds_of_the_simple_tier(site, http):
    told = await ask(http, "/run-simple")
    assert told["metadata"]["complexity_tier"] == "simple"
    assert told["metadata"]["tier_origin"] == "request"
    assert told["metadata"]["limits"] == {
        "max_iters": 2, "max_queries": 3, "max_sources": 5, "max_execution_time_s": 60.0
    }  # fmt: skip


@pytest.mark.parametrize(
    ("tier", "bounds"), [("simple", (2, 3, 5, 60)), ("standard", (5, 10, 15, 90)), ("deep", (10, 15, 20, 120))]
)
async def test_a_given_tier_wins_over_the_detected_one(site, http, tier, bounds):
    told = await ask(http, complexity_tier=tier)
    assert tuple(told["metadata"]["limits"].values()) == bounds


async def test_the_request_wins_over_the_environment_and_that_over_the_tier(put, http):
    put(max_queries=4, max_sources=6, max_iters=3)
    told = await ask(http, max_sources=2)
    assert told["metadata"]["limits"] == {
        "max_iters": 3, "max_queries": 4, "max_sources": 2, "max_execution_time_s": 60.0
    }  # fmt: skip


async def test_searches_and_sources_are_bounded_over_all_rounds(put, http):
    many = {
        f"https://s{n}.example/": (f"Winter {n}", f"The Orvane ferry was closed on {n} days in winter.")
        for n in range(30)
    }
    site = put(scripted(ReflectionInput=OPEN), searcher=ScriptedSearcher(many))
    told = await ask(http, complexity_tier="deep", max_queries=4, max_sources=3)
    assert len(site.team.searcher.asked) <= 4
    assert len(set(site.team.searcher.read_urls)) <= 3
    assert told["iterations"] >= 2


async def test_fewer_queries_than_planned_are_the_first_ones(put, http):
    site = put()
    told = await ask(http, max_queries=1)
    assert [query["intent"] for query in told["metadata"]["queries"]] == ["Closures"]
    assert len(site.team.searcher.asked) == 1


async def test_planning_counts_among_the_calls_and_tokens(site, http):
    told = await ask(http)
    job = site.team.jobs.get(told["metadata"]["job_id"], "local")
    actual = job.report.methodology.actual
    (planned,) = [one.event for one in job.run.events if one.event.kind == "asked" and one.event.role == "planner"]
    assert planned.usage.tokens > 0
    assert told["metadata"]["model_calls"] == actual.model_calls
    assert told["metadata"]["token_count"] == actual.tokens_in + actual.tokens_out == job.summary().tokens


# ---- what can't be done


@pytest.mark.parametrize("body", [{}, {"stream": True}, {"async": True}])
async def test_a_task_that_is_too_broad_is_refused_with_what_would_work(put, http, body):
    site = put(scripted(TOO_BROAD))
    answer = await http.post("/run", json={"task": TASK, **body})
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert error["type"] == "not_feasible"
    assert error["details"] == {
        "reasons": ["It names no period."],
        "suggested_splits": ["Winter 2022/23?", "Winter 2020/21?"],
    }
    assert not site.team.jobs.of("local")


async def test_a_plan_that_stays_unreadable_is_a_retryable_502(put, http):
    put(ScriptedModel(by_role={"planner": ["not json", "nor this"]}))
    answer = await http.post("/run", json={"task": TASK})
    assert answer.status_code == 502
    assert answer.json()["error"]["type"] == "bad_output"
    assert answer.json()["error"]["retryable"]


async def test_a_planner_that_cannot_be_reached_is_stood_in_for(put, http):
    def down(request):
        return ModelError("down", fault="connection", notice="The provider did not answer.")

    worker = FlatWorker()
    put(ScriptedModel(by_role={**dict.fromkeys(NAMES, worker), "planner": down}))
    told = await ask(http)
    assert told["metadata"]["grade"] == "partial"
    assert any("answered in the place of" in reason for reason in told["metadata"]["grade_reasons"])
    assert "The provider did not answer." in told["final_answer"]


async def test_a_wrong_key_is_said_and_not_stood_in_for(put, http):
    def refused(request):
        return ModelError("401", fault="key", notice="The provider refuses the key.")

    put(ScriptedModel(by_role={"planner": refused}))
    answer = await http.post("/run", json={"task": TASK})
    assert answer.status_code == 502
    assert answer.json()["error"] == {
        "type": "model_error", "message": "The provider refuses the key.", "retryable": False
    }  # fmt: skip


async def test_the_offline_engine_answers_a_run_too(put, http):
    from agents.offline import OfflineModel

    put(OfflineModel())
    told = await ask(http, task="How many passengers did the Orvane ferry carry in 2023?")
    assert "212,000" in told["final_answer"]
    assert told["metadata"]["token_count"] == 0


async def test_the_offline_engine_says_at_once_where_nothing_is_asked_or_too_much(put, http):
    from agents.offline import OfflineModel

    put(OfflineModel())
    for task, kind in (("Hello!", "bad_request"), ("What is going on with the world's coral reefs?", "not_feasible")):
        answer = await http.post("/run", json={"task": task})
        assert (answer.status_code, answer.json()["error"]["type"]) == (422, kind)
    assert len(answer.json()["error"]["details"]["suggested_splits"]) >= 2


# ---- streams and asynchronous runs


async def test_a_stream_tells_plan_progress_and_the_answer(site, http):
    events = events_of((await http.post("/run", json={"task": TASK, "stream": True})).text)
    assert events[0][0] == "planned"
    assert [query["intent"] for query in events[0][1]["queries"]] == ["Closures", "Costs", "Passengers"]
    assert events[-1][0] == "result"
    assert AgentResponse.model_validate(events[-1][1]).metadata.job_id == events[0][1]["job_id"]
    assert {"job", "node", "search", "source", "round", "report"} <= {name for name, _ in events}


async def test_a_client_that_leaves_in_mid_stream_ends_the_run(put):
    from agents.api.run_routes import _streamed
    from agents.run_research import RunOptions, begin

    site = put(Gate(FlatWorker()))
    job = await begin(site.team, TASK, RunOptions(), "local")
    stream = _streamed(site, job)
    await anext(stream)
    await stream.aclose()
    await asyncio.wait_for(job.wait(), 30)
    assert job.status == "cancelled"


async def test_a_run_that_nobody_waits_for_any_more_is_stopped(put):
    from types import SimpleNamespace

    from agents.api.error_responses import ApiError
    from agents.api.run_routes import attended
    from agents.run_research import RunOptions, begin

    site = put(Gate(FlatWorker()))
    job = await begin(site.team, TASK, RunOptions(), "local")

    async def gone():
        return True

    with pytest.raises(ApiError):
        await attended(site, job, SimpleNamespace(is_disconnected=gone))
    await asyncio.wait_for(job.wait(), 30)
    assert job.status == "cancelled"


async def test_a_run_that_was_stopped_says_so(put, http):
    site = put(Gate(FlatWorker()))
    asking = asyncio.create_task(http.post("/run", json={"task": TASK}))
    started = asyncio.Event()
    site.team.observers.append(lambda job: started.set())
    await started.wait()
    await asyncio.sleep(0.05)
    site.team.jobs.stop(site.team.jobs.of("local")[0])
    answer = await asking
    assert answer.status_code == 409
    assert answer.json()["error"]["type"] == "stopped"


async def test_an_asynchronous_run_answers_at_once_and_is_polled(site, http):
    answer = await http.post("/run", json={"task": TASK, "async": True})
    assert answer.status_code == 202
    told = answer.json()
    assert answer.headers["location"] == told["status_url"] == f"/research/jobs/{told['job_id']}"
    await asyncio.wait_for(site.team.jobs.get(told["job_id"], "local").wait(), 30)
    assert (await http.get(told["status_url"])).json()["status"] == "done"


async def test_one_idempotency_key_is_one_run(site, http):
    ask_once = {"json": {"task": TASK, "async": True}, "headers": {"Idempotency-Key": "one"}}
    first, second = await asyncio.gather(http.post("/run", **ask_once), http.post("/run", **ask_once))
    assert first.json() == second.json()
    assert len(site.team.jobs.of("local")) == 1
    other = await http.post(
        "/run", json={"task": "Something else entirely?", "async": True}, headers=ask_once["headers"]
    )
    assert other.status_code == 422
    assert other.json()["error"]["type"] == "idempotency_key_reused"


# ---- the function behind it


async def test_run_research_has_the_signature_of_the_seed(put):
    from agents.run_research import run_research

    team = put().team
    told = await run_research(TASK, max_iters=2, max_queries=3, max_sources=5, max_execution_time_s=60, team=team)
    assert told.metadata.limits.model_dump() == {
        "max_iters": 2, "max_queries": 3, "max_sources": 5, "max_execution_time_s": 60.0
    }  # fmt: skip


async def test_the_planner_is_told_tier_and_bounds(put, http):
    site = put()
    await ask(http, complexity_tier="deep", max_queries=2)
    given = next(one.given for one in site.team.models["planner"].asked if isinstance(one.given, FlatPlanInput))
    assert (given.tier, given.max_queries, given.language) == ("deep", 2, "en")


async def test_a_plan_of_two_queries_is_sent_back_once(put, http):
    two = FLAT.model_copy(update={"queries": FLAT.queries[:2]})
    put(ScriptedModel(by_role={**dict.fromkeys(NAMES, FlatWorker()), "planner": [two, FLAT]}))
    told = await ask(http)
    assert len(told["metadata"]["queries"]) == 3


async def test_search_lists_hits_without_research(site, http):
    told = (await http.post("/search", json={"query": "Orvane ferry cost", "max_results": 2})).json()
    assert told["provider"] == "scripted"
    assert len(told["results"]) == 2
    assert {"title", "url", "snippet"} <= set(told["results"][0])
    assert not site.team.jobs.of("local")


async def test_a_search_that_fails_is_a_retryable_502(put, http):
    put(searcher=world(fail={"ferry"}))
    answer = await http.post("/search", json={"query": "ferry"})
    assert answer.status_code == 502
    assert answer.json()["error"]["retryable"]


def test_errors_keep_their_kind():
    from agents.api.error_responses import as_api_error

    assert as_api_error(BadOutput("planner", reason="x", attempts=2)).status == 502


def test_a_quote_of_ones_own_document_opens_below_the_path_at_which_a_proxy_serves(monkeypatch):
    monkeypatch.setattr("agents.core.paths.below", "/lab")
    quote = Quote(text="It closed.", start=0, end=10, fact_id="f1")
    own = Reference(n=1, source_id="s1", url="library:/a/log.md", title="Log", kind="library", quotes=(quote,))
    assert _location(own, "j") == "/lab/research/jobs/j/quote/f1#quote"
