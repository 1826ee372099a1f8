"""What a role is given is made to fit its model: summarised, divided, and no id, number, quote's source or claim is lost.

Raw texts, facts and quotes stay in the job's store whatever happens here. Only what stands in one prompt shrinks: long
texts to those of their sentences that say most of what is asked, with all their citations; passages to those that speak to
the questions. No model is asked to do it: it would have to read all that is to be saved.
"""

import math
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeVar

from agents.contracts.fact import ExtractionInput, NumberedSentence
from agents.contracts.finding import Section, SectionInput
from agents.contracts.frozen import Frozen
from agents.core.budget import NOTHING, Deadline, Spent, spent_by
from agents.core.errors import ModelError
from agents.core.role import AskContext, In, OnText, Out, Role, RoleAnswer, ask, estimated_tokens
from agents.nlp.lang import spans
from agents.nlp.similarity import closeness, direction
from agents.nlp.tokens import content_words
from agents.offline.questions import names_held, parts_of, stems_of

LOW_SHARE = 0.25
"""Share of the job's tokens below which every input is kept short (specification, section 12)."""
LOW_TOKENS = 4_000
"""Tokens of one input from then on."""
STATE_TOKENS = 50_000
"""Tokens that no input exceeds in any case (specification, section 12)."""
WRITER_TOKENS = 16_000
"""Tokens of what a writer is given: room for what it writes is worth more than one more quote."""
TRIES = 3
"""Requests with ever less in them before an input that is too long is a failure."""
LEAST_TOKENS = 200

_CHARS = 4
_SHORTEST = 80  # characters below which no text is cut: names, ids and addresses stay whole
_LONGEST = 12_000  # characters of a text from which it is cut, step by step
_MARKS = re.compile(r"\[[fF]\d+\]")
_TEXTS = frozenset(
    "statement quote text evidence statements sections report quotes claims verdicts unsupported".split()
)  # fmt: skip
"""Fields that hold what was found or written; all others are what was asked, and stay."""

_ASKED = ("query", "question", "queries", "title", "titles", "objective", "questions", "parts")
"""Fields that say what is asked."""

Given = TypeVar("Given", bound=Frozen)


def size_of(given: Frozen) -> int:
    """Estimate the tokens of an input."""
    return estimated_tokens(given.model_dump_json())


