"""Which documents and passages a model is shown for a question: all of a short text, else what shares its words or its meaning."""

import math
from collections import Counter
from collections.abc import Sequence

from agents.contracts.fact import NumberedSentence
from agents.contracts.sources import SentenceSpan
from agents.nlp.similarity import closeness, direction
from agents.nlp.tokens import content_words
from agents.offline.questions import names_held, parts_of, stems_of

MAX_CHARS = 24_000
"""Characters of one source in one prompt, about 6,000 tokens of English."""
WINDOW = 8
"""Sentences of one passage: enough to be understood, few enough to choose well."""
WORTH_READING = 0.6
"""Closeness in meaning from which a text without any name of the question is read all the same: it may be the next step of one
that takes several. On HotpotQA it leaves 94 of 100 documents that answer, and spares a quarter of the others."""
MEANT = 0.6
"""What closeness in meaning adds to the words of a passage, as a share of the best one's."""
MAX_COMPARED = 60_000


def is_worth_reading(title: str, text: str, questions: Sequence[str], *, by_meaning: bool = True) -> bool:
    """Tell whether a model should be shown a document: it names what is asked about, or, by meaning, speaks of the same."""
    parts = [part for question in questions for part in parts_of(question)]
    held = stems_of(f"{title} {text[:MAX_COMPARED]}")
    if any(not part.names or names_held(part, held) or part.short & set(text.split()) for part in parts):
        return True
    if not by_meaning:
        return False
    wanted = [direction(question) for question in questions]
    passages = [text[at : at + 800] for at in range(0, min(len(text), MAX_COMPARED), 800)] or [title]
    # A direction without letters that the table holds says nothing: such a text is read.
    return not all(wanted) or any(
        closeness(one, direction(f"{title}. {passage}")) >= WORTH_READING for one in wanted for passage in passages
    )


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
    scores = _scores([" ".join(sentence.text for sentence in window) for window in windows], questions)
    # The opening says what the source is; it is always shown.
    order = sorted(range(1, len(windows)), key=lambda at: (-scores[at], at))
    chosen, room = {0}, max_chars - sum(len(sentence.text) for sentence in windows[0])
    for at in order:
        size = sum(len(sentence.text) for sentence in windows[at])
        if size <= room:
            chosen.add(at)
            room -= size
    return tuple(sentence for at in sorted(chosen) for sentence in windows[at])


def _scores(passages: Sequence[str], questions: tuple[str, ...]) -> list[float]:
    """Score passages by the rarity of the words they share with the questions, raised by closeness in meaning."""
    bags = [Counter(content_words(passage)) for passage in passages]
    wanted = {word for question in questions for word in content_words(question)}
    rarity = {word: math.log(1 + len(bags) / (1 + sum(word in bag for bag in bags))) for word in sorted(wanted)}
    by_words = [sum(rarity[word] * bag[word] / (bag[word] + 1.2) for word in rarity) for bag in bags]
    asked = direction(" ".join(questions))
    most = max(by_words, default=0.0)
    return [
        score + MEANT * most * max(0.0, closeness(asked, direction(passage)))
        for score, passage in zip(by_words, passages, strict=True)
    ]
