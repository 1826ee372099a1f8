"""The forecast: collecting, challenge and rework are in it, and what a run takes lies inside it."""

import json

import pytest

from agents.contracts.contract import Brief, ForecastLine
from agents.contracts.plan import Leaf, LeafBudget, Node, Plan, PlannedClaim
from agents.core.paths import RESOURCES as ROOT
from agents.core.settings import Settings
from agents.research.planning.forecast import PastRun, with_likely
from agents.research.planning.freeze_contract import CapOverrides, Means, caps_of, make_contract
from agents.research.scoping.turn import ScopingState
from agents.team import open_team
from tests.scripts import BRIEF, FLAT, QUERY, leaf, tree, under

STARTERS = [one["message"] for one in json.loads((ROOT / "examples" / "starters.json").read_text())["starters"]]
FEASIBLE = (STARTERS[0], STARTERS[2])
"""The second of the starters is there to be too broad."""


def plan(claims=5, leaves=2):
    children = tuple(
        Leaf(title=f"L{n}", objective="o", questions=(f"q{n}",), searches=("s", "t"), budget=LeafBudget(sources=3))
        for n in range(leaves)
    )
    texts = (f"The {year} figure of the ferry line was {year * 3} crowns." for year in range(2001, 2001 + claims))
    return Plan(
        query=QUERY.text,
        root=Node(title="r", objective="o", children=children),
        claims=tuple(PlannedClaim(text=text, leaves=("L0",)) for text in texts),
    )


def forecast(brief=BRIEF, *, claims=5, reasons=True, challenge=True, **limits):
    contract = make_contract(
        brief, (plan(claims),), Means(limits=CapOverrides(**limits), reasons=reasons), challenge=challenge
    )
    return {line.name: line for line in contract.forecast.lines}


def inside(line: ForecastLine, value):
    return line.low is None or line.low <= value <= line.high


def test_challenge_and_rework_are_in_every_figure_that_they_move():
    with_it, without = forecast(), forecast(challenge=False)
    for name in ("Searches", "Sources read", "Model calls", "Tokens"):
        assert (with_it[name].low, with_it[name].high) >= (without[name].low, without[name].high), name
        assert with_it[name].basis != without[name].basis, name
    assert "challenge up to 10: one or two for each of up to 5 claims" in with_it["Searches"].basis
    assert "rework" in with_it["Model calls"].basis
    assert "challenge" not in without["Searches"].basis


def test_models_for_which_nothing_is_paid_are_forecast_as_free_and_any_other_as_unknown():
    def cost(*models):
        made = make_contract(BRIEF, (plan(),), Means(models=models, free=("here",)))
        forecast = with_likely(made.forecast, (), None)
        return next(line.likely for line in forecast.lines if line.name == "Cost")

    assert cost("here") == 0
    assert cost("here", "elsewhere") is None
    assert cost() is None


def test_a_limit_of_cost_that_cannot_be_held_is_said_in_the_contract_and_only_then():
    def contract(*models, usd=2.0):
        means = Means(
            models=models, unpriced=(("big", "big"), ("chain", "co/stand-in")), limits=CapOverrides(cost_usd=usd)
        )
        return make_contract(BRIEF, (plan(),), means)

    said = contract("chain", "priced").cost_unheld
    assert said == "No price is known for stand-in: what it costs can't be held to the limit of $2.00."
    assert said in [line.basis for line in contract("chain", "priced").forecast.lines]
    assert not contract("priced").cost_unheld
    assert not contract("big", usd=None).cost_unheld


def test_a_plan_without_claims_is_forecast_those_that_reading_brings_up():
    assert "of up to 4 claims" in forecast(claims=0)["Searches"].basis


def test_bounds_of_a_tier_hold_for_collecting_and_challenge_together():
    tight = forecast(Brief.model_validate(BRIEF.model_dump() | {"tier": "simple"}))
    assert tight["Searches"].high == 3
    assert "3 in all is the bound" in tight["Searches"].basis
    assert tight["Sources read"].high == 5


def test_every_figure_says_what_it_rests_on_and_the_bounds_of_tokens_and_money_are_named():
    lines = forecast(tokens=90_000, cost_usd=0.5)
    assert all(line.basis for line in lines.values())
    assert "90,000 is the bound" in lines["Tokens"].basis
    assert "0.5 USD is the bound" in lines["Cost"].basis
    assert (lines["Cost"].low, lines["Cost"].high) == (None, None)


def test_the_likely_figure_is_what_earlier_runs_took_of_their_forecasts_within_the_time_that_is_allowed():
    new = make_contract(BRIEF, (plan(),), Means()).forecast
    time = next(line for line in new.lines if line.unit == "min")
    middle = (time.low + time.high) / 2

    def likely(past, minutes=5.0):
        lines = with_likely(new, past, minutes).lines
        return {line.unit: line.likely for line in lines if line.unit}

    assert likely(()) == {"min": time.low, "USD": None}
    twice = [PastRun(seconds=120 * middle, cost_usd=0.5, forecast=new)] * 3
    assert likely(twice, 60.0)["min"] == pytest.approx(2 * middle)
    assert likely(twice, 60.0)["USD"] == pytest.approx(0.5)
    assert likely(twice, 0.5)["min"] == 0.5
    unpriced = [PastRun(seconds=60.0, cost_usd=None, forecast=new)]
    assert likely(unpriced)["USD"] is None


@pytest.mark.parametrize("question", FEASIBLE)
async def test_what_the_examples_take_offline_lies_inside_their_forecast(tmp_path, question):
    team = open_team(Settings(data_dir=tmp_path, model="offline", retriever="library"))
    try:
        scope, _ = await team.scope(ScopingState(), question)
        contract = await team.draft(scope)
        job = await team.start(contract)
        await job.wait()
    finally:
        await team.close()
    lines = {line.name: line for line in contract.forecast.lines}
    made = job.report.methodology
    assert inside(lines["Searches"], made.searches), (lines["Searches"], made.searches)
    assert made.searches > sum(len(one.searches) for one in contract.plans[0].root.leaves())  # the challenge's too
    assert inside(lines["Sources read"], made.sources_read), (lines["Sources read"], made.sources_read)
    assert inside(lines["Model calls"], made.actual.model_calls)
    assert inside(lines["Cost"], made.actual.cost_usd)
    assert lines["Time"].high >= 0.5


DEEP = {
    QUERY.text: tree(
        leaf("Closures", "On how many days was the ferry line closed?"),
        under(
            "late",
            leaf("Costs", "What did the Orvane winter service cost?"),
            leaf("Passengers", "How many passengers did the Orvane ferry carry?"),
        ),
        claims=("The line was closed on 12 days in 2022/23.",),
    ),
}


@pytest.mark.parametrize("plans", [{QUERY.text: FLAT}, DEEP], ids=["flat", "deep"])
async def test_what_a_run_with_a_model_takes_lies_inside_its_forecast(bench, plans):
    from tests.scripts import working_model

    work = bench(working_model(plans), caps=caps_of(BRIEF, CapOverrides()))
    outcome = await work.run()
    lines = {line.name: line for line in outcome.contract.forecast.lines}
    spent = work.last.budget.spent
    planners = len([request for request in work.model.asked if request.role == "planner"])
    assert inside(lines["Searches"], spent.searches), (lines["Searches"], spent)
    assert inside(lines["Model calls"], spent.calls - planners), (lines["Model calls"], spent)
