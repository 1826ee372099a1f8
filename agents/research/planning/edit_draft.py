"""Edits of a drafted plan by hand: drop, add, rename and reorder branches. What comes out is a plan that can run.

A branch is named by its place: the number of the plan, then the number of the child at each level, all counted from 0.
"""

from collections.abc import Callable
from typing import Literal

from agents.contracts.frozen import Frozen
from agents.contracts.plan import Leaf, LeafBudget, Node, Plan
from agents.core.errors import BadRequest

BranchOp = Literal["drop", "add", "rename", "up", "down"]
Place = tuple[int, ...]
Branch = Node | Leaf

MAX_TITLE = 200
"""Characters of a branch's title."""
NOTHING = "Nothing was changed."


class BranchEdit(Frozen):
    """One change of the tree, as the user asked for it."""

    op: BranchOp
    place: Place
    """Of the branch that is meant; of the executor that gets a new branch, for `add`."""
    text: str = ""
    """The new title, for `rename` and `add`."""


class PlansEdited(Frozen):
    """The plans after an edit, and the edit in plain words."""

    plans: tuple[Plan, ...]
    said: str
    """For example `dropped “Costs”`."""


def edit_plans(plans: tuple[Plan, ...], edit: BranchEdit, *, max_leaves: int) -> PlansEdited:
    """Apply one edit to the plans of a draft.

    Args:
        plans: one per query, in their order.
        edit: what shall change; whole plans are dropped by dropping their query, never here.
        max_leaves: leaves that one plan may have.

    Raises:
        BadRequest: there is no such branch, or the plan could not run any more; the message is for the user.
    """
    if not edit.place or not 0 <= edit.place[0] < len(plans):
        raise BadRequest(f"There is no such branch in this draft. {NOTHING}")
    number, inner = edit.place[0], edit.place[1:]
    plan = plans[number]
    match edit.op:
        case "drop":
            changed, said = _dropped(plan, inner)
        case "add":
            changed, said = _added(plan, inner, _title(edit.text), max_leaves)
        case "rename":
            changed, said = _renamed(plan, inner, _title(edit.text))
        case "up" | "down":
            changed, said = _moved(plan, inner, -1 if edit.op == "up" else 1)
    return PlansEdited(plans=(*plans[:number], changed, *plans[number + 1 :]), said=said)


def place_of(number: str, plans: tuple[Plan, ...]) -> Place:
    """Find a branch by its number as shown: `2.1`. With one query its own branches are counted, else the queries first.

    Raises:
        BadRequest: there is no such branch.
    """
    steps = tuple(int(step) - 1 for step in number.split(".") if step)
    place = steps if len(plans) > 1 else (0, *steps)
    branch_at(plans, place, number)
    return place


def branch_at(plans: tuple[Plan, ...], place: Place, number: str = "") -> Branch:
    """Return the branch of a place.

    Raises:
        BadRequest: there is none.
    """
    missing = BadRequest(f"There is no branch {number} in this draft. {NOTHING}".replace("  ", " "))
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
        raise BadRequest(f"A branch needs words that say what it shall find out. {NOTHING}")
    if len(title) > MAX_TITLE:
        raise BadRequest(f"That has {len(title)} characters; a branch is named in up to {MAX_TITLE}. {NOTHING}")
    return title


def _with(plan: Plan, root: Node, renamed: tuple[str, str] | None = None) -> Plan:
    """The plan with another tree; its claims stay with the leaves that are left."""
    titles = {leaf.title for leaf in root.leaves()}
    claims = []
    for claim in plan.claims:
        leaves = tuple(renamed[1] if renamed and leaf == renamed[0] else leaf for leaf in claim.leaves)
        kept = tuple(leaf for leaf in leaves if leaf in titles)
        if kept or not claim.leaves:
            claims.append(claim.model_copy(update={"leaves": kept}))
    # Through validation: no edit makes a plan that could not have been drafted.
    return Plan.model_validate(plan.model_copy(update={"root": root, "claims": tuple(claims)}).model_dump())


def _changed_at(node: Node, inner: Place, change: Callable[[Node], Node | None]) -> Node | None:
    """Change the executor at a place; one that is left without children goes too."""
    if not inner:
        return change(node)
    child = node.children[inner[0]]
    if not isinstance(child, Node):
        raise BadRequest(f"A leaf has no branches of its own. {NOTHING}")
    after = _changed_at(child, inner[1:], change)
    children = (*node.children[: inner[0]], *((after,) if after else ()), *node.children[inner[0] + 1 :])
    return node.model_copy(update={"children": children}) if children else None


