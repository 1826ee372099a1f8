"""The engine that asks every role: render, ask, validate, repair once.

A role is a value. It chooses nothing by itself: it returns a contract, and code acts on it. The transport's retries are
the model adapter's, the repair of an answer is here, the revision of a text is the research code's: one loop each, in
one place.

The model protocol: a request goes in, a text comes out. Knows no provider.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, Literal, Protocol, TypeVar

from pydantic import ValidationError

from agents.contracts.frozen import Frozen
from agents.contracts.frozen import Role as RoleName
from agents.core.budget import NOTHING, Deadline, Spent, Usage
from agents.core.errors import NOT_IN_TIME, BadOutput, DossierError, ModelError, Reject, faults_of
from agents.core.events import Asked, Charged, RoleAsked
from agents.core.model_answers import NoAnswer, Unclosed, each_text, read_answer
from agents.core.prompts import FENCE_DIGITS, PromptBook

FinishReason = Literal["stop", "length", "refused"]

OnText = Callable[[str], Awaitable[None]]
"""Called with each new piece of the text meant for the user, while it is written."""


@dataclass(frozen=True)
class Message:
    """One message to a model."""

    role: Literal["system", "user", "assistant"]
    content: str


NOTHING_SAID = Message("assistant", "(empty)")  # stands for an answer without a word


@dataclass(frozen=True)
class Request:
    """One question to a model, for one role."""

    role: str
    messages: tuple[Message, ...]
    given: Frozen  # what the messages were rendered from: engines without a language model work on this
    gives: type[Frozen]  # the contract of the answer
    deadline_s: float | None  # seconds the whole call may take, retries included; None is unlimited
    max_output_tokens: int
    streams: str = "reply"
    """The field of the answer that is told while it is written, to whoever listens: a text piece by piece, a list by its
    items, each as a line of JSON."""
    may_shrink: bool = False
    """It can be asked again with less of what was found: a model that reads slowly may refuse it as too long."""


@dataclass(frozen=True)
class Reply:
    """What a model answered, over all transport retries."""

    text: str
    usage: Usage
    finish_reason: FinishReason
    model: str
    stood_in_for: str = ""  # the model that was bound and did not answer; empty when `model` is the one
    because: str = ""  # why it did not, in words for the user
    hurried: bool = False
    """It was cut off at a limit that was set for want of time, and not at the role's own."""


def shown_name(model: str) -> str:
    """Name a model as people call it: without provider, folder and file ending."""
    return model.rstrip("/").rpartition("/")[2].removesuffix(".gguf") or model


def estimated_tokens(text: str) -> int:
    """Estimate the tokens of a text in any script: four bytes each."""
    return len(text.encode("utf-8", "surrogatepass")) // 4 + 1


class Model(Protocol):
    """Anything that answers requests."""

    name: str
    """As the reader of a report should see it."""
    reasons: bool
    """False for an engine that only quotes: it is said so in the chat and in Methodology."""

    async def reply(self, request: Request, on_text: OnText | None = None) -> Reply:
        """Answer `request`; stream the field that it names to `on_text`. A `ModelError` where the provider failed for good."""


In = TypeVar("In", bound=Frozen)
Out = TypeVar("Out", bound=Frozen)
A = TypeVar("A")

REPAIRS = 1  # one repair, for every role (specification, section 11)
_ADDRESS = re.compile(r"https?:/*(?P<site>[^\s/?#\"'<>()\[\]]*)[^\s\"'<>()\[\]]*[^\s\"'<>()\[\].,;:!?]", re.IGNORECASE)
_FENCE = re.compile(rf"</?[a-z_]+-[0-9a-f]{{{FENCE_DIGITS}}}>")
MORE_ROOM = 2  # by how much the output limit grows when an answer was cut off at it


@dataclass(frozen=True)
class Role(Generic[In, Out]):
    """Name, contracts, prompt and checks of one role."""

    name: RoleName
    takes: type[In]
    gives: type[Out]
    checks: tuple[Callable[[In, Out], None], ...] = ()
    """Each raises `Reject` with a text for the model when the property it is named for does not hold."""
    mend: Callable[[In, Out], Out] | None = None  # what code puts right by itself, before the checks
    prompt: str = ""  # name of the prompt file; the role's own name when empty
    max_output_tokens: int = 4000
    may_shrink: bool = False  # what it is given can be cut: it is mostly words of sources, of which fewer do
    prose: str = ""
    """The text field that is kept to its last whole sentence where the output limit cuts it, instead of being asked for
    again; empty when there is none."""
    partial: bool = False
    """What is complete of an answer that the output limit cuts counts at once: code does for the rest."""
    listed: str = ""  # the one list that a bare JSON list in the answer is taken for; empty when none is

    @property
    def prompt_name(self) -> str:
        return self.prompt or self.name


