"""Edits of a drafted plan: what comes out can always run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.chat.drafting_talk import CardEdit, branch_at, edit_plans, place_of
from agents.chat.texts import ChatTexts
from agents.contracts.plan import Leaf, Node, Plan, PlannedClaim
from agents.core.errors import BadRequest
from agents.research.planning.drafting import refreshed
from agents.research.planning.freeze_contract import fitted


def leaf(title, searches=("a", "b", "c")):
    return Leaf(title=title, objective=title, questions=(title,), searches=searches)


def plan(query="Ferries"):
    deep = Node(title="Costs", objective="Costs", children=(leaf("Fuel"), leaf("Crew")))
    root = Node(title=query, objective=query, children=(leaf("Closures"), deep, leaf("Passengers")))
    claims = (PlannedClaim(text="Fuel costs most.", leaves=("Fuel",)), PlannedClaim(text="Ferries run.", leaves=()))
    return Plan(query=query, root=root, claims=claims)


def edited(op, *place, text="", plans=None, max_leaves=12):
    return edit_plans(plans or (plan(),), CardEdit(op=op, place=place, text=text), ChatTexts(), max_leaves=max_leaves)


def titles(plan_):
    return [one.title for one in plan_.root.leaves()]


def test_a_dropped_branch_takes_its_claims_along():
    done = edited("drop", 0, 1, 0)
    assert titles(done[0][0]) == ["Closures", "Crew", "Passengers"]
    assert [claim.text for claim in done[0][0].claims] == ["Ferries run."]
    assert done[1] == "dropped “Fuel”"


def test_an_executor_that_loses_its_last_branch_goes_too():
    once = edited("drop", 0, 1, 0)
    twice = edited("drop", 0, 1, 0, plans=once[0])
    assert titles(twice[0][0]) == ["Closures", "Passengers"]
    assert twice[0][0].root.depth() == 1


def test_a_renamed_leaf_looks_for_what_its_new_name_says():
    done = edited("rename", 0, 0, text="  Closures  by ice ")
    renamed = branch_at(done[0], (0, 0))
    assert (renamed.title, renamed.questions[0], renamed.searches[0]) == ("Closures by ice",) * 3


def test_claims_follow_a_renamed_leaf():
    done = edited("rename", 0, 1, 0, text="Diesel")
    assert done[0][0].claims[0].leaves == ("Diesel",)


def test_a_new_branch_is_a_leaf_that_can_run():
    done = edited("add", 0, 1, text="Harbour dues")
    new = branch_at(done[0], (0, 1, 2))
    assert (new.questions, new.searches) == (("Harbour dues",), ("Harbour dues",))


def test_a_new_part_for_one_that_is_not_divided_stands_beside_it():
    assert titles(edited("add", 0, 1, 0, text="Harbour dues")[0][0])[1:4] == ["Fuel", "Crew", "Harbour dues"]


def test_branches_change_places():
    assert titles(edited("down", 0, 0)[0][0]) == ["Fuel", "Crew", "Closures", "Passengers"]
    assert titles(edited("up", 0, 1, 1)[0][0]) == ["Closures", "Crew", "Fuel", "Passengers"]


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (("drop", 0), "whole question"),
        (("drop", 5, 0), "no part"),
        (("drop", 0, 9), "no part"),
        (("drop", 0, 0, 0), "no part"),
        (("up", 0, 0), "can't be moved further"),
        (("down", 0, 2), "can't be moved further"),
        (("add", 0, 0), "needs words"),
    ],
)
def test_what_cannot_be_done_is_said(edit, said):
    op, *place = edit
    with pytest.raises(BadRequest, match=said):
        edited(op, *place)


def test_no_edit_makes_a_plan_wider_than_the_bound():
    with pytest.raises(BadRequest, match="4 parts, as many"):
        edited("add", 0, text="One more", max_leaves=4)


def test_a_branch_is_found_by_its_shown_number():
    assert place_of("2.1", (plan(),)) == (0, 1, 0)
    assert place_of("2.1", (plan(), plan("Trains"))) == (1, 0)
    with pytest.raises(BadRequest, match=r"no part 2\.5"):
        place_of("2.5", (plan(),))


def test_what_fitting_took_away_comes_back():
    thin = fitted(plan(), 1, 1, 1)
    fresh = refreshed(thin, rounds=7)
    assert fresh.root.phases[0].max_iterations == 7
    assert fitted(fresh, 30, 30, 30).root.leaves() == fitted(plan(), 30, 30, 30).root.leaves() != thin.root.leaves()


EDITS = st.builds(
    CardEdit,
    op=st.sampled_from(["drop", "add", "rename", "up", "down"]),
    place=st.lists(st.integers(0, 3), max_size=4).map(lambda steps: (0, *steps)),
    text=st.sampled_from(["", "Fuel", "New words", "x" * 250, "<b>bold</b>", "日本"]),
)


@given(st.lists(EDITS, max_size=12))
def test_however_many_edits_the_plan_stays_one_that_can_run(edits):
    plans = (plan(),)
    for edit in edits:
        try:
            plans = edit_plans(plans, edit, ChatTexts(), max_leaves=6)[0]
        except BadRequest as refused:
            assert refused.notice.endswith("Nothing was changed.")  # noqa: PT017
    root = plans[0].root
    assert root.depth() <= 3
    assert 1 <= len(root.leaves()) <= 6
    assert all(one.questions and one.searches for one in root.leaves())
