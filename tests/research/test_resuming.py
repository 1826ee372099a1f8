"""What was given up stays given up: across branches, rounds, and when a job is taken up again from its record."""

from tests.scripted_search import ScriptedSearcher
from tests.scripts import BRIEF, QUERY, WORLD, leaf, tree, working_model

BROKEN = "https://broken.example/page"
QUESTIONS = tuple(
    f"How was the Orvane ferry closed in winter on line {chr(65 + n)}, and at what cost?" for n in range(5)
)


class Everywhere(ScriptedSearcher):
    """Finds the broken page for every question, first."""

    def _ranked(self, text):
        ranked = super()._ranked(text)
        return [one for one in ranked if one[0].url == BROKEN] + [one for one in ranked if one[0].url != BROKEN]


def broken_world():
    return Everywhere({**WORLD, BROKEN: ("Orvane ferry", "The Orvane ferry line in winter.")}, fail={BROKEN})


def one_after_the_other(bench):
    plan = {QUERY.text: tree(*(leaf(f"Line {n}", question) for n, question in enumerate(QUESTIONS)))}
    return bench(working_model(plan), searcher=broken_world(), per_job=1)


async def test_s0_fr4_an_address_that_fails_three_times_is_not_tried_again(bench):
    """S0 FR-4: per address, over all branches of the job."""
    work = one_after_the_other(bench)
    outcome = await work.run()
    assert work.searcher.read_urls.count(BROKEN) == 3
    tried = [entry for part in outcome.findings[0].walk() for entry in part.attempts if entry.key == BROKEN]
    assert [entry.attempts for entry in tried] == [1, 1, 1, 0, 0]
    assert "#RETRY_EXHAUSTED" in outcome.tags


async def test_a_site_whose_pages_fail_alike_is_left_alone_by_the_next_sibling(bench):
    """The next branch does not repeat what was just failed at; what one call reads is fetched side by side."""
    pages = {f"https://down.example/{n}": (f"Orvane {n}", "The Orvane ferry line in winter.") for n in range(5)}
    plan = {QUERY.text: tree(*(leaf(f"Line {n}", question) for n, question in enumerate(QUESTIONS)))}
    work = bench(working_model(plan), searcher=ScriptedSearcher(pages, fail=set(pages)), per_job=1)
    outcome = await work.run()
    assert len(work.searcher.read_urls) <= 4
    assert len(set(work.searcher.read_urls)) == 3
    reasons = {one.reason for part in outcome.findings[0].walk() for one in part.rejected}
    assert any("three pages of its site failed alike" in reason for reason in reasons)


async def test_s0_fr4_an_address_that_was_given_up_is_not_tried_again_after_a_resume(bench):
    """S0 FR-4: what a former process recorded as failed counts in the next."""
    work = one_after_the_other(bench)
    await work.run()
    record = dict(work.last.record)
    assert len(work.context.refused[BROKEN]) == 3
    # The process ended before the fourth branch had its turn.
    record = {key: step for key, step in record.items() if not key.startswith(("job/0/3", "job/0/4", "job/challenge"))}
    work.searcher.read_urls.clear()
    again = await work.run(BRIEF, record=record)
    assert work.last.calls_made > 0
    assert BROKEN not in work.searcher.read_urls
    assert "#RETRY_EXHAUSTED" in again.tags


async def test_an_attempt_that_several_branches_wait_for_counts_once(bench):
    """Five branches at once: whoever waits for a fetch that fails has not tried it himself."""
    plan = {QUERY.text: tree(*(leaf(f"Line {n}", question) for n, question in enumerate(QUESTIONS)))}
    work = bench(working_model(plan), searcher=broken_world(), per_job=8)
    await work.run()
    assert len(work.context.refused[BROKEN]) == work.searcher.read_urls.count(BROKEN)
