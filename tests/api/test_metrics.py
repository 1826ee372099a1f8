"""Metrics and logs, fed from the events of jobs."""

import json
import logging
import re

import pytest

from agents.contracts.plan import ReflectionResponse
from tests.api.conftest import FLAT, NAMES, TASK, FlatWorker, scripted
from tests.scripts import world


async def metrics(http):
    answer = await http.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return {name: float(value) for name, value in re.findall(r"(?m)^([a-z_]+(?:\{[^}]*\})?) (\S+)$", answer.text)}


async def test_the_metrics_of_the_seed_are_right_after_one_run(site, http):
    told = (await http.post("/run", json={"task": TASK})).json()
    found = await metrics(http)
    assert found['research_loop_duration_seconds_count{outcome="done"}'] == 1
    assert 0 < found['research_loop_duration_seconds_sum{outcome="done"}'] < 60
    assert found["iterations_per_request_count"] == 1
    assert found["iterations_per_request_sum"] == told["iterations"]
    assert found["search_failures_total"] == 0
    assert found['research_searches_total{provider="scripted"}'] == told["metadata"]["searches"]
    assert found['llm_calls_total{model="scripted",role="planner"}'] == 1
    calls = sum(value for name, value in found.items() if name.startswith("llm_calls_total"))
    tokens = sum(value for name, value in found.items() if name.startswith("llm_tokens_total"))
    assert (calls, tokens) == (told["metadata"]["model_calls"], told["metadata"]["token_count"])
    assert found['llm_cost_usd_total{model="scripted",role="planner"}'] == 0
    assert found['research_jobs{status="running"}'] == found['research_jobs{status="queued"}'] == 0
    assert found['research_reports_total{grade="complete"}'] == 1
    assert found["research_job_cost_usd_count"] == 1
    assert found["research_job_cost_usd_sum"] == told["metadata"]["cost_usd"] == 0
    assert found['research_user_cost_usd_total{user="local"}'] == 0


async def test_failed_searches_are_counted(put, http):
    put(searcher=world(fail={query.query for query in FLAT.queries}))
    told = (await http.post("/run", json={"task": TASK, "max_queries": 3})).json()
    assert (await metrics(http))["search_failures_total"] == 3 == len(told["error_log"])


async def test_a_call_of_unknown_price_is_counted_as_such(put, http):
    from agents.core.budget import Usage
    from agents.core.role import Reply
    from tests.scripted_model import ScriptedModel

    worker = FlatWorker()

    def unpriced(request):
        usage = Usage(calls=1, tokens_in=10, tokens_out=5, cost_usd=None)
        return Reply(text=worker(request).model_dump_json(), usage=usage, finish_reason="stop", model="scripted")

    put(ScriptedModel(by_role=dict.fromkeys(NAMES, unpriced)))
    told = (await http.post("/run", json={"task": TASK})).json()
    found = await metrics(http)
    assert told["metadata"]["cost_usd"] is None
    unpriced_calls = sum(value for name, value in found.items() if name.startswith("llm_calls_unpriced_total"))
    assert unpriced_calls == told["metadata"]["model_calls"]


async def test_phase_boundaries_are_logged_with_what_they_are_about(put, http, caplog):
    again = ReflectionResponse(
        sufficient=False, confidence=0.3, gaps=("Open",),
        new_queries=("What did the Orvane winter service cost?", "How thick was the ice of the Orvane in 2021?"),
    )  # fmt: skip
    put(scripted(ReflectionInput=again))
    with caplog.at_level(logging.INFO, logger="agents.research"):
        told = (await http.post("/run", json={"task": TASK, "complexity_tier": "standard"})).json()
    lines = [json.loads(record.message) for record in caplog.records if record.name == "agents.research"]
    assert {line["job_id"] for line in lines} == {told["metadata"]["job_id"]}
    for line in lines:
        assert {"event", "level", "timestamp", "node", "iteration", "token_budget", "results"} <= set(line)
    assert {"plan", "phase", "search", "reflect", "synthesize", "round"} <= {line["event"] for line in lines}
    assert [line["stage"] for line in lines if line["event"] == "phase"][:2] == ["planning", "collecting"]
    (repeat,) = [line for line in lines if line["event"] == "duplicate_topic"]
    assert "What did the Orvane winter service cost?" in repeat["reason"]
    assert repeat["level"] == "info"
    rounds = [line["iteration"] for line in lines if line["event"] == "round"]
    assert rounds == list(range(1, told["iterations"] + 1))


@pytest.mark.parametrize("level", [logging.WARNING])
async def test_nothing_is_logged_below_the_level_that_is_set(site, http, caplog, level):
    with caplog.at_level(level, logger="agents.research"):
        await http.post("/run", json={"task": TASK})
    assert not [record for record in caplog.records if record.name == "agents.research"]