def _dropped(plan: Plan, inner: Place) -> tuple[Plan, str]:
    branch = branch_at((plan,), (0, *inner))
    if not inner:
        raise BadRequest(f"That is the whole query. {NOTHING}")

    def drop(node: Node) -> Node | None:
        children = (*node.children[: inner[-1]], *node.children[inner[-1] + 1 :])
        return node.model_copy(update={"children": children}) if children else None

    root = _changed_at(plan.root, inner[:-1], drop)
    if root is None:
        raise BadRequest(f"That is the last branch of its query: without it there is nothing to research. {NOTHING}")
    return _with(plan, root), f"dropped “{branch.title}”"


def _added(plan: Plan, inner: Place, title: str, max_leaves: int) -> tuple[Plan, str]:
    target = branch_at((plan,), (0, *inner))
    if isinstance(target, Leaf):
        raise BadRequest(f"“{target.title}” is a leaf; add the branch beside it. {NOTHING}")
    leaves = plan.root.leaves()
    if len(leaves) >= max_leaves:
        raise BadRequest(f"This query has {len(leaves)} leaves; {max_leaves} is the bound. {NOTHING}")
    if any(leaf.title.casefold() == title.casefold() for leaf in leaves):
        raise BadRequest(f"There is a branch “{title}” already. {NOTHING}")
    budget = leaves[0].budget if leaves else LeafBudget()
    leaf = Leaf(title=title, objective=title, questions=(title,), searches=(title,), budget=budget)

    def add(node: Node) -> Node:
        return node.model_copy(update={"children": (*node.children, leaf)})

    root = _changed_at(plan.root, inner, add)
    return _with(plan, root or plan.root), f"added “{title}”"


def _renamed(plan: Plan, inner: Place, title: str) -> tuple[Plan, str]:
    branch = branch_at((plan,), (0, *inner))
    if not inner:
        raise BadRequest(f"That is the query itself. Ask it in other words, and I draft anew. {NOTHING}")
    renamed = _named(branch, title)

    def put(node: Node) -> Node:
        children = (*node.children[: inner[-1]], renamed, *node.children[inner[-1] + 1 :])
        return node.model_copy(update={"children": children})

    root = _changed_at(plan.root, inner[:-1], put)
    said = f"“{branch.title}” is now “{title}”"
    return _with(plan, root or plan.root, (branch.title, title)), said


def _named(branch: Branch, title: str) -> Branch:
    """Rename a branch. What it asks follows: whoever writes a new name wants that looked for, not the old one."""
    if isinstance(branch, Node):
        return branch.model_copy(update={"title": title})
    questions = (title, *branch.questions[1:]) if branch.questions else (title,)
    searches = (title, *(search for search in branch.searches[1:] if search != title))
    return branch.model_copy(update={"title": title, "objective": title, "questions": questions, "searches": searches})


def _moved(plan: Plan, inner: Place, by: int) -> tuple[Plan, str]:
    branch = branch_at((plan,), (0, *inner))
    if not inner:
        raise BadRequest(f"Queries keep the order in which they were asked. {NOTHING}")
    here, there = inner[-1], inner[-1] + by

    def move(node: Node) -> Node:
        if not 0 <= there < len(node.children):
            raise BadRequest(f"“{branch.title}” is the {'first' if by < 0 else 'last'} already. {NOTHING}")
        children = list(node.children)
        children[here], children[there] = children[there], children[here]
        return node.model_copy(update={"children": tuple(children)})

    root = _changed_at(plan.root, inner[:-1], move)
    return _with(plan, root or plan.root), f"moved “{branch.title}” {'up' if by < 0 else 'down'}"


def refreshed(plan: Plan, rounds: int) -> Plan:
    """The plan with its budgets as if drafted now: rounds of the mode at hand, searches as its leaves have words for.

    Fitting a plan to its caps only ever takes away; without this, what an edit gave up could never come back.
    """

    def fresh(node: Node) -> Node:
        phases = tuple(phase.model_copy(update={"max_iterations": rounds}) for phase in node.phases)
        children: list[Branch] = []
        for child in node.children:
            if isinstance(child, Node):
                children.append(fresh(child))
                continue
            budget = child.budget.model_copy(update={"searches": min(3, max(1, len(child.searches)))})
            children.append(child.model_copy(update={"budget": budget}))
        return node.model_copy(update={"phases": phases, "children": tuple(children)})

    return plan.model_copy(update={"root": fresh(plan.root)})
