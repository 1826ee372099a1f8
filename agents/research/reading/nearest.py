"""The passages of documents that come nearest to a question: in words, and in meaning as the model that ships reads them.

What a question asks for is often said in other words than its own. Whether a passage answers it, its reader sees at once;
code can't tell. So most are shown as that, and nothing rests on them. One that stands out from all others is quoted: its
question counts as *partly* answered by it, never more, and no claim is made of it.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain, islice, zip_longest
from typing import NamedTuple

from agents.contracts.fact import Fact
from agents.contracts.finding import NearPassage
from agents.contracts.frozen import Frozen, digest
from agents.contracts.sources import SourceCard
from agents.core.port import computed
from agents.nlp.lang import spans
from agents.nlp.meaning import meaning
from agents.nlp.similarity import closeness, direction
from agents.nlp.tokens import content_words, language_of
from agents.offline.questions import Question, asks_for_facts, is_topic, names_held, parts_of, read_alone, stems_of
from agents.offline.ranking import is_heading, is_order, plain
from agents.research.reading.answering import answer_of, has_kind, leads_to, told_by
from agents.research.run_context import RunContext
from agents.roles import EXTRACTOR
from agents.verify.quotes import find_quote

SHOWN = 5
MOST_LOOKED_THROUGH = 20
"""Documents, those that a search put first."""
LONGEST = 360
"""Characters of a passage: its nearest sentence, with what stands beside it."""
MOST_READ = 60_000
"""Characters of a document that are looked through."""
MOST_WEIGHED, MOST_TAKEN_APART = 60, 8
"""Passages, those that share most words, whose meaning is weighed; and of these the nearest, sentence by sentence."""
BY_WORDS, BY_TABLE = 0.5, 0.3
"""What words in common count beside closeness in meaning, and this closeness where only the table of words knows it."""
MOST_QUOTED, STANDS_OUT = 2, 0.1
"""Passages that are quoted for a part at most, and by how much they must come nearer than the next one: set on
`tests/data/everyday/tuned`."""
SURE = 0.35
"""Confidence of a passage that is quoted because it stands out."""
NEAR, FAR = 0.4, 0.3
"""Closeness from which a passage is near enough to a question to be held against a quote, and below which a quote is far."""
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
    facts: tuple[Fact, ...] = ()
    """What stands out for a question that nothing else answers."""


class Passage(NamedTuple):
    """A passage, with the place of its document, the heading above it and its words."""

    of: int
    title: str
    url: str
    head: str
    words: str
    held: Counter[str]

    def told(self, words: str) -> str:
        """Say some of its words below its title and heading, which tell what they are about."""
        return f"{self.title}: {self.head}. {words}"


class Part(NamedTuple):
    """A part of a question, with the question, and worded so that it can be read alone."""

    question: str
    part: Question
    alone: str


Document = tuple[str, str, str]
"""Title, address and text."""


async def nearest(
    context: RunContext, cards: tuple[SourceCard, ...], questions: tuple[str, ...], facts: tuple[Fact, ...], query: str,
    shows: bool,
) -> Nearest:  # fmt: skip
    """Find them in documents that were read, beside what is quoted; of background nothing is shown. The body of a step.

    Where a model reads, what it has pointed at is quoted, and no more.
    """
    texts = [(card.title, card.url, (await context.text_of(card)).text) for card in cards]
    quotes = shows and not asks_for_facts(query) and not context.models[EXTRACTOR.name].reasons
    return await computed(_held, texts, _parts(questions, query), facts, cards, shows, quotes)


def _held(
    texts: Sequence[Document],
    parts: Sequence[Part],
    facts: Sequence[Fact],
    cards: Sequence[SourceCard],
    shows: bool,
    quotes: bool,
) -> Nearest:
    titles, asked = {card.id: card.title for card in cards}, list(dict.fromkeys(part.alone for part in parts))
    told = [(fact.quote, titles.get(fact.source_id, "")) for fact in facts]
    every = passages_of(texts)
    far = far_off(asked, told, near_passages(every, asked, [quote for quote, _ in told]) if told else ())
    left = [fact for fact in facts if fact.quote not in far]
    found = _standing_out(every, texts, parts, left, cards) if quotes else []
    quoted = [fact.quote for fact in (*left, *found)]
    return Nearest(
        passages=near_passages(every, asked, quoted) if shows else (),
        beaten=tuple(fact.id for fact in facts if fact.quote in far),
        facts=tuple(found),
    )


def _standing_out(
    every: Sequence[Passage], texts: Sequence[Document], parts: Sequence[Part], facts: Sequence[Fact],
    cards: Sequence[SourceCard],
) -> list[Fact]:  # fmt: skip
    """Quote for each part that nothing answers the passage that comes clearly nearer to it than any other.

    Not of facts about something with a name, nor of a further step: what is to be said of it words tell, and it may stand
    another step on.
    """
    rows, found = told_by(facts, cards), dict[str, Fact]()
    for question, part, text in parts:
        if is_topic(question) or not meant_by_model([text]) or answer_of(part, rows)[0] == "answered":
            continue
        for passage in _first_by_far(_ranked(every, text)):
            card, whole = cards[passage.of], texts[passage.of][2]
            place = find_quote(_shortened(passage.words, text), whole) if _may_answer(part, passage) else None
            if place is not None and not any(
                fact.source_id == card.id and place[0] < fact.end and fact.start < place[1] for fact in facts
            ):
                quote = whole[slice(*place)]
                fact = Fact(
                    id="f" + digest(f"{card.id}:{place[0]}:{place[1]}", 10), source_id=card.id, quote=quote,
                    statement=" ".join(quote.split()), start=place[0], end=place[1], confidence=SURE, topic=question,
                    heading=passage.head, by_meaning=part.text,
                )  # fmt: skip
                found.setdefault(fact.id, fact)
    return list(found.values())


def _parts(questions: Sequence[str], query: str) -> list[Part]:
    """Take questions apart; one of a single telling word (`On what ground?`) is read with all that was asked."""
    apart = [(question, parts_of(question)) for question in questions]
    worded = [(one, part, one if len(parts) == 1 else read_alone(part)) for one, parts in apart for part in parts]
    return [Part(one, part, text if len(set(content_words(text))) > 1 else query) for one, part, text in worded]


def _first_by_far(ranked: Sequence[tuple[float, Passage]]) -> list[Passage]:
    """Give the one passage, or the two, that come clearly nearer than what follows."""
    scores = [*(score for score, _ in ranked), 0.0]
    most = next((n for n in range(1, min(MOST_QUOTED, len(ranked)) + 1) if scores[n - 1] - scores[n] >= STANDS_OUT), 0)
    return [passage for _, passage in ranked[:most]]


def _may_answer(part: Question, passage: Passage) -> bool:
    """Tell a passage that names what the question names and holds the kind of thing it asks for."""
    held = names_held(part, stems_of(passage.words, passage.title, passage.head))
    return len(held) == len(part.names) and has_kind(part, passage.words)


def far_off(questions: Sequence[str], quotes: Sequence[tuple[str, str]], passages: Sequence[NearPassage]) -> set[str]:
    """Choose the quotes, each given with its document's title, to which a passage comes clearly nearer for each question.

    So is what is far from a question that names nothing. What another quote names is the next step of a question
    that takes several, and may be far from its words.
    """
    if not passages or not quotes or not meant_by_model(questions):
        return set()
    others = [f"{one.title}: {one.words}" for one in passages]

    def is_far(question: str, quote: str, title: str) -> bool:
        asked, names = meaning(question), any(part.names for part in parts_of(question))
        nearest, near = (
            max(closeness(asked, meaning(one)) for one in others),
            closeness(asked, meaning(f"{title}: {quote}")),
        )
        if not names and max(near, closeness(asked, meaning(quote))) < FAR:
            return True
        return nearest >= NEAR and near < nearest - (MUCH if names else CLEARLY)

    return {
        quote
        for quote, title in quotes
        if all(is_far(question, quote, title) for question in questions)
        and not leads_to(title, [other for other, of in quotes if of != title])
    }


def near_passages(
    every: Sequence[Passage], questions: Sequence[str], quoted: Sequence[str] = ()
) -> tuple[NearPassage, ...]:
    """Choose those that come nearest to the questions, each of these in turn, beside what is quoted."""
    told = [" ".join(quote.split()) for quote in quoted]
    others = [one for one in every if not any(quote in " ".join(one.words.split()) for quote in told)]
    ranked = [[(one, text) for _, one in _ranked(others, text)[:SHOWN]] for text in questions]
    turns = (one for one in chain.from_iterable(zip_longest(*ranked)) if one)
    shown = (NearPassage(title=one.title, url=one.url, words=_shortened(one.words, text)) for one, text in turns)
    return tuple(islice(dict.fromkeys(shown), SHOWN))


def _ranked(every: Sequence[Passage], question: str) -> list[tuple[float, Passage]]:
    """Rank passages against one question: by the rarity of the words they share, and by their closeness in meaning."""
    wanted = dict.fromkeys(content_words(question))
    spread = Counter(word for one in every for word in wanted if word in one.held)
    rare = {word: math.log(1 + len(every) / (1 + spread[word])) for word in wanted}

    @cache
    def worth(text: str, much: float) -> Mapping[str, float]:
        return dict.fromkeys(content_words(text), much)

    def shares(one: Passage) -> float:
        above = {**worth(one.title, OF_TITLE), **worth(one.head, OF_HEADING)}
        return sum(
            much * max(one.held[word] / (one.held[word] + 0.4), above.get(word, 0)) for word, much in rare.items()
        )

    by_words = [shares(one) / (sum(rare.values()) or 1) for one in every]
    order = sorted(range(len(every)), key=lambda at: (-by_words[at], at))[:MOST_WEIGHED]
    weighed = [at for at in order if not is_order(every[at].words)]
    alike = meant(question, [every[at].told(every[at].words) for at in weighed])
    near = {at: close for at, close in zip(weighed, alike, strict=True) if by_words[at] > 0 or close >= FAR}
    scores = {at: BY_WORDS * by_words[at] + close for at, close in near.items()}
    first = sorted(scores, key=lambda at: (-scores[at], at))[:MOST_TAKEN_APART]
    for at in first:
        said = [every[at].told(one) for one in _sentences(every[at].words)]
        scores[at] += max(meant(question, said), default=0.0)
    return [(scores[at], every[at]) for at in sorted(first, key=lambda at: (-scores[at], at))]


def meant(question: str, texts: Sequence[str]) -> list[float]:
    """Say how near each text comes to a question in meaning, as that counts beside the words they share."""
    read, counts = (meaning, 1.0) if meant_by_model([question]) else (direction, BY_TABLE)
    return [counts * max(0.0, closeness(read(question), read(one))) for one in texts]


def meant_by_model(questions: Sequence[str]) -> bool:
    """Tell whether the model that ships can read questions."""
    return all(language_of(question) == "en" and bool(meaning(question)) for question in questions)


def passages_of(texts: Sequence[Document]) -> list[Passage]:
    """Cut documents into passages."""
    return [
        Passage(at, title, url, head, words, Counter(content_words(words)))
        for at, (title, url, text) in enumerate(texts)
        for head, words in _cut(text)
    ]


def _cut(text: str) -> list[tuple[str, str]]:
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


def _sentences(words: str) -> list[str]:
    return [words[one.start : one.end] for one in spans(words)]


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
    while last + 1 < len(sentences) and sentences[last + 1].end - sentences[first].start <= LONGEST:
        last += 1
    while first and sentences[last].end - sentences[first - 1].start <= LONGEST:
        first -= 1
    return words[sentences[first].start : sentences[last].end][:LONGEST].strip()
