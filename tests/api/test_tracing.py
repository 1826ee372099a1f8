"""Traces: job, node, call, with the names of the conventions for generative AI; and log lines that know their place."""

import asyncio
import json
import logging
import sys

import pytest

from agents.api.metrics import JsonLines
from agents.core.errors import ConfigError
from agents.core.events import NO_TRACE, TraceContext, current_trace, traced
from agents.core.settings import Settings
from agents.jobs.tracing import Tracing
from tests.api.conftest import FLAT, NAMES, TASK, FlatWorker, scripted
from tests.scripts import world

# A missing extra is said with its name in the summary of the tests, not passed over.
export = pytest.importorskip(
    "opentelemetry.sdk.trace.export", reason="the `otel` extra is not installed: traces are NOT tested here"
)


@pytest.fixture
def spans_kept():
    """A team's tracing that keeps its spans."""
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    kept = InMemorySpanExporter()
    tracing = Tracing(export.SimpleSpanProcessor(kept))
    yield tracing, kept
    tracing.close()


async def run_traced(put, http, spans_kept, model=None, **body):
    site = put(model or scripted())
    tracing, kept = spans_kept
    site.team.tracing = tracing
    told = (await http.post("/run", json={"task": TASK, **body})).json()
    return told, kept.get_finished_spans()


async def test_a_run_is_one_trace_of_job_nodes_and_calls(put, http, spans_kept):
    told, spans = await run_traced(put, http, spans_kept)
    assert len({span.context.trace_id for span in spans}) == 1
    by_id = {span.context.span_id: span for span in spans}
    assert len(by_id) == len(spans)
    (root,) = [span for span in spans if span.parent is None]
    assert root.name == "invoke_workflow research"
    assert root.attributes["dossier.job"] == told["metadata"]["job_id"]
    assert root.attributes["dossier.outcome"] == "done"
    nodes = [span for span in spans if span.attributes.get("gen_ai.operation.name") == "invoke_agent"]
    calls = [span for span in spans if "dossier.call" in span.attributes]
    assert {span.attributes["dossier.node"] for span in nodes} >= {"job/0", "job/0/0"}
    assert all(span.parent.span_id in by_id for span in (*nodes, *calls))
    above = {by_id[span.parent.span_id].attributes.get("gen_ai.operation.name") for span in calls}
    assert above <= {"invoke_agent", "invoke_workflow"}
    assert "invoke_agent" in above
    for span in spans:
        assert root.start_time <= span.start_time + 5_000_000_000
        assert span.end_time >= span.start_time


async def test_calls_carry_model_role_and_tokens_under_their_conventional_names(put, http, spans_kept):
    told, spans = await run_traced(put, http, spans_kept)
    chats = [span for span in spans if span.attributes.get("gen_ai.operation.name") == "chat"]
    assert chats
    for span in chats:
        assert span.attributes["gen_ai.request.model"] == "scripted"
        assert span.attributes["gen_ai.agent.name"] in NAMES
        assert span.attributes["gen_ai.conversation.id"] == told["metadata"]["job_id"]
        assert span.name == "chat scripted"
    spent = sum(
        span.attributes["gen_ai.usage.input_tokens"] + span.attributes["gen_ai.usage.output_tokens"] for span in chats
    )
    planning = told["metadata"]["token_count"] - spent
    assert 0 < planning < spent
    tools = {span.attributes["gen_ai.tool.name"] for span in spans if "gen_ai.tool.name" in span.attributes}
    assert {"search", "fetch"} <= tools


async def test_no_words_of_question_or_sources_are_in_a_trace(put, http, spans_kept):
    _, spans = await run_traced(put, http, spans_kept)
    text = "".join(span.to_json() for span in spans)
    assert "Orvane" not in text


async def test_a_failed_call_says_which_error_and_its_job_goes_on(put, http, spans_kept):
    site = put(searcher=world(fail={query.query for query in FLAT.queries}))
    tracing, kept = spans_kept
    site.team.tracing = tracing
    await http.post("/run", json={"task": TASK, "max_queries": 3})
    failed = [span for span in kept.get_finished_spans() if "error.type" in span.attributes]
    assert {span.attributes["error.type"] for span in failed} == {"SearchError"}
    assert all(span.status.status_code.name == "ERROR" for span in failed)


