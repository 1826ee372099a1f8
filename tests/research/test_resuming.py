"""What was given up stays given up: across branches, rounds, and when a job is taken up again from its record."""

from agents.search.scripted import ScriptedSearcher
from tests.scripts import BRIEF, QUERY, WORLD, leaf, level, working_model

BROKEN = "https://broken.example/page"
QUESTIONS = tuple(f"How was the Orvane ferry closed in winter on line {chr(65 + n)}?" for n in range(5))


class Everywhere(ScriptedSearcher):
    """Finds the broken page for every question, first."""

    def _ranked(self, text):
        ranked = super()._ranked(text)
        return [one for one in ranked if one[0].url == BROKEN] + [one for one in ranked if one[0].url != BROKEN]


def broken_world():
    return Everywhere({**WORLD, BROKEN: ("Orvane ferry", "The Orvane ferry line in winter.")}, fail={BROKEN})


def one_after_the_other(bench):
    plan = {QUERY.text: level(*(leaf(f"Line {n}", question) for n, question in enumerate(QUESTIONS)))}
    return bench(working_model(plan), searcher=broken_world(), per_job=1)


async def test_s0_fr4_an_address_that_fails_three_times_is_not_tried_again(bench):
    """S0 FR-4: per address, over all branches of the job."""
    work = one_after_the_other(bench)
    outcome = await work.run()
    assert 1 <= work.searcher.read_urls.count(BROKEN) <= 3
    tried = [entry for part in outcome.findings[0].walk() for entry in part.attempts if entry.key == BROKEN]
    assert sum(entry.attempts for entry in tried) <= 3
    assert "#RETRY_EXHAUSTED" in outcome.tags or len(tried) < 3


async def test_s0_fr4_an_address_that_was_given_up_is_not_tried_again_after_a_resume(bench):
    """S0 FR-4: what a former process recorded as failed counts in the next."""
    from agents.research.retries import Retries

    work = one_after_the_other(bench)
    await work.run()
    record = dict(work.last.record)
    before = work.desk.retries.attempts(BROKEN)
    assert before >= 1
    work.searcher.read_urls.clear()
    await work.run(BRIEF, record=record)
    assert work.last.calls_made == 0
    assert work.desk.retries.attempts(BROKEN) == before
    assert isinstance(work.desk.retries, Retries)


async def test_an_attempt_that_several_branches_wait_for_counts_once(bench):
    """Five branches at once: whoever waits for a fetch that fails has not tried it himself."""
    plan = {QUERY.text: level(*(leaf(f"Line {n}", question) for n, question in enumerate(QUESTIONS)))}
    work = bench(working_model(plan), searcher=broken_world(), per_job=8)
    await work.run()
    assert work.desk.retries.attempts(BROKEN) == work.searcher.read_urls.count(BROKEN)
