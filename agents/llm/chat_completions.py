"""The protocol of chat completions, spoken directly: OpenAI and nearly every server of one's own understand it.

litellm speaks it too, but takes five seconds of processor time and 200 MB to load, which the first answer would wait for.

What came back from a provider, whole or in pieces: its words, wherever the server put them, and what it counted.

Words stand in the content, in parts of it, in the arguments of a tool call that nobody offered, or in the field for
thoughts. Thoughts themselves are never taken for the answer.
"""

import asyncio
import importlib.util
import json
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import httpx2

from agents.core.model_answers import CLOSING, FENCE, drop_thoughts, strict_json
from agents.core.role import estimated_tokens
from agents.core.transport import proxy_for
from agents.llm.litellm_errors import WORDS, words_in

Wire = dict[str, Any]  # JSON as it goes over the wire; what a server sends may have any shape
OPENAI = "https://api.openai.com/v1"
CONNECT_S = 15.0  # seconds until a server has to have taken a connection
_PATH = "/chat/completions"
_EVENT = ("", "data", "error", "event", "id", "retry")
"""Names before the colon of a line of events; nothing before it makes a comment."""
SAID_CHARS = 4_000  # characters of a refusal that are read: some servers answer with a whole page

_open: set[httpx2.Response] = set()
"""Answers that are being read in this process."""
_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, httpx2.AsyncClient]] = WeakKeyDictionary()


class Refused(Exception):
    """The server answered with an error, or with what is no answer."""

    def __init__(self, said: str, response: httpx2.Response, status: int | None, of: Wire) -> None:
        super().__init__(said)
        self.response, self.status_code, self.body = response, status, said
        self.code, self.param, self.usage = of.get("code"), of.get("param"), of.get("usage")


READ_EVERY_S, AT_HAND_S = 0.03, 0.001
"""Seconds for which pieces of an answer gather before they are read, and below which a piece was there already."""
BROKEN_OFF = httpx2.RemoteProtocolError
RAISED = (Refused, httpx2.HTTPError, httpx2.InvalidURL)  # what a call raises, beside being cut off


class ChatCompletions:
    """One server; all who ask it share its connections."""

    def __init__(self, base: str, timeout_s: float) -> None:
        self._url, self._timeout_s = base.rstrip("/").removesuffix(_PATH) + _PATH, timeout_s

    def _client(self) -> httpx2.AsyncClient:
        of_loop = _clients.setdefault(asyncio.get_running_loop(), {})
        if self._url not in of_loop:
            limits = httpx2.Limits(max_connections=None, max_keepalive_connections=64)
            timeout = httpx2.Timeout(self._timeout_s, connect=CONNECT_S, pool=None)
            # To load the certificates takes a moment, which a server without them need not cost.
            of_loop[self._url] = httpx2.AsyncClient(limits=limits, timeout=timeout, **way_to(self._url))
        return of_loop[self._url]

    async def pieces(self, body: Wire, key: str) -> AsyncGenerator[Wire]:
        """Ask, and give the answer as it comes: piece by piece, or whole, whatever was asked for; one of `RAISED` else."""
        async with self._client().stream("POST", self._url, json=body, headers=bearer(key)) as response:
            if response.status_code in (404, 405) and urlsplit(self._url).path == _PATH:  # as people write addresses
                self._url = self._url.removesuffix(_PATH) + "/v1" + _PATH
                again = self.pieces(body, key)
            elif response.status_code != 200:
                raise _refusal(response, (await response.aread()).decode("utf-8", "replace"))
            else:
                again = _pieces_of(response)
            _open.add(response)
            try:
                async with aclosing(again):
                    async for piece in again:
                        yield piece
            finally:
                _open.discard(response)


async def _pieces_of(response: httpx2.Response) -> AsyncGenerator[Wire]:
    """Read events, objects one a line, or one object alone: servers send each of them under any type."""
    held, events, ended, came = "", False, False, False
    async for line in _lines(response):
        name, _, data = line.partition(":")
        if name in _EVENT and (events or not held):
            events, line = True, data.strip() if name in ("data", "error") else ""
        if line == "[DONE]":
            return
        held += f"{line}\n" if line else ""
        if (line.endswith("}") and strict_json(held, 0)) or (events and held and not held.startswith("{")):
            piece, held, came = _object(held, response, whole=not events), "", True
            choices = _parts(piece, "choices")
            is_last = not events or (not choices and piece.get("usage"))  # the counts come behind all words
            ended = ended or bool(is_last) or any(one.get("finish_reason") for one in choices)
            events = False
            yield piece
    if held or not came:
        yield _object(held, response, whole=True)
    elif not ended:
        raise httpx2.RemoteProtocolError("the answer broke off")


