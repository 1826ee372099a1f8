"""Whether words speak of what a question asks about, and whether they answer it: by code alone, so no model can raise it.

Bars are set on HotpotQA and MuSiQue (`docs/reading.md`). An answer holds nearly all that is asked, together with its document
and the words that led to it: the first step of a question of two steps never does.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import zip_longest

from agents.contracts.fact import Fact
from agents.contracts.finding import AnswerStatus
from agents.contracts.sources import SourceCard
from agents.nlp import lang
from agents.nlp.similarity import closeness, direction
from agents.nlp.tokens import content_words, language_of, stem, words, year_spans, years_in
from agents.offline import questions as reader
from agents.offline.terms import listed, opening
from agents.verify.dates import dates
from agents.verify.figures import Figure, figures
from agents.verify.negation import alike, denies, root
from agents.verify.numerals import units
from agents.verify.parsed_text import names

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
_LIFE = re.compile(
    r"\((?:\w+ )?[^()\d]{0,40}(?:\d{1,2}[^()\d]{1,20})?\d{3,4}(?:, [^()\d]{2,30})? ?[–-] ?[^()\d]{0,12}\d{1,2}\b[^()]{1,12}"
    r"\d{3,4}(?:, [^()\d]{2,30})?\)"
)
"""Dates of birth and death in brackets behind a name, each with its place where that is told."""
_REASON = re.compile(r",\s(?:since|as|for|da|denn)\s|\b(?:on the grounds?|so that|damit)\b", re.IGNORECASE)
"""What gives a reason only where a clause begins with it."""
_NUMBERS = re.compile(r"\d+")
_WHOSE = re.compile(r"\bof\b|['’]s\b")
_PLACED = re.compile(r"\b(?:in|from|at|near|around|outside|aus|bei|à|en|desde)\s+(?:the\s+)?$", re.IGNORECASE)


def is_about(question: reader.Question, quote: str, title: str = "", head: str = "") -> bool:
    """Tell whether words speak of what a question asks about.

    Who is meant by `he` stands in the title of their document, or in its first words (`head`).
    """
    if question.names and not reader.names_held(question, reader.stems_of(quote, title, head)):
        return bool(question.short & set(quote.split()))
    if is_foreign(question, quote, head):
        return True  # nothing can be compared; who answers in another language is held against its words later
    if question.names:
        if not question.matter or reader.is_named(question, title) or share(question.matter, quote) > 0:
            return True
        return closeness(direction(question.text), direction(f"{title}. {quote}")) >= NEAR_IN_MEANING
    # What the title says every sentence of a document is about: one that answers for one thing says more of what is asked.
    more = frozenset(word for word in question.matter if not _says(word, title))
    narrow = question.kind in reader.LOOKUPS or question.kind == "yes_no"
    if narrow and more and not share(more, quote):
        return False
    return _shares_talk(question, f"{quote} {title} {head}", SAME_TALK)


def speaks_to(fact: Fact, title: str, head: str, questions: Iterable[str]) -> bool:
    """Tell whether a fact of a document speaks of what any of some questions asks about."""
    said = f"{fact.heading} {fact.quote}"
    return any(is_about(part, said, title, head) for text in questions for part in reader.parts_of(text))


def _shares_talk(question: reader.Question, text: str, least: float) -> bool:
    """Tell whether a text has a share of a question's telling words, two at least where there are two."""
    telling = frozenset(content_words(question.text, question.language)) - reader.FORM
    held = frozenset(content_words(text, question.language))
    return len(telling & held) >= max(least * len(telling), min(2, len(telling)))


def is_foreign(question: reader.Question, quote: str, head: str = "") -> bool:
    """Tell words in another language than the question's; of a few words alone nobody can tell."""
    return len(quote) + len(head) >= SHORTEST_TOLD and _language(f"{quote} {head}") != question.language


def share(matter: frozenset[str], quote: str) -> float:
    """Give the share of a question's words that a text has; all of none."""
    return sum(_says(one, quote) for one in matter) / len(matter) if matter else 1.0


@lru_cache(65_536)
def _says(word: str, quote: str) -> bool:
    held = _roots(quote)
    if word in held or any(alike(word, other) for other in held):
        return True
    measured = _measured().get(word)  # of few words a size is asked, and to read the figures of a text takes long
    return measured is not None and not measured.isdisjoint(_sizes(quote))


