"""Which sentences of a long source an extractor is shown: chosen for its questions, not cut off at a length."""

import math
from collections import Counter
from collections.abc import Sequence

from agents.contracts.fact import NumberedSentence
from agents.contracts.source import SentenceSpan
from agents.nlp.tokens import content_words

MAX_CHARS = 24_000
"""Characters of one source in one prompt, about 6,000 tokens of English."""
WINDOW = 8
"""Sentences of one passage: enough to be understood, few enough to choose well."""


def choose(
    text: str, spans: tuple[SentenceSpan, ...], questions: tuple[str, ...], max_chars: int = MAX_CHARS
) -> tuple[NumberedSentence, ...]:
    """Choose passages for the questions, in the order of the source; all of it when it is short enough.

    Numbers count through the whole source, so that a pointer needs no translation.
    """
    numbered = [
        NumberedSentence(number=span.number, text=text[span.start : span.end])
        for span in spans
        if text[span.start : span.end].strip()
    ]
    return choose_among(numbered, questions, max_chars)


def choose_among(
    numbered: Sequence[NumberedSentence], questions: tuple[str, ...], max_chars: int
) -> tuple[NumberedSentence, ...]:
    """Choose passages among sentences that are numbered already (see `choose`)."""
    if sum(len(sentence.text) for sentence in numbered) <= max_chars:
        return tuple(numbered)
    # Fewer sentences to a passage where little fits, so that the opening does not take all of it.
    window = WINDOW if max_chars >= MAX_CHARS // 4 else WINDOW // 4
    windows = [numbered[at : at + window] for at in range(0, len(numbered), window)]
    bags = [Counter(word for sentence in window for word in content_words(sentence.text)) for window in windows]
    wanted = {word for question in questions for word in content_words(question)}
    rarity = {word: math.log(1 + len(bags) / (1 + sum(word in bag for bag in bags))) for word in sorted(wanted)}
    scores = [sum(rarity[word] * bag[word] / (bag[word] + 1.2) for word in rarity) for bag in bags]
    # The opening says what the source is; it is always shown.
    order = sorted(range(1, len(windows)), key=lambda at: (-scores[at], at))
    chosen, room = {0}, max_chars - sum(len(sentence.text) for sentence in windows[0])
    for at in order:
        size = sum(len(sentence.text) for sentence in windows[at])
        if size <= room:
            chosen.add(at)
            room -= size
    return tuple(sentence for at in sorted(chosen) for sentence in windows[at])
