"""What models write beside an answer: thoughts between tags, and tool calls as plain text.

A tag quoted in code marks is prose about the tag and stays.
"""

import json
import re
from collections.abc import Iterator

NAMES = "think|thinking|thought|thoughts|reasoning"
OPENING = re.compile(rf"<(?:{NAMES})>|\[THINK\]", re.IGNORECASE)
CLOSING = re.compile(rf"</(?:{NAMES})>|\[/THINK\]", re.IGNORECASE)

FENCE = re.compile(r"```[\w+-]*[^\S\n]*\n?\s*(?=[\[{])")
"""The opening of a fenced block that holds JSON."""

_TAG = re.compile(rf"{OPENING.pattern}|{CLOSING.pattern}", re.IGNORECASE)
_CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
_TOOL = re.compile(
    r"<[|｜]tool[\w▁]*[|｜]>|<[|]python_tag[|]>|\[TOOL_CALLS\]"
    r"|<(?P<pair>tool_calls?|tool_use|function_calls?)>|<(?P<named>function|invoke)(?:=|\s+name=)"
    r"|(?<!\S)(?P<to>to=functions\.[\w.-]+)",
    re.IGNORECASE,
)
_TOOL_END = re.compile(r"<[|｜]tool[\w▁]*end[|｜]>", re.IGNORECASE)
_DECODER = json.JSONDecoder(strict=False)


def strict_json(text: str, start: int) -> tuple[object, int] | None:
    """Decode the JSON value that begins at `start`, raw line breaks in strings let pass; None when there is none."""
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):  # RecursionError: a reply of nothing but brackets
        return None


def drop_thoughts(text: str) -> tuple[str, bool]:
    """Return `text` without thoughts, and whether all thoughts were closed.

    A closing tag without its opening one ends thoughts that began with the text. Tags in a leading JSON value are data.
    """
    code = [match.span() for match in _CODE.finditer(text)]
    kept, at = "", 0
    while tag := _next_tag(text, _after_json(text, at), code):
        if CLOSING.fullmatch(tag.group()):
            kept, at = "", tag.end()
            continue
        kept += text[at : tag.start()]
        end = closing_tag(text, tag.end(), final=True)
        if end is None:
            return kept, False
        at = end
    return kept + text[at:], True


def closing_tag(text: str, start: int, *, final: bool) -> int | None:
    """Say where the first closing tag after `start` ends; None when there is none (yet, if more may follow).

    Thoughts hold stray back-ticks, so here only a tag with one on each side counts as quoted.
    """
    for match in CLOSING.finditer(text, start):
        if text[match.start() - 1 : match.start()] == "`":
            if match.end() == len(text) and not final:
                return None
            if text[match.end() : match.end() + 1] == "`":
                continue
        return match.end()
    return None


def tool_markup(text: str) -> Iterator[tuple[int, int]]:
    """Give the spans of `text` that are tool calls in a model's own markup, not prose about it."""
    code = [match.span() for match in _CODE.finditer(text)]
    done = 0
    for match in _TOOL.finditer(text):
        if match.start() < done or _inside(match.start(), code):
            continue
        done = _tool_end(text, match)
        yield match.start(), done


def drop_tools(text: str) -> str:
    """Return `text` without tool calls."""
    kept, at = "", 0
    for start, end in tool_markup(text):
        kept, at = kept + text[at:start], end
    return kept + text[at:]


def _tool_end(text: str, match: re.Match[str]) -> int:
    if name := match["pair"] or match["named"]:
        end = re.compile(rf"</{name}>", re.IGNORECASE).search(text, match.end())
        return end.end() if end else len(text)
    if match["to"]:
        start = re.compile(r"[^\n{]*").match(text, match.end())
        at = start.end() if start else match.end()
        value = strict_json(text, at)
        return value[1] if value else at if at == len(text) or text[at] == "\n" else len(text)
    ends = [end.end() for end in _TOOL_END.finditer(text, match.end())]
    return ends[-1] if ends else len(text)


def _next_tag(text: str, start: int, code: list[tuple[int, int]]) -> re.Match[str] | None:
    return next((tag for tag in _TAG.finditer(text, start) if not _inside(tag.start(), code)), None)


def _after_json(text: str, start: int) -> int:
    head = re.compile(rf"\s*(?:{FENCE.pattern})?").match(text, start)
    at = head.end() if head else start
    value = strict_json(text, at) if text[at : at + 1] in ("{", "[") else None
    return value[1] if value else start


def _inside(at: int, spans: list[tuple[int, int]]) -> bool:
    return any(start <= at < end for start, end in spans)
