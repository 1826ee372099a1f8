"""One draft after another: what an edit makes of a contract without asking a model again, and the way back."""

from typing import Literal

from pydantic import Field

from agents.chat.branch_commands import TypedEdit
from agents.contracts.contract import Contract
from agents.contracts.frozen import Frozen
from agents.contracts.plan import Plan
from agents.core.errors import BadRequest
from agents.research.planning.contract import bounds_of, make_contract
from agents.research.planning.edit_draft import BranchEdit, edit_plans, place_of, refreshed
from agents.research.scoping.turn import Scope
from agents.team import Team

MAX_FORMER = 8
"""Drafts that are kept to go back to."""


class Draft(Frozen):
    """A draft that another took the place of."""

    scope: Scope
    contract: Contract
    left_by: str = ""
    """The edit that left it, in plain words."""


class CardEdit(Frozen):
    """An edit made on the card; what the browser sends."""

    op: Literal["drop", "add", "rename", "up", "down", "say", "undo"]
    hash: str = ""
    """Of the draft that the card showed: an edit of one that no longer stands is refused."""
    path: tuple[int, ...] = Field(default=(), max_length=5)
    """The branch: number of the tree, then of the child at each level, from 0; empty adds to the first query."""
    text: str = Field(default="", max_length=400)
    """The new title; for `say`, the same words as typed in the chat: `10 minutes`, `only domain a.org`."""


def with_branch(team: Team, contract: Contract, edit: BranchEdit) -> tuple[Contract, str]:
    """Edit one branch; says what changed.

    Raises:
        BadRequest: there is no such branch, or the plan could not run any more.
    """
    done = edit_plans(contract.plans, edit, max_leaves=team.means.limits.leaves)
    brief = contract.brief
    after = make_contract(
        brief,
        tuple(refreshed(plan, bounds_of(brief).rounds) for plan in done.plans),
        team.means.limits,
        reasons=team.means.reasons,
        models=team.means.models,
        retrievers=team.means.retrievers,
    )
    return after, done.said


def with_terms(team: Team, before: Contract, scope: Scope) -> Contract | None:
    """Put the same plans under changed terms; None when a query has no plan among them."""
    by_query = {plan.query: plan for plan in before.plans}
    plans: list[Plan] = []
    for query in scope.queries:
        plan = by_query.get(query.text)
        if plan is None:
            return None
        plans.append(plan)
    brief = scope.brief(before.brief.today, max_cost_usd=team.settings.max_cost_usd)
    return make_contract(
        brief,
        tuple(refreshed(plan, bounds_of(brief).rounds) for plan in plans),
        team.means.limits,
        reasons=team.means.reasons,
        models=team.means.models,
        retrievers=team.means.retrievers,
    )


def as_branch_edit(typed: TypedEdit, contract: Contract) -> BranchEdit:
    """Find the branch that was named by its number.

    Raises:
        BadRequest: there is no such branch.
    """
    place = place_of(typed.number, contract.plans) if typed.number else (0,)
    return BranchEdit(op=typed.op, place=place, text=typed.text)


def put_back(former: tuple[Draft, ...]) -> tuple[Draft, tuple[Draft, ...]]:
    """Take the last draft back out.

    Raises:
        BadRequest: there is none.
    """
    if not former:
        raise BadRequest("There is no earlier draft to go back to. Nothing was changed.")
    return former[-1], former[:-1]
