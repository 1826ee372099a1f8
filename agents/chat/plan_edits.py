"""Edits of a draft's plans: what a change makes of them or of their limits without asking a model again, and what it says.

A part is named by its place: the number of the plan, then the number of the child at each level, all counted from 0.
"""

from collections.abc import Callable, Iterator
from typing import Literal

from pydantic import Field

from agents.chat.texts import ChatTexts
from agents.contracts.frozen import Frozen
from agents.contracts.plan import Leaf, LeafBudget, Node, Plan
from agents.core.errors import BadRequest
from agents.research.planning.drafting import phases_of

Branch = Node | Leaf
Children = tuple[Branch, ...]
Place = tuple[int, ...]

MAX_TITLE = 200  # characters of a part's title


class CardEdit(Frozen):
    """An edit of the draft, as the browser sends it from the card."""

    op: Literal["drop", "add", "rename", "up", "down", "say", "undo"]
    hash: str = ""  # of the draft that the card showed: an edit of one that no longer stands is refused
    place: Place = Field(default=(0,), min_length=1, max_length=5)
    """Of the part that is meant; of the one that gets a new part, for `add`."""
    text: str = Field(default="", max_length=400)
    """The new title; for `say`, the same words as typed in the chat: `10 minutes`, `only domain a.org`."""


def edit_plans(
    plans: tuple[Plan, ...], edit: CardEdit, words: ChatTexts, *, max_leaves: int
) -> tuple[tuple[Plan, ...], str]:
    """Apply one edit to the plans of a draft; gives the edit in plain words, too: `dropped “Costs”`.

    Whole plans are dropped by dropping their query, never here. A `BadRequest` says why there is no such part, or why the
    plan could not run any more.
    """
    branch, (number, *inner) = branch_at(plans, edit.place), edit.place
    plan, old, new, (*above, at) = plans[number], branch.title, branch.title, inner or [0]
    if edit.op == "add":
        above, new = inner, _title(edit.text)
        leaf = _new_leaf(plan, branch, new, max_leaves)
    elif not inner:
        raise BadRequest(_WHOLE[edit.op])
    elif edit.op == "rename":
        new = _title(edit.text)

    def change(children: Children) -> Children:
        match edit.op:
            case "add":
                return (*children, leaf)
            case "drop":
                return (*children[:at], *children[at + 1 :])
            case "rename":
                return (*children[:at], _named(branch, new), *children[at + 1 :])
        to = at - 1 if edit.op == "up" else at + 1
        if not 0 <= to < len(children):
            first = "“{title}” is the first already. Nothing was changed."
            last = "“{title}” is the last already. Nothing was changed."
            raise BadRequest(first if to < at else last, title=old)
        moved = list(children)
        moved.insert(to, moved.pop(at))
        return tuple(moved)

    if (root := _changed(plan.root, above, change)) is None:
        raise BadRequest(
            "That is the last part of its question: without it there is nothing to research. Nothing was changed."
        )
    said = words(_SAID[edit.op], title=new, old=old, new=new)
    return (*plans[:number], _with(plan, root, {old: new} if edit.op == "rename" else {}), *plans[number + 1 :]), said


_SAID = {"add": "added", "drop": "dropped", "rename": "renamed", "up": "moved_up", "down": "moved_down"}
_ORDER = "Questions keep the order in which they were asked. Nothing was changed."
_WHOLE = {
    "drop": "That is the whole question. Nothing was changed.",
    "rename": "That is the question itself. Ask it in other words, and I draft anew. Nothing was changed.",
    "up": _ORDER,
    "down": _ORDER,
}


def place_of(number: str, plans: tuple[Plan, ...]) -> Place:
    """Find a part by its number as shown: `2.1`, `last`. With one query its own parts are counted, else the queries first."""
    if number == "last":
        number = str(len(plans) if len(plans) > 1 else len(plans[0].root.children))
    steps = tuple(int(step) - 1 for step in number.split(".") if step)
    place = steps if len(plans) > 1 else (0, *steps)
    branch_at(plans, place, number)
    return place


