"""Telling words and phrases: frequent in one document, rare in the others. Knows nothing of meaning."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from agents.nlp import lang
from agents.nlp.tokens import MARKS, UNSPACED, language_of, stem, stop_words

LONGEST = 3  # words of a phrase, at most
_KEPT = 150  # phrases kept of one document
_TITLE_COUNTS = 2  # occurrences that one in the title is worth
_PER_WORD = (1.0, 1.5, 1.8)  # a phrase says more than its words
_REPEATED = 2  # a phrase of several words must occur this often, the title's weight included
_WORD = re.compile(rf"(?:[^\W_{UNSPACED}]+|[{MARKS}]+)+")
_BREAK = re.compile(rf"[^\w\s{MARKS}'\u2019\u2010\u2011-]+|[{UNSPACED}]+|\s{{2,}}|\n")
# Chinese and Japanese names and nouns: Han characters, or katakana; hiragana parts them.
_NOUN = re.compile(
    "[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]{2,6}|[\u30a1-\u30fa\u30fc]{3,12}|[\uac00-\ud7a3]{2,6}"
)


class Phrase(NamedTuple):
    """A word or phrase of one document."""

    key: str
    """Its stems, joined by spaces: equal for plural and singular."""
    shown: str
    """The way it is written most often."""
    times: int
    """Times it occurs; in the title counts more."""


def phrases(text: str, title: str = "", language: str | None = None) -> tuple[Phrase, ...]:
    """Count the words and phrases of a document that hold no stop word, most frequent first."""
    stop = stop_words(language or language_of(text)) | lang.words("counts")
    counts: Counter[str] = Counter()
    written: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for part, weight in ((text, 1), (title, _TITLE_COUNTS)):
        for words in _side_by_side(part, stop):
            stems = [stem(word.casefold()) for word in words]
            for width in range(1, LONGEST + 1):
                for at in range(len(words) - width + 1):
                    key, shown = " ".join(stems[at : at + width]), " ".join(words[at : at + width])
                    if width > 1 or len(shown) > 2 or not shown.isascii():
                        counts[key] += weight
                        written[key][shown] += 1
    kept = (key for key, count in counts.items() if count >= _REPEATED or " " not in key)
    first = sorted(kept, key=lambda key: (-counts[key] * _weight(key), key))[:_KEPT]
    return tuple(Phrase(key, _usual(written[key]), counts[key]) for key in first)


def telling(found: Iterable[Phrase], spread: Mapping[str, int], documents: int, limit: int) -> tuple[str, ...]:
    """Choose the phrases that tell one document from the others."""
    scored = {
        phrase: phrase.times * _weight(phrase.key) * math.log(1 + max(documents, 1) / max(1, spread.get(phrase.key, 1)))
        for phrase in found
    }
    return _without_parts(sorted(scored, key=lambda phrase: (-scored[phrase], phrase.key)), limit)


def widespread(documents: Sequence[Sequence[Phrase]], limit: int) -> tuple[str, ...]:
    """Choose what a corpus talks about: phrases that matter in many documents, most widespread first.

    What occurs once in each, such as a notice under every document, does not matter in any.
    """
    matters: defaultdict[str, list[Phrase]] = defaultdict(list)
    for phrase in (one for found in documents for one in found if one.times >= _REPEATED):
        matters[phrase.key].append(phrase)

    def rank(same: list[Phrase]) -> tuple[float, int, str]:
        return -len(same) * _weight(same[0].key), -sum(min(one.times, 10) for one in same), same[0].key

    return _without_parts([same[0] for same in sorted(matters.values(), key=rank)], limit)


def _side_by_side(text: str, stop: frozenset[str]) -> Iterator[list[str]]:
    """Give the words between punctuation, numbers and stop words; nouns of scripts without spaces each alone."""

    def tells(word: str) -> bool:
        return len(word) > 1 and not word[0].isdigit() and word.casefold() not in stop

    yield from ([noun] for noun in _NOUN.findall(text))
    for part in _BREAK.split(text):
        yield from (list(words) for telling_ones, words in groupby(_WORD.findall(part), tells) if telling_ones)


def _usual(written: Counter[str]) -> str:
    """Choose the most frequent way of writing; a capital counts only when it is not the beginning of sentences."""
    shown = written.most_common(1)[0][0]
    small = shown[:1].lower() + shown[1:]
    return small if small in written else shown


def _weight(key: str) -> float:
    return _PER_WORD[min(key.count(" "), LONGEST - 1)]


def _without_parts(ranked: Sequence[Phrase], limit: int) -> tuple[str, ...]:
    """Take phrases in order, leaving out those that share most of their words with a taken one, or all of its words."""
    taken: dict[frozenset[str], str] = {}
    for phrase in ranked:
        if len(taken) == limit:
            break
        parts = frozenset(phrase.key.split())
        if not any(2 * len(parts & other) > min(len(parts), len(other)) for other in taken):
            taken[parts] = phrase.shown
    return tuple(taken.values())
