"""What a question asks about, in parts that need an answer each; which documents and passages an extractor is shown for it."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil
from typing import Literal

from agents.contracts.fact import NumberedSentence
from agents.contracts.sources import SentenceSpan
from agents.nlp import lang
from agents.nlp.similarity import closeness, direction
from agents.nlp.tokens import content_words, language_of, stem
from agents.offline.questions import is_single_fact
from agents.verify.negation import root
from agents.verify.parsed_text import Name, abbreviations, names, variants

AnswerKind = Literal["who", "when", "figure", "where", "either", "yes_no", "other"]
"""What an answer must hold: a name of somebody, a date, a figure, a place, one of two, something about each, or any words."""

LOOKUPS: frozenset[AnswerKind] = frozenset({"who", "when", "figure", "where"})
"""Kinds of question that one fact settles."""
MOST_OF_A_NAME = 0.67
"""Share of the words of a long name that must be there; of names of one or two words all must."""

PAIRED: frozenset[AnswerKind] = frozenset({"either", "yes_no"})
"""Kinds of question that want something about each of their names."""

_KINDS: tuple[tuple[AnswerKind, str, str], ...] = (
    (
        "figure",
        r"how (?:many|much|often|old|long|high|far|tall|large|big|deep|wide|fast|heavy)|"
        r"what (?:percentage|share|number|proportion|amount)|wie (?:viele?|oft|alt|lange?|hoch|groß|weit)|"
        r"quel(?:le)? (?:part|nombre|pourcentage)|qué porcentaje",
        r"combien|cuánt[oa]s?",
    ),
    (
        "when",
        r"(?:what|which) (?:year|date|day|month|century|decade)|welche[ms]? (?:jahr|datum|tag)|quelle année|qué año",
        r"when|wann|quand|cuándo",
    ),
    ("who", "", r"who|whom|whose|wer|wem|wen|wessen|qui|quién(?:es)?"),
    ("where", "", r"where|wo|woher|où|dónde"),
)
"""What tells a kind anywhere in a question; what tells it where it begins or ends, since within it joins clauses."""
_BEFORE = r"(?:in|on|at|by|to|from|of|with|for|since|until|and|seit|bis|von|mit|an|und|depuis|à|de|par|et|desde|hasta|a|con|y)\s+"
_KIND = {
    kind: re.compile(
        rf"^\W*(?:{_BEFORE})?(?:{asks})(?=\W|$)|(?:^|\W)(?:{asks})\W*$"
        + (rf"|(?:^|\W)(?:{said})(?=\W|$)" if said else ""),
        re.IGNORECASE,
    )
    for kind, said, asks in _KINDS
}
_EITHER = re.compile(r"\b(?:which|who|what|welche\w*|quel\w*|cuál\w*)\b.*\b(?:or|oder|ou|o)\b", re.IGNORECASE)
_YES_NO = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|ist|sind|war|hat|est-ce|es|son)\b", re.IGNORECASE
)
_PART = re.compile(
    r"(?:[,;]\s*|\s+)(?:and|und|et|y)\s+(?=(?:(?:for|in|at|on|by|to|how|with|from) )?"
    r"(?:what|which|who|whom|whose|why|how|when|where|"
    r"was|wer|warum|wie|wann|wo|qui|quand|comment|pourquoi|combien|qué|quién|cómo|cuándo|cuánt\w+|do|does|did|is|are|were|will|should)\b)",
    re.IGNORECASE,
)
_WHICH = re.compile(r"\b(?:which|what|welche\w*|quel\w*|qué|cuál\w*)\b", re.IGNORECASE)
_EACH = re.compile(r"\b(?:each|both|respective\w*|jeweils|beide\w*|chacun\w*|cada un[oa])\b", re.IGNORECASE)
_POINTING = re.compile(
    r"\b(?:it|its|they|them|their|he|she|his|her|these|those|each|both|one|sie|ihr\w*|diese\w*|beide\w*|ils?|elles?|ellos|ellas)\b",
    re.IGNORECASE,
)
"""Words by which a part of a question points at what another part names."""
_WHAT_THERE_IS = re.compile(r"\bwhat (?:do|does|did|can|could|should|will|would|happen\w*)\b", re.IGNORECASE)
_SEVERAL = re.compile(r"\b(?:which|what)\s+[a-z]+[^siu\W]s\b", re.IGNORECASE)
LONGEST_LOOKUP, MOST_PARTS = 240, 4
"""Characters and parts of a question that asks for facts, at most."""
ASIDE = re.compile(r"\s*\([^()]*\)|\s+[-–—|]\s.*$")
_SMALL = frozenset("the of and in a an at on for".split())
FORM = frozenset(
    stem(word)
    for word in (
        "name known called kind type list many much often old long high far tall large big year date day share number percentage "
        "first each both same together common between different following according say tell give person people thing "
        "which one ones also currently today respectively exactly really main"
    ).split()
)
"""Words of asking that no answer repeats."""


@dataclass(frozen=True)
class Question:
    """One part of a question, made ready for holding words against it."""

    text: str
    kind: AnswerKind
    names: tuple[frozenset[str], ...]
    """Each name as the stems of its words; nationalities are none."""
    matter: frozenset[str]
    """Roots of the words that say what is asked of the names."""
    short: frozenset[str] = frozenset()
    """Abbreviations of three letters and more under which the names are known."""
    language: str = "en"
    shown: tuple[str, ...] = ()
    """The names as they are written."""
    is_specific: bool = False
    """It asks for one thing: a person, a date, one of two, or which and what; not how, why or what about."""
    rivals: tuple[frozenset[str], ...] = ()
    """All names of the whole question, where `names` may be one of them."""


@lru_cache(maxsize=1_024)
def parts_of(question: str) -> tuple[Question, ...]:
    """Take a question apart into what needs an answer each: `…, and who founded each of them?` is two parts."""
    sentences = [question[one.start : one.end] for one in lang.spans(question)]
    # What is told before it is asked wants no answer; the names in it are those that the question points at.
    told = [one for one in sentences if not one.endswith("?")] if question.rstrip().endswith("?") else []
    asked = " ".join(one for one in sentences if one not in told) if told else question
    texts = [part.strip(" ,;") for part in _PART.split(asked) if part and part.strip(" ,;?")]
    parts: list[Question] = []
    before = _read(" ".join(told)) if told else None
    named = before.names if before else ()
    for text in texts or [question]:
        one = _read(text)
        own = tuple(name for name in one.names if name)
        if own:
            named = own
        elif named and (of := parts[0] if parts else before):
            one = replace(one, names=named, short=of.short, shown=of.shown)
        if _EACH.search(text) and len(one.names) > 1 and one.kind not in {"either", "yes_no"}:
            parts += [
                replace(one, names=(name,), shown=(said,)) for name, said in zip(one.names, one.shown, strict=True)
            ]
        else:
            parts.append(one)
    return tuple(parts)


def asks_for_facts(question: str) -> bool:
    """Tell a question, in one part or a few, each for a fact about something with a name: it needs no plan but itself.

    `What do the figures show?` asks for what there is, not for a fact.
    """
    parts = parts_of(question)
    return (
        len(question) <= LONGEST_LOOKUP
        and len(parts) <= MOST_PARTS
        and all(part.names and (part.kind in LOOKUPS | PAIRED or _is_single(part)) for part in parts)
    )


def _is_single(part: Question) -> bool:
    wide = _WHAT_THERE_IS.search(part.text) or _SEVERAL.search(part.text)
    return part.is_specific and not wide and is_single_fact(part.text)


def standalone(question: str, whole: str) -> str:
    """Give a question that names nothing, as in `Who founded each of them?`, the names of the whole that it is a part of."""
    if not _POINTING.search(question) or any(part.names for part in parts_of(question)):
        return question
    named = dict.fromkeys(name for part in parts_of(whole) for name in part.shown)
    return f"{question.rstrip(' ?？')}, {' and '.join(named)}?" if named else question


def _read(text: str) -> Question:
    language = language_of(text)
    found = [
        name for name in names(text, language) if name.sure and not all(is_nationality(word) for word in name.words)
    ]
    apart = {stems: said for name in reversed(found) for stems, said in reversed(list(_apart(name)))}
    each = tuple(reversed(apart))
    held = frozenset().union(*each) if each else frozenset()
    telling = frozenset(content_words(text, language)) - FORM
    start = _WHICH.search(text)
    after = plain_words(text[start.end() :]) if start else []
    # Of `in what city` a name is wanted: no answer need call it a city. `What cities` wants to be told which are meant.
    sort = next((word for word in after if not is_nationality(word)), "")
    matter = frozenset(
        root(word)
        for word in plain_words(text)
        if len(word) > 1
        and stem(word, language) in telling
        and stem(word) not in held
        and (word != sort or sort.endswith("s"))
        and not word.isdigit()
    )
    kind: AnswerKind = "other"
    if _YES_NO.match(text):
        kind = "yes_no"
    elif len(each) > 1 and _EITHER.search(text):
        kind = "either"
    else:
        kind = next((one for one, *_ in _KINDS if _KIND[one].search(text)), "other")
    short = frozenset(one.upper() for one in abbreviations(text, tuple(found)) if len(one) > 2)
    return Question(
        text,
        kind,
        each,
        matter,
        short,
        language,
        tuple(apart[name] for name in each),
        kind != "other" or bool(start),
        each,
    )


def is_nationality(word: str) -> bool:
    """Tell a word that only says which country somebody or something is of."""
    return word in _demonyms() or bool(re.fullmatch(r"[a-z]{3,}(?:ians?|icans?|eans?|ese)", word))


def nationalities(text: str) -> frozenset[str]:
    """Give the roots of the words that say of which country somebody or something is: `English`, no `musician`."""
    return frozenset(
        root(word.casefold())
        for word in re.findall(r"[^\W\d_]+", text)
        if word[:1].isupper() and is_nationality(word.casefold())
    )


@lru_cache(maxsize=1)
def _demonyms() -> frozenset[str]:
    return frozenset(word for _, *others in lang.rows("demonyms") for word in others)


def _apart(name: Name) -> Iterable[tuple[frozenset[str], str]]:
    """`Nantong and Jingdezhen` are two names."""
    for part in re.split(r"\s+(?:and|und|et|y|&)\s+", name.shown):
        stems = frozenset(stem(word) for word in plain_words(part) if word in name.words and len(word) > 1)
        if stems:
            yield stems, part


def plain_words(text: str) -> list[str]:
    """Give the words of a text as they are compared: casefolded, without the `’s` of belonging."""
    return [
        word.casefold().removesuffix("'s").removesuffix("’s") for word in re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text)
    ]


@lru_cache(4096)
def stems_of(text: str) -> frozenset[str]:
    """Give the stems under which names are looked for in a text."""
    plain = plain_words(text)
    return frozenset(stem(word) for word in (*plain, *variants(plain)))


def names_held(question: Question, held: frozenset[str]) -> tuple[frozenset[str], ...]:
    """Give the names of a question that a text holds; words that two of its names share tell neither."""
    return tuple(
        name
        for name in question.names
        if len(name & held) >= (len(name) if len(name) < 3 else ceil(MOST_OF_A_NAME * len(name)))
        and all(name - other <= held for other in question.rivals if name & other and name - other)
    )


def is_named(question: Question, title: str) -> bool:
    """Tell whether a document is called after what a question asks about: where nothing answers, it is the first step."""
    called = stems_of(ASIDE.sub("", title)) - _SMALL
    return any(2 * len(name & called) >= len(called) for name in names_held(question, called))


def is_called(question: Question, title: str) -> bool:
    """Tell whether a document is called just as what a question asks about, not `Cotula australis` for `Cotula`."""
    called = stems_of(ASIDE.sub("", title)) - _SMALL
    return bool(names_held(question, called)) and called <= stems_of(question.text)


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
