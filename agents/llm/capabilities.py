"""What a model's server takes, as far as it has shown it: read from its refusals and answers, and kept for later calls.

Nothing here is known of a model beforehand but what the model library lists. A refusal in words that nobody foresaw
still has a way on: the plainest request that there is, tried before the call is given up.
"""

import contextlib
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from agents.llm.chat_completions import ProviderAnswer, Wire
from agents.llm.litellm_errors import WORDS, Failed, cue
from agents.llm.providers import PROVIDERS

ResponseForm = Literal["schema", "object", "prompt"]
"""How JSON is asked for: by a schema, as any object, or in words; the last two with the schema in the messages."""

Streaming = Literal["wanted", "always", "never"]

FIRST_ROOM_TO_THINK = 4_000  # tokens beside those of the answer for a model that is listed as one that thinks
FIRST_THOUGHT = 2_048  # tokens that a model is given to think, once it was cut off while it thought
MOST_THOUGHT = 32_000
OLLAMA_WINDOW = 32_768  # the largest window that Ollama is asked for: it takes memory for all of it
OLLAMA_STEPS = (8_192, 16_384, OLLAMA_WINDOW)  # few, since Ollama loads a model anew for each other size
HALF = 0.5


@dataclass(frozen=True)
class Ways:
    """How a model is asked."""

    structured: ResponseForm = "schema"
    room: Literal["max_tokens", "max_completion_tokens", ""] = "max_tokens"
    """Name of the output limit; empty when none is taken."""
    stream: Streaming = "wanted"
    usage_in_stream: bool = True
    direct: bool = False  # asked by the chat protocol itself, without the model library
    system: bool = True  # instructions go into a message of their own, not in front of the user's
    window: int | None = None  # tokens of question and answer together; None while nobody has said
    most_out: int | None = None  # tokens that an answer may be allowed, thoughts included
    thought: int = 0  # tokens for thoughts, asked for beside those of the answer
    weight: float = 1.0  # tokens as the server counts them, for one that we estimate
    lowest: float | None = None
    """The least it counted so far for one that we estimate, of questions of some length."""
    cut_at: int | None = None  # tokens that it read of a question that was longer, where that was seen once

    def taught(self, before: "Ways", after: "Ways") -> "Ways":
        """Take over what one call found out, and keep what others found meanwhile."""
        names = [one.name for one in fields(Ways) if getattr(before, one.name) != getattr(after, one.name)]
        return replace(self, **{name: getattr(after, name) for name in names})

    @property
    def told(self) -> str:
        forms = {"schema": "JSON by schema", "object": "JSON without a schema", "prompt": "JSON asked for in words"}
        streams = {"wanted": "streams", "always": "answers only as a stream", "never": "does not stream"}
        said = [forms[self.structured], streams[self.stream]]
        said += [] if self.system else ["no system messages"]
        said += [f"thinks: {self.thought} tokens more are asked for"] if self.thought else []
        said += [f"a window of {self.window} tokens"] if self.window else []
        return ", ".join(said)


_LASTING = ("structured", "room", "stream", "usage_in_stream", "direct", "system", "window", "thought")
_KEPT_S = 7 * 24 * 3_600.0
_KEPT = TypeAdapter(dict[str, tuple[float, Ways]])


class KeptWays:
    """What models turned out to need, from one start to the next, in a small file; found out anew after a week.

    Where the file can't be read or written, a start costs a few short requests more.
    """

    def __init__(self, path: Path, now: Callable[[], float] = time.time) -> None:
        self._path, self._now = path, now

    def _read(self) -> dict[str, tuple[float, Ways]]:
        try:
            return _KEPT.validate_json(self._path.read_bytes())
        except (OSError, ValidationError):
            return {}

    def over(self, model: str, ways: Ways) -> Ways:
        """Give `ways` with what was kept of a model; its name says which server is meant, too."""
        since, kept = self._read().get(model, (0.0, ways))
        fresh = 0 <= self._now() - since < _KEPT_S
        return replace(ways, **{name: getattr(kept, name) for name in _LASTING}) if fresh else ways

    def keep(self, model: str, before: Ways, after: Ways) -> None:
        """Write down what is new of a model, where it outlasts the process."""
        if any(getattr(before, name) != getattr(after, name) for name in _LASTING):
            beside = self._path.with_suffix(".new")
            with contextlib.suppress(OSError):
                self._path.parent.mkdir(parents=True, exist_ok=True)
                beside.write_bytes(_KEPT.dump_json(self._read() | {model: (self._now(), after)}))
                beside.replace(self._path)


