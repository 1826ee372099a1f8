"""Pages that stand in the way of a text: robot checks, log-ins, requests for consent, paywalls, empty shells.

Such a page says 200 and has prose of its own, which must never be quoted for the text behind it. Short pages are judged
by several signs together, since an article about log-ins or robot checks has the words of one. Knows the languages
English, German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Russian, Chinese, Japanese, and a little Polish,
Turkish, Arabic and Korean;
the phrases stand in `walls.toml`.
"""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

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

_SIGNS = {
    name: re.compile("|".join(patterns), re.IGNORECASE)
    for name, patterns in tomllib.loads(Path(__file__).with_name("walls.toml").read_text("utf-8")).items()
}
_ROBOT_ASKS = tuple(_SIGNS[f"robot_asks_{number}"] for number in range(1, 5))

_LONG = 1_500  # characters of text from which a page is no mere notice
_NOTICE = 700
_LITTLE = 200
_READ = 150_000  # characters of markup in which signs are looked for
_LEFT = 40  # characters beside the demand to pay from which a beginning was given away
_NOTHING = 2
_ENOUGH = 2  # figures from which a text tells of something


_FIGURE = re.compile(
    r"(?<![A-Za-z\d.,:/$€£#-])(?!20[2-9]\d\b|40\d\b|50\d\b)(\d{2,}|\d+(?:[.,]\d+)+)(?![A-Za-z\d:/€$£]|[.,-]\d|\s?(?:EUR|USD|GBP)\b)"
)
_NO_FIGURES = re.compile(r"(?:©|\bcopyright\b)[^\n]{0,60}|\b(?:id|reference|incident|code)\b\W{1,3}[\w-]+", re.I)
_COOKIE = re.compile("ookie|çerez|クッキー|쿠키|ciastecz|кук", re.I)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|[。！？\n]+")
_TITLE = re.compile(r"<title[^>]*>(.{0,300}?)</title>|<h1[^>]*>(.{0,600}?)</h1>", re.I | re.S)
_TAG = re.compile(r"<[^>]*>")
_NOSCRIPT = re.compile(r"<noscript[^>]*>(.{0,2000}?)</noscript>", re.I | re.S)
_LOG_IN_PATH = re.compile(r"/(?:log-?in|sign-?in|auth|sso|account/login)\b", re.I)


@dataclass(frozen=True)
class Wall:
    """What a page is instead of a text, or beside its beginning."""

    kind: WallKind
    reason: str
    """For the reader of the report."""


def wall_of(html: str, text: str, status: int, url: str) -> Wall | None:
    """Tell what stands in the way of a page's text; None when nothing does.

    A page of kind `partial` may be quoted, once `without_demands` has taken the demand to pay away.

    Args:
        html: the page, decoded.
        text: what was read out of it as its article.
        status: of the answer.
        url: where it led in the end.
    """
    markup, names = html[:_READ], _names(html)
    size, tells = len(text.strip()), _tells(text)
    said = f"{names}\n{text}"
    if status in {401, 407}:
        return Wall("blocked", LOG_IN)
    if status in {404, 410}:
        return Wall("not_found", NOT_FOUND)
    if size < _LONG:
        is_article = tells or bool(_SIGNS["article"].search(markup))
        if size < _NOTICE and not is_article and (kept := _closed(said)):
            return Wall("blocked", kept)
        if _is_robot_check(markup, names, text, is_article=is_article):
            return Wall("blocked", ROBOT_CHECK)
        if size < _NOTICE and _says("region", said) and not (tells or (is_article and size > _LITTLE)):
            return Wall("blocked", REGION)
        if _asks_for_log_in(markup, names, text, url, is_article=is_article):
            return Wall("blocked", LOG_IN)
        if size < _NOTICE and not is_article and _says("not_found", said if size < _LITTLE else names):
            return Wall("not_found", NOT_FOUND)
        if not is_article and _is_consent(text):
            return Wall("blocked", CONSENT)
    if wall := _paywall(markup, text):
        return wall
    if size < _LITTLE and (
        _SIGNS["shell"].search(markup) or ("javascript" in f"{_noscript(markup)}\n{text}".casefold() and not tells)
    ):
        return Wall("needs_javascript", SCRIPT)
    if sum(letter.isalnum() for letter in text) < _NOTHING:
        return Wall("empty", EMPTY)
    return None


