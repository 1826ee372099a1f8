"""What S1 §15.1 and S4 §4 to §7 ask for and no other test here asks for over HTTP; see docs/criteria-http.md."""

import asyncio
import json
import re
from pathlib import Path
from typing import get_args

import pytest
from pydantic import SecretStr
from werkzeug import Response

from agents.contracts.finding import Section
from agents.contracts.report import JobStatus, Stage
from agents.core.transport import RetryPolicy
from agents.search.chain import Chain
from agents.search.pages import WebPages
from agents.search.provider import Access
from agents.search.tavily import Tavily
from agents.search.web_providers import WEB
from agents.web.fetching import Fetcher
from agents.web.guard import AllowedHosts
from tests.api.conftest import TASK, FlatWorker, Gate, scripted

ROOT = Path(__file__).resolve().parents[2]
PAGE = (
    "The Orvane ferry line was closed on 12 days in the winter of 2022/23. In 2020/21 it was closed on 41 days. "
    "The winter service of the Orvane ferry cost 3.1 million crowns in 2023. "
) * 4


async def test_a_search_service_that_answers_500_is_tried_again_with_growing_waits(put, http, httpserver):
    asked, waits = [], []

    async def sleep(seconds):
        waits.append(seconds)

    def answer(request):
        asked.append(json.loads(request.data)["query"])
        if len(asked) < 3:
            return Response("down", 500)
        hit = {"url": "https://board.orvane.example/ice", "title": "Ice", "content": PAGE[:200], "raw_content": PAGE}
        return Response(json.dumps({"results": [hit]}), content_type="application/json")

    httpserver.expect_request("/search", method="POST").respond_with_handler(answer)
    pages, base = WebPages(Fetcher(AllowedHosts.parse(""))), httpserver.url_for("").rstrip("/")
    access = Access(key=SecretStr("tvly-dev-FAKE"), base=base, retry=RetryPolicy(sleep=sleep), cache=pages.sent)
    put(searcher=Chain([Tavily(WEB["tavily"], access)], pages))
    told = (await http.post("/run", json={"task": TASK, "max_queries": 1, "max_iters": 1})).json()
    assert asked[:3] == [asked[0]] * 3
    # Three attempts, and between them min(2^n + U(0, 1), 10) seconds.
    assert [2**n <= seconds <= 2**n + 1 for n, seconds in enumerate(waits, 1)] == [True, True]
    assert told["sources"][0]["url"] == "https://board.orvane.example/ice"
    assert not told["degraded_mode"]


async def test_a_statement_that_its_sources_do_not_carry_fails_the_check_and_is_put_right(put, http):
    def overstates(request):
        fact = next(one for one in request.given.facts if "12 days" in one.statement)
        return Section(markdown=f"The Orvane ferry line was closed on 97 days in the summer of 1999.[f{fact.number}]")

    put(scripted(SectionInput=overstates))
    told = (await http.post("/run", json={"task": TASK, "max_queries": 1})).json()
    # Written anew from its fact, which it contradicts.
    assert "97 days" not in told["final_answer"]
    assert "closed on 12 days" in told["final_answer"]


async def test_status_and_stage_are_those_of_the_seed(site, http):
    assert set(get_args(JobStatus)) == {"queued", "running", "blocked", "done", "failed", "cancelled"}
    assert set(get_args(Stage)) == {
        "planning", "collecting", "challenging", "composing", "judging", "reworking", "completed"
    }  # fmt: skip
    told = (await http.post("/research/jobs", json={"query": TASK})).json()
    job = site.team.jobs.get(told["job_id"], "local")
    await asyncio.wait_for(job.wait(), 60)
    passed = [one.event.stage for one in job.run.events if one.event.kind == "job"]
    order = [stage for at, stage in enumerate(passed) if stage not in passed[:at]]
    assert order[0] == "planning"
    assert order[-1] == "completed"
    assert {"collecting", "composing"} <= set(order)


async def test_a_job_tells_of_its_planner_its_claims_and_its_evidence(site, http, over):
    whole = (await http.get(f"/research/jobs/{await over(site)}")).json()
    planner = whole["metadata"]["orchestrator"]
    assert set(planner) >= {"stage", "plannerPendingUntil", "plannedAt", "claimCount", "warnings"}
    assert planner["claimCount"] == len(whole["claims"]) > 0
    assert planner["plannedAt"] <= planner["plannerPendingUntil"]
    claims = {claim["id"] for claim in whole["claims"]}
    assert {one["claim_id"] for one in whole["evidence"]} <= claims


async def test_a_stream_that_is_left_does_not_stop_a_job_that_was_posted(put, http):
    """Watching is not owning: only a `/run` without a key ends with its caller."""
    from agents.api.reports import event_stream

    gate = Gate(FlatWorker())
    site = put(gate)
    told = (await http.post("/research/jobs", json={"query": TASK})).json()
    job = site.team.jobs.get(told["job_id"], "local")
    watching = event_stream(job, 0)
    await anext(watching)
    await anext(watching)
    await watching.aclose()
    gate.open.set()
    await asyncio.wait_for(job.wait(), 60)
    assert job.status == "done"


# ---- the table


def rows():
    """Criteria with the tests that the table names for them."""
    text = (ROOT / "docs" / "criteria-http.md").read_text("utf-8")
    found = [re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", line) for line in text.splitlines() if line.startswith("|")]
    return [named for named in found if named]


def test_every_test_that_the_table_of_criteria_names_exists():
    named = {one for row in rows() for one in row}
    assert len(named) > 30
    missing = [
        f"{path}::{name}"
        for path, name in sorted(named)
        if not re.search(rf"(?m)^(async )?def {name}\(", (ROOT / path).read_text("utf-8"))
    ]
    assert not missing


def test_every_row_of_the_table_names_a_test_or_says_that_it_is_not_held_yet():
    text = (ROOT / "docs" / "criteria-http.md").read_text("utf-8")
    bare = [
        line for line in text.splitlines()
        if line.startswith("| ") and not line.startswith(("| What", "| ---")) and "`tests/" not in line and "not held yet" not in line
    ]  # fmt: skip
    assert not bare


@pytest.mark.parametrize("section", ["S1 §15", "S1 §15.1", "S4 §7", "Bad input"])
def test_the_table_covers_every_section(section):
    assert f"## {section}" in (ROOT / "docs" / "criteria-http.md").read_text("utf-8")
