"""What a model takes and what it does not: compaction before a call, shrinking after an overflow, writing in parts."""

import asyncio
import json
import re

import pytest

from agents.contracts.fact import ExtractionInput, NumberedSentence, ShownSource
from agents.contracts.finding import NumberedFact, Section, SectionInput
from agents.contracts.plan import ReflectionInput
from agents.core.budget import Deadline
from agents.core.errors import ModelError
from agents.core.events import RoleAsked
from agents.core.prompts import load
from agents.core.role import AskContext, estimated_tokens
from agents.llm.litellm_errors import classify
from agents.nlp.tokens import content_words
from agents.research.fit_input import (
    STATE_TOKENS,
    TRIES,
    WRITER_TOKENS,
    Rooms,
    ask_fitting,
    compacted,
    size_of,
    summarised,
)
from agents.roles import EXTRACTOR, SECTION_WRITER
from agents.run_research import run_research
from tests.conftest import DATA
from tests.flat import NAMES, TASK, FlatWorker, scripted
from tests.research.conftest import team_on_scripts
from tests.scripted_model import ScriptedModel
from tests.scripted_search import ScriptedSearcher

ROWS = [
    json.loads(line) for line in (DATA / "cases" / "C09" / "overflow_messages.jsonl").read_text("utf-8").splitlines()
]
LIMIT = 6_000
"""Tokens that the small model of case C09 takes."""


def overflow(sent, limit=LIMIT):
    return ModelError(
        f"maximum context length is {limit} tokens but {sent} were requested", fault="overflow", notice="too long"
    )


