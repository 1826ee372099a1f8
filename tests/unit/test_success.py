"""Success criteria: corroboration by independent sources, themes, contradictions, confidence."""

import pytest

from agents.contracts.fact import Fact
from agents.contracts.frozen import digest
from agents.contracts.plan import SuccessCriteria
from agents.contracts.sources import SourceCard
from agents.research.loop.success import independent, met

QUESTION = "How many days was the ferry closed?"


def source(url, text=None, kind="web", **known):
    return SourceCard(id=f"s{digest(url, 6)}", url=url, title=url, kind=kind, text_hash=digest(text or url), **known)


def fact(source_, words="The ferry was closed on twelve days.", topic=QUESTION, confidence=0.8):
    id_ = "f" + digest(source_.id + words, 8)
    return Fact(
        id=id_,
        source_id=source_.id,
        statement=words,
        quote=words,
        start=0,
        end=len(words),
        confidence=confidence,
        topic=topic,
    )


ONE, TWO = source("https://a.orvane.example/1"), source("https://news.sarn.example/2")


def test_a_phase_is_done_when_every_figure_is_reached():
    criteria = SuccessCriteria(corroboration=2, themes=("ferry closure days",), min_confidence=0.7)

    found = met(criteria, (fact(ONE), fact(TWO)), (ONE, TWO), (QUESTION,), 0)

    assert (found.met, found.coverage, found.confidence, found.missing) == (True, 1.0, 0.8, ())


def test_two_pages_of_one_site_corroborate_nothing():
    same = source("https://b.orvane.example/3")

    found = met(SuccessCriteria(corroboration=2), (fact(ONE), fact(same)), (ONE, same), (QUESTION,), 0)

    assert not found.met
    assert found.missing == (f"“{QUESTION}” is answered by 1 of 2 independent sources.",)
    assert found.coverage == 0.0


def test_copies_of_one_text_count_once():
    copy = source("https://mirror.example/1", text="https://a.orvane.example/1")

    assert len(set(independent((ONE, copy)).values())) == 1


def test_documents_count_by_the_publisher_or_author_they_name_else_by_themselves():
    named = [
        source(f"library:x/{n}.md", kind="library", site=site)
        for n, site in enumerate(("Harbour Office", "harbour  office"))
    ]
    nameless = [source(f"library:y/{n}.md", kind="library") for n in range(2)]

    assert len(set(independent(named).values())) == 1
    assert len(set(independent(nameless).values())) == 2


def test_a_fact_read_for_one_question_answers_no_other_and_one_read_for_none_answers_what_it_talks_about():
    other = "Why was the ferry closed?"
    loose = fact(TWO, "Ice closed the ferry for many days.", topic="ice")

    found = met(SuccessCriteria(), (fact(ONE),), (ONE,), (QUESTION, other), 0)

    assert (found.coverage, found.confidence) == (0.5, 0.4)
    assert met(SuccessCriteria(), (fact(ONE), loose), (ONE, TWO), (QUESTION, other), 0).met


def test_a_theme_is_covered_by_one_fact_that_talks_about_it():
    criteria = SuccessCriteria(themes=("closed ferry", "ticket prices"))

    found = met(criteria, (fact(ONE),), (ONE,), (QUESTION,), 0)

    assert found.missing == ("The theme “ticket prices” is not covered.",)
    assert found.coverage == pytest.approx(2 / 3)


def test_open_contradictions_count_only_where_they_must_be_resolved():
    facts, sources = (fact(ONE),), (ONE,)

    assert met(SuccessCriteria(), facts, sources, (QUESTION,), 2).met
    strict = met(SuccessCriteria(contradictions_resolved=True), facts, sources, (QUESTION,), 2)
    assert strict.missing == ("2 contradictions are still open.",)


def test_low_confidence_keeps_a_phase_open():
    found = met(SuccessCriteria(min_confidence=0.9), (fact(ONE),), (ONE,), (QUESTION,), 0)

    assert found.missing == ("Confidence is 0.80, below 0.90.",)


def test_without_facts_nothing_is_met_whatever_is_asked():
    found = met(SuccessCriteria(min_confidence=0.0), (), (), (), 0)

    assert (found.met, found.coverage, found.confidence) == (False, 0.0, 0.0)
    assert found.missing[0] == "No facts were found."


def test_without_questions_the_facts_themselves_need_independent_sources():
    assert not met(SuccessCriteria(corroboration=2), (fact(ONE),), (ONE,), (), 0).met
    assert met(SuccessCriteria(corroboration=2), (fact(ONE), fact(TWO)), (ONE, TWO), (), 0).met


def test_a_fact_of_an_unknown_source_is_a_source_of_its_own():
    assert met(SuccessCriteria(corroboration=2), (fact(ONE), fact(TWO)), (ONE,), (QUESTION,), 0).met


def test_scripts_without_spaces_have_themes_too():
    words = "渡し船は氷のため十二日間欠航した。"

    assert met(SuccessCriteria(themes=("渡し船の欠航",)), (fact(ONE, words, topic=""),), (ONE,), (), 0).met
