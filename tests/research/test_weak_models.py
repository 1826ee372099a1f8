"""Whole runs with models that are weak, lazy or wrong: what reaches the reader is true all the same."""

import json
import re

import pytest

from agents.contracts.contract import Brief, PaceSeen, Query, ScopingInput, ScopingTurn, UnheardQuery, UnheardTurn
from agents.contracts.fact import Extraction, ExtractionInput, Fact, NumberedSentence, PointedFact, ShownSource
from agents.contracts.finding import Frame, FrameInput, NumberedFact, Section, SectionInput
from agents.contracts.frozen import digest
from agents.contracts.plan import PlanningInput, ReflectionResponse
from agents.contracts.report import Actual
from agents.contracts.sources import CorpusSurvey, Source, SourceCard
from agents.contracts.verification import Challenge, StanceInput
from agents.core.budget import Usage
from agents.core.events import RoleAsked
from agents.core.role import Reply
from agents.nlp.lang import spans
from agents.offline import OfflineModel
from agents.offline.extractor import extract
from agents.offline.questions import asks_for_facts
from agents.report.document import build
from agents.research.fit_input import summarised
from agents.research.loop.loop_decision import LoopSettings
from agents.research.planning.drafting import plan_of
from agents.research.planning.freeze_contract import MODES, Means, make_contract
from agents.research.reading.answering import Told, beside_the_point
from agents.research.reading.hold_extraction import SourceExcerpt, held_against
from agents.research.writing.sections import Numbering
from agents.roles import settled
from agents.verify.checks import misplaced, mixes
from tests.scripted_search import ScriptedSearcher
from tests.scripts import BRIEF as FERRY
from tests.scripts import Worker, leaf, to_read, tree, working_model

QUESTION = "Which band was formed first, The Exies or Circus Diablo, and who founded each of them?"
BANDS = {
    "https://exies.example/": (
        "The Exies",
        "The Exies were an American rock band from Los Angeles, California, formed in 1997. "
        'Their name, "The Exies", is short for "The Existentialists".',
    ),
    "https://diablo.example/": (
        "Circus Diablo",
        "Circus Diablo is an American rock band, formed in early 2006 by Billy Morrison, Billy Duffy and Ricky Warwick. "
        "To date, Circus Diablo have released one studio album.",
    ),
    "https://clinton.example/": (
        "Clinton Foundation",
        "The Clinton Foundation was founded by former President Bill Clinton in 2001. "
        "It was formed first of the two bands of donors.",
    ),
    "https://lane.example/": (
        "Stewart F. Lane",
        "Stewart F. Lane and Bonnie Comley founded a streaming service for theatre in 2013.",
    ),
}
PLAN = tree(
    leaf("Formation", "When was The Exies formed?", "When was Circus Diablo formed?"),
    leaf("Founders", "Who founded The Exies?", "Who founded Circus Diablo?"),
    claims=("Stewart F. Lane and Bonnie Comley founded Circus Diablo in 2013.", "Bill Clinton founded The Exies."),
)
QUERY = Query(text=QUESTION, feasible=True, reason="small", depth_estimate=1)
BRIEF = Brief(question=QUESTION, queries=(QUERY,), today="2026-11-28")


async def reported(bench, extractor=None, **roles):
    roles |= {"extractor": extractor} if extractor else {}
    work = bench(working_model({QUESTION: PLAN}, **roles), searcher=ScriptedSearcher(BANDS))
    outcome = await work.run(BRIEF)
    return work, build("a" * 32, outcome, Actual(), engine="scripted", reasons=True)


def pointing(change):
    """An extractor whose every fact goes through `change`."""

    def extractor(request):
        found = Worker()(request)
        return found.model_copy(update={"facts": tuple(change(fact) for fact in found.facts)})

    return extractor


def cited(report):
    return {reference.title for reference in report.references}


def status(report):
    return {one.question: one.status for one in report.answers}


async def test_a_model_that_takes_every_sentence_for_an_answer_brings_nothing_off_the_subject_into_the_report(bench):
    _, report = await reported(bench)

    assert cited(report) == {"The Exies", "Circus Diablo"}
    assert "1997" in report.markdown
    assert "2006" in report.markdown
    body = report.markdown.split("## Claims")[0]
    assert "Clinton" not in body
    assert "Comley" not in body