@dataclass(frozen=True)
class AskContext:
    """What asking needs: models by role, prompts, and the time left."""

    models: Mapping[str, Model]
    prompts: PromptBook
    deadline: Deadline = field(default_factory=Deadline)


class RoleAnswer(Asked, Charged, Generic[Out]):
    """A role's answer, with what it cost and how it came about."""

    output: Out

    def as_event(self, node: str) -> RoleAsked:
        return RoleAsked(node=node, **self.model_dump(exclude={"output"}))


async def answered(asked: Awaitable[A]) -> A:
    """Await somebody else's code: where it breaks off by itself, that is a failure like others, and nobody was cut off."""
    try:
        return await asked
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise RuntimeError("broken off from within") from error


async def ask(role: Role[In, Out], given: In, run: AskContext, on_text: OnText | None = None) -> RoleAnswer[Out]:
    """Ask `role` for its output, letting the model repair a rejected answer once.

    `BadOutput` where it is still unusable then; a `ModelError` where the provider failed for good, or time ran out.
    """
    prompt = run.prompts[role.prompt_name]
    messages = [Message("system", prompt.system), Message("user", prompt.render(given))]
    model = run.models[role.name]
    usage, reason, room = NOTHING, "", role.max_output_tokens
    because, stood_in_for = "", ""
    for attempt in range(1 + REPAIRS):
        request = Request(
            role.name, tuple(messages), given, role.gives, deadline_s=run.deadline.seconds(), max_output_tokens=room,
            streams=role.prose or role.listed or "reply", may_shrink=role.may_shrink,
        )  # fmt: skip
        try:
            reply = await answered(model.reply(request, on_text if attempt == 0 else None))
        except ModelError as error:
            error.spent = (error.spent or Spent(role=role.name, model=model.name)).more(usage)
            raise
        usage = usage + reply.usage
        because, stood_in_for = reply.because or because, reply.stood_in_for or stood_in_for
        last = attempt == REPAIRS
        try:
            output, cut = _accept(role, given, reply, last=last)
        except (NoAnswer, ValidationError, Reject) as error:
            reason = faults_of(error) if isinstance(error, ValidationError) else str(error)
            if reply.finish_reason == "length":
                if role.prose:
                    break  # prose that ran on to the limit and is of no use would only run on again
                room *= MORE_ROOM
            said = Message("assistant", reply.text) if reply.text else NOTHING_SAID
            again = f"That answer can't be used: {reason}\nGive the whole answer again as one JSON object, and nothing else."
            messages += [said, Message("user", again)]
            continue
        return RoleAnswer[role.gives](  # type: ignore[name-defined]
            output=output, usage=usage, role=role.name, prompt=prompt.ref, model=reply.model, repaired=attempt > 0,
            cut=cut, stood_in=because, stood_in_for=stood_in_for,
        )  # fmt: skip
    unusable: DossierError = BadOutput(role.name, reason=reason, attempts=attempt + 1)
    if reply.hurried:  # not the model's fault: another one stands in for it, also where a bad answer would end the job
        late = f"{role.name!r} was cut off for want of time"
        unusable = ModelError(late, fault="timeout", notice=NOT_IN_TIME, model=model.name)
    unusable.spent = Spent(role=role.name, model=model.name, usage=usage)
    raise unusable


def _accept(role: Role[In, Out], given: In, reply: Reply, *, last: bool) -> tuple[Out, bool]:
    cut = reply.finish_reason == "length"
    if cut and not (last or role.prose or role.partial):
        raise NoAnswer("the answer was cut off at the output limit; give it again, shorter or in full")
    try:
        output = read_answer(reply.text, role.gives, listed=role.listed, cut=cut, prose=role.prose)
    except Unclosed:
        if not last:
            raise
        cut = True  # a stream that broke off twice: what was complete before that counts
        output = read_answer(reply.text, role.gives, listed=role.listed, cut=cut, prose=role.prose)
    if _FENCE.search(written := output.model_dump_json()) or _ADDRESS.search(written):
        cleaned = partial(_cleaned, given=given.model_dump_json())
        output = role.gives.model_validate(each_text(output.model_dump(), cleaned))
    if role.mend is not None:
        output = role.mend(given, output)
    for check in role.checks:
        check(given, output)
    return output, cut


def _cleaned(text: str, given: str) -> str:
    """Leave out the tags around data that a small model copies, and of an address that stands in no input all but the site.

    An address that is made up may carry away what was read.
    """
    text = _FENCE.sub("", text).strip() if _FENCE.search(text) else text
    return _ADDRESS.sub(lambda found: found[0] if found[0] in given else found["site"], text)