def place_named(title: str, plans: tuple[Plan, ...], words: ChatTexts) -> Place:
    """Find the one part whose title holds these words; a `BadRequest` where none does, or several do."""
    wanted = set(title.casefold().removeprefix("the ").split())

    def named(branch: Branch, place: Place) -> Iterator[Place]:
        if len(place) > 1 and wanted <= set(branch.title.casefold().split()):
            yield place
        for number, child in enumerate(branch.children if isinstance(branch, Node) else ()):
            yield from named(child, (*place, number))

    found = [place for number, plan in enumerate(plans) for place in named(plan.root, (number,))]
    if len(found) != 1:
        known = ", ".join(child.title for plan in plans for child in plan.root.children)
        raise BadRequest(words("no_such_part", title=title[:80], known=known))
    return found[0]


def branch_at(plans: tuple[Plan, ...], place: Place, number: str = "") -> Branch:
    """Return the part of a place; a `BadRequest` where there is none."""
    children: Children = tuple(plan.root for plan in plans)
    branch: Branch | None = None
    for step in place:
        branch = children[step] if 0 <= step < len(children) else None
        children = branch.children if isinstance(branch, Node) else ()
    if branch is None:
        said = "There is no part {number} in this draft. Nothing was changed."
        raise BadRequest(said, number=number or "of that number")
    return branch


def _title(text: str) -> str:
    title = " ".join(text.split())
    if not title:
        raise BadRequest("A part needs words that say what it shall find out. Nothing was changed.")
    if (count := len(title)) > MAX_TITLE:
        said = "That has {count} characters; a part is named in up to {most}. Nothing was changed."
        raise BadRequest(said, count=count, most=MAX_TITLE)
    return title


def _changed(node: Node, inner: list[int], change: Callable[[Children], Children]) -> Node | None:
    """Change the children of the node at a place; one that is left without any goes too."""
    children = node.children
    if not inner:
        children = change(children)
    else:
        at, *below = inner
        child = children[at]
        after = _changed(child, below, change) if isinstance(child, Node) else None
        children = (*children[:at], *((after,) if after else ()), *children[at + 1 :])
    return node.model_copy(update={"children": children}) if children else None


def _new_leaf(plan: Plan, target: Branch, title: str, max_leaves: int) -> Leaf:
    leaves = plan.root.leaves()
    if isinstance(target, Leaf):
        said = "“{title}” is not divided further; add the part beside it. Nothing was changed."
        raise BadRequest(said, title=target.title)
    if (count := len(leaves)) >= max_leaves:
        said = "This question has {count} parts, as many as one run can do. Nothing was changed."
        raise BadRequest(said, count=count)
    if any(leaf.title.casefold() == title.casefold() for leaf in leaves):
        raise BadRequest("There is a part “{title}” already. Nothing was changed.", title=title)
    budget = leaves[0].budget if leaves else LeafBudget()
    return Leaf(title=title, objective=title, questions=(title,), searches=(title,), budget=budget)


def _named(branch: Branch, title: str) -> Branch:
    """Rename a part. What it asks follows: whoever writes a new name wants that looked for, not the old one."""
    if isinstance(branch, Node):
        return branch.model_copy(update={"title": title})
    questions = (title, *branch.questions[1:])
    searches = (title, *(search for search in branch.searches[1:] if search != title))
    return branch.model_copy(update={"title": title, "objective": title, "questions": questions, "searches": searches})


def _with(plan: Plan, root: Node, renamed: dict[str, str]) -> Plan:
    """The plan with another tree; its claims stay with the leaves that are left."""
    titles, claims = {leaf.title for leaf in root.leaves()}, []
    for claim in plan.claims:
        left = tuple(name for leaf in claim.leaves if (name := renamed.get(leaf, leaf)) in titles)
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
        several = branch is plan.root and (len(branch.phases) > 1 or branch.phases[0].criteria.corroboration > 1)
        collect = branch.phases[-2 if len(branch.phases) > 1 else 0].model_copy(
            update={"title": "Collect", "max_iterations": rounds}
        )
        phases = phases_of(collect) if several else (collect,)
        return branch.model_copy(
            update={"phases": phases, "children": tuple(fresh(child) for child in branch.children)}
        )

    return plan.model_copy(update={"root": fresh(plan.root)})
