"""Every model provider: OpenAI and servers of one's own directly, all others through litellm.

litellm is imported here only, and only when it is first needed (5 s, 200 MB).

Retries of the transport are here and nowhere else; litellm's own and the provider client's are switched off. How a
model wants to be asked (`capabilities`) is found out on the way and kept; all that was asked on the way is in the books.

Embeddings too: one call, its failures sorted as those of models are.
"""

import asyncio
import logging
import math
import os
import sys
import warnings
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from types import ModuleType

from agents.core.budget import NOTHING, Spent, Usage
from agents.core.errors import ModelError, ModelFault
from agents.core.events import current_trace
from agents.core.role import NOTHING_SAID, FinishReason, OnText, Reply, Request, estimated_tokens
from agents.core.settings import has_key
from agents.core.transport import ATTEMPTS, RetryPolicy
from agents.llm import capabilities
from agents.llm import chat_completions as protocol
from agents.llm.capabilities import Sent, Ways
from agents.llm.litellm_errors import Failed, exceptions_of, failed, notice_for
from agents.llm.pacing import HeldBack, OpenGate, Permit, RateLimiter
from agents.llm.providers import PROVIDERS, key_variable
from agents.llm.wire import gather, messages_for, response_format

CALL_CAP_S = 300.0  # seconds one request may stay without an answer where more time is left, or all of it
READ_S, READ_SHARE = 30.0, 0.5
"""Seconds, and part of the time left, that a model may take to read a prompt that can be made shorter."""
SHORTEST_PROMPT = 1_000  # tokens from which a prompt can be made shorter at all
TRY_S = 10.0  # seconds that there must be to find out whether a provider is as slow as it was
LEAST_TOKENS = 40  # tokens of the shortest answer that is worth asking for
MAX_ADAPTIONS = 10  # requests on the way to one that the server takes, at most

UNSAID_PAUSE_S = 2.0
"""Seconds for which a provider is left alone that limits the rate and does not say for how long."""

_ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else a price list is downloaded during the import
    "LITELLM_MODE": "PRODUCTION",  # else a `.env` of litellm's own finding is loaded
}


@dataclass
class _Course:
    """What happened so far on the way to one reply."""

    ends_at: float
    requests: int = 0
    spent: Usage = NOTHING  # what answers took that were not used; the requests are counted apart
    fell_over: int = 0  # answers that were an error without words on how to ask
    again: bool = False  # A failure by chance was met: the next of its kind is none
    shown: bool = False  # words went to the user: a further attempt may not send them again

    async def show(self, on_text: OnText, text: str) -> None:
        """Show words to the user, and note that they were."""
        self.shown = True
        await on_text(text)

    def left_s(self) -> float:
        return max(0.0, self.ends_at - asyncio.get_running_loop().time())


def warm_up() -> ModuleType:
    """Import litellm, quietly; safe to run in a thread, so that nothing waits for it."""
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    import litellm

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)  # it logs provider texts, keys in them included
    # Its answers are built on first use, with warnings about its own types; better here than in the middle of a call.
    warnings.filterwarnings("ignore", message="Items? .* on TypedDict class", category=UserWarning)
    for kind in ("Message", "Delta", "Choices", "StreamingChoices", "ModelResponse", "ModelResponseStream", "Usage"):
        getattr(litellm.types.utils, kind).model_rebuild()
    loaded: ModuleType = litellm
    return loaded


async def close() -> None:
    """Close the connections of this event loop."""
    await protocol.close_connections()
    if "litellm" in sys.modules:
        await warm_up().close_litellm_async_clients()


