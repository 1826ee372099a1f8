"""Words and addresses of strangers, made harmless in Markdown: they can neither form a link nor a tag nor a formula."""

import re
from urllib.parse import quote, urlsplit

SAFE_SCHEMES = ("http", "https", "mailto")
"""The only schemes that ever become links."""

_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010fffd]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# An underscore inside a word is never emphasis, so names like snake_case stay readable.
_SPECIAL = re.compile(r"[\\`*\[\]<>|~$&]|^[#+\-=]|(?<![^\W_])_|_(?![^\W_])")
_SPECIAL_INSIDE = re.compile(r"[\\`*\[<|~$]|&(?=[#\w])|(?<![^\W_])_|_(?![^\W_])")
# What would start another block if it stood at the beginning of a line; the group is the character to escape.
_OPENS = re.compile(r"(?:(#)|(>)|([-+•])(?:\s|$)|\d{1,9}([.)])(?:\s|$)|(=)=*\s*$|(-)-+\s*$)")
_UNSAFE_IN_LINK = re.compile(r"[\s\"'`<>()\[\]{}|\\^*~$]")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_MARKUP = re.compile(r"(?<!\\)(\*{1,3}|`+)")


def cleaned(text: str) -> str:
    """Drop control characters, overrides of direction, and private-use characters that the renderers use as markers."""
    return _PRIVATE.sub("", _CONTROL.sub(" ", text))


def escape_text(text: str) -> str:
    """Write one line of foreign text so that Markdown shows it literally, every letter of it."""
    line = " ".join(cleaned(text).split())
    line = _SPECIAL.sub(lambda match: "\\" + match[0], line)
    return re.sub(r"^(\d{1,9})([.)])(?=\s|$)", r"\1\\\2", line)


def escape_inline(text: str) -> str:
    """Escape what would be markup inside a line."""
    return _SPECIAL_INSIDE.sub(lambda match: "\\" + match[0], text)


def guarded(line: str) -> str:
    """Escape what would make a line of prose into another kind of block."""
    if match := _OPENS.match(line):
        at = match.start(match.lastindex or 0)
        return line[:at] + ("&#8226;" + line[at + 1 :] if line[at] == "•" else "\\" + line[at:])
    return line


def plain_text(markdown: str) -> str:
    """Take escapes, emphasis and code ticks out of one sentence, to compare it with the words of a source."""
    return _ESCAPED.sub(r"\1", _MARKUP.sub("", markdown))


def is_safe(address: str) -> bool:
    """Tell whether `address` may be a link at all: http, https or mailto, by its scheme and nothing else."""
    try:
        parts = urlsplit(address.strip())
    except ValueError:
        return False
    if parts.scheme.lower() not in SAFE_SCHEMES:
        return False
    return bool(parts.netloc) or parts.scheme.lower() == "mailto"


def is_route(address: str) -> bool:
    """Tell whether `address` is one of our own: a path on this host, or a place on this page."""
    return (address.startswith("/") and not address.startswith(("//", "/\\"))) or address.startswith("#")


def link_target(address: str) -> str:
    """Write an address as a Markdown link target that means the same address, in a table cell too.

    Characters that end a target, a cell or an attribute are percent-encoded; what is encoded already stays.
    """
    return _UNSAFE_IN_LINK.sub(lambda match: quote(match[0], safe=""), address.strip())


def link(text: str, address: str) -> str:
    """Make a Markdown link of Markdown `text`, or only the text where the address may not be one."""
    return f"[{text}]({link_target(address)})" if is_safe(address) or is_route(address) else text
