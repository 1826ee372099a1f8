"""The draft on the table: it is made, edited on the card or by talking, gone back from, and given files.

What an edit makes of the plans without asking a model again, and what it says. A part is named by its place: the number
of the plan, then the number of the child at each level, all counted from 0.
"""

from collections.abc import Callable, Iterator
from typing import Literal

from pydantic import Field

from agents.chat import answers
from agents.chat.commands import Edit, Part, Start, Wish, read, read_edit
from agents.chat.preferences import Preferences, changes, edited
from agents.chat.state import Button, ChatState, Draft, Say, Show, ShowContract, ShowScope, Stage
from agents.chat.texts import ChatTexts
from agents.contracts.contract import Brief, Contract
from agents.contracts.frozen import Frozen
from agents.contracts.plan import Leaf, LeafBudget, Node, Plan
from agents.core.errors import BadRequest, DossierError, NotFeasible
from agents.core.role import OnText
from agents.jobs.job import Job
from agents.memory.knowledge import LOCAL_OWNER
from agents.research.planning.drafting import refreshed
from agents.research.planning.freeze_contract import bounds_of
from agents.research.scoping.turn import ScopingState, refused
from agents.search.uploads import UploadResult
from agents.team import Team

Branch = Node | Leaf
Children = tuple[Branch, ...]
Place = tuple[int, ...]

MAX_TITLE = 200  # characters of a part's title
MAX_FORMER = 8  # drafts that can be gone back to


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
    plan, old, new = plans[number], branch.title, " ".join(edit.text.split())[:MAX_TITLE]
    if edit.op in {"add", "rename"} and not new:
        raise BadRequest("A part needs words that say what it shall find out. Nothing was changed.")
    if edit.op == "add":
        leaf, at = _new_leaf(plan, new, max_leaves), 0
        above = inner if isinstance(branch, Node) else inner[:-1]  # a part that is not divided gets one beside it
    elif not inner:
        raise BadRequest("That is the whole question. Nothing was changed.")
    else:
        *above, at = inner

    def change(children: Children) -> Children:
        left, to = (*children[:at], *children[at + 1 :]), at - 1 if edit.op == "up" else at + 1
        match edit.op:
            case "add":
                return (*children, leaf)
            case "drop":
                return left
            case "rename":
                return (*children[:at], _named(branch, new), *children[at + 1 :])
        if not 0 <= to < len(children):
            raise BadRequest("“{title}” can't be moved further. Nothing was changed.", title=old)
        return (*left[:to], branch, *left[to:])

    if (root := _changed(plan.root, above, change)) is None:
        raise BadRequest(
            "That is the last part of its question: without it there is nothing to research. Nothing was changed."
        )
    said = words(_SAID[edit.op], title=new if edit.op == "add" else old, old=old, new=new)
    return (*plans[:number], _with(plan, root, {old: new} if edit.op == "rename" else {}), *plans[number + 1 :]), said


_SAID = {"add": "added", "drop": "dropped", "rename": "renamed", "up": "moved_up", "down": "moved_down"}


def place_of(number: str, plans: tuple[Plan, ...]) -> Place:
    """Find a part by its number as shown, `2.1`. With one query its own parts are counted, else the queries first."""
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


def _changed(node: Node, inner: list[int], change: Callable[[Children], Children]) -> Node | None:
    """Change the children of the node at a place; one that is left without any goes too."""
    children = node.children
    if inner:
        at, *below = inner
        child = children[at]
        after = _changed(child, below, change) if isinstance(child, Node) else None
        children = (*children[:at], *((after,) if after else ()), *children[at + 1 :])
    else:
        children = change(children)
    return node.model_copy(update={"children": children}) if children else None


def _new_leaf(plan: Plan, title: str, max_leaves: int) -> Leaf:
    leaves = plan.root.leaves()
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


