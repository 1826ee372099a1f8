"""The draft on the table: it is made, edited on the card or by talking, gone back from, and given files."""

from collections.abc import AsyncIterator
from dataclasses import replace

from agents.chat import short_answers
from agents.chat.commands import Part, Start, read
from agents.chat.limits import Edit, changes, edited, read_edit
from agents.chat.plan_edits import (
    CardEdit,
    PartEdit,
    Place,
    part_titles,
    place_by_title,
    place_of,
    with_part,
    with_terms,
)
from agents.chat.state import ChatState, Draft, Effect, Refuse, Say, ShowContract, ShowScope, own_splits
from agents.chat.texts import ChatTexts
from agents.contracts.contract import Contract
from agents.core.errors import BadRequest, DossierError, NotFeasible
from agents.research.scoping.turn import refused
from agents.search.uploads import UploadResult
from agents.team import Team


class ChatDrafts:
    """How a chat stands, and all that makes or changes the draft in it."""

    def __init__(self, team: Team, state: ChatState, owner: str) -> None:
        self.team, self.state, self.owner = team, state, owner

    @property
    def words(self) -> ChatTexts:
        """The texts in the language of this chat."""
        return ChatTexts(self.state.language)

    def now(self, **update: object) -> None:
        """Let the chat stand otherwise in some respects."""
        self.state = self.state.model_copy(update=update)

    def filed(self, taken: UploadResult, text: str, running: bool) -> list[Effect]:
        """Put files beside what is searched; a draft on the table becomes one that names them."""
        if not taken:
            return []
        before = self.state.draft
        scope = self.state.scope.model_copy(update={"files": (*self.state.scope.files, *taken.files)})
        said = short_answers.filed(taken, self.state.stage(running=running), self.words, with_text=bool(text.strip()))
        self.now(scope=scope)
        if before is None or not taken.files:
            return [Say(said)]
        contract = with_terms(self.team, before.contract, scope)
        shown = self.on_the_table(contract, before) if contract is not None else None
        alone = not text.strip() or isinstance(read(text), Start)
        return [Say(said), *((shown,) if shown and alone else ())]

    async def part(self, part: Part, contract: Contract) -> AsyncIterator[Effect]:
        op = "drop" if part.op == "stop" else part.op
        if op in {"finish", "retry"}:
            yield Refuse(self.words("nothing_runs"))
            return
        place: Place = (0,) if op == "add" and not part.number else ()
        if part.number:
            place = place_of(part.number, contract.plans)
        elif part.title:
            found = place_by_title(part.title, contract.plans)
            if found is None:
                titles = ", ".join(part_titles(contract.plans))
                raise BadRequest(self.words("no_such_part", title=part.title[:80], known=titles))
            place = found
        async for effect in self.part_edit(PartEdit(op=op, place=place, text=part.text)):
            yield effect

    async def part_edit(self, edit: PartEdit) -> AsyncIterator[Effect]:
        before = self.state.draft
        if before is None:
            raise BadRequest(self.words("no_draft_parts"))
        if edit.op == "drop" and len(edit.place) == 1:
            async for effect in self.edit(Edit(drop=(edit.place[0] + 1,))):
                yield effect
            return
        contract, said = with_part(self.team, before.contract, edit, self.words)
        self.now(by_hand=True)
        yield self.on_the_table(contract, before, (said,))

    def undone(self) -> Effect:
        if not self.state.former:
            raise BadRequest(self.words("no_earlier_draft"))
        left_by = self.state.former[-1].left_by
        self.state = self.state.without_last_edit()
        return self.state.shown((self.words("took_back", change=left_by),))

    async def on_card(self, edit: CardEdit) -> AsyncIterator[Effect]:
        """Take an edit made on the card. What cannot be done is said; the draft then stands as it was."""
        try:
            contract = self.state.contract
            if contract is None or edit.hash != contract.hash:
                raise BadRequest(self.words("old_card"))
            async for effect in self._carded(edit):
                yield replace(effect, in_place=True) if isinstance(effect, ShowContract) else effect
        except DossierError as error:
            yield Refuse(self.words.notice(error))

    def _carded(self, edit: CardEdit) -> AsyncIterator[Effect]:
        if edit.op == "undo":
            return one(self.undone())
        if edit.op == "say":
            said = read_edit(edit.text)
            if said is None:
                raise BadRequest(self.words("not_an_edit", text=edit.text[:80]))
            return self.edit(said)
        return self.part_edit(PartEdit(op=edit.op, place=edit.path or (0,), text=edit.text))

    async def edit(self, edit: Edit) -> AsyncIterator[Effect]:
        state, before = self.state, self.state.draft
        if edit.places and not set(edit.places) <= set(self.team.places):
            raise BadRequest(self.words("place_not_alone"))
        scope = edited(state.scope, edit)
        if edit.memory:
            if self.team.memory is None:
                raise BadRequest(self.words("known_off"))
            scope = scope.model_copy(update={"memory": self.owner})
        # The words of a plan are in the language it was drafted in, and it leaves out what is known; one that was edited
        # by hand stays all the same.
        stays = before is not None and ((edit.language is None and edit.memory is None) or state.by_hand)
        contract = with_terms(self.team, before.contract, scope) if before and stays else None
        self.now(scope=scope)
        if not (scope.feasible and scope.ready):
            yield Say(self.words("noted" if scope.queries else "noted_next"))
            if scope.queries:
                yield ShowScope(scope, self.team.drafts.usual())
        elif contract is not None:
            yield self.on_the_table(contract, before)
        else:
            try:
                async for effect in self.drafted(before):
                    yield effect
            except DossierError:
                self.state = state
                raise

    async def drafted(self, before: Draft | None = None) -> AsyncIterator[Effect]:
        """Draft the contract; a plan that comes out too deep or too wide takes the query's feasibility back."""
        try:
            contract = await self.team.draft(self.state.scope)
        except NotFeasible as error:
            scope = self.state.scope
            for query in scope.queries:
                scope = refused(scope, query.text, error.reasons, error.splits or own_splits(query))
            self.now(scope=scope, contract=None)
            yield ShowScope(scope, self.team.drafts.usual())
            return
        yield self.on_the_table(contract, before)

    def on_the_table(self, contract: Contract, before: Draft | None, said: tuple[str, ...] = ()) -> ShowContract:
        changed = said or (changes(before.contract, contract, self.words) if before else ())
        self.state = self.state.with_draft(contract, before, changed)
        return self.state.shown(changed)


async def one(effect: Effect) -> AsyncIterator[Effect]:
    """Give a single effect."""
    yield effect
