"""From what an extractor pointed at to words that stand in the source."""

import pytest

from agents.contracts.fact import PointedFact
from agents.contracts.frozen import digest
from agents.contracts.sources import Source
from agents.nlp.lang import spans
from agents.research.reading.hold_extraction import fact_of

TEXT = (
    "The line closed on 12 days in 2023. It had closed on 41 days before. The board’s limit — 18 cm — is old. "
    "Nobody expected that. The rule will change in 2025."
)
SOURCE = Source(id="s1", url="https://a.example/", title="A", kind="web", text=TEXT, text_hash=digest(TEXT))


def fact(numbers=(), quote="", statement="said"):
    pointed = PointedFact(sentences=numbers, quote=quote, statement=statement, question=1, sure=0.9)
    return fact_of(pointed, SOURCE, spans(TEXT), "topic")


def test_a_number_points_at_the_very_words():
    assert fact((1,)).quote == "The line closed on 12 days in 2023."


def test_neighbouring_sentences_make_one_quote():
    assert fact((1, 2)).quote == "The line closed on 12 days in 2023. It had closed on 41 days before."


def test_far_apart_sentences_do_not_drag_in_what_stands_between():
    assert fact((1, 5)).quote == "The line closed on 12 days in 2023."


@pytest.mark.parametrize("numbers", [(), (0,), (99,), (-1,)])
def test_a_number_that_does_not_exist_is_no_fact(numbers):
    assert fact(numbers) is None


def test_words_are_found_whatever_the_quotation_marks_and_dashes():
    assert fact(quote="The board's limit - 18 cm - is old.").quote == "The board’s limit — 18 cm — is old."


def test_words_that_are_almost_there_are_replaced_by_the_sources_own():
    assert (
        fact(quote="The rule will be changed in 2025.") is None
        or fact(quote="The rule wil change in 2025.").quote == "The rule will change in 2025."
    )


def test_a_figure_is_never_a_slip_of_copying():
    assert fact(quote="The line closed on 13 days in 2023.") is None


def test_words_that_are_not_there_are_dropped():
    assert fact(quote="The ferry moved 41,000 passengers in the year 2023.") is None


def test_the_same_words_are_the_same_fact():
    assert fact((1,)).id == fact(quote="The line closed on 12 days in 2023.").id


def test_without_a_statement_the_quote_speaks():
    assert fact((4,), statement=" ").statement == "Nobody expected that."


@pytest.mark.parametrize("marker", ["- ", "* ", "\u2022 ", "1. ", "12) "])
def test_the_marker_of_a_list_item_is_not_among_its_words(marker):
    text = f"Results\n\n{marker}The line closed on 12 days in 2023.\n{marker}It had closed on 41 days before."
    source = Source(id="s1", url="https://a.example/", title="A", kind="web", text=text, text_hash=digest(text))
    numbers = [n for n, span in enumerate(spans(text), 1) if "12 days" in text[span.start : span.end]]
    pointed = PointedFact(sentences=tuple(numbers), question=1, sure=0.9)
    assert fact_of(pointed, source, spans(text), "t").quote == "The line closed on 12 days in 2023."


@pytest.mark.parametrize("mark", ["## ", ""])
def test_a_fact_has_the_heading_that_its_words_stand_below(mark):
    text = (
        f"The ferry\n\n{mark}Was it open?\n\nIt was open all summer.\n\n{mark}Why was it closed?\n\n"
        "The main cause was thick ice.\n\n- A grant\n\nFuel was another cause."
    )
    source = SOURCE.model_copy(update={"text": text})

    def heading(quote):
        pointed = PointedFact(sentences=(), quote=quote, question=1, sure=0.9)
        return fact_of(pointed, source, spans(text), "t").heading

    assert heading("It was open all summer.") == "Was it open?"
    assert heading("The main cause was thick ice.") == heading("Fuel was another cause.") == "Why was it closed?"