class LiteLLMModel:
    """A model of any provider that litellm knows; asked without litellm where the provider is OpenAI, or understands it.

    Args:
        name: `provider/model`.
        schema_note: from a JSON schema to the text that asks for it, for models that take no schema.
        api_base: address of the server, where it is not the provider's own.
        needs_key: nothing is sent while the provider's variable holds no key, or a placeholder.
        retries: requests for one reply, at most.
        gate: gives out turns at the provider, to all of its callers; without one, every request passes.
        free: nothing is paid for it; else an answer costs what the list of prices says.
        callbacks: names of litellm's own callbacks; each request tells them job, node, call and role.
        kept: what earlier starts found out of models.
    """

    reasons = True

    def __init__(
        self, name: str, *, schema_note: Callable[[str], str], api_base: str | None = None,
        needs_key: bool = False, free: bool = False, retries: int = ATTEMPTS, gate: RateLimiter | None = None,
        retry: RetryPolicy = RetryPolicy(longest_wait_s=math.inf), callbacks: tuple[str, ...] = (),
        kept: capabilities.KeptWays | None = None,
    ) -> None:  # fmt: skip
        self.name, self.free = name, free
        self.key_variable = key_variable(name)
        self._kept, self._kept_as = kept, f"{name} {api_base or ''}".strip()
        self._schema_note, self._api_base = schema_note, api_base
        self.gate, self._needs_key = gate or OpenGate(), needs_key
        self._retries, self._retry = retries, replace(retry, sleep=partial(self._pause, retry.sleep))
        # litellm's own callbacks are called by litellm only.
        direct = name.startswith("openai/") and not callbacks
        self._callbacks = callbacks
        self.ways = Ways(
            direct=direct, room="max_tokens" if api_base or not direct else "max_completion_tokens",
        )  # fmt: skip
        self._server = protocol.ChatCompletions(api_base or protocol.OPENAI, CALL_CAP_S)
        self._litellm: ModuleType | None = None
        self._raised: tuple[type[Exception], ...] = protocol.RAISED
        self._listed = False
        self.taken = NOTHING
        """What all calls took since the start, whatever came of them: a talk that leads to no run is on no run's books."""
        self._plain_helped = False
        """To ask in words helped once where a form was answered by nothing: the next time it is kept."""

    async def reply(self, request: Request, on_text: OnText | None = None) -> Reply:
        keyless = self._needs_key or (self.ways.direct and not self._api_base)
        if keyless and not has_key(self.key_variable):
            notice = notice_for("key", model=self.name, key_variable=self.key_variable, no_key=True)
            raise ModelError(f"{self.name}: no key is set", fault="key", notice=notice, model=self.name)
        if request.streams not in request.gives.model_fields:
            on_text = None
        course = _Course(
            asyncio.get_running_loop().time() + (math.inf if request.deadline_s is None else request.deadline_s)
        )
        try:
            async with asyncio.timeout(request.deadline_s) as limit:
                await asyncio.sleep(0)  # with no time left, nothing is sent
                if not self._listed:
                    models = {} if self._api_base else await asyncio.to_thread(protocol.listed_models)
                    self.ways, self._listed = capabilities.listed(self.ways, self.name, models), True
                    if self._kept is not None:
                        self.ways = await asyncio.to_thread(self._kept.over, self._kept_as, self.ways)
                retrying = self._retry.retrying(course.left_s, self._retries)
                reply: Reply = await retrying(self._attempt, request, on_text, course)
                self.taken += reply.usage
                return reply
        except Failed as failure:
            error = failure.error
        except TimeoutError:
            if not limit.expired():
                raise
            late = f"no answer within {request.deadline_s:.1f} s, {course.requests} request(s)"
            error = self._failed("timeout", late).error
        usage = course.spent.model_copy(update={"calls": course.requests})
        error.spent = Spent(role=request.role, model=self.name, usage=usage)
        self.taken += usage
        raise error  # out here, so that no traceback leads to the provider's own text with a key in it

    async def _pause(self, sleep: Callable[[float], Awaitable[None]], seconds: float) -> None:
        self.gate.tell(seconds)
        await sleep(seconds)

    async def _attempt(self, request: Request, on_text: OnText | None, course: _Course) -> Reply:
        """Ask once, and again where the server wants to be asked otherwise, or did not come to its answer."""
        begun = ways = self.ways
        plain = ways.structured != "prompt" and (course.fell_over > 1 or request.messages[-2:-1] == (NOTHING_SAID,))
        if plain:  # some servers fall over, or say nothing, where a form is asked for, and do not say so
            ways = replace(ways, structured="prompt")
            begun = self.ways if self._plain_helped else ways
        failure: Failed | None = None
        for _ in range(MAX_ADAPTIONS):
            listener = None if course.shown else on_text
            streamed = ways.stream == "always" or (listener is not None and ways.stream == "wanted")
            messages = messages_for(request, ways, self._schema_note)
            tokens_in = sum(estimated_tokens(message["content"]) for message in messages)
            sent = Sent(messages, tokens_in, request.max_output_tokens, streamed, course.again)
            try:
                async with self._turn(request, course) as turn:
                    sent = replace(sent, room=self._room(request, ways, tokens_in, course))
                    turn.asked_for = sent.room
                    try:
                        answer = await self._send(request, sent, ways, listener, course)
                    except (asyncio.CancelledError, Failed) as cut:
                        timed_out = isinstance(cut, Failed) and cut.error.fault == "timeout"
                        turn.ran_out = timed_out or course.left_s() == 0.0
                        raise
                    usage = self._usage(answer, tokens_in)
                    turn.used(usage.tokens, usage.tokens_out)
            except Failed as refusal:
                failure = refusal
                adapted = capabilities.without_refused(ways, failure, sent)
                course.fell_over += failure.status == 500
                if adapted is None:
                    if failure.error.fault == "overflow":  # sizes are known from now on, whatever comes of this call
                        self._learn(begun, ways)
                        failure.error.takes = capabilities.takes(ways, request.max_output_tokens)
                    raise
                course.again = adapted == ways
                ways = adapted
                continue
            if answer.refusal or answer.finish == "content_filter":
                course.spent += usage
                raise self._failed("refused", f"declined: {answer.finish}", answer.refusal)
            read, cut_off = capabilities.after_reading(ways, tokens_in, usage.tokens_in)
            if cut_off:
                course.spent += usage
                self._learn(begun, read)
                said = f"it read {usage.tokens_in} tokens of about {tokens_in} and left out the rest"
                raise self._failed("overflow", said, takes=int(0.75 * usage.tokens_in))
            better = capabilities.asked_better(read, request.max_output_tokens, sent, answer)
            if better is None:
                text = answer.text or answer.last_words
                if not answer.cut_in_thoughts:
                    read = capabilities.after_thinking(read, answer.thought_tokens, cut=False, room=sent.room)
                self._learn(begun, read)
                self._plain_helped |= plain and bool(text.strip())
                finish: FinishReason = "length" if answer.finish == "length" else "stop"
                spent = (course.spent + usage).model_copy(update={"calls": course.requests})
                whole = capabilities.room_for(ways, request.max_output_tokens, tokens_in) or 0
                hurried = finish == "length" and sent.room < whole
                return Reply(text=text, usage=spent, finish_reason=finish, model=self.name, hurried=hurried)
            course.spent += usage
            ways = better
        raise failure or self._failed("server", "it never came to an answer")

    def _learn(self, begun: Ways, ways: Ways) -> None:
        before, self.ways = self.ways, self.ways.taught(begun, ways)
        if self._kept is not None:
            self._kept.keep(self._kept_as, before, self.ways)

    def _room(self, request: Request, ways: Ways, tokens_in: int, course: _Course) -> int:
        """Ask for no more than fits, and than can be written in the time that is left, at the pace seen so far.

        `Failed` where not even a short answer would fit, or come in time: nothing was sent.
        """
        left, pace = course.left_s(), self.gate.pace
        readable = pace.readable(min(READ_S, READ_SHARE * left)) if request.may_shrink else None
        if readable is not None and SHORTEST_PROMPT < readable < tokens_in:
            raise self._failed("overflow", f"at its pace it reads {readable} tokens in time", takes=readable)
        room = capabilities.room_for(ways, request.max_output_tokens, tokens_in)
        if room is None:
            raise self._failed("overflow", f"about {tokens_in} tokens do not fit into a window of {ways.window}")
        quick = pace.room(left, tokens_in)
        if quick is None or (quick < LEAST_TOKENS and left >= TRY_S and self.gate.may_try()):
            return room
        if quick < LEAST_TOKENS:
            slow = self._failed("timeout", f"at its pace it writes {max(0, quick)} tokens in the time left")
            slow.retryable = slow.error.retryable = False
            raise slow
        return min(room, quick)

    @asynccontextmanager
    async def _turn(self, request: Request, course: _Course) -> AsyncIterator[Permit]:
        """Wait for a turn at the provider; a pause that it asks for holds for all of its callers."""
        tokens = sum(estimated_tokens(message.content) for message in request.messages)
        try:
            async with self.gate.turn(tokens, course.left_s()) as turn:
                yield turn
        except HeldBack as error:
            raise self._failed("rate", str(error), wait_s=error.wait_s) from None
        except Failed as failure:
            if failure.error.fault == "rate" or (failure.retry_after_s and failure.retryable):
                self.gate.hold(UNSAID_PAUSE_S if failure.retry_after_s is None else failure.retry_after_s)
            raise

    async def _send(
        self, request: Request, sent: Sent, ways: Ways, on_text: OnText | None, course: _Course
    ) -> protocol.ProviderAnswer:
        body: protocol.Wire = {
            "model": self.name.partition("/")[2] if ways.direct else self.name,
            "messages": sent.messages,
        }
        if form := response_format(request.gives, ways):
            body["response_format"] = form
        if ways.room:
            body[ways.room] = sent.room
        if sent.streamed:
            body["stream"] = True
            if ways.usage_in_stream:
                body["stream_options"] = {"include_usage": True}
        if self.name.partition("/")[0] in PROVIDERS.ollama:
            body["num_ctx"] = capabilities.ollama_window(ways, sent.tokens_in, sent.room)
        if not ways.direct:
            body |= await self._for_litellm(request)
        course.requests += 1
        answer = protocol.ProviderAnswer()
        try:
            pieces = self._server.pieces(body, self._key()) if ways.direct else self._through_litellm(body)
            await gather(pieces, answer, None if on_text is None else partial(course.show, on_text), request.streams)
        except self._raised as error:
            answer.take({"usage": getattr(error, "usage", None)})
            if answer.came:
                course.spent += self._usage(answer, sent.tokens_in)
            secrets = [os.environ.get(self.key_variable, "")]
            raise failed(error, model=self.name, key_variable=self.key_variable, secrets=secrets) from None
        return answer

    async def _for_litellm(self, request: Request) -> protocol.Wire:
        """Load litellm, and give what only it takes."""
        if self._litellm is None:
            self._litellm = await asyncio.to_thread(warm_up)
            self._raised = (*protocol.RAISED, *exceptions_of(self._litellm))
            known = self._litellm.callbacks
            known += [name for name in self._callbacks if name not in known]
        given: protocol.Wire = {
            # The same for every call, since litellm keeps connections by it; the time that is left is held around the call.
            "timeout": CALL_CAP_S, "max_retries": 0, "num_retries": 0,
            "metadata": current_trace().named() | {"role": request.role},  # for callbacks; not sent to the provider
        }  # fmt: skip
        if self._api_base:
            given |= {"api_base": self._api_base, "api_key": self._key()}
        return given

    async def _through_litellm(self, body: protocol.Wire) -> AsyncGenerator[protocol.Wire]:
        answer = await (self._litellm or warm_up()).acompletion(**body)
        if not body.get("stream"):
            yield answer.model_dump()
            return
        try:
            async for chunk in answer:
                yield chunk.model_dump()
        finally:
            await answer.aclose()

    @property
    def priced(self) -> bool:
        """Whether it is known what its answers cost."""
        return self.free or protocol.listed_price(self.name) is not None

    def _usage(self, answer: protocol.ProviderAnswer, estimated_in: int) -> Usage:
        """Give what an answer took; the request itself is counted with the others of its call."""
        tokens_in, tokens_out = answer.counted
        told = tokens_in + tokens_out > 0
        if not told:  # no figures given: estimates let the budget bind, what is really paid is not known
            tokens_in, tokens_out = estimated_in, estimated_tokens(answer.content + answer.thoughts + answer.called)
        cost = 0.0 if self.free else protocol.listed_cost(self.name, tokens_in, tokens_out, answer.usage)
        usage = Usage(tokens_in=tokens_in, tokens_out=tokens_out, cost_usd=cost)
        return usage if told or self.free else usage.model_copy(update={"cost_usd": None, "partly_usd": cost or 0.0})

    def _key(self) -> str:
        """Give the provider's key; for a server of the user's own that needs none, a word."""
        return os.environ.get(self.key_variable, "") or ("none" if self._api_base else "")

    def _failed(
        self, fault: ModelFault, what: str, words: str = "", *, takes: int | None = None, wait_s: float | None = None
    ) -> Failed:
        notice = notice_for(fault, model=self.name, key_variable=self.key_variable, words=words)
        error = ModelError(f"{self.name}: {what}", fault=fault, notice=notice, model=self.name)
        error.takes = takes
        return Failed(error, wait_s=wait_s)


async def embed_texts(model: str, texts: list[str], *, timeout_s: float) -> list[list[float]]:
    """Ask an embedding model for the directions of texts, in their order; a `ModelError` where it does not give them."""
    litellm = await asyncio.to_thread(warm_up)
    try:
        response = await litellm.aembedding(model=model, input=texts, timeout=timeout_s)
    except exceptions_of(litellm) as error:
        failure: Failed = failed(error, model=model, key_variable=key_variable(model))
    else:
        return [row["embedding"] for row in response.data]
    raise failure.error