async def test_what_no_source_carries_is_not_written_and_nothing_is_written_twice(bench):
    def fluent(request):
        written = Worker()(request)
        if not isinstance(written, Section):
            return written
        bridge = "During this time, rock bands were being formed in Los Angeles from other bands."
        return Section(markdown=f"{bridge} {written.markdown}\n\n{bridge} {written.markdown}")

    _, report = await reported(bench, synthesizer=fluent)

    body = report.markdown.split("## References")[0]
    assert "During this time" not in body
    assert body.count("formed in early 2006") <= 2  # in the summary, and once in its section
    assert all(one.verdict is None or one.facts for one in report.sentences if one.verdict != "no_fact")


async def test_what_answers_a_question_is_added_where_the_writer_leaves_it_out(bench):
    def one_sided(request):
        written = Worker()(request)
        if isinstance(written, Section):
            exies = [fact for fact in request.given.facts if fact.source == "The Exies"]
            return Section(markdown=f"{exies[0].statement}[f{exies[0].number}]") if exies else written
        return written

    _, report = await reported(bench, synthesizer=one_sided)

    assert status(report)["Who founded Circus Diablo?"] == "answered"
    assert "2006" in report.markdown.split("## References")[0]


async def test_a_fact_that_is_cited_for_something_else_does_not_leave_out_what_was_asked(bench):
    def who_only(request):
        written = Worker()(request)
        if isinstance(written, Section):
            (number,) = [one.number for one in request.given.facts if "Billy Morrison" in one.quote]
            return Section(markdown=f"Circus Diablo was formed by Billy Morrison.[f{number}]")
        return written

    plan = tree(leaf("First", "Which band was formed first, The Exies or Circus Diablo?"), claims=())
    work = bench(working_model({QUESTION: plan}, synthesizer=who_only), searcher=ScriptedSearcher(BANDS))
    report = build("a" * 32, await work.run(BRIEF), Actual(), engine="scripted", reasons=True)

    body = report.markdown.split("## References")[0]
    assert body.count("2006") == body.count("1997") == 1


EARL = (
    "Following the 1063 invasion of Wales by Harold and Tostig Godwinson that overthrew Gruffydd, Rhiwallon and Bleddyn "
    "jointly received Powys and Gwynedd: Tostig Godwinson was an Anglo-Saxon Earl of which location?"
)
WALES = {
    "https://bleddyn.example/": (
        "Bleddyn ap Cynfyn",
        "Bleddyn ap Cynfyn was an 11th-century Welsh king, installed by Harold and Tostig Godwinson in 1063. "
        "Bleddyn became king of Powys on his brother Rhiwallon's death in 1069.",
    ),
    "https://rhiwallon.example/": (
        "Rhiwallon ap Cynfyn",
        "Rhiwallon ap Cynfyn was a Welsh king. Following the 1063 invasion of Wales by Harold and Tostig Godwinson that "
        "overthrew Gruffydd, Rhiwallon and Bleddyn jointly received Powys and Gwynedd.",
    ),
    "https://tostig.example/": (
        "Tostig Godwinson",
        "Tostig Godwinson was an Anglo-Saxon Earl of Northumbria and brother of King Harold Godwinson.",
    ),
}


async def test_of_what_answers_in_part_the_fact_that_says_most_is_not_left_out(bench):
    def beside(request):
        written = Worker()(request)
        if isinstance(written, Section):
            fact = next(fact for fact in request.given.facts if fact.source == "Bleddyn ap Cynfyn")
            return Section(markdown=f"{fact.statement}[f{fact.number}]")
        return written

    model = working_model({EARL: tree(leaf("Earl", EARL))}, synthesizer=beside)
    work = bench(model, searcher=ScriptedSearcher(WALES))
    query = QUERY.model_copy(update={"text": EARL})
    outcome = await work.run(BRIEF.model_copy(update={"question": EARL, "queries": (query,)}))
    report = build("a" * 32, outcome, Actual(), engine="scripted", reasons=True)

    assert "Northumbria" in report.markdown.split("## References")[0]


async def test_an_unsure_pointer_leaves_room_for_what_code_finds(bench):
    _, report = await reported(
        bench, pointing(lambda fact: fact.model_copy(update={"sure": 0.0, "sentences": fact.sentences[:1]}))
    )

    assert status(report)["When was The Exies formed?"] == "answered"
    assert status(report)["Who founded Circus Diablo?"] == "answered"