@cache
def _measured() -> Mapping[str, frozenset[str]]:
    """Give the dimensions of what a word asks the size of, by its root: an area is told in hectares."""
    rows = ((frozenset(dimensions.split(",")), asked) for dimensions, *asked in lang.rows("measured"))
    return {root(word): dimensions for dimensions, asked in rows for word in asked}


@lru_cache(4096)
def _sizes(quote: str) -> frozenset[str]:
    found = figures(quote, _language(quote), False)
    return frozenset("share" if one.kind == "fraction" else one.dimension for one in found)


@lru_cache(4096)
def _roots(quote: str) -> frozenset[str]:
    lived = ("born", "died") if _LIFE.search(quote) else ()
    return frozenset(root(word) for word in (*reader.plain_words(quote), *lived))


@lru_cache(4096)
def _sentences(quote: str) -> tuple[str, ...]:
    return tuple(quote[span.start : span.end] for span in lang.spans(quote))


@lru_cache(4096)
def _tokens(text: str) -> str:
    return f" {' '.join(words(text))} "


_language = lru_cache(4096)(language_of)


def leads_to(title: str, quotes: Sequence[str]) -> bool:
    """Tell whether words that are to the point name a document: the next step of a question that takes several."""
    name = _named(title)
    return len(name) > 5 and any(
        name in _tokens(quote) and not _within_another(name.strip(), quote) for quote in quotes
    )


@lru_cache(4096)
def _named(title: str) -> str:
    return _tokens(reader.ASIDE.sub("", title))


@lru_cache(4096)
def _within_another(name: str, quote: str) -> bool:
    """Tell a name that stands in a text only as a part of another one: `Virginia` in `West Virginia`."""
    named = [" ".join(words(one.shown)) for one in names(quote, _language(quote))]
    return name not in named and any(f" {name} " in f" {one} " for one in named)


def answers(
    question: reader.Question, quote: str, title: str = "", head: str = "", lead: Sequence[str] = (), *, above: str = ""
) -> bool:  # fmt: skip
    """Tell whether words answer a question: about all that it names, with nearly all it asks, and the kind of thing asked for.

    Words of its first step hold most of a question of two steps; what they lack is what was asked.

    Of an `either` or `yes_no` question this tells about one of its names only (see `settled_by`). `lead` are words to the
    point that name the document: the steps before. `above` is the heading of the words: what it asks they need not repeat.
    """
    if not question.names and listed("of_some").search(question.text):
        return False  # what is to be compared can't be told
    around = " ".join((quote, title, head, above, *lead))
    held = reader.names_held(question, reader.stems_of(quote, title, head, above, *lead))
    if len(held) < len(question.names) and not question.short & set(around.split()):
        return False
    spans = year_spans(question.text)
    within = {str(year) for span in spans for year in span}
    if not set(_NUMBERS.findall(question.text)) - within <= set(_NUMBERS.findall(around)):
        return False
    if spans and years_in(around).isdisjoint(*spans):
        return False
    if is_foreign(question, quote, head):
        return bool(question.names) and question.kind != "other" and _has_kind(question, quote)
    if not question.names and not _shares_talk(
        question, around, SAME_TALK if question.matter else reader.MOST_OF_A_NAME
    ):
        return False
    asked = question.matter
    if question.kind in reader.PAIRED and reader.nationalities(quote):
        asked -= reader.nationalities(question.text)  # who is English is told from who is American
    # Of the spouse of a film's director, words on some spouse say nothing because the film's first words name a director.
    near = (
        " ".join((quote, above, *lead)) if question.kind == "who" and len(_WHOSE.findall(question.text)) > 1 else around
    )
    if share(asked, near) < (OF_THE_MATTER if question.kind in reader.PAIRED and question.names else NEARLY_ALL):
        return False
    unnamed = question.names and not reader.names_held(question, reader.stems_of(quote))
    if unnamed and question.kind == "other" and len(asked) == 1:
        return False  # a word in common, on a page about the same thing
    said_before = " ".join(lead)
    new = frozenset(word for word in question.matter if not lead or not share(frozenset({word}), said_before))
    if lead and not new and question.kind == "who":
        return False
    # The name or date must stand where it is said what it is the name or date of.
    return any(
        (question.kind in reader.PAIRED or share(new, f"{above} {sentence}") >= OF_THE_MATTER)
        and _has_kind(question, sentence)
        and _says_how_many(question, sentence)
        and _is_its_figure(question, sentence)
        for sentence in _sentences(quote)
    ) and _says_why(question, f"{above} {quote}")


