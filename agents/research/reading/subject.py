"""What a question asks about, what kind of answer it wants, and whether words give it. By code alone, so no model can raise it.

Bars are set on HotpotQA and MuSiQue (`docs/reading.md`): a fact must name what is asked about; an answer must besides
speak of what is asked of it, and hold the kind of thing that is asked for.

Which sources are worth a call, and which sentences of a long one an extractor is shown: chosen for its questions.
"""

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
from agents.nlp.embeddings import closeness, direction
from agents.nlp.sentence_split import spans
from agents.nlp.tokens import content_words, language_of, stem, words
from agents.verify.negation import alike, root
from agents.verify.parsed_text import Name, abbreviations, names, variants

AnswerKind = Literal["who", "when", "figure", "where", "either", "yes_no", "other"]
"""What an answer must hold: a name of somebody, a date, a figure, a place, one of two, something about each, or any words."""

LOOKUPS: frozenset[AnswerKind] = frozenset({"who", "when", "figure", "where"})
"""Kinds of question that one fact settles."""
MOST_OF_A_NAME = 0.67
"""Share of the words of a long name that must be there; of names of one or two words all must."""
SAME_TALK = 0.34
"""Share of a question's telling words that words must have to speak of it where it names nothing."""
SHORTEST_TOLD = 40
"""Characters from which a text's language is told."""
NEAR_IN_MEANING = 0.5
"""Closeness in meaning that stands for a shared word beside a name."""
OF_THE_MATTER = 0.5
"""Share of the words that say what is asked of a subject which an answer must have."""

NEARLY_ALL = 0.86
"""The same share for the words together with those around them and before them: what is missing is what was asked."""
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
_IN_TIME = re.compile(
    r"\b(?:first|earlier|earliest|older|oldest|later|latest|younger|newer|before|last|zuerst|älter|früher)\b",
    re.IGNORECASE,
)
_IN_SIZE = re.compile(
    r"\b(?:more|most|fewer|larger|largest|bigger|biggest|higher|highest|longer|longest|taller|mehr|größer|höher)\b",
    re.IGNORECASE,
)
_PART = re.compile(
    r"(?:[,;]\s*|\s+)(?:and|und|et|y)\s+(?=(?:(?:for|in|at|on|by|to|how|with|from) )?"
    r"(?:what|which|who|whom|whose|why|how|when|where|"
    r"was|wer|warum|wie|wann|wo|qui|quand|comment|pourquoi|combien|qué|quién|cómo|cuándo|cuánt\w+|do|does|did|is|are|were|will|should)\b)",
    re.IGNORECASE,
)
_WHICH = re.compile(r"\b(?:which|what|welche\w*|quel\w*|qué|cuál\w*)\b", re.IGNORECASE)
_EACH = re.compile(r"\b(?:each|both|respective\w*|jeweils|beide\w*|chacun\w*|cada un[oa])\b", re.IGNORECASE)
_OF_SOME = re.compile(
    r"\bof (?:the|these|those) (?:two|three|four)\b|\bof (?:them|both)\b|\b(?:der|von) (?:beiden|drei)\b|\bdes deux\b|\bde los dos",
    re.IGNORECASE,
)
"""A choice among things that the question does not name: what is to be compared can't be told."""
_POINTING = re.compile(
    r"\b(?:it|its|they|them|their|he|she|his|her|these|those|each|both|one|sie|ihr\w*|diese\w*|beide\w*|ils?|elles?|ellos|ellas)\b",
    re.IGNORECASE,
)
"""Words by which a part of a question points at what another part names."""
_YEAR = re.compile(r"(?<!\d)(?:1[0-9]|20)\d\d(?!\d)")
_DATE_WORDS = re.compile(
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december|\d{1,2}(?:st|nd|rd|th)? century|"
    r"januar|februar|märz|mai|juni|juli|oktober|dezember|janvier|février|mars|avril|juin|juillet|août|enero|marzo|mayo)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million|half|third|once|twice|"
    r"zwei|drei|vier|fünf|hälfte|deux|trois|quatre|moitié|dos|tres|cuatro|mitad)\b",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"\d+")
