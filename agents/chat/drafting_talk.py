"""The draft on the table: it is made, edited on the card or by talking, gone back from, and given files."""

from agents.chat import answers
from agents.chat.commands import Edit, Part, Start, Wish, read, read_edit
from agents.chat.plan_edits import CardEdit, edit_plans, place_named, place_of, refreshed
from agents.chat.preferences import Preferences, changes, edited
from agents.chat.state import Button, ChatState, Draft, Refuse, Say, Show, ShowContract, ShowScope, Stage, own_splits
from agents.chat.texts import ChatTexts
from agents.contracts.contract import Brief, Contract
from agents.contracts.plan import Plan
from agents.core.errors import BadRequest, DossierError, NotFeasible
from agents.core.role import OnText
from agents.jobs.job import Job
from agents.memory.knowledge import LOCAL_OWNER
from agents.research.planning.freeze_contract import bounds_of
from agents.research.scoping.turn import ScopingState, refused
from agents.search.uploads import UploadResult
from agents.team import Team


class Drafting:
    """How a chat stands and how it speaks, and all that makes or changes its draft.

    What cannot be done is raised, and said by whoever took the message.
    """

    _in_place = False  # the edit at hand was made on the card

    def __init__(
        self,
        team: Team,
        state: ChatState,
        *,
        show: Show,
        on_text: OnText | None = None,
        owner: str = "",
        preferences: Preferences = Preferences(),
    ) -> None:
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
        return self.state.stage(running=self.running is not None)

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
        place: tuple[int, ...] = (0,)
        if part.number:
            place = place_of(part.number, plans)
        elif part.title:
            place = place_named(part.title, plans, self.words)
        op = "drop" if part.op == "stop" else part.op
        await self._part_edit(CardEdit.model_validate({"op": op, "place": place, "text": part.text}))

    def _draft(self) -> Draft:
        if self.state.draft is None:
            raise self.no("no_draft_parts")
        return self.state.draft

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
        left_by = self.state.former[-1].left_by
        self.state = self.state.without_last_edit()
        await self.show(self.shown((self.words("took_back", change=left_by),)))

    async def on_card(self, edit: CardEdit) -> None:
        """Take an edit made on the card. What cannot be done is said; the draft then stands as it was."""
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
        except DossierError as error:
            await self.show(Refuse(self.words.notice(error)))
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
                scope = refused(scope, query.text, error.reasons, error.splits or own_splits(query))
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
        self.state = self.state.with_draft(contract, before, changed)
        return self.shown(changed)

    def shown(self, changed: tuple[str, ...] = ()) -> ShowContract:
        """Give the draft as it is shown."""
        state, draft = self.state, self._draft()
        return ShowContract(
            draft.contract, draft.scope, changed, number=state.drafts, undo=bool(state.former), in_place=self._in_place
        )
