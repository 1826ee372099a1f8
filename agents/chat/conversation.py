"""The talk as a state machine: a message comes in, effects come out. Knows no Chainlit.

Every message is first read by the one parser (see `agents.chat.commands`); only what is no command reaches the manager.
Only one thing here starts work: a message that is the phrase, when a contract lies on the table.
"""

from collections.abc import Mapping
from datetime import datetime

from agents.chat import answers
from agents.chat import state as talk
from agents.chat.commands import Command, Edit, Part, Pick, Recall, Start, Wish, read, read_edit
from agents.chat.preferences import edited, in_language, preferred
from agents.chat.runs import RunTalk
from agents.chat.state import After, Button, ChatState, Refuse, Say, Started, splits_of
from agents.chat.texts import cut, speaks
from agents.contracts.contract import DEFAULT_MINUTES
from agents.contracts.frozen import Mode
from agents.core.errors import DossierError
from agents.nlp.tokens import content_words, language_of
from agents.report.earlier import known_lines
from agents.report.wording import base_language, report_language
from agents.research.scoping.authorization import ResearchCommand
from agents.research.scoping.turn import ScopingState, checked
from agents.search.uploads import UploadResult

LONG = 3_000  # characters of a message from which on it is a document with a question, not a question
_SAID_BACK = 160  # characters of a message that are said back


