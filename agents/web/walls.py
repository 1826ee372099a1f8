"""Pages that stand in the way of a text: robot checks, log-ins, requests for consent, paywalls, empty shells.

Such a page says 200 and has prose of its own, which must never be quoted for the text behind it. A short page is judged
by how much of it is said in the words of such notices: an article about them has words of its own. Examples of notices in
some 25 languages stand in `walls.toml`.
"""

import math
import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Literal, NamedTuple

from agents.nlp import lang
from agents.nlp.tokens import words
from agents.web.url_key import host_of

WallKind = Literal["blocked", "needs_javascript", "not_found", "partial", "empty"]

ROBOT_CHECK = "it shows a check against robots instead of its text"
LOG_IN = "it asks for a log-in"
CONSENT = "it shows only a request for consent to cookies"
REGION = "it is not available in this region"
PAYWALL = "its text is for subscribers only"
TEASER = "only its free beginning was read; the rest is for subscribers"
SCRIPT = "it shows its text only in a browser with JavaScript"
NOT_FOUND = "there is no such page any more, only a notice that says so"
EMPTY = "it has no text"

PARKED = "its name is for sale or parked; there is no text"
MAINTENANCE = "its site is down or closed for maintenance"
NETWORK = "the network of this computer blocks it"
TOO_MANY = "it takes no more requests for now"


@cache
def _lists() -> tuple[Mapping[str, list[str]], Mapping[str, re.Pattern[str]]]:
    """Read the notices of each kind, and compile the signs of each name: beside the first call, not before it."""
    lists = tomllib.loads(Path(__file__).with_name("walls.toml").read_text("utf-8"))
    notices = lists.pop("notices")
    return notices, {name: re.compile("|".join(patterns), re.IGNORECASE) for name, patterns in lists.items()}


def _sign(name: str) -> re.Pattern[str]:
    return _lists()[1][name]


_LONG = 1_500  # characters of text from which a page is no mere notice
_NOTICE = 700
_LITTLE = 200
_READ = 150_000  # characters of markup in which signs are looked for
_LEFT = 40  # characters beside the demand to pay from which a beginning was given away
_NOTHING = 2
_STEM = 6  # letters up to which related words are alike
_ENOUGH = 2  # figures from which a text tells of something
_NEAR = 3  # words of a notice within which two are a pair
_FEW = 3  # words of notices below which a page may be anything ("Page 1"), unless it pairs them or speaks to its reader
_SIZE = 16  # words from which a page is no shorter than others
# What counts for a notice, and against one, as it parted some 500 notices from honest short pages.
_PAIRED, _ADDRESSED, _HOST_NAMED, _HEADED, _FIELDS = 0.85, 0.5, 1.2, 0.4, 0.15
_LENGTH, _FIGURED, _FRAMED, _LEAST = 0.95, 0.3, 1.0, 0.14


_FIGURE = re.compile(
    r"(?<![A-Za-z\d.,:/$€£#-])(?!20[2-9]\d\b|40\d\b|50\d\b)(\d{2,}|\d+(?:[.,]\d+)+)(?![A-Za-z\d:/€$£]|[.,-]\d|\s?(?:EUR|USD|GBP)\b)"
)
_NO_FIGURES = re.compile(
    r"https?://\S+|(?:©|\bcopyright\b)[^\n]{0,60}|\b(?:id|reference|incident|code)\b\W{1,3}[\w-]+", re.I
)
_COOKIE = re.compile("ookie|çerez|クッキー|쿠키|ciastecz|кук", re.I)
_TITLE = re.compile(r"<title[^>]*>(.{0,300}?)</title>|<h1[^>]*>(.{0,600}?)</h1>", re.I | re.S)
_SENTENCE_END = re.compile(r"[.!?;。！？।\n]")
_TAG = re.compile(r"<[^>]*>")
_LOG_IN_PATH = re.compile(r"/(?:log-?in|sign-?in|auth|sso|account/login)\b", re.I)


@dataclass(frozen=True)
class Wall:
    """What a page is instead of a text, or beside its beginning."""

    kind: WallKind
    reason: str
    """For the reader of the report."""


_WALLS = {
    "parked": Wall("blocked", PARKED), "maintenance": Wall("blocked", MAINTENANCE), "network": Wall("blocked", NETWORK),
    "region": Wall("blocked", REGION), "robot": Wall("blocked", ROBOT_CHECK), "rate": Wall("blocked", TOO_MANY),
    "consent": Wall("blocked", CONSENT), "pay": Wall("blocked", PAYWALL), "log_in": Wall("blocked", LOG_IN),
    "not_found": Wall("not_found", NOT_FOUND), "script": Wall("needs_javascript", SCRIPT),
}  # fmt: skip


def _carriers(text: str) -> list[str]:
    """Give the words that say something, cut to where related words of many languages are still alike."""
    stop, text = lang.words("stop"), _NO_FIGURES.sub(" ", text.replace("’", "'"))
    found = (word for word in words(text) if word not in stop and not word[0].isdigit())
    return [word[:_STEM] for word in found if len(word) > 1 or not word.isascii()] + _FIGURE.findall(text)


class _Notices(NamedTuple):
    words: Mapping[str, frozenset[str]]
    """Words of each kind."""
    kinds: Mapping[str, int]
    """In how many kinds a word is."""
    pairs: frozenset[tuple[str, str]]
    """Words that are near each other in a notice."""


