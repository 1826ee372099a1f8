"""What litellm and the providers behind it raise, as `ModelError`: sorted by what is worth trying, and without keys.

The provider's own words are always part of what is said: nobody else knows what it wants.

Works on names, statuses and texts, so that reading an error needs no import of litellm.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import ModuleType

from agents.contracts.frozen import Frozen, Said
from agents.core.errors import DossierError, ModelError, ModelFault
from agents.core.transport import advice, http_date, retry_after_s


class _Words(Frozen):
    classes: dict[str, ModelFault]
    statuses: dict[int, ModelFault]
    cues: dict[str, tuple[str, ...]]
    sizes: dict[str, tuple[str, ...]]
    fields: tuple[str, ...]
    ends: dict[str, str]
    said: dict[ModelFault, str]


WORDS = _Words.model_validate(tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8")))
"""How servers say what is wrong; the file says what each list is."""


@cache
def cue(name: str) -> re.Pattern[str]:
    """Give the words of servers for one thing."""
    return re.compile("|".join(WORDS.cues[name]), re.IGNORECASE)


def _too_long(said: str) -> bool:
    thing, much = cue("long_thing").pattern, cue("too_long").pattern
    near = rf"(?:{thing})[^.]{{0,60}}(?:{much})|(?:{much})[^.]{{0,60}}(?:{thing})"
    return bool(cue("overflow").search(said) or re.search(near, said, re.IGNORECASE))


_OF_LIBRARIES = re.compile(
    r"^(?:litellm\.|[\w.]*(?:Error|Exception)(?: - |: ))+| ssl:(?:<[^>]*>|\w+)| ?\bHandle with `litellm[^`]*`\.?"
)
_NO_MODULE = re.compile(r"No module named '(?P<name>[\w.]+)'")
_PACKAGES = {"google.auth": "google-auth", "google": "google-auth"}
A_PAGE = re.compile(
    r"<(?:!doctype|html|head)[^>]*>(?:.*?<title>(?P<title>[^<]{1,80})</title>)?", re.IGNORECASE | re.DOTALL
)
_MARKUP = re.compile(r"<[^>]*>")
SHOWN_WORDS = 240  # characters of a provider's own words that are shown
RETRY_AFTER_CAP_S = 120.0
"""The longest wait that a provider may ask for: more is taken for absurd and cut down to this."""

_LASTS = (
    r"(?:(?P<h>\d+) ?h(?:ours?)?\W{0,2})?(?:(?P<m>\d+) ?m(?!s)(?:in(?:utes?)?)?\W{0,2})?"
    r"(?:(?P<s>\d+(?:\.\d+)?) ?(?P<unit>ms|s\b|sec))?"
)
_WAIT_WORDS = re.compile(
    rf"(?:again|retrydelay|retry|wait)\W{{0,4}}(?:(?:in|after|for)\b)?\W{{0,4}}{_LASTS}", re.IGNORECASE
)
_WAIT_FIELDS = re.compile(r"\b(?:estimated_time|retry_after(?:_seconds)?)\W{1,4}(?P<s>\d+(?:\.\d+)?)")
_RESETS = ("x-ratelimit-{}-requests", "x-ratelimit-{}-tokens")

MIN_SECRET = 4  # shorter configured values are no secrets: hiding them would blank half of a text
HIDDEN = "***"

_SECRETS = (
    re.compile(r"(?P<keep>://)[^/\s:@]*:[^/\s@]+(?=@)"),
    re.compile(r"(?P<keep>\b(?:bearer|basic)\s+)[\w.~+/=*-]{6,}", re.IGNORECASE),
    re.compile(
        r"(?P<keep>\b[\w-]*(?:key|token|secret|password|authorization|signature)[\"']?\s*(?:=|:(?!\s*[\"']?[a-z_]+\b))"
        r"\s*[\"']?)(?!(?:bearer|basic)\b)[\w.~+/*-]{6,}",
        re.IGNORECASE,
    ),
    re.compile(r"(?P<keep>)\b(?:sk|pk|rk|gsk|xai|tvly|fc|hf|r8|pplx|nvapi|ghp|glpat|csk|jina)[-_][\w*-]{6,}"),
    re.compile(r"(?P<keep>)\bAIza[\w-]{10,}"),
)


class Failed(DossierError):
    """One request failed: what to raise in the end, and what the retries need to know."""

    def __init__(
        self, error: ModelError, status: int | None = None, said: str = "", wait_s: float | None = None
    ) -> None:
        super().__init__(str(error))
        self.error, self.status, self.retryable, self.retry_after_s = error, status, error.retryable, wait_s
        self.said = said
        """The provider's words, unredacted: only for deciding, never to be shown."""


