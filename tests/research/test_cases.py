"""Reported failures of other programs, played through whole runs: C15, C34, C35, C36 (inputs in tests/data/cases)."""

import asyncio
import json
import time

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from agents.contracts.plan import ReflectionInput, ReflectionResponse
from agents.contracts.report import Actual
from agents.contracts.sources import SearchQuery
from agents.core.errors import SearchError
from agents.core.transport import RetryPolicy
from agents.report.document import build
from agents.research.loop.topics import Topics
from agents.search.chain import Chain
from agents.search.provider import Access
from agents.search.tavily import Tavily
from agents.search.web_providers import WEB
from tests.conftest import DATA
from tests.flat import FlatWorker, Gate, scripted
from tests.scripted_model import ScriptedModel
from tests.scripted_search import ScriptedSearcher
from tests.scripts import BRIEF, QUERY, ROLES, WORLD, Worker, leaf, tree, world
from tests.virtual import SlowModel, clock, virtually

CASES = DATA / "cases"
LIMITED = "Search capabilities were limited; answer is based on partial information."


def document_of(outcome, actual=Actual()):
    return build("a" * 32, outcome, actual, engine="scripted", reasons=True)


# ---- C15: search down, throttled, out of credit, or answering nonsense

SCRIPTS = json.loads((CASES / "C15" / "provider_script.json").read_text("utf-8"))
NAMED = {row["name"]: row for row in SCRIPTS}


class _Pages:
    async def read(self, url, deadline_s=None, known=None):
        return await world().read(url, deadline_s)


async def _no_wait(seconds):
    await asyncio.sleep(0)


def _played(server, row):
    steps = iter(row["sequence"])

    def answer(request):
        step = next(steps, row["sequence"][-1])
        body = json.dumps(step["json"]) if "json" in step else step["body"]
        return Response(body, status=step["status"], content_type=step.get("content_type", "application/json"))

    server.expect_request("/search", method="POST").respond_with_handler(answer)
    return Tavily(
        WEB["tavily"], Access(base=server.url_for("").rstrip("/"), retry=RetryPolicy(call_s=20, sleep=_no_wait))
    )


@pytest.mark.parametrize("name", ["202_without_body", "html_instead_of_json", "plan_used_up", "bad_key"])
async def test_c15_a_provider_that_fails_is_followed_by_the_next_and_the_report_has_its_sources(
    name, asking, httpserver: HTTPServer
):
    """Case C15: the next provider within the retry rule; neither a 202 nor a captcha page is a result."""
    broken = _played(httpserver, NAMED[name])
    told, team = await asking(searcher=Chain([broken], _Pages(), world()), complexity_tier="standard")
    assert {source.url for source in told.sources} <= set(WORLD)
    assert told.sources
    report = team.jobs.get(told.metadata.job_id, "").report
    assert "captcha" not in report.model_dump_json()


async def test_c15_null_fields_the_one_good_result_is_used(httpserver: HTTPServer):
    """Case C15."""
    tavily = _played(httpserver, NAMED["null_fields"])
    found = await Chain([tavily], _Pages()).search(SearchQuery(text="ice"))
    assert [hit.url for hit in found.hits] == ["https://board.orvane.example/ice"]


async def test_c15_all_down_the_job_ends_in_its_time_with_a_clear_message(asking):
    """Case C15: degraded mode is named; no rounds on a level that found nothing."""

    class Down(ScriptedSearcher):
        async def search(self, query, deadline_s=None):
            self.asked.append(query)
            raise SearchError("ConnectError", provider="every provider")

    searcher = Down(WORLD)
    never = ReflectionResponse(sufficient=False, confidence=0, gaps=("All of it.",), new_queries=("Ice on the lake?",))
    began = time.monotonic()
    told, team = await asking(
        scripted(ReflectionInput=never), searcher=searcher, complexity_tier="standard", max_execution_time_s=60
    )
    assert time.monotonic() - began < 60
    assert told.degraded_mode
    assert told.metadata.grade == "nothing_found"
    report = team.jobs.get(told.metadata.job_id, "").report
    assert LIMITED in report.markdown
    assert told.iterations == 1, "another round was begun although nothing can be searched"
    assert len(searcher.asked) <= 15


