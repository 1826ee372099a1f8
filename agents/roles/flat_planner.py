"""The flat planner turns the task of a `/run` into three to six queries side by side: one node, one phase."""

from agents.contracts.response import FlatPlan, FlatPlanInput
from agents.core.errors import Reject
from agents.core.role import Role
from agents.nlp.years import Calendar

MIN_QUERIES, MAX_QUERIES = 3, 6
"""Queries of a flat plan (specification, section 4)."""


def enough_queries(given: FlatPlanInput, plan: FlatPlan) -> None:
    """Refuse too few queries, unless fewer may be searched anyway."""
    wanted = min(MIN_QUERIES, given.max_queries)
    distinct = {query.query.casefold() for query in plan.queries}
    if plan.feasible and len(distinct) < wanted:
        raise Reject(f"Give {MIN_QUERIES} to {MAX_QUERIES} different queries; you gave {len(distinct)}.")


def infeasible_offers_a_way(given: FlatPlanInput, plan: FlatPlan) -> None:
    """Refuse a 'no' without reasons and narrower tasks to choose from."""
    if not plan.feasible and (not plan.reasons or len(plan.suggested_splits) < 2):
        raise Reject("`feasible` is false: give at least one reason and at least two narrower tasks.")


def only_given_years(given: FlatPlanInput, plan: FlatPlan) -> FlatPlan:
    """Take out of the queries the years that neither the task nor today gives."""
    calendar = Calendar(given.model_dump_json(exclude={"survey", "today"}), given.today)
    queries = tuple(query.model_copy(update={"query": calendar.clean(query.query)}) for query in plan.queries)
    return plan.model_copy(update={"queries": queries})


FLAT_PLANNER = Role(
    name="planner",
    prompt="plan_flat",
    takes=FlatPlanInput,
    gives=FlatPlan,
    checks=(enough_queries, infeasible_offers_a_way),
    mend=only_given_years,
    max_output_tokens=1200,
)
"""A task in; its tier, and what to search for and why out. What is more than six is left out by code."""