def speaks_of(question: reader.Question, quote: str) -> bool:
    """Tell whether words hold half of what is asked and the kind of thing asked for: near an answer, where they are none."""
    return any(
        share(question.matter, sentence) >= OF_THE_MATTER and _has_kind(question, sentence)
        for sentence in _sentences(quote)
    )


def _is_next_step(question: reader.Question, quote: str, lead: str) -> bool:
    """Tell words that add to those that lead to them, hold half of what is asked with them, and the kind of thing asked for."""
    new = frozenset(word for word in question.matter if not share(frozenset({word}), lead))
    return (
        share(new, quote) > 0
        and share(question.matter, f"{lead} {quote}") >= OF_THE_MATTER
        and has_kind(question, quote)
    )


@lru_cache(1024)
def _sizes_asked(question: reader.Question) -> frozenset[str]:
    """Give the roots of the words by which a question asks for a size; `share` too, which else is a word of asking."""
    counts = listed("count_asked").search(question.text)
    said = () if counts else [word for word in reader.plain_words(question.text) if word in lang.words("measured")]
    return frozenset(_measured().keys() & (question.matter | set(map(root, said))))


def has_kind(question: reader.Question, words: str) -> bool:
    """Tell whether words hold the kind of thing that a question asks for."""
    return any(_has_kind(question, sentence) for sentence in _sentences(words))


def _has_kind(question: reader.Question, quote: str) -> bool:
    wants_time = question.kind == "either" and listed("in_time").search(question.text)
    wants_size = question.kind == "either" and listed("in_size").search(question.text)
    if question.kind == "when" or wants_time:
        return bool(dates(quote, _language(quote)))
    if question.kind in {"figure", "change"} and any(
        word not in _roots(quote) and not _measured()[word] & _sizes(quote) for word in _sizes_asked(question)
    ):
        return False  # figures of something else
    if question.kind == "change" and (lang.cue("up").search(quote) or lang.cue("down").search(quote)):
        return True
    if question.kind in {"figure", "change"} or wants_size:
        return any(not one.weak for one in figures(quote, _language(quote), False))
    if question.kind == "differ":
        said_so = listed("differ_asked").search(quote) and listed("cause").search(quote)
        return bool(said_so) or _tells_two_ways(quote)
    return question.kind not in {"who", "where"} or not quote.isascii() or _names_another(question, quote)


def _says_how_many(question: reader.Question, quote: str) -> bool:
    """Tell a number of the things asked for from one of others, or a third of each."""
    if question.kind != "figure" or not listed("count_asked").search(question.text):
        return True
    found = figures(quote, _language(quote), False)
    return any(_counts(one, question, quote) for one in found if not one.weak)


def _is_its_figure(question: reader.Question, sentence: str) -> bool:
    """Tell a figure of what is asked from one in another clause: `four weeks later, the next on the waiting list is asked`."""
    if question.kind != "figure":
        return True
    saying = [part for part in sentence.split(", ") if not question.matter or share(question.matter, part)]
    return not saying or any(not one.weak for part in saying for one in figures(part, _language(sentence), False))


def _says_why(question: reader.Question, quote: str) -> bool:
    """Tell words that give a reason, where one is asked for, from such as only say that it was so, or its contrary."""
    if question.kind != "other" or not opening("reason").match(question.text):
        return True
    told = listed("cause").search(quote) or _REASON.search(quote)
    return bool(told) and (denies(quote) or not denies(question.text))


def _counts(figure: Figure, question: reader.Question, quote: str) -> bool:
    if figure.unit:  # 9 m² answer where square metres are asked for
        named = f" {' '.join(words(question.text))} "
        return any(one.name == figure.unit and f" {said} " in named for said, one in units().items())
    things = frozenset(map(root, figure.nouns)) or _roots(quote)
    return figure.kind != "fraction" and not things.isdisjoint(question.matter)