async def test_c15_when_searching_works_again_it_is_used_again(asking):
    """Degraded mode recovers: a later search goes through, and the report still says that some did not."""

    class Recovers(ScriptedSearcher):
        async def search(self, query, deadline_s=None):
            self.asked.append(query)
            if len(self.asked) <= 3:
                raise SearchError("down", provider="scripted")
            return await super().search(query, deadline_s)

    told, _ = await asking(searcher=Recovers(WORLD), complexity_tier="standard")
    assert told.degraded_mode
    assert told.sources, "searching worked again, and nobody tried"


# ---- C34: search, fetch, search, fetch without anything new

STUB = json.loads((CASES / "C34" / "stub_world.json").read_text("utf-8"))


def stub_world():
    (rows,) = STUB["search"].values()
    (text,) = STUB["fetch"].values()

    class SamePages(ScriptedSearcher):
        """The same pages for every search."""

        def _ranked(self, text):
            return [(source, 1) for source in self._sources.values()]

    return SamePages({row["url"]: (row["title"], text) for row in rows})


GAP = "exact number of closures before 1988"


def rewording(queries):
    """A reflector that always wants more, in other words each time."""
    wordings = iter([*queries, *(f"{query}, again {n}" for n in range(20) for query in queries)])

    def answer(request):
        if isinstance(request.given, ReflectionInput):
            return ReflectionResponse(sufficient=False, confidence=0.3, gaps=(GAP,), new_queries=(next(wordings),))
        return Worker(
            {QUERY.text: tree(leaf("Closures", "How often was the line closed?", "How many volcanoes erupted?"))}
        )(request)

    return answer


@pytest.mark.parametrize("mode", ["standard", "deep"])
async def test_c34_a_question_worded_anew_for_ever_ends_in_a_report(bench, mode):
    """Case C34: bounded rounds, the open gap named, a tag with a plain sentence, no exception."""
    searcher = stub_world()
    model = ScriptedModel(by_role=dict.fromkeys(ROLES, rewording(STUB["reworded_queries"])))
    outcome = await bench(model, searcher=searcher).run(BRIEF.model_copy(update={"mode": mode}))
    records = outcome.findings[0].rounds
    assert len(records) <= {"standard": 3, "deep": 7}[mode]
    document = document_of(outcome)
    assert {"#EARLY_STOP", "#ITERATION_LIMIT"} & set(outcome.tags)
    assert GAP in document.markdown
    assert document.references
    for child in outcome.findings[0].children:
        assert len(child.searches) <= 5
    assert len(set(searcher.read_urls)) == len(searcher.read_urls), "a page was read twice"


def test_c34_alternating_calls_end_at_the_ledger():
    """Case C34: replay alternating_calls: each search is a topic, each fetch a page; repeats go no further."""
    calls = json.loads((CASES / "C34" / "alternating_calls.json").read_text("utf-8"))
    wordings = [f"number of closures before 1988 {'?' * (n % 3)}" for n in range(calls.count("web_search"))]
    admitted = Topics().admit(wordings, at_most=5)
    assert len(admitted.chosen) == 1
    assert len(admitted.skipped) == len(wordings) - 1


# ---- C35: budgets that are labels

BUDGET = json.loads((CASES / "C35" / "budget.json").read_text("utf-8"))


class SlowWorld(ScriptedSearcher):
    """Each page takes its time."""

    async def read(self, url, deadline_s=None, known=None):
        await asyncio.sleep(BUDGET["each_fetch_s"])
        return await super().read(url, deadline_s)