def section_of(count, words=40):
    facts = tuple(
        NumberedFact(
            number=number, statement=f"Statement {number} " + "about the ferry and its winter " * (words // 6),
            quote=f"Quote {number} " + "of the annual report of the board " * (words // 6), source=f"Report {number % 7}",
            source_number=number % 7 + 1,
        )
        for number in range(1, count + 1)
    )  # fmt: skip
    return SectionInput(query="q", title="t", objective="o", questions=("q?",), facts=facts, language="en")


class Small(ScriptedModel):
    """A model that takes no more than so many tokens, and does its work where it does."""

    def __init__(self, answer, limit=LIMIT):
        super().__init__(by_role=dict.fromkeys(NAMES, self._within))
        self.answer, self.limit, self.sent = answer, limit, []

    def _within(self, request):
        size = sum(estimated_tokens(message.content) for message in request.messages)
        self.sent.append((request.role, size, request.messages[1].content))
        return overflow(size, self.limit) if size > self.limit else self.answer(request)

    @property
    def refused(self):
        return [one for one in self.sent if one[1] > self.limit]


def run(model, role):
    return AskContext({role.name: model}, load(), Deadline())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["message"][:40])
def test_c09_an_overflow_is_known_in_every_wording_and_nothing_else_is_taken_for_one(row):
    """Case C09."""
    names = ["RateLimitError" if row["status"] == 429 else "BadRequestError"]
    assert (classify(names, row["status"], row["message"]) == "overflow") is row["overflow"]


@pytest.mark.parametrize("row", [row for row in ROWS if row["overflow"]], ids=lambda row: row["message"][:40])
async def test_c09_after_an_overflow_less_is_sent_three_times_at_most_and_never_the_same(row):
    """Case C09: a smaller request each time, then a typed error."""
    model = ScriptedModel(*[ModelError(row["message"], fault="overflow", notice="too long") for _ in range(9)])
    with pytest.raises(ModelError, match=re.escape(row["message"])):
        await ask_fitting(SECTION_WRITER, section_of(40), run(model, SECTION_WRITER), Rooms())
    sizes = [len(request.messages[1].content) for request in model.asked]
    assert len(sizes) == TRIES
    assert sizes == sorted(set(sizes), reverse=True)


async def test_c09_other_failures_are_not_met_with_less():
    model = ScriptedModel(ModelError("rate limit", fault="rate", notice="slow down"))
    with pytest.raises(ModelError):
        await ask_fitting(SECTION_WRITER, section_of(40), run(model, SECTION_WRITER), Rooms())
    assert len(model.asked) == 1


async def test_c09_what_a_model_takes_is_remembered_for_the_job():
    model = Small(lambda request: Section(markdown="It was closed.[f1]"))
    rooms = Rooms()
    first = await ask_fitting(SECTION_WRITER, section_of(60, words=90), run(model, SECTION_WRITER), rooms)
    assert first.compacted
    before = len(model.refused)
    second = await ask_fitting(SECTION_WRITER, section_of(61, words=90), run(model, SECTION_WRITER), rooms)
    assert second.compacted
    assert len(model.refused) == before, "the limit was found out twice"


def test_compaction_loses_no_fact_number_and_no_source():
    """Specification, section 12; S1 9: handles are kept."""
    given = section_of(60)
    small = compacted(given, size_of(given) // 3)
    assert size_of(small) < size_of(given) * 0.6
    assert [fact.number for fact in small.facts] == [fact.number for fact in given.facts]
    assert [fact.source for fact in small.facts] == [fact.source for fact in given.facts]
    assert all(short.quote[:20] == long.quote[:20] for short, long in zip(small.facts, given.facts, strict=True))
    assert (small.query, small.questions, small.language) == (given.query, given.questions, given.language)


def test_a_report_that_is_too_long_for_its_judge_is_cut_to_what_speaks_to_the_question():
    from agents.contracts.verification import JudgeInput

    told = "The ferry was closed for 12 days.[1]"
    report = " ".join(f"Note {n} on gardening." for n in range(4000)) + f" {told}"
    given = JudgeInput(
        question="How long was the ferry closed?", report=report, claims=(), shortfalls=(), unsupported=()
    )
    small = compacted(given, 2000)
    assert size_of(small) <= 2000
    assert told in small.report and small.question == given.question


def test_compaction_keeps_every_citation_of_long_prose():
    from agents.contracts.finding import LeadInput

    prose = " ".join(f"The line was closed on {n} days in that winter.[f{n}]" for n in range(1, 200))
    given = LeadInput(
        query="q", title="t", objective="o", sections=(prose,), facts=section_of(199, words=6).facts, language="en"
    )
    small = compacted(given, size_of(given) // 2)
    assert len(small.sections[0]) < len(prose)
    assert set(re.findall(r"\[f\d+\]", small.sections[0])) == set(re.findall(r"\[f\d+\]", prose))


def test_compaction_keeps_the_sentences_that_say_what_is_asked_wherever_they_stand():
    """Specification, section 12: what there is no room for is summarised, not cut off at a length."""
    beside = " ".join(
        f"The harbour office on the quay was painted again in spring by crew {at}.[f2]" for at in range(1, 9)
    )
    told = f"{beside} The ferry was closed for 12 days in the winter of 1987.[f1] {beside}"

    said = summarised(told, 300, frozenset(content_words("How many days was the ferry closed?")))

    assert "The ferry was closed for 12 days in the winter of 1987.[f1]" in said
    assert len(said) <= 320
    assert "[f2]" in said


def test_compaction_keeps_the_passages_that_speak_to_the_questions():
    sentences = tuple(
        NumberedSentence(number=n, text="The ferry was closed on 41 days." if n == 150 else f"Note {n} on gardening.")
        for n in range(1, 301)
    )
    given = ExtractionInput(
        objective="Closures", questions=("On how many days was the ferry closed?",), language="en",
        sources=(ShownSource(title="t", sentences=sentences),), max_facts=5, expected_format="", acceptance_criteria=(), rubric="", discovery_intense=False,
    )  # fmt: skip
    (small,) = compacted(given, 600).sources
    assert len(small.sentences) < 100
    assert 150 in [sentence.number for sentence in small.sentences]
    assert small.sentences[0].number == 1, "the opening says what the source is"


def test_what_fits_is_left_alone():
    given = section_of(3)
    assert compacted(given, STATE_TOKENS) is given


async def test_a_state_above_fifty_thousand_tokens_is_compacted():
    """S1 9.1; specification, section 12, second trigger."""
    given = ReflectionInput(
        query="q", objective="o", questions=("q?",), statements=tuple(f"Statement {n} " + "word " * 100 for n in range(900)),
        missing=(), dispatched=("a topic",), round=1, max_rounds=3,
    )  # fmt: skip
    assert size_of(given) > STATE_TOKENS
    from agents.contracts.plan import ReflectionResponse
    from agents.roles import REFLECTOR

    model = ScriptedModel(ReflectionResponse(sufficient=True, confidence=1, gaps=(), new_queries=()))
    asked = await ask_fitting(REFLECTOR, given, run(model, REFLECTOR), Rooms())
    assert asked.compacted == "the state is large"
    assert size_of(model.asked[0].given) <= STATE_TOKENS
    assert len(model.asked[0].given.statements) == 900


async def test_room_is_made_before_each_synthesis_call():
    """S1 9.1; specification, section 12, third trigger."""
    model = ScriptedModel(Section(markdown="It was closed.[f1]"))
    asked = await ask_fitting(SECTION_WRITER, section_of(200, words=90), run(model, SECTION_WRITER), Rooms())
    assert asked.compacted == "room for writing"
    assert size_of(model.asked[0].given) <= WRITER_TOKENS


LONG = {
    f"https://s{n}.example/": (
        f"Winter {n}",
        " ".join(
            f"In the winter of {1600 + i} the Orvane ferry line {n} was closed on {i + n} days and cost {i * n + 3} crowns."
            for i in range(280)
        ),
    )
    for n in range(1, 7)
}


@pytest.fixture(scope="module")
def with_room(tmp_path_factory):
    """The answer and the job of the same question with room for everything, which others are compared with."""

    async def answered():
        team = team_on_scripts(tmp_path_factory.mktemp("room"), searcher=ScriptedSearcher(LONG))
        told = await run_research(TASK, team=team, complexity_tier="standard")
        await team.close()
        return told, team.jobs.get(told.metadata.job_id, "")

    return asyncio.run(answered())


async def test_c09_a_small_model_still_writes_a_report_in_which_every_source_is_kept(with_room, asking):
    """Case C09: a stub that refuses above 6,000 tokens; nothing that was read is lost."""
    model = Small(FlatWorker(), limit=LIMIT)
    told, team = await asking(model, searcher=ScriptedSearcher(LONG), complexity_tier="standard")
    assert model.refused, "the case did not happen"
    prompts = [text for _, _, text in model.sent]
    assert len(prompts) == len(set(prompts)), "the same input was sent again"
    assert told.metadata.grade in {"complete", "partial"}
    report = team.jobs.get(told.metadata.job_id, "").report
    for reference in report.references:
        for quote in reference.quotes:
            assert quote.text in LONG[reference.url][1]
    plain = with_room[1].report
    assert {reference.url for reference in report.references} == {reference.url for reference in plain.references}
    assert [claim.text for claim in report.claims] == [claim.text for claim in plain.claims]
    assert len(report.methodology.sources_rejected) == len(plain.methodology.sources_rejected)


async def test_c09_a_section_too_long_in_any_form_is_written_in_parts(asking):
    """Nothing is lost at synthesis after all the reading was paid for: parts are written, and hold the facts of both."""

    def writes(request):
        if isinstance(request.given, SectionInput) and len(request.given.facts) > 4:
            return overflow(9_000)
        return FlatWorker()(request)

    model = ScriptedModel(by_role=dict.fromkeys(NAMES, writes))
    told, team = await asking(model, searcher=ScriptedSearcher(LONG), complexity_tier="standard")
    events = [one.event for one in team.jobs.get(told.metadata.job_id, "").run.events]
    assert told.metadata.grade in {"complete", "partial"}
    assert told.sources
    parts = [r.given for r in model.asked if isinstance(r.given, SectionInput) and len(r.given.facts) <= 4]
    whole = [r.given for r in model.asked if isinstance(r.given, SectionInput) and len(r.given.facts) > 4]
    numbers = {(part.title, fact.number) for part in parts for fact in part.facts}
    assert {(one.title, fact.number) for one in whole for fact in one.facts} == numbers, "a fact was in no part"
    assert events


async def test_c09_a_part_that_cannot_be_written_is_there_in_its_quotes(bench):
    """The completeness check of writing in parts."""
    desk_of = bench()
    desk_of.handlers()
    given = section_of(2, words=12)

    def only_the_first(request):
        return (
            Section(markdown="The first.[f1]")
            if request.given.facts[0].number == 1 and len(request.given.facts) == 1
            else overflow(9_000)
        )

    desk_of.context.models = {"synthesizer": ScriptedModel(by_role={"synthesizer": only_the_first})}
    asked = await desk_of.context.ask(SECTION_WRITER, given, Deadline())
    assert "The first.[f1]" in asked.output.markdown
    assert f"“{given.facts[1].quote.strip()}” [f2]" in asked.output.markdown


def test_extractor_inputs_count_as_inputs():
    assert EXTRACTOR.takes is ExtractionInput


def compactions(job):
    events = [one.event for one in job.run.events]
    return {event.compacted for event in events if isinstance(event, RoleAsked) and event.compacted}


async def test_s1_15_1_force_token_budget_exhaustion_and_compaction_is_triggered(with_room, asking):
    """S1 15.1: force token budget exhaustion, verify compaction triggered. Through `run_research()`."""
    told, team = await asking(
        searcher=ScriptedSearcher(LONG),
        settings={"token_budget": 22_000, "max_concurrency": 1},
        complexity_tier="standard",
    )
    assert "less than a quarter of the tokens is left" in compactions(team.jobs.get(told.metadata.job_id, ""))
    assert told.final_answer
    assert told.sources

    assert "less than a quarter of the tokens is left" not in compactions(with_room[1])


async def test_a_writer_is_shown_as_many_results_as_the_setting_says_and_the_rest_is_kept(asking):
    """Specification, section 12: the N most useful results; N is a setting."""
    from agents.contracts.finding import FrameInput

    few = scripted()
    told, team = await asking(few, searcher=ScriptedSearcher(LONG), settings={"context_results": 5})
    shown = [len(one.given.facts) for one in few.asked if isinstance(one.given, SectionInput)]
    assert shown
    assert max(shown) == 5
    assert max(len(one.given.facts) for one in few.asked if isinstance(one.given, FrameInput)) >= 1
    report = team.jobs.get(told.metadata.job_id, "").report
    assert report.references


def test_the_reflector_is_told_of_what_it_is_not_shown():
    """Older results become handles: where they are from, and how many."""
    from agents.contracts.fact import Fact
    from agents.contracts.finding import Finding
    from agents.contracts.frozen import digest
    from agents.contracts.sources import Source, SourceCard
    from agents.research.loop.loop_decision import MAX_STATEMENTS, statements_of

    text = " ".join(f"Sentence {n}." for n in range(200))
    card = SourceCard.of(
        Source(
            id="s1",
            url="https://a.example/",
            title="Yearbook",
            kind="web",
            text=text,
            text_hash=digest(text),
            language="en",
        )
    )
    facts = tuple(
        Fact(
            id=f"f{n}",
            source_id="s1",
            statement=f"Sentence {n}.",
            quote=f"Sentence {n}.",
            start=text.find(f"Sentence {n}."),
            end=text.find(f"Sentence {n}.") + len(f"Sentence {n}."),
            confidence=0.5,
            topic="t",
        )
        for n in range(100)
    )
    lines = statements_of(
        (Finding(path="job/0/0", title="t", role="leaf", status="done", facts=facts, sources=(card,)),)
    )
    assert len(lines) == MAX_STATEMENTS + 1
    assert lines[-1] == f"{100 - MAX_STATEMENTS} more, not shown [Yearbook]"
