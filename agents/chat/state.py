"""How one chat stands. Stored, so that a reload, a second tab or a restart goes on from here.

What the chat does in answer to a message, as values: the renderer draws them, tests read them.
"""

import re
from collections.abc import Awaitable, Callable
from typing import Literal, NamedTuple

from agents.chat.commands import Pick
from agents.chat.texts import ChatTexts
from agents.contracts.contract import Brief, Contract
from agents.contracts.frozen import Frozen, Mode
from agents.contracts.report import EarlierUse
from agents.core.errors import BadRequest
from agents.jobs.job import Job
from agents.nlp.tokens import content_words
from agents.research.planning.forecast import PastRun
from agents.research.scoping.turn import MAX_MESSAGE, ScopingState
from agents.search.uploads import UploadedFile


class Button(NamedTuple):
    """An answer to choose; pressing it is the same as typing what it says."""

    label: str
    says: str


class Say(NamedTuple):
    """Plain words, as Markdown; with buttons it asks something that can be answered by typing, too."""

    text: str
    buttons: tuple[Button, ...] = ()


class Refuse(NamedTuple):
    """Plain words that say why something was not done."""

    text: str


class ManagerReply(NamedTuple):
    """The manager's words; they may have been streamed already."""

    text: str


class ShowScope(NamedTuple):
    """The verdict on the queries, with narrower ones to choose from."""

    scope: ScopingState
    usual: PastRun  # what a question of the usual size takes here


class ShowContract(NamedTuple):
    """The draft that the phrase would bind."""

    contract: Contract
    scope: ScopingState
    changed: tuple[str, ...] = ()  # what differs from the draft before, in plain words; empty for a first draft
    number: int = 1  # which draft of this question it is, counted from 1
    undo: bool = False  # there is a draft before this one to go back to
    in_place: bool = False  # it takes the place of the card it was edited on; else it is a message of its own


class Started(NamedTuple):
    """A run was authorized and has begun."""

    job: Job
    contract: Contract


Effect = Say | Refuse | ManagerReply | ShowScope | ShowContract | Started
Show = Callable[[Effect], Awaitable[None]]  # takes what the chat does, one after the other

Stage = Literal["empty", "scoping", "draft", "running", "report"]
"""Nothing said yet; a question that is not settled; a draft on the table; a run that goes; a run that is over."""


class Draft(Frozen):
    """A draft that another took the place of."""

    scope: ScopingState
    contract: Contract
    left_by: str = ""  # the edit that left it, in plain words


class ShownCard(Frozen):
    """A card in the chat that a later one will put out of use."""

    element_id: str
    name: str


class After(Frozen):
    """The report of an earlier run that a draft is run after."""

    use: EarlierUse
    job_id: str


class ChatState(Frozen):
    """How one chat stands."""

    scope: ScopingState = ScopingState()
    contract: Contract | None = None  # the draft on the table: exactly what the phrase would bind
    drafts: int = 0  # drafts shown for the question at hand
    former: tuple[Draft, ...] = ()  # drafts that an edit took the place of, oldest first: what can be undone
    by_hand: bool = False  # the plan was edited by hand: it stays where else it would be drafted anew
    after: After | None = None  # the report that the draft on the table runs anew or goes on from
    job_id: str = ""  # the last run that was started here
    picker: Mode | None = None  # where the depth picker stood at the last message
    cards: tuple[ShownCard, ...] = ()  # cards that are still to be acted on
    pending: str = ""  # a message that was not understood, until it is said whether it is a new question or a change
    language: str = ""  # language that the chat answers in; empty before the first message

    @property
    def draft(self) -> Draft | None:
        """The draft on the table, as it can be gone back to."""
        return Draft(scope=self.scope, contract=self.contract) if self.contract else None

    @property
    def texts(self) -> set[str]:
        """The texts of the files that it names, in whichever draft."""
        scopes = (self.scope, *(draft.scope for draft in self.former))
        return {file.card.text_hash for scope in scopes for file in scope.files}


