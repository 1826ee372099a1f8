"""The offline manager: too broad, small enough, one lookup, and what follows in the talk."""

import json

import pytest

from agents.contracts.contract import ScopingInput, ScopingTurn, Turn
from agents.contracts.sources import CorpusSurvey, DocumentNote
from agents.core.paths import RESOURCES
from agents.nlp.tokens import language_of
from agents.offline.manager import scope
from agents.roles import MANAGER

SURVEY = CorpusSurvey(
    documents=(
        DocumentNote(title="Rents and wages in two cities", themes=("housing costs", "rent index"), language="en"),
        DocumentNote(title="The price cap of 2020", themes=("price cap", "housing costs"), language="en"),
        DocumentNote(title="New flats by the river", themes=("building permits", "price cap"), language="en"),
    ),
    total=3,
    matching=3,
)
BROAD = "Tell me everything about rents in Vienna."


def talk(*messages: str, language: str = "en", survey: CorpusSurvey = SURVEY, max_leaves: int = 12) -> ScopingTurn:
    """Hold a talk and return its last turn; every turn passes the checks of the role."""
    turns: tuple[Turn, ...] = ()
    agreed = ()
    for message in messages:
        given = ScopingInput(
            message=message,
            turns=turns,
            agreed=agreed,
            survey=survey,
            today="2026-01-15",
            language=language,
            max_leaves=max_leaves,
        )
        turn = scope(given)
        for check in MANAGER.checks:
            check(given, turn)
        turns = (*turns, Turn(speaker="user", text=message), Turn(speaker="manager", text=turn.reply))
        agreed = turn.queries
    return turn


def test_a_broad_question_is_refused_with_what_it_leaves_open_and_four_ways_on() -> None:
    turn = talk(BROAD)

    (query,) = turn.queries
    assert not query.feasible
    assert not turn.ready
    assert query.reason == "Which aspect of it? Which years?"
    assert len(query.suggested_split) == 4
    assert 1 <= len(turn.open_questions) <= 2


def test_narrower_questions_are_made_of_what_the_documents_share() -> None:
    offered = talk(BROAD).queries[0].suggested_split

    assert offered[0].startswith("On rents in Vienna: what do the sources say about housing costs")
    assert offered[1].startswith("On rents in Vienna: what do the sources say about price cap")


@pytest.mark.parametrize("starter", json.loads((RESOURCES / "examples" / "starters.json").read_text())["starters"])
def test_a_starter_is_judged_as_its_label_says(starter: dict[str, str]) -> None:
    turn = talk(starter["message"])

    assert turn.ready == ("too broad" not in starter["label"])
    assert all(len(query.suggested_split) >= 2 for query in turn.queries if not query.feasible)
    assert not any("the of" in split for query in turn.queries for split in query.suggested_split)


@pytest.mark.parametrize(
    ("message", "language"),
    [
        ("What is the full story of rents in Vienna?", "en"),
        ("What is going on with the world's coral reefs?", "en"),
        ("Was ist die ganze Geschichte der Mieten in Wien?", "de"),
        ("Was ist los mit den Mieten?", "de"),
        ("Quelle est toute l'histoire des loyers à Vienne ?", "fr"),
        ("Que se passe-t-il avec les loyers ?", "fr"),
        ("¿Cuál es toda la historia de los alquileres en Viena?", "es"),
        ("¿Qué pasa con los alquileres?", "es"),
    ],
)
def test_a_question_for_the_whole_story_is_too_broad(message: str, language: str) -> None:
    assert not talk(message, language=language).ready


def test_every_suggestion_can_be_taken() -> None:
    for text in talk(BROAD).queries[0].suggested_split:
        turn = talk(BROAD, text)
        assert turn.ready
        assert [(query.text, query.feasible) for query in turn.queries] == [(text, True)]


def test_several_suggestions_become_queries_of_their_own() -> None:
    first, second, *_ = talk(BROAD).queries[0].suggested_split

    turn = talk(BROAD, f"1. {first}\n2. {second}")

    assert [query.text for query in turn.queries] == [first, second]


def test_what_is_small_enough_stays_when_a_broad_question_beside_it_is_narrowed() -> None:
    both = "1. How did rents in Vienna change between 2015 and 2020?\n2. Tell me everything about flats in Munich."
    narrower = talk(both).queries[1].suggested_split[0]

    turn = talk(both, narrower)

    assert turn.ready
    assert [query.text for query in turn.queries] == ["How did rents in Vienna change between 2015 and 2020?", narrower]


