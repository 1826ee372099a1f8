"""A step of a sweep: copies put together, and what is known of the other texts before anybody judges them."""

import asyncio

from agents.contracts.frozen import Frozen, Text
from agents.contracts.source import SourceCard
from agents.nlp.near_duplicates import copies, is_about_the_same, shingles
from agents.nlp.sentence_split import spans
from agents.nlp.tokens import content_words
from agents.research.reading.shortlist import Scanned
from agents.research.run_context import Desk
from agents.search.telling_terms import Phrase, phrases, telling

MAX_CHARS = 60_000
"""Characters of a text from which themes and sentences are taken."""
MAX_COMPARED = 300_000
"""Characters that are held against other texts to find copies."""
THEMES = 5
SENTENCES = 3
"""Sentences of an excerpt, beside the first."""
MAX_SENTENCE = 280
HOLDS = 0.5
"""Share of a question's words that a text must hold for code to say that it is about it."""


class Copy(Frozen):
    """A text that another one says as well."""

    url: Text
    of: Text


class Sifted(Frozen):
    """Candidates without copies, and the copies."""

    scanned: tuple[Scanned, ...] = ()
    copies: tuple[Copy, ...] = ()


async def sift(desk: Desk, found: tuple[tuple[str, SourceCard], ...], questions: tuple[str, ...]) -> Sifted:
    """Put copies of one text together, and say of the others what they are about."""
    texts = [await desk.texts.get(card.text_hash) for _, card in found]
    return await asyncio.to_thread(_sifted, found, texts, questions)


def _sifted(found: tuple[tuple[str, SourceCard], ...], texts: list[str], questions: tuple[str, ...]) -> Sifted:
    first: dict[str, int] = {}
    same: dict[int, int] = {}
    for number, (_, card) in enumerate(found):
        for key in (f"id {card.id}", f"text {card.text_hash}"):
            if first.setdefault(key, number) != number:
                same.setdefault(number, first[key])
    apart = {number: shingles(texts[number][:MAX_COMPARED]) for number in range(len(found)) if number not in same}

    def one_subject(copy: int, original: int) -> bool:
        return is_about_the_same(found[copy][1].title, texts[copy], texts[original])

    same |= copies(apart, one_subject)
    own = [number for number in range(len(found)) if number not in same]
    told = {number: phrases(texts[number][:MAX_CHARS], found[number][1].title) for number in own}
    spread: dict[str, int] = {}
    for each in told.values():
        for phrase in each:
            spread[phrase.key] = spread.get(phrase.key, 0) + 1
    return Sifted(
        scanned=tuple(
            _scanned(found[number], texts[number], told[number], spread, len(own), questions) for number in own
        ),
        copies=tuple(Copy(url=found[number][0], of=found[of][0]) for number, of in sorted(same.items())),
    )


def _scanned(
    one: tuple[str, SourceCard],
    text: str,
    told: tuple[Phrase, ...],
    spread: dict[str, int],
    documents: int,
    questions: tuple[str, ...],
) -> Scanned:
    url, card = one
    held = frozenset(content_words(f"{card.title} {text[:MAX_CHARS]}"))
    wanted = [frozenset(content_words(question)) for question in questions]
    answers = tuple(
        number for number, words in enumerate(wanted, start=1) if words and len(words & held) >= HOLDS * len(words)
    )
    return Scanned(
        url=url,
        card=card,
        themes=telling(told, spread, documents, THEMES),
        excerpt=_excerpt(text[:MAX_CHARS], frozenset().union(*wanted)),
        answers=answers,
    )


def _excerpt(text: str, wanted: frozenset[str]) -> str:
    """Take the first sentence and those that hold most words of the questions, in their order."""
    sentences = [" ".join(text[span.start : span.end].split())[:MAX_SENTENCE] for span in spans(text)]
    sentences = [sentence for sentence in sentences if sentence]
    shared = {number: len(wanted.intersection(content_words(one))) for number, one in enumerate(sentences)}
    best = sorted((number for number in shared if shared[number]), key=lambda number: (-shared[number], number))
    chosen = sorted({*([0] if sentences else []), *best[:SENTENCES]})
    return " … ".join(sentences[number] for number in chosen)
