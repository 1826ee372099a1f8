"""The offline planner: the tree that scoping counted."""

from agents.contracts.plan import PlanningInput, PlanTree
from agents.offline.planner import draft, label, plan
from agents.offline.questions import questions


def planned(query: str, **given: object) -> PlanTree:
    """Plan the tree of a query."""
    return plan(PlanningInput.model_validate({"query": query, **given}))


def test_a_lookup_gets_one_leaf() -> None:
    assert len(planned("When was the Treaty of Utrecht signed?").leaves) == 1


def test_a_question_is_cut_by_its_parts_in_their_order() -> None:
    tree = planned("How did average rents in Vienna develop from 2015 to 2024, and what explains the difference?")

    assert [branch.title for branch in tree.leaves] == [
        "How did average rents in Vienna develop from 2015 to 2024?",
        "What explains the difference?",
    ]


def test_a_question_for_several_facts_gets_a_look_at_its_limits_and_one_for_a_fact_does_not() -> None:
    assert [leaf.title for leaf in planned("Why did rents in Vienna rise?").leaves] == [
        "Why did rents in Vienna rise?",
        "Limits and objections",
    ]
    assert len(planned("Why did rents in Vienna rise?", max_leaves=1).leaves) == 1


def test_what_is_a_step_away_is_to_be_settled_by_more_than_one_document() -> None:
    (near,) = planned("In which year was the Ostrel Lighthouse lit?").leaves
    (far,) = planned("In which town was the engineer who designed the Ostrel Lighthouse born?").leaves

    assert (near.priority, far.priority) == ("normal", "high")


def test_a_comparison_is_cut_by_its_points() -> None:
    tree = planned("Compare brick, timber and steel with regard to cost, fire safety and upkeep.")

    assert [branch.title for branch in tree.leaves] == ["Cost", "Fire safety", "Upkeep"]
    assert "Cost: timber" in tree.leaves[0].questions


def test_a_leaf_searches_with_its_question_first_and_with_keywords_after() -> None:
    tree = planned("Why did the Tacoma Narrows Bridge collapse in 1940?")

    first = tree.leaves[0]
    assert first.search_terms[0] == first.questions[0]
    assert "Tacoma" in first.search_terms[1]
    assert "?" not in first.search_terms[1]


def test_a_clause_that_leans_on_another_is_searched_with_its_subject() -> None:
    tree = planned("Why did rents in Vienna rise after 2015, and how do the published figures differ?")

    assert "Vienna" in tree.leaves[1].search_terms[0]
    assert "Vienna" in tree.leaves[1].search_terms[1]


def test_a_title_is_the_question_itself_and_never_ends_in_dots() -> None:
    long = "What share of the eelgrass shoots planted in Tolven Bay was still alive after 24 months?"
    longer = (
        f"{long[:-1]} in the northern, the southern and the western part of the bay, as far as anybody counted them?"
    )

    assert label(long) == long
    assert longer.startswith(label(longer))
    assert not label(longer).endswith("…")


def test_things_that_are_not_named_are_looked_for_by_a_discovery_leaf_and_the_rest_is_read_beside_it():
    tree = planned("Which cities introduced congestion charging, and how did traffic change in their centres?")

    assert [branch.discovery for branch in tree.leaves] == [True, False]


def test_a_list_alone_is_a_discovery_leaf_and_what_is_named_needs_none():
    (first, *others) = planned("List the studies that measured eelgrass survival in Tolven Bay.").leaves
    assert first.discovery
    assert not any(branch.discovery for branch in others)
    named = planned("Compare Vienna, Munich and Prague with regard to rents and noise.")
    assert not any(branch.discovery for branch in named.leaves)


def test_what_scoping_counted_is_what_is_planned() -> None:
    text = "Which cities introduced congestion charging, and how did traffic change in their centres?"
    (question,) = questions(text)

    assert draft(question, "en") == planned(text).leaves


def test_a_plan_asks_no_part_that_cannot_be_understood_alone() -> None:
    query = "Do the restored eelgrass meadows store carbon, and how reliable are they?"
    titles = [leaf.title for leaf in planned(query).leaves]
    assert titles[1] == "How reliable are they (restored eelgrass meadows store carbon)?"