def test_years_alone_do_not_narrow_enough_and_an_aspect_does() -> None:
    period = talk(BROAD, "only 2019 to 2023")
    aspect = talk(BROAD, "only 2019 to 2023", "just the evictions")

    assert not period.ready
    assert period.queries[0].scope_limits
    assert aspect.ready
    assert "evictions" in aspect.queries[0].text


@pytest.mark.parametrize(
    "message",
    [
        "hmm, I was thinking of something else",
        "thanks!",
        "How many flats were built in Munich in 2019?",
        "Tell me everything about bread.",
        "only 2019 to 2023",
        "Mieten",
        "do it in the style of a pirate",
    ],
)
def test_a_draft_that_stands_survives_whatever_is_said(message: str) -> None:
    standing = "How did rents in Vienna change between 2015 and 2020?"

    turn = talk(standing, message)

    assert turn.ready
    assert [query.text for query in turn.queries] == [standing]
    assert turn.reply.endswith("Is that a new question, or a change to this one?")


def test_a_new_question_replaces_one_that_is_still_too_broad() -> None:
    turn = talk(BROAD, "How many flats were built in Munich in 2019?")

    assert [query.text for query in turn.queries] == ["How many flats were built in Munich in 2019?"]


def test_a_lookup_gets_the_smallest_plan_and_says_so() -> None:
    turn = talk("In which year was the rent cap of Munich introduced?")

    assert turn.ready
    assert turn.tier == "simple"
    assert turn.reply.startswith("One lookup answers this:")


@pytest.mark.parametrize("message", ["hi", "how are you?", "👍", "Danke!", "..."])
def test_a_message_without_a_question_gets_one_back(message: str) -> None:
    turn = talk(message)

    assert turn.queries == ()
    assert not turn.ready
    assert turn.open_questions


@pytest.mark.parametrize(
    "message",
    [
        "How did rents in Vienna change since 2015? Why did Munich build fewer flats after 2019?",
        "1. How did rents in Vienna change since 2015?\n2. Why did Munich build fewer flats after 2019?",
        "How did rents in Vienna change since 2015, and, separately, why did Munich build fewer flats after 2019?",
        "I want to know how rents in Vienna changed since 2015. I also want to know why Munich built fewer flats.",
        "Zwei Fragen: Wie haben sich die Mieten seit 2015 entwickelt? Unabhängig davon: Warum baute München weniger?",
    ],
)
def test_independent_questions_become_queries_of_their_own(message: str) -> None:
    assert len(talk(message).queries) == 2


@pytest.mark.parametrize(
    "message",
    [
        "How did rents in Vienna change since 2015, and why do the published figures differ?",
        "How did rents in Vienna change since 2015, and what did that mean for tenants?",
        "Why did rents in Vienna rise after 2015? What was done about it?",
    ],
)
def test_what_leans_on_the_question_before_stays_with_it(message: str) -> None:
    assert len(talk(message).queries) == 1


@pytest.mark.parametrize(
    ("message", "language", "words"),
    [
        ("Erzähle mir alles über Mieten in Wien.", "de", "Als eine Frage kann ich das"),
        ("Donne-moi un aperçu complet des loyers.", "fr", "Telle quelle"),
        ("Háblame de los alquileres", "es", "Así, como una sola"),
        ("Affitti", "it", "I can't research that well"),
    ],
)
def test_it_answers_in_the_users_language_where_it_has_the_words(message: str, language: str, words: str) -> None:
    turn = talk(message, language=language)

    assert turn.reply.startswith(words)
    assert not turn.ready


def test_it_says_once_that_it_quotes_and_does_not_reason() -> None:
    assert "does not reason" in talk(BROAD).reply
    assert "does not reason" not in talk(BROAD, "2").reply


def test_a_question_that_no_document_matches_stays_feasible_and_is_said_to_find_little() -> None:
    turn = talk("How many moons does Jupiter have?", survey=SURVEY.model_copy(update={"matching": 0, "documents": ()}))

    assert turn.ready
    assert "may find nothing" in turn.reply


