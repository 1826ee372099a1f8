"""Years that come from nowhere are taken out of searches; given ones, old ones and numbers stay."""

import pytest

from agents.contracts.plan import PlannedLeaf, PlanningInput, PlanTree, ReflectionInput, ReflectionResponse
from agents.contracts.verification import Attack, Challenge, ChallengeInput
from agents.nlp.tokens import without_strange_years
from agents.roles import CHALLENGER, PLANNER, REFLECTOR

TODAY = "2031-03-14"


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("latest stable Floeworks version 2025", "latest stable Floeworks version"),
        ("Floeworks releases (2025)", "Floeworks releases"),
        ("Floeworks as of 2025?", "Floeworks?"),
        ("What was new in Floeworks in 2024-2025?", "What was new in Floeworks?"),
        ("Floeworks 9.2 2025-02-20 release", "Floeworks 9.2 release"),
        ("Stand 2025: neueste Fassung", "neueste Fassung"),
        ("2025年の最新版", "の最新版"),
    ],
)
def test_a_recent_year_that_nobody_gave_is_taken_out(text, cleaned):
    assert without_strange_years("What is the latest version?", TODAY)(text) == cleaned


@pytest.mark.parametrize(
    "text",
    [
        "Floeworks version 2030",  # last year
        "Floeworks roadmap 2031",
        "Tacoma Narrows Bridge 1940",
        "at most 2,025 tonnes",
        "ISO 27001:2022 rules",
        "RFC 2026",
        "2025",
    ],
)
def test_other_years_and_numbers_stay(text):
    assert without_strange_years("What is the latest version?", TODAY)(text) == text


def test_years_of_the_question_and_those_between_two_of_them_stay():
    clean = without_strange_years("How did rents develop from 2022 to 2026?", TODAY)
    assert clean("rents 2024 index") == "rents 2024 index"
    assert clean("rents 2027 index") == "rents index"


def test_without_a_date_of_today_nothing_is_taken_out():
    assert without_strange_years("x", "")("x 2025") == "x 2025"


def test_c41_no_role_that_searches_lets_a_year_of_its_own_through():
    planning = PlanningInput(query="What is new?", max_leaves=3, today=TODAY)
    leaf = PlannedLeaf(
        heading="", title="News of 2025", questions=("What is new in 2025?",), search_terms=("news 2025", "news"),
        priority="normal", discovery=False,
    )  # fmt: skip
    tree = PLANNER.mend(planning, PlanTree(leaves=(leaf,), claims=()))
    assert tree.leaves[0].search_terms == ("news",)
    assert "2025" not in tree.model_dump_json()
    reflecting = ReflectionInput.model_construct(
        query="What is new?", statements=("8.1 came out in 2029.",), today=TODAY
    )
    answer = ReflectionResponse(sufficient=False, confidence=0.5, gaps=("g",), new_queries=("news 2025", "news 2029"))
    assert REFLECTOR.mend(reflecting, answer).new_queries == ("news", "news 2029"), "what was read may be asked about"
    challenging = ChallengeInput.model_construct(query="What is new?", claims=(), today=TODAY)
    challenge = Challenge(attacks=(Attack(claim_number=1, queries=("not new 2025",)),))
    assert CHALLENGER.mend(challenging, challenge).attacks[0].queries == ("not new",)