class Drafting:
    """How a chat stands and how it speaks, and all that makes or changes its draft.

    What cannot be done is raised, and said by whoever took the message.
    """

    _in_place = False  # the edit at hand was made on the card

    def __init__(
        self, team: Team, state: ChatState, *, show: Show, on_text: OnText | None = None, owner: str = "",
        preferences: Preferences = Preferences()
    ) -> None:  # fmt: skip
        self.team, self.state, self.owner = team, state, owner
        self.show, self.on_text = show, on_text  # the latter is given the manager's reply while it is written
        self.preferences = preferences.offered(team.model_choices, team.places)
        self.memory_of = owner or LOCAL_OWNER  # whose knowledge base is meant

    @property
    def words(self) -> ChatTexts:
        """The texts in the language of this chat."""
        return ChatTexts(self.state.language)

    @property
    def running(self) -> Job | None:
        """The run that is going in this chat, when this process knows it; one that the judge sent back is not."""
        job = self.team.jobs.get(self.state.job_id, self.owner) if self.state.job_id else None
        return None if job is None or job.over or job.blocked_reason == "needs_rework" else job

    @property
    def stage(self) -> Stage:
        """Where the talk stands."""
        if self.running is not None:
            return "running"
        if self.state.contract is not None:
            return "draft"
        return "scoping" if self.state.scope.queries else "report" if self.state.job_id else "empty"

    def now(self, **update: object) -> None:
        """Let the chat stand otherwise in some respects."""
        self.state = self.state.model_copy(update=update)

    async def say(self, name: str, /, *buttons: Button, **values: object) -> None:
        """Say one of the texts, with answers to choose."""
        await self.show(Say(self.words(name, **values), buttons))

    def no(self, name: str, /, **values: object) -> BadRequest:
        """Make a refusal of one of the texts, to be raised."""
        return BadRequest(self.words(name, **values))

    async def wished(self, wish: Wish, progress: str = "") -> None:
        """Answer a short wish that nothing has to be worked out for."""
        await self.show(Say(answers.short(wish, self.stage, self.team, self.words, progress)))

    # ---- the draft

    async def filed(self, taken: UploadResult, text: str) -> None:
        """Put files beside what is searched; a draft on the table becomes one that names them."""
        before, said = self.state.draft, answers.filed(taken, self.stage, self.words, with_text=bool(text.strip()))
        scope = self.state.scope.model_copy(update={"files": (*self.state.scope.files, *taken.files)})
        self.now(scope=scope)
        await self.show(Say(said))
        if before and taken.files and (contract := self._with_terms(before.contract, scope)):
            shown = self.on_the_table(contract, before)
            if not text.strip() or isinstance(read(text), Start):
                await self.show(shown)

    async def part(self, part: Part) -> None:
        """Do what was typed about one part."""
        draft = self._draft()
        if part.op in {"finish", "retry"}:
            raise self.no("nothing_runs")
        plans = draft.contract.plans
        place: Place = (0,)
        if part.number or part.title:
            place = place_of(part.number, plans) if part.number else place_named(part.title, plans, self.words)
        op = "drop" if part.op == "stop" else part.op
        await self._part_edit(CardEdit.model_validate({"op": op, "place": place, "text": part.text}))

    def _draft(self) -> Draft:
        if (draft := self.state.draft) is None:
            raise self.no("no_draft_parts")
        return draft

    async def _part_edit(self, edit: CardEdit) -> None:
        before = self._draft()
        if edit.op == "drop" and len(edit.place) == 1:
            return await self.edit(Edit(drop=(edit.place[0] + 1,)))
        most = self.team.means.limits.leaves
        plans, said = edit_plans(before.contract.plans, edit, self.words, max_leaves=most)
        self.now(by_hand=True)
        await self.show(self.on_the_table(self._of_plans(before.contract.brief, plans), before, (said,)))

    def _of_plans(self, brief: Brief, plans: tuple[Plan, ...]) -> Contract:
        return self.team.drafts.of_plans(brief, tuple(refreshed(plan, bounds_of(brief).rounds) for plan in plans))

    def _with_terms(self, before: Contract, scope: ScopingState) -> Contract | None:
        """Put the same plans under changed terms; None when a query has no plan among them."""
        by_query = {plan.query: plan for plan in before.plans}
        plans = tuple(by_query[query.text] for query in scope.queries if query.text in by_query)
        if len(plans) < len(scope.queries):
            return None
        return self._of_plans(scope.brief(before.brief.today, max_cost_usd=self.team.settings.max_cost_usd), plans)

    async def undo(self) -> None:
        """Go back to the draft before."""
        if not self.state.former:
            raise self.no("no_earlier_draft")
        *former, draft = self.state.former
        by_hand, drafts = bool(former) and self.state.by_hand, self.state.drafts + 1
        self.now(scope=draft.scope, contract=draft.contract, former=tuple(former), drafts=drafts, by_hand=by_hand)
        await self.show(self.shown((self.words("took_back", change=draft.left_by),)))

    async def on_card(self, edit: CardEdit) -> None:
        """Take an edit made on the card."""
        self._in_place = True
        try:
            if self.state.contract is None or edit.hash != self.state.contract.hash:
                raise self.no("old_card")
            if edit.op == "undo":
                await self.undo()
            elif edit.op != "say":
                await self._part_edit(edit)
            elif said := read_edit(edit.text):
                await self.edit(said)
            else:
                raise self.no("not_an_edit", text=edit.text[:80])
        finally:
            self._in_place = False

    async def edit(self, edit: Edit) -> None:
        """Change the limits, and the draft with them."""
        state, before = self.state, self.state.draft
        if edit.places and not set(edit.places) <= set(self.team.places):
            raise self.no("place_not_alone")
        if edit.memory and self.team.memory is None:
            raise self.no("known_off")
        scope = edited(state.scope, edit)
        if edit.memory:
            scope = scope.model_copy(update={"memory": self.memory_of})
        # The words of a plan are in the language it was drafted in, and it leaves out what is known; one that was edited
        # by hand stays all the same.
        stays = before is not None and ((edit.language is None and edit.memory is None) or state.by_hand)
        contract = self._with_terms(before.contract, scope) if before and stays else None
        self.now(scope=scope)
        if not (scope.feasible and scope.ready):
            await self.say("noted" if scope.queries else "noted_next")
            if scope.queries:
                await self.show_scope()
        elif contract is not None:
            await self.show(self.on_the_table(contract, before))
        else:
            try:
                await self.drafted(before)
            except DossierError:
                self.state = state
                raise

    async def drafted(self, before: Draft | None = None) -> None:
        """Draft the contract; a plan that comes out too deep or too wide takes the query's feasibility back."""
        scope = self.state.scope
        try:
            contract = await self.team.draft(scope)
        except NotFeasible as error:
            for query in scope.queries:
                # Narrower questions out of the query's own parts, where the plan offered none.
                parts = tuple(f"{query.text.rstrip('?. ')}: only {part}?" for part in query.sub_topics)
                scope = refused(scope, query.text, error.reasons, error.splits or query.suggested_split or parts)
            self.now(scope=scope, contract=None)
            await self.show_scope()
        else:
            self.now(scope=scope.model_copy(update={"spent": contract.spent}))
            await self.show(self.on_the_table(contract, before))

    async def show_scope(self) -> None:
        """Show the verdict on the questions, with narrower ones to choose from."""
        await self.show(ShowScope(self.state.scope, self.team.drafts.usual()))

    def on_the_table(self, contract: Contract, before: Draft | None, said: tuple[str, ...] = ()) -> ShowContract:
        """Put a draft on the table; gives it with what is other than in the one before."""
        changed = said or (changes(before.contract, contract, self.words) if before else ())
        former = self.state.former
        if before is not None and changed:
            former = (*former, before.model_copy(update={"left_by": "; ".join(changed)}))[-MAX_FORMER:]
        self.now(contract=contract, drafts=self.state.drafts + 1, former=former, pending="")
        return self.shown(changed)

    def shown(self, changed: tuple[str, ...] = ()) -> ShowContract:
        """Give the draft as it is shown."""
        state, draft = self.state, self._draft()
        return ShowContract(draft.contract, draft.scope, changed, state.drafts, bool(state.former), self._in_place)
