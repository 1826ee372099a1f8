"""In the chat a report is run anew, or gone on from: always through the phrase."""

from agents.api.tree import live_tree
from agents.chat.commands import Wish
from agents.chat.runs import broken_line
from agents.chat.state import ShowContract, Started
from agents.core.errors import BadRequest
from agents.core.settings import Settings
from agents.team import open_team
from tests.chat.conftest import Talker

ASKED = "How often was the Orvane ferry closed, and what did it cost?"


async def reported(talker):
    await talker(ASKED)
    (started,) = [one for one in await talker("Authorized to execute") if isinstance(one, Started)]
    await started.job.wait()
    return started.job


async def test_refresh_puts_the_same_plan_on_the_table_and_the_phrase_runs_it(talker):
    first = await reported(talker)
    assert any(isinstance(one, ShowContract) for one in await talker("refresh"))
    assert len(talker.team.jobs.of()) == 1
    (started,) = [one for one in await talker("Authorized to execute") if isinstance(one, Started)]
    await started.job.wait()
    assert started.contract.plans == first.contract.plans
    assert (started.job.report.since.use, started.job.report.since.job_id) == ("refresh", first.id)


async def test_a_follow_up_that_needs_research_goes_on_from_the_report(talker):
    first = await reported(talker)
    said = await talker("Which company built the second Orvane ferry?")
    if not any(isinstance(one, ShowContract) for one in said):
        said = await talker("a new question")
    assert talker.state.after.job_id == first.id
    assert talker.state.contract.brief.known
    (started,) = [one for one in await talker("Authorized to execute") if isinstance(one, Started)]
    await started.job.wait()
    assert started.job.report.since.use == "continue"


async def test_a_question_about_something_else_does_not(talker):
    await reported(talker)
    await talker("Why do cats purr?")
    assert talker.state.after is None


async def test_nor_does_one_after_a_follow_up_that_came_to_nothing(talker):
    await reported(talker)
    asked = talker.team.scope

    async def down(*_):
        raise BadRequest("The model gave no answer.")

    talker.team.scope = down
    await talker("Which company built the second Orvane ferry?")
    talker.team.scope = asked
    await talker("Why do cats purr?")
    assert talker.state.after is None
    assert talker.state.scope.known == ()


async def test_a_draft_made_anew_from_an_old_card_is_run_after_no_report(talker):
    first = await reported(talker)
    await talker("refresh")
    assert talker.state.after is not None
    await talker("draft it anew: 10 minutes", about=first.id)
    assert talker.state.contract.brief.minutes == 10
    assert talker.state.after is None


async def test_how_long_it_took_counts_the_sources_as_the_report_does(talker):
    job = await reported(talker)
    read = job.report.methodology.model_copy(update={"sources_read": 13})
    talker.acts = []
    await talker.conversation._wish_of_report(
        Wish(name="how_long"), job.report.model_copy(update={"methodology": read})
    )
    assert "read 13 sources" in talker.acts[0].text


async def test_a_summary_says_nothing_that_no_source_carries(talker):
    job = await reported(talker)
    first = next(one for one in job.report.sentences if one.citations)
    document = job.report.model_copy(
        update={"sentences": (first.model_copy(update={"text": "A rumour.", "verdict": "unsupported"}), first)}
    )
    assert "rumour" not in talker.conversation._summary(document, "3")


async def test_a_run_that_is_stopped_when_it_was_taken_up_again_does_not_say_that_there_is_no_report(talker):
    job = await reported(talker)
    view = live_tree(job).model_copy(update={"status": "cancelled", "ending": "stopped"})
    said = broken_line(view, talker.conversation.words)
    assert "The earlier report stays." in said
    assert "no report" not in said
    assert "Nothing had been found" not in said


async def test_without_a_model_a_follow_up_is_read_with_the_question_before_it(tmp_path):
    library = tmp_path / "library"
    library.mkdir()
    (library / "pumps.md").write_text("# Heat pumps\n\nHeat pumps are reliable: 2 % of heat pumps fail a year.\n")
    team = open_team(Settings(data_dir=tmp_path, model="offline", library=(library,), retriever=("library",)))
    talker = Talker(team)
    await talker("How reliable are heat pumps?")
    await talker("and what do they cost?")  # a draft is on the table: a change, or a new question?
    await talker("a new question")
    assert [query.text for query in talker.state.scope.queries] == ["What do they cost (heat pumps)?"]
    (started,) = [one for one in await talker("Authorized to execute") if isinstance(one, Started)]
    await started.job.wait()
    await talker("How long do they last?")
    assert [query.text for query in talker.state.scope.queries] == ["How long do they last (heat pumps)?"]
    await team.close()
