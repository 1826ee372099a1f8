"""Drafts and their edits: what a change makes of a plan or of its limits without asking a model again, and what it says.

A part is named by its place: the number of the plan, then the number of the child at each level, all counted from 0.
"""

from collections.abc import Callable
from typing import Literal

from pydantic import Field

from agents.chat.texts import ChatTexts
from agents.contracts.contract import Brief, Contract
from agents.contracts.frozen import Frozen
from agents.contracts.plan import Leaf, LeafBudget, Node, Plan
from agents.core.errors import BadRequest
from agents.research.planning.freeze_contract import bounds_of
from agents.research.scoping.turn import ScopingState
from agents.team import Team

Place = tuple[int, ...]
Branch = Node | Leaf

MAX_TITLE = 200
"""Characters of a part's title."""
_FIRST = "“{title}” is the first already. Nothing was changed."
_LAST = "“{title}” is the last already. Nothing was changed."


class PartEdit(Frozen):
    """One change of the tree, as the user asked for it."""

    op: Literal["drop", "add", "rename", "up", "down"]
    place: Place
    """Of the part that is meant; of the one that gets a new part, for `add`."""
    text: str = ""
    """The new title, for `rename` and `add`."""


class PlansEdited(Frozen):
    """The plans after an edit, and the edit in plain words."""

    plans: tuple[Plan, ...]
    said: str
    """For example `dropped “Costs”`."""


def edit_plans(plans: tuple[Plan, ...], edit: PartEdit, words: ChatTexts, *, max_leaves: int) -> PlansEdited:
    """Apply one edit to the plans of a draft.

    Args:
        plans: one per query, in their order; whole plans are dropped by dropping their query, never here.
        edit: what shall change.
        words: the texts in the language of the chat.
        max_leaves: leaves that one plan may have.

    Raises:
        BadRequest: there is no such part, or the plan could not run any more; the message is for the user.
    """
    branch = branch_at(plans, edit.place)
    number, inner = edit.place[0], edit.place[1:]
    plan, title = plans[number], _title(edit.text) if edit.op in {"add", "rename"} else ""
    renamed: tuple[str, str] | None = None
    if edit.op == "add":
        leaf = _new_leaf(plan, branch, title, max_leaves)
        root = _changed(plan.root, inner, lambda children: (*children, leaf))
        said = words("added", title=title)
    elif not inner:
        raise BadRequest(_WHOLE[edit.op])
    elif edit.op == "drop":
        root = _changed(plan.root, inner[:-1], lambda children: _without(children, inner[-1]))
        said = words("dropped", title=branch.title)
    elif edit.op == "rename":
        after = _named(branch, title)
        root = _changed(
            plan.root, inner[:-1], lambda children: (*children[: inner[-1]], after, *children[inner[-1] + 1 :])
        )
        renamed, said = (branch.title, title), words("renamed", old=branch.title, new=title)
    else:
        by = -1 if edit.op == "up" else 1
        root = _changed(plan.root, inner[:-1], lambda children: _swapped(children, inner[-1], by))
        said = words(f"moved_{edit.op}", title=branch.title)
    if root is None:
        raise BadRequest(
            "That is the last part of its question: without it there is nothing to research. Nothing was changed."
        )
    return PlansEdited(plans=(*plans[:number], _with(plan, root, renamed), *plans[number + 1 :]), said=said)


_WHOLE = {
    "drop": "That is the whole question. Nothing was changed.",
    "rename": "That is the question itself. Ask it in other words, and I draft anew. Nothing was changed.",
    "up": "Questions keep the order in which they were asked. Nothing was changed.",
    "down": "Questions keep the order in which they were asked. Nothing was changed.",
}


def place_of(number: str, plans: tuple[Plan, ...]) -> Place:
    """Find a part by its number as shown: `2.1`, `last`. With one query its own parts are counted, else the queries first.

    Raises:
        BadRequest: there is no such part.
    """
    if number == "last":
        number = str(len(plans) if len(plans) > 1 else len(plans[0].root.children))
    steps = tuple(int(step) - 1 for step in number.split(".") if step)
    place = steps if len(plans) > 1 else (0, *steps)
    branch_at(plans, place, number)
    return place


def place_by_title(title: str, plans: tuple[Plan, ...]) -> Place | None:
    """Find the one part whose title holds these words; None where none or several do."""
    wanted = set(title.casefold().removeprefix("the ").split())
    found: list[Place] = []

    def walk(branch: Branch, place: Place) -> None:
        if len(place) > 1 and wanted <= set(branch.title.casefold().split()):
            found.append(place)
        for number, child in enumerate(branch.children if isinstance(branch, Node) else ()):
            walk(child, (*place, number))

    for number, plan in enumerate(plans):
        walk(plan.root, (number,))
    return found[0] if len(found) == 1 else None


def part_titles(plans: tuple[Plan, ...]) -> tuple[str, ...]:
    """Name the parts of all plans."""
    return tuple(child.title for plan in plans for child in plan.root.children)


def branch_at(plans: tuple[Plan, ...], place: Place, number: str = "") -> Branch:
    """Return the part of a place.

    Raises:
        BadRequest: there is none.
    """
    missing = BadRequest(
        "There is no part {number} in this draft. Nothing was changed.", number=number or "of that number"
    )
    if not place or not 0 <= place[0] < len(plans):
        raise missing
    branch: Branch = plans[place[0]].root
    for step in place[1:]:
        if not isinstance(branch, Node) or not 0 <= step < len(branch.children):
            raise missing
        branch = branch.children[step]
    return branch


