"""The protocol of chat completions, spoken directly: OpenAI and nearly every server of one's own understand it.

litellm speaks it too, but takes five seconds of processor time and 200 MB to load, which the first answer would wait for.

What came back from a provider, whole or in pieces: its words, wherever the server put them, and what it counted.

Words stand in the content, in parts of it, in the arguments of a tool call that nobody offered, or in the field for
thoughts. Thoughts themselves are never taken for the answer.
"""

import asyncio
import importlib.util
import json
from collections.abc import AsyncGenerator, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import httpx2

from agents.core.model_answers import CLOSING, FENCE, drop_thoughts, strict_json
from agents.core.role import estimated_tokens

Wire = dict[str, Any]
"""JSON as it goes over the wire; what a server sends may have any shape."""
OPENAI = "https://api.openai.com/v1"
CONNECT_S = 15.0
"""Seconds until a server has to have taken a connection."""
SAID_CHARS = 4_000
"""Characters of a refusal that are read: some servers answer with a whole page."""

_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, httpx2.AsyncClient]] = WeakKeyDictionary()


class Refused(Exception):
    """The server answered with an error, or with what is no answer."""

    def __init__(self, said: str, response: httpx2.Response, status: int | None, of: Wire) -> None:
        super().__init__(said)
        self.response, self.status_code, self.body = response, status, said
        self.code, self.param = of.get("code"), of.get("param")


RAISED = (Refused, httpx2.HTTPError, httpx2.InvalidURL)
"""What a call raises, beside being cut off."""


class ChatCompletions:
    """One server; all who ask it share its connections."""

    def __init__(self, base: str, timeout_s: float) -> None:
        self._url, self._timeout_s = f"{base.rstrip('/')}/chat/completions", timeout_s

    def _client(self) -> httpx2.AsyncClient:
        of_loop = _clients.setdefault(asyncio.get_running_loop(), {})
        if self._url not in of_loop:
            limits = httpx2.Limits(max_connections=None, max_keepalive_connections=64)
            timeout = httpx2.Timeout(self._timeout_s, connect=CONNECT_S, pool=None)
            # To load the certificates takes a moment, which a server without them need not cost.
            secure = self._url.startswith("https:")
            of_loop[self._url] = httpx2.AsyncClient(limits=limits, timeout=timeout, verify=secure)
        return of_loop[self._url]

    async def whole(self, body: Wire, key: str) -> Wire:
        """Ask, and wait for the whole answer.

        Raises:
            Refused: the server declined, or its answer is none.
            httpx2.HTTPError: it could not be reached, or broke off.
        """
        response = await self._client().post(self._url, json=body, headers=_headers(key))
        if response.status_code != 200:
            raise _refusal(response, response.text)
        return _object(response.text, response)

    async def pieces(self, body: Wire, key: str) -> AsyncGenerator[Wire]:
        """Ask, and give the answer piece by piece as it comes; raises as `whole`."""
        async with self._client().stream("POST", self._url, json=body, headers=_headers(key)) as response:
            if response.status_code != 200:
                raise _refusal(response, (await response.aread()).decode("utf-8", "replace"))
            if response.headers.get("content-type", "").startswith(("application/json", "text/html")):
                yield _object((await response.aread()).decode("utf-8", "replace"), response)  # it does not stream
                return
            ended = False
            async for line in response.aiter_lines():
                if not line.startswith("data:"):
                    continue
                if (data := line[5:].strip()) == "[DONE]":
                    return
                piece = _object(data, response)
                ended = ended or any(choice.get("finish_reason") for choice in piece.get("choices") or ())
                yield piece
            if not ended:
                raise httpx2.RemoteProtocolError("the answer broke off")


async def close_connections() -> None:
    """Close the connections of this event loop."""
    for client in _clients.pop(asyncio.get_running_loop(), {}).values():
        await client.aclose()


