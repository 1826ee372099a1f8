"""A model fails in the middle of a job: another one goes on, and the user is told, live and in the report."""

import pytest

from agents.contracts.plan import PlanningInput
from agents.contracts.report import Actual, Commission, Outcome
from agents.core.budget import Deadline
from agents.core.errors import ModelError
from agents.core.events import Noted
from agents.jobs.job import stand_ins
from agents.llm.choose_models import Ward, WithFallbacks
from agents.offline import OfflineModel
from agents.report.document import build
from agents.roles import PLANNER
from tests.scripted_model import ScriptedModel
from tests.scripts import BRIEF, ROLES, working_model


def used_up(_):
    return ModelError("a: no", fault="quota", notice="The quota is used up.", model="cloud/a")


def notes(run):
    return [one.event for one in run.events if isinstance(one.event, Noted) and one.event.tag == "#PATH_DECISION"]


def report_of(outcome, run):
    actual = Actual(stand_ins=stand_ins(run.events))
    return build("a" * 32, outcome, actual, engine="cloud/a", reasons=True)


def broken():
    return ScriptedModel(by_role=dict.fromkeys(ROLES, used_up), name="cloud/a")


async def test_the_next_model_goes_on_and_the_user_is_told_once_live_and_in_the_report(bench):
    first, second = broken(), working_model()
    second.name = "cloud/b"
    work = bench(WithFallbacks([first, second], Ward()))

    outcome = await work.run()

    [note] = notes(work.last)
    assert note.text == "cloud/b answers in the place of cloud/a. The quota is used up."
    document = report_of(outcome, work.last)
    assert document.grade == "partial"
    [reason] = document.grade_reasons
    assert reason.startswith("cloud/b answered in the place of cloud/a")
    assert "#PATH_DECISION" in [tag.tag for tag in document.methodology.tags]
    [stood_in] = document.methodology.actual.stand_ins
    assert stood_in.answers == len(second.asked)
    assert "cloud/b answered in the place of cloud/a" in document.markdown
    assert len(first.asked) == 1, "every call found out for itself"


async def test_a_replay_tells_the_same_and_asks_no_model(bench):
    work = bench(WithFallbacks([broken(), working_model()], Ward()))
    outcome = await work.run()
    told, record = notes(work.last), work.last.record

    again = bench(WithFallbacks([broken(), broken()], Ward()))
    assert await again.run(record=record) == outcome
    assert notes(again.last) == told
    assert stand_ins(again.last.events) == stand_ins(work.last.events)


async def test_the_offline_engine_comes_last_and_is_named_too(bench):
    work = bench(WithFallbacks([broken(), broken()], Ward()))
    run = work.job()
    work.context.fallback = OfflineModel()

    outcome = await run.run("research", Commission(brief=BRIEF), Outcome)

    assert {one.model for one in stand_ins(run.events)} == {"offline engine"}
    assert [note.text for note in notes(run)] == [
        "offline engine answers in the place of cloud/a. The quota is used up."
    ]
    report = report_of(outcome, run)
    assert "offline engine answered in the place of cloud/a" in report.markdown
    assert report.limited.startswith("offline engine answered in the place of cloud/a")  # what the card says, too


class Earlier:
    """What earlier runs left: nothing yet."""

    def __init__(self):
        self.kept = []

    async def answered(self, leaf, setting):
        return False

    async def answer(self, key):
        return None

    def keep(self, key, answer):
        self.kept.append(key.partition("|")[0])


@pytest.mark.parametrize(("model", "kept"), [(working_model(), ["planner"]), (broken(), [])], ids=["itself", "another"])
async def test_only_what_a_model_said_itself_is_taken_over_by_later_runs(bench, model, kept):
    work = bench(model, fallback=OfflineModel())
    work.handlers()
    work.context.earlier = Earlier()

    await work.context.ask(PLANNER, PlanningInput(query=BRIEF.question, language="en"), Deadline())

    assert work.context.earlier.kept == kept
