"""The words for the user out of a growing JSON text: the `reply` field, while the model still writes it.

What is shown early cannot be taken back, so nothing is shown on a guess: a reply that begins with prose may turn out to
be thoughts without their opening tag, and waits for `finish`.
"""

import re
from typing import Literal

from agents.core.thoughts import OPENING, closing_tag, drop_thoughts

FIELD = "reply"

_FENCED = re.compile(r"```[\w+-]*\s*\{")
_OBJECT = re.compile(r'\{(?=\s*")')
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_FENCE = re.compile(r"```[\w+-]*\s*")
_MAY_BE_TAG = re.compile(r"[<\[]\w{0,9}")
_UNKNOWN = "\N{REPLACEMENT CHARACTER}"


class ReplyStream:
    """Fed pieces of text, gives new pieces of its decoded `reply` field; how the text is split makes no difference."""

    def __init__(self) -> None:
        self._head = ""
        """Text not yet decided on: what comes before the JSON object."""
        self._at: Literal["head", "thoughts", "prose"] = "head"
        self._reached = False
        self._field = _FieldReader()

    def feed(self, chunk: str) -> str:
        """Take the next piece of the reply; return what it adds to the text for the user."""
        if self._reached:
            return self._field.feed(chunk)
        self._head += chunk
        while (then := self._step()) == "on":
            pass
        if then == "wait":
            return ""
        self._reached = True
        return self._field.feed(self._head)

    def finish(self) -> str:
        """Say that the reply is complete; return what was held back in doubt."""
        if self._reached or self._at != "prose":
            return ""
        seen, closed = drop_thoughts(self._head)
        start = _FENCED.search(seen) or _OBJECT.search(seen)
        return self._field.feed(seen[start.end() - 1 :]) if closed and start else ""

    def _step(self) -> Literal["on", "wait", "object"]:
        """Take one decision about the head: go on with what is left of it, wait for more text, or read the object."""
        if self._at != "head":
            end = closing_tag(self._head, 0, final=False)
            if end is None:
                return "wait"
            self._head, self._at = self._head[end:], "head"
            return "on"
        text = self._head = self._head.lstrip("\ufeff \t\r\n")
        if text.startswith("{"):
            return "object"
        if tag := OPENING.match(text):
            self._head, self._at = text[tag.end() :], "thoughts"
            return "on"
        if fence := _FENCE.match(text):
            if text[fence.end() :].startswith("{"):
                self._head = text[fence.end() :]
                return "object"
            if fence.end() == len(text):
                return "wait"
        if not text or "```".startswith(text) or (text[0] in "<[" and _MAY_BE_TAG.fullmatch(text)):
            return "wait"
        self._at = "prose"
        return "on"


class _FieldReader:
    """Reads an object character by character and decodes one string field of its first level."""

    def __init__(self) -> None:
        self._depth = 0
        self._key = ""
        self._is_value = False
        """The next string of the first level is a value, not a key."""
        self._where: Literal["between", "string", "field", "done"] = "between"
        self._escape = ""
        """An escape that is not complete yet, from its back-slash on."""
        self._high = ""
        """The first half of a surrogate pair."""

    def feed(self, chunk: str) -> str:
        out = []
        for char in chunk:
            if self._where == "done":
                break
            if self._where == "between":
                self._structure(char)
            elif self._where == "string":
                self._other_string(char)
            else:
                out.append(self._decode(char))
        return "".join(out)

    def _structure(self, char: str) -> None:
        if char == '"':
            wanted = self._depth == 1 and self._is_value and self._key == FIELD
            self._where = "field" if wanted else "string"
            if self._depth == 1 and not self._is_value:
                self._key = ""
        elif char in "{[":
            self._depth += 1
        elif char in "}]":
            self._depth -= 1
            if self._depth == 0:
                self._where = "done"
        elif self._depth == 1 and char in ":,":
            self._is_value = char == ":"

    def _other_string(self, char: str) -> None:
        if self._escape:
            self._escape = ""
        elif char == "\\":
            self._escape = char
        elif char == '"':
            self._where = "between"
        elif self._depth == 1 and not self._is_value:
            self._key += char

    def _decode(self, char: str) -> str:
        if self._escape:
            self._escape += char
            return self._whole_escape()
        if char == "\\":
            self._escape = char
            return ""
        alone, self._high = self._high and _UNKNOWN, ""
        if char == '"':
            self._where = "done"
            return alone
        return alone + char

    def _whole_escape(self) -> str:
        escape = self._escape
        if escape[1] != "u":
            self._escape = ""
            alone, self._high = self._high and _UNKNOWN, ""
            return alone + _SIMPLE.get(escape[1], escape[1])
        if len(escape) < 6:
            return ""
        self._escape = ""
        return self._code_unit(escape[2:])

    def _code_unit(self, digits: str) -> str:
        high, self._high = self._high, ""
        if not re.fullmatch(r"[0-9a-fA-F]{4}", digits):
            return (high and _UNKNOWN) + _UNKNOWN
        unit = chr(int(digits, 16))
        if high and "\udc00" <= unit <= "\udfff":
            return (high + unit).encode("utf-16", "surrogatepass").decode("utf-16")
        alone = high and _UNKNOWN
        if "\ud800" <= unit <= "\udbff":
            self._high = unit
            return alone
        return alone + (_UNKNOWN if "\udc00" <= unit <= "\udfff" else unit)
