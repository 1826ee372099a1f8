"""Steering a run by typing: each command does what it says, and the report says what it did."""

import asyncio

import pytest

from agents.api.tree import live_tree
from agents.chat.renderer import outcome_text
from agents.chat.state import Refuse, Say, Started
from agents.chat.texts import ChatTexts
from agents.contracts.verification import Judgement
from tests.chat.conftest import HeldModel, Page, Talker, make_team, until
from tests.chat.test_conversation import PHRASE, QUESTION
from tests.scripted_model import ScriptedModel
from tests.scripted_search import ScriptedSearcher
from tests.scripts import WORLD, Worker


@pytest.fixture
async def writing(tmp_path):
    """A conversation whose runs have read everything, and neither write nor go on to the claims before they are let go."""
    model = HeldModel(Worker(), held=("synthesizer", "reflector"))
    team = make_team(tmp_path, model, searcher=Best(WORLD))
    talker = Talker(team)
    talker.model = model
    yield talker
    await team.close()


class Best(ScriptedSearcher):
    """Finds one document a search, so that each branch has its own."""

    async def search(self, query, deadline_s=None):
        found = await super().search(query, deadline_s)
        return found.model_copy(update={"hits": found.hits[:1]})


def states(job):
    return {row.n: row.state for row in live_tree(job).nodes if row.n}


async def started(talker):
    await talker(QUESTION)
    (act,) = await talker(PHRASE)
    return act.job


async def ended(talker, job):
    talker.model.go.set()
    await asyncio.wait_for(job.wait(), 60)
    return job.report


async def test_an_excluded_domain_is_not_in_the_report_and_the_report_says_when_it_was_excluded(held):
    job = await started(held)
    await until(lambda: "reading" in states(job).values())

    (act,) = await held("exclude domain b.example")
    report = await ended(held, job)

    assert isinstance(act, Say)
    assert report.references
    assert not any("b.example" in one.url for one in report.references)
    assert report.changes[0].words == "without b.example"
    assert "Nothing of b.example was searched or read." in report.markdown.split("## Methodology")[1]
    assert job.commission.contract.brief.exclude_domains == ()  # what was authorized stands as it was


async def test_two_limits_hold_together_and_a_third_may_not_give_back_what_they_took(held):
    job = await started(held)
    await until(lambda: "reading" in states(job).values())

    await held("only domains a.example, b.example")
    (second,) = await held("exclude b.example")
    (third,) = await held("only domain c.example")
    (fourth,) = await held("2 minutes")
    (fifth,) = await held("3 minutes")
    report = await ended(held, job)

    assert second.text.startswith("Noted as change 2 to the contract: without b.example.")
    assert isinstance(third, Refuse)
    assert "that adds domains" in third.text
    assert fourth.text.startswith("Noted as change 3 to the contract: 2 minutes in all.")
    assert "3 minutes is more than the 2 minutes you authorized" in fifth.text
    assert {one.url for one in report.references} == {"https://a.example/closures"}
    assert [one.number for one in report.changes] == [1, 2, 3]


async def test_an_earlier_end_is_the_end_of_searching(held):
    job = await started(held)
    await until(lambda: "reading" in states(job).values())

    (act,) = await held("0.02 minutes")

    assert "no new searches, I write now" in act.text or "I stop searching at 0:0" in act.text
    await asyncio.wait_for(job.wait(), 60)  # what is held is cut off: nobody lets it go
    assert job.status == "done"
    assert job.report.changes[0].effect.startswith("The time was shortened to")


async def test_a_stopped_branch_is_in_the_report_with_what_it_had_found(writing):
    job = await started(writing)
    await until(lambda: list(states(job).values()).count("writing") == 3)

    (act,) = await writing("stop branch 2")
    report = await ended(writing, job)

    assert "It keeps " in act.text
    branch = next(node for node in report.nodes if node.title == "Costs")
    assert (branch.status, branch.sources > 0) == ("stopped", True)
    assert "stopped by you before it was done; what it had found is used" in report.markdown.split("## Limitations")[1]
    section = report.markdown.split("## Costs")[1].split("\n## ")[0]
    assert "3.1 million crowns" in section
    assert report.grade == "partial"


async def test_a_dropped_branch_is_left_out_of_the_report(writing):
    job = await started(writing)
    await until(lambda: list(states(job).values()).count("writing") == 3)

    (act,) = await writing("drop branch 2")
    report = await ended(writing, job)

    assert "What it had found is left out" in act.text
    branch = next(node for node in report.nodes if node.title == "Costs")
    assert (branch.status, branch.sources) == ("stopped", 0)
    assert "dropped by you; what it had found is left out" in report.markdown.split("## Limitations")[1]
    assert "3.1 million crowns" not in report.markdown.split("## Costs")[1].split("\n## ")[0]


