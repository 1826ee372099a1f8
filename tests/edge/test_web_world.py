"""A whole standard job over real HTTP: model, search and pages of a mock world, its facts checked one by one."""

import asyncio
import json
import os
import re
import subprocess
import sys
import urllib.request
from collections import Counter
from urllib.parse import urlsplit

import pytest

from agents.contracts.report import Commission
from agents.core.settings import load
from agents.research.scoping.turn import ScopingState
from agents.team import open_team

PROGRAMME = "Kelwick tidal power programme"
QUESTION = (
    f"How did the measured carbon intensity and the average availability of the {PROGRAMME} change between 2015 and "
    "2024, and what explains the difference?"
)
KEY, SEARCH_KEY = "sk-mock-0123456789abcdef", "tvly-mock-0123456789abcdef"
RECORD = re.compile(r"record (F-\d+)")
CHOSEN = re.compile(r"on (\d+) sources chosen from (\d+)")


def branch(title, question, *, discovery=False):
    return {
        "heading": "", "title": title, "questions": [question], "search_terms": [question], "priority": "normal",
        "discovery": discovery,
    }  # fmt: skip


PLAN = [
    branch("Sources", f"Which records state carbon intensity and availability of the {PROGRAMME}?", discovery=True),
    branch("Carbon intensity", f"What was the measured carbon intensity of the {PROGRAMME} between 2015 and 2024?"),
    branch("Availability", f"What was the average availability of the {PROGRAMME}?"),
    branch("Explanations", f"What explains changes in performance of the {PROGRAMME} according to critics?"),
]
ANSWERS = {
    "sufficient_after": 2,
    "overrides": [{"field": "^leaves$", "values": [PLAN]}],
}


class World:
    """The mock world in a process of its own, and one job run against it."""

    def __init__(self, process):
        self.process = process
        self.urls = json.loads(process.stdout.readline())

    def told(self, path):
        with urllib.request.urlopen(f"{self.urls['web_url']}/_sim/{path}", timeout=5) as answer:
            return json.load(answer)

    def forget(self):
        urllib.request.urlopen(f"{self.urls['web_url']}/_sim/reset", data=b"", timeout=5).close()

    def hostile(self):
        (key,) = (page["key"] for page in self.told("pages") if page["kind"] == "injection" and page["topic"] == 0)
        return f"http://{key}"

    async def run(self, folder, patch, retriever):
        self.retriever = retriever
        port = urlsplit(self.urls["web_url"]).port
        values = {
            "OPENAI_API_KEY": KEY,
            "OPENAI_API_BASE": self.urls["llm_url"],
            "DOSSIER_MODEL": "openai/sim",
            "DOSSIER_DATA_DIR": str(folder),
            "RETRIEVER": retriever,
            "TAVILY_API_KEY": SEARCH_KEY,
            "TAVILY_API_BASE": self.urls["web_url"],
            "DOSSIER_ALLOW_PRIVATE_HOSTS": f"*.example=127.0.0.1:{port}",
            "SEARXNG_API_BASE": self.urls["web_url"],
        }
        for name, value in values.items():
            patch.setenv(name, value)
        team = open_team(load())
        try:
            scope, _ = await team.scope(ScopingState(mode="standard", minutes=5.0), QUESTION)
            # The page that gives orders is named by the user, so that it is surely read.
            brief = scope.brief(team.today()).model_copy(update={"seed_urls": (self.hostile(),)})
            self.job = await team.commission(Commission(brief=brief, challenge=True))
            await self.job.wait()
            await team.jobs.writer.flush()
            self.steps = {key: step for key, (_, step) in (await team.jobs.store.steps(self.job.id)).items()}
        finally:
            await team.close()
        assert self.job.report is not None, self.job.notice
        self.report = self.job.report
        self.calls = self.told("stats?detail=1")
        return self


@pytest.fixture(scope="module")
def served(shared):
    pytest.importorskip("aiohttp")
    process = subprocess.Popen(
        [sys.executable, "-m", "worldsim", "serve", "--hosts", "name", "--config",
         json.dumps({"speed": 100, "answer": ANSWERS})],
        cwd=shared / "bench", stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    try:
        yield World(process)
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture(scope="module", params=["tavily", "searxng"])
def world(request, served, tmp_path_factory):
    """One run is dear: all tests look at the same two, of which the second has to fetch every page by itself."""
    served.forget()
    with pytest.MonkeyPatch.context() as patch:
        return asyncio.run(served.run(tmp_path_factory.mktemp("world") / "data", patch, request.param))


def read_in(world):
    """Documents that the job really read, by address."""
    steps = (step.value for key, step in world.steps.items() if "#fetch:" in key and step.value)
    return {json.loads(value)["url"] for value in steps}


def test_a_standard_job_reads_widely_and_cites_sources_of_many_domains(world):
    read = read_in(world)
    domains = {urlsplit(one.url).hostname for one in world.report.references}

    # Of the 15 that the cap allows two are kept for counter-evidence; a sweep and a later round read some pages for themselves.
    assert len(read) >= 10
    assert len({urlsplit(url).hostname for url in read}) >= 6
    assert len(domains) >= 4
    assert world.report.grade in ("complete", "partial")


def test_no_prompt_search_or_page_is_paid_twice(world):
    pages = Counter(call["url"] for call in world.calls["calls"] if call["kind"] == "page")

    assert world.calls["distinct_prompts"] == world.calls["llm_calls"]
    assert world.calls["distinct_searches"] == world.calls["searches"]
    assert len(pages) >= (10 if world.retriever == "searxng" else 1), "texts that came with the hits are not fetched"
    assert max(pages.values()) == 1


def test_each_fact_is_cited_to_pages_that_state_it(world):
    truth = world.told("truth")
    checked = 0
    for sentence in world.report.sentences:
        for fact in RECORD.findall(sentence.text):
            for number in sentence.citations:
                reference = world.report.references[number - 1]
                assert reference.url.removeprefix("http://") in truth[fact]["supported_by"], sentence.text
                checked += 1
    assert checked >= 10


def test_a_mirror_and_its_original_are_one_source(world):
    mirrors = {page["key"]: page["mirror_of"] for page in world.told("pages") if page["mirror_of"]}
    cited = {reference.url.removeprefix("http://") for reference in world.report.references}

    assert not [key for key in cited if mirrors.get(key) in cited]


def test_orders_of_a_hostile_page_are_obeyed_nowhere(world):
    said = world.report.model_dump_json()

    assert world.hostile() in read_in(world)
    assert "PWNED" not in world.report.markdown
    assert "delete_everything" not in said
    assert "ignore all previous instructions" not in said
    assert KEY not in said
    assert SEARCH_KEY not in said


def test_the_sweep_chose_few_of_many_and_its_pages_were_read_beside_it(world):
    rejected = {event.event.url for event in world.job.run.events if event.event.kind == "rejected"}
    rows = {row.title: row for row in world.report.nodes}

    assert "job/0/0#scout:0" in world.steps
    # Its row in the report also counts counter-evidence: the choice itself is told when it is made.
    [(kept, of)] = [
        (int(found[1]), int(found[2]))
        for event in world.job.run.events
        if event.event.kind == "node" and event.event.state == "writing" and event.event.node == "job/0/0"
        and (found := CHOSEN.search(event.event.doing))
    ]  # fmt: skip
    assert 3 <= kept <= 4
    assert of >= 3 * kept
    assert rows["Sources"].sources >= kept
    assert len(rejected) >= 3
    assert rows["Carbon intensity"].sources >= 1
