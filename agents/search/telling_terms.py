"""Telling words and phrases: frequent in one document, rare in the others. Knows nothing of meaning."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from agents.nlp import lang
from agents.nlp.tokens import TOKEN, language_of, stem, stop_words

LONGEST = 3
"""Words of a phrase, at most."""

_KEPT = 150  # phrases kept of one document
_TITLE_COUNTS = 2  # occurrences that one in the title is worth
_PER_WORD = (1.0, 1.5, 1.8)  # a phrase says more than its words
_REPEATED = 2  # a phrase of several words must occur this often, the title's weight included
_JOINS = re.compile(r"(?:[ \u00a0]|[-\u2010\u2011]| ?[\u2019'] ?)?")
# Chinese and Japanese names and nouns: Han characters, or katakana; hiragana parts them.
_NOUN = re.compile(
    "[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]{2,6}|[\u30a1-\u30fa\u30fc]{3,12}|[\uac00-\ud7a3]{2,6}"
)


@dataclass(frozen=True)
class Phrase:
    """A word or phrase of one document."""

    key: str
    """Its stems, joined by spaces: equal for plural and singular."""
    shown: str
    """The way it is written most often."""
    count: int
    """Times it occurs; in the title counts more."""


def phrases(text: str, title: str = "", language: str | None = None) -> tuple[Phrase, ...]:
    """Count the words and phrases of a document that hold no stop word, most frequent first."""
    stop = stop_words(language or language_of(text)) | lang.words("counts")
    counts: Counter[str] = Counter()
    written: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for part, weight in ((text, 1), (title, _TITLE_COUNTS)):
        for chunk in _chunks(part, stop):
            for key, shown in _grams(part, chunk):
                counts[key] += weight
                written[key][shown] += 1
    kept = (
        Phrase(key, _usual(written[key]), count)
        for key, count in counts.items()
        if count >= _REPEATED or " " not in key
    )
    return tuple(sorted(kept, key=lambda phrase: (-phrase.count * _weight(phrase.key), phrase.key))[:_KEPT])


def telling(found: Iterable[Phrase], spread: Mapping[str, int], documents: int, limit: int) -> tuple[str, ...]:
    """Choose the phrases that tell one document from the others.

    Args:
        found: the document's phrases.
        spread: phrase key to the number of documents that have it.
        documents: how many there are in all.
        limit: phrases, at most.
    """
    scored = {
        phrase: phrase.count * _weight(phrase.key) * math.log(1 + max(documents, 1) / max(1, spread.get(phrase.key, 1)))
        for phrase in found
    }
    return _without_parts(sorted(scored, key=lambda phrase: (-scored[phrase], phrase.key)), limit)


def widespread(documents: Sequence[Sequence[Phrase]], limit: int) -> tuple[str, ...]:
    """Choose what a corpus talks about: phrases that matter in many documents, most widespread first.

    What occurs once in each, such as a notice under every document, does not matter in any.
    """
    spread: Counter[str] = Counter()
    total: Counter[str] = Counter()
    shown: dict[str, str] = {}
    for found in documents:
        for phrase in found:
            if phrase.count >= _REPEATED:
                spread[phrase.key] += 1
                total[phrase.key] += min(phrase.count, 10)
                shown.setdefault(phrase.key, phrase.shown)
    ranked = sorted(spread, key=lambda key: (-spread[key] * _weight(key), -total[key], key))
    return _without_parts([Phrase(key, shown[key], total[key]) for key in ranked], limit)


def _chunks(text: str, stop: frozenset[str]) -> Iterator[list[tuple[int, int]]]:
    """Give the runs of words between punctuation, numbers and stop words: where each word begins and ends."""
    chunk: list[tuple[int, int]] = []
    for match in TOKEN.finditer(text):
        start, end = match.span()
        if match.lastgroup == "run":
            yield from ([noun.span()] for noun in _NOUN.finditer(text, start, end))
        is_word = (
            match.lastgroup == "word"
            and end - start > 1
            and not text[start].isdigit()
            and match[0].casefold() not in stop
        )
        if chunk and not (is_word and _JOINS.fullmatch(text, chunk[-1][1], start)):
            yield chunk
            chunk = []
        if is_word:
            chunk.append((start, end))
    if chunk:
        yield chunk


def _grams(text: str, chunk: Sequence[tuple[int, int]]) -> Iterator[tuple[str, str]]:
    stems = [stem(text[start:end].casefold()) for start, end in chunk]
    for width in range(1, LONGEST + 1):
        for at in range(len(chunk) - width + 1):
            shown = text[chunk[at][0] : chunk[at + width - 1][1]]
            if width > 1 or len(shown) > 2 or not shown.isascii():
                yield " ".join(stems[at : at + width]), shown


def _usual(written: Counter[str]) -> str:
    """Choose the most frequent way of writing; a capital counts only when it is not the beginning of sentences."""
    shown = written.most_common(1)[0][0]
    small = shown[:1].lower() + shown[1:]
    return small if small in written else shown


def _weight(key: str) -> float:
    return _PER_WORD[min(key.count(" "), LONGEST - 1)]


def _without_parts(ranked: Sequence[Phrase], limit: int) -> tuple[str, ...]:
    """Take phrases in order, leaving out those that share most of their words with a taken one, or all of its words."""
    taken: list[frozenset[str]] = []
    shown: list[str] = []
    for phrase in ranked:
        if len(taken) == limit:
            break
        parts = frozenset(phrase.key.split())
        if not any(2 * len(parts & other) > min(len(parts), len(other)) for other in taken):
            taken.append(parts)
            shown.append(phrase.shown)
    return tuple(shown)