async def test_a_stopped_branch_that_is_tried_again_is_in_the_report_whole(writing):
    job = await started(writing)
    await until(lambda: list(states(job).values()).count("writing") == 3)
    (too_early,) = await writing("retry 2")
    await writing("stop branch 2")
    await until(lambda: states(job)["2"] == "stopped")

    (act,) = await writing("try branch 2 again")
    assert states(job)["2"] == "retrying"
    report = await ended(writing, job)

    assert isinstance(too_early, Refuse)
    assert "only a failed or stopped one is tried again" in too_early.text
    assert act.text == (
        "Noted as change 2 to the contract: part 2 “Costs” is tried again. "
        "It begins anew when the parts beside it have ended."
    )
    assert states(job)["2"] == "done"
    assert [one.kind for one in report.changes] == ["stop", "retry"]
    assert report.changes[1].effect == "Branch 2 “Costs” was tried again."
    assert "stopped by you" not in report.markdown.split("## Limitations")[-1]


async def test_guidance_is_numbered_among_the_changes_and_quoted_in_the_report(held):
    job = await started(held)
    await until(lambda: "reading" in states(job).values())
    (act,) = await held("Prefer the harbour master's log.")
    report = await ended(held, job)
    assert act.text.startswith("Noted as change 1: Prefer the harbour master's log.")
    assert report.changes[0].effect == "A note for the rounds that followed: “Prefer the harbour master's log”"


# ---- after the end


@pytest.fixture
async def kept(tmp_path):
    """A conversation whose runs are kept, and outlive their end."""
    model = HeldModel(Worker(), held=("synthesizer",))
    team = make_team(tmp_path, model, searcher=Best(WORLD), stored=True)
    await team.open()
    talker = Talker(team)
    talker.model = model
    yield talker
    await team.close()


async def test_after_the_end_a_retry_is_answered_with_an_offer_and_restart_tries_the_stopped_branch_again(kept):
    job = await started(kept)
    await until(lambda: list(states(job).values()).count("writing") == 3)
    await kept("stop branch 2")
    first = await ended(kept, job)

    (offer,) = await kept("retry 2")
    (again,) = await kept("restart")
    assert isinstance(again, Started)
    assert again.job.id == job.id
    await asyncio.wait_for(again.job.wait(), 60)

    assert offer == Say(ChatTexts()("restart_offer"))
    assert next(node.status for node in first.nodes if node.title == "Costs") == "stopped"
    second = again.job.report
    assert next(node.status for node in second.nodes if node.title == "Costs") == "done"
    assert [one.kind for one in second.changes] == ["stop", "restart"]


async def test_a_run_taken_up_again_has_a_card_and_a_report_of_its_own_in_the_chat(serve, kept):
    chat = serve(kept.team)
    kept.model.go.set()
    page = Page()
    await page.say(QUESTION)
    await page.say(PHRASE)

    def reports():
        return [text for text in page.texts() if "## References" in text]

    await until(lambda: len(reports()) == 1)
    await page.say("rework")
    await until(lambda: len(reports()) == 2)
    await chat.outcomes.close()

    cards = page.elements("ResearchRun")
    assert len({card["id"] for card in cards}) == 2
    assert len({card["forId"] for card in cards}) == 2
    assert len({card["props"]["job_id"] for card in cards}) == 1
    assert [card["props"]["moved"] for card in cards if "moved" in card["props"]] == [cards[-1]["forId"]]
    thread = await chat.history.get_thread(page.session.thread_id)
    kept_reports = [step for step in thread["steps"] if "## References" in (step["output"] or "")]
    assert len(kept_reports) == 2
    await chat.close()
    await chat.history.engine.dispose()


async def test_a_wait_for_a_provider_is_told_in_the_talk_until_the_answer_takes_its_place(serve, tmp_path):
    model = HeldModel(Worker(), held=("manager",))
    team = make_team(tmp_path, model, searcher=Best(WORLD))
    chat, page = serve(team), Page()
    saying = asyncio.create_task(page.say(QUESTION))
    await until(lambda: team.pauses.others)
    team.pacing.gate("openai").hold(12)
    told = "The model provider (openai) wants us to wait: it is asked again in 12 s."
    await until(lambda: told in str(page.sent))
    team.pacing.gate("openai").hold(40)
    await until(lambda: "40 s" in str(page.sent))
    assert told not in str(page.sent[-1]), "a wait that is over is no longer told"
    model.go.set()
    await saying
    assert told not in "".join(page.texts())
    assert page.elements("ContractCard")
    assert team.pauses.others == []
    await chat.history.engine.dispose()


async def test_what_the_judge_sends_back_is_shown_and_released_by_a_word(tmp_path):
    worker = Worker()
    sends_back = Judgement(verdict="request_changes", reasons=("One claim has a single source.",))
    roles = ("manager", "planner", "extractor", "reflector", "challenger", "verifier", "synthesizer")
    model = ScriptedModel(by_role={**dict.fromkeys(roles, worker), "judge": lambda request: sends_back})
    talker = Talker(make_team(tmp_path, model, require_judge=True))
    await talker(QUESTION)
    (act,) = await talker(PHRASE)
    await asyncio.wait_for(act.job.wait(), 60)
    assert (act.job.status, act.job.blocked_reason) == ("blocked", "needs_rework")
    assert "The judge sent this report back:" in outcome_text(act.job, act.job.report)

    (released,) = await talker("release it")
    await until(lambda: act.job.over)
    (again,) = await talker("release it")

    assert released == Say(ChatTexts()("released"))
    assert again == Refuse(ChatTexts()("not_held"))
    assert act.job.over