async def _lines(response: httpx2.Response) -> AsyncGenerator[str]:
    """Give lines that hold anything: JSON may hold signs that end a line elsewhere, but none of these two."""
    rest, response.encoding = "\ufeff", "utf-8"  # whatever the header says: JSON and events have no other
    clock = asyncio.get_running_loop().time
    asked_at = clock()
    async for part in response.aiter_text():
        was_waited_for = clock() - asked_at > AT_HAND_S
        *lines, rest = re.split(r"[\r\n]", rest.lstrip("\ufeff") + part.lstrip("\ufeff"))
        for line in filter(None, lines):
            yield line
        if was_waited_for and not rest:  # one of many: those that come meanwhile are read in one go, for less
            await asyncio.sleep(READ_EVERY_S * max(1.0, min(8.0, len(_open) / 6)))
        asked_at = clock()
    if rest:
        yield rest


async def close_connections() -> None:
    """Close the connections of this event loop."""
    for client in _clients.pop(asyncio.get_running_loop(), {}).values():
        await client.aclose()


def way_to(url: str) -> Wire:
    """Give what a client needs to know of the way to a server: proxy and certificates, as everywhere else."""
    parts = urlsplit(url)
    verify = httpx2.create_ssl_context() if parts.scheme == "https" else False
    return {"proxy": proxy_for(parts.scheme, parts.hostname or "") or None, "verify": verify, "trust_env": False}


def bearer(key: str) -> dict[bytes, bytes]:
    """Give the header that carries a key, which may hold anything that was pasted."""
    return {b"Authorization": f"Bearer {key}".encode()} if key else {}


def _object(text: str, response: httpx2.Response, *, whole: bool) -> Wire:
    try:
        found = json.loads(text)
    except ValueError:
        raise Refused(text[:SAID_CHARS] or "its answer is empty", response, None, {}) from None
    if isinstance(found, dict) and "choices" not in found:  # as gateways wrap it
        found = next((one for name in ("data", "result") if isinstance(one := found.get(name), dict)), found)
    choices = found.get("choices") if isinstance(found, dict) else None
    if not isinstance(found, dict) or (found.get("error") and (words_in(found["error"]) or not choices)):
        raise _refusal(response, text)
    if not choices and not found.get("usage") and (words_in(found) or (whole and not _elsewhere(found))):
        raise _refusal(response, text)
    for choice in _parts(found, "choices")[:1]:
        if choice.get("error"):  # as routers tell of the provider behind them
            raise _refusal(response, json.dumps(choice | {"usage": found.get("usage")}, ensure_ascii=False))
    return found


def _refusal(response: httpx2.Response, text: str) -> Refused:
    """Read what a server says of its refusal, in whatever form it says it."""
    of: Wire = {}
    if where := response.headers.get("location"):
        text = f"it leads to {where} instead"
    try:
        said = json.loads(text)
        of = said.get("error", said) if isinstance(said, dict) else {}
        of = (of if isinstance(of, dict) else {}) | {"usage": said.get("usage")}
        text = json.dumps(said, ensure_ascii=False)
    except (AttributeError, ValueError):
        pass
    return Refused(text[:SAID_CHARS], response, None if response.status_code == 200 else response.status_code, of)


@lru_cache
def listed_models() -> Mapping[str, Wire]:
    """Read litellm's list of models, with prices and sizes, from its file."""
    found = importlib.util.find_spec("litellm")
    places = found.submodule_search_locations if found else None
    path = Path(places[0]) / "model_prices_and_context_window_backup.json" if places else None
    listed: Mapping[str, Wire] = json.loads(path.read_bytes()) if path and path.exists() else {}
    return listed


def listed_price(name: str) -> Wire | None:
    """Give the line of litellm's list of prices for a model; None where it is not in it, or without a price."""
    price = listed_models().get(name) or listed_models().get(name.partition("/")[2])
    return price if price and price.get("input_cost_per_token") is not None else None


def listed_cost(name: str, tokens_in: int, tokens_out: int, usage: Wire) -> float | None:
    """Give the US dollars of so many tokens by litellm's list of prices; None where the model is not in it."""
    price = listed_price(name)
    if not price:
        return None
    read, written = float(price["input_cost_per_token"]), float(price.get("output_cost_per_token") or 0.0)
    known = min(tokens_in, _count(_part(usage, "prompt_tokens_details").get("cached_tokens")))
    known_price = float(price.get("cache_read_input_token_cost") or read)
    return (tokens_in - known) * read + known * known_price + tokens_out * written


