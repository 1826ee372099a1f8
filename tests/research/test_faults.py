"""Runs of the command in a scripted world, one fault each or two: what report, tags, Methodology, metrics and exit code say."""

import asyncio
import contextlib
import json
from dataclasses import dataclass, field, replace

import pytest

from agents.api.jobs_api import running_phase
from agents.api.metrics import Meter
from agents.cli.headless import GRADE_CODES, research
from agents.contracts.finding import Section
from agents.contracts.plan import ReflectionResponse
from agents.contracts.sources import SearchFailure
from agents.core.errors import DossierError, ModelError, SearchError, SourceError
from agents.core.prompts import load
from agents.core.settings import Settings
from agents.jobs.blob_store import BlobStore
from agents.run_research import run_research
from agents.team import ROLES, Team
from tests.api.test_counts import hold_every_count
from tests.flat import FlatWorker
from tests.scripted_model import ScriptedModel
from tests.scripted_search import ScriptedSearcher
from tests.scripts import BRIEF, WORLD, leaf, tree

LIMITED = "Search capabilities were limited"
STOOD_IN = "answered in the place of"


class Faulty(ScriptedSearcher):
    """A searcher some of whose searches or reads fail, by their number."""

    def __init__(self, world=WORLD, *, searches=lambda n: "", reads=lambda url: "", switched=False, empty=False):
        super().__init__(world)
        self.searches, self.reads, self.switched, self.empty = searches, reads, switched, empty
        self.made = 0

    async def search(self, query, deadline_s=None):
        self.made += 1
        if said := self.searches(self.made):
            raise SearchError(said, provider="scripted")
        found = await super().search(query, deadline_s)
        if self.empty:
            return found.model_copy(update={"hits": ()})
        if self.switched:
            refused = SearchFailure(provider="first", fault="auth", reason="first refused the key")
            return found.model_copy(update={"failures": (refused,)})
        return found

    async def read(self, url, deadline_s=None, known=None):
        if said := self.reads(url):
            raise SourceError(url, said)
        return await super().read(url, deadline_s)


OFF_TOPIC = {f"https://{n}.example/cats": (f"Cats {n}", "Cats sleep for most of the day. They purr.") for n in "abc"}
BLANK = {url: (title, " ") for url, (title, _) in WORLD.items()}
COPIES = dict.fromkeys(WORLD, ("Closures", WORLD["https://a.example/closures"][1]))


def malformed(given):
    return {given: lambda request: "this is no JSON"}


def refused(given, fault="connection"):
    return {given: lambda request: ModelError("down", fault=fault, notice="The provider did not answer.")}


def instead(given, answer):
    return {given: lambda request: answer}


NEVER_ENOUGH = ReflectionResponse(
    sufficient=False, confidence=0.1, gaps=("one more figure",), new_queries=("How thick was the Orvane ice in May?",)
)
WIDE = tree(leaf("Cats", "Why do cats purr?"), claims=("Cats purr at 25 hertz.",))
INVENTED = Section(markdown="The ferry was painted green.[f99] It sank twice.")


@dataclass(frozen=True)
class Fault:
    """One fault, and what must be seen of it."""

    name: str
    grade: str
    """Empty where the job fails."""
    searcher: object = Faulty
    said: dict = field(default_factory=dict)
    """What the model answers by kind of input."""
    tags: tuple = ()
    without: tuple = ("#DEGRADED_SEARCH",)
    tells: str = ""
    """Words that the report must hold."""
    failures: bool = False
    """Whether failed searches are counted."""
    told: tuple = ()
    """The same as `tells`, of two faults."""


