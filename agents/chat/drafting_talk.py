"""The draft on the table: it is made, edited on the card or by talking, gone back from, and given files."""

from agents.chat import answers
from agents.chat.commands import Edit, Part, Start, read, read_edit
from agents.chat.plan_edits import CardEdit, part_titles, place_by_title, place_of, with_part, with_terms
from agents.chat.preferences import changes, edited
from agents.chat.state import ChatState, Draft, Refuse, Say, Show, ShowContract, ShowScope, own_splits
from agents.chat.texts import ChatTexts
from agents.contracts.contract import Contract
from agents.core.errors import BadRequest, DossierError, NotFeasible
from agents.memory.knowledge import LOCAL_OWNER
from agents.research.scoping.turn import refused
from agents.search.uploads import UploadResult
from agents.team import Team


class Drafting:
    """How a chat stands, and all that makes or changes the draft in it."""

    def __init__(self, team: Team, state: ChatState, owner: str, show: Show) -> None:
        self.team, self.state, self.owner, self.show = team, state, owner, show
        self._in_place = False
        """The edit at hand was made on the card."""

    @property
    def words(self) -> ChatTexts:
        """The texts in the language of this chat."""
        return ChatTexts(self.state.language)

    def now(self, **update: object) -> None:
        """Let the chat stand otherwise in some respects."""
        self.state = self.state.model_copy(update=update)

    async def filed(self, taken: UploadResult, text: str, *, running: bool) -> None:
        """Put files beside what is searched; a draft on the table becomes one that names them."""
        before, stage = self.state.draft, self.state.stage(running=running)
        scope = self.state.scope.model_copy(update={"files": (*self.state.scope.files, *taken.files)})
        self.now(scope=scope)
        await self.show(Say(answers.filed(taken, stage, self.words, with_text=bool(text.strip()))))
        if before is None or not taken.files:
            return
        if (contract := with_terms(self.team, before.contract, scope)) is not None:
            shown = self._on_the_table(contract, before)
            if not text.strip() or isinstance(read(text), Start):
                await self.show(shown)

    async def part(self, part: Part, contract: Contract) -> None:
        """Do what was typed about one part."""
        op = "drop" if part.op == "stop" else part.op
        if op in {"finish", "retry"}:
            return await self.show(Refuse(self.words("nothing_runs")))
        place: tuple[int, ...] | None = (0,)
        if part.number:
            place = place_of(part.number, contract.plans)
        elif part.title and (place := place_by_title(part.title, contract.plans)) is None:
            titles = ", ".join(part_titles(contract.plans))
            raise BadRequest(self.words("no_such_part", title=part.title[:80], known=titles))
        await self._part_edit(CardEdit.model_validate({"op": op, "place": place, "text": part.text}))

    async def _part_edit(self, edit: CardEdit) -> None:
        before = self.state.draft
        if before is None:
            raise BadRequest(self.words("no_draft_parts"))
        if edit.op == "drop" and len(edit.place) == 1:
            return await self.edit(Edit(drop=(edit.place[0] + 1,)))
        contract, said = with_part(self.team, before.contract, edit, self.words)
        self.now(by_hand=True)
        await self.show(self._on_the_table(contract, before, (said,)))

    async def undo(self) -> None:
        """Go back to the draft before."""
        if not self.state.former:
            raise BadRequest(self.words("no_earlier_draft"))
        left_by = self.state.former[-1].left_by
        self.state = self.state.without_last_edit()
        await self.show(self._shown((self.words("took_back", change=left_by),)))

    async def on_card(self, edit: CardEdit) -> None:
        """Take an edit made on the card. What cannot be done is said; the draft then stands as it was."""
        self._in_place = True
        try:
            if self.state.contract is None or edit.hash != self.state.contract.hash:
                raise BadRequest(self.words("old_card"))
            if edit.op == "undo":
                await self.undo()
            elif edit.op != "say":
                await self._part_edit(edit)
            elif said := read_edit(edit.text):
                await self.edit(said)
            else:
                raise BadRequest(self.words("not_an_edit", text=edit.text[:80]))
        except DossierError as error:
            await self.show(Refuse(self.words.notice(error)))
        finally:
            self._in_place = False

    async def edit(self, edit: Edit) -> None:
        """Change the limits, and the draft with them."""
        state, before = self.state, self.state.draft
        if edit.places and not set(edit.places) <= set(self.team.places):
            raise BadRequest(self.words("place_not_alone"))
        scope = edited(state.scope, edit)
        if edit.memory:
            if self.team.memory is None:
                raise BadRequest(self.words("known_off"))
            scope = scope.model_copy(update={"memory": self.owner or LOCAL_OWNER})
        # The words of a plan are in the language it was drafted in, and it leaves out what is known; one that was edited
        # by hand stays all the same.
        stays = before is not None and ((edit.language is None and edit.memory is None) or state.by_hand)
        contract = with_terms(self.team, before.contract, scope) if before and stays else None
        self.now(scope=scope)
        if not (scope.feasible and scope.ready):
            await self.show(Say(self.words("noted" if scope.queries else "noted_next")))
            if scope.queries:
                await self.show(ShowScope(scope, self.team.drafts.usual()))
        elif contract is not None:
            await self.show(self._on_the_table(contract, before))
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
            await self.show(ShowScope(scope, self.team.drafts.usual()))
        else:
            await self.show(self._on_the_table(contract, before))

    def _on_the_table(self, contract: Contract, before: Draft | None, said: tuple[str, ...] = ()) -> ShowContract:
        """Put a draft on the table, and show what is other than in the one before."""
        changed = said or (changes(before.contract, contract, self.words) if before else ())
        self.state = self.state.with_draft(contract, before, changed)
        return self._shown(changed)

    def _shown(self, changed: tuple[str, ...] = ()) -> ShowContract:
        state = self.state
        if state.contract is None:
            raise BadRequest(self.words("no_draft_parts"))
        return ShowContract(
            state.contract, state.scope, changed, number=state.drafts, undo=bool(state.former), in_place=self._in_place
        )
