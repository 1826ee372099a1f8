"""The passages of documents that come nearest to a question which nothing answers: shown as that, never as an answer.

What a question asks for is often said in other words than its own. Whether a passage answers it, its reader sees at once;
code can't tell, so nothing rests on these: no sentence cites them, and they raise no grade.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import islice

from agents.contracts.fact import Fact
from agents.contracts.finding import NearPassage
from agents.contracts.frozen import Frozen
from agents.contracts.sources import SourceCard
from agents.core.port import computed
from agents.nlp.lang import spans
from agents.nlp.meaning import meaning
from agents.nlp.similarity import closeness, direction
from agents.nlp.tokens import content_words, language_of
from agents.offline.questions import parts_of
from agents.offline.ranking import is_heading, is_order, plain
from agents.research.reading.answering import leads_to
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
MEANT, MEANT_BY_WORDS = 3.0, 0.6
"""What closeness in meaning adds beside words in common: as the model that ships reads it, and as its words add up."""
NEAR = 0.4
"""Closeness from which a passage is near enough to a question to be held against a quote."""
CLEARLY, MUCH = 0.1, 0.2
"""Closeness by which a passage that is not quoted must come nearer than a quote, for that to be no answer: to a question that
names nothing, and to one that names something, which may take several steps."""
OF_HEADING, OF_TITLE = 0.7, 0.4
"""What a word counts that only the heading above a passage has, or the title of its document."""
_BLANK = re.compile(r"\n\s*\n")
_ITEM = re.compile(r"[|•*–-]|\(?\w{1,3}[.)]\s|.* \| ")


class Nearest(Frozen):
    """The passages that come nearest, the nearest first."""

    passages: tuple[NearPassage, ...] = ()
    beaten: tuple[str, ...] = ()
    """Facts to which one of them comes clearly nearer: what they say is not what was asked."""


async def nearest(
    context: RunContext, cards: tuple[SourceCard, ...], questions: tuple[str, ...], facts: tuple[Fact, ...]
) -> Nearest:
    """Find them in documents that were read, beside what is quoted: the body of a step."""
    texts = [(card.title, card.url, (await context.text_of(card)).text) for card in cards]
    titles = {card.id: card.title for card in cards}
    return await computed(_held, texts, questions, facts, titles)


def _held(
    texts: Sequence[tuple[str, str, str]], questions: Sequence[str], facts: Sequence[Fact], titles: Mapping[str, str]
) -> Nearest:
    quotes = [(fact.quote, titles.get(fact.source_id, "")) for fact in facts]
    far = far_off(questions, quotes, near_passages(texts, questions, [quote for quote, _ in quotes]))
    told = [quote for quote, _ in quotes if quote not in far]
    beaten = tuple(fact.id for fact in facts if fact.quote in far)
    return Nearest(passages=near_passages(texts, questions, told), beaten=beaten)


def far_off(questions: Sequence[str], quotes: Sequence[tuple[str, str]], passages: Sequence[NearPassage]) -> set[str]:
    """Choose the quotes, each given with its document's title, to which a passage comes clearly nearer for each question.

    What another quote names is the next step of a question that takes several, and may be far from its words.
    """
    if not passages or not quotes or not meant_by_model(questions):
        return set()
    others = [f"{one.title}: {one.words}" for one in passages]

    def is_far(question: str, quote: str, title: str) -> bool:
        asked, by = meaning(question), MUCH if any(part.names for part in parts_of(question)) else CLEARLY
        nearest = max(closeness(asked, meaning(one)) for one in others)
        return nearest >= NEAR and closeness(asked, meaning(f"{title}: {quote}")) < nearest - by

    return {
        quote
        for quote, title in quotes
        if all(is_far(question, quote, title) for question in questions)
        and not leads_to(title, [other for other, of in quotes if of != title])
    }


def near_passages(
    texts: Sequence[tuple[str, str, str]], questions: Sequence[str], quoted: Sequence[str] = ()
) -> tuple[NearPassage, ...]:
    """Choose among the passages of documents, each given with title and address, those that share most with the questions."""
    told = [" ".join(quote.split()) for quote in quoted]
    found = [
        (NearPassage(title=title, url=url, words=words), Counter(content_words(words)), head)
        for title, url, text in texts
        for head, words in _passages(text)
        if not any(quote in " ".join(words.split()) for quote in told)
    ]
    wanted = {word for question in questions for word in content_words(question)}
    spread = Counter(word for _, held, _ in found for word in wanted & held.keys())
    rare = {word: math.log(1 + len(found) / (1 + spread[word])) for word in sorted(wanted)}

    @cache
    def worth(text: str, much: float) -> Mapping[str, float]:
        return dict.fromkeys(content_words(text), much)

    def shares(passage: NearPassage, held: Counter[str], head: str) -> float:
        above = {**worth(passage.title, OF_TITLE), **worth(head, OF_HEADING)}
        return sum(much * max(held[word] / (held[word] + 0.4), above.get(word, 0)) for word, much in rare.items())

    by_words = [shares(*one) for one in found]
    order = [at for at in sorted(range(len(found)), key=lambda at: (-by_words[at], at)) if by_words[at] > 0]
    # Both cost more than all else: the meaning of a passage is weighed, and its form looked at, where it may be shown.
    weighed = order[:MOST_WEIGHED]
    alike = meant(
        " ".join(questions), [f"{found[at][0].title}: {found[at][2]}. {found[at][0].words}" for at in weighed]
    )
    scores = {at: by_words[at] / by_words[order[0]] + close for at, close in zip(weighed, alike, strict=True)}
    ranked = (found[at][0] for at in sorted(scores, key=lambda at: (-scores[at], at)))
    nearest = list(islice((one for one in ranked if not is_order(one.words)), SHOWN))
    return tuple(one.model_copy(update={"words": _shortened(one.words, " ".join(questions))}) for one in nearest)


def meant(question: str, texts: Sequence[str]) -> list[float]:
    """Say how near each text comes to a question in meaning, as that counts beside the words they share."""
    read, counts = (
        (meaning, MEANT) if language_of(question) == "en" and meaning(question) else (direction, MEANT_BY_WORDS)
    )
    return [counts * max(0.0, closeness(read(question), read(one))) for one in texts]


def meant_by_model(questions: Sequence[str]) -> bool:
    """Tell whether the model that ships can read questions."""
    return all(language_of(question) == "en" and bool(meaning(question)) for question in questions)


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


def _shortened(words: str, question: str) -> str:
    """Cut a long passage down to its sentence that comes nearest, and its neighbours."""
    if len(words) <= LONGEST:
        return words
    sentences = spans(words)
    said = [words[one.start : one.end] for one in sentences]
    wanted = frozenset(content_words(question))
    shared = [len(wanted.intersection(content_words(one))) for one in said]
    most = max(shared) or 1
    near = [share / most + close for share, close in zip(shared, meant(question, said), strict=True)]
    first = last = near.index(max(near))
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