def _title(text: str) -> str:
    title = " ".join(text.split())
    if not title:
        raise BadRequest("A part needs words that say what it shall find out. Nothing was changed.")
    if len(title) > MAX_TITLE:
        raise BadRequest(
            "That has {count} characters; a part is named in up to {most}. Nothing was changed.",
            count=len(title),
            most=MAX_TITLE,
        )
    return title


Children = tuple[Branch, ...]


def _changed(node: Node, inner: Place, change: Callable[[Children], Children]) -> Node | None:
    """Change the children of the node at a place; one that is left without any goes too."""
    if inner:
        child = node.children[inner[0]]
        if not isinstance(child, Node):
            raise BadRequest("“{title}” has no parts of its own. Nothing was changed.", title=child.title)
        after = _changed(child, inner[1:], change)
        children: Children = (*node.children[: inner[0]], *((after,) if after else ()), *node.children[inner[0] + 1 :])
    else:
        children = change(node.children)
    return node.model_copy(update={"children": children}) if children else None


def _without(children: Children, at: int) -> Children:
    return (*children[:at], *children[at + 1 :])


def _swapped(children: Children, here: int, by: int) -> Children:
    if not 0 <= here + by < len(children):
        raise BadRequest(_FIRST if by < 0 else _LAST, title=children[here].title)
    moved = list(children)
    moved[here], moved[here + by] = moved[here + by], moved[here]
    return tuple(moved)


def _new_leaf(plan: Plan, target: Branch, title: str, max_leaves: int) -> Leaf:
    leaves = plan.root.leaves()
    if isinstance(target, Leaf):
        raise BadRequest(
            "“{title}” is not divided further; add the part beside it. Nothing was changed.", title=target.title
        )
    if len(leaves) >= max_leaves:
        raise BadRequest(
            "This question has {count} parts, as many as one run can do. Nothing was changed.", count=len(leaves)
        )
    if any(leaf.title.casefold() == title.casefold() for leaf in leaves):
        raise BadRequest("There is a part “{title}” already. Nothing was changed.", title=title)
    budget = leaves[0].budget if leaves else LeafBudget()
    return Leaf(title=title, objective=title, questions=(title,), searches=(title,), budget=budget)


def _named(branch: Branch, title: str) -> Branch:
    """Rename a part. What it asks follows: whoever writes a new name wants that looked for, not the old one."""
    if isinstance(branch, Node):
        return branch.model_copy(update={"title": title})
    questions = (title, *branch.questions[1:]) if branch.questions else (title,)
    searches = (title, *(search for search in branch.searches[1:] if search != title))
    return branch.model_copy(update={"title": title, "objective": title, "questions": questions, "searches": searches})


def _with(plan: Plan, root: Node, renamed: tuple[str, str] | None = None) -> Plan:
    """The plan with another tree; its claims stay with the leaves that are left."""
    titles = {leaf.title for leaf in root.leaves()}
    claims = []
    for claim in plan.claims:
        leaves = tuple(renamed[1] if renamed and leaf == renamed[0] else leaf for leaf in claim.leaves)
        left = tuple(leaf for leaf in leaves if leaf in titles)
        if left or not claim.leaves:
            claims.append(claim.model_copy(update={"leaves": left}))
    # Through validation: no edit makes a plan that could not have been drafted.
    return Plan.model_validate(plan.model_copy(update={"root": root, "claims": tuple(claims)}).model_dump())


def refreshed(plan: Plan, rounds: int) -> Plan:
    """The plan with its budgets as if drafted now: rounds of the mode at hand, searches as its leaves have words for.

    Fitting a plan to its caps only ever takes away; without this, what an edit gave up could never come back.
    """

    def fresh(branch: Branch) -> Branch:
        if isinstance(branch, Leaf):
            budget = branch.budget.model_copy(update={"searches": min(3, max(1, len(branch.searches)))})
            return branch.model_copy(update={"budget": budget})
        phases = tuple(phase.model_copy(update={"max_iterations": rounds}) for phase in branch.phases)
        return branch.model_copy(
            update={"phases": phases, "children": tuple(fresh(child) for child in branch.children)}
        )

    return plan.model_copy(update={"root": fresh(plan.root)})


# ---- contracts


class CardEdit(Frozen):
    """An edit made on the card; what the browser sends."""

    op: Literal["drop", "add", "rename", "up", "down", "say", "undo"]
    hash: str = ""
    """Of the draft that the card showed: an edit of one that no longer stands is refused."""
    path: tuple[int, ...] = Field(default=(), max_length=5)
    """The part: number of the tree, then of the child at each level, from 0; empty adds to the first query."""
    text: str = Field(default="", max_length=400)
    """The new title; for `say`, the same words as typed in the chat: `10 minutes`, `only domain a.org`."""


def with_part(team: Team, contract: Contract, edit: PartEdit, words: ChatTexts) -> tuple[Contract, str]:
    """Edit one part; says what changed.

    Raises:
        BadRequest: there is no such part, or the plan could not run any more.
    """
    done = edit_plans(contract.plans, edit, words, max_leaves=team.means.limits.leaves)
    return _contract(team, contract.brief, done.plans), done.said


def with_terms(team: Team, before: Contract, scope: ScopingState) -> Contract | None:
    """Put the same plans under changed terms; None when a query has no plan among them."""
    by_query = {plan.query: plan for plan in before.plans}
    plans = [by_query[query.text] for query in scope.queries if query.text in by_query]
    if len(plans) < len(scope.queries):
        return None
    brief = scope.brief(before.brief.today, max_cost_usd=team.settings.max_cost_usd)
    return _contract(team, brief, tuple(plans))


def _contract(team: Team, brief: Brief, plans: tuple[Plan, ...]) -> Contract:
    return team.drafts.of_plans(brief, tuple(refreshed(plan, bounds_of(brief).rounds) for plan in plans))
