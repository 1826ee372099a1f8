"""Questions several steps away: what they are about, which names lead on, what is read and quoted for them."""

import json
from pathlib import Path

import pytest

from agents.contracts.fact import ExtractionInput, NumberedSentence, ShownSource
from agents.contracts.finding import NumberedFact, SectionInput
from agents.contracts.plan import ReflectionInput
from agents.contracts.sources import Hit
from agents.offline.extractor import extract
from agents.offline.judgements import all_are_silent, reflect
from agents.offline.questions import (
    about,
    is_called,
    is_linked,
    is_single_fact,
    names_held,
    parts_of,
    questions,
    stems_of,
)
from agents.offline.report_writer import write_section
from agents.research.reading.answering import Told, answer_of
from agents.search.index import reranked

ROWS = Path(__file__).resolve().parent.parent / "data" / "scoping.jsonl"
CHAIN = "In which town was the engineer who designed the Ostrel Lighthouse born?"


def test_of_the_labelled_questions_the_lookups_alone_ask_for_one_fact() -> None:
    rows = [json.loads(line) for line in ROWS.read_text("utf-8").splitlines() if line]

    assert [row["id"] for row in rows if is_single_fact(row["question"])] == [
        row["id"] for row in rows if row["expect"] == "lookup"
    ]


def test_a_question_that_goes_by_way_of_something_else_is_told_from_a_plain_one() -> None:
    assert is_linked(CHAIN)
    assert not is_linked("In which year was the Ostrel Lighthouse lit?")


def test_a_word_of_origin_is_nothing_that_a_question_turns_on() -> None:
    asked = "Which Danish band recorded Harbour Songs?"

    assert about(asked).names == about("Which band recorded Harbour Songs?").names


def test_a_document_is_called_as_the_subject_or_names_it_or_neither() -> None:
    subject = about(CHAIN)

    assert is_called(subject, "Ostrel Lighthouse (tower)")
    assert not is_called(subject, "Towers")
    assert names_held(subject, stems_of("The Ostrel Lighthouse is tall."))
    assert not names_held(subject, stems_of("An engineer was born in a town."))


def test_an_initial_or_a_title_of_a_person_ends_no_question() -> None:
    assert len(questions("In what county is the city where Harris W. Fawell was born?")) == 1
    assert len(questions("What is the birthplace of the man who drew Mr. Cool?")) == 1


def reflected(*statements: str, dispatched: tuple[str, ...] = (CHAIN,)) -> tuple[str, ...]:
    given = ReflectionInput(
        query=CHAIN,
        objective=CHAIN,
        questions=(CHAIN,),
        statements=statements,
        missing=(f"“{CHAIN}” is answered by 1 of 2 independent sources.",),
        dispatched=dispatched,
        round=1,
        max_rounds=3,
    )
    return reflect(given).new_queries


def test_a_name_that_was_found_is_followed_with_what_is_still_open() -> None:
    statement = "The Ostrel Lighthouse was designed by the engineer Maro Tesk. [Ostrel Lighthouse]"

    assert reflected(statement) == ("Maro Tesk: town born",)


def test_a_name_that_was_followed_is_not_followed_again() -> None:
    statement = "The Ostrel Lighthouse was designed by the engineer Maro Tesk. [Ostrel Lighthouse]"

    assert not reflected(statement, dispatched=(CHAIN, "Maro Tesk: town born"))


def test_neither_a_nationality_nor_the_letters_of_an_order_are_a_next_step() -> None:
    statement = "The Ostrel Lighthouse was designed by Maro Tesk, O.F.M., then a Dutch engineer. [Ostrel Lighthouse]"

    assert reflected(statement) == ("Maro Tesk: town born",)


def test_of_two_the_nationality_of_each_tells_which_is_of_the_one_that_is_asked_for() -> None:
    (part,) = parts_of("Which singer is American, Mark Tesk or Nick Orvane?")
    rows = [
        Told("f1", "Nick Orvane is an American singer and songwriter.", "Nick Orvane", ""),
        Told("f2", "Mark Tesk is an English musician.", "Mark Tesk", ""),
    ]

    assert answer_of(part, rows)[0] == "answered"
    assert answer_of(part, rows[:1])[0] == "partly"


BANDS = "Which band was formed first, The Ostrels or Circus Tesk, and who founded each of them?"


