"""Confidence that can be recomputed by hand, and shares that say what they are a share of."""

import json
import re
from pathlib import Path

import pytest

from agents.contracts.finding import QuestionAnswer
from agents.contracts.verification import Evidence
from agents.verify.confidence import answered, questions_answered, report_confidence, verifiable_ratio, weigh

CASE = Path(__file__).parents[1] / "data" / "cases" / "C24"


def evidence(stance, strength=1.0, domain="a.example"):
    return Evidence(fact_id="f1", source_id=f"s-{domain}", domain=domain, stance=stance, strength=strength)


def test_independent_witnesses_add_up_and_copies_do_not():
    two = weigh([evidence("supports"), evidence("supports", domain="b.example")])
    copies = weigh([evidence("supports"), evidence("supports", domain="b.example")], {"s-b.example": "a.example"})

    assert (two.verdict, two.confidence) == ("supported", 0.96)
    assert (copies.confidence, copies.origins) == (0.8, 1)


@pytest.mark.parametrize(
    ("stances", "verdict"),
    [
        (["supports", "supports"], "supported"),
        (["supports", "qualifies"], "qualified"),
        (["supports", "contradicts"], "contested"),
        (["contradicts"], "refuted"),
        (["unrelated"], "insufficient"),
        ([], "insufficient"),
    ],
)
def test_the_verdict_follows_from_the_weights(stances, verdict):
    given = [evidence(stance, domain=f"{at}.example") for at, stance in enumerate(stances)]

    assert weigh(given).verdict == verdict


def test_weak_evidence_settles_nothing():
    assert weigh([evidence("supports", strength=0.4)]).verdict == "insufficient"


def test_a_report_is_as_sound_as_both_its_halves():
    settled = weigh([evidence("supports"), evidence("supports", domain="b.example")])

    assert report_confidence([settled], 1.0) == 98.0
    assert report_confidence([settled, None], 1.0) == 69.3
    assert report_confidence([settled], 0.0) == 0.0
    assert report_confidence([], None) is None


def test_what_was_not_checked_stays_in_the_denominator():
    assert verifiable_ratio(["supported", "uncited", "unchecked", None, "no_fact"]) == 0.25
    assert verifiable_ratio(["no_fact"]) is None


def test_a_checker_that_understood_few_citations_says_so():
    expected = json.loads((CASE / "expected.json").read_text("utf-8"))["sentences_with_a_mark"]
    statements = [line for line in (CASE / "report.md").read_text("utf-8").splitlines() if line.strip()]
    plain = [bool(re.search(r"\[\d+(?:, \d+)*\]\.$", line)) for line in statements]

    ratio = verifiable_ratio(["supported" if known else "unchecked" for known in plain])

    assert ratio == sum(plain) / expected < 0.5


def test_claims_with_too_few_independent_sources_lower_the_confidence_of_a_report():
    one, two = weigh([evidence("supports")]), weigh([evidence("supports"), evidence("supports", domain="b.example")])
    checked = 1.0

    assert report_confidence([two], checked, 2) == report_confidence([two], checked)
    assert report_confidence([one], checked, 2) == round(report_confidence([one], checked) * 0.5**0.25, 1)


def test_without_claims_confidence_comes_from_how_well_the_questions_are_answered():
    checked = 1.0
    one, two = answered(1), answered(2)

    assert report_confidence([], checked, answers=[one]) == 84.9
    assert report_confidence([], checked, answers=[two]) == 96.0


def test_confidence_is_about_all_that_was_asked():
    """Words that are sure about one of two questions leave the other open; one answered in part counts half."""
    told = [
        QuestionAnswer(question=f"{status}?", status=status, asked=True)
        for status in ("answered", "partly", "not_found")
    ]
    background = QuestionAnswer(question="And else?", status="not_found")

    assert questions_answered([*told, background]) == (1.5, 3)
    assert questions_answered([background]) == (0.0, 1)
    assert report_confidence([], 1.0, answers=[answered(1)], asked=0.5) == 42.4
