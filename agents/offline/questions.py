"""What a message asks, taken apart by its grammar: independent questions, their parts, and what is compared.

Questions for one fact that may be several steps away: what they are about, and which names lead on.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from agents.offline.terms import SPACELESS, distinct, listed, names, opening, terms
from agents.web.url_key import IN_TEXT

_SENTENCE_END = re.compile(
    r"(?<=[?!。？！])\s*|(?<=[.])(?<!\b[A-HJ-Z]\.)(?<!\b(?:Mr|Dr|St|Jr|Sr|No)\.)(?<!\bMrs\.)\s+(?=[^\W\d_a-z]|[¿¡])|\n+"
)
"""An initial or a short title (`Harris W. Fawell`, `Mr. Cool`) ends no sentence."""
_LIST_LINE = re.compile(r"^\s*(?:\(?\d{1,2}[.)]|[-*•])\s+(.+)$", re.MULTILINE)
_TRIM = " \t\n,;:–—-"
_AND = r"(?:\s+(?:and|or|und|oder|sowie|et|ou|y|e|o|versus|vs\.?)\s+|\s*&\s*)"
_SEPARATOR = re.compile(rf",{_AND}|{_AND}|,\s+")
_ARTICLE = re.compile(r"^(?:the|its|their|an?|der|die|das|den|les?|la|los?|las|el)\s+", re.IGNORECASE)
_BREAK = "\ue000"
_LONGEST_ENTRY, _SEVERAL = 7, 4
"""Words of one entry of a list at most; terms that a coordinated clause has at least to be a question of its own."""


@dataclass(frozen=True)
class IndependentQuestion:
    """One independent question."""

    text: str
    parts: tuple[str, ...]
    """What it asks, in order: each needs an answer of its own."""
    things: tuple[str, ...] = ()
    """What is compared."""
    points: tuple[str, ...] = ()
    """With regard to what."""
    addresses: tuple[str, ...] = ()


def tidy(text: str) -> str:
    """Write a question as one sentence that starts with a capital and, where it asks, ends with a mark."""
    text = re.sub(r"\s+", " ", text).strip(_TRIM)
    text = re.sub(r"^(?:and|und|et|y|also|please|bitte|por favor)[,:]?\s+(?=\S)", "", text, flags=re.IGNORECASE)
    text = text.strip(_TRIM).rstrip(".")
    if text and text[-1] not in "?!。？！" and not SPACELESS.search(text) and opening("ask").match(text):
        text += "?"
    return text[:1].upper() + text[1:]


def asks(text: str) -> bool:
    """Tell words that ask for something."""
    return bool("?" in text or "？" in text or listed("ask").search(text[:60]) or opening("order").match(text))


def leans_on_another(text: str) -> bool:
    """Tell a question that cannot be understood without what stands before it."""
    text = re.sub(r"(?<=\w)\s+that\s+(?=(?:the|an?|no|some|all)\b)|\bthere (?:is|are|was|were)\b", " ", text)
    return bool(listed("leans").search(text))


@lru_cache(maxsize=512)
def questions(message: str, language: str | None = None) -> tuple[IndependentQuestion, ...]:
    """Take a message apart into independent questions; none when it asks nothing."""
    addresses = tuple(dict.fromkeys(IN_TEXT.findall(message)))
    found: dict[str, IndependentQuestion] = {}
    for group in _groups(IN_TEXT.sub(" ", message)):
        said = [one if one[-1] in "?!。？！" else f"{one}." for one in map(tidy, group) if one]
        text = " ".join(said).rstrip(".")
        marked = [sentence for sentence in group if re.search("[?？]", sentence)]
        asking = marked or [sentence for sentence in group if asks(sentence)] or group
        parts = tuple(tidy(part) for sentence in asking for part in _parts(sentence))
        things, points = _compared(text)
        own = addresses if not found else ()
        found.setdefault(text.casefold(), IndependentQuestion(text, parts or (text,), things, points, own))
    return tuple(found.values())


def _groups(message: str) -> list[list[str]]:
    """Group the sentences of a message by the question that they belong to."""
    lines = [line.strip() for line in _LIST_LINE.findall(message) if terms(line)]
    if len(lines) > 1:
        return [[line] for line in lines]
    groups: list[list[str]] = []
    opened = False
    for piece in _pieces(message):
        announced, text = piece.startswith(_BREAK), piece.lstrip(_BREAK).strip()
        if not terms(text) or opening("greets").fullmatch(text.strip(" .!")) or _announces(text):
            opened = opened or announced
            continue
        leans = bool(groups) and leans_on_another(text)
        apart = (announced or opened) and not (leans and not asks(text))
        if groups and not apart and (leans or not asks(text) or not any(map(asks, groups[-1]))):
            groups[-1].append(text)
        else:
            groups.append([text])
        opened = False
    return groups


def _announces(text: str) -> bool:
    """Tell words that only announce questions (`Two things please`)."""
    return bool(listed("counting").search(text)) and "?" not in text and len(text.split()) <= 9


def _pieces(message: str) -> list[str]:
    """Cut a message into sentences, with a mark before those that a separating phrase announces."""
    separate = rf"(?:^|(?<=[.;,:?!。？！]))\s*(?:and|und|et|y)?,?\s*{listed('separate').pattern}\s*[,:.–-]?\s*"
    marked = re.sub(
        separate,
        lambda match: _BREAK + ("I want to know " if re.search(r"want|like|need", match.group()) else ""),
        message,
        flags=re.IGNORECASE,
    )
    return [piece for sentence in _SENTENCE_END.split(marked) if sentence for piece in _apart(sentence)]


def _apart(sentence: str) -> list[str]:
    """Cut a sentence where a question of its own begins: behind a mark, a semicolon or a coordination."""
    head, colon, tail = sentence.partition(": ")
    if colon and _announces(head):
        sentence = tail
    found: list[str] = []
    for at, part in enumerate(re.split(rf"[;；]\s*(?:(?:and|und|et|y)\s+)?|(?={_BREAK})", sentence)):
        if not part.strip():
            continue
        if at and not part.startswith(_BREAK) and not listed("ask").search(part[:60]):
            found[-1] = f"{found[-1]}; {part}"
        else:
            found.append(part if part.startswith(_BREAK) or not at or leans_on_another(part) else _BREAK + part)
    cut: list[str] = []
    for part in found:
        start = 0
        for match in _coordinated().finditer(part):
            before, after = part[start : match.start()], part[match.end() :]
            if "," in match.group() and len(terms(before)) > 1 and _independent(before, after):
                cut.append(before)
                part = f"{part[: match.end()]}{_BREAK}{after}"
                start = match.end()
        cut.append(part[start:])
    return cut


def _independent(before: str, after: str) -> bool:
    own = distinct(after)
    return len(own) >= _SEVERAL and not leans_on_another(after) and not set(own) & set(distinct(before))


@lru_cache(maxsize=1)
def _coordinated() -> re.Pattern[str]:
    """Where a second question, or order, is joined on within one sentence."""
    lead = r"(?:(?:by|to|in|at|on|for|from|since|with|of|um|seit|mit|von|zu|à|de|dans|depuis|a|desde|con|por)\s+)?"
    next_one = rf"(?:{listed('ask').pattern}|(?:name|list|explain|describe|compare|nenne|nomme[rz]?|explica)\b)"
    return re.compile(
        rf"\s*[,;]?\s+(?:and|or|as well as|und|oder|sowie|et|ou|y|o)\s+(?={lead}{next_one})", re.IGNORECASE
    )


def _parts(sentence: str) -> list[str]:
    parts: list[str] = []
    start = 0
    for match in _coordinated().finditer(sentence):
        if terms(sentence[start : match.start()]) and len(sentence[match.end() :].split()) > 2:
            parts.append(sentence[start : match.start()])
            start = match.end()
    return [part for part in (*parts, sentence[start:]) if part.strip(_TRIM)]


def _compared(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """List what a question compares, and with regard to what; `Compare A, B and C with regard to x and y`."""
    body = text.rstrip("?.!。？！ ")
    regard = listed("regard").search(body)
    points = _listed(body[regard.end() :]) if regard and regard.start() else ()
    body = body[: regard.start()] if regard and regard.start() else body
    compare = opening("compare").match(body)
    things = _listed(re.sub(r"\s+(?:as|als|comme|como)\s+.*$", "", body[compare.end() :])) if compare else ()
    return things, points


def _listed(text: str) -> tuple[str, ...]:
    entries = (_ARTICLE.sub("", part.strip(_TRIM)) for part in _SEPARATOR.split(text))
    kept = [entry for entry in entries if entry and len(entry.split()) <= _LONGEST_ENTRY and terms(entry)]
    return tuple(dict.fromkeys(kept)) if len(kept) > 1 else ()


Standing = Literal["titled", "named", "apart"]
"""How a document stands to what is asked: it has the name of it, it uses the name, or neither."""

MOST_ADDED = 6
"""Words of the question that go into a further search beside the name."""
_LONGEST_TITLE = 8
"""Terms of a title that is a name, at most; longer ones describe."""
_SETTING = re.compile(r"^\W*(?:i|we|my|our|take|consider|ich|wir|je|nous|yo)\b", re.IGNORECASE)
_LINK = re.compile(
    r"\w+\W+\w+.*\b(?:who|whose|whom|which|that|where|deren|dessen|dont|cuyo)\b"
    r"|\bof the [^\W_]+ (?:of|in|at|by|from|for)\b|[’']s [^\W_]+[’']s\b",
    re.IGNORECASE,
)
_IS = re.compile(r"\b(?:is|are|was|were|both)(?: an?)? $")
_ORIGIN = re.compile(r"[A-Z][a-z]*(?:an|ish|ese|sh|ch|ek|ss|ic)")
_ASIDE = re.compile(r"\s*\([^()]*\)")
_SITE = re.compile(r"\s*\([^()]*\)\s*$")
_TOPIC = re.compile(r"^([^:?]{2,80}): ([^:?]+)$")
_FRAME = frozenset(distinct("name known called list kind type"))


@lru_cache(maxsize=2_048)
def is_single_fact(question: str) -> bool:
    """Tell a question for a single fact about something with a name, however many steps away the fact is."""
    found = questions(question)
    if not names(question) or SPACELESS.search(question) or len(found) != 1 or len(found[0].parts) != 1:
        return False
    if (
        _SETTING.match(question)
        or "?" in question.strip()[:-1]
        or any(listed(name).search(question) for name in ("reason", "effect", "differ_asked", "doubt_asked"))
    ):
        return False
    return bool(listed("one").search(question) or opening("yes_no").match(question))


def is_no_thing(word: str) -> bool:
    """Tell a word for what one thing does to another, or for what a source does: shows, reports."""
    return bool(listed("effect").fullmatch(word) or listed("telling").fullmatch(word))


def is_lookup(question: str) -> bool:
    """Tell a single fact that documents named for its subject should state: one or two of them settle it."""
    return is_single_fact(question) and bool(opening("lookup").match(question)) and not is_linked(question)


def is_linked(question: str) -> bool:
    """Tell a question that names its subject by way of something else: `the country where the Bubye River is found`."""
    return is_single_fact(question) and bool(_LINK.search(question))


@lru_cache(maxsize=2_048)
def subjects(question: str) -> tuple[frozenset[str], ...]:
    """Names that a question for one fact turns on, each as its terms; nothing for other questions."""
    if step := _TOPIC.match(question):
        return (frozenset(distinct(step[1])),)
    if not is_single_fact(question):
        return ()
    named = names(question)
    things = [name for name in named if not _describes(name, question)]
    return tuple(found for name in things or named if (found := frozenset(distinct(name))))


def _describes(name: str, question: str) -> bool:
    """Tell a word of origin (`Danish band`, `is American`) from the name of a thing."""
    before, _, after = question.partition(name)
    return bool(_ORIGIN.fullmatch(name)) and bool(re.match(r" [a-z]", after) or _IS.search(before))


@lru_cache(maxsize=4_096)
def standing(question: str, title: str, text: str) -> Standing:
    """Say how a document, or a quotation of it, stands to a question; where no name is asked about, it is `named`."""
    about = subjects(question)
    if not about:
        return "named"
    named = frozenset[str]().union(*about)
    own = frozenset(distinct(_ASIDE.sub("", title)))
    if own and len(own) <= _LONGEST_TITLE and own <= frozenset(distinct(question)) and own & named:
        return "titled"
    held = frozenset(terms(text)) | own
    return "named" if any(name <= held for name in about) else "apart"


def title_of(source: str, *, bare: bool = False) -> str:
    """Give the title of a source without who published it; `bare`, without what else stands in brackets."""
    title = _SITE.sub("", source)
    return (_ASIDE.sub("", title) or title) if bare else title


def topic(name: str, rest: Sequence[str]) -> str:
    """Word a further step: the name that was found, and what is still to be said of it."""
    return f"{name.replace(':', ' ').replace('?', ' ')}: {' '.join(rest)}"


def is_topic(text: str) -> bool:
    """Tell the topic of a further step from a question."""
    return bool(_TOPIC.match(text))


def words_of(question: str) -> dict[str, str]:
    """The question's words that carry meaning, as written and in order, each under its term."""
    found: dict[str, str] = {}
    telling = frozenset(distinct(question)) - _FRAME
    for word in re.findall(r"[^\W_]+(?:[-’'][^\W_]+)*", question):
        for term in distinct(word):
            if term in telling:
                found.setdefault(term, re.sub(r"[’']s$", "", word))
    return found
