"""What models write beside an answer: thoughts between tags, and tool calls as plain text.

A tag quoted in code marks is prose about the tag and stays.

From the text of a model's reply to a validated contract: finds the answer, mends its form, invents nothing.

Strict JSON first; the repair library only ever sees one isolated slice with both its brackets, and never a reply that
was cut off, because it would close a half item and make it look whole.
"""

import html
import json
import re
from collections.abc import Callable, Iterator
from typing import Annotated, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from agents.contracts.frozen import Frozen

_NAME = r"(?:[a-z]{1,12}[:_])?(?:ant)?(?:think(?:ing)?|thoughts?|reasoning|reflection|analysis|scratchpad)"
OPENING = re.compile(
    rf"<\|?{_NAME}(?:\s[^<>]*)?\|?>|◁think▷|\[THINK\]|<\|begin_of_thought\|>|<unused94>"
    r"|<\|channel\|?>(?:analysis|thought)\b(?:[^<]*<\|message\|>)?",
    re.IGNORECASE,
)
"""How the families of models mark their thoughts."""
CLOSING = re.compile(
    rf"</{_NAME}>|<\|(?:/|end_){_NAME}\|>|◁/think▷|\[/THINK\]|<\|end_of_thought\|>|<unused95>|<channel\|>"
    r"|<\|end\|>\s*<\|(?:begin|start)\|>assistant<\|content\|>|<\|channel\|>final\b[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>|\bassistantfinal(?=\s*[\[{`])",
    re.IGNORECASE,
)

FENCE = re.compile(r"```[\w+-]*[^\S\n]*\n?\s*(?=[\[{])")  # the opening of a fenced block that holds JSON

_TAG = re.compile(rf"{OPENING.pattern}|{CLOSING.pattern}", re.IGNORECASE)
_CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
_TOOL = re.compile(
    r"<[|｜]tool[\w▁]*[|｜]>|<[|]python_tag[|]>|\[TOOL_CALLS\]"
    r"|<(?:tool_calls?|tool_use|function_calls?)>|<(?:function|invoke)(?:=|\s+name=)|(?<!\S)to=functions\.[\w.-]+",
    re.IGNORECASE,
)
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
    while tag := next(
        (one for one in _TAG.finditer(text, _after_json(text, at)) if not _inside(one.start(), code)), None
    ):
        if not OPENING.fullmatch(tag.group()):
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


def _after_json(text: str, start: int) -> int:
    head = re.compile(rf"\s*(?:{FENCE.pattern})?").match(text, start)
    at = head.end() if head else start
    value = strict_json(text, at) if text[at : at + 1] in ("{", "[") else None
    return value[1] if value else start


def _inside(at: int, spans: list[tuple[int, int]]) -> bool:
    return any(start <= at < end for start, end in spans)


Out = TypeVar("Out", bound=Frozen)

MAX_STARTS = 50
"""Brackets tried as the beginning of the answer: bounds the work on a reply that is nothing but brackets."""
TEXT_KEYS = ("query", "text", "question")
"""Where a list of texts came as a list of objects, the field that holds the text."""

_BEGINS_LIKE_JSON = re.compile(r"""\{\s*(?:["'“/#]|\w+\s*:)|\[\s*["'“{\[/]""")
_NUMBER = re.compile(r"\s*-?\d+(?:\.\d+)?\s*%?\s*")
_CLOSERS = {"{": "}", "[": "]"}
_QUOTES = {'"': '"', "'": "'", "“": "”"}
_COMMENT = re.compile(r"(?://|#)[^\n]*|/\*.*?\*/", re.DOTALL)


class NoAnswer(Exception):
    """The reply holds no answer; the text tells the model what to do."""


class Unclosed(NoAnswer):
    """The JSON of a reply stops in the middle."""