@pytest.mark.parametrize(
    ("query", "titles", "silent"),
    [
        (BANDS, ("The Ostrels", "Circus Tesk"), True),
        (BANDS, ("The Ostrels", "Maro Tesk"), False),
        (CHAIN, ("Ostrel Lighthouse",), False),
        ("Which plant is larger, the Ostrel or the Tesk?", ("Ostrel", "Tesk"), True),
        ("Which plant is larger, the Ostrel or the Tesk?", ("Ostrel", "Tesk maritima"), False),
        ("Who is the wife of the founder of The Ostrels, and who is that of Circus Tesk?", ("The Ostrels", "Circus Tesk"), False),
    ],
)  # fmt: skip
def test_what_the_own_documents_of_all_things_leave_out_is_looked_for_nowhere_else(query, titles, silent) -> None:
    given = ReflectionInput(
        query=query, objective=query, questions=(query,), statements=tuple(f"It was formed in 1997. [{one}]" for one in titles),
        missing=("Who founded it is answered by nothing.",), dispatched=(query,), round=1, max_rounds=3,
    )  # fmt: skip
    assert all_are_silent(given) is silent
    assert not (silent and reflect(given).new_queries)


def extracted(title: str, *sentences: str, question: str = CHAIN) -> list[str]:
    given = ExtractionInput(
        objective=question,
        questions=(question,),
        language="en",
        today="2026-01-15",
        sources=(
            ShownSource(
                title=title,
                sentences=tuple(NumberedSentence(number=at, text=text) for at, text in enumerate(sentences, start=1)),
            ),
        ),
        max_facts=5,
    )
    return [fact.statement for fact in extract(given).facts]


def test_what_is_said_of_the_subject_is_kept_although_the_answer_is_a_step_away() -> None:
    opening = "The Ostrel Lighthouse is a stone tower on Verrin Island."
    leaning = "It was designed by the engineer Maro Tesk and first lit in 1874."

    assert extracted("Ostrel Lighthouse", opening, leaning) == [f"{opening} {leaning}"]


def test_a_source_without_the_name_of_a_further_step_gives_nothing() -> None:
    assert not extracted("Engineers", "The engineer was born in the town of Bellin.", question="Maro Tesk: town born")


def fact(number: int, title: str, quote: str) -> NumberedFact:
    return NumberedFact(number=number, statement=quote, quote=quote, source=title, source_number=number)


def section(*facts: NumberedFact) -> str:
    asked = "In which year was the Bellin Lighthouse first lit?"
    return write_section(
        SectionInput(query=asked, title="Lit", objective=asked, questions=(asked,), facts=facts, language="en")
    ).markdown


def test_a_further_step_is_told_in_the_section_of_its_question_by_what_is_about_its_name() -> None:
    step = "Maro Tesk: town born"
    facts = (
        fact(1, "Bellin Lighthouse", "The Bellin Lighthouse was designed by Maro Tesk and first lit in 1902."),
        fact(2, "Maro Tesk", "Maro Tesk was born in the town of Sarn.").model_copy(update={"topic": step}),
        fact(3, "Sarn", "The town of Sarn has a harbour.").model_copy(update={"topic": step}),
    )
    written = section(*facts)

    assert written.index("[f1]") < written.index("[f2]")
    assert "[f3]" not in written


def test_documents_named_for_the_subject_are_quoted_and_those_beside_it_are_not() -> None:
    written = section(
        fact(1, "Bellin Lighthouse", "The Bellin Lighthouse was first lit in 1902."),
        fact(2, "Ostrel Lighthouse", "The Ostrel Lighthouse was first lit in 1874."),
        fact(3, "Towers", "A lighthouse is first lit in the year after it is built."),
    )

    assert "[f1]" in written
    assert "[f2]" not in written
    assert "[f3]" not in written


def test_another_figure_for_the_subject_is_quoted_wherever_it_stands() -> None:
    written = section(
        fact(1, "Bellin Lighthouse", "The Bellin Lighthouse had cost 1,200 crowns when it was first lit in 1902."),
        fact(2, "Towers", "The Bellin Lighthouse had cost 1,900 crowns when it was first lit in 1902."),
        fact(3, "Ferries", "The first ferry of the year was lit."),
    )

    assert "[f1]" in written
    assert "[f2]" in written


def test_documents_that_a_search_names_come_first() -> None:
    found = [
        Hit(url="a", title="Lights of the coast", score=3.0),
        Hit(url="b", title="Maro Tesk (engineer)", score=2.5),
    ]

    assert [one.url for one in reranked("Maro Tesk: town born", found)] == ["b", "a"]
    assert [one.url for one in reranked("Maro: town born", found)] == ["a", "b"]