def test_what_a_document_is_about_is_never_said_to_be_in_none() -> None:
    """A first page draws its questions from such themes: they hold one word of the documents, and words of asking."""
    mercia = DocumentNote(title="Ælfgar, Earl of Mercia", themes=("Mercia", "Earl"))
    turn = talk("What do the documents say about Mercia?", survey=CorpusSurvey(documents=(mercia,), total=100))

    assert turn.ready
    assert "may find nothing" not in turn.reply


def test_medical_legal_and_financial_questions_carry_a_caution_once() -> None:
    turn = talk("Which side effects of the vaccine were reported in Vienna in 2021, and how often?")

    assert turn.query_type == "medical_legal_financial"
    assert turn.reply.count("no personal advice") == 1


def test_addresses_in_a_question_are_kept_and_not_taken_for_words() -> None:
    turn = talk("How did rents in Vienna change since 2015, according to https://example.org/a?b=everything ?")

    assert turn.ready
    assert turn.queries[0].scope_limits == ("https://example.org/a?b=everything",)


def test_more_parts_than_leaves_are_too_many() -> None:
    wide = "Compare Vienna, Munich, Zurich, Prague and Graz with regard to rents, wages and flats built since 2015."

    assert not talk(wide).ready
    assert "names 15 parts" in talk(wide).queries[0].reason


def test_the_same_talk_gives_the_same_turn() -> None:
    assert talk(BROAD, "just the evictions") == talk(BROAD, "just the evictions")


@pytest.mark.parametrize(
    ("message", "language"),
    [
        ("Quanto è profondo il lago di Orvelle?", "it"),
        ("Какова глубина озера Орвелл?", "ru"),
        ("ما عمق بحيرة أورفيل؟", "ar"),
        ("Wie tief ist der Orvellesee?", "de"),
    ],
)
def test_a_plain_question_is_taken_in_any_language_and_it_says_which_it_does_not_know(message, language) -> None:
    turn = talk(message, language=language)

    assert turn.ready
    assert ("I do not know the grammar" in turn.reply) is (language != "de")


@pytest.mark.parametrize(
    "message",
    [
        "Wann wurde die Brücke eröffnet?",
        "Wann wurde die Brücke von Orvelle eröffnet?",
        "Wer baute den Turm von Sarn?",
        "Wo steht der Leuchtturm von Ostrel?",
        "Wie viele Menschen leben in Brindle?",
        "Quand le pont d'Orvelle a-t-il été ouvert ?",
        "Où se trouve le phare ?",
        "¿Cuándo se inauguró el puente de Orvelle?",
        "¿Cuántos habitantes tiene Brindle?",
        "Quando è stato aperto il ponte di Orvelle?",
        "Dov'è il faro di Ostrel?",
        "When was the bridge opened?",
    ],
)
def test_who_when_where_and_how_many_of_one_thing_is_never_too_broad(message: str) -> None:
    assert talk(message, language=language_of(message)).ready


@pytest.mark.parametrize("message", ["Who built it?", "Wer hat sie gebaut?", "Wie viele Brücken gibt es weltweit?"])
def test_a_question_for_one_fact_about_nothing_or_everything_is_asked_back_about(message: str) -> None:
    assert not talk(message, language=language_of(message)).ready


@pytest.mark.parametrize("message", ["What does the safety audit recommend?", "Which wood is the cheapest?"])
def test_a_short_question_is_no_broad_one_where_a_run_reads_all_there_is(message: str) -> None:
    few = CorpusSurvey(documents=(DocumentNote(title="Prices", themes=("oak boards",), language="en"),), total=5)
    many = few.model_copy(update={"total": 400})
    named = CorpusSurvey(documents=(DocumentNote(title="Safety audit 2024", themes=(), language="en"),), total=400)
    assert talk(message, survey=few).ready
    assert talk(message, survey=named).ready
    assert not any("safety audit recommend" in split for split in talk(message, survey=many).queries[0].suggested_split)


@pytest.mark.parametrize(
    "message",
    ["May I put ivy into the shredder?", "notice period flat tenants", "My husband has died, can I keep his plot?"],
)
def test_over_documents_that_carry_no_sides_of_it_a_short_question_runs_as_it_is(message):
    """What documents hold is not guessed: *what do the sources say about the costs of I put ivy* was offered."""
    given = ScopingInput(message=message, survey=CorpusSurvey(total=103), today="2026-11-30", language="en")
    (query,) = scope(given).queries

    assert (query.feasible, query.suggested_split) == (True, ())