def read_answer(text: str, gives: type[Out], *, listed: str = "", cut: bool = False, prose: str = "") -> Out:
    """Read the contract `gives` out of a model's reply.

    Keys that the contract does not know are dropped, missing ones are never made up. A bare JSON list is taken for the field
    `listed`. Of a reply that was `cut` off at the output limit only complete items are kept, of the text field `prose` its
    whole sentences, and lists that it did not reach count as empty: whoever asks marks the answer as cut. `NoAnswer` where
    there is no answer in it, a `ValidationError` where there is one that does not fit.
    """
    said, closed = drop_thoughts(text)
    if not closed:
        raise NoAnswer("it ended inside the thoughts; think less and give the answer itself")
    if not said.strip():
        raise NoAnswer("it is empty")
    faults: list[NoAnswer | ValidationError] = []
    for reading in _readings(said):
        try:
            value = (_cut_prose(reading, prose) if cut and prose else None) or _find(reading, gives, listed, cut)
            return gives.model_validate(each_text((_unreached_lists(gives) if cut else {}) | value, whole_signs))
        except RecursionError:
            raise NoAnswer("it is nested too deeply") from None
        except (NoAnswer, ValidationError) as fault:
            faults.append(fault)
    raise faults[0]


def _readings(text: str) -> Iterator[str]:
    """Give a text as it is, and then as it was before something on its way escaped it or gave it signs of its own."""
    yield text
    bare = text.strip()
    inner = strict_json(bare if bare.startswith('"') else f'"{bare}"', 0)  # JSON as a text of JSON
    shown = re.sub(r"\\(?=[_\[\]*#`~-])", "", html.unescape(text)).replace("\u200b", "")
    wide = re.sub(r'(?<=[\w\]}"])\s*，\s*(?=")', ",", re.sub(r'"\s*：', '":', shown))
    for other in (str(inner[0]) if inner else "", shown, wide):
        if other.strip() and other != text:
            yield other


def each_text(value: object, change: Callable[[str], str]) -> object:
    """Put every text of a JSON value through `change`; a text of a list that nothing is left of goes."""
    match value:
        case str():
            return change(value)
        case dict():
            return {name: each_text(one, change) for name, one in value.items()}
        case list() | tuple():
            changed = [(one, each_text(one, change)) for one in value]
            return [new for old, new in changed if new != "" or old == ""]
    return value