def compacted(given: Given, tokens: int) -> Given:
    """Make an input smaller, to about `tokens` where that is possible; equal when it fits already.

    Every entry of every list stays, with its number, but for sentences of a source, of which those are kept that speak
    to the questions: the others stay in the store, under the numbers that they have there.
    """
    if size_of(given) <= tokens:
        return given
    if isinstance(given, ExtractionInput):
        bare = tuple(one.model_copy(update={"sentences": ()}) for one in given.sources)
        around = size_of(given.model_copy(update={"sources": bare}))
        room = max(LEAST_TOKENS, tokens - around) * _CHARS * 2 // 3  # numbers and signs around each sentence
        whole = sum(size_of(one) for one in given.sources)
        asked = (*given.questions, given.objective)
        kept = tuple(
            one.model_copy(update={"sentences": choose(one.sentences, asked, room * size_of(one) // whole)})
            for one in given.sources
        )
        return given.model_copy(update={"sources": kept})
    smaller, longest, fields = given, _LONGEST, given.model_dump()
    about = frozenset(content_words(" ".join(str(fields[name]) for name in _ASKED if fields.get(name))))
    while size_of(smaller) > tokens and longest > _SHORTEST:
        longest = max(_SHORTEST, longest * 2 // 3)
        smaller = type(given).model_validate(_cut(fields, longest, about))
    return smaller


def divided(given: Frozen) -> tuple[SectionInput, ...]:
    """Divide what a section is written from in two, to be written one after the other; empty where it can't be."""
    if not isinstance(given, SectionInput) or len(given.facts) < 2:
        return ()
    half = len(given.facts) // 2
    return tuple(given.model_copy(update={"facts": part}) for part in (given.facts[:half], given.facts[half:]))


async def in_parts(
    parts: tuple[SectionInput, ...], ask_for: Callable[[SectionInput], Awaitable[RoleAnswer[Section]]]
) -> RoleAnswer[Section]:
    """Write a section part by part where all of it is too long; a part that fails is there in its quotes."""
    written: list[RoleAnswer[Section]] = []
    texts, usage, failure = list[str](), NOTHING, None
    for part in parts:
        try:
            asked = await ask_for(part)
        except ModelError as error:
            failure, usage = error, usage + spent_by(error)
            texts += [f"“{' '.join(fact.quote.split())}” [f{fact.number}]" for fact in part.facts]
        else:
            written.append(asked)
            texts.append(asked.output.markdown)
            usage += asked.usage
    if failure is not None and not written:
        raise failure
    whole = {"output": Section(markdown="\n\n".join(texts)), "usage": usage}
    return written[0].model_copy(update={**whole, "compacted": "written in parts: the model takes no more"})


@dataclass
class Rooms:
    """How much a job's models take, as far as they have shown it; asked and taught inside steps only."""

    tokens: dict[str, int] = field(default_factory=dict)

    def room(self, model: str) -> int:
        """Give the tokens of an input that a model takes for sure."""
        return min(STATE_TOKENS, self.tokens.get(model, STATE_TOKENS))

    def learn(self, model: str, sent: int, around: int, takes: int | None) -> None:
        """Note that a model refused an input of `sent` tokens with `around` tokens of instructions.

        Whatever it is said to take, less than was refused is tried next.
        """
        fits = sent if takes is None else takes - around
        self.tokens[model] = max(LEAST_TOKENS, min(fits, sent * 2 // 3))


async def ask_fitting(
    role: Role[In, Out], given: In, run: AskContext, rooms: Rooms, on_text: OnText | None = None
) -> RoleAnswer[Out]:
    """Ask a role with an input that fits: compacted beforehand where a trigger says so, and after an overflow.

    Raises:
        ModelError: the provider failed; with the fault `overflow` when even the third, smallest input was too long.
        BadOutput, PromptError: as `ask`.
    """
    model = run.models[role.name]
    if not model.reasons:
        return await ask(role, given, run, on_text)
    room, why = _room(role, run.deadline, rooms.room(model.name))
    small = compacted(given, room)
    lost = NOTHING
    for number in range(1, TRIES + 1):
        try:
            asked = await ask(role, small, run, on_text)
        except ModelError as error:
            if error.fault != "overflow":
                raise
            before, why = small, "the model takes no more"
            around = estimated_tokens(run.prompts[role.prompt_name].system)
            lost += spent_by(error)
            rooms.learn(model.name, size_of(small), around, error.takes)
            small = compacted(small, rooms.room(model.name))
            if number == TRIES or small == before:
                error.spent = Spent(role=role.name, model=model.name, usage=lost)
                raise  # what was refused is never sent again
            continue
        asked = asked.model_copy(update={"usage": lost + asked.usage}) if lost != NOTHING else asked
        return asked if small == given else asked.model_copy(update={"compacted": why})
    raise AssertionError("the last try returns or raises")


def _room(role: Role[In, Out], deadline: Deadline, takes: int) -> tuple[int, str]:
    """Say how many tokens an input may have, and which trigger says so."""
    bounds = [(takes, "the model takes no more" if takes < STATE_TOKENS else "the state is large")]
    if role.name == "synthesizer":
        bounds.append((WRITER_TOKENS, "room for writing"))
    share = deadline.tokens_share()
    if share is not None and share < LOW_SHARE:
        bounds.append((LOW_TOKENS, "less than a quarter of the tokens is left"))
    return min(bounds)


def _cut(value: object, longest: int, asked: frozenset[str], name: str = "") -> object:
    """Summarise every text of what was found or written."""
    if isinstance(value, dict):
        return {key: _cut(one, longest, asked, key) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_cut(one, longest, asked, name) for one in value]
    return summarised(value, longest, asked) if isinstance(value, str) and name in _TEXTS else value


def summarised(text: str, longest: int, asked: frozenset[str] = frozenset()) -> str:
    """Keep those sentences of a text that say most of what is asked, in their order, and the citations of all.

    Of equals those with figures come first, then the earlier ones. A sentence too long by itself is cut at a word.
    """
    if len(text) <= longest:
        return text
    sentences = _sentences(text)
    worth = [
        (-len(asked & held), not any(map(str.isdigit, _MARKS.sub("", one))), at)
        for at, (one, held) in enumerate(sentences)
    ]
    kept: list[int] = []
    room = longest
    for _, _, at in sorted(worth):
        if len(sentences[at][0]) <= room:
            kept.append(at)
            room -= len(sentences[at][0]) + 1
    if kept:
        shown = [("… " if at and at - 1 not in kept else "") + sentences[at][0] for at in sorted(kept)]
        said = " ".join(shown) + (" …" if len(sentences) - 1 not in kept else "")
    else:  # never within a word or a figure
        opening = text[:longest]
        said = (opening.rsplit("[", 1)[0].rpartition(" ")[0] or opening).rstrip() + " …"
    lost = dict.fromkeys(mark for mark in _MARKS.findall(text) if mark not in said)
    return f"{said} {''.join(lost)}".rstrip()


@lru_cache(maxsize=1_024)
def _sentences(text: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """Take a text apart into sentences with their citations and content words; lines that break them go."""
    found = (" ".join(text[one.start : one.end].split()) for one in spans(text))
    return tuple((one, frozenset(content_words(one))) for one in found)


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
    found = [direction(f"{title}. {passage}") for passage in passages]
    # A direction without letters that the table holds says nothing: such a text is read.
    return not all((*wanted, *found)) or any(
        closeness(one, other) >= WORTH_READING for one in wanted for other in found
    )


def choose(
    numbered: Sequence[NumberedSentence], questions: tuple[str, ...], max_chars: int = MAX_CHARS
) -> tuple[NumberedSentence, ...]:
    """Choose passages for the questions, in the order of the source; all of it when it is short enough."""
    if sum(len(sentence.text) for sentence in numbered) <= max_chars:
        return tuple(numbered)
    # Fewer sentences to a passage where little fits, so that the opening does not take all of it.
    window = WINDOW if max_chars >= MAX_CHARS // 4 else WINDOW // 4
    windows = [numbered[at : at + window] for at in range(0, len(numbered), window)]
    passages = [" ".join(sentence.text for sentence in window) for window in windows]
    sizes = [sum(len(sentence.text) for sentence in window) for window in windows]
    scores = _scores(passages, questions)
    # The opening says what the source is; it is always shown.
    order = sorted(range(1, len(windows)), key=lambda at: (-scores[at], at))
    chosen, room = {0}, max_chars - sizes[0]
    for at in order:
        if sizes[at] <= room:
            chosen.add(at)
            room -= sizes[at]
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