async def test_a_passage_is_narrowed_to_what_names_the_subject_in_a_document_on_something_else():
    text = "The demon has no mouth. It roams at night. In myth it goes with other demons like Gallu and Lilu."
    source = Source(id="s1", url="https://alu.example/", title="Alû", kind="web", text=text, text_hash=digest(text))
    numbered = tuple(NumberedSentence(number=n, text=text[at.start : at.end]) for n, at in enumerate(spans(text), 1))
    question = "If Gallu is a demon Lilu is what?"
    given = to_read(source.url, question)
    shown = ShownSource(title=source.title, sentences=numbered)
    wanted = ExtractionInput(objective=question, questions=(question,), language="en", sources=(shown,))
    extraction = Extraction(facts=(PointedFact(sentences=(1, 2, 3), question=1, sure=0.9),))

    read = held_against(extraction, [SourceExcerpt(source, spans(text), numbered, 0)], given, wanted, None)

    assert [fact.quote for fact in read["s1"].facts] == ["In myth it goes with other demons like Gallu and Lilu."]


async def test_a_document_that_is_called_what_is_asked_about_is_not_passed_over():
    question = "If Gallu is a demon Lilu is what?"
    texts = {
        "Alû": "In myth it goes with other demons like Gallu and Lilu.",
        "Lilu (mythology)": "A lilu or lilû is a masculine Akkadian word for a spirit, related to Alû, demon.",
    }
    shown = []
    for first, (title, text) in enumerate(texts.items()):
        source = Source(id=title, url="https://a.example/", title=title, kind="web", text=text, text_hash=digest(text))
        numbered = (NumberedSentence(number=first + 1, text=text),)
        shown.append(SourceExcerpt(source, spans(text), numbered, first))
    given = to_read("https://a.example/", question)
    sources = tuple(ShownSource(title=one.source.title, sentences=one.sentences) for one in shown)
    wanted = ExtractionInput(objective=question, questions=(question,), language="en", sources=sources)
    extraction = Extraction(facts=(PointedFact(sentences=(1,), question=1, sure=0.9),))

    read = held_against(extraction, shown, given, wanted, extract)

    assert [fact.quote for fact in read["Lilu (mythology)"].facts] == [texts["Lilu (mythology)"]]
    assert len(read["Alû"].facts) == 1


async def test_a_section_does_not_put_its_question_down_again(bench):
    def echoing(request):
        written = Worker()(request)
        if isinstance(written, Section):
            return Section(markdown=f"{QUESTION}[f1] {written.markdown}")
        return written

    _, report = await reported(bench, synthesizer=echoing)

    assert QUESTION not in report.markdown.split("## References")[0]


async def test_what_the_challenger_leaves_out_is_searched_against_by_code(bench):
    _, report = await reported(bench, challenger=lambda request: Challenge(attacks=()))

    assert report.claims
    assert all(claim.counter_search.queries for claim in report.claims if claim.verdict == "supported")


async def test_what_nothing_answers_is_said_in_a_line_and_the_report_is_not_complete(bench):
    _, report = await reported(bench)

    assert status(report)["Who founded Circus Diablo?"] == "answered"
    assert status(report)["When was The Exies formed?"] == "answered"
    assert status(report)["Who founded The Exies?"] == "not_found"
    assert report.grade == "partial"
    assert any(line.startswith("Who founded The Exies: ") for line in report.grade_reasons)
    assert "Who founded The Exies: nothing to the point was found." in report.markdown.split("## ")[0]


async def test_claims_that_no_words_carry_are_not_supported_whatever_a_judge_says(bench):
    def credulous(request):
        given = request.given
        if isinstance(given, StanceInput):
            return {"rows": [{"number": pair.number, "stance": "supports"} for pair in given.pairs]}
        return {"rows": [{"number": one.number, "verdict": "supported"} for one in given.sentences]}

    _, report = await reported(bench, verifier=lambda request: json.dumps(credulous(request)))

    verdicts = {claim.text: claim.verdict for claim in report.claims}
    assert verdicts["Bill Clinton founded The Exies."] == "insufficient"
    assert verdicts["Stewart F. Lane and Bonnie Comley founded Circus Diablo in 2013."] in {"insufficient", "qualified"}


async def test_a_statement_that_its_sentences_do_not_carry_is_replaced_by_the_words_themselves(bench):
    lying = pointing(
        lambda fact: fact.model_copy(update={"statement": "The Exies were founded by Bill Clinton in 2001."})
    )
    _, report = await reported(bench, lying)

    assert "Bill Clinton" not in report.markdown.split("## Claims")[0]
    assert "formed in 1997" in report.markdown


async def test_numbers_that_point_nowhere_leave_what_code_sees_to_be_an_answer(bench):
    _, report = await reported(bench, pointing(lambda fact: fact.model_copy(update={"sentences": (4711,)})))

    assert cited(report) == {"The Exies", "Circus Diablo"}
    assert status(report)["When was Circus Diablo formed?"] == "answered"


async def test_an_empty_list_is_no_loss_where_code_sees_the_answer(bench):
    _, report = await reported(bench, lambda request: '{"facts": []}')

    assert "1997" in report.markdown
    assert "2006" in report.markdown