_WORDS = ("text", "output_text", "message", "")  # kinds of parts that hold words for whoever asked
_THOUGHTS = ("reasoning_content", "reasoning", "thinking", "reasoning_details")
"""Fields for thoughts, of which a server uses one."""
_READ, _WRITTEN = ("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens")


@dataclass
class ProviderAnswer:
    """One answer, as it came."""

    content: str = ""
    thoughts: str = ""  # what came in the field for thoughts
    called: str = ""  # arguments of the first tool call
    finish: str = ""
    refusal: str = ""
    usage: Wire = field(default_factory=dict)

    @property
    def came(self) -> bool:
        return self != ProviderAnswer(finish=self.finish)

    @property
    def text(self) -> str:
        """The answer: the content; where there is none, a call's arguments, or what is the answer beyond doubt."""
        if drop_thoughts(self.content)[0].strip():
            return self.content
        return self.called or _behind_thoughts(self.thoughts) or self.content

    @property
    def is_whole(self) -> bool:
        """Its content is one JSON object and nothing else, whether or not an end was told."""
        return bool(_behind_thoughts(drop_thoughts(self.content)[0]))

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
    def counted(self) -> tuple[int, int]:
        """Tokens read and written, as the provider counts them; where it gives their sum alone, all count as read."""
        read, written = (
            next((count for name in names if (count := _count(self.usage.get(name)))), 0) for names in (_READ, _WRITTEN)
        )
        return read or max(0, _count(self.usage.get("total_tokens")) - written), written

    @property
    def thought_tokens(self) -> int:
        """Tokens spent on thoughts: as the provider counts them, else as estimated."""
        if counted := _count(_part(self.usage, "completion_tokens_details").get("reasoning_tokens")):
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
        self.usage = _part(response, "usage") or _part(_part(response, "x_groq"), "usage") or self.usage
        choices = _parts(response, "choices")
        first = choices[0] if choices else {"message": {"content": _elsewhere(response)}}
        said = first.get("delta") or first.get("message") or first.get("text")
        message = said if isinstance(said, dict) else {"content": said}
        piece = _words_of(message.get("content"))
        self.content += piece
        self.thoughts += next((said for name in _THOUGHTS if (said := _words_of(message.get(name), any_kind=True))), "")
        declined = (one.get("refusal") for one in (message, *_parts(message, "content")))
        self.refusal += "".join(one for one in declined if isinstance(one, str))
        finish = str(first.get("finish_reason") or self.finish).casefold()
        self.finish = WORDS.ends.get(finish, finish)
        calls = [_part(call, "function") for call in _parts(message, "tool_calls") if not call.get("index")][:1]
        self.called += "".join(_words_of(call.get("arguments")) for call in (*calls, _part(message, "function_call")))
        return piece


def _words_of(content: object, *, any_kind: bool = False) -> str:
    """Give the words of a content: some servers send it in parts, or as the object that it should be the text of."""
    match content:
        case str():
            return content
        case list():
            kept = (one for one in content if any_kind or not isinstance(one, dict) or one.get("type", "") in _WORDS)
            return "".join(_words_of(one, any_kind=any_kind) for one in kept)
        case {"type": _, "text": inner} | {"role": "assistant", "content": inner}:
            return _words_of(inner)
        case {"text": inner, **others} | {"value": inner, **others} if not others:
            return _words_of(inner)
        case dict():
            return "" if any_kind else json.dumps(content, ensure_ascii=False)
    return ""


def _part(of: Wire, name: str) -> Wire:
    """Give what stands there if it is an object: a server may put anything anywhere."""
    return found if isinstance(found := of.get(name), dict) else {}


def _parts(of: Wire, name: str) -> list[Wire]:
    return [one for one in found if isinstance(one, dict)] if isinstance(found := of.get(name), list) else []


def _elsewhere(response: Wire) -> object:
    """Give the content of an answer by another protocol than was spoken to the server."""
    return next((found for name in ("message", "output", "content", "response") if (found := response.get(name))), None)


def _count(value: object) -> int:
    """Read a number of tokens, however it is written; what is none counts nothing."""
    try:
        return max(0, int(float(str(value))))
    except (ValueError, OverflowError):
        return 0


def _behind_thoughts(thoughts: str) -> str:
    """Give an answer that came in the field for thoughts: behind their closing tag, or nothing but JSON."""
    if CLOSING.search(thoughts):
        return drop_thoughts(thoughts)[0].strip()
    bare = thoughts.strip()
    start = FENCE.match(bare)
    at = start.end() if start else 0
    value = strict_json(bare, at) if bare[at : at + 1] == "{" else None
    return bare if value and not bare[value[1] :].strip("` \n") else ""
