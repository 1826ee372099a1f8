"""A fault of ours that nobody foresaw costs what it hits, and never the report."""

import asyncio
import sqlite3

import pytest

from agents.contracts.fact import ExtractionInput, SourceReading
from agents.contracts.finding import FrameInput, SectionInput
from agents.contracts.frozen import Said
from agents.contracts.plan import ReflectionInput
from agents.contracts.report import Actual
from agents.contracts.verification import ChallengeInput
from agents.core.errors import Failure, StepFailed
from agents.core.events import SourceRead, SourceRejected
from agents.report.document import build
from agents.research.pipeline import Means
from agents.research.reading.leaf import gathered
from agents.research.reading.read_sources import SourceDone
from tests.scripted_model import ScriptedModel
from tests.scripts import ROLES, Worker, world


async def broken(ctx, given):
    raise ZeroDivisionError("nobody thought of this")


@pytest.mark.parametrize("victim", ["leaf", "source", "claim", "challenge", "check"])
async def test_whatever_breaks_the_report_is_there_and_says_so(bench, victim):
    one = bench()
    made = one.handlers
    one.handlers = lambda: {**made(), victim: broken}

    outcome = await one.run()

    document = build("job", outcome, Actual(), engine="m", reasons=True)
    read = {card.url for finding in outcome.findings for card in finding.all_sources()}
    assert document.grade in ({"nothing_found"} if victim in {"leaf", "source"} else {"partial", "complete"})
    assert all(url in document.model_dump_json() for url in read)
    if victim == "challenge":
        assert {claim.verdict for claim in document.claims} == {"not_checked"}
        assert document.grade == "partial" and "challenge" in [finding.role for finding in outcome.counter]


async def test_a_fault_after_the_branches_leaves_what_they_found(bench, monkeypatch):
    from agents.research import pipeline

    monkeypatch.setattr(pipeline, "checked", broken)

    outcome = await bench(means=Means(require_judge=True)).run()

    document = build("job", outcome, Actual(), engine="m", reasons=True)
    assert document.references and document.grade == "partial"
    # Where a judge is required, what nobody has judged does not pass.
    assert outcome.truth.judgement.verdict == "request_changes"
    assert [problem.type for problem in outcome.problems] == ["TypeError"]


class Unsayable(Exception):
    def __str__(self):
        raise ValueError("even its text fails")


ODD = (
    ZeroDivisionError, KeyError, lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "?"), RecursionError, MemoryError, StopIteration,
    lambda: sqlite3.OperationalError("disk I/O error"), lambda: ExceptionGroup("two", [ValueError(), KeyError()]),
    asyncio.CancelledError, asyncio.InvalidStateError, lambda: OSError(28, "No space left"), AssertionError, Unsayable, SystemError,
)  # fmt: skip
ASKED = (ExtractionInput, ReflectionInput, SectionInput, FrameInput, ChallengeInput)
PLACES = [(place, first) for place in (*ASKED, "search", "read", "survey", "put", "get") for first in (1, 2)]


class Breaking:
    """Raises once, at a call of one kind and number."""

    def __init__(self, number, error):
        self.left, self.error, self.raised = number, error, False

    def at_once(self):
        self.left -= 1
        if self.left == 0:
            self.raised = True
            raise self.error()

    def around(self, thing, name):
        whole = getattr(thing, name)

        async def broken(*args, **options):
            self.at_once()
            return await whole(*args, **options)

        setattr(thing, name, broken)


@pytest.mark.parametrize(
    ("number", "place"),
    enumerate(PLACES),
    ids=lambda one: str(one) if isinstance(one, int) else f"{getattr(one[0], '__name__', one[0])} {one[1]}",
)
async def test_whatever_is_raised_wherever_the_report_is_there_and_names_all_that_was_read(bench, number, place):
    where, first = place
    breaking = Breaking(first, ODD[number % len(ODD)])

    class Work(Worker):
        def __call__(self, request):
            if not isinstance(where, str) and isinstance(request.given, where):
                breaking.at_once()
            return super().__call__(request)

    one = bench(model=ScriptedModel(by_role=dict.fromkeys(ROLES, Work())), searcher=world())
    if isinstance(where, str):
        breaking.around(one.texts if where in {"put", "get"} else one.searcher, where)

    outcome = await asyncio.wait_for(one.run(), 30)

    document = build("job", outcome, Actual(), engine="m", reasons=True)
    told = document.model_dump_json()
    events = [numbered.event for numbered in one.last.events]
    read = {event.source.url for event in events if isinstance(event, SourceRead)}
    read |= {event.url for event in events if isinstance(event, SourceRejected)}
    assert document.references and all(url in told for url in read)
    assert breaking.raised or first == 2


def test_a_page_that_was_fetched_and_could_not_be_worked_through_is_named():
    failure = StepFailed("job/0#extract:0", Failure(type="KeyError", message="x", notice="It broke."))
    broken_one = SourceDone(reading=SourceReading(rejected=Said("It broke.")), problem=failure.problem())

    read = {"https://a.example/": broken_one, "https://b.example/": SourceDone.broken(failure)}
    _, _, rejected, problems = gathered(read)

    assert [one.url for one in rejected] == ["https://a.example/", "https://b.example/"]
    assert {one.why for one in rejected} == {"1 of 1 source could not be worked through"} and len(problems) == 2