async def test_prose_in_the_place_of_numbers_ends_in_an_honest_report(bench):
    _, report = await reported(bench, lambda request: "The Exies were founded by Bill Clinton, as everybody knows.")

    assert "everybody knows" not in report.model_dump_json()
    assert report.grade != "complete"


async def test_what_unusable_answers_took_is_in_the_books_and_told(bench):
    work, _ = await reported(bench, lambda request: "The Exies were founded by Bill Clinton, as everybody knows.")

    told = [one.event for one in work.last.events if isinstance(one.event, RoleAsked)]
    assert work.last.budget.spent.calls == len(work.model.asked)
    assert sum(event.usage.tokens for event in told) == work.last.budget.spent.tokens
    assert {event.role for event in told if event.failed} == {"extractor"}


async def test_the_same_fact_ten_times_is_one_fact(bench):
    def repeating(request):
        found = Worker()(request)
        return found.model_copy(update={"facts": (found.facts[0],) * 10})

    work, report = await reported(bench, repeating)

    quotes = [quote.fact_id for reference in report.references for quote in reference.quotes]
    assert len(quotes) == len(set(quotes))


async def test_a_section_with_foreign_numbers_and_uncited_sentences_cites_what_carries_it(bench):
    worker = Worker()

    def careless(request):
        if not isinstance(request.given, SectionInput):
            return worker(request)
        facts = request.given.facts
        text = " ".join(
            f"{fact.statement}[f{99 if number % 2 else facts[-1].number}]" for number, fact in enumerate(facts)
        )
        return f'{{"markdown": {json.dumps(text)}}}'

    _, report = await reported(bench, synthesizer=careless)

    stating = [sentence for sentence in report.sentences if sentence.verdict is not None and sentence.citations]
    assert stating
    assert {sentence.verdict for sentence in stating} == {"supported"}


async def test_one_slot_is_enough_and_few_calls_are_made(bench):
    work = bench(working_model({QUESTION: PLAN}), searcher=ScriptedSearcher(BANDS), per_job=1)
    await work.run(BRIEF)

    roles = [request.role for request in work.model.asked]
    assert len(roles) <= 14
    read = [one.title for r in work.model.asked if isinstance(r.given, ExtractionInput) for one in r.given.sources]
    assert "Stewart F. Lane" not in read or read.count("Stewart F. Lane") <= 2


async def test_where_only_other_subjects_are_found_nothing_is_found(bench):
    only_noise = {url: page for url, page in BANDS.items() if "clinton" in url or "lane" in url}
    work = bench(working_model({QUESTION: PLAN}), searcher=ScriptedSearcher(only_noise))
    report = build("a" * 32, await work.run(BRIEF), Actual(), engine="scripted", reasons=True)

    assert report.grade == "nothing_found"
    assert not report.references


async def test_a_plan_of_one_leaf_answers_what_it_asks_and_the_rest_is_graded_by_the_question_itself(bench):
    one = tree(leaf("Formation", "When was The Exies formed?"), claims=())
    work = bench(working_model({QUESTION: one}), searcher=ScriptedSearcher(BANDS))
    report = build("a" * 32, await work.run(BRIEF), Actual(), engine="scripted", reasons=True)

    assert "1997" in report.markdown
    assert report.grade == "partial", "who founded them was asked, and no leaf looked for it"


async def test_a_plan_that_stops_within_a_leaf_keeps_the_leaves_before_it(bench):
    whole = json.loads(PLAN.model_dump_json())
    text = json.dumps({**whole, "leaves": whole["leaves"][:1]})[:-2] + ', {"heading": "", "title": "Foun'
    work = bench(working_model(planner=lambda request: text), searcher=ScriptedSearcher(BANDS))
    report = build("a" * 32, await work.run(BRIEF), Actual(), engine="scripted", reasons=True)

    assert report.references
    assert report.grade != "complete"


def test_a_question_for_facts_about_what_it_names_is_told_from_one_that_wants_a_plan():
    assert asks_for_facts(QUESTION)
    assert asks_for_facts("When was the Treaty of Utrecht signed?")
    assert not asks_for_facts("How did rents in Vienna and Munich develop from 2015 to 2024, and what explains it?")
    assert not asks_for_facts("What do the figures of Kelwick show?")
    assert not asks_for_facts("Which methods restore seagrass in Tolven Bay best?")
    assert asks_for_facts(
        "Which of the two tornado outbreaks killed the most people?"
    )  # of which two, only the user knows
    assert not asks_for_facts("What do the figures of the two tornado outbreaks show?")