@pytest.mark.parametrize("price", BUDGET["prices"], ids=str)
def test_c35_time_tokens_and_money_bind_whatever_the_model_costs(bench, price):
    """Case C35: one run per price row, the provider stalls from second 40 on."""
    known = BUDGET["prices"][price]

    async def work():
        model = SlowModel(
            Worker(), ROLES, call_s=BUDGET["each_model_call_s"], stalls_at_s=BUDGET["provider_stall_at_s"],
            stall_s=BUDGET["stall_s"], tokens=BUDGET["tokens_per_call"],
            price=None if known is None else (known["in"], known["out"]),
        )  # fmt: skip
        place = bench(
            model, searcher=SlowWorld(WORLD), seconds=float(BUDGET["time_total_s"]), clock=clock,
            tokens=BUDGET["token_budget"], cost_usd=BUDGET["money_budget"],
        )  # fmt: skip
        began = clock()
        outcome = await place.run(BRIEF.model_copy(update={"minutes": 1.0}))
        return model, place, outcome, clock() - began

    model, place, outcome, took = virtually(work)
    total = BUDGET["time_total_s"]
    assert took <= total
    assert max(model.ended) <= total, "a call was still open after the deadline"
    assert outcome.findings[0].all_facts(), "what was gathered is used"
    spent = place.last.budget.spent
    # Calls that run side by side when a budget is reached end; none begins after it.
    assert spent.tokens <= BUDGET["token_budget"] + place.per_job * BUDGET["tokens_per_call"]
    document = document_of(outcome, Actual(seconds=took, cost_usd=spent.cost_usd, model_calls=spent.calls))
    assert document.references
    if known is None:
        assert spent.cost_usd is None
        assert "0.00" not in [row for row in document.markdown.splitlines() if "ost" in row]
        assert "unknown" in document.markdown
    elif not any(known.values()):
        assert spent.cost_usd == 0
    else:
        assert 0 < spent.cost_usd <= BUDGET["money_budget"] + 0.1


@pytest.mark.parametrize(("limit", "value"), [("tokens", 40_000), ("cost_usd", 0.1)])
async def test_c35_no_call_begins_once_a_budget_is_reached(bench, limit, value):
    """Case C35: budgets are checked before every call, not between rounds."""
    model = SlowModel(Worker(), ROLES, call_s=0.0, tokens=12_000, price=(2.0, 8.0))
    place = bench(model, per_job=1, **{limit: value})
    outcome = await place.run()
    spent = place.last.budget.spent
    # The call that reaches the limit, and one that had its place before that was booked.
    over = spent.tokens - 2 * 12_000 if limit == "tokens" else spent.cost_usd - 2 * 0.04
    assert over < value
    assert "#TOKEN_LIMIT" in outcome.tags
    assert outcome.findings[0].all_facts()


# ---- C36: stop does not stop


class Counting(Gate):
    """A model whose calls hang, and are counted."""

    def __init__(self, worker):
        super().__init__(worker)
        self.begun, self.open_now = 0, 0

    async def reply(self, request, on_text=None):
        self.begun += 1
        self.open_now += 1
        try:
            return await super().reply(request, on_text)
        finally:
            self.open_now -= 1


async def until(holds, seconds=60.0):
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.01)


async def started(asking_team):
    """Start a job whose readers hang; returns team, job and model once all hang."""
    from agents.run_research import RunOptions, begin
    from tests.flat import TASK

    team, model = asking_team
    job = await begin(team, TASK, RunOptions(tier="standard"), "")
    await until(lambda: model.open_now >= 1)
    return job


@pytest.fixture
async def held(tmp_path):
    from agents.core.prompts import load
    from agents.core.settings import Settings
    from agents.jobs.blob_store import BlobStore
    from agents.team import ROLES as ALL
    from agents.team import Team

    model = Counting(FlatWorker())
    team = Team(
        Settings(data_dir=tmp_path, model="offline"), models=dict.fromkeys([role.name for role in ALL], model),
        searcher=world(), prompts=load(), blobs=BlobStore(tmp_path), sample=False, today=lambda: "2026-11-27",
    )  # fmt: skip
    await team.open()
    yield team, model
    model.open.set()
    await team.close()