def splits_of(scope: ScopingState) -> tuple[str, ...]:
    """List the narrower questions that are offered, in the order of their numbers."""
    offered = (split for query in scope.queries if not query.feasible for split in query.suggested_split)
    return tuple(dict.fromkeys(offered))


def not_started(scope: ScopingState, words: ChatTexts) -> str:
    """Say exactly what is still missing for a start."""
    several, nothing = len(scope.queries) > 1, words("nothing_happened")
    broad = {number: query.reason for number, query in enumerate(scope.queries, start=1) if not query.feasible}
    missing = [] if scope.queries else [words("missing_question")]
    for number, reason in broad.items():
        name = "missing_query" if several else "missing_feasible"
        missing.append(words(name, number=number, reason=reason if several else reason.rstrip(".")))
    reasons = " ".join(broad.values())
    missing += [words("missing_answer", question=one) for one in scope.open_questions if one not in reasons]
    missing = missing or [words("missing_point")]
    if len(missing) == 1 and not several:
        return words("missing_one", missing=missing[0].rstrip("."), nothing_happened=nothing)
    settled = [number for number in range(1, len(scope.queries) + 1) if several and number not in broad]
    ready = "".join(words("query_ready", number=number) for number in settled)
    lines = "\n".join(f"- {one}" for one in missing)
    return words("missing_many", ready=ready, missing=lines, nothing_happened=nothing)


def chosen(pick: Pick, splits: tuple[str, ...], words: ChatTexts) -> str:
    """Write the narrower questions of some numbers as the user would have typed them."""
    wanted: list[int] = []
    for number in pick.numbers:
        wanted += range(1, len(splits) + 1) if number == 0 else [len(splits) if number == -1 else number]
    if missing := [number for number in wanted if not 1 <= number <= len(splits)]:
        raise BadRequest(words("no_such_choice", number=missing[0], count=len(splits)))
    texts = [splits[number - 1] for number in dict.fromkeys(wanted)]
    return texts[0] if len(texts) == 1 else "\n".join(f"{number}. {text}" for number, text in enumerate(texts, start=1))


def related(after: ScopingState, before: ScopingState) -> bool:
    """Tell whether queries are still about what was agreed: they share at least a third of its telling words."""
    old = {word for query in before.queries for word in content_words(query.text)}
    new = {word for query in after.queries for word in content_words(query.text)}
    return 3 * len(old & new) >= len(old)


def agrees(after: ScopingState, before: ScopingState) -> bool:
    """Tell whether a plan of what was agreed before is one of what is agreed now; verdicts are given anew each time."""

    def rests_on(scope: ScopingState) -> tuple[object, ...]:
        queries = [(query.text, query.sub_topics, query.scope_limits) for query in scope.queries]
        return queries, scope.seed_urls, scope.language

    return rests_on(after) == rests_on(before)


def scope_of(brief: Brief) -> ScopingState:
    """Take up again what was agreed for a run."""
    same = set(Brief.model_fields) & set(ScopingState.model_fields)
    agreed = brief.model_dump(include=same, exclude_none=True)
    return ScopingState.model_validate({"ready": True, **agreed, "minutes": brief.minutes})


_SENTENCE_ENDS = re.compile(r"(?<=[.!?？؟。\n])")
_ASKS = ("?", "？", "؟")


def pasted(text: str) -> tuple[UploadedFile, str]:
    """Take a long message apart: the document, and its last question; empty where it asks nothing."""
    sentences = (one.strip(" \t\n>*#-“”'") for one in _SENTENCE_ENDS.split(text))
    asked = [one for one in sentences if one.endswith(_ASKS) and len(one.split()) > 2]
    question = asked[-1] if asked and len(asked[-1]) <= MAX_MESSAGE // 40 else ""
    return UploadedFile("Pasted text.txt", text.encode()), question