async def test_one_of_two_is_compared_though_the_model_points_at_one(bench):
    def half(request):
        found = Worker()(request)
        return found.model_copy(update={"facts": tuple(f for f in found.facts if f.sentences == (1,))[:1]})

    plan = tree(leaf("First", "Which band was formed first, The Exies or Circus Diablo?"), claims=())
    work = bench(working_model({QUESTION: plan}, extractor=half), searcher=ScriptedSearcher(BANDS))
    report = build("a" * 32, await work.run(BRIEF), Actual(), engine="scripted", reasons=True)

    assert cited(report) == {"The Exies", "Circus Diablo"}
    assert status(report)["Which band was formed first, The Exies or Circus Diablo?"] == "answered"


async def test_a_report_of_one_short_section_is_its_own_summary_and_nobody_is_asked_to_say_it_again(bench):
    asked = "When was The Exies formed?"
    one = BRIEF.model_copy(update={"question": asked, "queries": (QUERY.model_copy(update={"text": asked}),)})
    work = bench(working_model({asked: tree(leaf("Formation", asked), claims=())}), searcher=ScriptedSearcher(BANDS))
    report = build("a" * 32, await work.run(one), Actual(), engine="scripted", reasons=True)

    assert not [request for request in work.model.asked if request.role == "synthesizer" and request.gives is Frame]
    assert "1997" in report.markdown.split("## ")[0]
    assert report.markdown.split("## References")[0].count("formed in 1997") == 1


STEPS = {
    "https://ostrel.example/": ("Ostrel Lighthouse", "The Ostrel Lighthouse was designed by the engineer Maro Tesk."),
    "https://tesk.example/": ("Maro Tesk", "Maro Tesk was born in the town of Bellin in 1841."),
    "https://kell.example/": ("Kell Tower", "The Kell Tower was paid for by a brewer of Sarn."),
}


async def test_what_a_further_step_of_a_lookup_finds_stands_in_the_section_of_its_question(bench):
    asked = "In which town was the engineer who designed the Ostrel Lighthouse born?"
    one = BRIEF.model_copy(update={"question": asked, "queries": (QUERY.model_copy(update={"text": asked}),)})
    wanted = iter([("Maro Tesk: town born", "Sarn: engineer born")])

    def reflector(request):
        queries = next(wanted, ())
        return ReflectionResponse(sufficient=not queries, confidence=0.5, gaps=queries, new_queries=queries)

    plans = {asked: tree(leaf("Birth", asked), claims=())}
    means = Means(loop=LoopSettings(read_together=True))
    work = bench(working_model(plans, reflector=reflector), searcher=ScriptedSearcher(STEPS), means=means)
    outcome = await work.run(one)
    report = build("a" * 32, outcome, Actual(), engine="scripted", reasons=True)
    written = [request for request in work.model.asked if request.role == "synthesizer"]
    later = [part for part in outcome.findings[0].walk() if part.is_later]

    assert len(written) == 1  # one section, when all was read; nothing beside it
    assert cited(report) == {"Ostrel Lighthouse", "Maro Tesk"}
    assert "town of Bellin" in report.markdown.split("## ")[0]
    assert not any(part.facts or part.markdown for part in later)
    assert "Maro Tesk: town born" not in report.markdown.split("## References")[0]
    assert "1 new facts" in report.rounds_log[-1].delta
    assert status(report)[asked] == "answered"


async def test_a_lookup_that_found_one_fact_asks_no_writer_to_say_it_again(bench):
    asked = "When was Circus Diablo formed?"
    one = BRIEF.model_copy(update={"question": asked, "queries": (QUERY.model_copy(update={"text": asked}),)})
    only = {"https://diablo.example/": ("Circus Diablo", BANDS["https://diablo.example/"][1].split(" To date")[0])}
    plan = {asked: tree(leaf("Formation", asked), claims=())}
    work = bench(working_model(plan), searcher=ScriptedSearcher(only))
    report = build("a" * 32, await work.run(one), Actual(), engine="scripted", reasons=True)

    assert not [request for request in work.model.asked if request.role == "synthesizer"]
    assert "formed in early 2006" in report.markdown