FAULTS = (
    Fault("no fault", "complete", without=("#DEGRADED_SEARCH", "#UNVERIFIED", "#LOW_EVIDENCE")),
    Fault("search down", "nothing_found", lambda: Faulty(searches=lambda n: "down"), tags=("#DEGRADED_SEARCH", "#LOW_EVIDENCE"), without=(), failures=True),
    Fault("half of the searches down", "partial", lambda: Faulty(searches=lambda n: "down" if n % 2 else ""), tags=("#DEGRADED_SEARCH",), without=(), tells=LIMITED, failures=True),
    Fault("search down after the first", "partial", lambda: Faulty(searches=lambda n: "down" if n > 1 else ""), tags=("#DEGRADED_SEARCH",), without=(), tells=LIMITED, failures=True),
    Fault("search times out", "nothing_found", lambda: Faulty(searches=lambda n: "timed out"), tags=("#DEGRADED_SEARCH",), without=(), failures=True),
    Fault("one search fails", "partial", lambda: Faulty(searches=lambda n: "down" if n == 1 else ""), failures=True),
    Fault("another provider steps in", "partial", lambda: Faulty(switched=True), tags=("#DEGRADED_SEARCH",), without=(), tells=LIMITED, failures=True),
    Fault("search finds nothing", "nothing_found", lambda: Faulty(empty=True), tags=("#LOW_EVIDENCE",)),
    Fault("no page can be read", "nothing_found", lambda: Faulty(reads=lambda url: "403"), tags=("#LOW_EVIDENCE",)),
    Fault("the page with the costs can't be read", "partial", lambda: Faulty(reads=lambda url: "403" if "costs" in url else "")),
    Fault("pages without text", "nothing_found", lambda: Faulty(BLANK)),
    Fault("pages about something else", "nothing_found", lambda: Faulty(OFF_TOPIC), tags=("#LOW_EVIDENCE",)),
    Fault("copies of one page", "partial", lambda: Faulty(COPIES), tags=("#LOW_EVIDENCE",)),
    Fault("planner malformed", "", said=malformed("PlanningInput")),
    Fault("planner off topic", "partial", said=instead("PlanningInput", WIDE)),
    Fault("planner down", "partial", said=refused("PlanningInput"), tells=STOOD_IN),
    Fault("extractor malformed", "partial", said=malformed("ExtractionInput"), tells=STOOD_IN),
    Fault("extractor down", "partial", said=refused("ExtractionInput"), tells=STOOD_IN),
    Fault("extractor too slow", "partial", said=refused("ExtractionInput", "timeout"), tells=STOOD_IN),
    Fault("reflector malformed", "partial", said=malformed("ReflectionInput"), tells=STOOD_IN),
    Fault("reflector down", "partial", said=refused("ReflectionInput"), tells=STOOD_IN),
    Fault("reflector never has enough", "complete", said=instead("ReflectionInput", NEVER_ENOUGH)),
    Fault("section writer malformed", "partial", said=malformed("SectionInput"), tells=STOOD_IN),
    Fault("section writer down", "partial", said=refused("SectionInput"), tells=STOOD_IN),
    Fault("section writer invents", "partial", said=instead("SectionInput", INVENTED)),
    Fault("frame writer malformed", "partial", said=malformed("FrameInput")),
    Fault("challenger malformed", "partial", said=malformed("ChallengeInput"), tells=STOOD_IN),
    Fault("challenger down", "partial", said=refused("ChallengeInput"), tells=STOOD_IN),
    Fault("verifier malformed", "complete", said=malformed("VerifyInput")),
    Fault("section writer out of credit", "partial", said=refused("SectionInput", "quota"), tells=STOOD_IN),
)  # fmt: skip


def team_of(fault, folder, **settings):
    """A team in whose world one thing is wrong, and what counts for its metrics."""
    model = ScriptedModel(by_role=dict.fromkeys([role.name for role in ROLES], FlatWorker(**fault.said)))
    team = Team(
        Settings(data_dir=folder, model="offline", **settings), models=dict.fromkeys([role.name for role in ROLES], model),
        searcher=fault.searcher(), prompts=load(), blobs=BlobStore(folder), sample=False, today=lambda: "2026-11-27",
    )  # fmt: skip
    meter = Meter()
    team.observers.append(meter.observe)
    return team, meter


QUESTION = "How was the Orvane ferry closed in winter, and what did the Orvane winter service cost?"
"""No fact that is looked up: manager and planner are asked, too."""
WORST = ("complete", "partial", "nothing_found")


def both(one, other):
    """Two faults at once: of a world that gives something, and of a model."""
    world, model = (next(fault for fault in FAULTS if fault.name == name) for name in (one, other))
    asked = world.grade != "nothing_found" or "planner" in other
    return replace(
        world, name=f"{one}, {other}", grade=max(world.grade, model.grade, key=WORST.index), said=model.said,
        tags=(*world.tags, *(model.tags if asked else ())), told=(world.tells, model.tells if asked else ""),
    )  # fmt: skip


PAIRS = [
    both("search down", "planner down"),
    both("half of the searches down", "extractor down"),
    both("half of the searches down", "section writer malformed"),
    both("search down after the first", "reflector down"),
    both("one search fails", "challenger down"),
    both("another provider steps in", "section writer out of credit"),
    both("another provider steps in", "planner down"),
    both("search finds nothing", "planner down"),
    both("no page can be read", "extractor down"),
    both("the page with the costs can't be read", "frame writer malformed"),
    both("pages about something else", "extractor malformed"),
    both("copies of one page", "section writer invents"),
]


async def ran(fault, folder, **settings):
    """Run the command with a fault; gives exit code, report file, job (None where it was never started) and metrics."""
    team, meter = team_of(fault, folder, **settings)
    file, code = folder / "report.json", None
    try:
        with contextlib.suppress(DossierError):
            code = await asyncio.wait_for(
                research(
                    team.settings, QUESTION, mode="standard", tier=None, minutes=5.0, challenge=True, json_file=file,
                    out=None, opened=contextlib.nullcontext(team),
                ),
                60,
            )  # fmt: skip
    finally:
        await team.close()
    return code, file, next(iter(team.jobs.of()), None), meter.text({}).decode()