@dataclass(frozen=True)
class Sent:
    """One request, as far as a refusal may be about it."""

    messages: list[dict[str, str]]
    tokens_in: int  # as estimated
    room: int
    streamed: bool
    again: bool = False  # the same was asked before, and failed by chance


_REFUSED_STATUS = (400, 402, 404, 413, 422, 429, 500, 501)  # 404: routers that find no provider which takes it


def without_refused(ways: Ways, failure: Failed, sent: Sent) -> Ways | None:
    """Leave out what the server refused, or ask for less; None when the failure is about something else.

    Equal to `ways` where the same request may well succeed.
    """
    error, said = failure.error, failure.said
    if failure.status not in _REFUSED_STATUS:
        return None
    if error.fault in ("overflow", "request", "quota") and (smaller := _smaller(ways, said, sent)):
        return smaller
    known = cue("form").search(said) or cue("system").search(said)
    if error.fault not in ("request", "unknown_model", "server") or (error.fault == "server" and not known):
        return None
    if ways.direct and cue("protocol").search(said):
        return replace(ways, direct=False)  # the library knows the provider's other protocols
    if ways.room and cue("room").search(said):
        return replace(ways, room="max_completion_tokens" if ways.room == "max_tokens" else "")
    if ways.structured != "prompt" and cue("form").search(said):
        if cue("failed_by_chance").search(said):
            return replace(ways, structured="prompt") if sent.again else ways
        plain = failure.status == 500 or "grammar" in said.casefold()
        return replace(ways, structured="object" if ways.structured == "schema" and not plain else "prompt")
    if ways.system and cue("system").search(said):
        return replace(ways, system=False)
    if ways.usage_in_stream and sent.streamed and cue("usage").search(said):
        return replace(ways, usage_in_stream=False)
    if ways.stream == "wanted" and cue("streams").search(said):
        return replace(ways, stream="never" if sent.streamed else "always")
    if error.fault != "request" or failure.status not in (400, 422, 501):
        return None
    if ways.structured != "prompt":  # it does not say what it is about: one comfort after the other is given up
        return replace(ways, structured="prompt")
    return replace(ways, system=False) if ways.system else None


def _smaller(ways: Ways, said: str, sent: Sent) -> Ways | None:
    """Learn the sizes that a refusal names; None where it names none that is news."""
    window, tokens_in, most_out = (_first(name, said) for name in ("window", "read", "most_out"))
    if window is None and (characters := _first("characters", said)):
        window = characters // 4
    if not (most_out or window or tokens_in) and cue("room").search(said):
        most_out = _first("bound", said)
    if most_out and most_out < sent.room:
        return replace(ways, most_out=most_out)
    if window is None or (ways.window is not None and window > ways.window):
        return None
    weight = ways.weight
    if tokens_in is None and (weight > 3 or 2 * (sent.tokens_in + sent.room) < window):
        return None  # asking for less would not help: the question itself is meant
    if tokens_in:
        weight = max(weight, (tokens_in + 8) / max(1, sent.tokens_in))
    elif ways.window == window:  # refused though it should have fitted: it counts more than we do
        weight *= 1.5
    learned = replace(ways, window=window, weight=weight)
    return learned if learned != ways else None