async def test_what_a_model_points_at_nothing_in_is_quoted_by_code_and_the_report_says_so(bench):
    def blind(request):
        return Extraction(facts=())

    text = "How has the winter service of the Orvane ferry developed?"
    wide = FERRY.model_copy(update={"question": text, "queries": (FERRY.queries[0].model_copy(update={"text": text}),)})
    plan = {text: tree(leaf("Winters", "How did the winter service of the Orvane ferry develop?"), claims=())}
    work = bench(
        working_model(plan, extractor=blind),
        fallback=OfflineModel(),
        means=Means(loop=LoopSettings(read_together=True)),
    )
    outcome = await work.run(wide)
    report = build("a" * 32, outcome, Actual(), engine="scripted", reasons=True)

    assert "3.1 million" in report.markdown
    assert "#PATH_DECISION" in outcome.tags
    assert any(one.event.stood_in_for for one in work.last.events if isinstance(one.event, RoleAsked))


def test_a_plan_that_speaks_of_nothing_that_was_asked_gets_the_question_itself():
    asked = "Which methods restore seagrass in Tolven Bay best, and what do they cost?"
    given = PlanningInput(query=asked, survey=CorpusSurvey(), language="en", today="2026-11-28")
    beside = plan_of(tree(leaf("Introduction", "What is the scope of the study?")), given, MODES["standard"])
    good = tree(leaf("Methods", "Which techniques of seagrass restoration survive?"), leaf("Cost", "What did it cost?"))

    assert beside.root.leaves()[0].questions[0] == "Which methods restore seagrass in Tolven Bay best?"
    assert len(beside.root.leaves()) == 2
    assert len(plan_of(good, given, MODES["standard"]).root.leaves()) == 2


@pytest.mark.parametrize(
    "texts",
    [
        ("What is the formation year of The Exies?", "What is the founding member of Circus Diablo?"),
        ("Which band was formed first, The Exies or Circus Diablo?",),  # who founded them is left out
    ],
)
def test_a_message_that_asks_for_a_few_facts_is_one_query_in_its_own_words(texts):
    given = ScopingInput(message=QUESTION, today="2026-11-28", language="en")
    queries = tuple(UnheardQuery(text=text, feasible=True, reason="small", depth_estimate=1) for text in texts)
    turn = UnheardTurn(queries=queries, query_type="other", tier="simple", language="en")

    assert [query.text for query in settled(given, turn).queries] == [QUESTION]


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        ("The Exies were formed first, with Billy Morrison founding them.", "That is small enough as it is."),
        ("The Exies began in 1997.", "That is small enough as it is."),
        ("Two bands, one small question.", "Two bands, one small question."),
    ],
)
def test_a_manager_that_answers_out_of_its_memory_is_not_heard(reply, shown):
    given = ScopingInput(message=QUESTION, today="2026-11-28", language="en")
    query = UnheardQuery(text=QUESTION, feasible=True, reason="small", depth_estimate=1)
    turn = UnheardTurn(queries=(query,), query_type="other", tier="simple", language="en")
    talking = ScopingTurn(**turn.model_dump() | {"reply": reply})

    assert settled(given, talking).reply == shown


def test_a_message_is_one_query_where_a_part_of_it_leans_on_another():
    asked = "Which methods restore seagrass in Tolven Bay best, and what do they cost?"
    given = ScopingInput(message=asked, today="2026-11-28", language="en")
    one, two = (
        UnheardQuery(text=text, feasible=True, reason="small", depth_estimate=depth)
        for text, depth in (("Which methods restore seagrass best?", 1), ("What do these methods cost?", 2))
    )
    turn = UnheardTurn(queries=(one, two), query_type="other", tier="standard", language="en")

    (whole,) = settled(given, turn).queries
    assert whole.text == asked
    assert whole.depth_estimate == 2
    talking = ScopingTurn(**turn.model_dump() | {"reply": "The suggested_split field remains empty."})
    assert settled(given, talking).reply == "That is small enough as it is."
    apart = turn.model_copy(
        update={"queries": (one, one.model_copy(update={"text": "What do sods cost in Tolven Bay?"}))}
    )
    assert len(settled(given, apart).queries) == 2


async def test_the_line_above_a_sources_facts_is_no_prose(bench):
    def echoing(request):
        if isinstance(request.given, FrameInput):
            return Worker()(request)
        fact = request.given.facts[0]
        return Section(markdown=f"Source: {fact.source}\n{fact.statement} [f{fact.number}]")

    work = bench(working_model({QUESTION: PLAN}, synthesizer=echoing), searcher=ScriptedSearcher(BANDS))
    report = build("a" * 32, await work.run(BRIEF), Actual(), engine="scripted", reasons=True)

    assert "Source:" not in report.markdown.split("## References")[0]