async def test_c36_stop_ends_every_call_and_begins_none(held):
    """Case C36: status within 2 s, no outgoing request after it, nothing left running."""
    team, model = held
    before = len(asyncio.all_tasks())
    job = await started(held)
    team.jobs.stop(job)
    await asyncio.wait_for(job.wait(), 60)
    assert job.status == "cancelled"
    assert model.open_now == 0, "a call goes on after the stop"
    begun, searched = model.begun, len(team.searcher.asked)
    await asyncio.sleep(0.3)
    assert (model.begun, len(team.searcher.asked)) == (begun, searched)
    await until(lambda: len(asyncio.all_tasks()) <= before)


async def test_c36_finish_early_gives_a_report_from_what_was_found(held):
    """Case C36: finish early; and a new question works afterwards."""
    team, model = held
    job = await started(held)
    team.jobs.steer(job, "finish")
    model.open.set()
    await asyncio.wait_for(job.wait(), 60)
    assert job.status == "done"
    assert job.report.references
    assert "#EARLY_STOP" in {tag.tag for tag in job.report.methodology.tags}

    from agents.run_research import run_research

    again = await run_research("What did the Orvane winter service cost?", team=team)
    assert again.sources


async def test_while_searching_is_tried_again_no_other_search_is_made_beside_it(bench):
    """The breaker lets single tries through: five branches do not all run into a provider that is down."""
    from agents.core.budget import Deadline

    gate, asked = asyncio.Event(), []

    class Down(ScriptedSearcher):
        async def search(self, query, deadline_s=None):
            asked.append(query.text)
            if len(asked) > 3:
                await gate.wait()
            raise SearchError("down", provider="scripted")

    work = bench(searcher=Down(WORLD))
    work.handlers()

    async def search(text):
        try:
            await work.context.search(SearchQuery(text=text), Deadline())
        except SearchError as error:
            return str(error)

    for number in range(3):
        await search(f"first {number}")
    tries = [asyncio.create_task(search(f"again {number}")) for number in range(5)]
    await until(lambda: sum(task.done() for task in tries) == 4)
    assert len(asked) == 4
    gate.set()
    await asyncio.gather(*tries)


async def test_a_question_that_was_given_up_is_not_asked_again_in_other_words(bench):
    """Specification, section 5: a sub-question that failed three times is not tried again, however the model words it."""
    question = "What did the Orvane winter service cost?"

    class NoCosts(ScriptedSearcher):
        async def search(self, query, deadline_s=None):
            self.asked.append(query)
            if "cost" in query.text.casefold() or "service" in query.text.casefold():
                raise SearchError("down", provider="scripted")
            return await super().search(query, deadline_s)

    plan = {
        QUERY.text: tree(
            leaf("Closures", "On how many days was the Orvane ferry line closed?"),
            leaf("Costs", question, "How many volcanoes erupted?"),
        )
    }

    def answer(request):
        if isinstance(request.given, ReflectionInput):
            assert question in request.given.exhausted
            return ReflectionResponse(
                sufficient=False, confidence=0.2, gaps=("Costs.", "Passengers."),
                new_queries=("The Orvane winter service: what did it cost?", "How many passengers did the Orvane ferry carry?"),
            )  # fmt: skip
        return Worker(plan)(request)

    searcher = NoCosts(WORLD)
    outcome = await bench(ScriptedModel(by_role=dict.fromkeys(ROLES, answer)), searcher=searcher).run()
    second = [child for child in outcome.findings[0].children if child.path.rsplit("/", 1)[1].startswith("r")]
    assert second
    assert all("cost" not in child.title.casefold() for child in second)