def room_for(ways: Ways, wanted: int, tokens_in: int) -> int | None:
    """Give the tokens that an answer of `wanted` and the thoughts before it get; None where the question leaves too few."""
    room = wanted + ways.thought
    if ways.most_out is not None:
        room = min(room, ways.most_out)
    if ways.window is None:
        return room
    left = ways.window - int(tokens_in * ways.weight) - 1
    return None if left < min(room, int(ways.window * HALF), wanted // 2 + ways.thought) else min(room, left)


def takes(ways: Ways, wanted: int) -> int | None:
    """Give the tokens of a question, as we estimate them, that leave room for the answer; None where nobody knows."""
    if ways.window is None:
        return None
    room = min(wanted + ways.thought, int(ways.window * HALF))
    return int((ways.window - room) / ways.weight * 0.95)


def ollama_window(ways: Ways, tokens_in: int, room: int) -> int:
    """Say which window Ollama is asked for: without, it takes a small one and cuts the question's front off unsaid."""
    need = int(tokens_in * max(1.0, ways.weight) * 1.15) + room
    return min(next((step for step in OLLAMA_STEPS if step >= need), OLLAMA_WINDOW), ways.window or OLLAMA_WINDOW)


LONG_ENOUGH = 1_000  # estimated tokens from which the count of what was read says something


def after_reading(ways: Ways, tokens_in: int, read: int) -> tuple[Ways, bool]:
    """Learn from how much of a question a server says that it read; and say whether it left part of it out.

    A server that cuts what is too long reads the same number of tokens of each long question. One that merely counts
    otherwise, as it may for another script, does not.
    """
    if not read or tokens_in < LONG_ENOUGH:
        return ways, False
    if ways.cut_at is not None and abs(read - ways.cut_at) <= 0.02 * ways.cut_at:
        return replace(ways, window=min(ways.window or read, read)), True
    ratio = read / tokens_in
    usual = ways.lowest or HALF
    if ratio >= 0.8 * usual:
        return replace(ways, lowest=min(ways.lowest or ratio, ratio), weight=max(ways.weight * 0.9, ratio)), False
    if ways.cut_at is None:
        return replace(ways, cut_at=read), True
    return replace(ways, lowest=min(usual, ratio), cut_at=None), False


def after_thinking(ways: Ways, thought: int, *, cut: bool, room: int) -> Ways:
    """Learn how much a model thinks, of the tokens it thought, or of the `room` it had and was cut off before it spoke."""
    if cut:
        return replace(ways, thought=min(MOST_THOUGHT, max(FIRST_THOUGHT, 2 * room, ways.thought)))
    if thought > ways.thought // 2:
        return replace(ways, thought=min(MOST_THOUGHT, -(-2 * thought // 256) * 256))
    return ways


def asked_better(ways: Ways, wanted: int, sent: Sent, answer: ProviderAnswer) -> Ways | None:
    """Say how to ask again for an answer that did not come; None where the one that came is the one."""
    if answer.cut_in_thoughts:
        wider = after_thinking(ways, 0, cut=True, room=sent.room)
        room = room_for(wider, wanted, sent.tokens_in)
        return wider if room is None or room > sent.room else None
    if not answer.came and sent.streamed and ways.stream == "wanted":
        return replace(ways, stream="never")
    if answer.thoughts and not answer.text.strip() and ways.structured != "prompt":
        return replace(ways, structured="prompt")
    return None


def listed(ways: Ways, name: str, models: Mapping[str, Wire]) -> Ways:
    """Take over what the model library lists of a model; of a server of the user's own it knows nothing."""
    provider, _, bare = name.partition("/")
    if provider in PROVIDERS.ollama:
        return replace(ways, window=OLLAMA_WINDOW)
    known = models.get(name) or models.get(bare) or {}
    if known.get("litellm_provider") != provider:
        return ways
    thinks = known.get("supports_reasoning") and provider != "anthropic"  # which thinks only where asked to
    thought = FIRST_ROOM_TO_THINK if thinks else 0
    return replace(ways, window=known.get("max_input_tokens"), most_out=known.get("max_output_tokens"), thought=thought)


def _first(size: str, said: str) -> int | None:
    for pattern in WORDS.sizes[size]:
        if found := re.search(pattern, said, re.IGNORECASE):
            return int(re.sub(r"\D", "", found["n"]))
    return None
