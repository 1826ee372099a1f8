"""The form of a sentence on a page: what can stand as a quotation, and what is a heading, row, notice or order.

How well a sentence answers a question: shared words weighed by rarity.
"""

import base64
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

from agents.nlp import lang
from agents.nlp.tokens import language_of, year_spans, years_in
from agents.offline.terms import (
    LANGUAGES,
    SPACELESS,
    distinct,
    frame,
    listed,
    names,
    opening,
    terms,
)

_MARKER = re.compile(r"^\s*(?:#{1,6}\s+|[-*+•‣·–>]\s+|\(?\d{1,3}[.)]\s+(?=\D)|\(?[a-zA-Z][.)]\s+)")
_BOLD = re.compile(r"\*{1,3}|_{2,3}|`")
_STOP = re.compile(r"[.!…。！؟।]['\"”’»)\]]*(?:\s?\[[^\]\s]{1,12}\]|[¹²³⁰⁴-⁹]+)*$")
"""A full stop, also where marks of notes stand behind it."""
_ASKS = re.compile(r"[?？؟]['\"”’»)\]]*$")
_ROW = re.compile(r"\s\|\s|^\s*\||\t")
_NOTICE_HEAD = re.compile(r"^\W*(?:important|urgent|attention|notice|note|hinweis|wichtig)\b[^:]{0,60}:\s*", re.I)


_MIXED = re.compile(r"\b\w*(?:[a-zA-Z][а-яёіѕјο-ωΑ-Ω]|[а-яёіѕјο-ωΑ-Ω][a-zA-Z])\w*\b", re.I)
_LATIN = str.maketrans("аеосрхуіѕјкАЕОСРХІЅЈοαεινρτΟΑΕΙΝΡΤ", "aeocpxyisjkAEOCPXISJoaeivptOAEINPT")
_SPREAD = re.compile(r"(?:\b\w ){8}")
_ENCODED = re.compile(r"\b[A-Za-z0-9+/]{24,}={0,2}")
_COMMANDS = re.compile(r"\b(?:you|your|ignore|must)\b", re.IGNORECASE)


def plain(text: str) -> str:
    """Write a unit of text as one line, without the marks of layout in front of it or around its words."""
    return " ".join(_BOLD.sub("", _MARKER.sub("", text, count=1)).split())


def bare(text: str) -> str:
    """Drop layout marks in front of a quotation; what stays is a run of the same characters, spaces made single."""
    return " ".join(_MARKER.sub("", text, count=1).split())


@cache
def _overrides() -> re.Pattern[str]:
    """Orders to a program that reads along, in the words in which they are put in most languages."""
    return re.compile(lang.alternatives("overrides"), re.IGNORECASE)


def is_order(text: str) -> bool:
    """Tell a sentence that commands its reader, or a program that reads it: by form, whatever it commands."""
    meant, line = _meant(text)
    commands = opening("command").match(line) or listed("commands_reader").search(meant)
    return bool(commands) or orders_a_machine(text)


def orders_a_machine(text: str, about: str = "") -> bool:
    """Tell a sentence that gives orders to a program that reads it; orders to people are left alone.

    A question about such programs may well have an answer that quotes what they must do.
    """
    text, line = _meant(text)
    begins, wanted = opening("command").match(line), listed("reader").search(about)
    if listed("authorizes").search(text):
        return True
    if _overrides().search(text):
        return not wanted
    if not listed("reader").search(text):
        return bool(begins and listed("user").search(text))
    told = begins or listed("commands_reader").search(text) or is_imperative(line) or _COMMANDS.search(text)
    return bool(told) and not wanted


def _meant(text: str) -> tuple[str, str]:
    """Write a text as it is meant to be read, and as a line of its own.

    Signs of no width, look-alike letters, spread words and base 64 hide nothing from whoever reads it.
    """
    if not text.isascii():
        text = "".join(one for one in unicodedata.normalize("NFKC", text) if unicodedata.category(one) != "Cf")
        text = _MIXED.sub(lambda word: word[0].translate(_LATIN), text)
    if _SPREAD.search(text):
        text = re.sub(r"(?<=\b\w) (?=\w\b)", "", text)
    for token in _ENCODED.findall(text):
        with suppress(ValueError):
            text += f"\n{base64.b64decode(token).decode('ascii')}"
    return text, _NOTICE_HEAD.sub("", plain(text))


def is_imperative(text: str) -> bool:
    """Tell an instruction (`Anchor on sand.`): a fact only where the question asks how to do something."""
    return bool(opening("imperative").match(plain(text)))