def whole_signs(text: str) -> str:
    """Join the halves of signs that JSON escapes apart; a half without its other becomes the sign for an unknown one."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _cut_prose(text: str, field: str) -> dict[str, object] | None:
    """Read an object whose last field is a text that was cut off: the text to its last whole sentence."""
    value = complete_part(text, text.find("{"), words=True) if "{" in text else None
    said = value.get(field) if isinstance(value, dict) else None
    if not isinstance(said, str) or strict_json(text, text.find("{")):
        return None
    ends = [end.end() for end in re.finditer(r"[.!?。！？][\"”’)]*(?:\s*\[[^\]\s]{1,12}\])*(?=\s|$)", said)]
    return {field: said[: ends[-1]]} if ends else None


# ---- where the answer is


def _find(text: str, gives: type[Frozen], listed: str, cut: bool) -> dict[str, object]:
    code = [match.span() for match in _CODE.finditer(text)]
    tools = [call.start() for call in _TOOL.finditer(text) if not _inside(call.start(), code)]
    done: list[tuple[int, int]] = []
    fits: list[dict[str, object]] = []
    spare: dict[str, object] | None = None
    starts, certain = _starts(text)
    for start in starts:
        if any(begin <= start < end for begin, end in done):
            continue
        found = _value_at(text, start, cut)
        if found is None:
            if not cut and _BEGINS_LIKE_JSON.match(text, start) and not tools:
                raise Unclosed("its JSON is not closed; it stops in the middle")
            continue
        value, end = found
        done.append((start, end))
        shaped = _shape(value, gives, listed)
        if shaped is None or (cut and not any(shaped.values())):
            continue
        if any(begin < start or begin >= end for begin in tools) and not _is_whole(shaped, gives):
            break  # the JSON is what the call was made with
        if cut or (start in certain and (isinstance(value, list) or _is_whole(shaped, gives))):
            return shaped
        if isinstance(value, dict) or _is_whole(shaped, gives):
            fits.append(shaped)
        spare = spare or shaped  # a list in the middle of prose may be an example: any object goes before it
    if fits:  # what is drafted on the way goes before the answer
        return next((one for one in reversed(fits) if _is_whole(one, gives)), fits[0])
    if tools:
        raise NoAnswer("it calls a tool, and there are none; give the answer itself")
    if spare:
        return spare
    if cut:
        raise NoAnswer("it was cut off before anything was complete")
    if done:
        raise NoAnswer(f"it holds none of the expected keys: {', '.join(gives.model_fields)}")
    raise NoAnswer("there is no JSON object in it")


def _starts(text: str) -> tuple[list[int], list[int]]:
    """Give where the answer may begin: the very start, then fenced blocks, then any bracket; and which are no guess."""
    certain = [match.end() for match in FENCE.finditer(text)]
    first = len(text) - len(text.lstrip())
    if text[first] in _CLOSERS:
        certain.insert(0, first)
    places = certain + [match.start() for match in re.finditer(r"[\[{]", text)]
    return list(dict.fromkeys(places))[:MAX_STARTS], certain


def _value_at(text: str, start: int, cut: bool) -> tuple[object, int] | None:
    if value := strict_json(text, start):
        return value
    if cut:
        return complete_part(text, start), len(text)
    end = _slice_end(text, start) if _BEGINS_LIKE_JSON.match(text, start) else None
    if end is None:
        return None
    import json_repair  # only for replies that need it

    piece = text[start:end]
    piece = piece if '"' in piece else piece.replace("“", '"').replace("”", '"')
    mended = json_repair.loads(piece, skip_json_loads=True)
    fits = isinstance(mended, dict) if text[start] == "{" else isinstance(mended, list)
    return (mended if fits else None), end


def _slice_end(text: str, start: int) -> int | None:
    """Say where the bracket at `start` is closed, in near-JSON: any quotes, comments, stray quotes in strings."""
    stack: list[str] = []
    at, before = start, ""
    while at < len(text):
        char = text[at]
        if char in _QUOTES and before in ("[", "{", ",", ":"):
            at, before = _string_end(text, at), char
            continue
        if char in "/#" and (comment := _COMMENT.match(text, at)):
            at = comment.end()
            continue
        before = before if char.isspace() else char
        if char in _CLOSERS:
            stack.append(_CLOSERS[char])
        elif char in _CLOSERS.values():
            if not stack or stack.pop() != char:
                return None
            if not stack:
                return at + 1
        at += 1
    return None


def _string_end(text: str, start: int) -> int:
    """Say where a string ends: at its quote, when what follows goes on like JSON."""
    ends = re.compile(rf"\\.|[{_QUOTES[text[start]]}{text[start]}](?=\s*(?:[,:\]}}#]|//|/\*|$))", re.DOTALL)
    for match in ends.finditer(text, start + 1):
        if not match.group().startswith("\\"):
            return match.end()
    return len(text)


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+(?P<end>"?)|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)
_HALF_SIGN = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?$|\\u[dD][89aAbB][0-9a-fA-F]{2}(?:\\(?:u[0-9a-fA-F]{0,3})?)?$")
"""An escape that is not complete yet, or the first half of a surrogate pair."""
DEEPEST = 100  # brackets within one another, at most: no contract of ours comes near it


def complete_part(text: str, start: int, *, words: bool = False) -> object:
    """Decode what is complete of the object or list that begins at `start` and may stop anywhere.

    A half item of a list is dropped whole; a half object keeps its complete fields only where it is no item. With
    `words`, a text of the first level that is still being written counts as far as it goes.
    """
    open_: list[str] = []
    good, is_value = "", False
    for token in _TOKEN.finditer(text, start):
        sign, at = token[0], token.end()
        if sign in "{[":
            open_.append(_CLOSERS[sign])
        elif sign in "}]":
            if not open_ or open_.pop() != sign:
                break
        elif sign[0] == '"' and not token["end"]:
            if words and is_value and len(open_) == 1:
                good = f'{_HALF_SIGN.sub("", text[start:])}"}}'
            break
        in_item = ("]" in open_ and open_[-1] != "]") or open_.count("]") > 1 or len(open_) > DEEPEST
        is_whole = sign in "{}[]" or (sign[0] == '"' and (is_value or open_[-1:] == ["]"]))
        if not in_item and (is_whole or sign == ","):  # a number is whole only with what follows it
            good = text[start : token.start() if sign == "," else at] + "".join(reversed(open_))
        is_value = sign == ":"
        if not open_ or len(open_) > DEEPEST:
            break
    found = strict_json(good, 0) if good else None
    return found[0] if found else [] if text[start] == "[" else {}


# ---- what shape it is in


def _shape(value: object, gives: type[Frozen], listed: str) -> dict[str, object] | None:
    """Bring a decoded value into the form of the contract; None when it has nothing to do with it."""
    if isinstance(value, list):
        only = _shape(value[0], gives, "") if len(value) == 1 else None
        if only and _is_whole(only, gives):
            return only
        if listed:
            items = _fit(value, gives.model_fields[listed].annotation)
            return {listed: items} if isinstance(items, list) and any(items) else None
        value = value[0] if len(value) == 1 else None
    if not isinstance(value, dict):
        return None
    if _shared(value, gives):
        fitted = _fit(value, gives)
        return fitted if isinstance(fitted, dict) else None
    for inner in value.values():  # what it wrapped the answer in; a schema that it repeats holds nothing but objects
        if isinstance(inner, str) and inner.lstrip().startswith("{"):
            inner = (strict_json(inner.lstrip(), 0) or (None,))[0]
        if isinstance(inner, dict) and not (
            _shared(inner, gives) and all(isinstance(one, dict) for one in inner.values())
        ):
            shaped = _shape(inner, gives, "")
            if shaped:
                return shaped
    return None


def _shared(value: dict[str, object], gives: type[Frozen]) -> set[str]:
    return {_plain(key) for key in value} & {_plain(name) for name in gives.model_fields}


def _is_whole(shaped: dict[str, object], gives: type[Frozen]) -> bool:
    """Tell an answer with all that the contract asks for: as the arguments of a call that nobody offered, it is one too."""
    asked = [name for name, field in gives.model_fields.items() if field.is_required()]
    return bool(asked) and all(name in shaped for name in asked)


def _plain(name: str) -> str:
    """Give a key or a word of a closed list as it compares: models write them in cases of their own."""
    return re.sub(r"[\W_]", "", name).casefold()


def _fit(value: object, wanted: object) -> object:
    """Drop what the contract does not know, at every depth; leave judging the rest to the contract."""
    origin = get_origin(wanted)
    if origin is Annotated:
        return _fit(value, get_args(wanted)[0])
    if origin in (tuple, list):
        of, items = get_args(wanted)[0], _items(value)
        if items is None or (isinstance(value, dict) and items == [value] and _is_text(of)):
            return value
        return _texts(items) if _is_text(of) else [_fit(item, of) for item in items]
    if isinstance(value, dict) and isinstance(wanted, type) and issubclass(wanted, BaseModel):
        known = wanted.model_fields
        by_name = {_plain(name): name for name in known}
        named = {key if key in known else by_name.get(_plain(key), ""): item for key, item in value.items()}
        return {key: _fit(item, known[key].annotation) for key, item in named.items() if key}
    if isinstance(value, str) and origin is Literal:
        return next((one for one in get_args(wanted) if _plain(str(one)) == _plain(value)), value)
    if isinstance(value, str) and wanted in (int, float) and _NUMBER.fullmatch(value):
        return float(value.strip("% "))
    return value


def _items(value: object) -> list[object] | None:
    """Give the items that a value holds where a list is wanted; None where there is no telling."""
    if isinstance(value, dict):
        return list(value.values()) if all(key.isdigit() for key in value) else [value]
    if isinstance(value, str) and value.lstrip().startswith("[") and (inner := strict_json(value.lstrip(), 0)):
        value = inner[0]
    return [] if value is None or value == "" else value if isinstance(value, list) else None


def _is_text(wanted: object) -> bool:
    return (get_args(wanted)[0] if get_origin(wanted) is Annotated else wanted) is str


def _texts(items: list[object]) -> list[object]:
    """Clean a list of texts: no blanks, nulls, numbers or repetitions; the text out of objects and lists of one."""
    kept: dict[str, object] = {}
    for given in items:
        item = given[0] if isinstance(given, list) and len(given) == 1 else given
        if isinstance(item, dict):
            texts = [item[key] for key in TEXT_KEYS if isinstance(item.get(key), str)]
            item = texts[0] if len(texts) == 1 else item
        if item is None or isinstance(item, int | float) or (isinstance(item, str) and not item.strip()):
            continue
        kept.setdefault(item.strip() if isinstance(item, str) else json.dumps(item), item)
    return list(kept.values())


def _unreached_lists(gives: type[Frozen]) -> dict[str, object]:
    fields = gives.model_fields.items()
    return {name: [] for name, field in fields if field.is_required() and get_origin(field.annotation) in (tuple, list)}