def _tells_two_ways(quote: str) -> bool:
    """Tell words by which one leaves out what another counts: `the institute left out lost plots, the university counted all`."""
    parts = re.split(rf"[,;:]\s+|\s{listed('clause').pattern}\s", quote, flags=re.IGNORECASE)
    said = [(part, out or listed("differ").search(part), out) for part in parts
            for out in [listed("left_out").search(part)]]  # fmt: skip
    doers = {not out: content_words(part[: mark.start()]) for part, mark, out in said if mark}
    return len(doers) == 2 and all(doers.values()) and doers[True] != doers[False]


Row = tuple[str, str, str, str]
"""Words, title and head of their document, and what tells independent sources apart."""


def settled_by(question: reader.Question, rows: Sequence[Row]) -> int:
    """Count the sources whose words answer a question; one that asks about two things needs an answer for each."""
    if len(apart := reader.each_name(question)) > 1:
        return min(settled_by(one, rows) for one in apart)
    return len({source for quote, title, head, source in rows if answers(question, quote, title, head)})


def _names_another(question: reader.Question, quote: str) -> bool:
    """Tell whether words name somebody beside what was asked about; for a person, not only where something is or comes from."""
    asked = frozenset[str]().union(*question.names)
    place_ended = -1
    for name in names(quote, _language(quote)):
        before = quote[max(0, name.start - 12) : name.start]
        is_place = bool(_PLACED.search(before)) or (name.start - place_ended <= 2 and place_ended > 0)
        if is_place:
            place_ended = name.end
        known = {stem(word) for word in name.words} <= asked or all(reader.is_nationality(word) for word in name.words)
        if not known and name.sure and not (is_place and question.kind == "who"):
            return True
    return False


@dataclass(frozen=True)
class Told:
    """One fact as it is held against questions."""

    fact: str
    quote: str
    title: str
    head: str
    topic: str = ""
    """The question that it was read for."""
    above: str = ""
    """The heading of the words."""
    by_meaning: str = ""
    """The part of a question that it comes nearest to in meaning, where only that speaks for it."""


def beside_the_point(questions: Sequence[str], rows: Sequence[Told]) -> frozenset[str]:
    """Name the facts that are not wanted beside the others, of questions for facts: of namesakes and of the like.

    Wanted is what answers any of the questions, whichever it was read for; what a document says that is called just as
    what is asked about; the next step that such words name; and what speaks of most that is asked. Where none of this is
    there, nothing is beside the point.
    """
    wanted = {question: wanted_by((question,), rows) for question in questions}
    every = frozenset().union(*wanted.values())
    return frozenset(row.fact for row in rows if wanted.get(row.topic) and row.fact not in every)


def _most_alike(question: str, rows: Sequence[Told]) -> list[Told]:
    """Of documents that are called alike, as `Lilu (mythology)` and `Lilu (ancient China)`, keep what speaks most of it."""
    asked = frozenset(content_words(question))
    said: dict[tuple[str, ...], dict[str, set[str]]] = {}
    for row in rows:
        alike = said.setdefault(tuple(words(reader.ASIDE.sub("", row.title))), {}).setdefault(row.title, set())
        alike |= asked & frozenset(content_words(f"{row.head} {row.quote}"))
    best = {title for group in said.values() for title in group if len(group[title]) == max(map(len, group.values()))}
    return [row for row in rows if row.title in best]


def wanted_by(questions: Sequence[str], rows: Sequence[Told]) -> frozenset[str]:
    """Name the facts that answer questions for facts, that lead there, or that come near."""
    wanted: set[str] = set()
    for part in (one for text in questions for whole in reader.parts_of(text) for one in reader.each_name(whole)):
        alike = [row for row in rows if reader.is_called(part, row.title)]
        called = _most_alike(part.text, alike)
        namesakes = {row.title for row in alike} - {row.title for row in called}
        others = [row for row in rows if row.title not in namesakes]
        good = [row for row in rows if answers(part, row.quote, row.title, row.head, above=row.above)]
        # Where nothing answers: what speaks of most that is asked; and of both the next steps, which they name.
        near = good or [row for row in rows if part.matter and speaks_of(part, row.quote)]
        wanted |= {row.fact for row in (*called, *near)}
        wanted |= {row.fact for row in others if leads_to(row.title, [one.quote for one in (*called, *near)])}
    return frozenset(wanted)