def exceptions_of(litellm: ModuleType) -> tuple[type[Exception], ...]:
    """List what a call through litellm raises: its own classes share no base, and a few clients' get through."""
    import aiohttp
    import httpx
    import openai

    own = [cls for cls in vars(litellm.exceptions).values() if isinstance(cls, type) and issubclass(cls, Exception)]
    return (*own, openai.OpenAIError, httpx.HTTPError, aiohttp.ClientError)


def failed(error: BaseException, *, model: str, key_variable: str, secrets: Iterable[str] = ()) -> Failed:
    """Sort an exception of litellm."""
    status = found if isinstance(found := getattr(error, "status_code", None), int) else None
    secrets = tuple(secrets)
    of = (error, error.__cause__, error.__context__)
    body = next((body for one in of if (body := getattr(one, "body", None))), "")  # as it was read, or as text
    extra = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False) if body else ""
    said = f"{error} {getattr(error, 'code', '') or ''} {getattr(error, 'param', '') or ''} {extra}".strip()
    headers = getattr(error, "litellm_response_headers", None) or getattr(
        getattr(error, "response", None), "headers", None
    )
    wait = wait_asked({str(name).lower(): str(value) for name, value in (headers or {}).items()}, said)
    fault = classify([cls.__name__ for cls in type(error).__mro__], status, said, asks_to_wait=wait is not None)
    bare = _OF_LIBRARIES.sub("", str(error).partition("Traceback (most recent")[0]).strip()
    shown = redact(words_in(body) or bare, secrets)
    message = f"{model}: {type(error).__name__} {status or ''}: {redact(said, secrets)[:600]}"
    no_key = bool(cue("no_key").search(said))
    notice = notice_for(fault, model=model, key_variable=key_variable, no_key=no_key, words=shown, status=status)
    failure = ModelError(message, fault=fault, notice=notice, model=model)
    if fault == "connection" and (advice(f"{status} {said}") or A_PAGE.search(said) or 300 <= (status or 0) < 400):
        failure.retryable = False
    return Failed(failure, status, said, wait)


def classify(names: Iterable[str], status: int | None, said: str, *, asks_to_wait: bool = False) -> ModelFault:
    """Sort by class names (most special first), status and words; words go first, providers disagree on the rest."""
    known: ModelFault = next((WORDS.classes[name] for name in names if name in WORDS.classes), "server")
    by_status = WORDS.statuses.get(status or 0)
    if known in ("overflow", "refused") or (known == "quota" and not asks_to_wait):
        return known
    if _NO_MODULE.search(said):
        return "request"
    if (status or 0) < 500 and status not in (413, 429) and A_PAGE.search(said):
        return "connection"  # whoever speaks there, it is no model server
    if (status != 429 and _too_long(said) and not cue("a_rate").search(said)) or "request too large" in said.lower():
        return "overflow"
    never = "insufficient_quota" in said or (status == 429 and cue("not_soon").search(said))
    if never or (cue("quota").search(said) and not asks_to_wait):
        return "quota"  # with a wait asked for, the same words mean a rate limit
    if cue("no_key").search(said) or cue("bad_key").search(said):
        return "key"
    if cue("refused").search(said) and status in (400, 403, 422, 451):
        return "refused"
    if cue("unknown_model").search(said) and status in (400, 403, 404, 410, 422):
        return "unknown_model"
    if known == "server" and cue("no_connection").search(said):
        return "connection"
    if by_status:
        return by_status
    if known == "server" and status and 400 <= status < 500:
        return "request"
    return known


