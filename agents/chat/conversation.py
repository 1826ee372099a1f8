"""The talk as a state machine: a message comes in, acts come out. Knows no Chainlit.

Only one thing here starts work: a message that is the phrase, when a contract lies on the table.
"""

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import replace

from agents.chat.afterwards import NOTHING_THERE, from_report
from agents.chat.again import asks_again, taken_up
from agents.chat.branch_commands import asks_to_undo, read_branch_edit
from agents.chat.chat_state import (
    COMMAND_HELP,
    NEAR_MISS,
    NOTHING_HAPPENED,
    ONLY_THE_PHRASE,
    Talk,
    clock,
    not_started,
    own_splits,
    splits_of,
    too_broad,
)
from agents.chat.drafts import MAX_FORMER, CardEdit, Draft, as_branch_edit, put_back, with_branch, with_terms
from agents.chat.edits import Edit, changes, edited, picked, read_edit
from agents.chat.effects import Act, Refuse, Reply, Say, ShowContract, ShowScope, Started
from agents.chat.filing import When, said_of
from agents.chat.preferences import Preferences, in_language, preferred
from agents.chat.underway import Underway
from agents.contracts.contract import Contract
from agents.contracts.frozen import Mode
from agents.core.errors import BadRequest, DossierError, NotFeasible
from agents.core.model import OnText
from agents.jobs.service import Job
from agents.research.planning.edit_draft import BranchEdit
from agents.research.scoping.authorization import PHRASE, asks_to_begin, authorizes, looks_like_the_phrase
from agents.research.scoping.research_command import ResearchCommand, parse_research
from agents.research.scoping.turn import Scope, checked, refused
from agents.search.uploads import UploadResult
from agents.team import Team