def test_a_slow_model_gets_all_questions_in_fewer_leaves():
    plan = plan_of(
        PLAN, PlanningInput(query=QUESTION, survey=CorpusSurvey(), language="en", today="2026-11-28"), MODES["standard"]
    )
    contract = make_contract(BRIEF, (plan,), Means())
    slow = make_contract(BRIEF, (plan,), Means(), pace=PaceSeen(call_s=40.0))

    (one,) = slow.plans[0].root.leaves()
    assert set(one.questions) == {question for one in plan.root.leaves() for question in one.questions}
    assert {title for claim in slow.plans[0].claims for title in claim.leaves} == {one.title}
    assert any("slow" in line for line in slow.plans[0].assumptions)
    quick = make_contract(BRIEF, (plan,), Means(), pace=PaceSeen(call_s=2.0, at_once=6))
    assert quick.plans == contract.plans


async def test_a_job_without_a_talk_is_as_small_as_a_slow_model_needs_it(bench):
    work = bench(working_model({QUESTION: PLAN}), searcher=ScriptedSearcher(BANDS), pace=PaceSeen(call_s=40.0))
    outcome = await work.run(BRIEF)

    assert len(PLAN.leaves) > 1
    assert len(outcome.contract.plans[0].root.leaves()) == 1


async def test_a_plan_of_sweeps_alone_is_read_like_any_other(bench):
    sweeps = PLAN.model_copy(
        update={"leaves": tuple(one.model_copy(update={"discovery": True}) for one in PLAN.leaves)}
    )
    work = bench(working_model({QUESTION: sweeps}), searcher=ScriptedSearcher(BANDS))
    report = build("a" * 32, await work.run(BRIEF), Actual(), engine="scripted", reasons=True)

    assert not [request for request in work.model.asked if request.role == "scout"]
    assert cited(report) == {"The Exies", "Circus Diablo"}


EXIES, DIABLO = (
    NumberedFact(
        number=number, statement=text.split(". ")[0] + ".", quote=text.split(". ")[0] + ".", source=title,
        source_number=number, published=None, topic="",
    )
    for number, (title, text) in enumerate((BANDS["https://exies.example/"], BANDS["https://diablo.example/"]), start=1)
)  # fmt: skip


def written(markdown, shown=(EXIES, DIABLO), asked=()):
    facts = tuple(
        Fact(
            id=f"f{one.number}", source_id=f"s{one.number}", statement=one.statement, quote=one.quote, start=0,
            end=len(one.quote), confidence=0.9,
        )
        for one in shown
    )  # fmt: skip
    cards = tuple(
        SourceCard(
            id=f"s{one.number}", url=f"https://{one.number}.example/", title=one.source, kind="web", text_hash="a"
        )
        for one in shown
    )
    return Numbering(facts, cards).to_ids(markdown, asked)


def test_of_prose_without_a_mark_what_facts_carry_stays_with_its_marks_and_the_rest_goes():
    said = "The Exies were formed in 1997, while Circus Diablo was formed in early 2006."
    assert written(f"{said}\n\nThe Exies' lineup included Billy Morrison.") == f"{said}[#f1][#f2]"
    assert written("The Exies was formed in 2006 by Billy Morrison. Circus Diablo was formed in early 2006.") == (
        "Circus Diablo was formed in early 2006.[#f2]"
    )


@pytest.mark.parametrize(
    ("sentence", "mixed"),
    [
        ("The Exies were formed in 1997, while Circus Diablo was formed in early 2006.", False),
        ("Circus Diablo was formed in 2006, nine years after The Exies in 1997.", False),
        ("The Exies and Circus Diablo are American rock bands.", False),
        ("The Exies was formed in 2006.", True),
        ("The Exies were founded by Billy Morrison.", True),
        ("Circus Diablo was formed in Los Angeles.", True),
    ],
)
def test_what_is_said_of_one_is_not_given_to_another_though_both_are_cited(sentence, mixed):
    sources = [(one.quote, one.source) for one in (EXIES, DIABLO)]
    assert mixes(sentence, sources) is mixed


def test_a_nationality_of_one_is_not_given_to_another_that_is_named_before_it():
    sources = [
        ("The Woman's Viewpoint was a magazine founded in Texas in 1923.", "Woman's Viewpoint (magazine)"),
        ("Pick Me Up! is a British weekly magazine.", "Pick Me Up (magazine)"),
    ]

    assert mixes("The Woman's Viewpoint was founded in Texas and is British, as is Pick Me Up.", sources)
    assert not mixes("The Woman's Viewpoint was founded in Texas, while Pick Me Up is British.", sources)


def test_which_of_two_it_is_must_be_true_of_the_one():
    sources = [
        ("Nick Orvane is an American singer.", "Nick Orvane"),
        ("Mark Tesk is an English musician.", "Mark Tesk"),
    ]

    assert mixes("The singer who is American, Mark Tesk or Nick Orvane, is Mark Tesk.", sources)
    assert not mixes("The singer who is American, Mark Tesk or Nick Orvane, is Nick Orvane.", sources)