def _tells(text: str) -> bool:
    """Tell a text with figures of its own: a notice has none but times, prices, and numbers of errors and requests.

    Figures that may be the day of a month count half, and a text that speaks to nobody needs fewer.
    """
    weight = _figures(text)
    return weight >= _ENOUGH or (weight >= 1 and not _SIGNS["addresses"].search(text))


def _figures(text: str) -> float:
    found = _FIGURE.findall(_NO_FIGURES.sub(" ", text))
    return sum(0.5 if len(one) < 3 and int(one) <= 31 else 1.0 for one in found if one.isdigit() or len(one) > 3)


def _closed(said: str) -> str:
    """Give the reason why a site as a whole says nothing; empty when it does."""
    closed = {"parked": PARKED, "network": NETWORK, "maintenance": MAINTENANCE}
    return next((reason for name, reason in closed.items() if _says(name, said)), "")


def _says(name: str, said: str) -> bool:
    """Tell a notice by a phrase of its own, or by a sentence that says both to whom and what."""
    sentences = _SENTENCE_END.split(said)
    who, what = _SIGNS.get(f"{name}_who"), _SIGNS.get(f"{name}_what")
    return any(
        _SIGNS[name].search(one) or (who is not None and what is not None and who.search(one) and what.search(one))
        for one in sentences
    )


def without_demands(text: str) -> str:
    """Give a text without its paragraphs that only ask to subscribe."""
    return "\n\n".join(paragraph for paragraph in text.split("\n\n") if not _demands(paragraph)).strip()


def _names(html: str) -> str:
    """Give title and main headings, one a line."""
    found = (first or second for first, second in _TITLE.findall(html[:_READ]))
    return "\n".join(" ".join(_TAG.sub(" ", name).split()) for name in found)


def _in_lines(pattern: re.Pattern[str], text: str) -> bool:
    return any(pattern.search(line) for line in text.split("\n"))


def _is_robot_check(markup: str, names: str, text: str, *, is_article: bool) -> bool:
    points = 2 * _in_lines(_SIGNS["robot_names"], f"{names}\n{text}" if len(text) < _LITTLE else names)
    points += sum(bool(pattern.search(text)) for pattern in _ROBOT_ASKS)
    points += 2 * bool(_SIGNS["robot_markup"].search(markup)) + bool(_SIGNS["captcha_field"].search(markup))
    points += (len(text) < _LITTLE) - 3 * is_article
    return points >= 3 and (points >= 4 or len(text) < _NOTICE)


def _asks_for_log_in(markup: str, names: str, text: str, url: str, *, is_article: bool) -> bool:
    if len(text) >= _NOTICE or is_article:
        return False
    named = _in_lines(_SIGNS["log_in"], names)
    has_field = bool(_SIGNS["password"].search(markup))
    led = _LOG_IN_PATH.search(url)
    if len(text) < _LITTLE:
        return named or has_field or bool(led)
    return has_field and bool(named or led or _SIGNS["log_in"].search(text))


def _is_consent(text: str) -> bool:
    about = [part for part in text.split("\n\n") if _SIGNS["cookies"].search(part)]
    return asks_consent(text) and 2 * sum(map(len, about)) > len(text)


def asks_consent(text: str) -> bool:
    """Tell words that ask their reader to consent to cookies."""
    return all(pattern.search(text) for pattern in (_SIGNS["consents"], _SIGNS["addresses"], _COOKIE))


def _paywall(markup: str, text: str) -> Wall | None:
    paragraphs = text.split("\n\n")
    # Demands stand at the end; in the middle of a text they are what it tells of.
    last = paragraphs[-6:] if _SIGNS["pay_markup"].search(markup) else paragraphs[-2:]
    if not any(_demands(paragraph) for paragraph in last):
        return None
    if len(without_demands(text)) < _LEFT:
        return Wall("blocked", PAYWALL)
    return Wall("partial", TEASER)


def _demands(paragraph: str) -> bool:
    """Tell a paragraph that asks to pay; a long one rather tells of others who ask."""
    return len(paragraph) < 400 and bool(_SIGNS["pays"].search(paragraph)) and _figures(paragraph) < _ENOUGH


def _noscript(markup: str) -> str:
    return "\n".join(_TAG.sub(" ", part) for part in _NOSCRIPT.findall(markup))
