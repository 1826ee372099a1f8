"""The passages of documents that come nearest to a question which nothing answers: shown as that, never as an answer.

What a question asks for is often said in other words than its own. Whether a passage answers it, its reader sees at once;
code can't tell, so nothing rests on these: no sentence cites them, and they raise no grade.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from agents.contracts.finding import NearPassage
from agents.contracts.frozen import Frozen
from agents.contracts.sources import SourceCard
from agents.core.port import computed
from agents.nlp.lang import spans
from agents.nlp.similarity import closeness, direction
from agents.nlp.tokens import content_words
from agents.offline.ranking import is_heading, is_order, plain
from agents.research.run_context import RunContext

SHOWN = 5
MOST_LOOKED_THROUGH = 20
"""Documents, those that a search put first."""
LONGEST = 360
"""Characters of a passage: its nearest sentence, with what stands beside it."""
MOST_READ = 60_000
"""Characters of a document that are looked through."""
MOST_WEIGHED = 60
"""Passages, those that share most words, whose meaning is weighed."""
MEANT = 0.6
"""What closeness in meaning adds, beside words in common."""
OF_HEADING, OF_TITLE = 0.7, 0.4
"""What a word counts that only the heading above a passage has, or the title of its document."""
_BLANK = re.compile(r"\n\s*\n")
_ITEM = re.compile(r"[|•*–-]|\(?\w{1,3}[.)]\s|.* \| ")


class Nearest(Frozen):
    """The passages that come nearest, the nearest first."""

    passages: tuple[NearPassage, ...] = ()


async def nearest(
    context: RunContext, cards: tuple[SourceCard, ...], questions: tuple[str, ...], quoted: tuple[str, ...]
) -> Nearest:
    """Find them in documents that were read, beside what is quoted: the body of a step."""
    texts = [(card.title, card.url, (await context.text_of(card)).text) for card in cards]
    return Nearest(passages=await computed(near_passages, texts, questions, quoted))


def near_passages(
    texts: Sequence[tuple[str, str, str]], questions: Sequence[str], quoted: Sequence[str] = ()
) -> tuple[NearPassage, ...]:
    """Choose among the passages of documents, each given with title and address, those that share most with the questions."""
    told = [" ".join(quote.split()) for quote in quoted]
    found = [
        (NearPassage(title=title, url=url, words=words), Counter(content_words(words)), set(content_words(head)), title)
        for title, url, text in texts
        for head, words in _passages(text)
        if not any(quote in words for quote in told)
    ]
    wanted = {word for question in questions for word in content_words(question)}
    spread = Counter(word for _, held, *_ in found for word in wanted & held.keys())
    rare = {word: math.log(1 + len(found) / (1 + spread[word])) for word in sorted(wanted)}
    titled = {title: set(content_words(title)) for title, *_ in texts}

    def shares(held: Counter[str], head: set[str], title: str) -> float:
        return sum(
            much * max(held[word] / (held[word] + 0.4), OF_HEADING * (word in head), OF_TITLE * (word in titled[title]))
            for word, much in rare.items()
        )

    by_words = [shares(held, head, title) for _, held, head, title in found]
    order = [at for at in sorted(range(len(found)), key=lambda at: (-by_words[at], at)) if by_words[at] > 0]
    asked, most, terms = direction(" ".join(questions)), max(by_words, default=0.0), frozenset(wanted)
    # Both cost more than all else: the meaning of a passage is weighed, and its form looked at, where it may be shown.
    scores = {
        at: by_words[at] + MEANT * most * max(0.0, closeness(asked, direction(found[at][0].words)))
        for at in order[:MOST_WEIGHED]
    }
    ranked = (found[at][0] for at in sorted(scores, key=lambda at: (-scores[at], at)))
    nearest = islice((one for one in ranked if not is_order(one.words)), SHOWN)
    return tuple(one.model_copy(update={"words": _shortened(one.words, terms)}) for one in nearest)


def _passages(text: str) -> list[tuple[str, str]]:
    """Cut a text at its blank lines, each passage with the heading above it; items of a list and rows by themselves."""
    found: list[tuple[str, str]] = []
    heading = ""
    for block in _BLANK.split(text[:MOST_READ]):
        lines = [line.strip() for line in block.split("\n") if line.strip()]
        if len(lines) == 1 and is_heading(lines[0]):
            heading = plain(lines[0])
            continue
        for words in lines if lines and all(map(_ITEM.match, lines)) else [" ".join(lines)]:
            if words:
                found.append((heading, words))
    return found


def _shortened(words: str, wanted: frozenset[str]) -> str:
    """Cut a long passage down to its sentence that shares most with the questions, and its neighbours."""
    if len(words) <= LONGEST:
        return words
    sentences = spans(words)
    shares = [len(wanted.intersection(content_words(words[one.start : one.end]))) for one in sentences]
    first = last = shares.index(max(shares))
    while True:
        wider = [(first, min(last + 1, len(sentences) - 1)), (max(0, first - 1), last)]
        fits = [
            (one, other)
            for one, other in wider
            if (one, other) != (first, last) and sentences[other].end - sentences[one].start <= LONGEST
        ]
        if not fits:
            break
        first, last = fits[0]
    return words[sentences[first].start : sentences[last].end][:LONGEST].strip()
