"""The offline planner: the tree that scoping counted."""

from agents.contracts.plan import PlanningInput, PlanTree
from agents.offline.draft_tree import label
from agents.offline.planner import plan


def planned(query: str, **given: object) -> PlanTree:
    """Plan the tree of a query."""
    return plan(PlanningInput.model_validate({"query": query, **given}))


def test_a_lookup_gets_one_leaf() -> None:
    assert len(planned("When was the Treaty of Utrecht signed?").leaves) == 1


def test_a_question_is_cut_by_its_clauses_and_the_things_it_names() -> None:
    tree = planned(
        "How did average rents in Vienna and Munich develop from 2015 to 2024, and what explains the difference?"
    )

    assert [branch.title for branch in tree.leaves] == ["Vienna", "Munich", "What explains the difference?"]
    assert tree.leaves[0].questions == ("How did average rents in Vienna develop from 2015 to 2024?",)


def test_a_comparison_is_cut_by_its_points() -> None:
    tree = planned("Compare brick, timber and steel with regard to cost, fire safety and upkeep.")

    assert [branch.title for branch in tree.leaves] == ["Cost", "Fire safety", "Upkeep"]
    assert "Cost: timber" in tree.leaves[0].questions


def test_many_things_on_several_points_become_executors_with_leaves() -> None:
    tree = planned("Compare brick, timber, steel, clay and straw with regard to cost and upkeep.")

    assert {leaf.heading for leaf in tree.leaves} == {"Cost", "Upkeep"}
    assert [leaf.title for leaf in tree.leaves if leaf.heading == "Cost"] == [
        "Brick, cost", "Timber, cost", "Steel, cost", "Clay, cost", "Straw, cost"
    ]  # fmt: skip


def test_a_single_executor_has_leaves_only_and_never_more_than_there_may_be() -> None:
    query = "Compare brick, timber, steel, clay and straw with regard to cost and upkeep."

    tree = planned(query, max_depth=1, max_leaves=4)

    assert len(tree.leaves) == 4
    assert {leaf.heading for leaf in tree.leaves} == {""}


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


def test_titles_are_short() -> None:
    tree = planned(
        "How well did the newly planted trees along the northern ring road survive the first two dry summers, "
        "and which of the published figures includes those that were cut down before they could be counted again?"
    )

    assert all(len(branch.title) <= 60 for branch in tree.leaves)


def test_a_title_is_never_cut_to_a_question_without_its_verb():
    long = "What share of the eelgrass shoots planted in Tolven Bay was still alive after 24 months?"

    assert label(long, "en") == "What share of the eelgrass shoots planted in Tolven Bay…"
    # Cut before "in" it would ask nothing: its verb comes last.
    verb_last = "What does restoring one hectare of eelgrass in Tolven Bay cost?"
    assert label(verb_last, "en") == "What does restoring one hectare of eelgrass in Tolven Bay…"
    assert label("Which differences in plots and counting explain the spread between the reported figures?", "en") == (
        "Which differences in plots and counting explain the spread?"
    )


def test_things_that_are_not_named_are_looked_for_by_a_discovery_leaf_and_the_rest_is_read_beside_it():
    tree = planned("Which cities introduced congestion charging, and how did traffic change in their centres?")

    assert [branch.discovery for branch in tree.leaves] == [True, False]


def test_a_list_alone_is_a_discovery_leaf_and_what_is_named_needs_none():
    (first, *others) = planned("List the studies that measured eelgrass survival in Tolven Bay.").leaves
    assert first.discovery
    assert not any(branch.discovery for branch in others)
    named = planned("Compare Vienna, Munich and Prague with regard to rents and noise.")
    assert not any(branch.discovery for branch in named.leaves)


def test_what_scoping_counted_is_what_is_planned():
    from agents.contracts.source import CorpusSurvey
    from agents.offline.draft_tree import draft
    from agents.offline.question_parts import questions

    text = "Which cities introduced congestion charging, and how did traffic change in their centres?"
    (question,) = questions(text, "en")
    assert draft(question, CorpusSurvey(), "en").leaves == len(planned(text).leaves)