@cache
def _notices() -> _Notices:
    sentences = {
        kind: [_carriers(one) for one in _SENTENCE_END.split("\n".join(said))] for kind, said in _lists()[0].items()
    }
    known = {kind: frozenset(chain.from_iterable(said)) for kind, said in sentences.items()}
    pairs = (
        pair
        for said in chain.from_iterable(sentences.values())
        for apart in range(1, _NEAR + 1)
        for pair in zip(said, said[apart:], strict=False)
    )
    return _Notices(known, Counter(chain.from_iterable(known.values())), frozenset(pairs))


def _nearest(names: str, text: str, host: str = "", markup: str = "") -> str:
    """Give the kind of notice that a page is, or nothing.

    What counts is the share of the words below its headings that notices have, of their neighbours that are near each
    other in a notice too, and of sentences that speak to their reader: an article about notices has their words, but puts
    them otherwise, and tells of others. Figures, the frame of a site and every further word speak against a notice.
    """
    notices = _notices()
    own, body = frozenset(_carriers(re.sub(r"[.-]", " ", host))), _body(names, text) or names
    said = [word for word in _carriers(body) if word not in own]
    known = [word for word in said + _carriers(names) if word in notices.kinds]
    weight = {word: math.log(1 + len(notices.words) / notices.kinds[word]) for word in known}
    kind = max(notices.words, key=lambda one: sum(weight[word] for word in known if word in notices.words[one]))
    sentences = [one for one in _SENTENCE_END.split(body) if one.strip()]
    paired = sum(pair in notices.pairs for pair in pairwise(said))
    addressed = sum(bool(_sign("addresses").search(one)) for one in sentences)
    if len(weight) < _FEW and not paired and not addressed:
        return ""
    told = sum(word in notices.words[kind] for word in said) / max(1, len(said))
    told += _PAIRED * paired / max(1, len(said) - 1) + _ADDRESSED * addressed / max(1, len(sentences))
    told += _HOST_NAMED * bool(host and host.removeprefix("www.") in names)
    told += _HEADED * any(
        len(head) >= _FEW - 1 and notices.words[kind].issuperset(head) for head in map(_carriers, names.split("\n"))
    )
    told += _FIELDS * bool(_sign("fields").search(markup))
    told -= _LENGTH * min(len(said), _SIZE) / _SIZE + _FIGURED * min(_ENOUGH, _figures(text))
    # Notices that there is no such page stand in the frame of their site like any text.
    told -= _FRAMED * (kind != "not_found" and "<nav" in markup)
    return kind if told >= _LEAST else ""


def wall_of(html: str, text: str, url: str) -> Wall | None:
    """Tell what stands in the way of the text of a page that was sent as one; None when nothing does.

    A page of kind `partial` may be quoted, once `without_demands` has taken the demand to pay away.
    """
    markup, names = html[:_READ], _names(html)
    size = len(text.strip())
    is_shell = size < _LITTLE and bool(_sign("shell").search(markup))
    if size < _LONG:
        is_article = _figures(text) >= _ENOUGH or bool(_sign("article").search(markup))
        if kind := _nearest(names, text, host_of(url), markup):
            has_field = bool(_sign("password").search(markup))
            return _WALLS["log_in" if has_field else "script" if is_shell and not size else kind]
    if size < _NOTICE and not is_article:
        if _sign("robot_markup").search(markup):
            return _WALLS["robot"]
        if _LOG_IN_PATH.search(url) or (size < _LITTLE and _sign("password").search(markup)):
            return _WALLS["log_in"]
    if wall := _paywall(markup, names, text):
        return wall
    if is_shell:
        return _WALLS["script"]
    if sum(1 for _ in islice(filter(str.isalnum, text), _NOTHING)) < _NOTHING:
        return Wall("empty", EMPTY)
    return None


def _body(names: str, text: str) -> str:
    """Give what a page says below its title and headings."""
    return "\n".join(line for line in text.split("\n") if line.strip() not in names.split("\n")).strip()


def _figures(text: str) -> float:
    found = _FIGURE.findall(_NO_FIGURES.sub(" ", text))
    return sum(0.5 if len(one) < 3 and int(one) <= 31 else 1.0 for one in found if one.isdigit() or len(one) > 3)


def without_demands(text: str) -> str:
    """Give a text without its paragraphs that only ask to subscribe."""
    return "\n\n".join(paragraph for paragraph in text.split("\n\n") if not _demands(paragraph)).strip()


def _names(html: str) -> str:
    """Give title and main headings, one a line."""
    found = (first or second for first, second in _TITLE.findall(html[:_READ]))
    return "\n".join(" ".join(_TAG.sub(" ", name).split()) for name in found)


def asks_consent(text: str) -> bool:
    """Tell words that ask their reader to consent to cookies."""
    return all(pattern.search(text) for pattern in (_COOKIE, _sign("consents"), _sign("addresses")))


def _paywall(markup: str, names: str, text: str) -> Wall | None:
    paragraphs = _body(names, text).split("\n\n")
    # Demands stand at the end; in the middle of a text they are what it tells of.
    last = paragraphs[-6:] if _sign("pay_markup").search(markup) else paragraphs[-2:]
    if not any(_demands(paragraph) for paragraph in last):
        return None
    if len(_body(names, without_demands(text))) < _LEFT:
        return _WALLS["pay"]
    return Wall("partial", TEASER)


def _demands(paragraph: str) -> bool:
    """Tell a paragraph that asks to pay; a long one rather tells of others who ask."""
    return len(paragraph) < 400 and _figures(paragraph) < _ENOUGH and _nearest("", paragraph) == "pay"