_PLACED = re.compile(r"\b(?:in|from|at|near|around|outside|aus|bei|à|en|desde)\s+(?:the\s+)?$", re.IGNORECASE)
_ASIDE = re.compile(r"\s*\([^()]*\)|\s+[-–—|]\s.*$")
_SMALL = frozenset("the of and in a an at on for".split())
_FORM = frozenset(
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
    rivals: tuple[frozenset[str], ...] = ()
    """All names of the whole question, where `names` may be one of them."""


@lru_cache(maxsize=1_024)
def parts_of(question: str) -> tuple[Question, ...]:
    """Take a question apart into what needs an answer each: `…, and who founded each of them?` is two parts."""
    texts = [part.strip(" ,;") for part in _PART.split(question) if part and part.strip(" ,;?")]
    parts: list[Question] = []
    named: tuple[frozenset[str], ...] = ()
    for text in texts or [question]:
        one = _read(text)
        own = tuple(name for name in one.names if name)
        if own:
            named = own
        elif named:
            one = replace(one, names=named, short=parts[0].short, shown=parts[0].shown)
        if _EACH.search(text) and len(one.names) > 1 and one.kind not in {"either", "yes_no"}:
            parts += [
                replace(one, names=(name,), shown=(said,)) for name, said in zip(one.names, one.shown, strict=True)
            ]
        else:
            parts.append(one)
    return tuple(parts)


def standalone(question: str, whole: str) -> str:
    """Give a question that names nothing, as in `Who founded each of them?`, the names of the whole that it is a part of."""
    if not _POINTING.search(question) or any(part.names for part in parts_of(question)):
        return question
    named = dict.fromkeys(name for part in parts_of(whole) for name in part.shown)
    return f"{question.rstrip(' ?？')}, {' and '.join(named)}?" if named else question


def _read(text: str) -> Question:
    language = language_of(text)
    found = [
        name for name in names(text, language) if name.sure and not all(_is_nationality(word) for word in name.words)
    ]
    apart = {stems: said for name in reversed(found) for stems, said in reversed(list(_apart(name)))}
    each = tuple(reversed(apart))
    held = frozenset().union(*each) if each else frozenset()
    telling = frozenset(content_words(text, language)) - _FORM
    start = _WHICH.search(text)
    after = _plain_words(text[start.end() :]) if start else []
    # Of `in what city` a name is wanted: no answer need call it a city. `What cities` wants to be told which are meant.
    sort = next((word for word in after if not _is_nationality(word)), "")
    matter = frozenset(
        root(word)
        for word in _plain_words(text)
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
    return Question(text, kind, each, matter, short, language, tuple(apart[name] for name in each), each)


def _is_nationality(word: str) -> bool:
    """Tell a word that only says which country somebody or something is of."""
    return word in _demonyms() or bool(re.fullmatch(r"[a-z]{3,}(?:ians?|icans?|eans?|ese)", word))


@lru_cache(maxsize=1)
def _demonyms() -> frozenset[str]:
    return frozenset(word for _, *others in lang.rows("demonyms") for word in others)


def _apart(name: Name) -> Iterable[tuple[frozenset[str], str]]:
    """`Nantong and Jingdezhen` are two names."""
    for part in re.split(r"\s+(?:and|und|et|y|&)\s+", name.shown):
        stems = frozenset(stem(word) for word in _plain_words(part) if word in name.words and len(word) > 1)
        if stems:
            yield stems, part


def _plain_words(text: str) -> list[str]:
    return [
        word.casefold().removesuffix("'s").removesuffix("’s") for word in re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text)
    ]


@lru_cache(4096)
def stems_of(text: str) -> frozenset[str]:
    """Give the stems under which names are looked for in a text."""
    plain = _plain_words(text)
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
    called = stems_of(_ASIDE.sub("", title)) - _SMALL
    return any(2 * len(name & called) >= len(called) for name in names_held(question, called))


def is_about(question: Question, quote: str, title: str = "", head: str = "") -> bool:
    """Tell whether words speak of what a question asks about.

    Args:
        question: one part.
        quote: the words.
        title: of their document: who is meant by `he` stands there.
        head: the document's first words.
    """
    if question.names and not names_held(question, stems_of(f"{quote} {title} {head}")):
        return bool(question.short & set(quote.split()))
    if is_foreign(question, quote, head):
        return True  # nothing can be compared; who answers in another language is held against its words later
    if question.names:
        return (
            not question.matter
            or is_named(question, title)
            or share(question.matter, quote) > 0
            or _near(question, quote, title)
        )
    return _shares_talk(question, f"{quote} {title} {head}", SAME_TALK)


def _shares_talk(question: Question, text: str, least: float) -> bool:
    """Tell whether a text has a share of a question's telling words, two at least where there are two."""
    telling = frozenset(content_words(question.text, question.language)) - _FORM
    held = frozenset(content_words(text, question.language))
    return len(telling & held) >= max(least * len(telling), min(2, len(telling)))


def is_foreign(question: Question, quote: str, head: str = "") -> bool:
    """Tell words in another language than the question's; of a few words alone nobody can tell."""
    return len(quote) + len(head) >= SHORTEST_TOLD and _language(f"{quote} {head}") != question.language


def _near(question: Question, quote: str, title: str) -> bool:
    return closeness(direction(question.text), direction(f"{title}. {quote}")) >= NEAR_IN_MEANING


def share(matter: frozenset[str], quote: str) -> float:
    """Give the share of a question's words that a text has; all of none."""
    held = _roots(quote)
    return (
        sum(one in held or any(alike(one, other) for other in held) for one in matter) / len(matter) if matter else 1.0
    )


@lru_cache(4096)
def _roots(quote: str) -> frozenset[str]:
    return frozenset(root(word) for word in _plain_words(quote))


@lru_cache(4096)
def _sentences(quote: str) -> tuple[str, ...]:
    return tuple(quote[span.start : span.end] for span in spans(quote))


@lru_cache(4096)
def _tokens(text: str) -> str:
    return f" {' '.join(words(text))} "


_language = lru_cache(4096)(language_of)


def leads_to(title: str, quotes: Sequence[str]) -> bool:
    """Tell whether words that are to the point name a document: the next step of a question that takes several."""
    name = tuple(words(_ASIDE.sub("", title)))
    spoken = " ".join(name)
    return len(spoken) > 3 and any(
        f" {spoken} " in _tokens(quote) and not _within_another(spoken, quote) for quote in quotes
    )


def _within_another(name: str, quote: str) -> bool:
    """Tell a name that stands in a text only as a part of another one: `Virginia` in `West Virginia`."""
    named = [" ".join(words(one.shown)) for one in names(quote, _language(quote))]
    return name not in named and any(f" {name} " in f" {one} " for one in named)


def answers(question: Question, quote: str, title: str = "", head: str = "", lead: Sequence[str] = ()) -> bool:
    """Tell whether words answer a question: about all that it names, with nearly all it asks, and the kind of thing asked for.

    Words of its first step hold most of a question of two steps; what they lack is what was asked.

    Args:
        question: one part; of an `either` or `yes_no` one this tells about one of its names only (see `settled_by`).
        quote: the words.
        title: of their document.
        head: its first words.
        lead: words to the point that name their document: the steps before.
    """
    if not question.names and _OF_SOME.search(question.text):
        return False
    around = " ".join((quote, title, head, *lead))
    if len(names_held(question, stems_of(around))) < len(question.names) and not question.short & set(around.split()):
        return False
    if not set(_NUMBERS.findall(question.text)) <= set(_NUMBERS.findall(around)):
        return False
    if is_foreign(question, quote, head):
        return bool(question.names) and question.kind != "other" and _has_kind(question, quote)
    if not question.names and not _shares_talk(question, around, SAME_TALK if question.matter else MOST_OF_A_NAME):
        return False
    if share(question.matter, around) < (OF_THE_MATTER if question.kind in PAIRED else NEARLY_ALL):
        return False
    said_before = " ".join(lead)
    new = frozenset(word for word in question.matter if not lead or not share(frozenset({word}), said_before))
    # The name or date must stand where it is said what it is the name or date of.
    return any(
        (question.kind in PAIRED or share(new, sentence) >= OF_THE_MATTER) and _has_kind(question, sentence)
        for sentence in _sentences(quote)
    )


def speaks_of(question: Question, quote: str) -> bool:
    """Tell whether words hold half of what is asked and the kind of thing asked for: near an answer, where they are none."""
    return any(
        share(question.matter, sentence) >= OF_THE_MATTER and _has_kind(question, sentence)
        for sentence in _sentences(quote)
    )


def _has_kind(question: Question, quote: str) -> bool:
    match question.kind:
        case "when":
            return bool(_YEAR.search(quote) or _DATE_WORDS.search(quote))
        case "figure":
            return bool(_NUMBER.search(quote))
        case "who" | "where":
            return not quote.isascii() or _names_another(question, quote)
        case "either" if _IN_TIME.search(question.text):
            return bool(_YEAR.search(quote) or _DATE_WORDS.search(quote))
        case "either" if _IN_SIZE.search(question.text):
            return bool(_NUMBER.search(quote))
    return True


Row = tuple[str, str, str, str]
"""Words, title and head of their document, and what tells independent sources apart."""


def settled_by(question: Question, rows: Sequence[Row]) -> int:
    """Count the sources whose words answer a question; one that asks about two things needs an answer for each."""
    if question.kind in PAIRED and len(question.names) > 1:
        return min(settled_by(replace(question, names=(name,)), rows) for name in question.names)
    return len({source for quote, title, head, source in rows if answers(question, quote, title, head)})


def _names_another(question: Question, quote: str) -> bool:
    """Tell whether words name somebody beside what was asked about; for a person, not only where something is or comes from."""
    asked = frozenset[str]().union(*question.names)
    place_ended = -1
    for name in names(quote, _language(quote)):
        before = quote[max(0, name.start - 12) : name.start]
        is_place = bool(_PLACED.search(before)) or (name.start - place_ended <= 2 and place_ended > 0)
        if is_place:
            place_ended = name.end
        known = {stem(word) for word in name.words} <= asked or all(_is_nationality(word) for word in name.words)
        if not known and name.sure and not (is_place and question.kind == "who"):
            return True
    return False


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


def is_worth_reading(title: str, text: str, questions: Sequence[str]) -> bool:
    """Tell whether a model should be shown a document: it names what is asked about, or speaks of the same."""
    parts = [part for question in questions for part in parts_of(question)]
    held = stems_of(f"{title} {text[:MAX_COMPARED]}")
    if any(not part.names or names_held(part, held) or part.short & set(text.split()) for part in parts):
        return True
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
