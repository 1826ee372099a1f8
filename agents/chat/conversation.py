"""The talk as a state machine: a message comes in, effects come out. Knows no Chainlit.

Every message is first read by the one parser (see `agents.chat.commands`); only what is no command reaches the manager.
Only one thing here starts work: a message that is the phrase, when a contract lies on the table.
"""

from collections.abc import AsyncIterator, Mapping
from datetime import datetime

from agents.chat import short_answers
from agents.chat.after_run import Over
from agents.chat.commands import Command, Part, Pick, Recall, Research, Start, Wish, read
from agents.chat.drafting_talk import ChatDrafts, one
from agents.chat.known import Recalling
from agents.chat.limits import Edit, edited, read_edit
from agents.chat.plan_edits import (
    CardEdit,
)
from agents.chat.preferences import Preferences, in_language, preferred
from agents.chat.runs import Running
from agents.chat.state import (
    After,
    Ask,
    Button,
    ChatState,
    Effect,
    ManagerReply,
    Refuse,
    Say,
    ShowScope,
    Stage,
    Started,
    chosen,
    not_started,
    pasted,
    related,
    scope_of,
    splits_of,
)
from agents.chat.texts import ChatTexts, speaks
from agents.contracts.contract import Contract
from agents.contracts.frozen import Mode
from agents.core.errors import DossierError
from agents.core.model import OnText
from agents.jobs.live_job import Job
from agents.memory.knowledge import LOCAL_OWNER
from agents.nlp.tokens import content_words
from agents.report.earlier import known_lines
from agents.research.scoping.authorization import DEFAULT_MINUTES, ResearchCommand
from agents.research.scoping.turn import ScopingState, checked
from agents.search.uploads import UploadResult
from agents.team import Team

LONG = 3_000
"""Characters of a message from which on it is a document with a question, not a question."""
_SAID_BACK = 160
"""Characters of a message that are said back."""