@pytest.mark.parametrize("fault", [*FAULTS, *PAIRS], ids=lambda fault: fault.name)
async def test_a_fault_shows_in_grade_tags_methodology_metrics_and_exit_code(fault, tmp_path, capfd):
    code, file, job, metrics = await ran(fault, tmp_path)
    failed = float(metrics.split("\nsearch_failures_total ")[1].split()[0])
    assert (failed > 0) == fault.failures
    if not fault.grade:
        assert (code, job) == (None, None)
        assert not file.exists()
        return
    report = json.loads(file.read_text("utf-8"))
    tags = {tag["tag"] for tag in report["methodology"]["tags"]}
    assert report["grade"] == fault.grade, (report["grade_reasons"], tags)
    # A report that fell short says why, and the command ends with a code of its own.
    assert code == {"complete": 0, "partial": 3, "nothing_found": 4}[fault.grade] == GRADE_CODES[fault.grade]
    assert bool(report["grade_reasons"]) == (fault.grade != "complete")
    assert set(fault.tags) <= tags, tags
    assert not set(fault.without) & tags, tags
    assert report["degraded_mode"] == ("#DEGRADED_SEARCH" in tags)
    replaced = {one["stood_in_for"] for one in report["methodology"]["actual"]["stand_ins"]}
    assert replaced == {one["message"].split(":")[0] for one in report["error_log"] if one["where"] == "job"}
    # What scoping took is part of the time that was given, and of no other.
    budget = report["phase_state"]["research"]["time_budget"]
    assert (budget["total_minutes"], budget["synthesis_reserve_minutes"]) == (5.0, 1.5)
    assert f'research_reports_total{{grade="{fault.grade}"}} 1.0' in metrics
    assert all(words in report["markdown"] for words in (fault.tells, *fault.told))
    assert all(f"`{tag}`" in report["markdown"] for tag in tags)
    assert report["markdown"] in capfd.readouterr().out
    hold_every_count(job.report, len(job.sources))
    # What a running job tells over HTTP, folded from its events, is what its report says in the end.
    told, said = running_phase(job).research, job.report.phase_state.research
    assert (told.iteration, told.retry_tracking, told.gap_analysis) == (
        said.iteration,
        said.retry_tracking,
        said.gap_analysis,
    )


ASKED_FOR = tree(
    leaf("Closures", "On how many days was the Orvane ferry line closed in winter?"),
    leaf("Costs", "What did the Orvane winter service cost?"),
)
DAYS = "the Orvane ferry line was closed on 12 days in the winter of 2022/23"
AGREED = {
    f"https://{name}.example/closures": (f"Closures, told by {name}", f"{opening} {DAYS}, since the ice was thick. {closing}")
    for name, opening, closing in (
        ("board", "The board says that", "The winter service of the line cost 3.1 million crowns."),
        ("press", "As the press wrote,", "The Orvane winter service cost the town 3.1 million crowns."),
        ("museum", "The museum keeps a log:", "What the Orvane winter service cost was 3.1 million crowns."),
        ("office", "Statistics of the county show that", "Orvane paid 3.1 million crowns for the winter service."),
    )
}  # fmt: skip


@pytest.mark.parametrize(("world", "code"), [(AGREED, 0), (WORLD, 3)], ids=["agreed-on", "a-source-for-each"])
async def test_a_judge_with_its_usual_thresholds_passes_what_several_sources_say_and_never_hangs_the_command(
    world, code, tmp_path
):
    ended, file, job, _ = await ran(
        Fault("none", "", lambda: Faulty(world), said=instead("PlanningInput", ASKED_FOR)), tmp_path, require_judge=True
    )
    assert (ended, job.status) == (code, "blocked" if code else "done")
    assert json.loads(file.read_text("utf-8"))["references"]


OVER_RUN = {"no fault", "search down", "half of the searches down", "another provider steps in", "search finds nothing", "extractor down",
            "section writer malformed"}  # fmt: skip


@pytest.mark.parametrize("fault", [one for one in FAULTS if one.name in OVER_RUN], ids=lambda fault: fault.name)
async def test_an_answer_of_run_says_the_same_of_a_fault_as_a_job(fault, tmp_path):
    team, meter = team_of(fault, tmp_path)
    given = await asyncio.wait_for(run_research(BRIEF.question, team=team, complexity_tier="standard"), 60)
    await team.close()
    tags = set(given.metadata.tags)
    assert given.metadata.grade == fault.grade, given.metadata.grade_reasons
    assert set(fault.tags) <= tags
    assert not set(fault.without) & tags
    assert given.degraded_mode == ("#DEGRADED_SEARCH" in fault.tags)
    assert bool(given.metadata.grade_reasons) == (fault.grade != "complete")
    assert (given.sources == ()) == (fault.grade == "nothing_found")
    assert fault.tells in given.final_answer
    assert (float(meter.text({}).decode().split("\nsearch_failures_total ")[1].split()[0]) > 0) == fault.failures
