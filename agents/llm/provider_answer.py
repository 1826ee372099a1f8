"""What came back from a provider, whole or in pieces: its words, wherever the server put them, and what it counted.

Words stand in the content, in parts of it, in the arguments of a tool call that nobody offered, or in the field for
thoughts. Thoughts themselves are never taken for the answer.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from agents.core.model import estimated_tokens
from agents.core.model_answers import CLOSING, FENCE, drop_thoughts, strict_json

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
    usage: dict[str, Any] = field(default_factory=dict)

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

    def take(self, response: dict[str, Any]) -> str:
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


def _words_of(content: str | Iterable[Any] | None) -> str:
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