class Conversation:
    """One chat between a user and the manager."""

    def __init__(
        self,
        team: Team,
        state: ChatState | None = None,
        *,
        owner: str = "",
        preferences: Preferences = Preferences(),
    ) -> None:
        self.team, self.owner = team, owner
        self.drafts = ChatDrafts(team, state or ChatState(), owner or LOCAL_OWNER)
        self.preferences = preferences.offered(team.model_choices, team.places)

    @property
    def state(self) -> ChatState:
        """How the chat stands."""
        return self.drafts.state

    @property
    def words(self) -> ChatTexts:
        """The texts in the language of this chat."""
        return self.drafts.words

    @property
    def running(self) -> Job | None:
        """The run that is going in this chat, when this process knows it; one that the judge sent back is not."""
        job = self.team.jobs.get(self.state.job_id, self.owner) if self.state.job_id else None
        going = job is not None and not job.over and job.blocked_reason != "needs_rework"
        return job if going else None

    @property
    def stage(self) -> Stage:
        """Where the talk stands."""
        return self.state.stage(running=self.running is not None)

    async def on_card(self, edit: CardEdit) -> AsyncIterator[Effect]:
        """Take an edit made on the card."""
        async for effect in self.drafts.on_card(edit):
            yield effect

    async def hear(
        self,
        text: str,
        command: str | None = None,
        modes: Mapping[str, str] | None = None,
        on_text: OnText | None = None,
        taken: UploadResult = UploadResult(),
    ) -> AsyncIterator[Effect]:
        """Answer one message. What is foreseen to go wrong is said; the talk then stands as it was before.

        Args:
            text: what the user typed, without the command that was chosen from the menu.
            command: the command chosen from the menu.
            modes: what stands in the pickers beside the composer.
            on_text: is given the manager's reply piece by piece, while it is written.
            taken: what came of the files that came with the message.
        """
        try:
            if command is None and len(text) > LONG and self.running is None:
                document, text = pasted(text)
                more = await self.team.take_files((document,), (*self.state.scope.files, *taken.files))
                taken = UploadResult((*taken.files, *more.files), (*taken.refused, *more.refused))
                yield Say(self.words("pasted" if text else "pasted_no_question"))
            if text.strip():
                self.drafts.now(language=speaks(text, self.state.language))
            for effect in self.drafts.filed(taken, text, running=self.running is not None):
                yield effect
            if taken and not text.strip() and command is None:
                return
            async for effect in self._answer(text, command, modes or {}, on_text, with_files=bool(taken.files)):
                yield effect
        except DossierError as error:
            yield Refuse(self.words.notice(error))

    async def _answer(
        self, text: str, command: str | None, modes: Mapping[str, str], on_text: OnText | None, *, with_files: bool
    ) -> AsyncIterator[Effect]:
        said = read(text, command)
        if isinstance(said, Start):
            if not said.exact:
                effects = one(Refuse(self.words("not_started")))
            elif with_files and self.state.contract is not None:
                effects = one(Refuse(self.words("files_changed")))
            else:
                effects = self._authorized(modes)
        elif isinstance(said, Recall):
            # At any time: nothing is searched, and whatever lies on the table stays there.
            effects = Recalling(self.team, self.owner, self.words).hear(said.question)
        elif self.running is not None:
            effects = one(
                await Running(self.team, self.running, self.words).hear(checked(text) if said is None else text, said)
            )
        elif isinstance(said, Research):
            self._take_picker(modes)
            effects = self._commanded(said.given, on_text)
        else:
            self._take_picker(modes)
            effects = self._talked(text, said, on_text, with_files=with_files)
        async for effect in effects:
            yield effect

    async def _talked(
        self, text: str, said: Command | None, on_text: OnText | None, *, with_files: bool
    ) -> AsyncIterator[Effect]:
        """Answer what is neither the phrase nor the command, while nothing runs."""
        stage, pending = self.stage, self.state.pending
        if pending and (choice := _choice(said)):
            self.drafts.now(pending="")
            effects = self._anew(pending, on_text) if choice == "new" else self._changed(pending, on_text)
        elif stage == "draft":
            effects = self._on_draft(text, said, on_text)
        elif stage == "scoping":
            effects = self._scoping(text, said, on_text)
        elif isinstance(said, Edit) and stage == "empty":
            effects = self.drafts.edit(said)
        elif stage == "report" and not with_files:
            effects = self._on_report(text, said, on_text)
        elif isinstance(said, Wish) and (answer := short_answers.before_a_question(said, self.team, self.words)):
            effects = one(answer)
        else:
            effects = self._asked(text, on_text)
        async for effect in effects:
            yield effect

    # ---- the gate

    async def _authorized(self, modes: Mapping[str, str]) -> AsyncIterator[Effect]:
        state, words = self.state, self.words
        if self.running is not None:
            since = datetime.fromisoformat(self.running.created).astimezone().strftime("%H:%M")
            yield Refuse(words("already_running", clock=since))
        elif not (state.scope.feasible and state.scope.ready):
            yield Refuse(not_started(state.scope, words))
        elif self._take_picker(modes):
            # The picker was moved after the draft was shown: what the phrase would bind is not what was read.
            async for effect in self.drafts.edit(Edit(mode=self.state.scope.mode)):
                yield effect
            yield Refuse(words("depth_changed"))
        elif state.contract is None:
            async for effect in self.drafts.drafted():
                yield effect
            yield Refuse(words("not_drafted", nothing_happened=words.nothing_happened))
        else:
            before = await self.team.jobs.find(state.after.job_id, self.owner) if state.after else None
            earlier = (await self.team.earlier(before, state.after.use))[0] if state.after and before else None
            job = self.team.start(state.contract, owner=self.owner, earlier=earlier)
            self.drafts.state = ChatState(
                job_id=job.id, picker=state.picker, cards=state.cards, scope=self._fresh(), language=state.language
            )
            yield Started(job, state.contract)

    # ---- a draft on the table

    async def _on_draft(self, text: str, said: Command | None, on_text: OnText | None) -> AsyncIterator[Effect]:
        """Answer with a draft on the table. Whatever is not understood leaves it there."""
        contract = self.state.contract
        if contract is None:
            return
        match said:
            case Wish(name="undo"):
                effects = one(self.drafts.undone())
            case Wish(name="show"):
                effects = one(self.state.shown())
            case Wish():
                effects = one(short_answers.on_draft(said, contract, self.team, self.words))
            case Edit():
                effects = self.drafts.edit(said)
            case Part():
                effects = self.drafts.part(said, contract)
            case Pick():
                effects = one(Say(self.words("nothing_to_choose")))
            case _ if self.team.engine.reasons:
                effects = self._turn(checked(text), on_text)
            case _:
                effects = one(self._which(checked(text)))
        async for effect in effects:
            yield effect

    def _which(self, text: str) -> Effect:
        """Keep the draft and ask whether it is a new question or a change."""
        self.drafts.now(pending=text)
        new, change = self.words("button_new"), self.words("button_change")
        return Ask(self.words("ask_which", message=_short(text)), (Button(new, new), Button(change, change)))

    async def _changed(self, text: str, on_text: OnText | None) -> AsyncIterator[Effect]:
        """Take a message as a change of the draft: by the manager, else as a part of its own."""
        contract = self.state.contract
        if self.team.engine.reasons:
            async for effect in self._turn(text, on_text):
                yield effect
        elif contract is None:
            yield Say(self.words("pick_or_ask"))
        elif len(text.split()) < 3:
            yield Say(self.words("what_to_change"))
        else:
            async for effect in self.drafts.part(Part(op="add", text=text[:200]), contract):
                yield effect
            yield Say(self.words("added_as_part"))

    # ---- a question that is not settled yet

    async def _scoping(self, text: str, said: Command | None, on_text: OnText | None) -> AsyncIterator[Effect]:
        splits = splits_of(self.state.scope)
        if isinstance(said, Wish) and said.name == "agree" and len(splits) == 1:
            said = Pick(numbers=(1,))
        match said:
            case Pick() if splits:
                effects = self._turn(chosen(said, splits, self.words), on_text)
            case Edit():
                effects = self.drafts.edit(said)
            case Wish():
                effects = one(short_answers.while_scoping(said, self.state.scope, self.team, self.words))
            case _ if self.team.engine.reasons or "?" in text or len(text.split()) > 3 or not splits:
                effects = self._turn(checked(text), on_text)
            case _:
                effects = one(Say(self.words("pick_or_ask")))
        async for effect in effects:
            yield effect

    def _fresh(self) -> ScopingState:
        """A talk about something new keeps where the picker stands, and the files of the chat."""
        mode, minutes = self.state.picker or "standard", self.team.usual_minutes
        return ScopingState(mode=mode, minutes=minutes, files=self.state.scope.files)

    def _begun(self) -> ScopingState:
        """Begin a question with the settings as they are now; what was said before it stands."""
        scope = self.state.scope
        mode = self.state.picker or self.preferences.mode or scope.mode
        minutes = self.team.usual_minutes if scope.minutes == DEFAULT_MINUTES else scope.minutes
        remembers = self.preferences.memory and self.team.memory is not None
        memory = self.owner or LOCAL_OWNER if remembers else None
        update = {"mode": mode, "minutes": minutes, "memory": memory}
        return preferred(scope.model_copy(update=update), self.preferences)

    def _take_picker(self, modes: Mapping[str, str]) -> bool:
        """Follow the depth picker when it was moved; an option that was typed stands until then."""
        depth: Mode = "deep" if modes.get("depth") == "deep" else "standard"
        if "depth" not in modes or depth == self.state.picker:
            return False
        # Where the picker stands by itself, nobody has moved it.
        first = self.state.picker is None and depth == (self.preferences.mode or "standard")
        scope, moved = self.state.scope, not first and depth != self.state.scope.mode
        self.drafts.now(picker=depth, scope=scope.model_copy(update={"mode": depth}) if moved else scope)
        return moved

    async def _commanded(self, given: ResearchCommand, on_text: OnText | None) -> AsyncIterator[Effect]:
        options = Edit.model_validate(
            ({"mode": given.mode} if given.mode else {})
            | ({"minutes": given.minutes, "time_given": True} if given.time_given else {})
        )
        if not given.question:
            if options.model_fields_set and self.state.scope.queries:
                async for effect in self.drafts.edit(options):
                    yield effect
            else:
                yield Say(self.words("command_help"))
        elif isinstance(read(given.question), Start):
            yield Refuse(self.words("not_started"))
        else:
            async for effect in self._anew(given.question, on_text, options):
                yield effect

    async def _anew(self, question: str, on_text: OnText | None, options: Edit = Edit()) -> AsyncIterator[Effect]:
        """Leave what lies on the table for a new question; if the manager does not answer, it stays there."""
        before = self.state
        self.drafts.now(scope=self._fresh())
        scope = edited(self._begun(), options)
        self.drafts.now(scope=scope, contract=None, drafts=0, former=(), by_hand=False, pending="", after=None)
        try:
            async for effect in self._asked(checked(question), on_text, begun=True):
                yield effect
        except DossierError:
            if not self.state.scope.queries:
                self.drafts.state = before
            raise

    async def _asked(self, text: str, on_text: OnText | None, *, begun: bool = False) -> AsyncIterator[Effect]:
        """Take a first question. Where only the sample library is searched and it says nothing of this, say so."""
        if doors := await short_answers.three_doors(checked(text), self.state.scope, self.team, self.words):
            yield doors
            return
        async for effect in self._turn(text, on_text, begun=begun):
            yield effect

    async def _turn(self, text: str, on_text: OnText | None, *, begun: bool = False) -> AsyncIterator[Effect]:
        """Have the manager answer. What it can't settle leaves a draft on the table where it is."""
        before, draft = self.state.scope, self.state.draft
        started = before if begun or before.question else self._begun()
        scope, turn = await self.team.scope(started, checked(text), on_text)
        scope = in_language(scope, self.preferences)
        if scope.stood_in and scope.stood_in != before.stood_in:
            yield Say(scope.stood_in)
        yield ManagerReply(turn.reply)
        settled = scope.feasible and scope.ready
        same = [query.text for query in scope.queries] == [query.text for query in before.queries]
        if draft is not None and (same or not settled or not related(scope, before)):
            # An answer to a question about the draft, or something else altogether: the draft stays.
            self.drafts.now(scope=before.model_copy(update={"turns": scope.turns, "stood_in": scope.stood_in}))
            if not same:
                yield self._which(text)
        elif before.queries and not scope.queries:
            self.drafts.now(scope=before.model_copy(update={"turns": scope.turns}))
            yield Say(self.words("pick_or_ask"))
        elif settled:
            self.drafts.now(scope=scope, contract=None, by_hand=False, pending="")
            async for effect in self.drafts.drafted(draft):
                yield effect
        else:
            self.drafts.now(scope=scope, contract=None, by_hand=False, pending="")
            yield ShowScope(scope, self.team.drafts.usual())

    # ---- a report

    async def _on_report(self, text: str, said: Command | None, on_text: OnText | None) -> AsyncIterator[Effect]:
        over = Over(self.team, self.state.job_id, self.owner, self.words)
        if isinstance(said, Wish) and said.name == "draft_again":
            async for effect in self._again(await over.contract(), text):
                yield effect
            return
        document = await self.team.blobs.report(self.state.job_id)
        if isinstance(said, Wish) and said.name == "refresh" and document is not None:
            yield await self._refreshed(over)
            return
        if (said is not None and not isinstance(said, (Pick, Part))) or (isinstance(said, Part) and not said.loose):
            async for effect in over.hear(text, said):
                yield effect
            return
        if "?" not in text and await over.just_now():
            # Most likely meant for the run, which ended while it was typed.
            label = self.words("button_research")
            yield Ask(self.words("over_late", message=_short(text)), (Button(label, f"/research {text}"),))
            return
        answer = await over.from_report(text)
        if answer:
            yield Say(answer)
            return
        if answer is not None:
            yield Say(self.words("not_in_report"))
        if document is not None and set(content_words(text)) & set(
            content_words(f"{document.question} {document.title}")
        ):
            # About the same thing: the new run goes on from what this one found.
            scope = self._begun().model_copy(update={"known": known_lines(document)})
            self.drafts.now(scope=scope, after=After(use="continue", job_id=self.state.job_id))
        async for effect in self._asked(text, on_text):
            yield effect

    async def _refreshed(self, over: Over) -> Effect:
        """Put the contract of the last run on the table once more: the phrase runs it on today's sources."""
        contract = await over.contract()
        if contract is None:
            return Refuse(self.words("run_gone"))
        again = self.team.renewed(contract)
        after = After(use="refresh", job_id=self.state.job_id)
        self.drafts.now(scope=scope_of(again.brief), drafts=0, former=(), after=after)
        return self.drafts.on_the_table(again, None, (self.words("runs_anew"),))

    async def _again(self, contract: Contract | None, text: str) -> AsyncIterator[Effect]:
        """Draft the question of the last run anew, with a change."""
        if contract is None:
            yield Refuse(self.words("run_gone"))
            return
        edit = read_edit(text.partition(":")[2]) or Edit()
        self.drafts.now(scope=edited(scope_of(contract.brief), edit), contract=None, drafts=0, former=())
        async for effect in self.drafts.drafted():
            yield effect


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SAID_BACK else line[: _SAID_BACK - 1].rstrip() + "…"


def _choice(said: Command | None) -> str:
    """Read the answer to whether a message is a new question or a change."""
    if isinstance(said, Pick):
        return {1: "new", 2: "change"}.get(said.numbers[0], "") if len(said.numbers) == 1 else ""
    if isinstance(said, Wish):
        return {"new_question": "new", "change": "change"}.get(said.name, "")
    return ""