async def test_a_stopped_job_leaves_no_span_open(put, http, spans_kept):
    from tests.api.conftest import Gate

    site = put(Gate(FlatWorker()))
    tracing, kept = spans_kept
    site.team.tracing = tracing
    told = (await http.post("/run", json={"task": TASK, "async": True})).json()
    job = site.team.jobs.get(told["job_id"], "local")
    async for numbered in job.follow():
        if numbered is not None and numbered.event.kind == "search":
            break
    work = job.run.task
    site.team.jobs.stop(job)
    await asyncio.wait({work}, timeout=60)  # its spans end where it is cut off
    (root,) = [span for span in kept.get_finished_spans() if span.parent is None]
    assert root.attributes["dossier.outcome"] == "cancelled"


def test_without_the_extra_the_setting_is_refused_with_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.resources", None)
    with pytest.raises(ConfigError, match=r"pip install '\.\[otel\]'"):
        Tracing()


def test_traces_are_off_by_default(put):
    assert Settings.model_fields["otel"].default is False
    assert put().team.tracing is None


# ---- places


async def test_a_line_logged_deep_in_a_call_names_job_node_and_call(put, http, caplog):
    said = logging.getLogger("agents.search.somewhere")
    searcher = world()
    read = searcher.read

    async def telling(url, *how):
        said.warning("the site is slow")
        return await asyncio.to_thread(lambda: said.warning("in a thread")) or await read(url, *how)

    searcher.read = telling
    put(searcher=searcher)
    lines = []
    handler = logging.Handler()
    handler.setFormatter(JsonLines())
    handler.emit = lambda record: lines.append(json.loads(handler.format(record)))
    said.addHandler(handler)
    try:
        told = (await http.post("/run", json={"task": TASK})).json()
    finally:
        said.removeHandler(handler)
    # Pages, and not searches: those of a plan that is still written begin before there is a job.
    assert {line["event"] for line in lines} == {"the site is slow", "in a thread"}
    for line in lines:
        assert line["job_id"] == told["metadata"]["job_id"]
        assert line["node"].startswith("job/0/")
        assert line["call"].startswith("fetch:")


async def test_two_jobs_at_once_never_take_each_others_place(put, http):
    seen = []

    class Looking(FlatWorker):
        def __call__(self, request):
            seen.append((current_trace().job_id, current_trace().node))
            return super().__call__(request)

    from tests.scripted_model import ScriptedModel

    site = put(ScriptedModel(by_role=dict.fromkeys(NAMES, Looking())))
    answers = await asyncio.gather(*(http.post("/run", json={"task": TASK}) for _ in range(2)))
    jobs = {answer.json()["metadata"]["job_id"] for answer in answers}
    planning = [place for place in seen if place == ("", "")]
    inside = [job_id for job_id, node in seen if job_id]
    assert planning
    assert set(inside) == jobs
    assert inside.count(min(jobs)) == inside.count(max(jobs))
    assert current_trace() == NO_TRACE
    assert len(site.team.jobs.of("local")) == 2


def test_a_place_ends_with_its_block():
    with traced(TraceContext("j", "job/0", "ask:1")):
        assert current_trace().named() == {"job_id": "j", "node": "job/0", "call": "ask:1"}
        with traced(TraceContext("k")):
            assert current_trace().named() == {"job_id": "k"}
    assert current_trace().named() == {}


async def test_the_last_line_of_a_job_says_what_it_cost_and_whom(put, http, caplog):
    put()
    with caplog.at_level(logging.INFO, logger="agents.research"):
        await http.post("/run", json={"task": TASK})
    lines = [json.loads(record.message) for record in caplog.records if record.name == "agents.research"]
    (last,) = [line for line in lines if line["event"] == "phase" and line["status"] == "done"]
    assert (last["user"], last["cost_usd"]) == ("local", 0)
    assert last["tokens"] > 0
    assert all("call" in line for line in lines)