def _headers(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def _object(text: str, response: httpx2.Response) -> Wire:
    try:
        found = json.loads(text)
    except ValueError:
        raise Refused(text[:SAID_CHARS] or "its answer is empty", response, None, {}) from None
    if not isinstance(found, dict) or found.get("error"):
        raise _refusal(response, text, None)
    return found


def _refusal(response: httpx2.Response, text: str, status: int | None = 0) -> Refused:
    """Read what a server says of its refusal, in whatever form it says it."""
    of: Wire = {}
    try:
        said = json.loads(text)
        of = said.get("error", said) if isinstance(said, dict) else {}
    except ValueError:
        pass
    known = of if isinstance(of, dict) else {}
    return Refused(text[:SAID_CHARS], response, response.status_code if status == 0 else status, known)


@lru_cache
def listed_models() -> Mapping[str, Wire]:
    """Read litellm's list of models, with prices and sizes, from its file."""
    found = importlib.util.find_spec("litellm")
    places = found.submodule_search_locations if found else None
    path = Path(places[0]) / "model_prices_and_context_window_backup.json" if places else None
    listed: Mapping[str, Wire] = json.loads(path.read_bytes()) if path and path.exists() else {}
    return listed


def listed_cost(name: str, usage: Wire) -> float | None:
    """Give the US dollars of an answer by litellm's list of prices; None where the model is not in it."""
    model = name.partition("/")[2]
    price = listed_models().get(name) or listed_models().get(model)
    if not price or price.get("input_cost_per_token") is None:
        return None
    read, written = float(price["input_cost_per_token"]), float(price.get("output_cost_per_token") or 0.0)
    known = int((usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0)
    known_price = float(price.get("cache_read_input_token_cost") or read)
    fresh = int(usage.get("prompt_tokens") or 0) - known
    return fresh * read + known * known_price + int(usage.get("completion_tokens") or 0) * written


_WORDS = ("text", "output_text", "")
"""Kinds of parts that hold words for whoever asked."""


@dataclass
class ProviderAnswer:
    """One answer, as it came."""

    content: str = ""
    thoughts: str = ""
    """What came in the field for thoughts."""
    called: str = ""
    """Arguments of the first tool call."""
    finish: str = ""
    refusal: str = ""
    usage: Wire = field(default_factory=dict)

    @property
    def came(self) -> bool:
        """Anything at all came."""
        return bool(self.content or self.thoughts or self.called or self.refusal or self.usage)

    @property
    def text(self) -> str:
        """The answer: the content; where there is none, a call's arguments, or what is the answer beyond doubt."""
        if drop_thoughts(self.content)[0].strip():
            return self.content
        return self.called or _behind_thoughts(self.thoughts) or self.content

    @property
    def last_words(self) -> str:
        """The JSON with which the thoughts end, for a model that says nothing elsewhere though asked again."""
        at = self.thoughts.find("{")
        while at >= 0:
            value = strict_json(self.thoughts, at)
            if value and not self.thoughts[value[1] :].strip("` \n"):
                return self.thoughts[at:]
            at = self.thoughts.find("{", value[1] if value else at + 1)
        return ""

    @property
    def thought_tokens(self) -> int:
        """Tokens spent on thoughts: as the provider counts them, else as estimated."""
        if counted := int((self.usage.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0):
            return counted
        said, closed = drop_thoughts(self.content)
        if not said.strip():  # what it said stands among its thoughts
            return 0
        inside = len(self.content) - len(said) if not closed or CLOSING.search(self.content) else 0
        return estimated_tokens(self.thoughts + "x" * inside) if self.thoughts or inside else 0

    @property
    def cut_in_thoughts(self) -> bool:
        """The output limit was reached before a word was said."""
        said, closed = drop_thoughts(self.content)
        return self.finish == "length" and not self.called and (not closed or not said.strip())

    def take(self, response: Wire) -> str:
        """Take in a whole answer as it comes over the wire, or the next piece of one; give the piece of the content."""
        self.usage = response.get("usage") or self.usage
        if not (choices := response.get("choices")):
            return ""
        message = choices[0].get("delta") or choices[0].get("message") or {}
        piece = _words_of(message.get("content"))
        self.content += piece
        self.thoughts += message.get("reasoning_content") or message.get("reasoning") or ""
        self.refusal += message.get("refusal") or ""
        self.finish = choices[0].get("finish_reason") or self.finish
        calls = [call.get("function") or {} for call in message.get("tool_calls") or () if not call.get("index")]
        self.called += "".join(call.get("arguments") or "" for call in (*calls[:1], message.get("function_call") or {}))
        return piece


def _words_of(content: str | Iterable[object] | None) -> str:
    """Give the words of a content, which some servers send in parts."""
    if content is None or isinstance(content, str):
        return content or ""
    parts = (part if isinstance(part, dict) else {"text": str(part)} for part in content)
    return "".join(str(part.get("text") or "") for part in parts if part.get("type", "") in _WORDS)


def _behind_thoughts(thoughts: str) -> str:
    """Give an answer that came in the field for thoughts: behind their closing tag, or nothing but JSON."""
    if CLOSING.search(thoughts):
        return drop_thoughts(thoughts)[0].strip()
    bare = thoughts.strip()
    start = FENCE.match(bare)
    at = start.end() if start else 0
    value = strict_json(bare, at) if bare[at : at + 1] == "{" else None
    return bare if value and not bare[value[1] :].strip("` \n") else ""