WATERTOWN = NumberedFact(
    number=1, statement="Watertown International Airport is a public airport in Jefferson County.",
    quote="Watertown International Airport is a public airport in Jefferson County.", source="Watertown International Airport",
    source_number=1,
)  # fmt: skip
ALEXANDRIA = NumberedFact(
    number=2, statement="The airport is operated by the England Authority.",
    quote="Alexandria International Airport lies in Louisiana. The airport is operated by the England Authority.",
    source="Alexandria International Airport", source_number=2,
)  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second", "stays"),
    [
        ("Watertown International Airport is a public airport in Jefferson County.", "The airport is operated by the England Authority.", False),
        ("Alexandria International Airport lies in Louisiana.", "The airport is operated by the England Authority.", True),
        ("Watertown International Airport is a public airport in Jefferson County.", "It is operated by the England Authority.", False),
    ],
)  # fmt: skip
def test_what_goes_on_about_the_thing_before_it_is_not_carried_by_words_on_another(first, second, stays):
    prose = written(f"{first} {second}", (WATERTOWN, ALEXANDRIA))

    assert (second in prose) is stays


def test_he_is_nobody_whose_names_stand_apart_in_the_source():
    king = ("Warrior King (born Mark Dyer) is known for reggae music.", "Warrior King (musician)")

    assert misplaced("He is known for reggae music.", "Mark King is an English musician.", [king])
    assert not misplaced(
        "He is a singer.", "Mark King is an English musician.", [("Mark King is a singer.", "Mark King")]
    )


def test_a_writer_that_copies_what_its_section_must_settle_has_said_nothing():
    title = "England Authority: the airport"
    said = "The airport is operated by the England Authority."

    prose = written(f"It must settle:\n\n{title}\n\n{said}", (ALEXANDRIA,), (title,))

    assert prose == f"{said}[#f2]"


async def test_prose_that_runs_on_to_its_limit_and_cites_nothing_is_not_asked_for_again(bench):
    def endless(request):
        return Reply(
            text='{"markdown": "The band is a band. The band is a',
            usage=Usage(calls=1),
            finish_reason="length",
            model="m",
        )

    work, report = await reported(bench, synthesizer=endless)

    asked = [request.given.title for request in work.model.asked if isinstance(request.given, SectionInput)]
    assert len(asked) == len(set(asked))
    assert "1997" in report.markdown
    assert "is a band" not in report.markdown


def test_what_is_shortened_never_ends_within_a_figure():
    text = "The Exies were an American rock band from Los Angeles, California, formed in 1997 and known for much."
    for longest in range(20, len(text)):
        assert {*re.findall(r"\d+", summarised(text, longest))} <= {"1997"}


def test_of_documents_that_are_called_alike_the_one_that_speaks_of_the_question_counts():
    question = "If Gallu is a demon Lilu is what?"
    rows = [
        Told(
            "f1",
            "A lilu is a masculine Akkadian word for a spirit, related to a demon.",
            "Lilu (mythology)",
            "",
            question,
        ),
        Told("f2", "Lilu was a legendary tribe of ancient China.", "Lilu (ancient China)", "", question),
        Told("f3", "It is associated with other demons like Gallu and Lilu.", "Alû", "", question),
    ]
    assert beside_the_point((question,), rows) == {"f2"}


async def test_of_what_a_model_points_at_for_a_fact_that_goes_to_which_a_passage_comes_clearly_nearer(bench):
    asked = "How many hens may be kept at Willow Lane?"
    rules = (
        "Willow Lane: rules",
        "A plot measures 200 square metres on average.\n\nUp to six hens may live on each plot, and no cockerels.",
    )

    def first_sentence(request):
        found = Worker()(request)
        return found.model_copy(update={"facts": found.facts[:1]})

    plan = tree(leaf("Hens", asked))
    query = Query(text=asked, feasible=True, reason="small", depth_estimate=1)
    work = bench(
        working_model({asked: plan}, extractor=first_sentence),
        searcher=ScriptedSearcher({"https://rules.example/": rules}),
        means=Means(loop=LoopSettings(read_together=True)),
    )
    outcome = await work.run(Brief(question=asked, queries=(query,), today="2026-11-28"))
    report = build("a" * 32, outcome, Actual(), engine="scripted", reasons=True)

    cited = " ".join(quote.text for one in report.references for quote in one.quotes)
    assert "200 square metres" not in cited
    assert "six hens" in report.markdown