def absent_words(part: reader.Question, rows: Sequence[Told]) -> tuple[str, ...]:
    """Give the words of a question, as it writes them, for things that nothing found speaks of; words for effects are none."""
    if any(is_foreign(part, row.quote, row.head) for row in rows):
        return ()
    said = " ".join(f"{row.quote} {row.title} {row.head} {row.above}" for row in rows)
    asked = {root(word): word for word in reader.plain_words(part.text) if not reader.is_no_thing(word)}
    return tuple(
        asked[one] for one in asked if one in part.matter and not share(frozenset({one}), said) and len(asked[one]) > 3
    )


def told_by(facts: Iterable[Fact], sources: Iterable[SourceCard]) -> list[Told]:
    """Make facts ready, each with what is known of its document."""
    cards = {card.id: card for card in sources}
    return [
        Told(fact.id, fact.quote, card.title, card.head, above=fact.heading, by_meaning=fact.by_meaning)
        for fact in facts
        if (card := cards.get(fact.source_id))
    ]


def _named_by_their_documents(part: reader.Question, rows: Sequence[Told]) -> Sequence[Told]:
    """Let a document be about a name that only another part of the question speaks, where any of its quotes has the name."""
    if reader.points(part.text) or any(name.casefold() in part.text.casefold() for name in part.shown):
        return rows
    named = {row.title for row in rows if reader.names_held(part, reader.stems_of(row.quote))}
    known = " ".join(part.shown)
    return [replace(row, head=f"{row.head} {known}") if row.title in named else row for row in rows]


def answer_of(part: reader.Question, rows: Sequence[Told]) -> tuple[AnswerStatus, list[Told]]:
    """Say how far facts answer a part, and which: those that say most of it first, each before the step that leads to it."""
    status, good = _answer_of(part, tuple(rows))
    return status, list(good)


@lru_cache(512)  # asked of the same facts by each gate of a round, at the end, and for the report
def _answer_of(part: reader.Question, rows: Sequence[Told]) -> tuple[AnswerStatus, list[Told]]:
    if len(apart := reader.each_name(part)) > 1:
        each = [answer_of(one, rows) for one in apart]
        statuses = {status for status, _ in each}
        return (statuses.pop() if len(statuses) == 1 else "partly"), [
            row for some in zip_longest(*(good for _, good in each)) for row in some if row
        ]
    rows = _named_by_their_documents(part, rows)
    own = part.text.casefold().rstrip("?")  # of equals, what was read for this very part comes first
    rows = sorted(
        rows,
        key=lambda row: (
            not reader.is_named(part, row.title),
            -share(part.matter, row.quote),
            own not in row.topic.casefold(),
        ),
    )
    about = [row for row in rows if is_about(part, f"{row.above} {row.quote}", row.title, row.head)]
    good: list[Told] = []
    near: list[Told] = []
    for row in rows:
        lead = [one for one in about if one.title != row.title and leads_to(row.title, [one.quote])]
        if row.by_meaning:
            continue  # however many words it shares: that was seen before
        if answers(part, row.quote, row.title, row.head, above=row.above):
            good.append(row)
        elif lead and answers(part, row.quote, row.title, row.head, [f"{one.title}. {one.quote}" for one in lead]):
            good += [row, lead[0]]
        elif lead and _is_next_step(part, row.quote, " ".join(one.quote for one in lead)):
            near += [row, lead[0]]
    # Of words in another language a name or a date makes an answer; where some also say what was asked, those are meant.
    saying = [row for row in good if is_foreign(part, row.quote, row.head) and share(part.matter, row.quote)]
    if good:
        told = years_in(" ".join(f"{row.quote} {row.head}" for row in good))
        open_ended = any(not {span[0], span[-1]} <= told for span in year_spans(part.text))
        return ("partly" if open_ended else "answered"), saying or good
    # Words about the subject are part of an answer to a wide question, and none to one for a person, date, figure or place.
    if part.kind in reader.LOOKUPS or part.kind == "change":
        about = list(dict.fromkeys((*near, *(row for row in about if speaks_of(part, row.quote)))))
    about = list(dict.fromkeys((*(row for row in rows if _is_nearest(part, row)), *about)))
    return ("partly" if about else "not_found"), about


def _is_nearest(part: reader.Question, row: Told) -> bool:
    """Tell words that were quoted for this very part because they come nearest to it in meaning."""
    meant = reader.parts_of(row.by_meaning) if row.by_meaning else ()
    return any(
        one.text.rstrip("?") == part.text.rstrip("?") or (one.matter, one.names) == (part.matter, part.names)
        for one in meant
    )