class Conversation(RunTalk):
    """One chat between a user and the manager."""

    async def hear(
        self, text: str, command: str | None = None, modes: Mapping[str, str] | None = None,
        taken: UploadResult = UploadResult(), about: str = ""
    ) -> None:  # fmt: skip
        """Answer one message. What is foreseen to go wrong is said; the talk then stands as it was before.

        Beside what was typed come the command chosen from the menu, what stands in the pickers beside the composer, what
        came of the files that came with it, and the run, over by now, on whose card it was said.
        """
        try:
            if about and self.running is None and await self.team.jobs.find(about, self.owner):
                self.now(job_id=about)
                return await self._on_report(text, read(text))
            if command is None and len(text) > LONG and self.running is None:
                document, text = talk.pasted(text)
                more = await self.team.take_files((document,), (*self.state.scope.files, *taken.files))
                taken = UploadResult((*taken.files, *more.files), (*taken.refused, *more.refused))
                await self.say("pasted" if text else "pasted_no_question")
            if text.strip():
                self.now(language=speaks(text, self.state.language))
            if taken:
                await self.filed(taken, text)
            if text.strip() or command is not None or not taken:
                await self._answer(text, command, modes or {}, with_files=bool(taken.files))
        except DossierError as error:
            await self.show(Refuse(self.words.said(error.notice)))

    async def _answer(self, text: str, command: str | None, modes: Mapping[str, str], *, with_files: bool) -> None:
        said = read(text, command)
        if isinstance(said, Start):
            return await self._phrase(said, modes, with_files=with_files)
        if isinstance(said, Recall):
            # At any time: nothing is searched, and whatever lies on the table stays there.
            return await self.recall(said.question)
        if (job := self.running) is not None:
            return await self.on_run(job, text, said)
        self._take_picker(modes)
        stage, pending, choice = self.stage, self.state.pending, said.name if isinstance(said, Wish) else ""
        if isinstance(said, Pick) and len(said.numbers) == 1:
            choice = {1: "new_question", 2: "change"}.get(said.numbers[0], "")
        if isinstance(said, ResearchCommand):
            await self._commanded(said)
        elif pending and choice in {"new_question", "change"}:
            self.now(pending="")
            await (self._anew(pending) if choice == "new_question" else self._changed(pending))
        elif stage == "draft":
            await self._on_draft(text, said)
        elif stage == "scoping":
            await self._scoping(text, said)
        elif isinstance(said, Edit) and stage == "empty":
            await self.edit(said)
        elif stage == "report" and not with_files:
            await self._on_report(text, said)
        elif isinstance(said, Wish):
            await self.wished(said)
        else:
            await self._asked(text)

    # ---- the gate

    async def _phrase(self, said: Start, modes: Mapping[str, str], *, with_files: bool) -> None:
        state = self.state
        if not said.exact:
            raise self.no("not_started")
        if with_files and state.contract is not None:
            raise self.no("files_changed")
        if (job := self.running) is not None:
            since = datetime.fromisoformat(job.created).astimezone().strftime("%H:%M")
            raise self.no("already_running", clock=since)
        if not (state.scope.feasible and state.scope.ready):
            return await self._not_yet()
        if self._take_picker(modes):
            # The picker was moved after the draft was shown: what the phrase would bind is not what was read.
            await self.edit(Edit(mode=self.state.scope.mode))
            raise self.no("depth_changed")
        if state.contract is None:
            await self.drafted()
            raise self.no("not_drafted", nothing_happened=self.words("nothing_happened"))
        before = await self.team.jobs.find(state.after.job_id, self.owner) if state.after else None
        earlier = (await self.team.earlier(before, state.after.use))[0] if state.after and before else None
        contract = state.contract.model_copy(update={"spent": state.scope.spent})
        job = await self.team.start(contract, owner=self.owner, earlier=earlier)
        kept = {"picker": state.picker, "cards": state.cards, "language": state.language}
        self.state = ChatState(job_id=job.id, scope=self._fresh(), **kept)
        await self.show(Started(job, contract))

    async def _not_yet(self) -> None:
        """Say what is missing for a start, with the choices in sight again."""
        await self.show(Refuse(talk.not_started(self.state.scope, self.words)))
        if self.state.scope.feasible or splits_of(self.state.scope):
            await self.show_scope()

    # ---- a draft on the table

    async def _on_draft(self, text: str, said: Command | None) -> None:
        """Answer with a draft on the table. Whatever is not understood leaves it there."""
        match said:
            case Wish(name="undo"):
                await self.undo()
            case Wish(name="show"):
                await self.show(self.shown())
            case Wish():
                await self.show(Say(answers.on_draft(said, self.shown().contract, self.team, self.words)))
            case Edit():
                await self.edit(said)
            case Part():
                await self.part(said)
            case Pick():
                await self.say("nothing_to_choose")
            case _ if self.team.engine.reasons:
                await self._turn(text)
            case _:
                await self._which(checked(text))

    async def _which(self, text: str) -> None:
        """Keep the draft and ask whether it is a new question or a change."""
        self.now(pending=text)
        choices = [Button(label, label) for label in (self.words("button_new"), self.words("button_change"))]
        await self.say("ask_which", *choices, message=cut(text, _SAID_BACK))

    async def _changed(self, text: str) -> None:
        """Take a message as a change of the draft: by the manager, else as a part of its own."""
        if self.team.engine.reasons:
            await self._turn(text)
        elif self.state.contract is None or len(text.split()) < 3:
            await self.say("pick_or_ask" if self.state.contract is None else "what_to_change")
        else:
            await self.part(Part(op="add", text=self._alone(text, self.state.scope.question)[:200]))
            await self.say("added_as_part")

    # ---- a question that is not settled yet

    async def _scoping(self, text: str, said: Command | None) -> None:
        splits = splits_of(self.state.scope)
        if isinstance(said, Wish) and said.name == "agree" and len(splits) == 1:
            said = Pick(numbers=(1,))
        match said:
            case Pick() if splits:
                await self._turn(talk.chosen(said, splits, self.words))
            case Edit():
                await self.edit(said)
            case Wish(name="agree") if self.state.scope.open_questions and self.team.engine.reasons:
                await self._turn(text)  # most likely a yes to what the manager asked
            case Wish(name="begin" | "agree") if self.state.scope.feasible:
                # What the manager would still like to know may stay open: the user has the last word.
                self.now(scope=self.state.scope.model_copy(update={"ready": True}))
                await self.drafted()
            case Wish(name="begin"):
                await self._not_yet()
            case Wish():
                await self.wished(said)
            case _ if self.team.engine.reasons or "?" in text or len(text.split()) > 3 or not splits:
                await self._turn(text)
            case _:
                await self.say("pick_or_ask")

    def _fresh(self) -> ScopingState:
        """A talk about something new keeps where the picker stands, and the files of the chat."""
        mode, minutes = self.state.picker or "standard", self.team.usual_minutes
        return ScopingState(mode=mode, minutes=minutes, files=self.state.scope.files)

    def _begun(self) -> ScopingState:
        """Begin a question with the settings as they are now; what was said before it stands."""
        scope = self.state.scope
        mode = self.state.picker or self.preferences.mode or scope.mode
        minutes = self.team.usual_minutes if scope.minutes == DEFAULT_MINUTES else scope.minutes
        memory = self.memory_of if self.preferences.memory and self.team.memory is not None else None
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
        self.now(picker=depth, scope=scope.model_copy(update={"mode": depth}) if moved else scope)
        return moved

    async def _commanded(self, given: ResearchCommand) -> None:
        options = Edit.model_validate(
            ({"mode": given.mode} if given.mode else {})
            | ({"minutes": given.minutes, "time_given": True} if given.time_given else {})
        )
        if given.question and isinstance(read(given.question), Start):
            raise self.no("not_started")
        if given.question:
            await self._anew(given.question, options)
        elif options.model_fields_set and self.state.scope.queries:
            await self.edit(options)
        else:
            await self.say("command_help")

    async def _anew(self, question: str, options: Edit = Edit()) -> None:
        """Leave what lies on the table for a new question; if the manager does not answer, it stays there."""
        before, question = self.state, self._alone(question, self.state.scope.question)
        self.now(scope=self._fresh())
        scope = edited(self._begun(), options)
        self.now(scope=scope, contract=None, drafts=0, former=(), by_hand=False, pending="", after=None)
        try:
            await self._asked(question, begun=True)
        except DossierError:
            if not self.state.scope.queries:
                self.state = before
            raise

    def _alone(self, text: str, before: str) -> str:
        """Word a question that leans on the one before it so that it can be read alone; a model is shown what was said."""
        return text if self.team.engine.reasons else self.team.read_alone(text, [before])

    async def _asked(self, text: str, *, begun: bool = False) -> None:
        """Take a first question. Where only the sample library is searched and it says nothing of this, say so."""
        if doors := await answers.three_doors(checked(text), self.state.scope, self.team, self.words):
            await self.show(doors)
        else:
            await self._turn(text, begun=begun)

    async def _turn(self, text: str, *, begun: bool = False) -> None:
        """Have the manager answer. What it can't settle leaves a draft on the table where it is."""
        before, draft = self.state.scope, self.state.draft
        started = before if begun or before.question else self._begun()
        heard, turn = await self.team.scope(started, checked(text), self.on_text)
        scope = in_language(heard, self.preferences, started)
        if draft is not None and base_language(heard.language) == report_language("", language_of(text, asked=True)):
            scope = scope.model_copy(update={"language": before.language})  # the talk's, not one that is asked for
        if scope.stood_in and scope.stood_in != before.stood_in:
            await self.show(Say(scope.stood_in))
        await self.show(talk.ManagerReply(turn.reply))
        settled = scope.feasible and scope.ready
        same = talk.agrees(scope, before)
        if draft is not None and (same or not settled or not talk.related(scope, before)):
            # An answer to a question about the draft, or something else altogether: the draft stays.
            same_draft = {"turns": scope.turns, "stood_in": scope.stood_in, "spent": scope.spent}
            self.now(scope=before.model_copy(update=same_draft))
            if not same:
                await self._which(text)
        elif before.queries and not scope.queries:
            self.now(scope=before.model_copy(update={"turns": scope.turns, "spent": scope.spent}))
            await self.say("pick_or_ask")
        else:
            self.now(scope=scope, contract=None, by_hand=False, pending="")
            await (self.drafted(draft) if settled else self.show_scope())

    # ---- a report

    async def _on_report(self, text: str, said: Command | None) -> None:
        document = await self.team.jobs.report(self.state.job_id)
        if isinstance(said, Wish) and (said.name == "draft_again" or (said.name == "refresh" and document is not None)):
            return await self._once_more(text, refresh=said.name == "refresh")
        if isinstance(said, Wish | Edit) or (isinstance(said, Part) and not said.loose):
            return await self.over(text, said, document)
        if "?" not in text and await self.just_now():
            # Most likely meant for the run, which ended while it was typed.
            button = Button(self.words("button_research"), f"/research {text}")
            return await self.say("over_late", button, message=cut(text, _SAID_BACK))
        text = self._alone(text, document.question if document else "")
        if document is not None and document.references:
            if answered := await self.from_report(document, text):
                return await self.show(Say(answered))
            await self.say("not_in_report")
        about = document and set(content_words(f"{document.question} {document.title}")) & set(content_words(text))
        # The new run goes on from what this one found; one about something else does not, whatever was asked before.
        after = After(use="continue", job_id=self.state.job_id) if about else None
        known = known_lines(document) if document is not None and about else ()
        self.now(scope=self._begun().model_copy(update={"known": known}), after=after)
        await self._asked(text)

    async def _once_more(self, text: str, *, refresh: bool) -> None:
        """Put the question of the last run on the table again: on today's sources, or drafted anew with a change."""
        job = await self.ended()
        if job is None or (contract := job.commission.contract) is None:
            raise self.no("run_gone")
        scope = talk.scope_of(contract.brief)
        if refresh:
            self.now(scope=scope, drafts=0, former=(), after=After(use="refresh", job_id=self.state.job_id))
            return await self.show(self.on_the_table(self.team.renewed(contract), None, (self.words("runs_anew"),)))
        edit = read_edit(text.partition(":")[2]) or Edit()
        self.now(scope=edited(scope, edit), contract=None, drafts=0, former=(), after=None)
        await self.drafted()