class Conversation:
    """One chat between a user and the manager."""

    def __init__(
        self,
        team: Team,
        talk: Talk | None = None,
        *,
        owner: str = "",
        preferences: Preferences = Preferences(),
    ) -> None:
        self.team, self.talk, self.owner = team, talk or Talk(), owner
        self.preferences = preferences.offered(team.model_choices, team.places)

    @property
    def job(self) -> Job | None:
        """The last run of this chat, when this process knows it."""
        return self.team.jobs.get(self.talk.job_id, self.owner) if self.talk.job_id else None

    @property
    def running(self) -> Job | None:
        """The run that is going in this chat."""
        job = self.job
        return job if job is not None and not job.over else None

    async def hear(
        self,
        text: str,
        command: str | None = None,
        modes: Mapping[str, str] | None = None,
        on_text: OnText | None = None,
        taken: UploadResult = UploadResult(),
    ) -> AsyncIterator[Act]:
        """Answer one message. What is foreseen to go wrong is said; the talk then stands as it was before.

        Args:
            text: what the user typed, without the command that was chosen from the menu.
            command: the command chosen from the menu.
            modes: what stands in the pickers beside the composer.
            on_text: is given the manager's reply piece by piece, while it is written.
            taken: what came of the files that came with the message.
        """
        try:
            for filed in self._filed(taken, text):
                yield filed
            if taken and not text.strip() and command is None:
                return
            if taken.files and authorizes(text) and self.talk.contract is not None:
                yield Refuse(f"I haven't started: your files changed the draft. Type **{PHRASE}** to bind the new one.")
                return
            async for act in self._answer(text, command, modes or {}, on_text, with_files=bool(taken.files)):
                yield act
        except DossierError as error:
            yield Refuse(error.notice)

    async def _answer(
        self, text: str, command: str | None, modes: Mapping[str, str], on_text: OnText | None, *, with_files: bool
    ) -> AsyncIterator[Act]:
        is_command = command == "research" or text.lstrip().split(maxsplit=1)[:1] == ["/research"]
        if not is_command and authorizes(text):
            acts = self._authorized(modes)
        elif not is_command and looks_like_the_phrase(text):
            acts = _one(Refuse(NEAR_MISS))
        elif not is_command and self.running is None and self.talk.scope.queries and asks_to_begin(text):
            # No new question, and no go-ahead either: what lies on the table stays there.
            acts = _one(
                Refuse(
                    ONLY_THE_PHRASE
                    if self.talk.scope.feasible and self.talk.scope.ready
                    else not_started(self.talk.scope)
                )
            )
        elif self.running is not None:
            acts = _one(Underway(self.team, self.running).hear(checked(text), is_command=is_command))
        elif not is_command and self.talk.job_id and not self.talk.scope.queries and (asked := asks_again(text)):
            acts = taken_up(self.team, self.talk.job_id, self.owner, asked)
        elif is_command:
            self._take_picker(modes)
            acts = self._commanded(parse_research(text), on_text)
        else:
            self._take_picker(modes)
            acts = self._scoped(checked(text), on_text, with_files=with_files)
        async for act in acts:
            yield act

    # ---- files

    def _filed(self, taken: UploadResult, text: str) -> Iterator[Act]:
        """Put files beside what is searched; a draft on the table becomes one that names them."""
        if not taken:
            return
        before = self._draft
        scope = self.talk.scope.model_copy(update={"files": (*self.talk.scope.files, *taken.files)})
        when: When = "running" if self.running else "draft" if before else "before"
        yield Say(said_of(taken, when, with_text=bool(text.strip())))
        self.talk = self.talk.model_copy(update={"scope": scope})
        if before is None or not taken.files:
            return
        contract = with_terms(self.team, before.contract, scope)
        if contract is not None:
            shown = self._on_the_table(contract, before)
            if not text.strip() or authorizes(text):
                yield shown

    # ---- the gate

    async def _authorized(self, modes: Mapping[str, str]) -> AsyncIterator[Act]:
        talk = self.talk
        if self.running is not None:
            yield Refuse(f"Already running since {clock(self.running.created)}. Nothing was started twice.")
        elif not (talk.scope.feasible and talk.scope.ready):
            yield Refuse(not_started(talk.scope))
        elif self._take_picker(modes):
            # The picker was moved after the draft was shown: what the phrase would bind is not what was read.
            async for act in self._edit(Edit(mode=self.talk.scope.mode)):
                yield act
            yield Refuse(
                f"I haven't started: the depth was changed after the draft. Type **{PHRASE}** to bind the new one."
            )
        elif talk.contract is None:
            async for act in self._drafted():
                yield act
            yield Refuse(f"I haven't started: the plan was not drafted yet. {NOTHING_HAPPENED}")
        else:
            job = self.team.start(talk.contract, owner=self.owner)
            self.talk = Talk(job_id=job.id, picker=talk.picker, cards=talk.cards, scope=self._fresh())
            yield Started(job, talk.contract)

    # ---- scoping

    def _fresh(self) -> Scope:
        """A talk about something new keeps where the picker stands, and the files of the chat."""
        return Scope(mode=self.talk.picker or "standard", files=self.talk.scope.files)

    def _begun(self) -> Scope:
        """Begin a question with the settings as they are now; what was said before it stands."""
        scope = self.talk.scope
        mode = self.talk.picker or self.preferences.mode or scope.mode
        return preferred(scope.model_copy(update={"mode": mode}), self.preferences)

    def _take_picker(self, modes: Mapping[str, str]) -> bool:
        """Follow the depth picker when it was moved; an option that was typed stands until then."""
        depth: Mode = "deep" if modes.get("depth") == "deep" else "standard"
        if "depth" not in modes or depth == self.talk.picker:
            return False
        # Where the picker stands by itself, nobody has moved it.
        first = self.talk.picker is None and depth == (self.preferences.mode or "standard")
        scope, moved = self.talk.scope, not first and depth != self.talk.scope.mode
        if moved:
            scope = scope.model_copy(update={"mode": depth})
        self.talk = self.talk.model_copy(update={"picker": depth, "scope": scope})
        return moved

    async def _commanded(self, given: ResearchCommand, on_text: OnText | None) -> AsyncIterator[Act]:
        options = Edit.model_validate(
            ({"mode": given.mode} if given.mode else {})
            | ({"minutes": given.minutes, "time_given": True} if given.time_given else {})
        )
        if not given.question:
            if options.model_fields_set and self.talk.scope.queries:
                async for act in self._edit(options):
                    yield act
            else:
                yield Say(COMMAND_HELP)
            return
        if looks_like_the_phrase(given.question) or authorizes(given.question):
            yield Refuse(NEAR_MISS)
            return
        before = self.talk
        self.talk = before.model_copy(update={"scope": self._fresh()})
        scope = edited(self._begun(), options)
        self.talk = before.model_copy(
            update={
                "scope": scope,
                "contract": None,
                "drafts": 0,
                "former": (),
                "by_hand": False,
            }
        )
        try:
            async for act in self._turn(checked(given.question), on_text, begun=True):
                yield act
        except DossierError:
            # A manager that did not answer must not cost the user the draft that lay on the table.
            if not self.talk.scope.queries:
                self.talk = before
            raise

    async def _scoped(self, text: str, on_text: OnText | None, *, with_files: bool) -> AsyncIterator[Act]:
        talk = self.talk
        if talk.contract is not None and asks_to_undo(text):
            acts = _one(self._undone())
        elif talk.contract is not None and (typed := read_branch_edit(text)) is not None:
            acts = self._branch(as_branch_edit(typed, talk.contract))
        elif (talk.scope.queries or talk.scope.files) and (edit := read_edit(text)) is not None:
            acts = self._edit(edit)
        elif talk.job_id and not talk.scope.question and not with_files:
            acts = self._after_a_report(text, on_text)
        else:
            acts = self._turn(picked(text, splits_of(talk.scope)) or text, on_text)
        async for act in acts:
            yield act

    async def _after_a_report(self, text: str, on_text: OnText | None) -> AsyncIterator[Act]:
        answer = await from_report(self.team, self.talk.job_id, text)
        if answer:
            yield Say(answer)
            return
        if answer is not None:
            yield Say(NOTHING_THERE)
        async for act in self._turn(text, on_text):
            yield act

    async def _turn(self, text: str, on_text: OnText | None, *, begun: bool = False) -> AsyncIterator[Act]:
        started = self.talk.scope if begun or self.talk.scope.question else self._begun()
        scope, turn = await self.team.scope(started, text, on_text)
        scope = in_language(scope, self.preferences)
        before = self._draft
        if scope.stood_in and scope.stood_in != self.talk.scope.stood_in:
            yield Say(scope.stood_in)
        self.talk = self.talk.model_copy(update={"scope": scope, "contract": None, "by_hand": False})
        yield Reply(turn.reply)
        if scope.feasible and scope.ready:
            async for act in self._drafted(before):
                yield act
        else:
            yield ShowScope(scope)

    # ---- edits of the draft

    async def on_card(self, edit: CardEdit) -> AsyncIterator[Act]:
        """Take an edit made on the card. What cannot be done is said; the draft then stands as it was."""
        try:
            contract = self.talk.contract
            if contract is None or edit.hash != contract.hash:
                raise BadRequest("That card shows a draft that no longer stands. Nothing was changed.")
            async for act in self._carded(edit, contract):
                yield replace(act, in_place=True) if isinstance(act, ShowContract) else act
        except DossierError as error:
            yield Refuse(error.notice)

    async def _carded(self, edit: CardEdit, contract: Contract) -> AsyncIterator[Act]:
        if edit.op == "undo":
            acts = _one(self._undone())
        elif edit.op == "say":
            said = read_edit(edit.text)
            if said is None:
                raise BadRequest(f"I can't read “{edit.text[:80]}” as a change of the limits. Nothing was changed.")
            acts = self._edit(said)
        elif edit.op == "drop" and len(edit.path) == 1:
            acts = self._edit(Edit(drop=(edit.path[0] + 1,)))
        else:
            acts = self._branch(BranchEdit(op=edit.op, place=edit.path or (0,), text=edit.text))
        async for act in acts:
            yield act

    @property
    def _draft(self) -> Draft | None:
        """The draft on the table, as it can be gone back to."""
        return Draft(scope=self.talk.scope, contract=self.talk.contract) if self.talk.contract else None

    async def _branch(self, edit: BranchEdit) -> AsyncIterator[Act]:
        before = self._draft
        if before is None:
            raise BadRequest("There is no draft yet whose branches could be edited. Nothing was changed.")
        if edit.op == "drop" and len(edit.place) == 1:
            async for act in self._edit(Edit(drop=(edit.place[0] + 1,))):
                yield act
            return
        contract, said = with_branch(self.team, before.contract, edit)
        self.talk = self.talk.model_copy(update={"by_hand": True})
        yield self._on_the_table(contract, before, (said,))

    def _undone(self) -> Act:
        draft, former = put_back(self.talk.former)
        self.talk = self.talk.model_copy(
            update={
                "scope": draft.scope,
                "contract": draft.contract,
                "former": former,
                "drafts": self.talk.drafts + 1,
                "by_hand": bool(former) and self.talk.by_hand,
            }
        )
        said = (f"took back: {draft.left_by}",)
        return ShowContract(draft.contract, draft.scope, said, number=self.talk.drafts, undo=bool(former))

    async def _edit(self, edit: Edit) -> AsyncIterator[Act]:
        before = self._draft
        if edit.places and not set(edit.places) <= set(self.team.places):
            raise BadRequest("That can't be searched alone here: it isn't set up. Nothing was changed.")
        scope = edited(self.talk.scope, edit)
        # The words of a plan are in the language it was drafted in; one that was edited by hand is kept all the same.
        kept = before is not None and (edit.language is None or self.talk.by_hand)
        contract = with_terms(self.team, before.contract, scope) if before and kept else None
        self.talk = self.talk.model_copy(update={"scope": scope, "contract": None})
        if not (scope.feasible and scope.ready):
            yield Say("Noted for the draft.")
            yield ShowScope(scope)
        elif contract is not None:
            yield self._on_the_table(contract, before)
        else:
            async for act in self._drafted(before):
                yield act

    async def _drafted(self, before: Draft | None = None) -> AsyncIterator[Act]:
        """Draft the contract; a plan that comes out too deep or too wide takes the query's feasibility back."""
        try:
            contract = await self.team.draft(self.talk.scope)
        except NotFeasible as error:
            scope = self.talk.scope
            for query in too_broad(scope, error):
                scope = refused(scope, query.text, error.reasons, error.splits or own_splits(query))
            self.talk = self.talk.model_copy(update={"scope": scope, "contract": None})
            yield ShowScope(scope)
            return
        yield self._on_the_table(contract, before)

    def _on_the_table(self, contract: Contract, before: Draft | None, said: tuple[str, ...] = ()) -> ShowContract:
        changed = said or (changes(before.contract, contract) if before else ())
        former = self.talk.former
        if before is not None and changed:
            former = (*former, before.model_copy(update={"left_by": "; ".join(changed)}))[-MAX_FORMER:]
        self.talk = self.talk.model_copy(
            update={"contract": contract, "drafts": self.talk.drafts + 1, "former": former}
        )
        return ShowContract(contract, self.talk.scope, changed, number=self.talk.drafts, undo=bool(former))


async def _one(act: Act) -> AsyncIterator[Act]:
    yield act
