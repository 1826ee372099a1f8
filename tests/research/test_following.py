"""Follow-up questions answered from a report's own facts."""

import re

from agents.contracts.report import Actual
from agents.report.document import build
from agents.report.earlier import earlier_of
from agents.research.reading.leaf import with_facts_of
from agents.research.scoping.follow_up import follow_up
from tests.scripts import to_read, working_model


async def report_of(bench):
    work = bench()
    outcome = await work.run()
    work.handlers()
    return work, build("a" * 32, outcome, Actual(), engine="scripted", reasons=True)


async def test_a_run_that_goes_on_takes_over_only_what_its_own_contract_allows(bench):
    outcome = await bench().run()
    document = build("a" * 32, outcome, Actual(), engine="scripted", reasons=True)
    cards = {card.id: card for card in outcome.findings[0].all_sources()}

    async def known(ctx, given):
        return [card.url for card in given.known_sources]

    leaf = with_facts_of({"leaf": known}, earlier_of(document, cards, "continue"))["leaf"]
    given = to_read(page := "https://b.example/costs", "What did the Orvane winter service cost?").of
    without = given.setting.model_copy(update={"exclude_domains": ("b.example",)})
    assert page in await leaf(None, given)
    assert page not in await leaf(None, given.model_copy(update={"setting": without}))


async def test_what_is_taken_over_from_an_earlier_report_says_since_when_it_is_known(bench):
    outcome = await bench().run()
    actual = Actual(started_at="2026-11-01T10:00:00+00:00")
    document = build("a" * 32, outcome, actual, engine="scripted", reasons=True)
    cards = {card.id: card for card in outcome.findings[0].all_sources()}
    old = {one.source_id: "2026-10-01" for one in document.references[:1]}
    references = tuple(
        one.model_copy(update={"known_since": old.get(one.source_id, "")}) for one in document.references
    )

    taken = earlier_of(document.model_copy(update={"references": references}), cards, "continue")

    assert {fact.known_since for fact in taken.facts if fact.source_id in old} == {"2026-10-01"}
    assert {fact.known_since for fact in taken.facts if fact.source_id not in old} == {"2026-11-01"}


async def test_a_question_that_the_report_knows_is_answered_with_its_own_numbers(bench):
    work, document = await report_of(bench)
    answer = await follow_up(work.context, document, "On how many days was the Orvane ferry line closed?")
    assert answer.enough
    assert "12 days" in answer.markdown
    listed = {reference.n for reference in document.references}
    assert {int(n) for n in re.findall(r"\[(\d+)\]", answer.markdown)} <= listed
    quoted = {quote.fact_id for reference in document.references for quote in reference.quotes}
    assert set(answer.facts) <= quoted


async def test_a_question_beyond_the_report_needs_new_research(bench):
    work, document = await report_of(bench)
    answer = await follow_up(work.context, document, "Which volcanoes erupted in Iceland during 1783?")
    assert not answer.enough
    assert answer.markdown == ""


async def test_a_writer_that_changes_a_figure_is_not_repeated(bench):
    work, document = await report_of(bench)
    liar = working_model(synthesizer=lambda request: '{"markdown": "The line was closed on 99 days.[f1]"}')
    work.context.models = dict.fromkeys(work.context.models, liar)
    answer = await follow_up(work.context, document, "On how many days was the Orvane ferry line closed?")
    assert "99 days" not in answer.markdown
    assert not answer.enough


async def test_why_the_figures_differ_is_answered_by_what_one_left_out_and_another_counted(bench):
    work, document = await report_of(bench)
    told = "The ministry left out lost buses, the union counted every bus."
    first, *others = document.references
    words = first.quotes[0].model_copy(update={"text": told, "fact_id": "f-ways"})
    known = document.model_copy(update={"references": (first.model_copy(update={"quotes": (words,)}), *others)})
    work.context.models = dict.fromkeys(work.context.models, working_model(synthesizer=lambda request: "no answer"))

    answer = await follow_up(work.context, known, "Why do the figures differ?")

    assert told in answer.markdown
