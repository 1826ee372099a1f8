"""Words and addresses of strangers, made harmless in Markdown: they can neither form a link nor a tag nor a formula.

The format rules that code can mend (specification, section 8), so that no writer is asked twice for them.
"""

import re
from collections.abc import Callable, Sequence
from urllib.parse import quote, urlsplit

from agents.contracts.body import Block, Body, Heading, Listing, Quotation

SAFE_SCHEMES = ("http", "https", "mailto")
"""The only schemes that ever become links."""

_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010fffd]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# An underscore inside a word is never emphasis, so names like snake_case stay readable.
_SPECIAL = re.compile(r"[\\`*\[<|~$]|&(?=[#\w])|(?<![^\W_])_|_(?![^\W_])")
# What would start another block if it stood at the beginning of a line; the group is the character to escape.
_OPENS = re.compile(r"(?:(#)|(>)|([-+•])(?:\s|$)|\d{1,9}([.)])(?:\s|$)|(=)=*\s*$|(-)-+\s*$)")
_UNSAFE_IN_LINK = re.compile(r"[\s\"'`<>()\[\]{}|\\^*~$]")


def cleaned(text: str) -> str:
    """Drop control characters, overrides of direction, and private-use characters that the renderers use as markers."""
    return _PRIVATE.sub("", _CONTROL.sub(" ", text))


def escape_text(text: str) -> str:
    """Write one line of foreign text so that Markdown shows it literally, every letter of it."""
    return guarded(escape_inline(" ".join(cleaned(text).split()))).replace("]", "\\]")


def escape_inline(text: str) -> str:
    """Escape what would be markup inside a line, and drop control characters."""
    return _SPECIAL.sub(lambda match: "\\" + match[0], _CONTROL.sub(" ", text))


def guarded(line: str) -> str:
    """Escape what would make a line of prose into another kind of block."""
    if match := _OPENS.match(line):
        at = match.start(match.lastindex or 0)
        return line[:at] + ("&#8226;" + line[at + 1 :] if line[at] == "•" else "\\" + line[at:])
    return line


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


# Readers of Markdown also link bare addresses, and look for them when escapes and character references are read.
_ADDRESS = re.compile(
    r"(?:[a-z][a-z0-9+.-]*\\?:(?:\\?/){2,}|www\\?\.)+([^\s/\\?#<>()\[\]`]*)[^\s<>()\[\]`]*", re.IGNORECASE
)
_LEADS = re.compile(r"\](?:\((?!\s*(?:/\w|#))|:)")
_REFERENCE = re.compile(r"&(?!amp;)(?=#|\w+;)")


def own_links(markdown: str) -> str:
    """Take out of Markdown what leads, or is loaded, from elsewhere: of an address stays the host, own links stay whole."""
    text, less = "", _REFERENCE.sub("&amp;", markdown)
    while text != less:  # what is left over may close up to another address
        text, less = less, _ADDRESS.sub(r"\1", less)
    return _LEADS.sub(lambda found: f"]\\{found[0][1]}", text)


MAX_CITATIONS = 3
"""Numbers behind one sentence, at most."""
MAX_LEVEL = 6
SourceOf = Callable[[str], str | None]
"""Names the source of a fact; None for one that does not exist."""


def settled(body: Body, *, level: int | None = 3, source_of: SourceOf = str) -> Body:
    """Bring one part of a report into form; settling what is settled changes nothing.

    Headings nest from `level` on without gaps, and none begins or ends the part (None: none may stand, as in a summary);
    lists that nothing parts are one, a list of one is a paragraph; a sentence cites each fact once, of at most three sources.
    """
    cited = body.changed(lambda one: one.model_copy(update={"facts": capped(one.facts, source_of)}))
    blocks: Sequence[Block] = _lists(cited.changed(lambda one: one if one.inline else None).blocks)
    if level is None:
        return Body(blocks=tuple(block for block in blocks if not isinstance(block, Heading)))
    while blocks and isinstance(blocks[0], Heading):
        blocks = blocks[1:]
    while blocks and isinstance(blocks[-1], Heading):
        blocks = blocks[:-1]
    return Body(blocks=nested(blocks, level))


def capped(facts: Sequence[str], source_of: SourceOf) -> tuple[str, ...]:
    """Keep the facts of the first three sources; several facts of one source share its number."""
    kept: dict[str, None] = {}
    sources: set[str] = set()
    for fact in facts:
        source = source_of(fact)
        if source is not None and (source in sources or len(sources) < MAX_CITATIONS):
            sources.add(source)
            kept[fact] = None
    return tuple(kept)


def _lists(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Join lists that nothing parts, then turn lists of one into their blocks."""
    joined: list[Block] = []
    for block in blocks:
        last = joined[-1] if joined else None
        if isinstance(block, Listing) and isinstance(last, Listing) and block.ordered == last.ordered:
            joined[-1] = last.model_copy(update={"items": last.items + block.items})
        else:
            joined.append(block)
    out: list[Block] = []
    for block in joined:
        if isinstance(block, Listing) and len(block.items) == 1:
            out += _lists(block.items[0])
        elif isinstance(block, Listing):
            out.append(block.model_copy(update={"items": tuple(map(_lists, block.items))}))
        elif isinstance(block, Quotation):
            out.append(Quotation(blocks=_lists(block.blocks)))
        else:
            out.append(block)
    return tuple(out)


def nested(blocks: Sequence[Block], level: int) -> tuple[Block, ...]:
    """Shift headings so that the highest has `level`, each at most one deeper than the one before."""
    top = min((block.level for block in blocks if isinstance(block, Heading)), default=level)
    out: list[Block] = []
    last = level - 1
    for block in blocks:
        if isinstance(block, Heading):
            last = min(level + block.level - top, last + 1, MAX_LEVEL)
            block = Heading(level=last, inline=block.inline)
        out.append(block)
    return tuple(out)