def is_sentence(text: str) -> bool:
    """Tell a whole statement from a heading, a table row, a question, a label or a notice of the page."""
    line = plain(text)
    if _ROW.search(text) or text.lstrip().startswith("#") or _ASKS.search(line) or listed("page_notice").search(line):
        return False
    if SPACELESS.search(line):
        return len(line) >= 10 and bool(_STOP.search(line))
    return bool(_STOP.search(line)) and len(line.split()) >= 5


def is_heading(text: str) -> bool:
    """Tell a heading: short, and no full stop."""
    line = plain(text)
    if _ROW.search(text) or len(line) > 90:
        return False
    return text.lstrip().startswith("#") or not _STOP.search(line)


def leans(text: str) -> bool:
    """Tell a sentence that needs the one before it, in its own language: the French `il` is an article in Italian."""
    language = language_of(text)
    return language in LANGUAGES and bool(opening("needs_before", language).match(plain(text)))


OF_THE_BEST = 0.45
"""Share of the best score for the same question that a sentence must reach: beside a good one, weak ones are noise."""
_FRAME_WEIGHT = 0.3
"""Words of asking, which no answer repeats."""
_TITLE_WEIGHT = 0.45
"""Words that the title has too: every sentence of the document is about them, whether it says so or not."""
_NAME_WEIGHT = 0.45
"""Words of proper names: they say where and who, seldom what is asked."""
_ABSENT_WEIGHT = 0.55
"""Words that the source never uses, unless a single fact is asked for: it may say the same in other words."""
_ANOTHER_YEAR = 0.7
"""What a sentence counts that tells of another year than the one that is asked about."""
_TELLING = 6
"""Words of a question that an answer may be expected to have, at most."""


@dataclass(frozen=True)
class Wanted:
    """One question, made ready for ranking."""

    weights: dict[str, float]
    years: frozenset[int]
    names: tuple[str, ...]
    core: frozenset[str]
    """Words of the topic, without those of asking and, where others remain, of names."""
    lookup: bool
    """A single fact is asked for: most words must be met, or it is another fact."""
    total: float
    """Weight that an answer is held against: of the most telling words, since no answer repeats a long question."""


class Ranking:
    """Sentences of one source, or of several without a title, ranked against questions by what is rare among them."""

    def __init__(self, sentences: Sequence[str], title: str = "") -> None:
        self.sentences = tuple(sentences)
        self.held = tuple(frozenset(terms(sentence)) for sentence in self.sentences)
        self._title = frozenset(distinct(title))
        self._spread = Counter(term for held in self.held for term in held)

    def wanted(self, question: str) -> Wanted:
        """Make a question ready: its words with their weights."""
        own, named = distinct(question), names(question)
        scope = frozenset(term for name in named for term in distinct(name))
        lookup = bool(named and opening("lookup").match(question))
        dates = frozenset() if lookup else frozenset(map(str, years_in(question)))
        absent = 1.0 if lookup else _ABSENT_WEIGHT
        weights = {term: self._weight(term, absent) * (_NAME_WEIGHT if term in scope else 1.0) for term in own}
        core = frozenset(own) - frame() - dates
        total = sum(sorted(weights.values(), reverse=True)[:_TELLING])
        return Wanted(
            weights,
            years_in(question).union(*year_spans(question)),
            named,
            core if core <= scope else core - scope,
            lookup,
            total,
        )

    def _weight(self, term: str, absent: float) -> float:
        if spread := self._spread[term]:
            weight = min(math.log(1 + (len(self.sentences) - spread + 0.5) / (spread + 0.5)), 4.0)
        else:
            weight = min(math.log(1.5 + len(self.sentences)), 3.0) * absent
        weight *= _FRAME_WEIGHT if term in frame() else 1.0
        return weight * (_TITLE_WEIGHT if term in self._title else 1.0)

    def score(self, at: int, wanted: Wanted, first: int | None = None) -> float:
        """Say how well sentence `at` answers, 0 to about 1; with those from `first` on that it leans on."""
        first = at if first is None else first
        sentence, held = " ".join(self.sentences[first : at + 1]), frozenset().union(*self.held[first : at + 1])
        telling = [term for term in wanted.core if term in held]
        spoken = [term for term in telling if not term[0].isdigit()]
        long = len(wanted.core) > 2
        # Two of the words that matter; of a single fact half of them.
        few = wanted.lookup and self._title and long and 2 * len(telling) <= len(wanted.core)
        if not wanted.total or few or len(spoken) < (2 if long else 1):
            return 0.0
        covered = sum(weight for term, weight in wanted.weights.items() if term in held)
        named = 0.12 * sum(name in sentence for name in wanted.names) / max(1, len(wanted.names))
        said = years_in(sentence)
        other_year = bool(said and wanted.years) and said.isdisjoint(wanted.years)
        return min(1.0, covered / wanted.total) * (_ANOTHER_YEAR if other_year else 1.0) + named