def notice_for(
    fault: ModelFault,
    *,
    model: str,
    key_variable: str,
    no_key: bool = False,
    words: str = "",
    status: int | None = None,
) -> Said:
    """Say for the user what happened and what can be done, and what the server itself said."""
    if missing := _NO_MODULE.search(words):
        package = _PACKAGES.get(missing["name"], missing["name"])
        return Said("For {model} a Python package is missing: pip install {package}.", model=model, package=package)
    if fault == "connection" and (own := advice(f"{status} {words}")):
        return Said("The model provider could not be reached: {why}.", why=own)
    if fault == "connection" and (page := A_PAGE.search(words)):
        why = "a web page{page} answers in its place. Check its address, and whether the network wants you to sign in"
        title = f" (“{page['title'].strip()}”)" if page["title"] else ""
        return Said(f"The model provider could not be reached: {why}.", page=title)
    named = {name: one for name, one in (("key", key_variable), ("model", model)) if f"{{{name}}}" in WORDS.said[fault]}
    said = Said(WORDS.said[fault], **named)
    if fault == "key" and no_key:
        return Said("There is no key for the model provider. Put one into {key} in `.env`.", key=key_variable)
    if words := spoken(words):
        return Said("{what} It said: “{words}”.", what=said, words=words.rstrip("."))
    return Said("{what} It answered with status {status}.", what=said, status=status) if status else said


def spoken(text: str) -> str:
    """Give what an answer of a server says, as it is shown: the title of a page, the words in an object, in one line."""
    page = A_PAGE.search(text)
    said = (page["title"] or "") if page else words_in(text)
    said = " ".join((_MARKUP.sub(" ", said) if said.startswith("<") else said).split())
    return f"{said[:SHOWN_WORDS].rstrip()}…" if len(said) > SHOWN_WORDS else said


def words_in(body: object) -> str:
    """Find what a body of an error says, in whatever shape it comes: an object, a list of them, a text, a page."""
    if isinstance(body, str):
        try:
            value = json.loads(body)
        except ValueError:
            return body.strip()
        return words_in(value) or max(_texts_in(value), key=len, default=body.strip())
    if isinstance(body, list):
        return next((words for one in body if (words := words_in(one))), "")
    if not isinstance(body, dict):
        return ""
    body = {str(name).casefold(): value for name, value in body.items()}
    inner = body.get("metadata")
    raw = words_in(inner.get("raw")) if isinstance(inner, dict) else ""  # what a router was told by the real provider
    said = next((words for name in WORDS.fields if (words := words_in(body.get(name)))), "")
    where = body.get("loc")
    at = f"{'.'.join(str(part) for part in where)}: " if isinstance(where, list) and said else ""
    return f"{at}{said}{f': {raw}' if raw and raw != said else ''}"


def _texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts_in(one)


def wait_asked(headers: Mapping[str, str], said: str) -> float | None:
    """Read how many seconds a provider asks to wait, capped; None when it says nothing usable."""
    now = http_date(headers.get("date", "")) or datetime.now(UTC)  # by the provider's own clock, where it tells
    seconds = retry_after_s(headers.get("retry-after", ""), now)
    if (milliseconds := retry_after_s(headers.get("retry-after-ms", ""), now)) is not None:
        seconds = milliseconds / 1000
    if seconds is None:
        seconds = _in_words(said)
    if seconds is None:
        empty = [name for name in _RESETS if headers.get(name.format("remaining"), "").strip() == "0"]
        resets = (re.fullmatch(_LASTS, headers.get(name.format("reset"), "").strip(), re.IGNORECASE) for name in empty)
        seconds = max((_seconds(reset) or 0.0 for reset in resets if reset), default=0.0) or None
    return None if seconds is None else min(seconds, RETRY_AFTER_CAP_S)


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Hide configured values, and whatever looks like a key."""
    for secret in sorted((secret for secret in secrets if len(secret) >= MIN_SECRET), key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    for pattern in _SECRETS:
        text = pattern.sub(rf"\g<keep>{HIDDEN}", text)
    return text


def _in_words(said: str) -> float | None:
    waits = (seconds for match in _WAIT_WORDS.finditer(said) if (seconds := _seconds(match)) is not None)
    field = _WAIT_FIELDS.search(said)
    return next(waits, float(field["s"]) if field else None)


def _seconds(match: re.Match[str]) -> float | None:
    if not (match["h"] or match["m"] or match["s"]):
        return None
    seconds = float(match["s"] or 0) * (0.001 if match["unit"] and match["unit"].lower() == "ms" else 1.0)
    return 3600.0 * float(match["h"] or 0) + 60.0 * float(match["m"] or 0) + seconds
